//! One test per claim of RFC 6817 about the sender.

use contract::{Ack, Cause, Congestion, CongestionControl};
use units::{Bytes, Duration, Time};

use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn ledbat() -> (Bench, Control) {
    (Bench::new(), control(&Params::default(), &setup(10)))
}

/// With a window of this many segments.
fn at_window(segments: f64) -> (Bench, Control) {
    (Bench::new(), control(&Params { init_cwnd: segments, ..Params::default() }, &setup(10)))
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

/// An acknowledgement of one segment with this one-way delay in milliseconds.
fn ack(bench: &Bench, controller: &Control, delay_ms: u64) -> Ack {
    let sent_at = bench.now;
    let ack_sent_at = sent_at + Duration::from_millis(delay_ms);
    Ack { sent_at, ack_sent_at, ..bench.an_ack(controller) }
}

fn deliver_ack(bench: &mut Bench, controller: &mut Control, delay_ms: u64) {
    let ack = ack(bench, controller, delay_ms);
    bench.deliver_ack(controller, &ack);
}

/// Four alike, so that the filter says the same.
fn settle(bench: &mut Bench, controller: &mut Control, delay_ms: u64) {
    for _ in 0..4 {
        deliver_ack(bench, controller, delay_ms);
    }
}

/// §2.5: INIT_CWND is 2, whatever TCP's initial window.
#[test]
fn it_begins_with_two_segments() {
    let (_, controller) = ledbat();
    assert_eq!(controller.allowance().window, SEGMENT * 2);
}

/// §2.4.2: off_target is 1 where the queue is empty, so a segment acknowledged adds 1/W; at a quarter of the target it
/// is 0.75, at the target 0, at twice the target −1.
#[test]
fn the_step_is_the_distance_to_the_target() {
    for (delay_ms, step) in [(20, 1.0), (45, 0.75), (120, 0.0), (220, -1.0), (270, -1.5)] {
        let (mut bench, mut controller) = at_window(8.0);
        deliver_ack(&mut bench, &mut controller, 20);
        for _ in 0..3 {
            deliver_ack(&mut bench, &mut controller, delay_ms);
        }
        let before = controller.window().0;
        // the fifth: the 20 has left the filter
        deliver_ack(&mut bench, &mut controller, delay_ms);
        close(controller.window().0, before + step / before);
        let queue = Duration::from_millis(delay_ms - 20);
        assert_eq!(controller.queue_delay(), queue);
    }
}

/// §2.4.2: GAIN scales the step, and an acknowledgement of two segments counts for two.
#[test]
fn gain_and_bytes_scale_the_step() {
    let params = Params { gain: 0.5, init_cwnd: 8.0, ..Params::default() };
    let (mut bench, mut controller) = (Bench::new(), control(&params, &setup(10)));
    let mut two = ack(&bench, &controller, 20);
    two.bytes = SEGMENT * 2;
    bench.deliver_ack(&mut controller, &two);
    // 8 + 0.5 · 1 · 2/8
    close(controller.window().0, 8.125);
}

/// §2.4.2: at most ALLOWED_INCREASE more than was in flight before the acknowledgement, if the application does not use
/// the window.
#[test]
fn an_unused_window_is_at_most_a_segment_above_what_was_in_flight() {
    let (mut bench, mut controller) = at_window(8.0);
    let mut little = ack(&bench, &controller, 20);
    little.in_flight = SEGMENT * 4;
    // four of eight were overtaken, and are neither in flight nor acknowledged in order
    bench.deliver_ack(&mut controller, &little);
    close(controller.window().0, 8.0);
    little.app_limited = true;
    bench.deliver_ack(&mut controller, &little);
    close(controller.window().0, 5.0);
    // not below the minimum
    little.in_flight = Bytes::new(500);
    bench.deliver_ack(&mut controller, &little);
    close(controller.window().0, 2.0);
}

/// §2.4.2: MIN_CWND. A queue of a hundred targets would take all.
#[test]
fn the_window_is_at_least_two_segments() {
    let (mut bench, mut controller) = at_window(8.0);
    deliver_ack(&mut bench, &mut controller, 20);
    settle(&mut bench, &mut controller, 10_020);
    close(controller.window().0, 2.0);
}

/// §3.1.1: the base is the minimum of ten minutes, so a route that became longer is a queue for ten minutes and then no
/// more.
#[test]
fn the_base_delay_is_forgotten_after_ten_minutes() {
    let (mut bench, mut controller) = ledbat();
    deliver_ack(&mut bench, &mut controller, 20);
    for minute in 1..=9 {
        bench.now = Time::ZERO + Duration::from_secs(60 * minute);
        settle(&mut bench, &mut controller, 70);
        assert_eq!(controller.queue_delay(), Duration::from_millis(50), "minute {minute}");
    }
    bench.now = Time::ZERO + Duration::from_secs(600);
    settle(&mut bench, &mut controller, 70);
    assert_eq!(controller.queue_delay(), Duration::ZERO);
}

/// §2.4.2: half after a loss, once per round trip, and no less than two.
#[test]
fn a_loss_halves_the_window_once_per_round_trip() {
    let (mut bench, mut controller) = at_window(10.0);
    bench.congestion(&mut controller, Cause::Loss);
    close(controller.window().0, 5.0);
    let again = Congestion { cause: Cause::Loss, bytes: SEGMENT, in_flight: SEGMENT * 5, first: false };
    controller.on_congestion(&again, &mut bench.cx());
    close(controller.window().0, 5.0);
    for window in [2.5, 2.0, 2.0] {
        bench.congestion(&mut controller, Cause::Loss);
        close(controller.window().0, window);
    }
}

/// §2.4.2, CTO: nothing heard, one segment. The next acknowledgement brings back MIN_CWND. A loss at one segment adds
/// none.
#[test]
fn a_timeout_leaves_one_segment() {
    let (mut bench, mut controller) = at_window(10.0);
    bench.congestion(&mut controller, Cause::Timeout);
    close(controller.window().0, 1.0);
    bench.congestion(&mut controller, Cause::Loss);
    close(controller.window().0, 1.0);
    deliver_ack(&mut bench, &mut controller, 20);
    close(controller.window().0, 2.0);
}

/// §A.1: clocks an hour apart, either way, give the same windows.
#[test]
fn the_offset_of_the_clocks_cancels_out() {
    let hour = Duration::from_secs(3600);
    let walk = |shift: i64| {
        let (mut bench, mut controller) = ledbat();
        // so that neither clock is before its beginning
        bench.now = Time::ZERO + hour * 2;
        let mut windows = Vec::new();
        for i in 0..200 {
            bench.now += Duration::from_millis(10);
            let mut ack = ack(&bench, &controller, 20 + i % 37 * 5);
            match shift {
                1 => ack.ack_sent_at += hour,
                -1 => ack.ack_sent_at = ack.ack_sent_at - hour,
                _ => {}
            }
            bench.deliver_ack(&mut controller, &ack);
            windows.push(controller.window().0);
        }
        windows
    };
    assert_eq!(walk(0), walk(1));
    assert_eq!(walk(0), walk(-1));
}

/// What we add: while losses are repaired the window stands still, and samples are taken all the same.
#[test]
fn repairs_hold_the_window_but_not_the_samples() {
    let (mut bench, mut controller) = at_window(8.0);
    deliver_ack(&mut bench, &mut controller, 20);
    let before = controller.window().0;
    for _ in 0..4 {
        let repairing = Ack { recovering: true, ..ack(&bench, &controller, 60) };
        bench.deliver_ack(&mut controller, &repairing);
    }
    close(controller.window().0, before);
    assert_eq!(controller.queue_delay(), Duration::from_millis(40));
}
