//! TCP loss detection by time and tail loss probes: RACK-TLP (RFC 8985). It requires selective acknowledgements.

use std::collections::{BTreeMap, VecDeque};

use units::{Duration, Time};

use super::scoreboard::{Scoreboard, THRESHOLD};
use super::timer::RetransmissionTimer;
use crate::parts::Rtt;

/// The transmission times of the data in flight, and the deadlines of RACK and TLP.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// First transmissions in order: one past the last byte, and the departure.
    first: VecDeque<(u64, Transmission)>,
    /// Retransmissions that have not arrived: by the first byte, one past the last byte and the departure.
    retransmissions: BTreeMap<u64, (u64, Transmission)>,
    /// The first bytes of these in the order of departure.
    departed: BTreeMap<Transmission, u64>,
    /// Number of segments sent.
    segments_sent: u64,
    /// The most recently sent of all segments that have arrived [RFC8985 §5.2: RACK.xmit_ts, RACK.end_seq].
    newest: Transmission,
    /// Of the segments that the current acknowledgement newly acknowledges, the one that counts for the round-trip
    /// time: one past its last byte (0: none), and its departure. It is the last in sequence of those acknowledged by
    /// number, or else of those by SACK, as Linux reads them.
    arrived: (u64, Transmission),
    /// What it says of the round-trip time.
    samples: Samples,
    /// The round-trip time of that segment, or of the last acknowledgement that had one [RFC8985 §5.2: RACK.rtt].
    rtt: Duration,
    /// Data that were sent once arrived after data sent later [RFC8985 §5.2: RACK.reordering_seen].
    reordered: bool,
    /// Maximum number of segments that such data were behind the highest arrival [Linux: tp->reordering].
    degree: u64,
    /// The reordering window in quarters of the minimum round-trip time, and the recoveries until it is one again
    /// [RFC8985 §5.3: RACK.reo_wnd_mult, RACK.reo_wnd_persist].
    quarters: u32,
    persists: u32,
    /// The window does not grow again before all bytes below this are acknowledged [RFC8985 §5.3: RACK.dsack_round].
    widened_until: u64,
    /// When to check for losses again; [`Time::NEVER`] if no segment can become lost by time.
    reordering_deadline: Time,
    /// When the retransmission timer would expire without that check.
    timeout_at: Time,
    /// The timer is set for a probe.
    probe_due: bool,
    /// When the retransmission timer would expire without that probe.
    expires_at: Time,
    /// Whether new data were acknowledged (`advanced`) or sent (`sent_new`) since a probe was last considered.
    advanced: bool,
    sent_new: bool,
    /// The probe that is not yet answered: one past the last byte sent at that time, and whether it was a
    /// retransmission [RFC8985 §7.1: TLP.end_seq, TLP.is_retrans].
    probe: Option<(u64, bool)>,
    probes: bool,
    /// Added to the deadlines of checks for losses and of probes [Linux: TCP_TIMEOUT_MIN].
    slack: Duration,
}

/// When the segments left that an acknowledgement newly acknowledges, of those that were sent once: the oldest and the
/// newest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Samples {
    /// Of those in sequence.
    acked: Option<(Time, Time)>,
    /// Of those above a gap.
    sacked: Option<(Time, Time)>,
    /// Some of those in sequence were retransmitted.
    retransmitted: bool,
}

impl Samples {
    /// Notes the oldest and the newest segment of a block.
    fn add_sacked(&mut self, oldest: Time, newest: Time) {
        let (first, last) = self.sacked.get_or_insert((oldest, newest));
        (*first, *last) = ((*first).min(oldest), (*last).max(newest));
    }

