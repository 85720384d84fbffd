//! Paths of packets for checks of a plan: reachability and length.

use std::collections::{BTreeMap, BTreeSet};

use contract::NodeId;
use sim::{Metric, RouteSpec};
use units::Duration;
use units::graph::{self, Search};

use super::Net;

/// Index of a direction of a link: link `i` forward at `2 i`, backward at `2 i + 1`.
pub(crate) type PortIndex = usize;

/// Shortest paths of a network, computed per destination on request.
pub(crate) struct Paths<'a> {
    net: &'a Net,
    metric: Metric,
    /// Outgoing ports by node: port and next node.
    out: Vec<Vec<(PortIndex, usize)>>,
    fixed: BTreeMap<(usize, usize), usize>,
    /// Destinations with pinned routes.
    pinned: BTreeSet<usize>,
    towards: BTreeMap<usize, Vec<Option<PortIndex>>>,
    part: Vec<usize>,
}

impl<'a> Paths<'a> {
    pub(crate) fn new(net: &'a Net, metric: Metric, routes: &[RouteSpec]) -> Self {
        let mut out = vec![Vec::new(); net.nodes.len()];
        let for_all = |ends: (NodeId, NodeId)| {
            net.control_node.is_none_or(|control_node| ends.0 != control_node && ends.1 != control_node)
        };
        for (i, link) in net.links.iter().enumerate().filter(|(_, link)| for_all(link.ends)) {
            let (a, b) = (link.ends.0.index(), link.ends.1.index());
            out[a].push((2 * i, b));
            out[b].push((2 * i + 1, a));
        }
        let fixed =
            routes.iter().map(|route| ((route.at.index(), route.to.index()), route.via.index())).collect();
        let pinned = routes.iter().map(|route| route.to.index()).collect();
        let part = graph::components(out.len(), |node| out[node].iter().map(|&(_, next)| next));
        Self { net, metric, out, fixed, pinned, towards: BTreeMap::new(), part }
    }

    /// Whether two nodes are connected, as far as the network is known.
    pub(crate) fn joined(&self, a: NodeId, b: NodeId) -> bool {
        self.net.partial || self.part[a.index()] == self.part[b.index()]
    }

    /// Propagation delay of a port.
    fn delay(&self, port: PortIndex) -> Duration {
        let link = &self.net.links[port / 2];
        if port.is_multiple_of(2) { link.forward.shortest() } else { link.backward.shortest() }
    }

    /// The port of each node towards `to`.
    fn towards(&mut self, to: usize) -> &[Option<PortIndex>] {
        if !self.towards.contains_key(&to) {
            let ports = self.solve(to);
            self.towards.insert(to, ports);
        }
        &self.towards[&to]
    }

    /// Shortest paths to the destination, searched from it against the direction of links.
    fn solve(&self, to: usize) -> Vec<Option<PortIndex>> {
        let mut search = Search::new(self.out.len(), (u64::MAX, u64::MAX));
        search.start(to, (0, 0));
        while let Some((node, cost)) = search.settle() {
            for &(port, other) in &self.out[node] {
                // the path from `other` to `node` uses the opposite direction
                let back = port ^ 1;
                let delay = self.delay(back).as_nanos();
                let next = match self.metric {
                    Metric::Delay => (cost.0.saturating_add(delay), cost.1 + 1),
                    Metric::Hops => (cost.0 + 1, 0),
                };
                search.offer(other, next, back);
            }
        }
        let (_, mut ports) = search.finish();
        for (&(at, target), &via) in &self.fixed {
            if target == to
                && let Some((port, _)) = self.out[at].iter().find(|(_, next)| *next == via)
            {
                ports[at] = Some(*port);
            }
        }
        ports
    }

    /// The ports from `from` to `to`; `None` if there is no path or the routes form a loop.
    pub(crate) fn way(&mut self, from: NodeId, to: NodeId) -> Option<Vec<PortIndex>> {
        let max = self.out.len();
        let (mut at, to) = (from.index(), to.index());
        let mut way = Vec::new();
        // a node with one link is reached through its neighbour, so the paths to the neighbour serve all of them
        let gate = match self.out[to][..] {
            [(port, neighbour)] if !self.pinned.contains(&to) && !self.pinned.contains(&neighbour) => {
                Some((port ^ 1, neighbour))
            }
            _ => None,
        };
        let target = gate.map_or(to, |(_, neighbour)| neighbour);
        if at == to {
            return Some(way);
        }
        while at != target {
            let port = self.towards(target)[at]?;
            way.push(port);
            at = self.end_of(port);
            if way.len() > max {
                return None;
            }
        }
        way.extend(gate.map(|(port, _)| port));
        Some(way)
    }

    /// The node that a port leads to.
    fn end_of(&self, port: PortIndex) -> usize {
        let ends = self.net.links[port / 2].ends;
        if port.is_multiple_of(2) { ends.1.index() } else { ends.0.index() }
    }

    /// The nodes of a routing loop of packets to `to`, in its order; `None` if there is none.
    pub(crate) fn routing_loop(&mut self, to: NodeId) -> Option<Vec<NodeId>> {
        let n = self.out.len();
        let ports = self.towards(to.index()).to_vec();
        let mut seen = vec![usize::MAX; n];
        for start in 0..n {
            let (mut at, mut walk) = (start, Vec::new());
            while at != to.index() && seen[at] == usize::MAX {
                seen[at] = start;
                walk.push(NodeId(at as u32));
                let Some(port) = ports[at] else { break };
                at = self.end_of(port);
                if seen[at] == start {
                    let first = walk.iter().position(|node| node.index() == at)?;
                    return Some(walk.split_off(first));
                }
            }
        }
        None
    }

    /// Propagation delay of a path.
    pub(crate) fn length(&self, way: &[PortIndex]) -> Duration {
        way.iter().fold(Duration::ZERO, |sum, port| sum + self.delay(*port))
    }
}
