//! One test per claim about PCON, with the numbers of its authors' code.

use contract::{
    Cause, Congestion, CongestionControl, Ecn, FaceId, FibEntry, LinkAlgorithm, NackReason, Name, NameId,
    Packet, Pending, Setup, Strategy as _,
};
use units::{Bytes, Duration, Rate, Time};

use super::{
    Consumer, Control, InitialShares, MarkAt, Marking, Marks, Multipath, Params, Retransmissions, Window,
    control, link, strategy,
};
use crate::shared::forwarders::{Action, LinkBench, StrategyBench, data, faces, interest};
use crate::shared::testing::{Bench, setup};

const SETUP: Setup = Setup { segment: Bytes::new(1100), header: Bytes::ZERO, initial_window: Bytes::ZERO };
const NEAR: FaceId = FaceId(0);
const FAR: FaceId = FaceId(1);

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn name(segment: u64) -> Name {
    Name { prefix: NameId(1), segment }
}

fn mark(packet: &mut Packet) {
    packet.ecn = Ecn::Marked;
}

// ---- links

/// Two links and an endpoint; the queue of the second is busy.
fn gate() -> (LinkBench, Marking) {
    let mut gate = LinkBench::new(faces(2, Rate::from_mbps(10), 1));
    gate.now = Time::ZERO;
    gate.link(FAR).busy = true;
    (gate, link(&Params::default(), &SETUP))
}

/// Sends a packet each 100 µs through the queue of `to`, each having waited for `waited`, and Data to that link behind
/// each; the times, in ms, at which Data was marked, until `end`.
fn marks(gate: &mut LinkBench, controller: &mut Marking, to: FaceId, waited: Duration, end: u64) -> Vec<f64> {
    let mut marked = Vec::new();
    while gate.now < Time::ZERO + ms(end) {
        gate.dequeue(controller, &mut data(name(1)), to, waited);
        gate.interest(controller, name(2), to, NEAR);
        if gate.data(controller, name(2), NEAR, to).ecn == Ecn::Marked {
            marked.push((gate.now - Time::ZERO).as_secs_f64() * 1000.0);
        }
        gate.now += Duration::from_micros(100);
    }
    marked
}

/// [SCHNEIDER]: nothing within one interval; then 110, 110/√2 = 77.8, 110/√3 = 63.5, 55 ms apart.
#[test]
fn marks_begin_after_an_interval_and_come_ever_faster() {
    let (mut gate, mut controller) = gate();
    let marked = marks(&mut gate, &mut controller, FAR, ms(6), 500);
    // more than an interval: the packet after the one at 100 ms. Each gap ends at the packet that follows, 0.1 ms later
    // at most
    assert_eq!(marked[0].round(), 100.0);
    assert!(marked[0] > 100.0);
    let gaps: Vec<f64> = marked.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (gap, expected) in gaps.iter().zip([110.0, 77.782, 63.509, 55.0, 49.193]) {
        assert!((gap - expected).abs() < 0.1001, "{gaps:?}");
    }
    assert_eq!(gaps.len(), 5);
}

/// [SCHNEIDER]: a wait of just the target is none too long.
#[test]
fn waits_up_to_the_target_are_no_congestion() {
    let (mut gate, mut controller) = gate();
    assert!(marks(&mut gate, &mut controller, FAR, ms(5), 1000).is_empty());
}

