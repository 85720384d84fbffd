//! One test per rule of tcp_yeah.c. Round-trip times are in whole milliseconds; the kernel adds a microsecond, so that
//! a base of 100 ms is 100 001.

use contract::{Ack, Cause, CongestionControl};
use units::Duration;

use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn cwnd(controller: &Control) -> u64 {
    assert_eq!(controller.allowance().window, SEGMENT * controller.socket().cwnd);
    controller.socket().cwnd
}

/// In congestion avoidance with this window, with a base of 100 ms and a new round.
fn avoiding(params: &Params, window: u64) -> (Bench, Control) {
    let (mut bench, mut controller) = (Bench::new(), control(params, &setup(window)));
    controller.set(window, window);
    bench.fill(&mut controller);
    bench.deliver(&mut controller, 1);
    assert_eq!(cwnd(&controller), window);
    (bench, controller)
}

/// Acknowledges segment by segment with this round-trip time, until a round ends.
fn round(bench: &mut Bench, controller: &mut Control, micros: u64) {
    bench.rtt = Duration::from_micros(micros);
    for _ in 0..100_000 {
        bench.deliver(controller, 1);
        if controller.module().rtt.samples == 0 {
            return;
        }
    }
    panic!("the round does not end");
}

/// A segment per 100 acknowledged, or per window if that is less: 200 acknowledged in a window of 1000 make two; 40 in
/// one of 40 one. With `fast` = 50, 200 make four.
#[test]
fn fast_growth_is_a_segment_per_hundred() {
    let fifty = Params { fast: 50, ..Params::default() };
    for (params, window, acked, expected) in
        [(Params::default(), 1000, 200, 1002), (Params::default(), 40, 40, 41), (fifty, 1000, 200, 1004)]
    {
        let (mut bench, mut controller) = avoiding(&params, window);
        for _ in 1..acked {
            bench.deliver(&mut controller, 1);
        }
        assert_eq!(cwnd(&controller), expected);
    }
}

/// Slow start counts segments.
#[test]
fn slow_start_doubles_the_window_each_round() {
    let (mut bench, mut controller) = (Bench::new(), control(&Params::default(), &setup(2)));
    bench.fill(&mut controller);
    for window in [4, 8, 16] {
        for _ in 0..window / 2 {
            bench.deliver(&mut controller, 1);
        }
        assert_eq!(cwnd(&controller), window);
    }
}

/// A queueing delay of BaseRTT/8 = 12 500 µs is fast growth; a microsecond more is Reno's, with half the window, 20, as
/// the estimate of Reno's window. The next such round adds one to it. With φ = 4, 12 501 is fast growth.
#[test]
fn the_queueing_delay_decides_how_the_window_grows() {
    for (phy, micros, rounds, reno_window) in [(8, 112_500, 0, 2), (8, 112_501, 1, 20), (4, 112_501, 0, 2)] {
        let (mut bench, mut controller) = avoiding(&Params { phy, ..Params::default() }, 40);
        round(&mut bench, &mut controller, micros);
        let yeah = controller.module();
        assert_eq!((yeah.reno_rounds, yeah.reno_window), (rounds, reno_window), "{micros}");
    }
    let (mut bench, mut controller) = avoiding(&Params::default(), 40);
    round(&mut bench, &mut controller, 120_000);
    round(&mut bench, &mut controller, 120_000);
    assert_eq!((controller.module().reno_rounds, controller.module().reno_window), (2, 21));
    round(&mut bench, &mut controller, 100_000);
    assert_eq!((controller.module().reno_rounds, controller.module().fast_rounds), (0, 1));
}

/// While Reno's growth holds, a window of 400 grows by one per 400 acknowledged. The window is 404 after the round:
/// four times a hundred.
#[test]
fn growth_above_the_delay_is_renos() {
    let (mut bench, mut controller) = avoiding(&Params::default(), 400);
    round(&mut bench, &mut controller, 120_000);
    assert_eq!((cwnd(&controller), controller.module().queue), (404, 404 * 20_000 / 120_001));
    // the credit of fast growth is 1, with the acknowledgement of the first round
    for _ in 0..402 {
        bench.deliver(&mut controller, 1);
    }
    assert_eq!(cwnd(&controller), 404);
    bench.deliver(&mut controller, 1);
    assert_eq!(cwnd(&controller), 405);
}

/// W = 1010 at the end of the round, with 110 001 µs: Q = 1010·10 000/110 001 = 91 packets, above α = 80: the window is
/// 919, and so is the threshold. With γ = 2, 1010 − 45. With α = 100 it stays. At 300 001 µs Q = 673, but at most a
/// half is taken off: 505; with ε = 2 a quarter: 758.
#[test]
fn a_long_queue_is_taken_off_the_window() {
    let normal = Params::default();
    for (params, micros, expected) in [
        (normal.clone(), 110_000, 919),
        (Params { gamma: 2, ..normal.clone() }, 110_000, 965),
        (Params { alpha: 100, ..normal.clone() }, 110_000, 1010),
        (normal.clone(), 300_000, 505),
        (Params { epsilon: 2, ..normal }, 300_000, 758),
    ] {
        let (mut bench, mut controller) = avoiding(&params, 1000);
        round(&mut bench, &mut controller, micros);
        assert_eq!(cwnd(&controller), expected, "{params:?}, {micros} µs");
        assert!(!controller.socket().in_slow_start());
    }
}