    /// Samples of the round-trip time: for the timer, and for the controller. An acknowledgement of retransmitted data
    /// is ambiguous [RFC6298 §3], unless it also acknowledges others above a gap, or `stamped` is known by its time
    /// stamp [RFC7323 §4; Linux: tcp_ack_update_rtt].
    pub(super) fn round_trips(&self, stamped: Option<Duration>, now: Time) -> Option<(Duration, Duration)> {
        let acked = self.acked.filter(|_| !self.retransmitted);
        let first = acked.or(self.sacked).map(|(first, _)| now - first);
        let last = self.sacked.or(acked).map(|(_, last)| now - last);
        first.zip(last).or(stamped.map(|rtt| (rtt, rtt)))
    }

    /// Whether segments above a gap were sent before `at`.
    pub(super) fn is_older_than(&self, at: Time) -> bool {
        self.sacked.is_some_and(|(first, _)| first < at)
    }
}

/// The purpose of the timer that expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EarlyTimer {
    /// To check for losses [RFC8985 §6.3: reordering timer].
    Reordering,
    /// To send a tail loss probe.
    Probe,
    /// Retransmission timeout.
    Timeout,
}

/// The result of a check for losses.
pub(super) struct Losses {
    /// Bytes newly declared lost.
    pub(super) bytes: u64,
    /// When to check again, for the last that may be lost; [`Time::NEVER`] if no segment can become lost by time.
    pub(super) reordering_deadline: Time,
}

/// When a segment was sent, and the number of segments sent up to it, which orders segments of the same instant.
///
/// differs: the RFC compares sequence numbers for equal times, which are rare on its clocks.
type Transmission = (Time, u64);

impl Rack {
    /// The state of a new connection. `probes` enables tail loss probes; `slack` is added to the deadlines.
    pub(super) fn new(probes: bool, slack: Duration) -> Self {
        Self {
            first: VecDeque::new(),
            retransmissions: BTreeMap::new(),
            departed: BTreeMap::new(),
            segments_sent: 0,
            newest: NOTHING,
            arrived: <_>::default(),
            samples: Samples::default(),
            rtt: Duration::ZERO,
            reordered: false,
            degree: 0,
            quarters: 1,
            persists: 0,
            widened_until: 0,
            reordering_deadline: Time::NEVER,
            timeout_at: Time::NEVER,
            probe_due: false,
            expires_at: Time::NEVER,
            advanced: false,
            sent_new: false,
            probe: None,
            probes,
            slack,
        }
    }

    /// Records that a segment is sent.
    pub(super) fn on_sent(&mut self, start: u64, end: u64, retransmission: bool, now: Time) {
        self.segments_sent += 1;
        let transmission = (now, self.segments_sent);
        if retransmission {
            // the last departure of a segment counts: it replaces the departure of a probe             [RFC8985 §6.1]
            while let Some((&low, &(_, at))) =
                self.retransmissions.range(..end).next_back().filter(|(_, sent)| sent.0 > start)
            {
                self.retransmissions.remove(&low);
                self.departed.remove(&at);
            }
            self.retransmissions.insert(start, (end, transmission));
            self.departed.insert(transmission, start);
        } else {
            self.first.push_back((end, transmission));
            self.sent_new = true;
        }
    }

    /// Records that all bytes below `ack` are acknowledged, and that the bytes of `scoreboard` were before; `una` was
    /// the oldest byte in flight, and `min` is the minimum round-trip time [RFC8985 §6.2, step 2].
    #[inline]
    pub(super) fn on_acknowledged(
        &mut self,
        una: u64,
        ack: u64,
        scoreboard: Option<&Scoreboard>,
        min: Duration,
        now: Time,
    ) {
        let sacked = std::mem::take(&mut self.arrived);
        self.samples.retransmitted = self.retransmissions.range(una..ack).next().is_some();
        while let Some(&(end, at)) = self.first.front()
            && end <= ack
        {
            let arrived_before = scoreboard.is_some_and(|scoreboard| scoreboard.is_sacked(end - 1));
            if !self.was_sent_once(end, scoreboard) {
                self.samples.retransmitted = true;
            } else if !arrived_before {
                self.on_arrival(end, at);
                self.samples.acked.get_or_insert((at.0, at.0)).1 = at.0;
            }
            self.first.pop_front();
        }
        self.take_retransmissions(una, ack, min, now);
        if self.arrived.0 == 0 {
            self.arrived = sacked;
        }
    }

