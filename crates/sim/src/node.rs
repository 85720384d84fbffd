//! Nodes that do more than forward by address: tree nodes of a name-based network, its name resolution system, forwarders of named
//! data.
//!
//! The engine's fast path knows nothing of them. A link that leads to such a node is marked, and so are the node's own ports
//! where a scheme has a part in it; packets on those take the longer way through this file.

use contract::{
    Address, Count, Cx, DropReason, Eid, EndpointId, FlowId, GroupId, Header, Input, Meter, NodeCx, NodeId,
    NodeView, Outputs, PacketId, ParamError, PortId, PortView, Random, Router, RouterInput, TransitCx,
};
use schemes::{AnyRouter, Build};
use stack::icn::{self, Attachment, GroupPart, Resolver};
use stack::ndn;
use units::Time;

use crate::agenda::{Kind, What};
use crate::blueprint::Metric;
use crate::machine::AnyNode;
use crate::port::Port;
use crate::routing::{Edge, Routes};
use crate::sdn::Beside;
use crate::trace::NodeRecord;
use crate::world::{MAX_HOPS, World};
use crate::{Blueprint, Cast, FlowKind, IcnSpec, RouteSpec};

/// A node's machine, its stream of random numbers, and what is counted about it.
pub(crate) struct NodeState {
    pub machine: AnyNode,
    /// Where an SDN controller sees to the node.
    pub agent: Option<Box<Beside>>,
    /// The machine looks at what is about to join a queue, see [`AnyNode::looks`].
    looks: bool,
    pub address: Address,
    /// When its pending `Wake` is due, and another one that was asked for before and comes later; any more are stale. A part that
    /// speaks at once, packet by packet, leaves the router's own deadline where it is.
    armed: Time,
    later: Time,
    pub random: Random,
    meter: Meter,
    sent: Sent,
    /// Counters at the end of the warm-up.
    base: (Sent, Meter, ndn::Counters),
}

impl NodeState {
    /// A machine at work. Its stream is that of the node called `name`.
    pub(crate) fn new(machine: AnyNode, address: Address, seed: u64, name: &str) -> Self {
        Self {
            machine,
            agent: None,
            looks: false,
            address,
            armed: Time::NEVER,
            later: Time::NEVER,
            random: Random::new(seed, &format!("node.{name}"), "router"),
            meter: Meter::default(),
            sent: Sent::default(),
            base: Default::default(),
        }
    }

    /// Adds one to a counter of the node.
    pub(crate) fn count(&mut self, what: Count) {
        self.meter.counts[what as usize] += 1;
    }

    #[inline]
    fn wake(&self) -> Time {
        let wake = self.machine.wake();
        match &self.agent {
            None => wake,
            Some(agent) => agent.wake().min(wake),
        }
    }
}

/// Runs a machine with an agent beside it: words of control are the agent's, packets the machine's, time goes by for both.
#[inline(never)]
fn handle_beside(
    agent: &mut Beside,
    machine: &mut AnyNode,
    input: RouterInput<'_>,
    cx: &mut NodeCx<'_, '_>,
) -> Option<DropReason> {
    match input {
        RouterInput::Packet(packet, _) if matches!(packet.header, Header::Control(_)) => {
            agent.handle(input, cx)
        }
        RouterInput::Packet(..) | RouterInput::Local(_) => machine.handle(input, cx),
        RouterInput::Timer | RouterInput::Start => {
            agent.handle(input, cx);
            machine.handle(input, cx)
        }
    }
}

/// A packet between an endpoint and the machine of its node.
pub(crate) enum HandOver {
    /// To the machine with this index.
    ToNode(usize, PacketId),
    /// To an endpoint.
    ToPeer(EndpointId, PacketId),
}

#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    packets: u64,
    bytes: u64,
    forwarded: u64,
}

/// All nodes with a machine.
#[derive(Default)]
pub(crate) struct Nodes {
    pub all: Vec<NodeState>,
    /// By node; empty where the network has none.
    pub at: Vec<u32>,
    /// By node: the router through which a host there speaks.
    access: Vec<Option<Address>>,
    /// Routes that were pinned before a controller ordered any.
    pub pinned: Vec<RouteSpec>,
}

pub(crate) const NONE: u32 = u32::MAX;

