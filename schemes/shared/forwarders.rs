//! Contexts for tests of strategies and link parts. They implement the minimum of the contract, and record the actions.

use std::collections::{BTreeMap, VecDeque};

use contract::{
    Admission, ArrivingData, ArrivingInterest, ArrivingNack, Backlog, Data, Ecn, FaceId, FaceView, FibEntry,
    FlowId, Header, InRecord, Interest, InterestQueueId, InterestQueueView, Label, LinkAlgorithm, LinkCx,
    Nack, NackReason, Name, NameId, Names, NextHop, NodeId, OutRecord, Packet, Pending, PortId, PortView,
    Random, ReturnPath, SendResult, Strategy, StrategyCx, Transit, TransitCx,
};
use units::{Bytes, Duration, Rate, Time};

/// Size of an Interest.
pub const INTEREST: Bytes = Bytes::new(50);
/// Size of a Data packet.
pub const DATA: Bytes = Bytes::new(1000);

/// Faces of links at `rate` in both directions, with room for 100 packets, and `locals` faces of endpoints after them.
pub fn faces(links: u32, rate: Rate, locals: u32) -> Vec<FaceView> {
    let link = |index| PortView {
        port: PortId(index),
        to: NodeId(100 + index),
        rate,
        rate_in: rate,
        backlog: Backlog::default(),
        busy: false,
        limit: Backlog { packets: 100, bytes: Bytes::UNLIMITED },
    };
    (0..links + locals)
        .map(|index| FaceView { face: FaceId(index), link: (index < links).then(|| link(index)), pending: 0 })
        .collect()
}

/// An Interest for a segment.
pub fn interest(name: Name, nonce: u32) -> Packet {
    packet(INTEREST, Header::Interest(Interest { name, nonce, lifetime_ms: 2000 }))
}

/// The Data of a segment.
pub fn data(name: Name) -> Packet {
    packet(DATA, Header::Data(Data { name, payload_bytes: 924 }))
}

/// A NACK of a segment.
pub fn nack(name: Name, nonce: u32, reason: NackReason) -> Packet {
    packet(INTEREST, Header::Nack(Nack { name, nonce, reason }))
}

fn packet(size: Bytes, header: Header) -> Packet {
    Packet {
        flow: FlowId(0),
        size_bytes: size.as_u64() as u32,
        source: Default::default(),
        to: contract::Destination::own_node(),
        sent_at: Time::ZERO,
        label: Label::default(),
        header,
        ecn: Ecn::Capable,
        hops: 0,
        waited: Default::default(),
    }
}

/// The prefixes `/`, `/a`, `/a/x`, `/b`, with numbers 0 to 3.
fn names() -> Names {
    let mut names = Names::new();
    for text in ["/a/x", "/b"] {
        names.intern(text);
    }
    names
}

/// An action of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It sent the Interest to a face.
    Sent(u64, FaceId),
    /// It probed a face.
    Probed(u64, FaceId),
    /// It refused the Interest to a downstream.
    Nacked(u64, FaceId, NackReason),
    /// It ended the entry without an answer.
    Rejected(u64),
}

/// The context of a strategy, with one FIB entry.
pub struct StrategyBench {
    /// The current instant.
    pub now: Time,
    /// The faces, with their pending Interests.
    pub faces: Vec<FaceView>,
    /// The next hops of all names.
    pub hops: Vec<NextHop>,
    /// Number of the FIB entry.
    pub index: u32,
    /// The actions.
    pub actions: Vec<Action>,
    /// Results of the next sends; further ones are `Sent`.
    pub results: VecDeque<SendResult>,
    entries: Vec<Entry>,
    random: Random,
    names: Names,
    nonces: u32,
}

struct Entry {
    name: Name,
    ins: Vec<InRecord>,
    outs: Vec<OutRecord>,
    note: u32,
    ended: bool,
}

