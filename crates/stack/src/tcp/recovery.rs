//! Losses, timeouts, marks: fast retransmit and fast recovery [RFC5681 §3.2, RFC6582], the retransmission timer
//! [RFC6298 §5], explicit congestion notification [RFC3168 §6.1], needless retransmissions [RFC3522, RFC4015].

use contract::{Cause, Congestion, CongestionControl, Count, Cx};
use units::{Bytes, Time};

use super::sender::Sender;

impl<C: CongestionControl> Sender<C> {
    /// A duplicate acknowledgement: a segment left the network and another is missing.
    #[cold]
    pub(super) fn on_duplicate(&mut self, cx: &mut Cx<'_>) {
        let segment = u64::from(self.segment);
        if self.recovering {
            // each further one permits a segment more                               [RFC6582 §3.2 step 3]
            self.base += segment;
            if let Some(accounts) = &mut self.reduction {
                accounts.duplicate(segment);
            }
            return;
        }
        // duplicates of what a timeout sent again tell nothing new                  [RFC6582 §3.2 step 1, §3.2 step 6]
        if self.recover > 0 && self.una <= self.recover {
            return;
        }
        self.duplicates += 1;
        if self.duplicates >= DUPLICATES {
            self.enter_recovery(cx);
        } else if self.switches.limited_transmit {
            self.base += segment;
        }
    }

    fn enter_recovery(&mut self, cx: &mut Cx<'_>) {
        let marked = self.reducing;
        self.begin_recovery(cx);
        // the window is inflated by the segments that have left                     [RFC5681 §3.2 step 3]
        let (segment, duplicated) =
            (u64::from(self.segment), u64::from(self.duplicates) * u64::from(self.segment));
        self.base = self.una + duplicated;
        if let Some(accounts) = &mut self.reduction
            && !marked
        {
            let missing = (self.high - self.una + segment).saturating_sub(duplicated);
            accounts.news = segment;
            accounts.open(missing, duplicated, self.high);
            accounts.force(segment.min(self.high - self.una));
        }
        self.resend_first(cx);
        self.timeout_at = cx.now() + self.rtt.timeout();
    }

    /// What every recovery begins with: the law cuts, and the data that is out is noted.
    pub(super) fn begin_recovery(&mut self, cx: &mut Cx<'_>) {
        let segment = u64::from(self.segment);
        // what limited transmit sent does not count                                 [RFC5681 §3.2 step 2]
        let in_flight = (self.high - self.una).min((self.window / segment).max(1) * segment);
        let marked = self.reducing;
        if marked {
            // what is lost in a round that a mark began belongs to that reduction     [Linux: tcp_enter_recovery]
            let (bytes, in_flight) = (Bytes::new(segment), Bytes::new(in_flight));
            let event = Congestion { cause: Cause::Loss, bytes, in_flight, first: false };
            self.law.on_congestion(&event, cx);
            self.read_allowance();
            self.recover = self.episode_end;
        } else {
            self.congested(Cause::Loss, segment, in_flight, cx);
            self.recover = self.high;
        }
        (self.recovering, self.reducing) = (true, true);
        self.doubt_since = if self.switches.undo && !marked { cx.now() } else { Time::NEVER };
    }

    /// Sends the oldest segment again.
    fn resend_first(&mut self, cx: &mut Cx<'_>) {
        let len = u64::from(self.segment).min(self.high - self.una);
        self.emit(self.una, len, true, cx);
    }

    /// `bytes` of new data were acknowledged during a recovery.
    #[cold]
    pub(super) fn on_progress(&mut self, bytes: u64, cx: &mut Cx<'_>) {
        let segment = u64::from(self.segment);
        if !self.recovering {
            return self.on_marked_progress(bytes, cx);
        }
        if self.una >= self.recover {
            // a full acknowledgement ends it; the window is the threshold            [RFC6582 §3.2 step 3, option 2]
            (self.recovering, self.reducing) = (false, false);
            self.duplicates = 0;
            self.base = self.una;
            self.restart_timer(cx.now());
            if self.by_pipe {
                self.advance_board();
            }
            return;
        }
        if let Some(accounts) = &mut self.reduction {
            accounts.forward = true;
        }
        if self.board.is_some() {
            self.base = self.una;
            return self.restart_timer(cx.now());
        }
        // A partial one shows the next hole. The window is deflated by what was acknowledged and a segment is added, so
        // it moves on by that segment                                                [RFC6582 §3.2 step 3]
        if bytes >= segment {
            self.base += segment;
        }
        let event = Congestion {
            cause: Cause::Loss,
            bytes: Bytes::new(segment),
            in_flight: Bytes::new(self.flight()),
            first: false,
        };
        self.law.on_congestion(&event, cx);
        if let Some(accounts) = &mut self.reduction {
            accounts.progress(bytes);
            accounts.lost_more = true;
            accounts.resend(segment.min(self.high - self.una));
        }
        self.resend_first(cx);
        if self.switches.steady_timer || self.duplicates > 0 {
            self.timeout_at = cx.now() + self.rtt.timeout();
            // the first partial acknowledgement has been
            self.duplicates = 0;
        }
    }

