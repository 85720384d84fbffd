//! The minimum and the maximum of the last round-trip time samples.

use std::collections::VecDeque;

use units::Duration;

/// The last samples, up to a maximum number, with their minimum and maximum.
#[derive(Clone, Debug)]
pub struct Recent {
    samples: VecDeque<Duration>,
    capacity: usize,
    min: Duration,
    max: Duration,
}

impl Recent {
    /// Room for `capacity` samples, at least one.
    pub fn new(capacity: u32) -> Self {
        let capacity = capacity.max(1) as usize;
        Self { samples: VecDeque::with_capacity(capacity), capacity, min: Duration::MAX, max: Duration::ZERO }
    }

    /// Adds a sample; if there is no room, removes the oldest.
    #[inline]
    pub fn push(&mut self, sample: Duration) {
        let removed = if self.samples.len() == self.capacity { self.samples.pop_front() } else { None };
        self.samples.push_back(sample);
        self.min = self.min.min(sample);
        self.max = self.max.max(sample);
        // the extremes change only if one of them is removed
        if let Some(removed) = removed
            && (removed == self.min || removed == self.max)
        {
            self.min = self.samples.iter().copied().min().unwrap_or(Duration::MAX);
            self.max = self.samples.iter().copied().max().unwrap_or(Duration::ZERO);
        }
    }

    /// Whether it is full.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.samples.len() == self.capacity
    }

    /// The minimum; [`Duration::MAX`] before the first.
    #[inline]
    pub const fn min(&self) -> Duration {
        self.min
    }

    /// The maximum; zero before the first.
    #[inline]
    pub const fn max(&self) -> Duration {
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_are_those_of_the_last_samples() {
        let millis = |sample: u64| Duration::from_millis(sample);
        let mut recent = Recent::new(3);
        assert_eq!((recent.min(), recent.is_full()), (Duration::MAX, false));
        let seen: Vec<(u64, u64)> = [50, 20, 90, 30, 40, 40]
            .iter()
            .map(|sample| {
                recent.push(millis(*sample));
                (recent.min().as_nanos() / 1_000_000, recent.max().as_nanos() / 1_000_000)
            })
            .collect();
        assert_eq!(seen, [(50, 50), (20, 50), (20, 90), (20, 90), (30, 90), (30, 40)]);
        assert!(recent.is_full());
    }
}
