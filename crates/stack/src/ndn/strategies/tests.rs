//! Tests of the actions of strategies, recorded by a test forwarder.

use std::collections::BTreeMap;

use contract::{
    Ecn, FaceId, FaceView, FlowId, Header, InRecord, Interest, Label, NackReason, NameId, Names, NextHop,
    OutRecord, Packet, Random, SendResult,
};
use units::Duration;

use super::*;

/// An action of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Did {
    Send(u32),
    Probe(u32),
    Nack(u32, NackReason),
}

/// A forwarder with four faces.
struct Fake {
    now: Time,
    random: Random,
    names: Names,
    did: Vec<Did>,
    ins: BTreeMap<u32, Vec<InRecord>>,
    outs: BTreeMap<u32, Vec<OutRecord>>,
    notes: BTreeMap<u32, u32>,
    /// Faces with a link part that refuses.
    refusing: Vec<u32>,
    pending: [u32; 4],
}

impl Fake {
    fn new() -> Self {
        Self {
            now: Time::ZERO,
            random: Random::new(1, "strategy", ""),
            names: Names::new(),
            did: Vec::new(),
            ins: BTreeMap::new(),
            outs: BTreeMap::new(),
            notes: BTreeMap::new(),
            refusing: Vec::new(),
            pending: [0; 4],
        }
    }

    fn did(&mut self) -> Vec<Did> {
        std::mem::take(&mut self.did)
    }

    fn send(&mut self, pending: Pending, face: FaceId, did: Did) -> SendResult {
        self.did.push(did);
        if self.refusing.contains(&face.0) {
            return SendResult::Refused(NackReason::Congestion);
        }
        let now = self.now;
        let outs = self.outs.entry(pending.slot).or_default();
        let known = outs.iter().position(|record| record.face == face);
        let record = OutRecord {
            face,
            nonce: 1,
            sent_at: now,
            queued: false,
            retransmitted: known.is_some(),
            refused: None,
        };
        match known {
            Some(index) => outs[index] = record,
            None => outs.push(record),
        }
        SendResult::Sent
    }
}

impl StrategyCx for Fake {
    fn now(&self) -> Time {
        self.now
    }
    fn random(&mut self) -> &mut Random {
        &mut self.random
    }
    fn names(&self) -> &Names {
        &self.names
    }
    fn faces(&self) -> u32 {
        4
    }
    fn face(&mut self, face: FaceId) -> FaceView {
        FaceView { face, link: None, pending: self.pending[face.index()] }
    }
    fn downstream(&self, pending: Pending, index: usize) -> Option<InRecord> {
        self.ins.get(&pending.slot)?.get(index).copied()
    }
    fn upstream(&self, pending: Pending, index: usize) -> Option<OutRecord> {
        self.outs.get(&pending.slot)?.get(index).copied()
    }
    fn note(&self, pending: Pending) -> u32 {
        self.notes.get(&pending.slot).copied().unwrap_or(0)
    }
    fn set_note(&mut self, pending: Pending, note: u32) {
        self.notes.insert(pending.slot, note);
    }
    fn send_interest(&mut self, pending: Pending, face: FaceId) -> SendResult {
        self.send(pending, face, Did::Send(face.0))
    }
    fn probe_interest(&mut self, pending: Pending, face: FaceId) -> SendResult {
        self.send(pending, face, Did::Probe(face.0))
    }
    fn send_nack(&mut self, _pending: Pending, downstream: FaceId, reason: NackReason) {
        self.did.push(Did::Nack(downstream.0, reason));
    }
    fn send_nacks(&mut self, pending: Pending, reason: NackReason) {
        for record in self.ins.remove(&pending.slot).unwrap_or_default() {
            self.did.push(Did::Nack(record.face.0, reason));
        }
        self.outs.remove(&pending.slot);
    }
    fn reject(&mut self, pending: Pending) {
        self.ins.remove(&pending.slot);
        self.outs.remove(&pending.slot);
    }
    fn probe(&mut self, _series: &'static str, _value: f64) {}
}

/// Next hops 1, 2, 3, which cost 10, 20, 30.
const HOPS: [NextHop; 3] = [
    NextHop { face: FaceId(1), cost: 10 },
    NextHop { face: FaceId(2), cost: 20 },
    NextHop { face: FaceId(3), cost: 30 },
];

fn fib() -> FibEntry<'static> {
    FibEntry { prefix: NameId(1), index: 0, hops: &HOPS }
}

