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
/// Bytes of the heading of each datagram.
pub const HEADING: usize = 16;
/// Bytes of the tag that ends each datagram.
pub const TAG: usize = 16;
/// Bytes of the longest datagram that is read or written.
pub const LONGEST: usize = 65_507;
/// Bytes of a data datagram beside its content, where it belongs to no frame.
pub const DATA: usize = HEADING + 8 + 8 + 8 + 32 + 2 + TAG;
/// Bytes that a data datagram has more where it belongs to a frame.
pub const PIECE: usize = 8;
/// Bytes of a feedback datagram.
pub const FEEDBACK: usize = HEADING + 8 + 32 + TAG;
/// Bytes of the longest frame between a host and a router of a name-based network, without padding.
pub const SIGNAL: usize = HEADING + 8 + 1 + 4 + 8 + TAG;
/// Bytes of a segment with data beside its content.
pub const SEGMENT: usize = HEADING + 8 + 8 + TAG;
/// Bytes that a segment has more where it acknowledges.
pub const ACKNOWLEDGES: usize = 8 + 8 + 4;
/// Bytes that a segment has more for each block of a selective acknowledgement.
pub const BLOCK: usize = 8;
/// Bytes of a hello, at least: it is padded to so many, so that no answer before the caller's address is proved is longer.
pub const HELLO: usize = 160;
/// Bytes of the public key that each end draws when it opens a session (X25519, [RFC7748 §6.1]), and of a group's secret.
pub const KEY: usize = 32;
/// Bytes of a cookie.
pub const COOKIE: usize = 24;
/// Bytes of what a sender says about its data for its application, at most.
pub const ABOUT: usize = 512;
/// Bytes of a name or a text of a parameter, at most.
pub const TEXT: usize = 120;

/// One datagram, without its tag.
#[derive(Clone, Debug, PartialEq)]
pub struct Datagram<'a> {
    /// The session it belongs to; before there is one, a number that the caller drew.
    pub session: u32,
    /// Its own number: each direction of a session counts from 0 and uses none twice. 0 before there is a session.
    pub number: u64,
    /// What it says.
    pub frame: Frame<'a>,
}

/// What a datagram says.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame<'a> {
    /// May I? First without a cookie, then with the one from the challenge.
    Hello(Box<Hello>),
    /// Say that again, with this cookie: it proves that you receive what is sent to your address.
    Challenge {
        /// To be said again.
        cookie: [u8; COOKIE],
    },
    /// You may.
    Welcome(Box<Welcome>),
    /// You may not. Sent only to an address that is proved.
    Refusal(Reason),
    /// Something that must arrive: said again until it is heard.
    Order {
        /// Its number: each direction of a session counts from 0.
        serial: u32,
        /// What it is.
        order: Order,
    },
    /// The order with this number was taken.
    Ack {
        /// Which.
        serial: u32,
    },
    /// Nothing, from an end that has been silent for long.
    KeepAlive,
    /// Something from application to application. It may be lost.
    Message(&'a [u8]),
    /// A packet of a paced stream.
    Data(Data<'a>),
    /// Feedback of a stream receiver to its sender.
    Feedback {
        /// When it was sent, by its sender's clock.
        sent_at: Time,
        /// The scheme's own words.
        label: Label,
    },
    /// Feedback of a player to the source of its stream.
    Player {
        /// When it was sent, by its sender's clock.
        sent_at: Time,
        /// Its buffer is full; otherwise it fills.
        full: bool,
    },
    /// A segment of a windowed connection, data or acknowledgement.
    Segment(Segment<'a>),
    /// A frame between a host and a router of a name-based network: one of those that hosts say or hear.
    Signal {
        /// When it was sent, by its sender's clock.
        sent_at: Time,
        /// What it says. The words of routers among themselves ([`Signal::Register`] and the like) do not travel so.
        signal: Signal,
        /// Bytes of zeros that follow.
        padding: usize,
    },
    /// From an agent of an SDN controller, until it has its task: here I stand.
    Attach {
        /// The node, by its name in the controller's network.
        node: String,
    },
    /// From an SDN controller to an agent: this is your task.
    Task(Box<Task>),
    /// A frame between the machines of an SDN controller and an agent. It may be lost.
    Control(Said),
}

/// A packet of a paced stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Data<'a> {
    /// When it was sent, by its sender's clock.
    pub sent_at: Time,
    /// Number, bytes before it, piece of a frame.
    pub header: StreamHeader,
    /// The scheme's own words.
    pub label: Label,
    /// What it carries.
    pub content: &'a [u8],
    /// Bytes of zeros that fill the datagram up to the size that the scheme asked for.
    pub padding: usize,
}

/// A segment of a windowed connection.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// When it was sent, by its sender's clock.
    pub sent_at: Time,
    /// Sequence and acknowledgement numbers, flags, blocks.
    pub header: TcpHeader,
    /// What it carries: the bytes from `header.seq` on.
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

/// What an end is: which way data go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It sends data.
    Sender,
    /// It takes data.
    Receiver,
    /// Neither: it stands at a node, and takes orders from an SDN controller.
    Agent,
}

