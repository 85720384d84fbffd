//! Nodes with a state machine: routers and resolver of a name-based network, NDN forwarders, the SDN controller.
//!
//! The fast path of packets does not involve them. A link to such a node is marked, and so are the node's own ports
//! with a part of a scheme; packets on these take the slow path.

use contract::{
    Address, Count, Cx, DropReason, Ecn, Eid, EndpointId, FlowId, GroupId, Header, Meter, NodeCx, NodeId,
    NodeView, Outputs, Packet, ParamError, PortId, PortView, Random, Router, RouterInput, TransitCx,
};
use memory::prefetch;
use schemes::{AnyRouter, Build};
use stack::icn::{self, Attachment, GroupPart, Resolver};
use stack::ndn;
use units::graph::Search;
use units::{Duration, Time};

use super::any_node::AnyNode;
use super::clocks::Clocks;
use super::endpoint::stream_setup;
use super::node_agent::NodeAgent;
use crate::agenda::{Agenda, AgendaEvent, Kind};
use crate::blueprint::Metric;
use crate::fabric::{Edge, Fabric, NO_FLOW};
use crate::packet_log::{EndpointRole, EndpointRow};
use crate::trace::NodeRecord;
use crate::{Blueprint, Cast, FlowKind, IcnSpec};

/// A node's state machine, its random stream and its counters. What every packet needs comes first.
#[repr(C)]
pub(crate) struct NodeState {
    /// The SDN agent of the node, if it has one.
    pub(super) agent: Option<Box<NodeAgent>>,
    /// Whether it observes packets that are offered to a queue, see [`AnyNode::observes_offers`].
    observes_offers: bool,
    /// Whether a departure that it observes can change its deadline.
    departures_move_deadlines: bool,
    /// See [`AnyNode::observes_arrivals`].
    observes_arrivals: bool,
    pub(super) address: Address,
    /// When its pending `Wake` is due, and an earlier requested one that comes later; all others are stale. The second
    /// is needed because a part with frequent short deadlines does not move the router's own deadline.
    armed: Time,
    later: Time,
    sent: Sent,
    pub(super) machine: AnyNode,
    random: Random,
    meter: Meter,
    /// Counters at the end of the warm-up.
    base: (Sent, Meter, ndn::Counters),
}

/// Cache lines of a node that packets need.
const NODE_LINES: usize = 3;

impl NodeState {
    /// The state of a node. Its random stream is the stream of the node called `name`.
    fn new(machine: AnyNode, address: Address, seed: u64, name: &str) -> Self {
        Self {
            machine,
            agent: None,
            observes_offers: false,
            departures_move_deadlines: true,
            observes_arrivals: true,
            address,
            armed: Time::NEVER,
            later: Time::NEVER,
            random: Random::new(seed, &format!("node.{name}"), "router"),
            meter: Meter::default(),
            sent: Sent::default(),
            base: Default::default(),
        }
    }

    /// Counts a packet that the node sends on a given port. Returns whether the packet is the node's own, not a
    /// forwarded one.
    pub(crate) fn count_forward(&mut self, packet: &Packet) -> bool {
        let own = packet.source == self.address;
        if own {
            self.count_sent(packet);
        } else {
            self.sent.forwarded += 1;
        }
        own
    }

    /// Counts a packet of the node itself.
    pub(crate) fn count_sent(&mut self, packet: &Packet) {
        self.sent.packets += 1;
        self.sent.bytes += u64::from(packet.size_bytes);
    }

    /// Adds one to a counter of the node.
    pub(crate) fn count(&mut self, what: Count) {
        self.meter.counts[what as usize] += 1;
    }

    /// When the node's state machine or its agent is to be called next.
    #[inline(always)]
    fn wake(&self) -> Time {
        let wake = self.machine.wake();
        match &self.agent {
            None => wake,
            Some(agent) => agent.wake().min(wake),
        }
    }
}