/// [SCHNEIDER]: one packet that waited less ends it. The count begins again, but no mark comes before the one that was
/// due.
#[test]
fn the_count_is_forgotten_and_the_next_mark_is_not() {
    let (mut gate, mut controller) = gate();
    assert_eq!(marks(&mut gate, &mut controller, FAR, ms(6), 215).len(), 2);
    // marked at 100.1 and 210.1 ms; the next would be at 287.9 ms
    gate.dequeue(&mut controller, &mut data(name(1)), FAR, ms(1));
    let again = marks(&mut gate, &mut controller, FAR, ms(6), 400);
    // above since 215 ms; over at 315.1 ms, after what was due. Then 110 ms again, as at first
    assert_eq!(again.len(), 1);
    assert!((again[0] - 315.1).abs() < 0.01, "{again:?}");
    let (mut gate, mut controller) = self::gate();
    let slow = Marking::new(ms(5), ms(20), 5.5, None, MarkAt::Enqueue);
    controller.clone_from(&slow);
    assert_eq!(marks(&mut gate, &mut controller, FAR, ms(6), 22).len(), 1);
    gate.dequeue(&mut controller, &mut data(name(1)), FAR, ms(1));
    let again = marks(&mut gate, &mut controller, FAR, ms(6), 250);
    // over again at 42.1 ms, but the second mark was due at 20.1 + 110 = 130.1 ms; the count begins again, and the gap
    // is the longest
    assert_eq!(again.len(), 2);
    assert!((again[0] - 130.1).abs() < 0.11 && (again[1] - again[0] - 110.0).abs() < 0.11, "{again:?}");
}

/// [SCHNEIDER]: the packet that leaves raises the flag, the next one to that link takes it, once; not if the queue has
/// fallen meanwhile.
#[test]
fn a_mark_is_taken_once_and_not_when_the_queue_has_fallen() {
    let (mut gate, mut controller) = gate();
    let raise = |gate: &mut LinkBench, controller: &mut Marking| {
        for _ in 0..2 {
            gate.dequeue(controller, &mut data(name(1)), FAR, ms(6));
            gate.now += ms(101);
        }
    };
    let data_marked = |gate: &mut LinkBench, controller: &mut Marking| {
        gate.data(controller, name(9), NEAR, FAR).ecn == Ecn::Marked
    };
    raise(&mut gate, &mut controller);
    assert_eq!(
        [data_marked(&mut gate, &mut controller), data_marked(&mut gate, &mut controller)],
        [true, false]
    );
    raise(&mut gate, &mut controller);
    gate.dequeue(&mut controller, &mut data(name(1)), FAR, ms(1));
    assert!(!data_marked(&mut gate, &mut controller));
    // a link that is idle has an empty queue
    raise(&mut gate, &mut controller);
    gate.now += ms(200);
    raise(&mut gate, &mut controller);
    gate.link(FAR).busy = false;
    assert!(!data_marked(&mut gate, &mut controller));
}

#[test]
fn the_data_that_leaves_can_be_marked_instead() {
    let mut gate = gate().0;
    let mut controller = link(&Params { mark_at: MarkAt::Dequeue, ..Params::default() }, &SETUP);
    let (mut first, mut late, mut asks) = (data(name(1)), data(name(2)), interest(name(3), 1));
    gate.dequeue(&mut controller, &mut first, FAR, ms(6));
    gate.now += ms(101);
    gate.dequeue(&mut controller, &mut asks, FAR, ms(6));
    gate.dequeue(&mut controller, &mut late, FAR, ms(6));
    assert_eq!([first.ecn, asks.ecn, late.ecn], [Ecn::Capable, Ecn::Capable, Ecn::Marked]);
    assert_eq!(gate.data(&mut controller, name(9), NEAR, FAR).ecn, Ecn::Capable);
}

/// [SCHNEIDER]: an Interest that goes to a congested link marks its entry, and the Data that answers is marked on its
/// way back.
#[test]
fn congestion_of_interests_is_told_by_their_data() {
    let (mut gate, mut controller) = gate();
    for _ in 0..2 {
        gate.dequeue(&mut controller, &mut interest(name(1), 1), FAR, ms(6));
        gate.now += ms(101);
    }
    gate.interest(&mut controller, name(5), NEAR, FAR);
    gate.interest(&mut controller, name(6), NEAR, FAR);
    assert_eq!(gate.data(&mut controller, name(6), FAR, NEAR).ecn, Ecn::Capable, "the mark was taken");
    assert_eq!(gate.data(&mut controller, name(5), FAR, NEAR).ecn, Ecn::Marked);
}

