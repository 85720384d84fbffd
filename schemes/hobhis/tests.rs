//! One test per claim about HoBHIS. The upstream link has 10 Mbit/s, the downstream link 1 Mbit/s; Data have 1000
//! bytes, Interests 50.

use contract::{
    Admission, Backlog, Cause, Congestion, CongestionControl, FaceId, InterestQueueId, Label, LinkAlgorithm,
    NackReason, Name, NameId,
};
use units::{Bytes, Duration, Rate, Time};

use super::router::{Gap, gap};
use super::{Params, QueuePer, Shaper, WhenFull, control, link};
use crate::shared::forwarders::{LinkBench, Outcome, faces};
use crate::shared::testing::{Bench, setup};

/// Towards the producers.
const UP: FaceId = FaceId(0);
/// Towards the consumers.
const DOWN: FaceId = FaceId(1);
/// An endpoint on the node.
const HERE: FaceId = FaceId(2);
/// `/a` and `/b`.
const CONTENTS: [NameId; 2] = [NameId(1), NameId(3)];

fn name(content: usize, segment: u64) -> Name {
    Name { prefix: CONTENTS[content], segment }
}

fn shaper(params: &Params) -> (LinkBench, Shaper) {
    let mut node = LinkBench::new(faces(2, Rate::from_mbps(10), 1));
    node.link(DOWN).rate = Rate::from_mbps(1);
    (node, link(params, &setup(1)))
}

/// One Interest of a content goes up and its Data come back after 100 ms; nothing waits.
fn greet(node: &mut LinkBench, controller: &mut Shaper, content: usize) {
    node.interest(controller, name(content, 1000), DOWN, UP);
    node.run(controller, node.now + Duration::from_millis(1));
    let left = node.outcomes.last().map(|outcome| match outcome {
        Outcome::Released(at, _) | Outcome::Refused(at, _, _) => *at,
    });
    node.run(controller, left.expect("it was held") + Duration::from_millis(100));
    node.data(controller, name(content, 1000), UP, DOWN);
    node.link(DOWN).backlog = Backlog::default();
}

/// Data of these contents wait in the queue down.
fn fill(node: &mut LinkBench, controller: &mut Shaper, counts: [u32; 2]) {
    for (content, count) in counts.into_iter().enumerate() {
        for segment in 0..count {
            node.data(controller, name(content, 2000 + u64::from(segment)), UP, DOWN);
            let backlog = &mut node.link(DOWN).backlog;
            backlog.packets += 1;
            backlog.bytes = Bytes::new(1000) * u64::from(backlog.packets);
        }
    }
}

