//! Queues that are not one plain FIFO. That one is the port's own, in `sim`.

mod codel;
mod round_robin;

use contract::{Backlog, PacketCx, PacketId, QueueDiscipline, Verdict};

pub use codel::{Codel, CodelConfig, CodelLimit};
pub use round_robin::{ClassLimit, RoundRobin};

/// Any of them.
#[derive(Debug)]
pub enum Any {
    /// One FIFO that drops or marks by the time that packets wait.
    Codel(Codel),
    /// Classes, each a FIFO.
    RoundRobin(RoundRobin),
}

impl Any {
    /// Changes how much may wait; in each class, where there are several. What waits already stays. Marking from a number of packets on
    /// is nothing that CoDel knows.
    pub fn set_limit(&mut self, limit: ClassLimit) {
        match self {
            Self::Codel(queue) => queue.set_limit(CodelLimit { packets: limit.packets, bytes: limit.bytes }),
            Self::RoundRobin(queue) => queue.set_limit(limit),
        }
    }
}

impl QueueDiscipline for Any {
    #[inline]
    fn enqueue(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> Verdict {
        match self {
            Self::Codel(queue) => queue.enqueue(packet, cx),
            Self::RoundRobin(queue) => queue.enqueue(packet, cx),
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut PacketCx<'_>) -> Option<PacketId> {
        match self {
            Self::Codel(queue) => queue.dequeue(cx),
            Self::RoundRobin(queue) => queue.dequeue(cx),
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        match self {
            Self::Codel(queue) => queue.backlog(),
            Self::RoundRobin(queue) => queue.backlog(),
        }
    }

    fn drain(&mut self) -> Vec<PacketId> {
        match self {
            Self::Codel(queue) => queue.drain(),
            Self::RoundRobin(queue) => queue.drain(),
        }
    }
}
