//! FQ-CoDel against RFC 8290: rounds computed by hand with a quantum of 1514 bytes, and CoDel beside the queue of one
//! flow.

use contract::Ecn;

use super::*;
use crate::queue::codel::{self, Codel};
use crate::queue::testing::{self, Link};

fn link(change: impl FnOnce(&mut Params)) -> Link<FqCodel> {
    let mut params = Params::default();
    change(&mut params);
    Link::new(FqCodel::new(&params, testing::packets(10_240)))
}

#[test]
fn flows_send_the_same_number_of_bytes_per_round() {
    let mut link = link(|_| {});
    link.offer_many(0, 1000, 10);
    link.offer_many(1, 500, 20);
    // credits after each turn, and with the quantum that follows:
    // 1514 − 2 × 1000 = −486, 1028      1514 − 4 × 500 = −486, 1028
    assert_eq!(link.served(6), [0, 0, 1, 1, 1, 1]);
    // 1028 − 2 × 1000 = −972, 542       1028 − 3 × 500 = −472, 1042
    assert_eq!(link.served(5), [0, 0, 1, 1, 1]);
    //  542 − 1000 = −458, 1056          1042 − 3 × 500 = −458, 1056
    assert_eq!(link.served(4), [0, 1, 1, 1]);
    assert_eq!(link.served(5), [0, 0, 1, 1, 1]);
}

#[test]
fn a_new_flow_precedes_old_ones_for_one_quantum() {
    let mut link = link(|_| {});
    link.offer_many(0, 1000, 20);
    // 1514 − 2000 = −486: it becomes an old flow before its third packet
    assert_eq!(link.served(3), [0, 0, 0]);
    link.offer_many(1, 1000, 5);
    // flow 0 has 28 bytes of credit left, and waits. Flow 1: −486, 1028, old. Flow 0: 28 − 1000 = −972, 542; flow 1:
    // 1028 − 2000
    assert_eq!(link.served(5), [1, 1, 0, 1, 1]);
    assert_eq!(link.served(2), [0, 1]);
}

#[test]
fn a_flow_that_pauses_is_new_again_only_after_a_turn_among_the_old_ones() {
    let mut link = link(|_| {});
    link.offer_many(0, 1000, 20);
    assert_eq!(link.served(3), [0, 0, 0]);
    link.offer_many(1, 100, 1);
    // its queue is empty at its second turn, so that it goes behind flow 0: 28 − 1000 = −972, 542
    assert_eq!(link.served(2), [1, 0]);
    link.offer_many(1, 100, 1);
    assert_eq!(link.served(2), [1, 0], "it is not new, but the turn of flow 0 was over");
    // flow 0: 542 − 1000 = −458, 1056; flow 1 is behind it
    assert_eq!(link.served(2), [0, 0], "flow 1 had nothing at its turn and left");
    link.offer_many(1, 100, 1);
    assert_eq!(link.served(2), [1, 0], "it is new again");
}

#[test]
fn a_full_queue_loses_half_of_the_longest_flow() {
    for (drop_batch, lost) in [(64, 3), (2, 2), (1, 1)] {
        let mut link = link(|params| params.drop_batch = drop_batch);
        link.queue.set_limit(testing::packets(10));
        link.offer_many(0, 1000, 6);
        link.offer_many(1, 1200, 4);
        // both have 6000 bytes then: the first of them loses its oldest packets, three for half of its bytes
        assert_eq!(link.offer(1, 1200), Verdict::Pass);
        assert_eq!(link.dropped, vec![(0, 1000, DropReason::QueueFull); lost]);
        assert_eq!(link.queue.backlog().packets, 11 - lost as u32);
        assert_eq!(link.queue.flows.get_mut(0).state.count(), lost as u32, "they count as CoDel's");
    }
}

#[test]
fn a_limit_in_bytes_is_restored_by_as_many_batches_as_it_takes() {
    let mut link = link(|params| params.drop_batch = 1);
    link.queue.set_limit(testing::bytes(3000));
    link.offer_many(0, 100, 30);
    assert_eq!(link.offer(1, 1000), Verdict::Pass);
    assert_eq!(link.dropped, vec![(0, 100, DropReason::QueueFull); 10]);
    assert_eq!(link.queue.backlog(), Backlog { packets: 21, bytes: Bytes::new(3000) });
    assert_eq!(link.offer(1, 3001), Verdict::Drop(DropReason::QueueFull), "it would never fit");
}

