//! Tests of a single forwarder against the public documents of the NDN forwarder.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use contract::{
    Address, Admission, ArrivingInterest, Backlog, Cx, Data, DropReason, Ecn, EndpointId, FaceId, FibEntry,
    FlowId, Header, Interest, InterestQueueId, Label, LinkAlgorithm, LinkCx, Meter, Nack, NackReason, Name,
    NameId, Names, NextHop, NodeCx, NodeId, NodeView, Outputs, Packet, PortId, PortView, Random, ReturnPath,
    Router, RouterInput, RouterPacket, Strategy, StrategyCx, Transit, TransitCx,
};
use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::Strategy as _;
use units::{Bytes, Duration, Rate, Time};

use super::strategies::{self, Any};
use super::*;

/// Face, and kind of a packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Gone {
    face: u32,
    packet: Packet,
}

/// A packet that was sent: the face, a letter for the kind, the segment.
type Observed = (u32, char, u64);

struct Ports;

impl NodeView for Ports {
    fn port(&mut self, port: PortId) -> PortView {
        let backlog = Backlog { packets: 3, bytes: Bytes::new(3300) };
        PortView {
            port,
            to: NodeId(100 + port.0),
            rate: Rate::from_mbps(10),
            rate_in: Rate::from_mbps(10),
            backlog,
            busy: true,
            limit: Backlog { packets: 100, bytes: Bytes::UNLIMITED },
        }
    }
    fn next(&self, _to: NodeId) -> Option<PortId> {
        None
    }
    fn cost(&self, _to: NodeId) -> Option<u64> {
        None
    }
}

/// A node with links at ports 10, 20, 30 (faces 0, 1, 2) and endpoints 5 and 6 (faces 3 and 4).
struct Node<S, L> {
    machine: Forwarder<S, L>,
    now: Time,
    random: Random,
    meter: Meter,
    out: Outputs,
}

const ME: Address = Address { node: NodeId(1), endpoint: EndpointId(50) };
const LINKS: [u32; 3] = [10, 20, 30];
const LOCALS: [u32; 2] = [5, 6];

/// No part at the links.
struct NoAlgorithm;
impl LinkAlgorithm for NoAlgorithm {}

type Plain = Node<Any<strategies::BestRoute>, NoAlgorithm>;

fn names() -> (Names, NameId) {
    let mut names = Names::new();
    let prefix = names.intern("/data/film");
    (names, prefix)
}

fn hop(face: u32, cost: u64) -> NextHop {
    NextHop { face: FaceId(face), cost }
}

fn node<S: Strategy, L: LinkAlgorithm>(
    config: &Config,
    strategy: S,
    algorithm: Option<L>,
    hops: &[NextHop],
) -> Node<S, L> {
    let (names, prefix) = names();
    let links: Vec<(PortId, Address)> = LINKS
        .iter()
        .map(|&port| (PortId(port), Address { node: NodeId(100 + port), endpoint: EndpointId(200 + port) }))
        .collect();
    let faces = Faces::new(&links, &LOCALS.map(EndpointId));
    let random = ["strategy", "link"].map(|purpose| Random::new(1, "node", purpose));
    let mut machine = Forwarder::new(config, Arc::new(names), faces, strategy, algorithm, random);
    machine.set_routes(&[(prefix, hops.to_vec())]);
    let mut out = Outputs::default();
    out.notes.probing = true;
    let mut node =
        Node { machine, now: Time::ZERO, random: Random::new(1, "node", ""), meter: Meter::default(), out };
    node.input(RouterInput::Start);
    node
}

/// Best route, next hops 1 and 2.
fn plain(config: &Config) -> Plain {
    let strategy = strategies::find("best_route").expect("it is there").make(&[]).expect("no parameters");
    node(config, strategy, None, &[hop(1, 5), hop(2, 9)])
}

impl<S: Strategy, L: LinkAlgorithm> Node<S, L> {
    fn input(&mut self, input: RouterInput<'_>) -> Option<DropReason> {
        let mut cx =
            Cx::new(self.now, ME, FlowId(u32::MAX), &mut self.random, &mut self.meter, &mut self.out);
        self.machine.handle(input, &mut NodeCx::new(&mut cx, &mut Ports))
    }

