//! Emulation: a world driven by a real clock, with packets of real programs and captures.
//!
//! A simulation uses only [`World::tap`] of this module. Packets of real programs are ordinary packets whose bytes are
//! in a separate slab. Their endpoints are [`World::custom_sender`]s that pass them to the driver by
//! [`contract::Cx::egress`].

use contract::{
    Address, Cx, Destination, Ecn, Egress, Endpoint, EndpointId, FlowId, Header, Label, LinkId, Meter,
    NodeId, Packet, PayloadId, PortId, Random,
};
use stack::log::Log;
use units::Time;

use super::{Control, Phase, Stop, World};
use crate::agenda::{AgendaEvent, Kind};
use crate::build;
use crate::fabric::both;

/// What is shown the packets and the congestion controllers of a run.
#[derive(Default)]
pub struct Observers {
    /// Links, and the capture of the packets that pass them.
    pub tap: Option<(Vec<LinkId>, Box<dyn Tap>)>,
    /// Flows, and the logs of their congestion controllers.
    pub logs: Vec<(FlowId, Log)>,
}

/// A packet capture: sees the packets that arrive at the end of a link.
pub trait Tap: Send {
    /// Called when `packet` arrives at the end of `port`'s link. `bytes` is the content of a packet of a real program.
    fn pass(&mut self, at: Time, port: PortId, packet: &Packet, bytes: Option<&[u8]>);
}

/// Payloads of packets of real programs, by the number in their headers. Copies of a packet for the branches of a tree
/// share a payload. There is no allocation once the memory suffices for all packets in flight.
#[derive(Debug, Default)]
pub struct ExternalPayloads {
    slots: Vec<ExternalPayload>,
    free: Vec<PayloadId>,
}

#[derive(Debug)]
struct ExternalPayload {
    bytes: Vec<u8>,
    /// Number of packets in flight with a payload.
    holders: usize,
}

impl ExternalPayloads {
    /// Stores a copy of `bytes` for one packet.
    pub fn insert(&mut self, bytes: &[u8]) -> PayloadId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.slots.push(ExternalPayload { bytes: Vec::with_capacity(bytes.len()), holders: 0 });
            PayloadId(u32::try_from(self.slots.len() - 1).expect("fewer than 2³² packets in flight"))
        });
        let slot = &mut self.slots[id.index()];
        slot.bytes.clear();
        slot.bytes.extend_from_slice(bytes);
        slot.holders = 1;
        id
    }

    /// The payload of a packet in flight.
    pub fn get(&self, id: PayloadId) -> &[u8] {
        &self.slots[id.index()].bytes
    }

    /// Adds `more` packets that share a payload, which must exist.
    pub(super) fn share(&mut self, id: PayloadId, more: usize) {
        self.slots[id.index()].holders += more;
    }

    /// Releases the payload for one packet, and removes it after the last. It must exist.
    pub fn release(&mut self, id: PayloadId) {
        let holders = &mut self.slots[id.index()].holders;
        debug_assert!(*holders > 0, "bytes are released once by each packet that has them");
        *holders -= 1;
        if *holders == 0 {
            self.free.push(id);
        }
    }

    /// Number of payloads.
    pub fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

/// The state that a world keeps for its driver.
#[derive(Default)]
pub(super) struct External {
    /// Payloads of packets of real programs.
    pub(super) payloads: ExternalPayloads,
    /// The capture of links.
    tap: Option<Box<dyn Tap>>,
}

impl External {
    /// Shows a packet that has arrived at the end of `port`'s link to the capture.
    #[cold]
    pub(super) fn capture(&mut self, now: Time, port: PortId, packet: &Packet) {
        let bytes = match packet.header {
            Header::External(payload) => Some(self.payloads.get(payload)),
            _ => None,
        };
        if let Some(tap) = &mut self.tap {
            tap.pass(now, port, packet, bytes);
        }
    }
}

impl World {
    /// Handles all events up to and including `at`, each at its own instant, and advances the clock to `at`. Returns
    /// true if the run has ended or is paused.
    pub fn run_until(&mut self, at: Time, control: &Control) -> bool {
        let at = at.max(self.now);
        while self.phase != Phase::Ended {
            if self.phase == Phase::Running && self.agenda.next() > at {
                self.now = at;
                return false;
            }
            // this event is after all others of its instant, so that the event loop is the same as in simulations
            self.agenda.push(at, AgendaEvent::new(Kind::Run, build::RUN_UNTIL as u32));
            if self.proceed(control) != Stop::Reached {
                return true;
            }
        }
        true
    }

