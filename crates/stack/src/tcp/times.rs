//! Losses found by time, and probes of the tail: RACK-TLP [RFC8985]. With selective acknowledgements only.

use std::collections::VecDeque;

use contract::{Cause, Congestion, CongestionControl, Cx};
use units::{Bytes, Duration, Time};

use super::scoreboard::{Scoreboard, THRESHOLD};
use super::sender::Sender;

/// When what is in flight was sent.
#[derive(Clone, Debug)]
pub(super) struct Times {
    /// First transmissions in their order: one past the last byte, and when it left.
    first: VecDeque<(u64, Departure)>,
    /// Repairs that have not arrived, in their order: first byte, one past the last, when.
    again: VecDeque<(u64, u64, Departure)>,
    /// How many segments have left.
    departed: u64,
    /// Of all that arrived, what was sent last [RFC8985 §5.2: RACK.xmit_ts, RACK.end_seq].
    newest: Departure,
    /// How long that took [RFC8985 §5.2: RACK.rtt].
    rtt: Duration,
    /// Data that was sent once arrived later than data sent after it [RFC8985 §5.2: RACK.reordering_seen].
    reordered: bool,
    /// When to look again for losses; [`Time::NEVER`] when nothing is in doubt.
    look_at: Time,
    /// When the timer would have expired but for that look.
    timeout_at: Time,
    /// The retransmission timer stands for a probe.
    pub(super) probe_due: bool,
    /// When it would expire but for that probe.
    expires_at: Time,
    /// New data was acknowledged, or left, since a probe was last thought of.
    advanced: bool,
    left: bool,
    /// One past the last byte sent when the last probe was, and when, if it was sent again; until that is answered
    /// [RFC8985 §7.1: TLP.end_seq, TLP.is_retrans].
    probe: Option<(u64, Option<Time>)>,
    probes: bool,
}

/// When a segment left, and how many had left before: what was sent last at one instant is the later.
///
/// differs: the RFC compares sequence numbers there, of clocks that hardly ever give one instant twice.
type Departure = (Time, u64);

impl Times {
    /// Of a new connection; `probes` if the tail is probed.
    pub(super) fn new(probes: bool) -> Self {
        Self {
            first: VecDeque::new(),
            again: VecDeque::new(),
            departed: 0,
            newest: (Time::ZERO, 0),
            rtt: Duration::ZERO,
            reordered: false,
            look_at: Time::NEVER,
            timeout_at: Time::NEVER,
            probe_due: false,
            expires_at: Time::NEVER,
            advanced: false,
            left: false,
            probe: None,
            probes,
        }
    }

    /// A segment leaves.
    pub(super) fn on_sent(&mut self, start: u64, end: u64, again: bool, now: Time) {
        self.departed += 1;
        let departure = (now, self.departed);
        if again {
            // of a segment the last departure counts: a probe's copy is no more than an earlier one [RFC8985 §6.1]
            self.again.retain(|sent| sent.1 <= start || end <= sent.0);
            self.again.push_back((start, end, departure));
        } else {
            self.first.push_back((end, departure));
            self.left = true;
        }
    }

    /// Data came late that had been sent once.
    pub(super) fn on_reordering(&mut self) {
        self.reordered = true;
    }

    /// All that was sent counts as lost, or nothing any more.
    pub(super) fn start_over(&mut self) {
        self.again.clear();
        self.look_at = Time::NEVER;
        self.probe_due = false;
        self.probe = None;
    }

    /// Whether the timer stands for a look at what may be lost by now.
    pub(super) fn looks(&self, now: Time) -> bool {
        self.look_at <= now
    }

    /// Whether the timer stands for a look at what may be lost later.
    pub(super) fn is_looking(&self) -> bool {
        self.look_at != Time::NEVER
    }

    /// What was sent last of what has arrived [RFC8985 §6.2, step 2].
    fn learn(&mut self, board: &Scoreboard, una: u64, min: Duration, now: Time) {
        let mut newest = self.newest;
        while let Some(&(end, at)) = self.first.front()
            && end <= una
        {
            newest = newest.max(at);
            self.first.pop_front();
        }
        if let Some(top) = board.top() {
            let place = self.first.partition_point(|&(end, _)| end < top);
            if let Some(&(end, at)) = self.first.get(place)
                && end == top
            {
                newest = newest.max(at);
            }
        }
        self.again.retain(|&(start, end, at)| {
            let arrived = end <= una || board.has(start);
            // sooner than any round trip it is the first transmission that arrived
            if arrived && now - at.0 >= min {
                newest = newest.max(at);
            }
            !arrived
        });
        if newest > self.newest {
            self.newest = newest;
            self.rtt = now - newest.0;
        }
    }

