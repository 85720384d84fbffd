//! Queueing delay: the minimum of recent samples minus the minimum of the last minutes.

use std::collections::VecDeque;

use units::{Duration, Time};

/// The base delay and the current delay of a path, in nanoseconds. The clocks of the two ends need not agree: only
/// differences have a meaning.
#[derive(Clone, Debug)]
pub struct Delays {
    /// The minimum of each minute, the current one last [RFC6817 §2.4.2: base_delays].
    minima: VecDeque<i64>,
    minutes: usize,
    /// The minute of the last sample.
    minute: u64,
    /// The last samples with their times [RFC6817 §2.4.2: current_delays].
    current: VecDeque<(Time, i64)>,
    capacity: usize,
}

impl Delays {
    /// Without samples. The base is the minimum of this many `minutes`, the current delay the minimum of the last
    /// `samples`; each at least one.
    pub fn new(minutes: u32, samples: u32) -> Self {
        let (minutes, capacity) = (minutes.max(1) as usize, samples.max(1) as usize);
        let (minima, current) = (VecDeque::with_capacity(minutes + 1), VecDeque::with_capacity(capacity + 1));
        Self { minima, minutes, minute: 0, current, capacity }
    }

    /// Takes a sample. Samples older than `age` no longer count for the current delay.
    pub fn take(&mut self, delay: i64, age: Duration, now: Time) {
        // if round_to_minute(now) ≠ round_to_minute(last_rollover): adds a minute, drops the oldest   [RFC6817 §2.4.2]
        let minute = now.as_nanos() / MINUTE_NS;
        match self.minima.back_mut() {
            Some(min) if minute == self.minute => *min = delay.min(*min),
            _ => {
                self.minute = minute;
                self.minima.push_back(delay);
            }
        }
        if self.minima.len() > self.minutes {
            self.minima.pop_front();
        }
        self.current.push_back((now, delay));
        while self.current.len() > self.capacity
            || self.current.front().is_some_and(|(at, _)| now.saturating_since(*at) > age)
        {
            self.current.pop_front();
        }
    }

    /// The minimum of the last minutes; `None` before the first sample.
    pub fn base(&self) -> Option<i64> {
        self.minima.iter().min().copied()
    }

    /// The queueing delay; zero before the first sample.
    pub fn queueing(&self) -> Duration {
        // queuing_delay = FILTER(current_delays) − MIN(base_delays)                                 [RFC6817 §2.4.2]
        let current = self.current.iter().map(|(_, delay)| *delay).min();
        let (Some(current), Some(base)) = (current, self.base()) else { return Duration::ZERO };
        Duration::from_nanos(u64::try_from(current.saturating_sub(base)).unwrap_or(0))
    }
}

const MINUTE_NS: u64 = 60_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    fn millis(delays: &Delays) -> u64 {
        delays.queueing().as_nanos() / 1_000_000
    }

    #[test]
    fn the_base_is_the_minimum_of_ten_minutes_and_then_rolls_over() {
        let mut delays = Delays::new(10, 1);
        let second = Duration::from_secs(1);
        delays.take(20 * MS, second, at(5));
        // 30 ms in each later minute: the 20 of minute 0 count until minute 9
        for minute in 1..10 {
            delays.take(30 * MS, second, at(60 * minute));
            assert_eq!((delays.base(), millis(&delays)), (Some(20 * MS), 10));
        }
        delays.take(30 * MS, second, at(600));
        assert_eq!((delays.base(), millis(&delays)), (Some(30 * MS), 0));
    }

    #[test]
    fn a_minute_keeps_its_minimum() {
        let mut delays = Delays::new(2, 1);
        let second = Duration::from_secs(1);
        for (seconds, delay) in [(1, 50), (20, 40), (59, 45), (61, 60)] {
            delays.take(delay * MS, second, at(seconds));
        }
        assert_eq!((delays.base(), millis(&delays)), (Some(40 * MS), 20));
        delays.take(70 * MS, second, at(120));
        assert_eq!(delays.base(), Some(60 * MS));
    }

    #[test]
    fn the_current_delay_is_the_minimum_of_four_that_are_not_too_old() {
        let mut delays = Delays::new(10, 4);
        let age = Duration::from_millis(100);
        let sample = |delays: &mut Delays, millis: u64, delay: i64| {
            delays.take(delay * MS, age, Time::ZERO + Duration::from_millis(millis));
        };
        sample(&mut delays, 0, 10);
        for (millis, delay) in [(10, 60), (20, 70), (30, 80)] {
            sample(&mut delays, millis, delay);
        }
        assert_eq!(millis(&delays), 0);
        // the 10 is the fifth from the end
        sample(&mut delays, 40, 90);
        assert_eq!(millis(&delays), 50);
        // 111 ms after the 60, 101 after the 70
        sample(&mut delays, 121, 85);
        assert_eq!(millis(&delays), 70);
    }

    #[test]
    fn clocks_that_do_not_agree_change_nothing() {
        for offset in [-3_600_000_000_000, 0, 3_600_000_000_000] {
            let mut delays = Delays::new(10, 1);
            delays.take(25 * MS + offset, Duration::from_secs(1), at(1));
            delays.take(65 * MS + offset, Duration::from_secs(1), at(2));
            assert_eq!(millis(&delays), 40);
        }
    }
}