fn rate(node: &mut LinkBench, controller: &mut Shaper, content: u32) -> f64 {
    controller.rate(content, 0.7, None, node).0
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

/// [HOBHIS]: no gap from the link's own rate on, 1/γ below it, none to be had at a negative rate.
#[test]
fn the_gap_is_one_over_the_rate() {
    let longest = Duration::from_millis(100);
    assert_eq!(gap(25_000.0, 25_000.0, longest), Gap::None);
    assert_eq!(gap(400.0, 25_000.0, longest), Gap::Of(Duration::from_micros(2500)));
    assert_eq!(gap(1.0, 25_000.0, longest), Gap::Of(longest));
    assert_eq!(gap(0.0, 25_000.0, longest), Gap::Closed);
    assert_eq!(gap(-35.0, 25_000.0, longest), Gap::Closed);
}

/// [HOBHIS]: before the first Data γ = 10⁶/(8·40) = 3125 Interests/s, so the first waits for 320 µs.
#[test]
fn before_the_first_data_interests_go_at_the_rate_of_interests() {
    let (mut node, mut controller) = shaper(&Params::default());
    let begun = node.now;
    assert_eq!(node.interest(&mut controller, name(0, 0), DOWN, UP), Admission::Hold(InterestQueueId(0)));
    node.run(&mut controller, begun + Duration::from_millis(1));
    assert_eq!(node.outcomes, [Outcome::Released(begun + Duration::from_micros(320), name(0, 0))]);
    assert_eq!(controller.wake(), Time::NEVER);
    // a downstream link no slower than the upstream one leaves them alone
    node.link(DOWN).rate = Rate::from_mbps(10);
    assert_eq!(node.interest(&mut controller, name(0, 1), DOWN, UP), Admission::Pass);
}

/// [RF12]: c/(8·S) = 10⁶/8000 = 125/s. Empty queue: 125 + 0.7·60/0.1 = 545. With 20: 125 + 0.7·40/0.1 = 405. At the
/// target of 60: 125. With 80: 125 − 140 = −15.
#[test]
fn the_rate_leads_the_queue_to_its_target() {
    let (mut node, mut controller) = shaper(&Params::default());
    greet(&mut node, &mut controller, 0);
    close(rate(&mut node, &mut controller, 0), 545.0);
    for (more, expected) in [(20, 405.0), (40, 125.0), (20, -15.0)] {
        fill(&mut node, &mut controller, [more, 0]);
        close(rate(&mut node, &mut controller, 0), expected);
    }
}

/// [HOBHIS]: of 20 Data of one conversation and 60 of another the first has a target of 60·20/80 = 15: 125 + 0.7·(15 −
/// 20)/0.1 = 90, and the other one of 45: 125 + 0.7·(45 − 60)/0.1 = 20.
#[test]
fn conversations_share_the_target_as_they_share_the_queue() {
    let (mut node, mut controller) = shaper(&Params::default());
    greet(&mut node, &mut controller, 0);
    greet(&mut node, &mut controller, 1);
    fill(&mut node, &mut controller, [20, 60]);
    close(rate(&mut node, &mut controller, 0), 90.0);
    close(rate(&mut node, &mut controller, 1), 20.0);
}

/// [HOBHIS]: 0.8 on the new sample: 100 ms, then 200 ms: A = 180 ms, 125 + 0.7·60/0.18 = 358.33.
#[test]
fn the_newest_delay_counts_four_fifths() {
    let (mut node, mut controller) = shaper(&Params::default());
    greet(&mut node, &mut controller, 0);
    node.interest(&mut controller, name(0, 1), DOWN, UP);
    node.run(&mut controller, node.now + Duration::from_millis(2));
    let Outcome::Released(at, _) = node.outcomes[1] else { panic!("{:?}", node.outcomes) };
    node.run(&mut controller, at + Duration::from_millis(200));
    node.data(&mut controller, name(0, 1), UP, DOWN);
    node.link(DOWN).backlog = Backlog::default();
    close(rate(&mut node, &mut controller, 0), 125.0 + 0.7 * 60.0 / 0.18);
}

/// [HOBHIS]: looked at every 0.1 ms; once 80 Data have become 70, γ = 125 − 70 = 55/s, and the Interest goes 1/55 s
/// later.
#[test]
fn a_full_queue_stops_interests_until_it_drains() {
    let (mut node, mut controller) = shaper(&Params::default());
    greet(&mut node, &mut controller, 0);
    fill(&mut node, &mut controller, [80, 0]);
    node.outcomes.clear();
    let begun = node.now;
    node.interest(&mut controller, name(0, 1), DOWN, UP);
    assert_eq!(controller.wake(), begun + Duration::from_micros(100));
    node.run(&mut controller, begun + Duration::from_micros(9950));
    assert_eq!(node.outcomes, []);
    node.link(DOWN).backlog.packets = 70;
    node.run(&mut controller, begun + Duration::from_millis(40));
    let gone = begun + Duration::from_millis(10) + Duration::from_secs_f64(1.0 / 55.0);
    assert_eq!(node.outcomes, [Outcome::Released(gone, name(0, 1))]);
}

#[test]
fn a_full_line_drops_or_refuses() {
    for (when_full, expected) in
        [(WhenFull::Drop, Admission::Drop), (WhenFull::Nack, Admission::Refuse(NackReason::Congestion))]
    {
        let (mut node, mut controller) = shaper(&Params { queue_limit: 2, when_full, ..Params::default() });
        for segment in 0..2 {
            assert_eq!(
                node.interest(&mut controller, name(0, segment), DOWN, UP),
                Admission::Hold(InterestQueueId(0))
            );
        }
        assert_eq!(node.interest(&mut controller, name(1, 0), DOWN, UP), expected);
    }
}

/// A line for each conversation: 1/3125 s and 1/3125 s at once, not one after the other.
#[test]
fn conversations_wait_behind_each_other_in_one_line_only() {
    let when = |queue_per| {
        let (mut node, mut controller) = shaper(&Params { queue_per, ..Params::default() });
        let begun = node.now;
        node.interest(&mut controller, name(0, 0), DOWN, UP);
        node.interest(&mut controller, name(1, 0), DOWN, UP);
        node.run(&mut controller, begun + Duration::from_millis(2));
        let Outcome::Released(at, last) = node.outcomes[1] else { panic!("{:?}", node.outcomes) };
        assert_eq!(last, name(1, 0));
        at - begun
    };
    assert_eq!(when(QueuePer::Conversation), Duration::from_micros(320));
    // the second after 1/(10⁶/(8·50)) = 400 µs more, for the first has shown the size of an Interest
    assert_eq!(when(QueuePer::Link), Duration::from_micros(720));
}

/// [HOBHIS]
#[test]
fn clients_do_not_shape() {
    let (mut node, mut controller) = shaper(&Params::default());
    for segment in 0..10 {
        assert_eq!(node.interest(&mut controller, name(0, segment), HERE, UP), Admission::Pass);
    }
}

/// With h = 0.05, one conversation, nothing waits: 125 + 0.05·60/0.1 = 155 Data/s are 1.24 Mbit/s. Of two, each with
/// half of both: 62.5 + 0.05·30/0.1 = 77.5/s are 620 kbit/s. What another router wrote stays if it is less.
#[test]
fn data_carry_the_minimum_rate_of_the_path() {
    let (mut node, mut controller) = shaper(&Params::default());
    let written = |node: &mut LinkBench, controller: &mut Shaper, content: usize, before: u64| {
        node.interest(controller, name(content, 1), DOWN, UP);
        node.run(controller, node.now + Duration::from_millis(20));
        let mut packet = crate::shared::forwarders::data(name(content, 1));
        packet.label = Label([before, 0, 0, 0]);
        let path = contract::ReturnPath { from: UP, rtt: None, note: content as u32 + 1, hops: 1 };
        controller.on_data_in(&mut packet, &path, node);
        packet.label.0[0]
    };
    greet(&mut node, &mut controller, 0);
    assert_eq!(written(&mut node, &mut controller, 0, 0), 1_240_000);
    assert_eq!(written(&mut node, &mut controller, 0, 9_000_000), 1_240_000);
    assert_eq!(written(&mut node, &mut controller, 0, 1_000_000), 1_000_000);
    greet(&mut node, &mut controller, 1);
    assert_eq!(written(&mut node, &mut controller, 0, 0), 620_000);
}

#[test]
fn a_client_follows_the_rate_it_hears() {
    let mut bench = Bench::new();
    let mut controller = control(&Params::default(), &setup(1));
    let receive = |controller: &mut super::Client, bench: &mut Bench, bps: u64| {
        let mut ack = bench.an_ack(controller);
        ack.label = Label([bps, 0, 0, 0]);
        bench.deliver_ack(controller, &ack);
        controller.allowance().rate
    };
    assert_eq!(controller.allowance().rate, Rate::from_mbps(1));
    assert_eq!(receive(&mut controller, &mut bench, 0), Rate::from_mbps(1));
    assert_eq!(receive(&mut controller, &mut bench, 4_360_000), Rate::from_bps(4_360_000));
    assert_eq!(receive(&mut controller, &mut bench, 1), Rate::from_kbps(20));
    assert_eq!(receive(&mut controller, &mut bench, 4_360_000), Rate::from_bps(4_360_000));
    let silence =
        Congestion { cause: Cause::Timeout, bytes: Bytes::new(1000), in_flight: Bytes::ZERO, first: true };
    controller.on_congestion(&silence, &mut bench.cx());
    assert_eq!(controller.allowance().rate, Rate::from_mbps(1));

    let mut controller = control(&Params { client: false, ..Params::default() }, &setup(1));
    assert_eq!(receive(&mut controller, &mut bench, 4_360_000), Rate::from_mbps(1));
}
