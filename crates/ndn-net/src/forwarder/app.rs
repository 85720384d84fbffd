//! Endpoints inside the process: consumers and producers of `stack`, which exchange frames with the forwarder like any
//! program.

use contract::{
    Address, CongestionControl, Count, Cx, Data as DataHeader, Ecn, Endpoint, EndpointId, FlowId, Header,
    Input, Interest as InterestHeader, Label, Meter, Nack, NackReason, Name as MachineName, NameId, NodeId,
    Outputs, Packet, Random,
};
use schemes::AnyControl;
use stack::ndn::{Consumer, ConsumerConfig, Producer, ProducerConfig};
use units::{Duration, Rate, Time};
use wire::ndn::{Interest, LinkHeader, LinkPacket, Name, NameView, Packet as Wire, Reason, Unsigned, kind};

/// The number of an application's prefix in its state machine.
pub(super) const PREFIX: NameId = NameId(1);
/// Maximum number of recorded values of a kind: ten minutes at a thousand per second.
const MAX_SAMPLES: usize = 1 << 20;

enum Kind {
    Consumer(Box<Consumer<AnyControl>>),
    Producer(Box<Producer>),
}

/// An endpoint inside the process.
pub struct App {
    kind: Kind,
    prefix: Name,
    payload: usize,
    /// Its start and its end.
    span: (Time, Time),
    started: bool,
    ended: bool,
    random: Random,
    meter: Meter,
    out: Outputs,
    frames: Vec<Vec<u8>>,
    generated: Vec<Sample>,
    received: Vec<Time>,
}

/// A count at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// The total so far.
    pub count: u64,
}

impl App {
    /// A consumer of segments below `prefix`. Its controller starts at `access`, the rate of its node's own link, if it
    /// starts at any rate.
    pub fn consumer(
        prefix: Name,
        config: ConsumerConfig,
        mut controller: AnyControl,
        access: Rate,
        span: (Time, Time),
        seed: u64,
    ) -> Self {
        controller.on_access(access);
        let payload = config.payload.as_u64() as usize;
        let config = ConsumerConfig { prefix: PREFIX, ..config };
        Self::new(Kind::Consumer(Box::new(Consumer::new(&config, controller))), prefix, payload, span, seed)
    }

    /// A producer of Data with `payload` bytes of zeros, for everything below `prefix`.
    pub fn producer(prefix: Name, payload: usize) -> Self {
        let config = ProducerConfig {
            prefix: PREFIX,
            payload: units::Bytes::new(payload as u64),
            data: units::Bytes::new(payload as u64),
            delay: Duration::ZERO,
        };
        let kind = Kind::Producer(Box::new(Producer::new(&config)));
        Self::new(kind, prefix, payload, (Time::ZERO, Time::NEVER), 0)
    }

    fn new(kind: Kind, prefix: Name, payload: usize, span: (Time, Time), seed: u64) -> Self {
        let mut out = Outputs::default();
        out.notes.probing = true;
        Self {
            kind,
            payload,
            span,
            started: false,
            ended: false,
            random: Random::new(seed, &prefix.to_string(), "app"),
            prefix,
            meter: Meter::default(),
            out,
            frames: Vec::new(),
            generated: Vec::new(),
            received: Vec::new(),
        }
    }

    /// Whether it is a producer.
    pub const fn serves(&self) -> bool {
        matches!(self.kind, Kind::Producer(_))
    }

    /// The prefix that it requests or serves.
    pub const fn prefix(&self) -> &Name {
        &self.prefix
    }

    /// Interests that it generated, each with its instant; under a coarse clock they left later.
    pub fn generated(&self) -> &[Sample] {
        &self.generated
    }

    /// Times of Data arrivals.
    pub fn received(&self) -> &[Time] {
        &self.received
    }

    /// One of its counters.
    pub fn count(&self, what: Count) -> u64 {
        self.meter.count(what)
    }

    /// The bytes of the Data packet of a segment from a producer with such a payload.
    pub fn data_of(prefix: &Name, segment: u64, payload: usize) -> Vec<u8> {
        let mut name = prefix.clone();
        name.push_number(kind::SEGMENT, segment);
        let content = vec![0; payload];
        let mut out = Vec::with_capacity(payload + 128);
        Unsigned { name: name.view(), content: &content, ..Unsigned::default() }.sign(&mut out);
        out
    }

    /// The next deadline.
    pub(super) fn wake(&self) -> Time {
        match (self.started, self.ended) {
            (false, _) => self.span.0,
            (true, true) => Time::NEVER,
            (true, false) => self.machine_wake().min(self.span.1),
        }
    }

    fn machine_wake(&self) -> Time {
        match &self.kind {
            Kind::Consumer(consumer) => consumer.wake(),
            Kind::Producer(producer) => producer.wake(),
        }
    }

