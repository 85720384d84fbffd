//! Runs with shared packets, bursts and fans give the same trace, to the last bit, as runs in which every branch has a
//! packet and an event of its own.

use contract::{
    Address, Cx, Destination, Ecn, Endpoint, EndpointId, FlowId, Header, Input, Label, LinkId, NodeId,
    PortId, Random,
};
use stack::{datagram, stream, tcp};
use units::{Bytes, Duration, Rate, Time};

use crate::{Blueprint, Cast, Change, Control, Factory, FlowKind, Impair, PortSpec, World};

const LENGTH_MS: u64 = 1200;

/// Draws networks and changes.
struct Draw(Random);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0.below(limit)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// An instant at which other events are likely, or not.
    fn instant(&mut self) -> Time {
        let whole = Duration::from_millis(self.below(LENGTH_MS));
        let more = if self.chance(30) { self.below(1_000_000) } else { 0 };
        Time::ZERO + whole + Duration::from_nanos(more)
    }

    fn port(&mut self, is_equal: bool) -> PortSpec {
        let (rate, delay, packets) = match is_equal {
            true => (2, 5, 20),
            false => {
                (self.one_of(&[1, 2, 2, 2, 8]), self.one_of(&[0, 5, 5, 5, 9]), self.one_of(&[2, 20, 20]))
            }
        };
        let mut port = PortSpec::new(Rate::from_mbps(rate), Duration::from_millis(delay), packets);
        if !is_equal && self.chance(10) {
            port.queue.mark_above = Some(self.below(3) as u32);
        }
        if !is_equal && self.chance(5) {
            port.loss = 0.1;
        }
        port
    }

    fn kind(&mut self) -> (Option<&'static str>, FlowKind) {
        if self.chance(30) {
            let config = stream::Config { packet: Bytes::new(500), ..stream::Config::default() };
            return (Some("tfmcc"), FlowKind::Stream(config));
        }
        let rate = Rate::from_kbps(self.one_of(&[400, 800, 800, 1500, 3000]));
        let pattern = datagram::Pattern::Constant { rate };
        (None, FlowKind::Datagram(datagram::Config { packet: Bytes::new(1000), pattern }))
    }

    /// A star or a tree of two levels, with groups, other flows and changes.
    fn network(&mut self) -> Blueprint {
        let mut net = Blueprint::new(Duration::from_millis(LENGTH_MS));
        let (source, core) = (net.node("source"), net.node("core"));
        let is_equal = self.chance(60);
        net.link("source", (source, core), PortSpec::new(Rate::from_mbps(4), Duration::from_millis(2), 50));
        let mut leaves = Vec::new();
        for i in 0..4 + self.below(20) {
            let leaf = net.node(&format!("n{i}"));
            let from = if self.chance(20) { self.one_of(&[core, NodeId(2)]) } else { core };
            let from = if from == leaf { core } else { from };
            let port = self.port(is_equal);
            net.link(&format!("l{i}"), (from, leaf), port);
            leaves.push(leaf);
        }
        for group in 0..1 + self.below(3) {
            let (scheme, kind) = self.kind();
            let some = self.chance(30);
            let members: Vec<NodeId> = leaves.iter().copied().filter(|_| !some || self.chance(70)).collect();
            if members.len() > 1 || group == 0 {
                let members = if members.is_empty() { &leaves } else { &members };
                let flow = net.flow(&format!("g{group}"), scheme, kind, source, members);
                flow.cast = Cast::Multicast;
                flow.start = Time::ZERO + Duration::from_millis(self.below(3) * 20);
            }
        }
        if self.chance(30) {
            let kind = FlowKind::Tcp(tcp::Config::default());
            let to = self.one_of(&leaves);
            let flow = net.flow("tcp", Some("cubic"), kind, source, &[to]);
            flow.start = Time::ZERO + Duration::from_millis(self.below(600));
        }
        for _ in 0..self.below(6) {
            let link = LinkId(self.below(net.links.len() as u64) as u32);
            let (flow, leaf) = (FlowId(0), self.one_of(&leaves));
            let change = match self.below(7) {
                0 => Change::LinkRate(link, Rate::from_mbps(self.one_of(&[1, 2, 5]))),
                1 => Change::LinkDelay(link, Duration::from_millis(self.below(9))),
                2 => Change::LinkLoss(link, self.one_of(&[0.0, 0.2])),
                3 => Change::LinkUp(link, false),
                4 => Change::LinkUp(link, true),
                5 => Change::Leave(flow, leaf),
                _ => Change::Join(flow, leaf),
            };
            net.events.push((self.instant(), change));
        }
        if self.chance(20) {
            net.record.every = Duration::from_millis(100);
            net.record.series = vec!["utilisation".to_owned(), "backlog".to_owned()];
        }
        net.record.drops = self.chance(20);
        if self.chance(20) {
            net.warmup = Duration::from_millis(500);
        }
        net
    }
}

