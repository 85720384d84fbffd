//! The workloads that speed is measured on: W1 and W2 dumbbells of TCP flows, W3 a chain, W4 a multicast star; the star
//! again with a stream instead of datagrams (W4s), and with that stream's group known by name (W4n); N1 and N2
//! dumbbells of named data; N3 a network of 200 forwarders of named data under a controller, N3k one of 1000, N10k one
//! of 10 000 with the traffic of N3k; T1k … T1m a router of named data whose tables hold a thousand to a million names;
//! S10 … S100k dumbbells of ten to a hundred thousand TCP flows with the same share of the bottleneck each; F8p and F8i
//! a fat tree of 128 hosts with a permutation and with incast, F16p and F16i one of 1024 hosts; M10k and M100k
//! multicast stars of that many receivers; D100 … D100k one TCP flow with a window of a hundred to a hundred thousand
//! segments, of which some are lost and some overtake, and O100 … O100k the same in order.

mod requests;

use contract::{EcnFeedback, FlowId, NodeId, ParamValue};
pub use requests::{Order, Requester};
use sim::{
    Blueprint, Cast, FlowKind, IcnSpec, Impair, NameRoute, NdnSpec, PortSpec, ProducerSpec, Reorder, SdnSpec,
    World,
};
use stack::{datagram, icn, ndn, sdn, stream, tcp};
use units::{Bytes, Duration, Rate, Time};

/// The names of the workloads.
pub const NAMES: &[&str] = &[
    "w1", "w2", "w3", "w4", "w4s", "w4n", "n1", "n2", "n3", "s10", "s100", "s1k", "s10k", "s100k", "s1m",
    "f8p", "f8i", "f16p", "f16i", "m1k", "m10k", "m100k", "n3k", "n10k", "t1k", "t10k", "t100k", "t1m",
    "d100", "d1k", "d10k", "d100k", "o100", "o1k", "o10k", "o100k",
];

/// The workload called `name`, one of [`NAMES`], of the given duration or the usual one; `None` for another name.
pub fn workload(name: &str, duration: Option<Duration>) -> Option<Blueprint> {
    let run = |seconds: u64| duration.unwrap_or(Duration::from_secs(seconds));
    let stagger = Duration::from_millis(10);
    match name {
        "w1" => Some(dumbbell(10, Rate::from_mbps(100), 100, stagger, run(100))),
        "w2" => Some(dumbbell(1000, Rate::from_mbps(1000), 1000, stagger, run(20))),
        "w3" => Some(chain(run(100))),
        "w4" => Some(star(64, run(400))),
        "w4s" => Some(stream_star(64, Cast::Multicast, run(400))),
        "w4n" => Some(stream_star(64, Cast::Named, run(400))),
        "n1" => Some(named(None, run(100))),
        "n2" => Some(named(Some("bic"), run(100))),
        "n3" => Some(controlled(200, 1, run(20))),
        "n3k" => Some(controlled(1000, 1, run(20))),
        "n10k" => Some(controlled(10_000, 10, run(20))),
        "s10" => Some(scaled(10, run(10))),
        "s100" => Some(scaled(100, run(10))),
        "s1k" => Some(scaled(1000, run(10))),
        "s10k" => Some(scaled(10_000, run(10))),
        "s100k" => Some(scaled(100_000, run(10))),
        "s1m" => Some(scaled(1_000_000, run(10))),
        "f8p" => Some(permutation(8, duration.unwrap_or(Duration::from_millis(100)))),
        "f8i" => Some(incast(8, duration.unwrap_or(Duration::from_millis(100)))),
        "f16p" => Some(permutation(16, duration.unwrap_or(Duration::from_millis(100)))),
        "f16i" => Some(incast(16, duration.unwrap_or(Duration::from_millis(100)))),
        "m1k" => Some(star(1000, run(40))),
        "m10k" => Some(star(10_000, run(40))),
        "m100k" => Some(star(100_000, run(10))),
        _ if name.starts_with(['d', 'o']) => {
            let window = segments(&name[1..])?;
            // a million segments and at least four windows
            let round_trips = 4.max(1_000_000 / u64::from(window));
            let duration = duration.unwrap_or(ROUND_TRIP * round_trips);
            Some(disordered(window, name.starts_with('d'), duration))
        }
        _ => table_size(name).map(|count| tables(count, run(20))),
    }
}

/// The window of a workload that is made by [`disordered`].
fn segments(size: &str) -> Option<u32> {
    match size {
        "100" => Some(100),
        "1k" => Some(1000),
        "10k" => Some(10_000),
        "100k" => Some(100_000),
        _ => None,
    }
}

