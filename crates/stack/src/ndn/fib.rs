//! The forwarding information base (FIB): next hops by prefix, found by longest-prefix match.

use contract::{FaceId, FibEntry, NameId, Names, NextHop};
use memory::{filled_in_large_pages, list_in_large_pages, prefetch};

/// Next hops by prefix. A look-up costs one probe per component of the name, however many names are below a prefix.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Fib {
    /// A hash table of rows; their number is a power of two, or zero. A multiplicative hash selects a row. A prefix
    /// whose row is used takes the next free one. At least one row is free.
    rows: Box<[Row]>,
    /// 64 minus the binary logarithm of the number of rows.
    shift: u32,
    /// Number of prefixes. They are not removed, so that a prefix keeps its number.
    prefixes: u32,
    /// A cache of the last results, indexed by prefix: consecutive packets have few prefixes.
    latest: [Found; LATEST],
    /// The next hops of all rows.
    hops: Vec<NextHop>,
}

/// The row of the longest matching prefix.
#[derive(Clone, Copy, Debug)]
struct Found {
    prefix: NameId,
    row: u32,
}

const LATEST: usize = 16;
/// Matches no name, because prefix numbers are below 2²⁴.
const NO_PREFIX: NameId = NameId(u32::MAX);
const NOTHING: Found = Found { prefix: NO_PREFIX, row: 0 };
const MIN_ROWS: usize = 2;
/// 2⁶⁴ divided by the golden ratio, which spreads consecutive numbers evenly.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The next hops of a prefix.
#[derive(Clone, Copy, Debug)]
struct Row {
    prefix: NameId,
    /// The number of the prefix.
    number: u32,
    begin: u32,
    end: u32,
    /// The first next hop. If it is the only one, the list of all next hops need not be read.
    first: NextHop,
}

impl Row {
    const FREE: Self =
        Self { prefix: NO_PREFIX, number: 0, begin: 0, end: 0, first: NextHop { face: FaceId(0), cost: 0 } };

    #[inline]
    const fn is_free(&self) -> bool {
        self.prefix.0 == NO_PREFIX.0
    }

    #[inline]
    const fn has_hops(&self) -> bool {
        self.begin < self.end
    }
}

impl Default for Fib {
    fn default() -> Self {
        Self { rows: Box::default(), shift: 0, prefixes: 0, hops: Vec::new(), latest: [NOTHING; LATEST] }
    }
}

