//! The running network (discrete-event simulation) and its event loop.
//!
//! [`World`] joins four parts that own their state and methods: the [`Fabric`] (ports, routes, multicast trees), the
//! [`Hosts`] (endpoints, state machines of nodes, clocks, flows), the [`Accounts`] (counters, digest, recorder) and
//! [`External`] (payloads of real programs, capture). An endpoint outputs a packet, which enters the queue of its
//! node's port and arrives at the next node, and so on until it is delivered or dropped. That path is in `packets.rs`
//! and `queues.rs`; endpoints and state machines of nodes are called in `hosts.rs`, changes during a run are in
//! `changes.rs`, commands of a controller in `commands.rs`, emulation in `emulation.rs`.

mod apps;
mod changes;
mod commands;
mod copies;
mod emulation;
mod hosts;
mod packets;
mod prefetch;
mod queues;
mod recording;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use contract::{Arena, EndpointId, FlowId, Outputs, PacketId, ParamError};
use memory::list_in_large_pages;
use units::{Duration, Time};

pub use emulation::{ExternalPayloads, Observers, Tap};

use self::apps::Apps;
use self::copies::Shares;
use self::emulation::External;
use self::prefetch::Near;
use crate::accounts::{Accounts, PacketRecorder, Recorded};
use crate::agenda::{Agenda, AgendaEvent, Kind};
use crate::fabric::Fabric;
use crate::hosts::Hosts;
use crate::packet_log::PacketLog;
use crate::trace::Trace;
use crate::{Blueprint, Shared, build};

/// Progress and control of a run, shared between threads.
#[derive(Debug, Default)]
pub struct Control {
    /// Simulated nanoseconds, updated two thousand times per run.
    pub now_ns: AtomicU64,
    /// Agenda entries handled.
    pub events: AtomicU64,
    /// Set by another thread to end the run at the next check.
    pub stop: AtomicBool,
    /// Set by another thread to make [`World::run`] return at the next check, which clears it. The next call of `run`
    /// continues.
    pub pause: AtomicBool,
}

/// A running network. It performs no I/O and reads no clock.
///
/// # How it is driven
///
/// 1. Build it: [`World::new`]. Before the first step, replace what is not built in ([`World::custom_sender`],
///    [`World::custom_receiver`], [`World::custom_link`]) and attach a capture ([`World::tap`]).
/// 2. *In virtual time*, call [`World::run`]: it handles every event up to the end. When it returns early because of
///    [`Control::pause`], [`World::paused`] is true; take a [`World::snapshot`] if needed and call `run` again.
/// 3. *In real time* (emulation), repeat:
///    - poll [`World::next_event`] for the deadline, and wait for it or for a packet of a program;
///    - call [`World::run_until`] with the current instant **before any other input**, so that what was due is handled
///      first; it returns true when the run is over;
///    - inputs at the current instant: [`World::inject_external`] (a program's packet), [`World::inject`] (a packet of
///      an endpoint that runs elsewhere), [`World::report_for`] and [`World::add_meter`] (what that endpoint counted);
///    - drain [`World::take_egress`] after every step and every input, and release the payload of each packet taken
///      ([`World::external_payloads`]).
/// 4. Call [`World::finish`] for the [`Trace`].
///
/// The same blueprint driven the same way gives the same trace, to the last bit.
pub struct World {
    now: Time,
    agenda: Agenda,
    phase: Phase,
    blueprint: Shared<Blueprint>,
    /// Packets, and the outputs of the state machine that ran last.
    out: Outputs,
    fabric: Fabric,
    hosts: Hosts,
    /// Packets that stay at their node; they are delivered before time advances.
    local: LocalQueue,
    /// Packets that stand for their copies on many links.
    shares: Shares,
    accounts: Accounts,
    external: External,
    apps: Apps,
    /// The record of packets, if there is one.
    recorder: Option<Box<PacketRecorder>>,
    /// The network does not fit into a processor's caches.
    is_large: bool,
    near: Near,
}

