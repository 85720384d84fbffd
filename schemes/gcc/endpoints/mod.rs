//! GCC: the delay-based controller at the receiver, and the loss-based one at the source.

mod arrival;
mod detector;
mod rate;
mod receiver;
mod source;
mod words;

pub use receiver::Receiver;
pub use source::Sender;

#[cfg(test)]
pub(super) use {
    arrival::{Filter, Groups, Variation},
    detector::{Detector, Signal},
    rate::{RateControl, State},
    words::{Heading, Report},
};
