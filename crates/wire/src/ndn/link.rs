//! Link packets [NDNLPv2].

use contract::{Label, NackReason};

use super::tlv::{self, Reader, number_of};
use super::{LONGEST_FRAME, Malformed, kind};

/// A PIT token: 1 to 32 bytes that a forwarder's neighbour returns with the answer [NDNLPv2: PIT token]. An empty one
/// is none.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Token {
    length: u8,
    bytes: [u8; Self::LONGEST],
}

impl Token {
    /// Maximum length in bytes.
    pub const LONGEST: usize = 32;

    /// The token with these bytes; `None` if they are too many.
    pub fn new(value: &[u8]) -> Option<Self> {
        let mut bytes = [0; Self::LONGEST];
        bytes.get_mut(..value.len())?.copy_from_slice(value);
        Some(Self { length: value.len() as u8, bytes })
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Whether there is no token.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The reason of a NACK, by number [NDNLPv2: Network NACK].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reason(pub u64);

impl Reason {
    /// No reason.
    pub const NONE: Self = Self(0);

    /// The reason as the simulator knows it; `None` for no reason and for unknown ones, which have the same meaning.
    pub const fn known(self) -> Option<NackReason> {
        match self.0 {
            50 => Some(NackReason::Congestion),
            100 => Some(NackReason::Duplicate),
            150 => Some(NackReason::NoRoute),
            _ => None,
        }
    }
}

impl From<NackReason> for Reason {
    fn from(reason: NackReason) -> Self {
        Self(match reason {
            NackReason::Congestion => 50,
            NackReason::Duplicate => 100,
            NackReason::NoRoute => 150,
        })
    }
}

/// The fields of a link packet besides the packet that it carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkHeader {
    /// PIT token.
    pub token: Token,
    /// The packet is a NACK for this reason.
    pub nack: Option<Reason>,
    /// Incoming face of the packet, for programs on the forwarder's host.
    pub incoming_face: Option<u64>,
    /// Face on which the Interest is to leave.
    pub next_hop_face: Option<u64>,
    /// Cache policy of the Data: 1 for not to be stored.
    pub cache_policy: Option<u64>,
    /// Congestion mark; 0 for none.
    pub mark: u64,
    /// The label of a scheme for the neighbour; all 0 for none.
    pub label: Label,
}

/// A link packet: an Interest or Data packet, or a fragment of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkPacket<'a> {
    /// Its fields.
    pub header: LinkHeader,
    /// Sequence number; fragments have one.
    pub sequence: Option<u64>,
    /// Index of the fragment, from 0.
    pub index: u64,
    /// Number of fragments; 1 for a whole packet.
    pub count: u64,
    /// The packet or fragment. Empty for link packets without one, such as keep-alives.
    pub fragment: &'a [u8],
}

/// Known header fields, in order.
const ORDER: [u32; 11] = [
    kind::LINK_SEQUENCE,
    kind::FRAGMENT_INDEX,
    kind::FRAGMENT_COUNT,
    kind::PIT_TOKEN,
    kind::NACK,
    kind::INCOMING_FACE,
    kind::NEXT_HOP_FACE,
    kind::CACHE_POLICY,
    kind::CONGESTION_MARK,
    kind::LABEL,
    kind::FRAGMENT,
];

/// Whether an unknown field may be ignored: its number is from 800 to 959 and a multiple of four
/// [NDNLPv2: General packet format].
const fn ignorable(kind: u32) -> bool {
    matches!(kind, 800..=959) && kind.is_multiple_of(4)
}

impl<'a> LinkPacket<'a> {
    /// A packet without fragmentation, with its link header.
    pub const fn whole(header: LinkHeader, packet: &'a [u8]) -> Self {
        Self { header, sequence: None, index: 0, count: 1, fragment: packet }
    }

