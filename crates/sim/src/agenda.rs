//! The queue of future events (agenda).
//!
//! Events at equal times are handled in the order of insertion; there is no other guarantee. An entry is one `u128`:
//! time, sequence number, event. A small agenda is a sorted list of arrivals and departures ([`Sorted`]) beside a heap
//! of the other events ([`Heap`]). In one of thousands of events the near future is a calendar ([`Calendar`]), whose
//! cost does not grow with their number. All give the same order.

mod bursts;
mod calendar;
mod heap;
mod sorted;

use bursts::Bursts;
pub(crate) use bursts::{Burst, FanId};
use calendar::Calendar;
use heap::Heap;
use sorted::Sorted;
use units::Time;

/// An event and its subject: three bits of kind above an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AgendaEvent(u32);

/// Kinds of events. The engine matches on them once per event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    /// The first packet on a link reaches the other end of the link.
    Arrive = 0,
    /// An endpoint's deadline.
    Wake = 1,
    /// A port with a queue discipline is to be served, or an observed FIFO starts a transmission.
    Depart = 2,
    /// A change in the scenario.
    Change = 3,
    /// A sender with churn starts or stops.
    ToggleFlow = 4,
    /// A receiver with churn joins or leaves.
    ToggleReceiver = 5,
    /// Series are sampled.
    Sample = 6,
    /// Events of the run: its end, the end of the warm-up, its progress.
    Run = 7,
}

const INDEX_BITS: u32 = 23;
const KIND_BITS: u32 = 3;
const WHAT_BITS: u32 = INDEX_BITS + KIND_BITS;

/// Maximum number of ports, of endpoints and of changes.
pub(crate) const MAX_INDEX: usize = (1 << INDEX_BITS) - 1;

/// Bits of an index below the kind in the digest of a run, which has the others above.
const DIGEST_BITS: u32 = 21;
const DIGEST_LOW: u32 = (1 << DIGEST_BITS) - 1;

impl AgendaEvent {
    #[inline]
    pub(crate) const fn new(kind: Kind, index: u32) -> Self {
        Self((kind as u32) << INDEX_BITS | index)
    }

    #[inline]
    pub(crate) const fn kind(self) -> Kind {
        match self.0 >> INDEX_BITS {
            0 => Kind::Arrive,
            1 => Kind::Wake,
            2 => Kind::Depart,
            3 => Kind::Change,
            4 => Kind::ToggleFlow,
            5 => Kind::ToggleReceiver,
            6 => Kind::Sample,
            _ => Kind::Run,
        }
    }

    #[inline]
    pub(crate) const fn index(self) -> usize {
        (self.0 & MAX_INDEX as u32) as usize
    }

    /// Its number in the digest of a run.
    #[inline]
    pub(crate) const fn digest_bits(self) -> u32 {
        if self.0 <= DIGEST_LOW {
            return self.0;
        }
        let (kind, index) = (self.0 >> INDEX_BITS, self.0 & MAX_INDEX as u32);
        (index & !DIGEST_LOW) << KIND_BITS | kind << DIGEST_BITS | index & DIGEST_LOW
    }
}

/// An event in its order: its time in nanoseconds, a sequence number, and the [`AgendaEvent`].
type Key = u128;

/// Later than all events: no event.
const ABSENT: Key = Key::MAX;

/// The time of an entry, in nanoseconds.
const fn nanos(key: Key) -> u64 {
    (key >> 64) as u64
}

/// The event of an entry.
const fn event(key: Key) -> AgendaEvent {
    AgendaEvent(key as u32 & ((1 << WHAT_BITS) - 1))
}

/// With so many events, the near future becomes a calendar: a heap and a sorted list take fewer instructions before.
const MANY: usize = 4000;
/// With so many, if the list has refused half of all events so far, and at least [`MANY_REFUSED`], which the heap would
/// take.
const MANY_UNORDERED: usize = 200;
const MANY_REFUSED: u64 = 100_000;

/// Future events, earliest first.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    /// Arrivals and departures, as far as the list takes them, until there is a calendar.
    sorted: Sorted,
    /// The other events, or those beyond the calendar.
    heap: Heap,
    /// The near future, once [`Agenda::arrange`] found [`MANY`] events.
    calendar: Option<Box<Calendar>>,
    bursts: Bursts,
    pushed: u64,
    /// Arrivals and departures that the list did not take.
    refused: u64,
}

impl Agenda {
    /// Adds an event, unless its time is [`Time::NEVER`].
    #[inline(always)]
    pub(crate) fn push(&mut self, time: Time, what: AgendaEvent) {
        if time == Time::NEVER {
            return;
        }
        if matches!(what.kind(), Kind::Arrive | Kind::Depart) {
            return self.push_near(time, what);
        }
        let key = self.key(time, what);
        match &mut self.calendar {
            Some(calendar) => calendar.push(key, &mut self.heap),
            // a timer may be far away, and every later arrival would have to move past it
            None => self.heap.push(key),
        }
    }

