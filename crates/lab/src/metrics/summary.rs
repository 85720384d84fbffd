//! The table `summary`: one number per dotted key, computed from the other tables; and the scenario's expectations.

use std::collections::BTreeSet;

use contract::NodeId;
use sim::{Subject, Trace};
use units::{Duration, Time};

use super::fairness::{Curve, coefficient_of_variation, converged, jain};
use super::flow_row::FlowRow;
use super::means::{DelaySums, mean, mean_of, measured, pooled, ratio, share, share_lost};
use super::names::Names;
use super::percentiles::{self, PERCENTS};
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

    let events = changes(plan);
    let sources = Sources { trace, rows, curves: &curves, windows, events: &events };
    let single = Single::of(plan, [flows, receivers, links], many);
    let all_flows: Vec<usize> = (0..rows.len()).collect();
    group(&mut all, "flows", &all_flows, flows, &sources);
    for entry in &plan.groups {
        let members: Vec<usize> = entry.flows.iter().map(|flow| flow.index()).collect();
        group(&mut all, &format!("flows.{}", entry.name), &members, flows, &sources);
    }
    for row in (0..rows.len()).filter(|&row| single.has_flow(names.flow(row))) {
        columns(&mut all, names.flow(row), flows, row);
        all.put(names.flow(row), "cov", curves.cov[row]);
        all.put(names.flow(row), "convergence", curves.convergence_s[row]);
        all.put(names.flow(row), "power", sources.power(&[row], rows[row].throughput()));
        all.put(names.flow(row), "recovery", sources.recovery(&[row]));
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

/// Maximum number of flows, of receivers and of directions of links for which each of them has keys of its own in
/// `summary`, some fifty.
pub(super) const MANY_SUBJECTS: usize = 50_000;

/// Which flows, receivers and links have keys of their own: all, unless there are many. Of many links, those between
/// nodes that have other links as well. Of all kinds, those that the scenario expects something of.
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

/// Adds the values of a group of flows, each as [`Over`] says; counts are summed.
fn group(all: &mut Summary, subject: &str, members: &[usize], flows: &Table, sources: &Sources<'_>) {
    let Sources { trace, rows, curves, windows, .. } = *sources;
    all.put(subject, "count", Some(members.len() as f64));
    let waits = percentiles::of_counted(members.iter().flat_map(|&row| rows[row].waits()).collect());
    let delays = pooled(members.iter().flat_map(|&row| rows[row].delays()));
    let rtp_delays = pooled(members.iter().filter_map(|&row| rows[row].rtp_delays()));
    let of_packets = Pooled::over(&members.iter().map(|&row| &rows[row]).collect::<Vec<_>>());
    for column in &flows.columns {
        let value = match &column.cells {
            Cells::Number(values) => {
                let there = members.iter().filter_map(|&row| values[row]);
                match Over::of(column.name) {
                    Over::Mean => mean(there),
                    Over::Sum => there.reduce(|sum, more| sum + more),
                    Over::Total => Some(there.sum()),
                    Over::Minimum => there.reduce(f64::min),
                    Over::Maximum => there.reduce(f64::max),
                    Over::Packets => of_packets.value(column.name).unwrap_or_else(|| mean(there)),
                    Over::QueueingDelays(percent) => {
                        PERCENTS.iter().position(|known| *known == percent).and_then(|at| waits[at])
                    }
                    Over::Delays(percent) => delays.percentile(percent).map(Duration::as_secs_f64),
                    Over::RtpDelays(percent) => rtp_delays.percentile(percent).map(Duration::as_secs_f64),
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
    let members_of = || members.iter().map(|&row| &rows[row]);
    let throughput = Some(members_of().filter_map(FlowRow::throughput).sum());
    all.put(subject, "throughput_mean", mean(members_of().filter_map(FlowRow::throughput)));
    all.put(subject, "goodput_mean", mean(members_of().filter_map(FlowRow::goodput)));
    let times: Vec<f64> = members_of().filter_map(FlowRow::fct).collect();
    let transfers = members_of().filter(|row| row.finite() && row.started().is_some()).count();
    all.put(subject, "transfers", Some(transfers as f64));
    all.put(subject, "unfinished", Some(transfers.saturating_sub(times.len()) as f64));
    all.put(subject, "completions", Some(times.len() as f64));
    for (percent, value) in PERCENTS.iter().zip(percentiles::of_numbers(times)) {
        all.put(subject, &format!("fct_p{percent}"), value);
    }
    all.put(subject, "fairness", fairness(members, flows, trace, rows));
    let over_time = windows.map(|windows| windows.fairness(members, rows)).unwrap_or_default();
    let indices = || over_time.iter().filter(|(at, _)| *at > trace.warmup).map(|(_, index)| *index);
    all.put(subject, "fairness_mean", mean(indices()));
    all.put(subject, "fairness_min", indices().reduce(f64::min));
    all.put(subject, "power", sources.power(members, throughput));
    all.put(subject, "recovery", sources.recovery(members));
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
struct Sources<'a> {
    trace: &'a Trace,
    rows: &'a [FlowRow<'a>],
    curves: &'a Curves,
    windows: Option<&'a Windows>,
    /// When the network or the flows change.
    events: &'a [Time],
}

impl Sources<'_> {
    /// The time until the rates of flows have recovered from the changes.
    fn recovery(&self, members: &[usize]) -> Option<f64> {
        self.windows?.recovery(members, self.events)
    }

    /// Power: the throughput of some flows over the mean one-way delay of their data packets.
    fn power(&self, members: &[usize], throughput_bps: Option<f64>) -> Option<f64> {
        let sums: DelaySums = members.iter().map(|&row| self.rows[row].sums()).sum();
        ratio(throughput_bps?, sums.owd()?)
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
    /// The sum, of rates over the same time.
    Sum,
    /// The sum, which is zero if no flow was active.
    Total,
    Minimum,
    Maximum,
    /// Over all packets or samples, see [`Pooled`].
    Packets,
    /// A percentile of the times that all packets waited.
    QueueingDelays(u64),
    /// A percentile of the delays of all segments.
    Delays(u64),
    /// A percentile of the delays of all packets in the RTP queues of their senders.
    RtpDelays(u64),
}

impl Over {
    fn of(column: &str) -> Self {
        let name = word(column);
        match name {
            "rate" | "interests" => return Self::Sum,
            "throughput" | "goodput" => return Self::Total,
            "throughput_worst" | "goodput_worst" => return Self::Minimum,
            "throughput_best" | "loss_ratio_worst" | "owd_worst" | "queueing_delay_worst" => {
                return Self::Maximum;
            }
            "owd" | "base_delay" | "queueing_delay" | "rtt" | "delay" | "delay_std" | "rtp_queue"
            | "loss_ratio" | "ack_loss_ratio" => return Self::Packets,
            _ => {}
        }
        let (name, last) = name.rsplit_once('_').unwrap_or((name, ""));
        match (name, last, last.strip_prefix('p').and_then(|percent| percent.parse().ok())) {
            ("queueing_delay", _, Some(percent)) => Self::QueueingDelays(percent),
            ("delay", _, Some(percent)) => Self::Delays(percent),
            ("rtp_queue", _, Some(percent)) => Self::RtpDelays(percent),
            (_, "min", _) => Self::Minimum,
            (_, "max", _) => Self::Maximum,
            _ => Self::Mean,
        }
    }
}

/// Values over all packets or samples of several flows, in which each packet counts once, as it does in percentiles.
struct Pooled {
    sums: DelaySums,
    rtts: [u64; 2],
    rtp_queueing: [u64; 2],
    /// Mean and standard deviation of the delays of segments or frames.
    delay: [Option<f64>; 2],
    /// Data packets that were lost, and that arrived; `None` with a flow to several receivers, whose losses are not of
    /// packets but of receivers.
    data: Option<[u64; 2]>,
    acks: [u64; 2],
}

impl Pooled {
    fn over(rows: &[&FlowRow<'_>]) -> Self {
        let add = |[a, b]: [u64; 2], [c, d]: [u64; 2]| [a + c, b + d];
        let [mean, deviation, ..] = FlowRow::delay_of(rows);
        Self {
            sums: rows.iter().map(|row| row.sums()).sum(),
            rtts: rows.iter().map(|row| row.rtts()).fold([0, 0], add),
            rtp_queueing: rows.iter().map(|row| row.rtp_queueing()).fold([0, 0], add),
            delay: [mean, deviation],
            data: rows.iter().map(|row| row.data_fates()).try_fold([0, 0], |all, one| Some(add(all, one?))),
            acks: rows.iter().map(|row| row.ack_fates()).fold([0, 0], add),
        }
    }

    /// The value of a column; `None` if it is the mean over the flows.
    fn value(&self, column: &str) -> Option<Option<f64>> {
        Some(match word(column) {
            "owd" => self.sums.owd(),
            "base_delay" => self.sums.base(),
            "queueing_delay" => self.sums.queueing(),
            "rtt" => mean_of(self.rtts),
            "delay" => self.delay[0],
            "delay_std" => self.delay[1],
            "rtp_queue" => mean_of(self.rtp_queueing),
            "loss_ratio" => share_lost(self.data?),
            "ack_loss_ratio" => share(self.acks),
            _ => return None,
        })
    }
}

/// Jain's index over the goodputs of the competing members while they were active; `None` for fewer than two, or if
/// they were never active at the same time.
fn fairness(members: &[usize], flows: &Table, trace: &Trace, rows: &[FlowRow<'_>]) -> Option<f64> {
    let goodput = flows.numbers("active_goodput_bps");
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
            let curve: Curve = record
                .times
                .iter()
                .zip(&record.values)
                .map(|(&at, &value)| row.sends_at(at, value).then_some(value))
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
