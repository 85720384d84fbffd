//! Losses without SACK: fast retransmit, fast recovery, the retransmission timer, needless retransmissions.
//!
//! The path has a round-trip time of 100 ms and no bottleneck, so that a window leaves in one instant.

mod net;

use contract::{Cause, Count};
use net::{Fate, Fixed, Halving, Net, SEGMENT, ms, plain};
use stack::tcp::{Config, Demand, RecoveryTimer};
use units::{Bytes, Duration, Time};

fn finite(segments: u64) -> Config {
    Config { demand: Demand::Finite(Bytes::new(segments * SEGMENT)), ..plain() }
}

#[test]
fn a_window_is_sent_at_once_and_each_acknowledgement_releases_a_segment() {
    let mut net = Net::one(&plain(), Fixed::window(4));
    net.run_ms(210);
    assert_eq!(net.sent_between(0, 1), [0, 1, 2, 3]);
    assert_eq!(net.sent_between(1, 101), [4, 5, 6, 7]);
    assert_eq!(net.sent_between(101, 210), [8, 9, 10, 11]);
    let controller = net.flows[0].sender.controller();
    assert_eq!(controller.acks[0].rtt, Some(Duration::from_millis(100)));
    assert_eq!(controller.acks[0].in_flight, Bytes::new(4 * SEGMENT));
    // the first acknowledgement of each round ends the one before
    let ends: Vec<bool> = controller.acks.iter().map(|ack| ack.round_ended).collect();
    assert_eq!(ends, [true, false, false, false, true, false, false, false]);
}

/// RFC 5681 §3.2, RFC 3042: of the six duplicate acknowledgements the first two permit new data, the third triggers the
/// retransmission of segment 3 and, as the window is inflated by three segments, one more segment; each further one
/// permits a segment.
#[test]
fn the_third_duplicate_acknowledgement_retransmits_the_missing_segment() {
    let mut net = Net::one(&plain(), Fixed::window(10));
    net.drop_once(&[3]);
    net.run_ms(150);
    assert_eq!(net.sent_between(1, 150), [10, 11, 12, 13, 14, 3, 15, 16, 17, 18]);
    let controller = net.flows[0].sender.controller();
    assert_eq!(controller.events.len(), 1);
    assert_eq!(controller.events[0].cause, Cause::Loss);
    assert!(controller.events[0].first);
    // segments of limited transmit are not counted
    assert_eq!(controller.events[0].in_flight, Bytes::new(10 * SEGMENT));
    assert_eq!(net.flows[0].sent.count(Count::Retransmits), 1);
}

#[test]
fn without_limited_transmit_the_first_two_duplicates_release_nothing() {
    let mut net = Net::one(&Config { limited_transmit: false, ..plain() }, Fixed::window(10));
    net.drop_once(&[3]);
    net.run_ms(150);
    assert_eq!(net.sent_between(1, 150), [10, 11, 12, 3, 13, 14, 15, 16, 17, 18]);
}

#[test]
fn two_duplicate_acknowledgements_are_not_a_loss() {
    let mut net = Net::one(&plain(), Fixed::window(10));
    // they arrive as 0, 1, 2, 4, 5, 3, 6, 7, 8, 9
    net.on_data(|s| match s.segment {
        3 => Fate::Late(Duration::from_millis(1)),
        6..10 => Fate::Late(Duration::from_millis(2)),
        _ => Fate::Pass,
    });
    net.run_ms(400);
    assert_eq!(net.flows[0].sent.count(Count::Retransmits), 0);
    assert_eq!(net.flows[0].sent.count(Count::Episodes), 0);
}

/// RFC 6582 §3.2: with 3 and 6 missing, the acknowledgement of the retransmission of 3 is partial and triggers the
/// retransmission of 6; the acknowledgement of the latter covers all data in flight and ends the recovery with the
/// window at half of the 16 in flight.
#[test]
fn a_partial_acknowledgement_sends_the_next_hole_and_a_full_one_ends_the_recovery() {
    let mut net = Net::one(&plain(), Halving::avoiding(16.0));
    net.drop_once(&[3, 6]);
    net.run_ms(150);
    let sender = &net.flows[0].sender;
    // one reduction, although two were lost; the window was 16.2 and 16 segments were in flight
    assert_eq!(sender.controller().threshold, 8.0);
    net.run_ms(250);
    let again: Vec<u64> = net.data.iter().filter(|s| s.nth > 0).map(|s| s.segment).collect();
    assert_eq!(again, [3, 6]);
    assert_eq!(net.flows[0].sender.controller().window, 8.0);
    assert_eq!(net.flows[0].sent.count(Count::Episodes), 1);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
    net.run_ms(310);
    let before = net.flows[0].sender.controller().window;
    net.run_ms(410);
    // one segment more in the round after the recovery
    let more = net.flows[0].sender.controller().window - before;
    assert!((0.9..1.1).contains(&more), "{more}");
}

