//! The sender: offers objects one after the other, and sends each when the receiver is ready for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::TryRecvError;

use crate::{Control, End, Outcome, Progress, Scheme, Stats};
use contract::{Count, Ecn};
use driver::Platform;
use quinn_proto::congestion::ControllerFactory;
use schemes::Build;
use transfer::{Outgoing, Pause, Status};
use units::{Duration, Rate, Time};
use wire::stream::{ABOUT, Offer, Reason, Role, Transport};

use crate::connection::SessionContext;
use crate::frames::{Datagram, MAX_DEPTH, Record};
use crate::paced::{PacedSender, Unlimited, bps};
use crate::scheme::{RECEIVER, find, parameter_error};
use crate::session::{Application, run};
use crate::settings::{Object, Objects, Settings};
use crate::stream::SendStream;
use crate::transport::{MIN_PAYLOAD, OUTER, SendConfig};

/// Interval at which sources without data, and the list of objects, are polled.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Minimum and maximum packet of a scheme: what every path of QUIC carries [RFC9000 §14] has 28 bytes of headers over
/// IPv4, and a jumbo frame of Ethernet.
const PACKETS: std::ops::RangeInclusive<u16> = MIN_PAYLOAD + OUTER[0]..=9000;

/// Sends objects with `scheme` to one receiver, and returns at the end.
///
/// A window scheme is the congestion controller of the connection, and its objects are sent on streams. A paced scheme
/// with receiver feedback sends DATAGRAM frames.
///
/// Errors are the outcome's end: [`End::Failed`] if there is no such scheme, QUIC cannot carry its data, or a size is
/// out of range.
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

/// How [`send`] carries data with this scheme.
///
/// # Errors
///
/// A message for users: there is no such scheme, its parameters are wrong, QUIC cannot carry its data, or a size is out
/// of range.
pub fn check(scheme: &Scheme) -> Result<Transport, String> {
    checked(scheme, 0).map(|(transport, _)| transport)
}

type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// How the scheme carries data, and the congestion controller of its connection.
fn checked(scheme: &Scheme, seed: u64) -> Result<(Transport, Factory), String> {
    let (entry, transport) = find(&scheme.name)?;
    if matches!(entry.build, Build::Stream { router: Some(_), .. }) {
        let name = &scheme.name;
        return Err(format!(
            "`{name}` needs reports of routers, which paths over UDP do not have; use `thalweg emulate` with an `[icn]` table, or another scheme"
        ));
    }
    (entry.resolve)(&scheme.params).map_err(parameter_error)?;
    if !PACKETS.contains(&scheme.packet) {
        let (min, max) = (PACKETS.start(), PACKETS.end());
        return Err(format!("packets of {} bytes: QUIC carries {min} to {max}, with headers", scheme.packet));
    }
    let controller = match transport {
        Transport::Paced => Arc::new(Unlimited) as Factory,
        Transport::Windowed => thalweg_quic::by_name(&scheme.name, &scheme.params, seed)
            .map_err(parameter_error)?
            .ok_or_else(|| {
                let names = thalweg_quic::NAMES.join(", ");
                format!("`{}` is not a congestion controller of QUIC; use one of {names}", scheme.name)
            })?,
    };
    Ok((transport, controller))
}

/// The application of a sender.
pub(crate) struct Sending {
    scheme: Scheme,
    transport: Transport,
    controller: Factory,
    paced: PacedSender,
    objects: Objects,
    /// The object that is offered or sent, and its number.
    current: Option<Current>,
    number: u32,
    /// No object follows it.
    last: bool,
    failed: Option<String>,
    /// Data of earlier objects that receivers had accepted, by the measure of [`Outgoing`].
    earlier_progress: u64,
    /// The last report of the receiver of this session: packets that were overtaken, and how many of them had been
    /// declared lost.
    reordering: (u64, u64),
}

/// The object of a sender.
struct Current {
    folders: Vec<String>,
    offer: Offer,
    outgoing: Outgoing,
    more: bool,
    omitted: u32,
    /// Its stream, once the receiver is ready for it on the current connection.
    stream: Option<SendStream>,
}

/// Data that the receiver has accepted, by the payload's own measure.
fn progress(outgoing: &Outgoing) -> Option<u64> {
    match outgoing {
        Outgoing::Paced(payload) => payload.progress(),
        Outgoing::Windowed(source) => source.progress(),
    }
}

