use contract::{
    Branch, Count, FeedbackTarget, GroupMessage, RESOLVED, Registration, Report, RouterAlgorithm, RouterCx,
    StreamHeader,
};

use super::*;
use crate::icn::{GroupPart, Router};

/// A part that sends given messages, at a report or when its timer expires.
#[derive(Default)]
pub(super) struct Observed {
    pub(super) received: Vec<(Address, Time, Label, usize)>,
    /// Of the last report.
    pub(super) neighbours: Vec<GroupId>,
    pub(super) words: Vec<GroupMessage>,
    pub(super) alarm: Option<Time>,
}

impl Observed {
    fn send_report(&mut self, cx: &mut RouterCx<'_, '_, '_>) {
        for word in self.words.drain(..) {
            match word.target {
                FeedbackTarget::Parent => cx.report(word.group, word.label),
                FeedbackTarget::Source => cx.notify(word.group, word.label),
            }
        }
    }
}

impl RouterAlgorithm for Observed {
    fn on_report(&mut self, report: &Report<'_>, cx: &mut RouterCx<'_, '_, '_>) {
        self.received.push((report.from, report.sent_at, report.label, report.entry.branches.len()));
        self.neighbours = report.neighbours.to_vec();
        self.send_report(cx);
    }
    fn on_timer(&mut self, cx: &mut RouterCx<'_, '_, '_>) {
        self.alarm = None;
        self.send_report(cx);
    }
    fn wake(&self) -> Time {
        self.alarm.unwrap_or(Time::NEVER)
    }
}

/// A router with one group, whose scheme has a part in routers or none.
pub(super) fn fresh(with_part: bool) -> (TestBench, Router<Observed>) {
    let row = GroupPart { part: with_part.then_some(0), feedback: Bytes::new(40) };
    (TestBench::new(), Router::new(&config(), NRS, vec![Observed::default()], vec![row]))
}

fn node(number: u32, cost: u64) -> Registration {
    Registration { at: address(number), cost }
}

fn resolved(known: &[Registration]) -> Signal {
    let mut nodes = [Registration::default(); RESOLVED];
    nodes[..known.len()].copy_from_slice(known);
    Signal::Resolved { group: G, count: known.len() as u8, nodes }
}

fn resolve() -> Signal {
    Signal::Resolve { group: G, gumgid: NAME }
}

fn register(cost: u64) -> Signal {
    Signal::Register { gumgid: NAME, node: Registration { at: ME, cost } }
}

const WITHDRAW: Signal = Signal::Withdraw { gumgid: NAME };
const PUBLISH: Signal = Signal::Publish { group: G, gumgid: NAME };

/// A router on the tree since 0 s: its parent is node 2, the root, at a cost of 2; its children are given.
fn joined(with_part: bool, children: &[u32]) -> (TestBench, Router<Observed>) {
    let (mut bed, mut router) = fresh(with_part);
    for &child in children {
        bed.receive(&mut router, address(child), child, join());
    }
    bed.run(&mut router, Time::ZERO);
    bed.receive(&mut router, NRS, 9, resolved(&[node(2, 0)]));
    bed.receive(&mut router, address(2), 2, accepted());
    bed.messages();
    (bed, router)
}

/// Children, by number.
fn children(router: &Router<Observed>) -> Vec<u32> {
    let branches = router.entry(G).map_or(&[][..], |entry| entry.branches);
    branches.iter().map(|branch| branch.child.node.0).collect()
}

fn data(bed: &mut TestBench, router: &mut Router<Observed>, port: u32) -> Option<DropReason> {
    let packet = packet(
        SOURCE,
        Header::Stream(StreamHeader { seq: 7, bytes_before: 7000, ..StreamHeader::default() }),
    );
    bed.handle(router, RouterInput::Packet(&packet, PortId(port)))
}

