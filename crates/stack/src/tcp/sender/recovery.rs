//! TCP loss recovery, the part of all modes: begin and end of recovery, proportional rate reduction, the retransmission
//! timer (RFC 6298 §5), explicit congestion notification (RFC 3168 §6.1), spurious retransmissions (RFC 3522, RFC
//! 4015). And loss recovery without SACK: fast retransmit and fast recovery (RFC 5681 §3.2, RFC 6582) or slow start
//! (Tahoe). Losses with SACK are detected and retransmitted in `sack.rs`.

use contract::{Cause, Congestion, CongestionControl, Count, Cx};
use units::{Bytes, Time};

use super::Sender;
use super::frto::Frto;
use super::scoreboard::Scoreboard;
use super::sequence::SendSequence;

/// The state of loss recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovery {
    /// Consecutive duplicate acknowledgements.
    pub(super) duplicates: u32,
    /// Whether the sender is in fast recovery.
    pub(super) recovering: bool,
    /// Whether the window is being reduced: in fast recovery, or after a CE mark with proportional reduction.
    pub(super) reducing: bool,
    /// Whether the scoreboard counts the data in flight; otherwise they are all bytes from `una` to `next`.
    pub(super) by_pipe: bool,
    /// Whether the next new data carry CWR [RFC3168 §6.1.2].
    pub(super) cwr_due: bool,
    /// The cause of the current episode, until the controller knows that it is over.
    pub(super) ongoing: Option<Cause>,
    /// One past the highest byte sent when a loss was last detected [RFC6582 §3.2: recover].
    pub(super) recover: u64,
    /// Congestion belongs to the current episode until all bytes below this are acknowledged.
    pub(super) episode_end: u64,
    /// When the retransmission was sent that may be spurious [RFC3522]; [`Time::NEVER`] for none.
    pub(super) suspect_sent_at: Time,
    /// First byte in flight when the last recovery began, and the number of its retransmissions that have not arrived
    /// twice; `None` if nothing is to be undone [Linux: undo_marker, undo_retrans].
    undo: Option<(u64, u64)>,
    /// The bytes between the first and the last of the current retransmissions.
    resent: (u64, u64),
    /// First byte in flight at the last timeout.
    timed_out_at: u64,
    /// Whether the last timeout may be spurious.
    pub(super) frto: Frto,
}

impl Default for Recovery {
    /// The state without losses.
    fn default() -> Self {
        Self {
            duplicates: 0,
            recovering: false,
            reducing: false,
            by_pipe: false,
            cwr_due: false,
            ongoing: None,
            recover: 0,
            episode_end: 0,
            suspect_sent_at: Time::NEVER,
            undo: None,
            resent: (0, 0),
            timed_out_at: 0,
            frto: Frto::default(),
        }
    }
}

impl Recovery {
    /// Whether no data are known to be missing.
    pub(super) const fn is_clear(&self) -> bool {
        !self.by_pipe && !self.recovering
    }

    /// Whether lost data may be retransmitted: in a recovery, and after a timeout until all data sent before it have
    /// arrived.
    pub(super) const fn repairs(&self, una: u64) -> bool {
        self.recovering || una < self.recover
    }

    /// Decides whether the scoreboard counts the data in flight from now on.
    pub(super) fn choose_flight_count(&mut self, scoreboard: &Scoreboard) {
        self.by_pipe = self.recovering || !scoreboard.is_clear();
    }

    /// Ends a recovery, or a reduction after a mark, and deflates the window.
    fn end(&mut self, seq: &mut SendSequence) {
        (self.recovering, self.reducing) = (false, false);
        self.deflate(seq);
    }

    /// Whether an acknowledgement of the bytes from `una` to `ack` may be of retransmissions.
    pub(super) const fn covers_retransmission(&self, una: u64, ack: u64) -> bool {
        ack > self.resent.0 && una < self.resent.1
    }

