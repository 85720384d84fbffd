//! The clock of a host, and waiting: until an instant, or until a socket is readable.

use std::time::{Instant, SystemTime};

use nix::poll::PollFd;
use units::{Duration, Time};

/// Zero of the clocks of sessions: 1 January 2024 UTC, so that the clocks of two hosts differ little, and numbers are
/// small.
const EPOCH: std::time::Duration = std::time::Duration::from_secs(1_704_067_200);
/// The longest wait at a time, in nanoseconds: an hour.
const MAX_WAIT_NS: u64 = 3_600_000_000_000;

/// A monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    began: Instant,
    base: Duration,
}

impl Clock {
    /// A clock that starts at the wall-clock time since 1 January 2024 UTC, and is monotonic from then on: it does not
    /// follow corrections of the wall clock. Two hosts show about the same time, but only differences have a meaning.
    pub fn wall() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH + EPOCH).unwrap_or_default();
        let base = Duration::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(0));
        Self { began: Instant::now(), base }
    }

    /// A clock that is zero now.
    pub fn start() -> Self {
        Self::since(Instant::now())
    }

    /// A clock that was zero at `began`.
    pub const fn since(began: Instant) -> Self {
        Self { began, base: Duration::ZERO }
    }

    /// The current time.
    pub fn now(&self) -> Time {
        let since = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Time::ZERO + self.base + Duration::from_nanos(since)
    }
}

/// Waits until one of the descriptors has an event that is polled for, or for `span`. Returns whether one has.
pub fn wait_readable(fds: &mut [PollFd<'_>], span: Duration) -> bool {
    let nanos = span.as_nanos().min(MAX_WAIT_NS);
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    let ready = nix::poll::ppoll(fds, Some(std::time::Duration::from_nanos(nanos).into()), None);
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    let ready = {
        // whole milliseconds, up
        let millis = nanos.div_ceil(1_000_000) as i32;
        nix::poll::poll(fds, nix::poll::PollTimeout::try_from(millis).unwrap_or_default())
    };
    ready.is_ok_and(|count| count > 0)
}

/// Turns off coalescing of this thread's timers, for threads that pace.
pub fn exact_timers() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_timerslack(1);
}
