//! Networks of named groups: defaults of scenarios, and their explicit form in plans.

mod common;

use std::collections::BTreeSet;

use lab::{Plan, load};
use sim::{Cast, Change, IcnSpec, Limit};
use units::{Bytes, Duration, Rate};

use common::{names, plan, wrong};

fn icn(plan: &Plan) -> &IcnSpec {
    plan.blueprint.icn.as_ref().expect("a name-based network")
}

/// A source, two routers and three members; one of the members has two links, and there is a flow without a group.
const TREE: &str = r#"
[topology]
kind = "custom"
links = [
  { name = "l1", ends = ["s", "r1"], rate = "10 Mbit/s", delay = "1 ms" },
  { name = "l2", ends = ["r1", "r2"], rate = "2 Mbit/s", delay = "10 ms", buffer = "1 bdp" },
  { name = "l3", ends = ["r2", "d1"], rate = "10 Mbit/s", delay = "1 ms" },
  { name = "l4", ends = ["r2", "d2"], rate = "10 Mbit/s", delay = "1 ms" },
  { name = "l5", ends = ["d2", "d3"], rate = "10 Mbit/s", delay = "1 ms" },
]
[[flows]]
name = "video"
scheme = "srmcc"
network = "icn"
from = "s"
to = ["d1", "d2"]
[[flows]]
name = "tcp"
scheme = "reno"
from = "d1"
to = "d3"
"#;

fn with(more: &str) -> String {
    format!("{TREE}{more}")
}

#[test]
fn inner_nodes_route_by_name_and_a_resolver_is_added_when_nothing_is_said() {
    let plan = plan(TREE);
    let blueprint = &plan.blueprint;
    let icn = icn(&plan);
    // d2 has two links, and is a member
    assert_eq!(names(&plan, &icn.routers), ["r1", "r2"]);
    assert_eq!(icn.config, stack::icn::Config::default());
    assert_eq!(names(&plan, &[icn.resolver]), ["nrs"]);
    assert_eq!(blueprint.nodes.last().map(|name| name.as_str()), Some("nrs"));
    let link = blueprint.links.last().expect("there are links");
    assert_eq!(link.name, "nrs-link");
    assert_eq!(link.ends, (icn.routers[0], icn.resolver));
    assert_eq!(link.forward, link.backward);
    assert_eq!(link.forward.rate, Rate::from_mbps(1000));
    assert_eq!(link.forward.delay, Duration::from_millis(1));
    assert_eq!(link.forward.queue.limit, Limit::Packets(1000));
    assert_eq!(blueprint.flows[0].cast, Cast::Named);
    assert_eq!(blueprint.flows[1].cast, Cast::Unicast);
}

#[test]
fn the_resolver_is_placed_beside_its_router_without_overlap() {
    for text in [TREE.to_owned(), star("", "")] {
        let plan = plan(&text);
        let spec = icn(&plan);
        let location = plan.positions[spec.resolver.index()];
        let away = |other: (f64, f64)| {
            let (dx, dy) = (location.0 - other.0, location.1 - other.1);
            (dx * dx + dy * dy).sqrt()
        };
        assert!((0.0..=1.0).contains(&location.0) && (0.0..=1.0).contains(&location.1), "{location:?}");
        assert!(away(plan.positions[spec.routers[0].index()]) < 0.2, "{location:?}");
        let others = plan.positions.iter().enumerate().filter(|(node, _)| *node != spec.resolver.index());
        for (node, other) in others {
            assert!(away(*other) > 0.03, "{location:?} is on {}", plan.blueprint.nodes[node]);
        }
    }
}

fn star(flow: &str, more: &str) -> String {
    format!(
        "[topology]\nkind = \"star\"\nleaves = 6\nlink = {{ rate = \"10 Mbit/s\", delay = \"1 ms\" }}\n\
         [[flows]]\nname = \"video\"\nscheme = \"srmcc\"\nnetwork = \"icn\"\nfrom = \"leaf1\"\nto = \"leaf2\"\n{flow}\n{more}"
    )
}

#[test]
fn one_receiver_without_brackets_is_a_group_too() {
    let plan = plan(&star("", ""));
    assert_eq!(plan.blueprint.flows[0].cast, Cast::Named);
    assert_eq!(plan.blueprint.flows[0].to.len(), 1);
    assert_eq!(names(&plan, &icn(&plan).routers), ["hub"]);
    assert_eq!(plan, self::plan(&plan.to_toml()));
}

