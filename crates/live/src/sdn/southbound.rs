//! The southbound channel: an agent's half of the session with its controller, and the agent's state machine. Measurement and execution belong to the
//! forwarder.

use std::net::SocketAddr;
use std::sync::Arc;

use contract::{
    Address, Ecn, EndpointId, FlowId, Header, Meter, NodeCx, NodeId, NodeView, Order, Outputs, Packet,
    PortId, Random, RouterInput, Traffic, Wants,
};
use driver::{GsoBatches, Platform};
use stack::sdn::{Agent, Config};
use units::{Duration, Time};
use wire::stream::{Datagram, Frame, Order as SessionOrder, Reason, Role, Said, Task};

use crate::channel::Channel;
use crate::handshake::{self, Caller};
use crate::{Limits, Secret, Stats};

/// A message on the southbound channel is retransmitted after this, then after half as long again, up to a second.
const AGAIN: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));
/// A controller that did not want this agent, or ended, is called again after this time.
const LATER: Duration = Duration::from_secs(2);

/// What came of a datagram.
pub(crate) enum Received {
    /// Nothing that the forwarder has to do with.
    Nothing,
    /// What is to be done: the agent has to begin with it, by [`SouthboundChannel::begin`].
    Task(Box<Task>),
    /// A frame for the machine.
    Frame(Said),
}

/// An agent on its way to its controller, or there.
pub(crate) struct SouthboundChannel {
    node: String,
    limits: Limits,
    caller: Caller,
    channel: Option<Channel>,
    /// It is called again then, where the controller did not want it.
    call_at: Time,
    /// The controller has said in this session what is to be done.
    told: bool,
    say_at: Time,
    wait: Duration,
    /// Why it was sent away, when it was last.
    sent_away: Option<Reason>,
    machine: Option<Agent>,
    gso_batches: GsoBatches,
    pub(crate) stats: Stats,
    random: Random,
    out: Outputs,
}

