//! Tests of a controller and forwarders with agents, on a simulated network.
//!
//! `/film` is served at `r2` and at `r3`; a consumer at `r1` can use either, over links of 4 Mbit/s. The first is used
//! until a command of the controller.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread::{self, JoinHandle};

use contract::{
    Command, Control as SdnMessage, Count, DirectedLink, Hop, HopTable, Label, NameId, Names, Net, NodeId,
    PortId, Setup,
};
use driver::testing::{InFlight, VirtualHost, VirtualNetwork};
use driver::{Batch, GsoBatch, Platform};
use ndn_net::forwarder::{
    self, App, ControllerSettings, ForwarderPlatform, Frames, Inbox, LinkSettings, Node, Peer, RouteSettings,
    drive,
};
use quic_net::sdn::{Control, Network, Settings, SouthboundChannel, Stats, control};
use quic_net::{Accept, Credentials, End, Handshake, Limits, receive};
use stack::ndn::ConsumerConfig;
use stack::sdn::Config;
use units::{Bytes, Duration, Rate, Time};
use wire::sdn::ControlMessage;

const RATE: Rate = Rate::from_mbps(4);
const FILM: NameId = NameId(1);
const R1: NodeId = NodeId(0);
const R2: NodeId = NodeId(1);
const R3: NodeId = NodeId(2);

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], 6363))
}

const CONTROLLER: u8 = 9;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// A forwarder's platform on the network of the tests: what comes from the controller's address is for the agent.
struct Over {
    place: VirtualHost,
    batch: Batch,
}

impl Over {
    fn new(place: VirtualHost) -> Self {
        Self { place, batch: Batch::new(1 << 16) }
    }
}

impl Frames for Over {
    fn send(&mut self, to: Peer, frame: &[u8]) -> bool {
        let to = match to {
            Peer::Udp(to) => to,
            Peer::Controller => address(CONTROLLER),
            Peer::Program(_) | Peer::App(_) => return false,
        };
        let gso_batch =
            GsoBatch { to, ecn: contract::Ecn::NotCapable, bytes: frame, segment_size: frame.len() };
        self.place.send(&gso_batch) == driver::SendOutcome::Accepted
    }
}

impl ForwarderPlatform for Over {
    fn now(&mut self) -> Time {
        self.place.now()
    }
    fn wait(&mut self, until: Time) {
        self.place.wait(until);
    }
    fn receive(&mut self, inbox: &mut Inbox) {
        while self.place.receive(&mut self.batch) {
            for (from, _, bytes) in self.batch.iter() {
                let from = if from == address(CONTROLLER) { Peer::Controller } else { Peer::Udp(from) };
                inbox.frame(from, bytes);
            }
        }
    }
}

/// Two links from `r1`: ports 0 and 1 to `r2`, 2 and 3 to `r3`.
fn network() -> Network {
    let ends = [(R1, R2), (R2, R1), (R1, R3), (R3, R1)];
    let link = |(port, (from, to)): (u32, &(NodeId, NodeId))| {
        let (port, back) = (PortId(port), PortId(port ^ 1));
        Some(DirectedLink { port, back, from: *from, to: *to, rate: RATE, delay: ms(5), limit: 100 })
    };
    let mut names = Names::new();
    assert_eq!(names.intern("/film"), FILM);
    let hop = |port| Hop { port: PortId(port), cost: 5_000_000 };
    let mut hops = HopTable::default();
    hops.push((R1, FILM), [hop(0), hop(2)].into_iter());
    let net = Net {
        links: (0..).zip(&ends).map(link).collect(),
        out: vec![vec![PortId(0), PortId(2)], vec![PortId(1)], vec![PortId(3)]],
        agents: vec![R1, R2, R3],
        names: Arc::new(names),
        origins: BTreeMap::from([(FILM, vec![R2, R3])]),
        hops,
        routes: BTreeMap::new(),
    };
    Network {
        net,
        nodes: ["r1", "r2", "r3"].map(str::to_owned).to_vec(),
        links: ["first", "first", "second", "second"].map(str::to_owned).to_vec(),
        prefixes: vec![(FILM, "/film".parse().expect("a name"))],
    }
}