fn feedback(bed: &mut TestBench, router: &mut Router<Observed>, from: u32) -> Vec<SentMessage> {
    let packet = Packet {
        size_bytes: 40,
        sent_at: at_ms(3),
        label: Label([1, 2, 3, 4]),
        ..packet(address(from), Header::Feedback)
    };
    assert_eq!(bed.handle(router, RouterInput::Packet(&packet, PortId(from))), None);
    bed.messages()
}

#[test]
fn one_join_goes_up_for_many_children() {
    let (mut bed, mut router) = fresh(false);
    let many: Vec<u32> = (20..70).collect();
    for &child in &many {
        bed.receive(&mut router, address(child), child, join());
    }
    assert_eq!(bed.signals(), [], "nothing is said before its time");
    let messages = bed.run(&mut router, Time::ZERO);
    assert_eq!((messages.len(), messages[0].1.to(), messages[0].1.signal()), (1, NRS.node, resolve()));
    bed.receive(&mut router, NRS, 9, resolved(&[node(2, 0)]));
    assert_eq!(bed.signals(), [(2, join())]);
    bed.now = at_ms(30);
    bed.receive(&mut router, address(2), 2, accepted());
    let messages = bed.messages();
    let (to_children, up) = messages.split_at(many.len());
    for (messages, &child) in to_children.iter().zip(&many) {
        assert_eq!(
            (messages.to().0, messages.port, messages.signal()),
            (child, Some(PortId(child)), accepted())
        );
    }
    assert_eq!((up.len(), up[0].to(), up[0].signal()), (1, NRS.node, register(3)));
    // a later member costs an answer
    bed.receive(&mut router, address(70), 70, join());
    assert_eq!(bed.signals(), [(70, accepted())]);
    assert_eq!(bed.meter.count(Count::Signals), 1 + 1 + 51 + 1);
}

#[test]
fn a_refresh_renews_three_states_and_is_repeated_sooner_without_an_answer() {
    let (mut bed, mut router) = joined(false, &[3]);
    let messages = bed.run(&mut router, at_ms(5000));
    let signals: Vec<_> =
        messages.iter().map(|(at, messages)| (*at, messages.to().0, messages.signal())).collect();
    assert_eq!(
        signals,
        [(at_ms(5000), 2, join()), (at_ms(5000), 9, resolve()), (at_ms(5000), 9, register(3))]
    );
    let messages = bed.run(&mut router, at_ms(8000));
    let times: Vec<_> = messages
        .iter()
        .filter(|(_, messages)| messages.signal() == join())
        .map(|messages| messages.0)
        .collect();
    assert_eq!(times, [at_ms(5500), at_ms(6500)]);
    bed.receive(&mut router, address(2), 2, accepted());
    assert_eq!(bed.run(&mut router, at_ms(12_999)).len(), 0);
}

#[test]
fn data_is_copied_for_each_branch_and_only_from_the_interface_of_the_table() {
    let (mut bed, mut router) = fresh(false);
    assert_eq!(data(&mut bed, &mut router, 2), Some(DropReason::NoRoute), "there is no entry");
    bed.receive(&mut router, address(3), 3, join());
    assert_eq!(data(&mut bed, &mut router, 2), Some(DropReason::NoRoute), "it is not on the tree");
    let (mut bed, mut router) = joined(false, &[3, 4]);
    assert_eq!(data(&mut bed, &mut router, 4), Some(DropReason::NoRoute), "that is a way down");
    assert_eq!(bed.messages().len(), 0);
    assert_eq!(data(&mut bed, &mut router, 2), None);
    let messages = bed.messages();
    assert_eq!(
        messages.iter().map(|messages| (messages.port, messages.to().0)).collect::<Vec<_>>(),
        [(Some(PortId(3)), 3), (Some(PortId(4)), 4)]
    );
    for SentMessage { packet, .. } in messages {
        assert_eq!(
            (packet.source, packet.sent_at, packet.size_bytes, packet.hops),
            (SOURCE, Time::ZERO, 1000, 3)
        );
        assert!(matches!(packet.header, Header::Stream(StreamHeader { seq: 7, .. })));
    }
    // a root without branches has no destination
    let (mut bed, mut router) = fresh(false);
    bed.receive(&mut router, SOURCE, 80, PUBLISH);
    bed.messages();
    assert_eq!(data(&mut bed, &mut router, 80), Some(DropReason::NotListening));
}

