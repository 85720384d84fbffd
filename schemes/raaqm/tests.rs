//! One test per claim about RAAQM.

use std::collections::BTreeSet;

use contract::{
    Cause, Congestion, CongestionControl, FaceId, FibEntry, Label, NackReason, Name, NameId, SendResult,
};
use units::{Bytes, Duration, Rate, Time};

use super::control::probability;
use super::link::extend;
use super::{Balance, Decrease, Params, Raaqm, control, link, strategy};
use crate::shared::Recent;
use crate::shared::forwarders::{Action, LinkBench, StrategyBench, faces};
use crate::shared::testing::{Bench, SEGMENT, setup};

const CONSUMER: FaceId = FaceId(2);

fn raaqm(params: Params, initial: u64) -> (Bench, Raaqm) {
    (Bench::new(), control(&params, &setup(initial)))
}

/// Data of a path.
fn receive(bench: &mut Bench, controller: &mut Raaqm, path: u64, rtt_ms: u64) {
    bench.now += Duration::from_millis(1);
    bench.rtt = Duration::from_millis(rtt_ms);
    let mut ack = bench.an_ack(controller);
    ack.label = Label([path, 0, 0, 0]);
    bench.deliver_ack(controller, &ack);
}

fn recent(rtts_ms: &[u64]) -> Recent {
    let mut recent = Recent::new(rtts_ms.len() as u32);
    rtts_ms.iter().for_each(|rtt| recent.push(Duration::from_millis(*rtt)));
    recent
}

/// [HICN]: between 100 and 150 ms: 10⁻⁵ at 100, 10⁻⁵ + 0.2·30/50 = 0.12001 at 130, 0.20001 at 150.
#[test]
fn the_probability_rises_with_the_round_trip_time() {
    let (params, known) = (Params::default(), recent(&[100, 150, 120]));
    for (rtt, expected) in [(100, 0.00001), (130, 0.12001), (150, 0.20001)] {
        let p = probability(Duration::from_millis(rtt), &known, &params);
        assert!((p - expected).abs() < 1e-12, "{p} at {rtt}");
    }
}

/// [HICN, CCNPL]: without a range the probability is the minimum; without enough samples there is none.
#[test]
fn a_path_without_a_range_or_a_past_cuts_next_to_nothing() {
    let params = Params::default();
    assert_eq!(probability(Duration::from_millis(100), &recent(&[100, 100]), &params), 0.00001);
    let mut young = Recent::new(2);
    young.push(Duration::from_millis(100));
    assert_eq!(probability(Duration::from_millis(100), &young, &params), 0.0);
}

/// [HICN]: from 10: 10.1, 10.1 + 1/10.1; at most 512.
#[test]
fn a_window_of_data_adds_a_segment() {
    let (mut bench, mut controller) = raaqm(Params::default(), 10);
    receive(&mut bench, &mut controller, 1, 100);
    receive(&mut bench, &mut controller, 1, 100);
    assert!((controller.window().0 - (10.1 + 1.0 / 10.1)).abs() < 1e-12);
    let (mut bench, mut controller) = raaqm(Params { eta: 1000.0, ..Params::default() }, 1);
    (0..3).for_each(|_| receive(&mut bench, &mut controller, 1, 100));
    assert_eq!(controller.allowance().window, SEGMENT * 512);
}

/// [HICN]: with a certain cut at the maximum round-trip time the window keeps four fifths: (10 + 1/10)·0.8 = 8.08.
#[test]
fn a_cut_keeps_four_fifths() {
    let params = Params { samples: 2, delta_p: 1.0, p_min: 0.0, ..Params::default() };
    let (mut bench, mut controller) = raaqm(params, 10);
    receive(&mut bench, &mut controller, 1, 100);
    let before = controller.window().0;
    receive(&mut bench, &mut controller, 1, 200);
    assert!((controller.window().0 - (before + 1.0 / before) * 0.8).abs() < 1e-12);
    // a window that would not stay above 1 is left alone
    let params = Params { samples: 2, delta_p: 1.0, p_min: 0.0, eta: 0.001, ..Params::default() };
    let (mut bench, mut controller) = raaqm(params, 1);
    receive(&mut bench, &mut controller, 1, 100);
    receive(&mut bench, &mut controller, 1, 200);
    assert!((1.0..1.01).contains(&controller.window().0));
}

