//! Transmission to the group: encrypted packets in GSO batches.

use std::net::SocketAddr;

use contract::Ecn;
use driver::{GsoBatches, Platform};
use quic_net::Traffic;
use units::{Duration, Time};

use crate::epochs::Epochs;

/// Sends packets to the group.
pub(crate) struct Channel {
    to: SocketAddr,
    /// The keys of the group.
    pub(crate) epochs: Epochs,
    /// Datagrams that wait for a GSO batch.
    pub(crate) gso_batches: GsoBatches,
    /// Datagrams sent to the group.
    pub(crate) sent: Traffic,
    /// Packets that could not be encrypted, because the next key was not distributed in time.
    pub(crate) unsealed: u64,
    sent_at: Time,
}

impl Channel {
    pub(crate) fn new(to: SocketAddr, epochs: Epochs, now: Time) -> Self {
        Self {
            to,
            epochs,
            gso_batches: GsoBatches::default(),
            sent: Traffic::default(),
            unsealed: 0,
            sent_at: now,
        }
    }

    /// The group.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.to
    }

    /// Bytes of the headers of IP and UDP.
    pub(crate) fn outer_bytes(&self) -> u32 {
        u32::from(quic_net::OUTER[usize::from(self.to.is_ipv6())])
    }

    /// Sends a packet with the content that `write` appends.
    pub(crate) fn send(
        &mut self,
        ecn: Ecn,
        now: Time,
        platform: &mut impl Platform,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        if self.epochs.is_exhausted() {
            self.unsealed += 1;
            return;
        }
        let Self { to, epochs, gso_batches, .. } = self;
        let length = gso_batches.push(*to, ecn, platform, |out| epochs.seal(out, write));
        self.sent.add(length);
        self.sent_at = now;
    }

    /// Sends a packet without content if no packet was sent for `span`, so that receivers know that the network carries the group.
    pub(crate) fn keep_alive(&mut self, span: Duration, now: Time, platform: &mut impl Platform) {
        if now >= self.sent_at + span {
            self.send(Ecn::NotCapable, now, platform, |_| {});
        }
    }
}