fn pending(slot: u32) -> Pending {
    Pending { slot, generation: 0 }
}

fn name(segment: u32) -> Name {
    Name { prefix: NameId(1), segment: u64::from(segment) }
}

fn packet(segment: u32) -> Packet {
    Packet {
        flow: FlowId(0),
        size_bytes: 50,
        source: Default::default(),
        to: contract::Destination::own_node(),
        sent_at: Time::ZERO,
        label: Label::default(),
        header: Header::Interest(Interest { name: name(segment), nonce: 1, lifetime_ms: 2000 }),
        ecn: Ecn::NotCapable,
        hops: 0,
        waited: Default::default(),
    }
}

/// An Interest for segment `slot` from `from`.
fn request(strategy: &mut impl Strategy, fake: &mut Fake, slot: u32, from: u32) -> Vec<Did> {
    let packet = packet(slot);
    let ins = fake.ins.entry(slot).or_default();
    let is_new = ins.is_empty();
    if !ins.iter().any(|record| record.face.0 == from) {
        ins.push(InRecord { face: FaceId(from), nonce: 1, expires: fake.now + Duration::from_secs(2) });
    }
    let arrived = ArrivingInterest {
        packet: &packet,
        name: name(slot),
        from: FaceId(from),
        pending: pending(slot),
        is_new,
    };
    strategy.on_interest(&arrived, &fib(), fake);
    fake.did()
}

/// Data for segment `slot` from `from`, after `rtt_ms`.
fn answer(strategy: &mut impl Strategy, fake: &mut Fake, slot: u32, from: u32, rtt_ms: u64) {
    let packet = packet(slot);
    let rtt = Some(Duration::from_millis(rtt_ms));
    let returned =
        ArrivingData { packet: &packet, name: name(slot), from: FaceId(from), pending: pending(slot), rtt };
    strategy.on_data(&returned, &fib(), fake);
    fake.reject(pending(slot));
}

fn refuse(
    strategy: &mut impl Strategy,
    fake: &mut Fake,
    slot: u32,
    from: u32,
    reason: NackReason,
) -> Vec<Did> {
    for record in fake.outs.get_mut(&slot).expect("it was sent").iter_mut() {
        if record.face.0 == from {
            record.refused = Some(reason);
        }
    }
    let refused =
        ArrivingNack { packet: None, name: name(slot), from: FaceId(from), pending: pending(slot), reason };
    strategy.on_nack(&refused, &fib(), fake);
    fake.did()
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn made(name: &str, given: &[(&str, ParamValue)]) -> Any<BestRoute> {
    let given: Vec<(String, ParamValue)> =
        given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    find(name).expect("it is there").make(&given).expect("good parameters")
}

fn time(text: &str) -> ParamValue {
    ParamValue::Text(text.to_owned())
}

#[test]
fn the_list_is_in_order_and_takes_its_own_defaults() {
    let names: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["asf", "best_route", "multicast", "weighted"]);
    for entry in ALL {
        let list = (entry.resolve)(&[]).expect("its defaults");
        assert_eq!(list.len(), (entry.params)().len());
        assert!(entry.make::<BestRoute>(&list).is_ok());
        let wrong = [("nothing".to_owned(), ParamValue::Int(1))];
        assert!(entry.make::<BestRoute>(&wrong).is_err_and(|error| error.name == "nothing"));
    }
    assert!(find("nothing").is_none());
}

