//! The sender's state of a receiver of a group.

use units::Time;

use super::outcome::ReceiverOutcome;
use crate::connection::ConnectionState;
use crate::{End, Patience};

/// A connection, and the receiver whose hello has arrived on it.
pub(crate) struct Member {
    pub(crate) state: ConnectionState,
    /// Its address when it connected.
    pub(crate) address: std::net::SocketAddr,
    /// Bytes of the headers of IP and UDP on its connection.
    pub(crate) outer_bytes: u32,
    /// Its number for the scheme and the payload; `None` before its hello.
    pub(crate) peer: Option<u32>,
    /// It is ready for data.
    pub(crate) ready: bool,
    /// Packets of the group arrive at it, according to its last report.
    pub(crate) receives_group: bool,
    /// The newest epoch whose key it has confirmed.
    pub(crate) epoch: Option<u32>,
    /// Its time without progress.
    pub(crate) patience: Patience,
    /// Its control stream is to be read and written in the next turn.
    pub(crate) pending: bool,
}

impl Member {
    /// A connection before its hello.
    pub(crate) fn new(state: ConnectionState, address: std::net::SocketAddr, now: Time) -> Self {
        let outer_bytes = u32::from(crate::OUTER[usize::from(address.is_ipv6())]);
        let patience = Patience::new(now);
        Self {
            state,
            address,
            outer_bytes,
            peer: None,
            ready: false,
            receives_group: true,
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
const MAX_LEFT: usize = 65_536;

impl Left {
    /// Keeps how the session with a receiver ended.
    pub(crate) fn add(&mut self, member: &Member, end: End) {
        if let Some(peer) = member.peer
            && self.0.len() < MAX_LEFT
        {
            self.0.push((member.state.client_secret, ReceiverOutcome { peer, address: member.address, end }));
        }
    }

    /// A receiver that had left has reconnected: removes its end, and returns its number.
    pub(crate) fn rejoin(&mut self, client_secret: &[u8; 32]) -> Option<u32> {
        let at = self.0.iter().position(|(left, _)| left == client_secret)?;
        Some(self.0.remove(at).1.peer)
    }

    /// The ends, in their order.
    pub(crate) fn outcomes(self) -> Vec<ReceiverOutcome> {
        self.0.into_iter().map(|(_, left)| left).collect()
    }
}