    /// The whole segments of `[start, end)`, which is reported to have arrived: a part of a segment is no arrival
    /// [Linux: tcp_match_skb_to_sack].
    #[cold]
    pub(super) fn whole(&self, start: u64, end: u64, una: u64) -> (u64, u64) {
        if self.first.back().is_none_or(|&(last, _)| last < end) {
            return (start, end);
        }
        let after = |at: u64| self.first.partition_point(|&(last, _)| last <= at);
        // ends of segments are beginnings of the next, and retransmissions may have others
        let is_boundary = |at: u64| {
            at == una
                || after(at).checked_sub(1).is_some_and(|before| self.first[before].0 == at)
                || self.retransmissions.contains_key(&at)
                || self.retransmissions.range(..at).next_back().is_some_and(|(_, sent)| sent.0 == at)
        };
        let start = match self.first.get(after(start)) {
            Some(&(last, _)) if !is_boundary(start) => last,
            _ => start,
        };
        let end = match after(end).checked_sub(1) {
            _ if is_boundary(end) => end,
            Some(before) => self.first[before].0,
            None => una,
        };
        (start, end)
    }

    /// Records that `[start, end)` is newly acknowledged above a gap.
    pub(super) fn on_sacked(
        &mut self,
        start: u64,
        end: u64,
        scoreboard: &Scoreboard,
        min: Duration,
        now: Time,
    ) {
        let within = self.first.partition_point(|&(last, _)| last <= end);
        let first = self.first.range(..within).rev().take_while(|&&(last, _)| last > start);
        let last = first.copied().find(|&(last, _)| self.was_sent_once(last, Some(scoreboard)));
        if let Some((last, at)) = last {
            self.on_arrival(last, at);
            let oldest =
                self.first.partition_point(|&(last, _)| last <= start.max(scoreboard.sent_once_from(start)));
            let (_, first) = self.first[oldest];
            self.samples.add_sacked(first.0, at.0);
        }
        self.take_retransmissions(start, end, min, now);
    }

    /// What the current acknowledgement says of the round-trip time.
    pub(super) fn take_samples(&mut self) -> Samples {
        std::mem::take(&mut self.samples)
    }

    /// When the oldest segment in flight last left; `una` is its first byte.
    pub(super) fn head_left_at(&self, una: u64) -> Option<Time> {
        self.retransmissions.get(&una).map(|&(_, at)| at.0).or_else(|| self.oldest_sent_at())
    }

    /// Records that the segment that ends before `end` has arrived, which left at `at`.
    #[inline]
    fn on_arrival(&mut self, end: u64, at: Transmission) {
        self.newest = self.newest.max(at);
        if end > self.arrived.0 {
            self.arrived = (end, at);
        }
    }

    /// Whether the segment that ends before `end` was never retransmitted.
    fn was_sent_once(&self, end: u64, scoreboard: Option<&Scoreboard>) -> bool {
        let covered = self.retransmissions.range(..end).next_back().is_some_and(|(_, sent)| sent.0 >= end);
        !covered && scoreboard.is_none_or(|scoreboard| scoreboard.never_retransmitted(end - 1))
    }

    /// Records that the retransmissions of `[start, end)` have arrived.
    fn take_retransmissions(&mut self, start: u64, end: u64, min: Duration, now: Time) {
        // a part of a segment is no arrival
        while let Some((&low, &(last, at))) =
            self.retransmissions.range(start..end).next().filter(|(_, sent)| sent.0 <= end)
        {
            self.retransmissions.remove(&low);
            self.departed.remove(&at);
            // an arrival within less than the minimum round-trip time is the arrival of the first transmission
            if now - at.0 >= min {
                self.on_arrival(last, at);
            }
        }
    }

