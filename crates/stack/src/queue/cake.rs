//! CAKE's flow isolation: flows are hashed to sets of eight queues with COBALT each, served by deficit round robin with
//! priority for new flows [HTM18: Høiland-Jørgensen, Täht and Morton, *Piece of CAKE: A Comprehensive Queue Management
//! Solution for Home Gateways*, 2018; Linux, net/sched/sch_cake.c with `besteffort flows`].
//!
//! COBALT is CoDel, whose count of drops decays while the queue is good, beside BLUE, which drops packets of flows that
//! fill the queue in spite of CoDel. A queue with packets of one flow is not given to another, so that flows share a
//! queue only if the eight of their set are in use.
//!
//! Left out are the shaper, traffic classes, isolation of hosts and the filter of acknowledgements. Linux decays the
//! state of an empty queue whenever it serves one, at least each `target`; here that is made up for at the next packet.

use contract::{Backlog, DropReason, Ecn, PacketCx, PacketId, QueueDiscipline, QueueLimit, Random, Verdict};
use units::{Bytes, Duration, Time};

use super::ActiveQueue;
use super::flows::{Flows, hash};
use super::waiting::Waiting;

contract::params! {
    /// Acceptable standing queueing delay.
    target: Duration = Duration::from_millis(5), within "1 ns"..="1000 s", from "Linux: 5 ms";
    /// About the maximum usual round-trip time: how long the delay may exceed `target` before COBALT acts.
    interval: Duration = Duration::from_millis(100), within "1 ns"..="1000 s", from "Linux: 100 ms (rtt)";
    /// Bytes that a flow may send per round.
    quantum: Bytes = Bytes::new(1514), within "256 B"..="1 MB", from "Linux: 1514 B without a shaper";
    /// Mark ECT packets instead of dropping them, except for drops by BLUE.
    mark: bool = true, from "HTM18 §III; Linux: always";
}

/// The queue of a port.
#[derive(Debug)]
pub struct Cake {
    settings: Settings,
    quantum: i64,
    limit: QueueLimit,
    flows: Flows<State>,
    /// The hash of the flow for which each queue is reserved.
    tags: Vec<u32>,
    perturbation: Option<u64>,
}

/// The parameters of COBALT.
#[derive(Debug)]
struct Settings {
    target: Duration,
    interval: Duration,
    mark: bool,
}

/// The state of COBALT, of one queue.
#[derive(Clone, Debug, Default)]
struct State {
    /// The frequency of drops by CoDel: their time is `interval` / √`count`.
    count: u32,
    /// When the next drop is due, or the next decay of the count; without a count, when the queue is at rest.
    next: Time,
    dropping: bool,
    /// BLUE's probability of a drop, with 32 binary places, and when it changed.
    probability: u32,
    changed: Time,
}

/// Queues of a link.
const QUEUES: usize = 1024;
/// Queues of a set.
const WAYS: usize = 8;
/// Steps of BLUE's probability: 1/256 up, 1/4096 down.
const UP: u32 = 1 << 24;
const DOWN: u32 = 1 << 20;

impl ActiveQueue for Cake {
    const TITLE: &'static str = "CAKE without its shaper (Linux, sch_cake): fair queueing of flows in a set-associative table, COBALT for each.";
    type Params = Params;

    fn new(params: &Params, limit: QueueLimit) -> Self {
        Self {
            settings: Settings { target: params.target, interval: params.interval, mark: params.mark },
            quantum: params.quantum.as_u64() as i64,
            limit,
            flows: Flows::default(),
            tags: vec![0; QUEUES],
            perturbation: None,
        }
    }

    fn can_mark(params: &Params) -> bool {
        params.mark
    }
}