/// One TCP flow like Linux with CUBIC over a path that holds its whole `window` from the first round trip on. With
/// `disorder` one packet in a hundred overtakes all others on the path, and one in two thousand is lost.
pub fn disordered(window: u32, disorder: bool, duration: Duration) -> Blueprint {
    let mut net = Blueprint::new(duration);
    let (from, to) = (net.node("from"), net.node("to"));
    let config = tcp::Config {
        initial_window: window,
        receive_window: tcp::Config::linux().segment * u64::from(window),
        handshake: false,
        send_buffer: Bytes::UNLIMITED,
        ..tcp::Config::linux()
    };
    let bits = u64::from(window) * 8 * (config.segment + config.header).as_u64();
    let rate = Rate::from_bps(bits * 1_000_000_000 / ROUND_TRIP.as_nanos());
    let delay = ROUND_TRIP / 2;
    let back = PortSpec::new(rate, delay, 4 * window);
    let mut there = back.clone();
    if disorder {
        there.loss = 0.0005;
        let reorder = Some(Reorder { probability: 0.01, gap: 1 });
        there.impair = Some(Impair { reorder, ..Impair::default() });
    }
    let link = net.link("path", (from, to), back);
    net.links[link.index()].forward = there.into();
    net.flow("tcp", Some("cubic"), FlowKind::Tcp(config), from, &[to]);
    net
}

/// Of the path of [`disordered`].
const ROUND_TRIP: Duration = Duration::from_millis(100);

/// The names in each table of a workload that is made by [`tables`].
fn table_size(name: &str) -> Option<u32> {
    match name {
        "t1k" => Some(1000),
        "t10k" => Some(10_000),
        "t100k" => Some(100_000),
        "t1m" => Some(1_000_000),
        _ => None,
    }
}

/// `count` NewReno flows without SACK over one bottleneck of 10 ms, each starting `stagger` after the one before;
/// access links 1 Gbit/s, 1 ms.
pub fn dumbbell(count: u32, rate: Rate, buffer: u32, stagger: Duration, duration: Duration) -> Blueprint {
    let mut net = Blueprint::new(duration);
    let (left, right) = (net.node("left"), net.node("right"));
    net.link("bottleneck", (left, right), PortSpec::new(rate, Duration::from_millis(10), buffer));
    let access = PortSpec::new(Rate::from_mbps(1000), Duration::from_millis(1), 10_000);
    for i in 0..count {
        let (from, to) = (net.node(&format!("s{i}")), net.node(&format!("d{i}")));
        net.link(&format!("s{i}"), (from, left), access.clone());
        net.link(&format!("d{i}"), (right, to), access.clone());
        let start = Time::from_nanos(u64::from(i) * stagger.as_nanos());
        net.flow(&format!("tcp.{i}"), Some("reno"), FlowKind::Tcp(newreno()), from, &[to]).start = start;
    }
    net
}

/// A dumbbell with 1 Mbit/s and one packet of buffer per flow, all of which start within the first second.
pub fn scaled(count: u32, duration: Duration) -> Blueprint {
    let stagger = Duration::from_nanos(1_000_000_000 / u64::from(count));
    dumbbell(count, Rate::from_mbps(u64::from(count)), count, stagger, duration)
}

/// NewReno without SACK, 1000 bytes a packet.
fn newreno() -> tcp::Config {
    tcp::Config {
        segment: Bytes::new(960),
        header: Bytes::new(40),
        initial_window: 10,
        sack: false,
        delayed_ack: false,
        ..tcp::Config::default()
    }
}

/// A fat tree of `ports`-port switches ["A Scalable, Commodity Data Center Network Architecture", SIGCOMM 2008, §3] and
/// its hosts: all links 1 Gbit/s and 10 µs; paths of equal cost are chosen by flow.
fn fat_tree(ports: usize, queue: &PortSpec, duration: Duration) -> (Blueprint, Vec<NodeId>) {
    let mut net = Blueprint::new(duration);
    let half = ports / 2;
    let core: Vec<NodeId> = (0..half * half).map(|i| net.node(&format!("core{i}"))).collect();
    let mut hosts = Vec::new();
    for pod in 0..ports {
        let layer = |net: &mut Blueprint, name: &str| -> Vec<NodeId> {
            (0..half).map(|i| net.node(&format!("{name}{pod}.{i}"))).collect()
        };
        let (upper, lower) = (layer(&mut net, "aggregation"), layer(&mut net, "edge"));
        for (i, &aggregation) in upper.iter().enumerate() {
            for (j, &switch) in core[i * half..(i + 1) * half].iter().enumerate() {
                net.link(&format!("c{pod}.{i}.{j}"), (aggregation, switch), queue.clone());
            }
        }
        for (i, &edge) in lower.iter().enumerate() {
            for (j, &aggregation) in upper.iter().enumerate() {
                net.link(&format!("a{pod}.{i}.{j}"), (edge, aggregation), queue.clone());
            }
            for j in 0..half {
                let host = net.node(&format!("h{pod}.{i}.{j}"));
                net.link(&format!("h{pod}.{i}.{j}"), (host, edge), queue.clone());
                hosts.push(host);
            }
        }
    }
    (net, hosts)
}

