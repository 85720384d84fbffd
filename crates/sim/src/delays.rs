//! Distribution of one-way delays at a receiver, relative to a base below the minimum.

use units::{Bin, Duration, Histogram};

/// A histogram of the one-way delays at one endpoint, relative to a base.
///
/// The base is at most three quarters of the minimum so far. If a packet is faster than the base, a new base is set and all counts are
/// moved. A bin is one microsecond wide near the base and 1/128 of the distance from the base beyond, so that the error of a queueing delay
/// is at most 0.4 % of itself plus a thousandth of the propagation delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delays {
    base_ns: u64,
    /// Delays above the base, in units of 2^[`UNIT`] ns.
    above: Histogram<7>,
}

/// Width of the narrowest bin, as a power of two of nanoseconds.
const UNIT: u32 = 10;
/// Delays above the base are distinguished up to this power of two of nanoseconds: 69 s.
const TOP: u32 = 36;

impl Default for Delays {
    fn default() -> Self {
        Self { base_ns: u64::MAX, above: Histogram::default() }
    }
}

impl Delays {
    /// Counts a delay.
    #[inline]
    pub fn add(&mut self, delay: Duration) {
        let nanos = delay.as_nanos();
        if nanos < self.base_ns {
            self.lower(nanos);
        }
        self.above.add(units(nanos - self.base_ns), 1);
    }

    /// Sets a base below `nanos` and moves all counts.
    #[cold]
    fn lower(&mut self, nanos: u64) {
        let base = nanos - nanos / 4;
        let before = std::mem::replace(&mut self.base_ns, base);
        for (bin, count) in std::mem::take(&mut self.above).iter() {
            self.above.add(units(middle(bin).saturating_add(before - base)), count);
        }
    }

    /// Removes all delays.
    pub fn clear(&mut self) {
        self.base_ns = u64::MAX;
        self.above.clear();
    }

    /// The delays in ascending order: the middle of each bin, with its count.
    pub fn iter(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        self.above.iter().map(|(bin, count)| (Duration::from_nanos(self.base_ns + middle(bin)), count))
    }
}

#[inline]
fn units(above_ns: u64) -> u64 {
    above_ns.min((1 << TOP) - 1) >> UNIT
}

/// The middle of a bin, in nanoseconds above the base.
const fn middle(bin: Bin) -> u64 {
    (bin.first << UNIT) + ((bin.last - bin.first + 1) << UNIT) / 2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn delays_above_a_minute_are_one_bin() {
        let mut delays = Delays::default();
        delays.add(Duration::ZERO);
        [80, 90, 1_000_000].into_iter().for_each(|seconds| delays.add(Duration::from_secs(seconds)));
        let rows: Vec<_> = delays.iter().collect();
        assert_eq!((rows.len(), rows[1].1), (2, 3));
        assert!((68..69).contains(&(rows[1].0.as_nanos() / 1_000_000_000)), "{rows:?}");
    }

    #[test]
    fn the_same_delay_many_times_is_one_row() {
        let mut delays = Delays::default();
        (0..1000).for_each(|_| delays.add(Duration::from_millis(30)));
        let rows: Vec<_> = delays.iter().collect();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].1, 1000);
        assert!(rows[0].0.as_nanos().abs_diff(30_000_000) <= 30_000, "{rows:?}");
    }

    proptest! {
        /// The error is half a bin, 1/128 of the distance from the base, for each base that there was; each base is a quarter below the one
        /// before.
        #[test]
        fn delays_are_read_back_unchanged(
            base_us in 1u64..100_000,
            waits_us in proptest::collection::vec(0u64..1_000_000, 1..200),
        ) {
            let mut delays = Delays::default();
            let mut true_ns: Vec<u64> = waits_us.iter().map(|wait| (base_us + wait) * 1000).collect();
            let (mut min, mut bases) = (u64::MAX, 0);
            for &nanos in &true_ns {
                if nanos < min {
                    bases += 1;
                    min = nanos - nanos / 4;
                }
                delays.add(Duration::from_nanos(nanos));
            }
            true_ns.sort_unstable();
            let found: Vec<u64> =
                delays.iter().flat_map(|(delay, n)| (0..n).map(move |_| delay.as_nanos())).collect();
            prop_assert_eq!(found.len(), true_ns.len());
            for (found, is) in found.iter().zip(&true_ns) {
                let bound = bases * ((is - min) / 250 + 1024);
                prop_assert!(found.abs_diff(*is) <= bound, "{} for {}, {} bases", found, is, bases);
            }
        }
    }
}