    /// Records that data that were sent once arrived out of order, `degree` segments behind the highest that had
    /// arrived.
    pub(super) fn on_reordering(&mut self, degree: u64) {
        self.reordered = true;
        self.degree = self.degree.max(degree);
    }

    /// Whether data arrived so far out of order that three later segments are no sign of a loss
    /// [Linux: tcp_may_raise_cwnd].
    pub(super) const fn is_disorder_usual(&self) -> bool {
        self.degree > THRESHOLD
    }

    /// A timeout came although as much had arrived above a gap as shows a loss: three later segments are a sign of one
    /// again [Linux: tcp_enter_loss].
    pub(super) fn forget_degree(&mut self) {
        self.degree = self.degree.min(THRESHOLD);
    }

    /// Records that data arrived twice: a retransmission was not needed, so the reordering window grows by a quarter of
    /// the minimum round-trip time, once per round trip [RFC8985 §6.2, step 4].
    pub(super) fn on_duplicate(&mut self, una: u64, high: u64) {
        if una >= self.widened_until {
            self.widened_until = high;
            self.quarters = (self.quarters + 1).min(MAX_QUARTERS);
            self.persists = PERSISTENCE;
        }
    }

    /// A recovery has ended. The window shrinks after 16 in which nothing arrived twice [RFC8985 §6.2, step 4].
    pub(super) fn on_recovered(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.quarters = 1;
        }
    }

    /// Forgets retransmissions and deadlines: all data are declared lost, or none.
    pub(super) fn reset(&mut self) {
        self.retransmissions.clear();
        self.departed.clear();
        self.reordering_deadline = Time::NEVER;
        self.probe_due = false;
        self.probe = None;
    }

    /// When the oldest segment that is not acknowledged was sent first; `None` if all are acknowledged.
    pub(super) fn oldest_sent_at(&self) -> Option<Time> {
        self.first.front().map(|&(_, (at, _))| at)
    }

    /// First byte of the last segment sent first; `None` if it is the only one in flight, whose start is the oldest
    /// byte in flight.
    pub(super) fn last_start(&self) -> Option<u64> {
        self.first.len().checked_sub(2).map(|before| self.first[before].0)
    }

    /// Whether the timer is set for a check for losses.
    pub(super) fn reordering_timer_armed(&self) -> bool {
        self.reordering_deadline != Time::NEVER
    }

    /// Updates the round-trip time to the current acknowledgement's, even if segments sent later arrived before: so
    /// late data are waited for as long as late data take [RFC8985 §6.2, step 2; Linux: tcp_rack_advance].
    pub(super) fn update_rtt(&mut self, now: Time) {
        let (end, at) = std::mem::take(&mut self.arrived);
        if end > 0 {
            self.rtt = now - at.0;
        }
    }

    /// The reordering window: how much later than data sent after them data may arrive [RFC8985 §6.2, step 4].
    fn reordering_window(&self, no_reordering_window: bool, min: Duration, smoothed: Duration) -> Duration {
        if no_reordering_window && !self.reordered {
            Duration::ZERO
        } else {
            (min / 4 * u64::from(self.quarters)).min(smoothed)
        }
    }

    /// One past the last byte whose first transmission is lost by now (0 for none), and when the last of those that may
    /// be lost will be, so that one check finds all of them [RFC8985 §6.2, step 5; Linux: tcp_rack_detect_loss].
    fn first_lost_by_time(
        &self,
        scoreboard: &Scoreboard,
        reordering_window: Duration,
        now: Time,
    ) -> (u64, Time) {
        let wait = self.rtt + reordering_window;
        let before = self.first.partition_point(|sent| sent.1 < self.newest);
        let lost = self.first.partition_point(|sent| sent.1 < self.newest && sent.1.0 + wait <= now);
        let end = if lost > 0 { self.first[lost - 1].0 } else { 0 };
        // the last segment of which the last byte has not arrived
        let mut next = before;
        while next > lost {
            let (last, at) = self.first[next - 1];
            if last <= scoreboard.lost_end() {
                break;
            }
            let Some(start) = scoreboard.arrived_from(last - 1) else { return (end, at.0 + wait) };
            next = self.first.partition_point(|sent| sent.0 <= start);
        }
        (end, Time::NEVER)
    }

    /// Removes and returns the first retransmission that is lost by now; otherwise returns when the last of those that
    /// may be lost will be.
    fn take_lost_retransmission(
        &mut self,
        reordering_window: Duration,
        now: Time,
    ) -> Result<(u64, u64), Time> {
        let wait = self.rtt + reordering_window;
        let mut before = self.departed.range(..self.newest);
        let Some((&at, &start)) = before.next() else { return Err(Time::NEVER) };
        if at.0 + wait > now {
            let (last, _) = before.next_back().unwrap_or((&at, &start));
            return Err(last.0 + wait);
        }
        self.departed.remove(&at);
        let (end, _) = self.retransmissions.remove(&start).unwrap_or((start, at));
        Ok((start, end))
    }
}

