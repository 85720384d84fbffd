//! The sending end: a state machine determines when a packet is sent, and the payload determines its content.

use std::sync::atomic::Ordering;

use contract::{
    CongestionControl, Count, EndpointId, Header, Input, Packet, Request, SenderAlgorithm, Setup,
};
use driver::{Platform, StateMachine};
use schemes::{AnyControl, AnySender, Build, Entry};
use stack::{stream, tcp};
use transfer::{Outgoing, Pace, Status, Waits};
use units::{Bytes, Duration, Rate, Time};
use wire::stream::{DATA, Envelope, FEEDBACK, Frame, KEY, Offer, Order, Reason, Role, SEGMENT, Transport};

use crate::addresses::{FLOW, SENDER, receiver};
use crate::initial_rate::with_initial_rate;
use crate::session::{At, Opened, Work, run};
use crate::tx::TxContext;
use crate::{Control, End, Limits, Outcome, Progress, Scheme, Settings, Stats};

/// Interval at which an empty byte source is polled.
const ASKS: Duration = Duration::from_millis(2);
/// Maximum number of due deadlines of a state machine before the socket is read.
const TICKS: usize = 512;

/// Sends `cargo` with `scheme` to one receiver, and returns at the end. `about` (at most [`wire::stream::ABOUT`] bytes) is for the
/// receiving application.
///
/// Errors are the outcome's end: [`End::Failed`] if there is no such scheme, it cannot carry this cargo, or the sizes are out of range.
pub fn send(
    settings: &Settings,
    scheme: &Scheme,
    cargo: Outgoing,
    about: Vec<u8>,
    platform: &mut impl Platform,
    control: &Control,
) -> Outcome {
    match Sending::new(scheme, cargo, about, settings.limits) {
        Ok(sending) => run(settings, sending, platform, control),
        Err(why) => Outcome { end: End::Failed(why), stats: Stats::default() },
    }
}

/// The work of a sender.
pub(crate) struct Sending {
    scheme: Scheme,
    cargo: Outgoing,
    offer: Offer,
    limits: Limits,
    opened: Option<Opened>,
    machine: Option<Sends>,
    /// A receiver is ready for this many bytes beyond those in order, and the machine is not made yet: how fast content comes is being measured,
    /// until the instant after it at the latest.
    awaited: Option<u32>,
    start_at: Time,
    /// Why there is none, where it could not be made.
    failed: Option<String>,
    /// The mode of the scheme that was asked for last.
    mode: Option<String>,
    /// What the machine sent, until it is in datagrams.
    packets: Vec<Packet>,
    /// Content of the packet that is being put together.
    room: Vec<u8>,
    /// Data packets sent, in this session.
    sent: u64,
    /// The payload has nothing to say before.
    ready_at: Time,
    /// One past the last byte that the machine may send, sent so far, that is acknowledged.
    given: u64,
    high: u64,
    acknowledged: u64,
    /// Data packets sent in all sessions, their bytes and those of their content.
    counted: [u64; 3],
}

/// A sending machine.
enum Sends {
    Paced(Box<StateMachine<stream::Sender<AnySender>>>),
    Windowed(Box<StateMachine<tcp::Sender<AnyControl>>>),
}

impl Sends {
    fn meter(&self) -> &contract::Meter {
        match self {
            Self::Paced(machine) => &machine.meter,
            Self::Windowed(machine) => &machine.meter,
        }
    }

    fn handle(&mut self, input: Input<'_>, now: Time) {
        match self {
            Self::Paced(machine) => machine.handle(input, now),
            Self::Windowed(machine) => machine.handle(input, now),
        }
    }
}

/// The scheme's entry, or a sentence for people.
pub(crate) fn entry(name: &str) -> Result<Entry, String> {
    schemes::find(name).ok_or_else(|| format!("there is no scheme `{name}`"))
}

/// How a scheme carries data, or a sentence for people.
pub(crate) fn transport(entry: &Entry) -> Result<Transport, String> {
    match entry.build {
        Build::Stream { .. } => Ok(Transport::Paced),
        Build::Control(_) => Ok(Transport::Windowed),
        Build::Forwarder => Err(format!("`{}` has no part at the ends of a network", entry.scheme.name)),
    }
}

