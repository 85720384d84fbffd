//! Where forwarders of named data stand, and the next hops that they know.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use contract::{Address, NameId, NextHop, NodeId, ParamError, PeerId, PortId, Random, Setup};
use stack::ndn;
use units::Bytes;

use crate::blueprint::Metric;
use crate::node::{AnyNode, Forwarder, NodeState};
use crate::routing::Edge;
use crate::world::World;
use crate::{Blueprint, FlowKind, NdnSpec};

/// Routes of one forwarder.
type Routes = Vec<(NameId, Vec<NextHop>)>;

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
        for (index, &node) in spec.nodes.iter().enumerate() {
            let address = Address { node, peer: PeerId((number + index) as u32) };
            self.nodes.at[node.index()] = (first + index) as u32;
            let faces = self.faces_of(blueprint, spec, node, number);
            let machine = make_forwarder(blueprint, spec, node, faces, Arc::clone(&names))?;
            let machine = AnyNode::Forwarder(Box::new(machine));
            self.nodes.all.push(NodeState::new(
                machine,
                address,
                blueprint.seed,
                &blueprint.nodes[node.index()],
            ));
        }
        self.route_names();
        Ok(())
    }

    /// The faces of the forwarder at `node`; `number` is that of the first forwarder's address.
    fn faces_of(&self, blueprint: &Blueprint, spec: &NdnSpec, node: NodeId, number: usize) -> ndn::Faces {
        let links: Vec<(PortId, Address)> = (0u32..)
            .zip(&self.edges)
            .filter(|(_, edge)| edge.from == node)
            .filter_map(|(port, edge)| {
                let index = spec.nodes.binary_search(&edge.to).ok()?;
                Some((PortId(port), Address { node: edge.to, peer: PeerId((number + index) as u32) }))
            })
            .collect();
        ndn::Faces::new(&links, &locals(blueprint, spec, node))
    }

    /// Computes the next hops of every forwarder anew.
    pub(crate) fn route_names(&mut self) {
        let Some(spec) = &self.blueprint.ndn else { return };
        let mut ways = Ways::new(spec, &self.edges, self.blueprint.metric, self.blueprint.nodes.len());
        for &node in &spec.nodes {
            let index = self.nodes.at(node).expect("it was placed");
            let AnyNode::Forwarder(forwarder) = &mut self.nodes.all[index].machine else { continue };
            let locals = locals(&self.blueprint, spec, node);
            let routes = routes_of(&self.blueprint, spec, node, forwarder.faces(), &locals, &mut ways);
            forwarder.set_routes(&routes);
        }
    }

    /// A forwarder loses its memory: what was pending, its store, what its parts have learnt.
    pub(crate) fn reset_forwarder(&mut self, index: usize) {
        let Some(spec) = &self.blueprint.ndn else { return };
        let node = self.nodes.all[index].address.node;
        let names = Arc::new(spec.names.clone());
        let AnyNode::Forwarder(old) = &self.nodes.all[index].machine else { return };
        let (faces, counters) = (old.faces().emptied(), old.counters());
        let mut fresh = make_forwarder(&self.blueprint, spec, node, faces, names)
            .expect("the same parameters were accepted before");
        fresh.resume(counters);
        self.nodes.all[index].machine = AnyNode::Forwarder(Box::new(fresh));
        self.route_names();
        self.start_node(index);
    }
}

/// Endpoints of named data at `node`, in ascending order.
fn locals(blueprint: &Blueprint, spec: &NdnSpec, node: NodeId) -> Vec<PeerId> {
    let mut locals = Vec::new();
    let mut next = 0u32;
    for flow in &blueprint.flows {
        if flow.from == node && matches!(flow.kind, FlowKind::Ndn(_)) {
            locals.push(PeerId(next));
        }
        next += 1 + flow.to.len() as u32;
    }
    let producers = (next..).zip(&spec.producers).filter(|(_, producer)| producer.node == node);
    locals.extend(producers.map(|(peer, _)| PeerId(peer)));
    locals
}

fn make_forwarder(
    blueprint: &Blueprint,
    spec: &NdnSpec,
    node: NodeId,
    faces: ndn::Faces,
    names: Arc<contract::Names>,
) -> Result<Forwarder, ParamError> {
    let setup = Setup { segment: spec.config.data, initial_window: Bytes::UNLIMITED };
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
    ParamError { name: key.to_owned(), message, hint: None }
}

/// All next hops of one forwarder.
fn routes_of(
    blueprint: &Blueprint,
    spec: &NdnSpec,
    node: NodeId,
    faces: &ndn::Faces,
    locals: &[PeerId],
    ways: &mut Ways<'_>,
) -> Routes {
    let first_producer = crate::build::endpoints(blueprint) - spec.producers.len();
    let mut routes: BTreeMap<NameId, Vec<(Cost, NextHop)>> = BTreeMap::new();
    let by_prefix = ways.by_prefix.clone();
    for (prefix, producers) in by_prefix {
        let hops = routes.entry(prefix).or_default();
        for (peer, producer) in (first_producer as u32..).zip(&spec.producers) {
            if producer.node == node && producer.config.prefix == prefix {
                let here =
                    locals.binary_search(&PeerId(peer)).ok().and_then(|_| faces.of_local(PeerId(peer)));
                hops.extend(here.map(|face| ((0, 0), NextHop { face, cost: 0 })));
            }
        }
        for (port, cost) in ways.from(node, &producers) {
            let face = faces.of_port(port).expect("a link between forwarders is a face");
            hops.push((cost, NextHop { face, cost: cost.0 }));
        }
    }
    for pinned in spec.routes.iter().filter(|route| route.at == node) {
        routes.insert(pinned.prefix, Vec::new());
    }
    for pinned in spec.routes.iter().filter(|route| route.at == node) {
        let via = ways.ports_from(node).find(|port| ways.edges[port.index()].to == pinned.via);
        if let Some(face) = via.and_then(|port| faces.of_port(port)) {
            let hop = NextHop { face, cost: pinned.cost };
            routes.entry(pinned.prefix).or_default().push(((pinned.cost, 0), hop));
        }
    }
    let sorted = routes.into_iter().map(|(prefix, mut hops)| {
        hops.sort_by_key(|(cost, hop)| (*cost, hop.face));
        (prefix, hops.into_iter().map(|(_, hop)| hop).collect())
    });
    sorted.collect()
}

