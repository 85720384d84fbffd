//! Bit rates, and the conversion of bytes to time.

use std::fmt;

use crate::{Bytes, Duration};

/// A rate in bit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

/// The remainder of serialisation times below a nanosecond, in units of 1/rate nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carry(u64);

const NANOS_PER_SEC: u64 = 1_000_000_000;

impl Rate {
    /// No capacity: the serialisation time is [`Duration::MAX`].
    pub const ZERO: Self = Self(0);
    /// No limit.
    pub const UNLIMITED: Self = Self(u64::MAX);

    /// A rate in bit/s.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// A rate in kbit/s (10³ bit/s).
    pub const fn from_kbps(kbps: u64) -> Self {
        Self(kbps * 1_000)
    }

    /// A rate in Mbit/s (10⁶ bit/s).
    pub const fn from_mbps(mbps: u64) -> Self {
        Self(mbps * 1_000_000)
    }

    /// The rate nearest to `bps` bit/s; zero for negative or not-a-number.
    pub fn from_bps_f64(bps: f64) -> Self {
        Self((bps + 0.5) as u64)
    }

    /// bit/s.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// bit/s, for controllers and tables.
    pub fn as_bps_f64(self) -> f64 {
        self.0 as f64
    }

    /// Whole bytes that are transmitted in `span`, rounded down.
    pub fn bytes_in(self, span: Duration) -> Bytes {
        let bits = u128::from(self.0) * u128::from(span.as_nanos()) / u128::from(NANOS_PER_SEC);
        Bytes::new(u64::try_from(bits / 8).unwrap_or(u64::MAX))
    }

    /// Serialisation time of `size` at this rate, and the remainder for the next call.
    ///
    /// [`Duration::MAX`] at rate zero, zero at [`Rate::UNLIMITED`].
    #[inline]
    pub fn serialise(self, size: Bytes, carry: Carry) -> (Duration, Carry) {
        match self.0 {
            0 => (Duration::MAX, Carry(0)),
            u64::MAX => (Duration::ZERO, Carry(0)),
            bps => {
                match (size.as_u64() * 8).checked_mul(NANOS_PER_SEC).and_then(|x| x.checked_add(carry.0)) {
                    Some(bit_nanos) => (Duration::from_nanos(bit_nanos / bps), Carry(bit_nanos % bps)),
                    None => {
                        let bit_nanos =
                            u128::from(size.as_u64()) * 8 * u128::from(NANOS_PER_SEC) + u128::from(carry.0);
                        let nanos = u64::try_from(bit_nanos / u128::from(bps)).unwrap_or(u64::MAX);
                        (Duration::from_nanos(nanos), Carry((bit_nanos % u128::from(bps)) as u64))
                    }
                }
            }
        }
    }

    /// Serialisation time of one byte if it is a whole number of nanoseconds, as at 1 Gbit/s or 100 Mbit/s: then there
    /// is never a remainder.
    pub const fn whole_nanos_per_byte(self) -> Option<u64> {
        match self.0 {
            0 | u64::MAX => None,
            bps if (8 * NANOS_PER_SEC).is_multiple_of(bps) => Some(8 * NANOS_PER_SEC / bps),
            _ => None,
        }
    }

    /// Serialisation time of `size`, rounded down to a nanosecond.
    pub fn time_for_floor(self, size: Bytes) -> Duration {
        self.serialise(size, Carry::default()).0
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::UNLIMITED {
            return f.write_str("unlimited");
        }
        let (divisor, unit) = match self.0 {
            n if n >= NANOS_PER_SEC && n % 1_000_000 == 0 => (NANOS_PER_SEC, "Gbit/s"),
            n if n >= 1_000_000 && n % 1_000 == 0 => (1_000_000, "Mbit/s"),
            n if n >= 1_000 => (1_000, "kbit/s"),
            _ => (1, "bit/s"),
        };
        write!(f, "{} {unit}", self.0 as f64 / divisor as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_packets_at_7_mbps_end_on_the_exact_nanosecond() {
        let (mut carry, mut total) = (Carry::default(), 0u64);
        for _ in 0..1_000_000 {
            let (span, rest) = Rate::from_mbps(7).serialise(Bytes::new(1500), carry);
            carry = rest;
            total += span.as_nanos();
        }
        // 1e6 · 12 000 bit / 7e6 bit/s = 1714.285714285714… s
        assert_eq!(total, 1_714_285_714_285);
    }

    #[test]
    fn a_rate_of_zero_never_finishes_and_an_unlimited_one_takes_no_time() {
        assert_eq!(Rate::ZERO.serialise(Bytes::new(1), Carry::default()).0, Duration::MAX);
        assert_eq!(Rate::UNLIMITED.serialise(Bytes::new(1), Carry::default()).0, Duration::ZERO);
    }

    #[test]
    fn rates_print_in_the_unit_people_use() {
        assert_eq!(Rate::from_mbps(50).to_string(), "50 Mbit/s");
        assert_eq!(Rate::from_mbps(1000).to_string(), "1 Gbit/s");
        assert_eq!(Rate::from_kbps(900).to_string(), "900 kbit/s");
        assert_eq!(Rate::from_bps(1500).to_string(), "1.5 kbit/s");
    }
}