impl StrategyBench {
    /// A context with the first faces as next hops, at these costs.
    pub fn new(faces: Vec<FaceView>, costs: &[u64]) -> Self {
        let hop = |(index, cost): (usize, &u64)| NextHop { face: FaceId(index as u32), cost: *cost };
        let mut hops: Vec<NextHop> = costs.iter().enumerate().map(hop).collect();
        hops.sort_by_key(|hop| (hop.cost, hop.face));
        Self {
            now: Time::ZERO + Duration::from_secs(1),
            faces,
            hops,
            index: 0,
            actions: Vec::new(),
            results: VecDeque::new(),
            entries: Vec::new(),
            random: Random::new(1, "crossroads", ""),
            names: names(),
            nonces: 0,
        }
    }

    /// Calls the strategy with the FIB entry.
    fn with(&mut self, call: impl FnOnce(&FibEntry<'_>, &mut Self)) {
        let hops = self.hops.clone();
        call(&FibEntry { prefix: NameId(1), index: self.index, hops: &hops }, self);
    }

    /// An Interest for segment `segment` of `/a` arrives at a face, with a new nonce.
    pub fn interest(&mut self, algorithm: &mut impl Strategy, segment: u64, from: FaceId) -> Pending {
        self.nonces += 1;
        let name = Name { prefix: NameId(1), segment };
        let known = self.entries.iter().position(|entry| !entry.ended && entry.name == name);
        let slot = known.unwrap_or(self.entries.len());
        if known.is_none() {
            self.entries.push(Entry { name, ins: Vec::new(), outs: Vec::new(), note: 0, ended: false });
        }
        let record = InRecord { face: from, nonce: self.nonces, expires: self.now + Duration::from_secs(2) };
        let ins = &mut self.entries[slot].ins;
        match ins.iter_mut().find(|record| record.face == from) {
            Some(old) => *old = record,
            None => ins.push(record),
        }
        let (packet, pending) = (interest(name, self.nonces), Pending { slot: slot as u32, generation: 0 });
        self.with(|fib, cx| {
            let arrived = ArrivingInterest { packet: &packet, name, from, pending, is_new: known.is_none() };
            algorithm.on_interest(&arrived, fib, cx);
        });
        pending
    }

    /// Data arrive at a face and end the entry.
    pub fn data(&mut self, algorithm: &mut impl Strategy, pending: Pending, from: FaceId) {
        self.data_with(algorithm, pending, from, |_| ());
    }

    /// Changed Data arrive at a face and end the entry.
    pub fn data_with(
        &mut self,
        algorithm: &mut impl Strategy,
        pending: Pending,
        from: FaceId,
        write: impl FnOnce(&mut Packet),
    ) {
        let Some(name) = self.entry(pending).map(|entry| entry.name) else { return };
        let sent =
            self.out_record(pending, from).filter(|record| !record.retransmitted && record.refused.is_none());
        let rtt = sent.map(|record| self.now - record.sent_at);
        let mut packet = data(name);
        write(&mut packet);
        self.with(|fib, cx| {
            algorithm.on_data(&ArrivingData { packet: &packet, name, from, pending, rtt }, fib, cx);
        });
        self.end(pending);
    }

    /// A NACK arrives at a face that the Interest was sent to.
    pub fn nack(
        &mut self,
        algorithm: &mut impl Strategy,
        pending: Pending,
        from: FaceId,
        reason: NackReason,
    ) {
        let Some(entry) = self.entries.get_mut(pending.slot as usize).filter(|entry| !entry.ended) else {
            return;
        };
        let must_wait = |record: &&mut OutRecord| record.face == from && record.refused.is_none();
        let Some(record) = entry.outs.iter_mut().find(must_wait) else { return };
        record.refused = Some(reason);
        self.faces[from.index()].pending -= 1;
        let (name, nonce) = (entry.name, record.nonce);
        let packet = nack(name, nonce, reason);
        self.with(|fib, cx| {
            algorithm.on_nack(&ArrivingNack { packet: Some(&packet), name, from, pending, reason }, fib, cx);
        });
    }

    /// A pending Interest expires.
    pub fn expire(&mut self, algorithm: &mut impl Strategy, pending: Pending) {
        let Some(name) = self.entry(pending).map(|entry| entry.name) else { return };
        self.with(|fib, cx| algorithm.on_expiry(pending, name, fib, cx));
        self.end(pending);
    }

    /// The deadline of the strategy.
    pub fn timer(&mut self, algorithm: &mut impl Strategy) {
        algorithm.on_timer(self);
    }

    /// Actions since the last call.
    pub fn done(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    fn entry(&self, pending: Pending) -> Option<&Entry> {
        self.entries.get(pending.slot as usize).filter(|entry| !entry.ended)
    }

    fn end(&mut self, pending: Pending) {
        let Some(entry) = self.entries.get_mut(pending.slot as usize).filter(|entry| !entry.ended) else {
            return;
        };
        entry.ended = true;
        for record in &entry.outs {
            if record.refused.is_none() {
                self.faces[record.face.index()].pending -= 1;
            }
        }
    }

    fn send(&mut self, pending: Pending, face: FaceId, probe: bool) -> SendResult {
        let (now, nonces) = (self.now, self.nonces);
        let entry = self.entries.get_mut(pending.slot as usize).filter(|entry| !entry.ended);
        let (Some(entry), true) = (entry, face.index() < self.faces.len()) else { return SendResult::Gone };
        let segment = entry.name.segment;
        let departure = self.results.pop_front().unwrap_or(SendResult::Sent);
        if matches!(departure, SendResult::Sent | SendResult::Held) {
            let queued = departure == SendResult::Held;
            match entry.outs.iter_mut().find(|record| record.face == face) {
                Some(record) => {
                    if record.refused.take().is_some() {
                        self.faces[face.index()].pending += 1;
                    }
                    *record =
                        OutRecord { sent_at: now, nonce: nonces, retransmitted: true, queued, ..*record };
                }
                None => {
                    let (sent_at, nonce) = (now, nonces);
                    entry.outs.push(OutRecord {
                        face,
                        nonce,
                        sent_at,
                        queued,
                        retransmitted: false,
                        refused: None,
                    });
                    self.faces[face.index()].pending += 1;
                }
            }
            self.actions.push(if probe {
                Action::Probed(segment, face)
            } else {
                Action::Sent(segment, face)
            });
        }
        departure
    }
}

impl StrategyCx for StrategyBench {
    fn now(&self) -> Time {
        self.now
    }

    fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn faces(&self) -> u32 {
        self.faces.len() as u32
    }

    fn face(&mut self, face: FaceId) -> FaceView {
        self.faces[face.index()]
    }

    fn downstream(&self, pending: Pending, index: usize) -> Option<InRecord> {
        self.entry(pending)?.ins.get(index).copied()
    }

    fn upstream(&self, pending: Pending, index: usize) -> Option<OutRecord> {
        self.entry(pending)?.outs.get(index).copied()
    }

    fn note(&self, pending: Pending) -> u32 {
        self.entry(pending).map_or(0, |entry| entry.note)
    }

    fn set_note(&mut self, pending: Pending, note: u32) {
        if let Some(entry) = self.entries.get_mut(pending.slot as usize) {
            entry.note = note;
        }
    }

    fn send_interest(&mut self, pending: Pending, face: FaceId) -> SendResult {
        self.send(pending, face, false)
    }

    fn probe_interest(&mut self, pending: Pending, face: FaceId) -> SendResult {
        self.send(pending, face, true)
    }

    fn send_nack(&mut self, pending: Pending, downstream: FaceId, reason: NackReason) {
        let entry = self.entries.get_mut(pending.slot as usize).filter(|entry| !entry.ended);
        let Some(entry) = entry else { return };
        let Some(at) = entry.ins.iter().position(|record| record.face == downstream) else { return };
        entry.ins.remove(at);
        self.actions.push(Action::Nacked(entry.name.segment, downstream, reason));
        if entry.ins.is_empty() {
            self.end(pending);
        }
    }

    fn send_nacks(&mut self, pending: Pending, reason: NackReason) {
        while let Some(record) = self.downstream(pending, 0) {
            self.send_nack(pending, record.face, reason);
        }
    }

    fn reject(&mut self, pending: Pending) {
        if let Some(segment) = self.entry(pending).map(|entry| entry.name.segment) {
            self.actions.push(Action::Rejected(segment));
            self.end(pending);
        }
    }

    fn probe(&mut self, _series: &'static str, value: f64) {
        assert!(value.is_finite(), "a value to record");
    }
}

/// The result of a queued Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was sent.
    Released(Time, Name),
    /// It was refused.
    Refused(Time, Name, NackReason),
}

/// The context of a link part.
pub struct LinkBench {
    /// The current instant.
    pub now: Time,
    /// The faces. Tests set the backlogs; pending Interests are not counted.
    pub faces: Vec<FaceView>,
    /// Results of queued Interests.
    pub outcomes: Vec<Outcome>,
    /// Next hops of every prefix.
    pub hops: u32,
    /// What its content store holds; it is node 7.
    pub store: Vec<Name>,
    /// When an Interest was sent to a face, and the note of the part.
    sent: BTreeMap<u64, (FaceId, Option<Time>, u32)>,
    interest_queues: Vec<VecDeque<Held>>,
    random: Random,
    names: Names,
    timer: bool,
}

#[derive(Clone, Copy)]
struct Held {
    name: Name,
    size: Bytes,
    since: Time,
}

impl LinkBench {
    /// A context with these faces.
    pub fn new(faces: Vec<FaceView>) -> Self {
        Self {
            now: Time::ZERO + Duration::from_secs(1),
            faces,
            outcomes: Vec::new(),
            hops: 1,
            store: Vec::new(),
            sent: BTreeMap::new(),
            interest_queues: Vec::new(),
            random: Random::new(1, "gate", ""),
            names: names(),
            timer: false,
        }
    }

