//! ICN router: a node of multicast trees that are built by name, beside the driver's forwarding by address
//! [SRMCC §3.1].
//!
//! A join is sent towards a tree node that the name resolution system returned. Every router of the name-based network
//! on the path intercepts it: it adds the sender as a branch and sends its own join, until a router on the tree is
//! reached. Between two neighbours of the tree there can be routers that know addresses only. Copies are addressed to
//! the next tree node, so that such routers need no state.

use contract::{
    Address, Branch, Count, DropReason, Eid, Entry, FeedbackTarget, FlowId, GroupId, GroupMessage, Header,
    Label, NodeCx, Packet, PortId, PortView, Registration, Report, RouterAlgorithm, RouterCx, RouterInput,
    Signal, TransitCx,
};
use units::{Bytes, Duration, Time};

use super::Config;

/// The configuration of a group at routers: the scheme's part for it, and the size of its feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupPart {
    /// Index of the scheme's part; `None` if the scheme has none in routers.
    pub part: Option<usize>,
    /// Size of a feedback packet on the wire.
    pub feedback: Bytes,
}

/// A tree node, with the router parts of schemes.
///
/// # How it is driven
///
/// It is a [`contract::Router`]. The driver calls `takes` for every packet that arrives, because a join to any address
/// is intercepted, and passes intercepted packets as [`RouterInput::Packet`] with the port. If [`Router::has_parts`] is
/// true, the driver reports arrivals and enqueued packets as well. Copies along the tree are in
/// [`contract::Outputs::forwards`], signals and feedback in the outbox.
pub struct Router<L> {
    config: Config,
    resolver: Address,
    parts: Vec<L>,
    /// By group.
    known: Vec<GroupPart>,
    /// The multicast name forwarding table (MNFT), by group.
    table: Vec<Option<Box<Group>>>,
    /// No deadline of the table is before this.
    next: Time,
    messages: Vec<GroupMessage>,
    /// Groups of one interface, see [`Report::neighbours`]; kept for its memory.
    neighbours: Vec<GroupId>,
}

/// An entry of the table and its soft state.
#[derive(Debug)]
struct Group {
    gumgid: Eid,
    standing: Standing,
    /// When the current state has something to send.
    next_send: Time,
    /// How long to wait for the answer to the current request.
    wait: Duration,
    /// The tree node above, or the source at the root.
    parent: Option<Address>,
    incoming: Option<PortId>,
    source: Option<Address>,
    /// Cost of the path from the root when the upstream path was last chosen; [`u64::MAX`] before that.
    cost: u64,
    /// Until this time the node joins only tree nodes of lower cost than its own: the nodes below it have higher costs,
    /// and joining one of them would form a loop. After it the state of nodes that were below has expired.
    guarded_until: Time,
    /// Sorted by the address of the child.
    branches: Vec<Branch>,
    held: Vec<Held>,
}

/// The soft state of a branch.
#[derive(Clone, Copy, Debug)]
struct Held {
    until: Time,
    accepted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// A request to the name resolution system is pending.
    Resolving,
    /// A join to `target` is pending. `target` is the best tree node in the last answer of the name resolution system.
    Joining { target: Registration },
    /// On the tree until `until`, unless the parent refreshes it.
    Joined { target: Registration, until: Time },
    /// The source's access router until `until`, unless the source refreshes it.
    Root { until: Time },
}

impl Group {
    fn new(gumgid: Eid) -> Self {
        Self {
            gumgid,
            standing: Standing::Resolving,
            next_send: Time::NEVER,
            wait: Duration::ZERO,
            parent: None,
            incoming: None,
            source: None,
            cost: u64::MAX,
            guarded_until: Time::ZERO,
            branches: Vec::new(),
            held: Vec::new(),
        }
    }

    fn on_tree(&self) -> bool {
        matches!(self.standing, Standing::Joined { .. } | Standing::Root { .. })
    }

    fn find(&self, child: Address) -> Result<usize, usize> {
        self.branches.binary_search_by_key(&child, |branch| branch.child)
    }

