//! The running network (discrete-event simulation): one event loop, and the path of a packet through the network.
//!
//! [`World`] joins four parts that own their state and methods: the [`Fabric`] (ports, routes, multicast trees), the [`Hosts`] (endpoints, state
//! machines of nodes, clocks, flows), the [`Accounts`] (counters, digest, recorder) and [`External`] (payloads of real programs, capture). An
//! endpoint outputs a packet, which enters the queue of its node's port and arrives at the next node, and so on until it is delivered or dropped.
//! Changes during a run are in `changes.rs`, commands of a controller in `orders.rs`, emulation in `emulation.rs`.

mod changes;
mod emulation;
mod orders;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use contract::{
    DropReason, Ecn, EndpointId, GroupId, Header, Input, NodeId, Outputs, PacketId, ParamError, PortId,
    QueueDiscipline, RouterInput,
};
use contract::{Endpoint, FlowId};
use units::{Duration, Time};

pub use emulation::{ExternalPayloads, Observers, Tap};

use self::emulation::External;
use crate::accounts::{Accounts, Recorded};
use crate::agenda::{Agenda, Kind, What};
use crate::build::Parts;
use crate::fabric::{Departure, Fabric, Offer, offer_of, reverse};
use crate::hosts::{Hosts, LocalDelivery};
use crate::trace::{Subject, Trace};
use crate::{Blueprint, build};

/// Progress and control of a run, shared between threads.
#[derive(Debug, Default)]
pub struct Control {
    /// Simulated nanoseconds, updated two thousand times per run.
    pub now_ns: AtomicU64,
    /// Agenda entries handled.
    pub events: AtomicU64,
    /// Set by another thread to end the run at the next check.
    pub stop: AtomicBool,
    /// Set by another thread to make [`World::run`] return at the next check, which clears it. The next call of `run` continues.
    pub pause: AtomicBool,
}

/// A running network. It performs no I/O and reads no clock.
///
/// # How it is driven
///
/// 1. Build it: [`World::new`]. Before the first step, replace what is not built in ([`World::custom_sender`],
///    [`World::custom_receiver`], [`World::custom_link`]) and attach a capture ([`World::tap`]).
/// 2. *In virtual time*, call [`World::run`]: it handles every event up to the end. When it returns early because of [`Control::pause`],
///    [`World::paused`] is true; take a [`World::snapshot`] if needed and call `run` again.
/// 3. *In real time* (emulation), repeat:
///    - poll [`World::next_event`] for the deadline, and wait for it or for a packet of a program;
///    - call [`World::run_until`] with the present instant **before any other input**, so that what was due is handled first; it
///      returns true when the run is over;
///    - inputs at the present instant: [`World::inject_external`] (a program's packet), [`World::inject`] (a packet of an endpoint that
///      runs elsewhere), [`World::report_for`] and [`World::add_meter`] (what that endpoint counted);
///    - drain [`World::take_egress`] after every step and every input, and release the payload of each packet taken
///      ([`World::external_payloads`]).
/// 4. Call [`World::finish`] for the [`Trace`].
///
/// The same blueprint driven the same way gives the same trace, to the last bit.
pub struct World {
    now: Time,
    agenda: Agenda,
    phase: Phase,
    blueprint: Blueprint,
    /// Packets, and the outputs of the state machine that ran last.
    out: Outputs,
    fabric: Fabric,
    hosts: Hosts,
    accounts: Accounts,
    external: External,
}

/// The phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    /// Paused.
    Paused,
    Ended,
}

/// Why the event loop returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// The run reached its end, or was stopped.
    Ended,
    Paused,
    /// The given instant was reached.
    Reached,
    /// There are no more events.
    Exhausted,
}

/// More hops than any route has.
const MAX_HOPS: u8 = 64;

