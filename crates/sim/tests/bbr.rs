//! BBR in whole networks: what is published of it, loosely enough for one run.

use contract::NodeId;
use sim::{Blueprint, Control, FlowKind, PortSpec, Record, Trace, World};
use stack::tcp;
use units::{Duration, Rate, Time};

/// A dumbbell of 20 Mbit/s. Round trips take 42 ms and a little where the queue is empty: 105 kB, 70 packets. Flows start one after the other,
/// two seconds apart.
fn dumbbell(schemes: &[&str], seconds: u64, warmup: u64, packets: u32) -> Trace {
    let mut net = Blueprint::new(Duration::from_secs(seconds));
    net.warmup = Duration::from_secs(warmup);
    net.record =
        Record { every: Duration::from_millis(10), series: vec!["in_flight".to_owned()], events: true };
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

/// Payload over what the link could carry of it, after the warm-up.
fn share(trace: &Trace, flow: usize, seconds: u64) -> f64 {
    let capacity = 20e6 / 8.0 * 1460.0 / 1500.0 * seconds as f64;
    trace.receivers[flow].meter.goodput_bytes as f64 / capacity
}

fn mean_rtt(trace: &Trace, flow: usize) -> f64 {
    let meter = &trace.flows[flow].meter;
    meter.rtt_sum_ns as f64 / meter.rtt_count as f64 * 1e-9
}

#[test]
fn probe() {
    let t = dumbbell(&["bbr"], 60, 5, 1000);
    println!("alone {:.4} rtt {:.5} drops {:?}", share(&t, 0, 55), mean_rtt(&t, 0), t.flows[0].meter.counts);
    for (name, v) in t.events.iter().map(|e| (e.name, (e.at, e.value))) {
        println!("{name} {v:?}");
    }
    println!("{:?}", t.series.iter().map(|s| s.name.clone()).collect::<Vec<_>>());
    let t = dumbbell(&["bbr", "bbr"], 120, 20, 1000);
    println!("two {:.4} {:.4} rtt {:.5}", share(&t, 0, 100), share(&t, 1, 100), mean_rtt(&t, 0));
    for packets in [14, 35, 70, 140, 280, 560, 1120] {
        let t = dumbbell(&["bbr", "cubic"], 180, 30, packets);
        println!(
            "beside cubic {packets}: {:.4} {:.4} rtt {:.5} retransmits {:?}",
            share(&t, 0, 150),
            share(&t, 1, 150),
            mean_rtt(&t, 0),
            t.flows.iter().map(|f| f.meter.counts[0]).collect::<Vec<_>>()
        );
        let t = dumbbell(&["cubic", "bbr"], 180, 30, packets);
        println!(
            "cubic first, beside cubic {packets}: {:.4} {:.4} rtt {:.5}",
            share(&t, 1, 150),
            share(&t, 0, 150),
            mean_rtt(&t, 0)
        );
    }
}
