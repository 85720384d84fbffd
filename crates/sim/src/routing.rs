//! Shortest paths and the tables they fill.
//!
//! Leaves (nodes with one link) are not part of the search: they send everything over their link, and a route to a leaf is a
//! route to the node it hangs from. A thousand hosts behind two routers cost two searches.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use contract::{FlowId, NodeId, PortId};

use crate::blueprint::{Metric, RouteSpec};

/// One direction of a link as routing sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub from: NodeId,
    pub to: NodeId,
    pub delay_ns: u64,
    pub up: bool,
}

/// Next ports, by node and destination.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    nodes: Vec<NodeRoutes>,
    /// Sets of equally good ports.
    choices: Vec<Vec<PortId>>,
}

#[derive(Debug, Default)]
struct NodeRoutes {
    /// For every destination without an entry of its own.
    default: u32,
    /// By destination; empty for leaves.
    table: Vec<u32>,
}

const NONE: u32 = u32::MAX;
/// Set in an entry that names a set of ports instead of a port.
const CHOICE: u32 = 1 << 31;

impl Routes {
    /// Routes over the edges that are up; `edges[port]` is that port's. `pinned` routes override the shortest path.
    pub(crate) fn new(nodes: usize, edges: &[Edge], metric: Metric, pinned: &[RouteSpec]) -> Self {
        let graph = Graph::new(nodes, edges, metric);
        let mut routes = Self { nodes: Vec::with_capacity(nodes), choices: Vec::new() };
        for node in 0..nodes {
            let table = if graph.is_core(node) { vec![NONE; nodes] } else { Vec::new() };
            let default =
                if graph.is_core(node) { NONE } else { graph.out[node].first().map_or(NONE, |p| p.0) };
            routes.nodes.push(NodeRoutes { default, table });
        }
        for core in (0..nodes).filter(|&node| graph.is_core(node)) {
            let distance = graph.distances_to(core);
            let entries: Vec<u32> = (0..nodes).map(|at| routes.entry(&graph, at, &distance)).collect();
            for (at, &entry) in entries.iter().enumerate().filter(|&(at, _)| at != core && graph.is_core(at))
            {
                routes.nodes[at].table[core] = entry;
                for &leaf in &graph.leaves[core] {
                    routes.nodes[at].table[leaf] = entry;
                }
            }
            for &leaf in &graph.leaves[core] {
                let port = graph.out[core].iter().find(|port| edges[port.index()].to.index() == leaf);
                routes.nodes[core].table[leaf] = port.map_or(NONE, |port| port.0);
            }
        }
        for pin in pinned {
            let port = graph.out[pin.at.index()].iter().find(|port| edges[port.index()].to == pin.via);
            if let Some(port) = port {
                let at = &mut routes.nodes[pin.at.index()];
                if at.table.is_empty() {
                    at.table = vec![at.default; nodes];
                }
                at.table[pin.to.index()] = port.0;
            }
        }
        routes
    }

    /// The best port of `at` given the distances of all nodes to the destination.
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

    /// Where a packet of `flow` at `at` goes next on its way to `to`.
    #[inline]
    pub(crate) fn next(&self, at: NodeId, to: NodeId, flow: FlowId) -> Option<PortId> {
        let node = &self.nodes[at.index()];
        let entry = if node.table.is_empty() { node.default } else { node.table[to.index()] };
        if entry & CHOICE == 0 {
            return Some(PortId(entry));
        }
        self.choose(entry, at, flow)
    }

    /// One of several equally good ports: always the same for a flow at a node.
    #[cold]
    fn choose(&self, entry: u32, at: NodeId, flow: FlowId) -> Option<PortId> {
        if entry == NONE {
            return None;
        }
        let ports = &self.choices[(entry & !CHOICE) as usize];
        let key = u64::from(flow.0) << 32 | u64::from(at.0);
        let spread = key.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let spread = (spread ^ (spread >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33;
        Some(ports[spread as usize % ports.len()])
    }
}

/// Cost, then hops, so that fewer hops win among equal delays.
type Distance = (u64, u32);
const UNREACHABLE: Distance = (u64::MAX, u32::MAX);

fn add(to: Distance, cost: u64) -> Distance {
    if to == UNREACHABLE { UNREACHABLE } else { (to.0.saturating_add(cost), to.1 + 1) }
}

struct Graph<'a> {
    edges: &'a [Edge],
    metric: Metric,
    /// Ports out of each node, those that are up.
    out: Vec<Vec<PortId>>,
    /// Ports into each node, those that are up.
    into: Vec<Vec<PortId>>,
    /// For each node of the core, the leaves that hang from it.
    leaves: Vec<Vec<usize>>,
    leaf: Vec<bool>,
}

impl<'a> Graph<'a> {
    fn new(nodes: usize, edges: &'a [Edge], metric: Metric) -> Self {
        let (mut out, mut into) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        for (port, edge) in (0u32..).zip(edges).filter(|(_, edge)| edge.up) {
            out[edge.from.index()].push(PortId(port));
            into[edge.to.index()].push(PortId(port));
        }
        let single = |node: usize| out[node].len() == 1;
        // two nodes that have only each other are no leaves: somebody must search
        let leaf: Vec<bool> =
            (0..nodes).map(|node| single(node) && !single(edges[out[node][0].index()].to.index())).collect();
        let mut leaves = vec![Vec::new(); nodes];
        for node in (0..nodes).filter(|&node| leaf[node]) {
            leaves[edges[out[node][0].index()].to.index()].push(node);
        }
        Self { edges, metric, out, into, leaves, leaf }
    }

