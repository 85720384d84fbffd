//! One test per rule of Linux' tcp_htcp.c, with numbers computed by hand. A tick is 4 ms, and α and β are in parts
//! of 128.

use contract::{Cause, CongestionControl};
use units::{Duration, Time};

use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn htcp(initial: u64) -> (Bench, Control) {
    with(Params::default(), initial)
}

fn with(params: Params, initial: u64) -> (Bench, Control) {
    let (mut bench, mut controller) = (Bench::new(), control(&params, &setup(initial)));
    bench.fill(&mut controller);
    (bench, controller)
}

/// Acknowledges `packets` segments with one acknowledgement. Returns the window in segments.
fn ack(bench: &mut Bench, controller: &mut Control, packets: u32) -> u64 {
    bench.deliver(controller, packets);
    window(controller)
}

/// A loss that is repaired at once.
fn lose(bench: &mut Bench, controller: &mut Control) {
    bench.congestion(controller, Cause::Loss);
    controller.on_recovered(Cause::Loss, &mut bench.cx());
}

/// Acknowledges one segment with a round-trip time of `millis`.
fn timed(bench: &mut Bench, controller: &mut Control, millis: u64) {
    bench.rtt = Duration::from_millis(millis);
    ack(bench, controller, 1);
}

fn window(controller: &Control) -> u64 {
    controller.allowance().window.as_u64() / 1000
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(seconds)
}

/// tcp_slow_start: a segment for each segment acknowledged: 10 + 1 + 3.
#[test]
fn slow_start_adds_a_segment_for_each_segment_acknowledged() {
    let (mut bench, mut controller) = htcp(10);
    assert_eq!(ack(&mut bench, &mut controller, 1), 11);
    assert_eq!(ack(&mut bench, &mut controller, 3), 14);
}

/// Within a second of the loss α = 2·64·1 = 128. From 20 the acknowledgement at which 20 are counted makes the window
/// grow, and is not counted itself: 21 of one segment each. Of three each: 3, 6 … 21, and the eighth; the next window
/// of 22 takes 24 and one more, the ninth.
#[test]
fn shortly_after_a_loss_the_window_grows_by_one_per_round_trip() {
    let (mut bench, mut controller) = htcp(40);
    lose(&mut bench, &mut controller);
    assert_eq!((window(&controller), controller.module().alpha), (20, 128));
    for _ in 0..20 {
        assert_eq!(ack(&mut bench, &mut controller, 1), 20);
    }
    assert_eq!(ack(&mut bench, &mut controller, 1), 21);
    for (acks, window) in [(7, 21), (1, 22), (8, 22), (1, 23)] {
        let mut last = 0;
        for _ in 0..acks {
            last = ack(&mut bench, &mut controller, 3);
        }
        assert_eq!(last, window);
    }
}

/// The window of 20 grows at the 21st acknowledgement, which computes α. After 3 s, 750 ticks: 500 beyond the first
/// second, (10·500 + 250·250/250)/250 = 21, so α = 22, in 128ths 2816: 1 + 10·2 + (2/2)². Then one counted
/// acknowledgement is enough for a window up to 22, two up to 44.
#[test]
fn the_increase_grows_with_the_time_since_the_loss() {
    let (mut bench, mut controller) = htcp(40);
    lose(&mut bench, &mut controller);
    bench.now = at(3.0);
    for _ in 0..21 {
        ack(&mut bench, &mut controller, 1);
    }
    assert_eq!(controller.module().alpha, 22 * 128);
    let windows: Vec<u64> = (0..7).map(|_| ack(&mut bench, &mut controller, 1)).collect();
    assert_eq!(windows, [21, 22, 22, 23, 23, 23, 24]);
}

/// α after this time, by the same rule: 1 s: 1; 1.004 s: (10 + 0)/250 = 0, 1; 1.1 s: 25 ticks, (250 + 12·12/250)/250 =
/// 1, so 2; 2 s: (2500 + 125·125/250)/250 = 10, so 11; 11 s: 2500 ticks, (25 000 + 1250·1250/250)/250 = 125, so 126.
#[test]
fn the_increase_at_several_times() {
    for (seconds, alpha) in [(0.5, 1), (1.0, 1), (1.004, 1), (1.1, 2), (2.0, 11), (11.0, 126)] {
        assert_eq!(alpha_at(Params::default(), seconds, 100), alpha * 128, "{seconds}");
    }
}

