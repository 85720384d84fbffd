//! The sending side of a paced flow.

use contract::{Ecn, Packet};
use transfer::{Pace, Payload};
use units::{Bytes, Duration, Rate, Time};
use wire::stream::{Frame, Offer};

use super::initial_rate::with_initial_rate;
use super::machine::{PacedIo, PacedMachine};
use super::silence::Silence;
use super::{RECEIVER, frame_bytes};
use crate::connection::SessionContext;
use crate::frames::{Datagram, Record};
use crate::scheme::find;
use crate::{Progress, Scheme, Stats};

/// Interval at which a flow without an object is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// How long a path may seem to carry shorter packets only before that is believed: this, and this number of round
/// trips, in which quinn tries longer ones.
const SHORT: (Duration, u64) = (Duration::from_millis(500), 4);
/// The time for a path that has carried packets of the scheme: they are more likely lost than too long.
const SHORTENED: Duration = Duration::from_secs(5);

/// A paced sender, on one connection after the other.
pub(crate) struct PacedSender {
    machine: PacedMachine,
    /// The receiver is ready for an object, and the rate of its content is measured until this time at the latest,
    /// before the first packet.
    start_at: Option<Time>,
    /// The number of the packet with which the content of the current object begins, once the receiver is ready for it.
    carries_from: Option<u64>,
    /// The number of the next packet.
    next: u64,
    silence: Silence,
    /// The path seems to carry shorter packets only, which is decided then.
    short_until: Option<Time>,
    /// The receiver has sent feedback, so that the path carries packets of the scheme.
    carried: bool,
}

impl PacedSender {
    pub(crate) fn new(scheme: &Scheme, seed: u64) -> Self {
        let machine = PacedMachine::new(scheme.mode.clone(), seed);
        Self {
            machine,
            start_at: None,
            carries_from: None,
            next: 0,
            silence: Silence::new(),
            short_until: None,
            carried: false,
        }
    }

    /// A session opens: the next object starts a new state machine.
    pub(crate) fn open(&mut self, stats: &mut Stats) {
        self.retire(stats);
        (self.start_at, self.carries_from, self.next) = (None, None, 0);
        (self.silence, self.short_until, self.carried) = (Silence::new(), None, false);
    }

    /// The session is over: its counters are kept.
    pub(crate) fn retire(&mut self, stats: &mut Stats) {
        self.machine.retire(stats);
    }

    /// The current object is complete.
    pub(crate) fn finish_object(&mut self) {
        self.carries_from = None;
    }

    /// Whether the receiver is ready for the current object.
    pub(crate) const fn carries(&self) -> bool {
        self.carries_from.is_some() || self.start_at.is_some()
    }

    /// Whether the rate of the content is being measured, which begins with its first byte.
    pub(crate) const fn measures(&self) -> bool {
        self.start_at.is_some()
    }

    /// The receiver is ready for an object.
    pub(crate) fn join(&mut self, object: u32, context: &mut SessionContext<'_>) {
        if !self.machine.is_started() {
            self.start_at = Some(context.now);
        } else {
            self.carry(object, context);
        }
    }

    fn carry(&mut self, object: u32, context: &mut SessionContext<'_>) {
        self.carries_from = Some(self.next);
        context.send_record(&Record::First { object, seq: self.next });
    }

    /// Creates and starts the state machine, once the rate of the content is known.
    ///
    /// # Errors
    ///
    /// Inconsistent parameters, or packets that are too large for the path; a message for users.
    fn start(
        &mut self,
        object: u32,
        offer: &Offer,
        payload: &mut dyn Payload,
        context: &mut SessionContext<'_>,
    ) -> Result<(), String> {
        if self.start_at.is_none_or(|at| context.now < at) {
            return Ok(());
        }
        let pace = payload.pace(context.now);
        if let Pace::Measuring(until) = pace {
            self.start_at = Some(until);
            return Ok(());
        }
        self.start_at = None;
        check_path(offer, context)?;
        let (entry, _) = find(&offer.scheme)?;
        let rtt = u64::try_from(context.connection.rtt().as_nanos()).map(Duration::from_nanos).ok();
        let packet = Bytes::new(u64::from(offer.packet));
        let params = with_initial_rate(&entry, &offer.params, packet, pace, rtt);
        let params = params.as_ref().unwrap_or(&offer.params);
        self.machine.start(offer, params, RECEIVER, context.outer_bytes(), context.now)?;
        self.carry(object, context);
        Ok(())
    }