/// Every host of a fat tree sends one NewReno flow to the host half the network away, over queues of 100 packets.
pub fn permutation(ports: usize, duration: Duration) -> Blueprint {
    let queue = PortSpec::new(Rate::from_mbps(1000), Duration::from_micros(10), 100);
    let (mut net, hosts) = fat_tree(ports, &queue, duration);
    for (i, &from) in hosts.iter().enumerate() {
        let to = hosts[(i + hosts.len() / 2) % hosts.len()];
        net.flow(&format!("tcp.{i}"), Some("reno"), FlowKind::Tcp(newreno()), from, &[to]);
    }
    net
}

/// All hosts of a fat tree but one send one DCTCP flow each to that one, through queues of 100 packets that mark from
/// 20 on.
pub fn incast(ports: usize, duration: Duration) -> Blueprint {
    let mut queue = PortSpec::new(Rate::from_mbps(1000), Duration::from_micros(10), 100);
    queue.queue.mark_above = Some(20);
    let (mut net, hosts) = fat_tree(ports, &queue, duration);
    for (i, &from) in hosts.iter().enumerate().skip(1) {
        let config = tcp::Config { ecn: true, ecn_feedback: EcnFeedback::Dctcp, ..newreno() };
        let start = Time::from_nanos(i as u64 * 10_000);
        net.flow(&format!("tcp.{i}"), Some("dctcp"), FlowKind::Tcp(config), from, &hosts[..1]).start = start;
    }
    net
}

/// One constant-rate flow of 1000-byte packets at 80 Mbit/s over ten links of 100 Mbit/s and 1 ms.
pub fn chain(duration: Duration) -> Blueprint {
    let mut net = Blueprint::new(duration);
    let nodes: Vec<NodeId> = (0..=10).map(|i| net.node(&format!("n{i}"))).collect();
    for (i, pair) in nodes.windows(2).enumerate() {
        let spec = PortSpec::new(Rate::from_mbps(100), Duration::from_millis(1), 100);
        net.link(&format!("l{i}"), (pair[0], pair[1]), spec);
    }
    net.flow("cbr", None, constant(Rate::from_mbps(80)), nodes[0], &nodes[10..]);
    net
}

/// One source at 0.8 Mbit/s, one router, `receivers` receivers behind links of 1 Mbit/s and 5 ms.
pub fn star(receivers: u32, duration: Duration) -> Blueprint {
    let mut net = Blueprint::new(duration);
    let (source, router) = (net.node("source"), net.node("router"));
    let spec = PortSpec::new(Rate::from_mbps(1), Duration::from_millis(5), 100);
    net.link("source", (source, router), spec.clone());
    let leaves: Vec<NodeId> = (0..receivers).map(|i| net.node(&format!("d{i}"))).collect();
    for (i, &leaf) in leaves.iter().enumerate() {
        net.link(&format!("d{i}"), (router, leaf), spec.clone());
    }
    net.flow("cbr", None, constant(Rate::from_kbps(800)), source, &leaves);
    net
}

/// A multicast star with a stream whose rate stays where it is: along a tree of the engine's own, or to a group by its
/// name, whose tree the router keeps.
pub fn stream_star(receivers: u32, cast: Cast, duration: Duration) -> Blueprint {
    let mut net = star(receivers, duration);
    let router = NodeId(1);
    if cast == Cast::Named {
        let resolver = net.node("nrs");
        net.link("nrs", (resolver, router), PortSpec::new(Rate::from_mbps(1), Duration::from_millis(5), 100));
        net.icn = Some(IcnSpec { resolver, routers: vec![router], config: icn::Config::default() });
    }
    let flow = &mut net.flows[0];
    let config = stream::Config { packet: Bytes::new(1000), jitter: 0.0, ..stream::Config::default() };
    (flow.kind, flow.scheme, flow.cast) = (FlowKind::Stream(config).into(), Some("mca".into()), cast);
    let rate = ParamValue::Text("800 kbit/s".into());
    flow.params =
        ["initial_rate", "min_rate", "max_rate"].map(|name| (name.to_owned(), rate.clone())).to_vec();
    net
}

