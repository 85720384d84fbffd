//! AIMD: `a` segments more per round trip, the share `b` after a loss. Reno is a = 1, b = 1/2 [CJ89].

use contract::{Documented, Family, Scheme, Setup, Source};

use crate::shared::Classic;

mod control;
#[cfg(test)]
mod tests;

pub use control::Aimd;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "aimd",
    title: "Additive increase, multiplicative decrease, with any two constants",
    families: &[Family::Ip, Family::Ndn],
    sources: &[
        Source {
            key: "CJ89",
            text: "Chiu, Jain: Analysis of the Increase and Decrease Algorithms for Congestion Avoidance in Computer Networks, Computer Networks and ISDN Systems 17, 1989",
        },
        Source {
            key: "YL00",
            text: "Yang, Lam: General AIMD Congestion Control, IEEE International Conference on Network Protocols, 2000",
        },
    ],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Segments added per round trip.
    a: f64 = 1.0, within 0.001..=100.0, from "YL00 §2: α";
    /// Share of the window kept after a loss.
    b: f64 = 0.5, within 0.01..=0.99, from "YL00 §2: β";
}

/// The whole congestion control.
pub type Control = Classic<Aimd>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Classic::new(Aimd::new(params), setup)
}
