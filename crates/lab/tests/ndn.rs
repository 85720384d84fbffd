//! Networks of named data: defaults of scenarios, and their explicit form in plans.

mod common;

use lab::{Plan, load};
use sim::{Change, FlowKind, Limit, NameRoute, NdnSpec};
use stack::ndn::{ConsumerConfig, EpisodeCheck, Gaps, OVERHEAD, Pattern, Policy, Store, Timeout};
use units::{Bytes, Duration, Rate};

use common::{names, plan, wrong};

fn ndn(plan: &Plan) -> &NdnSpec {
    plan.blueprint.ndn.as_ref().expect("forwarders")
}

fn consumer(plan: &Plan, flow: usize) -> &ConsumerConfig {
    match &*plan.blueprint.flows[flow].kind {
        FlowKind::Ndn(config) => config,
        other => panic!("{other:?}"),
    }
}

fn node(plan: &Plan, name: &str) -> contract::NodeId {
    let at = plan.blueprint.nodes.iter().position(|known| known == name).expect("a node of that name");
    contract::NodeId(at as u32)
}

fn same(plan: &Plan) {
    let printed = plan.to_toml();
    assert_eq!(*plan, *self::plan(&printed), "{printed}");
}

/// Two paths from a consumer to two producers of one prefix.
const NET: &str = r#"
[topology]
kind = "custom"
links = [
  { name = "l1", ends = ["c", "r1"], rate = "10 Mbit/s", delay = "5 ms" },
  { name = "l2", ends = ["r1", "r2"], rate = "2 Mbit/s", delay = "10 ms", buffer = "1 bdp" },
  { name = "l3", ends = ["r1", "r3"], rate = "2 Mbit/s", delay = "20 ms", buffer = "1 bdp" },
  { name = "l4", ends = ["r2", "p1"], rate = "10 Mbit/s", delay = "5 ms" },
  { name = "l5", ends = ["r3", "p2"], rate = "10 Mbit/s", delay = "5 ms" },
]
"#;

const FILMS: &str = "[[producers]]\nprefix = \"/films\"\nnode = [\"p1\", \"p2\"]\n";

fn viewer(more: &str) -> String {
    format!(
        "[[flows]]\nname = \"viewer\"\nnetwork = \"ndn\"\nfrom = \"c\"\nprefix = \"/films/new\"\n{more}\n"
    )
}

fn windowed(more: &str) -> String {
    viewer(&format!("scheme = \"aimd\"\n{more}"))
}

#[test]
fn a_consumer_and_a_producer_are_enough() {
    let plan = plan(&format!("{NET}{FILMS}{}", windowed("")));
    let spec = ndn(&plan);
    assert_eq!(names(&plan, &spec.nodes), ["c", "r1", "r2", "r3", "p1", "p2"]);
    assert_eq!((spec.strategy.as_str(), &spec.link), ("best_route", &None));
    assert_eq!(spec.config, stack::ndn::Config::default());
    let served: Vec<(String, String)> = spec
        .producers
        .iter()
        .map(|one| (names(&plan, &[one.node]).concat(), spec.names.text(one.config.prefix)))
        .collect();
    assert_eq!(served, [("p1".to_owned(), "/films".to_owned()), ("p2".to_owned(), "/films".to_owned())]);
    assert_eq!(spec.producers[0].config.payload, Bytes::new(1024));
    assert_eq!(spec.producers[0].config.data, Bytes::new(1024) + OVERHEAD);
    let config = consumer(&plan, 0);
    assert_eq!(spec.names.text(config.prefix), "/films/new");
    assert_eq!(*config, ConsumerConfig::with_controller(config.prefix, Bytes::new(1024)));
    assert!(plan.blueprint.flows[0].to.is_empty());
    same(&plan);
}

