//! Names and their components [NDN-packet: Name].

use std::cmp::Ordering;
use std::fmt;

use super::tlv::{self, Reader};
use super::{Digest, Malformed, kind};

/// One component of a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Component<'a> {
    /// Its type, from 1 to 65535; see [`kind`].
    pub kind: u32,
    /// Its value.
    pub value: &'a [u8],
}

impl<'a> Component<'a> {
    /// A generic component.
    pub const fn generic(value: &'a [u8]) -> Self {
        Self { kind: kind::GENERIC, value }
    }

    /// A keyword component.
    pub const fn keyword(value: &'a [u8]) -> Self {
        Self { kind: kind::KEYWORD, value }
    }

    /// The number in its value, for segments, versions and similar types.
    pub fn number(&self) -> Option<u64> {
        tlv::number_of(self.value)
    }

    /// The segment number, if it is a segment component.
    pub fn segment(&self) -> Option<u64> {
        self.number().filter(|_| self.kind == kind::SEGMENT)
    }

    /// The version, if it is a version component.
    pub fn version(&self) -> Option<u64> {
        self.number().filter(|_| self.kind == kind::VERSION)
    }

    /// Reads the component that fills `bytes`.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let view = NameView::read(bytes)?;
        let mut components = view.components();
        match (components.next(), components.next()) {
            (Some(component), None) => Ok(component),
            (None, _) => Err(Malformed::Truncated),
            _ => Err(Malformed::Trailing),
        }
    }

    pub(super) const fn size(&self) -> usize {
        tlv::size(self.kind, self.value.len())
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        tlv::write(out, self.kind, self.value);
    }
}

/// Canonical order: by type, then shorter first, then by bytes [NDN-packet: Canonical order].
impl Ord for Component<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |of: &Self| (of.kind, of.value.len());
        key(self).cmp(&key(other)).then_with(|| self.value.cmp(other.value))
    }
}

impl PartialOrd for Component<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A name in the bytes of a packet: consecutive components, each validated.
///
/// Types and lengths have only one valid form, so that names are equal if their bytes are equal, and a name is a prefix
/// of another if its bytes are.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct NameView<'a>(&'a [u8]);

impl<'a> NameView<'a> {
    /// The empty name.
    pub const ROOT: Self = Self(&[]);

    /// Reads the value of a name element.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        while let Some(component) = reader.next()? {
            let digest = matches!(component.kind, kind::IMPLICIT_DIGEST | kind::PARAMETERS_DIGEST);
            if digest && component.value.len() != size_of::<Digest>() {
                return Err(Malformed::Value(component.kind));
            }
            if component.kind > u32::from(u16::MAX) {
                return Err(Malformed::Element(component.kind));
            }
        }
        Ok(Self(bytes))
    }

    /// The value of the name element.
    pub const fn bytes(&self) -> &'a [u8] {
        self.0
    }

    /// Its components, in order.
    pub const fn components(&self) -> Components<'a> {
        Components(Reader::new(self.0))
    }

    /// Number of components.
    pub fn count(&self) -> usize {
        self.components().count()
    }

    /// Whether it has no components.
    pub const fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Its last component.
    pub fn last(&self) -> Option<Component<'a>> {
        self.components().last()
    }

    /// The name without its last component, and that component.
    pub fn split_last(&self) -> Option<(Self, Component<'a>)> {
        let mut components = self.components();
        let mut at = 0;
        let mut last = None;
        loop {
            let here = components.at();
            match components.next() {
                Some(component) => (at, last) = (here, Some(component)),
                None => return last.map(|last| (Self(&self.0[..at]), last)),
            }
        }
    }

    /// The name of its first `count` components; the whole name if it has fewer.
    pub fn prefix(&self, count: usize) -> Self {
        let mut components = self.components();
        for _ in 0..count {
            if components.next().is_none() {
                break;
            }
        }
        Self(&self.0[..components.at()])
    }

    /// The bytes before and after the first component of this type; all bytes are before if there is no such component.
    pub(super) fn around(&self, kind: u32) -> (&'a [u8], &'a [u8]) {
        let mut components = self.components();
        loop {
            let before = components.at();
            match components.next() {
                Some(component) if component.kind == kind => {
                    return (&self.0[..before], &self.0[components.at()..]);
                }
                Some(_) => {}
                None => return (self.0, &[]),
            }
        }
    }

    /// Whether `prefix` is a prefix of this name, or equal to it.
    pub fn starts_with(&self, prefix: NameView<'_>) -> bool {
        self.0.starts_with(prefix.0)
    }

    /// An owned copy.
    pub fn to_name(&self) -> Name {
        Name { bytes: self.0.to_vec() }
    }

    /// Size of the name element.
    pub(super) const fn size(&self) -> usize {
        tlv::size(kind::NAME, self.0.len())
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        tlv::write(out, kind::NAME, self.0);
    }
}

