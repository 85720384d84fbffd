//! Consumers in the running network: constant rates, window-based controllers over drop-tail queues, coarse clocks,
//! catalogues before stores.

use contract::{Count, FlowId, NodeId};
use sim::{Blueprint, FlowKind, FlowRecord, NdnSpec, PortSpec, ProducerSpec, Trace};
use stack::ndn::{ConsumerConfig, EpisodeCheck, Pattern, Policy, ProducerConfig, Store, Tally};
use units::{Bytes, Duration, Rate, Time};

use crate::{ms, run};

/// Two consumers, two routers, two producers; all links 10 Mbit/s and 10 ms, with queues of the given number of
/// packets.
fn dumbbell(seconds: u64, queue: u32) -> Blueprint {
    let mut print = Blueprint::new(Duration::from_secs(seconds));
    let nodes: Vec<NodeId> =
        ["c1", "c2", "r1", "r2", "p1", "p2"].iter().map(|name| print.node(name)).collect();
    let port = PortSpec::new(Rate::from_mbps(10), ms(10), queue);
    for (a, b) in [(0, 2), (1, 2), (2, 3), (3, 4), (3, 5)] {
        print.link(&format!("l{a}{b}"), (nodes[a], nodes[b]), port.clone());
    }
    let mut spec = NdnSpec { nodes, ..NdnSpec::default() };
    for (node, text) in [(4, "/p1"), (5, "/p2")] {
        let prefix = spec.names.intern(text);
        let (payload, data) = (Bytes::new(1024), Bytes::new(1100));
        let config = ProducerConfig { prefix, payload, data, delay: Duration::ZERO };
        spec.producers.push(ProducerSpec { node: NodeId(node), config });
    }
    print.ndn = Some(spec);
    print
}

/// A consumer of `prefix` with these settings; without a scheme it requests at a constant rate.
fn consume(
    print: &mut Blueprint,
    node: u32,
    prefix: &str,
    scheme: Option<&str>,
    settings: impl FnOnce(ConsumerConfig) -> ConsumerConfig,
) -> FlowId {
    let spec = print.ndn.as_mut().expect("it has forwarders");
    let prefix = spec.names.intern(prefix);
    let payload = Bytes::new(1024);
    let config = match scheme {
        Some(_) => ConsumerConfig::with_controller(prefix, payload),
        None => ConsumerConfig::new(prefix, payload, per_second(500)),
    };
    let name = format!("c{}", print.flows.len() + 1);
    print.flow(&name, scheme, FlowKind::Ndn(settings(config)), NodeId(node), &[]);
    FlowId(print.flows.len() as u32 - 1)
}

fn per_second(interests: u64) -> Rate {
    Rate::from_bps(1100 * 8 * interests)
}

fn hits(trace: &Trace, node: u32) -> u64 {
    let record = trace.nodes.iter().find(|record| record.node == NodeId(node)).expect("it has a machine");
    record.ndn.as_ref().expect("a forwarder counts").count(Tally::Hits)
}

/// N1: 500 Interests per second for 100 s. ndnSIM 2.8 counts 49 968 Data at each consumer, and 299 964 Interests and
/// 299 873 Data sent on links. Here the numbers are equal if the first Interest leaves one gap after the start of the
/// run.
#[test]
fn steady_consumers_get_as_many_data_as_in_another_simulator() {
    let mut print = dumbbell(100, 100);
    for (node, prefix) in [(0, "/p1"), (1, "/p2")] {
        let flow = consume(&mut print, node, prefix, None, |config| config);
        print.flows[flow.index()].start = Time::ZERO + ms(2);
    }
    let trace = run(&print);
    for flow in &trace.flows {
        assert_eq!(flow.arrived.packets, 49_968);
        assert_eq!(flow.meter.goodput_bytes, 49_968 * 1024);
        assert_eq!((flow.meter.media().delay_count, flow.meter.rtt_count), (49_968, 49_968));
        assert_eq!((flow.meter.count(Count::Missing), flow.meter.count(Count::Ignored)), (0, 0));
    }
    assert_eq!(trace.packet_hops, 299_964 + 299_873);
    assert_eq!(trace.balance.dropped, 0);
}

fn windows(scheme: &str, queue: u32, settings: impl Fn(ConsumerConfig) -> ConsumerConfig) -> Trace {
    let mut print = dumbbell(100, queue);
    consume(&mut print, 0, "/p1", Some(scheme), &settings);
    consume(&mut print, 1, "/p2", Some(scheme), &settings);
    run(&print)
}

fn data(flow: &FlowRecord) -> f64 {
    flow.meter.media().delay_count as f64
}

