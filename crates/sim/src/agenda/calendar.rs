//! The near future of a large agenda: a calendar queue [Brown, "Calendar queues", CACM 31(10), 1988] whose days are
//! sorted when they begin.
//!
//! Its cost does not grow with the number of events, and the events of the next days are known, so that what they need
//! can be requested from memory. Events beyond its last day, such as timers, are in lists of a month each, which are
//! moved into the days when the month begins; events of the current month, and events beyond the last month, are in a
//! heap. The length of a day follows the number of events: a few per day.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::heap::Heap;
use super::{AgendaEvent, Key, event, nanos};

/// A calendar of the days after the current one.
#[derive(Debug)]
pub(super) struct Calendar {
    /// The events that are left of the current day, latest first.
    today: Vec<Key>,
    /// Events that were added to the current day after it began.
    added: BinaryHeap<Reverse<Key>>,
    /// Number of the current day, from 1 at the start of the run.
    day: u64,
    /// A day is 2^`shift` nanoseconds long.
    shift: u32,
    /// The events of each later day, in any order, by the number of the day modulo the length, a power of two.
    days: Vec<Vec<Key>>,
    /// Memory for the events of a day that no day uses.
    spare: Spare,
    /// The events of each later month that are beyond the last day, in any order.
    months: BTreeMap<u64, Vec<Key>>,
    /// Number of the last month that began.
    month: u64,
    /// A bit for each of `days` that has events.
    occupied: Vec<u64>,
    /// Fewer days of this length were too few.
    min_days: usize,
    /// The current day has just begun.
    begins: bool,
    /// Of `today`, the events from this index on were given to `soon` of [`Calendar::upcoming`], and to `later`.
    shown: usize,
    shown_later: usize,
    counts: Counts,
    /// The calendar is checked after this number of instants with events, or of events beyond its last day.
    check_after: u64,
}

/// What happened since the length of a day was last checked.
#[derive(Debug, Default)]
struct Counts {
    /// Days that had events.
    days: u64,
    /// Instants that had events: a shorter day does not divide the events of one instant, such as copies for the
    /// members of a group.
    instants: u64,
    events: u64,
    /// Events that were added beyond the last day.
    far: u64,
}

/// Minimum of [`Calendar::check_after`].
const CHECKED: u64 = 8192;
/// Instants per day, on average: minimum and maximum before the length changes, and what it is changed for.
const INSTANTS: (u64, u64, u64) = (3, 12, 6);
/// Numbers of days.
const DAYS: (usize, usize) = (1 << 10, 1 << 16);
/// Length of a month, as a power of two of nanoseconds: 1.05 ms. (A year of the paper is all days.)
const MONTH: u32 = 20;
/// Number of months.
const MONTHS: u64 = 1 << 12;
/// Length of a day at first: 2^10 ns.
const SHIFT: u32 = 10;
/// How many events ahead what they need is requested, as far as it depends on nothing else, and the rest. A day can
/// have many: the copies for the members of a group arrive at one instant, and the caches do not hold what all of them
/// need.
const LATER: usize = 32;
const SOON: usize = 16;
/// Bits of a word of `occupied`.
const WORD: usize = u64::BITS as usize;

/// Lists without events, by the power of two of their capacity. A day takes one when it gets events and gives it back
/// when it is over, so that memory grows with the days that have events at the same time, and the lists that days share
/// stay in the caches.
#[derive(Debug, Default)]
struct Spare(Vec<Vec<Vec<Key>>>);

/// Capacity of the list of a day at first.
const FIRST: usize = 16;

impl Spare {
    /// Adds an event to the list of a day.
    #[inline]
    fn push(&mut self, keys: &mut Vec<Key>, key: Key) {
        if keys.len() == keys.capacity() {
            self.grow(keys);
        }
        keys.push(key);
    }

    /// Moves the events into a list of twice the capacity.
    fn grow(&mut self, keys: &mut Vec<Key>) {
        let capacity = (2 * keys.len()).next_power_of_two().max(FIRST);
        let spare = self.0.get_mut(capacity.ilog2() as usize).and_then(Vec::pop);
        let mut larger = spare.unwrap_or_else(|| Vec::with_capacity(capacity));
        larger.append(keys);
        self.give(std::mem::replace(keys, larger));
    }

    /// Keeps an empty list for another day.
    #[inline]
    fn give(&mut self, keys: Vec<Key>) {
        let Some(class) = keys.capacity().checked_ilog2() else { return };
        let class = class as usize;
        if self.0.len() <= class {
            self.0.resize_with(class + 1, Vec::new);
        }
        self.0[class].push(keys);
    }
}

