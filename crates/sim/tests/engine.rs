//! The engine: exact links, conservation, limits, determinism, what changes during a run.

use contract::{DropReason, LinkId, NodeId, PortId};
use proptest::prelude::*;
use sim::{
    Blueprint, Change, Churn, Control, DROP_EVENTS, EventRecord, FlowKind, Impair, Jitter, Limit, PortSpec,
    RateTrace, Record, RouteSpec, Subject, TokenBucket, Trace, World,
};
use stack::datagram::{self, DurationDistribution, Pattern};
use units::{Bytes, Duration, Rate, Time};

use crate::run;

fn source(packet: u64, pattern: Pattern) -> FlowKind {
    FlowKind::Datagram(datagram::Config { packet: Bytes::new(packet), pattern })
}

fn constant(rate: Rate) -> FlowKind {
    source(1000, Pattern::Constant { rate })
}

fn at(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

/// Two hosts and one link between them.
fn wire(duration: Duration, port: PortSpec, kind: FlowKind) -> Blueprint {
    let mut net = Blueprint::new(duration);
    let (a, b) = (net.node("a"), net.node("b"));
    net.link("wire", (a, b), port);
    net.flow("flow", None, kind, a, &[b]);
    net
}

#[test]
fn a_million_packets_take_exactly_their_time_on_the_link() {
    // the offered load is twice the capacity, so the link is always busy: 7 Mbit/s, 1500 bytes, 1 000 000 packets =
    // 1714.285714285 s
    let port = PortSpec::new(Rate::from_mbps(7), Duration::from_millis(3), 10);
    let kind = source(1500, Pattern::Constant { rate: Rate::from_mbps(14) });
    let last =
        |nanos: u64| run(&wire(Duration::from_nanos(nanos), port.clone(), kind.clone())).receivers[0].packets;
    let arrival_ns = 1_714_285_714_285 + 3_000_000;
    assert_eq!(last(arrival_ns + 1), 1_000_000);
    assert_eq!(last(arrival_ns), 999_999, "events at the very end are not handled");
}

#[test]
fn every_drop_is_recorded_where_it_happens() {
    let mut port = PortSpec::new(Rate::from_mbps(1), Duration::from_millis(5), 10);
    port.loss = 0.1;
    port.policer = Some(TokenBucket { rate: Rate::from_kbps(1300), burst: Bytes::new(3000) });
    port.impair = Some(Impair { corrupt: 0.1, ..Impair::default() });
    let mut net = wire(Duration::from_secs(10), port, constant(Rate::from_kbps(1500)));
    net.flows[0].to[0].stop = at(9);
    net.events = vec![(at(4), Change::LinkUp(LinkId(0), false)), (at(5), Change::LinkUp(LinkId(0), true))];
    let plain = run(&net);
    net.record.drops = true;
    let trace = run(&net);
    assert_eq!((trace.hash, plain.events.len()), (plain.hash, 0));
    assert!(trace.events.is_sorted_by_key(|event| event.at));
    assert!(trace.events.iter().all(|event| event.value == 0.0), "there is one flow");
    for (why, name) in DropReason::ALL.into_iter().zip(DROP_EVENTS) {
        assert_eq!(name, format!("dropped_{}", why.name()));
        let events = || trace.events.iter().filter(|event| event.name == name);
        assert_eq!(events().count() as u64, trace.flows[0].drops[why as usize], "{name}");
        let at_link = events().filter(|event| event.subject == Subject::Port(PortId(0)));
        assert_eq!(at_link.count() as u64, trace.ports[0].drops[why as usize], "{name}");
        let happens = !matches!(why, DropReason::Early | DropReason::HopLimit);
        assert_eq!(events().next().is_some(), happens, "{name}");
    }
    let at_receiver = |event: &EventRecord| event.subject == Subject::Node(NodeId(1));
    assert!(trace.events.iter().filter(|event| at_receiver(event)).all(|event| event.name == DROP_EVENTS[5]));
}

#[test]
fn mean_waiting_time_is_that_of_the_md1_queue() {
    // Poisson arrivals at load ρ, constant service s: W = ρ s / (2 (1 − ρ))   [Pollaczek-Khinchine]
    let (rate, packet) = (Rate::from_mbps(10), 1000.0);
    let service_s = packet * 8.0 / rate.as_bps_f64();
    for load in [0.5, 0.8] {
        let pattern = Pattern::Poisson { rate: Rate::from_bps_f64(load * rate.as_bps_f64()) };
        let port = PortSpec::new(rate, Duration::ZERO, 100_000);
        let trace = run(&wire(Duration::from_secs(2000), port, source(1000, pattern)));
        let receiver = &trace.receivers[0];
        let wait_s = receiver.delay_sum_ns as f64 / 1e9 / receiver.packets as f64 - service_s;
        let theory_s = load * service_s / (2.0 * (1.0 - load));
        assert!((wait_s / theory_s - 1.0).abs() < 0.02, "load {load}: {wait_s} against {theory_s}");
        // Little's law: mean queue = arrival rate · mean wait
        let queue = trace.ports[0].backlog_packet_ns as f64 / 1e9 / 2000.0;
        let expected = load / service_s * wait_s;
        assert!((queue / expected - 1.0).abs() < 0.01, "load {load}: {queue} against {expected}");
    }
}

#[test]
fn a_full_queue_holds_exactly_its_limit_and_drops_the_rest() {
    let port = PortSpec::new(Rate::from_mbps(1), Duration::from_millis(1), 5);
    let trace = run(&wire(Duration::from_secs(10), port, constant(Rate::from_mbps(4))));
    assert_eq!(trace.ports[0].backlog_max, 5);
    let sent = trace.ports[0].sent_packets as f64;
    assert!((sent - 1250.0).abs() <= 2.0, "1 Mbit/s carries 125 packets of 1000 bytes a second, not {sent}");
    let dropped = trace.ports[0].drops[DropReason::QueueFull as usize];
    assert!(dropped > 3700, "{dropped}");
}

#[test]
fn a_limit_in_bytes_counts_bytes() {
    let mut port = PortSpec::new(Rate::from_mbps(1), Duration::from_millis(1), 0);
    port.queue.limit = Limit::Bytes(Bytes::new(2500));
    let trace = run(&wire(Duration::from_secs(1), port, constant(Rate::from_mbps(4))));
    assert_eq!(trace.ports[0].backlog_max, 2);
}

#[test]
fn random_loss_takes_its_share() {
    let mut port = PortSpec::new(Rate::from_mbps(10), Duration::from_millis(1), 100);
    port.loss = 0.1;
    let trace = run(&wire(Duration::from_secs(100), port, constant(Rate::from_mbps(8))));
    let share =
        trace.ports[0].drops[DropReason::RandomLoss as usize] as f64 / trace.ports[0].sent_packets as f64;
    assert!((share - 0.1).abs() < 0.005, "{share}");
}

#[test]
fn equal_plans_give_equal_traces_and_an_additional_flow_changes_no_draws() {
    let poisson = source(1000, Pattern::Poisson { rate: Rate::from_mbps(1) });
    let plan = |other: bool| {
        let mut net = Blueprint::new(Duration::from_secs(20));
        let nodes: Vec<NodeId> = ["a", "b", "c", "d"].map(|name| net.node(name)).into();
        let port = PortSpec::new(Rate::from_mbps(10), Duration::from_millis(1), 100);
        net.link("ab", (nodes[0], nodes[1]), port.clone());
        net.link("cd", (nodes[2], nodes[3]), port);
        if other {
            net.flow("other", None, poisson.clone(), nodes[2], &[nodes[3]]);
        }
        net.flow("flow", None, poisson.clone(), nodes[0], &[nodes[1]]);
        net
    };
    let (alone, again, crowded) = (run(&plan(false)), run(&plan(false)), run(&plan(true)));
    assert_eq!((alone.hash, alone.packet_hops), (again.hash, again.packet_hops));
    assert_ne!(alone.hash, crowded.hash);
    let (mine, theirs) = (&alone.receivers[0], &crowded.receivers[1]);
    assert_eq!((mine.packets, mine.delay_sum_ns), (theirs.packets, theirs.delay_sum_ns));
    let mut other_seed = plan(false);
    other_seed.seed = 2;
    assert_ne!(run(&other_seed).hash, alone.hash);
}

#[test]
fn a_link_that_changes_its_rate_serves_at_the_new_one_from_that_instant() {
    let port = PortSpec::new(Rate::from_mbps(1), Duration::from_millis(1), 10);
    let mut net = wire(Duration::from_secs(20), port, constant(Rate::from_mbps(8)));
    net.events.push((at(10), Change::LinkRate(LinkId(0), Rate::from_mbps(4))));
    let trace = run(&net);
    // 10 s at 125 packets/s and 10 s at 500
    let received = trace.receivers[0].packets as f64;
    assert!((received - 6250.0).abs() <= 3.0, "{received}");
    let port = &trace.ports[0];
    assert_eq!(port.capacity_bits, 50_000_000);
    let utilisation = port.sent_bytes as f64 * 8.0 / port.capacity_bits as f64;
    assert!((utilisation - 1.0).abs() < 1e-3, "{utilisation}");
    // the queue is full at all times, at either rate
    assert!((port.backlog_packet_ns as f64 / 20e9 - 10.0).abs() < 0.6, "{}", port.backlog_packet_ns);
}

#[test]
fn a_link_never_carries_more_than_its_capacity_whatever_its_rate_was_before() {
    // a packet is in transmission at the change, and still at the end of the warm-up
    let port = PortSpec::new(Rate::from_kbps(1451), Duration::from_millis(33), 30);
    let mut net = wire(Duration::from_secs(5), port, constant(Rate::from_mbps(4)));
    net.warmup = Duration::from_secs(1);
    net.events = vec![(at(1) - Duration::from_millis(100), Change::LinkRate(LinkId(0), Rate::from_kbps(10)))];
    let port = &run(&net).ports[0];
    let (sent, capacity) = (port.sent_bytes as f64 * 8.0, port.capacity_bits as f64);
    assert!((sent - capacity).abs() <= 16.0, "{sent} bits of {capacity}");
}

#[test]
fn a_link_that_goes_down_loses_what_it_holds_and_routes_go_around_it() {
    let mut net = Blueprint::new(Duration::from_secs(30));
    let nodes: Vec<NodeId> = ["a", "b", "c"].map(|name| net.node(name)).into();
    let port = |millis| PortSpec::new(Rate::from_mbps(10), Duration::from_millis(millis), 100);
    let short = net.link("short", (nodes[0], nodes[2]), port(1));
    net.link("long1", (nodes[0], nodes[1]), port(5));
    net.link("long2", (nodes[1], nodes[2]), port(5));
    net.flow("flow", None, constant(Rate::from_mbps(8)), nodes[0], &[nodes[2]]);
    net.events = vec![(at(10), Change::LinkUp(short, false)), (at(20), Change::LinkUp(short, true))];
    let trace = run(&net);
    let (short, long) = (trace.ports[0].sent_packets as f64, trace.ports[2].sent_packets as f64);
    assert!((short - 20_000.0).abs() < 5.0, "{short}");
    assert!((long - 10_000.0).abs() < 5.0, "{long}");
    let lost = trace.flows[0].drops[DropReason::LinkDown as usize];
    assert!((1..=3).contains(&lost), "about a millisecond of packets: {lost}");
}

#[test]
fn a_route_can_be_switched_by_name() {
    let mut net = Blueprint::new(Duration::from_secs(20));
    let nodes: Vec<NodeId> = ["a", "b", "c"].map(|name| net.node(name)).into();
    let port = |millis| PortSpec::new(Rate::from_mbps(10), Duration::from_millis(millis), 100);
    net.link("short", (nodes[0], nodes[2]), port(1));
    net.link("long1", (nodes[0], nodes[1]), port(5));
    net.link("long2", (nodes[1], nodes[2]), port(5));
    net.flow("flow", None, constant(Rate::from_mbps(8)), nodes[0], &[nodes[2]]);
    let route = RouteSpec { at: nodes[0], to: nodes[2], via: nodes[1] };
    net.events.push((at(10), Change::Route(route)));
    let trace = run(&net);
    assert!((trace.ports[2].sent_packets as f64 - 10_000.0).abs() < 5.0);
    assert_eq!(trace.balance.dropped, 0);
}

#[test]
fn a_group_gets_one_copy_each_and_only_while_it_listens() {
    let mut net = Blueprint::new(Duration::from_secs(10));
    let (source, router) = (net.node("source"), net.node("router"));
    let leaves: Vec<NodeId> = (0..3).map(|i| net.node(&format!("leaf{i}"))).collect();
    let port = PortSpec::new(Rate::from_mbps(10), Duration::from_millis(1), 100);
    net.link("trunk", (source, router), port.clone());
    for &leaf in &leaves {
        net.link("branch", (router, leaf), port.clone());
    }
    let flow = net.flow("group", None, constant(Rate::from_kbps(800)), source, &leaves);
    flow.to[1].stop = at(5);
    flow.to[2].start = at(8);
    let trace = run(&net);
    let received: Vec<u64> = trace.receivers.iter().map(|r| r.packets).collect();
    assert!((998..=1000).contains(&received[0]), "{received:?}");
    assert!((498..=500).contains(&received[1]), "{received:?}");
    assert!((198..=200).contains(&received[2]), "{received:?}");
    assert_eq!(trace.ports[0].sent_packets, received[0] + u64::from(trace.balance.in_flight > 0));
    assert!((trace.receivers[1].active.as_secs_f64() - 5.0).abs() < 1e-9);
}

#[test]
fn series_add_up_to_the_counters_and_the_warm_up_is_left_out_of_summaries() {
    let port = PortSpec::new(Rate::from_mbps(1), Duration::from_millis(1), 20);
    let mut net =
        wire(Duration::from_secs(20), port, source(1000, Pattern::Poisson { rate: Rate::from_kbps(900) }));
    let names = ["rate", "throughput", "goodput", "backlog", "utilisation", "drops"];
    net.record = Record {
        every: Duration::from_secs(1),
        series: names.map(str::to_owned).into(),
        ..Record::default()
    };
    let whole = run(&net);
    let of = |trace: &Trace, name: &str, subject: Subject| {
        let series =
            trace.series.iter().find(|s| s.name == name && s.subject == subject).expect("was recorded");
        assert_eq!(series.times.len(), 20);
        series.values.clone()
    };
    let flow = Subject::Flow(contract::FlowId(0));
    let bits: f64 = of(&whole, "rate", flow).iter().sum();
    assert_eq!(bits, whole.flows[0].sent_bytes as f64 * 8.0);
    let link = Subject::Port(contract::PortId(0));
    let backlog: f64 = of(&whole, "backlog", link).iter().sum();
    assert!((backlog - whole.ports[0].backlog_packet_ns as f64 / 1e9).abs() < 1e-6);
    net.warmup = Duration::from_secs(5);
    let warm = run(&net);
    assert_eq!(warm.hash, whole.hash, "measuring later changes nothing");
    let later: f64 = of(&warm, "throughput", Subject::Receiver(0))[5..].iter().sum();
    assert_eq!(later, warm.receivers[0].bytes as f64 * 8.0);
    assert_eq!(warm.receivers[0].active, Duration::from_secs(15));
}

#[test]
fn churn_turns_a_flow_on_and_off_for_its_mean_times() {
    let port = PortSpec::new(Rate::from_mbps(10), Duration::from_millis(1), 20);
    let mut net = wire(Duration::from_secs(20_000), port, constant(Rate::from_kbps(80)));
    let spell = |secs| DurationDistribution::Exponential(Duration::from_secs(secs));
    net.flows[0].churn = Some(Box::new(Churn { on: spell(60), off: spell(30) }));
    let trace = run(&net);
    let share = trace.flows[0].active.as_secs_f64() / 20_000.0;
    assert!((share - 2.0 / 3.0).abs() < 0.06, "{share}");
    assert!((trace.flows[0].sent_packets as f64 / trace.flows[0].active.as_secs_f64() - 10.0).abs() < 0.2);
}

#[test]
fn a_restarted_flow_receives_no_packets_of_its_earlier_connection() {
    // half a second of packets is in flight when the flow stops and restarts
    let port = PortSpec::new(Rate::from_mbps(10), Duration::from_millis(500), 20);
    let mut net = wire(Duration::from_secs(4), port, constant(Rate::from_kbps(800)));
    net.events =
        vec![(at(2), Change::FlowStop(contract::FlowId(0))), (at(2), Change::FlowStart(contract::FlowId(0)))];
    let trace = run(&net);
    let stale = trace.flows[0].drops[DropReason::NotListening as usize];
    assert!((49..=51).contains(&stale), "{stale}");
    assert_eq!(trace.receivers[0].meter.count(contract::Count::Missing), 0);
}

#[test]
fn classes_share_a_link_by_their_weights() {
    let mut port = PortSpec::new(Rate::from_mbps(4), Duration::from_millis(1), 50);
    port.queue.class_weights = vec![1, 3];
    let mut net = Blueprint::new(Duration::from_secs(20));
    let (a, b) = (net.node("a"), net.node("b"));
    net.link("wire", (a, b), port);
    net.flow("light", None, constant(Rate::from_mbps(4)), a, &[b]).class = 0;
    net.flow("heavy", None, constant(Rate::from_mbps(4)), a, &[b]).class = 1;
    let trace = run(&net);
    let ratio = trace.receivers[1].bytes as f64 / trace.receivers[0].bytes as f64;
    assert!((ratio - 3.0).abs() < 0.05, "{ratio}");
    let utilisation = trace.ports[0].sent_bytes as f64 * 8.0 / trace.ports[0].capacity_bits as f64;
    assert!(utilisation > 0.999, "{utilisation}");
    assert!((trace.ports[0].backlog_packet_ns as f64 / 20e9 - 99.0).abs() < 2.0, "both classes are full");
}

#[test]
fn a_stopped_run_keeps_its_records() {
    let port = PortSpec::new(Rate::from_mbps(10), Duration::from_millis(1), 20);
    let net = wire(Duration::from_secs(1000), port, constant(Rate::from_mbps(8)));
    let mut world = World::new(&net).expect("valid");
    let control = Control::default();
    control.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    world.run(&control);
    let trace = world.finish();
    assert!(trace.ended_at < at(1000));
    assert!(trace.balance.holds());
}

/// A random network: a ring of routers with chords, hosts on it, sources of every kind, changes at random times.
pub(crate) fn random_plan() -> impl Strategy<Value = Blueprint> {
    let flow = (0usize..6, 1usize..5, 0u8..3, 20u64..2000, any::<bool>());
    let change = (0u64..1000, 0u8..5, 0usize..20, 1u64..5000);
    let links = prop::collection::vec((100u64..10_000, 0u64..20_000, 0u32..20, 0.0f64..0.2, 0u8..5), 12);
    (links, prop::collection::vec(flow, 1..6), prop::collection::vec(change, 0..6), any::<u64>()).prop_map(
        |(links, flows, changes, seed)| {
            let mut net = Blueprint::new(Duration::from_secs(1));
            net.seed = seed;
            let nodes: Vec<NodeId> = (0..10).map(|i| net.node(&format!("n{i}"))).collect();
            for (i, (kbps, micros, limit, loss, kind)) in links.into_iter().enumerate() {
                let mut port = PortSpec::new(Rate::from_kbps(kbps), Duration::from_micros(micros), limit);
                port.loss = if kind == 1 { loss } else { 0.0 };
                port.impair = (kind == 0).then(|| Impair {
                    duplicate: loss,
                    jitter: Some(Jitter { by: Duration::from_micros(micros / 2), keeps_order: limit > 10 }),
                    ..Impair::default()
                });
                if kind == 2 || kind == 4 {
                    port.queue.class_weights = vec![1, 2];
                }
                if kind > 2 {
                    let times = vec![1, 1 + limit, 2 + limit, 20 + limit];
                    let trace = RateTrace::opportunities(times).expect("the times are in order");
                    port.trace = Some(std::sync::Arc::new(trace));
                }
                // six routers in a ring with two chords, four hosts
                let (a, b) = match i {
                    0..=5 => (i, (i + 1) % 6),
                    6 => (0, 3),
                    7 => (1, 4),
                    _ => (i - 2, i - 8),
                };
                net.link(&format!("l{i}"), (nodes[a], nodes[b]), port);
            }
            for (i, (from, to, pattern, kbps, group)) in flows.into_iter().enumerate() {
                let rate = Rate::from_kbps(kbps);
                let spell = DurationDistribution::Exponential(Duration::from_millis(100));
                let pattern = match pattern {
                    0 => Pattern::Constant { rate },
                    1 => Pattern::Poisson { rate },
                    _ => Pattern::OnOff { rate, on: spell, off: spell },
                };
                let receivers: Vec<NodeId> = nodes
                    .iter()
                    .copied()
                    .filter(|node| node.index() != from)
                    .skip(to)
                    .take(if group { 4 } else { 1 })
                    .collect();
                let flow = net.flow(&format!("f{i}"), None, source(1000, pattern), nodes[from], &receivers);
                flow.class = (i % 2) as u8;
                flow.churn = (i == 1).then(|| Box::new(Churn { on: spell, off: spell }));
                flow.to[0].churn = (group && i == 2).then(|| Box::new(Churn { on: spell, off: spell }));
            }
            for (millis, kind, link, value) in changes {
                let link = LinkId((link % 12) as u32);
                let change = match kind {
                    0 if net.links[link.index()].forward.trace.is_none() => {
                        Change::LinkRate(link, Rate::from_kbps(value))
                    }
                    1 => Change::LinkDelay(link, Duration::from_micros(value)),
                    2 => Change::LinkLoss(link, 0.5),
                    0 | 3 => Change::LinkUp(link, false),
                    _ => Change::LinkUp(link, true),
                };
                net.events.push((Time::ZERO + Duration::from_millis(millis), change));
            }
            net
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn packets_are_conserved_and_queues_stay_within_their_limits(plan in random_plan()) {
        let trace = run(&plan);
        for (port, record) in trace.ports.iter().enumerate() {
            let queue = &plan.links[port / 2].forward.queue;
            let Limit::Packets(limit) = queue.limit else { unreachable!("the plan limits packets") };
            let classes = queue.class_weights.len().max(1) as u32;
            prop_assert!(record.backlog_max <= limit * classes, "port {port}: {} > {limit}", record.backlog_max);
            prop_assert!(record.sent_bytes * 8 <= record.capacity_bits as u64 + 8000 * 3);
        }
        let dropped: u64 = trace.flows.iter().flat_map(|flow| flow.drops).sum();
        prop_assert_eq!(dropped, trace.balance.dropped);
        prop_assert_eq!(run(&plan).hash, trace.hash);
    }
}

/// Sends nothing; counts its inputs.
struct Listener(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

impl contract::Endpoint for Listener {
    fn handle(&mut self, input: contract::Input<'_>, cx: &mut contract::Cx<'_>) {
        let messages = match input {
            contract::Input::Start => "start".to_owned(),
            contract::Input::Mode(mode) => format!("mode {mode}"),
            contract::Input::Stop => "stop".to_owned(),
            other => format!("{other:?}"),
        };
        self.0.lock().expect("one thread").push(format!("{} {messages}", cx.now()));
    }
}

#[test]
fn a_custom_endpoint_is_started_switched_stopped_and_made_again() {
    let port = PortSpec::new(Rate::from_mbps(10), Duration::from_millis(1), 20);
    let mut net = wire(Duration::from_secs(9), port, constant(Rate::from_mbps(1)));
    let flow = contract::FlowId(0);
    net.events = vec![
        (at(2), Change::Mode(flow, "background".to_owned())),
        (at(3), Change::FlowStop(flow)),
        (at(4), Change::Mode(flow, "unheard".to_owned())),
        (at(5), Change::FlowStart(flow)),
    ];
    let got_data = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let listener = got_data.clone();
    let mut world = World::new(&net).expect("valid");
    world.custom_sender(flow, Box::new(move |_| Box::new(Listener(listener.clone()))));
    world.run(&Control::default());
    world.finish();
    let got_data = got_data.lock().expect("one thread");
    assert_eq!(*got_data, ["0 s start", "2 s mode background", "3 s stop", "5 s start"]);
}
