//! NDN forwarders in the network: their faces and next hops.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::{
    Address, Count, EndpointId, Hop, LinkAlgorithm, Name, NameId, NextHop, NodeId, Packet, ParamError,
    PortId, Random, Setup,
};
use memory::prefetch;
use schemes::AnyLink;
use stack::ndn;
use units::Bytes;

use super::any_node::{AnyNode, Forwarder};
use super::clocks::Clocks;
use super::next_hops::{NextHops, Origin, Scratch};
use super::nodes::{NodeState, Nodes};
use crate::fabric::Edge;
use crate::{Blueprint, FlowKind, NameRoute, NdnSpec};

/// Cache lines of a forwarder and of an agent that packets need.
const MACHINE_LINES: usize = 16;
const AGENT_LINES: usize = 4;

impl NodeState {
    /// The NDN forwarder of the node, if it has one.
    pub(super) fn forwarder(&self) -> Option<&Forwarder> {
        if let AnyNode::Forwarder(forwarder) = self.machine.plain() { Some(forwarder) } else { None }
    }

    /// Whether the node is a forwarder with large tables.
    #[inline(always)]
    pub(crate) fn has_large_tables(&self) -> bool {
        matches!(&self.machine, AnyNode::Forwarder(forwarder) if forwarder.is_large())
    }

    /// Requests from memory the forwarder and the agent of the node.
    pub(crate) fn prefetch_machine(&self) {
        if let AnyNode::Forwarder(forwarder) = &self.machine {
            prefetch(&**forwarder, MACHINE_LINES);
        }
        if let Some(agent) = &self.agent {
            prefetch(&**agent, AGENT_LINES);
        }
    }

    /// Requests what any packet at the node needs of them.
    pub(crate) fn prefetch_rest(&self) {
        if let AnyNode::Forwarder(forwarder) = &self.machine {
            forwarder.prefetch_rest();
        }
        if let Some(agent) = &self.agent {
            agent.machine.prefetch();
        }
    }

    /// The port on which a packet is likely to leave the forwarder of the node.
    pub(crate) fn next_port(&self, packet: &Packet) -> Option<PortId> {
        if let AnyNode::Forwarder(forwarder) = &self.machine { forwarder.next_port(packet) } else { None }
    }

    /// How many of the requests of [`ndn::Ahead::ALL`] the forwarder of the node needs.
    #[inline]
    pub(crate) fn requests(&self) -> usize {
        if let AnyNode::Forwarder(forwarder) = &self.machine { forwarder.requests() } else { 0 }
    }

    /// Requests from memory what a packet that arrives at the forwarder of the node needs of its tables.
    pub(crate) fn prefetch_names(&self, packet: &Packet, ahead: ndn::Ahead) {
        if let AnyNode::Forwarder(forwarder) = &self.machine {
            forwarder.prefetch(packet, ahead);
        }
    }

    /// Requests what the forwarder of the node needs first of its tables for an Interest.
    pub(crate) fn prefetch_request(&self, name: Name) {
        if let AnyNode::Forwarder(forwarder) = &self.machine {
            forwarder.prefetch_request(name);
        }
    }

    fn forwarder_mut(&mut self) -> Option<&mut Forwarder> {
        if let AnyNode::Forwarder(forwarder) = self.machine.plain_mut() { Some(forwarder) } else { None }
    }

    /// Replaces the link part of the node's forwarder. Returns false if it has none.
    pub(crate) fn set_link_algorithm(&mut self, algorithm: Box<dyn LinkAlgorithm + Send>) -> bool {
        let AnyNode::Forwarder(forwarder) = &mut self.machine else { return false };
        forwarder.set_algorithm(Some(AnyLink::Custom(algorithm)));
        true
    }

