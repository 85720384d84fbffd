//! One test per rule of the reconstruction. Links take 10 Mbit/s and 100 packets, Data have 1000 bytes, so that a turn
//! of 10 000 bytes takes 8 ms.

use contract::{Admission, CongestionControl, FaceId, InterestQueueId, LinkAlgorithm, Name, NameId};
use units::{Bytes, Duration, Rate, Time};

use super::rounds::Rounds;
use super::{Params, Shaper, control, link};
use crate::icp;
use crate::shared::forwarders::{LinkBench, Outcome, faces};
use crate::shared::testing::{Bench, setup};

const RATE: Rate = Rate::from_mbps(10);
const UP: FaceId = FaceId(0);
const DOWN: FaceId = FaceId(1);
/// An endpoint on the node.
const HERE: FaceId = FaceId(2);
/// `/a`, `/a/x` and `/b`.
const FLOWS: [NameId; 3] = [NameId(1), NameId(2), NameId(3)];

fn name(flow: usize, segment: u64) -> Name {
    Name { prefix: FLOWS[flow], segment }
}

fn micros(after: u64) -> Time {
    Time::ZERO + Duration::from_micros(after)
}

/// [SV95]: 25 000 bytes of one flow and 4000 of another: 8 ms for 10 000 of the first, 3.2 ms for all of the second, 8
/// ms, and 4 ms for the last 5000.
#[test]
fn flows_are_served_in_turns_of_a_quantum() {
    let mut rounds = Rounds::new(10_000, 10_000);
    rounds.join(0, 25_000, micros(0), RATE);
    rounds.join(1, 4_000, micros(0), RATE);
    let mut seen = Vec::new();
    while rounds.ends() < Time::NEVER {
        let end = rounds.ends();
        rounds.advance(end, RATE);
        seen.push((end, std::mem::take(&mut rounds.ended)));
    }
    let turns = [(8_000, 0), (11_200, 1), (19_200, 0), (23_200, 0)];
    assert_eq!(seen, turns.map(|(at, flow)| (micros(at), vec![flow])));
}

/// [CCNPL]: a credit begins at 10 000, is added to once per round, and is never more than 10 000; who has no Data in
/// the queue has no counter.
#[test]
fn a_credit_is_added_once_per_round_up_to_the_burst() {
    let mut rounds = Rounds::new(4_000, 10_000);
    assert!(rounds.admits(0, 50_000), "nothing of it waits");
    rounds.join(0, 12_000, micros(0), RATE);
    rounds.charge(0, 9_000);
    assert!(rounds.admits(0, 1_000) && !rounds.admits(0, 1_001));
    // 4000 bytes take 3.2 ms
    rounds.advance(micros(3_200), RATE);
    assert!(rounds.admits(0, 5_000) && !rounds.admits(0, 5_001));
    rounds.join(0, 20_000, micros(3_200), RATE);
    rounds.advance(micros(9_600), RATE);
    assert!(rounds.admits(0, 10_000) && !rounds.admits(0, 10_001));
    rounds.advance(micros(1_000_000), RATE);
    assert!(rounds.admits(0, 50_000));
}

/// Two flows that always have Data in the queue have a credit of 10 000 bytes per 16 ms each, half of the link; beside
/// a third that has 1000 bytes per round they have 10 000 per 16.8 ms.
#[test]
fn credits_grow_at_the_fair_rate_of_the_link() {
    for (third, round_us) in [(0, 16_000), (1_000, 16_800)] {
        let mut rounds = Rounds::new(10_000, 10_000);
        rounds.join(0, 1_000_000, micros(0), RATE);
        rounds.join(1, 1_000_000, micros(0), RATE);
        let mut ends = Vec::new();
        for _ in 0..10 {
            if third > 0 {
                rounds.join(2, third, micros(0), RATE);
            }
            while !rounds.ended.contains(&1) {
                let end = rounds.ends();
                rounds.advance(end, RATE);
            }
            ends.push(rounds.ends());
            while third > 0 && !rounds.ended.contains(&2) {
                let end = rounds.ends();
                rounds.advance(end, RATE);
            }
            rounds.ended.clear();
        }
        let gaps: Vec<u64> = ends.windows(2).map(|pair| (pair[1] - pair[0]).as_nanos() / 1000).collect();
        assert_eq!(gaps, [round_us; 9]);
    }
}

fn node(params: &Params) -> (LinkBench, Shaper) {
    (LinkBench::new(faces(2, RATE, 1)), link(params, &setup(1)))
}

/// So many Data of a flow join the queue down.
fn fill(node: &mut LinkBench, controller: &mut Shaper, flow: usize, count: u64) {
    for segment in 0..count {
        node.data(controller, name(flow, 1000 + segment), UP, DOWN);
        node.link(DOWN).backlog.packets += 1;
    }
}

