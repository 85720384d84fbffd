//! Tests of the forwarder with a simulated clock and in-memory faces.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use contract::Count;
use proptest::prelude::*;
use stack::ndn::{ConsumerConfig, Policy, Store, Tally};
use units::{Bytes, Duration, Rate, Time};
use wire::ndn::{
    Arguments, Command, Data, Interest, LinkHeader, LinkPacket, Name, Packet as Wire, Reason, Response,
    Token, Unsigned, command,
};

use super::app::App;
use super::*;

/// What left, in order, and what waits for others to take it.
#[derive(Default)]
struct Left(Vec<(Peer, Vec<u8>)>, u64);

impl Frames for Left {
    fn send(&mut self, to: Peer, frame: &[u8]) -> bool {
        self.0.push((to, frame.to_vec()));
        true
    }

    fn waiting(&mut self, _to: Peer) -> u64 {
        self.1
    }
}

/// A packet that left, as others read it.
#[derive(Debug, PartialEq)]
enum SentMessage {
    Interest { to: Peer, name: String, nonce: Option<u32>, hops: Option<u8> },
    Data { to: Peer, name: String, token: Vec<u8>, mark: u64, label: [u64; 4] },
    Nack { to: Peer, name: String, reason: u64, token: Vec<u8> },
}

fn host(n: u8) -> Peer {
    Peer::Udp(SocketAddr::from(([10, 0, 0, n], 6363)))
}

const PROGRAM: Peer = Peer::Program(1);

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

/// A node under test.
struct Bench {
    node: Node,
    left: Left,
}

fn known(n: u8, rate: Rate) -> LinkSettings {
    let Peer::Udp(to) = host(n) else { unreachable!("hosts are reached by UDP") };
    LinkSettings { name: format!("link{n}"), to: Some(to), rate, rate_in: rate, ..LinkSettings::default() }
}

fn route(prefix: &str, link: usize) -> RouteSettings {
    RouteSettings { prefix: name(prefix), link, cost: 1 }
}

/// Two links, the first towards `/a` and the second towards `/b`.
fn settings() -> Settings {
    Settings {
        links: vec![known(1, Rate::UNLIMITED), known(2, Rate::UNLIMITED)],
        routes: vec![route("/a", 0), route("/b", 1)],
        limits: Limits { lifetime: Duration::from_secs(4), ..Limits::default() },
        ..Settings::default()
    }
}

impl Bench {
    fn new(settings: Settings) -> Self {
        let mut bench =
            Self { node: Node::new(settings).expect("the settings are right"), left: Left::default() };
        bench.node.start(Time::ZERO, &mut bench.left);
        bench
    }

    fn give(&mut self, from: Peer, frame: &[u8], now: Time) -> Vec<SentMessage> {
        self.node.on_frame(from, frame, now, &mut self.left);
        self.messages()
    }

    fn wait(&mut self, now: Time) -> Vec<SentMessage> {
        self.node.on_time(now, &mut self.left);
        self.messages()
    }

    fn messages(&mut self) -> Vec<SentMessage> {
        self.left.0.drain(..).map(|(to, frame)| messages(to, &frame)).collect()
    }

    fn count(&self, what: Tally) -> u64 {
        self.node.stats().machine.count(what)
    }

    fn strays(&self) -> Strays {
        self.node.stats().strays
    }
}

fn messages(to: Peer, frame: &[u8]) -> SentMessage {
    let link = LinkPacket::read(frame).expect("a link packet");
    let token = link.header.token.bytes().to_vec();
    match (Wire::read(link.fragment).expect("a packet"), link.header.nack) {
        (Wire::Interest(interest), Some(Reason(reason))) => {
            SentMessage::Nack { to, name: interest.name.to_string(), reason, token }
        }
        (Wire::Interest(interest), None) => SentMessage::Interest {
            to,
            name: interest.name.to_string(),
            nonce: interest.nonce,
            hops: interest.hop_limit,
        },
        (Wire::Data(data), _) => SentMessage::Data {
            to,
            name: data.name.to_string(),
            token,
            mark: link.header.mark,
            label: link.header.label.0,
        },
    }
}

