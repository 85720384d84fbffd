//! Scenarios become plans, and printed plans become the same plans.

mod common;

use lab::{Plan, load};
use sim::{FlowKind, Limit};
use stack::queue::{DisciplineSpec, codel};
use units::{Bytes, Duration, Rate, Time};

use common::plan;

const CUSTOM: &str = r#"
title = "one source over two links"
duration = "10 s"
[topology]
kind = "custom"
links = [
  { name = "access", ends = ["s", "r"], rate = "100 Mbit/s", delay = "1 ms", buffer = "200 packets" },
  { name = "l1", ends = ["r", "d"], rate = "1 Mbit/s", delay = "5 ms", buffer = "2 bdp", backward = { rate = "10 Mbit/s" } },
]
[[flows]]
name = "cbr"
source = { kind = "constant", rate = "2 Mbit/s" }
from = "s"
to = "d"
[[events]]
at = "5 s"
link = "l1"
rate = "500 kbit/s"
up = true
[record]
series = ["rate", "backlog"]
[expect]
"link.l1.utilisation" = ">= 0.9"
"#;

#[test]
fn a_custom_network_becomes_a_plan() {
    let plan = plan(CUSTOM);
    let blueprint = &plan.blueprint;
    assert_eq!(blueprint.nodes, ["s", "r", "d"]);
    assert_eq!(blueprint.links[1].backward.rate, Rate::from_mbps(10));
    // 2 · 1 Mbit/s · 12 ms / 8000 bit = 3 packets; backward 10 times as many
    assert_eq!(blueprint.links[1].forward.queue.limit, Limit::Packets(3));
    assert_eq!(blueprint.links[1].backward.queue.limit, Limit::Packets(30));
    assert_eq!(blueprint.events.len(), 2);
    assert_eq!(blueprint.record.every, Duration::from_millis(100));
    assert_eq!(plan.groups[0].name, "cbr");
    assert_eq!(plan.positions[0].0, 0.05);
    assert!(
        matches!(&*blueprint.flows[0].kind, FlowKind::Datagram(config) if config.packet == Bytes::new(1000))
    );
    assert_eq!(blueprint.flows[0].stop, Time::NEVER);
}

#[test]
fn a_printed_plan_loads_to_the_same_plan() {
    let first = plan(CUSTOM);
    let printed = first.to_toml();
    let second = plan(&printed);
    assert_eq!(first, second, "{printed}");
}

#[test]
fn a_managed_queue_is_a_word_or_a_table() {
    let written = CUSTOM.replace(
        r#"buffer = "200 packets" },"#,
        r#"queue = "codel", backward = { queue = "fifo", mark_above = 30 } },
  { name = "same", like = "access", ends = ["d", "e"] },
  { name = "slow", ends = ["e", "f"], rate = "1 Mbit/s", delay = "9 ms", mark_above = 9, backward = { mark_above = false,
    queue = { kind = "codel", target = "20 ms", mark = false } } },"#,
    );
    let plan = plan(&written);
    let codel = |link: usize| {
        let link = &plan.blueprint.links[link];
        (link.forward.queue.discipline.clone(), link.backward.queue.discipline.clone())
    };
    let usual = codel::Params::default();
    assert_eq!((usual.target, usual.interval), (Duration::from_millis(5), Duration::from_millis(100)));
    assert_eq!(codel(0), (Some(DisciplineSpec::Codel(usual.clone())), None));
    assert_eq!(codel(1), codel(0), "a link is like another in this, too");
    let slow = codel::Params { target: Duration::from_millis(20), mark: false, ..usual };
    assert_eq!(codel(2), (None, Some(DisciplineSpec::Codel(slow))));
    let printed = plan.to_toml();
    assert_eq!(self::plan(&printed), plan, "{printed}");
}

#[test]
fn clocks_are_planned_node_by_node_and_printed() {
    let text = format!(
        "{CUSTOM}\n[[clocks]]\nnode = \"d\"\noffset = \"-1 h\"\n[[clocks]]\nnode = \"*s*\"\noffset = \"1.5 ms\"\ndrift = \"-0.5 ppm\"\n"
    );
    let plan = plan(&text);
    let clocks: Vec<_> =
        plan.blueprint.clocks.iter().map(|it| (it.node.0, it.offset.as_nanos(), it.drift.as_ppb())).collect();
    assert_eq!(clocks, [(0, 1_500_000, -500), (2, -3_600_000_000_000, 0)]);
    let printed = plan.to_toml();
    assert!(printed.contains("offset = \"-3600 s\""), "{printed}");
    assert_eq!(self::plan(&printed), plan);
}

