//! Named data in the running network: Interests reach producers, Data returns, and every Interest ends.

use contract::{Count, DropReason, FlowId, LinkId, NodeId};
use proptest::prelude::*;
use sim::{Blueprint, Change, FlowKind, NameRoute, NdnSpec, NodeRole, PortSpec, ProducerSpec, Trace};
use stack::ndn::{ConsumerConfig, Policy, ProducerConfig, Store, Tally};
use units::{Bytes, Duration, Rate};

use crate::{at_ms, ms, run};

fn port(rate_mbps: u64, delay_ms: u64) -> PortSpec {
    PortSpec::new(Rate::from_mbps(rate_mbps), ms(delay_ms), 100)
}

/// A network in which every node is an NDN forwarder.
fn net(seconds: u64, nodes: &[&str], links: &[(u32, u32, PortSpec)]) -> Blueprint {
    let mut print = Blueprint::new(Duration::from_secs(seconds));
    let nodes: Vec<NodeId> = nodes.iter().map(|name| print.node(name)).collect();
    for (a, b, spec) in links {
        print.link(&format!("l{a}{b}"), (NodeId(*a), NodeId(*b)), spec.clone());
    }
    print.ndn = Some(NdnSpec { nodes, ..NdnSpec::default() });
    print
}

fn ndn(print: &mut Blueprint) -> &mut NdnSpec {
    print.ndn.as_mut().expect("it has forwarders")
}

/// A producer of Data with a payload of 1024 bytes.
fn produce(print: &mut Blueprint, node: u32, prefix: &str) {
    let prefix = ndn(print).names.intern(prefix);
    let config =
        ProducerConfig { prefix, payload: Bytes::new(1024), data: Bytes::new(1100), delay: Duration::ZERO };
    ndn(print).producers.push(ProducerSpec { node: NodeId(node), config });
}

/// A consumer that requests the given number of segments per second until 500 ms before the end.
fn consume(print: &mut Blueprint, node: u32, prefix: &str, per_second: u64) -> FlowId {
    let prefix = ndn(print).names.intern(prefix);
    let config = ConsumerConfig::new(prefix, Bytes::new(1024), Rate::from_bps(1100 * 8 * per_second));
    let name = format!("c{}", print.flows.len());
    print.flow(&name, None, FlowKind::Ndn(config), NodeId(node), &[]);
    FlowId(print.flows.len() as u32 - 1)
}

fn count(trace: &Trace, node: u32, what: Tally) -> u64 {
    counters(trace, node).count(what)
}

fn counters(trace: &Trace, node: u32) -> &stack::ndn::Counters {
    let record = trace.nodes.iter().find(|record| record.node == NodeId(node)).expect("it has a machine");
    assert_eq!(record.role, NodeRole::Forwarder);
    record.ndn.as_ref().expect("a forwarder counts")
}

/// Two consumers, two routers, two producers, all links 10 Mbit/s and 10 ms.
fn dumbbell(seconds: u64) -> Blueprint {
    let links = [(0, 2), (1, 2), (2, 3), (3, 4), (3, 5)].map(|(a, b)| (a, b, port(10, 10)));
    let mut print = net(seconds, &["c1", "c2", "r1", "r2", "p1", "p2"], &links);
    produce(&mut print, 4, "/p1");
    produce(&mut print, 5, "/p2");
    print
}

