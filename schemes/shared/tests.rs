//! Tests of `Classic`, with Reno.

use contract::{Cause, Congestion, CongestionControl, Idle};
use units::{Bytes, Duration};

use super::testing::{Bench, SEGMENT, setup};
use crate::reno::{Control, Params, control};

fn classic(initial: u64) -> (Bench, Control) {
    (Bench::new(), control(&Params::default(), &setup(initial)))
}

/// In congestion avoidance and in slow start alike.
#[test]
fn the_window_stands_still_while_it_is_not_filled_repaired_or_marked() {
    for cut in [false, true] {
        let (mut bench, mut controller) = classic(20);
        if cut {
            bench.congestion(&mut controller, Cause::Loss);
        }
        let before = controller.allowance();
        for which in 0..3 {
            let mut ack = bench.an_ack(&controller);
            match which {
                0 => ack.app_limited = true,
                1 => ack.recovering = true,
                _ => ack.marked = true,
            }
            bench.deliver_ack(&mut controller, &ack);
            assert_eq!(controller.allowance(), before);
        }
        bench.ack(&mut controller);
        assert!(controller.allowance().window > before.window);
    }
}

#[test]
fn only_the_first_event_of_an_episode_reduces_the_window() {
    let (mut bench, mut controller) = classic(32);
    bench.congestion(&mut controller, Cause::Loss);
    for cause in [Cause::Loss, Cause::Mark, Cause::Loss] {
        let event = Congestion { cause, bytes: SEGMENT, in_flight: SEGMENT * 16, first: false };
        controller.on_congestion(&event, &mut bench.cx());
    }
    assert_eq!(controller.allowance().window, SEGMENT * 16);
    assert_eq!(controller.ssthresh(), SEGMENT * 16);
}

/// RFC 9438 §4.6: max(ssthresh, 1) for the window after a mark, max(ssthresh, 2) for the threshold; 2 for both after a
/// loss.
#[test]
fn a_mark_may_leave_a_window_below_two_segments_and_a_loss_not() {
    for (cause, window) in [(Cause::Mark, 1500), (Cause::Loss, 2000)] {
        let (mut bench, mut controller) = classic(3);
        bench.congestion(&mut controller, cause);
        assert_eq!(controller.allowance().window, Bytes::new(window));
        assert_eq!(controller.ssthresh(), SEGMENT * 2);
    }
}

#[test]
fn an_undo_restores_window_and_threshold_once() {
    let (mut bench, mut controller) = classic(32);
    bench.congestion(&mut controller, Cause::Timeout);
    assert_eq!(controller.allowance().window, SEGMENT);
    controller.on_spurious(&mut bench.cx());
    assert_eq!(controller.allowance().window, SEGMENT * 32);
    assert_eq!(controller.ssthresh(), Bytes::UNLIMITED);
    assert!(controller.in_slow_start());
    // there is nothing to restore
    bench.congestion(&mut controller, Cause::Loss);
    controller.on_spurious(&mut bench.cx());
    let before = controller.allowance();
    controller.on_spurious(&mut bench.cx());
    assert_eq!(controller.allowance(), before);
}

/// RFC 5681 §4.1: at most the initial window; the threshold keeps the window of congestion avoidance.
#[test]
fn an_idle_time_reduces_the_window_to_the_initial_one() {
    let (mut bench, mut controller) = classic(10);
    for _ in 0..3 {
        bench.round(&mut controller);
    }
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(controller.allowance().window, SEGMENT * 40);
    controller.on_idle(&Idle { time: Duration::from_secs(5), halvings: None }, &mut bench.cx());
    assert_eq!(controller.allowance().window, SEGMENT * 10);
    assert_eq!(controller.ssthresh(), SEGMENT * 40);
    assert!(controller.in_slow_start());
    // a smaller window does not change
    let (mut bench, mut controller) = classic(10);
    bench.congestion(&mut controller, Cause::Loss);
    controller.on_idle(&Idle { time: Duration::from_secs(5), halvings: None }, &mut bench.cx());
    assert_eq!(controller.allowance().window, SEGMENT * 5);
}

#[test]
fn there_is_no_threshold_before_the_first_reduction() {
    let (_, controller) = classic(10);
    assert_eq!(controller.ssthresh(), Bytes::UNLIMITED);
}