static CREDENTIALS: LazyLock<Credentials> =
    LazyLock::new(|| Credentials::shared(b"only they know").expect("it is not empty"));

fn settings() -> Settings {
    Settings {
        network: network(),
        app: "ndnsieve".to_owned(),
        app_params: Vec::new(),
        data: Bytes::new(1250),
        config: Config::default(),
        credentials: CREDENTIALS.clone(),
        limits: Limits::default(),
        seed: 1,
    }
}

/// A controller in a thread, until `span` is over.
fn controller_at(mut place: VirtualHost, settings: Settings, span: Duration) -> JoinHandle<Stats> {
    thread::spawn(move || {
        let watch = Control::default();
        let mut platform = Until { at: place.now() + span, place: &mut place, watch: &watch };
        control(settings, &mut platform, &watch).expect("the settings are right")
    })
}

/// Asks a controller to end at an instant.
struct Until<'a> {
    at: Time,
    place: &'a mut VirtualHost,
    watch: &'a Control,
}

impl Platform for Until<'_> {
    fn now(&mut self) -> Time {
        let now = self.place.now();
        if now >= self.at {
            self.watch.stop();
        }
        now
    }
    fn wait(&mut self, until: Time) {
        self.place.wait(until);
    }
    fn receive(&mut self, batch: &mut Batch) -> bool {
        self.place.receive(batch)
    }
    fn send(&mut self, gso_batch: &GsoBatch<'_>) -> driver::SendOutcome {
        self.place.send(gso_batch)
    }
    fn fill_random(&mut self, bytes: &mut [u8]) {
        self.place.fill_random(bytes);
    }
}

/// What a forwarder is beside its place: its node in the controller's network, its links, its endpoints.
struct Host {
    node: &'static str,
    links: Vec<(&'static str, u8)>,
    apps: Vec<App>,
    credentials: Credentials,
    /// Differs for each process.
    seed: u64,
}

fn film() -> wire::ndn::Name {
    "/film".parse().expect("a name")
}

/// `r1` with its consumer, who asks from `start` on.
fn r1(start: Time) -> Host {
    r1_again(start, 0)
}

/// `r1` and its consumer as another process: with another `seed` it draws other numbers.
fn r1_again(start: Time, seed: u64) -> Host {
    let entry = schemes::find("ndnsieve").expect("it is in the catalogue");
    let schemes::Build::Control(make) = entry.build else { panic!("it has a controller") };
    let setup = Setup { segment: Bytes::new(1250), header: Bytes::ZERO, initial_window: Bytes::new(1250) };
    let controller = make(&[], &setup).expect("defaults are right");
    let base = ConsumerConfig::new(NameId(0), Bytes::new(1100), Rate::ZERO);
    let config = ConsumerConfig { data: Bytes::new(1250), ..base };
    let consumer = App::consumer(film(), config, controller, Rate::UNLIMITED, (start, Time::NEVER), seed);
    Host {
        node: "r1",
        links: vec![("first", 2), ("second", 3)],
        apps: vec![consumer],
        credentials: CREDENTIALS.clone(),
        seed,
    }
}

fn producer(node: &'static str, link: &'static str) -> Host {
    let apps = vec![App::producer(film(), 1100)];
    Host { node, links: vec![(link, 1)], apps, credentials: CREDENTIALS.clone(), seed: 0 }
}

/// How a forwarder ended: its status, and the bytes that came over each of its links.
struct Ended {
    stats: forwarder::Stats,
    bytes_in: Vec<u64>,
}

impl Ended {
    fn agent(&self) -> &forwarder::AgentStats {
        self.stats.agent.as_ref().expect("it has one")
    }

