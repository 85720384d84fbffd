//! PIE, proportional integral controller enhanced: an arriving packet is dropped, or marked, with a probability that is
//! updated periodically from the queueing delay and its trend [RFC 8033].
//!
//! A queue has no timer. The updates that are due since the last packet are made when the next one arrives or leaves.
//! That is exact: an update depends on the delay of the last departure, or on the backlog, and neither changes in
//! between.
//!
//! Probabilities are in fixed point with 56 binary places, as in Linux.

use contract::{Backlog, DropReason, Ecn, PacketCx, PacketId, QueueDiscipline, QueueLimit, Random, Verdict};
use units::{Bytes, Duration, Time};

use super::ActiveQueue;
use super::waiting::{Line, Waiting};

contract::choice! {
    /// How the queueing delay is known.
    pub enum Estimator {
        /// Of each packet that leaves, by the time at which it arrived.
        Timestamps = "timestamps",
        /// From the backlog and the measured rate of departures (Little's law).
        DequeueRate = "dequeue_rate",
    }
}

contract::choice! {
    /// Whose details apply where RFC 8033 and Linux differ.
    pub enum Like {
        /// RFC 8033, appendices A and B.
        Rfc = "rfc",
        /// Linux 6.1, net/sched/sch_pie.c.
        Linux = "linux",
    }
}

contract::params! {
    /// QDELAY_REF, the queueing delay at which the controller aims.
    target: Duration = Duration::from_millis(15), within "1 ns"..="1000 s", from "RFC8033 §4.2; Linux: 15 ms";
    /// T_UPDATE, the time between updates of the probability; `alpha` and `beta` are for this one.
    t_update: Duration = Duration::from_millis(15), within "1 us"..="1000 s", from "RFC8033 §4.2; Linux: 15 ms in whole ticks";
    /// α: increase of the probability per update and second of delay above `target`.
    alpha: f64 = 0.125, within 0.0..=100.0, from "RFC8033 §4.2; Linux: 2/16";
    /// β: increase of the probability per update and second by which the delay has grown since the last one.
    beta: f64 = 1.25, within 0.0..=100.0, from "RFC8033 §4.2; Linux: 20/16";
    /// MAX_BURST: how long a queue that builds up is not dropped from.
    max_burst: Duration = Duration::from_millis(150), within "0 s"..="1000 s", from "RFC8033 §4.4; Linux: 150 ms";
    /// How the queueing delay is known.
    estimator: Estimator = Estimator::Timestamps, from "RFC8033 appendix A and Linux; dequeue_rate: RFC8033 §5.2";
    /// Mark ECT packets instead of dropping them, as long as the probability is below `mark_below`.
    mark: bool = true, from "RFC8033 §5.1; Linux: false";
    /// mark_ecnth: probability from which ECT packets are dropped, too.
    mark_below: f64 = 0.1, within 0.0..=1.0, from "RFC8033 §5.1; Linux: 0.1";
    /// MEAN_PKTSIZE: a backlog of two such packets is not dropped from.
    packet: Bytes = Bytes::new(1514), within "1 B"..="65535 B", from "Linux: the MTU with the Ethernet header; RFC8033 §4.1 has no number";
    /// Whose details apply where RFC 8033 and Linux differ.
    like: Like = Like::Rfc, from "our choice: the specification";
}

/// The queue of a port.
#[derive(Debug)]
pub struct Pie {
    constants: Constants,
    limit: QueueLimit,
    waiting: Line,
    control: Control,
}

/// The parameters, in fixed point.
#[derive(Debug)]
struct Constants {
    target: u64,
    half_target: u64,
    t_update: Duration,
    /// α and β per nanosecond, with 56 + [`FINER`] binary places.
    alpha: i128,
    beta: i128,
    max_burst: Duration,
    estimator: Estimator,
    mark: bool,
    mark_below: u64,
    two_packets: u64,
    like: Like,
}

/// The state of the controller.
#[derive(Debug)]
struct Control {
    /// When the next update is due.
    next_update: Time,
    /// current_qdelay, of the last departure, in nanoseconds.
    delay: u64,
    /// qdelay_old_, the delay at the last update.
    old_delay: u64,
    /// drop_prob_.
    probability: u64,
    /// accu_prob_, the sum of the probabilities since the last drop.
    accumulated: u64,
    /// burst_allowance_.
    burst: Duration,
    meter: Meter,
    /// The last departure, for the burst allowance of Linux.
    last_departure: Option<Time>,
}

