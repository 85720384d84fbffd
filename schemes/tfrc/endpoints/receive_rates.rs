//! X_recv_set: the receive rates of the last two round-trip times, which limit the sender to twice the receive rate.

use std::collections::VecDeque;

use units::{Duration, Time};

/// The last receive rates, in bit/s, each with its time [RFC5348 §4.3].
#[derive(Clone, Debug)]
pub(super) struct ReceiveRates(VecDeque<(Time, f64)>);

impl ReceiveRates {
    /// The set at `now` with one value, infinity, which is no limit [RFC5348 §4.2].
    pub(super) fn new(now: Time) -> Self {
        let mut values = VecDeque::with_capacity(MAX);
        values.push_back((now, f64::INFINITY));
        Self(values)
    }

    /// The maximum value; infinity without values.
    pub(super) fn max(&self) -> f64 {
        self.0.iter().map(|(_, rate)| *rate).reduce(f64::max).unwrap_or(f64::INFINITY)
    }

    /// Update X_recv_set: adds `rate` and removes values older than two round-trip times.
    pub(super) fn update(&mut self, rate: f64, now: Time, rtt: Duration) {
        self.0.retain(|(at, _)| now.saturating_since(*at) <= rtt.scaled(2.0));
        if self.0.len() == MAX {
            self.0.pop_front();
        }
        self.0.push_back((now, rate));
    }

    /// Maximize X_recv_set: adds `rate`, removes the initial infinity, and keeps only the maximum, with the time `now`.
    pub(super) fn maximize(&mut self, rate: f64, now: Time) {
        let max = self.0.iter().map(|(_, rate)| *rate).filter(|rate| rate.is_finite()).fold(rate, f64::max);
        self.replace(max, now);
    }

    /// Halves all values.
    pub(super) fn halve(&mut self) {
        self.0.iter_mut().for_each(|(_, rate)| *rate /= 2.0);
    }

    /// Replaces all values by `rate`.
    pub(super) fn replace(&mut self, rate: f64, now: Time) {
        self.0.clear();
        self.0.push_back((now, rate));
    }
}

/// Maximum number of values. A receiver reports once per round-trip time and at new loss events, of which there is at
/// most one per round-trip time: in two of these there are five reports.
const MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::stream_testing::ms;

    const RTT: Duration = Duration::from_millis(100);

    #[test]
    fn values_of_two_round_trips_count() {
        let mut rates = ReceiveRates::new(ms(0));
        assert_eq!(rates.max(), f64::INFINITY);
        rates.update(5e5, ms(100), RTT);
        rates.update(3e5, ms(200), RTT);
        assert_eq!(rates.max(), f64::INFINITY);
        // the infinity of the start is 201 ms old
        rates.update(2e5, ms(201), RTT);
        assert_eq!(rates.max(), 5e5);
        rates.update(1e5, ms(301), RTT);
        assert_eq!(rates.max(), 3e5);
    }

    #[test]
    fn maximizing_keeps_the_maximum_as_of_now() {
        let mut rates = ReceiveRates::new(ms(0));
        rates.maximize(2e5, ms(100));
        assert_eq!(rates.max(), 2e5);
        rates.maximize(1e5, ms(290));
        // it counts as measured at 290 ms
        rates.update(1e5, ms(490), RTT);
        assert_eq!(rates.max(), 2e5);
        rates.halve();
        assert_eq!(rates.max(), 1e5);
        rates.replace(7e4, ms(500));
        assert_eq!(rates.max(), 7e4);
    }

    #[test]
    fn memory_is_bounded_whoever_speaks() {
        let mut rates = ReceiveRates::new(ms(0));
        (0..1000).for_each(|i| rates.update(f64::from(i), ms(1), RTT));
        assert_eq!((rates.0.len(), rates.max()), (MAX, 999.0));
    }
}
