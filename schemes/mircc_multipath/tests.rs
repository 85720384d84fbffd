use contract::{
    Admission, ArrivingData, ArrivingInterest, CongestionControl, Data, Ecn, FaceId, FaceView, FibEntry,
    Header, InRecord, Interest, InterestQueueId, InterestQueueView, Label, LinkAlgorithm, LinkCx, NackReason,
    Name, NameId, Names, NextHop, NodeId, OutRecord, Packet, Pending, PortId, PortView, Random, ReturnPath,
    SendResult, Strategy as _, StrategyCx, Transit,
};
use proptest::prelude::*;
use units::{Bytes, Time};

use super::headers::{Class, Offer};
use super::paths::{Paths, Share};
use super::*;
use crate::shared::testing::Bench;

// ---- what the parts need to run ----

/// A node with links of 10 and 6 Mbit/s, then a consumer.
struct Node {
    now: Time,
    random: Random,
    names: Names,
    sent: Vec<FaceId>,
    sent_at: Vec<Time>,
    refused: Vec<NackReason>,
}

impl Node {
    fn new() -> Self {
        Self {
            now: Time::ZERO,
            random: Random::new(1, "node", ""),
            names: Names::new(),
            sent: Vec::new(),
            sent_at: Vec::new(),
            refused: Vec::new(),
        }
    }

    fn view(face: FaceId) -> FaceView {
        let rate_in = [Rate::from_mbps(10), Rate::from_mbps(6)].get(face.index()).copied();
        let link = rate_in.map(|rate_in| PortView {
            port: PortId(0),
            to: NodeId(9),
            rate: rate_in,
            rate_in,
            backlog: Default::default(),
            busy: false,
            limit: Default::default(),
        });
        FaceView { face, link, pending: 0 }
    }
}

impl LinkCx for Node {
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
        3
    }
    fn face(&mut self, face: FaceId) -> FaceView {
        Self::view(face)
    }
    fn interest_queue(&self, _interest_queue: InterestQueueId) -> InterestQueueView {
        InterestQueueView::default()
    }
    fn release(&mut self, _interest_queue: InterestQueueId) -> Option<Bytes> {
        None
    }
    fn refuse(&mut self, _interest_queue: InterestQueueId, _reason: NackReason) -> Option<Bytes> {
        None
    }
    fn probe(&mut self, _series: &'static str, _value: f64) {}
}

impl StrategyCx for Node {
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
        3
    }
    fn face(&mut self, face: FaceId) -> FaceView {
        Self::view(face)
    }
    fn downstream(&self, _pending: Pending, _index: usize) -> Option<InRecord> {
        None
    }
    fn upstream(&self, _pending: Pending, index: usize) -> Option<OutRecord> {
        let face = *self.sent.get(index)?;
        Some(OutRecord {
            face,
            nonce: 0,
            sent_at: *self.sent_at.get(index)?,
            queued: false,
            retransmitted: false,
            refused: None,
        })
    }
    fn note(&self, _pending: Pending) -> u32 {
        0
    }
    fn set_note(&mut self, _pending: Pending, _note: u32) {}
    fn send_interest(&mut self, _pending: Pending, face: FaceId) -> SendResult {
        self.sent.push(face);
        self.sent_at.push(self.now);
        SendResult::Sent
    }
    fn probe_interest(&mut self, pending: Pending, face: FaceId) -> SendResult {
        self.send_interest(pending, face)
    }
    fn send_nack(&mut self, _pending: Pending, _downstream: FaceId, reason: NackReason) {
        self.refused.push(reason);
    }
    fn send_nacks(&mut self, _pending: Pending, reason: NackReason) {
        self.refused.push(reason);
    }
    fn reject(&mut self, _pending: Pending) {}
    fn probe(&mut self, _series: &'static str, _value: f64) {}
}

const DATA: Bytes = Bytes::new(1250);
const SETUP: Setup = Setup { segment: DATA, header: Bytes::ZERO, initial_window: DATA };
const NEAR: FaceId = FaceId(0);
const FAR: FaceId = FaceId(1);
const CONSUMER: FaceId = FaceId(2);
const PENDING: Pending = Pending { slot: 0, generation: 0 };
const HOPS: [NextHop; 2] = [NextHop { face: NEAR, cost: 1 }, NextHop { face: FAR, cost: 2 }];
const FIB: FibEntry<'static> = FibEntry { prefix: NameId(1), index: 0, hops: &HOPS };

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