/// A packet between an endpoint and the state machine of its node.
#[derive(Clone, Copy)]
enum LocalDelivery {
    /// To the state machine with this index.
    ToNode(u32, PacketId),
    /// To an endpoint.
    ToEndpoint(EndpointId, PacketId),
}

/// Packets that stay at their node, in the order in which they are delivered. The memory starts again when all are.
#[derive(Default)]
struct LocalQueue {
    all: Vec<LocalDelivery>,
    /// The first that has not been taken.
    next: usize,
}

impl LocalQueue {
    #[inline]
    fn push(&mut self, delivery: LocalDelivery) {
        self.all.push(delivery);
    }

    #[inline]
    fn pop(&mut self) -> Option<LocalDelivery> {
        match self.all.get(self.next) {
            Some(&delivery) => {
                self.next += 1;
                Some(delivery)
            }
            None => {
                self.all.clear();
                self.next = 0;
                None
            }
        }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.next == self.all.len()
    }
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

impl World {
    /// Builds the network. Fails if the blueprint is inconsistent or a scheme rejects its parameters.
    pub fn new(blueprint: &Blueprint) -> Result<Self, ParamError> {
        Self::shared(blueprint.clone().into())
    }

    /// Builds the network of [`World::new`] without a copy of the blueprint.
    pub fn shared(shared: Shared<Blueprint>) -> Result<Self, ParamError> {
        Self::recorded(shared, None)
    }

    /// Builds the network of [`World::shared`] with a record of every packet. It changes nothing in the run. A world
    /// with a record is for virtual time: nothing is injected.
    pub fn recorded(shared: Shared<Blueprint>, log: Option<Box<dyn PacketLog>>) -> Result<Self, ParamError> {
        let blueprint = &*shared;
        build::check(blueprint)?;
        let mut fabric = Fabric::new(blueprint);
        let mut hosts = Hosts::new(blueprint, &mut fabric)?;
        let is_large = fabric.is_large();
        let mut out = Outputs::default();
        if is_large {
            hosts.prepare_prefetch(blueprint.nodes.len());
            let slots = PACKETS_PER_LINK * blueprint.links.len();
            let list =
                if slots >= MANY_SLOTS { list_in_large_pages(slots) } else { Vec::with_capacity(slots) };
            out.arena = Arena::in_memory_of(list);
        }
        if blueprint.record.distributions {
            fabric.keep_waits();
        }
        if blueprint.record.packets.is_some() {
            fabric.tap_all();
        }
        if blueprint.record.packets.is_some() || blueprint.record.drops {
            fabric.serve_promptly();
        }
        let mut accounts = Accounts::new(blueprint);
        out.notes.probing = accounts.record(blueprint, &hosts);
        out.notes.events = blueprint.record.events;
        let mut world = Self {
            now: Time::ZERO,
            agenda: build::agenda(blueprint),
            phase: Phase::Running,
            out,
            fabric,
            hosts,
            local: LocalQueue::default(),
            shares: Shares::default(),
            accounts,
            external: External::default(),
            apps: Apps::new(blueprint),
            recorder: None,
            is_large,
            near: Near::default(),
            blueprint: shared,
        };
        world.agenda.set_ports(2 * world.blueprint.links.len());
        world.agenda.arrange();
        world.connect_apps();
        if let Some(log) = log {
            world.begin_packet_log(log);
        }
        world.start_nodes();
        Ok(world)
    }

    /// Runs to the end, or until [`Control`] stops or pauses it.
    pub fn run(&mut self, control: &Control) {
        self.proceed(control);
    }

    /// Continues, unless the run has ended.
    fn proceed(&mut self, control: &Control) -> Stop {
        let stop = match (self.phase, self.is_large) {
            (Phase::Ended, _) => Stop::Ended,
            (_, false) => self.handle_events::<false>(control),
            (_, true) => self.handle_events::<true>(control),
        };
        self.phase = match stop {
            Stop::Ended => Phase::Ended,
            Stop::Paused => Phase::Paused,
            Stop::Reached | Stop::Exhausted => Phase::Running,
        };
        control.now_ns.store(self.now.as_nanos(), Ordering::Relaxed);
        control.events.store(self.accounts.events_handled(), Ordering::Relaxed);
        stop
    }

