//! A set of bytes as sorted ranges: data that a receiver holds out of order, or that a sender knows to have arrived.

/// Disjoint ranges `[start, end)` in ascending order that do not touch each other. A `Vec` is sufficient because there
/// are few. Removed ranges stay at the front of it for a while, so that removal is cheap when there are many.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    all: Vec<(u64, u64)>,
    /// Number of removed ranges at the front.
    removed: usize,
    /// Bytes in the set.
    bytes: u64,
}

impl Ranges {
    /// The empty set.
    pub const fn new() -> Self {
        Self { all: Vec::new(), removed: 0, bytes: 0 }
    }

    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.all.len() == self.removed
    }

    /// The ranges in ascending order.
    #[inline]
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.all[self.removed..]
    }

    /// The end of the highest range.
    pub fn end(&self) -> Option<u64> {
        self.as_slice().last().map(|range| range.1)
    }

    /// Bytes in the set.
    #[inline]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The ranges that end after `at`.
    fn after(&self, at: u64) -> &[(u64, u64)] {
        let live = self.as_slice();
        &live[live.partition_point(|range| range.1 <= at)..]
    }

    /// The range that contains byte `at`.
    pub fn range_containing(&self, at: u64) -> Option<(u64, u64)> {
        self.after(at).first().copied().filter(|range| range.0 <= at)
    }

    /// The lowest gap that begins at or after `at`, as (start, end). The end is [`u64::MAX`] if no range is above.
    pub fn gap_from(&self, at: u64) -> (u64, u64) {
        match self.after(at) {
            [] => (at, u64::MAX),
            [first, ..] if first.0 > at => (at, first.0),
            [first] => (first.1, u64::MAX),
            [first, second, ..] => (first.1, second.0),
        }
    }

    /// Bytes of the set within `[start, end)`.
    pub fn bytes_within(&self, start: u64, end: u64) -> u64 {
        self.after(start)
            .iter()
            .take_while(|range| range.0 < end)
            .map(|range| range.1.min(end) - range.0.max(start))
            .sum()
    }

    /// Adds `[start, end)`, which may overlap or touch existing ranges. Returns the number of bytes that were not in
    /// the set.
    pub fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        // usually an arrival extends the highest range
        match self.all[self.removed..].last_mut() {
            Some(last) if last.1 == start => {
                last.1 = end;
                self.bytes += end - start;
                return end - start;
            }
            Some(last) if last.1 > start => {}
            _ => {
                self.make_room();
                self.all.push((start, end));
                self.bytes += end - start;
                return end - start;
            }
        }
        // the ranges from `low` to `high` overlap or touch the new range and are merged with it
        let low = self.removed + self.as_slice().partition_point(|range| range.1 < start);
        let high = self.removed + self.as_slice().partition_point(|range| range.0 <= end);
        let new = (end - start) - self.bytes_within(start, end);
        self.bytes += new;
        if low == high {
            self.make_room();
            self.all.insert(low, (start, end));
        } else {
            self.all[low] = (start.min(self.all[low].0), end.max(self.all[high - 1].1));
            self.all.drain(low + 1..high);
        }
        new
    }

    /// Makes room for one more range. A set of a few ranges is usual, and a list would begin with memory for four.
    fn make_room(&mut self) {
        if self.all.len() == self.all.capacity() {
            self.all.reserve_exact((self.all.len() / 2).max(1));
        }
    }

    /// Removes all bytes below `at`.
    pub fn remove_below(&mut self, at: u64) {
        while let Some(&(start, end)) = self.all.get(self.removed)
            && start < at
        {
            self.bytes -= end.min(at) - start;
            if end > at {
                self.all[self.removed].0 = at;
                break;
            }
            self.removed += 1;
        }
        if self.removed > self.all.len() / 2 {
            self.all.drain(..self.removed);
            self.removed = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_that_touch_become_one() {
        let mut ranges = Ranges::new();
        assert_eq!(ranges.insert(10, 20), 10);
        assert_eq!(ranges.insert(30, 40), 10);
        assert_eq!(ranges.insert(20, 30), 10);
        assert_eq!(ranges.as_slice(), [(10, 40)]);
        assert_eq!(ranges.insert(5, 15), 5);
        assert_eq!(ranges.insert(12, 18), 0);
        assert_eq!(ranges.as_slice(), [(5, 40)]);
    }

    #[test]
    fn a_range_that_covers_others_replaces_them() {
        let mut ranges = Ranges::new();
        for start in [10, 30, 50, 70] {
            ranges.insert(start, start + 5);
        }
        assert_eq!(ranges.insert(20, 60), 30);
        assert_eq!(ranges.as_slice(), [(10, 15), (20, 60), (70, 75)]);
        ranges.remove_below(25);
        assert_eq!(ranges.as_slice(), [(25, 60), (70, 75)]);
        assert_eq!(ranges.gap_from(30), (60, 70));
        assert_eq!(ranges.gap_from(62), (62, 70));
        assert_eq!(ranges.gap_from(72), (75, u64::MAX));
        assert_eq!(ranges.range_containing(60), None);
    }

    proptest! {
        #[test]
        fn ranges_equal_a_set_of_bytes(steps in prop::collection::vec((0u64..60, 1u64..12, any::<bool>()), 0..60)) {
            let mut ranges = Ranges::new();
            let mut bytes = std::collections::BTreeSet::new();
            for (start, len, add) in steps {
                if add {
                    let before = bytes.len();
                    bytes.extend(start..start + len);
                    prop_assert_eq!(ranges.insert(start, start + len), (bytes.len() - before) as u64);
                } else {
                    bytes.retain(|byte| *byte >= start);
                    ranges.remove_below(start);
                }
                for pair in ranges.as_slice().windows(2) {
                    prop_assert!(pair[0].1 < pair[1].0);
                }
                let held: Vec<u64> = ranges.as_slice().iter().flat_map(|range| range.0..range.1).collect();
                prop_assert_eq!(held, bytes.iter().copied().collect::<Vec<_>>());
                for at in 0..75 {
                    prop_assert_eq!(ranges.range_containing(at).is_some(), bytes.contains(&at));
                    prop_assert_eq!(ranges.bytes_within(at, at + 9), bytes.range(at..at + 9).count() as u64);
                }
            }
        }
    }
}
