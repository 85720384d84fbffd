//! Every queue discipline at links of every kind of network: IP, multicast, named data.

use contract::{DropReason, NodeId};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sim::{Blueprint, FlowKind, Limit, NdnSpec, PortSpec, ProducerSpec, Shared, Trace};
use stack::ndn::{ConsumerConfig, ProducerConfig};
use stack::queue::{ALL, DisciplineSpec};
use stack::{stream, tcp};
use units::{Bytes, Duration, Rate};

use crate::engine::random_plan;
use crate::{at, ms, run};

/// All of them, with their defaults.
fn disciplines() -> impl Iterator<Item = DisciplineSpec> {
    ALL.iter().map(|entry| (entry.read)(&[]).expect("defaults"))
}

/// Two hosts, two routers, two hosts. The link between the routers has 5 Mbit/s and is the first.
fn dumbbell(discipline: &DisciplineSpec, packets: u32) -> (Blueprint, Vec<NodeId>) {
    let mut net = Blueprint::new(Duration::from_secs(20));
    net.warmup = Duration::from_secs(5);
    let nodes: Vec<NodeId> = ["a", "b", "r", "s", "c", "d"].iter().map(|name| net.node(name)).collect();
    let mut narrow = PortSpec::new(Rate::from_mbps(5), ms(10), packets);
    narrow.queue.discipline = Some(discipline.clone());
    net.link("narrow", (nodes[2], nodes[3]), narrow);
    for (number, (end, router)) in [(0, 2), (1, 2), (3, 4), (3, 5)].into_iter().enumerate() {
        let edge = PortSpec::new(Rate::from_mbps(100), ms(1), 1000);
        net.link(&format!("edge{number}"), (nodes[end], nodes[router]), edge);
    }
    (net, nodes)
}

/// Utilisation of the narrow link in this direction, and the mean time that packets waited there, in ms.
fn of_link(trace: &Trace, port: usize) -> (f64, f64) {
    let port = &trace.ports[port];
    let wait = port.backlog_packet_ns as f64 / port.sent_packets as f64 / 1e6;
    (port.sent_bytes as f64 * 8.0 / port.capacity_bits as f64, wait)
}

/// Those that keep the queue short.
fn is_active(discipline: &DisciplineSpec) -> bool {
    !matches!(discipline.name(), "fq" | "pfifo_head_drop")
}

#[test]
fn tcp_fills_a_link_with_any_discipline() {
    for discipline in disciplines() {
        let (mut net, nodes) = dumbbell(&discipline, 200);
        for (number, scheme) in ["cubic", "reno"].into_iter().enumerate() {
            let kind = FlowKind::Tcp(tcp::Config::default());
            net.flow(scheme, Some(scheme), kind, nodes[number], &[nodes[4 + number]]).start =
                at(0.1 * number as f64);
        }
        let trace = run(&net);
        let (used, wait) = of_link(&trace, 0);
        println!("{}: {used:.3}, {wait:.1} ms", discipline.name());
        assert!(used > 0.9, "{}: {used}", discipline.name());
        // 200 packets take 480 ms
        assert!(!is_active(&discipline) || wait < 60.0, "{}: {wait} ms", discipline.name());
        assert!(trace.flows.iter().all(|flow| flow.sent_bytes > 1_000_000), "{}", discipline.name());
    }
}

#[test]
fn a_multicast_group_crosses_any_discipline() {
    for discipline in disciplines() {
        let (mut net, nodes) = dumbbell(&discipline, 100);
        let stream = FlowKind::Stream(stream::Config { reorder: 3, ..stream::Config::default() });
        net.flow("group", Some("pgmcc"), stream, nodes[0], &[nodes[4], nodes[5]]);
        let tcp = FlowKind::Tcp(tcp::Config::default());
        net.flow("reno", Some("reno"), tcp, nodes[1], &[nodes[5]]).start = at(0.3);
        let trace = run(&net);
        let (used, wait) = of_link(&trace, 0);
        println!("{}: {used:.3}, {wait:.1} ms", discipline.name());
        assert!(used > 0.9, "{}: {used}", discipline.name());
        assert!(!is_active(&discipline) || wait < 60.0, "{}: {wait} ms", discipline.name());
        // 5 Mbit/s for 15 s are 9.4 MB, and no flow is starved
        assert!(trace.flows.iter().all(|flow| flow.sent_bytes > 900_000), "{}", discipline.name());
    }
}

