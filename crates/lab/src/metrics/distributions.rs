//! The table `distributions`: queueing delays of flows and waiting times in queues as cumulative distributions.

use sim::Trace;

use super::flow_row::FlowRow;
use super::names::Names;
use super::percentiles::Counted;
use crate::Plan;
use crate::report::{Cells, Columns, Table, Words};

/// The table, which is empty unless `record.distributions` is true.
pub(super) fn distributions(plan: &Plan, trace: &Trace, names: &Names, rows: &[FlowRow<'_>]) -> Table {
    let (mut subjects, mut measures) = (Words::default(), Words::default());
    let (mut values, mut shares) = (Vec::new(), Vec::new());
    let mut add = |subject: &str, measure: &str, mut counted: Vec<Counted>| {
        counted.sort_unstable();
        let all: u64 = counted.iter().map(|(_, n)| n).sum();
        let mut seen = 0;
        for &(value, n) in &counted {
            seen += n;
            values.push(Some(value.as_secs_f64()));
            shares.push(Some(seen as f64 / all as f64));
        }
        subjects.push(subject, counted.len());
        measures.push(measure, counted.len());
    };
    if plan.blueprint.record.distributions {
        for (row, flow) in rows.iter().enumerate() {
            add(names.flow(row), "queueing_delay", flow.waits().collect());
        }
        for (port, waits) in trace.queueing_delays.iter().enumerate() {
            add(names.port(port), "queue", waits.iter().flat_map(|waits| waits.iter()).collect());
        }
    }
    Columns::<()>::of("distributions", &[])
        .cells("subject", Cells::Text(subjects))
        .cells("measure", Cells::Text(measures))
        .cells("value_s", Cells::Number(values))
        .cells("share", Cells::Number(shares))
        .done()
}