impl World {
    /// Builds the network. Fails if the blueprint is inconsistent or a scheme rejects its parameters.
    pub fn new(blueprint: &Blueprint) -> Result<Self, ParamError> {
        let Parts { fabric, hosts, accounts, agenda, out } = build::parts(blueprint)?;
        let mut world = Self {
            now: Time::ZERO,
            agenda,
            phase: Phase::Running,
            blueprint: blueprint.clone(),
            out,
            fabric,
            hosts,
            accounts,
            external: External::default(),
        };
        world.start_nodes();
        Ok(world)
    }

    /// Runs to the end, or until [`Control`] stops or pauses it.
    pub fn run(&mut self, control: &Control) {
        self.proceed(control);
    }

    /// Continues, unless the run has ended.
    fn proceed(&mut self, control: &Control) -> Stop {
        let stop = if self.phase == Phase::Ended { Stop::Ended } else { self.handle_events(control) };
        self.phase = match stop {
            Stop::Ended => Phase::Ended,
            Stop::Paused => Phase::Paused,
            Stop::Reached | Stop::Exhausted => Phase::Running,
        };
        control.now_ns.store(self.now.as_nanos(), Ordering::Relaxed);
        control.events.store(self.accounts.events_handled(), Ordering::Relaxed);
        stop
    }

    /// The event loop.
    fn handle_events(&mut self, control: &Control) -> Stop {
        while let Some((now, what)) = self.agenda.pop() {
            debug_assert!(now >= self.now, "time does not go backward");
            self.now = now;
            match what.kind() {
                Kind::Arrive => self.on_arrive(what),
                Kind::Wake => self.on_wake(what),
                Kind::Depart => self.on_depart(what),
                Kind::Change => self.on_change(what.index()),
                Kind::ToggleFlow => self.on_toggle_flow(FlowId(what.index() as u32)),
                Kind::ToggleReceiver => self.on_toggle_receiver(what.index()),
                Kind::Sample => self.on_sample(),
                Kind::Run => {
                    if let Some(stop) = self.on_run(what.index(), control) {
                        return stop;
                    }
                }
            }
        }
        Stop::Exhausted
    }

    /// Whether the run is paused.
    pub fn paused(&self) -> bool {
        self.phase == Phase::Paused
    }

    /// The trace up to now; the run can continue.
    pub fn snapshot(&mut self) -> Trace {
        let recorded = self.accounts.recorded();
        self.trace(recorded)
    }

    /// The trace of the run, which may have been stopped early.
    ///
    /// Panics if a packet is not accounted for, which is a bug of the simulator.
    pub fn finish(mut self) -> Trace {
        let recorded = self.accounts.take_recorded();
        let trace = self.trace(recorded);
        assert!(
            trace.balance.holds(),
            "every packet is delivered, dropped or in flight: {:?}",
            trace.balance
        );
        trace
    }

    fn trace(&mut self, recorded: Recorded) -> Trace {
        let in_flight = self.out.arena.live() as u64;
        self.accounts.trace(recorded, self.now, in_flight, &mut self.fabric, &self.hosts, &self.blueprint)
    }

    // ---- the path of a packet

    #[inline]
    fn on_arrive(&mut self, what: What) {
        let port = PortId(what.index() as u32);
        let Some(arrival) = self.fabric.arrive(port, self.now) else { return };
        self.agenda.push(arrival.next, what);
        self.accounts.count_event(self.now, what);
        let (id, node) = (arrival.packet, arrival.node);
        if arrival.slow_path && self.arrive_slowly(port, node, id) {
            return;
        }
        let packet = self.out.arena.get_mut(id);
        packet.hops += 1;
        let (to, hops) = (packet.to, packet.hops);
        if to.node() == Some(node) {
            return self.deliver(node, id);
        }
        if hops > MAX_HOPS {
            return self.drop(id, DropReason::HopLimit, Subject::Node(node));
        }
        match to.as_group() {
            None => self.forward(node, id),
            Some(group) => self.replicate(node, group, id),
        }
    }

