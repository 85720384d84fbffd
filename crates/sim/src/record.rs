//! What is written down: series while the run goes on, counters at its end.

use contract::{EndpointId, FlowId, Meter, NodeId, Note, Notes, PortId};
use units::{Duration, Time};

use crate::agenda::{Kind, What};
use crate::build::FlowState;
use crate::peer::{Peer, Tally};
use crate::trace::{
    Arrivals, EventRecord, FlowRecord, PortRecord, ReceiverRecord, SERIES, SeriesRecord, Subject, Trace,
};
use crate::world::World;
use crate::{Blueprint, FlowKind};

/// Series and events.
#[derive(Default)]
pub(crate) struct Recorder {
    /// Series that the engine measures.
    gauges: Vec<Gauge>,
    /// Names of series that endpoints offer.
    offered: Vec<String>,
    /// Series that endpoints have offered, by endpoint.
    probes: Vec<Vec<Probe>>,
    events: Vec<EventRecord>,
    /// Who an endpoint is in the tables.
    subjects: Vec<Subject>,
    last_sample: Time,
    /// Counters of endpoints at the end of the warm-up.
    bases: Vec<(Tally, Meter)>,
}

/// What a trace takes away: series and events.
pub(crate) type Recorded = (Vec<Gauge>, Vec<Vec<Probe>>, Vec<EventRecord>);

#[derive(Clone)]
pub(crate) struct Gauge {
    kind: GaugeKind,
    series: SeriesRecord,
    /// The running total at the last sample.
    last: f64,
}

#[derive(Clone, Copy)]
enum GaugeKind {
    Sent,
    Arrived,
    Delivered,
    Backlog,
    BacklogBytes,
    Utilisation,
    Drops,
    Marks,
}

#[derive(Clone)]
pub(crate) struct Probe {
    latest: f64,
    series: SeriesRecord,
}

impl Recorder {
    /// A copy of what was recorded so far.
    pub(crate) fn recorded(&self) -> Recorded {
        (self.gauges.clone(), self.probes.clone(), self.events.clone())
    }

    /// Gives back what a trace took.
    pub(crate) fn put_back(&mut self, recorded: Recorded) {
        (self.gauges, self.probes, self.events) = recorded;
    }