/// Whether an input is a packet that is no control message, which concerns the state machine of the node and not its
/// agent.
#[inline(always)]
fn is_forwarded(input: &RouterInput<'_>) -> bool {
    match input {
        RouterInput::Packet(packet, _) => !matches!(packet.header, Header::Control(_)),
        RouterInput::Local(_) => true,
        RouterInput::Timer | RouterInput::Start => false,
    }
}

/// Gives an input to a state machine with an agent: control messages go to the agent, packets to the state machine,
/// timers to both.
#[inline(never)]
fn handle_with_agent(
    agent: &mut NodeAgent,
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

#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    packets: u64,
    bytes: u64,
    forwarded: u64,
}

/// All nodes with a state machine.
#[derive(Default)]
pub(crate) struct Nodes {
    pub(super) all: Vec<NodeState>,
    /// Per node; empty if the network has no state machines.
    pub(super) at: Vec<u32>,
    /// Per node: the access router of its host.
    access: Vec<Option<Address>>,
    /// Offset from an index to its number in agenda entries, where nodes follow endpoints.
    first: u32,
}

pub(super) const NONE: u32 = u32::MAX;

impl Nodes {
    /// No state machines. They are added before endpoints, but numbered after them.
    pub(super) fn new(blueprint: &Blueprint) -> Self {
        let mut nodes = Self { first: blueprint.endpoints() as u32, ..Self::default() };
        if blueprint.icn.is_some() || blueprint.ndn.is_some() || blueprint.sdn.is_some() {
            nodes.at = vec![NONE; blueprint.nodes.len()];
            nodes.access = vec![None; blueprint.nodes.len()];
        }
        nodes
    }

    /// Adds the state machine of a node.
    pub(super) fn add(&mut self, node: NodeId, machine: AnyNode, blueprint: &Blueprint) {
        let index = self.all.len() as u32;
        self.at[node.index()] = index;
        let address = Address { node, endpoint: EndpointId(self.first + index) };
        self.all.push(NodeState::new(machine, address, blueprint.seed, &blueprint.nodes[node.index()]));
    }

    /// Informs every port of the state machines at its ends.
    pub(crate) fn observe_ports(&mut self, fabric: &mut Fabric) {
        if self.at.is_empty() {
            return;
        }
        for node in &mut self.all {
            node.observes_offers = node.machine.observes_offers();
            node.departures_move_deadlines = node.machine.departures_move_deadlines();
            node.observes_arrivals = node.machine.observes_arrivals();
        }
        for port in fabric.port_ids() {
            let Edge { from, to, .. } = fabric.edges()[port.index()];
            let observed = self.at(from).map(|index| &self.all[index]).map_or([false; 2], |node| {
                [node.observes_offers || node.agent.is_some(), node.machine.observes_departures()]
            });
            fabric.port(port).observe(observed, self.at(from).is_some(), self.at(to).is_some());
        }
    }

    /// Adds the routers and the resolver of a network by name.
    pub(super) fn place_routers(
        &mut self,
        blueprint: &Blueprint,
        spec: &IcnSpec,
        edges: &[Edge],
        clocks: &Clocks,
    ) -> Result<(), ParamError> {
        let number = self.first + spec.routers.len() as u32;
        let resolver = Address { node: spec.resolver, endpoint: EndpointId(number) };
        for &node in &spec.routers {
            let router = AnyNode::Router(make_router(blueprint, spec, resolver)?);
            self.add(node, clocks.wrap(node, router), blueprint);
        }
        let machine = AnyNode::Resolver(Resolver::new(&spec.config));
        self.add(spec.resolver, clocks.wrap(spec.resolver, machine), blueprint);
        let routers = access_routers(blueprint, edges);
        self.access = routers.into_iter().map(|router| self.address(router?)).collect();
        Ok(())
    }

