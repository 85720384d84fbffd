//! One test per claim of the paper, named after it, with the section.

use contract::{Cause, CongestionControl};

use super::{Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

/// [RFC5681 §3.1, eq. 4]
#[test]
fn a_loss_keeps_the_share_beta_of_the_flight() {
    let (mut bench, mut controller) = (Bench::new(), control(&Params::default(), &setup(20)));
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(controller.allowance().window, SEGMENT * 10);
}

/// [RFC5681 §3.1, eq. 3]: from 10 segments, 10.1 after one acknowledgement.
#[test]
fn an_acknowledgement_adds_a_share_of_a_segment() {
    let (mut bench, mut controller) = (Bench::new(), control(&Params::default(), &setup(20)));
    bench.congestion(&mut controller, Cause::Loss);
    bench.ack(&mut controller);
    assert!((controller.window().0 - 10.1).abs() < 1e-12);
}
