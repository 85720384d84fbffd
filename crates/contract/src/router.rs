//! Sans-IO state machines of whole nodes (routers, forwarders, resolver, SDN controller), and the part that a scheme adds to one.

use ambassador::delegatable_trait;
use units::{Duration, Rate, Time};

use crate::{
    Address, Backlog, Cx, DropReason, EndpointId, GroupId, Label, NodeId, Order, Packet, PortId, Random,
};

/// A state machine that runs a node: forwards by its own tables, exchanges messages with other nodes. Sans-IO.
///
/// # How it is driven
///
/// 1. *Inputs* that may send: [`Router::handle`] with [`RouterInput::Start`] once, then [`RouterInput::Packet`] for packets to the node's address
///    and for those that it [`takes`](Router::takes), [`RouterInput::Local`] for packets of endpoints on the node, [`RouterInput::Timer`].
/// 2. *Observations*, which may change marks and stamps of the packet but send nothing: [`Router::on_arrival`] for every packet that comes in,
///    before `takes` is asked; [`Router::on_enqueue`] for every packet that is about to be offered to a queue of the node;
///    [`Router::on_dequeue`] when its transmission begins. What they make the router want to send it sends when [`Router::wake`] comes, which may
///    be at once.
/// 3. *Outputs*, after every `handle`: drain [`crate::Outputs::forwards`] (a copy by a certain port), [`crate::Outputs::deliveries`] (a copy to an
///    endpoint of the node), [`crate::Outputs::outbox`] (by the driver's own routes) and [`crate::Outputs::orders`], in this order. When
///    `handle` returns a reason, the packet of the input is dropped for it; otherwise it was consumed.
/// 4. *Poll* [`Router::wake`] after every input and every observation, as with [`crate::Endpoint`].
pub trait Router {
    /// Takes one input. A reason means that the packet of [`RouterInput::Packet`] ends here; otherwise it was taken.
    fn handle(&mut self, input: RouterInput<'_>, cx: &mut NodeCx<'_, '_>) -> Option<DropReason>;

    /// Whether it takes this packet, though it is for somebody else.
    fn takes(&self, _packet: &Packet) -> bool {
        false
    }

    /// A packet came in, whomever it is for.
    fn on_arrival(&mut self, _packet: &Packet, _at: &mut TransitCx<'_>) {}

    /// A packet, whosever it is, is about to be offered to the queue `port`.
    fn on_enqueue(&mut self, _packet: &mut Packet, _port: &PortView, _at: &mut TransitCx<'_>) {}

    /// A packet, whosever it is, leaves the queue `port`, where it stood for `waited`: its transmission begins.
    fn on_dequeue(
        &mut self,
        _packet: &mut Packet,
        _port: &PortView,
        _waited: Duration,
        _at: &mut TransitCx<'_>,
    ) {
    }

    /// Poll: the earliest deadline of the router and its parts; a pure function of its state.
    fn wake(&self) -> Time {
        Time::NEVER
    }
}

/// What can happen to a router.
#[derive(Clone, Copy, Debug)]
pub enum RouterInput<'a> {
    /// A packet for this node, and the node's own port towards where it came from.
    Packet(&'a Packet, PortId),
    /// A packet from an endpoint on this node, its source, see [`crate::Destination::own_node`].
    Local(&'a Packet),
    /// The deadline may have passed.
    Timer,
    /// The run begins.
    Start,
}

/// What a router sees of a packet that passes.
pub struct TransitCx<'a> {
    /// The present instant.
    pub now: Time,
    /// The port: of the node itself, towards where the packet came from or is going.
    pub port: PortId,
    /// The router's own stream of random numbers.
    pub random: &'a mut Random,
}

/// A port as its router sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortView {
    /// The port.
    pub port: PortId,
    /// The node at the other end.
    pub to: NodeId,
    /// Rate of the link, outwards.
    pub rate: Rate,
    /// Rate of the link, inwards.
    pub rate_in: Rate,
    /// What waits now. The packet being transmitted is not counted.
    pub backlog: Backlog,
    /// A packet is being transmitted.
    pub busy: bool,
    /// How much may wait; `u32::MAX` packets or unlimited bytes where there is no such limit.
    pub limit: Backlog,
}

/// What a driver shows a router of the node it runs.
pub trait NodeView {
    /// A port of the node.
    fn port(&mut self, port: PortId) -> PortView;

    /// Whether the link of a port works.
    fn up(&self, _port: PortId) -> bool {
        true
    }

    /// The port on the way to `to`; `None` where there is no route.
    fn next(&self, to: NodeId) -> Option<PortId>;

    /// What the path to `to` costs by the network's routing metric: nanoseconds of delay, or links.
    fn cost(&self, to: NodeId) -> Option<u64>;
}

/// A router's context: [`Cx`], the node's ports and routes, and the way to forward.
pub struct NodeCx<'a, 'b> {
    cx: &'a mut Cx<'b>,
    view: &'a mut dyn NodeView,
}

impl<'a, 'b> NodeCx<'a, 'b> {
    /// Made by drivers and tests.
    pub fn new(cx: &'a mut Cx<'b>, view: &'a mut dyn NodeView) -> Self {
        Self { cx, view }
    }

    /// Lets `act` use the same context at the instant `now`. Called by drivers for routers whose clock is not right.
    pub fn at<T>(&mut self, now: Time, act: impl FnOnce(&mut NodeCx<'_, '_>) -> T) -> T {
        let mut cx = self.cx.at(now);
        act(&mut NodeCx { cx: &mut cx, view: self.view })
    }

    /// A port of the node.
    pub fn port(&mut self, port: PortId) -> PortView {
        self.view.port(port)
    }

    /// Whether the link of a port works.
    pub fn up(&self, port: PortId) -> bool {
        self.view.up(port)
    }

    /// The port on the way to `to`.
    pub fn next(&self, to: NodeId) -> Option<PortId> {
        self.view.next(to)
    }

    /// What the path to `to` costs: nanoseconds of delay, or links.
    pub fn cost(&self, to: NodeId) -> Option<u64> {
        self.view.cost(to)
    }

    /// Offers a copy of a packet to a port; its source, birth and hops stay what they are.
    #[inline]
    pub fn forward(&mut self, packet: &Packet, port: PortId) {
        self.cx.forward(packet, port);
    }

    /// Executes an order at this node, as soon as the state machine has returned.
    pub fn execute(&mut self, order: Order) {
        self.cx.execute(order);
    }

    /// Hands a copy of a packet to an endpoint on this node, at once.
    #[inline]
    pub fn deliver(&mut self, packet: &Packet, endpoint: EndpointId) {
        self.cx.deliver_to(packet, endpoint);
    }
}

impl<'b> std::ops::Deref for NodeCx<'_, 'b> {
    type Target = Cx<'b>;
    fn deref(&self) -> &Cx<'b> {
        self.cx
    }
}