/// RFC 6582 §3.2 step 3: inflation keeps half a window of new data in flight while the holes are filled.
#[test]
fn a_recovery_sends_on_average_one_new_segment_per_two_duplicates() {
    let mut net = Net::one(&plain(), Halving::avoiding(16.0));
    net.drop_once(&[0]);
    net.run_ms(150);
    // 15 duplicates: two by limited transmit; at the third the limit is 8 + 3 = 11; at the fifteenth 8 + 15 = 23
    assert_eq!(net.sent_between(1, 150), [16, 17, 0, 18, 19, 20, 21, 22]);
}

/// RFC 6298 §2.1, §5.5: 1 s, doubled each time; the threshold is lowered at the first only [RFC5681 §3.1].
#[test]
fn the_timer_backs_off_and_only_the_first_expiry_is_a_new_episode() {
    let mut net = Net::one(&finite(1), Fixed::window(1));
    net.on_data(|s| if s.nth < 5 { Fate::Drop } else { Fate::Pass });
    net.run(Time::ZERO + Duration::from_secs(40));
    let times: Vec<u64> = net.data.iter().map(|s| s.at.as_nanos() / 1_000_000_000).collect();
    assert_eq!(times, [0, 1, 3, 7, 15, 31]);
    let firsts: Vec<bool> = net.flows[0].sender.controller().events.iter().map(|event| event.first).collect();
    assert_eq!(firsts, [true, false, false, false, false]);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 5);
    // the retransmission that arrived is the one that is measured, so there is no ambiguity [Karn]
    assert_eq!(net.flows[0].sent.rtt_min, Duration::from_millis(100));
    assert_eq!(net.flows[0].sent.rtt_last, Duration::from_millis(100));
    assert_eq!(net.flows[0].received.completed_at, ms(31_050));
}

/// RFC 6298 §5.3: each acknowledgement of new data restarts the timer; RTO = 100 + 4·(50·¾ⁿ) ms but at least 200 ms.
#[test]
fn the_timer_runs_from_the_last_acknowledgement() {
    let mut net = Net::one(&plain(), Fixed::window(2));
    // the network fails after 500 ms
    net.on_data(|s| if s.at > ms(450) { Fate::Drop } else { Fate::Pass });
    net.run_ms(690);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
    net.run_ms(710);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 1);
}

/// All eight are lost. After the timeout they are retransmitted from the first on, one, two, four per round, until all
/// have arrived.
#[test]
fn after_a_timeout_outstanding_data_are_retransmitted_in_slow_start() {
    let mut net = Net::one(&finite(8), Halving::new(8.0));
    net.drop_once(&[0, 1, 2, 3, 4, 5, 6, 7]);
    net.run(Time::ZERO + Duration::from_secs(3));
    assert_eq!(net.sent_between(999, 1001), [0]);
    assert_eq!(net.sent_between(1099, 1101), [1, 2]);
    assert_eq!(net.sent_between(1199, 1201), [3, 4, 5, 6]);
    assert_eq!(net.sent_between(1299, 1301), [7]);
    assert_eq!(net.flows[0].sender.controller().threshold, 4.0);
    assert_eq!(net.flows[0].sent.count(Count::Retransmits), 8);
    assert_eq!(net.flows[0].received.goodput_bytes, 8 * SEGMENT);
    assert_eq!(net.flows[0].received.completed_at, ms(1350));
}