impl Nodes {
    /// The machine at `node`.
    #[inline]
    pub(crate) fn at(&self, node: NodeId) -> Option<usize> {
        self.at.get(node.index()).filter(|&&index| index != NONE).map(|&index| index as usize)
    }

    /// The address of the machine at `node`.
    pub(crate) fn address(&self, node: NodeId) -> Option<Address> {
        self.at(node).map(|index| self.all[index].address)
    }

    /// Ends the warm-up.
    pub(crate) fn rebase(&mut self) {
        for node in &mut self.all {
            node.base = (node.sent, node.meter.clone(), node.machine.counters().unwrap_or_default());
            if let AnyNode::Forwarder(forwarder) = node.machine.plain_mut() {
                forwarder.rebase();
            }
        }
    }

    /// Counters since the end of the warm-up.
    pub(crate) fn records(&self) -> Vec<NodeRecord> {
        let record = |node: &NodeState| {
            let (sent, meter, counters) = &node.base;
            NodeRecord {
                node: node.address.node,
                role: node.machine.role(),
                groups: node.machine.groups() as u64,
                sent_packets: node.sent.packets - sent.packets,
                sent_bytes: node.sent.bytes - sent.bytes,
                forwarded_packets: node.sent.forwarded - sent.forwarded,
                meter: crate::record::subtract_meter(&node.meter, meter),
                ndn: node.machine.counters().map(|now| now.since(counters)),
            }
        };
        self.all.iter().map(record).collect()
    }
}

/// What the engine shows a node of itself.
struct View<'a> {
    node: NodeId,
    now: Time,
    ports: &'a mut [Port],
    routes: &'a Routes,
    edges: &'a [Edge],
    metric: Metric,
}

impl NodeView for View<'_> {
    fn port(&mut self, port: PortId) -> PortView {
        let rate_in = self.ports[port.index() ^ 1].rate();
        self.ports[port.index()].view(port, rate_in, self.now)
    }

    fn up(&self, port: PortId) -> bool {
        self.ports[port.index()].up
    }

    fn next(&self, to: NodeId) -> Option<PortId> {
        self.routes.next(self.node, to, NO_FLOW)
    }

    fn cost(&self, to: NodeId) -> Option<u64> {
        let (mut at, mut cost) = (self.node, 0u64);
        // the bound ends the walk if pinned routes go in a circle
        for _ in 0..=self.edges.len() {
            if at == to {
                return Some(cost);
            }
            let edge = &self.edges[self.routes.next(at, to, NO_FLOW)?.index()];
            cost = cost.saturating_add(match self.metric {
                Metric::Delay => edge.delay_ns,
                Metric::Hops => 1,
            });
            at = edge.to;
        }
        None
    }
}

/// Routes among equals are asked for by nobody's flow.
pub(crate) const NO_FLOW: FlowId = FlowId(u32::MAX);

impl World {
    /// Places the machines of nodes. Endpoints come after, but the machines' addresses follow all of theirs.
    pub(crate) fn place_nodes(&mut self, blueprint: &Blueprint) -> Result<(), ParamError> {
        if blueprint.icn.is_none() && blueprint.ndn.is_none() && blueprint.sdn.is_none() {
            return Ok(());
        }
        self.nodes.at = vec![NONE; blueprint.nodes.len()];
        self.nodes.access = vec![None; blueprint.nodes.len()];
        if let Some(spec) = &blueprint.icn {
            self.place_routers(blueprint, spec)?;
        }
        if let Some(spec) = &blueprint.ndn {
            self.place_forwarders(blueprint, spec)?;
        }
        if let Some(spec) = &blueprint.sdn {
            self.place_agents(blueprint, spec)?;
        }
        self.watch_ports();
        Ok(())
    }

    /// Tells every port what its ends are.
    pub(crate) fn watch_ports(&mut self) {
        self.nodes.all.iter_mut().for_each(|node| node.looks = node.machine.looks());
        for (port, edge) in self.edges.iter().enumerate() {
            let from = self.nodes.at(edge.from).map(|index| &self.nodes.all[index]);
            let looks = from.map_or([false; 2], |node| {
                [node.looks || node.agent.is_some(), node.machine.looks_at_departures()]
            });
            self.ports[port].watch(looks, self.nodes.at(edge.to).is_some());
        }
    }

