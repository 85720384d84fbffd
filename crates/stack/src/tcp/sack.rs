//! Loss recovery with selective acknowledgements [RFC2018, RFC6675].

use contract::{Cause, Congestion, CongestionControl, Cx, TcpHeader};
use units::{Bytes, Time};

use super::scoreboard::THRESHOLD;
use super::sender::Sender;

impl<C: CongestionControl> Sender<C> {
    /// Reads the blocks of an acknowledgement. Returns how many bytes are newly known to have arrived.
    #[cold]
    pub(super) fn read_blocks(&mut self, header: &TcpHeader, now: Time) -> u64 {
        let Some(board) = &mut self.board else { return 0 };
        board.advance(self.una);
        let (mut news, mut late) = (0, false);
        let top = board.top();
        for (start, end) in header.sack.0 {
            let (start, end) = (header.ack + u64::from(start), header.ack + u64::from(end));
            if end <= self.high {
                if let Some(sampler) = &mut self.sampler {
                    board.each_missing(start, end, |low, high| sampler.on_arrival(low, high, now));
                }
                let new = board.arrived(start, end);
                late |= new > 0 && Some(end) < top && board.was_sent_once(start);
                news += new;
            }
        }
        self.by_pipe = self.recovering || !board.is_clear();
        if let Some(accounts) = &mut self.reduction {
            accounts.news = news;
        }
        if let Some(times) = &mut self.times
            && late
        {
            times.on_reordering();
        }
        news
    }

    /// Bytes in flight by the scoreboard.
    #[cold]
    pub(super) fn pipe(&self) -> u64 {
        match &self.board {
            Some(board) => board.pipe(self.high),
            None => self.next - self.una,
        }
    }

    /// Whether the last recovery already sent the oldest segment again.
    pub(super) fn first_was_resent(&self) -> bool {
        self.by_pipe && self.board.as_ref().is_some_and(|board| board.first_hole(self.high, 1).is_none())
    }

    /// Everything below `una` is acknowledged.
    #[cold]
    pub(super) fn advance_board(&mut self) {
        if let Some(board) = &mut self.board {
            if let Some(accounts) = &mut self.reduction {
                accounts.news += board.missing(self.una);
                accounts.counted = true;
            }
            if let Some(times) = &mut self.times
                && board.missing(self.una) > 0
                && board.top().is_some()
                && board.was_sent_once(board.first_missing())
            {
                times.on_reordering();
            }
            board.advance(self.una);
            self.by_pipe = self.recovering || !board.is_clear();
        }
    }

    /// Whether what is lost may be sent again: in a recovery, and after a timeout until all of it has arrived.
    pub(super) fn repairing(&self) -> bool {
        self.recovering || self.una < self.recover
    }

    /// An acknowledgement told of new arrivals beyond a hole [RFC6675 §5].
    #[cold]
    pub(super) fn on_arrivals(&mut self, duplicate: bool, cx: &mut Cx<'_>) {
        if self.times.is_some() {
            return;
        }
        let segment = u64::from(self.segment);
        if !self.repairing() && duplicate {
            self.duplicates += 1;
            let Some(board) = &self.board else { return };
            if u64::from(self.duplicates) >= THRESHOLD || board.evidence(segment) > self.una {
                self.enter_repair(cx);
            }
        }
        // after a timeout everything sent before it counts as lost, and nothing sent after it
        if self.recovering || !self.repairing() {
            self.weigh_evidence(cx);
        }
    }

    /// Losses that the arrivals show. In a recovery the law is told of each.
    fn weigh_evidence(&mut self, cx: &mut Cx<'_>) {
        let segment = u64::from(self.segment);
        let Some(board) = &mut self.board else { return };
        let lost = board.lose_below(board.evidence(segment));
        if lost > 0 && self.recovering {
            if let Some(accounts) = &mut self.reduction {
                accounts.lost_more = true;
            }
            let in_flight = Bytes::new(board.pipe(self.high));
            let event = Congestion { cause: Cause::Loss, bytes: Bytes::new(lost), in_flight, first: false };
            self.law.on_congestion(&event, cx);
            self.read_allowance();
        }
    }

