//! Multicast groups (RFC 1112) over QUIC: a sender and its receivers. Data are sent to all of them at once, encrypted
//! under a key of the group; all else is sent on a QUIC connection between the sender and each receiver.
//!
//! Each receiver connects to the sender, as in unicast, and is authenticated by TLS 1.3. Its connection carries the
//! offer, the group's address and keys, messages and changes of mode, and in DATAGRAM frames the feedback for the
//! sender's scheme. The receiving end is [`receive`](crate::receive), which joins the group when the sender announces
//! it.
//!
//! Every member has the key of the group. Packets to it are signed by the sender, so that no member can forge them, and
//! no member can forge feedback of another. When a member leaves, the remaining members get another key.

mod channel;
mod epochs;
mod flow;
mod member;
mod outcome;
mod send;
mod sessions;

pub use outcome::ReceiverOutcome;
pub use send::{Group, send};
