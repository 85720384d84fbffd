//! One test per rule of RFC 8257, with numbers computed by hand.

use contract::{Cause, Congestion, CongestionControl, ParamTable};

use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn dctcp(initial: u64, settings: &[(&str, f64)]) -> (Bench, Control) {
    let mut params = Params::default();
    for (name, value) in settings {
        params.set(name, &(*value).into()).expect("a number");
    }
    (Bench::new(), control(&params, &setup(initial)))
}

fn integer_cwnd(initial: u64) -> (Bench, Control) {
    let mut params = Params::default();
    params.set("variant", &"linux".into()).expect("a choice");
    (Bench::new(), control(&params, &setup(initial)))
}

/// Ends an observation window in which `marked` of `packets` packets were marked.
fn observe(bench: &mut Bench, controller: &mut Control, packets: u32, marked: u32) {
    let mut ack = bench.an_ack(controller);
    (ack.packets, ack.bytes) = (packets, SEGMENT * u64::from(packets));
    (ack.marked, ack.marked_packets, ack.round_ended) = (marked > 0, marked, true);
    bench.deliver_ack(controller, &ack);
}

/// §3.3, steps 4 and 5, with g = 1/16: from 1, half of ten marked: 15/16 + 1/32 = 0.96875; then none: 0.96875 · 15/16 =
/// 0.908203125.
#[test]
fn alpha_follows_the_fraction_of_marked_packets() {
    let (mut bench, mut controller) = dctcp(10, &[]);
    observe(&mut bench, &mut controller, 10, 5);
    assert_eq!(controller.alpha(), 0.968_75);
    observe(&mut bench, &mut controller, 10, 0);
    assert_eq!(controller.alpha(), 0.908_203_125);
}

/// §3.3, step 3: nothing changes before the window of data ends, and all of its acknowledgements count: 1 + 1 of 4 + 4
/// packets are a quarter, and with g = 1 that is Alpha.
#[test]
fn an_observation_window_is_a_window_of_data() {
    let (mut bench, mut controller) = dctcp(10, &[("gain", 1.0)]);
    let mut ack = bench.an_ack(&controller);
    (ack.packets, ack.marked, ack.marked_packets) = (4, true, 1);
    bench.deliver_ack(&mut controller, &ack);
    assert_eq!(controller.alpha(), 1.0);
    observe(&mut bench, &mut controller, 4, 1);
    assert_eq!(controller.alpha(), 0.25);
}

/// §3.3, step 9: 40 segments with Alpha 0.25 become 40·(1 − 0.125) = 35; with Alpha 1, as before the first window, 20.
#[test]
fn a_mark_reduces_the_window_by_half_of_alpha() {
    for (alpha, kept) in [(0.25, 35), (1.0, 20), (0.0, 40)] {
        let (mut bench, mut controller) = dctcp(40, &[("initial_alpha", alpha)]);
        bench.congestion(&mut controller, Cause::Mark);
        assert_eq!(controller.allowance().window, SEGMENT * kept, "{alpha}");
        assert_eq!(controller.ssthresh(), SEGMENT * kept, "{alpha}");
    }
}

/// §3.5: a loss halves the window, whatever Alpha is, and a timeout leaves one segment.
#[test]
fn a_loss_has_the_effect_that_it_has_on_reno() {
    let (mut bench, mut controller) = dctcp(40, &[("initial_alpha", 0.0)]);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(controller.allowance().window, SEGMENT * 20);
    bench.congestion(&mut controller, Cause::Timeout);
    assert_eq!((controller.allowance().window, controller.ssthresh()), (SEGMENT, SEGMENT * 10));
}

/// §3.5: a loss in the window of data of a mark halves what is left: with Alpha 0.25, 40 → 35 → 17.5. The next loss of
/// the same episode has no effect.
#[test]
fn a_loss_in_the_window_of_a_mark_has_its_own_effect() {
    let (mut bench, mut controller) = dctcp(40, &[("initial_alpha", 0.25)]);
    bench.congestion(&mut controller, Cause::Mark);
    let event = Congestion { cause: Cause::Loss, bytes: SEGMENT, in_flight: SEGMENT * 35, first: false };
    for _ in 0..2 {
        controller.on_congestion(&event, &mut bench.cx());
        assert_eq!(controller.window().0, 17.5);
    }
}

/// A spurious loss gives the window back, and not an old Alpha: 1, then 15/16 while the loss was thought to be one. The
/// next mark leaves 40 · (1 − 15/32) = 21.25.
#[test]
fn a_spurious_loss_does_not_bring_an_old_alpha_back() {
    let (mut bench, mut controller) = dctcp(40, &[]);
    bench.congestion(&mut controller, Cause::Loss);
    let mut ack = bench.an_ack(&controller);
    (ack.round_ended, ack.recovering) = (true, true);
    bench.deliver_ack(&mut controller, &ack);
    controller.on_spurious(&mut bench.cx());
    assert_eq!((controller.window().0, controller.alpha()), (40.0, 0.9375));
    bench.congestion(&mut controller, Cause::Mark);
    assert_eq!(controller.window().0, 21.25);
}

/// LINUX, dctcp_update_alpha with a shift of 4: 1024 − 64 = 960, and 3 of 10 marked add ⌊3·64/10⌋ = 19: 979. Without
/// marks it goes 979 − 61 =
/// 918. 15 parts, of which a sixteenth is nothing, vanish.
#[test]
fn as_in_linux_alpha_is_in_parts_of_1024() {
    let (mut bench, mut controller) = integer_cwnd(10);
    observe(&mut bench, &mut controller, 10, 3);
    assert_eq!(controller.alpha() * 1024.0, 979.0);
    observe(&mut bench, &mut controller, 10, 0);
    assert_eq!(controller.alpha() * 1024.0, 918.0);
    let mut before = 918.0;
    while before >= 16.0 {
        observe(&mut bench, &mut controller, 10, 0);
        before = controller.alpha() * 1024.0;
    }
    observe(&mut bench, &mut controller, 10, 0);
    assert_eq!((before, controller.alpha()), (15.0, 0.0));
}

/// LINUX, dctcp_ssthresh: 25 − ⌊25·979/2048⌋ = 25 − 11 = 14. tcp_cong_avoid_ai: 14 acknowledged segments make 15.
#[test]
fn as_in_linux_the_window_is_whole() {
    let (mut bench, mut controller) = integer_cwnd(25);
    let mut ack = bench.an_ack(&controller);
    (ack.packets, ack.marked_packets, ack.marked, ack.round_ended) = (10, 3, true, true);
    bench.deliver_ack(&mut controller, &ack);
    bench.congestion(&mut controller, Cause::Mark);
    assert_eq!(controller.window().0, 14.0);
    for _ in 0..14 {
        bench.ack(&mut controller);
    }
    assert_eq!(controller.window().0, 15.0);
}