impl State {
    /// The packet at the head was dropped because the queue is full.
    fn note_full(&mut self, settings: &Settings, now: Time) {
        if now - self.changed > settings.target {
            self.probability = self.probability.saturating_add(UP);
            self.changed = now;
        }
        self.dropping = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    /// The queue was to be served and is empty.
    fn note_empty(&mut self, settings: &Settings, now: Time) {
        self.dropping = false;
        if self.probability > 0 && now - self.changed > settings.target {
            self.probability = self.probability.saturating_sub(DOWN);
            self.changed = now;
        }
        self.decay(settings, now);
    }

    /// The state of a queue that has been empty until now.
    fn reset_after_idle(&mut self, settings: &Settings, now: Time) {
        let target = settings.target.as_nanos();
        let steps = (now - self.changed).as_nanos() / target;
        if self.probability > 0 && steps > 0 {
            let down = u64::from(DOWN).saturating_mul(steps);
            self.probability = u64::from(self.probability).saturating_sub(down) as u32;
            self.changed += Duration::from_nanos(steps * target);
        }
        self.decay(settings, now);
    }

    /// Decreases the count for each interval without a drop.
    fn decay(&mut self, settings: &Settings, now: Time) {
        while self.count > 0 && now >= self.next {
            self.count -= 1;
            self.next += settings.interval.over_sqrt(self.count);
        }
    }

    /// Whether nothing is remembered of a queue that is empty.
    fn is_at_rest(&self, now: Time) -> bool {
        self.probability == 0 && self.count == 0 && now >= self.next
    }

    /// Decides about a packet that leaves: whether to drop it. `ecn` is marked instead if it can be.
    fn drops(
        &mut self,
        settings: &Settings,
        now: Time,
        since: Time,
        ecn: &mut Ecn,
        random: &mut Random,
    ) -> bool {
        let due = self.count > 0 && now >= self.next;
        let mut late = now > self.next;
        let mut drop = false;
        if now - since > settings.target {
            if !self.dropping {
                self.dropping = true;
                self.next = now + settings.interval.over_sqrt(self.count);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        if due && self.dropping {
            if settings.mark && *ecn != Ecn::NotCapable {
                *ecn = Ecn::Marked;
            } else {
                drop = true;
            }
            self.count = self.count.saturating_add(1);
            self.next += settings.interval.over_sqrt(self.count);
            late = now > self.next;
        } else if due {
            self.decay(settings, now);
            late = now > self.next;
        }
        if self.probability > 0 {
            drop |= (random.bits() >> 32) < u64::from(self.probability);
        }
        if self.count == 0 {
            self.next = now + settings.interval;
        } else if late && !drop {
            self.next = now;
        }
        drop
    }
}

impl State {
    /// Decides about a packet that leaves and has not waited: it is below the target, so that it is not marked, and the
    /// last one of a queue is not dropped.
    #[inline]
    fn pass(&mut self, settings: &Settings, now: Time, random: &mut Random) {
        if self.count == 0 && self.probability == 0 {
            self.dropping = false;
            self.next = now + settings.interval;
            return;
        }
        let _ = self.drops(settings, now, now, &mut Ecn::NotCapable, random);
    }
}

impl Cake {
    /// The queue for a flow with this hash: the one that is reserved for it, or one of its set that is not in use, or
    /// the one that the hash selects.
    #[inline]
    fn bucket(&mut self, hash: u32, now: Time) -> usize {
        let home = hash as usize % QUEUES;
        if self.tags[home] == hash { home } else { self.other_bucket(hash, home, now) }
    }

    fn other_bucket(&mut self, hash: u32, home: usize, now: Time) -> usize {
        let (way, set) = (home % WAYS, home - home % WAYS);
        let mut candidates = (0..WAYS).map(|number| set + (way + number) % WAYS);
        let reserved = candidates.clone().find(|&bucket| self.tags[bucket] == hash);
        let bucket =
            reserved.or_else(|| candidates.find(|&bucket| !self.is_used(bucket, now))).unwrap_or(home);
        self.tags[bucket] = hash;
        bucket
    }

    fn is_used(&mut self, bucket: usize, now: Time) -> bool {
        let Some(number) = self.flows.find(bucket) else { return false };
        let queue = self.flows.get_mut(number);
        if !queue.listed {
            queue.state.reset_after_idle(&self.settings, now);
        }
        queue.listed || !queue.state.is_at_rest(now)
    }

    /// The number of the queue that an arriving packet joins, with its credit, and the size of the packet; `None` if it
    /// can never fit.
    #[inline(always)]
    fn admit(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> Option<(usize, u32)> {
        let header = cx.arena.get(packet);
        let (flow, size_bytes) = (header.flow.0, header.size_bytes);
        if !self.limit.admits(0, 0, u64::from(size_bytes)) {
            return None;
        }
        let perturbation = *self.perturbation.get_or_insert_with(|| cx.random.bits());
        let bucket = self.bucket(hash(flow, perturbation), cx.now);
        let number = self.flows.of_bucket(bucket, 0, State::default);
        let queue = self.flows.get_mut(number);
        if !queue.listed {
            queue.credit = self.quantum;
            queue.state.reset_after_idle(&self.settings, cx.now);
        }
        Some((number, size_bytes))
    }

    /// Drops the first packet of the longest queue.
    #[cold]
    fn drop_from_fattest(&mut self, cx: &mut PacketCx<'_>) {
        let Some(fattest) = self.flows.fattest() else { return };
        self.flows.take(fattest, |line, _, state| {
            state.note_full(&self.settings, cx.now);
            cx.dropped.extend(line.pop().map(|first| (first.packet, DropReason::QueueFull)));
        });
    }
}

impl QueueDiscipline for Cake {
    #[inline]
    fn enqueue(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> Verdict {
        let Some((number, size_bytes)) = self.admit(packet, cx) else {
            return Verdict::Drop(DropReason::QueueFull);
        };
        self.flows.push(number, Waiting { packet, size_bytes, since: cx.now });
        while self.flows.is_above(&self.limit) {
            self.drop_from_fattest(cx);
        }
        Verdict::Pass
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut PacketCx<'_>) -> Option<PacketId> {
        let Self { settings, flows, quantum, .. } = self;
        let PacketCx { now, random, arena, dropped, marked, .. } = cx;
        if flows.backlog().packets == 0 {
            return None;
        }
        loop {
            let turn = flows.turn(*quantum)?;
            let first = flows.take(turn.flow, |line, _, state| {
                loop {
                    let Some(first) = line.pop() else {
                        state.note_empty(settings, *now);
                        return None;
                    };
                    let ecn = &mut arena.get_mut(first.packet).ecn;
                    let before = *ecn;
                    let drops = state.drops(settings, *now, first.since, ecn, random);
                    // the last packet of a queue may be marked, and is not dropped
                    if !drops || line.len() == 0 {
                        *marked += u64::from(before.is_unmarked() && *ecn == Ecn::Marked);
                        return Some(first);
                    }
                    dropped.push((first.packet, DropReason::Early));
                }
            });
            let Some(first) = first else {
                flows.retire(turn);
                continue;
            };
            flows.get_mut(turn.flow).credit -= i64::from(first.size_bytes);
            return Some(first.packet);
        }
    }

    #[inline(never)]
    fn transit(
        &mut self,
        packet: PacketId,
        _idle_since: Option<Time>,
        cx: &mut PacketCx<'_>,
    ) -> (Verdict, Option<PacketId>) {
        // an empty queue is not served, so that flows stay listed
        let Some((number, size_bytes)) = self.admit(packet, cx) else {
            return (Verdict::Drop(DropReason::QueueFull), None);
        };
        let Self { settings, flows, quantum, .. } = self;
        if flows.serve_alone(number, *quantum, size_bytes) {
            flows.get_mut(number).state.pass(settings, cx.now, cx.random);
            return (Verdict::Pass, Some(packet));
        }
        flows.list(number);
        while let Some(turn) = flows.turn(*quantum) {
            let flow = flows.get_mut(turn.flow);
            if turn.flow == number {
                flow.state.pass(settings, cx.now, cx.random);
                flow.credit -= i64::from(size_bytes);
                break;
            }
            flow.state.note_empty(settings, cx.now);
            flows.retire(turn);
        }
        (Verdict::Pass, Some(packet))
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn drain(&mut self) -> Vec<PacketId> {
        self.flows.drain(|flow| flow.state.dropping = false)
    }

    fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }
}

#[cfg(test)]
#[path = "cake_tests.rs"]
mod tests;
