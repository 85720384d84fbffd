//! SDN controller: its view of the network, the commands that it retransmits until they are acknowledged, and the control app.

use contract::{
    Address, App, AppCx, Cache, Control, Count, DirectedLink, DropReason, Header, Label, Net, NodeCx, NodeId,
    Order, Packet, PortId, Router, RouterInput, Share, Status,
};
use units::{Duration, Time};

use super::Config;
use super::agent::{numbered, say};

/// An agent as the controller reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLocation {
    /// The agent.
    pub address: Address,
    /// The controller's port to it, where it has one of its own; otherwise messages are routed by address.
    pub port: Option<PortId>,
}

/// The controller with its app.
///
/// It begins with the network that it was set up with and asks every agent which orders it keeps. The answers tell it how their clocks stand
/// to its own: what an agent reports before counts for nothing. What it orders is numbered from the
/// present time on, so that a controller that comes back without memory is not taken for an earlier one.
///
/// # How it is driven
///
/// As every [`Router`]: [`RouterInput::Start`] greets the agents, [`RouterInput::Packet`] and [`RouterInput::Local`] are their messages over the
/// southbound channel, [`RouterInput::Timer`] repeats orders and wakes the app. Messages to agents are in [`contract::Outputs::forwards`] where
/// the channel has links of its own, otherwise in the outbox. They may be lost; the controller repeats them.
pub struct Controller<A> {
    app: A,
    config: Config,
    net: Net,
    cache: Cache,
    agents: Vec<AgentState>,
    /// The number of the last order.
    number: u64,
    orders: Vec<(NodeId, Order)>,
}

/// An agent's clock, and what was sent to it and not acknowledged.
struct AgentState {
    location: AgentLocation,
    /// How its clock stands; `None` until it has answered a greeting.
    clock: Option<ClockOffset>,
    /// How many it has said since it was last asked.
    heard: u32,
    greeting: RetryTimer,
    /// Orders without an acknowledgement, in the order of their numbers.
    pending: Vec<PendingOrder>,
}

/// How the clock of an agent stands to the controller's, in nanoseconds.
///
/// The answer to a greeting says it once, and with it the one-way delay of a message. Clocks that drift apart are followed from what comes
/// anyway: a message that takes longer than another has waited in a queue, so that the minimum of several is still the same delay, and what it differs
/// from that by is the clock.
#[derive(Clone, Copy)]
struct ClockOffset {
    /// From an instant of its clock to the same of the controller's.
    shift_ns: i64,
    /// One-way delay from there when it was greeted.
    one_way_ns: i64,
    /// From its sending by its clock to its arrival by the controller's, the minimum since `since`.
    min_ns: i64,
    since: Time,
}

impl ClockOffset {
    /// Periods whose messages are compared. Our choice: short beside a drift that matters, long enough for one message that did not wait.
    const PERIODS: u64 = 4;

    /// No clock drifts by more than one part in this many. Our choice: twice the worst quartz; what differs by more is a path that got longer.
    const STEADY: u64 = 5000;

    /// Takes in a message that was sent at `sent` and arrives `now`; when it was sent by the controller's clock, as far as is known.
    fn hear(&mut self, sent: Time, now: Time, config: &Config) -> Time {
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

struct PendingOrder {
    number: u64,
    order: Order,
    retry: RetryTimer,
}

/// An instant of another clock as the controller's own.
fn shifted(at: Time, shift_ns: i64) -> Time {
    Time::from_nanos(at.as_nanos().saturating_add_signed(shift_ns))
}

/// When something is repeated.
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

    fn later(&mut self, config: &Config, now: Time) {
        self.wait = (self.wait * 2).min(config.retry * Self::MAX_BACKOFF);
        self.at = now + self.wait;
    }
}

impl<A: App> Controller<A> {
    /// A controller that knows `net`, and its agents in ascending order of their nodes.
    pub fn new(config: &Config, app: A, net: Net, locations: &[AgentLocation]) -> Self {
        debug_assert!(locations.windows(2).all(|pair| pair[0].address.node < pair[1].address.node));
        let never = RetryTimer { at: Time::NEVER, wait: config.retry };
        let agent = |location: &AgentLocation| AgentState {
            location: *location,
            clock: None,
            heard: 0,
            greeting: never,
            pending: Vec::new(),
        };
        Self {
            app,
            config: config.clone(),
            net,
            cache: Cache::default(),
            agents: locations.iter().map(agent).collect(),
            number: 0,
            orders: Vec::new(),
        }
    }