#[test]
fn a_child_that_leaves_takes_the_last_branch_with_it() {
    let (mut bed, mut router) = joined(false, &[3, 4]);
    bed.receive(&mut router, address(5), 5, leave());
    bed.receive(&mut router, address(3), 3, leave());
    assert_eq!((bed.signals(), children(&router)), (vec![], vec![4]));
    bed.receive(&mut router, address(4), 4, leave());
    assert_eq!(bed.signals(), [(2, leave()), (9, WITHDRAW)]);
    assert_eq!(router.groups(), 0);
    assert_eq!((bed.run(&mut router, at_ms(60_000)).len(), router.wake()), (0, Time::NEVER));
}

#[test]
fn a_leave_cancels_a_pending_join() {
    let (mut bed, mut router) = fresh(false);
    bed.receive(&mut router, address(3), 3, join());
    bed.run(&mut router, Time::ZERO);
    bed.receive(&mut router, NRS, 9, resolved(&[node(2, 0)]));
    bed.messages();
    bed.receive(&mut router, address(3), 3, leave());
    assert_eq!((bed.signals(), router.groups()), (vec![], 0));
    // the parent does not know yet
    bed.receive(&mut router, address(2), 2, accepted());
    assert_eq!(bed.signals(), [(2, leave())]);
    assert_eq!((router.groups(), bed.run(&mut router, at_ms(60_000)).len()), (0, 0));
}

#[test]
fn a_silent_child_expires() {
    let (mut bed, mut router) = joined(false, &[3, 4]);
    for second in [5, 10, 15] {
        bed.run(&mut router, at_ms(second * 1000));
        bed.receive(&mut router, address(4), 4, join());
        bed.receive(&mut router, address(2), 2, accepted());
    }
    bed.run(&mut router, at_ms(STATE_LIFETIME_MS - 1));
    assert_eq!(children(&router), [3, 4]);
    bed.run(&mut router, at_ms(STATE_LIFETIME_MS));
    assert_eq!(children(&router), [4]);
    let messages = bed.run(&mut router, at_ms(15_000 + STATE_LIFETIME_MS));
    assert_eq!(
        messages.iter().filter(|(_, messages)| messages.signal() == leave()).count(),
        1,
        "it left the tree"
    );
    assert_eq!((router.groups(), router.wake()), (0, Time::NEVER), "nothing is kept of it");
}

#[test]
fn a_silent_parent_is_abandoned() {
    let (mut bed, mut router) = joined(false, &[3]);
    for second in [5, 10, 15] {
        bed.run(&mut router, at_ms(second * 1000));
        bed.receive(&mut router, address(3), 3, join());
    }
    assert_eq!(data(&mut bed, &mut router, 2), None);
    bed.messages();
    let messages = bed.run(&mut router, at_ms(STATE_LIFETIME_MS));
    let signals: Vec<_> = messages.iter().map(|(_, messages)| (messages.to().0, messages.signal())).collect();
    assert_eq!(signals, [(2, leave()), (9, resolve())]);
    assert_eq!(data(&mut bed, &mut router, 2), Some(DropReason::NoRoute));
    bed.receive(&mut router, address(2), 2, accepted());
    assert_eq!(bed.meter.count(Count::Ignored), 1, "that is of before");
    // the child queries and gets no answer until there is a path to the root again
    bed.receive(&mut router, address(3), 3, join());
    assert_eq!(bed.signals(), []);
    bed.receive(&mut router, NRS, 9, resolved(&[node(2, 0)]));
    bed.receive(&mut router, address(2), 2, accepted());
    assert_eq!(bed.signals(), [(3, accepted()), (2, join()), (9, register(3))]);
}

