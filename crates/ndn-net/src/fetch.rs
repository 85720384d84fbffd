//! The consumer: fetches a file in segments, with the congestion control of a scheme of the catalogue.

use std::io::{self, Write};
use std::sync::atomic::Ordering;

use contract::{
    Address, CongestionControl, Ecn, Endpoint, EndpointId, FlowId, Header, Input, Label, Meter, NameId, Need,
    NodeId, Packet, ParamList, Random, Setup,
};
use driver::StateMachine;
use schemes::{AnyControl, Build};
use stack::ndn::{Consumer, ConsumerConfig, Timeout};
use units::{Bytes, Duration, Rate, Time};
use wire::ndn::{Data, Digest, Interest, LinkHeader, LinkPacket, Name, NameView, kind};

use super::{Control, Discovery, Face, Failure, Traffic, Transport};
use crate::discovery::{Discovered, discover};
use crate::reorder::{Insertion, ReorderBuffer};
use crate::request::{POLL_INTERVAL, after};

/// Settings of a fetch.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// The name of the file, with or without version.
    pub name: Name,
    /// How the version is found.
    pub discovery: Discovery,
    /// Name of the scheme in the catalogue.
    pub scheme: String,
    /// Its parameters that are not default.
    pub params: ParamList,
    /// Initial window, in segments.
    pub initial_window: u32,
    /// Lifetime of Interests.
    pub lifetime: Duration,
    /// Retransmission timeout.
    pub timeout: Timeout,
    /// Whether the controller reacts to congestion marks.
    pub marks: bool,
    /// Rate of Data to this host, for controllers that use it.
    pub access: Option<Rate>,
    /// Time without data after which the fetch fails.
    pub patience: Duration,
    /// Expected SHA-256 of the file; `None` if it is not to be computed. Digests of segments are verified in any case.
    pub sha256: Option<Digest>,
    /// The seed of random numbers.
    pub seed: u64,
}

impl Fetch {
    /// A fetch of this file with this scheme, with the defaults of ndn-tools' consumer [ndn-tools: ndncatchunks 24.07].
    pub fn new(name: Name, scheme: &str) -> Self {
        Self {
            name,
            discovery: Discovery::default(),
            scheme: scheme.to_owned(),
            params: ParamList::new(),
            initial_window: 2,
            lifetime: Duration::from_secs(4),
            timeout: Timeout {
                initial: Duration::from_secs(1),
                min: Duration::from_millis(200),
                max: Duration::from_secs(60),
                // differs: k doubles with every expired segment of a burst instead of once per window, so its maximum
                // is low
                backoff: 4,
                scan: Duration::ZERO,
            },
            marks: true,
            access: None,
            patience: Duration::from_secs(15),
            sha256: None,
            seed: 1,
        }
    }
}

/// The result of a fetch.
#[derive(Debug, Default)]
pub struct Fetched {
    /// Why it is incomplete; `None` if it is complete.
    pub failure: Option<Failure>,
    /// The name with its version, when it is known.
    pub name: Option<Name>,
    /// Segments of the object; 0 while unknown.
    pub segments: u64,
    /// Segments written, in order.
    pub written: u64,
    /// Bytes written.
    pub bytes: u64,
    /// SHA-256 of the written bytes, if [`Fetch::sha256`] is set.
    pub sha256: Option<Digest>,
    /// Time from the first Interest to the end.
    pub span: Duration,
    /// Time until the first segment.
    pub finding: Duration,
    /// Data with a wrong digest, which were requested again.
    pub damaged: u64,
    /// Data with another kind of signature, which was not verified.
    pub unverified: u64,
    /// Data that were dropped because too much waited for an earlier segment.
    pub early: u64,
    /// NACKs with the reason no route.
    pub no_route: u64,
    /// Maximum window of the controller, in bytes; zero if it has none.
    pub window_max: Bytes,
    /// The window at the end.
    pub window: Bytes,
    /// Counters of the face.
    pub traffic: Traffic,
    /// Counters of the consumer.
    pub meter: Meter,
}