    /// How much later than what was sent after it data may arrive [RFC8985 §6.2, step 4].
    fn patience(&self, settled: bool, min: Duration, smoothed: Duration) -> Duration {
        if settled && !self.reordered { Duration::ZERO } else { (min / 4).min(smoothed) }
    }

    /// One past the last first transmission that is lost by now, if any, and when the next will be [RFC8985 §6.2, step 5].
    fn overdue(&self, board: &Scoreboard, patience: Duration, now: Time) -> (u64, Time) {
        let wait = self.rtt + patience;
        let before = |sent: &(u64, Departure)| sent.1 < self.newest;
        let lost = self.first.partition_point(|sent| before(sent) && sent.1.0 + wait <= now);
        let end = if lost > 0 { self.first[lost - 1].0 } else { 0 };
        let next =
            self.first.iter().skip(lost).take_while(|sent| before(sent)).find(|sent| !board.has(sent.0 - 1));
        (end, next.map_or(Time::NEVER, |sent| sent.1.0 + wait))
    }

    /// Takes out the next repair that is lost by now; otherwise when the next will be.
    fn overdue_repair(&mut self, patience: Duration, now: Time) -> Result<(u64, u64), Time> {
        let Some(&(start, end, at)) = self.again.front() else { return Err(Time::NEVER) };
        let due = at.0 + self.rtt + patience;
        match () {
            () if at >= self.newest => Err(Time::NEVER),
            () if due > now => Err(due),
            () => {
                self.again.pop_front();
                Ok((start, end))
            }
        }
    }
}

impl<C: CongestionControl> Sender<C> {
    /// Looks for losses by time, after an acknowledgement or at the time that the last look named.
    pub(super) fn watch(&mut self, cx: &mut Cx<'_>) {
        let (now, segment) = (cx.now(), u64::from(self.segment));
        let (repairing, high) = (self.repairing(), self.high);
        let (Some(times), Some(board)) = (&mut self.times, &mut self.board) else { return };
        let (min, smoothed) = (self.rtt.min(), self.rtt.smoothed());
        times.learn(board, self.una, min, now);
        // unless it was started anew, the timer is again what it was before the last look was fixed
        let look_at = std::mem::replace(&mut times.look_at, Time::NEVER);
        if look_at != Time::NEVER && look_at == self.timeout_at {
            self.timeout_at = times.timeout_at;
        }
        if !self.by_pipe {
            return;
        }
        // something is missing: the timer stands for a timeout again                 [RFC8985 §7.2]
        if std::mem::take(&mut times.probe_due) {
            self.timeout_at = now + self.rtt.timeout();
        }
        let settled = repairing || board.arrived_bytes() >= THRESHOLD * segment;
        let patience = times.patience(settled, min, smoothed);
        let (mut lost, mut look_at) = (0, Time::NEVER);
        // what was sent after a timeout is not looked at before what that lost has arrived
        if self.recovering || !repairing {
            let (end, next) = times.overdue(board, patience, now);
            lost += board.lose_below(end);
            look_at = next;
        }
        loop {
            match times.overdue_repair(patience, now) {
                Ok((start, end)) => lost += board.lose_again(start, end),
                Err(next) => {
                    look_at = look_at.min(next);
                    break;
                }
            }
        }
        let in_flight = board.pipe(high);
        if !repairing && board.next_lost(segment).is_some() {
            self.enter_repair(cx);
        } else if lost > 0 && self.recovering {
            if let Some(accounts) = &mut self.reduction {
                accounts.lost_more = true;
            }
            let (bytes, in_flight) = (Bytes::new(lost), Bytes::new(in_flight));
            self.law.on_congestion(&Congestion { cause: Cause::Loss, bytes, in_flight, first: false }, cx);
            self.read_allowance();
        }
        if let Some(times) = &mut self.times
            && look_at < self.timeout_at
        {
            (times.look_at, times.timeout_at) = (look_at, self.timeout_at);
            self.timeout_at = look_at;
        }
    }

