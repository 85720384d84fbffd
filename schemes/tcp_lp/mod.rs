//! TCP-LP: Reno that treats a first delay increase as congestion, and a second one as other traffic [KK03].

use ambassador::Delegate;
use contract::{
    Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Delivery, Documented, Family, Idle, Lost,
    Scheme, Sent, Setup, Source, SourceWindows, ambassador_impl_CongestionControl,
};
use units::{Bytes, Duration, Rate, Time};

use crate::shared::linux::Linux;

mod control;
mod linux;
#[cfg(test)]
mod linux_tests;
#[cfg(test)]
mod tests;

pub use control::{Sample, TcpLp, Variant};
pub use linux::LinuxLp;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "tcp_lp",
    title: "TCP-LP: low priority by early signs of congestion",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "KK03",
            text: "Kuzmanovic, Knightly: TCP-LP: A Distributed Algorithm for Low Priority Data Transfer, IEEE INFOCOM, 2003",
        },
        Source { key: "LINUXLP", text: "Linux 6.1, net/ipv4/tcp_lp.c, public source, 2006" },
        Source {
            key: "RFC3168",
            text: "Ramakrishnan, Floyd, Black: The Addition of Explicit Congestion Notification (ECN) to IP, RFC 3168, 2001",
        },
        Source { key: "RFC5681", text: "Allman, Paxson, Blanton: TCP Congestion Control, RFC 5681, 2009" },
    ],
    documented: Documented::Partial,
    series: &[("queue_delay", "s", "flow", "smoothed one-way delay − minimum one-way delay")],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Weight of a new sample of the one-way delay.
    gamma: f64 = 0.125, within 0.001..=1.0, from "KK03 §III, LINUXLP: γ = 1/8";
    /// Position of the threshold of early congestion indication between the minimum (0) and the maximum (1) delay.
    delta: f64 = 0.15, within 0.001..=1.0, from "KK03 §III, LINUXLP: δ = 0.15";
    /// Duration of the inference phase, in round trips.
    inference: f64 = 3.0, within 0.0..=1000.0, from "KK03 §III, LINUXLP: three round trips";
    /// Whether only segments sent after the last reduction can indicate congestion.
    after_cut: bool = true, from "our choice: one reduction per window of data, as for marks (RFC3168 §6.1.2); segments sent earlier measure the queue before the reduction";
    /// Whether only a sample that is itself above the threshold indicates congestion.
    fresh: bool = true, from "our choice: after a reduction the smoothed delay decreases slowly, and a queue that has drained would indicate congestion again; LINUXLP instead changes its thresholds at each indication, so that only a delay that still grows is another one";
    /// Segment whose delay is a sample: the newest that an acknowledgement covers, or the one whose timestamp is
    /// echoed.
    sample: Sample = Sample::Newest, from "LINUXLP: the echoed one; our choice for the other value: the wait for a second segment or for the delayed-acknowledgement timer is not taken for queueing";
    /// With sample = "newest": share of acknowledgements that cover two segments. Above it, one that covers a single
    /// segment was delayed, and is no sample.
    pairs: f64 = 0.5, within 0.0..=1.0, from "our choice: a receiver that delays acknowledgements sends at least one per two full-sized segments (RFC5681 §4.2), so most cover two";
    /// Weight of an acknowledgement in that share.
    pairs_weight: f64 = 0.125, within 0.001..=1.0, from "our choice: the value of `gamma`";
    /// Minimum number of segments in flight for an acknowledgement to count in that share.
    pairs_flight: f64 = 4.0, within 1.0..=1000.0, from "our choice: two pairs; with fewer segments in flight, a second segment may not have been sent";
    /// Whether early congestion indications are obeyed in slow start, too.
    early_in_slow_start: bool = false, from "our choice: KK03 describes congestion avoidance, and before the first loss the maximum delay is unknown; LINUXLP obeys them in slow start";
    /// The algorithm of the paper, or of Linux, with the arithmetic of its timestamps. With Linux, of the parameters
    /// above only `delta`, in whole per cent, and `inference` have an effect.
    variant: Variant = Variant::Paper, from "KK03; LINUXLP for the other value";
    /// With variant = "linux": whether the receiver adds a random offset to its timestamps, which it draws per
    /// connection.
    timestamp_offset: bool = true, from "LINUXLP: net.ipv4.tcp_timestamps = 1, the default; `false` is 2";
    /// With variant = "linux": time since both hosts were started, at time zero: their timestamps count from there.
    uptime: Duration = Duration::from_secs(300), within "1 s"..="4000000 s", from "our choice: a host that has just been started; LINUXLP has no such parameter";
}

/// The whole congestion control, in memory of its own because it is large.
#[derive(Clone, Debug, Delegate)]
#[delegate(CongestionControl)]
pub enum Control {
    /// The paper's.
    Paper(Box<TcpLp>),
    /// Linux'.
    Linux(Box<Linux<LinuxLp>>),
}

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    match params.variant {
        Variant::Paper => Control::Paper(Box::new(TcpLp::new(params, setup))),
        Variant::Linux => Control::Linux(Box::new(Linux::new(LinuxLp::new(params), setup))),
    }
}