/// RFC 6582 §3.2 step 4: the needless retransmissions of a timeout cause duplicate acknowledgements, which must not
/// start a recovery.
#[test]
fn duplicates_of_retransmissions_after_a_timeout_start_no_recovery() {
    let mut net = Net::one(&Config { undo: false, ..finite(30) }, Halving::new(10.0));
    // all data arrives, but all acknowledgements of the first window are lost
    net.ack_script = Box::new(|s| if s.at < ms(500) { Fate::Drop } else { Fate::Pass });
    net.on_data(|s| if s.segment == 0 && s.nth == 0 { Fate::Drop } else { Fate::Pass });
    net.run(Time::ZERO + Duration::from_secs(5));
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 1);
    assert_eq!(net.flows[0].sent.count(Count::Episodes), 1);
    assert_eq!(net.flows[0].received.goodput_bytes, 30 * SEGMENT);
}

/// RFC 6582 §4: with ten of twenty lost, the Impatient variant times out, the Slow-but-Steady variant retransmits one
/// per round trip.
#[test]
fn the_impatient_timer_expires_where_the_slow_but_steady_one_does_not() {
    let lost: Vec<u64> = (0..20).step_by(2).collect();
    let run = |recovery_timer| {
        let mut net = Net::one(&Config { recovery_timer, ..finite(40) }, Halving::new(20.0));
        net.drop_once(&lost);
        net.run(Time::ZERO + Duration::from_secs(5));
        assert_eq!(net.flows[0].received.goodput_bytes, 40 * SEGMENT);
        net.flows[0].sent.count(Count::Timeouts)
    };
    assert_eq!(run(RecoveryTimer::Steady), 0);
    assert!(run(RecoveryTimer::Impatient) >= 1);
}

/// Tahoe, with 8 in flight: the third duplicate leaves a window of one and a threshold of four, and the missing segment
/// is retransmitted; the segments of limited transmit arrive with it, so that slow start continues with new data: two,
/// four. The timer has not expired.
#[test]
fn without_fast_recovery_three_duplicates_lead_to_slow_start() {
    let mut net = Net::one(&Config { fast_recovery: false, ..plain() }, Halving::avoiding(8.0));
    net.drop_once(&[0]);
    net.run_ms(310);
    assert_eq!(net.sent_between(99, 101), [8, 9, 0]);
    assert_eq!(net.sent_between(199, 201), [10, 11]);
    assert_eq!(net.sent_between(299, 301), [12, 13, 14, 15]);
    assert_eq!(net.flows[0].sender.controller().threshold, 4.0);
    let sent = &net.flows[0].sent;
    assert_eq!(
        [Count::Retransmits, Count::Episodes, Count::Timeouts].map(|what| sent.count(what)),
        [1, 1, 0]
    );
}

/// Tahoe restarts at the missing segment, even if later ones have arrived: with 0 and 3 lost, 4 is sent twice. The
/// duplicate acknowledgement that this causes starts nothing. NewReno retransmits 0 and 3 and nothing else.
#[test]
fn without_fast_recovery_outstanding_data_are_retransmitted_from_the_missing_segment() {
    let again = |fast_recovery| {
        let mut net = Net::one(&Config { fast_recovery, ..plain() }, Halving::avoiding(8.0));
        net.drop_once(&[0, 3]);
        net.run_ms(510);
        assert_eq!(net.flows[0].sent.count(Count::Episodes), 1);
        assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
        net.data.iter().filter(|s| s.nth > 0).map(|s| s.segment).collect::<Vec<_>>()
    };
    assert_eq!(again(false), [0, 3, 4]);
    assert_eq!(again(true), [0, 3]);
}

/// RFC 3522, RFC 4015: the delay of the path rises once, nothing is lost. The controller is informed, and only one
/// segment was retransmitted.
#[test]
fn a_spurious_timeout_is_detected_and_sending_resumes() {
    let late = |undo| {
        let mut net = Net::one(&Config { undo, ..finite(40) }, Halving::new(10.0));
        net.on_data(|s| if s.at < ms(1100) { Fate::Late(Duration::from_millis(1500)) } else { Fate::Pass });
        net.run(Time::ZERO + Duration::from_secs(10));
        assert_eq!(net.flows[0].received.goodput_bytes, 40 * SEGMENT);
        assert_eq!(net.flows[0].sent.count(Count::Timeouts), 1);
        (net.flows[0].sent.count(Count::Retransmits), net.flows[0].sender.controller().threshold)
    };
    assert_eq!(late(true), (1, f64::INFINITY));
    let (again, threshold) = late(false);
    assert!(again > 5, "{again}");
    assert_eq!(threshold, 5.0);
}

