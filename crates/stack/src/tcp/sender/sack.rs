//! TCP loss recovery with SACK (RFC 2018, RFC 6675), optionally with RACK-TLP (RFC 8985). It updates `scoreboard.rs`,
//! calls the loss detection and the timers of `rack.rs`, and retransmits.

use contract::{Ack, Cause, CongestionControl, Cx, Label, Packet, TcpHeader};
use units::{Bytes, Time};

use super::Sender;
use super::delivery::ConnectionState;
use super::rack::EarlyTimer;
use super::scoreboard::THRESHOLD;

impl<C: CongestionControl> Sender<C> {
    /// Called before the SACK blocks of an acknowledgement of all bytes below `ack` are read: if it covers data that
    /// were sent once and are below data that had arrived before, those were reordered
    /// [RFC8985 §6.2, step 3; Linux: tcp_clean_rtx_queue, prior_fack].
    #[cold]
    pub(super) fn check_reordering(&mut self, ack: u64) {
        let segment = self.segment();
        if let (Some(rack), Some(scoreboard)) = (&mut self.rack, &self.scoreboard)
            && let Some(highest_sacked) = scoreboard.highest_sacked()
            && scoreboard.first_sent_once() < ack.min(highest_sacked)
        {
            rack.on_reordering((highest_sacked - scoreboard.first_sent_once()).div_ceil(segment));
        }
    }

    /// Reads the SACK blocks of an acknowledgement. Returns the number of bytes that are newly known to have arrived.
    #[cold]
    pub(super) fn read_blocks(&mut self, header: &TcpHeader, now: Time) -> u64 {
        let segment = self.segment();
        let Some(scoreboard) = &mut self.scoreboard else { return 0 };
        if let (Some(rack), Some((_, end))) = (&mut self.rack, header.sack.duplicate(header.ack)) {
            rack.on_answer_twice(header.ack, Some(end));
        }
        scoreboard.advance(self.seq.una);
        let (mut newly_sacked, mut behind) = (0, 0);
        let highest_sacked = scoreboard.highest_sacked();
        let (min, recover) = (self.timer.rtt().min(), self.recovery.recover);
        let (una, high) = (self.seq.una, self.seq.high);
        for (mut start, mut end) in header.sack.arrived(header.ack) {
            if end <= high {
                let full = |at: u64| at == high || at.wrapping_sub(una) % segment == 0;
                if let Some(rack) = &self.rack
                    && !(self.segment_ends.are_full() && full(start) && full(end))
                {
                    (start, end) = rack.whole(start, end, una);
                }
                scoreboard.for_each_missing(start, end, |low, high| {
                    if let Some(sampler) = &mut self.sampler {
                        sampler.on_arrival(low, high, now);
                    }
                    if let Some(rack) = &mut self.rack {
                        rack.on_sacked(low, high, scoreboard, min, now);
                    }
                    self.recovery.frto.on_arrival(scoreboard.sent_once_from(low), high.min(recover));
                });
                let new = scoreboard.mark_sacked(start, end);
                if let Some(highest) = highest_sacked.filter(|highest| new > 0 && end < *highest)
                    && scoreboard.never_retransmitted(start)
                {
                    behind = (highest - start).max(behind);
                }
                newly_sacked += new;
            }
        }
        self.recovery.choose_flight_count(scoreboard);
        if let Some(prr) = &mut self.prr {
            prr.set_newly_delivered(newly_sacked);
        }
        if let Some(rack) = &mut self.rack
            && behind > 0
        {
            rack.on_reordering(behind.div_ceil(segment));
        }
        newly_sacked
    }

    /// Reads which data an acknowledgement reports to have arrived twice. With RACK its reordering window grows, once
    /// per round trip [RFC8985 §6.2, step 4]. If all that the last recovery retransmitted arrived twice, none of it was
    /// lost [RFC3708 §2; Linux: tcp_try_undo_dsack].
    #[cold]
    pub(super) fn read_duplicate(&mut self, header: &TcpHeader, cx: &mut Cx<'_>) {
        let Some((start, end)) = header.sack.duplicate(header.ack) else { return };
        if end > self.seq.high {
            return;
        }
        if let Some(rack) = &mut self.rack {
            rack.on_duplicate(self.seq.una, self.seq.high);
        }
        if self.settings.undo && self.recovery.arrived_twice(start, (end - start).div_ceil(self.segment())) {
            self.undo(cx);
        }
    }

