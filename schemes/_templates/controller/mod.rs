//! Template: in one sentence, what it does that others do not.

use contract::{Documented, Family, Scheme, Setup, Source};
use units::Duration;

mod app;
#[cfg(test)]
mod tests;

pub use app::App;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "template",
    title: "One line for the catalogue",
    families: &[Family::Sdn],
    sources: &[Source {
        key: "RFC7426",
        text: "Haleplidis, Pentikousis, Denazis, Hadi Salim, Meyer, Koufopavlou: Software-Defined Networking (SDN): Layers and Architecture Terminology, RFC 7426, 2015",
    }],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Load of a port in a period above which it is congested, as a share of the capacity of its link.
    threshold: f64 = 0.9, within 0.01..=10.0, from "our choice: RFC7426 describes the layers and no algorithm";
    /// Minimum time between two commands: loads measured before a command do not include it.
    min_move_interval: Duration = Duration::from_secs(2), within "0 s"..="1000 s", from "our choice: four periods of the usual half second";
}

/// Makes the part in the controller.
pub fn app(params: &Params, _setup: &Setup) -> App {
    App::new(params)
}
