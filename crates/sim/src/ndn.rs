//! Where forwarders of named data stand, and which faces and next hops they have.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::{Address, EndpointId, LinkLaw, NameId, NextHop, NodeId, ParamError, PortId, Random, Setup};
use schemes::AnyLink;
use stack::ndn;
use units::Bytes;

use crate::machine::{AnyNode, Forwarder};
use crate::node::NodeState;
use crate::ways::{Cost, Origin, Ways};
use crate::world::World;
use crate::{Blueprint, FlowKind, NdnSpec};

impl World {
    /// Places forwarders, after all other machines.
    pub(crate) fn place_forwarders(
        &mut self,
        blueprint: &Blueprint,
        spec: &NdnSpec,
    ) -> Result<(), ParamError> {
        let first = self.nodes.all.len();
        let names = Arc::new(spec.names.clone());
        let number = crate::build::endpoints(blueprint) + first;
        let address =
            |index: usize| Address { node: spec.nodes[index], endpoint: EndpointId((number + index) as u32) };
        let mut links: Vec<Vec<(PortId, Address)>> = vec![Vec::new(); blueprint.nodes.len()];
        for (port, edge) in (0u32..).zip(&self.edges) {
            if let Ok(index) = spec.nodes.binary_search(&edge.to) {
                links[edge.from.index()].push((PortId(port), address(index)));
            }
        }
        let mut locals: Vec<Vec<EndpointId>> = vec![Vec::new(); blueprint.nodes.len()];
        for (node, peer) in
            consumers(blueprint).chain(producers(blueprint).map(|(node, peer, _)| (node, peer)))
        {
            locals[node.index()].push(peer);
        }
        for (index, &node) in spec.nodes.iter().enumerate() {
            let faces = ndn::Faces::new(&links[node.index()], &locals[node.index()]);
            let machine = make_forwarder(blueprint, spec, node, faces, Arc::clone(&names))?;
            let machine = AnyNode::Forwarder(Box::new(machine));
            let name = &blueprint.nodes[node.index()];
            self.nodes.at[node.index()] = (first + index) as u32;
            self.nodes.all.push(NodeState::new(
                self.clocked(node, machine),
                address(index),
                blueprint.seed,
                name,
            ));
        }
        self.route_names();
        Ok(())
    }

    /// The next hops of every forwarder, as the metric gives them.
    pub(crate) fn computed_name_routes(&self) -> BTreeMap<NodeId, NameRoutes> {
        let Some(spec) = &self.blueprint.ndn else { return BTreeMap::new() };
        let ways = Ways::new(spec, &self.edges, self.blueprint.metric, self.blueprint.nodes.len());
        let origins = ways.origins(spec);
        let mut served: Vec<Vec<(EndpointId, NameId)>> = vec![Vec::new(); self.blueprint.nodes.len()];
        for (node, peer, prefix) in producers(&self.blueprint) {
            served[node.index()].push((peer, prefix));
        }
        let routes = |&node: &NodeId| {
            let index = self.nodes.at(node)?;
            let AnyNode::Forwarder(forwarder) = self.nodes.all[index].machine.plain() else { return None };
            let served = &served[node.index()];
            Some((node, routes_of(spec, node, forwarder.faces(), served, &origins, &ways)))
        };
        spec.nodes.iter().filter_map(routes).collect()
    }

    /// Computes the next hops of every forwarder anew. What a controller ordered stays in force.
    pub(crate) fn route_names(&mut self) {
        for (node, mut routes) in self.computed_name_routes() {
            let index = self.nodes.at(node).expect("it was placed");
            let NodeState { machine, agent, .. } = &mut self.nodes.all[index];
            let AnyNode::Forwarder(forwarder) = machine.plain_mut() else { continue };
            if let Some(agent) = agent {
                let ordered = agent.machine.next_hops();
                ordered.for_each(|(prefix, hops)| keep_order(&mut routes, prefix, hops, forwarder));
            }
            forwarder.set_routes(&routes);
        }
    }

    /// Puts a part at the links of the forwarder at `node` that is not of the house. Call before the run; nothing happens where there
    /// is no forwarder.
    pub fn custom_link(&mut self, node: NodeId, law: Box<dyn LinkLaw + Send>) {
        let Some(index) = self.nodes.at(node) else { return };
        let AnyNode::Forwarder(forwarder) = &mut self.nodes.all[index].machine else { return };
        forwarder.set_law(Some(AnyLink::Custom(law)));
        self.watch_ports();
        self.start_node(index);
    }

    /// A forwarder loses its memory: what was pending, its store, what its parts have learnt.
    pub(crate) fn reset_forwarder(&mut self, index: usize) {
        let Some(spec) = &self.blueprint.ndn else { return };
        let node = self.nodes.all[index].address.node;
        let names = Arc::new(spec.names.clone());
        let AnyNode::Forwarder(old) = self.nodes.all[index].machine.plain() else { return };
        let (faces, counters) = (old.faces().emptied(), old.counters());
        let mut fresh = make_forwarder(&self.blueprint, spec, node, faces, names)
            .expect("the same parameters were accepted before");
        fresh.resume(counters);
        self.nodes.all[index].machine = self.clocked(node, AnyNode::Forwarder(Box::new(fresh)));
        self.route_names();
        self.start_node(index);
    }
}

