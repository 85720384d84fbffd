//! Metrics: from a trace to tables.

mod apps;
mod distributions;
mod drops;
mod events;
mod fairness;
mod flow_row;
mod flows;
mod links;
mod means;
mod names;
mod nodes;
mod packets;
mod percentiles;
mod receiver_row;
mod receivers;
mod series;
mod summary;
#[cfg(test)]
mod tests;
mod windows;

pub use fairness::{coefficient_of_variation, jain};

use sim::Trace;

use crate::{Plan, Report};

/// The tables of a run, which may have been stopped early.
pub fn report(plan: &Plan, trace: &Trace) -> Report {
    report_of(plan, trace, summary::MANY_SUBJECTS)
}

/// Makes the tables of [`report`]; more than `many` flows, receivers or directions of links have no keys in `summary`.
fn report_of(plan: &Plan, trace: &Trace, many: usize) -> Report {
    let names = names::Names::new(plan, trace);
    let rows = flow_row::FlowRow::all(plan, trace);
    let flows = flows::flows(&rows);
    let receivers = receivers::receivers(&rows);
    let links = links::links(plan, trace);
    let nodes = nodes::nodes(plan, trace);
    let apps = apps::apps(plan, trace);
    let exchanges = apps::exchanges(plan, trace);
    let windows = windows::Windows::new(trace, &rows);
    let series = series::series(plan, trace, &names, &rows, windows.as_ref());
    let events = events::events(trace, &names);
    let packets = packets::packets(plan, trace);
    let distributions = distributions::distributions(plan, trace, &names, &rows);
    let inputs = [&flows, &receivers, &links, &nodes, &apps];
    let summary = summary::summary(plan, trace, &names, &rows, windows.as_ref(), inputs, many);
    let mut report = Report {
        tables: vec![
            flows,
            receivers,
            links,
            nodes,
            apps,
            exchanges,
            series,
            events,
            packets,
            distributions,
            summary,
        ],
    };
    let expect = summary::expect(plan, &report);
    report.tables.push(expect);
    report
}
