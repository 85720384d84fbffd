//! Parser of datagrams. It accepts any input: the result is a datagram or a reason.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use contract::{Eid, GroupId, Label, Piece, SackBlocks, Signal, StreamHeader, TcpFlags, TcpHeader};
use units::{Duration, Time};

use super::write::{
    ACK, AGENT, ALIVE_KIND, ATTACH_KIND, BLOCKS_AT, CHALLENGE_KIND, CONTROL_KIND, CWR, DATA_KIND, ECE,
    FEEDBACK_KIND, FIN, FULL_FLAG, GROUP_FLAG, HEARD_KIND, HELLO_KIND, MESSAGE_KIND, OFFER_FLAG, ORDER_KIND,
    PIECE_FLAG, PLAYER_KIND, RECEIVES, REFUSAL_KIND, SEGMENT_KIND, SIGNAL_FLAG, SIGNAL_KIND, SYN, TASK_KIND,
    TOKEN_FLAG, WELCOME_KIND,
};
use super::{
    Data, Datagram, Frame, Group, HEADING, HELLO, Hello, LONGEST, MAGIC, Offer, Order, Reason, Role, Said,
    Segment, TAG, TEXT, Task, VERSION, Welcome,
};
use crate::is_control;

/// Why bytes are not a valid datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// They do not start with the magic number.
    Foreign,
    /// The version of the format is another one.
    Version,
    /// The kind is unknown.
    Kind,
    /// Undefined flags are set.
    Flags,
    /// They are truncated or too long, or a length in them is out of range.
    Length,
    /// A text is not UTF-8.
    Text,
    /// A field has an invalid value.
    Value,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Foreign => "it is not ours",
            Self::Version => "it is of another version",
            Self::Kind => "its kind is not known",
            Self::Flags => "it has flags that are not known",
            Self::Length => "its length is wrong",
            Self::Text => "a text in it is not UTF-8",
            Self::Value => "a value in it is not known",
        })
    }
}

impl std::error::Error for Malformed {}

impl<'a> Datagram<'a> {
    /// Divides a datagram into the bytes that the tag covers and the tag. `None` if it is too short.
    pub fn split(bytes: &[u8]) -> Option<(&[u8], &[u8; TAG])> {
        if bytes.len() < HEADING + TAG || bytes.len() > LONGEST {
            return None;
        }
        bytes.split_last_chunk()
    }

    /// The session of a datagram, and whether it is part of a handshake (hello, challenge, welcome, refusal): what is needed to find the
    /// key of its tag.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the heading is invalid.
    pub fn peek(bytes: &[u8]) -> Result<(u32, bool), Malformed> {
        let mut from = Reader(bytes);
        let [kind, _] = from.beginning()?;
        let session = from.u32()?;
        Ok((session, (HELLO_KIND..=REFUSAL_KIND).contains(&kind)))
    }

