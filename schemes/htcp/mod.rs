//! H-TCP: the increase grows with the time since the last congestion; the reduction adapts to the queue [LS04].

use contract::{Documented, Family, Scheme, Setup, Source};
use units::Duration;

use crate::shared::linux::Linux;

mod control;
#[cfg(test)]
mod tests;

pub use control::Htcp;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "htcp",
    title: "H-TCP: growth by the time since the last congestion",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "LS04",
            text: "Shorten, Leith: H-TCP: TCP for High-Speed and Long-Distance Networks, Workshop on Protocols for Fast Long-Distance Networks (PFLDnet), 2004",
        },
        Source {
            key: "LS08",
            text: "Leith: H-TCP: TCP Congestion Control for High Bandwidth-Delay Product Paths, Internet-Draft draft-leith-tcp-htcp-06, 2008",
        },
        Source { key: "LINUX", text: "Linux 6.1, net/ipv4/tcp_htcp.c, kernel/Kconfig.hz" },
    ],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Ticks of the kernel's clock per second. Times and round-trip times are whole numbers of ticks.
    hz: u32 = 250, within 10..=10000, from "LINUX, Kconfig.hz: CONFIG_HZ = 250 by default; other kernels have 100, 300 or 1000";
    /// Δ_L: time since the last congestion up to which the window grows as Reno's.
    low_speed: Duration = Duration::from_secs(1), within "0 s"..="1000 s", from "LINUX, htcp_alpha_update: HZ; LS04: one second";
    /// Growth of the increase per second beyond `low_speed`, in segments per round trip.
    linear: u32 = 10, within 0..=1000, from "LINUX, htcp_alpha_update; LS04: 1 + 10·(Δ − Δ_L) + ((Δ − Δ_L)/2)²";
    /// Divisor of the time beyond `low_speed` before it is squared.
    square_divisor: u32 = 2, within 1..=1000, from "LINUX, htcp_alpha_update; LS04: ((Δ − Δ_L)/2)²";
    /// Whether the increase is in proportion to the round-trip time, so that flows with different ones grow alike.
    use_rtt_scaling: bool = true, from "LINUX, use_rtt_scaling";
    /// Round-trip time at which that scaling has no effect.
    reference_rtt: Duration = Duration::from_millis(100), within "1 ms"..="10 s", from "LINUX, htcp_alpha_update: HZ/10";
    /// Minimum of `reference_rtt` / minimum round-trip time.
    min_rtt_ratio: f64 = 0.5, within 0.125..=100.0, from "LINUX, htcp_alpha_update: 0.5, in eighths";
    /// Maximum of that ratio.
    max_rtt_ratio: f64 = 10.0, within 0.125..=100.0, from "LINUX, htcp_alpha_update: 10";
    /// Minimum share of the window kept after a congestion event.
    min_beta: f64 = 0.5, within 0.01..=0.99, from "LINUX, BETA_MIN = 64/128; LS04: 0.5";
    /// Maximum share kept.
    max_beta: f64 = 0.8, within 0.01..=0.99, from "LINUX, BETA_MAX = 102/128; LS04: 0.8";
    /// Whether `min_beta` is kept if the maximum throughput differs from the one before by more than `switch_share`.
    use_bandwidth_switch: bool = true, from "LINUX, use_bandwidth_switch; LS04: adaptive backoff";
    /// That difference, as a share.
    switch_share: f64 = 0.2, within 0.0..=1.0, from "LINUX, htcp_beta_update: 4/5 to 6/5; LS04: 0.2";
    /// Minimum round-trip times up to this keep `min_beta`.
    adaptive_above: Duration = Duration::from_millis(10), within "0 s"..="10 s", from "LINUX, htcp_beta_update";
    /// Round-trip times that exceed the maximum by more than this do not count as the new maximum.
    max_rtt_step: Duration = Duration::from_millis(20), within "0 s"..="10 s", from "LINUX, measure_rtt";
    /// Share that the maximum round-trip time keeps of its distance to the minimum at a congestion event.
    max_rtt_memory: f64 = 0.95, within 0.0..=1.0, from "LINUX, htcp_param_update: 95/100";
    order min_beta <= max_beta;
    order min_rtt_ratio <= max_rtt_ratio;
}

/// The whole congestion control, in memory of its own because it is large.
pub type Control = Box<Linux<Htcp>>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Box::new(Linux::new(Htcp::new(params), setup))
}
