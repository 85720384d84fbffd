//! LEDBAT++: LEDBAT by round-trip times, with slower growth, faster reductions, and periodic slowdowns in which all
//! flows measure an empty queue [LEDBATPP].

use contract::{Documented, Family, Scheme, Setup, Source};
use units::Duration;

mod control;
#[cfg(test)]
mod tests;

pub use control::LedbatPp;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "ledbat_pp",
    title: "LEDBAT++: background transport that latecomers cannot starve",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "LEDBATPP",
            text: "Balasubramanian, Ertugay, Havey: LEDBAT++: Congestion Control for Background Traffic, draft-irtf-iccrg-ledbat-plus-plus-01, 2020",
        },
        Source {
            key: "RFC6817",
            text: "Shalunov, Hazel, Iyengar, Kuehlewind: Low Extra Delay Background Transport (LEDBAT), RFC 6817, 2012",
        },
        Source { key: "RFC5681", text: "Allman, Paxson, Blanton: TCP Congestion Control, RFC 5681, 2009" },
    ],
    documented: Documented::Full,
    series: &[("queue_delay", "s", "flow", "queueing delay estimated by the scheme")],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Target of the queueing delay.
    target: Duration = Duration::from_millis(60), within "1 ms"..="1 s", from "LEDBATPP §4.5";
    /// Maximum divisor of the gain.
    gain_divisor: f64 = 16.0, within 1.0..=1000.0, from "LEDBATPP §4.2";
    /// Gain of the decrease above the target.
    constant: f64 = 1.0, within 0.01..=100.0, from "LEDBATPP §4.3";
    /// Share of the target at which the first slow start ends.
    exit_share: f64 = 0.75, within 0.01..=1.0, from "LEDBATPP §4.1: 3/4";
    /// Round trips from the end of the first slow start to the first slowdown.
    first_wait: f64 = 2.0, within 0.0..=1000.0, from "LEDBATPP §4.4";
    /// Number of round trips for which the window is held at its minimum.
    freeze: f64 = 2.0, within 0.0..=1000.0, from "LEDBATPP §4.4";
    /// Ratio of the time to the next slowdown to the duration of the last one.
    interval: f64 = 9.0, within 0.0..=1000.0, from "LEDBATPP §4.4: slowdowns cost at most a tenth of the capacity";
    /// Number of minutes over which the base round-trip time is the minimum.
    base_history: u32 = 10, within 1..=60, from "RFC6817 §2.5";
    /// Number of samples, none older than a round trip, whose minimum is the current round-trip time.
    current_filter: u32 = 4, within 1..=1000, from "our choice: as in LEDBAT; one delayed acknowledgement does not change the minimum of four samples";
    /// Initial and minimum window, in segments; after a timeout the window is one segment.
    min_cwnd: f64 = 2.0, within 1.0..=10.0, from "LEDBATPP §4.1, §4.4";
}

/// The whole congestion control, in memory of its own because it is large.
pub type Control = Box<LedbatPp>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Box::new(LedbatPp::new(params, setup))
}
