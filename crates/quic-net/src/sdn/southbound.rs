//! The southbound channel at an agent: its connection with the controller, and the agent's state machine. Measurement
//! and execution belong to the forwarder.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use contract::{
    Address, Command, Ecn, EndpointId, FlowId, Header, Meter, NodeCx, NodeId, NodeView, Outputs, Packet,
    PortId, Random, Requirements, RouterInput, Traffic,
};
use driver::{Batch, GsoBatch, Platform, SendOutcome};
use quinn_proto::{ClientConfig, Connection, ConnectionError, ConnectionHandle, Dir, Event, StreamId};
use stack::sdn::{Agent, Config};
use units::{Duration, Time};
use wire::sdn::{Attach, ControlMessage, INSTANCE, Task};
use wire::stream::Reason;

use super::transport;
use crate::host::{Host, Protocol};
use crate::{Credentials, Discarded, Limits, NAME, Pins, code, reason};

/// Time until a controller that refused the agent, or ended, is connected to again.
const LATER: Duration = Duration::from_secs(1);

/// What the controller has sent for the forwarder.
pub enum Received {
    /// A task. A new one is to begin by [`SouthboundChannel::begin`].
    Task(Box<Task>),
    /// A message for the state machine.
    Message(ControlMessage),
}

/// An agent's end of the southbound channel, which connects until the controller has assigned a task, and the agent's
/// state machine.
///
/// It is sans-IO: the forwarder passes it datagrams from the controller's address, and [`SouthboundChannel::flush`]
/// returns what is to be sent there.
pub struct SouthboundChannel {
    to: SocketAddr,
    config: ClientConfig,
    pins: Arc<Pins>,
    host: Host<Outbox>,
    channel: Channel,
    /// When it connects again.
    connect_at: Time,
    /// Why the controller last refused it.
    last_refusal: Option<String>,
    machine: Option<Agent>,
    /// Counters of the state machine.
    pub meter: Meter,
    random: Random,
    out: Outputs,
}

/// The connection with the controller.
struct Channel {
    attach: Vec<u8>,
    id: Option<ConnectionHandle>,
    stream: Option<StreamId>,
    /// Received of the task.
    inbound: Vec<u8>,
    /// Whether the controller has assigned a task on this connection.
    has_task: bool,
    received: VecDeque<Received>,
    lost: Option<ConnectionError>,
    /// Connections on which the controller has assigned a task.
    sessions: u32,
    discarded: Discarded,
}

impl Channel {
    /// Reads the task, unless it was read.
    fn read_task(&mut self, connection: &mut Connection) {
        let Some(id) = self.stream.filter(|_| !self.has_task) else { return };
        if !transport::read_whole(connection, id, &mut self.inbound) {
            return;
        }
        match Task::read(&std::mem::take(&mut self.inbound)) {
            Ok(task) => {
                self.has_task = true;
                self.sessions += 1;
                self.received.push_back(Received::Task(Box::new(task)));
            }
            Err(_) => self.discarded.malformed += 1,
        }
    }
}

impl Protocol for Channel {
    fn on_packet(&mut self, id: ConnectionHandle, connection: &mut Connection, _ecn: Ecn, _now: Time) {
        if self.id != Some(id) {
            return;
        }
        // a packet can have the end of the task and a message
        self.read_task(connection);
        while let Some(bytes) = connection.datagrams().recv() {
            match ControlMessage::read(&bytes) {
                Ok(message) if self.has_task => self.received.push_back(Received::Message(message)),
                Ok(_) => self.discarded.misplaced += 1,
                Err(_) => self.discarded.malformed += 1,
            }
        }
    }

    fn on_event(&mut self, id: ConnectionHandle, connection: &mut Connection, event: Event, _now: Time) {
        if self.id != Some(id) {
            return;
        }
        match event {
            Event::Connected => {
                self.stream = connection.streams().open(Dir::Bi);
                if let Some(stream) = self.stream {
                    let mut stream = connection.send_stream(stream);
                    // a controller's flow control has room for it; without it there is no task, and the connection has
                    // no use
                    let _ = stream.write(&self.attach);
                    let _ = stream.finish();
                }
            }
            Event::Stream(_) => self.read_task(connection),
            Event::ConnectionLost { reason } => self.lost = Some(reason),
            _ => {}
        }
    }
}

/// Datagrams to the controller, and the clock and random numbers of a connection in a state machine.
struct Outbox {
    now: Time,
    /// The datagrams, and the length of each.
    bytes: Vec<u8>,
    lengths: Vec<usize>,
    seed: [u8; 32],
    drawn: u64,
}

