//! CAKE's flow isolation against sch_cake of Linux 6.1: target 5 ms, interval 100 ms, with times computed by hand.

use super::*;
use crate::queue::testing::{self, Link};

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn settings() -> Settings {
    Settings { target: Duration::from_millis(5), interval: Duration::from_millis(100), mark: true }
}

fn link(limit: QueueLimit) -> Link<Cake> {
    Link::new(Cake::new(&Params::default(), limit))
}

/// Sends a packet each millisecond from a queue that is kept at 20 packets of a flow. Returns the times of drops in ms.
fn crowd(link: &mut Link<Cake>, from: u64, end: u64) -> Vec<u64> {
    let mut times = Vec::new();
    for ms in from..end {
        link.at_ms(ms);
        while link.queue.backlog().packets < 20 {
            link.offer(0, 1000);
        }
        assert!(link.serve().is_some());
        times.extend(link.dropped.drain(..).map(|(_, _, why)| {
            assert_eq!(why, DropReason::Early);
            ms
        }));
    }
    times
}

#[test]
fn drops_begin_after_an_interval_above_the_target_and_come_ever_faster() {
    let mut link = link(testing::packets(1000));
    // the packet that leaves at 6 ms waited 6 ms, the first above the target: the count is 1, and a drop is due at 106
    // ms. From there 100/√2, 100/√3, … ms after each other: 176.7, 234.4, 284.4, 329.2, 370.0 ms, each at the departure
    // that follows
    assert_eq!(crowd(&mut link, 0, 400), [106, 177, 235, 285, 330, 370]);
    let state = &link.queue.flows.get_mut(0).state;
    assert_eq!(state.count, 7);
}

#[test]
fn the_count_decays_while_the_delay_is_short() {
    let mut state = State { count: 4, next: at(100), dropping: true, ..State::default() };
    let (settings, mut random) = (settings(), Random::new(1, "", ""));
    let mut packet = |ms: u64| {
        let mut ecn = Ecn::NotCapable;
        assert!(!state.drops(&settings, at(ms), at(ms), &mut ecn, &mut random));
        state.count
    };
    assert_eq!(packet(99), 4);
    // at 100 ms to 3; 57.7 ms later to 2, 70.7 ms later to 1, at 228.4 ms
    assert_eq!(packet(100), 3);
    assert_eq!(packet(157), 3);
    assert_eq!(packet(158), 2);
    assert_eq!(packet(229), 1);
    assert_eq!(packet(328), 1);
    assert_eq!(packet(329), 0);
    // without a count, the queue is in use for an interval after each packet
    assert!(!state.is_at_rest(at(428)) && state.is_at_rest(at(429)));
}

#[test]
fn an_empty_queue_decays_as_if_it_had_been_served_all_the_time() {
    let settings = settings();
    let begin = State { count: 4, next: at(100), dropping: false, probability: 3 * DOWN, changed: at(90) };
    let (mut once, mut often) = (begin.clone(), begin);
    for ms in 90..=400 {
        often.reset_after_idle(&settings, at(ms));
        let mut late = once.clone();
        late.reset_after_idle(&settings, at(ms));
        assert_eq!((late.count, late.next, late.probability), (often.count, often.next, often.probability));
        // three steps of 5 ms
        assert_eq!(late.probability > 0, ms < 105);
    }
    once.reset_after_idle(&settings, at(100_000));
    assert!(once.is_at_rest(at(100_000)));
}

#[test]
fn blue_drops_from_a_flow_that_fills_the_queue() {
    let settings = settings();
    let mut state = State::default();
    for (ms, steps) in [(5, 0), (6, 1), (11, 1), (12, 2)] {
        state.note_full(&settings, at(ms));
        assert_eq!(state.probability, steps * UP, "at {ms} ms");
    }
    assert_eq!((state.count, state.next, state.dropping), (1, at(12), true));
    state.note_empty(&settings, at(17));
    assert_eq!(state.probability, 2 * UP);
    state.note_empty(&settings, at(18));
    assert_eq!(state.probability, 2 * UP - DOWN);
    // of packets without delay, a share of 1/4 is dropped, marked or not
    let mut state = State { probability: 64 * UP, ..State::default() };
    let mut random = Random::new(1, "", "");
    let mut drops = 0;
    for _ in 0..40_000 {
        let mut ecn = Ecn::Capable;
        drops += u32::from(state.drops(&settings, at(1), at(1), &mut ecn, &mut random));
        assert_eq!(ecn, Ecn::Capable);
    }
    assert!(drops.abs_diff(10_000) < 300, "{drops}");
}

#[test]
fn a_full_queue_loses_the_oldest_packets_of_the_longest_flow() {
    let mut link = link(testing::bytes(6000));
    link.at_ms(1000);
    link.offer_many(0, 1000, 4);
    link.offer_many(1, 500, 3);
    // 5500 + 1400 bytes: one packet of 1000 is enough
    link.offer_many(2, 1400, 1);
    assert_eq!(link.dropped, [(0, 1000, DropReason::QueueFull)]);
    assert_eq!(link.queue.flows.get_mut(0).state.probability, UP);
    assert_eq!(link.offer(3, 6001), Verdict::Drop(DropReason::QueueFull));
}

#[test]
fn ecn_capable_packets_are_marked_at_the_same_times() {
    for ecn in [Ecn::Capable, Ecn::CapableL4s] {
        let mut link = link(testing::packets(1000));
        link.ecn = ecn;
        assert!(crowd(&mut link, 0, 400).is_empty());
        assert_eq!(link.marked, 6);
    }
}

#[test]
fn flows_of_a_set_have_queues_of_their_own_until_all_eight_are_in_use() {
    let mut link = link(testing::packets(1000));
    let now = at(0);
    // hashes that select the same queue, 16, of the set from 16 to 23
    let flows: Vec<u32> = (0..9).map(|number| 16 + 1024 * (number + 1)).collect();
    let mut buckets = Vec::new();
    for &hash in &flows {
        let bucket = link.queue.bucket(hash, now);
        let number = link.queue.flows.of_bucket(bucket, 1514, State::default);
        link.queue.flows.get_mut(number).listed = true;
        buckets.push(bucket);
    }
    assert_eq!(buckets, [16, 17, 18, 19, 20, 21, 22, 23, 16], "the ninth collides");
    assert_eq!(link.queue.bucket(flows[3], now), 19, "its queue is reserved");
    // a queue that is empty and at rest is given to another flow
    let number = link.queue.flows.find(20).expect("in use");
    link.queue.flows.get_mut(number).listed = false;
    assert_eq!(link.queue.bucket(16 + 1024 * 99, now), 20);
    link.queue.flows.get_mut(number).listed = true;
    // one that is empty and remembers drops is not
    let number = link.queue.flows.find(21).expect("in use");
    link.queue.flows.get_mut(number).listed = false;
    link.queue.flows.get_mut(number).state.count = 3;
    link.queue.flows.get_mut(number).state.next = at(10);
    assert_eq!(link.queue.bucket(16 + 1024 * 100, now), 16);
    assert_eq!(link.queue.bucket(16 + 1024 * 101, at(1000)), 21, "until they are forgotten");
}

#[test]
fn flows_send_the_same_number_of_bytes_per_round() {
    let mut link = link(testing::packets(1000));
    link.offer_many(0, 1000, 10);
    link.offer_many(1, 500, 20);
    // as in FQ-CoDel
    assert_eq!(link.served(11), [0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1]);
}
