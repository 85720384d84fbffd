//! Interests [NDN-packet: Interest packet] [NDN-packet: Signed Interest].

use super::tlv::{self, Order, Reader};
use super::{
    Component, DEFAULT_LIFETIME_MS, Digest, LONGEST, Malformed, Name, NameView, Signature, kind, sha256,
};

/// An Interest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interest<'a> {
    /// The requested name; it has at least one component.
    pub name: NameView<'a>,
    /// CanBePrefix: Data below the name satisfy it.
    pub can_be_prefix: bool,
    /// MustBeFresh: stale Data do not satisfy it.
    pub must_be_fresh: bool,
    /// ForwardingHint: consecutive names, each an element.
    pub forwarding_hint: Option<&'a [u8]>,
    /// The nonce. Programs may leave it to their forwarder.
    pub nonce: Option<u32>,
    /// Lifetime in milliseconds.
    pub lifetime_ms: Option<u64>,
    /// Number of hops that are left.
    pub hop_limit: Option<u8>,
    /// Application parameters, whose digest is in the name.
    pub parameters: Option<Parameters<'a>>,
    /// Offset of the nonce in the packet, for forwarders that change only this.
    pub nonce_at: Option<usize>,
    /// Offset of the hop limit in the packet.
    pub hop_limit_at: Option<usize>,
}

/// Parameters of an Interest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parameters<'a> {
    /// The parameters.
    pub value: &'a [u8],
    /// Their signature.
    pub signature: Option<Signature<'a>>,
    /// The bytes of the digest in the name: from the parameters to the end of the packet.
    digested: &'a [u8],
    /// The bytes that the signature covers, in addition to the name.
    signed: &'a [u8],
}

/// The elements that may follow the name, in order.
const ORDER: [u32; 9] = [
    kind::CAN_BE_PREFIX,
    kind::MUST_BE_FRESH,
    kind::FORWARDING_HINT,
    kind::NONCE,
    kind::LIFETIME,
    kind::HOP_LIMIT,
    kind::PARAMETERS,
    kind::INTEREST_SIGNATURE_INFO,
    kind::INTEREST_SIGNATURE_VALUE,
];

impl<'a> Interest<'a> {
    /// Reads the Interest that fills `packet`. Digests are not verified, but an Interest with parameters must have one
    /// in its name.
    pub fn read(packet: &'a [u8]) -> Result<Self, Malformed> {
        if packet.len() > LONGEST {
            return Err(Malformed::TooLong);
        }
        let value = tlv::whole(packet, kind::INTEREST)?.value;
        let before = packet.len() - value.len();
        let mut reader = Reader::new(value);
        let name = NameView::read(reader.take(kind::NAME)?.value)?;
        if name.is_root() {
            return Err(Malformed::Value(kind::NAME));
        }
        let mut interest = Self { name, ..Self::default() };
        let mut order = Order::new(&ORDER);
        let (mut digested, mut signature, mut signed) = (&value[..0], None, 0);
        while let Some(element) = reader.next()? {
            match order.take(&element)? {
                Some(kind::CAN_BE_PREFIX) => interest.can_be_prefix = element.flag()?,
                Some(kind::MUST_BE_FRESH) => interest.must_be_fresh = element.flag()?,
                Some(kind::FORWARDING_HINT) => interest.forwarding_hint = Some(element.value),
                Some(kind::NONCE) => {
                    interest.nonce = Some(u32::from_be_bytes(element.exactly()?));
                    interest.nonce_at = Some(before + reader.at() - 4);
                }
                Some(kind::LIFETIME) => interest.lifetime_ms = Some(element.number()?),
                Some(kind::HOP_LIMIT) => {
                    interest.hop_limit = Some(element.exactly::<1>()?[0]);
                    interest.hop_limit_at = Some(before + reader.at() - 1);
                }
                Some(kind::PARAMETERS) => {
                    interest.parameters = Some(Parameters { value: element.value, ..Parameters::default() });
                    digested = &value[element.start..];
                }
                Some(kind::INTEREST_SIGNATURE_INFO) => signature = Some(Signature::read(element.value)?),
                Some(kind::INTEREST_SIGNATURE_VALUE) => {
                    let signature = signature.as_mut().ok_or(Malformed::Element(element.kind))?;
                    signature.value = element.value;
                    signed = element.start;
                }
                _ => {}
            }
        }
        if signature.is_some() && signed == 0 {
            return Err(Malformed::Missing(kind::INTEREST_SIGNATURE_VALUE));
        }
        let digest = name.components().any(|component| component.kind == kind::PARAMETERS_DIGEST);
        match &mut interest.parameters {
            Some(parameters) if digest => {
                (parameters.digested, parameters.signature) = (digested, signature);
                let start = value.len() - digested.len();
                parameters.signed = if signed > start { &value[start..signed] } else { &[] };
            }
            Some(_) => return Err(Malformed::Missing(kind::PARAMETERS_DIGEST)),
            None if digest => return Err(Malformed::Missing(kind::PARAMETERS)),
            None if signature.is_some() => return Err(Malformed::Missing(kind::PARAMETERS)),
            None => {}
        }
        Ok(interest)
    }