    /// Passes a packet to the forwarder by a face, which may send it on itself. Returns the packets that it sent.
    fn take(&mut self, face: u32, packet: Packet) -> Vec<Gone> {
        let local = (face as usize).checked_sub(LINKS.len()).map(|local| EndpointId(LOCALS[local]));
        let source = local.map_or(packet.source, |endpoint| Address { node: ME.node, endpoint });
        let packet = Packet { source, ..packet };
        self.out.input = RouterPacket::Offered(self.out.arena.insert(packet));
        let fate = match LINKS.get(face as usize) {
            Some(port) => self.input(RouterInput::Packet(&packet, PortId(*port))),
            None => self.input(RouterInput::Local(&packet)),
        };
        assert_eq!(fate, None, "it is taken");
        self.gone()
    }

    /// Packets sent since the last call, links first.
    fn gone(&mut self) -> Vec<Gone> {
        let Outputs { arena, input, forwards, deliveries, outbox, .. } = &mut self.out;
        assert!(outbox.is_empty(), "forwarders speak by faces alone");
        match std::mem::take(input) {
            RouterPacket::None => {}
            RouterPacket::Offered(id) => arena.release(id),
            RouterPacket::Forwarded(id, port) => forwards.insert(0, (id, port)),
            RouterPacket::Delivered(id, endpoint) => deliveries.insert(0, (id, endpoint)),
        }
        let mut gone = Vec::new();
        for (id, port) in forwards.drain(..) {
            let face = LINKS.iter().position(|known| *known == port.0).expect("a port of the node") as u32;
            let packet = *arena.get(id);
            assert_eq!(
                packet.to,
                Address { node: NodeId(100 + port.0), endpoint: EndpointId(200 + port.0) }.into()
            );
            gone.push(Gone { face, packet });
            arena.release(id);
        }
        for (id, endpoint) in deliveries.drain(..) {
            let index =
                LOCALS.iter().position(|known| *known == endpoint.0).expect("an endpoint of the node");
            gone.push(Gone { face: (LINKS.len() + index) as u32, packet: *arena.get(id) });
            arena.release(id);
        }
        gone
    }

    /// Advances time up to and including `end`; returns the packets sent until then.
    fn run(&mut self, end: Time) -> Vec<Gone> {
        let mut gone = Vec::new();
        while self.machine.wake() <= end {
            self.now = self.now.max(self.machine.wake());
            self.input(RouterInput::Timer);
            gone.extend(self.gone());
        }
        self.now = end;
        gone
    }

    fn count(&self, what: Tally) -> u64 {
        self.machine.counters().count(what)
    }
}

fn observed(gone: &[Gone]) -> Vec<Observed> {
    let send_feedback = |gone: &Gone| match gone.packet.header {
        Header::Interest(interest) => (gone.face, 'I', interest.name.segment),
        Header::Data(data) => (gone.face, 'D', data.name.segment),
        Header::Nack(nack) => (gone.face, 'N', nack.name.segment),
        other => panic!("{other:?}"),
    };
    gone.iter().map(send_feedback).collect()
}

fn reasons(gone: &[Gone]) -> Vec<(u32, NackReason)> {
    gone.iter()
        .filter_map(|gone| match gone.packet.header {
            Header::Nack(nack) => Some((gone.face, nack.reason)),
            _ => None,
        })
        .collect()
}

fn name(segment: u64) -> Name {
    Name { prefix: names().1, segment }
}

fn packet(flow: u32, header: Header) -> Packet {
    Packet {
        flow: FlowId(flow),
        size_bytes: 50,
        source: Address::default(),
        to: ME.into(),
        sent_at: Time::ZERO,
        label: Label([7; 4]),
        header,
        ecn: Ecn::Capable,
        hops: 1,
        waited: Default::default(),
    }
}

fn interest(segment: u64, nonce: u32) -> Packet {
    packet(nonce, Header::Interest(Interest { name: name(segment), nonce, lifetime_ms: 2000 }))
}

fn data(segment: u64) -> Packet {
    let header = Header::Data(Data { name: name(segment), payload_bytes: 1000 });
    Packet { size_bytes: 1076, label: Label([9; 4]), ..packet(0, header) }
}