    /// After new data was acknowledged or has left, the timer stands for a probe where nothing is amiss [RFC8985 §7.2].
    pub(super) fn arm_probe(&mut self, now: Time) {
        let (clear, smoothed) = (!self.by_pipe && !self.recovering, self.rtt.smoothed());
        let flight = if clear { self.flight() } else { 0 };
        let segment = u64::from(self.segment);
        let Some(times) = &mut self.times else { return };
        let (advanced, left) = (std::mem::take(&mut times.advanced), std::mem::take(&mut times.left));
        if !advanced && !left {
            return;
        }
        if !times.probe_due || advanced {
            // the timer was started anew, or is what it was
            times.expires_at = self.timeout_at;
        }
        if let Some((end, _)) = times.probe
            && self.una >= end
        {
            times.probe = None;
        }
        times.probe_due = times.probes && clear && times.probe.is_none() && self.timeout_at != Time::NEVER;
        if times.probe_due {
            // PTO = 2·SRTT, and the longest delay of an acknowledgement if it may wait for a second segment
            let wait = smoothed * 2 + if flight <= segment { MAX_ACK_DELAY } else { Duration::ZERO };
            // where the timeout would be sooner, the probe takes its place               [RFC8985 §7.2: TLP_calc_PTO]
            self.timeout_at = times.expires_at.min(now + wait);
        }
    }

    /// The timer expired. Whether that was for a look or a probe, and not for a timeout [RFC8985 §6.3, §7.3].
    pub(super) fn on_early_timer(&mut self, cx: &mut Cx<'_>) -> bool {
        let now = cx.now();
        let Some(times) = &mut self.times else { return false };
        if times.looks(now) {
            self.timeout_at = now + self.rtt.timeout();
            self.watch(cx);
            return true;
        }
        if !std::mem::take(&mut times.probe_due) || self.by_pipe || self.recovering {
            return false;
        }
        self.timeout_at = now + self.rtt.timeout();
        let len = self.new_data(now).min(u64::from(self.segment));
        if len > 0 && self.next + len <= self.edge {
            self.emit_next(len, cx);
            let probe = Some((self.high, None));
            self.times.as_mut().expect("it is there").probe = probe;
        } else if self.high > self.una {
            let start = self.una.max(self.high.saturating_sub(u64::from(self.segment)));
            let probe = Some((self.high, Some(now)));
            self.times.as_mut().expect("it is there").probe = probe;
            self.emit(start, self.high - start, true, cx);
        }
        true
    }

    /// Everything was acknowledged up to a probe that was sent again: if what is echoed is the probe, it repaired a loss that nothing else
    /// would tell the law of [RFC8985 §7.4; there by duplicate SACK].
    #[cold]
    pub(super) fn settle_probe(&mut self, echo: Time, cx: &mut Cx<'_>) {
        let Some(times) = &mut self.times else { return };
        times.advanced = true;
        let Some((end, at)) = times.probe else { return };
        if self.una < end {
            return;
        }
        times.probe = None;
        if let Some(at) = at
            && echo >= at
            && !self.recovering
        {
            self.congested(Cause::Loss, u64::from(self.segment), self.flight(), cx);
        }
    }
}

/// Longest wait of a delayed acknowledgement that is reckoned with [RFC8985 §7.2: TLP.max_ack_delay; Linux has the same].
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8985 §6.1: a segment has one time of transmission, the last. The copy that a probe sent at 10 ms is forgotten when the segment is
    /// repaired at 30 ms, so that it is not lost twice; another segment's stays.
    #[test]
    fn the_last_departure_of_a_segment_counts() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut times = Times::new(true);
        times.on_sent(0, 1000, false, at(0));
        times.on_sent(1000, 2000, false, at(0));
        times.on_sent(1000, 2000, true, at(10));
        times.on_sent(0, 1000, true, at(20));
        times.on_sent(1000, 2000, true, at(30));
        let kept: Vec<_> = times.again.iter().map(|&(start, end, (when, _))| (start, end, when)).collect();
        assert_eq!(kept, [(0, 1000, at(20)), (1000, 2000, at(30))]);
    }
}
