//! Policers and shapers in running networks.

use contract::{DropReason, LinkId, NodeId};
use proptest::prelude::*;
use sim::{Blueprint, Change, FlowKind, PortSpec, TokenBucket, Trace, World};
use stack::datagram::{Config, Pattern};
use stack::queue::DisciplineSpec;
use stack::queue::codel::Params;
use units::{Bytes, Duration, Rate};

use crate::{at_ms, ms, run};

const fn bucket(kbps: u64, burst: u64) -> TokenBucket {
    TokenBucket { rate: Rate::from_kbps(kbps), burst: Bytes::new(burst) }
}

/// A source of a packet of 1000 bytes each millisecond, 8 Mbit/s, over a link of 1 Gbit/s (8 µs per packet) and 10 ms
/// with room for `packets`.
fn net(end: Duration, packets: u32) -> Blueprint {
    let mut net = Blueprint::new(end);
    let (a, b) = (net.node("a"), net.node("b"));
    net.link("wire", (a, b), PortSpec::new(Rate::from_mbps(1000), ms(10), packets));
    let pattern = Pattern::Constant { rate: Rate::from_mbps(8) };
    let kind = FlowKind::Datagram(Config { packet: Bytes::new(1000), pattern });
    net.flow("source", None, kind, NodeId(0), &[NodeId(1)]);
    net
}

fn policed(trace: &Trace) -> u64 {
    trace.ports[0].drops[DropReason::Policed as usize]
}

#[test]
fn a_policer_passes_the_burst_and_then_its_rate() {
    // a packet takes 1000 tokens, 500 come per ms: with 3000 at the start, the packets of 0, 1, 2, 3 and 4 ms pass (at
    // 4 ms 1000 are left), then every second
    let mut net = net(ms(101), 100);
    net.links[0].forward.policer = Some(bucket(4000, 3000));
    let trace = run(&net);
    assert_eq!(trace.ports[0].offered_packets, 101);
    // 0 … 4, then 6, 8 … 100
    assert_eq!(trace.ports[0].sent_packets, 5 + 48);
    assert_eq!(policed(&trace), 48);
    assert_eq!(trace.flows[0].drops[DropReason::Policed as usize], 48);
    assert_eq!(trace.ports[0].backlog_max, 0, "a policer has no queue");
    assert!(trace.balance.holds());
}

#[test]
fn a_shaper_delays_what_a_policer_drops() {
    // the burst passes the packets of 0 … 4 ms at once; packet n ≥ 4 leaves when 1000 (n + 1) = 3000 + 500 t, at
    // 2 n − 4 ms
    let mut net = net(ms(41), 100);
    net.links[0].forward.shaper = Some(bucket(4000, 3000));
    let trace = run(&net);
    // those with 2 n − 4 ≤ 40.99 − 10.008 ms arrive: n ≤ 17
    assert_eq!(trace.receivers[0].packets, 18);
    // delays are 10.008 ms and the wait of n − 4 ms from n = 4 on
    assert_eq!(trace.receivers[0].delay_min.as_nanos(), 10_008_000);
    assert_eq!(trace.receivers[0].delay_max.as_nanos(), 10_008_000 + 13_000_000);
    assert_eq!(policed(&trace), 0);
}

#[test]
fn a_full_queue_before_a_shaper_drops() {
    // 4 of 8 Mbit/s pass, and at most five packets wait
    let mut net = net(ms(1000), 5);
    net.links[0].forward.shaper = Some(bucket(4000, 1000));
    let trace = run(&net);
    let port = &trace.ports[0];
    assert_eq!(port.backlog_max, 5);
    assert_eq!(port.sent_packets, 500);
    assert_eq!(port.drops[DropReason::QueueFull as usize], 1000 - 500 - 5);
    // its capacity is the rate of the shaper: 4 Mbit in a second
    assert_eq!(port.capacity_bits, 4_000_000);
}

