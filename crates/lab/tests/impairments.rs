//! Impairments of links: from the scenario to the blueprint and back.

use std::sync::Arc;

use lab::Plan;
use sim::{GilbertElliott, Impair, Jitter, Reorder, TokenBucket};
use units::{Bytes, Duration, Rate};

fn plan(text: &str) -> Arc<Plan> {
    let scenario = lab::load(text, "test.toml").unwrap_or_else(|error| panic!("{error}"));
    scenario.plan(None).expect("loaded means planned")
}

fn link(keys: &str) -> Arc<Plan> {
    plan(&format!(
        "[topology]\nkind = \"custom\"\nlinks = [{{ name = \"l\", ends = [\"a\", \"b\"], rate = \"1 Mbit/s\", delay = \"20 ms\", {keys} }}]\n\
         [[flows]]\nname = \"one\"\nscheme = \"reno\"\nfrom = \"a\"\nto = \"b\"\n"
    ))
}

#[test]
fn both_directions_have_the_impairments_unless_one_has_its_own() {
    let keys = "impair = { bursts = { to_bad = 0.01, to_good = 0.2 }, jitter = \"5 ms\" }, backward = { impair = {} }";
    let plan = link(keys);
    let bursts = GilbertElliott { to_bad: 0.01, to_good: 0.2, loss_in_bad: 1.0, loss_in_good: 0.0 };
    let jitter = Jitter { by: Duration::from_millis(5), keeps_order: false };
    let expected = Impair { bursts: Some(bursts), jitter: Some(jitter), ..Impair::default() };
    let spec = &plan.blueprint.links[0];
    assert_eq!((spec.forward.impair, spec.backward.impair), (Some(expected), None));
    let both = link("impair = { reorder = 0.1, gap = 5 }");
    let expected = Impair { reorder: Some(Reorder { probability: 0.1, gap: 5 }), ..Impair::default() };
    let spec = &both.blueprint.links[0];
    assert_eq!((spec.forward.impair, spec.backward.impair), (Some(expected), Some(expected)));
}

#[test]
fn a_printed_plan_has_the_impairments_and_gives_the_same_network() {
    for keys in [
        "impair = { bursts = { to_bad = 0.01, to_good = 0.2, loss_in_bad = 0.7, loss_in_good = 0.001 }, duplicate = 0.02 }",
        "impair = { jitter = \"5 ms\", keep_order = true, release_every = \"4 ms\" }, backward = { impair = {} }",
        "backward = { impair = { reorder = 0.25, gap = 5 } }",
    ] {
        let first = link(keys);
        assert_eq!(plan(&first.to_toml()).blueprint, first.blueprint, "{keys}");
    }
}

#[test]
fn a_policer_and_a_shaper_are_those_of_both_directions_unless_one_is_empty() {
    let keys = "policer = { rate = \"2 Mbit/s\", burst = \"3 kB\" }, shaper = { rate = \"500 kbit/s\", burst = \"1600 B\" }, \
                backward = { policer = {} }";
    let plan = link(keys);
    let spec = &plan.blueprint.links[0];
    let policer = TokenBucket { rate: Rate::from_mbps(2), burst: Bytes::new(3000) };
    let shaper = TokenBucket { rate: Rate::from_kbps(500), burst: Bytes::new(1600) };
    assert_eq!((spec.forward.policer, spec.forward.shaper), (Some(policer), Some(shaper)));
    assert_eq!((spec.backward.policer, spec.backward.shaper), (None, Some(shaper)));
    assert_eq!(
        self::plan(&plan.to_toml()).blueprint,
        plan.blueprint,
        "the printed plan gives the same network"
    );
}

#[test]
fn a_buffer_in_bdp_is_that_of_the_shaper() {
    // a round trip of 40 ms at 0.6 Mbit/s is 3000 bytes, two packets of 1500; at the 1 Mbit/s of the link it were 5000
    // bytes
    let plan = link("shaper = { rate = \"600 kbit/s\", burst = \"1600 B\" }, buffer = \"1 bdp\"");
    assert_eq!(plan.blueprint.links[0].forward.queue.limit, sim::Limit::Packets(2));
}

#[test]
fn a_share_of_damaged_packets_is_kept_in_a_printed_plan() {
    let plan = link("impair = { corrupt = 0.02 }");
    let expected = Impair { corrupt: 0.02, ..Impair::default() };
    assert_eq!(plan.blueprint.links[0].forward.impair, Some(expected));
    assert_eq!(self::plan(&plan.to_toml()).blueprint, plan.blueprint);
}