    /// An acknowledgement reports `newly_sacked` bytes above gaps and nothing in sequence. As in Linux, their
    /// round-trip times count, and where data are often late they count for the growth of the window as those in
    /// sequence do, unless the acknowledgement is older than one before (`old`) [Linux: tcp_ack, old_ack;
    /// tcp_ack_update_rtt, tcp_may_raise_cwnd].
    #[cold]
    pub(super) fn report_disorder(&mut self, newly_sacked: u64, old: bool, packet: &Packet, cx: &mut Cx<'_>) {
        let Some(rack) = &mut self.rack else { return };
        let samples = rack.take_samples();
        if old || self.prr.is_none() {
            return;
        }
        let grows = rack.is_disorder_usual() && !self.recovery.reducing;
        let sample = samples.round_trips(None, cx.now());
        if let Some((first, _)) = sample {
            self.timer.sample(first);
            if rack.head_left_at(self.seq.una).is_some_and(|at| samples.is_older_than(at))
                && !rack.reordering_timer_armed()
            {
                // they left before the oldest segment did again                            [Linux: tcp_clean_rtx_queue]
                self.timer.start(cx.now());
            }
        }
        if grows {
            self.usage.postpone_decay(cx.now());
        } else if sample.is_none() {
            return;
        }
        let rtt = self.timer.rtt();
        let ack = Ack {
            bytes: Bytes::ZERO,
            packets: if grows { newly_sacked.div_ceil(self.segment()) as u32 } else { 0 },
            marked: false,
            marked_packets: 0,
            in_flight: Bytes::new(self.flight()),
            sent_at: Time::ZERO,
            ack_sent_at: packet.sent_at,
            rtt: sample.map(|(_, last)| last),
            rtt_smoothed: rtt.smoothed(),
            rtt_min: rtt.min(),
            app_limited: !self.is_window_limited(),
            recovering: !grows,
            round_ended: false,
            from: packet.source.endpoint,
            label: Label::default(),
        };
        self.controller.on_ack(&ack, cx);
        self.read_allowance();
    }

    /// Bytes that an acknowledgement of all bytes below `ack` delivers, of which its blocks report `newly_sacked`. As
    /// in Linux, those that were selectively acknowledged before do not count again [Linux: tcp_newly_delivered], and
    /// without SACK not those that duplicate acknowledgements stood for, but at least one segment
    /// [Linux: tcp_remove_reno_sacks]; without proportional reduction they do.
    #[cold]
    pub(super) fn delivered(&self, ack: u64, newly_sacked: u64) -> u64 {
        let bytes = ack - self.seq.una;
        if self.prr.is_none() {
            return bytes;
        }
        match &self.scoreboard {
            Some(scoreboard) if self.recovery.by_pipe => scoreboard.missing(ack) + newly_sacked,
            Some(_) => bytes,
            None => {
                let counted = u64::from(self.recovery.duplicates) * self.segment();
                bytes.saturating_sub(counted).max(self.segment().min(bytes))
            }
        }
    }

    /// Bytes in flight according to the scoreboard.
    #[cold]
    pub(super) fn pipe(&self) -> u64 {
        match &self.scoreboard {
            Some(scoreboard) => scoreboard.pipe(self.seq.high),
            None => self.seq.next - self.seq.una,
        }
    }

    /// Whether the last recovery has retransmitted the oldest segment.
    pub(super) fn first_was_retransmitted(&self) -> bool {
        let scoreboard = self.scoreboard.as_ref().filter(|_| self.recovery.by_pipe);
        scoreboard.is_some_and(|scoreboard| scoreboard.first_hole(self.seq.high, 1).is_none())
    }

    /// Records that all bytes below `una` are acknowledged. Returns whether there is a scoreboard, which then counted
    /// the delivered bytes for PRR.
    #[cold]
    pub(super) fn advance_scoreboard(&mut self) -> bool {
        let Some(scoreboard) = &mut self.scoreboard else { return false };
        if let Some(prr) = &mut self.prr {
            prr.add_newly_delivered(scoreboard.missing(self.seq.una));
        }
        scoreboard.advance(self.seq.una);
        self.recovery.choose_flight_count(scoreboard);
        true
    }

    /// Handles an acknowledgement that reports new arrivals above a gap [RFC6675 §5].
    #[cold]
    pub(super) fn on_sack(&mut self, duplicate: bool, cx: &mut Cx<'_>) {
        if self.rack.is_some() {
            return;
        }
        let segment = self.segment();
        if !self.repairing() && duplicate {
            self.recovery.duplicates += 1;
            let Some(scoreboard) = &self.scoreboard else { return };
            if u64::from(self.recovery.duplicates) >= THRESHOLD
                || scoreboard.lost_below(segment) > self.seq.una
            {
                self.enter_repair(cx);
            }
        }
        // after a timeout all data sent before it count as lost, and none sent after it
        if self.recovery.recovering || !self.repairing() {
            self.detect_losses(cx);
        }
    }