    /// Adds an arrival or a departure, whose time is not [`Time::NEVER`].
    #[inline]
    pub(crate) fn push_near(&mut self, time: Time, what: AgendaEvent) {
        let key = self.key(time, what);
        if let Some(calendar) = &mut self.calendar {
            return calendar.push(key, &mut self.heap);
        }
        if self.sorted.push(key) {
            return;
        }
        if self.sorted.lacks_room() {
            return self.push_after_moving(key);
        }
        self.refused += 1;
        self.heap.push(key);
    }

    /// Adds an arrival or a departure that the list may have refused because it lacked room.
    #[cold]
    fn push_after_moving(&mut self, key: Key) {
        if !(self.sorted.make_room() && self.sorted.push(key)) {
            self.refused += 1;
            self.heap.push(key);
        }
    }

    /// The entry of the next event that is added.
    #[inline(always)]
    fn key(&mut self, time: Time, what: AgendaEvent) -> Key {
        self.pushed += 1;
        u128::from(time.as_nanos()) << 64 | u128::from(self.pushed << WHAT_BITS) | u128::from(what.0)
    }

    /// Makes a calendar of the near future if there are many events, or the list refuses most. To be called now and
    /// then: [`Agenda::push`] does not count events.
    pub(crate) fn arrange(&mut self) {
        let refuses = 2 * self.refused > self.pushed.max(2 * MANY_REFUSED);
        let many = if refuses { MANY_UNORDERED } else { MANY };
        if self.calendar.is_none() && self.sorted.len() + self.heap.len() > many {
            let keys = std::iter::from_fn(|| self.pop_key()).collect();
            self.heap = Heap::default();
            self.calendar = Some(Box::new(Calendar::new(keys, &mut self.heap)));
        }
    }

