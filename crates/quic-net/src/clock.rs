//! Instants of quinn-proto and times of a [`driver::Platform`].

use std::time::{Duration as StdDuration, Instant};

use stacks::clock::{self, Clock};
use units::{Duration, Time};

/// quinn uses differences of instants only: time zero of every platform is an arbitrary one.
static CLOCK: Clock = Clock::new(clock::now);

/// A time of the platform as an instant of quinn.
pub fn instant(at: Time) -> Instant {
    CLOCK.instant(at)
}

/// An instant of quinn as a time of the platform.
pub(crate) fn time(at: Instant) -> Time {
    CLOCK.time(at)
}

/// A duration of the standard library.
pub fn span(of: Duration) -> StdDuration {
    StdDuration::from_nanos(of.as_nanos())
}
