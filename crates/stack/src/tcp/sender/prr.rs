//! Proportional rate reduction (RFC 9937): the reduction of the data in flight to the new window in a recovery. As in Linux also after a mark, in a
//! round that begins with it (`TCP_CA_CWR`).

/// What PRR counts in one recovery, in bytes. Kept only where [`crate::tcp::Reduction::Proportional`] is asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Prr {
    /// What had not arrived when the recovery began, the lost included [RFC9937 §6.1: RecoverFS].
    flight: u64,
    /// Delivered since then [RFC9937 §6.1: prr_delivered].
    delivered: u64,
    /// Retransmitted since then; with what is new it makes [RFC9937 §6.1: prr_out].
    resent: u64,
    /// Of `resent`, what the entry sent at once: the first account is made as if before it.
    forced: u64,
    /// One past the highest byte sent when the recovery began.
    high: u64,
    /// Delivered by the acknowledgement at hand [RFC9937 §6.2: DeliveredData].
    news: u64,
    /// Of a recovery without SACK: bytes of duplicates that no acknowledgement has made good.
    duplicated: u64,
    /// The acknowledgement at hand went forward.
    forward: bool,
    /// The acknowledgement at hand showed another loss.
    lost_more: bool,
    /// What may be in flight, since the last acknowledgement that delivered.
    granted: u64,
}

impl Prr {
    /// A recovery begins, `high` being one past the highest byte sent. Just before the acknowledgement at hand `missing` bytes had not
    /// arrived; without SACK, `duplicated` bytes stand for the duplicates so far.
    pub(super) fn open(&mut self, missing: u64, duplicated: u64, high: u64) {
        *self = Self { flight: missing, duplicated, high, news: self.news, ..Self::default() };
    }

    /// What the acknowledgement at hand delivers is counted from here on.
    pub(super) fn begin_news(&mut self, bytes: u64) {
        self.news = bytes;
    }

    /// The acknowledgement at hand delivers `bytes` more.
    pub(super) fn add_news(&mut self, bytes: u64) {
        self.news += bytes;
    }

    /// What the acknowledgement at hand delivers, as far as it is counted.
    pub(super) const fn news(&self) -> u64 {
        self.news
    }

    /// The acknowledgement at hand goes forward.
    pub(super) fn go_forward(&mut self) {
        self.forward = true;
    }

    /// The acknowledgement at hand shows another loss.
    pub(super) fn lose_more(&mut self) {
        self.lost_more = true;
    }

    /// `len` bytes were retransmitted.
    pub(super) fn resend(&mut self, len: u64) {
        self.resent += len;
    }

    /// `len` bytes were retransmitted as the recovery began, whatever the account says [RFC9937 §6.2: force a fast retransmit].
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

    /// The window after the acknowledgement at hand, `pipe` being in flight now and `target` the law's window.
    pub(super) fn grant(&mut self, pipe: u64, target: u64, high: u64, segment: u64) -> u64 {
        if let Some(window) = self.window(pipe, target, high, segment) {
            self.granted = window;
        }
        self.granted
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