    /// `nodes` are those with a machine, in the order of their addresses, which follow the endpoints'.
    pub(crate) fn new(
        blueprint: &Blueprint,
        flows: &[FlowState],
        nodes: impl Iterator<Item = NodeId>,
    ) -> Self {
        let mut subjects = Vec::new();
        for (flow, state) in (0u32..).zip(flows) {
            subjects.push(Subject::Flow(FlowId(flow)));
            subjects.extend(state.receivers.clone().map(|index| Subject::Receiver(index as u32)));
        }
        let producers = blueprint.ndn.iter().flat_map(|ndn| &ndn.producers);
        subjects.extend(producers.map(|producer| Subject::Node(producer.node)));
        subjects.extend(nodes.map(Subject::Node));
        let mut recorder =
            Self { probes: subjects.iter().map(|_| Vec::new()).collect(), subjects, ..Self::default() };
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
                "backlog" => GaugeKind::Backlog,
                "backlog_bytes" => GaugeKind::BacklogBytes,
                "utilisation" => GaugeKind::Utilisation,
                "queue_marks" => GaugeKind::Marks,
                _ => GaugeKind::Drops,
            };
            let subjects: Vec<Subject> = match whose {
                "port" => {
                    (0..2 * blueprint.links.len() as u32).map(|port| Subject::Port(PortId(port))).collect()
                }
                "flow" => {
                    recorder.subjects.iter().filter(|s| matches!(s, Subject::Flow(_))).copied().collect()
                }
                _ => {
                    let consumes =
                        |flow: FlowId| matches!(blueprint.flows[flow.index()].kind, FlowKind::Ndn(_));
                    let receives = |subject: &&Subject| match subject {
                        Subject::Receiver(_) => true,
                        Subject::Flow(flow) => consumes(*flow),
                        Subject::Port(_) | Subject::Node(_) => false,
                    };
                    recorder.subjects.iter().filter(receives).copied().collect()
                }
            };
            recorder.gauges.extend(subjects.into_iter().map(|subject| Gauge {
                kind,
                series: SeriesRecord { subject, name, times: Vec::new(), values: Vec::new() },
                last: 0.0,
            }));
        }
        recorder
    }

    /// Whether endpoints shall offer values.
    pub(crate) fn probing(&self) -> bool {
        !self.offered.is_empty()
    }

    /// Takes what endpoints offered at `now`: they themselves know only what their clocks show.
    pub(crate) fn take_notes(&mut self, now: Time, notes: &mut Notes) {
        for note in notes.pending.drain(..) {
            let subject = self.subjects[note.from.endpoint.index()];
            if note.event {
                self.events.push(EventRecord { at: now, subject, name: note.name, value: note.value });
            } else {
                Self::take_probe(&mut self.probes[note.from.endpoint.index()], &self.offered, subject, &note);
            }
        }
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

impl World {
    /// Writes one value of every series and schedules the next sample.
    pub(crate) fn on_sample(&mut self) {
        let now = self.now;
        let span_s = (now - self.recorder.last_sample).as_secs_f64();
        let mut readings: Vec<Option<PortRecord>> = vec![None; self.ports.len()];
        for gauge in &mut self.recorder.gauges {
            let mut port = |port: PortId| {
                let ports = &mut self.ports;
                readings[port.index()].get_or_insert_with(|| ports[port.index()].reading(now)).clone()
            };
            let peer_of = |subject| match subject {
                Subject::Flow(flow) => self.flows[flow.index()].sender,
                Subject::Receiver(index) => self.receivers[index as usize].endpoint,
                Subject::Port(_) | Subject::Node(_) => EndpointId::default(),
            };
            let subject = gauge.series.subject;
            let total = match (gauge.kind, subject) {
                (GaugeKind::Sent, _) => self.peers[peer_of(subject).index()].tally.sent_bytes as f64 * 8.0,
                (GaugeKind::Arrived, _) => {
                    self.peers[peer_of(subject).index()].tally.received_bytes as f64 * 8.0
                }
                (GaugeKind::Delivered, _) => {
                    self.peers[peer_of(subject).index()].meter.goodput_bytes as f64 * 8.0
                }
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
                (GaugeKind::Utilisation, Subject::Port(id)) => {
                    change / self.ports[id.index()].capacity_since_last(now)
                }
                _ => change / span_s,
            };
            gauge.series.times.push(now);
            gauge.series.values.push(value);
        }
        for probe in self.recorder.probes.iter_mut().flatten() {
            probe.series.times.push(now);
            probe.series.values.push(probe.latest);
        }
        self.recorder.last_sample = now;
        self.agenda.push(now + self.blueprint.record.every, What::new(Kind::Sample, 0));
    }

    /// The sample that falls on the end of the run, if one does.
    pub(crate) fn sample_at_end(&mut self) {
        let every = self.blueprint.record.every;
        if every > Duration::ZERO && self.recorder.last_sample + every == self.now {
            self.on_sample();
        }
    }

    /// Ends the warm-up.
    pub(crate) fn rebase(&mut self) {
        let now = self.now;
        for port in 0..self.ports.len() {
            self.count_backlog(PortId(port as u32));
            self.ports[port].rebase(now);
        }
        self.recorder.bases = self.peers.iter().map(|peer| (peer.tally, peer.meter.clone())).collect();
        self.peers.iter_mut().for_each(|peer| peer.rebase(now));
        self.nodes.rebase();
        self.flow_drops.iter_mut().for_each(|drops| *drops = Default::default());
    }

    /// All that was recorded.
    pub(crate) fn trace(&mut self) -> Trace {
        let now = self.now;
        for port in 0..self.ports.len() {
            self.count_backlog(PortId(port as u32));
        }
        let warm = now.as_nanos() >= self.blueprint.warmup.as_nanos();
        let since_warmup = |peer: &Peer, index: usize| {
            let (tally, meter) = self.recorder.bases.get(index).cloned().unwrap_or_default();
            let mut meter = subtract_meter(&peer.meter, &meter);
            meter.completed_at = peer.endpoint.true_time(meter.completed_at);
            (subtract_tally(peer.tally, tally), meter)
        };
        let flows = (0..self.flows.len()).map(|flow| {
            let index = self.flows[flow].sender.index();
            let peer = &self.peers[index];
            let (tally, meter) = since_warmup(peer, index);
            FlowRecord {
                sent_packets: tally.sent_packets,
                sent_bytes: tally.sent_bytes,
                drops: self.flow_drops[flow],
                arrived: Arrivals {
                    packets: tally.received_packets,
                    bytes: tally.received_bytes,
                    refused_bytes: tally.refused_bytes,
                    delay_sum_ns: tally.delay_sum_ns,
                    delay_min: peer.delay_min,
                    delay_max: peer.delay_max,
                },
                delays: peer.delays.clone(),
                meter,
                started_at: peer.started_at,
                active: peer.active_until(now),
            }
        });
        let flows = flows.collect();
        let receivers = self.receivers.iter().map(|receiver| {
            let peer = &self.peers[receiver.endpoint.index()];
            let (tally, meter) = since_warmup(peer, receiver.endpoint.index());
            ReceiverRecord {
                flow: receiver.flow,
                node: peer.address.node,
                endpoint: receiver.endpoint,
                packets: tally.received_packets,
                bytes: tally.received_bytes,
                delay_sum_ns: tally.delay_sum_ns,
                delay_min: peer.delay_min,
                delay_max: peer.delay_max,
                delays: peer.delays.clone(),
                meter,
                active: peer.active_until(now),
            }
        });
        let receivers = receivers.collect();
        let gauges = std::mem::take(&mut self.recorder.gauges).into_iter().map(|gauge| gauge.series);
        let probes =
            std::mem::take(&mut self.recorder.probes).into_iter().flatten().map(|probe| probe.series);
        let series = gauges.chain(probes).collect();
        let mut balance = self.balance;
        balance.in_flight = self.out.arena.live() as u64;
        Trace {
            hash: self.hash,
            ended_at: now,
            warmup: if warm { Time::ZERO + self.blueprint.warmup } else { Time::ZERO },
            packet_hops: self.hops,
            events_handled: self.handled,
            flows,
            receivers,
            nodes: self.nodes.records(),
            ports: self.ports.iter_mut().map(|port| port.record(now)).collect(),
            series,
            events: std::mem::take(&mut self.recorder.events),
            balance,
        }
    }
}

fn subtract_tally(tally: Tally, base: Tally) -> Tally {
    Tally {
        received_packets: tally.received_packets - base.received_packets,
        received_bytes: tally.received_bytes - base.received_bytes,
        refused_bytes: tally.refused_bytes - base.refused_bytes,
        delay_sum_ns: tally.delay_sum_ns - base.delay_sum_ns,
        sent_packets: tally.sent_packets - base.sent_packets,
        sent_bytes: tally.sent_bytes - base.sent_bytes,
    }
}

pub(crate) fn subtract_meter(meter: &Meter, base: &Meter) -> Meter {
    let mut since = meter.clone();
    since.counts.iter_mut().zip(base.counts).for_each(|(count, base)| *count -= base);
    since.goodput_bytes -= base.goodput_bytes;
    since.rtt_count -= base.rtt_count;
    since.rtt_sum_ns -= base.rtt_sum_ns;
    since.delay_count -= base.delay_count;
    since.delay_sum_ns -= base.delay_sum_ns;
    since.delay_square_sum_ns2 -= base.delay_square_sum_ns2;
    since
}
