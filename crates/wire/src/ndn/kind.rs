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
/// Component: keyword of a convention, such as `metadata`.
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

/// Interest: the name may be a prefix of the Data's name.
pub const CAN_BE_PREFIX: u32 = 0x21;
/// Interest: stale Data do not satisfy it.
pub const MUST_BE_FRESH: u32 = 0x12;
/// Interest: forwarding hint.
pub const FORWARDING_HINT: u32 = 0x1e;
/// Interest: nonce.
pub const NONCE: u32 = 0x0a;
/// Interest: lifetime in milliseconds.
pub const LIFETIME: u32 = 0x0c;
/// Interest: hop limit.
pub const HOP_LIMIT: u32 = 0x22;
/// Interest: application parameters.
pub const PARAMETERS: u32 = 0x24;
/// Interest: signature info.
pub const INTEREST_SIGNATURE_INFO: u32 = 0x2c;
/// Interest: signature value.
pub const INTEREST_SIGNATURE_VALUE: u32 = 0x2e;

/// Data: meta info.
pub const META_INFO: u32 = 0x14;
/// Data: the content.
pub const CONTENT: u32 = 0x15;
/// Data: signature info.
pub const SIGNATURE_INFO: u32 = 0x16;
/// Data: signature value.
pub const SIGNATURE_VALUE: u32 = 0x17;
/// Meta info: content type; 0 for plain bytes.
pub const CONTENT_TYPE: u32 = 0x18;
/// Meta info: freshness period in milliseconds.
pub const FRESHNESS: u32 = 0x19;
/// Meta info: last component of the object's last segment.
pub const FINAL_BLOCK: u32 = 0x1a;

/// Signature info: signature type.
pub const SIGNATURE_TYPE: u32 = 0x1b;
/// Signature info: key locator.
pub const KEY_LOCATOR: u32 = 0x1c;
/// Signature info of Interests: a random number.
pub const SIGNATURE_NONCE: u32 = 0x26;
/// Signature info of Interests: milliseconds since 1970.
pub const SIGNATURE_TIME: u32 = 0x28;
/// Signature info of Interests: an increasing number.
pub const SIGNATURE_SEQUENCE: u32 = 0x2a;

/// A link packet.
pub const LINK_PACKET: u32 = 0x64;
/// Link: a packet or a fragment of one.
pub const FRAGMENT: u32 = 0x50;
/// Link: sequence number of the link packet.
pub const LINK_SEQUENCE: u32 = 0x51;
/// Link: index of the fragment, from 0.
pub const FRAGMENT_INDEX: u32 = 0x52;
/// Link: number of fragments.
pub const FRAGMENT_COUNT: u32 = 0x53;
/// Link: PIT token, which the answer returns.
pub const PIT_TOKEN: u32 = 0x62;
/// Link: NACK of the Interest in the packet.
pub const NACK: u32 = 0x320;
/// Link: reason of the NACK.
pub const NACK_REASON: u32 = 0x321;
/// Link: incoming face of the packet.
pub const INCOMING_FACE: u32 = 0x32c;
/// Link: face on which the Interest is to leave.
pub const NEXT_HOP_FACE: u32 = 0x330;
/// Link: cache policy of the Data.
pub const CACHE_POLICY: u32 = 0x334;
/// Link: the type of the policy.
pub const CACHE_POLICY_TYPE: u32 = 0x335;
/// Link: congestion mark; 0 for none.
pub const CONGESTION_MARK: u32 = 0x340;

/// Link: a scheme's label, four words of eight bytes. Our own number, in the range that receivers ignore if they do not
/// know it.
pub const LABEL: u32 = 0x3bc;

/// Management: parameters of a command.
pub const CONTROL_PARAMETERS: u32 = 0x68;
/// Management: response to a command.
pub const CONTROL_RESPONSE: u32 = 0x65;
/// Management: status code; 200 for success.
pub const STATUS_CODE: u32 = 0x66;
/// Management: status text.
pub const STATUS_TEXT: u32 = 0x67;
/// Management: number of a face.
pub const FACE_ID: u32 = 0x69;
/// Management: cost of a route.
pub const COST: u32 = 0x6a;
/// Management: strategy, which contains a name.
pub const STRATEGY: u32 = 0x6b;
/// Management: flags of a route or a face.
pub const FLAGS: u32 = 0x6c;
/// Management: milliseconds until a route ends.
pub const EXPIRATION: u32 = 0x6d;
/// Management: origin of a route.
pub const ORIGIN: u32 = 0x6f;
/// Management: mask of flags.
pub const MASK: u32 = 0x70;
/// Management: URI of a face.
pub const URI: u32 = 0x72;
/// Management: local URI of a face.
pub const LOCAL_URI: u32 = 0x81;
/// Management: persistency of a face.
pub const PERSISTENCY: u32 = 0x85;
/// Management: maximum frame size of a face, in bytes.
pub const MTU: u32 = 0x89;
