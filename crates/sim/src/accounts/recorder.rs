//! Recording: series and events during the run, counters at its end.

use std::collections::BTreeSet;

use contract::{DropReason, FlowId, GroupId, Note, Notes, PortId};
use units::{Duration, Time};

use crate::fabric::Fabric;
use crate::hosts::Hosts;
use crate::trace::{
    CONNECTION_LOST, DROP_EVENTS, EventRecord, PortRecord, SERIES, SeriesRecord, Subject, TREE_EVENTS,
};
use crate::{Blueprint, FlowKind};

/// Series and events.
#[derive(Default)]
pub(super) struct Recorder {
    /// Series that the engine measures.
    gauges: Vec<Gauge>,
    /// Names of series that endpoints offer.
    offered: Vec<String>,
    /// Series that endpoints have offered, by endpoint.
    probes: Vec<Vec<Probe>>,
    events: Vec<EventRecord>,
    /// Why connections were lost.
    reasons: Vec<String>,
    /// The flow or receiver of each endpoint in the tables.
    subjects: Vec<Subject>,
    /// Whether each of them has series.
    with_series: Vec<bool>,
    last_sample: Time,
    /// The ports of multicast trees at the last sample; `None` if events are not recorded.
    trees: Option<BTreeSet<(GroupId, PortId)>>,
    /// Number of flows, and so of groups.
    groups: usize,
}

/// The records: series and events.
pub(crate) struct Recorded {
    gauges: Vec<Gauge>,
    probes: Vec<Vec<Probe>>,
    pub(super) events: Vec<EventRecord>,
    pub(super) reasons: Vec<String>,
}

impl Recorded {
    /// The series as in a trace: those that the engine measures come first.
    pub(super) fn take_series(&mut self) -> Vec<SeriesRecord> {
        let gauges = self.gauges.drain(..).map(|gauge| gauge.series);
        let probes = self.probes.drain(..).flatten().map(|probe| probe.series);
        gauges.chain(probes).collect()
    }
}

#[derive(Clone)]
struct Gauge {
    kind: GaugeKind,
    series: SeriesRecord,
    /// The running total at the last sample.
    last: f64,
    /// The packets that it is the total of, where the series is a mean over packets.
    last_packets: u64,
}

#[derive(Clone, Copy)]
enum GaugeKind {
    Sent,
    Arrived,
    Delivered,
    Delay,
    Wait,
    Backlog,
    BacklogBytes,
    Utilisation,
    Drops,
    Marks,
}

#[derive(Clone)]
struct Probe {
    latest: f64,
    series: SeriesRecord,
}

impl Recorder {
    /// A copy of the records up to now.
    pub(super) fn recorded(&self) -> Recorded {
        let (gauges, probes) = (self.gauges.clone(), self.probes.clone());
        Recorded { gauges, probes, events: self.events.clone(), reasons: self.reasons.clone() }
    }

    /// Takes the records and leaves none.
    pub(super) fn take_recorded(&mut self) -> Recorded {
        let (gauges, probes) = (std::mem::take(&mut self.gauges), std::mem::take(&mut self.probes));
        let (events, reasons) = (std::mem::take(&mut self.events), std::mem::take(&mut self.reasons));
        Recorded { gauges, probes, events, reasons }
    }

