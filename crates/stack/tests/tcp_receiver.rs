//! When a receiver acknowledges, and what it echoes.

mod net;

use contract::{Count, Ecn};
use net::{Fate, Fixed, Halving, Net, SEGMENT, ms, plain};
use stack::tcp::{Acks, Config, Demand};
use units::{Bytes, Duration, Time};

fn delayed() -> Config {
    Config { delayed_ack: true, ..plain() }
}

/// Instants in milliseconds and acknowledged segments.
fn answers<C>(net: &Net<C>) -> Vec<(u64, u64)> {
    net.acks.iter().map(|s| (s.at.as_nanos() / 1_000_000, s.header.ack / SEGMENT)).collect()
}

#[test]
fn every_segment_is_acknowledged_unless_acknowledgements_are_delayed() {
    let mut net = Net::one(&plain(), Fixed::window(5));
    net.run_ms(99);
    assert_eq!(answers(&net), [(50, 1), (50, 2), (50, 3), (50, 4), (50, 5)]);
}

/// RFC 5681 §4.2: every second segment, and the odd one after the delay.
#[test]
fn delayed_acknowledgements_cover_two_segments_or_follow_the_delay() {
    let mut net = Net::one(&delayed(), Fixed::window(5));
    net.run_ms(99);
    assert_eq!(answers(&net), [(50, 2), (50, 4), (90, 5)]);
}

/// RFC 5681 §4.2: at once when data is out of order and when it fills a hole.
#[test]
fn holes_are_acknowledged_at_once() {
    let mut net = Net::one(&delayed(), Fixed::window(5));
    net.on_data(|s| if s.segment == 2 { Fate::Late(Duration::from_millis(5)) } else { Fate::Pass });
    net.run_ms(99);
    assert_eq!(answers(&net), [(50, 2), (50, 2), (50, 2), (55, 5)]);
}

#[test]
fn the_last_segment_of_a_flow_is_acknowledged_at_once() {
    let mut net =
        Net::one(&Config { demand: Demand::Finite(Bytes::new(2500)), ..delayed() }, Fixed::window(5));
    net.run_ms(99);
    assert_eq!(
        net.acks.iter().map(|s| (s.at, s.header.ack)).collect::<Vec<_>>(),
        [(ms(50), 2000), (ms(50), 2500)]
    );
}

/// RFC 7323 §4.3: a delayed acknowledgement echoes the first segment that it covers, so the delay is in the sample.
#[test]
fn a_delayed_acknowledgement_shows_its_delay() {
    let mut net = Net::one(&delayed(), Fixed::window(1));
    net.run_ms(300);
    assert_eq!(net.flows[0].sent.rtt_min, Duration::from_millis(140));
}

#[test]
fn data_count_once_as_they_arrive() {
    let mut net = Net::one(&plain(), Fixed::window(5));
    net.drop_once(&[1]);
    net.run_ms(99);
    // 0, and 2 to 4 above the gap
    assert_eq!(net.flows[0].received.goodput_bytes, 4 * SEGMENT);
    net.run_ms(160);
    // 1, and the segments of the next round
    assert_eq!(net.flows[0].received.goodput_bytes, 9 * SEGMENT);
}

/// RFC 3168 §6.1.3: a mark is echoed on every acknowledgement until the sender says that it has reduced.
#[test]
fn a_mark_is_echoed_until_the_sender_has_reduced() {
    let mut net = Net::one(&Config { ecn: true, ..plain() }, Fixed::window(4));
    net.on_data(|s| if s.segment == 1 && s.nth == 0 { Fate::Mark } else { Fate::Pass });
    net.run_ms(299);
    let echoes: Vec<bool> = net.acks.iter().map(|s| s.header.flags.ece()).collect();
    // 0 unmarked; 1 marked, 2, 3; the next window's first segment left before the echo arrived, its second carries CWR
    assert_eq!(echoes, [false, true, true, true, true, false, false, false, false, false, false, false]);
    let reduced: Vec<u64> = net.data.iter().filter(|s| s.header.flags.cwr()).map(|s| s.segment).collect();
    assert_eq!(reduced, [5]);
    assert_eq!(net.flows[0].received.count(Count::Marks), 1);
    assert_eq!(net.flows[0].sent.count(Count::Marks), 4);
}

