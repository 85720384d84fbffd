//! TCP losses, timeouts and marks without SACK: fast retransmit and fast recovery (RFC 5681 §3.2, RFC 6582) or slow start (Tahoe), the retransmission timer (RFC 6298 §5),
//! explicit congestion notification (RFC 3168 §6.1), spurious retransmissions (RFC 3522, RFC 4015).

use contract::{Cause, Congestion, CongestionControl, Count, Cx};
use units::{Bytes, Time};

use super::Sender;
use super::scoreboard::Scoreboard;
use super::sequence::SendSequence;

/// Where loss recovery stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovery {
    /// Duplicate acknowledgements in a row.
    pub(super) duplicates: u32,
    /// In fast recovery.
    pub(super) recovering: bool,
    /// The window comes down: in fast recovery, or after a mark with proportional reduction.
    pub(super) reducing: bool,
    /// What is in flight is what the scoreboard says; otherwise it is all from `una` to `next`.
    pub(super) by_pipe: bool,
    /// Tell the receiver, on the next new data, that the window was reduced [RFC3168 §6.1.2].
    pub(super) cwr_due: bool,
    /// End of the data that was out when a loss was last noticed [RFC6582 §3.2: recover].
    pub(super) recover: u64,
    /// Until this byte is acknowledged, congestion belongs to the last episode.
    pub(super) episode_end: u64,
    /// When the retransmission left whose need is still in doubt [RFC3522].
    pub(super) doubt_since: Time,
}

impl Default for Recovery {
    /// Nothing is lost, and nothing was.
    fn default() -> Self {
        Self {
            duplicates: 0,
            recovering: false,
            reducing: false,
            by_pipe: false,
            cwr_due: false,
            recover: 0,
            episode_end: 0,
            doubt_since: Time::NEVER,
        }
    }
}

impl Recovery {
    /// Whether nothing is missing, as far as is known.
    pub(super) const fn is_clear(&self) -> bool {
        !self.by_pipe && !self.recovering
    }

    /// Whether what is lost may be retransmitted: in a recovery, and after a timeout until all of it has arrived.
    pub(super) const fn repairs(&self, una: u64) -> bool {
        self.recovering || una < self.recover
    }

    /// What is in flight is counted by the scoreboard from now on, or no longer.
    pub(super) fn count_by_board(&mut self, board: &Scoreboard) {
        self.by_pipe = self.recovering || !board.is_clear();
    }

    /// A recovery, or a reduction after a mark, ends; the window is no longer inflated.
    fn end(&mut self, seq: &mut SendSequence) {
        (self.recovering, self.reducing) = (false, false);
        self.settle(seq);
    }

    /// New data was acknowledged: duplicates are counted again, and the window is no longer inflated.
    #[inline]
    pub(super) fn settle(&mut self, seq: &mut SendSequence) {
        self.duplicates = 0;
        seq.deflate();
    }

    /// An episode of congestion begins, all below `high` being sent.
    fn begin_episode(&mut self, high: u64) {
        self.episode_end = high;
        self.cwr_due = true;
    }
}

impl<C: CongestionControl> Sender<C> {
    /// Whether what is lost may be retransmitted.
    pub(super) fn repairing(&self) -> bool {
        self.recovery.repairs(self.seq.una)
    }

    /// A duplicate acknowledgement: a segment left the network and another is missing.
    #[cold]
    pub(super) fn on_duplicate(&mut self, cx: &mut Cx<'_>) {
        let segment = self.segment();
        if self.recovery.recovering {
            // each further one permits a segment more                               [RFC6582 §3.2 step 3]
            self.seq.base += segment;
            if let Some(prr) = &mut self.prr {
                prr.duplicate(segment);
            }
            return;
        }
        // duplicates of what a timeout retransmitted tell nothing new                  [RFC6582 §3.2 step 1, §3.2 step 6]
        if self.recovery.recover > 0 && self.seq.una <= self.recovery.recover {
            return;
        }
        self.recovery.duplicates += 1;
        if self.recovery.duplicates >= DUPLICATES {
            if self.settings.fast_recovery { self.enter_recovery(cx) } else { self.retransmit_all(cx) }
        } else if self.settings.limited_transmit {
            self.seq.base += segment;
        }
    }

