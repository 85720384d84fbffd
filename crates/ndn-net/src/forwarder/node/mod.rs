//! The forwarder without a clock or sockets: frames in, frames out.

mod control;
mod out;
mod receive;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use contract::{
    Address, EndpointId, FaceId, Meter, NameId, NextHop, NodeId, Outputs, PortId, Random, Router,
    RouterInput, Setup,
};
use schemes::{AnyLink, AnyStrategy};
use stack::ndn;
use units::{Bytes, Time};

use super::agent::{AgentStats, ForwarderAgent};
use super::app::App;
use super::names::{Bounds, Request, Table};
use super::pending::PendingCounts;
use super::ports::{IN_PIECES, IN_PIECES_PROGRAM, IN_PIECES_STRANGER, Port};
use super::routes::{Maker, Routes};
use super::settings::{MTU_LOCAL, Settings};
use super::{Counts, Error, Frames, Limits, LinkSettings, Peer};

/// The state machine with any strategy and any link part of the catalogue.
type Machine = ndn::Forwarder<ndn::strategies::Any<AnyStrategy>, AnyLink>;

/// A forwarder.
pub struct Node {
    pub(super) settings: Settings,
    machine: Machine,
    random: Random,
    meter: Meter,
    out: Outputs,
    pub(super) ports: Vec<Port>,
    /// Number of links among them.
    links: usize,
    places: BTreeMap<Peer, u32>,
    table: Table,
    pub(super) routes: Routes,
    /// Stored Data in order of storage, because the state machine does not report removals.
    stored: VecDeque<Request>,
    /// Bytes that wait in queues or are on links, of all ports.
    queued_bytes: usize,
    /// Counters of closed faces.
    ended: Counts,
    /// The Data that the state machine is handling.
    current_data: Option<Arc<[u8]>>,
    apps: Vec<App>,
    /// Output for apps, delivered when the state machine has returned.
    for_apps: Vec<(usize, Vec<u8>)>,
    /// The latest instant of the state machine.
    latest: Time,
    pub(super) strays: Strays,
    /// The SDN agent, if there is one.
    pub(super) attached: Option<Box<ForwarderAgent>>,
    /// Requests that Data answer; kept to avoid allocation.
    matches: Vec<Request>,
}

/// Counters of packets that did not reach the state machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strays {
    /// Frames from unknown places, or from new ones without a valid packet.
    pub strangers: u64,
    /// Data without a pending Interest.
    pub unsolicited: u64,
    /// NACKs without a pending Interest.
    pub stale_nacks: u64,
    /// Interests refused because a limit was reached.
    pub full: u64,
    /// Interests refused because their face, or all strangers, had used their share.
    pub crowded: u64,
    /// Packets with names of too many components.
    pub long_names: u64,
    /// Interests without a hop left, or for a name of another host.
    pub out_of_scope: u64,
    /// Executed commands.
    pub commands: u64,
    /// Refused commands.
    pub refused_commands: u64,
}

/// Counters of a forwarder.
#[derive(Clone, Debug)]
pub struct Stats {
    /// Counters of the state machine.
    pub machine: ndn::Counters,
    /// Counters of packets that did not reach the state machine.
    pub strays: Strays,
    /// Number of stored names, and bytes of everything stored under them.
    pub names: (usize, usize),
    /// Bytes that wait in queues or are on links.
    pub queued: usize,
    /// Prefixes with routes.
    pub routes: usize,
    /// Per port in use.
    pub ports: Vec<PortStats>,
    /// Counters of closed ports.
    pub ended: Counts,
    /// The SDN agent, if there is one.
    pub agent: Option<AgentStats>,
}

/// Counters of a port.
#[derive(Clone, Debug)]
pub struct PortStats {
    /// Name of the link; for others the place.
    pub name: String,
    /// Counters.
    pub counts: Counts,
    /// Its pending requests.
    pub pending: usize,
}

const ME: Address = Address { node: NodeId(0), endpoint: EndpointId(u32::MAX) };

/// Refuses settings beyond the limits, and links without a rate where a scheme needs one.
fn check(settings: &Settings) -> Result<(), Error> {
    let limits = &settings.limits;
    if settings.links.len() > limits.links {
        return Err(Error::TooMany("links"));
    }
    if settings.routes.len() > limits.routes {
        return Err(Error::TooMany("routes"));
    }
    let min = Limits::min_names(limits.pending, settings.store);
    if limits.names < min {
        return Err(Error::TooFewNames { names: limits.names, min });
    }
    if let Some(scheme) = &settings.link {
        let all = settings.links.iter().chain(&settings.strangers);
        let without = all
            .into_iter()
            .find(|link| link.rate == units::Rate::UNLIMITED || link.rate_in == units::Rate::UNLIMITED);
        if let Some(link) = without {
            return Err(Error::NoRate { scheme: scheme.clone(), link: link.name.clone() });
        }
    }
    Ok(())
}