    /// A recorder. `subjects` has one of each endpoint and state machine, in the order of their addresses.
    pub(super) fn new(blueprint: &Blueprint, subjects: Vec<Subject>) -> Self {
        if blueprint.record.every == Duration::ZERO && !blueprint.record.events {
            return Self::default();
        }
        let mut recorder = Self {
            with_series: with_series(blueprint, &subjects),
            subjects,
            trees: blueprint.record.events.then(BTreeSet::new),
            groups: blueprint.flows.len(),
            ..Self::default()
        };
        if blueprint.record.every == Duration::ZERO {
            return recorder;
        }
        for wanted in &blueprint.record.series {
            let known = SERIES.iter().find(|row| row.0 == wanted.as_str());
            let Some(&(name, _, whose, _)) = known else {
                recorder.offered.push(wanted.clone());
                continue;
            };
            let kind = match name {
                "rate" => GaugeKind::Sent,
                "throughput" => GaugeKind::Arrived,
                "goodput" => GaugeKind::Delivered,
                "owd" => GaugeKind::Delay,
                "queueing_delay" => GaugeKind::Wait,
                "backlog" => GaugeKind::Backlog,
                "backlog_bytes" => GaugeKind::BacklogBytes,
                "utilisation" => GaugeKind::Utilisation,
                "queue_marks" => GaugeKind::Marks,
                _ => GaugeKind::Drops,
            };
            let endpoints = recorder.subjects.iter().zip(&recorder.with_series);
            let endpoints = endpoints.filter(|(_, wanted)| **wanted).map(|(subject, _)| subject);
            let subjects: Vec<Subject> = match whose {
                "port" => {
                    (0..2 * blueprint.links.len() as u32).map(|port| Subject::Port(PortId(port))).collect()
                }
                "flow" => endpoints.filter(|s| matches!(s, Subject::Flow(_))).copied().collect(),
                _ => {
                    let consumes =
                        |flow: FlowId| matches!(*blueprint.flows[flow.index()].kind, FlowKind::Ndn(_));
                    let receives = |subject: &&Subject| match subject {
                        Subject::Receiver(_) => true,
                        Subject::Flow(flow) => consumes(*flow),
                        Subject::Port(_) | Subject::Node(_) => false,
                    };
                    endpoints.filter(receives).copied().collect()
                }
            };
            recorder.gauges.extend(subjects.into_iter().map(|subject| Gauge {
                kind,
                series: SeriesRecord { subject, name, times: Vec::new(), values: Vec::new() },
                last: 0.0,
                last_packets: 0,
            }));
        }
        if recorder.probing() {
            recorder.probes = recorder.subjects.iter().map(|_| Vec::new()).collect();
        }
        recorder
    }

    /// Whether endpoints are to offer values.
    pub(super) fn probing(&self) -> bool {
        !self.offered.is_empty()
    }

    /// Records the values and events that endpoints offered at `now` by true time; endpoints only know the time of
    /// their clocks.
    pub(super) fn take_notes(&mut self, now: Time, notes: &mut Notes) {
        for note in notes.pending.drain(..) {
            let endpoint = note.from.endpoint.index();
            let subject = self.subjects[endpoint];
            if note.event {
                self.events.push(EventRecord { at: now, subject, name: note.name, value: note.value });
            } else if self.with_series[endpoint]
                && let Some(probes) = self.probes.get_mut(endpoint)
            {
                Self::take_probe(probes, &self.offered, subject, &note);
            }
        }
    }

    /// Records a drop as an event. Its value is the number of the flow, −1 for a control message.
    pub(super) fn record_drop(&mut self, now: Time, place: Subject, flow: Option<FlowId>, why: DropReason) {
        let value = flow.map_or(-1.0, |flow| f64::from(flow.0));
        self.events.push(EventRecord { at: now, subject: place, name: DROP_EVENTS[why as usize], value });
    }

    /// Records that an end of a connection lost it.
    pub(super) fn record_lost(&mut self, now: Time, subject: Subject, reason: String) {
        let value = self.reasons.len() as f64;
        self.reasons.push(reason);
        self.events.push(EventRecord { at: now, subject, name: CONNECTION_LOST, value });
    }

    fn take_probe(probes: &mut Vec<Probe>, offered: &[String], subject: Subject, note: &Note) {
        if let Some(probe) = probes.iter_mut().find(|probe| probe.series.name == note.name) {
            probe.latest = note.value;
        } else if offered.iter().any(|name| name == note.name) {
            let series = SeriesRecord { subject, name: note.name, times: Vec::new(), values: Vec::new() };
            probes.push(Probe { latest: note.value, series });
        }
    }
}

