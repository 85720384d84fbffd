//! Shortest paths and routing tables.
//!
//! Leaves (nodes with one link) are not part of the search: they send everything over their link, and a route to a leaf
//! is a route to its neighbour. A thousand hosts behind two routers need two searches and two rows. Paths are searched
//! only to nodes that are destinations.

use contract::{FlowId, NodeId, PortId};
use units::graph::Search;

use crate::blueprint::{Metric, RouteSpec};
use crate::{Blueprint, Cast, FlowKind};

/// One direction of a link, for routing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub from: NodeId,
    pub to: NodeId,
    /// Propagation delay in nanoseconds, with [`DOWN`] while no route uses it.
    delay: u64,
}

/// A bit that no delay has.
const DOWN: u64 = 1 << 63;

impl Edge {
    /// An edge that routes use.
    pub(crate) const fn new(from: NodeId, to: NodeId, delay_ns: u64) -> Self {
        Self { from, to, delay: delay_ns & !DOWN }
    }

    /// Whether routes use it.
    pub(crate) const fn is_up(&self) -> bool {
        self.delay & DOWN == 0
    }

    pub(crate) const fn delay_ns(&self) -> u64 {
        self.delay & !DOWN
    }

    pub(crate) const fn set_up(&mut self, up: bool) {
        self.delay = self.delay_ns() | if up { 0 } else { DOWN };
    }

    pub(crate) const fn set_delay(&mut self, delay_ns: u64) {
        self.delay = self.delay & DOWN | delay_ns & !DOWN;
    }
}

/// Next ports, by destination and node.
#[derive(Debug, Default)]
pub(super) struct Routes {
    /// Per destination node.
    to: Vec<Target>,
    /// Next ports by node, one row after another. Leaves with the same neighbour share its row.
    rows: Vec<u32>,
    nodes: usize,
    /// Sets of ports of equal cost.
    choices: Vec<Vec<PortId>>,
    /// Part of the hash of each choice, from the seed.
    salt: u64,
}

/// How to reach a destination.
#[derive(Clone, Copy, Debug)]
struct Target {
    /// Its row; [`NONE`] if it is not a destination.
    row: u32,
    /// The neighbour of a leaf, where the row ends.
    last: NodeId,
    /// The port from this neighbour to the leaf.
    last_port: u32,
}

/// The flow of look-ups that belong to none.
pub(crate) const NO_FLOW: FlowId = FlowId(u32::MAX);

const NONE: u32 = u32::MAX;
const NOWHERE: NodeId = NodeId(u32::MAX);
/// This bit is set in an entry that is the index of a set of ports.
const CHOICE: u32 = 1 << 31;

impl Routes {
    /// Routes to all destinations: senders of their receivers' packets, unicast receivers, access routers for members
    /// of named groups, name routers and the name resolution system. Members of other groups are reached along their
    /// tree; in an emulation they are destinations as well, because programs may address them.
    pub(super) fn of(blueprint: &Blueprint, edges: &[Edge], pinned: &[RouteSpec]) -> Self {
        let by_address = blueprint.flows.iter().filter(|flow| !matches!(*flow.kind, FlowKind::Ndn(_)));
        let destinations = by_address.flat_map(|flow| {
            let by_tree = flow.cast == Cast::Multicast && flow.emulation.is_none();
            let receivers = if by_tree { &[] } else { flow.to.as_slice() };
            [flow.from].into_iter().chain(receivers.iter().map(|receiver| receiver.node))
        });
        let named = blueprint.icn.iter().flat_map(|icn| icn.routers.iter().copied().chain([icn.resolver]));
        // in-band control messages are routed like all packets, and a control app may ask for routes from any node to
        // any destination
        let controlled = blueprint.sdn.iter().filter(|sdn| !sdn.out_of_band);
        let controlled = controlled.flat_map(|sdn| sdn.nodes.iter().copied().chain([sdn.controller]));
        let destinations = destinations.chain(named).chain(controlled);
        let routes = Self::new(blueprint.nodes.len(), edges, blueprint.metric, pinned, destinations);
        // the seed 0 is the hash without a seed
        Self { salt: blueprint.ecmp_seed.wrapping_mul(0xd6e8_feb8_6659_fd93), ..routes }
    }

