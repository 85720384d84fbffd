//! The content store: a cache of Data.

use contract::{Data, Name};

use super::config::{Policy, Store as Config};
use super::table::Table;

/// A cache of Data with a limited number of packets.
#[derive(Clone, Debug, Default)]
pub struct ContentStore {
    config: Config,
    places: Table,
    /// The packets, linked in a ring in the order of replacement.
    kept: Vec<Kept>,
    first: u32,
    last: u32,
    /// Free places.
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    name: Name,
    size_bytes: u32,
    payload_bytes: u32,
    before: u32,
    after: u32,
}

const NONE: u32 = u32::MAX;

impl ContentStore {
    /// An empty store.
    pub fn new(config: Config) -> Self {
        Self { config, first: NONE, last: NONE, ..Self::default() }
    }

    /// Whether it has capacity.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.config.policy != Policy::None && self.config.size > 0
    }

    /// Number of Data packets.
    pub const fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether it is empty.
    pub const fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The Data of a name and its size on the wire. This counts as a use.
    pub fn find(&mut self, name: Name) -> Option<(Data, u32)> {
        let place = self.places.get(name.key())?;
        self.touch(place);
        let kept = self.kept[place as usize];
        Some((Data { name, payload_bytes: kept.payload_bytes }, kept.size_bytes))
    }

    /// Whether the store contains the Data of a name. This does not count as a use.
    pub fn has(&self, name: Name) -> bool {
        self.places.get(name.key()).is_some()
    }

    /// Removes the Data of a name. Returns whether they were there.
    pub fn forget(&mut self, name: Name) -> bool {
        let Some(place) = self.places.remove(name.key()) else { return false };
        self.unlink(place);
        self.free.push(place);
        true
    }

    /// Stores Data. If they are present, this counts as a use.
    pub fn keep(&mut self, data: Data, size_bytes: u32) {
        if !self.is_on() {
            return;
        }
        if let Some(place) = self.places.get(data.name.key()) {
            return self.touch(place);
        }
        let kept = Kept {
            name: data.name,
            size_bytes,
            payload_bytes: data.payload_bytes,
            before: NONE,
            after: NONE,
        };
        let place = if self.places.len() < self.config.size as usize {
            if let Some(free) = self.free.pop() {
                self.kept[free as usize] = kept;
                free
            } else {
                self.kept.push(kept);
                self.kept.len() as u32 - 1
            }
        } else {
            let place = self.first;
            self.unlink(place);
            self.places.remove(self.kept[place as usize].name.key());
            self.kept[place as usize] = kept;
            place
        };
        self.append(place);
        self.places.insert(data.name.key(), place);
    }

    fn touch(&mut self, place: u32) {
        if self.config.policy == Policy::Lru && self.last != place {
            self.unlink(place);
            self.append(place);
        }
    }

    fn unlink(&mut self, place: u32) {
        let Kept { before, after, .. } = self.kept[place as usize];
        match self.kept.get_mut(before as usize) {
            Some(kept) => kept.after = after,
            None => self.first = after,
        }
        match self.kept.get_mut(after as usize) {
            Some(kept) => kept.before = before,
            None => self.last = before,
        }
    }

    fn append(&mut self, place: u32) {
        let last = std::mem::replace(&mut self.last, place);
        match self.kept.get_mut(last as usize) {
            Some(kept) => kept.after = place,
            None => self.first = place,
        }
        let kept = &mut self.kept[place as usize];
        (kept.before, kept.after) = (last, NONE);
    }
}

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
            (0..3).for_each(|segment| store.keep(data(segment), 1100));
            assert_eq!(store.find(data(0).name), Some((data(0), 1100)));
            store.keep(data(3), 1100);
            let held: Vec<u64> = (0..4).filter(|&segment| store.find(data(segment).name).is_some()).collect();
            assert_eq!(held, left, "{policy:?}");
        }
    }

    #[test]
    fn a_store_of_size_zero_keeps_nothing() {
        for mut store in [store(Policy::None, 10), store(Policy::Lru, 0)] {
            store.keep(data(0), 1100);
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
                let keep = op < 5;
                prop_assert_eq!(store.has(data(segment).name), at.is_some());
                if op == 9 {
                    prop_assert_eq!(store.forget(data(segment).name), at.is_some());
                    model.retain(|&known| known != segment);
                    prop_assert_eq!(store.len(), model.len());
                    continue;
                }
                if keep {
                    store.keep(data(segment), segment as u32);
                } else {
                    prop_assert_eq!(store.find(data(segment).name), at.map(|_| (data(segment), segment as u32)));
                }
                match at {
                    Some(at) if lru => {
                        model.remove(at);
                        model.push(segment);
                    }
                    None if keep => {
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