impl Node {
    /// A forwarder with these settings, whose clock begins at `Time::ZERO`.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        let limits = settings.limits;
        check(&settings)?;
        let mut random = Random::new(settings.seed, "forwarder", "driver");
        let (mut ports, mut places) = (Vec::new(), BTreeMap::new());
        let stranger = settings.strangers.clone().unwrap_or_default();
        for slot in 0..limits.links {
            let known = settings.links.get(slot);
            let place = known.and_then(|link| link.to).map(Peer::Udp);
            if let Some(place) = place {
                places.insert(place, slot as u32);
            }
            let in_pieces = if place.is_some() { IN_PIECES } else { IN_PIECES_STRANGER };
            ports.push(Port::new(known.unwrap_or(&stranger), place, in_pieces, random.bits()));
        }
        let local = LinkSettings { mtu: MTU_LOCAL, marks: settings.program_marks, ..LinkSettings::default() };
        ports.extend((0..limits.programs).map(|_| Port::new(&local, None, IN_PIECES_PROGRAM, random.bits())));
        let (mut routes, names) = Routes::new(limits.routes, limits.lifetime);
        for route in &settings.routes {
            let link = settings.links.get(route.link).ok_or(Error::NoSuchLink(route.link))?;
            debug_assert!(link.to.is_some(), "known links lead somewhere");
            let next = NextHop { face: FaceId(route.link as u32), cost: route.cost };
            routes.add(route.prefix.view(), next, Maker::Settings, Time::NEVER, Time::ZERO);
        }
        let links: Vec<(PortId, Address)> =
            (0..limits.links as u32).map(|slot| (PortId(slot), neighbour(slot))).collect();
        let locals: Vec<EndpointId> =
            (0..limits.programs as u32).map(|n| EndpointId(limits.links as u32 + n)).collect();
        let config = ndn::Config { store: settings.store, data: settings.data, ..ndn::Config::default() };
        let machine = Machine::new(
            &config,
            Arc::new(names),
            ndn::Faces::new(&links, &locals),
            strategy(&settings)?,
            link_part(&settings)?,
            ["strategy", "link"].map(|purpose| Random::new(settings.seed, "forwarder", purpose)),
        );
        let room = Bounds { names: limits.names, bytes: limits.bytes, contents: limits.store_bytes };
        let strangers = ports.iter().take(limits.links).map(|port| port.peer.is_none());
        let pending_counts = PendingCounts::new(strangers.chain((0..limits.programs).map(|_| false)));
        let mut node = Self {
            links: limits.links,
            settings,
            machine,
            random,
            meter: Meter::default(),
            out: Outputs::default(),
            ports,
            places,
            table: Table::new(room, pending_counts),
            routes,
            stored: VecDeque::new(),
            queued_bytes: 0,
            ended: Counts::default(),
            current_data: None,
            apps: Vec::new(),
            for_apps: Vec::new(),
            latest: Time::ZERO,
            strays: Strays::default(),
            attached: None,
            matches: Vec::new(),
        };
        node.machine.set_routes(&node.routes.table());
        Ok(node)
    }

    /// Begins: parts look at their links.
    pub fn start(&mut self, now: Time, frames: &mut dyn Frames) {
        if let Some(controller) = &self.settings.controller {
            self.attached = Some(Box::new(ForwarderAgent::new(controller, self.links, now)));
        }
        self.input(RouterInput::Start, now, frames);
    }

    /// Puts an endpoint into the process, before the start. A producer's prefix gets a route.
    pub fn add_app(&mut self, app: App) -> Result<(), Error> {
        let number = self.apps.len();
        let face = self.create_face(Peer::App(number), Time::ZERO).ok_or(Error::TooMany("programs"))?;
        self.ports[face.index()].fixed = true;
        if app.serves() {
            let next = NextHop { face, cost: 0 };
            self.routes.add(app.prefix().view(), next, Maker::Program, Time::NEVER, Time::ZERO);
            self.rerouted();
        }
        self.apps.push(app);
        Ok(())
    }

    /// The endpoints in the process.
    pub fn apps(&self) -> &[App] {
        &self.apps
    }

    /// How it stands.
    pub fn stats(&self) -> Stats {
        let name = |slot: usize, port: &Port| match (self.settings.links.get(slot), port.peer) {
            (Some(link), _) if slot < self.links && !link.name.is_empty() => Some(link.name.clone()),
            (_, Some(Peer::Udp(address))) => Some(format!("udp://{address}")),
            (_, Some(Peer::Program(number))) => Some(format!("program {number}")),
            (_, Some(Peer::App(number))) => Some(format!("app {number}")),
            (_, Some(Peer::Controller) | None) => None,
        };
        let ports = self.ports.iter().enumerate().filter_map(|(slot, port)| {
            let pending = self.table.pending_counts().of(FaceId(slot as u32));
            Some(PortStats { name: name(slot, port)?, counts: port.counts, pending })
        });
        Stats {
            machine: self.machine.counters(),
            strays: self.strays,
            names: (self.table.len(), self.table.bytes()),
            queued: self.queued_bytes,
            routes: self.routes.len(),
            ports: ports.collect(),
            ended: self.ended,
            agent: self.attached.as_ref().map(|attached| attached.stats()),
        }
    }

    /// When it wants to be called next, by [`Node::on_time`].
    pub fn wake(&self) -> Time {
        let ports = self.places.values().map(|slot| self.ports[*slot as usize].wake());
        let agent = self.attached.as_ref().map(|attached| attached.wake());
        let apps = self.apps.iter().map(App::wake).chain(agent);
        self.machine.wake().min(self.routes.wake()).min(ports.chain(apps).min().unwrap_or(Time::NEVER))
    }

    /// Does what is due by `now`, each at its own instant: parts do not see that the loop was late.
    pub fn on_time(&mut self, now: Time, frames: &mut dyn Frames) {
        for _ in 0..MAX_DUE {
            let due = self.wake();
            if due > now {
                break;
            }
            let at = due.max(self.latest);
            if self.routes.expire(at) {
                self.rerouted();
            }
            // nothing is allocated where nothing is due
            let due = self.places.values().map(|slot| *slot as usize);
            let due: Vec<usize> = due.filter(|slot| self.ports[*slot].wake() <= at).collect();
            due.into_iter().for_each(|slot| self.serve(slot, at, frames));
            if self.machine.wake() <= at {
                self.input(RouterInput::Timer, at, frames);
            }
            if self.attached.as_ref().is_some_and(|attached| attached.wake() <= at) {
                self.turn_agent(at, frames);
            }
            for number in 0..self.apps.len() {
                if self.apps[number].wake() <= at {
                    self.apps[number].on_time(at);
                    self.take_from_app(number, at, frames);
                }
            }
        }
        self.drop_idle(now);
        self.forget_expired(now);
        self.run_apps(now, frames);
    }

    /// Nobody waits any longer for what the machine has given up.
    fn forget_expired(&mut self, now: Time) {
        while let Some(request) = self.table.due(now) {
            let pit = self.machine.pit();
            let pending = self.table.name(request).and_then(|name| pit.find(name));
            match pending.and_then(|pending| pit.entry(pending)).map(|entry| entry.expires) {
                None => self.table.remove_downstreams(request),
                // a later downstream waits longer
                Some(later) if later > now => self.table.watch(request, later),
                // the machine gives it up with the next call
                Some(_) => return,
            }
        }
    }

    /// Handles an incoming frame, after all expired deadlines.
    pub fn on_frame(&mut self, from: Peer, frame: &[u8], now: Time, frames: &mut dyn Frames) {
        self.on_time(now, frames);
        match from {
            Peer::Controller => self.take_control(frame, now, frames),
            from => self.take_frame(from, frame, now, frames),
        }
        self.run_apps(now, frames);
    }

    /// A program has gone.
    pub fn on_gone(&mut self, from: Peer, now: Time) {
        let Some(slot) = self.places.get(&from).copied() else { return };
        self.close(slot, now);
    }

    /// Delivers frames to apps and handles their output, until there is no further output.
    fn run_apps(&mut self, now: Time, frames: &mut dyn Frames) {
        for _ in 0..MAX_DUE {
            let waiting = std::mem::take(&mut self.for_apps);
            if waiting.is_empty() {
                return;
            }
            for (number, frame) in waiting {
                self.apps[number].on_frame(&frame, now.max(self.latest));
                self.take_from_app(number, now, frames);
            }
        }
    }

    fn take_from_app(&mut self, number: usize, now: Time, frames: &mut dyn Frames) {
        let frames_out = self.apps[number].take_out();
        for frame in frames_out {
            self.take_frame(Peer::App(number), &frame, now, frames);
        }
    }

    // ---- places

    /// The face of a place, if there is one.
    fn find_face(&self, place: Peer) -> Option<FaceId> {
        self.places.get(&place).map(|slot| FaceId(*slot))
    }

    /// Makes a face for a place that is listened to, where there is room.
    fn create_face(&mut self, place: Peer, now: Time) -> Option<FaceId> {
        let slots = match place {
            Peer::Udp(_) if self.settings.strangers.is_some() => 0..self.links,
            Peer::Udp(_) | Peer::Controller => return None,
            Peer::Program(_) | Peer::App(_) => self.links..self.ports.len(),
        };
        let free = |slot: &usize| {
            let port = &self.ports[*slot];
            port.peer.is_none() && !port.fixed && port.free_from <= now
        };
        let slot = slots.clone().find(free)?;
        let port = &mut self.ports[slot];
        (port.peer, port.last_arrival, port.counts) = (Some(place), now, Counts::default());
        self.places.insert(place, slot as u32);
        Some(FaceId(slot as u32))
    }

    /// Ends a face. Its number rests until nothing can be pending that it has to do with.
    fn close(&mut self, slot: u32, now: Time) {
        let port = &mut self.ports[slot as usize];
        if let Some(place) = port.peer {
            self.places.remove(&place);
        }
        self.queued_bytes -= port.queued_bytes();
        self.ended += port.counts;
        port.close(now + self.settings.limits.lifetime);
        if self.routes.close(FaceId(slot), now) {
            self.rerouted();
        }
    }

    /// Ends links to strangers who have fallen silent.
    fn drop_idle(&mut self, now: Time) {
        if self.settings.strangers.is_none() {
            return;
        }
        let idle = self.settings.limits.idle;
        for slot in 0..self.links {
            let port = &self.ports[slot];
            if port.peer.is_some() && !port.fixed && now > port.last_arrival + idle {
                self.close(slot as u32, now);
            }
        }
    }

    /// Whether a face leads to this host.
    pub(super) fn is_local(&self, face: FaceId) -> bool {
        face.index() >= self.links
    }

    /// Whether a face leads to a host that is in no settings.
    pub(super) fn is_stranger(&self, face: FaceId) -> bool {
        self.table.pending_counts().is_stranger(face)
    }

    /// The routes have changed. What a controller ordered stays in force.
    pub(super) fn rerouted(&mut self) {
        let mut table = self.routes.table();
        if let Some(attached) = &mut self.attached {
            attached.keep_commands(&mut table, &self.routes);
        }
        self.machine.set_routes(&table);
    }

    /// Gives next hops of a prefix other costs; whether the first is another one than before.
    pub(super) fn prefer(&mut self, prefix: NameId, hops: &[NextHop]) -> bool {
        let before = self.machine.first_hop(prefix);
        self.machine.prefer(prefix, hops);
        self.machine.first_hop(prefix) != before
    }

    pub(super) fn count_command(&mut self, done: bool) {
        *if done { &mut self.strays.commands } else { &mut self.strays.refused_commands } += 1;
    }
}

