//! The running network: one agenda, and the path of a packet through it.
//!
//! A packet is handed over by an endpoint, offered to its node's port, arrives at the next node, and so on until it is
//! delivered or dropped. Everything else (what changes, what is recorded) is in the neighbouring files.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use contract::{
    DropReason, Ecn, EndpointId, GroupId, Header, Input, NodeId, Outputs, PacketCx, PacketId, ParamError,
    PortId,
};
use contract::{Endpoint, FlowId, QueueDiscipline};
use units::{Clock, Duration, Time};

use crate::agenda::{Agenda, Kind, What};
use crate::emulation::{ExternalPayloads, Tap};
use crate::node::{HandOver, Nodes};
use crate::peer::Peer;
use crate::port::{Offer, Port, offer_of};
use crate::record::Recorder;
use crate::routing::{Edge, Routes};
use crate::trace::{Balance, Trace};
use crate::tree::Tree;
use crate::{Blueprint, build};

/// What a run tells whoever waits for it, and what it listens to. Shared between threads.
#[derive(Debug, Default)]
pub struct Control {
    /// Simulated nanoseconds reached, brought up to date two thousand times a run.
    pub now_ns: AtomicU64,
    /// Agenda entries handled.
    pub events: AtomicU64,
    /// Set from outside to end the run at the next opportunity.
    pub stop: AtomicBool,
    /// Set from outside to make [`World::run`] return at the next opportunity; called again, it goes on. Cleared by that.
    pub pause: AtomicBool,
}

/// A running network.
pub struct World {
    pub(crate) now: Time,
    pub(crate) agenda: Agenda,
    pub(crate) out: Outputs,
    pub(crate) ports: Vec<Port>,
    pub(crate) peers: Vec<Peer>,
    pub(crate) routes: Routes,
    /// By flow, which is also the group's number; a tree without nodes for unicast flows.
    pub(crate) trees: Vec<Option<Tree>>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) nodes: Nodes,
    /// By node; empty where all clocks are right.
    pub(crate) clocks: Vec<Clock>,
    /// Packets between endpoints and the machine of one node, to be handed over before time goes on.
    pub(crate) local: VecDeque<HandOver>,
    /// When packets were offered to the queues that they stand in, by packet: of queues whose departures somebody looks at.
    pub(crate) offered_at: Vec<Time>,
    /// Producers of named data.
    pub(crate) producers: Vec<EndpointId>,
    pub(crate) flows: Vec<build::FlowState>,
    pub(crate) receivers: Vec<build::ReceiverState>,
    pub(crate) recorder: Recorder,
    pub(crate) blueprint: Blueprint,
    /// Drops by flow and reason.
    pub(crate) flow_drops: Vec<[u64; DropReason::ALL.len()]>,
    pub(crate) balance: Balance,
    pub(crate) hops: u64,
    pub(crate) handled: u64,
    pub(crate) hash: u64,
    pub(crate) finished: bool,
    pub(crate) paused: bool,
    /// It came to the instant up to which it was to run.
    pub(crate) arrived: bool,
    /// Bytes of packets from outside.
    pub(crate) payloads: ExternalPayloads,
    /// Sees what passes the links that are tapped.
    pub(crate) tap: Option<Box<dyn Tap>>,
    /// Packets to be copied along a tree: kept here so that nothing is allocated on the way.
    copies: Vec<PortId>,
    takers: Vec<EndpointId>,
}

/// Longer than any sensible route.
pub(crate) const MAX_HOPS: u8 = 64;

impl World {
    /// Builds the network. Fails where a scheme refuses its parameters.
    pub fn new(blueprint: &Blueprint) -> Result<Self, ParamError> {
        build::world(blueprint)
    }