    /// Removes the earliest event; `None` if no event is left.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<(Time, AgendaEvent)> {
        let key = match &mut self.calendar {
            Some(calendar) => calendar.pop(&mut self.heap)?,
            None => self.pop_key()?,
        };
        Some((Time::from_nanos(nanos(key)), event(key)))
    }

    /// Removes the earliest entry of an agenda without a calendar.
    #[inline(always)]
    fn pop_key(&mut self) -> Option<Key> {
        let (sorted, other) = (self.sorted.first(), self.heap.close());
        if sorted < other {
            self.sorted.remove_first();
            return Some(sorted);
        }
        self.heap.take(other)
    }

    /// Calls `soon` with events that are likely to be next, and `later` with some that follow, each event about once. A
    /// large agenda knows them.
    #[inline]
    pub(crate) fn upcoming(&mut self, soon: impl FnMut(AgendaEvent), later: impl FnMut(AgendaEvent)) {
        if let Some(calendar) = &mut self.calendar {
            calendar.upcoming(soon, later);
        }
    }

    /// The time of the earliest event; [`Time::NEVER`] if no event is left.
    pub(crate) fn next(&self) -> Time {
        let near = match &self.calendar {
            Some(calendar) => calendar.first().unwrap_or(ABSENT),
            None => self.sorted.first(),
        };
        let other = self.heap.first().unwrap_or(ABSENT);
        Time::from_nanos(nanos(near.min(other)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::Duration;

    use super::*;

    #[test]
    fn equal_times_keep_the_order_of_insertion() {
        let mut agenda = Agenda::default();
        for index in 0..100 {
            agenda.push(Time::from_nanos(7), AgendaEvent::new(Kind::Wake, index));
        }
        for index in 0..100 {
            assert_eq!(agenda.pop(), Some((Time::from_nanos(7), AgendaEvent::new(Kind::Wake, index))));
        }
        assert_eq!(agenda.pop(), None);
    }

    #[test]
    fn a_popped_event_does_not_come_back() {
        let mut agenda = Agenda::default();
        agenda.push(Time::from_nanos(1), AgendaEvent::new(Kind::Run, 1));
        assert!(agenda.pop().is_some());
        assert_eq!(agenda.pop(), None);
        agenda.push(Time::from_nanos(2), AgendaEvent::new(Kind::Run, 2));
        assert_eq!(agenda.pop(), Some((Time::from_nanos(2), AgendaEvent::new(Kind::Run, 2))));
    }

    /// A run of a large network in small: each event schedules the next one of its subject, after a time of its own
    /// kind.
    #[test]
    fn a_large_agenda_has_the_order_of_a_sorted_list() {
        let mut agenda = Agenda::default();
        let mut model = std::collections::BTreeSet::new();
        let (mut pushed, mut state, mut now) = (0u64, 1u64, 0);
        let mut add =
            |agenda: &mut Agenda, model: &mut std::collections::BTreeSet<_>, at: u64, index: u32| {
                pushed += 1;
                agenda.push(Time::from_nanos(at), AgendaEvent::new(Kind::Arrive, index));
                model.insert((at, pushed, index));
            };
        for index in 0..3 * MANY as u32 {
            add(&mut agenda, &mut model, u64::from(index % 1000) * 1_000_000, index);
        }
        agenda.arrange();
        for step in 0..400_000u64 {
            assert_eq!(agenda.next().as_nanos(), model.first().map_or(u64::MAX, |(at, ..)| *at));
            let expected = model.pop_first().map(|(at, _, index)| (at, index));
            let popped = agenda.pop().map(|(at, what)| (at.as_nanos(), what.index() as u32));
            assert_eq!(popped, expected, "step {step}");
            let Some((at, index)) = popped else { break };
            now = at.max(now);
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let drawn = state >> 33;
            let ahead = match index % 8 {
                0 => 0,
                1 => drawn % 100,
                2..=5 => 1_000_000 + drawn % 8,
                6 => drawn % 20_000_000,
                _ => 200_000_000,
            };
            // at the end the agenda becomes empty, with long times between the last events
            if step < 300_000 {
                add(&mut agenda, &mut model, now + ahead, index);
            } else if index.is_multiple_of(4) {
                add(&mut agenda, &mut model, now + 1000 * ahead, index + 1);
            }
        }
        assert!(agenda.calendar.is_some());
    }

    /// Each arrival schedules the next one of its link after one of two delays, or after any time, and then the list
    /// refuses most.
    #[test]
    fn arrivals_in_no_order_get_a_calendar() {
        for (in_order, delays) in [(true, 2), (false, 10_000)] {
            let mut agenda = Agenda::default();
            let links = 2 * MANY_UNORDERED as u32;
            (0..links)
                .for_each(|link| agenda.push(Time::from_nanos(1), AgendaEvent::new(Kind::Arrive, link)));
            let mut state = 1u64;
            for _ in 0..2 * MANY_REFUSED {
                let (now, what) = agenda.pop().expect("each link has an event");
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                agenda.push(now + Duration::from_nanos(1 + (state >> 33) % delays * 1000), what);
            }
            agenda.arrange();
            assert_eq!(agenda.calendar.is_none(), in_order);
        }
    }

    /// The copies for the members of a large group: ten thousand events at one instant, each of which schedules the
    /// next one of its link beyond the last day of a new calendar.
    #[test]
    fn the_calendar_grows_to_the_delay_of_a_fan_out() {
        const MEMBERS: u32 = 10_000;
        let mut agenda = Agenda::default();
        (0..MEMBERS).for_each(|link| agenda.push(Time::from_nanos(1), AgendaEvent::new(Kind::Arrive, link)));
        agenda.arrange();
        for fan_out in 1..=6 {
            for link in 0..MEMBERS {
                let (now, what) = agenda.pop().expect("each member has an event");
                assert_eq!(what.index() as u32, link);
                agenda.push(Time::from_nanos(fan_out * 13_000_000), what);
                assert!(now < Time::from_nanos(fan_out * 13_000_000));
            }
        }
        let in_months = agenda.calendar.as_ref().expect("there are many events").in_months();
        assert_eq!((agenda.heap.len(), in_months), (0, 0), "no event is beyond the last day");
    }

    /// Some days have no other events than those that were beyond the last day.
    #[test]
    fn memory_follows_the_events_that_are_pending() {
        let mut agenda = Agenda::default();
        let subjects = 2 * MANY as u32;
        (0..subjects).for_each(|subject| {
            agenda.push(Time::from_nanos(u64::from(subject)), AgendaEvent::new(Kind::Wake, subject));
        });
        agenda.arrange();
        let mut capacities = Vec::new();
        for _ in 0..10 {
            for _ in 0..50_000 {
                let (now, what) = agenda.pop().expect("each subject has an event");
                // one in ten sleeps for a long time, the others have few days between them
                let ahead = if what.index() % 10 == 0 { 1 << 30 } else { 1 << 20 };
                agenda.push(now + Duration::from_nanos(ahead + what.index() as u64 % 64), what);
            }
            capacities.push(agenda.calendar.as_ref().expect("there are many events").capacity());
        }
        assert!(capacities[9] <= 2 * capacities[2], "{capacities:?}");
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_a_sorted_list(
            pushes in 4u8..8,
            operations in prop::collection::vec((0u8..10, 0u64..50), 1..1200),
        ) {
            let (mut agenda, mut model, mut now) = (Agenda::default(), Vec::<(u64, u32)>::new(), 0);
            for (number, (operation, ahead)) in (0u32..).zip(operations) {
                if operation < pushes {
                    // most of them as on links of few delays
                    let (kind, ahead) = match operation {
                        0 => (Kind::Wake, ahead),
                        1 => (Kind::Arrive, ahead),
                        2 => (Kind::Arrive, 1),
                        _ => (Kind::Arrive, 40 + ahead % 8),
                    };
                    agenda.push(Time::from_nanos(now + ahead), AgendaEvent::new(kind, number));
                    model.push((now + ahead, number));
                } else {
                    model.sort_unstable();
                    let due = model.first().map_or(Time::NEVER, |(time, _)| Time::from_nanos(*time));
                    prop_assert_eq!(agenda.next(), due);
                    let expected = if model.is_empty() { None } else { Some(model.remove(0)) };
                    let popped = agenda.pop().map(|(time, what)| (time.as_nanos(), what.index() as u32));
                    prop_assert_eq!(popped, expected);
                    now = popped.map_or(now, |(time, _)| time);
                }
            }
        }
    }
}
