//! Conformance tests of the parts of schemes in NDN forwarders.

use contract::{Admission, FaceId, Label, LinkAlgorithm, NackReason, Name, NameId, SendResult};
use proptest::prelude::*;
use schemes::catalogue;
use units::{Duration, Rate, Time};

use super::{STREAM, some_params};
use fakes::{Action, LinkBench, Outcome, StrategyBench, faces};

#[allow(dead_code, reason = "unit tests use more of it")]
#[path = "../../shared/forwarders.rs"]
mod fakes;

// ---- strategies

/// An event of a strategy.
#[derive(Clone, Debug)]
enum Turn {
    Wait(u64),
    Interest {
        segment: u64,
        from: u32,
    },
    Data {
        entry: usize,
        from: u32,
    },
    Nack {
        entry: usize,
        from: u32,
        reason: u8,
    },
    Expire {
        entry: usize,
    },
    /// Outcome of the next Interest that is sent.
    SendResult(u8),
    /// Backlog of the queue of a link.
    Backlog {
        face: u32,
        packets: u32,
    },
    Timer,
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        2 => (1u64..300_000_000).prop_map(Turn::Wait),
        8 => (0u64..8, 0u32..6).prop_map(|(segment, from)| Turn::Interest { segment, from }),
        6 => (0usize..64, 0u32..3).prop_map(|(entry, from)| Turn::Data { entry, from }),
        3 => (0usize..64, 0u32..3, 0u8..3).prop_map(|(entry, from, reason)| Turn::Nack { entry, from, reason }),
        1 => (0usize..64).prop_map(|entry| Turn::Expire { entry }),
        1 => (0u8..4).prop_map(Turn::SendResult),
        1 => (0u32..5, 0u32..=100).prop_map(|(face, packets)| Turn::Backlog { face, packets }),
        1 => Just(Turn::Timer),
    ]
}

/// A node with three faces to producers, and two links and an endpoint to consumers.
fn cross(algorithm: &mut impl contract::Strategy, turns: &[Turn]) -> Vec<Action> {
    let mut node = StrategyBench::new(faces(5, Rate::from_mbps(10), 1), &[10, 10, 20]);
    let mut entries = Vec::new();
    let mut actions = Vec::new();
    algorithm.on_start(&mut node);
    for turn in turns {
        let mut asked = None;
        match *turn {
            Turn::Wait(nanos) => node.now += Duration::from_nanos(nanos),
            Turn::Interest { segment, from } => {
                asked = Some(FaceId(from));
                entries.push(node.interest(algorithm, segment, FaceId(from)));
            }
            Turn::Data { entry, from } if !entries.is_empty() => {
                node.data(algorithm, entries[entry % entries.len()], FaceId(from));
            }
            Turn::Nack { entry, from, reason } if !entries.is_empty() => {
                let reason = NackReason::ALL[usize::from(reason)];
                node.nack(algorithm, entries[entry % entries.len()], FaceId(from), reason);
            }
            Turn::Expire { entry } if !entries.is_empty() => {
                node.expire(algorithm, entries[entry % entries.len()]);
            }
            Turn::SendResult(which) => node.results.push_back(
                [
                    SendResult::Sent,
                    SendResult::Held,
                    SendResult::Refused(NackReason::Congestion),
                    SendResult::Dropped,
                ][usize::from(which)],
            ),
            Turn::Backlog { face, packets } => {
                let link = node.faces[face as usize].link.as_mut().expect("the face of a link");
                link.backlog.packets = packets;
            }
            Turn::Timer => {
                if algorithm.wake() != Time::NEVER {
                    node.now = node.now.max(algorithm.wake());
                }
                node.timer(algorithm);
                assert!(algorithm.wake() > node.now, "a deadline that has passed stays");
            }
            Turn::Data { .. } | Turn::Nack { .. } | Turn::Expire { .. } => {}
        }
        for action in node.done() {
            if let Action::Sent(_, face) | Action::Probed(_, face) = action {
                assert!(face.0 < 3, "{action:?} leads to nobody");
                assert!(asked != Some(face), "{action:?} is where it came from");
            }
            actions.push(action);
        }
    }
    actions
}

proptest! {
    #[test]
    fn strategies_send_by_next_hops_alone_and_repeat_themselves(
        turns in prop::collection::vec(turn(), 1..200),
        pick in any::<u64>(),
    ) {
        for entry in catalogue() {
            let Some(make) = entry.strategy else { continue };
            for params in [Vec::new(), some_params(&entry, pick)] {
                let run = || cross(&mut make(&params, &STREAM).expect("allowed parameters"), &turns);
                prop_assert_eq!(run(), run(), "{}: the same list gives the same deeds", entry.scheme.name);
            }
        }
    }
}