const SHORT: &str = r#"
duration = "200 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms" }
[[flows]]
name = "short"
scheme = "reno"
arrivals = { rate = 20.0, size = "50 kB", size_shape = 2.5 }
start = "100 s"
[[flows]]
name = "long"
count = 3
scheme = "reno"
start_spread = "2 s"
"#;

#[test]
fn short_flows_have_their_arrival_rate_and_mean_size() {
    let plan = plan(SHORT);
    let short = &plan.groups[0];
    assert_eq!(short.name, "short");
    // 20 a second for 100 s: 2000, give or take four standard deviations
    assert!((1820..2180).contains(&short.flows.len()), "{}", short.flows.len());
    let mut last = Time::ZERO + Duration::from_secs(100);
    let mut bytes = 0;
    for id in &short.flows {
        let flow = &plan.blueprint.flows[id.index()];
        assert!(flow.start >= last && flow.start < Time::ZERO + Duration::from_secs(200));
        last = flow.start;
        match &*flow.kind {
            FlowKind::Tcp(config) => match config.demand {
                stack::tcp::Demand::Finite(size) => bytes += size.as_u64(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }
    let mean = bytes as f64 / short.flows.len() as f64;
    assert!((45e3..55e3).contains(&mean), "{mean}");
}

#[test]
fn a_limit_on_arrivals_does_not_change_the_earlier_ones() {
    let flows = |text: &str| -> Vec<_> {
        let plan = plan(text);
        let of = |id: &contract::FlowId| plan.blueprint.flows[id.index()].clone();
        plan.groups[0].flows.iter().map(of).collect()
    };
    let counted =
        |count: &str| SHORT.replace("size_shape = 2.5", &format!("size_shape = 2.5, count = {count}"));
    let all = flows(SHORT);
    assert_eq!(flows(&counted("25")), all[..25]);
    assert_eq!(flows(&counted("1"))[0].name, "short.1");
    // the end of the run comes first
    assert_eq!(flows(&counted("1_000_000")), all);
    // a count makes a rate possible that alone would bring too many
    let fast = |text: &str| text.replace("rate = 20.0", "rate = 1e5");
    assert_eq!(flows(&fast(&counted("300"))).len(), 300);
    assert!(load(&fast(SHORT), "test.toml").is_err());
    for wrong in ["0", "-1", "1.5", "\"many\"", "1_000_001"] {
        let diagnostics = load(&counted(wrong), "test.toml").expect_err(wrong).to_string();
        assert!(diagnostics.contains("count"), "{wrong}: {diagnostics}");
    }
}

#[test]
fn a_large_plan_is_printed_with_its_generators_and_loads_to_the_same_plan() {
    let few = plan(SHORT);
    let large =
        SHORT.replace("count = 3", "count = 9_000").replace("rate = 20.0", "rate = 20.0, count = 1100");
    let first = plan(&large);
    assert_eq!(first.blueprint.flows.len(), 10_100);
    let printed = first.to_toml();
    assert!(printed.len() < few.to_toml().len() / 100, "{printed}");
    assert!(printed.contains("initial_window"), "defaults are filled in: {printed}");
    let second = plan(&printed);
    assert!(second == first, "another plan: {printed}");
    assert_eq!(second.to_toml(), printed);
}

#[test]
fn an_additional_flow_does_not_change_the_draws_of_others() {
    let more = format!("{SHORT}\n[[flows]]\nname = \"more\"\nscheme = \"reno\"\nstart_spread = \"9 s\"\n");
    let (few, many) = (plan(SHORT), plan(&more));
    let of = |plan: &Plan| -> Vec<_> {
        let flows = plan.blueprint.flows.iter().filter(|flow| !flow.name.starts_with("more"));
        flows.map(|flow| (flow.name.clone(), flow.start, flow.kind.clone())).collect()
    };
    assert_eq!(of(&few), of(&many));
}

#[test]
fn another_seed_gives_other_start_times() {
    let scenario = load(SHORT, "test.toml").expect("it is right");
    let starts = |seed| {
        let plan = scenario.plan(Some(seed)).expect("loaded means planned");
        plan.blueprint.flows.iter().map(|flow| flow.start).collect::<Vec<_>>()
    };
    assert_eq!(starts(1), starts(1));
    assert_ne!(starts(1), starts(2));
}

#[test]
fn keys_are_set_by_name_and_by_number() {
    let scenario = load(CUSTOM, "test.toml").expect("it is right");
    let rate = |scenario: &lab::Scenario| {
        scenario.plan(None).expect("loaded means planned").blueprint.links[1].forward.rate
    };
    let changed = scenario.with_text("topology.links.l1.rate", "7 Mbit/s").expect("a rate");
    assert_eq!(rate(&changed), Rate::from_mbps(7));
    assert_eq!(rate(&scenario), Rate::from_mbps(1));
    let changed = scenario.with_text("topology.links.1.rate", "\"8 Mbit/s\"").expect("a rate");
    assert_eq!(rate(&changed), Rate::from_mbps(8));
    let changed = scenario.with_text("flows.cbr.start_spread", "1 s").expect("a new key");
    assert!(changed.plan(None).expect("planned").blueprint.flows[0].start > Time::ZERO);
    let changed = scenario.with_text("seed", "12").expect("a seed");
    assert_eq!(changed.seed(), 12);
    for (key, value) in [
        ("topology.links.l9.rate", "1 Mbit/s"),
        ("flows.cbr.sart", "1 s"),
        ("seed.more", "1"),
        ("", "1"),
        ("flows", "1"),
        ("topology.links", "1"),
        ("flows.cbr", "1"),
        ("flows.cbr.start", "soon"),
        ("expect", "1"),
    ] {
        assert!(scenario.with_text(key, value).is_err(), "{key} = {value}");
    }
}

/// MCA takes every gap for a loss, TFMCC waits for three later packets; a scenario may say otherwise.
#[test]
fn reordering_tolerance_defaults_to_that_of_the_scheme() {
    let reorder = |scheme: &str, stream: &str| {
        let flow = format!("scheme = \"{scheme}\"\n{stream}");
        let plan = plan(&CUSTOM.replace("source = { kind = \"constant\", rate = \"2 Mbit/s\" }", &flow));
        let FlowKind::Stream(config) = &*plan.blueprint.flows[0].kind else { panic!("a stream") };
        config.reorder
    };
    assert_eq!((reorder("mca", ""), reorder("tfmcc", "")), (1, 3));
    assert_eq!(
        (reorder("mca", "stream = { reorder = 5 }"), reorder("tfmcc", "stream = { reorder = 1 }")),
        (5, 1)
    );
}

#[test]
fn a_sweep_is_every_combination() {
    let text = format!(
        "{SHORT}\n[sweep]\n\"topology.bottleneck.rate\" = [\"1 Mbit/s\", \"2 Mbit/s\"]\n\"flows.long.count\" = [0, 1, 5]\n"
    );
    let cells = load(&text, "test.toml").unwrap_or_else(|p| panic!("{p}")).cells().expect("cells were tried");
    assert_eq!(cells.len(), 6);
    let shape: Vec<(String, usize)> = cells
        .iter()
        .map(|(keys, cell)| {
            let plan = cell.plan(None).expect("planned");
            assert_eq!(keys.len(), 2);
            (plan.blueprint.links[0].forward.rate.to_string(), plan.groups[1].flows.len())
        })
        .collect();
    let of = |rate: &str, count| (rate.to_owned(), count);
    assert_eq!(
        shape,
        [
            of("1 Mbit/s", 0),
            of("1 Mbit/s", 1),
            of("1 Mbit/s", 5),
            of("2 Mbit/s", 0),
            of("2 Mbit/s", 1),
            of("2 Mbit/s", 5)
        ]
    );
}

#[test]
fn groups_are_written_as_patterns_and_churn_as_tables() {
    let text = r#"
[topology]
kind = "star"
leaves = 5
link = { rate = "10 Mbit/s", delay = "1 ms" }
[[flows]]
name = "video"
scheme = "mca"
from = "leaf1"
to = ["leaf2", { node = "leaf*", start = "5 s" }]
receivers = { churn = { on = "60 s", off = "30 s", shape = 1.5 }, always = ["leaf3"] }
churn = { on = "10 s", off = "1 s", fixed = true }
"#;
    let plan = plan(text);
    let flow = &plan.blueprint.flows[0];
    assert!(flow.cast == sim::Cast::Multicast);
    let names: Vec<&str> = flow.to.iter().map(|to| &*plan.blueprint.nodes[to.node.index()]).collect();
    assert_eq!(names, ["leaf2", "leaf3", "leaf4", "leaf5"]);
    assert_eq!(flow.to[0].start, Time::ZERO);
    assert_eq!(flow.to[2].start, Time::ZERO + Duration::from_secs(5));
    assert!(flow.to[1].churn.is_none());
    assert!(flow.to[3].churn.is_some());
    assert!(flow.churn.is_some());
    let printed = plan.to_toml();
    assert_eq!(load(&printed, "p").unwrap_or_else(|p| panic!("{p}")).plan(None).expect("planned"), plan);
}

#[test]
fn a_seed_above_the_maximum_of_toml_is_refused() {
    let scenario = load(CUSTOM, "test.toml").expect("it is right");
    assert!(scenario.plan(Some(u64::MAX)).is_err());
    assert!(scenario.plan(Some(i64::MAX as u64)).is_ok());
}

#[test]
fn errors_in_trees_from_python_have_the_same_messages() {
    let values = |text: &str| text.parse::<toml::Table>().expect("plain values");
    let diagnostics = lab::load_tree(values("duration = 60\ntopology = { kind = \"dumbell\" }\nflows = []"))
        .expect_err("two mistakes");
    assert_eq!(diagnostics.name(), "<python>");
    let messages: Vec<&str> = diagnostics.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, ["`60` has no unit", "`dumbell` is not a kind of topology"]);
    for broken in ["", "seed = -1", "seed = nan", "a = []"] {
        assert!(lab::load_tree(values(broken)).is_err(), "{broken}");
    }
}

#[test]
fn a_sweep_over_schemes_records_a_series_where_it_is_offered() {
    let one = "duration = \"5 s\"\n[topology]\nkind = \"dumbbell\"\nbottleneck = { rate = \"10 Mbit/s\", delay = \"10 ms\" }\n\
               [[flows]]\nname = \"long\"\nscheme = \"reno\"\n";
    let text = format!(
        "{one}[record]\nseries = [\"min_reported_rate\", \"window\", \"rate\"]\n\
         [sweep]\n\"flows.long.scheme\" = [\"reno\", \"asmp\", \"tfmcc\"]\n"
    );
    let scenario = load(&text, "test.toml").unwrap_or_else(|p| panic!("{p}"));
    let recorded = |cell: &lab::Scenario| cell.plan(None).expect("planned").blueprint.record.series.clone();
    let cells = scenario.cells().expect("cells were tried");
    let series: Vec<Vec<String>> = cells.iter().map(|(_, cell)| recorded(cell)).collect();
    assert_eq!(series, [vec!["window", "rate"], vec!["min_reported_rate", "rate"], vec!["rate"]]);
    // a cell is a scenario like any other
    for (_, cell) in &cells {
        assert_eq!(load(cell.text(), "test.toml").as_ref(), Ok(cell));
    }
    assert_eq!(recorded(&scenario.without_sweep().expect("the first scheme")), ["window", "rate"]);
    // what no cell offers is a mistake still
    for (wrong, hint) in
        [("o_max", "`srmcc` would offer it"), ("min_reported_rat", "did you mean `min_reported_rate`?")]
    {
        let diagnostics =
            load(&text.replace("min_reported_rate", wrong), "test.toml").expect_err("nobody offers it");
        let observed: Vec<_> =
            diagnostics.iter().map(|one| (one.message.as_str(), one.hint.as_deref())).collect();
        let message = format!("nothing here offers the series `{wrong}`");
        assert_eq!(observed, [(message.as_str(), Some(hint))]);
    }
}

#[test]
fn a_star_in_a_key_matches_every_entry() {
    let scenario = load(SHORT, "test.toml").unwrap_or_else(|p| panic!("{p}"));
    let set = |key: &str, value: &str| scenario.with_text(key, value);
    let changed =
        set("flows.*.tcp.sack", "false").unwrap_or_else(|p| panic!("{p}")).plan(None).expect("planned");
    let sack = |flow: &sim::FlowSpec| matches!(&*flow.kind, FlowKind::Tcp(config) if config.sack);
    assert!(changed.groups.len() == 2 && !changed.blueprint.flows.iter().any(sack));
    let diagnostics = set("flows.*.strat", "3 s").expect_err("no such key");
    assert!(diagnostics.to_string().contains("unknown key `strat`"), "{diagnostics}");
    let diagnostics = set("events.*.at", "3 s").expect_err("there are none");
    assert!(diagnostics.to_string().contains("events"), "{diagnostics}");
}

#[test]
fn only_the_flows_that_are_named_have_series() {
    let text = |flows: &str| {
        format!(
            "duration = \"5 s\"\n[topology]\nkind = \"dumbbell\"\npairs = 3\nbottleneck = {{ rate = \"10 Mbit/s\", delay = \"10 ms\" }}\n\
             [[flows]]\nname = \"own\"\nscheme = \"reno\"\ncount = 2\n[[flows]]\nname = \"short\"\nscheme = \"cubic\"\n\
             [record]\nseries = [\"throughput\", \"window\", \"backlog\"]\n{flows}"
        )
    };
    let run = |flows: &str| lab::run(&plan(&text(flows)), &sim::Control::default());
    let (all, some, one) = (run(""), run("flows = [\"own\"]\n"), run("flows = [\"own.2\"]\n"));
    let series = |outcome: &lab::Outcome| -> Vec<String> {
        let rows = &outcome.trace.series;
        let mut names: Vec<String> =
            rows.iter().map(|row| format!("{} {:?}", row.name, row.subject)).collect();
        names.sort();
        names
    };
    let ports = 2 * plan(&text("")).blueprint.links.len();
    assert_eq!(series(&all).len(), ports + 6);
    assert_eq!(series(&some).len(), ports + 4);
    let ends = ["throughput Receiver(1)", "window Flow(FlowId(1))"];
    let of_endpoints: Vec<String> =
        series(&one).into_iter().filter(|name| !name.starts_with("backlog")).collect();
    assert_eq!(of_endpoints, ends);
    // what is recorded changes neither the run nor the values
    assert_eq!((all.trace.hash, all.trace.hash), (some.trace.hash, one.trace.hash));
    for row in &one.trace.series {
        let same = |other: &&sim::SeriesRecord| other.subject == row.subject && other.name == row.name;
        let other = all.trace.series.iter().find(same).expect("all flows have series");
        assert_eq!((&row.times, &row.values), (&other.times, &other.values));
    }
}

#[test]
fn each_key_of_a_direction_can_be_taken_away_where_a_template_or_the_other_direction_has_it() {
    let text = r#"
        duration = "1 s"
        [topology]
        kind = "dumbbell"
        [topology.bottleneck]
        rate = "10 Mbit/s"
        delay = "10 ms"
        mark_above = 30
        loss = 0.01
        policer = { rate = "5 Mbit/s", burst = "15 kB" }
        impair = { duplicate = 0.1 }
        backward = { loss = 0, policer = {}, impair = {}, mark_above = false }
    "#;
    let changed = format!(
        "{text}\n[[topology.links]]\nname = \"bottleneck\"\nmark_above = false\npolicer = {{}}\n{TCP_FLOW}"
    );
    let (written, changed) = (plan(&format!("{text}\n{TCP_FLOW}")), plan(&changed));
    for (plan, marks) in [(&written, Some(30)), (&changed, None)] {
        // what is printed says the same
        for plan in [plan, &self::plan(&plan.to_toml())] {
            let link = plan.blueprint.links.iter().find(|link| link.name == "bottleneck");
            let link = link.expect("a dumbbell has a bottleneck");
            let (forward, backward) = (&link.forward, &link.backward);
            assert_eq!((forward.queue.mark_above, backward.queue.mark_above), (marks, None));
            assert_eq!(forward.policer.is_some(), marks.is_some());
            assert_eq!((forward.loss, backward.loss), (0.01, 0.0));
            assert_eq!((forward.impair.is_some(), backward.impair.is_none()), (true, true));
            assert!(backward.policer.is_none());
        }
    }
}

const TCP_FLOW: &str = r#"
[[flows]]
name = "a"
scheme = "reno"
from = "left1"
to = "right1"
"#;
