//! An SDN controller in the simulator: cost of reports, effect of commands, and failures.

use contract::{Count, NodeId};
use sim::{Blueprint, Change, FlowKind, LinkSpec, NodeRole, PortSpec, SdnSpec, Trace, World};
use stack::datagram::{self, Pattern};
use stack::sdn;
use units::{Bytes, Duration, Rate, Time};

use crate::run;

const CONTROL: PortSpec = PortSpec::new(Rate::from_mbps(1000), Duration::from_millis(1), 1000);

fn seconds(s: u64) -> Time {
    Time::ZERO + Duration::from_secs(s)
}

/// Two senders at router 0, two receivers at router 1; a short path between the routers and one through router 2, all
/// of 10 Mbit/s. Each flow sends 7 Mbit/s.
fn two_ways(secs: u64) -> Blueprint {
    let mut net = Blueprint::new(Duration::from_secs(secs));
    let [r1, r2, r3, s1, s2, d1, d2] = ["r1", "r2", "r3", "s1", "s2", "d1", "d2"].map(|name| net.node(name));
    let port = |mbps, ms| PortSpec::new(Rate::from_mbps(mbps), Duration::from_millis(ms), 100);
    net.link("short", (r1, r2), port(10, 5));
    net.link("long1", (r1, r3), port(10, 5));
    net.link("long2", (r3, r2), port(10, 5));
    for (name, ends) in [("s1", (s1, r1)), ("s2", (s2, r1)), ("d1", (r2, d1)), ("d2", (r2, d2))] {
        net.link(name, ends, port(100, 1));
    }
    let pattern = Pattern::Poisson { rate: Rate::from_mbps(7) };
    let source = FlowKind::Datagram(datagram::Config { packet: Bytes::new(1000), pattern });
    net.flow("one", None, source.clone(), s1, &[d1]);
    net.flow("two", None, source, s2, &[d2]);
    net
}

/// A controller with a link of its own to each of `nodes`.
fn control(net: &mut Blueprint, app: &str, nodes: &[NodeId], port: &PortSpec) -> NodeId {
    let controller = net.node("controller");
    for node in nodes {
        let (forward, backward) = (port.clone().into(), port.clone().into());
        let name = format!("control-{}", net.nodes[node.index()]).into();
        net.links.push(LinkSpec { name, ends: (controller, *node), forward, backward });
    }
    net.sdn = Some(SdnSpec {
        controller,
        nodes: nodes.to_vec(),
        out_of_band: true,
        app: app.to_owned(),
        app_params: Vec::new(),
        config: sdn::Config::default(),
    });
    controller
}

fn routers() -> Vec<NodeId> {
    [0, 1, 2].map(NodeId).to_vec()
}

fn controlled(secs: u64, port: &PortSpec) -> Blueprint {
    let mut net = two_ways(secs);
    control(&mut net, "least_loaded", &routers(), port);
    net
}

fn at(trace: &Trace, node: NodeId) -> &sim::NodeRecord {
    trace.nodes.iter().find(|record| record.node == node).expect("it has a row")
}

fn controller(trace: &Trace) -> &sim::NodeRecord {
    let is = |record: &&sim::NodeRecord| record.role == NodeRole::Controller;
    trace.nodes.iter().find(is).expect("there is a controller")
}

/// Bytes that reached each receiver.
fn arrived(trace: &Trace) -> Vec<u64> {
    trace.receivers.iter().map(|receiver| receiver.bytes).collect()
}

const ALL: u64 = 7_000_000 / 8;

#[test]
fn a_route_moves_from_the_congested_port_and_both_flows_get_their_rates() {
    let mut net = controlled(20, &CONTROL);
    net.warmup = Duration::from_secs(5);
    net.record.events = true;
    let trace = run(&net);
    for bytes in arrived(&trace) {
        assert!((bytes as f64 / (15 * ALL) as f64 - 1.0).abs() < 0.03, "{bytes}");
    }
    let moved: Vec<_> = trace.events.iter().filter(|event| event.name == "route_moved").collect();
    assert_eq!(moved.len(), 1, "{:?}", trace.events);
    assert!(moved[0].at > seconds(0) && moved[0].at < seconds(1), "{:?}", moved[0]);
    let to: Vec<f64> =
        trace.events.iter().filter(|event| event.name == "moved_to").map(|event| event.value).collect();
    assert_eq!(to, [2.0], "port 2 is the long way");
}

