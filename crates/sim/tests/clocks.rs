//! Clocks of nodes: state machines see them, and nothing else depends on them.

use std::sync::{Arc, Mutex};

use contract::{Count, Cx, Destination, Ecn, Endpoint, FlowId, Header, Input, Label, NodeId};
use sim::{
    Blueprint, Cast, Change, ClockSpec, Control, FlowKind, IcnSpec, NdnSpec, PortSpec, ProducerSpec, Trace,
    World,
};
use stack::datagram::{self, Pattern};
use stack::{icn, ndn, stream, tcp};
use units::{Bytes, Drift, Duration, Offset, Rate, Time};

use crate::{at_ms, ms, run};

const HOUR: Duration = Duration::from_secs(3600);

/// A network with an error in the clock of one node.
fn with(print: &Blueprint, node: NodeId, offset: Offset, drift: Drift) -> Blueprint {
    let mut print = print.clone();
    print.clocks.push(ClockSpec { node, offset, drift });
    print
}

const SENDER: NodeId = NodeId(0);
const RECEIVER: NodeId = NodeId(2);

/// sender – router – receiver: 100 Mbit/s, 10 ms each.
fn line(seconds: u64) -> Blueprint {
    let mut print = Blueprint::new(Duration::from_secs(seconds));
    let [a, r, b] = ["sender", "router", "receiver"].map(|name| print.node(name));
    let port = PortSpec::new(Rate::from_mbps(100), ms(10), 100);
    print.link("one", (a, r), port.clone());
    print.link("other", (r, b), port);
    print
}

fn constant(print: &mut Blueprint, rate: Rate) {
    let config = datagram::Config { packet: Bytes::new(1000), pattern: Pattern::Constant { rate } };
    print.flow("it", None, FlowKind::Datagram(config), SENDER, &[RECEIVER]);
}

#[test]
fn a_source_sends_as_much_faster_as_its_clock_runs() {
    let mut print = line(16);
    constant(&mut print, Rate::from_mbps(50));
    // 6250 packets per second; a packet due at the end is not sent
    let sent =
        |drift: i32| run(&with(&print, SENDER, Offset::ZERO, Drift::from_ppm(drift))).flows[0].sent_packets;
    assert_eq!(run(&print).flows[0].sent_packets, 100_000);
    // each interval of 160 µs of the clock ends at the next nanosecond, so that the error of the count is at most one
    for (drift, packets) in [(100, 100_010), (-100, 99_990), (10_000, 101_000), (-10_000, 99_000)] {
        assert!(sent(drift).abs_diff(packets) <= 1, "{drift} ppm: {}", sent(drift));
    }
    // a receiver's clock has no effect on the count
    assert_eq!(run(&with(&print, RECEIVER, Offset::ZERO, Drift::MAX)).hash, run(&print).hash);
}

/// Wakes once per second by its own clock and records the time that it reads.
struct Ticker {
    to: Destination,
    next: Time,
}

impl Endpoint for Ticker {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Start => self.next = cx.now() + Duration::from_secs(1),
            Input::Timer if self.next <= cx.now() => {
                cx.event("late_ns", (cx.now() - self.next).as_nanos() as f64);
                self.next += Duration::from_secs(1);
                cx.send(
                    self.to,
                    Bytes::new(1000),
                    Ecn::NotCapable,
                    Header::Datagram { seq: 0 },
                    Label::default(),
                );
            }
            _ => {}
        }
    }

    fn wake(&self) -> Time {
        self.next
    }
}

/// Records the arrival time and the sending time of each packet.
struct Watcher(Arc<Mutex<Vec<(Time, Time)>>>);

impl Endpoint for Watcher {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        if let Input::Packet(packet) = input {
            self.0.lock().expect("one thread").push((cx.now(), packet.sent_at));
        }
    }
}

