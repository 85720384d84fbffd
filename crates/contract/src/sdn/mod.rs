//! Software-defined networking: the messages of a controller and its agents, and the part of a scheme in the controller.
//!
//! An agent represents the controller at a node: it measures the node's ports, reports, and executes commands. An [`App`] decides; it has the
//! controller's view of the network ([`Net`], [`Cache`]) and sends [`Command`]s. All messages are packets, which can be late or lost; an app has no
//! access to nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambassador::delegatable_trait;
use units::{Duration, Rate, Time};

use crate::{Count, Cx, Label, NameId, Names, NodeId, PortId, Random};

/// Loads and occupancies are in millionths: a link whose offered traffic equals its capacity has this load.
pub const MILLION: u32 = 1_000_000;

/// A message between the controller and an agent over the southbound channel. Its sender is the packet's source, its time the packet's `sent_at`. A
/// numbered message has its number in the first word of the label; later commands have larger numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Agent: the status of a port in the last period. The label has the first [`Share`]s of its traffic.
    Status(Status),
    /// Agent, after a status with too many shares for one packet: more of them, `count` in the label.
    Shares {
        /// The port.
        port: PortId,
        /// Number of shares in this packet.
        count: u8,
    },
    /// Agent: the load of a port is above the threshold of the app.
    Signal {
        /// The port.
        port: PortId,
    },
    /// Controller: a command. Repeated until it is acknowledged.
    Command(Command),
    /// Agent: acknowledgement of the command with this number.
    Ack,
    /// Controller: start without state; request for the commands in force. Repeated until it is answered. Its number is the controller's time.
    Hello,
    /// Agent: one command in force.
    Installed(Command),
    /// Agent: the end of the answer. It repeats the number of the request, from which the controller computes the clock offset of the agent.
    StateComplete {
        /// Number of commands in force.
        installed: u32,
    },
}

/// The status of a port after a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The port.
    pub port: PortId,
    /// Present capacity of the link; zero if it is down.
    pub rate: Rate,
    /// Bytes offered to the queue in the period, including drops, relative to the capacity in the period, in millionths.
    pub load: u32,
    /// Present occupancy of the queue, in millionths of its limit.
    pub occupancy: u32,
    /// Present backlog in packets.
    pub backlog: u32,
    /// Total number of shares, in this packet and those that follow.
    pub shares: u16,
}

/// A command to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Interests under a prefix use these next hops, ordered by cost; the order of equal ones is kept. Other next hops of the node remain behind
    /// them.
    NextHops {
        /// The prefix.
        prefix: NameId,
        /// The next hops.
        hops: Hops,
    },
    /// Packets for a node use a port.
    Route {
        /// The destination.
        to: NodeId,
        /// The port.
        via: PortId,
    },
    /// Limit and marking threshold of a queue.
    Queue {
        /// The port.
        port: PortId,
        /// Queue limit in packets; `u32::MAX` keeps the limit.
        limit: u32,
        /// ECT packets are marked at this backlog or more; `u32::MAX` for never.
        mark_above: u32,
    },
    /// Rate limit of a port, below the capacity of its link.
    Cap {
        /// The port.
        port: PortId,
        /// The maximum rate; unlimited removes the limit.
        rate: Rate,
    },
}

/// The object of a command: a later command for the same object replaces an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Next hops of a prefix.
    Prefix(NameId),
    /// The route to a node.
    Route(NodeId),
    /// The queue of a port.
    Queue(PortId),
    /// The rate limit of a port.
    Cap(PortId),
}

impl Command {
    /// The object of the command.
    pub const fn subject(&self) -> Subject {
        match *self {
            Self::NextHops { prefix, .. } => Subject::Prefix(prefix),
            Self::Route { to, .. } => Subject::Route(to),
            Self::Queue { port, .. } => Subject::Queue(port),
            Self::Cap { port, .. } => Subject::Cap(port),
        }
    }
}

/// A next hop in a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hop {
    /// The port.
    pub port: PortId,
    /// Cost of this next hop relative to others of the node; the unit is the app's.
    pub cost: u32,
}

/// Next hops of a command: at most [`Hops::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hops {
    /// Entries behind the last are marked as unused.
    list: [Hop; Self::MAX],
}

impl Hops {
    /// Maximum number of next hops in one command.
    pub const MAX: usize = 4;

    /// The first [`Hops::MAX`] of `hops`.
    pub fn new(hops: &[Hop]) -> Self {
        let mut list = [NO_HOP; Self::MAX];
        list.iter_mut().zip(hops).for_each(|(place, hop)| *place = *hop);
        Self { list }
    }

    /// The next hops.
    pub fn list(&self) -> &[Hop] {
        let count = self.list.iter().take_while(|hop| **hop != NO_HOP).count();
        &self.list[..count]
    }
}

const NO_HOP: Hop = Hop { port: PortId(u32::MAX), cost: u32::MAX };

/// A class of traffic at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Traffic {
    /// Data under a prefix of a producer.
    Prefix(NameId),
    /// Packets for a node.
    Node(NodeId),
}

/// The traffic of a class at a port in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The class.
    pub what: Traffic,
    /// Bytes.
    pub bytes: u32,
}

