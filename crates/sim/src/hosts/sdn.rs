//! The SDN controller and its agents in the network, and the configuration of the controller.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::{
    App, Command, DirectedLink, Hop, HopTable, LinkId, NameId, Net, NextHop, NodeId, ParamError, PortId,
    Requirements, Setup,
};
use schemes::AnyApp;
use stack::sdn::{Agent, AgentLocation, Controller};
use units::Bytes;

use super::any_node::AnyNode;
use super::clocks::Clocks;
use super::ndn::NameRoutes;
use super::node_agent::NodeAgent;
use super::nodes::{NONE, NodeState, Nodes};
use crate::fabric::{Edge, Fabric, NO_FLOW};
use crate::{Blueprint, FlowKind, Limit, SdnSpec};

impl NodeState {
    /// Removes the commands of the node's agent and returns them.
    pub(crate) fn forget_commands(&mut self) -> Vec<Command> {
        let Some(agent) = &mut self.agent else { return Vec::new() };
        let installed = agent.machine.installed().map(|(_, command)| *command).collect();
        agent.machine.reset();
        installed
    }
}

/// Whether a port belongs to a link that carries control messages only.
pub(crate) fn is_control_port(blueprint: &Blueprint, port: PortId) -> bool {
    blueprint.is_control(LinkId(port.0 / 2))
}

/// The ports of each node with an agent, and those for control messages if there are separate links.
struct AgentPorts {
    /// Ports that carry traffic, by node, sorted.
    measured: Vec<Vec<PortId>>,
    /// The port to the controller, by node.
    to_controller: Vec<Option<PortId>>,
    /// The controller's port, by node.
    from_controller: Vec<Option<PortId>>,
}

impl AgentPorts {
    fn new(spec: &SdnSpec, blueprint: &Blueprint, fabric: &Fabric) -> Self {
        let nodes = blueprint.nodes.len();
        let (mut to_controller, mut from_controller) = (vec![None; nodes], vec![None; nodes]);
        let mut measured = vec![Vec::new(); nodes];
        for (port, edge) in (0u32..).map(PortId).zip(fabric.edges()) {
            if !is_control_port(blueprint, port) {
                measured[edge.from.index()].push(port);
            } else if edge.to == spec.controller {
                to_controller[edge.from.index()].get_or_insert(port);
            } else {
                from_controller[edge.to.index()].get_or_insert(port);
            }
        }
        Self { measured, to_controller, from_controller }
    }
}

impl Nodes {
    /// Adds agents at nodes with or without another state machine, and the controller after them.
    pub(super) fn place_agents(
        &mut self,
        blueprint: &Blueprint,
        spec: &SdnSpec,
        fabric: &Fabric,
        clocks: &Clocks,
        name_routes: &BTreeMap<NodeId, NameRoutes>,
    ) -> Result<(), ParamError> {
        for &node in spec.nodes.iter().chain([&spec.controller]) {
            if self.at[node.index()] == NONE {
                let machine =
                    if node == spec.controller { AnyNode::Controller(None) } else { AnyNode::Switch };
                self.add(node, machine, blueprint);
            }
        }
        let requirements = make_app(blueprint, spec)?.requirements();
        let served = Arc::new(served(blueprint));
        let ports = AgentPorts::new(spec, blueprint, fabric);
        for &node in &spec.nodes {
            let machine = self.make_agent(node, spec, requirements, &served, &ports);
            let index = self.at(node).expect("it was placed");
            self.get_mut(index).agent = Some(Box::new(NodeAgent { machine, clock: clocks.of(node) }));
        }
        let index = self.at(spec.controller).expect("it was placed");
        let controller = self.make_controller_of(blueprint, fabric, &ports, name_routes)?;
        self.get_mut(index).machine = clocks.wrap(spec.controller, controller);
        Ok(())
    }

    fn make_agent(
        &self,
        node: NodeId,
        spec: &SdnSpec,
        requirements: Requirements,
        served: &Arc<Vec<NameId>>,
        ports: &AgentPorts,
    ) -> Agent {
        let controller = self.address(spec.controller).expect("it was placed");
        let port = ports.to_controller[node.index()];
        let measured = &ports.measured[node.index()];
        Agent::new(&spec.config, controller, port, requirements, measured, Arc::clone(served))
    }

