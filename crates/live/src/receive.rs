//! The receiving end: a state machine answers packets, and a sink stores their content.

use std::sync::atomic::Ordering;

use contract::{Count, Ecn, Header, Input, Packet};
use driver::{Platform, StateMachine};
use schemes::{AnyReceiver, Build};
use stack::{stream, tcp};
use transfer::{Incoming, MAX_MESSAGE_BYTES, Status, Waits};
use units::Time;
use wire::stream::{Data, Envelope, Frame, Offer, Order, Reason, Role, Segment, Transport};

use crate::addresses::{FLOW, SENDER, receiver};
use crate::send::{entry, size_is_right, stream_config, stream_setup, tcp_config, transport};
use crate::session::{At, Opened, Work, run};
use crate::tx::TxContext;
use crate::{Accept, Control, Limits, Outcome, Progress, Settings, Stats};

/// Maximum number of messages of the store at a time.
const WORDS: usize = 4;
/// Maximum number of ranges out of order in a windowed flow; packets that would add another are treated as lost.
const PIECES: usize = 8192;
/// Maximum distance of a packet number from the highest one.
const LEAP: u64 = 1 << 32;

/// Receives what `accept` accepts from one sender, and returns at the end.
pub fn receive(
    settings: &Settings,
    accept: Accept<'_>,
    platform: &mut impl Platform,
    control: &Control,
) -> Outcome {
    run(settings, Receiving::new(accept, settings.limits), platform, control)
}

/// The work of a receiver.
struct Receiving<'a> {
    accept: Accept<'a>,
    limits: Limits,
    /// The accepted offer, and the store.
    agreed: Option<(Offer, Incoming)>,
    peer: u32,
    outer_bytes: u32,
    machine: Option<Receives>,
    packets: Vec<Packet>,
    /// Number of the newest packet of a stream, and bytes before it.
    newest: (u64, u64),
    /// Next byte expected of a windowed flow.
    expected: u64,
    frame: Box<[u8; MAX_MESSAGE_BYTES]>,
    /// Data packets received in all sessions, their bytes and those of their content.
    counted: [u64; 3],
}

/// A receiving machine.
enum Receives {
    Paced(Box<StateMachine<stream::Receiver<AnyReceiver>>>),
    Windowed(Box<StateMachine<tcp::Receiver>>),
}

impl Receives {
    fn meter(&self) -> &contract::Meter {
        match self {
            Self::Paced(machine) => &machine.meter,
            Self::Windowed(machine) => &machine.meter,
        }
    }

    fn wake(&self) -> Time {
        match self {
            Self::Paced(machine) => machine.wake(),
            Self::Windowed(machine) => machine.wake(),
        }
    }

    fn on_time(&mut self, now: Time) -> bool {
        match self {
            Self::Paced(machine) => machine.on_time(now),
            Self::Windowed(machine) => machine.on_time(now),
        }
    }

    fn handle(&mut self, input: Input<'_>, now: Time) {
        match self {
            Self::Paced(machine) => machine.handle(input, now),
            Self::Windowed(machine) => machine.handle(input, now),
        }
    }

    fn drain(&mut self, each: impl FnMut(&Packet)) {
        match self {
            Self::Paced(machine) => machine.drain(each),
            Self::Windowed(machine) => machine.drain(each),
        }
    }
}

impl<'a> Receiving<'a> {
    fn new(accept: Accept<'a>, limits: Limits) -> Self {
        Self {
            accept,
            limits,
            agreed: None,
            peer: 0,
            outer_bytes: 0,
            machine: None,
            packets: Vec::new(),
            newest: (0, 0),
            expected: 0,
            frame: Box::new([0; MAX_MESSAGE_BYTES]),
            counted: [0; 3],
        }
    }

    /// Makes the machine that an offer asks for, or says why not.
    fn make(&self, offer: &Offer, opened: &Opened) -> Result<Receives, String> {
        let entry = entry(&offer.scheme)?;
        if transport(&entry)? != offer.transport || !size_is_right(offer.packet) {
            return Err(format!("`{}` does not carry data so", offer.scheme));
        }
        let me = receiver(opened.peer);
        Ok(match entry.build {
            Build::Stream { receiver, .. } => {
                let config = stream_config(offer, &entry, opened.outer_bytes);
                let law = receiver(&offer.params, &stream_setup(&config))
                    .map_err(|error| format!("{}: {}", error.name, error.message))?;
                let receiver = stream::Receiver::new(&config, law, SENDER);
                Receives::Paced(Box::new(opened.host(receiver, me)))
            }
            Build::Control(_) | Build::Forwarder => {
                let config = tcp_config(offer, opened.outer_bytes, self.limits.window);
                let receiver = tcp::Receiver::new(&config, SENDER);
                Receives::Windowed(Box::new(opened.host(receiver, me)))
            }
        })
    }