    pub(crate) fn empty(blueprint: &Blueprint) -> Self {
        Self {
            now: Time::ZERO,
            agenda: Agenda::default(),
            out: Outputs::default(),
            ports: Vec::new(),
            peers: Vec::new(),
            routes: Routes::default(),
            trees: Vec::new(),
            edges: Vec::new(),
            nodes: Nodes::default(),
            clocks: crate::clocks::of(blueprint),
            local: VecDeque::new(),
            offered_at: Vec::new(),
            producers: Vec::new(),
            flows: Vec::new(),
            receivers: Vec::new(),
            recorder: Recorder::default(),
            blueprint: blueprint.clone(),
            flow_drops: vec![Default::default(); blueprint.flows.len()],
            balance: Balance::default(),
            hops: 0,
            handled: 0,
            hash: 0,
            finished: false,
            paused: false,
            arrived: false,
            payloads: ExternalPayloads::default(),
            tap: None,
            copies: Vec::new(),
            takers: Vec::new(),
        }
    }

    /// Runs to the end, or until told to stop or to pause.
    pub fn run(&mut self, control: &Control) {
        if std::mem::take(&mut self.paused) {
            self.finished = false;
        }
        while !self.finished {
            let Some((now, what)) = self.agenda.pop() else { break };
            debug_assert!(now >= self.now, "time does not go backward");
            self.now = now;
            match what.kind() {
                Kind::Arrive => self.on_arrive(what),
                Kind::Wake => self.on_wake(what),
                Kind::Depart => self.on_depart(what),
                Kind::Change => self.on_change(what.index()),
                Kind::ToggleFlow => self.on_toggle_flow(what.index()),
                Kind::ToggleReceiver => self.on_toggle_receiver(what.index()),
                Kind::Sample => self.on_sample(),
                Kind::Run => self.on_run(what.index(), control),
            }
        }
        control.now_ns.store(self.now.as_nanos(), Ordering::Relaxed);
        control.events.store(self.handled, Ordering::Relaxed);
    }

    /// Whether it waits to go on.
    pub fn paused(&self) -> bool {
        self.paused
    }

    /// What the run has left so far; it can go on.
    pub fn snapshot(&mut self) -> Trace {
        let recorded = self.recorder.recorded();
        let trace = self.trace();
        self.recorder.put_back(recorded);
        trace
    }

    /// What the run left, as far as it came.
    ///
    /// Panics when a packet is not accounted for: that is a bug of the simulator, whatever the scenario.
    pub fn finish(mut self) -> Trace {
        let trace = self.trace();
        assert!(
            trace.balance.holds(),
            "every packet is delivered, dropped or in flight: {:?}",
            trace.balance
        );
        trace
    }

