//! A log-linear histogram: counts of values in bins whose width is at most a fixed share of their value, as in HdrHistogram.

/// A histogram.
///
/// Each value below `2 · 2^FINE` has its own bin; above, every power of two is divided into `2^FINE` bins. The relative error of a value is
/// thus at most `2^-FINE`. Memory covers only the bins between the smallest and the largest value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram<C, const FINE: u32> {
    /// Index of the first bin in `counts`.
    first: usize,
    counts: Vec<C>,
}

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

/// An integer that saturates.
pub trait Counter: Copy + Default + Into<u64> {
    /// Adds `times`.
    #[must_use]
    fn plus(self, times: u64) -> Self;
}

impl Counter for u32 {
    #[inline]
    fn plus(self, times: u64) -> Self {
        self.saturating_add(Self::try_from(times).unwrap_or(Self::MAX))
    }
}

impl Counter for u64 {
    #[inline]
    fn plus(self, times: u64) -> Self {
        self.saturating_add(times)
    }
}

/// Memory grows in steps of this many bins.
const BLOCK: usize = 32;

impl<C: Counter, const FINE: u32> Histogram<C, FINE> {
    /// Counts a value `times` times.
    #[inline]
    pub fn add(&mut self, value: u64, times: u64) {
        let bin = Self::bin_of(value);
        match self.counts.get_mut(bin.wrapping_sub(self.first)) {
            Some(count) => *count = count.plus(times),
            None => self.widen(bin, times),
        }
    }

    /// Allocates memory for a bin, and counts in it.
    #[cold]
    fn widen(&mut self, bin: usize, times: u64) {
        let begin = bin / BLOCK * BLOCK;
        if self.counts.is_empty() {
            self.first = begin;
        }
        let before = self.first.saturating_sub(begin);
        let behind = (begin + BLOCK).saturating_sub(self.first + self.counts.len());
        self.counts.reserve_exact(before + behind);
        self.counts.splice(0..0, std::iter::repeat_n(C::default(), before));
        self.counts.resize(self.counts.len() + behind, C::default());
        self.first -= before;
        let count = &mut self.counts[bin - self.first];
        *count = count.plus(times);
    }

    /// Adds the counts of another histogram.
    pub fn add_all(&mut self, more: &Self) {
        more.iter().for_each(|(bin, times)| self.add(bin.first, times));
    }

    /// Removes all counts and keeps the memory.
    pub fn clear(&mut self) {
        self.counts.clear();
    }

    /// Bins with their counts, in ascending order, without empty ones.
    pub fn iter(&self) -> impl Iterator<Item = (Bin, u64)> + '_ {
        let counts = (self.first..).zip(self.counts.iter().map(|&count| count.into()));
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bins join without a gap, and each is at most one part in 2^FINE wide.
    fn bins_join<const FINE: u32>() {
        let bins = Histogram::<u32, FINE>::bin_of(u64::MAX) + 1;
        let mut next = Some(0);
        for index in 0..bins {
            let bin = Histogram::<u32, FINE>::bin(index);
            assert_eq!(Some(bin.first), next, "bin {index} of {FINE}");
            for value in [bin.first, bin.middle(), bin.last] {
                assert_eq!(Histogram::<u32, FINE>::bin_of(value), index, "{value} of {FINE}");
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
    fn counts_stay_at_their_maximum() {
        let mut counted = Histogram::<u32, 4>::default();
        counted.add(7, u64::from(u32::MAX));
        counted.add(7, 1);
        assert_eq!(counted.iter().map(|(_, count)| count).sum::<u64>(), u64::from(u32::MAX));
    }

    proptest! {
        #[test]
        fn percentiles_return_recorded_values(
            mut values in prop::collection::vec(prop_oneof![0u64..100, 0u64..1_000_000_000, any::<u64>()], 0..100),
            split in 0usize..100,
        ) {
            let mut counted = Histogram::<u64, 7>::default();
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
