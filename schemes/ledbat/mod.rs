//! LEDBAT: a window that is controlled to a fixed queueing delay, so that it yields to traffic that causes a longer one
//! [RFC6817].

use contract::{Documented, Family, Scheme, Setup, Source};
use units::Duration;

mod control;
#[cfg(test)]
mod tests;

pub use control::Ledbat;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "ledbat",
    title: "LEDBAT: background transport that adds little delay",
    families: &[Family::Ip],
    sources: &[
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
    target: Duration = Duration::from_millis(100), within "1 ms"..="100 ms", from "RFC6817 §2.5: 100 ms or less";
    /// Segments added per round trip if the queue is empty.
    gain: f64 = 1.0, within 0.001..=1.0, from "RFC6817 §2.5: 1 or less, so that the window never grows faster than Reno's";
    /// Segments by which the window can exceed the data in flight.
    allowed_increase: f64 = 1.0, within 0.001..=100.0, from "RFC6817 §2.5";
    /// Number of minutes over which the base delay is the minimum.
    base_history: u32 = 10, within 1..=60, from "RFC6817 §2.5";
    /// Number of samples, none older than a round trip, whose minimum is the current delay.
    current_filter: u32 = 4, within 1..=1000, from "our choice: RFC6817 §3.1.2 leaves the filter open; one delayed acknowledgement does not change the minimum of four samples";
    /// Window at the start, in segments.
    init_cwnd: f64 = 2.0, within 1.0..=10.0, from "RFC6817 §2.5";
    /// Minimum window, in segments, except after a timeout.
    min_cwnd: f64 = 2.0, within 1.0..=10.0, from "RFC6817 §2.5";
}

/// The whole congestion control, in memory of its own because it is large.
pub type Control = Box<Ledbat>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Box::new(Ledbat::new(params, setup))
}