#[test]
fn a_possible_descendant_is_not_joined() {
    // no parent since STATE_LIFETIME_MS; this node cost 3
    let lost = || {
        let (mut bed, mut router) = joined(false, &[3]);
        for second in [5, 10, 15] {
            bed.run(&mut router, at_ms(second * 1000));
            bed.receive(&mut router, address(3), 3, join());
        }
        bed.run(&mut router, at_ms(STATE_LIFETIME_MS));
        (bed, router)
    };
    let joins = |known: &[Registration]| {
        let (mut bed, mut router) = lost();
        bed.receive(&mut router, NRS, 9, resolved(known));
        bed.signals()
    };
    assert_eq!(joins(&[node(7, 3), node(8, 4)]), [], "they cost no less than this node did");
    assert_eq!(joins(&[node(7, 2), node(8, 4)]), [(7, join())]);
    assert_eq!(joins(&[node(3, 4), node(1, 0)]), [], "its child, and itself");
    assert_eq!(joins(&[node(3, 2)]), [(3, join())], "no child any more: it found a better way");
    assert_eq!(joins(&[]), []);
    // after twice the lifetime all nodes below it have given up as well
    let (mut bed, mut router) = lost();
    for (at, expected) in [(STATE_LIFETIME_MS * 3 - 1, vec![]), (STATE_LIFETIME_MS * 3, vec![(7, join())])] {
        while bed.now < at_ms(at) {
            let next = (bed.now + ms(5000)).min(at_ms(at));
            bed.run(&mut router, next);
            bed.receive(&mut router, address(3), 3, join());
        }
        bed.messages();
        bed.receive(&mut router, NRS, 9, resolved(&[node(7, 4), node(3, 1000)]));
        assert_eq!(bed.signals(), expected);
    }
}

#[test]
fn the_root_is_joined_where_it_is_known_and_the_best_of_the_others_elsewhere() {
    let joins = |known: &[Registration], costs: &[(NodeId, Option<u64>)]| {
        let (mut bed, mut router) = fresh(false);
        bed.around.costs = costs.to_vec();
        bed.receive(&mut router, address(3), 3, join());
        bed.run(&mut router, Time::ZERO);
        bed.receive(&mut router, NRS, 9, resolved(known));
        bed.signals()
    };
    // the cost in 5's message may be old
    assert_eq!(joins(&[node(30, 0), node(5, 1)], &[]), [(30, join())]);
    assert_eq!(joins(&[node(30, 0), node(5, 1)], &[(NodeId(30), None)]), [(5, join())]);
    assert_eq!(joins(&[node(5, 10), node(7, 7)], &[]), [(7, join())]);
    assert_eq!(
        joins(&[node(5, 10), node(6, 9)], &[]),
        [(5, join())],
        "of equals the one of the lesser address"
    );
    assert_eq!(joins(&[node(3, 1), node(1, 0)], &[]), [], "its child, and itself");
    assert_eq!(joins(&[node(3, 0)], &[]), [(3, join())], "no root hangs from anybody");
}

#[test]
fn a_better_path_is_used_from_the_next_refresh() {
    let (mut bed, mut router) = fresh(false);
    bed.receive(&mut router, address(3), 3, join());
    bed.run(&mut router, Time::ZERO);
    bed.receive(&mut router, NRS, 9, resolved(&[node(7, 5)]));
    bed.receive(&mut router, address(7), 7, accepted());
    bed.messages();
    // those with a higher cost are ignored, since they may be below this one; its own path up may have a higher cost
    // now
    bed.receive(&mut router, NRS, 9, resolved(&[node(6, 13)]));
    bed.receive(&mut router, NRS, 9, resolved(&[node(6, 13), node(7, 20)]));
    let joins = |messages: Vec<(Time, SentMessage)>| -> Vec<u32> {
        messages
            .iter()
            .filter(|(_, messages)| messages.signal() == join())
            .map(|(_, messages)| messages.to().0)
            .collect()
    };
    let messages = bed.run(&mut router, at_ms(5000));
    assert_eq!(messages.last().map(|(_, messages)| messages.signal()), Some(register(28)));
    assert_eq!(joins(messages), [7]);
    bed.receive(&mut router, address(7), 7, accepted());
    bed.receive(&mut router, NRS, 9, resolved(&[node(2, 0)]));
    assert_eq!(bed.signals(), []);
    assert_eq!(joins(bed.run(&mut router, at_ms(10_000))), [2]);
}