#[test]
fn written_values_override_defaults() {
    let plan = plan(
        &with(
            r#"
[icn]
resolver = "d3"
routers = ["r2", "r*"]
refresh = "2 s"
lifetime = 4
initial_rto = "100 ms"
signal = "80 B"
probe = "500 B"
probe_packets = 0
[[events]]
at = "30 s"
node = "r1"
action = "reset"
[[events]]
at = "31 s"
node = "d3"
action = "reset"
"#,
        )
        .replace("to = \"d3\"", "to = \"s\""),
    );
    let blueprint = &plan.blueprint;
    let icn = icn(&plan);
    assert_eq!(names(&plan, &[icn.resolver]), ["d3"]);
    assert_eq!(names(&plan, &icn.routers), ["r1", "r2"], "each once, in the order of nodes");
    let config = stack::icn::Config {
        signal: Bytes::new(80),
        refresh: Duration::from_secs(2),
        lifetime: 4,
        retry: Duration::from_millis(100),
        probe: Bytes::new(500),
        probe_packets: 0,
    };
    assert_eq!(icn.config, config);
    assert!(!blueprint.nodes.iter().any(|name| name == "nrs"));
    let resets: Vec<&Change> = blueprint.events.iter().map(|(_, change)| change).collect();
    assert_eq!(resets, [&Change::Reset(icn.routers[0]), &Change::Reset(icn.resolver)]);
}

#[test]
fn a_printed_plan_says_routers_and_resolver_and_loads_to_the_same_plan() {
    let events = "[[events]]\nat = \"3 s\"\nnode = \"nrs\"\naction = \"reset\"\n";
    let empty = TREE
        .replace("name = \"video\"", "name = \"video\"\ncount = 0")
        .replace("name = \"tcp\"", "name = \"tcp\"\ncount = 0");
    for text in
        [TREE.to_owned(), with(events), with("[icn]\nrefresh = \"1500001 us\"\n"), star("", ""), empty]
    {
        let first = plan(&text);
        let printed = first.to_toml();
        assert_eq!(first, plan(&printed), "{printed}");
        assert!(printed.contains("resolver = \"nrs\""), "{printed}");
    }
    let printed = plan(TREE).to_toml();
    assert!(printed.contains("routers = [\"r1\", \"r2\"]"), "{printed}");
    assert!(printed.contains("name = \"nrs-link\""), "{printed}");
    assert!(printed.contains("network = \"icn\"") && printed.contains("network = \"ip\""), "{printed}");
}

#[test]
fn the_first_router_that_is_listed_gets_the_resolver() {
    let plan = plan(&with("[icn]\nrouters = [\"r2\", \"r1\"]\n"));
    assert_eq!(names(&plan, &icn(&plan).routers), ["r1", "r2"]);
    let link = plan.blueprint.links.last().expect("there are links");
    assert_eq!(names(&plan, &[link.ends.0, link.ends.1]), ["r2", "nrs"]);
}

#[test]
fn generated_names_in_use_get_a_number() {
    let text = TREE.replace("\"d3\"", "\"nrs\"").replace("\"l5\"", "\"nrs-link\"");
    let plan = plan(&text);
    assert_eq!(names(&plan, &[icn(&plan).resolver]), ["nrs2"]);
    assert_eq!(plan.blueprint.links.last().map(|link| link.name.as_str()), Some("nrs-link2"));
    assert_eq!(plan, self::plan(&plan.to_toml()));
}

#[test]
fn patterns_leave_out_the_resolver_and_the_ends_of_groups() {
    let plan =
        plan(&with("[icn]\nrouters = [\"*\"]\nresolver = \"d3\"\n").replace("to = \"d3\"", "to = \"s\""));
    assert_eq!(names(&plan, &icn(&plan).routers), ["r1", "r2"]);
}

#[test]
fn a_network_by_name_does_not_depend_on_whether_a_flow_uses_it() {
    let icn = "[icn]\nrouters = [\"r1\"]\n";
    // a scheme without a part in routers works in both
    let with = |more: &str| with(more).replace("\"srmcc\"", "\"tfmcc\"");
    let by_address = plan(&with(icn).replace("network = \"icn\"", "network = \"ip\""));
    let by_name = plan(&with(icn));
    assert_eq!(by_address.blueprint.icn, by_name.blueprint.icn);
    assert_eq!(by_address.blueprint.links, by_name.blueprint.links);
    assert_eq!(by_address.blueprint.flows[0].cast, Cast::Multicast);
    let swept = with(
        "[icn]\n[sweep]\n\"flows.video.network\" = [\"ip\", \"icn\"]\n\"icn.refresh\" = [\"1 s\", \"9 s\"]\n",
    );
    let cells = load(&swept, "test.toml")
        .unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
        .cells()
        .expect("cells");
    let casts: Vec<Cast> =
        cells.iter().map(|(_, cell)| cell.plan(None).expect("planned").blueprint.flows[0].cast).collect();
    assert_eq!(casts, [Cast::Multicast, Cast::Multicast, Cast::Named, Cast::Named]);
}

