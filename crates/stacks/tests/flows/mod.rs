//! Flows in the simulator: determinism, sizes on the wire, loss, restarts. Tests of quinn and of noq.

use std::thread;

use contract::{Count, FlowId};
use sim::{
    Blueprint, CONNECTION_LOST, Change, Control, FlowKind, FlowSpec, Limit, PortSpec, Subject, Trace, World,
};
use stack::datagram::{self, Pattern};
use stacks::{Config, Controller, FlowControl, HEADERS};
use units::{Bytes, Duration, Rate, Time};

use crate::ends;

/// A network, and the connections of its flows.
#[derive(Clone)]
struct Net {
    blueprint: Blueprint,
    configs: Vec<Config>,
}

/// A sender `a`, a bottleneck of 20 Mbit/s and 20 ms each way with a queue of one bandwidth-delay product, and a
/// receiver `b`.
fn net(seconds: u64) -> Net {
    let mut blueprint = Blueprint { seed: 7, ..Blueprint::new(Duration::from_secs(seconds)) };
    let (a, b) = (blueprint.node("a"), blueprint.node("b"));
    let port = PortSpec::new(Rate::from_mbps(20), Duration::from_millis(20), 67);
    blueprint.link("bottleneck", (a, b), port);
    Net { blueprint, configs: Vec::new() }
}

/// Adds a flow with a controller of the stack, or with a scheme. Its endpoints take the place of a source.
fn add<'a>(net: &'a mut Net, own: Option<&str>, scheme: Option<&str>, size: Bytes) -> &'a mut FlowSpec {
    let controller = match own {
        Some(own) => Controller::Own(own.to_owned()),
        None => Controller::Scheme(scheme.expect("one of both").to_owned(), Vec::new()),
    };
    let name = format!("flow{}", net.configs.len());
    net.configs.push(Config {
        controller,
        mtu: Bytes::new(1500),
        size,
        flow_control: FlowControl::default(),
    });
    let pattern = Pattern::Constant { rate: Rate::ZERO };
    let source = FlowKind::Datagram(datagram::Config { packet: Bytes::new(1500), pattern });
    net.blueprint.flow(&name, None, source, contract::NodeId(0), &[contract::NodeId(1)])
}

fn run(net: &Net) -> Trace {
    let mut world = World::new(&net.blueprint).expect("the blueprint is right");
    for (id, config) in (0u32..).zip(&net.configs) {
        let (sender, receiver) = ends(config, None).expect("the controller is known");
        world.custom_sender(FlowId(id), sender);
        world.custom_receiver(FlowId(id), receiver);
    }
    world.run(&Control::default());
    world.finish()
}

/// Payload per time, in Mbit/s.
fn goodput(trace: &Trace, flow: usize) -> f64 {
    trace.receivers[flow].meter.goodput_bytes as f64 * 8e-6 / trace.ended_at.as_secs_f64()
}

fn completed(trace: &Trace) -> Duration {
    trace.flows[0].meter.completed_at.saturating_since(Time::ZERO)
}

#[test]
fn equal_seeds_give_equal_runs_on_any_thread() {
    for (own, scheme) in [(Some("cubic"), None), (Some("newreno"), None), (None, Some("bbr"))] {
        let mut net = net(5);
        add(&mut net, own, scheme, Bytes::UNLIMITED);
        add(&mut net, own, scheme, Bytes::UNLIMITED);
        let first = run(&net).hash;
        let others: Vec<_> = (0..2)
            .map(|_| {
                let net = net.clone();
                thread::spawn(move || run(&net).hash)
            })
            .collect();
        for other in others {
            assert_eq!(other.join().expect("it does not panic"), first, "{own:?} {scheme:?}");
        }
        net.blueprint.seed = 8;
        assert_ne!(run(&net).hash, first, "{own:?} {scheme:?}");
    }
}

#[test]
fn a_small_upload_takes_two_round_trips() {
    // 1 RTT for the handshake [RFC9001 §4.1], then the data and its acknowledgement
    let mut net = net(5);
    add(&mut net, Some("cubic"), None, Bytes::new(1000));
    let trace = run(&net);
    let took = completed(&trace);
    assert!(took >= Duration::from_millis(80) && took < Duration::from_millis(90), "{took}");
    assert_eq!(trace.receivers[0].meter.goodput_bytes, 1000);
    // Initial packets are padded to 1200 bytes [RFC9000 §14.1]
    assert!(trace.flows[0].sent_bytes > 1228 + 1000, "{:?}", trace.flows[0]);
}

