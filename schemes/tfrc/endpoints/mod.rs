//! TFRC: the parts at the sender and at the receiver.

mod limited;
mod receive_rates;
mod receiver;
mod sizes;
mod source;
mod words;

pub use receiver::Receiver;
pub use source::Sender;

#[cfg(test)]
pub(super) use words::{Header, Report};
