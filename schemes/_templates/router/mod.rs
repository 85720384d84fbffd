//! Template: in one sentence, what it does that others do not.

use contract::{Documented, Family, Scheme, Setup, Source};
use units::{Duration, Rate};

mod endpoints;
mod router;
#[cfg(test)]
mod tests;

pub use endpoints::{Receiver, Sender};
pub use router::Router;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "template",
    title: "One line for the catalogue",
    families: &[Family::Icn],
    sources: &[Source {
        key: "CJ89",
        text: "Chiu, Jain: Analysis of the Increase and Decrease Algorithms for Congestion Avoidance in Computer Networks, Computer Networks and ISDN Systems 17, 1989",
    }],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// A router notifies the source when the occupancy of a queue is at or above this share of its limit.
    threshold: f64 = 0.5, within 0.0..=1.0, from "our choice: no value is in CJ89, whose routers say only whether they are congested";
    /// Packets per interval that are added after an interval without notification.
    increase: f64 = 1.0, within 0.001..=1000.0, from "CJ89 §3: a_I; our choice of the value";
    /// Share of the rate kept after a notification.
    keep: f64 = 0.5, within 0.01..=0.99, from "CJ89 §3: b_D; our choice of the value";
    /// Time between two decisions of the source.
    interval: Duration = Duration::from_millis(200), within "1 ms"..="100 s", from "our choice: longer than a usual round trip, so that a decision shows before the next";
    /// Rate at the start.
    initial_rate: Rate = Rate::from_kbps(100), within "1 bit/s"..="1000 Gbit/s", from "our choice: a low rate";
    /// Minimum rate.
    min_rate: Rate = Rate::from_kbps(8), within "1 bit/s"..="1000 Gbit/s", from "our choice: one packet of 1000 bytes per second, since a silent source hears nothing";
}

/// Makes the part at the source.
pub fn sender(params: &Params, setup: &Setup) -> Sender {
    Sender::new(params, setup)
}

/// Makes the part at a receiver.
pub fn receiver(_params: &Params, _setup: &Setup) -> Receiver {
    Receiver
}

/// Makes the part in a router.
pub fn router(params: &Params, _setup: &Setup) -> Router {
    Router::new(params)
}

/// The label of packets of these groups, by which a router's part recognises them. Groups with other parameters have a
/// separate part, and other schemes have other labels.
pub(crate) fn mark(params: &Params) -> u64 {
    contract::Eid::of(&format!("template {params:?}")).0
}
