//! The receiving side of a paced flow.

use std::sync::atomic::Ordering;

use crate::{Progress, Stats};
use contract::{Count, Ecn, Header, Input, Packet, Random};
use driver::StateMachine;
use schemes::{AnyReceiver, Build};
use stack::stream;
use transfer::Sink;
use units::Time;
use wire::stream::{Data, Envelope, Frame, Offer};

use super::{FLOW, Framing, SENDER, config, setup};
use crate::connection::SessionContext;
use crate::frames::Datagram;
use crate::scheme::{find, parameter_error};

/// Maximum distance of a packet number from the highest one.
const MAX_JUMP: u64 = 1 << 32;

type Machine = StateMachine<stream::Receiver<AnyReceiver>>;

/// The state machine of a receiver, on one connection after the other.
pub(crate) struct PacedReceiver {
    /// Of the scheme's random numbers.
    seed: u64,
    machine: Option<Box<Machine>>,
    /// The content of the current object begins with this packet.
    carries_from: Option<u64>,
    /// Number of the newest packet, and bytes before it.
    newest: (u64, u64),
    outbox: Vec<Packet>,
    /// Data packets received in all sessions, their bytes, and the bytes of their content.
    counted: [u64; 3],
}

impl PacedReceiver {
    /// The receiver before its first session.
    pub(crate) const fn new(seed: u64) -> Self {
        Self { seed, machine: None, carries_from: None, newest: (0, 0), outbox: Vec::new(), counted: [0; 3] }
    }

    /// A session opens: the next object starts a new state machine.
    pub(crate) fn open(&mut self, stats: &mut Stats) {
        self.retire(stats);
        (self.carries_from, self.newest) = (None, (0, 0));
    }

    /// The session is over: its counters are kept.
    pub(crate) fn retire(&mut self, stats: &mut Stats) {
        if let Some(machine) = self.machine.take() {
            stats.meter.add(&machine.meter);
        }
    }

    /// An object was accepted. The first object of a session starts the state machine.
    ///
    /// # Errors
    ///
    /// The scheme refuses its parameters; a message for users.
    pub(crate) fn join(
        &mut self,
        offer: &Offer,
        framing: &Framing,
        context: &mut SessionContext<'_>,
    ) -> Result<(), String> {
        if self.machine.is_some() {
            self.carries_from = None;
            return Ok(());
        }
        self.carries_from = framing.first;
        let (entry, _) = find(&offer.scheme)?;
        let Build::Stream { receiver, .. } = entry.build else {
            return Err(format!("`{}` does not pace", offer.scheme));
        };
        let config = config(offer, &entry, context.outer_bytes());
        let algorithm = receiver(&offer.params, &setup(&config)).map_err(parameter_error)?;
        let random = Random::new(self.seed, "quic", "receiver");
        let receiver = stream::Receiver::new(&config, algorithm, SENDER);
        let machine =
            self.machine.insert(Box::new(StateMachine::new(receiver, framing.receiver, FLOW, random)));
        machine.handle(Input::Start, context.now);
        Ok(())
    }

    /// The content of the current object begins with this packet.
    pub(crate) fn carry_from(&mut self, seq: u64) {
        self.carries_from = Some(seq);
    }

    /// A data packet in a frame of this length. Returns false if no correct sender would send it.
    pub(crate) fn on_data(
        &mut self,
        data: &Data<'_>,
        length: usize,
        framing: &Framing,
        ecn: Ecn,
        sink: &mut dyn Sink,
        context: &mut SessionContext<'_>,
    ) -> bool {
        let (newest, before) = self.newest;
        let header = &data.header;
        // a correct sender increases numbers and bytes together
        let grows = if header.seq > newest {
            header.bytes_before >= before && header.seq - newest < MAX_JUMP
        } else {
            header.bytes_before <= before
        };
        let Some(machine) = self.machine.as_mut().filter(|_| grows) else { return false };
        if header.seq > newest {
            self.newest = (header.seq, header.bytes_before);
        }
        let Framing { receiver, outer_bytes, overhead, .. } = *framing;
        let envelope = Envelope { flow: FLOW, source: SENDER, to: receiver.into(), ecn, outer_bytes };
        let packet = Frame::Data(*data).packet(length + overhead as usize, &envelope);
        // deadlines before the arrival come first
        while machine.on_time(context.now) {}
        machine.handle(Input::Packet(&packet), context.now);
        if let Some(seq) = self.carries_from.and_then(|from| header.seq.checked_sub(from)) {
            sink.take(seq, context.now, data.content);
        }
        self.transmit(context);
        context.stats.packets += 1;
        context.stats.bytes += u64::from(packet.size_bytes);
        context.stats.content += data.content.len() as u64;
        context.stats.marked += u64::from(ecn == Ecn::Marked);
        self.counted = [context.stats.packets, context.stats.bytes, context.stats.content];
        true
    }

    /// Handles what is due.
    pub(crate) fn turn(&mut self, context: &mut SessionContext<'_>) {
        while self.machine.as_mut().is_some_and(|machine| machine.on_time(context.now)) {}
        self.transmit(context);
    }

    /// Sends the packets of the state machine in DATAGRAM frames.
    fn transmit(&mut self, context: &mut SessionContext<'_>) {
        let Some(machine) = &mut self.machine else { return };
        machine.drain(|packet| self.outbox.push(*packet));
        for packet in self.outbox.drain(..) {
            if let Header::Feedback | Header::Player { .. } = packet.header
                && let Some(frame) = Frame::of(&packet, &[], 0)
                && context.send_datagram(&Datagram::Packet(frame)).is_err()
            {
                context.stats.overruns += 1;
            }
        }
    }

    /// The scheme changes to this mode.
    pub(crate) fn on_mode(&mut self, mode: &str, now: Time) {
        if let Some(machine) = &mut self.machine {
            machine.handle(Input::Mode(mode), now);
        }
    }

    /// The next deadline.
    pub(crate) fn wake(&self) -> Time {
        self.machine.as_ref().map_or(Time::NEVER, |machine| machine.wake())
    }

    /// Packets of this session that were overtaken, and how many of them had been declared lost.
    pub(crate) fn reordering(&self) -> (u64, u64) {
        let count = |what| self.machine.as_ref().map_or(0, |machine| machine.meter.count(what));
        (count(Count::Reordered), count(Count::Late))
    }

    /// Publishes its progress.
    pub(crate) fn show(&self, progress: &Progress) {
        let [packets, bytes, content] = self.counted;
        progress.packets.store(packets, Ordering::Relaxed);
        progress.bytes.store(bytes, Ordering::Relaxed);
        progress.content.store(content, Ordering::Relaxed);
        if let Some(machine) = &self.machine {
            progress.lost.store(machine.meter.count(Count::Missing), Ordering::Relaxed);
            let (reordered, late) = self.reordering();
            progress.reordered.store(reordered, Ordering::Relaxed);
            progress.late.store(late, Ordering::Relaxed);
            progress.rtt_ns.store(machine.meter.rtt_last.as_nanos(), Ordering::Relaxed);
        }
    }
}
