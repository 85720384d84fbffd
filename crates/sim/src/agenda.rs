//! The queue of future events (agenda).
//!
//! Events at equal times are handled in the order of insertion; there is no other guarantee. An entry is one `u128`: time, sequence number,
//! event. The agenda is a 4-ary heap, whose four children of an entry are one cache line. The place of a popped entry stays open until the next
//! push fills it, so that handling one event and scheduling the next is one walk down the heap instead of two.

use units::Time;

/// An event and its subject: the low bits of an index, three bits of kind, and the high bits of the index.
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
    /// A port with a queue discipline has finished a transmission.
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

/// Of the index, the bits below the kind, and those above.
const LOW_BITS: u32 = 21;
const HIGH_BITS: u32 = 2;
const KIND_BITS: u32 = 3;
const WHAT_BITS: u32 = LOW_BITS + KIND_BITS + HIGH_BITS;
const LOW: u32 = (1 << LOW_BITS) - 1;
const KINDS: [Kind; 8] = [
    Kind::Arrive,
    Kind::Wake,
    Kind::Depart,
    Kind::Change,
    Kind::ToggleFlow,
    Kind::ToggleReceiver,
    Kind::Sample,
    Kind::Run,
];

/// Maximum number of ports, of endpoints and of changes.
pub(crate) const MAX_INDEX: usize = (1 << (LOW_BITS + HIGH_BITS)) - 1;

impl AgendaEvent {
    #[inline]
    pub(crate) const fn new(kind: Kind, index: u32) -> Self {
        let high = (index & !LOW) << KIND_BITS;
        Self(high | (kind as u32) << LOW_BITS | index & LOW)
    }

    #[inline]
    pub(crate) const fn kind(self) -> Kind {
        KINDS[(self.0 >> LOW_BITS) as usize & 7]
    }

    #[inline]
    pub(crate) const fn index(self) -> usize {
        (self.0 >> KIND_BITS & !LOW | self.0 & LOW) as usize
    }

    #[inline]
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }
}

/// Future events, earliest first.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    /// The entry at place `p` is number `p % 4` of family `p / 4`. The root is at place [`ROOT`], and the children of place `p` are family
    /// `p - 2`. Places without an entry are [`ABSENT`].
    families: Vec<Family>,
    /// One past the last place with an entry; [`ROOT`] or zero if there is none.
    end: usize,
    pushed: u64,
    /// The root was popped, and its place is still open.
    open: bool,
}

/// Four entries with the same parent.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Family([u128; ARITY]);

const ARITY: usize = 4;
const ROOT: usize = 3;
/// Later than all events.
const ABSENT: u128 = u128::MAX;

impl Agenda {
    /// Adds an event, unless its time is [`Time::NEVER`].
    #[inline]
    pub(crate) fn push(&mut self, time: Time, what: AgendaEvent) {
        if time == Time::NEVER {
            return;
        }
        self.pushed += 1;
        let key =
            u128::from(time.as_nanos()) << 64 | u128::from(self.pushed << WHAT_BITS) | u128::from(what.0);
        if self.open {
            self.open = false;
            self.sift_down(key);
        } else {
            self.append(key);
        }
    }

    /// Removes the earliest event; `None` if there is none.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Time, AgendaEvent)> {
        if self.open {
            self.open = false;
            self.end -= 1;
            let last = std::mem::replace(self.at(self.end), ABSENT);
            if self.end > ROOT {
                self.sift_down(last);
            }
        }
        if self.end <= ROOT {
            return None;
        }
        let key = *self.at(ROOT);
        self.open = true;
        Some((Time::from_nanos((key >> 64) as u64), AgendaEvent(key as u32 & ((1 << WHAT_BITS) - 1))))
    }

    /// The time of the earliest event; [`Time::NEVER`] if there is none.
    pub(crate) fn next(&self) -> Time {
        // if the root is open, the earliest event is among its children
        let first = match self.families.get(usize::from(self.open)) {
            Some(Family(children)) if self.open => children.iter().copied().min().unwrap_or(ABSENT),
            Some(Family(top)) => top[ROOT],
            None => ABSENT,
        };
        Time::from_nanos((first >> 64) as u64)
    }

    #[inline]
    fn at(&mut self, place: usize) -> &mut u128 {
        &mut self.families[place / ARITY].0[place % ARITY]
    }

    /// Adds an entry at the end and moves it up to its place.
    fn append(&mut self, key: u128) {
        let mut hole = self.end.max(ROOT);
        self.end = hole + 1;
        if hole / ARITY == self.families.len() {
            self.families.push(Family([ABSENT; ARITY]));
        }
        while hole > ROOT {
            let parent = hole / ARITY + 2;
            let above = *self.at(parent);
            if above <= key {
                break;
            }
            *self.at(hole) = above;
            hole = parent;
        }
        *self.at(hole) = key;
    }

    /// Puts `key` at the root and moves it down to its place.
    #[inline]
    fn sift_down(&mut self, key: u128) {
        let families = self.families.as_mut_slice();
        let mut hole = ROOT;
        while let Some(Family(four)) = families.get(hole - 2) {
            // arithmetic on the comparisons avoids mispredicted branches
            let left = usize::from(four[1] < four[0]);
            let right = 2 + usize::from(four[3] < four[2]);
            let other = usize::from(four[right] < four[left]);
            let min = left + (right - left) * other;
            let first = four[min];
            if first >= key {
                break;
            }
            families[hole / ARITY].0[hole % ARITY] = first;
            hole = (hole - 2) * ARITY + min;
        }
        families[hole / ARITY].0[hole % ARITY] = key;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn the_order_is_that_of_a_sorted_list(operations in prop::collection::vec((any::<bool>(), 0u64..50), 1..400)) {
            let (mut agenda, mut model, mut now) = (Agenda::default(), Vec::<(u64, u32)>::new(), 0);
            for (number, (push, ahead)) in (0u32..).zip(operations) {
                if push {
                    agenda.push(Time::from_nanos(now + ahead), AgendaEvent::new(Kind::Arrive, number));
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
