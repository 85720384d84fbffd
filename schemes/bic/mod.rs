//! BIC: after a loss, a binary search for the largest window without loss [XHR04].

use contract::{Documented, Family, Scheme, Setup, Source};

mod control;
#[cfg(test)]
mod tests;

pub use control::{Bic, OnTimeout};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "bic",
    title: "BIC: binary search for the window, as NDN consumers have it",
    families: &[Family::Ip, Family::Ndn],
    sources: &[
        Source {
            key: "XHR04",
            text: "Xu, Harfoush, Rhee: Binary Increase Congestion Control (BIC) for Fast Long-Distance Networks, IEEE INFOCOM, 2004",
        },
        Source { key: "NDNSIM", text: "ndnSIM 2.8, public source of its consumer ConsumerPcon, 2018" },
    ],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
};

contract::params! {
    /// Share of the window kept after a congestion event.
    beta: f64 = 0.8, within 0.01..=0.99, from "NDNSIM: 0.8; the authors of PCON use 0.5";
    /// Below this number of segments the window grows and is reduced like Reno's.
    low_window: f64 = 14.0, within 1.0..=100000.0, from "NDNSIM: 14; XHR04 §III";
    /// Maximum number of segments added per round trip.
    max_increment: f64 = 16.0, within 1.0..=100000.0, from "NDNSIM: 16";
    /// Additional effect of a timeout: none, or a window of one segment, as in TCP.
    on_timeout: OnTimeout = OnTimeout::Cut, from "NDNSIM: a timeout is treated as a loss; our choice for the other value: RFC 5681 §3.1";
}

/// The whole congestion control.
pub type Control = Bic;

/// Makes the congestion control of one consumer or connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Bic::new(params, setup)
}
