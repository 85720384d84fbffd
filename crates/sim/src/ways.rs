//! Ways of named data: from every forwarder to the producers of a prefix.
//!
//! A next hop is any neighbour from which a producer can be reached without coming back. What a way costs is the link to the neighbour
//! and the shortest path from there that leaves this node out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use contract::{NameId, NodeId, PortId};

use crate::NdnSpec;
use crate::blueprint::Metric;
use crate::routing::Edge;

/// Cost by the metric, then links.
pub(crate) type Cost = (u64, u32);
const NO_WAY: Cost = (u64::MAX, u32::MAX);

/// The links that named data travels on.
pub(crate) struct Ways<'a> {
    edges: &'a [Edge],
    metric: Metric,
    /// Ports from each node: the link is up and there is a forwarder at both ends.
    out: Vec<Vec<PortId>>,
    /// The same, into each node.
    into: Vec<Vec<PortId>>,
}

/// Prefixes that the same nodes serve, and the ways there.
pub(crate) struct Origin {
    /// In ascending order.
    nodes: Vec<NodeId>,
    pub prefixes: Vec<NameId>,
    ways: Distances,
}

/// Distances of all nodes to the nearest of some, and the next node on the way there.
struct Distances {
    cost: Vec<Cost>,
    next: Vec<Option<NodeId>>,
}

impl<'a> Ways<'a> {
    pub(crate) fn new(spec: &NdnSpec, edges: &'a [Edge], metric: Metric, nodes: usize) -> Self {
        let (mut out, mut into) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        let forwards = |node: NodeId| spec.nodes.binary_search(&node).is_ok();
        for (port, edge) in (0u32..).zip(edges) {
            if edge.up && forwards(edge.from) && forwards(edge.to) {
                out[edge.from.index()].push(PortId(port));
                into[edge.to.index()].push(PortId(port));
            }
        }
        Self { edges, metric, out, into }
    }

    /// Who serves what: prefixes with the same producers share a search.
    pub(crate) fn origins(&self, spec: &NdnSpec) -> Vec<Origin> {
        let mut by_prefix: BTreeMap<NameId, Vec<NodeId>> = BTreeMap::new();
        for producer in &spec.producers {
            by_prefix.entry(producer.config.prefix).or_default().push(producer.node);
        }
        let mut by_nodes: BTreeMap<Vec<NodeId>, Vec<NameId>> = BTreeMap::new();
        for (prefix, mut nodes) in by_prefix {
            nodes.sort_unstable();
            nodes.dedup();
            by_nodes.entry(nodes).or_default().push(prefix);
        }
        let origin =
            |(nodes, prefixes): (Vec<NodeId>, _)| Origin { ways: self.search(&nodes, None), nodes, prefixes };
        by_nodes.into_iter().map(origin).collect()
    }

    /// The port of `node` to its neighbour `to`.
    pub(crate) fn port(&self, node: NodeId, to: NodeId) -> Option<PortId> {
        self.out[node.index()].iter().find(|port| self.edges[port.index()].to == to).copied()
    }

