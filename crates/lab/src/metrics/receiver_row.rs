//! One receiver of a flow with its record, from which the tables take their values.

use contract::Count;
use sim::ReceiverRecord;
use units::{Duration, Time};

use super::means::{DelaySums, per_second, share_lost};
use super::percentiles::PERCENTS;

/// One receiver of a flow.
pub(super) struct ReceiverRow<'a> {
    pub(super) flow: &'a str,
    pub(super) node: &'a str,
    pub(super) record: &'a ReceiverRecord,
    /// Whether it plays a video.
    pub(super) plays: bool,
    /// When its flow had started and it was a member.
    pub(super) since: Option<Time>,
    /// Time after the warm-up in which it was a member and its sender was active.
    pub(super) active: Duration,
    /// Time after the warm-up.
    pub(super) measured: Duration,
    /// Data packets of its flow that were dropped, if it is the only receiver.
    pub(super) drops: Option<u64>,
    /// [`PERCENTS`] of the waits of the packets that arrived.
    pub(super) waits_s: [Option<f64>; PERCENTS.len()],
}

impl ReceiverRow<'_> {
    pub(super) fn throughput(&self) -> Option<f64> {
        self.per_measured(self.record.bytes)
    }

    pub(super) fn goodput(&self) -> Option<f64> {
        self.per_measured(self.record.meter.goodput_bytes)
    }

    /// Bits per second of the measured time; `None` if it was no member of an active flow.
    fn per_measured(&self, bytes: u64) -> Option<f64> {
        (self.active > Duration::ZERO).then(|| per_second(bytes, self.measured)).flatten()
    }

    pub(super) fn active_throughput(&self) -> Option<f64> {
        per_second(self.record.bytes, self.active)
    }

    pub(super) fn active_goodput(&self) -> Option<f64> {
        per_second(self.record.meter.goodput_bytes, self.active)
    }

    /// Lost packets over those that were lost or arrived: dropped ones of its flow if it is the only receiver,
    /// otherwise those that it found missing.
    pub(super) fn loss_ratio(&self) -> Option<f64> {
        let lost = self.drops.unwrap_or_else(|| self.record.meter.count(Count::Missing));
        share_lost([lost, self.record.packets])
    }

    /// Sums over the packets that arrived.
    pub(super) fn sums(&self) -> DelaySums {
        DelaySums::new(self.record.packets, self.record.delay_sum_ns, self.record.wait_sum_ns)
    }

    /// A count of its player; `None` if it has none.
    pub(super) fn played(&self, what: Count) -> Option<u64> {
        self.plays.then(|| self.record.meter.count(what))
    }

    pub(super) fn lost(&self) -> Option<u64> {
        let (missed, late) = (self.played(Count::FramesMissed)?, self.played(Count::FramesLate)?);
        // a frame that was due before the end of the warm-up may become complete after it
        Some(missed.saturating_sub(late))
    }

    pub(super) fn startup(&self) -> Option<f64> {
        let at = Some(self.record.meter.media().played_at).filter(|at| self.plays && *at < Time::NEVER)?;
        Some(at.saturating_since(self.since?).as_secs_f64())
    }

    pub(super) fn stalled(&self) -> Option<f64> {
        self.played(Count::StallNanos).map(|nanos| nanos as f64 / 1e9)
    }

    pub(super) fn owd_min(&self) -> Option<f64> {
        (self.record.packets > 0).then(|| self.record.delay_min.as_secs_f64())
    }

    pub(super) fn owd_max(&self) -> Option<f64> {
        (self.record.packets > 0).then(|| self.record.delay_max.as_secs_f64())
    }
}
