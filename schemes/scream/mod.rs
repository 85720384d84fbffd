//! SCReAM v2: a reference window from delay, loss and marks, and a media rate from the window [SCREAM2].

use contract::{Documented, Family, Scheme, Setup, Source, params};
use units::{Bytes, Duration, Rate};

mod endpoints;
#[cfg(test)]
mod tests;

pub use endpoints::{Receiver, Sender};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "scream",
    title: "Self-Clocked Rate Adaptation for Multimedia, version 2",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "SCREAM2",
            text: "I. Johansson, M. Westerlund, M. Kühlewind: Self-Clocked Rate Adaptation for Multimedia, draft-ietf-ccwg-rfc8298bis-screamv2-01, 2026",
        },
        Source {
            key: "RFC8298",
            text: "I. Johansson, Z. Sarker: Self-Clocked Rate Adaptation for Multimedia, RFC 8298, 2017",
        },
        Source {
            key: "RFC8888",
            text: "Z. Sarker, C. Perkins, V. Singh, M. Ramalho: RTP Control Protocol (RTCP) Feedback for Congestion Control, RFC 8888, 2021",
        },
    ],
    documented: Documented::Full,
    series: &[
        ("srtt", "s", "flow", "smoothed round-trip time"),
        ("reference_window", "bytes", "flow", "reference window"),
        ("in_flight", "bytes", "flow", "bytes in flight"),
        ("queue_estimate", "s", "flow", "queueing delay of the newest acknowledged packet"),
        ("delay_target", "s", "flow", "target of the queueing delay"),
        ("l4s_alpha", "1", "flow", "smoothed share of marked packets"),
    ],
    reorder: 1,
    needs: &[],
};

