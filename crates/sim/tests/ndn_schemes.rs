//! The schemes of named data in the running network: a dumbbell that two consumers share, and two paths for one.

use contract::{Count, NodeId, ParamList, ParamValue};
use sim::{Blueprint, Control, FlowKind, NdnSpec, PortSpec, ProducerSpec, Trace, World};
use stack::ndn::{ConsumerConfig, EpisodeCheck, ProducerConfig, Tally};
use units::{Bytes, Duration, Rate, Time};

use crate::ms;

const DATA: Bytes = Bytes::new(1100);

fn params(given: &[(&str, ParamValue)]) -> ParamList {
    given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// Parts of a run: a consumer's controller, a strategy, a link part, each with its parameters.
#[derive(Clone, Default)]
struct Setup<'a> {
    scheme: Option<&'a str>,
    consumer: Vec<(&'a str, ParamValue)>,
    strategy: Option<&'a str>,
    strategy_params: Vec<(&'a str, ParamValue)>,
    link: Option<&'a str>,
    link_params: Vec<(&'a str, ParamValue)>,
    /// Size of Data; 0 means 1100 bytes.
    data: u64,
}

impl Setup<'_> {
    fn data(&self) -> Bytes {
        if self.data == 0 { DATA } else { Bytes::new(self.data) }
    }
}

/// A network in which every node is an NDN forwarder: links with Mbit/s, milliseconds and packets of queue, and a
/// consumer for each producer. The second starts 137 ms after the first.
fn run(
    seconds: u64,
    nodes: &[&str],
    links: &[(u32, u32, u64, u64, u32)],
    pairs: &[(u32, u32)],
    setup: &Setup<'_>,
) -> Trace {
    let mut print = Blueprint::new(Duration::from_secs(seconds));
    let nodes: Vec<NodeId> = nodes.iter().map(|name| print.node(name)).collect();
    for (a, b, mbps, delay, queue) in links {
        let port = PortSpec::new(Rate::from_mbps(*mbps), ms(*delay), *queue);
        print.link(&format!("l{a}{b}"), (NodeId(*a), NodeId(*b)), port);
    }
    let mut spec = NdnSpec { nodes, ..NdnSpec::default() };
    if let Some(name) = setup.strategy {
        spec.strategy = name.to_owned();
        spec.strategy_params = params(&setup.strategy_params);
    }
    spec.link = setup.link.map(str::to_owned);
    spec.link_params = params(&setup.link_params);
    spec.config.data = setup.data();
    let payload = setup.data() - stack::ndn::OVERHEAD;
    for (number, (consumer, producer)) in pairs.iter().enumerate() {
        let prefix = spec.names.intern(&format!("/p{number}"));
        let config = ProducerConfig {
            prefix,
            payload: setup.data() - stack::ndn::OVERHEAD,
            data: setup.data(),
            delay: Duration::ZERO,
        };
        spec.producers.push(ProducerSpec { node: NodeId(*producer), config });
        let config = match setup.scheme {
            // the sources of the schemes and the numbers of their pages used ndnSIM's consumers
            Some(_) => ConsumerConfig {
                episode_check: EpisodeCheck::Highest,
                ..ConsumerConfig::with_controller(prefix, payload)
            },
            None => ConsumerConfig::new(prefix, payload, Rate::from_mbps(8)),
        };
        let flow =
            print.flow(&format!("c{number}"), setup.scheme, FlowKind::Ndn(config), NodeId(*consumer), &[]);
        flow.params = params(&setup.consumer);
        flow.start = Time::ZERO + ms(137 * number as u64);
    }
    print.ndn = Some(spec);
    let mut world = World::new(&print).expect("a valid blueprint");
    world.run(&Control::default());
    world.finish()
}

/// Two consumers, two routers, two producers; all links 10 Mbit/s and 10 ms with queues of 100 packets.
fn dumbbell(seconds: u64, setup: &Setup<'_>) -> Trace {
    let links = [(0, 2), (1, 2), (2, 3), (3, 4), (3, 5)].map(|(a, b)| (a, b, 10, 10, 100));
    run(seconds, &["c1", "c2", "r1", "r2", "p1", "p2"], &links, &[(0, 4), (1, 5)], setup)
}

/// Result of a run.
#[derive(Debug)]
struct Outcome {
    /// Utilisation of the shared link by Data.
    share: f64,
    jain: f64,
    /// Packets dropped by queues, as a share of those sent by endpoints.
    loss: f64,
    refusals: u64,
    /// Mean time from the first Interest of a segment to its Data, in milliseconds.
    delay_ms: f64,
    /// Longest queue, in packets.
    backlog: u32,
    again: u64,
}

fn outcome(trace: &Trace, data_per_s: f64) -> Outcome {
    let got: Vec<f64> = trace.flows.iter().map(|flow| flow.meter.media().delay_count as f64).collect();
    let (sum, squares) = (got.iter().sum::<f64>(), got.iter().map(|x| x * x).sum::<f64>());
    let seconds = (trace.ended_at - Time::ZERO).as_secs_f64();
    let delay: f64 = trace.flows.iter().map(|flow| flow.meter.media().delay_sum_ns as f64).sum();
    let sent: u64 = trace.flows.iter().map(|flow| flow.sent_packets).sum();
    Outcome {
        share: sum / (seconds * data_per_s),
        jain: sum * sum / (got.len() as f64 * squares),
        loss: trace.balance.dropped as f64 / sent as f64,
        refusals: trace.flows.iter().map(|flow| flow.meter.count(Count::Nacks)).sum(),
        delay_ms: delay / sum / 1e6,
        backlog: trace.ports.iter().map(|port| port.backlog_max).max().unwrap_or(0),
        again: trace.flows.iter().map(|flow| flow.meter.count(Count::Retransmits)).sum(),
    }
}

fn of(scheme: &str) -> Setup<'_> {
    Setup { scheme: Some(scheme), ..Setup::default() }
}

fn number(key: &str, value: impl Into<ParamValue>) -> Vec<(&str, ParamValue)> {
    vec![(key, value.into())]
}

/// Runs on the dumbbell for a minute; the test prints the figures of the scheme's README.
fn measure(name: &str, setup: &Setup<'_>) -> Outcome {
    let outcome = outcome(&dumbbell(60, setup), 1e7 / 8.0 / setup.data().as_f64());
    println!("{name}: {outcome:.3?}");
    outcome
}

/// No queue drops a packet.
fn lossless(name: &str, setup: &Setup<'_>) -> Outcome {
    let outcome = measure(name, setup);
    assert_eq!(outcome.loss, 0.0, "{name}");
    outcome
}

#[test]
fn bic_fills_the_link_with_less_loss_than_aimd() {
    let (bic, aimd) = (measure("bic", &of("bic")), measure("aimd", &of("aimd")));
    assert!(bic.share > 0.98 && bic.jain > 0.98, "{bic:?}");
    assert!(bic.loss < 0.5 * aimd.loss && bic.loss > 0.0, "{} {}", bic.loss, aimd.loss);
}

/// The timer covers the last 30 Data: with windows of a few large Data several round trips, with 71 small ones less
/// than half of one.
#[test]
fn icp_needs_samples_of_several_windows() {
    let with = |data, samples: i64| {
        let setup = Setup { data, consumer: number("samples", samples), ..of("icp") };
        lossless(&format!("icp, {data} bytes, {samples} samples"), &setup)
    };
    let large = with(10_000, 30);
    assert!(large.share > 0.85 && large.jain > 0.99 && large.backlog < 20, "{large:?}");
    let shares = [30, 300, 1000].map(|samples| with(1100, samples).share);
    assert!(
        shares[0] < 0.2 && shares[0] < shares[1] && shares[1] < shares[2] && shares[2] > 0.75,
        "{shares:?}"
    );
    assert!(with(10_000, 300).delay_ms > 1.5 * large.delay_ms);
    let half = Setup { data: 10_000, consumer: number("delta", 0.5), ..of("icp") };
    let half = lossless("icp, 10000 bytes, delta 0.5", &half);
    assert!(half.share < 0.5 * large.share, "{half:?}");
}

#[test]
fn raaqm_keeps_queues_short() {
    let with = |data, share: f64, keep: f64| {
        let consumer = vec![("delta_p", share.into()), ("beta", keep.into())];
        let setup = Setup { data, consumer, strategy: Some("raaqm"), link: Some("raaqm"), ..of("raaqm") };
        measure(&format!("raaqm, {data} bytes, {share}, {keep}"), &setup)
    };
    let large = with(10_000, 0.2, 0.8);
    assert!(large.share > 0.95 && large.jain > 0.99 && large.backlog < 20 && large.loss == 0.0, "{large:?}");
    with(5000, 0.2, 0.8);
    let small = with(1100, 0.2, 0.8);
    assert!((0.15..0.5).contains(&small.share), "{small:?}");
    let gentle = with(1100, 0.02, 0.8);
    assert!((0.6..0.95).contains(&gentle.share) && gentle.loss == 0.0, "{gentle:?}");
    let full = with(1100, 0.02, 0.99);
    assert!(full.share > 0.95 && full.loss > 0.0, "{full:?}");
}

/// The target is 60 packets in a queue of 100.
#[test]
fn hobhis_keeps_the_queue_at_its_target() {
    let clients = lossless("hobhis", &Setup { link: Some("hobhis"), ..of("hobhis") });
    assert!(clients.share > 0.99 && clients.jain > 0.999, "{clients:?}");
    assert!((55..=70).contains(&clients.backlog) && clients.again == 0, "{clients:?}");
    // 62.8 ms and 60 Data of 0.88 ms
    assert!((105.0..125.0).contains(&clients.delay_ms), "{clients:?}");
    let consumer = vec![("client", false.into()), ("initial_rate", "8 Mbit/s".into())];
    for line in ["link", "conversation"] {
        let link_params = number("queue_per", line);
        let setup = Setup { link: Some("hobhis"), link_params, consumer: consumer.clone(), ..of("hobhis") };
        let steady = lossless(&format!("hobhis, constant, a line a {line}"), &setup);
        assert!(steady.share > 0.99 && steady.jain > 0.999 && steady.again > 10_000, "{steady:?}");
    }
    // with the router's own gain the rates of clients oscillate between zero and the maximum
    let link_params = number("client_h", 0.7);
    let swinging =
        measure("hobhis, h = 0.7 for clients", &Setup { link: Some("hobhis"), link_params, ..of("hobhis") });
    assert!(swinging.share < 0.95, "{swinging:?}");
    let aimd = measure("hobhis, aimd", &Setup { link: Some("hobhis"), ..of("aimd") });
    assert!(aimd.share > 0.98 && aimd.jain > 0.99 && aimd.loss < 0.001, "{aimd:?}");
}

/// Data are never queued, and the link is used up to its headroom.
#[test]
fn his_leaves_queues_empty() {
    let with = |name: &str, link_params: Vec<(&'static str, ParamValue)>, consumer| {
        let outcome = lossless(name, &Setup { link: Some("his"), link_params, consumer, ..of("his") });
        assert!((0.95..=0.98).contains(&outcome.share) && outcome.backlog <= 2, "{name}: {outcome:?}");
        outcome
    };
    let tail = with("his, drop-tail", Vec::new(), Vec::new());
    assert!(tail.jain > 0.95 && tail.refusals > 0, "{tail:?}");
    for queue in ["pie", "codel"] {
        let short = with(&format!("his, {queue}"), number("queue", queue), Vec::new());
        assert!(short.jain > 0.99 && short.delay_ms < 0.75 * tail.delay_ms, "{short:?}");
    }
    let silent = with("his, no NACKs", number("nacks", false), Vec::new());
    assert!(silent.refusals == 0 && silent.again > tail.again, "{silent:?}");
    // the first flow keeps the link full
    let relentless = with("his, relentless", Vec::new(), number("consumer", "relentless"));
    assert!(relentless.jain < 0.8, "{relentless:?}");
}

#[test]
fn limits_on_faces_keep_queues_short() {
    let with = |name: &str, strategy_params: Vec<(&'static str, ParamValue)>, consumer| {
        lossless(name, &Setup { strategy: Some("nack"), strategy_params, consumer, ..of("nack") })
    };
    let window = with("nack, window", Vec::new(), Vec::new());
    assert!(window.share > 0.95 && window.jain > 0.97 && window.refusals > 0, "{window:?}");
    // the limit is 109.6; a round trip holds 71 Data minus those on the access links
    assert!((30..=70).contains(&window.backlog), "{window:?}");
    let rate = with("nack, rate", number("limit", "rate"), Vec::new());
    assert!(rate.share > 0.9 && rate.jain > 0.97, "{rate:?}");
    let counting = with("nack, counting", Vec::new(), number("consumer", "counting"));
    assert!(counting.share > 0.98 && counting.refusals > 10_000, "{counting:?}");
    let adaptive = with("nack, adapt", number("adapt", true), Vec::new());
    assert!(adaptive.backlog < 10 && adaptive.share > 0.4, "{adaptive:?}");
    let both = with(
        "nack, adapt, early, counting",
        vec![("adapt", true.into()), ("early", true.into())],
        number("consumer", "counting"),
    );
    assert!(both.share > 0.85 && both.backlog < window.backlog, "{both:?}");
}

/// One consumer, two paths of 10 and 5 Mbit/s. The share of the first path, and the Data of each.
fn paths(name: &str, setup: &Setup<'_>) -> (f64, [u64; 2]) {
    let links = [
        (0, 1, 50, 5, 200),
        (1, 2, 10, 10, 100),
        (1, 3, 5, 10, 100),
        (2, 4, 10, 10, 100),
        (3, 4, 5, 10, 100),
        (4, 5, 50, 5, 200),
    ];
    let trace = run(60, &["c", "r1", "fast", "slow", "r2", "p"], &links, &[(0, 5)], setup);
    let outcome = outcome(&trace, 1e7 / 8.0 / setup.data().as_f64());
    let by = [2, 3].map(|node| {
        let record = trace.nodes.iter().find(|record| record.node == NodeId(node)).expect("it has a machine");
        record.ndn.as_ref().expect("a forwarder counts").count(Tally::DataIn)
    });
    println!("{name} over two paths: {outcome:.3?}, {by:?}");
    (outcome.share, by)
}

#[test]
fn refusals_and_pending_counts_find_the_second_path() {
    let (best, by) = paths("aimd", &of("aimd"));
    assert!(best < 1.0 && by[1] < by[0] / 50, "{best} {by:?}");
    let nack = Setup { strategy: Some("nack"), ..of("nack") };
    let (refused, by) = paths("nack", &nack);
    assert!(refused > 1.1 && by[1] > 5000, "{refused} {by:?}");
    let (all, _) = paths("nack, counting", &Setup { consumer: number("consumer", "counting"), ..nack });
    assert!((1.45..1.5).contains(&all), "{all}");
    let consumer = vec![("delta_p", 0.02.into()), ("beta", 0.99.into())];
    let (spread, by) =
        paths("raaqm", &Setup { consumer, strategy: Some("raaqm"), link: Some("raaqm"), ..of("raaqm") });
    assert!(spread > 1.05 && by[0] > by[1] && by[1] > by[0] / 3, "{spread} {by:?}");
}

#[test]
fn equal_runs_are_equal() {
    for setup in [
        Setup { strategy: Some("raaqm"), link: Some("raaqm"), ..of("raaqm") },
        Setup { link: Some("hobhis"), ..of("hobhis") },
        Setup { link: Some("his"), link_params: number("queue", "pie"), ..of("his") },
        Setup { strategy: Some("nack"), strategy_params: number("early", true), ..of("nack") },
    ] {
        let hash = || dumbbell(5, &setup).hash;
        assert_eq!(hash(), hash(), "{:?}", setup.scheme);
    }
}