#[test]
fn a_steady_dumbbell_delivers_what_another_simulator_delivers() {
    let mut print = dumbbell(100);
    consume(&mut print, 0, "/p1", 500);
    consume(&mut print, 1, "/p2", 500);
    let trace = run(&print);
    // ndnSIM 2.8 with the same network: 49 968 Data at each consumer after 100 s, 599 837 packet-hops; its packets are
    // a little larger
    for flow in &trace.flows {
        assert_eq!((flow.sent_packets, flow.arrived.packets), (50_000, 49_969));
        assert_eq!(flow.meter.goodput_bytes, 49_969 * 1024);
        assert_eq!(flow.meter.count(Count::Missing), 0);
        // 6 links of 10 ms, Interests of 40 µs and Data of 880 µs on three links each: 62.76 ms; both consumers send at
        // the same instants, so that one waits for the other's Interest and Data on the shared link
        assert!(flow.meter.rtt_min >= Duration::from_micros(62_760), "{}", flow.meter.rtt_min);
        assert!(
            flow.meter.media().delay_max <= Duration::from_micros(62_760 + 40 + 880),
            "{}",
            flow.meter.media().delay_max
        );
    }
    assert!(trace.packet_hops.abs_diff(599_837) <= 20, "{}", trace.packet_hops);
    assert_eq!(trace.balance.dropped, 0);
    assert_eq!(count(&trace, 2, Tally::InterestsIn), 2 * 49_995, "the last 10 ms are on their way");
    assert_eq!(count(&trace, 2, Tally::Aggregated), 0);
    assert!((42..=44).contains(&counters(&trace, 2).pending_peak), "{}", counters(&trace, 2).pending_peak);
}

#[test]
fn every_interest_ends_and_the_tables_empty_when_traffic_stops() {
    let mut print = dumbbell(10);
    // the shared link carries 1136 Data per second: of 1400 Interests some stay without Data, since there are no
    // retransmissions
    for (node, prefix) in [(0, "/p1"), (1, "/p2")] {
        let flow = consume(&mut print, node, prefix, 700);
        print.flows[flow.index()].stop = at_ms(5000);
    }
    print.links[0].backward.loss = 0.02;
    print.links[3].forward.loss = 0.02;
    let trace = run(&print);
    for node in 0..6 {
        let counters = counters(&trace, node);
        assert_eq!(counters.pending, 0, "node {node}");
        let count = |what| counters.count(what);
        let taken = count(Tally::InterestsIn) - count(Tally::Aggregated) - count(Tally::Repeated);
        let refused = count(Tally::Loops) + count(Tally::NoRoute);
        let satisfied = count(Tally::DataIn) - count(Tally::Unsolicited);
        assert_eq!(taken, refused + satisfied + count(Tally::Expired), "node {node}: {counters:?}");
    }
    let expired = count(&trace, 0, Tally::Expired);
    let flow = &trace.flows[0];
    assert!(expired > 100, "{expired}");
    // Data that arrived after the consumer had stopped had no receiver
    let late = flow.drops[DropReason::NotListening as usize];
    assert_eq!(flow.sent_packets, flow.arrived.packets + late + expired);
    assert_eq!(trace.balance.in_flight, 0);
}

#[test]
fn equal_interests_are_aggregated_where_they_meet() {
    let mut print = dumbbell(10);
    let first = consume(&mut print, 0, "/p1", 100);
    let second = consume(&mut print, 1, "/p1", 100);
    let trace = run(&print);
    for flow in [first, second] {
        assert_eq!(trace.flows[flow.index()].arrived.packets, 994, "1000 less the last 63 ms");
    }
    // the router does not receive the last thousandth of the Interests before the end
    assert_eq!((count(&trace, 2, Tally::Aggregated), count(&trace, 2, Tally::InterestsOut)), (999, 999));
    assert_eq!((count(&trace, 2, Tally::DataIn), count(&trace, 2, Tally::DataOut)), (995, 1990));
    assert_eq!(count(&trace, 4, Tally::InterestsIn), 997);
}

#[test]
fn a_store_answers_what_has_passed() {
    for (policy, size, hits) in
        [(Policy::Lru, 2000, true), (Policy::Fifo, 2000, true), (Policy::Lru, 50, false)]
    {
        let mut print = dumbbell(20);
        ndn(&mut print).stores = vec![(NodeId(2), Store { policy, size })];
        let early = consume(&mut print, 0, "/p1", 100);
        let late = consume(&mut print, 1, "/p1", 100);
        print.flows[early.index()].stop = at_ms(10_000);
        print.flows[late.index()].start = at_ms(11_000);
        let trace = run(&print);
        let router = counters(&trace, 2);
        let late = &trace.flows[late.index()];
        assert_eq!(router.count(Tally::Hits), if hits { 899 } else { 0 }, "{policy:?} {size}");
        assert_eq!(router.hit_ratio(), Some(if hits { 899.0 / 1899.0 } else { 0.0 }));
        assert_eq!(router.stored, u64::from(size.min(1000)));
        let from_afar = Duration::from_micros(62_760);
        // from the router: two links of 10 ms, 40 and 880 µs
        let expected = if hits { Duration::from_micros(20_920) } else { from_afar };
        assert_eq!(
            (late.meter.media().delay_min, late.meter.media().delay_max),
            (expected, expected),
            "{policy:?} {size}"
        );
    }
}

