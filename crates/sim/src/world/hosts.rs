//! Endpoints and state machines of nodes: their inputs, outputs and deadlines.

use contract::{
    DropReason, EndpointId, Header, Input, LostConnection, PacketId, PortId, RouterInput, RouterPacket,
};
use units::Time;

use super::{LocalDelivery, World};
use crate::agenda::{AgendaEvent, Kind};
use crate::packet_log::PacketEnd;
use crate::trace::Subject;

impl World {
    pub(super) fn on_wake(&mut self, what: AgendaEvent) {
        let Some((state, machines)) = self.hosts.wake_target(what) else { return self.on_node_wake(what) };
        if !state.take_wake(self.now) {
            return;
        }
        let endpoint = EndpointId(what.index() as u32);
        if !state.is_due(self.now, machines) {
            // the deadline moved since: it is checked when it comes
            return self.hosts.rearm(endpoint, self.now, &mut self.agenda);
        }
        state.handle(self.now, Input::Timer, machines, &mut self.out);
        self.accounts.count_event(self.now, what);
        self.after(endpoint);
        if !self.local.is_empty() {
            self.deliver_local();
        }
    }

    /// Sends the outputs of an endpoint and schedules its next wake.
    pub(super) fn after(&mut self, endpoint: EndpointId) {
        let wake = self.hosts.arm(endpoint, self.now);
        self.take_outputs(endpoint, wake);
    }

    /// Sends the outputs of an endpoint and schedules a wake. It is inlined everywhere, because a call costs time in
    /// the path of every packet.
    #[inline(always)]
    pub(super) fn take_outputs(&mut self, endpoint: EndpointId, wake: Time) {
        let noted = self.out.notes.due;
        if noted {
            self.take_notes(endpoint);
        }
        if !self.out.outbox.is_empty() {
            self.send_outbox(endpoint);
        }
        if wake != Time::NEVER {
            self.agenda.push(wake, AgendaEvent::new(Kind::Wake, endpoint.0));
        }
        if noted {
            self.end_lost();
        }
    }

    /// Records the connections that endpoints lost, and ends the flows whose senders did.
    #[cold]
    fn end_lost(&mut self) {
        while let Some(LostConnection { flow, endpoint, reason }) = self.out.notes.lost.pop() {
            let sends = endpoint == self.hosts.sender_of(flow);
            let subject =
                match self.hosts.receivers_of(flow).find(|&it| self.hosts.receiver(it).1 == endpoint) {
                    Some(receiver) if !sends => Subject::Receiver(receiver as u32),
                    _ => Subject::Flow(flow),
                };
            self.accounts.record_lost(self.now, subject, reason);
            if sends {
                self.stop_flow(flow);
            }
        }
    }

    #[inline(always)]
    fn send_outbox(&mut self, endpoint: EndpointId) {
        let mut i = 0;
        while let Some(&id) = self.out.outbox.get(i) {
            let packet = self.out.arena.get(id);
            let (node, to, flow) = (packet.source.node, packet.to, packet.flow);
            self.hosts.endpoint(endpoint).count_sent(packet.size_bytes);
            self.accounts.count_sent();
            match to.as_group() {
                _ if to.is_address() => self.forward(node, (to, flow), id),
                None => self.deliver_locally_or_drop(node, id),
                Some(group) => self.replicate(node, group, id),
            }
            i += 1;
        }
        self.out.outbox.clear();
    }

    // ---- state machines of nodes

    /// Starts the state machines of all nodes and the producers of named data.
    pub(super) fn start_nodes(&mut self) {
        for index in 0..self.hosts.nodes.len() {
            self.start_node(index);
        }
        for producer in self.hosts.producers() {
            self.activate(producer);
        }
    }

    pub(super) fn start_node(&mut self, index: usize) {
        self.run_node(index, RouterInput::Start);
        self.after_node(index);
    }

    #[inline]
    pub(super) fn run_node(&mut self, index: usize, input: RouterInput<'_>) -> Option<DropReason> {
        self.hosts.nodes.run(index, input, self.now, &mut self.fabric, &mut self.out)
    }

    /// Handles the `Wake` of a node.
    #[cold]
    fn on_node_wake(&mut self, what: AgendaEvent) {
        if what.index() < self.hosts.count() {
            // its flow has ended
            return;
        }
        let Some(index) = self.hosts.nodes.wake_target(what, self.now) else { return };
        if !self.hosts.nodes.is_due(index, self.now) {
            return self.hosts.nodes.rearm(index, self.now, &mut self.agenda);
        }
        self.run_node(index, RouterInput::Timer);
        self.accounts.count_event(self.now, what);
        self.after_node(index);
        self.deliver_local();
    }