fn name() -> Name {
    Name { prefix: NameId(1), segment: 0 }
}

fn packet(header: Header, label: Label) -> Packet {
    Packet {
        flow: Default::default(),
        size_bytes: 50,
        source: Default::default(),
        to: contract::Destination::own_node(),
        sent_at: Time::ZERO,
        label,
        header,
        ecn: Ecn::NotCapable,
        hops: 0,
        waited: Default::default(),
    }
}

fn interest(label: Label) -> Packet {
    packet(Header::Interest(Interest { name: name(), nonce: 1, lifetime_ms: 2000 }), label)
}

fn data(label: Label) -> Packet {
    packet(Header::Data(Data { name: name(), payload_bytes: 1174 }), label)
}

fn offer(path: FaceId, primary_kbps: u64, secondary_kbps: u64) -> Offer {
    Offer { primary: Rate::from_kbps(primary_kbps), secondary: Rate::from_kbps(secondary_kbps), path }
}

fn label_of(offer: Offer) -> Label {
    let mut label = Label::default();
    headers::stamp(&mut label, offer);
    label
}

/// Shares in kbit/s.
fn shares(paths: &Paths, params: &Params, now: Time) -> Vec<(u32, f64, f64)> {
    paths
        .shares(params, now)
        .map(|(face, Share { primary, secondary })| (face.0, primary / 1e3, secondary / 1e3))
        .collect()
}

// ---- how a flow divides itself ----

#[test]
fn leftovers_come_first_and_the_rest_up_to_the_best_rate_as_the_first_class() {
    let params = Params::default();
    let mut paths = Paths::default();
    paths.on_offer(&offer(FAR, 6000, 5000), ms(0));
    assert_eq!(shares(&paths, &params, ms(0)), [(1, 6000.0, 0.0)], "one path is as MIRCC without paths");
    paths.on_offer(&offer(NEAR, 8000, 1000), ms(0));
    // P = 8000, leftovers 1000 + 5000, D = 2000 over the path of P
    assert_eq!(shares(&paths, &params, ms(0)), [(0, 2000.0, 1000.0), (1, 0.0, 5000.0)]);
    paths.on_offer(&offer(NEAR, 8000, 4000), ms(0));
    assert_eq!(shares(&paths, &params, ms(0)), [(0, 0.0, 4000.0), (1, 0.0, 5000.0)], "D = 0");
    let primary = Params { classes: Classes::Primary, ..Params::default() };
    assert_eq!(shares(&paths, &primary, ms(0)), [(0, 8000.0, 0.0), (1, 6000.0, 0.0)]);
}

#[test]
fn a_path_that_is_silent_for_too_long_offers_nothing() {
    let params = Params::default();
    let mut paths = Paths::default();
    paths.on_offer(&offer(NEAR, 8000, 1000), ms(0));
    paths.on_offer(&offer(FAR, 6000, 5000), ms(1000));
    assert_eq!(shares(&paths, &params, ms(2000)).len(), 2);
    assert_eq!(shares(&paths, &params, ms(2001)), [(1, 6000.0, 0.0)]);
    assert_eq!(shares(&paths, &params, ms(3001)), []);
    assert!(paths.has_path(NEAR) && !paths.has_path(CONSUMER));
}

proptest! {
    /// What is sent in all is the greater of the best first-class rate and all leftovers.
    #[test]
    fn the_total_is_the_best_rate_or_all_leftovers(
        offers in prop::collection::vec((1u64..100_000, 1u64..100_000), 2..6),
    ) {
        let mut paths = Paths::default();
        for (face, (primary, secondary)) in (0u32..).zip(&offers) {
            paths.on_offer(&offer(FaceId(face), *primary, *secondary), ms(0));
        }
        let total: f64 = shares(&paths, &Params::default(), ms(0)).iter().map(|(_, p, s)| p + s).sum();
        let best = offers.iter().map(|(primary, _)| *primary).max().expect("some");
        let leftovers: u64 = offers.iter().map(|(_, secondary)| secondary).sum();
        prop_assert!((total - best.max(leftovers) as f64).abs() < 1e-6);
    }

    /// Any label can be read; stamping gives the minimum of both rates and the node's own link.
    #[test]
    fn labels_carry_the_minimum_rates_and_the_last_link(
        noise in any::<[u64; 4]>(),
        stamps in prop::collection::vec((1u64..1_000_000, 1u64..1_000_000, 0u32..100), 1..6),
    ) {
        let mut foreign = Label(noise);
        prop_assert_eq!(headers::offered(foreign).is_some(), noise[0] > 0 && noise[1] > 0 && (1..=u64::from(u32::MAX)).contains(&noise[2]) && noise[3] == 0);
        headers::stamp(&mut foreign, offer(NEAR, 1, 1));
        prop_assert!(headers::offered(foreign).is_some());
        let mut label = Label::default();
        stamps.iter().for_each(|(a, b, face)| headers::stamp(&mut label, offer(FaceId(*face), *a, *b)));
        let min = |pick: fn(&(u64, u64, u32)) -> u64| stamps.iter().map(pick).min().expect("some");
        let last = FaceId(stamps[stamps.len() - 1].2);
        prop_assert_eq!(headers::offered(label), Some(offer(last, min(|s| s.0), min(|s| s.1))));
    }
}

