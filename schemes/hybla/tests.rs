//! One test per rule of tcp_hybla.c.

use contract::{Ack, Cause, CongestionControl};
use units::Duration;

use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

/// After a handshake of this many milliseconds.
fn opened(params: &Params, rtt_ms: u64) -> (Bench, Control) {
    let (mut bench, mut controller) = (Bench::new(), control(params, &setup(10)));
    bench.rtt = Duration::from_millis(rtt_ms);
    controller.on_handshake(bench.rtt, &mut bench.cx());
    bench.fill(&mut controller);
    (bench, controller)
}

fn hybla(rtt_ms: u64) -> (Bench, Control) {
    opened(&Params::default(), rtt_ms)
}

/// In congestion avoidance with this window.
fn avoiding(rtt_ms: u64, window: u64) -> (Bench, Control) {
    let (mut bench, mut controller) = (Bench::new(), control(&Params::default(), &setup(10)));
    bench.rtt = Duration::from_millis(rtt_ms);
    controller.on_handshake(bench.rtt, &mut bench.cx());
    controller.set(window, window);
    bench.fill(&mut controller);
    (bench, controller)
}

fn cwnd(controller: &Control) -> u64 {
    assert_eq!(controller.allowance().window, SEGMENT * controller.socket().cwnd);
    controller.socket().cwnd
}

fn windows(bench: &mut Bench, controller: &mut Control, acks: usize) -> Vec<u64> {
    (0..acks)
        .map(|_| {
            bench.deliver(controller, 1);
            cwnd(controller)
        })
        .collect()
}

/// The window starts with ρ segments: 25 ms give 1, 100 ms give 4, and 110 ms 8·110/25 = 35 eighths, 4 segments; with
/// RTT₀ = 10 ms, 100 ms give 10. Below RTT₀, ρ is 1.
#[test]
fn the_window_starts_with_rho_segments() {
    let other = Params { rtt0: 10, ..Params::default() };
    for (params, rtt_ms, rho8, window) in [
        (Params::default(), 25, 8, 1),
        (Params::default(), 10, 8, 1),
        (Params::default(), 100, 32, 4),
        (Params::default(), 110, 35, 4),
        (other, 100, 80, 10),
    ] {
        let (_, controller) = opened(&params, rtt_ms);
        assert_eq!((controller.module().rho8, cwnd(&controller)), (rho8, window), "{rtt_ms} ms");
    }
}

/// Without a handshake there is no round-trip time before the first acknowledgement: one segment, and then ρ = 4 gives
/// 2⁴ − 1 = 15 more.
#[test]
fn without_a_handshake_the_first_acknowledgement_gives_rho() {
    let (mut bench, mut controller) = (Bench::new(), control(&Params::default(), &setup(10)));
    bench.fill(&mut controller);
    assert_eq!(cwnd(&controller), 1);
    assert_eq!(windows(&mut bench, &mut controller, 1), [16]);
}

/// 2^ρ − 1 per acknowledgement: with ρ = 1 it is slow start; ρ = 2 adds 3; ρ = 12/8 = 1.5 adds 2·181/128 − 1 = 234/128,
/// so that 1 + 1.83 = 2 and 106/128, then 4.66 is 4, 6.48 is 6, 8.31 is 8.
#[test]
fn slow_start_adds_two_to_the_rho_less_one() {
    let (mut bench, mut controller) = hybla(25);
    assert_eq!(windows(&mut bench, &mut controller, 3), [2, 3, 4]);
    let (mut bench, mut controller) = hybla(50);
    assert_eq!(windows(&mut bench, &mut controller, 3), [5, 8, 11]);
    let params = Params { rtt0: 20, ..Params::default() };
    let (mut bench, mut controller) = opened(&params, 30);
    assert_eq!((controller.module().rho8, windows(&mut bench, &mut controller, 4)), (12, vec![2, 4, 6, 8]));
}

/// The kernel counts acknowledgements, not segments: one of two segments adds as much as one of one.
#[test]
fn an_acknowledgement_of_two_segments_counts_once() {
    let (mut bench, mut controller) = hybla(50);
    bench.deliver(&mut controller, 2);
    assert_eq!(cwnd(&controller), 5);
}