#[test]
fn marks_stay_and_who_does_not_understand_them_gets_none() {
    let (mut gate, mut controller) = gate();
    assert_eq!(gate.data_with(&mut controller, name(1), FAR, NEAR, mark).ecn, Ecn::Marked, "set by others");
    for _ in 0..2 {
        gate.dequeue(&mut controller, &mut data(name(1)), FAR, ms(6));
        gate.now += ms(101);
    }
    let deaf = |packet: &mut Packet| packet.ecn = Ecn::NotCapable;
    assert_eq!(gate.data_with(&mut controller, name(1), NEAR, FAR, deaf).ecn, Ecn::NotCapable);
    assert_eq!(gate.data(&mut controller, name(1), NEAR, FAR).label.0, [0; 4], "a mark has no level here");
    assert!(controller.observes_dequeue() && !controller.observes_enqueue());
}

/// Two for each packet that leaves, the wait and its comparison, and one for each mark.
#[test]
fn operations_are_counted_for_each_packet_that_leaves_and_each_mark() {
    let (mut gate, mut controller) = gate();
    for _ in 0..3 {
        gate.dequeue(&mut controller, &mut data(name(1)), FAR, ms(6));
        gate.now += ms(101);
    }
    assert_eq!(controller.operations(), 6);
    gate.data(&mut controller, name(9), NEAR, FAR);
    gate.data(&mut controller, name(8), NEAR, FAR);
    assert_eq!(controller.operations(), 7, "one of the two took the mark");
}

// ---- forwarders

const CONSUMER: FaceId = FaceId(3);
const OTHER: FaceId = FaceId(4);

/// Three ways to the producers, of which the second is the cheapest, and two endpoints.
fn node(params: &Params) -> (StrategyBench, Multipath) {
    (StrategyBench::new(faces(3, Rate::from_mbps(10), 2), &[20, 10, 30]), strategy(params, &SETUP))
}

fn shares(node: &mut StrategyBench, controller: &mut Multipath) -> Vec<f64> {
    let hops = node.hops.clone();
    controller.split().shares(&FibEntry { prefix: NameId(1), index: 0, hops: &hops }, node).to_vec()
}

fn near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {expected:?}");
}

/// [SCHNEIDER]: 1 on one face at first; a mark takes 2 % of what the face has and gives each other the same part of it.
#[test]
fn a_mark_moves_two_per_cent_of_a_share_to_the_others() {
    let (mut node, mut controller) = node(&Params { probing: 0.0, ..Params::default() });
    let first = node.interest(&mut controller, 1, CONSUMER);
    assert_eq!(node.done(), [Action::Sent(1, FAR)], "the cheapest is the second face");
    near(&shares(&mut node, &mut controller), &[1.0, 0.0, 0.0]);
    node.data_with(&mut controller, first, FAR, mark);
    near(&shares(&mut node, &mut controller), &[0.98, 0.01, 0.01]);
    let second = node.interest(&mut controller, 2, CONSUMER);
    node.data_with(&mut controller, second, FAR, mark);
    // 0.98 · 0.98, and half of 0.0196 for each other
    near(&shares(&mut node, &mut controller), &[0.9604, 0.0198, 0.0198]);
    let third = node.interest(&mut controller, 3, CONSUMER);
    node.data_with(&mut controller, third, NEAR, mark);
    // the mark is the first face's: 0.0198 · 0.02 = 0.000396 from it
    near(&shares(&mut node, &mut controller), &[0.960598, 0.019404, 0.019998]);
    let fourth = node.interest(&mut controller, 4, CONSUMER);
    node.data(&mut controller, fourth, FAR);
    near(&shares(&mut node, &mut controller), &[0.960598, 0.019404, 0.019998]);
}

