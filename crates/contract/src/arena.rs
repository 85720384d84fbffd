//! The packet arena: packets have a fixed place, and events carry their ids.

use crate::{Packet, PacketId};

/// Slots for packets, with a free list. There is no allocation once the memory suffices for all packets in flight.
#[derive(Debug, Default)]
pub struct Arena {
    slots: Vec<Packet>,
    free: Vec<PacketId>,
}

impl Arena {
    /// An empty arena.
    pub const fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    /// An empty arena in the memory of `list`, so that no copy of all packets is made up to its capacity. A slot takes
    /// memory when it is used first.
    pub fn in_memory_of(mut list: Vec<Packet>) -> Self {
        list.clear();
        Self { slots: list, free: Vec::new() }
    }

    /// Takes a slot for `packet`.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        match self.free.pop() {
            Some(id) => {
                self.slots[id.index()] = packet;
                id
            }
            None => {
                let id = PacketId(u32::try_from(self.slots.len()).expect("fewer than 2³² packets in flight"));
                self.slots.push(packet);
                id
            }
        }
    }

    /// Takes a slot for a copy of `packet`.
    #[inline]
    pub fn insert_copy(&mut self, packet: &Packet) -> PacketId {
        match self.free.pop() {
            Some(id) => {
                self.slots[id.index()] = *packet;
                id
            }
            None => self.insert(*packet),
        }
    }

    /// Frees the slot. The id must be live.
    #[inline]
    pub fn release(&mut self, id: PacketId) {
        self.free.push(id);
    }

    /// The packet in a live slot.
    #[inline]
    pub fn get(&self, id: PacketId) -> &Packet {
        &self.slots[id.index()]
    }

    /// The packet in a slot that may not be live; `None` if there never was one.
    #[inline]
    pub fn slot(&self, id: PacketId) -> Option<&Packet> {
        self.slots.get(id.index())
    }

    /// The packet in a live slot, for modification.
    #[inline]
    pub fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.slots[id.index()]
    }

    /// The packets in live slots. It takes time and memory for all slots.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        let mut live = vec![true; self.slots.len()];
        self.free.iter().for_each(|id| live[id.index()] = false);
        self.slots.iter().zip(live).filter_map(|(packet, live)| live.then_some(packet))
    }

    /// Slots, in use or not.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Slots in use.
    pub fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
