//! Settings of the signalling of a name-based network.

use units::{Bytes, Duration};

/// Settings of the signalling between sources, members, routers and the name resolution system. The paper refers to
/// another work for tree construction, so every value is our choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Size of a signal on the wire.
    pub signal: Bytes,
    /// Interval at which soft state is refreshed.
    pub refresh: Duration,
    /// Number of refresh intervals after which state that was not refreshed is removed.
    pub lifetime: u32,
    /// Time after which a request without an answer is repeated. It doubles per repetition, up to four times this
    /// value.
    pub retry: Duration,
    /// Size of the packets that measure an access link.
    pub probe: Bytes,
    /// Number of probe packets that are sent back to back; the minimum gap between two gives the capacity. Below two
    /// nothing is measured.
    pub probe_packets: u8,
}

impl Config {
    /// How long to wait for the next answer, after waiting for `before` without one.
    pub(super) fn backed_off(&self, before: Duration) -> Duration {
        (before * 2).clamp(self.retry, self.retry * 4)
    }

    /// Lifetime of soft state: `lifetime` refresh intervals, and the time of one more request and its answer.
    pub(super) fn soft_state_lifetime(&self) -> Duration {
        self.refresh * u64::from(self.lifetime) + self.retry
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            signal: Bytes::new(64),
            refresh: Duration::from_secs(5),
            lifetime: 3,
            retry: Duration::from_millis(500),
            probe: Bytes::new(1000),
            probe_packets: 5,
        }
    }
}
