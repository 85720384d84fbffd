//! A flow with all its records, from which the tables take their values.

use std::ops::Range;

use contract::{Count, Delays, DropReason, Meter};
use sim::{Change, FlowKind, FlowRecord, FlowSpec, ReceiverRecord, ReceiverSpec, Trace};
use stack::tcp;
use units::{Bytes, Duration, Time};

use super::means::{DelaySums, mean, measured, per_second, pooled, share_lost};
use super::percentiles::{self, Counted, PERCENTS};
use super::receiver_row::ReceiverRow;
use crate::Plan;

/// A flow with all its records.
pub(super) struct FlowRow<'a> {
    pub(super) spec: &'a FlowSpec,
    pub(super) group: &'a str,
    pub(super) from: &'a str,
    pub(super) prefix: String,
    pub(super) record: &'a FlowRecord,
    pub(super) receivers: Vec<ReceiverRow<'a>>,
    pub(super) completed: Option<Time>,
    /// The time during which it was active after the warm-up.
    pub(super) active: Duration,
    /// The time after the warm-up.
    measured: Duration,
    /// When the plan or an event of the scenario stops it for good.
    stops: Time,
    /// Whether it stops and starts again: it has churn, or events that start it.
    restarts: bool,
    /// [`PERCENTS`] of the waits of its packets.
    pub(super) waits_s: [Option<f64>; PERCENTS.len()],
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

    /// Whether it was active in the interval of a series that ended at `at`, by its first start, its last stop and its
    /// completion. Stops in between are not considered.
    pub(super) fn on_at(&self, at: Time) -> bool {
        let ends = self.completed.unwrap_or(Time::NEVER).min(self.stops);
        self.started().is_some_and(|started| at > started) && at <= ends
    }

    /// The same with the `rate` of that interval: a flow that stops and starts again was active in intervals in which
    /// it sent.
    pub(super) fn sends_at(&self, at: Time, rate: f64) -> bool {
        self.on_at(at) && (!self.restarts || rate > 0.0)
    }

    pub(super) fn transport(&self) -> &str {
        match &*self.spec.kind {
            FlowKind::Stack(stack) => &stack.name,
            FlowKind::Tcp(_) => "tcp",
            FlowKind::Stream(_) => "stream",
            FlowKind::Datagram(_) => "datagram",
            FlowKind::Ndn(_) => "ndn",
        }
    }

    /// A counter of the sender plus that of its receivers. Both count marks; those of the receivers are used.
    pub(super) fn count(&self, what: Count) -> u64 {
        let sender = self.record.meter.count(what);
        let receivers: u64 = self.receivers.iter().map(|receiver| receiver.record.meter.count(what)).sum();
        match what {
            Count::Marks if receivers > 0 => receivers,
            _ => sender + receivers,
        }
    }

    /// Packets that the network dropped. A packet for an endpoint that is not active does not count.
    pub(super) fn drops(&self) -> u64 {
        let all: u64 = self.record.drops.iter().sum();
        all - self.record.drops[DropReason::NotListening as usize]
    }

    /// Data packets that were dropped, and that arrived; of a flow with several receivers no drop stands for one of
    /// them.
    pub(super) fn data_fates(&self) -> Option<[u64; 2]> {
        match &self.receivers[..] {
            _ if self.consumes() => Some([self.record.data_drops, self.record.arrived.packets]),
            [only] => Some([self.record.data_drops, only.record.packets]),
            _ => None,
        }
    }

    pub(super) fn loss_ratio(&self) -> Option<f64> {
        match self.data_fates() {
            Some(fates) => share_lost(fates),
            None => mean(self.receivers.iter().filter_map(ReceiverRow::loss_ratio)),
        }
    }

    /// Acknowledgements, or Interests and NACKs, that the network dropped.
    pub(super) fn ack_drops(&self) -> u64 {
        self.drops() - self.record.data_drops
    }

    /// Dropped acknowledgements, and how many there were: acknowledgements that were dropped or arrived, or Interests
    /// that were sent.
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
    pub(super) fn sent(&self) -> Option<f64> {
        self.active()?;
        per_second(self.record.sent_bytes, self.measured)
    }

    /// The time during which it was active, if it was.
    fn active(&self) -> Option<Duration> {
        Some(self.active).filter(|active| *active > Duration::ZERO)
    }

    pub(super) fn arrived(&self) -> u64 {
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

    /// The distribution of the delays in the RTP queue at the sender; `None` without an encoder that follows the
    /// scheme.
    pub(super) fn rtp_delays(&self) -> Option<&Delays> {
        self.record.meter.media().delays.as_deref().filter(|_| self.encodes())
    }

    /// Delays in the RTP queue at the sender: mean, 95th percentile and maximum; empty without an encoder that follows
    /// the scheme.
    pub(super) fn rtp_queue(&self) -> [Option<f64>; 3] {
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

    pub(super) fn active_throughput(&self) -> Option<f64> {
        if self.consumes() {
            return per_second(self.record.arrived.bytes, self.active);
        }
        mean(self.receivers.iter().filter_map(ReceiverRow::active_throughput))
    }

    pub(super) fn active_goodput(&self) -> Option<f64> {
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
    pub(super) fn owd_range(&self) -> [Option<f64>; 2] {
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
    pub(super) fn highest(
        &self,
        of: impl Fn(&ReceiverRow<'a>) -> Option<f64>,
        own: Option<f64>,
    ) -> Option<f64> {
        if self.consumes() { own } else { self.receivers.iter().filter_map(of).reduce(f64::max) }
    }

    /// The lowest value over its receivers; of a consumer its own.
    pub(super) fn lowest(
        &self,
        of: impl Fn(&ReceiverRow<'a>) -> Option<f64>,
        own: Option<f64>,
    ) -> Option<f64> {
        if self.consumes() { own } else { self.receivers.iter().filter_map(of).reduce(f64::min) }
    }

    /// The node of the receiver with the lowest throughput; among equals of the one with the highest loss, then of the
    /// first.
    pub(super) fn worst_receiver(&self) -> &str {
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

    /// Delay from the first Interest for a segment to its Data, or of a frame: mean, standard deviation, minimum,
    /// maximum.
    pub(super) fn delay(&self) -> [Option<f64>; 4] {
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
    pub(super) fn percentile(&self, percent: u64) -> Option<f64> {
        let mut all = self.delays();
        let (first, second) = (all.next()?, all.next());
        let pooled = second.map(|_| pooled(self.delays()));
        pooled.as_ref().unwrap_or(first).percentile(percent).map(Duration::as_secs_f64)
    }

    /// Frames that its source dropped; `None` if it carries no video.
    pub(super) fn dropped(&self) -> Option<u64> {
        let has_frames = matches!(&*self.spec.kind, FlowKind::Stream(config) if config.video.is_some());
        has_frames.then(|| self.record.meter.count(Count::FramesDropped))
    }

    /// The sum over the receivers with a player.
    pub(super) fn played(&self, count: impl Fn(&ReceiverRow<'_>) -> Option<u64>) -> Option<u64> {
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

/// The range of each flow's receivers in [`Trace::receivers`].
fn receiver_ranges(trace: &Trace) -> Vec<Range<usize>> {
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
