//! Sans-IO state machines of whole nodes (routers, forwarders, resolver, SDN controller), and the part that a scheme
//! adds to one.

use ambassador::delegatable_trait;
use units::{Duration, Rate, Time};

use crate::{
    Address, Backlog, Command, Cx, DropReason, EndpointId, GroupId, Label, NodeId, Packet, PortId, Random,
};

/// A state machine that runs a node: it forwards by its own tables and exchanges messages with other nodes. Sans-IO.
///
/// # How it is driven
///
/// 1. *Inputs*, after which it can send: [`Router::handle`] with [`RouterInput::Start`] once, then
///    [`RouterInput::Packet`] for packets to the node's address and for those that it [`takes`](Router::takes),
///    [`RouterInput::Local`] for packets of endpoints on the node, [`RouterInput::Timer`].
/// 2. *Observations*, which can change marks and labels of the packet but send nothing: [`Router::on_arrival`] for
///    every packet that arrives, before `takes` is called; [`Router::on_enqueue`] for every packet that is about to
///    enter a queue of the node; [`Router::on_dequeue`] when its transmission begins. Messages that result from them
///    are sent at [`Router::wake`], which can be immediately.
/// 3. *Outputs*, after every `handle`: drain [`crate::Outputs::forwards`] (a copy for a port),
///    [`crate::Outputs::deliveries`] (a copy for an endpoint of the node), [`crate::Outputs::outbox`] (by the driver's
///    routes) and [`crate::Outputs::commands`], in this order. If `handle` returns a reason, the packet of the input is
///    dropped for it; otherwise it was consumed. A driver that has the packet in the arena can offer it for sending
///    ([`crate::Outputs::input`]), and then drains what became of it before the copies.
/// 4. *Poll* [`Router::wake`] after every input and every observation, as with [`crate::Endpoint`].
pub trait Router {
    /// Handles one input. A reason means that the packet of [`RouterInput::Packet`] is dropped; otherwise it was
    /// consumed.
    fn handle(&mut self, input: RouterInput<'_>, cx: &mut NodeCx<'_, '_>) -> Option<DropReason>;

    /// Whether it intercepts this packet, which has another destination.
    fn takes(&self, _packet: &Packet) -> bool {
        false
    }

    /// A packet arrived, with any destination.
    fn on_arrival(&mut self, _packet: &Packet, _at: &mut TransitCx<'_>) {}

    /// A packet, of any source, is about to enter the queue `port`.
    fn on_enqueue(&mut self, _packet: &mut Packet, _port: &PortView, _at: &mut TransitCx<'_>) {}

    /// A packet, of any source, leaves the queue `port` after the delay `waited`: its transmission begins.
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

/// Inputs of a router.
#[derive(Clone, Copy, Debug)]
pub enum RouterInput<'a> {
    /// A packet for this node, and the node's port towards the previous hop.
    Packet(&'a Packet, PortId),
    /// A packet of an endpoint on this node, see [`crate::Destination::own_node`].
    Local(&'a Packet),
    /// A deadline can have expired.
    Timer,
    /// Start of the run.
    Start,
}

/// The context of an observed packet.
pub struct TransitCx<'a> {
    /// The current instant.
    pub now: Time,
    /// The port of the node: towards the previous hop of the packet, or towards its next hop.
    pub port: PortId,
    /// The router's stream of random numbers.
    pub random: &'a mut Random,
}

/// A port in the view of its router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortView {
    /// The port.
    pub port: PortId,
    /// The node at the other end.
    pub to: NodeId,
    /// Rate of the outgoing direction of the link.
    pub rate: Rate,
    /// Rate of the incoming direction of the link.
    pub rate_in: Rate,
    /// Present backlog, without the packet in transmission.
    pub backlog: Backlog,
    /// Whether a packet is in transmission.
    pub busy: bool,
    /// Queue limit; `u32::MAX` packets or unlimited bytes where there is no such limit.
    pub limit: Backlog,
}

/// The view of a node that a driver gives to its router.
pub trait NodeView {
    /// A port of the node.
    fn port(&mut self, port: PortId) -> PortView;

    /// Whether the link of a port is up.
    fn up(&self, _port: PortId) -> bool {
        true
    }

    /// The port of the route to `to`; `None` without a route.
    fn next(&self, to: NodeId) -> Option<PortId>;

    /// Cost of the path to `to` by the network's routing metric: nanoseconds of delay, or links.
    fn cost(&self, to: NodeId) -> Option<u64>;
}

/// A router's context: [`Cx`], the node's ports and routes, and forwarding.
pub struct NodeCx<'a, 'b> {
    cx: &'a mut Cx<'b>,
    view: &'a mut dyn NodeView,
}

impl<'a, 'b> NodeCx<'a, 'b> {
    /// Constructor for drivers and tests.
    pub fn new(cx: &'a mut Cx<'b>, view: &'a mut dyn NodeView) -> Self {
        Self { cx, view }
    }

    /// Runs `act` with the same context at the instant `now`. Called by drivers for routers with a clock offset or
    /// drift.
    pub fn at<T>(&mut self, now: Time, act: impl FnOnce(&mut NodeCx<'_, '_>) -> T) -> T {
        let mut cx = self.cx.at(now);
        act(&mut NodeCx { cx: &mut cx, view: self.view })
    }

    /// A port of the node.
    pub fn port(&mut self, port: PortId) -> PortView {
        self.view.port(port)
    }

    /// Whether the link of a port is up.
    pub fn up(&self, port: PortId) -> bool {
        self.view.up(port)
    }

    /// The port of the route to `to`.
    pub fn next(&self, to: NodeId) -> Option<PortId> {
        self.view.next(to)
    }

    /// Cost of the path to `to`: nanoseconds of delay, or links.
    pub fn cost(&self, to: NodeId) -> Option<u64> {
        self.view.cost(to)
    }

    /// Sends a copy of a packet to a port; its source, send time and hop count do not change. Returns the copy, whose
    /// other fields can be changed.
    #[inline(always)]
    pub fn forward(&mut self, packet: &Packet, port: PortId) -> &mut Packet {
        self.cx.forward(packet, port)
    }

    /// Sends `packet`, the unchanged packet of the input, to a port. It is not copied if it is the first packet to be
    /// sent and the driver has offered it ([`crate::RouterPacket::Offered`]).
    #[inline(always)]
    pub fn forward_input(&mut self, packet: &Packet, port: PortId) -> &mut Packet {
        self.cx.forward_input(packet, port)
    }

    /// Executes a command at this node after the state machine has returned.
    pub fn execute(&mut self, command: Command) {
        self.cx.execute(command);
    }

    /// Delivers a copy of a packet to an endpoint on this node immediately. Returns the copy.
    #[inline(always)]
    pub fn deliver(&mut self, packet: &Packet, endpoint: EndpointId) -> &mut Packet {
        self.cx.deliver_to(packet, endpoint)
    }

    /// Delivers `packet`, the unchanged packet of the input, as [`NodeCx::forward_input`] forwards it.
    #[inline(always)]
    pub fn deliver_input(&mut self, packet: &Packet, endpoint: EndpointId) -> &mut Packet {
        self.cx.deliver_input(packet, endpoint)
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
/// Forwarding tables and trees belong to the router; the part reads them and sends messages along the tree.
#[delegatable_trait]
pub trait RouterAlgorithm {
    /// A packet arrived, with any destination.
    fn on_arrival(&mut self, _packet: &Packet, _at: &mut TransitCx<'_>) {}

    /// A packet, of any source, is about to enter the queue `port`. It can be marked or labelled.
    fn on_enqueue(&mut self, _packet: &mut Packet, _port: &PortView, _at: &mut TransitCx<'_>) {}

    /// A child's report for the tree node above it arrived, see [`crate::ReceiverCx::report`].
    fn on_report(&mut self, _report: &Report<'_>, _cx: &mut RouterCx<'_, '_, '_>) {}

    /// A deadline can have expired.
    fn on_timer(&mut self, _cx: &mut RouterCx<'_, '_, '_>) {}

    /// The next deadline, at which `on_timer` is called.
    fn wake(&self) -> Time {
        Time::NEVER
    }
}

/// A branch of the tree.
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
    /// The incoming interface of the group's packets.
    pub incoming: Option<PortId>,
    /// The branches, in the order of children's addresses.
    pub branches: &'a [Branch],
}

impl Entry<'_> {
    /// Whether `address` is a child.
    pub fn has(&self, address: Address) -> bool {
        self.branches.binary_search_by_key(&address, |branch| branch.child).is_ok()
    }
}

/// A child's report at the parent tree node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report<'a> {
    /// Its group.
    pub group: GroupId,
    /// Its sender: a member, or a tree node for its subtree.
    pub from: Address,
    /// The send time.
    pub sent_at: Time,
    /// The scheme's label.
    pub label: Label,
    /// The group's entry at this node.
    pub entry: Entry<'a>,
    /// The groups in the table whose packets arrive on the incoming interface of this group, in ascending order.
    pub neighbours: &'a [GroupId],
}

/// The destination of feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedbackTarget {
    /// The group's source, end to end.
    Source,
    /// The parent tree node; the source, if there is no parent.
    Parent,
}

/// A message of a router's part about a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupMessage {
    /// The group.
    pub group: GroupId,
    /// The destination.
    pub target: FeedbackTarget,
    /// The scheme's label.
    pub label: Label,
}

/// The context of a router's part: [`NodeCx`], and messages along the tree.
pub struct RouterCx<'a, 'b, 'c> {
    node: &'a mut NodeCx<'b, 'c>,
    messages: &'a mut Vec<GroupMessage>,
}

impl<'a, 'b, 'c> RouterCx<'a, 'b, 'c> {
    /// Constructor for the router; `messages` are the messages that it sends afterwards.
    pub fn new(node: &'a mut NodeCx<'b, 'c>, messages: &'a mut Vec<GroupMessage>) -> Self {
        Self { node, messages }
    }

    /// Sends `label` about `group` to the parent tree node.
    pub fn report(&mut self, group: GroupId, label: Label) {
        self.messages.push(GroupMessage { group, target: FeedbackTarget::Parent, label });
    }

    /// Sends `label` about `group` to its source, past all tree nodes.
    pub fn notify(&mut self, group: GroupId, label: Label) {
        self.messages.push(GroupMessage { group, target: FeedbackTarget::Source, label });
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
