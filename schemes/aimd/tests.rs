//! One test per claim about AIMD.

use contract::{Cause, CongestionControl};

use super::{Control, Params, control};
use crate::reno;
use crate::shared::testing::{Bench, SEGMENT, setup};

fn aimd(a: f64, b: f64, initial: u64) -> (Bench, Control) {
    (Bench::new(), control(&Params { a, b }, &setup(initial)))
}

/// [YL00 §2]
#[test]
fn a_loss_keeps_the_share_b() {
    let (mut bench, mut controller) = aimd(1.0, 0.875, 40);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(controller.allowance().window, SEGMENT * 35);
}

/// [YL00 §2]: W ← W + a/W. From 20 with a = 4: 20.2, 20.398019…
#[test]
fn a_round_adds_about_a_segments() {
    let (mut bench, mut controller) = aimd(4.0, 0.5, 40);
    bench.congestion(&mut controller, Cause::Loss);
    bench.ack(&mut controller);
    assert!((controller.window().0 - 20.2).abs() < 1e-12);
    bench.ack(&mut controller);
    assert!((controller.window().0 - 20.398_019_801_980_2).abs() < 1e-9);
    for _ in 2..20 {
        bench.ack(&mut controller);
    }
    assert!((23.5..24.0).contains(&controller.window().0), "{:?}", controller.window());
}

/// RFC 5681's constants are a = 1, b = 1/2.
#[test]
fn with_one_and_a_half_it_is_reno() {
    let (mut bench, mut controller) = aimd(1.0, 0.5, 32);
    let mut twin = reno::control(&reno::Params::default(), &setup(32));
    bench.congestion(&mut controller, Cause::Loss);
    bench.congestion(&mut twin, Cause::Loss);
    for _ in 0..100 {
        bench.ack(&mut controller);
        bench.ack(&mut twin);
        assert_eq!(controller.allowance(), twin.allowance());
    }
    bench.congestion(&mut controller, Cause::Timeout);
    bench.congestion(&mut twin, Cause::Timeout);
    assert_eq!(controller.allowance(), twin.allowance());
}
