//! Departure times of a stream's packets.

use contract::Random;
use units::{Bytes, Carry, Duration, Rate, Time};

/// Spaces packets by their time at the present rate, each gap stretched or shrunk a little.
///
/// Without jitter the spacing is exact in the long run; with jitter it is so on average.
#[derive(Clone, Debug)]
pub(super) struct Pacer {
    /// Size of the last packet.
    packet: Bytes,
    /// Maximum share by which a gap is stretched or shrunk.
    jitter: f64,
    rate: Rate,
    held: bool,
    /// When the last packet was due; `None` before the first.
    last: Option<Time>,
    /// The gap after it, and by how much it is stretched.
    gap: Duration,
    stretch: f64,
    /// What whole nanoseconds could not express of the gaps so far.
    carry: Carry,
    next: Time,
}

impl Pacer {
    /// A pacer at rest.
    pub(super) fn new(packet: Bytes, jitter: f64) -> Self {
        Self {
            packet,
            jitter,
            rate: Rate::ZERO,
            held: false,
            last: None,
            gap: Duration::MAX,
            stretch: 1.0,
            carry: Carry::default(),
            next: Time::NEVER,
        }
    }

    /// When the next packet leaves.
    #[inline]
    pub(super) const fn next(&self) -> Time {
        self.next
    }

    /// The present rate.
    #[inline]
    pub(super) const fn rate(&self) -> Rate {
        self.rate
    }

    /// Sets the rate, and whether packets are held back. The pending packet leaves at the end of its gap at the new rate,
    /// counted from the packet before it, but not before `now`. Nothing moves when nothing changed.
    pub(super) fn set(&mut self, rate: Rate, held: bool, now: Time) {
        if rate == self.rate && held == self.held {
            return;
        }
        if rate != self.rate {
            self.rate = rate;
            self.carry = Carry::default();
            self.measure();
        }
        self.held = held;
        self.next = match self.last {
            _ if held || rate == Rate::ZERO => Time::NEVER,
            None => now,
            // max(now, t_last + 8s/R)
            Some(last) => now.max(last + self.gap),
        };
    }

    /// The pending packet left at `now`, with `size` bytes.
    pub(super) fn sent(&mut self, size: Bytes, now: Time, random: &mut Random) {
        self.packet = size;
        // a driver that comes late does not lower the rate, unless it is late by more than a gap
        let due = self.next;
        let last = if now.saturating_since(due) < self.gap { due } else { now };
        self.last = Some(last);
        if self.jitter > 0.0 {
            self.stretch = 1.0 + random.uniform(-self.jitter, self.jitter);
        }
        self.measure();
        self.next = if self.held { Time::NEVER } else { last + self.gap };
    }

    /// Computes the gap after the last packet.
    fn measure(&mut self) {
        let (gap, carry) = self.rate.serialise(self.packet, self.carry);
        self.carry = carry;
        let jittered = if self.jitter > 0.0 && gap != Duration::MAX { gap.scaled(self.stretch) } else { gap };
        self.gap = jittered.max(SHORTEST_GAP);
    }
}

/// No two packets leave at the same instant, whatever the rate.
const SHORTEST_GAP: Duration = Duration::from_nanos(1);