    /// Whether an offer is the accepted one, if there is one.
    fn is_the_same(&self, offer: &Offer) -> Result<(), String> {
        let what = |offer: &Offer| (offer.about.clone(), offer.transport, offer.size);
        match &self.agreed {
            Some((agreed, _)) if what(agreed) != what(offer) => {
                Err("something else is offered than before".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Accepts the first offer by `accept`, and later only the same one.
    fn agree(&mut self, offer: &Offer) -> Result<(), String> {
        if self.agreed.is_some() {
            return self.is_the_same(offer);
        }
        let store = (self.accept)(offer)?;
        let fits = match store {
            Incoming::Paced(_) => offer.transport == Transport::Paced,
            Incoming::Windowed(_) => offer.transport == Transport::Windowed,
        };
        if !fits {
            return Err(format!("data by `{}` cannot be kept so", offer.scheme));
        }
        self.agreed = Some((offer.clone(), store));
        Ok(())
    }

    /// Puts what the machine sent into datagrams.
    fn post<O: Platform>(&mut self, now: Time, tx: &mut TxContext<'_, O>) {
        let Some(machine) = &mut self.machine else { return };
        machine.drain(|packet| self.packets.push(*packet));
        for packet in self.packets.drain(..) {
            if let Some(frame) = Frame::of(&packet, &[], 0) {
                tx.say(frame, Ecn::NotCapable, now);
            }
        }
    }

    fn on_data<O: Platform>(
        &mut self,
        data: &Data<'_>,
        packet: &Packet,
        at: &At,
        tx: &mut TxContext<'_, O>,
    ) -> bool {
        let (newest, before) = self.newest;
        let header = &data.header;
        // numbers and bytes grow together, or no sender sent this
        let grows = if header.seq > newest {
            header.bytes_before >= before && header.seq - newest < LEAP
        } else {
            header.bytes_before <= before
        };
        if !grows {
            return false;
        }
        if header.seq > newest {
            self.newest = (header.seq, header.bytes_before);
        }
        let (Some(machine), Some((_, Incoming::Paced(sink)))) = (&mut self.machine, &mut self.agreed) else {
            return false;
        };
        machine.handle(Input::Packet(packet), at.now);
        sink.take(header.seq, at.now, data.content);
        self.post(at.now, tx);
        true
    }

    fn on_segment<O: Platform>(
        &mut self,
        segment: &Segment<'_>,
        packet: &Packet,
        at: &At,
        tx: &mut TxContext<'_, O>,
    ) -> bool {
        let (Some(Receives::Windowed(machine)), Some((_, Incoming::Windowed(sink)))) =
            (&mut self.machine, &mut self.agreed)
        else {
            return false;
        };
        let seq = segment.header.seq;
        let end = seq + segment.content.len() as u64;
        if segment.content.is_empty() || segment.header.flags.syn {
            return false;
        }
        let expected = machine.endpoint.expected();
        if end > expected + u64::from(self.limits.window) {
            return false;
        }
        if seq > expected && machine.endpoint.pieces() >= PIECES {
            return true;
        }
        // what is there already is not written again, and what cannot be kept is lost
        if end > expected && !sink.write(seq, segment.content) {
            return true;
        }
        machine.handle(Input::Packet(packet), at.now);
        let expected = machine.endpoint.expected();
        if expected > self.expected {
            self.expected = expected;
            sink.on_contiguous(expected, at.now);
        }
        self.post(at.now, tx);
        true
    }

    /// Says what the store has to say.
    fn speak<O: Platform>(&mut self, now: Time, tx: &mut TxContext<'_, O>) {
        let Some((_, store)) = &mut self.agreed else { return };
        for _ in 0..WORDS {
            let length = match store {
                Incoming::Paced(sink) => sink.speak(now, &mut self.frame),
                Incoming::Windowed(sink) => sink.speak(now, &mut self.frame),
            };
            if length == 0 {
                return;
            }
            let frame = Frame::Message(&self.frame[..length.min(MAX_MESSAGE_BYTES)]);
            tx.say(frame, Ecn::NotCapable, now);
        }
    }

    fn retire(&mut self, stats: &mut Stats) {
        if let Some(machine) = self.machine.take() {
            stats.meter.add(machine.meter());
        }
    }
}

impl Work for Receiving<'_> {
    const ROLE: Role = Role::Receiver;

    fn offer(&self) -> Option<Offer> {
        None
    }

    fn open(
        &mut self,
        offer: Option<&Offer>,
        opened: &Opened,
        stats: &mut Stats,
    ) -> Result<Option<Order>, (Reason, String)> {
        let refused = |why| (Reason::Offer, why);
        let offer = offer.ok_or_else(|| refused("nothing was offered".to_owned()))?;
        let mut machine = self.make(offer, opened).map_err(refused)?;
        self.agree(offer).map_err(refused)?;
        match &mut self.agreed {
            Some((_, Incoming::Paced(sink))) => {
                sink.bind(&opened.binding);
                sink.on_open();
            }
            Some((_, Incoming::Windowed(sink))) => {
                sink.bind(&opened.binding);
                sink.on_open();
            }
            None => {}
        }
        machine.handle(Input::Start, opened.now);
        self.retire(stats);
        self.machine = Some(machine);
        (self.peer, self.outer_bytes) = (opened.peer, opened.outer_bytes);
        (self.newest, self.expected) = ((0, 0), 0);
        Ok(Some(Order::Ready { window: self.limits.window }))
    }

    fn would_open(&self, offer: Option<&Offer>, opened: &Opened) -> Result<(), Reason> {
        let offer = offer.ok_or(Reason::Offer)?;
        self.make(offer, opened).and_then(|_| self.is_the_same(offer)).map_err(|_| Reason::Offer)
    }

    fn takes_others(&self) -> bool {
        match &self.agreed {
            Some((_, Incoming::Paced(sink))) => sink.verifies(),
            Some((_, Incoming::Windowed(sink))) => sink.verifies(),
            None => true,
        }
    }

    fn on_ready<O: Platform>(&mut self, _window: u32, _now: Time, tx: &mut TxContext<'_, O>) {
        tx.stats.discarded.misplaced += 1;
    }

    fn on_message<O: Platform>(&mut self, frame: &Frame<'_>, at: &At, tx: &mut TxContext<'_, O>) -> bool {
        // what was due before comes first
        while self.machine.as_mut().is_some_and(|machine| machine.on_time(at.now)) {
            self.post(at.now, tx);
        }
        let envelope = Envelope {
            flow: FLOW,
            source: SENDER,
            to: receiver(self.peer).into(),
            ecn: at.ecn,
            outer_bytes: self.outer_bytes,
        };
        let Some(packet) = frame.packet(at.length, &envelope) else { return false };
        let (taken, content) = match frame {
            Frame::Data(data) if matches!(packet.header, Header::Stream(_)) => {
                (self.on_data(data, &packet, at, tx), data.content.len())
            }
            Frame::Segment(segment) => (self.on_segment(segment, &packet, at, tx), segment.content.len()),
            _ => return false,
        };
        if taken {
            tx.stats.packets += 1;
            tx.stats.bytes += u64::from(packet.size_bytes);
            tx.stats.content += content as u64;
            tx.stats.marked += u64::from(at.ecn == Ecn::Marked);
            self.counted = [tx.stats.packets, tx.stats.bytes, tx.stats.content];
        }
        taken
    }

    fn turn<O: Platform>(&mut self, now: Time, tx: &mut TxContext<'_, O>) {
        while self.machine.as_mut().is_some_and(|machine| machine.on_time(now)) {
            self.post(now, tx);
        }
        self.post(now, tx);
        self.speak(now, tx);
    }

    fn wake(&self, _now: Time) -> Time {
        let words = match &self.agreed {
            Some((_, Incoming::Paced(sink))) => sink.wake(),
            Some((_, Incoming::Windowed(sink))) => sink.wake(),
            None => Time::NEVER,
        };
        self.machine.as_ref().map_or(words, |machine| machine.wake().min(words))
    }

    fn on_mode(&mut self, mode: &str, now: Time) {
        if let Some(machine) = &mut self.machine {
            machine.handle(Input::Mode(mode), now);
        }
    }

    fn status(&self) -> Status {
        match &self.agreed {
            Some((_, Incoming::Paced(sink))) => sink.status(),
            Some((_, Incoming::Windowed(sink))) => sink.status(),
            None => Status::Going,
        }
    }

    fn total(&self) -> Option<u64> {
        None
    }

    fn moved(&self) -> Option<u64> {
        match &self.agreed {
            Some((_, Incoming::Paced(sink))) => sink.moved(),
            Some((_, Incoming::Windowed(sink))) => sink.moved(),
            None => Some(0),
        }
    }

    fn waits(&self) -> Waits {
        match &self.agreed {
            Some((_, Incoming::Paced(sink))) => sink.waits(),
            Some((_, Incoming::Windowed(sink))) => sink.waits(),
            None => Waits::Nobody,
        }
    }

    fn forget(&mut self, now: Time) {
        if self.moved() == Some(0) {
            match &mut self.agreed {
                Some((_, Incoming::Paced(sink))) => sink.on_end(now),
                Some((_, Incoming::Windowed(sink))) => sink.on_end(now),
                None => {}
            }
            self.agreed = None;
        }
    }

    fn close(&mut self, stats: &mut Stats, now: Time) {
        self.retire(stats);
        match &mut self.agreed {
            Some((_, Incoming::Paced(sink))) => sink.on_end(now),
            Some((_, Incoming::Windowed(sink))) => sink.on_end(now),
            None => {}
        }
    }

    fn show(&self, progress: &Progress) {
        let [packets, bytes, content] = self.counted;
        progress.packets.store(packets, Ordering::Relaxed);
        progress.bytes.store(bytes, Ordering::Relaxed);
        progress.content.store(content, Ordering::Relaxed);
        if let Some(machine) = &self.machine {
            progress.lost.store(machine.meter().count(Count::Missing), Ordering::Relaxed);
            progress.rtt_ns.store(machine.meter().rtt_last.as_nanos(), Ordering::Relaxed);
        }
    }
}
