//! A tree node: a router that forwards by name beside the driver's forwarding by address.
//!
//! A join travels towards a tree node that the name resolution system named, and every router of the name-based network on
//! its way takes it: it adds the asker as a branch and asks on in its own name, until a router is reached that is on the
//! tree. Between two neighbours of the tree there may be routers that know addresses only; copies travel addressed to the
//! next tree node, so such routers need nothing.

use contract::{
    Address, Branch, Count, DropReason, Eid, Entry, FlowId, GroupId, Header, Label, NodeCx, Packet, Passing,
    PortId, PortView, Registration, Report, RouterCx, RouterInput, RouterLaw, Signal, Toward, Word,
};
use units::{Bytes, Duration, Time};

use super::Config;

/// What a router is told of a group beforehand: which of its parts is the group's, and how large its feedback is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupPart {
    /// Index of the scheme's part; `None` where the scheme has none in routers.
    pub part: Option<usize>,
    /// Size of a feedback packet on the wire.
    pub feedback: Bytes,
}

/// A tree node, with the parts that schemes have in it.
pub struct Router<L> {
    config: Config,
    resolver: Address,
    parts: Vec<L>,
    /// By group.
    known: Vec<GroupPart>,
    /// The multicast name forwarding table (MNFT), by group.
    table: Vec<Option<Box<Group>>>,
    /// No deadline of the table comes before.
    next: Time,
    words: Vec<Word>,
}

/// An entry of the table, and what keeps it alive.
#[derive(Debug)]
struct Group {
    gumgid: Eid,
    standing: Standing,
    /// When the present standing wants something.
    due: Time,
    /// How long the present question has waited for its answer.
    wait: Duration,
    /// The tree node above, or the source at the root.
    parent: Option<Address>,
    incoming: Option<PortId>,
    source: Option<Address>,
    /// Cost of the path from the source, as it was when the way up was last chosen; the greatest number before that.
    cost: u64,
    /// Until then only tree nodes that cost less than this one did are joined: what hangs from this node costs more, and
    /// joining it would lead round in a circle. By then whatever hung from it has given up as well.
    guarded_until: Time,
    /// In the order of children's addresses.
    branches: Vec<Branch>,
    held: Vec<Held>,
}

/// What is known of a branch beside where it goes.
#[derive(Clone, Copy, Debug)]
struct Held {
    until: Time,
    accepted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// The name resolution system was asked.
    Resolving,
    /// A join is on its way to the tree node `target`.
    Joining { target: Registration },
    /// On the tree, as long as the parent says so.
    Joined { target: Registration, until: Time },
    /// The source's access router, as long as the source says so.
    Root { until: Time },
}

