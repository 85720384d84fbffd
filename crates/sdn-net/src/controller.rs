//! The controller as a process: sessions with agents around the state machine and its app.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use contract::{
    Address, App, Backlog, Command, Control as Spoken, Cx, Ecn, EndpointId, FlowId, Header, NodeCx, NodeId,
    NodeView, Outputs, Packet, PortId, PortView, Random, Router, RouterInput, Setup,
};
use driver::{EventLoop, Platform, drive};
use live::{Admission, Attempt, CLOSE_LINGER, CallerHello, Channel, Listener, POLL_INTERVAL, Transmitter};
use schemes::AnyApp;
use stack::sdn::{AgentLocation, Controller};
use units::{Bytes, Duration, Rate, Time};
use wire::stream::{Frame, KEY, Order as SessionOrder, Reason, Role, Said, Task};

use crate::{Control, Error, NodeStats, Settings, Stats};

/// Interval at which the status is published.
const SHOW: Duration = Duration::from_millis(100);
/// Maximum number of callers beyond those at nodes, for agents that reconnect before a timeout.
const SPARE: usize = 16;

/// Runs a controller at the address of `platform` until it is stopped. Returns its status.
///
/// # Errors
///
/// The settings are invalid.
pub fn control(settings: Settings, platform: &mut impl Platform, control: &Control) -> Result<Stats, Error> {
    let mut controller = ControllerLoop::new(settings, platform, control)?;
    drive(&mut controller);
    let stats = controller.stats();
    control.publish(stats.clone());
    Ok(stats)
}

/// An open session.
struct Member {
    caller: [u8; KEY],
    channel: Channel,
    /// Its node, when it is known.
    node: Option<NodeId>,
    /// Its session is closed or being closed, and is answered until then.
    gone: Option<Time>,
}

struct ControllerLoop<'a, O> {
    settings: Settings,
    tasks: BTreeMap<NodeId, Task>,
    machine: Controller<AnyApp>,
    random: Random,
    out: Outputs,
    tx: Transmitter<'a, O>,
    control: &'a Control,
    listener: Listener,
    /// By the number of the session.
    members: BTreeMap<u32, Member>,
    /// The last caller at each node.
    last: BTreeMap<NodeId, [u8; KEY]>,
    begun: u32,
    unknown: u64,
    poll_at: Time,
    show_at: Time,
    stopping: bool,
}

impl<O: Platform> EventLoop for ControllerLoop<'_, O> {
    type Platform = O;
    type Outcome = ();
    const SENDS: bool = false;

    fn platform(&mut self) -> &mut O {
        self.tx.platform
    }

    fn on_datagram(&mut self, bytes: &[u8], from: SocketAddr, _ecn: Ecn, now: Time) -> Option<()> {
        self.take(bytes, from, now);
        None
    }

    fn on_time(&mut self, now: Time) -> Option<()> {
        if self.machine.wake() <= now {
            self.give(RouterInput::Timer, now);
        }
        if now >= self.show_at {
            self.show_at = now + SHOW;
            self.control.publish(self.stats());
        }
        if now < self.poll_at {
            return None;
        }
        self.poll_at = now + POLL_INTERVAL;
        if self.control.stopped() && !self.stopping {
            // said once: who does not hear it finds out by the silence
            self.stopping = true;
            let open = self.members.values_mut().filter(|member| member.gone.is_none());
            open.for_each(|member| member.channel.order(SessionOrder::Close(Reason::Stopped), now));
        }
        let limits = self.settings.limits;
        self.members.retain(|_, member| {
            let until = member.gone.unwrap_or(member.channel.heard_at + limits.patience);
            now < until
        });
        for session in self.members.keys().copied().collect::<Vec<_>>() {
            let Some(member) = self.members.get_mut(&session) else { continue };
            if let Some((serial, order)) = member.channel.due(now) {
                self.say(session, Frame::Order { serial, order }, now);
            } else if member.channel.too_quiet(now, limits.keep_alive) {
                self.say(session, Frame::KeepAlive, now);
            }
        }
        self.stopping.then_some(())
    }

    fn flush(&mut self) {
        self.tx.flush();
    }

    fn wake(&self, _now: Time) -> Time {
        self.machine.wake().min(self.poll_at)
    }

    fn packets_sent(&self) -> u64 {
        0
    }
}