/// [CGMPW13]: a path is judged by its own round-trip times: 300 ms is the minimum of one and would be the maximum of
/// another.
#[test]
fn paths_are_told_apart_by_their_labels() {
    let params = Params { samples: 2, delta_p: 1.0, p_min: 0.0, ..Params::default() };
    let (mut bench, mut controller) = raaqm(params.clone(), 10);
    for (path, rtt) in [(1, 110), (2, 400), (1, 100), (2, 300)] {
        receive(&mut bench, &mut controller, path, rtt);
    }
    assert!(controller.window().0 > 10.0);
    assert_eq!(controller.paths(), 2);
    // as one path, 400 after 110 cuts
    let (mut bench, mut controller) = raaqm(params, 10);
    for rtt in [110, 400] {
        receive(&mut bench, &mut controller, 1, rtt);
    }
    assert!(controller.window().0 < 10.0);
}

#[test]
fn the_path_that_was_silent_longest_is_forgotten() {
    let (mut bench, mut controller) = raaqm(Params { paths: 2, samples: 1, ..Params::default() }, 1);
    for path in [5, 9, 5, 3, 7] {
        receive(&mut bench, &mut controller, path, 100);
    }
    assert_eq!(controller.paths(), 2);
}

/// [HICN]: each; [CCNPL]: none.
#[test]
fn losses_cut_each_or_once_or_not_at_all() {
    for (losses, kept) in [(Decrease::Each, 64.0), (Decrease::Episode, 80.0), (Decrease::None, 100.0)] {
        let (mut bench, mut controller) = raaqm(Params { losses, ..Params::default() }, 100);
        bench.congestion(&mut controller, Cause::Mark);
        bench.congestion(&mut controller, Cause::Loss);
        let more = Congestion { cause: Cause::Refused, bytes: SEGMENT, in_flight: Bytes::ZERO, first: false };
        controller.on_congestion(&more, &mut bench.cx());
        assert!((controller.window().0 - kept).abs() < 1e-9, "{losses:?}: {:?}", controller.window());
    }
}

/// 4 hops of 8 faces each: 8 + 64 + 512 + 4096 paths.
#[test]
fn every_path_has_a_number_of_its_own() {
    let mut numbers = BTreeSet::new();
    let mut paths = vec![0];
    for _ in 0..4 {
        paths = paths.iter().flat_map(|path| (0..8).map(|face| extend(*path, FaceId(face)))).collect();
        numbers.extend(paths.iter().copied());
    }
    assert_eq!(numbers.len(), 8 + 64 + 512 + 4096);
    assert!(!numbers.contains(&0));
}

#[test]
fn data_carry_the_number_of_their_path() {
    let mut node = LinkBench::new(faces(2, Rate::from_mbps(10), 1));
    let mut controller = link(&Params::default(), &setup(1));
    let name = Name { prefix: NameId(1), segment: 0 };
    let from = [0, 1].map(|face| node.data(&mut controller, name, FaceId(face), CONSUMER).label.0[0]);
    assert_eq!(from, [extend(0, FaceId(0)), extend(0, FaceId(1))]);
}

fn balance() -> (StrategyBench, Balance) {
    (StrategyBench::new(faces(2, Rate::from_mbps(10), 2), &[10, 10]), strategy(&Params::default(), &setup(1)))
}

fn mean(node: &StrategyBench, controller: &mut Balance, face: u32) -> (u32, f64) {
    let hop = controller.hop(&FibEntry { prefix: NameId(1), index: 0, hops: &node.hops }, FaceId(face));
    (hop.pending, hop.mean)
}