impl Group {
    fn new(gumgid: Eid) -> Self {
        Self {
            gumgid,
            standing: Standing::Resolving,
            due: Time::NEVER,
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

    fn remove(&mut self, at: usize) {
        self.branches.remove(at);
        self.held.remove(at);
    }
}

impl<L: RouterLaw> Router<L> {
    /// A router with empty tables. `known` has a row for every group of the network.
    pub fn new(config: &Config, resolver: Address, parts: Vec<L>, known: Vec<GroupPart>) -> Self {
        let table = known.iter().map(|_| None).collect();
        Self { config: config.clone(), resolver, parts, known, table, next: Time::NEVER, words: Vec::new() }
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

    /// A group's packet: a copy for each branch, if it came by the interface that the table says.
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

    /// A child's word for the part, or for the parent where there is no part.
    fn on_feedback(&mut self, packet: &Packet, cx: &mut NodeCx<'_, '_>) {
        let id = GroupId(packet.flow.0);
        let Some(group) = self.table.get(id.index()).and_then(Option::as_deref) else {
            return cx.count(Count::Ignored, 1);
        };
        if group.find(packet.source).is_err() {
            return cx.count(Count::Ignored, 1);
        }
        cx.count(Count::Heard, 1);
        let Some(part) = self.known[id.index()].part else {
            if let Some((parent, port)) = group.parent.and_then(|to| Some((to, cx.next(to.node)?))) {
                let mut copy = *packet;
                copy.to = parent.into();
                cx.forward(&copy, port);
            }
            return;
        };
        let entry = Entry { incoming: group.incoming, branches: &group.branches };
        let report =
            Report { group: id, from: packet.source, sent_at: packet.sent_at, label: packet.label, entry };
        self.parts[part].on_report(&report, &mut RouterCx::new(cx, &mut self.words));
    }

    /// Sends what the parts said.
    fn speak(&mut self, cx: &mut NodeCx<'_, '_>) {
        for word in self.words.drain(..) {
            let group = self.table.get(word.group.index()).and_then(Option::as_deref);
            let to = group.and_then(|group| match word.toward {
                Toward::Parent => group.parent,
                Toward::Source => group.source,
            });
            let Some(to) = to else {
                cx.count(Count::Ignored, 1);
                continue;
            };
            cx.count(Count::Feedback, 1);
            let size = self.known[word.group.index()].feedback;
            cx.send_for(FlowId(word.group.0), to.into(), size, Header::Feedback, word.label);
        }
    }

    fn on_signal(&mut self, signal: Signal, packet: &Packet, from: PortId, cx: &mut NodeCx<'_, '_>) {
        let speaker = packet.source;
        match signal {
            Signal::Join { group, gumgid } if self.knows(group) => {
                self.on_join(group, gumgid, speaker, from, cx)
            }
            Signal::Leave { group } => {
                if let Some(entry) = self.entry_mut(group)
                    && let Ok(at) = entry.find(speaker)
                {
                    entry.remove(at);
                    self.prune(group, cx);
                }
            }
            Signal::Publish { group, gumgid } if self.knows(group) => {
                self.on_publish(group, gumgid, speaker, from, cx);
            }
            Signal::Unpublish { group } => {
                if let Some(entry) = self.entry_mut(group)
                    && matches!(entry.standing, Standing::Root { .. })
                    && entry.parent == Some(speaker)
                {
                    self.step_down(group, cx);
                }
            }
            Signal::Resolved { group, count, nodes } => {
                self.on_resolved(group, nodes.iter().take(usize::from(count)), cx);
            }
            Signal::Accepted { group } => self.on_accepted(group, speaker, from, cx),
            Signal::Probe { group, packets } => {
                for index in 0..packets {
                    let header = Header::Signal(Signal::Probed { group, index });
                    cx.count(Count::Signals, 1);
                    cx.send_for(packet.flow, speaker.into(), self.config.probe, header, Label::default());
                }
            }
            _ => cx.count(Count::Ignored, 1),
        }
    }

    fn on_join(&mut self, id: GroupId, gumgid: Eid, child: Address, from: PortId, cx: &mut NodeCx<'_, '_>) {
        let until = cx.now() + self.config.kept();
        let fresh = self.table[id.index()].is_none();
        let group = self.table[id.index()].get_or_insert_with(|| Box::new(Group::new(gumgid)));
        if group.parent == Some(child) {
            // it lost its memory and asks us, who hang from it
            (group.parent, group.incoming) = (None, None);
            group.standing = Standing::Resolving;
            group.due = cx.now();
            group.guarded_until = cx.now() + self.config.kept() * 2;
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
            group.due = cx.now();
        } else if held.accepted {
            self.accept(id, child, from, cx);
        }
        let due = self.table[id.index()].as_deref().map_or(Time::NEVER, |group| group.due);
        self.next = self.next.min(until).min(due);
    }

    fn on_publish(
        &mut self,
        id: GroupId,
        gumgid: Eid,
        source: Address,
        from: PortId,
        cx: &mut NodeCx<'_, '_>,
    ) {
        let until = cx.now() + self.config.kept();
        let cost = cx.cost(source.node).unwrap_or(0);
        let group = self.table[id.index()].get_or_insert_with(|| Box::new(Group::new(gumgid)));
        let was_root = matches!(group.standing, Standing::Root { .. });
        group.standing = Standing::Root { until };
        group.parent = Some(source);
        group.source = Some(source);
        group.incoming = Some(from);
        group.cost = cost;
        if !was_root {
            group.due = cx.now() + self.config.refresh;
            self.register(id, cx);
            self.welcome(id, cx);
        }
        self.next = self.next.min(until).min(cx.now() + self.config.refresh);
        self.accept(id, source, from, cx);
    }

    /// The name resolution system named tree nodes: joins by way of the one that lies best.
    fn on_resolved<'a>(
        &mut self,
        id: GroupId,
        nodes: impl Iterator<Item = &'a Registration>,
        cx: &mut NodeCx<'_, '_>,
    ) {
        let (me, now) = (cx.me(), cx.now());
        let Some(group) = self.entry_mut(id).filter(|group| group.standing == Standing::Resolving) else {
            return;
        };
        let away = |node: &Registration| {
            let feasible = node.cost < group.cost || now >= group.guarded_until;
            let usable = feasible && node.at != me && group.find(node.at).is_err();
            let cost = usable.then(|| cx.cost(node.at.node)).flatten()?;
            // one more, so that costs grow down the tree over links without delay as well
            Some((node.cost.saturating_add(cost).saturating_add(1), cost))
        };
        let best =
            nodes.filter_map(|node| Some((away(node)?, *node))).min_by_key(|(cost, node)| (*cost, node.at));
        let Some(((cost, _), target)) = best else { return };
        group.standing = Standing::Joining { target };
        group.cost = cost;
        group.wait = Duration::ZERO;
        self.ask(id, cx);
    }

    fn on_accepted(&mut self, id: GroupId, above: Address, from: PortId, cx: &mut NodeCx<'_, '_>) {
        let now = cx.now();
        let (refresh, until) = (self.config.refresh, now + self.config.kept());
        let Some(group) = self.entry_mut(id) else { return cx.count(Count::Ignored, 1) };
        let (target, first) = match group.standing {
            Standing::Joining { target } => (target, true),
            Standing::Joined { target, .. } => (target, false),
            Standing::Resolving | Standing::Root { .. } => return cx.count(Count::Ignored, 1),
        };
        if group.find(above).is_ok() {
            // a child that took our join for its own
            return cx.count(Count::Ignored, 1);
        }
        let old = group.parent.replace(above);
        group.incoming = Some(from);
        group.standing = Standing::Joined { target, until };
        group.due = now + refresh;
        group.wait = Duration::ZERO;
        self.next = self.next.min(now + refresh);
        if let Some(old) = old.filter(|old| *old != above) {
            self.say(id, old, Signal::Leave { group: id }, cx);
        }
        if first {
            self.register(id, cx);
            self.welcome(id, cx);
        }
    }

    /// Follows the deadlines of the table.
    fn on_timer(&mut self, cx: &mut NodeCx<'_, '_>) {
        let now = cx.now();
        self.next = Time::NEVER;
        for index in 0..self.table.len() {
            let id = GroupId(index as u32);
            let Some(group) = self.table[index].as_deref_mut() else { continue };
            let before = group.branches.len();
            for at in (0..before).rev().filter(|&at| group.held[at].until <= now).collect::<Vec<_>>() {
                group.remove(at);
            }
            match group.standing {
                Standing::Root { until } if until <= now => self.step_down(id, cx),
                Standing::Joined { until, .. } if until <= now => self.look_again(id, cx),
                _ if group.branches.len() < before => self.prune(id, cx),
                _ => {}
            }
            if self.table[index].as_deref().is_some_and(|group| group.due <= now) {
                self.ask(id, cx);
            }
            let Some(group) = self.table[index].as_deref() else { continue };
            let ends = match group.standing {
                Standing::Root { until } | Standing::Joined { until, .. } => until,
                Standing::Resolving | Standing::Joining { .. } => Time::NEVER,
            };
            let held = group.held.iter().map(|held| held.until).min().unwrap_or(Time::NEVER);
            self.next = self.next.min(group.due).min(ends).min(held);
        }
    }

    /// Says what the standing of the group wants said now.
    fn ask(&mut self, id: GroupId, cx: &mut NodeCx<'_, '_>) {
        let (config, resolver) = (self.config.clone(), self.resolver);
        let (retry, refresh) = (config.retry, config.refresh);
        let Some(group) = self.entry_mut(id) else { return };
        let gumgid = group.gumgid;
        let longer = config.longer(group.wait);
        let (to, signal, wait) = match group.standing {
            Standing::Resolving => (resolver, Signal::Resolve { group: id, gumgid }, longer),
            // no answer: perhaps that tree node is gone, so the name resolution system is asked again
            Standing::Joining { .. } if group.wait > Duration::ZERO => {
                group.standing = Standing::Resolving;
                (resolver, Signal::Resolve { group: id, gumgid }, longer)
            }
            Standing::Joining { target } => (target.at, Signal::Join { group: id, gumgid }, retry),
            Standing::Joined { target, .. } => (target.at, Signal::Join { group: id, gumgid }, refresh),
            Standing::Root { .. } => {
                group.due = cx.now() + refresh;
                self.next = self.next.min(cx.now() + refresh);
                return self.register(id, cx);
            }
        };
        let again = matches!(group.standing, Standing::Joined { .. });
        group.wait = if again { Duration::ZERO } else { wait };
        group.due = cx.now() + wait;
        self.next = self.next.min(cx.now() + wait);
        self.say(id, to, signal, cx);
        if again {
            self.register(id, cx);
        }
    }

    /// Leaves the tree if nobody hangs from this node.
    fn prune(&mut self, id: GroupId, cx: &mut NodeCx<'_, '_>) {
        let Some(group) = self.entry_mut(id) else { return };
        if !group.branches.is_empty() || matches!(group.standing, Standing::Root { .. }) {
            return;
        }
        let (parent, registered, gumgid) = (group.parent, group.on_tree(), group.gumgid);
        self.table[id.index()] = None;
        if let Some(parent) = parent {
            self.say(id, parent, Signal::Leave { group: id }, cx);
        }
        if registered {
            self.say(id, self.resolver, Signal::Withdraw { gumgid }, cx);
        }
    }

    /// The source is gone: this node is the root no longer.
    fn step_down(&mut self, id: GroupId, cx: &mut NodeCx<'_, '_>) {
        let Some(group) = self.entry_mut(id) else { return };
        let gumgid = group.gumgid;
        (group.parent, group.incoming) = (None, None);
        self.say(id, self.resolver, Signal::Withdraw { gumgid }, cx);
        self.look_again(id, cx);
        self.prune(id, cx);
    }

    /// The tree above is gone: asks where it is now.
    fn look_again(&mut self, id: GroupId, cx: &mut NodeCx<'_, '_>) {
        let guarded_until = cx.now() + self.config.kept() * 2;
        let Some(group) = self.entry_mut(id) else { return };
        (group.parent, group.incoming) = (None, None);
        group.standing = Standing::Resolving;
        group.wait = Duration::ZERO;
        group.due = cx.now();
        group.guarded_until = guarded_until;
        self.next = self.next.min(cx.now());
    }

    /// Tells all children that did not hear it that they are on the tree.
    fn welcome(&mut self, id: GroupId, cx: &mut NodeCx<'_, '_>) {
        let Some(group) = self.table[id.index()].as_deref_mut() else { return };
        let branches = group.branches.iter().zip(&mut group.held);
        let waiting: Vec<Branch> = branches
            .filter_map(|(branch, held)| (!std::mem::replace(&mut held.accepted, true)).then_some(*branch))
            .collect();
        waiting.into_iter().for_each(|branch| self.accept(id, branch.child, branch.port, cx));
    }

    /// Tells a neighbour that it is on the tree, by the port that the group's packets will take.
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
        };
        cx.forward(&packet, port);
    }

