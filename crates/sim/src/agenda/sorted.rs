//! The arrivals and departures of a small network in order. A new one is nearly always due after most of the others, because links of equal
//! delay keep the order of what they transmit, or before most of them, as the next packet on a busy link: it moves past the few others, and the
//! earliest one is taken without a comparison.

use super::{ABSENT, Key, nanos};

/// Events in order, the earliest at `first`.
#[derive(Debug)]
pub(super) struct Sorted {
    /// A ring. At `end` is [`ABSENT`], so that an empty one needs no case of its own. Places before `first` have events that were taken, or zero.
    entries: Box<[Key; LENGTH]>,
    first: u16,
    end: u16,
}

/// A new event is due after all but this number, or before all but this number, or it is refused.
const REACH: u16 = 8;
/// Length of the ring, a power of two.
const LENGTH: usize = 1 << 10;
/// Maximum number of events: there are more than [`REACH`] places before the first one.
const MAX: u16 = LENGTH as u16 - 2 * REACH;

impl Default for Sorted {
    fn default() -> Self {
        let mut entries = Box::new([0; LENGTH]);
        entries[0] = ABSENT;
        Self { entries, first: 0, end: 0 }
    }
}

impl Sorted {
    #[inline(always)]
    fn at(&mut self, place: u16) -> &mut Key {
        &mut self.entries[usize::from(place) % LENGTH]
    }

    /// Adds an event that was created after all others and is not due before those that were taken. Returns false if it is refused: there are too
    /// many events, or its place is too far from both ends.
    #[inline]
    pub(super) fn push(&mut self, key: Key) -> bool {
        if self.len() >= MAX {
            return false;
        }
        if nanos(*self.at(self.end.wrapping_sub(REACH))) <= nanos(key) {
            self.push_from_end(key);
            return true;
        }
        if nanos(*self.at(self.first.wrapping_add(REACH))) > nanos(key) {
            self.push_from_first(key);
            return true;
        }
        false
    }

    /// Moves the events that are later than a new one away from the first.
    #[inline(always)]
    fn push_from_end(&mut self, key: Key) {
        let mut place = self.end;
        loop {
            let before = *self.at(place.wrapping_sub(1));
            if nanos(before) <= nanos(key) {
                break;
            }
            *self.at(place) = before;
            place = place.wrapping_sub(1);
        }
        *self.at(place) = key;
        self.end = self.end.wrapping_add(1);
        *self.at(self.end) = ABSENT;
    }

    /// Moves the events that are due before a new one, or at the same time, away from the end.
    #[inline(always)]
    fn push_from_first(&mut self, key: Key) {
        self.first = self.first.wrapping_sub(1);
        let mut place = self.first;
        loop {
            let after = *self.at(place.wrapping_add(1));
            if nanos(after) > nanos(key) {
                break;
            }
            *self.at(place) = after;
            place = place.wrapping_add(1);
        }
        *self.at(place) = key;
    }

    /// Number of events.
    pub(super) const fn len(&self) -> u16 {
        self.end.wrapping_sub(self.first)
    }

    /// The earliest event; [`ABSENT`] if there is none.
    #[inline(always)]
    pub(super) fn first(&self) -> Key {
        self.entries[usize::from(self.first) % LENGTH]
    }

    /// Removes the earliest event, of which there must be one.
    #[inline(always)]
    pub(super) const fn remove_first(&mut self) {
        self.first = self.first.wrapping_add(1);
    }
}