    /// Records a retransmission of the bytes from `seq` to `end`, where `una` is the oldest byte in flight.
    pub(super) fn retransmitted(&mut self, una: u64, seq: u64, end: u64) {
        let (first, last) = self.resent;
        self.resent = if una >= last { (seq, end) } else { (first.min(seq), last.max(end)) };
        if let Some((start, count)) = &mut self.undo
            && seq >= *start
        {
            *count += 1;
        }
    }

    /// Records that `segments` from byte `seq` on arrived twice. Returns whether those are all that the last recovery
    /// retransmitted.
    pub(super) fn arrived_twice(&mut self, seq: u64, segments: u64) -> bool {
        let Some((start, count)) = &mut self.undo else { return false };
        if seq < *start || *count == 0 {
            return false;
        }
        *count = count.saturating_sub(segments);
        *count == 0
    }

    /// Resets the count of duplicate acknowledgements and deflates the window, because new data were acknowledged.
    #[inline]
    pub(super) fn deflate(&mut self, seq: &mut SendSequence) {
        self.duplicates = 0;
        seq.deflate();
    }

    /// Begins an episode of congestion. `high` is one past the highest byte sent.
    fn begin_episode(&mut self, cause: Cause, high: u64) {
        self.episode_end = high;
        self.cwr_due = true;
        self.ongoing = Some(cause);
    }
}

impl<C: CongestionControl> Sender<C> {
    /// Whether lost data may be retransmitted.
    pub(super) fn repairing(&self) -> bool {
        self.recovery.repairs(self.seq.una)
    }

    /// Handles a duplicate acknowledgement: one segment has left the network and another is missing.
    #[cold]
    pub(super) fn on_duplicate(&mut self, cx: &mut Cx<'_>) {
        let segment = self.segment();
        if self.recovery.recovering {
            // each further duplicate inflates the window by one segment                        [RFC6582 §3.2 step 3]
            self.seq.base += segment;
            if let Some(prr) = &mut self.prr {
                prr.duplicate(segment);
            }
            return;
        }
        // duplicates that a retransmission after a timeout causes are no new loss    [RFC6582 §3.2 step 1, §3.2 step 6]
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
        let (marked, window) = (self.recovery.reducing, self.controller.allowance().window.as_u64());
        self.begin_recovery(cx);
        // the window is inflated by the segments that have left the network             [RFC5681 §3.2 step 3]
        let (segment, duplicated) = (self.segment(), u64::from(self.recovery.duplicates) * self.segment());
        self.seq.base = self.seq.una + duplicated;
        if let Some(prr) = &mut self.prr
            && !marked
        {
            prr.set_newly_delivered(segment);
            prr.open(window, duplicated, self.seq.high);
            prr.force(segment.min(self.seq.high - self.seq.una));
        }
        self.retransmit_first(cx);
        self.timer.start(cx.now());
    }

    /// Fast retransmit without fast recovery (TCP Tahoe): the effect of a timeout, without exponential backoff
    /// [J88 §3, appendix D; ns-2: TcpAgent::dupack_action].
    fn retransmit_all(&mut self, cx: &mut Cx<'_>) {
        let in_flight = self.flight_at_loss();
        self.enter_loss(in_flight, true, self.detects_spurious(), cx);
    }

    /// Data in flight when duplicate acknowledgements show a loss, without the segments of limited transmit
    /// [RFC5681 §3.2 step 2].
    fn flight_at_loss(&self) -> u64 {
        let segment = self.segment();
        (self.seq.high - self.seq.una).min((self.limits.window / segment).max(1) * segment)
    }