#[test]
fn best_route_uses_the_cheapest_face_except_the_downstream() {
    let (mut strategy, mut fake) = (made("best_route", &[]), Fake::new());
    assert_eq!(request(&mut strategy, &mut fake, 0, 0), [Did::Send(1)]);
    assert_eq!(request(&mut strategy, &mut fake, 1, 1), [Did::Send(2)]);
}

#[test]
fn best_route_sends_again_by_other_faces_after_intervals_that_double() {
    let (mut strategy, mut fake) = (made("best_route", &[]), Fake::new());
    // an Interest every millisecond; the interval is 10 ms, then 20, 40, 80, 160, 250, 250
    let mut sent = Vec::new();
    for ms in 0..700 {
        fake.now = at(ms);
        for did in request(&mut strategy, &mut fake, 0, 0) {
            sent.push((ms, did));
        }
    }
    let expected = [(0, 1), (10, 2), (30, 3), (70, 1), (150, 2), (310, 3), (560, 1)];
    assert_eq!(sent, expected.map(|(ms, face)| (ms, Did::Send(face))));
}

/// [NFD]: an expired out-record counts as none, so that the cheapest next hop is tried first again.
#[test]
fn best_route_begins_with_the_cheapest_again_after_a_lifetime() {
    let (mut strategy, mut fake) = (made("best_route", &[]), Fake::new());
    assert_eq!(request(&mut strategy, &mut fake, 0, 0), [Did::Send(1)]);
    fake.now = at(1999);
    assert_eq!(request(&mut strategy, &mut fake, 0, 0), [Did::Send(2)], "face 1 may still answer");
    fake.now = at(2100);
    assert_eq!(request(&mut strategy, &mut fake, 0, 0), [Did::Send(1)], "after 2 s it will not");
}

#[test]
fn best_route_returns_a_nack_when_its_link_or_all_upstreams_refuse() {
    let (mut strategy, mut fake) = (made("best_route", &[]), Fake::new());
    fake.refusing = vec![1];
    assert_eq!(request(&mut strategy, &mut fake, 0, 0), [Did::Send(1), Did::Nack(0, NackReason::Congestion)]);
    fake.refusing.clear();
    request(&mut strategy, &mut fake, 1, 0);
    let refused = refuse(&mut strategy, &mut fake, 1, 1, NackReason::NoRoute);
    assert_eq!(refused, [Did::Nack(0, NackReason::NoRoute)]);
}

#[test]
fn multicast_sends_to_all_and_returns_a_nack_when_all_refuse() {
    let (mut strategy, mut fake) = (made("multicast", &[]), Fake::new());
    assert_eq!(request(&mut strategy, &mut fake, 0, 2), [Did::Send(1), Did::Send(3)]);
    assert_eq!(request(&mut strategy, &mut fake, 0, 0), [Did::Send(2)], "1 and 3 have just been asked");
    fake.now = at(10);
    assert_eq!(request(&mut strategy, &mut fake, 0, 0), [Did::Send(1), Did::Send(2), Did::Send(3)]);
    fake.now = at(25);
    assert_eq!(request(&mut strategy, &mut fake, 0, 0), [], "now the interval is 20 ms");
    assert_eq!(refuse(&mut strategy, &mut fake, 0, 1, NackReason::NoRoute), []);
    assert_eq!(refuse(&mut strategy, &mut fake, 0, 2, NackReason::NoRoute), []);
    let refused = refuse(&mut strategy, &mut fake, 0, 3, NackReason::Congestion);
    assert_eq!(refused, [Did::Nack(2, NackReason::Congestion), Did::Nack(0, NackReason::Congestion)]);
    fake.refusing = vec![1, 2, 3];
    let refused = request(&mut strategy, &mut fake, 1, 0);
    assert_eq!(refused.last(), Some(&Did::Nack(0, NackReason::Congestion)));
}

