//! One test per claim of the paper, named after it, with the section.

use contract::{FaceId, NackReason};
use units::Rate;

use super::{Params, Strategy};
use crate::shared::forwarders::{Action, StrategyBench, faces};

/// Faces 0, 1 and 2 are next hops, the cheapest first; 3 and 4 are endpoints.
fn crossroads() -> (StrategyBench, Strategy) {
    (StrategyBench::new(faces(3, Rate::from_mbps(10), 2), &[1, 2, 3]), Strategy::new(&Params::default()))
}

#[test]
fn an_interest_takes_the_cheapest_next_hop() {
    let (mut node, mut controller) = crossroads();
    node.interest(&mut controller, 7, FaceId(3));
    assert_eq!(node.done(), [Action::Sent(7, FaceId(0))]);
}

#[test]
fn who_asks_beside_others_waits_with_them_and_who_asks_again_is_sent_again() {
    let (mut node, mut controller) = crossroads();
    node.interest(&mut controller, 7, FaceId(3));
    node.interest(&mut controller, 7, FaceId(4));
    assert_eq!(node.done(), [Action::Sent(7, FaceId(0))]);
    node.interest(&mut controller, 7, FaceId(4));
    assert_eq!(node.done(), [Action::Sent(7, FaceId(0))]);
}

/// [YAMWZZ13 §3]
#[test]
fn a_refused_interest_goes_to_the_next_face_and_is_refused_after_the_last() {
    let (mut node, mut controller) = crossroads();
    let pending = node.interest(&mut controller, 7, FaceId(3));
    for face in [0, 1] {
        node.nack(&mut controller, pending, FaceId(face), NackReason::Congestion);
    }
    let sent = [0, 1, 2].map(|face| Action::Sent(7, FaceId(face)));
    assert_eq!(node.done(), sent);
    node.nack(&mut controller, pending, FaceId(2), NackReason::Congestion);
    assert_eq!(node.done(), [Action::Nacked(7, FaceId(3), NackReason::Congestion)]);
}

#[test]
fn no_more_next_hops_are_tried_than_the_parameter_says() {
    let (mut node, _) = crossroads();
    let mut controller = Strategy::new(&Params { tries: 1 });
    let pending = node.interest(&mut controller, 7, FaceId(3));
    node.nack(&mut controller, pending, FaceId(0), NackReason::Congestion);
    assert_eq!(
        node.done(),
        [Action::Sent(7, FaceId(0)), Action::Nacked(7, FaceId(3), NackReason::Congestion)]
    );
}
