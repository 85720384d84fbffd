//! One test per rule of the reconstruction. Links take 10 Mbit/s and 100 packets, Data have 1000 bytes: 0.8 ms each.

use contract::{
    Admission, Cause, Congestion, CongestionControl, Ecn, FaceId, InterestQueueId, LinkAlgorithm, Name,
    NameId,
};
use units::{Bytes, Duration, Rate, Time};

use super::{Control, Hops, Params, control, link};
use crate::shared::forwarders::{LinkBench, Outcome, data, faces};
use crate::shared::testing::{Bench, SEGMENT, setup};

const UP: FaceId = FaceId(0);
const DOWN: FaceId = FaceId(1);
/// An endpoint on the node.
const HERE: FaceId = FaceId(2);
/// `/a`, `/a/x` and `/b`.
const FLOWS: [NameId; 3] = [NameId(1), NameId(2), NameId(3)];

fn name(flow: usize, segment: u64) -> Name {
    Name { prefix: FLOWS[flow], segment }
}

fn node(params: &Params) -> (LinkBench, Hops) {
    (LinkBench::new(faces(2, Rate::from_mbps(10), 1)), link(params, &setup(1)))
}

/// Data of these flows join the queue down, one after the other.
fn fill(node: &mut LinkBench, controller: &mut Hops, counts: [u32; 3]) {
    node.link(DOWN).busy = true;
    for (flow, count) in counts.into_iter().enumerate() {
        for segment in 0..count {
            node.data(controller, name(flow, 1000 + u64::from(segment)), UP, DOWN);
            let backlog = &mut node.link(DOWN).backlog;
            backlog.packets += 1;
            backlog.bytes = Bytes::new(1000) * u64::from(backlog.packets);
        }
    }
}

fn released(node: &LinkBench, since: Time) -> Vec<(u64, u64)> {
    let what = |outcome: &Outcome| match outcome {
        Outcome::Released(at, name) => ((*at - since).as_nanos() / 1000, name.segment),
        Outcome::Refused(..) => panic!("it refuses nothing"),
    };
    node.outcomes.iter().map(what).collect()
}

/// [MA24 §2.3]: rate control only above the threshold: 75 packets are not more than 0.75 of 100, 76 are.
#[test]
fn interests_are_delayed_above_the_threshold_alone() {
    for (waiting, gap) in [(75, None), (76, Some(Duration::from_micros(800)))] {
        let (mut node, mut controller) = node(&Params::default());
        fill(&mut node, &mut controller, [waiting, 0, 0]);
        assert_eq!(controller.gap(DOWN, &mut node), gap, "{waiting} packets");
    }
}

/// Three flows have Data in the queue: n·S/C = 3·8000/10⁷ s = 2.4 ms between two Interests of each. With two of them it
/// is 1.6 ms.
#[test]
fn the_gap_is_the_fair_share_of_the_flows_in_the_queue() {
    let (mut node, mut controller) = node(&Params::default());
    fill(&mut node, &mut controller, [10, 30, 40]);
    assert_eq!(controller.gap(DOWN, &mut node), Some(Duration::from_micros(2400)));
    // the ten of the first flow have left, and others have come
    fill(&mut node, &mut controller, [0, 10, 0]);
    node.link(DOWN).backlog.packets = 80;
    assert_eq!(controller.gap(DOWN, &mut node), Some(Duration::from_micros(1600)));
}

/// Five Interests of each of two flows come at once: the first of each goes, the others 1.6 ms apart, one flow beside
/// the other.
#[test]
fn each_flow_has_a_line_of_its_own() {
    let (mut node, mut controller) = node(&Params::default());
    fill(&mut node, &mut controller, [40, 40, 0]);
    let begun = node.now;
    for segment in 0..5 {
        for flow in 0..2 {
            let admission = node.interest(&mut controller, name(flow, segment), DOWN, UP);
            let queued = Admission::Hold(InterestQueueId(flow as u32));
            assert_eq!(admission, if segment == 0 { Admission::Pass } else { queued });
        }
    }
    node.run(&mut controller, begun + Duration::from_millis(7));
    let times = [1600, 1600, 3200, 3200, 4800, 4800, 6400, 6400];
    assert_eq!(released(&node, begun), times.into_iter().zip([1, 1, 2, 2, 3, 3, 4, 4]).collect::<Vec<_>>());
    assert_eq!(controller.wake(), Time::NEVER);
}

/// The queue falls to the threshold after 2 ms: at the next look, 3.2 ms after the first Interest, all that waits goes,
/// in order.
#[test]
fn what_waits_goes_in_order_when_the_queue_is_short() {
    let (mut node, mut controller) = node(&Params::default());
    fill(&mut node, &mut controller, [40, 40, 0]);
    let begun = node.now;
    for segment in 0..5 {
        node.interest(&mut controller, name(0, segment), DOWN, UP);
    }
    node.run(&mut controller, begun + Duration::from_millis(2));
    node.link(DOWN).backlog.packets = 75;
    node.run(&mut controller, begun + Duration::from_millis(4));
    assert_eq!(released(&node, begun), [(1600, 1), (3200, 2), (3200, 3), (3200, 4)]);
    // and the next Interest passes at once
    assert_eq!(node.interest(&mut controller, name(0, 5), DOWN, UP), Admission::Pass);
}