/// The share of 6000 Interests that go to each next hop.
fn shares(strategy: &mut impl Strategy, fake: &mut Fake) -> [f64; 3] {
    let mut counts = [0u32; 3];
    for slot in 0..6000 {
        match request(strategy, fake, slot, 0).as_slice() {
            [Did::Send(face)] => counts[*face as usize - 1] += 1,
            other => panic!("{other:?}"),
        }
    }
    counts.map(|count| f64::from(count) / 6000.0)
}

#[test]
fn weighted_draws_faces_by_their_weights() {
    let near = |share: f64, expected: f64| (share - expected).abs() < 0.02;
    let mut fake = Fake::new();
    let equal = shares(&mut made("weighted", &[]), &mut fake);
    assert!(equal.iter().all(|&share| near(share, 1.0 / 3.0)), "{equal:?}");
    // 1/11 : 1/21 : 1/31
    fake = Fake::new();
    let by_cost = shares(&mut made("weighted", &[("by", ParamValue::from("cost"))]), &mut fake);
    let total = 1.0 / 11.0 + 1.0 / 21.0 + 1.0 / 31.0;
    assert!(near(by_cost[0], 1.0 / 11.0 / total) && near(by_cost[2], 1.0 / 31.0 / total), "{by_cost:?}");
    // 1 : 1/2 : 1/4
    fake = Fake::new();
    fake.pending = [0, 0, 1, 3];
    let by_pending = shares(&mut made("weighted", &[("by", ParamValue::from("pending"))]), &mut fake);
    assert!(near(by_pending[0], 4.0 / 7.0) && near(by_pending[1], 2.0 / 7.0), "{by_pending:?}");
}

#[test]
fn weighted_uses_another_face_for_retransmissions() {
    let (mut strategy, mut fake) = (made("weighted", &[]), Fake::new());
    let mut faces = Vec::new();
    for ms in [0, 10, 30] {
        fake.now = at(ms);
        faces.extend(request(&mut strategy, &mut fake, 0, 0));
    }
    faces.sort_unstable_by_key(|did| if let Did::Send(face) = did { *face } else { 0 });
    assert_eq!(faces, [Did::Send(1), Did::Send(2), Did::Send(3)]);
    fake.now = at(40);
    assert_eq!(request(&mut strategy, &mut fake, 0, 0), [], "suppressed");
}

fn no_probe() -> (&'static str, ParamValue) {
    ("probe_first", time("100000 s"))
}

#[test]
fn asf_leaves_a_face_after_three_consecutive_timeouts() {
    let (mut strategy, mut fake) = (made("asf", &[no_probe()]), Fake::new());
    let mut faces = Vec::new();
    for slot in 0..7u32 {
        // a second passes without an answer, and the timeout doubles each time
        fake.now = at(u64::from(slot) * 100_000);
        strategy.on_timer(&mut fake);
        faces.extend(request(&mut strategy, &mut fake, slot, 0));
        if slot == 1 {
            answer(&mut strategy, &mut fake, slot, 1, 50);
        }
    }
    // the answer to the second resets the count of the first; 2, 3 and 4 are three in a row
    let expected = [1, 1, 1, 1, 1, 2, 2];
    assert_eq!(faces, expected.map(Did::Send));
}