    fn place_routers(&mut self, blueprint: &Blueprint, spec: &IcnSpec) -> Result<(), ParamError> {
        let endpoints = crate::build::endpoints(blueprint);
        let places: Vec<NodeId> = spec.routers.iter().copied().chain([spec.resolver]).collect();
        let address =
            |index: usize| Address { node: places[index], endpoint: EndpointId((endpoints + index) as u32) };
        let resolver = address(places.len() - 1);
        for (index, &place) in places.iter().enumerate() {
            let machine = match index + 1 == places.len() {
                true => AnyNode::Resolver(Resolver::new(&spec.config)),
                false => AnyNode::Router(make_router(blueprint, spec, resolver)?),
            };
            self.nodes.at[place.index()] = index as u32;
            let name = &blueprint.nodes[place.index()];
            self.nodes.all.push(NodeState::new(
                self.clocked(place, machine),
                address(index),
                blueprint.seed,
                name,
            ));
        }
        let routers = access_routers(blueprint, &self.edges);
        self.nodes.access = routers.into_iter().map(|router| self.nodes.address(router?)).collect();
        Ok(())
    }

    /// A router loses its memory.
    pub(crate) fn reset_node(&mut self, node: NodeId) {
        let Some(index) = self.nodes.at(node) else { return };
        self.forget_orders(index);
        match self.nodes.all[index].machine.plain() {
            AnyNode::Forwarder(_) => return self.reset_forwarder(index),
            AnyNode::Switch | AnyNode::Controller(_) => return,
            AnyNode::Router(_) | AnyNode::Resolver(_) | AnyNode::Clocked(_) => {}
        }
        let Some(spec) = &self.blueprint.icn else { return };
        let resolver = self.nodes.address(spec.resolver).expect("it was placed with the routers");
        let fresh = match self.nodes.all[index].machine.plain() {
            AnyNode::Router(_) => AnyNode::Router(
                make_router(&self.blueprint, spec, resolver)
                    .expect("the same parameters were accepted before"),
            ),
            AnyNode::Resolver(_) => AnyNode::Resolver(Resolver::new(&spec.config)),
            AnyNode::Forwarder(_) | AnyNode::Switch | AnyNode::Controller(_) | AnyNode::Clocked(_) => {
                unreachable!("these have been dealt with")
            }
        };
        self.nodes.all[index].machine = self.clocked(node, fresh);
    }

    /// Shows an arriving packet to the node it reaches. True when the node took it.
    pub(crate) fn show_arrival(&mut self, node: NodeId, by: PortId, id: PacketId) -> bool {
        let Some(index) = self.nodes.at(node) else { return false };
        let packet = self.out.arena.get_mut(id);
        let own = PortId(by.0 ^ 1);
        let state = &mut self.nodes.all[index];
        state
            .machine
            .on_arrival(packet, &mut TransitCx { now: self.now, port: own, random: &mut state.random });
        let addressed = packet.to == state.address.into();
        if !addressed && !state.machine.takes(packet) {
            self.rearm_node(index);
            return false;
        }
        packet.hops += 1;
        if packet.hops > MAX_HOPS {
            // while routes change a tree may lead round in a circle for a moment
            self.drop(id, DropReason::HopLimit);
            self.rearm_node(index);
            return true;
        }
        let packet = *packet;
        let fate = self.run_node(index, RouterInput::Packet(&packet, own));
        self.taken(id, fate);
        self.after_node(index);
        self.hand_over();
        true
    }

    /// Shows a packet that is about to join a queue to the node whose queue it is.
    pub(crate) fn show_enqueue(&mut self, port: PortId, id: PacketId) {
        let Some(index) = self.nodes.at(self.edges[port.index()].from) else { return };
        let state = &mut self.nodes.all[index];
        if let Some(agent) = &mut state.agent {
            // it measures, which changes no deadline; marks and stamps are nothing to it
            agent.machine.on_enqueue(self.out.arena.get(id), port);
        }
        if state.looks {
            let rate_in = self.ports[port.index() ^ 1].rate();
            let view = self.ports[port.index()].view(port, rate_in, self.now);
            let mut at = TransitCx { now: self.now, port, random: &mut state.random };
            state.machine.on_enqueue(self.out.arena.get_mut(id), &view, &mut at);
            self.rearm_node(index);
        }
    }

