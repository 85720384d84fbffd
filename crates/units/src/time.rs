//! Instants and durations in integer nanoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// An instant of a run: nanoseconds since its start. 64 bits last 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than every instant; the deadline of a part without one.
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for congestion control and tables.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// Duration since `earlier`; zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    /// Saturates at [`Time::NEVER`].
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub<Duration> for Time {
    type Output = Self;
    /// Saturates at [`Time::ZERO`].
    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl Sub for Time {
    type Output = Duration;
    /// Duration between two instants. Panics in debug builds if `earlier` is later.
    fn sub(self, earlier: Self) -> Duration {
        debug_assert!(self.0 >= earlier.0, "a span cannot be negative: {self} - {earlier}");
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NEVER { f.write_str("never") } else { Duration(self.0).fmt(f) }
    }
}

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Duration {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// Longer than every duration.
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A span of `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// A span of `secs` seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * NANOS_PER_SEC)
    }

    /// The span nearest to `secs` seconds; zero for negative or not-a-number, [`Duration::MAX`] when too long.
    pub fn from_secs_f64(secs: f64) -> Self {
        Self((secs * NANOS_PER_SEC as f64 + 0.5) as u64)
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds, for congestion control and tables.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// The span times `factor`, rounded to the nearest nanosecond.
    pub fn scaled(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor + 0.5) as u64)
    }

    /// The duration divided by the square root of `n`, rounded down; the duration itself for 0. Integer arithmetic, so
    /// that it is equal on every platform.
    pub fn over_sqrt(self, n: u32) -> Self {
        let square = u128::from(self.0) * u128::from(self.0) / u128::from(n.max(1));
        Self(square.isqrt() as u64)
    }

    /// `self - other`, or zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The distance between two spans.
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        debug_assert!(self.0 >= other.0, "a span cannot be negative: {self} - {other}");
        Self(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.0;
        let (divisor, unit) = match n {
            0 => (NANOS_PER_SEC, "s"),
            _ if n.is_multiple_of(NANOS_PER_SEC) => (NANOS_PER_SEC, "s"),
            _ if n.is_multiple_of(1_000_000) || n > NANOS_PER_SEC => (1_000_000, "ms"),
            _ if n.is_multiple_of(1_000) || n > 1_000_000 => (1_000, "us"),
            _ => (1, "ns"),
        };
        // exact: at most nine decimals, trailing zeros cut
        let whole = n / divisor;
        let rest = n % divisor;
        if rest == 0 {
            return write!(f, "{whole} {unit}");
        }
        let digits = divisor.ilog10() as usize;
        let text = format!("{rest:0digits$}");
        write!(f, "{whole}.{} {unit}", text.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_print_in_their_largest_exact_unit() {
        for (nanos, text) in [
            (0, "0 s"),
            (60_000_000_000, "60 s"),
            (20_000_000, "20 ms"),
            (1_500_000, "1500 us"),
            (1_234_567_891, "1234.567891 ms"),
            (7, "7 ns"),
        ] {
            assert_eq!(Duration::from_nanos(nanos).to_string(), text);
        }
    }

    #[test]
    fn a_span_over_a_root_is_exact_to_the_nanosecond_below() {
        let interval = Duration::from_millis(100);
        let over: Vec<u64> = (0..6).map(|n| interval.over_sqrt(n).as_nanos()).collect();
        assert_eq!(over, [100_000_000, 100_000_000, 70_710_678, 57_735_026, 50_000_000, 44_721_359]);
        assert_eq!(Duration::from_secs(1_000_000_000).over_sqrt(4), Duration::from_secs(500_000_000));
    }

    #[test]
    fn sums_with_never_are_never() {
        assert_eq!(Time::NEVER + Duration::from_secs(1), Time::NEVER);
        assert_eq!(Time::NEVER.to_string(), "never");
    }
}