/// α at this time after a loss, with this round-trip time.
fn alpha_at(params: Params, seconds: f64, rtt_ms: u64) -> u32 {
    let (mut bench, mut controller) = with(params, 4);
    bench.rtt = Duration::from_millis(rtt_ms);
    lose(&mut bench, &mut controller);
    bench.now = at(seconds);
    for _ in 0..3 {
        ack(&mut bench, &mut controller, 1);
    }
    assert_eq!(window(&controller), 3);
    controller.module().alpha
}

/// α of 22 after 3 s is divided by 100 ms over the round-trip time, in eighths: 20 ms, 5 ticks: 200/5 = 40,
/// 22·8/40 = 4. 400 ms: 200/100 = 2, at least 4, so 44. 4 ms: 200/1, at most 80, so 2. 100 ms: 8, so 22. Without
/// scaling 22.
#[test]
fn the_increase_is_in_proportion_to_the_round_trip_time() {
    for (rtt, alpha) in [(20, 4), (400, 44), (4, 2), (100, 22)] {
        assert_eq!(alpha_at(Params::default(), 3.0, rtt), alpha * 128, "{rtt}");
    }
    let plain = Params { use_rtt_scaling: false, ..Params::default() };
    assert_eq!(alpha_at(plain, 3.0, 20), 22 * 128);
    // a reference of 50 ms: 100/5 = 20, 22·8/20 = 8; a minimum ratio of 1: 22; a maximum of 5: 22·8/40 = 4
    let reference = Params { reference_rtt: Duration::from_millis(50), ..Params::default() };
    assert_eq!(alpha_at(reference, 3.0, 20), 8 * 128);
    assert_eq!(alpha_at(Params { min_rtt_ratio: 1.0, ..Params::default() }, 3.0, 400), 22 * 128);
    assert_eq!(alpha_at(Params { max_rtt_ratio: 5.0, ..Params::default() }, 3.0, 4), 4 * 128);
}

/// After 3 s: with Δ_L = 2 s, 250 ticks beyond: (2500 + 62)/250 = 10, so 11. With 20 per second: (10 000 + 250)/250 =
/// 41, so 42. With a divisor of 1: (5000 + 500·500/250)/250 = 24, so 25. At 1000 ticks per second 22 as well; at 10: 30
/// ticks, (200 + 10·10/10)/10 = 21, and 8/1 = 8, so 22.
#[test]
fn the_parameters_of_the_increase() {
    let alpha = |params| alpha_at(params, 3.0, 100);
    assert_eq!(alpha(Params { low_speed: Duration::from_secs(2), ..Params::default() }), 11 * 128);
    assert_eq!(alpha(Params { linear: 20, ..Params::default() }), 42 * 128);
    assert_eq!(alpha(Params { square_divisor: 1, ..Params::default() }), 25 * 128);
    assert_eq!(alpha(Params { hz: 1000, ..Params::default() }), 22 * 128);
    assert_eq!(alpha(Params { hz: 10, ..Params::default() }), 22 * 128);
}

/// The window after the second of two losses; the first, at 200, keeps `min_beta` and lets β follow. Round-trip times
/// between them.
fn second_reduction(params: Params, rtts: &[u64]) -> (u64, Control) {
    let (mut bench, mut controller) = with(params, 200);
    lose(&mut bench, &mut controller);
    for rtt in rtts {
        timed(&mut bench, &mut controller, *rtt);
    }
    lose(&mut bench, &mut controller);
    (window(&controller), controller)
}

