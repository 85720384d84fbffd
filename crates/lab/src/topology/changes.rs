//! Links of a generated network: those of a template, and those that the scenario changes by name.

use std::collections::{BTreeMap, BTreeSet};

use contract::NodeId;

use super::{Defaults, Net, NetPort, location_of, matches_pattern, ports};
use crate::schema::file::Topology;
use crate::schema::keys::Keys;
use crate::schema::link::Link;
use crate::schema::read::{At, Field, Notes, shortened};

type Ports = (NetPort, NetPort);

/// The link that a generator makes several of.
pub(super) struct Template {
    /// Its key, such as `bottleneck`.
    pub(super) key: &'static str,
    /// As it is written.
    pub(super) link: Link,
    pub(super) defaults: Defaults,
    pub(super) ports: Ports,
}

/// A generated network while its links are made.
pub(super) struct Maker<'a> {
    pub(super) net: Net,
    pub(super) notes: &'a mut Notes,
    changes: Vec<Change<'a>>,
    /// Changes by name, except those whose name is a pattern.
    named: BTreeMap<&'a str, usize>,
    patterns: Vec<usize>,
    /// Which changes of which templates were made, so that a mistake in them is reported once.
    made: BTreeSet<(&'static str, Vec<usize>)>,
}

/// An entry of `links`.
struct Change<'a> {
    name: &'a At<String>,
    link: &'a Link,
    matched: bool,
}

impl<'a> Maker<'a> {
    /// Reads the entries of `links`, which name links that the generator will make.
    pub(super) fn new(topology: &'a Topology, notes: &'a mut Notes) -> Self {
        let mut maker = Self {
            net: Net::default(),
            notes,
            changes: Vec::new(),
            named: BTreeMap::new(),
            patterns: Vec::new(),
            made: BTreeSet::new(),
        };
        for link in topology.links.items() {
            let Some(name) = link.name.required("name", "a change of a link", link.location, maker.notes)
            else {
                continue;
            };
            for (key, location) in link.written() {
                let hint = match key {
                    "ends" => "the generator joins its nodes",
                    "like" => "write the keys that differ; all others are those of its template",
                    _ => continue,
                };
                maker.notes.wrong(location, format!("a link of a generator has no `{key}`")).hint(hint);
            }
            let index = maker.changes.len();
            if name.contains('*') {
                maker.patterns.push(index);
            } else if let Some(before) = maker.named.insert(&name.value, index) {
                // whether the link exists is asked of one of them
                maker.changes[before].matched = true;
                maker
                    .notes
                    .wrong(name.location, format!("`{}` is changed twice", shortened(name)))
                    .hint("write all of its keys in one entry");
            }
            maker.changes.push(Change { name, link, matched: false });
        }
        maker
    }

    /// Adds a link.
    pub(super) fn link(&mut self, name: impl Into<String>, ends: (NodeId, NodeId), template: &Template) {
        self.link_with(name, ends, template, |_, _| {});
    }

    /// Adds a link whose template is not all that is known of it: `set` gets its directions, and the keys that the
    /// scenario changes.
    pub(super) fn link_with(
        &mut self,
        name: impl Into<String>,
        ends: (NodeId, NodeId),
        template: &Template,
        set: impl FnOnce(&mut Ports, &Link),
    ) {
        let name = name.into();
        let patterns = self.patterns.iter().copied();
        let mut matching: Vec<usize> =
            patterns.filter(|index| matches_pattern(self.changes[*index].name, &name)).collect();
        matching.extend(self.named.get(name.as_str()));
        matching.sort_unstable();
        // a later entry overrides an earlier one
        let mut changed = Link::default();
        for &index in matching.iter().rev() {
            let change = &mut self.changes[index];
            change.matched = true;
            changed = changed.completed(change.link);
        }
        let mut directions = if matching.is_empty() {
            template.ports.clone()
        } else {
            let whole = changed.clone().completed(&template.link);
            let mut known = Notes::default();
            let fresh = self.made.insert((template.key, matching));
            ports(&whole, template.defaults, if fresh { &mut *self.notes } else { &mut known })
        };
        set(&mut directions, &changed);
        self.net.add_link(name, ends, &directions);
    }

    /// The network; reports changes of links that are not in it.
    pub(super) fn finish(self) -> Net {
        for change in self.changes.iter().filter(|change| !change.matched) {
            let verb = if change.name.contains('*') { "matches" } else { "is called" };
            self.notes
                .wrong(change.name.location, format!("no link {verb} `{}`", shortened(change.name)))
                .maybe(self.net.link_hint(change.name));
        }
        self.net
    }
}

impl Link {
    /// This link, with the keys of `base` where it has none.
    pub(super) fn completed(self, base: &Self) -> Self {
        let mut base = base.clone();
        if self.forward.has_rate() {
            (base.forward.rate, base.forward.trace) = (Field::Missing, Field::Missing);
        }
        let (name, ends, like) = (self.name.clone(), self.ends.clone(), self.like.clone());
        Self { name, ends, like, ..self.over(&base) }
    }

    /// Whether this link says what the rate of a direction is: the backward one takes it from the link unless it has
    /// its own.
    pub(super) fn has_rate(&self, backward: bool) -> bool {
        let back = self.backward.present().filter(|_| backward);
        self.forward.has_rate() || back.is_some_and(|port| port.has_rate())
    }

    /// Whether this link says what the delay of a direction is, `backward` first.
    pub(super) fn has_delay(&self, backward: bool) -> bool {
        let back = self.backward.present().filter(|_| backward);
        !self.forward.delay.is_missing() || back.is_some_and(|port| location_of(&port.delay).is_some())
    }
}
