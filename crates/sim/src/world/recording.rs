//! The record of packets: what happens at ports, endpoints and nodes becomes rows.
//!
//! With a record, all packets take the slow paths: ports are [`OfferPath::Slow`](crate::fabric::OfferPath::Slow), links
//! show every packet at their end, endpoints accept none on the fast path, and no packet stands for several. Without
//! one, the fast paths have no part in it.

use contract::{EndpointId, NodeId, Packet, PacketId, PortId};
use units::Time;

use super::World;
use crate::accounts::{LinkState, PacketRecorder};
use crate::packet_log::{PacketEnd, PacketLog};
use crate::rate_trace::TraceRow;

impl World {
    /// Begins a record of packets, before anything happens.
    pub(super) fn begin_packet_log(&mut self, mut log: Box<dyn PacketLog>) {
        let endpoints = self.hosts.endpoint_rows();
        log.begin(&endpoints);
        let ports = 2 * self.blueprint.links.len();
        self.recorder = Some(Box::new(PacketRecorder::new(log, endpoints.len(), ports)));
        self.out.notes.due = true;
        self.fabric.log_packets();
        self.hosts.screen_all();
        self.shares.share_nothing();
        self.record_traces();
        self.record_links();
        for endpoint in self.hosts.listening_early() {
            self.record_activity(endpoint, true);
        }
    }

    /// Whether packets are recorded, for the paths of every packet: what follows is not in them.
    #[inline(always)]
    pub(super) const fn is_recorded(&self) -> bool {
        self.recorder.is_some()
    }

    /// Writes the steps of all rates and delays that follow a trace.
    fn record_traces(&mut self) {
        let Some(recorder) = &mut self.recorder else { return };
        let end = Time::ZERO + self.blueprint.duration;
        let specs = self.blueprint.links.iter().flat_map(|link| [&link.forward, &link.backward]);
        for (spec, port) in specs.zip((0u32..).map(PortId)) {
            for (at, row) in spec.trace.iter().flat_map(|trace| trace.rows(end)) {
                match row {
                    TraceRow::Rate(rate) => {
                        recorder.link_row(port, "rate_bps", Some(rate.as_bps() as i64), at);
                    }
                    TraceRow::Opportunity(bits) => recorder.link_row(port, "opportunity", Some(bits), at),
                    TraceRow::Delay(above) => {
                        recorder.link_row(port, "trace_delay_ns", Some(above.as_nanos() as i64), at);
                    }
                }
            }
        }
    }

    /// Writes what has changed of links.
    pub(super) fn record_links(&mut self) {
        let Some(recorder) = &mut self.recorder else { return };
        for port in self.fabric.port_ids() {
            let state: LinkState = self.fabric.link_state(port);
            recorder.link(port, state, self.now);
        }
    }

    /// Writes that an endpoint starts or stops.
    pub(super) fn record_activity(&mut self, endpoint: EndpointId, starts: bool) {
        if let Some(recorder) = &mut self.recorder {
            recorder.activity(endpoint, starts, self.now);
        }
    }

    // ---- counters

    /// Takes what an endpoint or the state machine of a node recorded, and writes how its counters have changed.
    #[cold]
    #[inline(never)]
    pub(super) fn take_notes(&mut self, from: EndpointId) {
        self.accounts.take_notes(self.now, &mut self.out.notes);
        self.out.notes.due = self.recorder.is_some();
        self.record_meter(from);
    }

    /// Writes how the counters of an endpoint or the state machine of a node have changed.
    pub(super) fn record_meter(&mut self, endpoint: EndpointId) {
        let Some(recorder) = &mut self.recorder else { return };
        let hosts = &self.hosts;
        if let Some((meter, forwarder, node)) = hosts.meter(endpoint) {
            let true_time = |instant| hosts.true_time(node, instant);
            recorder.meter(endpoint, (meter, forwarder.as_ref()), self.now, true_time);
        }
    }

    /// Writes how the counters of all endpoints and state machines have changed.
    pub(super) fn record_meters(&mut self) {
        if self.recorder.is_some() {
            let all = self.hosts.endpoint_rows().len() as u32;
            (0..all).for_each(|endpoint| self.record_meter(EndpointId(endpoint)));
        }
    }

    // ---- packets