    /// The address that joins are sent to.
    fn target(&self) -> Option<Registration> {
        match self.standing {
            Standing::Joining { target } | Standing::Joined { target, .. } => Some(target),
            Standing::Resolving | Standing::Root { .. } => None,
        }
    }

    /// Whether the node may join `node` without a loop, as far as it can tell.
    fn may_join(&self, node: &Registration, now: Time) -> bool {
        let nearer = node.cost < self.cost;
        let held = self.target().is_some_and(|target| target.at == node.at);
        let forgotten = now >= self.guarded_until && !self.on_tree();
        // a child is below this node, unless its cost shows that it is closer to the root
        let is_ancestor = nearer && (self.cost != u64::MAX || node.cost == 0);
        let is_descendant = self.find(node.at).is_ok() && !is_ancestor;
        !is_descendant && (nearer || held || forgotten)
    }

    /// Gives up the upstream path, because it is lost or leads to a child.
    fn release_upstream(&mut self, now: Time, lifetime: Duration) {
        (self.parent, self.incoming) = (None, None);
        self.standing = Standing::Resolving;
        (self.wait, self.next_send) = (Duration::ZERO, now);
        self.guarded_until = now + lifetime * 2;
    }

    fn remove(&mut self, at: usize) {
        self.branches.remove(at);
        self.held.remove(at);
    }
}

impl<L: RouterAlgorithm> Router<L> {
    /// A router with empty tables. `known` has one row per group of the network.
    pub fn new(config: &Config, resolver: Address, parts: Vec<L>, known: Vec<GroupPart>) -> Self {
        let table = known.iter().map(|_| None).collect();
        Self {
            config: config.clone(),
            resolver,
            parts,
            known,
            table,
            next: Time::NEVER,
            messages: Vec::new(),
            neighbours: Vec::new(),
        }
    }

    /// Whether a scheme has a part here, which then observes every packet.
    pub fn has_parts(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Groups in its table.
    pub fn groups(&self) -> usize {
        self.table.iter().flatten().count()
    }

    /// The entry of a group.
    pub fn entry(&self, group: GroupId) -> Option<Entry<'_>> {
        let group = self.table.get(group.index())?.as_deref()?;
        Some(Entry { incoming: group.incoming, branches: &group.branches })
    }

    /// A scheme's part, for tests.
    #[cfg(test)]
    pub(super) fn part(&mut self, index: usize) -> &mut L {
        &mut self.parts[index]
    }

    /// Forwards a data packet of a group: one copy per branch, if the packet arrived on the incoming interface.
    #[inline]
    fn on_data(&mut self, packet: &Packet, from: PortId, cx: &mut NodeCx<'_, '_>) -> Option<DropReason> {
        let Some(group) = self.table.get_mut(packet.flow.index()).and_then(Option::as_deref_mut) else {
            return Some(DropReason::NoRoute);
        };
        if group.incoming != Some(from) {
            return Some(DropReason::NoRoute);
        }
        group.source = Some(packet.source);
        if group.branches.is_empty() {
            return Some(DropReason::NotListening);
        }
        let mut copy = *packet;
        for branch in &group.branches {
            copy.to = branch.child.into();
            cx.forward(&copy, branch.port);
        }
        None
    }

    /// Passes feedback of a child to the scheme's part, or forwards it to the source if there is no part.
    fn on_feedback(&mut self, packet: &Packet, cx: &mut NodeCx<'_, '_>) {
        let id = GroupId(packet.flow.0);
        cx.count(Count::FeedbackReceived, 1);
        let Some(group) = self.table.get(id.index()).and_then(Option::as_deref) else {
            return cx.count(Count::Ignored, 1);
        };
        if group.find(packet.source).is_err() {
            return cx.count(Count::Ignored, 1);
        }
        let Some(part) = self.known[id.index()].part else {
            // no router above aggregates it either: it is forwarded with the address of its sender
            let Some((source, port)) = group.source.and_then(|to| Some((to, cx.next(to.node)?))) else {
                return cx.count(Count::Ignored, 1);
            };
            let mut copy = *packet;
            copy.to = source.into();
            cx.forward(&copy, port);
            return;
        };
        let entry = Entry { incoming: group.incoming, branches: &group.branches };
        self.neighbours.clear();
        if entry.incoming.is_some() {
            let arrives = |other: &Option<Box<Group>>| {
                other.as_deref().is_some_and(|other| other.incoming == entry.incoming)
            };
            let ids =
                self.table.iter().zip(0..).filter(|(other, _)| arrives(other)).map(|(_, id)| GroupId(id));
            self.neighbours.extend(ids);
        }
        let report = Report {
            group: id,
            from: packet.source,
            sent_at: packet.sent_at,
            label: packet.label,
            entry,
            neighbours: &self.neighbours,
        };
        self.parts[part].on_report(&report, &mut RouterCx::new(cx, &mut self.messages));
    }

