//! One test per rule of Linux' tcp_veno.c, with numbers worked by hand. Round-trip times are in microseconds plus one,
//! the queue in halves of a segment.

use contract::{Ack, Cause, CongestionControl, Sent};
use units::Duration;

use super::{Control, Params, control};
use crate::shared::testing::{Bench, SEGMENT, setup};

fn veno(initial: u64) -> (Bench, Control) {
    with(Params::default(), initial)
}

fn with(params: Params, initial: u64) -> (Bench, Control) {
    (Bench::new(), control(&params, &setup(initial)))
}

/// Acknowledges `packets` segments with one acknowledgement, after `millis`. Returns the window in segments.
fn ack(bench: &mut Bench, controller: &mut Control, packets: u32, millis: u64) -> u64 {
    bench.rtt = Duration::from_millis(millis);
    let mut ack = bench.an_ack(controller);
    (ack.packets, ack.bytes) = (packets, SEGMENT * u64::from(packets));
    give(bench, controller, &ack)
}

/// Gives an acknowledgement, and nothing is sent. Returns the window in segments.
fn give(bench: &mut Bench, controller: &mut Control, ack: &Ack) -> u64 {
    bench.deliver_ack(controller, ack);
    bench.delivery(controller, ack.bytes, ack.rtt, ack.recovering);
    window(controller)
}

/// A loss and its repair. Returns the window in segments.
fn lose(bench: &mut Bench, controller: &mut Control) -> u64 {
    bench.congestion(controller, Cause::Loss);
    controller.on_recovered(Cause::Loss, &mut bench.cx());
    window(controller)
}

fn window(controller: &Control) -> u64 {
    controller.allowance().window.as_u64() / 1000
}

/// A window of `window` in congestion avoidance after four samples of 100 ms, with no queue; `window` is a multiple of
/// four.
fn steady(params: Params, window: u64) -> (Bench, Control) {
    let (mut bench, mut controller) = with(params, window / 4 * 5 - 4);
    for _ in 0..4 {
        ack(&mut bench, &mut controller, 1, 100);
    }
    assert_eq!(lose(&mut bench, &mut controller), window);
    (bench, controller)
}

/// tcp_slow_start: a segment for each segment acknowledged: 10 + 1 + 3, whatever the delay.
#[test]
fn slow_start_adds_a_segment_for_each_segment_acknowledged() {
    let (mut bench, mut controller) = veno(10);
    for (packets, window) in [(1, 11), (3, 14), (2, 16), (4, 20)] {
        assert_eq!(ack(&mut bench, &mut controller, packets, 100 + u64::from(packets)), window);
    }
}

/// tcp_newly_delivered: of 31 segments acknowledged one is newly delivered; the others counted when they were
/// acknowledged selectively.
#[test]
fn data_acknowledged_selectively_before_do_not_count_again() {
    let (mut bench, mut controller) = veno(10);
    let mut ack = bench.an_ack(&controller);
    (ack.packets, ack.bytes) = (31, SEGMENT * 31);
    bench.deliver_ack(&mut controller, &ack);
    bench.delivery(&mut controller, SEGMENT, ack.rtt, false);
    assert_eq!(window(&controller), 11);
}

/// With 32 segments and a minimum of 100 ms: at 108 ms 64 − ⌊64·100 001/108 001⌋ = 64 − 59 = 5 halves, below 6; at 110
/// ms 64 − ⌊64·100 001/110 001⌋ = 64 − 58 = 6; at 120 ms 11.
#[test]
fn the_queue_is_estimated_from_the_round_trip_time() {
    let (mut bench, mut controller) = steady(Params::default(), 32);
    for (millis, queue) in [(100, 0), (108, 5), (110, 6), (120, 11), (100, 0)] {
        assert_eq!(ack(&mut bench, &mut controller, 1, millis), 32);
        assert_eq!(controller.module().queue, queue, "{millis}");
    }
}

/// Below 3 segments in the queue one segment per window: 31 acknowledged of 32 give none, the next one; 30 of 33, and 4
/// more, with 1 over.
#[test]
fn without_congestion_the_window_grows_by_one_per_round_trip() {
    let (mut bench, mut controller) = steady(Params::default(), 32);
    let windows = [31, 1, 30, 4].map(|packets| ack(&mut bench, &mut controller, packets, 108));
    assert_eq!(windows, [32, 33, 33, 34]);
}

