//! Multicast groups: their sender, and packets to a group: header, AEAD under the key of an epoch, and their reception.
//!
//! The sender distributes a secret per epoch over the QUIC connections of the group's receivers. Packets are protected
//! as in QUIC [RFC9001 §5]: AES-128-GCM, the header as associated data, and a nonce of the packet number and an
//! initialization vector of the epoch. Since every member has that secret, a signature of the sender is in each packet.

mod packet;
mod reception;
mod replay;
mod sender;
mod signature;

pub use packet::{EpochKey, Header, Secret};
pub use reception::Reception;
pub use sender::{Group, ReceiverOutcome, send};
pub use signature::{BURST, PROOF, PublicKey, SignedBurst, Signer};

/// Bytes of a packet in addition to its content.
pub const OVERHEAD: u32 = (packet::HEADER + PROOF as usize + packet::TAG) as u32;
