//! The sending side of a paced flow.

use std::sync::atomic::Ordering;

use crate::paced::initial_rate::with_initial_rate;
use crate::{Progress, Scheme, Stats};
use contract::{Count, Ecn, Header, Input, Packet, Random, SenderAlgorithm};
use driver::StateMachine;
use schemes::{AnySender, Build};
use stack::stream;
use transfer::{Pace, Payload};
use units::{Bytes, Duration, Rate, Time};
use wire::stream::{Envelope, Frame, Offer};

use super::{FLOW, RECEIVER, SENDER, TICKS, config, content_capacity, frame_bytes, overhead, setup};
use crate::connection::SessionContext;
use crate::frames::{Datagram, Record};
use crate::send::{find, parameter_error};

/// Interval at which a flow without an object is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

type Machine = StateMachine<stream::Sender<AnySender>>;

/// The state machine of a sender, on one connection after the other.
pub(crate) struct PacedSender {
    machine: Option<Box<Machine>>,
    seed: u64,
    /// The receiver is ready for an object, and the rate of its content is measured until this time at the latest, before the first packet.
    start_at: Option<Time>,
    /// The number of the packet with which the content of the present object begins, once the receiver is ready for it.
    carries_from: Option<u64>,
    /// The number of the next packet.
    next: u64,
    /// The payload has no content before this time.
    ready_at: Time,
    outbox: Vec<Packet>,
    buffer: Vec<u8>,
    /// The last mode that was requested.
    mode: Option<String>,
    /// Data packets sent in all sessions, their bytes and those of their content.
    counted: [u64; 3],
}

impl PacedSender {
    pub(crate) fn new(scheme: &Scheme, seed: u64) -> Self {
        Self {
            machine: None,
            seed,
            start_at: None,
            carries_from: None,
            next: 0,
            ready_at: Time::ZERO,
            outbox: Vec::new(),
            buffer: Vec::new(),
            mode: scheme.mode.clone(),
            counted: [0; 3],
        }
    }

    /// A session opens: the next object starts a new state machine.
    pub(crate) fn open(&mut self, stats: &mut Stats) {
        self.retire(stats);
        (self.start_at, self.carries_from, self.next, self.ready_at) = (None, None, 0, Time::ZERO);
    }

    /// The session is over: its counters are kept.
    pub(crate) fn retire(&mut self, stats: &mut Stats) {
        if let Some(machine) = self.machine.take() {
            stats.meter.add(&machine.meter);
        }
    }

    /// The present object is complete.
    pub(crate) fn finish_object(&mut self) {
        self.carries_from = None;
    }

    /// Whether the receiver is ready for the present object.
    pub(crate) const fn carries(&self) -> bool {
        self.carries_from.is_some() || self.start_at.is_some()
    }

    /// Whether the rate of the content is being measured, which begins with its first byte.
    pub(crate) const fn measures(&self) -> bool {
        self.start_at.is_some()
    }

