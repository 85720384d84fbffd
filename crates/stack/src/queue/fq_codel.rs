//! FQ-CoDel: flows are hashed to queues with CoDel each, which are served by deficit round robin with priority for new
//! flows [RFC 8290; Linux, net/sched/sch_fq_codel.c].
//!
//! RFC 8290 hashes addresses and ports. Here a flow is what [`contract::FlowId`] numbers. Data and acknowledgements of
//! a connection cross a link in different directions, so that they never share a queue. The reports of all receivers of
//! a group are one flow. Interests, NACKs and Data belong to the consumer whose Interest a forwarder sends or answers.

use contract::{Backlog, DropReason, PacketCx, PacketId, QueueDiscipline, QueueLimit, Verdict};
use units::{Bytes, Duration, Time};

use super::ActiveQueue;
use super::codel::{Like, Settings, State};
use super::flows::{Flows, hash};
use super::waiting::Waiting;

contract::params! {
    /// TARGET of CoDel, the acceptable standing queueing delay.
    target: Duration = Duration::from_millis(5), within "1 ns"..="1000 s", from "RFC8290 §5.2; Linux: 5 ms";
    /// INTERVAL of CoDel, about the maximum usual round-trip time.
    interval: Duration = Duration::from_millis(100), within "1 ns"..="1000 s", from "RFC8290 §5.2; Linux: 100 ms";
    /// Queues to which flows are hashed.
    flows: u32 = 1024, within 1..=65536, from "RFC8290 §5.2; Linux: 1024";
    /// Bytes that a queue may send per round.
    quantum: Bytes = Bytes::new(1514), within "256 B"..="1 MB", from "RFC8290 §5.2; Linux: the MTU with the Ethernet header";
    /// When the limit is exceeded: the largest number of packets to drop at once. At most half of the bytes of the
    /// longest queue are dropped.
    drop_batch: u32 = 64, within 1..=1000000, from "RFC8290 §4.1; Linux: 64";
    /// Mark ECT packets instead of dropping them.
    mark: bool = true, from "RFC8290 §5.2; Linux: true";
    /// Whose details of CoDel apply where RFC 8289 and Linux differ.
    like: Like = Like::Rfc, from "our choice: the specification";
}

/// The queue of a port.
#[derive(Debug)]
pub struct FqCodel {
    settings: Settings,
    buckets: u64,
    quantum: i64,
    drop_batch: u32,
    limit: QueueLimit,
    flows: Flows<State>,
    /// What hashes differ by from one link and seed to another; drawn for the first packet.
    perturbation: Option<u64>,
}

impl ActiveQueue for FqCodel {
    const TITLE: &'static str =
        "FQ-CoDel (RFC 8290): fair queueing of flows, with CoDel for each; new flows are served first.";
    type Params = Params;

    fn new(params: &Params, limit: QueueLimit) -> Self {
        Self {
            settings: Settings::new(params.target, params.interval, params.mark, params.like),
            buckets: u64::from(params.flows),
            quantum: params.quantum.as_u64() as i64,
            drop_batch: params.drop_batch,
            limit,
            flows: Flows::default(),
            perturbation: None,
        }
    }

    fn can_mark(params: &Params) -> bool {
        params.mark
    }
}

impl FqCodel {
    /// The number of the queue that an arriving packet joins, and the size of the packet; `None` if it can never fit.
    #[inline(always)]
    fn admit(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> Option<(usize, u32)> {
        let header = cx.arena.get(packet);
        let (flow, size_bytes) = (header.flow.0, header.size_bytes);
        if self.limit.packets == 0 || u64::from(size_bytes) > self.limit.bytes.as_u64() {
            return None;
        }
        let perturbation = *self.perturbation.get_or_insert_with(|| cx.random.bits());
        let bucket = bucket(flow, perturbation, self.buckets);
        let number = self.flows.of_bucket(bucket, 0, State::default);
        self.settings.note_size(size_bytes);
        Some((number, size_bytes))
    }

    /// Drops packets from the head of the longest queue: half of its bytes, but no more packets than `drop_batch`.
    #[cold]
    fn drop_from_fattest(&mut self, cx: &mut PacketCx<'_>) {
        let Some(fattest) = self.flows.fattest() else { return };
        let batch = self.drop_batch;
        self.flows.take(fattest, |line, _, state| {
            let (length, half) = (line.bytes(), line.bytes() / 2);
            let mut dropped = 0;
            while dropped < batch
                && (dropped == 0 || length - line.bytes() < half)
                && let Some(first) = line.pop()
            {
                cx.dropped.push((first.packet, DropReason::QueueFull));
                dropped += 1;
            }
            // these drops count as CoDel's own                                                [Linux, fq_codel_drop]
            state.note_overflow(dropped);
        });
    }
}

/// The bucket of a flow, of `buckets`.
#[inline]
fn bucket(flow: u32, perturbation: u64, buckets: u64) -> usize {
    // a multiplication in place of a division, as in Linux (reciprocal_scale)
    ((u64::from(hash(flow, perturbation)) * buckets) >> 32) as usize
}

impl QueueDiscipline for FqCodel {
    #[inline]
    fn enqueue(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> Verdict {
        let Some((number, size_bytes)) = self.admit(packet, cx) else {
            return Verdict::Drop(DropReason::QueueFull);
        };
        let queue = self.flows.get_mut(number);
        if !queue.listed {
            queue.credit = self.quantum;
        }
        self.flows.push(number, Waiting { packet, size_bytes, since: cx.now });
        while self.flows.is_above(&self.limit) {
            self.drop_from_fattest(cx);
        }
        Verdict::Pass
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut PacketCx<'_>) -> Option<PacketId> {
        let Self { settings, flows, quantum, .. } = self;
        loop {
            let turn = flows.turn(*quantum)?;
            // CoDel does not drop while at most "one packet" waits for the whole link, as in Linux
            let first =
                flows.take(turn.flow, |line, others, state| state.dequeue(settings, line, others, cx));
            let Some(first) = first else {
                flows.pass(turn);
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
        idle_since: Option<Time>,
        cx: &mut PacketCx<'_>,
    ) -> (Verdict, Option<PacketId>) {
        let admitted = self.admit(packet, cx);
        if let Some((number, size_bytes)) = admitted
            && self.flows.is_only_new(number)
        {
            // it has left the lists, and is the last new one again
            let queue = self.flows.get_mut(number);
            queue.credit = self.quantum - i64::from(size_bytes);
            queue.state.note_drained();
            return (Verdict::Pass, Some(packet));
        }
        if idle_since.is_some() {
            self.flows.retire_all(self.quantum, State::note_drained);
        }
        let Some((number, size_bytes)) = admitted else {
            return (Verdict::Drop(DropReason::QueueFull), None);
        };
        let queue = self.flows.get_mut(number);
        queue.credit = self.quantum;
        // a packet that does not wait is below the target
        queue.state.note_drained();
        self.flows.pass_through(number, self.quantum, size_bytes);
        (Verdict::Pass, Some(packet))
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn drain(&mut self) -> Vec<PacketId> {
        self.flows.drain(|flow| flow.state.note_drained())
    }

    fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }
}

#[cfg(test)]
#[path = "fq_codel_tests.rs"]
mod tests;