    /// Lifetime in milliseconds; the default if it has none.
    pub fn lifetime_ms_or_default(&self) -> u64 {
        self.lifetime_ms.unwrap_or(DEFAULT_LIFETIME_MS)
    }

    /// Whether Data with this name satisfy it. A digest of the Data at the end of the Interest's name is not compared:
    /// see [`super::Data::implicit_digest`].
    pub fn asks_for(&self, name: NameView<'_>) -> bool {
        let required = match self.name.split_last() {
            Some((above, last)) if last.kind == kind::IMPLICIT_DIGEST => above,
            _ => self.name,
        };
        if self.can_be_prefix { name.starts_with(required) } else { name == required }
    }

    /// Whether the digest in the name is the digest of the parameters, and a signature by digest is correct. True for
    /// an Interest without parameters; other signatures are not verified.
    pub fn intact(&self) -> bool {
        let Some(parameters) = &self.parameters else { return true };
        let digest = self.name.components().find(|component| component.kind == kind::PARAMETERS_DIGEST);
        if digest.is_none_or(|digest| digest.value != sha256(&[parameters.digested])) {
            return false;
        }
        match &parameters.signature {
            Some(signature) if signature.kind == DIGEST_SHA256 => {
                let (before, behind) = self.name.around(kind::PARAMETERS_DIGEST);
                signature.value == sha256(&[before, behind, parameters.signed])
            }
            _ => true,
        }
    }

    /// Appends the Interest with its fields. Elements that were read and not recognised are omitted.
    pub fn write(&self, out: &mut Vec<u8>) {
        let parameters = self.parameters.map_or(&[][..], |parameters| parameters.digested);
        let hint = self.forwarding_hint.map_or(0, |hint| tlv::size(kind::FORWARDING_HINT, hint.len()));
        let length = self.name.size()
            + if self.can_be_prefix { tlv::size(kind::CAN_BE_PREFIX, 0) } else { 0 }
            + if self.must_be_fresh { tlv::size(kind::MUST_BE_FRESH, 0) } else { 0 }
            + hint
            + self.nonce.map_or(0, |_| tlv::size(kind::NONCE, 4))
            + self.lifetime_ms.map_or(0, |lifetime| tlv::number_element(kind::LIFETIME, lifetime))
            + self.hop_limit.map_or(0, |_| tlv::size(kind::HOP_LIMIT, 1))
            + parameters.len();
        tlv::write_head(out, kind::INTEREST, length);
        self.name.write(out);
        if self.can_be_prefix {
            tlv::write(out, kind::CAN_BE_PREFIX, &[]);
        }
        if self.must_be_fresh {
            tlv::write(out, kind::MUST_BE_FRESH, &[]);
        }
        if let Some(hint) = self.forwarding_hint {
            tlv::write(out, kind::FORWARDING_HINT, hint);
        }
        if let Some(nonce) = self.nonce {
            tlv::write(out, kind::NONCE, &nonce.to_be_bytes());
        }
        if let Some(lifetime) = self.lifetime_ms {
            tlv::write_number(out, kind::LIFETIME, lifetime);
        }
        if let Some(limit) = self.hop_limit {
            tlv::write(out, kind::HOP_LIMIT, &[limit]);
        }
        out.extend_from_slice(parameters);
    }

    /// Appends the Interest with parameters and a signature by digest. `nonce` and `time_ms` (milliseconds since 1970)
    /// are part of the signature, against replay. The digest of the parameters is added to the name.
    pub fn write_signed(&self, parameters: &[u8], nonce: u64, time_ms: u64, out: &mut Vec<u8>) {
        let mut digested = Vec::with_capacity(128 + parameters.len());
        tlv::write(&mut digested, kind::PARAMETERS, parameters);
        let info = tlv::number_element(kind::SIGNATURE_TYPE, DIGEST_SHA256)
            + tlv::size(kind::SIGNATURE_NONCE, 8)
            + tlv::number_element(kind::SIGNATURE_TIME, time_ms);
        tlv::write_head(&mut digested, kind::INTEREST_SIGNATURE_INFO, info);
        tlv::write_number(&mut digested, kind::SIGNATURE_TYPE, DIGEST_SHA256);
        tlv::write(&mut digested, kind::SIGNATURE_NONCE, &nonce.to_be_bytes());
        tlv::write_number(&mut digested, kind::SIGNATURE_TIME, time_ms);
        let signature = sha256(&[self.name.bytes(), &digested]);
        tlv::write(&mut digested, kind::INTEREST_SIGNATURE_VALUE, &signature);
        let digest: Digest = sha256(&[&digested]);
        let name: Name =
            self.name.to_name().with(Component { kind: kind::PARAMETERS_DIGEST, value: &digest });
        let parameters = Parameters { digested: &digested, ..Parameters::default() };
        Interest { name: name.view(), parameters: Some(parameters), ..*self }.write(out);
    }
}

