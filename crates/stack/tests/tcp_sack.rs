//! Losses with selective acknowledgements [RFC2018, RFC6675].

mod net;

use contract::{Cause, Count};
use net::{Fate, Fixed, Halving, Net, SEGMENT, ms, plain};
use stack::tcp::{Config, Demand, LossDetection};
use units::{Bytes, Duration, Time};

fn sack() -> Config {
    Config { sack: true, ..plain() }
}

fn finite(segments: u64) -> Config {
    Config { demand: Demand::Finite(Bytes::new(segments * SEGMENT)), ..sack() }
}

fn sent_again<C: contract::CongestionControl>(net: &Net<C>) -> Vec<u64> {
    net.data.iter().filter(|s| s.nth > 0).map(|s| s.segment).collect()
}

/// RFC 6675 §5: eight of twenty are lost and retransmitted as they are detected, in order, each once.
#[test]
fn losses_of_one_window_are_retransmitted_in_one_round() {
    let lost = [2, 4, 5, 8, 9, 10, 13, 16];
    let mut net = Net::one(&finite(60), Fixed::window(20));
    net.drop_once(&lost);
    net.run_ms(101);
    assert_eq!(sent_again(&net), lost);
    net.run(Time::ZERO + Duration::from_secs(3));
    assert_eq!(sent_again(&net), lost);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
    assert_eq!(net.flows[0].received.goodput_bytes, 60 * SEGMENT);
    // one episode; losses detected later belong to it
    let firsts = net.flows[0].sender.controller().events.iter().filter(|event| event.first).count();
    assert_eq!(firsts, 1);
    let lost_bytes: u64 =
        net.flows[0].sender.controller().events[1..].iter().map(|event| event.bytes.as_u64()).sum();
    assert_eq!(lost_bytes, 7 * SEGMENT);
}

/// RFC 6675 §5 step C: of 20 in flight 5 are lost and 15 arrive; with a window of 10 the pipe is full until it is below
/// that.
#[test]
fn the_pipe_stays_within_the_window_in_a_recovery() {
    let mut net = Net::one(&sack(), Halving::avoiding(20.0));
    net.drop_once(&[0, 1, 2, 3, 4]);
    net.run_ms(101);
    // 15 arrivals: two permit new data; at the third, 0 is retransmitted. Then 20 + 2 − 3 − 5 + 1 = 15 are in the pipe,
    // and at the eighth arrival it is below 10: the seven arrivals from then on permit 1 to 4 and three new segments
    assert_eq!(net.sent_between(100, 101), [20, 21, 0, 1, 2, 3, 4, 22, 23, 24]);
    assert_eq!(net.flows[0].sender.in_flight(), Bytes::new(10 * SEGMENT));
}

/// RFC 6675 §4, IsLost: the third segment above a hole shows the loss, with or without duplicate acknowledgements in
/// between.
#[test]
fn a_loss_is_detected_at_the_third_arrival_above_it() {
    let mut net = Net::one(&sack(), Fixed::window(10));
    net.drop_once(&[3]);
    // two of the duplicate acknowledgements are lost: the next one reports all
    let mut n = 0;
    net.ack_script = Box::new(move |s| {
        if s.header.ack == 3 * SEGMENT && !s.header.sack.is_empty() {
            n += 1;
            if n <= 2 {
                return Fate::Drop;
            }
        }
        Fate::Pass
    });
    net.run_ms(101);
    assert_eq!(net.sent_between(100, 101)[..4], [10, 11, 12, 3]);
    assert_eq!(net.flows[0].sender.controller().events[0].cause, Cause::Loss);
}

/// RFC 6675 §4, NextSeg rule 4: 1 and the last of ten are lost. No segment above the last can show its loss; the rescue
/// retransmission repairs it.
#[test]
fn a_rescue_retransmission_avoids_a_timeout_at_the_end_of_a_flow() {
    let mut net = Net::one(&finite(10), Halving::new(10.0));
    net.drop_once(&[1, 9]);
    net.run(Time::ZERO + Duration::from_secs(3));
    assert_eq!(sent_again(&net), [1, 9]);
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 0);
    assert_eq!(net.flows[0].received.completed_at, ms(250));
}

/// RFC 6675 §5.1, RFC 2018 §8: segments that have arrived are not retransmitted after a timeout.
#[test]
fn a_timeout_retransmits_only_missing_data() {
    let mut net = Net::one(&Config { undo: false, ..finite(12) }, Halving::new(12.0));
    // the retransmission of 2 is lost too, so that only the timer repairs it
    net.on_data(|s| match s.segment {
        2 if s.nth < 2 => Fate::Drop,
        5 | 11 if s.nth < 1 => Fate::Drop,
        _ => Fate::Pass,
    });
    net.run(Time::ZERO + Duration::from_secs(5));
    assert_eq!(net.flows[0].received.goodput_bytes, 12 * SEGMENT);
    assert!(net.flows[0].sent.count(Count::Timeouts) >= 1);
    let again = sent_again(&net);
    assert!(again.iter().all(|segment| [2, 5, 11].contains(segment)), "{again:?}");
}