impl Platform for Outbox {
    fn now(&mut self) -> Time {
        self.now
    }

    fn wait(&mut self, _until: Time) {}

    fn receive(&mut self, batch: &mut Batch) -> bool {
        batch.clear();
        false
    }

    fn send(&mut self, batch: &GsoBatch<'_>) -> SendOutcome {
        for datagram in batch.bytes.chunks(batch.segment_size) {
            self.bytes.extend_from_slice(datagram);
            self.lengths.push(datagram.len());
        }
        SendOutcome::Accepted
    }

    /// Bytes that only who knows the seed can predict.
    fn fill_random(&mut self, bytes: &mut [u8]) {
        self.drawn += 1;
        let mut hasher = blake3::Hasher::new_keyed(&self.seed);
        hasher.update(&self.drawn.to_be_bytes());
        hasher.finalize_xof().fill(bytes);
    }
}

impl SouthboundChannel {
    /// The agent of `node`, which connects to the controller at `to`. `seed` is random and secret.
    pub fn new(
        node: &str,
        to: SocketAddr,
        credentials: &Credentials,
        limits: &Limits,
        seed: [u8; 32],
        now: Time,
    ) -> Self {
        let mut outbox = Outbox { now, bytes: Vec::new(), lengths: Vec::new(), seed, drawn: 0 };
        let mut instance = [0; INSTANCE];
        outbox.fill_random(&mut instance);
        let mut attach = Vec::new();
        Attach { instance, node: node.to_owned() }.write(&mut attach);
        let (config, pins) = transport::agent(credentials, limits);
        let channel = Channel {
            attach,
            id: None,
            stream: None,
            inbound: Vec::new(),
            has_task: false,
            received: VecDeque::new(),
            lost: None,
            sessions: 0,
            discarded: Discarded::default(),
        };
        Self {
            to,
            config,
            pins,
            host: Host::new(outbox, None),
            channel,
            connect_at: now,
            last_refusal: None,
            machine: None,
            meter: Meter::default(),
            random: Random::new(0, node, "agent"),
            out: Outputs::default(),
        }
    }

    /// Whether the controller is connected and has assigned a task.
    pub const fn has_task(&self) -> bool {
        self.channel.has_task
    }

    /// Why the controller last refused it, for users.
    pub fn last_refusal(&self) -> Option<&str> {
        self.last_refusal.as_deref()
    }

    /// Connections on which a controller has assigned a task.
    pub const fn sessions(&self) -> u32 {
        self.channel.sessions
    }

    /// Datagrams and messages that were not accepted.
    pub fn discarded(&self) -> Discarded {
        Discarded { strangers: self.host.counters.strangers, ..self.channel.discarded }
    }

    /// The state machine with the commands in force; `None` before the first task.
    pub const fn machine(&self) -> Option<&Agent> {
        self.machine.as_ref()
    }

    /// Begins with a task; `ports` are its ports that exist, in ascending order. Earlier commands are forgotten.
    pub fn begin(&mut self, task: &Task, ports: &[PortId]) {
        let Task { period, detection, phase, .. } = *task;
        let config = Config { period, detection, phase, ..Config::default() };
        let requirements = Requirements { signal_above: task.signal_above };
        // traffic is reported by the controller's names
        self.machine = Some(Agent::new(&config, CONTROLLER, None, requirements, ports, Arc::default()));
    }

    /// The forwarder is about to offer a packet of this many bytes to a port.
    pub fn on_offer(&mut self, bytes: u32, what: Option<Traffic>, port: PortId) {
        if let Some(machine) = &mut self.machine {
            machine.on_offer(u64::from(bytes), what, port);
        }
    }

    /// Handles a datagram from the controller's address.
    pub fn on_datagram(&mut self, bytes: &[u8], now: Time) {
        self.host.platform.now = now;
        self.host.on_datagram(bytes, self.to, Ecn::NotCapable, &mut self.channel);
        self.watch(now);
    }

    /// What the controller has sent, in order.
    pub fn received(&mut self) -> Option<Received> {
        self.channel.received.pop_front()
    }

    /// Gives the state machine an input and sends its messages. Returns the commands to execute.
    pub fn handle(&mut self, input: RouterInput<'_>, now: Time, view: &mut dyn NodeView) -> Vec<Command> {
        let Self { machine, random, out, meter, .. } = self;
        let Some(machine) = machine else { return Vec::new() };
        let mut cx = contract::Cx::new(now, ME, FlowId(u32::MAX), random, meter, out);
        machine.handle(input, &mut NodeCx::new(&mut cx, view));
        let outbox = std::mem::take(&mut self.out.outbox);
        for &id in &outbox {
            let packet = *self.out.arena.get(id);
            self.out.arena.release(id);
            if let Header::Control(frame) = packet.header {
                self.send(&ControlMessage { sent_at: packet.sent_at, label: packet.label, frame });
            }
        }
        self.out.outbox = outbox;
        self.out.outbox.clear();
        std::mem::take(&mut self.out.commands)
    }

