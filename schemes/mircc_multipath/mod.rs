//! MIRCC over several paths, a reconstruction: a flow uses the unused capacity of all its paths first, and its best
//! path for the rest of its share [MIRCC].

use contract::{Documented, Family, Scheme, Setup, Source, choice, params};
use units::{Duration, Rate};

use crate::mircc::router::rate::Constants;

mod control;
mod headers;
mod paths;
mod router;
#[cfg(test)]
mod tests;

pub use control::Control;
pub use router::{Link, Strategy};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "mircc_multipath",
    title: "MIRCC with two classes over several paths, a reconstruction",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "MIRCC",
            text: "M. Mahdian, S. Arianfar, J. Gibson, D. Oran: MIRCC: Multipath-aware ICN Rate-based Congestion Control, ACM ICN 2016 (first page and outline only)",
        },
        Source {
            key: "KATO",
            text: "T. Kato, T. Enda, R. Yamamoto, S. Ohzahata: A Study on Performance of Explicit Rate Report based Congestion Control under Coarse-grained Clock Management",
        },
    ],
    documented: Documented::Reconstruction,
    series: &[
        ("total_rate", "bps", "flow", "rate over all paths"),
        ("secondary_rate", "bps", "flow", "the part of the total rate that uses left-over capacity"),
        ("known_paths", "paths", "flow", "paths on which Data arrived recently"),
        (
            "primary_offer",
            "packets/s",
            "node",
            "R of the first class, at the upstream link with the most Interests",
        ),
        ("secondary_offer", "packets/s", "node", "R of the second class at the same link"),
        ("primary_interest_rate", "packets/s", "node", "y of the first class at the same link"),
        ("secondary_interest_rate", "packets/s", "node", "y of the second class at the same link"),
    ],
    reorder: 1,
    needs: &[],
};

params! {
    /// T: time between two calculations of the rates.
    interval: Duration = Duration::from_millis(100), within "1 ms"..="100 s", from "KATO §4.1: the smallest of 100, 250, 500 and 750 ms";
    /// η: share of the link's capacity that is offered.
    eta: f64 = 1.0, within 0.01..=1.0, from "KATO §3.1";
    /// Minimum value of β.
    min_beta: f64 = 0.1, within 0.0..=1.0, from "KATO eq. 3";
    /// Weight of the newest value in the averages.
    weight: f64 = 0.5, within 0.001..=1.0, from "KATO §2.2";
    /// Depth of the leaky bucket of a class of a link, in packets; 0 is unlimited.
    depth: u32 = 200, within 0..=1000000000, from "KATO §4.1; our choice: one bucket per class";
    /// Minimum R of a class, as a share of its capacity.
    min_rate_share: f64 = 0.01, within 0.000001..=1.0, from "our choice: as in `mircc`";
    /// Gain of the smoothed round-trip time d.
    rtt_gain: f64 = 0.1, within 0.001..=1.0, from "our choice: as in `mircc`";
    /// d before the first sample.
    initial_rtt: Duration = Duration::from_millis(400), within "1 us"..="100 s", from "our choice: as in `mircc`";
    /// Classes of a flow: the second class first, or everything in the first class.
    classes: Classes = Classes::Both, from "MIRCC: dual-class rate management; our choice for the other value: a baseline for comparison";
    /// Minimum share of a flow's Interests on each path, which keeps the rates of all paths known.
    min_path_share: f64 = 0.02, within 0.0..=0.5, from "our choice: a path without Data provides no rate";
    /// A path offers no rate after this time without Data.
    path_timeout: Duration = Duration::from_secs(2), within "10 ms"..="1000 s", from "our choice: the usual lifetime of an Interest";
    /// Initial rate of a consumer; unlimited is the rate of its node's fastest link.
    initial_rate: Rate = Rate::UNLIMITED, within "1 bit/s"..="unlimited", from "MIRCC: quick start";
}

choice! {
    /// How a flow divides itself.
    pub enum Classes {
        /// Leftovers first, the rest as the first class.
        Both = "both",
        /// All as the first class, over each path what it offers: a flow over two paths counts as two.
        Primary = "primary",
    }
}

impl Params {
    fn rule(&self) -> Constants {
        Constants {
            eta: self.eta,
            min_beta: self.min_beta,
            weight: self.weight,
            min_rate_share: self.min_rate_share,
            capped: true,
        }
    }
}

/// The part at a consumer.
pub fn control(params: &Params, _setup: &Setup) -> Control {
    Control::new(params)
}

/// The choice of paths at a consumer's node.
pub fn strategy(params: &Params, _setup: &Setup) -> Strategy {
    Strategy::new(params)
}

/// The part at the links of a forwarder.
pub fn link(params: &Params, setup: &Setup) -> Link {
    Link::new(params, setup.segment)
}
