//! One test per rule of tcp_lp.c. Both hosts were started 300 s before time zero; the flow is a second old.

use contract::{Ack, Cause, CongestionControl};
use units::{Duration, Time};

use super::linux::LinuxLp;
use super::{Control, Params, Variant, control};
use crate::shared::linux::Linux;
use crate::shared::testing::{Bench, SEGMENT, setup};

fn linux(params: Params, window: u64) -> (Bench, Linux<LinuxLp>) {
    let Control::Linux(mut controller) =
        control(&Params { variant: Variant::Linux, ..params }, &setup(window))
    else {
        panic!("it is Linux's");
    };
    controller.set(window, window);
    (Bench::new(), *controller)
}

/// Without offset of the timestamps [net.ipv4.tcp_timestamps = 2].
fn plain() -> Params {
    Params { timestamp_offset: false, ..Params::default() }
}

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

/// An acknowledgement of one segment, which was sent at `sent` ms and arrived `delay` ms later, and 10 ms after that
/// the acknowledgement arrived.
fn ack(bench: &mut Bench, controller: &mut Linux<LinuxLp>, sent: u64, delay: u64) {
    bench.now = at(sent + delay + 10);
    let ack = Ack { sent_at: at(sent), ack_sent_at: at(sent + delay), ..bench.an_ack_of(controller, 1) };
    bench.deliver_as(controller, &ack);
}

/// The clock rate of the other host is the ratio of the differences. The first acknowledgement gives none, and no
/// delay. The second, 4 ms later on both sides, gives 1000, and a delay of 20 ms; the threshold is 20, too, and as 20
/// is not below it, the thresholds are set to 20 and 40. With 5 ms against 4 the ratio is 1250, of which a 64th,
/// ⌊250/64⌋ = 3, is taken: 1003, by which the kernel divides 1000 to zero: the delay is 0 − the local time, 300 000 +
/// 1008 ms, in 32 bits. With 3 against 4 it is 750: (750 − 1003)/64 is −4 when rounded down: 999.
#[test]
fn the_clock_rate_of_the_other_host_is_estimated() {
    let (mut bench, mut controller) = linux(plain(), 10);
    let mut seen = Vec::new();
    for (sent, delay) in [(1000, 20), (1004, 20), (1008, 21), (1012, 20)] {
        ack(&mut bench, &mut controller, sent, delay);
        let lp = controller.module();
        seen.push((lp.remote_hz, lp.sowd, lp.owd_min, lp.owd_max));
    }
    // 8·20 = 160; an eighth, 20, less, and 2³² − 301 008 more: 4 294 666 428, of which an eighth and a quarter are the
    // next thresholds; then an eighth less, 536 833 303, and 20 more: 3 757 833 145
    let expected = [
        (0, 0, u32::MAX, 0),
        (1000, 160, 20, 40),
        (1003, 4_294_666_428, 536_833_303, 1_073_666_607),
        (999, 3_757_833_145, 469_729_143, 939_458_286),
    ];
    assert_eq!(seen, expected);
}

/// With a known clock rate of 1000, and a first indication at 1034 ms with delays of 20 ms and thresholds of 20 and 40.
/// That halves the window, and the acknowledgement itself lets it grow by one, in slow start to the window before: 10,
/// 5, 6.
fn known(params: Params, window: u64) -> (Bench, Linux<LinuxLp>) {
    let (mut bench, mut controller) = linux(params, window);
    ack(&mut bench, &mut controller, 1000, 20);
    ack(&mut bench, &mut controller, 1004, 20);
    let lp = controller.module();
    assert_eq!((lp.remote_hz, lp.sowd, lp.owd_min, lp.owd_max), (1000, 160, 20, 40));
    (bench, controller)
}

