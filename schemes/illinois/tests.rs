//! One test per rule of Linux' tcp_illinois.c, with numbers worked by hand. α is in parts of 128, β in parts of 64,
//! delays in microseconds.

use contract::{Ack, Cause, CongestionControl};
use units::{Duration, Time};

use super::control::{ALPHA_SCALE, BETA_SCALE};
use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn illinois(initial: u64) -> (Bench, Control) {
    with(Params::default(), initial)
}

fn with(params: Params, initial: u64) -> (Bench, Control) {
    (Bench::new(), control(&params, &setup(initial)))
}

/// An acknowledgement of `packets` segments.
fn an_ack(bench: &Bench, controller: &Control, packets: u32) -> Ack {
    Ack { packets, bytes: SEGMENT * u64::from(packets), ..bench.an_ack(controller) }
}

/// Gives that acknowledgement. Returns the window in segments.
fn ack(bench: &mut Bench, controller: &mut Control, packets: u32) -> u64 {
    let ack = an_ack(bench, controller, packets);
    bench.deliver_ack(controller, &ack);
    window(controller)
}

fn window(controller: &Control) -> u64 {
    controller.allowance().window.as_u64() / 1000
}

/// A round with one sample of `millis`. Returns α and β.
fn round(bench: &mut Bench, controller: &mut Control, millis: u64) -> (u64, u64) {
    bench.now += Duration::from_secs(1);
    bench.rtt = Duration::from_millis(millis);
    ack(bench, controller, 1);
    values(controller)
}

fn values(controller: &Control) -> (u64, u64) {
    (controller.update().alpha, controller.update().beta)
}

/// tcp_slow_start: a segment for each segment acknowledged: 10 + 1 + 3.
#[test]
fn slow_start_adds_a_segment_for_each_segment_acknowledged() {
    let (mut bench, mut controller) = illinois(10);
    assert_eq!(ack(&mut bench, &mut controller, 1), 11);
    assert_eq!(ack(&mut bench, &mut controller, 3), 14);
}

/// Before the first round β is 1/2: 40 − 20. Without a queue α = 10: two acknowledged segments make 20 ≥ 20, three 30 ≥
/// 21; five make 50, twice 22, so two segments more.
#[test]
fn without_a_queue_the_window_grows_by_ten_per_round_trip() {
    let (mut bench, mut controller) = illinois(40);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(window(&controller), 20);
    let windows: Vec<u64> =
        [1, 1, 1, 1, 1, 5].map(|packets| ack(&mut bench, &mut controller, packets)).into();
    assert_eq!(windows, [20, 21, 21, 21, 22, 24]);
    assert_eq!(values(&controller), (10 * ALPHA_SCALE, BETA_SCALE / 8));
}

/// Base 100 ms, maximum 200 ms, so d_m = 100 000 and d₁ = 1000. At 200 ms 99 000·1280/(99 000 + 99 000·1242/38) = 126
/// 720 000/3 334 736 = 38, which is 0.3. At 150 ms 126 720 000/(99 000 + 49 000·1242/38) = 126 720 000/1 700 526 = 74.
/// At 110 ms 126 720 000/393 157 = 322. β: from 80 000 on a half, up to 10 000 an eighth; at 50 000 (8·30 000 + 32·40
/// 000)/70 000 = 21, at 11 000 (8·69 000 + 32·1000)/70 000 = 8.
#[test]
fn the_delay_sets_increase_and_reduction() {
    let (mut bench, mut controller) = illinois(100);
    assert_eq!(round(&mut bench, &mut controller, 100), (1280, 8));
    assert_eq!(round(&mut bench, &mut controller, 200), (38, 32));
    assert_eq!(round(&mut bench, &mut controller, 150), (74, 21));
    assert_eq!(round(&mut bench, &mut controller, 110), (322, 8));
    assert_eq!(round(&mut bench, &mut controller, 111).1, 8);
    assert_eq!(round(&mut bench, &mut controller, 180).1, 32);
    // 106 segments by then; 106 − 106·32/64, and after 150 ms 1 of 54 does not grow: 54 − ⌊54·21/64⌋ = 54 − 17
    assert_eq!(window(&controller), 106);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(window(&controller), 53);
    round(&mut bench, &mut controller, 150);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(window(&controller), 53 - 53 * 21 / 64);
}

/// After a delay above 1 % of the maximum, four rounds below it change nothing, and the fifth gives 10. Before any such
/// delay, the first does.
#[test]
fn five_rounds_without_a_queue_give_the_full_increase() {
    for (theta, rounds) in [(5, 4), (2, 1), (1, 0)] {
        let (mut bench, mut controller) = with(Params { theta, ..Params::default() }, 100);
        assert_eq!(round(&mut bench, &mut controller, 100).0, 1280);
        assert_eq!(round(&mut bench, &mut controller, 200).0, 38);
        for _ in 0..rounds {
            assert_eq!(round(&mut bench, &mut controller, 101).0, 38);
        }
        assert_eq!(round(&mut bench, &mut controller, 101).0, 1280);
    }
}

/// Below 15 segments α = 1 and β = 1/2, whatever the delay: the window of 14 grows at the 14th acknowledgement. At 15
/// the delay counts.
#[test]
fn a_small_window_is_renos() {
    let (mut bench, mut controller) = illinois(28);
    bench.congestion(&mut controller, Cause::Loss);
    for _ in 0..13 {
        assert_eq!(ack(&mut bench, &mut controller, 1), 14);
        assert_eq!(values(&controller), (128, 32));
    }
    assert_eq!(ack(&mut bench, &mut controller, 1), 15);
    assert_eq!(round(&mut bench, &mut controller, 100), (1280, 8));
    let (mut bench, mut controller) = with(Params { win_thresh: 200, ..Params::default() }, 100);
    assert_eq!(round(&mut bench, &mut controller, 100), (128, 32));
}

