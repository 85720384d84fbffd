//! The sending end: offers objects one after the other, and sends each when the receiver is ready for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::TryRecvError;

use crate::{Control, End, Outcome, Progress, Scheme, Stats};
use contract::{Ecn, EndpointId, ParamError};
use driver::Platform;
use quinn_proto::congestion::ControllerFactory;
use schemes::{Build, Entry};
use transfer::{Outgoing, Status, Waits};
use units::{Duration, Rate, Time};
use wire::stream::{ABOUT, Offer, Reason, Role, Transport};

use crate::frames::{Datagram, Record};
use crate::lane::Link;
use crate::paced::{PacedSender, Unlimited};
use crate::session::{Work, run};
use crate::settings::{Object, Objects, Settings};
use crate::stream::SendStream;
use crate::transport::{OUTER, Sends};

/// The receiver's number, by which payloads and schemes identify it.
pub(crate) const RECEIVER: EndpointId = EndpointId(1);
/// Interval at which sources without data, and the list of objects, are polled.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// Smallest and largest packet of a scheme: what QUIC carries on every path [RFC9000 §14], and a UDP datagram.
const PACKETS: std::ops::RangeInclusive<u16> = 1248..=9000;

/// Sends objects with `scheme` to one receiver, and returns at the end.
///
/// A window scheme is the congestion controller of the connection, and its objects are sent on streams. A scheme that paces, with feedback of its
/// receiver, sends in DATAGRAM frames.
///
/// Errors are the outcome's end: [`End::Failed`] if there is no such scheme, QUIC cannot carry its data, or a size is out of range.
pub fn send(
    settings: &Settings,
    scheme: &Scheme,
    objects: Objects,
    platform: &mut impl Platform,
    control: &Control,
) -> Outcome {
    let mut seed = [0; 8];
    platform.fill_random(&mut seed);
    match Sending::new(scheme, objects, u64::from_be_bytes(seed)) {
        Ok(sending) => run(settings, sending, platform, control),
        Err(why) => Outcome { end: End::Failed(why), stats: Stats::default() },
    }
}

/// Whether [`send`] can send with this scheme, and how it carries data.
///
/// # Errors
///
/// A message for users: there is no such scheme, its parameters are wrong, QUIC cannot carry its data, or a size is out of range.
pub fn check(scheme: &Scheme) -> Result<Transport, String> {
    checked(scheme, 0).map(|(transport, _)| transport)
}

type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// How the scheme carries data, and the congestion controller of its connection.
fn checked(scheme: &Scheme, seed: u64) -> Result<(Transport, Factory), String> {
    let (entry, transport) = find(&scheme.name)?;
    (entry.resolve)(&scheme.params).map_err(say)?;
    if !PACKETS.contains(&scheme.packet) {
        let (min, max) = (PACKETS.start(), PACKETS.end());
        return Err(format!("packets of {} bytes: QUIC carries {min} to {max}, with headers", scheme.packet));
    }
    let controller = match transport {
        Transport::Paced => Arc::new(Unlimited) as Factory,
        Transport::Windowed => {
            thalweg_quic::by_name(&scheme.name, &scheme.params, seed).map_err(say)?.ok_or_else(|| {
                let there = thalweg_quic::NAMES.join(", ");
                format!("`{}` is no congestion controller of QUIC; there are {there}", scheme.name)
            })?
        }
    };
    Ok((transport, controller))
}

/// The work of a sender.
pub(crate) struct Sending {
    scheme: Scheme,
    transport: Transport,
    controller: Factory,
    paced: PacedSender,
    objects: Objects,
    /// The object that is offered or sent, and its number.
    current: Option<Current>,
    number: u32,
    /// Nothing follows it.
    last: bool,
    failed: Option<String>,
    /// What receivers had taken of the objects before, by [`Outgoing`]'s measure.
    moved_before: u64,
}

/// The object of a sender.
struct Current {
    folders: Vec<String>,
    offer: Offer,
    cargo: Outgoing,
    more: bool,
    /// The way it is sent, once the receiver is ready for it on the present connection.
    outgoing: Option<SendStream>,
}

/// What the receiver has taken, by the payload's own measure.
fn moved(cargo: &Outgoing) -> Option<u64> {
    match cargo {
        Outgoing::Paced(payload) => payload.moved(),
        Outgoing::Windowed(source) => source.moved(),
    }
}

fn status(cargo: &Outgoing) -> Status {
    match cargo {
        Outgoing::Paced(payload) => payload.status(),
        Outgoing::Windowed(source) => source.status(),
    }
}

/// How the scheme of this name carries data.
///
/// # Errors
///
/// A message for users: there is no such scheme, or it has no part at endpoints.
pub fn transport_of(name: &str) -> Result<Transport, String> {
    find(name).map(|(_, transport)| transport)
}