/// How the scheme of this name carries data.
///
/// # Errors
///
/// A message for users: there is no such scheme, or it has no part at endpoints.
pub fn transport_of(name: &str) -> Result<Transport, String> {
    transport(&entry(name)?)
}

/// Settings of the machines at both ends of a stream.
pub(crate) fn stream_config(offer: &Offer, entry: &Entry, outer_bytes: u32) -> stream::Config {
    stream::Config {
        packet: Bytes::new(u64::from(offer.packet)),
        feedback: Bytes::new(u64::from(outer_bytes) + FEEDBACK as u64),
        reorder: entry.scheme.reorder,
        ecn: offer.ecn,
        ..stream::Config::default()
    }
}

/// Settings of the machines at both ends of a windowed connection.
pub(crate) fn tcp_config(offer: &Offer, outer_bytes: u32, window: u32) -> tcp::Config {
    let header = u64::from(outer_bytes) + SEGMENT as u64;
    tcp::Config {
        segment: Bytes::new(u64::from(offer.packet) - header),
        header: Bytes::new(header),
        receive_window: Bytes::new(u64::from(window)),
        ecn: offer.ecn,
        // the session says what there is as it comes
        demand: tcp::Demand::Limited(Rate::ZERO),
        ..tcp::Config::default()
    }
}

pub(crate) fn stream_setup(config: &stream::Config) -> Setup {
    Setup { segment: config.packet, header: Bytes::ZERO, initial_window: Bytes::UNLIMITED }
}

/// Whether packets of this size have room for headers, also over IPv6, and for content.
pub(crate) fn size_is_right(packet: u16) -> bool {
    usize::from(packet) >= 48 + DATA + 64
}

impl Sending {
    pub(crate) fn new(
        scheme: &Scheme,
        cargo: Outgoing,
        about: Vec<u8>,
        limits: Limits,
    ) -> Result<Self, String> {
        let entry = entry(&scheme.name)?;
        let transport = transport(&entry)?;
        let (fits, size) = match &cargo {
            Outgoing::Paced(_) => (transport == Transport::Paced, None),
            Outgoing::Windowed(source) => (transport == Transport::Windowed, source.end()),
        };
        if !fits {
            return Err(format!("`{}` does not carry data of this kind", scheme.name));
        }
        if !size_is_right(scheme.packet) {
            return Err(format!("packets of {} bytes have no room for their headers", scheme.packet));
        }
        if about.len() > wire::stream::ABOUT {
            return Err(format!("what is said about the data has {} bytes", about.len()));
        }
        (entry.resolve)(&scheme.params).map_err(|error| format!("{}: {}", error.name, error.message))?;
        let offer = Offer {
            scheme: scheme.name.clone(),
            params: scheme.params.clone(),
            transport,
            packet: scheme.packet,
            ecn: scheme.ecn,
            size,
            about,
        };
        Ok(Self {
            scheme: scheme.clone(),
            cargo,
            offer,
            limits,
            opened: None,
            machine: None,
            awaited: None,
            start_at: Time::NEVER,
            failed: None,
            mode: scheme.mode.clone(),
            packets: Vec::new(),
            room: Vec::new(),
            sent: 0,
            ready_at: Time::ZERO,
            given: 0,
            high: 0,
            acknowledged: 0,
            counted: [0; 3],
        })
    }

    /// Makes the machine; the law may refuse parameters that do not go together.
    fn make(&self, opened: &Opened, window: u32, pace: Pace) -> Result<Sends, String> {
        let entry = entry(&self.scheme.name)?;
        let packet = Bytes::new(u64::from(self.scheme.packet));
        let own = with_initial_rate(&entry, &self.scheme.params, packet, pace, opened.rtt);
        let params = own.as_ref().unwrap_or(&self.scheme.params);
        let say = |error: contract::ParamError| format!("{}: {}", error.name, error.message);
        let to = receiver(opened.peer);
        Ok(match entry.build {
            Build::Stream { sender, .. } => {
                let config = stream_config(&self.offer, &entry, opened.outer_bytes);
                let law = sender(params, &stream_setup(&config)).map_err(say)?;
                if law.out_of_band() {
                    return Err(
                        "control packets out of band need queues with classes: they are simulated only"
                            .to_owned(),
                    );
                }
                let sender = stream::Sender::new(&config, law, to.into());
                Sends::Paced(Box::new(opened.host(sender, SENDER)))
            }
            Build::Control(build) => {
                let config = tcp_config(&self.offer, opened.outer_bytes, window);
                let setup = Setup {
                    segment: config.segment,
                    header: config.header,
                    initial_window: config.segment * u64::from(config.initial_window),
                };
                let law = build(params, &setup).map_err(say)?;
                Sends::Windowed(Box::new(opened.host(tcp::Sender::new(&config, law, to), SENDER)))
            }
            Build::Forwarder => return Err(format!("`{}` has no part here", self.scheme.name)),
        })
    }

