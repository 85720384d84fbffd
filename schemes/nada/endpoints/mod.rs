//! NADA: the congestion signal at the receiver, the rates at the source.

mod headers;
mod receiver;
mod signal;
mod source;

pub use receiver::Receiver;
pub use source::Sender;

#[cfg(test)]
pub(super) use {
    headers::{DataHeader, Report},
    signal::{Ratio, blended, signal, warped},
};