#[test]
fn what_is_larger_than_the_burst_never_passes_a_shaper() {
    for codel in [false, true] {
        let mut net = net(ms(100), 100);
        net.links[0].forward.shaper = Some(bucket(4000, 999));
        net.links[0].forward.queue.discipline = codel.then(|| DisciplineSpec::Codel(Params::default()));
        let trace = run(&net);
        assert_eq!((policed(&trace), trace.receivers[0].packets), (100, 0));
    }
}

#[test]
fn a_discipline_before_a_shaper_sees_its_rate() {
    // a sender of 8 Mbit/s at 4: CoDel drops, and the queue stays short
    let mut net = net(Duration::from_secs(10), 10_000);
    net.links[0].forward.shaper = Some(bucket(4000, 2000));
    net.links[0].forward.queue.discipline = Some(DisciplineSpec::Codel(Params::default()));
    let trace = run(&net);
    let port = &trace.ports[0];
    assert!(port.drops[DropReason::Early as usize] > 500, "{:?}", port.drops);
    assert!((4990..=5003).contains(&port.sent_packets), "{}", port.sent_packets);
}

#[test]
fn a_failed_link_has_a_full_bucket_when_it_is_up_again() {
    let mut net = net(ms(61), 100);
    net.links[0].forward.shaper = Some(bucket(800, 2000));
    net.events =
        vec![(at_ms(20), Change::LinkUp(LinkId(0), false)), (at_ms(40), Change::LinkUp(LinkId(0), true))];
    let trace = run(&net);
    // 100 tokens per ms: packets leave at 0, 0 + 1 ms and 10 ms, those at 20 ms are lost; then at 40, 41, 50 and 60 ms
    assert_eq!(trace.ports[0].sent_packets, 3 + 4);
    assert_eq!(
        trace.receivers[0].packets,
        2 + 3,
        "three of 10 ms are lost with the link, and the last is on it"
    );
    assert!(trace.balance.holds());
}

#[test]
fn a_bucket_without_a_rate_and_an_event_of_a_shaped_rate_are_refused() {
    let refused = |change: fn(&mut Blueprint)| {
        let mut net = net(ms(100), 10);
        change(&mut net);
        World::new(&net).map(|_| ()).expect_err("it is wrong").message
    };
    let message = refused(|net| net.links[0].forward.policer = Some(bucket(0, 1000)));
    assert_eq!(message, "a token bucket has a rate, and a burst of 1 byte to 2 GB");
    let message = refused(|net| net.links[0].backward.shaper = Some(bucket(1000, 2_000_000_001)));
    assert_eq!(message, "a token bucket has a rate, and a burst of 1 byte to 2 GB");
    let message = refused(|net| {
        net.links[0].forward.shaper = Some(bucket(1000, 3000));
        net.events.push((at_ms(5), Change::LinkRate(LinkId(0), Rate::from_mbps(1))));
    });
    assert_eq!(message, "an event cannot change a rate that follows a trace or has a shaper");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// What leaves within any time is at most the burst and the rate times it, and packets are conserved.
    #[test]
    fn buckets_bound_what_passes(
        kbps in 100u64..20_000, burst in 1000u64..20_000, shaped: bool, codel: bool, down: bool, seed: u64,
    ) {
        let mut net = net(Duration::from_secs(1), 50);
        net.seed = seed;
        let forward = &mut net.links[0].forward;
        *(if shaped { &mut forward.shaper } else { &mut forward.policer }) = Some(bucket(kbps, burst));
        forward.queue.discipline = codel.then(|| DisciplineSpec::Codel(Params::default()));
        if down {
            net.events = vec![(at_ms(300), Change::LinkUp(LinkId(0), false)), (at_ms(400), Change::LinkUp(LinkId(0), true))];
        }
        let trace = run(&net);
        prop_assert!(trace.balance.holds());
        let bound = kbps * 1000 / 8 + burst * if down && shaped { 2 } else { 1 };
        prop_assert!(trace.ports[0].sent_bytes <= bound, "{} above {bound}", trace.ports[0].sent_bytes);
        prop_assert_eq!(run(&net).hash, trace.hash);
    }
}
