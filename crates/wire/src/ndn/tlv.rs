//! Elements of type, length and value (TLV) [NDN-packet: TLV].

use super::{LONGEST_FRAME, Malformed, kind};

/// An element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element<'a> {
    pub(super) kind: u32,
    pub(super) value: &'a [u8],
    /// Offset of the element.
    pub(super) start: usize,
}

impl Element<'_> {
    /// The value as a number of 1, 2, 4 or 8 bytes, possibly with leading zeros [NDN-packet: NonNegativeInteger].
    pub(super) fn number(&self) -> Result<u64, Malformed> {
        number_of(self.value).ok_or(Malformed::Value(self.kind))
    }

    /// True if the value is empty, as a flag requires; otherwise an error.
    pub(super) fn flag(&self) -> Result<bool, Malformed> {
        if self.value.is_empty() { Ok(true) } else { Err(Malformed::Value(self.kind)) }
    }

    /// The value as exactly `N` bytes.
    pub(super) fn exactly<const N: usize>(&self) -> Result<[u8; N], Malformed> {
        self.value.try_into().map_err(|_| Malformed::Value(self.kind))
    }

    /// Whether a reader must reject the packet if the element is unknown or out of order
    /// [NDN-packet: Considerations for evolvability].
    pub(super) const fn critical(&self) -> bool {
        self.kind < 32 || self.kind % 2 == 1
    }
}

/// Number of 1, 2, 4 or 8 bytes.
pub(super) fn number_of(value: &[u8]) -> Option<u64> {
    match value.len() {
        1 | 2 | 4 | 8 => Some(value.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))),
        _ => None,
    }
}

/// A reader of consecutive elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Offset of the next element.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// The next element; `None` at the end.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Element<'a>>, Malformed> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() {
            return Ok(None);
        }
        let (kind, length, head) = head(rest)?.ok_or(Malformed::Truncated)?;
        let value = rest.get(head..).and_then(|rest| rest.get(..length)).ok_or(Malformed::Truncated)?;
        let start = self.at;
        self.at += head + length;
        Ok(Some(Element { kind, value, start }))
    }

    /// The next element, if it is of this type.
    pub(super) fn take(&mut self, kind: u32) -> Result<Element<'a>, Malformed> {
        match self.next()? {
            Some(element) if element.kind == kind => Ok(element),
            _ => Err(Malformed::Missing(kind)),
        }
    }
}

/// The only element of `bytes`, of this type.
pub(super) fn whole(bytes: &[u8], kind: u32) -> Result<Element<'_>, Malformed> {
    let mut reader = Reader::new(bytes);
    let element = reader.take(kind)?;
    if reader.at() == bytes.len() { Ok(element) } else { Err(Malformed::Trailing) }
}

/// Type, length, and the size of both; `None` if they are truncated.
fn head(bytes: &[u8]) -> Result<Option<(u32, usize, usize)>, Malformed> {
    let Some((kind, at)) = variable(bytes)? else { return Ok(None) };
    let kind = u32::try_from(kind).ok().filter(|kind| *kind > 0).ok_or(Malformed::Number)?;
    let Some((length, more)) = variable(&bytes[at..])? else { return Ok(None) };
    // the length cannot exceed the length of the container, whatever its type
    let length = usize::try_from(length).ok().filter(|length| *length <= u32::MAX as usize);
    Ok(Some((kind, length.ok_or(Malformed::TooLong)?, at + more)))
}

/// A number of 1, 3, 5 or 9 bytes in its shortest form, and its size; `None` if it is truncated.
#[inline]
fn variable(bytes: &[u8]) -> Result<Option<(u64, usize)>, Malformed> {
    let Some(&first) = bytes.first() else { return Ok(None) };
    let (size, min) = match first {
        0..=252 => return Ok(Some((u64::from(first), 1))),
        253 => (2, 253),
        254 => (4, 1 << 16),
        255 => (8, 1 << 32),
    };
    let Some(number) = bytes.get(1..=size).and_then(number_of) else { return Ok(None) };
    if number < min { Err(Malformed::Number) } else { Ok(Some((number, 1 + size))) }
}

