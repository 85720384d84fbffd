//! Frames of a session: records of its control stream, and the content of its DATAGRAM frames (RFC 9221).
//!
//! `docs/reference/wire-formats.md` shows each byte. Numbers are big-endian; a *varint* is as in RFC 9000 §16. The
//! decoders accept any input.

use std::net::{IpAddr, SocketAddr};

use bytes::{Buf, BufMut};
use contract::{Fragment, Label, StreamHeader};
use quinn_proto::VarInt;
use quinn_proto::coding::Codec;
use units::Time;
use wire::stream::{Data, Frame, Offer, Role, TEXT};

use crate::group::PublicKey;
pub use crate::group::Secret;

/// The version of these frames.
pub const VERSION: u8 = 2;
/// Maximum bytes of a record of the control stream.
pub const MAX_RECORD: usize = 16_384;
/// Maximum number of folders above a file.
pub const MAX_DEPTH: usize = 32;
/// Maximum bytes of a packet of data in addition to its content, without a fragment of a video frame and without
/// padding.
pub const DATA_HEADER: usize = 1 + 8 + 8 + 8 + 32;

/// A record of the control stream.
#[expect(missing_docs, reason = "the text of a variant describes its fields")]
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// The first record of each end: the version of these frames, the direction of data, and a secret by which a server
    /// recognises a client.
    Hello { version: u8, role: Role, client_secret: [u8; 32] },
    /// From the sender: an object, whether another follows it, and how many files and folders of the folder that is
    /// sent are not.
    Offer { object: u32, more: bool, omitted: u32, folders: Vec<String>, offer: Offer },
    /// From the receiver: it is ready for this object.
    Ready { object: u32 },
    /// From the sender: the number of the first packet with content of this object, in a paced flow.
    First { object: u32, seq: u64 },
    /// A message between the applications, about an object.
    Message { object: u32, bytes: Vec<u8> },
    /// The scheme changes to this mode.
    Mode(String),
    /// From the sender: the receiver has confirmed that it has everything.
    Done,
    /// From the sender, before an offer: its data are sent to this multicast group, in packets of this session that are
    /// signed by `key`; schemes identify the receiver by the number `peer`.
    Group { address: SocketAddr, session: u32, peer: u32, key: PublicKey },
    /// From the sender: the secret of an epoch of the group.
    Key { epoch: u32, secret: Secret },
    /// From the receiver: it has the key of this epoch.
    HasKey { epoch: u32 },
    /// From the receiver: whether packets of the group arrive.
    GroupReception(bool),
    /// From the receiver of a paced flow: packets that arrived after one sent later, and how many of them had been
    /// declared lost.
    Reordering { reordered: u64, late: u64 },
}

const HELLO: u8 = 1;
const OFFER: u8 = 2;
const READY: u8 = 3;
const FIRST: u8 = 4;
const MESSAGE: u8 = 5;
const MODE: u8 = 6;
const DONE: u8 = 7;
const GROUP: u8 = 8;
const KEY: u8 = 9;
const HAS_KEY: u8 = 10;
const GROUP_RECEPTION: u8 = 11;
const REORDERING: u8 = 12;

