//! Packets of named data networking: hierarchical names, Interests, Data and NACKs.
//!
//! A name is a prefix and the number of a segment under it. Prefixes are interned: a [`NameId`] is a node of the tree
//! of components that [`Names`] holds, so that a packet carries a number and a longest-prefix match walks up the tree.

use std::collections::BTreeMap;

use units::Duration;

use crate::NameId;

/// A name: a prefix, and the number of a segment under it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// The prefix.
    pub prefix: NameId,
    /// The segment, from 0; fewer than [`Name::SEGMENTS`].
    pub segment: u64,
}

impl Name {
    /// Maximum number of prefixes in a network.
    pub const PREFIXES: u32 = 1 << 24;
    /// Maximum number of segments under a prefix.
    pub const SEGMENTS: u64 = 1 << 40;

    /// The name as one word; different names have different keys.
    #[inline]
    pub const fn key(self) -> u64 {
        debug_assert!(self.prefix.0 < Self::PREFIXES && self.segment < Self::SEGMENTS);
        (self.prefix.0 as u64) << 40 | self.segment
    }
}

/// The tree of name components: every prefix in use, and those above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// The parent of each prefix; the root is its own parent.
    parents: Vec<NameId>,
    components: Vec<String>,
    known: BTreeMap<(NameId, String), NameId>,
}

impl Default for Names {
    fn default() -> Self {
        Self { parents: vec![NameId(0)], components: vec![String::new()], known: BTreeMap::new() }
    }
}

impl Names {
    /// The prefix `/`, the root.
    pub const ROOT: NameId = NameId(0);

    /// A tree that contains only the root.
    pub fn new() -> Self {
        Self::default()
    }

    /// The prefix `/a/b`, which is added with all prefixes above it. Empty components are ignored, so that `a/b` and
    /// `/a/b/` are the same.
    ///
    /// Panics if there are more than [`Name::PREFIXES`].
    pub fn intern(&mut self, text: &str) -> NameId {
        text.split('/').filter(|component| !component.is_empty()).fold(Self::ROOT, |parent, component| {
            let next = NameId(self.parents.len() as u32);
            let id = *self.known.entry((parent, component.to_owned())).or_insert(next);
            if id == next {
                assert!(next.0 < Name::PREFIXES, "fewer than 2²⁴ prefixes");
                self.parents.push(parent);
                self.components.push(component.to_owned());
            }
            id
        })
    }

    /// The prefix `/a/b`; `None` if it is not in the tree.
    pub fn find(&self, text: &str) -> Option<NameId> {
        let mut components = text.split('/').filter(|component| !component.is_empty());
        components.try_fold(Self::ROOT, |parent, component| {
            self.known.get(&(parent, component.to_owned())).copied()
        })
    }

    /// The prefix one component shorter; `None` for the root.
    #[inline]
    pub fn parent(&self, id: NameId) -> Option<NameId> {
        if id == Self::ROOT { None } else { Some(self.parents[id.index()]) }
    }

    /// Where [`Names::parent`] reads, for a request from memory.
    #[inline]
    pub fn parent_place(&self, id: NameId) -> Option<&NameId> {
        self.parents.get(id.index())
    }

    /// The first component of a prefix, which many schemes use as the content of a name. The root for the root.
    pub fn first(&self, id: NameId) -> NameId {
        std::iter::successors(Some(id), |id| self.parent(*id))
            .filter(|id| *id != Self::ROOT)
            .last()
            .unwrap_or(id)
    }

    /// Number of prefixes, root included.
    pub fn count(&self) -> usize {
        self.parents.len()
    }

    /// The prefix in the form `/a/b`.
    pub fn text(&self, id: NameId) -> String {
        match self.parent(id) {
            None => "/".to_owned(),
            Some(Self::ROOT) => format!("/{}", self.components[id.index()]),
            Some(parent) => format!("{}/{}", self.text(parent), self.components[id.index()]),
        }
    }
}

/// A request for the Data of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest {
    /// The requested name.
    pub name: Name,
    /// A random number that distinguishes this request from others of the same name: a forwarder that receives it twice
    /// detects a loop. A retransmission has another one.
    pub nonce: u32,
    /// Lifetime: how long forwarders keep it pending, in milliseconds.
    pub lifetime_ms: u32,
}

impl Interest {
    /// Lifetime: how long forwarders keep it pending.
    #[inline]
    pub const fn lifetime(&self) -> Duration {
        Duration::from_millis(self.lifetime_ms as u64)
    }
}

/// The answer to an Interest: the content of one name. It takes the path of the Interests in reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// The name.
    pub name: Name,
    /// Payload in bytes; the size of the packet is the size of the whole on the wire.
    pub payload_bytes: u32,
}

/// A negative acknowledgement: the network does not satisfy an Interest. It takes the path of the Interest in reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nack {
    /// The requested name.
    pub name: Name,
    /// The nonce of the Interest that is refused.
    pub nonce: u32,
    /// The reason.
    pub reason: NackReason,
}

/// Why an Interest is refused, in order of severity, the least severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NackReason {
    /// There is no capacity for its Data now.
    Congestion,
    /// Its nonce was seen before.
    Duplicate,
    /// No route to a producer of the name is known.
    NoRoute,
}

impl NackReason {
    /// All of them, in order.
    pub const ALL: [Self; 3] = [Self::Congestion, Self::Duplicate, Self::NoRoute];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Congestion => "congestion",
            Self::Duplicate => "duplicate",
            Self::NoRoute => "no_route",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_a_tree_of_components() {
        let mut names = Names::new();
        let video = names.intern("/isp/video");
        assert_eq!(names.intern("isp//video/"), video);
        assert_eq!(names.text(video), "/isp/video");
        let isp = names.parent(video).expect("it has a parent");
        assert_eq!((names.text(isp), names.parent(isp)), ("/isp".to_owned(), Some(Names::ROOT)));
        assert_eq!(names.parent(Names::ROOT), None);
        assert_eq!((names.first(video), names.first(isp), names.first(Names::ROOT)), (isp, isp, Names::ROOT));
        assert_eq!((names.find("/isp/video"), names.find("/isp/audio")), (Some(video), None));
        assert_eq!(names.find("/"), Some(Names::ROOT));
        assert_eq!(names.count(), 3);
    }

    #[test]
    fn keys_differ_where_names_do() {
        let name = |prefix, segment| Name { prefix: NameId(prefix), segment };
        let names = [name(0, 0), name(0, Name::SEGMENTS - 1), name(1, 0), name(Name::PREFIXES - 1, 1)];
        for (i, a) in names.iter().enumerate() {
            assert!(names[i + 1..].iter().all(|b| b.key() != a.key()), "{a:?}");
        }
    }
}
