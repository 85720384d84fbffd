//! Tests of `variant = "linux"` and `hystart`, with numbers computed by hand.

use contract::{Ack, Cause, CongestionControl, ParamTable, ParamValue};
use units::Duration;

use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn controller(initial: u64, words: &[(&str, ParamValue)]) -> (Bench, Control) {
    let list: Vec<_> = words.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    (Bench::new(), control(&Params::with(&list).expect("they are parameters"), &setup(initial)))
}

fn linux(initial: u64) -> (Bench, Control) {
    controller(
        initial,
        &[("variant", "linux".into()), ("beta", (717.0 / 1024.0).into()), ("c", (410.0 / 1024.0).into())],
    )
}

/// In slow start until the window is `window`, then a loss.
fn after_a_loss(initial: u64) -> (Bench, Control) {
    let (mut bench, mut controller) = linux(initial);
    bench.congestion(&mut controller, Cause::Loss);
    (bench, controller)
}

/// Two segments at once, as a delayed acknowledgement does.
fn pair(bench: &Bench, controller: &Control) -> Ack {
    Ack { bytes: SEGMENT * 2, packets: 2, ..bench.an_ack(controller) }
}

fn window(controller: &Control) -> f64 {
    controller.window().0
}

/// Slow start counts segments: a delayed acknowledgement adds two.
#[test]
fn slow_start_adds_what_is_acknowledged() {
    let (mut bench, mut cubic) = linux(10);
    let ack = pair(&bench, &cubic);
    bench.deliver_ack(&mut cubic, &ack);
    assert_eq!(window(&cubic), 12.0);
}

/// 717/1024 of the window, in whole segments: 100 becomes 70, 33 becomes 23 (23.1).
#[test]
fn the_cut_is_of_the_window_and_whole() {
    for (before, after) in [(100, 70.0), (33, 23.0), (10, 7.0), (2, 2.0)] {
        let (_, cubic) = after_a_loss(before);
        assert_eq!(window(&cubic), after, "{before}");
    }
}

/// The cut is of the window even where less is in flight, unlike [RFC9438 §4.6].
#[test]
fn what_is_in_flight_does_not_count() {
    let (mut bench, mut cubic) = linux(100);
    let event =
        contract::Congestion { cause: Cause::Loss, bytes: SEGMENT, in_flight: SEGMENT * 20, first: true };
    cubic.on_congestion(&event, &mut bench.cx());
    assert_eq!(window(&cubic), 70.0);
}

/// 100 → 70. K = ∛(30/0.4004) = 4.2155 s. Just after the cut with a minimum round trip of 100 ms, t − K = −4.1155 and
/// the cubic is 27.9 below the plateau, of which 27 count: the target is 73 and 70/3 = 23 segments acknowledged make
/// one more.
#[test]
fn so_many_acknowledged_make_one_more() {
    let (mut bench, mut cubic) = linux(99);
    // a sample of the round-trip time; it adds the hundredth
    bench.ack(&mut cubic);
    bench.congestion(&mut cubic, Cause::Loss);
    for n in 0..22 {
        bench.ack(&mut cubic);
        assert_eq!(window(&cubic), 70.0, "{n}");
    }
    bench.ack(&mut cubic);
    assert_eq!(window(&cubic), 71.0);
}

/// Delayed acknowledgements cost no growth: half as many of two segments each do the same.
#[test]
fn pairs_count_twice() {
    let (mut bench, mut cubic) = linux(99);
    bench.ack(&mut cubic);
    bench.congestion(&mut cubic, Cause::Loss);
    for _ in 0..11 {
        let ack = pair(&bench, &cubic);
        bench.deliver_ack(&mut cubic, &ack);
    }
    assert_eq!(window(&cubic), 70.0);
    let ack = pair(&bench, &cubic);
    bench.deliver_ack(&mut cubic, &ack);
    assert_eq!(window(&cubic), 71.0);
}

/// Two acknowledged for one at most, so half as much again each round [RFC9438 §4.2].
#[test]
fn far_below_the_cubic_it_grows_by_half_each_round() {
    let (mut bench, mut cubic) = after_a_loss(100);
    bench.ack(&mut cubic);
    bench.now += Duration::from_secs(60);
    let before = window(&cubic);
    for _ in 0..70 {
        bench.ack(&mut cubic);
    }
    assert_eq!(window(&cubic), before + 35.0);
}

/// Before the first loss and after a timeout a twentieth each round at least.
#[test]
fn where_nothing_was_lost_it_grows_by_a_twentieth() {
    let (mut bench, mut cubic) = linux(100);
    bench.congestion(&mut cubic, Cause::Timeout);
    // slow start from 1 to the threshold of 70
    for _ in 0..69 {
        bench.ack(&mut cubic);
    }
    assert_eq!(window(&cubic), 70.0);
    for _ in 0..20 {
        bench.ack(&mut cubic);
    }
    assert_eq!(window(&cubic), 71.0);
}

