//! One test per claim about stateful forwarding. Links have 10 Mbit/s; with Data of 1100 bytes a face returns
//! 10⁷/8/1140 = 1096.49 packets per second, and its limit is 109.6.

use contract::{Cause, Congestion, CongestionControl, FaceId, FibEntry, NackReason, NameId, Pending, Setup};
use units::{Bytes, Duration, Rate};

use super::limits::{Limit, Rules};
use super::{Consumer, Form, Params, Status, Strategy, Window, control, strategy};
use crate::shared::forwarders::{Action, StrategyBench, faces};
use crate::shared::testing::{Bench, setup};

const SETUP: Setup = Setup { segment: Bytes::new(1100), header: Bytes::ZERO, initial_window: Bytes::ZERO };
const NEAR: FaceId = FaceId(0);
const FAR: FaceId = FaceId(1);
const CONSUMER: FaceId = FaceId(2);
const OTHER: FaceId = FaceId(3);

/// Two ways to the producers and two endpoints.
fn node(params: &Params) -> (StrategyBench, Strategy) {
    (StrategyBench::new(faces(2, Rate::from_mbps(10), 2), &[10, 20]), strategy(params, &SETUP))
}

fn status(node: &StrategyBench, controller: &Strategy, face: FaceId) -> Status {
    controller.status(&FibEntry { prefix: NameId(1), index: 0, hops: &node.hops }, face)
}

/// Asks for this many segments, from number `first` on.
fn request(node: &mut StrategyBench, controller: &mut Strategy, first: u64, count: u64) -> Vec<Pending> {
    (first..first + count).map(|segment| node.interest(controller, segment, CONSUMER)).collect()
}

/// [CAWKA]: 109 Interests fit under a limit of 109.6. The next go by the other face, and the 219th is refused.
#[test]
fn a_face_takes_its_limit_and_then_the_next_face_does() {
    let (mut node, mut controller) = node(&Params::default());
    request(&mut node, &mut controller, 0, 218);
    let sent = |node: &StrategyBench, face| {
        node.actions.iter().filter(|action| matches!(action, Action::Sent(_, to) if *to == face)).count()
    };
    assert_eq!((sent(&node, NEAR), sent(&node, FAR)), (109, 109));
    node.done();
    request(&mut node, &mut controller, 218, 1);
    assert_eq!(node.done(), [Action::Nacked(218, CONSUMER, NackReason::Congestion)]);
}

/// [CAWKA]: Data return what was borrowed.
#[test]
fn data_make_room() {
    let (mut node, mut controller) = node(&Params::default());
    let pending = request(&mut node, &mut controller, 0, 218);
    node.done();
    node.data(&mut controller, pending[0], NEAR);
    request(&mut node, &mut controller, 300, 2);
    assert_eq!(node.done(), [Action::Sent(300, NEAR), Action::Nacked(301, CONSUMER, NackReason::Congestion)]);
}

/// [YAMWZZ13]: Data make a face green, a refusal or silence yellow; green ones come first.
#[test]
fn faces_are_taken_by_status_and_then_by_cost() {
    let (mut node, mut controller) = node(&Params::default());
    assert_eq!(status(&node, &controller, NEAR), Status::Yellow);
    let pending = request(&mut node, &mut controller, 0, 2);
    node.nack(&mut controller, pending[0], NEAR, NackReason::Congestion);
    node.data(&mut controller, pending[0], FAR);
    assert_eq!(
        (status(&node, &controller, NEAR), status(&node, &controller, FAR)),
        (Status::Yellow, Status::Green)
    );
    request(&mut node, &mut controller, 2, 1);
    node.data(&mut controller, pending[1], NEAR);
    let third = request(&mut node, &mut controller, 3, 1);
    node.expire(&mut controller, third[0]);
    assert_eq!(status(&node, &controller, NEAR), Status::Yellow);
    request(&mut node, &mut controller, 4, 1);
    let expected = [(0, NEAR), (1, NEAR), (0, FAR), (2, FAR), (3, NEAR), (4, FAR)];
    assert_eq!(node.done(), expected.map(|(segment, face)| Action::Sent(segment, face)));
}

/// [YAMWZZ13]: a refused Interest goes to the faces that were not tried; when all have refused, so does the node.
#[test]
fn a_node_refuses_when_all_its_faces_did() {
    let (mut node, mut controller) = node(&Params::default());
    let pending = request(&mut node, &mut controller, 0, 1)[0];
    node.interest(&mut controller, 0, OTHER);
    assert_eq!(node.done(), [Action::Sent(0, NEAR)]);
    node.nack(&mut controller, pending, NEAR, NackReason::Congestion);
    assert_eq!(node.done(), [Action::Sent(0, FAR)]);
    node.nack(&mut controller, pending, FAR, NackReason::NoRoute);
    let refused = [CONSUMER, OTHER].map(|to| Action::Nacked(0, to, NackReason::Congestion));
    assert_eq!(node.done(), refused);
}

/// A duplicate is no word about the face.
#[test]
fn a_duplicate_changes_no_status() {
    let (mut node, mut controller) = node(&Params::default());
    let pending = request(&mut node, &mut controller, 0, 2);
    node.data(&mut controller, pending[0], NEAR);
    node.nack(&mut controller, pending[1], NEAR, NackReason::Duplicate);
    assert_eq!(status(&node, &controller, NEAR), Status::Green);
}

/// [CAWKA]: a second consumer waits with the first; who requests again has his Interest retransmitted.
#[test]
fn who_joins_waits_and_who_asks_again_is_heard() {
    let (mut node, mut controller) = node(&Params::default());
    for from in [CONSUMER, OTHER, CONSUMER] {
        node.interest(&mut controller, 5, from);
    }
    assert_eq!(node.done(), [Action::Sent(5, NEAR), Action::Sent(5, NEAR)]);
}

