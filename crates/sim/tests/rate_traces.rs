//! Links whose rate follows a trace, in running networks.

use std::sync::Arc;

use contract::{DropReason, LinkId, NodeId};
use proptest::prelude::*;
use sim::{Blueprint, Change, Control, FlowKind, PortSpec, RateTrace, Trace, World};
use stack::datagram::{Config, Pattern};
use stack::queue::DisciplineSpec;
use stack::queue::codel::Params;
use stack::tcp;
use units::{Bytes, Duration, Rate, Time};

use crate::{at_ms, ms, run};

/// A link from a to b that follows `trace`, with a queue of `packets` and a delay of 9 ms. The way back is fast.
fn link(end: Duration, trace: RateTrace, packets: u32) -> Blueprint {
    let mut net = Blueprint::new(end);
    let (a, b) = (net.node("a"), net.node("b"));
    let mut port = PortSpec::new(trace.mean(), ms(9), packets);
    port.trace = Some(Arc::new(trace));
    let link = net.link("wire", (a, b), port);
    net.links[link.index()].backward = PortSpec::new(Rate::from_mbps(1000), ms(9), 10_000).into();
    net
}

/// Adds a source of datagrams.
fn source(net: &mut Blueprint, size: u64, pattern: Pattern) {
    let kind = FlowKind::Datagram(Config { packet: Bytes::new(size), pattern });
    let name = format!("source{}", net.flows.len());
    net.flow(&name, None, kind, NodeId(0), &[NodeId(1)]);
}

fn opportunities(times_ms: &[u32]) -> RateTrace {
    RateTrace::opportunities(times_ms.to_vec()).expect("the test has a right trace")
}

fn rates(rates: &[(u64, u64)], period_ms: u64) -> RateTrace {
    let rates: Vec<_> = rates.iter().map(|(at, kbps)| (ms(*at), Rate::from_kbps(*kbps))).collect();
    RateTrace::rates(&rates, ms(period_ms)).expect("the test has a right trace")
}

#[test]
fn each_opportunity_carries_one_full_packet_of_a_busy_source() {
    // an opportunity each 2 ms, a packet of 1500 bytes each millisecond
    let mut net = link(ms(1000), opportunities(&[2, 4, 6, 8, 10]), 100);
    source(&mut net, 1500, Pattern::Constant { rate: Rate::from_mbps(12) });
    let trace = run(&net);
    let port = &trace.ports[0];
    assert_eq!(port.capacity_bits, 500 * 12_000);
    assert_eq!((port.sent_packets, port.sent_bytes), (500, 500 * 1500), "every opportunity is used");
    // packets that leave up to 990 ms arrive by 999 ms
    assert_eq!(trace.receivers[0].packets, 495);
    // of 1000 packets, 99 wait after the last opportunity; the others found the queue full
    assert_eq!(port.drops[DropReason::QueueFull as usize], 401);
}

#[test]
fn the_delay_follows_the_trace_in_order_with_and_without_a_discipline() {
    // 12 Mbit/s, a packet of 1500 bytes per ms; the link adds 9 ms. Departures before 50 ms travel 30 ms, later ones 10
    // ms, in a period of 100 ms
    for codel in [false, true] {
        let delays = [(ms(0), ms(30)), (ms(50), ms(10))];
        let traced = rates(&[(0, 12_000)], 100).with_delays(&delays).expect("it is right");
        let mut net = link(ms(1000), traced, 100);
        net.links[0].forward.delay = ms(19);
        net.links[0].forward.queue.discipline = codel.then(|| DisciplineSpec::Codel(Params::default()));
        source(&mut net, 1500, Pattern::Constant { rate: Rate::from_kbps(6000) });
        let trace = run(&net);
        let receiver = &trace.receivers[0];
        // a packet each 2 ms: serialisation of 1 ms, and 10 + 9 ms or 30 + 9 ms
        assert_eq!((receiver.delay_min, receiver.delay_max), (ms(20), ms(40)), "codel: {codel}");
        // those that leave at 49 ms arrive at 88 ms; those that leave at 51 … 69 ms would arrive at 70 … 88 ms and wait
        // for them
        let period = |n: u64| -> u64 {
            (0..50)
                .map(|i| 2 * i + 1)
                .map(|leaves| if leaves < 50 { leaves + 39 } else { (leaves + 19).max(88) } - leaves + 1)
                .sum::<u64>()
                * n
        };
        let all = receiver.delay_sum_ns / 1_000_000;
        assert!(period(9) < all && all < period(10), "{all} {}", period(10));
    }
}

