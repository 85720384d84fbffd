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

use super::{FLOW, RECEIVER, SENDER, TICKS, around, config, frame_bytes, room, setup};
use crate::frames::{Datagram, Record};
use crate::lane::Link;
use crate::send::{find, say};

/// Interval at which a flow without an object is polled.
const LOOK_EVERY: Duration = Duration::from_millis(2);

type Machine = StateMachine<stream::Sender<AnySender>>;

/// The state machine of a sender, on one connection after the other.
pub(crate) struct PacedSender {
    machine: Option<Box<Machine>>,
    seed: u64,
    /// The receiver is ready for an object, and the first packet waits until the rate of its content has been measured, at this instant at the latest.
    start_at: Option<Time>,
    /// The receiver is ready for the present object, whose content begins with this packet.
    carries_from: Option<u64>,
    /// The number of the next packet.
    next: u64,
    /// The payload has no content before.
    ready_at: Time,
    outbox: Vec<Packet>,
    room: Vec<u8>,
    /// The scheme's mode that was asked for last.
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
            room: Vec::new(),
            mode: scheme.mode.clone(),
            counted: [0; 3],
        }
    }

    /// A session opens: the machine starts over.
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
    pub(crate) fn put_away(&mut self) {
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
    pub(crate) fn join(&mut self, object: u32, link: &mut Link<'_>) {
        if self.machine.is_none() {
            self.start_at = Some(link.now);
        } else {
            self.carry(object, link);
        }
    }

    fn carry(&mut self, object: u32, link: &mut Link<'_>) {
        self.carries_from = Some(self.next);
        link.say(&Record::First { object, seq: self.next });
    }

    /// Makes the machine and starts it, once it is known how fast content comes.
    ///
    /// # Errors
    ///
    /// Parameters that do not go together, or a path that does not carry the packets; a message for users.
    fn start(
        &mut self,
        object: u32,
        offer: &Offer,
        payload: &mut dyn Payload,
        link: &mut Link<'_>,
    ) -> Result<(), String> {
        if self.start_at.is_none_or(|at| link.now < at) {
            return Ok(());
        }
        let pace = payload.pace(link.now);
        if let Pace::Measuring(until) = pace {
            self.start_at = Some(until);
            return Ok(());
        }
        self.start_at = None;
        check_path(offer, link)?;
        let (entry, _) = find(&offer.scheme)?;
        let rtt = u64::try_from(link.connection.rtt().as_nanos()).map(Duration::from_nanos).ok();
        let packet = Bytes::new(u64::from(offer.packet));
        let own = with_initial_rate(&entry, &offer.params, packet, pace, rtt);
        let Build::Stream { sender, .. } = entry.build else {
            return Err(format!("`{}` does not pace", offer.scheme));
        };
        let config = config(offer, &entry, link.outer_bytes());
        let law = sender(own.as_ref().unwrap_or(&offer.params), &setup(&config)).map_err(say)?;
        if law.out_of_band() {
            let said = "control packets out of band need queues with classes: they are simulated only";
            return Err(said.to_owned());
        }
        let sender = stream::Sender::new(&config, law, RECEIVER.into());
        let random = Random::new(self.seed, "quic", "sender");
        let machine = self.machine.insert(Box::new(StateMachine::new(sender, SENDER, FLOW, random)));
        machine.handle(Input::Start, link.now);
        if let Some(mode) = &self.mode {
            machine.handle(Input::Mode(mode), link.now);
        }
        self.carry(object, link);
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
        link: &mut Link<'_>,
    ) -> Result<(), String> {
        self.start(object, offer, payload, link)?;
        for _ in 0..TICKS {
            self.supply(payload, link.now);
            let Some(machine) = &mut self.machine else { return Ok(()) };
            let ticked = machine.on_time(link.now);
            self.post(payload, link)?;
            if !ticked {
                break;
            }
        }
        Ok(())
    }

    /// Tells the machine when there is content.
    fn supply(&mut self, payload: &mut dyn Payload, now: Time) {
        let Some(machine) = &mut self.machine else { return };
        let held = self.ready_at > now;
        self.ready_at = if self.carries_from.is_some() { payload.ready(now) } else { now + LOOK_EVERY };
        // where there was something and still is, there is nothing to tell
        if held || self.ready_at > now {
            let until = self.ready_at.max(now);
            machine.with(now, |sender, cx| sender.wait_for_data(until, cx));
        }
    }

    /// Puts what the machine sent into DATAGRAM frames.
    fn post(&mut self, payload: &mut dyn Payload, link: &mut Link<'_>) -> Result<(), String> {
        let Some(machine) = &mut self.machine else { return Ok(()) };
        machine.drain(|packet| self.outbox.push(*packet));
        let outer_bytes = link.outer_bytes();
        for packet in self.outbox.drain(..) {
            let Header::Stream(header) = packet.header else { continue };
            let room = room(packet.size_bytes, outer_bytes);
            self.room.resize(room, 0);
            let filled = match self.carries_from.and_then(|from| header.seq.checked_sub(from)) {
                Some(seq) => payload.fill(seq, link.now, &mut self.room).min(room),
                None => 0,
            };
            self.next = header.seq + 1;
            let Some(Frame::Data(mut data)) = Frame::of(&packet, &self.room[..filled], 0) else { continue };
            data.padding = packet_padding(&data, packet.size_bytes, outer_bytes);
            match link.send(&Datagram::Packet(Frame::Data(data))) {
                Ok(()) => {}
                // the path is full, and this packet is lost
                Err(quinn_proto::SendDatagramError::Blocked(_)) => link.stats.overruns += 1,
                Err(_) => return Err(too_long(packet.size_bytes)),
            }
            link.stats.lateness.record(link.now.saturating_since(packet.sent_at));
            link.stats.packets += 1;
            link.stats.bytes += u64::from(packet.size_bytes);
            link.stats.content += filled as u64;
        }
        self.counted = [link.stats.packets, link.stats.bytes, link.stats.content];
        Ok(())
    }

    /// Feedback of the receiver. Returns false if it is not valid here.
    pub(crate) fn on_feedback(
        &mut self,
        frame: &Frame<'_>,
        length: usize,
        ecn: Ecn,
        link: &Link<'_>,
    ) -> bool {
        let Some(machine) = &mut self.machine else { return false };
        let outer_bytes = link.outer_bytes();
        let envelope = Envelope { flow: FLOW, source: RECEIVER, to: SENDER.into(), ecn, outer_bytes };
        let packet = frame.packet(length + around(outer_bytes) as usize, &envelope);
        let valid = matches!(packet.header, Header::Feedback | Header::Player { .. });
        if valid {
            machine.handle(Input::Packet(&packet), link.now);
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
                let given_at = if self.ready_at > now { self.ready_at } else { Time::NEVER };
                machine.wake().min(given_at)
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

/// Zeros after the content, so that the packet has the size that the scheme counts with.
fn packet_padding(data: &wire::stream::Data<'_>, packet: u32, outer_bytes: u32) -> usize {
    // with padding there are two bytes for the length of the content
    frame_bytes(packet, outer_bytes).saturating_sub(crate::frames::data_length(data) + 2)
}

/// Whether the other end takes DATAGRAM frames, and the path packets of this size.
fn check_path(offer: &Offer, link: &mut Link<'_>) -> Result<(), String> {
    let needed = frame_bytes(offer.packet.into(), link.outer_bytes());
    match link.connection.datagrams().max_size() {
        None => {
            Err("the other end takes no DATAGRAM frames (RFC 9221), which a scheme that paces needs"
                .to_owned())
        }
        Some(max) if max < needed => Err(too_long(u32::from(offer.packet))),
        Some(_) => Ok(()),
    }
}

fn too_long(packet: u32) -> String {
    format!("the path does not carry packets of {packet} bytes: choose a smaller size of packets")
}
