//! ECP, the explicit control protocol for named data: routers write the level of their Interest queues into Data, and
//! consumers choose their step by it [REN16].

use contract::{Documented, Family, Scheme, Setup, Source};

mod control;
mod link;
#[cfg(test)]
mod tests;

pub use control::Control;
pub use link::Levels;

/// The title page.
pub const SCHEME: Scheme = Scheme {
    name: "ecp",
    title: "ECP: levels of Interest queues in Data, and windows with three steps (reconstruction)",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "REN16",
            text: "Ren, Li, Shi, L. Li, Wang: An Explicit Congestion Control Algorithm for Named Data Networking, IEEE INFOCOM Workshops, 2016; the abstract alone",
        },
        Source { key: "MA24", text: "Ma et al.: ndnSieve, 2024; what it says of ECP (§2.1, Table 1)" },
    ],
    documented: Documented::Reconstruction,
    series: &[
        ("shaper_queue", "packets", "node", "Interests in the Interest queues of the node"),
        ("level", "1", "flow", "level that the last Data brought: 0 free, 1 busy, 2 congested"),
        ("queue_level", "1", "node", "level of the Interest queue that an Interest joined last"),
    ],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Links: weight of the new value in the mean Interest queue.
    weight: f64 = 0.2, within 0.001..=1.0, from "our choice: REN16's abstract says that the queue length is monitored; a mean over several Interests";
    /// Links: maximum number of Interests that wait per link.
    queue_limit: u32 = 100, within 1..=1000000, from "our choice: no source gives one";
    /// Links: mean queue at and above which a link is busy, as a share of `queue_limit`.
    busy: f64 = 0.2, within 0.0..=1.0, from "our choice: three levels need two thresholds, for which no source gives values";
    /// Links: mean queue at and above which a link is congested, as a share of `queue_limit`.
    congested: f64 = 0.6, within 0.0..=1.0, from "our choice: see `busy`";
    /// Consumers: segments added per Data while the path is free.
    step: f64 = 1.0, within 0.001..=100.0, from "our choice: MA24 §2.1 has a multiplicative increase; one segment per Data doubles the window per round trip";
    /// Consumers: share of the window kept if the path is congested, or after a loss or a refusal.
    beta: f64 = 0.5, within 0.01..=1.0, from "our choice: MA24 §2.1 has a multiplicative decrease without a factor; one half, as Reno";
    order busy <= congested;
}

/// Makes the congestion control of one consumer.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Control::new(params, setup)
}

/// The part at the links.
pub type Link = Levels;

/// Makes the part at the links of one node.
pub fn link(params: &Params, setup: &Setup) -> Link {
    Levels::new(params, setup)
}