fn nack(segment: u64, nonce: u32, reason: NackReason) -> Packet {
    packet(0, Header::Nack(Nack { name: name(segment), nonce, reason }))
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

#[test]
fn an_interest_goes_out_and_data_follows_it_back() {
    let mut node = plain(&Config::default());
    let sent = node.take(3, interest(0, 11));
    assert_eq!(observed(&sent), [(1, 'I', 0)]);
    assert_eq!(sent[0].packet.label, Label([7; 4]), "a scheme's header travels with it");
    let back = node.take(1, data(0));
    assert_eq!(observed(&back), [(3, 'D', 0)]);
    assert_eq!(
        (back[0].packet.flow, back[0].packet.label),
        (FlowId(11), Label([9; 4])),
        "it is the asker's flow"
    );
    assert!(node.machine.pit().is_empty());
    assert_eq!(node.machine.wake(), Time::NEVER);
}

#[test]
fn interests_for_the_same_name_wait_together_and_each_downstream_gets_the_data() {
    let mut node = plain(&Config::default());
    assert_eq!(observed(&node.take(3, interest(0, 11))), [(1, 'I', 0)]);
    assert!(node.take(0, interest(0, 12)).is_empty());
    assert!(node.take(4, interest(0, 13)).is_empty());
    assert_eq!((node.count(Tally::Aggregated), node.count(Tally::InterestsOut)), (2, 1));
    let back = node.take(1, data(0));
    assert_eq!(observed(&back), [(0, 'D', 0), (3, 'D', 0), (4, 'D', 0)]);
    let mut flows: Vec<u32> = back.iter().map(|gone| gone.packet.flow.0).collect();
    flows.sort_unstable();
    assert_eq!(flows, [11, 12, 13]);
}

#[test]
fn the_packet_of_an_input_is_sent_itself_and_a_further_face_gets_a_copy() {
    let mut node = plain(&Config::default());
    node.take(0, interest(0, 11));
    node.take(2, interest(0, 12));
    assert_eq!(node.out.arena.live(), 0);
    let id = node.out.arena.insert(data(0));
    node.out.input = RouterPacket::Offered(id);
    node.input(RouterInput::Packet(&data(0), PortId(LINKS[1])));
    assert_eq!(node.out.input, RouterPacket::Forwarded(id, PortId(LINKS[0])));
    let [(copy, port)] = node.out.forwards[..] else { panic!("one copy") };
    assert_eq!((node.out.arena.live(), port), (2, PortId(LINKS[2])));
    let flows = [id, copy].map(|id| node.out.arena.get(id).flow);
    assert_eq!(flows, [FlowId(11), FlowId(12)], "each counts for the flow of its downstream");
    assert_eq!(observed(&node.gone()), [(0, 'D', 0), (2, 'D', 0)]);
}

#[test]
fn unsolicited_data_is_dropped() {
    let mut node = plain(&Config { store: Store { policy: Policy::Lru, size: 10 }, ..Config::default() });
    assert!(node.take(1, data(0)).is_empty());
    assert_eq!((node.count(Tally::Unsolicited), node.machine.counters().stored), (1, 0));
    node.take(3, interest(0, 11));
    node.take(1, data(0));
    assert!(node.take(1, data(0)).is_empty(), "the second copy finds nobody");
    assert_eq!(node.count(Tally::Unsolicited), 2);
}

#[test]
fn a_nonce_seen_at_another_face_is_a_loop_and_is_refused() {
    let mut node = plain(&Config::default());
    node.take(0, interest(0, 11));
    let refused = node.take(2, interest(0, 11));
    assert_eq!(reasons(&refused), [(2, NackReason::Duplicate)]);
    let Header::Nack(nack) = refused[0].packet.header else { panic!("{refused:?}") };
    assert_eq!(nack.nonce, 11);
    // its own nonce returns as well
    assert_eq!(reasons(&node.take(1, interest(0, 11))), [(1, NackReason::Duplicate)]);
    // the same downstream may repeat its Interest
    assert!(node.take(0, interest(0, 11)).is_empty());
    assert_eq!((node.count(Tally::Loops), node.count(Tally::Repeated)), (2, 1));
    assert_eq!(observed(&node.take(1, data(0))), [(0, 'D', 0)], "the loop is no downstream");
}

#[test]
fn a_nonce_is_known_after_its_entry_has_ended() {
    for satisfied in [true, false] {
        let mut node = plain(&Config::default());
        node.take(0, interest(0, 11));
        if satisfied {
            node.take(1, data(0));
        } else {
            node.run(at(2000));
        }
        assert!(node.machine.pit().is_empty());
        assert_eq!(reasons(&node.take(2, interest(0, 11))), [(2, NackReason::Duplicate)], "{satisfied}");
        assert_eq!(observed(&node.take(2, interest(0, 12))), [(1, 'I', 0)], "a new one is no loop");
    }
}

#[test]
fn the_dead_nonce_list_has_its_configured_length() {
    let mut node = plain(&Config { dead_nonces: 2, ..Config::default() });
    for segment in 0..3 {
        node.take(0, interest(segment, 40 + segment as u32));
        node.take(1, data(segment));
    }
    let loops: Vec<bool> = (0..3)
        .map(|segment| !reasons(&node.take(2, interest(segment, 40 + segment as u32))).is_empty())
        .collect();
    assert_eq!(loops, [false, true, true]);
}

#[test]
fn an_interest_expires_after_its_lifetime_and_late_data_is_unsolicited() {
    let mut node = plain(&Config::default());
    node.take(3, interest(0, 11));
    assert_eq!(node.machine.wake(), at(2000));
    assert!(node.run(at(1999)).is_empty());
    assert_eq!(node.machine.pit().len(), 1);
    assert!(node.run(at(2000)).is_empty(), "no word is said");
    assert_eq!((node.machine.pit().len(), node.count(Tally::Expired)), (0, 1));
    assert!(node.take(1, data(0)).is_empty());
    assert_eq!(node.count(Tally::Unsolicited), 1);
}

#[test]
fn each_downstream_waits_for_its_own_lifetime() {
    let mut node = plain(&Config::default());
    let short = |segment, nonce| {
        packet(nonce, Header::Interest(Interest { name: name(segment), nonce, lifetime_ms: 100 }))
    };
    node.take(3, interest(0, 11));
    node.take(0, short(0, 12));
    assert_eq!(node.machine.wake(), at(2000), "a shorter lifetime does not end the entry sooner");
    node.run(at(150));
    assert_eq!(observed(&node.take(1, data(0))), [(3, 'D', 0)], "face 0 has stopped waiting");
    // a longer one prolongs it
    node.take(0, short(1, 13));
    node.take(3, interest(1, 14));
    assert_eq!(node.machine.wake(), at(2150));
}

#[test]
fn the_content_store_answers_before_the_strategy() {
    let mut node = plain(&Config { store: Store { policy: Policy::Lru, size: 10 }, ..Config::default() });
    node.take(3, interest(0, 11));
    node.take(1, data(0));
    node.now = at(5);
    let hit = node.take(0, interest(0, 12));
    assert_eq!(observed(&hit), [(0, 'D', 0)]);
    let packet = hit[0].packet;
    assert_eq!(
        (packet.flow, packet.size_bytes, packet.sent_at, packet.ecn),
        (FlowId(12), 1076, at(5), Ecn::Capable)
    );
    assert_eq!(packet.label, Label::default(), "what was stamped on the way here is not kept");
    assert_eq!((node.count(Tally::Hits), node.count(Tally::Misses)), (1, 1));
    assert!(node.machine.pit().is_empty());
    assert_eq!(node.machine.counters().hit_ratio(), Some(0.5));
}

#[test]
fn the_longest_prefix_decides_and_without_one_the_interest_is_refused() {
    let mut node = plain(&Config::default());
    let (mut names, film) = names();
    let data_prefix = names.find("/data").expect("it is above");
    names.intern("/other");
    node.machine.set_routes(&[(data_prefix, vec![hop(2, 1)]), (film, vec![hop(1, 9)])]);
    assert_eq!(observed(&node.take(0, interest(0, 11))), [(1, 'I', 0)]);
    node.machine.set_routes(&[(data_prefix, vec![hop(2, 1)])]);
    assert_eq!(observed(&node.take(0, interest(1, 12))), [(2, 'I', 1)]);
    node.machine.set_routes(&[]);
    let refused = node.take(0, interest(2, 13));
    assert_eq!(reasons(&refused), [(0, NackReason::NoRoute)]);
    assert_eq!((node.count(Tally::NoRoute), node.machine.pit().len()), (1, 2));
    // if the only path leads back there is no route either
    node.machine.set_routes(&[(film, vec![hop(0, 1)])]);
    assert_eq!(reasons(&node.take(0, interest(3, 14))), [(0, NackReason::NoRoute)]);
    assert_eq!(node.machine.pit().len(), 2);
}

#[test]
fn a_nack_is_sent_downstream_when_all_upstreams_sent_one() {
    let mut node = plain(&Config::default());
    node.take(0, interest(0, 11));
    node.take(3, interest(0, 12));
    assert!(node.take(2, nack(0, 11, NackReason::Congestion)).is_empty(), "face 2 was not asked");
    assert!(node.take(1, nack(0, 99, NackReason::Congestion)).is_empty(), "another nonce");
    assert_eq!(node.count(Tally::Stale), 2);
    let refused = node.take(1, nack(0, 11, NackReason::Congestion));
    assert_eq!(reasons(&refused), [(0, NackReason::Congestion), (3, NackReason::Congestion)]);
    let nonces: Vec<u32> = refused
        .iter()
        .map(|gone| match gone.packet.header {
            Header::Nack(nack) => nack.nonce,
            _ => panic!("{gone:?}"),
        })
        .collect();
    assert_eq!(nonces, [11, 12], "each downstream's own");
    assert_eq!((refused[0].packet.flow, refused[1].packet.flow), (FlowId(11), FlowId(12)));
    assert!(node.machine.pit().is_empty());
}

#[test]
fn the_least_severe_of_several_reasons_goes_down() {
    let strategy = strategies::find("multicast").expect("it is there").make(&[]).expect("no parameters");
    let mut node: Node<Any<strategies::BestRoute>, NoAlgorithm> =
        node(&Config::default(), strategy, None, &[hop(1, 5), hop(2, 9)]);
    assert_eq!(observed(&node.take(0, interest(0, 11))), [(1, 'I', 0), (2, 'I', 0)]);
    assert!(node.take(1, nack(0, 11, NackReason::NoRoute)).is_empty());
    let refused = node.take(2, nack(0, 11, NackReason::Congestion));
    assert_eq!(reasons(&refused), [(0, NackReason::Congestion)]);
}

#[test]
fn faces_count_their_pending_interests() {
    /// Records the pending Interests of each face.
    struct Watch(Vec<u32>);
    impl Strategy for Watch {
        fn on_interest(
            &mut self,
            interest: &ArrivingInterest<'_>,
            fib: &FibEntry<'_>,
            cx: &mut dyn StrategyCx,
        ) {
            for hop in fib.hops {
                cx.send_interest(interest.pending, hop.face);
            }
            self.0 = (0..cx.faces()).map(|face| cx.face(FaceId(face)).pending).collect();
        }
        fn on_timer(&mut self, _cx: &mut dyn StrategyCx) {}
    }
    let mut node: Node<Watch, NoAlgorithm> =
        node(&Config::default(), Watch(Vec::new()), None, &[hop(1, 5), hop(2, 9)]);
    let pending = |node: &mut Node<Watch, NoAlgorithm>, segment| {
        node.take(0, interest(segment, 100 + segment as u32));
        node.machine.strategy().0.clone()
    };
    assert_eq!(pending(&mut node, 0), [0, 1, 1, 0, 0]);
    assert_eq!(pending(&mut node, 1), [0, 2, 2, 0, 0]);
    node.take(1, data(0));
    node.take(2, nack(1, 101, NackReason::Congestion));
    // Data ends the expectation of both faces, a NACK the expectation of one
    assert_eq!(pending(&mut node, 2), [0, 2, 1, 0, 0]);
    node.run(at(2000));
    assert_eq!(pending(&mut node, 3), [0, 1, 1, 0, 0]);
}

/// Refuses, drops or holds by segment; records its inputs.
#[derive(Default)]
struct Algorithm {
    seen: Vec<String>,
    release_at: Option<Time>,
    refuse: bool,
}

const HOLD: u64 = 100;
const REFUSE: u64 = 200;
const DROP: u64 = 300;

fn segment_of(packet: &Packet) -> u64 {
    match packet.header {
        Header::Interest(interest) => interest.name.segment,
        Header::Data(data) => data.name.segment,
        Header::Nack(nack) => nack.name.segment,
        _ => panic!("{packet:?}"),
    }
}

impl LinkAlgorithm for Algorithm {
    fn on_interest_in(&mut self, interest: &Packet, from: FaceId, _cx: &mut dyn LinkCx) {
        self.seen.push(format!("in {} {}", segment_of(interest), from.0));
    }
    fn on_interest(&mut self, interest: &mut Packet, path: &mut Transit, cx: &mut dyn LinkCx) -> Admission {
        let segment = segment_of(interest);
        assert!(cx.face(path.to).link.is_some_and(|link| link.rate == Rate::from_mbps(10)));
        self.seen.push(format!("out {segment} {} {} {}", path.from.0, path.to.0, path.note));
        interest.label = Label([segment; 4]);
        path.note += 5;
        match segment {
            DROP.. => Admission::Drop,
            REFUSE.. => Admission::Refuse(NackReason::Congestion),
            HOLD.. => {
                self.release_at = Some(cx.now() + Duration::from_millis(10));
                Admission::Hold(InterestQueueId(2))
            }
            _ => Admission::Pass,
        }
    }
    fn on_data_in(&mut self, data: &mut Packet, path: &ReturnPath, _cx: &mut dyn LinkCx) {
        let rtt = path.rtt.map(|rtt| rtt.as_nanos() / 1_000_000);
        self.seen.push(format!("data {} {} {rtt:?} {}", segment_of(data), path.from.0, path.note));
        data.label.0[0] = 1;
    }
    fn on_data_out(&mut self, data: &mut Packet, path: &Transit, _cx: &mut dyn LinkCx) {
        self.seen.push(format!("down {} {} {} {}", segment_of(data), path.from.0, path.to.0, path.note));
        data.label.0[1] = 2;
    }
    fn on_nack_in(&mut self, nack: &mut Packet, from: FaceId, _cx: &mut dyn LinkCx) {
        self.seen.push(format!("nack {} {}", segment_of(nack), from.0));
    }
    fn on_timer(&mut self, cx: &mut dyn LinkCx) {
        self.release_at = None;
        if self.refuse {
            while cx.refuse(InterestQueueId(2), NackReason::Congestion).is_some() {}
        } else {
            while cx.release(InterestQueueId(2)).is_some() {}
        }
        assert_eq!(cx.interest_queue(InterestQueueId(2)).packets, 0);
    }
    fn observes_enqueue(&self) -> bool {
        true
    }
    fn on_enqueue(&mut self, packet: &mut Packet, to: FaceId, _port: &PortView, _at: &mut TransitCx<'_>) {
        self.seen.push(format!("queue {} {}", segment_of(packet), to.0));
    }
    fn observes_dequeue(&self) -> bool {
        true
    }
    fn on_dequeue(
        &mut self,
        packet: &mut Packet,
        to: FaceId,
        _port: &PortView,
        waited: Duration,
        _at: &mut TransitCx<'_>,
    ) {
        self.seen.push(format!("left {} {} {}", segment_of(packet), to.0, waited.as_nanos() / 1_000_000));
    }
    fn wake(&self) -> Time {
        self.release_at.unwrap_or(Time::NEVER)
    }
}

fn shaped(algorithm: Algorithm) -> Node<Any<strategies::BestRoute>, Algorithm> {
    let strategy = strategies::find("best_route").expect("it is there").make(&[]).expect("no parameters");
    node(&Config::default(), strategy, Some(algorithm), &[hop(1, 5), hop(2, 9)])
}

fn seen(node: &mut Node<Any<strategies::BestRoute>, Algorithm>) -> Vec<String> {
    std::mem::take(&mut node.machine.algorithm_mut().expect("it has one").seen)
}

#[test]
fn a_link_part_sees_what_crosses_links_and_stamps_it() {
    let mut node = shaped(Algorithm::default());
    let sent = node.take(0, interest(1, 11));
    assert_eq!(sent[0].packet.label, Label([1; 4]));
    node.take(3, interest(1, 12));
    node.now = at(30);
    let back = node.take(1, data(1));
    assert_eq!(observed(&back), [(0, 'D', 1), (3, 'D', 1)]);
    assert_eq!(back[0].packet.label, Label([1, 2, 9, 9]), "stamped on the way in and on the way out");
    assert_eq!(back[1].packet.label, Label([1, 9, 9, 9]), "an endpoint is no link");
    assert_eq!(seen(&mut node), ["in 1 0", "out 1 0 1 0", "data 1 1 Some(30) 5", "down 1 1 0 5"]);
    assert!(node.machine.observes_enqueue());
    let view = Ports.port(PortId(20));
    let mut random = Random::new(1, "", "");
    let mut at = TransitCx { now: node.now, port: PortId(20), random: &mut random };
    node.machine.on_enqueue(&mut data(4), &view, &mut at);
    assert!(node.machine.observes_dequeue());
    node.machine.on_dequeue(&mut data(4), &view, Duration::from_millis(7), &mut at);
    assert_eq!(seen(&mut node), ["queue 4 1", "left 4 1 7"]);
}

#[test]
fn a_round_trip_is_not_measured_where_the_interest_was_sent_again() {
    let mut node = shaped(Algorithm::default());
    node.take(0, interest(1, 11));
    node.now = at(100);
    // face 2 was untried, then face 1 is the one tried longest ago
    assert_eq!(observed(&node.take(0, interest(1, 12))), [(2, 'I', 1)]);
    node.now = at(200);
    assert_eq!(observed(&node.take(0, interest(1, 13))), [(1, 'I', 1)]);
    node.now = at(230);
    node.take(1, data(1));
    assert_eq!(
        seen(&mut node).iter().filter(|line| line.starts_with("data")).collect::<Vec<_>>(),
        ["data 1 1 None 15"]
    );
}

#[test]
fn a_refusal_of_a_link_part_reaches_the_strategy_and_a_drop_expires() {
    let mut node = shaped(Algorithm::default());
    assert_eq!(reasons(&node.take(0, interest(REFUSE, 11))), [(0, NackReason::Congestion)]);
    assert!(node.machine.pit().is_empty());
    assert!(node.take(0, interest(DROP, 12)).is_empty());
    assert_eq!(node.machine.pit().len(), 1);
    assert_eq!(
        (node.count(Tally::Nacked), node.count(Tally::Policed), node.count(Tally::InterestsOut)),
        (1, 1, 0)
    );
    node.run(at(2000));
    assert!(node.machine.pit().is_empty());
}

#[test]
fn an_interest_queue_releases_interests_in_order_except_satisfied_ones() {
    let mut node = shaped(Algorithm::default());
    for segment in HOLD..HOLD + 3 {
        assert!(node.take(0, interest(segment, segment as u32)).is_empty());
    }
    assert_eq!(node.count(Tally::Delayed), 3);
    // another face delivers the second in the meantime
    assert_eq!(observed(&node.take(2, data(HOLD + 1))), [(0, 'D', HOLD + 1)]);
    let sent = node.run(at(10));
    assert_eq!(observed(&sent), [(1, 'I', HOLD), (1, 'I', HOLD + 2)]);
    assert_eq!(sent[0].packet.label, Label([HOLD; 4]), "as it was stamped");
    node.now = at(40);
    node.take(1, data(HOLD));
    let line = format!("data {HOLD} 1 Some(30) 5");
    assert!(seen(&mut node).contains(&line), "the time in the interest_queue is not the link's");
}

#[test]
fn an_interest_refused_by_an_interest_queue_returns_a_nack() {
    let mut node = shaped(Algorithm { refuse: true, ..Algorithm::default() });
    node.take(0, interest(HOLD, 11));
    node.take(3, interest(HOLD, 12));
    let refused = node.run(at(10));
    assert_eq!(reasons(&refused), [(0, NackReason::Congestion), (3, NackReason::Congestion)]);
    assert!(node.machine.pit().is_empty());
    assert_eq!(node.count(Tally::Nacked), 1);
}

/// An event of a forwarder.
#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Interest { face: u32, segment: u64, nonce: u32 },
    Data { face: u32, segment: u64 },
    Nack { face: u32, segment: u64, nonce: u32 },
}