    /// Puts what the machine sent into datagrams.
    fn post<O: Platform>(&mut self, now: Time, tx: &mut TxContext<'_, O>) {
        let (Some(machine), Some(opened)) = (&mut self.machine, &self.opened) else { return };
        match machine {
            Sends::Paced(machine) => machine.drain(|packet| self.packets.push(*packet)),
            Sends::Windowed(machine) => machine.drain(|packet| self.packets.push(*packet)),
        }
        let outer_bytes = opened.outer_bytes as usize;
        for packet in self.packets.drain(..) {
            let whole = packet.size_bytes as usize;
            let (filled, padding) = match (&packet.header, &mut self.cargo) {
                (Header::Stream(header), Outgoing::Paced(payload)) => {
                    let room = whole.saturating_sub(outer_bytes + DATA);
                    self.room.resize(room, 0);
                    let filled = payload.fill(header.seq, now, &mut self.room).min(room);
                    (filled, room - filled)
                }
                (Header::Tcp(header), Outgoing::Windowed(source)) => {
                    let length = whole.saturating_sub(outer_bytes + SEGMENT);
                    self.room.resize(length, 0);
                    source.read(header.seq, &mut self.room);
                    self.high = self.high.max(header.seq + length as u64);
                    (length, 0)
                }
                _ => continue,
            };
            let Some(frame) = Frame::of(&packet, &self.room[..filled], padding) else { continue };
            tx.say(frame, packet.ecn, now);
            tx.stats.lateness.record(now.saturating_since(packet.sent_at));
            tx.stats.packets += 1;
            tx.stats.bytes += whole as u64;
            tx.stats.content += filled as u64;
            self.sent += 1;
        }
        self.counted = [tx.stats.packets, tx.stats.bytes, tx.stats.content];
    }

    /// A receiver is ready: with the first the machine begins.
    pub(crate) fn join<O: Platform>(
        &mut self,
        peer: u32,
        window: u32,
        binding: &[u8; KEY],
        now: Time,
        tx: &mut TxContext<'_, O>,
    ) {
        if self.opened.is_none() {
            return;
        }
        if self.machine.is_none() && self.awaited.is_none() {
            self.awaited = Some(window.min(self.limits.window));
        }
        match &mut self.cargo {
            Outgoing::Paced(payload) => {
                payload.bind(EndpointId(peer), binding);
                payload.on_join(EndpointId(peer));
            }
            Outgoing::Windowed(source) => {
                source.bind(EndpointId(peer), binding);
                source.on_join(EndpointId(peer));
            }
        }
        self.start(now, tx);
    }

    /// Makes the machine and has it begin, once it is known how fast content comes.
    fn start<O: Platform>(&mut self, now: Time, tx: &mut TxContext<'_, O>) {
        let (Some(opened), Some(window)) = (self.opened, self.awaited) else { return };
        let pace = match &mut self.cargo {
            Outgoing::Paced(payload) => payload.pace(now),
            Outgoing::Windowed(_) => Pace::Any,
        };
        if let Pace::Measuring(until) = pace {
            self.start_at = until;
            return;
        }
        (self.awaited, self.start_at) = (None, Time::NEVER);
        let machine = match self.make(&opened, window, pace) {
            Ok(machine) => self.machine.insert(machine),
            Err(why) => {
                self.failed = Some(why);
                return;
            }
        };
        machine.handle(Input::Start, now);
        if let Some(mode) = &self.mode {
            machine.handle(Input::Mode(mode), now);
        }
        self.post(now, tx);
    }

    /// A receiver has gone.
    pub(crate) fn leave(&mut self, peer: u32) {
        if let Outgoing::Paced(payload) = &mut self.cargo {
            payload.on_leave(EndpointId(peer));
        }
    }

