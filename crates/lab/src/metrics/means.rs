//! Means, shares and rates, and the time over which they are taken.

use contract::Delays;
use sim::Trace;
use units::Duration;

/// The duration of all counts: from the warm-up to the end.
pub(super) fn measured(trace: &Trace) -> Duration {
    trace.ended_at.saturating_since(trace.warmup)
}

/// Drops over packets, at most 1, because packets sent before the end of the warm-up may be dropped after it.
pub(super) fn loss_ratio(drops: u64, packets: u64) -> Option<f64> {
    ratio(drops as f64, packets as f64).map(|share| share.min(1.0))
}

/// Lost packets over those that were lost or arrived.
pub(super) fn share_lost([lost, arrived]: [u64; 2]) -> Option<f64> {
    share([lost, lost + arrived])
}

/// Some of all.
pub(super) fn share([some, all]: [u64; 2]) -> Option<f64> {
    ratio(some as f64, all as f64)
}

/// The mean in seconds of a number of times with this sum in nanoseconds.
pub(super) fn mean_of([count, sum_ns]: [u64; 2]) -> Option<f64> {
    ratio(sum_ns as f64 / 1e9, count as f64)
}

pub(super) fn ratio(above: f64, below: f64) -> Option<f64> {
    (below > 0.0).then(|| above / below)
}

pub(super) fn per_second(bytes: u64, span: Duration) -> Option<f64> {
    ratio(bytes as f64 * 8.0, span.as_secs_f64())
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0u64), |(sum, n), value| (sum + value, n + 1));
    ratio(sum, n as f64)
}

/// Sums over packets that arrived.
#[derive(Clone, Copy, Default)]
pub(super) struct DelaySums {
    packets: u64,
    delay_ns: u128,
    wait_ns: u128,
}

impl DelaySums {
    pub(super) fn new(packets: u64, delay_ns: u64, wait_ns: u64) -> Self {
        Self { packets, delay_ns: delay_ns.into(), wait_ns: wait_ns.into() }
    }

    fn per_packet(&self, sum_ns: u128) -> Option<f64> {
        ratio(sum_ns as f64 / 1e9, self.packets as f64)
    }

    /// Mean one-way delay.
    pub(super) fn owd(&self) -> Option<f64> {
        self.per_packet(self.delay_ns)
    }

    /// Mean time in queues.
    pub(super) fn queueing(&self) -> Option<f64> {
        self.per_packet(self.wait_ns)
    }

    /// Mean one-way delay without the time in queues.
    pub(super) fn base(&self) -> Option<f64> {
        self.per_packet(self.delay_ns - self.wait_ns)
    }
}

impl std::iter::Sum for DelaySums {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, more| Self {
            packets: sum.packets + more.packets,
            delay_ns: sum.delay_ns + more.delay_ns,
            wait_ns: sum.wait_ns + more.wait_ns,
        })
    }
}

/// The delays of several flows or receivers together.
pub(super) fn pooled<'a>(delays: impl Iterator<Item = &'a Delays>) -> Delays {
    let mut all = Delays::default();
    delays.for_each(|some| all.add_all(some));
    all
}