impl Fib {
    /// A table without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces all entries. A prefix without next hops is no entry; a known prefix keeps its number. Next hops of
    /// equal cost keep the given order.
    pub fn set<'h>(&mut self, entries: impl Iterator<Item = (NameId, &'h [NextHop])> + Clone) {
        self.hops.clear();
        self.latest = [NOTHING; LATEST];
        self.rows.iter_mut().for_each(|row| (row.begin, row.end) = (0, 0));
        let (count, hops) =
            entries.clone().fold((0, 0), |(count, all), (_, hops)| (count + 1, all + hops.len()));
        if self.hops.capacity() < hops {
            self.hops = list_in_large_pages(hops);
        }
        self.reserve(count);
        for (prefix, hops) in entries {
            let begin = self.hops.len();
            self.hops.extend_from_slice(hops);
            self.hops[begin..].sort_by_key(|hop| hop.cost);
            let end = self.hops.len() as u32;
            let first = self.hops.get(begin).copied().unwrap_or(Row::FREE.first);
            let row = self.row_or_new(prefix);
            (row.begin, row.end, row.first) = (begin as u32, end, first);
        }
    }

    /// Changes the costs of next hops of one prefix. The lowest cost comes first; next hops of equal cost keep their
    /// previous order. Next hops that are not in `hops` stay behind.
    pub fn prefer(&mut self, prefix: NameId, hops: &[NextHop]) {
        let mut row = *self.row_or_new(prefix);
        let mut known = self.hops[row.begin as usize..row.end as usize].to_vec();
        preferred(&mut known, hops);
        if known.len() > (row.end - row.begin) as usize {
            // its place is used again when all entries are replaced
            row.begin = self.hops.len() as u32;
            row.end = row.begin + known.len() as u32;
            self.hops.extend_from_slice(&known);
            self.latest = [NOTHING; LATEST];
        } else {
            self.hops[row.begin as usize..row.end as usize].copy_from_slice(&known);
        }
        row.first = known.first().copied().unwrap_or(Row::FREE.first);
        *self.row_or_new(prefix) = row;
    }

    /// The entry of the longest prefix of `prefix` that has next hops.
    #[inline]
    pub fn find(&mut self, prefix: NameId, names: &Names) -> Option<FibEntry<'_>> {
        let latest = prefix.index() % LATEST;
        if self.latest[latest].prefix != prefix {
            self.latest[latest] = Found { prefix, row: self.search(prefix, names)? };
        }
        let row = &self.rows[self.latest[latest].row as usize];
        let hops = match row.end - row.begin {
            1 => std::slice::from_ref(&row.first),
            _ => &self.hops[row.begin as usize..row.end as usize],
        };
        Some(FibEntry { prefix: row.prefix, index: row.number, hops })
    }

    /// Requests from memory what a search for a prefix reads first, if the prefix is not one of the latest.
    #[inline]
    pub fn prefetch_row(&self, prefix: NameId) {
        if let Some(row) = self.rows.get(self.home(prefix)) {
            prefetch(row, 1);
        }
    }

    /// Requests the next hops of a prefix that has a row itself, if they are not in it.
    #[inline]
    pub fn prefetch_hops(&self, prefix: NameId) {
        if self.has_further_hops()
            && let Some(row) = self.known_row(prefix)
            && let Some(hop) = self.hops.get(row.begin as usize)
        {
            prefetch(hop, 1);
        }
    }

    /// Whether there are more next hops than prefixes, so that some row has one beside its first.
    #[inline]
    pub const fn has_further_hops(&self) -> bool {
        self.hops.len() > self.prefixes()
    }

    /// The first next hop of a prefix that is one of the latest or has a row itself, without a search.
    #[inline]
    pub fn peek(&self, prefix: NameId) -> Option<&NextHop> {
        self.known_row(prefix).filter(|row| row.has_hops()).map(|row| &row.first)
    }

    #[inline]
    fn known_row(&self, prefix: NameId) -> Option<&Row> {
        let latest = self.latest[prefix.index() % LATEST];
        let row = if latest.prefix == prefix { latest.row as usize } else { self.row_of(prefix)? };
        self.rows.get(row)
    }

    /// Number of prefixes up to now.
    #[inline]
    pub const fn prefixes(&self) -> usize {
        self.prefixes as usize
    }

    fn search(&self, prefix: NameId, names: &Names) -> Option<u32> {
        let mut at = prefix;
        loop {
            if let Some(index) = self.row_of(at).filter(|&index| self.rows[index].has_hops()) {
                return Some(index as u32);
            }
            at = names.parent(at)?;
        }
    }

    /// Number of prefixes with next hops.
    pub fn len(&self) -> usize {
        self.rows.iter().filter(|row| row.has_hops()).count()
    }

    /// Whether no prefix has next hops.
    pub fn is_empty(&self) -> bool {
        self.hops.is_empty()
    }

    // ---- the hash table

    /// The row where the search for a prefix starts.
    #[inline]
    fn home(&self, prefix: NameId) -> usize {
        (u64::from(prefix.0).wrapping_mul(SPREAD) >> self.shift) as usize
    }

    /// The index of the row of a prefix.
    #[inline]
    fn row_of(&self, prefix: NameId) -> Option<usize> {
        let mut at = self.home(prefix);
        // an empty table has no row
        while self.rows.get(at)?.prefix != prefix {
            if self.rows[at].is_free() {
                return None;
            }
            at = (at + 1) & (self.rows.len() - 1);
        }
        Some(at)
    }

    /// The row of a prefix, which gets one if it has none.
    fn row_or_new(&mut self, prefix: NameId) -> &mut Row {
        let row = self.row_of(prefix).unwrap_or_else(|| {
            self.reserve(self.prefixes() + 1);
            let number = self.prefixes;
            self.prefixes += 1;
            self.put(Row { prefix, number, ..Row::FREE })
        });
        &mut self.rows[row]
    }

    /// Writes a row whose prefix has none, and returns its index.
    fn put(&mut self, row: Row) -> usize {
        let mut at = self.home(row.prefix);
        while !self.rows[at].is_free() {
            at = (at + 1) & (self.rows.len() - 1);
        }
        self.rows[at] = row;
        at
    }

    /// Makes room for `prefixes` prefixes, which are at most five of eight rows.
    fn reserve(&mut self, prefixes: usize) {
        let count = (prefixes * 8).div_ceil(5).next_power_of_two().max(MIN_ROWS);
        if count > self.rows.len() {
            let old = std::mem::replace(&mut self.rows, filled_in_large_pages(count, Row::FREE));
            self.shift = 64 - count.trailing_zeros();
            self.latest = [NOTHING; LATEST];
            for row in old.into_iter().filter(|row| !row.is_free()) {
                self.put(row);
            }
        }
    }
}

