//! The table `series`, from records and windows.

use sim::Trace;

use super::flow_row::FlowRow;
use super::names::Names;
use super::windows::Windows;
use crate::Plan;
use crate::report::{Cells, Columns, FAIRNESS, Table, Words};

/// The series; `fairness` is computed from `rate`.
pub(super) fn series(
    plan: &Plan,
    trace: &Trace,
    names: &Names,
    rows: &[FlowRow<'_>],
    windows: Option<&Windows>,
) -> Table {
    let (mut times, mut values) = (Vec::new(), Vec::new());
    let (mut subjects, mut series) = (Words::default(), Words::default());
    for record in &trace.series {
        times.extend(record.times.iter().map(|at| Some(at.as_secs_f64())));
        values.extend(record.values.iter().map(|value| value.is_finite().then_some(*value)));
        subjects.push(names.of(record.subject), record.times.len());
        series.push(record.name, record.times.len());
    }
    if let Some(windows) = windows.filter(|_| plan.records(FAIRNESS)) {
        let all_flows = ("flows".to_owned(), (0..rows.len()).collect::<Vec<_>>());
        let groups = plan.groups.iter().filter(|group| group.flows.len() > 1 && plan.groups.len() > 1);
        let groups = groups.map(|group| {
            (format!("flows.{}", group.name), group.flows.iter().map(|flow| flow.index()).collect())
        });
        for (subject, members) in [all_flows].into_iter().chain(groups) {
            let points = windows.fairness(&members, rows);
            subjects.push(subject, points.len());
            series.push(FAIRNESS, points.len());
            times.extend(points.iter().map(|(at, _)| Some(at.as_secs_f64())));
            values.extend(points.iter().map(|(_, index)| Some(*index)));
        }
    }
    Columns::<()>::of("series", &[])
        .cells("time_s", Cells::Number(times))
        .cells("subject", Cells::Text(subjects))
        .cells("series", Cells::Text(series))
        .cells("value", Cells::Number(values))
        .done()
}
