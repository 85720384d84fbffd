//! RED, random early detection: an arriving packet is dropped, or marked, with a probability that grows with the
//! average length of the queue [FJ93: Floyd and Jacobson, *Random Early Detection Gateways for Congestion Avoidance*,
//! IEEE/ACM Transactions on Networking 1(4), 1993], in its gentle variant [F00: Floyd, *Recommendation on using the
//! "gentle_" variant of RED*, 2000], and with an adaptive maximum probability [FGS01: Floyd, Gummadi and Shenker,
//! *Adaptive RED: An Algorithm for Increasing the Robustness of RED's Active Queue Management*, 2001].
//!
//! Adaptations that are due since the last packet are made when the next one arrives: the average does not change in
//! between, or it decays on an idle link.
//!
//! Packets compute in fixed point: lengths and probabilities have 32 binary places, shares of an average 63. Parts of
//! schemes that observe a queue have an estimator of their own (`schemes/shared/red.rs`), since neither crate depends
//! on the other.

use std::collections::VecDeque;

use contract::{Backlog, DropReason, Ecn, PacketCx, PacketId, QueueDiscipline, QueueLimit, Random, Verdict};
use units::{Bytes, Duration, Rate, Time};

use super::ActiveQueue;

contract::choice! {
    /// What the length of the queue is measured in.
    pub enum Unit {
        /// Packets; all sizes are dropped with the same probability.
        Packets = "packets",
        /// Bytes; packets are dropped in proportion to their size.
        Bytes = "bytes",
    }
}

contract::params! {
    /// Average queue length, in packets, below which nothing is dropped.
    min_th: f64 = 5.0, within 0.0..=1000000.0, from "FJ93 §5";
    /// Average queue length, in packets, at which the probability reaches `max_p`.
    max_th: f64 = 15.0, within 0.001..=1000000.0, from "FJ93 §5";
    /// Probability of a drop at `max_th`.
    max_p: f64 = 0.02, within 0.0..=1.0, from "FJ93 §5";
    /// w_q, the weight of the current queue length in the average, per arriving packet.
    weight: f64 = 0.002, within 0.000001..=1.0, from "FJ93 §5";
    /// From `max_th` to twice that the probability grows from `max_p` to 1; false: there it is 1 at once.
    gentle: bool = true, from "F00; false in FJ93";
    /// What the queue is measured in; with bytes, packets are dropped in proportion to their size.
    unit: Unit = Unit::Packets, from "FJ93 §4";
    /// Mean packet size: the packet of the thresholds where the unit is bytes, and of those that an idle link could
    /// have sent.
    packet: Bytes = Bytes::new(500), within "1 B"..="65535 B", from "ns-2: mean_pktsize_";
    /// Mark ECT packets instead of dropping them, as long as the probability is below 1.
    mark: bool = true, from "FJ93 §4";
    /// Adapt `max_p` each 0.5 s, so that the average stays near the middle between the thresholds; `max_p` is the first
    /// value.
    adaptive: bool = false, from "FGS01 §4; Linux: the flag adaptative";
    order min_th <= max_th;
}

/// The queue of a port.
#[derive(Debug)]
pub struct Red {
    constants: Constants,
    limit: QueueLimit,
    packets: VecDeque<(PacketId, u32)>,
    bytes: u64,
    /// avg: the average length, in packets.
    average: u64,
    /// count: packets since the last one that was dropped or marked; −1 while the average is below min_th.
    count: i64,
    /// q_time: when the link became idle; `None` while it is busy.
    idle_since: Option<Time>,
    adaptation: Option<Adaptation>,
}

/// The adaptation of the maximum probability.
#[derive(Debug)]
struct Adaptation {
    /// When the next one is due.
    next: Time,
    /// The average above which the probability is increased, and below which it is decreased.
    high: u64,
    low: u64,
}

/// The parameters in fixed point.
#[derive(Debug)]
struct Constants {
    min: u64,
    max: u64,
    /// The average from which every packet is dropped.
    certain: u64,
    max_p: u64,
    /// 1 − w_q, with 63 binary places.
    keep: u64,
    unit: Unit,
    packet: u64,
    mark: bool,
}

/// The decision about an arriving packet that finds room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Keep,
    /// Drop or mark at random.
    Chance,
    /// Drop, because the average is above the range of random drops.
    Certain,
}

/// 1 with 32 binary places.
const ONE: u64 = 1 << 32;
/// interval: the time between adaptations [FGS01 §4].
const ADAPTED_EVERY: Duration = Duration::from_millis(500);
/// 1 with 63 binary places.
const WHOLE: u64 = 1 << 63;