/// Two consumers that ask for segments of 1024 bytes, at 500 a second or under a window-based controller, two
/// producers, two routers; all links 10 Mbit/s, 10 ms, 100 packets, with marks from 64 KiB of Data on.
///
/// The first Interest leaves 2 ms after the start of the run, one gap at 500 a second: so it is in the runs of ndnSIM
/// whose counts stand beside ours.
pub fn named(controller: Option<&str>, duration: Duration) -> Blueprint {
    let mut net = Blueprint::new(duration);
    let nodes = ["c1", "c2", "r1", "r2", "p1", "p2"].map(|name| net.node(name));
    let [c1, c2, r1, r2, p1, p2] = nodes;
    let mut spec = PortSpec::new(Rate::from_mbps(10), Duration::from_millis(10), 100);
    spec.queue.mark_above = Some(60);
    for (name, ends) in
        [("c1", (c1, r1)), ("c2", (c2, r1)), ("core", (r1, r2)), ("p1", (r2, p1)), ("p2", (r2, p2))]
    {
        net.link(name, ends, spec.clone());
    }
    let mut spec = NdnSpec { nodes: nodes.to_vec(), ..NdnSpec::default() };
    let payload = Bytes::new(1024);
    let data = payload + ndn::OVERHEAD;
    let prefixes = [("/p1", p1), ("/p2", p2)].map(|(text, node)| {
        let prefix = spec.names.intern(text);
        let config = ndn::ProducerConfig { prefix, payload, data, delay: Duration::ZERO };
        spec.producers.push(ProducerSpec { node, config });
        prefix
    });
    net.ndn = Some(spec);
    for (from, prefix) in [c1, c2].into_iter().zip(prefixes) {
        let config = match controller {
            None => ndn::ConsumerConfig::new(prefix, payload, Rate::from_bps(data.as_bits() * 500)),
            Some(_) => ndn::ConsumerConfig::with_controller(prefix, payload),
        };
        let flow = net.flow(&format!("consumer.{}", from.0), controller, FlowKind::Ndn(config), from, &[]);
        flow.start = Time::ZERO + Duration::from_millis(2);
    }
    net
}

/// A router whose tables hold `count` names each: next hops for that number of prefixes, as many pending Interests, and
/// as many Data in its content store. The traffic is the same for every `count`, once the tables are full, which takes
/// `count` requests of either consumer.
///
/// One consumer requests 100 000 Data a second, of all prefixes in turn; their producer takes so long to answer that
/// `count` Interests are pending at every node of their path. The other one requests as many, drawn from twice as many
/// contents as the store holds. Both consumers are [`Requester`]s, see [`world`]. All links have 10 Gbit/s and 0.1 ms.
pub fn tables(count: u32, duration: Duration) -> Blueprint {
    let mut net = Blueprint::new(duration);
    let nodes = ["c1", "c2", "r", "p1", "p2"].map(|name| net.node(name));
    let [c1, c2, router, p1, p2] = nodes;
    let wire = PortSpec::new(Rate::from_mbps(10_000), Duration::from_micros(100), 1000);
    for (name, ends) in
        [("c1", (c1, router)), ("c2", (c2, router)), ("p1", (router, p1)), ("p2", (router, p2))]
    {
        net.link(name, ends, wire.clone());
    }
    let store = ndn::Store { policy: ndn::Policy::Lru, size: count };
    let mut spec = NdnSpec { nodes: nodes.to_vec(), stores: vec![(router, store)], ..NdnSpec::default() };
    let payload = Bytes::new(1024);
    let data = payload + ndn::OVERHEAD;
    let prefixes = [("/p1", p1, pending(count)), ("/p2", p2, Duration::ZERO)].map(|(text, node, delay)| {
        let prefix = spec.names.intern(text);
        spec.producers
            .push(ProducerSpec { node, config: ndn::ProducerConfig { prefix, payload, data, delay } });
        prefix
    });
    let below = (0..count).map(|i| spec.names.intern(&format!("/p1/{i}")));
    spec.routes = below.map(|prefix| NameRoute { at: router, prefix, via: p1, cost: 1 }).collect();
    net.ndn = Some(spec);
    for (name, prefix, from) in [("slow", prefixes[0], c1), ("cached", prefixes[1], c2)] {
        let config =
            ndn::ConsumerConfig::new(prefix, payload, Rate::from_bps(data.as_bits() * REQUESTS_PER_S));
        net.flow(name, None, FlowKind::Ndn(config), from, &[]);
    }
    net
}

/// Requests a second of each consumer of [`tables`].
const REQUESTS_PER_S: u64 = 100_000;

