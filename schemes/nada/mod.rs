//! NADA: delay, loss and marks in one congestion signal, and a rate that follows it [RFC8698].

use contract::{Documented, Family, Scheme, Setup, Source, params};
use units::{Duration, Rate};

mod endpoints;
#[cfg(test)]
mod tests;

pub use endpoints::{Receiver, Sender};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "nada",
    title: "Network-Assisted Dynamic Adaptation for real-time media",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "RFC8698",
            text: "X. Zhu, R. Pan, M. Ramalho, S. Mena: Network-Assisted Dynamic Adaptation (NADA): A Unified Congestion Control Scheme for Real-Time Media, RFC 8698, 2020",
        },
        Source {
            key: "RFC5348",
            text: "S. Floyd, M. Handley, J. Padhye, J. Widmer: TCP Friendly Rate Control (TFRC): Protocol Specification, RFC 5348, 2008",
        },
    ],
    documented: Documented::Full,
    series: &[
        ("srtt", "s", "flow", "smoothed round-trip time"),
        ("reference_rate", "bps", "flow", "reference rate r_ref"),
        ("congestion_signal", "s", "receiver", "aggregate congestion signal x_curr, as reported"),
        ("queue_estimate", "s", "receiver", "queueing delay after the minimum filter"),
        ("receive_rate", "bps", "receiver", "rate at which data arrived over the last window, as reported"),
    ],
    reorder: 1,
    needs: &[],
};

params! {
    /// PRIO: weight of the flow's priority.
    priority: f64 = 1.0, within 0.001..=1000.0, from "RFC8698 §4.1, Table 2: PRIO";
    /// RMIN: minimum rate. With an encoder, its minimum rate if that is higher, or if this is not set.
    min_rate: Rate = Rate::from_kbps(150), within "1 bit/s"..="1000 Gbit/s", from "RFC8698 §4.1, Table 2: RMIN";
    /// RMAX: maximum rate. With an encoder, its maximum rate if that is lower, or if this is not set.
    max_rate: Rate = Rate::from_kbps(1500), within "1 bit/s"..="1000 Gbit/s", from "RFC8698 §4.1, Table 2: RMAX";
    /// XREF: reference congestion level.
    x_ref: Duration = Duration::from_millis(10), within "1 us"..="10 s", from "RFC8698 §4.1, Table 2: XREF";
    /// KAPPA: scaling of the gradual rate update.
    kappa: f64 = 0.5, within 0.001..=100.0, from "RFC8698 §4.1, Table 2: KAPPA";
    /// ETA: scaling of the gradual rate update by the change of the signal.
    eta: f64 = 2.0, within 0.0..=100.0, from "RFC8698 §4.1, Table 2: ETA";
    /// TAU: upper bound of the round-trip time in the gradual rate update.
    tau: Duration = Duration::from_millis(500), within "1 ms"..="100 s", from "RFC8698 §4.1, Table 2: TAU";
    /// DELTA: target interval between reports.
    delta: Duration = Duration::from_millis(100), within "1 ms"..="10 s", from "RFC8698 §4.1, Table 2: DELTA";
    /// LOGWIN: observation window at the receiver.
    window: Duration = Duration::from_millis(500), within "1 ms"..="100 s", from "RFC8698 §4.1, Table 2: LOGWIN";
    /// QEPS: queueing delay below which the accelerated ramp-up goes on.
    q_eps: Duration = Duration::from_millis(10), within "1 us"..="10 s", from "RFC8698 §4.1, Table 2: QEPS";
    /// DFILT: bound on the filtering delay.
    d_filt: Duration = Duration::from_millis(120), within "0 s"..="10 s", from "RFC8698 §4.1, Table 2: DFILT";
    /// GAMMA_MAX: upper bound of the rate increase in accelerated ramp-up.
    gamma_max: f64 = 0.5, within 0.0..=100.0, from "RFC8698 §4.1, Table 2: GAMMA_MAX";
    /// QBOUND: upper bound of the queueing delay that the ramp-up itself causes.
    q_bound: Duration = Duration::from_millis(50), within "1 us"..="10 s", from "RFC8698 §4.1, Table 2: QBOUND";
    /// MULTILOSS: multiple of the mean loss interval for which the warping lasts after a loss.
    multi_loss: f64 = 7.0, within 0.0..=1000.0, from "RFC8698 §4.1, Table 2: MULTILOSS";
    /// QTH: queueing delay above which delays are warped.
    q_th: Duration = Duration::from_millis(50), within "1 us"..="10 s", from "RFC8698 §4.1, Table 2: QTH";
    /// LAMBDA: exponent of the warping.
    lambda: f64 = 0.5, within 0.0..=100.0, from "RFC8698 §4.1, Table 2: LAMBDA";
    /// PLRREF: reference loss ratio.
    loss_ref: f64 = 0.01, within 0.0001..=1.0, from "RFC8698 §4.1, Table 2: PLRREF";
    /// PMRREF: reference marking ratio.
    mark_ref: f64 = 0.01, within 0.0001..=1.0, from "RFC8698 §4.1, Table 2: PMRREF";
    /// DLOSS: delay penalty at the reference loss ratio.
    d_loss: Duration = Duration::from_millis(10), within "0 s"..="10 s", from "RFC8698 §4.1, Table 2: DLOSS";
    /// DMARK: delay penalty at the reference marking ratio.
    d_mark: Duration = Duration::from_millis(2), within "0 s"..="10 s", from "RFC8698 §4.1, Table 2: DMARK";
    /// ALPHA: gain of the smoothed loss and marking ratios.
    alpha: f64 = 0.1, within 0.001..=1.0, from "RFC8698 §4.1, Table 2: ALPHA";
    /// BETA_S: scaling of the sending rate by the RTP queue.
    beta_s: f64 = 0.1, within 0.0..=10.0, from "RFC8698 §4.1, Table 2: BETA_S";
    /// BETA_V: scaling of the encoder's rate by the RTP queue.
    beta_v: f64 = 0.1, within 0.0..=10.0, from "RFC8698 §4.1, Table 2: BETA_V";
    /// Maximum share of the reference rate by which the sending rate and the encoder's rate differ from it.
    max_shift: f64 = 0.05, within 0.0..=1.0, from "RFC8698 §5.2.2, equations 8 and 9";
    /// Number of packets in the minimum filter of the delay.
    filter: u32 = 15, within 1..=1000, from "RFC8698 §5.1.1: 15";
    /// Maximum of the congestion signal.
    x_max: Duration = Duration::from_millis(500), within "1 ms"..="100 s", from "our choice: as in the authors' ns-3 module; without it a burst of losses gives a signal whose end raises the rate by a multiple";
    /// Gain of the smoothed round-trip time.
    rtt_gain: f64 = 0.125, within 0.001..=1.0, from "our choice: as in TCP (RFC 6298 §2.3)";
    /// Rate at the start.
    initial_rate: Rate = Rate::from_kbps(150), within "1 bit/s"..="1000 Gbit/s", from "our choice: RMIN; RFC8698 §4.3 starts at the minimum rate";
    /// After this time without a report the rate is halved.
    timeout: Duration = Duration::from_secs(1), within "1 ms"..="1000 s", from "our choice: ten times DELTA; RFC8698 leaves a silent path to RTP circuit breakers";
    order min_rate <= max_rate;
    order min_rate <= initial_rate;
}

/// The part at the source.
pub fn sender(params: &Params, _setup: &Setup) -> Sender {
    Sender::new(params)
}

/// The part at the receiver.
pub fn receiver(params: &Params, _setup: &Setup) -> Receiver {
    Receiver::new(params)
}