impl ActiveQueue for Red {
    const TITLE: &'static str = "RED (Floyd and Jacobson, 1993): drops or marks packets with a probability that grows with the average queue length.";
    type Params = Params;

    fn new(params: &Params, limit: QueueLimit) -> Self {
        let constants = Constants::new(params);
        let packets = VecDeque::new();
        let adaptation = params.adaptive.then(|| Adaptation::new(&constants));
        Self { constants, limit, packets, bytes: 0, average: 0, count: -1, idle_since: None, adaptation }
    }

    fn can_mark(params: &Params) -> bool {
        params.mark
    }
}

impl Constants {
    fn new(params: &Params) -> Self {
        let fixed = |x: f64| (x * ONE as f64) as u64;
        let max = fixed(params.max_th);
        Self {
            min: fixed(params.min_th),
            max,
            certain: if params.gentle { 2 * max } else { max },
            max_p: fixed(params.max_p),
            keep: ((1.0 - params.weight) * WHOLE as f64) as u64,
            unit: params.unit,
            packet: params.packet.as_u64(),
            mark: params.mark,
        }
    }

    /// The average after an arrival at a busy link. `length` is the queue length before it, in packets.
    fn averaged(&self, average: u64, length: u64) -> u64 {
        // avg ← (1 − w_q) avg + w_q q                                                         [FJ93 Fig. 2]
        let sum =
            u128::from(average) * u128::from(self.keep) + u128::from(length) * u128::from(WHOLE - self.keep);
        (sum >> 63) as u64
    }

    /// The average after an arrival at a link that was idle for `idle`.
    #[inline]
    fn decayed(&self, average: u64, idle: Duration, rate: Rate) -> u64 {
        if average == 0 {
            return 0;
        }
        // m ← (time − q_time) / s, where s is the time that a packet takes; avg ← (1 − w_q)^m avg       [FJ93 Fig. 2]
        let bits = u128::from(idle.as_nanos()) * u128::from(rate.as_bps()) / 1_000_000_000;
        let packets = bits / (8 * u128::from(self.packet));
        times(average, power(self.keep, u64::try_from(packets).unwrap_or(u64::MAX)))
    }

    /// The probability, at an average from `min` to `certain`, that a packet is dropped or marked if it is the
    /// `count`th since the last such packet.
    fn probability(&self, average: u64, count: u64, size_bytes: u32) -> u64 {
        // p_b ← max_p (avg − min_th) / (max_th − min_th)                                      [FJ93 Fig. 2]
        // from max_th on: from max_p to 1 at twice max_th                                     [F00]
        let mut base = if average < self.max {
            scaled(self.max_p, average - self.min, self.max - self.min)
        } else {
            self.max_p + scaled(ONE - self.max_p, average - self.max, self.max)
        };
        if self.unit == Unit::Bytes {
            // p_b ← p_b PacketSize / MaximumPacketSize                                        [FJ93 §4]
            // differs: the mean size in place of the maximum, as in ns-2, since links have no maximum of their own
            base = scaled(base, u64::from(size_bytes), self.packet).min(ONE);
        }
        // p_a ← p_b / (1 − count p_b)                                                         [FJ93 Fig. 2]
        match ONE.checked_sub(count.saturating_mul(base)) {
            Some(rest) if rest > 0 => scaled(base, ONE, rest).min(ONE),
            _ => ONE,
        }
    }
}

impl Adaptation {
    const fn new(constants: &Constants) -> Self {
        // target: from min_th + 0.4 (max_th − min_th) to min_th + 0.6 (max_th − min_th)       [FGS01 Fig. 3]
        let fifth = (constants.max - constants.min) / 5;
        let next = Time::from_nanos(ADAPTED_EVERY.as_nanos());
        Self { next, high: constants.min + 3 * fifth, low: constants.min + 2 * fifth }
    }

    /// The maximum probability after an adaptation.
    fn adapted(&self, max_p: u64, average: u64) -> u64 {
        if average > self.high && max_p <= ONE / 2 {
            // max_p ← max_p + min(0.01, max_p / 4)                                            [FGS01 Fig. 3]
            max_p + (ONE / 100).min(max_p / 4)
        } else if average < self.low && max_p >= ONE / 100 {
            // max_p ← 0.9 max_p                                                               [FGS01 Fig. 3]
            max_p / 10 * 9
        } else {
            max_p
        }
    }
}

impl Red {
    /// Makes the adaptations that are due. The average is that after the last arrival.
    #[inline]
    fn adapt(&mut self, now: Time, rate: Rate) {
        let Self { constants, average, idle_since, adaptation, .. } = self;
        let Some(adaptation) = adaptation else { return };
        while adaptation.next <= now {
            // differs: FGS01 has the average of the last arrival; on an idle link it decays, as in Linux
            let average = match *idle_since {
                Some(since) if since < adaptation.next => {
                    constants.decayed(*average, adaptation.next - since, rate)
                }
                _ => *average,
            };
            constants.max_p = adaptation.adapted(constants.max_p, average);
            adaptation.next += ADAPTED_EVERY;
        }
    }

