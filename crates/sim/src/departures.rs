//! What leaves a queue, for nodes whose machine looks at it.
//!
//! The plain FIFO knows when each packet will start as soon as it has accepted it. Where somebody looks, it has an event at that instant as
//! well, for packets that wait; its times and drops stay what they are without. Ports with a discipline are asked as they serve.

use contract::{Ecn, PacketId, PortId, Router, TransitCx};
use units::Time;

use crate::agenda::{Kind, What};
use crate::port::Port;
use crate::world::World;

/// How far a node has looked at what leaves a plain FIFO.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    /// How many packets, the last of the ring, it has not seen leave.
    left: u32,
    /// When the pending `Depart` is due; another one is stale.
    armed: Time,
}

impl Default for Shown {
    fn default() -> Self {
        Self { left: 0, armed: Time::NEVER }
    }
}

impl Port {
    /// The first packet whose start has not been shown, with the time of it.
    fn next_departure(&mut self) -> Option<(Time, PacketId)> {
        let shown = self.cold.departures.as_mut()?;
        // what a failing link lost was never sent
        shown.left = shown.left.min(self.ring.len() as u32);
        let slot = (shown.left > 0).then(|| self.ring.at(self.ring.tail.wrapping_sub(shown.left)))?;
        Some((slot.start, slot.packet))
    }
}

impl World {
    /// Remembers when a packet was offered to a queue.
    pub(crate) fn note_offer(&mut self, id: PacketId) {
        if self.offered_at.len() <= id.index() {
            self.offered_at.resize(id.index() + 1, Time::ZERO);
        }
        self.offered_at[id.index()] = self.now;
    }

    /// A packet starts on a plain FIFO that somebody looks at. `what` is stale where the rate changed meanwhile.
    pub(crate) fn on_shown_departure(&mut self, what: What) {
        let port = PortId(what.index() as u32);
        match self.ports[port.index()].cold.departures.as_mut() {
            Some(shown) if shown.armed == self.now => shown.armed = Time::NEVER,
            _ => return,
        }
        self.digest(what);
        self.show_departures(port);
    }

    /// The plain FIFO `port` was offered a packet, before which it held `before`. Shows it, if it has started.
    pub(crate) fn after_offer(&mut self, port: PortId, before: usize) {
        let Port { ring, cold, .. } = &mut self.ports[port.index()];
        if let Some(shown) = cold.departures.as_mut() {
            shown.left += (ring.len() - before) as u32;
        }
        self.show_departures(port);
    }

    /// Shows what has started on a plain FIFO, and asks for an event at the next start. Nothing elsewhere.
    pub(crate) fn show_departures(&mut self, port: PortId) {
        while let Some((start, id)) = self.ports[port.index()].next_departure() {
            let Some(shown) = self.ports[port.index()].cold.departures.as_mut() else { return };
            if start > self.now {
                if shown.armed != start {
                    shown.armed = start;
                    self.agenda.push(start, What::new(Kind::Depart, port.0));
                }
                return;
            }
            shown.left -= 1;
            self.show_dequeue(port, id);
        }
    }

    /// Shows a packet that leaves a queue to the node whose queue it is.
    pub(crate) fn show_dequeue(&mut self, port: PortId, id: PacketId) {
        let Some(index) = self.nodes.at(self.edges[port.index()].from) else { return };
        let rate_in = self.ports[port.index() ^ 1].rate();
        let view = self.ports[port.index()].view(port, rate_in, self.now);
        let waited = self.now - self.offered_at[id.index()];
        let packet = self.out.arena.get_mut(id);
        let before = packet.ecn;
        let state = &mut self.nodes.all[index];
        let mut at = TransitCx { now: self.now, port, random: &mut state.random };
        state.machine.on_dequeue(packet, &view, waited, &mut at);
        if before != packet.ecn && packet.ecn == Ecn::Marked {
            self.ports[port.index()].count_mark();
        }
        self.rearm_node(index);
    }
}
