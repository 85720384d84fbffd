//! The table `summary`: one number per dotted key, computed from the other tables; and the scenario's expectations.

use std::collections::BTreeSet;

use contract::{Delays, NodeId};
use sim::{Subject, Trace};
use units::{Duration, Time};

use super::fairness::{Curve, coefficient_of_variation, converged, jain};
use super::percentiles::{self, PERCENTS};
use super::tables::{FlowRow, Names, mean, measured, ratio};
use super::windows::{BAND, Windows, intervals};
use crate::report::{Cells, Columns, Keys, Report, Table, word};
use crate::{Expectation, Plan};

/// Number of consecutive windows in which a flow must stay at its fair value.
const HOLD: usize = 5;
/// Keys with values, in order.
#[derive(Default)]
struct Summary {
    keys: Keys,
    values: Vec<Option<f64>>,
}

impl Summary {
    fn put(&mut self, subject: &str, word: &str, value: Option<f64>) {
        self.keys.push(subject, word);
        self.values.push(value.filter(|x| x.is_finite()));
    }
}

/// The table `summary`. `tables` are `flows`, `receivers`, `links`, `nodes` and `apps`; `many` is [`MANY_SUBJECTS`].
pub(super) fn summary(
    plan: &Plan,
    trace: &Trace,
    names: &Names,
    rows: &[FlowRow<'_>],
    windows: Option<&Windows>,
    tables: [&Table; 5],
    many: usize,
) -> Table {
    let [flows, receivers, links, nodes, apps] = tables;
    let mut all = Summary::default();
    let curves = Curves::new(trace, rows);
    let worst_and_best = extremes(rows, receivers);

    let events = changes(plan);
    let arrivals: Vec<Option<(f64, f64)>> = flows
        .numbers("owd_s")
        .into_iter()
        .zip(flows.numbers("arrived_packets"))
        .map(|(delay, packets)| delay.zip(packets))
        .collect();
    let whole = Whole { trace, rows, curves: &curves, windows, events: &events, arrivals: &arrivals };
    let single = Single::of(plan, [flows, receivers, links], many);
    let all_flows: Vec<usize> = (0..rows.len()).collect();
    group(&mut all, "flows", &all_flows, flows, &whole);
    for entry in &plan.groups {
        let members: Vec<usize> = entry.flows.iter().map(|flow| flow.index()).collect();
        group(&mut all, &format!("flows.{}", entry.name), &members, flows, &whole);
    }
    let own = |(row, _): &(usize, _)| single.has_flow(names.flow(*row));
    for (row, (min, max)) in worst_and_best.into_iter().enumerate().filter(own) {
        columns(&mut all, names.flow(row), flows, row);
        all.put(names.flow(row), "throughput_min", min);
        all.put(names.flow(row), "throughput_max", max);
        all.put(names.flow(row), "cov", curves.cov[row]);
        all.put(names.flow(row), "convergence", curves.convergence_s[row]);
        all.put(names.flow(row), "power", whole.power(&[row], rows[row].throughput()));
        all.put(names.flow(row), "recovery", whole.recovery(&[row]));
    }
    for row in (0..receivers.rows()).filter(|&row| single.has_receiver(names.receiver(row))) {
        columns(&mut all, names.receiver(row), receivers, row);
    }
    for row in (0..links.rows()).filter(|&row| single.has_port(row, names.port(row))) {
        columns(&mut all, names.port(row), links, row);
    }
    for (row, record) in trace.nodes.iter().enumerate() {
        columns(&mut all, names.of(Subject::Node(record.node)), nodes, row);
    }
    for (row, app) in plan.blueprint.apps.iter().enumerate().take(apps.rows()) {
        columns(&mut all, &format!("app.{}", app.name), apps, row);
    }
    all.put("run", "packet_hops", Some(trace.packet_hops as f64));
    all.put("run", "events_handled", Some(trace.events_handled as f64));
    all.put("run", "ended", Some(trace.ended_at.as_secs_f64()));
    all.put("run", "measured", Some(measured(trace).as_secs_f64()));

    all.keys.sort();
    all.values.shrink_to_fit();
    Columns::<()>::of("summary", &[])
        .cells("metric", Cells::Keys(all.keys))
        .cells("value", Cells::Number(all.values))
        .done()
}

/// Maximum number of flows, of receivers and of directions of links for which each of them has keys of its own in `summary`, some fifty.
pub(super) const MANY_SUBJECTS: usize = 50_000;

/// Which flows, receivers and links have keys of their own: all, unless there are many. Of many links, those between nodes that have other links
/// as well. Of all kinds, those that the scenario expects something of.
struct Single<'a> {
    expected: BTreeSet<&'a str>,
    flows: bool,
    receivers: bool,
    /// By link.
    links: Option<Vec<bool>>,
}

