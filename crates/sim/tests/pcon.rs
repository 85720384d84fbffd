//! PCON and its reconstructed successors on the three networks of their literature: links of 10 Mbit/s with queues of
//! 500 packets, payloads of 1024 bytes, 20 seconds.

use contract::{NodeId, ParamList, ParamValue};
use sim::{Blueprint, Control, FlowKind, NdnSpec, PortSpec, ProducerSpec, Trace, World};
use stack::ndn::{ConsumerConfig, ProducerConfig};
use units::{Bytes, Duration, Rate, Time};

/// A network in which every node is an NDN forwarder, and its consumers with their prefixes and start times.
struct Net<'a> {
    nodes: &'a [&'a str],
    /// Ends, and delay in milliseconds.
    links: &'a [(u32, u32, u64)],
    /// Node and number of the prefix.
    producers: &'a [(u32, u32)],
    /// Node, number of the prefix, and second of the start.
    consumers: &'a [(u32, u32, u64)],
}

/// Two consumers and two producers at the ends of one link; round-trip time 60 ms.
const DUMBBELL: Net<'_> = Net {
    nodes: &["c1", "c2", "r1", "r2", "p1", "p2"],
    links: &[(0, 2, 10), (1, 2, 10), (2, 3, 10), (3, 4, 10), (3, 5, 10)],
    producers: &[(4, 0), (5, 1)],
    consumers: &[(0, 0, 0), (1, 1, 0)],
};

/// One consumer, one prefix, two producers behind separate routers; round-trip time 60 ms on each path. The access link
/// has the capacity of one path.
const TWO_WAYS: Net<'_> = Net {
    nodes: &["c1", "r1", "r2", "r3", "p1", "p2"],
    links: &[(0, 1, 10), (1, 2, 10), (1, 3, 10), (2, 4, 10), (3, 5, 10)],
    producers: &[(4, 0), (5, 0)],
    consumers: &[(0, 0, 0)],
};

/// Three consumers at one router, three producers at another, and a longer path between the two: 42 and 72 ms.
const TRIANGLE: Net<'_> = Net {
    nodes: &["c1", "c2", "c3", "r1", "r2", "r3", "p1", "p2", "p3"],
    links: &[
        (0, 3, 10),
        (1, 3, 10),
        (2, 3, 10),
        (3, 4, 10),
        (3, 5, 10),
        (4, 5, 15),
        (4, 6, 1),
        (4, 7, 1),
        (4, 8, 1),
    ],
    producers: &[(6, 0), (7, 1), (8, 2)],
    consumers: &[(0, 0, 0), (1, 1, 1), (2, 2, 2)],
};

