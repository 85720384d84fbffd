//! The content store: a cache of Data.

use contract::{Data, Name};
use memory::{prefetch, push_in_large_pages};

use super::MANY_NAMES;
use super::config::{Policy, Store as Config};
use super::ring::Ring;
use super::table::Table;

/// A cache of Data with a limited number of packets.
#[derive(Clone, Debug, Default)]
pub struct ContentStore {
    config: Config,
    index: Table,
    entries: Vec<CacheEntry>,
    /// The order of replacement.
    order: Ring,
    /// Free places.
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct CacheEntry {
    name: Name,
    size_bytes: u32,
    payload_bytes: u32,
    /// Its number in the order of replacement.
    number: u32,
}

impl ContentStore {
    /// An empty store.
    pub fn new(config: Config) -> Self {
        Self { config, ..Self::default() }
    }

    /// Whether it has capacity.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.config.policy != Policy::None && self.config.size > 0
    }

    /// Number of Data packets.
    pub const fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether it is empty.
    pub const fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The Data of a name and its size on the wire. This counts as a use.
    pub fn find(&mut self, name: Name) -> Option<(Data, u32)> {
        let slot = self.index.get(name.key())?;
        self.touch(slot);
        let entries = self.entries[slot as usize];
        Some((Data { name, payload_bytes: entries.payload_bytes }, entries.size_bytes))
    }

    /// Requests from memory what a search for a name reads first.
    #[inline]
    pub fn prefetch_place(&self, name: Name) {
        self.index.prefetch(name.key());
    }

    /// Requests the entry of a name, if there is one.
    #[inline]
    pub fn prefetch_entry(&self, name: Name) {
        if let Some(slot) = self.index.get(name.key()) {
            self.prefetch_slot(slot);
        }
    }

    /// Requests what the next replacements need.
    #[inline]
    fn prefetch_first(&self) {
        let Some(entry) = self.order.first().and_then(|first| self.entries.get(first as usize)) else {
            return;
        };
        self.prefetch_place(entry.name);
        // two each time, because of gaps
        for later in AHEAD..AHEAD + 2 {
            self.prefetch_slot(self.order.at(entry.number.wrapping_add(later)));
        }
    }

    #[inline]
    fn prefetch_slot(&self, slot: u32) {
        if let Some(entry) = self.entries.get(slot as usize) {
            prefetch(entry, 1);
        }
    }

    /// Maximum number of Data packets up to now.
    #[inline]
    pub const fn held(&self) -> usize {
        self.entries.len()
    }

    /// Whether the store contains the Data of a name. This does not count as a use.
    pub fn has(&self, name: Name) -> bool {
        self.index.get(name.key()).is_some()
    }

    /// Removes the Data of a name. Returns whether they were stored.
    pub fn forget(&mut self, name: Name) -> bool {
        let Some(slot) = self.index.remove(name.key()) else { return false };
        self.order.remove(self.entries[slot as usize].number);
        self.free.push(slot);
        true
    }

    /// Stores Data. If they are present, this counts as a use.
    pub fn insert(&mut self, data: Data, size_bytes: u32) {
        if !self.is_on() {
            return;
        }
        if let Some(slot) = self.index.get(data.name.key()) {
            return self.touch(slot);
        }
        let entry = CacheEntry { name: data.name, size_bytes, payload_bytes: data.payload_bytes, number: 0 };
        let slot = match self.order.first() {
            Some(first) if self.index.len() == self.config.size as usize => {
                self.replace(first);
                first
            }
            _ => self.free.pop().unwrap_or(self.entries.len() as u32),
        };
        match self.entries.get_mut(slot as usize) {
            Some(place) => *place = entry,
            None => push_in_large_pages(&mut self.entries, entry),
        }
        self.append(slot);
        self.index.add(data.name.key(), slot);
    }

    /// Removes the first Data in the order of replacement, which are in `slot`.
    #[inline]
    fn replace(&mut self, slot: u32) {
        let CacheEntry { name, number, .. } = self.entries[slot as usize];
        self.order.remove(number);
        self.index.remove(name.key());
        if self.entries.len() >= MANY_NAMES {
            self.prefetch_first();
        }
    }

    #[inline]
    fn touch(&mut self, slot: u32) {
        let number = self.entries[slot as usize].number;
        if self.config.policy == Policy::Lru && !self.order.is_last(number) {
            self.order.remove(number);
            self.append(slot);
        }
    }

    /// Puts a slot last in the order of replacement.
    #[inline]
    fn append(&mut self, slot: u32) {
        let Self { order, entries, .. } = self;
        if order.is_full() {
            order.make_room(|slot, number| entries[slot as usize].number = number);
        }
        entries[slot as usize].number = order.add(slot);
    }
}

/// Entries are requested so many replacements before they are replaced, at least.
const AHEAD: u32 = 4;

#[cfg(test)]
mod tests {
    use contract::NameId;
    use proptest::prelude::*;

    use super::*;

    fn data(segment: u64) -> Data {
        Data { name: Name { prefix: NameId(1), segment }, payload_bytes: 1000 + segment as u32 }
    }

    fn store(policy: Policy, size: u32) -> ContentStore {
        ContentStore::new(Config { policy, size })
    }

    #[test]
    fn lru_keeps_requested_data_and_fifo_evicts_in_order() {
        for (policy, left) in [(Policy::Lru, [0, 2, 3]), (Policy::Fifo, [1, 2, 3])] {
            let mut store = store(policy, 3);
            (0..3).for_each(|segment| store.insert(data(segment), 1100));
            assert_eq!(store.find(data(0).name), Some((data(0), 1100)));
            store.insert(data(3), 1100);
            let held: Vec<u64> = (0..4).filter(|&segment| store.find(data(segment).name).is_some()).collect();
            assert_eq!(held, left, "{policy:?}");
        }
    }

    #[test]
    fn a_store_of_size_zero_keeps_nothing() {
        for mut store in [store(Policy::None, 10), store(Policy::Lru, 0)] {
            store.insert(data(0), 1100);
            assert!(store.find(data(0).name).is_none() && store.is_empty() && !store.is_on());
        }
    }

    proptest! {
        #[test]
        fn the_store_equals_a_plain_list(
            lru in any::<bool>(),
            size in 1u32..6,
            ops in prop::collection::vec((0u32..10, 0u64..10), 1..200),
        ) {
            let mut store = store(if lru { Policy::Lru } else { Policy::Fifo }, size);
            let mut model: Vec<u64> = Vec::new();
            for (op, segment) in ops {
                let at = model.iter().position(|&known| known == segment);
                let insert = op < 5;
                prop_assert_eq!(store.has(data(segment).name), at.is_some());
                if op == 9 {
                    prop_assert_eq!(store.forget(data(segment).name), at.is_some());
                    model.retain(|&known| known != segment);
                    prop_assert_eq!(store.len(), model.len());
                    continue;
                }
                if insert {
                    store.insert(data(segment), segment as u32);
                } else {
                    prop_assert_eq!(store.find(data(segment).name), at.map(|_| (data(segment), segment as u32)));
                }
                match at {
                    Some(at) if lru => {
                        model.remove(at);
                        model.push(segment);
                    }
                    None if insert => {
                        if model.len() == size as usize {
                            model.remove(0);
                        }
                        model.push(segment);
                    }
                    _ => {}
                }
                prop_assert_eq!(store.len(), model.len());
            }
        }
    }
}