#[test]
fn written_values_override_defaults() {
    let text = format!(
        r#"{NET}
[ndn]
nodes = ["r*", "c", "p*"]
store = {{ size = 100 }}
stores = [{{ node = "r*", policy = "fifo", size = 50 }}, {{ node = "r1", policy = "none" }}]
strategy = "weighted"
strategy_params = {{ by = "pending" }}
link = "mircc"
link_params = {{ eta = 0.9 }}
dead_nonces = 7
interest = "60 B"
lifetime = "3 s"
routes = [
  {{ at = "c", prefix = "/films", via = "r1" }},
  {{ at = "r1", prefix = "/films", via = "r3", cost = 4 }},
]
[[producers]]
prefix = "/films"
node = "p*"
payload = "1000 B"
data = "1250 B"
delay = "1 ms"
{}
[[events]]
at = "1 s"
node = "r1"
action = "reset"
"#,
        viewer(
            r#"
scheme = "mircc"
size = "1 MB"
consumer = { tick = "100 ms", tick_phase = "10 ms", jitter = "3 ms", initial_window = 4, marks = false, episode = 1.5, episode_check = "highest", retries = 9, initial_rto = "500 ms", min_rto = "100 ms", max_rto = "9 s", rto_backoff = 8, rto_scan = "0 s", pattern = "zipf", contents = 50, segments = 3, exponent = 0.7, shift = 0.5, lifetime = "1 s" }"#
        )
    );
    let plan = plan(&text);
    let spec = ndn(&plan);
    let store = |policy, size| Store { policy, size };
    assert_eq!(spec.config.store, store(Policy::Lru, 100));
    let stores = [("r2", Policy::Fifo, 50), ("r3", Policy::Fifo, 50), ("r1", Policy::None, 0)];
    let stores = stores.map(|(name, policy, size)| (node(&plan, name), store(policy, size)));
    assert_eq!(spec.stores, stores);
    assert_eq!((spec.strategy.as_str(), spec.link.as_deref()), ("weighted", Some("mircc")));
    assert_eq!(spec.link_params, [("eta".to_owned(), 0.9.into())]);
    assert_eq!((spec.config.dead_nonces, spec.config.interest), (7, Bytes::new(60)));
    assert_eq!(spec.config.data, Bytes::new(1250));
    let prefix = spec.names.find("/films").expect("it is known");
    let route = |at, via, cost| NameRoute { at: node(&plan, at), prefix, via: node(&plan, via), cost };
    assert_eq!(spec.routes, [route("c", "r1", 0), route("r1", "r3", 4)]);
    assert_eq!(spec.producers.len(), 2);
    assert_eq!(spec.producers[1].config.delay, Duration::from_millis(1));
    let ms = Duration::from_millis;
    let config = consumer(&plan, 0);
    let timeout = Timeout { initial: ms(500), min: ms(100), max: ms(9000), backoff: 8, scan: Duration::ZERO };
    let expected = ConsumerConfig {
        interest: Bytes::new(60),
        data: Bytes::new(1250),
        lifetime: ms(1000),
        pattern: Pattern::Zipf { contents: 50, segments: 3, exponent: 0.7, shift: 0.5 },
        size: Bytes::new(1_000_000),
        initial_window: 4,
        tick: ms(100),
        tick_phase: ms(10),
        jitter: ms(3),
        marks: false,
        episode: 1.5,
        episode_check: EpisodeCheck::Highest,
        retries: 9,
        timeout,
        ..ConsumerConfig::with_controller(config.prefix, Bytes::new(1000))
    };
    assert_eq!(*config, expected);
    assert_eq!(plan.blueprint.events[0].1, Change::Reset(node(&plan, "r1")));
    same(&plan);
}

#[test]
fn a_consumer_at_a_rate_requests_each_segment_once() {
    let of = |source: &str| {
        let plan = plan(&format!("{NET}{FILMS}{}", viewer(&format!("source = {source}"))));
        same(&plan);
        let config = consumer(&plan, 0);
        (config.rate, config.gaps, config.retries)
    };
    // 500 · 1100 B · 8 bit
    let even = (Rate::from_bps(4_400_000), Gaps::Even, 0);
    assert_eq!(of("{ kind = \"constant\", interests = 500 }"), even);
    assert_eq!(of("{ kind = \"constant\", rate = \"4.4 Mbit/s\" }"), even);
    let poisson = (Rate::from_bps(2933), Gaps::Exponential, 0);
    assert_eq!(of("{ kind = \"poisson\", interests = 0.3333 }"), poisson);
}

