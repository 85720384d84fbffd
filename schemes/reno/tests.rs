//! One test per claim of RFC 5681 about the window.

use contract::{Cause, Congestion, CongestionControl, ParamTable};
use units::Bytes;

use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn reno(initial: u64) -> (Bench, Control) {
    (Bench::new(), control(&Params::default(), &setup(initial)))
}

/// §3.1: slow start adds a segment for each segment acknowledged.
#[test]
fn slow_start_doubles_the_window_each_round() {
    let (mut bench, mut controller) = reno(2);
    for segments in [4, 8, 16, 32] {
        bench.round(&mut controller);
        assert_eq!(controller.allowance().window, SEGMENT * segments);
    }
}

/// §3.1, eq. 2: an acknowledgement of many segments still adds one.
#[test]
fn slow_start_adds_at_most_a_segment_per_acknowledgement() {
    let (mut bench, mut controller) = reno(2);
    let mut ack = bench.an_ack(&controller);
    ack.bytes = SEGMENT * 5;
    ack.packets = 5;
    bench.deliver_ack(&mut controller, &ack);
    assert_eq!(controller.allowance().window, SEGMENT * 3);
    ack.bytes = Bytes::new(500);
    bench.deliver_ack(&mut controller, &ack);
    assert_eq!(controller.allowance().window, Bytes::new(3500));
}

/// §3.1, eq. 3: w ← w + 1/w per acknowledgement. From 10: 10.1, 10.19901, 10.297059 …, 10.9574 after ten.
#[test]
fn congestion_avoidance_adds_about_a_segment_each_round() {
    let (mut bench, mut controller) = reno(20);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(controller.allowance().window, SEGMENT * 10);
    bench.ack(&mut controller);
    bench.ack(&mut controller);
    assert!((controller.window().0 - 10.199_009_9).abs() < 1e-6, "{:?}", controller.window());
    for _ in 2..10 {
        bench.ack(&mut controller);
    }
    assert!((10.95..10.97).contains(&controller.window().0), "{:?}", controller.window());
}

/// §3.1: counting bytes, a window of acknowledged segments adds exactly one segment, whatever the acknowledgements
/// cover.
#[test]
fn counting_bytes_adds_exactly_a_segment_each_round() {
    let mut params = Params::default();
    params.set("counting", &"bytes".into()).expect("a choice");
    let (mut bench, mut controller) = (Bench::new(), control(&params, &setup(20)));
    bench.congestion(&mut controller, Cause::Loss);
    let mut ack = bench.an_ack(&controller);
    ack.bytes = SEGMENT * 2;
    ack.packets = 2;
    for _ in 0..5 {
        bench.deliver_ack(&mut controller, &ack);
    }
    assert_eq!(controller.allowance().window, SEGMENT * 11);
}

/// RFC 3465 §2.2 and §2.3: an acknowledgement of five segments adds two, of one segment one, and in the slow start
/// after a timeout one. From 2: 4, 5. A timeout with 16 in flight leaves 1 and a threshold of 8: 2, 3.
#[test]
fn byte_counting_adds_two_segments_per_acknowledgement_at_most_and_one_after_a_timeout() {
    let mut params = Params::default();
    params.set("slow_start", &"abc".into()).expect("a choice");
    let (mut bench, mut controller) = (Bench::new(), control(&params, &setup(2)));
    let mut ack = bench.an_ack(&controller);
    for (packets, window) in [(5, 4), (1, 5)] {
        (ack.bytes, ack.packets) = (SEGMENT * u64::from(packets), packets);
        bench.deliver_ack(&mut controller, &ack);
        assert_eq!(controller.allowance().window, SEGMENT * window);
    }
    let event = Congestion { cause: Cause::Timeout, bytes: SEGMENT, in_flight: SEGMENT * 16, first: true };
    controller.on_congestion(&event, &mut bench.cx());
    (ack.bytes, ack.packets) = (SEGMENT * 5, 5);
    for window in [2, 3] {
        bench.deliver_ack(&mut controller, &ack);
        assert_eq!(controller.allowance().window, SEGMENT * window);
    }
}

/// §3.1, eq. 4: what counts is what was in flight, not the window.
#[test]
fn a_loss_halves_what_was_in_flight_and_keeps_two_segments() {
    let (mut bench, mut controller) = reno(20);
    let event = |segments| Congestion {
        cause: Cause::Loss,
        bytes: SEGMENT,
        in_flight: SEGMENT * segments,
        first: true,
    };
    controller.on_congestion(&event(12), &mut bench.cx());
    assert_eq!(controller.allowance().window, SEGMENT * 6);
    assert_eq!(controller.ssthresh(), SEGMENT * 6);
    controller.on_congestion(&event(3), &mut bench.cx());
    assert_eq!(controller.allowance().window, SEGMENT * 2);
}

/// §3.1: after a timeout the window is one segment and slow start leads up to half of the data in flight.
#[test]
fn a_timeout_leaves_one_segment_and_slow_start_to_the_threshold() {
    let (mut bench, mut controller) = reno(16);
    bench.congestion(&mut controller, Cause::Timeout);
    assert_eq!(controller.allowance().window, SEGMENT);
    assert_eq!(controller.ssthresh(), SEGMENT * 8);
    for segments in [2, 4, 8] {
        bench.round(&mut controller);
        assert_eq!(controller.allowance().window, SEGMENT * segments);
    }
    bench.round(&mut controller);
    assert!((8.9..9.0).contains(&controller.window().0));
}

