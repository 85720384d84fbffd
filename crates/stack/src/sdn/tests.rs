//! Tests of an agent and a controller: node 1 with ports 4 and 6 to the neighbours 2 and 3, the controller at node 9.

use std::sync::Arc;

use contract::{
    Address, App, AppCx, Backlog, Command, Control, Count, Cx, Data, DirectedLink, Ecn, EndpointId, FlowId,
    Header, Hop, Hops, Label, Meter, Name, NameId, Net, NodeCx, NodeId, NodeView, Outputs, Packet, PortId,
    PortView, Random, Requirements, Router, RouterInput, Share, Status, Traffic,
};
use units::{Bytes, Duration, Rate, Time};

use super::{Agent, AgentLocation, Config, Controller};

const ME: Address = Address { node: NodeId(1), endpoint: EndpointId(11) };
const CONTROLLER: Address = Address { node: NodeId(9), endpoint: EndpointId(19) };

struct Ports {
    backlog: u32,
    up: bool,
}

impl NodeView for Ports {
    fn port(&mut self, port: PortId) -> PortView {
        PortView {
            port,
            to: NodeId(port.0 / 2),
            rate: Rate::from_mbps(10),
            rate_in: Rate::from_mbps(10),
            backlog: Backlog { packets: self.backlog, bytes: Bytes::new(u64::from(self.backlog) * 1000) },
            busy: self.backlog > 0,
            limit: Backlog { packets: 500, bytes: Bytes::UNLIMITED },
        }
    }
    fn up(&self, _port: PortId) -> bool {
        self.up
    }
    fn next(&self, _to: NodeId) -> Option<PortId> {
        None
    }
    fn cost(&self, _to: NodeId) -> Option<u64> {
        None
    }
}

struct Bench {
    now: Time,
    ports: Ports,
    meter: Meter,
    random: Random,
    out: Outputs,
}

impl Bench {
    fn new() -> Self {
        Self {
            now: Time::ZERO,
            ports: Ports { backlog: 0, up: true },
            meter: Meter::default(),
            random: Random::new(1, "bench", ""),
            out: Outputs::default(),
        }
    }

    fn with<T>(&mut self, me: Address, act: impl FnOnce(&mut NodeCx<'_, '_>) -> T) -> T {
        let mut cx =
            Cx::new(self.now, me, FlowId(u32::MAX), &mut self.random, &mut self.meter, &mut self.out);
        act(&mut NodeCx::new(&mut cx, &mut self.ports))
    }

    /// Messages since the last call, with the first word of the label.
    fn messages(&mut self) -> Vec<(Control, Label)> {
        let Outputs { arena, outbox, .. } = &mut self.out;
        let take = |id| {
            let packet = *arena.get(id);
            arena.release(id);
            match packet.header {
                Header::Control(message) => (message, packet.label),
                other => panic!("{other:?}"),
            }
        };
        outbox.drain(..).map(take).collect()
    }

    fn count(&self, what: Count) -> u64 {
        self.meter.count(what)
    }
}

fn packet(header: Header, size_bytes: u32, number: u64, sent_at: Time, source: Address) -> Packet {
    Packet {
        flow: FlowId(0),
        size_bytes,
        source,
        to: Address { node: NodeId(7), endpoint: EndpointId(0) }.into(),
        sent_at,
        label: Label([number, 0, 0, 0]),
        header,
        ecn: Ecn::NotCapable,
        hops: 0,
        waited: Default::default(),
    }
}

fn data(prefix: u32, size: u32) -> Packet {
    let name = Name { prefix: NameId(prefix), segment: 0 };
    packet(Header::Data(Data { name, payload_bytes: 1 }), size, 0, Time::ZERO, ME)
}

fn datagram(size: u32) -> Packet {
    packet(Header::Datagram { seq: 0 }, size, 0, Time::ZERO, ME)
}

