//! One test per rule of tcp_bic.c, with low_window = 14, max_increment = 16, beta = 819/1024 and smooth_part = 20.

use contract::{Cause, CongestionControl};
use units::{Duration, Time};

use super::{LinuxBic, Params};
use crate::shared::linux::Linux;
use crate::shared::testing::{Bench, SEGMENT, setup};

type Bic = Linux<LinuxBic>;

fn bic(params: &Params) -> (Bench, Bic) {
    let (mut bench, mut controller) = (Bench::new(), Linux::new(LinuxBic::new(params), &setup(10)));
    bench.now = Time::ZERO + Duration::from_secs(1);
    bench.fill(&mut controller);
    (bench, controller)
}

/// In congestion avoidance at `cwnd`, the last maximum being `last_max`.
fn avoiding(params: &Params, cwnd: u64, last_max: u64) -> (Bench, Bic) {
    let (mut bench, mut controller) = bic(params);
    controller.set(cwnd, cwnd);
    controller.module_mut().last_max = last_max;
    bench.fill(&mut controller);
    (bench, controller)
}

/// What one acknowledgement of two segments makes of `cnt`.
fn per_segment(cwnd: u64, last_max: u64) -> u64 {
    let (mut bench, mut controller) = avoiding(&Params::default(), cwnd, last_max);
    bench.deliver(&mut controller, 2);
    assert_eq!(controller.module().ack_ratio, 32, "two segments per acknowledgement");
    controller.module().per_segment
}

fn cwnd(controller: &Bic) -> u64 {
    assert_eq!(controller.allowance().window, SEGMENT * controller.socket().cwnd);
    controller.socket().cwnd
}

/// tcp_slow_start: 10 + 2 + 3.
#[test]
fn slow_start_adds_a_segment_for_each_segment_acknowledged() {
    let (mut bench, mut controller) = bic(&Params::default());
    bench.deliver(&mut controller, 2);
    assert_eq!(cwnd(&controller), 12);
    bench.deliver(&mut controller, 3);
    assert_eq!(cwnd(&controller), 15);
}

/// bictcp_update at two segments per acknowledgement, which halve the number (16/32).
/// - 14 ≤ low_window: 14, not halved.
/// - 100 below 200: distance 100/4 = 25 > 16: 100/16 = 6, 3.
/// - 100 below 140: 40/4 = 10: 100/10 = 10, 5.
/// - 100 below 107: 7/4 = 1: 100·20/4 = 500, 250.
/// - 100 beyond 97, less than 4: 500, 250.
/// - 100 beyond 80: 20 < 48: 100·3/20 = 15, 7.
/// - 100 beyond 52: 48: 100/16 = 6, 3.
/// - 100 with no maximum: 100/16 = 6, 3; 400 with none: 25, at most 20, 10.
/// - 15 with no maximum: 15 < 48: 15·3/15 = 3, 1.
#[test]
fn the_growth_depends_on_the_distance_from_the_last_maximum() {
    let given = [
        (14, 50),
        (100, 200),
        (100, 140),
        (100, 107),
        (100, 97),
        (100, 80),
        (100, 52),
        (100, 0),
        (400, 0),
        (15, 0),
    ];
    let found = given.map(|(cwnd, last_max)| per_segment(cwnd, last_max));
    assert_eq!(found, [14, 3, 5, 250, 250, 7, 3, 3, 10, 1]);
}

/// 100 below 140 grow by one segment for five acknowledged: with two per acknowledgement, 2 and 4 do not, 6 do, and 1
/// is over.
#[test]
fn the_window_grows_after_that_many_segments() {
    let (mut bench, mut controller) = avoiding(&Params::default(), 100, 140);
    for expected in [100, 100, 101] {
        bench.deliver(&mut controller, 2);
        assert_eq!(cwnd(&controller), expected);
    }
    assert_eq!(controller.socket().credit.acked(), 1);
}

