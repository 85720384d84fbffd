//! TCP connections over a small scripted network, without the simulator: a constant delay, optionally a bottleneck, and
//! a script that decides the fate of every data segment.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use contract::{
    Ack, Address, Allowance, Cause, Congestion, CongestionControl, Cx, Destination, Ecn, Endpoint,
    EndpointId, FlowId, Header, Idle, Input, Meter, NodeId, Note, Outputs, Packet, Random, TcpHeader,
};
use stack::tcp::{Config, Receiver, Sender};
use units::{Bytes, Carry, Duration, Rate, Time};

/// Payload of a full segment in most tests.
pub const SEGMENT: u64 = 1000;

/// Fate of a data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Pass,
    Drop,
    Mark,
    /// It is delayed by this time.
    Late(Duration),
}

/// A data segment or an acknowledgement at its departure.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: Time,
    pub flow: usize,
    /// In segments.
    pub segment: u64,
    pub header: TcpHeader,
    pub ecn: Ecn,
    pub size: u64,
    /// Number of earlier transmissions of these bytes.
    pub nth: usize,
}

/// A link that all data crosses: drop-tail, the packet in transmission not counted.
pub struct Bottleneck {
    pub rate: Rate,
    pub limit: usize,
    busy_until: Time,
    carry: Carry,
    /// Start of transmission of each waiting packet.
    waiting: VecDeque<Time>,
    pub dropped: u64,
    pub bytes: u64,
}

impl Bottleneck {
    pub fn new(rate: Rate, limit: usize) -> Self {
        Self {
            rate,
            limit,
            busy_until: Time::ZERO,
            carry: Carry::default(),
            waiting: VecDeque::new(),
            dropped: 0,
            bytes: 0,
        }
    }

    /// When a packet that arrives now has been transmitted; `None` if it is dropped.
    fn pass(&mut self, now: Time, size: Bytes) -> Option<Time> {
        while self.waiting.front().is_some_and(|begin| *begin <= now) {
            self.waiting.pop_front();
        }
        if self.waiting.len() >= self.limit {
            self.dropped += 1;
            return None;
        }
        if self.busy_until > now {
            self.waiting.push_back(self.busy_until);
        } else {
            self.busy_until = now;
            self.carry = Carry::default();
        }
        let (span, carry) = self.rate.serialise(size, self.carry);
        self.carry = carry;
        self.busy_until += span;
        self.bytes += size.as_u64();
        Some(self.busy_until)
    }
}

pub struct Flow<C> {
    pub sender: Sender<C>,
    pub receiver: Receiver,
    pub start: Time,
    pub sent: Meter,
    pub received: Meter,
}

type Script = Box<dyn FnMut(&Sent) -> Fate>;

pub struct Net<C> {
    pub now: Time,
    pub flows: Vec<Flow<C>>,
    pub delay: Duration,
    pub bottleneck: Option<Bottleneck>,
    /// Rate of each sender's own link.
    pub access: Rate,
    access_free: Vec<(Time, Carry)>,
    pub script: Script,
    /// Fates of acknowledgements.
    pub ack_script: Script,
    pub data: Vec<Sent>,
    pub acks: Vec<Sent>,
    pub logging: bool,
    /// Number of transmissions of each segment.
    departures: BTreeMap<(usize, u64), usize>,
    out: Outputs,
    random: Random,
    agenda: BinaryHeap<Reverse<(Time, u64, Event)>>,
    order: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// At the bottleneck.
    Offer(contract::PacketId),
    Arrive(contract::PacketId),
    Wake {
        flow: usize,
        at_sender: bool,
    },
    Start(usize),
}

impl<C: CongestionControl> Net<C> {
    pub fn new(delay: Duration) -> Self {
        Self {
            now: Time::ZERO,
            flows: Vec::new(),
            delay,
            bottleneck: None,
            access: Rate::UNLIMITED,
            access_free: Vec::new(),
            script: Box::new(|_| Fate::Pass),
            ack_script: Box::new(|_| Fate::Pass),
            data: Vec::new(),
            acks: Vec::new(),
            logging: true,
            departures: BTreeMap::new(),
            out: Outputs::default(),
            random: Random::new(1, "net", ""),
            agenda: BinaryHeap::new(),
            order: 0,
        }
    }

    /// One connection over a path with a round-trip time of 100 ms.
    pub fn one(config: &Config, controller: C) -> Self {
        let mut net = Self::new(Duration::from_millis(50));
        net.add(config, controller, Time::ZERO);
        net
    }

    pub fn add(&mut self, config: &Config, controller: C, start: Time) {
        let flow = self.flows.len();
        self.flows.push(Flow {
            sender: Sender::new(config, controller, receiver_of(flow)),
            receiver: Receiver::new(config, sender_of(flow)),
            start,
            sent: Meter::default(),
            received: Meter::default(),
        });
        self.access_free.push((Time::ZERO, Carry::default()));
        self.push(start, Event::Start(flow));
    }