    /// Ports of `node` over which the producers can be reached without coming back, each with what the whole way costs.
    pub(crate) fn from(&self, node: NodeId, origin: &Origin) -> Vec<(PortId, Cost)> {
        let mut around = None;
        let mut ways = Vec::new();
        for &port in &self.out[node.index()] {
            let next = self.edges[port.index()].to;
            let ways_on = if origin.ways.passes(next, node) {
                around.get_or_insert_with(|| self.search(&origin.nodes, Some(node)))
            } else {
                &origin.ways
            };
            let cost = ways_on.cost[next.index()];
            if cost != NO_WAY {
                ways.push((port, self.add(cost, port)));
            }
        }
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

#[cfg(test)]
mod tests {
    use contract::Names;
    use stack::ndn::ProducerConfig;
    use units::{Bytes, Duration};

    use super::*;
    use crate::ProducerSpec;

    /// Links as `(a, b, delay)`; port 2 i is a → b, 2 i + 1 is b → a.
    fn edges(links: &[(u32, u32, u64)]) -> Vec<Edge> {
        let edge = |from, to, delay_ns| Edge { from: NodeId(from), to: NodeId(to), delay_ns, up: true };
        links.iter().flat_map(|&(a, b, delay)| [edge(a, b, delay), edge(b, a, delay)]).collect()
    }

    fn spec(nodes: u32, producers: &[(u32, u32)]) -> NdnSpec {
        let producer = |&(node, prefix)| {
            let (payload, data) = (Bytes::new(1), Bytes::new(2));
            let config = ProducerConfig { prefix: NameId(prefix), payload, data, delay: Duration::ZERO };
            ProducerSpec { node: NodeId(node), config }
        };
        let producers = producers.iter().map(producer).collect();
        NdnSpec {
            nodes: (0..nodes).map(NodeId).collect(),
            names: Names::new(),
            producers,
            ..NdnSpec::default()
        }
    }

    fn from(ways: &Ways<'_>, node: u32, origin: &Origin) -> Vec<(u32, Cost)> {
        ways.from(NodeId(node), origin).into_iter().map(|(port, cost)| (port.0, cost)).collect()
    }

    #[test]
    fn a_way_that_would_come_back_is_none() {
        // 0 – 1 – 2, the producer at 2: from 1 nothing leads there by way of 0
        let edges = edges(&[(0, 1, 5), (1, 2, 7)]);
        let spec = spec(3, &[(2, 1)]);
        let ways = Ways::new(&spec, &edges, Metric::Delay, 3);
        let [origin] = &ways.origins(&spec)[..] else { panic!("one prefix") };
        assert_eq!(from(&ways, 0, origin), [(0, (12, 2))]);
        assert_eq!(from(&ways, 1, origin), [(2, (7, 1))]);
        assert_eq!(from(&ways, 2, origin), []);
    }

    #[test]
    fn every_way_round_a_ring_counts_with_its_own_cost() {
        // 0 – 1 – 3 and 0 – 2 – 3, the producer at 3
        let edges = edges(&[(0, 1, 1), (0, 2, 10), (1, 3, 1), (2, 3, 10)]);
        let spec = spec(4, &[(3, 1)]);
        let ways = Ways::new(&spec, &edges, Metric::Delay, 4);
        let [origin] = &ways.origins(&spec)[..] else { panic!("one prefix") };
        assert_eq!(from(&ways, 0, origin), [(0, (2, 2)), (2, (20, 2))]);
        // from 1 the other way is 0, 2, 3: the shortest one from 0 would come back
        assert_eq!(from(&ways, 1, origin), [(1, (21, 3)), (4, (1, 1))]);
        let hops = Ways::new(&spec, &edges, Metric::Hops, 4);
        let [origin] = &hops.origins(&spec)[..] else { panic!("one prefix") };
        assert_eq!(from(&hops, 1, origin), [(1, (3, 3)), (4, (1, 1))]);
    }

    #[test]
    fn the_nearest_of_several_producers_counts_and_a_producer_can_ask_another() {
        // 0 – 1 – 2 – 3, producers of prefix 1 at 0 and 3, of prefix 2 at 3
        let mut edges = edges(&[(0, 1, 1), (1, 2, 1), (2, 3, 5)]);
        let spec = spec(4, &[(0, 1), (3, 1), (3, 2)]);
        let ways = Ways::new(&spec, &edges, Metric::Delay, 4);
        let [both, one] = &ways.origins(&spec)[..] else { panic!("two sets of producers") };
        assert_eq!((&both.prefixes[..], &one.prefixes[..]), (&[NameId(1)][..], &[NameId(2)][..]));
        assert_eq!(from(&ways, 1, both), [(1, (1, 1)), (2, (6, 2))]);
        assert_eq!(from(&ways, 2, both), [(3, (2, 2)), (4, (5, 1))]);
        assert_eq!(from(&ways, 3, both), [(5, (7, 3))]);
        assert_eq!(from(&ways, 3, one), []);
        // without the link in the middle each half has its own
        (edges[2].up, edges[3].up) = (false, false);
        let ways = Ways::new(&spec, &edges, Metric::Delay, 4);
        let [both, one] = &ways.origins(&spec)[..] else { panic!("two sets of producers") };
        assert_eq!((from(&ways, 1, both), from(&ways, 2, both)), (vec![(1, (1, 1))], vec![(4, (5, 1))]));
        assert_eq!(from(&ways, 1, one), []);
    }
}
