//! One test per rule of tcp_vegas.c. Round-trip times are in whole milliseconds; the kernel adds a microsecond, so that
//! a base of 100 ms is 100 001.

use contract::{Ack, Cause, CongestionControl, Idle, Sent};
use units::Duration;

use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn micros(rtt: u64) -> Duration {
    Duration::from_micros(rtt)
}

fn with(params: &Params, initial: u64) -> (Bench, Control) {
    let (mut bench, mut controller) = (Bench::new(), control(params, &setup(initial)));
    bench.fill(&mut controller);
    (bench, controller)
}

fn vegas(initial: u64) -> (Bench, Control) {
    with(&Params::default(), initial)
}

/// In congestion avoidance with this window, at the start of a round, with a base of 100 ms.
fn avoiding(params: &Params, window: u64) -> (Bench, Control) {
    let (mut bench, mut controller) = with(params, 2 * window);
    bench.deliver(&mut controller, 1);
    bench.congestion(&mut controller, Cause::Loss);
    // all but the window is acknowledged in the recovery, without samples
    let left = (controller.socket().nxt - controller.socket().una) / 1000 - window;
    let ack = bench.an_ack_of(&controller, left as u32);
    bench.deliver_as(&mut controller, &Ack { recovering: true, rtt: None, ..ack });
    controller.on_recovered(Cause::Loss, &mut bench.cx());
    assert_eq!((cwnd(&controller), controller.socket().ssthresh), (window, window));
    (bench, controller)
}

fn cwnd(controller: &Control) -> u64 {
    assert_eq!(controller.allowance().window, SEGMENT * controller.socket().cwnd);
    controller.socket().cwnd
}

/// Acknowledges segment by segment with this round-trip time, until a round ends.
fn round(bench: &mut Bench, controller: &mut Control, rtt: Duration) {
    bench.rtt = rtt;
    for _ in 0..10_000 {
        bench.deliver(controller, 1);
        if controller.module().rtt.samples == 0 {
            return;
        }
    }
    panic!("the round does not end");
}

/// Slow start in every round, not in every second one as in the paper: 2, 4, 8, 16. The first acknowledgement ends a
/// round of one sample.
#[test]
fn slow_start_doubles_the_window_each_round() {
    let (mut bench, mut controller) = vegas(2);
    for window in [4, 8, 16] {
        for _ in 0..window / 2 {
            bench.deliver(&mut controller, 1);
        }
        assert_eq!(cwnd(&controller), window);
    }
}

/// 16 acknowledgements in slow start make W = 32, with a base of 100 001 µs and 110 101 µs now: diff = 32·10 100/100
/// 001 = 3.2, above γ = 1. The window is 32·100 001/110 101 = 29.06 in whole segments and one more, 30, and so is the
/// threshold.
#[test]
fn slow_start_ends_at_the_actual_rate() {
    for (gamma, expected) in [(1, (30, 30)), (2, (30, 30)), (3, (33, 0x7fff_ffff))] {
        let (mut bench, mut controller) = with(&Params { gamma, ..Params::default() }, 16);
        bench.deliver(&mut controller, 1);
        round(&mut bench, &mut controller, micros(110_100));
        assert_eq!((cwnd(&controller), controller.socket().ssthresh), expected, "γ = {gamma}");
    }
}

/// W = 20, base 100 001 µs. 105 101: 20·5 100/100 001 = 1.02, below α = 2: 21. 115 101: 3.02, within: 20. 124 901: 4.98
/// is 4, not above β = 4: 20. 125 101: 5.02: 19.
#[test]
fn the_window_follows_the_difference() {
    for (rtt, expected) in [(105_100, 21), (115_100, 20), (124_900, 20), (125_100, 19)] {
        let (mut bench, mut controller) = avoiding(&Params::default(), 20);
        round(&mut bench, &mut controller, micros(rtt));
        assert_eq!(cwnd(&controller), expected, "{rtt} µs");
        assert!(!controller.socket().in_slow_start());
    }
}

/// With α = 1 and β = 3: 1.02 is 1, not below α: 20; 124 901, 4 above β: 19. With α = 4: 3.02 is below: 21.
#[test]
fn alpha_and_beta_are_parameters() {
    for (alpha, beta, rtt, expected) in [(1, 3, 105_100, 20), (1, 3, 124_900, 19), (4, 6, 115_100, 21)] {
        let (mut bench, mut controller) = avoiding(&Params { alpha, beta, ..Params::default() }, 20);
        round(&mut bench, &mut controller, micros(rtt));
        assert_eq!(cwnd(&controller), expected, "α = {alpha}, β = {beta}, {rtt} µs");
    }
}

/// One sample of 101 ms among samples of 150: diff = 20·1000/100 001 = 0.2, and the window grows.
#[test]
fn the_minimum_of_a_round_counts() {
    let (mut bench, mut controller) = avoiding(&Params::default(), 20);
    bench.rtt = micros(101_000);
    bench.deliver(&mut controller, 1);
    round(&mut bench, &mut controller, micros(150_000));
    assert_eq!(cwnd(&controller), 21);
}