    /// Records the series that endpoints offer.
    pub fn record(&mut self) {
        self.out.notes.probing = true;
    }

    /// Values that endpoints offered.
    pub fn notes(&self) -> &[Note] {
        &self.out.notes.pending
    }

    pub fn on_data(&mut self, script: impl FnMut(&Sent) -> Fate + 'static) {
        self.script = Box::new(script);
    }

    /// Drops the first transmission of each of these segments.
    pub fn drop_once(&mut self, segments: &[u64]) {
        let lost = segments.to_vec();
        self.on_data(
            move |sent| if sent.nth == 0 && lost.contains(&sent.segment) { Fate::Drop } else { Fate::Pass },
        );
    }

    pub fn run(&mut self, until: Time) {
        let mut steps = 0;
        while let Some(Reverse((at, _, event))) = self.agenda.peek().copied() {
            if at > until {
                break;
            }
            self.agenda.pop();
            steps = if self.now == at { steps + 1 } else { 0 };
            assert!(steps < 10_000, "time stands still at {at}");
            self.now = at;
            match event {
                Event::Start(flow) => self.input(flow, true, Input::Start),
                Event::Wake { flow, at_sender } => {
                    let deadline = if at_sender {
                        self.flows[flow].sender.wake()
                    } else {
                        self.flows[flow].receiver.wake()
                    };
                    if deadline <= at {
                        self.input(flow, at_sender, Input::Timer);
                    }
                }
                Event::Offer(id) => {
                    let size = self.out.arena.get(id).size();
                    let bottleneck = self.bottleneck.as_mut().expect("packets are offered to a bottleneck");
                    match bottleneck.pass(at, size) {
                        Some(done) => self.push(done + self.delay, Event::Arrive(id)),
                        None => self.out.arena.release(id),
                    }
                }
                Event::Arrive(id) => {
                    let packet = *self.out.arena.get(id);
                    self.out.arena.release(id);
                    let endpoint = packet.to.endpoint().expect("to an endpoint").0 as usize;
                    self.input(endpoint / 2, endpoint.is_multiple_of(2), Input::Packet(&packet));
                }
            }
        }
        self.now = until;
    }

    /// Whether nothing is in flight and no timer is set.
    pub fn idle(&self) -> bool {
        self.agenda.is_empty()
    }

    pub fn run_ms(&mut self, millis: u64) {
        self.run(Time::ZERO + Duration::from_millis(millis));
    }

    pub fn input(&mut self, flow: usize, at_sender: bool, input: Input<'_>) {
        let me = if at_sender { sender_of(flow) } else { receiver_of(flow) };
        let it = &mut self.flows[flow];
        let meter = if at_sender { &mut it.sent } else { &mut it.received };
        let mut cx = Cx::new(self.now, me, FlowId(flow as u32), &mut self.random, meter, &mut self.out);
        let wake = if at_sender {
            it.sender.handle(input, &mut cx);
            it.sender.wake()
        } else {
            it.receiver.handle(input, &mut cx);
            it.receiver.wake()
        };
        if wake != Time::NEVER {
            self.push(wake.max(self.now), Event::Wake { flow, at_sender });
        }
        for id in std::mem::take(&mut self.out.outbox) {
            self.route(flow, at_sender, id);
        }
    }

    fn route(&mut self, flow: usize, data: bool, id: contract::PacketId) {
        let packet = *self.out.arena.get(id);
        let Header::Tcp(header) = packet.header else { panic!("only TCP here") };
        let segment = header.seq / SEGMENT;
        let mut nth = 0;
        if data && self.logging && !header.flags.syn {
            let count = self.departures.entry((flow, header.seq)).or_default();
            nth = *count;
            *count += 1;
        }
        let sent = Sent {
            at: self.now,
            flow,
            segment,
            header,
            ecn: packet.ecn,
            size: u64::from(packet.size_bytes),
            nth,
        };
        if self.logging {
            if data { self.data.push(sent) } else { self.acks.push(sent) }
        }
        let mut leaves = self.now;
        match if data { (self.script)(&sent) } else { (self.ack_script)(&sent) } {
            Fate::Pass => {}
            Fate::Drop => return self.out.arena.release(id),
            Fate::Mark => self.out.arena.get_mut(id).ecn = Ecn::Marked,
            Fate::Late(span) => leaves += span,
        }
        if !data {
            return self.push(leaves + self.delay, Event::Arrive(id));
        }
        if self.access != Rate::UNLIMITED {
            let (free, carry) = &mut self.access_free[flow];
            let (span, rest) = self.access.serialise(packet.size(), *carry);
            *free = leaves.max(*free) + span;
            *carry = rest;
            leaves = *free;
        }
        if self.bottleneck.is_some() {
            self.push(leaves, Event::Offer(id));
        } else {
            self.push(leaves + self.delay, Event::Arrive(id));
        }
    }

    fn push(&mut self, at: Time, event: Event) {
        self.order += 1;
        self.agenda.push(Reverse((at, self.order, event)));
    }