impl Record {
    /// Appends the record: a byte for its kind, two for the length of its content, and the content.
    pub fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend([0; 3]);
        out[start] = match self {
            Self::Hello { version, role, client_secret } => {
                out.extend([*version, u8::from(*role == Role::Receiver)]);
                out.extend(client_secret);
                HELLO
            }
            Self::Offer { object, more, omitted, folders, offer } => {
                out.extend(object.to_be_bytes());
                out.push(if *more { MORE } else { 0 } | if *omitted > 0 { HAS_OMITTED } else { 0 });
                if *omitted > 0 {
                    out.extend(omitted.to_be_bytes());
                }
                out.push(folders.len().min(MAX_DEPTH) as u8);
                for folder in &folders[..folders.len().min(MAX_DEPTH)] {
                    text(folder, FOLDER, out);
                }
                offer.encode(out);
                OFFER
            }
            Self::Ready { object } => {
                out.extend(object.to_be_bytes());
                READY
            }
            Self::First { object, seq } => {
                out.extend(object.to_be_bytes());
                out.extend(seq.to_be_bytes());
                FIRST
            }
            Self::Message { object, bytes } => {
                out.extend(object.to_be_bytes());
                out.extend(bytes);
                MESSAGE
            }
            Self::Mode(mode) => {
                text(mode, TEXT, out);
                MODE
            }
            Self::Done => DONE,
            Self::Group { address, session, peer, key } => {
                match address.ip() {
                    IpAddr::V4(ip) => out.put_slice(&ip.octets()),
                    IpAddr::V6(ip) => out.put_slice(&ip.octets()),
                }
                out.put_u16(address.port());
                out.put_u32(*session);
                out.put_u32(*peer);
                out.put_slice(&key.0);
                GROUP
            }
            Self::Key { epoch, secret } => {
                out.put_u32(*epoch);
                out.put_slice(&secret.0);
                KEY
            }
            Self::HasKey { epoch } => {
                out.put_u32(*epoch);
                HAS_KEY
            }
            Self::GroupReception(arrives) => {
                out.put_u8(u8::from(*arrives));
                GROUP_RECEPTION
            }
            Self::Reordering { reordered, late } => {
                out.put_u64(*reordered);
                out.put_u64(*late);
                REORDERING
            }
        };
        let length = out.len() - start - 3;
        out[start + 1..start + 3].copy_from_slice(&(length as u16).to_be_bytes());
    }

    /// Reads the first record of a stream and its length in bytes; `Ok(None)` if it is not complete.
    ///
    /// # Errors
    ///
    /// The bytes do not begin with a record.
    pub fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>, Malformed> {
        let Some((&[kind, high, low], rest)) = bytes.split_first_chunk() else { return Ok(None) };
        let length = usize::from(u16::from_be_bytes([high, low]));
        if length > MAX_RECORD || !(HELLO..=REORDERING).contains(&kind) {
            return Err(Malformed);
        }
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let record = Self::read_body(kind, body).ok_or(Malformed)?;
        Ok(Some((record, 3 + length)))
    }

    fn read_body(kind: u8, body: &[u8]) -> Option<Self> {
        let numbered = || body.split_first_chunk().map(|(object, rest)| (u32::from_be_bytes(*object), rest));
        match kind {
            HELLO => {
                let (&[version, role], client_secret) = body.split_first_chunk()?;
                let role = [Role::Sender, Role::Receiver].get(usize::from(role)).copied()?;
                Some(Self::Hello { version, role, client_secret: client_secret.try_into().ok()? })
            }
            OFFER => {
                let (object, rest) = numbered()?;
                let (&flags, mut rest) = rest.split_first().filter(|(flags, _)| **flags < 4)?;
                let mut omitted = 0;
                if flags & HAS_OMITTED != 0 {
                    let (bytes, after) = rest.split_first_chunk()?;
                    (omitted, rest) = (u32::from_be_bytes(*bytes), after);
                    Some(omitted).filter(|omitted| *omitted > 0)?;
                }
                let (&depth, mut rest) = rest.split_first()?;
                let mut folders = Vec::new();
                for _ in 0..Some(depth).filter(|depth| usize::from(*depth) <= MAX_DEPTH)? {
                    let (folder, after) = read_text(rest, FOLDER)?;
                    folders.push(folder);
                    rest = after;
                }
                let offer = Offer::decode(rest).ok()?;
                Some(Self::Offer { object, more: flags & MORE != 0, omitted, folders, offer })
            }
            READY => {
                let (object, rest) = numbered()?;
                rest.is_empty().then_some(Self::Ready { object })
            }
            FIRST => {
                let (object, seq) = numbered()?;
                Some(Self::First { object, seq: u64::from_be_bytes(seq.try_into().ok()?) })
            }
            MESSAGE => {
                let (object, bytes) = numbered()?;
                let fits = bytes.len() <= transfer::MAX_MESSAGE_BYTES;
                fits.then(|| Self::Message { object, bytes: bytes.to_vec() })
            }
            MODE => {
                let (mode, rest) = read_text(body, TEXT)?;
                rest.is_empty().then_some(Self::Mode(mode))
            }
            DONE => body.is_empty().then_some(Self::Done),
            GROUP => read_group(body),
            KEY => {
                let (epoch, secret) = numbered()?;
                Some(Self::Key { epoch, secret: Secret(secret.try_into().ok()?) })
            }
            HAS_KEY => {
                let (epoch, rest) = numbered()?;
                rest.is_empty().then_some(Self::HasKey { epoch })
            }
            GROUP_RECEPTION => match body {
                [arrives @ 0..2] => Some(Self::GroupReception(*arrives == 1)),
                _ => None,
            },
            REORDERING => {
                let (reordered, late) = body.split_first_chunk()?;
                let (reordered, late) =
                    (u64::from_be_bytes(*reordered), u64::from_be_bytes(late.try_into().ok()?));
                (late <= reordered).then_some(Self::Reordering { reordered, late })
            }
            _ => None,
        }
    }
}