/// A world, in which every branch has a packet and an event of its own if `copies`.
fn world(net: &Blueprint, copies: bool) -> World {
    let mut world = World::new(net).expect("the network is valid");
    if copies {
        world.shares.min_branches = usize::MAX;
    }
    world
}

/// A run with pauses, and the number of fans.
fn run(net: &Blueprint, copies: bool) -> (String, usize) {
    let mut world = world(net, copies);
    let control = Control::default();
    let mut traces = String::new();
    for half in [LENGTH_MS / 2, LENGTH_MS] {
        let half = Time::ZERO + Duration::from_millis(half);
        world.run_until(half, &control);
        let ports = 0..2 * net.links.len() as u32;
        let views: Vec<_> = ports.map(|port| world.fabric.view(PortId(port), half)).collect();
        traces += &format!("{views:?}\n");
        traces += &format!("{:?}\n", world.snapshot());
    }
    world.run(&control);
    let fans = world.fabric.fans_so_far();
    traces += &format!("{:?}", world.finish());
    (traces, fans)
}

#[test]
fn shared_packets_and_fans_change_no_result() {
    let mut fans = 0;
    for seed in 0..150 {
        let net = Draw(Random::new(seed, "copies", "network")).network();
        let (shared, formed) = run(&net, false);
        let (copied, none) = run(&net, true);
        fans += formed;
        assert_eq!(none, 0);
        assert!(shared == copied, "seed {seed}: {net:?}\n{shared}\n{copied}");
    }
    assert!(fans > 150, "{fans} fans were formed");
}

/// A member of a group that sends every few packets one of the same size to other members in turn.
struct Echo {
    members: Vec<Address>,
    every: u64,
    received: u64,
}

impl Endpoint for Echo {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        let Input::Packet(packet) = input else { return };
        cx.deliver(packet.size());
        self.received += 1;
        if packet.to.as_group().is_some() && self.received.is_multiple_of(self.every) {
            let to = self.members[(self.received / self.every) as usize % self.members.len()];
            cx.send(to.into(), packet.size(), Ecn::NotCapable, Header::Datagram { seq: 0 }, Label::default());
        }
    }
}

/// What members send arrives at the core at the same instant as packets of the group at the members, between the
/// arrivals at two of them, and is then offered to a port of the fan.
#[test]
fn a_fan_can_end_while_a_packet_arrives_at_its_members() {
    let (mut fans, mut seeds) = (0, 0);
    for seed in 0..24 {
        let mut draw = Draw(Random::new(seed, "copies", "echo"));
        let mut net = Blueprint::new(Duration::from_secs(20));
        let (source, core) = (net.node("source"), net.node("core"));
        let port = PortSpec::new(Rate::from_mbps(2), Duration::from_millis(draw.one_of(&[6, 6, 16])), 20);
        net.link("source", (source, core), port.clone());
        let leaves: Vec<NodeId> = (0..8 + draw.below(8)).map(|i| net.node(&format!("n{i}"))).collect();
        for (i, &leaf) in leaves.iter().enumerate() {
            net.link(&format!("l{i}"), (core, leaf), port.clone());
        }
        let pattern = datagram::Pattern::Constant { rate: Rate::from_kbps(800) };
        let kind = FlowKind::Datagram(datagram::Config { packet: Bytes::new(1000), pattern });
        net.flow("group", None, kind.clone(), source, &leaves).cast = Cast::Multicast;
        for (i, leaf) in leaves.iter().enumerate() {
            // there are routes to destinations of flows only
            net.flow(&format!("f{i}"), None, kind.clone(), source, &[*leaf]).start = Time::NEVER;
        }
        let every = draw.one_of(&[97, 211, 389]);
        let run = |copies| {
            let mut world = world(&net, copies);
            let members: Vec<Address> =
                (1..=leaves.len() as u32).map(|number| world.address_of(EndpointId(number))).collect();
            world.custom_receiver(
                FlowId(0),
                Box::new(move |_| Box::new(Echo { members: members.clone(), every, received: 0 })),
            );
            world.run(&Control::default());
            let fans = world.fabric.fans_so_far();
            (format!("{:?}", world.finish()), fans)
        };
        let ((shared, formed), (copied, _)) = (run(false), run(true));
        fans += formed;
        seeds += 1;
        assert!(shared == copied, "seed {seed}: {net:?}\n{shared}\n{copied}");
    }
    assert!(fans > 2 * seeds, "{fans} fans were formed");
}

