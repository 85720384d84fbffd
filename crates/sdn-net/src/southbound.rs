//! The southbound channel: an agent's half of the session with its controller, and the agent's state machine. Measurement and execution belong to the
//! forwarder.

use std::net::SocketAddr;
use std::sync::Arc;

use contract::{
    Address, Command, Ecn, EndpointId, FlowId, Header, Meter, NodeCx, NodeId, NodeView, Outputs, Packet,
    PortId, Random, RouterInput, Traffic, Wants,
};
use driver::{GsoBatches, Platform};
use live::{Caller, Channel, Limits, Reply, Secret, Stats};
use stack::sdn::{Agent, Config};
use units::{Duration, Time};
use wire::stream::{Datagram, Frame, Order as SessionOrder, Reason, Role, Said, Task};

/// Timeout of the attachment message, which grows by half each time, and its maximum.
const AGAIN: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));
/// Time until a controller that refused the agent, or ended, is called again.
const LATER: Duration = Duration::from_secs(2);

/// What a datagram contains for the forwarder.
pub enum Received {
    /// Nothing: it was of the session, or discarded.
    Nothing,
    /// A new task, with which the agent has to begin by [`SouthboundChannel::begin`].
    Task(Box<Task>),
    /// A message for the state machine.
    Frame(Said),
}

/// An agent's half of the session with its controller, which calls until it is connected, and the agent's state machine.
pub struct SouthboundChannel {
    node: String,
    limits: Limits,
    caller: Caller,
    channel: Option<Channel>,
    /// When it calls again after a refusal.
    call_at: Time,
    /// Whether the controller has assigned a task in this session.
    has_task: bool,
    say_at: Time,
    wait: Duration,
    /// Why the controller last refused it.
    last_refusal: Option<Reason>,
    machine: Option<Agent>,
    gso_batches: GsoBatches,
    /// Counters of the session.
    pub stats: Stats,
    random: Random,
    out: Outputs,
}

impl SouthboundChannel {
    /// The agent of `node`, which calls the controller at `to`.
    pub fn new(
        node: &str,
        to: SocketAddr,
        secret: &Secret,
        limits: Limits,
        now: Time,
        platform: &mut impl Platform,
    ) -> Self {
        Self {
            node: node.to_owned(),
            limits,
            caller: Caller::new(to, secret, Role::Agent, None, None, now, platform),
            channel: None,
            call_at: Time::NEVER,
            has_task: false,
            say_at: Time::NEVER,
            wait: AGAIN.0,
            last_refusal: None,
            machine: None,
            gso_batches: GsoBatches::default(),
            stats: Stats::default(),
            random: Random::new(0, node, "agent"),
            out: Outputs::default(),
        }
    }

    /// Whether the controller is connected and has assigned a task.
    pub const fn has_task(&self) -> bool {
        self.has_task
    }

    /// Why the controller last refused it.
    pub const fn last_refusal(&self) -> Option<Reason> {
        self.last_refusal
    }

    /// The state machine with the commands in force; `None` before the first task.
    pub const fn machine(&self) -> Option<&Agent> {
        self.machine.as_ref()
    }

    /// Its counters.
    pub fn meter(&mut self) -> &mut Meter {
        &mut self.stats.meter
    }

    /// Begins with a task and those of its `ports` that exist, in ascending order. Earlier commands are forgotten.
    pub fn begin(&mut self, task: &Task, ports: &[PortId]) {
        let config = Config { period: task.period, phase: task.phase, ..Config::default() };
        let wants = Wants { signal_above: task.signal_above };
        // traffic is reported by the controller's names
        self.machine = Some(Agent::new(&config, CONTROLLER, None, wants, ports, Arc::default()));
    }

    /// The forwarder is about to offer a packet of this many bytes to a port.
    pub fn on_offer(&mut self, bytes: u32, what: Option<Traffic>, port: PortId) {
        if let Some(machine) = &mut self.machine {
            machine.on_offer(u64::from(bytes), what, port);
        }
    }

    /// Handles a datagram from the controller's address.
    pub fn on_datagram(
        &mut self,
        bytes: &[u8],
        from: SocketAddr,
        now: Time,
        platform: &mut impl Platform,
    ) -> Received {
        let received = self.receive(bytes, from, now, platform);
        self.gso_batches.flush(platform);
        received
    }

    fn receive(
        &mut self,
        bytes: &[u8],
        from: SocketAddr,
        now: Time,
        platform: &mut impl Platform,
    ) -> Received {
        let Ok((session, opening)) = Datagram::peek(bytes) else {
            self.stats.discarded.malformed += 1;
            return Received::Nothing;
        };
        if opening {
            self.on_answer(bytes, from, now, platform);
            return Received::Nothing;
        }
        let Some(channel) = self.channel.as_mut().filter(|channel| channel.session == session) else {
            self.stats.discarded.strangers += 1;
            return Received::Nothing;
        };
        match channel.read(bytes, from, now, &mut self.stats) {
            None | Some(Frame::KeepAlive) => {}
            Some(Frame::Ack { serial }) => channel.on_heard(serial, now),
            Some(Frame::Order { serial, order }) => {
                if channel.on_order(serial).1 {
                    self.say(Frame::Ack { serial }, now, platform);
                }
                if let SessionOrder::Close(reason) = order {
                    self.on_refusal(reason, now);
                }
            }
            Some(Frame::Task(task)) => {
                self.has_task = true;
                self.last_refusal = None;
                return Received::Task(task);
            }
            Some(Frame::Control(said)) if self.has_task => return Received::Frame(said),
            Some(_) => self.stats.discarded.misplaced += 1,
        }
        Received::Nothing
    }

