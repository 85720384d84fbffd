//! Exponential retransmission suppression: an Interest is forwarded again after an interval at the earliest, and the
//! interval doubles each time.

use contract::{Pending, StrategyCx};
use units::{Duration, Time};

/// Minimum and maximum of the interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suppression {
    pub first: Duration,
    pub max: Duration,
}

impl Suppression {
    /// When the Interest was last sent to any face; `None` if it was not.
    pub(super) fn last(pending: Pending, cx: &dyn StrategyCx) -> Option<Time> {
        (0..).map_while(|index| cx.upstream(pending, index)).map(|record| record.sent_at).max()
    }

    /// Whether the interval since `last` has passed. The entry's strategy note holds the interval in microseconds.
    pub(super) fn is_over(self, pending: Pending, last: Time, cx: &dyn StrategyCx) -> bool {
        cx.now() >= last + self.interval(pending, cx)
    }

    /// Doubles the interval after a retransmission.
    pub(super) fn widen(self, pending: Pending, cx: &mut dyn StrategyCx) {
        let wider = (self.interval(pending, cx) * 2).min(self.max);
        cx.set_note(pending, u32::try_from(wider.as_nanos() / 1000).unwrap_or(u32::MAX));
    }

    fn interval(self, pending: Pending, cx: &dyn StrategyCx) -> Duration {
        match cx.note(pending) {
            0 => self.first,
            micros => Duration::from_micros(u64::from(micros)),
        }
    }
}