    /// The current length, in packets.
    fn length(&self) -> u64 {
        match self.constants.unit {
            Unit::Packets => (self.packets.len() as u64) << 32,
            Unit::Bytes => scaled(ONE, self.bytes, self.constants.packet),
        }
    }

    /// Decides about a packet that arrives now.
    #[inline]
    fn choose(&mut self, size_bytes: u32, random: &mut Random) -> Choice {
        if self.average < self.constants.min {
            self.count = -1;
            return Choice::Keep;
        }
        if self.average >= self.constants.certain {
            self.count = 0;
            return Choice::Certain;
        }
        self.count += 1;
        let probability = self.constants.probability(self.average, self.count as u64, size_bytes);
        if random.below(ONE) >= probability {
            return Choice::Keep;
        }
        self.count = 0;
        Choice::Chance
    }
}

impl Red {
    /// Decides about a packet that arrives. Returns its size, too.
    #[inline]
    fn admit(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> (Verdict, u32) {
        let header = cx.arena.get(packet);
        let (size_bytes, ecn) = (header.size_bytes, header.ecn);
        self.adapt(cx.now, cx.rate);
        self.average = match self.idle_since.take() {
            Some(since) => self.constants.decayed(self.average, cx.now - since, cx.rate),
            None => self.constants.averaged(self.average, self.length()),
        };
        if !self.limit.admits(self.packets.len() as u32, self.bytes, u64::from(size_bytes)) {
            // as after any other drop, in ns-2
            self.count = 0;
            return (Verdict::Drop(DropReason::QueueFull), size_bytes);
        }
        let marks = self.constants.mark && ecn != Ecn::NotCapable;
        let verdict = match self.choose(size_bytes, cx.random) {
            Choice::Keep => Verdict::Pass,
            // a packet that is marked already is not marked again
            Choice::Chance if marks && ecn == Ecn::Marked => Verdict::Pass,
            Choice::Chance if marks => Verdict::Mark,
            // differs: FJ93 may mark at any average; a queue that keeps growing is not controlled by marks, so packets
            // are dropped, as in ns-2 with use_mark_p_
            Choice::Chance | Choice::Certain => Verdict::Drop(DropReason::Early),
        };
        (verdict, size_bytes)
    }
}

impl QueueDiscipline for Red {
    fn enqueue(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> Verdict {
        let (verdict, size_bytes) = self.admit(packet, cx);
        if !matches!(verdict, Verdict::Drop(_)) {
            self.packets.push_back((packet, size_bytes));
            self.bytes += u64::from(size_bytes);
        }
        verdict
    }

    fn dequeue(&mut self, cx: &mut PacketCx<'_>) -> Option<PacketId> {
        let Some((packet, size_bytes)) = self.packets.pop_front() else {
            self.idle_since.get_or_insert(cx.now);
            return None;
        };
        self.bytes -= u64::from(size_bytes);
        Some(packet)
    }

    #[inline(never)]
    fn transit(
        &mut self,
        packet: PacketId,
        idle_since: Option<Time>,
        cx: &mut PacketCx<'_>,
    ) -> (Verdict, Option<PacketId>) {
        if let Some(since) = idle_since {
            self.idle_since.get_or_insert(since);
        }
        let (verdict, _) = self.admit(packet, cx);
        if matches!(verdict, Verdict::Drop(_)) {
            self.idle_since.get_or_insert(cx.now);
            return (verdict, None);
        }
        (verdict, Some(packet))
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u32, bytes: Bytes::new(self.bytes) }
    }

    fn drain(&mut self) -> Vec<PacketId> {
        self.bytes = 0;
        self.packets.drain(..).map(|(packet, _)| packet).collect()
    }

    fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }
}

/// `value` · `of` / `whole`, rounded down.
fn scaled(value: u64, of: u64, whole: u64) -> u64 {
    let product = u128::from(value) * u128::from(of) / u128::from(whole);
    u64::try_from(product).unwrap_or(u64::MAX)
}

/// `value` · `share`, a share with 63 binary places.
fn times(value: u64, share: u64) -> u64 {
    ((u128::from(value) * u128::from(share)) >> 63) as u64
}

/// `share` to the power of `exponent`, by squares.
fn power(mut share: u64, mut exponent: u64) -> u64 {
    let mut result = WHOLE;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = times(result, share);
        }
        share = times(share, share);
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
#[path = "red_tests.rs"]
mod tests;
