//! One test per rule of the reconstruction.

use contract::{
    Cause, Congestion, CongestionControl, Ecn, FaceId, FibEntry, Label, Name, NameId, Packet, Setup,
};
use units::{Bytes, Duration, Rate, Time};

use super::{Control, Params, Resilient, control, link, strategy};
use crate::shared::forwarders::{LinkBench, StrategyBench, data, faces};
use crate::shared::testing::{Bench, SEGMENT, setup};

const SETUP: Setup = Setup { segment: Bytes::new(1100), header: Bytes::ZERO, initial_window: Bytes::ZERO };
const NEAR: FaceId = FaceId(0);
const FAR: FaceId = FaceId(1);
const CONSUMER: FaceId = FaceId(2);

fn marked(bench: &mut Bench, controller: &mut Control, level: u64, first: bool) -> f64 {
    let event =
        Congestion { cause: Cause::Mark, bytes: SEGMENT, in_flight: controller.allowance().window, first };
    controller.on_congestion(&event, &mut bench.cx());
    let mut ack = bench.an_ack(controller);
    (ack.marked, ack.label) = (true, Label([level, 0, 0, 0]));
    bench.deliver_ack(controller, &ack);
    controller.window().0
}

#[test]
fn a_consumer_gives_way_by_the_level_once_an_episode() {
    let (mut bench, mut controller) = (Bench::new(), control(&Params::default(), &setup(100)));
    assert_eq!(marked(&mut bench, &mut controller, 1, true), 90.0);
    assert_eq!(controller.ssthresh(), Bytes::new(90_000));
    assert_eq!(marked(&mut bench, &mut controller, 2, false), 90.0);
    assert_eq!(marked(&mut bench, &mut controller, 2, true), 45.0);
    bench.congestion(&mut controller, Cause::Timeout);
    assert_eq!(controller.window().0, 22.5);
    bench.ack(&mut controller);
    assert!(
        (controller.window().0 - (22.5 + 1.0 / 22.5)).abs() < 1e-12,
        "above the threshold it grows by 1/W"
    );
}

#[test]
fn it_begins_in_slow_start_and_keeps_one_segment() {
    let (mut bench, mut controller) = (Bench::new(), control(&Params::default(), &setup(1)));
    (0..5).for_each(|_| bench.ack(&mut controller));
    assert_eq!(controller.window().0, 6.0);
    for _ in 0..10 {
        marked(&mut bench, &mut controller, 2, true);
    }
    assert_eq!(controller.window().0, 1.0);
}

/// The queue holds 100 packets: more than 50 are heavy.
#[test]
fn a_mark_is_heavy_where_more_than_half_of_the_queue_is_taken() {
    for (waiting, level) in [(50, 1), (51, 2)] {
        let mut gate = LinkBench::new(faces(2, Rate::from_mbps(10), 1));
        let mut controller = link(&Params::default(), &SETUP);
        gate.link(FAR).busy = true;
        gate.link(FAR).backlog.packets = waiting;
        for _ in 0..2 {
            let name = Name { prefix: NameId(1), segment: 1 };
            gate.dequeue(&mut controller, &mut data(name), FAR, Duration::from_millis(6));
            gate.now += Duration::from_millis(101);
        }
        let name = Name { prefix: NameId(1), segment: 2 };
        let seen = gate.data(&mut controller, name, NEAR, FAR);
        assert_eq!((seen.ecn, seen.label.0[0]), (Ecn::Marked, level));
        // levels combine by maximum along the path
        let heavy = |packet: &mut Packet| (packet.ecn, packet.label.0[0]) = (Ecn::Marked, 2);
        assert_eq!(gate.data_with(&mut controller, name, NEAR, FAR, heavy).label.0[0], 2);
    }
}

fn shares(node: &mut StrategyBench, controller: &mut Resilient) -> Vec<f64> {
    let hops = node.hops.clone();
    controller.split().shares(&FibEntry { prefix: NameId(1), index: 0, hops: &hops }, node).to_vec()
}

#[test]
fn heavy_marks_move_shares_and_quiet_brings_them_back() {
    let mut node = StrategyBench::new(faces(2, Rate::from_mbps(10), 1), &[10, 20]);
    let mut controller = strategy(&Params { probing: 0.0, ..Params::default() }, &SETUP);
    let mut segment = 0;
    let mut get = |node: &mut StrategyBench, controller: &mut Resilient, level: u64| {
        segment += 1;
        let pending = node.interest(controller, segment, CONSUMER);
        node.data_with(controller, pending, NEAR, |packet| {
            packet.label.0[0] = level;
            packet.ecn = if level > 0 { Ecn::Marked } else { Ecn::Capable };
        });
        shares(node, controller)[0]
    };
    assert_eq!(node.now, Time::ZERO + Duration::from_secs(1));
    assert_eq!(get(&mut node, &mut controller, 1), 1.0, "a light mark is the consumers' business");
    assert!((get(&mut node, &mut controller, 2) - 0.98).abs() < 1e-12);
    node.now += Duration::from_millis(999);
    assert!((get(&mut node, &mut controller, 0) - 0.98).abs() < 1e-12);
    node.now += Duration::from_millis(1);
    // 0.02 of the 0.02 that were moved
    assert!((get(&mut node, &mut controller, 0) - 0.9804).abs() < 1e-12);
    assert!((get(&mut node, &mut controller, 0) - 0.9804).abs() < 1e-12);
    node.now += Duration::from_millis(900);
    get(&mut node, &mut controller, 1);
    node.now += Duration::from_millis(900);
    assert!((get(&mut node, &mut controller, 0) - 0.9804).abs() < 1e-12, "a light mark disturbs the quiet");
}