/// §3.1: the same segment timing out again does not lower the threshold further.
#[test]
fn a_second_timeout_of_the_same_segment_keeps_the_threshold() {
    let (mut bench, mut controller) = reno(16);
    bench.congestion(&mut controller, Cause::Timeout);
    let event = Congestion { cause: Cause::Timeout, bytes: SEGMENT, in_flight: SEGMENT, first: false };
    controller.on_congestion(&event, &mut bench.cx());
    assert_eq!(controller.ssthresh(), SEGMENT * 8);
}

fn integer_cwnd(initial: u64) -> (Bench, Control) {
    let mut params = Params::default();
    params.set("variant", &"linux".into()).expect("a choice");
    (Bench::new(), control(&params, &setup(initial)))
}

/// LINUX, tcp_reno_ssthresh: half the window in whole segments, whatever is in flight, and two at least.
#[test]
fn as_in_linux_half_a_window_is_whole() {
    for (window, kept) in [(7, 3), (20, 10), (3, 2), (2, 2)] {
        let (mut bench, mut controller) = integer_cwnd(window);
        let event = Congestion { cause: Cause::Loss, bytes: SEGMENT, in_flight: SEGMENT * 12, first: true };
        controller.on_congestion(&event, &mut bench.cx());
        assert_eq!(controller.allowance().window, SEGMENT * kept, "{window}");
    }
}

/// LINUX, tcp_cong_avoid_ai: from three, three segments acknowledged make four, and four make five, however the
/// acknowledgements cut them.
#[test]
fn as_in_linux_the_window_grows_by_whole_segments() {
    let (mut bench, mut controller) = integer_cwnd(7);
    bench.congestion(&mut controller, Cause::Loss);
    let mut ack = bench.an_ack(&controller);
    let windows: Vec<u64> = [2, 2, 2, 2, 2]
        .into_iter()
        .map(|packets| {
            ack.packets = packets;
            ack.bytes = SEGMENT * u64::from(packets);
            bench.deliver_ack(&mut controller, &ack);
            controller.allowance().window.as_u64() / 1000
        })
        .collect();
    // 2 of 3; 4: one, 1 of 4; 3 of 4; 5: one, 1 of 5; 3 of 5
    assert_eq!(windows, [3, 4, 4, 5, 5]);
}

/// LINUX, tcp_slow_start: up to the threshold and no further; what is left of an acknowledgement counts for congestion
/// avoidance. From one to a threshold of four: 1 + 2 = 3, 3 + 1 and two left over, and with two more the window of four
/// is acknowledged.
#[test]
fn as_in_linux_slow_start_ends_at_the_threshold() {
    let (mut bench, mut controller) = integer_cwnd(8);
    bench.congestion(&mut controller, Cause::Timeout);
    let mut ack = bench.an_ack(&controller);
    let windows: Vec<u64> = [2, 3, 2]
        .into_iter()
        .map(|packets| {
            ack.packets = packets;
            ack.bytes = SEGMENT * u64::from(packets);
            bench.deliver_ack(&mut controller, &ack);
            controller.allowance().window.as_u64() / 1000
        })
        .collect();
    assert_eq!(windows, [3, 4, 5]);
}

/// RFC 9406 §4.2, §4.3: 13 ms more delay than in the round before, by eight samples: a quarter of the growth; after
/// five such rounds, the first of which is partial, congestion avoidance. The slow start after a timeout is the
/// standard one, with the same delays.
#[test]
fn hystart_plus_ends_the_first_slow_start() {
    let mut params = Params::default();
    params.set("hystart", &"plus".into()).expect("a choice");
    let (mut bench, mut controller) = (Bench::new(), control(&params, &setup(10)));
    let round = |bench: &mut Bench, controller: &mut Control, rtt_ms: u64| {
        bench.rtt = units::Duration::from_millis(rtt_ms);
        for n in 0..10 {
            let ack = contract::Ack { round_ended: n == 0, ..bench.an_ack(controller) };
            bench.deliver_ack(controller, &ack);
        }
        controller.window().0
    };
    assert_eq!(round(&mut bench, &mut controller, 100), 20.0);
    let windows: Vec<f64> = (0..5).map(|_| round(&mut bench, &mut controller, 113)).collect();
    assert_eq!(windows, [27.75, 30.25, 32.75, 35.25, 37.75]);
    round(&mut bench, &mut controller, 113);
    assert_eq!(controller.ssthresh(), Bytes::new(37_750));
    bench.congestion(&mut controller, Cause::Timeout);
    let windows: Vec<f64> = [100, 200].map(|rtt_ms| round(&mut bench, &mut controller, rtt_ms)).to_vec();
    // from one segment to the threshold of 19: ten, and then eight and congestion avoidance
    assert_eq!(windows[0], 11.0);
    assert!(windows[1] > 19.0, "{windows:?}");
}