/// RFC 3168 §6.1.2: one reduction per window of data, for any number of marks.
#[test]
fn marks_of_one_window_cause_one_reduction() {
    let mut net = Net::one(&Config { ecn: true, ..plain() }, Halving::avoiding(10.0));
    net.on_data(|s| if s.segment < 10 { Fate::Mark } else { Fate::Pass });
    net.run_ms(400);
    assert_eq!(net.flows[0].sent.count(Count::Episodes), 1);
    assert_eq!(net.flows[0].sent.count(Count::Retransmits), 0);
    assert_eq!(net.flows[0].sender.controller().threshold, 5.0);
}

#[test]
fn continuous_marks_cause_one_reduction_per_round() {
    let mut net = Net::one(&Config { ecn: true, ..plain() }, Halving::avoiding(32.0));
    net.on_data(|_| Fate::Mark);
    net.run_ms(450);
    assert_eq!(net.flows[0].sent.count(Count::Episodes), 4);
}

/// RFC 3168 §6.1.5: data segments are ECT, retransmissions and acknowledgements are not.
#[test]
fn only_new_data_is_ecn_capable() {
    let mut net = Net::one(&Config { ecn: true, ..plain() }, Fixed::window(8));
    net.drop_once(&[2]);
    net.run_ms(300);
    for sent in &net.data {
        assert_eq!(sent.ecn, if sent.nth == 0 { Ecn::Capable } else { Ecn::NotCapable });
    }
    assert!(net.acks.iter().all(|s| s.ecn == Ecn::NotCapable));
    let mut without = Net::one(&plain(), Fixed::window(8));
    without.run_ms(300);
    assert!(without.data.iter().all(|s| s.ecn == Ecn::NotCapable));
}

/// A loss within the window of a mark is the same congestion.
#[test]
fn a_loss_in_the_window_of_a_mark_causes_no_second_reduction() {
    let mut net = Net::one(&Config { ecn: true, ..plain() }, Fixed::window(10));
    net.on_data(|s| match s.segment {
        0 => Fate::Mark,
        4 if s.nth == 0 => Fate::Drop,
        _ => Fate::Pass,
    });
    net.run_ms(150);
    let firsts: Vec<bool> = net.flows[0].sender.controller().events.iter().map(|event| event.first).collect();
    assert!(firsts[0] && firsts[1..].iter().all(|first| !first), "{firsts:?}");
    assert_eq!(net.flows[0].sent.count(Count::Retransmits), 1);
    assert_eq!(net.flows[0].sent.count(Count::Episodes), 1);
}

/// With delayed acknowledgements a mark is echoed at once.
#[test]
fn a_mark_is_acknowledged_at_once() {
    let mut net = Net::one(&Config { ecn: true, ..delayed() }, Fixed::window(3));
    net.on_data(|s| if s.segment == 2 { Fate::Mark } else { Fate::Pass });
    net.run_ms(99);
    assert_eq!(answers(&net), [(50, 2), (50, 3)]);
}

#[test]
fn completion_is_reported_once_when_the_last_byte_is_in_order() {
    let mut net =
        Net::one(&Config { demand: Demand::Finite(Bytes::new(4500)), ..plain() }, Fixed::window(10));
    net.drop_once(&[1]);
    net.run(Time::ZERO + Duration::from_secs(9));
    assert_eq!(net.data.iter().filter(|s| s.header.flags.fin).count(), 1);
    assert_eq!(net.flows[0].received.completed_at, ms(150));
    assert_eq!(net.flows[0].received.goodput_bytes, 4500);
    // no more data, and no timer
    assert_eq!(net.data.len(), 6);
    assert_eq!(contract::Endpoint::wake(&net.flows[0].sender), Time::NEVER);
}

/// As in Linux (tcp_event_data_recv) the first acknowledgements are not delayed: three here, then every second.
#[test]
fn the_first_acknowledgements_are_quick_where_that_is_asked_for() {
    let mut net = Net::one(&Config { quick_acks: 3, ..delayed() }, Fixed::window(7));
    net.run_ms(99);
    assert_eq!(answers(&net), [(50, 1), (50, 2), (50, 3), (50, 5), (50, 7)]);
}

/// After a pause, too: segments arrive 100 ms apart, a pause for a minimum timeout of 90 ms and none for 200 ms.
#[test]
fn acknowledgements_are_quick_again_after_a_pause() {
    let run = |min_rto| {
        let min_rto = Duration::from_millis(min_rto);
        let mut net = Net::one(&Config { quick_acks: 1, min_rto, ..delayed() }, Fixed::window(1));
        net.run_ms(199);
        answers(&net)
    };
    assert_eq!(run(90), [(50, 1), (150, 2)]);
    assert_eq!(run(200), [(50, 1), (190, 2)]);
}