/// Ports, each with what the way over it costs.
type PortCosts = Vec<(PortId, Cost)>;
/// Cost by the metric, then links.
type Cost = (u64, u32);
const NO_WAY: Cost = (u64::MAX, u32::MAX);

/// Shortest ways from forwarders to sets of producers.
struct Ways<'a> {
    edges: &'a [Edge],
    metric: Metric,
    /// Ports from each node over which named data travels: the link is up and there is a forwarder at both ends.
    out: Vec<Vec<PortId>>,
    /// The same, into each node.
    into: Vec<Vec<PortId>>,
    /// Nodes that serve each prefix, in ascending order.
    by_prefix: BTreeMap<NameId, Vec<NodeId>>,
    /// Next hops by producers and node: many prefixes share them.
    known: BTreeMap<(Vec<NodeId>, NodeId), PortCosts>,
    /// Distances of all nodes by producers.
    distances: BTreeMap<Vec<NodeId>, Distances>,
}

/// Distances to the nearest of some nodes, and the next node on the way there.
struct Distances {
    cost: Vec<Cost>,
    next: Vec<Option<NodeId>>,
}

impl<'a> Ways<'a> {
    fn new(spec: &NdnSpec, edges: &'a [Edge], metric: Metric, nodes: usize) -> Self {
        let (mut out, mut into) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        let forwards = |node: NodeId| spec.nodes.binary_search(&node).is_ok();
        for (port, edge) in (0u32..).zip(edges) {
            if edge.up && forwards(edge.from) && forwards(edge.to) {
                out[edge.from.index()].push(PortId(port));
                into[edge.to.index()].push(PortId(port));
            }
        }
        let mut by_prefix: BTreeMap<NameId, Vec<NodeId>> = BTreeMap::new();
        for producer in &spec.producers {
            by_prefix.entry(producer.config.prefix).or_default().push(producer.node);
        }
        for nodes in by_prefix.values_mut() {
            nodes.sort_unstable();
            nodes.dedup();
        }
        Self { edges, metric, out, into, by_prefix, known: BTreeMap::new(), distances: BTreeMap::new() }
    }

    fn ports_from(&self, node: NodeId) -> impl Iterator<Item = PortId> {
        self.out[node.index()].iter().copied()
    }

    /// Ports of `node` from which one of `producers` can be reached without coming back, each with what the whole way costs.
    fn from(&mut self, node: NodeId, producers: &[NodeId]) -> Vec<(PortId, Cost)> {
        let key = (producers.to_vec(), node);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        if !self.distances.contains_key(producers) {
            let distances = self.search(producers, None);
            self.distances.insert(producers.to_vec(), distances);
        }
        let all = &self.distances[producers];
        let mut around = None;
        let mut ways = Vec::new();
        for port in self.ports_from(node) {
            let next = self.edges[port.index()].to;
            let cost = if all.passes(next, node) {
                around.get_or_insert_with(|| self.search(producers, Some(node))).cost[next.index()]
            } else {
                all.cost[next.index()]
            };
            if cost != NO_WAY {
                ways.push((port, self.add(cost, port)));
            }
        }
        self.known.insert(key, ways.clone());
        ways
    }

    fn add(&self, cost: Cost, port: PortId) -> Cost {
        let step = match self.metric {
            Metric::Delay => self.edges[port.index()].delay_ns,
            Metric::Hops => 1,
        };
        (cost.0.saturating_add(step), cost.1 + 1)
    }

    /// Distances of all nodes to the nearest of `producers` (Dijkstra), in the network without `without`.
    fn search(&self, producers: &[NodeId], without: Option<NodeId>) -> Distances {
        let nodes = self.out.len();
        let mut found = Distances { cost: vec![NO_WAY; nodes], next: vec![None; nodes] };
        let mut frontier = BinaryHeap::new();
        for &producer in producers.iter().filter(|&&producer| Some(producer) != without) {
            found.cost[producer.index()] = (0, 0);
            frontier.push(Reverse(((0, 0), producer)));
        }
        while let Some(Reverse((cost, node))) = frontier.pop() {
            if cost > found.cost[node.index()] {
                continue;
            }
            for &port in &self.into[node.index()] {
                let from = self.edges[port.index()].from;
                let through = self.add(cost, port);
                if Some(from) != without && through < found.cost[from.index()] {
                    found.cost[from.index()] = through;
                    found.next[from.index()] = Some(node);
                    frontier.push(Reverse((through, from)));
                }
            }
        }
        found
    }
}

impl Distances {
    /// Whether the way from `from` passes `node`.
    fn passes(&self, from: NodeId, node: NodeId) -> bool {
        std::iter::successors(Some(from), |at| self.next[at.index()]).any(|at| at == node)
    }
}
