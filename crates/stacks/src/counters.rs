//! What a stack counts.

use std::time::Duration;

/// Counters and estimates of a stack.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// Packets declared lost, without probes of path MTU discovery.
    pub lost: u64,
    /// Congestion window in bytes.
    pub window: u64,
    /// Smoothed round-trip time.
    pub srtt: Duration,
    /// Pacing rate in bits per second, if the controller reports it and the stack paces at it.
    pub rate_bps: Option<u64>,
}