/// How long an Interest of the first consumer of [`tables`] is pending.
fn pending(count: u32) -> Duration {
    Duration::from_nanos(u64::from(count) * 1_000_000_000 / REQUESTS_PER_S)
}

/// The network of a workload, with what is not built in; `None` if there is no workload called `name`.
pub fn world(name: &str, duration: Option<Duration>) -> Option<World> {
    let blueprint = workload(name, duration)?;
    let orders = table_size(name).zip(blueprint.ndn.as_ref()).map(|(count, ndn)| {
        let (first, prefix) = (ndn.routes[0].prefix, ndn.producers[1].config.prefix);
        (count, [Order::Prefixes { first, count }, Order::Segments { prefix, count }])
    });
    let mut world = World::shared(blueprint.into()).expect("the workloads are valid");
    if let Some((count, orders)) = orders {
        let gap = Duration::from_nanos(1_000_000_000 / REQUESTS_PER_S);
        // longer than any Interest is pending
        let lifetime = pending(count) * 2 + Duration::from_secs(1);
        for (flow, order) in (0u32..).map(FlowId).zip(orders) {
            let requester = Requester::new(order, gap, lifetime);
            world.custom_sender(flow, Box::new(move |_| Box::new(requester.clone())));
        }
    }
    Some(world)
}

/// Routers in a ring with chords, half as many consumers and a tenth as many producers at nodes of their own, all of
/// them under ndnSieve with its controller; all links 10 Mbit/s, except the controller's.
///
/// With `sparse` above 1 there are fewer consumers and producers by this factor, and each consumer asks one of the
/// producers around it, so that traffic and lengths of paths are as in a ring that is smaller by this factor.
pub fn controlled(count: usize, sparse: usize, duration: Duration) -> Blueprint {
    const CHORD: usize = 14;
    let producers = count / 10 / sparse;
    let mut net = Blueprint::new(duration);
    let routers: Vec<NodeId> = (0..count).map(|i| net.node(&format!("r{i}"))).collect();
    let wire = |delay_ms: u64| PortSpec::new(Rate::from_mbps(10), Duration::from_millis(delay_ms), 500);
    for (i, &router) in routers.iter().enumerate() {
        for (step, delay_ms) in [(1, 3), (CHORD, 10)] {
            let other = (i + step) % count;
            net.link(&format!("r{i}-r{other}"), (router, routers[other]), wire(delay_ms));
        }
    }
    let mut spec = NdnSpec { link: Some("ndnsieve".to_owned()), ..NdnSpec::default() };
    let payload = Bytes::new(1024);
    let data = payload + ndn::OVERHEAD;
    for j in 0..producers {
        let node = net.node(&format!("p{j}"));
        net.link(&format!("p{j}"), (routers[sparse * (10 * j + 5)], node), wire(1));
        let prefix = spec.names.intern(&format!("/{j}"));
        let config = ndn::ProducerConfig { prefix, payload, data, delay: Duration::ZERO };
        spec.producers.push(ProducerSpec { node, config });
    }
    for k in 0..5 * producers {
        let node = net.node(&format!("c{k}"));
        net.link(&format!("c{k}"), (node, routers[sparse * 2 * k]), wire(1));
        let producer = match sparse {
            1 => 7 * k % producers,
            // the producers within half of the smaller ring to either side
            _ => (k / 5 + producers + 7 * k % (producers / sparse) - producers / sparse / 2) % producers,
        };
        // each has content of its own, so that nothing is aggregated
        let prefix = spec.names.intern(&format!("/{producer}/{k}"));
        let config = ndn::ConsumerConfig::with_controller(prefix, payload);
        let flow = net.flow(&format!("consumer.{k}"), Some("ndnsieve"), FlowKind::Ndn(config), node, &[]);
        flow.start = Time::ZERO + Duration::from_millis(10 * k as u64);
    }
    spec.nodes = (0..net.nodes.len() as u32).map(NodeId).collect();
    let nodes = spec.nodes.clone();
    let controller = net.node("controller");
    for &node in &nodes {
        net.link(&format!("control{}", node.0), (controller, node), wire(10));
    }
    net.ndn = Some(spec);
    net.sdn = Some(SdnSpec {
        controller,
        nodes,
        out_of_band: true,
        app: "ndnsieve".to_owned(),
        app_params: Vec::new(),
        config: sdn::Config::default(),
    });
    net
}

fn constant(rate: Rate) -> FlowKind {
    FlowKind::Datagram(datagram::Config {
        packet: Bytes::new(1000),
        pattern: datagram::Pattern::Constant { rate },
    })
}
