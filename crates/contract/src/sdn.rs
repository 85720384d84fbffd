//! Software-defined networking: the messages of a controller and its agents, and the part of a scheme in the controller.
//!
//! An agent represents the controller at a node: it measures the node's ports, reports, and executes commands. An [`App`] decides; it has the
//! controller's view of the network ([`Net`], [`Cache`]) and sends [`Order`]s. All messages are packets, which can be late or lost; an app has no
//! access to nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambassador::delegatable_trait;
use units::{Duration, Rate, Time};

use crate::{Count, Cx, Label, NameId, Names, NodeId, PortId, Random};

/// Loads and occupancies are in millionths: a link that is offered just what it can carry has a load of so much.
pub const MILLION: u32 = 1_000_000;

/// A message between the controller and an agent over the southbound channel. Its sender is the packet's source, its time the packet's `sent_at`. What has a number has it
/// in the first word of the label; later orders have larger numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// An agent: the load of a port in the last period. The label has the first [`Share`]s of what crossed it.
    Status(Status),
    /// An agent, after a status that could not hold all: more of what crossed the port, `count` shares in the label.
    Shares {
        /// The port.
        port: PortId,
        /// How many there are in this packet.
        count: u8,
    },
    /// An agent: the load of a port is above what the app wants to be told of at once.
    Signal {
        /// The port.
        port: PortId,
    },
    /// The controller: do this. Repeated until it is acknowledged.
    Order(Order),
    /// An agent: the order of that number arrived.
    Ack,
    /// The controller has begun, and knows nothing: which orders do you keep? Repeated until it is answered. Its number is the
    /// controller's time.
    Hello,
    /// An agent's answer: it keeps this order.
    Kept(Order),
    /// An agent's answer: these were all. It repeats the number of the greeting, by which the controller knows how the agent's clock
    /// stands to its own.
    Welcome {
        /// How many orders it keeps.
        kept: u32,
    },
}

/// The status of a port after a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The port.
    pub port: PortId,
    /// What the link can carry now; zero where it is down.
    pub rate: Rate,
    /// Bytes offered to the queue in the period, dropped ones included, over those that the link could carry in it, in millionths.
    pub load: u32,
    /// How full the queue is now, in millionths of what may wait.
    pub occupancy: u32,
    /// Packets that wait now.
    pub backlog: u32,
    /// How many shares there are in all, in this packet and those that follow.
    pub shares: u16,
}

/// An order to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Interests under a prefix take these next hops, the cheapest first; of equals those stay first that are. Other next hops that the
    /// node knows stay behind them.
    NextHops {
        /// The prefix.
        prefix: NameId,
        /// The next hops.
        hops: Hops,
    },
    /// Packets for a node take a port.
    Route {
        /// The destination.
        to: NodeId,
        /// The port.
        via: PortId,
    },
    /// How much may wait in a queue, and from when on it marks.
    Queue {
        /// The port.
        port: PortId,
        /// Packets that may wait; `u32::MAX` leaves the limit what it is.
        limit: u32,
        /// Packets that understand marks are marked when at least so many wait; `u32::MAX` for never.
        mark_above: u32,
    },
    /// A port carries at most so much, whatever its link could.
    Cap {
        /// The port.
        port: PortId,
        /// The maximum rate; unlimited lifts the cap.
        rate: Rate,
    },
}

/// What an order is about: a later one about the same takes the place of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Next hops of a prefix.
    Prefix(NameId),
    /// The route to a node.
    Route(NodeId),
    /// The queue of a port.
    Queue(PortId),
    /// The cap of a port.
    Cap(PortId),
}

impl Order {
    /// What it is about.
    pub const fn subject(&self) -> Subject {
        match *self {
            Self::NextHops { prefix, .. } => Subject::Prefix(prefix),
            Self::Route { to, .. } => Subject::Route(to),
            Self::Queue { port, .. } => Subject::Queue(port),
            Self::Cap { port, .. } => Subject::Cap(port),
        }
    }
}

/// A next hop in an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hop {
    /// The port.
    pub port: PortId,
    /// What this next hop costs, compared with others from the node; the unit is the app's.
    pub cost: u32,
}

/// Next hops of an order: at most [`Hops::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hops {
    /// Places behind the last are marked as such.
    list: [Hop; Self::MAX],
}

impl Hops {
    /// How many next hops one order holds.
    pub const MAX: usize = 4;

    /// The first [`Hops::MAX`] of `hops`.
    pub fn new(hops: &[Hop]) -> Self {
        let mut list = [NO_HOP; Self::MAX];
        list.iter_mut().zip(hops).for_each(|(place, hop)| *place = *hop);
        Self { list }
    }

    /// They.
    pub fn list(&self) -> &[Hop] {
        let count = self.list.iter().take_while(|hop| **hop != NO_HOP).count();
        &self.list[..count]
    }
}