/// And after data that arrived before [Linux: tcp_data_queue]: for the duplicates of 0 and 1, and the next segment.
#[test]
fn acknowledgements_are_quick_after_a_duplicate() {
    let config = Config { quick_acks: 2, ..delayed() };
    let mut net = Net::one(&config, Fixed::window(2));
    // the acknowledgements of 0 and 1 are lost, and 0 is retransmitted after the first timeout
    let mut n = 0;
    net.ack_script = Box::new(move |_| {
        n += 1;
        if n <= 2 { Fate::Drop } else { Fate::Pass }
    });
    net.run_ms(1160);
    assert_eq!(answers(&net), [(50, 1), (50, 2), (1050, 2), (1050, 2), (1150, 3)]);
}

/// As in Linux (tcp_data_ecn_check) two acknowledgements are quick after the first mark, and other marked segments are
/// delayed like all; the segment with CWR is acknowledged at once (tcp_ecn_accept_cwr).
#[test]
fn two_acknowledgements_are_quick_after_the_first_mark() {
    let mut net = Net::one(&Config { ecn: true, quick_acks: 2, ..delayed() }, Fixed::window(8));
    net.on_data(|s| if (4..8).contains(&s.segment) { Fate::Mark } else { Fate::Pass });
    net.run_ms(99);
    assert_eq!(answers(&net), [(50, 1), (50, 2), (50, 4), (50, 5), (50, 6), (50, 8)]);
}

/// As in Linux (tcp_grow_window) the window grows by two segments of 1000 bytes and 12 of options with each segment,
/// from 65 535 to half of the memory, and segments are acknowledged at once in that time: 65 535 + 2024, + 2024, and up
/// to the limit of 70 000.
#[test]
fn acknowledgements_are_quick_while_the_window_grows() {
    let receive_buffer = Bytes::new(140_000);
    let mut net = Net::one(&Config { receive_buffer, ..delayed() }, Fixed::window(7));
    net.run_ms(99);
    assert_eq!(answers(&net), [(50, 1), (50, 2), (50, 3), (50, 5), (50, 7)]);
    let windows: Vec<_> = net.acks.iter().map(|ack| ack.header.window_bytes).collect();
    assert_eq!(windows, [67_559, 69_583, 70_000, 70_000, 70_000]);
}

/// A receive window below that, and a buffer for less than the first window.
#[test]
fn the_window_is_at_most_the_receive_window_and_half_of_the_buffer() {
    for (window, buffer, expected) in [(66_000, 200_000, [66_000, 66_000]), (200_000, 8_000, [4_000, 4_000])]
    {
        let config =
            Config { receive_window: Bytes::new(window), receive_buffer: Bytes::new(buffer), ..delayed() };
        let mut net = Net::one(&config, Fixed::window(9));
        net.run_ms(99);
        let windows: Vec<_> = net.acks.iter().map(|ack| ack.header.window_bytes).take(2).collect();
        assert_eq!(windows, expected);
        // the sender may send no more than the first window
        assert_eq!(net.data.len() as u64, 9.min(buffer / 2 / SEGMENT));
    }
}

/// PSH is acknowledged at once, so that pairs stay pairs: the first acknowledgement is quick, and segments 2 and 4 end
/// batches.
#[test]
fn a_segment_with_push_is_acknowledged_at_once() {
    for (gso, expected) in
        [(true, [(50, 1), (50, 2), (50, 4), (90, 5)].as_slice()), (false, &[(50, 1), (50, 3), (50, 5)])]
    {
        let mut net = Net::one(&Config { gso, quick_acks: 1, ..delayed() }, Fixed::window(5));
        net.run_ms(99);
        assert_eq!(answers(&net), expected);
    }
}

/// The acknowledgements of segments 0 to `window`, which arrive 150 ms after the start, with SACK compression:
/// microseconds, acknowledged segments, blocks.
fn compressed(window: u64, mut script: impl FnMut(u64) -> Fate + 'static) -> Vec<(u64, u64, usize)> {
    let sack_compression = Duration::from_millis(1);
    let config = Config { sack: true, handshake: true, sack_compression, ..delayed() };
    let mut net = Net::one(&config, Fixed::window(window));
    net.on_data(move |s| if s.header.flags.syn { Fate::Pass } else { script(s.segment) });
    net.run_ms(199);
    let acks = net.acks.iter().filter(|s| !s.header.flags.syn);
    let blocks = |s: &net::Sent| s.header.sack.len();
    acks.map(|s| (s.at.as_nanos() / 1000, s.header.ack / SEGMENT, blocks(s))).collect()
}