    fn on_answer(&mut self, bytes: &[u8], from: SocketAddr, now: Time, platform: &mut impl Platform) {
        match self.caller.on_answer(bytes, from, now, platform, &mut self.stats) {
            Reply::Nothing => {}
            Reply::Refused(reason) => self.on_refusal(reason, now),
            Reply::Welcome { channel, .. } => {
                self.caller.rest();
                self.channel = Some(*channel);
                self.stats.sessions += 1;
                self.stats.opened_at = self.stats.opened_at.min(now);
                (self.has_task, self.say_at, self.wait) = (false, now, AGAIN.0);
                self.on_time(now, platform);
            }
        }
    }

    fn on_refusal(&mut self, reason: Reason, now: Time) {
        self.last_refusal = Some(reason);
        self.caller.rest();
        (self.channel, self.has_task, self.say_at, self.call_at) = (None, false, Time::NEVER, now + LATER);
    }

    /// Gives the state machine an input and sends its messages. Returns the commands to execute.
    pub fn handle(
        &mut self,
        input: RouterInput<'_>,
        now: Time,
        view: &mut dyn NodeView,
        platform: &mut impl Platform,
    ) -> Vec<Command> {
        let Self { machine, random, out, stats, .. } = self;
        let Some(machine) = machine else { return Vec::new() };
        let mut cx = contract::Cx::new(now, ME, FlowId(u32::MAX), random, &mut stats.meter, out);
        machine.handle(input, &mut NodeCx::new(&mut cx, view));
        let outbox = std::mem::take(&mut self.out.outbox);
        for &id in &outbox {
            let packet = *self.out.arena.get(id);
            self.out.arena.release(id);
            // without a controller it is lost
            if let (Header::Control(frame), true) = (packet.header, self.has_task) {
                let said = Said { sent_at: packet.sent_at, label: packet.label, frame };
                self.say(Frame::Control(said), now, platform);
            }
        }
        self.out.outbox = outbox;
        self.out.outbox.clear();
        self.gso_batches.flush(platform);
        std::mem::take(&mut self.out.commands)
    }

    /// A message of the controller as a packet for the state machine.
    pub fn packet(said: &Said) -> Packet {
        Packet {
            flow: FlowId(u32::MAX),
            size_bytes: 0,
            source: CONTROLLER,
            to: ME.into(),
            sent_at: said.sent_at,
            label: said.label,
            header: Header::Control(said.frame),
            ecn: Ecn::NotCapable,
            hops: 0,
        }
    }

    /// Whether a deadline of the state machine is due.
    pub fn machine_is_due(&self, now: Time) -> bool {
        self.machine.as_ref().is_some_and(|machine| machine.wake() <= now)
    }

    /// Handles what is due in the session.
    pub fn on_time(&mut self, now: Time, platform: &mut impl Platform) {
        if self.call_at <= now {
            self.call_at = Time::NEVER;
            self.caller.again(now, platform);
        }
        self.caller.turn(now, platform, &mut self.stats);
        let Some(channel) = &mut self.channel else { return };
        if now >= channel.heard_at + self.limits.silence {
            (self.channel, self.has_task, self.say_at) = (None, false, Time::NEVER);
            self.caller.again(now, platform);
            return self.caller.turn(now, platform, &mut self.stats);
        }
        if let Some((serial, order)) = channel.due(now) {
            self.say(Frame::Order { serial, order }, now, platform);
        }
        if self.say_at <= now && !self.has_task {
            self.say_at = now + self.wait;
            self.wait = self.wait.scaled(1.5).min(AGAIN.1);
            self.say(Frame::Attach { node: self.node.clone() }, now, platform);
        }
        if self.channel.as_ref().is_some_and(|channel| channel.too_quiet(now, self.limits.keep_alive)) {
            self.say(Frame::KeepAlive, now, platform);
        }
        self.gso_batches.flush(platform);
    }

    /// Closes the session. The close is sent once; without it the controller times out.
    pub fn close(&mut self, now: Time, platform: &mut impl Platform) {
        if let Some(channel) = &mut self.channel {
            channel.order(SessionOrder::Close(Reason::Stopped), now);
            self.on_time(now, platform);
        }
    }

    /// The next deadline.
    pub fn wake(&self) -> Time {
        let session = match &self.channel {
            Some(channel) => {
                let southbound = if self.has_task { Time::NEVER } else { self.say_at };
                channel
                    .wake(self.limits.keep_alive)
                    .min(channel.heard_at + self.limits.silence)
                    .min(southbound)
            }
            None => self.caller.wake().min(self.call_at),
        };
        session.min(self.machine.as_ref().map_or(Time::NEVER, Agent::wake))
    }

    /// Sends a frame if the session is open.
    pub fn say(&mut self, frame: Frame<'_>, now: Time, platform: &mut impl Platform) {
        if let Some(channel) = &mut self.channel {
            channel.say(frame, Ecn::NotCapable, now, platform, &mut self.gso_batches, &mut self.stats);
        }
    }
}

const ME: Address = Address { node: NodeId(0), endpoint: EndpointId(0) };
const CONTROLLER: Address = Address { node: NodeId(u32::MAX), endpoint: EndpointId(u32::MAX) };