impl<'a> Single<'a> {
    fn of(plan: &'a Plan, [flows, receivers, links]: [&Table; 3], many: usize) -> Self {
        let few = |table: &Table| table.rows() <= many;
        let subject = |expectation: &'a Expectation| Some(expectation.key.rsplit_once('.')?.0);
        let between = || {
            let blueprint = &plan.blueprint;
            let mut degrees = vec![0u32; blueprint.nodes.len()];
            for end in blueprint.links.iter().flat_map(|link| [link.ends.0, link.ends.1]) {
                degrees[end.index()] += 1;
            }
            let joins = |end: NodeId| degrees[end.index()] > 1;
            blueprint.links.iter().map(|link| joins(link.ends.0) && joins(link.ends.1)).collect()
        };
        Self {
            expected: plan.expect.iter().filter_map(subject).collect(),
            flows: few(flows),
            receivers: few(receivers),
            links: (!few(links)).then(between),
        }
    }

    fn has_flow(&self, name: &str) -> bool {
        self.flows || self.expected.contains(name)
    }

    fn has_receiver(&self, name: &str) -> bool {
        self.receivers || self.expected.contains(name)
    }

    fn has_port(&self, port: usize, name: &str) -> bool {
        self.links.as_ref().is_none_or(|links| links[port / 2]) || self.expected.contains(name)
    }
}

/// The table `expect`: each expectation of the scenario with the measured value.
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

/// Adds every number of a row.
fn columns(all: &mut Summary, subject: &str, table: &Table, row: usize) {
    for column in &table.columns {
        let value = match &column.cells {
            Cells::Number(values) => values[row],
            Cells::Count(values) => values[row].map(|n| n as f64),
            Cells::Text(_) | Cells::Keys(_) | Cells::Switch(_) => continue,
        };
        all.put(subject, word(column.name), value);
    }
}

/// Adds the values of a group of flows: means of measurements, minimum, maximum and percentiles over all of them, sums of counts, totals,
/// fairness.
fn group(all: &mut Summary, subject: &str, members: &[usize], flows: &Table, whole: &Whole<'_>) {
    let Whole { trace, rows, curves, windows, .. } = *whole;
    all.put(subject, "count", Some(members.len() as f64));
    let queueing = percentiles::of_counted(members.iter().flat_map(|&row| rows[row].queueing()).collect());
    let delays = pooled(members.iter().flat_map(|&row| rows[row].delays()));
    for column in &flows.columns {
        let value = match &column.cells {
            Cells::Number(values) => {
                let there = members.iter().filter_map(|&row| values[row]);
                match Over::of(column.name) {
                    Over::Mean => mean(there),
                    Over::Minimum => there.reduce(f64::min),
                    Over::Maximum => there.reduce(f64::max),
                    Over::Queueing(percent) => {
                        PERCENTS.iter().position(|known| *known == percent).and_then(|at| queueing[at])
                    }
                    Over::Delays(percent) => delays.percentile(percent).map(Duration::as_secs_f64),
                }
            }
            // a count that no member has is not measured
            Cells::Count(values)
                if members.iter().all(|&row| values[row].is_none()) && !members.is_empty() =>
            {
                None
            }
            Cells::Count(values) => Some(members.iter().filter_map(|&row| values[row]).sum::<u64>() as f64),
            Cells::Text(_) | Cells::Keys(_) | Cells::Switch(_) => continue,
        };
        all.put(subject, word(column.name), value);
    }
    let span_s = measured(trace).as_secs_f64();
    let total = |what: usize| {
        let bytes: f64 = members.iter().map(|&row| rows[row].bytes()[what]).sum();
        ratio(bytes * 8.0, span_s)
    };
    all.put(subject, "throughput_total", total(0));
    all.put(subject, "goodput_total", total(1));
    let times: Vec<f64> = members.iter().filter_map(|&row| rows[row].fct()).collect();
    all.put(subject, "completions", Some(times.len() as f64));
    for (percent, value) in PERCENTS.iter().zip(percentiles::of_numbers(times)) {
        all.put(subject, &format!("fct_p{percent}"), value);
    }
    all.put(subject, "fairness", fairness(members, flows, trace, rows));
    let over_time = windows.map(|windows| windows.fairness(members, rows)).unwrap_or_default();
    let indices = || over_time.iter().filter(|(at, _)| *at > trace.warmup).map(|(_, index)| *index);
    all.put(subject, "fairness_mean", mean(indices()));
    all.put(subject, "fairness_min", indices().reduce(f64::min));
    all.put(subject, "power", whole.power(members, total(0)));
    all.put(subject, "recovery", whole.recovery(members));
    all.put(subject, "cov", mean(members.iter().filter_map(|&row| curves.cov[row])));
    let times: Option<Vec<f64>> = members
        .iter()
        .filter(|&&row| rows[row].scheme().is_some())
        .map(|&row| curves.convergence_s[row])
        .collect();
    all.put(subject, "convergence", times.and_then(|times| times.into_iter().reduce(f64::max)));
}