    /// Handles what is due.
    pub(super) fn on_time(&mut self, now: Time) {
        if !self.started && now >= self.span.0 {
            self.started = true;
            self.input(Input::Start, now);
        }
        if self.started && !self.ended && now >= self.span.1 {
            self.ended = true;
            self.input(Input::Stop, now);
        }
        if self.started && !self.ended && self.machine_wake() <= now {
            self.input(Input::Timer, now);
        }
    }

    /// Handles a frame of the forwarder.
    pub(super) fn on_frame(&mut self, frame: &[u8], now: Time) {
        let Ok(link) = LinkPacket::read(frame) else { return };
        let header = link.header;
        let (inner, size) = match Wire::read(link.fragment) {
            Ok(Wire::Data(data)) => {
                let Some(name) = self.name_of(data.name) else { return };
                if self.received.len() < MAX_SAMPLES {
                    self.received.push(now);
                }
                (Header::Data(DataHeader { name, payload_bytes: data.content.len() as u32 }), link.fragment)
            }
            Ok(Wire::Interest(interest)) => {
                let Some(name) = self.name_of(interest.name) else { return };
                let nonce = interest.nonce.unwrap_or_default();
                let inner = match header.nack {
                    Some(reason) => {
                        let reason = Reason::known(reason).unwrap_or(NackReason::NoRoute);
                        Header::Nack(Nack { name, nonce, reason })
                    }
                    None => {
                        let lifetime_ms =
                            u32::try_from(interest.lifetime_ms_or_default()).unwrap_or(u32::MAX);
                        Header::Interest(InterestHeader { name, nonce, lifetime_ms })
                    }
                };
                (inner, link.fragment)
            }
            Err(_) => return,
        };
        let packet = Packet {
            flow: FlowId(0),
            size_bytes: size.len() as u32,
            source: FORWARDER,
            to: ME.into(),
            sent_at: now,
            label: header.label,
            header: inner,
            ecn: if header.mark > 0 { Ecn::Marked } else { Ecn::Capable },
            hops: 0,
            waited: Default::default(),
        };
        self.input(Input::Packet(&packet), now);
    }

    /// The segment number at the end of a name below the prefix.
    fn name_of(&self, name: NameView<'_>) -> Option<MachineName> {
        let (above, last) = name.split_last()?;
        let segment = last.segment().filter(|segment| *segment < MachineName::SEGMENTS)?;
        (above == self.prefix.view()).then_some(MachineName { prefix: PREFIX, segment })
    }

    fn input(&mut self, input: Input<'_>, now: Time) {
        let mut cx = Cx::new(now, ME, FlowId(0), &mut self.random, &mut self.meter, &mut self.out);
        match &mut self.kind {
            Kind::Consumer(consumer) => consumer.handle(input, &mut cx),
            Kind::Producer(producer) => producer.handle(input, &mut cx),
        }
        for note in self.out.notes.pending.drain(..) {
            if note.name == "generated" && self.generated.len() < MAX_SAMPLES {
                self.generated.push(Sample { at: note.at, count: note.value as u64 });
            }
        }
        let outbox = std::mem::take(&mut self.out.outbox);
        for &id in &outbox {
            let packet = *self.out.arena.get(id);
            self.out.arena.release(id);
            self.write(&packet);
        }
        self.out.outbox = outbox;
        self.out.outbox.clear();
    }

    /// A packet of the state machine as a frame.
    fn write(&mut self, packet: &Packet) {
        let body = match packet.header {
            Header::Interest(interest) => {
                let mut name = self.prefix.clone();
                name.push_number(kind::SEGMENT, interest.name.segment);
                let mut out = Vec::with_capacity(64);
                Interest {
                    name: name.view(),
                    nonce: Some(interest.nonce),
                    lifetime_ms: Some(u64::from(interest.lifetime_ms)),
                    ..Interest::default()
                }
                .write(&mut out);
                out
            }
            Header::Data(data) => Self::data_of(&self.prefix, data.name.segment, self.payload),
            _ => return,
        };
        let mut frame = Vec::with_capacity(body.len() + 48);
        let header = LinkHeader {
            mark: u64::from(packet.ecn == Ecn::Marked),
            label: if packet.label == Label::default() { Label::default() } else { packet.label },
            ..LinkHeader::default()
        };
        LinkPacket::whole(header, &body).write(&mut frame);
        self.frames.push(frame);
    }

    /// Frames for the forwarder.
    pub(super) fn take_out(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.frames)
    }
}

const ME: Address = Address { node: NodeId(0), endpoint: EndpointId(0) };
/// What it hears comes from another node as far as it knows.
const FORWARDER: Address = Address { node: NodeId(1), endpoint: EndpointId(0) };
