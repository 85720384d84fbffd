//! DualPI2, the dual-queue coupled AQM of L4S: scalable flows, whose packets are ECT(1), wait in a queue of their own
//! that is marked from a millisecond of delay on. A proportional integral controller holds the delay of the other queue
//! at its target, and its probability, which is squared there, also marks the packets of the scalable flows, so that
//! flows of both kinds get about the same rate [RFC 9332].
//!
//! A queue has no timer. The updates that are due since the last packet are made when the next one arrives or leaves.
//! That is exact: an update depends on the arrival of the packets at the heads, which do not change in between.
//!
//! Probabilities are in fixed point with 32 binary places, as in Linux.

use std::collections::VecDeque;

use contract::{Backlog, DropReason, Ecn, PacketCx, PacketId, QueueDiscipline, QueueLimit, Random, Verdict};
use units::{Bytes, Duration, Time};

use super::ActiveQueue;
use super::waiting::{Line, Waiting};

contract::choice! {
    /// How the queue of scalable flows is marked by its own delay.
    pub enum NativeAqm {
        /// Every packet whose delay exceeds `threshold`.
        Step = "step",
        /// With a probability that grows from 0 at `threshold` to 1 at `threshold` + `range`.
        Ramp = "ramp",
    }
}

contract::params! {
    /// Target of the queueing delay of classic flows.
    target: Duration = Duration::from_millis(15), within "1 us"..="1000 s", from "RFC9332 §A.1; Linux 6.17: 15 ms";
    /// Tupdate, the time between updates of the probability; `alpha` and `beta` are for this one.
    t_update: Duration = Duration::from_millis(16), within "1 us"..="1000 s", from "RFC9332 §A.1; Linux 6.17: 16 ms";
    /// α, integral gain: increase of the probability per update and second of delay above `target`.
    alpha: f64 = 0.16, within 0.0..=100.0, from "RFC9332 §A.1: 0.1·Tupdate/RTT_max², RTT_max = 100 ms; Linux 6.17: 0.16";
    /// β, proportional gain: increase of the probability per update and second by which the delay has grown since the
    /// last one.
    beta: f64 = 3.2, within 0.0..=100.0, from "Linux 6.17: 3.2; RFC9332 §A.1: 0.3/RTT_max, which is 3";
    /// k, the coupling factor: the marking probability of scalable flows is k times the square root of the classic
    /// probability.
    coupling: f64 = 2.0, within 1.0..=100.0, from "RFC9332 §A.1: 2; Linux 6.17: 2";
    /// How the queue of scalable flows is marked by its own delay.
    native: NativeAqm = NativeAqm::Step, from "Linux 6.17: step; RFC9332 §A.1: ramp";
    /// Queueing delay above which packets of scalable flows are marked; with `ramp`, minTh, above which some are.
    threshold: Duration = Duration::from_millis(1), within "1 ns"..="1000 s", from "Linux 6.17: 1 ms; RFC9332 §A.1: 0.8 ms with a range of 0.4 ms";
    /// Packets of scalable flows that must wait already when a packet arrives for its own delay to mark it. At low
    /// rates a packet then does not exceed `threshold` only because it waits for one other.
    min_qlen_step: u32 = 0, within 0..=1_000_000, from "Linux 6.17: 0; kernels of the L4S project to 6.1: 2; RFC9332 §A.1: Th_len, 1 that stays at the departure";
    /// Width of the ramp.
    range: Duration = Duration::from_micros(400), within "1 ns"..="1000 s", from "RFC9332 §A.1: 400 us";
    /// Share of the link, in percent, that classic flows get if scalable ones want all of it.
    classic_share: u32 = 10, within 0..=100, from "Linux 6.17: 10; RFC9332 §A.1: a weight of 1/16 with WRR";
    /// Drop packets of scalable flows, too, where marks are not enough: where their probability would exceed 1.
    drop_overload: bool = true, from "RFC9332 §A.2; Linux 6.17: true";
    /// Size of a full packet: a backlog of less than two is neither dropped from nor marked by the controller.
    packet: Bytes = Bytes::new(1514), within "1 B"..="65535 B", from "Linux 6.17: the MTU with the Ethernet header";
}