#[test]
fn timers_use_the_nodes_clock_and_records_use_true_time() {
    let mut print = line(101);
    constant(&mut print, Rate::from_mbps(1));
    print.record.events = true;
    print.clocks = vec![
        ClockSpec { node: SENDER, offset: Offset::behind(HOUR), drift: Drift::from_ppm(-100) },
        ClockSpec { node: RECEIVER, offset: Offset::ahead(ms(5)), drift: Drift::from_ppm(100) },
    ];
    let seen: Arc<Mutex<Vec<(Time, Time)>>> = Arc::default();
    let mut world = World::new(&print).expect("a valid blueprint");
    world.custom_sender(FlowId(0), Box::new(|to| Box::new(Ticker { to, next: Time::NEVER })));
    let notes = Arc::clone(&seen);
    world.custom_receiver(FlowId(0), Box::new(move |_| Box::new(Watcher(Arc::clone(&notes)))));
    world.run(&Control::default());
    let trace = world.finish();

    // after 100 s of a clock that is 100 ppm slow, 100 s / 0.9999 have passed
    let hundredth = &trace.events[99];
    assert_eq!(hundredth.at, Time::from_nanos((100_000_000_000u64 * 1_000_000).div_ceil(999_900)));
    assert!(trace.events.iter().all(|event| event.value == 0.0), "never early and not late");
    // transmission and propagation: two times 80 µs and 10 ms; by the clocks additionally an hour, 5 ms and two drifts.
    // The common epoch is the hour.
    let (came, sent) = seen.lock().expect("one thread")[99];
    assert_eq!(sent, Time::from_nanos(100_000_000_000), "by a clock that began at nothing");
    let true_ns = hundredth.at.as_nanos() + 20_160_000;
    assert_eq!(came, Time::ZERO + HOUR + ms(5) + Duration::from_nanos(true_ns + true_ns / 10_000));
    // times in tables are true times, to the resolution of a slow clock, a nanosecond
    let arrived = &trace.receivers[0];
    assert_eq!((arrived.packets, arrived.delay_min.as_nanos()), (100, 20_160_000));
    assert!(arrived.delay_max.as_nanos() <= 20_160_001);
}

/// A connection of 4 MB that is stopped and restarted while its packets are in flight, beside a stream.
fn traffic() -> Blueprint {
    let mut print = line(12);
    let config = tcp::Config { handshake: true, ..tcp::Config::default() };
    print.flow("tcp", Some("cubic"), FlowKind::Tcp(config), SENDER, &[RECEIVER]).start = at_ms(500);
    let whole = tcp::Config { demand: tcp::Demand::Finite(Bytes::new(4_000_000)), ..tcp::Config::default() };
    print.flow("whole", Some("reno"), FlowKind::Tcp(whole), SENDER, &[RECEIVER]);
    print.flow("stream", Some("mca"), FlowKind::Stream(stream::Config::default()), SENDER, &[RECEIVER]);
    print.events = [(3000, Change::FlowStop(FlowId(0))), (3005, Change::FlowStart(FlowId(0)))]
        .map(|(at, change)| (at_ms(at), change))
        .to_vec();
    print.record.every = ms(100);
    print.record.events = true;
    print.record.series = ["rate", "window", "rtt", "allowed_rate"].map(str::to_owned).to_vec();
    print
}

#[test]
fn an_offset_changes_nothing_that_is_recorded() {
    let print = traffic();
    let right = run(&print);
    assert!(right.receivers[1].meter.completed_at < at_ms(12_000));
    assert!(right.flows[0].drops.iter().sum::<u64>() > 0, "packets of the first connection come too late");
    for node in [SENDER, NodeId(1), RECEIVER] {
        for offset in [Offset::ahead(HOUR), Offset::behind(HOUR), Offset::from_nanos(-1)] {
            let off = run(&with(&print, node, offset, Drift::ZERO));
            assert_eq!(off.hash, right.hash, "{node:?} {offset}");
            for (was, is) in right.receivers.iter().zip(&off.receivers) {
                assert_eq!((is.delay_sum_ns, is.delay_max), (was.delay_sum_ns, was.delay_max));
                assert_eq!(is.meter.completed_at, was.meter.completed_at);
            }
            for (was, is) in right.series.iter().zip(&off.series) {
                assert_eq!((is.name, &is.times, &is.values), (was.name, &was.times, &was.values));
            }
            let instants = |trace: &Trace| trace.events.iter().map(|event| event.at).collect::<Vec<_>>();
            assert_eq!(instants(&off), instants(&right));
        }
    }
}