fn ask_with(text: &str, nonce: u32, change: impl FnOnce(&mut Interest<'_>), header: LinkHeader) -> Vec<u8> {
    let name = name(text);
    let mut interest = Interest {
        name: name.view(),
        nonce: Some(nonce),
        lifetime_ms: Some(2000),
        hop_limit: Some(9),
        ..Interest::default()
    };
    change(&mut interest);
    let (mut packet, mut frame) = (Vec::new(), Vec::new());
    interest.write(&mut packet);
    LinkPacket::whole(header, &packet).write(&mut frame);
    frame
}

fn add_downstream(text: &str, nonce: u32) -> Vec<u8> {
    ask_with(text, nonce, |_| {}, LinkHeader::default())
}

fn token(byte: u8) -> LinkHeader {
    LinkHeader { token: Token::new(&[byte]).expect("it is short"), ..LinkHeader::default() }
}

fn data_with(text: &str, freshness_ms: u64, header: LinkHeader) -> Vec<u8> {
    let name = name(text);
    let (mut packet, mut frame) = (Vec::new(), Vec::new());
    Unsigned { name: name.view(), freshness_ms, content: b"hello", ..Unsigned::default() }.sign(&mut packet);
    LinkPacket::whole(header, &packet).write(&mut frame);
    frame
}

fn data(text: &str) -> Vec<u8> {
    data_with(text, 0, LinkHeader::default())
}

fn interest_to(to: Peer, text: &str, nonce: u32) -> SentMessage {
    SentMessage::Interest { to, name: text.to_owned(), nonce: Some(nonce), hops: Some(8) }
}

fn data_to(to: Peer, text: &str) -> SentMessage {
    SentMessage::Data { to, name: text.to_owned(), token: Vec::new(), mark: 0, label: [0; 4] }
}

#[test]
fn an_interest_goes_by_its_route_and_data_come_back_with_the_token_of_who_asked() {
    let mut bench = Bench::new(settings());
    let asked = bench.give(PROGRAM, &ask_with("/a/x/seg=3", 7, |_| {}, token(5)), at(1));
    assert_eq!(asked, [interest_to(host(1), "/a/x/seg=3", 7)]);
    let again = bench.give(host(2), &add_downstream("/a/x/seg=3", 8), at(2));
    assert_eq!(again, [], "it waits with the other");
    let answered = bench.give(host(1), &data("/a/x/seg=3"), at(20));
    let with_token = SentMessage::Data {
        to: PROGRAM,
        name: "/a/x/seg=3".to_owned(),
        token: vec![5],
        mark: 0,
        label: [0; 4],
    };
    assert_eq!(answered, [data_to(host(2), "/a/x/seg=3"), with_token]);
    assert_eq!(bench.give(host(1), &data("/a/x/seg=3"), at(21)), [], "nobody waits any longer");
    assert_eq!(bench.node.stats().strays.unsolicited, 1);
    assert_eq!((bench.count(Tally::DataOut), bench.count(Tally::Aggregated)), (2, 1));
}

#[test]
fn what_has_no_route_or_comes_round_is_refused() {
    let mut bench = Bench::new(settings());
    let refused = bench.give(PROGRAM, &ask_with("/c", 1, |_| {}, token(4)), at(1));
    assert_eq!(
        refused,
        [SentMessage::Nack { to: PROGRAM, name: "/c".to_owned(), reason: 150, token: vec![4] }]
    );
    bench.give(PROGRAM, &add_downstream("/a/x", 2), at(2));
    let looped = bench.give(host(2), &add_downstream("/a/x", 2), at(3));
    assert_eq!(
        looped,
        [SentMessage::Nack { to: host(2), name: "/a/x".to_owned(), reason: 100, token: vec![] }]
    );
}

#[test]
fn a_refusal_of_the_last_next_hop_is_passed_on() {
    let mut bench = Bench::new(settings());
    bench.give(PROGRAM, &ask_with("/a/x", 2, |_| {}, token(1)), at(1));
    let nack = LinkHeader { nack: Some(Reason(50)), ..LinkHeader::default() };
    let passed = bench.give(host(1), &ask_with("/a/x", 2, |_| {}, nack), at(2));
    assert_eq!(
        passed,
        [SentMessage::Nack { to: PROGRAM, name: "/a/x".to_owned(), reason: 50, token: vec![1] }]
    );
    assert_eq!(bench.give(host(1), &ask_with("/a/x", 2, |_| {}, nack), at(3)), []);
    assert_eq!(bench.node.stats().strays.stale_nacks, 1);
}

#[test]
fn an_interest_without_nonce_gets_one_and_hops_run_out() {
    let mut bench = Bench::new(settings());
    let bare = ask_with("/a/x", 0, |interest| interest.nonce = None, LinkHeader::default());
    let [SentMessage::Interest { nonce: Some(_), hops: Some(8), .. }] = bench.give(PROGRAM, &bare, at(1))[..]
    else {
        panic!("it goes on with a nonce")
    };
    let tired = ask_with("/a/y", 1, |interest| interest.hop_limit = Some(0), LinkHeader::default());
    assert_eq!(bench.give(PROGRAM, &tired, at(1)), []);
    assert_eq!(bench.give(host(1), &add_downstream("/localhost/x", 1), at(1)), []);
    assert_eq!(bench.node.stats().strays.out_of_scope, 2);
}

#[test]
fn data_below_a_prefix_answer_who_takes_a_prefix_and_nobody_else() {
    let mut bench = Bench::new(settings());
    let prefix = |interest: &mut Interest<'_>| interest.can_be_prefix = true;
    bench.give(PROGRAM, &ask_with("/a/x", 1, prefix, LinkHeader::default()), at(1));
    bench.give(Peer::Program(2), &add_downstream("/a/x", 2), at(1));
    bench.give(Peer::Program(3), &add_downstream("/a/x/seg=1", 3), at(1));
    let answered = bench.give(host(1), &data("/a/x/seg=1"), at(5));
    assert_eq!(
        answered,
        [data_to(Peer::Program(3), "/a/x/seg=1"), data_to(PROGRAM, "/a/x/seg=1")],
        "the second asked for the name itself"
    );
    assert_eq!(bench.give(host(1), &data("/a/x"), at(6)), [data_to(Peer::Program(2), "/a/x")]);
}

#[test]
fn data_answer_who_asked_by_their_digest() {
    let mut bench = Bench::new(settings());
    let packet = data("/a/x");
    let digest = Data::read(&packet).expect("it is bare").implicit_digest();
    let right: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    bench.give(PROGRAM, &add_downstream(&format!("/a/x/sha256digest={right}"), 1), at(1));
    bench.give(
        Peer::Program(2),
        &add_downstream(&format!("/a/x/sha256digest={}", "00".repeat(32)), 2),
        at(1),
    );
    assert_eq!(bench.give(host(1), &packet, at(2)), [data_to(PROGRAM, "/a/x")]);
}

#[test]
fn the_store_answers_until_data_are_stale_for_who_minds() {
    let store = Store { policy: Policy::Lru, size: 2 };
    let mut bench = Bench::new(Settings { store, ..settings() });
    let fresh = |interest: &mut Interest<'_>| interest.must_be_fresh = true;
    bench.give(PROGRAM, &ask_with("/a/x", 1, fresh, LinkHeader::default()), at(1));
    bench.give(host(1), &data_with("/a/x", 100, LinkHeader::default()), at(2));
    let hit = bench.give(host(2), &ask_with("/a/x", 2, fresh, token(9)), at(50));
    let with_token =
        SentMessage::Data { to: host(2), name: "/a/x".to_owned(), token: vec![9], mark: 0, label: [0; 4] };
    assert_eq!(hit, [with_token]);
    let stale = bench.give(host(2), &ask_with("/a/x", 3, fresh, LinkHeader::default()), at(150));
    assert_eq!(stale, [interest_to(host(1), "/a/x", 3)]);
    assert_eq!((bench.count(Tally::Hits), bench.node.stats().machine.stored), (1, 0));
    let no_store = LinkHeader { cache_policy: Some(1), ..LinkHeader::default() };
    bench.give(host(1), &data_with("/a/x", 100, no_store), at(160));
    assert_eq!(bench.node.stats().machine.stored, 0);
}

#[test]
fn contents_that_the_store_gave_up_are_forgotten() {
    let store = Store { policy: Policy::Fifo, size: 4 };
    let mut bench = Bench::new(Settings { store, ..settings() });
    for n in 0..1000u32 {
        bench.give(PROGRAM, &add_downstream(&format!("/a/{n}"), n), at(u64::from(n)));
        bench.give(host(1), &data(&format!("/a/{n}")), at(u64::from(n)));
    }
    let stats = bench.node.stats();
    assert_eq!((stats.machine.stored, stats.machine.pending), (4, 0));
    // names take 137 bytes and some; what is kept beside them is 68 packets
    assert!(stats.names.1 < 1000 * 145 + 68 * 90, "{:?}", stats.names);
}

#[test]
fn a_rate_makes_packets_wait_and_a_delay_makes_them_late() {
    let mut slow = known(1, Rate::from_mbps(1));
    (slow.delay, slow.buffer) = (Duration::from_millis(10), 3);
    let mut bench = Bench::new(Settings { links: vec![slow], routes: vec![route("/a", 0)], ..settings() });
    let size = add_downstream("/a/0", 0).len() as u64 + 28;
    for n in 0..6 {
        assert_eq!(bench.give(PROGRAM, &add_downstream(&format!("/a/{n}"), n), Time::ZERO), []);
    }
    assert_eq!(bench.node.stats().ports[0].counts.dropped, 2, "one under way and three that wait");
    let bits_us = size * 8;
    for n in 1..=4u64 {
        let due = Time::ZERO + Duration::from_micros(10_000 + n * bits_us);
        assert_eq!(bench.node.wake().min(due), bench.node.wake());
        assert_eq!(bench.wait(due - Duration::from_nanos(1)), []);
        assert_eq!(bench.wait(due).len(), 1, "packet {n}");
    }
}

#[test]
fn a_program_registers_a_prefix_and_loses_it_when_it_goes() {
    let mut bench = Bench::new(settings());
    let register = |module: (&str, &str), prefix: &str| {
        let mut frame = Vec::new();
        command(true, module, &Arguments::route(name(prefix)), 99, 1_000_000, &mut frame);
        frame
    };
    bench.node.on_frame(PROGRAM, &register(("rib", "register"), "/p"), at(1), &mut bench.left);
    let (to, answer) = bench.left.0.pop().expect("it is answered");
    let answer = LinkPacket::read(&answer).expect("a link packet");
    let answer = Data::read(answer.fragment).expect("Data");
    let response = Response::read(answer.content).expect("a response");
    assert_eq!((to, response.code, answer.intact()), (PROGRAM, 200, Some(true)));
    assert_eq!(response.arguments.and_then(|arguments| arguments.name), Some(name("/p")));
    assert!(Command::is_command(answer.name));
    assert_eq!(bench.give(host(1), &add_downstream("/p/x", 1), at(2)), [interest_to(PROGRAM, "/p/x", 1)]);
    bench.node.on_gone(PROGRAM, at(3));
    let [SentMessage::Nack { reason: 150, .. }] = bench.give(host(1), &add_downstream("/p/y", 2), at(3))[..]
    else {
        panic!("there is no route any more")
    };
}

#[test]
fn strangers_command_nothing_and_are_not_listened_to() {
    let mut bench = Bench::new(settings());
    for local in [true, false] {
        let mut frame = Vec::new();
        command(local, ("rib", "register"), &Arguments::route(name("/p")), 1, 1, &mut frame);
        bench.node.on_frame(host(1), &frame, at(1), &mut bench.left);
        let (_, answer) = bench.left.0.pop().expect("it is answered");
        let answer = Data::read(LinkPacket::read(&answer).expect("a link packet").fragment).expect("Data");
        assert_eq!(Response::read(answer.content).expect("a response").code, 403);
    }
    assert_eq!(bench.give(host(77), &add_downstream("/a/x", 1), at(1)), []);
    let stats = bench.node.stats();
    assert_eq!((stats.routes, stats.strays.strangers, stats.strays.refused_commands), (2, 1, 2));
}

#[test]
fn a_face_that_ended_rests_before_somebody_else_has_its_number() {
    let limits = Limits { programs: 1, lifetime: Duration::from_secs(4), ..Limits::default() };
    let mut bench = Bench::new(Settings { limits, ..settings() });
    bench.give(PROGRAM, &add_downstream("/a/x", 1), at(0));
    bench.node.on_gone(PROGRAM, at(1));
    assert_eq!(bench.give(Peer::Program(2), &add_downstream("/a/y", 2), at(2)), []);
    assert_eq!(bench.node.stats().strays.strangers, 1);
    assert_eq!(bench.give(host(1), &data("/a/x"), at(3)), [], "what was for the first reaches nobody");
    assert_eq!(bench.give(Peer::Program(2), &add_downstream("/a/y", 3), at(4001)).len(), 1);
}

#[test]
fn strangers_who_may_come_are_forgotten_when_they_fall_silent() {
    let limits = Limits {
        links: 3,
        idle: Duration::from_secs(1),
        lifetime: Duration::from_secs(1),
        ..Limits::default()
    };
    let strangers = Some(LinkSettings::default());
    let mut bench = Bench::new(Settings { limits, strangers, ..settings() });
    assert_eq!(bench.give(host(7), &add_downstream("/a/x", 1), at(0)).len(), 1);
    assert_eq!(bench.give(host(8), &add_downstream("/a/y", 2), at(1)), [], "there is room for one");
    assert_eq!(bench.give(host(1), &data("/a/x"), at(2)), [data_to(host(7), "/a/x")]);
    bench.wait(at(1500));
    assert_eq!(
        bench.give(host(8), &add_downstream("/a/y", 3), at(2600)).len(),
        1,
        "it has the other's place"
    );
}

#[test]
fn too_many_pending_interests_are_refused() {
    let limits = Limits { pending: 10, ..Limits::default() };
    let mut bench = Bench::new(Settings { limits, ..settings() });
    let mut refused = 0;
    for n in 0..25u32 {
        for what in bench.give(PROGRAM, &add_downstream(&format!("/a/{n}"), n), at(0)) {
            refused += u64::from(matches!(what, SentMessage::Nack { reason: 50, .. }));
        }
    }
    assert_eq!((refused, bench.node.stats().strays.full, bench.node.stats().machine.pending), (15, 15, 10));
    bench.wait(at(2001));
    assert_eq!(bench.node.stats().machine.pending, 0, "they expired");
    assert_eq!(bench.give(PROGRAM, &add_downstream("/a/99", 99), at(2002)).len(), 1);
}

#[test]
fn marks_and_labels_travel_with_data() {
    let mut bench = Bench::new(settings());
    bench.give(PROGRAM, &add_downstream("/a/x", 1), at(0));
    let header =
        LinkHeader { mark: 1, label: contract::Label([12_000_000, 0, 0, 0]), ..LinkHeader::default() };
    let answered = bench.give(host(1), &data_with("/a/x", 0, header), at(1));
    let expected = SentMessage::Data {
        to: PROGRAM,
        name: "/a/x".to_owned(),
        token: vec![],
        mark: 1,
        label: [12_000_000, 0, 0, 0],
    };
    assert_eq!(answered, [expected]);
}

#[test]
fn mircc_stamps_data_with_the_rate_of_the_link_that_they_came_by() {
    let links = vec![known(1, Rate::from_mbps(10)), known(2, Rate::from_mbps(10))];
    let mut bench = Bench::new(Settings { links, link: Some("mircc".to_owned()), ..settings() });
    bench.give(PROGRAM, &add_downstream("/a/x", 1), at(0));
    let answered = bench.give(host(1), &data("/a/x"), at(1));
    let [SentMessage::Data { label, .. }] = &answered[..] else { panic!("{answered:?}") };
    assert_eq!(*label, [10_000_000, 0, 0, 0], "an idle link offers all");
    let unknown = Settings { link: Some("mircc".to_owned()), ..settings() };
    assert!(matches!(Node::new(unknown), Err(Error::NoRate { .. })));
    let nothing =
        Settings { link: Some("reno".to_owned()), links: Vec::new(), routes: Vec::new(), ..settings() };
    assert!(matches!(Node::new(nothing), Err(Error::NoLink(_))));
    assert!(matches!(
        Node::new(Settings { strategy: "x".to_owned(), ..settings() }),
        Err(Error::NoStrategy(_))
    ));
}

#[test]
fn pcon_marks_data_when_a_queue_stands() {
    let links = vec![known(1, Rate::from_mbps(100)), known(2, Rate::from_mbps(1))];
    let routes = vec![route("/a", 0)];
    let (link, strategy) = (Some("pcon".to_owned()), "pcon".to_owned());
    let mut bench = Bench::new(Settings { links, routes, link, strategy, ..settings() });
    let mut marked = 0;
    for n in 0..1000u32 {
        // twice as much as the second link carries
        let now = at(u64::from(n));
        let mut left = bench.give(host(2), &add_downstream(&format!("/a/{n}"), n), now);
        let name = name(&format!("/a/{n}"));
        let (mut packet, content) = (Vec::new(), vec![0; 200]);
        Unsigned { name: name.view(), content: &content, ..Unsigned::default() }.sign(&mut packet);
        left.extend(bench.give(host(1), &packet, now));
        for what in left {
            marked += u64::from(matches!(what, SentMessage::Data { mark: 1, .. }));
        }
    }
    let left = bench.wait(at(10_000));
    marked += left.iter().filter(|what| matches!(what, SentMessage::Data { mark: 1, .. })).count() as u64;
    // the first after 100 ms, then 110 ms over the square root of their number apart
    assert!((10..=25).contains(&marked), "{marked} marks");
}

mod bounds;
mod marking;

// ---- networks of nodes

/// Nodes and the wires between them; the wires have no delay of their own.
struct Net {
    nodes: Vec<Node>,
    /// By node and place: the node there, and what that calls this one.
    wires: BTreeMap<(usize, Peer), (usize, Peer)>,
    now: Time,
}

impl Net {
    fn run(&mut self, until: Time) {
        loop {
            let next = self.nodes.iter().map(Node::wake).min().unwrap_or(Time::NEVER);
            if next > until {
                break;
            }
            self.now = self.now.max(next);
            for number in 0..self.nodes.len() {
                let mut left = Left::default();
                self.nodes[number].on_time(self.now, &mut left);
                self.carry(number, left);
            }
        }
        self.now = until;
    }

    fn carry(&mut self, from: usize, left: Left) {
        for (place, frame) in left.0 {
            let Some(&(to, source)) = self.wires.get(&(from, place)) else { continue };
            let mut more = Left::default();
            self.nodes[to].on_frame(source, &frame, self.now, &mut more);
            self.carry(to, more);
        }
    }
}

/// A consumer and a producer with a forwarder each, and a wire of 10 Mbit/s and 50 ms between them, all with MIRCC.
fn mircc_pair(tick: Duration) -> Net {
    let wire = |n| LinkSettings { delay: Duration::from_millis(50), ..known(n, Rate::from_mbps(10)) };
    let node = |n: u8, routes| {
        let link = Some("mircc".to_owned());
        let settings = Settings { links: vec![wire(n)], routes, link, ..settings() };
        Node::new(settings).expect("the settings are right")
    };
    let (mut consumer, mut producer) = (node(2, vec![route("/p", 0)]), node(1, Vec::new()));
    let payload = 1250 - 28 - (App::data_of(&name("/p"), 300, 0).len() + 4) - 38;
    let config = ConsumerConfig {
        data: Bytes::new(1250),
        tick,
        ..ConsumerConfig::new(contract::NameId(0), Bytes::new(payload as u64), Rate::ZERO)
    };
    let entry = schemes::find("mircc").expect("it is in the catalogue");
    let schemes::Build::Control(make) = entry.build else { panic!("it has a controller") };
    let setup =
        contract::Setup { segment: Bytes::new(1250), header: Bytes::ZERO, initial_window: Bytes::UNLIMITED };
    let controller = make(&Vec::new(), &setup).expect("defaults are right");
    let app = App::consumer(name("/p"), config, controller, Rate::from_mbps(10), (at(1000), at(3000)), 1);
    consumer.add_app(app).expect("there is room");
    producer.add_app(App::producer(name("/p"), payload)).expect("there is room");
    let mut net = Net {
        nodes: vec![consumer, producer],
        wires: BTreeMap::from([((0, host(2)), (1, host(1))), ((1, host(1)), (0, host(2)))]),
        now: Time::ZERO,
    };
    for number in 0..2 {
        let mut left = Left::default();
        net.nodes[number].start(Time::ZERO, &mut left);
        net.carry(number, left);
    }
    net
}

#[test]
fn a_consumer_of_mircc_has_the_rate_of_the_link() {
    let mut net = mircc_pair(Duration::ZERO);
    net.run(at(4000));
    let app = &net.nodes[0].apps()[0];
    let (generated, received) = (app.generated().len(), app.received().len());
    // 10 Mbit/s are 1000 Data of 1250 bytes a second
    assert!((1980..=2020).contains(&generated), "{generated} Interests in two seconds");
    assert!(received as f64 > 0.97 * generated as f64, "{received} of {generated}");
    assert_eq!(app.count(Count::Nacks), 0);
    assert!(app.received()[0] >= at(1100), "a round trip takes 100 ms");
}

#[test]
fn under_a_coarse_clock_interests_leave_together() {
    let mut net = mircc_pair(Duration::from_millis(100));
    net.run(at(2000));
    let app = &net.nodes[0].apps()[0];
    assert!(app.generated().len() > 900, "{}", app.generated().len());
    // the wire spaces them again: Data come back as fast as it goes, in spells
    let late = app.received().windows(2).filter(|pair| pair[1] - pair[0] > Duration::from_millis(5)).count();
    assert!(late <= 11, "{late} gaps");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_from_anybody_are_survived(
        frames in prop::collection::vec((0u8..4, prop::collection::vec(any::<u8>(), 0..200)), 1..60),
    ) {
        let mut bench = Bench::new(Settings { strangers: Some(LinkSettings::default()), ..settings() });
        for (n, (from, bytes)) in frames.iter().enumerate() {
            let place = if *from == 0 { PROGRAM } else { host(*from) };
            bench.node.on_frame(place, bytes, at(n as u64), &mut bench.left);
        }
    }

    #[test]
    fn packets_that_were_changed_on_the_way_are_survived_and_nothing_grows(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4, 0u32..20), 1..120),
    ) {
        let limits = Limits { pending: 8, names: 32, links: 4, programs: 4, routes: 4, ..Limits::default() };
        let store = Store { policy: Policy::Lru, size: 4 };
        let mut bench = Bench::new(Settings { strangers: Some(LinkSettings::default()), limits, store, ..settings() });
        for (n, (index, byte, from, which)) in changes.iter().enumerate() {
            let mut frame = match which % 4 {
                0 => add_downstream(&format!("/a/{which}"), *which),
                1 => data(&format!("/a/{}", which - 1)),
                2 => {
                    let nack = LinkHeader { nack: Some(Reason(50)), ..LinkHeader::default() };
                    ask_with(&format!("/a/{}", which - 2), *which, |_| {}, nack)
                }
                _ => {
                    let mut frame = Vec::new();
                    let route = Arguments::route(name(&format!("/r/{which}")));
                    command(true, ("rib", "register"), &route, 1, 1, &mut frame);
                    frame
                }
            };
            if byte % 2 == 1 {
                let at = index.index(frame.len());
                frame[at] ^= byte;
            }
            let place = if *from == 0 { PROGRAM } else { host(*from) };
            bench.node.on_frame(place, &frame, at(10 * n as u64), &mut bench.left);
            let stats = bench.node.stats();
            prop_assert!(stats.names.0 <= 32 && stats.machine.pending <= 8 && stats.routes <= 4);
            prop_assert!(stats.machine.stored <= 4);
        }
        bench.wait(at(1_000_000));
        prop_assert_eq!(bench.node.stats().machine.pending, 0);
    }
}
