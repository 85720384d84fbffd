//! MCA in whole networks: claims of its paper, with wide tolerances for one short run.

use contract::{Count, DropReason, FlowId, NodeId, Random};
use sim::{Blueprint, Change, EventRecord, FlowKind, FlowRecord, PortSpec, Subject, Trace};
use stack::{stream, tcp};
use units::{Bytes, Duration, Rate, Time};

use crate::{at, ms, network, run};

/// Adds an MCA flow that starts within half a second.
fn mca(net: &mut Blueprint, name: &str, from: NodeId, to: &[NodeId]) {
    let start = Random::new(net.seed, name, "start").uniform(0.0, 0.5);
    let config = stream::Config { packet: Bytes::new(1000), ..stream::Config::default() };
    net.flow(name, Some("mca"), FlowKind::Stream(config), from, to).start = at(start);
}

fn rate_bps(flow: &FlowRecord) -> f64 {
    flow.sent_bytes as f64 * 8.0 / flow.active.as_secs_f64()
}

fn jain(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    sum * sum / (rates.len() as f64 * rates.iter().map(|rate| rate * rate).sum::<f64>())
}

fn utilisation(trace: &Trace, port: usize) -> f64 {
    trace.ports[port].sent_bytes as f64 * 8.0 / trace.ports[port].capacity_bits as f64
}

fn total(trace: &Trace, receivers: std::ops::Range<usize>, what: Count) -> u64 {
    trace.receivers[receivers].iter().map(|receiver| receiver.meter.count(what)).sum()
}

/// Ten groups of sixteen receivers share one bottleneck [MCA §4.1].
fn one_bottleneck(seed: u64, buffer: u32) -> Blueprint {
    let mut net = network(80, 20);
    net.seed = seed;
    let (source, left, right) = (net.node("source"), net.node("left"), net.node("right"));
    let members: Vec<NodeId> = (0..16).map(|i| net.node(&format!("member{i}"))).collect();
    let edge = PortSpec::new(Rate::from_mbps(100), ms(1), 1000);
    net.link("bottleneck", (left, right), PortSpec::new(Rate::from_mbps(10), ms(10), buffer));
    net.link("access", (source, left), edge.clone());
    for (i, member) in members.iter().enumerate() {
        net.link(&format!("edge{i}"), (right, *member), edge.clone());
    }
    for i in 0..10 {
        mca(&mut net, &format!("mca{i}"), source, &members);
    }
    net
}

#[test]
fn ten_groups_share_a_bottleneck_with_a_short_queue_and_no_loss() {
    for seed in [1, 2] {
        let trace = run(&one_bottleneck(seed, 200));
        let rates: Vec<f64> = trace.flows.iter().map(rate_bps).collect();
        assert!(utilisation(&trace, 0) >= 0.90, "utilisation {}", utilisation(&trace, 0));
        assert!(jain(&rates) >= 0.97, "Jain {} of {rates:?}", jain(&rates));
        assert!(rates.iter().all(|rate| (0.9e6..1.1e6).contains(rate)), "{rates:?}");
        let queue = trace.ports[0].backlog_packet_ns as f64 / 60e9 / 10.0;
        assert!((0.5..4.0).contains(&queue), "{queue} packets per flow");
        assert_eq!(trace.ports[0].drops[DropReason::QueueFull as usize], 0);
        assert!(trace.events.iter().all(|event| event.name != "indication_loss" || event.at < at(20.0)));
    }
}

#[test]
fn a_lossy_bottleneck_is_used_and_shared_as_well() {
    let trace = run(&one_bottleneck(1, 20));
    let rates: Vec<f64> = trace.flows.iter().map(rate_bps).collect();
    assert!(utilisation(&trace, 0) >= 0.90, "utilisation {}", utilisation(&trace, 0));
    assert!(jain(&rates) >= 0.97, "Jain {} of {rates:?}", jain(&rates));
    assert!(trace.ports[0].drops[DropReason::QueueFull as usize] > 0);
}

#[test]
fn a_group_behind_many_bottlenecks_gets_the_rate_of_unicast_without_more_feedback() {
    // [MCA §4.3], with a quarter of its links
    let n = 16;
    let mut net = network(150, 50);
    let router = net.node("router");
    let members: Vec<NodeId> = (0..n).map(|i| net.node(&format!("member{i}"))).collect();
    let sources: Vec<NodeId> = (0..=n).map(|i| net.node(&format!("source{i}"))).collect();
    for (i, member) in members.iter().enumerate() {
        net.link(&format!("star{i}"), (router, *member), PortSpec::new(Rate::from_mbps(1), ms(5), 200));
    }
    for (i, source) in sources.iter().enumerate() {
        net.link(&format!("access{i}"), (*source, router), PortSpec::new(Rate::from_mbps(100), ms(45), 1000));
    }
    mca(&mut net, "group", sources[n], &members);
    for i in 0..n {
        for j in 0..3 {
            mca(&mut net, &format!("unicast{i}.{j}"), sources[i], &members[i..=i]);
        }
    }
    let trace = run(&net);
    let unicast: Vec<f64> = trace.flows[1..].iter().map(rate_bps).collect();
    let ratio = rate_bps(&trace.flows[0]) / (unicast.iter().sum::<f64>() / unicast.len() as f64);
    assert!((0.80..=1.25).contains(&ratio), "multicast over unicast rate {ratio}");

    let (sent, suppressed) = (total(&trace, 0..n, Count::Feedback), total(&trace, 0..n, Count::Suppressed));
    let share = suppressed as f64 / (sent + suppressed) as f64;
    assert!(share >= 0.9, "{share} suppressed");
    let alone = (sent + suppressed) as f64 / n as f64;
    let economy = sent as f64 / alone;
    assert!((0.8..=1.5).contains(&economy), "session over one receiver's indications {economy}");
    assert!((6.0..=25.0).contains(&(alone / 100.0)), "{} indications per second", alone / 100.0);
}