/// 2¹⁶ at most: with ρ = 20, 65 535 segments per acknowledgement, and the window is at most `max_window`.
#[test]
fn the_window_has_a_maximum() {
    for max_window in [65_535, 1000] {
        let (mut bench, mut controller) =
            (Bench::new(), control(&Params { max_window, ..Params::default() }, &setup(10)));
        controller.on_handshake(Duration::from_millis(500), &mut bench.cx());
        assert_eq!(cwnd(&controller), 20);
        bench.rtt = Duration::from_millis(500);
        bench.fill(&mut controller);
        bench.deliver(&mut controller, 1);
        assert_eq!(cwnd(&controller), u64::from(max_window));
    }
}

/// ρ = 4 and W = 100: 16·128/100 = 20 of 128 per acknowledgement, and the seventh makes 140: a segment, and 12 over.
/// From 101, again 20: 12 + 6·20 = 132.
#[test]
fn congestion_avoidance_adds_rho_squared_per_window() {
    let (mut bench, mut controller) = avoiding(100, 100);
    let windows = windows(&mut bench, &mut controller, 13);
    assert_eq!(windows, [[100; 6].as_slice(), &[101; 6], &[102]].concat());
}

/// ρ = 1 and W = 130: 128/130 is nothing, so that 130 acknowledgements make a segment, as Reno's.
#[test]
fn an_increment_below_the_resolution_is_renos() {
    let (mut bench, mut controller) = avoiding(25, 130);
    let windows = windows(&mut bench, &mut controller, 131);
    assert_eq!(windows[128..], [130, 131, 131]);
}

/// ρ follows the minimum of the smoothed round-trip time: 100 ms, then 200, then 50.
#[test]
fn rho_follows_the_minimum_of_the_smoothed_round_trip_time() {
    let (mut bench, mut controller) = hybla(100);
    for (rtt_ms, rho8) in [(200, 32), (50, 16), (100, 16)] {
        bench.rtt = Duration::from_millis(rtt_ms);
        bench.deliver(&mut controller, 1);
        assert_eq!(controller.module().rho8, rho8);
    }
}

/// A window that is not full does not grow.
#[test]
fn a_window_that_is_not_full_does_not_grow() {
    let (mut bench, mut controller) = hybla(50);
    let ack = Ack { app_limited: true, ..bench.an_ack_of(&controller, 1) };
    bench.deliver_as(&mut controller, &ack);
    assert_eq!(cwnd(&controller), 2);
}

/// A loss halves, as Reno's. A timeout leaves one segment, and until everything is repaired slow start is Reno's: one
/// segment per segment, up to the threshold of 50. Then ρ = 4 counts again: 16·128/50 = 40, and the fourth makes 160.
#[test]
fn a_loss_halves_and_repairs_are_renos() {
    let (mut bench, mut controller) = avoiding(100, 100);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!((cwnd(&controller), controller.socket().ssthresh), (50, 50));
    let (mut bench, mut controller) = avoiding(100, 100);
    bench.congestion(&mut controller, Cause::Timeout);
    assert_eq!((cwnd(&controller), controller.socket().ssthresh), (1, 50));
    let ack = bench.an_ack_of(&controller, 3);
    bench.deliver_ack(&mut controller, &ack);
    assert_eq!(cwnd(&controller), 4);
    let ack = bench.an_ack_of(&controller, 46);
    bench.deliver_ack(&mut controller, &ack);
    assert_eq!(cwnd(&controller), 50);
    controller.on_recovered(Cause::Timeout, &mut bench.cx());
    let ack = bench.an_ack_of(&controller, 1);
    let grown: Vec<u64> = (0..4)
        .map(|_| {
            bench.deliver_ack(&mut controller, &ack);
            cwnd(&controller)
        })
        .collect();
    assert_eq!(grown, [50, 50, 50, 51]);
}

/// Slow start ends at the threshold: from 4, 15 more are 19, but the threshold is 10.
#[test]
fn slow_start_ends_at_the_threshold() {
    let (mut bench, mut controller) = avoiding(100, 20);
    bench.congestion(&mut controller, Cause::Timeout);
    controller.on_recovered(Cause::Timeout, &mut bench.cx());
    let ack = bench.an_ack_of(&controller, 1);
    bench.deliver_ack(&mut controller, &ack);
    assert_eq!(cwnd(&controller), 10);
}