    /// Begins a recovery [RFC6675 §5 step 4].
    pub(super) fn enter_repair(&mut self, cx: &mut Cx<'_>) {
        let segment = u64::from(self.segment);
        let marked = self.reducing;
        self.begin_recovery(cx);
        let Some(board) = &mut self.board else { return };
        self.by_pipe = true;
        if let Some(accounts) = &mut self.reduction
            && !marked
        {
            let missing = board.missing(self.high) + accounts.news;
            accounts.open(missing, 0, self.high);
        }
        // differs: what the last recovery sent again is not sent a third time
        if let Some((seq, len)) = board.first_hole(self.high, segment) {
            board.lose_below(seq + len);
            board.rescue_end = seq + len;
            match &mut self.reduction {
                Some(accounts) if marked => accounts.resend(len),
                Some(accounts) => accounts.force(len),
                None => {}
            }
            self.mark_resent(seq, len, cx);
        } else {
            // its answer is to the copy of the last recovery
            self.doubt_since = Time::NEVER;
        }
        self.timeout_at = cx.now() + self.rtt.timeout();
    }

    /// The timer expired: all that has not arrived counts as lost [RFC6675 §5.1]. What has arrived is remembered, since
    /// receivers here never take it back.
    pub(super) fn lose_everything(&mut self) {
        if let Some(board) = &mut self.board {
            board.advance(self.una);
            board.start_over();
            board.lose_below(self.high);
            self.by_pipe = true;
        }
        if let Some(times) = &mut self.times {
            times.start_over();
        }
    }

    /// Nothing was lost: what is missing is late.
    pub(super) fn lose_nothing(&mut self) {
        if let Some(board) = &mut self.board {
            board.start_over();
            self.by_pipe = !board.is_clear();
        }
        if let Some(times) = &mut self.times {
            times.start_over();
            times.on_reordering();
        }
    }

    /// Sends while the pipe has room: lost data first, then new, then what is in doubt [RFC6675 §4: NextSeg, §5 step C].
    #[cold]
    pub(super) fn transmit_by_pipe(&mut self, cx: &mut Cx<'_>) {
        let segment = u64::from(self.segment);
        loop {
            let Some(board) = &self.board else { return };
            let room = self.window.saturating_sub(board.pipe(self.high));
            let lost = if self.repairing() { board.next_lost(segment) } else { None };
            if let Some((seq, len)) = lost {
                if room < len || self.waits_for_pacer(cx.now()) {
                    return;
                }
                self.resend_hole(seq, len, cx);
                continue;
            }
            let len = self.new_data(cx.now()).min(segment);
            if len > 0 && self.next + len <= self.edge {
                let held_back =
                    !self.repairing() && !self.switches.limited_transmit && self.next + len > self.limit();
                if room < len || held_back || self.waits_for_pacer(cx.now()) {
                    return;
                }
                self.emit_next(len, cx);
                continue;
            }
            if room < segment {
                return;
            }
            self.note_shortage();
            if !self.recovering || self.waits_for_pacer(cx.now()) {
                return;
            }
            let Some(board) = &mut self.board else { return };
            if let Some((seq, len)) = board.next_doubtful(segment) {
                self.resend_hole(seq, len, cx);
            } else if self.una > board.rescue_end
                && let Some((seq, len)) = board.highest_missing(self.high, segment)
            {
                board.rescue_end = self.recover;
                if let Some(accounts) = &mut self.reduction {
                    accounts.resend(len);
                }
                self.emit(seq, len, true, cx);
            } else {
                return;
            }
        }
    }

    fn resend_hole(&mut self, seq: u64, len: u64, cx: &mut Cx<'_>) {
        if seq == self.una
            && let Some(times) = &self.times
            && !times.is_looking()
        {
            // the timer is that of the oldest segment, which leaves now              [Linux: tcp_xmit_retransmit_queue]
            self.timeout_at = cx.now() + self.rtt.timeout();
        }
        if let Some(accounts) = &mut self.reduction {
            accounts.resend(len);
        }
        self.mark_resent(seq, len, cx);
    }

    fn mark_resent(&mut self, seq: u64, len: u64, cx: &mut Cx<'_>) {
        if let Some(board) = &mut self.board {
            board.resent(seq + len);
        }
        self.emit(seq, len, true, cx);
    }
}