    /// Declares lost what the arrivals show to be lost [RFC6675 §4: IsLost].
    fn detect_losses(&mut self, cx: &mut Cx<'_>) {
        let segment = self.segment();
        let Some(scoreboard) = &mut self.scoreboard else { return };
        let lost = scoreboard.mark_lost_below(scoreboard.lost_below(segment));
        if lost > 0 {
            let in_flight = scoreboard.pipe(self.seq.high);
            self.report_lost(lost, in_flight, cx);
            self.report_losses(cx);
        }
    }

    /// In a recovery, notifies the controller of `lost` further lost bytes, if any; `in_flight` excludes them.
    fn report_lost(&mut self, lost: u64, in_flight: u64, cx: &mut Cx<'_>) {
        if lost == 0 || !self.recovery.recovering {
            return;
        }
        if let Some(prr) = &mut self.prr {
            prr.note_further_loss();
        }
        self.report(Cause::Loss, lost, in_flight, cx);
    }

    /// Begins a recovery [RFC6675 §5 step 4].
    pub(super) fn enter_repair(&mut self, cx: &mut Cx<'_>) {
        let segment = self.segment();
        let (marked, window) = (self.recovery.reducing, self.controller.allowance().window.as_u64());
        self.begin_recovery(cx);
        let Some(scoreboard) = &mut self.scoreboard else { return };
        self.recovery.by_pipe = true;
        if let Some(prr) = &mut self.prr
            && !marked
        {
            prr.open(window, 0, self.seq.high);
        }
        // differs: data that the last recovery retransmitted are not retransmitted again
        if let Some((seq, len)) = scoreboard.first_hole(self.seq.high, segment) {
            scoreboard.mark_lost_below(seq + len);
            scoreboard.rescue_end = seq + len;
            self.report_losses(cx);
            match &mut self.prr {
                Some(prr) if marked => prr.on_retransmit(len),
                Some(prr) => prr.force(len),
                None => {}
            }
            self.mark_retransmitted(seq, len, cx);
        } else {
            // the next acknowledgement may answer a retransmission of the last recovery
            self.recovery.suspect_sent_at = Time::NEVER;
            self.report_losses(cx);
        }
        self.timer.start(cx.now());
    }

    /// Declares lost all data that have not arrived, after a timeout [RFC6675 §5.1]. Arrivals stay recorded, unless the
    /// oldest data are among them: a receiver that had them would have acknowledged them, so it has discarded all of
    /// them [RFC2018 §8; Linux: tcp_timeout_mark_lost].
    pub(super) fn mark_all_lost(&mut self) {
        let segment = self.segment();
        if let Some(scoreboard) = &mut self.scoreboard {
            scoreboard.advance(self.seq.una);
            if let Some(rack) = &mut self.rack
                && scoreboard.sacked_bytes() >= THRESHOLD * segment
            {
                rack.forget_degree();
            }
            if scoreboard.is_sacked(self.seq.una) {
                scoreboard.forget_arrivals();
            }
            scoreboard.reset();
            scoreboard.mark_lost_below(self.seq.high);
            self.recovery.by_pipe = true;
        }
        if let Some(rack) = &mut self.rack {
            rack.reset();
        }
    }

    /// Declares nothing lost: missing data are late.
    pub(super) fn unmark_lost(&mut self) {
        if let Some(scoreboard) = &mut self.scoreboard {
            scoreboard.reset();
            self.recovery.by_pipe = !scoreboard.is_clear();
        }
        if let Some(rack) = &mut self.rack {
            rack.reset();
            rack.on_reordering(0);
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.unmark_lost();
        }
    }

    /// Sends while the pipe is below the window: lost data, then new data, then data that may be lost
    /// [RFC6675 §4: NextSeg, §5 step C].
    #[cold]
    pub(super) fn transmit_by_pipe(&mut self, cx: &mut Cx<'_>) {
        let begin = self.seq.next;
        let mut full = self.send_by_pipe(cx);
        if self.recovery.frto.holds_back() && self.give_up_frto() {
            full = self.send_by_pipe(cx);
        }
        if full || self.seq.next > begin {
            self.record_usage(full, cx);
        }
    }

