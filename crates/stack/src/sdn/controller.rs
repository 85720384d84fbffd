//! SDN controller: its view of the network, the commands that it retransmits until they are acknowledged, and the
//! control app.

use contract::{
    Address, App, AppCx, Cache, Command, Control, Count, DirectedLink, DropReason, Header, Label, Net,
    NodeCx, NodeId, Packet, PortId, Router, RouterInput, Share, Status,
};
use units::{Duration, Time};

use super::Config;
use super::agent::{numbered, send_control};

/// The address of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLocation {
    /// Address of the agent.
    pub address: Address,
    /// The controller's port to the agent, if there is a separate one; otherwise messages are routed by address.
    pub port: Option<PortId>,
}

/// The controller with its app.
///
/// It starts with the configured network and requests the commands in force from every agent. The responses contain the
/// clock offsets of the agents; reports from an agent before that are ignored. Commands are numbered from the current
/// time on, so that the commands of a restarted controller have higher numbers than its predecessor's.
///
/// # How it is driven
///
/// It is a [`Router`]. [`RouterInput::Start`] greets the agents. [`RouterInput::Packet`] and [`RouterInput::Local`] are
/// their messages over the southbound channel. [`RouterInput::Timer`] retransmits commands and wakes the app. Messages
/// to agents are in [`contract::Outputs::forwards`] if the channel has separate links, otherwise in the outbox. They
/// may be lost; the controller repeats them.
pub struct Controller<A> {
    app: A,
    config: Config,
    net: Net,
    cache: Cache,
    agents: Vec<AgentState>,
    /// The number of the last command.
    number: u64,
    commands: Vec<(NodeId, Command)>,
    due: EarliestRetry,
}

/// The earliest time of all retry timers, cached because it is needed after every message.
#[derive(Clone, Copy)]
struct EarliestRetry {
    /// [`Time::NEVER`] if no timer runs.
    at: Time,
    /// Number of timers with this time.
    timers: usize,
}

impl EarliestRetry {
    const NONE: Self = Self { at: Time::NEVER, timers: 0 };

    /// A timer starts.
    fn add(&mut self, at: Time) {
        if at < self.at {
            *self = Self { at, timers: 0 };
        }
        self.timers += usize::from(at == self.at && at != Time::NEVER);
    }
}

/// The clock of an agent and the commands that it has not acknowledged.
struct AgentState {
    location: AgentLocation,
    /// Its clock offset; `None` until it has answered a hello message.
    clock: Option<ClockOffset>,
    /// Number of commands in force received since the last hello message.
    received_states: u32,
    hello: RetryTimer,
    /// Commands without an acknowledgement, sorted by number.
    pending: Vec<PendingCommand>,
}

/// The offset between the clocks of an agent and of the controller, in nanoseconds.
///
/// The answer to a hello message gives the offset and the one-way delay of a message. Later messages track the drift:
/// the minimum delay of several messages is the delay without queueing, so a change of it is a change of the offset.
#[derive(Clone, Copy)]
struct ClockOffset {
    /// Controller clock minus agent clock.
    shift_ns: i64,
    /// One-way delay from the agent, measured by the hello message.
    one_way_ns: i64,
    /// Minimum since `since` of arrival by the controller's clock minus departure by the agent's clock.
    min_ns: i64,
    since: Time,
}

impl ClockOffset {
    /// Number of periods over which the minimum is taken. Our choice: short compared to a relevant drift, long enough
    /// for one message without queueing.
    const PERIODS: u64 = 4;

    /// Clocks drift by at most one part in this many. Our choice: twice the drift of the worst quartz; a larger
    /// difference is a longer path.
    const STEADY: u64 = 5000;

    /// Takes a message that left at `sent` by the agent's clock and arrives `now`. Returns its departure by the
    /// controller's clock.
    fn on_message_at(&mut self, sent: Time, now: Time, config: &Config) -> Time {
        let at = shifted(sent, self.shift_ns);
        self.min_ns = self.min_ns.min(now.as_nanos().wrapping_sub(sent.as_nanos()) as i64);
        let span = now.saturating_since(self.since);
        if span >= config.period * Self::PERIODS {
            let max = (span.as_nanos() / Self::STEADY) as i64;
            self.shift_ns += (self.min_ns - self.one_way_ns - self.shift_ns).clamp(-max, max);
            (self.min_ns, self.since) = (i64::MAX, now);
        }
        at
    }
}

struct PendingCommand {
    number: u64,
    command: Command,
    retry: RetryTimer,
}

/// Converts an instant of an agent's clock to the controller's clock.
fn shifted(at: Time, shift_ns: i64) -> Time {
    Time::from_nanos(at.as_nanos().saturating_add_signed(shift_ns))
}

/// The timer of a message that is repeated, with exponential backoff.
#[derive(Clone, Copy)]
struct RetryTimer {
    at: Time,
    wait: Duration,
}

impl RetryTimer {
    const MAX_BACKOFF: u64 = 8;

    fn new(config: &Config, now: Time) -> Self {
        Self { at: now + config.retry, wait: config.retry }
    }

