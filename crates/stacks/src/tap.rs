//! What stacks show to controllers only: round-trip times, bytes in flight, episodes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use contract::{Cause, Congestion};
use stack::log::{Event, Metrics, State, Writer};
use units::{Bytes, Duration, Rate, Time};

use crate::Counters;

/// What a controller was shown last.
#[derive(Default)]
pub struct Observations {
    /// The log of the flow, if there is one.
    pub(crate) log: Option<Writer>,
    /// The time of the current call.
    pub now: Time,
    /// Minimum of the round-trip times.
    pub(crate) rtt_min: Option<Duration>,
    /// The newest of them.
    pub(crate) rtt_latest: Option<Duration>,
    /// The round-trip time of an ACK frame that has not been reported.
    pub(crate) rtt: Option<Duration>,
    /// Bytes in flight.
    pub(crate) in_flight: u64,
    /// Episodes so far. A stack's own counter has every detection of losses.
    pub(crate) episodes: u64,
    /// Slow-start threshold in bytes, if the controller reports it.
    pub(crate) ssthresh: Option<u64>,
}

impl Observations {
    /// Writes to a log from now on.
    pub fn begin(&mut self, log: Writer, now: Time) {
        (self.log, self.now) = (Some(log), now);
    }

    /// Reports what the stack counts, and what it showed the controller last. A window of `u64::MAX` is none.
    pub fn write_metrics(&mut self, now: Time, counters: &Counters) {
        let Self { log, rtt_min, rtt_latest, in_flight, ssthresh, .. } = self;
        let Some(log) = log else { return };
        log.metrics(
            now,
            Metrics {
                rtt_min: *rtt_min,
                // before the first sample it is a constant
                rtt_smoothed: rtt_min.map(|_| duration(counters.srtt)),
                rtt_latest: *rtt_latest,
                window: Some(Bytes::new(counters.window)).filter(|window| *window != Bytes::UNLIMITED),
                in_flight: Some(Bytes::new(*in_flight)),
                ssthresh: ssthresh.filter(|ssthresh| *ssthresh < u64::MAX).map(Bytes::new),
                rate: counters.rate_bps.map(Rate::from_bps),
            },
        );
    }
}

fn duration(span: std::time::Duration) -> Duration {
    Duration::from_nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

/// What an ACK frame leaves behind.
#[derive(Clone, Copy, Debug)]
pub struct FrameEnd {
    /// Largest number that has been acknowledged.
    pub largest: Option<u64>,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Whether the connection lacks data.
    pub app_limited: bool,
    /// The controller's window.
    pub window: u64,
    /// Its slow-start threshold, if it reports it.
    pub ssthresh: Option<u64>,
}

/// Shared by a controller and its endpoint.
pub type Shared = Arc<Mutex<Observations>>;

/// What a controller was shown.
pub fn lock(observations: &Shared) -> MutexGuard<'_, Observations> {
    observations.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes what a controller is shown. A stack's module has a controller that passes every call on, and calls these
/// methods after it.
#[derive(Clone)]
pub struct Tap {
    observations: Shared,
    /// Departure of the newest packet of the ACK frame, and of those before it.
    newest: Option<Instant>,
    before: Option<Instant>,
    /// The newest packet that gave the log a round-trip time, and its number.
    sampled: Option<(Instant, Option<u64>)>,
    /// When the last episode began.
    recovery_began: Option<Instant>,
}

impl Tap {
    /// Notes in `observations`.
    pub const fn new(observations: Shared) -> Self {
        Self { observations, newest: None, before: None, sampled: None, recovery_began: None }
    }

    /// A packet that left at `sent` was acknowledged.
    pub fn acked(&mut self, sent: Instant) {
        self.newest = self.newest.max(Some(sent));
    }

    /// An ACK frame ended.
    pub fn frame_ended(&mut self, now: Instant, end: FrameEnd) {
        let FrameEnd { largest, in_flight, app_limited, window, ssthresh } = end;
        let mut observations = lock(&self.observations);
        if self.newest > self.before {
            self.before = self.newest;
            let rtt = self.newest.map(|sent| now.saturating_duration_since(sent).as_nanos());
            observations.rtt = rtt.and_then(|nanos| u64::try_from(nanos).ok()).map(Duration::from_nanos);
        }
        // several packets can leave at one instant; the log has a sample if the largest number is newly acknowledged
        // [RFC9002 §5.1]
        if let Some(newest) = self.newest.filter(|newest| Some((*newest, largest)) > self.sampled) {
            self.sampled = Some((newest, largest));
            let rtt = duration(now.saturating_duration_since(newest));
            observations.rtt_latest = Some(rtt);
            observations.rtt_min = Some(observations.rtt_min.map_or(rtt, |min| min.min(rtt)));
        }
        observations.in_flight = in_flight;
        observations.ssthresh = ssthresh;
        let recovers =
            self.newest.is_none_or(|newest| self.recovery_began.is_some_and(|began| newest <= began));
        let at = observations.now;
        if let Some(log) = observations.log.as_mut().filter(|_| !recovers) {
            let state = match window < ssthresh.unwrap_or(u64::MAX) {
                _ if app_limited => State::ApplicationLimited,
                true => State::SlowStart,
                false => State::CongestionAvoidance,
            };
            log.state(at, state, None);
        }
    }

    /// Packets were lost, or with `lost_bytes` of zero marked; the newest of them left at `sent`.
    pub fn congested(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        lost_bytes: u64,
        ssthresh: Option<u64>,
    ) {
        let mut observations = lock(&self.observations);
        let before = observations.in_flight;
        observations.in_flight = before.saturating_sub(lost_bytes);
        // a packet that left after the last episode began starts another one        [RFC9002 §7.3.2]
        let first = self.recovery_began.is_none_or(|began| sent > began);
        if first {
            self.recovery_began = Some(now);
            observations.episodes += 1;
        }
        observations.ssthresh = ssthresh;
        let at = observations.now;
        if let Some(log) = &mut observations.log {
            let cause = match (persistent, lost_bytes) {
                (true, _) => Cause::Timeout,
                (false, 0) => Cause::Mark,
                (false, _) => Cause::Loss,
            };
            let (bytes, in_flight) = (Bytes::new(lost_bytes), Bytes::new(before));
            log.write(at, Event::Congestion(Congestion { cause, bytes, in_flight, first }));
            log.state(at, State::Recovery, Some(cause));
        }
    }

    /// Nothing was lost in the last episode.
    pub fn nothing_lost(&self) {
        let observations = lock(&self.observations);
        if let Some(log) = &observations.log {
            log.write(observations.now, Event::Spurious);
        }
    }
}
