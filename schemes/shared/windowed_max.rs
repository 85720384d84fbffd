//! Windowed maximum filter: the maximum of the samples of the last units of time, as the bandwidth filters of BBR have
//! it.

use std::collections::VecDeque;

/// The maximum of recent samples. Time is any count that does not decrease: rounds, cycles.
#[derive(Clone, Debug)]
pub struct WindowedMax {
    /// Candidates, in decreasing order of value and increasing order of time.
    samples: VecDeque<(u64, f64)>,
}

impl WindowedMax {
    /// A filter without samples, for windows of at most `span` units of time.
    pub fn new(span: u32) -> Self {
        Self { samples: VecDeque::with_capacity(span as usize + 1) }
    }

    /// The maximum; zero before the first sample.
    pub fn max(&self) -> f64 {
        self.samples.front().map_or(0.0, |(_, value)| *value)
    }

    /// Takes a sample of the time `now`, and forgets samples from `span` units of time before it and earlier.
    pub fn update(&mut self, value: f64, now: u64, span: u64) {
        while self.samples.back().is_some_and(|(_, smaller)| *smaller <= value) {
            self.samples.pop_back();
        }
        if self.samples.back().is_none_or(|(at, _)| *at < now) {
            self.samples.push_back((now, value));
        }
        while self.samples.front().is_some_and(|(at, _)| now - at >= span) {
            self.samples.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The maximum of the last three units; a smaller sample of the same unit is no candidate.
    #[test]
    fn the_maximum_is_that_of_the_last_units_of_time() {
        let mut filter = WindowedMax::new(3);
        assert_eq!(filter.max(), 0.0);
        for (now, value, max) in [
            (0, 5.0, 5.0),
            (0, 4.0, 5.0),
            (1, 3.0, 5.0),
            (2, 2.0, 5.0),
            (3, 1.0, 3.0),
            (4, 1.0, 2.0),
            (4, 7.0, 7.0),
            (9, 1.0, 1.0),
        ] {
            filter.update(value, now, 3);
            assert_eq!(filter.max(), max, "{value} at {now}");
        }
        assert_eq!(filter.samples.len(), 1);
    }
}
