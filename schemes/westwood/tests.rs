//! One test per rule of tcp_westwood.c, with a tick of 4 ms (250 per second).

use contract::{Ack, Cause, CongestionControl};
use units::{Bytes, Duration, Time};

use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn with(params: &Params, initial: u64) -> (Bench, Control) {
    let (mut bench, mut controller) = (Bench::new(), control(params, &setup(initial)));
    bench.now = at(1000);
    bench.fill(&mut controller);
    (bench, controller)
}

fn westwood(initial: u64) -> (Bench, Control) {
    with(&Params::default(), initial)
}

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

fn cwnd(controller: &Control) -> u64 {
    assert_eq!(controller.allowance().window, SEGMENT * controller.socket().cwnd);
    controller.socket().cwnd
}

/// Acknowledges `packets` segments at this time.
fn ack(bench: &mut Bench, controller: &mut Control, millis: u64, packets: u32) {
    bench.now = at(millis);
    bench.deliver(controller, packets);
}

/// The flow begins at 1000 ms, tick 250. At 1100 no round-trip time is known yet, and 10 000 bytes are counted. At
/// 1200, 50 ticks after the start and later than 25 ticks of a round trip, these are the first sample: 10 000/50 = 200
/// bytes per tick. 1304, tick 326, is 26 ticks after it: 11 000/26 = 423; the first filter gives (7·200 + 423)/8 = 227,
/// the second (7·200 + 227)/8 = 203.
#[test]
fn the_bandwidth_is_filtered_twice() {
    let (mut bench, mut controller) = westwood(40);
    ack(&mut bench, &mut controller, 1100, 10);
    assert_eq!(controller.module().bandwidth, 0);
    ack(&mut bench, &mut controller, 1200, 10);
    assert_eq!(controller.module().bandwidth, 200);
    ack(&mut bench, &mut controller, 1300, 1);
    assert_eq!(controller.module().bandwidth, 200, "25 ticks are not more than the round-trip time");
    ack(&mut bench, &mut controller, 1304, 1);
    assert_eq!(controller.module().bandwidth, 203);
}

/// With a weight of 4/8 and 10 000/26 = 384 at 1304: (4·200 + 4·384)/8 = 292, (4·200 + 4·292)/8 = 246. With 1000 ticks
/// per second, 10 000/200 = 50 bytes per tick; 1304 is 104 ticks after it: 10 000/104 = 96, (7·50 + 96)/8 = 55, (7·50 +
/// 55)/8 = 50; with a weight of 0 it is 96.
#[test]
fn weight_and_clock_are_parameters() {
    for (filter, hz, expected) in [(4, 250, 246), (7, 1000, 50), (0, 1000, 96)] {
        let (mut bench, mut controller) = with(&Params { filter, hz, ..Params::default() }, 40);
        for (millis, packets) in [(1100, 10), (1200, 10), (1304, 1)] {
            ack(&mut bench, &mut controller, millis, packets);
        }
        assert_eq!(controller.module().bandwidth, expected, "{filter}/8, {hz} Hz");
    }
}

/// With a round-trip time of 8 ms, 2 ticks, a sample is of more than 50 ms, 12 ticks: 1056 is 14 ticks after the start
/// and ends one, since the acknowledgement at 1048, 12 ticks, does not. 2000/14 = 142. With a minimum of 20 ms, 5
/// ticks, the one at 1048 does: 1000/12 = 83.
#[test]
fn a_sample_is_of_fifty_milliseconds() {
    for (min_interval, at_1048, at_1056) in [(50, 0, 142), (20, 83, 83)] {
        let (mut bench, mut controller) = with(&Params { min_interval, ..Params::default() }, 40);
        bench.rtt = Duration::from_millis(8);
        ack(&mut bench, &mut controller, 1008, 1);
        ack(&mut bench, &mut controller, 1048, 1);
        assert_eq!(controller.module().bandwidth, at_1048);
        ack(&mut bench, &mut controller, 1056, 1);
        assert_eq!(controller.module().bandwidth, at_1056);
    }
}

/// The minimum is taken over the acknowledgements before: 20 s at first, then 100 ms, 25 ticks. 90.1 ms are rounded up
/// to 23. With `initial_rtt` = 3 s: 750.
#[test]
fn the_minimum_round_trip_time_is_in_ticks_rounded_up() {
    let (mut bench, mut controller) = westwood(40);
    let mut minima = Vec::new();
    for (n, micros) in [100_000, 90_100, 120_000].into_iter().enumerate() {
        bench.rtt = Duration::from_micros(micros);
        ack(&mut bench, &mut controller, 1100 + n as u64, 1);
        minima.push(controller.module().rtt_min);
    }
    ack(&mut bench, &mut controller, 1104, 1);
    minima.push(controller.module().rtt_min);
    assert_eq!(minima, [5000, 25, 23, 23]);
    let (mut bench, mut controller) = with(&Params { initial_rtt: 3, ..Params::default() }, 40);
    ack(&mut bench, &mut controller, 1100, 1);
    assert_eq!(controller.module().rtt_min, 750);
}

