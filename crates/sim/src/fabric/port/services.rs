//! Ports with a queue discipline, which decides at each departure.
//!
//! A departure needs no event: the discipline is served later, when something happens at the port, as of the instant at
//! which the link became free ([`Port::serve`]). While packets wait, one is in transmission and so on the link, whose
//! arrival is an event: the port is served by then at the latest, and no arrival is late.

use contract::{Arena, DropReason, Ecn, Packet, PacketCx, PacketId, QueueDiscipline, Verdict};
use stack::queue::AnyQueue;
use units::Time;

use super::discipline::Dropped;
use super::{Cold, Offer, Port};
use crate::fabric::offers::{DisciplineOffer, OfferOutcome};
use crate::fabric::ring::Spare;

impl Port {
    /// Calls `act` with the queue discipline. The packets that it drops from inside are counted and added to `dropped`.
    #[inline(always)]
    fn with_discipline<T>(
        &mut self,
        now: Time,
        arena: &mut Arena,
        dropped: &mut Dropped,
        act: impl FnOnce(&mut AnyQueue, &mut PacketCx<'_>) -> T,
    ) -> T {
        let rate = self.rate();
        let Self { cold, waits, fifo, .. } = self;
        let Cold { discipline, drops, marked_packets, .. } = cold.present();
        let discipline = discipline.as_mut().expect("the port has a discipline");
        discipline.count_backlog(now, waits, &mut fifo.backlog_max);
        let before = dropped.len();
        let (queue, mut cx) = discipline.queue_and_context(now, rate, arena, dropped);
        let result = act(queue, &mut cx);
        *marked_packets += cx.marked;
        discipline.backlog = discipline.queue.backlog();
        dropped[before..].iter().for_each(|(_, why)| drops[*why as usize] += 1);
        result
    }

    /// Offers a packet to the discipline and puts on the link what can be sent by now. The rate follows neither a trace
    /// nor a shaper.
    #[inline(always)]
    pub(in crate::fabric) fn offer_to_discipline(
        &mut self,
        now: Time,
        packet: PacketId,
        arena: &mut Arena,
        dropped: &mut Dropped,
        spare: &mut Spare,
    ) -> OfferOutcome {
        self.count_offer();
        let discipline = self.cold.present().discipline.as_deref_mut().expect("the port has a discipline");
        let next = discipline.next;
        if discipline.backlog.packets > 0 || (next > now && next != Time::NEVER) {
            return OfferOutcome::Queued(self.offer_to_busy_discipline(now, packet, arena, dropped, spare));
        }
        // the integral of an empty queue does not change
        let idle_since = (next != Time::NEVER).then_some(next);
        let (queue, mut cx) = discipline.queue_and_context(now, self.transmitter.rate, arena, dropped);
        let (verdict, first) = queue.transit(packet, idle_since, &mut cx);
        let marked = cx.marked;
        if first.is_none() || verdict != Verdict::Pass || marked > 0 {
            let ended = self.end_transit(now, packet, (verdict, first, marked), arena, dropped, spare);
            return OfferOutcome::Queued(ended);
        }
        let size_bytes = arena.get(packet).size_bytes;
        let (depart, arrive) = self.transmitter.send(now, now, u64::from(size_bytes));
        discipline.next = depart;
        self.counters.count_sent(u64::from(size_bytes));
        self.ring.push((packet, size_bytes), (now, depart, arrive), spare);
        self.ring.waiting = self.ring.tail;
        OfferOutcome::PassedThrough(self.arm())
    }

    /// Ends the transit of a packet that is marked or does not leave.
    #[cold]
    fn end_transit(
        &mut self,
        now: Time,
        packet: PacketId,
        (verdict, first, marked): (Verdict, Option<PacketId>, u64),
        arena: &mut Arena,
        dropped: &Dropped,
        spare: &mut Spare,
    ) -> DisciplineOffer {
        self.count_marks(marked);
        dropped.iter().for_each(|(_, why)| self.count_drop(*why));
        arena.get_mut(packet).waited.begin(now);
        let refused = self.judge(verdict, packet, arena);
        let next = first.map(|first| self.transmit(now, first, arena.get_mut(first), spare));
        self.set_next_service(next.unwrap_or(Time::NEVER));
        DisciplineOffer { sent: u64::from(next.is_some()), arrive: self.arm_after_service(spare), refused }
    }

    /// Offers a packet to the discipline when others wait or the link is busy.
    #[inline(never)]
    fn offer_to_busy_discipline(
        &mut self,
        now: Time,
        packet: PacketId,
        arena: &mut Arena,
        dropped: &mut Dropped,
        spare: &mut Spare,
    ) -> DisciplineOffer {
        let mut sent = 0;
        while self.serve(now, arena, dropped, spare).is_some() {
            sent += 1;
        }
        let refused = self.enqueue(now, packet, arena, dropped);
        while self.serve(now, arena, dropped, spare).is_some() {
            sent += 1;
        }
        DisciplineOffer { sent, arrive: self.arm_after_service(spare), refused }
    }

    /// Offers a packet to the discipline, which has been served up to now. If the link is idle, a service is due now.
    /// Returns the reason if the packet is refused.
    #[inline(always)]
    pub(in crate::fabric) fn enqueue(
        &mut self,
        now: Time,
        packet: PacketId,
        arena: &mut Arena,
        dropped: &mut Dropped,
    ) -> Option<DropReason> {
        arena.get_mut(packet).waited.begin(now);
        let verdict = self.with_discipline(now, arena, dropped, |queue, cx| queue.enqueue(packet, cx));
        if self.next_service() == Time::NEVER {
            let opens = if self.paths.traced { self.opening(now, false) } else { None };
            self.set_next_service(opens.unwrap_or(now));
        }
        self.judge(verdict, packet, arena)
    }

    /// Carries out the decision about a packet. Returns the reason if it is refused.
    #[inline(always)]
    fn judge(&mut self, verdict: Verdict, packet: PacketId, arena: &mut Arena) -> Option<DropReason> {
        match verdict {
            Verdict::Pass => None,
            Verdict::Mark => {
                arena.get_mut(packet).ecn = Ecn::Marked;
                self.count_marks(1);
                None
            }
            Verdict::Drop(why) => {
                self.count_drop(why);
                Some(why)
            }
        }
    }

    /// Serves the discipline once, if that is due by `now`, as of the instant at which it was due: the discipline
    /// decides with that time, and the packet is on its way with the times that follow. Returns the packet and that
    /// instant.
    ///
    /// A port is served when something else happens at it: a packet is offered, the last packet on the link arrives,
    /// the link changes, or a record reads its counters. Until then, nothing depends on what waits.
    #[inline(always)]
    pub(in crate::fabric) fn serve(
        &mut self,
        now: Time,
        arena: &mut Arena,
        dropped: &mut Dropped,
        spare: &mut Spare,
    ) -> Option<(PacketId, Time)> {
        let mut at = self.next_service();
        if at > now {
            return None;
        }
        while self.paths.traced
            && let Some(opens) = self.opening(at, true)
        {
            self.set_next_service(opens);
            if opens > now {
                return None;
            }
            at = opens;
        }
        let next = self.with_discipline(at, arena, dropped, |queue, cx| queue.dequeue(cx));
        let Some(packet) = next else {
            self.set_next_service(Time::NEVER);
            return None;
        };
        let depart = self.transmit(at, packet, arena.get_mut(packet), spare);
        self.set_next_service(depart);
        Some((packet, at))
    }

    /// Puts a packet on its way that the discipline returned at `at`. Returns when its last bit leaves.
    #[inline(always)]
    fn transmit(&mut self, at: Time, id: PacketId, packet: &mut Packet, spare: &mut Spare) -> Time {
        let size = u64::from(packet.size_bytes);
        let start = if self.paths.shaped { self.planned_start(at, size) } else { at };
        let (depart, arrive) =
            if self.is_planned() { self.plan(start, size) } else { self.transmitter.send(at, at, size) };
        self.counters.count_sent(size);
        if start > at {
            let waiting = self.cold.discipline.as_ref().map_or(0, |d| d.backlog.packets);
            self.waits.count_wait(start - at, size);
            self.fifo.backlog_max = self.fifo.backlog_max.max(waiting + 1);
        }
        packet.waited.end(start);
        self.ring.push((id, packet.size_bytes), (start, depart, arrive), spare);
        self.ring.waiting = self.ring.tail;
        depart
    }

    /// When the discipline is to be served next; [`Time::NEVER`] if the port has none, or nothing waits and the link is
    /// idle.
    #[inline]
    pub(super) fn next_service(&self) -> Time {
        self.cold.discipline.as_ref().map_or(Time::NEVER, |discipline| discipline.next)
    }

    #[inline]
    pub(super) fn set_next_service(&mut self, at: Time) {
        if !self.is_fifo()
            && let Some(discipline) = &mut self.cold.present().discipline
        {
            discipline.next = at;
        }
    }

    /// Lets each service have an event at its instant.
    pub(in crate::fabric) fn serve_promptly(&mut self) {
        if !self.is_fifo()
            && let Some(discipline) = &mut self.cold.discipline
        {
            discipline.prompt = true;
            self.update_offer_path();
        }
    }

    /// Requests an `Arrive` if none is pending for the first packet on the link, after services. Without packets, the
    /// ring starts again.
    #[inline]
    pub(in crate::fabric) fn arm_after_service(&mut self, spare: &mut Spare) -> Offer {
        if self.ring.len() == 0 {
            self.ring.restart(spare);
            return Offer::Accepted;
        }
        self.arm()
    }

    /// Requests a `Depart` for the next service, if it is to have one and none is pending.
    pub(in crate::fabric) fn arm_service(&mut self) -> Offer {
        match &mut self.cold.discipline {
            Some(discipline) if discipline.prompt && discipline.next != Time::NEVER => {
                if std::mem::replace(&mut discipline.armed, discipline.next) != discipline.next {
                    return Offer::Depart(discipline.next);
                }
                Offer::Accepted
            }
            _ => Offer::Accepted,
        }
    }

    /// When the idle port can serve by the trace of its rate, if packets wait and that is later than `at`. Packets that
    /// waited before (`resumes`) can use what is left of an opportunity at this instant.
    #[cold]
    fn opening(&mut self, at: Time, resumes: bool) -> Option<Time> {
        let Cold { cursor, discipline, .. } = &mut *self.cold;
        let (cursor, discipline) = (cursor.as_mut()?, discipline.as_mut()?);
        if discipline.backlog.packets == 0 {
            return None;
        }
        let busy_until = self.transmitter.busy_until;
        let start = if resumes { cursor.resume(at, busy_until) } else { cursor.start(at, busy_until) };
        (start > at).then_some(start)
    }

    /// Updates the backlog integral of the discipline.
    pub(in crate::fabric) fn count_backlog(&mut self, now: Time) {
        if self.is_fifo() {
            return;
        }
        let Self { cold, waits, fifo, .. } = self;
        if let Some(discipline) = &mut cold.present().discipline {
            discipline.count_backlog(now, waits, &mut fifo.backlog_max);
        }
    }
}
