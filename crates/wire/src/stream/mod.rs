//! Thalweg's UDP datagrams, version 2: the protocol of live senders and receivers.
//!
//! Every datagram has a header, a body that depends on its kind, and a tag that authenticates both; `docs/reference/wire-formats.md` shows each byte.
//! The parser accepts any input: bytes that are no datagram are [`Malformed`], never a panic. Tags are computed and compared in `live`, which has the
//! keys; in this module they are the last [`TAG`] bytes.

mod offer;
mod read;
mod sdn;
#[cfg(test)]
mod tests;
mod write;

use contract::{Destination, Ecn, FlowId, Header, Label, Packet, Signal, StreamHeader, TcpHeader};
use units::Time;

pub use offer::{Offer, Transport};
pub use read::Malformed;
pub use sdn::{Prefix, Said, Task};

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
pub const PIECE: usize = 8;
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
/// Minimum bytes of a hello. It is padded, so that no answer is longer before the caller's address is validated.
pub const HELLO: usize = 160;
/// Bytes of the public key that each end generates for a session (X25519, [RFC7748 §6.1]), and of a group's secret.
pub const KEY: usize = 32;
/// Bytes of an address-validation token.
pub const TOKEN: usize = 24;
/// Maximum bytes of the application's field of an offer.
pub const ABOUT: usize = 512;
/// Maximum bytes of a name, or of a text of a parameter.
pub const TEXT: usize = 120;

/// One datagram, without its tag.
#[derive(Clone, Debug, PartialEq)]
pub struct Datagram<'a> {
    /// Number of the session; before there is one, a random number of the caller.
    pub session: u32,
    /// Number of the datagram: each direction of a session counts from 0 and uses no number twice. 0 before there is a session.
    pub number: u64,
    /// Its content.
    pub frame: Frame<'a>,
}

/// The content of a datagram.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame<'a> {
    /// Request to open a session: first without an address-validation token, then with that of the challenge.
    Hello(Box<Hello>),
    /// Request for a second hello with this token, which proves that the caller receives packets at its address.
    Challenge {
        /// The token, to be returned in the next hello.
        token: [u8; TOKEN],
    },
    /// The session is open.
    Welcome(Box<Welcome>),
    /// The session is refused. Sent only to a validated address.
    Refusal(Reason),
    /// A reliable message of the session, retransmitted until it is acknowledged.
    Order {
        /// Its serial number: each direction of a session counts from 0.
        serial: u32,
        /// The message.
        order: Order,
    },
    /// Acknowledgement of the order with this serial number.
    Ack {
        /// The serial number.
        serial: u32,
    },
    /// Keep-alive of an end that has sent nothing for some time.
    KeepAlive,
    /// A message between applications. It can be lost.
    Message(&'a [u8]),
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
    /// Identification of an SDN agent, repeated until it has received its task.
    Attach {
        /// The node, by its name in the controller's network.
        node: String,
    },
    /// Configuration of an agent by its SDN controller.
    Task(Box<Task>),
    /// A message between the state machines of an SDN controller and an agent. It can be lost.
    Control(Said),
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
    /// Neither: it is the agent of an SDN controller at a node.
    Agent,
}

/// The first frame of a caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Hello {
    /// The caller's role.
    pub role: Role,
    /// The caller's public key, generated for this session.
    pub public: [u8; KEY],
    /// The caller's identity: a public key (X25519) that is generated once, by which a caller is recognised. The keys of the session depend on it,
    /// so that an observer cannot open a session as the caller.
    pub caller: [u8; KEY],
    /// The address-validation token of the challenge; none in the first hello.
    pub token: Option<[u8; TOKEN]>,
    /// The offer, if the caller sends.
    pub offer: Option<Offer>,
}

/// The answer to a hello with a valid token.
#[derive(Clone, Debug, PartialEq)]
pub struct Welcome {
    /// The number of the session, which all further datagrams carry.
    pub session: u32,
    /// The listener's public key, generated for this session.
    pub public: [u8; KEY],
    /// The caller's number among the receivers of this sender, by which the scheme identifies it.
    pub peer: u32,
    /// The offer, if the caller receives.
    pub offer: Option<Offer>,
    /// The multicast group of the data, if there is one.
    pub group: Option<Group>,
}

/// A multicast group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its address and port.
    pub address: std::net::SocketAddr,
    /// The number of the session that datagrams to the group carry.
    pub session: u32,
    /// The secret from which the group's key is derived; masked in the datagram, so that only the caller can read it.
    pub secret: [u8; KEY],
}

/// A reliable message of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// From a receiver: it is ready for data.
    Ready {
        /// Bytes that it accepts beyond those in order.
        window: u32,
    },
    /// Change of the scheme's mode.
    Mode(String),
    /// From a sender: the flow ends here.
    End {
        /// Bytes of a windowed flow; packets of a paced flow.
        total: u64,
    },
    /// The session is over.
    Close(Reason),
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
    Quiet,
    /// The tag of a hello is wrong. Sent without a key, so that it is a hint.
    Key,
}

impl Reason {
    /// All reasons; the index is the code on the wire.
    pub const ALL: [Self; 10] = [
        Self::Complete,
        Self::Stopped,
        Self::Busy,
        Self::Mismatch,
        Self::Offer,
        Self::Storage,
        Self::Unknown,
        Self::Gone,
        Self::Quiet,
        Self::Key,
    ];

    /// The reason as text.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Complete => "all was done",
            Self::Stopped => "it was stopped",
            Self::Busy => "somebody else is being served",
            Self::Mismatch => "both ends send, or both receive",
            Self::Offer => "the scheme, its parameters or its sizes are not known there",
            Self::Storage => "what was sent could not be read or written",
            Self::Unknown => "the controller's network has no agent at a node of that name",
            Self::Gone => "the beginning of the stream is gone",
            Self::Quiet => "no data came for too long",
            Self::Key => "it does not have this key",
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

    /// The packet that this datagram, `length` bytes long with its tag, is for a state machine. `None` for frames of the session.
    ///
    /// A segment's size is that of a plain header and its content, as TCP's receiver counts, without the additional bytes of acknowledgements.
    pub fn packet(&self, length: usize, envelope: &Envelope) -> Option<Packet> {
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
            _ => return None,
        };
        Some(Packet {
            flow: envelope.flow,
            size_bytes: envelope.outer_bytes + bytes as u32,
            source: envelope.source,
            to: envelope.to,
            sent_at,
            label,
            header,
            ecn: envelope.ecn,
            hops: 0,
        })
    }
}
