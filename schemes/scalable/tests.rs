//! One test per rule of Linux' tcp_scalable.c, with numbers worked by hand.

use contract::{Cause, Congestion, CongestionControl};

use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn scalable(initial: u64) -> (Bench, Control) {
    with(Params::default(), initial)
}

fn with(params: Params, initial: u64) -> (Bench, Control) {
    (Bench::new(), control(&params, &setup(initial)))
}

/// Acknowledges `packets` segments with one acknowledgement. Returns the window in segments.
fn ack(bench: &mut Bench, controller: &mut Control, packets: u32) -> u64 {
    let mut ack = bench.an_ack(controller);
    (ack.packets, ack.bytes) = (packets, SEGMENT * u64::from(packets));
    bench.deliver_ack(controller, &ack);
    controller.allowance().window.as_u64() / 1000
}

/// tcp_slow_start: a segment for each segment acknowledged, whatever the acknowledgements cover: 10 + 1 + 3 = 14.
#[test]
fn slow_start_adds_a_segment_for_each_segment_acknowledged() {
    let (mut bench, mut controller) = scalable(10);
    assert_eq!(ack(&mut bench, &mut controller, 1), 11);
    assert_eq!(ack(&mut bench, &mut controller, 3), 14);
}

/// From 800, a loss leaves 800 − 800/8 = 700. Then one segment for each 100 acknowledged: 99 give none, the 100th one,
/// and an acknowledgement of 250 gives two and leaves 50, to which 50 more give another. In a round trip 703 segments
/// would give 7, the 1 % of the paper.
#[test]
fn a_large_window_grows_by_one_for_each_hundred_segments_acknowledged() {
    let (mut bench, mut controller) = scalable(800);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(controller.allowance().window, SEGMENT * 700);
    assert_eq!(ack(&mut bench, &mut controller, 99), 700);
    assert_eq!(ack(&mut bench, &mut controller, 1), 701);
    assert_eq!(ack(&mut bench, &mut controller, 250), 703);
    assert_eq!(ack(&mut bench, &mut controller, 50), 704);
}

/// Below 100 segments the window grows as Reno's: from 20, a loss leaves 20 − 20/8 = 20 − 2 = 18, and 18 acknowledged
/// give one, 19 more another.
#[test]
fn a_small_window_grows_by_one_per_round_trip() {
    let (mut bench, mut controller) = scalable(20);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(controller.allowance().window, SEGMENT * 18);
    assert_eq!(ack(&mut bench, &mut controller, 17), 18);
    assert_eq!(ack(&mut bench, &mut controller, 1), 19);
    assert_eq!(ack(&mut bench, &mut controller, 18), 19);
    assert_eq!(ack(&mut bench, &mut controller, 1), 20);
}

/// An eighth in whole segments, rounded down, so that below 8 segments nothing is taken: 801 − 100, 15 − 1, 7 − 0, and
/// two at least. What is in flight has no effect.
#[test]
fn a_loss_takes_an_eighth_of_the_window() {
    for (window, kept) in [(801, 701), (16, 14), (15, 14), (7, 7), (2, 2), (1, 2)] {
        let (mut bench, mut controller) = scalable(window);
        let event = Congestion { cause: Cause::Loss, bytes: SEGMENT, in_flight: SEGMENT * 3, first: true };
        controller.on_congestion(&event, &mut bench.cx());
        assert_eq!(controller.allowance().window, SEGMENT * kept, "{window}");
        assert_eq!(controller.ssthresh(), SEGMENT * kept, "{window}");
    }
}

/// A timeout at 16 leaves one segment and a threshold of 14. Slow start leads there: 1 + 3 + 8 = 12; of the next 5
/// acknowledged two reach the threshold, and 3 of the 14 for the next segment are left; 11 more give it.
#[test]
fn after_a_timeout_slow_start_ends_at_the_threshold() {
    let (mut bench, mut controller) = scalable(16);
    bench.congestion(&mut controller, Cause::Timeout);
    assert_eq!(controller.allowance().window, SEGMENT);
    assert_eq!(controller.ssthresh(), SEGMENT * 14);
    let windows: Vec<u64> = [3, 8, 5, 10, 1].map(|packets| ack(&mut bench, &mut controller, packets)).into();
    assert_eq!(windows, [4, 12, 14, 14, 15]);
}

/// tcp_init_cwnd_reduction: what was acknowledged towards the next segment is forgotten. From 32: 28; 27 of 28
/// acknowledged; a loss leaves 28 − 28/8 = 25, and 24 do not make it grow, 25 do.
#[test]
fn a_reduction_forgets_the_credit() {
    let (mut bench, mut controller) = scalable(32);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(ack(&mut bench, &mut controller, 27), 28);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(ack(&mut bench, &mut controller, 24), 25);
    assert_eq!(ack(&mut bench, &mut controller, 1), 26);
}

/// With 50 acknowledged per segment, 200 − 200/8 = 175 grow by 3 with 150; with a shift of 1, a loss takes a half.
#[test]
fn the_parameters_set_growth_and_reduction() {
    let (mut bench, mut controller) = with(Params { ai_count: 50, ..Params::default() }, 200);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(ack(&mut bench, &mut controller, 150), 178);
    let (mut bench, mut controller) = with(Params { md_shift: 1, ..Params::default() }, 200);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(controller.allowance().window, SEGMENT * 100);
}
