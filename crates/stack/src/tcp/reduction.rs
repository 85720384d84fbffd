//! How the data in flight comes down to the law's new window in a recovery: proportional rate reduction [RFC9937]. As in Linux also
//! after a mark, in a round that begins with it (`TCP_CA_CWR`).

use contract::{Cause, Congestion, CongestionControl, Count, Cx};
use units::Bytes;

use super::sender::Sender;

/// Accounts of one recovery, in bytes. Kept only where [`super::Reduction::Proportional`] is asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Accounts {
    /// What had not arrived when the recovery began, the lost included [RFC9937 §6.1: RecoverFS].
    flight: u64,
    /// Delivered since then [RFC9937 §6.1: prr_delivered].
    delivered: u64,
    /// Sent again since then; with what is new it makes [RFC9937 §6.1: prr_out].
    resent: u64,
    /// Of `resent`, what the entry sent at once: the first account is made as if before it.
    forced: u64,
    /// One past the highest byte sent when the recovery began.
    high: u64,
    /// Delivered by the acknowledgement at hand [RFC9937 §6.2: DeliveredData].
    pub(super) news: u64,
    /// Of a recovery without SACK: bytes of duplicates that no acknowledgement has made good.
    duplicated: u64,
    /// The scoreboard has counted what the acknowledgement at hand delivered.
    pub(super) counted: bool,
    /// The acknowledgement at hand went forward.
    pub(super) forward: bool,
    /// The acknowledgement at hand showed a loss more.
    pub(super) lost_more: bool,
    /// What may be in flight, since the last acknowledgement that delivered.
    granted: u64,
}

impl Accounts {
    /// A recovery begins, `high` being one past the highest byte sent. Just before the acknowledgement at hand `missing` bytes had not
    /// arrived; without SACK, `duplicated` bytes stand for the duplicates so far.
    pub(super) fn open(&mut self, missing: u64, duplicated: u64, high: u64) {
        *self = Self { flight: missing, duplicated, high, news: self.news, ..Self::default() };
    }

    /// `len` bytes were sent again.
    pub(super) fn resend(&mut self, len: u64) {
        self.resent += len;
    }

    /// `len` bytes were sent again as the recovery began, whatever the account says [RFC9937 §6.2: force a fast retransmit].
    pub(super) fn force(&mut self, len: u64) {
        self.resent += len;
        self.forced = len;
    }

    /// Without SACK, a duplicate stands for a segment that arrived [RFC9937 §5: DeliveredData].
    pub(super) fn duplicate(&mut self, segment: u64) {
        self.news += segment;
        self.duplicated += segment;
    }

    /// Without SACK, of `bytes` acknowledged those are news that no duplicate told of.
    pub(super) fn progress(&mut self, bytes: u64) {
        let told = self.duplicated.min(bytes);
        self.duplicated -= told;
        self.news += bytes - told;
    }

    /// What may be in flight after this acknowledgement, `pipe` being so now and `target` the law's window. `None` leaves it as it was.
    fn window(&mut self, pipe: u64, target: u64, high: u64, segment: u64) -> Option<u64> {
        let news = std::mem::take(&mut self.news);
        let safe = std::mem::take(&mut self.forward) && !self.lost_more;
        self.lost_more = false;
        if news == 0 && self.granted > 0 {
            return None;
        }
        // prr_delivered += DeliveredData                                           [RFC9937 §6.2]
        self.delivered += news;
        let forced = std::mem::take(&mut self.forced);
        let out = self.resent - forced + (high - self.high);
        let pipe = pipe.saturating_sub(forced);
        let more = if pipe > target {
            // sndcnt = CEIL(prr_delivered·ssthresh/RecoverFS) − prr_out            [RFC9937 §6.2]
            // in whole segments, as in the examples of RFC 6937 and in Linux
            let share = u128::from(self.delivered) * u128::from(target);
            let share = share.div_ceil(u128::from(self.flight.max(1)) * u128::from(segment));
            u64::try_from(share).unwrap_or(u64::MAX).saturating_mul(segment).saturating_sub(out)
        } else {
            // sndcnt = MAX(prr_delivered − prr_out, DeliveredData), + SMSS if it is a SafeACK; at most ssthresh − inflight
            //                                                                      [RFC9937 §6.2]
            let bound = self.delivered.saturating_sub(out).max(news);
            (bound + if safe { segment } else { 0 }).min(target - pipe)
        };
        // force a fast retransmit: one segment leaves as the recovery begins        [RFC9937 §6.2]
        let min = if out == 0 { segment.max(forced) } else { 0 };
        Some(pipe + more.max(min))
    }
}

impl<C: CongestionControl> Sender<C> {
    /// An echoed mark, with proportional reduction: begins a round in which the window comes down, unless one lasts
    /// [Linux: tcp_try_to_open, tcp_enter_cwr]. `ack` is how far the acknowledgement at hand goes. False where the mark is another's
    /// business.
    pub(super) fn reduces_for_mark(&mut self, ack: u64, cx: &mut Cx<'_>) -> bool {
        if self.reduction.is_none() {
            return false;
        }
        // a round after a mark ends above the data that was out when it began, so that CWR has reached the receiver; a recovery with it
        let lasts =
            if self.reducing && !self.recovering { ack <= self.episode_end } else { ack < self.recover };
        if lasts {
            return true;
        }
        if !self.reducing && self.una < self.episode_end {
            // the law has no threshold
            return false;
        }
        let before = self.window_of_law();
        let in_flight = Bytes::new(self.flight());
        let bytes = Bytes::new(u64::from(self.segment));
        self.law.on_congestion(&Congestion { cause: Cause::Mark, bytes, in_flight, first: true }, cx);
        cx.count(Count::Episodes, 1);
        (self.episode_end, self.reduced) = (self.high, true);
        let spreads = self.law.threshold() != Bytes::UNLIMITED;
        if let Some(accounts) = &mut self.reduction
            && spreads
        {
            // prior_cwnd                                                            [Linux: tcp_init_cwnd_reduction]
            accounts.news = 0;
            accounts.open(before, 0, self.high);
            self.reducing = true;
        }
        self.read_allowance();
        true
    }

    /// `bytes` were acknowledged in a round that a mark began, or that lasts no longer.
    pub(super) fn on_marked_progress(&mut self, bytes: u64, cx: &mut Cx<'_>) {
        if let Some(accounts) = &mut self.reduction {
            accounts.forward = true;
            if !std::mem::take(&mut accounts.counted) {
                accounts.news += bytes;
            }
        }
        if self.una > self.episode_end {
            // the window is the threshold                                           [Linux: tcp_end_cwnd_reduction]
            self.reducing = false;
            self.read_allowance();
        }
        self.duplicates = 0;
        self.base = self.una;
        self.restart_timer(cx.now());
    }

    fn window_of_law(&self) -> u64 {
        self.law.allowance().window.as_u64()
    }

    /// In a recovery, an acknowledgement has been read: how much may now be in flight.
    #[cold]
    pub(super) fn spread(&mut self) {
        if self.reduction.is_none() || self.law.threshold() == Bytes::UNLIMITED {
            return;
        }
        let target = self.window_of_law();
        let (flight, segment) = (self.flight(), u64::from(self.segment));
        let Some(accounts) = &mut self.reduction else { return };
        if let Some(window) = accounts.window(flight, target, self.high, segment) {
            accounts.granted = window;
        }
        self.window = accounts.granted;
    }
}