/// The queue of a port.
#[derive(Debug)]
pub struct Dualpi2 {
    constants: Constants,
    limit: QueueLimit,
    classic: Line,
    scalable: Line,
    /// Of each packet in `scalable`, whether its own delay may mark it; empty if every packet's own delay may
    /// [Linux: apply_step].
    step_applies: VecDeque<bool>,
    control: Control,
    /// Above zero if it is the turn of the classic queue, in percent of bytes [Linux: c_protection_credit].
    credit: i64,
}

/// The parameters, in fixed point.
#[derive(Debug)]
struct Constants {
    target: u64,
    t_update: Duration,
    /// α and β per nanosecond, with 32 + [`FINER`] binary places.
    alpha: i128,
    beta: i128,
    /// k, with 16 binary places.
    coupling: u64,
    threshold: u64,
    min_qlen_step: u32,
    /// Width of the ramp in nanoseconds; zero for a step.
    range: u64,
    classic_share: i64,
    drop_overload: bool,
    packet: u64,
}

/// The state of the controller.
#[derive(Debug)]
struct Control {
    next_update: Time,
    /// p', with 32 binary places.
    probability: u64,
    /// The delay at the last update, in nanoseconds.
    old_delay: u64,
}

/// The queue that a departing packet waited in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Classic,
    Scalable { step_applies: bool },
}

/// The decision about a departing packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Keep,
    Mark,
    Drop,
}

/// 1 with 32 binary places.
const ONE: u64 = 1 << 32;
/// Additional binary places of α and β.
const FINER: u32 = 40;
/// Binary places of k.
const COUPLING_PLACES: u32 = 16;

impl ActiveQueue for Dualpi2 {
    const TITLE: &'static str = "DualPI2 (RFC 9332): a queue of its own for L4S flows, marked early, coupled with a PI controller for all others.";
    type Params = Params;

    fn new(params: &Params, limit: QueueLimit) -> Self {
        let constants = Constants::new(params);
        let control = Control { next_update: Time::ZERO + constants.t_update, probability: 0, old_delay: 0 };
        let credit = constants.first_credit();
        let (classic, scalable) = Default::default();
        Self { constants, limit, classic, scalable, step_applies: VecDeque::new(), control, credit }
    }

    fn can_mark(_params: &Params) -> bool {
        true
    }
}

impl Constants {
    fn new(params: &Params) -> Self {
        let per_nano = |gain: f64| (gain / 1e9 * (1u128 << (32 + FINER)) as f64) as i128;
        Self {
            target: params.target.as_nanos(),
            t_update: params.t_update,
            alpha: per_nano(params.alpha),
            beta: per_nano(params.beta),
            coupling: (params.coupling * f64::from(1 << COUPLING_PLACES)) as u64,
            threshold: params.threshold.as_nanos(),
            min_qlen_step: params.min_qlen_step,
            range: if params.native == NativeAqm::Step { 0 } else { params.range.as_nanos() },
            classic_share: i64::from(params.classic_share),
            drop_overload: params.drop_overload,
            packet: params.packet.as_u64(),
        }
    }

    /// The credit of an empty queue: scalable flows are first [Linux: c_protection_init].
    const fn first_credit(&self) -> i64 {
        self.packet as i64 * (2 * self.classic_share - 100)
    }

    /// p_CL, the coupled probability of scalable flows.
    const fn coupled(&self, probability: u64) -> u64 {
        // p_CL = k p'                                                                   [RFC 9332 §A.1, dualpi2_update]
        ((probability as u128 * self.coupling as u128) >> COUPLING_PLACES) as u64
    }

    /// p'_L, the probability of scalable flows by the delay of their own queue.
    const fn native(&self, delay: u64) -> u64 {
        // 0 below minTh, 1 from maxTh on, a straight line between                          [RFC 9332 §A.1, laqm]
        if delay <= self.threshold {
            0
        } else if delay - self.threshold >= self.range {
            ONE
        } else {
            (((delay - self.threshold) as u128) << 32).div_euclid(self.range as u128) as u64
        }
    }
}

