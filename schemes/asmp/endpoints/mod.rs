//! ASMP: the parts at the source and at receivers.

mod loss;
mod receiver;
mod source;
mod words;

pub use receiver::Receiver;
pub use source::Sender;

#[cfg(test)]
pub(super) use {
    loss::{LossFractions, Path},
    words::{Echo, Heading, Report},
};