/// Fetches a file over `face` and writes it to `out` in order, while it arrives.
pub fn fetch<C: Transport>(
    face: &mut Face<C>,
    settings: &Fetch,
    out: &mut dyn Write,
    control: &Control,
) -> Fetched {
    let mut fetched = Fetched::default();
    let began = face.transport().now();
    let failure = fetch_into(face, settings, out, control, &mut fetched).err();
    fetched.failure = failure;
    fetched.span = face.transport().now().saturating_since(began);
    fetched.traffic = face.traffic();
    fetched
}

fn fetch_into<C: Transport>(
    face: &mut Face<C>,
    settings: &Fetch,
    out: &mut dyn Write,
    control: &Control,
    fetched: &mut Fetched,
) -> Result<(), Failure> {
    // an unknown controller is an error before any packet is sent
    controller(settings, &ConsumerConfig::with_controller(NameId(1), Bytes::new(1)))?;
    let began = face.transport().now();
    let found = discover(face, &settings.name, settings.discovery, control)?;
    fetched.finding = face.transport().now().saturating_since(began);
    fetched.segments = found.last + 1;
    fetched.name = Some(found.name.clone());
    control.whole.store(found.size.unwrap_or(0), Ordering::Relaxed);
    control.ready.store(true, Ordering::Relaxed);
    let mut order = ReorderBuffer::new(out, settings.sha256.is_some());
    let run = run(face, settings, &found, control, fetched, &mut order);
    let (written, bytes, sha256) = order.finish().map_err(Failure::Write)?;
    (fetched.written, fetched.bytes, fetched.sha256) = (written, bytes, sha256);
    run?;
    if let Some(size) = found.size.filter(|size| *size != bytes) {
        return Err(Failure::NotWhole(format!("{bytes} bytes arrived, but the file has {size}")));
    }
    if settings.sha256 != sha256 {
        return Err(Failure::NotWhole("its SHA-256 is not the expected one".to_owned()));
    }
    Ok(())
}

/// The congestion controller with its settings.
fn controller(settings: &Fetch, config: &ConsumerConfig) -> Result<AnyControl, Failure> {
    let name = &settings.scheme;
    let entry = schemes::find(name).filter(|entry| entry.scheme.families.contains(&contract::Family::Ndn));
    let Some(Build::Control(build)) = entry.as_ref().map(|entry| entry.build) else {
        let all = schemes::catalogue().into_iter().filter(|entry| {
            entry.scheme.families.contains(&contract::Family::Ndn) && matches!(entry.build, Build::Control(_))
        });
        let all: Vec<&str> = all.map(|entry| entry.scheme.name).collect();
        return Err(Failure::Scheme(format!(
            "`{name}` is no scheme of consumers of named data; use one of {}",
            all.join(", ")
        )));
    };
    let needs = entry.map_or(&[][..], |entry| entry.scheme.needs);
    for need in needs {
        if let Need::Deliveries { param, value } = need
            && settings.params.iter().any(|(name, given)| name == param && *given == (*value).into())
        {
            return Err(Failure::Scheme(format!(
                "`{name}` with {param} = \"{value}\" needs to be told of deliveries, and consumers do not tell: its window would \
                 never grow; leave `{param}` out"
            )));
        }
    }
    let setup = Setup {
        segment: config.data,
        header: Bytes::ZERO,
        initial_window: config.data * u64::from(config.initial_window),
    };
    let mut controller = build(&settings.params, &setup)
        .map_err(|error| Failure::Scheme(format!("`{}`: {}", error.name, error.message)))?;
    if let Some(access) = settings.access {
        controller.on_access(access);
    }
    Ok(controller)
}

/// The settings of a consumer of the segments after the first, which has this number of bytes.
fn consumer(settings: &Fetch, found: &Discovered, first: usize) -> ConsumerConfig {
    let payload = Bytes::new(first.max(1) as u64);
    ConsumerConfig {
        data: Bytes::new(found.first.len() as u64 + around()),
        size: payload * found.last,
        lifetime: settings.lifetime,
        initial_window: settings.initial_window,
        marks: settings.marks,
        timeout: settings.timeout,
        ..ConsumerConfig::with_controller(NameId(1), payload)
    }
}

