//! Packets at queues: the fast path of offers to a plain FIFO, and the slow path of ports with a queue discipline, with a router that
//! observes them, or without a link that is up.

use contract::{Arena, DropReason, Ecn, Packet, PacketId, PortId, QueueDiscipline, Verdict};
use units::{Duration, Time};

use super::Fabric;
use super::port::{NextStart, Offer};

/// The result of an offer on the slow path.
pub(crate) enum SlowOffer {
    /// The plain FIFO accepted or dropped the packet, or the link is down.
    Fifo(Offer),
    /// The port has a discipline. It dropped packets from inside the queue, and the offered packet if there is a reason.
    Discipline { dropped: Vec<(PacketId, DropReason)>, refused: Option<DropReason> },
}

/// A transmission that a port with a discipline starts.
pub(crate) struct Service {
    pub packet: PacketId,
    /// When the `Depart` is due.
    pub depart: Time,
    /// How long the packet has waited, if the router of the port observes departures.
    pub observed: Option<Duration>,
}

/// The next transmission of a port with a discipline.
pub(crate) enum Next {
    /// There is none, or its event is pending.
    Nothing,
    /// It can begin at this time, by the trace of the link's rate: a `Depart` is due.
    Opens(Time),
    /// It begins now.
    Starts(Service),
}

/// What a `Depart` stands for.
pub(crate) enum Due {
    /// It is stale.
    Nothing,
    /// An observed FIFO starts a transmission.
    Start,
    /// A port with a discipline can transmit, by the trace of its link's rate.
    Opening,
    /// A port with a discipline has put a packet on the link.
    End(Offer),
}

/// The next step of reporting departures from a plain FIFO.
pub(crate) enum Departure {
    /// Report this packet, whose transmission has started, and how long it waited.
    Show(PacketId, Duration),
    /// Schedule a `Depart` at this time, when the next one starts.
    Wait(Time),
    /// Nothing waits, or its event is pending.
    Done,
}

impl Fabric {
    /// Offers a packet to the plain FIFO of a port. `None` if the port takes the slow path: it is down, has a discipline, or is observed.
    #[inline(always)]
    pub(crate) fn offer(
        &mut self,
        port: PortId,
        id: PacketId,
        packet: &mut Packet,
        now: Time,
    ) -> Option<Offer> {
        if self.ports[port.index()].takes_fast_path() {
            Some(self.enqueue::<false>(port, id, packet, now))
        } else {
            None
        }
    }

    /// Offers a packet to the FIFO of a port that is up and has no discipline.
    #[inline(always)]
    fn enqueue<const PLANNED: bool>(
        &mut self,
        port: PortId,
        id: PacketId,
        packet: &mut Packet,
        now: Time,
    ) -> Offer {
        let queue = &mut self.ports[port.index()];
        let mut mark = false;
        let offer = queue.offer::<PLANNED>(now, id, packet.size_bytes, &mut mark, &mut self.spare);
        if mark && packet.ecn.is_unmarked() {
            packet.ecn = Ecn::Marked;
            queue.count_marks(1);
        }
        offer
    }