// ---- link parts

/// An event of a link part.
#[derive(Clone, Debug)]
enum Operation {
    Wait(u64),
    Interest { name: Name, from: u32, to: u32 },
    Data { name: Name, from: u32, to: u32 },
    Nack { name: Name, from: u32 },
    Backlog { face: u32, packets: u32 },
    Timer,
}

fn operation() -> impl Strategy<Value = Operation> {
    let name = || (1u32..4, 0u64..12).prop_map(|(prefix, segment)| Name { prefix: NameId(prefix), segment });
    prop_oneof![
        3 => (1u64..30_000_000).prop_map(Operation::Wait),
        8 => (name(), 0u32..5, 0u32..3).prop_map(|(name, from, to)| Operation::Interest { name, from, to }),
        8 => (name(), 0u32..3, 0u32..5).prop_map(|(name, from, to)| Operation::Data { name, from, to }),
        1 => (name(), 0u32..3).prop_map(|(name, from)| Operation::Nack { name, from }),
        2 => (0u32..3, 0u32..=100).prop_map(|(face, packets)| Operation::Backlog { face, packets }),
        3 => Just(Operation::Timer),
    ]
}

/// Admissions of a link part, the outcomes of the Interests that it held, and the labels and marks that it wrote into
/// Data.
type Passed = (Vec<Admission>, Vec<Outcome>, Vec<(Label, contract::Ecn)>);

/// A node with three links and two endpoints. At the end queues are empty and no Interest arrives, so that all held
/// Interests must leave.
fn pass(algorithm: &mut impl LinkAlgorithm, operations: &[Operation]) -> Passed {
    let mut node = LinkBench::new(faces(3, Rate::from_mbps(10), 2));
    let (mut admissions, mut stamps) = (Vec::new(), Vec::new());
    let mut interest_queues: Vec<Option<u32>> = Vec::new();
    algorithm.on_start(&mut node);
    for operation in operations {
        match *operation {
            Operation::Wait(nanos) => {
                let end = node.now + Duration::from_nanos(nanos);
                node.run(algorithm, end);
            }
            Operation::Interest { name, from, to } if from != to => {
                let admission = node.interest(algorithm, name, FaceId(from), FaceId(to));
                if let Admission::Hold(interest_queue) = admission {
                    if interest_queues.len() <= interest_queue.index() {
                        interest_queues.resize(interest_queue.index() + 1, None);
                    }
                    assert_eq!(
                        *interest_queues[interest_queue.index()].get_or_insert(to),
                        to,
                        "an Interest queue is for one link"
                    );
                    assert!(algorithm.wake() != Time::NEVER, "what is held is thought of");
                }
                admissions.push(admission);
            }
            Operation::Data { name, from, to } if from != to => {
                let packet = node.data(algorithm, name, FaceId(from), FaceId(to));
                stamps.push((packet.label, packet.ecn));
            }
            Operation::Nack { name, from } => node.nack(algorithm, name, FaceId(from)),
            Operation::Backlog { face, packets } => {
                let link = node.link(FaceId(face));
                link.backlog.packets = packets;
                link.backlog.bytes = fakes::DATA * u64::from(packets);
                link.busy = packets > 0;
            }
            Operation::Timer => {
                if algorithm.wake() != Time::NEVER {
                    node.now = node.now.max(algorithm.wake());
                }
                node.timer(algorithm);
                assert!(algorithm.wake() > node.now, "a deadline that has passed stays");
            }
            Operation::Interest { .. } | Operation::Data { .. } => {}
        }
    }
    for face in 0..3 {
        node.link(FaceId(face)).backlog = Default::default();
    }
    // empty queues and ample time: all held Interests must leave
    let end = node.now + Duration::from_secs(600);
    while node.queued() > 0 && algorithm.wake() <= end {
        node.now = node.now.max(algorithm.wake());
        node.timer(algorithm);
    }
    assert_eq!(node.queued(), 0, "Interests are held for ever");
    (admissions, node.outcomes, stamps)
}

proptest! {
    #[test]
    fn link_parts_let_go_of_what_they_hold_and_repeat_themselves(
        operations in prop::collection::vec(operation(), 1..200),
        pick in any::<u64>(),
    ) {
        for entry in catalogue() {
            let Some(make) = entry.link else { continue };
            for params in [Vec::new(), some_params(&entry, pick)] {
                let run = || pass(&mut make(&params, &STREAM).expect("allowed parameters"), &operations);
                prop_assert_eq!(run(), run(), "{}: the same list gives the same", entry.scheme.name);
            }
        }
    }
}
