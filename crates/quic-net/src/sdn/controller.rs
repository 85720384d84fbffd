//! The controller as a process: QUIC connections with agents around the state machine and its app.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use contract::{
    Address, App, Backlog, Command, Control as SdnMessage, Cx, Ecn, EndpointId, FlowId, Header, Meter,
    NodeCx, NodeId, NodeView, Outputs, Packet, PortId, PortView, Random, Router, RouterInput, Setup,
};
use driver::Platform;
use quinn_proto::{Connection, ConnectionHandle, Dir, Event, StreamEvent, StreamId};
use schemes::AnyApp;
use stack::sdn::{AgentLocation, Controller};
use units::{Bytes, Duration, Rate, Time};
use wire::sdn::{Attach, ControlMessage, INSTANCE, Task};
use wire::stream::Reason;

use super::{Control, Error, NodeStats, Settings, Stats, transport};
use crate::host::{Counters, Host, Hosted, Protocol, drive};
use crate::{Discarded, End, code};

/// Interval at which the status is published and a stop is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum number of connections beyond one per node, for agents that reconnect before a timeout.
const SPARE: usize = 16;

/// Runs a controller at the address of `platform` until it is stopped. Returns its status.
///
/// # Errors
///
/// The settings are invalid.
pub fn control(settings: Settings, platform: &mut impl Platform, control: &Control) -> Result<Stats, Error> {
    let server = transport::controller(&settings.credentials, &settings.limits, platform);
    let now = platform.now();
    let mut controller = ControllerLoop::new(settings, control, now)?;
    let mut host = Host::new(platform, Some(server));
    drive(&mut host, &mut controller);
    let stats = controller.stats(&host.counters);
    control.publish(stats.clone());
    Ok(stats)
}

/// An open connection.
struct Member {
    id: ConnectionHandle,
    at: SocketAddr,
    /// The stream of the attachment and the task.
    stream: Option<StreamId>,
    /// Received of the attachment.
    inbound: Vec<u8>,
    /// When the handshake was complete.
    opened_at: Time,
    state: State,
}

/// How far the agent of a connection is.
enum State {
    /// Its node is not known yet.
    Opening,
    /// It has, and gets its task next.
    Attaching(Attach),
    /// It is at this node.
    Attached { node: NodeId, instance: [u8; INSTANCE] },
    /// The connection is to be closed.
    Refused(Reason),
}

impl Member {
    const fn node(&self) -> Option<NodeId> {
        match self.state {
            State::Attached { node, .. } => Some(node),
            _ => None,
        }
    }

    /// Reads the attachment, unless it was read.
    fn read_attach(&mut self, connection: &mut Connection, discarded: &mut Discarded) {
        if !matches!(self.state, State::Opening) {
            return;
        }
        let Some(id) = self.stream else { return };
        if transport::read_whole(connection, id, &mut self.inbound) {
            self.state = match Attach::read(&self.inbound) {
                Ok(attach) => State::Attaching(attach),
                Err(_) => {
                    discarded.malformed += 1;
                    State::Refused(Reason::Mismatch)
                }
            };
        }
    }
}

struct ControllerLoop<'a> {
    settings: Settings,
    tasks: BTreeMap<NodeId, Task>,
    machine: Controller<AnyApp>,
    random: Random,
    out: Outputs,
    meter: Meter,
    discarded: Discarded,
    control: &'a Control,
    members: Vec<Member>,
    /// Messages of the state machine that have not been sent.
    outgoing: Vec<(NodeId, ControlMessage)>,
    /// The last agent at each node.
    last: BTreeMap<NodeId, [u8; INSTANCE]>,
    starts: u32,
    unknown: u64,
    poll_at: Time,
}

impl Protocol for ControllerLoop<'_> {
    fn on_packet(&mut self, id: ConnectionHandle, connection: &mut Connection, _ecn: Ecn, now: Time) {
        let Some(at) = self.members.iter().position(|member| member.id == id) else { return };
        let member = &mut self.members[at];
        member.at = connection.remote_address();
        let node = member.node();
        while let Some(bytes) = connection.datagrams().recv() {
            match (node, ControlMessage::read(&bytes)) {
                (Some(node), Ok(message)) if self.fits(&message, node) => {
                    self.on_message(&message, node, bytes.len(), now);
                }
                (_, Ok(_)) => self.discarded.misplaced += 1,
                (_, Err(_)) => self.discarded.malformed += 1,
            }
        }
    }

    fn on_event(&mut self, id: ConnectionHandle, connection: &mut Connection, event: Event, now: Time) {
        let found = self.members.iter().position(|member| member.id == id);
        match (event, found) {
            (Event::Connected, None) => {
                let busy = self.members.len() >= self.tasks.len() + SPARE;
                self.members.push(Member {
                    id,
                    at: connection.remote_address(),
                    stream: None,
                    inbound: Vec::new(),
                    opened_at: now,
                    state: if busy { State::Refused(Reason::Busy) } else { State::Opening },
                });
            }
            (Event::Stream(event), Some(at)) => {
                let member = &mut self.members[at];
                if matches!(event, StreamEvent::Opened { dir: Dir::Bi }) && member.stream.is_none() {
                    member.stream = connection.streams().accept(Dir::Bi);
                }
                member.read_attach(connection, &mut self.discarded);
            }
            (Event::ConnectionLost { .. }, Some(at)) => drop(self.members.swap_remove(at)),
            // its handshake failed
            (Event::ConnectionLost { .. }, None) => self.discarded.forged += 1,
            _ => {}
        }
    }
}

