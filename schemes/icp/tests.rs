//! One test per claim about ICP.

use contract::{Cause, CongestionControl};
use units::{Duration, Time};

use super::{Icp, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn icp(initial: u64) -> (Bench, Icp) {
    let mut bench = Bench::new();
    // the first cut needs one timer since the beginning
    bench.now = Time::ZERO + Duration::from_secs(10);
    (bench, control(&Params::default(), &setup(initial)))
}

/// τ: Data that take just as long are not late.
fn timer(controller: &Icp) -> Duration {
    controller.timeout().expect("a timer").saturating_sub(Duration::from_nanos(1))
}

/// Data with these round-trip times, in milliseconds.
fn receive(bench: &mut Bench, controller: &mut Icp, rtts_ms: impl IntoIterator<Item = u64>) {
    for rtt in rtts_ms {
        bench.rtt = Duration::from_millis(rtt);
        bench.ack(controller);
    }
}

/// [CCNPL]: from a window of 1: after 1, 2, 3 and 4 Data more it is 2, 3, 4 and 5.
#[test]
fn a_window_of_data_adds_a_segment() {
    let (mut bench, mut controller) = icp(1);
    let windows: Vec<u64> = (0..10)
        .map(|_| {
            bench.ack(&mut controller);
            controller.window()
        })
        .collect();
    assert_eq!(windows, [2, 2, 3, 3, 3, 4, 4, 4, 4, 5]);
    assert_eq!(controller.allowance().window, SEGMENT * 5);
}

/// [CCNPL]: 29 samples of 100 ms and one of 150 ms: τ = 100 + 0.8·50 = 140 ms. Then 30 of 200 ms: τ = 200 ms.
#[test]
fn the_timer_stands_at_four_fifths_of_the_range_once_there_are_thirty_samples() {
    let (mut bench, mut controller) = icp(1);
    receive(&mut bench, &mut controller, [100; 29]);
    assert_eq!(timer(&controller), Duration::from_secs(1));
    receive(&mut bench, &mut controller, [150]);
    assert_eq!(timer(&controller), Duration::from_millis(140));
    receive(&mut bench, &mut controller, [200; 30]);
    assert_eq!(timer(&controller), Duration::from_millis(200));
}

/// [CCNPL]
#[test]
fn no_cut_is_made_before_there_are_thirty_samples() {
    let (mut bench, mut controller) = icp(8);
    receive(&mut bench, &mut controller, [100; 29]);
    let before = controller.window();
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(controller.window(), before);
    receive(&mut bench, &mut controller, [100]);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(controller.window(), before / 2);
}

/// [CCNPL]: from 9, thirty Data make 10, 11 and 12. A timer is 100 ms; 6, 3 and 1 are left, and one stays.
#[test]
fn a_cut_is_half_rounded_down_and_made_once_per_timer() {
    let (mut bench, mut controller) = icp(9);
    receive(&mut bench, &mut controller, [100; 30]);
    assert_eq!(controller.window(), 12);
    for (wait, window) in [(0, 6), (60, 6), (39, 6), (1, 6), (1, 3), (101, 1), (101, 1)] {
        bench.now += Duration::from_millis(wait);
        bench.congestion(&mut controller, Cause::Timeout);
        assert_eq!(controller.window(), window, "after {wait} ms more");
    }
}

/// [CCNPL]: Data that come after their timer are delivered, and nothing more.
#[test]
fn late_data_make_nothing_grow() {
    let (mut bench, mut controller) = icp(1);
    receive(&mut bench, &mut controller, (0..30).map(|i| if i == 0 { 200 } else { 100 }));
    assert_eq!(timer(&controller), Duration::from_millis(180));
    let (window, good) = (controller.window(), 30 - (1 + 2 + 3 + 4 + 5 + 6 + 7));
    receive(&mut bench, &mut controller, vec![190; (window - good) as usize]);
    assert_eq!(controller.window(), window);
    receive(&mut bench, &mut controller, vec![150; (window - good) as usize]);
    assert_eq!(controller.window(), window + 1);
}

#[test]
fn a_refusal_counts_as_a_timer_and_a_mark_for_nothing() {
    let (mut bench, mut controller) = icp(1);
    receive(&mut bench, &mut controller, [100; 30]);
    let before = controller.window();
    bench.congestion(&mut controller, Cause::Mark);
    assert_eq!(controller.window(), before);
    bench.congestion(&mut controller, Cause::Refused);
    assert_eq!(controller.window(), before / 2);
}