/// [SCHNEIDER]: an Interest that expires takes 0.02 from the face that it was sent to first, whatever the share, and
/// once more for each probe.
#[test]
fn an_expiry_takes_an_absolute_share() {
    let (mut node, mut controller) = node(&Params { probing: 0.0, ..Params::default() });
    let pending = node.interest(&mut controller, 1, CONSUMER);
    node.expire(&mut controller, pending);
    near(&shares(&mut node, &mut controller), &[0.98, 0.01, 0.01]);
    let pending = node.interest(&mut controller, 2, CONSUMER);
    node.expire(&mut controller, pending);
    near(&shares(&mut node, &mut controller), &[0.96, 0.02, 0.02]);
    let (mut node, mut controller) = self::node(&Params { probing: 1.0, ..Params::default() });
    let pending = node.interest(&mut controller, 1, CONSUMER);
    assert_eq!(node.done(), [Action::Sent(1, FAR), Action::Probed(1, NEAR), Action::Probed(1, FaceId(2))]);
    node.expire(&mut controller, pending);
    near(&shares(&mut node, &mut controller), &[0.94, 0.03, 0.03]);
    // no share falls below nothing
    let (mut node, mut controller) = self::node(&Params { change: 0.8, probing: 0.0, ..Params::default() });
    for segment in 0..2 {
        let pending = node.interest(&mut controller, segment, CONSUMER);
        node.actions.clear();
        node.expire(&mut controller, pending);
    }
    let found = shares(&mut node, &mut controller);
    assert!(
        found.iter().all(|share| *share >= 0.0) && (found.iter().sum::<f64>() - 1.0).abs() < 1e-12,
        "{found:?}"
    );
}

/// [SCHNEIDER]: marked refusals move shares at most once in 110 ms, whatever the prefix.
#[test]
fn refusals_move_shares_at_most_every_110_ms() {
    let (mut node, mut controller) = node(&Params { probing: 0.0, ..Params::default() });
    let refuse = |node: &mut StrategyBench, controller: &mut Multipath, segment| {
        let pending = node.interest(controller, segment, CONSUMER);
        node.nack(controller, pending, FAR, NackReason::Congestion);
    };
    // an Interest that went elsewhere is not refused there
    for (segment, wait, expected) in [(1, 0, 0.98), (2, 109, 0.98), (3, 1, 0.9604), (4, 110, 0.941192)] {
        node.now += ms(wait);
        let before = shares(&mut node, &mut controller)[0];
        refuse(&mut node, &mut controller, segment);
        let went = node.done().contains(&Action::Sent(segment, FAR));
        let after = shares(&mut node, &mut controller)[0];
        assert!((after - if went { expected } else { before }).abs() < 1e-12, "{segment} {after}");
    }
    let pending = node.interest(&mut controller, 9, CONSUMER);
    node.now += ms(200);
    let (before, face) = (shares(&mut node, &mut controller), out_record(&mut node));
    node.nack(&mut controller, pending, face, NackReason::NoRoute);
    assert_eq!(shares(&mut node, &mut controller), before, "only congestion counts");
}

fn out_record(node: &mut StrategyBench) -> FaceId {
    match node.done().as_slice() {
        [.., Action::Sent(_, face)] => *face,
        other => panic!("{other:?}"),
    }
}

/// Interests follow the shares, and those of an unusable hop fall to the others.
#[test]
fn interests_follow_shares() {
    let (mut node, mut controller) = node(&Params { change: 0.5, probing: 0.0, ..Params::default() });
    let pending = node.interest(&mut controller, 0, CONSUMER);
    node.data_with(&mut controller, pending, FAR, mark);
    near(&shares(&mut node, &mut controller), &[0.5, 0.25, 0.25]);
    node.done();
    let mut went = [0; 3];
    for segment in 1..=4000 {
        let pending = node.interest(&mut controller, segment, CONSUMER);
        let face = out_record(&mut node);
        went[face.index()] += 1;
        node.data(&mut controller, pending, face);
    }
    assert!((900..1100).contains(&went[0]) && (1900..2100).contains(&went[1]), "{went:?}");
    // an Interest from the second face: 0.25 and 0.25 are left
    let mut went = [0; 3];
    for segment in 5001..=7000 {
        let pending = node.interest(&mut controller, segment, FAR);
        let face = out_record(&mut node);
        went[face.index()] += 1;
        node.data(&mut controller, pending, face);
    }
    assert!(went[1] == 0 && (900..1100).contains(&went[0]), "{went:?}");
}

/// [SCHNEIDER]: one Interest in a thousand goes everywhere.
#[test]
fn one_interest_in_a_thousand_is_a_probe() {
    let (mut node, mut controller) = node(&Params::default());
    for segment in 0..20_000 {
        let pending = node.interest(&mut controller, segment, CONSUMER);
        node.data(&mut controller, pending, FAR);
    }
    let probes = node.done().iter().filter(|action| matches!(action, Action::Probed(_, NEAR))).count();
    assert!((8..35).contains(&probes), "{probes}");
}

