//! The transmission of packets on a link, one after another.

use units::{Bytes, Carry, Duration, Rate, Time};

use crate::PortSpec;

/// The transmitter of a port, and its link.
#[derive(Clone, PartialEq)]
#[repr(C)]
pub(super) struct Transmitter {
    pub(super) busy_until: Time,
    /// Time of a byte if that is a whole number of nanoseconds, which saves a division per packet; otherwise zero.
    nanos_per_byte: u64,
    pub(super) delay: Duration,
    /// When the last packet accepted will arrive.
    pub(super) last_arrive: Time,
    pub(super) carry: Carry,
    pub(super) rate: Rate,
}

impl Transmitter {
    pub(super) fn new(spec: &PortSpec) -> Self {
        Self {
            busy_until: Time::ZERO,
            nanos_per_byte: spec.rate.whole_nanos_per_byte().unwrap_or(0),
            delay: spec.delay,
            last_arrive: Time::ZERO,
            carry: Carry::default(),
            rate: spec.rate,
        }
    }

    /// Changes the rate. Returns the previous one.
    pub(super) fn set_rate(&mut self, rate: Rate) -> Rate {
        self.nanos_per_byte = rate.whole_nanos_per_byte().unwrap_or(0);
        std::mem::replace(&mut self.rate, rate)
    }

    /// Plans the transmission of a packet that is accepted now and starts at `start`. Returns when its last bit leaves,
    /// and when that arrives.
    #[inline(always)]
    pub(super) fn send(&mut self, now: Time, start: Time, size: u64) -> (Time, Time) {
        let depart = start + self.serialise(now, size);
        self.busy_until = depart;
        (depart, self.arrival(depart, Duration::ZERO))
    }

    /// When a bit that leaves at `depart` arrives, which travels longer than others by `more`. It must be the last one
    /// so far.
    #[inline(always)]
    pub(super) fn arrival(&mut self, depart: Time, more: Duration) -> Time {
        // a link delivers in order, also after its delay was shortened
        self.last_arrive = (depart + self.delay + more).max(self.last_arrive);
        self.last_arrive
    }

    /// The serialisation time of `size` bytes after the previous transmission.
    #[inline]
    fn serialise(&mut self, now: Time, size: u64) -> Duration {
        if self.nanos_per_byte != 0 {
            return Duration::from_nanos(size * self.nanos_per_byte);
        }
        if self.busy_until < now {
            self.carry = Carry::default();
        }
        let (span, carry) = self.rate.serialise(Bytes::new(size), self.carry);
        self.carry = carry;
        span
    }
}
