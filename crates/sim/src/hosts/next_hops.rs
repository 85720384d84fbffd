//! Next hops of named data: from every forwarder to the producers of a prefix.
//!
//! A next hop is any neighbour from which a producer can be reached without returning to this node. Its cost is the
//! link to the neighbour and the shortest path from there that excludes this node.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use contract::{NameId, NodeId, PortId};

use crate::NdnSpec;
use crate::blueprint::Metric;
use crate::fabric::Edge;

/// Cost by the metric, then number of links.
pub(super) type Cost = (u64, u32);
const UNREACHABLE: Cost = (u64::MAX, u32::MAX);

/// The links between forwarders.
pub(super) struct NextHops {
    /// Links out of each node that are up and have a forwarder at both ends, in the order of ports.
    out: Links,
    /// The links of `out`, by the node that they lead into.
    into: Links,
    /// The only neighbour of each node that has one, which all its links join it with; [`NOBODY`] for others.
    only: Vec<NodeId>,
}

const NOBODY: NodeId = NodeId(u32::MAX);

/// Links by the node at one end.
struct Links {
    /// Where the links of each node begin, and the end of all.
    begin: Vec<u32>,
    all: Vec<Link>,
}

/// A link, seen from the node at one end.
#[derive(Clone, Copy)]
struct Link {
    port: PortId,
    /// The node at the other end.
    other: NodeId,
    /// What it adds to the cost of a path by the metric.
    step: u64,
}

/// Memory of [`NextHops::from`].
pub(super) struct Scratch {
    search: Search,
    found: Vec<(PortId, Cost)>,
}

/// A search for shortest paths, as [`units::graph::Search`], whose costs and nodes are one number each, because
/// comparisons are most of its time.
struct Search {
    /// The key of the best path to each node; [`Self::NONE`] without one.
    best: Vec<u128>,
    frontier: BinaryHeap<Reverse<u128>>,
    /// Nodes with a known path.
    reached: Vec<NodeId>,
}

impl Search {
    const NONE: u128 = u128::MAX;

    fn new(nodes: usize) -> Self {
        Self { best: vec![Self::NONE; nodes], frontier: BinaryHeap::new(), reached: Vec::new() }
    }

    /// Begins another search.
    fn restart(&mut self) {
        self.reached.drain(..).for_each(|node| self.best[node.index()] = Self::NONE);
        self.frontier.clear();
    }

    /// Offers a path to a node. Returns whether it is shorter than the known one.
    #[inline]
    fn offer(&mut self, node: NodeId, cost: Cost) -> bool {
        let key = u128::from(cost.0) << 64 | u128::from(cost.1) << 32 | u128::from(node.0);
        let best = &mut self.best[node.index()];
        if key >= *best {
            return false;
        }
        if *best == Self::NONE {
            self.reached.push(node);
        }
        *best = key;
        self.frontier.push(Reverse(key));
        true
    }

    /// The next node whose shortest path is final, with its cost; the one with the lowest number among equals.
    #[inline]
    fn settle(&mut self) -> Option<(NodeId, Cost)> {
        loop {
            let Reverse(key) = self.frontier.pop()?;
            let node = NodeId(key as u32);
            if key == self.best[node.index()] {
                return Some((node, Self::cost(key)));
            }
        }
    }

    #[inline]
    const fn cost(key: u128) -> Cost {
        ((key >> 64) as u64, (key >> 32) as u32)
    }
}

impl Scratch {
    /// Memory for a network of this number of nodes.
    pub(super) fn new(nodes: usize) -> Self {
        Self { search: Search::new(nodes), found: Vec::new() }
    }
}

impl Links {
    /// The links in `links`, each with its node. The links of a node keep their order.
    fn new(nodes: usize, links: impl Iterator<Item = (NodeId, Link)> + Clone) -> Self {
        let mut begin = vec![0; nodes + 1];
        links.clone().for_each(|(node, _)| begin[node.index() + 1] += 1);
        (0..nodes).for_each(|node| begin[node + 1] += begin[node]);
        let mut next = begin.clone();
        let mut all =
            vec![Link { port: PortId(0), other: NodeId(0), step: 0 }; *begin.last().unwrap_or(&0) as usize];
        for (node, link) in links {
            all[next[node.index()] as usize] = link;
            next[node.index()] += 1;
        }
        Self { begin, all }
    }

