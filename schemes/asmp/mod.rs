//! ASMP, a reconstruction: receivers compute the rate of a TCP and report it as RTCP does; the source smooths the
//! minimum of the reports [ASMP].

use contract::{Documented, Family, Scheme, Setup, Source, choice, params};
use units::{Bytes, Duration, Rate};

mod endpoints;
#[cfg(test)]
mod tests;

pub use endpoints::{Receiver, Sender};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "asmp",
    title: "Adaptive smooth multicast protocol (reconstruction)",
    families: &[Family::Icn, Family::Multicast, Family::Ip],
    sources: &[
        Source {
            key: "ASMP",
            text: "C. Bouras, A. Gkamas, G. Kioumourtzis: Adaptive Smooth Multicast Protocol, 2008 to 2012 (abstracts only)",
        },
        Source {
            key: "SRMCC",
            text: "the paper on SRMCC, a single-rate multicast congestion control for ICN, which compares itself with ASMP",
        },
        Source { key: "RFC3550", text: "RTP: A Transport Protocol for Real-Time Applications" },
        Source { key: "RFC5348", text: "TCP Friendly Rate Control (TFRC): Protocol Specification" },
    ],
    documented: Documented::Reconstruction,
    series: &[
        ("tcp_rate", "bps", "receiver", "rate that TCP would have by the receiver's calculation"),
        ("loss", "1", "receiver", "loss rate that is used in the TCP throughput equation"),
        ("rtt_inferred", "s", "receiver", "round-trip time inferred from the one-way delay"),
        ("factor", "1", "receiver", "return delay / one-way delay, as assumed by the receiver"),
        ("min_reported_rate", "bps", "flow", "minimum rate among the receivers that have reported"),
        ("report_interval", "s", "flow", "mean interval between the reports of a receiver"),
    ],
    reorder: 1,
    needs: &[],
};

params! {
    /// Minimum mean time between reports of a receiver.
    interval: Duration = Duration::from_secs(1), within "1 ms"..="100 s", from "our choice: the abstracts give none; one report per second fits the feedback counted in SRMCC §5.3.4";
    /// Half-width of the uniform distribution of each interval around its mean, as a share of the mean.
    spread: f64 = 0.5, within 0.0..=0.9, from "RFC3550 §6.2: 0.5 to 1.5 times the interval";
    /// Maximum share of the session's rate for reports; the interval grows with the group to stay within it.
    report_share: f64 = 0.0375, within 0.0001..=1.0, from "RFC3550 §6.2: three quarters of 5 % of the session's bandwidth, the share of receivers";
    /// Assumed rate of the session, from which the rate of reports is computed.
    session: Rate = Rate::from_mbps(1), within "1 bit/s"..="1000 Gbit/s", from "our choice: the rate of a small video; RFC3550 §6.2 leaves it to the session";
    /// Assumed size of a report, from which the rate of reports is computed.
    report_size: Bytes = Bytes::new(40), within "1 B"..="65535 B", from "our choice: the size of feedback packets where a scenario sets none";
    /// Loss rate in the TCP throughput equation at a receiver.
    estimator: Estimator = Estimator::LossFractions, from "our choice: the abstracts name neither; RFC3550 §6.4.1 reports fractions, RFC5348 §5 uses loss events. It decides ASMP's share of the bandwidth";
    /// Gain of the smoothed one-way delay.
    delay_gain: f64 = 0.125, within 0.001..=1.0, from "our choice: the gain of TCP's round-trip time (RFC 6298 §2.3)";
    /// a: initial ratio of the return delay to the one-way delay owd: RTT = (1 + a)·owd.
    factor: f64 = 1.0, within 0.0..=100.0, from "our choice: the same delay in both directions";
    /// Source of the factor: round-trip times of echoes, or a constant.
    calibration: Calibration = Calibration::Echoes, from "our choice: the abstracts say that the round-trip time is inferred from the one-way delay, and give no method";
    /// Gain of the factor at each echo.
    factor_gain: f64 = 0.125, within 0.001..=1.0, from "our choice: the gain of TCP's round-trip time (RFC 6298 §2.3)";
    /// Packets per round-trip time by which a receiver without loss raises its rate, once per round-trip time.
    increase: f64 = 1.0, within 0.0..=1000.0, from "our choice: one packet per round trip, as in TCP's congestion avoidance";
    /// Maximum ratio of a receiver's rate to the sending rate.
    headroom: f64 = 2.0, within 1.0..=100.0, from "our choice: RFC5348 §4.3 limits the rate to twice the receive rate";
    /// Smoothness factor, the weight of the old rate, when the minimum rate is below it.
    smooth_down: f64 = 0.5, within 0.0..=0.999, from "our choice: the abstracts say that the factor is adapted, and give no method; decreases are followed faster than increases";
    /// Smoothness factor when the minimum rate is above the old rate.
    smooth_up: f64 = 0.8, within 0.0..=0.999, from "our choice: the abstracts say that the factor is adapted, and give no method; decreases are followed faster than increases";
    /// A receiver has left after this number of intervals without a report. After the same time without any report the
    /// rate is halved.
    timeout_intervals: u32 = 5, within 1..=1000, from "RFC3550 §6.3.5; our choice: the rate is halved, because missing reports may be caused by congestion";
    /// Rate at the start.
    initial_rate: Rate = Rate::from_kbps(50), within "1 bit/s"..="1000 Gbit/s", from "our choice: as in SRMCC, Table 1";
    /// Minimum rate.
    min_rate: Rate = Rate::from_kbps(8), within "1 bit/s"..="1000 Gbit/s", from "our choice: one packet of 1000 bytes per second; a source that sends nothing gets no feedback";
    /// Maximum rate.
    max_rate: Rate = Rate::UNLIMITED, within "1 bit/s"..="unlimited", from "our choice: no source gives a limit";
    order min_rate <= max_rate;
}

choice! {
    /// The loss rate for the equation of TCP at a receiver.
    pub enum Estimator {
        /// Packets lost over packets expected between reports.
        LossFractions = "loss_fractions",
        /// One over the mean interval between loss events.
        LossEvents = "loss_events",
    }
}

choice! {
    /// Calibration of the factor between delays.
    pub enum Calibration {
        /// By round-trip times from echoes of the receiver's own reports.
        Echoes = "echoes",
        /// Never.
        Never = "never",
    }
}

/// The part at the source.
pub fn sender(params: &Params, _setup: &Setup) -> Sender {
    Sender::new(params)
}

/// The part at a receiver.
pub fn receiver(params: &Params, setup: &Setup) -> Receiver {
    Receiver::new(params, setup.segment)
}