    fn enter_recovery(&mut self, cx: &mut Cx<'_>) {
        let marked = self.recovery.reducing;
        self.begin_recovery(cx);
        // the window is inflated by the segments that have left                     [RFC5681 §3.2 step 3]
        let (segment, duplicated) = (self.segment(), u64::from(self.recovery.duplicates) * self.segment());
        self.seq.base = self.seq.una + duplicated;
        if let Some(prr) = &mut self.prr
            && !marked
        {
            let missing = (self.seq.high - self.seq.una + segment).saturating_sub(duplicated);
            prr.begin_news(segment);
            prr.open(missing, duplicated, self.seq.high);
            prr.force(segment.min(self.seq.high - self.seq.una));
        }
        self.resend_first(cx);
        self.timer.start(cx.now());
    }

    /// Fast retransmit without fast recovery, TCP Tahoe: the timer has as good as expired, but the next timeout is no longer
    /// [J88 §3, appendix D; ns-2: TcpAgent::dupack_action].
    fn retransmit_all(&mut self, cx: &mut Cx<'_>) {
        let in_flight = self.flight_at_loss();
        self.start_over(in_flight, true, self.settings.undo, cx);
    }

    /// What was in flight when duplicate acknowledgements show a loss; what limited transmit sent does not count [RFC5681 §3.2 step 2].
    fn flight_at_loss(&self) -> u64 {
        let segment = self.segment();
        (self.seq.high - self.seq.una).min((self.permit.window / segment).max(1) * segment)
    }

    /// What every recovery begins with: the law cuts, and the data that is out is noted.
    pub(super) fn begin_recovery(&mut self, cx: &mut Cx<'_>) {
        let (segment, in_flight) = (self.segment(), self.flight_at_loss());
        let marked = self.recovery.reducing;
        if marked {
            // what is lost in a round that a mark began belongs to that reduction     [Linux: tcp_enter_recovery]
            self.report(Cause::Loss, segment, in_flight, cx);
            self.recovery.recover = self.recovery.episode_end;
        } else {
            self.congested(Cause::Loss, segment, in_flight, cx);
            self.recovery.recover = self.seq.high;
        }
        (self.recovery.recovering, self.recovery.reducing) = (true, true);
        self.recovery.doubt_since = if self.settings.undo && !marked { cx.now() } else { Time::NEVER };
    }

    /// Sends the oldest segment again.
    fn resend_first(&mut self, cx: &mut Cx<'_>) {
        let len = self.segment().min(self.seq.high - self.seq.una);
        self.emit(self.seq.una, len, true, cx);
    }

    /// `bytes` of new data were acknowledged during a recovery; `counted` where the scoreboard has told proportional rate reduction.
    #[cold]
    pub(super) fn on_progress(&mut self, bytes: u64, counted: bool, cx: &mut Cx<'_>) {
        let segment = self.segment();
        if !self.recovery.recovering {
            return self.on_marked_progress(bytes, counted, cx);
        }
        if self.seq.una >= self.recovery.recover {
            // a full acknowledgement ends it; the window is the threshold            [RFC6582 §3.2 step 3, option 2]
            self.recovery.end(&mut self.seq);
            self.restart_timer(cx.now());
            if self.recovery.by_pipe {
                self.advance_board();
            }
            return;
        }
        if let Some(prr) = &mut self.prr {
            prr.go_forward();
        }
        if self.board.is_some() {
            self.seq.base = self.seq.una;
            return self.restart_timer(cx.now());
        }
        // A partial one shows the next hole. The window is deflated by what was acknowledged and a segment is added, so
        // it moves on by that segment                                                [RFC6582 §3.2 step 3]
        if bytes >= segment {
            self.seq.base += segment;
        }
        let event = Congestion {
            cause: Cause::Loss,
            bytes: Bytes::new(segment),
            in_flight: Bytes::new(self.flight()),
            first: false,
        };
        self.law.on_congestion(&event, cx);
        if let Some(prr) = &mut self.prr {
            prr.progress(bytes);
            prr.lose_more();
            prr.resend(segment.min(self.seq.high - self.seq.una));
        }
        self.resend_first(cx);
        if self.settings.steady_timer || self.recovery.duplicates > 0 {
            self.timer.start(cx.now());
            // the first partial acknowledgement has been
            self.recovery.duplicates = 0;
        }
    }

