//! TFRC: a smooth rate, as high as the rate of a TCP connection with the same losses [RFC5348].

use contract::{Documented, Family, Scheme, Setup, Source, params};
use units::{Bytes, Duration};

mod endpoints;
#[cfg(test)]
mod tests;

pub use endpoints::{Receiver, Sender};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "tfrc",
    title: "TCP-friendly rate control",
    families: &[Family::Ip],
    sources: &[Source {
        key: "RFC5348",
        text: "S. Floyd, M. Handley, J. Padhye, J. Widmer: TCP Friendly Rate Control (TFRC): Protocol Specification, RFC 5348, 2008",
    }],
    documented: Documented::Full,
    series: &[
        ("srtt", "s", "flow", "smoothed round-trip time"),
        ("equation_rate", "bps", "flow", "rate that the throughput equation gives"),
        ("receive_limit", "bps", "flow", "maximum rate that the last receive rates permit"),
        (
            "loss_event_rate",
            "1",
            "receiver",
            "loss event rate: loss events per packet over the last loss intervals",
        ),
        (
            "receive_rate",
            "bps",
            "receiver",
            "rate at which data arrived over the last round-trip time, as reported",
        ),
    ],
    reorder: 3,
    needs: &[],
};

params! {
    /// q: weight of the old value in the smoothed round-trip time.
    q: f64 = 0.9, within 0.0..=0.999, from "RFC5348 §4.3";
    /// First expiry of the nofeedback timer.
    first_timer: Duration = Duration::from_secs(2), within "1 ms"..="60 s", from "RFC5348 §4.2";
    /// Initial rate: min(4 packets, max(2 packets, this number of bytes)) per round-trip time.
    initial_window: Bytes = Bytes::new(4380), within "1 B"..="1 MB", from "RFC5348 §4.2";
    /// Nofeedback timer, in round-trip times; at least the time of two packets.
    timer_rtts: f64 = 4.0, within 1.0..=1000.0, from "RFC5348 §4.3";
    /// Maximum time between packets, which is the minimum rate.
    t_mbi: Duration = Duration::from_secs(64), within "1 ms"..="1000 s", from "RFC5348 §4.3";
    /// Share of the reported receive rate that counts after a loss while the stream is application-limited.
    limited_keep: f64 = 0.85, within 0.01..=1.0, from "RFC5348 §4.3";
    /// Whether s is the mean size of packets, as for video; otherwise the size of a full packet.
    mean_size: bool = true, from "RFC5348 §4.1";
    /// Number of loss intervals for that mean, the current one included.
    size_intervals: u32 = 4, within 1..=1000, from "RFC5348 §4.1: the last four or more; our choice: the source infers a loss event from a rise of p";
    /// Whether each round-trip time, relative to the mean, corrects the rate, which damps oscillations of queues.
    damping: bool = false, from "RFC5348 §4.5; our choice: off, because the RFC makes it optional";
    /// q2: weight of the old value in the mean square root of the round-trip time, for the damping.
    q2: f64 = 0.9, within 0.0..=0.999, from "RFC5348 §4.5";
    /// n: number of closed loss intervals in the average.
    intervals: u32 = 8, within 1..=64, from "RFC5348 §5.4";
    /// Whether old loss intervals are discounted during a long time without loss; optional in the RFC.
    discounting: bool = false, from "RFC5348 §5.5; our choice: off, because the RFC makes it optional";
    /// Minimum share of its weight that an old interval keeps when it is discounted.
    discount_threshold: f64 = 0.25, within 0.0..=1.0, from "RFC5348 §5.5";
    /// Relative tolerance of the loss event rate that stands for the time before the first loss.
    tolerance: f64 = 0.05, within 0.000001..=0.5, from "RFC5348 §6.3.1";
    /// Round-trip time that a receiver assumes while packets carry none.
    initial_rtt: Duration = Duration::from_secs(1), within "1 ms"..="60 s", from "our choice: before the first round-trip time, one packet is sent per second (RFC5348 §4.2), so that each loss is a loss event";
}

/// The part at the source.
pub fn sender(params: &Params, setup: &Setup) -> Sender {
    Sender::new(params, setup.segment)
}

/// The part at the receiver.
pub fn receiver(params: &Params, setup: &Setup) -> Receiver {
    Receiver::new(params, setup.segment)
}
