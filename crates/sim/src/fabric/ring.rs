//! The accepted packets of a port, in the order of their arrival at the other end.
//!
//! A ring that has become empty starts again at its first slot, so that an access link uses the same cache lines for
//! every packet. What it needed for a burst goes back to the [`Spare`] rings of the network: memory grows with the
//! packets on links, not with the largest burst of every port. In a network whose ports do not fit into the caches, an
//! empty ring gives back all its slots, and the next packet on any idle link takes those that were used last, which are
//! in the caches.

use contract::PacketId;
use units::Time;

use memory::{filled_in_large_pages, prefetch};

/// An accepted packet that has not arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// Slots of a ring at first.
const FIRST: usize = 4;
/// A ring keeps this many slots when it becomes empty: enough for the usual burst of an access link, and none in a
/// network whose ports do not fit into the caches.
const KEPT: usize = 16;
const KEPT_BY_MANY: usize = 0;
/// More slots than these are freed, because few ports need so many.
const LARGEST_SPARE: usize = 1024;

/// Slots that no ring uses.
#[derive(Debug, Default)]
pub(super) struct Spare {
    /// By the power of two of their number.
    slots: Vec<Vec<Box<[Slot]>>>,
    /// An empty ring gives back more slots than these.
    kept: usize,
}

impl Spare {
    /// No slots yet, for the rings of few or of `many` ports.
    pub(super) const fn new(many: bool) -> Self {
        Self { slots: Vec::new(), kept: if many { KEPT_BY_MANY } else { KEPT } }
    }

    /// `count` slots, a power of two.
    fn take(&mut self, count: usize) -> Box<[Slot]> {
        let spare = self.slots.get_mut(count.trailing_zeros() as usize).and_then(Vec::pop);
        spare.unwrap_or_else(|| filled_in_large_pages(count, Slot::default()))
    }

    /// Keeps slots for another ring.
    #[inline(never)]
    fn give(&mut self, slots: Box<[Slot]>) {
        if slots.is_empty() || slots.len() > LARGEST_SPARE {
            return;
        }
        let class = slots.len().trailing_zeros() as usize;
        if self.slots.len() <= class {
            self.slots.resize_with(class + 1, Vec::new);
        }
        self.slots[class].push(slots);
    }
}

/// A ring of slots with two cursors: the next to arrive, and the first whose transmission has not started.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// Slots; the number is a power of two, or zero.
    slots: Box<[Slot]>,
    pub head: u32,
    pub waiting: u32,
    pub tail: u32,
    /// The packet that arrives first, so that its slot need not be read; any packet if the ring is empty.
    pub first: PacketId,
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

    /// Adds a packet with the times of its transmission, field by field: a copy of a slot would stall on its own
    /// stores.
    #[inline(always)]
    pub(super) fn push(
        &mut self,
        (packet, size_bytes): (PacketId, u32),
        (start, depart, arrive): (Time, Time, Time),
        spare: &mut Spare,
    ) {
        let slot = self.claim(spare);
        slot.packet = packet;
        slot.size_bytes = size_bytes;
        slot.start = start;
        slot.depart = depart;
        slot.arrive = arrive;
    }

    /// The next slot, to be filled.
    #[inline(always)]
    fn claim(&mut self, spare: &mut Spare) -> &mut Slot {
        if self.len() == self.slots.len() {
            self.grow(spare);
        }
        let tail = self.tail;
        self.tail = tail.wrapping_add(1);
        self.at_mut(tail)
    }

    #[cold]
    fn grow(&mut self, spare: &mut Spare) {
        let (len, started) = (self.len(), self.waiting.wrapping_sub(self.head));
        let mut slots = spare.take((len * 2).max(FIRST));
        (0..len).for_each(|i| slots[i] = *self.at(self.head.wrapping_add(i as u32)));
        spare.give(std::mem::replace(&mut self.slots, slots));
        (self.head, self.waiting, self.tail) = (0, started, len as u32);
    }

    /// Begins again at the first slot of the empty ring.
    #[inline]
    pub(super) fn restart(&mut self, spare: &mut Spare) {
        (self.head, self.waiting, self.tail) = (0, 0, 0);
        if self.slots.len() > spare.kept {
            spare.give(std::mem::take(&mut self.slots));
        }
    }

    /// Replaces the packets by the packets of another ring, all of which have started.
    pub(super) fn copy_from(&mut self, other: &Self, spare: &mut Spare) {
        self.restart(spare);
        for slot in other.iter() {
            *self.claim(spare) = *slot;
        }
        (self.waiting, self.first) = (self.tail, other.first);
    }

    /// Gives up its slots and packets.
    pub(super) fn give(&mut self, spare: &mut Spare) {
        spare.give(std::mem::take(&mut self.slots));
    }

    /// Requests the slot of the packet that arrives first.
    #[inline]
    pub(super) fn prefetch(&self) {
        self.request(self.head);
    }

    /// Requests the next slot to be filled.
    #[inline]
    pub(super) fn prefetch_next(&self) {
        self.request(self.tail);
    }

    #[inline]
    fn request(&self, cursor: u32) {
        if let Some(slot) = self.slots.get(cursor as usize & self.slots.len().wrapping_sub(1)) {
            prefetch(slot, 1);
        }
    }

    /// Requests the slot of the packet that arrives `ahead` packets after the first, if there are so many.
    #[inline]
    pub(super) fn prefetch_ahead(&self, ahead: u32) {
        if self.len() > ahead as usize {
            self.request(self.head.wrapping_add(ahead));
        }
    }

    /// The packet that arrives `ahead` packets after the first; `None` if there are fewer.
    #[inline]
    pub(super) fn ahead(&self, ahead: u32) -> Option<PacketId> {
        (self.len() > ahead as usize).then(|| self.at(self.head.wrapping_add(ahead)).packet)
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Slot> {
        (0..self.len() as u32).map(|i| self.at(self.head.wrapping_add(i)))
    }
}
