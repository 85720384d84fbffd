//! Actions of a forwarder's parts: the tables and queues behind [`StrategyCx`] and [`LinkCx`].

use std::sync::Arc;

use contract::{
    Admission, Ecn, FaceId, FaceView, FlowId, Header, InRecord, Interest, InterestQueueId, InterestQueueView,
    LinkAlgorithm, LinkCx, Nack, NackReason, Name, Names, NodeCx, NodeId, OutRecord, Packet, Pending, Random,
    SendResult, StrategyCx, Transit,
};
use units::{Bytes, Duration, Time};

use super::Config;
use super::counters::{Counters, Tally};
use super::faces::Faces;
use super::interest_queues::{Held, InterestQueues};
use super::nonces::DeadNonces;
use super::pit::Pit;
use super::store::ContentStore;

/// The state of a forwarder, except its strategy, link part and routes. In memory, what every packet needs comes first.
#[repr(C)]
pub(super) struct Core {
    /// Number of links at which the link part observes packets: all of them, or none.
    pub observed_links: u32,
    /// Whether its content store has capacity.
    pub stores: bool,
    pub faces: Faces,
    pub counters: Counters,
    pub dead: DeadNonces,
    pub pit: Pit,
    pub store: ContentStore,
    pub config: Config,
    pub names: Arc<Names>,
    pub interest_queues: InterestQueues,
    /// Interests that the link part refused during its timer and of which the strategy must be informed.
    pub refusals: Vec<(Pending, FaceId, NackReason)>,
    pub strategy_random: Random,
    pub algorithm_random: Random,
}

impl Core {
    /// Whether a packet of this node can return to it: it has more than one link.
    #[inline]
    pub(super) fn can_loop(&self) -> bool {
        self.faces.links() > 1
    }

    /// Whether the link part observes packets at a face.
    #[inline]
    pub(super) fn observes(&self, face: FaceId) -> bool {
        face.0 < self.observed_links
    }

    /// Removes an entry. Its upstreams no longer count as pending.
    #[inline(never)]
    pub(super) fn end(&mut self, pending: Pending) {
        let can_loop = self.can_loop();
        let Self { pit, faces, dead, .. } = self;
        pit.end(pending, |name, record| forget_upstream(faces, dead, can_loop, name, record));
    }

    /// Ends an entry that was taken from the table. Its upstreams no longer count as pending.
    #[inline(always)]
    pub(super) fn end_taken(&mut self, pending: Pending) {
        let can_loop = self.can_loop();
        let Self { pit, faces, dead, .. } = self;
        pit.end_taken(pending, |name, record| forget_upstream(faces, dead, can_loop, name, record));
    }

    /// Sends the Data of the input, which are `packet`, to the downstreams of an entry whose Interests have not
    /// expired, except to the face from which the Data arrived.
    #[inline(always)]
    pub(super) fn answer(
        &mut self,
        pending: Pending,
        packet: &Packet,
        from: FaceId,
        cx: &mut NodeCx<'_, '_>,
    ) {
        let mut next = self.pit.first_in(pending);
        while let Some(record) = next {
            if record.face != from.0 && record.expires > cx.now() {
                self.counters.add(Tally::DataOut);
                self.faces.send_input(packet, FaceId(record.face), cx).flow = FlowId(record.flow);
            }
            next = self.pit.next_in(&record);
        }
    }

    /// Sends a NACK to one downstream.
    fn refuse(&mut self, pending: Pending, downstream: FaceId, reason: NackReason, cx: &mut NodeCx<'_, '_>) {
        let record = self.pit.ins(pending).find(|record| record.face == downstream.0);
        let (Some(record), Some(entry)) = (record, self.pit.entry(pending)) else { return };
        let packet = Packet {
            flow: FlowId(record.flow),
            size_bytes: u32::from(entry.size),
            source: cx.me(),
            to: cx.me().into(),
            sent_at: cx.now(),
            label: entry.label,
            header: Header::Nack(Nack { name: entry.name, nonce: record.nonce, reason }),
            ecn: Ecn::NotCapable,
            hops: 0,
            waited: Default::default(),
        };
        self.pit.forget(pending, downstream);
        // a downstream whose Interest has expired gets no answer
        if record.expires > cx.now() {
            self.counters.add(Tally::NacksOut);
            self.faces.send(&packet, downstream, cx);
        }
    }

    /// The Interest of an entry, as the downstream with the latest expiry sent it.
    fn rebuilt(&self, pending: Pending, cx: &NodeCx<'_, '_>) -> Option<(Packet, FaceId)> {
        let entry = self.pit.entry(pending)?;
        let latest = self.pit.ins(pending).max_by_key(|record| record.expires)?;
        let lifetime_ms = entry.expires.saturating_since(cx.now()).as_nanos().div_ceil(1_000_000);
        let interest = Interest { name: entry.name, nonce: latest.nonce, lifetime_ms: lifetime_ms as u32 };
        let packet = Packet {
            flow: FlowId(latest.flow),
            size_bytes: u32::from(entry.size),
            source: cx.me(),
            to: cx.me().into(),
            sent_at: cx.now(),
            label: entry.label,
            header: Header::Interest(interest),
            ecn: if entry.capable { Ecn::Capable } else { Ecn::NotCapable },
            hops: 0,
            waited: Default::default(),
        };
        Some((packet, FaceId(latest.face)))
    }

