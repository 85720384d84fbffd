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
use crate::frames::Datagram;
use crate::lane::Link;
use crate::send::{find, say};

/// Maximum distance of a packet number from the highest one.
const LEAP: u64 = 1 << 32;

type Machine = StateMachine<stream::Receiver<AnyReceiver>>;

/// The state machine of a receiver, on one connection after the other.
#[derive(Default)]
pub(crate) struct PacedReceiver {
    machine: Option<Box<Machine>>,
    /// The content of the present object begins with this packet.
    carries_from: Option<u64>,
    /// Number of the newest packet, and bytes before it.
    newest: (u64, u64),
    outbox: Vec<Packet>,
    /// Data packets received in all sessions, their bytes and those of their content.
    counted: [u64; 3],
}

impl PacedReceiver {
    /// A session opens: the machine starts over.
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

    /// An object was accepted; with the first of a session the machine starts.
    ///
    /// # Errors
    ///
    /// The scheme refuses its parameters; a message for users.
    pub(crate) fn join(
        &mut self,
        offer: &Offer,
        framing: &Framing,
        link: &mut Link<'_>,
    ) -> Result<(), String> {
        if self.machine.is_some() {
            self.carries_from = None;
            return Ok(());
        }
        self.carries_from = framing.begins;
        let (entry, _) = find(&offer.scheme)?;
        let Build::Stream { receiver, .. } = entry.build else {
            return Err(format!("`{}` does not pace", offer.scheme));
        };
        let config = config(offer, &entry, link.outer_bytes());
        let law = receiver(&offer.params, &setup(&config)).map_err(say)?;
        let seed = u64::from_be_bytes(std::array::from_fn(|at| link.binding()[at]));
        let random = Random::new(seed, "quic", "receiver");
        let receiver = stream::Receiver::new(&config, law, SENDER);
        let machine = self.machine.insert(Box::new(StateMachine::new(receiver, framing.me, FLOW, random)));
        machine.handle(Input::Start, link.now);
        Ok(())
    }

    /// The content of the present object begins with this packet.
    pub(crate) fn carry_from(&mut self, seq: u64) {
        self.carries_from = Some(seq);
    }

    /// A packet of data in a frame of this length. Returns false if no sender would send it.
    pub(crate) fn on_data(
        &mut self,
        data: &Data<'_>,
        length: usize,
        framing: &Framing,
        ecn: Ecn,
        sink: &mut dyn Sink,
        link: &mut Link<'_>,
    ) -> bool {
        let (newest, before) = self.newest;
        let header = &data.header;
        // numbers and bytes grow together, or no sender sent this
        let grows = if header.seq > newest {
            header.bytes_before >= before && header.seq - newest < LEAP
        } else {
            header.bytes_before <= before
        };
        let Some(machine) = self.machine.as_mut().filter(|_| grows) else { return false };
        if header.seq > newest {
            self.newest = (header.seq, header.bytes_before);
        }
        let Framing { me, outer_bytes, around, .. } = *framing;
        let envelope = Envelope { flow: FLOW, source: SENDER, to: me.into(), ecn, outer_bytes };
        let packet = Frame::Data(*data).packet(length + around as usize, &envelope);
        // what was due before comes first
        while machine.on_time(link.now) {}
        machine.handle(Input::Packet(&packet), link.now);
        if let Some(seq) = self.carries_from.and_then(|from| header.seq.checked_sub(from)) {
            sink.take(seq, link.now, data.content);
        }
        self.post(link);
        link.stats.packets += 1;
        link.stats.bytes += u64::from(packet.size_bytes);
        link.stats.content += data.content.len() as u64;
        link.stats.marked += u64::from(ecn == Ecn::Marked);
        self.counted = [link.stats.packets, link.stats.bytes, link.stats.content];
        true
    }

    /// Handles what is due.
    pub(crate) fn turn(&mut self, link: &mut Link<'_>) {
        while self.machine.as_mut().is_some_and(|machine| machine.on_time(link.now)) {}
        self.post(link);
    }

    /// Puts what the machine sent into DATAGRAM frames.
    fn post(&mut self, link: &mut Link<'_>) {
        let Some(machine) = &mut self.machine else { return };
        machine.drain(|packet| self.outbox.push(*packet));
        for packet in self.outbox.drain(..) {
            if let Header::Feedback | Header::Player { .. } = packet.header
                && let Some(frame) = Frame::of(&packet, &[], 0)
                && link.send(&Datagram::Packet(frame)).is_err()
            {
                link.stats.overruns += 1;
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

    /// Publishes its progress.
    pub(crate) fn show(&self, progress: &Progress) {
        let [packets, bytes, content] = self.counted;
        progress.packets.store(packets, Ordering::Relaxed);
        progress.bytes.store(bytes, Ordering::Relaxed);
        progress.content.store(content, Ordering::Relaxed);
        if let Some(machine) = &self.machine {
            progress.lost.store(machine.meter.count(Count::Missing), Ordering::Relaxed);
            progress.rtt_ns.store(machine.meter.rtt_last.as_nanos(), Ordering::Relaxed);
        }
    }
}
