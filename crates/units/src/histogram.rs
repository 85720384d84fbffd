//! A log-linear histogram: counts of values in bins whose width is at most a fixed share of their value, as in
//! HdrHistogram.

/// A histogram.
///
/// Each value below `2 · 2^FINE` has its own bin; above, every power of two is divided into `2^FINE` bins. The relative
/// error of a value is thus at most `2^-FINE`. Memory covers only the bins between the smallest and the largest value,
/// with as many bytes each as the largest count needs, so that the distributions of a hundred thousand receivers fit
/// into the caches of a processor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram<const FINE: u32> {
    /// Index of the first bin in `low`.
    first: usize,
    /// The lowest eight bits of each count.
    low: Box<[u8]>,
    /// The other bits; `None` if no count needs them.
    high: Option<Box<High>>,
}

/// The higher bits of each count, in bytes, lower ones first: as many as the largest count needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct High(Vec<Box<[u8]>>);

/// The range of values of a bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    /// Smallest value.
    pub first: u64,
    /// Largest value.
    pub last: u64,
}

impl Bin {
    /// The value in the middle; the upper one of an even number of values.
    pub const fn middle(self) -> u64 {
        self.first + (self.last - self.first).div_ceil(2)
    }
}

/// Memory grows in steps of this many bins.
const BLOCK: usize = 32;

impl<const FINE: u32> Histogram<FINE> {
    /// Counts a value `times` times. A bin has fewer than 2^64 counts.
    #[inline]
    pub fn add(&mut self, value: u64, times: u64) {
        let bin = Self::bin_of(value);
        let index = bin.wrapping_sub(self.first);
        match self.low.get_mut(index) {
            Some(low) => {
                let count = times.saturating_add(u64::from(*low));
                *low = count as u8;
                if count >> 8 > 0 {
                    self.carry(index, count >> 8);
                }
            }
            None => self.widen(bin, times),
        }
    }

    /// Adds `times` · 256 to a count.
    #[cold]
    fn carry(&mut self, index: usize, mut times: u64) {
        let High(bytes) = &mut **self.high.get_or_insert_default();
        let mut byte = 0;
        while times > 0 {
            if byte == bytes.len() {
                bytes.push(vec![0; self.low.len()].into());
            }
            let high = &mut bytes[byte][index];
            times += u64::from(*high);
            *high = times as u8;
            times >>= 8;
            byte += 1;
        }
    }

    /// Allocates memory for a bin, and counts in it.
    #[cold]
    fn widen(&mut self, bin: usize, times: u64) {
        let begin = bin / BLOCK * BLOCK;
        if self.low.is_empty() {
            self.first = begin;
        }
        let before = self.first.saturating_sub(begin);
        let behind = (begin + BLOCK).saturating_sub(self.first + self.low.len());
        let high = self.high.iter_mut().flat_map(|high| &mut high.0);
        high.chain([&mut self.low]).for_each(|bytes| extend(bytes, before, behind));
        self.first -= before;
        let index = bin - self.first;
        self.low[index] = times as u8;
        if times >> 8 > 0 {
            self.carry(index, times >> 8);
        }
    }

    /// Adds the counts of another histogram.
    pub fn add_all(&mut self, more: &Self) {
        more.iter().for_each(|(bin, times)| self.add(bin.first, times));
    }

    /// Removes all counts.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Bins with their counts, in ascending order, without empty ones.
    pub fn iter(&self) -> impl Iterator<Item = (Bin, u64)> + '_ {
        let more = self.high.as_deref().map_or(&[][..], |high| &high.0);
        let counts = self.low.iter().enumerate().map(move |(index, &low)| {
            let high = more.iter().rev().fold(0, |high, bytes| high << 8 | u64::from(bytes[index]));
            (self.first + index, high << 8 | u64::from(low))
        });
        counts.filter(|(_, count)| *count > 0).map(|(bin, count)| (Self::bin(bin), count))
    }

    /// The bin of the value at `rank`, from 1, among all sorted values; `None` if there are fewer.
    pub fn at_rank(&self, rank: u64) -> Option<Bin> {
        let mut seen = 0;
        let mut reached = self.iter().skip_while(|(_, count)| {
            seen += count;
            seen < rank
        });
        reached.next().map(|(bin, _)| bin)
    }

    #[inline]
    fn bin_of(value: u64) -> usize {
        let power = (u64::BITS - value.leading_zeros()).saturating_sub(FINE + 1);
        ((u64::from(power) << FINE) + (value >> power)) as usize
    }

    fn bin(bin: usize) -> Bin {
        let bin = bin as u64;
        let power = (bin >> FINE).saturating_sub(1);
        let first = (bin - (power << FINE)) << power;
        Bin { first, last: first + ((1 << power) - 1) }
    }
}

