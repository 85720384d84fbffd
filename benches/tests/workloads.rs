//! The workloads do what other simulators say they do.

use sim::{Blueprint, Control, PortSpec, Trace, World};
use stack::ndn::Tally;
use units::{Duration, Rate, Time};

fn run(name: &str, seconds: Option<u64>) -> Trace {
    trace(&benches::workload(name, seconds.map(Duration::from_secs)).expect("a workload"))
}

fn trace(blueprint: &Blueprint) -> Trace {
    let mut world = World::new(blueprint).expect("a valid blueprint");
    world.run(&Control::default());
    world.finish()
}

#[test]
fn ten_newreno_flows_are_within_the_band_of_four_other_implementations() {
    let trace = run("w1", None);
    let bottleneck = &trace.ports[0];
    let drops: u64 = bottleneck.drops.iter().sum();
    assert!((1850..=2150).contains(&drops), "{drops} drops");
    let utilisation = bottleneck.sent_bytes as f64 * 8.0 / bottleneck.capacity_bits as f64;
    assert!((0.915..=0.945).contains(&utilisation), "utilisation {utilisation}");
    let goodput = trace.receivers.iter().map(|receiver| receiver.meter.goodput_bytes as f64);
    let (sum, squares) = goodput.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    let jain = sum * sum / (10.0 * squares);
    assert!(jain >= 0.995, "Jain index {jain}");
    assert!((6_900_000..7_100_000).contains(&trace.packet_hops), "{}", trace.packet_hops);
}

#[test]
fn chain_and_star_move_the_packets_that_they_should() {
    let chain = run("w3", Some(10));
    assert!((999_000..=1_000_000).contains(&chain.packet_hops), "{}", chain.packet_hops);
    let star = run("w4", Some(40));
    assert!((259_000..=260_000).contains(&star.packet_hops), "{}", star.packet_hops);
    assert_eq!((chain.balance.dropped, star.balance.dropped), (0, 0));
}

#[test]
fn consumers_at_a_constant_rate_get_what_another_simulator_gives_them() {
    let trace = run("n1", None);
    // ndnSIM 2.8: 49 968 Data at each consumer, 299 964 Interests and 299 873 Data on links, no drop
    for flow in &trace.flows {
        assert_eq!(flow.arrived.packets, 49_968);
    }
    assert_eq!(trace.packet_hops, 299_964 + 299_873);
    assert_eq!(trace.balance.dropped, 0);
}

/// A thousand Interests are pending at every node of the path of the slow Data, each for 10 ms. The store of the router
/// is full. The other consumer draws from twice as many contents as it holds, and slow Data, of which there are as many
/// as requests, take places of theirs: with x requests between two of one content that replace it, x + 2000·(1 −
/// exp(−x/2000)) = 1000, a request finds its content with probability 1 − exp(−x/2000) = 0.23, and none of the first
/// thousand does.
#[test]
fn tables_hold_the_names_that_they_should() {
    let duration = Some(Duration::from_millis(100));
    let blueprint = benches::workload("t1k", duration).expect("a workload");
    let ndn = blueprint.ndn.as_ref().expect("named data");
    assert_eq!(ndn.routes.len(), 1000);
    let mut world = benches::world("t1k", duration).expect("a workload");
    world.run(&Control::default());
    let trace = world.finish();
    let tables = |node: usize| trace.nodes[node].ndn.clone().expect("a forwarder");
    let [c1, router, p1] = [0, 2, 3].map(tables);
    for node in [&c1, &router, &p1] {
        assert!((1000..1200).contains(&node.pending_peak), "{}", node.pending_peak);
    }
    assert_eq!((router.stored, p1.stored), (1000, 0));
    let hits = router.count(Tally::Hits) as f64 / 9000.0;
    assert!((0.21..0.25).contains(&hits), "{hits}");
    assert_eq!((trace.balance.dropped, router.count(Tally::NoRoute)), (0, 0));
}

/// The packets that cross links are about as many as with a tenth of the routers, whose consumers ask as many producers
/// over as many links.
#[test]
fn ten_times_as_many_routers_have_the_same_traffic() {
    let run = |count, sparse| {
        let mut world =
            World::new(&benches::controlled(count, sparse, Duration::from_secs(1))).expect("valid");
        world.run(&Control::default());
        world.finish()
    };
    let (small, large) = (run(100, 1), run(1000, 10));
    assert_eq!(small.flows.len(), large.flows.len());
    assert_eq!((small.balance.dropped, large.balance.dropped), (0, 0));
    let ratio = large.packet_hops as f64 / small.packet_hops as f64;
    assert!((0.5..2.0).contains(&ratio), "{} and {}", small.packet_hops, large.packet_hops);
}

#[test]
fn consumers_with_windows_fill_the_link_as_in_another_simulator() {
    let trace = run("n2", None);
    // ndnSIM 2.8, BIC: 54 104 and 61 363 Data in 100 s and 271 marks; its Data are a little smaller. The link has room
    // for 113 636 of ours
    let data: Vec<f64> = trace.flows.iter().map(|flow| flow.meter.media().delay_count as f64).collect();
    let (sum, squares) = (data[0] + data[1], data[0] * data[0] + data[1] * data[1]);
    assert!((0.985..=1.0).contains(&(sum / 113_636.0)), "{data:?}");
    assert!(sum * sum / (2.0 * squares) > 0.99, "{data:?}");
    let marks: u64 = trace.ports.iter().map(|port| port.marked_packets).sum();
    assert!(marks > 50, "{marks} marks");
    assert!((670_000..720_000).contains(&trace.packet_hops), "{}", trace.packet_hops);
}

#[test]
fn a_group_by_name_moves_the_packets_of_the_same_stream_over_ip() {
    let (ip, named) = (run("w4s", Some(40)), run("w4n", Some(40)));
    for (by_ip, by_name) in ip.receivers.iter().zip(&named.receivers) {
        // the first joins take 32 ms, of 10 ms a packet
        assert!(
            (0..=8).contains(&(by_ip.packets - by_name.packets)),
            "{} {}",
            by_ip.packets,
            by_name.packets
        );
    }
    let [router, _] = &named.nodes[..] else { panic!("a router and a name resolution system") };
    assert!(router.forwarded_packets.abs_diff(64 * 4000) < 64 * 8, "{}", router.forwarded_packets);
}

/// Thousands of links and of events that wait are enough for the calendar of events, and for requests of the memory
/// that the next events need.
#[test]
fn a_large_network_has_the_order_of_events_of_a_small_one() {
    let seconds = Duration::from_secs(2);
    let small = benches::dumbbell(10, Rate::from_mbps(100), 100, Duration::from_millis(10), seconds);
    let mut large = small.clone();
    let kind: &sim::FlowKind = &small.flows[0].kind;
    let mut from = large.node("n");
    for i in 0..5000 {
        let to = large.node(&format!("n{i}"));
        large.link(&format!("n{i}"), (from, to), PortSpec::new(Rate::from_mbps(1), Duration::ZERO, 10));
        let flow = large.flow(&format!("later.{i}"), Some("reno"), kind.clone(), from, &[to]);
        flow.start = Time::ZERO + seconds + Duration::from_nanos(i);
        from = to;
    }
    let (small, large) = (trace(&small), trace(&large));
    assert_eq!((small.hash, small.events_handled), (large.hash, large.events_handled));
    assert!(small.packet_hops > 100_000, "{}", small.packet_hops);
}