/// Without the switch by throughput. 100 to 120 ms, 25 to 30 ticks: 25·128/30 = 106, at most 102, and 100·102/128 = 79.
/// To 160 ms, 40 ticks, in steps of 20 ms: 80, and 100·80/128 = 62. To 300 ms: 75 ticks, 42, at least 64: 50. A step of
/// 24 ms, from 25 to 31 ticks, is none, as 30 is the limit: 128, at most 102. A minimum of 12 ms, 3 ticks, keeps a
/// half; of 16 ms, 4 ticks, with a maximum of 20 ms, 5 ticks: 102.
#[test]
fn the_share_kept_follows_the_round_trip_times() {
    let params = || Params { use_bandwidth_switch: false, ..Params::default() };
    let steps: Vec<u64> = (0..=10).map(|step| 100 + 20 * step).collect();
    for (rtts, reduced) in [
        (&steps[..2], 79),
        (&steps[..4], 62),
        (&steps[..], 50),
        (&[100, 124], 79),
        (&[12, 24], 50),
        (&[16, 20], 79),
    ] {
        assert_eq!(second_reduction(params(), rtts).0, reduced, "{rtts:?}");
    }
    // a maximum of 0.7, 89 of 128; a minimum of 0.6, 76 of 128, so that 200·76/128 = 118 and 118·76/128 = 70 are kept;
    // a limit of 120 ms for the minimum; steps of up to 200 ms
    assert_eq!(second_reduction(Params { max_beta: 0.7, ..params() }, &steps[..2]).0, 69);
    assert_eq!(second_reduction(Params { min_beta: 0.6, ..params() }, &steps).0, 70);
    let above = Duration::from_millis(120);
    assert_eq!(second_reduction(Params { adaptive_above: above, ..params() }, &steps[..2]).0, 50);
    let step = Duration::from_millis(200);
    assert_eq!(second_reduction(Params { max_rtt_step: step, ..params() }, &[100, 160]).0, 62);
}

/// 25 and 40 ticks: 25 + 15·95/100 = 39; with a memory of 0.5: 25 + 7 = 32.
#[test]
fn the_maximum_round_trip_time_fades_at_each_reduction() {
    let rtts = [100, 120, 140, 160];
    let params = || Params { use_bandwidth_switch: false, ..Params::default() };
    assert_eq!(second_reduction(params(), &rtts).1.module().max_rtt, 39);
    assert_eq!(second_reduction(Params { max_rtt_memory: 0.5, ..params() }, &rtts).1.module().max_rtt, 32);
}

/// In whole numbers as the kernel has them, for all distances that a round-trip time can have.
#[test]
fn shares_are_those_of_the_kernels_integers() {
    for n in 0..100_000u32 {
        assert_eq!((f64::from(n) * 0.95) as u32, n * 95 / 100, "{n}");
        assert_eq!(0.2 * f64::from(n) >= f64::from(n / 5), 5 * (n + n / 5) <= 6 * n, "{n}");
    }
}

/// β after 600 ms at each of these throughputs, in segments per 100 ms. The window is small, so that each
/// acknowledgement gives an estimate.
fn shares_kept(params: &Params, rates: &[u32]) -> Vec<u32> {
    let (mut bench, mut controller) = with(params.clone(), 4);
    ack(&mut bench, &mut controller, 1);
    lose(&mut bench, &mut controller);
    rates
        .iter()
        .map(|rate| {
            for _ in 0..6 {
                bench.now += Duration::from_millis(100);
                ack(&mut bench, &mut controller, *rate);
            }
            lose(&mut bench, &mut controller);
            controller.module().beta
        })
        .collect()
}

/// 200 segments per second after none: a half. Then 200 again: within a fifth, so that β can follow at the next loss,
/// where it is at most 102. 240 is within a fifth of 200 and 290 is not of 240; after that a half twice, and 102.
#[test]
fn a_change_of_throughput_keeps_a_half() {
    let rates = [20, 20, 20, 24, 29, 29, 29];
    assert_eq!(shares_kept(&Params::default(), &rates), [64, 64, 102, 102, 64, 64, 102]);
    // 5 % allowed: 240 is a change from 200, and 290 from 240
    let narrow = Params { switch_share: 0.05, ..Params::default() };
    assert_eq!(shares_kept(&narrow, &rates), [64, 64, 102, 64, 64, 64, 102]);
    let off = Params { use_bandwidth_switch: false, ..Params::default() };
    assert_eq!(shares_kept(&off, &rates), [102; 7]);
}