/// The bytes are not in the format of these frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Maximum bytes of the name of a folder.
const FOLDER: usize = 255;
/// Flags of an offer: another object follows; the number of omitted entries follows.
const MORE: u8 = 1;
const HAS_OMITTED: u8 = 2;

/// Appends a text of at most `max` bytes after its length.
fn text(text: &str, max: usize, out: &mut Vec<u8>) {
    let end = (0..=text.len().min(max)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    out.push(end as u8);
    out.extend(&text.as_bytes()[..end]);
}

/// An IPv4 or IPv6 address, depending on the length, its port, two numbers, and a key.
fn read_group(body: &[u8]) -> Option<Record> {
    let (body, key) = body.split_last_chunk()?;
    let (ip, mut rest) = body.split_at_checked(body.len().checked_sub(10)?)?;
    let ip = match ip.len() {
        4 => IpAddr::from(<[u8; 4]>::try_from(ip).ok()?),
        _ => IpAddr::from(<[u8; 16]>::try_from(ip).ok()?),
    };
    let address = SocketAddr::new(ip, rest.get_u16());
    Some(Record::Group { address, session: rest.get_u32(), peer: rest.get_u32(), key: PublicKey(*key) })
}

fn read_text(bytes: &[u8], max: usize) -> Option<(String, &[u8])> {
    let (&length, rest) = bytes.split_first()?;
    let (text, rest) = rest.split_at_checked(usize::from(length))?;
    let text = std::str::from_utf8(text).ok().filter(|text| text.len() <= max)?;
    Some((text.to_owned(), rest))
}

/// The content of a DATAGRAM frame.
#[expect(missing_docs, reason = "the text of a variant describes its fields")]
#[derive(Clone, Debug, PartialEq)]
pub enum Datagram<'a> {
    /// A packet of data, feedback, or feedback of a player.
    Packet(Frame<'a>),
    /// A message between the applications, about an object. It can be lost.
    Message { object: u32, bytes: &'a [u8] },
}

/// Kinds, in the two highest bits of the first byte. The four lowest bits of data and feedback are
/// one bit per word of the label that follows; the others are zero.
const KINDS: u8 = 0xc0;
const DATA: u8 = 0x00;
const FEEDBACK: u8 = 0x40;
const PLAYER: u8 = 0x80;
const NOTE: u8 = 0xc0;
/// Of data: a fragment of a video frame; the length of the content, after which the rest is padding.
const FRAGMENT: u8 = 0x20;
const PADDED: u8 = 0x10;
/// Of a player: its buffer is full.
const FULL: u8 = 0x01;

impl<'a> Datagram<'a> {
    /// Appends it. Returns false if its numbers are out of range or it has no encoding.
    pub fn write(&self, out: &mut impl BufMut) -> bool {
        match self {
            Self::Packet(Frame::Data(data)) => write_data(data, out),
            Self::Packet(Frame::Feedback { sent_at, label }) => {
                out.put_u8(FEEDBACK | words(label));
                let written = number(sent_at.as_nanos(), out);
                write_label(label, out);
                written
            }
            Self::Packet(Frame::Player { sent_at, full }) => {
                out.put_u8(PLAYER | if *full { FULL } else { 0 });
                number(sent_at.as_nanos(), out)
            }
            Self::Packet(_) => false,
            Self::Message { object, bytes } => {
                out.put_u8(NOTE);
                out.put_u32(*object);
                out.put_slice(bytes);
                true
            }
        }
    }

    /// Reads it; `None` if it is not in this format.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let (&first, mut rest) = bytes.split_first()?;
        let flags = first & !KINDS;
        match first & KINDS {
            DATA => read_data(flags, rest).map(|data| Self::Packet(Frame::Data(data))),
            FEEDBACK if flags < 0x10 => {
                let sent_at = Time::from_nanos(read_number(&mut rest)?);
                let label = read_label(flags, &mut rest)?;
                rest.is_empty().then_some(Self::Packet(Frame::Feedback { sent_at, label }))
            }
            PLAYER if flags & !FULL == 0 => {
                let sent_at = Time::from_nanos(read_number(&mut rest)?);
                rest.is_empty().then_some(Self::Packet(Frame::Player { sent_at, full: flags == FULL }))
            }
            NOTE if flags == 0 => {
                let (object, bytes) = rest.split_first_chunk()?;
                let fits = bytes.len() <= transfer::MAX_MESSAGE_BYTES;
                fits.then_some(Self::Message { object: u32::from_be_bytes(*object), bytes })
            }
            _ => None,
        }
    }
}

/// Bytes of a packet of data without padding.
pub fn data_length(data: &Data<'_>) -> usize {
    let numbers = [data.sent_at.as_nanos(), data.header.seq, data.header.bytes_before];
    let numbers: usize = numbers.into_iter().map(number_length).sum();
    let fragment = if data.header.fragment == Fragment::default() { 0 } else { 8 };
    1 + numbers + 8 * words(&data.label).count_ones() as usize + fragment + data.content.len()
}

fn write_data(data: &Data<'_>, out: &mut impl BufMut) -> bool {
    let fragment = data.header.fragment;
    let has_piece = fragment != Fragment::default();
    let padded = data.padding > 0;
    out.put_u8(
        DATA | words(&data.label) | if has_piece { FRAGMENT } else { 0 } | if padded { PADDED } else { 0 },
    );
    let mut written = true;
    for value in [data.sent_at.as_nanos(), data.header.seq, data.header.bytes_before] {
        written &= number(value, out);
    }
    write_label(&data.label, out);
    if has_piece {
        out.put_u32(fragment.frame);
        out.put_u32(fragment.frame_bytes);
    }
    if padded {
        out.put_u16(data.content.len() as u16);
    }
    out.put_slice(data.content);
    out.put_bytes(0, data.padding);
    written && data.content.len() <= usize::from(u16::MAX)
}

fn read_data(flags: u8, mut rest: &[u8]) -> Option<Data<'_>> {
    let sent_at = Time::from_nanos(read_number(&mut rest)?);
    let (seq, bytes_before) = (read_number(&mut rest)?, read_number(&mut rest)?);
    let label = read_label(flags, &mut rest)?;
    let mut fragment = Fragment::default();
    if flags & FRAGMENT != 0 {
        let (of, after) = rest.split_first_chunk::<8>()?;
        let half = |at: usize| u32::from_be_bytes(std::array::from_fn(|n| of[at + n]));
        (fragment, rest) = (Fragment { frame: half(0), frame_bytes: half(4) }, after);
    }
    let (content, padding) = if flags & PADDED != 0 {
        let (length, after) = rest.split_first_chunk()?;
        let (content, padding) = after.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        (content, padding.len())
    } else {
        (rest, 0)
    };
    Some(Data { sent_at, header: StreamHeader { seq, bytes_before, fragment }, label, content, padding })
}

