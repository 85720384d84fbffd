//! Scenarios become plans, and printed plans become the same plans.

use lab::{Plan, load};
use sim::{FlowKind, Limit};
use units::{Bytes, Duration, Rate, Time};

fn plan(text: &str) -> Plan {
    load(text, "test.toml")
        .unwrap_or_else(|problems| panic!("{problems}"))
        .plan(None)
        .expect("loaded means planned")
}

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
        matches!(&blueprint.flows[0].kind, FlowKind::Datagram(config) if config.packet == Bytes::new(1000))
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
