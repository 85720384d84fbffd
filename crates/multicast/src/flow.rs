//! The flow of a group: the scheme's state machine decides when a packet leaves, and the payload decides its content.

use std::sync::atomic::Ordering;

use contract::{Count, Ecn, EndpointId, Header, Input, Packet, Random, SenderAlgorithm};
use driver::{Platform, StateMachine};
use quic_net::frames::{DATA_HEADER, Datagram, data_length};
use quic_net::group::{OVERHEAD, receiver};
use quic_net::paced::{FLOW, SENDER, config, overhead, setup};
use quic_net::{Progress, Scheme, Stats};
use schemes::{AnySender, Build, Entry};
use stack::stream;
use transfer::{Payload, Status, Waits};
use units::{Rate, Time};
use wire::stream::{ABOUT, Data, Envelope, Frame, Offer, Transport};

use crate::channel::Channel;

/// Maximum number of due deadlines of the state machine before the socket is read.
const TICKS: usize = 512;
/// Minimum bytes of content in a packet.
const CONTENT: u32 = 64;
/// Maximum size of a packet.
const PACKET: u16 = 9000;

type Machine = StateMachine<stream::Sender<AnySender>>;

/// The transmission of a payload to a group.
pub(crate) struct Flow {
    offer: Offer,
    entry: Entry,
    payload: Box<dyn Payload>,
    seed: u64,
    machine: Option<Box<Machine>>,
    /// A receiver is ready.
    begun: bool,
    /// Why it cannot continue.
    failed: Option<String>,
    /// The last mode that was requested.
    mode: Option<String>,
    /// The payload has no content before this time.
    ready_at: Time,
    outbox: Vec<Packet>,
    /// Content of the packet that is being assembled.
    buffer: Vec<u8>,
    /// Data packets sent, their bytes and those of their content.
    counted: [u64; 3],
}

impl Flow {
    /// # Errors
    ///
    /// A message for users: there is no such scheme, it is not paced, or a size is out of range.
    pub(crate) fn new(
        scheme: &Scheme,
        payload: Box<dyn Payload>,
        about: Vec<u8>,
        seed: u64,
    ) -> Result<Self, String> {
        let Scheme { name, params, mode, packet, ecn } = scheme.clone();
        let entry =
            schemes::find(&name).ok_or_else(|| format!("there is no scheme `{}`", wire::printable(&name)))?;
        if !matches!(entry.build, Build::Stream { .. }) {
            return Err(format!("`{name}` has a window, and a group needs a paced scheme"));
        }
        (entry.resolve)(&params).map_err(|error| format!("{}: {}", error.name, error.message))?;
        let min = u32::from(quic_net::OUTER[1]) + OVERHEAD + DATA_HEADER as u32 + CONTENT;
        if u32::from(packet) < min || packet > PACKET {
            return Err(format!("packets of {packet} bytes: a group needs {min} to {PACKET}, with headers"));
        }
        if about.len() > ABOUT {
            return Err(format!("the manifest has {} bytes, and at most {ABOUT} are sent", about.len()));
        }
        let offer =
            Offer { scheme: name, params, transport: Transport::Paced, packet, ecn, size: None, about };
        Ok(Self {
            offer,
            entry,
            payload,
            seed,
            machine: None,
            begun: false,
            failed: None,
            mode,
            ready_at: Time::ZERO,
            outbox: Vec::new(),
            buffer: Vec::new(),
            counted: [0; 3],
        })
    }

    /// The offer to receivers.
    pub(crate) const fn offer(&self) -> &Offer {
        &self.offer
    }

    /// A receiver is ready for data, on a connection with this binding. The first one starts the state machine.
    pub(crate) fn join(&mut self, peer: u32, binding: &[u8; 32]) {
        self.payload.bind(EndpointId(peer), binding);
        self.payload.on_join(EndpointId(peer));
        self.begun = true;
    }

    /// A receiver has left.
    pub(crate) fn leave(&mut self, peer: u32) {
        self.payload.on_leave(EndpointId(peer));
    }

    /// Creates and starts the state machine, when the first receiver is ready.
    fn start(&mut self, outer_bytes: u32, now: Time) -> Result<(), String> {
        if !self.begun || self.machine.is_some() || self.failed.is_some() {
            return Ok(());
        }
        let Self { offer, entry, .. } = self;
        let Build::Stream { sender, .. } = entry.build else {
            return Err(format!("`{}` does not pace", offer.scheme));
        };
        let config = config(offer, entry, outer_bytes);
        let algorithm = sender(&offer.params, &setup(&config))
            .map_err(|error| format!("{}: {}", error.name, error.message))?;
        if algorithm.out_of_band() {
            let why = "control packets out of band need queues with classes: they are simulated only";
            return Err(why.to_owned());
        }
        let sender = stream::Sender::new(&config, algorithm, SENDER.into());
        let random = Random::new(self.seed, "multicast", "sender");
        let machine = self.machine.insert(Box::new(StateMachine::new(sender, SENDER, FLOW, random)));
        machine.handle(Input::Start, now);
        if let Some(mode) = &self.mode {
            machine.handle(Input::Mode(mode), now);
        }
        Ok(())
    }

    /// Handles what is due.
    pub(crate) fn turn<P: Platform>(
        &mut self,
        now: Time,
        channel: &mut Channel,
        platform: &mut P,
        stats: &mut Stats,
    ) {
        if let Err(why) = self.start(channel.outer_bytes(), now) {
            self.failed.get_or_insert(why);
        }
        for _ in 0..TICKS {
            self.supply(now);
            let Some(machine) = &mut self.machine else { return };
            let ticked = machine.on_time(now);
            self.transmit(now, channel, platform, stats);
            if !ticked {
                break;
            }
        }
        if channel.gso_batches.too_long {
            let packet = self.offer.packet;
            self.failed.get_or_insert_with(|| {
                format!("the path does not carry packets of {packet} bytes: use smaller packets")
            });
        }
    }

