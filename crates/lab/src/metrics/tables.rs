//! The tables `flows`, `nodes`, `series` and `events`, from counters and records.

use std::collections::BTreeMap;
use std::ops::Range;

use contract::{Count, Delays, DropReason, FlowId, Meter, NameId, PortId};
use sim::{
    Change, DROP_EVENTS, EventRecord, FlowKind, FlowRecord, FlowSpec, NodeRecord, NodeRole, PacketRecord,
    ReceiverRecord, ReceiverSpec, Subject, TREE_EVENTS, Trace,
};
use stack::{ndn, tcp};
use units::{Bytes, Duration, Time};

use super::links::DROPS;
use super::percentiles::{self, Counted, PERCENTS};
use super::receivers::ReceiverRow;
use super::summary::pooled;
use super::windows::Windows;
use crate::Plan;
use crate::report::{Cells, Columns, FAIRNESS, Table, Words};

/// Names of subjects in the tables and in the keys of `summary`.
pub(super) struct Names {
    flows: Vec<String>,
    receivers: Vec<String>,
    ports: Vec<String>,
    nodes: Vec<String>,
    prefixes: Vec<String>,
}

impl Names {
    pub(super) fn new(plan: &Plan, trace: &Trace) -> Self {
        let blueprint = &plan.blueprint;
        let receiver = |record: &ReceiverRecord| {
            let flow = &blueprint.flows[record.flow.index()].name;
            format!("receiver.{flow}@{}", blueprint.nodes[record.node.index()])
        };
        Self {
            flows: blueprint.flows.iter().map(|flow| format!("flow.{}", flow.name)).collect(),
            receivers: trace.receivers.iter().map(receiver).collect(),
            ports: blueprint
                .links
                .iter()
                .flat_map(|link| [format!("link.{}", link.name), format!("link.{}.backward", link.name)])
                .collect(),
            nodes: blueprint.nodes.iter().map(|name| format!("node.{name}")).collect(),
            prefixes: blueprint.ndn.as_ref().map_or_else(Vec::new, |ndn| {
                (0..ndn.names.count() as u32).map(|prefix| ndn.names.text(NameId(prefix))).collect()
            }),
        }
    }

    pub(super) fn of(&self, subject: Subject) -> &str {
        match subject {
            Subject::Flow(flow) => &self.flows[flow.index()],
            Subject::Receiver(row) => &self.receivers[row as usize],
            Subject::Port(port) => &self.ports[port.index()],
            Subject::Node(node) => &self.nodes[node.index()],
        }
    }

    pub(super) fn flow(&self, row: usize) -> &str {
        self.of(Subject::Flow(FlowId(row as u32)))
    }

    pub(super) fn receiver(&self, row: usize) -> &str {
        self.of(Subject::Receiver(row as u32))
    }

    pub(super) fn port(&self, row: usize) -> &str {
        self.of(Subject::Port(PortId(row as u32)))
    }
}

/// A flow with all its records.
pub(super) struct FlowRow<'a> {
    pub(super) spec: &'a FlowSpec,
    group: &'a str,
    from: &'a str,
    prefix: String,
    record: &'a FlowRecord,
    pub(super) receivers: Vec<ReceiverRow<'a>>,
    completed: Option<Time>,
    /// The time during which it was active after the warm-up.
    active: Duration,
    /// The time after the warm-up.
    measured: Duration,
    /// When the plan or an event of the scenario stops it for good.
    stops: Time,
    /// Whether it stops and starts again: it has churn, or events that start it.
    restarts: bool,
    /// [`PERCENTS`] of the waits of its packets.
    waits_s: [Option<f64>; PERCENTS.len()],
}