/// The rate of departures [RFC 8033 §5.2].
#[derive(Debug, Default)]
struct Meter {
    /// measurement_start_ and dq_count_ of the current cycle; `None` while too little waits.
    cycle: Option<(Time, u64)>,
    /// avg_dq_time_, the average time in which [`DQ_THRESHOLD`] bytes leave, in nanoseconds; 0 before the first cycle.
    nanos: u64,
    /// avg_dq_rate of Linux, in bytes per second; 0 before the first cycle.
    bytes_per_s: u64,
}

/// 1 with 56 binary places.
const ONE: u64 = 1 << 56;
/// Additional binary places of α and β.
const FINER: u32 = 24;
/// Bytes of a cycle of measurement [RFC 8033 §5.2].
const DQ_THRESHOLD: u64 = 1 << 14;

impl ActiveQueue for Pie {
    const TITLE: &'static str = "PIE (RFC 8033): drops or marks packets with a probability that follows the queueing delay and its trend.";
    type Params = Params;

    fn new(params: &Params, limit: QueueLimit) -> Self {
        let constants = Constants::new(params);
        let control = Control {
            next_update: Time::ZERO + constants.t_update,
            delay: 0,
            old_delay: 0,
            probability: 0,
            accumulated: 0,
            burst: constants.max_burst,
            meter: Meter::default(),
            last_departure: None,
        };
        Self { constants, limit, waiting: Line::default(), control }
    }

    fn can_mark(params: &Params) -> bool {
        params.mark
    }
}

impl Constants {
    fn new(params: &Params) -> Self {
        let per_nano = |gain: f64| (gain / 1e9 * (1u128 << (56 + FINER)) as f64) as i128;
        let target = params.target.as_nanos();
        Self {
            target,
            half_target: target / 2,
            t_update: params.t_update,
            alpha: per_nano(params.alpha),
            beta: per_nano(params.beta),
            max_burst: params.max_burst,
            estimator: params.estimator,
            mark: params.mark,
            mark_below: (params.mark_below * ONE as f64) as u64,
            two_packets: 2 * params.packet.as_u64(),
            like: params.like,
        }
    }

    /// Whether a backlog is too short to be dropped from.
    fn is_short(&self, bytes: u64) -> bool {
        match self.like {
            Like::Rfc => bytes <= self.two_packets,
            Like::Linux => bytes < self.two_packets,
        }
    }

    /// The factor of the change of a probability, as a power of two: the controller is slower while the probability is
    /// low.
    const fn slower(probability: u64) -> u32 {
        // 1/2048 below 0.0001 %, 1/512 below 0.001 %, … 1/2 below 10 %, 1 from there on     [RFC 8033 §4.2]
        match probability {
            p if p < ONE / 1_000_000 => 11,
            p if p < ONE / 100_000 => 9,
            p if p < ONE / 10_000 => 7,
            p if p < ONE / 1_000 => 5,
            p if p < ONE / 100 => 3,
            p if p < ONE / 10 => 1,
            _ => 0,
        }
    }

    /// The probability after an update. `idle`: nothing waits.
    fn updated(&self, probability: u64, delay: u64, old_delay: u64, idle: bool) -> u64 {
        let difference = |a: u64, b: u64| i128::from(a) - i128::from(b);
        // p ← α (delay − target) + β (delay − old delay), scaled                              [RFC 8033 §4.2]
        let gain = self.alpha * difference(delay, self.target) + self.beta * difference(delay, old_delay);
        let mut change = gain / (1 << (FINER + Self::slower(probability)));
        // at most 2 % per update above 10 %                                                   [RFC 8033 §5.5]
        if probability >= ONE / 10 {
            change = change.min(i128::from(ONE / 50));
        }
        if self.like == Like::Linux && delay > 250_000_000 {
            // above 250 ms: 2 % more                                                 [Linux, pie_calculate_probability]
            change += i128::from(ONE / 50);
        }
        let changed = (i128::from(probability) + change).clamp(0, i128::from(ONE)) as u64;
        if delay > 0 || old_delay > 0 {
            return changed;
        }
        match self.like {
            // × 0.98 while there is no delay                                                  [RFC 8033 §4.2]
            Like::Rfc => changed - changed / 50,
            Like::Linux if idle => changed - changed / 64,
            Like::Linux => changed,
        }
    }
}

impl Control {
    /// Makes the updates that are due. `backlog` is what has waited since the last packet arrived or left, in bytes.
    #[inline]
    fn catch_up(&mut self, constants: &Constants, now: Time, backlog: u64) {
        if now >= self.next_update {
            self.update_until(constants, now, backlog);
        }
    }