    /// The links of a node.
    fn of(&self, node: NodeId) -> &[Link] {
        &self.all[self.begin[node.index()] as usize..self.begin[node.index() + 1] as usize]
    }

    fn nodes(&self) -> usize {
        self.begin.len() - 1
    }
}

/// Prefixes with the same producers, and the shortest paths to these.
pub(super) struct Origin {
    pub prefixes: Vec<NameId>,
    forest: Forest,
}

/// The shortest paths of all nodes to the nearest producer; producers are the roots of trees.
struct Forest {
    paths: Vec<Path>,
}

/// The shortest path of a node in a [`Forest`].
#[derive(Clone, Copy)]
struct Path {
    cost: Cost,
    /// The position of the node among those with a path, each before the nodes below it in its tree, and the end of the
    /// nodes below it.
    start: u32,
    end: u32,
}

impl Path {
    /// Whether a node with the path `other` is below this one.
    #[inline]
    const fn is_before(&self, other: Self) -> bool {
        // unreachable nodes have position 0, which is a producer's, so they are below none
        self.start < other.start && other.start < self.end
    }
}

impl NextHops {
    pub(super) fn new(spec: &NdnSpec, edges: &[Edge], metric: Metric, nodes: usize) -> Self {
        let mut forwards = vec![false; nodes];
        spec.nodes.iter().for_each(|node| forwards[node.index()] = true);
        let usable = |edge: &Edge| edge.is_up() && forwards[edge.from.index()] && forwards[edge.to.index()];
        let step = |edge: &Edge| if metric == Metric::Hops { 1 } else { edge.delay_ns() };
        let links = (0u32..).map(PortId).zip(edges).filter(|(_, edge)| usable(edge));
        let out =
            links.clone().map(|(port, edge)| (edge.from, Link { port, other: edge.to, step: step(edge) }));
        let into = links.map(|(port, edge)| (edge.to, Link { port, other: edge.from, step: step(edge) }));
        let (out, into) = (Links::new(nodes, out), Links::new(nodes, into));
        let only = |node: u32| {
            let links = || out.of(NodeId(node)).iter().chain(into.of(NodeId(node)));
            let first = links().next().map_or(NOBODY, |link| link.other);
            if links().all(|link| link.other == first) { first } else { NOBODY }
        };
        let only = (0..nodes as u32).map(only).collect();
        Self { out, into, only }
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
        let mut search = Search::new(self.out.nodes());
        let origin = |(nodes, prefixes): (Vec<NodeId>, _)| Origin {
            forest: self.search(&nodes, &mut search),
            prefixes,
        };
        by_nodes.into_iter().map(origin).collect()
    }

    /// The port of `node` to its neighbour `to`.
    pub(super) fn port(&self, node: NodeId, to: NodeId) -> Option<PortId> {
        self.out.of(node).iter().find(|link| link.other == to).map(|link| link.port)
    }

