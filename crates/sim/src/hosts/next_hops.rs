//! Next hops of named data: from every forwarder to the producers of a prefix.
//!
//! A next hop is any neighbour from which a producer can be reached without returning to this node. Its cost is the link to the neighbour and the
//! shortest path from there that excludes this node.

use std::collections::BTreeMap;
use std::ops::Range;

use contract::{NameId, NodeId, PortId};
use graph::Search;

use crate::NdnSpec;
use crate::blueprint::Metric;
use crate::fabric::Edge;

/// Cost by the metric, then number of links.
pub(super) type Cost = (u64, u32);
const UNREACHABLE: Cost = (u64::MAX, u32::MAX);

/// The links between forwarders.
pub(super) struct NextHops<'a> {
    edges: &'a [Edge],
    metric: Metric,
    /// Ports out of each node that are up and have a forwarder at both ends.
    out: Vec<Vec<PortId>>,
    /// The same ports, by the node that they lead into.
    into: Vec<Vec<PortId>>,
}

/// Prefixes with the same producers, and the shortest paths to these.
pub(super) struct Origin {
    pub prefixes: Vec<NameId>,
    paths: Forest,
}

/// The shortest paths of all nodes to the nearest producer; producers are the roots of trees.
struct Forest {
    cost: Vec<Cost>,
    /// Nodes with a path, each before the nodes below it in its tree.
    order: Vec<NodeId>,
    /// Per node: its position in the order, and the end of the nodes below it.
    span: Vec<Range<usize>>,
}

impl<'a> NextHops<'a> {
    pub(super) fn new(spec: &NdnSpec, edges: &'a [Edge], metric: Metric, nodes: usize) -> Self {
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

    /// Groups prefixes with the same producers, which share a search.
    pub(super) fn origins(&self, spec: &NdnSpec) -> Vec<Origin> {
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
        let origin = |(nodes, prefixes): (Vec<NodeId>, _)| Origin { paths: self.search(&nodes), prefixes };
        by_nodes.into_iter().map(origin).collect()
    }

    /// The port of `node` to its neighbour `to`.
    pub(super) fn port(&self, node: NodeId, to: NodeId) -> Option<PortId> {
        self.out[node.index()].iter().find(|port| self.edges[port.index()].to == to).copied()
    }

    /// Ports of `node` over which a producer can be reached without returning to the node, with the cost of the path.
    pub(super) fn from(&self, node: NodeId, origin: &Origin) -> Vec<(PortId, Cost)> {
        let mut around = None;
        let mut next_hops = Vec::new();
        for &port in &self.out[node.index()] {
            let next = self.edges[port.index()].to;
            let cost = match origin.paths.behind(node, next) {
                Some(place) => around.get_or_insert_with(|| self.around(node, &origin.paths))[place],
                None => origin.paths.cost[next.index()],
            };
            if cost != UNREACHABLE {
                next_hops.push((port, self.add(cost, port)));
            }
        }
        next_hops
    }

    fn add(&self, cost: Cost, port: PortId) -> Cost {
        let step = match self.metric {
            Metric::Delay => self.edges[port.index()].delay_ns,
            Metric::Hops => 1,
        };
        (cost.0.saturating_add(step), cost.1 + 1)
    }

    /// The shortest paths of all nodes to the nearest producer.
    fn search(&self, producers: &[NodeId]) -> Forest {
        let mut search = Search::new(self.out.len(), UNREACHABLE);
        producers.iter().for_each(|producer| search.start(producer.index(), (0, 0)));
        while let Some((node, reached)) = search.settle() {
            for &port in &self.into[node] {
                search.offer(
                    self.edges[port.index()].from.index(),
                    self.add(reached, port),
                    NodeId(node as u32),
                );
            }
        }
        let (cost, next) = search.finish();
        Forest::new(cost, &next, producers)
    }

    /// Costs without `node` for the nodes below it, in the order of the forest. The paths of other nodes do not change, so the search
    /// covers only the nodes below, starting from their neighbours outside.
    fn around(&self, node: NodeId, paths: &Forest) -> Vec<Cost> {
        let Range { start, end } = paths.span[node.index()];
        let behind = &paths.order[start + 1..end];
        let mut search = Search::new(behind.len(), UNREACHABLE);
        for (place, from) in behind.iter().enumerate() {
            let others = self.out[from.index()].iter().filter_map(|&port| {
                let to = self.edges[port.index()].to;
                let known = paths.cost[to.index()];
                // neither `node` nor below it
                let usable = known != UNREACHABLE && !(start..end).contains(&paths.span[to.index()].start);
                usable.then(|| self.add(known, port))
            });
            if let Some(cost) = others.min() {
                search.start(place, cost);
            }
        }
        while let Some((place, reached)) = search.settle() {
            for &port in &self.into[behind[place].index()] {
                if let Some(from) = paths.behind(node, self.edges[port.index()].from) {
                    search.offer(from, self.add(reached, port), ());
                }
            }
        }
        search.finish().0
    }
}

impl Forest {
    fn new(cost: Vec<Cost>, next: &[Option<NodeId>], roots: &[NodeId]) -> Self {
        let nodes = cost.len();
        let mut above: Vec<Vec<NodeId>> = vec![Vec::new(); nodes];
        for (node, next) in (0u32..).zip(next) {
            if let Some(next) = next {
                above[next.index()].push(NodeId(node));
            }
        }
        let mut order = Vec::with_capacity(nodes);
        let mut span = vec![0..0; nodes];
        // true when a node is visited the second time, after all nodes below it
        let mut open: Vec<(NodeId, bool)> = roots.iter().map(|&root| (root, false)).collect();
        while let Some((node, done)) = open.pop() {
            if done {
                span[node.index()].end = order.len();
                continue;
            }
            span[node.index()].start = order.len();
            order.push(node);
            open.push((node, true));
            open.extend(above[node.index()].iter().map(|&from| (from, false)));
        }
        Self { cost, order, span }
    }

