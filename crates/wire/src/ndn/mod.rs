//! Named Data Networking packet formats: names, Interests, Data, the link protocol, and management commands.
//!
//! Sources: [NDN-packet] is the NDN Packet Format Specification 0.3, [NDNLPv2] the page of the link protocol,
//! [NFD-mgmt] the pages of NFD's management protocol. Parsing copies nothing: a packet is a set of views into the
//! received bytes. Parsers accept any input, and every rejection has a reason that can be counted.

mod data;
mod digest;
mod fragments;
mod interest;
pub mod kind;
mod link;
mod management;
mod name;
mod object;
mod tlv;
mod uri;

use std::fmt;

pub use data::{Data, Unsigned};
pub use digest::{Digest, sha256};
pub use fragments::{Fragmenter, Reassembly, Refusal};
pub use interest::{Interest, Parameters};
pub use link::{LinkHeader, LinkPacket, Reason, Token};
pub use management::{Arguments, Command, Response, command};
pub use name::{Component, Components, Name, NameView};
pub use object::Metadata;
pub use tlv::{Signature, frame_length};
pub use uri::BadUri;

/// Maximum size of an Interest or Data packet, in bytes. The specification has no limit; this is the limit of public
/// forwarders [ndn-cxx: MAX_NDN_PACKET_SIZE].
pub const LONGEST: usize = 8800;

/// Maximum size of a link packet, in bytes: [`LONGEST`] plus more than all known header fields.
pub const LONGEST_FRAME: usize = LONGEST + 256;

/// Default lifetime of an Interest in milliseconds [NDN-packet: InterestLifetime].
pub const DEFAULT_LIFETIME_MS: u64 = 4000;

/// Why bytes are not a valid packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// They are truncated, or an element is longer than its container.
    Truncated,
    /// Bytes follow the packet.
    Trailing,
    /// It is longer than [`LONGEST`] or [`LONGEST_FRAME`].
    TooLong,
    /// A number is not in its shortest form, or has an invalid size.
    Number,
    /// An element of this type is critical, and unknown, repeated or out of order.
    Element(u32),
    /// An element of this type is missing.
    Missing(u32),
    /// An element of this type has an invalid value.
    Value(u32),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the packet ends too early"),
            Self::Trailing => f.write_str("there are bytes behind the packet"),
            Self::TooLong => f.write_str("the packet is too long"),
            Self::Number => f.write_str("a number is not in its shortest form"),
            Self::Element(kind) => write!(f, "the element {kind:#x} is unknown, repeated or misplaced"),
            Self::Missing(kind) => write!(f, "the element {kind:#x} is missing"),
            Self::Value(kind) => write!(f, "the element {kind:#x} has a wrong value"),
        }
    }
}

impl std::error::Error for Malformed {}

/// A packet, by its outermost type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Packet<'a> {
    /// An Interest.
    Interest(Interest<'a>),
    /// A Data packet.
    Data(Data<'a>),
}

impl<'a> Packet<'a> {
    /// Reads the Interest or Data packet that fills `bytes`.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        match bytes.first() {
            None => Err(Malformed::Truncated),
            Some(first) if u32::from(*first) == kind::INTEREST => Interest::read(bytes).map(Self::Interest),
            Some(first) if u32::from(*first) == kind::DATA => Data::read(bytes).map(Self::Data),
            Some(first) => Err(Malformed::Element(u32::from(*first))),
        }
    }

    /// Its name.
    pub const fn name(&self) -> NameView<'a> {
        match self {
            Self::Interest(interest) => interest.name,
            Self::Data(data) => data.name,
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    /// Bytes from hexadecimal digits; spaces are ignored.
    pub(crate) fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let digit = |byte: u8| (byte as char).to_digit(16).expect("a hexadecimal digit") as u8;
        digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
    }
}