    /// Sends a message. Without a controller it is lost, as on a link that is down.
    pub fn send(&mut self, message: &ControlMessage) {
        let id = self.channel.id.filter(|_| self.channel.has_task);
        if let Some(connection) = id.and_then(|id| self.host.connection(id)) {
            let mut bytes = Vec::new();
            message.write(&mut bytes);
            // of too many messages that wait, the oldest are lost
            let _ = connection.datagrams().send(bytes.into(), true);
        }
    }

    /// A message of the controller as a packet for the state machine.
    pub fn packet(message: &ControlMessage) -> Packet {
        Packet {
            flow: FlowId(u32::MAX),
            size_bytes: 0,
            source: CONTROLLER,
            to: ME.into(),
            sent_at: message.sent_at,
            label: message.label,
            header: Header::Control(message.frame),
            ecn: Ecn::NotCapable,
            hops: 0,
            waited: Default::default(),
        }
    }

    /// Whether a deadline of the state machine is due.
    pub fn machine_is_due(&self, now: Time) -> bool {
        self.machine.as_ref().is_some_and(|machine| machine.wake() <= now)
    }

    /// Handles what is due on the connection.
    pub fn on_time(&mut self, now: Time) {
        self.host.platform.now = now;
        self.host.expire(&mut self.channel, now);
        self.watch(now);
        if self.channel.id.is_none() && self.connect_at <= now {
            self.connect(now);
        }
    }

    fn connect(&mut self, now: Time) {
        match self.host.connect(self.config.clone(), self.to, NAME, now) {
            Ok(id) => self.channel.id = Some(id),
            Err(error) => {
                self.last_refusal = Some(error.to_string());
                self.connect_at = Time::NEVER;
            }
        }
    }

    /// After a connection was lost, another is opened: at once, unless the controller refused it.
    fn watch(&mut self, now: Time) {
        if self.channel.has_task {
            self.last_refusal = None;
        }
        let Some(lost) = self.channel.lost.take() else { return };
        let refusal = match lost {
            ConnectionError::ApplicationClosed(close) => {
                Some(reason(close.error_code.into_inner()).to_string())
            }
            ConnectionError::TransportError(error) => {
                self.channel.discarded.forged += 1;
                Some(self.pins.rejection().unwrap_or_else(|| error.to_string()))
            }
            ConnectionError::ConnectionClosed(close) => {
                let why = wire::printable(&String::from_utf8_lossy(&close.reason));
                Some(format!("the controller does not accept this agent: give both the same key ({why})"))
            }
            _ => None,
        };
        self.connect_at = if refusal.is_some() { now + LATER } else { now };
        self.last_refusal = refusal.or(self.last_refusal.take());
        let Channel { id, stream, inbound, has_task, .. } = &mut self.channel;
        (*id, *stream, *has_task) = (None, None, false);
        inbound.clear();
    }

    /// Closes the connection.
    pub fn close(&mut self, now: Time) {
        self.connect_at = Time::NEVER;
        if let Some(id) = self.channel.id {
            self.host.close(id, code(Reason::Stopped), "", now);
        }
    }

    /// Calls `send` with each datagram that is to be sent to the controller.
    pub fn flush(&mut self, now: Time, mut send: impl FnMut(&[u8])) {
        self.host.platform.now = now;
        while self.host.transmit(now) {}
        let Outbox { bytes, lengths, .. } = &mut self.host.platform;
        let mut rest = &bytes[..];
        for length in lengths.drain(..) {
            let (datagram, more) = rest.split_at(length);
            send(datagram);
            rest = more;
        }
        bytes.clear();
    }

    /// The next deadline.
    pub fn wake(&self) -> Time {
        let connect_at = if self.channel.id.is_none() { self.connect_at } else { Time::NEVER };
        let machine = self.machine.as_ref().map_or(Time::NEVER, Agent::wake);
        self.host.wake().min(connect_at).min(machine)
    }
}

const ME: Address = Address { node: NodeId(0), endpoint: EndpointId(0) };
const CONTROLLER: Address = Address { node: NodeId(u32::MAX), endpoint: EndpointId(u32::MAX) };