fn status(outgoing: &Outgoing) -> Status {
    match outgoing {
        Outgoing::Paced(payload) => payload.status(),
        Outgoing::Windowed(source) => source.status(),
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
            earlier_progress: 0,
            reordering: (0, 0),
        })
    }

    /// Offers the next object when the previous one is complete.
    fn advance(&mut self, context: &mut SessionContext<'_>) {
        if let Some(current) = &mut self.current {
            if self.last || status(&current.outgoing) != Status::Complete {
                return;
            }
            if let Some(stream) = &mut current.stream {
                stream.finish(context);
            }
            self.paced.finish_object();
            self.earlier_progress += progress(&current.outgoing).unwrap_or(0);
            self.number += 1;
            self.current = None;
        }
        match self.objects.try_recv() {
            Ok(Ok(object)) => match self.prepare(object) {
                Ok(current) => {
                    self.last = !current.more;
                    current.offer(self.number, context);
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

    /// Sends what is due of the current object.
    fn send(&mut self, context: &mut SessionContext<'_>) {
        let Some(current) = &mut self.current else { return };
        match (&mut current.stream, &mut current.outgoing) {
            (Some(stream), Outgoing::Windowed(source)) => stream.write(&mut **source, context),
            (_, Outgoing::Paced(payload)) => {
                if let Err(why) = self.paced.turn(self.number, &current.offer, &mut **payload, context) {
                    self.failed.get_or_insert(why);
                }
            }
            (None, Outgoing::Windowed(_)) => {}
        }
    }

    fn prepare(&self, object: Object) -> Result<Current, String> {
        let (fits, size) = match &object.outgoing {
            Outgoing::Paced(_) => (self.transport == Transport::Paced, None),
            Outgoing::Windowed(source) => (self.transport == Transport::Windowed, source.end()),
        };
        if !fits || object.about.len() > ABOUT {
            return Err(format!("`{}` does not carry data of this kind", self.scheme.name));
        }
        if object.folders.len() > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} folders within each other"));
        }
        for folder in &object.folders {
            transfer::check_name(folder).map_err(|why| format!("the folder {folder:?}: {why}"))?;
        }
        let Scheme { name, params, packet, ecn, .. } = self.scheme.clone();
        let offer =
            Offer { scheme: name, params, transport: self.transport, packet, ecn, size, about: object.about };
        let Object { folders, outgoing, more, omitted, .. } = object;
        Ok(Current { folders, offer, outgoing, more, omitted, stream: None })
    }
}

impl Current {
    fn offer(&self, object: u32, context: &mut SessionContext<'_>) {
        let Self { folders, offer, more, omitted, .. } = self;
        context.send_record(&Record::Offer {
            object,
            more: *more,
            omitted: *omitted,
            folders: folders.clone(),
            offer: offer.clone(),
        });
    }

    /// The receiver is ready for it.
    fn start(&mut self, object: u32, paced: &mut PacedSender, context: &mut SessionContext<'_>) {
        let binding = context.binding();
        match &mut self.outgoing {
            Outgoing::Paced(payload) => {
                payload.bind(RECEIVER, &binding);
                payload.on_join(RECEIVER);
                paced.join(object, context);
            }
            Outgoing::Windowed(source) => {
                source.bind(RECEIVER, &binding);
                source.on_join(RECEIVER);
                self.stream = Some(SendStream::new(object));
            }
        }
    }

    fn on_message(&mut self, bytes: &[u8], now: Time) {
        match &mut self.outgoing {
            Outgoing::Paced(payload) => payload.on_message(RECEIVER, now, bytes),
            Outgoing::Windowed(source) => source.on_message(RECEIVER, now, bytes),
        }
    }
}

impl Application for Sending {
    const ROLE: Role = Role::Sender;

    fn send_config(&self) -> SendConfig {
        // the maximum over either version of IP
        let payload = self.scheme.packet - OUTER[0];
        let fixed = self.transport == Transport::Paced;
        SendConfig { controller: Arc::clone(&self.controller), payload, fixed }
    }

    fn open(&mut self, context: &mut SessionContext<'_>) {
        self.paced.open(context.stats);
        self.reordering = (0, 0);
        if let Some(current) = &mut self.current {
            current.stream = None;
            current.offer(self.number, context);
        }
    }

    fn on_record(
        &mut self,
        record: Record,
        context: &mut SessionContext<'_>,
    ) -> Result<(), (Reason, String)> {
        let number = self.number;
        match (record, &mut self.current) {
            (Record::Ready { object }, Some(current))
                if object == number && current.stream.is_none() && !self.paced.carries() =>
            {
                current.start(number, &mut self.paced, context);
            }
            (Record::Message { object, bytes }, Some(current)) if object == number => {
                current.on_message(&bytes, context.now);
            }
            (Record::Reordering { reordered, late }, _) if self.transport == Transport::Paced => {
                let (before, late_before) = self.reordering;
                let counts = &mut context.stats.meter.counts;
                counts[Count::Reordered as usize] += reordered.saturating_sub(before);
                counts[Count::Late as usize] += late.saturating_sub(late_before);
                self.reordering = (reordered, late);
            }
            // of an earlier object
            (Record::Ready { .. } | Record::Message { .. }, _) => {}
            _ => context.stats.discarded.misplaced += 1,
        }
        Ok(())
    }

    fn on_datagram(&mut self, bytes: &[u8], ecn: Ecn, context: &mut SessionContext<'_>) {
        // deadlines before the arrival come first, because the state machine's time cannot go back
        self.send(context);
        let valid = match (Datagram::read(bytes), &mut self.current) {
            (Some(Datagram::Packet(frame)), _) => self.paced.on_feedback(&frame, bytes.len(), ecn, context),
            (Some(Datagram::Message { object, bytes }), Some(current)) if object == self.number => {
                current.on_message(bytes, context.now);
                true
            }
            // of an earlier object
            (Some(Datagram::Message { .. }), _) => true,
            (None, _) => false,
        };
        context.stats.discarded.misplaced += u64::from(!valid);
    }

    fn turn(&mut self, context: &mut SessionContext<'_>) {
        self.advance(context);
        self.send(context);
    }

    fn wake(&self, now: Time) -> Time {
        match &self.current {
            Some(current) if current.stream.as_ref().is_some_and(SendStream::is_blocked) => Time::NEVER,
            Some(current) if status(&current.outgoing) == Status::Complete && self.last => Time::NEVER,
            Some(Current { outgoing: Outgoing::Paced(_), .. }) if self.paced.carries() => {
                self.paced.wake(now)
            }
            _ => now + POLL_INTERVAL,
        }
    }

    fn paced(&self) -> Option<u64> {
        (self.transport == Transport::Paced).then(|| self.paced.packets())
    }

    fn rate(&self) -> Option<Rate> {
        self.paced.rate()
    }

    fn on_mode(&mut self, mode: &str, now: Time) {
        self.paced.on_mode(mode, now);
    }

    fn status(&self) -> Status {
        match (&self.failed, &self.current) {
            (Some(why), _) => Status::Failed(why.clone()),
            (None, Some(current)) => match status(&current.outgoing) {
                Status::Complete if !self.last => Status::InProgress,
                status => status,
            },
            (None, None) => Status::InProgress,
        }
    }

    fn reason(&self) -> Reason {
        match self.current.as_ref().map(|current| &current.outgoing) {
            Some(Outgoing::Paced(payload)) => payload.reason(),
            Some(Outgoing::Windowed(source)) => source.reason(),
            None => Reason::Storage,
        }
    }

    fn progress(&self) -> Option<u64> {
        Some(
            self.earlier_progress
                + self.current.as_ref().map_or(Some(0), |current| progress(&current.outgoing))?,
        )
    }

    fn pause(&self) -> Pause {
        match &self.current {
            // the next object is being read
            None => Pause::Local,
            Some(Current { outgoing: Outgoing::Paced(_), .. }) if self.paced.measures() => Pause::Local,
            Some(Current { outgoing: Outgoing::Paced(payload), .. }) if self.paced.carries() => {
                payload.pause()
            }
            Some(current) if current.stream.is_none() => Pause::None,
            Some(Current { outgoing: Outgoing::Paced(payload), .. }) => payload.pause(),
            Some(Current { outgoing: Outgoing::Windowed(source), .. }) => source.pause(),
        }
    }

    fn close(&mut self, stats: &mut Stats, _now: Time) {
        self.paced.retire(stats);
    }

    fn show(&self, progress: &Progress) {
        progress.reordered.store(self.reordering.0, Ordering::Relaxed);
        progress.late.store(self.reordering.1, Ordering::Relaxed);
        let limit = match self.current.as_ref().map(|current| &current.outgoing) {
            Some(Outgoing::Paced(payload)) => payload.limit(),
            Some(Outgoing::Windowed(source)) => source.limit(),
            None => Rate::UNLIMITED,
        };
        match self.transport {
            Transport::Paced => self.paced.show(limit, progress),
            Transport::Windowed => {
                progress.limit_bps.store(bps(limit), Ordering::Relaxed);
                progress.allowed_bps.store(bps(limit), Ordering::Relaxed);
            }
        }
    }
}