#[test]
fn full_packets_have_the_size_that_path_mtu_discovery_finds() {
    let mut net = net(5);
    add(&mut net, Some("cubic"), None, Bytes::UNLIMITED);
    let large = run(&net);
    // 1452 bytes, the upper bound of quinn and noq, and headers
    let mean = large.flows[0].sent_bytes / large.flows[0].sent_packets;
    assert!((1470..=1452 + HEADERS.as_u64()).contains(&mean), "{mean}");
    net.configs[0].mtu = Bytes::new(1300);
    let small = run(&net);
    let mean = small.flows[0].sent_bytes / small.flows[0].sent_packets;
    assert!((1228..=1300).contains(&mean), "{mean}");
}

#[test]
fn everything_arrives_over_a_path_that_loses_packets() {
    let mut net = net(60);
    net.blueprint.links[0].forward.loss = 0.02;
    net.blueprint.links[0].backward.loss = 0.02;
    add(&mut net, Some("newreno"), None, Bytes::new(3_000_000));
    let trace = run(&net);
    assert_eq!(trace.receivers[0].meter.goodput_bytes, 3_000_000);
    assert!(completed(&trace) < Duration::from_secs(30));
    let meter = &trace.flows[0].meter;
    assert!(meter.count(Count::Retransmits) > 20 && meter.count(Count::Episodes) > 5, "{meter:?}");
    assert!(meter.rtt_min >= Duration::from_millis(40) && meter.rtt_count > 100, "{meter:?}");
}

#[test]
fn marks_take_the_place_of_drops() {
    let mut net = net(10);
    net.blueprint.links[0].forward.queue.mark_above = Some(30);
    net.blueprint.links[0].forward.queue.limit = Limit::Packets(1000);
    add(&mut net, Some("cubic"), None, Bytes::UNLIMITED);
    let trace = run(&net);
    assert_eq!(trace.flows[0].meter.count(Count::Retransmits), 0);
    assert!(
        trace.receivers[0].meter.count(Count::Marks) > 0 && trace.flows[0].meter.count(Count::Episodes) > 0
    );
    assert!(goodput(&trace, 0) > 17.0, "{}", goodput(&trace, 0));
}

#[test]
fn a_flow_that_starts_again_opens_a_new_connection() {
    let mut net = net(9);
    add(&mut net, Some("cubic"), None, Bytes::UNLIMITED);
    let at = |seconds| Time::ZERO + Duration::from_secs(seconds);
    net.blueprint.events.push((at(3), Change::FlowStop(FlowId(0))));
    net.blueprint.events.push((at(6), Change::FlowStart(FlowId(0))));
    let trace = run(&net);
    // two turns of three seconds, each with a slow start
    let delivered = trace.receivers[0].meter.goodput_bytes as f64 * 8e-6 / 6.0;
    assert!((12.0..19.5).contains(&delivered), "{delivered}");
}

#[test]
fn controllers_fill_the_path_and_share_it() {
    for (own, scheme) in
        [(Some("cubic"), None), (Some("newreno"), None), (None, Some("cubic")), (None, Some("reno"))]
    {
        let mut alone = net(20);
        add(&mut alone, own, scheme, Bytes::UNLIMITED);
        let alone = goodput(&run(&alone), 0);
        // 20 Mbit/s · 1416/1480, less the handshake and slow start
        assert!((17.0..19.2).contains(&alone), "{own:?} {scheme:?}: {alone}");
        let mut two = net(60);
        add(&mut two, own, scheme, Bytes::UNLIMITED);
        add(&mut two, own, scheme, Bytes::UNLIMITED).start = Time::ZERO + Duration::from_millis(500);
        let trace = run(&two);
        let ratio = goodput(&trace, 0) / goodput(&trace, 1);
        assert!((0.4..2.5).contains(&ratio), "{own:?} {scheme:?}: {ratio}");
    }
}

