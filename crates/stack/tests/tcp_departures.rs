//! What limits departures: the application, the receiver's window, the pacer, the handshake.

mod net;

use contract::{Allowance, Count, Input, Request};
use net::{Fate, Fixed, Halving, Net, SEGMENT, ms, plain};
use stack::tcp::{Config, Demand, LossDetection, RecoveryTimer, WindowPacing};
use units::{Bytes, Duration, Rate, Time};

/// 80 kbit/s are ten segments of 1000 bytes a second.
#[test]
fn an_application_of_80_kbps_sends_ten_segments_per_second_and_is_app_limited() {
    let config = Config { demand: Demand::Limited(Rate::from_kbps(80)), ..plain() };
    let mut net = Net::one(&config, Fixed::window(100));
    net.run_ms(1050);
    let times: Vec<u64> = net.data.iter().map(|s| s.at.as_nanos() / 1_000_000).collect();
    assert_eq!(times, [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]);
    assert!(net.flows[0].sender.controller().acks.iter().all(|ack| ack.app_limited));
    assert!(net.data.iter().all(|s| s.size == 1040));
}

#[test]
fn a_sender_that_fills_its_window_is_not_application_limited() {
    let mut net = Net::one(&plain(), Fixed::window(7));
    net.run_ms(1050);
    assert!(net.flows[0].sender.controller().acks.iter().all(|ack| !ack.app_limited));
}

/// Data that the network cannot take waits in the application and is sent later.
#[test]
fn application_data_are_kept_while_the_window_is_full() {
    let config = Config { demand: Demand::Limited(Rate::from_kbps(800)), ..plain() };
    let mut net = Net::one(&config, Fixed::window(5));
    // five segments each 100 ms are half of the application's rate
    net.run(Time::ZERO + Duration::from_secs(10));
    let sent = net.data.len();
    assert!((490..=500).contains(&sent), "{sent}");
}

#[test]
fn a_request_lets_a_finished_sender_send_more() {
    let mut net =
        Net::one(&Config { demand: Demand::Finite(Bytes::new(2000)), ..plain() }, Fixed::window(10));
    net.run(Time::ZERO + Duration::from_secs(2));
    assert_eq!(net.data.len(), 2);
    net.input(0, true, Input::App(Request::Send(Bytes::new(3000))));
    net.run(Time::ZERO + Duration::from_secs(4));
    assert_eq!(net.data.len(), 5);
    assert_eq!(net.flows[0].received.goodput_bytes, 5000);
    // a pause of two seconds is longer than the timeout
    assert_eq!(net.flows[0].sender.controller().idles, 1);
}

#[test]
fn a_stopped_sender_sends_nothing_more() {
    let mut net = Net::one(&plain(), Fixed::window(4));
    net.run_ms(120);
    net.input(0, true, Input::Stop);
    let sent = net.data.len();
    net.run(Time::ZERO + Duration::from_secs(5));
    assert_eq!(net.data.len(), sent);
}

#[test]
fn the_receivers_window_limits_where_it_is_the_smaller() {
    let config = Config { receive_window: Bytes::new(3 * SEGMENT + 500), ..plain() };
    let mut net = Net::one(&config, Fixed::window(10));
    net.run_ms(150);
    assert_eq!(net.sent_between(0, 100), [0, 1, 2]);
    assert_eq!(net.sent_between(100, 150), [3, 4, 5]);
    assert!(net.flows[0].sender.controller().acks[0].app_limited);
}

#[test]
fn a_receive_window_below_a_segment_is_filled_and_then_waited_for() {
    let mut net = Net::one(&Config { receive_window: Bytes::new(600), ..plain() }, Fixed::window(10));
    net.run_ms(450);
    assert!(net.data.iter().all(|s| s.size == 640));
    assert_eq!(net.flows[0].received.goodput_bytes, 5 * 600);
}

/// 1040 bytes at 832 kbit/s are 10 ms.
#[test]
fn a_rate_spaces_departures_by_the_packet_on_the_wire() {
    let mut controller = Fixed::window(1000);
    controller.allowance = Allowance::rate(Rate::from_kbps(832));
    let mut net = Net::one(&plain(), controller);
    net.run_ms(1000);
    let times: Vec<u64> = net.data.iter().map(|s| s.at.as_nanos()).collect();
    assert_eq!(times.len(), 101);
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 10_000_000));
}

