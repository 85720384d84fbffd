//! A simulated clock and network for tests of event loops, each in its thread as over real sockets.
//!
//! One thread runs at a time. When it waits, the clock jumps to the next event, and the thread of that event continues.
//! A test is therefore deterministic on any host and load.

mod captures;
#[cfg(target_os = "linux")]
mod namespace;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use contract::{Ecn, Random};
use units::{Duration, Time};

pub use captures::{CaptureFile, CapturedPacket};
#[cfg(target_os = "linux")]
pub use namespace::{ip, network_namespace};

use crate::{Batch, GsoBatch, Platform, SendOutcome};

/// The clock at the start of a test.
const START: Time = Time::from_nanos(1_000_000_000_000);

/// A host whose clock is later panics: the test that it waits for would not end.
const MAX_DURATION: Duration = Duration::from_secs(3600);

/// A datagram in flight.
#[derive(Clone, Debug)]
pub struct InFlight {
    /// When it was sent, or arrives.
    pub at: Time,
    /// Its source address.
    pub from: SocketAddr,
    /// Its destination address.
    pub to: SocketAddr,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Its payload.
    pub bytes: Vec<u8>,
}

impl InFlight {
    /// Returns the datagram at its destination, after `delay`.
    pub fn after(&self, delay: Duration) -> Self {
        Self { at: self.at + delay, ..self.clone() }
    }
}

/// What happens to a datagram: all arrivals that it causes, with their times.
pub type Model = Box<dyn FnMut(&InFlight) -> Vec<InFlight> + Send>;

/// The network.
#[derive(Clone)]
pub struct VirtualNetwork(Arc<Shared>);

struct Shared {
    world: Mutex<World>,
    turn: Condvar,
}

struct World {
    clock: Time,
    model: Model,
    /// Datagrams that will arrive, by instant and order, and the group that they were sent to.
    in_flight_datagrams: BTreeMap<(Time, u64), (InFlight, Option<SocketAddr>)>,
    serial: u64,
    hosts: Vec<HostState>,
    running: Option<usize>,
    random: Random,
}

struct HostState {
    address: SocketAddr,
    arrived: VecDeque<(InFlight, Option<SocketAddr>)>,
    /// It waits until then; `None` when its thread has ended.
    until: Option<Time>,
    /// It receives nothing before this instant.
    started: bool,
    /// The group that it has joined.
    joined: Option<SocketAddr>,
    /// Its program is killed at this time.
    dies_at: Time,
}

impl VirtualNetwork {
    /// A network with this model.
    pub fn new(model: impl FnMut(&InFlight) -> Vec<InFlight> + Send + 'static) -> Self {
        let world = World {
            clock: START,
            model: Box::new(model),
            in_flight_datagrams: BTreeMap::new(),
            serial: 0,
            hosts: Vec::new(),
            running: None,
            random: Random::new(1, "net", "surprises"),
        };
        Self(Arc::new(Shared { world: Mutex::new(world), turn: Condvar::new() }))
    }

    /// A network with a constant delay and no other effect.
    pub fn plain(delay: Duration) -> Self {
        Self::new(move |in_flight| vec![in_flight.after(delay)])
    }

    /// The host with this address, which starts at `start_delay`. All hosts must be made before any thread uses its
    /// own.
    pub fn host(&self, address: SocketAddr, start_delay: Duration) -> VirtualHost {
        let mut world = self.world();
        let until = Some(world.clock + start_delay);
        world.hosts.push(HostState {
            address,
            arrived: VecDeque::new(),
            until,
            started: false,
            joined: None,
            dies_at: Time::NEVER,
        });
        VirtualHost { shared: Arc::clone(&self.0), me: world.hosts.len() - 1 }
    }

    /// The current instant.
    pub fn now(&self) -> Time {
        self.world().clock
    }

    /// Makes a datagram arrive, from any sender.
    pub fn inject(&self, in_flight: InFlight) {
        self.world().schedule_arrival(in_flight, None);
    }

