//! Paced schemes with receiver feedback in DATAGRAM frames (RFC 9221): the state machines of `stack::stream` decide
//! when a packet leaves, and QUIC encrypts and carries it.
//!
//! The connection's own controller does not limit ([`Unlimited`]), because the scheme does.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use contract::{Address, EndpointId, FlowId, NodeId, Setup};
use quinn_proto::congestion::{Controller, ControllerFactory};
use schemes::Entry;
use stack::stream;
use units::Bytes;
use wire::stream::Offer;

pub(crate) use machine::bps;
pub use machine::{PacedIo, PacedMachine};
pub(crate) use receiver::PacedReceiver;
pub(crate) use sender::PacedSender;

use crate::transport::OUTER;

mod initial_rate;
mod machine;
mod receiver;
mod sender;
mod silence;

/// The flow of a session.
const FLOW: FlowId = FlowId(0);
/// The address of the sender, by which schemes identify it.
pub const SENDER: Address = Address { node: NodeId(0), endpoint: EndpointId(0) };
/// The address of the one receiver of a unicast session.
const RECEIVER: Address = receiver_address(crate::scheme::RECEIVER.0);
/// Bytes of a QUIC packet with a short header and connection IDs of eight bytes: header, packet number, tag.
const QUIC: u32 = 1 + 8 + 4 + 16;
/// Bytes of a feedback packet in its DATAGRAM frame.
const FEEDBACK: u32 = 1 + 8 + 32;
/// Maximum number of due deadlines of a state machine before the socket is read.
const TICKS: usize = 512;

/// The address of the receiver with this number, by which schemes identify it.
pub(crate) const fn receiver_address(peer: u32) -> Address {
    Address { node: NodeId(peer), endpoint: EndpointId(peer) }
}

/// How data packets reach a receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framing {
    /// The address of the receiver.
    pub(crate) receiver: Address,
    /// Bytes of the headers of IP and UDP, and of the encryption around the frame of data.
    pub(crate) outer_bytes: u32,
    pub(crate) overhead: u32,
    /// The number of the packet with which the content of the first object begins, if it is known without a record of
    /// the sender.
    pub(crate) first: Option<u64>,
}

impl Framing {
    /// In DATAGRAM frames of this end's own connection.
    pub(crate) const fn unicast(outer_bytes: u32) -> Self {
        Self { receiver: RECEIVER, outer_bytes, overhead: overhead(outer_bytes), first: Some(0) }
    }
}

/// Settings of the state machines of sender and receiver.
fn config(offer: &Offer, entry: &Entry, outer_bytes: u32) -> stream::Config {
    stream::Config {
        packet: Bytes::new(u64::from(offer.packet)),
        feedback: Bytes::new(u64::from(outer_bytes + overhead(outer_bytes) + FEEDBACK)),
        reorder: entry.scheme.reorder,
        ecn: offer.ecn,
        ..stream::Config::default()
    }
}

/// Packet sizes and the initial window for the congestion controllers.
fn setup(config: &stream::Config) -> Setup {
    Setup { segment: config.packet, header: Bytes::ZERO, initial_window: Bytes::UNLIMITED }
}

/// Bytes around the content of a DATAGRAM frame: the QUIC packet, the frame's type and length. quinn reserves eight
/// bytes for the length, so that a full packet over IPv4, from which the maximum size is computed, is six bytes shorter
/// than it is counted; over IPv6 the length has two bytes.
const fn overhead(outer_bytes: u32) -> u32 {
    QUIC + if outer_bytes <= OUTER[0] as u32 { 1 + 8 } else { 1 + 2 }
}

/// Bytes of the DATAGRAM frame of a packet of this size.
const fn frame_bytes(packet: u32, outer_bytes: u32) -> usize {
    packet.saturating_sub(outer_bytes + overhead(outer_bytes)) as usize
}

/// A congestion controller without a limit: the scheme decides when packets leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unlimited;

impl Unlimited {
    /// A window above 2³² bytes, with which quinn does not pace.
    const WINDOW: u64 = 1 << 40;
}

impl Controller for Unlimited {
    fn on_congestion_event(&mut self, _now: Instant, _sent: Instant, _persistent: bool, _lost_bytes: u64) {}

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        Self::WINDOW
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }

    fn initial_window(&self) -> u64 {
        Self::WINDOW
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl ControllerFactory for Unlimited {
    fn build(self: Arc<Self>, _now: Instant, _current_mtu: u16) -> Box<dyn Controller> {
        Box::new(*self)
    }
}