impl<'a, O: Platform> ControllerLoop<'a, O> {
    fn new(settings: Settings, platform: &'a mut O, control: &'a Control) -> Result<Self, Error> {
        let network = &settings.network;
        let app = make_app(&settings)?;
        let nameless =
            network.net.origins.keys().find(|id| !network.prefixes.iter().any(|(of, _)| of == *id));
        if let Some(prefix) = nameless {
            return Err(Error::NoName(*prefix));
        }
        let wants = app.wants();
        let mut tasks = BTreeMap::new();
        for &node in &network.net.agents {
            let task = network.task(node, &settings.config, wants.signal_above);
            if !task.fits() {
                return Err(Error::TooLarge(network.name(node).to_owned()));
            }
            tasks.insert(node, task);
        }
        let now = platform.now();
        let listener = Listener::new(&settings.secret, tasks.len() + SPARE, platform);
        let machine = make(&settings, app);
        let mut controller = Self {
            random: Random::new(settings.seed, "controller", "app"),
            settings,
            tasks,
            machine,
            out: Outputs::default(),
            tx: Transmitter::new(platform),
            control,
            listener,
            members: BTreeMap::new(),
            last: BTreeMap::new(),
            begun: 1,
            unknown: 0,
            poll_at: now,
            show_at: now,
            stopping: false,
        };
        controller.give(RouterInput::Start, now);
        Ok(controller)
    }

    fn stats(&self) -> Stats {
        let node = |&node: &NodeId| {
            let here = self.members.values().find(|member| member.node == Some(node));
            let network = &self.settings.network;
            let load = |port: &PortId| {
                let seen = self.machine.cache().seen(*port)?;
                Some((network.links.get(port.index())?.clone(), seen.status.load))
            };
            let ports = network.net.out.get(node.index()).map_or(&[][..], Vec::as_slice);
            NodeStats {
                name: network.name(node).to_owned(),
                at: here.map(|member| member.channel.to),
                loads: ports.iter().filter_map(load).collect(),
            }
        };
        Stats {
            nodes: self.settings.network.net.agents.iter().map(node).collect(),
            meter: self.tx.stats.meter.clone(),
            open_commands: self.machine.open_commands(),
            begun: self.begun,
            unknown: self.unknown,
            sent: self.tx.stats.sent,
            received: self.tx.stats.received,
            discarded: self.tx.stats.discarded,
        }
    }

    // ---- the machine

    /// Gives the state machine an input, and sends its messages. Messages to agents that are not connected are lost, as on a link that is
    /// down.
    fn give(&mut self, input: RouterInput<'_>, now: Time) {
        let Self { machine, random, out, tx, .. } = self;
        let mut cx = Cx::new(now, ME, FlowId(u32::MAX), random, &mut tx.stats.meter, out);
        machine.handle(input, &mut NodeCx::new(&mut cx, &mut Nowhere));
        let outbox = std::mem::take(&mut self.out.outbox);
        for &id in &outbox {
            let packet = *self.out.arena.get(id);
            self.out.arena.release(id);
            let (Header::Control(frame), Some(node)) = (packet.header, packet.to.node()) else { continue };
            let said = Said { sent_at: packet.sent_at, label: packet.label, frame };
            if let Some(session) = self.session_of(node) {
                self.say(session, Frame::Control(said), now);
            }
        }
        self.out.outbox = outbox;
        self.out.outbox.clear();
    }

    /// Restarts the state machine, which asks all agents for the commands in force.
    fn begin_again(&mut self, now: Time) {
        // the parameters were accepted before
        let Ok(app) = make_app(&self.settings) else { return };
        self.machine = make(&self.settings, app);
        self.begun += 1;
        self.give(RouterInput::Start, now);
    }

