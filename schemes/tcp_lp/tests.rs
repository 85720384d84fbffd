//! One test per claim about TCP-LP.

use contract::{Ack, Cause, CongestionControl, Delivery};
use units::{Bytes, Duration, Time};

use super::{Params, Sample, TcpLp};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

/// One segment acknowledged, with this one-way delay in milliseconds, by clocks that are an hour apart.
fn ack(bench: &mut Bench, controller: &mut TcpLp, delay_ms: u64) {
    let ack_sent_at = bench.now + Duration::from_millis(delay_ms) + Duration::from_secs(3600);
    let ack = Ack { sent_at: bench.now, ack_sent_at, ..bench.an_ack(controller) };
    bench.deliver_ack(controller, &ack);
}

/// Samples as the source has them.
fn echoed() -> Params {
    Params { sample: Sample::Echoed, ..Params::default() }
}

/// In congestion avoidance with this many segments, the delays so far between 20 and 120 ms and the smoothed one at 20:
/// the threshold is 35 ms.
fn avoiding(window: u64) -> (Bench, TcpLp) {
    let (mut bench, mut controller) = (Bench::new(), TcpLp::new(&echoed(), &setup(2 * window)));
    bench.now = Time::ZERO + Duration::from_secs(1);
    // no window grows in a repair, and no sign is taken
    let mut sample = |delay_ms| {
        let ack_sent_at = bench.now + Duration::from_millis(delay_ms) + Duration::from_secs(3600);
        let ack = Ack { sent_at: bench.now, ack_sent_at, recovering: true, ..bench.an_ack(&controller) };
        bench.deliver_ack(&mut controller, &ack);
    };
    sample(20);
    sample(120);
    for _ in 0..300 {
        sample(20);
    }
    bench.congestion(&mut controller, Cause::Loss);
    close(controller.window().0, window as f64);
    (bench, controller)
}

/// RFC 5681, which TCP-LP keeps: slow start doubles, and no early sign is taken in it.
#[test]
fn slow_start_is_renos() {
    let (mut bench, mut controller) = (Bench::new(), TcpLp::new(&echoed(), &setup(2)));
    for window in 3..=20 {
        ack(&mut bench, &mut controller, 20 + window);
        close(controller.window().0, window as f64);
    }
    bench.congestion(&mut controller, Cause::Loss);
    close(controller.window().0, 10.0);
}

/// The threshold: 20 + 0.15·100 = 35 ms. From 20, samples of 139 ms move the smoothed delay to 20 + 119/8 = 34.875 ms,
/// which is not above 20 + 0.15·119 = 37.85, and then to 34.875 + 104.125/8 = 47.890625, which is.
#[test]
fn early_congestion_is_a_smoothed_delay_above_the_threshold() {
    let (mut bench, mut controller) = avoiding(10);
    ack(&mut bench, &mut controller, 139);
    close(controller.window().0, 10.1);
    ack(&mut bench, &mut controller, 139);
    close(controller.window().0, 5.05);
}

/// What others may add to the delay for a moment is smoothed away: one sample of 100 ms among samples of 20 is 30 ms.
#[test]
fn a_single_delay_is_no_sign() {
    let (mut bench, mut controller) = avoiding(10);
    ack(&mut bench, &mut controller, 100);
    close(controller.window().0, 10.1);
}

/// §III: for three round trips after the first sign, of 100 ms each here, the window stands still; then it grows by one
/// each round.
#[test]
fn the_inference_phase_only_looks_on() {
    let (mut bench, mut controller) = avoiding(10);
    ack(&mut bench, &mut controller, 119);
    ack(&mut bench, &mut controller, 119);
    let halved = controller.window().0;
    close(halved, 5.05);
    let begun = bench.now;
    // the smoothed delay falls while nothing is inferred
    for i in 1..30 {
        bench.now = begun + Duration::from_millis(3 * i);
        ack(&mut bench, &mut controller, 20);
        close(controller.window().0, halved);
    }
    bench.now = begun + Duration::from_millis(299);
    ack(&mut bench, &mut controller, 20);
    close(controller.window().0, halved);
    bench.now = begun + Duration::from_millis(300);
    ack(&mut bench, &mut controller, 20);
    close(controller.window().0, halved + 1.0 / halved);
}

/// §III: a second sign within the phase leaves one segment, and begins another phase.
#[test]
fn a_second_sign_within_the_phase_leaves_one_segment() {
    let (mut bench, mut controller) = avoiding(10);
    ack(&mut bench, &mut controller, 119);
    ack(&mut bench, &mut controller, 119);
    let begun = bench.now;
    // what left before the cut tells nothing, whenever it is acknowledged
    let sent_at = begun - Duration::from_millis(1);
    let ack_sent_at = sent_at + Duration::from_millis(119) + Duration::from_secs(3600);
    let old = Ack { sent_at, ack_sent_at, ..bench.an_ack(&controller) };
    bench.deliver_ack(&mut controller, &old);
    close(controller.window().0, 5.05);
    bench.now = begun + Duration::from_millis(100);
    ack(&mut bench, &mut controller, 119);
    close(controller.window().0, 1.0);
    // silent until 400, then by 1/W
    bench.now = begun + Duration::from_millis(150);
    for _ in 0..40 {
        ack(&mut bench, &mut controller, 20);
    }
    close(controller.window().0, 1.0);
    bench.now = begun + Duration::from_millis(400);
    for window in [2.0, 2.5, 2.9] {
        ack(&mut bench, &mut controller, 20);
        close(controller.window().0, window);
    }
}