    fn world(&self) -> MutexGuard<'_, World> {
        lock(&self.0)
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, World> {
    shared.world.lock().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    fn schedule_arrival(&mut self, in_flight: InFlight, group: Option<SocketAddr>) {
        self.in_flight_datagrams.insert((in_flight.at.max(self.clock), self.serial), (in_flight, group));
        self.serial += 1;
    }

    /// No thread runs: the clock advances to the next event, and the thread of that event runs.
    fn run_next_event(&mut self) {
        loop {
            let waiting = self.hosts.iter().enumerate().filter_map(|(n, state)| Some((state.until?, n)));
            let next = waiting.min();
            match self.in_flight_datagrams.first_key_value().map(|(key, _)| key.0) {
                Some(at) if next.is_none_or(|(until, _)| at <= until) => {
                    self.clock = self.clock.max(at);
                    let Some((_, (in_flight, group))) = self.in_flight_datagrams.pop_first() else {
                        continue;
                    };
                    let receives = |state: &HostState| state.until.is_some() && state.started;
                    let member = |state: &HostState| group.is_none() || state.joined == group;
                    let found = self
                        .hosts
                        .iter_mut()
                        .find(|state| state.address == in_flight.to && receives(state) && member(state));
                    if let Some(state) = found {
                        state.arrived.push_back((in_flight, group));
                        state.until = state.until.map(|until| until.min(at));
                    }
                }
                _ => {
                    let Some((until, n)) = next else { return };
                    self.clock = self.clock.max(until);
                    self.running = Some(n);
                    self.hosts[n].started = true;
                    return;
                }
            }
        }
    }
}

/// A host of the network, as the platform of an event loop.
pub struct VirtualHost {
    shared: Arc<Shared>,
    me: usize,
}

impl VirtualHost {
    /// Its program is killed after this time, without closing its connections.
    pub fn killed_after(self, delay: Duration) -> Self {
        let mut world = lock(&self.shared);
        let at = world.clock + delay;
        world.hosts[self.me].dies_at = at;
        drop(world);
        self
    }

    /// Waits for this host's turn.
    fn turn(&self) -> MutexGuard<'_, World> {
        let mut world = lock(&self.shared);
        loop {
            if world.running.is_none() {
                world.run_next_event();
                self.shared.turn.notify_all();
            }
            if world.running == Some(self.me) {
                if world.clock >= world.hosts[self.me].dies_at {
                    drop(world);
                    std::panic::panic_any("killed by the test");
                }
                if world.clock > START + MAX_DURATION {
                    drop(world);
                    panic!("the test has not ended after {MAX_DURATION} of simulated time");
                }
                return world;
            }
            world = self.shared.turn.wait(world).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Platform for VirtualHost {
    fn now(&mut self) -> Time {
        self.turn().clock
    }

    fn wait(&mut self, until: Time) {
        let mut world = self.turn();
        let now = world.clock;
        let state = &mut world.hosts[self.me];
        // time advances with every call
        let until = if until > now { until } else { now + Duration::from_micros(1) };
        state.until = Some(if state.arrived.is_empty() { until } else { now });
        world.running = None;
        drop(world);
        drop(self.turn());
    }

    fn receive(&mut self, batch: &mut Batch) -> bool {
        batch.clear();
        let mut world = self.turn();
        let mut any = false;
        let arrived = &mut world.hosts[self.me].arrived;
        batch.group = arrived.front().and_then(|(_, group)| *group);
        while let Some((in_flight, group)) = arrived.front() {
            if *group != batch.group || !batch.push(in_flight.from, in_flight.ecn, &in_flight.bytes) {
                break;
            }
            arrived.pop_front();
            any = true;
        }
        any
    }

    fn send(&mut self, gso_batch: &GsoBatch<'_>) -> SendOutcome {
        let mut world = self.turn();
        let from = world.hosts[self.me].address;
        for bytes in gso_batch.bytes.chunks(gso_batch.segment_size) {
            let in_flight = InFlight {
                at: world.clock,
                from,
                to: gso_batch.to,
                ecn: gso_batch.ecn,
                bytes: bytes.to_vec(),
            };
            let group = in_flight.to.ip().is_multicast().then_some(in_flight.to);
            let arrivals = (world.model)(&in_flight);
            arrivals.into_iter().for_each(|arrival| world.schedule_arrival(arrival, group));
        }
        SendOutcome::Accepted
    }

    /// The network model decides which members receive a datagram to a group: it gives each copy the address of its
    /// member.
    fn join(&mut self, group: SocketAddr) -> std::io::Result<()> {
        self.turn().hosts[self.me].joined = Some(group);
        Ok(())
    }

    fn local_address(&self, _peer: SocketAddr) -> Option<SocketAddr> {
        Some(lock(&self.shared).hosts[self.me].address)
    }

    fn fill_random(&mut self, bytes: &mut [u8]) {
        let mut world = self.turn();
        bytes.iter_mut().for_each(|byte| *byte = world.random.bits() as u8);
    }
}

impl Drop for VirtualHost {
    fn drop(&mut self) {
        let mut world = lock(&self.shared);
        world.hosts[self.me].until = None;
        if world.running == Some(self.me) {
            world.running = None;
        }
        drop(world);
        self.shared.turn.notify_all();
    }
}