#[test]
fn retransmissions_are_paced() {
    for sack in [false, true] {
        let mut controller = Fixed::window(30);
        controller.allowance.rate = Rate::from_kbps(8320);
        let mut net =
            Net::one(&Config { sack, recovery_timer: RecoveryTimer::Steady, ..plain() }, controller);
        net.drop_once(&[3, 5, 7, 8]);
        net.run_ms(1000);
        assert!(
            net.data.windows(2).all(|pair| pair[1].at - pair[0].at >= Duration::from_millis(1)),
            "{sack}"
        );
        assert_eq!(net.flows[0].sent.count(Count::Retransmits), 4);
    }
}

#[test]
fn a_handshake_takes_one_round_before_data() {
    let mut net = Net::one(&Config { handshake: true, ..plain() }, Fixed::window(2));
    net.run_ms(150);
    assert!(net.data[0].header.flags.syn && net.data[0].size == 40);
    assert_eq!(net.data[1].at, ms(100));
    assert_eq!(net.data.len(), 3);
    assert_eq!(net.flows[0].sent.rtt_min, Duration::from_millis(100));
}

/// RFC 6298 §2.1, §5.5: the SYN is retransmitted after 1 s, then 2 s later.
#[test]
fn a_lost_syn_is_retransmitted() {
    let mut net = Net::one(&Config { handshake: true, ..plain() }, Fixed::window(2));
    let mut n = 0;
    net.on_data(move |_| {
        n += 1;
        if n <= 2 { Fate::Drop } else { Fate::Pass }
    });
    net.run_ms(3150);
    let times: Vec<u64> = net.data.iter().map(|s| s.at.as_nanos() / 1_000_000).collect();
    assert_eq!(times, [0, 1000, 3000, 3100, 3100]);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 2);
}

/// RFC 5681 §4.1.
#[test]
fn the_controller_is_notified_of_an_idle_time_only_with_idle_restart() {
    for (idle_restart, idles) in [(true, 1), (false, 0)] {
        let config = Config { idle_restart, demand: Demand::Finite(Bytes::new(2000)), ..plain() };
        let mut net = Net::one(&config, Fixed::window(10));
        net.run(Time::ZERO + Duration::from_secs(2));
        net.input(0, true, Input::App(Request::Send(Bytes::new(3000))));
        assert_eq!(net.flows[0].sender.controller().idles, idles);
    }
}

/// A controller that keeps two segments after a pause sends two, without making up for the pause.
#[test]
fn after_an_idle_time_the_restart_window_limits_departures() {
    let config = Config { demand: Demand::Finite(Bytes::new(20 * SEGMENT)), ..plain() };
    let mut net = Net::one(&config, Halving::new(10.0));
    net.run(Time::ZERO + Duration::from_secs(2));
    net.input(0, true, Input::App(Request::Send(Bytes::new(20 * SEGMENT))));
    net.run_ms(2050);
    assert_eq!(net.sent_between(1999, 2050), [20, 21]);
}

#[test]
fn series_are_offered_only_when_recorded() {
    let mut net = Net::one(&plain(), Halving::new(10.0));
    net.run_ms(500);
    assert!(net.notes().is_empty());
    let mut net = Net::one(&plain(), Halving::avoiding(10.0));
    net.record();
    net.run_ms(500);
    for name in ["window", "ssthresh", "rtt", "srtt", "in_flight"] {
        assert!(net.notes().iter().any(|note| note.name == name), "{name}");
    }
    let rtt = net.notes().iter().find(|note| note.name == "rtt").expect("one");
    assert_eq!(rtt.value, 0.1);
}

/// Which of the segments sent have PSH.
fn pushed(net: &Net<Fixed>) -> Vec<u64> {
    net.data.iter().filter(|s| s.header.flags.psh).map(|s| s.segment).collect()
}

/// Five segments leave as 2, 2 and 1. The last segment of a batch of several has PSH. Not more than half of the window
/// leaves at once, so a window of three has no batch.
#[test]
fn segments_leave_in_batches_with_segmentation_offload() {
    for (window, expected) in [(5, [1, 3].as_slice()), (3, &[])] {
        let mut net = Net::one(&Config { gso: true, ..plain() }, Fixed::window(window));
        net.run_ms(50);
        assert_eq!(pushed(&net), expected);
    }
}