    /// The network as it knows it.
    pub const fn net(&self) -> &Net {
        &self.net
    }

    /// What agents have reported.
    pub const fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Orders that nobody has acknowledged yet.
    pub fn open_orders(&self) -> usize {
        self.agents.iter().map(|agent| agent.pending.len()).sum()
    }

    /// Lets the app act, and sends what it orders.
    fn ask(&mut self, cx: &mut NodeCx<'_, '_>, act: impl FnOnce(&mut A, &mut AppCx<'_, '_>)) {
        let mut orders = std::mem::take(&mut self.orders);
        act(&mut self.app, &mut AppCx::new(cx, &self.net, &self.cache, &mut orders));
        for (node, order) in orders.drain(..) {
            self.order(node, order, cx);
        }
        self.orders = orders;
    }

    fn order(&mut self, node: NodeId, order: Order, cx: &mut NodeCx<'_, '_>) {
        let Ok(index) = self.agents.binary_search_by_key(&node, |agent| agent.location.address.node) else {
            // there is nobody to tell
            return cx.count(Count::Ignored, 1);
        };
        self.number += 1;
        let (agent, number) = (&mut self.agents[index], self.number);
        agent.pending.retain(|pending| pending.order.subject() != order.subject());
        agent.pending.push(PendingOrder { number, order, retry: RetryTimer::new(&self.config, cx.now()) });
        cx.count(Count::Commands, 1);
        say(
            Control::Order(order),
            numbered(number),
            agent.location.address,
            agent.location.port,
            &self.config,
            cx,
        );
    }

    fn on_message(&mut self, packet: &Packet, cx: &mut NodeCx<'_, '_>) {
        let (now, number) = (cx.now(), packet.label.0[0]);
        let Header::Control(word) = packet.header else { return cx.count(Count::Ignored, 1) };
        // who has not answered yet has a clock that nobody knows
        let reports = matches!(word, Control::Status(_));
        let config = &self.config;
        let from = packet.source.node;
        let agent = self.agents.binary_search_by_key(&from, |agent| agent.location.address.node);
        let clock = agent.ok().and_then(|index| self.agents[index].clock.as_mut());
        let at = clock.map(|clock| match reports {
            true => clock.hear(packet.sent_at, now, config),
            false => shifted(packet.sent_at, clock.shift_ns),
        });
        let recent = |at: &Time| now.saturating_since(*at) <= self.config.stale;
        let at = match word {
            Control::Status(_) | Control::Shares { .. } | Control::Signal { .. } => match at.filter(recent) {
                Some(at) => at,
                None => return cx.count(Count::Ignored, 1),
            },
            _ => now,
        };
        match word {
            Control::Status(status) => self.on_status(at, status, &packet.label, cx),
            Control::Shares { port, count } => {
                if !self.cache.add(at, port, Share::unpack(&packet.label, usize::from(count))) {
                    cx.count(Count::Ignored, 1);
                }
            }
            Control::Signal { port } => {
                cx.count(Count::Signals, 1);
                self.ask(cx, |app, cx| app.on_signal(port, cx));
            }
            Control::Ack => self.on_ack(packet.source.node, number),
            Control::Kept(order) => {
                if let Some(agent) = self.agent(packet.source.node) {
                    agent.heard += 1;
                    self.net.note(packet.source.node, &order);
                    self.number = self.number.max(number);
                }
            }
            Control::Welcome { kept } => {
                if let Some(agent) = self.agent(packet.source.node)
                    && agent.heard >= kept
                {
                    agent.greeting.at = Time::NEVER;
                    // it spoke half a round trip ago, as far as both ways are alike
                    let asked = Time::from_nanos(number);
                    let one_way = now.saturating_since(asked) / 2;
                    let took_ns = now.as_nanos().wrapping_sub(packet.sent_at.as_nanos()) as i64;
                    let one_way_ns = one_way.as_nanos() as i64;
                    let shift_ns = took_ns - one_way_ns;
                    agent.clock = Some(ClockOffset { shift_ns, one_way_ns, min_ns: i64::MAX, since: now });
                }
            }
            Control::Order(_) | Control::Hello => cx.count(Count::Ignored, 1),
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
            self.ask(cx, |app, cx| app.on_link(status.port, cx));
        }
        self.ask(cx, |app, cx| app.on_status(status.port, cx));
    }