/// A message for users about a parameter.
pub(crate) fn say(error: ParamError) -> String {
    format!("{}: {}", error.name, error.message)
}

/// The scheme's entry and how QUIC carries its data, or a message for users.
pub(crate) fn find(name: &str) -> Result<(Entry, Transport), String> {
    let entry =
        schemes::find(name).ok_or_else(|| format!("there is no scheme `{}`", wire::printable(name)))?;
    match entry.build {
        Build::Stream { .. } => Ok((entry, Transport::Paced)),
        Build::Control(_) => Ok((entry, Transport::Windowed)),
        Build::Forwarder => Err(format!("`{name}` has no part at the ends of a network")),
    }
}

impl Sending {
    fn new(scheme: &Scheme, objects: Objects, seed: u64) -> Result<Self, String> {
        let (transport, controller) = checked(scheme, seed)?;
        Ok(Self {
            scheme: scheme.clone(),
            transport,
            controller,
            paced: PacedSender::new(scheme, seed),
            objects,
            current: None,
            number: 0,
            last: false,
            failed: None,
            moved_before: 0,
        })
    }

    /// Takes the next object, when the one before is complete, and offers it.
    fn advance(&mut self, link: &mut Link<'_>) {
        if let Some(current) = &mut self.current {
            if self.last || status(&current.cargo) != Status::Whole {
                return;
            }
            if let Some(outgoing) = &mut current.outgoing {
                outgoing.finish(link);
            }
            self.paced.put_away();
            self.moved_before += moved(&current.cargo).unwrap_or(0);
            self.number += 1;
            self.current = None;
        }
        match self.objects.try_recv() {
            Ok(Ok(object)) => match self.take(object) {
                Ok(current) => {
                    self.last = !current.more;
                    current.offer(self.number, link);
                    self.current = Some(current);
                }
                Err(why) => self.failed = Some(why),
            },
            Ok(Err(why)) => self.failed = Some(why),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => {
                self.failed.get_or_insert_with(|| "there is nothing to send".to_owned());
            }
        }
    }

    /// Sends what is due of the present object.
    fn send(&mut self, link: &mut Link<'_>) {
        let Some(current) = &mut self.current else { return };
        match (&mut current.outgoing, &mut current.cargo) {
            (Some(outgoing), Outgoing::Windowed(source)) => outgoing.write(&mut **source, link),
            (_, Outgoing::Paced(payload)) => {
                if let Err(why) = self.paced.turn(self.number, &current.offer, &mut **payload, link) {
                    self.failed.get_or_insert(why);
                }
            }
            (None, Outgoing::Windowed(_)) => {}
        }
    }

    fn take(&self, object: Object) -> Result<Current, String> {
        let (fits, size) = match &object.cargo {
            Outgoing::Paced(_) => (self.transport == Transport::Paced, None),
            Outgoing::Windowed(source) => (self.transport == Transport::Windowed, source.end()),
        };
        if !fits || object.about.len() > ABOUT {
            return Err(format!("`{}` does not carry data of this kind", self.scheme.name));
        }
        let Scheme { name, params, packet, ecn, .. } = self.scheme.clone();
        let offer =
            Offer { scheme: name, params, transport: self.transport, packet, ecn, size, about: object.about };
        let Object { folders, cargo, more, .. } = object;
        Ok(Current { folders, offer, cargo, more, outgoing: None })
    }
}

impl Current {
    fn offer(&self, object: u32, link: &mut Link<'_>) {
        let Self { folders, offer, more, .. } = self;
        link.say(&Record::Offer { object, more: *more, folders: folders.clone(), offer: offer.clone() });
    }

    /// The receiver is ready for it.
    fn begin(&mut self, object: u32, paced: &mut PacedSender, link: &mut Link<'_>) {
        let binding = link.binding();
        match &mut self.cargo {
            Outgoing::Paced(payload) => {
                payload.bind(RECEIVER, &binding);
                payload.on_join(RECEIVER);
                paced.join(object, link);
            }
            Outgoing::Windowed(source) => {
                source.bind(RECEIVER, &binding);
                source.on_join(RECEIVER);
                self.outgoing = Some(SendStream::new(object));
            }
        }
    }

    fn on_message(&mut self, bytes: &[u8], now: Time) {
        match &mut self.cargo {
            Outgoing::Paced(payload) => payload.on_message(RECEIVER, now, bytes),
            Outgoing::Windowed(source) => source.on_message(RECEIVER, now, bytes),
        }
    }
}

impl Work for Sending {
    const ROLE: Role = Role::Sender;