    /// Prefers these next hops of a prefix, as a controller commanded. Returns the port of the first next hop if that
    /// changed. A command that the node cannot execute is counted as ignored.
    pub(crate) fn prefer_next_hops(&mut self, prefix: NameId, hops: &[Hop]) -> Option<Option<PortId>> {
        let Some(forwarder) = self.forwarder_mut() else {
            self.count(Count::Ignored);
            return None;
        };
        let before = forwarder.first_hop(prefix);
        let next = |hop: &Hop| {
            let face = forwarder.faces().of_port(hop.port)?;
            Some(NextHop { face, cost: u64::from(hop.cost) })
        };
        let hops: Vec<NextHop> = hops.iter().filter_map(next).collect();
        if hops.is_empty() {
            self.count(Count::Ignored);
            return None;
        }
        forwarder.prefer(prefix, &hops);
        let after = forwarder.first_hop(prefix);
        let port = after.and_then(|face| forwarder.faces().port_of(face));
        if before == after {
            return None;
        }
        self.count(Count::Reroutes);
        Some(port)
    }
}

impl Nodes {
    /// Adds the forwarders, after all routers of a name-based network. Returns their next hops.
    pub(super) fn place_forwarders(
        &mut self,
        blueprint: &Blueprint,
        spec: &NdnSpec,
        edges: &[Edge],
        clocks: &Clocks,
    ) -> Result<BTreeMap<NodeId, NameRoutes>, ParamError> {
        let names = Arc::new(spec.names.clone());
        let number = blueprint.endpoints() + self.len();
        let address =
            |index: usize| Address { node: spec.nodes[index], endpoint: EndpointId((number + index) as u32) };
        let mut links: Vec<Vec<(PortId, Address)>> = vec![Vec::new(); blueprint.nodes.len()];
        for (port, edge) in (0u32..).zip(edges) {
            if let Ok(index) = spec.nodes.binary_search(&edge.to) {
                links[edge.from.index()].push((PortId(port), address(index)));
            }
        }
        let mut locals: Vec<Vec<EndpointId>> = vec![Vec::new(); blueprint.nodes.len()];
        let producers = producers(blueprint).map(|(node, endpoint, _)| (node, endpoint));
        for (node, endpoint) in consumers(blueprint).chain(producers) {
            locals[node.index()].push(endpoint);
        }
        for &node in &spec.nodes {
            let faces = ndn::Faces::new(&links[node.index()], &locals[node.index()]);
            let forwarder = make_forwarder(blueprint, spec, node, faces, Arc::clone(&names))?;
            self.add(node, clocks.wrap(node, AnyNode::Forwarder(Box::new(forwarder))), blueprint);
        }
        let routes = self.computed_name_routes(blueprint, edges);
        for (&node, routes) in &routes {
            let index = self.at(node).expect("it was placed");
            if let Some(forwarder) = self.get_mut(index).forwarder_mut() {
                forwarder.set_rows(routes.rows());
            }
        }
        Ok(routes)
    }

    /// The next hops of every forwarder according to the metric.
    pub(super) fn computed_name_routes(
        &self,
        blueprint: &Blueprint,
        edges: &[Edge],
    ) -> BTreeMap<NodeId, NameRoutes> {
        let Some(spec) = &blueprint.ndn else { return BTreeMap::new() };
        let next_hops = NextHops::new(spec, edges, blueprint.metric, blueprint.nodes.len());
        let origins = next_hops.origins(spec);
        let prefixes = origins.iter().enumerate();
        let mut prefixes: Vec<(NameId, usize)> = prefixes
            .flat_map(|(index, origin)| origin.prefixes.iter().map(move |&prefix| (prefix, index)))
            .collect();
        prefixes.sort_unstable();
        let mut scratch = Scratch::new(blueprint.nodes.len());
        let mut hops = Vec::new();
        let mut ends = Vec::new();
        let mut special = vec![Special::default(); blueprint.nodes.len()];
        producers(blueprint)
            .for_each(|(node, endpoint, prefix)| special[node.index()].served.push((prefix, endpoint)));
        spec.routes.iter().for_each(|route| special[route.at.index()].pinned.push(route));
        let routes = |&node: &NodeId| {
            let forwarder = self.get(self.at(node)?).forwarder()?;
            // the next hops of an origin, which all its prefixes have, one origin after the other
            hops.clear();
            ends.clear();
            for origin in &origins {
                hops_to(origin, node, forwarder.faces(), &next_hops, &mut scratch, &mut hops);
                ends.push(hops.len());
            }
            let of =
                |origin: usize| &hops[origin.checked_sub(1).map_or(0, |before| ends[before])..ends[origin]];
            let rows = prefixes.iter().map(|&(prefix, origin)| (prefix, of(origin)));
            let special = std::mem::take(&mut special[node.index()]);
            Some((node, special.complete(rows, node, forwarder.faces(), &next_hops)))
        };
        spec.nodes.iter().filter_map(routes).collect()
    }

