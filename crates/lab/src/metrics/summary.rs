//! Tables → one number per dotted key, and the scenario's expectations held against them.

use sim::{Subject, Trace};
use units::{Duration, Time};

use super::fairness::{Curve, coefficient_of_variation, converged, jain};
use super::tables::{FlowRow, Names, mean, measured};
use crate::report::{Cells, Columns, Report, Table, Words};
use crate::{Expectation, Plan};

/// Windows over which rates are averaged before they are compared with their fair value.
const WINDOW: Duration = Duration::from_secs(1);
/// Windows in a row that a flow has to hold its fair value.
const HOLD: usize = 5;
/// Greatest distance from the fair value, as a share of it.
const BAND: f64 = 0.1;

/// Keys with their values, in order.
#[derive(Default)]
struct Summary {
    keys: Words,
    values: Vec<Option<f64>>,
}

impl Summary {
    fn put(&mut self, key: String, value: Option<f64>) {
        self.keys.push(key, 1);
        self.values.push(value.filter(|x| x.is_finite()));
    }
}

/// The table `summary`. `tables` are `flows`, `receivers`, `links` and `nodes`.
pub(super) fn summary(
    plan: &Plan,
    trace: &Trace,
    names: &Names,
    rows: &[FlowRow<'_>],
    tables: [&Table; 4],
) -> Table {
    let [flows, receivers, links, nodes] = tables;
    let mut all = Summary::default();
    let curves = Curves::new(trace, rows);
    let worst_and_best = extremes(rows, receivers);

    let everyone: Vec<usize> = (0..rows.len()).collect();
    group(&mut all, "flows", &everyone, flows, rows, &curves);
    for entry in &plan.groups {
        let members: Vec<usize> = entry.flows.iter().map(|flow| flow.index()).collect();
        group(&mut all, &format!("flows.{}", entry.name), &members, flows, rows, &curves);
    }
    for (row, (least, most)) in worst_and_best.into_iter().enumerate() {
        columns(&mut all, names.flow(row), flows, row);
        all.put(format!("{}.throughput_min", names.flow(row)), least);
        all.put(format!("{}.throughput_max", names.flow(row)), most);
        all.put(format!("{}.cov", names.flow(row)), curves.cov[row]);
        all.put(format!("{}.convergence", names.flow(row)), curves.convergence_s[row]);
    }
    for row in 0..receivers.rows() {
        columns(&mut all, names.receiver(row), receivers, row);
    }
    for row in 0..links.rows() {
        columns(&mut all, names.port(row), links, row);
    }
    for (row, record) in trace.nodes.iter().enumerate() {
        columns(&mut all, names.of(Subject::Node(record.node)), nodes, row);
    }
    all.put("run.packet_hops".to_owned(), Some(trace.packet_hops as f64));
    all.put("run.events_handled".to_owned(), Some(trace.events_handled as f64));
    all.put("run.ended".to_owned(), Some(trace.ended_at.as_secs_f64()));
    all.put("run.measured".to_owned(), Some(measured(trace).as_secs_f64()));

    Columns::<()>::of("summary", &[])
        .cells("metric", Cells::Text(all.keys))
        .cells("value", Cells::Number(all.values))
        .done()
}

/// The table `expect`: each expectation of the scenario with what was measured.
pub(super) fn expect(plan: &Plan, report: &Report) -> Table {
    let rows: Vec<(&Expectation, Option<f64>)> =
        plan.expect.iter().map(|expectation| (expectation, report.value(&expectation.key))).collect();
    Columns::of("expect", &rows)
        .text("key", |(expectation, _)| expectation.key.clone())
        .text("expected", |(expectation, _)| expectation.text.clone())
        .number("measured", |(_, measured)| *measured)
        .switch("pass", |(expectation, measured)| measured.is_some_and(|value| expectation.sides.hold(value)))
        .done()
}

/// A column's name as the last word of a key: without its unit, which a key does not carry.
pub(crate) fn word(column: &str) -> &str {
    column.strip_suffix("_bps").or_else(|| column.strip_suffix("_s")).unwrap_or(column)
}

/// Every number of one row.
fn columns(all: &mut Summary, subject: &str, table: &Table, row: usize) {
    for column in &table.columns {
        let value = match &column.cells {
            Cells::Number(values) => values[row],
            Cells::Count(values) => values[row].map(|n| n as f64),
            Cells::Text(_) | Cells::Switch(_) => continue,
        };
        all.put(format!("{subject}.{}", word(column.name)), value);
    }
}

/// What some flows have together: means of measurements, sums of counts, fairness.
fn group(
    all: &mut Summary,
    subject: &str,
    members: &[usize],
    flows: &Table,
    rows: &[FlowRow<'_>],
    curves: &Curves,
) {
    all.put(format!("{subject}.count"), Some(members.len() as f64));
    for column in &flows.columns {
        let value = match &column.cells {
            Cells::Number(values) => mean(members.iter().filter_map(|&row| values[row])),
            // a count that none of them has is not measured
            Cells::Count(values)
                if members.iter().all(|&row| values[row].is_none()) && !members.is_empty() =>
            {
                None
            }
            Cells::Count(values) => Some(members.iter().filter_map(|&row| values[row]).sum::<u64>() as f64),
            Cells::Text(_) | Cells::Switch(_) => continue,
        };
        all.put(format!("{subject}.{}", word(column.name)), value);
    }
    let numbers = |column: &str| flows.numbers(column);
    let (throughput, goodput) = (numbers("throughput_bps"), numbers("goodput_bps"));
    let total = |values: &[Option<f64>]| Some(members.iter().filter_map(|&row| values[row]).sum());
    all.put(format!("{subject}.throughput_total"), total(&throughput));
    all.put(format!("{subject}.goodput_total"), total(&goodput));
    let shares: Vec<f64> =
        members.iter().filter(|&&row| rows[row].scheme().is_some()).filter_map(|&row| goodput[row]).collect();
    all.put(format!("{subject}.fairness"), jain(&shares));
    all.put(format!("{subject}.cov"), mean(members.iter().filter_map(|&row| curves.cov[row])));
    let times: Option<Vec<f64>> = members
        .iter()
        .filter(|&&row| rows[row].scheme().is_some())
        .map(|&row| curves.convergence_s[row])
        .collect();
    all.put(format!("{subject}.convergence"), times.and_then(|times| times.into_iter().reduce(f64::max)));
}

/// The least and the greatest throughput among each flow's receivers; a consumer is its own.
fn extremes(rows: &[FlowRow<'_>], receivers: &Table) -> Vec<(Option<f64>, Option<f64>)> {
    let throughput = receivers.numbers("throughput_bps");
    let mut start = 0;
    rows.iter()
        .map(|row| {
            if row.consumes() {
                return (row.throughput(), row.throughput());
            }
            let mine = throughput[start..start + row.receivers()].iter().flatten().copied();
            start += row.receivers();
            (mine.clone().reduce(f64::min), mine.reduce(f64::max))
        })
        .collect()
}

/// What the recorded series `rate` says of each flow.
struct Curves {
    cov: Vec<Option<f64>>,
    convergence_s: Vec<Option<f64>>,
}

impl Curves {
    fn new(trace: &Trace, rows: &[FlowRow<'_>]) -> Self {
        let mut this = Self { cov: vec![None; rows.len()], convergence_s: vec![None; rows.len()] };
        let recorded: Vec<(usize, &sim::SeriesRecord)> = trace
            .series
            .iter()
            .filter_map(|record| match record.subject {
                Subject::Flow(flow) if record.name == "rate" => Some((flow.index(), record)),
                _ => None,
            })
            .collect();
        let Some((_, first)) = recorded.first() else { return this };
        let Some(&every) = first.times.first() else { return this };
        let mut curves: Vec<Curve> = Vec::new();
        let mut whose = Vec::new();
        for (flow, record) in recorded {
            let row = &rows[flow];
            let on = |at: Time, value: f64| row.on_at(at) && (row.spec.churn.is_none() || value > 0.0);
            let curve: Curve = record
                .times
                .iter()
                .zip(&record.values)
                .map(|(&at, &value)| on(at, value).then_some(value))
                .collect();
            let settled: Vec<f64> = record
                .times
                .iter()
                .zip(&curve)
                .filter(|(at, _)| **at > trace.warmup)
                .filter_map(|(_, value)| *value)
                .collect();
            this.cov[flow] = coefficient_of_variation(&settled);
            if row.scheme().is_some() {
                curves.push(curve);
                whose.push(flow);
            }
        }
        let every_ns = every.as_nanos().max(1);
        let window = (WINDOW.as_nanos().div_ceil(every_ns) as usize).max(1);
        for (at, flow) in converged(&curves, window, HOLD, BAND).into_iter().zip(whose) {
            let began = at.map(|index| Time::from_nanos(index as u64 * every_ns));
            this.convergence_s[flow] = began
                .zip(rows[flow].started())
                .map(|(at, started)| at.saturating_since(started).as_secs_f64());
        }
        this
    }
}