    /// A receiver said something; false where it should not have.
    pub(crate) fn hear<O: Platform>(
        &mut self,
        peer: u32,
        frame: &Frame<'_>,
        at: &At,
        tx: &mut TxContext<'_, O>,
    ) -> bool {
        // what was due before comes first: a machine that is shown the present has missed its deadlines
        self.turn(at.now, tx);
        let from = receiver(peer);
        let starts = self.awaited.is_some();
        if let Frame::Message(content) = frame
            && (self.machine.is_some() || starts)
        {
            match &mut self.cargo {
                Outgoing::Paced(payload) => payload.on_message(from.endpoint, at.now, content),
                Outgoing::Windowed(source) => source.on_message(from.endpoint, at.now, content),
            }
            return true;
        }
        let (Some(machine), Some(opened)) = (&mut self.machine, &self.opened) else { return false };
        let envelope = Envelope {
            flow: FLOW,
            source: from,
            to: SENDER.into(),
            ecn: at.ecn,
            outer_bytes: opened.outer_bytes,
        };
        let Some(packet) = frame.packet(at.length, &envelope) else { return false };
        match (machine, &packet.header) {
            (Sends::Paced(machine), Header::Feedback | Header::Player { .. }) => {
                machine.handle(Input::Packet(&packet), at.now);
            }
            (Sends::Windowed(machine), Header::Tcp(header)) => {
                // of what was not sent nothing can have arrived
                let max = header.sack.0.iter().map(|block| block.1).max().unwrap_or(0);
                if header.ack.saturating_add(u64::from(max)) > self.high {
                    return false;
                }
                machine.handle(Input::Packet(&packet), at.now);
                self.post(at.now, tx);
                if let Outgoing::Windowed(source) = &mut self.cargo
                    && header.ack > self.acknowledged
                {
                    self.acknowledged = header.ack;
                    source.on_acknowledged(header.ack);
                }
            }
            _ => return false,
        }
        true
    }

    /// What a receiver of a group has taken; `None` where nothing is expected of it.
    pub(crate) fn moved_by(&self, peer: u32) -> Option<u64> {
        match &self.cargo {
            Outgoing::Paced(payload) => payload.moved_by(EndpointId(peer)),
            Outgoing::Windowed(_) => None,
        }
    }

    /// Gives the machine what the application has for it.
    fn supply(&mut self, now: Time) {
        match (&mut self.machine, &mut self.cargo) {
            (Some(Sends::Paced(machine)), Outgoing::Paced(payload)) => {
                let held = self.ready_at > now;
                self.ready_at = payload.ready(now);
                // where there was something and still is, there is nothing to tell
                if held || self.ready_at > now {
                    let until = self.ready_at.max(now);
                    machine.with(now, |sender, cx| sender.wait_for_data(until, cx));
                }
            }
            (Some(Sends::Windowed(machine)), Outgoing::Windowed(source)) => {
                let ready = source.ready(now);
                if ready > self.given {
                    let more = Bytes::new(ready - self.given);
                    self.given = ready;
                    machine.handle(Input::App(Request::Send(more)), now);
                }
            }
            _ => {}
        }
    }
}

impl Work for Sending {
    const ROLE: Role = Role::Sender;

    fn offer(&self) -> Option<Offer> {
        Some(self.offer.clone())
    }

    fn open(
        &mut self,
        _offer: Option<&Offer>,
        opened: &Opened,
        stats: &mut Stats,
    ) -> Result<Option<Order>, (Reason, String)> {
        self.retire(stats);
        (self.sent, self.given, self.high, self.acknowledged) = (0, 0, 0, 0);
        self.ready_at = Time::ZERO;
        (self.awaited, self.start_at) = (None, Time::NEVER);
        self.opened = Some(*opened);
        Ok(None)
    }

    fn on_ready<O: Platform>(&mut self, window: u32, now: Time, tx: &mut TxContext<'_, O>) {
        let unstarted = self.machine.is_none() && self.awaited.is_none();
        let Some(opened) = self.opened.filter(|_| unstarted) else { return };
        self.join(opened.peer, window, &opened.binding, now, tx);
    }

    fn on_message<O: Platform>(&mut self, frame: &Frame<'_>, at: &At, tx: &mut TxContext<'_, O>) -> bool {
        let Some(opened) = &self.opened else { return false };
        self.hear(opened.peer, frame, at, tx)
    }