    /// Sends in the order of [RFC6675 §4: NextSeg] while the pipe is below the window. Returns whether the window is
    /// full.
    fn send_by_pipe(&mut self, cx: &mut Cx<'_>) -> bool {
        let segment = self.segment();
        self.end_batch();
        loop {
            let Some(scoreboard) = &self.scoreboard else { return false };
            let room = self.limits.window.saturating_sub(scoreboard.pipe(self.seq.high));
            let repairs = self.repairing() && !self.recovery.frto.holds_back();
            let lost = if repairs { scoreboard.next_lost(segment) } else { None };
            if let Some((seq, len)) = lost {
                if room < len || self.waits_for_pacer(cx.now()) {
                    return room < len || self.is_window_short();
                }
                self.retransmit_hole(seq, len, cx);
                continue;
            }
            let len = self.unsent(cx.now()).min(segment);
            if len > 0 && self.seq.next + len <= self.edge() {
                let held_back = !self.repairing()
                    && !self.settings.limited_transmit
                    && self.seq.next + len > self.limit();
                if room < len || held_back {
                    return true;
                }
                let room = room.min(self.edge() - self.seq.next);
                if self.holds_back(room, cx.now()) {
                    return self.is_window_short();
                }
                self.emit_next(len, cx);
                continue;
            }
            if room < segment {
                return len > 0;
            }
            if len > 0 && self.seq.next + len <= self.seq.edge {
                // the send buffer limits
                if self.send_buffer.grow(self.limits.window) {
                    continue;
                }
                self.on_app_limited();
                return false;
            }
            self.on_app_limited();
            // with RACK only what is lost is retransmitted, and the end of the data is for its probes
            // [RFC8985 §7; Linux: tcp_xmit_retransmit_queue]
            if !self.recovery.recovering || self.rack.is_some() || self.waits_for_pacer(cx.now()) {
                return false;
            }
            let Some(scoreboard) = &mut self.scoreboard else { return false };
            if let Some((seq, len)) = scoreboard.next_unsacked(segment) {
                self.retransmit_hole(seq, len, cx);
            } else if self.seq.una > scoreboard.rescue_end
                && let Some((seq, len)) = scoreboard.highest_missing(self.seq.high, segment)
            {
                scoreboard.rescue_end = self.recovery.recover;
                if let Some(prr) = &mut self.prr {
                    prr.on_retransmit(len);
                }
                self.emit(seq, len, true, cx);
            } else {
                return false;
            }
        }
    }

    fn retransmit_hole(&mut self, seq: u64, len: u64, cx: &mut Cx<'_>) {
        if seq == self.seq.una && self.rack.as_ref().is_some_and(|rack| !rack.reordering_timer_armed()) {
            // the timer belongs to the oldest segment, which is retransmitted now    [Linux: tcp_xmit_retransmit_queue]
            self.timer.start(cx.now());
        }
        if let Some(prr) = &mut self.prr {
            prr.on_retransmit(len);
        }
        self.mark_retransmitted(seq, len, cx);
    }

    fn mark_retransmitted(&mut self, seq: u64, len: u64, cx: &mut Cx<'_>) {
        if let Some(scoreboard) = &mut self.scoreboard {
            scoreboard.on_retransmitted(seq + len);
        }
        self.emit(seq, len, true, cx);
    }

    // ---- loss detection by time

    /// Checks for losses by time, after an acknowledgement or at the time that the last check set [RFC8985 §6.2].
    pub(super) fn detect_losses_by_time(&mut self, cx: &mut Cx<'_>) {
        let (now, segment, repairing) = (cx.now(), self.segment(), self.repairing());
        let (Some(rack), Some(scoreboard)) = (&mut self.rack, &mut self.scoreboard) else { return };
        rack.update_rtt(now);
        rack.release(&mut self.timer);
        if !self.recovery.by_pipe {
            return;
        }
        rack.cancel_probe(&mut self.timer, now);
        let no_reordering_window = repairing || scoreboard.sacked_bytes() >= THRESHOLD * segment;
        // after a timeout, data sent after it are not examined before all data sent before it have arrived
        let first = self.recovery.recovering || !repairing;
        let losses = rack.detect(scoreboard, no_reordering_window, first, self.timer.rtt(), now);
        let in_flight = scoreboard.pipe(self.seq.high);
        if !repairing && scoreboard.next_lost(segment).is_some() {
            self.enter_repair(cx);
        } else {
            self.report_lost(losses.bytes, in_flight, cx);
            if losses.bytes > 0 {
                self.report_losses(cx);
            }
        }
        if let Some(rack) = &mut self.rack {
            rack.arm_reordering_timer(losses.reordering_deadline, &mut self.timer);
        }
    }

