//! The path of a packet through the network: arrival at a node, next hop, copies for the branches of a tree, delivery,
//! drop.

use contract::{
    Destination, DropReason, EndpointId, FlowId, GroupId, Header, NodeId, Packet, PacketId, PortId,
    RouterInput, RouterPacket,
};
use units::Time;

use super::{LocalDelivery, World};
use crate::agenda::{AgendaEvent, Kind};
use crate::fabric::{Arrival, ArrivalPath, DAMAGED, Fate, LinkEffect, reverse};
use crate::packet_log::PacketEnd;
use crate::trace::Subject;

/// More hops than any route has.
const MAX_HOPS: u8 = 64;

impl World {
    #[inline(always)]
    pub(super) fn on_arrive<const LARGE: bool>(&mut self, what: AgendaEvent) {
        let port = PortId(what.index() as u32);
        let Some(arrival) = self.fabric.arrive(port, self.now) else {
            return self.arrive_otherwise(port, what);
        };
        if arrival.next == Time::NEVER {
            // the link is empty: what waits at its queue discipline follows
            self.settle(port);
        } else {
            self.agenda.push_near(arrival.next, what);
        }
        if LARGE {
            self.prefetch_later(port, arrival.node);
        }
        self.end_arrival(port, arrival, what);
    }

    /// Handles a packet that was taken from its link, after the arrival of the next one was scheduled.
    #[inline(always)]
    pub(super) fn end_arrival(&mut self, port: PortId, arrival: Arrival, what: AgendaEvent) {
        self.accounts.count_event(self.now, what);
        let (id, node) = (arrival.packet, arrival.node);
        let is_taken = match arrival.path {
            ArrivalPath::Fast => false,
            ArrivalPath::Node => self.arrive_at_node(node, port, id),
            ArrivalPath::Link => self.arrive_from_link(port, node, id),
        };
        if !is_taken {
            self.arrive(node, id);
        }
    }

    /// Delivers a packet that has arrived at a node, or sends it on.
    #[inline(always)]
    pub(super) fn arrive(&mut self, node: NodeId, id: PacketId) {
        let packet = self.out.arena.get_mut(id);
        packet.hops += 1;
        let (to, flow, hops) = (packet.to, packet.flow, packet.hops);
        if let Some(endpoint) = to.endpoint()
            && to.node() == Some(node)
        {
            return self.deliver(endpoint, id);
        }
        if hops > MAX_HOPS {
            return self.exceed_hops(node, id);
        }
        match to.as_group() {
            None => self.forward(node, (to, flow), id),
            Some(group) => self.replicate(node, group, id),
        }
    }

    /// An arrival from a link that may lose, impair or capture the packet. Returns false if it continues as on the fast
    /// path.
    #[inline(never)]
    fn arrive_from_link(&mut self, by: PortId, node: NodeId, id: PacketId) -> bool {
        match self.fabric.port(by).link_effect(self.now) {
            LinkEffect::Passes => false,
            LinkEffect::Shows => self.end_of_link(by, node, id),
            LinkEffect::Loses => {
                self.drop(id, DropReason::RandomLoss, Subject::Port(by));
                true
            }
            LinkEffect::Impairs(fate) => {
                self.impair(by, node, id, fate);
                true
            }
        }
    }

    /// Shows a packet at the end of its link to the capture and to its node. Returns true if the node took it.
    fn end_of_link(&mut self, by: PortId, node: NodeId, id: PacketId) -> bool {
        if self.fabric.port(by).is_captured() {
            let packet = self.out.arena.get(id);
            self.external.capture(self.now, by, packet);
            if self.blueprint.record.has_packets_at(self.now) {
                self.accounts.record_packet(self.now, Subject::Port(by), packet, None);
            }
            self.record_arrival(id);
        }
        self.arrive_at_node(node, by, id)
    }

    /// Loses, copies, damages or delays a packet as the impairments of its link have drawn it.
    #[inline]
    fn impair(&mut self, by: PortId, node: NodeId, id: PacketId, fate: Fate) {
        match fate {
            Fate::Lost => {
                self.fabric.port(by).count_drop(DropReason::RandomLoss);
                self.drop(id, DropReason::RandomLoss, Subject::Port(by));
            }
            Fate::Arrives(at) => self.hold(by, node, id, at),
            Fate::Twice(at, copy_at) => {
                let packet = *self.out.arena.get(id);
                self.accounts.count_copied(1);
                if let Header::External(payload) = packet.header {
                    self.external.payloads.share(payload, 1);
                }
                let number = self.recorded_number(id);
                let copy = self.insert_copy(packet, number);
                self.record_duplicate(by, copy);
                self.hold(by, node, id, at);
                self.hold(by, node, copy, copy_at);
            }
        }
    }

    /// Lets a packet arrive at `at`, or drops it if it is damaged.
    fn hold(&mut self, by: PortId, node: NodeId, id: PacketId, at: Time) {
        if at == DAMAGED {
            self.fabric.port(by).count_drop(DropReason::Corrupted);
            return self.drop(id, DropReason::Corrupted, Subject::Port(by));
        }
        if self.fabric.port(by).holds(id, at, self.now) {
            return self.agenda.push(at, AgendaEvent::new(Kind::Arrive, by.0));
        }
        self.end_link(by, node, id);
    }

