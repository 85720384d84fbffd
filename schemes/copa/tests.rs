//! One test per rule of the paper, with numbers worked by hand.

use contract::{Cause, CongestionControl, Delivery, Lost};
use units::{Bytes, Duration, Rate};

use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn copa(params: &Params, initial: u64) -> (Bench, Control) {
    (Bench::new(), control(params, &setup(initial)))
}

/// One segment arrives, in sequence, after `rtt_ms`; `ends` is whether it ends a round. Earlier samples no longer count
/// for RTTstanding.
fn ack(bench: &mut Bench, copa: &mut Control, rtt_ms: u64, ends: bool) -> f64 {
    bench.now += Duration::from_millis(100);
    bench.rtt = Duration::from_millis(rtt_ms);
    bench.ack(copa);
    let delivery = arrival(bench, Some(bench.rtt), ends);
    copa.on_delivery(&delivery, &mut bench.cx());
    copa.window().0
}

/// A segment for each 100 ms has arrived before; the newest one that arrives now left after the round began if it
/// `ends` it, otherwise at the start.
fn arrival(bench: &Bench, rtt: Option<Duration>, ends: bool) -> Delivery {
    let before = SEGMENT * (bench.now.as_nanos() / 100_000_000);
    Delivery {
        bytes: SEGMENT,
        total: before + SEGMENT,
        total_when_sent: if ends { before } else { Bytes::ZERO },
        in_flight_when_sent: SEGMENT,
        lost: Bytes::ZERO,
        rate: None,
        app_limited: false,
        rtt,
        delay: None,
        in_flight_before: SEGMENT,
        in_flight: Bytes::ZERO,
        recovering: false,
    }
}

fn lose(bench: &mut Bench, copa: &mut Control) {
    let lost = Lost {
        bytes: SEGMENT,
        in_flight_when_sent: SEGMENT,
        lost: SEGMENT,
        total: SEGMENT,
        app_limited: false,
        adjoins: false,
        selective: true,
    };
    bench.congestion(copa, Cause::Loss);
    copa.on_lost(&lost, &mut bench.cx());
}

/// After slow start, at 20 segments, with RTTmin = 100 ms: at 200 ms λ = 20/0.2 = 100 exceeds λ_t = 1/(0.5·0.1) = 20.
fn avoiding(params: &Params) -> (Bench, Control) {
    let (mut bench, mut copa) = copa(params, 19);
    assert_eq!(ack(&mut bench, &mut copa, 100, false), 20.0);
    assert_eq!(ack(&mut bench, &mut copa, 200, false), 20.0);
    (bench, copa)
}

/// §2.1: the window doubles per round trip while λ ≤ λ_t: without a queue λ_t has no limit. With 10 ms of queue λ_t =
/// 1/(0.5·0.01) = 200 segments per second, which a window of 21 reaches at 110 ms (191), one of 22 as well (200), and
/// one of 23 exceeds (209).
#[test]
fn slow_start_ends_above_the_target_rate() {
    let (mut bench, mut copa) = copa(&Params::default(), 20);
    assert_eq!(ack(&mut bench, &mut copa, 100, false), 21.0);
    assert_eq!(ack(&mut bench, &mut copa, 110, false), 22.0);
    assert_eq!(ack(&mut bench, &mut copa, 110, false), 23.0);
    assert_eq!(ack(&mut bench, &mut copa, 110, false), 23.0);
    // slow start is over: 23 − 1/(0.5·23)
    assert!((ack(&mut bench, &mut copa, 110, false) - (23.0 - 2.0 / 23.0)).abs() < 1e-9);
}

/// §2.1: v/(δ·cwnd) per acknowledgement, in the direction of the target rate: 1/(0.5·20) = 0.1; at 120 ms λ = 167
/// exceeds λ_t = 1/(0.5·0.02) = 100. With δ = 0.2 it is 0.25, and λ_t = 250 is not exceeded.
#[test]
fn the_window_moves_towards_the_target_rate() {
    let (mut bench, mut up) = avoiding(&Params::default());
    assert!((ack(&mut bench, &mut up, 100, false) - 20.1).abs() < 1e-9);
    let (mut bench, mut down) = avoiding(&Params::default());
    assert!((ack(&mut bench, &mut down, 120, false) - 19.9).abs() < 1e-9);
    let (mut bench, mut copa) = avoiding(&Params { delta: 0.2, ..Params::default() });
    assert!((ack(&mut bench, &mut copa, 120, false) - 20.25).abs() < 1e-9);
}