impl<'a> FlowRow<'a> {
    pub(super) fn all(plan: &'a Plan, trace: &'a Trace) -> Vec<Self> {
        let blueprint = &plan.blueprint;
        let mut groups = vec![""; blueprint.flows.len()];
        for group in &plan.groups {
            group.flows.iter().for_each(|flow| groups[flow.index()] = &group.name);
        }
        let ranges = receiver_ranges(trace);
        let changes = stops_and_starts(blueprint);
        let row = |(index, spec): (usize, &'a FlowSpec)| {
            let record = &trace.flows[index];
            let receivers = &trace.receivers[ranges[index].clone()];
            let done = |meter: &Meter| Some(meter.completed_at).filter(|at| *at < Time::NEVER);
            // of real programs only the completion at receivers is known
            let received = receivers.iter().filter(|_| spec.emulation.is_some());
            let completed =
                done(&record.meter).or_else(|| received.filter_map(|receiver| done(&receiver.meter)).min());
            // a finite transfer is inactive when it is complete, though its endpoint still answers
            let active = match (record.started_at, completed, &spec.churn) {
                (Some(started), Some(completed), None) => {
                    record.active.min(completed.saturating_since(started.max(trace.warmup)))
                }
                _ => record.active,
            };
            let plays = matches!(&*spec.kind, FlowKind::Stream(config) if config.player.is_some());
            let receiver = |(record, to): (&'a ReceiverRecord, &ReceiverSpec)| ReceiverRow {
                flow: &spec.name,
                node: &blueprint.nodes[record.node.index()],
                record,
                plays,
                since: trace.flows[index].started_at.map(|at| at.max(to.start)),
                active: record.active.min(active),
                measured: measured(trace),
                drops: (spec.to.len() == 1).then_some(trace.flows[index].data_drops),
                waits_s: percentiles::of_counted(
                    record.waits.iter().flat_map(|waits| waits.iter()).collect(),
                ),
            };
            let prefix = match (&*spec.kind, &blueprint.ndn) {
                (FlowKind::Ndn(config), Some(ndn)) => ndn.names.text(config.prefix),
                _ => String::new(),
            };
            let mut row = Self {
                spec,
                prefix,
                group: groups[index],
                from: &blueprint.nodes[spec.from.index()],
                record,
                receivers: receivers.iter().zip(&spec.to).map(receiver).collect(),
                completed,
                active,
                measured: measured(trace),
                stops: changes[index].0,
                restarts: changes[index].1,
                waits_s: [None; PERCENTS.len()],
            };
            row.waits_s = match &row.receivers[..] {
                [only] if !row.consumes() => only.waits_s,
                _ => percentiles::of_counted(row.waits().collect()),
            };
            row
        };
        blueprint.flows.iter().enumerate().map(row).collect()
    }

    pub(super) fn started(&self) -> Option<Time> {
        self.record.started_at
    }

    /// The scheme, or the controller of a stack.
    pub(super) fn scheme(&self) -> Option<&str> {
        match &*self.spec.kind {
            FlowKind::Stack(stack) => stack.controller.as_deref().or(self.spec.scheme.as_deref()),
            _ => self.spec.scheme.as_deref(),
        }
    }

    /// Flow completion time: from its start to its completion.
    pub(super) fn fct(&self) -> Option<f64> {
        Some(self.completed?.saturating_since(self.started()?).as_secs_f64())
    }

    /// Whether it is a finite transfer.
    pub(super) fn finite(&self) -> bool {
        match &*self.spec.kind {
            FlowKind::Tcp(config) => matches!(config.demand, tcp::Demand::Finite(_)),
            FlowKind::Ndn(config) => config.size < Bytes::UNLIMITED,
            FlowKind::Stack(stack) => stack.size < Bytes::UNLIMITED && stack.size > Bytes::ZERO,
            FlowKind::Stream(_) | FlowKind::Datagram(_) => false,
        }
    }

    /// When it was active in the measured time, if it competes: it has a scheme, and is not finite.
    pub(super) fn competes(&self, trace: &Trace) -> Option<Range<Time>> {
        if self.scheme().is_none() || self.finite() || self.active == Duration::ZERO {
            return None;
        }
        let since = self.started()?.max(trace.warmup);
        let planned = self.spec.stop.min(trace.ended_at);
        // an event may have stopped it earlier
        Some(since..if self.spec.churn.is_some() { planned } else { planned.min(since + self.active) })
    }

    /// Whether it was active in the interval of a series that ended at `at`, by its first start, its last stop and its completion. Stops in
    /// between are not considered.
    pub(super) fn on_at(&self, at: Time) -> bool {
        let ends = self.completed.unwrap_or(Time::NEVER).min(self.stops);
        self.started().is_some_and(|started| at > started) && at <= ends
    }

    /// The same with the `rate` of that interval: a flow that stops and starts again was active in intervals in which it sent.
    pub(super) fn sends_at(&self, at: Time, rate: f64) -> bool {
        self.on_at(at) && (!self.restarts || rate > 0.0)
    }