    /// Reads the link packet, or the Interest or Data packet, that fills `frame`.
    pub fn read(frame: &'a [u8]) -> Result<Self, Malformed> {
        if frame.len() > LONGEST_FRAME {
            return Err(Malformed::TooLong);
        }
        let first = frame.first().ok_or(Malformed::Truncated)?;
        if [kind::INTEREST, kind::DATA].contains(&u32::from(*first)) {
            return Ok(Self::whole(LinkHeader::default(), frame));
        }
        let mut reader = Reader::new(tlv::whole(frame, kind::LINK_PACKET)?.value);
        let mut packet = Self { count: 1, ..Self::default() };
        let mut known = &ORDER[..];
        while let Some(element) = reader.next()? {
            let Some(at) = known.iter().position(|known| *known == element.kind) else {
                if ignorable(element.kind) {
                    continue;
                }
                return Err(Malformed::Element(element.kind));
            };
            known = &known[at + 1..];
            let header = &mut packet.header;
            match element.kind {
                kind::LINK_SEQUENCE => packet.sequence = Some(u64::from_be_bytes(element.exactly()?)),
                kind::FRAGMENT_INDEX => packet.index = element.number()?,
                kind::FRAGMENT_COUNT => packet.count = element.number()?,
                kind::PIT_TOKEN => {
                    let token = Token::new(element.value).filter(|token| !token.is_empty());
                    header.token = token.ok_or(Malformed::Value(element.kind))?;
                }
                kind::NACK => {
                    header.nack = Some(Reason(nested(element.value, kind::NACK_REASON)?.unwrap_or(0)))
                }
                kind::INCOMING_FACE => header.incoming_face = Some(element.number()?),
                kind::NEXT_HOP_FACE => header.next_hop_face = Some(element.number()?),
                kind::CACHE_POLICY => {
                    let policy = nested(element.value, kind::CACHE_POLICY_TYPE)?;
                    header.cache_policy = Some(policy.ok_or(Malformed::Missing(kind::CACHE_POLICY_TYPE))?);
                }
                kind::CONGESTION_MARK => header.mark = element.number()?,
                kind::LABEL => {
                    let bytes: [u8; 32] = element.exactly()?;
                    let word = |at: usize| number_of(&bytes[8 * at..8 * at + 8]).unwrap_or_default();
                    header.label = Label([word(0), word(1), word(2), word(3)]);
                }
                _ => packet.fragment = element.value,
            }
        }
        if packet.index >= packet.count || packet.count > 1 && packet.sequence.is_none() {
            return Err(Malformed::Value(kind::FRAGMENT_INDEX));
        }
        Ok(packet)
    }

    /// Appends it; a packet without link fields is appended without a link packet.
    pub fn write(&self, out: &mut Vec<u8>) {
        if self.header == LinkHeader::default() && self.sequence.is_none() && !self.fragment.is_empty() {
            out.extend_from_slice(self.fragment);
            return;
        }
        let header = &self.header;
        let fragment =
            if self.fragment.is_empty() { 0 } else { tlv::size(kind::FRAGMENT, self.fragment.len()) };
        tlv::write_head(out, kind::LINK_PACKET, self.fields_size() + fragment);
        if let Some(sequence) = self.sequence {
            tlv::write(out, kind::LINK_SEQUENCE, &sequence.to_be_bytes());
        }
        if self.count > 1 {
            tlv::write_number(out, kind::FRAGMENT_INDEX, self.index);
            tlv::write_number(out, kind::FRAGMENT_COUNT, self.count);
        }
        if !header.token.is_empty() {
            tlv::write(out, kind::PIT_TOKEN, header.token.bytes());
        }
        if let Some(Reason(reason)) = header.nack {
            tlv::write_head(out, kind::NACK, nack_size(reason));
            if reason > 0 {
                tlv::write_number(out, kind::NACK_REASON, reason);
            }
        }
        if let Some(face) = header.incoming_face {
            tlv::write_number(out, kind::INCOMING_FACE, face);
        }
        if let Some(face) = header.next_hop_face {
            tlv::write_number(out, kind::NEXT_HOP_FACE, face);
        }
        if let Some(policy) = header.cache_policy {
            tlv::write_head(out, kind::CACHE_POLICY, tlv::number_element(kind::CACHE_POLICY_TYPE, policy));
            tlv::write_number(out, kind::CACHE_POLICY_TYPE, policy);
        }
        if header.mark > 0 {
            tlv::write_number(out, kind::CONGESTION_MARK, header.mark);
        }
        if header.label != Label::default() {
            tlv::write_head(out, kind::LABEL, 32);
            header.label.0.iter().for_each(|word| out.extend_from_slice(&word.to_be_bytes()));
        }
        if !self.fragment.is_empty() {
            tlv::write(out, kind::FRAGMENT, self.fragment);
        }
    }

    /// Length of all fields except the fragment.
    pub(super) fn fields_size(&self) -> usize {
        let number = |kind, value: Option<u64>| value.map_or(0, |value| tlv::number_element(kind, value));
        let header = &self.header;
        let pieces = if self.count > 1 {
            tlv::number_element(kind::FRAGMENT_INDEX, self.index)
                + tlv::number_element(kind::FRAGMENT_COUNT, self.count)
        } else {
            0
        };
        let token = header.token.bytes().len();
        let policy = header.cache_policy.map(|policy| tlv::number_element(kind::CACHE_POLICY_TYPE, policy));
        self.sequence.map_or(0, |_| tlv::size(kind::LINK_SEQUENCE, 8))
            + pieces
            + if token > 0 { tlv::size(kind::PIT_TOKEN, token) } else { 0 }
            + header.nack.map_or(0, |Reason(reason)| tlv::size(kind::NACK, nack_size(reason)))
            + number(kind::INCOMING_FACE, header.incoming_face)
            + number(kind::NEXT_HOP_FACE, header.next_hop_face)
            + policy.map_or(0, |size| tlv::size(kind::CACHE_POLICY, size))
            + number(kind::CONGESTION_MARK, Some(header.mark).filter(|mark| *mark > 0))
            + if header.label == Label::default() { 0 } else { tlv::size(kind::LABEL, 32) }
    }
}

