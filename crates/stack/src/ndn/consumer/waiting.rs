//! The pending segments of a consumer; memory is proportional to their number.

use units::Time;

use crate::ndn::Table;

/// The pending segments by name, and in three queues: held by a coarse clock, requested, to be retransmitted.
///
/// They are in a slab with a table beside it; the slots of removed segments are reused. The queue of requested segments
/// is in the order of their departures, so that only its head can expire next.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    slots: Vec<Segment>,
    free: u32,
    table: Table,
    queues: [List; SegmentQueue::COUNT],
}

/// A pending segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    /// Its number under the prefix.
    pub(super) segment: u64,
    /// Its position in the order of requests, from 1.
    pub(super) order: u64,
    /// When its first Interest left; [`Time::NEVER`] before.
    pub(super) first_at: Time,
    /// When its last Interest left.
    pub(super) sent_at: Time,
    /// Nonce of the last Interest.
    pub(super) nonce: u32,
    /// Number of Interests that left for it.
    pub(super) tries: u32,
    /// The queue that it is in.
    pub(super) queue: SegmentQueue,
    /// The source that it is charged to, of controllers with a window for each.
    pub(super) source: u32,
    previous: u32,
    next: u32,
}

/// The queue of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentQueue {
    /// Held for the next tick of the clock, or for its jitter.
    Held,
    /// Requested.
    Out,
    /// Expired or refused, to be retransmitted.
    Retransmit,
    /// No queue.
    None,
}

impl SegmentQueue {
    const COUNT: usize = 3;
}

#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
    len: u32,
}

/// No slot.
const NONE: u32 = u32::MAX;

impl Waiting {
    pub(super) fn new() -> Self {
        let empty = List { first: NONE, last: NONE, len: 0 };
        Self { slots: Vec::new(), free: NONE, table: Table::new(), queues: [empty; SegmentQueue::COUNT] }
    }

    /// The slot of a segment.
    #[inline]
    pub(super) fn find(&self, segment: u64) -> Option<u32> {
        self.table.get(segment)
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> &Segment {
        &self.slots[slot as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, slot: u32) -> &mut Segment {
        &mut self.slots[slot as usize]
    }

    /// Adds a segment without a queue; `None` if it is pending already.
    #[inline]
    pub(super) fn add(&mut self, segment: u64, order: u64) -> Option<u32> {
        let slot = if self.free == NONE { self.slots.len() as u32 } else { self.free };
        if !self.table.get_or_insert_with(segment, || slot).1 {
            return None;
        }
        let new = Segment {
            segment,
            order,
            first_at: Time::NEVER,
            sent_at: Time::NEVER,
            nonce: 0,
            tries: 0,
            queue: SegmentQueue::None,
            source: 0,
            previous: NONE,
            next: NONE,
        };
        if self.free == NONE {
            self.slots.push(new);
        } else {
            let entry = &mut self.slots[slot as usize];
            self.free = entry.next;
            *entry = new;
        }
        Some(slot)
    }

    /// Removes a segment.
    #[inline]
    pub(super) fn remove(&mut self, slot: u32) {
        self.leave(slot);
        self.table.remove(self.slots[slot as usize].segment);
        self.slots[slot as usize].next = self.free;
        self.free = slot;
    }

    /// Moves a segment to the end of a queue.
    #[inline]
    pub(super) fn join(&mut self, slot: u32, queue: SegmentQueue) {
        self.leave(slot);
        let list = &mut self.queues[queue as usize];
        let previous = std::mem::replace(&mut list.last, slot);
        list.len += 1;
        if previous == NONE {
            list.first = slot;
        } else {
            self.slots[previous as usize].next = slot;
        }
        let segment = &mut self.slots[slot as usize];
        (segment.queue, segment.previous, segment.next) = (queue, previous, NONE);
    }

    #[inline]
    fn leave(&mut self, slot: u32) {
        let Segment { queue, previous, next, .. } = self.slots[slot as usize];
        if queue == SegmentQueue::None {
            return;
        }
        let list = &mut self.queues[queue as usize];
        list.len -= 1;
        if previous == NONE {
            list.first = next;
        } else {
            self.slots[previous as usize].next = next;
        }
        if next == NONE {
            self.queues[queue as usize].last = previous;
        } else {
            self.slots[next as usize].previous = previous;
        }
        self.slots[slot as usize].queue = SegmentQueue::None;
    }

    /// The first segment of a queue.
    #[inline]
    pub(super) fn first(&self, queue: SegmentQueue) -> Option<u32> {
        Some(self.queues[queue as usize].first).filter(|&slot| slot != NONE)
    }

    /// The one behind it in its line.
    #[inline]
    pub(super) fn next_in_queue(&self, slot: u32) -> Option<u32> {
        Some(self.slots[slot as usize].next).filter(|&slot| slot != NONE)
    }

    /// Number of segments in a queue.
    #[inline]
    pub(super) fn count(&self, queue: SegmentQueue) -> u32 {
        self.queues[queue as usize].len
    }

    /// Size of the slab, free slots included.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Op {
        Add(u64),
        Remove(u64),
        Join(u64, SegmentQueue),
    }

    fn op() -> impl Strategy<Value = Op> {
        let queue =
            prop_oneof![Just(SegmentQueue::Held), Just(SegmentQueue::Out), Just(SegmentQueue::Retransmit)];
        prop_oneof![
            3 => (0u64..12).prop_map(Op::Add),
            2 => (0u64..12).prop_map(Op::Remove),
            5 => (0u64..12, queue).prop_map(|(segment, queue)| Op::Join(segment, queue)),
        ]
    }

    proptest! {
        #[test]
        fn queues_keep_their_order_and_slots_are_reused(ops in prop::collection::vec(op(), 1..200)) {
            let mut waiting = Waiting::new();
            let mut queues: [VecDeque<u64>; 3] = Default::default();
            let mut known: Vec<u64> = Vec::new();
            for op in ops {
                match op {
                    Op::Add(segment) => {
                        let new = !known.contains(&segment);
                        prop_assert_eq!(waiting.add(segment, 1).is_some(), new);
                        if new {
                            known.push(segment);
                        }
                    }
                    Op::Remove(segment) => {
                        if let Some(slot) = waiting.find(segment) {
                            waiting.remove(slot);
                        }
                        known.retain(|one| *one != segment);
                        queues.iter_mut().for_each(|queue| queue.retain(|one| *one != segment));
                    }
                    Op::Join(segment, queue) => {
                        let Some(slot) = waiting.find(segment) else { continue };
                        waiting.join(slot, queue);
                        queues.iter_mut().for_each(|queue| queue.retain(|one| *one != segment));
                        queues[queue as usize].push_back(segment);
                    }
                }
                for queue in [SegmentQueue::Held, SegmentQueue::Out, SegmentQueue::Retransmit] {
                    let (mut walked, mut at) = (Vec::new(), waiting.queues[queue as usize].first);
                    while at != NONE {
                        walked.push(waiting.get(at).segment);
                        at = waiting.get(at).next;
                    }
                    prop_assert_eq!(&queues[queue as usize], &walked);
                    prop_assert_eq!(waiting.count(queue) as usize, walked.len());
                    let first = waiting.first(queue).map(|slot| waiting.get(slot).segment);
                    prop_assert_eq!(first, walked.first().copied());
                }
                prop_assert!(waiting.capacity() <= 12);
                for segment in 0..12 {
                    prop_assert_eq!(waiting.find(segment).is_some(), known.contains(&segment));
                }
            }
        }
    }
}