    /// Ports of `node` over which a producer can be reached without returning to the node, with the cost of the path.
    pub(super) fn from<'s>(
        &self,
        node: NodeId,
        origin: &Origin,
        scratch: &'s mut Scratch,
    ) -> &'s mut [(PortId, Cost)] {
        let forest = &origin.forest;
        let path = forest.paths[node.index()];
        let Scratch { search, found } = scratch;
        found.clear();
        for link in self.out.of(node) {
            let next = forest.paths[link.other.index()];
            let cost =
                if path.is_before(next) { self.detour(node, link.other, forest, search) } else { next.cost };
            if cost != UNREACHABLE {
                found.push((link.port, add(cost, link)));
            }
        }
        found
    }

    /// The shortest paths of all nodes to the nearest producer.
    fn search(&self, producers: &[NodeId], search: &mut Search) -> Forest {
        let mut next = vec![NOBODY; self.out.nodes()];
        search.restart();
        for &producer in producers {
            search.offer(producer, (0, 0));
        }
        while let Some((node, reached)) = search.settle() {
            for link in self.into.of(node) {
                if search.offer(link.other, add(reached, link)) {
                    next[link.other.index()] = node;
                }
            }
        }
        // without a path it is [`UNREACHABLE`]
        let cost: Vec<Cost> = search.best.iter().map(|&key| Search::cost(key)).collect();
        Forest::new(&cost, &next, producers)
    }

    /// The minimum costs of paths from a node to which the cost of the path so far is given: over links that leave the
    /// nodes below `node`, and the minimum over those that do not.
    #[inline]
    fn step(&self, node: NodeId, (at, so_far): (NodeId, Cost), path: Path, forest: &Forest) -> (Cost, Cost) {
        let (mut out, mut below) = (UNREACHABLE, UNREACHABLE);
        for link in self.out.of(at) {
            let next = forest.paths[link.other.index()];
            if link.other == node || next.cost == UNREACHABLE {
                continue;
            }
            let there = add(so_far, link);
            let through = (there.0.saturating_add(next.cost.0), there.1 + next.cost.1);
            if !path.is_before(next) {
                out = out.min(through);
            } else if self.only[link.other.index()] == NOBODY {
                below = below.min(through);
            }
        }
        (out, below)
    }

    /// The cost from `from`, which is below `node`, without `node`. The paths of nodes that are not below `node` do not
    /// change, so the search ends where it leaves those below. It is an A* search: the cost of a node is the cost of
    /// the path so far plus the cost with `node`, which is never more than the cost without.
    fn detour(&self, node: NodeId, from: NodeId, forest: &Forest, search: &mut Search) -> Cost {
        let path = forest.paths[node.index()];
        if self.only[from.index()] == node {
            return UNREACHABLE;
        }
        let (mut best, below) = self.step(node, (from, (0, 0)), path, forest);
        if below >= best {
            return best;
        }
        search.restart();
        search.offer(from, forest.paths[from.index()].cost);
        while let Some((at, reached)) = search.settle().filter(|&(_, reached)| reached < best) {
            let known = forest.paths[at.index()].cost;
            let so_far = (reached.0.saturating_sub(known.0), reached.1 - known.1);
            for link in self.out.of(at) {
                let next = forest.paths[link.other.index()];
                if link.other == node || next.cost == UNREACHABLE {
                    continue;
                }
                let there = add(so_far, link);
                let through = (there.0.saturating_add(next.cost.0), there.1 + next.cost.1);
                if through >= best {
                    continue;
                }
                if !path.is_before(next) {
                    best = through;
                } else if self.only[link.other.index()] == NOBODY {
                    search.offer(link.other, through);
                }
            }
        }
        best
    }
}

/// The cost of a path that continues over one more link.
#[inline]
fn add(cost: Cost, link: &Link) -> Cost {
    (cost.0.saturating_add(link.step), cost.1 + 1)
}

impl Forest {
    fn new(cost: &[Cost], next: &[NodeId], roots: &[NodeId]) -> Self {
        let nodes = cost.len();
        // the nodes whose next node is this one, linked from the last to the first
        let (mut last, mut before) = (vec![NOBODY; nodes], vec![NOBODY; nodes]);
        for (node, next) in (0u32..).map(NodeId).zip(next).filter(|(_, next)| **next != NOBODY) {
            before[node.index()] = std::mem::replace(&mut last[next.index()], node);
        }
        let mut position = 0;
        let mut paths: Vec<Path> = cost.iter().map(|&cost| Path { cost, start: 0, end: 0 }).collect();
        // true when a node is visited the second time, after all nodes below it
        let mut open: Vec<(NodeId, bool)> = roots.iter().map(|&root| (root, false)).collect();
        while let Some((node, done)) = open.pop() {
            if done {
                paths[node.index()].end = position;
                continue;
            }
            paths[node.index()].start = position;
            position += 1;
            open.push((node, true));
            let mut from = last[node.index()];
            while from != NOBODY {
                open.push((from, false));
                from = before[from.index()];
            }
        }
        Self { paths }
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
        let edge = |from, to, delay_ns| Edge::new(NodeId(from), NodeId(to), delay_ns);
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

    fn from(next_hops: &NextHops, node: u32, origin: &Origin) -> Vec<(u32, Cost)> {
        let mut scratch = Scratch::new(next_hops.out.nodes());
        let found = next_hops.from(NodeId(node), origin, &mut scratch);
        found.iter().map(|(port, cost)| (port.0, *cost)).collect()
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
        edges[2..4].iter_mut().for_each(|edge| edge.set_up(false));
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
                    let through = (on.0 + edge.delay_ns(), on.1 + 1);
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
                        (port, (on.0 + edge.delay_ns(), on.1 + 1))
                    })
                    .collect();
                prop_assert_eq!(from(&next_hops, node, origin), expected);
            }
        }
    }
}
