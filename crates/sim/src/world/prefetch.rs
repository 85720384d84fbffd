//! Prefetches in large networks. They change no state.

use contract::{NodeId, PortId};

use super::World;
use crate::agenda::{AgendaEvent, Kind};
use crate::fabric::reverse;
use memory::prefetch;

/// Cache lines of a packet.
const PACKET_LINES: usize = 2;
/// Packets are requested when so many others arrive before them on the same link, and their next ports when so many do.
const PACKETS_AHEAD: u32 = 4;
const HOPS_AHEAD: u32 = 2;

impl World {
    /// Requests what the next events need, as far as it can be known: of the first of them also packets and endpoints.
    #[inline(never)]
    pub(super) fn prefetch_upcoming(&mut self) {
        let Self { agenda, fabric, hosts, out, .. } = self;
        let soon = |next: AgendaEvent| match next.kind() {
            Kind::Arrive => {
                let port = PortId(next.index() as u32);
                let Some((packet, node)) = fabric.prefetch_arrival(port) else { return };
                if let Some(packet) = out.arena.slot(packet) {
                    prefetch(packet, PACKET_LINES);
                }
                if hosts.prefetch_at(node) {
                    // what the endpoint answers leaves by the same link
                    fabric.prefetch_offer(reverse(port));
                }
            }
            Kind::Wake => hosts.prefetch(next.index()),
            _ => {}
        };
        let later = |next: AgendaEvent| match next.kind() {
            Kind::Arrive => fabric.prefetch_armed(PortId(next.index() as u32)),
            Kind::Wake => hosts.prefetch(next.index()),
            _ => {}
        };
        agenda.upcoming(soon, later);
    }

    /// Requests what later packets of a busy link need that lead to `node`.
    #[inline(never)]
    pub(super) fn prefetch_later(&self, port: PortId, node: NodeId) {
        if let Some(packet) = self.fabric.ahead(port, PACKETS_AHEAD)
            && let Some(packet) = self.out.arena.slot(packet)
        {
            prefetch(packet, PACKET_LINES);
        }
        if let Some(packet) = self.fabric.ahead(port, HOPS_AHEAD)
            && let Some(packet) = self.out.arena.slot(packet)
            && let Some(to) = packet.to.node()
        {
            self.fabric.prefetch_hop(node, to, packet.flow);
        }
    }
}