    fn is_core(&self, node: usize) -> bool {
        !self.leaf[node]
    }

    fn cost(&self, edge: &Edge) -> u64 {
        match self.metric {
            Metric::Delay => edge.delay_ns,
            Metric::Hops => 1,
        }
    }

    /// Distances of all core nodes to `target` (Dijkstra).
    fn distances_to(&self, target: usize) -> Vec<Distance> {
        let mut distance = vec![UNREACHABLE; self.out.len()];
        distance[target] = (0, 0);
        let mut frontier = BinaryHeap::from([Reverse(((0, 0), target))]);
        while let Some(Reverse((known, node))) = frontier.pop() {
            if known > distance[node] {
                continue;
            }
            for port in &self.into[node] {
                let edge = &self.edges[port.index()];
                let from = edge.from.index();
                let through = add(known, self.cost(edge));
                if self.is_core(from) && through < distance[from] {
                    distance[from] = through;
                    frontier.push(Reverse((through, from)));
                }
            }
        }
        distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Links as `(a, b, delay)`; port 2 i is a → b, 2 i + 1 is b → a.
    fn edges(links: &[(u32, u32, u64)]) -> Vec<Edge> {
        let edge = |from, to, delay_ns| Edge { from: NodeId(from), to: NodeId(to), delay_ns, up: true };
        links.iter().flat_map(|&(a, b, delay)| [edge(a, b, delay), edge(b, a, delay)]).collect()
    }

    fn next(routes: &Routes, at: u32, to: u32) -> Option<u32> {
        routes.next(NodeId(at), NodeId(to), FlowId(0)).map(|port| port.0)
    }

    #[test]
    fn delay_and_hops_choose_different_paths() {
        // 0-1-2 is short in delay, 0-2 in hops
        let edges = edges(&[(0, 1, 1), (1, 2, 1), (0, 2, 5)]);
        assert_eq!(next(&Routes::new(3, &edges, Metric::Delay, &[]), 0, 2), Some(0));
        assert_eq!(next(&Routes::new(3, &edges, Metric::Hops, &[]), 0, 2), Some(4));
    }

    #[test]
    fn leaves_are_reached_through_the_node_they_hang_from() {
        // hosts 2, 3 behind router 0; host 4 behind router 1
        let edges = edges(&[(0, 1, 1), (2, 0, 1), (3, 0, 1), (1, 4, 1)]);
        let routes = Routes::new(5, &edges, Metric::Delay, &[]);
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
    fn two_nodes_reach_each_other() {
        let routes = Routes::new(2, &edges(&[(0, 1, 1)]), Metric::Delay, &[]);
        assert_eq!([next(&routes, 0, 1), next(&routes, 1, 0)], [Some(0), Some(1)]);
    }

    #[test]
    fn equal_paths_are_shared_by_flow_and_kept_by_each() {
        let edges = edges(&[(0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1)]);
        let routes = Routes::new(4, &edges, Metric::Delay, &[]);
        let port = |flow| routes.next(NodeId(0), NodeId(3), FlowId(flow)).expect("connected").0;
        let first = (0..1000).filter(|&flow| port(flow) == 0).count();
        assert!((400..600).contains(&first), "{first}");
        assert_eq!(port(17), port(17));
    }

    #[test]
    fn a_pinned_route_overrides_and_a_dead_link_is_avoided() {
        let mut edges = edges(&[(0, 1, 1), (1, 2, 1), (0, 2, 5)]);
        let pin = RouteSpec { at: NodeId(0), to: NodeId(2), via: NodeId(2) };
        assert_eq!(next(&Routes::new(3, &edges, Metric::Delay, &[pin]), 0, 2), Some(4));
        (edges[0].up, edges[1].up) = (false, false);
        let routes = Routes::new(3, &edges, Metric::Delay, &[]);
        assert_eq!([next(&routes, 0, 2), next(&routes, 0, 1)], [Some(4), Some(4)]);
        (edges[4].up, edges[5].up) = (false, false);
        assert_eq!(next(&Routes::new(3, &edges, Metric::Delay, &[]), 0, 2), None);
    }
}