#[test]
fn of_two_nodes_that_wait_for_each_other_one_gets_a_nack() {
    for name in ["best_route", "multicast", "weighted", "asf"] {
        let (mut strategy, mut fake) = (made(name, &[]), Fake::new());
        // sent to 1, 2 and 3, and 2 requests it as well
        for face in [1, 2, 3] {
            fake.send(pending(0), FaceId(face), Did::Send(face));
        }
        fake.ins.insert(0, Vec::new());
        for face in [0, 2] {
            let record = InRecord { face: FaceId(face), nonce: 1, expires: at(2000) };
            fake.ins.entry(0).or_default().push(record);
        }
        fake.did();
        assert_eq!(
            refuse(&mut strategy, &mut fake, 0, 1, NackReason::Congestion),
            [],
            "{name}: two are open"
        );
        let observed = refuse(&mut strategy, &mut fake, 0, 3, NackReason::NoRoute);
        assert_eq!(observed, [Did::Nack(2, NackReason::Congestion)], "{name}");
        let observed = refuse(&mut strategy, &mut fake, 0, 2, NackReason::Duplicate);
        assert_eq!(observed.first(), Some(&Did::Nack(0, NackReason::Congestion)), "{name}");
    }
}

#[test]
fn asf_prefers_the_fastest_face_then_unmeasured_then_silent_ones() {
    let (mut strategy, mut fake) =
        (made("asf", &[("silent_timeouts", 1i64.into()), no_probe()]), Fake::new());
    assert_eq!(request(&mut strategy, &mut fake, 0, 0), [Did::Send(1)], "the cheapest of the untried");
    answer(&mut strategy, &mut fake, 0, 1, 50);
    assert_eq!(request(&mut strategy, &mut fake, 1, 0), [Did::Send(1)]);
    // Data by face 2, requested by another retransmission, comes sooner
    answer(&mut strategy, &mut fake, 1, 2, 20);
    assert_eq!(request(&mut strategy, &mut fake, 2, 0), [Did::Send(2)]);
    // no answer within max(200 ms, 20 + 4·10 ms): face 2 is ranked last
    assert_eq!(strategy.wake(), at(200));
    fake.now = at(200);
    strategy.on_timer(&mut fake);
    assert_eq!(request(&mut strategy, &mut fake, 3, 0), [Did::Send(1)]);
    assert_eq!(request(&mut strategy, &mut fake, 4, 1), [Did::Send(3)], "the asker's face is no way");
    // one answer restores it
    answer(&mut strategy, &mut fake, 3, 2, 20);
    assert_eq!(request(&mut strategy, &mut fake, 5, 0), [Did::Send(2)]);
}

#[test]
fn asf_leaves_a_face_after_a_nack_except_for_duplicates() {
    let (mut strategy, mut fake) = (made("asf", &[no_probe()]), Fake::new());
    request(&mut strategy, &mut fake, 0, 0);
    assert_eq!(
        refuse(&mut strategy, &mut fake, 0, 1, NackReason::Duplicate),
        [Did::Nack(0, NackReason::Duplicate)]
    );
    assert_eq!(request(&mut strategy, &mut fake, 1, 0), [Did::Send(1)]);
    refuse(&mut strategy, &mut fake, 1, 1, NackReason::Congestion);
    assert_eq!(request(&mut strategy, &mut fake, 2, 0), [Did::Send(2)]);
}

#[test]
fn asf_probes_another_face_once_an_interval() {
    let (mut strategy, mut fake) =
        (made("asf", &[("probing_interval", time("1 s")), ("probe_first", time("1 s"))]), Fake::new());
    let mut probes = Vec::new();
    for i in 0..200u32 {
        fake.now = at(u64::from(i) * 50);
        let did = request(&mut strategy, &mut fake, i, 0);
        assert_eq!(did[0], Did::Send(1));
        if let [_, Did::Probe(face)] = did[..] {
            probes.push((u64::from(i) * 50, face));
            answer(&mut strategy, &mut fake, i, face, 80);
        }
        answer(&mut strategy, &mut fake, i, 1, 50);
    }
    // ten seconds: the first probe within the first second, then one per second; first to untried faces, the cheapest
    // first
    assert!((9..=10).contains(&probes.len()), "{probes:?}");
    assert!(probes[0].0 <= 1000 && probes.windows(2).all(|pair| pair[1].0 - pair[0].0 == 1000), "{probes:?}");
    assert_eq!((probes[0].1, probes[1].1), (2, 3));
}
