//! RAAQM: a consumer that reduces its window at random as the round-trip times of a path rise, and forwarders that
//! distribute Interests by pending Interests [CGMPW13].

use contract::{Documented, Family, Need, Scheme, Setup, Source};

mod control;
mod link;
mod strategy;
#[cfg(test)]
mod tests;

pub use control::{Decrease, Raaqm};
pub use link::Labels;
pub use strategy::Balance;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "raaqm",
    title: "RAAQM: remote adaptive active queue management, over several paths",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "CGMPW13",
            text: "Carofiglio, Gallo, Muscariello, Papalini, Wang: Optimal Multipath Congestion Control and Request Forwarding in Information-Centric Networks, IEEE ICNP, 2013",
        },
        Source { key: "HICN", text: "FDio/hicn, public source of its transport protocol RAAQM, 2020" },
        Source {
            key: "CCNPL",
            text: "ccnpl-sim, the simulator of the authors' group, public source of RAQM and of load balancing, 2013",
        },
    ],
    documented: Documented::Full,
    series: &[(
        "decrease_probability",
        "1",
        "flow",
        "probability with which the latest Data reduced the window",
    )],
    reorder: 1,
    needs: &[Need::Samples("samples")],
};

contract::params! {
    /// Segments added per window of Data.
    eta: f64 = 1.0, within 0.001..=1000.0, from "HICN, CCNPL: 1";
    /// Share of the window kept after a reduction.
    beta: f64 = 0.8, within 0.01..=0.99, from "HICN: 0.8; CCNPL: 0.5 by default, 0.8 and 0.99 in its examples";
    /// Probability of a reduction at the minimum round-trip time of the path.
    p_min: f64 = 0.00001, within 0.0..=1.0, from "HICN, CCNPL: 10⁻⁵";
    /// Additional probability at the maximum round-trip time of the path.
    delta_p: f64 = 0.2, within 0.0..=1.0, from "HICN: 0.2; CCNPL: 0.5 by default, 0.2 and 0.02 in its examples";
    /// Number of round-trip times per path; with fewer samples the path causes no reduction.
    samples: u32 = 30, within 1..=10000, from "HICN, CCNPL: 30";
    /// Maximum window, in segments.
    max_window: u32 = 512, within 1..=1000000, from "HICN: 512";
    /// Effect of a lost or refused Interest on the window.
    losses: Decrease = Decrease::Each, from "HICN: a reduction per loss; CCNPL: none; our choice for the third value: a burst of losses is one congestion event";
    /// Maximum number of paths; beyond it the least recently used one is removed.
    paths: u32 = 64, within 1..=100000, from "our choice: the sources have no limit";
    /// Forwarders: gain of the mean number of pending Interests.
    gain: f64 = 0.1, within 0.001..=1.0, from "CCNPL: 0.1";
    /// Forwarders: minimum mean.
    min_pending: f64 = 0.1, within 0.0001..=1000.0, from "CCNPL: 0.1";
}

/// The part at a consumer.
pub type Control = Raaqm;

/// Makes the congestion control of one consumer.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Raaqm::new(params, setup)
}

/// The part that chooses next hops.
pub type Strategy = Balance;

/// Makes the strategy of one node.
pub const fn strategy(params: &Params, _setup: &Setup) -> Strategy {
    Balance::new(params)
}

/// The part at the links.
pub type Link = Labels;

/// Makes the part at the links of one node.
pub const fn link(_params: &Params, _setup: &Setup) -> Link {
    Labels
}
