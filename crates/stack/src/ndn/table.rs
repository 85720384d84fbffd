//! The one hash table of the forwarder: from a key of 64 bits to the number of a slot elsewhere.
//!
//! Open addressing with linear probing and a multiplicative hash; a removal shifts back what follows, so that nothing is left behind
//! and look-ups never grow slower with time. The same on every machine; iteration is not offered. It grows by doubling and does not
//! shrink.

/// From keys to numbers below `u32::MAX`.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// A power of two of them, or none.
    cells: Box<[Cell]>,
    /// 64 less the binary logarithm of their number.
    shift: u32,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    key: u64,
    value: u32,
}

/// The value of an empty cell.
const EMPTY: u32 = u32::MAX;
const FREE: Cell = Cell { key: 0, value: EMPTY };
/// 2⁶⁴ divided by the golden ratio: consecutive keys are spread as evenly as any numbers can be.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// The table grows when more than five of eight cells are taken: from there on probes get long.
const FULL: usize = 5;
const OF: usize = 8;

impl Table {
    /// A table with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many keys it holds.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of `key`.
    #[inline]
    pub fn get(&self, key: u64) -> Option<u32> {
        if self.cells.is_empty() {
            return None;
        }
        let at = self.probe(key);
        Some(self.cells[at].value).filter(|&value| value != EMPTY)
    }

    /// The number of `key`; if it has none, the one that `make` gives, and true.
    #[inline]
    pub fn get_or_insert_with(&mut self, key: u64, make: impl FnOnce() -> u32) -> (u32, bool) {
        if (self.len + 1) * OF > self.cells.len() * FULL {
            self.grow();
        }
        let at = self.probe(key);
        let cell = &mut self.cells[at];
        if cell.value != EMPTY {
            return (cell.value, false);
        }
        let value = make();
        debug_assert!(value != EMPTY, "numbers are below u32::MAX");
        *cell = Cell { key, value };
        self.len += 1;
        (value, true)
    }

    /// Gives `key` the number `value`.
    pub fn insert(&mut self, key: u64, value: u32) {
        let (old, new) = self.get_or_insert_with(key, || value);
        if !new && old != value {
            let at = self.probe(key);
            self.cells[at].value = value;
        }
    }

    /// Takes `key` out. Its number, if it had one.
    #[inline]
    pub fn remove(&mut self, key: u64) -> Option<u32> {
        if self.cells.is_empty() {
            return None;
        }
        let mut hole = self.probe(key);
        let value = self.cells[hole].value;
        if value == EMPTY {
            return None;
        }
        self.len -= 1;
        let mask = self.cells.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let cell = self.cells[at];
            if cell.value == EMPTY {
                break;
            }
            // a key may move back to the hole if its own place does not lie after it
            let home = self.home(cell.key);
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.cells[hole] = cell;
                hole = at;
            }
        }
        self.cells[hole] = FREE;
        Some(value)
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        self.cells.fill(FREE);
        self.len = 0;
    }

    /// Where a key would stand if nobody were in its way.
    #[inline]
    fn home(&self, key: u64) -> usize {
        (key.wrapping_mul(SPREAD) >> self.shift) as usize
    }

    /// The cell of a key, or the empty one that ends the search. There is an empty one: the table is never full.
    #[inline]
    fn probe(&self, key: u64) -> usize {
        let mask = self.cells.len() - 1;
        let mut at = self.home(key);
        loop {
            let cell = &self.cells[at & mask];
            if cell.key == key || cell.value == EMPTY {
                return at & mask;
            }
            at += 1;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let cells = (self.cells.len() * 2).max(8);
        let old = std::mem::replace(&mut self.cells, vec![FREE; cells].into_boxed_slice());
        self.shift = 64 - cells.trailing_zeros();
        for cell in old.iter().filter(|cell| cell.value != EMPTY) {
            let at = self.probe(cell.key);
            self.cells[at] = *cell;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Op {
        Insert(u64, u32),
        Claim(u64, u32),
        Remove(u64),
        Get(u64),
        Clear,
    }

    /// Few keys, so that they meet; some that share their home cell in a small table, and zero, which an empty cell holds too.
    fn key() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..40, (0u64..20).prop_map(|i| i << 40), any::<u64>()]
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![
            4 => (key(), 0u32..1000).prop_map(|(k, v)| Op::Insert(k, v)),
            4 => (key(), 0u32..1000).prop_map(|(k, v)| Op::Claim(k, v)),
            6 => key().prop_map(Op::Remove),
            3 => key().prop_map(Op::Get),
            1 => Just(Op::Clear),
        ]
    }

    proptest! {
        #[test]
        fn it_is_a_map(ops in prop::collection::vec(op(), 1..400)) {
            let (mut table, mut model) = (Table::new(), BTreeMap::new());
            for op in ops {
                match op {
                    Op::Insert(key, value) => {
                        table.insert(key, value);
                        model.insert(key, value);
                    }
                    Op::Claim(key, value) => {
                        let known = model.get(&key).copied();
                        let expected = (*model.entry(key).or_insert(value), known.is_none());
                        prop_assert_eq!(table.get_or_insert_with(key, || value), expected);
                    }
                    Op::Remove(key) => prop_assert_eq!(table.remove(key), model.remove(&key)),
                    Op::Get(key) => prop_assert_eq!(table.get(key), model.get(&key).copied()),
                    Op::Clear => {
                        table.clear();
                        model.clear();
                    }
                }
                prop_assert_eq!(table.len(), model.len());
            }
            for (key, value) in model {
                prop_assert_eq!(table.get(key), Some(value));
            }
        }
    }

    #[test]
    fn a_window_of_segments_that_moves_on_for_ever_does_not_make_it_grow() {
        let mut table = Table::new();
        for segment in 0..100_000u64 {
            table.insert(segment, (segment % 1000) as u32);
            if segment >= 50 {
                assert_eq!(table.remove(segment - 50), Some(((segment - 50) % 1000) as u32));
            }
        }
        assert_eq!((table.len(), table.cells.len()), (50, 128));
    }
}
