//! TFRC: the parts at the sender and at the receiver.

mod headers;
mod limited;
mod receive_rates;
mod receiver;
mod sizes;
mod source;

pub use receiver::Receiver;
pub use source::Sender;

#[cfg(test)]
pub(super) use headers::{Header, Report};