    /// The time of the next event; [`Time::NEVER`] if no event is left.
    pub fn next_event(&self) -> Time {
        self.agenda.next()
    }

    /// The current time of the run.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Packets put on links up to now.
    pub fn packet_hops(&self) -> u64 {
        self.accounts.packet_hops()
    }

    /// The addresses of a flow's sender and receivers.
    pub fn ends(&self, flow: FlowId) -> (Address, Vec<Address>) {
        let receivers = self.hosts.receivers_of(flow).map(|receiver| self.hosts.receiver(receiver).1);
        let addresses = receivers.map(|endpoint| self.hosts.address(endpoint)).collect();
        (self.hosts.address(self.hosts.sender_of(flow)), addresses)
    }

    /// The address of an endpoint.
    pub fn address_of(&self, endpoint: EndpointId) -> Address {
        self.hosts.address(endpoint)
    }

    /// A packet of a real program enters the network now at the endpoint `from`, for an endpoint or a group.
    pub fn inject_external(&mut self, from: Address, to: Destination, ecn: Ecn, bytes: &[u8]) {
        let packet = Packet {
            flow: self.hosts.endpoint(from.endpoint).flow(),
            size_bytes: bytes.len() as u32,
            source: from,
            to,
            sent_at: self.now,
            label: Label::default(),
            header: Header::External(self.external.payloads.insert(bytes)),
            ecn,
            hops: 0,
            waited: Default::default(),
        };
        self.inject(packet);
    }

    /// A packet of an endpoint that runs in the driver enters the network now at its source. It is not changed.
    pub fn inject(&mut self, packet: Packet) {
        self.hosts.endpoint(packet.source.endpoint).count_sent(packet.size_bytes);
        self.accounts.count_sent();
        let id = self.out.arena.insert(packet);
        match packet.to.as_group() {
            None => self.forward(packet.source.node, (packet.to, packet.flow), id),
            Some(group) => self.replicate(packet.source.node, group, id),
        }
    }

    /// The address of the state machine of a node, such as a name router; `None` if the node has none.
    pub fn node_address(&self, node: NodeId) -> Option<Address> {
        self.hosts.nodes.address(node)
    }

    /// Appends the egress events since the last call to `list`. The driver releases the payload of each packet.
    pub fn take_egress(&mut self, list: &mut Vec<Egress>) {
        list.append(&mut self.out.egress);
    }

    /// Payloads of packets of real programs.
    pub fn external_payloads(&mut self) -> &mut ExternalPayloads {
        &mut self.external.payloads
    }

    /// Reports counts, probes, deliveries or completion for an endpoint that runs in the driver. `at` may be slightly
    /// in the past.
    pub fn report_for(&mut self, endpoint: EndpointId, at: Time, report: impl FnOnce(&mut Cx<'_>)) {
        let at = at.min(self.now);
        let (state, machines) = self.hosts.running(endpoint);
        state.report(at, machines, &mut self.out, report);
        self.after(endpoint);
    }

    /// Adds the counts of an endpoint that runs in the driver since the last call.
    pub fn add_meter(&mut self, endpoint: EndpointId, more: &Meter) {
        self.hosts.endpoint(endpoint).add_meter(more);
    }

    /// A built-in endpoint, or one of a transport stack, in its initial state, and its random stream. The driver runs
    /// it, while a [`World::custom_sender`] or [`World::custom_receiver`] replaces it in the world.
    pub fn detached_endpoint(&mut self, endpoint: EndpointId) -> (Box<dyn Endpoint + Send>, Random) {
        self.hosts.detached(endpoint, &self.blueprint)
    }

    /// Begins captures and logs. Call it before the run.
    pub fn observe(&mut self, observers: Observers) {
        if let Some((links, tap)) = observers.tap {
            self.tap(&links, tap);
        }
        for (flow, log) in observers.logs {
            self.log(flow, log);
        }
    }

    /// Captures all packets on `links` in both directions by `tap`. Call it before the run.
    pub fn tap(&mut self, links: &[LinkId], tap: Box<dyn Tap>) {
        links.iter().flat_map(|link| both(*link)).for_each(|port| self.fabric.port(port).tap());
        self.external.tap = Some(tap);
    }

    /// Ends the capture and returns it; its files are closed when it is dropped.
    pub fn take_tap(&mut self) -> Option<Box<dyn Tap>> {
        self.external.tap.take()
    }
}