#[test]
fn batches_are_read_and_printed() {
    let text = windowed("consumer = { pattern = \"batches\", batch = 5, every = \"200 ms\" }");
    let plan = plan(&format!("{NET}{FILMS}{text}"));
    let every = Duration::from_millis(200);
    assert_eq!(consumer(&plan, 0).pattern, Pattern::Batches { size: 5, every });
    same(&plan);
}

/// The nearest producer is 20 ms away: 2 Mbit/s · 40 ms / 8800 bit = 9.09 packets; the other path is not used, but
/// counts as well.
#[test]
fn a_buffer_in_products_holds_the_round_trip_to_the_nearest_producer() {
    let plan = plan(&format!("{NET}{FILMS}{}", windowed("")));
    for link in &plan.blueprint.links[1..3] {
        assert_eq!(
            (&link.forward.queue.limit, &link.backward.queue.limit),
            (&Limit::Packets(10), &Limit::Packets(10))
        );
    }
}

#[test]
fn the_longest_matching_prefix_determines_the_size_of_data() {
    let more = "[[producers]]\nprefix = \"/films/new\"\nnode = \"p2\"\npayload = \"8000 B\"\n\
                [[producers]]\nprefix = \"/filmsongs\"\nnode = \"p2\"\npayload = \"100 B\"\n\
                [[producers]]\nprefix = \"/\"\nnode = \"p1\"\npayload = \"500 B\"\n";
    let flows = |prefix: &str| {
        windowed("").replace("/films/new", prefix).replace("viewer", &prefix[1..].replace('/', "-"))
    };
    let text = format!("{NET}{FILMS}{more}{}{}{}", windowed(""), flows("/films/old"), flows("/music"));
    let plan = plan(&text);
    let payloads: Vec<u64> = (0..3).map(|flow| consumer(&plan, flow).payload.as_u64()).collect();
    assert_eq!(payloads, [8000, 1024, 500]);
    assert_eq!(ndn(&plan).config.data, Bytes::new(8076));
    same(&plan);
}

#[test]
fn hosts_of_a_dumbbell_consume_and_produce() {
    let text = "[topology]\nkind = \"dumbbell\"\nbottleneck = { rate = \"10 Mbit/s\", delay = \"10 ms\" }\n\
                [[producers]]\nprefix = \"/films\"\nnode = \"right3\"\n\
                [[flows]]\nname = \"viewer\"\ncount = 2\nnetwork = \"ndn\"\nscheme = \"cubic\"\nprefix = \"/films\"\n";
    let plan = plan(text);
    assert!(plan.blueprint.nodes.iter().any(|name| name == "left3"));
    let from: Vec<String> =
        plan.blueprint.flows.iter().map(|flow| names(&plan, &[flow.from]).concat()).collect();
    assert_eq!(from, ["left1", "left2"]);
    same(&plan);
}

#[test]
fn forwarders_tcp_and_icn_routers_coexist() {
    let tcp = "[[flows]]\nname = \"tcp\"\nscheme = \"reno\"\nfrom = \"p1\"\nto = \"p2\"\n";
    let group = "[[flows]]\nname = \"group\"\nscheme = \"srmcc\"\nnetwork = \"icn\"\nfrom = \"p1\"\nto = [\"p2\"]\n[icn]\nrouters = [\"r2\"]\n";
    let beside = plan(&format!("{NET}{FILMS}{}{tcp}{group}", windowed("")));
    // r2 and the resolver route groups by name
    assert_eq!(names(&beside, &ndn(&beside).nodes), ["c", "r1", "r3", "p1", "p2"]);
    same(&beside);
    let none = "[[flows]]\nname = \"nobody\"\nnetwork = \"ndn\"\ncount = 0\nscheme = \"aimd\"\nprefix = \"/films/old\"\n";
    same(&plan(&format!("{NET}{FILMS}{tcp}{none}")));
    same(&plan(&format!("{NET}{FILMS}{none}")));
}

