//! Clocks: offset and drift.

use std::fmt;

use crate::{Duration, Time};

/// Unit of [`Drift`]: parts per billion.
const BILLION: u64 = 1_000_000_000;

/// Clock offset at the start of a run, in nanoseconds: the clock's time minus true time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offset(i64);

impl Offset {
    /// An exact clock.
    pub const ZERO: Self = Self(0);

    /// This many nanoseconds ahead.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds ahead.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Ahead by `span`; by at most 292 years.
    pub const fn ahead(span: Duration) -> Self {
        let nanos = span.as_nanos();
        Self(if nanos > i64::MAX as u64 { i64::MAX } else { nanos as i64 })
    }

    /// Behind by `span`; by at most 292 years.
    pub const fn behind(span: Duration) -> Self {
        Self(-Self::ahead(span).0)
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0 < 0 { "-" } else { "" })?;
        Duration::from_nanos(self.0.unsigned_abs()).fmt(f)
    }
}

/// Clock drift in parts per billion; positive for a clock that runs fast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Drift(i32);

impl Drift {
    /// A clock at the rate of true time.
    pub const ZERO: Self = Self(0);
    /// Maximum absolute value: 10 %.
    pub const MAX: Self = Self(100_000_000);

    /// This many parts per billion, limited to [`Drift::MAX`] either way.
    pub const fn from_ppb(ppb: i32) -> Self {
        let max = Self::MAX.0;
        Self(if ppb > max {
            max
        } else if ppb < -max {
            -max
        } else {
            ppb
        })
    }

    /// This many parts per million, limited to [`Drift::MAX`] either way.
    pub const fn from_ppm(ppm: i32) -> Self {
        Self::from_ppb(ppm.saturating_mul(1000))
    }

    /// Parts per billion.
    pub const fn as_ppb(self) -> i32 {
        self.0
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 % 1000 == 0 { write!(f, "{} ppm", self.0 / 1000) } else { write!(f, "{} ppb", self.0) }
    }
}

/// A clock in nanoseconds, with offset and drift.
///
/// Monotone and exact: at the instant `t` it shows `base + ⌊t·(10⁹ + d)/10⁹⌋`, for a drift of `d` parts per billion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Its time at the start of the run, in nanoseconds.
    base: u64,
    /// Nanoseconds that it advances per second of true time.
    pace: u64,
}

impl Clock {
    /// A clock that shows `base` at the start of the run.
    pub const fn new(base: Duration, drift: Drift) -> Self {
        Self { base: base.as_nanos(), pace: BILLION.saturating_add_signed(drift.0 as i64) }
    }

    /// Its time at the instant `at`.
    #[inline]
    pub const fn local_time(&self, at: Time) -> Time {
        let nanos = at.as_nanos();
        if nanos == u64::MAX {
            return at;
        }
        let counted = if self.pace == BILLION {
            nanos
        } else {
            let (secs, rest) = (nanos / BILLION, nanos % BILLION);
            secs.saturating_mul(self.pace).saturating_add(rest * self.pace / BILLION)
        };
        Time::from_nanos(self.base.saturating_add(counted))
    }

    /// The first instant at which it shows `local_time` or more.
    #[inline]
    pub const fn first(&self, local_time: Time) -> Time {
        let nanos = local_time.as_nanos();
        if nanos == u64::MAX {
            return local_time;
        }
        let counted = nanos.saturating_sub(self.base);
        if self.pace == BILLION {
            return Time::from_nanos(counted);
        }
        let (secs, rest) = (counted / self.pace, counted % self.pace);
        let rest = (rest * BILLION).div_ceil(self.pace);
        Time::from_nanos(secs.saturating_mul(BILLION).saturating_add(rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    #[test]
    fn a_clock_with_an_offset_shows_the_time_plus_the_offset() {
        let clock = Clock::new(Duration::from_secs(3600), Drift::ZERO);
        assert_eq!(clock.local_time(at(7)), at(3_600_000_000_007));
        assert_eq!(clock.first(at(3_600_000_000_007)), at(7));
        assert_eq!(clock.first(at(5)), at(0));
        assert_eq!((clock.local_time(Time::NEVER), clock.first(Time::NEVER)), (Time::NEVER, Time::NEVER));
    }

    #[test]
    fn a_hundred_parts_per_million_are_a_tenth_of_a_millisecond_a_second() {
        let fast = Clock::new(Duration::ZERO, Drift::from_ppm(100));
        let slow = Clock::new(Duration::ZERO, Drift::from_ppm(-100));
        assert_eq!(fast.local_time(at(1_000_000_000)), at(1_000_100_000));
        assert_eq!(slow.local_time(at(1_000_000_000)), at(999_900_000));
        assert_eq!(fast.local_time(at(600_000_000_000)), at(600_060_000_000));
        assert_eq!(fast.first(at(1_000_100_000)), at(1_000_000_000));
        assert_eq!(slow.first(at(999_900_000)), at(1_000_000_000));
        // a slow clock has ticks of more than a nanosecond, so it shows one time twice
        assert_eq!((slow.local_time(at(9_999)), slow.local_time(at(10_000))), (at(9_998), at(9_999)));
        assert_eq!(slow.local_time(at(0)), slow.first(at(0)));
    }

    #[test]
    fn a_deadline_is_the_first_instant_at_which_the_clock_shows_it() {
        let mut state = 1u64;
        for drift in [-100_000_000, -100_000, -1, 0, 1, 3, 100_000, 99_999_999, 100_000_000] {
            for base in [0, 1, 3_600_000_000_000] {
                let clock = Clock::new(Duration::from_nanos(base), Drift::from_ppb(drift));
                for _ in 0..2000 {
                    state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                    let local_time = at(base + (state >> 20));
                    let first = clock.first(local_time);
                    assert!(clock.local_time(first) >= local_time);
                    let before = first - Duration::from_nanos(1);
                    assert!(first == Time::ZERO || clock.local_time(before) < local_time);
                    // the shown time leads back to the instant, or to the previous nanosecond with the same shown time
                    let now = at(state >> 20);
                    let back = clock.first(clock.local_time(now));
                    assert!(back <= now && (now - back).as_nanos() <= u64::from(drift < 0));
                    assert_eq!(clock.local_time(back), clock.local_time(now));
                }
            }
        }
    }

    #[test]
    fn offsets_and_drifts_are_printed_with_their_sign() {
        assert_eq!(Offset::behind(Duration::from_secs(90)).to_string(), "-90 s");
        assert_eq!(Offset::ahead(Duration::from_millis(5)).to_string(), "5 ms");
        assert_eq!(Drift::from_ppm(-20).to_string(), "-20 ppm");
        assert_eq!(Drift::from_ppb(1500).to_string(), "1500 ppb");
        assert_eq!(Drift::from_ppm(i32::MAX), Drift::MAX);
    }
}