    /// The share of the received bytes that came over the second link.
    fn second(&self) -> f64 {
        self.bytes_in[1] as f64 / self.bytes_in.iter().sum::<u64>() as f64
    }
}

fn forwarder_at(place: VirtualHost, host: Host, span: Duration) -> JoinHandle<Ended> {
    thread::spawn(move || {
        let link = |(name, to): &(&str, u8)| LinkSettings {
            name: (*name).to_owned(),
            to: Some(address(*to)),
            rate: RATE,
            rate_in: RATE,
            delay: ms(5),
            buffer: 100,
            ..LinkSettings::default()
        };
        let mut controller = ControllerSettings::new(address(CONTROLLER), host.node, host.credentials);
        controller.seed[..8].copy_from_slice(&host.seed.to_be_bytes());
        controller.seed[8..].fill(host.node.as_bytes()[1]);
        let routed = host.links.len() > 1;
        let settings = forwarder::Settings {
            link: Some("ndnsieve".to_owned()),
            links: host.links.iter().map(link).collect(),
            routes: routed.then(|| RouteSettings { prefix: film(), link: 0, cost: 1 }).into_iter().collect(),
            controller: Some(controller),
            ..forwarder::Settings::default()
        };
        let mut node = Node::new(settings).expect("the settings are right");
        host.apps.into_iter().for_each(|app| node.add_app(app).expect("there is room"));
        let mut over = Over::new(place);
        let until = over.now() + span;
        drive(&mut node, &mut over, &forwarder::Control::default(), until);
        let stats = node.stats();
        let bytes_in = stats.ports.iter().take(2).map(|port| port.counts.bytes_in).collect();
        Ended { stats, bytes_in }
    })
}

fn done<T>(thread: JoinHandle<T>) -> T {
    thread.join().expect("it ends")
}

/// The places of the three hosts and of the controller. A test makes all its places before anything runs.
fn places(net: &VirtualNetwork) -> [VirtualHost; 4] {
    [1, 2, 3, CONTROLLER].map(|host| net.host(address(host), ms(0)))
}

/// The hosts of the tests but `r1`, which is `host`, and a controller; what `r1` and the controller say at the end.
fn run_at(places: [VirtualHost; 4], host: Host, span: Duration) -> (Ended, Stats) {
    let [first, second, third, central] = places;
    let hosts = [
        forwarder_at(first, host, span),
        forwarder_at(second, producer("r2", "first"), span),
        forwarder_at(third, producer("r3", "second"), span),
    ];
    let central = controller_at(central, settings(), span);
    let [ended, ..] = hosts.map(done);
    (ended, done(central))
}

fn run(net: &VirtualNetwork, span: Duration) -> (Ended, Stats) {
    run_at(places(net), r1(net.now() + ms(500)), span)
}

/// Bytes of a link that is busy for this long.
fn carried(span: Duration) -> u64 {
    (u128::from(RATE.as_bps()) * u128::from(span.as_nanos()) / 8_000_000_000) as u64
}

/// In the simulator the same three nodes move the prefix once as well.
#[test]
fn a_prefix_is_moved_once_from_a_congested_link_to_an_idle_one() {
    let (r1, central) = run(&VirtualNetwork::plain(ms(1)), secs(10));
    let agent = r1.agent();
    assert!(agent.connected && agent.last_refusal.is_none());
    assert_eq!((agent.sessions, agent.commands, agent.moves, agent.ignored), (1, 1, 1, 0));
    assert_eq!((central.meter.count(Count::Commands), central.meter.count(Count::Reroutes)), (1, 1));
    // moved at the first signal of mild congestion, at 1.5 or 2.5 s; the consumer has asked since 0.5 s
    assert!((0.75..0.95).contains(&r1.second()), "{:?}", r1.bytes_in);
    assert!(r1.bytes_in.iter().sum::<u64>() > carried(secs(8)), "{:?}", r1.bytes_in);
    let [a, b, c] = &central.nodes[..] else { panic!("three nodes") };
    assert_eq!((a.at, &a.name[..]), (Some(address(1)), "r1"));
    assert_eq!((b.loads[0].0.as_str(), b.loads[0].1), ("first", 0));
    assert!(c.loads[0].1 > 900_000, "{:?}", c.loads);
    assert_eq!((central.starts, central.open_commands, central.discarded.total()), (1, 0, 0));
    // every status that was sent was taken in: four ports, twice a second
    assert!((70..=80).contains(&central.meter.count(Count::Statuses)), "{:?}", central.meter);
}

#[test]
fn nobody_else_moves_anything_who_repeats_changes_or_forges_commands() {
    let (undisturbed, _) = run(&VirtualNetwork::plain(ms(1)), secs(10));
    let attacks = Arc::new(AtomicUsize::new(0));
    let attacked = Arc::clone(&attacks);
    let net = VirtualNetwork::new(move |in_flight| {
        let arrives = in_flight.after(ms(1));
        let control = in_flight.from == address(CONTROLLER) || in_flight.to == address(CONTROLLER);
        // packets of QUIC with a short header [RFC9000 §17.3.1]
        if !control || in_flight.bytes[0] & 0x80 != 0 {
            return vec![arrives];
        }
        attacked.fetch_add(1, Ordering::Relaxed);
        let again = in_flight.after(ms(1500));
        let mut changed = in_flight.after(ms(1));
        changed.bytes[20] ^= 1;
        // an attacker who sees the traffic knows the connection ID, and guesses the key
        let hops = contract::Hops::new(&[Hop { port: PortId(0), cost: 0 }]);
        let frame = SdnMessage::Command(Command::NextHops { prefix: FILM, hops });
        let message = ControlMessage { sent_at: in_flight.at, label: Label([u64::MAX - 1, 0, 0, 0]), frame };
        let mut forged = InFlight { bytes: in_flight.bytes[..12].to_vec(), ..in_flight.after(ms(1)) };
        message.write(&mut forged.bytes);
        forged.bytes.extend_from_slice(&[0x66; 16]);
        vec![forged, changed, arrives, again]
    });
    let (r1, central) = run(&net, secs(10));
    assert_eq!(r1.bytes_in, undisturbed.bytes_in, "nothing is otherwise");
    let agent = r1.agent();
    assert_eq!((agent.commands, agent.moves, agent.ignored), (1, 1, 0));
    assert!(attacks.load(Ordering::Relaxed) > 60);
    for refused in [agent.discarded, central.discarded] {
        assert_eq!((refused.malformed, refused.misplaced, refused.forged), (0, 0, 0));
    }
}

#[test]
fn a_controller_that_dies_leaves_its_commands_in_force_and_one_that_comes_back_learns_them() {
    let net = VirtualNetwork::plain(ms(1));
    let span = secs(16);
    let places = [1, 2, 3].map(|host| net.host(address(host), ms(0)));
    let dying = net.host(address(CONTROLLER), ms(0)).killed_after(secs(4));
    let later = net.host(address(CONTROLLER), secs(9));
    let [first, second, third] = places;
    let hosts = [
        forwarder_at(first, r1(net.now() + ms(500)), span),
        forwarder_at(second, producer("r2", "first"), span),
        forwarder_at(third, producer("r3", "second"), span),
    ];
    let dead = controller_at(dying, settings(), span);
    let central = controller_at(later, settings(), secs(6));
    assert!(dead.join().is_err(), "it was killed");
    let [r1, ..] = hosts.map(done);
    let central = done(central);
    let agent = r1.agent();
    assert_eq!((agent.sessions, agent.moves), (2, 1 + central.meter.count(Count::Reroutes)));
    assert!(central.nodes.iter().all(|node| node.at.is_some()), "{:?}", central.nodes);
    // traffic flowed on meanwhile, by the second link
    assert!(r1.bytes_in.iter().sum::<u64>() > carried(secs(13)), "{:?}", r1.bytes_in);
    assert!(r1.bytes_in[1] > carried(secs(8)), "{:?}", r1.bytes_in);
    // that the prefix is at the second link it can know from the agent alone: it moves it from there, since it has
    // forgotten that it was moved
    assert_eq!(central.meter.count(Count::Reroutes), 1);
    assert!(r1.bytes_in[0] > carried(secs(4)), "{:?}", r1.bytes_in);
}

#[test]
fn a_forwarder_that_restarts_gets_new_commands() {
    let net = VirtualNetwork::plain(ms(1));
    let span = secs(14);
    let dying = net.host(address(1), ms(0)).killed_after(secs(5));
    let later = net.host(address(1), secs(6));
    let [second, third, central] = [2, 3, CONTROLLER].map(|host| net.host(address(host), ms(0)));
    let start = net.now() + ms(500);
    let dead = forwarder_at(dying, r1(start), span);
    let again = forwarder_at(later, r1_again(start + secs(6), 1), secs(8));
    let others = [
        forwarder_at(second, producer("r2", "first"), span),
        forwarder_at(third, producer("r3", "second"), span),
    ];
    let central = controller_at(central, settings(), span);
    assert!(dead.join().is_err(), "it was killed");
    let (r1, central) = (done(again), done(central));
    let _ = others.map(done);
    assert_eq!((r1.agent().sessions, r1.agent().moves), (1, 1));
    assert_eq!((central.starts, central.meter.count(Count::Reroutes)), (2, 2));
    assert!(r1.second() > 0.3, "{:?}", r1.bytes_in);
}

#[test]
fn who_stands_nowhere_or_knows_no_secret_gets_no_commands_and_forwards_all_the_same() {
    let net = VirtualNetwork::plain(ms(1));
    let elsewhere = Host { node: "r9", ..r1(net.now() + ms(500)) };
    let (r1, central) = run_at(places(&net), elsewhere, secs(8));
    let agent = r1.agent();
    assert_eq!((agent.connected, agent.sessions), (false, 0));
    assert_eq!(
        agent.last_refusal.as_deref(),
        Some("the controller's network has no agent at a node of that name")
    );
    // it connects again now and then
    assert!((5..=8).contains(&central.unknown), "{}", central.unknown);
    assert_eq!(r1.second(), 0.0);
    // a command to `r1` is retransmitted until an agent is connected
    assert_eq!(central.open_commands as u64, central.meter.count(Count::Commands));
    assert!(r1.bytes_in[0] > carried(secs(6)));

    let net = VirtualNetwork::plain(ms(1));
    let another = Credentials::shared(b"another").expect("it is not empty");
    let stranger = Host { credentials: another, ..self::r1(net.now() + ms(500)) };
    let (r1, central) = run_at(places(&net), stranger, secs(8));
    assert_eq!((r1.agent().connected, r1.agent().sessions), (false, 0));
    let why = r1.agent().last_refusal.as_deref().unwrap_or_default();
    assert!(why.starts_with("the other end is not the expected one"), "{why}");
    assert!(central.discarded.forged > 3 && central.nodes[0].at.is_none());
    assert!(r1.second() == 0.0 && r1.bytes_in[0] > carried(secs(6)));
}

#[test]
fn of_two_that_say_they_are_one_the_first_stays() {
    let net = VirtualNetwork::plain(ms(1));
    let span = secs(8);
    let (places, double) = (places(&net), net.host(address(4), ms(1500)));
    let start = net.now() + ms(500);
    let double = forwarder_at(double, Host { seed: 4, ..producer("r2", "first") }, secs(6));
    let (r1, central) = run_at(places, self::r1(start), span);
    let double = done(double);
    assert_eq!((double.agent().connected, double.agent().commands), (false, 0));
    assert_eq!((central.nodes[1].at, central.starts), (Some(address(2)), 1));
    assert_eq!(r1.agent().moves, 1);
}

#[test]
fn a_receiver_that_connects_to_a_controller_learns_that_it_is_another_protocol() {
    let net = VirtualNetwork::plain(ms(1));
    let [mut caller, central] = [5, CONTROLLER].map(|host| net.host(address(host), ms(0)));
    let central = controller_at(central, settings(), secs(2));
    let receiver = thread::spawn(move || {
        let handshake = Handshake::Connect(address(CONTROLLER));
        let (credentials, limits) = (CREDENTIALS.clone(), Limits::default());
        let settings = quic_net::Settings { handshake, credentials, limits, client_secret: None, logs: None };
        let accept: Accept<'_> = &mut |_| Err("there is nothing to accept".to_owned());
        receive(&settings, accept, &mut caller, &quic_net::Control::new()).end
    });
    let End::Failed(why) = done(receiver) else { panic!("it has not failed") };
    assert!(why.contains("another application protocol"), "{why}");
    assert_eq!(done(central).nodes.iter().filter(|node| node.at.is_some()).count(), 0);
}

/// An agent in a thread that sends these messages as soon as it has its task, and then lives on until `span` is over.
fn liar_at(mut place: VirtualHost, messages: Vec<SdnMessage>, span: Duration) -> JoinHandle<()> {
    thread::spawn(move || {
        let now = place.now();
        let to = address(CONTROLLER);
        let mut southbound = SouthboundChannel::new("r1", to, &CREDENTIALS, &Limits::default(), [1; 32], now);
        let (mut batch, mut messages) = (Batch::new(1 << 16), messages.into_iter());
        while place.now() < now + span {
            while place.receive(&mut batch) {
                for (_, _, bytes) in batch.iter() {
                    southbound.on_datagram(bytes, place.now());
                }
            }
            let at = place.now();
            if southbound.has_task() {
                for frame in messages.by_ref() {
                    southbound.send(&ControlMessage { sent_at: at, label: Label::default(), frame });
                }
            }
            southbound.on_time(at);
            southbound.flush(at, |bytes| {
                let ecn = contract::Ecn::NotCapable;
                place.send(&GsoBatch { to, ecn, bytes, segment_size: bytes.len() });
            });
            place.wait(at + ms(20));
        }
    })
}

#[test]
fn an_agent_speaks_of_its_own_ports_and_of_known_prefixes_only() {
    let status = |port| {
        SdnMessage::Status(contract::Status {
            port: PortId(port),
            rate: RATE,
            load: 1,
            occupancy: 0,
            backlog: 0,
            shares: 0,
        })
    };
    let installed = |prefix, port| {
        let hops = contract::Hops::new(&[Hop { port: PortId(port), cost: 1 }]);
        SdnMessage::Installed(Command::NextHops { prefix: NameId(prefix), hops })
    };
    let lies = vec![
        status(3),
        // room would be made for as many
        status(u32::MAX - 1),
        SdnMessage::Shares { port: PortId(0), count: 4 },
        SdnMessage::Signal { port: PortId(1) },
        installed(2, 0),
        installed(1, 1),
        SdnMessage::Installed(Command::Route { to: R2, via: PortId(0) }),
        SdnMessage::Installed(Command::Cap { port: PortId(3), rate: RATE }),
        SdnMessage::Command(Command::Cap { port: PortId(0), rate: RATE }),
        SdnMessage::Hello,
    ];
    let count = lies.len() as u64;
    let net = VirtualNetwork::plain(ms(1));
    let [place, central] = [1, CONTROLLER].map(|host| net.host(address(host), ms(0)));
    let liar = liar_at(place, lies, secs(2));
    let central = controller_at(central, settings(), secs(2));
    done(liar);
    let central = done(central);
    assert_eq!((central.discarded.misplaced, central.discarded.total()), (count, count));
    assert_eq!((central.nodes[0].at, central.meter.count(Count::Statuses)), (Some(address(1)), 0));
    assert!(central.nodes.iter().all(|node| node.loads.is_empty()), "{:?}", central.nodes);
}

#[test]
fn settings_that_are_wrong_are_refused_before_anything_is_sent() {
    let net = VirtualNetwork::plain(ms(1));
    let refused = |change: &dyn Fn(&mut Settings)| {
        let mut settings = settings();
        change(&mut settings);
        let mut place = net.host(address(CONTROLLER), ms(0));
        control(settings, &mut place, &Control::default()).expect_err("they are wrong").to_string()
    };
    assert_eq!(
        refused(&|settings| settings.app = "cubic".to_owned()),
        "there is no scheme `cubic` with a part in controllers"
    );
    let wrong = refused(&|settings| {
        settings.app_params = vec![("th1".to_owned(), contract::ParamValue::Float(11.0))];
    });
    assert!(wrong.starts_with("parameter `th1`"), "{wrong}");
    assert_eq!(refused(&|settings| settings.network.prefixes.clear()), "prefix 1 has no name");
    let long = refused(&|settings| settings.network.links[1] = "x".repeat(200));
    assert!(long.starts_with("node `r2` has more links or prefixes than a task can have"), "{long}");
}