#[test]
fn the_accepting_router_replaces_the_old_parent() {
    let (mut bed, mut router) = joined(false, &[3, 4]);
    bed.receive(&mut router, address(8), 8, accepted());
    assert_eq!(bed.signals(), [(2, leave())]);
    assert_eq!(data(&mut bed, &mut router, 2), Some(DropReason::NoRoute));
    assert_eq!(data(&mut bed, &mut router, 8), None);
    assert_eq!(bed.messages().len(), 2);
    // the same parent, by another interface
    bed.receive(&mut router, address(8), 6, accepted());
    assert_eq!(bed.signals(), []);
    assert_eq!(router.entry(G).and_then(|entry| entry.incoming), Some(PortId(6)));
}

#[test]
fn a_join_from_the_parent_ends_its_role_as_parent() {
    let (mut bed, mut router) = joined(false, &[3]);
    bed.now = at_ms(100);
    bed.receive(&mut router, address(2), 2, join());
    assert_eq!(bed.signals(), [(2, leave())]);
    assert_eq!(children(&router), [2, 3]);
    assert_eq!(data(&mut bed, &mut router, 2), Some(DropReason::NoRoute));
    let messages = bed.run(&mut router, at_ms(100));
    assert_eq!((messages.len(), messages[0].1.signal()), (1, resolve()));
    // node 2 costs less and is a child: it is nearer to the root, or claims to be
    bed.receive(&mut router, NRS, 9, resolved(&[node(6, 1)]));
    bed.receive(&mut router, address(6), 6, accepted());
    assert_eq!(bed.signals(), [(2, accepted()), (6, join()), (9, register(8))]);
    assert_eq!(data(&mut bed, &mut router, 6), None);
    assert_eq!(bed.messages().len(), 2, "the child that was there, and the parent that was");
}

#[test]
fn crossing_joins_form_no_loop() {
    // both are on the tree: the other one is a child of this node, and this node is not to be its child
    let (mut bed, mut router) = joined(false, &[3, 4]);
    bed.receive(&mut router, address(3), 3, accepted());
    assert_eq!(bed.signals(), [(3, Signal::Leave { group: G })]);
    assert_eq!(children(&router), [3, 4]);
    // this node is not: so the other one has found another path
    let (mut bed, mut router) = fresh(false);
    bed.receive(&mut router, address(3), 3, join());
    bed.receive(&mut router, address(4), 4, join());
    bed.run(&mut router, Time::ZERO);
    bed.receive(&mut router, NRS, 9, resolved(&[node(2, 0)]));
    bed.receive(&mut router, address(3), 3, accepted());
    assert_eq!(bed.signals(), [(4, accepted()), (2, join()), (9, register(3))]);
    assert_eq!(children(&router), [4]);
    // and if there is no other child, nothing remains to be done
    let (mut bed, mut router) = fresh(false);
    bed.receive(&mut router, address(3), 3, join());
    bed.run(&mut router, Time::ZERO);
    bed.receive(&mut router, NRS, 9, resolved(&[node(2, 0)]));
    bed.messages();
    bed.receive(&mut router, address(3), 3, accepted());
    assert_eq!(bed.signals().last(), Some(&(9, WITHDRAW)));
    assert_eq!(router.groups(), 0);
}