fn released(node: &LinkBench, since: Time) -> Vec<(u64, u64)> {
    let what = |outcome: &Outcome| match outcome {
        Outcome::Released(at, name) => ((*at - since).as_nanos() / 1000, name.segment),
        Outcome::Refused(..) => panic!("it refuses nothing"),
    };
    node.outcomes.iter().map(what).collect()
}

/// [CCNPL]: 30 Data of a flow wait, and its credit is 10: of 25 Interests 10 go at once. After a turn of 8 ms the next
/// 10 go, after 16 ms the rest.
#[test]
fn interests_beyond_the_credit_wait_for_the_next_round() {
    let (mut node, mut controller) = node(&Params::default());
    let begun = node.now;
    fill(&mut node, &mut controller, 0, 30);
    let admissions: Vec<Admission> =
        (0..25).map(|segment| node.interest(&mut controller, name(0, segment), DOWN, UP)).collect();
    assert_eq!(admissions[..10], [Admission::Pass; 10]);
    assert_eq!(admissions[10..], [Admission::Hold(InterestQueueId(0)); 15]);
    node.run(&mut controller, begun + Duration::from_millis(30));
    let expected = (10..20).map(|segment| (8_000, segment)).chain((20..25).map(|segment| (16_000, segment)));
    assert_eq!(released(&node, begun), expected.collect::<Vec<_>>());
    assert_eq!(controller.wake(), Time::NEVER);
}

/// [CCNPL]: whose Data do not wait is let through, whatever others have asked for.
#[test]
fn a_flow_without_data_in_the_queue_is_never_delayed() {
    let (mut node, mut controller) = node(&Params::default());
    fill(&mut node, &mut controller, 0, 30);
    for segment in 0..50 {
        assert_eq!(node.interest(&mut controller, name(1, segment), DOWN, UP), Admission::Pass);
    }
    // when the last of the first flow has left, after 24 ms, it is free as well
    for segment in 0..40 {
        node.interest(&mut controller, name(0, segment), DOWN, UP);
    }
    node.run(&mut controller, node.now + Duration::from_millis(24));
    assert_eq!(node.queued(), 0);
    assert_eq!(node.interest(&mut controller, name(0, 99), DOWN, UP), Admission::Pass);
}

#[test]
fn a_full_line_drops_and_endpoints_of_the_node_pass() {
    let (mut node, mut controller) = node(&Params { queue_limit: 3, ..Params::default() });
    fill(&mut node, &mut controller, 0, 30);
    let admissions: Vec<Admission> =
        (0..15).map(|segment| node.interest(&mut controller, name(0, segment), DOWN, UP)).collect();
    assert_eq!(admissions[10..13], [Admission::Hold(InterestQueueId(0)); 3]);
    assert_eq!(admissions[13..], [Admission::Drop; 2]);
    assert_eq!(node.interest(&mut controller, name(0, 99), HERE, UP), Admission::Pass);
}

/// What finds the queue full is dropped, and waits in no virtual queue.
#[test]
fn data_that_are_dropped_do_not_count() {
    let (mut node, mut controller) = node(&Params::default());
    node.link(DOWN).backlog.packets = 100;
    node.data(&mut controller, name(0, 0), UP, DOWN);
    for segment in 0..20 {
        assert_eq!(node.interest(&mut controller, name(0, segment), DOWN, UP), Admission::Pass);
    }
}

/// Data may be larger than the quantum; one of them is always a credit.
#[test]
fn a_small_quantum_lets_one_data_packet_through_at_a_time() {
    let (mut node, mut controller) = node(&Params { quantum: Bytes::new(250), ..Params::default() });
    let begun = node.now;
    fill(&mut node, &mut controller, 0, 30);
    for segment in 0..3 {
        node.interest(&mut controller, name(0, segment), DOWN, UP);
    }
    node.run(&mut controller, begun + Duration::from_millis(10));
    assert_eq!(released(&node, begun), [(800, 1), (1_600, 2)], "four turns of 0.2 ms for each");
}

/// [MA24 Table 1]: consumers are ICP's.
#[test]
fn a_consumer_is_icp() {
    let (mut bench, mut controller) = (Bench::new(), control(&Params::default(), &setup(1)));
    let mut twin = icp::control(&icp::Params::default(), &setup(1));
    for _ in 0..50 {
        bench.ack(&mut controller);
        bench.ack(&mut twin);
        assert_eq!((controller.allowance(), controller.timeout()), (twin.allowance(), twin.timeout()));
    }
    assert!(controller.window() > 5);
}
