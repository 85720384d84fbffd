//! SCReAM v2: acknowledgements at the receiver, everything else at the source.

mod delay;
mod flight;
mod headers;
mod media;
mod receiver;
mod source;
mod window;

pub use receiver::Receiver;
pub use source::Sender;

#[cfg(test)]
pub(super) use {
    delay::{Delay, Sample, Target},
    flight::{Acked, Flight},
    headers::{DataHeader, Report},
    media::Media,
    window::{Congestion, Window},
};
