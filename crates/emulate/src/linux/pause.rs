//! When the loop sleeps although there may be something to do.

use std::time::Instant;

use units::{Duration, Time};

use crate::run::since;

/// Of how many parts of its time a preferred loop sleeps one.
///
/// The system lets real-time threads have 95 % of a core and then takes them off it for the rest of a second: 50 ms at once. Who sleeps by
/// himself, a little each time, is not taken off. Our choice: a twelfth, so that 8 % are left where 5 % must be.
const PARTS: u64 = 12;
/// What it owes is paid when it is as much as this: shorter sleeps cost more than they give back.
const LEAST: Duration = Duration::from_micros(50);
/// The most that it may owe: after a long time awake it does not sleep for long.
const MOST: Duration = Duration::from_micros(500);

/// The loop's sleep besides that of having nothing to do.
#[derive(Debug)]
pub(super) struct Pause {
    grain: Duration,
    urgent: bool,
    /// When it last came back from watching the devices.
    back: Time,
    owed: Duration,
}

impl Pause {
    /// For a loop that looks at most once in `grain`, and that is preferred or not.
    pub(super) const fn new(grain: Duration, urgent: bool) -> Self {
        Self { grain, urgent, back: Time::ZERO, owed: Duration::ZERO }
    }

    /// Sleeps if it has to, and says when it is.
    pub(super) fn rest(&mut self, began: Instant) -> Time {
        let now = since(began);
        let due = self.due(now);
        if due == Duration::ZERO {
            return now;
        }
        std::thread::sleep(std::time::Duration::from_nanos(due.as_nanos()));
        let after = since(began);
        self.owed = self.owed.saturating_sub(after.saturating_since(now));
        after
    }

    /// How long it has to sleep at `now`, having been awake since it came back.
    fn due(&mut self, now: Time) -> Duration {
        let awake = now.saturating_since(self.back);
        if self.urgent {
            self.owed = (self.owed + awake / (PARTS - 1)).min(MOST);
        }
        let grain = self.grain.saturating_sub(awake);
        if self.owed >= LEAST { grain.max(self.owed) } else { grain }
    }

    /// It watched the devices from one moment to another, mostly asleep.
    pub(super) fn woken(&mut self, watched: Time, back: Time) {
        self.owed = self.owed.saturating_sub(back.saturating_since(watched));
        self.back = back;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_us(micros: u64) -> Time {
        Time::from_nanos(micros * 1000)
    }

    #[test]
    fn a_loop_that_may_look_at_any_time_and_is_not_preferred_never_rests() {
        let mut pause = Pause::new(Duration::ZERO, false);
        assert_eq!(pause.due(at_us(1_000_000)), Duration::ZERO);
    }

    #[test]
    fn it_rests_for_what_is_left_of_the_grain() {
        let mut pause = Pause::new(Duration::from_micros(200), false);
        pause.woken(at_us(0), at_us(1000));
        assert_eq!(pause.due(at_us(1050)), Duration::from_micros(150));
        assert_eq!(pause.due(at_us(1300)), Duration::ZERO);
    }

    #[test]
    fn a_preferred_loop_sleeps_a_twelfth_of_its_time() {
        let mut pause = Pause::new(Duration::ZERO, true);
        // awake for 110 µs at a time, and devices are always ready
        let (mut now, mut slept) = (0, 0);
        for _ in 0..1000 {
            pause.woken(at_us(now), at_us(now));
            now += 110;
            let due = pause.due(at_us(now)).as_nanos() / 1000;
            pause.owed = pause.owed.saturating_sub(Duration::from_micros(due));
            slept += due;
            now += due;
        }
        assert!((0.08..0.09).contains(&(slept as f64 / now as f64)), "{slept} of {now} µs");
    }

    #[test]
    fn sleep_for_want_of_work_counts() {
        let mut pause = Pause::new(Duration::ZERO, true);
        pause.woken(at_us(0), at_us(0));
        assert_eq!(pause.due(at_us(500)), Duration::ZERO, "45 µs are too little to sleep for");
        pause.woken(at_us(500), at_us(600));
        assert_eq!(pause.owed, Duration::ZERO);
        assert_eq!(pause.due(at_us(100_600)), MOST, "however long it was awake");
    }
}