    /// The queue of a link, for changes by a test.
    pub fn link(&mut self, face: FaceId) -> &mut PortView {
        self.faces[face.index()].link.as_mut().expect("the face of a link")
    }

    /// An Interest arrives at `from`, and the strategy sends it to the link `to`.
    pub fn interest(
        &mut self,
        algorithm: &mut impl LinkAlgorithm,
        name: Name,
        from: FaceId,
        to: FaceId,
    ) -> Admission {
        let mut packet = interest(name, 1);
        if self.faces[from.index()].link.is_some() {
            algorithm.on_interest_in(&packet, from, self);
        }
        let note = self.sent.get(&name.key()).map_or(0, |sent| sent.2);
        let mut path = Transit { from, to, note, interest_label: packet.label };
        let admission = algorithm.on_interest(&mut packet, &mut path, self);
        let size = packet.size();
        match admission {
            Admission::Pass => {
                self.sent.insert(name.key(), (to, Some(self.now), path.note));
                self.enqueue(algorithm, &mut packet, to);
            }
            Admission::Hold(interest_queue) => {
                self.sent.insert(name.key(), (to, None, path.note));
                if self.interest_queues.len() <= interest_queue.index() {
                    self.interest_queues.resize_with(interest_queue.index() + 1, VecDeque::new);
                }
                self.interest_queues[interest_queue.index()].push_back(Held { name, size, since: self.now });
            }
            Admission::Refuse(_) | Admission::Drop => {}
        }
        admission
    }

