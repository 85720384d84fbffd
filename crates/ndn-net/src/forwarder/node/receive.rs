//! Incoming frames, and their input to the state machine.

use std::borrow::Cow;
use std::sync::Arc;

use contract::{
    Address, Data as DataHeader, Ecn, EndpointId, FaceId, FlowId, Header, Interest as InterestHeader, Nack,
    NackReason, Packet,
};
use units::{Duration, Time};
use wire::ndn::{Component, Data, Interest, LinkHeader, LinkPacket, Packet as Wire, Reason, kind};

use super::{ME, Node, neighbour};
use crate::forwarder::names::{CachedData, DOWNSTREAM, Request, Selectors};
use crate::forwarder::ports::header_bytes;
use crate::forwarder::{Frames, Peer, commands};

impl Node {
    pub(super) fn take_frame(&mut self, from: Peer, frame: &[u8], now: Time, frames: &mut dyn Frames) {
        let piece = LinkPacket::read(frame);
        // a host that does not send NDN packets gets no face
        let is_ndn = |piece: &LinkPacket<'_>| piece.count > 1 || Wire::read(piece.fragment).is_ok();
        let face = match self.find_face(from) {
            None if piece.as_ref().is_ok_and(is_ndn) => self.create_face(from, now),
            known => known,
        };
        let Some(face) = face else {
            self.strays.strangers += 1;
            return;
        };
        let port = &mut self.ports[face.index()];
        port.last_arrival = now;
        port.counts.frames_in += 1;
        port.counts.bytes_in += frame.len() as u64;
        let Ok(piece) = piece else {
            port.counts.malformed += 1;
            return;
        };
        // a reassembled packet is copied, because the buffer belongs to the port
        let (header, whole) = match port.reassembly.take(&piece, now) {
            Ok(Some((header, bytes))) if piece.count > 1 => (header, Cow::Owned(bytes.to_vec())),
            Ok(Some((header, _))) => (header, Cow::Borrowed(piece.fragment)),
            Ok(None) => return,
            Err(_) => {
                port.counts.malformed += 1;
                return;
            }
        };
        let size = (whole.len() + header_bytes(from)) as u32;
        let packet = Wire::read(&whole);
        let (Ok(Wire::Interest(Interest { name, .. })) | Ok(Wire::Data(Data { name, .. }))) = &packet else {
            self.ports[face.index()].counts.malformed += 1;
            return;
        };
        if name.components().nth(MAX_COMPONENTS).is_some() {
            self.strays.long_names += 1;
            return;
        }
        match packet {
            Ok(Wire::Interest(interest)) if header.nack.is_some() => {
                self.take_nack(face, &interest, &header, size, now, frames);
            }
            Ok(Wire::Interest(interest)) => {
                self.take_interest(face, &interest, (&whole, &header, size), now, frames);
            }
            Ok(Wire::Data(data)) => self.take_data(face, &data, &header, size, now, frames),
            Err(_) => {}
        }
    }