    /// Segments that left in `from..to` milliseconds.
    pub fn sent_between(&self, from: u64, to: u64) -> Vec<u64> {
        let (from, to) = (ms(from), ms(to));
        self.data.iter().filter(|s| s.at >= from && s.at < to).map(|s| s.segment).collect()
    }
}

/// An instant in milliseconds.
pub fn ms(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

/// Segments of 1000 bytes, a negligible header, no SACK, no delayed acknowledgements.
pub fn plain() -> Config {
    Config {
        segment: Bytes::new(SEGMENT),
        header: Bytes::new(40),
        sack: false,
        delayed_ack: false,
        ..Config::default()
    }
}

fn sender_of(flow: usize) -> Address {
    Address { node: NodeId(0), endpoint: EndpointId(2 * flow as u32) }
}

fn receiver_of(flow: usize) -> Address {
    Address { node: NodeId(1), endpoint: EndpointId(2 * flow as u32 + 1) }
}

/// A constant window, and a rate, and the inputs of the controller.
#[derive(Clone, Debug)]
pub struct Fixed {
    pub allowance: Allowance,
    pub ssthresh: Bytes,
    pub acks: Vec<Ack>,
    pub events: Vec<Congestion>,
    pub spurious: u32,
    /// The ends of episodes, and the number of acknowledgements before each.
    pub recovered: Vec<(Cause, usize)>,
    pub idles: u32,
}

impl Fixed {
    /// A window of this many segments.
    pub fn window(segments: u64) -> Self {
        Self {
            allowance: Allowance::window(Bytes::new(segments * SEGMENT)),
            ssthresh: Bytes::UNLIMITED,
            acks: Vec::new(),
            events: Vec::new(),
            spurious: 0,
            idles: 0,
            recovered: Vec::new(),
        }
    }
}

impl CongestionControl for Fixed {
    fn on_ack(&mut self, ack: &Ack, _cx: &mut Cx<'_>) {
        self.acks.push(*ack);
    }
    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        self.events.push(*event);
    }
    fn allowance(&self) -> Allowance {
        self.allowance
    }
    fn ssthresh(&self) -> Bytes {
        self.ssthresh
    }
    fn on_spurious(&mut self, _cx: &mut Cx<'_>) {
        self.spurious += 1;
    }
    fn on_idle(&mut self, _idle: &Idle, _cx: &mut Cx<'_>) {
        self.idles += 1;
    }
    fn on_recovered(&mut self, cause: Cause, _cx: &mut Cx<'_>) {
        self.recovered.push((cause, self.acks.len()));
    }
}

/// Slow start, one segment per round trip, half after a loss: the minimum that TCP requires.
#[derive(Clone, Debug)]
pub struct Halving {
    pub window: f64,
    pub threshold: f64,
    saved: (f64, f64),
    segment: f64,
}

impl Halving {
    /// With segments of [`SEGMENT`].
    pub fn new(initial: f64) -> Self {
        Self::sized(initial, SEGMENT)
    }

    /// In congestion avoidance from the start.
    pub fn avoiding(initial: f64) -> Self {
        Self { threshold: initial, ..Self::new(initial) }
    }

    /// With segments of this many bytes.
    pub fn sized(initial: f64, segment: u64) -> Self {
        Self {
            window: initial,
            threshold: f64::INFINITY,
            saved: (initial, f64::INFINITY),
            segment: segment as f64,
        }
    }
}

impl CongestionControl for Halving {
    fn on_ack(&mut self, ack: &Ack, _cx: &mut Cx<'_>) {
        if ack.recovering || ack.marked || ack.app_limited {
            return;
        }
        self.window += if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
    }
    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        if event.first {
            self.saved = (self.window, self.threshold);
            self.threshold = (event.in_flight.as_f64() / self.segment / 2.0).max(2.0);
            self.window = self.threshold;
        }
        if event.cause == Cause::Timeout {
            self.window = 1.0;
        }
    }
    fn allowance(&self) -> Allowance {
        Allowance::window(Bytes::new((self.window * self.segment) as u64))
    }
    fn on_spurious(&mut self, _cx: &mut Cx<'_>) {
        (self.window, self.threshold) = self.saved;
    }
    fn on_idle(&mut self, _idle: &Idle, _cx: &mut Cx<'_>) {
        self.window = self.window.min(2.0);
    }
    fn ssthresh(&self) -> Bytes {
        Bytes::new((self.threshold * self.segment) as u64)
    }
}

/// The packet of a test that calls one endpoint directly.
pub fn packet(header: TcpHeader, size: u64, sent_at: Time) -> Packet {
    Packet {
        flow: FlowId(0),
        size_bytes: size as u32,
        source: receiver_of(0),
        to: Destination::from(sender_of(0)),
        sent_at,
        label: contract::Label::default(),
        header: Header::Tcp(header),
        ecn: Ecn::NotCapable,
        hops: 0,
        waited: Default::default(),
    }
}
