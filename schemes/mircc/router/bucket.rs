//! The leaky bucket that polices the Interests of one link.

use units::Time;

/// A bucket whose level is the queue at the link if Interests were their Data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bucket {
    level: f64,
    drained_at: Time,
}

impl Bucket {
    /// Its level at `now`, in packets, with a drain of `rate` packets per second.
    #[inline]
    pub(crate) fn level(&mut self, now: Time, rate: f64) -> f64 {
        if now > self.drained_at {
            self.level = (self.level - (now - self.drained_at).as_secs_f64() * rate).max(0.0);
            self.drained_at = now;
        }
        self.level
    }

    /// Adds a packet if the level is at most `depth` then; no limit if `depth` is 0. Returns whether it was added.
    #[inline]
    pub(crate) fn add(&mut self, now: Time, rate: f64, depth: u32) -> bool {
        let after = self.level(now, rate) + 1.0;
        let fits = depth == 0 || after <= f64::from(depth) + ROUNDING;
        if fits {
            self.level = after;
        }
        fits
    }
}

/// Maximum rounding error of the sum of many small drains.
const ROUNDING: f64 = 1e-6;
