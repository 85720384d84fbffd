//! A face: Interests and Data to and from one forwarder, over any transport of frames.

use wire::ndn::{Fragmenter, LinkHeader, LinkPacket, Packet, Reassembly};

use super::{Transport, TransportError};
use crate::random::mix;

/// Interests and Data to and from one forwarder, over frames that a transport moves.
#[derive(Debug)]
pub struct Face<C> {
    transport: C,
    fragmenter: Fragmenter,
    reassembly: Reassembly,
    traffic: Traffic,
    /// The last random number.
    random: u64,
}

/// Counters of a face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Frames sent.
    pub frames_out: u64,
    /// Their bytes.
    pub bytes_out: u64,
    /// Frames received.
    pub frames_in: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Received frames that are not valid packets, and inconsistent fragments.
    pub malformed: u64,
    /// Packets of which fragments are missing.
    pub unfinished: u64,
    /// Frames that the system did not accept.
    pub overruns: u64,
}

impl<C: Transport> Face<C> {
    /// A face. `random` seeds fragment numbers and nonces, and should be unique, such as the time.
    pub fn new(transport: C, random: u64) -> Self {
        let fragmenter = Fragmenter::new(transport.mtu().max(Fragmenter::MIN_MTU), mix(random));
        Self { transport, fragmenter, reassembly: Reassembly::new(), traffic: Traffic::default(), random }
    }

    /// Another random number.
    pub(super) const fn draw(&mut self) -> u64 {
        self.random = mix(self.random);
        self.random
    }

    /// The transport of its frames.
    pub const fn transport(&mut self) -> &mut C {
        &mut self.transport
    }

    /// Its counters.
    pub const fn traffic(&self) -> Traffic {
        Traffic { unfinished: self.reassembly.lost(), ..self.traffic }
    }

    /// Passes received packets with their link headers to `take`, some at a time. Returns false if none had arrived.
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

    /// Sends a packet with its link header, in fragments if necessary.
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

    /// Flushes the transport.
    pub fn flush(&mut self) -> Result<(), TransportError> {
        self.transport.flush()
    }
}