    /// A new router or resolver for this index; `None` if the node is neither.
    pub(super) fn fresh_router(&self, index: usize, blueprint: &Blueprint) -> Option<AnyNode> {
        let spec = blueprint.icn.as_ref()?;
        let resolver = self.address(spec.resolver).expect("it was placed with the routers");
        match self.all[index].machine.plain() {
            AnyNode::Router(_) => {
                let router = make_router(blueprint, spec, resolver);
                Some(AnyNode::Router(router.expect("the same parameters were accepted before")))
            }
            AnyNode::Resolver(_) => Some(AnyNode::Resolver(Resolver::new(&spec.config))),
            AnyNode::Forwarder(_) | AnyNode::Switch | AnyNode::Controller(_) | AnyNode::Clocked(_) => None,
        }
    }

    /// Replaces the state machine with this index by one in its initial state.
    pub(super) fn replace(&mut self, index: usize, machine: AnyNode, clocks: &Clocks) {
        let state = &mut self.all[index];
        state.machine = clocks.wrap(state.address.node, machine);
    }

    /// Whether the state machine with this index is a controller that runs.
    pub(super) fn controls(&self, index: usize) -> bool {
        matches!(self.all[index].machine.plain(), AnyNode::Controller(Some(_)))
    }

    /// Stops the controller, which has this index.
    pub(super) fn stop_controller(&mut self, index: usize) {
        self.all[index].machine = AnyNode::Controller(None);
    }

    /// Requests the state of the node with this index from memory.
    #[inline]
    pub(crate) fn prefetch(&self, index: usize) {
        prefetch(&self.all[index], NODE_LINES);
    }

    /// The index of the state machine at `node`.
    #[inline]
    pub(crate) fn at(&self, node: NodeId) -> Option<usize> {
        self.at.get(node.index()).filter(|&&index| index != NONE).map(|&index| index as usize)
    }

    /// The address of the state machine at `node`.
    pub(crate) fn address(&self, node: NodeId) -> Option<Address> {
        self.at(node).map(|index| self.all[index].address)
    }

    /// The address of the state machine with this index.
    pub(crate) fn address_at(&self, index: usize) -> Address {
        self.all[index].address
    }

    /// The node of the state machine with this index.
    #[inline]
    pub(crate) fn node(&self, index: usize) -> NodeId {
        self.all[index].address.node
    }

