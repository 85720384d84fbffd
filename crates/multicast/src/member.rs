//! A receiver of a group, as its sender knows it.

use quic_net::lane::Lane;
use quic_net::{End, Patience};
use units::Time;

use crate::send::ReceiverOutcome;

/// A connection, and the receiver that has said hello on it.
pub(crate) struct Member {
    pub(crate) lane: Lane,
    /// Its address when it connected.
    pub(crate) address: std::net::SocketAddr,
    /// Bytes of the headers of IP and UDP on its connection.
    pub(crate) outer_bytes: u32,
    /// Its number for the scheme and the payload; `None` before it has said hello.
    pub(crate) peer: Option<u32>,
    /// It is ready for data.
    pub(crate) ready: bool,
    /// Packets of the group arrive there, as far as it has said.
    pub(crate) hears: bool,
    /// The newest epoch whose key it has confirmed.
    pub(crate) epoch: Option<u32>,
    /// Its time without progress.
    pub(crate) patience: Patience,
    /// Its control stream is to be read and written in the next turn.
    pub(crate) pending: bool,
}

impl Member {
    /// A connection without its hello.
    pub(crate) fn new(lane: Lane, address: std::net::SocketAddr, now: Time) -> Self {
        let outer_bytes = u32::from(quic_net::OUTER[usize::from(address.is_ipv6())]);
        let patience = Patience::new(now);
        Self {
            lane,
            address,
            outer_bytes,
            peer: None,
            ready: false,
            hears: true,
            epoch: None,
            patience,
            pending: true,
        }
    }
}

/// The receivers that have left.
#[derive(Default)]
pub(crate) struct Left(Vec<([u8; 32], ReceiverOutcome)>);

/// Maximum number of ends of receivers that are kept.
const LEFT: usize = 65_536;

impl Left {
    /// Keeps how the session with a receiver ended.
    pub(crate) fn add(&mut self, member: &Member, end: End) {
        if let Some(peer) = member.peer
            && self.0.len() < LEFT
        {
            self.0.push((member.lane.caller, ReceiverOutcome { peer, address: member.address, end }));
        }
    }

    /// A receiver that had left is back: forgets its end, and returns its number.
    pub(crate) fn back(&mut self, caller: &[u8; 32]) -> Option<u32> {
        let at = self.0.iter().position(|(left, _)| left == caller)?;
        Some(self.0.remove(at).1.peer)
    }

    /// The ends, in their order.
    pub(crate) fn outcomes(self) -> Vec<ReceiverOutcome> {
        self.0.into_iter().map(|(_, left)| left).collect()
    }
}
