//! TCP loss detection by time, and tail loss probes: RACK-TLP (RFC 8985). With selective acknowledgements only.

use std::collections::VecDeque;

use units::{Duration, Time};

use super::scoreboard::Scoreboard;
use super::timer::RetransmissionTimer;
use crate::parts::Rtt;

/// When what is in flight was sent.
#[derive(Clone, Debug)]
pub(super) struct Rack {
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
    probe_due: bool,
    /// When it would expire but for that probe.
    expires_at: Time,
    /// New data was acknowledged, or left, since a probe was last thought of.
    advanced: bool,
    left: bool,
    /// One past the last byte sent when the last probe was, and when, if it was retransmitted; until that is answered
    /// [RFC8985 §7.1: TLP.end_seq, TLP.is_retrans].
    probe: Option<(u64, Option<Time>)>,
    probes: bool,
}

/// What a timer that expired stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EarlyTimer {
    /// A look at what may be lost by now.
    Look,
    /// A probe of the tail.
    Probe,
    /// A retransmission timeout.
    Timeout,
}

/// What a look for losses found.
pub(super) struct Losses {
    /// How much is lost that was not known to be.
    pub(super) bytes: u64,
    /// When to look again; [`Time::NEVER`] when nothing is in doubt.
    pub(super) look_at: Time,
}

/// When a segment left, and how many had left before: what was sent last at one instant is the later.
///
/// differs: the RFC compares sequence numbers there, of clocks that hardly ever give one instant twice.
type Departure = (Time, u64);

impl Rack {
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

    /// Whether the timer stands for a look at what may be lost later.
    pub(super) fn is_looking(&self) -> bool {
        self.look_at != Time::NEVER
    }

    /// What was sent last of what has arrived [RFC8985 §6.2, step 2].
    pub(super) fn learn(&mut self, board: &Scoreboard, una: u64, min: Duration, now: Time) {
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

impl Rack {
    /// Unless it was started again, the timer is again what it was before the last look was fixed.
    pub(super) fn release(&mut self, timer: &mut RetransmissionTimer) {
        let look_at = std::mem::replace(&mut self.look_at, Time::NEVER);
        if look_at != Time::NEVER && look_at == timer.expires_at() {
            timer.set(self.timeout_at);
        }
    }

    /// Something is missing: the timer stands for a timeout, not for a probe [RFC8985 §7.2].
    pub(super) fn cancel_probe(&mut self, timer: &mut RetransmissionTimer, now: Time) {
        if std::mem::take(&mut self.probe_due) {
            timer.start(now);
        }
    }

    /// Looks for losses by time and marks them on the scoreboard: of repairs, and of `first` transmissions as well. `settled` where enough
    /// has arrived beyond a hole, or a repair goes on [RFC8985 §6.2, steps 4 and 5].
    pub(super) fn detect(
        &mut self,
        board: &mut Scoreboard,
        settled: bool,
        first: bool,
        rtt: &Rtt,
        now: Time,
    ) -> Losses {
        let patience = self.patience(settled, rtt.min(), rtt.smoothed());
        let mut losses = Losses { bytes: 0, look_at: Time::NEVER };
        if first {
            let (end, next) = self.overdue(board, patience, now);
            losses = Losses { bytes: board.lose_below(end), look_at: next };
        }
        loop {
            match self.overdue_repair(patience, now) {
                Ok((start, end)) => losses.bytes += board.lose_again(start, end),
                Err(next) => {
                    losses.look_at = losses.look_at.min(next);
                    return losses;
                }
            }
        }
    }

    /// Lets the timer stand for a look at `at`, if that comes first.
    pub(super) fn look(&mut self, at: Time, timer: &mut RetransmissionTimer) {
        if at < timer.expires_at() {
            (self.look_at, self.timeout_at) = (at, timer.expires_at());
            timer.set(at);
        }
    }

    /// After new data was acknowledged up to `una`, or has left, the timer stands for a probe where nothing is amiss (`clear`); `alone` where
    /// no more than a segment is in flight [RFC8985 §7.2].
    pub(super) fn arm_probe(
        &mut self,
        clear: bool,
        alone: bool,
        una: u64,
        timer: &mut RetransmissionTimer,
        now: Time,
    ) {
        let (advanced, left) = (std::mem::take(&mut self.advanced), std::mem::take(&mut self.left));
        if !advanced && !left {
            return;
        }
        if !self.probe_due || advanced {
            // the timer was started again, or is what it was
            self.expires_at = timer.expires_at();
        }
        if let Some((end, _)) = self.probe
            && una >= end
        {
            self.probe = None;
        }
        self.probe_due = self.probes && clear && self.probe.is_none() && timer.expires_at() != Time::NEVER;
        if self.probe_due {
            // PTO = 2·SRTT, and the longest delay of an acknowledgement if it may wait for a second segment
            let wait = timer.rtt().smoothed() * 2 + if alone { MAX_ACK_DELAY } else { Duration::ZERO };
            // where the timeout would be sooner, the probe takes its place               [RFC8985 §7.2: TLP_calc_PTO]
            timer.set(self.expires_at.min(now + wait));
        }
    }

    /// What the timer that expired stands for; probes are for where nothing is amiss (`clear`).
    pub(super) fn on_timer(&mut self, clear: bool, now: Time) -> EarlyTimer {
        if self.look_at <= now {
            return EarlyTimer::Look;
        }
        if std::mem::take(&mut self.probe_due) && clear { EarlyTimer::Probe } else { EarlyTimer::Timeout }
    }

    /// A probe left, all below `end` being sent; the instant is given where it was sent before.
    pub(super) fn on_probe(&mut self, end: u64, again_at: Option<Time>) {
        self.probe = Some((end, again_at));
    }

    /// Everything below `una` was acknowledged. Whether that answers a probe that was retransmitted, by which a loss was repaired that nothing else
    /// would tell of: then what is echoed is the probe [RFC8985 §7.4; there by duplicate SACK].
    pub(super) fn settle_probe(&mut self, una: u64, echo: Time) -> bool {
        self.advanced = true;
        let Some((_, again_at)) = self.probe.take_if(|probe| una >= probe.0) else { return false };
        again_at.is_some_and(|at| echo >= at)
    }
}

/// Longest wait of a delayed acknowledgement that is assumed [RFC8985 §7.2: TLP.max_ack_delay; Linux has the same].
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8985 §6.1: a segment has one time of transmission, the last. The copy that a probe sent at 10 ms is forgotten when the segment is
    /// repaired at 30 ms, so that it is not lost twice; another segment's stays.
    #[test]
    fn the_last_departure_of_a_segment_counts() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut rack = Rack::new(true);
        rack.on_sent(0, 1000, false, at(0));
        rack.on_sent(1000, 2000, false, at(0));
        rack.on_sent(1000, 2000, true, at(10));
        rack.on_sent(0, 1000, true, at(20));
        rack.on_sent(1000, 2000, true, at(30));
        let kept: Vec<_> = rack.again.iter().map(|&(start, end, (when, _))| (start, end, when)).collect();
        assert_eq!(kept, [(0, 1000, at(20)), (1000, 2000, at(30))]);
    }
}
