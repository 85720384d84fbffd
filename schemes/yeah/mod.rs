//! YeAH: fast growth while the queue is short, Reno's when it is not, as Linux has it [BCV07].

use contract::{Documented, Family, Scheme, Setup, Source};

use crate::shared::linux::Linux;

mod control;
#[cfg(test)]
mod tests;

pub use control::Yeah;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "yeah",
    title: "YeAH: fast while the queue is short, Reno when it is not, as Linux has it",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "BCV07",
            text: "Baiocchi, Castellani, Vacirca: YeAH-TCP: Yet Another Highspeed TCP, PFLDnet, 2007",
        },
        Source { key: "LINUX", text: "Linux 6.1, net/ipv4/tcp_yeah.c" },
    ],
    documented: Documented::Full,
    series: &[("queue_estimate", "packets", "flow", "estimated number of own packets in queues")],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Maximum number of own packets in queues; above it the window is reduced before a loss.
    alpha: u32 = 80, within 1..=1_000_000, from "LINUX: TCP_YEAH_ALPHA; BCV07: Q_max";
    /// The queue over `gamma` is taken off the window when the queue is above `alpha`.
    gamma: u32 = 1, within 1..=1000, from "LINUX: TCP_YEAH_GAMMA; BCV07: γ";
    /// After a loss at least W/2^delta is taken off the window.
    delta: u32 = 3, within 1..=31, from "LINUX: TCP_YEAH_DELTA; BCV07: an eighth";
    /// Before a loss at most W/2^epsilon is taken off the window.
    epsilon: u32 = 1, within 1..=31, from "LINUX: TCP_YEAH_EPSILON; BCV07: ε = ½";
    /// Growth is Reno's if the queueing delay is above BaseRTT/phy.
    phy: u32 = 8, within 1..=10_000, from "LINUX: TCP_YEAH_PHY; BCV07: φ";
    /// After this number of rounds of Reno's growth in a row, a loss halves the window, as others compete.
    rho: u32 = 16, within 1..=1_000_000, from "LINUX: TCP_YEAH_RHO; BCV07: ρ";
    /// After this number of rounds of fast growth, the estimate of Reno's window is forgotten.
    zeta: u32 = 50, within 1..=1_000_000, from "LINUX: TCP_YEAH_ZETA";
    /// Fast growth is a segment for this number of acknowledged segments, or for a window if that is less.
    fast: u32 = 100, within 1..=1_000_000, from "LINUX: TCP_SCALABLE_AI_CNT; BCV07: Scalable TCP's";
    /// Number of round-trip time samples in a round from which they are used.
    min_samples: u32 = 3, within 1..=1000, from "LINUX: tcp_yeah_cong_avoid: with two, each may be of a delayed acknowledgement";
}

/// The whole congestion control, in memory of its own because it is large.
pub type Control = Box<Linux<Yeah>>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Box::new(Linux::new(Yeah::new(params), setup))
}