    /// Records that an Interest is sent to a face.
    #[inline(never)]
    fn record_sent(
        &mut self,
        pending: Pending,
        name: Name,
        face: FaceId,
        nonce: u32,
        now: Time,
        queued: bool,
    ) {
        let old = self.pit.send(pending, face, nonce, now, queued);
        if old.is_none_or(|old| old.refused.is_some()) {
            self.faces.add_pending(face.0);
        }
        if let Some(old) = old.filter(|old| old.nonce != nonce && self.can_loop()) {
            self.dead.add(name, old.nonce);
        }
    }
}

/// Removes what is kept of an Interest that was sent to an upstream; its nonce can return if packets can loop.
#[inline(always)]
fn forget_upstream(
    faces: &mut Faces,
    dead: &mut DeadNonces,
    can_loop: bool,
    name: Name,
    record: &super::pit::Out,
) {
    if record.refused.is_none() {
        faces.remove_pending(record.face);
    }
    if can_loop {
        dead.add(name, record.nonce);
    }
}

/// The context of a strategy.
pub(super) struct StrategyContext<'a, 'b, 'c, L> {
    pub core: &'a mut Core,
    pub algorithm: &'a mut Option<L>,
    pub cx: &'a mut NodeCx<'b, 'c>,
    /// The Interest that is being processed, and its face.
    pub arrived: Option<(Pending, &'a Packet, FaceId)>,
}

impl<L: LinkAlgorithm> StrategyContext<'_, '_, '_, L> {
    /// Sends the Interest that is being processed to a face where the link part observes no packets. Returns false if
    /// it cannot.
    #[inline(always)]
    fn send_arrived(&mut self, pending: Pending, face: FaceId) -> bool {
        let Self { core, cx, arrived: Some((present, packet, _)), .. } = self else { return false };
        let Header::Interest(interest) = packet.header else { return false };
        if *present != pending || core.observes(face) || face.0 >= core.faces.count() {
            return false;
        }
        if core.pit.send_first(pending, face, interest.nonce, cx.now()) {
            core.faces.add_pending(face.0);
        } else if core.pit.entry(pending).is_some() {
            core.record_sent(pending, interest.name, face, interest.nonce, cx.now(), false);
        } else {
            return false;
        }
        core.counters.add(Tally::InterestsOut);
        core.faces.send_input(packet, face, cx);
        true
    }

    #[inline(never)]
    fn send(&mut self, pending: Pending, face: FaceId, fresh_nonce: bool) -> SendResult {
        let Self { core, algorithm, cx, arrived } = self;
        if face.0 >= core.faces.count() {
            return SendResult::Gone;
        }
        let (mut packet, from) = match *arrived {
            Some((present, packet, from)) if present == pending && core.pit.entry(pending).is_some() => {
                (*packet, from)
            }
            _ => match core.rebuilt(pending, cx) {
                Some(rebuilt) => rebuilt,
                None => return SendResult::Gone,
            },
        };
        let Header::Interest(interest) = &mut packet.header else { return SendResult::Gone };
        if fresh_nonce {
            interest.nonce = (core.strategy_random.bits() >> 32) as u32;
        }
        let (name, nonce, now) = (interest.name, interest.nonce, cx.now());
        if let Some(algorithm) = algorithm.as_mut().filter(|_| core.observes(face)) {
            let note = core.pit.entry(pending).map_or(0, |entry| entry.link_note);
            let mut path = Transit { from, to: face, note, interest_label: packet.label };
            let admission =
                algorithm.on_interest(&mut packet, &mut path, &mut LinkContext { core, cx, timer: false });
            if let Some(entry) = core.pit.entry_mut(pending) {
                entry.link_note = path.note;
            }
            match admission {
                Admission::Pass => {}
                Admission::Hold(interest_queue) => {
                    core.counters.add(Tally::Delayed);
                    core.record_sent(pending, name, face, nonce, now, true);
                    core.interest_queues.push(interest_queue, Held { pending, face, since: now, packet });
                    return SendResult::Held;
                }
                Admission::Refuse(reason) => {
                    core.counters.add(Tally::Nacked);
                    return SendResult::Refused(reason);
                }
                Admission::Drop => {
                    core.counters.add(Tally::Policed);
                    return SendResult::Dropped;
                }
            }
        }
        core.record_sent(pending, name, face, nonce, now, false);
        core.counters.add(Tally::InterestsOut);
        core.faces.send(&packet, face, cx);
        SendResult::Sent
    }
}