/// A source that sends to its group at these times, in milliseconds, and whenever it receives a packet.
struct Scripted {
    to: Destination,
    times_ms: Vec<u64>,
    sent: usize,
    /// The size of its packets, by the number of those sent before.
    bytes: fn(usize) -> u64,
}

impl Scripted {
    fn factory(times_ms: &[u64], bytes: fn(usize) -> u64) -> Factory {
        let times_ms = times_ms.to_vec();
        Box::new(move |to| Box::new(Self { to, times_ms: times_ms.clone(), sent: 0, bytes }))
    }
}

impl Endpoint for Scripted {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        let mut count = usize::from(matches!(input, Input::Packet(_)));
        while self.wake() <= cx.now() {
            (self.sent, count) = (self.sent + 1, count + 1);
        }
        for _ in 0..count {
            let header = Header::Datagram { seq: 0 };
            cx.send(self.to, Bytes::new((self.bytes)(self.sent)), Ecn::Capable, header, Label::default());
        }
    }

    fn wake(&self) -> Time {
        self.times_ms.get(self.sent).map_or(Time::NEVER, |&at| Time::ZERO + Duration::from_millis(at))
    }
}

/// Leaves around the node of all sources, and groups of the leaves from one number to another. A packet takes 4 ms and
/// the delay.
fn star(delay_ms: u64, leaves: u64, groups: &[(usize, usize)]) -> Blueprint {
    let mut net = Blueprint::new(Duration::from_millis(300));
    let core = net.node("core");
    let leaves: Vec<NodeId> = (0..leaves).map(|i| net.node(&format!("n{i}"))).collect();
    for (i, &leaf) in leaves.iter().enumerate() {
        let port = PortSpec::new(Rate::from_mbps(2), Duration::from_millis(delay_ms), 20);
        net.link(&format!("l{i}"), (core, leaf), port);
    }
    for (i, &(from, to)) in groups.iter().enumerate() {
        let pattern = datagram::Pattern::Constant { rate: Rate::from_kbps(800) };
        let kind = FlowKind::Datagram(datagram::Config { packet: Bytes::new(1000), pattern });
        net.flow(&format!("g{i}"), None, kind, core, &leaves[from..to]).cast = Cast::Multicast;
    }
    net
}

const EVERY_10_MS: [u64; 10] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90];

fn at(at_ms: u64, change: Change) -> (Time, Change) {
    (Time::ZERO + Duration::from_millis(at_ms), change)
}

/// Asserts that shared packets and fans change nothing where the source of each group sends at its times. Returns the
/// number of fans.
fn assert_equal_runs(net: &Blueprint, times_ms: &[&[u64]], prepare: impl Fn(&mut World)) -> usize {
    let run = |copies| {
        let mut world = world(net, copies);
        for (flow, times_ms) in (0..).zip(times_ms) {
            world.custom_sender(FlowId(flow), Scripted::factory(times_ms, |_| 1000));
        }
        prepare(&mut world);
        world.run(&Control::default());
        let fans = world.fabric.fans_so_far();
        (format!("{:?}", world.finish()), fans)
    };
    let ((shared, fans), (copied, none)) = (run(false), run(true));
    assert_eq!(none, 0);
    assert!(shared == copied, "{shared}\n{copied}");
    fans
}

/// Packets of another group are on five of the links, so that arrivals of the first packet there follow those on the
/// others. They are one burst all the same, and so a fan, which passes packets in that order. A packet that finds all
/// links empty arrives in the order of the branches.
#[test]
fn a_fan_in_another_order_than_its_branches_takes_no_packet_when_it_is_empty() {
    let net = star(15, 8, &[(0, 8), (0, 5)]);
    // none is formed while the links differ, nor with the packet after
    assert_eq!(assert_equal_runs(&net, &[&[5, 20, 30, 100], &[0]], |_| ()), 1);
}

/// The delay of a link changes and changes back while a packet is in transmission. The arrival event at the delay
/// between is stale, but due when the next packet arrives, which it lets arrive before those on the other links. A fan
/// would not.
#[test]
fn no_fan_is_formed_while_events_may_be_stale() {
    let mut net = star(5, 8, &[(0, 8)]);
    net.events.extend(
        [(21, 15), (22, 5)].map(|(at_ms, delay_ms)| {
            at(at_ms, Change::LinkDelay(LinkId(5), Duration::from_millis(delay_ms)))
        }),
    );
    assert_eq!(assert_equal_runs(&net, &[&EVERY_10_MS], |_| ()), 2);
}

/// A member that answers its first packet, if it is the fourth one of the group.
struct Answering {
    to: Address,
    received: u64,
}