    fn take_interest(
        &mut self,
        face: FaceId,
        interest: &Interest<'_>,
        (bytes, header, size): (&[u8], &LinkHeader, u32),
        now: Time,
        frames: &mut dyn Frames,
    ) {
        if commands::is_ours(interest.name) {
            return self.take_command(face, interest, header, now, frames);
        }
        let stays = commands::stays_on_host(interest.name) && !self.is_local(face);
        if interest.hop_limit == Some(0) || stays {
            self.strays.out_of_scope += 1;
            return;
        }
        let nonce = interest.nonce.unwrap_or_else(|| (self.random.bits() >> 32) as u32);
        let way = Selectors { can_be_prefix: interest.can_be_prefix, must_be_fresh: interest.must_be_fresh };
        let machine = &self.machine;
        let needed = |name| machine.pit().find(name).is_some() || machine.holds(name);
        let known = self.table.find(interest.name.bytes()).map(|slot| Request { slot, way });
        if self.is_crowded(face) && !known.is_some_and(|request| self.table.is_waiting(request, face)) {
            self.strays.crowded += 1;
            return self.refuse(face, bytes, header, now, frames);
        }
        let slot = self.table.open(interest.name.bytes(), bytes.len() + 8 + DOWNSTREAM, needed);
        let slot = slot.filter(|slot| {
            let room = self.machine.pit().len() < self.settings.limits.pending;
            room || self.pending(Request { slot: *slot, way })
        });
        let Some(slot) = slot else {
            self.strays.full += 1;
            return self.refuse(face, bytes, header, now, frames);
        };
        let request = Request { slot, way };
        if self.table.routed_by(slot) != self.routes.state() {
            let machine = &self.machine;
            // a pending name keeps its prefix in the state machine
            if !self.table.is_needed(slot, |name| machine.pit().find(name).is_some()) {
                self.table.route(slot, self.routes.find(interest.name), self.routes.state());
            }
        }
        let Some(name) = self.table.name(request) else { return };
        let lifetime = self.settings.limits.lifetime.as_nanos() / 1_000_000;
        let lifetime_ms = interest.lifetime_ms_or_default().min(lifetime) as u32;
        let until = now + Duration::from_millis(u64::from(lifetime_ms));
        self.table.add_downstream(request, onward(interest, bytes, nonce), face, header.token, until);
        if way.must_be_fresh && self.table.stored(request).is_some_and(|stored| stored.fresh_until <= now) {
            self.machine.forget(name);
        }
        let header_in = Header::Interest(InterestHeader { name, nonce, lifetime_ms });
        let packet = self.packet(face, size, header, header_in, now);
        self.receive_packet(face, &packet, now, frames);
        let pit = self.machine.pit();
        match pit.find(name) {
            None => self.table.remove_downstreams(request),
            // refused, but other downstreams wait for it
            Some(pending) if pit.ins(pending).all(|record| record.face != face.0) => {
                self.table.not_taken(request, face);
            }
            Some(_) => {}
        }
    }

    /// Whether a face has reached its limit of pending requests, or is a stranger and all strangers have reached
    /// theirs.
    fn is_crowded(&self, face: FaceId) -> bool {
        let (limits, pending_counts) = (&self.settings.limits, self.table.pending_counts());
        pending_counts.of(face) >= limits.pending_face
            || pending_counts.is_stranger(face) && pending_counts.of_strangers() >= limits.pending_strangers
    }

    /// Refuses an Interest because a limit is reached.
    fn refuse(
        &mut self,
        face: FaceId,
        bytes: &[u8],
        header: &LinkHeader,
        now: Time,
        frames: &mut dyn Frames,
    ) {
        self.ports[face.index()].counts.refused += 1;
        self.say_no(face, bytes, header.token, NackReason::Congestion, now, frames);
    }

    fn take_data(
        &mut self,
        face: FaceId,
        data: &Data<'_>,
        header: &LinkHeader,
        size: u32,
        now: Time,
        frames: &mut dyn Frames,
    ) {
        let mut matches = std::mem::take(&mut self.matches);
        matches.clear();
        self.find_requests(data, &mut matches);
        if matches.is_empty() || commands::stays_on_host(data.name) && !self.is_local(face) {
            self.strays.unsolicited += 1;
            self.matches = matches;
            return;
        }
        let packet: Arc<[u8]> = data.packet().into();
        for &request in &matches {
            let Some(name) = self.table.name(request) else { continue };
            self.current_data = Some(Arc::clone(&packet));
            let inner = Header::Data(DataHeader { name, payload_bytes: data.content.len() as u32 });
            let wrapped = self.packet(face, size, header, inner, now);
            self.receive_packet(face, &wrapped, now, frames);
            self.current_data = None;
            if header.cache_policy.is_some() {
                self.machine.forget(name);
            }
            let fresh_until = now + Duration::from_millis(data.freshness_ms.min(1 << 40));
            let stored = CachedData { packet: Arc::clone(&packet), fresh_until };
            if self.machine.holds(name) {
                if self.table.stored(request).is_none() {
                    self.stored.push_back(request);
                }
                self.table.keep(request, Some(stored));
                self.forget_contents();
                self.make_room();
            }
            if !self.pending(request) {
                self.table.remove_downstreams(request);
            }
        }
        self.matches = matches;
    }

    /// Removes Data that the state machine's content store has evicted. Each stored packet is checked from time to
    /// time, so that few others are kept.
    fn forget_contents(&mut self) {
        let max = self.settings.store.size as usize + SPARE_CONTENTS;
        let mut observes = 4;
        while self.stored.len() > max && observes > 0 {
            observes -= 1;
            let Some(request) = self.stored.pop_front() else { return };
            let name = self.table.name(request);
            if self.table.stored(request).is_none() {
                continue;
            }
            if name.is_some_and(|name| self.machine.holds(name)) {
                self.stored.push_back(request);
            } else {
                self.table.keep(request, None);
            }
        }
    }

