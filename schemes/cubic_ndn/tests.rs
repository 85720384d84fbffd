//! One test per claim about CUBIC at consumers of named data. Numbers are computed by hand.

use contract::{Cause, Congestion, CongestionControl, Ecn, FaceId, Name, NameId, Setup};
use units::{Bytes, Duration, Rate, math};

use super::{Control, Params, control, link};
use crate::shared::forwarders::{LinkBench, data, faces};
use crate::shared::testing::{Bench, SEGMENT, setup};

/// In slow start, with a window of `window` segments; it began with 2.
fn controller(params: Params, window: u64) -> (Bench, Control) {
    let (mut bench, mut controller) = (Bench::new(), control(&params, &setup(2)));
    (2..window).for_each(|_| bench.ack(&mut controller));
    (bench, controller)
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} is not {b}");
}

/// [NDNTOOLS]: +1 with each Data until the first cut, which keeps 0.7, for a loss and a mark and a silence alike.
#[test]
fn a_cut_keeps_seven_tenths_whatever_called_for_it() {
    for cause in [Cause::Loss, Cause::Mark, Cause::Timeout, Cause::Refused] {
        let (mut bench, mut controller) = controller(Params::default(), 100);
        assert_eq!(controller.window().0, 100.0);
        bench.congestion(&mut controller, cause);
        close(controller.window().0, 70.0);
        assert_eq!(controller.ssthresh(), Bytes::new(70_000));
    }
}

/// [NDNTOOLS]: from 100 to 70: K = ∛(100·0.3/0.4) = ∛75 = 4.217163 s. At t = 0 the cubic is at 100 − 0.4·75 = 70, at K
/// it is at 100, at 2·K at
/// 130. Reno gains 3·0.3/1.7 = 0.529412 segments per round trip: 1 s after the cut it is at 122.941 with round trips of
///      10 ms; with 100 ms it is at 75.294, behind the cubic's 0.4·(1 − 4.217163)³ + 100 = 86.6808.
#[test]
fn the_window_aimed_for_is_the_greater_of_cubic_and_reno() {
    let (mut bench, mut controller) = controller(Params::default(), 100);
    bench.congestion(&mut controller, Cause::Loss);
    let k = math::cbrt(75.0);
    for (t, cubic) in [(0.0, 70.0), (k, 100.0), (2.0 * k, 130.0)] {
        close(controller.aim(t, 1e9), cubic);
    }
    close(controller.aim(1.0, 0.01), 70.0 + 9.0 / 17.0 * 100.0);
    assert!((controller.aim(1.0, 0.1) - 86.6808).abs() < 1e-3, "{}", controller.aim(1.0, 0.1));
    let (mut bench, mut alone) = self::controller(Params { reno_friendly: false, ..Params::default() }, 100);
    bench.congestion(&mut alone, Cause::Loss);
    close(alone.aim(0.0, 0.001), 70.0);
}

/// [NDNTOOLS]: one Data 1 s after the cut, a round trip of 0.1 s: the cubic's 86.6808 is above Reno's 75.294, so W =
/// 70 + 16.6808/70. A moment after the cut nothing is added, and nothing is ever taken away.
#[test]
fn the_window_goes_a_part_of_the_way_with_each_data() {
    let (mut bench, mut controller) = controller(Params::default(), 100);
    bench.congestion(&mut controller, Cause::Loss);
    bench.ack(&mut controller);
    close(controller.window().0, 70.0);
    bench.now += Duration::from_secs(1);
    bench.ack(&mut controller);
    assert!((controller.window().0 - (70.0 + 16.6808 / 70.0)).abs() < 1e-4, "{:?}", controller.window());
}

/// [NDNTOOLS]: a second mark of the same window changes nothing, up or down.
#[test]
fn a_window_of_data_has_one_cut() {
    let (mut bench, mut controller) = controller(Params::default(), 100);
    for (first, window) in [(true, 70.0), (false, 70.0)] {
        let event = Congestion { cause: Cause::Mark, bytes: SEGMENT, in_flight: SEGMENT * 70, first };
        controller.on_congestion(&event, &mut bench.cx());
        let mut ack = bench.an_ack(&controller);
        ack.marked = true;
        bench.now += Duration::from_secs(1);
        bench.deliver_ack(&mut controller, &ack);
        close(controller.window().0, window);
    }
}

/// [NDNTOOLS]: with fast convergence a window that is cut at 70 after it was cut at 100 aims at 70·1.7/2 = 59.5;
/// without it, at 70.
#[test]
fn fast_convergence_aims_lower() {
    for (fast_convergence, plateau) in [(true, 59.5), (false, 70.0)] {
        let (mut bench, mut controller) =
            controller(Params { fast_convergence, reno_friendly: false, ..Params::default() }, 100);
        bench.congestion(&mut controller, Cause::Loss);
        bench.congestion(&mut controller, Cause::Loss);
        close(controller.window().0, 49.0);
        let k = math::cbrt(plateau * 0.3 / 0.4);
        close(controller.aim(k, 0.0), plateau);
    }
}

/// [NDNTOOLS]: the threshold is never below the initial window.
#[test]
fn the_initial_window_is_kept() {
    let (mut bench, mut controller) = controller(Params::default(), 2);
    for _ in 0..5 {
        bench.congestion(&mut controller, Cause::Loss);
    }
    close(controller.window().0, 2.0);
}

/// [SCHNEIDER]: Data that waited above 5 ms for 100 ms make one mark.
#[test]
fn links_mark_as_pcon_does() {
    let mut gate = LinkBench::new(faces(2, Rate::from_mbps(10), 1));
    let setup = Setup { segment: Bytes::new(1100), header: Bytes::ZERO, initial_window: Bytes::ZERO };
    let mut controller = link(&Params::default(), &setup);
    let (near, far) = (FaceId(0), FaceId(1));
    gate.link(far).busy = true;
    gate.link(far).backlog.packets = 10;
    let name = |segment| Name { prefix: NameId(1), segment };
    let mut marks = 0;
    for segment in 0..200 {
        gate.dequeue(&mut controller, &mut data(name(segment)), far, Duration::from_millis(6));
        marks += u32::from(gate.data(&mut controller, name(segment), near, far).ecn == Ecn::Marked);
        gate.now += Duration::from_millis(1);
    }
    assert_eq!(marks, 1, "the second comes 110 ms after the first");
}