#[test]
fn measurements_use_the_clock_of_the_measuring_node() {
    let mut print = line(5);
    print.flow("tcp", Some("reno"), FlowKind::Tcp(tcp::Config::default()), SENDER, &[RECEIVER]);
    let min = |print: &Blueprint| run(print).flows[0].meter.rtt_min.as_nanos() as f64;
    let (right, fast) = (min(&print), min(&with(&print, SENDER, Offset::ZERO, Drift::MAX)));
    assert!((fast / right - 1.1).abs() < 1e-6, "{fast} {right}");
    let elsewhere = min(&with(&print, RECEIVER, Offset::ZERO, Drift::MAX));
    assert!((elsewhere / right - 1.0).abs() < 1e-6, "{elsewhere} {right}");
}

#[test]
fn reset_routers_keep_their_clocks() {
    let mut named = line(30);
    let nrs = named.node("nrs");
    named.link("names", (NodeId(1), nrs), PortSpec::new(Rate::from_mbps(100), ms(1), 100));
    named.icn = Some(IcnSpec { resolver: nrs, routers: vec![NodeId(1)], config: icn::Config::default() });
    named
        .flow("group", Some("srmcc"), FlowKind::Stream(stream::Config::default()), SENDER, &[RECEIVER])
        .cast = Cast::Named;
    named.events = vec![(at_ms(7000), Change::Reset(NodeId(1))), (at_ms(15_000), Change::Reset(nrs))];

    let mut data = line(30);
    let mut spec = NdnSpec { nodes: vec![SENDER, NodeId(1), RECEIVER], ..NdnSpec::default() };
    let prefix = spec.names.intern("/p");
    let (payload, size) = (Bytes::new(1000), Bytes::new(1000) + ndn::OVERHEAD);
    let config = ndn::ProducerConfig { prefix, payload, data: size, delay: Duration::ZERO };
    spec.producers.push(ProducerSpec { node: RECEIVER, config });
    data.ndn = Some(spec);
    let consumer = ndn::ConsumerConfig::with_controller(prefix, payload);
    data.flow("asks", Some("cubic"), FlowKind::Ndn(consumer), SENDER, &[]);
    data.events = vec![(at_ms(7000), Change::Reset(NodeId(1)))];

    // with a clock that is 10 % fast, messages are 10 % more frequent
    let messages = |print: &Blueprint| run(print).nodes[0].meter.count(Count::Signals) as f64;
    let fast = messages(&with(&named, NodeId(1), Offset::ZERO, Drift::MAX)) / messages(&named);
    assert!((1.02..1.12).contains(&fast), "{fast}");

    for print in [named, data] {
        let right = run(&print);
        assert!(right.packet_hops > 1000);
        for node in (0..print.nodes.len() as u32).map(NodeId) {
            for offset in [Offset::ahead(HOUR), Offset::behind(HOUR)] {
                assert_eq!(
                    run(&with(&print, node, offset, Drift::ZERO)).hash,
                    right.hash,
                    "{node:?} {offset}"
                );
            }
        }
    }
}

#[test]
fn clocks_of_unknown_nodes_are_refused() {
    let print = line(1);
    let once = with(&print, SENDER, Offset::ZERO, Drift::MAX);
    for wrong in
        [with(&print, NodeId(3), Offset::ZERO, Drift::MAX), with(&once, SENDER, Offset::ZERO, Drift::MAX)]
    {
        assert_eq!(World::new(&wrong).err().expect("it is refused").name, "clocks");
    }
    assert!(World::new(&once).is_ok());
}
