//! Lateness of events.

use crate::{Duration, Histogram};

/// A histogram of lateness. The width of a bin is at most a sixteenth of its value, so that percentiles have an error
/// of at most 6 %.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    nanos: Histogram<4>,
    total: u64,
    max: Duration,
}

impl Lateness {
    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: Duration) {
        self.record_times(value, 1);
    }

    /// Counts a value `times` times.
    #[inline]
    pub fn record_times(&mut self, value: Duration, times: u64) {
        self.nanos.add(value.as_nanos(), times);
        self.total += times;
        self.max = self.max.max(value);
    }

    /// Adds the counts of another histogram.
    pub fn add(&mut self, other: &Self) {
        self.nanos.add_all(&other.nanos);
        self.total += other.total;
        self.max = self.max.max(other.max);
    }

    /// Number of values.
    pub const fn count(&self) -> u64 {
        self.total
    }

    /// The maximum.
    pub const fn max(&self) -> Duration {
        self.max
    }

    /// The value that a share of all values do not exceed, as the upper end of its bin; `None` without values.
    pub fn percentile(&self, share: f64) -> Option<Duration> {
        let rank = ((self.total as f64 * share).ceil() as u64).clamp(1, self.total.max(1));
        self.nanos.at_rank(rank).map(|bin| Duration::from_nanos(bin.last).min(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_sorted_list() {
        let mut lateness = Lateness::default();
        (1..=1000).for_each(|micros| lateness.record(Duration::from_micros(micros)));
        assert_eq!((lateness.count(), lateness.max()), (1000, Duration::from_micros(1000)));
        let mut twice = lateness.clone();
        twice.add(&lateness);
        assert_eq!((twice.count(), twice.percentile(0.5)), (2000, lateness.percentile(0.5)));
        for (share, micros) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0)] {
            let found = lateness.percentile(share).expect("there are values").as_secs_f64() * 1e6;
            assert!(found >= micros && found <= micros * 1.0625, "{share}: {found}");
        }
        assert_eq!(Lateness::default().percentile(0.5), None);
    }
}
