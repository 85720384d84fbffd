//! Settings of a controller and its agents.

use units::{Bytes, Duration};

/// Settings of a controller and its agents.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Time between two statuses of a port.
    pub period: Duration,
    /// When the first period begins, after the start of the run.
    pub phase: Duration,
    /// Size of a control message on the wire.
    pub message: Bytes,
    /// An order or a greeting without an answer is repeated after this time, then after twice as long, up to eight times as long.
    pub retry: Duration,
    /// Statuses and signals that are older when they arrive are ignored.
    pub stale: Duration,
}

impl Default for Config {
    /// Two reports a second, as ndnSieve has them; the rest is our choice.
    fn default() -> Self {
        Self {
            period: Duration::from_millis(500),
            phase: Duration::ZERO,
            message: Bytes::new(100),
            retry: Duration::from_millis(100),
            stale: Duration::from_millis(1000),
        }
    }
}
