//! The arrivals and departures of a small network in order. A new one is nearly always due after most of the others, because links of equal
//! delay keep the order of what they transmit, or before most of them, as the next packet on a busy link: it moves past the few others, and the
//! earliest one is taken without a comparison.

use super::{Key, nanos};

/// Events in order, the earliest at `first`.
#[derive(Debug)]
pub(super) struct Sorted {
    ring: Box<Ring>,
    first: u32,
    end: u32,
}

/// The entries, in halves. At the end is [`super::ABSENT`], so that an empty ring needs no case of its own. Places before the first have events that
/// were taken, or zero.
#[derive(Debug)]
struct Ring {
    times: [u64; LENGTH],
    orders: [u64; LENGTH],
}

/// A new event is due after all but this number, or before all but this number, or it is refused.
const REACH: u32 = 8;
/// Length of the ring, a power of two.
const LENGTH: usize = 1 << 10;
/// Maximum number of events: there are more than [`REACH`] places before the first one.
const MAX: usize = LENGTH - 2 * REACH as usize;

impl Default for Sorted {
    fn default() -> Self {
        let mut sorted =
            Self { ring: Box::new(Ring { times: [0; LENGTH], orders: [0; LENGTH] }), first: 0, end: 0 };
        sorted.put(0, [u64::MAX; 2]);
        sorted
    }
}

impl Sorted {
    #[inline(always)]
    fn time(&self, place: u32) -> u64 {
        self.ring.times[place as usize % LENGTH]
    }

    #[inline(always)]
    fn put(&mut self, place: u32, [time, order]: [u64; 2]) {
        let place = place as usize % LENGTH;
        (self.ring.times[place], self.ring.orders[place]) = (time, order);
    }

    /// Adds an event that was created after all others and is not due before those that were taken. Returns false if it is refused: there are too
    /// many events, or its place is too far from both ends.
    #[inline]
    pub(super) fn push(&mut self, key: Key) -> bool {
        if self.len() >= MAX {
            return false;
        }
        let time = nanos(key);
        if self.time(self.end.wrapping_sub(REACH)) <= time {
            self.push_from_end(time, key as u64);
            return true;
        }
        if self.time(self.first.wrapping_add(REACH)) > time {
            self.push_from_first(time, key as u64);
            return true;
        }
        false
    }

    /// Moves the events that are later than a new one away from the first.
    #[inline(always)]
    fn push_from_end(&mut self, time: u64, order: u64) {
        let mut place = self.end as usize % LENGTH;
        loop {
            let before = place.wrapping_sub(1) % LENGTH;
            let moved = self.ring.times[before];
            if moved <= time {
                break;
            }
            (self.ring.times[place], self.ring.orders[place]) = (moved, self.ring.orders[before]);
            place = before;
        }
        (self.ring.times[place], self.ring.orders[place]) = (time, order);
        self.end = self.end.wrapping_add(1);
        self.put(self.end, [u64::MAX; 2]);
    }

    /// Moves the events that are due before a new one, or at the same time, away from the end.
    #[inline(always)]
    fn push_from_first(&mut self, time: u64, order: u64) {
        self.first = self.first.wrapping_sub(1);
        let mut place = self.first as usize % LENGTH;
        loop {
            let after = (place + 1) % LENGTH;
            let moved = self.ring.times[after];
            if moved > time {
                break;
            }
            (self.ring.times[place], self.ring.orders[place]) = (moved, self.ring.orders[after]);
            place = after;
        }
        (self.ring.times[place], self.ring.orders[place]) = (time, order);
    }

    /// Number of events.
    pub(super) const fn len(&self) -> usize {
        self.end.wrapping_sub(self.first) as usize
    }

    /// The earliest event; [`super::ABSENT`] if there is none.
    #[inline(always)]
    pub(super) fn first(&self) -> Key {
        let place = self.first as usize % LENGTH;
        Key::from(self.ring.times[place]) << 64 | Key::from(self.ring.orders[place])
    }

    /// Removes the earliest event, of which there must be one.
    #[inline(always)]
    pub(super) const fn remove_first(&mut self) {
        self.first = self.first.wrapping_add(1);
    }
}
