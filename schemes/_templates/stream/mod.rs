//! Template: in one sentence, what it does that others do not.

use contract::{Documented, Family, Scheme, Setup, Source};
use units::{Duration, Rate};

mod endpoints;
#[cfg(test)]
mod tests;

pub use endpoints::{Receiver, Sender};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "template",
    title: "One line for the catalogue",
    families: &[Family::Ip, Family::Multicast],
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
    /// Packets per interval that are added after an interval without loss.
    increase: f64 = 1.0, within 0.001..=1000.0, from "CJ89 §3: a_I; our choice of the value";
    /// Share of the rate kept after a report of loss.
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