    /// The receiver is ready for an object.
    pub(crate) fn join(&mut self, object: u32, context: &mut SessionContext<'_>) {
        if self.machine.is_none() {
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
        let Build::Stream { sender, .. } = entry.build else {
            return Err(format!("`{}` does not pace", offer.scheme));
        };
        let config = config(offer, &entry, context.outer_bytes());
        let algorithm =
            sender(params.as_ref().unwrap_or(&offer.params), &setup(&config)).map_err(parameter_error)?;
        if algorithm.out_of_band() {
            let why = "control packets out of band need queues with classes: they are simulated only";
            return Err(why.to_owned());
        }
        let sender = stream::Sender::new(&config, algorithm, RECEIVER.into());
        let random = Random::new(self.seed, "quic", "sender");
        let machine = self.machine.insert(Box::new(StateMachine::new(sender, SENDER, FLOW, random)));
        machine.handle(Input::Start, context.now);
        if let Some(mode) = &self.mode {
            machine.handle(Input::Mode(mode), context.now);
        }
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
        for _ in 0..TICKS {
            self.supply(payload, context.now);
            let Some(machine) = &mut self.machine else { return Ok(()) };
            let ticked = machine.on_time(context.now);
            self.transmit(payload, context)?;
            if !ticked {
                break;
            }
        }
        Ok(())
    }

    /// Tells the state machine when there is content.
    fn supply(&mut self, payload: &mut dyn Payload, now: Time) {
        let Some(machine) = &mut self.machine else { return };
        let held = self.ready_at > now;
        self.ready_at = if self.carries_from.is_some() { payload.ready(now) } else { now + POLL_INTERVAL };
        // it knows already that there is content
        if held || self.ready_at > now {
            let until = self.ready_at.max(now);
            machine.with(now, |sender, cx| sender.wait_for_data(until, cx));
        }
    }

    /// Sends the packets of the state machine in DATAGRAM frames.
    fn transmit(
        &mut self,
        payload: &mut dyn Payload,
        context: &mut SessionContext<'_>,
    ) -> Result<(), String> {
        let Some(machine) = &mut self.machine else { return Ok(()) };
        machine.drain(|packet| self.outbox.push(*packet));
        let outer_bytes = context.outer_bytes();
        for packet in self.outbox.drain(..) {
            let Header::Stream(header) = packet.header else { continue };
            let capacity = content_capacity(packet.size_bytes, outer_bytes);
            self.buffer.resize(capacity, 0);
            let filled = match self.carries_from.and_then(|from| header.seq.checked_sub(from)) {
                Some(seq) => payload.fill(seq, context.now, &mut self.buffer).min(capacity),
                None => 0,
            };
            self.next = header.seq + 1;
            let Some(Frame::Data(mut data)) = Frame::of(&packet, &self.buffer[..filled], 0) else { continue };
            data.padding = packet_padding(&data, packet.size_bytes, outer_bytes);
            match context.send_datagram(&Datagram::Packet(Frame::Data(data))) {
                Ok(()) => {}
                // the send buffer is full, and this packet is lost
                Err(quinn_proto::SendDatagramError::Blocked(_)) => context.stats.overruns += 1,
                Err(_) => return Err(too_long(packet.size_bytes)),
            }
            context.stats.lateness.record(context.now.saturating_since(packet.sent_at));
            context.stats.packets += 1;
            context.stats.bytes += u64::from(packet.size_bytes);
            context.stats.content += filled as u64;
        }
        self.counted = [context.stats.packets, context.stats.bytes, context.stats.content];
        Ok(())
    }

    /// Feedback of the receiver. Returns false if the frame is not feedback, or not expected.
    pub(crate) fn on_feedback(
        &mut self,
        frame: &Frame<'_>,
        length: usize,
        ecn: Ecn,
        context: &SessionContext<'_>,
    ) -> bool {
        let Some(machine) = &mut self.machine else { return false };
        let outer_bytes = context.outer_bytes();
        let envelope = Envelope { flow: FLOW, source: RECEIVER, to: SENDER.into(), ecn, outer_bytes };
        let packet = frame.packet(length + overhead(outer_bytes) as usize, &envelope);
        let valid = matches!(packet.header, Header::Feedback | Header::Player { .. });
        if valid {
            machine.handle(Input::Packet(&packet), context.now);
        }
        valid
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
            None => self.start_at.unwrap_or(Time::NEVER),
        }
    }

    /// Data packets sent.
    pub(crate) const fn packets(&self) -> u64 {
        self.counted[0]
    }

    /// Publishes its progress.
    pub(crate) fn show(&self, limit: Rate, progress: &Progress) {
        let [packets, bytes, content] = self.counted;
        progress.packets.store(packets, Ordering::Relaxed);
        progress.bytes.store(bytes, Ordering::Relaxed);
        progress.content.store(content, Ordering::Relaxed);
        let Some(machine) = &self.machine else { return };
        let allowed = machine.endpoint.algorithm().allowance().rate.min(limit);
        let bps = if allowed == Rate::UNLIMITED { 0 } else { allowed.as_bps() };
        progress.allowed_bps.store(bps, Ordering::Relaxed);
        progress.rtt_ns.store(machine.meter.rtt_last.as_nanos(), Ordering::Relaxed);
        progress.lost.store(machine.meter.count(Count::Retransmits), Ordering::Relaxed);
    }
}

/// Bytes of padding after the content, so that the packet has the size that the scheme assumes.
fn packet_padding(data: &wire::stream::Data<'_>, packet: u32, outer_bytes: u32) -> usize {
    // with padding there are two bytes for the length of the content
    frame_bytes(packet, outer_bytes).saturating_sub(crate::frames::data_length(data) + 2)
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
