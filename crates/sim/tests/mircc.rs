//! MIRCC in the running network: rates that routers offer, coarse clocks at both ends.

use contract::{NodeId, ParamValue};
use sim::{Blueprint, Control, FlowKind, NdnSpec, PortSpec, ProducerSpec, Subject, Trace, World};
use stack::ndn::{ConsumerConfig, ProducerConfig, Tally};
use units::{Bytes, Duration, Rate, Time};

use crate::ms;

const DATA: Bytes = Bytes::new(1250);

/// C1, C2 – R1 – R2 – P1, P2; 10 Mbit/s and 50 ms at the edges, 12 Mbit/s and 100 ms between. The first consumer is
/// active from 1 s to 10 s, the second from 3 s to 8 s. `links` are the parameters of all forwarders.
fn dumbbell(tick: Duration, links: &[(&str, ParamValue)]) -> Trace {
    run(tick, links, &[])
}

fn run(tick: Duration, links: &[(&str, ParamValue)], consumer: &[(&str, ParamValue)]) -> Trace {
    let mut print = Blueprint::new(Duration::from_secs(10));
    let nodes: Vec<NodeId> =
        ["c1", "c2", "r1", "r2", "p1", "p2"].iter().map(|name| print.node(name)).collect();
    for (a, b) in [(0, 2), (1, 2), (3, 4), (3, 5)] {
        let port = PortSpec::new(Rate::from_mbps(10), ms(50), u32::MAX);
        print.link(&format!("l{a}{b}"), (nodes[a], nodes[b]), port);
    }
    print.link("core", (nodes[2], nodes[3]), PortSpec::new(Rate::from_mbps(12), ms(100), u32::MAX));
    let mut spec = NdnSpec { nodes, link: Some("mircc".to_owned()), ..NdnSpec::default() };
    let params = |given: &[(&str, ParamValue)]| -> Vec<(String, ParamValue)> {
        given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    };
    spec.link_params = params(links);
    spec.config.data = DATA;
    for (number, start, stop) in [(1, 1, 10), (2, 3, 8)] {
        let prefix = spec.names.intern(&format!("/p{number}"));
        let payload = Bytes::new(1174);
        let config = ProducerConfig { prefix, payload, data: DATA, delay: Duration::ZERO };
        spec.producers.push(ProducerSpec { node: NodeId(3 + number), config });
        let config = ConsumerConfig { tick, retries: 0, ..ConsumerConfig::with_controller(prefix, payload) };
        let name = format!("c{number}");
        let flow = print.flow(&name, Some("mircc"), FlowKind::Ndn(config), NodeId(number - 1), &[]);
        flow.start = Time::ZERO + Duration::from_secs(start);
        flow.params = params(consumer);
        flow.stop = Time::ZERO + Duration::from_secs(stop);
    }
    print.ndn = Some(spec);
    print.record.every = ms(100);
    print.record.series = vec!["generated".to_owned()];
    let mut world = World::new(&print).expect("a valid blueprint");
    world.run(&Control::default());
    world.finish()
}

/// Interests that a consumer generated in a span, per second.
fn generated(trace: &Trace, flow: u32, from_ms: u64, to_ms: u64) -> f64 {
    let series = trace
        .series
        .iter()
        .find(|s| s.name == "generated" && matches!(s.subject, Subject::Flow(id) if id.0 == flow))
        .expect("it is recorded");
    let at = |millis| {
        let when = Time::ZERO + ms(millis);
        series.times.iter().position(|t| *t == when).map_or(0.0, |i| series.values[i])
    };
    (at(to_ms) - at(from_ms)) * 1e3 / (to_ms - from_ms) as f64
}

/// Both rates while both consumers are active, and the drops of all buckets.
fn both(tick_ms: u64, interval_ms: u64) -> (f64, f64, u64) {
    let trace = dumbbell(ms(tick_ms), &[("interval", format!("{interval_ms} ms").as_str().into())]);
    let policed =
        trace.nodes.iter().filter_map(|node| node.ndn.as_ref()).map(|count| count.count(Tally::Policed));
    (generated(&trace, 0, 5500, 8000), generated(&trace, 1, 5500, 8000), policed.sum())
}

/// KATO §4.2, Fig. 3(a), and the same with an exact clock.
#[test]
fn a_consumer_has_its_link_and_two_share_the_bottleneck() {
    for tick in [0, 100] {
        let trace = dumbbell(ms(tick), &[]);
        let alone = generated(&trace, 0, 1500, 3000);
        assert!((920.0..=1010.0).contains(&alone), "tick {tick} ms: {alone} alone");
        for flow in [0, 1] {
            let rate = generated(&trace, flow, 5500, 8000);
            assert!((560.0..=620.0).contains(&rate), "tick {tick} ms: {rate} of both");
        }
        let after = generated(&trace, 0, 9000, 10_000);
        assert!(after > 850.0, "tick {tick} ms: {after} when the other has left");
        // the queue is at most the depth of the buckets
        let longest = trace.ports.iter().map(|port| port.backlog_max).max();
        assert!(longest <= Some(200), "{longest:?}");
    }
}

/// KATO §4.2, Fig. 3(c) and 3(d) against 4(c) and 4(d): with 500 and 750 ms both keep the rate of one alone, unless the
/// consumers' clock is fine.
#[test]
fn a_coarse_clock_of_consumers_hides_them_from_each_other_and_one_of_routers_does_not() {
    for clock in [500, 750] {
        let (first, second, policed) = both(clock, clock);
        assert!(first.min(second) > 930.0, "{clock} ms: {first} {second}");
        assert!(policed > 5000, "{policed} never left their node");
        let (first, second, policed) = both(100, clock);
        assert!(first.max(second) < 720.0 && first.min(second) > 540.0, "{clock} ms: {first} {second}");
        assert!(policed < 3000, "{policed}");
    }
}

#[test]
fn a_consumer_with_a_low_initial_rate_gets_its_rate_with_the_first_data() {
    let start = [("initial_rate", ParamValue::from("1 Mbit/s"))];
    let slow = run(ms(0), &[], &start);
    // 100 per second until the first Data arrives after 0.4 s; the first Interest is sent at the start
    assert_eq!(generated(&slow, 0, 1000, 1400) * 0.4, 39.0);
    assert!((990.0..=1010.0).contains(&generated(&slow, 0, 1500, 2500)));
}
