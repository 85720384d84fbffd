//! Instants of quinn-proto and times of a [`driver::Platform`].

use std::sync::LazyLock;
use std::time::{Duration as StdDuration, Instant};

use units::{Duration, Time};

/// The instant that stands for time zero of every platform. quinn uses differences only.
static ORIGIN: LazyLock<Instant> = LazyLock::new(|| {
    #[expect(clippy::disallowed_methods, reason = "quinn takes instants, and uses their differences only")]
    Instant::now()
});

/// A time of the platform as an instant of quinn.
pub fn instant(at: Time) -> Instant {
    *ORIGIN + StdDuration::from_nanos(at.as_nanos())
}

/// An instant of quinn as a time of the platform.
pub(crate) fn time(at: Instant) -> Time {
    let nanos = at.saturating_duration_since(*ORIGIN).as_nanos();
    u64::try_from(nanos).map_or(Time::NEVER, Time::from_nanos)
}

/// A duration of the standard library.
pub fn span(of: Duration) -> StdDuration {
    StdDuration::from_nanos(of.as_nanos())
}
