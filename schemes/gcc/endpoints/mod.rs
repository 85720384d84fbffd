//! GCC: the delay-based controller at the receiver, and the loss-based one at the source.

mod arrival;
mod detector;
mod headers;
mod rate;
mod receiver;
mod source;

pub use receiver::Receiver;
pub use source::Sender;

#[cfg(test)]
pub(super) use {
    arrival::{Filter, Groups, Variation},
    detector::{Detector, Signal},
    headers::{DataHeader, Report},
    rate::{RateControl, State},
};
