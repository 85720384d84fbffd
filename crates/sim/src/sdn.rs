//! Where an SDN controller and its agents stand, what the controller is set up with, and what orders do.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::{
    Address, Count, DirectedLink, DropReason, EndpointId, Hop, NameId, Net, NextHop, NodeCx, NodeId, Note,
    Order, ParamError, PortId, RouterInput, Setup, Wants,
};
use schemes::AnyApp;
use stack::sdn::{Agent, AgentLocation, Controller};
use units::{Bytes, Clock, Rate, Time};

use crate::machine::AnyNode;
use crate::node::{NO_FLOW, NONE, NodeState};
use crate::world::World;
use crate::{Blueprint, FlowKind, Limit, RouteSpec, SdnSpec};

/// An agent beside the machine of a node, and the node's clock where that is not right.
pub(crate) struct Beside {
    pub machine: Agent,
    clock: Option<Clock>,
}

impl Beside {
    pub(crate) fn handle(&mut self, input: RouterInput<'_>, cx: &mut NodeCx<'_, '_>) -> Option<DropReason> {
        let Some(clock) = self.clock else { return self.machine.handle(input, cx) };
        let shown = clock.shows(cx.now());
        let now = cx.show(shown);
        let fate = self.machine.handle(input, cx);
        cx.show(now);
        fate
    }

    #[inline]
    pub(crate) fn wake(&self) -> Time {
        self.clock.map_or(self.machine.wake(), |clock| clock.first(self.machine.wake()))
    }
}

impl World {
    /// Places agents beside the machines of nodes, or alone, and the controller after all of them.
    pub(crate) fn place_agents(&mut self, blueprint: &Blueprint, spec: &SdnSpec) -> Result<(), ParamError> {
        let endpoints = crate::build::endpoints(blueprint);
        self.nodes.pinned.clone_from(&blueprint.routes);
        for &node in spec.nodes.iter().chain([&spec.controller]) {
            if self.nodes.at[node.index()] == NONE {
                let machine =
                    if node == spec.controller { AnyNode::Controller(None) } else { AnyNode::Switch };
                let number = self.nodes.all.len() as u32;
                let address = Address { node, endpoint: EndpointId(endpoints as u32 + number) };
                let name = &blueprint.nodes[node.index()];
                self.nodes.at[node.index()] = number;
                self.nodes.all.push(NodeState::new(machine, address, blueprint.seed, name));
            }
        }
        let wants = contract::App::wants(&make_app(blueprint, spec)?);
        let served = Arc::new(served(blueprint));
        for &node in &spec.nodes {
            let agent = self.make_agent(node, spec, wants, &served);
            let index = self.nodes.at(node).expect("it was placed");
            let clock = self.clocks.get(node.index()).copied();
            self.nodes.all[index].agent = Some(Box::new(Beside { machine: agent, clock }));
        }
        let controller = self.make_controller()?;
        let index = self.nodes.at(spec.controller).expect("it was placed");
        self.nodes.all[index].machine =
            self.clocked(spec.controller, AnyNode::Controller(Some(Box::new(controller))));
        Ok(())
    }

    fn make_agent(&self, node: NodeId, spec: &SdnSpec, wants: Wants, served: &Arc<Vec<NameId>>) -> Agent {
        let controller = self.nodes.address(spec.controller).expect("it was placed");
        let port = self.control_port(node, spec.controller, spec);
        let own = |(port, edge): (u32, &crate::routing::Edge)| {
            (edge.from == node && !self.is_control_port(PortId(port))).then_some(PortId(port))
        };
        let ports: Vec<PortId> = (0u32..).zip(&self.edges).filter_map(own).collect();
        Agent::new(&spec.config, controller, port, wants, &ports, Arc::clone(served))
    }

    fn is_control_port(&self, port: PortId) -> bool {
        self.blueprint.is_control(contract::LinkId(port.0 / 2))
    }

    /// The port of `from` to `to` for control messages, where they have links of their own.
    fn control_port(&self, from: NodeId, to: NodeId, spec: &SdnSpec) -> Option<PortId> {
        if !spec.out_of_band {
            return None;
        }
        let port = self.edges.iter().position(|edge| edge.from == from && edge.to == to)?;
        Some(PortId(port as u32))
    }

