//! Reader of big-endian fields.

use contract::Label;
use units::{Duration, Time};

use crate::is_control;

/// Maximum bytes of a name, or of a text of a parameter.
pub const TEXT: usize = 120;
/// Maximum packet number, byte number and time stamp, so that sums of a few of them do not overflow. A connection at
/// 100 Gbit/s reaches it after eleven years.
pub(crate) const MAX: u64 = 1 << 62;

/// Why bytes are not of a valid encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// They do not start with the magic number.
    Foreign,
    /// The version of the format is another one.
    Version,
    /// The kind is unknown.
    Kind,
    /// Undefined flags are set.
    Flags,
    /// They are truncated or too long, or a length in them is out of range.
    Length,
    /// A text is not UTF-8.
    Text,
    /// A field has an invalid value.
    Value,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Foreign => "it is not ours",
            Self::Version => "it is of another version",
            Self::Kind => "its kind is not known",
            Self::Flags => "it has flags that are not known",
            Self::Length => "its length is wrong",
            Self::Text => "a text in it is not UTF-8",
            Self::Value => "a value in it is not known",
        })
    }
}

impl std::error::Error for Malformed {}

/// The bytes that are left to read.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) const fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `value` if nothing is left to read.
    pub(crate) fn end<T>(&self, value: T) -> Result<T, Malformed> {
        if self.is_empty() { Ok(value) } else { Err(Malformed::Length) }
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed::Length)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Malformed::Length)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn time(&mut self) -> Result<Time, Malformed> {
        let nanos = self.u64()?;
        if nanos > MAX { Err(Malformed::Value) } else { Ok(Time::from_nanos(nanos)) }
    }

    pub(crate) fn duration(&mut self) -> Result<Duration, Malformed> {
        self.time().map(|time| time - Time::ZERO)
    }

    /// Reads a count of at most `max`.
    pub(crate) fn count(&mut self, max: usize) -> Result<usize, Malformed> {
        let count = usize::from(self.u16()?);
        if count > max { Err(Malformed::Length) } else { Ok(count) }
    }

    pub(crate) fn label(&mut self) -> Result<Label, Malformed> {
        Ok(Label([self.u64()?, self.u64()?, self.u64()?, self.u64()?]))
    }

    /// Reads a name of a scheme, parameter, mode or node, which must not contain control characters.
    pub(crate) fn text(&mut self) -> Result<String, Malformed> {
        let length = usize::from(self.byte()?);
        if length > TEXT {
            return Err(Malformed::Length);
        }
        let bytes = self.take(length)?;
        let text = std::str::from_utf8(bytes).map_err(|_| Malformed::Text)?;
        if text.chars().any(is_control) { Err(Malformed::Text) } else { Ok(text.to_owned()) }
    }
}

/// Appends a text with its length before it, cut off at the last character that fits.
pub(crate) fn put_text(text: &str, out: &mut Vec<u8>) {
    let mut length = text.len().min(TEXT);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    out.push(length as u8);
    out.extend_from_slice(&text.as_bytes()[..length]);
}
