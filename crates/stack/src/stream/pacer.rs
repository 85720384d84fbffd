//! Departure times of a stream's packets.

use contract::Random;
use units::{Bytes, Carry, Duration, Rate, Time};

/// Departure times at a rate, with jitter: each gap is randomly changed by a share of itself.
///
/// The mean rate is exact without jitter, and exact on average with it.
#[derive(Clone, Debug)]
pub(super) struct Pacer {
    /// Size of the last packet.
    packet: Bytes,
    /// Maximum share by which a gap is changed.
    jitter: f64,
    rate: Rate,
    paused: bool,
    /// When the last packet was due; `None` before the first.
    last: Option<Time>,
    /// The gap after the last packet, and the random factor in it.
    gap: Duration,
    jitter_factor: f64,
    /// The remainder of previous gaps below a nanosecond.
    carry: Carry,
    next: Time,
}

impl Pacer {
    /// A pacer without a rate.
    pub(super) fn new(packet: Bytes, jitter: f64) -> Self {
        Self {
            packet,
            jitter,
            rate: Rate::ZERO,
            paused: false,
            last: None,
            gap: Duration::MAX,
            jitter_factor: 1.0,
            carry: Carry::default(),
            next: Time::NEVER,
        }
    }

    /// When the next packet leaves.
    #[inline]
    pub(super) const fn next(&self) -> Time {
        self.next
    }

    /// The current rate.
    #[inline]
    pub(super) const fn rate(&self) -> Rate {
        self.rate
    }

    /// Sets the rate, and whether packets are held back. The pending packet then leaves one gap of the new rate after
    /// the previous packet, but not before `now`.
    pub(super) fn set(&mut self, rate: Rate, paused: bool, now: Time) {
        if rate == self.rate && paused == self.paused {
            return;
        }
        if rate != self.rate {
            self.rate = rate;
            self.carry = Carry::default();
            self.measure();
        }
        self.paused = paused;
        self.next = match self.last {
            _ if paused || rate == Rate::ZERO => Time::NEVER,
            None => now,
            // max(now, t_last + 8s/R)
            Some(last) => now.max(last + self.gap),
        };
    }

    /// Records that the pending packet of `size` bytes leaves at `now`.
    pub(super) fn sent(&mut self, size: Bytes, now: Time, random: &mut Random) {
        self.packet = size;
        // a late driver does not lower the rate, unless it is later than one gap
        let departure = self.next;
        let last = if now.saturating_since(departure) < self.gap { departure } else { now };
        self.last = Some(last);
        if self.jitter > 0.0 {
            self.jitter_factor = 1.0 + random.uniform(-self.jitter, self.jitter);
        }
        self.measure();
        self.next = if self.paused { Time::NEVER } else { last + self.gap };
    }

    /// Computes the gap after the last packet.
    fn measure(&mut self) {
        let (gap, carry) = self.rate.serialise(self.packet, self.carry);
        self.carry = carry;
        let jittered =
            if self.jitter > 0.0 && gap != Duration::MAX { gap.scaled(self.jitter_factor) } else { gap };
        self.gap = jittered.max(SHORTEST_GAP);
    }
}

/// Minimum gap: no two packets leave at the same instant.
const SHORTEST_GAP: Duration = Duration::from_nanos(1);
