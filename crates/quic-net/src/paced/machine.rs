//! The state machine of a paced sender: it decides when a packet leaves, and a [`PacedIo`] fills the packet and sends
//! it.

use std::sync::atomic::Ordering;

use contract::{Address, Count, Ecn, Header, Input, Packet, ParamList, Random, SenderAlgorithm};
use driver::StateMachine;
use schemes::{AnySender, Build};
use stack::stream;
use units::{Rate, Time};
use wire::stream::{Data, Envelope, Frame, Offer};

use super::{FLOW, SENDER, TICKS, config, overhead, setup};
use crate::frames::{DATA_HEADER, Datagram, data_length};
use crate::scheme::{find, parameter_error};
use crate::{Progress, Stats};

type Machine = StateMachine<stream::Sender<AnySender>>;

/// The environment of a [`PacedMachine`]: content for its packets, and their transmission.
pub trait PacedIo {
    /// When there is content: `now`, or a later time.
    fn ready(&mut self, now: Time) -> Time;

    /// Writes the content of the packet with this number. Returns its bytes.
    fn fill(&mut self, seq: u64, now: Time, buffer: &mut [u8]) -> usize;

    /// Bytes of the frame in a packet of `packet` bytes, with headers.
    fn frame_bytes(&self, packet: u32) -> usize;

    /// Sends a packet of data. One that does not fit into a full send buffer is lost.
    ///
    /// # Errors
    ///
    /// A message for users: no packet of this size can be sent.
    fn send(&mut self, packet: &Packet, datagram: &Datagram<'_>, now: Time) -> Result<(), String>;

    /// Counters of the session.
    fn stats(&mut self) -> &mut Stats;
}

/// The state machine of a paced sender, from its start to the end of a session; then it can start again.
pub struct PacedMachine {
    machine: Option<Box<Machine>>,
    seed: u64,
    /// The last mode that was requested.
    mode: Option<String>,
    /// The payload has no content before this time.
    ready_at: Time,
    outbox: Vec<Packet>,
    /// Content of the packet that is being assembled.
    buffer: Vec<u8>,
    /// Data packets sent in all sessions, their bytes, and the bytes of their content.
    counted: [u64; 3],
}

impl PacedMachine {
    /// A machine that has not started. The scheme draws from `seed`.
    pub const fn new(mode: Option<String>, seed: u64) -> Self {
        Self {
            machine: None,
            seed,
            mode,
            ready_at: Time::ZERO,
            outbox: Vec::new(),
            buffer: Vec::new(),
            counted: [0; 3],
        }
    }

    /// Whether it has started.
    pub const fn is_started(&self) -> bool {
        self.machine.is_some()
    }

    /// Starts the offer's scheme with `params`. Its packets are for `to`.
    ///
    /// # Errors
    ///
    /// A message for users: the scheme does not pace, its parameters do not go together, or it needs what only
    /// simulated networks have.
    pub fn start(
        &mut self,
        offer: &Offer,
        params: &ParamList,
        to: Address,
        outer_bytes: u32,
        now: Time,
    ) -> Result<(), String> {
        let (entry, _) = find(&offer.scheme)?;
        let Build::Stream { sender, .. } = entry.build else {
            return Err(format!("`{}` does not pace", offer.scheme));
        };
        let config = config(offer, &entry, outer_bytes);
        let algorithm = sender(params, &setup(&config)).map_err(parameter_error)?;
        if algorithm.out_of_band() {
            let why = "control packets out of band need queues with classes: they are simulated only";
            return Err(why.to_owned());
        }
        let sender = stream::Sender::new(&config, algorithm, to.into());
        let random = Random::new(self.seed, "quic", "sender");
        self.ready_at = Time::ZERO;
        let machine = self.machine.insert(Box::new(StateMachine::new(sender, SENDER, FLOW, random)));
        machine.handle(Input::Start, now);
        if let Some(mode) = &self.mode {
            machine.handle(Input::Mode(mode), now);
        }
        Ok(())
    }

    /// The session is over: the counters of the state machine are kept.
    pub fn retire(&mut self, stats: &mut Stats) {
        if let Some(machine) = self.machine.take() {
            stats.meter.add(&machine.meter);
        }
    }

    /// Handles what is due.
    ///
    /// # Errors
    ///
    /// As [`PacedIo::send`].
    pub fn turn(&mut self, now: Time, io: &mut impl PacedIo) -> Result<(), String> {
        for _ in 0..TICKS {
            self.update_content(now, io);
            let Some(machine) = &mut self.machine else { return Ok(()) };
            let ticked = machine.on_time(now);
            self.transmit(now, io)?;
            if !ticked {
                break;
            }
        }
        Ok(())
    }

