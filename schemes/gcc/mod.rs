//! GCC: video that keeps queues short by the trend of its delay, and takes notice of heavy loss [GCC02].

use contract::{Documented, Family, Scheme, Setup, Source, params};
use units::{Duration, Rate};

mod endpoints;
#[cfg(test)]
mod tests;

pub use endpoints::{Receiver, Sender};

/// The title page.
pub const SCHEME: Scheme = Scheme {
    name: "gcc",
    title: "Google congestion control for real-time communication",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "GCC02",
            text: "S. Holmer, H. Lundin, G. Carlucci, L. De Cicco, S. Mascolo: A Google Congestion Control Algorithm for Real-Time Communication, draft-ietf-rmcat-gcc-02, 2016",
        },
        Source {
            key: "CDHM17",
            text: "G. Carlucci, L. De Cicco, S. Holmer, S. Mascolo: Congestion Control for Web Real-Time Communication, IEEE/ACM Transactions on Networking 25(5), 2017",
        },
    ],
    documented: Documented::Full,
    series: &[
        ("srtt", "s", "flow", "smoothed round-trip time"),
        ("loss_based_rate", "bps", "flow", "rate that the loss-based controller permits"),
        ("delay_based_rate", "bps", "receiver", "rate that the delay-based controller permits"),
        ("receive_rate", "bps", "receiver", "rate at which data arrived over the last window"),
        (
            "delay_trend",
            "s",
            "receiver",
            "filtered variation of the delay between groups of packets, as it is compared with the threshold",
        ),
        ("overuse_threshold", "s", "receiver", "trend of the delay above which the link is over-used"),
    ],
    reorder: 1,
    needs: &[],
};