params! {
    /// IS_L4S: packets are sent as ECT(1), and marks reduce the window by the share of marked packets. The stream must
    /// be ECN-capable.
    l4s: bool = false, from "SCREAM2, Reference Window Update: IS_L4S";
    /// QDELAY_TARGET_LO: minimum target of the queueing delay.
    target_min: Duration = Duration::from_millis(60), within "1 ms"..="10 s", from "SCREAM2, Reference Window Update: QDELAY_TARGET_LO";
    /// QDELAY_TARGET_HI: maximum target of the queueing delay.
    target_max: Duration = Duration::from_millis(400), within "1 ms"..="10 s", from "SCREAM2, Reference Window Update: QDELAY_TARGET_HI";
    /// Whether the target follows a queue that other flows keep long.
    compensate: bool = true, from "SCREAM2, Competing Flows Compensation";
    /// Time between two samples of the queueing delay for this.
    sample_every: Duration = Duration::from_millis(50), within "1 ms"..="10 s", from "our choice: SCREAM2 gives none; as in the authors' implementation";
    /// MIN_REF_WND: minimum reference window.
    min_window: Bytes = Bytes::new(3000), within "1 B"..="1 GB", from "SCREAM2, Reference Window Update: MIN_REF_WND";
    /// BYTES_IN_FLIGHT_HEAD_ROOM: multiple of the bytes in flight up to which the window grows.
    head_room: f64 = 1.5, within 1.0..=100.0, from "SCREAM2, Reference Window Update: BYTES_IN_FLIGHT_HEAD_ROOM";
    /// BETA_LOSS: share of the window that is kept after a loss.
    beta_loss: f64 = 0.7, within 0.01..=1.0, from "SCREAM2, Reference Window Update: BETA_LOSS";
    /// BETA_ECN: share of the window that is kept after a mark of classic ECN.
    beta_ecn: f64 = 0.8, within 0.01..=1.0, from "SCREAM2, Reference Window Update: BETA_ECN";
    /// POST_CONGESTION_DELAY_RTT: round trips after congestion during which the multiplicative increase is restricted.
    post_congestion: f64 = 100.0, within 0.001..=1e6, from "SCREAM2, Reference Window Update: POST_CONGESTION_DELAY_RTT";
    /// MUL_INCREASE_FACTOR: share of the window by which it grows per round trip.
    mul_increase: f64 = 0.02, within 0.0..=10.0, from "SCREAM2, Reference Window Update: MUL_INCREASE_FACTOR";
    /// VIRTUAL_RTT: round-trip time to which shorter ones are raised.
    virtual_rtt: Duration = Duration::from_millis(25), within "1 us"..="10 s", from "SCREAM2, Reference Window Update: VIRTUAL_RTT";
    /// L4S_AVG_G_UP: gain of the share of marked packets when it rises.
    alpha_up: f64 = 0.125, within 0.0001..=1.0, from "SCREAM2, Receiving ECN-CE for L4S: L4S_AVG_G_UP";
    /// L4S_AVG_G_DOWN: gain of the share of marked packets when it falls.
    alpha_down: f64 = 0.0078125, within 0.0001..=1.0, from "SCREAM2, Receiving ECN-CE for L4S: L4S_AVG_G_DOWN";
    /// QDELAY_AVG_G: gain of the average queueing delay when it rises.
    delay_gain: f64 = 0.25, within 0.0001..=1.0, from "SCREAM2, Detecting Increased Queue Delay: QDELAY_AVG_G";
    /// REF_WND_OVERHEAD_MAX: multiple of the reference window that may be in flight.
    overhead: f64 = 3.0, within 1.0..=100.0, from "SCREAM2, Send Window Calculation: REF_WND_OVERHEAD_MAX, with a ref_wnd_delay_scale of 1";
    /// RATE_PACE_MIN: minimum pacing rate.
    pace_min: Rate = Rate::from_kbps(50), within "1 bit/s"..="1000 Gbit/s", from "SCREAM2, Packet Pacing: RATE_PACE_MIN";
    /// PACKET_PACING_HEADROOM: pacing rate relative to the target rate.
    pace_headroom: f64 = 1.5, within 1.0..=100.0, from "SCREAM2, Packet Pacing: PACKET_PACING_HEADROOM";
    /// MAX_RELAXED_PACING_FACTOR: further factor of the pacing rate at the maximum target rate.
    pace_relaxed: f64 = 4.0, within 1.0..=100.0, from "SCREAM2, Packet Pacing: MAX_RELAXED_PACING_FACTOR";
    /// RELAXED_PACING_LIMIT_LOW: share of the maximum target rate from which this factor grows.
    pace_limit: f64 = 0.8, within 0.0..=0.999, from "SCREAM2, Packet Pacing: RELAXED_PACING_LIMIT_LOW";
    /// PACKET_OVERHEAD: estimated overhead of a packet.
    packet_overhead: Bytes = Bytes::new(20), within "0 B"..="1 kB", from "SCREAM2, Media Rate Control: PACKET_OVERHEAD";
    /// RATE_ADJUST_GAIN: gain of the adjustment to a growing RTP queue.
    adjust_gain: f64 = 0.0625, within 0.0..=1.0, from "SCREAM2, Media Rate Control: RATE_ADJUST_GAIN";
    /// FRAME_SIZE_DEV_ALPHA: gain of the deviation of frame sizes.
    frame_gain: f64 = 0.015625, within 0.0..=1.0, from "SCREAM2, Media Rate Control: FRAME_SIZE_DEV_ALPHA";
    /// TARGET_BITRATE_MIN: minimum target rate. With an encoder, its minimum rate if that is higher, or if this is not
    /// set.
    min_rate: Rate = Rate::from_kbps(150), within "1 bit/s"..="1000 Gbit/s", from "our choice: R_min of RFC 8593; SCREAM2 leaves it to the media";
    /// TARGET_BITRATE_MAX: maximum target rate. With an encoder, its maximum rate if that is lower, or if this is not
    /// set.
    max_rate: Rate = Rate::from_mbps(100), within "1 bit/s"..="1000 Gbit/s", from "our choice: SCREAM2 leaves it to the media";
    /// Packets after which the receiver sends feedback.
    feedback_packets: u32 = 16, within 1..=64, from "SCREAM2, Receiver Requirements on Feedback Intensity: 16";
    /// Maximum time between an arrival and its feedback.
    feedback_interval: Duration = Duration::from_millis(40), within "1 ms"..="10 s", from "SCREAM2, Receiver Requirements on Feedback Intensity: 40 ms";
    /// Round-trip time before the first feedback.
    initial_rtt: Duration = Duration::from_millis(100), within "1 ms"..="10 s", from "our choice: SCREAM2 starts with 0, which gives no rate";
    /// After this time without feedback, packets in flight count as lost and the window is the minimum.
    timeout: Duration = Duration::from_secs(1), within "1 ms"..="1000 s", from "our choice: SCREAM2 requires a minimum rate without feedback, and gives no time";
    order target_min <= target_max;
    order min_rate <= max_rate;
}

/// The part at the source.
pub fn sender(params: &Params, setup: &Setup) -> Sender {
    Sender::new(params, setup.segment)
}

/// The part at the receiver.
pub fn receiver(params: &Params, _setup: &Setup) -> Receiver {
    Receiver::new(params)
}