    /// Tells the state machine when there is content.
    fn supply(&mut self, now: Time) {
        let Some(machine) = &mut self.machine else { return };
        let held = self.ready_at > now;
        self.ready_at = self.payload.ready(now);
        // it knows already that there is content
        if held || self.ready_at > now {
            let until = self.ready_at.max(now);
            machine.with(now, |sender, cx| sender.wait_for_data(until, cx));
        }
    }

    /// Sends the packets of the state machine.
    fn transmit<P: Platform>(
        &mut self,
        now: Time,
        channel: &mut Channel,
        platform: &mut P,
        stats: &mut Stats,
    ) {
        let Some(machine) = &mut self.machine else { return };
        machine.drain(|packet| self.outbox.push(*packet));
        let overhead = channel.outer_bytes() + OVERHEAD;
        for packet in self.outbox.drain(..) {
            let Header::Stream(header) = packet.header else { continue };
            let whole = packet.size_bytes.saturating_sub(overhead) as usize;
            let capacity = whole.saturating_sub(DATA_HEADER);
            self.buffer.resize(capacity, 0);
            let filled = self.payload.fill(header.seq, now, &mut self.buffer).min(capacity);
            let Some(Frame::Data(data)) = Frame::of(&packet, &self.buffer[..filled], 0) else { continue };
            // padding after the content, so that the packet has the size that the scheme assumes; it adds two bytes for the length of the content
            let padding = whole.saturating_sub(data_length(&data) + 2);
            let datagram = Datagram::Packet(Frame::Data(Data { padding, ..data }));
            channel.send(packet.ecn, now, platform, |out| {
                datagram.write(out);
            });
            stats.lateness.record(now.saturating_since(packet.sent_at));
            stats.packets += 1;
            stats.bytes += u64::from(packet.size_bytes);
            stats.content += filled as u64;
        }
        self.counted = [stats.packets, stats.bytes, stats.content];
    }

    /// The content of a DATAGRAM frame of a receiver. Returns false if it is not valid.
    pub(crate) fn on_datagram(
        &mut self,
        peer: u32,
        bytes: &[u8],
        outer_bytes: u32,
        ecn: Ecn,
        now: Time,
    ) -> bool {
        let frame = match Datagram::read(bytes) {
            Some(Datagram::Packet(frame)) => frame,
            Some(Datagram::Message { object: 0, bytes }) => {
                self.payload.on_message(EndpointId(peer), now, bytes);
                return true;
            }
            _ => return false,
        };
        let Some(machine) = &mut self.machine else { return false };
        let envelope = Envelope { flow: FLOW, source: receiver(peer), to: SENDER.into(), ecn, outer_bytes };
        let packet = frame.packet(bytes.len() + overhead(outer_bytes) as usize, &envelope);
        let valid = matches!(packet.header, Header::Feedback | Header::Player { .. });
        if valid {
            machine.handle(Input::Packet(&packet), now);
        }
        valid
    }

    /// A message of a receiver on its control stream.
    pub(crate) fn on_message(&mut self, peer: u32, bytes: &[u8], now: Time) {
        self.payload.on_message(EndpointId(peer), now, bytes);
    }

    /// The scheme changes to this mode.
    pub(crate) fn on_mode(&mut self, mode: &str, now: Time) {
        if let Some(machine) = &mut self.machine {
            machine.handle(Input::Mode(mode), now);
        }
        self.mode = Some(mode.to_owned());
    }

    /// The next deadline.
    pub(crate) fn wake(&self, now: Time) -> Time {
        match &self.machine {
            Some(machine) => {
                let ready_at = if self.ready_at > now { self.ready_at } else { Time::NEVER };
                machine.wake().min(ready_at)
            }
            None if self.begun && self.failed.is_none() => now,
            None => Time::NEVER,
        }
    }

    /// The state of the transfer.
    pub(crate) fn status(&self) -> Status {
        self.failed.clone().map_or_else(|| self.payload.status(), Status::Failed)
    }

    /// The payload.
    pub(crate) fn payload(&self) -> &dyn Payload {
        &*self.payload
    }

    /// Which end causes the present time without data.
    pub(crate) fn waits(&self) -> Waits {
        if self.machine.is_some() { self.payload.waits() } else { Waits::Nobody }
    }

    /// The session is over: the counters of the state machine are kept.
    pub(crate) fn retire(&mut self, stats: &mut Stats) {
        if let Some(machine) = self.machine.take() {
            stats.meter.add(&machine.meter);
        }
    }

    /// Data packets sent.
    pub(crate) const fn packets(&self) -> u64 {
        self.counted[0]
    }

    /// Publishes its progress.
    pub(crate) fn show(&self, progress: &Progress) {
        let [packets, bytes, content] = self.counted;
        progress.packets.store(packets, Ordering::Relaxed);
        progress.bytes.store(bytes, Ordering::Relaxed);
        progress.content.store(content, Ordering::Relaxed);
        let limit = self.payload.limit();
        let bps = |rate: Rate| if rate == Rate::UNLIMITED { 0 } else { rate.as_bps() };
        progress.limit_bps.store(bps(limit), Ordering::Relaxed);
        let Some(machine) = &self.machine else { return };
        let allowed = machine.endpoint.algorithm().allowance().rate.min(limit);
        progress.allowed_bps.store(bps(allowed), Ordering::Relaxed);
        progress.rtt_ns.store(machine.meter.rtt_last.as_nanos(), Ordering::Relaxed);
        progress.lost.store(machine.meter.count(Count::Retransmits), Ordering::Relaxed);
    }
}
