//! TFMCC: the parts at the source and at receivers.

mod echoes;
mod receiver;
mod round_trip;
mod source;
mod timer;
mod words;

pub use receiver::Receiver;
pub use source::Sender;

#[cfg(test)]
pub(super) use words::{Echo, Header, Millis, RateCode, Report, RttCode};