    /// Handles what is due.
    ///
    /// # Errors
    ///
    /// A message for users.
    pub(crate) fn turn(
        &mut self,
        object: u32,
        offer: &Offer,
        payload: &mut dyn Payload,
        context: &mut SessionContext<'_>,
    ) -> Result<(), String> {
        self.start(object, offer, payload, context)?;
        if self.short_until.is_some_and(|until| context.now >= until) {
            self.short_until = None;
            check_path(offer, context)?;
        }
        let Self { machine, carries_from, next, silence, short_until, carried, .. } = self;
        silence.on_acks(context.connection.stats().frame_rx.acks);
        let rtt = Duration::from_nanos(context.connection.rtt().as_nanos() as u64);
        let carries_from = *carries_from;
        let patience = if *carried { SHORTENED } else { SHORT.0 } + rtt * SHORT.1;
        machine.turn(
            context.now,
            &mut Unicast { payload, carries_from, next, silence, short_until, patience, rtt, context },
        )
    }

    /// Feedback of the receiver. Returns false if the frame is not feedback, or not expected.
    pub(crate) fn on_feedback(
        &mut self,
        frame: &Frame<'_>,
        length: usize,
        ecn: Ecn,
        context: &SessionContext<'_>,
    ) -> bool {
        let valid =
            self.machine.on_feedback(frame, length, RECEIVER, ecn, context.outer_bytes(), context.now);
        self.carried |= valid;
        valid
    }

    /// The scheme changes to this mode.
    pub(crate) fn on_mode(&mut self, mode: &str, now: Time) {
        self.machine.on_mode(mode, now);
    }

    /// The next deadline.
    pub(crate) fn wake(&self, now: Time) -> Time {
        let machine = self.machine.wake(now).unwrap_or_else(|| self.start_at.unwrap_or(Time::NEVER));
        machine.min(self.short_until.unwrap_or(Time::NEVER))
    }

    /// Data packets sent.
    pub(crate) const fn packets(&self) -> u64 {
        self.machine.packets()
    }

    /// The rate that the scheme permits, once it has started.
    pub(crate) fn rate(&self) -> Option<Rate> {
        self.machine.rate()
    }

    /// Publishes its progress.
    pub(crate) fn show(&self, limit: Rate, progress: &Progress) {
        self.machine.show(limit, progress);
    }
}

/// The current object and the connection that carries it.
struct Unicast<'a, 'l> {
    payload: &'a mut dyn Payload,
    carries_from: Option<u64>,
    next: &'a mut u64,
    silence: &'a mut Silence,
    short_until: &'a mut Option<Time>,
    /// For a path that seems to carry shorter packets only.
    patience: Duration,
    rtt: Duration,
    context: &'a mut SessionContext<'l>,
}

impl PacedIo for Unicast<'_, '_> {
    fn ready(&mut self, now: Time) -> Time {
        if self.carries_from.is_none() {
            return now + POLL_INTERVAL;
        }
        self.payload.ready(now).max(self.silence.next_at(now, self.rtt))
    }

    fn fill(&mut self, seq: u64, now: Time, buffer: &mut [u8]) -> usize {
        *self.next = seq + 1;
        let number = self.carries_from.and_then(|from| seq.checked_sub(from));
        number.map_or(0, |number| self.payload.fill(number, now, buffer))
    }

    fn frame_bytes(&self, packet: u32) -> usize {
        frame_bytes(packet, self.context.outer_bytes())
    }

    fn send(&mut self, packet: &Packet, datagram: &Datagram<'_>, now: Time) -> Result<(), String> {
        self.silence.on_sent(now, self.rtt);
        match self.context.send_datagram(datagram) {
            Ok(()) => {
                *self.short_until = None;
                Ok(())
            }
            // the send buffer is full, and this packet is lost
            Err(quinn_proto::SendDatagramError::Blocked(_)) => {
                self.context.stats.overruns += 1;
                Ok(())
            }
            // it is lost, too, while a longer packet is tried
            Err(quinn_proto::SendDatagramError::TooLarge) => {
                self.short_until.get_or_insert(now + self.patience);
                self.context.stats.overruns += 1;
                Ok(())
            }
            Err(_) => Err(too_long(packet.size_bytes)),
        }
    }

    fn stats(&mut self) -> &mut Stats {
        self.context.stats
    }
}

/// Whether the peer accepts DATAGRAM frames, and the path carries packets of this size.
fn check_path(offer: &Offer, context: &mut SessionContext<'_>) -> Result<(), String> {
    let needed = frame_bytes(offer.packet.into(), context.outer_bytes());
    match context.connection.datagrams().max_size() {
        None => Err("the other end does not support DATAGRAM frames (RFC 9221), which a paced scheme needs"
            .to_owned()),
        Some(max) if max < needed => Err(too_long(u32::from(offer.packet))),
        Some(_) => Ok(()),
    }
}

fn too_long(packet: u32) -> String {
    format!("the path does not carry packets of {packet} bytes: use smaller packets")
}