/// §2.1: the velocity doubles at the third round in the same direction and at each further one, and is 1 after a turn.
/// The first round is no growth.
#[test]
fn the_velocity_doubles_after_three_rounds_in_one_direction() {
    let (mut bench, mut copa) = avoiding(&Params::default());
    ack(&mut bench, &mut copa, 100, false);
    let mut velocities = Vec::new();
    for rtt in [100, 100, 100, 100, 200, 200, 200, 200] {
        ack(&mut bench, &mut copa, rtt, true);
        velocities.push(copa.velocity());
    }
    // the first acknowledgement in the other direction takes the velocity back
    assert_eq!(velocities, [1.0, 1.0, 2.0, 4.0, 1.0, 1.0, 1.0, 2.0]);
    let (mut bench, mut copa) = avoiding(&Params { steady_rounds: 1, ..Params::default() });
    ack(&mut bench, &mut copa, 100, false);
    ack(&mut bench, &mut copa, 100, true);
    assert_eq!(copa.velocity(), 2.0);
    // δ·cwnd is the limit: a round moves the window by no more than itself
    for _ in 0..20 {
        ack(&mut bench, &mut copa, 100, true);
    }
    assert!(copa.velocity() > 0.49 * copa.window().0 - 1.0, "{}", copa.velocity());
    assert!(copa.velocity() <= 0.5 * copa.window().0, "{}", copa.velocity());
}

/// §2.1: 2·cwnd/RTTstanding: 2·20 segments of 8000 bit in 200 ms. Before the first sample there is no limit.
#[test]
fn packets_are_paced_at_twice_the_window_per_round_trip_time() {
    assert_eq!(copa(&Params::default(), 20).1.allowance().rate, Rate::UNLIMITED);
    assert_eq!(avoiding(&Params::default()).1.allowance().rate, Rate::from_bps(1_600_000));
    let slow = Params { pacing_gain: 1.0, ..Params::default() };
    assert_eq!(avoiding(&slow).1.allowance().rate, Rate::from_bps(800_000));
}

/// §2.2: a queue that is not nearly empty for five round-trip times makes the mode competitive: 1/δ grows by one per
/// round, is halved by a loss, at least 2, and is 2 again when the queue is nearly empty. Acknowledgements are 100 ms
/// apart. After the nth of 200 ms the smoothed round-trip time is 200 − 100·0.875ⁿ, and the sample of 100 ms is no
/// longer among the last five with n = 9: 900 ≥ 5·170 ms. The first is before the loop.
#[test]
fn without_an_empty_queue_delta_follows_losses() {
    let (mut bench, mut copa) = avoiding(&Params::default());
    let inverse: Vec<f64> = (0..12)
        .map(|_| {
            ack(&mut bench, &mut copa, 200, true);
            copa.inverse_delta()
        })
        .collect();
    assert_eq!(inverse, [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    lose(&mut bench, &mut copa);
    assert_eq!(copa.inverse_delta(), 3.5);
    // once per round, and no growth in the round of the loss
    lose(&mut bench, &mut copa);
    assert_eq!(copa.inverse_delta(), 3.5);
    ack(&mut bench, &mut copa, 200, true);
    assert_eq!(copa.inverse_delta(), 3.5);
    lose(&mut bench, &mut copa);
    assert_eq!(copa.inverse_delta(), 2.0);
    ack(&mut bench, &mut copa, 200, true);
    ack(&mut bench, &mut copa, 200, true);
    assert_eq!(copa.inverse_delta(), 3.0);
    ack(&mut bench, &mut copa, 100, true);
    assert_eq!(copa.inverse_delta(), 2.0);
    let (mut bench, mut copa) = avoiding(&Params { competitive: false, ..Params::default() });
    for _ in 0..14 {
        ack(&mut bench, &mut copa, 200, true);
    }
    assert_eq!(copa.inverse_delta(), 2.0);
}

/// §2.2: the default mode does not react to losses. A timeout leaves two segments.
#[test]
fn a_loss_does_not_change_the_window() {
    let (mut bench, mut copa) = avoiding(&Params::default());
    lose(&mut bench, &mut copa);
    assert_eq!(copa.allowance().window, SEGMENT * 20);
    bench.congestion(&mut copa, Cause::Timeout);
    assert_eq!(copa.allowance().window, SEGMENT * 2);
    assert_eq!(ack(&mut bench, &mut copa, 100, false), 3.0);
}

/// What arrives above a gap moves the window as what arrives in sequence: both take 100 ms, and the window moves up by
/// 1/(0.5·20) = 0.1 with each. Of a segment that was retransmitted there is the echoed time only, and without that
/// nothing is known.
#[test]
fn segments_above_a_gap_count() {
    let (mut bench, mut copa) = avoiding(&Params::default());
    bench.now += Duration::from_millis(100);
    let rtt = Some(Duration::from_millis(100));
    copa.on_delivery(&arrival(&bench, rtt, false), &mut bench.cx());
    assert!((copa.window().0 - 20.1).abs() < 1e-9);
    bench.now += Duration::from_millis(100);
    let nothing = arrival(&bench, None, false);
    copa.on_delivery(&nothing, &mut bench.cx());
    assert!((copa.window().0 - 20.1).abs() < 1e-9);
    bench.rtt = Duration::from_millis(100);
    bench.ack(&mut copa);
    copa.on_delivery(&nothing, &mut bench.cx());
    assert!((copa.window().0 - (20.1 + 2.0 / 20.1)).abs() < 1e-9);
}