impl Calendar {
    /// A calendar of the events `keys`; `far` takes those beyond its last day.
    pub(super) fn new(keys: Vec<Key>, far: &mut Heap) -> Self {
        let mut calendar = Self {
            today: Vec::new(),
            added: BinaryHeap::new(),
            day: 0,
            shift: SHIFT,
            days: Vec::new(),
            months: BTreeMap::new(),
            month: 0,
            spare: Spare::default(),
            occupied: Vec::new(),
            min_days: DAYS.0,
            begins: false,
            shown: 0,
            shown_later: 0,
            counts: Counts::default(),
            check_after: CHECKED,
        };
        calendar.set_days(SHIFT, DAYS.0, keys, far);
        calendar
    }

    #[inline]
    const fn day_of(&self, key: Key) -> u64 {
        (nanos(key) >> self.shift) + 1
    }

    #[inline]
    const fn slot_of(&self, day: u64) -> usize {
        day as usize & (self.days.len() - 1)
    }

    /// Adds an event; one beyond the last day goes to `far`.
    #[inline(never)]
    pub(super) fn push(&mut self, key: Key, far: &mut Heap) {
        let day = self.day_of(key);
        // neither today nor before, which are large numbers here
        if day.wrapping_sub(self.day + 1) >= self.days.len() as u64 - 1 {
            return self.push_outside(key, far);
        }
        let slot = self.slot_of(day);
        self.occupied[slot / WORD] |= 1 << (slot % WORD);
        let keys = &mut self.days[slot];
        if keys.len() < keys.capacity() {
            keys.push(key);
        } else {
            self.push_and_grow(slot, key);
        }
    }

    /// Adds an event to a day whose list is full.
    #[inline(never)]
    fn push_and_grow(&mut self, slot: usize, key: Key) {
        self.spare.push(&mut self.days[slot], key);
    }

    /// Adds an event of the current day, or one beyond the last day.
    #[inline(never)]
    fn push_outside(&mut self, key: Key, far: &mut Heap) {
        if self.day_of(key) <= self.day {
            self.added.push(Reverse(key));
            self.counts.instants += 1;
            self.counts.events += 1;
            return;
        }
        self.counts.far += 1;
        let month = nanos(key) >> MONTH;
        if month.wrapping_sub(self.month + 1) < MONTHS {
            self.months.entry(month).or_default().push(key);
        } else {
            far.push(key);
        }
    }

    /// Removes the earliest event; `None` if no event is here or in `far`.
    #[inline(always)]
    pub(super) fn pop(&mut self, far: &mut Heap) -> Option<Key> {
        let added = self.added.peek();
        if let Some(&first) = self.today.last()
            && added.is_none_or(|added| first < added.0)
        {
            self.today.pop()
        } else {
            self.pop_other(far)
        }
    }

    /// Removes the earliest event if it was added to the current day, or the day is over.
    #[inline(never)]
    fn pop_other(&mut self, far: &mut Heap) -> Option<Key> {
        if let Some(&Reverse(added)) = self.added.peek()
            && self.today.last().is_none_or(|first| added < *first)
        {
            self.added.pop();
            return Some(added);
        }
        if self.today.is_empty() {
            self.begin_day(far);
        }
        self.today.pop()
    }

    /// Begins the next day that has events, if there is one, after the last event of the current day.
    fn begin_day(&mut self, far: &mut Heap) {
        if self.counts.instants >= self.check_after || self.counts.far >= self.check_after {
            self.check_days(far);
        }
        let Some(day) = self.find_day(far) else { return };
        self.day = day;
        let slot = self.slot_of(day);
        let today = std::mem::take(&mut self.days[slot]);
        self.spare.give(std::mem::replace(&mut self.today, today));
        self.occupied[slot / WORD] &= !(1 << (slot % WORD));
        while far.first().is_some_and(|key| self.day_of(key) <= self.day)
            && let Some(key) = far.pop()
        {
            self.spare.push(&mut self.today, key);
        }
        self.today.sort_unstable_by(|a, b| b.cmp(a));
        self.begins = true;
        self.counts.days += 1;
        let changes = self.today.windows(2).filter(|pair| nanos(pair[0]) != nanos(pair[1])).count();
        self.counts.instants += 1 + changes as u64;
        self.counts.events += self.today.len() as u64;
    }

    /// The next day that has events, all of which are in the calendar or in `far`.
    fn find_day(&mut self, far: &mut Heap) -> Option<u64> {
        loop {
            let first_far = far.first().map(|key| self.day_of(key));
            let day = self.next_day().into_iter().chain(first_far).min();
            let Some(month) = self.months.first_entry() else { return day };
            let first = (*month.key() << MONTH >> self.shift) + 1;
            if day.is_some_and(|day| day < first) {
                return day;
            }
            let keys;
            (self.month, keys) = month.remove_entry();
            if day.is_none() {
                self.day = first - 1;
            }
            keys.into_iter().for_each(|key| self.push(key, far));
        }
    }

