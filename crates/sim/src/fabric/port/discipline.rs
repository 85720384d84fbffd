//! Ports with a queue discipline, which decides at each departure.

use contract::{Arena, DropReason, PacketCx, PacketId, QueueDiscipline, Random};
use stack::queue::{AnyQueue, RoundRobin};
use units::{Rate, Time};

use super::{Cold, Offer, Port};
use crate::PortSpec;
use crate::fabric::ring::{Slot, Spare};

/// Any queue except a plain FIFO.
pub(in crate::fabric) struct Discipline {
    pub(super) queue: AnyQueue,
    random: Random,
    /// Drops from inside the queue, which the engine takes.
    dropped: Vec<(PacketId, DropReason)>,
    /// The packet in transmission.
    pub(super) serving: Option<Slot>,
    /// When the link can transmit the next packet, by the trace of its rate; [`Time::NEVER`] if no event is pending for it.
    pub(super) opens_at: Time,
    /// The backlog integral is computed up to this time.
    counted_to: Time,
}

impl Discipline {
    /// The empty queue of a port, with the random stream of `path`; `None` for a plain FIFO.
    pub(in crate::fabric) fn of(
        spec: &PortSpec,
        seed: u64,
        path: &str,
        class_of_flow: &[u8],
    ) -> Option<Box<Self>> {
        let (limit, weights) = (spec.queue.limit(), &spec.queue.class_weights);
        let queue = match &spec.queue.discipline {
            Some(discipline) => discipline.build(limit),
            None if weights.is_empty() => return None,
            None => AnyQueue::RoundRobin(RoundRobin::new(weights, class_of_flow.to_vec(), limit)),
        };
        let random = Random::new(seed, path, "queue");
        Some(Box::new(Self {
            queue,
            random,
            dropped: Vec::new(),
            serving: None,
            opens_at: Time::NEVER,
            counted_to: Time::ZERO,
        }))
    }
}

impl Port {
    /// Calls `act` with the queue discipline. The second part of the result is the packets that the discipline dropped from inside, which
    /// are counted.
    #[inline(always)]
    pub(in crate::fabric) fn with_discipline<T>(
        &mut self,
        now: Time,
        arena: &mut Arena,
        act: impl FnOnce(&mut AnyQueue, &mut PacketCx<'_>) -> T,
    ) -> (T, Vec<(PacketId, DropReason)>) {
        self.count_backlog(now);
        let rate = self.rate();
        let discipline = self.cold.discipline.as_mut().expect("the port has a discipline");
        let mut cx = PacketCx {
            now,
            rate,
            random: &mut discipline.random,
            arena,
            dropped: &mut discipline.dropped,
            marked: 0,
        };
        let result = act(&mut discipline.queue, &mut cx);
        let (marked, dropped) = (cx.marked, std::mem::take(&mut discipline.dropped));
        self.count_marks(marked);
        dropped.iter().for_each(|(_, why)| self.count_drop(*why));
        (result, dropped)
    }

    /// Whether the discipline may start a transmission.
    pub(in crate::fabric) fn is_idle(&self) -> bool {
        self.cold.discipline.as_ref().is_some_and(|d| d.serving.is_none())
            && self.paths.up
            && self.transmitter.rate != Rate::ZERO
    }

    /// When the idle port can serve by the trace of its rate, if packets wait and that is later than now. Packets that waited before (`resumes`)
    /// can use what is left of an opportunity at this instant.
    #[cold]
    pub(in crate::fabric) fn opening(&mut self, now: Time, resumes: bool) -> Option<Time> {
        let Cold { cursor, discipline, .. } = &mut *self.cold;
        let (cursor, discipline) = (cursor.as_mut()?, discipline.as_mut()?);
        if discipline.queue.backlog().packets == 0 {
            return None;
        }
        let busy_until = self.transmitter.busy_until;
        let start = if resumes { cursor.resume(now, busy_until) } else { cursor.start(now, busy_until) };
        (start > now).then_some(start)
    }

    /// Waits for the instant at which the link can transmit. Returns false if an event is pending for it.
    pub(in crate::fabric) fn wait_until(&mut self, at: Time) -> bool {
        let discipline = self.cold.discipline.as_mut().expect("only ports with a discipline wait");
        std::mem::replace(&mut discipline.opens_at, at) != at
    }

    /// Whether the link can transmit from this instant on, for which the port waited.
    pub(in crate::fabric) fn opens(&mut self, now: Time) -> bool {
        let Some(discipline) = self.cold.discipline.as_mut() else { return false };
        let opens = discipline.opens_at == now;
        if opens {
            discipline.opens_at = Time::NEVER;
        }
        opens
    }

    /// Whether a port whose rate follows a trace has a transmission to begin or to end at this instant, before it takes another packet.
    pub(in crate::fabric) fn is_due(&self, now: Time) -> bool {
        let due = |discipline: &Discipline| {
            discipline.opens_at == now || discipline.serving.is_some_and(|slot| slot.depart == now)
        };
        self.is_traced() && self.cold.discipline.as_ref().is_some_and(|discipline| due(discipline))
    }

    /// Starts the transmission of `packet`, which the discipline returned. Returns when the `Depart` is due.
    pub(in crate::fabric) fn serve(&mut self, now: Time, packet: PacketId, size_bytes: u32) -> Time {
        let size = u64::from(size_bytes);
        let (start, depart) = if self.paths.shaped {
            self.begin_shaped(now, size)
        } else if self.is_traced() {
            (now, self.send_traced(now, size))
        } else {
            (now, self.transmitter.begin(now, size))
        };
        self.counters.count_sent(size);
        if start > now {
            let waiting = self.cold.discipline.as_ref().map_or(0, |d| d.queue.backlog().packets);
            self.waits.count_wait(start - now, size);
            self.fifo.backlog_max = self.fifo.backlog_max.max(waiting + 1);
        }
        let slot = Slot { packet, size_bytes, start, depart, arrive: depart + self.transmitter.delay };
        self.cold.discipline.as_mut().expect("only ports with a discipline serve").serving = Some(slot);
        depart
    }

    /// Ends the transmission that is due now: the packet is on the link. `None` if there is none.
    pub(in crate::fabric) fn finish_serving(&mut self, now: Time, spare: &mut Spare) -> Option<Offer> {
        let discipline = self.cold.discipline.as_mut()?;
        let slot = discipline.serving.take_if(|slot| slot.depart == now)?;
        let more = self.delay_by_trace(now);
        let arrive = self.transmitter.arrival(now, more);
        *self.ring.claim(spare) = Slot { arrive, ..slot };
        self.ring.waiting = self.ring.tail;
        Some(self.arm())
    }

    /// Updates the backlog integral of the discipline.
    pub(in crate::fabric) fn count_backlog(&mut self, now: Time) {
        if self.is_fifo() {
            return;
        }
        let Some(discipline) = self.cold.discipline.as_mut() else { return };
        let span = now - std::mem::replace(&mut discipline.counted_to, now);
        let backlog = discipline.queue.backlog();
        self.waits.count_backlog(span, backlog);
        self.fifo.backlog_max = self.fifo.backlog_max.max(backlog.packets);
    }
}
