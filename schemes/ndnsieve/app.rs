//! ndnSieve in the controller: the congestion status filter and the cost calculator [SIEVE §4.2].

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use contract::{
    AppCx, CachedStatus, Command, Count, Hop, Hops, MILLION, NameId, NodeId, PortId, Requirements, Traffic,
};
use units::{Rate, Time};

use super::rules::{MAX, Rules, State, cost, improves_balance, metric, ratio};
use crate::shared::shortest;

/// The part in the controller.
#[derive(Clone, Debug)]
pub struct App {
    rules: Rules,
    /// Prefixes that were moved at some time.
    moved_prefixes: BTreeSet<NameId>,
    /// The latest command about a prefix at a node; the net may not show it yet.
    commanded: BTreeMap<(NodeId, NameId), Commanded>,
}

/// A command.
#[derive(Clone, Copy, Debug)]
struct Commanded {
    hops: Hops,
    at: Time,
}

impl Commanded {
    /// The first next hop.
    fn first(&self) -> Option<PortId> {
        self.hops.list().first().map(|hop| hop.port)
    }
}

/// A node at which a prefix can be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shunt {
    /// The shunt router.
    node: NodeId,
    /// Its current next hop for the prefix.
    present: PortId,
    /// Next hops that the prefix may take.
    allowed: Vec<PortId>,
}

impl App {
    pub(crate) fn new(rules: &Rules) -> Self {
        Self { rules: rules.clone(), moved_prefixes: BTreeSet::new(), commanded: BTreeMap::new() }
    }

    /// The congestion status filter: whether signalled congestion is mild, by the queue [SIEVE §4.2].
    fn passes(&self, cached: &CachedStatus) -> bool {
        // the signal says that β > th1
        let status = &cached.status;
        self.rules.state(f64::INFINITY, status.backlog, ratio(status.occupancy)) == State::Mild
    }

    /// The next hop of a prefix at a node, with pending commands.
    fn first_hop(&self, node: NodeId, prefix: NameId, cx: &AppCx<'_, '_>) -> Option<PortId> {
        let known = || cx.net().hops(node, prefix).first().map(|hop| hop.port);
        self.commanded.get(&(node, prefix)).and_then(Commanded::first).or_else(known)
    }

    /// The shunt router: the first node downstream of a congested link that could request the prefix on another path
    /// [SIEVE §4.2.1].
    fn shunt(&self, prefix: NameId, congested: PortId, cx: &mut AppCx<'_, '_>) -> Option<Shunt> {
        let net = cx.net();
        let mut met = BTreeSet::new();
        let mut next = VecDeque::from([congested]);
        while let Some(port) = next.pop_front() {
            let Some(link) = net.link(port) else { continue };
            if !met.insert(link.to) {
                continue;
            }
            operation(Count::Searching, 1, cx);
            let node = link.to;
            let candidates = self.candidates(node, prefix, cx);
            // its Data use the link if its Interests use the other direction
            let asks_here = self.first_hop(node, prefix, cx) == Some(link.back);
            if asks_here && candidates.len() > 1 && net.has_agent(node) {
                let allowed = self.allowed(candidates, node, prefix, link.back, cx);
                return Some(Shunt { node, present: link.back, allowed });
            }
            // continues to the consumers
            for on in net.links_from(node).filter(|on| on.to != link.from) {
                let cached = cx.cache().fresh(on.port, cx.now(), self.rules.max_age);
                if cached.is_some_and(|cached| carries(cached, prefix)) {
                    next.push_back(on.port);
                }
            }
        }
        None
    }

    /// Next hops of a node for a prefix, without those on which its Data leave, because they request from this node.
    fn candidates(&self, node: NodeId, prefix: NameId, cx: &AppCx<'_, '_>) -> Vec<PortId> {
        let carries_prefix = |port: &PortId| {
            let cached = cx.cache().fresh(*port, cx.now(), self.rules.max_age);
            cached.is_some_and(|cached| carries(cached, prefix))
        };
        let hops = cx.net().hops(node, prefix).iter().map(|hop| hop.port);
        hops.filter(|port| !carries_prefix(port) && self.path(node, prefix, *port, cx).is_some()).collect()
    }

    /// The path of Interests from a node through one of its next hops, with pending commands; `None` if it returns to
    /// the node or ends. Without commands it is the shortest path from that next hop.
    fn path(&self, node: NodeId, prefix: NameId, hop: PortId, cx: &AppCx<'_, '_>) -> Option<Vec<PortId>> {
        let net = cx.net();
        let origin = net.origins.get(&prefix)?;
        let mut path = vec![hop];
        let mut met = BTreeSet::from([node]);
        let mut link = net.link(hop).filter(|link| link.rate != units::Rate::ZERO)?;
        while !origin.contains(&link.to) {
            if !met.insert(link.to) {
                return None;
            }
            let Some(next) = self.first_hop(link.to, prefix, cx) else {
                // a node without an agent is assumed to use the shortest path
                path.extend(shortest(net, link.to, origin, node)?);
                return Some(path);
            };
            path.push(next);
            link = net.link(next).filter(|link| link.rate != units::Rate::ZERO)?;
        }
        Some(path)
    }