    fn register(&self, id: GroupId, cx: &mut NodeCx<'_, '_>) {
        let Some(group) = self.table[id.index()].as_deref() else { return };
        let node = Registration { at: cx.me(), cost: group.cost };
        self.say(id, self.resolver, Signal::Register { gumgid: group.gumgid, node }, cx);
    }

    fn say(&self, id: GroupId, to: Address, signal: Signal, cx: &mut NodeCx<'_, '_>) {
        cx.count(Count::Signals, 1);
        cx.send_for(FlowId(id.0), to.into(), self.config.signal, Header::Signal(signal), Label::default());
    }

    fn knows(&self, group: GroupId) -> bool {
        group.index() < self.table.len()
    }

    fn entry_mut(&mut self, group: GroupId) -> Option<&mut Group> {
        self.table.get_mut(group.index())?.as_deref_mut()
    }
}

impl<L: RouterLaw> contract::Router for Router<L> {
    fn handle(&mut self, input: RouterInput<'_>, cx: &mut NodeCx<'_, '_>) -> Option<DropReason> {
        let fate = match input {
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
                    part.on_timer(&mut RouterCx::new(cx, &mut self.words));
                }
                None
            }
        };
        self.speak(cx);
        fate
    }

    fn takes(&self, packet: &Packet) -> bool {
        matches!(packet.header, Header::Signal(Signal::Join { .. }))
    }

    #[inline]
    fn on_arrival(&mut self, packet: &Packet, at: &mut Passing<'_>) {
        self.parts.iter_mut().for_each(|part| part.on_arrival(packet, at));
    }

    #[inline]
    fn on_enqueue(&mut self, packet: &mut Packet, port: &PortView, at: &mut Passing<'_>) {
        self.parts.iter_mut().for_each(|part| part.on_enqueue(packet, port, at));
    }

    #[inline]
    fn wake(&self) -> Time {
        self.parts.iter().fold(self.next, |next, part| next.min(part.wake()))
    }
}