    /// Tells the law of congestion; begins an episode unless the last one still lasts.
    pub(super) fn congested(&mut self, cause: Cause, bytes: u64, in_flight: u64, cx: &mut Cx<'_>) {
        let first = self.una >= self.episode_end;
        let event = Congestion { cause, bytes: Bytes::new(bytes), in_flight: Bytes::new(in_flight), first };
        self.law.on_congestion(&event, cx);
        if first {
            self.episode_end = self.high;
            self.reduced = true;
            cx.count(Count::Episodes, 1);
        }
        self.read_allowance();
    }

    /// The receiver echoes a mark, and acknowledges all below `ack`. At most one reduction per window of data [RFC3168 §6.1.2].
    #[cold]
    pub(super) fn on_echo(&mut self, ack: u64, cx: &mut Cx<'_>) {
        cx.count(Count::Marks, 1);
        if self.high > self.una && !self.reduces_for_mark(ack, cx) {
            self.congested(Cause::Mark, u64::from(self.segment), self.flight(), cx);
        }
    }

    /// The retransmission timer expired [RFC5681 §3.1, RFC6298 §5.4–5.6, RFC6582 §3.2 step 4].
    #[cold]
    pub(super) fn on_timeout(&mut self, cx: &mut Cx<'_>) {
        cx.count(Count::Timeouts, 1);
        // the threshold stays as it is while the same segment is sent again and again [RFC5681 §3.1]
        // and in Linux while a reduction goes on                                      [Linux: tcp_enter_loss]
        let spreading = self.reduction.is_some() && self.reducing;
        let first = !self.rtt.backed_off() && !spreading;
        self.rtt.back_off();
        // of what was sent during a repair, all but a window has left the network
        let repairing = self.recovering || self.una < self.recover;
        let in_flight =
            Bytes::new(if repairing { self.flight().min(self.window) } else { self.next - self.una });
        let event = Congestion { cause: Cause::Timeout, bytes: in_flight, in_flight, first };
        self.law.on_congestion(&event, cx);
        if first {
            cx.count(Count::Episodes, 1);
        }
        // of losses under repair a timeout is no news, and the segment may have been sent again just before
        let doubtful = first && self.switches.undo && !repairing && !self.first_was_resent();
        self.doubt_since = if doubtful { cx.now() } else { Time::NEVER };
        self.reduced = true;
        (self.recovering, self.reducing) = (false, false);
        self.duplicates = 0;
        self.base = self.una;
        self.recover = self.high;
        self.episode_end = self.high;
        if self.board.is_some() {
            self.lose_everything();
        } else {
            self.next = self.una;
        }
        self.timeout_at = cx.now() + self.rtt.timeout();
        self.read_allowance();
    }

    /// New data is acknowledged after a retransmission. If what is echoed was sent before it, the first transmission had
    /// arrived after all [RFC3522 §3.2]: the law may put back what it had, and sending goes on where it was [RFC4015 §3.1].
    #[cold]
    pub(super) fn settle_doubt(&mut self, echo: Time, cx: &mut Cx<'_>) {
        let needless = echo < self.doubt_since;
        self.doubt_since = Time::NEVER;
        if !needless {
            return;
        }
        (self.recovering, self.reducing) = (false, false);
        self.duplicates = 0;
        self.base = self.una;
        self.next = self.high;
        self.recover = self.una;
        self.episode_end = self.una;
        self.lose_nothing();
        self.law.on_spurious(cx);
    }
}

/// Duplicate acknowledgements that mean a loss [RFC5681 §3.2].
const DUPLICATES: u32 = 3;
