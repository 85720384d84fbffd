//! Proportional rate reduction (RFC 9937): the reduction of the data in flight to the new window in a recovery. As in
//! Linux, a CE mark starts such a round as well (`TCP_CA_CWR`).

/// The counters of PRR in one recovery, in bytes. They exist only with [`crate::tcp::Reduction::Proportional`].
#[derive(Clone, Debug, Default)]
pub(super) struct Prr {
    /// The window when the recovery began [Linux: prior_cwnd]. RFC 9937 §6.1 has the data in flight then (RecoverFS),
    /// which are less only where the window was not used.
    window: u64,
    /// Delivered since the recovery began [RFC9937 §6.1: prr_delivered].
    delivered: u64,
    /// Retransmitted since the recovery began. Together with new data this is prr_out [RFC9937 §6.1].
    retransmitted: u64,
    /// The part of `retransmitted` that was forced at the start of the recovery. The first computation of the window
    /// excludes it.
    forced: u64,
    /// One past the highest byte sent when the recovery began.
    high: u64,
    /// Delivered by the current acknowledgement [RFC9937 §6.2: DeliveredData].
    newly_delivered: u64,
    /// Without SACK: bytes counted for duplicate acknowledgements that no cumulative acknowledgement has covered yet.
    duplicated: u64,
    /// The current acknowledgement is cumulative for new data.
    cumulative: bool,
    /// The current acknowledgement shows a further loss.
    further_loss: bool,
    /// The window after the last acknowledgement that delivered data.
    granted: u64,
}

impl Prr {
    /// Starts a recovery from the window `window`. `high` is one past the highest byte sent. Without SACK, `duplicated`
    /// is the number of bytes counted for the duplicate acknowledgements before it.
    pub(super) fn open(&mut self, window: u64, duplicated: u64, high: u64) {
        *self = Self { window, duplicated, high, newly_delivered: self.newly_delivered, ..Self::default() };
    }

    /// Sets the bytes that the current acknowledgement delivers.
    pub(super) fn set_newly_delivered(&mut self, bytes: u64) {
        self.newly_delivered = bytes;
    }

    /// Adds to the bytes that the current acknowledgement delivers.
    pub(super) fn add_newly_delivered(&mut self, bytes: u64) {
        self.newly_delivered += bytes;
    }

    /// Notes that the current acknowledgement is cumulative for new data.
    pub(super) fn on_cumulative_ack(&mut self) {
        self.cumulative = true;
    }

    /// Notes that the current acknowledgement shows a further loss.
    pub(super) fn note_further_loss(&mut self) {
        self.further_loss = true;
    }

    /// Counts `len` retransmitted bytes.
    pub(super) fn on_retransmit(&mut self, len: u64) {
        self.retransmitted += len;
    }

    /// Counts `len` bytes that are retransmitted at the start of the recovery, regardless of the window
    /// [RFC9937 §6.2: force a fast retransmit].
    pub(super) fn force(&mut self, len: u64) {
        self.retransmitted += len;
        self.forced = len;
    }

    /// Without SACK: counts a duplicate acknowledgement as the delivery of one segment [RFC9937 §5: DeliveredData].
    pub(super) fn duplicate(&mut self, segment: u64) {
        self.newly_delivered += segment;
        self.duplicated += segment;
    }

    /// Without SACK: counts newly acknowledged `bytes`, except bytes that duplicate acknowledgements have counted.
    pub(super) fn progress(&mut self, bytes: u64) {
        let counted = self.duplicated.min(bytes);
        self.duplicated -= counted;
        self.newly_delivered += bytes - counted;
    }

    /// The window after the current acknowledgement. `pipe` is the data in flight, `target` the controller's window.
    pub(super) fn grant(&mut self, pipe: u64, target: u64, high: u64, segment: u64) -> u64 {
        if let Some(window) = self.window(pipe, target, high, segment) {
            self.granted = window;
        }
        self.granted
    }

    /// The new window, or `None` if it does not change. `pipe` is the data in flight, `target` the controller's window.
    fn window(&mut self, pipe: u64, target: u64, high: u64, segment: u64) -> Option<u64> {
        let newly_delivered = std::mem::take(&mut self.newly_delivered);
        let safe = std::mem::take(&mut self.cumulative) && !self.further_loss;
        self.further_loss = false;
        if newly_delivered == 0 && self.granted > 0 {
            return None;
        }
        // prr_delivered += DeliveredData                                           [RFC9937 §6.2]
        self.delivered += newly_delivered;
        let forced = std::mem::take(&mut self.forced);
        let prr_out = self.retransmitted - forced + (high - self.high);
        let pipe = pipe.saturating_sub(forced);
        let sndcnt = if pipe > target {
            // sndcnt = CEIL(prr_delivered·ssthresh/prior_cwnd) − prr_out      [RFC9937 §6.2; Linux: tcp_cwnd_reduction]
            // in whole segments, as in the examples of RFC 6937 and in Linux
            let share = u128::from(self.delivered) * u128::from(target);
            let share = share.div_ceil(u128::from(self.window.max(1)) * u128::from(segment));
            u64::try_from(share).unwrap_or(u64::MAX).saturating_mul(segment).saturating_sub(prr_out)
        } else {
            // sndcnt = MAX(prr_delivered − prr_out, DeliveredData), + SMSS if it is a SafeACK
            // at most ssthresh − inflight                                          [RFC9937 §6.2]
            let bound = self.delivered.saturating_sub(prr_out).max(newly_delivered);
            (bound + if safe { segment } else { 0 }).min(target - pipe)
        };
        // force a fast retransmit: one segment is sent at the start of the recovery      [RFC9937 §6.2]
        let min = if prr_out == 0 { segment.max(forced) } else { 0 };
        Some(pipe + sndcnt.max(min))
    }
}