    /// A controller that knows what it is set up with, and nothing of what happened before.
    fn make_controller(&self) -> Result<Controller<AnyApp>, ParamError> {
        let spec = self.blueprint.sdn.as_ref().expect("there is a controller");
        let location = |&node: &NodeId| AgentLocation {
            address: self.nodes.address(node).expect("it was placed"),
            port: self.control_port(spec.controller, node, spec),
        };
        let locations: Vec<AgentLocation> = spec.nodes.iter().map(location).collect();
        let app = make_app(&self.blueprint, spec)?;
        Ok(Controller::new(&spec.config, app, self.inventory(spec), &locations))
    }

    /// What the controller is set up with, before anybody reports; `None` where there is none. For controllers of real networks.
    pub fn controller_net(&self) -> Option<Net> {
        self.blueprint.sdn.as_ref().map(|spec| self.inventory(spec))
    }

    /// The network as it is set up: all that a controller knows before anybody reports.
    fn inventory(&self, spec: &SdnSpec) -> Net {
        let blueprint = &self.blueprint;
        let link = |(port, edge): (u32, &crate::routing::Edge)| {
            if self.is_control_port(PortId(port)) {
                return None;
            }
            let link = &blueprint.links[port as usize / 2];
            let direction = if port % 2 == 0 { &link.forward } else { &link.backward };
            let limit = match direction.queue.limit {
                Limit::Packets(packets) => packets,
                Limit::Bytes(_) => u32::MAX,
            };
            Some(DirectedLink {
                port: PortId(port),
                back: PortId(port ^ 1),
                from: edge.from,
                to: edge.to,
                rate: direction.rate,
                delay: direction.delay,
                limit,
            })
        };
        let links: Vec<Option<DirectedLink>> = (0u32..).zip(&self.edges).map(link).collect();
        let mut out: Vec<Vec<PortId>> = vec![Vec::new(); blueprint.nodes.len()];
        links.iter().flatten().for_each(|link| out[link.from.index()].push(link.port));
        let mut net = Net { links, out, agents: spec.nodes.clone(), names: Arc::default(), ..Net::default() };
        if let Some(ndn) = &blueprint.ndn {
            net.names = Arc::new(ndn.names.clone());
            for producer in &ndn.producers {
                let nodes: &mut Vec<NodeId> = net.origins.entry(producer.config.prefix).or_default();
                if let Err(place) = nodes.binary_search(&producer.node) {
                    nodes.insert(place, producer.node);
                }
            }
            net.hops = self.next_hops(spec, net.origins.keys().copied());
        }
        let receivers = blueprint
            .flows
            .iter()
            .filter(|flow| !matches!(flow.kind, FlowKind::Ndn(_)))
            .flat_map(|flow| [flow.from].into_iter().chain(flow.to.iter().map(|receiver| receiver.node)));
        let receivers: std::collections::BTreeSet<NodeId> = receivers.collect();
        for &node in &spec.nodes {
            for &to in &receivers {
                if let Some(port) = self.routes.next(node, to, NO_FLOW) {
                    net.routes.insert((node, to), port);
                }
            }
        }
        net
    }

    /// Next hops over links that the metric gives, for nodes with an agent.
    fn next_hops(
        &self,
        spec: &SdnSpec,
        prefixes: impl Iterator<Item = NameId> + Clone,
    ) -> BTreeMap<(NodeId, NameId), Vec<Hop>> {
        let mut all = BTreeMap::new();
        let routes = self.computed_name_routes();
        for &node in &spec.nodes {
            let Some(index) = self.nodes.at(node) else { continue };
            let AnyNode::Forwarder(forwarder) = self.nodes.all[index].machine.plain() else { continue };
            let Some(known) = routes.get(&node) else { continue };
            for prefix in prefixes.clone() {
                let Ok(row) = known.binary_search_by_key(&prefix, |row| row.0) else { continue };
                let hops = &known[row].1;
                let hop = |hop: &NextHop| {
                    let port = forwarder.faces().port_of(hop.face)?;
                    Some(Hop { port, cost: u32::try_from(hop.cost).unwrap_or(u32::MAX) })
                };
                let hops: Vec<Hop> = hops.iter().filter_map(hop).collect();
                if !hops.is_empty() {
                    all.insert((node, prefix), hops);
                }
            }
        }
        all
    }

    /// The controller dies, or comes back without memory.
    pub(crate) fn set_controller(&mut self, on: bool) {
        let Some(node) = self.blueprint.sdn.as_ref().map(|sdn| sdn.controller) else { return };
        let index = self.nodes.at(node).expect("it was placed");
        let alive = matches!(self.nodes.all[index].machine.plain(), AnyNode::Controller(Some(_)));
        if alive == on {
            return;
        }
        self.note(index, if on { "controller_started" } else { "controller_stopped" }, 0.0);
        if !on {
            self.nodes.all[index].machine = AnyNode::Controller(None);
            return;
        }
        let controller = self.make_controller().expect("the same parameters were accepted before");
        let machine = self.clocked(node, AnyNode::Controller(Some(Box::new(controller))));
        self.nodes.all[index].machine = machine;
        self.run_node(index, RouterInput::Start);
        self.after_node(index);
    }