params! {
    /// Packets sent within this time form a group, and so do packets that arrive within it after a wait.
    burst_time: Duration = Duration::from_millis(5), within "1 us"..="1 s", from "GCC02 §5.2, Table 1";
    /// Maximum time over which packets that arrive in a burst join one group.
    max_group_time: Duration = Duration::from_millis(100), within "1 us"..="10 s", from "our choice: GCC02 has no limit; without one, a group would not end while a queue drains at more than 200 packets per second";
    /// Variance of the state noise, in ms².
    q: f64 = 0.001, within 0.0..=1000.0, from "GCC02 §5.3, Table 1";
    /// Initial variance of the estimate, in ms².
    e0: f64 = 0.1, within 0.0..=1000.0, from "GCC02 §5.3, Table 1";
    /// Gain of the measurement noise at 30 groups per second.
    chi: f64 = 0.01, within 0.001..=0.1, from "GCC02 §5.3, Table 1: 0.001 to 0.1; our choice of the value: the geometric mean";
    /// Maximum factor of the trend before its comparison with the threshold. The factor is the number of delay
    /// variations so far.
    max_deltas: u32 = 60, within 1..=1000, from "our choice: as in deployed implementations; GCC02 §5.4 compares the trend itself, which groups of 5 ms exceed only at a sending rate of three times the capacity";
    /// Initial threshold of over-use.
    del_var_th: Duration = Duration::from_micros(12_500), within "1 us"..="10 s", from "GCC02 §5.4, Table 1";
    /// Minimum threshold.
    min_del_var_th: Duration = Duration::from_millis(6), within "1 us"..="10 s", from "GCC02 §5.4";
    /// Maximum threshold.
    max_del_var_th: Duration = Duration::from_millis(600), within "1 us"..="10 s", from "GCC02 §5.4";
    /// Gain per millisecond of the threshold when the trend is outside it.
    k_u: f64 = 0.01, within 0.0..=1.0, from "GCC02 §5.4, Table 1";
    /// Gain per millisecond of the threshold when the trend is inside it.
    k_d: f64 = 0.00018, within 0.0..=1.0, from "GCC02 §5.4, Table 1";
    /// The threshold does not follow a trend that is above it by more than this.
    max_adapt_offset: Duration = Duration::from_millis(15), within "0 s"..="10 s", from "GCC02 §5.4";
    /// Over-use is signalled when it has lasted for this time.
    overuse_time_th: Duration = Duration::from_millis(10), within "0 s"..="10 s", from "GCC02 §5.4, Table 1";
    /// Share of the receive rate that is kept after over-use.
    beta: f64 = 0.85, within 0.01..=1.0, from "GCC02 §5.5, Table 1";
    /// Factor by which the rate grows per second, far from convergence.
    eta: f64 = 1.08, within 1.0..=1000.0, from "GCC02 §5.5";
    /// Packets that are added per response time, near convergence.
    additive_packets: f64 = 0.5, within 0.0..=1000.0, from "GCC02 §5.5";
    /// Detection time of over-use: response time minus round-trip time.
    reaction_time: Duration = Duration::from_millis(100), within "0 s"..="10 s", from "GCC02 §5.5";
    /// The delay-based rate is at most this multiple of the receive rate.
    max_over_received: f64 = 1.5, within 1.0..=1000.0, from "GCC02 §5.5";
    /// T: window of the receive rate.
    receive_window: Duration = Duration::from_millis(500), within "1 ms"..="10 s", from "GCC02 §5.5, Table 1: 0.5 to 1 s; our choice of the value: the minimum";
    /// Weight of the old value in the average receive rate at over-use.
    average_smoothing: f64 = 0.95, within 0.0..=0.999, from "GCC02 §5.5";
    /// Distance from that average, in standard deviations, up to which the rate is near convergence.
    convergence_sigmas: f64 = 3.0, within 0.0..=1000.0, from "GCC02 §5.5";
    /// Minimum variance around that average, divided by the average.
    min_normalised_variance: Rate = Rate::from_bps(400), within "0 bit/s"..="1000 Gbit/s", from "our choice: as in deployed implementations; GCC02 §5.5 requires valid statistics, and a single sample has no deviation";
    /// Maximum time between reports of the receiver. Over-use is reported at once.
    feedback_interval: Duration = Duration::from_millis(100), within "1 ms"..="10 s", from "GCC02 §3: once per frame, or up to 100 ms";
    /// Loss ratio below which the loss-based rate grows.
    low_loss: f64 = 0.02, within 0.0..=1.0, from "GCC02 §6";
    /// Loss ratio above which the loss-based rate is reduced.
    high_loss: f64 = 0.1, within 0.0..=1.0, from "GCC02 §6";
    /// Factor by which the loss-based rate grows per report.
    loss_growth: f64 = 1.05, within 1.0..=1000.0, from "GCC02 §6";
    /// Share of the loss ratio by which the loss-based rate is reduced.
    loss_cut: f64 = 0.5, within 0.0..=1.0, from "GCC02 §6";
    /// Minimum number of packets per loss ratio: reports of fewer packets are combined.
    loss_packets: u32 = 20, within 1..=100000, from "our choice: as in deployed implementations; with fewer than ten packets, one loss would exceed `high_loss`";
    /// Gain of the smoothed round-trip time.
    rtt_gain: f64 = 0.125, within 0.001..=1.0, from "our choice: as in TCP (RFC 6298 §2.3)";
    /// Round-trip time before the first report.
    initial_rtt: Duration = Duration::from_millis(200), within "1 ms"..="10 s", from "our choice: GCC02 gives none";
    /// Rate at the start.
    initial_rate: Rate = Rate::from_kbps(300), within "1 bit/s"..="1000 Gbit/s", from "our choice: as in deployed implementations; GCC02 gives none";
    /// Minimum rate. With an encoder, its minimum rate if that is lower and this is not set.
    min_rate: Rate = Rate::from_kbps(30), within "1 bit/s"..="1000 Gbit/s", from "our choice: GCC02 gives none; a sender without packets measures no delay";
    /// Maximum rate.
    max_rate: Rate = Rate::UNLIMITED, within "1 bit/s"..="unlimited", from "our choice: GCC02 leaves it to the application";
    /// After this time without a report the rate is halved.
    timeout: Duration = Duration::from_secs(1), within "1 ms"..="1000 s", from "our choice: GCC02 has no timeout; ten times the maximum time between reports";
    order min_del_var_th <= del_var_th;
    order del_var_th <= max_del_var_th;
    order low_loss <= high_loss;
    order min_rate <= max_rate;
}

/// The part at the source.
pub fn sender(params: &Params, _setup: &Setup) -> Sender {
    Sender::new(params)
}

/// The part at the receiver.
pub fn receiver(params: &Params, _setup: &Setup) -> Receiver {
    Receiver::new(params)
}
