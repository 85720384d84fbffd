//! One test per rule of the reconstruction. Links take 10 Mbit/s, Data have 1000 bytes: an Interest leaves every 0.8
//! ms.

use contract::{
    Admission, Cause, Congestion, CongestionControl, Ecn, FaceId, InterestQueueId, Label, LinkAlgorithm,
    NackReason, Name, NameId,
};
use units::{Duration, Rate, Time};

use super::{Control, Levels, Params, control, link};
use crate::shared::forwarders::{LinkBench, Outcome, faces};
use crate::shared::testing::{Bench, SEGMENT, setup};

const UP: FaceId = FaceId(0);
const DOWN: FaceId = FaceId(1);

fn name(segment: u64) -> Name {
    Name { prefix: NameId(1), segment }
}

fn node(params: &Params) -> (LinkBench, Levels) {
    (LinkBench::new(faces(2, Rate::from_mbps(10), 1)), link(params, &setup(1)))
}

/// So many Interests come at once; the level that the Data of each brings.
fn levels(params: &Params, count: u64) -> Vec<u64> {
    let (mut node, mut controller) = node(params);
    for segment in 0..count {
        node.interest(&mut controller, name(segment), DOWN, UP);
    }
    node.run(&mut controller, node.now + Duration::from_millis(count));
    (0..count).map(|segment| node.data(&mut controller, name(segment), UP, DOWN).label.0[0]).collect()
}

/// Four Interests come at once: the first goes, the others 0.8 ms apart.
#[test]
fn interests_leave_at_the_rate_of_their_data() {
    let (mut node, mut controller) = node(&Params::default());
    let begun = node.now;
    let admissions: Vec<Admission> =
        (0..4).map(|segment| node.interest(&mut controller, name(segment), DOWN, UP)).collect();
    let queued = Admission::Hold(InterestQueueId(0));
    assert_eq!(admissions, [Admission::Pass, queued, queued, queued]);
    node.run(&mut controller, begun + Duration::from_millis(3));
    let at = |micros| begun + Duration::from_micros(micros);
    let gone = [(800, 1), (1600, 2), (2400, 3)].map(|(t, segment)| Outcome::Released(at(t), name(segment)));
    assert_eq!(node.outcomes, gone);
    assert_eq!(controller.wake(), Time::NEVER);
}

/// With a gain of 1 the mean is the queue. Interest n of a burst meets n − 1 that wait: from the 22nd on 20 of 100,
/// busy; from the 62nd on 60, congested.
#[test]
fn levels_begin_at_a_fifth_and_three_fifths_of_the_queue() {
    let found = levels(&Params { weight: 1.0, ..Params::default() }, 80);
    let expected: Vec<u64> = (1..=80).map(|n| u64::from(n >= 22) + u64::from(n >= 62)).collect();
    assert_eq!(found, expected);
}

/// avg ← 0.8·avg + 0.2·q lags behind a queue that grows by one per Interest by 4·(1 − 0.8ⁿ): it is 20 where the queue
/// is 24, with Interest 26, and 60 with Interest 66.
#[test]
fn the_mean_lags_behind_a_burst() {
    let found = levels(&Params::default(), 80);
    let expected: Vec<u64> = (1..=80).map(|n| u64::from(n >= 26) + u64::from(n >= 66)).collect();
    let wrong: Vec<usize> = (0..80).filter(|n| found[*n] != expected[*n]).collect();
    // the lag is less than 4 by 0.8ⁿ·4, which moves no threshold by more than one Interest
    assert!(wrong.len() <= 2, "{found:?}");
}

/// [REN16]: the worst level of the path comes back, and the worst is a mark.
#[test]
fn levels_combine_by_maximum_along_the_path() {
    for (before, after) in [(0, 1), (1, 1), (2, 2)] {
        let (mut node, mut controller) = node(&Params { weight: 1.0, ..Params::default() });
        for segment in 0..30 {
            node.interest(&mut controller, name(segment), DOWN, UP);
        }
        let seen = node.data_with(&mut controller, name(29), UP, DOWN, |data| data.label.0[0] = before);
        assert_eq!(seen.label.0[0], after);
        assert_eq!(seen.ecn == Ecn::Marked, after == 2);
    }
}

#[test]
fn a_full_queue_refuses() {
    let (mut node, mut controller) = node(&Params { queue_limit: 3, ..Params::default() });
    let admissions: Vec<Admission> =
        (0..6).map(|segment| node.interest(&mut controller, name(segment), DOWN, UP)).collect();
    assert_eq!(admissions[1..4], [Admission::Hold(InterestQueueId(0)); 3]);
    assert_eq!(admissions[4..], [Admission::Refuse(NackReason::Congestion); 2]);
}

fn brings(bench: &mut Bench, controller: &mut Control, level: u64, first: bool) -> f64 {
    if level == 2 {
        let event = Congestion {
            cause: Cause::Mark,
            bytes: SEGMENT,
            in_flight: controller.allowance().window,
            first,
        };
        controller.on_congestion(&event, &mut bench.cx());
    }
    let mut ack = bench.an_ack(controller);
    (ack.label, ack.marked) = (Label([level, 0, 0, 0]), level == 2);
    bench.deliver_ack(controller, &ack);
    controller.window().0
}

/// [MA24 §2.1]: MIAIMD. From 8: free 9, busy 9 + 1/9, congested half of that, once a window.
#[test]
fn a_consumer_takes_its_step_by_the_level() {
    let (mut bench, mut controller) = (Bench::new(), control(&Params::default(), &setup(8)));
    assert_eq!(brings(&mut bench, &mut controller, 0, false), 9.0);
    let busy = brings(&mut bench, &mut controller, 1, false);
    assert!((busy - (9.0 + 1.0 / 9.0)).abs() < 1e-12);
    assert_eq!(brings(&mut bench, &mut controller, 2, true), busy / 2.0);
    assert_eq!(brings(&mut bench, &mut controller, 2, false), busy / 2.0);
    // a round of free Data doubles the window: 4 and a half holds 4
    bench.round(&mut controller);
    assert_eq!(controller.window().0, busy / 2.0 + 4.0);
}

#[test]
fn a_loss_and_a_refusal_halve_and_one_segment_stays() {
    let (mut bench, mut controller) = (Bench::new(), control(&Params::default(), &setup(8)));
    for (cause, window) in
        [(Cause::Refused, 4.0), (Cause::Loss, 2.0), (Cause::Timeout, 1.0), (Cause::Timeout, 1.0)]
    {
        bench.congestion(&mut controller, cause);
        assert_eq!(controller.window().0, window);
    }
}