/// [SCHNEIDER]: the draw that chooses is the draw that probes, so that only what goes to the first hop with a share is
/// probed.
#[test]
fn what_goes_to_the_last_hop_is_not_probed() {
    let (mut node, mut controller) = node(&Params { change: 0.5, probing: 0.5, ..Params::default() });
    let pending = node.interest(&mut controller, 0, CONSUMER);
    node.data_with(&mut controller, pending, FAR, mark);
    for segment in 1..200 {
        node.done();
        let pending = node.interest(&mut controller, segment, CONSUMER);
        let actions = node.done();
        let to_first = actions[0] == Action::Sent(segment, FAR);
        assert_eq!(actions.len() == 3, to_first, "{actions:?}");
        node.data(&mut controller, pending, FAR);
    }
}

/// [SCHNEIDER]: as long as an Interest may be answered, others for the name wait with it, the same downstream's as
/// well.
#[test]
fn repeats_are_suppressed_while_data_may_come() {
    let (mut node, mut controller) = node(&Params { probing: 0.0, ..Params::default() });
    node.interest(&mut controller, 1, CONSUMER);
    node.now += ms(1999);
    node.interest(&mut controller, 1, CONSUMER);
    node.interest(&mut controller, 1, OTHER);
    assert_eq!(node.done(), [Action::Sent(1, FAR)]);
    node.now += ms(1);
    node.interest(&mut controller, 1, CONSUMER);
    assert_eq!(node.done(), [Action::Sent(1, FAR)], "2 s after it was sent nobody answers it");
    let (mut node, mut controller) = self::node(&Params {
        probing: 0.0,
        retransmissions: Retransmissions::Forwarded,
        ..Params::default()
    });
    for from in [CONSUMER, OTHER, CONSUMER] {
        node.interest(&mut controller, 1, from);
    }
    assert_eq!(
        node.done(),
        [Action::Sent(1, FAR), Action::Sent(1, FAR)],
        "who requests again is heard, who joins waits"
    );
}

#[test]
fn shares_can_begin_equal() {
    let params = Params { initial_shares: InitialShares::Equal, ..Params::default() };
    let (mut node, mut controller) = node(&params);
    near(&shares(&mut node, &mut controller), &[1.0 / 3.0; 3]);
    // a producer on the node has all
    let mut node = StrategyBench::new(faces(1, Rate::from_mbps(10), 2), &[20, 0]);
    let mut controller = strategy(&params, &SETUP);
    near(&shares(&mut node, &mut controller), &[1.0, 0.0]);
}

#[test]
fn when_routes_change_the_rest_keeps_its_proportions() {
    let (mut node, mut controller) = node(&Params { change: 0.5, probing: 0.0, ..Params::default() });
    let pending = node.interest(&mut controller, 0, CONSUMER);
    node.data_with(&mut controller, pending, FAR, mark);
    let gone = node.hops.remove(0);
    near(&shares(&mut node, &mut controller), &[0.5, 0.5]);
    node.hops.insert(0, gone);
    near(&shares(&mut node, &mut controller), &[0.0, 0.5, 0.5]);
    node.hops.truncate(1);
    near(&shares(&mut node, &mut controller), &[1.0]);
    // a single hop takes all, and what it brings moves nothing
    let pending: Pending = node.interest(&mut controller, 7, CONSUMER);
    node.data_with(&mut controller, pending, FAR, mark);
    near(&shares(&mut node, &mut controller), &[1.0]);
}

#[test]
fn an_interest_that_no_face_takes_is_refused() {
    let (mut node, mut controller) = node(&Params::default());
    node.hops.truncate(1);
    node.interest(&mut controller, 1, FAR);
    assert_eq!(node.done(), [Action::Nacked(1, FAR, NackReason::NoRoute)]);
    let pending = node.interest(&mut controller, 2, CONSUMER);
    node.done();
    node.nack(&mut controller, pending, FAR, NackReason::Congestion);
    assert_eq!(node.done(), [Action::Nacked(2, CONSUMER, NackReason::Congestion)]);
}

