//! Distribution of the times that packets wait.

use units::{Bin, Duration, Histogram};

/// A histogram of times. Zero has a bin of its own; above, a bin is about one microsecond or 1/128 of its value wide,
/// so that the error of a time is at most 0.4 % of itself plus half a microsecond.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// Times in units of 2^[`UNIT`] ns, rounded down, plus one; zero for zero.
    times: Histogram<7>,
}

/// Width of the narrowest bin, as a power of two of nanoseconds.
const UNIT: u32 = 10;
/// Times are distinguished up to this power of two of nanoseconds: 69 s.
const TOP: u32 = 36;

impl Delays {
    /// Counts a time.
    #[inline]
    pub fn add(&mut self, time: Duration) {
        let nanos = time.as_nanos();
        let value = if nanos == 0 { 0 } else { (nanos.min((1 << TOP) - 1) >> UNIT) + 1 };
        self.times.add(value, 1);
    }

    /// Removes all times.
    pub fn clear(&mut self) {
        self.times.clear();
    }

    /// The times in ascending order: zero, and the middle of each other bin, with its count.
    pub fn iter(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        self.times.iter().map(|(bin, count)| (Duration::from_nanos(middle(bin)), count))
    }
}

/// The middle of a bin, in nanoseconds.
const fn middle(bin: Bin) -> u64 {
    if bin.last == 0 { 0 } else { ((bin.first - 1) << UNIT) + ((bin.last - bin.first + 1) << UNIT) / 2 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_above_a_minute_are_one_bin() {
        let mut delays = Delays::default();
        delays.add(Duration::ZERO);
        [80, 90, 1_000_000].into_iter().for_each(|seconds| delays.add(Duration::from_secs(seconds)));
        let rows: Vec<_> = delays.iter().collect();
        assert_eq!((rows.len(), rows[0], rows[1].1), (2, (Duration::ZERO, 1), 3));
        assert!((68..70).contains(&(rows[1].0.as_nanos() / 1_000_000_000)), "{rows:?}");
    }

    proptest! {
        #[test]
        fn times_are_read_back(
            mut waits_ns in proptest::collection::vec(prop_oneof![Just(0), 1u64..5_000, 0u64..60_000_000_000], 1..200),
        ) {
            let mut delays = Delays::default();
            waits_ns.iter().for_each(|wait| delays.add(Duration::from_nanos(*wait)));
            waits_ns.sort_unstable();
            let found: Vec<u64> =
                delays.iter().flat_map(|(delay, n)| (0..n).map(move |_| delay.as_nanos())).collect();
            prop_assert_eq!(found.len(), waits_ns.len());
            for (found, is) in found.iter().zip(&waits_ns) {
                prop_assert_eq!(*found == 0, *is == 0);
                prop_assert!(found.abs_diff(*is) <= is / 250 + 512, "{} for {}", found, is);
            }
        }
    }
}
