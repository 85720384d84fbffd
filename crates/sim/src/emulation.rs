//! Where a world meets what is outside of it: time that somebody else tells, packets of real programs, and whoever looks at a link.
//!
//! A simulation uses none of this but [`World::tap`]. Packets of real programs are ordinary packets whose bytes stay in a slab
//! beside; their endpoints are [`World::custom_sender`]s that hand them out by [`contract::Cx::egress`].

use contract::{
    Address, Cx, Destination, Ecn, Egress, Endpoint, EndpointId, FlowId, Header, Label, LinkId, Meter,
    NodeId, Packet, PacketId, PayloadId, PortId, Random,
};
use units::Time;

use crate::agenda::{Kind, What};
use crate::build;
use crate::world::{Control, World};

/// Sees the packets that come to the end of a link.
pub trait Tap: Send {
    /// `packet` has come to the end of `port`'s wire; `bytes` are its own where it is of a program outside.
    fn pass(&mut self, at: Time, port: PortId, packet: &Packet, bytes: Option<&[u8]>);
}

/// Bytes of packets from outside, by the number that their headers carry. Copies of a packet for the branches of a tree share them.
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

    /// So many packets more have these bytes. The number must be in use.
    pub(crate) fn share(&mut self, id: PayloadId, more: usize) {
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

impl World {
    /// Handles all that is due by `at`, each at its own instant, and brings the clock to `at`. True when the run is over or waits
    /// to go on.
    pub fn run_until(&mut self, at: Time, control: &Control) -> bool {
        let at = at.max(self.now);
        while !self.finished || self.paused {
            if !self.paused && self.agenda.next() > at {
                self.now = at;
                return false;
            }
            // an event behind all others of its instant, so that the loop of simulations is the only one
            self.agenda.push(at, What::new(Kind::Run, build::RUN_UNTIL as u32));
            self.run(control);
            if !std::mem::take(&mut self.arrived) {
                return true;
            }
            self.finished = false;
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
        self.hops
    }

    /// Where a flow's sender and its receivers are.
    pub fn ends(&self, flow: FlowId) -> (Address, Vec<Address>) {
        let state = &self.flows[flow.index()];
        let receivers =
            state.receivers.clone().map(|index| self.peers[self.receivers[index].endpoint.index()].address);
        (self.peers[state.sender.index()].address, receivers.collect())
    }

    /// Where an endpoint is.
    pub fn address_of(&self, peer: EndpointId) -> Address {
        self.peers[peer.index()].address
    }

    /// A packet of a program outside enters the network now at the endpoint `from`, on its way to an endpoint or a group.
    pub fn inject_external(&mut self, from: Address, to: Destination, ecn: Ecn, bytes: &[u8]) {
        let packet = Packet {
            flow: self.peers[from.endpoint.index()].flow,
            size_bytes: bytes.len() as u32,
            source: from,
            to,
            sent_at: self.now,
            label: Label::default(),
            header: Header::External(self.payloads.insert(bytes)),
            ecn,
            hops: 0,
        };
        self.inject(packet);
    }

    /// A packet of a machine that runs outside enters the network now, where its source is: an endpoint. Nothing in it is changed.
    pub fn inject(&mut self, packet: Packet) {
        let tally = &mut self.peers[packet.source.endpoint.index()].tally;
        tally.sent_packets += 1;
        tally.sent_bytes += u64::from(packet.size_bytes);
        self.balance.sent += 1;
        let id = self.out.arena.insert(packet);
        match packet.to.as_group() {
            None => self.forward(packet.source.node, id),
            Some(group) => self.replicate(packet.source.node, group, id),
        }
    }

    /// The address of the machine that runs a node, such as a router that knows names; `None` where nothing but endpoints can be spoken to.
    pub fn node_address(&self, node: NodeId) -> Option<Address> {
        self.nodes.address(node)
    }

    /// What was handed out since this was last asked is put at the end of `list`. Whoever takes a packet releases its payload.
    pub fn take_egress(&mut self, list: &mut Vec<Egress>) {
        list.append(&mut self.out.egress);
    }

    /// Bytes of packets from outside.
    pub fn external_payloads(&mut self) -> &mut ExternalPayloads {
        &mut self.payloads
    }

    /// Lets an endpoint's driver speak in its name: count, probe, deliver, complete. `at` may be a little in the past.
    pub fn report_for(&mut self, peer: EndpointId, at: Time, say: impl FnOnce(&mut Cx<'_>)) {
        let state = &mut self.peers[peer.index()];
        let at = at.min(self.now);
        let mut cx =
            Cx::new(at, state.address, state.flow, &mut state.random, &mut state.meter, &mut self.out);
        say(&mut cx);
        self.after(peer.index());
    }

    /// Adds what an endpoint's machine has counted outside since this was last said.
    pub fn add_meter(&mut self, peer: EndpointId, more: &Meter) {
        self.peers[peer.index()].meter.add(more);
    }

    /// A machine of the house for an endpoint, as it is when its flow starts, and its stream of random numbers: to be run outside,
    /// while a [`World::custom_sender`] or [`World::custom_receiver`] stands in its place.
    pub fn detached_endpoint(&self, peer: EndpointId) -> (Box<dyn Endpoint + Send>, Random) {
        let state = &self.peers[peer.index()];
        let receiver = self.receivers.iter().position(|receiver| receiver.endpoint == peer);
        let machine = match receiver {
            Some(receiver) => self.house_receiver(receiver),
            None => self.house_sender(state.flow),
        };
        (Box::new(self.clocked(state.address.node, machine)), state.random.clone())
    }

    /// Shows `tap` all that passes `links`, in both directions. Call before the run.
    pub fn tap(&mut self, links: &[LinkId], tap: Box<dyn Tap>) {
        for link in links {
            for port in &mut self.ports[2 * link.index()..2 * link.index() + 2] {
                port.cold.tapped = true;
                port.rewatch();
            }
        }
        self.tap = Some(tap);
    }

    /// Takes back who looks on: its files are closed when it is dropped.
    pub fn take_tap(&mut self) -> Option<Box<dyn Tap>> {
        self.tap.take()
    }

    #[cold]
    pub(crate) fn show_passing(&mut self, port: PortId, id: PacketId) {
        let packet = self.out.arena.get(id);
        let bytes = match packet.header {
            Header::External(payload) => Some(self.payloads.get(payload)),
            _ => None,
        };
        if let Some(tap) = &mut self.tap {
            tap.pass(self.now, port, packet, bytes);
        }
    }
}