/// As in Linux (__tcp_ack_snd_check) the first three acknowledgements above a gap leave at once. One replaces the six
/// others, after a millisecond and the slack of the timer, because 5 % of the round-trip time would be 5 ms.
#[test]
fn acknowledgements_above_a_gap_are_compressed() {
    let acks = compressed(10, |segment| if segment == 0 { Fate::Drop } else { Fate::Pass });
    assert_eq!(acks, [(150_000, 0, 1), (150_000, 0, 1), (150_000, 0, 1), (151_100, 0, 1)]);
}

/// As in Linux (tcp_sack_new_ofo_skb) a third block releases what is held back: segment 7 that for 5.
#[test]
fn a_third_block_releases_an_acknowledgement_that_is_held_back() {
    let acks =
        compressed(10, |segment| if segment % 3 == 0 && segment < 9 { Fate::Drop } else { Fate::Pass });
    let expected = [(150_000, 0, 1), (150_000, 0, 1), (150_000, 0, 2), (150_000, 0, 2), (151_100, 0, 3)];
    assert_eq!(acks, expected);
}

/// A segment that fills a gap is acknowledged at once, and that acknowledgement replaces those held back: 0 comes half
/// a millisecond late, and 3 five milliseconds.
#[test]
fn a_filled_gap_releases_what_is_held_back() {
    let acks = compressed(8, |segment| match segment {
        0 => Fate::Late(Duration::from_micros(500)),
        3 => Fate::Late(Duration::from_millis(5)),
        _ => Fate::Pass,
    });
    let expected = [(150_000, 0, 1), (150_000, 0, 1), (150_000, 0, 2), (150_500, 3, 1), (155_000, 8, 0)];
    assert_eq!(acks, expected);
}

/// What a receiver that lies acknowledges of three segments of which the second is lost.
fn lies(acks: Acks) -> Vec<u64> {
    let mut net = Net::one(&Config { acks, ..delayed() }, Fixed::window(3));
    net.on_data(|s| if s.segment == 1 { Fate::Drop } else { Fate::Pass });
    net.run_ms(99);
    net.acks.iter().map(|s| s.header.ack).collect()
}

/// Savage et al. 1999 §2.1.
#[test]
fn divided_acknowledgements_are_of_parts_of_a_segment() {
    let parts: Vec<_> = (1..=8).map(|part| part * SEGMENT / 8).collect();
    assert_eq!(lies(Acks::Divided), [parts, vec![SEGMENT]].concat());
}

/// RFC 3465 §2.1: of 40 segments, of which the last has 300 bytes, 40 are counted, each by the last of its eight
/// acknowledgements, as without division.
#[test]
fn divided_acknowledgements_count_each_segment_once() {
    let counted = |acks| {
        let demand = Demand::Finite(Bytes::new(39 * SEGMENT + 300));
        let mut net = Net::one(&Config { acks, demand, ..plain() }, Fixed::window(4));
        net.run_ms(5000);
        assert!(net.idle());
        net.flows[0].sender.controller().acks.iter().map(|ack| ack.packets).collect::<Vec<_>>()
    };
    let divided = counted(Acks::Divided);
    assert_eq!((divided.len(), divided.iter().sum::<u32>()), (39 * 8 + 3, 40));
    assert!(divided.iter().all(|packets| *packets <= 1));
    assert_eq!(counted(Acks::Honest), [1; 40]);
}

/// Savage et al. 1999 §2.2.
#[test]
fn repeated_acknowledgements_are_copies() {
    assert_eq!(lies(Acks::Repeated), [SEGMENT; 10]);
}

/// Savage et al. 1999 §2.3.
#[test]
fn optimistic_acknowledgements_are_of_what_is_lost_and_of_what_is_to_come() {
    assert_eq!(lies(Acks::Optimistic), [SEGMENT, 5 * SEGMENT, 3 * SEGMENT, 7 * SEGMENT]);
}

/// RFC 9293 §3.10.7.4: an acknowledgement of data that were never sent has no effect.
#[test]
fn what_was_lost_is_not_sent_again_to_an_optimistic_receiver() {
    let config =
        Config { acks: Acks::Optimistic, demand: Demand::Finite(Bytes::new(20 * SEGMENT)), ..delayed() };
    let mut net = Net::one(&config, Fixed::window(3));
    net.on_data(|s| if s.segment == 1 { Fate::Drop } else { Fate::Pass });
    net.run_ms(5000);
    assert!(net.flows[0].received.completed_at != Time::NEVER);
    assert_eq!(net.flows[0].received.goodput_bytes, 19 * SEGMENT);
}