    /// Routes to the nodes in `destinations` over edges that are up. `edges` is indexed by port. Routes in `pinned`
    /// override the shortest path.
    pub(super) fn new(
        nodes: usize,
        edges: &[Edge],
        metric: Metric,
        pinned: &[RouteSpec],
        destinations: impl IntoIterator<Item = NodeId>,
    ) -> Self {
        let graph = Graph::new(nodes, edges, metric);
        let unreachable = Target { row: NONE, last: NOWHERE, last_port: NONE };
        let mut routes = Self { to: vec![unreachable; nodes], nodes, ..Self::default() };
        let mut row_of_core = vec![NONE; nodes];
        for destination in destinations.into_iter().map(NodeId::index) {
            if routes.to[destination].row != NONE {
                continue;
            }
            let hangs_from = graph.hangs_from(destination);
            let core = hangs_from.map_or(destination, |(node, _)| node.index());
            if row_of_core[core] == NONE {
                row_of_core[core] = routes.add_row(&graph, core);
            }
            let (last, last_port) = hangs_from.map_or((NOWHERE, NONE), |(node, port)| (node, port.0));
            routes.to[destination] = Target { row: row_of_core[core], last, last_port };
        }
        pinned.iter().for_each(|pin| routes.pin(&graph, *pin));
        routes
    }

    fn add_row(&mut self, graph: &Graph<'_>, core: usize) -> u32 {
        let distance = graph.distances_to(core);
        self.rows.reserve_exact(self.nodes);
        for at in 0..self.nodes {
            let entry = match graph.is_core(at) {
                true => self.entry(graph, at, &distance),
                false => graph.out[at].first().map_or(NONE, |port| port.0),
            };
            self.rows.push(entry);
        }
        (self.rows.len() / self.nodes) as u32 - 1
    }

    /// Overrides one entry. The destination gets its own row, because others may share the current one.
    fn pin(&mut self, graph: &Graph<'_>, pin: RouteSpec) {
        let port = graph.out[pin.at.index()].iter().find(|port| graph.edges[port.index()].to == pin.via);
        let target = self.to[pin.to.index()];
        let Some(&port) = port.filter(|_| target.row != NONE) else { return };
        let begin = target.row as usize * self.nodes;
        self.rows.extend_from_within(begin..begin + self.nodes);
        let row = (self.rows.len() / self.nodes) as u32 - 1;
        if let Some(last) = self.rows.get_mut(row as usize * self.nodes + target.last.index()) {
            *last = target.last_port;
        }
        self.rows[row as usize * self.nodes + pin.at.index()] = port.0;
        self.to[pin.to.index()] = Target { row, last: NOWHERE, last_port: NONE };
    }

    /// The best port of `at`, given the distances of all nodes to the destination.
    fn entry(&mut self, graph: &Graph<'_>, at: usize, distance: &[Distance]) -> u32 {
        let best = distance[at];
        if best == UNREACHABLE || best == (0, 0) {
            return NONE;
        }
        let good = |port: &&PortId| {
            let edge = &graph.edges[port.index()];
            graph.is_core(edge.to.index()) && add(distance[edge.to.index()], graph.cost(edge)) == best
        };
        let ports: Vec<PortId> = graph.out[at].iter().filter(good).copied().collect();
        match ports.as_slice() {
            [] => NONE,
            [only] => only.0,
            _ => {
                let known = self.choices.iter().position(|choice| *choice == ports);
                let index = known.unwrap_or_else(|| {
                    self.choices.push(ports);
                    self.choices.len() - 1
                });
                CHOICE | index as u32
            }
        }
    }

    /// The port on which a packet of `flow` to `to` leaves `at`.
    #[inline]
    pub(super) fn next(&self, at: NodeId, to: NodeId, flow: FlowId) -> Option<PortId> {
        let target = self.to.get(to.index())?;
        let entry = if at == target.last {
            target.last_port
        } else {
            *self.rows.get(target.row as usize * self.nodes + at.index())?
        };
        if entry & CHOICE == 0 {
            return Some(PortId(entry));
        }
        self.choose(entry, at, flow)
    }