/// c – r1, and from there two paths to producers of the same prefix, of which r2 – p2 is shorter.
fn diamond(seconds: u64) -> Blueprint {
    let links = [(0, 1, 1), (1, 2, 10), (1, 3, 15), (2, 4, 1), (3, 5, 1)]
        .map(|(a, b, delay)| (a, b, port(10, delay)));
    let mut print = net(seconds, &["c", "r1", "r2", "r3", "p2", "p3"], &links);
    produce(&mut print, 4, "/data");
    produce(&mut print, 5, "/data");
    print
}

#[test]
fn the_nearest_producer_answers_and_the_next_one_after_a_failure() {
    let mut print = diamond(10);
    consume(&mut print, 0, "/data/film", 100);
    print.events.push((at_ms(5000), Change::LinkUp(LinkId(1), false)));
    let trace = run(&print);
    let (near, far) = (count(&trace, 4, Tally::InterestsIn), count(&trace, 5, Tally::InterestsIn));
    assert!((498..=501).contains(&near) && (495..=501).contains(&far), "{near} {far}");
    let flow = &trace.flows[0];
    assert!(flow.arrived.packets > 990, "{}", flow.arrived.packets);
}

#[test]
fn an_adaptive_strategy_leaves_a_next_hop_without_answers() {
    let arrived = |strategy: &str| {
        let mut print = diamond(10);
        ndn(&mut print).strategy = strategy.to_owned();
        consume(&mut print, 0, "/data", 100);
        // the link stays up, so routes do not change
        print.events.push((at_ms(5000), Change::LinkLoss(LinkId(1), 1.0)));
        run(&print).flows[0].arrived.packets
    };
    assert!((495..=500).contains(&arrived("best_route")), "{}", arrived("best_route"));
    // about 200 ms pass before the face counts as silent; Interests of that time are not retransmitted
    assert!((965..=985).contains(&arrived("asf")), "{}", arrived("asf"));
}

#[test]
fn a_pinned_next_hop_takes_the_place_of_the_nearest() {
    let mut print = diamond(10);
    consume(&mut print, 0, "/data/film", 100);
    let prefix = ndn(&mut print).names.intern("/data");
    ndn(&mut print).routes.push(NameRoute { at: NodeId(1), prefix, via: NodeId(3), cost: 7 });
    let trace = run(&print);
    assert_eq!(count(&trace, 4, Tally::InterestsIn), 0);
    assert!(count(&trace, 5, Tally::InterestsIn) > 990);
}

#[test]
fn the_first_forwarder_sends_a_nack_for_a_name_without_producer() {
    let mut print = dumbbell(10);
    consume(&mut print, 0, "/nobody", 100);
    let trace = run(&print);
    assert_eq!(trace.flows[0].meter.count(Count::Nacks), 1000);
    assert_eq!((count(&trace, 0, Tally::NoRoute), count(&trace, 2, Tally::InterestsIn)), (1000, 0));
    assert_eq!(trace.packet_hops, 0);
}

#[test]
fn multicast_finds_both_producers_and_the_later_data_is_unsolicited() {
    let mut print = diamond(10);
    ndn(&mut print).strategy = "multicast".to_owned();
    consume(&mut print, 0, "/data", 100);
    let trace = run(&print);
    let (near, far) = (count(&trace, 4, Tally::InterestsIn), count(&trace, 5, Tally::InterestsIn));
    assert!(near >= 998 && far >= 997, "{near} {far}");
    assert!(count(&trace, 1, Tally::Unsolicited) > 990);
    assert_eq!(trace.flows[0].arrived.packets, count(&trace, 1, Tally::DataOut));
}

