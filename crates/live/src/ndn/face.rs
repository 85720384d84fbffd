//! A face: Interests and Data to and from one forwarder, in any frames.

use wire::ndn::{Fragmenter, LinkHeader, LinkPacket, Packet, Reassembly};

use super::ask::mix;
use super::{Transport, TransportError};

/// Interests and Data to and from one forwarder, over frames that a transport moves.
#[derive(Debug)]
pub struct Face<C> {
    transport: C,
    fragmenter: Fragmenter,
    reassembly: Reassembly,
    traffic: Traffic,
    /// The last number drawn.
    chance: u64,
}

/// What went over a face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Frames sent.
    pub frames_out: u64,
    /// Their bytes.
    pub bytes_out: u64,
    /// Frames that came.
    pub frames_in: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Frames that came and were no packets, or pieces that did not fit together.
    pub malformed: u64,
    /// Packets of which pieces never came.
    pub unfinished: u64,
    /// Frames for which the system had no room.
    pub overruns: u64,
}

impl<C: Transport> Face<C> {
    /// A face. Numbers of pieces and nonces begin with `chance`, which nobody else should draw: the time, for instance.
    pub fn new(transport: C, chance: u64) -> Self {
        let fragmenter = Fragmenter::new(transport.mtu().max(Fragmenter::MIN_MTU), mix(chance));
        Self { transport, fragmenter, reassembly: Reassembly::new(), traffic: Traffic::default(), chance }
    }

    /// Another number.
    pub(super) const fn draw(&mut self) -> u64 {
        self.chance = mix(self.chance);
        self.chance
    }

    /// What carries its frames.
    pub const fn transport(&mut self) -> &mut C {
        &mut self.transport
    }

    /// What went over it so far.
    pub const fn traffic(&self) -> Traffic {
        Traffic { unfinished: self.reassembly.lost(), ..self.traffic }
    }

    /// Gives packets that have come to `take`, some at a time, with what was said about them; false when there was nothing.
    pub fn receive(
        &mut self,
        take: &mut dyn FnMut(&LinkHeader, &Packet<'_>),
    ) -> Result<bool, TransportError> {
        let Self { transport, reassembly, traffic, .. } = self;
        let now = transport.now();
        transport.receive(&mut |frame| {
            traffic.frames_in += 1;
            traffic.bytes_in += frame.len() as u64;
            let Ok(piece) = LinkPacket::read(frame) else {
                traffic.malformed += 1;
                return;
            };
            match reassembly.take(&piece, now) {
                Ok(Some((header, bytes))) => match Packet::read(bytes) {
                    Ok(packet) => take(&header, &packet),
                    Err(_) => traffic.malformed += 1,
                },
                Ok(None) => {}
                Err(_) => traffic.malformed += 1,
            }
        })
    }

    /// Sends a packet with what is said about it, in pieces where it must be.
    pub fn send(&mut self, packet: &[u8], header: LinkHeader) -> Result<(), TransportError> {
        let Self { transport, fragmenter, traffic, .. } = self;
        let mut result = Ok(());
        fragmenter.cut(packet, header, |frame| {
            if result.is_err() {
                return;
            }
            match transport.send(frame) {
                Ok(true) => {
                    traffic.frames_out += 1;
                    traffic.bytes_out += frame.len() as u64;
                }
                Ok(false) => traffic.overruns += 1,
                Err(broken) => result = Err(broken),
            }
        });
        result
    }

    /// Gives the system what waits.
    pub fn flush(&mut self) -> Result<(), TransportError> {
        self.transport.flush()
    }
}
