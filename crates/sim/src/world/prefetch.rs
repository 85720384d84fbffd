//! Prefetches in large networks, and where forwarders have large tables. They change no state.

use contract::{EndpointId, NodeId, Outputs, PortId};

use super::World;
use crate::agenda::{AgendaEvent, Kind};
use crate::fabric::{Fabric, reverse};
use crate::hosts::Hosts;
use stack::ndn::Ahead;

/// Slots of packets are requested when so many others arrive before them on the same link, packets when so many do, and
/// their next ports when so many do.
const SLOTS_AHEAD: u32 = 12;
const PACKETS_AHEAD: u32 = 4;
const HOPS_AHEAD: u32 = 2;

/// Ports with arrivals at state machines of nodes that are near, in a ring.
pub(super) struct Near {
    ports: [PortId; NEAR],
    latest: usize,
}

const NEAR: usize = 16;
/// So many state machines of nodes are rarely in a processor's caches. With 1600, requests for them take more time than
/// they save.
const MANY_NODES: usize = 5000;
/// What is requested so many arrivals after the state of their node: its machine, what the packet needs of it in three
/// steps, and the next port.
const MACHINE: usize = 3;
const NAMES: [(usize, Ahead); 3] = [(6, Ahead::Third), (9, Ahead::Second), (12, Ahead::Next)];

impl Default for Near {
    fn default() -> Self {
        Self { ports: [PortId(u32::MAX); NEAR], latest: 0 }
    }
}

impl Near {
    /// Adds the port with an arrival, and requests what those before it need.
    #[inline]
    fn enter(&mut self, port: PortId, fabric: &Fabric, hosts: &Hosts, out: &Outputs) {
        self.latest = (self.latest + 1) % NEAR;
        self.ports[self.latest] = port;
        let before = |arrivals| self.ports[(self.latest + NEAR - arrivals) % NEAR];
        if let Some((_, node)) = fabric.first_arrival(before(MACHINE))
            && let Some(index) = hosts.nodes.at(node)
        {
            hosts.nodes.get(index).prefetch_machine();
        }
        for (arrivals, ahead) in NAMES {
            let Some((packet, node)) = fabric.first_arrival(before(arrivals)) else { continue };
            let (Some(packet), Some(index)) = (out.arena.slot(packet), hosts.nodes.at(node)) else {
                continue;
            };
            let node = hosts.nodes.get(index);
            node.prefetch_names(packet, ahead);
            match ahead {
                Ahead::Third => node.prefetch_rest(),
                Ahead::Second => {}
                Ahead::Next => {
                    if let Some(port) = node.next_port(packet) {
                        fabric.prefetch_offer(port);
                    }
                }
            }
        }
    }
}

impl World {
    /// Requests what the next events need, as far as it can be known: of the first of them also packets and endpoints.
    #[inline(never)]
    pub(super) fn prefetch_upcoming(&mut self) {
        let Self { agenda, fabric, hosts, out, near, .. } = self;
        let soon = |next: AgendaEvent| match next.kind() {
            Kind::Arrive => {
                let port = PortId(next.index() as u32);
                let Some((packet, node)) = fabric.prefetch_arrival(port) else { return };
                if let Some(packet) = out.arena.slot(packet) {
                    hosts.prefetch_packet(packet, node);
                }
                if hosts.nodes.len() >= MANY_NODES
                    && let Some(index) = hosts.nodes.at(node)
                {
                    hosts.nodes.prefetch(index);
                    near.enter(port, fabric, hosts, out);
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

    /// Requests what the next packets of a link need of the tables of the forwarder with this index, to which it leads.
    #[inline(never)]
    pub(super) fn prefetch_names(&self, index: usize, port: PortId) {
        let node = self.hosts.nodes.get(index);
        for (packets, ahead) in Ahead::ALL.into_iter().take(node.requests()) {
            if let Some(packet) = self.fabric.ahead(port, packets)
                && let Some(packet) = self.out.arena.slot(packet)
            {
                node.prefetch_names(packet, ahead);
            }
        }
    }

    /// Requests what the next Interest of an endpoint needs of the tables of the forwarder with this index, if they are
    /// large.
    #[inline]
    pub(super) fn prefetch_request(&self, index: usize, endpoint: EndpointId) {
        let node = self.hosts.nodes.get(index);
        if node.has_large_tables()
            && let Some(name) = self.hosts.next_name(endpoint)
        {
            node.prefetch_request(name);
        }
    }

    /// Requests what later packets of a busy link need that lead to `node`.
    #[inline(never)]
    pub(super) fn prefetch_later(&self, port: PortId, node: NodeId) {
        self.fabric.prefetch_ahead(port, SLOTS_AHEAD);
        if let Some(packet) = self.fabric.ahead(port, PACKETS_AHEAD)
            && let Some(packet) = self.out.arena.slot(packet)
        {
            self.hosts.prefetch_packet(packet, node);
        }
        if let Some(packet) = self.fabric.ahead(port, HOPS_AHEAD)
            && let Some(packet) = self.out.arena.slot(packet)
            && let Some(to) = packet.to.node()
        {
            self.fabric.prefetch_hop(node, to, packet.flow);
        }
    }
}