impl SouthboundChannel {
    /// An agent that stands at `node` and calls the controller at `to`.
    pub(crate) fn new(
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
            told: false,
            say_at: Time::NEVER,
            wait: AGAIN.0,
            sent_away: None,
            machine: None,
            gso_batches: GsoBatches::default(),
            stats: Stats::default(),
            random: Random::new(0, node, "agent"),
            out: Outputs::default(),
        }
    }

    /// Whether the controller is there and has said what is to be done.
    pub(crate) const fn is_told(&self) -> bool {
        self.told
    }

    /// Why it was sent away, when it was last.
    pub(crate) const fn sent_away(&self) -> Option<Reason> {
        self.sent_away
    }

    /// What it was ordered and keeps; `None` before its first task.
    pub(crate) const fn machine(&self) -> Option<&Agent> {
        self.machine.as_ref()
    }

    /// What it counted.
    pub(crate) fn meter(&mut self) -> &mut Meter {
        &mut self.stats.meter
    }

    /// Begins with a task, and with `ports` of it that there are, in ascending order. Orders from before are forgotten.
    pub(crate) fn begin(&mut self, task: &Task, ports: &[PortId]) {
        let config = Config { period: task.period, phase: task.phase, ..Config::default() };
        let wants = Wants { signal_above: task.signal_above };
        // what crosses is said as the controller names it
        self.machine = Some(Agent::new(&config, CONTROLLER, None, wants, ports, Arc::default()));
    }

    /// The forwarder is about to offer a packet of this many bytes to a port.
    pub(crate) fn on_offer(&mut self, bytes: u32, what: Option<Traffic>, port: PortId) {
        if let Some(machine) = &mut self.machine {
            machine.on_offer(u64::from(bytes), what, port);
        }
    }

    /// A datagram came from the controller's address.
    pub(crate) fn take(
        &mut self,
        bytes: &[u8],
        from: SocketAddr,
        now: Time,
        platform: &mut impl Platform,
    ) -> Received {
        let heard = self.hear(bytes, from, now, platform);
        self.gso_batches.flush(platform);
        heard
    }

    fn hear(&mut self, bytes: &[u8], from: SocketAddr, now: Time, platform: &mut impl Platform) -> Received {
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
                    self.send_away(reason, now);
                }
            }
            Some(Frame::Task(task)) => {
                self.told = true;
                self.sent_away = None;
                return Received::Task(task);
            }
            Some(Frame::Control(said)) if self.told => return Received::Frame(said),
            Some(_) => self.stats.discarded.misplaced += 1,
        }
        Received::Nothing
    }

    fn on_answer(&mut self, bytes: &[u8], from: SocketAddr, now: Time, platform: &mut impl Platform) {
        match self.caller.on_answer(bytes, from, now, platform, &mut self.stats) {
            handshake::Reply::Nothing => {}
            handshake::Reply::Refused(reason) => self.send_away(reason, now),
            handshake::Reply::Welcome { channel, .. } => {
                self.caller.rest();
                self.channel = Some(*channel);
                self.stats.sessions += 1;
                self.stats.opened_at = self.stats.opened_at.min(now);
                (self.told, self.say_at, self.wait) = (false, now, AGAIN.0);
                self.turn(now, platform);
            }
        }
    }

    fn send_away(&mut self, reason: Reason, now: Time) {
        self.sent_away = Some(reason);
        self.caller.rest();
        (self.channel, self.told, self.say_at, self.call_at) = (None, false, Time::NEVER, now + LATER);
    }

    /// Gives the machine something, and sends what it says; orders to execute.
    pub(crate) fn give(
        &mut self,
        input: RouterInput<'_>,
        now: Time,
        around: &mut dyn NodeView,
        platform: &mut impl Platform,
    ) -> Vec<Order> {
        let Self { machine, random, out, stats, .. } = self;
        let Some(machine) = machine else { return Vec::new() };
        let mut cx = contract::Cx::new(now, ME, FlowId(u32::MAX), random, &mut stats.meter, out);
        machine.handle(input, &mut NodeCx::new(&mut cx, around));
        let outbox = std::mem::take(&mut self.out.outbox);
        for &id in &outbox {
            let packet = *self.out.arena.get(id);
            self.out.arena.release(id);
            // while there is no controller nobody hears it
            if let (Header::Control(frame), true) = (packet.header, self.told) {
                let said = Said { sent_at: packet.sent_at, label: packet.label, frame };
                self.say(Frame::Control(said), now, platform);
            }
        }
        self.out.outbox = outbox;
        self.out.outbox.clear();
        self.gso_batches.flush(platform);
        std::mem::take(&mut self.out.orders)
    }

    /// A frame of the controller as the machine takes it.
    pub(crate) fn packet(said: &Said) -> Packet {
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

    /// Whether the machine has something due.
    pub(crate) fn machine_is_due(&self, now: Time) -> bool {
        self.machine.as_ref().is_some_and(|machine| machine.wake() <= now)
    }

    /// Does what is due in the session.
    pub(crate) fn turn(&mut self, now: Time, platform: &mut impl Platform) {
        if self.call_at <= now {
            self.call_at = Time::NEVER;
            self.caller.again(now, platform);
        }
        self.caller.turn(now, platform, &mut self.stats);
        let Some(channel) = &mut self.channel else { return };
        if now >= channel.heard_at + self.limits.silence {
            (self.channel, self.told, self.say_at) = (None, false, Time::NEVER);
            self.caller.again(now, platform);
            return self.caller.turn(now, platform, &mut self.stats);
        }
        if let Some((serial, order)) = channel.due(now) {
            self.say(Frame::Order { serial, order }, now, platform);
        }
        if self.say_at <= now && !self.told {
            self.say_at = now + self.wait;
            self.wait = self.wait.scaled(1.5).min(AGAIN.1);
            self.say(Frame::Attach { node: self.node.clone() }, now, platform);
        }
        if self.channel.as_ref().is_some_and(|channel| channel.too_quiet(now, self.limits.keep_alive)) {
            self.say(Frame::KeepAlive, now, platform);
        }
        self.gso_batches.flush(platform);
    }

    /// Says goodbye, once: a controller that does not hear it finds out by the silence.
    pub(crate) fn end(&mut self, now: Time, platform: &mut impl Platform) {
        if let Some(channel) = &mut self.channel {
            channel.order(SessionOrder::Close(Reason::Stopped), now);
            self.turn(now, platform);
        }
    }

    /// When something is due.
    pub(crate) fn wake(&self) -> Time {
        let session = match &self.channel {
            Some(channel) => {
                let southbound = if self.told { Time::NEVER } else { self.say_at };
                channel
                    .wake(self.limits.keep_alive)
                    .min(channel.heard_at + self.limits.silence)
                    .min(southbound)
            }
            None => self.caller.wake().min(self.call_at),
        };
        session.min(self.machine.as_ref().map_or(Time::NEVER, Agent::wake))
    }

    /// Says something, where there is somebody to say it to.
    pub(super) fn say(&mut self, frame: Frame<'_>, now: Time, platform: &mut impl Platform) {
        if let Some(channel) = &mut self.channel {
            channel.say(frame, Ecn::NotCapable, now, platform, &mut self.gso_batches, &mut self.stats);
        }
    }
}

const ME: Address = Address { node: NodeId(0), endpoint: EndpointId(0) };
const CONTROLLER: Address = Address { node: NodeId(u32::MAX), endpoint: EndpointId(u32::MAX) };
