//! CoDel at a link of the running network.

use contract::LinkId;
use contract::{DropReason, NodeId};
use sim::{Blueprint, Change, FlowKind, PortSpec, Trace, World};
use stack::queue::DisciplineSpec;
use stack::queue::codel::Params;
use stack::tcp;
use units::{Duration, Rate, Time};

use crate::run;

/// One flow over 10 Mbit/s with a buffer of 1000 packets and a round-trip time of 42 ms.
fn deep(codel: Option<Params>, ecn: bool) -> Blueprint {
    let mut print = Blueprint::new(Duration::from_secs(30));
    print.warmup = Duration::from_secs(5);
    let nodes: Vec<NodeId> = ["a", "r", "s", "b"].iter().map(|name| print.node(name)).collect();
    let edge = PortSpec::new(Rate::from_mbps(1000), Duration::from_micros(500), 10_000);
    let mut narrow = PortSpec::new(Rate::from_mbps(10), Duration::from_millis(20), 1000);
    narrow.queue.discipline = codel.map(DisciplineSpec::Codel);
    print.link("in", (nodes[0], nodes[1]), edge.clone());
    print.link("narrow", (nodes[1], nodes[2]), narrow);
    print.link("out", (nodes[2], nodes[3]), edge);
    let config = tcp::Config { ecn, ..tcp::Config::default() };
    print.flow("flow", Some("cubic"), FlowKind::Tcp(config), nodes[0], &[nodes[3]]);
    print
}

/// Mean queueing delay in ms, and utilisation of the link.
fn of_link(trace: &Trace) -> (f64, f64) {
    let port = &trace.ports[2];
    let wait = port.backlog_packet_ns as f64 / port.sent_packets as f64 / 1e6;
    (wait, port.sent_bytes as f64 * 8.0 / port.capacity_bits as f64)
}

#[test]
fn a_deep_buffer_has_a_short_queue_and_a_busy_link() {
    let (wait, used) = of_link(&run(&deep(None, false)));
    assert!(wait > 300.0 && used > 0.99, "unmanaged it fills: {wait} ms, {used}");
    let trace = run(&deep(Some(Params::default()), false));
    let (wait, used) = of_link(&trace);
    assert!(wait < 20.0 && used > 0.9, "{wait} ms, {used}");
    let port = &trace.ports[2];
    assert!(port.drops[DropReason::Early as usize] > 0 && port.drops[DropReason::QueueFull as usize] == 0);
}

#[test]
fn an_ecn_capable_flow_has_no_losses() {
    let trace = run(&deep(Some(Params::default()), true));
    let port = &trace.ports[2];
    assert!(port.marked_packets > 0);
    assert_eq!(port.drops, [0; DropReason::ALL.len()]);
    let (wait, used) = of_link(&trace);
    assert!(wait < 20.0 && used > 0.9, "{wait} ms, {used}");
}

#[test]
fn a_link_that_fails_empties_its_queue() {
    let mut print = deep(Some(Params::default()), false);
    for (ms, up) in [(10_000, false), (10_500, true)] {
        print.events.push((Time::ZERO + Duration::from_millis(ms), Change::LinkUp(LinkId(1), up)));
    }
    // the end of the run asserts that packets are conserved
    let trace = run(&print);
    let port = &trace.ports[2];
    assert!(port.drops[DropReason::LinkDown as usize] > 0);
    assert!(of_link(&trace).1 > 0.85, "{:?}", of_link(&trace));
}

#[test]
fn codel_with_classes_is_refused() {
    let mut print = deep(Some(Params::default()), false);
    print.links[1].backward.queue.class_weights = vec![1, 1];
    assert!(World::new(&print).is_err());
}
