//! The hash table of the forwarder: from a key of 64 bits to a slot number.
//!
//! A multiplicative hash selects a line and one of four of its cells. A key whose cell is used takes the fifth cell or
//! another one, if necessary in the nearest line with a free one; first comes the other line of the same pair, because
//! processors often read pairs. Each line counts the keys that found it full, so that a search knows where to stop and
//! a removal moves nothing. Four consecutive keys, such as the keys of consecutive segments, share a line, which is one
//! cache line of the processor; this matters with hundreds of tables. The table has the same layout on every platform
//! and no iteration. It grows by doubling and does not shrink.

use memory::{filled_in_large_pages, prefetch};

/// A map from keys to numbers.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Lines; the number is a power of two, or zero.
    lines: Box<[Line]>,
    /// 64 minus the binary logarithm of the number of lines.
    shift: u32,
    len: usize,
    /// With so many keys the table grows before the next one.
    limit: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line {
    keys: [u64; CELLS],
    values: [u32; CELLS],
    /// Number of keys that found this line full and are in another one. If zero, a search ends here: keys that differ
    /// in their prefixes only have the same own cell, so that in tables of many prefixes nearly every line has keys in
    /// other cells. The maximum stays.
    beyond: u16,
    /// One bit per used cell.
    taken: u8,
    /// One bit per key that is not in its own cell. If this and `beyond` are zero, a key that is not in its own cell is
    /// not in the table.
    displaced: u8,
}

const _: () = assert!(size_of::<Line>() == memory::LINE, "a line is a cache line");

/// Cells of a line, and how many of them are the own cell of some key.
const CELLS: usize = 5;
const OWN: usize = 4;
const FREE: Line = Line { keys: [0; CELLS], values: [0; CELLS], beyond: 0, taken: 0, displaced: 0 };
/// 2⁶⁴ divided by the golden ratio, which spreads consecutive numbers evenly.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// Half of the cells are used at most, because many lines are full beyond that.
const FULL: usize = 1;
const OF: usize = 2;
const MIN_LINES: usize = 2;

/// The maximum number of keys in this number of lines.
const fn limit(lines: usize) -> usize {
    lines * CELLS * FULL / OF
}

impl Line {
    #[inline]
    fn holds(&self, cell: usize, key: u64) -> bool {
        self.keys[cell] == key && self.taken >> cell & 1 == 1
    }

    #[inline]
    fn take(&mut self, cell: usize, key: u64, value: u32) {
        (self.keys[cell], self.values[cell]) = (key, value);
        self.taken |= 1 << cell;
    }

    /// Whether no key is elsewhere than in its own cell here.
    #[inline]
    const fn is_plain(&self) -> bool {
        self.beyond | self.displaced as u16 == 0
    }

    /// The last free cell.
    #[inline]
    const fn free(&self) -> Option<u32> {
        (!self.taken & ((1 << CELLS) - 1)).checked_ilog2()
    }
}

/// The line of a key without displacement, and its preferred cell there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Home {
    line: usize,
    cell: usize,
}

impl Table {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of keys.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of `key`.
    #[inline(always)]
    pub fn get(&self, key: u64) -> Option<u32> {
        // an empty table has no line
        let home = self.home(key);
        let line = self.lines.get(home.line)?;
        if line.holds(home.cell, key) {
            return Some(line.values[home.cell]);
        }
        if line.is_plain() { None } else { self.get_elsewhere(home, key) }
    }