    /// Whether the deadline of a state machine has expired. It can have changed since the `Wake` was scheduled.
    pub(crate) fn is_due(&self, index: usize, now: Time) -> bool {
        self.all[index].wake() <= now
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> &NodeState {
        &self.all[index]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: usize) -> &mut NodeState {
        &mut self.all[index]
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The nodes of the state machines, in the order of their addresses.
    pub(super) fn places(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.all.iter().map(|state| state.address.node)
    }

    /// The state machines as the record of packets names them.
    pub(super) fn rows(&self) -> impl Iterator<Item = EndpointRow> + '_ {
        self.all.iter().map(|state| EndpointRow {
            address: state.address,
            role: EndpointRole::Node(state.machine.role()),
            flow: None,
        })
    }

    /// The counters of the state machine with this index over the whole run, the counters of a forwarder, and its node.
    pub(super) fn meter(&self, index: usize) -> Option<(&Meter, Option<ndn::Counters>, NodeId)> {
        let state = self.all.get(index)?;
        Some((&state.meter, state.machine.counters(), state.address.node))
    }

    // ---- inputs

    /// Gives an input to a state machine. A returned reason means that the packet of the input is dropped.
    #[inline]
    pub(crate) fn run(
        &mut self,
        index: usize,
        input: RouterInput<'_>,
        now: Time,
        fabric: &mut Fabric,
        out: &mut Outputs,
    ) -> Option<DropReason> {
        let state = &mut self.all[index];
        let mut view = FabricView { node: state.address.node, now, fabric };
        let mut cx = Cx::new(now, state.address, NO_FLOW, &mut state.random, &mut state.meter, out);
        let mut cx = NodeCx::new(&mut cx, &mut view);
        match &mut state.agent {
            Some(agent) if !is_forwarded(&input) => {
                handle_with_agent(agent, &mut state.machine, input, &mut cx)
            }
            _ => state.machine.handle(input, &mut cx),
        }
    }

    /// Shows an arriving packet to the node that it reaches through the link of the node's `port`. Returns whether the
    /// node takes it.
    #[inline]
    pub(crate) fn observe_arrival(&mut self, index: usize, packet: &Packet, port: PortId, now: Time) -> bool {
        let state = &mut self.all[index];
        if !state.observes_arrivals {
            return packet.to == state.address.into();
        }
        state.machine.on_arrival(packet, &mut TransitCx { now, port, random: &mut state.random });
        packet.to == state.address.into() || state.machine.takes(packet)
    }

    /// Shows a packet that is about to be offered to a queue to the state machine with this index, at the node of the
    /// queue.
    #[inline(always)]
    pub(crate) fn observe_offer(
        &mut self,
        index: usize,
        port: PortId,
        packet: &mut Packet,
        now: Time,
        fabric: &mut Fabric,
        agenda: &mut Agenda,
    ) {
        let state = &mut self.all[index];
        if let Some(agent) = &mut state.agent {
            // the agent only measures: its deadlines, marks and labels do not change
            agent.machine.on_enqueue(packet, port);
        }
        if state.observes_offers {
            let view = fabric.view(port, now);
            let mut at = TransitCx { now, port, random: &mut state.random };
            state.machine.on_enqueue(packet, &view, &mut at);
            self.rearm(index, now, agenda);
        }
    }

    /// Shows a packet that leaves a queue to the state machine with this index, at the node of the queue. Returns
    /// whether that marks it.
    #[inline(always)]
    pub(crate) fn observe_departure(
        &mut self,
        index: usize,
        packet: &mut Packet,
        view: &PortView,
        waited: Duration,
        now: Time,
        agenda: &mut Agenda,
    ) -> bool {
        let before = packet.ecn;
        let state = &mut self.all[index];
        let mut at = TransitCx { now, port: view.port, random: &mut state.random };
        state.machine.on_dequeue(packet, view, waited, &mut at);
        if state.departures_move_deadlines {
            self.rearm(index, now, agenda);
        }
        before != packet.ecn && packet.ecn == Ecn::Marked
    }

    // ---- deadlines

    /// The state machine that a `Wake` is for; `None` if the entry is stale.
    pub(crate) fn wake_target(&mut self, what: AgendaEvent, now: Time) -> Option<usize> {
        let index = what.index() - self.first as usize;
        let state = &mut self.all[index];
        if state.armed != now {
            return None;
        }
        state.armed = std::mem::replace(&mut state.later, Time::NEVER);
        Some(index)
    }

    /// Schedules the next `Wake` of a state machine.
    #[inline(always)]
    pub(crate) fn rearm(&mut self, index: usize, now: Time, agenda: &mut Agenda) {
        let state = &self.all[index];
        let wake = state.wake().max(now);
        if wake < state.armed {
            self.arm(index, wake, agenda);
        }
    }

    /// Schedules a `Wake` of a state machine that is earlier than all others.
    #[inline(never)]
    fn arm(&mut self, index: usize, wake: Time, agenda: &mut Agenda) {
        let state = &mut self.all[index];
        state.later = state.later.min(state.armed);
        state.armed = wake;
        agenda.push(wake, AgendaEvent::new(Kind::Wake, self.first + index as u32));
    }

    /// The attachment of an endpoint of a named flow at `host`, as source or member; `None` for other flows.
    pub(super) fn attachment(
        &self,
        flow: FlowId,
        host: NodeId,
        source: bool,
        blueprint: &Blueprint,
    ) -> Option<Attachment> {
        let spec = &blueprint.flows[flow.index()];
        let icn = blueprint.icn.as_ref().filter(|_| spec.cast == Cast::Named)?;
        let access = self.access[host.index()]?;
        let gumgid = Eid::of(&spec.name);
        let make = if source { Attachment::source } else { Attachment::member };
        Some(make(GroupId(flow.0), gumgid, access, &icn.config))
    }

    /// Ends the warm-up.
    pub(super) fn rebase(&mut self) {
        for node in &mut self.all {
            node.base = (node.sent, node.meter.clone(), node.machine.counters().unwrap_or_default());
            if let AnyNode::Forwarder(forwarder) = node.machine.plain_mut() {
                forwarder.rebase();
            }
        }
    }

    /// The ports in the tree of each group that is forwarded by name. `groups` is the number of groups.
    pub(crate) fn branches(&self, groups: usize) -> impl Iterator<Item = (GroupId, PortId)> {
        self.all.iter().flat_map(move |node| node.machine.branches(groups))
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
                meter: node.meter.since(meter),
                ndn: node.machine.counters().map(|now| now.since(counters)),
            }
        };
        self.all.iter().map(record).collect()
    }
}

