//! PIT entries in the order of their expiry.
//!
//! Interests of one lifetime expire in the order of their arrival. Each lifetime has a linked list through the entries, so that adding,
//! removing and finding the first take constant time. If a network has more lifetimes than lists, the last list holds the rest, sorted by
//! insertion from its end.

use units::Time;

use super::Entry;
use super::records::NONE;

/// Lists of entries by lifetime.
#[derive(Debug)]
pub(super) struct Deadlines {
    classes: Vec<Class>,
    /// The first expiry of all entries, cached because it is needed after every packet.
    earliest: Time,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { classes: Vec::new(), earliest: Time::NEVER }
    }
}

#[derive(Clone, Copy, Debug)]
struct Class {
    lifetime_ms: u32,
    first: u32,
    last: u32,
}

/// Number of lists: more lifetimes than a network usually has.
const CLASSES: usize = 16;

impl Deadlines {
    /// Adds an entry that expires `lifetime_ms` from now.
    #[inline]
    pub(super) fn add(&mut self, entries: &mut [Entry], slot: u32, lifetime_ms: u32) {
        let class = match self.classes.first() {
            Some(first) if first.lifetime_ms == lifetime_ms => 0,
            _ => self.class(lifetime_ms),
        };
        let expires = entries[slot as usize].expires;
        self.earliest = self.earliest.min(expires);
        let list = &mut self.classes[class];
        let before = std::mem::replace(&mut list.last, slot);
        match entries.get_mut(before as usize) {
            Some(entry) if entry.expires > expires => {
                list.last = before;
                return self.insert(entries, slot, class);
            }
            Some(entry) => entry.after = slot,
            None => list.first = slot,
        }
        let entry = &mut entries[slot as usize];
        (entry.before, entry.after, entry.class) = (before, NONE, class as u8);
    }

    /// The list of a lifetime.
    #[cold]
    fn class(&mut self, lifetime_ms: u32) -> usize {
        let known = self.classes.iter().position(|class| class.lifetime_ms == lifetime_ms);
        known.unwrap_or_else(|| {
            if self.classes.len() < CLASSES {
                self.classes.push(Class { lifetime_ms, first: NONE, last: NONE });
            }
            self.classes.len() - 1
        })
    }

    /// Inserts an entry into a list before those that expire later.
    #[cold]
    fn insert(&mut self, entries: &mut [Entry], slot: u32, class: usize) {
        let expires = entries[slot as usize].expires;
        let list = &mut self.classes[class];
        let (mut before, mut after) = (list.last, NONE);
        while let Some(entry) = entries.get(before as usize).filter(|entry| entry.expires > expires) {
            (before, after) = (entry.before, before);
        }
        match entries.get_mut(before as usize) {
            Some(entry) => entry.after = slot,
            None => list.first = slot,
        }
        match entries.get_mut(after as usize) {
            Some(entry) => entry.before = slot,
            None => list.last = slot,
        }
        let entry = &mut entries[slot as usize];
        (entry.before, entry.after, entry.class) = (before, after, class as u8);
    }

    /// Removes an entry.
    #[inline]
    pub(super) fn remove(&mut self, entries: &mut [Entry], slot: u32) {
        let Entry { before, after, class, .. } = entries[slot as usize];
        let list = &mut self.classes[usize::from(class)];
        match entries.get_mut(before as usize) {
            Some(entry) => entry.after = after,
            None => list.first = after,
        }
        let next = match entries.get_mut(after as usize) {
            Some(entry) => {
                entry.before = before;
                entry.expires
            }
            None => {
                list.last = before;
                Time::NEVER
            }
        };
        if before == NONE {
            self.earliest = match self.classes.len() {
                1 => next,
                _ => self.first(entries).map_or(Time::NEVER, |(expires, _)| expires),
            };
        }
    }

    /// The first expiry; [`Time::NEVER`] without entries.
    #[inline]
    pub(super) const fn earliest(&self) -> Time {
        self.earliest
    }

    /// The first entry to expire, and when.
    #[inline]
    pub(super) fn first(&self, entries: &[Entry]) -> Option<(Time, u32)> {
        let mut earliest = None;
        for class in &self.classes {
            if let Some(entry) = entries.get(class.first as usize)
                && earliest.is_none_or(|(expires, _)| entry.expires < expires)
            {
                earliest = Some((entry.expires, class.first));
            }
        }
        earliest
    }
}