#[test]
fn without_another_next_hop_there_is_no_route() {
    let mut node = StrategyBench::new(faces(2, Rate::from_mbps(10), 0), &[10]);
    let mut controller = strategy(&Params::default(), &SETUP);
    node.interest(&mut controller, 0, NEAR);
    assert_eq!(node.done(), [Action::Nacked(0, NEAR, NackReason::NoRoute)]);
}

/// [YIC]: a bucket of 109.6 drains at 1096.49 a second: 109 at once, and after 9 ms 10.47 of room, which 10 fill.
#[test]
fn as_a_rate_the_limit_is_a_leaky_bucket() {
    let (mut node, mut controller) = node(&Params { limit: Form::Rate, ..Params::default() });
    node.hops.truncate(1);
    let passed = |node: &mut StrategyBench, controller: &mut Strategy, first| {
        request(node, controller, first, 200);
        node.done().iter().filter(|action| matches!(action, Action::Sent(..))).count()
    };
    assert_eq!(passed(&mut node, &mut controller, 0), 109);
    node.now += Duration::from_millis(9);
    assert_eq!(passed(&mut node, &mut controller, 1000), 10);
}

#[test]
fn without_a_limit_nothing_is_refused() {
    let (mut node, mut controller) = node(&Params { limit: Form::None, ..Params::default() });
    request(&mut node, &mut controller, 0, 500);
    assert!(node.done().iter().all(|action| matches!(action, Action::Sent(_, to) if *to == NEAR)));
}

/// [YIC]: L ← L + 1 with Data, up to C·RTT with the measured RTT: 1096.49·0.02 = 21.93; L ← L − 1 with a refusal, down
/// to 1.
#[test]
fn limits_follow_data_and_refusals() {
    let params = Params { adapt: true, ..Params::default() };
    let rules = Rules::new(&params, &SETUP);
    let mut limit = Limit::new(Rate::from_mbps(10), &rules);
    assert!((limit.limit - 109.649_122_807).abs() < 1e-6);
    limit.on_data(Some(0.02), &rules);
    assert!((limit.limit - 21.929_824_561).abs() < 1e-6);
    for _ in 0..5 {
        limit.on_nack(&rules);
    }
    assert!((limit.limit - 16.929_824_561).abs() < 1e-6);
    limit.on_data(None, &rules);
    assert!((limit.limit - 17.929_824_561).abs() < 1e-6);
    for _ in 0..100 {
        limit.on_nack(&rules);
    }
    assert_eq!(limit.limit, 1.0);

    let rules = Rules::new(&Params::default(), &SETUP);
    let mut fixed = Limit::new(Rate::from_mbps(10), &rules);
    let before = fixed;
    fixed.on_nack(&rules);
    fixed.on_data(Some(0.02), &rules);
    assert_eq!(fixed, before);
}

#[test]
fn an_early_refusal_goes_to_who_asked() {
    let params = Params { early: true, early_weight: 1.0, ..Params::default() };
    let mut node = StrategyBench::new(faces(3, Rate::from_mbps(10), 1), &[10]);
    let mut controller = strategy(&params, &SETUP);
    let queue = |node: &mut StrategyBench, packets| {
        node.faces[2].link.as_mut().expect("a link").backlog.packets = packets;
    };
    node.interest(&mut controller, 0, FaceId(3));
    queue(&mut node, 20);
    node.interest(&mut controller, 0, FaceId(2));
    node.interest(&mut controller, 1, FaceId(2));
    queue(&mut node, 0);
    node.interest(&mut controller, 2, FaceId(2));
    let refused = |segment| Action::Nacked(segment, FaceId(2), NackReason::Congestion);
    assert_eq!(node.done(), [Action::Sent(0, NEAR), refused(0), refused(1), Action::Sent(2, NEAR)]);
}

fn consumer(window: Window, initial: u64) -> (Bench, Consumer) {
    (Bench::new(), control(&Params { consumer: window, ..Params::default() }, &setup(initial)))
}

/// AIMD from 10: 10.1, 10.1 + 1/10.1; half after a NACK, the first of its episode alone.
#[test]
fn a_consumer_adds_a_segment_a_window_and_halves_it() {
    let (mut bench, mut controller) = consumer(Window::Aimd, 10);
    bench.ack(&mut controller);
    bench.ack(&mut controller);
    assert!((controller.window().0 - (10.1 + 1.0 / 10.1)).abs() < 1e-12);
    let before = controller.window().0;
    bench.congestion(&mut controller, Cause::Refused);
    assert_eq!(controller.window().0, before / 2.0);
    let more =
        Congestion { cause: Cause::Refused, bytes: Bytes::new(1000), in_flight: Bytes::ZERO, first: false };
    controller.on_congestion(&more, &mut bench.cx());
    assert_eq!(controller.window().0, before / 2.0);
}

/// [CAWKA, YIC]: from 4: two Data 6; a NACK leaves 6 or 5; a loss 4.
#[test]
fn other_consumers_count_data_and_nacks() {
    for (window, refused) in [(Window::Additive, 6.0), (Window::Counting, 5.0)] {
        let (mut bench, mut controller) = consumer(window, 4);
        bench.ack(&mut controller);
        bench.ack(&mut controller);
        bench.congestion(&mut controller, Cause::Refused);
        assert_eq!(controller.window().0, refused);
        bench.congestion(&mut controller, Cause::Loss);
        assert_eq!(controller.window().0, 4.0);
    }
}
