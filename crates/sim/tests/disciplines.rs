//! Every queue discipline at links of every kind of network: IP, multicast, named data.

use contract::{DropReason, NodeId};
use sim::{Blueprint, FlowKind, NdnSpec, PortSpec, ProducerSpec, Trace};
use stack::ndn::{ConsumerConfig, ProducerConfig};
use stack::queue::{ALL, DisciplineSpec};
use stack::{stream, tcp};
use units::{Bytes, Duration, Rate};

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