#[test]
fn an_answer_that_comes_after_the_retry_counts() {
    let (mut bed, mut router) = fresh(false);
    bed.receive(&mut router, address(3), 3, join());
    bed.run(&mut router, Time::ZERO);
    bed.receive(&mut router, NRS, 9, resolved(&[node(2, 0)]));
    let messages = bed.run(&mut router, at_ms(4000));
    let joins: Vec<_> = messages
        .iter()
        .filter(|(_, messages)| messages.signal() == join())
        .map(|messages| messages.0)
        .collect();
    assert_eq!(joins, [0, 500, 1500, 3500].map(at_ms), "a slow link is not asked faster than it answers");
    bed.receive(&mut router, address(2), 2, accepted());
    assert_eq!(bed.signals(), [(3, accepted()), (9, register(3))]);
}

#[test]
fn the_sources_router_is_the_root() {
    let (mut bed, mut router) = fresh(false);
    bed.receive(&mut router, address(3), 3, join());
    bed.run(&mut router, Time::ZERO);
    bed.receive(&mut router, SOURCE, 80, PUBLISH);
    assert_eq!(bed.signals(), [(3, accepted()), (80, accepted()), (9, register(0))]);
    assert_eq!(data(&mut bed, &mut router, 80), None);
    assert_eq!(bed.messages().len(), 1);
    // if repeated, it is answered; the registration has a separate timer
    bed.run(&mut router, at_ms(4000));
    bed.receive(&mut router, SOURCE, 80, PUBLISH);
    assert_eq!(bed.signals(), [(80, accepted())]);
    let messages = bed.run(&mut router, at_ms(9999));
    assert_eq!(
        messages.iter().map(|(at, messages)| (*at, messages.signal())).collect::<Vec<_>>(),
        [(at_ms(5000), register(0))]
    );
    // no message can make a root a branch
    bed.receive(&mut router, address(7), 7, accepted());
    assert_eq!(bed.signals(), [(7, leave())]);
    bed.receive(&mut router, NRS, 9, resolved(&[node(2, 0)]));
    assert_eq!((bed.signals(), bed.meter.count(Count::Ignored)), (vec![], 1));
    // only the source can stop the group
    bed.receive(&mut router, address(3), 3, Signal::Unpublish { group: G });
    assert_eq!(bed.signals(), []);
    bed.receive(&mut router, SOURCE, 80, Signal::Unpublish { group: G });
    assert_eq!(bed.signals(), [(9, WITHDRAW)]);
    assert_eq!(data(&mut bed, &mut router, 80), Some(DropReason::NoRoute));
}

#[test]
fn a_root_with_a_silent_source_stops_being_root() {
    let (mut bed, mut router) = fresh(false);
    bed.receive(&mut router, SOURCE, 80, PUBLISH);
    bed.run(&mut router, at_ms(STATE_LIFETIME_MS - 1));
    assert_eq!(router.groups(), 1);
    let messages = bed.run(&mut router, at_ms(STATE_LIFETIME_MS));
    assert_eq!(messages.iter().map(|(_, messages)| messages.signal()).collect::<Vec<_>>(), [WITHDRAW]);
    assert_eq!((router.groups(), router.wake()), (0, Time::NEVER));
}

#[test]
fn a_node_of_the_tree_that_becomes_its_root_leaves_its_parent() {
    let (mut bed, mut router) = joined(false, &[3]);
    bed.receive(&mut router, SOURCE, 80, PUBLISH);
    assert_eq!(bed.signals(), [(80, accepted()), (2, leave()), (9, register(0))]);
}