/// An Interest that comes meanwhile does not overtake those that wait.
#[test]
fn an_interest_that_comes_later_waits_for_those_before_it() {
    let (mut node, mut controller) = node(&Params::default());
    fill(&mut node, &mut controller, [80, 0, 0]);
    let begun = node.now;
    for segment in 0..2 {
        node.interest(&mut controller, name(0, segment), DOWN, UP);
    }
    node.link(DOWN).backlog.packets = 10;
    assert_eq!(node.interest(&mut controller, name(0, 2), DOWN, UP), Admission::Hold(InterestQueueId(0)));
    node.run(&mut controller, begun);
    assert_eq!(released(&node, begun), [(0, 1), (0, 2)]);
}

#[test]
fn a_full_line_drops_and_endpoints_of_the_node_pass() {
    let (mut node, mut controller) = node(&Params { queue_limit: 3, ..Params::default() });
    fill(&mut node, &mut controller, [80, 0, 0]);
    let admissions: Vec<Admission> =
        (0..5).map(|segment| node.interest(&mut controller, name(0, segment), DOWN, UP)).collect();
    let queued = Admission::Hold(InterestQueueId(0));
    assert_eq!(admissions, [Admission::Pass, queued, queued, queued, Admission::Drop]);
    assert_eq!(node.interest(&mut controller, name(0, 9), HERE, UP), Admission::Pass);
}

/// With w = 1 the mean is the queue: none of 24 packets' Data are marked, all of 75's, and of 50's with p = 0.1·(0.5 −
/// 0.25)/0.5 = 0.05, spread evenly over the next 20, one in ten.
#[test]
fn data_are_marked_at_random_by_the_mean_queue() {
    let (mut node, mut controller) = node(&Params { weight: 1.0, ..Params::default() });
    let mut marks = |node: &mut LinkBench, waiting, count: u64| {
        node.link(DOWN).backlog.packets = waiting;
        (0..count).filter(|i| node.data(&mut controller, name(0, *i), UP, DOWN).ecn == Ecn::Marked).count()
    };
    assert_eq!(marks(&mut node, 24, 1000), 0);
    assert_eq!(marks(&mut node, 75, 1000), 1000);
    let some = marks(&mut node, 50, 10_000);
    assert!((900..=1100).contains(&some), "{some}");
}

/// The mean moves by 0.002 of the difference. After n Data at a full queue it is 1 − 0.998ⁿ, which is 0.25 and more
/// from n = 144 on.
#[test]
fn a_burst_is_not_marked() {
    let (mut node, mut controller) = node(&Params { max_p: 1.0, ..Params::default() });
    node.link(DOWN).backlog.packets = 100;
    let first = (0..).find(|i| node.data(&mut controller, name(0, *i), UP, DOWN).ecn == Ecn::Marked);
    assert!(first.is_some_and(|first| (144..300).contains(&first)), "{first:?}");
}

#[test]
fn data_of_who_does_not_hear_marks_stay_unmarked() {
    let (mut node, mut controller) = node(&Params { weight: 1.0, ..Params::default() });
    node.link(DOWN).backlog.packets = 100;
    let mut deaf = data(name(0, 0));
    deaf.ecn = Ecn::NotCapable;
    node.enqueue(&mut controller, &mut deaf, DOWN);
    assert_eq!(deaf.ecn, Ecn::NotCapable);
}

fn marked(bench: &mut Bench, controller: &mut Control, first: bool) -> f64 {
    let event =
        Congestion { cause: Cause::Mark, bytes: SEGMENT, in_flight: controller.allowance().window, first };
    controller.on_congestion(&event, &mut bench.cx());
    let mut ack = bench.an_ack(controller);
    ack.marked = true;
    bench.deliver_ack(controller, &ack);
    controller.window().0
}

/// [MA24 Table 1]: AIMD.
#[test]
fn a_consumer_halves_once_a_window_and_grows_by_one() {
    let (mut bench, mut controller) = (Bench::new(), control(&Params::default(), &setup(10)));
    (0..6).for_each(|_| bench.ack(&mut controller));
    assert_eq!(controller.window().0, 16.0, "slow start");
    assert_eq!(marked(&mut bench, &mut controller, true), 8.0);
    assert_eq!(marked(&mut bench, &mut controller, false), 8.0);
    bench.ack(&mut controller);
    assert_eq!(controller.window().0, 8.125);
    bench.congestion(&mut controller, Cause::Timeout);
    assert_eq!(controller.window().0, 4.0625);
    (0..9).for_each(|_| {
        marked(&mut bench, &mut controller, true);
    });
    assert_eq!(controller.window().0, 1.0);
}