    /// Lets the next packet arrive that an impaired link held until now. No effect if none is due: the event is stale.
    #[inline(never)]
    pub(super) fn arrive_held(&mut self, by: PortId, what: AgendaEvent) {
        let Some((id, node)) = self.fabric.take_held(by, self.now) else { return };
        self.accounts.count_event(self.now, what);
        self.end_link(by, node, id);
    }

    /// Lets a packet arrive at the end of an impaired link.
    #[inline(always)]
    fn end_link(&mut self, by: PortId, node: NodeId, id: PacketId) {
        if !self.fabric.port(by).shows() || !self.end_of_link(by, node, id) {
            self.arrive(node, id);
        }
    }

    /// Shows an arriving packet to its node. Returns true if the node took it.
    #[inline(never)]
    fn arrive_at_node(&mut self, node: NodeId, by: PortId, id: PacketId) -> bool {
        let Some(index) = self.hosts.nodes.at(node) else { return false };
        if self.hosts.nodes.get(index).has_large_tables() {
            self.prefetch_names(index, by);
        }
        let packet = self.out.arena.get_mut(id);
        let own = reverse(by);
        if !self.hosts.nodes.observe_arrival(index, packet, own, self.now) {
            self.hosts.nodes.rearm(index, self.now, &mut self.agenda);
            return false;
        }
        packet.hops += 1;
        if packet.hops > MAX_HOPS {
            // while routes change, a tree may have a loop
            self.drop(id, DropReason::HopLimit, Subject::Node(node));
            self.hosts.nodes.rearm(index, self.now, &mut self.agenda);
            return true;
        }
        let packet = *packet;
        self.out.input = RouterPacket::Offered(id);
        let drop_reason = self.run_node(index, RouterInput::Packet(&packet, own));
        let mut sent = self.end_input(id, drop_reason, node);
        let mut delivered = None;
        if let RouterPacket::Delivered(id, endpoint) = sent
            && self.local.is_empty()
        {
            // nothing else is delivered before
            self.accounts.count_copied(1);
            (sent, delivered) = (RouterPacket::None, Some((endpoint, id)));
        }
        self.drain_node(index, sent);
        if let Some((endpoint, id)) = delivered {
            self.deliver_from_node(endpoint, id);
        }
        if !self.local.is_empty() {
            self.deliver_local();
        }
        true
    }

    /// Offers a packet of `flow` to the port of its route.
    #[inline(always)]
    pub(super) fn forward(&mut self, node: NodeId, (to, flow): (Destination, FlowId), id: PacketId) {
        match to.node().and_then(|to| self.fabric.next_hop(node, to, flow)) {
            Some(port) => self.offer(port, id),
            None => self.deliver_locally_or_drop(node, id),
        }
    }

    /// Handles a packet without a next hop from `node`: gives it to the state machine of the node, or drops it.
    #[cold]
    pub(super) fn deliver_locally_or_drop(&mut self, node: NodeId, id: PacketId) {
        match self.hosts.nodes.at(node).filter(|_| self.out.arena.get(id).to.is_own_node()) {
            Some(index) => self.local.push(LocalDelivery::ToNode(index as u32, id)),
            None => self.drop(id, DropReason::NoRoute, Subject::Node(node)),
        }
    }

    /// Sends copies of a group's packet along the tree and to the members at `node`. The tree does not change
    /// meanwhile, because joins and leaves are separate events.
    pub(super) fn replicate(&mut self, node: NodeId, group: GroupId, id: PacketId) {
        let Some(here) = self.fabric.tree_at(group, node) else {
            return self.drop(id, DropReason::NoRoute, Subject::Node(node));
        };
        let (branches, members) = (here.branches.len(), here.members.len());
        match (branches, members) {
            (0, 0) => return self.drop(id, DropReason::NotListening, Subject::Node(node)),
            (0, 1) => {
                let member = here.members[0];
                return self.deliver_to(member, id);
            }
            _ => {}
        }
        let packet = *self.out.arena.get(id);
        let more = branches + members - 1;
        self.accounts.count_copied(more as u64);
        if let Header::External(payload) = packet.header {
            self.external.payloads.share(payload, more);
        }
        let number = self.recorded_number(id);
        // the first of them gets the packet itself, each other one a copy
        let mut first = Some(id);
        let branches = if self.send_copies(node, group, id, branches) {
            first = None;
            0
        } else {
            branches
        };
        for i in 0..branches {
            let id = first.take().unwrap_or_else(|| self.insert_copy(packet, number));
            let Some(here) = self.fabric.tree_at(group, node) else { break };
            let branch = here.branches[i];
            self.offer(branch, id);
        }
        for i in 0..members {
            let id = first.take().unwrap_or_else(|| self.insert_copy(packet, number));
            let Some(here) = self.fabric.tree_at(group, node) else { break };
            let member = here.members[i];
            self.deliver_to(member, id);
        }
    }