fn step() -> impl proptest::strategy::Strategy<Value = Step> {
    let (face, segment, nonce) =
        (0u32..5, prop_oneof![0u64..6, 98u64..103, 200u64..202, 300u64..302], 0u32..12);
    prop_oneof![
        3 => (0u64..700).prop_map(Step::Wait),
        6 => (face.clone(), segment.clone(), nonce.clone())
            .prop_map(|(face, segment, nonce)| Step::Interest { face, segment, nonce }),
        3 => (face.clone(), segment.clone()).prop_map(|(face, segment)| Step::Data { face, segment }),
        2 => (face, segment, nonce).prop_map(|(face, segment, nonce)| Step::Nack { face, segment, nonce }),
    ]
}

/// Replies that downstreams of a forwarder may still get.
#[derive(Default)]
struct Waiting {
    /// By downstream and segment, the latest end of its Interest.
    interest_label: BTreeMap<(u32, u64), Time>,
    /// By segment, the end of an Interest of a downstream that was refused: the entry may live as long for the others.
    refused: BTreeMap<u64, Time>,
}

proptest! {
    /// Every Interest is answered, refused or expires, with all events, under every strategy, with and without a store;
    /// and when there are no more events, no Interest is pending.
    #[test]
    fn every_interest_ends(
        steps in prop::collection::vec(step(), 1..150),
        strategy in 0usize..strategies::ALL.len(),
        store in 0u32..4,
        refuse in any::<bool>(),
    ) {
        let made = strategies::ALL[strategy].make(&[]).expect("no parameters");
        let config = Config { store: Store { policy: Policy::Lru, size: store }, ..Config::default() };
        let algorithm = Algorithm { refuse, ..Algorithm::default() };
        let mut node: Node<Any<strategies::BestRoute>, Algorithm> =
            node(&config, made, Some(algorithm), &[hop(1, 5), hop(2, 9), hop(4, 20)]);
        let mut waiting = Waiting::default();
        let received = |waiting: &mut Waiting, gone: &[Gone], now: Time| {
            for (gone, (face, kind, segment)) in gone.iter().zip(observed(gone)) {
                if kind != 'I' {
                    let known = waiting.interest_label.remove(&(face, segment));
                    if let Some(until) = known.filter(|_| kind == 'N') {
                        let before = waiting.refused.get(&segment).copied().unwrap_or(until);
                        waiting.refused.insert(segment, until.max(before));
                    }
                    // refusals carry their sending time, which may be in the past
                    let when = if kind == 'N' { gone.packet.sent_at } else { now };
                    prop_assert!(known.is_some_and(|until| until > when), "{kind} {segment} to {face}, who does not wait");
                }
            }
            Ok(())
        };
        for step in steps {
            match step {
                Step::Wait(ms) => {
                    let gone = node.run(node.now + Duration::from_millis(ms));
                    received(&mut waiting, &gone, node.now)?;
                }
                Step::Interest { face, segment, nonce } => {
                    let now = node.now;
                    let gone = node.take(face, interest(segment, nonce));
                    // a loop is refused, but the downstream's earlier Interest stays pending
                    if reasons(&gone) != [(face, NackReason::Duplicate)] {
                        waiting.interest_label.insert((face, segment), now + Duration::from_secs(2));
                        received(&mut waiting, &gone, now)?;
                    }
                }
                Step::Data { face, segment } => {
                    let gone = node.take(face, data(segment));
                    // Data is not sent back to its incoming face
                    waiting.interest_label.remove(&(face, segment));
                    received(&mut waiting, &gone, node.now)?;
                }
                Step::Nack { face, segment, nonce } => {
                    let gone = node.take(face, nack(segment, nonce, NackReason::Congestion));
                    received(&mut waiting, &gone, node.now)?;
                }
            }
            let asked = waiting.interest_label.keys().map(|(_, segment)| *segment);
            let alive: BTreeSet<u64> = asked.chain(waiting.refused.keys().copied()).collect();
            prop_assert!(node.machine.pit().len() <= alive.len(), "memory follows who waits");
            waiting.interest_label.retain(|_, until| *until > node.now);
            waiting.refused.retain(|_, until| *until > node.now);
        }
        let gone = node.run(node.now + Duration::from_secs(3));
        received(&mut waiting, &gone, node.now)?;
        prop_assert!(node.machine.pit().is_empty());
        let counters = node.machine.counters();
        let count = |what| counters.count(what);
        let taken = count(Tally::InterestsIn) - count(Tally::Aggregated) - count(Tally::Repeated);
        let ended = count(Tally::Hits) + count(Tally::Loops) + count(Tally::NoRoute)
            + (count(Tally::DataIn) - count(Tally::Unsolicited)) + count(Tally::Expired);
        prop_assert!(taken >= ended, "{counters:?}");
        // the rest was refused to the last of its downstreams that still waited, or to none of them
        prop_assert!(taken - ended <= count(Tally::NacksIn) + count(Tally::NacksOut), "{counters:?}");
        prop_assert_eq!(node.machine.faces().outstanding(), 0);
    }
}