/// With 200 bytes per tick and 25 ticks.
fn measured() -> (Bench, Control) {
    let (mut bench, mut controller) = westwood(40);
    ack(&mut bench, &mut controller, 1100, 10);
    ack(&mut bench, &mut controller, 1200, 10);
    assert_eq!(
        (controller.module().bandwidth, controller.module().rtt_min, cwnd(&controller)),
        (200, 25, 60)
    );
    (bench, controller)
}

/// During the recovery the window is Reno's half, 30; at its end it is 200·25/1000 = 5 segments.
#[test]
fn the_end_of_a_recovery_sets_the_window_from_the_bandwidth() {
    for cause in [Cause::Loss, Cause::Mark] {
        let (mut bench, mut controller) = measured();
        bench.congestion(&mut controller, cause);
        assert_eq!((cwnd(&controller), controller.socket().ssthresh), (30, 30));
        controller.on_recovered(cause, &mut bench.cx());
        assert_eq!((cwnd(&controller), controller.socket().ssthresh), (5, 5), "{cause:?}");
    }
}

/// A timeout sets the threshold at once and leaves one segment; the end of its repair changes nothing. The next sample
/// replaces the minimum.
#[test]
fn a_timeout_sets_the_threshold_from_the_bandwidth() {
    let (mut bench, mut controller) = measured();
    bench.congestion(&mut controller, Cause::Timeout);
    assert_eq!((cwnd(&controller), controller.socket().ssthresh), (1, 5));
    controller.on_recovered(Cause::Timeout, &mut bench.cx());
    assert_eq!((cwnd(&controller), controller.socket().ssthresh), (1, 5));
    bench.rtt = Duration::from_millis(200);
    ack(&mut bench, &mut controller, 1210, 1);
    ack(&mut bench, &mut controller, 1211, 1);
    assert_eq!(controller.module().rtt_min, 25, "the sample before the timeout");
    let (mut bench, mut controller) = measured();
    bench.rtt = Duration::from_millis(200);
    ack(&mut bench, &mut controller, 1210, 1);
    bench.congestion(&mut controller, Cause::Timeout);
    ack(&mut bench, &mut controller, 1211, 1);
    assert_eq!(controller.module().rtt_min, 50);
}

/// Without a sample of the bandwidth, two segments are left.
#[test]
fn two_segments_are_kept() {
    let (mut bench, mut controller) = westwood(40);
    bench.congestion(&mut controller, Cause::Loss);
    controller.on_recovered(Cause::Loss, &mut bench.cx());
    assert_eq!((cwnd(&controller), controller.socket().ssthresh), (2, 2));
}

/// Each of three duplicate acknowledgements counts a segment; the cumulative one of four then counts one: 4000 bytes in
/// all. Here the sample ends at 1304, tick 326, 26 after the last: (10 000 of 1200 + 3000 + 1000)/26 = 538; (7·200 +
/// 538)/8 = 242, (7·200 + 242)/8 = 205.
#[test]
fn duplicate_acknowledgements_count_a_segment_each() {
    let (mut bench, mut controller) = measured();
    bench.congestion(&mut controller, Cause::Loss);
    bench.now = at(1250);
    for _ in 0..3 {
        bench.delivery(&mut controller, SEGMENT, None, true);
    }
    let four = bench.an_ack_of(&controller, 4);
    bench.deliver_as(&mut controller, &Ack { recovering: true, rtt: None, ..four });
    bench.now = at(1304);
    bench.delivery(&mut controller, Bytes::new(1000), None, true);
    assert_eq!(controller.module().bandwidth, 205);
}

/// Growth is Reno's: slow start by the segments acknowledged, then one per window. From a threshold of 5: five
/// acknowledged make 6.
#[test]
fn growth_is_renos() {
    let (mut bench, mut controller) = measured();
    bench.congestion(&mut controller, Cause::Loss);
    controller.on_recovered(Cause::Loss, &mut bench.cx());
    bench.rtt = Duration::from_millis(100);
    let windows: Vec<u64> = [2, 2, 1, 5]
        .into_iter()
        .map(|packets| {
            ack(&mut bench, &mut controller, 1201, packets);
            cwnd(&controller)
        })
        .collect();
    assert_eq!(windows, [5, 5, 6, 6]);
}