impl<P: Platform> Hosted<P> for ControllerLoop<'_> {
    fn turn(&mut self, host: &mut Host<P>, now: Time) -> Option<End> {
        self.attach(host, now);
        if self.machine.wake() <= now {
            self.handle(RouterInput::Timer, now);
        }
        for (node, message) in std::mem::take(&mut self.outgoing) {
            // messages to agents that are not connected are lost, as on a link that is down
            let member = self.members.iter().find(|member| member.node() == Some(node));
            if let Some(connection) = member.and_then(|member| host.connection(member.id)) {
                let mut bytes = Vec::new();
                message.write(&mut bytes);
                // of too many messages that wait, the oldest are lost
                let _ = connection.datagrams().send(bytes.into(), true);
            }
        }
        if now < self.poll_at {
            return None;
        }
        self.poll_at = now + POLL_INTERVAL;
        self.control.publish(self.stats(&host.counters));
        if !self.control.stopped() {
            return None;
        }
        for member in &self.members {
            host.close(member.id, code(Reason::Stopped), "", now);
        }
        Some(End::Stopped)
    }

    fn wake(&self, _now: Time) -> Time {
        self.machine.wake().min(self.poll_at)
    }

    fn paced(&self) -> Option<u64> {
        None
    }
}

impl<'a> ControllerLoop<'a> {
    fn new(settings: Settings, control: &'a Control, now: Time) -> Result<Self, Error> {
        let network = &settings.network;
        let app = make_app(&settings)?;
        let nameless =
            network.net.origins.keys().find(|id| !network.prefixes.iter().any(|(of, _)| of == *id));
        if let Some(prefix) = nameless {
            return Err(Error::NoName(*prefix));
        }
        let requirements = app.requirements();
        let mut tasks = BTreeMap::new();
        for &node in &network.net.agents {
            let task = network.task(node, &settings.config, requirements.signal_above);
            if !task.fits() {
                return Err(Error::TooLarge(network.name(node).to_owned()));
            }
            tasks.insert(node, task);
        }
        let machine = make(&settings, app);
        let mut controller = Self {
            random: Random::new(settings.seed, "controller", "app"),
            settings,
            tasks,
            machine,
            out: Outputs::default(),
            meter: Meter::default(),
            discarded: Discarded::default(),
            control,
            members: Vec::new(),
            outgoing: Vec::new(),
            last: BTreeMap::new(),
            starts: 1,
            unknown: 0,
            poll_at: now,
        };
        controller.handle(RouterInput::Start, now);
        Ok(controller)
    }

    fn stats(&self, counters: &Counters) -> Stats {
        let node = |&node: &NodeId| {
            let network = &self.settings.network;
            let load = |port: &PortId| {
                let seen = self.machine.cache().seen(*port)?;
                Some((network.links.get(port.index())?.clone(), seen.status.load))
            };
            let ports = network.net.out.get(node.index()).map_or(&[][..], Vec::as_slice);
            NodeStats {
                name: network.name(node).to_owned(),
                at: self.members.iter().find(|member| member.node() == Some(node)).map(|member| member.at),
                loads: ports.iter().filter_map(load).collect(),
            }
        };
        Stats {
            nodes: self.settings.network.net.agents.iter().map(node).collect(),
            meter: self.meter.clone(),
            open_commands: self.machine.open_commands(),
            starts: self.starts,
            unknown: self.unknown,
            sent: counters.sent,
            received: counters.received,
            discarded: Discarded { strangers: counters.strangers + counters.refused, ..self.discarded },
        }
    }

    // ---- the state machine

