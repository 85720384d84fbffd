//! The controller's view of the network: its configuration, and the latest statuses.

use std::collections::BTreeMap;
use std::sync::Arc;

use units::{Duration, Rate, Time};

use super::{Command, Hop, Share, Status};
use crate::{NameId, Names, NodeId, PortId};

/// A direction of a link in the controller's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectedLink {
    /// Its port.
    pub port: PortId,
    /// The port of the other direction.
    pub back: PortId,
    /// The node of the port.
    pub from: NodeId,
    /// The node at the other end.
    pub to: NodeId,
    /// Capacity; zero if the link is down.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Queue limit in packets; `u32::MAX` if the limit is in bytes.
    pub limit: u32,
}

/// Next hops by node and prefix. The configured ones are in one list; those that changed are beside it.
#[derive(Clone, Debug, Default)]
pub struct HopTable {
    /// Nodes and prefixes in ascending order, and the end of the next hops of each, which begin where those before end.
    rows: Vec<((NodeId, NameId), u32)>,
    hops: Vec<Hop>,
    changed: BTreeMap<(NodeId, NameId), Vec<Hop>>,
}

impl HopTable {
    /// The next hops of a node for a prefix.
    pub fn get(&self, key: (NodeId, NameId)) -> &[Hop] {
        if let Some(hops) = self.changed.get(&key) {
            return hops;
        }
        let Ok(row) = self.rows.binary_search_by_key(&key, |row| row.0) else { return &[] };
        let begin = row.checked_sub(1).map_or(0, |before| self.rows[before].1);
        &self.hops[begin as usize..self.rows[row].1 as usize]
    }

    /// Adds the next hops of a node for a prefix, if there are any. Both must come after those that were added before,
    /// in the order of nodes and then of prefixes.
    pub fn push(&mut self, key: (NodeId, NameId), hops: impl Iterator<Item = Hop>) {
        debug_assert!(self.rows.last().is_none_or(|last| last.0 < key));
        let begin = self.hops.len();
        self.hops.extend(hops);
        if self.hops.len() > begin {
            self.rows.push((key, self.hops.len() as u32));
        }
    }

    /// Replaces the next hops of a node for a prefix.
    pub fn insert(&mut self, key: (NodeId, NameId), hops: Vec<Hop>) {
        self.changed.insert(key, hops);
    }
}

/// The network in the controller's view: its configuration, with the changes of statuses and acknowledged commands.
#[derive(Clone, Debug, Default)]
pub struct Net {
    /// Links, by port; `None` for ports outside the controller's network, such as its own.
    pub links: Vec<Option<DirectedLink>>,
    /// Ports of each node, by node, in ascending order.
    pub out: Vec<Vec<PortId>>,
    /// Nodes with an agent, in ascending order.
    pub agents: Vec<NodeId>,
    /// The tree of names.
    pub names: Arc<Names>,
    /// Producers: prefix and nodes, both in ascending order.
    pub origins: BTreeMap<NameId, Vec<NodeId>>,
    /// Next hops towards prefixes, ordered by cost.
    pub hops: HopTable,
    /// Ports towards nodes: by node and destination.
    pub routes: BTreeMap<(NodeId, NodeId), PortId>,
}

impl Net {
    /// A link by its port.
    pub fn link(&self, port: PortId) -> Option<&DirectedLink> {
        self.links.get(port.index())?.as_ref()
    }

    /// Outgoing links of a node that are up.
    pub fn links_from(&self, node: NodeId) -> impl Iterator<Item = &DirectedLink> {
        let ports = self.out.get(node.index()).map_or(&[][..], Vec::as_slice);
        ports.iter().filter_map(|port| self.link(*port)).filter(|link| link.rate != Rate::ZERO)
    }

    /// Whether a node has an agent.
    pub fn has_agent(&self, node: NodeId) -> bool {
        self.agents.binary_search(&node).is_ok()
    }

    /// Next hops of a node towards a prefix, ordered by cost.
    pub fn hops(&self, node: NodeId, prefix: NameId) -> &[Hop] {
        self.hops.get((node, prefix))
    }

