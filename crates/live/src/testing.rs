//! A simulated clock and network for endpoints that run in threads as over real sockets.
//!
//! One thread runs at a time. When it waits, the clock jumps to the next event, and the thread of that event continues. A test is therefore
//! deterministic on any host and load.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use contract::{Ecn, Random};
use units::{Duration, Time};

use crate::{Batch, Fate, GsoBatch, Platform};

/// A datagram in flight.
#[derive(Clone, Debug)]
pub(crate) struct Passing {
    pub(crate) at: Time,
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) ecn: Ecn,
    pub(crate) bytes: Vec<u8>,
}

impl Passing {
    /// The same, at its destination after `delay`.
    pub(crate) fn after(&self, delay: Duration) -> Self {
        Self { at: self.at + delay, ..self.clone() }
    }
}

/// Fate of a datagram: all arrivals that it causes, with their times.
pub(crate) type Law = Box<dyn FnMut(&Passing) -> Vec<Passing> + Send>;

/// The network.
#[derive(Clone)]
pub(crate) struct Net(Arc<Shared>);

struct Shared {
    world: Mutex<World>,
    turn: Condvar,
}

struct World {
    clock: Time,
    law: Law,
    /// Datagrams that will arrive, by instant and order.
    under_way: BTreeMap<(Time, u64), Passing>,
    serial: u64,
    places: Vec<Spot>,
    running: Option<usize>,
    random: Random,
}

struct Spot {
    address: SocketAddr,
    arrived: VecDeque<Passing>,
    /// It waits until then; `None` when its thread has ended.
    until: Option<Time>,
    /// Each wait takes this much longer than requested.
    oversleeps: Duration,
    /// It receives nothing before this instant.
    begun: bool,
    /// Its program is killed at this time.
    dies_at: Time,
}

impl Net {
    /// A network with this law.
    pub(crate) fn new(law: impl FnMut(&Passing) -> Vec<Passing> + Send + 'static) -> Self {
        let world = World {
            clock: Time::ZERO + Duration::from_secs(1000),
            law: Box::new(law),
            under_way: BTreeMap::new(),
            serial: 0,
            places: Vec::new(),
            running: None,
            random: Random::new(1, "net", "surprises"),
        };
        Self(Arc::new(Shared { world: Mutex::new(world), turn: Condvar::new() }))
    }

    /// A network with a constant delay and no other effect.
    pub(crate) fn plain(delay: Duration) -> Self {
        Self::new(move |passing| vec![passing.after(delay)])
    }

    /// The place with this address, which starts at `later`. All places must be made before any thread uses its own.
    pub(crate) fn place(&self, address: SocketAddr, later: Duration) -> Place {
        let mut world = self.world();
        let until = Some(world.clock + later);
        world.places.push(Spot {
            address,
            arrived: VecDeque::new(),
            until,
            oversleeps: Duration::ZERO,
            begun: false,
            dies_at: Time::NEVER,
        });
        Place { shared: Arc::clone(&self.0), me: world.places.len() - 1 }
    }

    /// The present instant.
    pub(crate) fn now(&self) -> Time {
        self.world().clock
    }

    /// Makes a datagram arrive, from any sender.
    pub(crate) fn inject(&self, passing: Passing) {
        self.world().carry(passing);
    }