/// RFC 3522: segment 3 arrives after four later ones, so that its retransmission was needless.
#[test]
fn a_spurious_fast_retransmit_is_detected() {
    let mut net = Net::one(&plain(), Fixed::window(10));
    net.on_data(|s| {
        if s.segment == 3 && s.nth == 0 { Fate::Late(Duration::from_millis(20)) } else { Fate::Pass }
    });
    net.run_ms(300);
    assert_eq!(net.flows[0].sender.controller().spurious, 1);
    assert_eq!(net.flows[0].sent.count(Count::Retransmits), 1);
}

#[test]
fn a_real_loss_is_not_taken_for_spurious() {
    let mut net = Net::one(&plain(), Fixed::window(10));
    net.drop_once(&[3]);
    net.run_ms(500);
    assert_eq!(net.flows[0].sender.controller().spurious, 0);
}

/// The controller learns when everything is repaired, after the acknowledgement that covers it: with and without SACK,
/// and with a reduction over a round trip. After a timeout these are the data that were in flight then.
#[test]
fn the_end_of_an_episode_is_told_once() {
    for config in [
        plain(),
        Config { sack: true, ..plain() },
        Config { segment: Bytes::new(SEGMENT), ..Config::linux() },
    ] {
        let mut net = Net::one(&Config { handshake: false, ..config.clone() }, Fixed::window(10));
        net.drop_once(&[3]);
        net.run_ms(2000);
        let controller = net.flows[0].sender.controller();
        let causes: Vec<Cause> = controller.recovered.iter().map(|(cause, _)| *cause).collect();
        assert_eq!(causes, [Cause::Loss], "{config:?}");
        let (_, acks) = controller.recovered[0];
        let acked: u64 = controller.acks[..acks].iter().map(|ack| ack.bytes.as_u64()).sum();
        // 0 to 9 were in flight, 10 to 12 follow the acknowledgements of 0 to 2, and two more may leave by limited
        // transmit
        assert!((13 * SEGMENT..=15 * SEGMENT).contains(&acked), "{acked} bytes, {config:?}");
    }
    let mut net = Net::one(&finite(10), Fixed::window(10));
    net.drop_once(&[8, 9]);
    net.run_ms(5000);
    let controller = net.flows[0].sender.controller();
    assert_eq!(controller.recovered.len(), 1);
    assert_eq!(controller.recovered[0], (Cause::Timeout, controller.acks.len()));
}

/// A spurious episode ends with its detection.
#[test]
fn the_end_of_a_spurious_episode_is_not_told() {
    let mut net = Net::one(&plain(), Fixed::window(10));
    net.on_data(|s| {
        if s.segment == 3 && s.nth == 0 { Fate::Late(Duration::from_millis(20)) } else { Fate::Pass }
    });
    net.run_ms(300);
    let controller = net.flows[0].sender.controller();
    assert_eq!((controller.spurious, controller.recovered.len()), (1, 0));
}

/// RFC 2883 §4.1: the original arrives 60 ms late, the retransmission after it; the acknowledgement of the second copy
/// reports it below its number.
#[test]
fn the_receiver_reports_data_that_arrive_twice() {
    for dsack in [true, false] {
        let mut net = Net::one(&Config { sack: true, dsack, ..plain() }, Fixed::window(8));
        net.on_data(|s| {
            if s.segment == 0 && s.nth == 0 { Fate::Late(Duration::from_millis(60)) } else { Fate::Pass }
        });
        net.run_ms(199);
        let twice: Vec<_> = net.acks.iter().filter_map(|s| s.header.sack.duplicate(s.header.ack)).collect();
        assert_eq!(twice, if dsack { vec![(0, SEGMENT)] } else { vec![] });
    }
}

/// RFC 3708 §2: all acknowledgements of a window are lost, so the timer expires, and the echoed time stamp is the
/// retransmission's. What says that nothing was lost is the report of the second copy.
#[test]
fn a_timeout_is_taken_back_if_all_that_it_retransmitted_arrived_twice() {
    for dsack in [true, false] {
        let mut net = Net::one(&Config { sack: true, dsack, ..plain() }, Fixed::window(4));
        net.ack_script = Box::new(|s| if s.at < ms(120) { Fate::Drop } else { Fate::Pass });
        net.run_ms(3_000);
        let controller = net.flows[0].sender.controller();
        assert_eq!((controller.events.len(), controller.spurious), (1, u32::from(dsack)), "{dsack}");
    }
}