#[test]
fn without_a_controller_the_link_stays_congested() {
    let trace = run(&two_ways(20));
    let total: u64 = arrived(&trace).iter().sum();
    assert!(total < 20 * 10_000_000 / 8, "{total}");
    assert!(trace.nodes.is_empty());
}

#[test]
fn every_port_reports_once_a_period_and_the_reports_cross_links_of_their_own() {
    let trace = run(&controlled(10, &CONTROL));
    // r1 has four ports, r2 four, r3 two; periods end at 0.5 s, 1 s, … 10 s, and reports sent at the end do not arrive
    // any more
    let sent: u64 = [0, 1, 2].map(|node| at(&trace, NodeId(node)).meter.count(Count::Statuses)).iter().sum();
    assert!((190..=200).contains(&sent), "{sent}");
    assert_eq!(controller(&trace).meter.count(Count::Statuses), 190);
    // control links carry control messages and nothing else
    let messages: u64 = trace.ports[14..].iter().map(|port| port.sent_bytes).sum();
    let output: u64 = trace.nodes.iter().map(|node| node.sent_bytes).sum();
    assert_eq!(messages, output);
    for node in [0, 1, 2] {
        assert_eq!(at(&trace, NodeId(node)).role, NodeRole::Switch);
    }
}

#[test]
fn control_links_carry_no_other_packets() {
    // the path through the controller would be shorter
    let mut near = controlled(5, &PortSpec::new(Rate::from_mbps(1000), Duration::ZERO, 1000));
    near.record.events = false;
    let trace = run(&near);
    assert!(trace.ports[14..].iter().all(|port| port.sent_bytes < 100_000));
}

#[test]
fn lost_commands_are_repeated_until_they_are_acknowledged() {
    let mut lossy = CONTROL;
    lossy.loss = 0.6;
    let mut repeated = 0;
    for seed in 1..=10 {
        let mut net = controlled(20, &lossy);
        (net.seed, net.record.events) = (seed, true);
        let trace = run(&net);
        let moved = trace.events.iter().filter(|event| event.name == "route_moved").count() as u64;
        let executed = at(&trace, NodeId(0)).meter.count(Count::Commands);
        assert!(moved >= 1, "seed {seed}");
        // each command takes effect once, even if it is repeated
        assert_eq!(executed, moved, "seed {seed}");
        repeated += controller(&trace).meter.count(Count::CommandRetransmits);
    }
    assert!(repeated > 5, "{repeated}");
}

#[test]
fn commands_of_a_stopped_controller_stay_in_force() {
    let mut net = controlled(20, &CONTROL);
    net.warmup = Duration::from_secs(5);
    net.events = vec![(seconds(3), Change::Controller(false))];
    let dead = run(&net);
    net.events.clear();
    let alive = run(&net);
    assert_eq!(arrived(&dead), arrived(&alive));
    assert!(controller(&dead).meter.count(Count::Statuses) == 0);
}

#[test]
fn a_reset_router_loses_its_ordered_route() {
    let mut net = controlled(20, &CONTROL);
    net.warmup = Duration::from_secs(6);
    net.events = vec![(seconds(3), Change::Controller(false)), (seconds(5), Change::Reset(NodeId(0)))];
    let total: u64 = arrived(&run(&net)).iter().sum();
    // both flows share the short path again, which carries 10 Mbit/s
    assert!(total <= 14 * 10_000_000 / 8, "{total}");
}

#[test]
fn traffic_continues_if_the_controller_stops_before_its_first_command() {
    let mut net = controlled(20, &CONTROL);
    net.events = vec![(Time::ZERO, Change::Controller(false))];
    let dead = run(&net);
    assert_eq!(arrived(&dead), arrived(&run(&two_ways(20))));
}