impl Share {
    /// Maximum number of shares in a label.
    pub const IN_A_LABEL: usize = 4;
    const NODE: u64 = 1 << 31;

    /// Up to [`Share::IN_A_LABEL`] shares as a label.
    pub fn pack(shares: &[Self]) -> Label {
        let mut label = Label::default();
        for (word, share) in label.0.iter_mut().zip(shares) {
            let what = match share.what {
                Traffic::Prefix(prefix) => u64::from(prefix.0),
                Traffic::Node(node) => u64::from(node.0) | Self::NODE,
            };
            *word = what << 32 | u64::from(share.bytes);
        }
        label
    }

    /// The first `count` shares of a label.
    pub fn unpack(label: &Label, count: usize) -> impl Iterator<Item = Self> + '_ {
        label.0.iter().take(count).map(|word| {
            let key = word >> 32;
            let number = (key & !Self::NODE) as u32;
            let what = match key & Self::NODE {
                0 => Traffic::Prefix(NameId(number)),
                _ => Traffic::Node(NodeId(number)),
            };
            Self { what, bytes: *word as u32 }
        })
    }
}

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

/// Next hops by node and prefix. Those of the configuration are in one list; those that changed are beside it.
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

    /// Adds the next hops of a node for a prefix, if there are any. Both must come after those that were added before, in the order of nodes and then of
    /// prefixes.
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

    /// Adds shares to the status of the same instant. False if there is none.
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

/// Requirements of an app for agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// Load threshold of signals, in millionths; `None` for no signals.
    pub signal_above: Option<u32>,
}

/// A control app: the part of a scheme in the SDN controller.
///
/// It handles messages and outputs commands. A command takes effect when it arrives, which can be late; the controller retransmits lost commands. The
/// app ends when the controller stops; a restarted controller creates a new one.
#[delegatable_trait]
pub trait App {
    /// Requirements for agents. Called once, when the network is created.
    fn requirements(&self) -> Requirements {
        Requirements { signal_above: None }
    }

    /// The controller starts, with its configuration only.
    fn on_start(&mut self, _cx: &mut AppCx<'_, '_>) {}

    /// A port's status arrived. It is already in the cache, and its rate in the net.
    fn on_status(&mut self, _port: PortId, _cx: &mut AppCx<'_, '_>) {}

    /// A port's signal arrived. Its status is already in the cache, unless it was lost.
    fn on_signal(&mut self, _port: PortId, _cx: &mut AppCx<'_, '_>) {}

    /// A link went up or down, or changed its rate. The net already contains the change.
    fn on_link(&mut self, _port: PortId, _cx: &mut AppCx<'_, '_>) {}

    /// A deadline can have expired.
    fn on_timer(&mut self, _cx: &mut AppCx<'_, '_>) {}

    /// The next deadline, at which `on_timer` is called.
    fn wake(&self) -> Time {
        Time::NEVER
    }
}

/// The context of an app.
pub struct AppCx<'a, 'b> {
    cx: &'a mut Cx<'b>,
    net: &'a Net,
    cache: &'a Cache,
    commands: &'a mut Vec<(NodeId, Command)>,
}

impl<'a, 'b> AppCx<'a, 'b> {
    /// Constructor for the controller and tests; `commands` are the commands that it sends afterwards.
    pub fn new(
        cx: &'a mut Cx<'b>,
        net: &'a Net,
        cache: &'a Cache,
        commands: &'a mut Vec<(NodeId, Command)>,
    ) -> Self {
        Self { cx, net, cache, commands }
    }

    /// The present instant.
    pub fn now(&self) -> Time {
        self.cx.now()
    }

    /// The app's stream of random numbers.
    pub fn random(&mut self) -> &mut Random {
        self.cx.random()
    }

    /// The network in the controller's view.
    pub fn net(&self) -> &'a Net {
        self.net
    }

    /// The global information cache.
    pub fn cache(&self) -> &'a Cache {
        self.cache
    }

    /// Sends a command to a node. An unacknowledged command for the same object is no longer retransmitted.
    pub fn command(&mut self, node: NodeId, command: Command) {
        self.commands.push((node, command));
    }

    /// Adds to a counter of the controller.
    pub fn count(&mut self, what: Count, n: u64) {
        self.cx.count(what, n);
    }

    /// Records the present value of a series of the controller.
    pub fn probe(&mut self, series: &'static str, value: f64) {
        self.cx.probe(series, value);
    }

    /// Records an event with one number.
    pub fn event(&mut self, name: &'static str, value: f64) {
        self.cx.event(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_traffic_round_trips_through_a_label() {
        let shares = [
            Share { what: Traffic::Prefix(NameId(7)), bytes: 12_345 },
            Share { what: Traffic::Node(NodeId(7)), bytes: u32::MAX },
            Share { what: Traffic::Prefix(NameId(0)), bytes: 0 },
        ];
        let label = Share::pack(&shares);
        assert_eq!(Share::unpack(&label, 3).collect::<Vec<_>>(), shares);
        assert_eq!(Share::unpack(&label, 1).count(), 1);
    }

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
