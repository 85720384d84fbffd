//! The flow of a group: the scheme's state machine decides when a packet leaves, and the payload decides its content.

use contract::{Ecn, EndpointId, Packet};
use driver::Platform;
use schemes::Build;
use transfer::{Pause, Payload, Status};
use units::Time;
use wire::stream::{ABOUT, Offer, Transport};

use super::channel::Channel;
use crate::frames::{DATA_HEADER, Datagram};
use crate::group::OVERHEAD;
use crate::paced::{PacedIo, PacedMachine, SENDER, receiver_address};
use crate::{Progress, Scheme, Stats};

/// Minimum bytes of content in a packet.
const CONTENT: u32 = 64;
/// Maximum size of a packet.
const PACKET: u16 = 9000;

/// The transmission of a payload to a group.
pub(crate) struct Flow {
    offer: Offer,
    payload: Box<dyn Payload>,
    machine: PacedMachine,
    /// A receiver is ready.
    begun: bool,
    /// Why it cannot continue.
    failed: Option<String>,
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
        let min = u32::from(crate::OUTER[1]) + OVERHEAD + DATA_HEADER as u32 + CONTENT;
        if u32::from(packet) < min || packet > PACKET {
            return Err(format!("packets of {packet} bytes: a group needs {min} to {PACKET}, with headers"));
        }
        if about.len() > ABOUT {
            return Err(format!("the manifest has {} bytes, and at most {ABOUT} are sent", about.len()));
        }
        let offer =
            Offer { scheme: name, params, transport: Transport::Paced, packet, ecn, size: None, about };
        Ok(Self { offer, payload, machine: PacedMachine::new(mode, seed), begun: false, failed: None })
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

    /// Starts the state machine, when the first receiver is ready, and handles what is due.
    pub(crate) fn turn<P: Platform>(
        &mut self,
        now: Time,
        channel: &mut Channel,
        platform: &mut P,
        stats: &mut Stats,
    ) {
        let Self { offer, payload, machine, begun, failed } = self;
        let mut result = Ok(());
        if *begun && failed.is_none() && !machine.is_started() {
            result = machine.start(offer, &offer.params, SENDER, channel.outer_bytes(), now);
        }
        let mut io = ToGroup { payload: &mut **payload, channel, platform, stats };
        result = result.and_then(|()| machine.turn(now, &mut io));
        if channel.is_too_long() {
            let packet = offer.packet;
            result = result
                .and(Err(format!("the path does not carry packets of {packet} bytes: use smaller packets")));
        }
        if let Err(why) = result {
            failed.get_or_insert(why);
        }
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
        self.machine.on_feedback(&frame, bytes.len(), receiver_address(peer), ecn, outer_bytes, now)
    }

    /// A message of a receiver on its control stream.
    pub(crate) fn on_message(&mut self, peer: u32, bytes: &[u8], now: Time) {
        self.payload.on_message(EndpointId(peer), now, bytes);
    }

    /// The scheme changes to this mode.
    pub(crate) fn on_mode(&mut self, mode: &str, now: Time) {
        self.machine.on_mode(mode, now);
    }

    /// The next deadline.
    pub(crate) fn wake(&self, now: Time) -> Time {
        match self.machine.wake(now) {
            Some(wake) => wake,
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

    /// Which end causes the current lack of data.
    pub(crate) fn pause(&self) -> Pause {
        if self.machine.is_started() { self.payload.pause() } else { Pause::None }
    }

    /// The session is over: the counters of the state machine are kept.
    pub(crate) fn retire(&mut self, stats: &mut Stats) {
        self.machine.retire(stats);
    }

    /// Data packets sent.
    pub(crate) const fn packets(&self) -> u64 {
        self.machine.packets()
    }

    /// Publishes its progress.
    pub(crate) fn show(&self, progress: &Progress) {
        self.machine.show(self.payload.limit(), progress);
    }
}

/// The payload of a group, and the way to its receivers.
struct ToGroup<'a, P> {
    payload: &'a mut dyn Payload,
    channel: &'a mut Channel,
    platform: &'a mut P,
    stats: &'a mut Stats,
}

impl<P: Platform> PacedIo for ToGroup<'_, P> {
    fn ready(&mut self, now: Time) -> Time {
        self.payload.ready(now)
    }

    fn fill(&mut self, seq: u64, now: Time, buffer: &mut [u8]) -> usize {
        self.payload.fill(seq, now, buffer)
    }

    fn frame_bytes(&self, packet: u32) -> usize {
        packet.saturating_sub(self.channel.outer_bytes() + OVERHEAD) as usize
    }

    fn send(&mut self, packet: &Packet, datagram: &Datagram<'_>, now: Time) -> Result<(), String> {
        self.channel.send(packet.ecn, now, self.platform, |out| {
            datagram.write(out);
        });
        Ok(())
    }

    fn stats(&mut self) -> &mut Stats {
        self.stats
    }
}
