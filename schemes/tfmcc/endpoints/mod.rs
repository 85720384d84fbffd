//! TFMCC: the parts at the source and at receivers.

mod echoes;
mod headers;
mod receiver;
mod round_trip;
mod source;
mod timer;

pub use receiver::Receiver;
pub use source::Sender;

#[cfg(test)]
pub(super) use headers::{Echo, Header, Millis, RateCode, Report, RttCode};
