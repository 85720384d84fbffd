//! CVIHIS: the receiver decides, the source executes its commands [CVIHIS §3.1, §3.2].

mod delays;
mod headers;
mod receiver;
mod source;

pub use receiver::Receiver;
pub use source::Sender;

#[cfg(test)]
pub(super) use {
    delays::{Area, Delays},
    headers::{Answer, DataHeader},
};