    /// The common start of every recovery: notifies the controller and records the highest byte sent.
    pub(super) fn begin_recovery(&mut self, cx: &mut Cx<'_>) {
        let (segment, in_flight) = (self.segment(), self.flight_at_loss());
        let marked = self.recovery.reducing;
        if marked {
            // a loss in a round that a mark started belongs to that reduction            [Linux: tcp_enter_recovery]
            self.report(Cause::Loss, segment, in_flight, cx);
            self.recovery.recover = self.recovery.episode_end;
        } else {
            self.congested(Cause::Loss, segment, in_flight, cx);
            self.recovery.recover = self.seq.high;
        }
        (self.recovery.recovering, self.recovery.reducing) = (true, true);
        self.recovery.ongoing = Some(Cause::Loss);
        self.recovery.suspect_sent_at =
            if self.detects_spurious() && !marked { cx.now() } else { Time::NEVER };
        self.recovery.undo = (!marked).then_some((self.seq.una, 0));
    }

    /// Retransmits the oldest segment.
    fn retransmit_first(&mut self, cx: &mut Cx<'_>) {
        let len = self.segment().min(self.seq.high - self.seq.una);
        self.report_first_lost(len, cx);
        self.emit(self.seq.una, len, true, cx);
    }

    /// Handles an acknowledgement of `bytes` new bytes during a recovery. `counted` means that the scoreboard has
    /// already counted them for PRR.
    #[cold]
    pub(super) fn on_progress(&mut self, bytes: u64, counted: bool, cx: &mut Cx<'_>) {
        let segment = self.segment();
        if !self.recovery.recovering {
            return self.on_marked_progress(bytes, counted, cx);
        }
        if self.seq.una >= self.recovery.recover {
            // a full acknowledgement ends the recovery; the window is the threshold     [RFC6582 §3.2 step 3, option 2]
            self.recovery.end(&mut self.seq);
            self.restart_timer(cx.now());
            if self.recovery.by_pipe {
                self.advance_scoreboard();
            }
            return;
        }
        if let Some(prr) = &mut self.prr {
            prr.on_cumulative_ack();
        }
        if self.scoreboard.is_some() {
            self.seq.base = self.seq.una;
            return self.restart_timer(cx.now());
        }
        // A partial acknowledgement shows the next gap. The window is deflated by the acknowledged bytes, and one
        // segment is added, so its start advances by that segment                [RFC6582 §3.2 step 3]
        if bytes >= segment {
            self.seq.base += segment;
        }
        let event = Congestion {
            cause: Cause::Loss,
            bytes: Bytes::new(segment),
            in_flight: Bytes::new(self.flight()),
            first: false,
        };
        self.controller.on_congestion(&event, cx);
        if let Some(prr) = &mut self.prr {
            prr.progress(bytes);
            prr.note_further_loss();
            prr.on_retransmit(segment.min(self.seq.high - self.seq.una));
        }
        self.retransmit_first(cx);
        if self.settings.steady_timer || self.recovery.duplicates > 0 {
            self.timer.start(cx.now());
            // a count above zero marks the first partial acknowledgement
            self.recovery.duplicates = 0;
        }
    }

    /// Notifies the controller of congestion that belongs to the current episode.
    pub(super) fn report(&mut self, cause: Cause, bytes: u64, in_flight: u64, cx: &mut Cx<'_>) {
        let (bytes, in_flight) = (Bytes::new(bytes), Bytes::new(in_flight));
        self.controller.on_congestion(&Congestion { cause, bytes, in_flight, first: false }, cx);
        self.read_allowance();
    }

    /// Notifies the controller of congestion, and begins an episode unless one is in progress.
    pub(super) fn congested(&mut self, cause: Cause, bytes: u64, in_flight: u64, cx: &mut Cx<'_>) {
        let first = self.seq.una >= self.recovery.episode_end;
        let event = Congestion { cause, bytes: Bytes::new(bytes), in_flight: Bytes::new(in_flight), first };
        self.controller.on_congestion(&event, cx);
        if first {
            self.recovery.begin_episode(cause, self.seq.high);
            cx.count(Count::Episodes, 1);
        }
        self.read_allowance();
    }

