//! PGMCC in whole networks: claims of its authors, with wide tolerances for one short run.

use contract::{Count, FlowId, LinkId, NodeId, Random};
use sim::{Blueprint, Change, EventRecord, FlowKind, FlowRecord, PortSpec, Trace};
use stack::{stream, tcp};
use units::{Bytes, Rate};

use crate::{at, ms, network, run};

/// Adds a flow of 1000-byte packets that starts within half a second.
fn pgmcc(net: &mut Blueprint, from: NodeId, to: &[NodeId]) {
    let start = Random::new(net.seed, "pgmcc", "start").uniform(0.0, 0.5);
    let config = stream::Config { reorder: 3, ..stream::Config::default() };
    net.flow("pgmcc", Some("pgmcc"), FlowKind::Stream(config), from, to).start = at(start);
}

fn rate_bps(flow: &FlowRecord) -> f64 {
    flow.sent_bytes as f64 * 8.0 / flow.active.as_secs_f64()
}

fn utilisation(trace: &Trace, port: usize) -> f64 {
    trace.ports[port].sent_bytes as f64 * 8.0 / trace.ports[port].capacity_bits as f64
}

fn ackers(trace: &Trace) -> Vec<&EventRecord> {
    trace.events.iter().filter(|event| event.name == "acker").collect()
}

/// The endpoint number of a receiver, as in events.
fn endpoint(trace: &Trace, receiver: usize) -> f64 {
    f64::from(trace.receivers[receiver].endpoint.0)
}

fn timeouts(trace: &Trace) -> u64 {
    trace.flows[0].meter.count(Count::Timeouts)
}

/// A bottleneck, and the delay of each of two flows beyond it.
#[derive(Clone, Copy)]
struct Shared {
    mbps: u64,
    delay_ms: u64,
    buffer: u32,
    beyond_ms: [u64; 2],
}

impl Shared {
    /// Rates in Mbit/s of two flows across a bottleneck: one of the scheme with this form of tokens, or of Reno, and
    /// one of Reno.
    fn rates(self, seed: u64, tokens: Option<&str>) -> [f64; 2] {
        let mut net = network(150, 30);
        net.seed = seed;
        let (source, sink) = (net.node("source"), net.node("sink"));
        let (server, client) = (net.node("server"), net.node("client"));
        let (left, right) = (net.node("left"), net.node("right"));
        let bottleneck = PortSpec::new(Rate::from_mbps(self.mbps), ms(self.delay_ms), self.buffer);
        net.link("bottleneck", (left, right), bottleneck);
        let ends = [(source, left), (server, left), (right, sink), (right, client)];
        for (ends, delay_ms) in ends.into_iter().zip([2, 2, self.beyond_ms[0], self.beyond_ms[1]]) {
            let name = format!("edge{}", ends.0.0 + ends.1.0);
            net.link(&name, ends, PortSpec::new(Rate::from_mbps(100), ms(delay_ms), 1000));
        }
        let config = tcp::Config { segment: Bytes::new(960), delayed_ack: false, ..tcp::Config::default() };
        if let Some(form) = tokens {
            pgmcc(&mut net, source, &[sink]);
            net.flows[0].params = vec![("tokens".to_owned(), form.into())];
        } else {
            net.flow("first", Some("reno"), FlowKind::Tcp(config.clone()), source, &[sink]);
        }
        net.flow("reno", Some("reno"), FlowKind::Tcp(config), server, &[client]).start = at(0.25);
        let trace = run(&net);
        assert!(utilisation(&trace, 0) > 0.95, "{}", utilisation(&trace, 0));
        [0, 1].map(|flow| rate_bps(&trace.flows[flow]) / 1e6)
    }
}

#[test]
fn beside_reno_it_gets_a_similar_rate() {
    for (mbps, delay_ms, buffer) in [(2, 20, 50), (5, 20, 25), (5, 20, 50), (5, 5, 50), (10, 40, 100)] {
        for seed in [1, 2] {
            let rates = Shared { mbps, delay_ms, buffer, beyond_ms: [2, 2] }.rates(seed, Some("conserved"));
            let ratio = rates[0] / rates[1];
            println!("{mbps} Mbit/s, {delay_ms} ms, {buffer} packets, seed {seed}: ratio {ratio:.3}");
            assert!((0.8..1.25).contains(&ratio), "{mbps} Mbit/s, {delay_ms} ms, {buffer} packets: {ratio}");
        }
    }
}

