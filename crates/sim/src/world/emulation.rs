//! Emulation: a world driven by a real clock, with packets of real programs and captures.
//!
//! A simulation uses only [`World::tap`] of this module. Packets of real programs are ordinary packets whose bytes are in a separate slab. Their
//! endpoints are [`World::custom_sender`]s that pass them to the driver by [`contract::Cx::egress`].

use contract::{
    Address, Cx, Destination, Ecn, Egress, Endpoint, EndpointId, FlowId, Header, Label, LinkId, Meter,
    NodeId, Packet, PayloadId, PortId, Random,
};
use units::Time;

use super::{Control, Phase, Stop, World};
use crate::agenda::{Kind, What};
use crate::build;
use crate::fabric::both;

/// A packet capture: sees the packets that come to the end of a link.
pub trait Tap: Send {
    /// `packet` has come to the end of `port`'s wire; `bytes` are its own where it is a real program's.
    fn pass(&mut self, at: Time, port: PortId, packet: &Packet, bytes: Option<&[u8]>);
}

/// Payloads of packets of real programs, by the number that their headers carry. Copies of a packet for the branches of a tree share them.
/// Nothing is allocated once it has grown to what is under way.
#[derive(Debug, Default)]
pub struct ExternalPayloads {
    slots: Vec<ExternalPayload>,
    free: Vec<PayloadId>,
}

#[derive(Debug)]
struct ExternalPayload {
    bytes: Vec<u8>,
    /// Packets under way that have them.
    holders: usize,
}

impl ExternalPayloads {
    /// Keeps a copy of `bytes`, for one packet.
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

    /// The bytes of a packet that is under way.
    pub fn get(&self, id: PayloadId) -> &[u8] {
        &self.slots[id.index()].bytes
    }

    /// This many packets more have these bytes. The number must be in use.
    pub(super) fn share(&mut self, id: PayloadId, more: usize) {
        self.slots[id.index()].holders += more;
    }

    /// A packet has them no longer; the last one's are forgotten. The number must be in use.
    pub fn release(&mut self, id: PayloadId) {
        let holders = &mut self.slots[id.index()].holders;
        debug_assert!(*holders > 0, "bytes are released once by each packet that has them");
        *holders -= 1;
        if *holders == 0 {
            self.free.push(id);
        }
    }

    /// How many are kept.
    pub fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

/// What a world keeps for its driver.
#[derive(Default)]
pub(super) struct External {
    /// Payloads of packets of real programs.
    pub(super) payloads: ExternalPayloads,
    /// Sees what passes the links that are captured.
    tap: Option<Box<dyn Tap>>,
}

impl External {
    /// Shows the capture a packet that has come to the end of `port`'s link.
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
    /// Handles all that is due by `at`, each at its own instant, and brings the clock to `at`. True when the run is over or waits
    /// to go on.
    pub fn run_until(&mut self, at: Time, control: &Control) -> bool {
        let at = at.max(self.now);
        while self.phase != Phase::Ended {
            if self.phase == Phase::Running && self.agenda.next() > at {
                self.now = at;
                return false;
            }
            // an event behind all others of its instant, so that the loop of simulations is the only one
            self.agenda.push(at, What::new(Kind::Run, build::RUN_UNTIL as u32));
            if self.proceed(control) != Stop::Reached {
                return true;
            }
        }
        true
    }

    /// When the next event is due; never when nothing is left.
    pub fn next_event(&self) -> Time {
        self.agenda.next()
    }

    /// The present instant of the run.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Packets put on links so far.
    pub fn packet_hops(&self) -> u64 {
        self.accounts.packet_hops()
    }

    /// Where a flow's sender and its receivers are.
    pub fn ends(&self, flow: FlowId) -> (Address, Vec<Address>) {
        let receivers = &self.hosts.receivers[self.hosts.receivers_of(flow)];
        let addresses = receivers.iter().map(|receiver| self.hosts.address(receiver.endpoint)).collect();
        (self.hosts.address(self.hosts.sender_of(flow)), addresses)
    }

