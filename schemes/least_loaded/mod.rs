//! Least loaded paths: a control app that moves IP routes off congested ports.

use contract::{Documented, Family, Scheme, Setup, Source, params};
use units::Duration;

mod app;
#[cfg(test)]
mod tests;

pub use app::App;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "least_loaded",
    title: "Routes moved off congested ports, to the least loaded path",
    families: &[Family::Sdn],
    sources: &[Source { key: "OURS", text: "our own, after common practice of traffic engineering" }],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
    needs: &[],
};

params! {
    /// Load of a port above which it is congested, as a share of the capacity of its link.
    threshold: f64 = 0.85, within 0.01..=10.0, from "our choice: as in ndnSieve, so that both applications detect the same congestion";
    /// Margin by which the new maximum load must be below the current one for a route to move.
    margin: f64 = 0.1, within 0.0..=10.0, from "our choice: a smaller gain does not outweigh the reordering of packets";
    /// Minimum time between two moves at a node: loads measured before a move do not include it.
    min_move_interval: Duration = Duration::from_millis(1500), within "0 s"..="1000 s", from "our choice: three reporting periods of 0.5 s";
    /// Maximum age of a measured load. Older loads count as unknown, and no route moves to a port with an unknown load.
    max_age: Duration = Duration::from_millis(1500), within "1 ms"..="1000 s", from "our choice: three reporting periods of 0.5 s";
}

/// The part in the controller.
pub fn app(params: &Params, _setup: &Setup) -> App {
    App::new(params)
}
