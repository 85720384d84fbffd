//! Packets at queues: the fast paths of offers to a plain FIFO and to a queue discipline, and the slow path of ports
//! with a router that observes them, with a trace or a policer, or without a link that is up.

use contract::{Arena, DropReason, Packet, PacketId, PortId};
use units::{Duration, Time};

use super::Fabric;
use super::offers::{Departure, Due, Offer, OfferOutcome, OfferPath, Reports, Service, SlowOffer};
use super::port::{Accepted, NextStart};

impl Fabric {
    /// Offers a packet to the plain FIFO of a port with [`OfferPath::Fast`].
    #[inline(always)]
    pub(crate) fn offer(&mut self, port: PortId, id: PacketId, packet: &mut Packet, now: Time) -> Offer {
        self.enqueue::<false>(port, id, packet, now)
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
        self.ports[port.index()].offer::<PLANNED>(now, id, packet, &mut self.spare)
    }

    /// Offers a packet to a FIFO that is up, whose rate may follow a trace or a shaper.
    #[inline(always)]
    fn enqueue_slowly(&mut self, port: PortId, id: PacketId, packet: &mut Packet, now: Time) -> Offer {
        if self.ports[port.index()].is_planned() {
            self.enqueue::<true>(port, id, packet, now)
        } else {
            self.enqueue::<false>(port, id, packet, now)
        }
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
        let (is_up, is_fifo) = (state.is_up(), state.is_fifo());
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
            let offer = self.enqueue_slowly(port, id, arena.get_mut(id), now);
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
        SlowOffer::Discipline(state.enqueue(now, id, arena, &mut self.dropped))
    }

    /// Who takes offers to a port.
    #[inline]
    pub(crate) fn offer_path(&self, port: PortId) -> OfferPath {
        self.ports[port.index()].offer_path()
    }

    /// Offers a packet to the FIFO of a port with [`OfferPath::Observed`]. Returns also what to report to the router
    /// that observes departures.
    #[inline]
    pub(crate) fn offer_observed(
        &mut self,
        port: PortId,
        id: PacketId,
        packet: &mut Packet,
        now: Time,
    ) -> (Offer, Reports) {
        let offer = self.enqueue::<false>(port, id, packet, now);
        if let Offer::Dropped(_) = offer {
            return (offer, Reports::Due);
        }
        let reports = match self.ports[port.index()].note_accepted() {
            Accepted::Unseen => Reports::Nothing,
            Accepted::Starts => Reports::Offered,
            Accepted::Queued => {
                self.note_enqueue(id, now);
                Reports::Due
            }
        };
        (offer, reports)
    }

    /// Offers a packet to the FIFO of a port with [`OfferPath::Planned`].
    #[inline]
    pub(crate) fn offer_planned(
        &mut self,
        port: PortId,
        id: PacketId,
        packet: &mut Packet,
        now: Time,
    ) -> Offer {
        let state = &mut self.ports[port.index()];
        if let Some(why) = state.police(now, packet.size_bytes) {
            state.count_offer();
            return state.refuse(why);
        }
        self.enqueue_slowly(port, id, packet, now)
    }

    /// Offers a packet straight to the queue discipline of a port, which is first served up to now.
    #[inline(always)]
    pub(crate) fn offer_to_discipline(
        &mut self,
        port: PortId,
        id: PacketId,
        arena: &mut Arena,
        now: Time,
    ) -> OfferOutcome {
        let Self { ports, dropped, spare, .. } = self;
        let state = &mut ports[port.index()];
        state.offer_to_discipline(now, id, arena, dropped, spare)
    }

    /// Serves the discipline of a port once, if that is due by now. Call it until it returns `None`, and then
    /// [`Fabric::arm_discipline`].
    #[inline]
    pub(crate) fn serve(&mut self, port: PortId, arena: &mut Arena, now: Time) -> Option<Service> {
        let state = &mut self.ports[port.index()];
        let (packet, at) = state.serve(now, arena, &mut self.dropped, &mut self.spare)?;
        let (observed, keeps_waits) = (state.observes_departures(), state.keeps_waits());
        let waited = (observed || keeps_waits).then(|| self.waited(packet, at));
        if let Some(waited) = waited
            && keeps_waits
        {
            self.ports[port.index()].add_wait(waited);
        }
        Some(Service { packet, observed: waited.filter(|_| observed) })
    }

    /// The events to schedule after the services of a discipline.
    #[inline]
    pub(crate) fn arm_discipline(&mut self, port: PortId) -> [Offer; 2] {
        let state = &mut self.ports[port.index()];
        [state.arm_after_service(&mut self.spare), state.arm_service()]
    }

    /// Whether a port has a queue discipline.
    #[inline]
    pub(crate) fn has_discipline(&self, port: PortId) -> bool {
        !self.ports[port.index()].is_fifo()
    }

    /// Handles the `Depart` of a port.
    pub(crate) fn depart(&mut self, port: PortId, now: Time) -> Due {
        let state = &mut self.ports[port.index()];
        match (state.is_fifo(), state.departure_due(now)) {
            (true, true) => Due::Start,
            (true, false) => Due::Nothing,
            (false, _) => Due::Service,
        }
    }

    /// The next departure of an observed FIFO to report, or when the next one starts. Call it until it returns no
    /// `Show`.
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