impl Rack {
    /// Restores the deadline that the timer had before the last check, unless it was restarted since.
    pub(super) fn release(&mut self, timer: &mut RetransmissionTimer) {
        let reordering_deadline = std::mem::replace(&mut self.reordering_deadline, Time::NEVER);
        if reordering_deadline != Time::NEVER && reordering_deadline == timer.expires_at() {
            timer.set(self.timeout_at);
        }
    }

    /// Restarts the timer for a timeout instead of a probe, because data are missing [RFC8985 §7.2].
    pub(super) fn cancel_probe(&mut self, timer: &mut RetransmissionTimer, now: Time) {
        if std::mem::take(&mut self.probe_due) {
            timer.start(now);
        }
    }

    /// Checks for losses by time and marks them on the scoreboard: of retransmissions, and if `first` of first
    /// transmissions. `no_reordering_window` means that no reordering window is needed, because enough data arrived
    /// above a gap or a recovery is in progress [RFC8985 §6.2, steps 4 and 5].
    pub(super) fn detect(
        &mut self,
        scoreboard: &mut Scoreboard,
        no_reordering_window: bool,
        first: bool,
        rtt: &Rtt,
        now: Time,
    ) -> Losses {
        let reordering_window = self.reordering_window(no_reordering_window, rtt.min(), rtt.smoothed());
        let mut losses = Losses { bytes: 0, reordering_deadline: Time::NEVER };
        if first {
            let (end, next) = self.first_lost_by_time(scoreboard, reordering_window, now);
            losses = Losses { bytes: scoreboard.mark_lost_below(end), reordering_deadline: next };
        }
        loop {
            match self.take_lost_retransmission(reordering_window, now) {
                Ok((start, end)) => losses.bytes += scoreboard.mark_retransmission_lost(start, end),
                Err(next) => {
                    losses.reordering_deadline = match (losses.reordering_deadline, next) {
                        (Time::NEVER, one) | (one, Time::NEVER) => one,
                        (first, again) => first.max(again),
                    };
                    return losses;
                }
            }
        }
    }

    /// Sets the timer for a check at `at` if that is earlier than its deadline.
    pub(super) fn arm_reordering_timer(&mut self, at: Time, timer: &mut RetransmissionTimer) {
        let at = at + self.slack;
        if at < timer.expires_at() {
            (self.reordering_deadline, self.timeout_at) = (at, timer.expires_at());
            timer.set(at);
        }
    }