    /// Whether a message is valid from this node: about its own ports and known prefixes.
    fn fits(&self, said: &Said, node: NodeId) -> bool {
        let network = &self.settings.network;
        match said.frame {
            Spoken::Status(status) => network.is_of(status.port, node),
            Spoken::Signal { port } => network.is_of(port, node),
            Spoken::Shares { port, .. } => {
                let more = self.machine.cache().seen(port);
                let more = more.is_some_and(|seen| seen.shares.len() < usize::from(seen.status.shares));
                more && network.is_of(port, node)
            }
            Spoken::Kept(Command::NextHops { prefix, hops }) => {
                network.net.origins.contains_key(&prefix)
                    && hops.list().iter().all(|hop| network.is_of(hop.port, node))
            }
            Spoken::Kept(Command::Queue { port, .. } | Command::Cap { port, .. }) => {
                network.is_of(port, node)
            }
            Spoken::Ack | Spoken::Welcome { .. } => true,
            Spoken::Kept(Command::Route { .. }) | Spoken::Command(_) | Spoken::Hello => false,
        }
    }

    // ---- what comes

    fn take(&mut self, bytes: &[u8], from: SocketAddr, now: Time) {
        let found = self.listener.session_of(bytes, from, self.tx.platform, &mut self.tx.stats);
        let Some((session, opening)) = found else { return };
        if opening {
            return self.on_attempt(bytes, from, now);
        }
        let Some(member) = self.members.get_mut(&session) else {
            self.tx.stats.discarded.strangers += 1;
            return;
        };
        let (caller, known) = (member.caller, member.channel.known);
        let Some(frame) = member.channel.read(bytes, from, now, &mut self.tx.stats) else { return };
        if !known {
            // it is who it says that it is, and has no other session
            self.members.retain(|number, member| *number == session || member.caller != caller);
        }
        let Some(member) = self.members.get_mut(&session) else { return };
        let node = member.node.filter(|_| member.gone.is_none());
        match frame {
            Frame::KeepAlive => {}
            Frame::Ack { serial } => member.channel.on_heard(serial, now),
            Frame::Order { serial, order } => {
                let (_, answer) = member.channel.on_order(serial);
                if matches!(order, SessionOrder::Close(_)) {
                    (member.node, member.gone) = (None, Some(now + CLOSE_LINGER));
                }
                if answer {
                    self.say(session, Frame::Ack { serial }, now);
                }
            }
            Frame::Attach { node } => self.on_attach(session, &node, now),
            Frame::Control(said) if node.is_some_and(|node| self.fits(&said, node)) => {
                let Some(node) = node else { return };
                let packet = Packet {
                    flow: FlowId(u32::MAX),
                    size_bytes: bytes.len() as u32,
                    source: address(node),
                    to: ME.into(),
                    sent_at: said.sent_at,
                    label: said.label,
                    header: Header::Control(said.frame),
                    ecn: Ecn::NotCapable,
                    hops: 0,
                };
                self.give(RouterInput::Packet(&packet, PortId(node.0)), now);
            }
            _ => self.tx.stats.discarded.misplaced += 1,
        }
    }

    /// An agent says where it stands.
    fn on_attach(&mut self, session: u32, name: &str, now: Time) {
        let Some(member) = self.members.get(&session).filter(|member| member.gone.is_none()) else { return };
        let caller = member.caller;
        let Some(node) = self.settings.network.agent(name) else {
            self.unknown += 1;
            if let Some(member) = self.members.get_mut(&session) {
                member.channel.order(SessionOrder::Close(Reason::Unknown), now);
                member.gone = Some(now + self.settings.limits.linger);
            }
            return;
        };
        let other = self.session_of(node).filter(|other| *other != session);
        if let Some(other) = other {
            let silence = self.settings.limits.silence;
            let there = self.members.get(&other).is_some_and(|other| {
                other.caller != caller && now.saturating_since(other.channel.heard_at) < silence
            });
            if there {
                // two say that they are one: the first stays until it falls silent
                self.tx.stats.discarded.misplaced += 1;
                return;
            }
            self.members.remove(&other);
        }
        if let Some(member) = self.members.get_mut(&session) {
            member.node = Some(node);
        }
        if let Some(task) = self.tasks.get(&node) {
            self.say(session, Frame::Task(Box::new(task.clone())), now);
        }
        if self.last.insert(node, caller).is_some_and(|before| before != caller) {
            // a forwarder that restarted has forgotten its commands
            self.begin_again(now);
        }
    }

