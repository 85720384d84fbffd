//! A controller that passes every call on, and notes what quinn shows to controllers only: round-trip times, bytes in flight, episodes.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use units::Duration;

/// What a controller was shown last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// The round-trip time of an ACK frame that has not been reported.
    pub(crate) rtt: Option<Duration>,
    /// Bytes in flight.
    pub(crate) in_flight: u64,
    /// Episodes so far. quinn's own counter has every detection of losses.
    pub(crate) episodes: u64,
    /// Slow-start threshold in bytes, where the controller tells it.
    pub(crate) ssthresh: Option<u64>,
}

/// Shared by a controller and its endpoint.
pub(crate) type Shared = Arc<Mutex<Seen>>;

/// Makes controllers that note what they see.
pub(crate) struct Factory {
    pub(crate) inner: Arc<dyn ControllerFactory + Send + Sync>,
    pub(crate) seen: Shared,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = self.inner.clone().build(now, current_mtu);
        Box::new(Tap { inner, seen: self.seen.clone(), newest: None, before: None, recovery_began: None })
    }
}

struct Tap {
    inner: Box<dyn Controller>,
    seen: Shared,
    /// Departure of the newest packet of the ACK frame, and of those before it.
    newest: Option<Instant>,
    before: Option<Instant>,
    /// When the last episode began.
    recovery_began: Option<Instant>,
}

impl Controller for Tap {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.newest = self.newest.max(Some(sent));
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if self.newest > self.before {
            self.before = self.newest;
            let rtt = self.newest.map(|sent| now.saturating_duration_since(sent).as_nanos());
            seen.rtt = rtt.and_then(|nanos| u64::try_from(nanos).ok()).map(Duration::from_nanos);
        }
        seen.in_flight = in_flight;
        seen.ssthresh = self.inner.metrics().ssthresh;
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        self.inner.on_congestion_event(now, sent, persistent, lost_bytes);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.in_flight = seen.in_flight.saturating_sub(lost_bytes);
        // a packet that left after the last episode began starts another one        [RFC9002 §7.3.2]
        if self.recovery_began.is_none_or(|began| sent > began) {
            self.recovery_began = Some(now);
            seen.episodes += 1;
        }
        seen.ssthresh = self.inner.metrics().ssthresh;
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        let Self { newest, before, recovery_began, .. } = *self;
        let (inner, seen) = (self.inner.clone_box(), self.seen.clone());
        Box::new(Self { inner, seen, newest, before, recovery_began })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
