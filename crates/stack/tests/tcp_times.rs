//! Loss detection by time, and tail loss probes [RFC8985].

mod net;

use contract::{Cause, Count, Input, Request};
use net::{Fate, Fixed, Halving, Net, SEGMENT, ms, plain};
use stack::tcp::{Config, Demand, LossDetection, RtoFloor};
use units::{Bytes, Duration, Time};

/// With a timeout that is longer than the probe timeout.
fn timed(tail_probe: bool) -> Config {
    let min_rto = Duration::from_secs(1);
    Config { sack: true, loss_detection: LossDetection::Time, tail_probe, min_rto, ..plain() }
}

fn finite(segments: u64, config: Config) -> Config {
    Config { demand: Demand::Finite(Bytes::new(segments * SEGMENT)), ..config }
}

fn again(net: &Net<impl contract::CongestionControl>) -> Vec<(u64, Time)> {
    net.data.iter().filter(|s| s.nth > 0).map(|s| (s.segment, s.at)).collect()
}

/// RFC 8985 §6.2: 1 of five is lost, so that only three arrive above it: the third shows the loss, as with counting.
#[test]
fn three_arrivals_above_a_loss_detect_it_at_once() {
    let mut net = Net::one(&finite(5, timed(false)), Halving::new(10.0));
    net.drop_once(&[1]);
    net.run(Time::ZERO + Duration::from_secs(2));
    assert_eq!(again(&net), [(1, ms(100))]);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
}

/// RFC 8985 §3: one arrival above it is enough after a quarter of the minimum round-trip time, 25 ms here; counting
/// needs the timeout.
#[test]
fn one_arrival_above_a_loss_detects_it_after_a_quarter_of_a_round_trip() {
    let mut net = Net::one(&finite(3, timed(false)), Halving::new(10.0));
    net.drop_once(&[1]);
    net.run(Time::ZERO + Duration::from_secs(2));
    assert_eq!(again(&net), [(1, ms(125))]);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
    assert_eq!(net.flows[0].sender.controller().window, 2.0, "the controller is told");

    let counting = Config { loss_detection: LossDetection::Count, ..finite(3, timed(false)) };
    let mut net = Net::one(&counting, Halving::new(10.0));
    net.drop_once(&[1]);
    net.run(Time::ZERO + Duration::from_secs(2));
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 1);
}

/// A segment that is late by less than a quarter of the round-trip time is not retransmitted.
#[test]
fn slightly_reordered_data_is_not_declared_lost() {
    let mut net = Net::one(&finite(3, timed(false)), Halving::new(10.0));
    net.on_data(|s| if s.segment == 1 { Fate::Late(Duration::from_millis(20)) } else { Fate::Pass });
    net.run(Time::ZERO + Duration::from_secs(2));
    assert_eq!(again(&net), []);
    assert_eq!(net.flows[0].received.goodput_bytes, 3 * SEGMENT);
}

/// RFC 8985 §6.2, step 4: after reordering has been detected three arrivals do not show a loss any more.
#[test]
fn after_reordering_the_reordering_window_stays() {
    let mut net = Net::one(&finite(40, timed(false)), Fixed::window(10));
    net.on_data(|s| if s.segment % 10 == 2 { Fate::Late(Duration::from_millis(15)) } else { Fate::Pass });
    net.run(Time::ZERO + Duration::from_secs(3));
    // the first time seven arrive above it before it is known that the path reorders
    assert_eq!(again(&net), [(2, ms(100))]);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
}

/// With delayed acknowledgements the first arrival above a gap also acknowledges the segment below it, which arrived
/// before: no reordering. The next loss is therefore detected at the third arrival as well, a round-trip time after its
/// transmission.
#[test]
fn an_acknowledgement_of_the_segment_below_a_gap_is_no_reordering() {
    let mut net = Net::one(&Config { delayed_ack: true, ..finite(60, timed(false)) }, Fixed::window(10));
    net.drop_once(&[3, 33]);
    net.run(Time::ZERO + Duration::from_secs(3));
    let sent_at = |segment| net.data.iter().find(|s| s.segment == segment).expect("it was sent").at;
    let expected = [3, 33].map(|segment| (segment, sent_at(segment) + Duration::from_millis(100)));
    assert_eq!(again(&net), expected);
}