#[test]
fn named_data_cross_any_discipline() {
    for discipline in disciplines() {
        let (mut net, nodes) = dumbbell(&discipline, 100);
        let mut spec = NdnSpec { nodes: nodes.clone(), ..NdnSpec::default() };
        let (data, payload) = (Bytes::new(1100), Bytes::new(1100) - stack::ndn::OVERHEAD);
        spec.config.data = data;
        for number in 0..2 {
            let prefix = spec.names.intern(&format!("/p{number}"));
            let config = ProducerConfig { prefix, payload, data, delay: Duration::ZERO };
            spec.producers.push(ProducerSpec { node: nodes[4 + number], config });
            let kind = FlowKind::Ndn(ConsumerConfig::with_controller(prefix, payload));
            net.flow(&format!("c{number}"), Some("aimd"), kind, nodes[number], &[]).start =
                at(0.137 * number as f64);
        }
        net.ndn = Some(spec);
        let trace = run(&net);
        // Data cross the narrow link in the other direction
        let (used, wait) = of_link(&trace, 1);
        println!("{}: {used:.3}, {wait:.1} ms", discipline.name());
        assert!(used > 0.85, "{}: {used}", discipline.name());
        assert!(!is_active(&discipline) || wait < 60.0, "{}: {wait} ms", discipline.name());
        // Data are ECN-capable, and their consumers answer marks
        let port = &trace.ports[1];
        let full = port.drops[DropReason::QueueFull as usize];
        if is_active(&discipline) {
            assert!(port.marked_packets > 0, "{}", discipline.name());
        } else {
            assert!(port.marked_packets == 0 && full > 0, "{}: {full}", discipline.name());
        }
    }
}

/// Both directions of all links of a plan.
fn ports(net: &mut Blueprint) -> impl Iterator<Item = &mut Shared<PortSpec>> {
    net.links.iter_mut().flat_map(|link| [&mut link.forward, &mut link.backward])
}

/// All that a trace has, except the number of packet-hops and the drops that are recorded as events. A plain FIFO
/// counts a hop when it accepts a packet, a discipline when it sends it.
fn seen(mut trace: Trace) -> String {
    trace.packet_hops = 0;
    trace.events.clear();
    format!("{trace:?}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, rng_seed: RngSeed::Fixed(18), failure_persistence: None, ..ProptestConfig::default() })]

    /// A FIFO plans its transmissions, and a discipline is served when something happens at its port. Both are the same
    /// queue, event by event.
    #[test]
    fn a_discipline_with_one_class_is_the_fifo(mut net in random_plan()) {
        for port in ports(&mut net) {
            port.trace = None;
            port.queue.class_weights.clear();
            if let Limit::Packets(limit) = &mut port.queue.limit {
                // a FIFO without room for packets that wait still sends those that need not
                *limit = (*limit).max(1);
            }
        }
        let fifo = run(&net);
        ports(&mut net).for_each(|port| port.queue.class_weights = vec![1]);
        prop_assert_eq!(seen(run(&net)), seen(fifo));
    }

    /// To record drops at their instants, disciplines are served at each departure, as they are for routers that
    /// observe them. That changes neither what they do nor the order of events.
    #[test]
    fn a_discipline_that_is_served_late_does_what_it_does_at_each_departure(
        mut net in random_plan(), which in 0..ALL.len(), sampled: bool,
    ) {
        let discipline = (ALL[which].read)(&[]).expect("defaults");
        for port in ports(&mut net) {
            port.queue.class_weights.clear();
            port.queue.discipline = Some(discipline.clone());
        }
        if sampled {
            net.record.every = Duration::from_micros(3700);
            net.record.series = ["backlog", "utilisation", "drops", "queue_marks"].map(String::from).to_vec();
            net.warmup = ms(300);
        }
        let late = run(&net);
        net.record.drops = true;
        let prompt = run(&net);
        prop_assert!(prompt.events.is_sorted_by_key(|event| event.at));
        let drops = prompt.balance.dropped;
        prop_assert!(sampled || prompt.events.len() as u64 == drops, "{drops} drops");
        prop_assert_eq!(prompt.packet_hops, late.packet_hops);
        prop_assert_eq!(seen(prompt), seen(late));
    }
}