#[test]
fn tokens_kept_after_losses_reduce_the_rate() {
    // the reason for the default
    for (mbps, delay_ms, buffer) in [(2, 20, 50), (5, 20, 25), (5, 20, 50), (5, 5, 50), (10, 40, 100)] {
        let rates = Shared { mbps, delay_ms, buffer, beyond_ms: [2, 2] }.rates(1, Some("granted"));
        let ratio = rates[0] / rates[1];
        println!("granted, {mbps} Mbit/s, {delay_ms} ms, {buffer} packets: ratio {ratio:.3}");
        assert!((0.3..0.95).contains(&ratio), "{mbps} Mbit/s, {delay_ms} ms, {buffer} packets: {ratio}");
    }
}

#[test]
fn a_shorter_round_trip_time_has_the_same_effect_as_for_reno() {
    for beyond_ms in [[2, 12], [12, 2]] {
        let shared = Shared { mbps: 5, delay_ms: 20, buffer: 50, beyond_ms };
        let (ours, renos) = (shared.rates(1, Some("conserved"))[0], shared.rates(1, None)[0]);
        println!("{beyond_ms:?}: {ours:.2} Mbit/s, Reno in its place {renos:.2}");
        assert!((0.75..1.33).contains(&(ours / renos)), "{beyond_ms:?}: {ours} and {renos}");
        assert_eq!(ours > 2.5, beyond_ms[0] < beyond_ms[1]);
    }
}

/// The mean window, in packets, on a path of 100 ms with this number of random losses.
fn window_under_loss(loss: f64) -> f64 {
    let mut net = network(400, 20);
    let (source, sink) = (net.node("source"), net.node("sink"));
    net.link("path", (source, sink), PortSpec { loss, ..PortSpec::new(Rate::from_mbps(1000), ms(50), 1000) });
    pgmcc(&mut net, source, &[sink]);
    rate_bps(&run(&net).flows[0]) / 8000.0 * 0.1
}

#[test]
fn the_window_is_inverse_to_the_square_root_of_the_loss_rate() {
    // W = √(3/2)/√p, a little less because of timeouts and whole windows
    for loss in [0.02, 0.005, 0.00125] {
        let window = window_under_loss(loss);
        let constant = window * loss.sqrt();
        println!("loss {loss}: window {window:.2}, W·√p = {constant:.3}");
        assert!((0.9..1.45).contains(&constant), "{loss}: {constant}");
    }
}

/// One source, one group of two members, each behind its own bottleneck.
fn two_bottlenecks(seconds: u64, warmup: u64) -> (Blueprint, [NodeId; 2]) {
    let mut net = network(seconds, warmup);
    let (source, router) = (net.node("source"), net.node("router"));
    let (fast, slow) = (net.node("fast"), net.node("slow"));
    net.link("fast", (router, fast), PortSpec::new(Rate::from_mbps(2), ms(20), 30));
    net.link("slow", (router, slow), PortSpec::new(Rate::from_kbps(500), ms(20), 30));
    net.link("access", (source, router), PortSpec::new(Rate::from_mbps(100), ms(5), 1000));
    pgmcc(&mut net, source, &[fast, slow]);
    (net, [fast, slow])
}

#[test]
fn the_receiver_behind_the_slowest_link_becomes_the_acker() {
    let (net, _) = two_bottlenecks(100, 20);
    let trace = run(&net);
    let rate = rate_bps(&trace.flows[0]);
    assert!((0.9 * 500e3..1.03 * 500e3).contains(&rate), "{rate}");
    let events = ackers(&trace);
    assert_eq!(events.last().map(|event| event.value), Some(endpoint(&trace, 1)));
    // the fast member has no losses, so that it does not become the acker again
    assert!(events.len() <= 2 && events.last().is_some_and(|event| event.at < at(10.0)), "{events:?}");
    assert_eq!(timeouts(&trace), 0);
}

#[test]
fn when_the_acker_leaves_the_next_one_is_elected_at_once() {
    let (mut net, [_, slow]) = two_bottlenecks(120, 90);
    net.events.push((at(50.0), Change::Leave(FlowId(0), slow)));
    let trace = run(&net);
    let after: Vec<_> = ackers(&trace).into_iter().filter(|event| event.at >= at(50.0)).collect();
    // the leave takes 25 ms and a queueing delay; the query and its answer take the same again, and up to 50 ms
    assert_eq!(after.iter().map(|event| event.value).collect::<Vec<_>>(), [-1.0, endpoint(&trace, 0)]);
    assert!(after[0].at < at(50.1) && after[1].at - after[0].at < ms(150), "{after:?}");
    assert_eq!(timeouts(&trace), 0);
    let rate = rate_bps(&trace.flows[0]);
    assert!((0.9 * 2e6..1.03 * 2e6).contains(&rate), "{rate}");
}

