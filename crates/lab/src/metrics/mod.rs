//! Metrics: from a trace to tables.

mod fairness;
mod links;
mod percentiles;
mod receivers;
mod summary;
mod tables;
#[cfg(test)]
mod tests;

pub use fairness::{coefficient_of_variation, jain};

use sim::Trace;

use crate::{Plan, Report};

/// The tables of a run, which may have been stopped early.
pub fn report(plan: &Plan, trace: &Trace) -> Report {
    let names = tables::Names::new(plan, trace);
    let rows = tables::FlowRow::all(plan, trace);
    let flows = tables::flows(&rows);
    let receivers = receivers::receivers(&rows);
    let links = links::links(plan, trace);
    let nodes = tables::nodes(plan, trace);
    let series = tables::series(trace, &names);
    let events = tables::events(trace, &names);
    let summary = summary::summary(plan, trace, &names, &rows, [&flows, &receivers, &links, &nodes]);
    let mut report = Report { tables: vec![flows, receivers, links, nodes, series, events, summary] };
    let expect = summary::expect(plan, &report);
    report.tables.push(expect);
    report
}
