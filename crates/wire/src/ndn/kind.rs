//! Type numbers [NDN-packet: TLV-TYPE number assignments] [NDNLPv2] [NFD-mgmt].

/// An Interest.
pub const INTEREST: u32 = 0x05;
/// A Data packet.
pub const DATA: u32 = 0x06;
/// A name.
pub const NAME: u32 = 0x07;

/// Component: digest of the whole Data packet.
pub const IMPLICIT_DIGEST: u32 = 0x01;
/// Component: digest of an Interest's parameters.
pub const PARAMETERS_DIGEST: u32 = 0x02;
/// Component: any bytes.
pub const GENERIC: u32 = 0x08;
/// Component: a word of a convention, such as `metadata`.
pub const KEYWORD: u32 = 0x20;
/// Component: number of a segment, from 0.
pub const SEGMENT: u32 = 0x32;
/// Component: offset of a segment in bytes.
pub const BYTE_OFFSET: u32 = 0x34;
/// Component: version.
pub const VERSION: u32 = 0x36;
/// Component: microseconds since 1970.
pub const TIMESTAMP: u32 = 0x38;
/// Component: number of an item in a sequence.
pub const SEQUENCE: u32 = 0x3a;

/// Interest: its name is a prefix of the wanted Data's.
pub const CAN_BE_PREFIX: u32 = 0x21;
/// Interest: what is stale does not answer it.
pub const MUST_BE_FRESH: u32 = 0x12;
/// Interest: where to look for it.
pub const FORWARDING_HINT: u32 = 0x1e;
/// Interest: random number.
pub const NONCE: u32 = 0x0a;
/// Interest: milliseconds that it stays pending.
pub const LIFETIME: u32 = 0x0c;
/// Interest: hops that it may still go.
pub const HOP_LIMIT: u32 = 0x22;
/// Interest: parameters for the application.
pub const PARAMETERS: u32 = 0x24;
/// Interest: how it is signed.
pub const INTEREST_SIGNATURE_INFO: u32 = 0x2c;
/// Interest: its signature.
pub const INTEREST_SIGNATURE_VALUE: u32 = 0x2e;

/// Data: what is said about the content.
pub const META_INFO: u32 = 0x14;
/// Data: the content.
pub const CONTENT: u32 = 0x15;
/// Data: how it is signed.
pub const SIGNATURE_INFO: u32 = 0x16;
/// Data: its signature.
pub const SIGNATURE_VALUE: u32 = 0x17;
/// Meta info: what the content is; 0 for plain bytes.
pub const CONTENT_TYPE: u32 = 0x18;
/// Meta info: milliseconds for which it is fresh.
pub const FRESHNESS: u32 = 0x19;
/// Meta info: last component of the object's last segment.
pub const FINAL_BLOCK: u32 = 0x1a;

/// Signature info: the kind of signature.
pub const SIGNATURE_TYPE: u32 = 0x1b;
/// Signature info: where the key is.
pub const KEY_LOCATOR: u32 = 0x1c;
/// Signature info of Interests: a random number.
pub const SIGNATURE_NONCE: u32 = 0x26;
/// Signature info of Interests: milliseconds since 1970.
pub const SIGNATURE_TIME: u32 = 0x28;
/// Signature info of Interests: a number that grows.
pub const SIGNATURE_SEQUENCE: u32 = 0x2a;

/// A link packet.
pub const LINK_PACKET: u32 = 0x64;
/// Link: a packet, or a piece of one.
pub const FRAGMENT: u32 = 0x50;
/// Link: number of the link packet.
pub const LINK_SEQUENCE: u32 = 0x51;
/// Link: number of the piece, from 0.
pub const FRAGMENT_INDEX: u32 = 0x52;
/// Link: how many pieces there are.
pub const FRAGMENT_COUNT: u32 = 0x53;
/// Link: a few bytes that come back with the answer.
pub const PIT_TOKEN: u32 = 0x62;
/// Link: the Interest in the packet is refused.
pub const NACK: u32 = 0x320;
/// Link: why.
pub const NACK_REASON: u32 = 0x321;
/// Link: the face that the packet came by.
pub const INCOMING_FACE: u32 = 0x32c;
/// Link: the face that the Interest shall leave by.
pub const NEXT_HOP_FACE: u32 = 0x330;
/// Link: whether the Data may be kept.
pub const CACHE_POLICY: u32 = 0x334;
/// Link: the type of the policy.
pub const CACHE_POLICY_TYPE: u32 = 0x335;
/// Link: congestion, if it is not 0.
pub const CONGESTION_MARK: u32 = 0x340;

/// Link: a scheme's label, four words of eight bytes. Our own: from the numbers that who does not know them skips.
pub const LABEL: u32 = 0x3bc;

/// Management: the parameters of a command.
pub const CONTROL_PARAMETERS: u32 = 0x68;
/// Management: the answer to a command.
pub const CONTROL_RESPONSE: u32 = 0x65;
/// Management: 200 for success.
pub const STATUS_CODE: u32 = 0x66;
/// Management: a sentence.
pub const STATUS_TEXT: u32 = 0x67;
/// Management: number of a face.
pub const FACE_ID: u32 = 0x69;
/// Management: cost of a route.
pub const COST: u32 = 0x6a;
/// Management: a strategy; holds a name.
pub const STRATEGY: u32 = 0x6b;
/// Management: flags of a route or a face.
pub const FLAGS: u32 = 0x6c;
/// Management: milliseconds until a route ends.
pub const EXPIRATION: u32 = 0x6d;
/// Management: who made a route.
pub const ORIGIN: u32 = 0x6f;
/// Management: which flags are meant.
pub const MASK: u32 = 0x70;
/// Management: where a face leads.
pub const URI: u32 = 0x72;
/// Management: the near end of a face.
pub const LOCAL_URI: u32 = 0x81;
/// Management: how long a face lives.
pub const PERSISTENCY: u32 = 0x85;
/// Management: longest frame of a face, in bytes.
pub const MTU: u32 = 0x89;