    /// A node's deadline may have passed. `index` counts from the last endpoint.
    #[cold]
    pub(crate) fn on_node_wake(&mut self, what: What) {
        let index = what.index() - self.peers.len();
        let state = &mut self.nodes.all[index];
        if state.armed != self.now {
            return;
        }
        state.armed = std::mem::replace(&mut state.later, Time::NEVER);
        if state.wake() > self.now {
            return self.rearm_node(index);
        }
        self.run_node(index, RouterInput::Timer);
        self.digest(what);
        self.after_node(index);
        self.hand_over();
    }

    /// A packet that has no way on from `node`: for the machine that runs the node, or lost.
    #[cold]
    pub(crate) fn stay(&mut self, node: NodeId, id: PacketId) {
        match self.nodes.at(node).filter(|_| self.out.arena.get(id).to.is_own_node()) {
            Some(index) => self.local.push_back(HandOver::ToNode(index, id)),
            None => self.drop(id, DropReason::NoRoute),
        }
    }

    /// Hands over what endpoints and machines of the same node have for each other, until they are silent.
    pub(crate) fn hand_over(&mut self) {
        while let Some(next) = self.local.pop_front() {
            match next {
                HandOver::ToNode(index, id) => {
                    let packet = *self.out.arena.get(id);
                    let fate = self.run_node(index, RouterInput::Local(&packet));
                    self.taken(id, fate);
                    self.after_node(index);
                }
                HandOver::ToPeer(peer, id) => self.hand_to(peer, id),
            }
        }
    }

    fn hand_to(&mut self, peer: EndpointId, id: PacketId) {
        let taker = &mut self.peers[peer.index()];
        if !taker.active {
            return self.drop(id, DropReason::NotListening);
        }
        let packet = *self.out.arena.get(id);
        self.taken(id, None);
        let taker = &mut self.peers[peer.index()];
        let sent_at = match self.clocks.get(packet.source.node.index()) {
            None => packet.sent_at,
            Some(clock) => clock.first(packet.sent_at),
        };
        taker.count_arrival(self.now, &packet, sent_at);
        if matches!(packet.header, Header::Nack(_)) {
            taker.tally.refused_bytes += u64::from(packet.size_bytes);
        }
        taker.handle(self.now, Input::Packet(&packet), &mut self.out);
        self.after(peer.index());
    }

    /// Accounts for a packet that a machine or an endpoint took, unless it ends there with a reason.
    #[inline]
    fn taken(&mut self, id: PacketId, fate: Option<DropReason>) {
        match fate {
            Some(why) => self.drop(id, why),
            None => {
                self.out.arena.release(id);
                self.balance.delivered += 1;
            }
        }
    }

    /// Begins the run of every machine.
    pub(crate) fn start_nodes(&mut self) {
        for index in 0..self.nodes.all.len() {
            self.start_node(index);
        }
        for peer in self.producers.clone() {
            self.activate(peer.index());
        }
    }

    pub(crate) fn start_node(&mut self, index: usize) {
        self.run_node(index, RouterInput::Start);
        self.after_node(index);
    }

    #[inline]
    pub(crate) fn run_node(&mut self, index: usize, input: RouterInput<'_>) -> Option<DropReason> {
        let state = &mut self.nodes.all[index];
        let mut view = View {
            node: state.address.node,
            now: self.now,
            ports: &mut self.ports,
            routes: &self.routes,
            edges: &self.edges,
            metric: self.blueprint.metric,
        };
        let out: &mut Outputs = &mut self.out;
        let mut cx = Cx::new(self.now, state.address, NO_FLOW, &mut state.random, &mut state.meter, out);
        let mut cx = NodeCx::new(&mut cx, &mut view);
        match &mut state.agent {
            None => state.machine.handle(input, &mut cx),
            Some(agent) => handle_beside(agent, &mut state.machine, input, &mut cx),
        }
    }