    /// Sends the messages of the parts.
    fn send_messages(&mut self, cx: &mut NodeCx<'_, '_>) {
        for message in self.messages.drain(..) {
            let group = self.table.get(message.group.index()).and_then(Option::as_deref);
            let to = group.and_then(|group| match message.target {
                FeedbackTarget::Parent => group.parent,
                FeedbackTarget::Source => group.source,
            });
            let Some(to) = to else {
                cx.count(Count::Ignored, 1);
                continue;
            };
            cx.count(Count::Feedback, 1);
            let size = self.known[message.group.index()].feedback;
            cx.send_for(FlowId(message.group.0), to.into(), size, Header::Feedback, message.label);
        }
    }

    fn on_signal(&mut self, signal: Signal, packet: &Packet, from: PortId, cx: &mut NodeCx<'_, '_>) {
        let sender = packet.source;
        match signal {
            Signal::Join { group, gumgid } if self.has_group(group) => {
                self.on_join(group, gumgid, sender, from, cx)
            }
            Signal::Leave { group } => {
                if let Some(entry) = self.entry_mut(group)
                    && let Ok(at) = entry.find(sender)
                {
                    entry.remove(at);
                    self.prune(group, cx);
                }
            }
            Signal::Publish { group, gumgid } if self.has_group(group) => {
                self.on_publish(group, gumgid, sender, from, cx);
            }
            Signal::Unpublish { group } => {
                if let Some(entry) = self.entry_mut(group)
                    && matches!(entry.standing, Standing::Root { .. })
                    && entry.parent == Some(sender)
                {
                    self.resign_as_root(group, cx);
                }
            }
            Signal::Resolved { group, count, nodes } => {
                self.on_resolved(group, nodes.iter().take(usize::from(count)), cx);
            }
            Signal::Accepted { group } => self.on_accepted(group, sender, from, cx),
            Signal::Probe { group, packets } => {
                for index in 0..packets {
                    let header = Header::Signal(Signal::Probed { group, index });
                    cx.count(Count::Signals, 1);
                    cx.send_for(packet.flow, sender.into(), self.config.probe, header, Label::default());
                }
            }
            _ => cx.count(Count::Ignored, 1),
        }
    }

    fn on_join(&mut self, id: GroupId, gumgid: Eid, child: Address, from: PortId, cx: &mut NodeCx<'_, '_>) {
        let until = cx.now() + self.config.soft_state_lifetime();
        let fresh = self.table[id.index()].is_none();
        let group = self.table[id.index()].get_or_insert_with(|| Box::new(Group::new(gumgid)));
        let was_parent = group.parent == Some(child) && !matches!(group.standing, Standing::Root { .. });
        if was_parent {
            // the parent lost its state, or its upstream path leads here: this node resolves the name again
            group.release_upstream(cx.now(), self.config.soft_state_lifetime());
        }
        let held = Held { until, accepted: group.on_tree() };
        match group.find(child) {
            Ok(at) => {
                group.branches[at].port = from;
                group.held[at] = held;
            }
            Err(at) => {
                group.branches.insert(at, Branch { port: from, child });
                group.held.insert(at, held);
            }
        }
        if fresh {
            group.next_send = cx.now();
        } else if held.accepted {
            self.accept(id, child, from, cx);
        } else if was_parent {
            self.send_signal(id, child, Signal::Leave { group: id }, cx);
        }
        let next_send = self.table[id.index()].as_deref().map_or(Time::NEVER, |group| group.next_send);
        self.next = self.next.min(until).min(next_send);
    }

