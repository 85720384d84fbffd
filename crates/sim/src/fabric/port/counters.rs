//! Counters of a port.

use contract::Backlog;
use units::{Duration, Rate, Time};

use crate::RateTrace;

/// Counters that every packet changes, from the start of the run.
#[derive(Default)]
#[repr(C)]
pub(super) struct Counters {
    // not beside each other: two sums in a vector take more instructions than one after the other
    pub(super) sent_packets: u64,
    pub(super) offered_packets: u64,
    pub(super) sent_bytes: u64,
}

impl Counters {
    /// Counts a packet that is or will be transmitted.
    #[inline(always)]
    pub(super) fn count_sent(&mut self, size: u64) {
        self.sent_packets += 1;
        self.sent_bytes += size;
    }

    /// Adds other counts.
    pub(super) fn add(&mut self, more: &Self) {
        self.offered_packets += more.offered_packets;
        self.sent_packets += more.sent_packets;
        self.sent_bytes += more.sent_bytes;
    }

    /// Reverts this count, because the link failed before.
    pub(super) fn take_back_sent(&mut self, size_bytes: u32) {
        self.sent_packets -= 1;
        self.sent_bytes -= u64::from(size_bytes);
    }
}

/// Counters of the backlog, which packets that wait change, from the start of the run.
#[derive(Default)]
#[repr(C)]
pub(super) struct WaitTimes {
    /// Integrals of the waiting packets and bytes over time.
    pub(super) backlog_packet_ns: u128,
    pub(super) backlog_byte_ns: u128,
}

impl WaitTimes {
    /// Counts a packet that will wait for `wait`.
    #[inline(always)]
    pub(super) fn count_wait(&mut self, wait: Duration, size: u64) {
        let wait = u128::from(wait.as_nanos());
        self.backlog_packet_ns += wait;
        self.backlog_byte_ns += wait * u128::from(size);
    }

    /// Corrects the waiting time of a packet by `change_ns`.
    pub(super) fn correct_wait(&mut self, change_ns: i128, size_bytes: u32) {
        self.backlog_packet_ns = self.backlog_packet_ns.saturating_add_signed(change_ns);
        self.backlog_byte_ns = self.backlog_byte_ns.saturating_add_signed(change_ns * i128::from(size_bytes));
    }

    /// Counts a backlog that was constant for `span`.
    pub(super) fn count_backlog(&mut self, span: Duration, backlog: Backlog) {
        let span = u128::from(span.as_nanos());
        self.backlog_packet_ns += span * u128::from(backlog.packets);
        self.backlog_byte_ns += span * u128::from(backlog.bytes.as_u64());
    }
}

/// The bits that the link could have carried while it was up.
#[derive(Clone, Default)]
pub(super) struct Capacity {
    /// In bit-nanoseconds, up to `since`.
    pub(super) bit_ns: u128,
    since: Time,
    /// At the last sample of utilisation.
    sampled_bit_ns: u128,
}

impl Capacity {
    /// The capacity at the start of the run.
    pub(super) const ZERO: Self = Self { bit_ns: 0, since: Time::ZERO, sampled_bit_ns: 0 };

    /// The capacity up to `now`, at `rate` since the last change.
    pub(super) fn until(&self, now: Time, rate: Rate) -> Self {
        let more = if rate == Rate::UNLIMITED {
            0
        } else {
            u128::from(rate.as_bps()) * u128::from((now - self.since).as_nanos())
        };
        Self { bit_ns: self.bit_ns + more, since: now, ..*self }
    }

    /// The capacity up to `now`, at the rate of a trace.
    pub(super) fn until_by_trace(&self, now: Time, trace: &RateTrace) -> Self {
        Self { bit_ns: self.bit_ns + trace.bit_ns(self.since, now), since: now, ..*self }
    }

    /// Bit-nanoseconds since the last call.
    pub(super) fn since_last(&mut self) -> u128 {
        self.bit_ns - std::mem::replace(&mut self.sampled_bit_ns, self.bit_ns)
    }
}