/// RFC 8985 §3: the loss of a retransmission is detected when a later segment arrives, a round trip later. Counting
/// needs the timeout.
#[test]
fn a_lost_retransmission_is_repeated_without_a_timeout() {
    let run = |loss_detection| {
        let mut net =
            Net::one(&Config { loss_detection, ..finite(60, timed(false)) }, Halving::avoiding(20.0));
        net.on_data(|s| match s.segment {
            3 if s.nth < 2 => Fate::Drop,
            5 if s.nth < 1 => Fate::Drop,
            _ => Fate::Pass,
        });
        net.run(Time::ZERO + Duration::from_secs(5));
        assert_eq!(net.flows[0].received.goodput_bytes, 60 * SEGMENT);
        net
    };
    let net = run(LossDetection::Time);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
    assert_eq!(again(&net), [(3, ms(100)), (5, ms(100)), (3, ms(200))]);
    assert_eq!(net.flows[0].sent.count(Count::Episodes), 1, "it belongs to the episode");
    assert_eq!(run(LossDetection::Count).flows[0].sent.count(Count::Timeouts), 1);
}

/// RFC 8985 §7.2, §7.3: the last of ten are lost, which no acknowledgement shows. Two smoothed round-trip times after
/// the last acknowledgement the last segment is retransmitted; its arrival shows the other losses.
#[test]
fn a_tail_loss_probe_detects_a_lost_tail() {
    let mut net = Net::one(&finite(10, timed(true)), Halving::new(10.0));
    net.drop_once(&[7, 8, 9]);
    net.run(Time::ZERO + Duration::from_secs(3));
    assert_eq!(again(&net)[0], (9, ms(300)), "2 · 100 ms after the news at 100 ms");
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
    assert_eq!(net.flows[0].received.goodput_bytes, 10 * SEGMENT);
    let sent: Vec<_> = again(&net).iter().map(|sent| sent.0).collect();
    assert_eq!(sent, [9, 7, 8]);
    assert_eq!(net.flows[0].sender.controller().window, 2.0, "the controller is told");
}

/// RFC 8985 §7.4.2: if the probe repairs the only loss, the controller is informed of it when data sent after the probe
/// are acknowledged; until then another copy may arrive.
#[test]
fn a_probe_that_repairs_a_loss_is_a_congestion_event() {
    let mut net = Net::one(&finite(10, timed(true)), Fixed::window(10));
    net.drop_once(&[9]);
    net.run(Time::ZERO + Duration::from_secs(3));
    // one segment is in flight, whose acknowledgement may be delayed: 200 ms more
    assert_eq!(again(&net), [(9, ms(500))]);
    assert!(net.flows[0].sender.controller().events.is_empty());
    net.input(0, true, Input::App(Request::Send(Bytes::new(SEGMENT))));
    net.run(Time::ZERO + Duration::from_secs(6));
    let events = &net.flows[0].sender.controller().events;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].cause, Cause::Loss);
}

/// RFC 8985 §7.4.2: a probe for a segment that was only late repairs none. Its second copy is acknowledged again, with
/// D-SACK or without.
#[test]
fn a_probe_of_late_data_is_no_congestion_event() {
    for dsack in [false, true] {
        let mut net = Net::one(&finite(10, Config { dsack, ..timed(true) }), Fixed::window(10));
        net.on_data(|s| {
            if s.segment == 9 && s.nth == 0 { Fate::Late(Duration::from_millis(450)) } else { Fate::Pass }
        });
        net.run(Time::ZERO + Duration::from_secs(3));
        net.input(0, true, Input::App(Request::Send(Bytes::new(SEGMENT))));
        net.run(Time::ZERO + Duration::from_secs(6));
        assert_eq!(again(&net).len(), 1);
        assert!(net.flows[0].sender.controller().events.is_empty(), "D-SACK: {dsack}");
    }
}

/// If there is more data to send, the probe is new data.
#[test]
fn new_data_serves_as_a_probe() {
    let mut net = Net::one(&timed(true), Fixed::window(4));
    // all acknowledgements but the first are lost for a while
    let mut n = 0;
    net.ack_script = Box::new(move |_| {
        n += 1;
        if (2..=5).contains(&n) { Fate::Drop } else { Fate::Pass }
    });
    net.run_ms(350);
    assert_eq!(net.sent_between(150, 350), [5]);
    assert_eq!(net.sent_between(300, 301), [5]);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
}