    /// Sends the outputs of a node and schedules its next wake.
    #[inline(never)]
    pub(super) fn after_node(&mut self, index: usize) {
        self.drain_node(index, RouterPacket::None);
    }

    /// Sends the outputs of a node and schedules its next wake, in the path of every packet, which the node may have
    /// `sent` on.
    #[inline(always)]
    pub(super) fn drain_node(&mut self, index: usize, sent: RouterPacket) {
        if self.out.notes.due {
            self.take_notes(self.hosts.nodes.address_at(index).endpoint);
        }
        match sent {
            RouterPacket::Forwarded(id, port) => self.offer_from_node(index, id, port),
            RouterPacket::Delivered(id, endpoint) => {
                self.accounts.count_copied(1);
                self.local.push(LocalDelivery::ToEndpoint(endpoint, id));
            }
            RouterPacket::None | RouterPacket::Offered(_) => {}
        }
        if !(self.out.forwards.is_empty() && self.out.deliveries.is_empty()) {
            self.send_forwards(index);
        }
        let node = self.hosts.nodes.node(index);
        for i in 0..self.out.outbox.len() {
            let id = self.out.outbox[i];
            let packet = self.out.arena.get(id);
            let (to, flow) = (packet.to, packet.flow);
            self.hosts.nodes.get_mut(index).count_sent(packet);
            self.accounts.count_sent();
            self.forward(node, (to, flow), id);
        }
        self.out.outbox.clear();
        if !self.out.commands.is_empty() {
            self.execute_commands(index);
        }
        if self.out.notes.due {
            self.end_recorded_input();
        }
        self.hosts.nodes.rearm(index, self.now, &mut self.agenda);
    }

    /// Offers a packet that a node forwards to a port. Packets of the node itself may have a given port, too.
    #[inline(always)]
    fn offer_from_node(&mut self, index: usize, id: PacketId, port: PortId) {
        if self.hosts.nodes.get_mut(index).count_forward(self.out.arena.get(id)) {
            self.accounts.count_sent();
        } else {
            self.accounts.count_copied(1);
            if self.is_recorded() {
                self.record_forwarded(id);
            }
        }
        self.offer(port, id);
    }

    /// Sends the copies that a node forwards and delivers.
    #[inline(never)]
    fn send_forwards(&mut self, index: usize) {
        for i in 0..self.out.forwards.len() {
            let (id, port) = self.out.forwards[i];
            self.offer_from_node(index, id, port);
        }
        self.out.forwards.clear();
        for i in 0..self.out.deliveries.len() {
            let (id, endpoint) = self.out.deliveries[i];
            self.accounts.count_copied(1);
            if self.is_recorded() {
                self.record_forwarded(id);
            }
            self.local.push(LocalDelivery::ToEndpoint(endpoint, id));
        }
        self.out.deliveries.clear();
    }

    /// Delivers packets between endpoints and the state machine of the same node, until no packet is left.
    pub(super) fn deliver_local(&mut self) {
        while let Some(next) = self.local.pop() {
            match next {
                LocalDelivery::ToNode(index, id) => {
                    let index = index as usize;
                    let packet = *self.out.arena.get(id);
                    self.out.input = RouterPacket::Offered(id);
                    let drop_reason = self.run_node(index, RouterInput::Local(&packet));
                    let node = self.hosts.nodes.node(index);
                    let sent = self.end_input(id, drop_reason, node);
                    self.drain_node(index, sent);
                    self.prefetch_request(index, packet.source.endpoint);
                }
                LocalDelivery::ToEndpoint(endpoint, id) => self.deliver_from_node(endpoint, id),
            }
        }
    }

    #[inline(always)]
    pub(super) fn deliver_from_node(&mut self, endpoint: EndpointId, id: PacketId) {
        let node = self.hosts.address(endpoint).node;
        if !self.hosts.is_active(endpoint) {
            return self.drop(id, DropReason::NotListening, Subject::Node(node));
        }
        let packet = *self.out.arena.get(id);
        if self.is_recorded() {
            self.record_end(id, PacketEnd::Delivered(endpoint));
        }
        self.out.arena.release(id);
        self.accounts.count_delivered();
        let sent_at = self.hosts.true_time(packet.source.node, packet.sent_at);
        if matches!(packet.header, Header::Nack(_)) {
            self.hosts.endpoint(endpoint).count_refused(packet.size_bytes);
        }
        let (_, wake) = self.hosts.receive(endpoint, (&packet, sent_at), self.now, &mut self.out);
        self.take_outputs(endpoint, wake);
    }
}