/// [CCNPL]: with one face: a = 1, 0.9 + 0.1 = 1, 0.9 + 0.2 = 1.1, 0.99 + 0.3 = 1.29; Data: 1.161 + 0.2 = 1.361;
/// expired: 1.2249 + 0.1 = 1.3249; refused: 1.19241 + 0 = 1.19241.
#[test]
fn means_follow_what_is_pending() {
    let (mut node, mut controller) = balance();
    node.hops.truncate(1);
    let mut pending = Vec::new();
    let mut seen = Vec::new();
    for segment in 0..3 {
        pending.push(node.interest(&mut controller, segment, CONSUMER));
        seen.push(mean(&node, &mut controller, 0));
    }
    node.data(&mut controller, pending[0], FaceId(0));
    seen.push(mean(&node, &mut controller, 0));
    node.expire(&mut controller, pending[1]);
    seen.push(mean(&node, &mut controller, 0));
    node.nack(&mut controller, pending[2], FaceId(0), NackReason::Congestion);
    seen.push(mean(&node, &mut controller, 0));
    let expected = [(1, 1.0), (2, 1.1), (3, 1.29), (2, 1.361), (1, 1.3249), (0, 1.19241)];
    for ((n, a), (pending, mean)) in seen.iter().zip(expected) {
        assert_eq!(*n, pending);
        assert!((a - mean).abs() < 1e-12, "{a} is not {mean}");
    }
}

/// [CGMPW13]: a face that answers at once gets the more, the longer the other one's queue: with nothing pending at 0
/// and much at 1, nearly all.
#[test]
fn interests_go_where_fewer_are_pending() {
    let (mut node, mut controller) = balance();
    for segment in 0..2000 {
        let pending = node.interest(&mut controller, segment, CONSUMER);
        if node.done() == [Action::Sent(segment, FaceId(0))] {
            node.data(&mut controller, pending, FaceId(0));
        }
        node.now += Duration::from_millis(1);
    }
    let slow = mean(&node, &mut controller, 1).0;
    // equal to begin with; the slow face's mean grows with every Interest it does not answer, and its share falls
    assert!((10..100).contains(&slow), "{slow} of 2000");
}

/// Who joins waits; who requests again has it retransmitted, which is not one more.
#[test]
fn what_is_retransmitted_is_counted_once() {
    let (mut node, mut controller) = balance();
    node.hops.truncate(1);
    for from in [CONSUMER, FaceId(3), CONSUMER] {
        node.interest(&mut controller, 0, from);
    }
    assert_eq!(node.done(), [Action::Sent(0, FaceId(0)); 2]);
    assert_eq!(mean(&node, &mut controller, 0).0, 1);
}

#[test]
fn another_face_is_tried_before_the_answer_is_no() {
    let (mut node, mut controller) = balance();
    let pending = node.interest(&mut controller, 0, CONSUMER);
    let Action::Sent(_, first) = node.actions[0] else { panic!("{:?}", node.actions) };
    let second = FaceId(1 - first.0);
    node.nack(&mut controller, pending, first, NackReason::Congestion);
    node.nack(&mut controller, pending, second, NackReason::NoRoute);
    let no = NackReason::Congestion;
    assert_eq!(
        node.done(),
        [Action::Sent(0, first), Action::Sent(0, second), Action::Nacked(0, CONSUMER, no)]
    );
    // its own link part may refuse as well
    node.results.extend([SendResult::Refused(no), SendResult::Refused(no)]);
    node.interest(&mut controller, 1, CONSUMER);
    assert_eq!(node.done(), [Action::Nacked(1, CONSUMER, no)]);
    assert_eq!([0, 1].map(|face| mean(&node, &mut controller, face).0), [0, 0]);
    assert!(contract::Strategy::wake(&controller) == Time::NEVER);
}