    fn back_off(&mut self, config: &Config, now: Time) {
        self.wait = (self.wait * 2).min(config.retry * Self::MAX_BACKOFF);
        self.at = now + self.wait;
    }
}

impl<A: App> Controller<A> {
    /// A controller of the network `net`. Agents must be sorted by node.
    pub fn new(config: &Config, app: A, net: Net, locations: &[AgentLocation]) -> Self {
        debug_assert!(locations.windows(2).all(|pair| pair[0].address.node < pair[1].address.node));
        let never = RetryTimer { at: Time::NEVER, wait: config.retry };
        let agent = |location: &AgentLocation| AgentState {
            location: *location,
            clock: None,
            received_states: 0,
            hello: never,
            pending: Vec::new(),
        };
        Self {
            app,
            config: config.clone(),
            net,
            cache: Cache::default(),
            agents: locations.iter().map(agent).collect(),
            number: 0,
            commands: Vec::new(),
            due: EarliestRetry::NONE,
        }
    }

    /// The network as the controller knows it.
    pub const fn net(&self) -> &Net {
        &self.net
    }

    /// The reports of agents.
    pub const fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Number of commands without an acknowledgement.
    pub fn open_commands(&self) -> usize {
        self.agents.iter().map(|agent| agent.pending.len()).sum()
    }

    /// Calls the app, and sends its commands.
    fn call_app(&mut self, cx: &mut NodeCx<'_, '_>, act: impl FnOnce(&mut A, &mut AppCx<'_, '_>)) {
        let mut commands = std::mem::take(&mut self.commands);
        act(&mut self.app, &mut AppCx::new(cx, &self.net, &self.cache, &mut commands));
        for (node, command) in commands.drain(..) {
            self.command(node, command, cx);
        }
        self.commands = commands;
    }

    fn command(&mut self, node: NodeId, command: Command, cx: &mut NodeCx<'_, '_>) {
        let Ok(index) = self.agents.binary_search_by_key(&node, |agent| agent.location.address.node) else {
            // no agent at this node
            return cx.count(Count::Ignored, 1);
        };
        self.number += 1;
        let (agent, number) = (&mut self.agents[index], self.number);
        let retry = RetryTimer::new(&self.config, cx.now());
        let replaced =
            agent.pending.iter().position(|pending| pending.command.subject() == command.subject());
        let replaced = replaced.map(|index| agent.pending.remove(index));
        agent.pending.push(PendingCommand { number, command, retry });
        let location = agent.location;
        self.due.add(retry.at);
        if let Some(replaced) = replaced {
            self.stop_timer(replaced.retry.at);
        }
        cx.count(Count::Commands, 1);
        cx.event("command_sent", f64::from(node.0));
        send_control(
            Control::Command(command),
            numbered(number),
            location.address,
            location.port,
            &self.config,
            cx,
        );
    }

    fn on_message(&mut self, packet: &Packet, cx: &mut NodeCx<'_, '_>) {
        let (now, number) = (cx.now(), packet.label.0[0]);
        let Header::Control(message) = packet.header else { return cx.count(Count::Ignored, 1) };
        // the clock of an agent is unknown until it has answered a hello message
        let reports = matches!(message, Control::Status(_));
        let config = &self.config;
        let from = packet.source.node;
        let agent = self.agents.binary_search_by_key(&from, |agent| agent.location.address.node);
        let clock = agent.ok().and_then(|index| self.agents[index].clock.as_mut());
        let at = clock.map(|clock| match reports {
            true => clock.on_message_at(packet.sent_at, now, config),
            false => shifted(packet.sent_at, clock.shift_ns),
        });
        let recent = |at: &Time| now.saturating_since(*at) <= self.config.stale;
        let at = match message {
            Control::Status(_) | Control::Shares { .. } | Control::Signal { .. } => match at.filter(recent) {
                Some(at) => at,
                None => return cx.count(Count::Ignored, 1),
            },
            _ => now,
        };
        match message {
            Control::Status(status) => self.on_status(at, status, &packet.label, cx),
            Control::Shares { port, count } => {
                if !self.cache.add(at, port, Share::unpack(&packet.label, usize::from(count))) {
                    cx.count(Count::Ignored, 1);
                }
            }
            Control::Signal { port } => {
                cx.count(Count::Signals, 1);
                self.call_app(cx, |app, cx| app.on_signal(port, cx));
            }
            Control::Ack => self.on_ack(packet.source.node, number),
            Control::Installed(command) => {
                if let Some(agent) = self.agent(packet.source.node) {
                    agent.received_states += 1;
                    self.net.note(packet.source.node, &command);
                    self.number = self.number.max(number);
                }
            }
            Control::StateComplete { installed } => {
                if let Some(agent) = self.agent(packet.source.node)
                    && agent.received_states >= installed
                {
                    let answered = std::mem::replace(&mut agent.hello.at, Time::NEVER);
                    // the message took half a round trip, assuming symmetric delays
                    let hello_sent_at = Time::from_nanos(number);
                    let one_way = now.saturating_since(hello_sent_at) / 2;
                    let took_ns = now.as_nanos().wrapping_sub(packet.sent_at.as_nanos()) as i64;
                    let one_way_ns = one_way.as_nanos() as i64;
                    let shift_ns = took_ns - one_way_ns;
                    agent.clock = Some(ClockOffset { shift_ns, one_way_ns, min_ns: i64::MAX, since: now });
                    self.stop_timer(answered);
                }
            }
            Control::Command(_) | Control::Hello => cx.count(Count::Ignored, 1),
        }
    }