/// htcp_param_update comes before htcp_reset: after 3 s without a loss α is 22 at the loss, and makes the window of 20
/// grow at the second acknowledgement, which counts the time from the loss on: α = 1.
#[test]
fn the_first_increase_after_a_loss_is_that_before_it() {
    let (mut bench, mut controller) = htcp(39);
    ack(&mut bench, &mut controller, 1);
    bench.now = at(3.0);
    lose(&mut bench, &mut controller);
    assert_eq!((window(&controller), controller.module().alpha), (20, 22 * 128));
    assert_eq!(ack(&mut bench, &mut controller, 1), 20);
    assert_eq!(ack(&mut bench, &mut controller, 1), 21);
    assert_eq!(controller.module().alpha, 128);
}

/// htcp_state: the time counts from the end of the recovery. Of 4 s from the loss the recovery takes 1 s, so α is the
/// value after 3 s.
#[test]
fn the_time_in_recovery_does_not_count() {
    let (mut bench, mut controller) = htcp(4);
    bench.congestion(&mut controller, Cause::Loss);
    bench.now = at(1.0);
    let mut paused = bench.an_ack(&controller);
    paused.recovering = true;
    bench.deliver_as(&mut controller, &paused);
    controller.on_recovered(Cause::Loss, &mut bench.cx());
    bench.now = at(4.0);
    for _ in 0..3 {
        ack(&mut bench, &mut controller, 1);
    }
    assert_eq!((window(&controller), controller.module().alpha), (3, 22 * 128));
}

/// A timeout at 16 leaves one segment and a threshold of 8. 1 + 3 = 4; the next 5 acknowledged reach 8, and the one
/// over does not count. Acknowledgements of the 16 segments that were in flight count for one each, the one of 7 as
/// well: 1 + 1, and with 6 later ones 8, so that the next makes 9.
#[test]
fn after_a_timeout_slow_start_ends_at_the_threshold() {
    let (mut bench, mut controller) = htcp(16);
    bench.congestion(&mut controller, Cause::Timeout);
    assert_eq!((window(&controller), controller.ssthresh()), (1, SEGMENT * 8));
    assert_eq!([3, 5, 7, 1].map(|packets| ack(&mut bench, &mut controller, packets)), [4, 8, 8, 8]);
    controller.on_recovered(Cause::Timeout, &mut bench.cx());
    assert_eq!([6, 1].map(|packets| ack(&mut bench, &mut controller, packets)), [8, 9]);
}

/// 5·64/128 = 2 of 5, and 2 at least.
#[test]
fn two_segments_are_kept_at_least() {
    for (window, reduced) in [(5, 2), (7, 3), (3, 2), (2, 2)] {
        let (mut bench, mut controller) = htcp(window);
        bench.congestion(&mut controller, Cause::Loss);
        assert_eq!(controller.ssthresh(), SEGMENT * reduced, "{window}");
    }
}

/// htcp_cwnd_undo: a loss after 3 s was none. The time counts from the beginning again, so that α is 22 and not 1. The
/// maximum round-trip time is that after the loss, 25 + 5·95/100 = 29, because htcp_reset remembers it after
/// htcp_param_update.
#[test]
fn a_spurious_loss_does_not_change_the_time_since_the_last_one() {
    let (mut bench, mut controller) = htcp(39);
    for millis in [100, 120] {
        timed(&mut bench, &mut controller, millis);
    }
    bench.now = at(3.0);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!((window(&controller), controller.module().max_rtt), (20, 29));
    controller.on_spurious(&mut bench.cx());
    assert_eq!((window(&controller), controller.module().max_rtt), (41, 29));
    controller.set(2, 2);
    for _ in 0..3 {
        ack(&mut bench, &mut controller, 1);
    }
    assert_eq!(controller.module().alpha, 22 * 128);
}