    /// Position of `from` among the nodes below `node`; `None` if it is not below.
    fn behind(&self, node: NodeId, from: NodeId) -> Option<usize> {
        let passing = &self.span[node.index()];
        // unreachable nodes have position 0, which is a producer's, so they are below none
        let place = self.span[from.index()].start;
        (passing.start < place && place < passing.end).then(|| place - passing.start - 1)
    }
}

#[cfg(test)]
mod tests {
    use contract::Names;
    use proptest::prelude::*;
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

    fn from(next_hops: &NextHops<'_>, node: u32, origin: &Origin) -> Vec<(u32, Cost)> {
        next_hops.from(NodeId(node), origin).into_iter().map(|(port, cost)| (port.0, cost)).collect()
    }

    #[test]
    fn a_path_back_through_the_node_is_no_next_hop() {
        // 0 – 1 – 2, the producer at 2: from 1 nothing leads there by way of 0
        let edges = edges(&[(0, 1, 5), (1, 2, 7)]);
        let spec = spec(3, &[(2, 1)]);
        let next_hops = NextHops::new(&spec, &edges, Metric::Delay, 3);
        let [origin] = &next_hops.origins(&spec)[..] else { panic!("one prefix") };
        assert_eq!(from(&next_hops, 0, origin), [(0, (12, 2))]);
        assert_eq!(from(&next_hops, 1, origin), [(2, (7, 1))]);
        assert_eq!(from(&next_hops, 2, origin), []);
    }

    #[test]
    fn every_path_round_a_ring_counts_with_its_own_cost() {
        // 0 – 1 – 3 and 0 – 2 – 3, the producer at 3
        let edges = edges(&[(0, 1, 1), (0, 2, 10), (1, 3, 1), (2, 3, 10)]);
        let spec = spec(4, &[(3, 1)]);
        let next_hops = NextHops::new(&spec, &edges, Metric::Delay, 4);
        let [origin] = &next_hops.origins(&spec)[..] else { panic!("one prefix") };
        assert_eq!(from(&next_hops, 0, origin), [(0, (2, 2)), (2, (20, 2))]);
        // from 1 the other path is 0, 2, 3: the shortest path from 0 would return to 1
        assert_eq!(from(&next_hops, 1, origin), [(1, (21, 3)), (4, (1, 1))]);
        let hops = NextHops::new(&spec, &edges, Metric::Hops, 4);
        let [origin] = &hops.origins(&spec)[..] else { panic!("one prefix") };
        assert_eq!(from(&hops, 1, origin), [(1, (3, 3)), (4, (1, 1))]);
    }

