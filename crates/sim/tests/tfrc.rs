//! TFRC in whole networks: its rate compared with Reno's under the same losses and in one queue, and its smoothness.

use sim::{Blueprint, FlowKind, PortSpec};
use stack::{stream, tcp};
use units::{Bytes, Duration, Rate};

use crate::{ms, run};

fn tfrc() -> FlowKind {
    FlowKind::Stream(stream::Config { packet: Bytes::new(1000), reorder: 3, ..stream::Config::default() })
}

/// Reno as in the throughput equation: an acknowledgement for each segment.
fn reno() -> FlowKind {
    let config = tcp::Config { segment: Bytes::new(960), delayed_ack: false, ..tcp::Config::default() };
    FlowKind::Tcp(config)
}

/// Bit/s of each scheme alone on a fast link with a round-trip time of 100 ms and loss probability `p`.
fn alone(scheme: &str, kind: FlowKind, p: f64) -> f64 {
    let mut net = Blueprint::new(Duration::from_secs(600));
    net.warmup = Duration::from_secs(60);
    let (a, b) = (net.node("a"), net.node("b"));
    let wire = net.link("wire", (a, b), PortSpec::new(Rate::from_mbps(100), ms(50), 10_000));
    net.links[wire.index()].forward.loss = p;
    net.flow("flow", Some(scheme), kind, a, &[b]);
    let trace = run(&net);
    trace.receivers[0].bytes as f64 * 8.0 / trace.receivers[0].active.as_secs_f64()
}

/// [RFC5348 §1]: within a factor of two of the rate of a TCP connection under the same conditions.
#[test]
fn under_the_same_losses_it_is_as_fast_as_reno_within_a_factor_of_two() {
    for p in [0.001, 0.003, 0.01, 0.03, 0.1] {
        let (ours, theirs) = (alone("tfrc", tfrc(), p), alone("reno", reno(), p));
        let share = ours / theirs;
        assert!((0.5..=2.0).contains(&share), "p = {p}: {ours:.0} against {theirs:.0} bit/s");
    }
}

/// Throughput of `n` flows of each scheme behind one bottleneck, per flow, and their mean coefficients of variation
/// over half a second.
fn together(n: usize, mbps: u64, packets: u32, seed: u64) -> [(f64, f64); 2] {
    let mut net = Blueprint::new(Duration::from_secs(180));
    net.seed = seed;
    net.warmup = Duration::from_secs(60);
    net.record.every = ms(500);
    net.record.series = vec!["throughput".to_owned()];
    let (left, right) = (net.node("left"), net.node("right"));
    net.link("bottleneck", (left, right), PortSpec::new(Rate::from_mbps(mbps), ms(20), packets));
    for i in 0..2 * n {
        let (from, to) = (net.node(&format!("from{i}")), net.node(&format!("to{i}")));
        let port = PortSpec::new(Rate::from_mbps(100), ms(2), 1000);
        net.link(&format!("left{i}"), (from, left), port.clone());
        net.link(&format!("right{i}"), (right, to), port);
        let (scheme, kind) = if i < n { ("tfrc", tfrc()) } else { ("reno", reno()) };
        net.flow(&format!("{scheme}{i}"), Some(scheme), kind, from, &[to]).start += ms(37 * i as u64);
    }
    let trace = run(&net);
    let of = |range: std::ops::Range<usize>| {
        let mut sums = (0.0, 0.0);
        for index in range {
            let receiver = &trace.receivers[index];
            let subject = sim::Subject::Receiver(index as u32);
            let series = trace.series.iter().find(|series| series.subject == subject).expect("a series");
            let settled: Vec<f64> = series.values[120..].to_vec();
            let mean = settled.iter().sum::<f64>() / settled.len() as f64;
            let variance =
                settled.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / settled.len() as f64;
            sums.0 += receiver.bytes as f64 * 8.0 / receiver.active.as_secs_f64() / n as f64;
            sums.1 += variance.sqrt() / mean / n as f64;
        }
        sums
    };
    [of(0..n), of(n..2 * n)]
}

#[test]
fn in_one_queue_it_takes_between_half_and_twice_of_what_reno_does() {
    for (n, mbps, packets) in [(1, 2, 25), (4, 10, 60), (8, 20, 100)] {
        for seed in 1..=2 {
            let [(ours, _), (theirs, _)] = together(n, mbps, packets, seed);
            assert!((0.5..=2.0).contains(&(ours / theirs)), "{n}+{n}: {ours:.0} against {theirs:.0}");
        }
    }
}

/// [RFC5348 §1]: a much lower variation of throughput over time. This holds among several flows; one flow that shares a
/// queue of one round-trip time with another hardly varies under any controller.
#[test]
fn among_several_flows_its_rate_varies_half_as_much_as_that_of_reno() {
    for (n, mbps, packets) in [(4, 10, 60), (8, 20, 100)] {
        let [(_, ours), (_, theirs)] = together(n, mbps, packets, 1);
        assert!(ours < 0.6 * theirs, "{n}+{n}: {ours:.3} against {theirs:.3}");
    }
}