    /// Removes stored Data, the oldest first, while they exceed their limit of bytes.
    fn make_room(&mut self) {
        while self.table.keeps_too_much() {
            let Some(request) = self.stored.pop_front() else { return };
            if let Some(name) = self.table.name(request).filter(|_| self.table.stored(request).is_some()) {
                self.machine.forget(name);
                self.table.keep(request, None);
            }
        }
    }

    /// The pending requests that Data of this name answer.
    fn find_requests(&self, data: &Data<'_>, found: &mut Vec<Request>) {
        let mut check = |name: &[u8], whole: bool| {
            let Some(slot) = self.table.find(name) else { return };
            let directions = Selectors::ALL.into_iter().filter(|way| whole || way.can_be_prefix);
            let requests = directions.map(|way| Request { slot, way });
            found.extend(requests.filter(|request| self.pending(*request)));
        };
        check(data.name.bytes(), true);
        let mut at = data.name;
        while let Some((above, _)) = at.split_last() {
            check(above.bytes(), false);
            at = above;
        }
        if self.table.has_digests() {
            let mut full = data.name.to_name();
            let digest = data.implicit_digest();
            full.push(Component { kind: kind::IMPLICIT_DIGEST, value: &digest });
            check(full.view().bytes(), true);
        }
    }

    fn pending(&self, request: Request) -> bool {
        self.table.name(request).is_some_and(|name| self.machine.pit().find(name).is_some())
    }

    fn take_nack(
        &mut self,
        face: FaceId,
        interest: &Interest<'_>,
        header: &LinkHeader,
        size: u32,
        now: Time,
        frames: &mut dyn Frames,
    ) {
        let way = Selectors { can_be_prefix: interest.can_be_prefix, must_be_fresh: interest.must_be_fresh };
        let request = self.table.find(interest.name.bytes()).map(|slot| Request { slot, way });
        let name =
            request.filter(|request| self.pending(*request)).and_then(|request| self.table.name(request));
        let (Some(name), Some(nonce)) = (name, interest.nonce) else {
            self.strays.stale_nacks += 1;
            return;
        };
        // an unknown reason counts as the most severe one                                         [NFD: NACK reasons]
        let reason = header.nack.and_then(Reason::known).unwrap_or(NackReason::NoRoute);
        let packet = self.packet(face, size, header, Header::Nack(Nack { name, nonce, reason }), now);
        self.receive_packet(face, &packet, now, frames);
        if let Some(request) = request.filter(|request| !self.pending(*request)) {
            self.table.remove_downstreams(request);
        }
    }

    /// A packet in the form of the state machine.
    pub(super) fn packet(
        &self,
        face: FaceId,
        size: u32,
        link: &LinkHeader,
        header: Header,
        now: Time,
    ) -> Packet {
        let source = if self.is_local(face) {
            Address { node: ME.node, endpoint: EndpointId(face.0) }
        } else {
            neighbour(face.0)
        };
        Packet {
            flow: FlowId(face.0),
            size_bytes: size,
            source,
            to: ME.into(),
            sent_at: now,
            label: link.label,
            header,
            ecn: if link.mark > 0 { Ecn::Marked } else { Ecn::Capable },
            hops: 0,
            waited: Default::default(),
        }
    }
}

/// The Interest as it is forwarded: with a nonce, and a hop limit reduced by one.
fn onward(interest: &Interest<'_>, bytes: &[u8], nonce: u32) -> Arc<[u8]> {
    if interest.nonce_at.is_none() {
        let hop_limit = interest.hop_limit.map(|hops| hops.saturating_sub(1));
        let mut out = Vec::with_capacity(bytes.len() + 8);
        Interest { nonce: Some(nonce), hop_limit, ..*interest }.write(&mut out);
        return out.into();
    }
    let mut onward: Arc<[u8]> = bytes.into();
    if let (Some(at), Some(hops), Some(onward)) =
        (interest.hop_limit_at, interest.hop_limit, Arc::get_mut(&mut onward))
    {
        onward[at] = hops.saturating_sub(1);
    }
    onward
}

/// Contents beyond those that the store holds.
const SPARE_CONTENTS: usize = 64;
/// Components of the longest name: each prefix of a name is looked up. Our choice: twice the depth of NFD's tables.
const MAX_COMPONENTS: usize = 64;
