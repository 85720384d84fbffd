//! CUBIC: the window follows a cubic of the time since the last loss, whatever the round-trip time [RFC9438].

use contract::{Documented, Family, Scheme, Setup, Source};

use crate::shared::Classic;

mod edge;
#[cfg(test)]
mod tests;

pub use edge::{Counting, Cubic};

/// The title page.
pub const SCHEME: Scheme = Scheme {
    name: "cubic",
    title: "CUBIC: growth by the time since the last loss",
    families: &[Family::Ip, Family::Ndn],
    sources: &[Source {
        key: "RFC9438",
        text: "Xu, Ha, Rhee, Goel, Eggert: CUBIC for Fast and Long-Distance Networks, RFC 9438, 2023",
    }],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
};

contract::params! {
    /// How steep the cubic is, in segments per second cubed.
    c: f64 = 0.4, within 0.001..=100.0, from "RFC9438 §5";
    /// Share of the flight kept after a loss.
    beta: f64 = 0.7, within 0.1..=0.99, from "RFC9438 §4.6";
    /// Aim lower when the window did not come back to what it was: make room for new flows.
    fast_convergence: bool = true, from "RFC9438 §4.7";
    /// Never be slower than Reno would be.
    reno_friendly: bool = true, from "RFC9438 §4.3";
    /// What moves the window towards the cubic: each acknowledgement, or each segment acknowledged.
    counting: Counting = Counting::Acks, from "RFC9438 §4.4; our choice of the other: as Linux does, so that delayed acknowledgements cost no growth";
}

/// The whole congestion control.
pub type Control = Classic<Cubic>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Classic::new(Cubic::new(params), setup)
}