// ---- the parts ----

#[test]
fn a_consumer_asks_at_the_sum_of_its_paths() {
    let (mut bench, mut controller) = (Bench::new(), control(&Params::default(), &SETUP));
    controller.on_access(Rate::from_mbps(10));
    assert_eq!(controller.allowance().rate, Rate::from_mbps(10));
    for (offer, kbps) in
        [(offer(NEAR, 8000, 1000), 8000), (offer(FAR, 6000, 5000), 8000), (offer(FAR, 6000, 9000), 10_000)]
    {
        let ack = contract::Ack { label: label_of(offer), ..bench.an_ack(&controller) };
        bench.deliver_ack(&mut controller, &ack);
        assert_eq!(controller.allowance().rate, Rate::from_kbps(kbps), "{offer:?}");
    }
    let ack = contract::Ack { label: Label::default(), ..bench.an_ack(&controller) };
    bench.deliver_ack(&mut controller, &ack);
    assert_eq!(controller.allowance().rate, Rate::from_mbps(10), "Data of the own store say nothing");
}

fn arrive(controller: &mut super::Strategy, node: &mut Node, from: FaceId, is_new: bool) -> Option<FaceId> {
    let packet = interest(Label::default());
    (node.sent, node.sent_at) = (Vec::new(), Vec::new());
    controller.on_interest(
        &ArrivingInterest { packet: &packet, name: name(), from, pending: PENDING, is_new },
        &FIB,
        node,
    );
    node.sent.last().copied()
}

fn on_offer(controller: &mut super::Strategy, node: &mut Node, offer: Offer) {
    let packet = data(label_of(offer));
    let returned =
        ArrivingData { packet: &packet, name: name(), from: offer.path, pending: PENDING, rtt: None };
    controller.on_data(&returned, &FIB, node);
}

#[test]
fn a_consumers_node_divides_interests_as_the_shares_are_and_keeps_every_path_known() {
    let (mut node, mut controller) = (Node::new(), strategy(&Params::default(), &SETUP));
    let far = |controller: &mut super::Strategy, node: &mut Node, n: usize| {
        (0..n).filter(|_| arrive(controller, node, CONSUMER, true) == Some(FAR)).count()
    };
    assert_eq!(far(&mut controller, &mut node, 100), 50, "nothing is known");
    on_offer(&mut controller, &mut node, offer(NEAR, 8000, 1000));
    on_offer(&mut controller, &mut node, offer(FAR, 6000, 4000));
    // 1000 + D = 3000 over the near path, against 4000 over the far one
    let shared = far(&mut controller, &mut node, 1000);
    assert!((498..=502).contains(&shared), "{shared}: D = 8000 − 5000 = 3000, so 4000 each");
    on_offer(&mut controller, &mut node, offer(FAR, 6000, 1));
    let trickle = far(&mut controller, &mut node, 1000);
    assert!((18..=21).contains(&trickle), "{trickle}: 2 %");
}

#[test]
fn other_nodes_take_the_cheapest_way_and_what_is_retransmitted_another() {
    let (mut node, mut controller) = (Node::new(), strategy(&Params::default(), &SETUP));
    let elsewhere = FaceId(1);
    assert_eq!(arrive(&mut controller, &mut node, elsewhere, true), Some(NEAR));
    let packet = interest(Label::default());
    let retransmitted =
        ArrivingInterest { packet: &packet, name: name(), from: CONSUMER, pending: PENDING, is_new: false };
    controller.on_interest(&retransmitted, &FIB, &mut node);
    assert_eq!(node.sent, [NEAR, FAR]);
    controller.on_interest(&retransmitted, &FIB, &mut node);
    assert_eq!(node.sent, [NEAR, FAR], "all have just been tried");
    node.now = ms(10);
    controller.on_interest(&retransmitted, &FIB, &mut node);
    assert_eq!(node.sent, [NEAR, FAR, NEAR], "the one that was tried longest ago");
    (node.sent, node.sent_at) = (Vec::new(), Vec::new());
    let only = FibEntry { hops: &HOPS[..1], ..FIB };
    let back = ArrivingInterest { from: NEAR, is_new: true, ..retransmitted };
    controller.on_interest(&back, &only, &mut node);
    assert_eq!((node.sent.len(), node.refused.as_slice()), (0, &[NackReason::NoRoute][..]));
}

