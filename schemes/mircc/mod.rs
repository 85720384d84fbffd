//! MIRCC: every forwarder offers one rate per upstream link, and consumers send Interests at the minimum rate of their
//! path [KATO].

use contract::{Documented, Family, Scheme, Setup, Source, choice, params};
use units::{Duration, Rate};

use self::router::rate::Constants;

mod control;
pub(crate) mod router;
#[cfg(test)]
mod tests;

pub use control::Control;
pub use router::Link;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "mircc",
    title: "Multipath-aware ICN rate-based congestion control, single path",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "KATO",
            text: "T. Kato, T. Enda, R. Yamamoto, S. Ohzahata: A Study on Performance of Explicit Rate Report based Congestion Control under Coarse-grained Clock Management",
        },
        Source {
            key: "MIRCC",
            text: "M. Mahdian, S. Arianfar, J. Gibson, D. Oran: MIRCC: Multipath-aware ICN Rate-based Congestion Control, ACM ICN 2016 (first page only)",
        },
    ],
    documented: Documented::Partial,
    series: &[
        ("offered_rate", "bps", "flow", "rate that the last Data packet offered to the consumer"),
        (
            "stamping_rate",
            "packets/s",
            "node",
            "R: rate that each flow may use, at the upstream link with the most Interests",
        ),
        ("upstream_capacity", "packets/s", "node", "C: capacity of that link"),
        ("full_rate_flows", "flows", "node", "N: number of full-rate flows that would produce its traffic"),
        ("rate_interval", "s", "node", "T: time between calculations of the rate"),
        ("inflated_queue", "packets", "node", "q: level of that link's leaky bucket"),
        ("interest_rate", "packets/s", "node", "y: Interests for that link in the last interval, per second"),
        ("upstream_rtt", "s", "node", "d: smoothed time from an Interest to its Data on that link"),
        ("beta", "1", "node", "β: share of the queue that the rate drains in one round trip"),
        ("target_utilisation", "1", "node", "η: share of the link that is allocated"),
    ],
    reorder: 1,
    needs: &[],
};

params! {
    /// T: time between two calculations of the rate. Values above it are a coarse clock.
    interval: Duration = Duration::from_millis(100), within "1 ms"..="100 s", from "KATO §4.1: the smallest of 100, 250, 500 and 750 ms";
    /// Start of the first interval, after the start of the run.
    phase: Duration = Duration::ZERO, within "0 s"..="100 s", from "our choice: no source gives one; results must not depend on it";
    /// η: share of the link's capacity that is offered.
    eta: f64 = 1.0, within 0.01..=1.0, from "KATO §3.1";
    /// Minimum value of β.
    min_beta: f64 = 0.1, within 0.0..=1.0, from "KATO eq. 3";
    /// Weight of the newest value in the averages of the base rate and of the excess rate.
    weight: f64 = 0.5, within 0.001..=1.0, from "KATO §2.2";
    /// Depth of the leaky bucket of a link, in packets; 0 is unlimited.
    depth: u32 = 200, within 0..=1000000000, from "KATO §4.1";
    /// Interests that y counts.
    counting: Counting = Counting::Received, from "our choice: KATO §3.1 says received; counting only Interests that pass would hide the overload from the algorithm";
    /// Treatment of an Interest that exceeds the bucket.
    policing: Policing = Policing::Drop, from "our choice: KATO mentions no NACK";
    /// Whether R is limited to C. Without this limit the rate of a link that is no bottleneck grows without bound.
    capped: bool = true, from "our choice: no source states it; R is at most C in Figures 3 and 4 of KATO";
    /// Minimum R, as a share of C.
    min_rate_share: f64 = 0.01, within 0.000001..=1.0, from "our choice: a consumer that sends few Interests receives few new rates";
    /// Gain of the smoothed round-trip time d.
    rtt_gain: f64 = 0.1, within 0.001..=1.0, from "our choice: KATO §3.1 says smoothed, and gives no gain";
    /// d before the first sample.
    initial_rtt: Duration = Duration::from_millis(400), within "1 us"..="100 s", from "our choice: the round-trip time of KATO §4.1";
    /// Initial rate of a consumer; unlimited is the rate of its node's link.
    initial_rate: Rate = Rate::UNLIMITED, within "1 bit/s"..="unlimited", from "our choice: an idle link offers its capacity, with which Figures 3 and 4 of KATO start";
}

choice! {
    /// Interests that y counts.
    pub enum Counting {
        /// All that are to go to the link.
        Received = "received",
        /// Those that the bucket lets pass.
        Passed = "passed",
    }
}

choice! {
    /// Treatment of an Interest that exceeds the bucket.
    pub enum Policing {
        /// It ends without a word.
        Drop = "drop",
        /// It is refused, with congestion as the reason.
        Nack = "nack",
    }
}

impl Params {
    fn rule(&self) -> Constants {
        Constants {
            eta: self.eta,
            min_beta: self.min_beta,
            weight: self.weight,
            min_rate_share: self.min_rate_share,
            capped: self.capped,
        }
    }
}

/// The part at a consumer.
pub fn control(params: &Params, _setup: &Setup) -> Control {
    Control::new(params)
}

/// The part at the links of a forwarder.
pub fn link(params: &Params, setup: &Setup) -> Link {
    Link::new(params, setup.segment)
}