    /// The next day in the calendar that has events.
    #[inline]
    fn next_day(&self) -> Option<u64> {
        let first = self.day + 1;
        let start = self.slot_of(first);
        let words = self.occupied.len();
        (0..=words).find_map(|step| {
            let index = (start / WORD + step) % words;
            let bits = match step {
                0 => self.occupied[index] & (u64::MAX << (start % WORD)),
                _ => self.occupied[index],
            };
            (bits != 0).then(|| {
                let slot = index * WORD + bits.trailing_zeros() as usize;
                first + (slot.wrapping_sub(start) & (self.days.len() - 1)) as u64
            })
        })
    }

    /// Changes the length of a day if there were too few or too many events in it, and the number of days if too many
    /// events were beyond.
    #[cold]
    fn check_days(&mut self, far: &mut Heap) {
        let Counts { days, instants, events, far: beyond } = std::mem::take(&mut self.counts);
        let average = instants / days.max(1);
        let (minimum, maximum, wanted) = INSTANTS;
        let shift = match average {
            average if average > maximum => self.shift.saturating_sub((average / wanted).ilog2().max(1)),
            average if average < minimum && self.shift < 30 => self.shift + 1,
            _ => self.shift,
        };
        if shift != self.shift {
            self.min_days = DAYS.0;
        }
        let mut count = self.days.len();
        if beyond * 4 > events {
            count = (count * 2).min(DAYS.1);
            self.min_days = count;
        } else if beyond * 64 < events {
            count = (count / 2).max(self.min_days);
        }
        if (shift, count) != (self.shift, self.days.len()) {
            let keys = self.days.drain(..).flatten().collect();
            self.set_days(shift, count, keys, far);
        }
    }

    /// Makes `count` empty days and adds `keys`, all of them after today, which has no events.
    fn set_days(&mut self, shift: u32, count: usize, keys: Vec<Key>, far: &mut Heap) {
        self.shift = shift;
        self.days = vec![Vec::new(); count];
        // fewer or shorter lists may be enough from now on
        self.spare = Spare::default();
        self.occupied = vec![0; count / WORD];
        self.check_after = CHECKED.max(4 * keys.len() as u64);
        let month = self.months.first_key_value().map(|(month, _)| Key::from(month << MONTH) << 64);
        let first = keys.iter().copied().chain(far.first()).chain(month).min();
        self.day = first.map_or(0, |key| self.day_of(key) - 1);
        keys.into_iter().for_each(|key| self.push(key, far));
    }

    /// Calls `later` with events that are up to [`LATER`] events ahead, and `soon` with those up to [`SOON`] ahead.
    /// When a day begins, `later` gets events of the next day that has any.
    #[inline]
    pub(super) fn upcoming(&mut self, mut soon: impl FnMut(AgendaEvent), mut later: impl FnMut(AgendaEvent)) {
        let begins = std::mem::take(&mut self.begins);
        if !begins && self.shown == 0 {
            return;
        }
        let left = self.today.len();
        if begins {
            // the first were given to `later` when the day before began
            (self.shown, self.shown_later) = (left, left.saturating_sub(LATER));
            let next = self.next_day().map(|day| &self.days[self.slot_of(day)]);
            next.into_iter().flatten().take(LATER).map(|&key| event(key)).for_each(&mut later);
        }
        while self.shown_later > left.saturating_sub(LATER) {
            self.shown_later -= 1;
            later(event(self.today[self.shown_later]));
        }
        while self.shown > left.saturating_sub(SOON) {
            self.shown -= 1;
            soon(event(self.today[self.shown]));
        }
    }

    /// Number of events that there is memory for.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        let spare = self.spare.0.iter().flatten();
        let lists = self.days.iter().chain(self.months.values()).chain([&self.today]).chain(spare);
        lists.map(Vec::capacity).sum()
    }

    /// Number of events in the lists of later months.
    #[cfg(test)]
    pub(super) fn in_months(&self) -> usize {
        self.months.values().map(Vec::len).sum()
    }

    /// The earliest event that is left of the current day; `None` if the day is over.
    pub(super) fn first_today(&self) -> Option<Key> {
        self.today.last().copied().into_iter().chain(self.added.peek().map(|added| added.0)).min()
    }

    /// The earliest event of the calendar; `None` if no event is left.
    pub(super) fn first(&self) -> Option<Key> {
        self.first_today().or_else(|| {
            let day = self.next_day().map(|day| &self.days[self.slot_of(day)]);
            let month = self.months.values().next();
            day.into_iter().chain(month).flatten().copied().min()
        })
    }
}