    /// Tells the law of congestion that belongs to the last episode.
    pub(super) fn report(&mut self, cause: Cause, bytes: u64, in_flight: u64, cx: &mut Cx<'_>) {
        let (bytes, in_flight) = (Bytes::new(bytes), Bytes::new(in_flight));
        self.law.on_congestion(&Congestion { cause, bytes, in_flight, first: false }, cx);
        self.read_allowance();
    }

    /// Tells the law of congestion; begins an episode unless the last one still lasts.
    pub(super) fn congested(&mut self, cause: Cause, bytes: u64, in_flight: u64, cx: &mut Cx<'_>) {
        let first = self.seq.una >= self.recovery.episode_end;
        let event = Congestion { cause, bytes: Bytes::new(bytes), in_flight: Bytes::new(in_flight), first };
        self.law.on_congestion(&event, cx);
        if first {
            self.recovery.begin_episode(self.seq.high);
            cx.count(Count::Episodes, 1);
        }
        self.read_allowance();
    }

    /// The receiver echoes a mark, and acknowledges all below `ack`. At most one reduction per window of data [RFC3168 §6.1.2].
    #[cold]
    pub(super) fn on_echo(&mut self, ack: u64, cx: &mut Cx<'_>) {
        cx.count(Count::Marks, 1);
        if self.seq.high > self.seq.una && !self.reduces_for_mark(ack, cx) {
            self.congested(Cause::Mark, self.segment(), self.flight(), cx);
        }
    }

    /// The retransmission timer expired [RFC5681 §3.1, RFC6298 §5.4–5.6, RFC6582 §3.2 step 4].
    #[cold]
    pub(super) fn on_timeout(&mut self, cx: &mut Cx<'_>) {
        cx.count(Count::Timeouts, 1);
        // the threshold stays as it is while the same segment is retransmitted repeatedly [RFC5681 §3.1]
        // and in Linux while a reduction goes on                                      [Linux: tcp_enter_loss]
        let spreading = self.prr.is_some() && self.recovery.reducing;
        let first = !self.timer.rtt().backed_off() && !spreading;
        self.timer.back_off();
        // of what was sent during a repair, all but a window has left the network
        let repairing = self.repairing();
        let in_flight =
            if repairing { self.flight().min(self.permit.window) } else { self.seq.next - self.seq.una };
        // of losses under repair a timeout is no news, and the segment may have been retransmitted just before
        let doubtful = first && self.settings.undo && !repairing && !self.first_was_resent();
        self.start_over(in_flight, first, doubtful, cx);
    }

    /// Slow start from one segment, over all that is out. `first` where the law lowers its threshold, `doubtful` where the retransmission
    /// may prove needless.
    fn start_over(&mut self, in_flight: u64, first: bool, doubtful: bool, cx: &mut Cx<'_>) {
        let in_flight = Bytes::new(in_flight);
        let event = Congestion { cause: Cause::Timeout, bytes: in_flight, in_flight, first };
        self.law.on_congestion(&event, cx);
        if first {
            cx.count(Count::Episodes, 1);
        }
        self.recovery.doubt_since = if doubtful { cx.now() } else { Time::NEVER };
        self.recovery.cwr_due = true;
        self.recovery.end(&mut self.seq);
        self.recovery.recover = self.seq.high;
        self.recovery.episode_end = self.seq.high;
        if self.board.is_some() {
            self.lose_everything();
        } else {
            self.seq.next = self.seq.una;
        }
        self.timer.start(cx.now());
        self.read_allowance();
    }