    fn transport(&self) -> &str {
        match &*self.spec.kind {
            FlowKind::Stack(stack) => &stack.name,
            FlowKind::Tcp(_) => "tcp",
            FlowKind::Stream(_) => "stream",
            FlowKind::Datagram(_) => "datagram",
            FlowKind::Ndn(_) => "ndn",
        }
    }

    /// A counter of the sender plus that of its receivers. Both count marks; those of the receivers are used.
    fn count(&self, what: Count) -> u64 {
        let sender = self.record.meter.count(what);
        let receivers: u64 = self.receivers.iter().map(|receiver| receiver.record.meter.count(what)).sum();
        match what {
            Count::Marks if receivers > 0 => receivers,
            _ => sender + receivers,
        }
    }

    /// Packets that the network dropped. A packet for an endpoint that is not active does not count.
    fn drops(&self) -> u64 {
        let all: u64 = self.record.drops.iter().sum();
        all - self.record.drops[DropReason::NotListening as usize]
    }

    /// Data packets that were dropped, and that arrived; of a flow with several receivers no drop stands for one of them.
    pub(super) fn data_fates(&self) -> Option<[u64; 2]> {
        match &self.receivers[..] {
            _ if self.consumes() => Some([self.record.data_drops, self.record.arrived.packets]),
            [only] => Some([self.record.data_drops, only.record.packets]),
            _ => None,
        }
    }

    fn loss_ratio(&self) -> Option<f64> {
        match self.data_fates() {
            Some(fates) => share_lost(fates),
            None => mean(self.receivers.iter().filter_map(ReceiverRow::loss_ratio)),
        }
    }

    /// Acknowledgements, or Interests and NACKs, that the network dropped.
    pub(super) fn ack_drops(&self) -> u64 {
        self.drops() - self.record.data_drops
    }

    /// The same, and how many there were: acknowledgements that were dropped or arrived, or Interests that were sent.
    pub(super) fn ack_fates(&self) -> [u64; 2] {
        let drops = self.ack_drops();
        let all = if self.consumes() {
            self.record.sent_packets.max(drops)
        } else {
            drops + self.record.arrived.packets
        };
        [drops, all]
    }

    /// Whether packets arrive at its sender, as Data at a consumer.
    pub(super) fn consumes(&self) -> bool {
        matches!(*self.spec.kind, FlowKind::Ndn(_))
    }

    /// Rate of the packets that its sender handed to the network, in bit/s.
    fn sent(&self) -> Option<f64> {
        self.active()?;
        per_second(self.record.sent_bytes, self.measured)
    }

    /// The time during which it was active, if it was.
    fn active(&self) -> Option<Duration> {
        Some(self.active).filter(|active| *active > Duration::ZERO)
    }

    fn arrived(&self) -> u64 {
        if self.consumes() {
            return self.record.arrived.packets + self.record.arrived.refused_packets;
        }
        self.receivers.iter().map(|receiver| receiver.record.packets).sum()
    }