// ---- consumers

fn consumer(params: &Params, window: u64) -> (Bench, Control) {
    (Bench::new(), control(params, &setup(window)))
}

fn event(bench: &mut Bench, controller: &mut Consumer, cause: Cause, first: bool) {
    let in_flight = controller.allowance().window;
    let event = Congestion { cause, bytes: Bytes::new(1000), in_flight, first };
    controller.on_congestion(&event, &mut bench.cx());
}

/// [SCHNEIDER]: each mark halves the window; of timeouts and refusals one an episode, and neither goes back to one
/// segment.
#[test]
fn each_mark_cuts_and_a_timeout_once_an_episode() {
    let (mut bench, mut controller) = consumer(&Params::default(), 100);
    for (cause, first, expected) in [
        (Cause::Mark, true, 50.0),
        (Cause::Mark, false, 25.0),
        (Cause::Loss, false, 25.0),
        (Cause::Timeout, true, 12.5),
        (Cause::Timeout, false, 12.5),
        (Cause::Refused, true, 6.25),
    ] {
        event(&mut bench, &mut controller, cause, first);
        assert_eq!(controller.window().0, expected, "{cause:?}");
    }
    for _ in 0..10 {
        event(&mut bench, &mut controller, Cause::Mark, true);
    }
    assert_eq!(controller.window().0, 1.0, "never below one segment");
}

/// [NDNSIM]: marks count once an episode as well.
#[test]
fn marks_can_count_once_an_episode() {
    let (mut bench, mut controller) = consumer(&Params { marks: Marks::Once, ..Params::default() }, 100);
    for (first, expected) in [(true, 50.0), (false, 50.0), (true, 25.0)] {
        event(&mut bench, &mut controller, Cause::Mark, first);
        assert_eq!(controller.window().0, expected);
    }
}

/// [SCHNEIDER]: BIC from one segment: 2, 3 … 14; the first Data at 14 lowers the window by one, since its target begins
/// at 0.
#[test]
fn slow_start_ends_at_fourteen() {
    let (mut bench, mut controller) = consumer(&Params::default(), 1);
    for expected in 2..=14 {
        bench.ack(&mut controller);
        assert_eq!(controller.window().0, f64::from(expected));
    }
    bench.ack(&mut controller);
    assert_eq!(controller.window().0, 13.0);
}

/// [NDNSIM]: AIMD and CUBIC; CUBIC keeps what it is told to keep of the flight.
#[test]
fn the_window_can_move_otherwise() {
    let (mut bench, mut controller) = consumer(&Params { window: Window::Aimd, ..Params::default() }, 40);
    event(&mut bench, &mut controller, Cause::Mark, true);
    bench.ack(&mut controller);
    assert_eq!(controller.window().0, 20.05);
    let (mut bench, mut controller) =
        consumer(&Params { window: Window::Cubic, beta: 0.8, ..Params::default() }, 40);
    event(&mut bench, &mut controller, Cause::Mark, true);
    assert_eq!(controller.window().0, 32.0);
    bench.ack(&mut controller);
    assert!(controller.window().0 > 32.0 && controller.window().0 < 32.5, "{}", controller.window().0);
    assert_eq!(controller.ssthresh(), Bytes::new(32_000));
}

/// Each Interest looks at the shares of the three next hops, each mark changes three.
#[test]
fn operations_of_a_choice_and_of_a_mark_are_one_for_each_next_hop() {
    let (mut node, mut controller) = node(&Params { probing: 0.0, ..Params::default() });
    let first = node.interest(&mut controller, 1, CONSUMER);
    node.interest(&mut controller, 2, CONSUMER);
    assert_eq!(controller.operations(), 6);
    node.data_with(&mut controller, first, FAR, mark);
    assert_eq!(controller.operations(), 9);
    node.data_with(&mut controller, first, FAR, |_| ());
    assert_eq!(controller.operations(), 9, "Data without a mark cost nothing");
}
