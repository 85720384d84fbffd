//! Packets at the queues of ports: offers, transmissions of queue disciplines, departures that routers observe.

use contract::{PacketId, PortId, PortView};
use units::Duration;

use super::World;
use crate::agenda::{AgendaEvent, Kind};
use crate::fabric::{Departure, Due, Offer, OfferOutcome, OfferPath, Reports, SlowOffer};
use crate::trace::Subject;

impl World {
    #[inline(always)]
    pub(super) fn offer(&mut self, port: PortId, id: PacketId) {
        if self.fabric.offer_path(port) != OfferPath::Fast {
            return self.offer_elsewhere(port, id);
        }
        let offer = self.fabric.offer(port, id, self.out.arena.get_mut(id), self.now);
        self.schedule_offer(port, id, offer);
    }

    /// An offer to a port that is no plain FIFO, or is down or observed. It is not inlined, so that the path of a plain
    /// FIFO is short.
    #[inline(never)]
    fn offer_elsewhere(&mut self, port: PortId, id: PacketId) {
        match self.fabric.offer_path(port) {
            OfferPath::Discipline => self.offer_to_discipline(port, id),
            OfferPath::Planned => self.offer_planned(port, id),
            OfferPath::Fan => {
                self.fabric.settle_fan(port);
                self.offer(port, id);
            }
            OfferPath::Observed => self.offer_observed(port, id),
            OfferPath::Fast | OfferPath::Slow => self.offer_slowly(port, id),
        }
    }

    #[inline(always)]
    fn schedule_offer(&mut self, port: PortId, id: PacketId, offer: Offer) {
        match offer {
            Offer::Accepted => self.accounts.count_hops(1),
            Offer::Arrive(at) => {
                self.accounts.count_hops(1);
                self.agenda.push(at, AgendaEvent::new(Kind::Arrive, port.0));
            }
            Offer::Depart(at) => self.agenda.push(at, AgendaEvent::new(Kind::Depart, port.0)),
            Offer::Dropped(why) => self.drop(id, why, Subject::Port(port)),
        }
    }

    /// An offer straight to the queue discipline of a port.
    #[inline(never)]
    fn offer_to_discipline(&mut self, port: PortId, id: PacketId) {
        let offered = match self.fabric.offer_to_discipline(port, id, &mut self.out.arena, self.now) {
            OfferOutcome::PassedThrough(offer) => return self.schedule_offer(port, id, offer),
            OfferOutcome::Queued(offered) => offered,
        };
        self.accounts.count_hops(offered.sent);
        if let Offer::Arrive(at) = offered.arrive {
            self.agenda.push(at, AgendaEvent::new(Kind::Arrive, port.0));
        }
        if !self.fabric.dropped.is_empty() {
            self.drop_from_queue(port);
        }
        if let Some(why) = offered.refused {
            self.drop(id, why, Subject::Port(port));
        }
    }

    /// An offer to the FIFO of a port with a trace, a shaper or a policer.
    #[inline(never)]
    fn offer_planned(&mut self, port: PortId, id: PacketId) {
        let offer = self.fabric.offer_planned(port, id, self.out.arena.get_mut(id), self.now);
        self.schedule_offer(port, id, offer);
    }

    /// An offer to a FIFO that the state machine of its node observes. A packet that finds the link idle departs at
    /// once, without an event.
    #[inline(always)]
    fn offer_observed(&mut self, port: PortId, id: PacketId) {
        let Self { now, fabric, hosts, agenda, out, .. } = self;
        let Some(index) = hosts.nodes.at(fabric.owner(port)) else { return self.offer_slowly(port, id) };
        let packet = out.arena.get_mut(id);
        hosts.nodes.observe_offer(index, port, packet, *now, fabric, agenda);
        let (offer, reports) = fabric.offer_observed(port, id, packet, *now);
        self.schedule_offer(port, id, offer);
        match reports {
            Reports::Nothing => {}
            Reports::Offered => {
                let view = self.fabric.view_started(port, self.now);
                self.show_departure_to(index, &view, id, Duration::ZERO);
            }
            Reports::Due => self.show_departures(port),
        }
    }