/// Fetches all segments but the first, which was found with the version.
fn run<C: Transport>(
    face: &mut Face<C>,
    settings: &Fetch,
    found: &Discovered,
    control: &Control,
    fetched: &mut Fetched,
    order: &mut ReorderBuffer<'_>,
) -> Result<(), Failure> {
    let wrong =
        |why: wire::ndn::Malformed| Failure::Useless { name: found.name.to_string(), why: why.to_string() };
    let first = Data::read(&found.first).map_err(wrong)?;
    order.put(0, first.content).map_err(Failure::Write)?;
    fetched.unverified += u64::from(first.intact().is_none());
    control.segments.store(1, Ordering::Relaxed);
    let config = consumer(settings, found, first.content.len());
    let controller = controller(settings, &config)?;
    let mut machine = StateMachine::new(
        Consumer::new(&config, controller),
        ME,
        FlowId(0),
        Random::new(settings.seed, "ndn", "consumer"),
    );
    let mut pipe =
        Pipe { prefix: found.name.view(), last: found.last, name: found.name.clone(), packet: Vec::new() };
    let mut now = face.transport().now();
    let mut heard_at = now;
    machine.handle(Input::Start, now);
    let result = loop {
        if let Err(failure) = pipe.send(face, &mut machine) {
            break Err(failure);
        }
        if order.next() > found.last {
            break Ok(());
        }
        if control.stopped() {
            break Err(Failure::Stopped);
        }
        now = face.transport().now();
        if now >= after(heard_at, settings.patience) {
            let received = order.next() + order.early();
            break Err(Failure::Stalled { waited: settings.patience, received, all: found.last + 1 });
        }
        let mut unwritten = Ok(());
        let some = face.receive(&mut |header, packet| match pipe.take(
            header,
            packet,
            now,
            order,
            &mut machine,
            fetched,
        ) {
            Ok(true) => heard_at = now,
            Ok(false) => {}
            Err(error) => unwritten = Err(Failure::Write(error)),
        });
        let some = match some.map_err(Failure::from).and_then(|some| unwritten.map(|()| some)) {
            Ok(some) => some,
            Err(failure) => break Err(failure),
        };
        if machine.endpoint.wake() <= now {
            machine.handle(Input::Timer, now);
        }
        let window = window_of(machine.endpoint.controller());
        fetched.window_max = fetched.window_max.max(window);
        control.bytes.store(order.written(), Ordering::Relaxed);
        control.segments.store(order.next() + order.early(), Ordering::Relaxed);
        control.again.store(machine.meter.count(contract::Count::Retransmits), Ordering::Relaxed);
        if !some && !machine.has_output() {
            let until = machine.endpoint.wake().min(after(heard_at, settings.patience));
            face.transport().wait(until.min(now + POLL_INTERVAL));
        }
    };
    fetched.window = window_of(machine.endpoint.controller());
    fetched.meter = machine.meter;
    result
}

/// Bytes of headers around a Data packet: a link packet with a label, UDP and IPv4. Consumers with an explicit rate
/// would otherwise request more than links carry.
fn around() -> u64 {
    let mut frame = Vec::new();
    LinkPacket::whole(LinkHeader { label: Label([u64::MAX; 4]), ..LinkHeader::default() }, &[0; 1000])
        .write(&mut frame);
    (frame.len() - 1000 + wire::UDP_HEADERS) as u64
}

/// Mapping between the names of a file's segments and the numbers of the state machine.
struct Pipe<'a> {
    prefix: NameView<'a>,
    last: u64,
    /// The name of a segment, reused to avoid allocation.
    name: Name,
    packet: Vec<u8>,
}