const NO_HOP: Hop = Hop { port: PortId(u32::MAX), cost: u32::MAX };

/// What crosses a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Traffic {
    /// Data under a prefix that somebody serves.
    Prefix(NameId),
    /// Packets for a node.
    Node(NodeId),
}

/// How much of something crossed a port in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// What.
    pub what: Traffic,
    /// Its bytes.
    pub bytes: u32,
}

impl Share {
    /// How many of them a label holds.
    pub const IN_A_LABEL: usize = 4;
    const NODE: u64 = 1 << 31;

    /// Up to [`Share::IN_A_LABEL`] of them as a label.
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

    /// The first `count` of a label.
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

/// A direction of a link as the controller knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectedLink {
    /// Its port.
    pub port: PortId,
    /// The port of the other direction.
    pub back: PortId,
    /// The node that the port is of.
    pub from: NodeId,
    /// The node that it leads to.
    pub to: NodeId,
    /// What it carries; zero where it is down.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Packets that may wait before it; `u32::MAX` where the limit is in bytes.
    pub limit: u32,
}

/// The network as the controller knows it: what it was set up with, and what statuses and acknowledged orders have changed since.
#[derive(Clone, Debug, Default)]
pub struct Net {
    /// Links, by port; `None` for ports that are not the controller's to know, such as its own.
    pub links: Vec<Option<DirectedLink>>,
    /// Ports of each node, by node, in ascending order.
    pub out: Vec<Vec<PortId>>,
    /// Nodes with an agent, in ascending order.
    pub agents: Vec<NodeId>,
    /// The tree of names.
    pub names: Arc<Names>,
    /// Who serves what: prefix and nodes, both in ascending order.
    pub origins: BTreeMap<NameId, Vec<NodeId>>,
    /// Next hops towards prefixes, the cheapest first.
    pub hops: BTreeMap<(NodeId, NameId), Vec<Hop>>,
    /// Ports towards nodes: by place and destination.
    pub routes: BTreeMap<(NodeId, NodeId), PortId>,
}

impl Net {
    /// A link by its port.
    pub fn link(&self, port: PortId) -> Option<&DirectedLink> {
        self.links.get(port.index())?.as_ref()
    }

    /// Links out of a node that are up.
    pub fn links_from(&self, node: NodeId) -> impl Iterator<Item = &DirectedLink> {
        let ports = self.out.get(node.index()).map_or(&[][..], Vec::as_slice);
        ports.iter().filter_map(|port| self.link(*port)).filter(|link| link.rate != Rate::ZERO)
    }

    /// Whether a node has an agent.
    pub fn has_agent(&self, node: NodeId) -> bool {
        self.agents.binary_search(&node).is_ok()
    }

    /// Next hops of a node towards a prefix, the cheapest first.
    pub fn hops(&self, node: NodeId, prefix: NameId) -> &[Hop] {
        self.hops.get(&(node, prefix)).map_or(&[], Vec::as_slice)
    }

    /// Writes down what an order has changed at a node.
    pub fn note(&mut self, node: NodeId, order: &Order) {
        match *order {
            Order::NextHops { prefix, hops } => {
                let old = self.hops.entry((node, prefix)).or_default();
                let place =
                    |hop: &Hop| old.iter().position(|other| other.port == hop.port).unwrap_or(usize::MAX);
                let mut new = hops.list().to_vec();
                new.sort_by_key(|hop| (hop.cost, place(hop)));
                let max = new.last().map_or(0, |hop| hop.cost);
                let listed = |hop: &&Hop| new.iter().any(|other| other.port == hop.port);
                let behind = |hop: &Hop| Hop { cost: hop.cost.max(max), ..*hop };
                let others: Vec<Hop> = old.iter().filter(|hop| !listed(hop)).map(behind).collect();
                new.extend(others);
                *old = new;
            }
            Order::Route { to, via } => {
                self.routes.insert((node, to), via);
            }
            Order::Queue { port, limit, .. } => {
                if let Some(Some(link)) = self.links.get_mut(port.index())
                    && limit != u32::MAX
                {
                    link.limit = limit;
                }
            }
            // the next status says what the port carries
            Order::Cap { .. } => {}
        }
    }
}

/// What is known of a port from its latest status.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// When it was measured, by the controller's clock.
    pub at: Time,
    /// The status.
    pub status: Status,
    /// What crossed the port in the period before, as far as it was said.
    pub shares: Vec<Share>,
}

/// The global information cache: the latest status of every port, with its age.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    seen: Vec<Option<Seen>>,
}

impl Cache {
    /// What is known of a port, however old.
    pub fn seen(&self, port: PortId) -> Option<&Seen> {
        self.seen.get(port.index())?.as_ref()
    }

    /// What is known of a port, if it was measured no longer ago than `age`.
    pub fn fresh(&self, port: PortId, now: Time, age: Duration) -> Option<&Seen> {
        self.seen(port).filter(|seen| now.saturating_since(seen.at) <= age)
    }