    /// Where an endpoint is.
    pub fn address_of(&self, endpoint: EndpointId) -> Address {
        self.hosts.address(endpoint)
    }

    /// A packet of a real program enters the network now at the endpoint `from`, on its way to an endpoint or a group.
    pub fn inject_external(&mut self, from: Address, to: Destination, ecn: Ecn, bytes: &[u8]) {
        let packet = Packet {
            flow: self.hosts.endpoint(from.endpoint).flow,
            size_bytes: bytes.len() as u32,
            source: from,
            to,
            sent_at: self.now,
            label: Label::default(),
            header: Header::External(self.external.payloads.insert(bytes)),
            ecn,
            hops: 0,
        };
        self.inject(packet);
    }

    /// A packet of an endpoint that its driver runs enters the network now, where its source is. Nothing in it is changed.
    pub fn inject(&mut self, packet: Packet) {
        self.hosts.endpoint(packet.source.endpoint).count_sent(packet.size_bytes);
        self.accounts.count_sent();
        let id = self.out.arena.insert(packet);
        match packet.to.as_group() {
            None => self.forward(packet.source.node, id),
            Some(group) => self.replicate(packet.source.node, group, id),
        }
    }

    /// The address of the state machine of a node, such as a router that knows names; `None` where the node has none.
    pub fn node_address(&self, node: NodeId) -> Option<Address> {
        self.hosts.nodes.address(node)
    }

    /// Moves the egress events since the last call to the end of `list`. The driver releases the payload of each packet.
    pub fn take_egress(&mut self, list: &mut Vec<Egress>) {
        list.append(&mut self.out.egress);
    }

    /// Payloads of packets of real programs.
    pub fn external_payloads(&mut self) -> &mut ExternalPayloads {
        &mut self.external.payloads
    }

    /// Lets an endpoint's driver report in its name: count, probe, deliver, complete. `at` may be a little in the past.
    pub fn report_for(&mut self, endpoint: EndpointId, at: Time, report: impl FnOnce(&mut Cx<'_>)) {
        let at = at.min(self.now);
        report(&mut self.hosts.endpoint(endpoint).cx(at, &mut self.out));
        self.after(endpoint);
    }

    /// Adds what an endpoint that its driver runs has counted since this was last called.
    pub fn add_meter(&mut self, endpoint: EndpointId, more: &Meter) {
        self.hosts.endpoint(endpoint).meter.add(more);
    }

    /// A built-in endpoint as it is when its flow starts, and its stream of random numbers: to be run by the driver, while a
    /// [`World::custom_sender`] or [`World::custom_receiver`] stands in its place.
    pub fn detached_endpoint(&self, endpoint: EndpointId) -> (Box<dyn Endpoint + Send>, Random) {
        let state = &self.hosts.endpoints()[endpoint.index()];
        let receiver = self.hosts.receivers.iter().position(|receiver| receiver.endpoint == endpoint);
        let detached = match receiver {
            Some(receiver) => self.hosts.built_in_receiver(receiver, &self.blueprint),
            None => self.hosts.built_in_sender(state.flow, &self.blueprint),
        };
        (Box::new(self.hosts.clocks.wrap(state.address.node, detached)), state.random.clone())
    }

    /// Shows `tap` all that passes `links`, in both directions. Call before the run.
    pub fn tap(&mut self, links: &[LinkId], tap: Box<dyn Tap>) {
        links.iter().flat_map(|link| both(*link)).for_each(|port| self.fabric.port(port).tap());
        self.external.tap = Some(tap);
    }

    /// Ends the capture and returns it: its files are closed when it is dropped.
    pub fn take_tap(&mut self) -> Option<Box<dyn Tap>> {
        self.external.tap.take()
    }
}
