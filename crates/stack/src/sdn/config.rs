//! Settings of a controller and its agents.

use units::{Bytes, Duration};

/// Settings of a controller and its agents.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Time between two statuses of a port.
    pub period: Duration,
    /// Time between two decisions of an agent on signals, over which it measures loads for them; `None` for a decision
    /// with each status, by the load in it.
    pub detection: Option<Duration>,
    /// When the first period begins, after the start of the run.
    pub phase: Duration,
    /// Size of a control message on the wire.
    pub message: Bytes,
    /// Time after which a command or hello message without an answer is repeated. It doubles per repetition, up to
    /// eight times this value.
    pub retry: Duration,
    /// Maximum age of statuses and signals at arrival; older ones are ignored.
    pub stale: Duration,
}

impl Default for Config {
    /// Two reports per second, as in ndnSieve; the other values are our choice.
    fn default() -> Self {
        Self {
            period: Duration::from_millis(500),
            detection: None,
            phase: Duration::ZERO,
            message: Bytes::new(100),
            retry: Duration::from_millis(100),
            stale: Duration::from_millis(1000),
        }
    }
}
