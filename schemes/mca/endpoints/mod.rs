//! MCA: the parts at the source and at receivers.

mod accumulation;
mod average;
mod receiver;
mod source;
mod words;

pub use receiver::Receiver;
pub use source::Sender;

#[cfg(test)]
pub(super) use {
    accumulation::{Accumulation, Finding},
    words::{Announcement, Indication, Kind},
};