    fn turn<O: Platform>(&mut self, now: Time, tx: &mut TxContext<'_, O>) {
        self.start(now, tx);
        for _ in 0..TICKS {
            self.supply(now);
            let ticked = match &mut self.machine {
                Some(Sends::Paced(machine)) => machine.on_time(now),
                Some(Sends::Windowed(machine)) => machine.on_time(now),
                None => return,
            };
            self.post(now, tx);
            if !ticked {
                return;
            }
        }
    }

    fn wake(&self, now: Time) -> Time {
        match (&self.machine, &self.cargo) {
            (Some(Sends::Paced(machine)), _) => {
                let given_at = if self.ready_at > now { self.ready_at } else { Time::NEVER };
                machine.wake().min(given_at)
            }
            (Some(Sends::Windowed(machine)), Outgoing::Windowed(source)) => {
                let asks = if source.end() == Some(self.given) { Time::NEVER } else { now + ASKS };
                machine.wake().min(asks)
            }
            _ => self.start_at,
        }
    }

    fn on_mode(&mut self, mode: &str, now: Time) {
        if let Some(machine) = &mut self.machine {
            machine.handle(Input::Mode(mode), now);
        }
        self.mode = Some(mode.to_owned());
    }

    fn status(&self) -> Status {
        match (&self.failed, &self.cargo) {
            (Some(why), _) => Status::Failed(why.clone()),
            (None, Outgoing::Paced(payload)) => payload.status(),
            (None, Outgoing::Windowed(source)) => source.status(),
        }
    }

    fn reason(&self) -> Reason {
        match &self.cargo {
            Outgoing::Paced(payload) => payload.reason(),
            Outgoing::Windowed(source) => source.reason(),
        }
    }

    fn total(&self) -> Option<u64> {
        Some(match self.cargo {
            Outgoing::Paced(_) => self.sent,
            Outgoing::Windowed(_) => self.given,
        })
    }

    fn moved(&self) -> Option<u64> {
        match &self.cargo {
            Outgoing::Paced(payload) => payload.moved(),
            Outgoing::Windowed(source) => source.moved(),
        }
    }

    fn waits(&self) -> Waits {
        match &self.cargo {
            // its content is being measured, which begins with its first byte
            _ if self.awaited.is_some() => Waits::Here,
            // the receiver has not said that it is ready
            _ if self.machine.is_none() => Waits::Nobody,
            Outgoing::Paced(payload) => payload.waits(),
            Outgoing::Windowed(source) => source.waits(),
        }
    }

    fn close(&mut self, stats: &mut Stats, _now: Time) {
        self.retire(stats);
    }

    fn show(&self, progress: &Progress) {
        let [packets, bytes, content] = self.counted;
        progress.packets.store(packets, Ordering::Relaxed);
        progress.bytes.store(bytes, Ordering::Relaxed);
        progress.content.store(content, Ordering::Relaxed);
        let Some(machine) = &self.machine else { return };
        let allowed = match machine {
            Sends::Paced(machine) => machine.endpoint.algorithm().allowance().rate,
            Sends::Windowed(machine) => machine.endpoint.controller().allowance().rate,
        };
        let limit = match &self.cargo {
            Outgoing::Paced(payload) => payload.limit(),
            Outgoing::Windowed(source) => source.limit(),
        };
        let bps = |rate: Rate| if rate == Rate::UNLIMITED { 0 } else { rate.as_bps() };
        progress.allowed_bps.store(bps(allowed.min(limit)), Ordering::Relaxed);
        progress.limit_bps.store(bps(limit), Ordering::Relaxed);
        progress.rtt_ns.store(machine.meter().rtt_last.as_nanos(), Ordering::Relaxed);
        progress.lost.store(machine.meter().count(Count::Retransmits), Ordering::Relaxed);
    }
}

impl Sending {
    /// The receiver has gone: its machine stops, and what it reported is kept.
    fn retire(&mut self, stats: &mut Stats) {
        let (Some(machine), Some(opened)) = (self.machine.take(), self.opened) else { return };
        stats.meter.add(machine.meter());
        // a group's receivers leave one by one
        if opened.peer != SENDER.endpoint.0 {
            self.leave(opened.peer);
        }
    }
}
