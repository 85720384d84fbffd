//! FQ: a queue for each flow, served by deficit round robin with priority for new flows, without pacing
//! [Linux, net/sched/sch_fq.c with `nopacing`].
//!
//! Flows never share a queue, as sockets of a host do not. Left out are pacing, marks by a threshold of the delay (off
//! by default) and the removal of queues that were idle for three seconds, which applies from 2048 flows on.

use contract::{Backlog, DropReason, PacketCx, PacketId, QueueDiscipline, QueueLimit, Verdict};
use units::{Bytes, Duration, Time};

use super::ActiveQueue;
use super::flows::Flows;
use super::waiting::Waiting;

contract::params! {
    /// Bytes that a flow may send per round.
    quantum: Bytes = Bytes::new(3028), within "256 B"..="1 MB", from "Linux: two MTUs with the Ethernet header";
    /// Bytes that a flow may send in its first round.
    initial_quantum: Bytes = Bytes::new(15_140), within "1 B"..="10 MB", from "Linux: ten MTUs with the Ethernet header";
    /// Packets that may wait per flow, within the limit of the queue.
    flow_limit: u32 = 100, from "Linux: 100";
    /// A flow that had no packet for longer has at least a quantum at its next packet.
    refill_delay: Duration = Duration::from_millis(40), within "0 s"..="1000 s", from "Linux: 40 ms";
}

/// The queue of a port.
#[derive(Debug)]
pub struct Fq {
    quantum: i64,
    initial_quantum: i64,
    flow_limit: u32,
    refill_delay: Duration,
    limit: QueueLimit,
    /// With the time at which each flow left the lists.
    flows: Flows<Time>,
}

impl ActiveQueue for Fq {
    const TITLE: &'static str =
        "FQ (Linux, sch_fq without pacing): fair queueing of flows; new flows are served first.";
    type Params = Params;

    fn new(params: &Params, limit: QueueLimit) -> Self {
        Self {
            quantum: params.quantum.as_u64() as i64,
            initial_quantum: params.initial_quantum.as_u64() as i64,
            flow_limit: params.flow_limit,
            refill_delay: params.refill_delay,
            limit,
            flows: Flows::default(),
        }
    }

    fn can_mark(_params: &Params) -> bool {
        false
    }
}

impl Fq {
    /// The number of the queue that an arriving packet may join, and the size of the packet; `None` if it does not fit.
    #[inline(always)]
    fn admit(&mut self, packet: PacketId, cx: &PacketCx<'_>) -> Option<(usize, u32)> {
        let header = cx.arena.get(packet);
        let (flow, size_bytes) = (header.flow.0, header.size_bytes);
        if !self.flows.has_room(&self.limit, size_bytes) {
            return None;
        }
        // the messages of an SDN controller have the last number; they get the first bucket
        let bucket = flow.wrapping_add(1) as usize;
        let number = self.flows.of_bucket(bucket, self.initial_quantum, || cx.now);
        let queue = self.flows.get_mut(number);
        if queue.line.len() >= self.flow_limit {
            return None;
        }
        Some((number, size_bytes))
    }

    /// Gives a quantum to the queue with this number if it left the lists long ago.
    #[inline(always)]
    fn refill(&mut self, number: usize, now: Time) {
        let queue = self.flows.get_mut(number);
        if now > queue.state + self.refill_delay {
            queue.credit = queue.credit.max(self.quantum);
        }
    }
}

