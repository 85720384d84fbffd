//! What SRMCC adds to the two ends of a group.

mod receiver;
mod source;

pub use receiver::Receiver;
pub use source::Sender;