impl Pipe<'_> {
    /// A packet arrives. Returns whether it is Data of the file that are stored, now or before.
    fn take(
        &mut self,
        header: &LinkHeader,
        packet: &wire::ndn::Packet<'_>,
        now: Time,
        order: &mut ReorderBuffer<'_>,
        machine: &mut StateMachine<Consumer<AnyControl>>,
        fetched: &mut Fetched,
    ) -> io::Result<bool> {
        match packet {
            wire::ndn::Packet::Data(data) => {
                let Some(segment) = self.segment(data.name) else { return Ok(false) };
                match data.intact() {
                    Some(false) => {
                        fetched.damaged += 1;
                        return Ok(false);
                    }
                    Some(true) => {}
                    None => fetched.unverified += 1,
                }
                match order.put(segment, data.content)? {
                    Insertion::TooEarly => {
                        fetched.early += 1;
                        return Ok(false);
                    }
                    Insertion::Stored | Insertion::Duplicate => {
                        machine.handle(Input::Packet(&arrived(segment, data, header)), now);
                    }
                }
                Ok(true)
            }
            wire::ndn::Packet::Interest(interest) => {
                let (Some(reason), Some(segment)) = (header.nack, self.segment(interest.name)) else {
                    return Ok(false);
                };
                let reason = reason.known().unwrap_or(contract::NackReason::NoRoute);
                fetched.no_route += u64::from(reason == contract::NackReason::NoRoute);
                let nack =
                    contract::Nack { name: numbered(segment), nonce: interest.nonce.unwrap_or(0), reason };
                machine
                    .handle(Input::Packet(&packet_of(Header::Nack(nack), 0, header, Ecn::NotCapable)), now);
                Ok(false)
            }
        }
    }

    /// Sends the Interests in the outbox of the state machine.
    fn send<C: Transport>(
        &mut self,
        face: &mut Face<C>,
        machine: &mut StateMachine<Consumer<AnyControl>>,
    ) -> Result<(), Failure> {
        let depth = self.prefix.count();
        let mut result = Ok(());
        machine.drain(|packet| {
            let Header::Interest(asked) = packet.header else { return };
            self.name.truncate(depth).push_number(kind::SEGMENT, asked.name.segment + 1);
            let interest = Interest {
                name: self.name.view(),
                nonce: Some(asked.nonce),
                lifetime_ms: Some(u64::from(asked.lifetime_ms)),
                ..Interest::default()
            };
            self.packet.clear();
            interest.write(&mut self.packet);
            let header = LinkHeader { label: packet.label, ..LinkHeader::default() };
            if result.is_ok() {
                result = face.send(&self.packet, header);
            }
        });
        result?;
        face.flush()?;
        Ok(())
    }

    /// The number of the segment with this name, if it belongs to the file.
    fn segment(&self, name: NameView<'_>) -> Option<u64> {
        let (above, last) = name.split_last()?;
        last.segment().filter(|segment| above == self.prefix && (1..=self.last).contains(segment))
    }
}

/// The name of a segment in the state machine, which counts from the second segment.
const fn numbered(segment: u64) -> contract::Name {
    contract::Name { prefix: NameId(1), segment: segment - 1 }
}

/// Data in the form in which the simulator delivers them.
fn arrived(segment: u64, data: &Data<'_>, header: &LinkHeader) -> Packet {
    let content = contract::Data { name: numbered(segment), payload_bytes: data.content.len() as u32 };
    let ecn = if header.mark > 0 { Ecn::Marked } else { Ecn::Capable };
    packet_of(Header::Data(content), data.packet().len() as u32, header, ecn)
}

/// The address of the consumer, and the address of the forwarder: another node as far as the consumer knows.
const ME: Address = Address { node: NodeId(0), endpoint: EndpointId(0) };
const FORWARDER: Address = Address { node: NodeId(1), endpoint: EndpointId(0) };

fn packet_of(header: Header, size_bytes: u32, link: &LinkHeader, ecn: Ecn) -> Packet {
    let label = Label(link.label.0);
    let (flow, sent_at) = (FlowId(0), Time::ZERO);
    Packet {
        flow,
        size_bytes,
        source: FORWARDER,
        to: ME.into(),
        sent_at,
        label,
        header,
        ecn,
        hops: 0,
        waited: Default::default(),
    }
}

fn window_of(controller: &AnyControl) -> Bytes {
    match controller.allowance().window {
        Bytes::UNLIMITED => Bytes::ZERO,
        window => window,
    }
}

/// A writer that discards its input, for measurements.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nowhere;

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