/// A window changes once per round: 20 acknowledgements end none, as the round ends with the first segment sent in it.
#[test]
fn the_window_changes_once_per_round() {
    let (mut bench, mut controller) = avoiding(&Params::default(), 20);
    for acked in 1..=20 {
        bench.deliver(&mut controller, 1);
        assert_eq!(cwnd(&controller), 20, "{acked} acknowledged");
    }
    bench.deliver(&mut controller, 1);
    assert_eq!(cwnd(&controller), 21);
}

/// Two samples in a round are too few: Reno's segment per window. Of 10, acknowledged in acknowledgements of nine and
/// two: 2 of 10, since only the acknowledgement that ends the round counts. With `min_samples` = 2 the difference of 0
/// lets it grow.
#[test]
fn a_round_with_two_samples_is_renos() {
    for (min_samples, expected) in [(3, 10), (2, 11)] {
        let (mut bench, mut controller) = avoiding(&Params { min_samples, ..Params::default() }, 10);
        bench.deliver(&mut controller, 9);
        bench.deliver(&mut controller, 2);
        assert_eq!((controller.module().rtt.samples, cwnd(&controller)), (0, expected), "{min_samples}");
    }
}

/// W = 2 with 300 001 µs: diff = 2·200 000/100 001 = 3.99, and with β = 2 the window would be 1; two is the minimum.
#[test]
fn two_segments_are_kept() {
    let params = Params { alpha: 1, beta: 2, min_samples: 1, ..Params::default() };
    let (mut bench, mut controller) = avoiding(&params, 2);
    round(&mut bench, &mut controller, micros(300_000));
    assert_eq!(cwnd(&controller), 2);
}

/// In a recovery nothing changes; after it a round begins without samples. A loss halves 21 to 10, as Reno does.
#[test]
fn a_loss_halves_and_the_round_begins_anew() {
    let (mut bench, mut controller) = vegas(21);
    bench.deliver(&mut controller, 1);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!((cwnd(&controller), controller.socket().ssthresh), (11, 11));
    assert!(!controller.module().rtt.enabled);
    let ack = bench.an_ack_of(&controller, 12);
    bench.deliver_as(&mut controller, &Ack { recovering: true, ..ack });
    assert_eq!(cwnd(&controller), 11);
    controller.on_recovered(Cause::Loss, &mut bench.cx());
    let rtt = &controller.module().rtt;
    assert!(rtt.enabled && rtt.samples == 0 && !rtt.round_ended(controller.socket()));
    assert_eq!(rtt.base, 100_001);
}

/// A timeout leaves one segment. Its retransmission leaves with nothing else in flight, which forgets the base and
/// switches Vegas on again, so that slow start leads to the threshold of half the window, without Reno's growth beyond
/// it before the round of the lost data ends.
#[test]
fn a_timeout_forgets_the_base() {
    let (mut bench, mut controller) = vegas(7);
    bench.deliver(&mut controller, 1);
    bench.congestion(&mut controller, Cause::Timeout);
    assert_eq!((cwnd(&controller), controller.socket().ssthresh), (1, 4));
    assert!(!controller.module().rtt.enabled);
    let retransmission = Sent {
        bytes: SEGMENT,
        in_flight: SEGMENT,
        retransmission: true,
        app_limited: false,
        idle: Duration::ZERO,
    };
    controller.on_sent(&retransmission, &mut bench.cx());
    let rtt = &controller.module().rtt;
    assert!(rtt.enabled && rtt.base == 0x7fff_ffff);
    let windows: Vec<u64> = (0..6)
        .map(|_| {
            let ack = bench.an_ack_of(&controller, 1);
            controller.on_ack(&ack, &mut bench.cx());
            bench.delivery(&mut controller, SEGMENT, Some(micros(100_000)), true);
            cwnd(&controller)
        })
        .collect();
    assert_eq!(windows, [2, 3, 4, 4, 4, 4]);
}

/// What an idle time ends is forgotten, too, and three quarters of the window are the threshold.
#[test]
fn an_idle_time_forgets_the_base() {
    let (mut bench, mut controller) = avoiding(&Params::default(), 20);
    controller.on_idle(&Idle { time: Duration::from_secs(3), halvings: None }, &mut bench.cx());
    assert_eq!(controller.module().rtt.base, 0x7fff_ffff);
    assert_eq!((cwnd(&controller), controller.socket().ssthresh), (20, 20));
}

/// A spurious loss restores the window: 20 again.
#[test]
fn a_spurious_loss_is_undone() {
    let (mut bench, mut controller) = avoiding(&Params::default(), 20);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(cwnd(&controller), 10);
    controller.on_spurious(&mut bench.cx());
    assert_eq!((cwnd(&controller), controller.socket().ssthresh), (20, 20));
    assert!(controller.module().rtt.enabled);
}