    /// Records the changes of a command at a node.
    pub fn note(&mut self, node: NodeId, command: &Command) {
        match *command {
            Command::NextHops { prefix, hops } => {
                let old = self.hops.get((node, prefix));
                let place =
                    |hop: &Hop| old.iter().position(|other| other.port == hop.port).unwrap_or(usize::MAX);
                let mut new = hops.list().to_vec();
                new.sort_by_key(|hop| (hop.cost, place(hop)));
                let max = new.last().map_or(0, |hop| hop.cost);
                let listed = |hop: &&Hop| new.iter().any(|other| other.port == hop.port);
                let behind = |hop: &Hop| Hop { cost: hop.cost.max(max), ..*hop };
                let others: Vec<Hop> = old.iter().filter(|hop| !listed(hop)).map(behind).collect();
                new.extend(others);
                self.hops.insert((node, prefix), new);
            }
            Command::Route { to, via } => {
                self.routes.insert((node, to), via);
            }
            Command::Queue { port, limit, .. } => {
                if let Some(Some(link)) = self.links.get_mut(port.index())
                    && limit != u32::MAX
                {
                    link.limit = limit;
                }
            }
            // the next status contains the rate of the port
            Command::Cap { .. } => {}
        }
    }
}

/// The latest status of a port.
#[derive(Clone, Debug, PartialEq)]
pub struct CachedStatus {
    /// Time of the measurement, by the controller's clock.
    pub at: Time,
    /// The status.
    pub status: Status,
    /// Shares of traffic in the period before, as far as they have arrived.
    pub shares: Vec<Share>,
}

/// The global information cache: the latest status of every port, with its age.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    seen: Vec<Option<CachedStatus>>,
}

impl Cache {
    /// The entry of a port, of any age.
    pub fn seen(&self, port: PortId) -> Option<&CachedStatus> {
        self.seen.get(port.index())?.as_ref()
    }

    /// The entry of a port, if it is not older than `age`.
    pub fn fresh(&self, port: PortId, now: Time, age: Duration) -> Option<&CachedStatus> {
        self.seen(port).filter(|seen| now.saturating_since(seen.at) <= age)
    }

    /// Stores a status. False, and nothing is stored, if a later one is known.
    pub fn keep(&mut self, at: Time, status: Status, shares: impl Iterator<Item = Share>) -> bool {
        let index = status.port.index();
        if self.seen.len() <= index {
            self.seen.resize(index + 1, None);
        }
        if self.seen[index].as_ref().is_some_and(|seen| seen.at >= at) {
            return false;
        }
        self.seen[index] = Some(CachedStatus { at, status, shares: shares.collect() });
        true
    }

    /// Adds shares to the status of the same instant. False if there is no such status.
    pub fn add(&mut self, at: Time, port: PortId, shares: impl Iterator<Item = Share>) -> bool {
        match self.seen.get_mut(port.index()) {
            Some(Some(seen)) if seen.at == at => {
                seen.shares.extend(shares);
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hops, Traffic};

    fn status(load: u32) -> Status {
        Status { port: PortId(3), rate: Rate::from_mbps(10), load, occupancy: 0, backlog: 0, shares: 0 }
    }

    #[test]
    fn a_late_status_does_not_displace_a_later_one_and_old_ones_are_not_fresh() {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let mut cache = Cache::default();
        assert!(cache.keep(at(1000), status(2), std::iter::empty()));
        assert!(!cache.keep(at(500), status(1), std::iter::empty()));
        assert_eq!(cache.seen(PortId(3)).map(|seen| seen.status.load), Some(2));
        assert!(cache.fresh(PortId(3), at(2000), Duration::from_millis(1000)).is_some());
        assert!(cache.fresh(PortId(3), at(2001), Duration::from_millis(1000)).is_none());
        // shares of another instant belong to a status that was lost
        let share = Share { what: Traffic::Node(NodeId(1)), bytes: 5 };
        assert!(!cache.add(at(500), PortId(3), [share].into_iter()));
        assert!(cache.add(at(1000), PortId(3), [share].into_iter()));
        assert_eq!(cache.seen(PortId(3)).map(|seen| seen.shares.clone()), Some(vec![share]));
    }

    #[test]
    fn the_net_remembers_commands_and_equal_costs_keep_the_present_face() {
        let mut net = Net::default();
        let hop = |port, cost| Hop { port: PortId(port), cost };
        net.hops.insert((NodeId(1), NameId(2)), vec![hop(4, 10), hop(6, 20)]);
        let command = |hops: &[Hop]| Command::NextHops { prefix: NameId(2), hops: Hops::new(hops) };
        net.note(NodeId(1), &command(&[hop(6, 5), hop(4, 5)]));
        assert_eq!(net.hops(NodeId(1), NameId(2)), [hop(4, 5), hop(6, 5)]);
        net.note(NodeId(1), &command(&[hop(6, 4), hop(4, 5)]));
        assert_eq!(net.hops(NodeId(1), NameId(2))[0], hop(6, 4));
        // next hops that are not in a command stay behind those that are
        net.note(NodeId(1), &command(&[hop(4, 9)]));
        assert_eq!(net.hops(NodeId(1), NameId(2)), [hop(4, 9), hop(6, 9)]);
    }
}
