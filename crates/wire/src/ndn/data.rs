//! Data packets [NDN-packet: Data packet].

use super::interest::DIGEST_SHA256;
use super::tlv::{self, Order, Reader};
use super::{Component, Digest, LONGEST, Malformed, NameView, Signature, kind, sha256};

/// A Data packet: content with its name, signed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Data<'a> {
    /// Its name.
    pub name: NameView<'a>,
    /// Type of the content: 0 for plain bytes.
    pub content_type: u64,
    /// FreshnessPeriod in milliseconds: how long it satisfies Interests with MustBeFresh.
    pub freshness_ms: u64,
    /// The last component of the last segment of the object.
    pub final_block: Option<Component<'a>>,
    /// The content.
    pub content: &'a [u8],
    /// Its signature.
    pub signature: Signature<'a>,
    /// The bytes that the signature covers.
    pub signed: &'a [u8],
    packet: &'a [u8],
}

impl<'a> Data<'a> {
    /// Reads the Data packet that fills `packet`. The signature is not verified.
    pub fn read(packet: &'a [u8]) -> Result<Self, Malformed> {
        if packet.len() > LONGEST {
            return Err(Malformed::TooLong);
        }
        let value = tlv::whole(packet, kind::DATA)?.value;
        let mut reader = Reader::new(value);
        let name = NameView::read(reader.take(kind::NAME)?.value)?;
        let mut data = Self {
            name,
            content_type: 0,
            freshness_ms: 0,
            final_block: None,
            content: &[],
            signature: Signature::default(),
            signed: &[],
            packet,
        };
        let mut order =
            Order::new(&[kind::META_INFO, kind::CONTENT, kind::SIGNATURE_INFO, kind::SIGNATURE_VALUE]);
        let (mut informed, mut signed) = (false, false);
        while let Some(element) = reader.next()? {
            match order.take(&element)? {
                Some(kind::META_INFO) => data.read_meta(element.value)?,
                Some(kind::CONTENT) => data.content = element.value,
                Some(kind::SIGNATURE_INFO) => {
                    data.signature = Signature::read(element.value)?;
                    informed = true;
                }
                Some(kind::SIGNATURE_VALUE) => {
                    data.signature.value = element.value;
                    data.signed = &value[..element.start];
                    signed = true;
                }
                _ => {}
            }
        }
        match (informed, signed) {
            (true, true) => Ok(data),
            (false, _) => Err(Malformed::Missing(kind::SIGNATURE_INFO)),
            (true, false) => Err(Malformed::Missing(kind::SIGNATURE_VALUE)),
        }
    }

    fn read_meta(&mut self, value: &'a [u8]) -> Result<(), Malformed> {
        let mut reader = Reader::new(value);
        let mut order = Order::new(&[kind::CONTENT_TYPE, kind::FRESHNESS, kind::FINAL_BLOCK]);
        while let Some(element) = reader.next()? {
            match order.take(&element)? {
                Some(kind::CONTENT_TYPE) => self.content_type = element.number()?,
                Some(kind::FRESHNESS) => self.freshness_ms = element.number()?,
                Some(kind::FINAL_BLOCK) => self.final_block = Some(Component::read(element.value)?),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether a signature by digest is correct. `None` for other signatures, because the signer's key is unknown here.
    pub fn intact(&self) -> Option<bool> {
        (self.signature.kind == DIGEST_SHA256).then(|| self.signature.value == sha256(&[self.signed]))
    }

    /// Digest of the whole packet: the last component of its full name.
    pub fn implicit_digest(&self) -> Digest {
        sha256(&[self.packet])
    }

    /// The whole packet.
    pub const fn packet(&self) -> &'a [u8] {
        self.packet
    }
}

/// A Data packet to be signed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unsigned<'a> {
    /// Its name.
    pub name: NameView<'a>,
    /// Type of the content: 0 for plain bytes, which is not written.
    pub content_type: u64,
    /// FreshnessPeriod in milliseconds; 0 is not written.
    pub freshness_ms: u64,
    /// The last component of the last segment of the object.
    pub final_block: Option<Component<'a>>,
    /// The content.
    pub content: &'a [u8],
}

impl Unsigned<'_> {
    /// Appends it as a Data packet with a signature by digest. Packets longer than [`LONGEST`] are not accepted by
    /// readers.
    pub fn sign(&self, out: &mut Vec<u8>) {
        let meta = self.meta_size();
        let begin = out.len();
        tlv::write_head(out, kind::DATA, self.value_size());
        let signed = out.len();
        self.name.write(out);
        if meta > 0 {
            tlv::write_head(out, kind::META_INFO, meta);
        }
        if self.content_type > 0 {
            tlv::write_number(out, kind::CONTENT_TYPE, self.content_type);
        }
        if self.freshness_ms > 0 {
            tlv::write_number(out, kind::FRESHNESS, self.freshness_ms);
        }
        if let Some(last) = &self.final_block {
            tlv::write_head(out, kind::FINAL_BLOCK, last.size());
            last.write(out);
        }
        tlv::write(out, kind::CONTENT, self.content);
        tlv::write_head(out, kind::SIGNATURE_INFO, tlv::number_element(kind::SIGNATURE_TYPE, DIGEST_SHA256));
        tlv::write_number(out, kind::SIGNATURE_TYPE, DIGEST_SHA256);
        let digest = sha256(&[&out[signed..]]);
        tlv::write(out, kind::SIGNATURE_VALUE, &digest);
        debug_assert_eq!(out.len() - begin, self.size(), "the length was computed correctly");
    }

