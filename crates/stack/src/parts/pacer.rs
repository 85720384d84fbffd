//! Pacing: from a rate to departure times.

use units::{Bytes, Carry, Duration, Rate, Time};

/// The earliest departure of the next packet. The remainder of a gap below a nanosecond is carried to the next gap, so
/// that the mean rate is exact.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    free_at: Time,
    carry: Carry,
    /// How much later than it might the last batch began to leave, as far as no packet was charged less for it.
    late: Duration,
}

impl Pacer {
    /// The earliest departure of the next packet.
    #[inline]
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Records that a packet of `size` bytes, headers included, leaves at `now`. The next packet may leave after its
    /// serialisation time at `rate`.
    ///
    /// Unused time does not accumulate: a sender that was idle does not catch up with a burst. With `credit`, a packet
    /// that leaves later than it might is charged less by that time, and half at least
    /// [Linux: tcp_update_skb_after_send].
    #[inline]
    pub fn charge(&mut self, size: Bytes, rate: Rate, now: Time, credit: bool) {
        if self.free_at <= now {
            self.late = now - self.free_at;
            if self.free_at < now {
                self.free_at = now;
                self.carry = Carry::default();
            }
        }
        let (gap, carry) = rate.serialise(size, self.carry);
        let less = if credit { self.late.min(gap / 2) } else { Duration::ZERO };
        self.late -= less;
        self.free_at += gap - less;
        self.carry = carry;
    }

    /// Records that a packet leaves at `now`. The next packet may leave after `gap`.
    pub fn wait(&mut self, gap: Duration, now: Time) {
        self.free_at = self.free_at.max(now) + gap;
        self.carry = Carry::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_packets_at_7_mbps_take_exactly_their_time() {
        let mut pacer = Pacer::default();
        for _ in 0..7 {
            pacer.charge(Bytes::new(1000), Rate::from_mbps(7), pacer.free_at(), false);
        }
        // 7 · 8000 bit / 7 Mbit/s = 8 ms
        assert_eq!(pacer.free_at(), Time::from_nanos(8_000_000));
    }

    #[test]
    fn an_idle_time_gives_no_burst() {
        let mut pacer = Pacer::default();
        pacer.charge(Bytes::new(1000), Rate::from_mbps(8), Time::ZERO, false);
        let later = Time::from_nanos(5_000_000);
        pacer.charge(Bytes::new(1000), Rate::from_mbps(8), later, false);
        assert_eq!(pacer.free_at(), Time::from_nanos(6_000_000));
    }

    /// A packet takes 1 ms. It leaves 0.3 ms late and is charged 0.7 ms; the next, 5 ms late, half of its time.
    #[test]
    fn a_late_packet_is_charged_less() {
        let mut pacer = Pacer::default();
        let at = |micros| Time::ZERO + Duration::from_micros(micros);
        let mut charge = |micros| {
            pacer.charge(Bytes::new(1000), Rate::from_mbps(8), at(micros), true);
            pacer.free_at()
        };
        assert_eq!([charge(0), charge(1300), charge(7000), charge(7500)], [1000, 2000, 7500, 8500].map(at));
    }
}
