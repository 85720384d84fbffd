//! MIRCC over several paths in the running network.

use contract::{NodeId, ParamValue};
use sim::{Blueprint, Control, FlowKind, NdnSpec, PortSpec, ProducerSpec, Subject, Trace, World};
use stack::ndn::{ConsumerConfig, ProducerConfig};
use units::{Bytes, Duration, Rate, Time};

use crate::ms;

const DATA: Bytes = Bytes::new(1250);

fn secs(seconds: u64) -> Time {
    Time::ZERO + Duration::from_secs(seconds)
}

/// A consumer c reaches producers at q over two bottlenecks, r1–q of 10 Mbit/s and r2–q of 6; another, d, over the
/// first alone, from 10 to 30 s. All other links have 100 Mbit/s.
fn two_paths(classes: &str) -> Trace {
    let mut print = Blueprint::new(Duration::from_secs(40));
    let nodes: Vec<NodeId> = ["c", "d", "r1", "r2", "q"].iter().map(|name| print.node(name)).collect();
    let mut link = |a: usize, b: usize, mbps| {
        let port = PortSpec::new(Rate::from_mbps(mbps), ms(10), u32::MAX);
        print.link(&format!("l{a}{b}"), (nodes[a], nodes[b]), port);
    };
    link(0, 2, 100);
    link(0, 3, 100);
    link(1, 2, 100);
    link(2, 4, 10);
    link(3, 4, 6);
    let scheme = "mircc_multipath";
    let params = vec![("classes".to_owned(), ParamValue::from(classes))];
    let mut spec = NdnSpec {
        nodes: nodes.clone(),
        strategy: scheme.to_owned(),
        strategy_params: params.clone(),
        link: Some(scheme.to_owned()),
        link_params: params.clone(),
        ..NdnSpec::default()
    };
    spec.config.data = DATA;
    for (number, (node, start, stop)) in [(0, 0, 40), (1, 10, 30)].into_iter().enumerate() {
        let prefix = spec.names.intern(&format!("/{number}"));
        let payload = Bytes::new(1174);
        let config = ProducerConfig { prefix, payload, data: DATA, delay: Duration::ZERO };
        spec.producers.push(ProducerSpec { node: nodes[4], config });
        let config = ConsumerConfig { retries: 0, ..ConsumerConfig::with_controller(prefix, payload) };
        let flow = print.flow(&format!("f{number}"), Some(scheme), FlowKind::Ndn(config), nodes[node], &[]);
        flow.params = params.clone();
        (flow.start, flow.stop) = (secs(start), secs(stop));
    }
    print.ndn = Some(spec);
    print.record.every = ms(500);
    print.record.series = vec!["generated".to_owned()];
    let mut world = World::new(&print).expect("a valid blueprint");
    world.run(&Control::default());
    world.finish()
}

/// Interests that a consumer generated in a span of seconds, in Mbit/s of Data.
fn mbps(trace: &Trace, flow: u32, from_s: u64, to_s: u64) -> f64 {
    let series = trace
        .series
        .iter()
        .find(|s| s.name == "generated" && matches!(s.subject, Subject::Flow(id) if id.0 == flow))
        .expect("it is recorded");
    let at = |s| series.times.iter().position(|t| *t == secs(s)).map_or(0.0, |i| series.values[i]);
    (at(to_s) - at(from_s)) / (to_s - from_s) as f64 * 0.01
}

fn close(found: f64, wanted: f64) -> bool {
    (found - wanted).abs() < 0.05 * wanted
}

/// Alone the consumer gets both bottlenecks. With another consumer at the first it gets at most the fair R₁:
/// x + (R₁ − 6) = 10 and x = R₁ give 8 each.
#[test]
fn a_flow_over_two_paths_takes_unused_capacity_first_and_counts_as_one() {
    let trace = two_paths("both");
    assert!(close(mbps(&trace, 0, 5, 10), 16.0), "{} alone", mbps(&trace, 0, 5, 10));
    for flow in [0, 1] {
        assert!(close(mbps(&trace, flow, 15, 30), 8.0), "flow {flow}: {}", mbps(&trace, flow, 15, 30));
    }
    assert!(close(mbps(&trace, 0, 35, 40), 16.0), "{} after", mbps(&trace, 0, 35, 40));
}

/// With the first class alone it counts as one flow on each path: 5 + 6 against 5.
#[test]
fn without_classes_a_flow_over_two_paths_counts_as_two() {
    let trace = two_paths("primary");
    assert!(close(mbps(&trace, 0, 15, 30), 11.0), "{}", mbps(&trace, 0, 15, 30));
    assert!(close(mbps(&trace, 1, 15, 30), 5.0), "{}", mbps(&trace, 1, 15, 30));
}
