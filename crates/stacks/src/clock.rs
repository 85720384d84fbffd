//! Instants of the standard library for the times of a simulation.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use units::Time;

/// The instants that a stack takes. It may use their differences only.
pub struct Clock(LazyLock<Instant>);

impl Clock {
    /// A clock that has the instant of `origin` at time zero of every simulation.
    pub const fn new(origin: fn() -> Instant) -> Self {
        Self(LazyLock::new(origin))
    }

    /// The instant of a time.
    pub fn instant(&self, at: Time) -> Instant {
        *self.0 + Duration::from_nanos(at.as_nanos())
    }

    /// The time of an instant; time zero for those before it.
    pub fn time(&self, at: Instant) -> Time {
        let nanos = at.saturating_duration_since(*self.0).as_nanos();
        u64::try_from(nanos).map_or(Time::NEVER, Time::from_nanos)
    }
}

/// The instant of the call.
#[expect(
    clippy::disallowed_methods,
    reason = "stacks take instants of the standard library, and use their differences only"
)]
pub fn now() -> Instant {
    Instant::now()
}
