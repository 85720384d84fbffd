//! Calls of the state machine, and its output.

use std::sync::Arc;

use contract::{
    Cx, Data as DataHeader, Ecn, FaceId, FlowId, Header, NackReason, NodeCx, Packet, PortId, Router,
    RouterInput, TransitCx,
};
use units::Time;
use wire::ndn::{Interest, LinkHeader, Token};

use super::{ME, Node};
use crate::forwarder::names::Request;
use crate::forwarder::ports::{View, Waiting};
use crate::forwarder::{Frames, Peer};

impl Node {
    pub(super) fn receive_packet(
        &mut self,
        face: FaceId,
        packet: &Packet,
        now: Time,
        frames: &mut dyn Frames,
    ) {
        let input = if self.is_local(face) {
            RouterInput::Local(packet)
        } else {
            RouterInput::Packet(packet, PortId(face.0))
        };
        self.input(input, now, frames);
    }

    pub(super) fn input(&mut self, input: RouterInput<'_>, now: Time, frames: &mut dyn Frames) {
        self.latest = self.latest.max(now);
        let now = self.latest;
        let mut view = View { ports: &self.ports, now };
        let mut cx = Cx::new(now, ME, FlowId(0), &mut self.random, &mut self.meter, &mut self.out);
        self.machine.handle(input, &mut NodeCx::new(&mut cx, &mut view));
        let forwards = std::mem::take(&mut self.out.forwards);
        for &(id, port) in &forwards {
            let packet = self.take_out(id);
            self.offer(port.index(), packet, now, frames);
        }
        self.out.forwards = forwards;
        self.out.forwards.clear();
        let deliveries = std::mem::take(&mut self.out.deliveries);
        for &(id, peer) in &deliveries {
            let packet = self.take_out(id);
            self.offer(peer.index(), packet, now, frames);
        }
        self.out.deliveries = deliveries;
        self.out.deliveries.clear();
    }

    fn take_out(&mut self, id: contract::PacketId) -> Packet {
        let packet = *self.out.arena.get(id);
        self.out.arena.release(id);
        packet
    }

    /// Enqueues a packet of the state machine at a port, with the bytes that it represents.
    fn offer(&mut self, slot: usize, mut packet: Packet, now: Time, frames: &mut dyn Frames) {
        if self.ports[slot].peer.is_none() {
            return;
        }
        let face = FaceId(slot as u32);
        let (body, token, nack) = match packet.header {
            Header::Interest(interest) => {
                let body = self.table.interest(Request::of(interest.name));
                (body.map(|body| with_nonce(body, interest.nonce)), Token::default(), None)
            }
            Header::Data(data) => {
                let request = Request::of(data.name);
                let stored = || self.table.stored(request).map(|stored| Arc::clone(&stored.packet));
                let token = self.table.token(request, face);
                (self.current_data.clone().or_else(stored), token, None)
            }
            Header::Nack(nack) => {
                let request = Request::of(nack.name);
                let body = self.table.interest(request).map(|body| with_nonce(body, nack.nonce));
                (body, self.table.token(request, face), Some(nack.reason))
            }
            _ => (None, Token::default(), None),
        };
        let Some(body) = body else { return };
        let (port, observes_enqueue) = (PortId(face.0), slot < self.links && self.machine.observes_enqueue());
        if observes_enqueue {
            let view = self.ports[slot].view(port, now);
            self.machine.on_enqueue(
                &mut packet,
                &view,
                &mut TransitCx { now, port, random: &mut self.random },
            );
        }
        if let (Some(attached), true) = (&mut self.attached, slot < self.links) {
            attached.on_offer(&packet, slot);
        }
        if packet.ecn.is_unmarked() && self.ports[slot].marks() {
            packet.ecn = Ecn::Marked;
        }
        self.enqueue(slot, Waiting { packet, body, token, nack, since: now }, frames);
    }

