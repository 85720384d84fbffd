//! The queue of future events (agenda).
//!
//! Events at equal times are handled in the order of insertion; there is no other guarantee. An entry is one `u128`: time, sequence number,
//! event. The agenda is a 4-ary heap. The place of a popped entry stays open until the next push fills it, so that handling one event and
//! scheduling the next is one walk down the heap instead of two.

use units::Time;

/// An event and its subject: three bits of kind and an index.
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

const INDEX_BITS: u32 = 21;
const WHAT_BITS: u32 = 24;
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
pub(crate) const MAX_INDEX: usize = (1 << INDEX_BITS) - 1;

impl AgendaEvent {
    #[inline]
    pub(crate) const fn new(kind: Kind, index: u32) -> Self {
        Self((kind as u32) << INDEX_BITS | index)
    }

    #[inline]
    pub(crate) const fn kind(self) -> Kind {
        KINDS[(self.0 >> INDEX_BITS) as usize & 7]
    }

    #[inline]
    pub(crate) const fn index(self) -> usize {
        (self.0 & MAX_INDEX as u32) as usize
    }

    #[inline]
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }
}

/// Future events, earliest first.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    heap: Vec<u128>,
    pushed: u64,
    /// The root was popped, and its place is still open.
    open: bool,
}

const ARITY: usize = 4;

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
            self.heap.push(key);
            self.sift_up(self.heap.len() - 1, key);
        }
    }

    /// Removes the earliest event; `None` if there is none.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Time, AgendaEvent)> {
        if self.open {
            self.open = false;
            let last = self.heap.pop()?;
            if self.heap.is_empty() {
                return None;
            }
            self.sift_down(last);
        }
        let key = *self.heap.first()?;
        self.open = true;
        Some((Time::from_nanos((key >> 64) as u64), AgendaEvent(key as u32 & ((1 << WHAT_BITS) - 1))))
    }

    /// The time of the earliest event; [`Time::NEVER`] if there is none.
    pub(crate) fn next(&self) -> Time {
        // if the root is open, the earliest event is among its children
        let first = if self.open { self.heap.iter().skip(1).take(ARITY).min() } else { self.heap.first() };
        first.map_or(Time::NEVER, |key| Time::from_nanos((key >> 64) as u64))
    }

    #[inline]
    fn sift_up(&mut self, mut hole: usize, key: u128) {
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = key;
    }

    /// Puts `key` at the root and moves it down to its place.
    #[inline]
    fn sift_down(&mut self, key: u128) {
        let heap = self.heap.as_mut_slice();
        let mut hole = 0;
        loop {
            let first = hole * ARITY + 1;
            let min = if let Some(four) = heap.get(first..first + ARITY) {
                // arithmetic on the comparisons avoids mispredicted branches
                let left = usize::from(four[1] < four[0]);
                let right = 2 + usize::from(four[3] < four[2]);
                let other = usize::from(four[right] < four[left]);
                first + left + (right - left) * other
            } else if first < heap.len() {
                (first + 1..heap.len()).fold(first, |best, i| if heap[i] < heap[best] { i } else { best })
            } else {
                break;
            };
            if heap[min] >= key {
                break;
            }
            heap[hole] = heap[min];
            hole = min;
        }
        heap[hole] = key;
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