#[test]
fn a_restarted_controller_learns_the_commands_in_force_and_keeps_them() {
    let mut net = controlled(30, &CONTROL);
    net.warmup = Duration::from_secs(5);
    net.record.events = true;
    net.events = vec![(seconds(8), Change::Controller(false)), (seconds(12), Change::Controller(true))];
    let trace = run(&net);
    let moved = trace.events.iter().filter(|event| event.name == "route_moved").count();
    assert_eq!(moved, 1, "{:?}", trace.events);
    for bytes in arrived(&trace) {
        assert!((bytes as f64 / (25 * ALL) as f64 - 1.0).abs() < 0.03, "{bytes}");
    }
    let named = |name| trace.events.iter().filter(|event| event.name == name).count();
    assert_eq!([named("controller_stopped"), named("controller_started")], [1, 1]);
    assert!(controller(&trace).meter.count(Count::Statuses) > 300);
}

#[test]
fn a_restarted_controller_can_send_commands() {
    // until it returns there is no move
    let mut net = controlled(20, &CONTROL);
    net.flows[1].start = seconds(8);
    net.record.events = true;
    net.events = vec![(seconds(3), Change::Controller(false)), (seconds(5), Change::Controller(true))];
    let trace = run(&net);
    let moved: Vec<_> = trace.events.iter().filter(|event| event.name == "route_moved").collect();
    assert_eq!(moved.len(), 1);
    assert!(moved[0].at > seconds(8));
}

#[test]
fn late_status_messages_are_ignored() {
    let far = PortSpec::new(Rate::from_mbps(1000), Duration::from_millis(1001), 1000);
    let trace = run(&controlled(10, &far));
    assert_eq!(controller(&trace).meter.count(Count::Statuses), 0);
    assert!(controller(&trace).meter.count(Count::Ignored) > 100);
    let near = PortSpec::new(Rate::from_mbps(1000), Duration::from_millis(999), 1000);
    assert!(controller(&run(&controlled(10, &near))).meter.count(Count::Statuses) > 100);
}

#[test]
fn in_band_messages_share_the_links_of_all_packets() {
    let mut net = two_ways(20);
    let host = net.node("brain");
    net.link("brain", (host, NodeId(2)), PortSpec::new(Rate::from_mbps(100), Duration::from_millis(1), 1000));
    net.warmup = Duration::from_secs(8);
    net.sdn = Some(SdnSpec {
        controller: host,
        nodes: routers(),
        out_of_band: false,
        app: "least_loaded".to_owned(),
        app_params: Vec::new(),
        config: sdn::Config::default(),
    });
    let trace = run(&net);
    for bytes in arrived(&trace) {
        assert!((bytes as f64 / (12 * ALL) as f64 - 1.0).abs() < 0.04, "{bytes}");
    }
    assert!(controller(&trace).meter.count(Count::Statuses) > 100);
}

#[test]
fn a_link_that_goes_down_is_reported_and_a_controller_is_refused_where_it_cannot_be() {
    let mut net = controlled(10, &CONTROL);
    net.events = vec![(seconds(5), Change::LinkUp(contract::LinkId(0), false))];
    let trace = run(&net);
    // both flows take the long path and fill its link
    assert!(trace.ports[2].sent_packets > 5 * 1_000, "{:?}", trace.ports[2]);
    let mut wrong = controlled(10, &CONTROL);
    wrong.sdn.as_mut().expect("there is one").nodes.push(NodeId(7));
    assert!(World::new(&wrong).is_err());
    let mut wrong = controlled(10, &CONTROL);
    wrong.sdn.as_mut().expect("there is one").app = "reno".to_owned();
    assert!(World::new(&wrong).is_err());
    let mut wrong = two_ways(10);
    wrong.events = vec![(seconds(1), Change::Controller(false))];
    assert!(World::new(&wrong).is_err());
}