    /// Size of the signed packet.
    pub fn size(&self) -> usize {
        tlv::size(kind::DATA, self.value_size())
    }

    fn meta_size(&self) -> usize {
        (if self.content_type > 0 { tlv::number_element(kind::CONTENT_TYPE, self.content_type) } else { 0 })
            + if self.freshness_ms > 0 { tlv::number_element(kind::FRESHNESS, self.freshness_ms) } else { 0 }
            + self.final_block.map_or(0, |last| tlv::size(kind::FINAL_BLOCK, last.size()))
    }

    fn value_size(&self) -> usize {
        let meta = self.meta_size();
        let info = tlv::number_element(kind::SIGNATURE_TYPE, DIGEST_SHA256);
        self.name.size()
            + if meta > 0 { tlv::size(kind::META_INFO, meta) } else { 0 }
            + tlv::size(kind::CONTENT, self.content.len())
            + tlv::size(kind::SIGNATURE_INFO, info)
            + tlv::size(kind::SIGNATURE_VALUE, size_of::<Digest>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::Name;
    use crate::ndn::testing::hex;

    fn name(text: &str) -> Name {
        text.parse().expect("a name")
    }

    #[test]
    fn data_are_signed_written_and_read() {
        let name = name("/a/seg=1");
        let last = Component { kind: kind::SEGMENT, value: &[2] };
        let unsigned = Unsigned {
            name: name.view(),
            content_type: 2,
            freshness_ms: 1000,
            final_block: Some(last),
            content: b"hello",
        };
        let mut out = Vec::new();
        unsigned.sign(&mut out);
        let digest = sha256(&[&out[2..out.len() - 34]]);
        let mut expected =
            hex("0644 0706 080161 320101 140c 180102 190203e8 1a03 320102 1505 68656c6c6f 16031b0100 1720");
        expected.extend_from_slice(&digest);
        assert_eq!(out, expected);
        let data = Data::read(&out).expect("a Data packet");
        assert_eq!((data.name, data.content_type, data.freshness_ms), (name.view(), 2, 1000));
        assert_eq!((data.final_block, data.content), (Some(last), &b"hello"[..]));
        assert_eq!((data.intact(), data.packet()), (Some(true), &out[..]));
        assert_eq!(data.implicit_digest(), sha256(&[&out]));
    }

    #[test]
    fn a_changed_byte_is_noticed() {
        let name = name("/a");
        let mut out = Vec::new();
        Unsigned { name: name.view(), content: b"hello", ..Unsigned::default() }.sign(&mut out);
        let hello = out.windows(5).position(|bytes| bytes == b"hello").expect("it is in there");
        out[hello] ^= 1;
        assert_eq!(Data::read(&out).expect("a Data packet").intact(), Some(false));
    }

    #[test]
    fn other_signatures_are_carried() {
        // ECDSA with the name of a key
        let packet = hex("0616 0703 080141 160a 1b0103 1c05 0703 08014b 1703 aabbcc");
        let data = Data::read(&packet).expect("a Data packet");
        assert_eq!((data.signature.kind, data.signature.value), (3, &hex("aabbcc")[..]));
        assert_eq!(data.signature.key_locator, Some(&hex("070308014b")[..]));
        assert_eq!(data.intact(), None);
        assert!(data.content.is_empty());
    }

    #[test]
    fn what_is_no_data_is_refused_with_a_reason() {
        for (bytes, why) in [
            ("0605 0703 080141", Malformed::Missing(kind::SIGNATURE_INFO)),
            ("060a 0703 080141 16031b0100", Malformed::Missing(kind::SIGNATURE_VALUE)),
            ("0607 0703 080141 1700", Malformed::Missing(kind::SIGNATURE_INFO)),
            ("060b 0703 080141 1600 1702aabb", Malformed::Missing(kind::SIGNATURE_TYPE)),
            ("060e 0703 080141 1500 1400 16031b0100", Malformed::Element(kind::META_INFO)),
            ("0611 0703 080141 1405 1a03 320102ff 1500", Malformed::Truncated),
        ] {
            assert_eq!(Data::read(&hex(bytes)), Err(why), "{bytes}");
        }
        let name = name("/a");
        let mut out = Vec::new();
        Unsigned { name: name.view(), content: &[0; 9000], ..Unsigned::default() }.sign(&mut out);
        assert_eq!(Data::read(&out), Err(Malformed::TooLong));
    }
}
