//! Files in segments, and the discovery of their newest version [ndnd: rdr_2024] [ndn-tools: chunks].
//!
//! A file `/a` of version 7 is `/a/v=7/seg=0`, `/a/v=7/seg=1` and so on. A consumer that does not know the version
//! requests fresh Data below `/a/32=metadata`: its content is the name with the version, and the last segment.

use super::tlv::{self, Reader};
use super::{Component, Malformed, Name, NameView, kind};

/// The metadata of a file. Other fields are ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The name with its version.
    pub name: Name,
    /// Number of the last segment, if given.
    pub last_segment: Option<u64>,
    /// Size of the file in bytes, if given.
    pub size: Option<u64>,
}

/// Metadata: size of the file [ndnd: rdr_2024].
const SIZE: u32 = 0xf502;

impl Metadata {
    /// The keyword in their name.
    pub const KEYWORD: &'static [u8] = b"metadata";

    /// The name of the metadata of `file`.
    pub fn name_of(file: NameView<'_>) -> Name {
        file.to_name().with(Component::keyword(Self::KEYWORD))
    }

    /// Reads the content of a Data packet.
    pub fn read(content: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(content);
        let name = NameView::read(reader.take(kind::NAME)?.value)?.to_name();
        let (mut last_segment, mut size) = (None, None);
        while let Some(element) = reader.next()? {
            match element.kind {
                kind::FINAL_BLOCK => last_segment = Component::read(element.value)?.segment(),
                SIZE => size = Some(element.number()?),
                _ => {}
            }
        }
        Ok(Self { name, last_segment, size })
    }

    /// Appends them as the content of a Data packet.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.name.view().write(out);
        if let Some(last) = self.last_segment {
            let mut component = Name::new();
            component.push_number(kind::SEGMENT, last);
            tlv::write(out, kind::FINAL_BLOCK, component.view().bytes());
        }
        if let Some(size) = self.size {
            tlv::write_number(out, SIZE, size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::testing::hex;

    #[test]
    fn metadata_tell_version_last_segment_and_size() {
        let name: Name = "/a/v=7".parse().expect("a name");
        let metadata = Metadata { name, last_segment: Some(2), size: Some(20_000) };
        let mut out = Vec::new();
        metadata.write(&mut out);
        assert_eq!(out, hex("0706 080161 360107 1a03 320102 fdf502 024e20"));
        assert_eq!(Metadata::read(&out), Ok(metadata));
        let file: Name = "/a".parse().expect("a name");
        assert_eq!(Metadata::name_of(file.view()).to_string(), "/a/32=metadata");
    }

    #[test]
    fn what_is_no_metadata_is_refused() {
        for bytes in ["", "1a03 320102", "0706 080161", "0703 080161 1a00", "0703 080161 1a06 320102 320102"]
        {
            assert!(Metadata::read(&hex(bytes)).is_err(), "{bytes}");
        }
        let more = hex("0703 080161 fdf50401ff 2101ff");
        assert_eq!(Metadata::read(&more).map(|read| read.last_segment), Ok(None));
    }
}