    /// Enqueues a packet at a port if there is space, and transmits it at once if possible.
    fn enqueue(&mut self, slot: usize, waiting: Waiting, frames: &mut dyn Frames) {
        let limits = &self.settings.limits;
        let stranger = self.table.pending_counts().is_stranger(FaceId(slot as u32));
        // packets to slow strangers must not use the space of others
        let share = if stranger { limits.queue_bytes / 2 / limits.links } else { limits.queue_bytes };
        let port = &mut self.ports[slot];
        // with an empty queue it is transmitted at once, although other queues may be full
        let full = port.queued_bytes() > 0
            && (self.queued_bytes >= limits.queue_bytes || port.queued_bytes() >= share);
        if full || !port.has_room() {
            port.counts.dropped += 1;
            return;
        }
        let (since, before) = (waiting.since, port.queued_bytes());
        port.push(waiting);
        self.queued_bytes += port.queued_bytes() - before;
        self.serve(slot, since, frames);
    }

    /// Transmits packets of a port that are due.
    pub(super) fn serve(&mut self, slot: usize, now: Time, frames: &mut dyn Frames) {
        let observes = slot < self.links && self.machine.observes_dequeue();
        let before = self.ports[slot].queued_bytes();
        let mut for_app = AppFrames { inner: frames, stored: &mut self.for_apps };
        while let Some((start, mut waiting)) = self.ports[slot].next(now) {
            if observes {
                let port = PortId(slot as u32);
                let view = self.ports[slot].view(port, start);
                let waited = start.saturating_since(waiting.since);
                let mut at = TransitCx { now: start, port, random: &mut self.random };
                self.machine.on_dequeue(&mut waiting.packet, &view, waited, &mut at);
            }
            self.ports[slot].transmit(&waiting, start, &mut for_app);
        }
        self.ports[slot].arrive(now, &mut for_app);
        self.queued_bytes = self.queued_bytes - before + self.ports[slot].queued_bytes();
    }

    /// Refuses an Interest that was not passed to the state machine.
    pub(super) fn say_no(
        &mut self,
        face: FaceId,
        interest: &[u8],
        token: Token,
        reason: NackReason,
        now: Time,
        frames: &mut dyn Frames,
    ) {
        self.answer(face, interest, token, Some(reason), now, frames);
    }

    /// Sends a packet of the driver to a face.
    pub(in crate::forwarder) fn answer(
        &mut self,
        face: FaceId,
        body: &[u8],
        token: Token,
        nack: Option<NackReason>,
        now: Time,
        frames: &mut dyn Frames,
    ) {
        let nothing = DataHeader { name: contract::Name::default(), payload_bytes: 0 };
        let link = LinkHeader::default();
        let packet = self.packet(face, body.len() as u32, &link, Header::Data(nothing), now);
        let waiting = Waiting { packet, body: body.into(), token, nack, since: now };
        self.enqueue(face.index(), waiting, frames);
    }
}

/// Collects frames for applications, and sends the others.
struct AppFrames<'a> {
    inner: &'a mut dyn Frames,
    stored: &'a mut Vec<(usize, Vec<u8>)>,
}

impl Frames for AppFrames<'_> {
    fn send(&mut self, to: Peer, frame: &[u8]) -> bool {
        match to {
            Peer::App(number) => {
                self.stored.push((number, frame.to_vec()));
                true
            }
            _ => self.inner.send(to, frame),
        }
    }

    fn waiting(&mut self, to: Peer) -> u64 {
        match to {
            Peer::App(_) => 0,
            _ => self.inner.waiting(to),
        }
    }
}

/// The Interest with another nonce.
fn with_nonce(interest: &Arc<[u8]>, nonce: u32) -> Arc<[u8]> {
    let Ok(Interest { nonce: old, nonce_at: Some(at), .. }) = Interest::read(interest) else {
        return Arc::clone(interest);
    };
    if old == Some(nonce) {
        return Arc::clone(interest);
    }
    let mut changed = interest.to_vec();
    changed[at..at + 4].copy_from_slice(&nonce.to_be_bytes());
    changed.into()
}