    /// Tells the state machine when there is content.
    fn update_content(&mut self, now: Time, io: &mut impl PacedIo) {
        let Some(machine) = &mut self.machine else { return };
        let held = self.ready_at > now;
        self.ready_at = io.ready(now);
        // it knows already that there is content
        if held || self.ready_at > now {
            let until = self.ready_at.max(now);
            machine.with(now, |sender, cx| sender.wait_for_data(until, cx));
        }
    }

    /// Sends the packets of the state machine.
    fn transmit(&mut self, now: Time, io: &mut impl PacedIo) -> Result<(), String> {
        let Some(machine) = &mut self.machine else { return Ok(()) };
        machine.drain(|packet| self.outbox.push(*packet));
        for packet in self.outbox.drain(..) {
            let Header::Stream(header) = packet.header else { continue };
            let frame_bytes = io.frame_bytes(packet.size_bytes);
            let capacity = frame_bytes.saturating_sub(DATA_HEADER);
            self.buffer.resize(capacity, 0);
            let filled = io.fill(header.seq, now, &mut self.buffer).min(capacity);
            let Some(Frame::Data(data)) = Frame::of(&packet, &self.buffer[..filled], 0) else { continue };
            // padding after the content, so that the packet has the size that the scheme assumes; it adds two bytes for
            // the length of the content
            let padding = frame_bytes.saturating_sub(data_length(&data) + 2);
            io.send(&packet, &Datagram::Packet(Frame::Data(Data { padding, ..data })), now)?;
            let stats = io.stats();
            stats.lateness.record(now.saturating_since(packet.sent_at));
            stats.packets += 1;
            stats.bytes += u64::from(packet.size_bytes);
            stats.content += filled as u64;
        }
        let stats = io.stats();
        self.counted = [stats.packets, stats.bytes, stats.content];
        Ok(())
    }

    /// Feedback of `source`, in a DATAGRAM frame with `length` bytes of content. Returns false if the frame is
    /// not feedback, or not expected.
    pub fn on_feedback(
        &mut self,
        frame: &Frame<'_>,
        length: usize,
        source: Address,
        ecn: Ecn,
        outer_bytes: u32,
        now: Time,
    ) -> bool {
        let Some(machine) = &mut self.machine else { return false };
        let envelope = Envelope { flow: FLOW, source, to: SENDER.into(), ecn, outer_bytes };
        let packet = frame.packet(length + overhead(outer_bytes) as usize, &envelope);
        let valid = matches!(packet.header, Header::Feedback | Header::Player { .. });
        if valid {
            machine.handle(Input::Packet(&packet), now);
        }
        valid
    }

    /// The scheme changes to this mode, at once or when it starts.
    pub fn on_mode(&mut self, mode: &str, now: Time) {
        if let Some(machine) = &mut self.machine {
            machine.handle(Input::Mode(mode), now);
        }
        self.mode = Some(mode.to_owned());
    }

    /// The next deadline; `None` if it has not started.
    pub fn wake(&self, now: Time) -> Option<Time> {
        let ready_at = if self.ready_at > now { self.ready_at } else { Time::NEVER };
        self.machine.as_ref().map(|machine| machine.wake().min(ready_at))
    }

    /// Data packets sent.
    pub const fn packets(&self) -> u64 {
        self.counted[0]
    }

    /// The rate that the scheme permits; `None` if it has not started.
    pub fn rate(&self) -> Option<Rate> {
        self.machine.as_ref().map(|machine| machine.endpoint.algorithm().allowance().rate)
    }

    /// Publishes progress, with the limit of the payload.
    pub fn show(&self, limit: Rate, progress: &Progress) {
        let [packets, bytes, content] = self.counted;
        progress.packets.store(packets, Ordering::Relaxed);
        progress.bytes.store(bytes, Ordering::Relaxed);
        progress.content.store(content, Ordering::Relaxed);
        progress.limit_bps.store(bps(limit), Ordering::Relaxed);
        let Some(machine) = &self.machine else { return };
        let allowed = self.rate().map_or(limit, |rate| rate.min(limit));
        progress.allowed_bps.store(bps(allowed), Ordering::Relaxed);
        progress.rtt_ns.store(machine.meter.rtt_last.as_nanos(), Ordering::Relaxed);
        progress.lost.store(machine.meter.count(Count::Retransmits), Ordering::Relaxed);
    }
}

/// A rate as progress shows it: 0 if it is not limited.
pub(crate) fn bps(rate: Rate) -> u64 {
    if rate == Rate::UNLIMITED { 0 } else { rate.as_bps() }
}
