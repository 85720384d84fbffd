//! Runs with shared packets, bursts and fans give the same trace, to the last bit, as runs in which every branch has a packet and an event of its own.

use contract::{
    Address, Cx, Ecn, Endpoint, EndpointId, FlowId, Header, Input, Label, LinkId, NodeId, Random,
};
use stack::{datagram, stream, tcp};
use units::{Bytes, Duration, Rate, Time};

use crate::{Blueprint, Cast, Change, Control, FlowKind, PortSpec, World};

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

/// What members send arrives at the core at the same instant as packets of the group at the members, between those of two of them, and is then
/// offered to a port of the fan.
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
