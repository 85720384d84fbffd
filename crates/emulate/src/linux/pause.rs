//! Pauses of the event loop, in which it does not poll.

use std::time::Instant;

use nix::time::{ClockId, clock_gettime};
use units::{Duration, Time};

use crate::platform::since;

/// An urgent loop sleeps for one part in this many of its time.
///
/// The kernel lets real-time threads use 95 % of a second and then stops them for the rest, 50 ms at once. A thread
/// that sleeps this much by itself is not stopped. Our choice: a twelfth, 8 %, where 5 % are required.
const PARTS: u64 = 12;
/// Interval at which the CPU time of the thread is read, which is a system call.
const LOOKS: Duration = Duration::from_micros(500);
/// Minimum duration of a sleep; shorter ones cost more than they save.
const MIN: Duration = Duration::from_micros(40);
/// Maximum duration of a sleep, however long the loop was awake.
const MAX: Duration = Duration::from_micros(500);

/// The pauses of the loop in addition to waiting for events.
#[derive(Debug)]
pub(super) struct Pause {
    poll_interval: Duration,
    urgent: bool,
    /// When it last finished watching devices.
    back: Time,
    /// When it last read the CPU time of its thread, and that time.
    last_sample: (Time, Duration),
    owed: Duration,
}

impl Pause {
    /// Pauses of a loop that looks at most once per `poll_interval`, with or without real-time priority.
    pub(super) const fn new(poll_interval: Duration, urgent: bool) -> Self {
        Self {
            poll_interval,
            urgent,
            back: Time::ZERO,
            last_sample: (Time::ZERO, Duration::ZERO),
            owed: Duration::ZERO,
        }
    }

    /// Sleeps if a pause is due. Returns the time.
    pub(super) fn sleep_if_due(&mut self, began: Instant) -> Time {
        let now = since(began);
        let due = self.due(now, used);
        if due == Duration::ZERO {
            return now;
        }
        std::thread::sleep(std::time::Duration::from_nanos(due.as_nanos()));
        since(began)
    }

    /// Duration of the pause that is due at `now`. `used` returns the total CPU time of this thread.
    fn due(&mut self, now: Time, used: impl FnOnce() -> Duration) -> Duration {
        let left = self.poll_interval.saturating_sub(now.saturating_since(self.back));
        let passed = now.saturating_since(self.last_sample.0);
        if !self.urgent || passed < LOOKS {
            return left;
        }
        let used = used();
        // short calls that do not block count as CPU time
        let off = passed.saturating_sub(used.saturating_sub(self.last_sample.1));
        self.last_sample = (now, used);
        self.owed = (self.owed + passed / PARTS).saturating_sub(off).min(MAX);
        if self.owed >= MIN { left.max(self.owed) } else { left }
    }

    /// Records that it finished watching devices.
    pub(super) fn woken(&mut self, back: Time) {
        self.back = back;
    }
}

/// CPU time of this thread.
fn used() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, |used| {
        Duration::from_nanos(std::time::Duration::from(used).as_nanos() as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_us(micros: u64) -> Time {
        Time::from_nanos(micros * 1000)
    }

    fn us(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    /// Share of its time that a loop sleeps by pauses if each turn takes `turn_us`, of which it is off its core for
    /// `off_us`.
    fn share(turn_us: u64, off_us: u64) -> f64 {
        let mut pause = Pause::new(Duration::ZERO, true);
        let (mut now, mut used, mut slept) = (0, 0, 0);
        while now < 1_000_000 {
            (now, used) = (now + turn_us, used + turn_us - off_us);
            let due = pause.due(at_us(now), || us(used)).as_nanos() / 1000;
            (now, slept) = (now + due, slept + due);
        }
        slept as f64 / now as f64
    }

    #[test]
    fn without_a_poll_interval_and_priority_the_loop_does_not_pause() {
        let mut pause = Pause::new(Duration::ZERO, false);
        assert_eq!(pause.due(at_us(1_000_000), || us(1_000_000)), Duration::ZERO);
    }

    #[test]
    fn the_pause_is_the_rest_of_the_poll_interval() {
        let mut pause = Pause::new(us(200), false);
        pause.woken(at_us(1000));
        assert_eq!(pause.due(at_us(1050), Duration::default), us(150));
        assert_eq!(pause.due(at_us(1300), Duration::default), Duration::ZERO);
    }

    #[test]
    fn a_loop_with_priority_sleeps_a_twelfth_of_the_time() {
        let found = share(10, 0);
        assert!((0.08..0.09).contains(&found), "{found}");
    }

    #[test]
    fn time_off_the_core_counts() {
        let found = share(100, 4);
        assert!((0.04..0.05).contains(&found), "{found}");
        assert_eq!(share(100, 10), 0.0);
    }

    #[test]
    fn the_sleep_of_a_loop_with_priority_is_at_most_half_a_millisecond() {
        let mut pause = Pause::new(Duration::ZERO, true);
        assert_eq!(pause.due(at_us(100_000), || us(100_000)), MAX);
    }
}