    /// A controller with its configuration and without state.
    pub(super) fn make_controller(
        &self,
        blueprint: &Blueprint,
        fabric: &Fabric,
    ) -> Result<AnyNode, ParamError> {
        let spec = blueprint.sdn.as_ref().expect("there is a controller");
        let ports = AgentPorts::new(spec, blueprint, fabric);
        let name_routes = self.computed_name_routes(blueprint, fabric.edges());
        self.make_controller_of(blueprint, fabric, &ports, &name_routes)
    }

    /// A controller with its configuration and without state, for these next hops of forwarders.
    fn make_controller_of(
        &self,
        blueprint: &Blueprint,
        fabric: &Fabric,
        ports: &AgentPorts,
        name_routes: &BTreeMap<NodeId, NameRoutes>,
    ) -> Result<AnyNode, ParamError> {
        let spec = blueprint.sdn.as_ref().expect("there is a controller");
        let location = |&node: &NodeId| AgentLocation {
            address: self.address(node).expect("it was placed"),
            port: ports.from_controller[node.index()],
        };
        let locations: Vec<AgentLocation> = spec.nodes.iter().map(location).collect();
        let app = make_app(blueprint, spec)?;
        let net = self.inventory_of(spec, blueprint, fabric, name_routes);
        Ok(AnyNode::Controller(Some(Box::new(Controller::new(&spec.config, app, net, &locations)))))
    }

    /// The network as configured, which is what a controller knows before any report.
    pub(crate) fn inventory(&self, spec: &SdnSpec, blueprint: &Blueprint, fabric: &Fabric) -> Net {
        let name_routes = self.computed_name_routes(blueprint, fabric.edges());
        self.inventory_of(spec, blueprint, fabric, &name_routes)
    }

    /// The network as configured, with these next hops of forwarders.
    fn inventory_of(
        &self,
        spec: &SdnSpec,
        blueprint: &Blueprint,
        fabric: &Fabric,
        name_routes: &BTreeMap<NodeId, NameRoutes>,
    ) -> Net {
        let link = |(port, edge): (u32, &Edge)| {
            if is_control_port(blueprint, PortId(port)) {
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
        let links: Vec<Option<DirectedLink>> = (0u32..).zip(fabric.edges()).map(link).collect();
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
            net.hops = self.next_hops(spec, net.origins.keys().copied(), name_routes);
        }
        let receivers = blueprint
            .flows
            .iter()
            .filter(|flow| !matches!(*flow.kind, FlowKind::Ndn(_)))
            .flat_map(|flow| [flow.from].into_iter().chain(flow.to.iter().map(|receiver| receiver.node)));
        let receivers: std::collections::BTreeSet<NodeId> = receivers.collect();
        for &node in &spec.nodes {
            for &to in &receivers {
                if let Some(port) = fabric.next_hop(node, to, NO_FLOW) {
                    net.routes.insert((node, to), port);
                }
            }
        }
        net
    }

    /// Next hops over links according to the metric, for nodes with an agent.
    fn next_hops(
        &self,
        spec: &SdnSpec,
        prefixes: impl Iterator<Item = NameId> + Clone,
        routes: &BTreeMap<NodeId, NameRoutes>,
    ) -> HopTable {
        let mut all = HopTable::default();
        for &node in &spec.nodes {
            let Some(forwarder) = self.at(node).and_then(|index| self.get(index).forwarder()) else {
                continue;
            };
            let Some(known) = routes.get(&node) else { continue };
            for prefix in prefixes.clone() {
                let Some(hops) = known.of(prefix) else { continue };
                let hop = |hop: &NextHop| {
                    let port = forwarder.faces().port_of(hop.face)?;
                    Some(Hop { port, cost: u32::try_from(hop.cost).unwrap_or(u32::MAX) })
                };
                all.push((node, prefix), hops.iter().filter_map(hop));
            }
        }
        all
    }
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
            conflicts_with: None,
        }),
    }
}

/// For each prefix of the network, the longest served prefix that covers it; the prefix itself if none does.
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