/// The sources of a group's values.
#[derive(Clone, Copy)]
struct Whole<'a> {
    trace: &'a Trace,
    rows: &'a [FlowRow<'a>],
    curves: &'a Curves,
    windows: Option<&'a Windows>,
    /// When the network or the flows change.
    events: &'a [Time],
    /// Of each flow, the mean one-way delay in seconds and the packets that arrived.
    arrivals: &'a [Option<(f64, f64)>],
}

impl Whole<'_> {
    /// The time until the rates of flows have recovered from the changes.
    fn recovery(&self, members: &[usize]) -> Option<f64> {
        self.windows?.recovery(members, self.events)
    }

    /// Power: the throughput of some flows over the mean one-way delay of their packets.
    fn power(&self, members: &[usize], throughput_bps: Option<f64>) -> Option<f64> {
        let there = || members.iter().filter_map(|&row| self.arrivals[row]);
        let sum_s: f64 = there().map(|(delay, packets)| delay * packets).sum();
        let delay_s = ratio(sum_s, there().map(|(_, packets)| packets).sum())?;
        ratio(throughput_bps?, delay_s)
    }
}

/// When the network or the flows change, each time once.
fn changes(plan: &Plan) -> Vec<Time> {
    let mut times: Vec<Time> = plan.blueprint.events.iter().map(|(at, _)| *at).collect();
    times.sort_unstable();
    times.dedup();
    times
}

/// How the measurements of several flows are combined.
enum Over {
    /// The mean; each flow counts once.
    Mean,
    Minimum,
    Maximum,
    /// A percentile of the queueing delays of all packets.
    Queueing(u64),
    /// A percentile of the delays of all segments.
    Delays(u64),
}

impl Over {
    fn of(column: &str) -> Self {
        let (word, last) = word(column).rsplit_once('_').unwrap_or((column, ""));
        match (word, last, last.strip_prefix('p').and_then(|percent| percent.parse().ok())) {
            ("queueing_delay", _, Some(percent)) => Self::Queueing(percent),
            ("delay", _, Some(percent)) => Self::Delays(percent),
            (_, "min", _) => Self::Minimum,
            (_, "max", _) => Self::Maximum,
            _ => Self::Mean,
        }
    }
}

/// The delays of several flows or receivers together.
pub(super) fn pooled<'a>(delays: impl Iterator<Item = &'a Delays>) -> Delays {
    let mut all = Delays::default();
    delays.for_each(|some| all.add_all(some));
    all
}

/// Jain's index over the goodputs of the competing members; `None` for fewer than two, or if they were never active at the same time.
fn fairness(members: &[usize], flows: &Table, trace: &Trace, rows: &[FlowRow<'_>]) -> Option<f64> {
    let goodput = flows.numbers("goodput_bps");
    let on: Vec<_> =
        members.iter().filter_map(|&row| Some((rows[row].competes(trace)?, goodput[row]?))).collect();
    let since = on.iter().map(|(span, _)| span.start).max()?;
    let until = on.iter().map(|(span, _)| span.end).min()?;
    let shares: Vec<f64> = on.iter().map(|(_, goodput)| *goodput).collect();
    if shares.len() < 2 || since >= until {
        return None;
    }
    jain(&shares)
}

/// Minimum and maximum throughput over each flow's receivers. A consumer counts as its own receiver.
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

/// The recorded series `rate` of each flow.
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
            let convergence: Vec<f64> = record
                .times
                .iter()
                .zip(&curve)
                .filter(|(at, _)| **at > trace.warmup)
                .filter_map(|(_, value)| *value)
                .collect();
            this.cov[flow] = coefficient_of_variation(&convergence);
            if row.scheme().is_some() {
                curves.push(curve);
                whose.push(flow);
            }
        }
        let every_ns = every.as_nanos().max(1);
        let window = intervals(Duration::from_nanos(every_ns));
        for (at, flow) in converged(&curves, window, HOLD, BAND).into_iter().zip(whose) {
            let began = at.map(|index| Time::from_nanos(index as u64 * every_ns));
            this.convergence_s[flow] = began
                .zip(rows[flow].started())
                .map(|(at, started)| at.saturating_since(started).as_secs_f64());
        }
        this
    }
}