/// The signature type of a SHA-256 digest [NDN-packet: DigestSha256].
pub(super) const DIGEST_SHA256: u64 = 0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::testing::hex;

    fn name(text: &str) -> Name {
        text.parse().expect("a name")
    }

    #[test]
    fn an_interest_is_written_and_read() {
        let name = name("/local/ndn");
        let interest = Interest {
            name: name.view(),
            can_be_prefix: true,
            must_be_fresh: true,
            nonce: Some(0x0102_0304),
            lifetime_ms: Some(10),
            hop_limit: Some(1),
            ..Interest::default()
        };
        let mut out = Vec::new();
        interest.write(&mut out);
        assert_eq!(out, hex("051e 070c 08056c6f63616c 08036e646e 2100 1200 0a0401020304 0c010a 220101"),);
        let read = Interest::read(&out).expect("an Interest");
        assert_eq!((read.nonce_at, read.hop_limit_at), (Some(22), Some(31)));
        assert_eq!(Interest { nonce_at: None, hop_limit_at: None, ..read }, interest);
        assert!(read.intact());
    }

    #[test]
    fn an_interest_asks_for_its_name_or_what_is_below() {
        let (name, below) = (name("/a/b"), name("/a/b/c"));
        let exact = Interest { name: name.view(), ..Interest::default() };
        assert!(exact.asks_for(name.view()) && !exact.asks_for(below.view()));
        let prefix = Interest { can_be_prefix: true, ..exact };
        assert!(prefix.asks_for(name.view()) && prefix.asks_for(below.view()));
        let digest = name.with(Component { kind: kind::IMPLICIT_DIGEST, value: &[0; 32] });
        assert!(Interest { name: digest.view(), ..exact }.asks_for(name.view()));
    }

    #[test]
    fn a_signed_interest_is_intact_until_a_byte_changes() {
        let name = name("/localhost/nfd/rib/register/x");
        let interest =
            Interest { name: name.view(), must_be_fresh: true, nonce: Some(7), ..Interest::default() };
        let mut out = Vec::new();
        interest.write_signed(b"hello", 5, 1_600_000_000_000, &mut out);
        let read = Interest::read(&out).expect("an Interest");
        assert!(read.intact());
        assert_eq!(read.name.count(), 6);
        let parameters = read.parameters.expect("it has parameters");
        assert_eq!(parameters.value, b"hello");
        let signature = parameters.signature.expect("it is signed");
        assert_eq!((signature.kind, signature.time_ms), (0, Some(1_600_000_000_000)));
        assert_eq!(signature.nonce, Some(&5u64.to_be_bytes()[..]));
        let mut again = Vec::new();
        read.write(&mut again);
        assert_eq!(again, out);

        let hello = out.windows(5).position(|bytes| bytes == b"hello").expect("it is in there");
        let mut changed = out.clone();
        changed[hello] ^= 1;
        assert!(!Interest::read(&changed).expect("an Interest").intact());
        // the signature covers the name: with a correct digest of the parameters, the signature is still wrong
        let x = out.windows(3).position(|bytes| bytes == [8, 1, b'x']).expect("it is in there");
        let mut changed = out.clone();
        changed[x + 2] = b'y';
        assert!(!Interest::read(&changed).expect("an Interest").intact());
    }

    #[test]
    fn what_is_no_interest_is_refused_with_a_reason() {
        for (bytes, why) in [
            ("0500", Malformed::Missing(kind::NAME)),
            ("05020700", Malformed::Value(kind::NAME)),
            ("0505 0703 080141 00", Malformed::Trailing),
            ("0506 0703 080141", Malformed::Truncated),
            ("0607 0703 080141 2100", Malformed::Missing(kind::INTEREST)),
            // MustBeFresh before CanBePrefix
            ("0509 0703 080141 1200 2100", Malformed::Element(kind::CAN_BE_PREFIX)),
            // a repeated element
            ("0509 0703 080141 2100 2100", Malformed::Element(kind::CAN_BE_PREFIX)),
            ("0508 0703 080141 210100", Malformed::Value(kind::CAN_BE_PREFIX)),
            ("050a 0703 080141 0a03010203", Malformed::Value(kind::NONCE)),
            // an unknown type with an odd number
            ("0507 0703 080141 7f00", Malformed::Element(0x7f)),
            // parameters without a digest in the name, and vice versa
            ("0507 0703 080141 2400", Malformed::Missing(kind::PARAMETERS_DIGEST)),
        ] {
            assert_eq!(Interest::read(&hex(bytes)), Err(why), "{bytes}");
        }
        let digest = format!("0524 0722 0220 {}", "00".repeat(32));
        assert_eq!(Interest::read(&hex(&digest)), Err(Malformed::Missing(kind::PARAMETERS)));
        let even = hex("0507 0703 080141 7e00");
        assert!(Interest::read(&even).is_ok(), "an even type from 32 on may be ignored");
    }
}
