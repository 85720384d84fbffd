//! Copa: the rate that balances throughput and queueing delay, and as much as a loss-based flow takes beside one
//! [AB18].

use contract::{Documented, Family, Need, Scheme, Setup, Source};
use units::Duration;

mod control;
#[cfg(test)]
mod tests;

pub use control::Copa;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "copa",
    title: "Copa: a target rate by the queueing delay, with a competitive mode",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "AB18",
            text: "Arun, Balakrishnan: Copa: Practical Delay-Based Congestion Control for the Internet, USENIX Symposium on Networked Systems Design and Implementation (NSDI), 2018",
        },
        Source {
            key: "GENERICCC",
            text: "The implementation of the authors of Copa, markoviancc.cc and rtt-window.cc in github.com/venkatarun95/genericCC",
        },
        Source {
            key: "MVFST",
            text: "Copa in the QUIC stack mvfst, quic/congestion_control/Copa.cpp in github.com/facebook/mvfst",
        },
    ],
    documented: Documented::Full,
    series: &[("queue_delay", "s", "flow", "queueing delay estimated by the scheme")],
    reorder: 1,
    needs: &[Need::Rack],
};

contract::params! {
    /// δ of the default mode: the target rate is 1/(δ·queueing delay) segments per second.
    delta: f64 = 0.5, within 0.001..=1000.0, from "AB18 §2.2: δ = 0.5";
    /// Time over which the minimum round-trip time is that without a queue.
    min_rtt_window: Duration = Duration::from_secs(10), within "100 ms"..="1000 s", from "AB18 §2.1: 10 s";
    /// Rounds in the same direction after which the velocity doubles with each further one.
    steady_rounds: u32 = 3, within 1..=100, from "AB18 §2.1: three";
    /// Pacing rate, in windows per round-trip time.
    pacing_gain: f64 = 2.0, within 1.0..=10.0, from "AB18 §2.1: 2·cwnd/RTTstanding";
    /// Whether δ follows losses while the queue does not empty, as beside a flow that fills the buffer.
    competitive: bool = true, from "AB18 §2.2";
    /// The queue is nearly empty if its delay is at most this share of the range of round-trip times.
    nearly_empty: f64 = 0.1, within 0.0..=1.0, from "AB18 §2.2: 0.1·(RTTmax − RTTmin)";
    /// Round-trip times without a nearly empty queue after which the mode is competitive.
    empty_rounds: u32 = 5, within 1..=1000, from "AB18 §2.2: 5";
    /// Round-trip times over which the maximum of that range is taken.
    max_rounds: u32 = 4, within 1..=1000, from "AB18 §2.2: four";
    /// Minimum window, in segments.
    min_cwnd: f64 = 2.0, within 1.0..=10.0, from "our choice: AB18 names none; two segments are what a delayed acknowledgement waits for";
}

/// The whole congestion control, in memory of its own because it is large.
pub type Control = Box<Copa>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Box::new(Copa::new(params, setup))
}
