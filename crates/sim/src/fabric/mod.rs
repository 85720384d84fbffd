//! The network between the nodes: ports with their queues and links, routes, and multicast trees.
//!
//! A [`Fabric`] has no endpoints and schedules nothing. Each method takes the current instant and returns the events to
//! schedule or the packets to drop.

mod copies;
mod fans;
mod offers;
mod port;
mod queues;
mod ring;
mod routing;
mod tree;

use contract::{
    Arena, DropReason, EndpointId, FlowId, GroupId, LinkId, NodeId, PacketId, PortId, PortView, Random,
};
use units::{Duration, Rate, Time};

pub(crate) use fans::FanOffer;
use fans::Fans;
pub(crate) use offers::{Departure, Due, Offer, OfferOutcome, OfferPath, Reports, SlowOffer};
pub(crate) use port::{ArrivalPath, DAMAGED, Fate, LinkEffect, Port};
use port::{Discipline, Dropped, Impairments};
use ring::Spare;
use routing::Routes;
pub(crate) use routing::{Edge, NO_FLOW};
use tree::Tree;
pub(crate) use tree::TreeNode;

use crate::accounts::LinkState;
use crate::blueprint::Metric;
use crate::delays::Delays;
use crate::trace::PortRecord;
use crate::{Blueprint, Cast, FlowSpec, RouteSpec};
use memory::list_in_large_pages;

/// A packet that arrives at the end of a link.
pub(crate) struct Arrival {
    pub packet: PacketId,
    /// The node that it arrives at.
    pub node: NodeId,
    /// When the next packet of the link arrives.
    pub next: Time,
    /// Who handles it.
    pub path: ArrivalPath,
}

/// Ports, routes and trees.
pub(crate) struct Fabric {
    ports: Vec<Port>,
    /// Slots that the rings of ports do not use now.
    spare: Spare,
    /// Per port: its direction of the link, for routing.
    edges: Vec<Edge>,
    routes: Routes,
    metric: Metric,
    /// Current pinned routes, and pinned routes at the start of the run.
    pins: Vec<RouteSpec>,
    first_pins: Vec<RouteSpec>,
    /// The tree of each flow, whose number is also the group's; `None` for unicast flows. Empty without multicast.
    trees: Vec<Option<Tree>>,
    fans: Fans,
    /// When packets were offered to their queue, by packet; only for queues whose departures are observed.
    queued_at: Vec<Time>,
    /// Ports with a queue discipline.
    disciplined: Vec<PortId>,
    /// Packets that disciplines dropped from inside their queue, which the world takes.
    pub(crate) dropped: Dropped,
}

/// In a network of this number of ports, what an event needs is rarely in a cache. With 4000, requests for it take more
/// time than they save.
const MANY_PORTS: usize = 5000;

/// Both directions of a link.
pub(crate) const fn both(link: LinkId) -> [PortId; 2] {
    [PortId(2 * link.0), PortId(2 * link.0 + 1)]
}

/// The other direction of the same link.
pub(crate) const fn reverse(port: PortId) -> PortId {
    PortId(port.0 ^ 1)
}

impl Fabric {
    /// The ports, routes and trees at the start of a run. Trees have no members yet.
    pub(crate) fn new(blueprint: &Blueprint) -> Self {
        let ports = 2 * blueprint.links.len();
        let mut fabric = Self {
            ports: list_in_large_pages(ports),
            spare: Spare::new(ports >= MANY_PORTS),
            edges: Vec::with_capacity(ports),
            routes: Routes::default(),
            metric: blueprint.metric,
            pins: blueprint.routes.clone(),
            first_pins: blueprint.routes.clone(),
            trees: Vec::new(),
            fans: Fans::default(),
            queued_at: Vec::new(),
            disciplined: Vec::new(),
            dropped: Dropped::default(),
        };
        let class_of_flow: Vec<u8> = blueprint.flows.iter().map(|flow| flow.class).collect();
        for (id, link) in (0u32..).zip(&blueprint.links) {
            let (a, b) = link.ends;
            for (name, spec, from, to) in
                [("forward", &link.forward, a, b), ("backward", &link.backward, b, a)]
            {
                let random = |purpose: &str| {
                    Random::new(blueprint.seed, &format!("link.{}.{name}", link.name), purpose)
                };
                let discipline = Discipline::of(spec, || random("queue"), &class_of_flow);
                let impairments =
                    spec.impair.map(|impair| Impairments::new(impair, spec.delay, random("impair")));
                let loss_random = (spec.loss > 0.0).then(|| Box::new(random("loss")));
                if discipline.is_some() {
                    fabric.disciplined.push(PortId(fabric.ports.len() as u32));
                }
                fabric.ports.push(Port::new(spec, to, loss_random, discipline, impairments));
                let up = !blueprint.is_control(LinkId(id));
                let mut edge = Edge::new(from, to, spec.delay.as_nanos());
                edge.set_up(up);
                fabric.edges.push(edge);
            }
        }
        fabric.reroute(blueprint);
        let tree = |(id, flow): (u32, &FlowSpec)| {
            let source = (flow.cast == Cast::Multicast).then_some(flow.from);
            source.map(|source| Tree::new(source, FlowId(id), blueprint.nodes.len()))
        };
        if blueprint.flows.iter().any(|flow| flow.cast == Cast::Multicast) {
            fabric.trees = (0u32..).zip(&blueprint.flows).map(tree).collect();
        }
        fabric
    }

