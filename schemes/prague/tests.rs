//! One test per rule, with numbers computed by hand.

use contract::{Cause, Congestion, CongestionControl, ParamTable};
use units::{Bytes, Duration, Rate, Time};

use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

/// At 1 s, with a round-trip time of 100 ms.
fn prague(initial: u64, settings: &[(&str, i64)]) -> (Bench, Control) {
    let mut params = Params::default();
    for (name, value) in settings {
        params.set(name, &(*value).into()).expect("a number");
    }
    let mut bench = Bench::new();
    bench.now = Time::ZERO + Duration::from_secs(1);
    (bench, control(&params, &setup(initial)))
}

/// Acknowledges `packets` packets of which `marked` were marked; with `ended`, at the end of a round trip.
fn acknowledge(bench: &mut Bench, controller: &mut Control, packets: u32, marked: u32, ended: bool) {
    let mut ack = bench.an_ack(controller);
    (ack.packets, ack.bytes) = (packets, SEGMENT * u64::from(packets));
    (ack.marked, ack.marked_packets, ack.round_ended) = (marked > 0, marked, ended);
    bench.deliver_ack(controller, &ack);
}

/// §2.3.2: 1 at the first mark, then a round trip with half of the packets marked: 1 + (0.5 − 1)/16 = 0.96875.
#[test]
fn the_fraction_is_one_at_the_first_mark_and_then_follows() {
    let (mut bench, mut controller) = prague(10, &[]);
    acknowledge(&mut bench, &mut controller, 10, 0, true);
    assert_eq!(controller.alpha(), 0.0);
    acknowledge(&mut bench, &mut controller, 10, 1, false);
    assert_eq!(controller.alpha(), 1.0);
    bench.now += bench.rtt;
    acknowledge(&mut bench, &mut controller, 10, 5, true);
    assert_eq!(controller.alpha(), 0.968_75);
}

/// §2.4.4: with a round-trip time of 5 ms, the fraction is updated every 25 ms, not every round trip.
#[test]
fn the_fraction_is_updated_once_per_virtual_round_trip() {
    let (mut bench, mut controller) = prague(10, &[]);
    bench.rtt = Duration::from_millis(5);
    acknowledge(&mut bench, &mut controller, 10, 1, false);
    for _ in 0..4 {
        bench.now += bench.rtt;
        acknowledge(&mut bench, &mut controller, 10, 5, true);
        assert_eq!(controller.alpha(), 1.0);
    }
    bench.now += bench.rtt;
    acknowledge(&mut bench, &mut controller, 10, 5, true);
    assert_eq!(controller.alpha(), 0.968_75);
}

/// §2.4.2: half a window at the first mark; 40 become 20. Then none within a virtual round trip, and after it, with a
/// fraction of 0.96875, 20·(1 − 0.484375) = 10.3125.
#[test]
fn a_mark_reduces_the_window_once_per_virtual_round_trip() {
    let (mut bench, mut controller) = prague(40, &[]);
    bench.rtt = Duration::from_millis(10);
    let mut ack = bench.an_ack(&controller);
    (ack.recovering, ack.marked, ack.marked_packets) = (true, true, 1);
    bench.deliver_ack(&mut controller, &ack);
    bench.congestion(&mut controller, Cause::Mark);
    assert_eq!(controller.window().0, 20.0);
    bench.now += Duration::from_millis(24);
    bench.congestion(&mut controller, Cause::Mark);
    assert_eq!(controller.window().0, 20.0);
    bench.now += Duration::from_millis(1);
    (ack.packets, ack.marked_packets, ack.round_ended) = (2, 1, true);
    bench.deliver_ack(&mut controller, &ack);
    bench.congestion(&mut controller, Cause::Mark);
    assert_eq!(controller.window().0, 10.3125);
}

/// §2.4.3: the packets that were not marked add 1/cwnd each, also beside others that were: 20 + 3/20 = 20.15.
#[test]
fn packets_that_were_not_marked_grow_the_window() {
    let (mut bench, mut controller) = prague(40, &[]);
    bench.congestion(&mut controller, Cause::Mark);
    acknowledge(&mut bench, &mut controller, 4, 1, false);
    assert_eq!(controller.window().0, 20.15);
    acknowledge(&mut bench, &mut controller, 2, 2, false);
    assert_eq!(controller.window().0, 20.15);
}

/// §2.4.4: after `real_rounds` round trips of 5 ms, the growth is a twenty-fifth: 20 + 1/20, then 1/25 of that per
/// packet.
#[test]
fn with_a_short_round_trip_the_window_grows_as_if_it_were_longer() {
    let (mut bench, mut controller) = prague(40, &[("real_rounds", 1)]);
    bench.rtt = Duration::from_millis(5);
    bench.congestion(&mut controller, Cause::Mark);
    acknowledge(&mut bench, &mut controller, 1, 0, false);
    assert_eq!(controller.window().0, 20.05);
    acknowledge(&mut bench, &mut controller, 1, 0, true);
    let expected = 20.05 + 0.04 / 20.05;
    assert!((controller.window().0 - expected).abs() < 1e-12, "{:?}", controller.window());
}

/// §2.4.1: a loss halves the window. In the virtual round trip of a mark it halves the window before the mark: with a
/// fraction of 0.5, 40 → 30 → 20, and the next loss of the same episode has no effect.
#[test]
fn a_loss_after_a_mark_takes_its_place() {
    let (mut bench, mut controller) = prague(40, &[]);
    controller.classic_alpha(0.5);
    bench.congestion(&mut controller, Cause::Mark);
    assert_eq!(controller.window().0, 30.0);
    let event = Congestion { cause: Cause::Loss, bytes: SEGMENT, in_flight: SEGMENT * 30, first: false };
    for _ in 0..2 {
        controller.on_congestion(&event, &mut bench.cx());
        assert_eq!(controller.window().0, 20.0);
    }
    bench.now += Duration::from_secs(1);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(controller.window().0, 10.0);
}

/// A window per round trip, and twice that in slow start: 11 segments of 1000 bytes in 100 ms are 880 kbit/s. Nothing
/// is paced before the first sample.
#[test]
fn packets_are_paced() {
    let (mut bench, mut controller) = prague(10, &[]);
    assert_eq!(controller.allowance().rate, Rate::UNLIMITED);
    acknowledge(&mut bench, &mut controller, 1, 0, false);
    assert_eq!(controller.allowance().rate, Rate::from_bps(2 * 880_000));
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(controller.allowance().rate, Rate::from_bps(440_000));
}

/// A timeout leaves one segment, and half of the window as threshold.
#[test]
fn a_timeout_leaves_one_segment() {
    let (mut bench, mut controller) = prague(40, &[]);
    bench.congestion(&mut controller, Cause::Timeout);
    assert_eq!((controller.window().0, controller.ssthresh()), (1.0, Bytes::new(20_000)));
}