/// c – a, and a, b, d in a ring of 10 ms links; the producer is attached to d.
fn ring(seconds: u64) -> Blueprint {
    let links = [(0, 1), (1, 2), (2, 3), (1, 3), (3, 4)].map(|(a, b)| (a, b, port(10, 10)));
    let mut print = net(seconds, &["c", "a", "b", "d", "p"], &links);
    produce(&mut print, 4, "/data");
    print
}

#[test]
fn looping_interests_are_detected_by_their_nonce() {
    let mut print = ring(10);
    ndn(&mut print).strategy = "multicast".to_owned();
    let flow = consume(&mut print, 0, "/data", 100);
    print.flows[flow.index()].stop = at_ms(5000);
    let trace = run(&print);
    // a sends to b and d; b sends to d, which has seen the nonce; every other path from d except that to p returns to d
    assert_eq!(count(&trace, 3, Tally::Loops), 500);
    assert_eq!((count(&trace, 2, Tally::Loops), count(&trace, 2, Tally::NacksIn)), (0, 500));
    assert_eq!(count(&trace, 4, Tally::InterestsIn), 500);
    assert_eq!(trace.flows[0].arrived.packets, 494, "Data for the last six comes after the end of the flow");
    assert_eq!((0..5).map(|node| counters(&trace, node).pending).sum::<u64>(), 0);
}

#[test]
fn weights_spread_interests_over_next_hops() {
    let mut print = ring(20);
    ndn(&mut print).strategy = "weighted".to_owned();
    consume(&mut print, 0, "/data", 100);
    let trace = run(&print);
    // at a half of the Interests go to b and half to d; at b and d some return, but no nonce arrives twice
    let to_b = count(&trace, 2, Tally::InterestsIn) as f64;
    assert!((700.0..=1700.0).contains(&to_b), "{to_b}");
    assert!(trace.flows[0].arrived.packets > 1500, "{}", trace.flows[0].arrived.packets);
}

#[test]
fn a_reset_forwarder_serves_new_interests() {
    let mut print = dumbbell(10);
    consume(&mut print, 0, "/p1", 100);
    print.events.push((at_ms(5005), Change::Reset(NodeId(2))));
    let trace = run(&print);
    let router = counters(&trace, 2);
    // Data beyond the router at that time returns to no pending Interest
    assert!((3..=5).contains(&router.count(Tally::Unsolicited)), "{router:?}");
    assert_eq!(router.count(Tally::InterestsIn), 999);
    let missing = router.count(Tally::Unsolicited);
    assert_eq!(trace.flows[0].arrived.packets, 994 - missing);
    assert_eq!(trace.flows[0].meter.count(Count::Missing), missing);
}

#[test]
fn runs_are_deterministic_and_a_second_prefix_changes_no_draws() {
    let mut print = ring(5);
    ndn(&mut print).strategy = "weighted".to_owned();
    consume(&mut print, 0, "/data", 100);
    let (once, again) = (run(&print), run(&print));
    assert_eq!((once.hash, once.packet_hops), (again.hash, again.packet_hops));
    print.seed = 2;
    assert_ne!(run(&print).hash, once.hash);
}

/// A random network, its traffic and its events.
#[derive(Clone, Debug)]
struct Drawn {
    /// Links beyond a random tree, and the parent of each node but the first in that tree.
    parents: Vec<u32>,
    more: Vec<(u32, u32)>,
    producers: Vec<u32>,
    consumers: Vec<(u32, u64)>,
    strategy: usize,
    store: u32,
    loss: f64,
    /// Links go down at the first of these times, and come up again at the second, if there is one.
    flaps: Vec<(u32, u64, Option<u64>)>,
    reset: Option<(u32, u64)>,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    (4u32..9).prop_flat_map(|nodes| {
        let parents: Vec<_> = (1..nodes).map(|node| 0..node).collect();
        (
            (parents, prop::collection::vec((0..nodes, 0..nodes), 0..5)),
            prop::collection::vec(0..nodes, 1..4),
            prop::collection::vec((0..nodes, 20u64..200), 1..4),
            (0..stack::ndn::strategies::ALL.len(), 0u32..40, prop_oneof![Just(0.0), Just(0.05)]),
            prop::collection::vec((0..nodes + 4, 100u64..900, prop::option::of(1000u64..1900)), 0..5),
            prop::option::of((0..nodes, 100u64..1900)),
        )
            .prop_map(
                |((parents, more), producers, consumers, (strategy, store, loss), flaps, reset)| Drawn {
                    parents,
                    more,
                    producers,
                    consumers,
                    strategy,
                    store,
                    loss,
                    flaps,
                    reset,
                },
            )
    })
}