    #[inline]
    pub(crate) fn port(&mut self, port: PortId) -> &mut Port {
        self.settle_fan(port);
        &mut self.ports[port.index()]
    }

    /// Whether the link of a port is up.
    pub(crate) fn is_up(&self, port: PortId) -> bool {
        self.ports[port.index()].is_up()
    }

    pub(crate) fn port_ids(&self) -> impl Iterator<Item = PortId> + use<> {
        (0..self.ports.len() as u32).map(PortId)
    }

    pub(crate) fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The node that a port belongs to.
    pub(crate) fn owner(&self, port: PortId) -> NodeId {
        self.edges[port.index()].from
    }

    /// Whether `port` belongs to `node`.
    pub(crate) fn owns(&self, node: NodeId, port: PortId) -> bool {
        self.edges.get(port.index()).is_some_and(|edge| edge.from == node)
    }

    /// The port in the form that the router of its node sees.
    #[inline]
    pub(crate) fn view(&mut self, port: PortId, now: Time) -> PortView {
        self.settle_fan(port);
        let rate_in = self.ports[reverse(port).index()].rate();
        self.ports[port.index()].view(port, rate_in, now)
    }

    /// The view of a port after [`Reports::Offered`].
    #[inline(always)]
    pub(crate) fn view_started(&self, port: PortId, now: Time) -> PortView {
        let rate_in = self.ports[reverse(port).index()].rate();
        self.ports[port.index()].view_started(port, rate_in, now)
    }

    // ---- routes

    /// The port on which a packet of `flow` to `to` leaves `at`.
    #[inline]
    pub(crate) fn next_hop(&self, at: NodeId, to: NodeId, flow: FlowId) -> Option<PortId> {
        self.routes.next(at, to, flow)
    }

    /// Cost of the path to `to` by the routing metric; `None` if there is no path.
    pub(crate) fn path_cost(&self, from: NodeId, to: NodeId) -> Option<u64> {
        let (mut at, mut cost) = (from, 0u64);
        // the bound ends the walk if pinned routes form a loop
        for _ in 0..=self.edges.len() {
            if at == to {
                return Some(cost);
            }
            let edge = &self.edges[self.routes.next(at, to, NO_FLOW)?.index()];
            cost = cost.saturating_add(match self.metric {
                Metric::Delay => edge.delay_ns(),
                Metric::Hops => 1,
            });
            at = edge.to;
        }
        None
    }

    /// Recomputes all routes and trees.
    pub(crate) fn reroute(&mut self, blueprint: &Blueprint) {
        self.settle_fans();
        self.routes = Routes::of(blueprint, &self.edges, &self.pins);
        self.trees.iter_mut().flatten().for_each(|tree| tree.rebuild(&self.routes, &self.edges));
    }

    /// Pins a route, with effect from the next [`Fabric::reroute`].
    pub(crate) fn pin(&mut self, route: RouteSpec) {
        self.pins.retain(|old| (old.at, old.to) != (route.at, route.to));
        self.pins.push(route);
    }

    /// Restores the route that was pinned at `at` for `to` during the run, with effect from the next
    /// [`Fabric::reroute`].
    pub(crate) fn unpin(&mut self, at: NodeId, to: NodeId) {
        let same = |route: &RouteSpec| (route.at, route.to) == (at, to);
        self.pins.retain(|route| !same(route));
        self.pins.extend(self.first_pins.iter().copied().filter(same));
    }

    // ---- groups