impl<'b> std::ops::DerefMut for NodeCx<'_, 'b> {
    fn deref_mut(&mut self) -> &mut Cx<'b> {
        self.cx
    }
}

/// A scheme's part in a router: one object per node, for all groups of the scheme there.
///
/// Forwarding tables and trees belong to the router; the part sees them and sends messages along them.
#[delegatable_trait]
pub trait RouterLaw {
    /// A packet came in, whomever it is for.
    fn on_arrival(&mut self, _packet: &Packet, _at: &mut TransitCx<'_>) {}

    /// A packet, whosever it is, is about to be offered to the queue `port`. It may be marked or stamped.
    fn on_enqueue(&mut self, _packet: &mut Packet, _port: &PortView, _at: &mut TransitCx<'_>) {}

    /// A child's report for the tree node above it arrived, see [`crate::ReceiverCx::report`].
    fn on_report(&mut self, _report: &Report<'_>, _cx: &mut RouterCx<'_, '_, '_>) {}

    /// The deadline may have passed.
    fn on_timer(&mut self, _cx: &mut RouterCx<'_, '_, '_>) {}

    /// When `on_timer` is wanted.
    fn wake(&self) -> Time {
        Time::NEVER
    }
}

/// A way down the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The outgoing interface.
    pub port: PortId,
    /// The next tree node, or the member.
    pub child: Address,
}

/// A group's entry in the multicast name forwarding table (MNFT) [SRMCC §3.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The interface that the group's packets come in by.
    pub incoming: Option<PortId>,
    /// The ways down, in the order of children's addresses.
    pub branches: &'a [Branch],
}

impl Entry<'_> {
    /// Whether `address` is a child.
    pub fn has(&self, address: Address) -> bool {
        self.branches.binary_search_by_key(&address, |branch| branch.child).is_ok()
    }
}

/// A child's report, as the tree node above it sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report<'a> {
    /// The group it is about.
    pub group: GroupId,
    /// Who speaks: a member, or a tree node for its part of the tree.
    pub from: Address,
    /// When it was sent.
    pub sent_at: Time,
    /// The scheme's own words.
    pub label: Label,
    /// The group's entry here.
    pub entry: Entry<'a>,
}

/// Whom feedback is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedbackTarget {
    /// The group's source, end to end.
    Source,
    /// The next tree node above; the source, where there is none.
    Parent,
}

/// A message that a router's part sends about a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupMessage {
    /// The group.
    pub group: GroupId,
    /// To whom.
    pub target: FeedbackTarget,
    /// The scheme's own words.
    pub label: Label,
}

/// The context of a router's part: [`NodeCx`], and the way to speak along the tree.
pub struct RouterCx<'a, 'b, 'c> {
    node: &'a mut NodeCx<'b, 'c>,
    words: &'a mut Vec<GroupMessage>,
}

impl<'a, 'b, 'c> RouterCx<'a, 'b, 'c> {
    /// Made by the router; `words` are what it sends afterwards.
    pub fn new(node: &'a mut NodeCx<'b, 'c>, words: &'a mut Vec<GroupMessage>) -> Self {
        Self { node, words }
    }

    /// Says `label` about `group` to the next tree node above.
    pub fn report(&mut self, group: GroupId, label: Label) {
        self.words.push(GroupMessage { group, target: FeedbackTarget::Parent, label });
    }

    /// Says `label` about `group` to its source, past all tree nodes.
    pub fn notify(&mut self, group: GroupId, label: Label) {
        self.words.push(GroupMessage { group, target: FeedbackTarget::Source, label });
    }
}

impl<'b, 'c> std::ops::Deref for RouterCx<'_, 'b, 'c> {
    type Target = NodeCx<'b, 'c>;
    fn deref(&self) -> &NodeCx<'b, 'c> {
        self.node
    }
}

impl<'b, 'c> std::ops::DerefMut for RouterCx<'_, 'b, 'c> {
    fn deref_mut(&mut self) -> &mut NodeCx<'b, 'c> {
        self.node
    }
}