/// With congestion: 32 acknowledged are counted, and the next acknowledgement makes 33. 33 more are counted, and the
/// next only starts again, so 33 more and one make 34.
#[test]
fn with_congestion_the_window_grows_by_one_per_two_round_trips() {
    let (mut bench, mut controller) = steady(Params::default(), 32);
    let windows = [31, 1, 1, 33, 1, 33, 1].map(|packets| ack(&mut bench, &mut controller, packets, 120));
    assert_eq!(windows, [32, 32, 33, 33, 33, 33, 34]);
}

/// Up to two samples the window grows as Reno's, and nothing is known of a queue: a loss keeps 4/5.
#[test]
fn with_two_samples_it_is_reno() {
    let (mut bench, mut controller) = veno(3);
    assert_eq!(lose(&mut bench, &mut controller), 2);
    assert_eq!(ack(&mut bench, &mut controller, 1, 100), 2);
    assert_eq!(ack(&mut bench, &mut controller, 1, 400), 3);
    assert_eq!(controller.module().queue, 0);
    // the third sample: 6 − ⌊6·100 001/400 001⌋ = 6 − 1
    ack(&mut bench, &mut controller, 1, 400);
    assert_eq!(controller.module().queue, 5);
}

/// Without congestion 4/5, with congestion a half, both rounded down, and two at least. 33·4/5 = 26, 26/2 = 13.
#[test]
fn a_loss_without_a_queue_keeps_four_fifths() {
    let (mut bench, mut controller) = steady(Params::default(), 32);
    assert_eq!(ack(&mut bench, &mut controller, 32, 100), 33);
    assert_eq!((lose(&mut bench, &mut controller), controller.ssthresh()), (26, SEGMENT * 26));
    ack(&mut bench, &mut controller, 1, 150);
    for left in [13, 6, 3, 2, 2] {
        assert_eq!(lose(&mut bench, &mut controller), left);
    }
}

/// w·4/5 and w/2 in whole segments, as the kernel has them.
#[test]
fn shares_are_those_of_the_kernels_integers() {
    for w in 0..200_000u64 {
        assert_eq!(((w as f64 * 0.8) as u64, (w as f64 * 0.5) as u64), (w * 4 / 5, w / 2), "{w}");
    }
}

/// A timeout at 40, without a queue, leaves one segment and a threshold of 32. 1 + 20 = 21; 15 more reach 32, and the 4
/// over count for congestion avoidance. Until the 40 segments of before the timeout are acknowledged, growth is Reno's,
/// and no queue is estimated, whatever the delay. Then 150 ms are 64 − ⌊64·100 001/150 001⌋ halves, and 100 ms no
/// queue.
#[test]
fn after_a_timeout_slow_start_ends_at_the_threshold() {
    let (mut bench, mut controller) = veno(36);
    for _ in 0..4 {
        ack(&mut bench, &mut controller, 1, 100);
    }
    bench.congestion(&mut controller, Cause::Timeout);
    assert_eq!((window(&controller), controller.ssthresh()), (1, SEGMENT * 32));
    let windows = [20, 15, 3].map(|packets| ack(&mut bench, &mut controller, packets, 150));
    assert_eq!(windows, [21, 32, 32]);
    assert_eq!(controller.module().queue, 0);
    controller.on_recovered(Cause::Timeout, &mut bench.cx());
    // the sample of 150 ms precedes the end of the repair
    assert_eq!(ack(&mut bench, &mut controller, 2, 150), 32);
    assert_eq!(controller.module().queue, 64 - 64 * 100_001 / 150_001);
    assert_eq!(ack(&mut bench, &mut controller, 1, 100), 32);
    assert_eq!(controller.module().queue, 0);
}

/// tcp_veno_cwnd_event: when a segment leaves and nothing else is in flight, the minimum is forgotten, so that 150 ms
/// are no queue. A segment beside others changes nothing.
#[test]
fn a_new_start_of_transmission_forgets_the_minimum() {
    for (in_flight, queue) in [(2, 22), (1, 0)] {
        let (mut bench, mut controller) = steady(Params::default(), 32);
        ack(&mut bench, &mut controller, 1, 100);
        let sent = Sent {
            bytes: SEGMENT,
            in_flight: SEGMENT * in_flight,
            retransmission: false,
            app_limited: false,
            idle: Duration::ZERO,
        };
        controller.on_sent(&sent, &mut bench.cx());
        ack(&mut bench, &mut controller, 1, 150);
        // 64 − ⌊64·100 001/150 001⌋ = 64 − 42
        assert_eq!(controller.module().queue, queue);
    }
}