/// Next hops by prefix.
pub(crate) type NameRoutes = Vec<(NameId, Vec<NextHop>)>;

/// Consumers, in the order of their endpoints.
fn consumers(blueprint: &Blueprint) -> impl Iterator<Item = (NodeId, EndpointId)> {
    let mut next = 0u32;
    blueprint.flows.iter().filter_map(move |flow| {
        let peer = EndpointId(next);
        next += 1 + flow.to.len() as u32;
        matches!(flow.kind, FlowKind::Ndn(_)).then_some((flow.from, peer))
    })
}

/// Producers and what they serve, in the order of their endpoints, which follow those of all flows.
fn producers(blueprint: &Blueprint) -> impl Iterator<Item = (NodeId, EndpointId, NameId)> {
    let specs = blueprint.ndn.iter().flat_map(|ndn| &ndn.producers);
    let first = crate::build::endpoints(blueprint) - specs.clone().count();
    (first as u32..).zip(specs).map(|(peer, spec)| (spec.node, EndpointId(peer), spec.config.prefix))
}

fn make_forwarder(
    blueprint: &Blueprint,
    spec: &NdnSpec,
    node: NodeId,
    faces: ndn::Faces,
    names: Arc<contract::Names>,
) -> Result<Forwarder, ParamError> {
    let setup = Setup { segment: spec.config.data, header: Bytes::ZERO, initial_window: Bytes::UNLIMITED };
    let strategy = match (ndn::strategies::find(&spec.strategy), schemes::find(&spec.strategy)) {
        (Some(entry), _) => entry.make(&spec.strategy_params)?,
        (None, Some(schemes::Entry { strategy: Some(make), .. })) => {
            ndn::strategies::Any::Other(make(&spec.strategy_params, &setup)?)
        }
        _ => return Err(no_part("strategy", &spec.strategy)),
    };
    let link = match &spec.link {
        None => None,
        Some(name) => match schemes::find(name) {
            Some(schemes::Entry { link: Some(make), .. }) => Some(make(&spec.link_params, &setup)?),
            _ => return Err(no_part("link", name)),
        },
    };
    let store =
        spec.stores.iter().rev().find(|(at, _)| *at == node).map_or(spec.config.store, |(_, store)| *store);
    let config = ndn::Config { store, ..spec.config.clone() };
    let path = format!("node.{}", blueprint.nodes[node.index()]);
    let random = ["strategy", "link"].map(|purpose| Random::new(blueprint.seed, &path, purpose));
    Ok(ndn::Forwarder::new(&config, names, faces, strategy, link, random))
}

fn no_part(key: &str, name: &str) -> ParamError {
    let message = format!("`{name}` has no such part in forwarders");
    ParamError { name: key.to_owned(), message, hint: None, beside: None }
}

/// Puts what a controller ordered over what the metric gives. Ways that are gone are left out; where none is left, the order counts for
/// nothing.
fn keep_order(
    routes: &mut [(NameId, Vec<NextHop>)],
    prefix: NameId,
    hops: &[contract::Hop],
    forwarder: &Forwarder,
) {
    let Some((_, known)) = routes.iter_mut().find(|(other, _)| *other == prefix) else { return };
    let ordered: Vec<NextHop> = hops
        .iter()
        .filter_map(|hop| {
            let face = forwarder.faces().of_port(hop.port)?;
            let there = known.iter().any(|other| other.face == face);
            there.then_some(NextHop { face, cost: u64::from(hop.cost) })
        })
        .collect();
    if !ordered.is_empty() {
        ndn::preferred(known, &ordered);
    }
}

/// All next hops of the forwarder at `node`, where endpoints serve the prefixes in `served`.
fn routes_of(
    spec: &NdnSpec,
    node: NodeId,
    faces: &ndn::Faces,
    served: &[(EndpointId, NameId)],
    origins: &[Origin],
    ways: &Ways<'_>,
) -> Vec<(NameId, Vec<NextHop>)> {
    let mut routes: BTreeMap<NameId, Vec<(Cost, NextHop)>> = BTreeMap::new();
    for &(peer, prefix) in served {
        let face = faces.of_local(peer).expect("a producer is a face of its node");
        routes.entry(prefix).or_default().push(((0, 0), NextHop { face, cost: 0 }));
    }
    for origin in origins {
        for (port, cost) in ways.from(node, origin) {
            let face = faces.of_port(port).expect("a link between forwarders is a face");
            for &prefix in &origin.prefixes {
                routes.entry(prefix).or_default().push((cost, NextHop { face, cost: cost.0 }));
            }
        }
    }
    let pinned = || spec.routes.iter().filter(|route| route.at == node);
    pinned().for_each(|route| routes.entry(route.prefix).or_default().clear());
    for route in pinned() {
        if let Some(port) = ways.port(node, route.via) {
            let face = faces.of_port(port).expect("a link between forwarders is a face");
            let hop = NextHop { face, cost: route.cost };
            routes.entry(route.prefix).or_default().push(((route.cost, 0), hop));
        }
    }
    let sorted = routes.into_iter().map(|(prefix, mut hops)| {
        hops.sort_by_key(|(cost, hop)| (*cost, hop.face));
        (prefix, hops.into_iter().map(|(_, hop)| hop).collect())
    });
    sorted.collect()
}