/// Puts `hops` before the other next hops of `known`, both sorted by cost.
pub fn preferred(known: &mut Vec<NextHop>, hops: &[NextHop]) {
    let place = |hop: &NextHop| known.iter().position(|other| other.face == hop.face).unwrap_or(usize::MAX);
    let mut new = hops.to_vec();
    new.sort_by_key(|hop| (hop.cost, place(hop)));
    let max = new.last().map_or(0, |hop| hop.cost);
    let listed = |hop: &&NextHop| hops.iter().any(|other| other.face == hop.face);
    let behind = |hop: &NextHop| NextHop { cost: hop.cost.max(max), ..*hop };
    new.extend(known.iter().filter(|hop| !listed(hop)).map(behind));
    *known = new;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use contract::FaceId;
    use proptest::prelude::*;

    use super::*;

    fn hop(face: u32, cost: u64) -> NextHop {
        NextHop { face: FaceId(face), cost }
    }

    fn set(fib: &mut Fib, entries: &[(NameId, Vec<NextHop>)]) {
        fib.set(entries.iter().map(|(prefix, hops)| (*prefix, hops.as_slice())));
    }

    #[test]
    fn the_longest_prefix_with_next_hops_wins() {
        let mut names = Names::new();
        let [a, ab, abc, ax] = ["/a", "/a/b", "/a/b/c", "/a/x"].map(|text| names.intern(text));
        let mut fib = Fib::new();
        set(&mut fib, &[(a, vec![hop(1, 5)]), (ab, vec![hop(2, 5)])]);
        let face = |fib: &mut Fib, prefix| fib.find(prefix, &names).map(|entry| entry.hops[0].face.0);
        assert_eq!(
            [face(&mut fib, abc), face(&mut fib, ab), face(&mut fib, ax), face(&mut fib, a)],
            [2, 2, 1, 1].map(Some)
        );
        assert_eq!(face(&mut fib, Names::ROOT), None);
        set(&mut fib, &[(Names::ROOT, vec![hop(9, 5)]), (ab, vec![])]);
        assert_eq!([face(&mut fib, abc), face(&mut fib, Names::ROOT)], [9, 9].map(Some));
        assert_eq!(fib.len(), 1);
    }

    #[test]
    fn next_hops_are_ordered_by_cost_and_keep_their_numbers() {
        let mut names = Names::new();
        let [a, b] = ["/a", "/b"].map(|text| names.intern(text));
        let mut fib = Fib::new();
        set(&mut fib, &[(a, vec![hop(3, 7), hop(2, 7), hop(5, 1)]), (b, vec![hop(0, 0)])]);
        let entry = fib.find(a, &names).expect("it is there");
        assert_eq!(entry.hops, [hop(5, 1), hop(3, 7), hop(2, 7)]);
        assert_eq!(fib.find(b, &names).map(|entry| entry.index), Some(1));
        set(&mut fib, &[(b, vec![hop(4, 0)])]);
        assert_eq!(fib.find(b, &names).map(|entry| (entry.index, entry.hops[0].face.0)), Some((1, 4)));
        assert!(fib.find(a, &names).is_none());
    }

    #[test]
    fn next_hops_of_one_prefix_take_other_costs_and_equal_ones_keep_the_present_order() {
        let mut names = Names::new();
        let [a, b] = ["/a", "/b"].map(|text| names.intern(text));
        let mut fib = Fib::new();
        set(&mut fib, &[(a, vec![hop(1, 10), hop(2, 20)]), (b, vec![hop(3, 0)])]);
        fib.prefer(a, &[hop(2, 5), hop(1, 5)]);
        assert_eq!(fib.find(a, &names).map(|entry| entry.hops.to_vec()), Some(vec![hop(1, 5), hop(2, 5)]));
        fib.prefer(a, &[hop(2, 4), hop(1, 5)]);
        assert_eq!(fib.find(a, &names).map(|entry| entry.hops.to_vec()), Some(vec![hop(2, 4), hop(1, 5)]));
        fib.prefer(a, &[hop(1, 7)]);
        assert_eq!(fib.find(a, &names).map(|entry| entry.hops.to_vec()), Some(vec![hop(1, 7), hop(2, 7)]));
        assert_eq!(fib.find(b, &names).map(|entry| entry.hops[0]), Some(hop(3, 0)));
    }

    proptest! {
        #[test]
        fn lookups_equal_a_search_of_all_prefixes(
            known in prop::collection::vec(prop::collection::vec(0u8..3, 0..5), 0..30),
            asked in prop::collection::vec(prop::collection::vec(0u8..3, 0..7), 1..30),
        ) {
            let text = |path: &[u8]| path.iter().map(|component| format!("/{component}")).collect::<String>();
            let mut names = Names::new();
            let mut model = BTreeMap::new();
            let mut entries = Vec::new();
            for (face, path) in (0u32..).zip(&known) {
                if model.insert(path.clone(), face).is_none() {
                    entries.push((names.intern(&text(path)), vec![hop(face, 1)]));
                } else {
                    let prefix = names.intern(&text(path));
                    entries.iter_mut().filter(|(known, _)| *known == prefix).for_each(|(_, hops)| *hops = vec![hop(face, 1)]);
                }
            }
            let mut fib = Fib::new();
            set(&mut fib, &entries);
            for path in &asked {
                let prefix = names.intern(&text(path));
                let expected = (0..=path.len()).rev().find_map(|len| model.get(&path[..len]).copied());
                prop_assert_eq!(fib.find(prefix, &names).map(|entry| entry.hops[0].face.0), expected);
            }
        }
    }
}