    /// The slow path of an offer: the port is down, its waits are recorded, it is observed and has a queue discipline,
    /// a trace, a shaper or a policer, or it has a queue discipline beside one of these.
    #[inline(never)]
    fn offer_slowly(&mut self, port: PortId, id: PacketId) {
        self.settle(port);
        let Self { now, fabric, hosts, agenda, out, .. } = self;
        if fabric.port(port).observes_offers()
            && let Some(index) = hosts.nodes.at(fabric.owner(port))
        {
            hosts.nodes.observe_offer(index, port, out.arena.get_mut(id), *now, fabric, agenda);
        }
        self.record_offer(port, id);
        match self.fabric.offer_slowly(port, id, &mut self.out.arena, self.now) {
            SlowOffer::Fifo(offer) => {
                if !matches!(offer, Offer::Dropped(_)) {
                    self.record_transmission(port);
                }
                self.schedule_offer(port, id, offer);
                self.show_departures(port);
            }
            SlowOffer::Discipline(refused) => {
                self.record_mark(id);
                if !self.fabric.dropped.is_empty() {
                    self.drop_from_queue(port);
                }
                if let Some(why) = refused {
                    self.drop(id, why, Subject::Port(port));
                }
                self.settle(port);
            }
        }
    }

    /// Serves the queue discipline of a port as far as it is due by now. No effect at other ports.
    #[inline]
    pub(super) fn settle(&mut self, port: PortId) {
        if self.fabric.has_discipline(port) {
            self.serve(port);
        }
    }

    /// Serves the queue discipline that a port has.
    #[inline(never)]
    fn serve(&mut self, port: PortId) {
        loop {
            let service = self.fabric.serve(port, &mut self.out.arena, self.now);
            if !self.fabric.dropped.is_empty() {
                self.drop_from_queue(port);
            }
            let Some(service) = service else { break };
            self.accounts.count_hops(1);
            if self.is_recorded() {
                self.record_transmission(port);
            }
            if let Some(waited) = service.observed {
                self.show_departure(port, service.packet, waited);
            }
        }
        let offers = self.fabric.arm_discipline(port);
        self.schedule_all(port, &offers);
    }

    /// Serves all queue disciplines as far as they are due by now, before counters are read.
    pub(super) fn settle_all(&mut self) {
        for index in 0..self.fabric.disciplined().len() {
            let port = self.fabric.disciplined()[index];
            self.settle(port);
            self.fabric.count_backlog(port, self.now);
        }
    }

    /// Drops the packets that the discipline of a port dropped from inside its queue.
    #[cold]
    fn drop_from_queue(&mut self, port: PortId) {
        let mut index = 0;
        while let Some(&(id, why)) = self.fabric.dropped.get(index) {
            self.drop(id, why, Subject::Port(port));
            index += 1;
        }
        self.fabric.dropped.clear();
    }

    /// Serves a queue discipline at a departure, or handles the start of a transmission at an observed FIFO. Services
    /// are no events of the run's digest, since other ports are served without any.
    pub(super) fn on_depart(&mut self, what: AgendaEvent) {
        let port = PortId(what.index() as u32);
        match self.fabric.depart(port, self.now) {
            Due::Nothing => {}
            Due::Start => {
                self.accounts.count_event(self.now, what);
                self.show_departures(port);
            }
            Due::Service => self.settle(port),
        }
    }

    /// Reports started transmissions of an observed FIFO, and schedules an event at the next start. No effect at other
    /// ports.
    pub(super) fn show_departures(&mut self, port: PortId) {
        loop {
            match self.fabric.next_departure(port, self.now) {
                Departure::Show(id, waited) => self.show_departure(port, id, waited),
                Departure::Wait(start) => {
                    return self.agenda.push(start, AgendaEvent::new(Kind::Depart, port.0));
                }
                Departure::Done => return,
            }
        }
    }

    /// Shows a packet that leaves a queue to the node of the queue.
    #[inline(never)]
    fn show_departure(&mut self, port: PortId, id: PacketId, waited: Duration) {
        if let Some(index) = self.hosts.nodes.at(self.fabric.owner(port)) {
            let view = self.fabric.view(port, self.now);
            self.show_departure_to(index, &view, id, waited);
            if self.is_recorded() {
                self.record_mark(id);
            }
        }
    }

    /// Shows a packet that leaves a queue to the state machine with this index, which may mark the packet.
    #[inline(always)]
    fn show_departure_to(&mut self, index: usize, view: &PortView, id: PacketId, waited: Duration) {
        let packet = self.out.arena.get_mut(id);
        if self.hosts.nodes.observe_departure(index, packet, view, waited, self.now, &mut self.agenda) {
            self.fabric.port(view.port).count_marks(1);
        }
    }
}