    /// Passes an input to the state machine, and queues its messages.
    fn handle(&mut self, input: RouterInput<'_>, now: Time) {
        let Self { machine, random, out, meter, outgoing, .. } = self;
        let mut cx = Cx::new(now, ME, FlowId(u32::MAX), random, meter, out);
        machine.handle(input, &mut NodeCx::new(&mut cx, &mut Nowhere));
        for id in std::mem::take(&mut out.outbox) {
            let packet = *out.arena.get(id);
            out.arena.release(id);
            if let (Header::Control(frame), Some(node)) = (packet.header, packet.to.node()) {
                outgoing.push((node, ControlMessage { sent_at: packet.sent_at, label: packet.label, frame }));
            }
        }
    }

    /// Restarts the state machine, which requests the commands in force from all agents.
    fn restart(&mut self, now: Time) {
        // the parameters were accepted before
        let Ok(app) = make_app(&self.settings) else { return };
        self.machine = make(&self.settings, app);
        self.starts += 1;
        self.handle(RouterInput::Start, now);
    }

    fn on_message(&mut self, message: &ControlMessage, node: NodeId, length: usize, now: Time) {
        let packet = Packet {
            flow: FlowId(u32::MAX),
            size_bytes: length as u32,
            source: address(node),
            to: ME.into(),
            sent_at: message.sent_at,
            label: message.label,
            header: Header::Control(message.frame),
            ecn: Ecn::NotCapable,
            hops: 0,
            waited: Default::default(),
        };
        self.handle(RouterInput::Packet(&packet, PortId(node.0)), now);
    }

    /// Whether a message is valid from this node: about its own ports and known prefixes.
    fn fits(&self, message: &ControlMessage, node: NodeId) -> bool {
        let network = &self.settings.network;
        match message.frame {
            SdnMessage::Status(status) => network.is_of(status.port, node),
            SdnMessage::Signal { port } => network.is_of(port, node),
            SdnMessage::Shares { port, .. } => {
                let more = self.machine.cache().seen(port);
                let more = more.is_some_and(|seen| seen.shares.len() < usize::from(seen.status.shares));
                more && network.is_of(port, node)
            }
            SdnMessage::Installed(Command::NextHops { prefix, hops }) => {
                network.net.origins.contains_key(&prefix)
                    && hops.list().iter().all(|hop| network.is_of(hop.port, node))
            }
            SdnMessage::Installed(Command::Queue { port, .. } | Command::Cap { port, .. }) => {
                network.is_of(port, node)
            }
            SdnMessage::Ack | SdnMessage::StateComplete { .. } => true,
            SdnMessage::Installed(Command::Route { .. }) | SdnMessage::Command(_) | SdnMessage::Hello => {
                false
            }
        }
    }

    // ---- connections

    /// Assigns tasks to agents that have identified themselves, and closes connections that are refused.
    fn attach<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        for at in 0..self.members.len() {
            let member = &mut self.members[at];
            match &member.state {
                State::Attaching(attach) => {
                    let attach = attach.clone();
                    self.on_attach(at, &attach, host, now);
                }
                State::Opening if now >= member.opened_at + self.settings.limits.silence => {
                    member.state = State::Refused(Reason::NoProgress);
                }
                State::Opening | State::Attached { .. } | State::Refused(_) => {}
            }
        }
        self.members.retain(|member| {
            let State::Refused(reason) = member.state else { return true };
            host.close(member.id, code(reason), "", now);
            false
        });
    }

    /// An agent has identified itself.
    fn on_attach<P: Platform>(&mut self, at: usize, attach: &Attach, host: &mut Host<P>, now: Time) {
        let &Attach { instance, ref node } = attach;
        let Some(node) = self.settings.network.agent(node) else {
            self.unknown += 1;
            self.members[at].state = State::Refused(Reason::Unknown);
            return;
        };
        if let Some(other) = self.members.iter_mut().find(|member| member.node() == Some(node)) {
            if !matches!(other.state, State::Attached { instance: known, .. } if known == instance) {
                // another process claims the same node: the first stays until its connection is lost
                self.members[at].state = State::Refused(Reason::Busy);
                return;
            }
            // its earlier connection, which it has given up
            other.state = State::Refused(Reason::Stopped);
        }
        let member = &mut self.members[at];
        member.state = State::Attached { node, instance };
        let connection = host.connection(member.id);
        if let (Some(connection), Some(stream), Some(task)) =
            (connection, member.stream, self.tasks.get(&node))
        {
            let mut bytes = Vec::new();
            task.write(&mut bytes);
            let mut stream = connection.send_stream(stream);
            // an agent's flow control has room for the longest task; a connection without that room has no use
            let _ = stream.write(&bytes);
            let _ = stream.finish();
        }
        if self.last.insert(node, instance).is_some_and(|before| before != instance) {
            // a forwarder that restarted has forgotten its commands
            self.restart(now);
        }
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