fn build(drawn: &Drawn) -> Blueprint {
    let nodes: Vec<String> = (0..=drawn.parents.len()).map(|node| format!("n{node}")).collect();
    let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
    let spec = |delay| PortSpec { loss: drawn.loss, ..PortSpec::new(Rate::from_mbps(1), ms(delay), 20) };
    let tree = (1u32..).zip(&drawn.parents).map(|(node, &parent)| (parent, node, spec(3 + u64::from(node))));
    let more = drawn.more.iter().filter(|(a, b)| a != b).map(|&(a, b)| (a, b, spec(7)));
    let links: Vec<(u32, u32, PortSpec)> = tree.chain(more).collect();
    let mut print = net(6, &nodes, &links);
    for (number, link) in print.links.iter_mut().enumerate() {
        link.name = format!("l{number}").into();
    }
    drawn.producers.iter().for_each(|&node| produce(&mut print, node, "/data"));
    for &(node, per_second) in &drawn.consumers {
        let flow = consume(&mut print, node, "/data", per_second);
        print.flows[flow.index()].stop = at_ms(2000);
    }
    let spec = ndn(&mut print);
    spec.strategy = stack::ndn::strategies::ALL[drawn.strategy].name.to_owned();
    spec.config.store = Store { policy: Policy::Lru, size: drawn.store };
    for &(link, down, up) in &drawn.flaps {
        let link = LinkId(link % print.links.len() as u32);
        print.events.push((at_ms(down), Change::LinkUp(link, false)));
        print.events.extend(up.map(|up| (at_ms(up), Change::LinkUp(link, true))));
    }
    print.events.sort_by_key(|(at, _)| *at);
    if let Some((node, at)) = drawn.reset {
        print.events.push((at_ms(at), Change::Reset(NodeId(node))));
    }
    print
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// In every network, under every strategy and with all events: every Interest is answered, refused or expires, and
    /// when traffic has stopped no Interest is pending.
    #[test]
    fn nothing_stays_pending(drawn in drawn()) {
        let trace = run(&build(&drawn));
        prop_assert_eq!(trace.balance.in_flight, 0);
        for record in &trace.nodes {
            let counters = record.ndn.as_ref().expect("a forwarder counts");
            prop_assert_eq!(counters.pending, 0, "{:?}: {:?}", record.node, counters);
            prop_assert!(counters.stored <= u64::from(drawn.store));
            if drawn.reset.is_some() {
                continue;
            }
            let count = |what| counters.count(what);
            let taken = count(Tally::InterestsIn) - count(Tally::Aggregated) - count(Tally::Repeated);
            let ended = count(Tally::Hits) + count(Tally::Loops) + count(Tally::NoRoute)
                + (count(Tally::DataIn) - count(Tally::Unsolicited)) + count(Tally::Expired);
            // the others ended with refusals: of all next hops, or for lack of a next hop
            let refusals = count(Tally::NacksIn) + count(Tally::NacksOut) - count(Tally::Loops) - count(Tally::NoRoute);
            prop_assert!(taken >= ended && taken - ended <= refusals, "{:?}: {:?}", record.node, counters);
        }
        // a consumer gets at most one reply to each Interest, and one to all but those that a reset deleted within
        // their lifetime
        for (flow, &(node, _)) in trace.flows.iter().zip(&drawn.consumers) {
            let refused = flow.meter.count(Count::Nacks);
            prop_assert!(flow.meter.media().delay_count + refused <= flow.sent_packets);
            let counters = counters(&trace, node);
            prop_assert!(counters.count(Tally::InterestsIn) >= flow.sent_packets);
        }
    }
}