    /// Offers a packet on the slow path.
    #[cold]
    pub(crate) fn offer_slowly(
        &mut self,
        port: PortId,
        id: PacketId,
        arena: &mut Arena,
        now: Time,
    ) -> SlowOffer {
        let state = &mut self.ports[port.index()];
        let (is_up, is_fifo, is_planned) = (state.is_up(), state.is_fifo(), state.is_planned());
        let queued = state.queued();
        if is_up && let Some(why) = state.police(now, arena.get(id).size_bytes) {
            state.count_offer();
            return SlowOffer::Fifo(state.refuse(why));
        }
        let keeps_waits = state.keeps_waits();
        if state.observes_departures() || keeps_waits {
            self.note_enqueue(id, now);
        }
        if is_up && is_fifo {
            let packet = arena.get_mut(id);
            let offer = if is_planned {
                self.enqueue::<true>(port, id, packet, now)
            } else {
                self.enqueue::<false>(port, id, packet, now)
            };
            let state = &mut self.ports[port.index()];
            state.count_unobserved(queued);
            if keeps_waits && !matches!(offer, Offer::Dropped(_)) {
                state.add_wait_of_last(now);
            }
            return SlowOffer::Fifo(offer);
        }
        let state = &mut self.ports[port.index()];
        state.count_offer();
        if !is_up {
            return SlowOffer::Fifo(state.refuse(DropReason::LinkDown));
        }
        let (verdict, dropped) = state.with_discipline(now, arena, |queue, cx| queue.enqueue(id, cx));
        let refused = match verdict {
            Verdict::Pass => None,
            Verdict::Mark => {
                arena.get_mut(id).ecn = Ecn::Marked;
                state.count_marks(1);
                None
            }
            Verdict::Drop(why) => {
                state.count_drop(why);
                Some(why)
            }
        };
        SlowOffer::Discipline { dropped, refused }
    }

    /// Starts the next transmission of an idle port with a discipline. Returns the packets that the discipline dropped from inside the
    /// queue, and the transmission if there is one. `resumes`: its packets waited before this instant.
    pub(crate) fn serve(
        &mut self,
        port: PortId,
        arena: &mut Arena,
        now: Time,
        resumes: bool,
    ) -> (Vec<(PacketId, DropReason)>, Next) {
        let state = &mut self.ports[port.index()];
        if !state.is_idle() {
            return (Vec::new(), Next::Nothing);
        }
        if state.is_traced()
            && let Some(at) = state.opening(now, resumes)
        {
            let next = if state.wait_until(at) { Next::Opens(at) } else { Next::Nothing };
            return (Vec::new(), next);
        }
        let (next, dropped) = state.with_discipline(now, arena, |queue, cx| queue.dequeue(cx));
        let Some(packet) = next else { return (dropped, Next::Nothing) };
        let depart = state.serve(now, packet, arena.get(packet).size_bytes);
        let observed = state.observes_departures();
        if state.keeps_waits() {
            let wait = self.waited(packet, now);
            self.ports[port.index()].add_wait(wait);
        }
        let observed = observed.then(|| self.waited(packet, now));
        (dropped, Next::Starts(Service { packet, depart, observed }))
    }

    /// Handles the `Depart` of a port.
    pub(crate) fn depart(&mut self, port: PortId, now: Time) -> Due {
        let state = &mut self.ports[port.index()];
        if state.is_fifo() {
            return if state.departure_due(now) { Due::Start } else { Due::Nothing };
        }
        if state.is_traced() && state.opens(now) {
            return Due::Opening;
        }
        state.finish_serving(now, &mut self.spare).map_or(Due::Nothing, Due::End)
    }

    /// Whether a port with a discipline begins or ends a transmission at this instant, before it takes another packet. Never true at a
    /// constant rate, where events of one instant are handled in the order of insertion.
    pub(crate) fn is_due(&self, port: PortId, now: Time) -> bool {
        self.ports[port.index()].is_due(now)
    }

    /// The next departure of an observed FIFO to report, or when the next one starts. Call it until it returns no `Show`.
    pub(crate) fn next_departure(&mut self, port: PortId, now: Time) -> Departure {
        match self.ports[port.index()].next_departure(now) {
            NextStart::Past(id) => Departure::Show(id, self.waited(id, now)),
            NextStart::Due(start) => Departure::Wait(start),
            NextStart::Nothing => Departure::Done,
        }
    }

    /// Records when a packet was offered to a queue whose departures are observed.
    fn note_enqueue(&mut self, id: PacketId, now: Time) {
        if self.queued_at.len() <= id.index() {
            self.queued_at.resize(id.index() + 1, Time::ZERO);
        }
        self.queued_at[id.index()] = now;
    }

    /// How long a packet has waited in a queue whose departures are observed.
    fn waited(&self, id: PacketId, now: Time) -> Duration {
        now - self.queued_at[id.index()]
    }
}
