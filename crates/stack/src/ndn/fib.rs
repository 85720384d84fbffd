//! The forwarding information base (FIB): next hops by prefix, found by longest-prefix match.

use contract::{FaceId, FibEntry, NameId, Names, NextHop};
use memory::{list_in_large_pages, prefetch};

use super::table::Table;

/// Next hops by prefix. A look-up costs one probe per component of the name, however many names are below a prefix.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Fib {
    rows: Vec<Row>,
    /// The next hops of all rows.
    hops: Vec<NextHop>,
    /// A cache of the last results, indexed by prefix: consecutive packets have few prefixes.
    latest: [Found; LATEST],
    /// From prefixes to rows. Rows are not removed, so that a prefix keeps its number.
    rows_of: Table,
}

/// The row of the longest matching prefix.
#[derive(Clone, Copy, Debug)]
struct Found {
    prefix: NameId,
    row: u32,
}

const LATEST: usize = 16;
/// Matches no name, because prefix numbers are below 2²⁴.
const NOTHING: Found = Found { prefix: NameId(u32::MAX), row: 0 };

#[derive(Clone, Copy, Debug)]
struct Row {
    prefix: NameId,
    begin: u32,
    end: u32,
    /// The first next hop. If it is the only one, the list of all next hops need not be read.
    first: NextHop,
}

impl Row {
    const EMPTY: Self =
        Self { prefix: NameId(0), begin: 0, end: 0, first: NextHop { face: FaceId(0), cost: 0 } };

    const fn has_hops(&self) -> bool {
        self.begin < self.end
    }
}

impl Default for Fib {
    fn default() -> Self {
        Self { rows_of: Table::new(), rows: Vec::new(), hops: Vec::new(), latest: [NOTHING; LATEST] }
    }
}

impl Fib {
    /// A table without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces all entries. A prefix without next hops is no entry; a known prefix keeps its number. Next hops of equal cost keep the
    /// given order.
    pub fn set<'h>(&mut self, entries: impl Iterator<Item = (NameId, &'h [NextHop])> + Clone) {
        self.hops.clear();
        self.latest = [NOTHING; LATEST];
        self.rows.iter_mut().for_each(|row| (row.begin, row.end) = (0, 0));
        let (count, hops) =
            entries.clone().fold((0, 0), |(count, all), (_, hops)| (count + 1, all + hops.len()));
        if self.hops.capacity() < hops {
            self.hops = list_in_large_pages(hops);
        }
        self.rows_of.reserve(count);
        if self.rows.is_empty() {
            self.rows = list_in_large_pages(count);
        }
        for (prefix, hops) in entries {
            let next = self.rows.len() as u32;
            let (row, new) = self.rows_of.get_or_insert_with(u64::from(prefix.0), || next);
            let begin = self.hops.len() as u32;
            self.hops.extend_from_slice(hops);
            let end = self.hops.len() as u32;
            self.hops[begin as usize..].sort_by_key(|hop| hop.cost);
            let first = self.hops.get(begin as usize).copied().unwrap_or(Row::EMPTY.first);
            let written = Row { prefix, begin, end, first };
            if new { self.rows.push(written) } else { self.rows[row as usize] = written }
        }
    }

    /// Changes the costs of next hops of one prefix. The lowest cost comes first; next hops of equal cost keep their previous order. Next
    /// hops that are not in `hops` stay behind.
    pub fn prefer(&mut self, prefix: NameId, hops: &[NextHop]) {
        let next = self.rows.len() as u32;
        let (index, new) = self.rows_of.get_or_insert_with(u64::from(prefix.0), || next);
        if new {
            self.rows.push(Row { prefix, ..Row::EMPTY });
        }
        let row = &mut self.rows[index as usize];
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
        row.first = known.first().copied().unwrap_or(Row::EMPTY.first);
    }

    /// The entry of the longest prefix of `prefix` that has next hops.
    #[inline]
    pub fn find(&mut self, prefix: NameId, names: &Names) -> Option<FibEntry<'_>> {
        let latest = prefix.index() % LATEST;
        if self.latest[latest].prefix != prefix {
            self.latest[latest] = Found { prefix, row: self.search(prefix, names)? };
        }
        let index = self.latest[latest].row;
        let row = &self.rows[index as usize];
        let hops = match row.end - row.begin {
            1 => std::slice::from_ref(&row.first),
            _ => &self.hops[row.begin as usize..row.end as usize],
        };
        Some(FibEntry { prefix: row.prefix, index, hops })
    }

    /// Requests from memory what a search for a prefix reads first, if the prefix is not one of the latest.
    #[inline]
    pub fn prefetch_place(&self, prefix: NameId) {
        self.rows_of.prefetch(u64::from(prefix.0));
    }

    /// Requests the row of a prefix that has one itself.
    #[inline]
    pub fn prefetch_row(&self, prefix: NameId) {
        if let Some(row) = self.row(prefix) {
            prefetch(row, 1);
        }
    }

    /// Requests the next hops of that row, if they are not in it.
    #[inline]
    pub fn prefetch_hops(&self, prefix: NameId) {
        if self.has_further_hops()
            && let Some(row) = self.row(prefix)
            && let Some(hop) = self.hops.get(row.begin as usize)
        {
            prefetch(hop, 1);
        }
    }

    /// Whether there are more next hops than rows, so that some row has one beside its first.
    #[inline]
    pub const fn has_further_hops(&self) -> bool {
        self.hops.len() > self.rows.len()
    }

    /// The first next hop of a prefix that is one of the latest or has a row itself, without a search.
    #[inline]
    pub fn peek(&self, prefix: NameId) -> Option<&NextHop> {
        self.row(prefix).filter(|row| row.has_hops()).map(|row| &row.first)
    }

    #[inline]
    fn row(&self, prefix: NameId) -> Option<&Row> {
        let latest = self.latest[prefix.index() % LATEST];
        let row = if latest.prefix == prefix { latest.row } else { self.rows_of.get(u64::from(prefix.0))? };
        self.rows.get(row as usize)
    }

    /// Number of prefixes up to now.
    #[inline]
    pub const fn rows(&self) -> usize {
        self.rows.len()
    }

    fn search(&self, prefix: NameId, names: &Names) -> Option<u32> {
        let mut at = prefix;
        loop {
            let index = self.rows_of.get(u64::from(at.0));
            if let Some(index) = index.filter(|&index| self.rows[index as usize].has_hops()) {
                return Some(index);
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
