//! One test per claim of RFC 9438. Differences of Linux are in `linux_tests.rs`.

use contract::{Cause, Congestion, CongestionControl, ParamTable, ParamValue};
use units::{Duration, Time};

use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn cubic(initial: u64) -> (Bench, Control) {
    (Bench::new(), control(&Params::default(), &setup(initial)))
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

/// §4.2, eq. 1 and 2.
#[test]
fn the_cubic_and_its_plateau_are_those_of_the_vectors() {
    let table: toml::Table = include_str!("vectors.toml").parse().expect("a table");
    let curves = table["curve"].as_array().expect("curves");
    assert_eq!(curves.len(), 3);
    for curve in curves {
        let number = |key: &str| curve[key].as_float().expect("a number");
        let (mut bench, mut controller) = cubic(number("w_max") as u64);
        bench.congestion(&mut controller, Cause::Loss);
        close(controller.window().0, number("w_epoch"));
        bench.ack(&mut controller);
        close(controller.update().k(), number("k"));
        for point in curve["points"].as_array().expect("points") {
            let at = |i: usize| point[i].as_float().expect("a number");
            close(controller.update().w_cubic(at(0)), at(1));
        }
    }
}

/// §4.2 and §4.4: followed for K, the window is back where it was; before that it grows ever more slowly.
#[test]
fn the_window_is_back_at_its_maximum_after_k_and_concave_before() {
    let (mut bench, mut controller) = cubic(100);
    bench.congestion(&mut controller, Cause::Loss);
    let (mut before, mut steps) = (controller.window().0, Vec::new());
    // K is 4.217 s: 42 rounds of 100 ms
    for _ in 0..42 {
        bench.round(&mut controller);
        steps.push(controller.window().0 - before);
        before = controller.window().0;
    }
    assert!((99.0..=101.0).contains(&controller.window().0), "{:?}", controller.window());
    assert!(steps[1] > steps[10] && steps[10] > steps[20] && steps[20] > steps[38], "{steps:?}");
}

/// §4.5: beyond the plateau it grows ever faster.
#[test]
fn the_window_is_convex_beyond_its_maximum() {
    let (mut bench, mut controller) = cubic(100);
    bench.congestion(&mut controller, Cause::Loss);
    let at = |bench: &mut Bench, controller: &mut Control, seconds: u64| {
        while bench.now < Time::ZERO + Duration::from_secs(seconds) {
            bench.round(controller);
        }
        controller.window().0
    };
    let windows: Vec<f64> = [6, 7, 8, 9].iter().map(|s| at(&mut bench, &mut controller, *s)).collect();
    assert!(windows[1] - windows[0] < windows[2] - windows[1], "{windows:?}");
    assert!(windows[2] - windows[1] < windows[3] - windows[2], "{windows:?}");
}

/// §4.2: the target is at most half as much again, so a window far below the cubic grows by half each round at most.
#[test]
fn the_window_grows_by_half_a_round_at_most() {
    let (mut bench, mut controller) = cubic(10);
    bench.congestion(&mut controller, Cause::Loss);
    bench.ack(&mut controller);
    // long after K the cubic is far above
    bench.now += Duration::from_secs(60);
    let before = controller.window().0;
    bench.ack(&mut controller);
    close(controller.window().0, before + 0.5);
}

/// §4.3: where Reno would be faster, the window is Reno's, with α = 9/17 for β = 0.7.
#[test]
fn on_short_paths_the_window_grows_as_reno_with_alpha() {
    let (mut bench, mut controller) = cubic(20);
    bench.rtt = Duration::from_millis(5);
    bench.congestion(&mut controller, Cause::Loss);
    close(controller.window().0, 14.0);
    bench.ack(&mut controller);
    // 14 + (9/17)/14
    close(controller.window().0, 14.037_815_126_050_42);
    bench.round(&mut controller);
    // about 9/17 per round
    assert!((14.54..14.56).contains(&controller.window().0), "{:?}", controller.window());
}

/// §4.3: once the Reno-like window is back at cwnd_prior it grows by one segment per round.
#[test]
fn alpha_is_one_above_the_window_before_the_cut() {
    let (mut bench, mut controller) = cubic(10);
    bench.rtt = Duration::from_millis(1);
    bench.congestion(&mut controller, Cause::Loss);
    while controller.window().0 < 10.0 {
        bench.round(&mut controller);
    }
    let before = controller.window().0;
    bench.ack(&mut controller);
    close(controller.window().0, before + 1.0 / before);
}

/// §4.6: β of the flight is kept, two segments at least, and the window before the cut is the next plateau.
#[test]
fn a_loss_keeps_seven_tenths_of_the_flight() {
    let (mut bench, mut controller) = cubic(50);
    bench.congestion(&mut controller, Cause::Loss);
    close(controller.window().0, 35.0);
    close(controller.update().w_max().0, 50.0);
    let event = Congestion { cause: Cause::Loss, bytes: SEGMENT, in_flight: SEGMENT * 2, first: true };
    controller.on_congestion(&event, &mut bench.cx());
    close(controller.window().0, 2.0);
}

/// §4.7: W_max = cwnd·(1 + β)/2 = 35 · 0.85 = 29.75 when the window had not come back to 50.
#[test]
fn fast_convergence_aims_lower_when_the_window_did_not_come_back() {
    let (mut bench, mut controller) = cubic(50);
    bench.congestion(&mut controller, Cause::Loss);
    bench.congestion(&mut controller, Cause::Loss);
    close(controller.update().w_max().0, 29.75);

    let off = Params { fast_convergence: false, ..Params::default() };
    let (mut bench, mut controller) = (Bench::new(), control(&off, &setup(50)));
    bench.congestion(&mut controller, Cause::Loss);
    bench.congestion(&mut controller, Cause::Loss);
    close(controller.update().w_max().0, 35.0);
}

/// §4.8: after a timeout the window is one segment, the threshold β of the flight; the stage that follows has K = 0.
#[test]
fn a_timeout_leads_to_slow_start_and_then_to_a_plateau_where_it_ends() {
    let (mut bench, mut controller) = cubic(40);
    bench.congestion(&mut controller, Cause::Timeout);
    close(controller.window().0, 1.0);
    assert_eq!(controller.ssthresh(), SEGMENT * 28);
    while controller.in_slow_start() {
        bench.ack(&mut controller);
    }
    bench.ack(&mut controller);
    assert_eq!(controller.update().k(), 0.0);
    close(controller.update().w_max().0, 28.0);
}

/// §4.9: nothing had been lost, so window, threshold and epoch are what they were.
#[test]
fn a_spurious_cut_is_undone() {
    let (mut bench, mut controller) = cubic(100);
    bench.congestion(&mut controller, Cause::Loss);
    for _ in 0..5 {
        bench.round(&mut controller);
    }
    let (window, k, w_max) = (controller.window().0, controller.update().k(), controller.update().w_max().0);
    bench.congestion(&mut controller, Cause::Loss);
    controller.on_spurious(&mut bench.cx());
    close(controller.window().0, window);
    close(controller.update().k(), k);
    close(controller.update().w_max().0, w_max);
    assert_eq!(controller.ssthresh(), SEGMENT * 70);
}

/// §5.8: ten seconds without enough data to send move the window no further than none.
#[test]
fn time_without_data_to_send_does_not_count() {
    let grown = |pause: bool| {
        let (mut bench, mut controller) = cubic(100);
        bench.congestion(&mut controller, Cause::Loss);
        bench.round(&mut controller);
        if pause {
            bench.now += Duration::from_secs(10);
            let mut ack = bench.an_ack(&controller);
            ack.app_limited = true;
            bench.deliver_ack(&mut controller, &ack);
        }
        bench.round(&mut controller);
        controller.window().0
    };
    close(grown(true), grown(false));
}

/// §4.3 says what parameters may be; a share of everything would never let go.
#[test]
fn a_beta_of_one_is_refused_by_name() {
    let error = Params::with(&[("beta".to_owned(), ParamValue::Float(1.0))]).expect_err("out of range");
    assert_eq!(error.name, "beta");
}
