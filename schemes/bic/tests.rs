//! One test per claim about BIC, with the constants of ndnSIM: 14, 16 and β = 0.8.

use contract::{Cause, Congestion, CongestionControl};

use super::{Bic, OnTimeout, Params};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn bic(initial: u64) -> (Bench, Bic) {
    (Bench::new(), Bic::new(&Params::default(), &setup(initial)))
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

/// [NDNSIM]: +1 per segment up to 14. There is no target yet, which takes the window back by (0 − 14)/14; from then on
/// the maximum is infinite and the window grows by 16/W: 13, 14, 14 + 16/14.
#[test]
fn slow_start_ends_at_fourteen() {
    let (mut bench, mut controller) = bic(1);
    for window in 2..=14 {
        bench.ack(&mut controller);
        close(controller.window().0, f64::from(window));
    }
    for window in [13.0, 14.0, 14.0 + 16.0 / 14.0] {
        bench.ack(&mut controller);
        close(controller.window().0, window);
    }
}

/// [NDNSIM]: from 100: W = 80 = min, max = (100 + 80)/2 = 90 since the last maximum was infinite, target = 85.
/// Then W = 80 + 5/80 = 80.0625, target = (90 + 80.0625)/2 = 85.03125, W = 80.0625 + 4.96875/80.0625.
#[test]
fn a_cut_leaves_four_fifths_and_the_search_goes_half_way() {
    let (mut bench, mut controller) = bic(100);
    bench.congestion(&mut controller, Cause::Loss);
    close(controller.window().0, 80.0);
    assert_eq!(
        (controller.state().min, controller.state().max, controller.state().target),
        (80.0, 90.0, 85.0)
    );
    bench.ack(&mut controller);
    close(controller.window().0, 80.0625);
    close(controller.state().target, 85.031_25);
    bench.ack(&mut controller);
    close(controller.window().0, 80.0625 + 4.968_75 / 80.0625);
}

/// [NDNSIM]: far from the target by 16/W: 1000 → 800, max 900, target 850; the distance is 50.
#[test]
fn the_window_grows_by_sixteen_a_round_at_most() {
    let (mut bench, mut controller) = bic(1000);
    bench.congestion(&mut controller, Cause::Loss);
    bench.ack(&mut controller);
    close(controller.window().0, 800.02);
    let undo = controller.window().0;
    bench.round(&mut controller);
    assert!((15.5..16.0).contains(&(controller.window().0 - undo)), "{}", controller.window().0 - undo);
}

/// [NDNSIM]: cut again at once, at 80 below 90: W = 64, max = (80 + 64)/2 = 72, target 68. A cut at W beyond the
/// maximum, which the search has set to infinity by then, aims lower as well: max = (W + 0.8·W)/2.
#[test]
fn a_lower_maximum_makes_room_for_others() {
    let (mut bench, mut controller) = bic(100);
    bench.congestion(&mut controller, Cause::Loss);
    while controller.window().0 < 95.0 {
        bench.ack(&mut controller);
    }
    let top = controller.window().0;
    bench.congestion(&mut controller, Cause::Loss);
    close(controller.state().max, top * 0.9);
    let (mut bench, mut controller) = bic(100);
    bench.congestion(&mut controller, Cause::Loss);
    bench.congestion(&mut controller, Cause::Loss);
    close(controller.window().0, 64.0);
    assert_eq!((controller.state().max, controller.state().target), (72.0, 68.0));
}

/// [NDNSIM]: at the maximum the search begins again beyond it: by 1, 2, 4, 8 a round, then it is over.
#[test]
fn beyond_the_maximum_the_window_grows_ever_faster() {
    let (mut bench, mut controller) = bic(100);
    bench.congestion(&mut controller, Cause::Loss);
    while !controller.state().probing {
        bench.ack(&mut controller);
    }
    assert!((90.0 - controller.window().0).abs() < 1e-3, "{:?}", controller.window());
    let goal = controller.window().0 + 1.0;
    close(controller.state().goal, goal);
    let mut steps = Vec::new();
    while controller.state().probing {
        if steps.last() != Some(&controller.state().step) {
            steps.push(controller.state().step);
        }
        bench.ack(&mut controller);
    }
    assert_eq!(steps, [1.0, 2.0, 4.0, 8.0]);
    // 1 + 2 + 4 + 8 beyond 90, and less than a step more for each
    assert!((105.0..106.0).contains(&controller.window().0), "{:?}", controller.window());
}

/// [NDNSIM]: 10 → 8 = ssthresh; then +1 at the threshold, and +1/W above it.
#[test]
fn a_small_window_is_cut_and_grows_as_renos() {
    let (mut bench, mut controller) = bic(10);
    bench.congestion(&mut controller, Cause::Loss);
    close(controller.window().0, 8.0);
    assert_eq!(controller.ssthresh(), SEGMENT * 8);
    for window in [9.0, 9.0 + 1.0 / 9.0] {
        bench.ack(&mut controller);
        close(controller.window().0, window);
    }
}

#[test]
fn a_timeout_is_a_loss_or_leaves_one_segment() {
    for (on_timeout, window) in [(OnTimeout::Cut, 80.0), (OnTimeout::Restart, 1.0)] {
        let params = Params { on_timeout, ..Params::default() };
        let (mut bench, mut controller) = (Bench::new(), Bic::new(&params, &setup(100)));
        bench.congestion(&mut controller, Cause::Timeout);
        close(controller.window().0, window);
        assert_eq!(controller.state().max, 90.0);
    }
}

#[test]
fn only_the_first_event_of_an_episode_cuts_and_a_spurious_one_is_undone() {
    let (mut bench, mut controller) = bic(100);
    let undo = *controller.state();
    bench.congestion(&mut controller, Cause::Mark);
    let event = Congestion { cause: Cause::Loss, bytes: SEGMENT, in_flight: SEGMENT * 80, first: false };
    controller.on_congestion(&event, &mut bench.cx());
    close(controller.window().0, 80.0);
    controller.on_spurious(&mut bench.cx());
    assert_eq!(*controller.state(), undo);
}

#[test]
fn the_window_stands_still_while_it_is_not_filled() {
    let (mut bench, mut controller) = bic(20);
    let mut ack = bench.an_ack(&controller);
    ack.app_limited = true;
    bench.deliver_ack(&mut controller, &ack);
    close(controller.window().0, 20.0);
}
