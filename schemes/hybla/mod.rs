//! Hybla: the growth of a short path's window on a long path, as Linux has it [CF04].

use contract::{Documented, Family, Scheme, Setup, Source};

use crate::shared::linux::Linux;

mod control;
#[cfg(test)]
mod tests;

pub use control::Hybla;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "hybla",
    title: "Hybla: long paths grow as fast as a short one, as Linux has it",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "CF04",
            text: "Caini, Firrincieli: TCP Hybla: a TCP Enhancement for Heterogeneous Networks, International Journal of Satellite Communications and Networking 22, 2004",
        },
        Source { key: "LINUX", text: "Linux 6.1, net/ipv4/tcp_hybla.c" },
    ],
    documented: Documented::Partial,
    series: &[("rho", "1", "flow", "round-trip time over the reference round-trip time")],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Reference round-trip time RTT₀, in milliseconds.
    rtt0: u32 = 25, within 1..=10_000, from "LINUX: rtt0; CF04: 25 ms";
    /// Maximum window, in segments.
    max_window: u32 = 65_535, within 2..=10_000_000, from "LINUX: hybla_init: snd_cwnd_clamp";
}

/// The whole congestion control, in memory of its own because it is large.
pub type Control = Box<Linux<Hybla>>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    // the window is ρ, which is 1 while there is no round-trip time                       [Linux: hybla_init]
    Box::new(Linux::starting_at(1, Hybla::new(params), setup))
}