impl QueueDiscipline for Fq {
    #[inline]
    fn enqueue(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> Verdict {
        let Some((number, size_bytes)) = self.admit(packet, cx) else {
            return Verdict::Drop(DropReason::QueueFull);
        };
        if !self.flows.get_mut(number).listed {
            self.refill(number, cx.now);
        }
        self.flows.push(number, Waiting { packet, size_bytes, since: cx.now });
        Verdict::Pass
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut PacketCx<'_>) -> Option<PacketId> {
        loop {
            let turn = self.flows.turn(self.quantum)?;
            let Some(first) = self.flows.take(turn.flow, |line, _, _| line.pop()) else {
                if self.flows.pass(turn) {
                    self.flows.get_mut(turn.flow).state = cx.now;
                }
                continue;
            };
            self.flows.get_mut(turn.flow).credit -= i64::from(first.size_bytes);
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
        if let (Some((number, size_bytes)), Some(at)) = (admitted, idle_since)
            && self.flows.is_only_new(number)
        {
            // it has left the lists, and is the last new one again
            let queue = self.flows.get_mut(number);
            while queue.credit <= 0 {
                queue.credit += self.quantum;
            }
            queue.state = at;
            self.refill(number, cx.now);
            self.flows.get_mut(number).credit -= i64::from(size_bytes);
            return (Verdict::Pass, Some(packet));
        }
        if let Some(at) = idle_since {
            self.flows.retire_all(self.quantum, |left_at| *left_at = at);
        }
        let Some((number, size_bytes)) = admitted else {
            return (Verdict::Drop(DropReason::QueueFull), None);
        };
        self.refill(number, cx.now);
        self.flows.pass_through(number, self.quantum, size_bytes);
        (Verdict::Pass, Some(packet))
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn drain(&mut self) -> Vec<PacketId> {
        let credit = self.initial_quantum;
        self.flows.drain(|flow| flow.credit = credit)
    }

    fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{self, Link};

    const FULL: Verdict = Verdict::Drop(DropReason::QueueFull);

    fn link(change: impl FnOnce(&mut Params)) -> Link<Fq> {
        let mut params = Params::default();
        change(&mut params);
        Link::new(Fq::new(&params, testing::packets(10_000)))
    }

    #[test]
    fn a_new_flow_sends_its_initial_quantum_then_a_quantum_per_round() {
        let mut link = link(|_| {});
        link.offer_many(0, 1514, 20);
        link.offer_many(1, 1514, 20);
        // 15140 / 1514 = 10 packets each; then 3028 / 1514 = 2
        assert_eq!(link.served(20), [[0; 10], [1; 10]].concat());
        assert_eq!(link.served(8), [0, 0, 1, 1, 0, 0, 1, 1]);
        // a flow that begins now is served before them; then it is behind flow 0, and flow 1, whose turn was over,
        // behind it
        link.offer_many(2, 1514, 11);
        assert_eq!(link.served(14), [[2; 10].as_slice(), &[0, 0, 2, 1]].concat());
    }

    #[test]
    fn a_flow_has_its_quantum_again_after_a_pause() {
        for (pause_ms, credit) in [(40, 28), (41, 3028)] {
            let mut link = link(|params| params.initial_quantum = Bytes::new(1028));
            link.offer_many(0, 1000, 1);
            assert_eq!(link.served(1), [0]);
            // 28 bytes are left; it leaves the lists at this instant
            assert!(link.serve().is_none());
            link.at_ms(pause_ms);
            link.offer_many(0, 1000, 1);
            assert_eq!(link.queue.flows.get_mut(0).credit, credit, "{pause_ms} ms");
        }
    }

    #[test]
    fn limits_hold_for_a_flow_and_for_all() {
        let mut link = link(|params| params.flow_limit = 3);
        link.queue.set_limit(testing::packets(5));
        link.offer_many(0, 1000, 3);
        assert_eq!(link.offer(0, 1000), FULL);
        link.offer_many(1, 1000, 2);
        assert_eq!(link.offer(1, 1000), FULL);
        link.queue.set_limit(testing::bytes(5500));
        assert_eq!((link.offer(1, 501), link.offer(1, 500)), (FULL, Verdict::Pass));
        assert_eq!(link.queue.backlog(), Backlog { packets: 6, bytes: Bytes::new(5500) });
        // flow 1 sends as much as flow 0
        assert_eq!(link.served(9), [0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn messages_of_a_controller_are_a_flow() {
        let mut link = link(|_| {});
        link.offer_many(7, 1514, 11);
        link.offer_many(u32::MAX, 100, 1);
        assert_eq!(link.served(12), [[7; 10].as_slice(), &[u32::MAX, 7]].concat());
    }
}