/// 20 ms are below 20 + ⌊15·20/100⌋ = 23. For three round trips of 30 ms after the indication, until 1124 ms, the
/// window does not grow.
#[test]
fn the_window_stands_still_in_the_inference_phase() {
    let (mut bench, mut controller) = known(plain(), 10);
    assert_eq!(controller.socket().cwnd, 6);
    for sent in (1008..=1088).step_by(4) {
        ack(&mut bench, &mut controller, sent, 20);
        assert_eq!(controller.socket().cwnd, 6, "{sent}");
    }
    ack(&mut bench, &mut controller, 1094, 20);
    assert_eq!(controller.socket().cwnd, 7);
}

/// Delays that grow by 3 ms per 100 ms leave the clock rate at 1000, as ⌊30/64⌋ = 0. Eight times the smoothed delay is
/// 160, 163, 169, 177 and 187, and ⌊187/8⌋ = 23 is not below the threshold of 23. After the phase the window has grown
/// to 9: half of it, and one. In a phase of a hundred round trips there is one segment. With δ = 0.5 the threshold is
/// 30, and there is no indication.
#[test]
fn an_indication_in_the_phase_leaves_a_segment() {
    for (inference, delta, expected) in
        [(3.0, 0.15, [7, 8, 9, 5]), (100.0, 0.15, [6, 6, 6, 1]), (3.0, 0.5, [7, 8, 9, 10])]
    {
        let (mut bench, mut controller) = known(Params { inference, delta, ..plain() }, 10);
        let mut windows = Vec::new();
        for n in 1..=4 {
            ack(&mut bench, &mut controller, 1004 + 100 * n, 20 + 3 * n);
            windows.push(controller.socket().cwnd);
        }
        assert_eq!(windows, expected, "{inference}, {delta}");
        assert_eq!(controller.module().remote_hz, 1000);
    }
}

/// The random offset of the other host's timestamps. What is above 2²⁹ ms loses its first bits when it is multiplied by
/// eight: the smoothed delay is then below the minimum for ever, and the window is Reno's, however long the queue is.
/// Seven of eight offsets are of that kind. With a smaller one the first indication doubles the maximum, so that the
/// threshold is 15 % of the offset above it, and no queue is so long.
#[test]
fn a_random_offset_above_two_to_the_29_makes_it_reno() {
    let mut reno = 0;
    for offset in (0..16u32).map(|n| n << 28 | 0x0123_4567) {
        let (mut bench, mut controller) = linux(Params::default(), 10);
        controller.module_mut().offset = Some(offset);
        for n in 0..200 {
            // the delay grows from 20 ms to 120, by steps that leave the clock rate at 1000 or below
            ack(&mut bench, &mut controller, 1000 + 104 * n, 20 + n / 2);
        }
        // ten windows of ten acknowledge 200 segments: Reno's growth, without a reduction
        let reduced = controller.module().owd_max == controller.module().owd_min.wrapping_mul(2);
        assert_eq!(reduced, offset < 1 << 29, "{offset:#x}");
        reno += u32::from(!reduced && controller.socket().cwnd > 15);
    }
    assert_eq!(reno, 14);
}

/// The offset is drawn per connection, once.
#[test]
fn the_offset_is_random_and_constant() {
    let (mut bench, mut controller) = linux(Params::default(), 10);
    ack(&mut bench, &mut controller, 1000, 20);
    let first = controller.module().offset;
    ack(&mut bench, &mut controller, 1004, 20);
    assert_eq!(controller.module().offset, first);
    assert!(first.is_some_and(|offset| offset != 0));
    let (mut bench, mut controller) = linux(plain(), 10);
    ack(&mut bench, &mut controller, 1000, 20);
    assert_eq!(controller.module().offset, Some(0));
}

/// Losses are Reno's: half the window, in whole segments; a timeout leaves one.
#[test]
fn losses_and_timeouts_are_renos() {
    let (mut bench, mut controller) = linux(plain(), 21);
    bench.congestion(&mut controller, Cause::Loss);
    assert_eq!(controller.allowance().window, SEGMENT * 10);
    bench.congestion(&mut controller, Cause::Timeout);
    assert_eq!((controller.allowance().window, controller.ssthresh()), (SEGMENT, SEGMENT * 5));
}