    /// Recomputes the next hops of every forwarder. Commands of a controller stay in force.
    pub(crate) fn route_names(&mut self, blueprint: &Blueprint, edges: &[Edge]) {
        for (node, routes) in self.computed_name_routes(blueprint, edges) {
            let index = self.at(node).expect("it was placed");
            let NodeState { machine, agent, .. } = self.get_mut(index);
            let AnyNode::Forwarder(forwarder) = machine.plain_mut() else { continue };
            let mut commanded = BTreeMap::new();
            if let Some(agent) = agent {
                let commands = agent.machine.next_hops();
                commands.for_each(|(prefix, hops)| {
                    keep_command(&mut commanded, &routes, prefix, hops, forwarder)
                });
            }
            forwarder.set_rows(
                routes
                    .rows()
                    .map(|(prefix, hops)| (prefix, commanded.get(&prefix).map_or(hops, Vec::as_slice))),
            );
        }
    }

    /// A new forwarder for this index, without pending Interests, stored Data and state of its parts; `None` if the
    /// node has none.
    pub(super) fn fresh_forwarder(&self, index: usize, blueprint: &Blueprint) -> Option<AnyNode> {
        let spec = blueprint.ndn.as_ref()?;
        let state = self.get(index);
        let old = state.forwarder()?;
        let names = Arc::new(spec.names.clone());
        let (faces, counters) = (old.faces().emptied(), old.counters());
        let mut fresh = make_forwarder(blueprint, spec, state.address.node, faces, names)
            .expect("the same parameters were accepted before");
        fresh.resume(counters);
        Some(AnyNode::Forwarder(Box::new(fresh)))
    }
}

/// Next hops of a forwarder by prefix, in the order of prefixes.
pub(super) struct NameRoutes {
    /// Each prefix, and the end of its next hops, which begin where those before end.
    rows: Vec<(NameId, u32)>,
    hops: Vec<NextHop>,
}

impl NameRoutes {
    fn push(&mut self, prefix: NameId, hops: &[NextHop]) {
        self.hops.extend_from_slice(hops);
        self.rows.push((prefix, self.hops.len() as u32));
    }

    /// All prefixes with their next hops.
    pub(super) fn rows(&self) -> impl Iterator<Item = (NameId, &[NextHop])> + Clone {
        (0..self.rows.len()).map(|row| (self.rows[row].0, self.at(row)))
    }

    /// The next hops of a prefix; `None` if the forwarder does not know it.
    pub(super) fn of(&self, prefix: NameId) -> Option<&[NextHop]> {
        self.rows.binary_search_by_key(&prefix, |row| row.0).ok().map(|row| self.at(row))
    }

    fn at(&self, row: usize) -> &[NextHop] {
        let begin = row.checked_sub(1).map_or(0, |before| self.rows[before].1);
        &self.hops[begin as usize..self.rows[row].1 as usize]
    }
}

/// Consumers, in the order of endpoints.
fn consumers(blueprint: &Blueprint) -> impl Iterator<Item = (NodeId, EndpointId)> {
    let mut next = 0u32;
    blueprint.flows.iter().filter_map(move |flow| {
        let endpoint = EndpointId(next);
        next += 1 + flow.to.len() as u32;
        matches!(*flow.kind, FlowKind::Ndn(_)).then_some((flow.from, endpoint))
    })
}

/// Producers and their prefixes, in the order of endpoints, which follow the endpoints of flows.
fn producers(blueprint: &Blueprint) -> impl Iterator<Item = (NodeId, EndpointId, NameId)> {
    let specs = blueprint.ndn.iter().flat_map(|ndn| &ndn.producers);
    let first = blueprint.endpoints() - specs.clone().count();
    (first as u32..).zip(specs).map(|(endpoint, spec)| (spec.node, EndpointId(endpoint), spec.config.prefix))
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
    ParamError { name: key.to_owned(), message, hint: None, conflicts_with: None }
}

