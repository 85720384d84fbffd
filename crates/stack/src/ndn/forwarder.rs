//! NDN forwarder: the pipelines of Interests, Data and NACKs (NFD Developer's Guide §4).
//!
//! An Interest passes the loop check, the content store, the pending Interest table, the strategy and the link part.
//! Data follow the table back and are cached. The strategy handles NACKs.

mod prefetch;

use std::sync::Arc;

use contract::{
    ArrivingData, ArrivingInterest, ArrivingNack, Data, DropReason, Ecn, FaceId, FlowId, Header, Interest,
    Label, LinkAlgorithm, Nack, NackReason, NameId, Names, NextHop, NodeCx, Packet, Pending, PortView,
    Random, ReturnPath, Router, RouterInput, SeriesInfo, Strategy, Transit, TransitCx,
};
use units::{Duration, Time};

use super::acting::{Core, LinkContext, StrategyContext, round_trip};
use super::counters::{Counters, Tally};
use super::faces::Faces;
use super::fib::Fib;
use super::interest_queues::InterestQueues;
use super::nonces::DeadNonces;
use super::pit::Pit;
use super::store::ContentStore;
use super::{Config, MANY_NAMES};
pub use prefetch::Ahead;

/// Time series of a forwarder: name, unit, subject, meaning.
pub const SERIES: &[SeriesInfo] = &[("pit", "interests", "node", "pending Interests")];

/// The forwarder of a node, with its strategy `S` and link part `L`.
///
/// # How it is driven
///
/// It is a [`contract::Router`]. Before [`RouterInput::Start`] the driver sets next hops ([`Forwarder::set_routes`]).
/// It may set them again, or change costs by [`prefer`](Forwarder::prefer), between two inputs. Packets from links are
/// [`RouterInput::Packet`] with the port, packets from consumers and producers on the node [`RouterInput::Local`]. If
/// [`Forwarder::observes_enqueue`] is true, the driver reports packets that are offered to queues (`on_enqueue`), and
/// if [`Forwarder::observes_dequeue`] is true, departures (`on_dequeue`); otherwise it can skip the calls.
///
/// In memory, what every packet needs comes first.
#[repr(C, align(64))]
pub struct Forwarder<S, L> {
    /// The earliest deadline of its parts, cached because it is needed after every packet.
    wake: Time,
    /// Whether its parts have deadlines at all.
    timed: bool,
    /// Whether its strategy or its link part observes Data.
    observes_data: bool,
    core: Core,
    fib: Fib,
    strategy: S,
    algorithm: Option<L>,
}

impl<S: Strategy, L: LinkAlgorithm> Forwarder<S, L> {
    /// A forwarder with empty tables. `random` has one stream for the strategy and one for the link part.
    pub fn new(
        config: &Config,
        names: Arc<Names>,
        faces: Faces,
        strategy: S,
        algorithm: Option<L>,
        random: [Random; 2],
    ) -> Self {
        let [strategy_random, algorithm_random] = random;
        let store = ContentStore::new(config.store);
        let core = Core {
            config: config.clone(),
            observed_links: 0,
            stores: store.is_on(),
            names,
            faces,
            pit: Pit::new(),
            store,
            dead: DeadNonces::new(config.dead_nonces),
            interest_queues: InterestQueues::default(),
            counters: Counters::default(),
            refusals: Vec::new(),
            strategy_random,
            algorithm_random,
        };
        let (timed, observes_data, wake) = (false, true, Time::NEVER);
        let mut first = Self { wake, timed, observes_data, core, fib: Fib::new(), strategy, algorithm };
        first.ask_parts();
        first
    }

    /// Reads what its parts observe, and whether they have deadlines.
    fn ask_parts(&mut self) {
        let observes_packets = self.algorithm.as_ref().is_some_and(L::observes_packets);
        self.core.observed_links = if observes_packets { self.core.faces.links() as u32 } else { 0 };
        self.observes_data = observes_packets || self.strategy.observes_data();
        self.timed = self.strategy.has_deadlines() || self.algorithm.as_ref().is_some_and(L::has_deadlines);
        self.wake = Time::NEVER;
        self.update_wake();
    }

    /// Updates the cached deadline after the parts were called.
    #[inline(always)]
    fn update_wake(&mut self) {
        if self.timed {
            self.ask_wake();
        }
    }