#[test]
fn a_network_without_names_has_no_resolver() {
    let plan = plan(&TREE.replace("network = \"icn\"", "").replace("\"srmcc\"", "\"tfmcc\""));
    assert_eq!(plan.blueprint.icn, None);
    assert_eq!(plan.blueprint.links.len(), 5);
    assert!(!plan.to_toml().contains("[icn]"));
}

#[test]
fn a_buffer_in_products_holds_the_round_trip_along_the_tree() {
    // the tree follows the members' paths: d2 to s is 12 ms, so 2 Mbit/s · 24 ms / 8000 bit = 6 packets
    let plan = plan(TREE);
    let limits: BTreeSet<String> = [&plan.blueprint.links[1].forward, &plan.blueprint.links[1].backward]
        .iter()
        .map(|port| format!("{:?}", port.queue.limit))
        .collect();
    assert_eq!(limits, BTreeSet::from(["Packets(6)".to_owned()]));
}

#[test]
fn results_of_nodes_can_be_expected() {
    let expect = |key: &str| with(&format!("[expect]\n\"{key}\" = \">= 0\"\n"));
    assert_eq!(plan(&expect("node.r1.signals")).expect.len(), 1);
    assert_eq!(plan(&expect("node.nrs.groups")).expect.len(), 1);
    assert_eq!(plan(&expect("flow.video.feedback_received")).expect.len(), 1);
    assert_eq!(wrong(&expect("node.d3.signals")), ["no node of the name-based network is called `d3`"]);
    assert_eq!(wrong(&expect("node.r1.role")), ["a node has no result `role`"]);
}

#[test]
fn every_error_is_reported_once() {
    for (icn, messages) in [
        ("resolver = \"r1\"\nrouters = [\"r1\", \"r2\"]", vec!["`r1` runs the name resolution system"]),
        (
            "resolver = \"d1\"",
            vec![
                "`d1` runs the name resolution system, and cannot be an endpoint of a flow that is sent by name",
            ],
        ),
        (
            "routers = [\"r2\", \"d2\"]",
            vec!["`d2` routes by name, and cannot be an endpoint of a flow that is sent by name"],
        ),
        ("routers = []", vec!["no node routes by name"]),
        ("routers = [\"s*\"]", vec!["no node routes by name"]),
        ("routers = 3", vec!["expected a list, each a text, found the number 3"]),
        ("resolver = 3", vec!["expected a text, found the number 3"]),
        ("lifetime = 0", vec!["`0` is out of range"]),
        ("probe_packets = 256", vec!["`256` is out of range"]),
        ("refresh = \"100 ms\"", vec!["`initial_rto` of 500 ms is above `refresh` of 100 ms"]),
    ] {
        let reset = "[[events]]\nat = \"1 s\"\nnode = \"r2\"\naction = \"reset\"\n[expect]\n\"node.r2.signals\" = \"> 0\"\n";
        assert_eq!(wrong(&with(&format!("[icn]\n{icn}\n{reset}"))), messages, "{icn}");
    }
}

#[test]
fn events_of_nodes_and_of_flows_are_distinguished() {
    let event = |keys: &str| with(&format!("[[events]]\nat = \"1 s\"\n{keys}\n"));
    for (keys, message) in [
        ("node = \"d3\"\naction = \"reset\"", "`d3` does not route by name"),
        ("node = \"r9\"\naction = \"reset\"", "no node is called `r9`"),
        ("node = \"r1\"", "an event of a node needs `action`"),
        ("node = \"d1\"\naction = \"leave\"", "a node knows no action `leave`"),
        ("node = \"r1\"\naction = \"reset\"\nmode = \"x\"", "an event of a node takes no `mode`"),
        ("node = \"r1\"\nflow = \"video\"\naction = \"reset\"", "a flow cannot be reset"),
        ("action = \"reset\"", "this event has no target"),
    ] {
        assert_eq!(wrong(&event(keys)), [message], "{keys}");
    }
    let address = TREE.replace("network = \"icn\"", "").replace("\"srmcc\"", "\"tfmcc\"");
    let reset = "[[events]]\nat = \"1 s\"\nnode = \"r1\"\naction = \"reset\"\n";
    assert_eq!(wrong(&format!("{address}{reset}")), ["`r1` does not route by name"]);
}