    /// The slow path of an arrival: the link may lose the packet, it may be captured, or the node's state machine may take it. Returns
    /// false if it continues as on the fast path.
    #[cold]
    fn arrive_slowly(&mut self, by: PortId, node: NodeId, id: PacketId) -> bool {
        let port = self.fabric.port(by);
        if port.is_lossy_or_tapped() {
            if port.loses() {
                self.drop(id, DropReason::RandomLoss, Subject::Port(by));
                return true;
            }
            if port.is_tapped() {
                self.external.capture(self.now, by, self.out.arena.get(id));
            }
        }
        self.arrive_at_node(node, by, id)
    }

    /// Shows an arriving packet to its node. Returns true if the node took it.
    fn arrive_at_node(&mut self, node: NodeId, by: PortId, id: PacketId) -> bool {
        let Some(index) = self.hosts.nodes.at(node) else { return false };
        let packet = self.out.arena.get_mut(id);
        let own = reverse(by);
        if !self.hosts.nodes.observe_arrival(index, packet, own, self.now) {
            self.hosts.nodes.rearm(index, self.now, &mut self.agenda);
            return false;
        }
        packet.hops += 1;
        if packet.hops > MAX_HOPS {
            // while routes change, a tree may have a loop
            self.drop(id, DropReason::HopLimit, Subject::Node(node));
            self.hosts.nodes.rearm(index, self.now, &mut self.agenda);
            return true;
        }
        let packet = *packet;
        let fate = self.run_node(index, RouterInput::Packet(&packet, own));
        self.consume(id, fate, node);
        self.after_node(index);
        self.deliver_local();
        true
    }

    /// Offers a packet to the port of its route.
    #[inline]
    fn forward(&mut self, node: NodeId, id: PacketId) {
        let packet = self.out.arena.get(id);
        let (to, flow) = (packet.to.node(), packet.flow);
        match to.and_then(|to| self.fabric.next_hop(node, to, flow)) {
            Some(port) => self.offer(port, id),
            None => self.keep(node, id),
        }
    }

    /// Handles a packet without a next hop from `node`: gives it to the state machine of the node, or drops it.
    #[cold]
    fn keep(&mut self, node: NodeId, id: PacketId) {
        match self.hosts.nodes.at(node).filter(|_| self.out.arena.get(id).to.is_own_node()) {
            Some(index) => self.hosts.local.push_back(LocalDelivery::ToNode(index, id)),
            None => self.drop(id, DropReason::NoRoute, Subject::Node(node)),
        }
    }

    #[inline]
    fn offer(&mut self, port: PortId, id: PacketId) {
        if !self.fabric.port(port).takes_fast_path() {
            return self.offer_slowly(port, id);
        }
        let offer = self.fabric.enqueue(port, id, self.out.arena.get_mut(id), self.now);
        self.act(port, id, offer);
    }

    #[inline]
    fn act(&mut self, port: PortId, id: PacketId, offer: Offer) {
        match offer {
            Offer::Accepted => self.accounts.count_hop(),
            Offer::Arrive(at) => {
                self.accounts.count_hop();
                self.agenda.push(at, What::new(Kind::Arrive, port.0));
            }
            Offer::Depart(at) => self.agenda.push(at, What::new(Kind::Depart, port.0)),
            Offer::Dropped(why) => self.drop(id, why, Subject::Port(port)),
        }
    }