    fn on_attempt(&mut self, bytes: &[u8], from: SocketAddr, now: Time) {
        let Attempt::Hello(hello) =
            self.listener.on_attempt(bytes, from, now, self.tx.platform, &mut self.tx.stats)
        else {
            return;
        };
        let reason = match () {
            () if hello.role != Role::Agent => Reason::Mismatch,
            () if self.members.len() >= self.tasks.len() + SPARE => Reason::Busy,
            () => return self.admit(&hello, from, now),
        };
        self.listener.refuse(&hello, from, reason, self.tx.platform, &mut self.tx.stats);
    }

    fn admit(&mut self, hello: &CallerHello, from: SocketAddr, now: Time) {
        let (channel, welcome) =
            self.listener.admit(hello, from, now, Admission { peer: 0, group: None }, None, self.tx.platform);
        // a session has that number: the next hello of the caller draws another
        if self.members.contains_key(&channel.session) {
            return;
        }
        self.listener.welcome(hello, welcome, from, self.tx.platform, &mut self.tx.stats);
        self.tx.stats.sessions += 1;
        let member = Member { caller: hello.caller, channel, node: None, gone: None };
        self.members.insert(member.channel.session, member);
    }

    fn session_of(&self, node: NodeId) -> Option<u32> {
        self.members.iter().find(|(_, member)| member.node == Some(node)).map(|(session, _)| *session)
    }

    fn say(&mut self, session: u32, frame: Frame<'_>, now: Time) {
        let Some(member) = self.members.get_mut(&session) else { return };
        self.tx.on(&mut member.channel).say(frame, Ecn::NotCapable, now);
    }
}

/// The controller among the nodes of its network.
const ME: Address = Address { node: NodeId(u32::MAX), endpoint: EndpointId(u32::MAX) };

const fn address(node: NodeId) -> Address {
    Address { node, endpoint: EndpointId(node.0) }
}

fn make(settings: &Settings, app: AnyApp) -> Controller<AnyApp> {
    let net = &settings.network.net;
    let locations: Vec<AgentLocation> =
        net.agents.iter().map(|node| AgentLocation { address: address(*node), port: None }).collect();
    Controller::new(&settings.config, app, net.clone(), &locations)
}

fn make_app(settings: &Settings) -> Result<AnyApp, Error> {
    let setup = Setup { segment: settings.data, header: Bytes::ZERO, initial_window: Bytes::UNLIMITED };
    match schemes::find(&settings.app) {
        Some(schemes::Entry { app: Some(make), .. }) => Ok(make(&settings.app_params, &setup)?),
        _ => Err(Error::NoApp(settings.app.clone())),
    }
}

/// A controller forwards nothing and has no ports.
struct Nowhere;

impl NodeView for Nowhere {
    fn port(&mut self, port: PortId) -> PortView {
        let nothing = Backlog { packets: 0, bytes: Bytes::ZERO };
        PortView {
            port,
            to: ME.node,
            rate: Rate::ZERO,
            rate_in: Rate::ZERO,
            backlog: nothing,
            busy: false,
            limit: nothing,
        }
    }

    fn next(&self, _to: NodeId) -> Option<PortId> {
        None
    }

    fn cost(&self, _to: NodeId) -> Option<u64> {
        None
    }
}
