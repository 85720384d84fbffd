//! Westwood+: the window after a loss is the estimated bandwidth times the minimum round-trip time, as Linux has it
//! [GM04].

use contract::{Documented, Family, Scheme, Setup, Source};

use crate::shared::linux::Linux;

mod control;
#[cfg(test)]
mod tests;

pub use control::Westwood;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "westwood",
    title: "Westwood+: a window from the bandwidth after a loss, as Linux has it",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "GM04",
            text: "Grieco, Mascolo: Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas TCP Congestion Control, ACM Computer Communication Review 34(2), 2004",
        },
        Source { key: "LINUX", text: "Linux 6.1, net/ipv4/tcp_westwood.c" },
    ],
    documented: Documented::Full,
    series: &[("bandwidth_estimate", "bps", "flow", "estimated bandwidth, payload only")],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Ticks per second of the kernel's clock, in which it measures round-trip times and intervals.
    hz: u32 = 250, within 100..=1000, from "LINUX: CONFIG_HZ: 100, 250, 300 or 1000; 250 is its default";
    /// Weight of the old value in each of the two filters, in eighths.
    filter: u32 = 7, within 0..=7, from "LINUX: westwood_do_filter: 7/8; GM04 §2";
    /// Minimum interval of a bandwidth sample, in milliseconds, rounded down to ticks.
    min_interval: u32 = 50, within 0..=10_000, from "LINUX: TCP_WESTWOOD_RTT_MIN: HZ/20";
    /// Round-trip time before the first sample, in seconds.
    initial_rtt: u32 = 20, within 1..=1000, from "LINUX: TCP_WESTWOOD_INIT_RTT: 20·HZ";
}

/// The whole congestion control, in memory of its own because it is large.
pub type Control = Box<Linux<Westwood>>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Box::new(Linux::new(Westwood::new(params), setup))
}