/// The length of the link packet, Interest or Data packet at the start of `bytes`, for reading from a stream; `None`
/// while it is unknown.
///
/// An element longer than [`LONGEST_FRAME`] or of another type is an error, after which the stream cannot be read
/// further.
pub fn frame_length(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    let Some((kind, length, head)) = head(bytes)? else { return Ok(None) };
    if ![kind::INTEREST, kind::DATA, kind::LINK_PACKET].contains(&kind) {
        return Err(Malformed::Element(kind));
    }
    match head.checked_add(length) {
        Some(whole) if whole <= LONGEST_FRAME => Ok(Some(whole)),
        _ => Err(Malformed::TooLong),
    }
}

/// A signature. Only digests are verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signature<'a> {
    /// 0 for the SHA-256 digest, 1 for RSA, 3 for ECDSA, 4 for HMAC [NDN-packet: SignatureType].
    pub kind: u64,
    /// KeyLocator: the bytes of a name or a digest element.
    pub key_locator: Option<&'a [u8]>,
    /// Only in Interests: a random number.
    pub nonce: Option<&'a [u8]>,
    /// Only in Interests: milliseconds since 1970.
    pub time_ms: Option<u64>,
    /// Only in Interests: an increasing number.
    pub sequence: Option<u64>,
    /// The signature.
    pub value: &'a [u8],
}

impl<'a> Signature<'a> {
    /// Reads the value of a signature info.
    pub(super) fn read(info: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(info);
        let kind = reader.take(kind::SIGNATURE_TYPE)?.number()?;
        let mut signature = Self { kind, ..Self::default() };
        let mut order = Order::new(&SIGNATURE);
        while let Some(element) = reader.next()? {
            match order.take(&element)? {
                Some(kind::KEY_LOCATOR) => signature.key_locator = Some(element.value),
                Some(kind::SIGNATURE_NONCE) if element.value.is_empty() => {
                    return Err(Malformed::Value(element.kind));
                }
                Some(kind::SIGNATURE_NONCE) => signature.nonce = Some(element.value),
                Some(kind::SIGNATURE_TIME) => signature.time_ms = Some(element.number()?),
                Some(kind::SIGNATURE_SEQUENCE) => signature.sequence = Some(element.number()?),
                _ => {}
            }
        }
        Ok(signature)
    }
}

/// The elements that may follow the signature type, in order.
const SIGNATURE: [u32; 4] =
    [kind::KEY_LOCATOR, kind::SIGNATURE_NONCE, kind::SIGNATURE_TIME, kind::SIGNATURE_SEQUENCE];

/// Optional elements in a fixed order, each at most once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order<'k> {
    /// The elements that may still follow.
    known: &'k [u32],
}

impl<'k> Order<'k> {
    pub(super) const fn new(known: &'k [u32]) -> Self {
        Self { known }
    }

    /// The type of the element if it is known and in order; `None` if it is to be ignored.
    pub(super) fn take(&mut self, element: &Element<'_>) -> Result<Option<u32>, Malformed> {
        if let Some(at) = self.known.iter().position(|known| *known == element.kind) {
            self.known = &self.known[at + 1..];
            Ok(Some(element.kind))
        } else if element.critical() {
            Err(Malformed::Element(element.kind))
        } else {
            Ok(None)
        }
    }
}

// ---- writing

/// Size of a type or length.
pub(super) const fn variable_size(number: u64) -> usize {
    match number {
        0..=252 => 1,
        253..=0xffff => 3,
        0x1_0000..=0xffff_ffff => 5,
        _ => 9,
    }
}

/// Appends a type or length.
pub(super) fn write_variable(out: &mut Vec<u8>, number: u64) {
    match variable_size(number) {
        1 => out.push(number as u8),
        3 => {
            out.push(253);
            out.extend_from_slice(&(number as u16).to_be_bytes());
        }
        5 => {
            out.push(254);
            out.extend_from_slice(&(number as u32).to_be_bytes());
        }
        _ => {
            out.push(255);
            out.extend_from_slice(&number.to_be_bytes());
        }
    }
}

