//! SRMCC: the parts at the source and at receivers.

mod receiver;
mod source;

pub use receiver::Receiver;
pub use source::Sender;