    /// Does what was ordered of a node.
    #[cold]
    pub(crate) fn execute_orders(&mut self, index: usize) {
        for order in std::mem::take(&mut self.out.orders) {
            let node = self.nodes.all[index].address.node;
            let own = |world: &Self, port: PortId| {
                world.edges.get(port.index()).is_some_and(|edge| edge.from == node)
                    && !world.is_control_port(port)
            };
            match order {
                Order::NextHops { prefix, hops } => self.order_next_hops(index, prefix, hops.list()),
                Order::Route { to, via } if own(self, via) => self.order_route(index, to, via),
                Order::Queue { port, limit, mark_above } if own(self, port) => {
                    self.ports[port.index()].set_queue((limit != u32::MAX).then_some(limit), mark_above);
                }
                Order::Cap { port, rate } if own(self, port) && rate > Rate::ZERO => {
                    let offers = self.ports[port.index()].set_cap(self.now, rate);
                    self.schedule_all(port, &offers);
                    self.show_departures(port);
                }
                // it asks for what the node has not
                _ => self.nodes.all[index].count(Count::Ignored),
            }
        }
    }

    /// A node that loses its memory loses its orders with it: next hops, routes, queues and caps are again as they were set up.
    pub(crate) fn forget_orders(&mut self, index: usize) {
        let state = &mut self.nodes.all[index];
        let node = state.address.node;
        let Some(agent) = &mut state.agent else { return };
        let kept: Vec<Order> = agent.machine.kept().map(|(_, order)| *order).collect();
        agent.machine.reset();
        for order in kept {
            match order {
                // the forwarder is made anew, and its next hops with it
                Order::NextHops { .. } => {}
                Order::Route { to, .. } => {
                    self.blueprint.routes.retain(|route| (route.at, route.to) != (node, to));
                    let old = self.nodes.pinned.iter().filter(|route| (route.at, route.to) == (node, to));
                    self.blueprint.routes.extend(old.cloned());
                    self.reroute();
                }
                Order::Queue { port, .. } => {
                    let link = &self.blueprint.links[port.index() / 2];
                    let spec = if port.0 % 2 == 0 { &link.forward } else { &link.backward };
                    self.ports[port.index()].reset_queue(spec);
                }
                Order::Cap { port, .. } => {
                    let offers = self.ports[port.index()].set_cap(self.now, Rate::UNLIMITED);
                    self.schedule_all(port, &offers);
                    self.show_departures(port);
                }
            }
        }
    }

    fn order_next_hops(&mut self, index: usize, prefix: NameId, hops: &[Hop]) {
        let state = &mut self.nodes.all[index];
        let AnyNode::Forwarder(forwarder) = state.machine.plain_mut() else {
            return state.count(Count::Ignored);
        };
        let before = forwarder.first_hop(prefix);
        let next = |hop: &Hop| {
            let face = forwarder.faces().of_port(hop.port)?;
            Some(NextHop { face, cost: u64::from(hop.cost) })
        };
        let hops: Vec<NextHop> = hops.iter().filter_map(next).collect();
        if hops.is_empty() {
            return state.count(Count::Ignored);
        }
        forwarder.prefer(prefix, &hops);
        let after = forwarder.first_hop(prefix);
        if before == after {
            return;
        }
        state.count(Count::Moves);
        let port = after.and_then(|face| forwarder_port(&state.machine, face));
        self.note(index, "prefix_moved", f64::from(prefix.0));
        if let Some(port) = port {
            self.note(index, "moved_to", f64::from(port.0));
        }
    }

    fn order_route(&mut self, index: usize, to: NodeId, via: PortId) {
        let at = self.nodes.all[index].address.node;
        let before = self.routes.next(at, to, NO_FLOW);
        let via_node = self.edges[via.index()].to;
        self.blueprint.routes.retain(|old| (old.at, old.to) != (at, to));
        self.blueprint.routes.push(RouteSpec { at, to, via: via_node });
        self.reroute();
        let after = self.routes.next(at, to, NO_FLOW);
        if before == after {
            return;
        }
        self.nodes.all[index].count(Count::Moves);
        self.note(index, "route_moved", f64::from(to.0));
        if let Some(port) = after {
            self.note(index, "moved_to", f64::from(port.0));
        }
    }