    /// Delivers a packet to an endpoint.
    #[inline(never)]
    fn deliver_to(&mut self, endpoint: EndpointId, id: PacketId) {
        self.deliver(endpoint, id);
    }

    /// Delivers a packet to an endpoint, in the path of every packet.
    #[inline(always)]
    fn deliver(&mut self, endpoint: EndpointId, id: PacketId) {
        let packet = *self.out.arena.get(id);
        let (state, machines) = self.hosts.running(endpoint);
        if !state.accepts(packet.sent_at) {
            return self.deliver_by_clock(endpoint, id);
        }
        self.out.arena.release(id);
        self.accounts.count_delivered();
        let (has_news, wake) = state.receive(self.now, (&packet, packet.sent_at), machines, &mut self.out);
        self.end_delivery(endpoint, has_news, wake);
    }

    /// Delivers a packet that is no longer in the network to an endpoint that accepts it, sent at `sent_at` by true
    /// time.
    pub(super) fn give_packet(&mut self, endpoint: EndpointId, packet: &Packet, sent_at: Time) {
        self.accounts.count_delivered();
        let (has_news, wake) = self.hosts.receive(endpoint, (packet, sent_at), self.now, &mut self.out);
        self.end_delivery(endpoint, has_news, wake);
    }

    /// Sends what an endpoint answers to a packet, schedules its next wake, and tells an application that there are
    /// data for it.
    #[inline(always)]
    fn end_delivery(&mut self, endpoint: EndpointId, has_news: bool, wake: Time) {
        self.take_outputs(endpoint, wake);
        if has_news {
            self.on_news(endpoint);
        }
    }

    /// Delivers a packet on the slow path: with inexact clocks its time stamp is converted; otherwise it is too late.
    #[cold]
    fn deliver_by_clock(&mut self, endpoint: EndpointId, id: PacketId) {
        let packet = *self.out.arena.get(id);
        if matches!(packet.header, Header::Request { .. }) && !self.hosts.is_active(endpoint) {
            // the first request opens the connection
            self.start_flow(packet.flow);
            return self.deliver_to(endpoint, id);
        }
        let Some(sent_at) = self.hosts.sent_at(endpoint, &packet) else {
            let node = self.hosts.address(endpoint).node;
            return self.drop(id, DropReason::NotListening, Subject::Node(node));
        };
        self.record_end(id, PacketEnd::Delivered(endpoint));
        self.out.arena.release(id);
        self.give_packet(endpoint, &packet, sent_at);
    }

    /// Drops a packet with its reason, at a port or a node, and counts it for its flow. Drops at a port are also
    /// counted there, by `Port::count_drop`.
    #[cold]
    pub(super) fn drop(&mut self, id: PacketId, why: DropReason, place: Subject) {
        let packet = self.out.arena.get(id);
        let flow = packet.flow;
        if let Header::External(payload) = packet.header {
            self.external.payloads.release(payload);
        }
        let has_data = self.has_data(id);
        self.accounts.count_dropped(flow, why, has_data);
        if self.blueprint.record.drops {
            self.accounts.record_drop(self.now, place, flow, why);
        }
        if self.blueprint.record.has_packets_at(self.now) {
            self.accounts.record_packet(self.now, place, self.out.arena.get(id), Some(why));
        }
        self.record_end(id, PacketEnd::Dropped(why, place));
        self.release(id);
    }

    /// Whether a packet carries data of its flow towards its receivers; if not, it acknowledges or requests them.
    fn has_data(&self, id: PacketId) -> bool {
        let packet = self.out.arena.get(id);
        match packet.header {
            Header::Data(_) | Header::Stream(_) | Header::StreamControl(_) => true,
            Header::Tcp(_) | Header::Datagram { .. } | Header::External(_) => {
                self.hosts.has_flow(packet.flow)
                    && self.hosts.sender_of(packet.flow) == packet.source.endpoint
            }
            Header::Feedback
            | Header::Request { .. }
            | Header::Player { .. }
            | Header::Signal(_)
            | Header::Interest(_)
            | Header::Nack(_)
            | Header::Control(_) => false,
        }
    }

    /// Accounts for a packet that was the input of a node's state machine, unless that has sent it on, or drops it with
    /// the returned reason. Returns what became of it, for [`World::drain_node`].
    #[inline(always)]
    pub(super) fn end_input(
        &mut self,
        id: PacketId,
        drop_reason: Option<DropReason>,
        node: NodeId,
    ) -> RouterPacket {
        let sent = std::mem::take(&mut self.out.input);
        if self.is_recorded() {
            self.record_input(id);
        }
        match sent {
            RouterPacket::Offered(_) => self.consume(id, drop_reason, node),
            _ => self.accounts.count_delivered(),
        }
        sent
    }

    /// Accounts for a packet that a state machine took, or drops it with the returned reason.
    #[inline]
    pub(super) fn consume(&mut self, id: PacketId, drop_reason: Option<DropReason>, node: NodeId) {
        match drop_reason {
            Some(why) => self.drop(id, why, Subject::Node(node)),
            None => {
                if self.is_recorded() {
                    self.record_taken(id, node);
                }
                self.out.arena.release(id);
                self.accounts.count_delivered();
            }
        }
    }
}
