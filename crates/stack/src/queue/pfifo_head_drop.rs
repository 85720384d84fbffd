//! Head drop: a FIFO that drops the oldest packets when a packet arrives that does not fit
//! [Linux, pfifo_head_drop in net/sched/sch_fifo.c].
//!
//! A loss at the head is noticed earlier than one at the tail, by the time that the queue takes.

use contract::{Backlog, DropReason, PacketCx, PacketId, QueueDiscipline, QueueLimit, Verdict};
use units::Time;

use super::ActiveQueue;
use super::waiting::{Line, Waiting};

contract::params! {}

/// The queue of a port.
#[derive(Debug)]
pub struct HeadDrop {
    limit: QueueLimit,
    waiting: Line,
}

impl ActiveQueue for HeadDrop {
    const TITLE: &'static str = "Head drop (Linux, pfifo_head_drop): first in, first out; the oldest packets are dropped when one arrives that does not fit.";
    type Params = Params;

    fn new(_params: &Params, limit: QueueLimit) -> Self {
        Self { limit, waiting: Line::default() }
    }

    fn can_mark(_params: &Params) -> bool {
        false
    }
}

impl QueueDiscipline for HeadDrop {
    #[inline]
    fn enqueue(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> Verdict {
        let size_bytes = cx.arena.get(packet).size_bytes;
        if !self.limit.admits(0, 0, u64::from(size_bytes)) {
            return Verdict::Drop(DropReason::QueueFull);
        }
        while !self.waiting.has_room(&self.limit, size_bytes)
            && let Some(first) = self.waiting.pop()
        {
            cx.dropped.push((first.packet, DropReason::QueueFull));
        }
        self.waiting.push(Waiting { packet, size_bytes, since: cx.now });
        Verdict::Pass
    }

    #[inline]
    fn dequeue(&mut self, _cx: &mut PacketCx<'_>) -> Option<PacketId> {
        Some(self.waiting.pop()?.packet)
    }

    #[inline]
    fn transit(
        &mut self,
        packet: PacketId,
        _idle_since: Option<Time>,
        cx: &mut PacketCx<'_>,
    ) -> (Verdict, Option<PacketId>) {
        if !self.limit.admits(0, 0, u64::from(cx.arena.get(packet).size_bytes)) {
            return (Verdict::Drop(DropReason::QueueFull), None);
        }
        (Verdict::Pass, Some(packet))
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn drain(&mut self) -> Vec<PacketId> {
        self.waiting.drain().collect()
    }

    fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{self, Link};

    #[test]
    fn the_oldest_packets_make_room() {
        let mut link = Link::new(HeadDrop::new(&Params::default(), testing::packets(3)));
        for flow in 0..5 {
            assert_eq!(link.offer(flow, 1000), Verdict::Pass);
        }
        assert_eq!(link.dropped, [0, 1].map(|flow| (flow, 1000, DropReason::QueueFull)));
        assert_eq!(link.served(9), [2, 3, 4]);
    }

    #[test]
    fn as_many_bytes_as_it_takes_are_dropped() {
        let mut link = Link::new(HeadDrop::new(&Params::default(), testing::bytes(3000)));
        link.offer_many(0, 500, 6);
        assert_eq!(link.offer(1, 1200), Verdict::Pass);
        assert_eq!(link.dropped, vec![(0, 500, DropReason::QueueFull); 3]);
        assert_eq!(link.offer(2, 3001), Verdict::Drop(DropReason::QueueFull), "it would never fit");
        assert_eq!(link.served(9), [0, 0, 0, 1]);
    }
}
