//! Impaired links in running networks.

use contract::{Count, DropReason, LinkId, NodeId};
use proptest::prelude::*;
use sim::{Blueprint, Change, FlowKind, GilbertElliott, Impair, Jitter, PortSpec, Reorder};
use stack::datagram::{Config, Pattern};
use stack::queue::DisciplineSpec;
use stack::queue::codel::Params;
use units::{Bytes, Duration, Rate};

use crate::{at_ms, ms, run};

/// A source of a packet of 1000 bytes each millisecond over a link of 100 Mbit/s and 20 ms, for 10 s.
fn net(impair: Impair) -> Blueprint {
    let mut net = Blueprint::new(Duration::from_secs(10));
    let (a, b) = (net.node("a"), net.node("b"));
    let mut port = PortSpec::new(Rate::from_mbps(100), ms(20), 100);
    port.impair = Some(impair);
    net.link("wire", (a, b), port);
    let pattern = Pattern::Constant { rate: Rate::from_mbps(8) };
    let kind = FlowKind::Datagram(Config { packet: Bytes::new(1000), pattern });
    net.flow("source", None, kind, NodeId(0), &[NodeId(1)]);
    net
}

#[test]
fn a_copy_of_every_packet_arrives() {
    let trace = run(&net(Impair { duplicate: 1.0, ..Impair::default() }));
    // packets that are sent up to 9979 ms arrive 20.08 ms later
    assert_eq!((trace.balance.sent, trace.balance.copied), (10_000, 9980));
    assert_eq!(trace.receivers[0].packets, 2 * 9980);
    assert!(trace.balance.holds());
}

#[test]
fn lost_bursts_are_random_losses_of_the_port() {
    let bursts = GilbertElliott { to_bad: 0.01, to_good: 0.2, loss_in_bad: 1.0, loss_in_good: 0.0 };
    let trace = run(&net(Impair { bursts: Some(bursts), ..Impair::default() }));
    let lost = trace.ports[0].drops[DropReason::RandomLoss as usize];
    // π = 4.76 % of 9980 packets are 475; with ρ = 1 − 0.01 − 0.2 their deviation is √(n π (1 − π) (1 + ρ) / (1 − ρ)) =
    // 62, of which three are allowed
    assert!((289..=661).contains(&lost), "{lost}");
    assert_eq!(trace.receivers[0].packets + lost, 9980);
    assert_eq!(trace.flows[0].drops[DropReason::RandomLoss as usize], lost);
}

#[test]
fn damaged_packets_are_drops_of_their_own() {
    let trace = run(&net(Impair { corrupt: 0.1, ..Impair::default() }));
    let damaged = trace.ports[0].drops[DropReason::Corrupted as usize];
    // of 9980 packets 998, with a deviation of √(9980 · 0.1 · 0.9) = 30, of which three are allowed
    assert!((908..=1088).contains(&damaged), "{damaged}");
    assert_eq!(trace.receivers[0].packets + damaged, 9980);
    assert_eq!(trace.flows[0].drops[DropReason::Corrupted as usize], damaged);
    assert_eq!(trace.ports[0].drops[DropReason::RandomLoss as usize], 0);
    assert!(trace.balance.holds());
}

#[test]
fn an_event_of_loss_replaces_the_bursts() {
    let bursts = GilbertElliott { to_bad: 1.0, to_good: 0.0, loss_in_bad: 1.0, loss_in_good: 1.0 };
    let mut net = net(Impair { bursts: Some(bursts), ..Impair::default() });
    net.events.push((at_ms(5000), Change::LinkLoss(LinkId(0), 0.0)));
    let trace = run(&net);
    // the packet of 4979.92 ms and later arrive after 5 s: the packets of 4980 … 9979 ms
    assert_eq!(trace.receivers[0].packets, 5000);
}

#[test]
fn a_delay_is_within_its_jitter_also_after_it_changed() {
    let jitter = Jitter { by: ms(5), keeps_order: false };
    let mut net = net(Impair { jitter: Some(jitter), ..Impair::default() });
    let trace = run(&net);
    let (min, max) = (trace.receivers[0].delay_min, trace.receivers[0].delay_max);
    assert!(min >= ms(15) && min < ms(16) && max > ms(24) && max < ms(26), "{min} {max}");
    net.events.push((at_ms(0), Change::LinkDelay(LinkId(0), ms(100))));
    let trace = run(&net);
    let (min, max) = (trace.receivers[0].delay_min, trace.receivers[0].delay_max);
    assert!(min >= ms(95) && min < ms(96) && max > ms(104) && max < ms(106), "{min} {max}");
}