/// Size of an element with a value of `length` bytes.
pub(super) const fn size(kind: u32, length: usize) -> usize {
    variable_size(kind as u64) + variable_size(length as u64) + length
}

/// Appends type and length of an element.
pub(super) fn write_head(out: &mut Vec<u8>, kind: u32, length: usize) {
    write_variable(out, u64::from(kind));
    write_variable(out, length as u64);
}

/// Appends an element.
pub(super) fn write(out: &mut Vec<u8>, kind: u32, value: &[u8]) {
    write_head(out, kind, value.len());
    out.extend_from_slice(value);
}

/// Size of a number as a value.
pub(super) const fn number_size(number: u64) -> usize {
    match number {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}

/// Appends an element whose value is a number.
pub(super) fn write_number(out: &mut Vec<u8>, kind: u32, number: u64) {
    let size = number_size(number);
    write(out, kind, &number.to_be_bytes()[8 - size..]);
}

/// Size of an element whose value is a number.
pub(super) const fn number_element(kind: u32, number: u64) -> usize {
    size(kind, number_size(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::testing::hex;

    /// The numbers of the specification's examples, and the bounds of each size.
    #[test]
    fn numbers_are_written_in_the_shortest_way_and_read_in_no_other() {
        let cases: [(u64, &str); 8] = [
            (0, "00"),
            (252, "fc"),
            (253, "fd00fd"),
            (65_535, "fdffff"),
            (65_536, "fe00010000"),
            (u64::from(u32::MAX), "feffffffff"),
            (1 << 32, "ff0000000100000000"),
            (u64::MAX, "ffffffffffffffffff"),
        ];
        for (number, bytes) in cases {
            let mut out = Vec::new();
            write_variable(&mut out, number);
            assert_eq!(out, hex(bytes));
            assert_eq!(variable(&out), Ok(Some((number, out.len()))));
            for cut in 0..out.len() {
                assert_eq!(variable(&out[..cut]), Ok(None));
            }
        }
        for wrong in ["fd00fc", "fe0000ffff", "ff00000000ffffffff"] {
            assert_eq!(variable(&hex(wrong)), Err(Malformed::Number), "{wrong}");
        }
    }

    /// [NDN-packet: NonNegativeInteger]: 0, 255, 256, 65535, 65536.
    #[test]
    fn values_that_are_numbers_have_one_two_four_or_eight_bytes() {
        for (number, bytes) in [
            (0, "0a0100"),
            (255, "0a01ff"),
            (256, "0a020100"),
            (65_535, "0a02ffff"),
            (65_536, "0a0400010000"),
        ] {
            let mut out = Vec::new();
            write_number(&mut out, 10, number);
            assert_eq!(out, hex(bytes));
            let element = whole(&out, 10).expect("it is an element");
            assert_eq!(element.number(), Ok(number));
        }
        let three = hex("0a03000000");
        let element = whole(&three, 10).expect("it is an element");
        assert_eq!(element.number(), Err(Malformed::Value(10)));
        assert_eq!(number_of(&[0, 5]), Some(5), "leading zeros are allowed in values");
    }

    #[test]
    fn a_stream_is_followed_from_packet_to_packet() {
        assert_eq!(frame_length(&[]), Ok(None));
        assert_eq!(frame_length(&hex("05")), Ok(None));
        assert_eq!(frame_length(&hex("0503070108")), Ok(Some(5)));
        assert_eq!(frame_length(&hex("64fd")), Ok(None));
        assert_eq!(frame_length(&hex("64fd2000")), Ok(Some(4 + 0x2000)));
        assert_eq!(frame_length(&hex("64fd3000")), Err(Malformed::TooLong));
        assert_eq!(frame_length(&hex("06ff00000000ffffffff")), Err(Malformed::Number));
        assert_eq!(frame_length(&hex("1701")), Err(Malformed::Element(0x17)));
        assert_eq!(frame_length(&hex("0001")), Err(Malformed::Number));
    }
}
