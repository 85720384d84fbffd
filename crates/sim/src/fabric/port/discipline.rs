//! Queue disciplines of ports, with what waits in them and when they are served next.

use contract::{Arena, Backlog, DropReason, PacketCx, PacketId, QueueDiscipline, Random};
use stack::queue::{AnyQueue, RoundRobin};
use units::{Duration, Rate, Time};

use super::counters::WaitTimes;
use crate::PortSpec;

/// Any queue except a plain FIFO.
pub(in crate::fabric) struct Discipline {
    pub(super) queue: AnyQueue,
    /// What waits in the queue.
    pub(super) backlog: Backlog,
    random: Random,
    /// When the queue is served next: at the end of the transmission, or at the next opportunity of the link's trace;
    /// [`Time::NEVER`] while nothing waits and the link is idle.
    pub(super) next: Time,
    /// Each service has an event at its instant, because a router may look at the port meanwhile, or because no arrival
    /// follows from the one before.
    pub(super) prompt: bool,
    /// When the pending event is due; any other is stale.
    pub(super) armed: Time,
    /// The backlog integral is computed up to this time.
    counted_to: Time,
}

impl Discipline {
    /// The empty queue of a port, with the random stream of `path`; `None` for a plain FIFO.
    pub(in crate::fabric) fn of(
        spec: &PortSpec,
        random: impl FnOnce() -> Random,
        class_of_flow: &[u8],
    ) -> Option<Box<Self>> {
        let (limit, weights) = (spec.queue.limit(), &spec.queue.class_weights);
        let queue = match &spec.queue.discipline {
            Some(discipline) => discipline.build(limit),
            None if weights.is_empty() => return None,
            None => AnyQueue::RoundRobin(RoundRobin::new(weights, class_of_flow.to_vec(), limit)),
        };
        Some(Box::new(Self {
            queue,
            backlog: Backlog::default(),
            random: random(),
            next: Time::NEVER,
            prompt: spec.trace.is_some(),
            armed: Time::NEVER,
            counted_to: Time::ZERO,
        }))
    }

    /// The queue, and the context of a call of it.
    #[inline(always)]
    pub(super) fn queue_and_context<'a>(
        &'a mut self,
        now: Time,
        rate: Rate,
        arena: &'a mut Arena,
        dropped: &'a mut Dropped,
    ) -> (&'a mut AnyQueue, PacketCx<'a>) {
        (&mut self.queue, PacketCx { now, rate, random: &mut self.random, arena, dropped, marked: 0 })
    }

    /// Updates the backlog integral.
    #[inline(always)]
    pub(super) fn count_backlog(&mut self, now: Time, waits: &mut WaitTimes, backlog_max: &mut u32) {
        let span = now - std::mem::replace(&mut self.counted_to, now);
        if span > Duration::ZERO && self.backlog.packets > 0 {
            waits.count_backlog(span, self.backlog);
            *backlog_max = self.backlog.packets.max(*backlog_max);
        }
    }

    /// Removes and returns all packets, because the link fails.
    pub(super) fn drain(&mut self) -> Vec<PacketId> {
        (self.next, self.backlog) = (Time::NEVER, Backlog::default());
        self.queue.drain()
    }
}

/// Packets that a discipline dropped from inside its queue.
pub(in crate::fabric) type Dropped = Vec<(PacketId, DropReason)>;