impl Endpoint for Answering {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        let Input::Packet(packet) = input else { return };
        self.received += 1;
        if self.received == 1 && cx.me().endpoint == EndpointId(4) {
            let header = Header::Datagram { seq: 0 };
            cx.send(self.to.into(), packet.size(), Ecn::NotCapable, header, Label::default());
        }
    }
}

/// The answer arrives at the source when the last packet on the links has arrived at some members and not yet at the
/// others. It sends one then.
#[test]
fn a_fan_ends_when_a_packet_is_offered_while_another_passes() {
    let mut net = star(15, 8, &[(0, 8)]);
    for link in &mut net.links {
        link.backward = PortSpec::new(Rate::from_mbps(2), Duration::from_millis(6), 20).into();
    }
    let fans = assert_equal_runs(&net, &[&[0, 10]], |world| {
        let to = world.address_of(EndpointId(0));
        world.custom_receiver(FlowId(0), Box::new(move |_| Box::new(Answering { to, received: 0 })));
    });
    assert_eq!(fans, 1);
}

/// Arrivals at one instant are one burst, but the arrivals of a fan have one of their own, to which no others are
/// added.
#[test]
fn fans_of_two_groups_pass_packets_at_the_same_instants() {
    let net = star(15, 16, &[(0, 8), (8, 16)]);
    let times_ms = EVERY_10_MS.map(|at_ms| at_ms + 5);
    assert_eq!(assert_equal_runs(&net, &[&times_ms, &times_ms], |_| ()), 2);
}

/// The first fan ends with a packet of the second group, while its arrivals are pending. The next one, of other links,
/// has its number.
#[test]
fn arrivals_of_a_fan_that_has_ended_are_not_those_of_the_next_one() {
    let net = star(60, 16, &[(0, 8), (0, 8), (8, 16)]);
    assert_eq!(assert_equal_runs(&net, &[&[1], &[5], &[10, 20]], |_| ()), 2);
}

/// Transmissions on one of the links take equal times, as long as packets are small.
#[test]
fn links_of_different_rates_are_no_fan() {
    let mut net = star(15, 8, &[(0, 8)]);
    for (link, bps) in net.links.iter_mut().zip([3_000_300_000].into_iter().chain([3_000_000_000; 7])) {
        link.forward = PortSpec::new(Rate::from_bps(bps), Duration::from_millis(15), 20).into();
    }
    let fans = assert_equal_runs(&net, &[], |world| {
        let bytes = |sent| if sent > 4 { 1_000_000 } else { 1000 };
        world.custom_sender(FlowId(0), Scripted::factory(&EVERY_10_MS, bytes));
    });
    assert_eq!(fans, 0);
}

#[test]
fn links_that_lose_copy_or_mark_packets_are_no_fan() {
    let changes: [fn(&mut PortSpec); 3] = [
        |port| port.loss = 0.3,
        |port| port.impair = Some(Impair { duplicate: 0.3, ..Impair::default() }),
        |port| port.queue.mark_above = Some(0),
    ];
    for change in changes {
        let mut net = star(15, 8, &[(0, 8)]);
        for link in &mut net.links {
            let mut port = (*link.forward).clone();
            change(&mut port);
            link.forward = port.into();
        }
        assert_eq!(assert_equal_runs(&net, &[&EVERY_10_MS], |_| ()), 0);
    }
}

/// The packets on the links belong to the connection before the restart.
#[test]
fn members_refuse_packets_from_before_a_restart() {
    let mut net = star(15, 8, &[(0, 8)]);
    net.events = vec![at(42, Change::FlowStop(FlowId(0))), at(43, Change::FlowStart(FlowId(0)))];
    assert!(assert_equal_runs(&net, &[&EVERY_10_MS], |_| ()) > 0);
}

/// The last of nine leaves has left the group, or is reached by another one, while there is a fan of eight links.
#[test]
fn a_fan_ends_when_a_branch_is_added() {
    let branches = [
        [at(1, Change::Leave(FlowId(0), NodeId(9))), at(45, Change::Join(FlowId(0), NodeId(9)))],
        [at(1, Change::LinkUp(LinkId(8), false)), at(45, Change::LinkUp(LinkId(8), true))],
    ];
    for events in branches {
        let mut net = star(15, 9, &[(0, 9)]);
        let port = PortSpec::new(Rate::from_mbps(2), Duration::from_millis(15), 20);
        net.link("behind", (NodeId(8), NodeId(9)), port);
        net.events = events.to_vec();
        assert!(assert_equal_runs(&net, &[&EVERY_10_MS], |_| ()) > 1);
    }
}
