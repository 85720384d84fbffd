//! One test per claim of the draft about LEDBAT++.

use contract::{Ack, Cause, CongestionControl};
use units::{Bytes, Duration, Time};

use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

/// A connection whose round trips take this many milliseconds where the queue is empty.
fn controller(base_ms: u64) -> (Bench, Control) {
    let mut bench = Bench::new();
    bench.now = Time::ZERO + Duration::from_secs(1);
    bench.rtt = Duration::from_millis(base_ms);
    (bench, control(&Params::default(), &setup(10)))
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

/// One segment acknowledged, the queue adding this many milliseconds.
fn ack(bench: &mut Bench, controller: &mut Control, queue_ms: u64, round_ended: bool) {
    let rtt = bench.rtt + Duration::from_millis(queue_ms);
    let ack = Ack { rtt: Some(rtt), rtt_smoothed: rtt, round_ended, ..bench.an_ack(controller) };
    bench.deliver_ack(controller, &ack);
}

/// Puts the controller into congestion avoidance with an even window: slow start up to twice that, then a loss.
fn avoiding(bench: &mut Bench, controller: &mut Control, window: f64) {
    while controller.window().0 < 2.0 * window {
        ack(bench, controller, 0, false);
    }
    bench.congestion(controller, Cause::Loss);
    close(controller.window().0, window);
}

/// §4.2: GAIN = 1/min(16, ⌈120/base⌉): 1 at 120 ms and above, 1/2 just below, 1/6 at 20 ms, 1/16 at 7.5 ms and below.
#[test]
fn the_gain_is_that_of_the_base_delay() {
    for (base_us, divisor) in [
        (200_000, 1.0),
        (120_000, 1.0),
        (119_999, 2.0),
        (60_000, 2.0),
        (20_000, 6.0),
        (8_000, 15.0),
        (7_500, 16.0),
        (1_000, 16.0),
    ] {
        let (mut bench, mut controller) = controller(0);
        bench.rtt = Duration::from_micros(base_us);
        ack(&mut bench, &mut controller, 0, false);
        close(controller.gain(), 1.0 / divisor);
    }
}

/// §4.1: from two segments, each segment acknowledged adds GAIN: at 60 ms half a segment, so the window grows by half
/// each round.
#[test]
fn slow_start_grows_by_the_gain() {
    let (mut bench, mut controller) = controller(60);
    assert_eq!(controller.allowance().window, SEGMENT * 2);
    for window in [2.5, 3.0, 3.5, 4.0] {
        ack(&mut bench, &mut controller, 0, false);
        close(controller.window().0, window);
    }
    assert_eq!(controller.ssthresh(), Bytes::UNLIMITED);
}

/// §4.1: 45 ms are 3/4 of the target: at that it goes on, above it the first slow start is over, with the window as it
/// is.
#[test]
fn the_first_slow_start_ends_above_three_quarters_of_the_target() {
    let (mut bench, mut controller) = controller(120);
    ack(&mut bench, &mut controller, 0, false);
    for _ in 0..4 {
        ack(&mut bench, &mut controller, 45, false);
    }
    close(controller.window().0, 7.0);
    // the filter says 45 until four of 46 have come
    for window in [8.0, 9.0, 10.0, 10.0] {
        ack(&mut bench, &mut controller, 46, false);
        close(controller.window().0, window);
    }
    assert_eq!(controller.ssthresh(), SEGMENT * 10);
    // two round trips of 166 ms later
    assert_eq!(controller.next_slowdown(), bench.now + Duration::from_millis(332));
}

/// §4.2: below the target Reno's step, times GAIN, which is 1/4 at 30 ms; acknowledgements of two segments count for
/// two.
#[test]
fn below_the_target_it_grows_as_a_slow_reno() {
    let (mut bench, mut controller) = controller(30);
    avoiding(&mut bench, &mut controller, 8.0);
    ack(&mut bench, &mut controller, 0, false);
    close(controller.window().0, 8.0 + 0.25 / 8.0);
    let before = controller.window().0;
    let two = Ack { bytes: SEGMENT * 2, ..bench.an_ack(&controller) };
    bench.deliver_ack(&mut controller, &two);
    close(controller.window().0, before + 2.0 * 0.25 / before);
}

/// §4.3: 10 % above the target: W += 1 − 1·10·0.1, no change at 10; 50 % above: −4 at 10; far above: half; never below
/// two segments. Once per round trip.
#[test]
fn above_the_target_the_window_falls_in_proportion_but_by_half_at_most() {
    let falling = |window| {
        let (mut bench, _) = controller(120);
        // no slowdown in this test
        let params = Params { first_wait: 1000.0, ..Params::default() };
        let mut controller = control(&params, &setup(10));
        avoiding(&mut bench, &mut controller, window);
        (bench, controller)
    };
    for (queue_ms, window) in [(66, 10.0), (90, 6.0), (600, 5.0)] {
        let (mut bench, mut controller) = falling(10.0);
        // what came before is older than a round trip, and no round has ended
        bench.now += Duration::from_millis(800);
        for _ in 0..4 {
            ack(&mut bench, &mut controller, queue_ms, false);
            close(controller.window().0, 10.0);
        }
        ack(&mut bench, &mut controller, queue_ms, true);
        close(controller.window().0, window);
    }
    let (mut bench, mut controller) = falling(2.0);
    bench.now += Duration::from_millis(800);
    for _ in 0..4 {
        ack(&mut bench, &mut controller, 600, true);
    }
    close(controller.window().0, 2.0);
}

/// §4.4: two round trips after slow start, two segments for two round trips, slow start to where it was, and the next
/// after nine times what all that took.
#[test]
fn slowdowns_come_after_nine_times_what_the_last_one_took() {
    let (mut bench, mut controller) = controller(120);
    avoiding(&mut bench, &mut controller, 8.0);
    let first = controller.next_slowdown();
    assert_eq!(first, bench.now + Duration::from_millis(240));
    bench.now = first - Duration::from_nanos(1);
    ack(&mut bench, &mut controller, 0, false);
    let full = controller.window().0;
    bench.now = first;
    ack(&mut bench, &mut controller, 0, false);
    close(controller.window().0, 2.0);
    assert_eq!(controller.ssthresh(), Bytes::new((full * 1000.0) as u64));
    // held at two, whatever comes
    bench.now += Duration::from_millis(239);
    ack(&mut bench, &mut controller, 0, true);
    close(controller.window().0, 2.0);
    // then up by a segment each
    bench.now = first + Duration::from_millis(240);
    for _ in 0..6 {
        bench.now += Duration::from_millis(10);
        ack(&mut bench, &mut controller, 0, false);
    }
    close(controller.window().0, 8.0);
    bench.now += Duration::from_millis(10);
    ack(&mut bench, &mut controller, 0, false);
    close(controller.window().0, full);
    // 240 + 70 ms, and nine times that
    assert_eq!(bench.now, first + Duration::from_millis(310));
    assert_eq!(controller.next_slowdown(), bench.now + Duration::from_millis(2790));
}

/// §4.1: a queue does not end the slow start that follows a slowdown.
#[test]
fn later_slow_starts_end_where_they_were() {
    let (mut bench, mut controller) = controller(120);
    avoiding(&mut bench, &mut controller, 8.0);
    bench.now = controller.next_slowdown();
    ack(&mut bench, &mut controller, 0, false);
    bench.now += Duration::from_millis(400);
    for window in 3..=8 {
        bench.now += Duration::from_millis(200);
        ack(&mut bench, &mut controller, 59, false);
        close(controller.window().0, f64::from(window));
    }
}

/// RFC 6817 §2.4.2, which the draft keeps: half after a loss. In a slowdown what is lost left before it, and it is the
/// goal that is halved.
#[test]
fn a_loss_halves_the_window_or_the_goal_of_a_slowdown() {
    let (mut bench, mut controller) = controller(120);
    avoiding(&mut bench, &mut controller, 16.0);
    bench.congestion(&mut controller, Cause::Loss);
    close(controller.window().0, 8.0);
    bench.now = controller.next_slowdown();
    ack(&mut bench, &mut controller, 0, false);
    bench.congestion(&mut controller, Cause::Loss);
    close(controller.window().0, 2.0);
    assert_eq!(controller.ssthresh(), SEGMENT * 4);
    bench.now += Duration::from_millis(300);
    for window in [3.0, 4.0] {
        ack(&mut bench, &mut controller, 0, false);
        close(controller.window().0, window);
    }
    assert!(controller.next_slowdown() != Time::NEVER);
}

/// RFC 5681 §3.1: one segment, and slow start up to half of the window before.
#[test]
fn a_timeout_leaves_one_segment() {
    let (mut bench, mut controller) = controller(120);
    avoiding(&mut bench, &mut controller, 8.0);
    bench.congestion(&mut controller, Cause::Timeout);
    close(controller.window().0, 1.0);
    for window in [2.0, 3.0, 4.0, 4.25] {
        ack(&mut bench, &mut controller, 0, false);
        close(controller.window().0, window);
    }
}

/// What we add: a window that was not filled does not grow, nor one whose losses are being repaired.
#[test]
fn a_window_that_is_not_filled_stands_still() {
    let (mut bench, mut controller) = controller(120);
    let before = controller.allowance();
    for (app_limited, recovering) in [(true, false), (false, true)] {
        let ack = Ack { app_limited, recovering, ..bench.an_ack(&controller) };
        bench.deliver_ack(&mut controller, &ack);
        assert_eq!(controller.allowance(), before);
    }
}