    /// The number of a packet in the record; `None` without one.
    pub(super) fn recorded_number(&mut self, id: PacketId) -> Option<u64> {
        let now = self.now;
        self.recorder.as_mut().map(|recorder| recorder.number(id, now))
    }

    /// A copy of a packet with this number in the record.
    pub(super) fn insert_copy(&mut self, packet: Packet, number: Option<u64>) -> PacketId {
        let id = self.out.arena.insert(packet);
        if let (Some(recorder), Some(number)) = (&mut self.recorder, number) {
            recorder.copy(id, number, self.now);
        }
        id
    }

    /// Records that a packet, which the state machine of a node sends on, is a copy of its input, unless it is the
    /// input.
    #[cold]
    pub(super) fn record_forwarded(&mut self, id: PacketId) {
        if let Some(recorder) = &mut self.recorder {
            let input = recorder.input;
            recorder.copy(id, input, self.now);
        }
    }

    /// Sets the packet that the state machine of a node has as its input.
    #[cold]
    pub(super) fn record_input(&mut self, id: PacketId) {
        let now = self.now;
        if let Some(recorder) = &mut self.recorder {
            recorder.input = recorder.number(id, now);
        }
    }

    /// Ends the input of a state machine.
    #[cold]
    pub(super) fn end_recorded_input(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.input = 0;
        }
    }

    /// Records an offer to a port.
    pub(super) fn record_offer(&mut self, port: PortId, id: PacketId) {
        if let Some(recorder) = &mut self.recorder {
            recorder.offer(id, port, self.out.arena.get(id), self.now);
        }
    }

    /// Records that the link of a port made a copy.
    pub(super) fn record_duplicate(&mut self, port: PortId, copy: PacketId) {
        if let Some(recorder) = &mut self.recorder {
            recorder.duplicate(copy, port, self.now);
        }
    }

    /// Records when the packet that a port accepted last is transmitted.
    #[cold]
    pub(super) fn record_transmission(&mut self, port: PortId) {
        if let Some(recorder) = &mut self.recorder
            && let Some((id, start, depart)) = self.fabric.last_transmission(port)
        {
            recorder.transmit(id, start, depart);
            recorder.look_at_mark(id, self.out.arena.get(id), self.now);
        }
    }

    /// Records that the transmissions of a port may have moved.
    pub(super) fn record_transmissions(&mut self, port: PortId) {
        let Some(recorder) = &mut self.recorder else { return };
        for (id, start, depart) in self.fabric.transmissions(port) {
            recorder.transmit(id, start, depart);
        }
    }

    /// Records that a packet may have been marked at a port.
    #[cold]
    pub(super) fn record_mark(&mut self, id: PacketId) {
        if let Some(recorder) = &mut self.recorder {
            recorder.look_at_mark(id, self.out.arena.get(id), self.now);
        }
    }

    /// Records that a packet is at the end of its link.
    pub(super) fn record_arrival(&mut self, id: PacketId) {
        if let Some(recorder) = &mut self.recorder {
            recorder.arrive(id, self.now);
        }
    }

    /// Records the end of a packet.
    #[cold]
    pub(super) fn record_end(&mut self, id: PacketId, end: PacketEnd) {
        if let Some(recorder) = &mut self.recorder {
            let packet = self.out.arena.get(id);
            let sent_at = self.hosts.true_time(packet.source.node, packet.sent_at);
            recorder.end(id, (packet, sent_at), self.now, end);
        }
    }

    /// Records that the state machine of a node took a packet.
    #[cold]
    pub(super) fn record_taken(&mut self, id: PacketId, node: NodeId) {
        if let Some(by) = self.hosts.nodes.address(node) {
            self.record_end(id, PacketEnd::Delivered(by.endpoint));
        }
    }

    /// Ends the record: counters at the end, and the packets that are in the network. `in_flight` is their number.
    pub(super) fn end_packet_log(&mut self, in_flight: u64) {
        self.record_meters();
        let Some(recorder) = &mut self.recorder else { return };
        assert_eq!(recorder.in_flight(), in_flight, "every packet of the record ends or is in flight");
        for id in recorder.places() {
            self.record_end(id, PacketEnd::InFlight);
        }
        self.recorder = None;
    }
}
