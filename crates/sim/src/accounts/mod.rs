//! Counters and records of a run: the balance of packets, drops, the digest of events, series, events, and
//! distributions of delays.

mod packets;
mod recorder;

use contract::{DropReason, Ecn, FlowId, Notes, Packet};
use units::Time;

pub(crate) use packets::{LinkState, PacketRecorder};
pub(crate) use recorder::Recorded;
use recorder::Recorder;

use crate::Blueprint;
use crate::agenda::AgendaEvent;
use crate::fabric::Fabric;
use crate::hosts::Hosts;
use crate::trace::{Balance, MAX_PACKETS, PacketRecord, Subject, Trace};

/// The counters of a run, and its recorder.
pub(crate) struct Accounts {
    balance: Balance,
    flows: usize,
    /// Drops per reason and flow; a reason takes memory from its first drop on.
    flow_drops: [Vec<u64>; DropReason::ALL.len()],
    /// Data packets that the network dropped, per flow; takes memory from the first one on.
    data_drops: Vec<u64>,
    packet_hops: u64,
    events_handled: u64,
    /// Digest of all handled events in order.
    digest: u64,
    recorder: Recorder,
    /// Packets of the time that [`crate::Record::packets`] names.
    packets: Vec<PacketRecord>,
}

impl Accounts {
    /// Counters at zero. Recording starts with [`Accounts::record`].
    pub(crate) fn new(blueprint: &Blueprint) -> Self {
        Self {
            balance: Balance::default(),
            flows: blueprint.flows.len(),
            flow_drops: Default::default(),
            data_drops: Vec::new(),
            packet_hops: 0,
            events_handled: 0,
            digest: 0,
            recorder: Recorder::default(),
            packets: Vec::new(),
        }
    }

    /// Starts recording. Returns whether endpoints are to offer values.
    pub(crate) fn record(&mut self, blueprint: &Blueprint, hosts: &Hosts) -> bool {
        self.recorder = Recorder::new(blueprint, hosts.subjects());
        self.recorder.probing()
    }

    // ---- packets

    /// Counts a packet that an endpoint handed to the network.
    #[inline]
    pub(crate) fn count_sent(&mut self) {
        self.balance.sent += 1;
    }

    /// Counts copies of packets.
    #[inline]
    pub(crate) fn count_copied(&mut self, copies: u64) {
        self.balance.copied += copies;
    }

    /// Counts a packet that reached its destination.
    #[inline]
    pub(crate) fn count_delivered(&mut self) {
        self.balance.delivered += 1;
    }

    /// Counts packets that were put on a link.
    #[inline]
    pub(crate) fn count_hops(&mut self, packets: u64) {
        self.packet_hops += packets;
    }

    /// Counts a dropped packet, which carries data of its flow or acknowledges them. Control messages belong to no
    /// flow.
    pub(crate) fn count_dropped(&mut self, flow: FlowId, why: DropReason, has_data: bool) {
        if flow.index() < self.flows {
            let drops = &mut self.flow_drops[why as usize];
            drops.resize(self.flows, 0);
            drops[flow.index()] += 1;
            if has_data && why != DropReason::NotListening {
                self.data_drops.resize(self.flows, 0);
                self.data_drops[flow.index()] += 1;
            }
        }
        self.balance.dropped += 1;
    }

    /// Records a drop as an event at a port or a node.
    pub(crate) fn record_drop(&mut self, now: Time, place: Subject, flow: FlowId, why: DropReason) {
        let known = flow.index() < self.flows;
        self.recorder.record_drop(now, place, known.then_some(flow), why);
    }

    /// Records a packet at the end of a link, or a drop.
    pub(crate) fn record_packet(
        &mut self,
        now: Time,
        place: Subject,
        packet: &Packet,
        dropped: Option<DropReason>,
    ) {
        if self.packets.len() < MAX_PACKETS {
            self.packets.push(PacketRecord {
                at: now,
                place,
                flow: (packet.flow.index() < self.flows).then_some(packet.flow),
                size_bytes: packet.size_bytes,
                kind: packet.header.name(),
                is_marked: packet.ecn == Ecn::Marked,
                dropped,
            });
        }
    }

    /// Packets put on links so far.
    pub(crate) fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    // ---- events

    /// Adds a handled event to the digest of the run.
    #[inline]
    pub(crate) fn count_event(&mut self, now: Time, what: AgendaEvent) {
        self.events_handled += 1;
        let event = now.as_nanos().rotate_left(20) ^ u64::from(what.digest_bits());
        self.digest = (self.digest ^ event).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    /// Events handled so far.
    pub(crate) fn events_handled(&self) -> u64 {
        self.events_handled
    }

    // ---- records

    /// Records the values and events that endpoints and nodes offered at `now`.
    pub(crate) fn take_notes(&mut self, now: Time, notes: &mut Notes) {
        self.recorder.take_notes(now, notes);
    }

    /// Records that an end of a connection lost it.
    pub(crate) fn record_lost(&mut self, now: Time, subject: Subject, reason: String) {
        self.recorder.record_lost(now, subject, reason);
    }

    /// Writes one value of every series.
    pub(crate) fn sample(&mut self, now: Time, fabric: &mut Fabric, hosts: &Hosts) {
        self.recorder.sample(now, fabric, hosts);
    }

    /// When the last sample was taken.
    pub(crate) fn last_sample(&self) -> Time {
        self.recorder.last_sample()
    }

    /// Ends the warm-up.
    pub(crate) fn rebase(&mut self) {
        self.flow_drops.iter_mut().chain([&mut self.data_drops]).for_each(|drops| drops.fill(0));
    }

    /// A copy of the records up to now.
    pub(crate) fn recorded(&self) -> Recorded {
        self.recorder.recorded()
    }

    /// Takes the records and leaves none.
    pub(crate) fn take_recorded(&mut self) -> Recorded {
        self.recorder.take_recorded()
    }

    /// The trace of a run at `now`, with `recorded` and `in_flight` packets, and without records of applications and
    /// ports. Distributions of hosts move into it unless `keep`.
    pub(crate) fn trace(
        &mut self,
        mut recorded: Recorded,
        now: Time,
        in_flight: u64,
        hosts: &mut Hosts,
        blueprint: &Blueprint,
        keep: bool,
    ) -> Trace {
        let warm = now.as_nanos() >= blueprint.warmup.as_nanos();
        let mut flows = hosts.flow_records(now, &self.flow_drops, keep);
        flows.iter_mut().zip(&self.data_drops).for_each(|(flow, drops)| flow.data_drops = *drops);
        Trace {
            hash: self.digest,
            ended_at: now,
            warmup: if warm { Time::ZERO + blueprint.warmup } else { Time::ZERO },
            packet_hops: self.packet_hops,
            events_handled: self.events_handled,
            flows,
            apps: Vec::new(),
            receivers: hosts.receiver_records(now, keep),
            nodes: hosts.nodes.records(),
            ports: Vec::new(),
            queueing_delays: Vec::new(),
            series: recorded.take_series(),
            events: recorded.events,
            reasons: recorded.reasons,
            packets: if keep { self.packets.clone() } else { std::mem::take(&mut self.packets) },
            balance: Balance { in_flight, ..self.balance },
        }
    }
}
