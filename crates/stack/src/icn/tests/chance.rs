//! Random signals to a router: its table stays consistent, and its deadlines stay in the future.

use contract::{FeedbackTarget, GroupMessage, RESOLVED, Registration, StreamHeader};
use proptest::prelude::*;

use super::router::Observed;
use super::*;
use crate::icn::{GroupPart, Router};

#[derive(Clone, Debug)]
enum Step {
    Signal(Signal),
    Data,
    Feedback,
    /// A part requests a message at once.
    GroupMessage(GroupMessage),
    Wait(Duration),
}

/// Groups 0 and 1 are known, others are not.
fn group() -> impl Strategy<Value = GroupId> {
    prop_oneof![8 => (0u32..2).prop_map(GroupId), 1 => Just(GroupId(2)), 1 => Just(GroupId(u32::MAX))]
}

fn registration() -> impl Strategy<Value = Registration> {
    let cost = prop_oneof![0u64..20, Just(u64::MAX)];
    (0u32..8, cost).prop_map(|(node, cost)| Registration { at: address(node), cost })
}

fn signal() -> impl Strategy<Value = Signal> {
    let gumgid = NAME;
    prop_oneof![
        1 => group().prop_map(move |group| Signal::Publish { group, gumgid }),
        1 => group().prop_map(|group| Signal::Unpublish { group }),
        6 => group().prop_map(move |group| Signal::Join { group, gumgid }),
        2 => group().prop_map(|group| Signal::Leave { group }),
        4 => group().prop_map(|group| Signal::Accepted { group }),
        1 => registration().prop_map(move |node| Signal::Register { gumgid, node }),
        1 => Just(Signal::Withdraw { gumgid }),
        1 => group().prop_map(move |group| Signal::Resolve { group, gumgid }),
        6 => (group(), any::<u8>(), prop::array::uniform::<_, RESOLVED>(registration()))
            .prop_map(|(group, count, nodes)| Signal::Resolved { group, count, nodes }),
        1 => (group(), 0u8..20).prop_map(|(group, packets)| Signal::Probe { group, packets }),
        1 => (group(), any::<u8>()).prop_map(|(group, index)| Signal::Probed { group, index }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let target = prop_oneof![Just(FeedbackTarget::Parent), Just(FeedbackTarget::Source)];
    prop_oneof![
        12 => signal().prop_map(Step::Signal),
        2 => Just(Step::Data),
        2 => Just(Step::Feedback),
        1 => (group(), target)
            .prop_map(|(group, target)| Step::GroupMessage(GroupMessage { group, target, label: Label::default() })),
        4 => (0u64..20_000).prop_map(|millis| Step::Wait(ms(millis))),
    ]
}

/// A step, its node, its port, and its group unless the step has one.
fn steps() -> impl Strategy<Value = Vec<(Step, u32, u32, GroupId)>> {
    prop::collection::vec((step(), 0u32..8, 0u32..8, group()), 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_router_tolerates_random_signals(steps in steps()) {
        let row = |part| GroupPart { part, feedback: Bytes::new(40) };
        let mut router = Router::new(&config(), NRS, vec![Observed::default()], vec![row(None), row(Some(0))]);
        let mut bed = TestBench::new();
        for (step, who, port, group) in steps {
            let packet = |header| Packet { flow: FlowId(group.0), ..packet(address(who), header) };
            let mut waited = Duration::ZERO;
            match step {
                Step::Signal(signal) => bed.receive(&mut router, address(who), port, signal),
                Step::Data => {
                    let data = packet(Header::Stream(StreamHeader::default()));
                    bed.handle(&mut router, RouterInput::Packet(&data, PortId(port)));
                }
                Step::Feedback => {
                    bed.handle(&mut router, RouterInput::Packet(&packet(Header::Feedback), PortId(port)));
                }
                Step::GroupMessage(word) => {
                    router.part(0).words.push(word);
                    router.part(0).alarm = Some(bed.now);
                }
                Step::Wait(span) => waited = span,
            }
            // `run` asserts that each deadline advances
            let end = bed.now + waited;
            let messages = bed.run(&mut router, end);
            prop_assert_eq!(bed.out.arena.live(), 0, "all that was said was put out");
            // at most one query and its messages for each retry of each group, and a copy for each of eight
            let turns = waited.as_nanos() / ms(500).as_nanos() + 2;
            prop_assert!((messages.len() as u64) < 24 + turns * 8, "{} were said in {}", messages.len(), waited);
            for entry in (0..2).filter_map(|group| router.entry(GroupId(group))) {
                let children: Vec<Address> = entry.branches.iter().map(|branch| branch.child).collect();
                prop_assert!(children.windows(2).all(|pair| pair[0] < pair[1]), "one entry a child: {children:?}");
            }
        }
        // without input it deletes all state
        bed.run(&mut router, bed.now + ms(3 * STATE_LIFETIME_MS));
        prop_assert_eq!((router.groups(), router.wake()), (0, Time::NEVER));
    }
}
