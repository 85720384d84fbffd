//! TFMCC in whole networks: claims of its RFC, with wide tolerances for one short run.

use contract::{Count, EndpointId, FlowId, LinkId, NodeId};
use sim::{Blueprint, Change, EventRecord, FlowKind, PortSpec, Subject, Trace};
use stack::stream;
use units::{Bytes, Rate};

use crate::{at, ms, network, run};

const GROUP: FlowId = FlowId(0);

/// The group, with the reordering tolerance of its scheme: three later packets.
fn tfmcc(net: &mut Blueprint, from: NodeId, to: &[NodeId]) {
    let config = stream::Config { packet: Bytes::new(1000), reorder: 3, ..stream::Config::default() };
    net.flow("group", Some("tfmcc"), FlowKind::Stream(config), from, to);
}

/// One source, one group of two members, each behind its own bottleneck; the slow one is link 0 and receiver 0.
fn two_bottlenecks(seconds: u64, warmup: u64) -> (Blueprint, NodeId) {
    let mut net = network(seconds, warmup);
    let (source, router) = (net.node("source"), net.node("router"));
    let (slow, fast) = (net.node("slow"), net.node("fast"));
    net.link("slow", (router, slow), PortSpec::new(Rate::from_kbps(500), ms(20), 20));
    net.link("fast", (router, fast), PortSpec::new(Rate::from_mbps(2), ms(20), 50));
    net.link("access", (source, router), PortSpec::new(Rate::from_mbps(100), ms(5), 1000));
    tfmcc(&mut net, source, &[slow, fast]);
    (net, slow)
}

fn events<'a>(trace: &'a Trace, name: &str) -> Vec<&'a EventRecord> {
    let flow = Subject::Flow(GROUP);
    trace.events.iter().filter(|event| event.name == name && event.subject == flow).collect()
}

fn rate_bps(trace: &Trace) -> f64 {
    trace.flows[0].sent_bytes as f64 * 8.0 / trace.flows[0].active.as_secs_f64()
}

fn endpoint(trace: &Trace, receiver: usize) -> f64 {
    let EndpointId(endpoint) = trace.receivers[receiver].endpoint;
    f64::from(endpoint)
}

#[test]
fn the_slowest_receiver_sets_the_rate() {
    let (net, _) = two_bottlenecks(120, 60);
    let trace = run(&net);
    let rate = rate_bps(&trace);
    assert!((0.85 * 500e3..=1.05 * 500e3).contains(&rate), "{rate}");
    let clr = events(&trace, "clr");
    assert_eq!(clr.last().map(|event| event.value), Some(endpoint(&trace, 0)));
    // both members report: the limiting one about once per round-trip time, the other about once per round of six
    let (limiting, others) = (events(&trace, "feedback_clr").len(), events(&trace, "feedback_other").len());
    let rounds = events(&trace, "round").len();
    assert!(limiting >= 4 * rounds, "{limiting} in {rounds} rounds");
    assert!((rounds / 2..=2 * rounds).contains(&others), "{others} in {rounds} rounds");
}

#[test]
fn when_the_limiting_receiver_leaves_it_reports_and_another_takes_over() {
    let (mut net, slow) = two_bottlenecks(160, 130);
    net.events.push((at(60.0), Change::Leave(GROUP, slow)));
    let trace = run(&net);
    let clr: Vec<_> = events(&trace, "clr").into_iter().filter(|event| event.at >= at(60.0)).collect();
    let [left, taken, ..] = clr[..] else { panic!("{clr:?}") };
    // one-way delay: 25 ms
    assert!(left.value == -1.0 && left.at < at(60.1), "{left:?}");
    // within two rounds of at most 6 · 370 ms
    assert!(taken.value == endpoint(&trace, 1) && taken.at < at(65.0), "{taken:?}");
    let rate = rate_bps(&trace);
    assert!((0.8 * 2e6..=1.05 * 2e6).contains(&rate), "{rate}");
}

#[test]
fn an_unreachable_limiting_receiver_is_removed() {
    let (mut net, _) = two_bottlenecks(160, 130);
    net.events.push((at(60.0), Change::LinkUp(LinkId(0), false)));
    let trace = run(&net);
    let clr: Vec<_> = events(&trace, "clr").into_iter().filter(|event| event.at >= at(60.0)).collect();
    let [gone, taken, ..] = clr[..] else { panic!("{clr:?}") };
    // ten maximum round-trip times, of 50 ms and a queue of 20 packets at 500 kbit/s at most
    assert!(gone.value == -1.0 && (at(60.5)..at(64.5)).contains(&gone.at), "{gone:?}");
    assert_eq!(taken.value, endpoint(&trace, 1));
    assert!(trace.flows[0].meter.count(Count::Episodes) <= 1, "halved again later");
    let rate = rate_bps(&trace);
    assert!((0.8 * 2e6..=1.05 * 2e6).contains(&rate), "{rate}");
}

#[test]
fn feedback_of_a_hundred_receivers_with_the_same_losses_is_suppressed() {
    let mut net = network(60, 0);
    let (source, router) = (net.node("source"), net.node("router"));
    net.link("bottleneck", (source, router), PortSpec::new(Rate::from_mbps(1), ms(20), 30));
    let members: Vec<NodeId> = (0..100).map(|i| net.node(&format!("member{i}"))).collect();
    for (i, member) in members.iter().enumerate() {
        net.link(&format!("edge{i}"), (router, *member), PortSpec::new(Rate::from_mbps(10), ms(5), 100));
    }
    tfmcc(&mut net, source, &members);
    let trace = run(&net);
    // while the first report is in flight, for one maximum round-trip time of the six of a round, N^(1/6) = 4.6 more
    // timers expire on average; receivers whose round-trip time exceeds the maximum because of a growing queue are not
    // suppressed
    let (rounds, received) = (events(&trace, "round").len(), events(&trace, "feedback_other").len());
    assert!(rounds > 20, "{rounds} rounds");
    let mean = received as f64 / rounds as f64;
    assert!((1.0..=10.0).contains(&mean), "{mean} per round");
    let suppressed: u64 =
        trace.receivers.iter().map(|receiver| receiver.meter.count(Count::Suppressed)).sum();
    assert!(suppressed > 10 * received as u64, "{suppressed} suppressed, {received} heard");
}
