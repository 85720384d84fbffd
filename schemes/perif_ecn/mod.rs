//! PerIfwithECN, a reconstruction: a router whose queue is half full sends the source a suggested rate at once [MF].

use contract::{Documented, Family, Scheme, Setup, Source, params};
use units::{Duration, Rate};

mod endpoints;
mod headers;
mod router;
#[cfg(test)]
mod tests;

pub use endpoints::{Receiver, Sender};
pub use router::Router;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "perif_ecn",
    title: "Per-interface queues with explicit congestion notification (reconstruction)",
    families: &[Family::Icn],
    sources: &[
        Source {
            key: "MF",
            text: "K. Su, K. K. Ramakrishnan, D. Raychaudhuri: Scalable, network-assisted congestion control for the MobilityFirst future internet architecture, IEEE LANMAN 2016 (abstract only)",
        },
        Source {
            key: "SRMCC",
            text: "the paper on SRMCC, a single-rate multicast congestion control for ICN, which calls this scheme PerIfwithECN and compares itself with it",
        },
    ],
    documented: Documented::Reconstruction,
    series: &[
        ("srtt", "s", "flow", "smoothed round-trip time to the most distant receiver"),
        ("notified_rate", "bps", "flow", "rate that a router's notification suggested"),
        ("suggested_rate", "bps", "node", "rate that the router suggests in a notification"),
    ],
    reorder: 1,
    needs: &[],
};

params! {
    /// Occupancy of the queue at and above which a router sends notifications.
    threshold: f64 = 0.5, within 0.0..=1.0, from "our choice: no published value; the threshold of heavy congestion in SRMCC, Table 1";
    /// Share of the group's present rate that a router suggests.
    keep: f64 = 0.95, within 0.0..=1.0, from "our choice: no published value; in trial runs it came closest to the feedback counted in SRMCC §5.3.4";
    /// Time over which a router counts a group's bytes for one sample of its rate.
    bin: Duration = Duration::from_millis(100), within "1 ms"..="10 s", from "our choice: a router needs a rate to suggest one; several packets at usual rates";
    /// Gain of a router's rate estimate.
    meter_gain: f64 = 0.5, within 0.001..=1.0, from "our choice: a mean over the last few bins";
    /// Minimum time between notifications about one group by one interface.
    spacing: Duration = Duration::ZERO, within "0 s"..="10 s", from "our choice: SRMCC §5.3.4 says that notifications are immediate and not aggregated";
    /// Packets per round-trip time by which the rate grows, once per round-trip time without notification.
    increase: f64 = 1.0, within 0.0..=1000.0, from "our choice: one packet per round trip, as in TCP's congestion avoidance";
    /// Round-trip time before the first sample.
    initial_rtt: Duration = Duration::from_millis(100), within "1 ms"..="10 s", from "our choice: about the round-trip time of a path across a continent";
    /// Gain of the smoothed round-trip time.
    rtt_gain: f64 = 0.125, within 0.001..=1.0, from "our choice: as in TCP (RFC 6298 §2.3)";
    /// Time between probes of the farthest receiver, whose answers give the round-trip time.
    probe_interval: Duration = Duration::from_secs(1), within "1 ms"..="100 s", from "our choice: the source needs a round-trip time; one answer per second is few beside the notifications";
    /// The most distant receiver has left after this number of unanswered requests; all receivers are then asked.
    max_unanswered: u32 = 3, within 1..=1000, from "our choice: single answers may be lost";
    /// Maximum age of the packet that feedback is about; older feedback is ignored.
    max_age: Duration = Duration::from_secs(2), within "1 ms"..="100 s", from "our choice: longer than the delay of several full queues";
    /// Rate at the start.
    initial_rate: Rate = Rate::from_kbps(50), within "1 bit/s"..="1000 Gbit/s", from "our choice: as in SRMCC, Table 1";
    /// Minimum rate.
    min_rate: Rate = Rate::from_kbps(8), within "1 bit/s"..="1000 Gbit/s", from "our choice: one packet of 1000 bytes per second";
    /// Maximum rate. Without it the rate grows without bound if there are no notifications.
    max_rate: Rate = Rate::UNLIMITED, within "1 bit/s"..="unlimited", from "our choice: no published value";
    order min_rate <= max_rate;
}

/// The part at the source.
pub fn sender(params: &Params, setup: &Setup) -> Sender {
    Sender::new(params, setup.segment)
}

/// The part at a receiver.
pub fn receiver(_params: &Params, _setup: &Setup) -> Receiver {
    Receiver::new()
}

/// The part in a router.
pub fn router(params: &Params, _setup: &Setup) -> Router {
    Router::new(params)
}