    /// The event loop; with prefetches in a `LARGE` network.
    fn handle_events<const LARGE: bool>(&mut self, control: &Control) -> Stop {
        while let Some((now, what)) = self.agenda.pop() {
            debug_assert!(now >= self.now, "time does not go backward");
            self.now = now;
            if LARGE {
                self.prefetch_upcoming();
            }
            match what.kind() {
                Kind::Arrive => self.on_arrive::<LARGE>(what),
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

    /// Endpoints that exist now. The endpoints of a finite transfer over TCP that starts later, and that no event
    /// changes, exist from its start until no packet and no deadline of it is left.
    pub fn endpoints(&self) -> usize {
        self.hosts.existing()
    }

    /// The trace up to now; the run can continue.
    pub fn snapshot(&mut self) -> Trace {
        self.settle_all();
        let recorded = self.accounts.recorded();
        let in_flight = self.in_flight();
        self.trace(recorded, in_flight, true)
    }

    /// The trace of the run, which may have been stopped early.
    ///
    /// Panics if a packet is not accounted for, which is a bug of the simulator.
    pub fn finish(mut self) -> Trace {
        self.settle_all();
        let recorded = self.accounts.take_recorded();
        let in_flight = self.in_flight();
        self.end_packet_log(in_flight);
        // the memory of packets and events is free for the records
        (self.out, self.agenda) = (Outputs::default(), Agenda::default());
        self.hosts.release_machines();
        let trace = self.trace(recorded, in_flight, false);
        assert!(
            trace.balance.holds(),
            "every packet is delivered, dropped or in flight: {:?}",
            trace.balance
        );
        trace
    }

    /// The packets in the network.
    fn in_flight(&self) -> u64 {
        (self.out.arena.live() + self.shares.more()) as u64
    }

    /// The trace with `recorded`. Unless `keep`, the run cannot continue: what is recorded moves into the trace, and
    /// memory that is no longer needed is free for the records that follow.
    fn trace(&mut self, recorded: Recorded, in_flight: u64, keep: bool) -> Trace {
        let mut trace =
            self.accounts.trace(recorded, self.now, in_flight, &mut self.hosts, &self.blueprint, keep);
        if !keep {
            self.hosts.release();
        }
        trace.apps = self.apps.records(self.now);
        trace.ports = self.fabric.records(self.now);
        trace.queueing_delays = self.fabric.queueing_delays(keep);
        if !keep {
            self.fabric.release();
        }
        trace
    }

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
                self.settle_all();
                self.record_meters();
                self.fabric.rebase(self.now);
                self.accounts.rebase();
                self.hosts.rebase(self.now);
                None
            }
            build::RUN_UNTIL => Some(Stop::Reached),
            _ if index >= build::RUN_APP => {
                self.on_app(index - build::RUN_APP);
                None
            }
            _ => {
                control.now_ns.store(self.now.as_nanos(), Ordering::Relaxed);
                control.events.store(self.accounts.events_handled(), Ordering::Relaxed);
                let stopped = control.stop.load(Ordering::Relaxed);
                let paused = control.pause.swap(false, Ordering::Relaxed);
                self.agenda.arrange();
                let step = Duration::from_nanos((self.blueprint.duration.as_nanos() / PROGRESS_STEPS).max(1));
                self.agenda.push(self.now + step, AgendaEvent::new(Kind::Run, build::RUN_PROGRESS as u32));
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
        self.settle_all();
        self.accounts.sample(self.now, &mut self.fabric, &self.hosts);
        self.agenda.push(self.now + self.blueprint.record.every, AgendaEvent::new(Kind::Sample, 0));
    }
}

const PROGRESS_STEPS: u64 = 2000;
/// Packets for which a large network has address space at the start.
const PACKETS_PER_LINK: usize = 4;
/// Minimum number of slots that are in large pages: the memory of a page that is used in part is a small share then.
const MANY_SLOTS: usize = 1 << 18;
