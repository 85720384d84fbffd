//! Conformance tests in the simulator: every scheme delivers data, lets the network drain, is deterministic, and does
//! what its README says.

use contract::Family;
use lab::Outcome;
use schemes::{Build, Entry};

use crate::{chosen, readme};

/// Schemes that send from a host to a host. Schemes of named data and control apps do not fit a dumbbell of hosts and
/// routers.
fn between_hosts() -> impl Iterator<Item = Entry> {
    chosen().into_iter().filter(|entry| {
        entry.scheme.families.iter().any(|family| !matches!(family, Family::Ndn | Family::Sdn))
    })
}

/// The network of a scheme; IP if it supports that.
fn network(entry: &Entry) -> &'static str {
    let families = entry.scheme.families;
    match families {
        _ if families.contains(&Family::Ip) => "",
        _ if families.contains(&Family::Multicast) => "multicast = true\n",
        _ => "network = \"icn\"\n",
    }
}

fn run(text: &str, name: &str) -> (std::sync::Arc<lab::Plan>, Outcome) {
    let scenario = lab::load(text, name).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    let plan = scenario.plan(None).expect("loaded means planned");
    let outcome = lab::run(&plan, &sim::Control::default());
    assert!(outcome.complete, "{name}");
    (plan, outcome)
}

/// Ten seconds on the standard dumbbell: the scheme sends for eight of them.
fn dumbbell(scheme: &str, sends: &str, seed: u64) -> String {
    format!(
        r#"
title = "{scheme} on the standard dumbbell"
seed = {seed}
duration = "10 s"

[topology]
kind = "dumbbell"
edge = {{ rate = "1 Gbit/s", delay = "1 ms", buffer = "1000 packets" }}
bottleneck = {{ rate = "10 Mbit/s", delay = "10 ms", buffer = "1 bdp", loss = 0.001 }}

[[flows]]
name = "it"
scheme = "{scheme}"
{sends}

[[flows]]
name = "other"
source = {{ kind = "poisson", rate = "1 Mbit/s" }}
stop = "8 s"
"#
    )
}

#[test]
fn every_scheme_delivers_data_and_the_network_drains() {
    for entry in between_hosts() {
        let name = entry.scheme.name;
        let sends = match entry.build {
            Build::Control(_) => "size = \"2 MB\"",
            Build::Stream { .. } | Build::Forwarder => "stop = \"8 s\"",
        };
        let text = dumbbell(name, &format!("{}{sends}", network(&entry)), 1);
        let (_, outcome) = run(&text, name);
        let trace = &outcome.trace;
        assert!(trace.balance.holds(), "{name}: {:?}", trace.balance);
        assert_eq!(trace.balance.in_flight, 0, "{name} leaves packets behind");
        assert!(trace.receivers[0].bytes > 20_000, "{name} moved {} bytes", trace.receivers[0].bytes);
        if let Build::Control(_) = entry.build {
            assert_eq!(trace.receivers[0].meter.goodput_bytes, 2_000_000, "{name}");
            assert!(trace.receivers[0].meter.completed_at != units::Time::NEVER, "{name}");
        }
    }
}

#[test]
fn equal_seeds_give_equal_traces_and_other_flows_keep_their_draws() {
    let mut others = Vec::new();
    for entry in between_hosts() {
        let name = entry.scheme.name;
        let sends = format!("{}stop = \"8 s\"", network(&entry));
        let hash = |seed| run(&dumbbell(name, &sends, seed), name).1.trace.hash;
        assert_eq!(hash(3), hash(3), "{name}");
        assert_ne!(hash(3), hash(4), "{name}");
        let trace = run(&dumbbell(name, &sends, 3), name).1.trace;
        others.push(trace.flows[1].sent_packets);
    }
    // the Poisson source draws from its own stream, independent of other flows
    assert!(others.windows(2).all(|pair| pair[0] == pair[1]), "{others:?}");
}

#[test]
fn the_scenario_of_every_readme_meets_its_expectations() {
    for entry in chosen() {
        let (path, scenarios) = readme(entry.scheme.name);
        for scenario in &scenarios {
            let (plan, outcome) = run(scenario, &path);
            assert!(!plan.expect.is_empty(), "{path} expects something");
            for row in &plan.expect {
                let measured = outcome.report.value(&row.key);
                println!("{}: {} = {measured:?}, expected {}", entry.scheme.name, row.key, row.text);
                assert!(
                    measured.is_some_and(|value| row.sides.hold(value)),
                    "{path}: {} should be {}, is {measured:?}",
                    row.key,
                    row.text
                );
            }
        }
    }
}
