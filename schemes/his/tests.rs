//! One test per claim about HIS. Interests have 40 bytes and Data 1000 where rates are computed by hand: r₁ = r₂ = 25.

use contract::{
    Admission, Cause, Congestion, CongestionControl, FaceId, InterestQueueId, InterestQueueView, NackReason,
    Name, NameId, Random,
};
use units::{Bytes, Duration, Rate, Time};

use super::drops::{Codel, Pie};
use super::share::LinkRates;
use super::{Consumer, NackReaction, Params, Queue, Shaper, control, link};
use crate::shared::forwarders::{LinkBench, Outcome, faces, interest};
use crate::shared::testing::{Bench, SEGMENT, setup};

const UP: FaceId = FaceId(0);
const DOWN: FaceId = FaceId(1);

fn both(c1: f64, c2: f64) -> LinkRates {
    LinkRates { c1, c2, i_out: 40.0, i_in: 40.0, d_out: 1000.0, d_in: 1000.0 }
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

fn name(segment: u64) -> Name {
    Name { prefix: NameId(1), segment }
}

/// [WRNOR13]: 10 Mbit/s both ways: s_max = 10⁷/25; s_min = exp = (25·10⁷ − 10⁷)/(25·25 − 1) = 24·10⁷/624.
#[test]
fn equal_directions_share_alike() {
    let allowed = both(1e7, 1e7).allowed();
    close(allowed.max, 4e5);
    close(allowed.min, 24e7 / 624.0);
    close(allowed.expected, 24e7 / 624.0);
}

/// [WRNOR13]: 1 Mbit/s out, 50 in: 1/50 is below 2·25/626, so half of the outward direction is for Interests: 5·10⁵;
/// exp = 10⁶/50. Turned round, 50 is above 626/50: s_min = 10⁶/50, exp = 5·10⁵.
#[test]
fn a_tight_direction_is_halved() {
    let out = both(1e6, 5e7).allowed();
    close(out.min, 5e5);
    close(out.expected, 2e4);
    close(out.max, 2e6);
    let inward = both(5e7, 1e6).allowed();
    close(inward.min, 2e4);
    close(inward.expected, 5e5);
    close(inward.max, 4e4);
}

/// [WRNOR13]: nothing observed: s_max; half of the expected rate: s_min + (s_max − s_min)/4; all of it, with headroom:
/// s_min.
#[test]
fn the_rate_falls_with_the_square_of_what_the_other_side_leaves() {
    let both = both(1e7, 1e7);
    let min = 24e7 / 624.0;
    close(both.rate(0.0, 0.98), 4e5);
    close(both.rate(0.98 * min / 2.0, 0.98), min + (4e5 - min) / 4.0);
    close(both.rate(0.98 * min, 0.98), min);
    close(both.rate(1e9, 0.98), min);
}

/// At the edge of the two forms they give the same.
#[test]
fn the_forms_meet() {
    for ratio in [50.0 / 626.0, 626.0 / 50.0] {
        let (below, above) =
            (both(1e7 * ratio * 0.999_999, 1e7).allowed(), both(1e7 * ratio * 1.000_001, 1e7).allowed());
        assert!((below.min / above.min - 1.0).abs() < 1e-4);
        assert!((below.expected / above.expected - 1.0).abs() < 1e-4);
    }
}

fn shaper(params: &Params) -> (LinkBench, Shaper) {
    let mut node = LinkBench::new(faces(2, Rate::from_mbps(10), 1));
    let mut controller = link(params, &setup(1));
    contract::LinkAlgorithm::on_start(&mut controller, &mut node);
    (node, controller)
}

/// [CCNEW]: gap = size·8/(h·s). Interests of 50 bytes take the mean from 40 to 41.25: r₁ = 1000/41.25, s_max = 412 500
/// bit/s, and 400/(0.98·412 500) s = 989.49 µs.
#[test]
fn interests_leave_a_gap_apart() {
    let (mut node, mut controller) = shaper(&Params::default());
    let begun = node.now;
    assert_eq!(node.interest(&mut controller, name(0), DOWN, UP), Admission::Pass);
    assert_eq!(node.interest(&mut controller, name(1), DOWN, UP), Admission::Hold(InterestQueueId(0)));
    node.run(&mut controller, begun + Duration::from_millis(5));
    let gap = Duration::from_secs_f64(400.0 / (0.98 * 412_500.0));
    assert_eq!(node.outcomes, [Outcome::Released(begun + gap, name(1))]);
    // after it nothing waits, and the next one goes at once
    assert_eq!(node.interest(&mut controller, name(2), DOWN, UP), Admission::Pass);
    // the other direction has a shaper of its own
    assert_eq!(node.interest(&mut controller, name(3), UP, DOWN), Admission::Pass);
}

/// [CCNEW]: 100 wait; what comes then is refused, or dropped where there are no NACKs.
#[test]
fn a_full_line_refuses() {
    for (nacks, full) in [(true, Admission::Refuse(NackReason::Congestion)), (false, Admission::Drop)] {
        let (mut node, mut controller) = shaper(&Params { nacks, ..Params::default() });
        let admitted: Vec<Admission> =
            (0..102).map(|segment| node.interest(&mut controller, name(segment), DOWN, UP)).collect();
        assert_eq!(admitted[0], Admission::Pass);
        assert!(admitted[1..101].iter().all(|admission| *admission == Admission::Hold(InterestQueueId(0))));
        assert_eq!(admitted[101], full);
    }
}

/// [CCNEW]: 120 Interests of 50 bytes within 100 ms and the one that ends the interval: 121·400/0.1 = 484 kbit/s; all
/// that is expected is asked for, and s = s_min. An interval later, with nothing asked for, s = s_max again.
#[test]
fn what_the_other_side_asks_for_is_measured() {
    let (mut node, mut controller) = shaper(&Params { size_gain: 1.0, ..Params::default() });
    let quiet = controller.rate(UP, &mut node);
    let max = 1e7 * 40.0 / 1000.0;
    close(quiet, max);
    for segment in 0..120 {
        contract::LinkAlgorithm::on_interest_in(&mut controller, &interest(name(segment), 1), UP, &mut node);
    }
    node.now += Duration::from_millis(100);
    contract::LinkAlgorithm::on_interest_in(&mut controller, &interest(name(120), 1), UP, &mut node);
    // i_in is 50 now, i_out still 40: r₁ = 25, r₂ = 20: (20·10⁷ − 10⁷)/(25·20 − 1)
    close(controller.rate(UP, &mut node), 19e7 / 499.0);
    node.now += Duration::from_millis(100);
    close(controller.rate(UP, &mut node), max);
}

fn interest_queue(packets: u32, since: Time) -> InterestQueueView {
    InterestQueueView {
        packets,
        bytes: Bytes::new(50) * u64::from(packets),
        since: Some(since),
        first: Bytes::new(50),
    }
}

/// [RFC8289 §4.4, §4.2]: above 20 ms from 0 on: the first at 100 ms, then 100, 100/√2, 100/√3 ms later each.
#[test]
fn codel_refuses_the_first_of_a_standing_line() {
    let params = Params { queue: Queue::Codel, ..Params::default() };
    let mut codel = Codel::default();
    let begun = Time::ZERO + Duration::from_secs(1);
    let refused: Vec<u64> = (0..400)
        .filter(|millis| {
            let now = begun + Duration::from_millis(*millis);
            codel.refuses(&interest_queue(50, now - Duration::from_millis(30)), now, &params)
        })
        .collect();
    // 100, 200, 200 + 70.7, + 57.7, + 50
    assert_eq!(refused, [100, 200, 271, 329, 379]);
    let now = begun + Duration::from_millis(500);
    assert!(
        !codel.refuses(&interest_queue(50, now - Duration::from_millis(10)), now, &params),
        "below the target"
    );
    assert!(
        !codel.refuses(&interest_queue(1, now - Duration::from_millis(90)), now, &params),
        "the last one goes"
    );
}

/// [RFC8033 §4.2]: nothing for 100 ms; then with a wait of 60 ms for good p grows by 0.125·0.04 + 0 per 30 ms, scaled
/// while it is small, beginning with 1.25·0.06 for the change.
#[test]
fn pie_refuses_the_more_the_longer_the_line_stands() {
    let params = Params { queue: Queue::Pie, ..Params::default() };
    let mut random = Random::new(1, "pie", "");
    let begun = Time::ZERO + Duration::from_secs(1);
    let mut pie = Pie::default();
    let mut at = |pie: &mut Pie, millis: u64| {
        let now = begun + Duration::from_millis(millis);
        let refused =
            pie.refuses(&interest_queue(50, now - Duration::from_millis(60)), now, &params, &mut random);
        (pie.probability, refused)
    };
    assert_eq!(at(&mut pie, 0), (0.0, false));
    // (0.125·0.04 + 1.25·0.06)/2048
    close(at(&mut pie, 30).0, 0.08 / 2048.0);
    // + 0.005/128 twice: 3.9·10⁻⁵ is above 10⁻⁵ and below 10⁻⁴
    close(at(&mut pie, 60).0, 0.08 / 2048.0 + 0.005 / 128.0);
    let late = (0..30_000).filter(|step| at(&mut pie, 100 + step).1).count();
    // p rises to 1 within the 30 s
    assert_eq!(at(&mut pie, 30_100).0, 1.0);
    assert!(late > 10_000, "{late}");
    // an empty line lets it fall
    let now = begun + Duration::from_secs(40);
    assert!(!pie.refuses(&InterestQueueView::default(), now, &params, &mut random));
    assert!(pie.probability < 1.0);
}

fn consumer(nack_reaction: NackReaction, initial: u64) -> (Bench, Consumer) {
    (Bench::new(), control(&Params { consumer: nack_reaction, ..Params::default() }, &setup(initial)))
}

/// [CCNEW]: slow start from 2; 8 in flight: ssthresh = W = 4; then +1/4, and so on. At least 2.
#[test]
fn a_refusal_halves_what_is_in_flight() {
    let (mut bench, mut controller) = consumer(NackReaction::Aimd, 2);
    (0..6).for_each(|_| bench.ack(&mut controller));
    close(controller.window().0, 8.0);
    bench.congestion(&mut controller, Cause::Refused);
    close(controller.window().0, 4.0);
    assert_eq!(controller.ssthresh(), SEGMENT * 4);
    bench.ack(&mut controller);
    close(controller.window().0, 4.25);
    let more = Congestion { cause: Cause::Refused, bytes: SEGMENT, in_flight: SEGMENT * 4, first: false };
    controller.on_congestion(&more, &mut bench.cx());
    close(controller.window().0, 4.25);
    for cause in [Cause::Timeout, Cause::Loss, Cause::Refused] {
        bench.congestion(&mut controller, cause);
    }
    close(controller.window().0, 2.0);
}

/// [CCNEW]: one less with each refusal, and no more slow start.
#[test]
fn a_relentless_consumer_takes_off_what_was_refused() {
    let (mut bench, mut controller) = consumer(NackReaction::Relentless, 8);
    for first in [true, false, false] {
        let event = Congestion { cause: Cause::Refused, bytes: SEGMENT, in_flight: SEGMENT * 8, first };
        controller.on_congestion(&event, &mut bench.cx());
    }
    close(controller.window().0, 5.0);
    bench.ack(&mut controller);
    close(controller.window().0, 5.2);
    let (mut bench, mut controller) = consumer(NackReaction::Relentless, 1);
    bench.congestion(&mut controller, Cause::Refused);
    close(controller.window().0, 1.0);
}
