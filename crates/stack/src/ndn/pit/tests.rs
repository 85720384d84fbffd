//! The table compared with a plain map.

use std::collections::BTreeMap;

use contract::{Destination, Header, NameId};
use proptest::prelude::*;
use units::Duration;

use super::*;

fn name(segment: u64) -> Name {
    Name { prefix: NameId(1), segment }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// Makes the entry of a segment for an Interest of a face; the flow has the number of the segment.
fn open(pit: &mut Pit, segment: u64, face: u32, nonce: u32, lifetime_ms: u32, expires: Time) -> Pending {
    let interest = Interest { name: name(segment), nonce, lifetime_ms };
    let packet = Packet {
        flow: FlowId(segment as u32),
        size_bytes: 50,
        to: Destination::own_node(),
        source: contract::Address::default(),
        sent_at: Time::ZERO,
        ecn: Ecn::NotCapable,
        hops: 0,
        waited: Default::default(),
        header: Header::Interest(interest),
        label: Label::default(),
    };
    pit.insert(&interest, &packet, FaceId(face), expires)
}

/// Expected content of an entry.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    expires: u64,
    ins: Vec<(u32, u32, u32)>,
    outs: Vec<(u32, u32, bool, Option<NackReason>)>,
}

#[derive(Clone, Debug)]
enum Op {
    /// Time advances, and expired entries end.
    Wait(u64),
    Ask {
        segment: u64,
        face: u32,
        nonce: u32,
        lifetime_ms: u32,
    },
    Send {
        segment: u64,
        face: u32,
        nonce: u32,
    },
    Refuse {
        segment: u64,
        face: u32,
    },
    Forget {
        segment: u64,
        face: u32,
    },
    End(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let segment = 0u64..12;
    // more lifetimes than there are lists
    let lifetime = prop_oneof![Just(2000u32), Just(4000), 1u32..60];
    prop_oneof![
        3 => (0u64..30).prop_map(Op::Wait),
        8 => (segment.clone(), 0u32..5, any::<u32>(), lifetime)
            .prop_map(|(segment, face, nonce, lifetime_ms)| Op::Ask { segment, face, nonce, lifetime_ms }),
        4 => (segment.clone(), 0u32..5, any::<u32>()).prop_map(|(segment, face, nonce)| Op::Send { segment, face, nonce }),
        1 => (segment.clone(), 0u32..5).prop_map(|(segment, face)| Op::Refuse { segment, face }),
        2 => (segment.clone(), 0u32..5).prop_map(|(segment, face)| Op::Forget { segment, face }),
        3 => segment.prop_map(Op::End),
    ]
}

proptest! {
    #[test]
    fn the_pit_equals_a_plain_map(ops in prop::collection::vec(op(), 1..300)) {
        let (mut pit, mut model, mut now) = (Pit::new(), BTreeMap::<u64, Model>::new(), 0u64);
        let mut peak = 0;
        for op in ops {
            match op {
                Op::Wait(ms) => {
                    now += ms;
                    let mut last = Time::ZERO;
                    while let Some(pending) = pit.due(at(now)) {
                        let entry = *pit.entry(pending).expect("what is due is there");
                        prop_assert!(entry.expires >= last, "the earliest first");
                        last = entry.expires;
                        let expected = model.remove(&entry.name.segment).expect("it is known");
                        prop_assert_eq!(at(expected.expires), entry.expires);
                        pit.end(pending, |_, _| {});
                    }
                    prop_assert!(model.values().all(|entry| entry.expires > now));
                }
                Op::Ask { segment, face, nonce, lifetime_ms } => {
                    let expires = now + u64::from(lifetime_ms);
                    let known = pit.find(name(segment));
                    prop_assert_eq!(known.is_some(), model.contains_key(&segment));
                    let entry = model.entry(segment).or_default();
                    entry.expires = entry.expires.max(expires);
                    let record = (face, nonce, segment as u32);
                    let fresh = match entry.ins.iter_mut().find(|record| record.0 == face) {
                        Some(old) => {
                            *old = record;
                            false
                        }
                        None => {
                            entry.ins.push(record);
                            true
                        }
                    };
                    match known {
                        Some(pending) => {
                            pit.renew(pending, lifetime_ms, at(expires));
                            let flow = FlowId(segment as u32);
                            prop_assert_eq!(pit.add_downstream(pending, FaceId(face), nonce, flow, at(expires)), fresh);
                        }
                        None => {
                            let pending = open(&mut pit, segment, face, nonce, lifetime_ms, at(expires));
                            prop_assert_eq!(pit.find(name(segment)), Some(pending));
                        }
                    }
                }
                Op::Send { segment, face, nonce } => {
                    let Some(pending) = pit.find(name(segment)) else { continue };
                    let entry = model.get_mut(&segment).expect("it is known");
                    let old = entry.outs.iter_mut().find(|record| record.0 == face);
                    prop_assert_eq!(pit.send(pending, FaceId(face), nonce, at(now), false).is_some(), old.is_some());
                    match old {
                        Some(old) => *old = (face, nonce, true, None),
                        None => entry.outs.push((face, nonce, false, None)),
                    }
                }
                Op::Refuse { segment, face } => {
                    let Some(pending) = pit.find(name(segment)) else { continue };
                    pit.refuse(pending, FaceId(face), NackReason::Congestion);
                    let entry = model.get_mut(&segment).expect("it is known");
                    if let Some(record) = entry.outs.iter_mut().find(|record| record.0 == face) {
                        record.3 = Some(NackReason::Congestion);
                    }
                }
                Op::Forget { segment, face } => {
                    let Some(pending) = pit.find(name(segment)) else { continue };
                    let entry = model.get_mut(&segment).expect("it is known");
                    let there = entry.ins.iter().position(|record| record.0 == face);
                    prop_assert_eq!(pit.forget(pending, FaceId(face)), there.is_some());
                    if let Some(index) = there {
                        entry.ins.remove(index);
                    }
                }
                Op::End(segment) => {
                    let pending = pit.find(name(segment));
                    let expected = model.remove(&segment);
                    prop_assert_eq!(pending.is_some(), expected.is_some());
                    if let Some(pending) = pending {
                        let mut ended = Vec::new();
                        pit.end(pending, |of, out| {
                            ended.push((of.segment, (out.face, out.nonce, out.retransmitted, out.refused)));
                        });
                        let outs = expected.map_or_else(Vec::new, |entry| entry.outs);
                        prop_assert_eq!(ended, outs.into_iter().map(|out| (segment, out)).collect::<Vec<_>>());
                        prop_assert!(pit.entry(pending).is_none(), "a stale handle finds nothing");
                        prop_assert!(!pit.forget(pending, FaceId(0)) && pit.first_in(pending).is_none());
                    }
                }
            }
            peak = peak.max(model.len());
            prop_assert_eq!((pit.len(), pit.peak()), (model.len(), peak));
            let next = model.values().map(|entry| at(entry.expires)).min();
            prop_assert_eq!(pit.wake(), next.unwrap_or(Time::NEVER));
            for (segment, expected) in &model {
                let pending = pit.find(name(*segment)).expect("it is known");
                let found = Model {
                    expires: pit.entry(pending).expect("it lives").expires.as_nanos() / 1_000_000,
                    ins: pit.ins(pending).map(|record| (record.face, record.nonce, record.flow)).collect(),
                    outs: pit.outs(pending).map(|out| (out.face, out.nonce, out.retransmitted, out.refused)).collect(),
                };
                prop_assert_eq!(&found, expected);
            }
        }
    }
}

#[test]
fn memory_is_bounded_by_concurrent_entries() {
    let mut pit = Pit::new();
    for segment in 0..100_000u64 {
        let pending = open(&mut pit, segment, 0, 7, 2000, at(segment + 2000));
        for face in 0..3 {
            pit.add_downstream(pending, FaceId(face), 7, FlowId(0), at(segment + 2000));
            pit.send(pending, FaceId(face + 3), 7, at(segment), false);
        }
        if segment >= 10 {
            let old = pit.find(name(segment - 10)).expect("it is pending");
            pit.end(old, |_, _| {});
        }
    }
    assert_eq!((pit.len(), pit.peak(), pit.entries.len()), (10, 11, 11));
    assert_eq!((pit.ins.len(), pit.outs.len()), (22, 22), "two further records for each of eleven");
}

#[test]
fn a_record_that_is_held_counts_its_time_from_when_it_leaves() {
    let mut pit = Pit::new();
    let pending = open(&mut pit, 0, 0, 7, 2000, at(2000));
    pit.send(pending, FaceId(1), 9, at(5), true);
    assert!(
        pit.out_record(pending, FaceId(1)).is_some_and(|record| record.queued && record.sent_at == at(5))
    );
    pit.leave(pending, FaceId(1), at(8));
    let left = OutRecord::from(pit.out_record(pending, FaceId(1)).expect("it was sent"));
    let expected = OutRecord {
        face: FaceId(1),
        nonce: 9,
        sent_at: at(8),
        queued: false,
        retransmitted: false,
        refused: None,
    };
    assert_eq!(left, expected);
}