    /// Those of `candidates` that a prefix may move to.
    fn allowed(
        &self,
        candidates: Vec<PortId>,
        node: NodeId,
        prefix: NameId,
        present: PortId,
        cx: &AppCx<'_, '_>,
    ) -> Vec<PortId> {
        let others = candidates.into_iter().filter(|port| *port != present);
        // a path that has failed is left in any case
        if !self.rules.counts || self.path(node, prefix, present, cx).is_none() {
            return others.collect();
        }
        let taken = self.taken(node, cx);
        let n = |port: PortId| taken.get(&port).copied().unwrap_or(0);
        let moved_prefixes = self.moved_prefixes.contains(&prefix);
        others.filter(|port| improves_balance(n(present), n(*port), moved_prefixes)).collect()
    }

    /// The next hop that was commanded at a node.
    #[cfg(test)]
    pub(crate) fn commands_to(&self, node: NodeId, prefix: NameId) -> Option<PortId> {
        self.commanded.get(&(node, prefix)).and_then(Commanded::first)
    }

    /// Number of prefixes with traffic on each next hop of a node.
    fn taken(&self, node: NodeId, cx: &AppCx<'_, '_>) -> BTreeMap<PortId, usize> {
        let net = cx.net();
        let inwards =
            net.links_from(node).filter_map(|link| cx.cache().fresh(link.back, cx.now(), self.rules.max_age));
        let prefixes: BTreeSet<NameId> = inwards.flat_map(prefixes).collect();
        let mut taken = BTreeMap::new();
        for prefix in prefixes {
            if let Some(port) = self.first_hop(node, prefix, cx) {
                *taken.entry(port).or_insert(0) += 1;
            }
        }
        taken
    }

    /// The metric of a next hop: that of the worst link of its path to the nearest producer [SIEVE eq. 3]. `None` if
    /// there is no path, or a link of it is unknown.
    fn metric(&self, node: NodeId, prefix: NameId, hop: PortId, cx: &mut AppCx<'_, '_>) -> Option<f64> {
        let net = cx.net();
        let mut max: f64 = 0.0;
        for port in self.path(node, prefix, hop, cx)? {
            operation(Count::Switching, 1, cx);
            // Data use the other direction
            let data = net.link(net.link(port)?.back)?;
            let Some(cached) = cx.cache().fresh(data.port, cx.now(), self.rules.max_age) else {
                // our choice: a node that never reported counts as idle, one whose reports are stale as unknown
                if net.has_agent(data.from) {
                    return None;
                }
                continue;
            };
            let occupancy = self.rules.occupancy(cached.status.backlog, ratio(cached.status.occupancy));
            // metric = max 10 · β · e^ε over the links of the path                                  [SIEVE eq. 3]
            max = max.max(metric(ratio(cached.status.load), occupancy));
        }
        Some(max)
    }

    /// The cost calculator: metrics of all next hops of the shunt router [SIEVE Algorithm 1]. A refresh that changes
    /// none is not sent.
    fn calculate(&mut self, prefix: NameId, shunt: &Shunt, is_refresh: bool, cx: &mut AppCx<'_, '_>) {
        let hops: Vec<PortId> = cx.net().hops(shunt.node, prefix).iter().map(|hop| hop.port).collect();
        let present = match self.metric(shunt.node, prefix, shunt.present, cx) {
            Some(present) => {
                cx.event("metric_present", present);
                cost(present)
            }
            None if self.path(shunt.node, prefix, shunt.present, cx).is_none() => MAX,
            None => return,
        };
        let mut costs: Vec<Hop> = vec![Hop { port: shunt.present, cost: present }];
        for port in hops.into_iter().filter(|port| *port != shunt.present) {
            let metric = self.metric(shunt.node, prefix, port, cx).map(cost);
            let cost = match metric {
                Some(metric) if shunt.allowed.contains(&port) => metric,
                // it stays behind the current one
                Some(metric) => metric.max(present),
                None => present,
            };
            costs.push(Hop { port, cost });
        }
        // lowest cost first; the current next hop first among equals
        costs.sort_by_key(|hop| hop.cost);
        let hops = Hops::new(&costs);
        let at = cx.now();
        if let Some(commanded) = self.commanded.get_mut(&(shunt.node, prefix))
            && commanded.hops == hops
            && is_refresh
        {
            commanded.at = at;
            return;
        }
        if costs[0].port != shunt.present {
            self.moved_prefixes.insert(prefix);
            cx.count(Count::Reroutes, 1);
            cx.event("metric_taken", f64::from(costs[0].cost) / f64::from(cost(1.0)));
        }
        self.commanded.insert((shunt.node, prefix), Commanded { hops, at });
        // a command contains the first four; the others stay behind them unchanged
        cx.command(shunt.node, Command::NextHops { prefix, hops });
    }