/// Canonical order: by the first component that differs; a prefix comes first.
impl Ord for NameView<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.components().cmp(other.components())
    }
}

impl PartialOrd for NameView<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for NameView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The components of a name.
#[derive(Clone, Debug)]
pub struct Components<'a>(Reader<'a>);

impl Components<'_> {
    /// Where the next one begins in the name's bytes.
    const fn at(&self) -> usize {
        self.0.at()
    }
}

impl<'a> Iterator for Components<'a> {
    type Item = Component<'a>;

    fn next(&mut self) -> Option<Component<'a>> {
        // the name was checked when it was read
        let element = self.0.next().ok().flatten()?;
        Some(Component { kind: element.kind, value: element.value })
    }
}

/// An owned name.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Name {
    bytes: Vec<u8>,
}

impl Name {
    /// The empty name.
    pub const fn new() -> Self {
        Self { bytes: Vec::new() }
    }

    /// A view of it.
    pub fn view(&self) -> NameView<'_> {
        NameView(&self.bytes)
    }

    /// Adds a component, whose type must be valid.
    pub fn push(&mut self, component: Component<'_>) -> &mut Self {
        debug_assert!(
            (1..=u32::from(u16::MAX)).contains(&component.kind),
            "types of components have 16 bits"
        );
        component.write(&mut self.bytes);
        self
    }

    /// Adds a component whose value is a number.
    pub fn push_number(&mut self, kind: u32, number: u64) -> &mut Self {
        tlv::write_number(&mut self.bytes, kind, number);
        self
    }

    /// Removes components from the end until `count` are left.
    pub fn truncate(&mut self, count: usize) -> &mut Self {
        let length = self.view().prefix(count).bytes().len();
        self.bytes.truncate(length);
        self
    }

    /// The name with another component at its end.
    pub fn with(&self, component: Component<'_>) -> Self {
        let mut longer = self.clone();
        longer.push(component);
        longer
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.view().cmp(&other.view())
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.view(), f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.view(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::testing::hex;

    fn name(text: &str) -> Name {
        text.parse().expect("a name")
    }

    #[test]
    fn names_are_components_one_behind_the_other() {
        let mut name = Name::new();
        name.push(Component::generic(b"ndn")).push(Component::generic(b"")).push_number(kind::SEGMENT, 300);
        let view = name.view();
        assert_eq!(view.bytes(), hex("0803 6e646e 0800 3202 012c"));
        assert_eq!((view.count(), view.is_root()), (3, false));
        assert_eq!(view.last().and_then(|last| last.segment()), Some(300));
        assert_eq!(view.last().and_then(|last| last.version()), None);
        let (above, last) = view.split_last().expect("it has components");
        assert_eq!((above, last.kind), (view.prefix(2), kind::SEGMENT));
        assert!(view.starts_with(above) && view.starts_with(NameView::ROOT) && view.starts_with(view));
        assert!(!above.starts_with(view));
        assert_eq!(view.prefix(9), view);
        assert_eq!(NameView::ROOT.split_last(), None);
        assert_eq!(name.truncate(1).to_string(), "/ndn");
    }

    #[test]
    fn a_prefix_ends_between_components() {
        assert!(!name("/ab").view().starts_with(name("/a").view()));
        assert!(name("/a/b").view().starts_with(name("/a").view()));
    }

    /// Order by type, then length, then bytes; a prefix comes before names below it.
    #[test]
    fn names_are_in_canonical_order() {
        let digest = format!("/a/sha256digest={}", "00".repeat(32));
        let sorted = ["/", "/a", &digest, "/a/z", "/a/aa", "/a/32=z", "/a/seg=2", "/a/seg=256", "/b", "/aa"];
        for (i, low) in sorted.iter().enumerate() {
            for high in &sorted[i + 1..] {
                assert!(name(low) < name(high), "{low} {high}");
            }
        }
    }

    #[test]
    fn what_no_name_may_have_is_refused() {
        for (bytes, why) in [
            ("0102abcd", Malformed::Value(1)),
            ("0201aa", Malformed::Value(2)),
            ("0001aa", Malformed::Number),
            ("0802aa", Malformed::Truncated),
            ("08", Malformed::Truncated),
            ("fe0001000001aa", Malformed::Element(65_536)),
        ] {
            assert_eq!(NameView::read(&hex(bytes)), Err(why), "{bytes}");
        }
        assert_eq!(NameView::read(&[]), Ok(NameView::ROOT));
    }
}