/// The fabric in the form that a node's state machine sees.
struct FabricView<'a> {
    node: NodeId,
    now: Time,
    fabric: &'a mut Fabric,
}

impl NodeView for FabricView<'_> {
    fn port(&mut self, port: PortId) -> PortView {
        self.fabric.view(port, self.now)
    }

    fn up(&self, port: PortId) -> bool {
        self.fabric.is_up(port)
    }

    fn next(&self, to: NodeId) -> Option<PortId> {
        self.fabric.next_hop(self.node, to, NO_FLOW)
    }

    fn cost(&self, to: NodeId) -> Option<u64> {
        self.fabric.path_cost(self.node, to)
    }
}

/// Per node: the closest name router by the network's metric; the one with the lowest number among equals.
pub(crate) fn access_routers(blueprint: &Blueprint, edges: &[Edge]) -> Vec<Option<NodeId>> {
    let mut into: Vec<Vec<&Edge>> = vec![Vec::new(); blueprint.nodes.len()];
    edges.iter().filter(|edge| edge.is_up()).for_each(|edge| into[edge.to.index()].push(edge));
    let unreachable = (u64::MAX, u32::MAX, NodeId(u32::MAX));
    let mut search = Search::new(blueprint.nodes.len(), unreachable);
    let routers = blueprint.icn.iter().flat_map(|icn| &icn.routers);
    routers.for_each(|&router| search.start(router.index(), (0, 0, router)));
    while let Some((node, (cost, hops, router))) = search.settle() {
        for edge in &into[node] {
            let step = if blueprint.metric == Metric::Hops { 1 } else { edge.delay_ns() };
            search.offer(edge.from.index(), (cost.saturating_add(step), hops + 1, router), ());
        }
    }
    let (nearest, _) = search.finish();
    nearest.into_iter().map(|best| (best != unreachable).then_some(best.2)).collect()
}

/// A tree node with one part per distinct scheme and set of parameters among the named flows.
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
        if let (FlowKind::Stream(config), Cast::Named) = (&*flow.kind, flow.cast) {
            row.feedback = config.feedback;
            let entry = schemes::find(flow.scheme.as_deref().unwrap_or_default());
            if let Some(Build::Stream { router: Some(make), .. }) = entry.map(|entry| entry.build) {
                let kind = (&flow.scheme, &flow.params, config.packet);
                let index = kinds.iter().position(|other| *other == kind);
                row.part = Some(match index {
                    Some(index) => index,
                    None => {
                        kinds.push(kind);
                        parts.push(make(&flow.params, &stream_setup(config))?);
                        parts.len() - 1
                    }
                });
            }
        }
        known.push(row);
    }
    Ok(icn::Router::new(&spec.config, resolver, parts, known))
}
