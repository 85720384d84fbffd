//! Token buckets: the policer and the shaper of a port, by the rules of Linux's `act_police` and `sch_tbf`.
//!
//! Both have the same bucket (`tcf_police_act`, `tbf_dequeue`): it is full at the start, fills at its rate up to the
//! burst, and a packet conforms if it holds as many tokens as the packet has bytes. A policer drops what does not
//! conform and takes no tokens for it. A shaper lets the packet wait until it conforms; the queue before it is the
//! queue of the port. Linux counts tokens in nanoseconds at the rate, rounded per packet; here a token is a bit per
//! second for a nanosecond, so that nothing is rounded.

use units::{Duration, Rate, Time};

use super::Port;
use crate::TokenBucket;
use crate::rate_trace::BIT_NS_PER_BYTE;

/// A token bucket.
pub(super) struct Bucket {
    rate: Rate,
    /// Capacity, in bit-nanoseconds.
    burst: u64,
    /// Tokens at `at`, in bit-nanoseconds.
    tokens: u64,
    at: Time,
}

impl Bucket {
    /// The full bucket.
    pub(super) fn new(spec: TokenBucket) -> Self {
        let burst = spec.burst.as_u64() * BIT_NS_PER_BYTE;
        Self { rate: spec.rate, burst, tokens: burst, at: Time::ZERO }
    }

    pub(super) const fn rate(&self) -> Rate {
        self.rate
    }

    /// Whether a packet of this size can ever conform.
    pub(super) const fn can_hold(&self, size: u64) -> bool {
        size * BIT_NS_PER_BYTE <= self.burst
    }

    /// Tokens at `now`.
    #[inline]
    fn tokens_at(&self, now: Time) -> u64 {
        let accrued = u128::from(self.rate.as_bps()) * u128::from((now - self.at).as_nanos());
        let tokens = u128::from(self.tokens) + accrued;
        u64::try_from(tokens).map_or(self.burst, |tokens| tokens.min(self.burst))
    }

    /// Takes the tokens of a packet if it conforms now.
    #[inline]
    pub(super) fn takes(&mut self, now: Time, size: u64) -> bool {
        let (tokens, owed) = (self.tokens_at(now), size * BIT_NS_PER_BYTE);
        if owed > tokens {
            return false;
        }
        (self.tokens, self.at) = (tokens - owed, now);
        true
    }

    /// The first instant from `now` on at which a packet conforms, which the bucket can hold.
    #[inline]
    pub(super) fn conforms_at(&self, now: Time, size: u64) -> Time {
        let deficit = (size * BIT_NS_PER_BYTE).saturating_sub(self.tokens_at(now));
        now + Duration::from_nanos(deficit.div_ceil(self.rate.as_bps()))
    }

    /// Fills the bucket, because the link fails and the plan is void.
    pub(super) const fn reset(&mut self, now: Time) {
        (self.tokens, self.at) = (self.burst, now);
    }
}

impl Port {
    /// The shaper of a port that has one.
    #[inline]
    fn shaper(&mut self) -> &mut Bucket {
        self.cold.present().shaper.as_mut().expect("the port has a shaper")
    }

    /// When the next transmission can start that a shaper plans, or a trace for a FIFO.
    #[inline]
    pub(super) fn planned_start(&mut self, now: Time, size: u64) -> Time {
        if self.paths.shaped {
            let from = self.transmitter.busy_until.max(now);
            return self.shaper().conforms_at(from, size);
        }
        self.traced_start(now)
    }

    /// Plans a transmission of such a port. Returns when its last bit leaves, and when that arrives.
    #[inline]
    pub(super) fn plan(&mut self, start: Time, size: u64) -> (Time, Time) {
        if self.paths.shaped {
            let takes = self.shaper().takes(start, size);
            debug_assert!(takes, "a transmission starts when its packet conforms");
            return self.transmitter.send(start, start, size);
        }
        self.plan_traced(start, size)
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;

    fn bucket(kbps: u64, burst: u64) -> Bucket {
        Bucket::new(TokenBucket { rate: Rate::from_kbps(kbps), burst: Bytes::new(burst) })
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_micros(us)
    }

    #[test]
    fn a_policer_takes_a_burst_and_then_its_rate() {
        // 8 Mbit/s is a byte per µs
        let mut policer = bucket(8000, 3000);
        assert!(policer.takes(us(0), 1500) && policer.takes(us(0), 1500), "the burst");
        assert!(!policer.takes(us(1499), 1500), "1499 tokens");
        assert!(policer.takes(us(1500), 1500), "the refused packet took none");
        assert!(!policer.takes(us(1500), 1));
        // after a long pause there is one burst, not more
        assert!(policer.takes(us(1_000_000), 3000) && !policer.takes(us(1_000_000), 1));
    }

    #[test]
    fn a_shaper_waits_for_the_tokens_and_keeps_what_is_left() {
        let mut shaper = bucket(8000, 2000);
        assert_eq!(shaper.conforms_at(us(5), 2000), us(5));
        assert!(shaper.takes(us(5), 2000));
        assert_eq!(shaper.conforms_at(us(5), 1500), us(1505));
        assert!(shaper.takes(us(1600), 1500));
        // 95 tokens are left: 1500 − 95 µs later
        assert_eq!(shaper.conforms_at(us(1600), 1500), us(1600 + 1405));
    }

    #[test]
    fn no_token_is_lost_to_rounding() {
        // 3 Mbit/s are 0.375 bytes per µs: packet n of 1000 bytes conforms when 1000 (n + 1) = 1001 + 0.375 t, for n =
        // 3000 at 7 999 997.33 µs. A full bucket takes no more, so that the burst is a byte above the packet
        let mut shaper = bucket(3000, 1001);
        let mut at = us(0);
        let starts = (0..3001).map(|_| {
            at = shaper.conforms_at(at, 1000);
            assert!(shaper.takes(at, 1000));
            at
        });
        assert_eq!(starts.last(), Some(Time::from_nanos(7_999_997_334)));
    }

    #[test]
    fn a_bucket_holds_no_packet_above_its_burst() {
        let shaper = bucket(1, 1500);
        assert!(shaper.can_hold(1500) && !shaper.can_hold(1501));
    }
}