#[test]
fn a_report_without_a_part_is_forwarded_unchanged() {
    let (mut bed, mut router) = joined(false, &[3]);
    assert_eq!(feedback(&mut bed, &mut router, 3).len(), 0, "it is not known yet who the source is");
    assert_eq!((bed.meter.count(Count::FeedbackReceived), bed.meter.count(Count::Ignored)), (1, 1));
    data(&mut bed, &mut router, 2);
    bed.messages();
    let messages = feedback(&mut bed, &mut router, 3);
    let [SentMessage { port: Some(PortId(80)), packet }] = messages[..] else { panic!("{messages:?}") };
    assert_eq!((packet.to, packet.source), (SOURCE.into(), address(3)));
    assert_eq!((packet.sent_at, packet.label, packet.size_bytes), (at_ms(3), Label([1, 2, 3, 4]), 40));
    assert!(matches!(packet.header, Header::Feedback));
    assert_eq!(bed.meter.count(Count::Feedback), 0, "it is not this node's");
}

#[test]
fn a_report_is_for_the_part_and_only_from_a_child() {
    let (mut bed, mut router) = joined(true, &[3, 4]);
    for from in [2, 5, 80] {
        assert_eq!(feedback(&mut bed, &mut router, from).len(), 0);
    }
    assert_eq!((bed.meter.count(Count::FeedbackReceived), bed.meter.count(Count::Ignored)), (3, 3));
    assert_eq!(feedback(&mut bed, &mut router, 4).len(), 0);
    assert_eq!(router.part(0).received, [(address(4), at_ms(3), Label([1, 2, 3, 4]), 2)]);
    assert_eq!((bed.meter.count(Count::FeedbackReceived), bed.meter.count(Count::Ignored)), (4, 3));
}

#[test]
fn a_report_names_the_groups_in_the_table_that_arrive_on_the_same_interface() {
    let row = GroupPart { part: Some(0), feedback: Bytes::new(40) };
    let mut bed = TestBench::new();
    let mut router = Router::new(&config(), NRS, vec![Observed::default()], vec![row; 4]);
    // two groups by port 80 and one by port 81; a fourth has no entry
    for (group, port) in [(0, 80), (1, 80), (2, 81)] {
        let publish = Signal::Publish { group: GroupId(group), gumgid: NAME };
        bed.receive(&mut router, SOURCE, port, publish);
    }
    bed.receive(&mut router, address(3), 3, join());
    feedback(&mut bed, &mut router, 3);
    assert_eq!(router.part(0).neighbours, [G, GroupId(1)]);
    bed.receive(&mut router, SOURCE, 80, Signal::Unpublish { group: GroupId(1) });
    feedback(&mut bed, &mut router, 3);
    assert_eq!(router.part(0).neighbours, [G]);
}

#[test]
fn a_part_sends_to_the_parent_and_to_the_source() {
    let (mut bed, mut router) = joined(true, &[3]);
    let word = |group, target, label| GroupMessage { group, target, label: Label([label; 4]) };
    let words = [
        word(G, FeedbackTarget::Parent, 1),
        word(G, FeedbackTarget::Source, 2),
        word(GroupId(9), FeedbackTarget::Parent, 3),
    ];
    router.part(0).words = words.to_vec();
    let messages = feedback(&mut bed, &mut router, 3);
    assert_eq!(
        messages.iter().map(|messages| messages.to().0).collect::<Vec<_>>(),
        [2],
        "the source is not known yet"
    );
    assert_eq!((bed.meter.count(Count::Feedback), bed.meter.count(Count::Ignored)), (1, 2));
    let Packet { source, size_bytes, label, flow, .. } = messages[0].packet;
    assert_eq!((source, size_bytes, label, flow), (ME, 40, Label([1; 4]), FlowId(G.0)));
    // after data it is; and a message may have its own time
    data(&mut bed, &mut router, 2);
    bed.messages();
    (router.part(0).words, router.part(0).alarm) = (words.to_vec(), Some(at_ms(70)));
    assert_eq!(router.wake(), at_ms(70));
    let messages = bed.run(&mut router, at_ms(70));
    assert_eq!(
        messages.iter().map(|(at, messages)| (*at, messages.to().0)).collect::<Vec<_>>(),
        [(at_ms(70), 2), (at_ms(70), 80)]
    );
    // at the root both are the source
    let (mut bed, mut router) = fresh(true);
    bed.receive(&mut router, SOURCE, 80, PUBLISH);
    bed.receive(&mut router, address(3), 3, join());
    bed.messages();
    router.part(0).words = words.to_vec();
    let messages = feedback(&mut bed, &mut router, 3);
    assert_eq!(messages.iter().map(|messages| messages.to().0).collect::<Vec<_>>(), [80, 80]);
}