#[test]
fn one_queue_is_codel() {
    let mut fair = link(|params| params.flows = 1);
    let mut plain = Link::new(Codel::new(&codel::Params::default(), testing::packets(10_240)));
    for ecn in [Ecn::NotCapable, Ecn::Capable] {
        (fair.ecn, plain.ecn) = (ecn, ecn);
        let from = (fair.now - units::Time::ZERO).as_nanos() / 1_000_000;
        for ms in from..from + 600 {
            fair.at_ms(ms);
            plain.at_ms(ms);
            while plain.queue.backlog().packets < 20 {
                // packets of many flows in one bucket
                fair.offer(ms as u32 % 7, 1000);
                plain.offer(ms as u32 % 7, 1000);
            }
            assert_eq!(fair.serve().map(|packet| packet.flow), plain.serve().map(|packet| packet.flow));
            assert_eq!(fair.queue.backlog(), plain.queue.backlog());
        }
        assert_eq!(fair.dropped, plain.dropped);
        assert_eq!(fair.marked, plain.marked);
    }
    assert!(fair.dropped.len() > 6 && fair.marked > 6);
}

#[test]
fn codel_acts_on_each_flow_alone() {
    let mut link = link(|_| {});
    // a packet leaves each millisecond; flow 0 keeps 20 waiting, flow 1 sends a packet each 10 ms
    for ms in 0..400 {
        link.at_ms(ms);
        while link.queue.backlog().packets < 20 {
            link.offer(0, 1000);
        }
        if ms % 10 == 0 {
            link.offer(1, 200);
        }
        link.serve();
    }
    assert!(
        link.dropped.len() > 3
            && link.dropped.iter().all(|&(flow, _, why)| (flow, why) == (0, DropReason::Early))
    );
}

#[test]
fn one_packet_is_counted_over_the_whole_link() {
    // each flow has one packet behind the one that leaves: 1000 bytes of its own, which RFC 8289 spares, and 2000 or
    // more on the link
    let mut link = link(|_| {});
    for ms in 0..150 {
        link.at_ms(ms * 10);
        link.offer(0, 1000);
        link.offer(1, 1000);
        if ms == 0 {
            link.offer_many(0, 1000, 1);
            link.offer_many(1, 1000, 1);
        }
        link.at_ms(ms * 10 + 9);
        link.serve();
        link.serve();
    }
    assert!(link.dropped.iter().any(|&(_, _, why)| why == DropReason::Early));
}

#[test]
fn hashes_spread_and_depend_on_the_seed() {
    let mut held = vec![0u32; 1024];
    for flow in 0..10_240 {
        held[bucket(flow, 7, 1024)] += 1;
    }
    // ten per bucket on average; for a Poisson number with this mean, 30 or more has a probability of 10⁻⁷
    assert!(held.iter().all(|&flows| flows < 30), "{:?}", held.iter().max());
    // 1024 e^(−10) = 0.05 buckets are expected to be empty
    assert!(held.iter().filter(|&&flows| flows == 0).count() < 4);
    let same = (0..1000).filter(|&flow| bucket(flow, 7, 1024) == bucket(flow, 8, 1024)).count();
    assert!(same < 10, "{same}");
    // an SDN controller's messages have the last number
    assert!(bucket(u32::MAX, 7, 1024) < 1024 && bucket(3, 7, 1) == 0);
}

#[test]
fn a_failed_link_forgets_rounds_and_states() {
    let mut link = link(|_| {});
    link.offer_many(0, 1000, 4);
    link.offer_many(1, 1000, 4);
    assert_eq!(link.served(3), [0, 0, 1]);
    assert_eq!(link.queue.drain().len(), 5);
    link.offer_many(1, 1000, 3);
    link.offer_many(0, 1000, 3);
    assert_eq!(link.served(4), [1, 1, 0, 0], "new flows with a whole quantum");
}

#[test]
fn after_an_overflow_linux_drops_late_packets_without_a_pause() {
    for (like, early) in [(Like::Rfc, 1), (Like::Linux, 16)] {
        let params = Params { like, ..Params::default() };
        let mut link = Link::new(FqCodel::new(&params, testing::packets(40)));
        // the 41st packet is too much: 21 of 41 go, and the count of CoDel is 21
        link.offer_many(0, 1000, 41);
        assert_eq!(link.dropped.len(), 21);
        // 20 are left; one leaves at 10 ms, when the delay is too long for the first time, and the interval is over at
        // 110 ms
        for ms in [10, 111, 112] {
            link.at_ms(ms);
            assert!(link.serve().is_some());
        }
        // RFC 8289: the first at 111 ms, the next 100 / √21 = 21.8 ms later. Linux: 1/√21 by Newton's method from 0 is
        // 0, so that all but the last two of 17 are dropped at 112 ms
        let late = link.dropped.iter().filter(|(_, _, why)| *why == DropReason::Early);
        assert_eq!(late.count(), early, "{like:?}");
    }
}