/// Whether each of `subjects` has series. The receivers of a flow follow its sender.
fn with_series(blueprint: &Blueprint, subjects: &[Subject]) -> Vec<bool> {
    let mut wanted = true;
    let each = subjects.iter().map(|subject| {
        match subject {
            Subject::Flow(flow) => {
                let flows = blueprint.record.flows.as_ref();
                wanted = flows.is_none_or(|flows| flows.binary_search(flow).is_ok());
            }
            Subject::Receiver(_) => {}
            Subject::Port(_) | Subject::Node(_) => wanted = true,
        }
        wanted
    });
    each.collect()
}

impl Recorder {
    /// Writes one value of every series.
    pub(super) fn sample(&mut self, now: Time, fabric: &mut Fabric, hosts: &Hosts) {
        let span_s = (now - self.last_sample).as_secs_f64();
        let mut readings: Vec<Option<PortRecord>> = vec![None; fabric.edges().len()];
        for gauge in &mut self.gauges {
            let mut port = |port: PortId| {
                readings[port.index()].get_or_insert_with(|| fabric.port(port).reading(now)).clone()
            };
            let subject = gauge.series.subject;
            let totals = || hosts.totals(subject);
            let total = match (gauge.kind, subject) {
                (GaugeKind::Sent, _) => totals().sent_bytes as f64 * 8.0,
                (GaugeKind::Arrived, _) => totals().arrived_bytes as f64 * 8.0,
                (GaugeKind::Delivered, _) => totals().delivered_bytes as f64 * 8.0,
                (GaugeKind::Delay, _) => totals().delay_sum_ns as f64 / 1e9,
                (GaugeKind::Wait, _) => totals().wait_sum_ns as f64 / 1e9,
                (GaugeKind::Backlog, Subject::Port(id)) => port(id).backlog_packet_ns as f64 / 1e9,
                (GaugeKind::BacklogBytes, Subject::Port(id)) => port(id).backlog_byte_ns as f64 / 1e9,
                (GaugeKind::Utilisation, Subject::Port(id)) => {
                    let record = port(id);
                    record.sent_bytes as f64 * 8.0
                }
                (GaugeKind::Drops, Subject::Port(id)) => port(id).drops.iter().sum::<u64>() as f64,
                (GaugeKind::Marks, Subject::Port(id)) => port(id).marked_packets as f64,
                _ => 0.0,
            };
            let change = total - std::mem::replace(&mut gauge.last, total);
            let value = match (gauge.kind, subject) {
                (GaugeKind::Drops | GaugeKind::Marks, _) => change,
                (GaugeKind::Delay | GaugeKind::Wait, _) => {
                    let packets = totals().arrived_packets;
                    // not a number without a packet, as the mean of nothing is
                    change / (packets - std::mem::replace(&mut gauge.last_packets, packets)) as f64
                }
                (GaugeKind::Utilisation, Subject::Port(id)) => {
                    change / fabric.port(id).capacity_since_last(now)
                }
                _ => change / span_s,
            };
            gauge.series.times.push(now);
            gauge.series.values.push(value);
        }
        for probe in self.probes.iter_mut().flatten() {
            probe.series.times.push(now);
            probe.series.values.push(probe.latest);
        }
        self.sample_trees(now, fabric, hosts);
        self.last_sample = now;
    }

    /// Records how the multicast trees changed since the last sample.
    fn sample_trees(&mut self, now: Time, fabric: &Fabric, hosts: &Hosts) {
        let Some(before) = &mut self.trees else { return };
        let trees: BTreeSet<_> = fabric.branches().chain(hosts.nodes.branches(self.groups)).collect();
        for (name, one, other) in [(TREE_EVENTS[1], &*before, &trees), (TREE_EVENTS[0], &trees, &*before)] {
            self.events.extend(one.difference(other).map(|&(group, port)| EventRecord {
                at: now,
                subject: Subject::Port(port),
                name,
                value: f64::from(group.0),
            }));
        }
        *before = trees;
    }

    /// When the last sample was taken.
    pub(super) const fn last_sample(&self) -> Time {
        self.last_sample
    }
}
