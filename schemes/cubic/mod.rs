//! CUBIC: the window is a cubic function of the time since the last loss, independent of the round-trip time [RFC9438].

use contract::{Documented, Family, Scheme, Setup, Source};

use crate::shared::Classic;

mod control;
mod linux;
#[cfg(test)]
mod linux_tests;
#[cfg(test)]
mod tests;

pub use control::{Counting, Cubic, Variant};

pub use crate::shared::Ending;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "cubic",
    title: "CUBIC: growth by the time since the last loss",
    families: &[Family::Ip, Family::Ndn],
    sources: &[
        Source {
            key: "RFC9438",
            text: "Xu, Ha, Rhee, Goel, Eggert: CUBIC for Fast and Long-Distance Networks, RFC 9438, 2023",
        },
        Source {
            key: "HR11",
            text: "Ha, Rhee: Taming the Elephants: New TCP Slow Start, Computer Networks 55(9), 2011",
        },
        Source {
            key: "RFC9406",
            text: "Balasubramanian, Huang, Olson: HyStart++: Modified Slow Start for TCP, RFC 9406, 2023",
        },
    ],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// C: coefficient of the cubic function, in segments per second cubed.
    c: f64 = 0.4, within 0.001..=100.0, from "RFC9438 §5";
    /// Share of the data in flight kept after a loss.
    beta: f64 = 0.7, within 0.1..=0.99, from "RFC9438 §4.6";
    /// Fast convergence: aim lower if the window did not reach its former maximum, to release bandwidth for new flows.
    fast_convergence: bool = true, from "RFC9438 §4.7";
    /// Reno-friendly region: never be slower than Reno.
    reno_friendly: bool = true, from "RFC9438 §4.3";
    /// Unit of growth towards the cubic function: each acknowledgement, or each acknowledged segment.
    counting: Counting = Counting::Acks, from "RFC9438 §4.4; our choice for the other value: Linux counts segments, so that delayed acknowledgements do not slow growth";
    /// Growth of the RFC, or of Linux, in whole segments; with Linux, `counting` has no effect, and slow start counts
    /// segments.
    variant: Variant = Variant::Rfc, from "RFC9438 §4; our choice for the other value: Linux, which most public hosts run";
    /// End of slow start besides losses: none, HyStart as in Linux, or HyStart++.
    hystart: Ending = Ending::Off, from "RFC9438 §4.10 leaves it open; HR11 for `linux`, RFC9406 for `plus`";
}

/// The whole congestion control.
pub type Control = Classic<Cubic>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Classic::new(Cubic::new(params), setup)
}
