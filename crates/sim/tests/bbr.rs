//! BBR in whole networks: published results, with wide tolerances for a single run.

use contract::{Count, NodeId};
use sim::{Blueprint, Control, FlowKind, PortSpec, Record, Trace, World};
use stack::tcp;
use units::{Duration, Rate, Time};

use crate::at_ms;

/// A dumbbell of 20 Mbit/s. The round-trip time with an empty queue is a little above 42 ms: 105 kB, 70 packets. Flows
/// start two seconds apart.
fn dumbbell(schemes: &[&str], seconds: u64, warmup: u64, packets: u32) -> Trace {
    let mut net = Blueprint::new(Duration::from_secs(seconds));
    net.warmup = Duration::from_secs(warmup);
    net.record = Record {
        every: Duration::from_millis(10),
        series: vec!["in_flight".to_owned()],
        events: true,
        ..Record::default()
    };
    let (left, right) = (net.node("left"), net.node("right"));
    let edge = PortSpec::new(Rate::from_mbps(1000), Duration::from_millis(1), 10_000);
    let bottleneck = PortSpec::new(Rate::from_mbps(20), Duration::from_millis(19), packets);
    net.link("bottleneck", (left, right), bottleneck);
    for (i, scheme) in schemes.iter().enumerate() {
        let ends: [NodeId; 2] = [net.node(&format!("from{i}")), net.node(&format!("to{i}"))];
        net.link(&format!("in{i}"), (ends[0], left), edge.clone());
        net.link(&format!("out{i}"), (right, ends[1]), edge.clone());
        let kind = FlowKind::Tcp(tcp::Config::default());
        let flow = net.flow(&format!("f{i}"), Some(scheme), kind, ends[0], &[ends[1]]);
        flow.start = Time::ZERO + Duration::from_secs(2 * i as u64);
    }
    let mut world = World::new(&net).expect("a valid blueprint");
    world.run(&Control::default());
    let trace = world.finish();
    assert!(trace.balance.holds(), "{:?}", trace.balance);
    trace
}

/// Payload as a share of the capacity of the link, after the warm-up.
fn share(trace: &Trace, flow: usize, seconds: u64) -> f64 {
    let capacity = 20e6 / 8.0 * 1460.0 / 1500.0 * seconds as f64;
    trace.receivers[flow].meter.goodput_bytes as f64 / capacity
}

fn mean_rtt(trace: &Trace, flow: usize) -> f64 {
    let meter = &trace.flows[flow].meter;
    meter.rtt_sum_ns as f64 / meter.rtt_count as f64 * 1e-9
}

fn within(value: f64, band: std::ops::RangeInclusive<f64>) {
    assert!(band.contains(&value), "{value} is not within {band:?}");
}

/// BBR00 §4.3.5: the whole link except the 2 % that ProbeRTT costs. §3.2: the data in flight is the bandwidth-delay
/// product, without a queue.
#[test]
fn alone_it_fills_the_link_with_one_bandwidth_delay_product_in_flight() {
    let trace = dumbbell(&["bbr"], 60, 5, 1000);
    within(share(&trace, 0, 55), 0.96..=0.99);
    // 42.6 ms with an empty queue; one phase of eight, with a gain of 5/4, makes a short queue
    within(mean_rtt(&trace, 0), 0.0426..=0.0500);
    let series = trace.series.iter().find(|series| series.name == "in_flight").expect("it is recorded");
    let samples = series.times.iter().zip(&series.values);
    let late: Vec<f64> = samples.filter(|(at, _)| **at > at_ms(5000)).map(|(_, bytes)| *bytes).collect();
    let product = 20e6 / 8.0 * 0.0426 * 1460.0 / 1500.0;
    let mean = late.iter().sum::<f64>() / late.len() as f64 / product;
    within(mean, 0.95..=1.20);
    assert_eq!(trace.flows[0].meter.count(Count::Retransmits), 0);
}

/// BBR00 §4.3.2, §4.3.3, §4.3.5: Startup, Drain, ProbeBW, and ProbeRTT about every ten seconds, for 200 ms and a round
/// trip.
#[test]
fn its_states_follow_the_drafts_diagram() {
    let trace = dumbbell(&["bbr"], 60, 0, 1000);
    let states: Vec<(Time, f64)> = trace.events.iter().map(|event| (event.at, event.value)).collect();
    let (drain, probing) = (states[0], states[1]);
    assert_eq!((drain.1, probing.1), (1.0, 2.0));
    assert!(probing.0 < at_ms(1000), "{states:?}");
    let rest: Vec<f64> = states[2..].iter().map(|state| state.1).collect();
    assert_eq!(rest, [3.0, 2.0].repeat(5), "{states:?}");
    for probe in states[2..].chunks(2) {
        within((probe[1].0 - probe[0].0).as_secs_f64(), 0.200..=0.300);
    }
    for probes in states[2..].windows(3).step_by(2) {
        within((probes[2].0 - probes[1].0).as_secs_f64(), 9.7..=10.5);
    }
}

/// BBR00 §1: flows share the link about fairly. Hock, Bless and Zitterbart (IEEE ICNP 2017, §IV) find that several keep
/// up to twice the product in flight, since each takes its best share for the rate of the bottleneck: a queue of about
/// a round-trip time.
#[test]
fn two_flows_share_the_link_with_two_bandwidth_delay_products_in_flight() {
    let trace = dumbbell(&["bbr", "bbr"], 120, 20, 1000);
    let shares = [0, 1].map(|flow| share(&trace, flow, 100));
    within(shares[0] + shares[1], 0.96..=1.001);
    within(shares[0].min(shares[1]), 0.35..=0.5);
    within(mean_rtt(&trace, 0), 0.060..=0.095);
}

/// With a buffer of a fifth of the bandwidth-delay product or of one BBR leaves little to CUBIC, and has many losses;
/// with four CUBIC has an equal share or more, and with sixteen more. Hock, Bless and Zitterbart (IEEE ICNP 2017);
/// Scholz and others (IFIP Networking 2018, §V): the change is between one and three.
#[test]
fn beside_cubic_it_wins_with_short_queues_and_loses_with_long_ones() {
    for first in ["bbr", "cubic"] {
        let bbr = usize::from(first == "cubic");
        let shares = |packets| {
            let schemes = if bbr == 0 { ["bbr", "cubic"] } else { ["cubic", "bbr"] };
            let trace = dumbbell(&schemes, 180, 30, packets);
            let resent = trace.flows[bbr].meter.count(Count::Retransmits);
            (share(&trace, bbr, 150), share(&trace, 1 - bbr, 150), resent)
        };
        let (mine, other, resent) = shares(14);
        assert!(mine > 5.0 * other, "{mine} beside {other}");
        assert!(resent > 2000, "{resent}");
        let (mine, other, _) = shares(70);
        assert!(mine > 3.0 * other, "{mine} beside {other}");
        let (mine, other, resent) = shares(280);
        within(mine / (mine + other), 0.3..=0.55);
        assert!(resent < 1000, "{resent}");
        let (mine, other, _) = shares(1120);
        within(mine / (mine + other), 0.1..=0.45);
    }
}