    /// Calculates metrics of a prefix at a node again [SIEVE §4.2.1].
    fn refresh(&mut self, node: NodeId, prefix: NameId, cx: &mut AppCx<'_, '_>) {
        let Some(present) = self.first_hop(node, prefix, cx) else { return };
        let candidates = self.candidates(node, prefix, cx);
        let allowed = self.allowed(candidates, node, prefix, present, cx);
        self.calculate(prefix, &Shunt { node, present, allowed }, true, cx);
    }

    /// Whether `port` is a link on which Data of the prefix may arrive at the node, and all these links have reported
    /// since the latest command.
    fn is_outdated(&self, node: NodeId, prefix: NameId, port: PortId, cx: &AppCx<'_, '_>) -> bool {
        let Some(commanded) = self.commanded.get(&(node, prefix)) else { return false };
        let net = cx.net();
        let links =
            || net.hops(node, prefix).iter().filter_map(|hop| net.link(hop.port)).map(|link| link.back);
        let newer = |port: PortId| cx.cache().seen(port).is_some_and(|seen| seen.at > commanded.at);
        links().any(|link| link == port) && links().all(newer)
    }
}

impl contract::App for App {
    fn requirements(&self) -> Requirements {
        // β > th1                                                                                   [SIEVE §4.1]
        Requirements { signal_above: Some((self.rules.th1 * f64::from(MILLION)).round() as u32) }
    }

    fn on_signal(&mut self, port: PortId, cx: &mut AppCx<'_, '_>) {
        operation(Count::Filtering, 1, cx);
        // without a recent status, mild and severe congestion cannot be distinguished
        let Some(cached) = cx.cache().fresh(port, cx.now(), self.rules.max_age) else { return };
        let mild = self.passes(cached);
        cx.event(if mild { "signal_mild" } else { "signal_sieved" }, f64::from(port.0));
        cx.event("signal_load", ratio(cached.status.load));
        cx.event("signal_occupancy", ratio(cached.status.occupancy));
        if !mild {
            return;
        }
        operation(Count::Switching, 1, cx);
        let all: Vec<NameId> = prefixes(cached).collect();
        let number = self.rules.prefixes_to_move(all.len());
        let mut movable: Vec<(NameId, Shunt)> = Vec::new();
        for prefix in all {
            let shunt = self.shunt(prefix, port, cx);
            movable.extend(shunt.filter(|shunt| !shunt.allowed.is_empty()).map(|shunt| (prefix, shunt)));
        }
        // Content[Num] ← Random()                                                                   [SIEVE Algorithm 1]
        for _ in 0..number.min(movable.len()) {
            let drawn = cx.random().below(movable.len() as u64) as usize;
            let (prefix, shunt) = movable.swap_remove(drawn);
            self.calculate(prefix, &shunt, false, cx);
        }
    }

    fn on_status(&mut self, port: PortId, cx: &mut AppCx<'_, '_>) {
        if !self.rules.refreshes {
            return;
        }
        let outdated = |key: &&(NodeId, NameId)| self.is_outdated(key.0, key.1, port, cx);
        let outdated: Vec<(NodeId, NameId)> = self.commanded.keys().filter(outdated).copied().collect();
        for (node, prefix) in outdated {
            self.refresh(node, prefix, cx);
        }
    }

    /// The topology changed: prefixes that were commanded to a path that has failed take another.
    fn on_link(&mut self, port: PortId, cx: &mut AppCx<'_, '_>) {
        if cx.net().link(port).is_none_or(|link| link.rate != Rate::ZERO) {
            return;
        }
        let fails = |&&(node, prefix): &&(NodeId, NameId)| {
            self.first_hop(node, prefix, cx).is_some_and(|hop| self.path(node, prefix, hop, cx).is_none())
        };
        let failed: Vec<(NodeId, NameId)> = self.commanded.keys().filter(fails).copied().collect();
        for (node, prefix) in failed {
            self.refresh(node, prefix, cx);
        }
    }
}

fn operation(of: Count, n: u64, cx: &mut AppCx<'_, '_>) {
    cx.count(of, n);
    cx.count(Count::Operations, n);
}

/// Prefixes whose Data used a port.
fn prefixes(cached: &CachedStatus) -> impl Iterator<Item = NameId> + '_ {
    cached.shares.iter().filter_map(|share| match share.what {
        Traffic::Prefix(prefix) => Some(prefix),
        Traffic::Node(_) => None,
    })
}

fn carries(cached: &CachedStatus, prefix: NameId) -> bool {
    prefixes(cached).any(|other| other == prefix)
}