/// On short paths Reno's window leads: α = 8/15 of a segment a round, at β = 717/1024.
#[test]
fn on_short_paths_it_follows_reno() {
    let (mut bench, mut cubic) = linux(10);
    bench.rtt = Duration::from_millis(2);
    bench.ack(&mut cubic);
    bench.congestion(&mut cubic, Cause::Loss);
    assert_eq!(window(&cubic), 7.0);
    let mut rounds = 0;
    while window(&cubic) < 12.0 {
        bench.round(&mut cubic);
        rounds += 1;
    }
    // a segment in the first round; then nothing is computed for 31.25 ms or 16 rounds, in which W_est comes to 7 +
    // 16·8/15 = 15; then two acknowledged make one more: four in a round of eight
    assert_eq!(rounds, 18);
    // K alone would be ∛(4/0.4) = 2.2 s or a thousand rounds
    assert!(bench.now < units::Time::ZERO + Duration::from_millis(100));
}

/// The growing delay ends slow start: with 100 ms an eighth is 12.5 ms, and nine samples of a round are above that.
#[test]
fn a_growing_delay_ends_slow_start() {
    let (mut bench, mut cubic) = controller(20, &[("hystart", "linux".into())]);
    bench.ack(&mut cubic);
    // spaced, so that there are no trains
    let give = |bench: &mut Bench, cubic: &mut Control, rtt_ms: u64, round_ended: bool| {
        bench.now += Duration::from_millis(5);
        bench.rtt = Duration::from_millis(rtt_ms);
        let ack = Ack { round_ended, ..bench.an_ack(cubic) };
        bench.deliver_ack(cubic, &ack);
    };
    give(&mut bench, &mut cubic, 112, true);
    for _ in 0..20 {
        give(&mut bench, &mut cubic, 112, false);
    }
    assert!(cubic.in_slow_start(), "12 ms are less than an eighth");
    give(&mut bench, &mut cubic, 113, true);
    for _ in 0..7 {
        give(&mut bench, &mut cubic, 113, false);
    }
    assert!(cubic.in_slow_start(), "eight samples");
    let before = window(&cubic);
    give(&mut bench, &mut cubic, 113, false);
    assert!(!cubic.in_slow_start());
    assert_eq!(cubic.ssthresh(), SEGMENT * before as u64);
}

/// Below 16 segments nothing is looked for.
#[test]
fn small_windows_are_left_to_slow_start() {
    let (mut bench, mut cubic) = controller(2, &[("hystart", "linux".into())]);
    bench.ack(&mut cubic);
    bench.rtt = Duration::from_millis(200);
    for _ in 0..12 {
        bench.now += Duration::from_millis(5);
        bench.ack(&mut cubic);
    }
    assert!(cubic.in_slow_start());
}

/// A train of acknowledgements 1 ms apart that is longer than (100 + 1)/2 ms ends it too; with gaps of 3 ms they form
/// no train.
#[test]
fn a_train_of_half_a_round_trip_ends_slow_start() {
    for (gap, ended) in [(1, true), (3, false)] {
        let (mut bench, mut cubic) = controller(100, &[("hystart", "linux".into())]);
        for n in 0..60 {
            bench.now += Duration::from_millis(gap);
            let ack = Ack { round_ended: n == 0, ..bench.an_ack(&cubic) };
            bench.deliver_ack(&mut cubic, &ack);
            if n <= 50 {
                assert!(cubic.in_slow_start(), "{n}");
            }
        }
        assert_eq!(!cubic.in_slow_start(), ended, "gap of {gap} ms");
    }
}

/// RFC 9406 §4.2: five rounds at a quarter of the growth, then congestion avoidance.
#[test]
fn hystart_plus_slows_down_for_five_rounds() {
    let (mut bench, mut cubic) = controller(10, &[("hystart", "plus".into())]);
    let round = |bench: &mut Bench, cubic: &mut Control, rtt_ms: u64| {
        bench.rtt = Duration::from_millis(rtt_ms);
        for n in 0..10 {
            let ack = Ack { round_ended: n == 0, ..bench.an_ack(cubic) };
            bench.deliver_ack(cubic, &ack);
        }
        window(cubic)
    };
    assert_eq!(round(&mut bench, &mut cubic, 100), 20.0);
    // seven samples are not enough; from the eighth on a quarter
    assert_eq!(round(&mut bench, &mut cubic, 113), 20.0 + 7.0 + 0.75);
    for n in 1..5 {
        assert_eq!(round(&mut bench, &mut cubic, 113), 27.75 + 2.5 * f64::from(n));
        assert!(cubic.in_slow_start());
    }
    round(&mut bench, &mut cubic, 113);
    assert!(!cubic.in_slow_start());
    assert_eq!(cubic.ssthresh(), units::Bytes::new(37_750));
}

/// RFC 9406 §4.2: a delay that falls below the one that alarmed calls it off.
#[test]
fn hystart_plus_goes_on_when_the_delay_falls() {
    let (mut bench, mut cubic) = controller(10, &[("hystart", "plus".into())]);
    for rtt_ms in [100, 113, 112, 112] {
        bench.rtt = Duration::from_millis(rtt_ms);
        for n in 0..10 {
            let ack = Ack { round_ended: n == 0, ..bench.an_ack(&cubic) };
            bench.deliver_ack(&mut cubic, &ack);
        }
    }
    // 10, +10, +7 + 3/4, then a quarter for seven acknowledgements until the eighth sample shows the lower delay, then
    // all
    assert_eq!(window(&cubic), 10.0 + 10.0 + 7.75 + 7.0 / 4.0 + 3.0 + 10.0);
}