    #[cold]
    fn update_until(&mut self, constants: &Constants, now: Time, backlog: u64) {
        while self.next_update <= now {
            self.next_update += constants.t_update;
            let before = (self.probability, self.delay, self.old_delay, self.burst);
            self.update(constants, backlog);
            if before == (self.probability, self.delay, self.old_delay, self.burst) && self.next_update <= now
            {
                // the next updates have the same inputs, so they change nothing
                let period = constants.t_update.as_nanos();
                let passed = (now - self.next_update).as_nanos() / period * period;
                self.next_update += Duration::from_nanos(passed);
            }
        }
    }

    /// An update, calculate_drop_prob().
    fn update(&mut self, constants: &Constants, backlog: u64) {
        if constants.estimator == Estimator::DequeueRate {
            self.delay = self.meter.delay(constants.like, backlog);
        }
        self.probability = constants.updated(self.probability, self.delay, self.old_delay, backlog == 0);
        match constants.like {
            // burst_allowance_ ← max(0, burst_allowance_ − T_UPDATE)                          [RFC 8033 §4.4]
            Like::Rfc => self.burst = self.burst.saturating_sub(constants.t_update),
            Like::Linux if self.is_calm(constants) && self.meter.is_ready(constants.estimator) => {
                self.restart(constants);
            }
            Like::Linux => {}
        }
        self.old_delay = self.delay;
    }

    /// Whether there is no congestion: the probability is 0, and the delays are short.
    fn is_calm(&self, constants: &Constants) -> bool {
        self.probability == 0 && self.delay.max(self.old_delay) < constants.half_target
    }

    /// Allows the next burst, and forgets what was measured [Linux, pie_vars_init].
    fn restart(&mut self, constants: &Constants) {
        self.burst = constants.max_burst;
        self.accumulated = 0;
        self.meter = Meter::default();
        self.last_departure = None;
    }

    /// Whether to drop or mark an arriving packet. `backlog` is what waits before it, in bytes.
    #[inline]
    fn chooses(&mut self, constants: &Constants, backlog: u64, random: &mut Random) -> bool {
        // burst_allowance_ ← MAX_BURST when congestion has gone away                          [RFC 8033 §4.4]
        if constants.like == Like::Rfc && self.is_calm(constants) {
            self.burst = constants.max_burst;
        }
        self.burst == Duration::ZERO && self.drops_early(constants, backlog, random)
    }

    /// drop_early().
    fn drops_early(&mut self, constants: &Constants, backlog: u64, random: &mut Random) -> bool {
        let delay = match constants.like {
            Like::Rfc => self.old_delay,
            Like::Linux => self.delay,
        };
        // a short queue is not dropped from, so that the link stays busy                      [RFC 8033 §4.1]
        if (delay < constants.half_target && self.probability < ONE / 5) || constants.is_short(backlog) {
            return false;
        }
        // drops are neither clustered nor far apart: none before the sum is 0.85, a sure one at 8.5   [RFC 8033 §5.4]
        if self.probability == 0 {
            self.accumulated = 0;
        }
        self.accumulated += self.probability;
        if self.accumulated < ONE / 100 * 85 {
            return false;
        }
        if self.accumulated < ONE / 2 * 17 && random.bits() >> 8 >= self.probability {
            return false;
        }
        self.accumulated = 0;
        true
    }

    /// Notes a departure that leaves `backlog` bytes behind.
    #[inline]
    fn depart(&mut self, constants: &Constants, now: Time, packet: Waiting, backlog: u64) {
        let cycle = match constants.estimator {
            Estimator::Timestamps => {
                // differs: what leaves an empty queue behind has no delay, as in Linux. In RFC 8033 the delay of the
                // last packet would stay while the link is idle
                self.delay = if backlog == 0 { 0 } else { (now - packet.since).as_nanos() };
                self.last_departure.replace(now).map(|last| now - last)
            }
            Estimator::DequeueRate => {
                self.meter.depart(constants.like, now, u64::from(packet.size_bytes), backlog)
            }
        };
        if let (Like::Linux, Some(cycle)) = (constants.like, cycle) {
            self.burst = self.burst.saturating_sub(cycle);
        }
    }
}

impl Meter {
    /// Whether it has measured, if it is needed.
    fn is_ready(&self, estimator: Estimator) -> bool {
        estimator == Estimator::Timestamps || self.bytes_per_s > 0
    }