/// What we add: while the smoothed delay is above the threshold yet, a sample below it is no second sign.
#[test]
fn a_queue_that_is_gone_is_no_second_sign() {
    let (mut bench, mut controller) = avoiding(10);
    for _ in 0..4 {
        ack(&mut bench, &mut controller, 119);
    }
    // two signs: 1 segment. The smoothed delay is 20 + 99·(1 − (7/8)⁴) = 61 ms by now
    close(controller.window().0, 1.0);
    bench.now += Duration::from_millis(299);
    ack(&mut bench, &mut controller, 34);
    close(controller.window().0, 1.0);
    bench.now += Duration::from_millis(1);
    ack(&mut bench, &mut controller, 34);
    close(controller.window().0, 2.0);
}

/// §III: a sign after the phase is a first one again.
#[test]
fn a_sign_after_the_phase_halves_again() {
    let (mut bench, mut controller) = avoiding(16);
    ack(&mut bench, &mut controller, 119);
    ack(&mut bench, &mut controller, 119);
    let once = controller.window().0;
    bench.now += Duration::from_millis(300);
    ack(&mut bench, &mut controller, 119);
    close(controller.window().0, once / 2.0);
}

/// RFC 5681: a loss halves what was in flight, a timeout leaves one segment.
#[test]
fn losses_and_timeouts_are_renos() {
    let (mut bench, mut controller) = avoiding(10);
    bench.congestion(&mut controller, Cause::Loss);
    close(controller.window().0, 5.0);
    bench.congestion(&mut controller, Cause::Timeout);
    close(controller.window().0, 1.0);
    assert_eq!(controller.ssthresh(), units::Bytes::new(2500));
}

/// After seven pairs in a row their share is 1 − (7/8)⁷ = 0.607, and a single one brings it to 0.531: it has waited.
/// After six, to 0.482. With γ = ½ a sample of 60 after samples of 20 ms is a sign: 40 ms, of 26.
#[test]
fn seven_pairs_in_a_row_tell_a_receiver_that_delays() {
    let params = Params { gamma: 0.5, ..Params::default() };
    for pairs in 6..=7 {
        let (mut bench, mut controller) = (Bench::new(), TcpLp::new(&params, &setup(10)));
        let delivery = |segments: u64, delay_ms: i64| Delivery {
            bytes: SEGMENT * segments,
            total: SEGMENT * 100,
            total_when_sent: SEGMENT * 90,
            in_flight_when_sent: SEGMENT * 10,
            lost: Bytes::ZERO,
            rate: None,
            app_limited: false,
            rtt: Some(Duration::from_millis(100)),
            delay: Some(delay_ms * 1_000_000),
            in_flight_before: SEGMENT * 4,
            in_flight: SEGMENT * 2,
            recovering: false,
        };
        for _ in 0..pairs {
            controller.on_delivery(&delivery(2, 20), &mut bench.cx());
        }
        bench.congestion(&mut controller, Cause::Loss);
        let before = controller.window().0;
        controller.on_delivery(&delivery(1, 60), &mut bench.cx());
        bench.ack(&mut controller);
        assert_eq!(controller.window().0 > before, pairs == 7, "{pairs}");
    }
}

/// What we add: where acknowledgements cover two segments, one that covers one has waited for its timer, and is no
/// sample; where they cover one, it is.
#[test]
fn an_acknowledgement_that_waited_is_no_sample() {
    // by default; where each is a sample whatever it covers; where none counts for the share, as too little is in
    // flight
    let each = Params { pairs: 1.0, ..Params::default() };
    let little = Params { pairs_flight: 9.0, ..Params::default() };
    for (params, pairs, left_out) in [
        (Params::default(), true, true),
        (Params::default(), false, false),
        (each, true, false),
        (little, true, false),
    ] {
        let (mut bench, mut controller) = (Bench::new(), TcpLp::new(&params, &setup(10)));
        assert!(controller.samples_delivery());
        let send_feedback = |bench: &mut Bench, controller: &mut TcpLp, segments: u64, delay_ms: i64| {
            let delivery = Delivery {
                bytes: SEGMENT * segments,
                total: SEGMENT * 100,
                total_when_sent: SEGMENT * 90,
                in_flight_when_sent: SEGMENT * 10,
                lost: Bytes::ZERO,
                rate: None,
                app_limited: false,
                rtt: Some(bench.rtt),
                delay: Some(delay_ms * 1_000_000 - 3_600_000_000_000),
                in_flight_before: SEGMENT * 8,
                in_flight: SEGMENT * 6,
                recovering: false,
            };
            controller.on_delivery(&delivery, &mut bench.cx());
        };
        for _ in 0..20 {
            send_feedback(&mut bench, &mut controller, if pairs { 2 } else { 1 }, 20);
        }
        bench.congestion(&mut controller, Cause::Loss);
        bench.congestion(&mut controller, Cause::Loss);
        let before = controller.window().0;
        for _ in 0..3 {
            send_feedback(&mut bench, &mut controller, 1, 60);
        }
        bench.ack(&mut controller);
        let grown = controller.window().0 > before;
        assert_eq!(grown, left_out, "{} segments", controller.window().0);
    }
}