#[test]
fn probes_are_sent_back_to_back_to_the_requester() {
    let (mut bed, mut router) = fresh(false);
    bed.receive(&mut router, address(3), 3, Signal::Probe { group: G, packets: 3 });
    let messages = bed.messages();
    for (index, messages) in messages.iter().enumerate() {
        assert_eq!((messages.to(), messages.packet.size_bytes), (NodeId(3), 1000));
        assert_eq!(messages.signal(), Signal::Probed { group: G, index: index as u8 });
    }
    assert_eq!((messages.len(), bed.meter.count(Count::Signals)), (3, 3));
}

#[test]
fn only_joins_in_transit_are_intercepted() {
    let (_, router) = fresh(false);
    let takes = |header| router.takes(&Packet { to: address(7).into(), ..packet(address(3), header) });
    assert!(takes(Header::Signal(join())));
    for signal in
        [leave(), PUBLISH, accepted(), resolve(), register(0), Signal::Probe { group: G, packets: 1 }]
    {
        assert!(!takes(Header::Signal(signal)), "{signal:?}");
    }
    assert!(!takes(Header::Feedback) && !takes(Header::Datagram { seq: 0 }));
}

#[test]
fn unknown_groups_are_ignored() {
    for number in [1, 2, u32::MAX] {
        let (mut bed, mut router) = joined(true, &[3]);
        let (group, gumgid) = (GroupId(number), Eid::of("nobody's"));
        let Signal::Resolved { nodes, .. } = resolved(&[node(2, 0)]) else { unreachable!("it is one") };
        let signals = [
            Signal::Publish { group, gumgid },
            Signal::Unpublish { group },
            Signal::Join { group, gumgid },
            Signal::Leave { group },
            Signal::Accepted { group },
            Signal::Resolve { group, gumgid },
            Signal::Resolved { group, count: 255, nodes },
            Signal::Probed { group, index: 255 },
            Signal::Register { gumgid, node: node(4, 1) },
            Signal::Withdraw { gumgid },
        ];
        signals.into_iter().for_each(|signal| bed.receive(&mut router, address(3), 3, signal));
        let stream = Header::Stream(StreamHeader::default());
        let other = |header| Packet { flow: FlowId(number), ..packet(address(3), header) };
        let fate = bed.handle(&mut router, RouterInput::Packet(&other(stream), PortId(3)));
        assert_eq!(fate, Some(DropReason::NoRoute));
        let fate = bed.handle(&mut router, RouterInput::Packet(&other(Header::Feedback), PortId(3)));
        assert_eq!(fate, None);
        assert_eq!((bed.messages().len(), router.groups(), children(&router)), (0, 1, vec![3]));
        let fate =
            bed.handle(&mut router, RouterInput::Packet(&other(Header::Datagram { seq: 0 }), PortId(3)));
        assert_eq!(fate, Some(DropReason::NotListening));
    }
}

#[test]
fn an_entry_shows_where_packets_come_from_and_go() {
    let (_, router) = joined(false, &[4, 3]);
    let entry = router.entry(G).expect("it is on the tree");
    let branch = |number| Branch { port: PortId(number), child: address(number) };
    assert_eq!((entry.incoming, entry.branches), (Some(PortId(2)), &[branch(3), branch(4)][..]));
    assert_eq!(router.entry(GroupId(u32::MAX)).map(|entry| entry.branches.len()), None);
}
