//! Packets at the queues of ports: offers, transmissions of queue disciplines, departures that routers observe.

use contract::{DropReason, PacketId, PortId};
use units::Duration;

use super::World;
use crate::agenda::{AgendaEvent, Kind};
use crate::fabric::{Departure, Due, Next, Offer, SlowOffer};
use crate::trace::Subject;

impl World {
    #[inline]
    pub(super) fn offer(&mut self, port: PortId, id: PacketId) {
        match self.fabric.offer(port, id, self.out.arena.get_mut(id), self.now) {
            Some(offer) => self.act(port, id, offer),
            None => self.offer_slowly(port, id),
        }
    }

    #[inline]
    fn act(&mut self, port: PortId, id: PacketId, offer: Offer) {
        match offer {
            Offer::Accepted => self.accounts.count_hop(),
            Offer::Arrive(at) => {
                self.accounts.count_hop();
                self.agenda.push(at, AgendaEvent::new(Kind::Arrive, port.0));
            }
            Offer::Depart(at) => self.agenda.push(at, AgendaEvent::new(Kind::Depart, port.0)),
            Offer::Dropped(why) => self.drop(id, why, Subject::Port(port)),
        }
    }

    /// The slow path of an offer: the port is down, is observed by the node's state machine, or has a queue discipline.
    #[cold]
    fn offer_slowly(&mut self, port: PortId, id: PacketId) {
        while self.fabric.is_due(port, self.now) {
            self.on_depart(AgendaEvent::new(Kind::Depart, port.0));
        }
        let Self { now, fabric, hosts, agenda, out, .. } = self;
        if fabric.port(port).observes_offers() {
            hosts.nodes.observe_offer(port, out.arena.get_mut(id), *now, fabric, agenda);
        }
        match fabric.offer_slowly(port, id, &mut out.arena, *now) {
            SlowOffer::Fifo(offer) => {
                self.act(port, id, offer);
                self.show_departures(port);
            }
            SlowOffer::Discipline { dropped, refused } => {
                self.drop_all(dropped, port);
                if let Some(why) = refused {
                    self.drop(id, why, Subject::Port(port));
                }
                self.serve(port, false);
            }
        }
    }

    /// Starts the next transmission of an idle port with a discipline. `resumes`: its packets waited before this instant.
    fn serve(&mut self, port: PortId, resumes: bool) {
        let (dropped, next) = self.fabric.serve(port, &mut self.out.arena, self.now, resumes);
        self.drop_all(dropped, port);
        let service = match next {
            Next::Nothing => return,
            Next::Opens(at) => return self.agenda.push(at, AgendaEvent::new(Kind::Depart, port.0)),
            Next::Starts(service) => service,
        };
        self.agenda.push(service.depart, AgendaEvent::new(Kind::Depart, port.0));
        if let Some(waited) = service.observed {
            self.show_departure(port, service.packet, waited);
        }
    }

    /// Drops the packets that the discipline of a port dropped from inside its queue.
    fn drop_all(&mut self, dropped: Vec<(PacketId, DropReason)>, port: PortId) {
        for (id, why) in dropped {
            self.drop(id, why, Subject::Port(port));
        }
    }

    /// Handles the end of a transmission at a port with a discipline, or the start of one at an observed FIFO.
    pub(super) fn on_depart(&mut self, what: AgendaEvent) {
        let port = PortId(what.index() as u32);
        match self.fabric.depart(port, self.now) {
            Due::Nothing => {}
            Due::Start => {
                self.accounts.count_event(self.now, what);
                self.show_departures(port);
            }
            Due::Opening => {
                self.accounts.count_event(self.now, what);
                self.serve(port, true);
            }
            Due::End(offer) => {
                self.accounts.count_event(self.now, what);
                self.accounts.count_hop();
                if let Offer::Arrive(at) = offer {
                    self.agenda.push(at, AgendaEvent::new(Kind::Arrive, port.0));
                }
                self.serve(port, true);
            }
        }
    }

    /// Reports started transmissions of an observed FIFO, and schedules an event at the next start. No effect at other ports.
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
    fn show_departure(&mut self, port: PortId, id: PacketId, waited: Duration) {
        let Self { now, fabric, hosts, agenda, out, .. } = self;
        hosts.nodes.observe_departure(port, out.arena.get_mut(id), waited, *now, fabric, agenda);
    }
}