/// The estimate of Reno's window is a floor: the first round sets it to half of 919, 459, and each later one adds one.
/// In the second, with 300 001 µs, a half is taken off 919, which leaves 460. In the third a half would leave 230, but
/// the floor is 460.
#[test]
fn the_window_of_reno_is_a_floor() {
    let (mut bench, mut controller) = avoiding(&Params::default(), 1000);
    round(&mut bench, &mut controller, 110_000);
    assert_eq!((cwnd(&controller), controller.module().reno_window), (919, 459));
    round(&mut bench, &mut controller, 300_000);
    assert_eq!((cwnd(&controller), controller.module().reno_window), (460, 460));
    round(&mut bench, &mut controller, 300_000);
    assert_eq!((cwnd(&controller), controller.module().reno_window), (460, 461));
}

/// A loss takes off the queue, Q = 40·20 000/120 001 = 6 packets, but at least an eighth, 5 of 40, and at most a half.
/// With δ = 1, a half at least.
#[test]
fn a_loss_takes_off_the_queue() {
    let normal = Params::default();
    for (params, micros, expected) in [
        (normal.clone(), 120_000, 35),
        (normal.clone(), 100_000, 36),
        (normal.clone(), 900_000, 21),
        (Params { delta: 1, ..normal }, 120_000, 21),
    ] {
        let (mut bench, mut controller) = avoiding(&params, 40);
        round(&mut bench, &mut controller, micros);
        assert_eq!(cwnd(&controller), 41);
        bench.congestion(&mut controller, Cause::Loss);
        assert_eq!((cwnd(&controller), controller.socket().ssthresh), (expected, expected), "{micros} µs");
    }
}

/// After ρ rounds of Reno's growth a loss halves, because others compete: 16 by default, here 2 and 3 for the third
/// round.
#[test]
fn after_rounds_of_competition_a_loss_halves() {
    for (rho, halves) in [(2, true), (3, false)] {
        let (mut bench, mut controller) = avoiding(&Params { rho, ..Params::default() }, 40);
        round(&mut bench, &mut controller, 120_000);
        round(&mut bench, &mut controller, 120_000);
        let window = cwnd(&controller);
        bench.congestion(&mut controller, Cause::Loss);
        assert_eq!(cwnd(&controller) == window - window / 2, halves, "{rho}");
    }
}

/// A loss halves the estimate of Reno's window, 20, and forgets the rounds of fast growth; ζ + 1 of these forget the
/// estimate.
#[test]
fn rounds_of_fast_growth_forget_the_window_of_reno() {
    let (mut bench, mut controller) = avoiding(&Params { zeta: 2, ..Params::default() }, 40);
    round(&mut bench, &mut controller, 120_000);
    assert_eq!(controller.module().reno_window, 20);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(controller.module().reno_window, 10);
    // 41 − max(6, 41/8) = 35 segments; the round of the recovery is not counted
    let rest = (controller.socket().nxt - controller.socket().una) / 1000 - 35;
    let ack = bench.an_ack_of(&controller, rest as u32);
    bench.deliver_as(&mut controller, &Ack { recovering: true, rtt: None, ..ack });
    controller.on_recovered(Cause::Loss, &mut bench.cx());
    for expected in [(1, 10), (2, 10), (0, 2)] {
        round(&mut bench, &mut controller, 100_000);
        let yeah = controller.module();
        assert_eq!((yeah.fast_rounds, yeah.reno_window), expected);
    }
}

/// A round with two samples changes nothing but the round.
#[test]
fn a_round_with_two_samples_decides_nothing() {
    for (min_samples, rounds) in [(3, 0), (2, 1)] {
        let (mut bench, mut controller) = avoiding(&Params { min_samples, ..Params::default() }, 40);
        bench.rtt = Duration::from_millis(120);
        bench.deliver(&mut controller, 38);
        bench.deliver(&mut controller, 3);
        assert_eq!((controller.module().rtt.samples, controller.module().reno_rounds), (0, rounds));
    }
}

/// A window that is not full neither grows nor decides.
#[test]
fn a_window_that_is_not_full_does_not_grow() {
    let (mut bench, mut controller) = (Bench::new(), control(&Params::default(), &setup(10)));
    bench.fill(&mut controller);
    let ack = Ack { app_limited: true, ..bench.an_ack_of(&controller, 1) };
    bench.deliver_as(&mut controller, &ack);
    assert_eq!(cwnd(&controller), 10);
}