    fn on_publish(
        &mut self,
        id: GroupId,
        gumgid: Eid,
        source: Address,
        from: PortId,
        cx: &mut NodeCx<'_, '_>,
    ) {
        let until = cx.now() + self.config.soft_state_lifetime();
        let group = self.table[id.index()].get_or_insert_with(|| Box::new(Group::new(gumgid)));
        let was_root = matches!(group.standing, Standing::Root { .. });
        group.standing = Standing::Root { until };
        let old = group.parent.replace(source);
        group.source = Some(source);
        group.incoming = Some(from);
        (group.cost, group.wait) = (0, Duration::ZERO);
        if !was_root {
            group.next_send = cx.now() + self.config.refresh;
            if let Some(old) = old {
                self.send_signal(id, old, Signal::Leave { group: id }, cx);
            }
            self.register(id, cx);
            self.welcome(id, cx);
        }
        self.next = self.next.min(until).min(cx.now() + self.config.refresh);
        self.accept(id, source, from, cx);
    }

    /// Handles tree nodes that the name resolution system returned. The best one becomes the target of joins.
    fn on_resolved<'a>(
        &mut self,
        id: GroupId,
        nodes: impl Iterator<Item = &'a Registration>,
        cx: &mut NodeCx<'_, '_>,
    ) {
        let (me, now) = (cx.me(), cx.now());
        let joins = |group: &&mut Group| !matches!(group.standing, Standing::Root { .. });
        let Some(group) = self.entry_mut(id).filter(joins) else { return cx.count(Count::Ignored, 1) };
        let through = |node: &Registration| {
            let usable = node.at != me && group.may_join(node, now);
            let cost = usable.then(|| cx.cost(node.at.node)).flatten()?;
            // plus one, so that costs grow down the tree over links without delay as well
            Some(node.cost.saturating_add(cost).saturating_add(1))
        };
        let reachable = nodes.filter_map(|node| Some((through(node)?, *node)));
        // the root is preferred if it is known: the costs of the other nodes may be stale, and two nodes could choose
        // each other; a join to the root is intercepted by the first tree node on the path
        let best = reachable.min_by_key(|(cost, node)| (node.cost > 0, *cost, node.at));
        let Some((cost, target)) = best else { return };
        let first = group.standing == Standing::Resolving;
        group.cost = cost;
        group.standing = match group.standing {
            Standing::Joined { until, .. } => Standing::Joined { target, until },
            _ => Standing::Joining { target },
        };
        if first {
            group.wait = Duration::ZERO;
            self.send_join(id, cx);
        }
    }

    fn on_accepted(&mut self, id: GroupId, above: Address, from: PortId, cx: &mut NodeCx<'_, '_>) {
        let now = cx.now();
        let (refresh, until) = (self.config.refresh, now + self.config.soft_state_lifetime());
        let unresolved = |group: &&mut Group| !matches!(group.standing, Standing::Root { .. });
        let Some(group) = self.entry_mut(id).filter(unresolved) else {
            // no longer wanted here
            return match self.has_group(id) {
                true => self.send_signal(id, above, Signal::Leave { group: id }, cx),
                false => cx.count(Count::Ignored, 1),
            };
        };
        let Some(target) = group.target() else {
            // the upstream path was lost after the join
            return cx.count(Count::Ignored, 1);
        };
        let first = !group.on_tree();
        if let Ok(at) = group.find(above) {
            if !first {
                // two joins crossed, or the Leave of a former child was lost: neither node is to be the other's branch
                return self.send_signal(id, above, Signal::Leave { group: id }, cx);
            }
            // the other node is on the tree and this one is not: it has another upstream path
            group.remove(at);
        }
        let old = group.parent.replace(above).filter(|old| *old != above);
        group.incoming = Some(from);
        group.standing = Standing::Joined { target, until };
        group.next_send = now + refresh;
        group.wait = Duration::ZERO;
        self.next = self.next.min(now + refresh);
        if let Some(old) = old {
            self.send_signal(id, old, Signal::Leave { group: id }, cx);
        }
        if first {
            self.register(id, cx);
            self.welcome(id, cx);
            self.prune(id, cx);
        }
    }

    /// Handles expired deadlines of the table.
    fn on_timer(&mut self, cx: &mut NodeCx<'_, '_>) {
        let (now, lifetime) = (cx.now(), self.config.soft_state_lifetime());
        let mut next = Time::NEVER;
        for index in 0..self.table.len() {
            let id = GroupId(index as u32);
            let Some(group) = self.table[index].as_deref_mut() else { continue };
            let before = group.branches.len();
            for at in (0..before).rev().filter(|&at| group.held[at].until <= now).collect::<Vec<_>>() {
                group.remove(at);
            }
            if group.branches.len() < before {
                self.prune(id, cx);
            }
            let Some(group) = self.table[index].as_deref_mut() else { continue };
            match group.standing {
                Standing::Root { until } if until <= now => self.resign_as_root(id, cx),
                Standing::Joined { until, .. } if until <= now => {
                    let parent = group.parent;
                    group.release_upstream(now, lifetime);
                    // if the parent still exists, it must not continue to send
                    parent
                        .into_iter()
                        .for_each(|old| self.send_signal(id, old, Signal::Leave { group: id }, cx));
                }
                _ => {}
            }
            if self.table[index].as_deref().is_some_and(|group| group.next_send <= now) {
                self.send_join(id, cx);
            }
            let Some(group) = self.table[index].as_deref() else { continue };
            let ends = match group.standing {
                Standing::Root { until } | Standing::Joined { until, .. } => until,
                Standing::Resolving | Standing::Joining { .. } => Time::NEVER,
            };
            let held = group.held.iter().map(|held| held.until).min().unwrap_or(Time::NEVER);
            next = next.min(group.next_send).min(ends).min(held);
        }
        self.next = next;
    }

    /// Sends the request or refresh that the state of the group requires.
    fn send_join(&mut self, id: GroupId, cx: &mut NodeCx<'_, '_>) {
        let (config, resolver, now) = (self.config.clone(), self.resolver, cx.now());
        let Some(group) = self.entry_mut(id) else { return };
        let (gumgid, standing, target) = (group.gumgid, group.standing, group.target());
        let first = group.wait == Duration::ZERO;
        let (is_root, on_tree) = (matches!(standing, Standing::Root { .. }), group.on_tree());
        if !is_root {
            group.wait = config.backed_off(group.wait);
        }
        let next_send = now + if is_root { config.refresh } else { group.wait };
        group.next_send = next_send;
        self.next = self.next.min(next_send);
        if let Some(target) = target {
            self.send_signal(id, target.at, Signal::Join { group: id, gumgid }, cx);
        }
        // a node with an upstream path resolves the name as well, because the path may be invalid or a better one may
        // exist
        let just_joined = first && matches!(standing, Standing::Joining { .. });
        if !is_root && !just_joined {
            self.send_signal(id, resolver, Signal::Resolve { group: id, gumgid }, cx);
        }
        if first && on_tree {
            self.register(id, cx);
        }
    }

    /// Leaves the tree if this node has no branches.
    fn prune(&mut self, id: GroupId, cx: &mut NodeCx<'_, '_>) {
        let Some(group) = self.entry_mut(id) else { return };
        if !group.branches.is_empty() || matches!(group.standing, Standing::Root { .. }) {
            return;
        }
        let (parent, registered, gumgid) = (group.parent, group.on_tree(), group.gumgid);
        self.table[id.index()] = None;
        if let Some(parent) = parent {
            self.send_signal(id, parent, Signal::Leave { group: id }, cx);
        }
        if registered {
            self.send_signal(id, self.resolver, Signal::Withdraw { gumgid }, cx);
        }
    }

    /// Stops being the root, because the source is gone.
    fn resign_as_root(&mut self, id: GroupId, cx: &mut NodeCx<'_, '_>) {
        let (now, lifetime) = (cx.now(), self.config.soft_state_lifetime());
        let Some(group) = self.entry_mut(id) else { return };
        let gumgid = group.gumgid;
        group.release_upstream(now, lifetime);
        self.send_signal(id, self.resolver, Signal::Withdraw { gumgid }, cx);
        self.prune(id, cx);
        let next_send = self.entry_mut(id).map_or(Time::NEVER, |group| group.next_send);
        self.next = self.next.min(next_send);
    }

    /// Sends `Accepted` to all children that did not receive it.
    fn welcome(&mut self, id: GroupId, cx: &mut NodeCx<'_, '_>) {
        let Some(group) = self.table[id.index()].as_deref_mut() else { return };
        let branches = group.branches.iter().zip(&mut group.held);
        let waiting: Vec<Branch> = branches
            .filter_map(|(branch, held)| (!std::mem::replace(&mut held.accepted, true)).then_some(*branch))
            .collect();
        waiting.into_iter().for_each(|branch| self.accept(id, branch.child, branch.port, cx));
    }

    /// Sends `Accepted` to a neighbour, on the port on which the group's packets leave.
    fn accept(&self, id: GroupId, to: Address, port: PortId, cx: &mut NodeCx<'_, '_>) {
        cx.count(Count::Signals, 1);
        let packet = Packet {
            flow: FlowId(id.0),
            size_bytes: self.config.signal.as_u64() as u32,
            source: cx.me(),
            to: to.into(),
            sent_at: cx.now(),
            label: Label::default(),
            header: Header::Signal(Signal::Accepted { group: id }),
            ecn: contract::Ecn::NotCapable,
            hops: 0,
            waited: Default::default(),
        };
        cx.forward(&packet, port);
    }

    fn register(&self, id: GroupId, cx: &mut NodeCx<'_, '_>) {
        let Some(group) = self.table[id.index()].as_deref() else { return };
        let node = Registration { at: cx.me(), cost: group.cost };
        self.send_signal(id, self.resolver, Signal::Register { gumgid: group.gumgid, node }, cx);
    }

    fn send_signal(&self, id: GroupId, to: Address, signal: Signal, cx: &mut NodeCx<'_, '_>) {
        cx.count(Count::Signals, 1);
        cx.send_for(FlowId(id.0), to.into(), self.config.signal, Header::Signal(signal), Label::default());
    }

    fn has_group(&self, group: GroupId) -> bool {
        group.index() < self.table.len()
    }

    fn entry_mut(&mut self, group: GroupId) -> Option<&mut Group> {
        self.table.get_mut(group.index())?.as_deref_mut()
    }
}