/// Signals above a load of 0.85. Prefix 2 is under prefix 1, which is served.
fn agent() -> Agent {
    let requirements = Requirements { signal_above: Some(850_000) };
    let served = (0..20).map(|prefix| NameId(if prefix == 2 { 1 } else { prefix })).collect();
    let ports = [PortId(4), PortId(6)];
    Agent::new(&Config::default(), CONTROLLER, None, requirements, &ports, Arc::new(served))
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn started(bench: &mut Bench) -> Agent {
    let mut agent = agent();
    bench.with(ME, |cx| agent.handle(RouterInput::Start, cx));
    assert_eq!(agent.wake(), at(500));
    agent
}

fn report(bench: &mut Bench, agent: &mut Agent) -> Vec<(Control, Label)> {
    bench.now = agent.wake();
    bench.with(ME, |cx| agent.handle(RouterInput::Timer, cx));
    bench.messages()
}

#[test]
fn load_is_what_was_offered_over_what_the_link_carries_in_a_period() {
    let mut bench = Bench::new();
    let mut agent = started(&mut bench);
    // 10 Mbit/s for 500 ms are 625 000 bytes
    for _ in 0..250 {
        agent.on_enqueue(&datagram(1250), PortId(6));
    }
    bench.ports.backlog = 50;
    let messages = report(&mut bench, &mut agent);
    let statuses: Vec<Status> = messages
        .iter()
        .map(
            |(message, _)| {
                if let Control::Status(status) = message { *status } else { panic!("{message:?}") }
            },
        )
        .collect();
    assert_eq!(statuses.iter().map(|status| status.load).collect::<Vec<_>>(), [0, 500_000]);
    assert_eq!(statuses[1].occupancy, 100_000);
    assert_eq!((statuses[1].backlog, statuses[1].shares), (50, 1));
    let share = Share { what: Traffic::Node(NodeId(7)), bytes: 312_500 };
    assert_eq!(Share::unpack(&messages[1].1, 1).collect::<Vec<_>>(), [share]);
    // the next period begins again
    let messages = report(&mut bench, &mut agent);
    assert!(matches!(messages[1].0, Control::Status(Status { load: 0, shares: 0, .. })));
    // β, ε and one comparison for each of two ports, twice
    assert_eq!((bench.count(Count::Statuses), bench.count(Count::Operations)), (4, 12));
}

#[test]
fn a_port_is_signalled_when_its_load_is_above_the_threshold_and_not_at_it() {
    let mut bench = Bench::new();
    let mut agent = started(&mut bench);
    // 0.85 of 625 000 bytes on one port, a byte more on the other
    agent.on_enqueue(&datagram(531_250), PortId(4));
    agent.on_enqueue(&datagram(531_251), PortId(6));
    let messages = report(&mut bench, &mut agent);
    let signals: Vec<_> =
        messages.iter().filter(|(message, _)| matches!(message, Control::Signal { .. })).collect();
    assert_eq!(signals.len(), 1, "{messages:?}");
    assert_eq!(messages.last().map(|messages| messages.0), Some(Control::Signal { port: PortId(6) }));
    // the maximum per port and period is four operations
    assert_eq!(bench.count(Count::Operations), 7);
}

/// [SIEVE §4.1, §5.1]: signals of each detection period, by the load in it; statuses of each T_p.
#[test]
fn signals_can_have_a_period_of_their_own() {
    let mut bench = Bench::new();
    let config = Config { detection: Some(Duration::from_millis(100)), ..Config::default() };
    let requirements = Requirements { signal_above: Some(850_000) };
    let mut agent =
        Agent::new(&config, CONTROLLER, None, requirements, &[PortId(4), PortId(6)], Arc::default());
    bench.with(ME, |cx| agent.handle(RouterInput::Start, cx));
    // 10 Mbit/s for 100 ms are 125 000 bytes: loads of 0.9 in the second and in the last period, of 0.36 in the whole
    let mut found = Vec::new();
    for ms in [100, 200, 300, 400, 500] {
        assert_eq!(agent.wake(), at(ms));
        if ms == 200 || ms == 500 {
            agent.on_enqueue(&datagram(112_500), PortId(6));
        }
        found
            .push(report(&mut bench, &mut agent).into_iter().map(|(message, _)| message).collect::<Vec<_>>());
    }
    let signal = Control::Signal { port: PortId(6) };
    assert_eq!(found[..4], [vec![], vec![signal], vec![], vec![]]);
    let loads = |message: &Control| if let Control::Status(it) = message { Some(it.load) } else { None };
    assert_eq!(found[4].iter().map(loads).collect::<Vec<_>>(), [Some(0), Some(360_000), None]);
    assert_eq!(found[4][2], signal, "after the statuses");
    // β, ε and a comparison for each of two ports in each of five periods, and two signals
    assert_eq!((bench.count(Count::Statuses), bench.count(Count::Operations)), (2, 32));
}

#[test]
fn data_count_for_the_prefix_that_is_served_and_more_shares_than_fit_follow() {
    let mut bench = Bench::new();
    let mut agent = started(&mut bench);
    for prefix in 1..=9 {
        agent.on_enqueue(&data(prefix, 100), PortId(4));
    }
    let messages = report(&mut bench, &mut agent);
    assert!(matches!(messages[0].0, Control::Status(Status { shares: 8, .. })), "{messages:?}");
    assert_eq!(messages[1].0, Control::Shares { port: PortId(4), count: 4 });
    let first = Share::unpack(&messages[0].1, 4).next();
    assert_eq!(first, Some(Share { what: Traffic::Prefix(NameId(1)), bytes: 200 }));
    assert_eq!(messages.len(), 3);
}

#[test]
fn a_link_that_is_down_carries_nothing() {
    let mut bench = Bench::new();
    let mut agent = started(&mut bench);
    bench.ports.up = false;
    agent.on_enqueue(&datagram(1000), PortId(4));
    let messages = report(&mut bench, &mut agent);
    assert!(
        matches!(messages[0].0, Control::Status(Status { rate: Rate::ZERO, load: 0, .. })),
        "{messages:?}"
    );
}

fn cap(mbps: u64) -> Command {
    Command::Cap { port: PortId(4), rate: Rate::from_mbps(mbps) }
}

#[test]
fn a_command_takes_effect_once_and_an_older_one_not_at_all_but_both_are_acknowledged() {
    let mut bench = Bench::new();
    let mut agent = started(&mut bench);
    let mut command = |bench: &mut Bench, number, command| {
        let packet = packet(Header::Control(Control::Command(command)), 100, number, Time::ZERO, CONTROLLER);
        bench.with(ME, |cx| agent.handle(RouterInput::Packet(&packet, PortId(4)), cx));
        let messages = bench.messages();
        assert_eq!(messages, [(Control::Ack, Label([number, 0, 0, 0]))]);
        std::mem::take(&mut bench.out.commands)
    };
    assert_eq!(command(&mut bench, 10, cap(5)), [cap(5)]);
    assert_eq!(command(&mut bench, 10, cap(5)), []);
    assert_eq!(command(&mut bench, 9, cap(3)), []);
    assert_eq!(command(&mut bench, 11, cap(7)), [cap(7)]);
    // for another subject a smaller number is not an older message
    let queue = Command::Queue { port: PortId(4), limit: 50, mark_above: 20 };
    assert_eq!(command(&mut bench, 2, queue), [queue]);
    assert_eq!(bench.count(Count::Commands), 3);
    assert_eq!(agent.installed().map(|installed| installed.0).collect::<Vec<_>>(), [2, 11]);
    // a request is answered with the stored reply
    let hello = packet(Header::Control(Control::Hello), 100, 0, Time::ZERO, CONTROLLER);
    bench.with(ME, |cx| agent.handle(RouterInput::Packet(&hello, PortId(4)), cx));
    let messages: Vec<Control> = bench.messages().into_iter().map(|messages| messages.0).collect();
    assert_eq!(
        messages,
        [Control::Installed(queue), Control::Installed(cap(7)), Control::StateComplete { installed: 2 }]
    );
    agent.reset();
    assert_eq!(agent.installed().count(), 0);
}

/// Commands another limit at each signal.
#[derive(Default)]
struct Caps {
    next: u64,
}

impl App for Caps {
    fn on_signal(&mut self, _port: PortId, cx: &mut AppCx<'_, '_>) {
        self.next += 1;
        cx.command(NodeId(1), cap(self.next));
    }
}

fn controller() -> Controller<Caps> {
    let link = |port: u32| DirectedLink {
        port: PortId(port),
        back: PortId(port ^ 1),
        from: NodeId(1),
        to: NodeId(2),
        rate: Rate::from_mbps(10),
        delay: Duration::from_millis(1),
        limit: 500,
    };
    let mut net = Net { links: vec![None; 8], agents: vec![NodeId(1)], ..Net::default() };
    net.links[4] = Some(link(4));
    Controller::new(&Config::default(), Caps::default(), net, &[AgentLocation { address: ME, port: None }])
}

fn send_feedback(
    bench: &mut Bench,
    controller: &mut Controller<Caps>,
    message: Control,
    number: u64,
    sent_at: Time,
) {
    let packet = packet(Header::Control(message), 100, number, sent_at, ME);
    bench.with(CONTROLLER, |cx| controller.handle(RouterInput::Packet(&packet, PortId(0)), cx));
}

fn tell_now(bench: &mut Bench, controller: &mut Controller<Caps>, message: Control, number: u64) {
    let now = bench.now;
    send_feedback(bench, controller, message, number, now);
}

fn start(bench: &mut Bench, controller: &mut Controller<Caps>) {
    bench.with(CONTROLLER, |cx| controller.handle(RouterInput::Start, cx));
}

#[test]
fn unacknowledged_commands_are_repeated_with_exponential_backoff() {
    let mut bench = Bench::new();
    let mut controller = controller();
    start(&mut bench, &mut controller);
    assert_eq!(bench.messages(), [(Control::Hello, Label::default())]);
    tell_now(&mut bench, &mut controller, Control::StateComplete { installed: 0 }, 0);
    tell_now(&mut bench, &mut controller, Control::Signal { port: PortId(4) }, 0);
    assert_eq!(bench.messages(), [(Control::Command(cap(1)), Label([1, 0, 0, 0]))]);
    let mut times = Vec::new();
    for _ in 0..6 {
        bench.now = controller.wake();
        bench.with(CONTROLLER, |cx| controller.handle(RouterInput::Timer, cx));
        assert_eq!(bench.messages(), [(Control::Command(cap(1)), Label([1, 0, 0, 0]))]);
        times.push(bench.now);
    }
    assert_eq!(times, [100, 300, 700, 1500, 2300, 3100].map(at));
    assert_eq!(bench.count(Count::CommandRetransmits), 6);
    tell_now(&mut bench, &mut controller, Control::Ack, 1);
    assert_eq!((controller.wake(), controller.open_commands()), (Time::NEVER, 0));
}

#[test]
fn a_new_command_replaces_a_pending_one_for_the_same_subject() {
    let mut bench = Bench::new();
    let mut controller = controller();
    start(&mut bench, &mut controller);
    tell_now(&mut bench, &mut controller, Control::StateComplete { installed: 0 }, 0);
    for _ in 0..2 {
        tell_now(&mut bench, &mut controller, Control::Signal { port: PortId(4) }, 0);
    }
    bench.messages();
    assert_eq!(controller.open_commands(), 1);
    bench.now = controller.wake();
    bench.with(CONTROLLER, |cx| controller.handle(RouterInput::Timer, cx));
    assert_eq!(bench.messages(), [(Control::Command(cap(2)), Label([2, 0, 0, 0]))]);
}

#[test]
fn a_later_controller_commands_with_larger_numbers_and_learns_what_is_in_force() {
    let mut bench = Bench::new();
    let mut controller = controller();
    bench.now = at(5000);
    start(&mut bench, &mut controller);
    bench.messages();
    let hops = Hops::new(&[Hop { port: PortId(4), cost: 3 }]);
    let command = Command::NextHops { prefix: NameId(1), hops };
    // one of two was lost: it repeats its request
    tell_now(&mut bench, &mut controller, Control::Installed(command), at(4000).as_nanos());
    tell_now(&mut bench, &mut controller, Control::StateComplete { installed: 2 }, 0);
    assert_eq!(controller.wake(), at(5100));
    bench.now = at(5100);
    bench.with(CONTROLLER, |cx| controller.handle(RouterInput::Timer, cx));
    assert_eq!(bench.messages(), [(Control::Hello, Label([at(5100).as_nanos(), 0, 0, 0]))]);
    tell_now(&mut bench, &mut controller, Control::Installed(command), at(4000).as_nanos());
    tell_now(&mut bench, &mut controller, Control::StateComplete { installed: 1 }, at(5100).as_nanos());
    assert_eq!(controller.wake(), Time::NEVER);
    assert_eq!(controller.net().hops(NodeId(1), NameId(1)), hops.list());
    tell_now(&mut bench, &mut controller, Control::Signal { port: PortId(4) }, 0);
    assert_eq!(bench.messages(), [(Control::Command(cap(1)), Label([at(5000).as_nanos() + 1, 0, 0, 0]))]);
}

#[test]
fn late_statuses_are_ignored_and_others_update_the_loads() {
    let mut bench = Bench::new();
    let mut controller = controller();
    start(&mut bench, &mut controller);
    let status = |mbps, load| {
        let (port, rate) = (PortId(4), Rate::from_mbps(mbps));
        Control::Status(Status { port, rate, load, occupancy: 0, backlog: 0, shares: 0 })
    };
    // before the agent's answer its clock offset is unknown
    send_feedback(&mut bench, &mut controller, status(10, 9), 0, at(0));
    assert_eq!((controller.cache().seen(PortId(4)), bench.count(Count::Ignored)), (None, 1));
    send_feedback(&mut bench, &mut controller, Control::StateComplete { installed: 0 }, 0, at(0));
    bench.now = at(3000);
    send_feedback(&mut bench, &mut controller, status(10, 1), 0, at(1999));
    assert_eq!((controller.cache().seen(PortId(4)), bench.count(Count::Ignored)), (None, 2));
    send_feedback(&mut bench, &mut controller, status(10, 2), 0, at(2500));
    send_feedback(&mut bench, &mut controller, status(5, 3), 0, at(2400));
    assert_eq!(controller.cache().seen(PortId(4)).map(|seen| seen.status.load), Some(2));
    send_feedback(&mut bench, &mut controller, status(0, 0), 0, at(2900));
    assert_eq!(controller.net().link(PortId(4)).map(|link| link.rate), Some(Rate::ZERO));
    assert_eq!((bench.count(Count::Statuses), bench.count(Count::Ignored)), (2, 3));
    send_feedback(&mut bench, &mut controller, Control::Signal { port: PortId(4) }, 0, at(1999));
    assert_eq!(bench.count(Count::Signals), 0);
}

#[test]
fn ages_are_right_across_clocks_with_an_offset() {
    let mut bench = Bench::new();
    let mut controller = controller();
    bench.now = at(5000);
    start(&mut bench, &mut controller);
    // requested at 5 s, answered at 5.2 s; the agent's clock is an hour ahead, so that it sent at 3605.1 s
    bench.now = at(5200);
    send_feedback(
        &mut bench,
        &mut controller,
        Control::StateComplete { installed: 0 },
        at(5000).as_nanos(),
        at(3_605_100),
    );
    let status = |load| {
        let (port, rate) = (PortId(4), Rate::from_mbps(10));
        Control::Status(Status { port, rate, load, occupancy: 0, backlog: 0, shares: 0 })
    };
    bench.now = at(6000);
    send_feedback(&mut bench, &mut controller, status(1), 0, at(3_604_999));
    assert_eq!(controller.cache().seen(PortId(4)), None);
    send_feedback(&mut bench, &mut controller, status(2), 0, at(3_605_000));
    assert_eq!(controller.cache().seen(PortId(4)).map(|seen| seen.at), Some(at(5000)));
}

#[test]
fn a_drifting_clock_is_tracked_and_a_longer_path_is_not_taken_for_drift() {
    let mut bench = Bench::new();
    let mut controller = controller();
    start(&mut bench, &mut controller);
    // requested at 0, answered at 200 ms: 100 ms each way, and the clocks agree
    bench.now = at(200);
    send_feedback(&mut bench, &mut controller, Control::StateComplete { installed: 0 }, 0, at(100));
    let status = || {
        let (port, rate) = (PortId(4), Rate::from_mbps(10));
        Control::Status(Status { port, rate, load: 0, occupancy: 0, backlog: 0, shares: 0 })
    };
    let mut send_control = |sent: Time, now: Time| {
        bench.now = now;
        send_feedback(&mut bench, &mut controller, status(), 0, sent);
        controller.cache().seen(PortId(4)).map_or(0, |seen| seen.at.as_nanos().abs_diff(now.as_nanos()))
    };
    // the agent's clock gains 100 µs per second; every second message is delayed by 50 ms
    for period in 2..240u64 {
        let sent_at = at(500 * period);
        let shown = sent_at + Duration::from_micros(50 * period);
        let waits = Duration::from_millis(50 * (period % 2));
        let age = send_control(shown, sent_at + Duration::from_millis(100) + waits);
        // the maximum drift of four periods, plus the drift of the two before a change is noticed
        let off = age.abs_diff((Duration::from_millis(100) + waits).as_nanos());
        assert!(off <= 400_000, "{period}: {off} ns");
    }
    // from here on the delay is 400 ms longer: ages include it, except for 0.2 ms per second
    for period in 240..260u64 {
        let sent_at = at(500 * period);
        let age =
            send_control(sent_at + Duration::from_micros(50 * period), sent_at + Duration::from_millis(500));
        assert!((490_000_000..=501_000_000).contains(&age), "{period}: {age} ns");
    }
}