    /// Sends what a node put out and asks it when to come back.
    pub(crate) fn after_node(&mut self, index: usize) {
        if !self.out.notes.pending.is_empty() {
            self.recorder.take_notes(self.now, &mut self.out.notes);
        }
        for i in 0..self.out.forwards.len() {
            let (id, port) = self.out.forwards[i];
            let packet = self.out.arena.get(id);
            let NodeState { address, sent, .. } = &mut self.nodes.all[index];
            // what the node says itself may have to take a certain port, too
            if packet.source == *address {
                self.balance.sent += 1;
                sent.packets += 1;
                sent.bytes += u64::from(packet.size_bytes);
            } else {
                self.balance.copied += 1;
                sent.forwarded += 1;
            }
            self.offer(port, id);
        }
        self.out.forwards.clear();
        for i in 0..self.out.deliveries.len() {
            let (id, peer) = self.out.deliveries[i];
            self.balance.copied += 1;
            self.local.push_back(HandOver::ToPeer(peer, id));
        }
        self.out.deliveries.clear();
        let node = self.nodes.all[index].address.node;
        for i in 0..self.out.outbox.len() {
            let id = self.out.outbox[i];
            let sent = &mut self.nodes.all[index].sent;
            sent.packets += 1;
            sent.bytes += u64::from(self.out.arena.get(id).size_bytes);
            self.balance.sent += 1;
            self.forward(node, id);
        }
        self.out.outbox.clear();
        if !self.out.orders.is_empty() {
            self.execute_orders(index);
        }
        self.rearm_node(index);
    }

    #[inline]
    pub(crate) fn rearm_node(&mut self, index: usize) {
        let state = &mut self.nodes.all[index];
        let wake = state.wake().max(self.now);
        if wake < state.armed {
            state.later = state.later.min(state.armed);
            state.armed = wake;
            self.agenda.push(wake, What::new(Kind::Wake, (self.peers.len() + index) as u32));
        }
    }

    /// How an endpoint of a named flow at `host` is attached: as its source, or as a member. `None` for other flows.
    pub(crate) fn attachment(&self, flow: FlowId, host: NodeId, source: bool) -> Option<Attachment> {
        let spec = &self.blueprint.flows[flow.index()];
        let icn = self.blueprint.icn.as_ref().filter(|_| spec.cast == Cast::Named)?;
        let access = self.nodes.access[host.index()]?;
        let gumgid = Eid::of(&spec.name);
        let make = if source { Attachment::source } else { Attachment::member };
        Some(make(GroupId(flow.0), gumgid, access, &icn.config))
    }
}

/// For each node, the name router that is nearest to it by the network's metric; of several, the one with the lowest number.
pub(crate) fn access_routers(blueprint: &Blueprint, edges: &[Edge]) -> Vec<Option<NodeId>> {
    let mut into: Vec<Vec<&Edge>> = vec![Vec::new(); blueprint.nodes.len()];
    edges.iter().filter(|edge| edge.up).for_each(|edge| into[edge.to.index()].push(edge));
    let nobody = (u64::MAX, u32::MAX, NodeId(u32::MAX));
    let mut search = graph::Search::new(blueprint.nodes.len(), nobody);
    let routers = blueprint.icn.iter().flat_map(|icn| &icn.routers);
    routers.for_each(|&router| search.start(router.index(), (0, 0, router)));
    while let Some((node, (cost, hops, router))) = search.settle() {
        for edge in &into[node] {
            let step = if blueprint.metric == Metric::Hops { 1 } else { edge.delay_ns };
            search.offer(edge.from.index(), (cost.saturating_add(step), hops + 1, router), ());
        }
    }
    let (nearest, _) = search.finish();
    nearest.into_iter().map(|best| (best != nobody).then_some(best.2)).collect()
}

/// A tree node with one part for each different scheme and set of parameters among the named flows.
fn make_router(
    blueprint: &Blueprint,
    spec: &IcnSpec,
    resolver: Address,
) -> Result<icn::Router<AnyRouter>, ParamError> {
    let mut kinds = Vec::new();
    let mut parts = Vec::new();
    let mut known = Vec::new();
    for flow in &blueprint.flows {
        let mut row = GroupPart { part: None, feedback: units::Bytes::ZERO };
        if let (FlowKind::Stream(config), Cast::Named) = (&flow.kind, flow.cast) {
            row.feedback = config.feedback;
            let entry = schemes::find(flow.scheme.as_deref().unwrap_or_default());
            if let Some(Build::Stream { router: Some(make), .. }) = entry.map(|entry| entry.build) {
                let kind = (&flow.scheme, &flow.params, config.packet);
                let index = kinds.iter().position(|other| *other == kind);
                row.part = Some(match index {
                    Some(index) => index,
                    None => {
                        kinds.push(kind);
                        parts.push(make(&flow.params, &crate::peer::stream_setup(config))?);
                        parts.len() - 1
                    }
                });
            }
        }
        known.push(row);
    }
    Ok(icn::Router::new(&spec.config, resolver, parts, known))
}