fn linked() -> (Node, Link) {
    let (mut node, mut controller) = (Node::new(), link(&Params::default(), &SETUP));
    controller.on_start(&mut node);
    (node, controller)
}

/// The class that an Interest leaves with, if it leaves.
fn leave(controller: &mut Link, node: &mut Node, from: FaceId, to: FaceId, label: Label) -> Option<Class> {
    let mut packet = interest(label);
    let path = &mut Transit { from, to, note: 0, interest_label: Label::default() };
    (controller.on_interest(&mut packet, path, node) == Admission::Pass).then(|| headers::class(packet.label))
}

fn bring(controller: &mut Link, node: &mut Node, from: FaceId, label: Label) -> Offer {
    let mut packet = data(label);
    controller.on_data_in(&mut packet, &ReturnPath { from, rtt: None, note: 0, hops: 1 }, node);
    headers::offered(packet.label).expect("stamped")
}

fn tick(controller: &mut Link, node: &mut Node) {
    node.now = controller.wake();
    controller.on_timer(node);
    assert!(controller.wake() > node.now);
}

fn labels(class: Class) -> Label {
    let mut label = Label::default();
    headers::classify(&mut label, class);
    label
}

#[test]
fn the_second_class_is_offered_what_the_first_leaves() {
    let (mut node, mut controller) = linked();
    assert_eq!(
        bring(&mut controller, &mut node, NEAR, Label::default()),
        offer(NEAR, 10_000, 10_000),
        "idle"
    );
    for _ in 0..40 {
        for _ in 0..70 {
            assert!(leave(&mut controller, &mut node, FAR, NEAR, labels(Class::Primary)).is_some());
        }
        tick(&mut controller, &mut node);
    }
    // 700 of 1000 packets a second are of the first class, which C does not bound yet; C₂ = 300
    let found = bring(&mut controller, &mut node, NEAR, Label::default());
    assert_eq!((found.primary, found.secondary), (Rate::from_mbps(10), Rate::from_mbps(3)));
    assert_eq!(
        bring(&mut controller, &mut node, FAR, Label::default()),
        offer(FAR, 6000, 6000),
        "links of their own"
    );
}

#[test]
fn each_class_has_a_bucket_and_what_says_nothing_is_of_the_first() {
    let (mut node, mut controller) = linked();
    let passed = |controller: &mut Link, node: &mut Node, label| {
        (0..250).filter(|_| leave(controller, node, FAR, NEAR, label).is_some()).count()
    };
    assert_eq!(passed(&mut controller, &mut node, labels(Class::Secondary)), 200);
    assert_eq!(passed(&mut controller, &mut node, labels(Class::Primary)), 200);
    assert_eq!(passed(&mut controller, &mut node, Label::default()), 0);
}

#[test]
fn a_consumers_node_writes_classes_as_the_shares_are() {
    let (mut node, mut controller) = linked();
    let secondaries = |controller: &mut Link, node: &mut Node, to| {
        let classes = (0..100).filter_map(|_| leave(controller, node, CONSUMER, to, Label::default()));
        classes.filter(|class| *class == Class::Secondary).count()
    };
    assert_eq!(secondaries(&mut controller, &mut node, NEAR), 0, "nothing is known");
    for _ in 0..4 {
        tick(&mut controller, &mut node);
    }
    bring(&mut controller, &mut node, NEAR, label_of(offer(CONSUMER, 8000, 1000)));
    bring(&mut controller, &mut node, FAR, label_of(offer(CONSUMER, 6000, 3000)));
    // near: D = 8000 − 4000 = 4000 of the first class, 1000 of the second; far: all of the second
    assert_eq!(secondaries(&mut controller, &mut node, NEAR), 20);
    assert_eq!(secondaries(&mut controller, &mut node, FAR), 100);
}