    /// Requests from memory what a search for `key` reads first.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        if let Some(line) = self.lines.get(self.home(key).line) {
            prefetch(line, 1);
        }
    }

    /// The number of `key`. If it has none, inserts the result of `make` and returns true.
    #[inline]
    pub fn get_or_insert_with(&mut self, key: u64, make: impl FnOnce() -> u32) -> (u32, bool) {
        if let Some(value) = self.get(key) {
            return (value, false);
        }
        let value = make();
        self.add(key, value);
        (value, true)
    }

    /// Inserts the number of a key that is not in the table.
    #[inline]
    pub fn add(&mut self, key: u64, value: u32) {
        debug_assert!(self.get(key).is_none(), "the key is in the table");
        if self.len >= self.limit {
            self.grow();
        }
        self.put(key, value);
        self.len += 1;
    }

    /// Inserts or replaces the number of `key`.
    pub fn insert(&mut self, key: u64, value: u32) {
        let (old, new) = self.get_or_insert_with(key, || value);
        if !new
            && old != value
            && let Some((line, cell)) = self.find(self.home(key), key)
        {
            self.lines[line].values[cell] = value;
        }
    }

    /// Removes `key` and returns its number.
    #[inline(always)]
    pub fn remove(&mut self, key: u64) -> Option<u32> {
        let home = self.home(key);
        let line = self.lines.get_mut(home.line)?;
        if line.holds(home.cell, key) {
            line.taken &= !(1 << home.cell);
            self.len -= 1;
            return Some(line.values[home.cell]);
        }
        if line.is_plain() { None } else { self.remove_elsewhere(home, key) }
    }

    /// Removes a key that is not in its own cell, and updates the counts of displaced keys.
    #[cold]
    fn remove_elsewhere(&mut self, home: Home, key: u64) -> Option<u32> {
        let (line, cell) = self.find(home, key)?;
        for at in self.near(home.line).take_while(|&at| at != line) {
            let beyond = &mut self.lines[at].beyond;
            *beyond -= u16::from(*beyond < u16::MAX);
        }
        self.len -= 1;
        let line = &mut self.lines[line];
        line.taken &= !(1 << cell);
        line.displaced &= line.taken;
        Some(line.values[cell])
    }

    /// Makes room for `keys` keys.
    pub fn reserve(&mut self, keys: usize) {
        let mut lines = self.lines.len().max(MIN_LINES);
        while limit(lines) < keys {
            lines *= 2;
        }
        if self.limit < keys {
            self.resize(lines);
        }
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.lines.fill(FREE);
        self.len = 0;
    }

    /// The place of a key. Consecutive segments have different cells of a line, and so have equal segments of
    /// consecutive prefixes, which are in the upper bits.
    #[inline]
    fn home(&self, key: u64) -> Home {
        let line = ((key / OWN as u64).wrapping_mul(SPREAD) >> self.shift) as usize;
        Home { line, cell: (key ^ key >> 40) as usize % OWN }
    }

    /// All lines, in the order in which a key takes one.
    #[inline]
    fn near(&self, home: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.lines.len()).map(move |step| home ^ step)
    }

    /// The number of a key that is not in its own cell.
    #[cold]
    fn get_elsewhere(&self, home: Home, key: u64) -> Option<u32> {
        let line = &self.lines[home.line];
        for cell in 0..CELLS {
            if line.holds(cell, key) {
                return Some(line.values[cell]);
            }
        }
        // nearly all searches end here
        if line.beyond == 0 {
            return None;
        }
        self.find(home, key).map(|(line, cell)| self.lines[line].values[cell])
    }

    /// The line and cell of a key. The table must have lines.
    fn find(&self, home: Home, key: u64) -> Option<(usize, usize)> {
        let cell_in = |line: usize| (0..CELLS).find(|&cell| self.lines[line].holds(cell, key));
        self.searched(home.line).find_map(|line| Some((line, cell_in(line)?)))
    }

    /// The lines that a search reads whose key is in none of them.
    fn searched(&self, home: usize) -> impl Iterator<Item = usize> {
        let is_last = |&line: &usize| self.lines[line].beyond == 0;
        let mut ended = false;
        // in a small table all lines can contain displaced keys
        self.near(home).take_while(move |line| !std::mem::replace(&mut ended, is_last(line)))
    }

    /// Inserts a key that is not in the table. There is always a free cell, because the table grows before it is full.
    #[inline]
    fn put(&mut self, key: u64, value: u32) {
        let home = self.home(key);
        let line = &mut self.lines[home.line];
        if line.taken >> home.cell & 1 == 0 {
            return line.take(home.cell, key, value);
        }
        self.put_elsewhere(home, key, value);
    }

    #[cold]
    fn put_elsewhere(&mut self, home: Home, key: u64, value: u32) {
        for at in self.near(home.line) {
            let line = &mut self.lines[at];
            if line.taken >> home.cell & 1 == 0 {
                return line.take(home.cell, key, value);
            }
            if let Some(free) = line.free() {
                line.displaced |= 1 << free;
                return line.take(free as usize, key, value);
            }
            line.beyond = line.beyond.saturating_add(1);
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.resize((self.lines.len() * 2).max(MIN_LINES));
    }

    /// Moves the keys to a table with this number of lines.
    fn resize(&mut self, lines: usize) {
        let old = std::mem::replace(&mut self.lines, filled_in_large_pages(lines, FREE));
        self.shift = 64 - lines.trailing_zeros();
        self.limit = limit(lines);
        for line in &old {
            for cell in (0..CELLS).filter(|cell| line.taken >> cell & 1 == 1) {
                self.put(line.keys[cell], line.values[cell]);
            }
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

    /// Few keys, so that they meet; some that share their line in a small table, and zero, which an empty cell holds
    /// too.
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
        fn the_table_equals_a_plain_map(ops in prop::collection::vec(op(), 1..400)) {
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

    /// All keys have the same own cell, and most lines have two or three of them: a search reads few lines
    /// nevertheless.
    #[test]
    fn a_search_ends_at_a_line_that_was_never_full() {
        let mut table = Table::new();
        table.reserve(10_000);
        let key = |table: &Table, prefix: u64| {
            let mut keys = (0..OWN as u64).map(|segment| prefix << 40 | segment);
            keys.find(|&key| table.home(key).cell == 0).expect("consecutive keys have different cells")
        };
        for prefix in 0..10_000 {
            table.insert(key(&table, prefix), prefix as u32);
        }
        let crowded = table.lines.iter().filter(|line| !line.is_plain()).count();
        assert!(crowded > table.lines.len() * 3 / 4, "{crowded} of {}", table.lines.len());
        let lines = |key: u64| table.searched(table.home(key).line).count();
        let maximum = (0..20_000u64).map(|prefix| lines(prefix << 40 | 1)).max();
        assert!(maximum.is_some_and(|lines| lines <= 4), "{maximum:?}");
    }

    /// Segments of one prefix are as likely in their own cells as equal segments of many prefixes.
    #[test]
    fn nearly_all_keys_are_in_their_own_cells() {
        for key in [|i: u64| i << 40 | 7, |i: u64| 5 << 40 | i] {
            let mut table = Table::new();
            (0..10_000u64).for_each(|i| table.insert(key(i), i as u32));
            let is_own = |&i: &u64| {
                let home = table.home(key(i));
                table.lines[home.line].holds(home.cell, key(i))
            };
            let own = (0..10_000u64).filter(is_own).count();
            assert!(own > 7000, "{own}");
        }
    }

    #[test]
    fn a_moving_window_of_segments_does_not_grow_the_table() {
        let mut table = Table::new();
        for segment in 0..100_000u64 {
            table.insert(segment, (segment % 1000) as u32);
            if segment >= 50 {
                assert_eq!(table.remove(segment - 50), Some(((segment - 50) % 1000) as u32));
            }
        }
        assert_eq!((table.len(), table.lines.len() * OWN), (50, 128));
    }
}
