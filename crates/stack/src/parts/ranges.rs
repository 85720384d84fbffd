//! A set of bytes as sorted ranges: what a receiver holds out of order, what a sender knows to have arrived.

/// Disjoint ranges `[start, end)` in ascending order, never touching each other. Few at a time, so a `Vec` serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Nothing.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Whether nothing is in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges, lowest first.
    #[inline]
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// The end of the highest range.
    pub fn end(&self) -> Option<u64> {
        self.0.last().map(|range| range.1)
    }

    /// Index of the first range that ends after `at`.
    fn first_after(&self, at: u64) -> usize {
        self.0.partition_point(|range| range.1 <= at)
    }

    /// The range that holds byte `at`.
    pub fn holding(&self, at: u64) -> Option<(u64, u64)> {
        self.0.get(self.first_after(at)).copied().filter(|range| range.0 <= at)
    }

    /// The lowest range that ends after `at`.
    pub fn after(&self, at: u64) -> Option<(u64, u64)> {
        self.0.get(self.first_after(at)).copied()
    }

    /// Bytes of the set within `[start, end)`.
    pub fn bytes_within(&self, start: u64, end: u64) -> u64 {
        self.0[self.first_after(start)..]
            .iter()
            .take_while(|range| range.0 < end)
            .map(|range| range.1.min(end) - range.0.max(start))
            .sum()
    }

    /// Adds `[start, end)`, which may overlap or touch what is there. Returns how many bytes are new.
    pub fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        // arrivals mostly extend the highest range
        match self.0.last_mut() {
            None => {
                self.0.push((start, end));
                return end - start;
            }
            Some(last) if last.1 == start => {
                last.1 = end;
                return end - start;
            }
            Some(last) if last.1 < start => {
                self.0.push((start, end));
                return end - start;
            }
            Some(_) => {}
        }
        // [low, high) overlap or touch the new range and melt into it
        let low = self.0.partition_point(|range| range.1 < start);
        let high = self.0.partition_point(|range| range.0 <= end);
        let new = (end - start) - self.bytes_within(start, end);
        if low == high {
            self.0.insert(low, (start, end));
        } else {
            let joined = (start.min(self.0[low].0), end.max(self.0[high - 1].1));
            self.0[low] = joined;
            self.0.drain(low + 1..high);
        }
        new
    }

    /// Forgets all bytes below `at`.
    pub fn remove_below(&mut self, at: u64) {
        let gone = self.first_after(at);
        self.0.drain(..gone);
        if let Some(first) = self.0.first_mut() {
            first.0 = first.0.max(at);
        }
    }

    /// Forgets everything; keeps its memory.
    pub fn clear(&mut self) {
        self.0.clear();
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
    fn a_range_that_spans_others_swallows_them() {
        let mut ranges = Ranges::new();
        for start in [10, 30, 50, 70] {
            ranges.insert(start, start + 5);
        }
        assert_eq!(ranges.insert(20, 60), 30);
        assert_eq!(ranges.as_slice(), [(10, 15), (20, 60), (70, 75)]);
        ranges.remove_below(25);
        assert_eq!(ranges.as_slice(), [(25, 60), (70, 75)]);
        assert_eq!(ranges.after(60), Some((70, 75)));
        assert_eq!(ranges.holding(60), None);
    }

    proptest! {
        #[test]
        fn ranges_hold_what_a_set_of_bytes_holds(steps in prop::collection::vec((0u64..60, 1u64..12, any::<bool>()), 0..60)) {
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
                    prop_assert_eq!(ranges.holding(at).is_some(), bytes.contains(&at));
                    prop_assert_eq!(ranges.bytes_within(at, at + 9), bytes.range(at..at + 9).count() as u64);
                }
            }
        }
    }
}
