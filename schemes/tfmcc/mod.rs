//! TFMCC: one rate for a multicast group, as high as the rate of a TCP connection to its slowest receiver [RFC4654].

use contract::{Documented, Family, Scheme, Setup, Source, params};
use units::{Duration, Rate};

mod endpoints;
#[cfg(test)]
mod tests;

pub use endpoints::{Receiver, Sender};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "tfmcc",
    title: "TCP-friendly multicast congestion control",
    families: &[Family::Multicast, Family::Ip, Family::Icn],
    sources: &[
        Source {
            key: "RFC4654",
            text: "J. Widmer, M. Handley: TCP-Friendly Multicast Congestion Control (TFMCC): Protocol Specification, RFC 4654, 2006",
        },
        Source {
            key: "RFC5348",
            text: "S. Floyd, M. Handley, J. Padhye, J. Widmer: TCP Friendly Rate Control (TFRC): Protocol Specification, RFC 5348, 2008",
        },
    ],
    documented: Documented::Full,
    series: &[
        (
            "loss_event_rate",
            "1",
            "receiver",
            "loss event rate: loss events per packet over the last loss intervals",
        ),
        ("calculated_rate", "bps", "receiver", "calculated rate that the receiver would report"),
        ("rtt", "s", "receiver", "round-trip time that the receiver uses"),
        ("r_max", "s", "flow", "maximum round-trip time of the group, as known to the source"),
        (
            "suppression_rate",
            "bps",
            "flow",
            "suppression rate: receivers with at least this calculated rate stay silent",
        ),
    ],
    reorder: 3,
    needs: &[],
};

params! {
    /// Maximum round-trip time of the group before the first feedback; the initial rate is one packet in that time.
    initial_rtt: Duration = Duration::from_millis(500), within "1 ms"..="60 s", from "RFC4654 §3.1";
    /// Factor by which the maximum round-trip time is reduced after a feedback round without a greater one.
    rtt_decay: f64 = 0.9, within 0.0..=1.0, from "RFC4654 §3.2";
    /// Granularity of clocks: minimum difference between the maximum round-trip time and the time between packets.
    clock: Duration = Duration::from_millis(1), within "1 ms"..="1 s", from "our choice: RFC4654 §3.2 leaves it open; timestamps are in milliseconds";
    /// Duration of a feedback round, in maximum round-trip times.
    round: f64 = 6.0, within 1.0..=1000.0, from "RFC4654 §3.4";
    /// A feedback round without feedback ends after this multiple of its duration.
    round_limit: f64 = 2.0, within 1.0..=1000.0, from "RFC4654 §3.4";
    /// g: feedback suppresses the feedback of receivers with more than 1 − g times its rate.
    slack: f64 = 0.1, within 0.0..=0.99, from "RFC4654 §3.4";
    /// N: number of receivers for which the feedback timers are scaled.
    receivers: f64 = 10000.0, within 2.0..=1e12, from "RFC4654 §4.5";
    /// Number of feedback rounds for which the rate does not increase after the limiting receiver has left.
    pause: f64 = 1.0, within 0.0..=1000.0, from "RFC4654 §3.3";
    /// The rate is halved after this number of maximum round-trip times without feedback from the limiting receiver.
    halve_after: f64 = 4.0, within 1.0..=1000.0, from "RFC4654 §3.3; our choice: in maximum round-trip times, because these include the time between packets";
    /// The rate is not halved if the limiting receiver was chosen less than this number of maximum round-trip times
    /// ago.
    grace: f64 = 10.0, within 0.0..=1000.0, from "RFC4654 §3.3";
    /// The limiting receiver has left after this number of maximum round-trip times without feedback from it.
    gone_after: f64 = 10.0, within 1.0..=1000.0, from "RFC4654 §3.3";
    /// The rate is halved after each period of this number of maximum round-trip times without any feedback.
    feedback_timeout: f64 = 10.0, within 1.0..=1000.0, from "RFC4654 §3.3";
    /// Maximum time between packets, which is the minimum rate.
    max_packet_interval: Duration = Duration::from_secs(8), within "1 ms"..="60 s", from "RFC4654 §3.3";
    /// Slow start: a receiver without a loss reports this multiple of the rate at which data arrive.
    slowstart_factor: f64 = 2.0, within 1.0..=10.0, from "RFC4654 §3.6";
    /// q of the limiting receiver: weight of the old value in its smoothed round-trip time.
    limiting_q: f64 = 0.9, within 0.0..=0.999, from "RFC4654 §4.3.2";
    /// q of the other receivers.
    q: f64 = 0.5, within 0.0..=0.999, from "RFC4654 §4.3.2";
    /// Round-trip times over which the receive rate is measured.
    rate_window: f64 = 3.0, within 1.0..=100.0, from "RFC4654 §4.3.4: 2 to 4; our choice of the value: the middle";
    /// n: number of closed loss intervals in the average.
    intervals: u32 = 8, within 1..=64, from "RFC4654 §5.4";
    /// Whether old loss intervals are discounted during a long time without loss; optional in the RFC.
    discounting: bool = false, from "RFC4654 §5.5; our choice: off, because the RFC makes it optional";
    /// Minimum share of its weight that an old interval keeps when it is discounted.
    discount_threshold: f64 = 0.5, within 0.0..=1.0, from "RFC4654 §5.5";
    /// A receiver forgets its losses after this number of maximum round-trip times without data.
    forget_after: f64 = 10.0, within 1.0..=1000.0, from "RFC4654 §4; our choice: in maximum round-trip times, because these include the time between packets";
    /// Minimum rate that a receiver reports, which is the minimum of the rate field.
    min_reported_rate: Rate = Rate::from_bps(100), within "100 bit/s"..="400 Gbit/s", from "our choice: RFC4654 §4 leaves it to the application; it does not limit the rate";
    /// A receiver leaves after this time with a calculated rate below `min_reported_rate`.
    leave_after: Duration = Duration::from_secs(120), within "1 ms"..="86400 s", from "RFC4654 §4";
}

/// The part at the source.
pub fn sender(params: &Params, setup: &Setup) -> Sender {
    Sender::new(params, setup.segment)
}

/// The part at a receiver.
pub fn receiver(params: &Params, setup: &Setup) -> Receiver {
    Receiver::new(params, setup.segment)
}