#[test]
fn a_group_by_name_runs_and_leaves_a_table_of_its_nodes() {
    let text = with("[record]\nevery = \"1 s\"\nevents = true\n").replace("\"srmcc\"", "\"tfmcc\"").replacen(
        "[topology]",
        "duration = \"20 s\"\n[topology]",
        1,
    );
    let plan = plan(&text);
    let outcome = lab::run(&plan, &sim::Control::default());
    let value = |key: &str| outcome.report.value(key).unwrap_or_else(|| panic!("{key} was measured"));
    assert!(value("flow.video.throughput_worst") > 10_000.0);
    // the source and two members report their state at 0, 5, 10 and 15 s at least
    assert!(value("flow.video.signals") >= 12.0);
    assert!(value("receiver.video@d1.signals") >= 4.0);
    assert_eq!(value("flow.tcp.signals"), 0.0);
    assert_eq!(value("node.nrs.groups"), 1.0);
    assert_eq!(value("node.r2.groups"), 1.0);
    assert!(value("node.r2.forwarded_packets") >= value("receiver.video@d2.packets"));
    let received = value("flow.video.feedback_received");
    assert!(received > 0.0 && received <= value("flow.video.feedback_packets"));
    let nodes = outcome.report.table("nodes").expect("it is always there");
    assert_eq!(nodes.rows(), 3);
    // the scheme has no part in routers, so that their only series are of signals
    assert_eq!(nodes.numbers("sent_packets"), nodes.numbers("signals"));
    let bytes: Vec<Option<f64>> = nodes.numbers("signals").iter().map(|n| n.map(|n| n * 64.0)).collect();
    assert_eq!(nodes.numbers("sent_bytes"), bytes, "words of 64 B; nobody probes");
}

#[test]
fn routers_offer_series_where_a_scheme_has_a_part_in_them() {
    let record = "[record]\nevery = \"1 s\"\nseries = [\"occupancy\", \"fair_rate\"]\n";
    let text = with(record).replacen("[topology]", "duration = \"10 s\"\n[topology]", 1);
    let outcome = lab::run(&plan(&text), &sim::Control::default());
    let series = outcome.report.table("series").expect("it is always there");
    let of = |name: &str| -> BTreeSet<String> {
        let words = |column: &str| match series.column(column) {
            Some(lab::Cells::Text(words)) => words.iter().map(str::to_owned).collect::<Vec<_>>(),
            other => panic!("{column} holds text: {other:?}"),
        };
        let rows = words("series").into_iter().zip(words("subject"));
        rows.filter(|(series, _)| series == name).map(|(_, subject)| subject).collect()
    };
    assert_eq!(of("occupancy"), BTreeSet::from(["node.r1".to_owned(), "node.r2".to_owned()]));
    // a series of one name can be of the source and of routers
    assert!(of("fair_rate").is_superset(&BTreeSet::from(["flow.video".to_owned(), "node.r2".to_owned()])));
    let without_parts = text.replace("\"srmcc\"", "\"tfmcc\"").replace(", \"fair_rate\"", "");
    assert_eq!(wrong(&without_parts), ["nothing here offers the series `occupancy`"]);
}

#[test]
fn srmcc_needs_routers_that_take_part_at_both_ends_of_a_bottleneck() {
    let path = format!("{}/../../scenarios/name-multicast.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("it is there");
    let text = &text[..text.find("[[events]]").expect("a router forgets")];
    let lost = |routers: &str, clamped: bool| {
        let keys = [
            ("icn.routers", routers.split(' ').collect::<Vec<_>>().into()),
            ("duration", "60 s".into()),
            ("warmup", "20 s".into()),
            ("flows.video.params.clamp_empty", clamped.into()),
        ];
        let keys: [(String, toml::Value); 4] = keys.map(|(key, value)| (key.to_owned(), value));
        let scenario = load(text, "test.toml").expect("it is right").with_all(&keys);
        let plan =
            scenario.unwrap_or_else(|diagnostics| panic!("{diagnostics}")).plan(None).expect("planned");
        let outcome = lab::run(&plan, &sim::Control::default());
        outcome.report.value("flow.video.loss_ratio").expect("it was measured")
    };
    assert!(lost("r*", false) < 0.01);
    // the queue is not measured: it is doubled as long as all others are empty, for any fair share
    let unseen = "r1 r2 r3";
    assert!(lost(unseen, false) > 0.8 && lost(unseen, true) < 0.01);
    // the fair share is unknown: below the assumed one a full queue doubles the rate as well
    let unknown = "r0 r2 r3";
    assert!(lost(unknown, false) > 0.7 && lost(unknown, true) > 0.7);
}