/// The forwarder at the other end of a link.
const fn neighbour(slot: u32) -> Address {
    Address { node: NodeId(slot + 1), endpoint: EndpointId(slot) }
}

fn strategy(settings: &Settings) -> Result<ndn::strategies::Any<AnyStrategy>, Error> {
    let name = &settings.strategy;
    match (ndn::strategies::find(name), schemes::find(name)) {
        (Some(entry), _) => Ok(entry.make(&settings.strategy_params)?),
        (None, Some(schemes::Entry { strategy: Some(make), .. })) => {
            Ok(ndn::strategies::Any::Other(make(&settings.strategy_params, &setup(settings))?))
        }
        _ => Err(Error::NoStrategy(name.clone())),
    }
}

fn link_part(settings: &Settings) -> Result<Option<AnyLink>, Error> {
    let Some(name) = &settings.link else { return Ok(None) };
    match schemes::find(name) {
        Some(schemes::Entry { link: Some(make), .. }) => {
            Ok(Some(make(&settings.link_params, &setup(settings))?))
        }
        _ => Err(Error::NoLink(name.clone())),
    }
}

fn setup(settings: &Settings) -> Setup {
    Setup { segment: settings.data, header: Bytes::ZERO, initial_window: Bytes::UNLIMITED }
}

/// Instants that are caught up with at once, after a long sleep; the rest comes with the next call.
const MAX_DUE: usize = 10_000;
