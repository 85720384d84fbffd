//! Sizes, windows in segments, shares.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

/// A number of bytes on the wire, headers included, unless a name says payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Self = Self(0);
    /// No limit.
    pub const UNLIMITED: Self = Self(u64::MAX);

    /// `bytes` bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Number of bytes.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// Number of bytes, for congestion control and tables.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// Number of bits.
    pub const fn as_bits(self) -> u64 {
        self.0.saturating_mul(8)
    }

    /// `self - other`, or zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Number of segments of `size`.
    pub fn in_segments(self, size: Self) -> Segments {
        Segments(self.0 as f64 / size.0 as f64)
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        debug_assert!(self.0 >= other.0, "a size cannot be negative: {} - {}", self.0, other.0);
        Self(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            u64::MAX => f.write_str("unlimited"),
            n if n >= 1_000_000 && n % 1_000 == 0 => write!(f, "{} MB", n as f64 / 1e6),
            n if n >= 10_000 && n % 100 == 0 => write!(f, "{} kB", n as f64 / 1e3),
            n => write!(f, "{n} B"),
        }
    }
}

/// A window or an amount in segments, as in papers; may be fractional.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Segments(pub f64);

impl Segments {
    /// Whole bytes of this many segments of `size`, rounded down; [`Bytes::UNLIMITED`] for an infinite number, such as
    /// the threshold before the first loss.
    pub fn in_bytes_floor(self, size: Bytes) -> Bytes {
        Bytes((self.0 * size.0 as f64) as u64)
    }

    /// The larger of two.
    pub fn max(self, other: Self) -> Self {
        if self.0 >= other.0 { self } else { other }
    }
}

/// A fraction in 0..=1: a probability, a utilisation, a fairness index.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share(pub f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinitely_many_segments_are_unlimited() {
        assert_eq!(Segments(f64::INFINITY).in_bytes_floor(Bytes::new(1460)), Bytes::UNLIMITED);
        assert_eq!(Segments(2.5).in_bytes_floor(Bytes::new(1001)), Bytes::new(2502));
    }
}
