//! PIT entries in the order of their expiry.
//!
//! Interests of one lifetime expire in the order of their arrival. Each lifetime has a ring of entries, to which they
//! are added at the end, so that an entry is added, removed and found as the first in constant time. If a network has
//! more lifetimes than rings, the last ring holds the rest, sorted by insertion from its end.

use memory::prefetch;
use units::Time;

use super::Entry;
use crate::ndn::ring::{GAP, Ring};

/// Rings of entries by lifetime.
#[derive(Debug)]
pub(super) struct Deadlines {
    lifetimes: Vec<Lifetime>,
    /// The first expiry of all entries, cached because it is needed after every packet.
    earliest: Time,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { lifetimes: Vec::new(), earliest: Time::NEVER }
    }
}

/// Entries of one lifetime.
#[derive(Clone, Debug)]
struct Lifetime {
    lifetime_ms: u32,
    ring: Ring,
    /// The latest expiry that was added.
    last: Time,
}

/// Number of rings: more lifetimes than a network usually has.
const RINGS: usize = 16;

impl Lifetime {
    /// The first entry to expire, and when.
    #[inline]
    fn first(&self, entries: &[Entry]) -> Option<(Time, u32)> {
        let slot = self.ring.first()?;
        Some((entries[slot as usize].expires, slot))
    }

    /// Adds an entry behind those that expire by `expires`.
    #[inline(always)]
    fn add(&mut self, entries: &mut [Entry], slot: u32, expires: Time) {
        if self.ring.is_full() {
            self.ring.make_room(|slot, number| entries[slot as usize].number = number);
        }
        if expires < self.last {
            return self.insert(entries, slot, expires);
        }
        self.last = expires;
        entries[slot as usize].number = self.ring.add(slot);
    }

    /// Adds an entry before those that expire later.
    #[cold]
    fn insert(&mut self, entries: &mut [Entry], slot: u32, expires: Time) {
        let mut number = self.ring.add(GAP);
        while number != self.ring.head() {
            let before = self.ring.at(number.wrapping_sub(1));
            if let Some(entry) = entries.get_mut(before as usize) {
                if entry.expires <= expires {
                    break;
                }
                entry.number = number;
            }
            self.ring.set(number, before);
            number = number.wrapping_sub(1);
        }
        self.ring.set(number, slot);
        entries[slot as usize].number = number;
    }
}

impl Deadlines {
    /// Adds an entry that expires `lifetime_ms` from now.
    #[inline(always)]
    pub(super) fn add(&mut self, entries: &mut [Entry], slot: u32, lifetime_ms: u32) {
        let ring = match self.lifetimes.first() {
            Some(first) if first.lifetime_ms == lifetime_ms => 0,
            _ => self.ring(lifetime_ms),
        };
        let entry = &mut entries[slot as usize];
        entry.ring = ring as u8;
        let expires = entry.expires;
        self.earliest = self.earliest.min(expires);
        self.lifetimes[ring].add(entries, slot, expires);
    }

    /// The ring of a lifetime.
    #[cold]
    fn ring(&mut self, lifetime_ms: u32) -> usize {
        let known = self.lifetimes.iter().position(|ring| ring.lifetime_ms == lifetime_ms);
        known.unwrap_or_else(|| {
            if self.lifetimes.len() < RINGS {
                self.lifetimes.push(Lifetime { lifetime_ms, ring: Ring::default(), last: Time::ZERO });
            }
            self.lifetimes.len() - 1
        })
    }

    /// Removes the entry with this number in its ring.
    #[inline(always)]
    pub(super) fn remove(&mut self, entries: &[Entry], number: u32, ring: u8) {
        let Some(first) = self.lifetimes[usize::from(ring)].ring.remove(number) else { return };
        self.earliest = match entries.get(first as usize) {
            _ if self.lifetimes.len() > 1 => self.first(entries).map_or(Time::NEVER, |(expires, _)| expires),
            Some(entry) => entry.expires,
            None => Time::NEVER,
        };
    }

    /// Requests the first ring from memory.
    #[inline]
    pub(super) fn prefetch(&self) {
        if let Some(ring) = self.lifetimes.first() {
            prefetch(ring, 1);
        }
    }

    /// The slot of the entry that was added to a ring `steps` after the one with this number; a gap or any other slot
    /// if no entry follows it so far.
    #[inline]
    pub(super) fn after(&self, number: u32, ring: u8, steps: u32) -> u32 {
        self.lifetimes[usize::from(ring)].ring.at(number.wrapping_add(steps))
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
        for first in self.lifetimes.iter().filter_map(|ring| ring.first(entries)) {
            if earliest.is_none_or(|(expires, _)| first.0 < expires) {
                earliest = Some(first);
            }
        }
        earliest
    }
}