    /// Notifies the controller if the episode is over that began with `cause`.
    #[cold]
    pub(super) fn end_episode(&mut self, cause: Cause, cx: &mut Cx<'_>) {
        let end = if cause == Cause::Mark { self.recovery.episode_end } else { self.recovery.recover };
        if !self.recovery.reducing && self.seq.una >= end {
            self.recovery.ongoing = None;
            if let Some(rack) = &mut self.rack
                && cause != Cause::Mark
            {
                rack.on_recovered();
            }
            self.controller.on_recovered(cause, cx);
            self.read_allowance();
        }
    }

    /// Handles an acknowledgement of all bytes below `ack` with ECE. The window is reduced at most once per window of
    /// data [RFC3168 §6.1.2].
    #[cold]
    pub(super) fn on_echo(&mut self, ack: u64, cx: &mut Cx<'_>) {
        cx.count(Count::Marks, 1);
        if self.seq.high > self.seq.una && !self.reduces_for_mark(ack, cx) {
            self.congested(Cause::Mark, self.segment(), self.flight(), cx);
        }
    }

    /// Handles a retransmission timeout [RFC5681 §3.1, RFC6298 §5.4–5.6, RFC6582 §3.2 step 4].
    #[cold]
    pub(super) fn on_timeout(&mut self, cx: &mut Cx<'_>) {
        cx.count(Count::Timeouts, 1);
        // the threshold does not change for repeated timeouts of the same segment [RFC5681 §3.1], whether or not the
        // back-off has ended, nor, in Linux, during a reduction [Linux: tcp_enter_loss]
        let spreading = self.prr.is_some() && self.recovery.reducing;
        let again = self.timer.rtt().backed_off() && self.recovery.timed_out_at == self.seq.una;
        let first = !again && !spreading;
        self.recovery.timed_out_at = self.seq.una;
        self.timer.back_off();
        // all but one window of the data sent before the recovery has left the network
        let repairing = self.repairing();
        let in_flight =
            if repairing { self.flight().min(self.limits.window) } else { self.seq.next - self.seq.una };
        // a timeout during a recovery is not spurious, and the segment may have been retransmitted just before
        let may_be_spurious =
            first && self.detects_spurious() && !repairing && !self.first_was_retransmitted();
        // not after retransmissions of a recovery, whose originals may arrive
        let undecided = if again { self.recovery.frto.active } else { !repairing };
        self.recovery.frto.begin(self.settings.frto && undecided);
        self.enter_loss(in_flight, first, may_be_spurious, cx);
    }

    /// Slow start from one segment, over all data in flight. `first`: the controller lowers its threshold.
    /// `may_be_spurious`: the retransmission may be spurious.
    fn enter_loss(&mut self, in_flight: u64, first: bool, may_be_spurious: bool, cx: &mut Cx<'_>) {
        let in_flight = Bytes::new(in_flight);
        let event = Congestion { cause: Cause::Timeout, bytes: in_flight, in_flight, first };
        self.controller.on_congestion(&event, cx);
        if first {
            cx.count(Count::Episodes, 1);
        }
        self.recovery.suspect_sent_at = if may_be_spurious { cx.now() } else { Time::NEVER };
        if first {
            self.recovery.undo = Some((self.seq.una, 0));
        }
        self.recovery.cwr_due = true;
        self.recovery.ongoing = Some(Cause::Timeout);
        self.recovery.end(&mut self.seq);
        self.recovery.recover = self.seq.high;
        self.recovery.episode_end = self.seq.high;
        if self.scoreboard.is_some() {
            self.mark_all_lost();
            self.report_losses(cx);
        } else {
            self.report_first_lost(self.seq.high - self.seq.una, cx);
            self.seq.next = self.seq.una;
            self.segment_ends.restart(self.seq.una);
        }
        self.timer.start(cx.now());
        self.read_allowance();
    }

    /// Whether an acknowledgement tells a spurious retransmission from one that was needed.
    fn detects_spurious(&self) -> bool {
        self.settings.undo && self.settings.time_stamps
    }