/// Bits of the words of a label that are not zero.
fn words(label: &Label) -> u8 {
    (0..4).filter(|at| label.0[*at] != 0).fold(0, |bits, at| bits | 1 << at)
}

fn write_label(label: &Label, out: &mut impl BufMut) {
    label.0.iter().filter(|word| **word != 0).for_each(|word| out.put_u64(*word));
}

fn read_label(bits: u8, rest: &mut &[u8]) -> Option<Label> {
    let mut label = Label::default();
    for (at, word) in label.0.iter_mut().enumerate() {
        if bits & 1 << at != 0 {
            let (bytes, after) = rest.split_first_chunk()?;
            *word = u64::from_be_bytes(*bytes);
            *rest = after;
            if *word == 0 {
                return None;
            }
        }
    }
    Some(label)
}

/// Bytes of a varint [RFC9000 §16].
const fn number_length(value: u64) -> usize {
    match value {
        0..0x40 => 1,
        0x40..0x4000 => 2,
        0x4000..0x4000_0000 => 4,
        _ => 8,
    }
}

fn number(value: u64, out: &mut impl BufMut) -> bool {
    VarInt::from_u64(value).map(|value| value.encode(out)).is_ok()
}

fn read_number(rest: &mut &[u8]) -> Option<u64> {
    VarInt::decode(rest).ok().map(VarInt::into_inner)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use wire::stream::Transport;

    use super::*;

    fn offer() -> Offer {
        Offer {
            scheme: "cubic".to_owned(),
            params: vec![("c".to_owned(), 0.4.into()), ("mode".to_owned(), "linux".into())],
            transport: Transport::Windowed,
            packet: 1428,
            ecn: true,
            size: Some(1 << 40),
            about: vec![1, 2, 3],
        }
    }

    #[test]
    fn records_are_read_as_they_were_written_and_never_before_they_are_complete() {
        let records = [
            Record::Hello { version: VERSION, role: Role::Sender, client_secret: [0; 32] },
            Record::Hello { version: 9, role: Role::Receiver, client_secret: [7; 32] },
            Record::Offer { object: 0, more: false, omitted: 0, folders: vec![], offer: offer() },
            Record::Offer {
                object: 7,
                more: true,
                omitted: 0,
                folders: vec!["größe".to_owned(), "b".to_owned()],
                offer: offer(),
            },
            Record::Offer {
                object: 8,
                more: false,
                omitted: u32::MAX,
                folders: vec!["x".repeat(255); MAX_DEPTH],
                offer: offer(),
            },
            Record::Ready { object: 7 },
            Record::First { object: 7, seq: 1 << 40 },
            Record::Message { object: 1, bytes: vec![5; 1024] },
            Record::Mode("background".to_owned()),
            Record::Done,
            Record::Group {
                address: SocketAddr::from(([239, 1, 2, 3], 5000)),
                session: 7,
                peer: 1 << 31,
                key: PublicKey([8; 32]),
            },
            Record::Group {
                address: SocketAddr::from(([0xff15, 0, 0, 0, 0, 0, 0, 9], 1)),
                session: u32::MAX,
                peer: 0,
                key: PublicKey([0xff; 32]),
            },
            Record::Key { epoch: 3, secret: Secret([9; 32]) },
            Record::HasKey { epoch: u32::MAX },
            Record::GroupReception(true),
            Record::GroupReception(false),
            Record::Reordering { reordered: u64::MAX, late: 7 },
        ];
        for record in records {
            let mut bytes = Vec::new();
            record.write(&mut bytes);
            for end in 0..bytes.len() {
                assert_eq!(Record::read(&bytes[..end]), Ok(None), "{record:?}");
            }
            let length = bytes.len();
            bytes.extend([0xff; 3]);
            assert_eq!(Record::read(&bytes), Ok(Some((record, length))));
        }
    }

    #[test]
    fn what_is_no_record_is_refused_at_its_head() {
        assert_eq!(Record::read(&[0, 0, 0]), Err(Malformed));
        assert_eq!(Record::read(&[REORDERING + 1, 0, 0]), Err(Malformed));
        assert_eq!(Record::read(&[OFFER, 0xff, 0xff]), Err(Malformed), "longer than any");
        assert_eq!(Record::read(&[DONE, 0, 1, 7]), Err(Malformed));
        let mut hello = vec![HELLO, 0, 34, 1, 2];
        hello.extend([0; 32]);
        assert_eq!(Record::read(&hello), Err(Malformed), "no such role");
    }

    fn written(datagram: &Datagram<'_>) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        datagram.write(&mut out).then_some(out)
    }

    #[test]
    fn a_full_packet_of_data_has_at_most_the_bytes_that_are_set_aside_for_its_header() {
        let header =
            StreamHeader { seq: (1 << 62) - 1, bytes_before: (1 << 62) - 1, fragment: Fragment::default() };
        let data = Data {
            sent_at: Time::from_nanos((1 << 62) - 1),
            header,
            label: Label([u64::MAX; 4]),
            content: &[7; 1000],
            padding: 0,
        };
        let bytes = written(&Datagram::Packet(Frame::Data(data))).expect("in range");
        assert_eq!(bytes.len(), data_length(&data));
        assert_eq!(bytes.len(), 1000 + DATA_HEADER);
        let beyond = Data { sent_at: Time::from_nanos(1 << 62), ..data };
        assert_eq!(written(&Datagram::Packet(Frame::Data(beyond))), None);
    }

    fn numbers() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..64, 0u64..1 << 20, 0u64..1 << 62]
    }

    fn labels() -> impl Strategy<Value = Label> {
        prop::array::uniform4(prop_oneof![Just(0u64), any::<u64>()]).prop_map(Label)
    }

    proptest! {
        #[test]
        fn any_input_is_read_or_refused(bytes in vec(any::<u8>(), 0..300)) {
            if let Ok(Some((record, length))) = Record::read(&bytes) {
                let mut again = Vec::new();
                record.write(&mut again);
                prop_assert_eq!(&again[..], &bytes[..length]);
            }
            if let Some(datagram) = Datagram::read(&bytes) {
                let again = written(&datagram).expect("what was read can be written");
                prop_assert_eq!(Datagram::read(&again), Some(datagram));
            }
        }

        #[test]
        fn datagrams_are_read_as_they_were_written(
            (sent_at, seq, bytes_before, label) in (numbers(), numbers(), numbers(), labels()),
            (frame, frame_bytes) in (any::<u32>(), any::<u32>()),
            content in vec(any::<u8>(), 0..200),
            padding in 0usize..50,
        ) {
            let (sent_at, fragment) = (Time::from_nanos(sent_at), Fragment { frame, frame_bytes });
            for fragment in [fragment, Fragment::default()] {
                let header = StreamHeader { seq, bytes_before, fragment };
                let data = Frame::Data(Data { sent_at, header, label, content: &content, padding });
                for datagram in [
                    Datagram::Packet(data),
                    Datagram::Packet(Frame::Feedback { sent_at, label }),
                    Datagram::Packet(Frame::Player { sent_at, full: frame % 2 == 0 }),
                    Datagram::Message { object: frame, bytes: &content },
                ] {
                    let bytes = written(&datagram).expect("in range");
                    if let Datagram::Packet(Frame::Data(data)) = &datagram {
                        let padding = if padding > 0 { padding + 2 } else { 0 };
                        prop_assert_eq!(bytes.len(), data_length(data) + padding);
                    }
                    prop_assert_eq!(Datagram::read(&bytes), Some(datagram));
                }
            }
        }
    }
}
