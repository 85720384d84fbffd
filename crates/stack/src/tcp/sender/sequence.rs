//! Send sequence space [RFC9293 §3.3.1].

use units::Bytes;

/// The send sequence space of a connection, in bytes from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendSequence {
    /// Oldest byte not acknowledged [RFC9293: SND.UNA].
    pub(super) una: u64,
    /// Next byte to send [RFC9293: SND.NXT]. A timeout pulls it back to `una`.
    pub(super) next: u64,
    /// One past the highest byte ever sent.
    pub(super) high: u64,
    /// Where the window begins: `una`, moved on by what has left the network since [RFC6582: inflation].
    pub(super) base: u64,
    /// One past the last byte that the receiver is ready to take.
    pub(super) edge: u64,
    /// The round ends when a byte beyond this is acknowledged.
    round_end: u64,
}

/// From here on a receive window is too large for a header's field and does not limit.
const NO_WINDOW: Bytes = Bytes::new(u32::MAX as u64);

impl SendSequence {
    /// Of a new connection, to a receiver that is ready to take `receive_window`.
    pub(super) fn new(receive_window: Bytes) -> Self {
        let edge = if receive_window < NO_WINDOW { receive_window.as_u64() } else { u64::MAX };
        Self { una: 0, next: 0, high: 0, base: 0, edge, round_end: 0 }
    }

    /// Whether all that was ever sent is acknowledged.
    #[inline]
    pub(super) const fn all_acknowledged(&self) -> bool {
        self.una == self.high
    }

    /// Sent, and not known to have left the network.
    #[inline]
    pub(super) const fn unaccounted(&self) -> u64 {
        self.next.saturating_sub(self.base)
    }

    /// The receiver acknowledges all below `ack` and is ready to take this many bytes from there on; `u32::MAX` is no limit.
    #[inline]
    pub(super) fn open(&mut self, ack: u64, window_bytes: u32) {
        if window_bytes != u32::MAX {
            self.edge = self.edge.max(ack + u64::from(window_bytes));
        }
    }

    /// All below `ack` is acknowledged.
    #[inline]
    pub(super) fn acknowledge(&mut self, ack: u64) {
        self.una = ack;
        self.next = self.next.max(ack);
    }

    /// Whether an acknowledgement of all below `ack` ends a round; then the next one begins.
    #[inline]
    pub(super) fn end_round(&mut self, ack: u64) -> bool {
        let ended = ack > self.round_end;
        if ended {
            self.round_end = self.next;
        }
        ended
    }

    /// The next `len` bytes leave: where they begin, and whether any of them left before.
    #[inline]
    pub(super) fn take(&mut self, len: u64) -> (u64, bool) {
        let start = self.next;
        self.next += len;
        let again = start < self.high;
        self.high = self.high.max(self.next);
        (start, again)
    }

    /// The window begins at the oldest byte not acknowledged: it is no longer inflated.
    #[inline]
    pub(super) fn deflate(&mut self) {
        self.base = self.una;
    }
}