    #[test]
    fn the_nearest_of_several_producers_counts_and_a_producer_can_ask_another() {
        // 0 – 1 – 2 – 3, producers of prefix 1 at 0 and 3, of prefix 2 at 3
        let mut edges = edges(&[(0, 1, 1), (1, 2, 1), (2, 3, 5)]);
        let spec = spec(4, &[(0, 1), (3, 1), (3, 2)]);
        let next_hops = NextHops::new(&spec, &edges, Metric::Delay, 4);
        let [both, one] = &next_hops.origins(&spec)[..] else { panic!("two sets of producers") };
        assert_eq!((&both.prefixes[..], &one.prefixes[..]), (&[NameId(1)][..], &[NameId(2)][..]));
        assert_eq!(from(&next_hops, 1, both), [(1, (1, 1)), (2, (6, 2))]);
        assert_eq!(from(&next_hops, 2, both), [(3, (2, 2)), (4, (5, 1))]);
        assert_eq!(from(&next_hops, 3, both), [(5, (7, 3))]);
        assert_eq!(from(&next_hops, 3, one), []);
        // without the middle link each half has its own producer
        (edges[2].up, edges[3].up) = (false, false);
        let next_hops = NextHops::new(&spec, &edges, Metric::Delay, 4);
        let [both, one] = &next_hops.origins(&spec)[..] else { panic!("two sets of producers") };
        assert_eq!(
            (from(&next_hops, 1, both), from(&next_hops, 2, both)),
            (vec![(1, (1, 1))], vec![(4, (5, 1))])
        );
        assert_eq!(from(&next_hops, 1, one), []);
    }

    /// Costs from each node to a producer without passing one node, by repeated relaxation.
    fn plain(edges: &[Edge], nodes: u32, producers: &[u32], without: u32) -> Vec<Cost> {
        let mut cost = vec![UNREACHABLE; nodes as usize];
        producers.iter().filter(|&&node| node != without).for_each(|&node| cost[node as usize] = (0, 0));
        for _ in 0..nodes {
            for edge in edges.iter().filter(|edge| edge.from.0 != without && edge.to.0 != without) {
                let on = cost[edge.to.index()];
                if on != UNREACHABLE {
                    let through = (on.0 + edge.delay_ns, on.1 + 1);
                    cost[edge.from.index()] = cost[edge.from.index()].min(through);
                }
            }
        }
        cost
    }

    proptest! {
        #[test]
        fn next_hops_are_those_of_a_search_without_the_node(
            links in prop::collection::vec((0u32..8, 0u32..8, 1u64..5), 1..20),
            producers in prop::collection::btree_set(0u32..8, 1..4),
        ) {
            let links: Vec<_> = links.into_iter().filter(|(a, b, _)| a != b).collect();
            let edges = edges(&links);
            let producers: Vec<u32> = producers.into_iter().collect();
            let served: Vec<(u32, u32)> = producers.iter().map(|&node| (node, 1)).collect();
            let spec = spec(8, &served);
            let next_hops = NextHops::new(&spec, &edges, Metric::Delay, 8);
            let [origin] = &next_hops.origins(&spec)[..] else { panic!("one prefix") };
            for node in 0..8 {
                let cost = plain(&edges, 8, &producers, node);
                let expected: Vec<(u32, Cost)> = (0u32..)
                    .zip(&edges)
                    .filter(|(_, edge)| edge.from.0 == node && cost[edge.to.index()] != UNREACHABLE)
                    .map(|(port, edge)| {
                        let on = cost[edge.to.index()];
                        (port, (on.0 + edge.delay_ns, on.1 + 1))
                    })
                    .collect();
                prop_assert_eq!(from(&next_hops, node, origin), expected);
            }
        }
    }
}