/// Without data of the application the window does not grow, and its samples count for the next estimate: the minimum
/// of 104 and 150 ms, 64 − ⌊64·100 001/104 001⌋ = 3.
#[test]
fn samples_count_while_the_application_lacks_data() {
    let (mut bench, mut controller) = steady(Params::default(), 32);
    ack(&mut bench, &mut controller, 1, 100);
    bench.rtt = Duration::from_millis(104);
    let mut paused = bench.an_ack(&controller);
    paused.app_limited = true;
    give(&mut bench, &mut controller, &paused);
    ack(&mut bench, &mut controller, 1, 150);
    assert_eq!((window(&controller), controller.module().queue), (32, 3));
}

/// In recovery a sample counts for the minimum of all only. 32·4/5 = 25 segments, a sample of 90 ms in the recovery,
/// and 150 ms after it: 50 − ⌊50·90 001/150 001⌋ = 20.
#[test]
fn samples_in_recovery_count_for_the_minimum() {
    let (mut bench, mut controller) = steady(Params::default(), 32);
    bench.congestion(&mut controller, Cause::Loss);
    bench.rtt = Duration::from_millis(90);
    let mut paused = bench.an_ack(&controller);
    paused.recovering = true;
    give(&mut bench, &mut controller, &paused);
    controller.on_recovered(Cause::Loss, &mut bench.cx());
    ack(&mut bench, &mut controller, 1, 150);
    assert_eq!((window(&controller), controller.module().queue), (25, 20));
}

/// 1 segment: 2 halves, so that 5 halves are congestion; shares of 0.9 and 0.25 of 32.
#[test]
fn the_parameters_set_the_limit_and_the_shares() {
    for (beta, reduced) in [(3.0, 28), (1.0, 8)] {
        let params = Params { beta, random_keep: 0.9, congestion_keep: 0.25 };
        let (mut bench, mut controller) = with(params, 28);
        for _ in 0..3 {
            ack(&mut bench, &mut controller, 1, 100);
        }
        // 31 segments: 62 − ⌊62·100 001/108 001⌋ = 62 − 57 = 5; the window is then 32
        assert_eq!(ack(&mut bench, &mut controller, 1, 108), 32);
        assert_eq!(controller.module().queue, 5);
        bench.congestion(&mut controller, Cause::Loss);
        assert_eq!(window(&controller), reduced);
    }
}

/// tcp_veno_state: data in order after duplicate acknowledgements end the state Disorder, and the queue is estimated
/// without a round-trip time: 2·32 halves.
#[test]
fn the_end_of_disorder_forgets_the_samples() {
    let (mut bench, mut controller) = steady(Params::default(), 32);
    bench.delivery(&mut controller, SEGMENT, Some(Duration::from_millis(100)), false);
    assert!(controller.socket().disordered);
    ack(&mut bench, &mut controller, 1, 100);
    assert_eq!(controller.module().queue, 64);
    ack(&mut bench, &mut controller, 1, 100);
    assert_eq!(controller.module().queue, 0);
}

/// The acknowledgement that ends a recovery lets the window grow; the queue is then estimated without a round-trip
/// time, as congested, so that its 25 segments are counted. A TCP may say that it is of the recovery, or that it is
/// not, as Linux' TCP does.
#[test]
fn the_end_of_a_recovery_counts() {
    for recovering in [true, false] {
        let (mut bench, mut controller) = steady(Params::default(), 32);
        bench.congestion(&mut controller, Cause::Loss);
        let mut last = bench.an_ack(&controller);
        (last.recovering, last.packets) = (recovering, 25);
        give(&mut bench, &mut controller, &last);
        controller.on_recovered(Cause::Loss, &mut bench.cx());
        let socket = controller.socket();
        assert_eq!((socket.cwnd, controller.module().queue, socket.credit.acked()), (25, 50, 25));
    }
}

/// QUIC acknowledges several packets before it tells that an episode is over: packets that left after its start count
/// then, and packets of the recovery do not.
#[test]
fn all_packets_after_a_recovery_count_at_its_end() {
    let (mut bench, mut controller) = steady(Params::default(), 32);
    bench.congestion(&mut controller, Cause::Loss);
    let ack = bench.an_ack(&controller);
    for (recovering, packets) in [(true, 7), (false, 3), (false, 2)] {
        bench.deliver_ack(&mut controller, &Ack { recovering, packets, ..ack });
    }
    bench.delivery(&mut controller, SEGMENT * 5, ack.rtt, false);
    assert_eq!((window(&controller), controller.socket().credit.acked()), (25, 0));
    controller.on_recovered(Cause::Loss, &mut bench.cx());
    assert_eq!((window(&controller), controller.socket().credit.acked()), (25, 5));
}