    fn sends(&self) -> Sends {
        // the maximum over either version of IP
        let payload = self.scheme.packet - OUTER[0];
        let fixed = self.transport == Transport::Paced;
        Sends { controller: Arc::clone(&self.controller), payload, fixed }
    }

    fn open(&mut self, link: &mut Link<'_>) {
        self.paced.open(link.stats);
        if let Some(current) = &mut self.current {
            current.outgoing = None;
            current.offer(self.number, link);
        }
    }

    fn on_record(&mut self, record: Record, link: &mut Link<'_>) -> Result<(), (Reason, String)> {
        let number = self.number;
        match (record, &mut self.current) {
            (Record::Ready { object }, Some(current))
                if object == number && current.outgoing.is_none() && !self.paced.carries() =>
            {
                current.begin(number, &mut self.paced, link);
            }
            (Record::Message { object, bytes }, Some(current)) if object == number => {
                current.on_message(&bytes, link.now);
            }
            // of an object before
            (Record::Ready { .. } | Record::Message { .. }, _) => {}
            _ => link.stats.discarded.misplaced += 1,
        }
        Ok(())
    }

    fn on_datagram(&mut self, bytes: &[u8], ecn: Ecn, link: &mut Link<'_>) {
        // what was due before comes first: a machine that is shown the present has missed its deadlines
        self.send(link);
        let valid = match (Datagram::read(bytes), &mut self.current) {
            (Some(Datagram::Packet(frame)), _) => self.paced.on_feedback(&frame, bytes.len(), ecn, link),
            (Some(Datagram::Message { object, bytes }), Some(current)) if object == self.number => {
                current.on_message(bytes, link.now);
                true
            }
            // of an object before
            (Some(Datagram::Message { .. }), _) => true,
            (None, _) => false,
        };
        link.stats.discarded.misplaced += u64::from(!valid);
    }

    fn turn(&mut self, link: &mut Link<'_>) {
        self.advance(link);
        self.send(link);
    }

    fn wake(&self, now: Time) -> Time {
        match &self.current {
            Some(current) if current.outgoing.as_ref().is_some_and(SendStream::is_blocked) => Time::NEVER,
            Some(current) if status(&current.cargo) == Status::Whole && self.last => Time::NEVER,
            Some(Current { cargo: Outgoing::Paced(_), .. }) if self.paced.carries() => self.paced.wake(now),
            _ => now + LOOK_EVERY,
        }
    }

    fn paced(&self) -> Option<u64> {
        (self.transport == Transport::Paced).then(|| self.paced.packets())
    }

    fn on_mode(&mut self, mode: &str, now: Time) {
        self.paced.on_mode(mode, now);
    }

    fn status(&self) -> Status {
        match (&self.failed, &self.current) {
            (Some(why), _) => Status::Failed(why.clone()),
            (None, Some(current)) => match status(&current.cargo) {
                Status::Whole if !self.last => Status::Going,
                status => status,
            },
            (None, None) => Status::Going,
        }
    }

    fn reason(&self) -> Reason {
        match self.current.as_ref().map(|current| &current.cargo) {
            Some(Outgoing::Paced(payload)) => payload.reason(),
            Some(Outgoing::Windowed(source)) => source.reason(),
            None => Reason::Storage,
        }
    }

    fn moved(&self) -> Option<u64> {
        Some(self.moved_before + self.current.as_ref().map_or(Some(0), |current| moved(&current.cargo))?)
    }

    fn waits(&self) -> Waits {
        match &self.current {
            // the next object is being read
            None => Waits::Here,
            Some(Current { cargo: Outgoing::Paced(_), .. }) if self.paced.measures() => Waits::Here,
            Some(Current { cargo: Outgoing::Paced(payload), .. }) if self.paced.carries() => payload.waits(),
            Some(current) if current.outgoing.is_none() => Waits::Nobody,
            Some(Current { cargo: Outgoing::Paced(payload), .. }) => payload.waits(),
            Some(Current { cargo: Outgoing::Windowed(source), .. }) => source.waits(),
        }
    }

    fn close(&mut self, stats: &mut Stats, _now: Time) {
        self.paced.retire(stats);
    }

    fn show(&self, progress: &Progress) {
        let limit = match self.current.as_ref().map(|current| &current.cargo) {
            Some(Outgoing::Paced(payload)) => payload.limit(),
            Some(Outgoing::Windowed(source)) => source.limit(),
            None => Rate::UNLIMITED,
        };
        let bps = if limit == Rate::UNLIMITED { 0 } else { limit.as_bps() };
        progress.limit_bps.store(bps, Ordering::Relaxed);
        match self.transport {
            Transport::Paced => self.paced.show(limit, progress),
            Transport::Windowed => progress.allowed_bps.store(bps, Ordering::Relaxed),
        }
    }
}