    /// The slow path of an offer: the port is down, is observed by the node's state machine, or has a queue discipline.
    #[cold]
    fn offer_slowly(&mut self, id_of_port: PortId, id: PacketId) {
        let now = self.now;
        let port = self.fabric.port(id_of_port);
        let (observes_departures, is_up, is_fifo) =
            (port.observes_departures(), port.is_up(), port.is_fifo());
        if port.observes_offers() {
            let packet = self.out.arena.get_mut(id);
            self.hosts.nodes.observe_offer(id_of_port, packet, now, &mut self.fabric, &mut self.agenda);
        }
        if observes_departures {
            self.fabric.note_enqueue(id, now);
        }
        if is_up && is_fifo {
            let offer = self.fabric.enqueue_observed(id_of_port, id, self.out.arena.get_mut(id), now);
            self.act(id_of_port, id, offer);
            if observes_departures {
                self.show_departures(id_of_port);
            }
            return;
        }
        let port = self.fabric.port(id_of_port);
        port.count_offer();
        if !is_up {
            let offer = port.refuse(DropReason::LinkDown);
            return self.act(id_of_port, id, offer);
        }
        let (offer, mark) = self.with_discipline(id_of_port, |queue, cx| offer_of(queue.enqueue(id, cx)));
        if mark {
            self.out.arena.get_mut(id).ecn = Ecn::Marked;
            self.fabric.port(id_of_port).count_marks(1);
        }
        if let Offer::Dropped(why) = offer {
            self.fabric.port(id_of_port).count_drop(why);
            self.drop(id, why, Subject::Port(id_of_port));
        }
        self.serve(id_of_port);
    }

    /// Starts the next transmission of an idle port with a discipline.
    fn serve(&mut self, port: PortId) {
        if !self.fabric.port(port).idle() {
            return;
        }
        if let Some(id) = self.with_discipline(port, |queue, cx| queue.dequeue(cx)) {
            let size = self.out.arena.get(id).size_bytes;
            let depart = self.fabric.port(port).serve(self.now, id, size);
            self.agenda.push(depart, What::new(Kind::Depart, port.0));
            if self.fabric.port(port).observes_departures() {
                self.show_departure(port, id);
            }
        }
    }

