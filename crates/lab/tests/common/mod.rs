//! What the tests of several parts of a scenario share.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::sync::Arc;

use lab::{Cells, Plan, Report, load};
use sim::Control;

/// The plan of a scenario without mistakes.
pub fn plan(text: &str) -> Arc<Plan> {
    load(text, "test.toml")
        .unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
        .plan(None)
        .expect("loaded means planned")
}

/// The messages of a scenario with mistakes.
pub fn wrong(text: &str) -> Vec<String> {
    let diagnostics = load(text, "test.toml").expect_err("something is wrong");
    diagnostics.iter().map(|problem| problem.message.clone()).collect()
}

/// The names of nodes.
pub fn names(plan: &Plan, nodes: &[contract::NodeId]) -> Vec<String> {
    nodes.iter().map(|node| plan.blueprint.nodes[node.index()].to_string()).collect()
}

/// The trace hash of a run, and what it measured.
pub fn run(plan: &Plan) -> (u64, Report) {
    let outcome = lab::run(plan, &Control::default());
    (outcome.trace.hash, outcome.report)
}

/// A column of words in the table of flows.
pub fn words(report: &Report, column: &str) -> Vec<String> {
    match report.table("flows").and_then(|table| table.column(column)) {
        Some(Cells::Text(words)) => words.iter().map(str::to_owned).collect(),
        other => panic!("{column}: {other:?}"),
    }
}