#[test]
fn opportunities_without_a_waiting_packet_are_lost() {
    // a packet each 10 ms, at 0, 10, 20 …: it uses the opportunity 2 ms later, and those at 5 and 10 ms are lost
    let mut net = link(ms(1000), opportunities(&[2, 5, 10]), 100);
    source(&mut net, 1500, Pattern::Constant { rate: Rate::from_kbps(1200) });
    let trace = run(&net);
    assert_eq!(trace.ports[0].capacity_bits, 300 * 12_000);
    assert_eq!(trace.ports[0].sent_packets, 100);
    let receiver = &trace.receivers[0];
    assert_eq!((receiver.delay_min, receiver.delay_max), (ms(11), ms(11)));
}

#[test]
fn packets_wait_out_a_rate_of_zero_and_the_queue_overflows() {
    // 100 ms of 16 Mbit/s, then 100 ms of nothing; a packet of 1000 bytes each millisecond
    let mut net = link(ms(200), rates(&[(0, 16_000), (100, 0)], 200), 10);
    source(&mut net, 1000, Pattern::Constant { rate: Rate::from_mbps(8) });
    let trace = run(&net);
    let port = &trace.ports[0];
    assert_eq!((port.offered_packets, port.sent_packets, port.backlog_max), (200, 100, 10));
    assert_eq!(port.drops[DropReason::QueueFull as usize], 90);
    assert_eq!(port.capacity_bits, 1_600_000);
    assert_eq!(trace.balance.in_flight, 10);
}

#[test]
fn a_link_that_goes_down_and_up_continues_its_trace() {
    let mut net = link(ms(1000), opportunities(&[2, 4, 6, 8, 10]), 1000);
    source(&mut net, 1500, Pattern::Constant { rate: Rate::from_mbps(12) });
    for (at, up) in [(400, false), (601, true)] {
        net.events.push((at_ms(at), Change::LinkUp(LinkId(0), up)));
    }
    let trace = run(&net);
    // 200 opportunities up to 400 ms, then those at 602 ms and later: (1000 − 600) / 2
    assert_eq!(trace.ports[0].capacity_bits, 400 * 12_000);
    assert_eq!(trace.ports[0].sent_packets, 400);
    // 200 of 400 packets waited, and those that left at 392, 394 … 400 ms were on the link; the packet of 400 ms may
    // come after
    let lost = trace.ports[0].drops[DropReason::LinkDown as usize];
    assert!((205..=206).contains(&lost), "{lost}");
}

#[test]
fn a_rate_that_follows_a_trace_is_changed_by_nothing_else() {
    let mut net = link(ms(1000), opportunities(&[2]), 10);
    source(&mut net, 1500, Pattern::Constant { rate: Rate::from_mbps(1) });
    net.events.push((at_ms(1), Change::LinkRate(LinkId(0), Rate::from_mbps(1))));
    let error = World::new(&net).err().expect("it is refused");
    assert_eq!(
        (error.name.as_str(), error.message.as_str()),
        ("wire", "an event cannot change a rate that follows a trace or has a shaper")
    );
}