    /// New data is acknowledged after a retransmission. If what is echoed was sent before it, the first transmission had
    /// arrived after all [RFC3522 §3.2]: the law may put back what it had, and sending goes on where it was [RFC4015 §3.1].
    #[cold]
    pub(super) fn settle_doubt(&mut self, echo: Time, cx: &mut Cx<'_>) {
        let needless = echo < self.recovery.doubt_since;
        self.recovery.doubt_since = Time::NEVER;
        if !needless {
            return;
        }
        self.recovery.end(&mut self.seq);
        self.seq.next = self.seq.high;
        self.recovery.recover = self.seq.una;
        self.recovery.episode_end = self.seq.una;
        self.lose_nothing();
        self.law.on_spurious(cx);
    }

    // ---- proportional rate reduction

    /// An echoed mark, with proportional reduction: begins a round in which the window comes down, unless one lasts
    /// [Linux: tcp_try_to_open, tcp_enter_cwr]. `ack` is how far the acknowledgement at hand goes. False where the mark is to be handled
    /// as without.
    fn reduces_for_mark(&mut self, ack: u64, cx: &mut Cx<'_>) -> bool {
        if self.prr.is_none() {
            return false;
        }
        let Recovery { recovering, reducing, recover, episode_end, .. } = self.recovery;
        // a round after a mark ends above the data that was out when it began, so that CWR has reached the receiver; a recovery with it
        let lasts = if reducing && !recovering { ack <= episode_end } else { ack < recover };
        if lasts {
            return true;
        }
        if !reducing && self.seq.una < episode_end {
            // the law has no threshold
            return false;
        }
        let before = self.law.allowance().window.as_u64();
        let (bytes, in_flight) = (Bytes::new(self.segment()), Bytes::new(self.flight()));
        self.law.on_congestion(&Congestion { cause: Cause::Mark, bytes, in_flight, first: true }, cx);
        cx.count(Count::Episodes, 1);
        self.recovery.begin_episode(self.seq.high);
        if let Some(prr) = &mut self.prr
            && self.law.ssthresh() != Bytes::UNLIMITED
        {
            // prior_cwnd                                                            [Linux: tcp_init_cwnd_reduction]
            prr.begin_news(0);
            prr.open(before, 0, self.seq.high);
            self.recovery.reducing = true;
        }
        self.read_allowance();
        true
    }

    /// `bytes` were acknowledged in a round that a mark began, or that lasts no longer.
    fn on_marked_progress(&mut self, bytes: u64, counted: bool, cx: &mut Cx<'_>) {
        if let Some(prr) = &mut self.prr {
            prr.go_forward();
            if !counted {
                prr.add_news(bytes);
            }
        }
        if self.seq.una > self.recovery.episode_end {
            // the window is the threshold                                           [Linux: tcp_end_cwnd_reduction]
            self.recovery.reducing = false;
            self.read_allowance();
        }
        self.recovery.settle(&mut self.seq);
        self.restart_timer(cx.now());
    }

    /// In a recovery, an acknowledgement has been read: how much may now be in flight.
    #[cold]
    pub(super) fn spread(&mut self) {
        let (pipe, segment) = (self.flight(), self.segment());
        let Some(prr) = &mut self.prr else { return };
        if self.law.ssthresh() != Bytes::UNLIMITED {
            let target = self.law.allowance().window.as_u64();
            self.permit.window = prr.grant(pipe, target, self.seq.high, segment);
        }
    }
}

/// Duplicate acknowledgements that mean a loss [RFC5681 §3.2].
const DUPLICATES: u32 = 3;