fn nack_size(reason: u64) -> usize {
    if reason > 0 { tlv::number_element(kind::NACK_REASON, reason) } else { 0 }
}

/// The number in the first element of this type; other elements are ignored.
fn nested(value: &[u8], kind: u32) -> Result<Option<u64>, Malformed> {
    let mut reader = Reader::new(value);
    while let Some(element) = reader.next()? {
        if element.kind == kind {
            return element.number().map(Some);
        }
        if !ignorable(element.kind) {
            return Err(Malformed::Element(element.kind));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::testing::hex;

    #[test]
    fn a_bare_packet_is_a_link_packet_of_its_own() {
        let interest = hex("0505 0703 080141");
        let read = LinkPacket::read(&interest).expect("a link packet");
        assert_eq!(read, LinkPacket::whole(LinkHeader::default(), &interest));
        let mut out = Vec::new();
        read.write(&mut out);
        assert_eq!(out, interest);
    }

    #[test]
    fn all_fields_are_written_in_order_and_read() {
        let token = Token::new(&[1, 2]).expect("it is short");
        let header = LinkHeader {
            token,
            nack: Some(Reason::from(NackReason::NoRoute)),
            incoming_face: Some(300),
            next_hop_face: Some(4),
            cache_policy: Some(1),
            mark: 1,
            label: Label([1, 0, 0, u64::MAX]),
        };
        let interest = hex("0505 0703 080141");
        let packet =
            LinkPacket { sequence: Some(9), index: 1, count: 3, ..LinkPacket::whole(header, &interest) };
        let mut out = Vec::new();
        packet.write(&mut out);
        let expected = "6463 51080000000000000009 520101 530103 62020102 fd032005 fd03210196 fd032c02012c \
                        fd03300104 fd033405 fd03350101 fd03400101 \
                        fd03bc20 0000000000000001 0000000000000000 0000000000000000 ffffffffffffffff \
                        5007 0505 0703 080141";
        assert_eq!(out, hex(expected));
        assert_eq!(LinkPacket::read(&out), Ok(packet));
    }

    #[test]
    fn refusals_have_reasons_or_none() {
        for reason in NackReason::ALL {
            assert_eq!(Reason::from(reason).known(), Some(reason));
        }
        let none = hex("640d fd032000 5007 0505 0703 080141");
        let read = LinkPacket::read(&none).expect("a link packet");
        assert_eq!(read.header.nack, Some(Reason::NONE));
        assert_eq!(Reason(7).known(), None);
        let mut out = Vec::new();
        read.write(&mut out);
        assert_eq!(out, none);
    }

    /// 0x348 is from 800 to 959 and a multiple of four, 0x349 is not; 0x3c0 is 960.
    #[test]
    fn unknown_fields_are_ignored_only_where_their_number_says_so() {
        let ignored = hex("640e fd03480101 5007 0505 0703 080141");
        assert_eq!(LinkPacket::read(&ignored).map(|read| read.fragment.len()), Ok(7));
        for (bytes, kind) in [("6405 fd03490101", 0x349), ("6405 fd03c00101", 0x3c0), ("6403 630101", 0x63)] {
            assert_eq!(LinkPacket::read(&hex(bytes)), Err(Malformed::Element(kind)), "{bytes}");
        }
        // a known field out of order: the mark after the fragment may be ignored, the token may not
        assert!(
            LinkPacket::read(&hex("640e 5007 0505 0703 080141 fd03400101"))
                .is_ok_and(|read| read.header.mark == 0)
        );
        let late = hex("640c 5007 0505 0703 080141 620101");
        assert_eq!(LinkPacket::read(&late), Err(Malformed::Element(kind::PIT_TOKEN)));
    }

    #[test]
    fn what_is_no_link_packet_is_refused_with_a_reason() {
        for (bytes, why) in [
            ("", Malformed::Truncated),
            ("6401", Malformed::Truncated),
            ("6503 500101", Malformed::Missing(kind::LINK_PACKET)),
            ("6403 510101", Malformed::Value(kind::LINK_SEQUENCE)),
            ("6402 6200", Malformed::Value(kind::PIT_TOKEN)),
            ("6403 520101", Malformed::Value(kind::FRAGMENT_INDEX)),
            ("6403 530100", Malformed::Value(kind::FRAGMENT_INDEX)),
            ("6403 530102", Malformed::Value(kind::FRAGMENT_INDEX)),
            ("6404 fd033400", Malformed::Missing(kind::CACHE_POLICY_TYPE)),
        ] {
            assert_eq!(LinkPacket::read(&hex(bytes)), Err(why), "{bytes}");
        }
        let alive = LinkPacket::read(&[0x64, 0]).expect("it says nothing");
        assert!(alive.fragment.is_empty());
        let mut out = Vec::new();
        alive.write(&mut out);
        assert_eq!(out, [0x64, 0]);
    }
}