/// N2: ndnSIM's AIMD, BIC and CUBIC all carry 115 460 ± 25 Data in 100 s over a queue of 100 packets; the shared link
/// has room for 113 636 of our size, which is a little larger.
#[test]
fn window_controllers_fill_the_link_and_share_it() {
    for scheme in ["aimd", "bic", "cubic", "reno"] {
        let trace =
            windows(scheme, 100, |config| ConsumerConfig { episode_check: EpisodeCheck::Highest, ..config });
        let (a, b) = (data(&trace.flows[0]), data(&trace.flows[1]));
        assert!((0.97..=1.0).contains(&((a + b) / 113_636.0)), "{scheme}: {a} + {b}");
        let jain = (a + b) * (a + b) / (2.0 * (a * a + b * b));
        assert!(jain > 0.95, "{scheme}: {a}, {b}");
        for flow in &trace.flows {
            let count = |what| flow.meter.count(what);
            assert_eq!(count(Count::Missing), 0);
            // dropped Interests are retransmitted, and few others
            let drops: u64 = flow.drops.iter().sum();
            assert!(drops > 0 && count(Count::Retransmits) >= drops.saturating_sub(64), "{scheme}: {flow:?}");
            assert!(count(Count::Retransmits) <= drops + drops / 4 + 64, "{scheme}: {flow:?}");
            assert!(count(Count::Episodes) > 0);
        }
    }
}

#[test]
fn equal_runs_are_equal_and_other_seeds_differ() {
    let with = |seed| {
        let mut print = dumbbell(5, 20);
        print.seed = seed;
        print.links[2].backward.loss = 0.01;
        consume(&mut print, 0, "/p1", Some("aimd"), |config| config);
        consume(&mut print, 1, "/p2", Some("cubic"), |config| config);
        run(&print)
    };
    let (one, two, other) = (with(1), with(1), with(2));
    assert_eq!((one.hash, one.packet_hops), (two.hash, two.packet_hops));
    assert_ne!(one.hash, other.hash);
}

/// Held Interests leave in bursts, which makes the queue behind the consumer longer; nothing else changes.
#[test]
fn a_coarse_clock_makes_bursts_of_a_steady_consumer() {
    let with = |tick| {
        let mut print = dumbbell(20, 1000);
        consume(&mut print, 0, "/p1", None, |config| ConsumerConfig { tick, ..config });
        run(&print)
    };
    let (exact, coarse) = (with(Duration::ZERO), with(ms(100)));
    assert_eq!(exact.flows[0].sent_packets, 10_000);
    // Interests generated after the last tick are still held at the end; the Interest of 20 s itself leaves
    assert!((9_950..=10_001).contains(&coarse.flows[0].sent_packets), "{}", coarse.flows[0].sent_packets);
    let backlog = |trace: &Trace| trace.ports[0].backlog_max;
    assert_eq!(backlog(&exact), 0);
    // 50 leave together; one is in transmission
    assert_eq!(backlog(&coarse), 49);
}

/// Two consumers of one catalogue, the second behind the content store of the first: popular content is served from the
/// store.
#[test]
fn popular_contents_are_served_by_stores() {
    let pattern = Pattern::Zipf { contents: 1000, segments: 4, exponent: 1.0, shift: 0.0 };
    let with = |size| {
        let mut print = dumbbell(50, 100);
        let spec = print.ndn.as_mut().expect("it has forwarders");
        spec.stores = vec![(NodeId(2), Store { policy: Policy::Lru, size })];
        consume(&mut print, 0, "/p1", Some("aimd"), |config| ConsumerConfig { pattern, ..config });
        consume(&mut print, 1, "/p1", Some("aimd"), |config| ConsumerConfig { pattern, ..config });
        run(&print)
    };
    let (small, large) = (with(100), with(2000));
    assert!(hits(&small, 2) > 1000, "{}", hits(&small, 2));
    assert!(hits(&large, 2) > 2 * hits(&small, 2), "{} {}", hits(&small, 2), hits(&large, 2));
    let total = |trace: &Trace| trace.flows.iter().map(data).sum::<f64>();
    assert!(total(&large) > 1.2 * total(&small), "{} {}", total(&small), total(&large));
    // served one link away, or by the producer
    let min = large.flows[0].meter.media().delay_min;
    assert!((ms(20)..ms(22)).contains(&min), "{min}");
}

/// A consumer's own store answers at once, and the run still ends.
#[test]
fn answers_of_the_local_store_do_not_stop_time() {
    let pattern = Pattern::Zipf { contents: 10, segments: 1, exponent: 1.0, shift: 0.0 };
    let mut print = dumbbell(1, 100);
    print.ndn.as_mut().expect("it has forwarders").stores =
        vec![(NodeId(0), Store { policy: Policy::Lru, size: 10 })];
    consume(&mut print, 0, "/p1", Some("aimd"), |config| ConsumerConfig { pattern, ..config });
    let trace = run(&print);
    let flow = &trace.flows[0].meter;
    assert_eq!(trace.ended_at, Time::ZERO + Duration::from_secs(1));
    assert_eq!(flow.media().delay_min, Duration::ZERO);
    assert!(
        flow.rtt_count <= 10 && flow.media().delay_count > 1000,
        "{} {}",
        flow.rtt_count,
        flow.media().delay_count
    );
}

#[test]
fn a_finite_consumer_completes() {
    let mut print = dumbbell(60, 20);
    print.links[2].backward.loss = 0.02;
    let size = Bytes::new(1_000_000);
    consume(&mut print, 0, "/p1", Some("reno"), |config| ConsumerConfig { size, ..config });
    let trace = run(&print);
    let flow = &trace.flows[0].meter;
    assert!(flow.completed_at < Time::ZERO + Duration::from_secs(60), "{}", flow.completed_at);
    assert_eq!(flow.goodput_bytes, 1_000_000u64.div_ceil(1024) * 1024);
    assert!(flow.count(Count::Retransmits) > 0);
}