    /// Calls `act` with the queue discipline of a port, and drops the packets that it drops.
    fn with_discipline<T>(
        &mut self,
        port: PortId,
        act: impl FnOnce(&mut stack::queue::AnyQueue, &mut contract::PacketCx<'_>) -> T,
    ) -> T {
        let (result, dropped) = self.fabric.with_discipline(port, self.now, &mut self.out.arena, act);
        for (id, why) in dropped {
            self.drop(id, why, Subject::Port(port));
        }
        result
    }

    /// Handles the end of a transmission at a port with a discipline, or the start of one at an observed FIFO.
    fn on_depart(&mut self, what: What) {
        let id = PortId(what.index() as u32);
        let port = self.fabric.port(id);
        if port.is_fifo() {
            if port.departure_due(self.now) {
                self.accounts.count_event(self.now, what);
                self.show_departures(id);
            }
            return;
        }
        let Some(offer) = port.finish_serving(self.now) else { return };
        self.accounts.count_event(self.now, what);
        self.accounts.count_hop();
        if let Offer::Arrive(at) = offer {
            self.agenda.push(at, What::new(Kind::Arrive, id.0));
        }
        self.serve(id);
    }

    /// Reports started transmissions of an observed FIFO, and schedules an event at the next start. No effect at other ports.
    fn show_departures(&mut self, port: PortId) {
        loop {
            match self.fabric.port(port).next_departure(self.now) {
                Departure::Show(id) => self.show_departure(port, id),
                Departure::Wait(start) => {
                    return self.agenda.push(start, What::new(Kind::Depart, port.0));
                }
                Departure::Done => return,
            }
        }
    }

    /// Shows a packet that leaves a queue to the node of the queue.
    fn show_departure(&mut self, port: PortId, id: PacketId) {
        let waited = self.fabric.waited(id, self.now);
        let packet = self.out.arena.get_mut(id);
        let before = packet.ecn;
        let Self { now, fabric, hosts, agenda, .. } = self;
        hosts.nodes.observe_departure(port, packet, waited, *now, fabric, agenda);
        if before != packet.ecn && packet.ecn == Ecn::Marked {
            fabric.port(port).count_marks(1);
        }
    }

    /// Sends copies of a group's packet along the tree and to the members at `node`. The tree does not change meanwhile, because joins and
    /// leaves are separate events.
    fn replicate(&mut self, node: NodeId, group: GroupId, id: PacketId) {
        let Some(here) = self.fabric.tree_at(group, node) else {
            return self.drop(id, DropReason::NoRoute, Subject::Node(node));
        };
        let (branches, members) = (here.branches.len(), here.members.len());
        match (branches, members) {
            (0, 0) => return self.drop(id, DropReason::NotListening, Subject::Node(node)),
            (0, 1) => {
                let member = here.members[0];
                return self.deliver_to(member, id);
            }
            _ => {}
        }
        let packet = *self.out.arena.get(id);
        let more = branches + members - 1;
        self.accounts.count_copied(more as u64);
        if let Header::External(payload) = packet.header {
            self.external.payloads.share(payload, more);
        }
        // the first of them gets the packet itself, each other one a copy
        let mut first = Some(id);
        for i in 0..branches {
            let id = first.take().unwrap_or_else(|| self.out.arena.insert(packet));
            let Some(here) = self.fabric.tree_at(group, node) else { break };
            let branch = here.branches[i];
            self.offer(branch, id);
        }
        for i in 0..members {
            let id = first.take().unwrap_or_else(|| self.out.arena.insert(packet));
            let Some(here) = self.fabric.tree_at(group, node) else { break };
            let member = here.members[i];
            self.deliver_to(member, id);
        }
    }

    #[inline]
    fn deliver(&mut self, node: NodeId, id: PacketId) {
        let packet = self.out.arena.get(id);
        match packet.to.endpoint() {
            Some(endpoint) => self.deliver_to(endpoint, id),
            None => self.drop(id, DropReason::NotListening, Subject::Node(node)),
        }
    }

    #[inline]
    fn deliver_to(&mut self, endpoint: EndpointId, id: PacketId) {
        let packet = *self.out.arena.get(id);
        let state = self.hosts.endpoint(endpoint);
        if !state.active || packet.sent_at < state.screen {
            return self.deliver_by_clock(endpoint, id);
        }
        self.out.arena.release(id);
        self.accounts.count_delivered();
        state.count_arrival(self.now, &packet, packet.sent_at);
        state.handle(self.now, Input::Packet(&packet), &mut self.out);
        self.after(endpoint);
    }

    /// Delivers a packet on the slow path: with inexact clocks its time stamp is converted; otherwise it is too late.
    #[cold]
    fn deliver_by_clock(&mut self, endpoint: EndpointId, id: PacketId) {
        let packet = *self.out.arena.get(id);
        let clock = self.hosts.clocks.of(packet.source.node);
        let state = self.hosts.endpoint(endpoint);
        let node = state.address.node;
        let clock = clock.filter(|_| state.active);
        // by the sender's clock, because a slow clock may show two instants as equal
        let Some(clock) = clock.filter(|clock| packet.sent_at >= clock.shows(state.epoch)) else {
            return self.drop(id, DropReason::NotListening, Subject::Node(node));
        };
        self.out.arena.release(id);
        self.accounts.count_delivered();
        state.count_arrival(self.now, &packet, clock.first(packet.sent_at));
        state.handle(self.now, Input::Packet(&packet), &mut self.out);
        self.after(endpoint);
    }

    /// Drops a packet with its reason, at a port or a node, and counts it for its flow. Drops at a port are also counted there, by
    /// `Port::count_drop`.
    #[cold]
    fn drop(&mut self, id: PacketId, why: DropReason, place: Subject) {
        let packet = self.out.arena.get(id);
        let flow = packet.flow;
        if let Header::External(payload) = packet.header {
            self.external.payloads.release(payload);
        }
        self.accounts.count_dropped(flow, why);
        if self.blueprint.record.drops {
            self.accounts.record_drop(self.now, place, flow, why);
        }
        self.out.arena.release(id);
    }

    // ---- endpoints

    fn on_wake(&mut self, what: What) {
        let Some(state) = self.hosts.woken(what) else { return self.on_node_wake(what) };
        if state.armed != self.now {
            return;
        }
        state.armed = Time::NEVER;
        let endpoint = EndpointId(what.index() as u32);
        if !state.active || state.endpoint.wake() > self.now {
            // the deadline moved since: it is checked when it comes
            return self.hosts.rearm(endpoint, self.now, &mut self.agenda);
        }
        state.handle(self.now, Input::Timer, &mut self.out);
        self.accounts.count_event(self.now, what);
        self.after(endpoint);
        if !self.hosts.local.is_empty() {
            self.deliver_local();
        }
    }

    /// Sends the outputs of an endpoint and schedules its next wake. It is inlined everywhere, because a call costs time in the path of
    /// every packet.
    #[inline(always)]
    fn after(&mut self, endpoint: EndpointId) {
        self.accounts.take_notes(self.now, &mut self.out.notes);
        if !self.out.outbox.is_empty() {
            self.send_outbox(endpoint);
        }
        self.hosts.rearm(endpoint, self.now, &mut self.agenda);
    }

    #[inline]
    fn send_outbox(&mut self, endpoint: EndpointId) {
        let node = self.hosts.endpoint(endpoint).address.node;
        for i in 0..self.out.outbox.len() {
            let id = self.out.outbox[i];
            let packet = self.out.arena.get(id);
            let (to, size) = (packet.to, packet.size_bytes);
            self.hosts.endpoint(endpoint).count_sent(size);
            self.accounts.count_sent();
            match to.as_group() {
                None => self.forward(node, id),
                Some(group) => self.replicate(node, group, id),
            }
        }
        self.out.outbox.clear();
    }

    // ---- state machines of nodes

    /// Starts the state machines of all nodes and the producers of named data.
    fn start_nodes(&mut self) {
        for index in 0..self.hosts.nodes.len() {
            self.start_node(index);
        }
        for producer in self.hosts.producers.clone() {
            self.activate(producer);
        }
    }

    fn start_node(&mut self, index: usize) {
        self.run_node(index, RouterInput::Start);
        self.after_node(index);
    }

    #[inline]
    fn run_node(&mut self, index: usize, input: RouterInput<'_>) -> Option<DropReason> {
        self.hosts.nodes.run(index, input, self.now, &mut self.fabric, &mut self.out)
    }

    /// Handles the `Wake` of a node.
    #[cold]
    fn on_node_wake(&mut self, what: What) {
        let Some(index) = self.hosts.nodes.woken(what, self.now) else { return };
        if self.hosts.nodes.get(index).wake() > self.now {
            return self.hosts.nodes.rearm(index, self.now, &mut self.agenda);
        }
        self.run_node(index, RouterInput::Timer);
        self.accounts.count_event(self.now, what);
        self.after_node(index);
        self.deliver_local();
    }

    /// Sends the outputs of a node and schedules its next wake.
    fn after_node(&mut self, index: usize) {
        self.accounts.take_notes(self.now, &mut self.out.notes);
        for i in 0..self.out.forwards.len() {
            let (id, port) = self.out.forwards[i];
            // packets of the node itself may have a given port, too
            if self.hosts.nodes.get_mut(index).count_forward(self.out.arena.get(id)) {
                self.accounts.count_sent();
            } else {
                self.accounts.count_copied(1);
            }
            self.offer(port, id);
        }
        self.out.forwards.clear();
        for i in 0..self.out.deliveries.len() {
            let (id, endpoint) = self.out.deliveries[i];
            self.accounts.count_copied(1);
            self.hosts.local.push_back(LocalDelivery::ToEndpoint(endpoint, id));
        }
        self.out.deliveries.clear();
        let node = self.hosts.nodes.get(index).address.node;
        for i in 0..self.out.outbox.len() {
            let id = self.out.outbox[i];
            self.hosts.nodes.get_mut(index).count_sent(self.out.arena.get(id));
            self.accounts.count_sent();
            self.forward(node, id);
        }
        self.out.outbox.clear();
        if !self.out.orders.is_empty() {
            self.execute_orders(index);
        }
        self.hosts.nodes.rearm(index, self.now, &mut self.agenda);
    }

    /// Delivers packets between endpoints and the state machine of the same node, until there are none.
    fn deliver_local(&mut self) {
        while let Some(next) = self.hosts.local.pop_front() {
            match next {
                LocalDelivery::ToNode(index, id) => {
                    let packet = *self.out.arena.get(id);
                    let fate = self.run_node(index, RouterInput::Local(&packet));
                    let node = self.hosts.nodes.get(index).address.node;
                    self.consume(id, fate, node);
                    self.after_node(index);
                }
                LocalDelivery::ToEndpoint(endpoint, id) => self.deliver_from_node(endpoint, id),
            }
        }
    }

    fn deliver_from_node(&mut self, endpoint: EndpointId, id: PacketId) {
        let node = self.hosts.address(endpoint).node;
        if !self.hosts.is_active(endpoint) {
            return self.drop(id, DropReason::NotListening, Subject::Node(node));
        }
        let packet = *self.out.arena.get(id);
        self.consume(id, None, node);
        let sent_at = self.hosts.clocks.true_time(packet.source.node, packet.sent_at);
        let state = self.hosts.endpoint(endpoint);
        state.count_arrival(self.now, &packet, sent_at);
        if matches!(packet.header, Header::Nack(_)) {
            state.tally.refused_bytes += u64::from(packet.size_bytes);
        }
        state.handle(self.now, Input::Packet(&packet), &mut self.out);
        self.after(endpoint);
    }

    /// Accounts for a packet that a state machine took, or drops it with the returned reason.
    #[inline]
    fn consume(&mut self, id: PacketId, fate: Option<DropReason>, node: NodeId) {
        match fate {
            Some(why) => self.drop(id, why, Subject::Node(node)),
            None => {
                self.out.arena.release(id);
                self.accounts.count_delivered();
            }
        }
    }

    // ---- the run

    /// Handles the run's own events: its end, the end of the warm-up, and progress.
    fn on_run(&mut self, index: usize, control: &Control) -> Option<Stop> {
        match index {
            build::RUN_END => {
                // the sample at the end of the run, if there is one
                let every = self.blueprint.record.every;
                if every > Duration::ZERO && self.accounts.last_sample() + every == self.now {
                    self.on_sample();
                }
                Some(Stop::Ended)
            }
            build::RUN_WARM => {
                self.fabric.rebase(self.now);
                self.accounts.rebase(&self.hosts);
                self.hosts.rebase(self.now);
                None
            }
            build::RUN_UNTIL => Some(Stop::Reached),
            _ => {
                control.now_ns.store(self.now.as_nanos(), Ordering::Relaxed);
                control.events.store(self.accounts.events_handled(), Ordering::Relaxed);
                let stopped = control.stop.load(Ordering::Relaxed);
                let paused = control.pause.swap(false, Ordering::Relaxed);
                let step = Duration::from_nanos((self.blueprint.duration.as_nanos() / PROGRESS_STEPS).max(1));
                self.agenda.push(self.now + step, What::new(Kind::Run, build::RUN_PROGRESS as u32));
                match (stopped, paused) {
                    (true, _) => Some(Stop::Ended),
                    (false, true) => Some(Stop::Paused),
                    (false, false) => None,
                }
            }
        }
    }

    /// Writes one value of every series and schedules the next sample.
    fn on_sample(&mut self) {
        self.accounts.sample(self.now, &mut self.fabric, &self.hosts);
        self.agenda.push(self.now + self.blueprint.record.every, What::new(Kind::Sample, 0));
    }
}

const PROGRESS_STEPS: u64 = 2000;
