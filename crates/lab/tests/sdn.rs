//! SDN controllers: defaults of scenarios, and their explicit form in plans.

mod common;

use lab::Plan;
use sim::{Change, SdnSpec};
use units::{Bytes, Duration, Rate};

use common::{names, plan, wrong};

fn sdn(plan: &Plan) -> &SdnSpec {
    plan.blueprint.sdn.as_ref().expect("a controller")
}

fn same(plan: &Plan) {
    let printed = plan.to_toml();
    assert_eq!(*plan, *self::plan(&printed), "{printed}");
}

/// Hosts `a` and `b`, routers `r1` to `r3`, and a host `brain` at `r2`.
const NET: &str = r#"
[topology]
kind = "custom"
links = [
  { name = "l1", ends = ["a", "r1"], rate = "10 Mbit/s", delay = "1 ms" },
  { name = "l2", ends = ["r1", "r2"], rate = "10 Mbit/s", delay = "5 ms", buffer = "1 bdp" },
  { name = "l3", ends = ["r1", "r3"], rate = "10 Mbit/s", delay = "5 ms" },
  { name = "l4", ends = ["r3", "r2"], rate = "10 Mbit/s", delay = "5 ms" },
  { name = "l5", ends = ["r2", "b"], rate = "10 Mbit/s", delay = "1 ms" },
  { name = "l6", ends = ["r2", "brain"], rate = "10 Mbit/s", delay = "1 ms" },
]
"#;

const FLOW: &str = "[[flows]]\nname = \"f\"\nscheme = \"reno\"\nfrom = \"a\"\nto = \"b\"\n";

#[test]
fn a_controller_that_is_not_placed_is_added_with_a_link_to_every_router() {
    let plan = plan(&format!("{NET}\n[sdn]\napp = \"least_loaded\"\n{FLOW}"));
    let spec = sdn(&plan);
    assert_eq!(names(&plan, &spec.nodes), ["r1", "r2", "r3"]);
    assert_eq!(plan.blueprint.nodes[spec.controller.index()], "controller");
    assert!(spec.out_of_band);
    assert_eq!(spec.config, stack::sdn::Config::default());
    let added = &plan.blueprint.links[6..];
    assert_eq!(
        added.iter().map(|link| link.name.as_str()).collect::<Vec<_>>(),
        ["control-r1", "control-r2", "control-r3"]
    );
    assert_eq!((added[0].forward.rate, added[0].forward.delay), (Rate::from_mbps(1000), Duration::ZERO));
    // a bandwidth-delay product is that of the path of packets, which no control link shortens
    assert_eq!(plan.blueprint.links[1].forward.queue.limit, sim::Limit::Packets(12));
    same(&plan);
}

#[test]
fn every_key_is_read_and_printed() {
    let text = format!(
        r#"{NET}
[sdn]
app = "least_loaded"
app_params = {{ threshold = 0.5, min_move_interval = "2 s" }}
nodes = ["r1", "r*"]
link = {{ rate = "2 Mbit/s", delay = "40 ms", loss = 0.1, buffer = "10 packets" }}
period = "100 ms"
phase = "7 ms"
message = "200 B"
initial_rto = "300 ms"
max_age = "3 s"
{FLOW}
[[events]]
at = "2 s"
node = "controller"
action = "stop"

[[events]]
at = "3 s"
node = "controller"
action = "start"
"#
    );
    // the added controller can be named in events and expectations
    let text =
        text + "[expect]\n\"node.controller.statuses\" = \"> 0\"\n\"link.control-r1.drops\" = \"<= 0\"\n";
    let plan = plan(&text);
    let spec = sdn(&plan);
    assert_eq!(spec.app_params.len(), 2);
    assert_eq!(spec.config.message, Bytes::new(200));
    assert_eq!(
        [spec.config.period, spec.config.phase, spec.config.retry, spec.config.stale],
        [100, 7, 300, 3000].map(Duration::from_millis)
    );
    let port = &plan.blueprint.links[6].backward;
    assert_eq!((port.rate, port.delay, port.loss), (Rate::from_mbps(2), Duration::from_millis(40), 0.1));
    let changes: Vec<&Change> = plan.blueprint.events.iter().map(|event| &event.1).collect();
    assert_eq!(changes, [&Change::Controller(false), &Change::Controller(true)]);
    same(&plan);
}

#[test]
fn an_in_band_controller_uses_the_links_of_data() {
    let plan = plan(&format!("{NET}\n[sdn]\napp = \"least_loaded\"\ncontroller = \"brain\"\n{FLOW}"));
    assert!(!sdn(&plan).out_of_band);
    assert_eq!(names(&plan, &[sdn(&plan).controller]), ["brain"]);
    assert_eq!(plan.blueprint.links.len(), 6);
    same(&plan);
    let apart = "controller = \"brain\"\nout_of_band = true\n";
    let found = wrong(&format!("{NET}\n[sdn]\napp = \"least_loaded\"\n{apart}{FLOW}"));
    assert_eq!(found, ["no link joins `r1` and `brain`"]);
    self::plan(&format!("{NET}\n[sdn]\napp = \"least_loaded\"\n{apart}nodes = [\"r2\"]\n{FLOW}"));
}

#[test]
fn ndn_forwarders_have_agents_and_the_controller_is_no_forwarder() {
    let text = format!(
        "{NET}\n[sdn]\napp = \"least_loaded\"\ncontroller = \"brain\"\n[[producers]]\nprefix = \"/v\"\nnode = \"b\"\n\
         [[flows]]\nname = \"f\"\nnetwork = \"ndn\"\nscheme = \"aimd\"\nfrom = \"a\"\nprefix = \"/v\"\n"
    );
    let plan = plan(&text);
    assert_eq!(names(&plan, &sdn(&plan).nodes), ["a", "r1", "r2", "r3", "b"]);
    let forwarders = &plan.blueprint.ndn.as_ref().expect("forwarders").nodes;
    assert_eq!(names(&plan, forwarders), ["a", "r1", "r2", "r3", "b"]);
    same(&plan);
}