    /// The branches and members of a group's tree at `node`; `None` if the flow has no tree.
    pub(crate) fn tree_at(&self, group: GroupId, node: NodeId) -> Option<&TreeNode> {
        self.trees.get(group.index())?.as_ref().map(|tree| tree.at(node))
    }

    /// Grafts the branch of a member, if the flow has a tree.
    pub(crate) fn join(&mut self, flow: FlowId, member: EndpointId, at: NodeId) {
        self.settle_fans_of(flow);
        if let Some(Some(tree)) = self.trees.get_mut(flow.index()) {
            tree.join(member, at, &self.routes, &self.edges);
        }
    }

    /// Prunes the branch of a member, if the flow has a tree.
    pub(crate) fn leave(&mut self, flow: FlowId, member: EndpointId, at: NodeId) {
        self.settle_fans_of(flow);
        if let Some(Some(tree)) = self.trees.get_mut(flow.index()) {
            tree.leave(member, at, &self.edges);
        }
    }

    /// The ports in the tree of each group that is forwarded by address.
    pub(crate) fn branches(&self) -> impl Iterator<Item = (GroupId, PortId)> {
        let groups = (0u32..).zip(&self.trees).filter_map(|(id, tree)| Some((GroupId(id), tree.as_ref()?)));
        groups.flat_map(|(group, tree)| tree.branches().map(move |port| (group, port)))
    }

    // ---- packets