    #[inline(never)]
    fn ask_wake(&mut self) {
        self.wake = self.algorithm.as_ref().map_or(Time::NEVER, L::wake).min(self.strategy.wake());
    }

    /// Replaces all routes.
    pub fn set_routes(&mut self, routes: &[(NameId, Vec<NextHop>)]) {
        self.set_rows(routes.iter().map(|(prefix, hops)| (*prefix, hops.as_slice())));
    }

    /// Replaces all routes, given in any form.
    pub fn set_rows<'h>(&mut self, rows: impl Iterator<Item = (NameId, &'h [NextHop])> + Clone) {
        self.fib.set(rows);
    }

    /// Changes the costs of next hops of one prefix, see [`Fib::prefer`].
    pub fn prefer(&mut self, prefix: NameId, hops: &[NextHop]) {
        self.fib.prefer(prefix, hops);
    }

    /// The first next hop of a prefix.
    pub fn first_hop(&mut self, prefix: NameId) -> Option<FaceId> {
        let Self { fib, core, .. } = self;
        fib.find(prefix, &core.names).map(|entry| entry.hops[0].face)
    }

    /// Its forwarding information base.
    pub const fn fib(&self) -> &Fib {
        &self.fib
    }

    /// Its pending Interest table.
    pub const fn pit(&self) -> &Pit {
        &self.core.pit
    }

    /// Whether its content store contains the Data of a name.
    pub fn holds(&self, name: contract::Name) -> bool {
        self.core.store.has(name)
    }

    /// Removes stale Data from the content store. Returns whether they were stored.
    pub fn forget(&mut self, name: contract::Name) -> bool {
        self.core.store.forget(name)
    }

    /// Its faces.
    pub const fn faces(&self) -> &Faces {
        &self.core.faces
    }

    /// Whether its link part observes packets that are offered to a queue.
    pub fn observes_enqueue(&self) -> bool {
        self.algorithm.as_ref().is_some_and(L::observes_enqueue)
    }

    /// Whether its link part observes departures from a queue.
    pub fn observes_dequeue(&self) -> bool {
        self.algorithm.as_ref().is_some_and(L::observes_dequeue)
    }

    /// Whether its strategy or its link part has deadlines.
    pub const fn has_deadlines(&self) -> bool {
        self.timed
    }

    /// Its strategy.
    pub const fn strategy(&self) -> &S {
        &self.strategy
    }

    /// Its link part.
    pub const fn algorithm_mut(&mut self) -> Option<&mut L> {
        self.algorithm.as_mut()
    }

    /// Replaces the link part. Call this before the first packet.
    pub fn set_algorithm(&mut self, algorithm: Option<L>) {
        self.algorithm = algorithm;
        self.ask_parts();
    }

    /// Its counters.
    pub fn counters(&self) -> Counters {
        let parts = self.strategy.operations() + self.algorithm.as_ref().map_or(0, L::operations);
        Counters {
            operations: self.core.counters.operations + parts,
            pending: self.core.pit.len() as u64,
            pending_peak: self.core.pit.peak() as u64,
            stored: self.core.store.len() as u64,
            ..self.core.counters.clone()
        }
    }

    /// Continues the counters of a previous forwarder of the node.
    pub fn resume(&mut self, counters: Counters) {
        self.core.counters = counters;
    }

    /// Resets the peak of pending Interests.
    pub fn rebase(&mut self) {
        self.core.pit.rebase();
    }

    #[inline(always)]
    fn on_interest(
        &mut self,
        packet: &Packet,
        interest: Interest,
        from: FaceId,
        cx: &mut NodeCx<'_, '_>,
    ) -> Option<DropReason> {
        let Self { strategy, algorithm, fib, core, .. } = self;
        let Interest { name, nonce, .. } = interest;
        core.counters.add(Tally::InterestsIn);
        if let Some(algorithm) = algorithm.as_mut().filter(|_| core.observes(from)) {
            algorithm.on_interest_in(packet, from, &mut LinkContext { core, cx, timer: false });
        }
        let existing = core.pit.find(name);
        if Self::loops(core, existing, from, name, nonce) {
            core.counters.add(Tally::Loops);
            Self::send_nack(core, packet, interest, from, NackReason::Duplicate, cx);
            return None;
        }
        if existing.is_none() && core.stores {
            if let Some((data, size)) = core.store.find(name) {
                core.counters.add(Tally::Hits);
                Self::send_cached(core, algorithm, packet, data, size, from, cx);
                return None;
            }
            core.counters.add(Tally::Misses);
        }
        let Some(entry) = fib.find(name.prefix, &core.names) else {
            core.counters.add(Tally::NoRoute);
            Self::send_nack(core, packet, interest, from, NackReason::NoRoute, cx);
            return None;
        };
        let expires = cx.now() + interest.lifetime();
        let is_new = existing.is_none();
        let pending = match existing {
            None => core.pit.insert(&interest, packet, from, expires),
            Some(pending) => Self::request_again(core, pending, &interest, packet, from, expires),
        };
        let arrived = ArrivingInterest { packet, name, from, pending, is_new };
        let mut context = StrategyContext { core, algorithm, cx, arrived: Some((pending, packet, from)) };
        strategy.on_interest(&arrived, &entry, &mut context);
        self.probe_pit_size(cx);
        None
    }

    /// Whether a nonce was seen before: from another downstream, in a sent Interest, or in the dead nonce list. The
    /// same nonce from the same downstream is a retransmission, not a loop.
    #[inline]
    fn loops(core: &Core, existing: Option<Pending>, from: FaceId, name: contract::Name, nonce: u32) -> bool {
        if let Some(pending) = existing {
            let other_face = |record: super::pit::In| record.face != from.0 && record.nonce == nonce;
            if core.pit.ins(pending).any(other_face) {
                return true;
            }
            let same_nonce =
                core.pit.ins(pending).any(|record| record.face == from.0 && record.nonce == nonce);
            if !same_nonce && core.pit.outs(pending).any(|record| record.nonce == nonce) {
                return true;
            }
        }
        core.can_loop() && core.dead.has(name, nonce)
    }

    /// Adds a further Interest to an entry.
    #[inline(never)]
    fn request_again(
        core: &mut Core,
        pending: Pending,
        interest: &Interest,
        packet: &Packet,
        from: FaceId,
        expires: Time,
    ) -> Pending {
        core.pit.renew(pending, interest.lifetime_ms, expires);
        let first = core.pit.add_downstream(pending, from, interest.nonce, packet.flow, expires);
        core.counters.add(if first { Tally::Aggregated } else { Tally::Repeated });
        if let Some(entry) = core.pit.entry_mut(pending) {
            entry.note(packet);
        }
        pending
    }

    /// Sends a NACK for an Interest without an entry.
    #[cold]
    fn send_nack(
        core: &mut Core,
        packet: &Packet,
        interest: Interest,
        to: FaceId,
        reason: NackReason,
        cx: &mut NodeCx<'_, '_>,
    ) {
        let nack = Nack { name: interest.name, nonce: interest.nonce, reason };
        let reply = Packet {
            source: cx.me(),
            sent_at: cx.now(),
            header: Header::Nack(nack),
            ecn: Ecn::NotCapable,
            hops: 0,
            waited: Default::default(),
            ..*packet
        };
        core.counters.add(Tally::NacksOut);
        core.faces.send(&reply, to, cx);
    }

    /// Answers an Interest from the content store.
    #[inline(never)]
    fn send_cached(
        core: &mut Core,
        algorithm: &mut Option<L>,
        interest: &Packet,
        data: Data,
        size_bytes: u32,
        to: FaceId,
        cx: &mut NodeCx<'_, '_>,
    ) {
        let mut reply = Packet {
            size_bytes,
            source: cx.me(),
            sent_at: cx.now(),
            label: Label::default(),
            header: Header::Data(data),
            ecn: if interest.ecn == Ecn::NotCapable { Ecn::NotCapable } else { Ecn::Capable },
            hops: 0,
            waited: Default::default(),
            ..*interest
        };
        Self::send_data(
            core,
            algorithm,
            &mut reply,
            Transit { from: to, to, note: 0, interest_label: interest.label },
            cx,
        );
    }

    #[inline]
    fn send_data(
        core: &mut Core,
        algorithm: &mut Option<L>,
        packet: &mut Packet,
        path: Transit,
        cx: &mut NodeCx<'_, '_>,
    ) {
        if let Some(algorithm) = algorithm.as_mut().filter(|_| core.observes(path.to)) {
            algorithm.on_data_out(packet, &path, &mut LinkContext { core, cx, timer: false });
        }
        core.counters.add(Tally::DataOut);
        core.faces.send(packet, path.to, cx);
    }

    #[inline(always)]
    fn on_data(&mut self, packet: &Packet, data: Data, from: FaceId, cx: &mut NodeCx<'_, '_>) {
        let core = &mut self.core;
        core.counters.add(Tally::DataIn);
        if self.observes_data {
            let Some(pending) = core.pit.find(data.name) else {
                return core.counters.add(Tally::Unsolicited);
            };
            self.on_observed_data(packet, data, from, pending, cx);
            self.core.end(pending);
        } else {
            let Some(pending) = core.pit.take(data.name) else {
                return core.counters.add(Tally::Unsolicited);
            };
            if core.stores {
                core.store.insert(data, packet.size_bytes);
            }
            core.answer(pending, packet, from, cx);
            if core.pit.size() >= MANY_NAMES && !core.faces.is_link(from) {
                core.pit.prefetch_after(pending);
            }
            core.end_taken(pending);
        }
        self.probe_pit_size(cx);
    }

    /// Shows Data to the strategy and to the link part, stores and sends them.
    #[inline(never)]
    fn on_observed_data(
        &mut self,
        packet: &Packet,
        data: Data,
        from: FaceId,
        pending: Pending,
        cx: &mut NodeCx<'_, '_>,
    ) {
        let Self { strategy, algorithm, fib, core, .. } = self;
        let now = cx.now();
        let rtt = round_trip(core.pit.out_record(pending, from), now);
        let (note, interest_label) =
            core.pit.entry(pending).map_or_else(Default::default, |entry| (entry.link_note, entry.label));
        let mut packet = *packet;
        let entry = fib.find(data.name.prefix, &core.names);
        if let Some(algorithm) = algorithm.as_mut().filter(|_| core.observes(from)) {
            let path =
                ReturnPath { from, rtt, note, hops: entry.as_ref().map_or(0, |fib| fib.hops.len() as u32) };
            algorithm.on_data_in(&mut packet, &path, &mut LinkContext { core, cx, timer: false });
        }
        if let Some(entry) = entry {
            let returned = ArrivingData { packet: &packet, name: data.name, from, pending, rtt };
            strategy.on_data(&returned, &entry, &mut StrategyContext { core, algorithm, cx, arrived: None });
        }
        if core.stores {
            core.store.insert(data, packet.size_bytes);
        }
        if core.observed_links == 0 {
            return core.answer(pending, &packet, from, cx);
        }
        let mut next = core.pit.first_in(pending);
        while let Some(record) = next {
            if record.face != from.0 && record.expires > now {
                let path = Transit { from, to: FaceId(record.face), note, interest_label };
                // the link part may label each copy differently
                let mut copy = Packet { flow: FlowId(record.flow), ..packet };
                Self::send_data(core, algorithm, &mut copy, path, cx);
            }
            next = core.pit.next_in(&record);
        }
    }

    #[inline(never)]
    fn on_nack(&mut self, packet: &Packet, nack: Nack, from: FaceId, cx: &mut NodeCx<'_, '_>) {
        let Self { algorithm, core, .. } = self;
        core.counters.add(Tally::NacksIn);
        let pending = core.pit.find(nack.name);
        let record = pending.and_then(|pending| core.pit.out_record(pending, from));
        let matches = |record: &super::pit::Out| record.nonce == nack.nonce && record.refused.is_none();
        let (Some(pending), Some(_)) = (pending, record.filter(matches)) else {
            return core.counters.add(Tally::Stale);
        };
        core.pit.refuse(pending, from, nack.reason);
        core.faces.remove_pending(from.0);
        let mut packet = *packet;
        if let Some(algorithm) = algorithm.as_mut().filter(|_| core.observes(from)) {
            algorithm.on_nack_in(&mut packet, from, &mut LinkContext { core, cx, timer: false });
        }
        self.notify_nack(pending, from, nack.reason, Some(&packet), cx);
        self.probe_pit_size(cx);
    }

    fn notify_nack(
        &mut self,
        pending: Pending,
        from: FaceId,
        reason: NackReason,
        packet: Option<&Packet>,
        cx: &mut NodeCx<'_, '_>,
    ) {
        let Self { strategy, algorithm, fib, core, .. } = self;
        let Some(name) = core.pit.entry(pending).map(|entry| entry.name) else { return };
        match fib.find(name.prefix, &core.names) {
            Some(entry) => {
                let refused = ArrivingNack { packet, name, from, pending, reason };
                strategy.on_nack(
                    &refused,
                    &entry,
                    &mut StrategyContext { core, algorithm, cx, arrived: None },
                );
            }
            None => {
                let mut context = StrategyContext { core, algorithm, cx, arrived: None };
                contract::StrategyCx::send_nacks(&mut context, pending, reason);
            }
        }
    }

    /// Handles expired deadlines of pending Interests, the link part and the strategy.
    #[inline(never)]
    fn on_timer(&mut self, cx: &mut NodeCx<'_, '_>) {
        let now = cx.now();
        while let Some(pending) = self.core.pit.due(now) {
            let Self { strategy, algorithm, fib, core, .. } = self;
            let name = core.pit.entry(pending).map(|entry| entry.name).expect("what is due is there");
            core.counters.add(Tally::Expired);
            if let Some(entry) = fib.find(name.prefix, &core.names) {
                let mut context = StrategyContext { core, algorithm, cx, arrived: None };
                strategy.on_expiry(pending, name, &entry, &mut context);
            }
            core.end(pending);
        }
        if let Some(algorithm) = self.algorithm.as_mut().filter(|algorithm| algorithm.wake() <= now) {
            algorithm.on_timer(&mut LinkContext { core: &mut self.core, cx, timer: true });
            let refusals = std::mem::take(&mut self.core.refusals);
            for &(pending, face, reason) in &refusals {
                self.notify_nack(pending, face, reason, None, cx);
            }
            self.core.refusals = refusals;
            self.core.refusals.clear();
        }
        if self.strategy.wake() <= now {
            let Self { strategy, algorithm, core, .. } = self;
            strategy.on_timer(&mut StrategyContext { core, algorithm, cx, arrived: None });
        }
        self.probe_pit_size(cx);
    }

    fn on_start(&mut self, cx: &mut NodeCx<'_, '_>) {
        let Self { strategy, algorithm, core, .. } = self;
        if let Some(algorithm) = algorithm {
            algorithm.on_start(&mut LinkContext { core, cx, timer: false });
        }
        strategy.on_start(&mut StrategyContext { core, algorithm, cx, arrived: None });
    }

    #[inline]
    fn probe_pit_size(&mut self, cx: &mut NodeCx<'_, '_>) {
        if cx.probing() {
            cx.probe("pit", self.core.pit.len() as f64);
        }
    }

    #[inline(always)]
    fn on_packet(&mut self, packet: &Packet, from: FaceId, cx: &mut NodeCx<'_, '_>) -> Option<DropReason> {
        match packet.header {
            Header::Interest(interest) => return self.on_interest(packet, interest, from, cx),
            Header::Data(data) => self.on_data(packet, data, from, cx),
            Header::Nack(nack) => self.on_nack(packet, nack, from, cx),
            _ => return Some(DropReason::NotListening),
        }
        None
    }
}

