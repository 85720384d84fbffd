//! TFMCC: one rate for a multicast group, that of a TCP connection to its worst receiver.

use contract::{Documented, Family, Scheme, Setup, Source, params};
use units::{Duration, Rate};

mod edge;
#[cfg(test)]
mod tests;

pub use edge::{Receiver, Sender};

/// The title page.
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
};

params! {
    /// Greatest round-trip time of the group at the start, before anybody was heard; the first rate is one packet in that time.
    initial_rtt: Duration = Duration::from_millis(500), within "1 ms"..="60 s", from "RFC4654 §3.1";
    /// Share of the greatest round-trip time that a feedback round without a greater one leaves.
    rtt_decay: f64 = 0.9, within 0.0..=1.0, from "RFC4654 §3.2";
    /// Granularity of clocks: the greatest round-trip time is at least this much more than the time between packets.
    clock: Duration = Duration::from_millis(1), within "1 ms"..="1 s", from "our choice: RFC4654 §3.2 leaves it open, and timestamps are in milliseconds";
    /// A feedback round lasts so many greatest round-trip times.
    round: f64 = 6.0, within 1.0..=1000.0, from "RFC4654 §3.4";
    /// A feedback round without a word ends after so many times its length.
    round_limit: f64 = 2.0, within 1.0..=1000.0, from "RFC4654 §3.4";
    /// g: feedback suppresses that of receivers that could take more than 1 − g times its rate.
    slack: f64 = 0.1, within 0.0..=0.99, from "RFC4654 §3.4";
    /// N: receivers that the timers of a feedback round are made for.
    receivers: f64 = 10000.0, within 2.0..=1e12, from "RFC4654 §4.5";
    /// After a limiting receiver left, the rate does not rise for so many feedback rounds.
    pause: f64 = 1.0, within 0.0..=1000.0, from "RFC4654 §3.3";
    /// The rate is halved when the limiting receiver was silent for so many greatest round-trip times.
    halve_after: f64 = 4.0, within 1.0..=1000.0, from "RFC4654 §3.3; our choice: it is the greatest round-trip time, because that covers the time between packets";
    /// It is not, when the limiting receiver was chosen less than so many greatest round-trip times ago.
    grace: f64 = 10.0, within 0.0..=1000.0, from "RFC4654 §3.3";
    /// The limiting receiver is gone when it was silent for so many greatest round-trip times.
    gone_after: f64 = 10.0, within 1.0..=1000.0, from "RFC4654 §3.3";
    /// The rate is halved each time that nobody was heard for so many greatest round-trip times.
    silence: f64 = 10.0, within 1.0..=1000.0, from "RFC4654 §3.3";
    /// Greatest time between packets, which is the least rate.
    longest_gap: Duration = Duration::from_secs(8), within "1 ms"..="60 s", from "RFC4654 §3.3";
    /// A receiver without a loss so far could take so many times the rate at which data arrive.
    slowstart_factor: f64 = 2.0, within 1.0..=10.0, from "RFC4654 §3.6";
    /// q of the limiting receiver: share of the round-trip time that a measurement leaves.
    limiting_q: f64 = 0.9, within 0.0..=0.999, from "RFC4654 §4.3.2";
    /// q of the other receivers.
    q: f64 = 0.5, within 0.0..=0.999, from "RFC4654 §4.3.2";
    /// Round-trip times over which the receive rate is measured.
    rate_window: f64 = 3.0, within 1.0..=100.0, from "RFC4654 §4.3.4 says 2 to 4; our choice: the middle";
    /// n: closed intervals between loss events that count.
    intervals: u32 = 8, within 1..=64, from "RFC4654 §5.4";
    /// Old intervals count less while no loss comes for long; optional in the RFC.
    discounting: bool = false, from "RFC4654 §5.5; our choice: off, since the RFC leaves it optional";
    /// Least share of its weight that an old interval keeps when it is discounted.
    discount_threshold: f64 = 0.5, within 0.0..=1.0, from "RFC4654 §5.5";
    /// A receiver forgets its losses when no data came for so many greatest round-trip times.
    forget_after: f64 = 10.0, within 1.0..=1000.0, from "RFC4654 §4; our choice: it is the greatest round-trip time, because that covers the time between packets";
    /// A receiver reports no less than this, the least that the rate field can say.
    floor: Rate = Rate::from_bps(100), within "100 bit/s"..="400 Gbit/s", from "our choice: RFC4654 §4 leaves it to the application; this is no floor";
    /// A receiver leaves when the rate that it calculates was below its floor for so long.
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
