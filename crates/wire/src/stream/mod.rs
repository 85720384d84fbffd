//! Thalweg's UDP datagrams, version 2: packets of emulated flows with `live = true`; and the offer of a session over
//! QUIC.
//!
//! Every datagram has a header, a body that depends on its kind, and room for a tag; `docs/reference/wire-formats.md`
//! shows each byte. The parser accepts any input: bytes that are no datagram are [`Malformed`], never a panic.

mod offer;
mod read;
#[cfg(test)]
mod tests;
mod write;

use contract::{Destination, Ecn, FlowId, Header, Label, Packet, Signal, StreamHeader, TcpHeader};
use units::Time;

pub use crate::reader::{Malformed, TEXT};
pub use offer::{Offer, Transport};

/// First byte of each datagram.
pub const MAGIC: u8 = b'T';
/// Second byte: the version of the format.
pub const VERSION: u8 = 2;
/// Bytes of the header of each datagram.
pub const HEADING: usize = 16;
/// Bytes of the tag that ends each datagram.
pub const TAG: usize = 16;
/// Maximum bytes of a datagram.
pub const LONGEST: usize = 65_507;
/// Bytes of a data datagram in addition to its content, without a video frame.
pub const DATA: usize = HEADING + 8 + 8 + 8 + 32 + 2 + TAG;
/// Additional bytes of a data datagram with a fragment of a video frame.
pub const FRAGMENT: usize = 8;
/// Bytes of a feedback datagram.
pub const FEEDBACK: usize = HEADING + 8 + 32 + TAG;
/// Maximum bytes of a frame between a host and a router of a name-based network, without padding.
pub const SIGNAL: usize = HEADING + 8 + 1 + 4 + 8 + TAG;
/// Bytes of a segment with data in addition to its content.
pub const SEGMENT: usize = HEADING + 8 + 8 + TAG;
/// Additional bytes of a segment with an acknowledgement.
pub const ACKNOWLEDGES: usize = 8 + 8 + 4;
/// Additional bytes of a segment for each block of a selective acknowledgement.
pub const BLOCK: usize = 8;
/// Maximum bytes of the application's field of an offer.
pub const ABOUT: usize = 512;

/// One datagram, without its tag.
#[derive(Clone, Debug, PartialEq)]
pub struct Datagram<'a> {
    /// Number of the flow.
    pub session: u32,
    /// Number of the datagram among the datagrams of its sender.
    pub number: u64,
    /// Its content.
    pub frame: Frame<'a>,
}

/// The content of a datagram.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame<'a> {
    /// A packet of a paced stream.
    Data(Data<'a>),
    /// Feedback of a stream receiver to its sender.
    Feedback {
        /// When it was sent, by its sender's clock.
        sent_at: Time,
        /// The scheme's label.
        label: Label,
    },
    /// Feedback of a player to the source of its stream.
    Player {
        /// When it was sent, by its sender's clock.
        sent_at: Time,
        /// Whether its buffer is full.
        full: bool,
    },
    /// A segment of a windowed connection, data or acknowledgement.
    Segment(Segment<'a>),
    /// A signal between a host and a router of a name-based network.
    Signal {
        /// When it was sent, by its sender's clock.
        sent_at: Time,
        /// The signal. Signals between routers ([`Signal::Register`] and others) have no encoding.
        signal: Signal,
        /// Number of zero bytes that follow.
        padding: usize,
    },
}

/// A packet of a paced stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Data<'a> {
    /// When it was sent, by its sender's clock.
    pub sent_at: Time,
    /// Number, bytes sent before it, fragment of a video frame.
    pub header: StreamHeader,
    /// The scheme's label.
    pub label: Label,
    /// Its payload.
    pub content: &'a [u8],
    /// Number of zero bytes that pad the datagram to the size that the scheme requested.
    pub padding: usize,
}

/// A segment of a windowed connection.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// When it was sent, by its sender's clock.
    pub sent_at: Time,
    /// Sequence and acknowledgement numbers, flags, blocks.
    pub header: TcpHeader,
    /// Its payload: the bytes from `header.seq` on.
    pub content: &'a [u8],
}