#[test]
fn an_acker_that_vanishes_is_replaced_after_two_timeouts() {
    let (mut net, _) = two_bottlenecks(120, 0);
    let slow = LinkId(1);
    net.events.push((at(50.0), Change::LinkUp(slow, false)));
    let trace = run(&net);
    let after: Vec<_> = ackers(&trace).into_iter().filter(|event| event.at >= at(50.0)).collect();
    assert_eq!(after.iter().map(|event| event.value).collect::<Vec<_>>(), [-1.0, endpoint(&trace, 0)]);
    assert!(after[1].at < at(55.0), "{after:?}");
    assert_eq!(timeouts(&trace), 2);
}

#[test]
fn a_receiver_that_joins_late_is_found_within_three_seconds() {
    let mut net = network(30, 0);
    let (source, sink) = (net.node("source"), net.node("sink"));
    net.link("path", (source, sink), PortSpec::new(Rate::from_mbps(2), ms(20), 30));
    pgmcc(&mut net, source, &[sink]);
    net.flows[0].to[0].start = at(20.0);
    let trace = run(&net);
    let events = ackers(&trace);
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(events[0].at > at(20.0) && events[0].at < at(23.2), "{events:?}");
    // 20 s with one packet each three, then 2 Mbit/s
    assert!(trace.receivers[0].bytes > 1_200_000, "{}", trace.receivers[0].bytes);
}

/// A group of this size behind one link. Returns the number of packets lost there, and of reports about them.
fn shared_link(link: PortSpec, n: usize) -> (u64, u64) {
    let mut net = network(120, 20);
    let (source, left, right) = (net.node("source"), net.node("left"), net.node("right"));
    let members: Vec<NodeId> = (0..n).map(|i| net.node(&format!("member{i}"))).collect();
    net.link("shared", (left, right), link);
    net.link("access", (source, left), PortSpec::new(Rate::from_mbps(1000), ms(1), 1000));
    for (i, member) in members.iter().enumerate() {
        net.link(&format!("edge{i}"), (right, *member), PortSpec::new(Rate::from_mbps(1000), ms(1), 1000));
    }
    pgmcc(&mut net, source, &members);
    let trace = run(&net);
    let ackers: Vec<f64> = ackers(&trace).iter().map(|event| event.value).collect();
    assert!(ackers.len() < 10, "nobody is worse off than another for long: {ackers:?}");
    let lost = trace.receivers[0].meter.count(Count::Missing);
    assert!(lost > 100 && trace.receivers.iter().all(|it| it.meter.count(Count::Missing) == lost));
    // of those that were never ackers
    let only: Vec<_> =
        trace.receivers.iter().filter(|it| !ackers.contains(&f64::from(it.endpoint.0))).collect();
    let total = |what| only.iter().map(|it| it.meter.count(what)).sum::<u64>();
    let (spoken, silent) = (total(Count::Feedback), total(Count::Suppressed));
    assert!(only.len() > n - 4 && spoken + silent <= only.len() as u64 * lost, "one word a loss at most");
    (lost, spoken)
}

#[test]
fn with_short_queues_few_receivers_report_the_same_loss() {
    // the round-trip time is 8 ms: of 32 random delays up to 50 ms a sixth expires before the first is confirmed
    let lossy = PortSpec { loss: 0.01, ..PortSpec::new(Rate::from_mbps(1000), ms(2), 1000) };
    let (lost, spoken) = shared_link(lossy, 32);
    let each = spoken as f64 / lost as f64;
    println!("{each:.1} NAKs for each packet lost at random");
    assert!((2.0..14.0).contains(&each), "{each}");

    // a full queue of 40 ms delays the confirmation as well: only the transport suppresses NAKs, and weakly
    let (lost, spoken) = shared_link(PortSpec::new(Rate::from_mbps(5), ms(2), 25), 32);
    let each = spoken as f64 / lost as f64;
    println!("{each:.1} NAKs for each packet lost to a full queue");
    assert!((10.0..31.0).contains(&each), "{each}");
}
