//! A queue of slot numbers from which any can be removed.
//!
//! Slots are added at the end and have consecutive numbers in the queue. One that is removed leaves a gap, and gaps at
//! the front are skipped, so that adding, removing and finding the first take constant time and touch no other slot. A
//! full ring closes its gaps, which changes the numbers, and doubles if it is more than a quarter full then.

use memory::filled_in_large_pages;

/// A ring of slots. The first one is no gap.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    /// The number of the first slot, and of the next one.
    head: u32,
    tail: u32,
    /// Slots by number; the length is a power of two, or zero. [`GAP`] is a gap.
    slots: Box<[u32]>,
}

/// No slot.
pub(super) const GAP: u32 = u32::MAX;
/// Slots of a ring at first.
const FIRST: usize = 8;

impl Ring {
    /// The place of a number.
    #[inline]
    const fn place(&self, number: u32) -> usize {
        number as usize & self.slots.len().wrapping_sub(1)
    }

    /// Whether [`Ring::make_room`] must be called before a slot is added.
    #[inline]
    pub(super) const fn is_full(&self) -> bool {
        self.tail.wrapping_sub(self.head) as usize == self.slots.len()
    }

    /// The first slot.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        self.slots.get(self.place(self.head)).filter(|_| self.head != self.tail).copied()
    }

    /// The slot with a number; a gap or any other slot if no slot has it. The ring must have had slots.
    #[inline]
    pub(super) fn at(&self, number: u32) -> u32 {
        self.slots[self.place(number)]
    }

    /// The number of the first slot, or of the next one if the ring is empty.
    #[inline]
    pub(super) const fn head(&self) -> u32 {
        self.head
    }

    /// Whether the last slot has this number.
    #[inline]
    pub(super) const fn is_last(&self, number: u32) -> bool {
        number.wrapping_add(1) == self.tail
    }

    /// Adds a slot to a ring that is not full, and returns its number.
    #[inline]
    pub(super) fn add(&mut self, slot: u32) -> u32 {
        let number = self.tail;
        self.tail = number.wrapping_add(1);
        self.set(number, slot);
        number
    }

    /// Replaces the slot with a number.
    #[inline]
    pub(super) fn set(&mut self, number: u32, slot: u32) {
        let place = self.place(number);
        self.slots[place] = slot;
    }

    /// Removes the slot with a number. If it was the first one, returns the next, or [`GAP`].
    #[inline(always)]
    pub(super) fn remove(&mut self, number: u32) -> Option<u32> {
        let Self { slots, head, tail } = self;
        let mask = slots.len().wrapping_sub(1);
        slots[number as usize & mask] = GAP;
        if number != *head {
            return None;
        }
        let (mut first, mut next) = (GAP, number);
        while first == GAP {
            next = next.wrapping_add(1);
            if next == *tail {
                break;
            }
            first = slots[next as usize & mask];
        }
        *head = next;
        Some(first)
    }

    /// Closes the gaps of a full ring, and doubles it if it is still more than a quarter full. Calls `renumber` with
    /// each slot and its number.
    #[cold]
    pub(super) fn make_room(&mut self, mut renumber: impl FnMut(u32, u32)) {
        let head = self.head;
        let mut end = head;
        for number in (0..self.slots.len() as u32).map(|step| head.wrapping_add(step)) {
            let slot = self.at(number);
            if slot != GAP {
                self.set(end, slot);
                renumber(slot, end);
                end = end.wrapping_add(1);
            }
        }
        self.tail = end;
        let count = end.wrapping_sub(head);
        if 4 * count as usize >= self.slots.len() {
            let longer = filled_in_large_pages((2 * self.slots.len()).max(FIRST), GAP);
            let old = std::mem::replace(&mut self.slots, longer);
            for number in (0..count).map(|step| head.wrapping_add(step)) {
                self.set(number, old[number as usize & (old.len() - 1)]);
            }
        }
    }
}
