//! ASMP: the parts at the source and at receivers.

mod headers;
mod loss;
mod receiver;
mod source;

pub use receiver::Receiver;
pub use source::Sender;

#[cfg(test)]
pub(super) use {
    headers::{DataHeader, Echo, Report},
    loss::{LossFractions, Path},
};
