//! How long a large sweep takes to plan.

use std::time::Instant;

const SMALL: &str = r#"
duration = "10 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", buffer = "1 bdp" }
[[flows]]
name = "one"
scheme = "cubic"
[[flows]]
name = "two"
scheme = "reno"
start_spread = "100 ms"
"#;

/// In a release build; about one and a half seconds where this was written.
#[test]
#[expect(clippy::disallowed_methods, reason = "it measures how long planning takes")]
#[ignore = "measures a release build: cargo test --release -p lab --test cells -- --ignored"]
fn ten_thousand_cells_are_planned_in_two_seconds() {
    let scenario = lab::load(SMALL, "small.toml").unwrap_or_else(|problems| panic!("{problems}"));
    let rates = (1..=100).map(|n| toml::Value::from(format!("{n} Mbit/s"))).collect();
    let delays = (1..=100).map(|n| toml::Value::from(format!("{n} ms"))).collect();
    let axes =
        [("topology.bottleneck.rate".to_owned(), rates), ("topology.bottleneck.delay".to_owned(), delays)];
    let began = Instant::now();
    let cells = scenario.grid(&axes).unwrap_or_else(|problems| panic!("{problems}"));
    let plans: Vec<_> = cells.iter().map(|(_, cell)| cell.plan(None).expect("planned")).collect();
    let took = began.elapsed();
    assert_eq!(plans.len(), 10_000);
    assert_ne!(plans[0].blueprint.links[0], plans[9_999].blueprint.links[0]);
    println!("{took:?}");
    assert!(took.as_secs_f64() < 2.0, "{took:?}");
}