    /// Keeps a status. False, and nothing is kept, where a later one is known.
    pub fn keep(&mut self, at: Time, status: Status, shares: impl Iterator<Item = Share>) -> bool {
        let index = status.port.index();
        if self.seen.len() <= index {
            self.seen.resize(index + 1, None);
        }
        if self.seen[index].as_ref().is_some_and(|seen| seen.at >= at) {
            return false;
        }
        self.seen[index] = Some(Seen { at, status, shares: shares.collect() });
        true
    }

    /// Adds shares to the status of the same instant. False where there is none.
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

/// What an app wants of agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// With a status whose load is above so many millionths, a signal is sent; never where there is none.
    pub signal_above: Option<u32>,
}

/// A control app: the part of a scheme that sits in the SDN controller.
///
/// It is told what arrived and answers with orders. What it orders takes effect when the order arrives, which may be late; an order that
/// is lost is repeated by the controller. When the controller stops, the app ends with it; when it comes back, a new one begins.
#[delegatable_trait]
pub trait App {
    /// What it wants of agents. Asked once, when the network is made.
    fn wants(&self) -> Wants {
        Wants { signal_above: None }
    }

    /// The controller begins; nothing is known but what it was set up with.
    fn on_start(&mut self, _cx: &mut AppCx<'_, '_>) {}

    /// A port's status arrived. Already true: it is in the cache, its rate in the net.
    fn on_status(&mut self, _port: PortId, _cx: &mut AppCx<'_, '_>) {}

    /// A port's signal arrived. Already true: the status that it came with is in the cache, unless that was lost.
    fn on_signal(&mut self, _port: PortId, _cx: &mut AppCx<'_, '_>) {}

    /// A link went up or down, or carries another rate than before. Already true: the net says so.
    fn on_link(&mut self, _port: PortId, _cx: &mut AppCx<'_, '_>) {}

    /// The deadline may have passed.
    fn on_timer(&mut self, _cx: &mut AppCx<'_, '_>) {}

    /// When `on_timer` is wanted.
    fn wake(&self) -> Time {
        Time::NEVER
    }
}

/// What a control app may see and do.
pub struct AppCx<'a, 'b> {
    cx: &'a mut Cx<'b>,
    net: &'a Net,
    cache: &'a Cache,
    orders: &'a mut Vec<(NodeId, Order)>,
}

impl<'a, 'b> AppCx<'a, 'b> {
    /// Made by the controller and by tests; `orders` are what it sends afterwards.
    pub fn new(
        cx: &'a mut Cx<'b>,
        net: &'a Net,
        cache: &'a Cache,
        orders: &'a mut Vec<(NodeId, Order)>,
    ) -> Self {
        Self { cx, net, cache, orders }
    }

    /// The present instant.
    pub fn now(&self) -> Time {
        self.cx.now()
    }

    /// The app's own stream of random numbers.
    pub fn random(&mut self) -> &mut Random {
        self.cx.random()
    }

    /// The network as the controller knows it.
    pub fn net(&self) -> &'a Net {
        self.net
    }

    /// The global information cache.
    pub fn cache(&self) -> &'a Cache {
        self.cache
    }

    /// Orders something of a node. One about the same that was not acknowledged yet is no longer repeated.
    pub fn order(&mut self, node: NodeId, order: Order) {
        self.orders.push((node, order));
    }

    /// Adds to a counter of the controller.
    pub fn count(&mut self, what: Count, n: u64) {
        self.cx.count(what, n);
    }

    /// Offers the present value of a series of the controller.
    pub fn probe(&mut self, series: &'static str, value: f64) {
        self.cx.probe(series, value);
    }

    /// Records something that happened, with one number.
    pub fn event(&mut self, name: &'static str, value: f64) {
        self.cx.event(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_out_of_a_label_as_they_went_in() {
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
    fn the_net_remembers_orders_and_equal_costs_keep_the_present_face() {
        let mut net = Net::default();
        let hop = |port, cost| Hop { port: PortId(port), cost };
        net.hops.insert((NodeId(1), NameId(2)), vec![hop(4, 10), hop(6, 20)]);
        let order = |hops: &[Hop]| Order::NextHops { prefix: NameId(2), hops: Hops::new(hops) };
        net.note(NodeId(1), &order(&[hop(6, 5), hop(4, 5)]));
        assert_eq!(net.hops(NodeId(1), NameId(2)), [hop(4, 5), hop(6, 5)]);
        net.note(NodeId(1), &order(&[hop(6, 4), hop(4, 5)]));
        assert_eq!(net.hops(NodeId(1), NameId(2))[0], hop(6, 4));
        // what an order does not list stays behind what it does
        net.note(NodeId(1), &order(&[hop(4, 9)]));
        assert_eq!(net.hops(NodeId(1), NameId(2)), [hop(4, 9), hop(6, 9)]);
    }
}
