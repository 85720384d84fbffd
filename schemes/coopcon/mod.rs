//! CoopCon, a reconstruction: PCON with two levels of marks. Consumers reduce their windows slightly for light ones,
//! routers move Interests for heavy ones [LI23A].

use contract::{Documented, Family, Scheme, Setup, Source};
use units::Duration;

use crate::pcon::{MarkAt, Marking, Retransmissions};

mod control;
mod strategy;
#[cfg(test)]
mod tests;

pub use control::Control;
pub use strategy::Resilient;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "coopcon",
    title: "CoopCon: consumers first, routers when it is severe (reconstruction)",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "LI23A",
            text: "Li et al.: CoopCon, a hybrid congestion control of named data networks by consumers and routers, IEEE TNSM, 2023; the abstract alone",
        },
        Source { key: "MA24", text: "Ma et al.: ndnSieve, 2024; what it says of CoopCon and measures of it" },
    ],
    documented: Documented::Reconstruction,
    series: &[(
        "share",
        "1",
        "node",
        "share of the next hop with the lowest cost, for the prefix whose shares changed last",
    )],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Links: acceptable standing queueing delay.
    target: Duration = Duration::from_millis(5), within "1 us"..="100 s", from "our choice: as in PCON";
    /// Links: how long the queueing delay may exceed `target` before the first mark.
    interval: Duration = Duration::from_millis(100), within "1 us"..="100 s", from "our choice: as in PCON";
    /// Links: time between the first mark and the second, in intervals; after the n-th mark 1/√n of it.
    gap: f64 = 1.1, within 0.001..=1000.0, from "our choice: as in PCON";
    /// Links: the packet that is marked.
    mark_at: MarkAt = MarkAt::Enqueue, from "our choice: as in PCON";
    /// Links: share of the queue limit above which a mark is heavy.
    severe: f64 = 0.5, within 0.0..=1.0, from "our choice: in MA24, routers move traffic only for severe congestion, of which its third scenario has none";
    /// Forwarders: fraction of its share that a next hop loses after a heavy mark, and fraction of the moved share that
    /// it regains.
    change: f64 = 0.02, within 0.0..=1.0, from "our choice: as in PCON";
    /// Forwarders: number of intervals without a mark after which the next hop with the lowest cost regains a part of
    /// its share.
    recovery_intervals: f64 = 10.0, within 0.0..=100000.0, from "our choice: the abstract says that the best path is used resiliently, and gives no time";
    /// Forwarders: probability that an Interest goes to all next hops.
    probing: f64 = 0.001, within 0.0..=1.0, from "our choice: as in PCON";
    /// Forwarders: treatment of an Interest whose name is already pending.
    retransmissions: Retransmissions = Retransmissions::Suppressed, from "our choice: as in PCON";
    /// Consumers: share of the window kept after a light mark.
    light: f64 = 0.9, within 0.01..=1.0, from "our choice: MA24 says that consumers adjust gradually; 0.8 has less deviation";
    /// Consumers: share of the window kept after a heavy mark, a loss or a refusal.
    heavy: f64 = 0.5, within 0.01..=1.0, from "our choice: as in PCON";
}

/// Makes the congestion control of one consumer.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Control::new(params, setup)
}

/// The part that chooses next hops.
pub type Strategy = Resilient;

/// Makes the strategy of one node.
pub fn strategy(params: &Params, _setup: &Setup) -> Strategy {
    Resilient::new(params)
}

/// The part at the links: PCON's, with levels.
pub type Link = Marking;

/// Makes the part at the links of one node.
pub fn link(params: &Params, _setup: &Setup) -> Link {
    Marking::new(params.target, params.interval, params.gap, Some(params.severe), params.mark_at)
}