#[test]
fn packets_that_are_released_together_wait_for_the_next_release() {
    let trace = run(&net(Impair { release_every: ms(10), ..Impair::default() }));
    // packets of 0 … 9 ms would arrive at 20.08 … 29.08 ms and arrive at 30 ms, after 30 … 21 ms, which are 255 ms in
    // sum; the packets of up to 9969 ms are released by 9990 ms
    let receiver = &trace.receivers[0];
    assert_eq!((receiver.packets, receiver.delay_sum_ns), (9970, 997 * 255_000_000));
    assert_eq!((receiver.delay_min, receiver.delay_max), (ms(21), ms(30)));
}

#[test]
fn a_link_that_goes_down_loses_what_it_holds() {
    let jitter = Jitter { by: ms(20), keeps_order: false };
    let mut net = net(Impair { jitter: Some(jitter), ..Impair::default() });
    net.events.push((at_ms(5000), Change::LinkUp(LinkId(0), false)));
    let trace = run(&net);
    let lost = trace.ports[0].drops[DropReason::LinkDown as usize];
    assert!((10..=30).contains(&lost), "twenty packets are on a link of 20 ms: {lost}");
    assert_eq!(trace.balance.in_flight, 0);
}

fn any_impair() -> impl Strategy<Value = Impair> {
    let share = 0.0f64..=1.0;
    let bursts = (share.clone(), share.clone(), share.clone(), share.clone()).prop_map(
        |(to_bad, to_good, loss_in_bad, loss_in_good)| GilbertElliott {
            to_bad,
            to_good,
            loss_in_bad,
            loss_in_good,
        },
    );
    let jitter = (0u64..20, any::<bool>()).prop_map(|(by, keeps_order)| Jitter { by: ms(by), keeps_order });
    let reorder = (share.clone(), 1u32..6).prop_map(|(probability, gap)| Reorder { probability, gap });
    let parts = (
        prop::option::of(bursts),
        share.clone(),
        share,
        prop::option::of(jitter),
        prop::option::of(reorder),
        0u64..5,
    );
    parts.prop_map(|(bursts, duplicate, corrupt, jitter, reorder, every)| Impair {
        bursts,
        duplicate,
        corrupt,
        jitter,
        reorder,
        release_every: ms(every),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn packets_and_their_copies_are_conserved(impair in any_impair(), loss in 0.0f64..0.3, codel: bool, down: bool, seed: u64) {
        let mut net = net(impair);
        net.seed = seed;
        net.duration = Duration::from_secs(1);
        net.links[0].forward.loss = loss;
        net.links[0].forward.queue.discipline = codel.then(|| DisciplineSpec::Codel(Params::default()));
        if down {
            net.events = vec![(at_ms(300), Change::LinkUp(LinkId(0), false)), (at_ms(400), Change::LinkUp(LinkId(0), true))];
        }
        let trace = run(&net);
        let balance = trace.balance;
        prop_assert!(balance.holds());
        prop_assert_eq!(trace.receivers[0].packets, balance.delivered);
        prop_assert_eq!(balance.sent + balance.copied - balance.delivered - balance.dropped, balance.in_flight);
        prop_assert!(balance.copied <= balance.sent);
        prop_assert_eq!(run(&net).hash, trace.hash);
    }

    #[test]
    fn nothing_overtakes_unless_packets_are_reordered(by in 0u64..20, every in 0u64..5, seed: u64) {
        let jitter = Some(Jitter { by: ms(by), keeps_order: true });
        let mut net = net(Impair { jitter, release_every: ms(every), ..Impair::default() });
        net.seed = seed;
        net.duration = Duration::from_secs(1);
        let trace = run(&net);
        prop_assert_eq!(trace.receivers[0].meter.count(Count::Missing), 0);
        prop_assert!(trace.receivers[0].packets >= 950);
    }
}
