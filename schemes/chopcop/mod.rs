//! CHoPCoP, a reconstruction: queues that mark Data at random, routers that hold Interests back while the queue of
//! their Data is long, consumers with AIMD [ZHANG14].

use contract::{Documented, Family, Scheme, Setup, Source};

mod control;
mod link;
#[cfg(test)]
mod tests;

pub use control::Control;
pub use link::Hops;

/// The title page.
pub const SCHEME: Scheme = Scheme {
    name: "chopcop",
    title: "CHoPCoP: random early marks, fair shares of Interests where a queue is long (reconstruction)",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "ZHANG14",
            text: "F. Zhang, Y. Zhang, Reznik, Liu, Qian, Xu: A Transport Protocol for Content-Centric Networking with Explicit Congestion Control, ICCCN, 2014; the abstract alone",
        },
        Source { key: "MA24", text: "Ma et al.: ndnSieve, 2024; what it says of CHoPCoP (§2.3, Table 1)" },
        Source {
            key: "FJ93",
            text: "Floyd, Jacobson: Random Early Detection Gateways for Congestion Avoidance, IEEE/ACM Transactions on Networking 1(4), 1993",
        },
    ],
    documented: Documented::Reconstruction,
    series: &[
        ("shaper_queue", "packets", "node", "Interests that routers hold back"),
        ("mean_queue", "1", "node", "mean queue of the Data that arrived last, as part of the queue's limit"),
    ],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Links: gain of the mean queue, per Data packet.
    weight: f64 = 0.002, within 0.000001..=1.0, from "our choice: ZHANG14 names random early marking and gives no gain; FJ93 §6 has 0.002";
    /// Links: mean queue below which no Data are marked, as a share of the queue limit.
    min_th: f64 = 0.25, within 0.0..=1.0, from "our choice: one third of `max_th`; FJ93 §6 has at most one half";
    /// Links: mean queue at and above which all Data are marked, as a share of the queue limit.
    max_th: f64 = 0.75, within 0.0..=1.0, from "our choice: the value of `threshold`, above which Interests are delayed";
    /// Links: probability of a mark just below `max_th`.
    max_p: f64 = 0.1, within 0.0..=1.0, from "our choice: the value that later texts on RED (FJ93) recommend";
    /// Links: queue of Data above which Interests are delayed, as a share of the queue limit.
    threshold: f64 = 0.75, within 0.0..=1.0, from "our choice: MA24 §2.3 has a threshold without a value";
    /// Links: maximum number of Interests that wait per flow.
    queue_limit: u32 = 100, within 1..=1000000, from "our choice: no source gives one";
    /// Consumers: share of the window kept after a mark, a loss or a refusal.
    beta: f64 = 0.5, within 0.01..=1.0, from "our choice: MA24 Table 1 has AIMD without a factor; one half, as Reno";
    order min_th <= max_th;
}

/// Makes the congestion control of one consumer.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Control::new(params, setup)
}

/// The part at the links.
pub type Link = Hops;

/// Makes the part at the links of one node.
pub fn link(params: &Params, setup: &Setup) -> Link {
    Hops::new(params, setup)
}