impl Control {
    /// Makes the updates that are due, with the packets that have been first since the last packet arrived or left.
    #[inline]
    fn catch_up(&mut self, constants: &Constants, now: Time, heads: [Option<Time>; 2]) {
        while self.next_update <= now {
            let delay = heads.into_iter().flatten().map(|since| (self.next_update - since).as_nanos()).max();
            let delay = delay.unwrap_or(0);
            let before = (self.probability, self.old_delay);
            self.update(constants, delay);
            self.next_update += constants.t_update;
            if before == (self.probability, self.old_delay) && delay == 0 && self.next_update <= now {
                // the next updates have the same inputs, so they change nothing
                let period = constants.t_update.as_nanos();
                let passed = (now - self.next_update).as_nanos() / period * period;
                self.next_update += Duration::from_nanos(passed);
            }
        }
    }

    /// An update, dualpi2_update.
    #[cold]
    fn update(&mut self, constants: &Constants, delay: u64) {
        let difference = |a: u64, b: u64| i128::from(a) - i128::from(b);
        // p' ← p' + α (delay − target) + β (delay − old delay)                          [RFC 9332 §A.1, dualpi2_update]
        let gain = constants.alpha * difference(delay, constants.target)
            + constants.beta * difference(delay, self.old_delay);
        let maximum = match constants.drop_overload {
            true => ONE,
            // without drops the probability of a mark is 1 at most                       [Linux: calculate_probability]
            false => ((ONE as u128) << COUPLING_PLACES).div_euclid(constants.coupling.into()) as u64,
        };
        let changed = i128::from(self.probability) + (gain >> FINER);
        self.probability = changed.clamp(0, i128::from(maximum)) as u64;
        self.old_delay = delay;
    }

    /// Whether a classic packet is dropped or marked: with probability p'².
    fn chooses_classic(&self, random: &mut Random) -> bool {
        random.below(ONE) < self.probability && random.below(ONE) < self.probability
    }
}

/// ECT(1) identifies L4S, and so does CE, whatever it was [RFC 9331 §5.1].
const fn is_scalable(ecn: Ecn) -> bool {
    matches!(ecn, Ecn::CapableL4s | Ecn::Marked)
}

impl Dualpi2 {
    fn heads(&self) -> [Option<Time>; 2] {
        [self.classic.first(), self.scalable.first()]
    }

    fn bytes(&self) -> u64 {
        self.classic.bytes() + self.scalable.bytes()
    }

    /// Takes the next packet by weighted round robin, and where it waited.
    fn take(&mut self) -> Option<(Waiting, Source)> {
        let is_scalable = self.scalable.len() > 0 && (self.classic.len() == 0 || self.credit <= 0);
        let contended = self.scalable.len() > 0 && self.classic.len() > 0;
        let line = if is_scalable { &mut self.scalable } else { &mut self.classic };
        let Some(first) = line.pop() else {
            self.credit = self.constants.first_credit();
            return None;
        };
        if contended {
            // each byte of one queue earns the other its weight                            [Linux: dequeue_packet]
            let share = self.constants.classic_share;
            let change = if is_scalable { share } else { share - 100 };
            self.credit += change * i64::from(first.size_bytes);
        }
        let source = match is_scalable {
            true => Source::Scalable { step_applies: self.step_applies.pop_front().unwrap_or(true) },
            false => Source::Classic,
        };
        Some((first, source))
    }

    /// What happens to a packet that departs.
    #[inline]
    fn choose(&self, packet: Waiting, source: Source, ecn: Ecn, cx: &mut PacketCx<'_>) -> Choice {
        let Self { constants, control, .. } = self;
        let coupled = constants.coupled(control.probability);
        let overloaded = coupled > ONE;
        // with the packet itself
        let is_short = self.bytes() + u64::from(packet.size_bytes) < 2 * constants.packet;
        let Source::Scalable { step_applies } = source else {
            return match !is_short && control.chooses_classic(cx.random) {
                false => Choice::Keep,
                true if overloaded || ecn == Ecn::NotCapable => Choice::Drop,
                true => Choice::Mark,
            };
        };
        if overloaded && !is_short && constants.drop_overload && control.chooses_classic(cx.random) {
            return Choice::Drop;
        }
        let native = if step_applies { constants.native((cx.now - packet.since).as_nanos()) } else { 0 };
        let coupled = if is_short { 0 } else { coupled };
        // p_L = max(p'_L, p_CL)                                                            [RFC 9332 §A.1, dequeue]
        match native.max(coupled) {
            0 => Choice::Keep,
            certain if certain >= ONE => Choice::Mark,
            likely if cx.random.below(ONE) < likely => Choice::Mark,
            _ => Choice::Keep,
        }
    }

