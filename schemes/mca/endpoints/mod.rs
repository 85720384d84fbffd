//! MCA: the parts at the source and at receivers.

mod accumulation;
mod average;
mod headers;
mod receiver;
mod source;

pub use receiver::Receiver;
pub use source::Sender;

#[cfg(test)]
pub(super) use {
    accumulation::{Accumulation, Finding},
    average::{Average, Frequency},
    headers::{Announcement, Indication, Kind},
};
