//! FleCom, a reconstruction: the trend of queueing delays determines the reductions of consumers; routers move
//! Interests or shape them [LI23B].

use contract::{Documented, Family, Scheme, Setup, Source};
use units::Duration;

use crate::pcon::Retransmissions;

mod control;
mod link;
mod strategy;
#[cfg(test)]
mod tests;
mod trend;

pub use control::Control;
pub use link::Trends;
pub use strategy::Flexible;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "flecom",
    title: "FleCom: cuts by the trend of waiting times, other paths or shaping (reconstruction)",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "LI23B",
            text: "Li et al.: FleCom, a flexible congestion control of named data networks, IEEE INFOCOM Workshops, 2023; the abstract alone",
        },
        Source { key: "MA24", text: "Ma et al.: ndnSieve, 2024; what it says of FleCom and measures of it" },
        Source {
            key: "VARIANT",
            text: "a public variant of PCON's queue without a name: a proportional-integral value and a relative change of the window; that it is FleCom is a guess",
        },
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
    /// Links: target of the queueing delay.
    target: Duration = Duration::from_millis(5), within "1 us"..="100 s", from "VARIANT: 5 ms";
    /// Links: weight of the queueing delay above the target, per second.
    a: f64 = 0.125, within 0.0..=1000.0, from "VARIANT: 0.125";
    /// Links: weight of the change of the queueing delay, per second.
    b: f64 = 1.25, within 0.0..=1000.0, from "VARIANT: 1.25";
    /// Links: measurement interval of the queueing delay.
    interval: Duration = Duration::from_millis(60), within "1 us"..="100 s", from "our choice: fitted in a model to the results of MA24";
    /// Links: size of the reduction that Data carries, before it is limited.
    step: Step = Step::Change, from "our choice: as in VARIANT; `level` is the reading of MA24 §6.2.2, by which the step depends on the level of congestion";
    /// Links: maximum reduction that Data carries.
    max_cut: f64 = 0.1, within 0.0..=0.99, from "our choice: fitted in a model; the abstract says that windows are constrained moderately";
    /// Forwarders: fraction of its share that a next hop loses after a reduction.
    change: f64 = 0.02, within 0.0..=1.0, from "our choice: as in PCON";
    /// Forwarders: additional fraction per unit of the reduction.
    cut_gain: f64 = 0.1, within 0.0..=1.0, from "our choice: fitted in a model";
    /// Forwarders: whether Interests without another next hop are shaped.
    shaping: bool = true, from "LI23B: multipath forwarding or Interest shaping";
    /// Forwarders: number of measurement intervals for which shaping continues after the last reduction.
    shaping_intervals: f64 = 2.0, within 0.1..=1000.0, from "our choice: until an interval without congestion, which shows as Data without a reduction";
    /// Forwarders: probability that an Interest goes to all next hops.
    probing: f64 = 0.001, within 0.0..=1.0, from "our choice: as in PCON";
    /// Forwarders: treatment of an Interest whose name is already pending.
    retransmissions: Retransmissions = Retransmissions::Suppressed, from "our choice: as in PCON";
    /// Consumers: share of the window kept after a loss or a refusal.
    loss: f64 = 0.5, within 0.01..=1.0, from "our choice: as in PCON";
}

contract::choice! {
    /// Size of a reduction.
    pub enum Step {
        /// The relative change of the queueing delay that would bring p back to 0.
        Change = "change",
        /// p, the level of congestion.
        Level = "level",
    }
}

/// Makes the congestion control of one consumer.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Control::new(params, setup)
}

/// The part that chooses next hops.
pub type Strategy = Flexible;

/// Makes the strategy of one node.
pub fn strategy(params: &Params, _setup: &Setup) -> Strategy {
    Flexible::new(params)
}

/// The part at the links.
pub type Link = Trends;

/// Makes the part at the links of one node.
pub fn link(params: &Params, _setup: &Setup) -> Link {
    Trends::new(params)
}