    /// Records something that happened at a node.
    fn note(&mut self, index: usize, name: &'static str, value: f64) {
        if self.out.notes.events {
            let from = self.nodes.all[index].address;
            self.out.notes.pending.push(Note { at: self.now, from, name, value, event: true });
            self.recorder.take_notes(self.now, &mut self.out.notes);
        }
    }
}

fn forwarder_port(machine: &AnyNode, face: contract::FaceId) -> Option<PortId> {
    let AnyNode::Forwarder(forwarder) = machine.plain() else { return None };
    forwarder.faces().port_of(face)
}

fn make_app(blueprint: &Blueprint, spec: &SdnSpec) -> Result<AnyApp, ParamError> {
    let data = blueprint.ndn.as_ref().map_or(Bytes::new(1000), |ndn| ndn.config.data);
    let setup = Setup { segment: data, header: Bytes::ZERO, initial_window: Bytes::UNLIMITED };
    match schemes::find(&spec.app) {
        Some(schemes::Entry { app: Some(make), .. }) => make(&spec.app_params, &setup),
        _ => Err(ParamError {
            name: "app".to_owned(),
            message: format!("`{}` has no part in controllers", spec.app),
            hint: None,
            beside: None,
        }),
    }
}

/// For each prefix of the network, the longest one that is served and covers it; itself where nobody serves it.
fn served(blueprint: &Blueprint) -> Vec<NameId> {
    let Some(ndn) = &blueprint.ndn else { return Vec::new() };
    let mut known = vec![false; ndn.names.count()];
    ndn.producers.iter().for_each(|producer| known[producer.config.prefix.index()] = true);
    let cover = |prefix: u32| {
        let mut above = std::iter::successors(Some(NameId(prefix)), |at| ndn.names.parent(*at));
        above.find(|at| known[at.index()]).unwrap_or(NameId(prefix))
    };
    (0..ndn.names.count() as u32).map(cover).collect()
}

#[cfg(test)]
mod tests {
    use contract::{Control, Ecn, FlowId, Header, Label, Packet};
    use stack::sdn;
    use units::Duration;

    use super::*;
    use crate::PortSpec;

    /// Two routers with two links between them, and the controller of the first.
    fn world() -> World {
        let mut net = Blueprint::new(Duration::from_secs(1));
        let [a, b, controller] = ["a", "b", "controller"].map(|name| net.node(name));
        let mut port = PortSpec::new(Rate::from_mbps(10), Duration::from_millis(1), 100);
        port.queue.mark_above = Some(50);
        net.link("one", (a, b), port.clone());
        net.link("two", (a, b), port.clone());
        net.link("control", (controller, a), port);
        net.sdn = Some(SdnSpec {
            controller,
            nodes: vec![a],
            out_of_band: true,
            app: "least_loaded".to_owned(),
            app_params: Vec::new(),
            config: sdn::Config::default(),
        });
        World::new(&net).expect("the blueprint is right")
    }

    fn order(world: &mut World, number: u64, order: Order) {
        let index = world.nodes.at(NodeId(0)).expect("it has an agent");
        let packet = Packet {
            flow: FlowId(u32::MAX),
            size_bytes: 100,
            source: Address::default(),
            to: world.nodes.all[index].address.into(),
            sent_at: Time::ZERO,
            label: Label([number, 0, 0, 0]),
            header: Header::Control(Control::Order(order)),
            ecn: Ecn::NotCapable,
            hops: 0,
        };
        world.run_node(index, RouterInput::Packet(&packet, PortId(5)));
        world.after_node(index);
    }

    #[test]
    fn a_node_that_loses_its_memory_loses_orders_of_queues_and_caps_too() {
        let mut world = world();
        let limit = |world: &mut World| world.ports[0].view(PortId(0), Rate::ZERO, Time::ZERO).limit.packets;
        order(&mut world, 1, Order::Queue { port: PortId(0), limit: 20, mark_above: 5 });
        order(&mut world, 2, Order::Cap { port: PortId(0), rate: Rate::from_mbps(3) });
        assert_eq!((limit(&mut world), world.ports[0].rate()), (20, Rate::from_mbps(3)));
        world.reset_node(NodeId(0));
        assert_eq!((limit(&mut world), world.ports[0].rate()), (100, Rate::from_mbps(10)));
        order(&mut world, 1, Order::Queue { port: PortId(0), limit: 30, mark_above: 5 });
        assert_eq!(limit(&mut world), 30, "it takes any number again");
    }
}