    /// Takes the packet that arrives at the end of `port`'s link now; `None` if the event is stale, or is a burst.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, port: PortId, now: Time) -> Option<Arrival> {
        let port = self.ports.get_mut(port.index())?;
        let packet = port.take_arrival(now, &mut self.spare)?;
        Some(Arrival { packet, node: port.leads_to(), next: port.armed(), path: port.arrival_path() })
    }

    /// Requests the port at the end of whose link a packet arrives.
    #[inline]
    pub(crate) fn prefetch_armed(&self, port: PortId) {
        if let Some(port) = self.ports.get(port.index()) {
            port.prefetch_armed();
        }
    }

    /// Requests what else the next arrival at the end of `port`'s link needs. Returns the packet and the node that it
    /// arrives at; `None` for a burst.
    #[inline]
    pub(crate) fn prefetch_arrival(&self, port: PortId) -> Option<(PacketId, NodeId)> {
        let port = self.ports.get(port.index())?;
        Some((port.prefetch_arrival(), port.leads_to()))
    }

    /// The packet that arrives next at the end of `port`'s link, if there is any, and the node that it arrives at.
    #[inline]
    pub(crate) fn first_arrival(&self, port: PortId) -> Option<(PacketId, NodeId)> {
        let port = self.ports.get(port.index())?;
        Some((port.first(), port.leads_to()))
    }

    /// Requests the port on which a packet of `flow` to `to` will leave `at`.
    #[inline]
    pub(crate) fn prefetch_hop(&self, at: NodeId, to: NodeId, flow: FlowId) {
        if let Some(port) = self.routes.next(at, to, flow) {
            self.prefetch_offer(port);
        }
    }

    /// Requests what an offer to `port` needs.
    #[inline]
    pub(crate) fn prefetch_offer(&self, port: PortId) {
        self.ports[port.index()].prefetch_offer();
    }

    /// Requests where [`Fabric::ahead`] finds the packet that arrives `ahead` packets after the first at the end of
    /// `port`'s link.
    #[inline]
    pub(crate) fn prefetch_ahead(&self, port: PortId, ahead: u32) {
        self.ports[port.index()].prefetch_ahead(ahead);
    }

    /// The packet that arrives `ahead` packets after the first at the end of `port`'s link.
    #[inline]
    pub(crate) fn ahead(&self, port: PortId, ahead: u32) -> Option<PacketId> {
        self.ports[port.index()].ahead(ahead)
    }

    /// Whether the ports do not fit into a processor's caches.
    pub(crate) fn is_large(&self) -> bool {
        self.ports.len() >= MANY_PORTS
    }

    /// Takes the next packet that the impaired link of a port delivers now, and the node that it arrives at.
    pub(crate) fn take_held(&mut self, port: PortId, now: Time) -> Option<(PacketId, NodeId)> {
        let port = &mut self.ports[port.index()];
        Some((port.impairments()?.take(now)?, port.leads_to()))
    }

    // ---- links that change

    /// Changes the rate of a port's link. Returns the events to schedule.
    pub(crate) fn set_rate(&mut self, port: PortId, rate: Rate, now: Time, arena: &mut Arena) -> Vec<Offer> {
        self.note_change(port);
        self.ports[port.index()].set_rate(now, rate, arena)
    }

    /// Limits the rate of a port. Returns the events to schedule.
    pub(crate) fn set_cap(&mut self, port: PortId, rate: Rate, now: Time, arena: &mut Arena) -> Vec<Offer> {
        self.note_change(port);
        self.ports[port.index()].set_cap(now, rate, arena)
    }

    /// Changes the delay of a port's link; routes follow with the next [`Fabric::reroute`]. Returns the events to
    /// schedule.
    pub(crate) fn set_delay(&mut self, port: PortId, delay: Duration, now: Time) -> Vec<Offer> {
        self.note_change(port);
        self.edges[port.index()].set_delay(delay.as_nanos());
        self.ports[port.index()].set_delay(now, delay)
    }

    /// Takes a port's link down or up. Routes follow with the next [`Fabric::reroute`], unless the change is `hidden`
    /// from them. Returns the packets that are lost, counted as drops of the port.
    pub(crate) fn set_up(&mut self, port: PortId, up: bool, hidden: bool, now: Time) -> Vec<PacketId> {
        self.note_change(port);
        self.edges[port.index()].set_up(up && !hidden);
        let port = &mut self.ports[port.index()];
        port.count_backlog(now);
        let lost = port.set_up(now, up);
        lost.iter().for_each(|_| port.count_drop(DropReason::LinkDown));
        lost
    }

    // ---- counters

    /// The ports with a queue discipline.
    pub(crate) fn disciplined(&self) -> &[PortId] {
        &self.disciplined
    }

    /// Updates the backlog integral of a port with a queue discipline, which has been served up to now.
    pub(crate) fn count_backlog(&mut self, port: PortId, now: Time) {
        self.ports[port.index()].count_backlog(now);
    }

    /// Lets each service of a discipline have an event at its instant, for records of drops in order of time. Call it
    /// before the run.
    pub(crate) fn serve_promptly(&mut self) {
        self.ports.iter_mut().for_each(Port::serve_promptly);
    }

    /// Ends the warm-up. Disciplines have been served up to now.
    pub(crate) fn rebase(&mut self, now: Time) {
        self.settle_fans();
        self.ports.iter_mut().for_each(|port| port.rebase(now));
    }

    /// Keeps the distributions of the times that packets wait in queues. Call it before the run.
    pub(crate) fn keep_waits(&mut self) {
        self.ports.iter_mut().for_each(Port::keep_waits);
    }

    /// Lets all packets take the slow paths, for a record of each. Call it before the run.
    pub(crate) fn log_packets(&mut self) {
        self.ports.iter_mut().for_each(Port::log_packets);
    }

    /// The packet that a port accepted or served last, and when its transmission starts and ends; `None` if the port
    /// has no packet.
    pub(crate) fn last_transmission(&self, port: PortId) -> Option<(PacketId, Time, Time)> {
        self.ports[port.index()].transmissions().last()
    }

    /// The packets that a port has accepted or served and that have not arrived, with the times of their transmission.
    pub(crate) fn transmissions(&self, port: PortId) -> impl Iterator<Item = (PacketId, Time, Time)> + '_ {
        self.ports[port.index()].transmissions()
    }

    /// The state of a port's link for a record of packets.
    pub(crate) fn link_state(&self, port: PortId) -> LinkState {
        let (state, delay_ns) = (&self.ports[port.index()], self.edges[port.index()].delay_ns());
        LinkState { rate: state.recorded_rate(), delay_ns, loss: state.loss(), up: state.is_up() }
    }

    /// Shows the packets at the end of every link to the capture. Call it before the run.
    pub(crate) fn tap_all(&mut self) {
        self.ports.iter_mut().for_each(Port::tap);
    }

    /// These distributions since the end of the warm-up, by port, and for later readings if they are to be kept.
    pub(crate) fn queueing_delays(&mut self, keep: bool) -> Vec<Option<Box<Delays>>> {
        self.ports.iter_mut().map(|port| port.queueing_delays(keep)).collect()
    }

    /// Frees the memory of ports, which have no packets from now on.
    pub(crate) fn release(&mut self) {
        (self.ports, self.spare) = (Vec::new(), Spare::new(false));
    }

    /// The counters of all ports since the end of the warm-up. Disciplines have been served up to now.
    pub(crate) fn records(&mut self, now: Time) -> Vec<PortRecord> {
        self.settle_fans();
        self.ports.iter_mut().map(|port| port.record(now)).collect()
    }
}