    fn on_ack(&mut self, node: NodeId, number: u64) {
        let Some(agent) = self.agent(node) else { return };
        let Some(index) = agent.pending.iter().position(|pending| pending.number == number) else { return };
        let done = agent.pending.remove(index);
        self.net.note(node, &done.order);
    }

    fn on_start(&mut self, cx: &mut NodeCx<'_, '_>) {
        // larger than any number of a controller before
        self.number = cx.now().as_nanos();
        for index in 0..self.agents.len() {
            self.greet(index, cx);
        }
        self.ask(cx, |app, cx| app.on_start(cx));
    }

    fn greet(&mut self, index: usize, cx: &mut NodeCx<'_, '_>) {
        let agent = &mut self.agents[index];
        agent.heard = 0;
        match agent.greeting.at {
            Time::NEVER => agent.greeting = RetryTimer::new(&self.config, cx.now()),
            _ => agent.greeting.later(&self.config, cx.now()),
        }
        let AgentLocation { address, port } = agent.location;
        say(Control::Hello, numbered(cx.now().as_nanos()), address, port, &self.config, cx);
    }

    /// Repeats what is due.
    fn repeat(&mut self, cx: &mut NodeCx<'_, '_>) {
        let now = cx.now();
        for index in 0..self.agents.len() {
            if self.agents[index].greeting.at <= now {
                self.greet(index, cx);
            }
            let AgentState { location, pending, .. } = &mut self.agents[index];
            for pending in pending.iter_mut().filter(|pending| pending.retry.at <= now) {
                pending.retry.later(&self.config, now);
                cx.count(Count::CommandRetransmits, 1);
                say(
                    Control::Order(pending.order),
                    numbered(pending.number),
                    location.address,
                    location.port,
                    &self.config,
                    cx,
                );
            }
        }
    }

    fn next(&self) -> Time {
        let agent = |agent: &AgentState| {
            let pending = agent.pending.iter().map(|pending| pending.retry.at).min().unwrap_or(Time::NEVER);
            agent.greeting.at.min(pending)
        };
        self.agents.iter().map(agent).min().unwrap_or(Time::NEVER)
    }
}

impl<A: App> Router for Controller<A> {
    fn handle(&mut self, input: RouterInput<'_>, cx: &mut NodeCx<'_, '_>) -> Option<DropReason> {
        match input {
            RouterInput::Packet(packet, _) | RouterInput::Local(packet) => self.on_message(packet, cx),
            RouterInput::Timer => {
                if self.next() <= cx.now() {
                    self.repeat(cx);
                }
                if self.app.wake() <= cx.now() {
                    self.ask(cx, |app, cx| app.on_timer(cx));
                }
            }
            RouterInput::Start => self.on_start(cx),
        }
        None
    }

    fn wake(&self) -> Time {
        self.next().min(self.app.wake())
    }
}
