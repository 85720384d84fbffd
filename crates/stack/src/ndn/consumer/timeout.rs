//! The retransmission timeout of a consumer.

use units::{Duration, Time};

use crate::ndn::Timeout;
use crate::parts::Rtt;

/// The timeout k·max(min, srtt + 4·var), at most `max` [ndnSIM 2.8: ndn-rtt-mean-deviation]. The gains are as in
/// [RFC6298 §2].
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimator {
    rtt: Rtt,
    /// The backoff factor k.
    factor: u32,
    timeout: Duration,
    /// The timeout is constant: without retransmissions it is the lifetime, or the controller has its own timer.
    fixed: bool,
    config: Timeout,
}

impl Estimator {
    /// An estimator. With `fixed` the timeout is always that value.
    pub(super) fn new(config: Timeout, fixed: Option<Duration>) -> Self {
        // before the first sample srtt is the initial timeout, but not below the minimum timeout
        let first = config.initial.max(config.min);
        let rtt = Rtt::new(first, config.min, Duration::MAX);
        Self { rtt, factor: 1, timeout: fixed.unwrap_or(first), fixed: fixed.is_some(), config }
    }

    /// Takes a round-trip time.
    #[inline]
    pub(super) fn sample(&mut self, rtt: Duration) {
        self.rtt.sample(rtt);
        self.factor = 1;
        self.measure();
    }

    /// Increases the backoff, because a segment expired.
    pub(super) fn back_off(&mut self) {
        self.factor = self.factor.saturating_mul(2).min(self.config.backoff.max(1));
        self.measure();
    }

    #[inline]
    fn measure(&mut self) {
        if self.fixed {
            return;
        }
        self.timeout = (self.rtt.rto() * u64::from(self.factor)).min(self.config.max);
    }

    /// Takes the timeout of a controller with its own timer, which expires exactly. Returns whether it is shorter than
    /// the last.
    #[inline]
    pub(super) fn follow(&mut self, own: Duration) -> bool {
        let shorter = own < self.timeout || self.config.scan > Duration::ZERO;
        (self.timeout, self.fixed, self.config.scan) = (own, true, Duration::ZERO);
        shorter
    }

    /// Its constants.
    pub(super) const fn config(&self) -> Timeout {
        self.config
    }

    /// The current timeout.
    #[inline]
    pub(super) const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// When the expiry of an Interest that left at `sent` is detected.
    #[inline]
    pub(super) fn next_check(&self, sent: Time) -> Time {
        tick(sent + self.timeout, self.config.scan, Duration::ZERO)
    }

    /// srtt; the initial timeout before the first sample.
    #[inline]
    pub(super) const fn smoothed(&self) -> Duration {
        self.rtt.smoothed()
    }

    /// The minimum sample; [`Duration::MAX`] before the first.
    #[inline]
    pub(super) const fn min(&self) -> Duration {
        self.rtt.min()
    }
}

/// The first tick at or after `at` of a clock with ticks at `phase` after each multiple of `every`; `at` if `every` is
/// zero.
#[inline]
pub(super) fn tick(at: Time, every: Duration, phase: Duration) -> Time {
    if every == Duration::ZERO || at == Time::NEVER {
        return at;
    }
    let (every, phase) = (every.as_nanos(), phase.as_nanos());
    let ticks = at.as_nanos().saturating_sub(phase).div_ceil(every);
    Time::from_nanos(ticks.saturating_mul(every).saturating_add(phase))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::ZERO + Duration::from_micros(micros)
    }

    /// First sample 100 ms: srtt 100, var 50, 100 + 4·50 = 300 ms. Then 60 ms: e = −40, var = 50 + (40 − 50)/4 = 47.5,
    /// srtt = 100 − 40/8 = 95, 95 + 190 = 285 ms.
    #[test]
    fn the_timeout_follows_the_papers_formula() {
        let mut estimator = Estimator::new(Timeout::DEFAULT, None);
        assert_eq!(estimator.timeout(), Duration::from_secs(1));
        estimator.sample(Duration::from_millis(100));
        assert_eq!(estimator.timeout(), Duration::from_millis(300));
        estimator.sample(Duration::from_millis(60));
        assert_eq!(estimator.timeout(), Duration::from_millis(285));
        assert_eq!(
            (estimator.smoothed(), estimator.min()),
            (Duration::from_millis(95), Duration::from_millis(60))
        );
    }

    #[test]
    fn the_minimum_timeout_is_backed_off_too() {
        let mut estimator = Estimator::new(Timeout::DEFAULT, None);
        estimator.sample(Duration::from_millis(10));
        let spans: Vec<u64> = (0..8)
            .map(|_| {
                let before = estimator.timeout().as_nanos() / 1_000_000;
                estimator.back_off();
                before
            })
            .collect();
        // max(200, 10 + 20) = 200 ms, times 1, 2, 4 … 64
        assert_eq!(spans, [200, 400, 800, 1600, 3200, 6400, 12_800, 12_800]);
        estimator.sample(Duration::from_millis(10));
        assert_eq!(estimator.timeout(), Duration::from_millis(200));
    }

    #[test]
    fn the_timeout_has_a_maximum() {
        let mut estimator = Estimator::new(Timeout { max: Duration::from_secs(3), ..Timeout::DEFAULT }, None);
        (0..5).for_each(|_| estimator.back_off());
        assert_eq!(estimator.timeout(), Duration::from_secs(3));
    }

    #[test]
    fn clocks_tick_at_their_multiples_and_phases() {
        let every = Duration::from_micros(100);
        for (now, phase, next) in
            [(0, 0, 0), (1, 0, 100), (100, 0, 100), (101, 0, 200), (0, 30, 30), (31, 30, 130)]
        {
            assert_eq!(tick(at(now), every, Duration::from_micros(phase)), at(next), "{now} {phase}");
        }
        assert_eq!(tick(at(17), Duration::ZERO, Duration::ZERO), at(17));
        assert_eq!(tick(Time::NEVER, every, Duration::ZERO), Time::NEVER);
    }

    /// Timers are checked every 50 ms: an Interest of 20 ms with a timeout of 1 s expires at 1050 ms.
    #[test]
    fn timers_are_looked_at_on_multiples() {
        assert_eq!(Estimator::new(Timeout::DEFAULT, None).next_check(at(20_000)), at(1_050_000));
        let exact = Timeout { scan: Duration::ZERO, ..Timeout::DEFAULT };
        assert_eq!(Estimator::new(exact, None).next_check(at(20_000)), at(1_020_000));
    }
}