/// RFC 6675 §5.1: no recovery starts before all data in flight at the timeout is acknowledged.
#[test]
fn a_timeout_is_one_episode() {
    let mut net = Net::one(&finite(40), Halving::new(20.0));
    net.on_data(|s| match s.segment {
        1..=6 if s.nth < 1 => Fate::Drop,
        1 if s.nth < 2 => Fate::Drop,
        _ => Fate::Pass,
    });
    net.run(Time::ZERO + Duration::from_secs(5));
    assert_eq!(net.flows[0].sent.count(Count::Timeouts), 1);
    // the fast retransmit, and the timeout
    assert_eq!(net.flows[0].sent.count(Count::Episodes), 2);
    assert_eq!(net.flows[0].received.goodput_bytes, 40 * SEGMENT);
}

/// Reordering by more than three segments causes one needless retransmission, which the echo shows [RFC3522].
#[test]
fn a_spurious_retransmission_is_detected() {
    let mut net = Net::one(&sack(), Fixed::window(10));
    net.on_data(|s| {
        if s.segment == 3 && s.nth == 0 { Fate::Late(Duration::from_millis(20)) } else { Fate::Pass }
    });
    net.run_ms(300);
    assert_eq!(net.flows[0].sender.controller().spurious, 1);
    assert_eq!(sent_again(&net), [3]);
    assert_eq!(net.flows[0].sender.in_flight(), Bytes::new(10 * SEGMENT));
}

/// 24 is lost beyond the end of the first recovery, which already retransmits it. When the retransmission arrives late,
/// the second recovery neither sends it a third time nor takes its acknowledgement for an acknowledgement of the first
/// transmission.
#[test]
fn retransmissions_of_the_last_recovery_are_not_taken_for_spurious() {
    let mut net = Net::one(&sack(), Fixed::window(20));
    net.on_data(|s| match s.segment {
        2 | 19 | 24 if s.nth == 0 => Fate::Drop,
        24 => Fate::Late(Duration::from_millis(2)),
        _ => Fate::Pass,
    });
    net.run_ms(600);
    assert_eq!(sent_again(&net), [2, 19, 24]);
    let controller = net.flows[0].sender.controller();
    assert_eq!(controller.events.iter().filter(|event| event.first).count(), 2);
    assert_eq!(controller.spurious, 0);
}

/// RFC 2018 §4: the first block holds the segment that has just arrived; earlier blocks follow; three at most.
#[test]
fn blocks_begin_with_the_newest_arrival() {
    let mut net = Net::one(&sack(), Fixed::window(12));
    net.drop_once(&[1, 3, 5, 7, 9]);
    net.run_ms(99);
    let blocks: Vec<Vec<(u32, u32)>> = net
        .acks
        .iter()
        .map(|s| {
            s.header.sack.0.iter().filter(|b| b.1 > 0).map(|b| (b.0 / 1000 + 1, b.1 / 1000 + 1)).collect()
        })
        .collect();
    // in segments: 0 arrives in order, then 2, 4, 6, 8, 10 and 11
    assert_eq!(blocks[0], []);
    assert_eq!(blocks[1], [(2, 3)]);
    assert_eq!(blocks[2], [(4, 5), (2, 3)]);
    assert_eq!(blocks[3], [(6, 7), (4, 5), (2, 3)]);
    assert_eq!(blocks[4], [(8, 9), (6, 7), (4, 5)]);
    assert_eq!(blocks[5], [(10, 11), (8, 9), (6, 7)]);
    assert_eq!(blocks[6], [(10, 12), (8, 9), (6, 7)]);
}

#[test]
fn without_sack_no_blocks_are_sent() {
    let mut net = Net::one(&plain(), Fixed::window(12));
    net.drop_once(&[1, 3]);
    net.run_ms(300);
    assert!(net.acks.iter().all(|s| s.header.sack.is_empty()));
}

/// Segment 0 and its first five retransmissions are lost, and all above it arrive. The send buffer takes
/// 2 · 20 · (2048 + 256) bytes, which is 40.4 segments of 1000 + 1280 bytes: new data stop there until segment 0 has
/// arrived.
/// [Linux: tcp_sndbuf_expand, sk_stream_memory_free]
#[test]
fn the_send_buffer_stops_new_data_above_a_hole() {
    let highest = |send_buffer| {
        let config = Config { send_buffer, loss_detection: LossDetection::Time, ..sack() };
        let mut net = Net::one(&config, Fixed::window(20));
        net.on_data(|s| if s.segment == 0 && s.nth < 6 { Fate::Drop } else { Fate::Pass });
        net.run_ms(540);
        assert!(net.acks.iter().all(|s| s.header.ack == 0), "segment 0 has not arrived");
        let highest = net.data.iter().map(|s| s.segment).max();
        // with nothing above that arrives, the timer retransmits
        net.run(Time::ZERO + Duration::from_secs(30));
        assert!(net.flows[0].received.goodput_bytes > 41 * SEGMENT);
        highest
    };
    assert_eq!(highest(Bytes::new(16_384)), Some(40));
    assert!(highest(Bytes::UNLIMITED) > Some(80));
}