    /// Sets the timer for a probe after new data were acknowledged up to `una` or sent, if nothing is missing
    /// (`clear`). `single_segment` means that at most one segment is in flight [RFC8985 §7.2].
    pub(super) fn arm_probe(
        &mut self,
        clear: bool,
        single_segment: bool,
        una: u64,
        timer: &mut RetransmissionTimer,
        now: Time,
    ) {
        let (advanced, sent_new) = (std::mem::take(&mut self.advanced), std::mem::take(&mut self.sent_new));
        if !advanced && !sent_new {
            return;
        }
        if !self.probe_due || advanced {
            // the timer was restarted, or has its own deadline
            self.expires_at = timer.expires_at();
        }
        if let Some((end, retransmitted)) = self.probe
            && (una > end || una == end && !retransmitted)
        {
            self.probe = None;
        }
        self.probe_due = self.probes && clear && self.probe.is_none() && timer.expires_at() != Time::NEVER;
        if self.probe_due {
            // PTO = 2·SRTT, plus the maximum delay of an acknowledgement if only one segment is in flight
            let wait = timer.rtt().smoothed() * 2 + if single_segment { MAX_ACK_DELAY } else { self.slack };
            // the probe replaces a timeout that would come earlier                         [RFC8985 §7.2: TLP_calc_PTO]
            timer.set(self.expires_at.min(now + wait));
        }
    }

    /// The purpose of the timer that expired. Probes are sent only if nothing is missing (`clear`).
    pub(super) fn on_timer(&mut self, clear: bool, now: Time) -> EarlyTimer {
        if self.reordering_deadline <= now {
            return EarlyTimer::Reordering;
        }
        if std::mem::take(&mut self.probe_due) && clear { EarlyTimer::Probe } else { EarlyTimer::Timeout }
    }

    /// Records that a probe is sent when all bytes below `end` are.
    pub(super) fn on_probe(&mut self, end: u64, retransmitted: bool) {
        self.probe = Some((end, retransmitted));
    }

    /// Called when all bytes below `una` are newly acknowledged. Returns whether that answers a probe by retransmission
    /// that repaired a loss: then the acknowledgement is of data sent after it, and none before said that the probe had
    /// arrived twice [RFC8985 §7.4.2].
    pub(super) fn check_probe(&mut self, una: u64) -> bool {
        self.advanced = true;
        let answered = |probe: &mut (u64, bool)| una > probe.0 || una == probe.0 && !probe.1;
        self.probe.take_if(answered).is_some_and(|(_, retransmitted)| retransmitted)
    }

    /// Called with an acknowledgement of all bytes below `ack` that acknowledges nothing new, or reports that the bytes
    /// before `duplicate` arrived twice: if it answers a probe by retransmission, the probe was not needed
    /// [RFC8985 §7.4.2].
    pub(super) fn on_answer_twice(&mut self, ack: u64, duplicate: Option<u64>) {
        self.probe.take_if(|probe| probe.1 && ack >= probe.0 && duplicate.is_none_or(|end| end == probe.0));
    }
}

/// Maximum of the reordering window, in quarters of the minimum round-trip time [Linux: tcp_rack_update_reo_wnd]. The
/// smoothed round-trip time limits it as well.
const MAX_QUARTERS: u32 = 255;
/// Recoveries after which the reordering window shrinks [RFC8985 §6.2, step 4; Linux: TCP_RACK_RECOVERY_THRESH].
const PERSISTENCE: u32 = 16;

/// Before the first segment.
const NOTHING: Transmission = (Time::ZERO, 0);

/// The assumed maximum delay of an acknowledgement [RFC8985 §7.2: TLP.max_ack_delay; Linux has the same value].
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8985 §6.1: a segment has one transmission time, the last. The retransmission at 30 ms replaces the probe's
    /// at 10 ms, so that the segment is not declared lost twice. The record of another segment stays.
    #[test]
    fn the_last_departure_of_a_segment_counts() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut rack = Rack::new(true, Duration::ZERO);
        rack.on_sent(0, 1000, false, at(0));
        rack.on_sent(1000, 2000, false, at(0));
        rack.on_sent(1000, 2000, true, at(10));
        rack.on_sent(0, 1000, true, at(20));
        rack.on_sent(1000, 2000, true, at(30));
        let kept: Vec<_> =
            rack.retransmissions.iter().map(|(&start, &(end, (when, _)))| (start, end, when)).collect();
        assert_eq!(kept, [(0, 1000, at(20)), (1000, 2000, at(30))]);
    }
}