/// One source, one group of two members, each behind its own bottleneck.
fn two_bottlenecks() -> (Blueprint, [NodeId; 2]) {
    let mut net = network(120, 30);
    let (source, router) = (net.node("source"), net.node("router"));
    let (slow, fast) = (net.node("slow"), net.node("fast"));
    net.link("slow", (router, slow), PortSpec::new(Rate::from_kbps(500), ms(20), 100));
    net.link("fast", (router, fast), PortSpec::new(Rate::from_mbps(2), ms(20), 100));
    net.link("access", (source, router), PortSpec::new(Rate::from_mbps(100), ms(5), 1000));
    mca(&mut net, "group", source, &[slow, fast]);
    (net, [slow, fast])
}

fn representatives(trace: &Trace) -> Vec<&EventRecord> {
    let flow = Subject::Flow(FlowId(0));
    trace.events.iter().filter(|event| event.name == "representative" && event.subject == flow).collect()
}

#[test]
fn the_slowest_receiver_sets_the_rate() {
    let (net, _) = two_bottlenecks();
    let trace = run(&net);
    let rate = rate_bps(&trace.flows[0]);
    assert!((0.8 * 500e3..=500e3).contains(&rate), "{rate}");
    assert_eq!(trace.ports[0].drops[DropReason::QueueFull as usize], 0);
}

#[test]
fn when_the_slowest_receiver_leaves_the_next_one_takes_over() {
    let (mut net, [slow, _]) = two_bottlenecks();
    net.warmup = Duration::from_secs(90);
    net.events.push((at(50.0), Change::Leave(FlowId(0), slow)));
    let trace = run(&net);
    let absent: Vec<Time> =
        trace.events.iter().filter(|event| event.name == "absent").map(|event| event.at).collect();
    assert_eq!(absent.len(), 1, "{absent:?}");
    assert!(absent[0] > at(50.0) && absent[0] < at(60.0), "{}", absent[0]);
    let last = representatives(&trace).last().map(|event| event.value);
    assert_eq!(
        last,
        Some(f64::from(trace.receivers[1].endpoint.0)),
        "the second receiver represents the group"
    );
    let rate = rate_bps(&trace.flows[0]);
    assert!((0.8 * 2e6..=2e6).contains(&rate), "{rate}");
}

#[test]
fn beside_tcp_in_one_queue_mca_gives_way() {
    let mut net = network(90, 30);
    let (source, sink) = (net.node("source"), net.node("sink"));
    net.link("bottleneck", (source, sink), PortSpec::new(Rate::from_mbps(5), ms(20), 100));
    mca(&mut net, "mca", source, &[sink]);
    let config = tcp::Config { segment: Bytes::new(960), sack: false, ..tcp::Config::default() };
    net.flow("reno", Some("reno"), FlowKind::Tcp(config), source, &[sink]);
    let trace = run(&net);
    let rates: Vec<f64> = trace.flows.iter().map(rate_bps).collect();
    let share = rates[0] / (rates[0] + rates[1]);
    assert!(share < 0.3, "MCA has {share} of the bottleneck");
    assert!(utilisation(&trace, 0) > 0.9);
}

/// [MCA §2.2]: after the path becomes longer, an in-band receiver measures a queue that does not drain, and the rate
/// falls. With control packets that bypass queues it does not.
#[test]
fn a_longer_path_is_not_taken_for_a_queue_by_out_of_band_control() {
    let rate_after = |control: &str| {
        let mut net = network(45, 32);
        let (source, router, member) = (net.node("source"), net.node("router"), net.node("member"));
        let mut slow = PortSpec::new(Rate::from_mbps(1), ms(10), 200);
        slow.queue.class_weights = vec![1, 1];
        let path = net.link("slow", (router, member), slow);
        net.link("access", (source, router), PortSpec::new(Rate::from_mbps(100), ms(1), 1000));
        mca(&mut net, "mca", source, &[member]);
        net.flows[0].params = vec![("control".to_owned(), control.into())];
        net.events.push((at(30.0), Change::LinkDelay(path, ms(110))));
        rate_bps(&run(&net).flows[0])
    };
    let (in_band, out_of_band) = (rate_after("in_band"), rate_after("out_of_band"));
    assert!(in_band < 0.6e6, "{in_band}");
    assert!((0.75e6..=1.0e6).contains(&out_of_band), "{out_of_band}");
}

/// Round-trip times of control packets contain no queueing delay, so that periods are shorter and the queue is longer
/// than in band.
#[test]
fn out_of_band_ten_groups_share_a_bottleneck_as_well() {
    let mut net = one_bottleneck(1, 200);
    for link in &mut net.links {
        for port in [&mut link.forward, &mut link.backward] {
            port.queue.class_weights = vec![1, 1];
        }
    }
    net.flows.iter_mut().for_each(|flow| flow.params = vec![("control".to_owned(), "out_of_band".into())]);
    let trace = run(&net);
    let rates: Vec<f64> = trace.flows.iter().map(rate_bps).collect();
    assert!(utilisation(&trace, 0) >= 0.95, "utilisation {}", utilisation(&trace, 0));
    assert!(jain(&rates) >= 0.97, "Jain {} of {rates:?}", jain(&rates));
    let (dropped, sent) =
        (trace.ports[0].drops[DropReason::QueueFull as usize], trace.ports[0].sent_bytes / 1000);
    assert!(dropped * 1000 <= sent, "{dropped} of {sent}");
}