impl<L: LinkAlgorithm> StrategyCx for StrategyContext<'_, '_, '_, L> {
    fn now(&self) -> Time {
        self.cx.now()
    }

    fn random(&mut self) -> &mut Random {
        &mut self.core.strategy_random
    }

    fn names(&self) -> &Names {
        &self.core.names
    }

    fn faces(&self) -> u32 {
        self.core.faces.count()
    }

    fn face(&mut self, face: FaceId) -> FaceView {
        self.core.faces.view(face, self.cx)
    }

    fn downstream(&self, pending: Pending, index: usize) -> Option<InRecord> {
        self.core.pit.ins(pending).nth(index).map(InRecord::from)
    }

    fn upstream(&self, pending: Pending, index: usize) -> Option<OutRecord> {
        self.core.pit.outs(pending).nth(index).map(OutRecord::from)
    }

    fn note(&self, pending: Pending) -> u32 {
        self.core.pit.entry(pending).map_or(0, |entry| entry.strategy_note)
    }

    fn set_note(&mut self, pending: Pending, note: u32) {
        if let Some(entry) = self.core.pit.entry_mut(pending) {
            entry.strategy_note = note;
        }
    }

    #[inline(always)]
    fn send_interest(&mut self, pending: Pending, face: FaceId) -> SendResult {
        if self.send_arrived(pending, face) { SendResult::Sent } else { self.send(pending, face, false) }
    }

    fn probe_interest(&mut self, pending: Pending, face: FaceId) -> SendResult {
        self.send(pending, face, true)
    }

    fn send_nack(&mut self, pending: Pending, downstream: FaceId, reason: NackReason) {
        self.core.refuse(pending, downstream, reason, self.cx);
        if self.core.pit.first_in(pending).is_none() {
            self.core.end(pending);
        }
    }

    fn send_nacks(&mut self, pending: Pending, reason: NackReason) {
        while let Some(record) = self.core.pit.first_in(pending) {
            self.core.refuse(pending, FaceId(record.face), reason, self.cx);
        }
        self.core.end(pending);
    }

    fn reject(&mut self, pending: Pending) {
        self.core.end(pending);
    }

    fn probe(&mut self, series: &'static str, value: f64) {
        self.cx.probe(series, value);
    }
}

/// The context of a link part.
pub(super) struct LinkContext<'a, 'b, 'c> {
    pub core: &'a mut Core,
    pub cx: &'a mut NodeCx<'b, 'c>,
    /// Called from the link part's timer, which may release queued Interests.
    pub timer: bool,
}

impl LinkContext<'_, '_, '_> {
    /// Removes the first Interest of an Interest queue that is still pending.
    fn next(&mut self, interest_queue: InterestQueueId) -> Option<Held> {
        debug_assert!(self.timer, "interest_queues are released in `on_timer`");
        while self.timer {
            let queued = self.core.interest_queues.pop(interest_queue)?;
            let record = self.core.pit.out_record(queued.pending, queued.face);
            if record.is_some_and(|record| record.queued) {
                return Some(queued);
            }
        }
        None
    }
}

impl LinkCx for LinkContext<'_, '_, '_> {
    fn now(&self) -> Time {
        self.cx.now()
    }

    fn random(&mut self) -> &mut Random {
        &mut self.core.algorithm_random
    }

    fn names(&self) -> &Names {
        &self.core.names
    }

    fn faces(&self) -> u32 {
        self.core.faces.count()
    }

    fn face(&mut self, face: FaceId) -> FaceView {
        self.core.faces.view(face, self.cx)
    }

    fn holder(&self, name: Name) -> Option<NodeId> {
        self.core.store.has(name).then(|| self.cx.me().node)
    }

    fn interest_queue(&self, interest_queue: InterestQueueId) -> InterestQueueView {
        self.core.interest_queues.view(interest_queue)
    }

    fn release(&mut self, interest_queue: InterestQueueId) -> Option<Bytes> {
        let queued = self.next(interest_queue)?;
        self.core.pit.leave(queued.pending, queued.face, self.cx.now());
        self.core.counters.add(Tally::InterestsOut);
        let size = queued.packet.size();
        self.core.faces.send(&queued.packet, queued.face, self.cx);
        Some(size)
    }

    fn refuse(&mut self, interest_queue: InterestQueueId, reason: NackReason) -> Option<Bytes> {
        let queued = self.next(interest_queue)?;
        self.core.pit.refuse(queued.pending, queued.face, reason);
        self.core.faces.remove_pending(queued.face.0);
        self.core.counters.add(Tally::Nacked);
        self.core.refusals.push((queued.pending, queued.face, reason));
        Some(queued.packet.size())
    }

    fn probe(&mut self, series: &'static str, value: f64) {
        self.cx.probe(series, value);
    }
}

/// Time since the Interest of an out-record was sent; `None` if it was sent more than once.
#[inline]
pub(super) fn round_trip(record: Option<super::pit::Out>, now: Time) -> Option<Duration> {
    let record =
        record.filter(|record| !record.retransmitted && !record.queued && record.refused.is_none())?;
    Some(now.saturating_since(record.sent_at))
}
