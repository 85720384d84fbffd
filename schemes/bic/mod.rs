//! BIC: after a loss, a binary search for the largest window without loss [XHR04].

use ambassador::Delegate;
use contract::{
    Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Delivery, Documented, Family, Idle, Lost, Need,
    Scheme, Sent, Setup, Source, SourceWindows, ambassador_impl_CongestionControl,
};
use units::{Bytes, Duration, Rate, Time};

use crate::shared::linux::Linux;

mod control;
mod linux;
#[cfg(test)]
mod linux_tests;
#[cfg(test)]
mod tests;

pub use control::{Bic, OnTimeout, Variant};
pub use linux::LinuxBic;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "bic",
    title: "BIC: binary search for the window, as NDN consumers or Linux have it",
    families: &[Family::Ip, Family::Ndn],
    sources: &[
        Source {
            key: "XHR04",
            text: "Xu, Harfoush, Rhee: Binary Increase Congestion Control (BIC) for Fast Long-Distance Networks, IEEE INFOCOM, 2004",
        },
        Source { key: "NDNSIM", text: "ndnSIM 2.8, public source of its consumer ConsumerPcon, 2018" },
        Source { key: "LINUX", text: "Linux 6.1, net/ipv4/tcp_bic.c" },
    ],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
    needs: &[Need::Deliveries { param: "variant", value: "linux" }],
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
    /// The algorithm of NDN consumers, or of Linux, in whole segments. With Linux, `on_timeout` has no effect: the
    /// window is one segment.
    variant: Variant = Variant::Ndn, from "NDNSIM; LINUX for the other value";
    /// With variant = "linux": segments acknowledged per segment of growth near the maximum, in quarters of the window.
    smooth_part: u32 = 20, within 1..=1000, from "LINUX: smooth_part";
    /// With variant = "linux": whether a loss below the last maximum lowers the maximum, so that other flows get room.
    fast_convergence: bool = true, from "LINUX: fast_convergence; XHR04 §III";
}

/// The whole congestion control.
#[derive(Clone, Debug, Delegate)]
#[delegate(CongestionControl)]
pub enum Control {
    /// The controller of NDN consumers.
    Ndn(Bic),
    /// The controller of Linux, in memory of its own because it is large.
    Linux(Box<Linux<LinuxBic>>),
}

/// Makes the congestion control of one consumer or connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    match params.variant {
        Variant::Ndn => Control::Ndn(Bic::new(params, setup)),
        Variant::Linux => Control::Linux(Box::new(Linux::new(LinuxBic::new(params), setup))),
    }
}