    fn agent(&mut self, node: NodeId) -> Option<&mut AgentState> {
        let index = self.agents.binary_search_by_key(&node, |agent| agent.location.address.node).ok()?;
        Some(&mut self.agents[index])
    }

    fn on_status(&mut self, at: Time, status: Status, label: &Label, cx: &mut NodeCx<'_, '_>) {
        let first = usize::from(status.shares).min(Share::IN_A_LABEL);
        if !self.cache.keep(at, status, Share::unpack(label, first)) {
            return cx.count(Count::Ignored, 1);
        }
        cx.count(Count::Statuses, 1);
        let changed = |link: &&mut DirectedLink| link.rate != status.rate;
        if let Some(link) =
            self.net.links.get_mut(status.port.index()).and_then(Option::as_mut).filter(changed)
        {
            link.rate = status.rate;
            self.call_app(cx, |app, cx| app.on_link(status.port, cx));
        }
        self.call_app(cx, |app, cx| app.on_status(status.port, cx));
    }

    fn on_ack(&mut self, node: NodeId, number: u64) {
        let Some(agent) = self.agent(node) else { return };
        let Some(index) = agent.pending.iter().position(|pending| pending.number == number) else { return };
        let done = agent.pending.remove(index);
        self.stop_timer(done.retry.at);
        self.net.note(node, &done.command);
    }

    fn on_start(&mut self, cx: &mut NodeCx<'_, '_>) {
        // larger than every number of a previous controller
        self.number = cx.now().as_nanos();
        for index in 0..self.agents.len() {
            self.send_hello(index, cx);
        }
        self.call_app(cx, |app, cx| app.on_start(cx));
    }

    fn send_hello(&mut self, index: usize, cx: &mut NodeCx<'_, '_>) {
        let agent = &mut self.agents[index];
        agent.received_states = 0;
        let before = agent.hello.at;
        match before {
            Time::NEVER => agent.hello = RetryTimer::new(&self.config, cx.now()),
            _ => agent.hello.back_off(&self.config, cx.now()),
        }
        let (AgentLocation { address, port }, at) = (agent.location, agent.hello.at);
        self.due.add(at);
        self.stop_timer(before);
        send_control(Control::Hello, numbered(cx.now().as_nanos()), address, port, &self.config, cx);
    }

    /// Repeats greetings and commands that are due.
    fn repeat(&mut self, cx: &mut NodeCx<'_, '_>) {
        let now = cx.now();
        for index in 0..self.agents.len() {
            if self.agents[index].hello.at <= now {
                self.send_hello(index, cx);
            }
            let AgentState { location, pending, .. } = &mut self.agents[index];
            for pending in pending.iter_mut().filter(|pending| pending.retry.at <= now) {
                pending.retry.back_off(&self.config, now);
                cx.count(Count::CommandRetransmits, 1);
                send_control(
                    Control::Command(pending.command),
                    numbered(pending.number),
                    location.address,
                    location.port,
                    &self.config,
                    cx,
                );
            }
        }
        self.due = self.earliest_retry();
    }

    /// A timer that had the time `at` does not run any more, or has another time.
    fn stop_timer(&mut self, at: Time) {
        if at == self.due.at && at != Time::NEVER {
            self.due.timers -= 1;
            if self.due.timers == 0 {
                self.due = self.earliest_retry();
            }
        }
    }

    fn earliest_retry(&self) -> EarliestRetry {
        let mut due = EarliestRetry::NONE;
        for agent in &self.agents {
            due.add(agent.hello.at);
            agent.pending.iter().for_each(|pending| due.add(pending.retry.at));
        }
        due
    }
}

impl<A: App> Router for Controller<A> {
    fn handle(&mut self, input: RouterInput<'_>, cx: &mut NodeCx<'_, '_>) -> Option<DropReason> {
        match input {
            RouterInput::Packet(packet, _) | RouterInput::Local(packet) => self.on_message(packet, cx),
            RouterInput::Timer => {
                if self.due.at <= cx.now() {
                    self.repeat(cx);
                }
                if self.app.wake() <= cx.now() {
                    self.call_app(cx, |app, cx| app.on_timer(cx));
                }
            }
            RouterInput::Start => self.on_start(cx),
        }
        debug_assert_eq!(self.due.at, self.earliest_retry().at, "the cached time is the timers' time");
        None
    }

    fn wake(&self) -> Time {
        self.due.at.min(self.app.wake())
    }
}