/// 40 segments in one acknowledgement: 32 + 40 − 2 = 70. 15·16/70 of 100·3/20 = 15 is 3. Single segments: 32 + 1 − 2 =
/// 31, then 31 + 1 − 1 = 31.
#[test]
fn the_ratio_of_segments_to_acknowledgements_is_smoothed() {
    let (mut bench, mut controller) = avoiding(&Params::default(), 100, 80);
    bench.deliver(&mut controller, 40);
    assert_eq!((controller.module().ack_ratio, controller.module().per_segment), (70, 3));
    let (mut bench, mut controller) = avoiding(&Params::default(), 100, 80);
    for _ in 0..2 {
        bench.deliver(&mut controller, 1);
        assert_eq!(controller.module().ack_ratio, 31);
    }
}

/// At an unchanged window `cnt` is kept for 31 ms. Set to 1000, it is 7 again at 32 ms (100·3/20·16/32, the ratio being
/// 32).
#[test]
fn at_an_unchanged_window_the_growth_is_kept_for_31_ms() {
    let (mut bench, mut controller) = avoiding(&Params::default(), 100, 80);
    bench.deliver(&mut controller, 2);
    let first = bench.now;
    controller.module_mut().per_segment = 1000;
    for (millis, expected) in [(31, 1000), (32, 7)] {
        bench.now = first + Duration::from_millis(millis);
        bench.deliver(&mut controller, 2);
        assert_eq!(controller.module().per_segment, expected, "{millis} ms");
    }
}

/// 100 → 100·819/1024 = 79, and the maximum is 100. 79 below it → 63, and the maximum is 79·1843/2048 = 71; without
/// fast convergence 79. 14 → 7, 3 → 2.
#[test]
fn a_loss_leaves_four_fifths() {
    for (fast_convergence, last_max) in [(true, 71), (false, 79)] {
        let (mut bench, mut controller) = avoiding(&Params { fast_convergence, ..Params::default() }, 100, 0);
        bench.congestion(&mut controller, Cause::Loss);
        assert_eq!((cwnd(&controller), controller.module().last_max), (79, 100));
        bench.congestion(&mut controller, Cause::Loss);
        assert_eq!((cwnd(&controller), controller.module().last_max), (63, last_max));
    }
    for (before, after) in [(14, 7), (15, 11), (3, 2)] {
        let (mut bench, mut controller) = avoiding(&Params::default(), before, 0);
        bench.congestion(&mut controller, Cause::Loss);
        assert_eq!(cwnd(&controller), after, "{before}");
    }
}

/// A timeout leaves one segment and a threshold of 819/1024 of the window, and nothing is remembered, the ratio being
/// 32 again.
#[test]
fn a_timeout_resets_the_search() {
    let (mut bench, mut controller) = avoiding(&Params::default(), 100, 120);
    bench.deliver(&mut controller, 40);
    let threshold = cwnd(&controller) * 819 / 1024;
    bench.congestion(&mut controller, Cause::Timeout);
    assert_eq!((cwnd(&controller), controller.ssthresh()), (1, SEGMENT * threshold));
    let module = controller.module();
    assert_eq!((module.last_max, module.per_segment, module.ack_ratio), (0, 0, 32));
}

/// The parameters: beta = 0.5 leaves 50 of 100; low_window = 100 makes it Reno's 50 and `cnt` 100; max_increment = 4
/// makes 100/4 = 25, 12, of a distance of 10; smooth_part = 40 makes 100·40/4 = 1000, 500.
#[test]
fn the_constants_are_parameters() {
    let (mut bench, mut controller) = avoiding(&Params { beta: 0.5, ..Params::default() }, 100, 0);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(cwnd(&controller), 50);
    let cases = [
        (Params { low_window: 100.0, ..Params::default() }, 140, 100),
        (Params { max_increment: 4.0, ..Params::default() }, 140, 12),
        (Params { smooth_part: 40, ..Params::default() }, 107, 500),
    ];
    for (params, last_max, expected) in cases {
        let (mut bench, mut controller) = avoiding(&params, 100, last_max);
        bench.deliver(&mut controller, 2);
        assert_eq!(controller.module().per_segment, expected);
    }
}