    /// Reads a datagram without its tag.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if it is not a valid datagram of version 2.
    pub fn read(body: &'a [u8]) -> Result<Self, Malformed> {
        if body.len() + TAG > LONGEST {
            return Err(Malformed::Length);
        }
        let mut from = Reader(body);
        let [kind, flags] = from.beginning()?;
        let (session, number) = (from.u32()?, from.u64()?);
        let known = |known: u8| if flags & !known == 0 { Ok(()) } else { Err(Malformed::Flags) };
        let frame = match kind {
            HELLO_KIND => {
                known(RECEIVES | TOKEN_FLAG | OFFER_FLAG | AGENT)?;
                if body.len() + TAG < HELLO {
                    return Err(Malformed::Length);
                }
                let hello = read_hello(flags, &mut from)?;
                // the rest is padding
                from.0 = &[];
                Frame::Hello(Box::new(hello))
            }
            CHALLENGE_KIND => {
                known(0)?;
                Frame::Challenge { token: from.array()? }
            }
            WELCOME_KIND => {
                known(GROUP_FLAG | OFFER_FLAG)?;
                Frame::Welcome(Box::new(read_welcome(flags, &mut from)?))
            }
            REFUSAL_KIND => {
                known(0)?;
                Frame::Refusal(from.reason()?)
            }
            ORDER_KIND => {
                known(0)?;
                Frame::Order { serial: from.u32()?, order: read_order(&mut from)? }
            }
            HEARD_KIND => {
                known(0)?;
                Frame::Ack { serial: from.u32()? }
            }
            ALIVE_KIND => {
                known(0)?;
                Frame::KeepAlive
            }
            MESSAGE_KIND => {
                known(0)?;
                Frame::Message(from.rest())
            }
            DATA_KIND => {
                known(PIECE_FLAG)?;
                Frame::Data(read_data(flags, &mut from)?)
            }
            FEEDBACK_KIND => {
                known(0)?;
                Frame::Feedback { sent_at: from.time()?, label: from.label()? }
            }
            PLAYER_KIND => {
                known(FULL_FLAG)?;
                Frame::Player { sent_at: from.time()?, full: flags & FULL_FLAG != 0 }
            }
            SEGMENT_KIND => {
                known(SYN | FIN | ECE | CWR | ACK | 3 << BLOCKS_AT)?;
                Frame::Segment(read_segment(flags, &mut from)?)
            }
            SIGNAL_KIND => {
                known(0)?;
                let (sent_at, signal) = (from.time()?, read_signal(&mut from)?);
                Frame::Signal { sent_at, signal, padding: from.rest().len() }
            }
            ATTACH_KIND => {
                known(0)?;
                Frame::Attach { node: from.text()? }
            }
            TASK_KIND => {
                known(SIGNAL_FLAG)?;
                Frame::Task(Box::new(Task::read(flags & SIGNAL_FLAG != 0, &mut from)?))
            }
            CONTROL_KIND => {
                known(0)?;
                Frame::Control(Said::read(&mut from)?)
            }
            _ => return Err(Malformed::Kind),
        };
        if from.0.is_empty() { Ok(Self { session, number, frame }) } else { Err(Malformed::Length) }
    }
}

fn read_hello(flags: u8, from: &mut Reader<'_>) -> Result<Hello, Malformed> {
    Ok(Hello {
        role: match flags & (RECEIVES | AGENT) {
            0 => Role::Sender,
            RECEIVES => Role::Receiver,
            AGENT => Role::Agent,
            _ => return Err(Malformed::Flags),
        },
        public: from.array()?,
        caller: from.array()?,
        token: if flags & TOKEN_FLAG != 0 { Some(from.array()?) } else { None },
        offer: if flags & OFFER_FLAG != 0 { Some(Offer::read(from)?) } else { None },
    })
}

fn read_welcome(flags: u8, from: &mut Reader<'_>) -> Result<Welcome, Malformed> {
    let (session, public, peer) = (from.u32()?, from.array()?, from.u32()?);
    let group = if flags & GROUP_FLAG != 0 {
        let ip = match from.byte()? {
            4 => IpAddr::V4(Ipv4Addr::from(from.array::<4>()?)),
            6 => IpAddr::V6(Ipv6Addr::from(from.array::<16>()?)),
            _ => return Err(Malformed::Value),
        };
        let address = SocketAddr::new(ip, from.u16()?);
        Some(Group { address, session: from.u32()?, secret: from.array()? })
    } else {
        None
    };
    let offer = if flags & OFFER_FLAG != 0 { Some(Offer::read(from)?) } else { None };
    Ok(Welcome { session, public, peer, offer, group })
}

fn read_order(from: &mut Reader<'_>) -> Result<Order, Malformed> {
    Ok(match from.byte()? {
        0 => Order::Ready { window: from.u32()? },
        1 => Order::Mode(from.text()?),
        2 => Order::End { total: from.u64()? },
        3 => Order::Close(from.reason()?),
        _ => return Err(Malformed::Value),
    })
}

fn read_data<'a>(flags: u8, from: &mut Reader<'a>) -> Result<Data<'a>, Malformed> {
    let (sent_at, seq, bytes_before, label) = (from.time()?, from.u64()?, from.u64()?, from.label()?);
    let piece = if flags & PIECE_FLAG != 0 {
        Piece { frame: from.u32()?, frame_bytes: from.u32()? }
    } else {
        Piece::default()
    };
    let length = usize::from(from.u16()?);
    let content = from.take(length)?;
    let padding = from.rest().len();
    if seq > MAX || bytes_before > MAX {
        return Err(Malformed::Value);
    }
    Ok(Data { sent_at, header: StreamHeader { seq, bytes_before, piece }, label, content, padding })
}