/// RFC 8985 §7.2: once a loss is known the timer is for a timeout again.
#[test]
fn an_expired_probe_timer_is_no_timeout() {
    let mut net = Net::one(&timed(true), Halving::avoiding(20.0));
    net.ack_script = {
        let mut last = Time::ZERO;
        // acknowledgements arrive 10 ms apart, so that a round takes longer than the timer of a probe
        Box::new(move |s| {
            last = (last + Duration::from_millis(10)).max(s.at);
            Fate::Late(last - s.at)
        })
    };
    net.drop_once(&[2, 60, 61, 90]);
    net.run(Time::ZERO + Duration::from_secs(20));
    let sent: Vec<_> = again(&net).iter().map(|sent| sent.0).collect();
    assert_eq!(sent, [2, 60, 61, 90]);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
}

/// RFC 8985 §7.2, TLP_calc_PTO: if the timeout would come before two round-trip times and the maximum delay of an
/// acknowledgement, the probe replaces it: 300 ms after the acknowledgement at 100 ms, and no timeout.
#[test]
fn a_probe_replaces_an_earlier_timeout() {
    let config = Config {
        min_rto: Duration::from_millis(200),
        rto_floor: RtoFloor::Variation,
        ..finite(10, timed(true))
    };
    let mut net = Net::one(&config, Fixed::window(10));
    net.drop_once(&[9]);
    net.run(Time::ZERO + Duration::from_secs(3));
    assert_eq!(again(&net), [(9, ms(400))]);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
}

/// RFC 8985 §7.2: a probe is due after new data has left, not only after acknowledgements: the whole first flight is
/// lost, and two round-trip times after it left the last segment is retransmitted. Its arrival shows the other losses.
#[test]
fn a_lost_first_flight_is_probed_for() {
    let config = Config { handshake: true, ..finite(3, timed(true)) };
    let mut net = Net::one(&config, Fixed::window(10));
    net.on_data(|s| if s.at == ms(100) { Fate::Drop } else { Fate::Pass });
    net.run(Time::ZERO + Duration::from_secs(3));
    assert_eq!(again(&net), [(2, ms(300)), (0, ms(400)), (1, ms(400))]);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
}

/// The timer belongs to the oldest segment, and restarts at each retransmission of it
/// [Linux: tcp_xmit_retransmit_queue]: three retransmissions of 3 are lost, a round trip apart, with a timeout of 250
/// ms.
#[test]
fn the_timer_restarts_with_each_retransmission_of_the_oldest_segment() {
    let config = Config {
        min_rto: Duration::from_millis(150),
        rto_floor: RtoFloor::Variation,
        ..finite(200, timed(true))
    };
    let mut net = Net::one(&config, Halving::avoiding(20.0));
    net.on_data(|s| if s.segment == 3 && s.nth < 4 { Fate::Drop } else { Fate::Pass });
    net.run(Time::ZERO + Duration::from_secs(5));
    assert_eq!(again(&net), [(3, ms(100)), (3, ms(200)), (3, ms(300)), (3, ms(400))]);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
}

/// RFC 8985 §6.2, step 2: the round-trip time is measured on the data that the acknowledgement acknowledges, even if
/// data sent later arrived before. 3 arrives in time, 1 is 20 ms late, 2 is 40 ms late. The arrival of 3 lets both be
/// lost at 125 ms; the arrival of 1 at 120 ms shows that the path takes longer, so 2 has until 145 ms.
#[test]
fn late_arrivals_lengthen_the_wait_for_others() {
    let mut net = Net::one(&finite(4, timed(false)), Fixed::window(4));
    net.on_data(|s| match s.segment {
        1 => Fate::Late(Duration::from_millis(20)),
        2 => Fate::Late(Duration::from_millis(40)),
        _ => Fate::Pass,
    });
    net.run(Time::ZERO + Duration::from_secs(2));
    assert_eq!(again(&net), []);
}

/// RFC 8985 §6.2, step 5: the timer is for the last that may be lost, so that one check finds all. A segment leaves
/// each 8 ms, and 1 and 2 are lost: they are due at 133 ms and 141 ms, and both are declared lost at the latter.
#[test]
fn one_check_finds_all_losses() {
    let mut controller = Fixed::window(4);
    controller.allowance.rate = units::Rate::from_bps(8 * (SEGMENT + 40) * 125);
    let mut net = Net::one(&finite(4, timed(false)), controller);
    net.drop_once(&[1, 2]);
    net.run(Time::ZERO + Duration::from_secs(2));
    assert_eq!(again(&net), [(1, ms(141)), (2, ms(149))]);
}