impl<L: RouterAlgorithm> contract::Router for Router<L> {
    fn handle(&mut self, input: RouterInput<'_>, cx: &mut NodeCx<'_, '_>) -> Option<DropReason> {
        let drop = match input {
            RouterInput::Packet(packet, from) => match packet.header {
                Header::Stream(_) => return self.on_data(packet, from, cx),
                Header::Feedback => {
                    self.on_feedback(packet, cx);
                    None
                }
                Header::Signal(signal) => {
                    self.on_signal(signal, packet, from, cx);
                    None
                }
                _ => Some(DropReason::NotListening),
            },
            RouterInput::Local(_) | RouterInput::Start => None,
            RouterInput::Timer => {
                if self.next <= cx.now() {
                    self.on_timer(cx);
                }
                let now = cx.now();
                for part in self.parts.iter_mut().filter(|part| part.wake() <= now) {
                    part.on_timer(&mut RouterCx::new(cx, &mut self.messages));
                }
                None
            }
        };
        self.send_messages(cx);
        drop
    }

    fn takes(&self, packet: &Packet) -> bool {
        matches!(packet.header, Header::Signal(Signal::Join { .. }))
    }

    #[inline]
    fn on_arrival(&mut self, packet: &Packet, at: &mut TransitCx<'_>) {
        self.parts.iter_mut().for_each(|part| part.on_arrival(packet, at));
    }

    #[inline]
    fn on_enqueue(&mut self, packet: &mut Packet, port: &PortView, at: &mut TransitCx<'_>) {
        self.parts.iter_mut().for_each(|part| part.on_enqueue(packet, port, at));
    }

    #[inline]
    fn wake(&self) -> Time {
        self.parts.iter().fold(self.next, |next, part| next.min(part.wake()))
    }
}