/// Applies a command of a controller to the next hops of the metric. Next hops that no longer exist are omitted; if
/// none is left, the command has no effect.
fn keep_command(
    commanded: &mut BTreeMap<NameId, Vec<NextHop>>,
    routes: &NameRoutes,
    prefix: NameId,
    hops: &[contract::Hop],
    forwarder: &Forwarder,
) {
    let Some(known) = routes.of(prefix) else { return };
    let hops: Vec<NextHop> = hops
        .iter()
        .filter_map(|hop| {
            let face = forwarder.faces().of_port(hop.port)?;
            let there = known.iter().any(|other| other.face == face);
            there.then_some(NextHop { face, cost: u64::from(hop.cost) })
        })
        .collect();
    if !hops.is_empty() {
        ndn::preferred(commanded.entry(prefix).or_insert_with(|| known.to_vec()), &hops);
    }
}

/// Adds the next hops of the forwarder at `node` to the producers of an origin, by cost.
fn hops_to(
    origin: &Origin,
    node: NodeId,
    faces: &ndn::Faces,
    next_hops: &NextHops,
    scratch: &mut Scratch,
    hops: &mut Vec<NextHop>,
) {
    let found = next_hops.from(node, origin, scratch);
    // of equal cost in the order of ports, which is the order of faces
    found.sort_by_key(|(_, cost)| *cost);
    let face = |port| faces.of_port(port).expect("a link between forwarders is a face");
    hops.extend(found.iter().map(|&(port, cost)| NextHop { face: face(port), cost: cost.0 }));
}

/// What a node has beside the next hops of the metric.
#[derive(Clone, Default)]
struct Special<'a> {
    /// Prefixes of its own endpoints.
    served: Vec<(NameId, EndpointId)>,
    /// Pinned routes, which replace all others of their prefixes.
    pinned: Vec<&'a NameRoute>,
}

impl Special<'_> {
    /// The next hops of `node`: those in `rows` over links, by prefix, with its own endpoints, or its pinned routes
    /// instead of both.
    fn complete<'h>(
        mut self,
        rows: impl Iterator<Item = (NameId, &'h [NextHop])> + Clone,
        node: NodeId,
        faces: &ndn::Faces,
        next_hops: &NextHops,
    ) -> NameRoutes {
        self.served.sort_by_key(|(prefix, _)| *prefix);
        self.pinned.sort_by_key(|route| route.prefix);
        let (served, pinned) = (&mut self.served.iter().peekable(), &mut self.pinned.iter().peekable());
        let hops = rows.clone().map(|(_, hops)| hops.len()).sum::<usize>() + served.len() + pinned.len();
        let count = rows.clone().count() + served.len() + pinned.len();
        let mut routes = NameRoutes { rows: Vec::with_capacity(count), hops: Vec::with_capacity(hops) };
        let mut rows = rows.peekable();
        loop {
            let next = rows.peek().map(|row| row.0);
            let own =
                served.peek().map(|row| row.0).into_iter().chain(pinned.peek().map(|route| route.prefix));
            let Some(prefix) = own.chain(next).min() else { break };
            let over_links = rows.next_if(|row| row.0 == prefix).map_or(&[][..], |row| row.1);
            if served.peek().is_none_or(|row| row.0 != prefix)
                && pinned.peek().is_none_or(|route| route.prefix != prefix)
            {
                if !over_links.is_empty() {
                    routes.push(prefix, over_links);
                }
                continue;
            }
            let mut hops: Vec<NextHop> = Vec::new();
            while let Some((_, endpoint)) = served.next_if(|row| row.0 == prefix) {
                let face = faces.of_local(*endpoint).expect("a producer is a face of its node");
                hops.push(NextHop { face, cost: 0 });
            }
            hops.extend_from_slice(over_links);
            if pinned.peek().is_some_and(|route| route.prefix == prefix) {
                hops.clear();
                while let Some(route) = pinned.next_if(|route| route.prefix == prefix) {
                    if let Some(port) = next_hops.port(node, route.via) {
                        let face = faces.of_port(port).expect("a link between forwarders is a face");
                        hops.push(NextHop { face, cost: route.cost });
                    }
                }
                hops.sort_by_key(|hop| (hop.cost, hop.face));
            }
            routes.push(prefix, &hops);
        }
        routes
    }
}