    /// Sets the timer for a tail loss probe after new data were acknowledged or sent, if nothing is missing
    /// [RFC8985 §7.2].
    pub(super) fn arm_probe(&mut self, now: Time) {
        let clear = self.recovery.is_clear() && !self.seq.all_acknowledged();
        let single_segment = !clear || self.flight() <= self.segment();
        if let Some(rack) = &mut self.rack {
            rack.arm_probe(clear, single_segment, self.seq.una, &mut self.timer, now);
        }
    }

    /// Called when the timer expires. Handles a check for losses or a tail loss probe, and returns false for a
    /// retransmission timeout [RFC8985 §6.3, §7.3].
    pub(super) fn on_early_timer(&mut self, cx: &mut Cx<'_>) -> bool {
        let (now, clear) = (cx.now(), self.recovery.is_clear());
        let Some(rack) = &mut self.rack else { return false };
        match rack.on_timer(clear, now) {
            EarlyTimer::Timeout => return false,
            EarlyTimer::Reordering => {
                self.timer.start(now);
                let (segment, before) = (self.segment(), self.recovery.recovering);
                self.detect_losses_by_time(cx);
                if let Some(prr) = &mut self.prr
                    && self.recovery.recovering
                    && !before
                {
                    // no acknowledgement began the recovery: one segment counts as delivered
                    // [Linux: tcp_rack_reo_timeout]
                    prr.set_newly_delivered(segment);
                }
            }
            EarlyTimer::Probe => {
                self.timer.start(now);
                self.send_probe(cx);
            }
        }
        true
    }

    /// Sends a tail loss probe: new data if there are any, otherwise the last segment again [RFC8985 §7.3].
    fn send_probe(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        let len = self.unsent(now).min(self.segment());
        let start = if len > 0 && self.seq.next + len <= self.seq.edge {
            self.emit_next(len, cx);
            None
        } else if self.seq.high > self.seq.una {
            Some(self.last_segment_start())
        } else {
            return;
        };
        if let Some(rack) = &mut self.rack {
            rack.on_probe(self.seq.high, start.is_some());
        }
        if let Some(start) = start {
            self.emit(start, self.seq.high - start, true, cx);
        }
    }

    /// First byte of the last segment sent, as far as it is not acknowledged.
    fn last_segment_start(&self) -> u64 {
        let start = self.rack.as_ref().and_then(|rack| rack.last_start());
        start.unwrap_or(self.seq.una).max(self.seq.una)
    }

    /// Called when new data are acknowledged. Notifies the controller if they answer a probe that repaired a loss.
    #[cold]
    pub(super) fn check_probe(&mut self, cx: &mut Cx<'_>) {
        let Some(rack) = &mut self.rack else { return };
        if rack.check_probe(self.seq.una) && !self.recovery.recovering {
            self.congested(Cause::Loss, self.segment(), self.flight(), cx);
        }
    }

    // ---- delivery rate

    /// Passes the packets that the scoreboard has declared lost since the last call to the controller, if it requests
    /// delivery rates. Called before any of them is retransmitted.
    #[cold]
    pub(super) fn report_losses(&mut self, cx: &mut Cx<'_>) {
        let (Some(sampler), Some(scoreboard)) = (&mut self.sampler, &mut self.scoreboard) else { return };
        let controller = &mut self.controller;
        scoreboard.take_newly_lost(|start, end| {
            sampler.mark_lost(start, end, true, |lost| controller.on_lost(lost, cx))
        });
        self.read_allowance();
    }

    /// Passes the oldest `len` bytes to the controller as lost, without a scoreboard.
    #[cold]
    pub(super) fn report_first_lost(&mut self, len: u64, cx: &mut Cx<'_>) {
        let Some(sampler) = &mut self.sampler else { return };
        let controller = &mut self.controller;
        let una = self.seq.una;
        sampler.mark_lost(una, una + len, false, |lost| controller.on_lost(lost, cx));
        self.read_allowance();
    }

    /// Passes the delivery-rate sample of the current acknowledgement to the controller.
    #[cold]
    pub(super) fn report_delivery_rate(&mut self, ack_sent_at: Time, cx: &mut Cx<'_>) {
        let ack = ConnectionState {
            ack_sent_at,
            in_flight: self.flight(),
            min_rtt: self.timer.rtt().min(),
            recovering: self.repairing(),
        };
        let Some(sampler) = &mut self.sampler else { return };
        if let Some(delivery) = sampler.on_ack(self.seq.una, &ack, cx.now()) {
            self.controller.on_delivery(&delivery, cx);
            self.read_allowance();
        }
    }
}
