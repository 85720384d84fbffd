//! The arrivals and departures of a small network in order. A new one is nearly always due after most of the others,
//! because links of equal delay keep the order of packets, or before most of them, as the next packet on a busy link:
//! it moves past the few others, and the earliest one is taken without a comparison.

use super::{Key, nanos};

/// Events in order, from `first` to before `end`. They wander towards the end of the places, and are moved back when
/// they come to `limit`.
#[derive(Debug)]
pub(super) struct Sorted {
    /// At `end` is [`super::ABSENT`], so that an empty list needs no case of its own. The [`REACH`] places before it
    /// have events, those that were taken included, or zero.
    places: Box<[Entry; LENGTH + REACH + 2]>,
    first: usize,
    end: usize,
    limit: usize,
}

/// An entry of the agenda, in halves.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: u64,
    order: u64,
}

const TAKEN: Entry = Entry { time: 0, order: 0 };
const ABSENT: Entry = Entry { time: u64::MAX, order: u64::MAX };

/// A new event is due after all but this number, or before all but this number, or it is refused.
const REACH: usize = 8;
/// Number of places, a power of two, without those that a look at the last one includes.
const LENGTH: usize = 1 << 11;
/// With so many events they are not moved, and new ones are refused at `limit`.
const MAX: usize = 1008;
/// Free places on either side of the events when they are moved, beside half of their number: few, because all of them
/// pass through the caches.
const ROOM: usize = 128;

impl Default for Sorted {
    fn default() -> Self {
        let mut places = Box::new([TAKEN; LENGTH + REACH + 2]);
        places[ROOM] = ABSENT;
        Self { places, first: ROOM, end: ROOM, limit: 2 * ROOM }
    }
}

impl Sorted {
    #[inline(always)]
    fn time(&self, place: usize) -> u64 {
        self.places[place % LENGTH].time
    }

    /// `N` places from one on.
    #[inline(always)]
    fn from<const N: usize>(&mut self, place: usize) -> &mut [Entry; N] {
        self.places[place % LENGTH..].first_chunk_mut().expect("there are as many behind the last place")
    }

    /// Adds an event that was created after all others and is not due before those that were taken. Returns false if it
    /// is refused: there is no room, or its place is too far from both ends.
    #[inline(always)]
    pub(super) fn push(&mut self, key: Key) -> bool {
        let new = Entry { time: nanos(key), order: key as u64 };
        if self.end >= self.limit {
            return false;
        }
        if self.time(self.end - REACH) <= new.time {
            self.push_from_end(new);
            return true;
        }
        let reaches = self.time(self.first + REACH) > new.time && self.first > REACH;
        if reaches {
            self.push_from_first(new);
        }
        reaches
    }

    /// Moves the events that are later than a new one away from the first. The earliest of the last [`REACH`] is not
    /// later.
    #[inline(always)]
    fn push_from_end(&mut self, new: Entry) {
        let last: &mut [Entry; REACH + 2] = self.from(self.end - REACH);
        last[REACH + 1] = ABSENT;
        for place in (2..=REACH).rev() {
            if last[place - 1].time <= new.time {
                last[place] = new;
                self.end += 1;
                return;
            }
            last[place] = last[place - 1];
        }
        last[1] = new;
        self.end += 1;
    }

    /// Moves the events that are due before a new one, or at the same time, away from the end. The one behind the first
    /// [`REACH`] is later.
    #[inline(always)]
    fn push_from_first(&mut self, new: Entry) {
        self.first -= 1;
        let first: &mut [Entry; REACH + 1] = self.from(self.first);
        for place in 0..REACH {
            if first[place + 1].time > new.time {
                first[place] = new;
                return;
            }
            first[place] = first[place + 1];
        }
        first[REACH] = new;
    }

    /// Whether the events have come to an end of their places.
    #[inline]
    pub(super) const fn lacks_room(&self) -> bool {
        self.end >= self.limit || self.first <= REACH
    }

    /// Moves the events away from the ends of the places, unless there are too many. Returns whether they were moved.
    #[cold]
    pub(super) fn make_room(&mut self) -> bool {
        let len = self.len();
        if len >= MAX {
            return false;
        }
        let room = ROOM + len / 2;
        self.places.copy_within(self.first..=self.end, room);
        self.places[room - REACH..room].fill(TAKEN);
        (self.first, self.end) = (room, room + len);
        self.limit = (self.end + room).min(LENGTH - 2 * REACH);
        true
    }

    /// Number of events.
    pub(super) const fn len(&self) -> usize {
        self.end - self.first
    }

    /// The earliest event; [`super::ABSENT`] if no event is left.
    #[inline(always)]
    pub(super) fn first(&self) -> Key {
        let Entry { time, order } = self.places[self.first % LENGTH];
        Key::from(time) << 64 | Key::from(order)
    }

    /// Removes the earliest event, of which there must be one.
    #[inline(always)]
    pub(super) const fn remove_first(&mut self) {
        self.first += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Links of two delays, and every seventh event as the next one on a busy link: the events wander through all
    /// places, and are moved back.
    #[test]
    fn events_that_are_moved_keep_their_order() {
        for count in [1, 9, 300, MAX - 1] {
            let (mut sorted, mut model) = (Sorted::default(), BTreeSet::new());
            let (mut now, mut taken) = (0, 0);
            for order in 0..20_000u64 {
                let ahead = if order % 7 == 0 { 1 } else { 1_000 + 200 * u64::from(order % 50 == 0) };
                let key = Key::from(now.max(order) + ahead) << 64 | Key::from(order);
                if sorted.push(key) || sorted.lacks_room() && sorted.make_room() && sorted.push(key) {
                    model.insert(key);
                }
                if sorted.len() > count {
                    let first = sorted.first();
                    sorted.remove_first();
                    assert_eq!(Some(first), model.pop_first());
                    (now, taken) = (nanos(first), taken + 1);
                }
            }
            assert!(taken > 15_000, "{count}: {taken}");
        }
    }
}
