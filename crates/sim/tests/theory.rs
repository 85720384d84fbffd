//! Known results as test oracles: the square-root law of AIMD, max-min shares.

use contract::NodeId;
use sim::{Blueprint, FlowKind, PortSpec};
use stack::{datagram, tcp};
use units::{Bytes, Duration, Rate};

use crate::run;

/// Mean window in segments of one Reno flow on a fast link that loses each data packet with probability `p`.
fn mean_window(p: f64) -> f64 {
    let mut net = Blueprint::new(Duration::from_secs(4000));
    net.warmup = Duration::from_secs(100);
    let (a, b) = (net.node("a"), net.node("b"));
    let port = PortSpec::new(Rate::from_mbps(1000), Duration::from_millis(50), 100_000);
    let link = net.link("wire", (a, b), port);
    net.links[link.index()].forward.loss = p;
    let config =
        tcp::Config { segment: Bytes::new(960), sack: true, delayed_ack: false, ..tcp::Config::default() };
    net.flow("tcp", Some("reno"), FlowKind::Tcp(config), a, &[b]);
    let trace = run(&net);
    let segments = trace.receivers[0].meter.goodput_bytes as f64 / 960.0;
    segments * 0.1 / trace.receivers[0].active.as_secs_f64()
}

#[test]
fn an_aimd_window_follows_the_inverse_square_root_of_the_loss() {
    // independent losses: E[W] √p = 1.3098   [Ott, Kemperman and Mathis 1996]
    for p in [0.0001, 0.0004, 0.0016] {
        let constant = mean_window(p) * p.sqrt();
        assert!((constant / 1.3098 - 1.0).abs() < 0.10, "p = {p}: {constant}");
    }
}

#[test]
fn rate_capped_flows_get_their_max_min_shares() {
    // a chain of 10 and 6 Mbit/s; flows by class: 1 over both (cap 20), 2 over the first (cap 1), 3 over the first (cap
    // 20), 4 over the second (cap 2). Max-min: the second link gives flow 1 4, flow 4 2; the first 1 to flow 2, 5 to
    // flow 3.
    let mut net = Blueprint::new(Duration::from_secs(50));
    let nodes: Vec<NodeId> = ["a", "b", "c"].map(|name| net.node(name)).into();
    let mut port = PortSpec::new(Rate::from_mbps(10), Duration::from_millis(1), 50);
    port.queue.class_weights = vec![1, 1, 1, 1];
    net.link("first", (nodes[0], nodes[1]), port.clone());
    port.rate = Rate::from_mbps(6);
    net.link("second", (nodes[1], nodes[2]), port);
    // sources do not slow down, so that a flow limited by the second link is capped at its source
    let flows = [(0, 2, 4), (0, 1, 1), (0, 1, 20), (1, 2, 2)];
    for (class, (from, to, mbps)) in (0u8..).zip(flows) {
        let pattern = datagram::Pattern::Constant { rate: Rate::from_mbps(mbps) };
        let kind = FlowKind::Datagram(datagram::Config { packet: Bytes::new(1000), pattern });
        net.flow(&format!("f{class}"), None, kind, nodes[from], &[nodes[to]]).class = class;
    }
    let trace = run(&net);
    for (receiver, share) in trace.receivers.iter().zip([4.0, 1.0, 5.0, 2.0]) {
        let mbps = receiver.bytes as f64 * 8.0 / 50e6;
        assert!((mbps / share - 1.0).abs() < 0.02, "{mbps} against {share}");
    }
}