/// A buffer has 65 segments of 1000 bytes, and the second one begins after the initial window of ten. Its last segment,
/// 74, is alone, because no batch is of two buffers.
#[test]
fn a_batch_ends_with_its_buffer() {
    let mut net = Net::one(&Config { gso: true, ..plain() }, Fixed::window(100));
    net.run_ms(50);
    let expected: Vec<u64> = (1..74).step_by(2).chain((76..99).step_by(2)).collect();
    assert_eq!(pushed(&net), expected);
}

/// Five segments leave at 100 ms, after the handshake, and are acknowledged one by one at 200 ms. The first
/// acknowledgement lets segment 5 go, as nothing was sent in the last millisecond. At the second the next
/// acknowledgement is due, so that segment 6 waits and leaves with 7 at the third, and 8 with 9 at the fifth. With 2 of
/// a window of 5 in a batch, a third of the window is 1.67 segments, which one does not reach.
#[test]
fn a_batch_that_is_not_full_waits_for_an_acknowledgement_that_is_due() {
    let config =
        Config { gso: true, sack: true, loss_detection: LossDetection::Time, handshake: true, ..plain() };
    let mut net = Net::one(&config, Fixed::window(5));
    net.run_ms(250);
    // behind the SYN
    let departures: Vec<_> = net.data.iter().skip(1).map(|s| (s.at, s.segment)).collect();
    let expected = (0..10).map(|segment| (ms(if segment < 5 { 100 } else { 200 }), segment));
    assert_eq!(departures, expected.collect::<Vec<_>>());
    assert_eq!(pushed(&net), [1, 3, 7, 9]);
}

/// A paced sender at 1.664 Mbit/s with headers, 200 kB/s of payload, sends two segments each 10 ms; below 150 kB/s
/// single ones.
#[test]
fn a_pacer_releases_batches() {
    for (kbps, gap, expected) in [(1664, 10, [0, 0, 10, 10, 20, 20]), (832, 10, [0, 10, 20, 30, 40, 50])] {
        let mut fixed = Fixed::window(100);
        fixed.allowance.rate = Rate::from_kbps(kbps);
        let mut net = Net::one(&Config { gso: true, ..plain() }, fixed);
        net.run_ms(49 + gap);
        let times: Vec<u64> = net.data.iter().map(|s| s.at.as_nanos() / 1_000_000).take(6).collect();
        assert_eq!(times, expected, "{kbps}");
    }
}

/// A window of 10 segments and a round-trip time of 100 ms: 125 segments per second are one each 8 ms, 120 one each
/// 8.333 ms, 200 one each 5 ms. The first window leaves at once, as there is no sample; its acknowledgements arrive
/// together at 100 ms. With 8 ms the tenth segment of a round leaves at 172 ms.
#[test]
fn a_paced_window_leaves_over_most_of_a_round_trip() {
    for (pacing, threshold, gap_us) in [
        (WindowPacing::Quic, 1000, 8_000),
        (WindowPacing::Linux, 10, 8_333),
        (WindowPacing::Linux, 1000, 5_000),
    ] {
        let mut controller = Fixed::window(10);
        controller.ssthresh = Bytes::new(threshold * SEGMENT);
        let mut net = Net::one(&Config { pacing, ..plain() }, controller);
        net.run_ms(199);
        let times: Vec<u64> = net.data.iter().map(|s| s.at.as_nanos() / 1000).collect();
        let expected = (0..10).map(|_| 0).chain((0..10).map(|n| 100_000 + n * gap_us));
        assert!(
            times.iter().zip(expected.clone()).all(|(at, wanted)| at.abs_diff(wanted) <= 9),
            "{pacing:?}: {times:?}, not {:?}",
            expected.collect::<Vec<_>>()
        );
        assert_eq!(times.len(), 20);
    }
}

#[test]
fn a_controller_with_a_rate_keeps_it() {
    let mut controller = Fixed::window(1000);
    controller.allowance = Allowance::rate(Rate::from_kbps(832));
    let mut net = Net::one(&Config { pacing: WindowPacing::Quic, ..plain() }, controller);
    net.run_ms(500);
    assert!(net.data.windows(2).all(|pair| (pair[1].at - pair[0].at).as_nanos() == 10_000_000));
}
