//! One test per rule of the reconstruction. Links take 10 Mbit/s, Data have 1000 bytes.

use contract::{CongestionControl, FaceId, FibEntry, Label, LinkAlgorithm, Name, NameId, Transit};
use units::{Bytes, Duration, Rate};

use super::link::{Facts, Rule};
use super::{Choice, Offers, Params, control, link, strategy};
use crate::shared::forwarders::{LinkBench, StrategyBench, faces, interest};
use crate::shared::offer;
use crate::shared::testing::{Bench, setup};

const UP: FaceId = FaceId(0);
const DOWN: FaceId = FaceId(1);
/// An endpoint on the node.
const HERE: FaceId = FaceId(2);
const CAPACITY: f64 = 10e6;
const RULE: Rule = Rule { a: 0.4, b: 0.4, eta: 0.95, min: 0.01, start: 0.5 };

fn name(segment: u64) -> Name {
    Name { prefix: NameId(1), segment }
}

fn node() -> (LinkBench, Offers) {
    let mut node = LinkBench::new(faces(2, Rate::from_mbps(10), 1));
    let mut controller = link(&Params::default(), &setup(1));
    controller.on_start(&mut node);
    (node, controller)
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} is not {b}");
}

/// [RCP]: with T = 10 ms, d = 100 ms and ηC = 9.5 Mbit/s. Nobody sends: R·(1 + 0.1·0.4) = 1.04·R. 9.5 Mbit/s and no
/// queue: R. The link is full and 100 000 bits wait: R·(1 + 0.1·(0.4·(−0.5) − 0.4·1)/9.5) = R·(1 − 0.06/9.5).
#[test]
fn the_rate_follows_what_is_left_and_what_waits() {
    for (y, q, factor) in
        [(0.0, 0.0, 1.04), (9.5e6, 0.0, 1.0), (10e6, 100_000.0, 1.0 - 0.06 / 9.5), (4.75e6, 0.0, 1.02)]
    {
        let facts = Facts { capacity: CAPACITY, y, q, d: 0.1, interval: 0.01 };
        close(RULE.next(2e6, &facts), 2e6 * factor);
    }
}

/// [RCP], and the bounds of ours: R is between 1 % of C and C, and a round trip shorter than T counts as T.
#[test]
fn the_rate_stays_within_bounds() {
    let idle = Facts { capacity: CAPACITY, y: 0.0, q: 0.0, d: 0.1, interval: 0.01 };
    close(RULE.next(9.9e6, &idle), CAPACITY);
    close(RULE.next(2e6, &Facts { d: 0.005, ..idle }), 2.8e6);
    let flooded = Facts { y: 100e6, q: 10e6, d: 0.01, ..idle };
    close(RULE.next(2e6, &flooded), 0.1e6);
}

/// Without traffic R goes from C/2 by 1.04 per interval: 5.2, 5.408. Then 5000 bytes in 10 ms, 4 Mbit/s: a factor of
/// 1 + 0.1·0.4·(9.5 − 4)/9.5.
#[test]
fn a_link_measures_data_per_interval() {
    let (mut node, mut controller) = node();
    close(controller.rate(DOWN), 5e6);
    for expected in [5.2e6, 5.408e6] {
        let next = controller.wake();
        node.run(&mut controller, next);
        close(controller.rate(DOWN), expected);
    }
    for segment in 0..5 {
        node.data(&mut controller, name(segment), UP, DOWN);
    }
    let next = controller.wake();
    node.run(&mut controller, next);
    close(controller.rate(DOWN), 5.408e6 * (1.0 + 0.04 * 5.5 / 9.5));
}

/// [KATO §2]: the consumer has the minimum of the rates that all routers report.
#[test]
fn data_carry_the_minimum_of_their_path() {
    let (mut node, mut controller) = node();
    for (before, after) in [(None, 5_000_000), (Some(3_000_000), 3_000_000), (Some(8_000_000), 5_000_000)] {
        let data = node.data_with(&mut controller, name(0), UP, DOWN, |data| {
            if let Some(bps) = before {
                offer::stamp(&mut data.label, Rate::from_bps(bps));
            }
        });
        assert_eq!(offer::offered(data.label), Some(Rate::from_bps(after)));
    }
}

/// Our choice: the node of a consumer tells its round-trip time, and routers take the mean: 0.2 s at first, then 0.2 +
/// 0.02·(0.1 − 0.2) = 0.198 s.
#[test]
fn interests_tell_the_round_trip_time() {
    let (mut node, mut controller) = node();
    let asked = |node: &mut LinkBench, controller: &mut Offers, segment| {
        let mut packet = interest(name(segment), 1);
        controller.on_interest(
            &mut packet,
            &mut Transit { from: HERE, to: UP, note: 0, interest_label: Label::default() },
            node,
        );
        packet.label.0[0]
    };
    assert_eq!(asked(&mut node, &mut controller, 0), 0, "nothing is known yet");
    node.interest(&mut controller, name(1), HERE, UP);
    node.now += Duration::from_millis(7);
    node.data(&mut controller, name(1), UP, HERE);
    assert_eq!(asked(&mut node, &mut controller, 2), 7_000_000);
    // an idle router: the rate grows by 0.4·T/d
    let (mut router, mut controller) = self::node();
    for millis in [200, 100] {
        let mut packet = interest(name(0), 1);
        packet.label.0[0] = millis * 1_000_000;
        controller.on_interest_in(&packet, DOWN, &mut router);
    }
    let next = controller.wake();
    router.run(&mut controller, next);
    close(controller.rate(DOWN), 5e6 * (1.0 + 0.4 * 0.01 / 0.198));
}

#[test]
fn a_consumer_asks_at_the_rate_that_data_offer() {
    let (mut bench, mut controller) = (Bench::new(), control(&Params::default(), &setup(1)));
    assert_eq!(controller.allowance().rate, Rate::from_mbps(1));
    let mut ack = bench.an_ack(&controller);
    for (word, rate) in [(3_000_000, 3), (0, 3), (5_000_000, 5)] {
        ack.label = Label([word, 0, 0, 0]);
        bench.deliver_ack(&mut controller, &ack);
        assert_eq!(controller.allowance().rate, Rate::from_mbps(rate));
        assert_eq!(controller.allowance().window, Bytes::UNLIMITED);
    }
}

/// [ZHOU15]: Interests take the next hop that offers more, all but one in a hundred.
#[test]
fn interests_take_the_hop_that_offers_more() {
    let mut node = StrategyBench::new(faces(2, Rate::from_mbps(10), 1), &[10, 20]);
    let mut controller: Choice = strategy(&Params::default(), &setup(1));
    let mut segment = 0;
    let mut bring = |node: &mut StrategyBench, controller: &mut Choice, from: FaceId, bps: u64| {
        segment += 1;
        let pending = node.interest(controller, segment, FaceId(2));
        node.data_with(controller, pending, from, |data| offer::stamp(&mut data.label, Rate::from_bps(bps)));
        let hops = node.hops.clone();
        controller.split().shares(&FibEntry { prefix: NameId(1), index: 0, hops: &hops }, node).to_vec()
    };
    let (near, far) = (FaceId(0), FaceId(1));
    assert_eq!(bring(&mut node, &mut controller, near, 2_000_000), [0.99, 0.01]);
    assert_eq!(bring(&mut node, &mut controller, far, 3_000_000), [0.01, 0.99]);
    assert_eq!(bring(&mut node, &mut controller, near, 3_000_000), [0.99, 0.01], "of equals the cheapest");
    assert_eq!(bring(&mut node, &mut controller, near, 1_000_000), [0.01, 0.99]);
}