#[test]
fn consumers_come_in_copies_and_with_churn() {
    let text = windowed("count = 3\nstart_spread = \"1 s\"\nchurn = { on = \"2 s\", off = \"1 s\" }")
        .replace("from = \"c\"", "from = [\"c\", \"r1\"]");
    let plan = plan(&format!("{NET}{FILMS}{text}"));
    let from: Vec<String> =
        plan.blueprint.flows.iter().map(|flow| names(&plan, &[flow.from]).concat()).collect();
    assert_eq!(from, ["c", "r1", "c"]);
    same(&plan);
}

#[test]
fn series_and_results_of_consumers_and_forwarders_are_known() {
    let record = "[record]\nevery = \"100 ms\"\nseries = [\"window\", \"generated\", \"delay\", \"goodput\", \"pit\", \"rate\"]\n";
    let expect = "[expect]\n\"flow.viewer.delay_std\" = \">= 0\"\n\"node.r1.hit_ratio\" = \">= 0\"\n\"node.c.interests_in\" = \"> 0\"\n";
    let plan = plan(&format!("{NET}{FILMS}{}{record}{expect}", windowed("")));
    assert_eq!(plan.blueprint.record.series.len(), 6);
    let text = |record: &str, expect: &str| format!("{NET}{FILMS}{}{record}{expect}", windowed(""));
    assert_eq!(
        wrong(&text("[record]\nseries = [\"allowed_rat\"]\n", "")),
        ["nothing here offers the series `allowed_rat`"]
    );
    let nodes = format!(
        "{NET}[ndn]\nnodes = [\"c\", \"r1\", \"r2\", \"p1\"]\n{}{}",
        FILMS.replace(", \"p2\"", ""),
        windowed("")
    );
    let unknown = format!("{nodes}[expect]\n\"node.r3.hits\" = \">= 0\"\n");
    assert_eq!(wrong(&unknown), ["no node that forwards by name is called `r3`"]);
    let reset = format!("{nodes}[[events]]\nat = \"1 s\"\nnode = \"r3\"\naction = \"reset\"\n");
    assert_eq!(wrong(&reset), ["`r3` does not route by name"]);
}

#[test]
fn every_error_is_reported_once() {
    let ndn = |table: &str| format!("{NET}[ndn]\n{table}\n{FILMS}{}", windowed(""));
    for (table, messages) in [
        (
            "nodes = [\"x*\"]",
            vec![
                "no node matches `x*`",
                "`p1` does not forward named data",
                "`p2` does not forward named data",
            ],
        ),
        ("nodes = 3", vec!["expected a list, each a text, found the number 3"]),
        ("dead_nonces = 2000000", vec!["`2000000` is too large"]),
        ("lifetime = \"0 s\"", vec!["`0 s` is out of range"]),
        ("link = \"none\"\nlink_params = { }", vec![]),
        ("strategy = 5", vec!["expected the name of a strategy, found the number 5"]),
        ("stores = [{ node = \"y*\", size = 4 }]", vec!["no node matches `y*`"]),
        ("routes = [{ at = \"c\", via = \"r1\" }]", vec!["a route of a name needs `prefix`"]),
    ] {
        match load(&ndn(table), "test.toml") {
            Ok(_) => assert!(messages.is_empty(), "{table}"),
            Err(diagnostics) => {
                let observed: Vec<&str> =
                    diagnostics.iter().map(|problem| problem.message.as_str()).collect();
                assert_eq!(observed, messages, "{table}");
            }
        }
    }
    let producers = |text: &str| format!("{NET}{text}{}", windowed(""));
    for (text, messages) in [
        ("[[producers]]\nprefix = \"/films\"\n", vec!["a producer needs `node`"]),
        ("[[producers]]\nnode = \"p1\"\n", vec!["a producer needs `prefix`"]),
        ("[[producers]]\nprefix = \"/films\"\nnode = []\n", vec!["a producer needs a node"]),
        ("[[producers]]\nprefix = \"/films\"\nnode = \"q\"\n", vec!["no node is called `q`"]),
        (
            "[[producers]]\nprefix = \"/films\"\nnode = [\"p1\", \"p1\"]\n",
            vec!["`p1` serves `/films` already"],
        ),
    ] {
        assert_eq!(wrong(&producers(text)), messages, "{text}");
    }
    let zipf = windowed("count = 60\nconsumer = { pattern = \"zipf\", contents = 1000000 }");
    assert_eq!(
        wrong(&producers(&format!("{FILMS}{zipf}")).replacen(&windowed(""), "", 1)),
        ["the catalogues of all consumers have 51000000 contents"]
    );
    let long = format!("/{}", ["a"; 33].join("/"));
    assert_eq!(
        wrong(
            &windowed("")
                .replace("/films/new", &long)
                .replace("[[flows]]", &format!("{NET}{FILMS}[[flows]]"))
        )
        .len(),
        1
    );
}