impl<S: Strategy, L: LinkAlgorithm> Router for Forwarder<S, L> {
    #[inline]
    fn handle(&mut self, input: RouterInput<'_>, cx: &mut NodeCx<'_, '_>) -> Option<DropReason> {
        let arrived = match input {
            RouterInput::Packet(packet, port) => self.core.faces.of_port(port).map(|face| (packet, face)),
            RouterInput::Local(packet) => {
                self.core.faces.of_local(packet.source.endpoint).map(|face| (packet, face))
            }
            RouterInput::Timer => {
                self.on_timer(cx);
                self.update_wake();
                return None;
            }
            RouterInput::Start => {
                self.on_start(cx);
                self.update_wake();
                return None;
            }
        };
        let drop_reason = match arrived {
            Some((packet, face)) => self.on_packet(packet, face, cx),
            None => Some(DropReason::NotListening),
        };
        self.update_wake();
        drop_reason
    }

    fn on_enqueue(&mut self, packet: &mut Packet, port: &PortView, at: &mut TransitCx<'_>) {
        if let (Some(algorithm), Some(face)) = (self.algorithm.as_mut(), self.core.faces.of_port(port.port)) {
            algorithm.on_enqueue(packet, face, port, at);
            self.update_wake();
        }
    }

    #[inline]
    fn on_dequeue(&mut self, packet: &mut Packet, port: &PortView, waited: Duration, at: &mut TransitCx<'_>) {
        if let (Some(algorithm), Some(face)) = (self.algorithm.as_mut(), self.core.faces.of_port(port.port)) {
            algorithm.on_dequeue(packet, face, port, waited, at);
            self.update_wake();
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.core.pit.wake().min(self.wake)
    }
}