/// The scheme in all its parts, and their parameters.
#[derive(Clone, Default)]
struct Setup<'a> {
    scheme: &'a str,
    consumer: Vec<(&'a str, ParamValue)>,
    strategy: Vec<(&'a str, ParamValue)>,
    link: Vec<(&'a str, ParamValue)>,
    seed: u64,
}

fn params(given: &[(&str, ParamValue)]) -> ParamList {
    given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn run(seconds: u64, net: &Net<'_>, setup: &Setup<'_>) -> Trace {
    let mut print = Blueprint::new(Duration::from_secs(seconds));
    print.seed = setup.seed.max(1);
    let nodes: Vec<NodeId> = net.nodes.iter().map(|name| print.node(name)).collect();
    for (a, b, delay) in net.links {
        let port = PortSpec::new(Rate::from_mbps(10), Duration::from_millis(*delay), 500);
        print.link(&format!("l{a}{b}"), (NodeId(*a), NodeId(*b)), port);
    }
    let mut spec = NdnSpec { nodes, ..NdnSpec::default() };
    spec.strategy = setup.scheme.to_owned();
    spec.strategy_params = params(&setup.strategy);
    spec.link = Some(setup.scheme.to_owned());
    spec.link_params = params(&setup.link);
    let (payload, data) = (Bytes::new(1024), Bytes::new(1100));
    spec.config.data = data;
    for (node, prefix) in net.producers {
        let prefix = spec.names.intern(&format!("/p{prefix}"));
        let config = ProducerConfig { prefix, payload, data, delay: Duration::ZERO };
        spec.producers.push(ProducerSpec { node: NodeId(*node), config });
    }
    for (number, (node, prefix, start)) in net.consumers.iter().enumerate() {
        let prefix = spec.names.intern(&format!("/p{prefix}"));
        let kind = FlowKind::Ndn(ConsumerConfig::with_controller(prefix, payload));
        let flow = print.flow(&format!("c{number}"), Some(setup.scheme), kind, NodeId(*node), &[]);
        flow.params = params(&setup.consumer);
        flow.start = Time::ZERO + Duration::from_secs(*start);
    }
    print.ndn = Some(spec);
    let mut world = World::new(&print).expect("a valid blueprint");
    world.run(&Control::default());
    world.finish()
}

/// Result of a run.
#[derive(Debug)]
struct Outcome {
    /// Data at consumers, on the wire, in Mbit/s over the whole run.
    mbps: f64,
    /// Mean and standard deviation of the time from the first Interest to the Data, in ms, by consumer.
    delay: Vec<(f64, f64)>,
    jain: f64,
    drops: u64,
    marks: u64,
    /// Share of the second path in the Data of the last five seconds, and in all Data.
    second: (f64, f64),
}

/// `second` is the router of the second path.
fn outcome(name: &str, net: &Net<'_>, setup: &Setup<'_>, paths: Option<[u32; 2]>) -> Outcome {
    let [earlier, trace] = [15, 20].map(|seconds| run(seconds, net, setup));
    let got: Vec<f64> = trace.flows.iter().map(|flow| flow.meter.media().delay_count as f64).collect();
    let (sum, squares) = (got.iter().sum::<f64>(), got.iter().map(|x| x * x).sum::<f64>());
    let delay = trace.flows.iter().map(|flow| {
        let (count, meter) = (flow.meter.media().delay_count as f64, &flow.meter);
        let mean = meter.media().delay_sum_ns as f64 / count;
        (mean / 1e6, (meter.media().delay_square_sum_ns2 as f64 / count - mean * mean).sqrt() / 1e6)
    });
    let by = |trace: &Trace| {
        paths.map_or([0.0; 2], |paths| paths.map(|port| trace.ports[port as usize].sent_packets as f64))
    };
    let (before, after) = (by(&earlier), by(&trace));
    let late = [after[0] - before[0], after[1] - before[1]];
    let part = |by: [f64; 2]| if paths.is_some() { by[1] / (by[0] + by[1]) } else { 0.0 };
    let outcome = Outcome {
        mbps: sum * 1100.0 * 8.0 / 20e6,
        delay: delay.collect(),
        jain: sum * sum / (got.len() as f64 * squares),
        drops: trace.balance.dropped,
        marks: trace.flows.iter().map(|flow| flow.meter.count(contract::Count::Marks)).sum(),
        second: (part(late), part(after)),
    };
    println!("{name}: {outcome:.2?}");
    outcome
}

const BY_TWO: Option<[u32; 2]> = Some([2, 4]);
const BY_THREE: Option<[u32; 2]> = Some([6, 8]);

fn of(scheme: &str, seed: u64) -> Setup<'_> {
    Setup { scheme, seed, ..Setup::default() }
}

/// The model behind the specification marks departing Data: 9.3, 7.7 and 13.5 Mbit/s, 67 to 69 ms with deviations of
/// 6.5 to 9 ms, and 7.1 over two paths; 13 % and 44 % by the second path at the end. The authors' code marks Data at
/// enqueue.
#[test]
fn pcon_leaves_some_capacity_unused_and_finds_the_second_path() {
    for seed in 1..=3 {
        let one = outcome("pcon 1", &DUMBBELL, &of("pcon", seed), None);
        assert!((8.0..9.0).contains(&one.mbps) && one.jain > 0.98, "{one:?}");
        assert!(one.drops == 0 && one.marks > 20, "{one:?}");
        assert!(
            one.delay.iter().all(|(mean, deviation)| *mean < 75.0 && (10.0..18.0).contains(deviation)),
            "{one:?}"
        );
        let two = outcome("pcon 2", &TWO_WAYS, &of("pcon", seed), BY_TWO);
        assert!((7.2..8.5).contains(&two.mbps) && (0.07..0.2).contains(&two.second.0), "{two:?}");
        assert!(two.delay[0].1 < 12.0, "{two:?}");
        let three = outcome("pcon 3", &TRIANGLE, &of("pcon", seed), BY_THREE);
        assert!((12.0..14.5).contains(&three.mbps) && (0.35..0.5).contains(&three.second.0), "{three:?}");
        assert!(three.second.0 > three.second.1, "the second way is used more and more: {three:?}");
    }
}

#[test]
fn marks_at_departure_arrive_earlier_and_cost_less_throughput() {
    let link = vec![("mark_at", ParamValue::from("dequeue"))];
    for seed in 1..=2 {
        let with =
            |name, net, paths| outcome(name, net, &Setup { link: link.clone(), ..of("pcon", seed) }, paths);
        let one = with("pcon 1, leaves", &DUMBBELL, None);
        assert!((9.2..9.5).contains(&one.mbps), "{one:?}");
        assert!(
            one.delay
                .iter()
                .all(|(mean, deviation)| (66.0..69.0).contains(mean) && (6.5..9.0).contains(deviation)),
            "{one:?}"
        );
        let two = with("pcon 2, leaves", &TWO_WAYS, BY_TWO);
        assert!((7.5..8.0).contains(&two.mbps) && (0.08..0.15).contains(&two.second.0), "{two:?}");
        assert!((6.5..7.5).contains(&two.delay[0].1), "{two:?}");
        let three = with("pcon 3, leaves", &TRIANGLE, BY_THREE);
        assert!((13.2..13.8).contains(&three.mbps) && (0.38..0.46).contains(&three.second.0), "{three:?}");
    }
}

/// Consumers that react to marks once per episode of 1.5 windows, as in ndnSIM, which is a setting of the consumer; and
/// AIMD.
#[test]
fn other_window_controllers_use_more_of_the_link() {
    let aimd = vec![("window", ParamValue::from("aimd")), ("marks", ParamValue::from("once"))];
    let one = outcome("pcon 1, aimd", &DUMBBELL, &Setup { consumer: aimd, ..of("pcon", 1) }, None);
    let bic = vec![("beta", ParamValue::from(0.8)), ("marks", ParamValue::from("once"))];
    let other = outcome("pcon 1, bic 0.8", &DUMBBELL, &Setup { consumer: bic, ..of("pcon", 1) }, None);
    assert!(one.mbps > 8.8 && other.mbps > 9.5, "{one:?} {other:?}");
}

#[test]
fn equal_runs_are_equal() {
    let hash = || run(5, &TRIANGLE, &of("pcon", 4)).hash;
    assert_eq!(hash(), hash());
}

/// The model behind the specification: 9.84 Mbit/s with deviations of 27 to 43 ms; 9.5 to 9.8; 9.87, and nothing by the
/// second path.
#[test]
fn coopcon_keeps_its_path() {
    for seed in 1..=2 {
        let one = outcome("coopcon 1", &DUMBBELL, &of("coopcon", seed), None);
        assert!((9.7..9.9).contains(&one.mbps) && one.jain > 0.99 && one.drops == 0, "{one:?}");
        assert!(one.delay.iter().all(|(_, deviation)| *deviation > 25.0), "{one:?}");
        let two = outcome("coopcon 2", &TWO_WAYS, &of("coopcon", seed), BY_TWO);
        // the window at the start causes one or more heavy marks
        assert!((9.5..9.9).contains(&two.mbps) && two.second.0 < 0.2, "{two:?}");
        let three = outcome("coopcon 3", &TRIANGLE, &of("coopcon", seed), BY_THREE);
        assert!((9.7..10.0).contains(&three.mbps) && three.second.1 < 0.01, "{three:?}");
    }
    let link = vec![("mark_at", ParamValue::from("dequeue"))];
    let with =
        |name, net, paths| outcome(name, net, &Setup { link: link.clone(), ..of("coopcon", 1) }, paths);
    let one = with("coopcon 1, leaves", &DUMBBELL, None);
    assert!((9.7..9.9).contains(&one.mbps), "{one:?}");
    assert!(one.delay.iter().all(|(_, deviation)| (25.0..50.0).contains(deviation)), "{one:?}");
    let two = with("coopcon 2, leaves", &TWO_WAYS, BY_TWO);
    assert!((9.5..9.9).contains(&two.mbps) && two.second.1 < 0.01, "{two:?}");
    let three = with("coopcon 3, leaves", &TRIANGLE, BY_THREE);
    assert!((9.7..10.0).contains(&three.mbps) && three.second.1 < 0.01, "{three:?}");
}

/// The model behind the specification: 9.82 Mbit/s with deviations of 3.7 to 7.9 ms; 9.64, 6 % by the second path, 2.0
/// ms; 17.4 Mbit/s. The throughput is reproduced without shaping of Interests, the deviations are not.
#[test]
fn flecom_uses_both_paths() {
    for seed in 1..=2 {
        let one = outcome("flecom 1", &DUMBBELL, &of("flecom", seed), None);
        assert!((8.7..9.4).contains(&one.mbps) && one.jain > 0.98 && one.drops == 0, "{one:?}");
        let two = outcome("flecom 2", &TWO_WAYS, &of("flecom", seed), BY_TWO);
        assert!((9.6..9.9).contains(&two.mbps) && (0.15..0.3).contains(&two.second.1), "{two:?}");
        let three = outcome("flecom 3", &TRIANGLE, &of("flecom", seed), BY_THREE);
        assert!((16.8..17.8).contains(&three.mbps) && (0.4..0.6).contains(&three.second.0), "{three:?}");
        assert!(three.jain > 0.98 && three.drops == 0, "{three:?}");
    }
    let link = vec![("shaping", ParamValue::from(false))];
    let one = outcome("flecom 1, not shaped", &DUMBBELL, &Setup { link, ..of("flecom", 1) }, None);
    assert!((9.7..9.9).contains(&one.mbps) && one.drops == 0, "{one:?}");
}