    fn world(&self) -> MutexGuard<'_, World> {
        lock(&self.0)
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, World> {
    shared.world.lock().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    fn carry(&mut self, passing: Passing) {
        self.under_way.insert((passing.at.max(self.clock), self.serial), passing);
        self.serial += 1;
    }

    /// No thread runs: the clock advances to the next event, and the thread of that event runs.
    fn pass_on(&mut self) {
        loop {
            let waiting = self.places.iter().enumerate().filter_map(|(n, spot)| Some((spot.until?, n)));
            let next = waiting.min();
            match self.under_way.first_key_value().map(|(key, _)| key.0) {
                Some(at) if next.is_none_or(|(until, _)| at <= until) => {
                    self.clock = self.clock.max(at);
                    let Some((_, passing)) = self.under_way.pop_first() else { continue };
                    let found = self
                        .places
                        .iter_mut()
                        .find(|spot| spot.address == passing.to && spot.until.is_some() && spot.begun);
                    if let Some(spot) = found {
                        spot.arrived.push_back(passing);
                        spot.until = spot.until.map(|until| until.min(at));
                    }
                }
                _ => {
                    let Some((until, n)) = next else { return };
                    self.clock = self.clock.max(until);
                    self.running = Some(n);
                    self.places[n].begun = true;
                    return;
                }
            }
        }
    }
}

/// One end's place in the network.
pub(crate) struct Place {
    shared: Arc<Shared>,
    me: usize,
}

impl Place {
    /// Each wait takes this much longer than requested.
    pub(crate) fn oversleeping(self, span: Duration) -> Self {
        lock(&self.shared).places[self.me].oversleeps = span;
        self
    }

    /// Its program is killed after this time, without a leave.
    pub(crate) fn dying(self, later: Duration) -> Self {
        let mut world = lock(&self.shared);
        let at = world.clock + later;
        world.places[self.me].dies_at = at;
        drop(world);
        self
    }

    /// Waits for this place's turn.
    fn turn(&self) -> MutexGuard<'_, World> {
        let mut world = lock(&self.shared);
        loop {
            if world.running.is_none() {
                world.pass_on();
                self.shared.turn.notify_all();
            }
            if world.running == Some(self.me) {
                if world.clock >= world.places[self.me].dies_at {
                    drop(world);
                    std::panic::panic_any("killed, as the test wanted");
                }
                return world;
            }
            world = self.shared.turn.wait(world).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Platform for Place {
    fn now(&mut self) -> Time {
        self.turn().clock
    }

    fn wait(&mut self, until: Time) {
        let mut world = self.turn();
        let now = world.clock;
        let spot = &mut world.places[self.me];
        // time advances with every call
        let until = if until > now { until } else { now + Duration::from_micros(1) } + spot.oversleeps;
        spot.until = Some(if spot.arrived.is_empty() { until } else { now });
        world.running = None;
        drop(world);
        drop(self.turn());
    }

    fn receive(&mut self, batch: &mut Batch) -> bool {
        batch.clear();
        let mut world = self.turn();
        let mut any = false;
        let arrived = &mut world.places[self.me].arrived;
        while let Some(passing) = arrived.front() {
            if !batch.push(passing.from, passing.ecn, &passing.bytes) {
                break;
            }
            arrived.pop_front();
            any = true;
        }
        any
    }

    fn send(&mut self, gso_batch: &GsoBatch<'_>) -> Fate {
        let mut world = self.turn();
        let from = world.places[self.me].address;
        for bytes in gso_batch.bytes.chunks(gso_batch.each) {
            let passing = Passing {
                at: world.clock,
                from,
                to: gso_batch.to,
                ecn: gso_batch.ecn,
                bytes: bytes.to_vec(),
            };
            let arrivals = (world.law)(&passing);
            arrivals.into_iter().for_each(|arrival| world.carry(arrival));
        }
        Fate::Taken
    }

    /// The network's law decides which members receive a datagram to a group.
    fn join(&mut self, _group: SocketAddr) -> std::io::Result<()> {
        Ok(())
    }

    fn end_towards(&self, _peer: SocketAddr) -> Option<SocketAddr> {
        Some(lock(&self.shared).places[self.me].address)
    }

    fn fill_random(&mut self, bytes: &mut [u8]) {
        let mut world = self.turn();
        bytes.iter_mut().for_each(|byte| *byte = world.random.bits() as u8);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut world = lock(&self.shared);
        world.places[self.me].until = None;
        if world.running == Some(self.me) {
            world.running = None;
        }
        drop(world);
        self.shared.turn.notify_all();
    }
}