    /// Data arrive at the link `from` and leave by the link `to`. Returns them as they leave.
    pub fn data(
        &mut self,
        algorithm: &mut impl LinkAlgorithm,
        name: Name,
        from: FaceId,
        to: FaceId,
    ) -> Packet {
        self.data_with(algorithm, name, from, to, |_| ())
    }

    /// Changed Data arrive at the link `from` and leave by the link `to`. Returns them as they leave.
    pub fn data_with(
        &mut self,
        algorithm: &mut impl LinkAlgorithm,
        name: Name,
        from: FaceId,
        to: FaceId,
        write: impl FnOnce(&mut Packet),
    ) -> Packet {
        let sent = self.sent.remove(&name.key()).filter(|sent| sent.0 == from);
        let rtt = sent.and_then(|sent| sent.1).map(|at| self.now - at);
        let note = sent.map_or(0, |sent| sent.2);
        let mut packet = data(name);
        write(&mut packet);
        algorithm.on_data_in(&mut packet, &ReturnPath { from, rtt, note, hops: self.hops }, self);
        if self.faces[to.index()].link.is_some() {
            algorithm.on_data_out(
                &mut packet,
                &Transit { from, to, note, interest_label: Label::default() },
                self,
            );
            self.enqueue(algorithm, &mut packet, to);
        }
        packet
    }