/// The first frame of whoever opens a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Hello {
    /// What the caller is.
    pub role: Role,
    /// The caller's public key, drawn for this session.
    pub public: [u8; KEY],
    /// Who calls: a public key (X25519) that is drawn once, so that a caller that calls again is known. The keys of the session are made from it,
    /// too: whoever only saw it pass by can open no session in the caller's name.
    pub caller: [u8; KEY],
    /// From the challenge; none the first time.
    pub cookie: Option<[u8; COOKIE]>,
    /// What will be sent, where the caller sends.
    pub offer: Option<Offer>,
}

/// The answer to a hello with a right cookie.
#[derive(Clone, Debug, PartialEq)]
pub struct Welcome {
    /// The number that all datagrams of the session carry from now on.
    pub session: u32,
    /// The public key of whoever was called, drawn for this session.
    pub public: [u8; KEY],
    /// The caller's number among those that this sender serves: how the scheme knows it.
    pub peer: u32,
    /// What will be sent, where the caller takes.
    pub offer: Option<Offer>,
    /// The group to which data go, where they do not go to the caller alone.
    pub group: Option<Group>,
}

/// A group to which data go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its address and port.
    pub address: std::net::SocketAddr,
    /// The number of the session that datagrams to the group carry.
    pub session: u32,
    /// What the group's key is made from; masked while it travels, so that only the caller can read it.
    pub secret: [u8; KEY],
}

/// What must arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// From a receiver: begin.
    Ready {
        /// Bytes that it is ready to take beyond those in order.
        window: u32,
    },
    /// Change to this mode of the scheme.
    Mode(String),
    /// From a sender: the flow ends here.
    End {
        /// Bytes of the whole flow, where it is windowed; packets, where it is paced.
        total: u64,
    },
    /// The session is over.
    Close(Reason),
}

/// Why a session ended, or did not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// All that was to be done is done.
    Complete,
    /// Whoever ran it wanted it to end.
    Stopped,
    /// Somebody else is being served.
    Busy,
    /// The ends do not fit: two senders, or two receivers.
    Mismatch,
    /// There is no such scheme, or it does not take these parameters, or sizes are out of range.
    Offer,
    /// What was to be sent could not be read, or what came could not be written.
    Storage,
    /// The controller's network has no node of that name, or no agent there.
    Unknown,
    /// The beginning of a stream was sent before, and is not kept.
    Gone,
    /// No data came for too long, though the other end said that it lives.
    Quiet,
    /// The tag of a hello is wrong. Said without a key, so it is a hint and no answer.
    Key,
}

impl Reason {
    /// All of them; each stands at its code on the wire.
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

    /// The reason in words.
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

/// What a datagram does not say of the packet that it is: where it comes from and goes to, and what the IP header says.
#[derive(Clone, Copy, Debug)]
pub struct Envelope {
    /// The flow.
    pub flow: FlowId,
    /// Who sent it.
    pub source: contract::Address,
    /// Whom it is for.
    pub to: Destination,
    /// The field of the IP header.
    pub ecn: Ecn,
    /// Bytes of the headers of IP and UDP.
    pub outer_bytes: u32,
}

impl<'a> Frame<'a> {
    /// What a machine's packet says, with what it carries. `None` for packets that do not travel in our datagrams.
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

    /// The packet that this datagram, `length` bytes long with its tag, is to a machine. `None` for what is not for machines.
    ///
    /// A segment's size is that of a plain header and its content, as TCP's receiver counts: what an acknowledgement has more is left out.
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
