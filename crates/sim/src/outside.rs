//! Where a world meets what is outside of it: time that somebody else tells, packets of real programs, and whoever looks at a link.
//!
//! A simulation uses none of this but [`World::tap`]. Packets of real programs are ordinary packets whose bytes stay in a slab
//! beside; their endpoints are [`World::custom_sender`]s that hand them out by [`contract::Cx::hand_out`].

use contract::{
    Address, Cx, Destination, Ecn, FlowId, Header, Label, LinkId, Outward, Packet, PacketId, ParcelId,
    PeerId, PortId,
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

/// Bytes of packets from outside, by the number that their headers carry. Nothing is allocated once it has grown to what is
/// under way.
#[derive(Debug, Default)]
pub struct Parcels {
    slots: Vec<Vec<u8>>,
    free: Vec<ParcelId>,
}

impl Parcels {
    /// Keeps a copy of `bytes`.
    pub fn insert(&mut self, bytes: &[u8]) -> ParcelId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Vec::with_capacity(bytes.len()));
            ParcelId(u32::try_from(self.slots.len() - 1).expect("fewer than 2³² packets in flight"))
        });
        let slot = &mut self.slots[id.index()];
        slot.clear();
        slot.extend_from_slice(bytes);
        id
    }

    /// The bytes of a packet that is under way.
    pub fn get(&self, id: ParcelId) -> &[u8] {
        &self.slots[id.index()]
    }

    /// The bytes of a packet that is under way, to be changed.
    pub fn get_mut(&mut self, id: ParcelId) -> &mut [u8] {
        &mut self.slots[id.index()]
    }

    /// Forgets them. The number must be in use.
    pub fn release(&mut self, id: ParcelId) {
        self.free.push(id);
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
            state.receivers.clone().map(|index| self.peers[self.receivers[index].peer.index()].address);
        (self.peers[state.sender.index()].address, receivers.collect())
    }

    /// A packet of a program outside enters the network now at the endpoint `from`, on its way to the endpoint `to`.
    pub fn enter(&mut self, from: Address, to: Address, ecn: Ecn, bytes: &[u8]) {
        let peer = &mut self.peers[from.peer.index()];
        let packet = Packet {
            flow: peer.flow,
            size_bytes: bytes.len() as u32,
            source: from,
            to: Destination::from(to),
            sent_at: self.now,
            label: Label::default(),
            header: Header::Foreign(self.parcels.insert(bytes)),
            ecn,
            hops: 0,
        };
        peer.tally.sent_packets += 1;
        peer.tally.sent_bytes += bytes.len() as u64;
        self.balance.sent += 1;
        let id = self.out.arena.insert(packet);
        self.forward(from.node, id);
    }

    /// What was handed out since this was last asked is put at the end of `list`. Whoever takes a packet releases its parcel.
    pub fn take_outward(&mut self, list: &mut Vec<Outward>) {
        list.append(&mut self.out.outward);
    }

    /// Bytes of packets from outside.
    pub fn parcels(&mut self) -> &mut Parcels {
        &mut self.parcels
    }

    /// Lets an endpoint's driver speak in its name: count, probe, deliver, complete. `at` may be a little in the past.
    pub fn speak_for(&mut self, peer: PeerId, at: Time, say: impl FnOnce(&mut Cx<'_>)) {
        let state = &mut self.peers[peer.index()];
        let at = at.min(self.now);
        let mut cx =
            Cx::new(at, state.address, state.flow, &mut state.random, &mut state.meter, &mut self.out);
        say(&mut cx);
        self.after(peer.index());
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
    pub fn untap(&mut self) -> Option<Box<dyn Tap>> {
        self.tap.take()
    }

    #[cold]
    pub(crate) fn show_passing(&mut self, port: PortId, id: PacketId) {
        let packet = self.out.arena.get(id);
        let bytes = match packet.header {
            Header::Foreign(parcel) => Some(self.parcels.get(parcel)),
            _ => None,
        };
        if let Some(tap) = &mut self.tap {
            tap.pass(self.now, port, packet, bytes);
        }
    }
}
