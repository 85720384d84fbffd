//! PIT entries in the order of their expiry.
//!
//! Interests of one lifetime expire in the order of their arrival. Each lifetime has a ring of entries, to which they are added at the end. An entry that
//! ends leaves a gap, and gaps at the front are skipped, so that adding, removing and finding the first take constant time and touch no other
//! entry. A full ring closes its gaps, and grows if it is more than half full then. If a network has more lifetimes than rings, the last ring holds
//! the rest, sorted by insertion from its end.

use memory::prefetch;
use units::Time;

use super::Entry;
use super::records::NONE;

/// Rings of entries by lifetime.
#[derive(Debug)]
pub(super) struct Deadlines {
    rings: Vec<Ring>,
    /// The first expiry of all entries, cached because it is needed after every packet.
    earliest: Time,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { rings: Vec::new(), earliest: Time::NEVER }
    }
}

/// Entries of one lifetime. The first one is no gap.
#[derive(Clone, Debug)]
struct Ring {
    lifetime_ms: u32,
    /// The number of the first entry, and of the next one.
    head: u32,
    tail: u32,
    /// The latest expiry that was added.
    last: Time,
    /// Slots by number; the length is a power of two, or zero. [`NONE`] is a gap.
    slots: Box<[u32]>,
}

/// Number of rings: more lifetimes than a network usually has.
const RINGS: usize = 16;
/// Slots of a ring at first.
const FIRST: usize = 8;

impl Ring {
    /// The place of a number.
    #[inline]
    const fn place(&self, number: u32) -> usize {
        number as usize & self.slots.len().wrapping_sub(1)
    }

    #[inline]
    const fn is_full(&self) -> bool {
        self.tail.wrapping_sub(self.head) as usize == self.slots.len()
    }

    /// The first entry to expire, and when.
    #[inline]
    fn first(&self, entries: &[Entry]) -> Option<(Time, u32)> {
        let slot = *self.slots.get(self.place(self.head)).filter(|_| self.head != self.tail)?;
        Some((entries[slot as usize].expires, slot))
    }

    /// Adds an entry behind those that expire by `expires`.
    #[inline(always)]
    fn add(&mut self, entries: &mut [Entry], slot: u32, expires: Time) {
        if self.is_full() {
            self.make_room(entries);
        }
        if expires < self.last {
            return self.insert(entries, slot, expires);
        }
        self.last = expires;
        let number = self.tail;
        self.tail = number.wrapping_add(1);
        let place = self.place(number);
        self.slots[place] = slot;
        entries[slot as usize].number = number;
    }

    /// Adds an entry before those that expire later.
    #[cold]
    fn insert(&mut self, entries: &mut [Entry], slot: u32, expires: Time) {
        let mut number = self.tail;
        self.tail = number.wrapping_add(1);
        while number != self.head {
            let before = self.slots[self.place(number.wrapping_sub(1))];
            if let Some(entry) = entries.get_mut(before as usize) {
                if entry.expires <= expires {
                    break;
                }
                entry.number = number;
            }
            let place = self.place(number);
            self.slots[place] = before;
            number = number.wrapping_sub(1);
        }
        let place = self.place(number);
        self.slots[place] = slot;
        entries[slot as usize].number = number;
    }

    /// Closes the gaps of the full ring, and doubles it if it is still more than half full.
    #[cold]
    fn make_room(&mut self, entries: &mut [Entry]) {
        let mut end = self.head;
        let mut number = self.head;
        while number != self.tail {
            let slot = self.slots[self.place(number)];
            if let Some(entry) = entries.get_mut(slot as usize) {
                entry.number = end;
                let place = self.place(end);
                self.slots[place] = slot;
                end = end.wrapping_add(1);
            }
            number = number.wrapping_add(1);
        }
        self.tail = end;
        if 2 * end.wrapping_sub(self.head) as usize >= self.slots.len() {
            let longer = vec![NONE; (2 * self.slots.len()).max(FIRST)].into_boxed_slice();
            let old = std::mem::replace(&mut self.slots, longer);
            let mut number = self.head;
            while number != end {
                let place = self.place(number);
                self.slots[place] = old[number as usize & (old.len() - 1)];
                number = number.wrapping_add(1);
            }
        }
    }

    /// Removes an entry. If it was the first one, returns the slot of the next, or [`NONE`].
    #[inline(always)]
    fn remove(&mut self, number: u32) -> Option<u32> {
        let Self { slots, head, tail, .. } = self;
        let mask = slots.len().wrapping_sub(1);
        slots[number as usize & mask] = NONE;
        if number != *head {
            return None;
        }
        let (mut first, mut next) = (NONE, number);
        while first == NONE {
            next = next.wrapping_add(1);
            if next == *tail {
                break;
            }
            first = slots[next as usize & mask];
        }
        *head = next;
        Some(first)
    }
}

impl Deadlines {
    /// Adds an entry that expires `lifetime_ms` from now.
    #[inline(always)]
    pub(super) fn add(&mut self, entries: &mut [Entry], slot: u32, lifetime_ms: u32) {
        let ring = match self.rings.first() {
            Some(first) if first.lifetime_ms == lifetime_ms => 0,
            _ => self.ring(lifetime_ms),
        };
        let entry = &mut entries[slot as usize];
        entry.ring = ring as u8;
        let expires = entry.expires;
        self.earliest = self.earliest.min(expires);
        self.rings[ring].add(entries, slot, expires);
    }

    /// The ring of a lifetime.
    #[cold]
    fn ring(&mut self, lifetime_ms: u32) -> usize {
        let known = self.rings.iter().position(|ring| ring.lifetime_ms == lifetime_ms);
        known.unwrap_or_else(|| {
            if self.rings.len() < RINGS {
                let slots = Box::default();
                self.rings.push(Ring { lifetime_ms, head: 0, tail: 0, last: Time::ZERO, slots });
            }
            self.rings.len() - 1
        })
    }

    /// Removes the entry with this number in its ring.
    #[inline(always)]
    pub(super) fn remove(&mut self, entries: &[Entry], number: u32, ring: u8) {
        let Some(first) = self.rings[usize::from(ring)].remove(number) else { return };
        self.earliest = match entries.get(first as usize) {
            _ if self.rings.len() > 1 => self.first(entries).map_or(Time::NEVER, |(expires, _)| expires),
            Some(entry) => entry.expires,
            None => Time::NEVER,
        };
    }

    /// Requests the first ring from memory.
    #[inline]
    pub(super) fn prefetch(&self) {
        if let Some(ring) = self.rings.first() {
            prefetch(ring, 1);
        }
    }

    /// The slot of the entry that was added to a ring `steps` after the one with this number; [`NONE`] or any other if there is none.
    #[inline]
    pub(super) fn after(&self, number: u32, ring: u8, steps: u32) -> u32 {
        let ring = &self.rings[usize::from(ring)];
        ring.slots[ring.place(number.wrapping_add(steps))]
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
        for first in self.rings.iter().filter_map(|ring| ring.first(entries)) {
            if earliest.is_none_or(|(expires, _)| first.0 < expires) {
                earliest = Some(first);
            }
        }
        earliest
    }
}