    /// A NACK arrives.
    pub fn nack(&mut self, algorithm: &mut impl LinkAlgorithm, name: Name, from: FaceId) {
        algorithm.on_nack_in(&mut nack(name, 1, NackReason::Congestion), from, self);
    }

    /// A packet is about to be offered to a queue, whose contents the test sets.
    pub fn enqueue(&mut self, algorithm: &mut impl LinkAlgorithm, packet: &mut Packet, to: FaceId) {
        if !algorithm.observes_enqueue() {
            return;
        }
        let port = *self.link(to);
        let mut at = TransitCx { now: self.now, port: port.port, random: &mut self.random };
        algorithm.on_enqueue(packet, to, &port, &mut at);
    }

    /// A packet leaves a queue after `waited`; the test sets the contents after it.
    pub fn dequeue(
        &mut self,
        algorithm: &mut impl LinkAlgorithm,
        packet: &mut Packet,
        to: FaceId,
        waited: Duration,
    ) {
        if !algorithm.observes_dequeue() {
            return;
        }
        let port = *self.link(to);
        let mut at = TransitCx { now: self.now, port: port.port, random: &mut self.random };
        algorithm.on_dequeue(packet, to, &port, waited, &mut at);
    }

    /// The deadline of the part.
    pub fn timer(&mut self, algorithm: &mut impl LinkAlgorithm) {
        self.timer = true;
        algorithm.on_timer(self);
        self.timer = false;
    }

    /// Advances time to `end` through all deadlines.
    pub fn run(&mut self, algorithm: &mut impl LinkAlgorithm, end: Time) {
        while algorithm.wake() <= end {
            self.now = self.now.max(algorithm.wake());
            self.timer(algorithm);
            assert!(algorithm.wake() > self.now, "a deadline that has passed stays");
        }
        self.now = end;
    }

    /// Interests in Interest queues.
    pub fn queued(&self) -> usize {
        self.interest_queues.iter().map(VecDeque::len).sum()
    }

    fn pop(&mut self, interest_queue: InterestQueueId) -> Option<Held> {
        assert!(self.timer, "interest_queues are released in `on_timer`");
        self.interest_queues.get_mut(interest_queue.index())?.pop_front()
    }
}

impl LinkCx for LinkBench {
    fn now(&self) -> Time {
        self.now
    }

    fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn faces(&self) -> u32 {
        self.faces.len() as u32
    }

    fn face(&mut self, face: FaceId) -> FaceView {
        self.faces[face.index()]
    }

    fn holder(&self, name: Name) -> Option<NodeId> {
        self.store.contains(&name).then_some(NodeId(7))
    }

    fn interest_queue(&self, interest_queue: InterestQueueId) -> InterestQueueView {
        let Some(waiting) = self.interest_queues.get(interest_queue.index()) else {
            return InterestQueueView::default();
        };
        InterestQueueView {
            packets: waiting.len() as u32,
            bytes: Bytes::new(waiting.iter().map(|queued| queued.size.as_u64()).sum()),
            since: waiting.front().map(|queued| queued.since),
            first: waiting.front().map_or(Bytes::ZERO, |queued| queued.size),
        }
    }

    fn release(&mut self, interest_queue: InterestQueueId) -> Option<Bytes> {
        let queued = self.pop(interest_queue)?;
        if let Some(sent) = self.sent.get_mut(&queued.name.key()) {
            sent.1 = Some(self.now);
        }
        self.outcomes.push(Outcome::Released(self.now, queued.name));
        Some(queued.size)
    }

    fn refuse(&mut self, interest_queue: InterestQueueId, reason: NackReason) -> Option<Bytes> {
        let queued = self.pop(interest_queue)?;
        self.outcomes.push(Outcome::Refused(self.now, queued.name, reason));
        Some(queued.size)
    }

    fn probe(&mut self, _series: &'static str, value: f64) {
        assert!(value.is_finite(), "a value to record");
    }
}