#[test]
fn the_same_rule_in_other_hands_does_the_same() {
    // RFC 9002 §7 and RFC 9438 in the code of the stack, and in the catalogue's
    for (mbps, delay_ms, queue) in [(20, 20, 67), (10, 40, 34), (50, 10, 84)] {
        for (own, scheme) in [("newreno", "reno"), ("cubic", "cubic")] {
            let rate = |own, scheme| {
                let mut net = net(20);
                let port = PortSpec::new(Rate::from_mbps(mbps), Duration::from_millis(delay_ms), queue);
                net.blueprint.links[0].forward = port.clone().into();
                net.blueprint.links[0].backward = port.into();
                add(&mut net, own, scheme, Bytes::UNLIMITED);
                goodput(&run(&net), 0)
            };
            let ratio = rate(Some(own), None) / rate(None, Some(scheme));
            assert!((0.95..1.05).contains(&ratio), "{mbps} Mbit/s, {own}: {ratio}");
        }
    }
}

#[test]
fn rate_schemes_complete_an_upload_and_lose_little() {
    for scheme in ["cvihis", "tfrc"] {
        let mut net = net(60);
        add(&mut net, None, Some(scheme), Bytes::new(4_000_000));
        let trace = run(&net);
        assert_eq!(trace.receivers[0].meter.goodput_bytes, 4_000_000, "{scheme}");
        assert!(completed(&trace) < Duration::from_secs(40), "{scheme}: {}", completed(&trace));
        let lost = trace.flows[0].meter.count(Count::Retransmits);
        assert!(lost * 20 < trace.flows[0].sent_packets, "{scheme}: {lost}");
    }
}

/// Slow start overflows a queue of 1000 packets behind 4167 on the way: more than 1024 gaps in the stream, with which
/// the receiver closes the connection. Both ends say why, and the flow ends; it can start again.
#[test]
fn a_connection_that_is_lost_ends_its_flow_with_a_reason() {
    let mut net = net(3);
    let port = PortSpec::new(Rate::from_mbps(500), Duration::from_millis(50), 1000);
    net.blueprint.links[0].forward = port.clone().into();
    net.blueprint.links[0].backward = port.into();
    add(&mut net, Some("cubic"), None, Bytes::UNLIMITED);
    let receive_window = Bytes::new(12_000_000);
    let send_window = FlowControl::send_window(receive_window);
    net.configs[0].flow_control = FlowControl { receive_window, send_window };
    let trace = run(&net);
    assert_eq!(trace.reasons.len(), 2, "{:?}", trace.reasons);
    assert!(trace.reasons.iter().all(|reason| reason.ends_with("too many gaps in stream buffer")));
    let lost: Vec<_> = trace.events.iter().map(|event| (event.name, event.subject)).collect();
    assert_eq!(lost, [(CONNECTION_LOST, Subject::Receiver(0)), (CONNECTION_LOST, Subject::Flow(FlowId(0)))]);
    let ended = trace.events[1].at.saturating_since(Time::ZERO);
    assert_eq!(trace.flows[0].active, ended);
    // the sender hears of it half a round trip later
    let took = trace.events[1].at.saturating_since(trace.events[0].at);
    assert!((Duration::from_millis(50)..Duration::from_millis(60)).contains(&took), "{took}");
    // one that completes or is stopped is not lost
    net.configs[0].size = Bytes::new(3_000_000);
    assert!(run(&net).reasons.is_empty());
}

#[test]
fn unknown_controllers_and_wrong_parameters_are_refused() {
    let config = |controller| Config {
        controller,
        mtu: Bytes::new(1500),
        size: Bytes::UNLIMITED,
        flow_control: FlowControl::default(),
    };
    // the controllers `bbr` and `bbr3` of quinn and noq draw from the operating system
    for random in ["bbr", "bbr3"] {
        let own = ends(&config(Controller::Own(random.to_owned())), None).map(|_| ());
        assert_eq!(own.map_err(|error| error.name), Err("controller".to_owned()));
    }
    let params = vec![("beta".to_owned(), contract::ParamValue::from(7.0))];
    let scheme = ends(&config(Controller::Scheme("cubic".to_owned(), params)), None).map(|_| ());
    assert_eq!(scheme.map_err(|error| error.name), Err("beta".to_owned()));
}
