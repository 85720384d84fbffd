//! Send sequence space [RFC9293 §3.3.1].

use units::Bytes;

/// The send sequence space of a connection, in bytes from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendSequence {
    /// The oldest byte not acknowledged [RFC9293: SND.UNA].
    pub(super) una: u64,
    /// The next byte to send [RFC9293: SND.NXT]. A timeout without SACK sets it back to `una`.
    pub(super) next: u64,
    /// One past the highest byte ever sent.
    pub(super) high: u64,
    /// Start of the congestion window: `una`, plus the inflation by data that have left the network [RFC6582].
    pub(super) base: u64,
    /// One past the last byte that the receive window allows.
    pub(super) edge: u64,
    /// The round ends when a byte above this is acknowledged.
    round_end: u64,
}

/// A receive window of this size or above does not fit the header field and is no limit.
const NO_WINDOW: Bytes = Bytes::new(u32::MAX as u64);

impl SendSequence {
    /// The sequence space of a new connection with the receiver's window.
    pub(super) fn new(receive_window: Bytes) -> Self {
        let edge = if receive_window < NO_WINDOW { receive_window.as_u64() } else { u64::MAX };
        Self { una: 0, next: 0, high: 0, base: 0, edge, round_end: 0 }
    }

    /// Whether all data sent are acknowledged.
    #[inline]
    pub(super) const fn all_acknowledged(&self) -> bool {
        self.una == self.high
    }

    /// Bytes sent that are not known to have left the network.
    #[inline]
    pub(super) const fn unaccounted(&self) -> u64 {
        self.next.saturating_sub(self.base)
    }

    /// Takes an acknowledgement of all bytes below `ack` and the receive window from there on; `u32::MAX` is no limit.
    #[inline]
    pub(super) fn open(&mut self, ack: u64, window_bytes: u32) {
        if window_bytes == u32::MAX || ack < self.una {
            return;
        }
        let edge = ack + u64::from(window_bytes);
        // the window may shrink with new data, or close                  [RFC9293 §3.8.6; Linux: tcp_may_update_window]
        if ack > self.una || edge > self.edge || window_bytes == 0 {
            self.edge = edge;
        }
    }

    /// Records that all bytes below `ack` are acknowledged.
    #[inline]
    pub(super) fn acknowledge(&mut self, ack: u64) {
        self.una = ack;
        self.next = self.next.max(ack);
    }

    /// Whether an acknowledgement of all bytes below `ack` ends the round; if so, starts the next one.
    #[inline]
    pub(super) fn end_round(&mut self, ack: u64) -> bool {
        let ended = ack > self.round_end;
        if ended {
            self.round_end = self.next;
        }
        ended
    }

    /// Takes the next `len` bytes to send. Returns their first byte, and whether any of them were sent before.
    #[inline]
    pub(super) fn take(&mut self, len: u64) -> (u64, bool) {
        let start = self.next;
        self.next += len;
        let retransmission = start < self.high;
        self.high = self.high.max(self.next);
        (start, retransmission)
    }

    /// Deflates the window: it starts at the oldest byte not acknowledged.
    #[inline]
    pub(super) fn deflate(&mut self) {
        self.base = self.una;
    }
}
