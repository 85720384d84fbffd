//! Multicast groups (RFC 1112): a sender with sessions of its receivers, and the reception of its datagrams.

mod receiver;
mod sender;

pub(crate) use receiver::MulticastReceiver;
pub use sender::{Group, ReceiverOutcome, send_to_group};
