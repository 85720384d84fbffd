//! What stacks show to controllers only: round-trip times, bytes in flight, episodes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use units::Duration;

/// What a controller was shown last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// The round-trip time of an ACK frame that has not been reported.
    pub(crate) rtt: Option<Duration>,
    /// Bytes in flight.
    pub(crate) in_flight: u64,
    /// Episodes so far. A stack's own counter has every detection of losses.
    pub(crate) episodes: u64,
    /// Slow-start threshold in bytes, where the controller tells it.
    pub(crate) ssthresh: Option<u64>,
}

/// Shared by a controller and its endpoint.
pub type Shared = Arc<Mutex<Seen>>;

/// Notes what a controller is shown. A stack's crate has a controller that passes every call on, and calls these methods after it.
#[derive(Clone, Debug)]
pub struct Tap {
    seen: Shared,
    /// Departure of the newest packet of the ACK frame, and of those before it.
    newest: Option<Instant>,
    before: Option<Instant>,
    /// When the last episode began.
    recovery_began: Option<Instant>,
}

impl Tap {
    /// Notes in `seen`.
    pub const fn new(seen: Shared) -> Self {
        Self { seen, newest: None, before: None, recovery_began: None }
    }

    /// A packet that left at `sent` was acknowledged.
    pub fn acked(&mut self, sent: Instant) {
        self.newest = self.newest.max(Some(sent));
    }

    /// An ACK frame ended.
    pub fn frame_ended(&mut self, now: Instant, in_flight: u64, ssthresh: Option<u64>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if self.newest > self.before {
            self.before = self.newest;
            let rtt = self.newest.map(|sent| now.saturating_duration_since(sent).as_nanos());
            seen.rtt = rtt.and_then(|nanos| u64::try_from(nanos).ok()).map(Duration::from_nanos);
        }
        seen.in_flight = in_flight;
        seen.ssthresh = ssthresh;
    }

    /// Packets were lost or marked, of which the newest left at `sent`.
    pub fn congested(&mut self, now: Instant, sent: Instant, lost_bytes: u64, ssthresh: Option<u64>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.in_flight = seen.in_flight.saturating_sub(lost_bytes);
        // a packet that left after the last episode began starts another one        [RFC9002 §7.3.2]
        if self.recovery_began.is_none_or(|began| sent > began) {
            self.recovery_began = Some(now);
            seen.episodes += 1;
        }
        seen.ssthresh = ssthresh;
    }
}