impl PartialEq for Segment<'_> {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&self.header, &other.header);
        self.sent_at == other.sent_at
            && self.content == other.content
            && (a.seq, a.ack, a.echo, a.sack, a.window_bytes, a.flags)
                == (b.seq, b.ack, b.echo, b.sack, b.window_bytes, b.flags)
    }
}

/// The role of an end: the direction of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It sends data.
    Sender,
    /// It receives data.
    Receiver,
}

/// The reason of the end of a session, or of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Everything is done.
    Complete,
    /// The user or the calling program stopped it.
    Stopped,
    /// Another caller is being served.
    Busy,
    /// Both ends send, or both receive.
    Mismatch,
    /// The scheme is unknown, a parameter is invalid, or a size is out of range.
    Offer,
    /// The data could not be read or written.
    Storage,
    /// The controller's network has no node of that name, or no agent at it.
    Unknown,
    /// The beginning of a stream is no longer available.
    Gone,
    /// No data arrived for too long, although the other end sent keep-alives.
    NoProgress,
}

impl Reason {
    /// All reasons; the index is the code on the wire.
    pub const ALL: [Self; 9] = [
        Self::Complete,
        Self::Stopped,
        Self::Busy,
        Self::Mismatch,
        Self::Offer,
        Self::Storage,
        Self::Unknown,
        Self::Gone,
        Self::NoProgress,
    ];

    /// The reason as text.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Complete => "the transfer was complete",
            Self::Stopped => "it was stopped",
            Self::Busy => "another client is being served",
            Self::Mismatch => "both ends send, or both receive",
            Self::Offer => "the scheme, its parameters or its sizes are not supported",
            Self::Storage => "the data could not be read or written",
            Self::Unknown => "the controller's network has no agent at a node of that name",
            Self::Gone => "the beginning of the stream is gone",
            Self::NoProgress => "no data arrived for too long",
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.words())
    }
}

/// Fields of a packet that a datagram does not contain: addresses, and fields of the IP header.
#[derive(Clone, Copy, Debug)]
pub struct Envelope {
    /// The flow.
    pub flow: FlowId,
    /// Its source.
    pub source: contract::Address,
    /// Its destination.
    pub to: Destination,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// Bytes of the headers of IP and UDP.
    pub outer_bytes: u32,
}

impl<'a> Frame<'a> {
    /// The frame of a state machine's packet, with its payload. `None` for packets without an encoding.
    pub fn of(packet: &Packet, content: &'a [u8], padding: usize) -> Option<Self> {
        let (sent_at, label) = (packet.sent_at, packet.label);
        Some(match packet.header {
            Header::Stream(header) => Self::Data(Data { sent_at, header, label, content, padding }),
            Header::Feedback => Self::Feedback { sent_at, label },
            Header::Player { full } => Self::Player { sent_at, full },
            Header::Tcp(header) => Self::Segment(Segment { sent_at, header, content }),
            Header::Signal(signal) if write::signal_code(&signal).is_some() => {
                Self::Signal { sent_at, signal, padding }
            }
            _ => return None,
        })
    }

    /// The packet that this datagram, `length` bytes long with its tag, is for a state machine.
    ///
    /// A segment's size is the size of a plain header and its content, as TCP's receiver counts, without the additional
    /// bytes of acknowledgements.
    pub fn packet(&self, length: usize, envelope: &Envelope) -> Packet {
        let (sent_at, label, header, bytes) = match *self {
            Self::Data(data) => (data.sent_at, data.label, Header::Stream(data.header), length),
            Self::Feedback { sent_at, label } => (sent_at, label, Header::Feedback, length),
            Self::Player { sent_at, full } => (sent_at, Label::default(), Header::Player { full }, length),
            Self::Signal { sent_at, signal, .. } => {
                (sent_at, Label::default(), Header::Signal(signal), length)
            }
            Self::Segment(segment) => {
                let bytes = SEGMENT + segment.content.len();
                (segment.sent_at, Label::default(), Header::Tcp(segment.header), bytes)
            }
        };
        Packet {
            flow: envelope.flow,
            size_bytes: envelope.outer_bytes + bytes as u32,
            source: envelope.source,
            to: envelope.to,
            sent_at,
            label,
            header,
            ecn: envelope.ecn,
            hops: 0,
            waited: Default::default(),
        }
    }
}