    /// The times that its data packets waited in queues on their way, with their counts.
    pub(super) fn waits(&self) -> impl Iterator<Item = Counted> + '_ {
        let theirs = self.receivers.iter().filter_map(|receiver| receiver.record.waits.as_ref());
        self.record.waits.iter().chain(theirs).flat_map(|waits| waits.iter())
    }

    /// Whether it carries the frames of an encoder that adapts its rate.
    fn encodes(&self) -> bool {
        self.spec.kind.encodes()
    }

    /// The meters of its delays: that of a consumer, or those of the receivers of an encoder's frames.
    fn meters(&self) -> impl Iterator<Item = &Meter> {
        let encodes = self.encodes();
        let own = (!encodes).then_some(&self.record.meter);
        let theirs = self.receivers.iter().filter(move |_| encodes).map(|receiver| &receiver.record.meter);
        own.into_iter().chain(theirs)
    }

    /// The distributions of the delays of its segments, or of its encoder's frames, where they were recorded.
    pub(super) fn delays(&self) -> impl Iterator<Item = &Delays> {
        self.meters().filter_map(|meter| meter.media().delays.as_deref())
    }

    /// The distribution of the delays in the RTP queue at the sender; `None` without an encoder that follows the scheme.
    pub(super) fn rtp_delays(&self) -> Option<&Delays> {
        self.record.meter.media().delays.as_deref().filter(|_| self.encodes())
    }

    /// Delays in the RTP queue at the sender: mean, 95th percentile and maximum; empty without an encoder that follows the scheme.
    fn rtp_queue(&self) -> [Option<f64>; 3] {
        let meter = &self.record.meter;
        if !self.encodes() || meter.media().delay_count == 0 {
            return [None; 3];
        }
        let mean = meter.media().delay_sum_ns as f64 / meter.media().delay_count as f64 / 1e9;
        let p95 = self.rtp_delays().and_then(|delays| delays.percentile(95)).map(Duration::as_secs_f64);
        [Some(mean), p95, Some(meter.media().delay_max.as_secs_f64())]
    }

    /// Bytes of data that arrived per second of the measured time, headers included, in bit/s.
    pub(super) fn throughput(&self) -> Option<f64> {
        if self.consumes() {
            self.active()?;
            return per_second(self.record.arrived.bytes, self.measured);
        }
        mean(self.receivers.iter().filter_map(ReceiverRow::throughput))
    }

    pub(super) fn goodput(&self) -> Option<f64> {
        if self.consumes() {
            self.active()?;
            return per_second(self.record.meter.goodput_bytes, self.measured);
        }
        mean(self.receivers.iter().filter_map(ReceiverRow::goodput))
    }

    fn active_throughput(&self) -> Option<f64> {
        if self.consumes() {
            return per_second(self.record.arrived.bytes, self.active);
        }
        mean(self.receivers.iter().filter_map(ReceiverRow::active_throughput))
    }

    fn active_goodput(&self) -> Option<f64> {
        if self.consumes() {
            return per_second(self.record.meter.goodput_bytes, self.active);
        }
        mean(self.receivers.iter().filter_map(ReceiverRow::active_goodput))
    }

    /// Sums over the data packets that arrived.
    pub(super) fn sums(&self) -> DelaySums {
        if self.consumes() {
            let arrived = &self.record.arrived;
            return DelaySums::new(arrived.packets, arrived.delay_sum_ns, arrived.wait_sum_ns);
        }
        self.receivers.iter().map(ReceiverRow::sums).sum()
    }

    /// Minimum and maximum one-way delay.
    fn owd_range(&self) -> [Option<f64>; 2] {
        if !self.consumes() {
            return [
                self.receivers.iter().filter_map(ReceiverRow::owd_min).reduce(f64::min),
                self.receivers.iter().filter_map(ReceiverRow::owd_max).reduce(f64::max),
            ];
        }
        let arrived = &self.record.arrived;
        [arrived.delay_min, arrived.delay_max].map(|delay| (arrived.packets > 0).then(|| delay.as_secs_f64()))
    }

    /// The highest value over its receivers; of a consumer its own.
    fn highest(&self, of: impl Fn(&ReceiverRow<'a>) -> Option<f64>, own: Option<f64>) -> Option<f64> {
        if self.consumes() { own } else { self.receivers.iter().filter_map(of).reduce(f64::max) }
    }

    /// The lowest value over its receivers, likewise.
    fn lowest(&self, of: impl Fn(&ReceiverRow<'a>) -> Option<f64>, own: Option<f64>) -> Option<f64> {
        if self.consumes() { own } else { self.receivers.iter().filter_map(of).reduce(f64::min) }
    }

    /// The node of the receiver with the lowest throughput; among equals of the one with the highest loss, then of the first.
    fn worst_receiver(&self) -> &str {
        let members = self.receivers.iter().filter_map(|receiver| Some((receiver, receiver.throughput()?)));
        let worst = members.reduce(|worst, next| {
            let lost = |receiver: &ReceiverRow<'_>| receiver.loss_ratio().unwrap_or(0.0);
            let order = next.1.total_cmp(&worst.1).then(lost(worst.0).total_cmp(&lost(next.0)));
            if order.is_lt() { next } else { worst }
        });
        worst.map_or("", |(receiver, _)| receiver.node)
    }

    /// Number and sum in nanoseconds of its sender's round-trip times.
    pub(super) fn rtts(&self) -> [u64; 2] {
        [self.record.meter.rtt_count, self.record.meter.rtt_sum_ns]
    }

    /// Number and sum in nanoseconds of the delays in the RTP queue at the sender.
    pub(super) fn rtp_queueing(&self) -> [u64; 2] {
        let media = self.record.meter.media();
        if self.encodes() { [media.delay_count, media.delay_sum_ns] } else { [0, 0] }
    }

    /// Delay from the first Interest for a segment to its Data, or of a frame: mean, standard deviation, minimum, maximum.
    fn delay(&self) -> [Option<f64>; 4] {
        Self::delay_of(&[self])
    }

    /// The same over all segments or frames of several flows.
    pub(super) fn delay_of(rows: &[&Self]) -> [Option<f64>; 4] {
        let meters = || rows.iter().flat_map(|row| row.meters());
        let n: u64 = meters().map(|meter| meter.media().delay_count).sum();
        if n == 0 {
            return [None; 4];
        }
        let sum: u128 = meters().map(|meter| u128::from(meter.media().delay_sum_ns)).sum();
        let squares: u128 = meters().map(|meter| meter.media().delay_square_sum_ns2).sum();
        let mean_ns = sum as f64 / n as f64;
        // Σ(x − m)² = Σx² − 2m·Σx + n·m² about an integer m near the mean, exact in integers
        let count = u128::from(n);
        let m = sum / count;
        let about_m = (squares + count * m * m).saturating_sub(2 * m * sum) as f64 / n as f64;
        let off = mean_ns - m as f64;
        let variance_ns2 = (about_m - off * off).max(0.0);
        let min = meters().map(|meter| meter.media().delay_min).min().filter(|min| *min < Duration::MAX);
        let max = min.and_then(|_| meters().map(|meter| meter.media().delay_max).max());
        let [min, max] = [min, max].map(|delay| delay.map(Duration::as_secs_f64));
        [Some(mean_ns / 1e9), Some(variance_ns2.sqrt() / 1e9), min, max]
    }

    /// A percentile of these delays, if their distribution was recorded.
    fn percentile(&self, percent: u64) -> Option<f64> {
        let mut all = self.delays();
        let (first, second) = (all.next()?, all.next());
        let pooled = second.map(|_| pooled(self.delays()));
        pooled.as_ref().unwrap_or(first).percentile(percent).map(Duration::as_secs_f64)
    }

    /// Frames that its source dropped; `None` if it carries no video.
    fn dropped(&self) -> Option<u64> {
        let has_frames = matches!(&*self.spec.kind, FlowKind::Stream(config) if config.video.is_some());
        has_frames.then(|| self.record.meter.count(Count::FramesDropped))
    }

    /// The sum over the receivers with a player.
    fn played(&self, count: impl Fn(&ReceiverRow<'_>) -> Option<u64>) -> Option<u64> {
        self.receivers.iter().filter_map(count).reduce(|a, b| a + b)
    }
}

/// Of each flow, when the plan or an event stops it for good, and whether it starts again after a stop.
fn stops_and_starts(blueprint: &sim::Blueprint) -> Vec<(Time, bool)> {
    let mut found: Vec<_> = blueprint.flows.iter().map(|flow| (flow.stop, flow.churn.is_some())).collect();
    let mut events: Vec<_> = blueprint.events.iter().collect();
    events.sort_by_key(|(at, _)| *at);
    for &&(at, ref change) in &events {
        match change {
            // a flow that has not started goes on to start
            Change::FlowStop(flow) if at >= blueprint.flows[flow.index()].start => {
                found[flow.index()].0 = found[flow.index()].0.min(at);
            }
            Change::FlowStart(flow) if found[flow.index()].0 <= at => {
                found[flow.index()] = (Time::NEVER, true);
            }
            _ => {}
        }
    }
    found
}

/// Sums over packets that arrived.
#[derive(Clone, Copy, Default)]
pub(super) struct DelaySums {
    packets: u64,
    delay_ns: u128,
    wait_ns: u128,
}

impl DelaySums {
    pub(super) fn new(packets: u64, delay_ns: u64, wait_ns: u64) -> Self {
        Self { packets, delay_ns: delay_ns.into(), wait_ns: wait_ns.into() }
    }

    fn per_packet(&self, sum_ns: u128) -> Option<f64> {
        ratio(sum_ns as f64 / 1e9, self.packets as f64)
    }

    /// Mean one-way delay.
    pub(super) fn owd(&self) -> Option<f64> {
        self.per_packet(self.delay_ns)
    }

    /// Mean time in queues.
    pub(super) fn queueing(&self) -> Option<f64> {
        self.per_packet(self.wait_ns)
    }

    /// Mean one-way delay without the time in queues.
    pub(super) fn base(&self) -> Option<f64> {
        self.per_packet(self.delay_ns - self.wait_ns)
    }
}

impl std::iter::Sum for DelaySums {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, more| Self {
            packets: sum.packets + more.packets,
            delay_ns: sum.delay_ns + more.delay_ns,
            wait_ns: sum.wait_ns + more.wait_ns,
        })
    }
}