#[test]
fn a_dumbbell_of_consumers_runs_and_leaves_its_tables() {
    let text = format!(
        "duration = \"20 s\"\nwarmup = \"5 s\"\n{NET}{FILMS}{}[record]\nevery = \"1 s\"\nseries = [\"window\", \"goodput\", \"pit\"]\n",
        windowed("")
    );
    let plan = plan(&text);
    let outcome = lab::run(&plan, &sim::Control::default());
    let value = |key: &str| outcome.report.value(key).unwrap_or_else(|| panic!("{key} was measured"));
    // 2 Mbit/s of Data on the wire; retransmitted Interests may use the other path, within 15 s
    let other = value("flow.viewer.retransmits") * 1100.0 * 8.0 / 15.0;
    assert!(
        (1.9e6..=2.0e6 + other).contains(&value("flow.viewer.throughput")),
        "{} {other}",
        value("flow.viewer.throughput")
    );
    let (goodput, throughput) = (value("flow.viewer.goodput"), value("flow.viewer.throughput"));
    assert!((goodput / throughput - 1024.0 / 1100.0).abs() < 1e-3);
    assert_eq!(value("flow.viewer.throughput_worst"), throughput);
    assert_eq!(outcome.report.value("flows.fairness"), None, "it has the network to itself");
    // an Interest for each Data, of another size
    let interests = value("flow.viewer.interests");
    assert!(interests > 0.0 && interests < 0.1 * throughput, "{interests}");
    assert_eq!(outcome.report.value("flow.viewer.rate"), None);
    // the round-trip time of 40 ms, and at least the transmission time of the Data on three links
    assert!((0.044..0.2).contains(&value("flow.viewer.delay")), "{}", value("flow.viewer.delay"));
    assert!(value("flow.viewer.delay_min") >= 0.0449);
    assert!(value("flow.viewer.delay_max") >= value("flow.viewer.delay"));
    assert!(value("flow.viewer.delay_std") < 0.1);
    assert_eq!(value("node.c.data_in"), value("flow.viewer.arrived_packets"));
    // retransmitted Interests may try the other path
    assert!(value("node.p2.interests_in") <= value("flow.viewer.retransmits"));
    assert!(value("node.r1.pending_peak") > 5.0);
    let table = outcome.report.table("nodes").expect("a table of nodes");
    assert_eq!(table.rows(), 6);
    assert_eq!(outcome.report.value("node.r1.hit_ratio"), None);
    let subjects: Vec<String> = match outcome.report.table("series").and_then(|table| table.column("subject"))
    {
        Some(lab::Cells::Text(words)) => words.iter().map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    for subject in ["flow.viewer", "node.r1"] {
        assert!(subjects.iter().any(|known| known == subject), "{subject}");
    }
}
