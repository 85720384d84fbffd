//! The URI notation of names: `/a/b/32=metadata/v=7/seg=0` [NDN-packet: NDN URI scheme].

use std::fmt;
use std::str::FromStr;

use super::{Component, Name, NameView, kind};

/// Why a text is not a valid name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadUri {
    /// A `%` is not followed by two hexadecimal digits.
    Escape(String),
    /// The text before `=` is not a type of components.
    Type(String),
    /// The text after `=` is not a number or a digest.
    Value(String),
    /// A component of one or two periods.
    Periods,
}

impl fmt::Display for BadUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Escape(text) => write!(f, "`{text}`: a % needs two hexadecimal digits"),
            Self::Type(text) => write!(
                f,
                "`{text}`: before = stands a number from 1 to 65535, or seg, off, v, t, seq, sha256digest or params-sha256; \
                 a = of the component itself is written %3D"
            ),
            Self::Value(text) => write!(f, "`{text}`: no number, or no digest of 64 hexadecimal digits"),
            Self::Periods => f.write_str("a component of periods has three more of them: `....` for one"),
        }
    }
}

impl std::error::Error for BadUri {}

/// Types whose value is a number, by name.
const NUMBERS: [(&str, u32); 5] = [
    ("seg", kind::SEGMENT),
    ("off", kind::BYTE_OFFSET),
    ("v", kind::VERSION),
    ("t", kind::TIMESTAMP),
    ("seq", kind::SEQUENCE),
];
/// Types whose value is a digest, by name.
const DIGESTS: [(&str, u32); 2] =
    [("sha256digest", kind::IMPLICIT_DIGEST), ("params-sha256", kind::PARAMETERS_DIGEST)];

impl fmt::Display for NameView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return f.write_str("/");
        }
        self.components().try_for_each(|component| write!(f, "/{component}"))
    }
}

impl fmt::Display for Component<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = DIGESTS.iter().find(|(_, kind)| *kind == self.kind) {
            write!(f, "{name}=")?;
            return self.value.iter().try_for_each(|byte| write!(f, "{byte:02x}"));
        }
        let named = NUMBERS.iter().find(|(_, kind)| *kind == self.kind);
        // only if it is read back as the same bytes
        if let (Some((name, _)), Some(number)) = (named, self.number())
            && super::tlv::number_size(number) == self.value.len()
        {
            return write!(f, "{name}={number}");
        }
        if self.kind != kind::GENERIC {
            write!(f, "{}=", self.kind)?;
        }
        if self.value.iter().all(|byte| *byte == b'.') {
            f.write_str("...")?;
        }
        for &byte in self.value {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                write!(f, "{}", byte as char)?;
            } else {
                write!(f, "%{byte:02X}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Component<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Name {
    type Err = BadUri;

    /// With or without the prefix `ndn:`. Empty components are ignored; `...` is a component without bytes.
    fn from_str(text: &str) -> Result<Self, BadUri> {
        let text = text.strip_prefix("ndn:").unwrap_or(text);
        let mut name = Self::new();
        for part in text.split('/').filter(|part| !part.is_empty()) {
            read(part, &mut name)?;
        }
        Ok(name)
    }
}

fn read(part: &str, name: &mut Name) -> Result<(), BadUri> {
    let Some((before, behind)) = part.split_once('=') else {
        name.push(Component::generic(&unescape(part)?));
        return Ok(());
    };
    let wrong = || BadUri::Value(part.to_owned());
    if let Some((_, kind)) = NUMBERS.iter().find(|(name, _)| *name == before) {
        // `+7` is not a number here
        let digits = Some(behind).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let number = digits.and_then(|text| text.parse().ok()).ok_or_else(wrong)?;
        name.push_number(*kind, number);
        return Ok(());
    }
    if let Some((_, kind)) = DIGESTS.iter().find(|(name, _)| *name == before) {
        let value = digest(behind).ok_or_else(wrong)?;
        name.push(Component { kind: *kind, value: &value });
        return Ok(());
    }
    let kind = before.parse::<u16>().ok().filter(|kind| *kind > 0 && !before.starts_with('+'));
    let kind = u32::from(kind.ok_or_else(|| BadUri::Type(part.to_owned()))?);
    let value = unescape(behind)?;
    let digest = DIGESTS.iter().any(|(_, other)| *other == kind);
    if digest && value.len() != 32 {
        return Err(wrong());
    }
    name.push(Component { kind, value: &value });
    Ok(())
}

fn digest(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| Some(c.to_digit(16)? as u8)).collect();
    let digits = digits.filter(|digits| digits.len() == 64)?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

fn unescape(text: &str) -> Result<Vec<u8>, BadUri> {
    let mut value = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            value.push(byte);
            continue;
        }
        let mut digit = || bytes.next().and_then(|byte| (byte as char).to_digit(16));
        let (high, low) = (digit(), digit());
        let (Some(high), Some(low)) = (high, low) else { return Err(BadUri::Escape(text.to_owned())) };
        value.push((high << 4 | low) as u8);
    }
    if value.iter().all(|byte| *byte == b'.') && !value.is_empty() {
        if value.len() < 3 {
            return Err(BadUri::Periods);
        }
        value.truncate(value.len() - 3);
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::testing::hex;

    #[test]
    fn names_are_written_and_read_as_the_specification_has_them() {
        let zeros = "00".repeat(32);
        for (text, bytes) in [
            ("/", String::new()),
            ("/A", "080141".to_owned()),
            ("/hello/world", "0805 68656c6c6f 0805 776f726c64".to_owned()),
            ("/a%20b/%2F%3D", "0803 612062 0802 2f3d".to_owned()),
            ("/...", "0800".to_owned()),
            ("/....", "08012e".to_owned()),
            ("/32=metadata", "2008 6d65746164617461".to_owned()),
            ("/v=255/seg=256/off=65536/t=0/seq=1", "3601ff 32020100 340400010000 380100 3a0101".to_owned()),
            ("/65535=x", "fdffff0178".to_owned()),
            ("/50=%00%05", "32020005".to_owned()),
        ] {
            let name: Name = text.parse().expect("a name");
            assert_eq!(name.view().bytes(), hex(&bytes), "{text}");
            assert_eq!(name.to_string(), text);
        }
        for digest in ["sha256digest", "params-sha256"] {
            let text = format!("/a/{digest}={zeros}");
            assert_eq!(text.parse::<Name>().expect("a name").to_string(), text);
        }
    }

    #[test]
    fn there_is_more_than_one_way_to_write_a_name() {
        for text in ["ndn:/a/b", "a/b", "/a//b/", "/8=a/%62"] {
            assert_eq!(text.parse::<Name>().expect("a name").to_string(), "/a/b", "{text}");
        }
        assert_eq!("/54=%FF".parse::<Name>().expect("a name").to_string(), "/v=255");
    }

    #[test]
    fn what_is_no_name_is_refused_with_a_reason() {
        let no = |text: &str| text.parse::<Name>().expect_err(text);
        assert_eq!(no("/a%2"), BadUri::Escape("a%2".to_owned()));
        assert_eq!(no("/."), BadUri::Periods);
        assert_eq!(no("/a/.."), BadUri::Periods);
        for text in ["/a=b", "/0=b", "/65536=b", "/+5=b"] {
            assert!(matches!(no(text), BadUri::Type(_)), "{text}");
        }
        for text in ["/seg=", "/seg=x", "/seg=+5", "/seg=18446744073709551616", "/sha256digest=00", "/1=a"] {
            assert!(matches!(no(text), BadUri::Value(_)), "{text}");
        }
    }
}
