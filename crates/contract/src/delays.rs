//! Distributions of delays in bounded memory.

use units::{Duration, Histogram};

/// A histogram of delays, with bins whose width is at most a thousandth of the delay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    nanos: Histogram<10>,
    count: u64,
}

impl Delays {
    /// Counts a delay.
    pub fn add(&mut self, delay: Duration) {
        self.nanos.add(delay.as_nanos(), 1);
        self.count += 1;
    }

    /// Adds the counts of another histogram.
    pub fn add_all(&mut self, more: &Self) {
        self.nanos.add_all(&more.nanos);
        self.count += more.count;
    }

    /// Number of delays.
    pub const fn len(&self) -> u64 {
        self.count
    }

    /// Whether there are no delays.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The smallest delay such that at least `percent` % of all delays do not exceed it, with an error of at most a
    /// thousandth; `None` without delays.
    pub fn percentile(&self, percent: u64) -> Option<Duration> {
        let required = (self.count * percent.min(100)).div_ceil(100).max(1);
        self.nanos.at_rank(required).map(|bin| Duration::from_nanos(bin.middle()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_delays_are_exact_and_large_ones_to_a_thousandth() {
        for nanos in (0..5000).chain([65_000_000, 65_123_456, 4_000_000_000, u64::MAX / 3]) {
            let mut delays = Delays::default();
            delays.add(Duration::from_nanos(nanos));
            let found = delays.percentile(50).expect("there is one").as_nanos();
            assert!(found.abs_diff(nanos) <= nanos / 1000, "{nanos} {found}");
            assert!(nanos >= 2048 || found == nanos, "{nanos} {found}");
        }
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_list() {
        let mut delays = Delays::default();
        assert_eq!((delays.percentile(50), delays.is_empty()), (None, true));
        for nanos in (1..=200u64).rev() {
            delays.add(Duration::from_nanos(nanos));
        }
        let found = [0, 5, 25, 50, 75, 95, 100].map(|percent| delays.percentile(percent));
        assert_eq!(found, [1, 10, 50, 100, 150, 190, 200].map(|nanos| Some(Duration::from_nanos(nanos))));
        assert_eq!(delays.len(), 200);
    }

    #[test]
    fn merged_distributions_equal_one_of_all_samples() {
        let counted = |range: std::ops::Range<u64>| {
            let mut delays = Delays::default();
            range.for_each(|millis| delays.add(Duration::from_millis(millis)));
            delays
        };
        let mut both = counted(0..50);
        both.add_all(&counted(50..200));
        assert_eq!(both, counted(0..200));
    }
}