    /// Marks or drops a packet that departs, if that is the choice. Returns whether it leaves.
    #[inline]
    fn leaves(&self, packet: Waiting, source: Source, cx: &mut PacketCx<'_>) -> bool {
        let ecn = cx.arena.get(packet.packet).ecn;
        match self.choose(packet, source, ecn, cx) {
            Choice::Keep => {}
            Choice::Mark => {
                // a packet that is marked already is not marked again
                cx.marked += u64::from(ecn.is_unmarked());
                cx.arena.get_mut(packet.packet).ecn = Ecn::Marked;
            }
            Choice::Drop => {
                cx.dropped.push((packet.packet, DropReason::Early));
                return false;
            }
        }
        true
    }
}

impl QueueDiscipline for Dualpi2 {
    #[inline]
    fn enqueue(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> Verdict {
        let header = cx.arena.get(packet);
        let (size_bytes, ecn) = (header.size_bytes, header.ecn);
        self.control.catch_up(&self.constants, cx.now, self.heads());
        let waiting = self.classic.len() + self.scalable.len();
        if !self.limit.admits(waiting, self.bytes(), u64::from(size_bytes)) {
            return Verdict::Drop(DropReason::QueueFull);
        }
        let line = match is_scalable(ecn) {
            true => {
                if self.constants.min_qlen_step > 0 {
                    self.step_applies.push_back(self.scalable.len() >= self.constants.min_qlen_step);
                }
                &mut self.scalable
            }
            false => &mut self.classic,
        };
        line.push(Waiting { packet, size_bytes, since: cx.now });
        Verdict::Pass
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut PacketCx<'_>) -> Option<PacketId> {
        self.control.catch_up(&self.constants, cx.now, self.heads());
        loop {
            let (first, source) = self.take()?;
            if self.leaves(first, source, cx) {
                return Some(first.packet);
            }
        }
    }

    #[inline(never)]
    fn transit(
        &mut self,
        packet: PacketId,
        _idle_since: Option<Time>,
        cx: &mut PacketCx<'_>,
    ) -> (Verdict, Option<PacketId>) {
        // the updates since the link became idle have the same inputs before and after that time
        self.control.catch_up(&self.constants, cx.now, [None, None]);
        self.credit = self.constants.first_credit();
        let header = cx.arena.get(packet);
        let (size_bytes, ecn) = (header.size_bytes, header.ecn);
        if !self.limit.admits(0, 0, u64::from(size_bytes)) {
            return (Verdict::Drop(DropReason::QueueFull), None);
        }
        if !is_scalable(ecn) && u64::from(size_bytes) < 2 * self.constants.packet {
            // less than two packets are neither dropped nor marked
            return (Verdict::Pass, Some(packet));
        }
        // no packet of a scalable flow waits already
        let source = match is_scalable(ecn) {
            true => Source::Scalable { step_applies: self.constants.min_qlen_step == 0 },
            false => Source::Classic,
        };
        let leaves = self.leaves(Waiting { packet, size_bytes, since: cx.now }, source, cx);
        (Verdict::Pass, leaves.then_some(packet))
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.classic.len() + self.scalable.len(), bytes: Bytes::new(self.bytes()) }
    }

    fn drain(&mut self) -> Vec<PacketId> {
        self.credit = self.constants.first_credit();
        self.step_applies.clear();
        self.scalable.drain().chain(self.classic.drain()).collect()
    }

    fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }
}

#[cfg(test)]
#[path = "dualpi2_tests.rs"]
mod tests;
