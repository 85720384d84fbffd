//! ICP: a window at the receiver, halved when a timer within the range of the recent round-trip times expires [ICP12].

use contract::{Documented, Family, Need, Scheme, Setup, Source};
use units::Duration;

mod control;
#[cfg(test)]
mod tests;

pub use control::Icp;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "icp",
    title: "ICP: a receiver's window with a timer that follows the range of round-trip times",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "ICP12",
            text: "Carofiglio, Gallo, Muscariello: ICP: Design and Evaluation of an Interest Control Protocol for Content-Centric Networking, IEEE INFOCOM Workshops, 2012",
        },
        Source {
            key: "CCNPL",
            text: "ccnpl-sim, the simulator of the authors' group, public source of ICP, 2012",
        },
    ],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
    needs: &[Need::Samples("samples")],
};

contract::params! {
    /// Number of round-trip times from which the timer is computed.
    samples: u32 = 30, within 1..=10000, from "CCNPL: 30";
    /// Position of the timer between the minimum (0) and the maximum (1) of them.
    delta: f64 = 0.8, within 0.0..=1.0, from "CCNPL: 0.8; ICP12, not available in full, has 0.5 as far as known";
    /// The timer before this number of samples exists; until then the window is not reduced.
    initial_timeout: Duration = Duration::from_secs(1), within "1 ms"..="100 s", from "our choice: CCNPL leaves it to the scenario; Interests must live longer than this";
    /// Segments added per window of Data.
    eta: u32 = 1, within 1..=1000, from "CCNPL: 1";
    /// Share of the window kept after a timeout.
    beta: f64 = 0.5, within 0.01..=0.99, from "CCNPL: one half, rounded down";
}

/// The whole congestion control.
pub type Control = Icp;

/// Makes the congestion control of one consumer.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Icp::new(params, setup)
}