pub(super) fn flows(rows: &[FlowRow<'_>]) -> Table {
    let table = Columns::of("flows", rows)
        .text("flow", |row| row.spec.name.to_string())
        .text("group", |row| row.group.to_owned())
        .text("scheme", |row| row.scheme().unwrap_or_default().to_owned())
        .text("transport", |row| row.transport().to_owned())
        .text("prefix", |row| row.prefix.clone())
        .text("from", |row| row.from.to_owned())
        .count("receivers", |row| row.receivers.len() as u64)
        .number("started_s", |row| row.started().map(Time::as_secs_f64))
        .number("completed_s", |row| row.completed.map(Time::as_secs_f64))
        .number("active_s", |row| Some(row.active.as_secs_f64()))
        .count("sent_packets", |row| row.record.sent_packets)
        .count("sent_bytes", |row| row.record.sent_bytes)
        .number("rate_bps", |row| row.sent().filter(|_| !row.consumes()))
        .number("interests_bps", |row| row.sent().filter(|_| row.consumes()))
        .count("arrived_packets", FlowRow::arrived)
        .number("throughput_bps", FlowRow::throughput)
        .number("goodput_bps", FlowRow::goodput)
        .number("active_throughput_bps", FlowRow::active_throughput)
        .number("active_goodput_bps", FlowRow::active_goodput)
        .number("loss_ratio", FlowRow::loss_ratio)
        .number("ack_loss_ratio", |row| share(row.ack_fates()))
        .count("data_drops", |row| row.record.data_drops)
        .count("ack_drops", FlowRow::ack_drops)
        .count("drops", FlowRow::drops);
    DROPS
        .iter()
        .fold(table, |table, &(name, why)| table.count(name, |row| row.record.drops[why as usize]))
        .count("retransmits", |row| row.count(Count::Retransmits))
        .count("timeouts", |row| row.count(Count::Timeouts))
        .count("episodes", |row| row.count(Count::Episodes))
        .count("feedback_packets", |row| row.count(Count::Feedback))
        .count("feedback_received", |row| row.count(Count::FeedbackReceived))
        .count("suppressed", |row| row.count(Count::Suppressed))
        .count("ignored", |row| row.count(Count::Ignored))
        .count("missing", |row| row.count(Count::Missing))
        .count("reordered", |row| row.count(Count::Reordered))
        .count("late", |row| row.count(Count::Late))
        .count("marks", |row| row.count(Count::Marks))
        .count("signals", |row| row.count(Count::Signals))
        .count("nacks", |row| row.count(Count::Nacks))
        .number("rtt_s", |row| mean_of(row.rtts()))
        .number("rtt_min_s", |row| {
            (row.record.meter.rtt_count > 0).then(|| row.record.meter.rtt_min.as_secs_f64())
        })
        .number("delay_s", |row| row.delay()[0])
        .number("delay_std_s", |row| row.delay()[1])
        .number("delay_min_s", |row| row.delay()[2])
        .number("delay_max_s", |row| row.delay()[3])
        .number("delay_p5_s", |row| row.percentile(5))
        .number("delay_p25_s", |row| row.percentile(25))
        .number("delay_p50_s", |row| row.percentile(50))
        .number("delay_p75_s", |row| row.percentile(75))
        .number("delay_p95_s", |row| row.percentile(95))
        .number("rtp_queue_s", |row| row.rtp_queue()[0])
        .number("rtp_queue_p95_s", |row| row.rtp_queue()[1])
        .number("rtp_queue_max_s", |row| row.rtp_queue()[2])
        .number("owd_s", |row| row.sums().owd())
        .number("owd_min_s", |row| row.owd_range()[0])
        .number("owd_max_s", |row| row.owd_range()[1])
        .number("base_delay_s", |row| row.sums().base())
        .number("queueing_delay_s", |row| row.sums().queueing())
        .number("queueing_delay_p50_s", |row| row.waits_s[0])
        .number("queueing_delay_p95_s", |row| row.waits_s[1])
        .number("queueing_delay_p99_s", |row| row.waits_s[2])
        .text("worst_receiver", |row| row.worst_receiver().to_owned())
        .number("throughput_worst_bps", |row| row.lowest(ReceiverRow::throughput, row.throughput()))
        .number("throughput_best_bps", |row| row.highest(ReceiverRow::throughput, row.throughput()))
        .number("goodput_worst_bps", |row| row.lowest(ReceiverRow::goodput, row.goodput()))
        .number("loss_ratio_worst", |row| row.highest(ReceiverRow::loss_ratio, row.loss_ratio()))
        .number("owd_worst_s", |row| row.highest(|receiver| receiver.sums().owd(), row.sums().owd()))
        .number("queueing_delay_worst_s", |row| {
            row.highest(|receiver| receiver.sums().queueing(), row.sums().queueing())
        })
        .number("fct_s", FlowRow::fct)
        .count_of_some("frames_dropped", FlowRow::dropped)
        .count_of_some("frames_played", |row| row.played(|receiver| receiver.played(Count::FramesPlayed)))
        .count_of_some("frames_late", |row| row.played(|receiver| receiver.played(Count::FramesLate)))
        .count_of_some("frames_lost", |row| row.played(|receiver| receiver.lost()))
        .count_of_some("frames_undecodable", |row| {
            row.played(|receiver| receiver.played(Count::FramesUndecodable))
        })
        .count_of_some("stalls", |row| row.played(|receiver| receiver.played(Count::Stalls)))
        .number("stalled_s", |row| mean(row.receivers.iter().filter_map(ReceiverRow::stalled)))
        .number("startup_s", |row| mean(row.receivers.iter().filter_map(ReceiverRow::startup)))
        .done()
}

pub(super) fn nodes(plan: &Plan, trace: &Trace) -> Table {
    let count = |what: Count| move |row: &NodeRecord| row.meter.count(what);
    let of = |value: fn(&ndn::Counters) -> u64| move |row: &NodeRecord| row.ndn.as_ref().map(value);
    let table = Columns::of("nodes", &trace.nodes)
        .text("node", |row| plan.blueprint.nodes[row.node.index()].to_string())
        .text("role", |row| {
            match row.role {
                NodeRole::Router => "router",
                NodeRole::Resolver => "resolver",
                NodeRole::Forwarder => "forwarder",
                NodeRole::Switch => "switch",
                NodeRole::Controller => "controller",
            }
            .to_owned()
        })
        .count("groups", |row| row.groups)
        .count("sent_packets", |row| row.sent_packets)
        .count("sent_bytes", |row| row.sent_bytes)
        .count("forwarded_packets", |row| row.forwarded_packets)
        .count("feedback_received", count(Count::FeedbackReceived))
        .count("feedback_packets", count(Count::Feedback))
        .count("signals", count(Count::Signals))
        .count("ignored", count(Count::Ignored))
        .count("statuses", count(Count::Statuses))
        .count("commands", count(Count::Commands))
        .count("commands_retransmitted", count(Count::CommandRetransmits))
        .count("reroutes", count(Count::Reroutes))
        .count("operations", count(Count::Operations))
        .count("filter_operations", count(Count::Filtering))
        .count("search_operations", count(Count::Searching))
        .count("switch_operations", count(Count::Switching))
        .count_of_some("part_operations", of(|counters| counters.operations))
        .count_of_some("pending", of(|counters| counters.pending))
        .count_of_some("pending_peak", of(|counters| counters.pending_peak))
        .count_of_some("stored", of(|counters| counters.stored))
        .number("hit_ratio", |row| row.ndn.as_ref().and_then(ndn::Counters::hit_ratio));
    ndn::Tally::ALL
        .into_iter()
        .fold(table, |table, what| {
            table.count_of_some(what.name(), |row| row.ndn.as_ref().map(|counters| counters.count(what)))
        })
        .done()
}

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

/// Events whose value is a [`contract::PortId`]: where traffic was moved to, and the congested ports of ndnSieve's signals.
const NAMING_PORTS: &[&str] = &["moved_to", "signal_mild", "signal_sieved"];

/// Events whose value is the [`contract::EndpointId`] of a receiver, or negative for none.
const NAMING_RECEIVERS: &[&str] = &["representative", "absent", "clr", "acker"];

pub(super) fn events(trace: &Trace, names: &Names) -> Table {
    let rows: BTreeMap<u32, usize> =
        trace.receivers.iter().enumerate().map(|(row, receiver)| (receiver.endpoint.0, row)).collect();
    let text = |event: &EventRecord| {
        let index = event.value as usize;
        let named = match event.name {
            name if NAMING_PORTS.contains(&name) => names.ports.get(index),
            "prefix_moved" => names.prefixes.get(index),
            "route_moved" | "command_sent" => names.nodes.get(index),
            name if TREE_EVENTS.contains(&name) => names.flows.get(index),
            name if DROP_EVENTS.contains(&name) && event.value >= 0.0 => names.flows.get(index),
            _ => None,
        };
        if let Some(named) = named {
            return named.clone();
        }
        let named = NAMING_RECEIVERS.contains(&event.name) && event.value >= 0.0;
        let row = named.then(|| rows.get(&(event.value as u32))).flatten();
        row.map(|&row| names.receiver(row).to_owned()).unwrap_or_default()
    };
    Columns::of("events", &trace.events)
        .number("time_s", |event| Some(event.at.as_secs_f64()))
        .text("subject", |event| names.of(event.subject).to_owned())
        .text("event", |event| event.name.to_owned())
        .number("value", |event| Some(event.value))
        .text("text", text)
        .done()
}

pub(super) fn packets(plan: &Plan, trace: &Trace) -> Table {
    let blueprint = &plan.blueprint;
    let link = |port: PortId| blueprint.links[port.index() / 2].name.to_string();
    let direction = |port: PortId| if port.index().is_multiple_of(2) { "forward" } else { "backward" };
    let at = |packet: &PacketRecord| match packet.place {
        Subject::Port(port) => Some(port),
        _ => None,
    };
    let node = |packet: &PacketRecord| match packet.place {
        Subject::Node(node) => blueprint.nodes[node.index()].to_string(),
        _ => String::new(),
    };
    Columns::of("packets", &trace.packets)
        .number("time_s", |packet| Some(packet.at.as_secs_f64()))
        .text("link", |packet| at(packet).map(link).unwrap_or_default())
        .text("direction", |packet| at(packet).map(direction).unwrap_or_default().to_owned())
        .text("node", node)
        .text("flow", |packet| {
            packet.flow.map(|flow| blueprint.flows[flow.index()].name.to_string()).unwrap_or_default()
        })
        .text("kind", |packet| packet.kind.to_owned())
        .count("bytes", |packet| u64::from(packet.size_bytes))
        .count("marked", |packet| u64::from(packet.is_marked))
        .text("event", |packet| packet.dropped.map_or("arrived", |why| DROP_EVENTS[why as usize]).to_owned())
        .done()
}

/// The duration of all counts: from the warm-up to the end.
pub(super) fn measured(trace: &Trace) -> Duration {
    trace.ended_at.saturating_since(trace.warmup)
}

/// The range of each flow's receivers in [`Trace::receivers`].
pub(super) fn receiver_ranges(trace: &Trace) -> Vec<Range<usize>> {
    let mut start = 0;
    (0..trace.flows.len())
        .map(|flow| {
            let n =
                trace.receivers[start..].iter().take_while(|receiver| receiver.flow.index() == flow).count();
            start += n;
            start - n..start
        })
        .collect()
}

/// Drops over packets, at most 1, because packets sent before the end of the warm-up may be dropped after it.
pub(super) fn loss_ratio(drops: u64, packets: u64) -> Option<f64> {
    ratio(drops as f64, packets as f64).map(|share| share.min(1.0))
}

/// Lost packets over those that were lost or arrived.
pub(super) fn share_lost([lost, arrived]: [u64; 2]) -> Option<f64> {
    share([lost, lost + arrived])
}

/// Some of all.
pub(super) fn share([some, all]: [u64; 2]) -> Option<f64> {
    ratio(some as f64, all as f64)
}

/// The mean in seconds of a number of times with this sum in nanoseconds.
pub(super) fn mean_of([count, sum_ns]: [u64; 2]) -> Option<f64> {
    ratio(sum_ns as f64 / 1e9, count as f64)
}

pub(super) fn ratio(above: f64, below: f64) -> Option<f64> {
    (below > 0.0).then(|| above / below)
}

pub(super) fn per_second(bytes: u64, span: Duration) -> Option<f64> {
    ratio(bytes as f64 * 8.0, span.as_secs_f64())
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0u64), |(sum, n), value| (sum + value, n + 1));
    ratio(sum, n as f64)
}
