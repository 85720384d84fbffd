//! CUBIC for named data: the window of ndn-tools' consumers, cut by explicit marks [NDNTOOLS].

use contract::{Documented, Family, Scheme, Setup, Source};
use units::Duration;

use crate::pcon::{MarkAt, Marking};

mod control;
#[cfg(test)]
mod tests;

pub use control::Control;

/// The title page.
pub const SCHEME: Scheme = Scheme {
    name: "cubic_ndn",
    title: "CUBIC for named data: ndn-tools' window, and explicit marks",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "NDNTOOLS",
            text: "ndn-tools 24.07, public source of ndncatchunks and its CUBIC pipeline, 2024",
        },
        Source {
            key: "LIU16",
            text: "Y. Liu, Piao, Hou, Lei: A CUBIC-Based Explicit Congestion Control Mechanism in Named Data Networking, CyberC, 2016; the title alone",
        },
        Source {
            key: "SCHNEIDER",
            text: "schneiderklaus/ndnSIM, /NFD and /ns-3-dev, tag pcon-0.1.0, public source of PCON's marks by an author, 2016",
        },
        Source {
            key: "RFC8312",
            text: "Rhee, Xu, Ha, Zimmermann, Eggert, Scheffenegger: CUBIC for Fast Long-Distance Networks, RFC 8312, 2018",
        },
    ],
    documented: Documented::Partial,
    series: &[],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// C: coefficient of the cubic function, in segments per second cubed.
    c: f64 = 0.4, within 0.001..=100.0, from "NDNTOOLS: 0.4";
    /// Share of the window kept after a mark, a loss or a refusal.
    beta: f64 = 0.7, within 0.1..=0.99, from "NDNTOOLS: 0.7; ndnSIM has 0.8";
    /// Fast convergence: aim lower if the window did not reach its former maximum.
    fast_convergence: bool = false, from "NDNTOOLS: off without `--fast-conv`";
    /// Reno-friendly region: never be slower than Reno.
    reno_friendly: bool = true, from "NDNTOOLS: always; RFC8312 eq. 4";
    /// Links: acceptable standing queueing delay.
    target: Duration = Duration::from_millis(5), within "1 us"..="100 s", from "our choice: LIU16 names explicit marks without a rule; as in PCON (SCHNEIDER)";
    /// Links: how long the queueing delay may exceed `target` before the first mark.
    interval: Duration = Duration::from_millis(100), within "1 us"..="100 s", from "our choice: as in PCON (SCHNEIDER)";
    /// Links: time between the first mark and the second, in intervals; after the n-th mark 1/√n of it.
    gap: f64 = 1.1, within 0.001..=1000.0, from "our choice: as in PCON (SCHNEIDER)";
    /// Links: the packet that is marked.
    mark_at: MarkAt = MarkAt::Enqueue, from "our choice: as in PCON (SCHNEIDER)";
}

/// Makes the congestion control of one consumer.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Control::new(params, setup)
}

/// The part at the links: PCON's.
pub type Link = Marking;

/// Makes the part at the links of one node.
pub fn link(params: &Params, _setup: &Setup) -> Link {
    Marking::new(params.target, params.interval, params.gap, None, params.mark_at)
}