/// A round ends with the first acknowledgement of a segment sent after its start, and has the average of its samples.
/// The round that starts at 2 s: at 2.05 s 200 ms of a segment of 1.85 s, which does not end it; at 2.15 s 100 ms of
/// one of 2.05 s, and the average is 150 ms.
#[test]
fn the_delay_is_the_average_of_a_round() {
    let (mut bench, mut controller) = illinois(100);
    round(&mut bench, &mut controller, 200);
    assert_eq!(round(&mut bench, &mut controller, 100), (1280, 8));
    for (millis, rtt, alpha) in [(2050, 200, 1280), (2150, 100, 74)] {
        (bench.now, bench.rtt) = (Time::ZERO + Duration::from_millis(millis), Duration::from_millis(rtt));
        ack(&mut bench, &mut controller, 1);
        assert_eq!(values(&controller).0, alpha, "{millis}");
    }
}

/// tcp_illinois_acked is called in recovery as well, tcp_illinois_cong_avoid is not: a sample of 200 ms counts, but the
/// round ends after the recovery, with the average of 200 and 100 ms. Without data of the application the round ends.
#[test]
fn samples_count_in_recovery_and_rounds_end_afterwards() {
    for (recovering, alpha) in [(true, 1280), (false, 38)] {
        let (mut bench, mut controller) = illinois(100);
        round(&mut bench, &mut controller, 100);
        bench.now = Time::ZERO + Duration::from_secs(2);
        bench.rtt = Duration::from_millis(200);
        let mut paused = an_ack(&bench, &controller, 1);
        (paused.recovering, paused.app_limited) = (recovering, !recovering);
        bench.deliver_ack(&mut controller, &paused);
        assert_eq!(values(&controller).0, alpha);
        if recovering {
            assert_eq!(round(&mut bench, &mut controller, 100).0, 74);
        }
    }
}

/// tcp_enter_loss asks for the threshold first: 65 − 65·8/64 = 57. Then α = 1 and β = 1/2, and rounds end again when
/// the 65 in flight are acknowledged: 60 lead to the threshold at 1 + 60 = 57, where the excess does not count; with 5
/// more the window of 57 does not grow yet. The next acknowledgement is of a new segment, and gives α = 10.
#[test]
fn a_timeout_returns_to_renos_values() {
    let (mut bench, mut controller) = illinois(64);
    assert_eq!(ack(&mut bench, &mut controller, 1), 65);
    assert_eq!(values(&controller), (1280, 8));
    bench.congestion(&mut controller, Cause::Timeout);
    assert_eq!((window(&controller), controller.ssthresh()), (1, SEGMENT * 57));
    for packets in [60, 5] {
        bench.now += Duration::from_secs(1);
        ack(&mut bench, &mut controller, packets);
        assert_eq!((window(&controller), values(&controller)), (57, (128, 32)));
    }
    assert_eq!(round(&mut bench, &mut controller, 100), (1280, 8));
    // 5 + 1 acknowledged: 60 ≥ 57
    assert_eq!(window(&controller), 58);
}

/// 3 − 3·32/64 = 2, and 2 at least.
#[test]
fn two_segments_are_kept_at_least() {
    for (window, reduced) in [(3, 2), (2, 2), (5, 3)] {
        let (mut bench, mut controller) = illinois(window);
        bench.congestion(&mut controller, Cause::Loss);
        assert_eq!(controller.ssthresh(), SEGMENT * reduced, "{window}");
    }
}

/// α in parts of 128, β in parts of 64: 20 is 2560, 0.5 is 64, so at the maximum
/// 99 000·2560/(99 000 + 99 000·2496/64) = 64; 1/4 is 16 and 3/4 is 48. Thresholds of 2, 20 and 60 %: 2 % is low for α;
/// at 50 % (16·10 000 + 48·30 000)/40 000 = 40.
#[test]
fn the_parameters_set_the_ranges() {
    let params = Params {
        min_alpha: 0.5,
        max_alpha: 20.0,
        min_beta: 0.25,
        max_beta: 0.75,
        alpha_delay: 0.02,
        low_delay: 0.2,
        high_delay: 0.6,
        ..Params::default()
    };
    let (mut bench, mut controller) = with(params, 100);
    assert_eq!(round(&mut bench, &mut controller, 100), (2560, 16));
    assert_eq!(round(&mut bench, &mut controller, 200), (64, 48));
    assert_eq!(round(&mut bench, &mut controller, 150).1, 40);
    assert_eq!(round(&mut bench, &mut controller, 160).1, 48);
    assert_eq!(round(&mut bench, &mut controller, 120).1, 16);
    let before = values(&controller).0;
    assert_eq!(round(&mut bench, &mut controller, 102).0, before);
    let (mut bench, mut controller) = with(Params { base_alpha: 2.0, ..Params::default() }, 10);
    assert_eq!(round(&mut bench, &mut controller, 100), (256, 32));
}

/// dm/100, dm/10 and 8·dm/10 in whole microseconds, as the kernel has them, for all delays up to a tenth of a second
/// and some beyond.
#[test]
fn shares_of_a_delay_are_those_of_the_kernels_integers() {
    for n in (0..100_000u64).chain((100_000..3_400_000).step_by(37)) {
        let share = |share: f64| (n as f64 * share) as u64;
        assert_eq!((share(0.01), share(0.1), share(0.8)), (n / 100, n / 10, 8 * n / 10), "{n}");
    }
}