    /// Mixes one handled event into the digest of the run.
    #[inline]
    pub(crate) fn digest(&mut self, what: What) {
        self.handled += 1;
        let event = self.now.as_nanos().rotate_left(20) ^ u64::from(what.bits());
        self.hash = (self.hash ^ event).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    #[inline]
    fn on_arrive(&mut self, what: What) {
        let port = &mut self.ports[what.index()];
        let Some(id) = port.take_arrival(self.now) else { return };
        self.agenda.push(port.armed, what);
        let (node, watched) = (port.to, port.watched);
        self.digest(what);
        if watched && self.meets(PortId(what.index() as u32), node, id) {
            return;
        }
        let packet = self.out.arena.get_mut(id);
        packet.hops += 1;
        let (to, hops) = (packet.to, packet.hops);
        if to.node() == Some(node) {
            return self.deliver(id);
        }
        if hops > MAX_HOPS {
            return self.drop(id, DropReason::HopLimit);
        }
        match to.as_group() {
            None => self.forward(node, id),
            Some(group) => self.replicate(node, group, id),
        }
    }

    /// What may befall a packet at the end of a watched wire: it is lost on the way, or the node itself takes it. False when
    /// it goes on as any other.
    #[cold]
    fn meets(&mut self, by: PortId, node: NodeId, id: PacketId) -> bool {
        if self.ports[by.index()].risky && self.is_lost(by, id) {
            return true;
        }
        self.show_arrival(node, by, id)
    }

    /// Whether the wire lost the packet; what it has not lost is shown to who looks on.
    #[cold]
    fn is_lost(&mut self, by: PortId, id: PacketId) -> bool {
        if self.ports[by.index()].loses() {
            self.ports[by.index()].count_drop(DropReason::RandomLoss);
            self.drop(id, DropReason::RandomLoss);
            return true;
        }
        if self.ports[by.index()].cold.tapped {
            self.show_passing(by, id);
        }
        false
    }

    fn on_wake(&mut self, what: What) {
        let Some(peer) = self.peers.get_mut(what.index()) else { return self.on_node_wake(what) };
        if peer.armed != self.now {
            return;
        }
        peer.armed = Time::NEVER;
        if !peer.active || peer.endpoint.wake() > self.now {
            // the deadline moved on since: look again when it comes
            return self.rearm(what.index());
        }
        peer.handle(self.now, Input::Timer, &mut self.out);
        self.digest(what);
        self.after(what.index());
        if !self.local.is_empty() {
            self.hand_over();
        }
    }

    /// Sends what an endpoint put out and asks it when to come back. Inline wherever it is called: left to itself the compiler calls it
    /// from the path of every packet.
    #[inline(always)]
    pub(crate) fn after(&mut self, peer: usize) {
        if !self.out.notes.pending.is_empty() {
            self.recorder.take_notes(self.now, &mut self.out.notes);
        }
        if !self.out.outbox.is_empty() {
            self.send_outbox(peer);
        }
        self.rearm(peer);
    }

    #[inline]
    fn send_outbox(&mut self, peer: usize) {
        let node = self.peers[peer].address.node;
        for i in 0..self.out.outbox.len() {
            let id = self.out.outbox[i];
            let packet = self.out.arena.get(id);
            let (to, size) = (packet.to, packet.size_bytes);
            let peer = &mut self.peers[peer];
            peer.tally.sent_packets += 1;
            peer.tally.sent_bytes += u64::from(size);
            self.balance.sent += 1;
            match to.as_group() {
                None => self.forward(node, id),
                Some(group) => self.replicate(node, group, id),
            }
        }
        self.out.outbox.clear();
    }

    #[inline]
    fn rearm(&mut self, index: usize) {
        let peer = &mut self.peers[index];
        let wake = peer.endpoint.wake().max(self.now);
        if wake < peer.armed && peer.active {
            peer.armed = wake;
            self.agenda.push(wake, What::new(Kind::Wake, index as u32));
        }
    }

    /// Offers a packet to the port on its way.
    #[inline]
    pub(crate) fn forward(&mut self, node: NodeId, id: PacketId) {
        let packet = self.out.arena.get(id);
        let (to, flow) = (packet.to.node(), packet.flow);
        match to.and_then(|to| self.routes.next(node, to, flow)) {
            Some(port) => self.offer(port, id),
            None => self.stay(node, id),
        }
    }

    #[inline]
    pub(crate) fn offer(&mut self, port: PortId, id: PacketId) {
        let packet = self.out.arena.get_mut(id);
        let queue = &mut self.ports[port.index()];
        if !queue.plain {
            return self.offer_elsewhere(port, id);
        }
        let mut mark = false;
        let offer = queue.offer(self.now, id, packet.size_bytes, &mut mark);
        if mark && packet.ecn == Ecn::Capable {
            packet.ecn = Ecn::Marked;
            queue.count_mark();
        }
        self.act(port, id, offer);
    }

    #[inline]
    fn act(&mut self, port: PortId, id: PacketId, offer: Offer) {
        match offer {
            Offer::Accepted => self.hops += 1,
            Offer::Arrive(at) => {
                self.hops += 1;
                self.agenda.push(at, What::new(Kind::Arrive, port.0));
            }
            Offer::Depart(at) => self.agenda.push(at, What::new(Kind::Depart, port.0)),
            Offer::Dropped(why) => self.drop(id, why),
        }
    }

    /// The path through a port that is down, that a router looks at, or whose queue decides at each departure.
    #[cold]
    fn offer_elsewhere(&mut self, port: PortId, id: PacketId) {
        if self.ports[port.index()].cold.looked_at {
            self.show_enqueue(port, id);
        }
        let departures = self.ports[port.index()].cold.departures.is_some();
        if departures {
            self.note_offer(id);
        }
        let queue = &mut self.ports[port.index()];
        if queue.up && queue.discipline.is_none() {
            // the router has looked: for this packet the port is as any other. One body of `offer` is all that stays inline.
            queue.plain = true;
            let before = queue.ring.len();
            self.offer(port, id);
            self.ports[port.index()].plain = false;
            if departures {
                self.after_offer(port, before);
            }
            return;
        }
        queue.count_offer();
        if !queue.up {
            let offer = queue.refuse(DropReason::LinkDown);
            return self.act(port, id, offer);
        }
        self.count_backlog(port);
        let (offer, mark) = self.with_discipline(port, |queue, cx| offer_of(queue.enqueue(id, cx)));
        if mark {
            self.out.arena.get_mut(id).ecn = Ecn::Marked;
            self.ports[port.index()].count_mark();
        }
        if let Offer::Dropped(why) = offer {
            self.ports[port.index()].count_drop(why);
            self.drop(id, why);
        }
        self.serve(port);
    }

    /// Starts the next transmission of a port with a discipline, if it is idle.
    pub(crate) fn serve(&mut self, port: PortId) {
        if !self.ports[port.index()].idle() {
            return;
        }
        self.count_backlog(port);
        if let Some(id) = self.with_discipline(port, |queue, cx| queue.dequeue(cx)) {
            let size = self.out.arena.get(id).size_bytes;
            let depart = self.ports[port.index()].serve(self.now, id, size);
            self.agenda.push(depart, What::new(Kind::Depart, port.0));
            if self.ports[port.index()].cold.departures.is_some() {
                self.show_dequeue(port, id);
            }
        }
    }

    fn on_depart(&mut self, what: What) {
        let port = PortId(what.index() as u32);
        if self.ports[port.index()].discipline.is_none() {
            return self.on_shown_departure(what);
        }
        let Some(offer) = self.ports[port.index()].finish_serving(self.now) else { return };
        self.digest(what);
        self.hops += 1;
        if let Offer::Arrive(at) = offer {
            self.agenda.push(at, What::new(Kind::Arrive, port.0));
        }
        self.serve(port);
    }

    fn with_discipline<T>(
        &mut self,
        port: PortId,
        act: impl FnOnce(&mut stack::queue::Any, &mut PacketCx<'_>) -> T,
    ) -> T {
        let discipline = self.ports[port.index()].discipline.as_mut().expect("the port has a discipline");
        let mut cx = PacketCx {
            now: self.now,
            random: &mut discipline.random,
            arena: &mut self.out.arena,
            dropped: &mut discipline.dropped,
            marked: 0,
        };
        let result = act(&mut discipline.queue, &mut cx);
        let (marked, dropped) = (cx.marked, std::mem::take(&mut discipline.dropped));
        self.ports[port.index()].count_marks(marked);
        for (id, why) in dropped {
            self.ports[port.index()].count_drop(why);
            self.drop(id, why);
        }
        result
    }

    /// Accounts for the time that a discipline's backlog has stood.
    pub(crate) fn count_backlog(&mut self, port: PortId) {
        let now = self.now;
        let port = &mut self.ports[port.index()];
        if let Some(discipline) = port.discipline.as_mut() {
            let (since, backlog) =
                (std::mem::replace(&mut discipline.counted_to, now), discipline.queue.backlog());
            port.count_backlog(now - since, backlog);
        }
    }

    /// Sends copies of a group's packet along the tree and to the members at `node`.
    pub(crate) fn replicate(&mut self, node: NodeId, group: GroupId, id: PacketId) {
        let Some(tree) = self.trees[group.index()].as_ref() else {
            return self.drop(id, DropReason::NoRoute);
        };
        let here = tree.at(node);
        self.copies.clear();
        self.copies.extend_from_slice(&here.branches);
        let members = here.members.len();
        match (self.copies.len(), members) {
            (0, 0) => return self.drop(id, DropReason::NotListening),
            (0, 1) => {
                let member = here.members[0];
                return self.deliver_to(member, id);
            }
            _ => {}
        }
        self.takers.clear();
        self.takers.extend_from_slice(&here.members);
        let packet = *self.out.arena.get(id);
        let more = self.copies.len() + members - 1;
        self.balance.copied += more as u64;
        if let Header::External(payload) = packet.header {
            self.payloads.share(payload, more);
        }
        // the packet itself goes to the first taker, a copy to each other one
        let mut first = Some(id);
        for i in 0..self.copies.len() {
            let id = first.take().unwrap_or_else(|| self.out.arena.insert(packet));
            self.offer(self.copies[i], id);
        }
        let takers = std::mem::take(&mut self.takers);
        for &member in &takers {
            let id = first.take().unwrap_or_else(|| self.out.arena.insert(packet));
            self.deliver_to(member, id);
        }
        self.takers = takers;
    }

    #[inline]
    fn deliver(&mut self, id: PacketId) {
        let packet = self.out.arena.get(id);
        match packet.to.endpoint() {
            Some(peer) => self.deliver_to(peer, id),
            None => self.drop(id, DropReason::NotListening),
        }
    }

    #[inline]
    fn deliver_to(&mut self, peer: EndpointId, id: PacketId) {
        let packet = *self.out.arena.get(id);
        let taker = &mut self.peers[peer.index()];
        if !taker.active || packet.sent_at < taker.screen {
            return self.deliver_by_clock(peer, id);
        }
        self.out.arena.release(id);
        self.balance.delivered += 1;
        taker.count_arrival(self.now, &packet, packet.sent_at);
        taker.handle(self.now, Input::Packet(&packet), &mut self.out);
        self.after(peer.index());
    }

    /// Where clocks are not right a packet's time stamp has to be read; where they are the packet comes too late.
    #[cold]
    fn deliver_by_clock(&mut self, peer: EndpointId, id: PacketId) {
        let packet = *self.out.arena.get(id);
        let taker = &mut self.peers[peer.index()];
        let sent = self.clocks.get(packet.source.node.index()).filter(|_| taker.active);
        // by the sender's clock, since one that is slow may show two instants alike
        let Some(clock) = sent.filter(|clock| packet.sent_at >= clock.shows(taker.epoch)) else {
            return self.drop(id, DropReason::NotListening);
        };
        self.out.arena.release(id);
        self.balance.delivered += 1;
        taker.count_arrival(self.now, &packet, clock.first(packet.sent_at));
        taker.handle(self.now, Input::Packet(&packet), &mut self.out);
        self.after(peer.index());
    }

    /// The end of a packet, with its reason.
    #[cold]
    pub(crate) fn drop(&mut self, id: PacketId, why: DropReason) {
        let packet = self.out.arena.get(id);
        let flow = packet.flow;
        if let Header::External(payload) = packet.header {
            self.payloads.release(payload);
        }
        // control messages are of no flow
        if let Some(drops) = self.flow_drops.get_mut(flow.index()) {
            drops[why as usize] += 1;
        }
        self.balance.dropped += 1;
        self.out.arena.release(id);
    }

    /// The run's own events: its end, the end of the warm-up, and progress.
    fn on_run(&mut self, index: usize, control: &Control) {
        match index {
            build::RUN_END => {
                self.sample_at_end();
                self.finished = true;
            }
            build::RUN_WARM => self.rebase(),
            build::RUN_UNTIL => (self.arrived, self.finished) = (true, true),
            _ => {
                control.now_ns.store(self.now.as_nanos(), Ordering::Relaxed);
                control.events.store(self.handled, Ordering::Relaxed);
                let stopped = control.stop.load(Ordering::Relaxed);
                self.paused = control.pause.swap(false, Ordering::Relaxed) && !stopped;
                self.finished = stopped || self.paused;
                let step = Duration::from_nanos((self.blueprint.duration.as_nanos() / PROGRESS_STEPS).max(1));
                self.agenda.push(self.now + step, What::new(Kind::Run, build::RUN_PROGRESS as u32));
            }
        }
    }

    /// The endpoint that sends a flow.
    pub(crate) fn sender_of(&self, flow: FlowId) -> usize {
        self.flows[flow.index()].sender.index()
    }
}

const PROGRESS_STEPS: u64 = 2000;
