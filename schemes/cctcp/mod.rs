//! CCTCP, a reconstruction: a window and a timer for each source of Data, which anticipated Interests predict [SCP13].

use contract::{Documented, Family, Scheme, Setup, Source};

mod control;
mod link;
#[cfg(test)]
mod tests;

pub use control::{Cctcp, Unpredicted};
pub use link::Prediction;

/// The title page.
pub const SCHEME: Scheme = Scheme {
    name: "cctcp",
    title: "CCTCP: a window and a timer per source of Data, predicted by anticipated Interests (reconstruction)",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "SCP13",
            text: "Saino, Cocora, Pavlou: CCTCP: A Scalable Receiver-driven Congestion Control Protocol for Content Centric Networking, IEEE ICC, 2013; the abstract alone",
        },
        Source { key: "MA24", text: "Ma et al.: ndnSieve, 2024; what it says of CCTCP (§2.1, Table 1)" },
        Source { key: "KATO", text: "Kato et al.: MIRCC with a coarse clock; what it says of CCTCP (§2)" },
        Source { key: "RFC5681", text: "Allman, Paxson, Blanton: TCP Congestion Control, RFC 5681, 2009" },
    ],
    documented: Documented::Reconstruction,
    series: &[
        ("sources", "sources", "flow", "sources of Data that the consumer has a window for"),
        (
            "predicted",
            "1",
            "flow",
            "part of the Data so far that came from the source that they were expected from",
        ),
    ],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Forwarders: number of names that an Interest anticipates.
    anticipated: u32 = 3, within 0..=3, from "our choice: SCP13's public text has no number; a label holds the source and three names";
    /// Consumers: maximum number of sources with a window of their own; those beyond it share the last.
    sources: u32 = 64, within 1..=10000, from "our choice: MA24 Table 1 has a window per source, without a limit";
    /// Consumers: source of a segment that no Data predicted.
    unpredicted: Unpredicted = Unpredicted::Farthest, from "our choice: no source says; the farthest, because SCP13 distinguishes sources so that their timers differ";
    /// Consumers: share of the window of a source kept as threshold after a timeout or a refusal.
    beta: f64 = 0.5, within 0.01..=0.99, from "our choice: KATO §2 names AIMD with timeouts and gives no factor; RFC5681 §3.1 has one half";
}

/// The part at a consumer.
pub type Control = Cctcp;

/// Makes the congestion control of one consumer.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Cctcp::new(params, setup)
}

/// The part at the links.
pub type Link = Prediction;

/// Makes the part at the links of one node.
pub const fn link(params: &Params, _setup: &Setup) -> Link {
    Prediction::new(params)
}
