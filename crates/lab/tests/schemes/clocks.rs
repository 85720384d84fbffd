//! Conformance tests of clocks: no scheme depends on the offset of a clock, since only differences count; a drift has
//! its exact effect.

use contract::NodeId;
use sim::{ClockSpec, Trace, World};
use units::{Drift, Duration, Offset};

use crate::{chosen, readme};

/// Schemes whose source assumes synchronised clocks, and for which quantity.
const SYNCHRONISED: &[(&str, &str)] =
    &[("asmp", "round-trip times are multiples of one-way delays, whatever the clocks say")];

/// Runs of the scenarios of a scheme's README: the plan and its name, for at most eight seconds.
fn plans(scheme: &str) -> Vec<lab::Plan> {
    let (path, scenarios) = readme(scheme);
    let plan = |text: &str| {
        let scenario = lab::load(text, &path).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let mut plan = lab::Plan::clone(&*scenario.plan(None).expect("loaded means planned"));
        plan.blueprint.duration = plan.blueprint.duration.min(Duration::from_secs(8));
        plan.blueprint.warmup = Duration::ZERO;
        plan
    };
    scenarios.iter().map(|text| plan(text)).collect()
}

fn run(plan: &lab::Plan, clocks: Vec<ClockSpec>) -> Trace {
    let mut blueprint = plan.blueprint.clone();
    blueprint.clocks = clocks;
    let mut world = World::new(&blueprint).expect("a valid blueprint");
    world.run(&sim::Control::default());
    world.finish()
}

#[test]
fn a_clock_that_is_off_by_an_hour_at_any_node_changes_nothing() {
    let hour = Duration::from_secs(3600);
    let mut changed = Vec::new();
    for entry in chosen() {
        let name = entry.scheme.name;
        for plan in plans(name) {
            let right = run(&plan, Vec::new());
            assert!(right.events_handled > 1000, "{name} does something");
            for (node, called) in (0u32..).zip(&plan.blueprint.nodes) {
                for offset in [Offset::ahead(hour), Offset::behind(hour)] {
                    let clock = ClockSpec { node: NodeId(node), offset, drift: Drift::ZERO };
                    let trace = run(&plan, vec![clock]);
                    if trace.hash != right.hash {
                        changed.push((name, format!("{called} off by {offset}")));
                    }
                }
            }
        }
    }
    let known = |name: &str| SYNCHRONISED.iter().any(|(known, _)| *known == name);
    let unknown: Vec<_> = changed.iter().filter(|(name, _)| !known(name)).collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
    let tried = |name: &str| chosen().iter().any(|entry| entry.scheme.name == name);
    for (name, why) in SYNCHRONISED.iter().filter(|(name, _)| tried(name)) {
        assert!(changed.iter().any(|(changed, _)| changed == name), "{name} no longer minds: {why}");
    }
}