    /// The time in which a backlog leaves, in nanoseconds.
    fn delay(&self, like: Like, backlog: u64) -> u64 {
        let nanos = match like {
            // delay ← queue length × avg_dq_time_ / DQ_THRESHOLD                              [RFC 8033 §5.2]
            Like::Rfc => u128::from(backlog) * u128::from(self.nanos) / u128::from(DQ_THRESHOLD),
            Like::Linux if self.bytes_per_s == 0 => 0,
            Like::Linux => u128::from(backlog) * 1_000_000_000 / u128::from(self.bytes_per_s),
        };
        u64::try_from(nanos).unwrap_or(u64::MAX)
    }

    /// Notes a departure that leaves `backlog` bytes behind. Returns the length of the cycle that it ends.
    fn depart(&mut self, like: Like, now: Time, size: u64, backlog: u64) -> Option<Duration> {
        let enough = backlog >= DQ_THRESHOLD;
        if like == Like::Linux && enough && self.cycle.is_none() {
            // the packet that starts a cycle is counted in it                              [Linux, pie_process_dequeue]
            self.cycle = Some((now, 0));
        }
        let mut ended = None;
        if let Some((start, bytes)) = &mut self.cycle {
            *bytes += size;
            if *bytes >= DQ_THRESHOLD && now > *start {
                let (span, bytes) = (now - *start, *bytes);
                self.average(like, span, bytes);
                self.cycle = None;
                ended = Some(span);
            }
        }
        if enough && self.cycle.is_none() {
            self.cycle = Some((now, 0));
        }
        ended
    }

    fn average(&mut self, like: Like, span: Duration, bytes: u64) {
        let nanos = span.as_nanos();
        match like {
            Like::Rfc if self.nanos == 0 => self.nanos = nanos,
            // avg_dq_time_ ← w t + (1 − w) avg_dq_time_, w = DQ_THRESHOLD / 2¹⁶               [RFC 8033 §5.2]
            Like::Rfc => self.nanos = nanos / 4 + self.nanos / 4 * 3,
            Like::Linux => {
                let rate = u128::from(bytes) * 1_000_000_000 / u128::from(nanos);
                let rate = u64::try_from(rate).unwrap_or(u64::MAX);
                let old = self.bytes_per_s;
                self.bytes_per_s = if old == 0 { rate } else { old - old / 8 + rate / 8 };
            }
        }
    }
}

impl Pie {
    /// Decides about a packet that arrives. Returns its size, too.
    #[inline(always)]
    fn admit(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> (Verdict, u32) {
        let Self { constants, limit, waiting, control } = self;
        let header = cx.arena.get(packet);
        let (size_bytes, ecn) = (header.size_bytes, header.ecn);
        control.catch_up(constants, cx.now, waiting.bytes());
        if !waiting.has_room(limit, size_bytes) {
            control.accumulated = 0;
            return (Verdict::Drop(DropReason::QueueFull), size_bytes);
        }
        let mut verdict = Verdict::Pass;
        if control.chooses(constants, waiting.bytes(), cx.random) {
            let marks = constants.mark && control.probability < constants.mark_below;
            verdict = match ecn {
                Ecn::Capable | Ecn::CapableL4s if marks => Verdict::Mark,
                // a packet that is marked already is not marked again
                Ecn::Marked if marks => Verdict::Pass,
                _ => Verdict::Drop(DropReason::Early),
            };
        }
        (verdict, size_bytes)
    }
}

impl QueueDiscipline for Pie {
    #[inline]
    fn enqueue(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> Verdict {
        let (verdict, size_bytes) = self.admit(packet, cx);
        if !matches!(verdict, Verdict::Drop(_)) {
            self.waiting.push(Waiting { packet, size_bytes, since: cx.now });
        }
        verdict
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut PacketCx<'_>) -> Option<PacketId> {
        let Self { constants, waiting, control, .. } = self;
        control.catch_up(constants, cx.now, waiting.bytes());
        let first = waiting.pop()?;
        control.depart(constants, cx.now, first, waiting.bytes());
        Some(first.packet)
    }

    #[inline]
    fn transit(
        &mut self,
        packet: PacketId,
        _idle_since: Option<Time>,
        cx: &mut PacketCx<'_>,
    ) -> (Verdict, Option<PacketId>) {
        // the updates since the link became idle have the same inputs before and after that time
        let (verdict, size_bytes) = self.admit(packet, cx);
        if matches!(verdict, Verdict::Drop(_)) {
            return (verdict, None);
        }
        let first = Waiting { packet, size_bytes, since: cx.now };
        self.control.depart(&self.constants, cx.now, first, 0);
        (verdict, Some(packet))
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn drain(&mut self) -> Vec<PacketId> {
        self.control.delay = 0;
        self.control.meter.cycle = None;
        self.waiting.drain().collect()
    }

    fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }
}

#[cfg(test)]
#[path = "pie_tests.rs"]
mod tests;
