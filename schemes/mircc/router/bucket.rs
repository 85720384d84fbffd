//! The leaky bucket that polices the Interests of one link.

use units::Time;

/// A bucket whose level is the queue that would stand before the link, if Interests were the Data that they ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bucket {
    level: f64,
    drained_at: Time,
}

impl Bucket {
    /// Its level now, in packets, with a drain of `rate` packets per second.
    #[inline]
    pub(crate) fn level(&mut self, now: Time, rate: f64) -> f64 {
        if now > self.drained_at {
            self.level = (self.level - (now - self.drained_at).as_secs_f64() * rate).max(0.0);
            self.drained_at = now;
        }
        self.level
    }

    /// Takes one packet more, if it holds `depth` at most; without a limit where `depth` is 0.
    #[inline]
    pub(crate) fn pour(&mut self, now: Time, rate: f64, depth: u32) -> bool {
        let after = self.level(now, rate) + 1.0;
        let fits = depth == 0 || after <= f64::from(depth) + ROUNDING;
        if fits {
            self.level = after;
        }
        fits
    }
}

/// What the sum of many small drains may be off.
const ROUNDING: f64 = 1e-6;