fn read_signal(from: &mut Reader<'_>) -> Result<Signal, Malformed> {
    let (code, group) = (from.byte()?, GroupId(from.u32()?));
    Ok(match code {
        0 => Signal::Publish { group, gumgid: Eid(from.u64()?) },
        1 => Signal::Unpublish { group },
        2 => Signal::Join { group, gumgid: Eid(from.u64()?) },
        3 => Signal::Leave { group },
        4 => Signal::Accepted { group },
        5 => Signal::Probe { group, packets: from.byte()? },
        6 => Signal::Probed { group, index: from.byte()? },
        _ => return Err(Malformed::Value),
    })
}

fn read_segment<'a>(flags: u8, from: &mut Reader<'a>) -> Result<Segment<'a>, Malformed> {
    let (sent_at, seq) = (from.time()?, from.u64()?);
    let mut header = TcpHeader {
        seq,
        window_bytes: u32::MAX,
        flags: TcpFlags {
            syn: flags & SYN != 0,
            fin: flags & FIN != 0,
            ece: flags & ECE != 0,
            cwr: flags & CWR != 0,
        },
        ..TcpHeader::default()
    };
    let blocks = usize::from(flags >> BLOCKS_AT & 3);
    if flags & ACK != 0 {
        (header.ack, header.echo, header.window_bytes) = (from.u64()?, from.time()?, from.u32()?);
        let mut sack = SackBlocks::default();
        for block in &mut sack.0[..blocks] {
            *block = (from.u32()?, from.u32()?);
            if block.1 <= block.0 {
                return Err(Malformed::Value);
            }
        }
        header.sack = sack;
    } else if blocks > 0 {
        return Err(Malformed::Flags);
    }
    let content = from.rest();
    if header.seq > MAX || header.ack > MAX {
        return Err(Malformed::Value);
    }
    Ok(Segment { sent_at, header, content })
}

/// Maximum packet number, byte number and time stamp, so that sums of a few of them do not overflow. A connection at 100 Gbit/s reaches it
/// after eleven years.
const MAX: u64 = 1 << 62;

/// The bytes that are left to read.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) const fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads kind and flags of a valid heading.
    fn beginning(&mut self) -> Result<[u8; 2], Malformed> {
        let [magic, version, kind, flags] = self.array()?;
        match (magic, version) {
            (MAGIC, VERSION) => Ok([kind, flags]),
            (MAGIC, _) => Err(Malformed::Version),
            _ => Err(Malformed::Foreign),
        }
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed::Length)?;
        self.0 = rest;
        Ok(taken)
    }

    fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Malformed::Length)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    pub(super) fn time(&mut self) -> Result<Time, Malformed> {
        let nanos = self.u64()?;
        if nanos > MAX { Err(Malformed::Value) } else { Ok(Time::from_nanos(nanos)) }
    }

    pub(super) fn duration(&mut self) -> Result<Duration, Malformed> {
        self.time().map(|time| time - Time::ZERO)
    }

    /// Reads a count of at most `max`.
    pub(super) fn count(&mut self, max: usize) -> Result<usize, Malformed> {
        let count = usize::from(self.u16()?);
        if count > max { Err(Malformed::Length) } else { Ok(count) }
    }

    pub(super) fn label(&mut self) -> Result<Label, Malformed> {
        Ok(Label([self.u64()?, self.u64()?, self.u64()?, self.u64()?]))
    }

    /// Reads a name of a scheme, parameter, mode or node, which must not contain control characters.
    pub(super) fn text(&mut self) -> Result<String, Malformed> {
        let length = usize::from(self.byte()?);
        if length > TEXT {
            return Err(Malformed::Length);
        }
        let bytes = self.take(length)?;
        let text = std::str::from_utf8(bytes).map_err(|_| Malformed::Text)?;
        if text.chars().any(is_control) { Err(Malformed::Text) } else { Ok(text.to_owned()) }
    }

    fn reason(&mut self) -> Result<Reason, Malformed> {
        Reason::ALL.get(usize::from(self.byte()?)).copied().ok_or(Malformed::Value)
    }
}
