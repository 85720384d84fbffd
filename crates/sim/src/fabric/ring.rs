//! The accepted packets of a port, in the order of their arrival at the other end.

use contract::PacketId;
use units::Time;

/// An accepted packet that has not arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    pub packet: PacketId,
    pub size_bytes: u32,
    /// When its transmission starts.
    pub start: Time,
    /// When its last bit leaves.
    pub depart: Time,
    /// When its last bit arrives.
    pub arrive: Time,
}

/// A ring of slots with two cursors: the next to arrive, and the first whose transmission has not started.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// Slots; the number is a power of two, or zero.
    slots: Box<[Slot]>,
    pub head: u32,
    pub waiting: u32,
    pub tail: u32,
}

impl Ring {
    #[inline]
    pub(super) fn at(&self, cursor: u32) -> &Slot {
        &self.slots[cursor as usize & (self.slots.len() - 1)]
    }

    #[inline]
    pub(super) fn at_mut(&mut self, cursor: u32) -> &mut Slot {
        let mask = self.slots.len() - 1;
        &mut self.slots[cursor as usize & mask]
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head) as usize
    }

    /// The next slot, to be filled.
    #[inline]
    pub(super) fn claim(&mut self) -> &mut Slot {
        if self.len() == self.slots.len() {
            self.grow();
        }
        let tail = self.tail;
        self.tail = tail.wrapping_add(1);
        self.at_mut(tail)
    }

    #[cold]
    fn grow(&mut self) {
        let (len, started) = (self.len(), self.waiting.wrapping_sub(self.head));
        let mut slots = Vec::with_capacity((len * 2).max(4));
        slots.extend((0..len).map(|i| *self.at(self.head.wrapping_add(i as u32))));
        slots.resize(slots.capacity().next_power_of_two(), Slot::default());
        (self.slots, self.head, self.waiting, self.tail) = (slots.into_boxed_slice(), 0, started, len as u32);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        (0..self.len() as u32).map(|i| self.at(self.head.wrapping_add(i)))
    }
}
