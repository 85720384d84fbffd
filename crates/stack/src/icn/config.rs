//! Settings of the signalling of a name-based network.

use units::{Bytes, Duration};

/// How sources, members, routers and the name resolution system speak. The paper leaves all of it to its reference on tree
/// construction; every value is our choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Size of a signal on the wire.
    pub signal: Bytes,
    /// What is held is repeated after this time.
    pub refresh: Duration,
    /// What was not repeated for this many refreshes is forgotten.
    pub lifetime: u32,
    /// A question without an answer is repeated after this time, then after twice as long, up to four times as long.
    pub retry: Duration,
    /// Size of the packets that measure an access link.
    pub probe: Bytes,
    /// How many of them, back to back: the shortest gap between two tells the capacity. Below two nothing is measured.
    pub probe_packets: u8,
}

impl Config {
    /// How long to wait for an answer, after having waited for `before` without success.
    pub(super) fn longer(&self, before: Duration) -> Duration {
        (before * 2).clamp(self.retry, self.retry * 4)
    }

    /// How long a word counts: so many refreshes, and the time to travel and to ask once more.
    pub(super) fn kept(&self) -> Duration {
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