    /// One of several ports of equal cost (ECMP, RFC 2992): always the same for a flow at a node. The parts of flow,
    /// node and seed are mixed by the finaliser of SplitMix64 (Steele, Lea and Flood, 2014), shortened.
    #[cold]
    fn choose(&self, entry: u32, at: NodeId, flow: FlowId) -> Option<PortId> {
        if entry == NONE {
            return None;
        }
        let ports = &self.choices[(entry & !CHOICE) as usize];
        let key = u64::from(flow.0) << 32 | u64::from(at.0);
        let spread = (key.wrapping_add(1) ^ self.salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let spread = (spread ^ (spread >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33;
        // both fit into 32 bits, in which a division is faster
        Some(ports[(spread as u32 % ports.len() as u32) as usize])
    }
}

/// Cost, then number of links, so that fewer links win for equal cost.
type Distance = (u64, u32);
const UNREACHABLE: Distance = (u64::MAX, u32::MAX);

fn add(to: Distance, cost: u64) -> Distance {
    if to == UNREACHABLE { UNREACHABLE } else { (to.0.saturating_add(cost), to.1 + 1) }
}

struct Graph<'a> {
    edges: &'a [Edge],
    metric: Metric,
    /// Ports out of each node that are up.
    out: Vec<Vec<PortId>>,
    /// Ports into each node that are up.
    into: Vec<Vec<PortId>>,
    leaf: Vec<bool>,
}

impl<'a> Graph<'a> {
    fn new(nodes: usize, edges: &'a [Edge], metric: Metric) -> Self {
        let (mut out, mut into) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        for (port, edge) in (0u32..).zip(edges).filter(|(_, edge)| edge.is_up()) {
            out[edge.from.index()].push(PortId(port));
            into[edge.to.index()].push(PortId(port));
        }
        let single = |node: usize| out[node].len() == 1;
        // two nodes that have only each other are not leaves: one must be searched
        let leaf: Vec<bool> =
            (0..nodes).map(|node| single(node) && !single(edges[out[node][0].index()].to.index())).collect();
        Self { edges, metric, out, into, leaf }
    }

    fn is_core(&self, node: usize) -> bool {
        !self.leaf[node]
    }

    /// The neighbour of a leaf, and the port from there to the leaf.
    fn hangs_from(&self, node: usize) -> Option<(NodeId, PortId)> {
        let out = self.out[node].first().filter(|_| self.leaf[node])?;
        let back = self.into[node].first()?;
        Some((self.edges[out.index()].to, *back))
    }

    fn cost(&self, edge: &Edge) -> u64 {
        match self.metric {
            Metric::Delay => edge.delay_ns(),
            Metric::Hops => 1,
        }
    }

    /// Distances of all core nodes to `target`.
    fn distances_to(&self, target: usize) -> Vec<Distance> {
        let mut search = Search::new(self.out.len(), UNREACHABLE);
        search.start(target, (0, 0));
        while let Some((node, known)) = search.settle() {
            for &port in &self.into[node] {
                let edge = &self.edges[port.index()];
                if self.is_core(edge.from.index()) {
                    search.offer(edge.from.index(), add(known, self.cost(edge)), ());
                }
            }
        }
        search.finish().0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Links as `(a, b, delay)`; port 2 i is a → b, 2 i + 1 is b → a.
    fn edges(links: &[(u32, u32, u64)]) -> Vec<Edge> {
        let edge = |from, to, delay_ns| Edge::new(NodeId(from), NodeId(to), delay_ns);
        links.iter().flat_map(|&(a, b, delay)| [edge(a, b, delay), edge(b, a, delay)]).collect()
    }

    fn all(nodes: u32) -> impl Iterator<Item = NodeId> {
        (0..nodes).map(NodeId)
    }

    fn next(routes: &Routes, at: u32, to: u32) -> Option<u32> {
        routes.next(NodeId(at), NodeId(to), FlowId(0)).map(|port| port.0)
    }

    #[test]
    fn delay_and_hops_choose_different_paths() {
        // 0-1-2 is short in delay, 0-2 in hops
        let edges = edges(&[(0, 1, 1), (1, 2, 1), (0, 2, 5)]);
        assert_eq!(next(&Routes::new(3, &edges, Metric::Delay, &[], all(3)), 0, 2), Some(0));
        assert_eq!(next(&Routes::new(3, &edges, Metric::Hops, &[], all(3)), 0, 2), Some(4));
    }

    #[test]
    fn leaves_are_reached_through_the_node_they_hang_from() {
        // hosts 2, 3 behind router 0; host 4 behind router 1
        let edges = edges(&[(0, 1, 1), (2, 0, 1), (3, 0, 1), (1, 4, 1)]);
        let routes = Routes::new(5, &edges, Metric::Delay, &[], all(5));
        assert_eq!(
            [next(&routes, 2, 4), next(&routes, 0, 4), next(&routes, 1, 4)],
            [Some(2), Some(0), Some(6)]
        );
        assert_eq!(
            [next(&routes, 4, 3), next(&routes, 1, 3), next(&routes, 0, 3)],
            [Some(7), Some(1), Some(5)]
        );
    }

    #[test]
    fn two_nodes_have_routes_to_each_other() {
        let routes = Routes::new(2, &edges(&[(0, 1, 1)]), Metric::Delay, &[], all(2));
        assert_eq!([next(&routes, 0, 1), next(&routes, 1, 0)], [Some(0), Some(1)]);
    }

    #[test]
    fn only_wanted_destinations_have_routes_and_leaves_share_a_row() {
        let edges = edges(&[(0, 1, 1), (2, 0, 1), (3, 0, 1), (1, 4, 1)]);
        let routes = Routes::new(5, &edges, Metric::Delay, &[], [NodeId(2), NodeId(3)]);
        assert_eq!(routes.rows.len(), 5);
        assert_eq!([next(&routes, 4, 3), next(&routes, 0, 3), next(&routes, 0, 4)], [Some(7), Some(5), None]);
    }

    #[test]
    fn a_pinned_route_of_one_leaf_does_not_change_those_of_its_neighbours() {
        // hosts 3 and 4 behind router 2; routers 0, 1, 2 in a triangle
        let edges = edges(&[(0, 1, 1), (1, 2, 1), (0, 2, 1), (2, 3, 1), (2, 4, 1)]);
        let pin = RouteSpec { at: NodeId(0), to: NodeId(3), via: NodeId(1) };
        let routes = Routes::new(5, &edges, Metric::Delay, &[pin], all(5));
        assert_eq!([next(&routes, 0, 3), next(&routes, 0, 4)], [Some(0), Some(4)]);
        assert_eq!([next(&routes, 1, 3), next(&routes, 2, 3)], [Some(2), Some(6)]);
    }

    #[test]
    fn equal_paths_are_shared_by_flow_and_kept_by_each() {
        let edges = edges(&[(0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1)]);
        let routes = Routes::new(4, &edges, Metric::Delay, &[], all(4));
        let port = |flow| routes.next(NodeId(0), NodeId(3), FlowId(flow)).expect("connected").0;
        let first = (0..1000).filter(|&flow| port(flow) == 0).count();
        assert!((400..600).contains(&first), "{first}");
        assert_eq!(port(17), port(17));
    }

    #[test]
    fn another_seed_spreads_flows_in_another_way() {
        let edges = edges(&[(0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1)]);
        let mut routes = Routes::new(4, &edges, Metric::Delay, &[], all(4));
        let ports = |routes: &Routes| -> Vec<u32> {
            let port = |flow| routes.next(NodeId(0), NodeId(3), FlowId(flow)).expect("connected").0;
            (0..1000).map(port).collect()
        };
        let first = ports(&routes);
        routes.salt = 1u64.wrapping_mul(0xd6e8_feb8_6659_fd93);
        let second = ports(&routes);
        let same = first.iter().zip(&second).filter(|(a, b)| a == b).count();
        assert!((400..600).contains(&same), "{same}");
        assert!((400..600).contains(&second.iter().filter(|port| **port == 0).count()));
    }

    #[test]
    fn a_pinned_route_overrides_and_a_dead_link_is_avoided() {
        let mut edges = edges(&[(0, 1, 1), (1, 2, 1), (0, 2, 5)]);
        let pin = RouteSpec { at: NodeId(0), to: NodeId(2), via: NodeId(2) };
        assert_eq!(next(&Routes::new(3, &edges, Metric::Delay, &[pin], all(3)), 0, 2), Some(4));
        edges[..2].iter_mut().for_each(|edge| edge.set_up(false));
        let routes = Routes::new(3, &edges, Metric::Delay, &[], all(3));
        assert_eq!([next(&routes, 0, 2), next(&routes, 0, 1)], [Some(4), Some(4)]);
        edges[4..].iter_mut().for_each(|edge| edge.set_up(false));
        assert_eq!(next(&Routes::new(3, &edges, Metric::Delay, &[], all(3)), 0, 2), None);
    }
}