#[test]
fn codel_keeps_the_queue_of_a_varying_link_short() {
    // one second of 12 Mbit/s and one of 3 Mbit/s in turn
    let delay_ms = |discipline| {
        let mut net = link(Duration::from_secs(30), rates(&[(0, 12_000), (1000, 3000)], 2000), 400);
        net.links[0].forward.queue.discipline = discipline;
        net.flow("flow", Some("cubic"), FlowKind::Tcp(tcp::Config::default()), NodeId(0), &[NodeId(1)]);
        let trace = run(&net);
        let port = &trace.ports[0];
        let used = port.sent_bytes as f64 * 8.0 / port.capacity_bits as f64;
        assert!((0.8..=1.0).contains(&used), "{used}");
        port.backlog_packet_ns as f64 / port.sent_packets as f64 / 1e6
    };
    let (deep, codel) = (delay_ms(None), delay_ms(Some(DisciplineSpec::Codel(Params::default()))));
    assert!(codel < 0.5 * deep, "{codel} ms against {deep} ms");
}

/// Counters that do not depend on how a queue is served.
fn seen(trace: &Trace) -> (u64, u64, u64, u64, u64, [u64; DropReason::ALL.len()], u128) {
    let (port, receiver) = (&trace.ports[0], &trace.receivers[0]);
    let delays = (receiver.delay_sum_ns, receiver.delay_max.as_nanos());
    let packets = (receiver.packets, port.sent_packets);
    (packets.0, packets.1, port.sent_bytes, delays.0, delays.1, port.drops, port.backlog_packet_ns)
}

fn any_trace() -> impl Strategy<Value = RateTrace> {
    let opportunities = prop::collection::vec(0u32..40, 1..20).prop_map(|mut times| {
        times.sort_unstable();
        times.push(times.last().map_or(1, |last| last + 1));
        RateTrace::opportunities(times).expect("it is right")
    });
    let rates = prop::collection::vec((1u64..30, 0u64..20_000), 1..10).prop_map(|spans| {
        let mut at = 0;
        let mut steps = vec![(Duration::ZERO, Rate::from_kbps(500))];
        for (span, kbps) in spans {
            at += span;
            steps.push((ms(at), Rate::from_kbps(kbps)));
        }
        RateTrace::rates(&steps, ms(at + 7)).expect("it is right")
    });
    prop_oneof![opportunities, rates]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A FIFO plans each transmission when it accepts the packet; a discipline decides when the link can transmit. Both
    /// are the same queue.
    #[test]
    fn a_discipline_with_one_class_serves_as_the_fifo_does(
        trace in any_trace(), limit in 0u32..30, size in 40u64..4000, kbps in 100u64..20_000, steady: bool, seed: u64,
    ) {
        // at the end, the FIFO counts what leaves at this instant, and an event of this instant comes too late
        let mut net = link(Duration::from_micros(499_500), trace, limit.max(1));
        net.seed = seed;
        let rate = Rate::from_kbps(kbps);
        let pattern = if steady { Pattern::Constant { rate } } else { Pattern::Poisson { rate } };
        source(&mut net, size, pattern);
        let fifo = run(&net);
        net.links[0].forward.queue.class_weights = vec![1];
        let class = run(&net);
        prop_assert_eq!(seen(&fifo), seen(&class));
        prop_assert!(fifo.balance.holds());
    }

    /// An emulation advances the same network by a clock.
    #[test]
    fn steps_of_a_clock_change_nothing(trace in any_trace(), kbps in 100u64..20_000, classes: bool, step_us in 100u64..7000) {
        let mut net = link(ms(300), trace, 20);
        source(&mut net, 1200, Pattern::Poisson { rate: Rate::from_kbps(kbps) });
        if classes {
            net.links[0].forward.queue.class_weights = vec![1];
        }
        let whole = run(&net);
        let mut world = World::new(&net).expect("it is right");
        let (mut now, control) = (Time::ZERO, Control::default());
        while !world.run_until(now, &control) {
            now += Duration::from_micros(step_us);
        }
        let stepped = world.finish();
        prop_assert_eq!((stepped.hash, stepped.balance), (whole.hash, whole.balance));
    }
}
