//! Prague: the scalable congestion control of L4S over TCP [PRAGUE04].

use contract::{Documented, EcnFeedback, EcnUse, Family, Need, Scheme, Setup, Source};

use units::Duration;

mod control;
#[cfg(test)]
mod tests;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "prague",
    title: "Prague: scalable congestion control for L4S",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "PRAGUE04",
            text: "De Schepper, Tilmans, Briscoe, Goel: Prague Congestion Control, draft-briscoe-iccrg-prague-congestion-control-04, 2024",
        },
        Source { key: "UDPPRAGUE", text: "De Schepper et al.: udp_prague, reference implementation in C++" },
        Source {
            key: "RFC9331",
            text: "De Schepper, Briscoe: The Explicit Congestion Notification (ECN) Protocol for Low Latency, Low Loss, and Scalable Throughput (L4S), RFC 9331, 2023",
        },
        Source {
            key: "RFC8985",
            text: "Cheng, Cardwell, Dukkipati, Jha: The RACK-TLP Loss Detection Algorithm for TCP, RFC 8985, 2021",
        },
    ],
    documented: Documented::Full,
    series: &[("alpha", "1", "flow", "smoothed fraction of marked packets; 0 before the first mark")],
    reorder: 1,
    needs: &[
        // packets are ECT(1), and the receiver counts the marks                          [RFC9331 §4.1, §4.2]
        Need::Ecn(EcnUse { feedback: EcnFeedback::Accurate, l4s: true }),
        // losses are detected by time, not by a number of packets                        [RFC9331 §4.3, RFC8985]
        Need::Rack,
    ],
};

contract::params! {
    /// g, the weight of the last virtual round trip in the smoothed fraction of marked packets.
    gain: f64 = 0.0625, within 0.001..=1.0, from "PRAGUE04 §2.3.2; UDPPRAGUE: 1/16";
    /// Minimum of the virtual round-trip time: flows with less grow as if they had this one, so that they do not push
    /// others aside.
    virtual_rtt: Duration = Duration::from_millis(25), within "1 us"..="10 s", from "PRAGUE04 §2.4.4; UDPPRAGUE: 25 ms";
    /// Number of round trips after which the growth depends on the virtual round-trip time.
    real_rounds: u32 = 500, within 0..=1000000, from "PRAGUE04 §2.4.4: D = 500; UDPPRAGUE: 0";
    /// Pacing rate in slow start, in windows per round trip.
    pace_start: f64 = 2.0, within 1.0..=10.0, from "PRAGUE04, packet pacing: twice the window per round trip";
}

/// The whole congestion control, in memory of its own because it is large.
pub type Control = Box<control::Control>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Box::new(control::Control::new(params, setup))
}