    /// Called when new data are acknowledged after a retransmission. If the echoed time stamp is older than the
    /// retransmission, it was spurious: the first transmission had arrived [RFC3522 §3.2]. Then the controller may
    /// restore its window, and sending resumes where it was [RFC4015 §3.1].
    #[cold]
    pub(super) fn check_spurious(&mut self, echo: Time, cx: &mut Cx<'_>) {
        let spurious = echo < self.recovery.suspect_sent_at;
        self.recovery.suspect_sent_at = Time::NEVER;
        if spurious {
            self.undo(cx);
        }
    }

    /// The last recovery was spurious: sending resumes where it was.
    #[cold]
    pub(super) fn undo(&mut self, cx: &mut Cx<'_>) {
        self.recovery.undo = None;
        self.recovery.suspect_sent_at = Time::NEVER;
        self.recovery.end(&mut self.seq);
        self.seq.next = self.seq.high;
        self.recovery.recover = self.seq.una;
        self.recovery.episode_end = self.seq.una;
        self.recovery.ongoing = None;
        self.unmark_lost();
        self.controller.on_spurious(cx);
        self.read_allowance();
    }

    // ---- proportional rate reduction

    /// Handles a CE mark with proportional reduction: starts a round in which the window is reduced, unless one is in
    /// progress [Linux: tcp_try_to_open, tcp_enter_cwr]. `ack` is the acknowledgement number. Returns false if the mark
    /// is to be handled as without proportional reduction.
    fn reduces_for_mark(&mut self, ack: u64, cx: &mut Cx<'_>) -> bool {
        if self.prr.is_none() {
            return false;
        }
        let Recovery { recovering, reducing, recover, episode_end, .. } = self.recovery;
        // a round after a mark ends above the data in flight at its start, so that CWR has reached the receiver; a
        // recovery ends with these data
        let in_round = if reducing && !recovering { ack <= episode_end } else { ack < recover };
        if in_round {
            return true;
        }
        if !reducing && self.seq.una < episode_end {
            // a controller without a threshold
            return false;
        }
        let before = self.controller.allowance().window.as_u64();
        let (bytes, in_flight) = (Bytes::new(self.segment()), Bytes::new(self.flight()));
        self.controller.on_congestion(&Congestion { cause: Cause::Mark, bytes, in_flight, first: true }, cx);
        cx.count(Count::Episodes, 1);
        self.recovery.begin_episode(Cause::Mark, self.seq.high);
        if let Some(prr) = &mut self.prr
            && self.controller.ssthresh() != Bytes::UNLIMITED
        {
            prr.set_newly_delivered(0);
            prr.open(before, 0, self.seq.high);
            self.recovery.reducing = true;
        }
        self.read_allowance();
        true
    }

    /// Handles an acknowledgement of `bytes` in a round that a mark started, or just after it.
    fn on_marked_progress(&mut self, bytes: u64, counted: bool, cx: &mut Cx<'_>) {
        if let Some(prr) = &mut self.prr {
            prr.on_cumulative_ack();
            if !counted {
                prr.add_newly_delivered(bytes);
            }
        }
        if self.seq.una > self.recovery.episode_end {
            // the window is the threshold                                           [Linux: tcp_end_cwnd_reduction]
            self.recovery.reducing = false;
            self.read_allowance();
        }
        self.recovery.deflate(&mut self.seq);
        self.restart_timer(cx.now());
    }

    /// Updates the window of proportional reduction after an acknowledgement.
    #[cold]
    pub(super) fn apply_prr(&mut self) {
        let (pipe, segment) = (self.flight(), self.segment());
        let Some(prr) = &mut self.prr else { return };
        if self.controller.ssthresh() != Bytes::UNLIMITED {
            let target = self.controller.allowance().window.as_u64();
            self.limits.window = prr.grant(pipe, target, self.seq.high, segment);
        }
    }
}

/// The number of duplicate acknowledgements that indicates a loss [RFC5681 §3.2].
const DUPLICATES: u32 = 3;