/// Adds zeros at both ends.
fn extend(counts: &mut Box<[u8]>, before: usize, behind: usize) {
    let mut wider = std::mem::take(counts).into_vec();
    wider.reserve_exact(before + behind);
    wider.splice(0..0, std::iter::repeat_n(0, before));
    wider.resize(wider.len() + behind, 0);
    *counts = wider.into();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bins join without a gap, and each is at most one part in 2^FINE wide.
    fn bins_join<const FINE: u32>() {
        let bins = Histogram::<FINE>::bin_of(u64::MAX) + 1;
        let mut next = Some(0);
        for index in 0..bins {
            let bin = Histogram::<FINE>::bin(index);
            assert_eq!(Some(bin.first), next, "bin {index} of {FINE}");
            for value in [bin.first, bin.middle(), bin.last] {
                assert_eq!(Histogram::<FINE>::bin_of(value), index, "{value} of {FINE}");
            }
            assert!(bin.last - bin.first <= bin.first >> FINE);
            next = bin.last.checked_add(1);
        }
        assert_eq!(next, None, "the last bin ends with the maximum value");
    }

    #[test]
    fn bins_hold_every_value_once() {
        bins_join::<0>();
        bins_join::<4>();
        bins_join::<7>();
        bins_join::<10>();
    }

    #[test]
    fn a_count_has_any_size() {
        let mut counted = Histogram::<4>::default();
        let mut expected = 0;
        for times in [255, 1, 1 << 40, (1 << 40) - 256, u64::MAX >> 1] {
            counted.add(7, times);
            expected += times;
            assert_eq!(
                counted.iter().map(|(bin, count)| (bin.first, count)).collect::<Vec<_>>(),
                [(7, expected)]
            );
        }
    }

    proptest! {
        #[test]
        fn counts_of_any_size_are_sums(
            added in prop::collection::vec((0u64..3000, prop_oneof![Just(1u64), 0u64..2000]), 0..300),
        ) {
            let mut counted = Histogram::<4>::default();
            let mut expected = std::collections::BTreeMap::<usize, u64>::new();
            for (value, times) in added {
                counted.add(value, times);
                *expected.entry(Histogram::<4>::bin_of(value)).or_default() += times;
            }
            expected.retain(|_, count| *count > 0);
            let found: Vec<_> = counted.iter().map(|(bin, count)| (Histogram::<4>::bin_of(bin.first), count)).collect();
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn percentiles_return_recorded_values(
            mut values in prop::collection::vec(prop_oneof![0u64..100, 0u64..1_000_000_000, any::<u64>()], 0..100),
            split in 0usize..100,
        ) {
            let mut counted = Histogram::<7>::default();
            let mut more = Histogram::default();
            values.iter().skip(split).for_each(|&value| more.add(value, 1));
            values.iter().take(split).for_each(|&value| counted.add(value, 1));
            counted.add_all(&more);
            values.sort_unstable();
            for (rank, value) in (1..).zip(&values) {
                let bin = counted.at_rank(rank).expect("there is one");
                prop_assert!((bin.first..=bin.last).contains(value), "{} of rank {} in {:?}", value, rank, bin);
            }
            prop_assert_eq!(counted.at_rank(values.len() as u64 + 1), None);
            let mut again = counted.clone();
            again.clear();
            prop_assert_eq!(again.iter().next(), None);
            values.iter().for_each(|&value| again.add(value, 1));
            prop_assert_eq!(again, counted, "memory does not depend on the order");
        }
    }
}
