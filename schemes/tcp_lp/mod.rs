//! TCP-LP: Reno that takes the first sign of a queue in its one-way delays for congestion, and a second one for someone else [KK03].

use contract::{Documented, Family, Scheme, Setup, Source};

mod edge;
#[cfg(test)]
mod tests;

pub use edge::{Sample, TcpLp};

/// The title page.
pub const SCHEME: Scheme = Scheme {
    name: "tcp_lp",
    title: "TCP-LP: low priority by early signs of congestion",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "KK03",
            text: "Kuzmanovic, Knightly: TCP-LP: A Distributed Algorithm for Low Priority Data Transfer, IEEE INFOCOM, 2003",
        },
        Source { key: "LINUXLP", text: "Linux 6, net/ipv4/tcp_lp.c, public source, 2006" },
        Source { key: "RFC5681", text: "Allman, Paxson, Blanton: TCP Congestion Control, RFC 5681, 2009" },
    ],
    documented: Documented::Partial,
    series: &[("queue_delay", "s", "flow", "smoothed one-way delay less the least")],
    reorder: 1,
};

contract::params! {
    /// Weight of a new sample of the one-way delay.
    gamma: f64 = 0.125, within 0.001..=1.0, from "KK03 §III: γ = 1/8";
    /// Share of the range of delays at which congestion is inferred.
    delta: f64 = 0.15, within 0.001..=1.0, from "KK03 §III: δ = 0.15";
    /// Round trips of the inference phase.
    inference: f64 = 3.0, within 0.0..=1000.0, from "KK03 §III: three round trips; LINUXLP";
    /// Only a segment that left after the last cut gives a sign.
    after_cut: bool = true, from "our choice: the paper does not say how the signs of one queue are told from a second sign, and what left before the cut tells nothing of it";
    /// Only a sample that is itself above the threshold is a sign.
    fresh: bool = true, from "our choice: after a cut the smoothed delay falls late, and a queue that is gone would count as a second sign";
    /// Whose delay a sample is: the newest segment that an acknowledgement covers, or the one whose timestamp it echoes.
    sample: Sample = Sample::Newest, from "LINUXLP: echoed; our choice of the other: what an acknowledgement waited for a second segment, or for its timer, is not taken for a queue";
    /// Take early signs in slow start as well.
    early_in_slow_start: bool = false, from "our choice: KK03 gives a policy of congestion avoidance, and without a loss the greatest delay is not known";
}

/// The whole congestion control.
pub type Control = TcpLp;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    TcpLp::new(params, setup)
}
