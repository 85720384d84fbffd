//! BBRv3: sends by a model of the path, its bandwidth, round-trip time and safe volume of data in flight, and bounds
//! its losses [BBR06].

use contract::{Documented, Family, Need, Scheme, Setup, Source};
use units::Duration;

mod control;
#[cfg(test)]
mod tests;

pub use control::{Bbr3, State};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "bbr3",
    title: "BBRv3: by bandwidth, round-trip time and losses",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "BBR06",
            text: "Cardwell, Swett, Beshay: BBR Congestion Control, draft-ietf-ccwg-bbr-06, July 2026",
        },
        Source {
            key: "RFC3168",
            text: "Ramakrishnan, Floyd, Black: The Addition of Explicit Congestion Notification to IP, RFC 3168, 2001",
        },
        Source {
            key: "RFC8985",
            text: "Cheng, Cardwell, Dukkipati, Jha: The RACK-TLP Loss Detection Algorithm for TCP, RFC 8985, 2021",
        },
    ],
    documented: Documented::Full,
    series: &[
        (
            "max_bw",
            "bps",
            "flow",
            "max_bw: maximum delivery rate of the last two cycles of bandwidth probes, payload only",
        ),
        ("bw", "bps", "flow", "bw: max_bw, bounded by the short-term model, payload only"),
        ("min_rtt", "s", "flow", "min_rtt: minimum round-trip time of the last ten seconds"),
        (
            "inflight_longterm",
            "bytes",
            "flow",
            "inflight_longterm: data in flight with a tolerable loss rate, where it is known",
        ),
        (
            "inflight_shortterm",
            "bytes",
            "flow",
            "inflight_shortterm: bound of data in flight after recent losses, where there is one",
        ),
        ("extra_acked", "bytes", "flow", "extra_acked: recent degree of aggregation of acknowledgements"),
        ("pacing_rate", "bps", "flow", "rate at which packets may leave, headers included"),
    ],
    reorder: 1,
    // its timers are RACK-TLP's, and losses are declared late, as by RACK          [BBR06 §4.1.2.4, §5.5.10.2, RFC8985]
    needs: &[Need::Rack],
};

contract::params! {
    /// Gain of the rate in Startup.
    startup_gain: f64 = 2.77, within 1.01..=10.0, from "BBR06 §2.5: StartupPacingGain, 4·ln 2";
    /// Gain of the rate in Drain.
    drain_gain: f64 = 0.5, within 0.1..=1.0, from "BBR06 §2.5: DrainPacingGain";
    /// Gain of the window, except in ProbeBW_UP and ProbeRTT.
    cwnd_gain: f64 = 2.0, within 1.0..=10.0, from "BBR06 §2.6: DefaultCwndGain";
    /// Gain of the rate in ProbeBW_UP.
    up_gain: f64 = 1.25, within 1.0..=4.0, from "BBR06 §5.6.1";
    /// Gain of the window in ProbeBW_UP.
    up_cwnd_gain: f64 = 2.25, within 1.0..=10.0, from "BBR06 §5.6.1";
    /// Gain of the rate in ProbeBW_DOWN.
    down_gain: f64 = 0.9, within 0.1..=1.0, from "BBR06 §5.6.1";
    /// Share of the data in flight that may be lost per round trip while bandwidth is probed.
    loss_thresh: f64 = 0.02, within 0.0..=0.5, from "BBR06 §2.8: LossThresh";
    /// Smallest factor of a reduction, per round trip with losses.
    beta: f64 = 0.7, within 0.1..=0.99, from "BBR06 §2.8: Beta";
    /// Share of inflight_longterm that is left to other flows between probes.
    headroom: f64 = 0.15, within 0.0..=0.9, from "BBR06 §2.8: Headroom";
    /// Minimum window, in segments.
    min_pipe: f64 = 4.0, within 1.0..=100.0, from "BBR06 §2.8: MinPipeCwnd";
    /// Growth of the delivery rate per round trip above which the pipe is not full.
    full_growth: f64 = 1.25, within 1.0..=2.0, from "BBR06 §5.3.1.2: 25 %";
    /// Number of round trips with less growth after which the pipe is full.
    full_rounds: u32 = 3, within 1..=100, from "BBR06 §5.3.1.2";
    /// Number of separate gaps in one round trip after which losses end Startup.
    full_losses: u32 = 6, within 1..=1000, from "BBR06 §5.3.1.3: BBRStartupFullLossCnt";
    /// Minimum time from one probe for bandwidth to the next.
    probe_wait: Duration = Duration::from_secs(2), within "10 ms"..="1000 s", from "BBR06 §5.3.3.8.3: PickProbeWait";
    /// Maximum random addition to that time.
    probe_wait_random: Duration = Duration::from_secs(1), within "0 s"..="100 s", from "BBR06 §5.3.3.8.3: PickProbeWait";
    /// Maximum number of round trips from one probe for bandwidth to the next, for coexistence with Reno and CUBIC.
    probe_rounds: u32 = 63, within 1..=10000, from "BBR06 §5.3.3.8.3: IsRenoCoexistenceProbeTime";
    /// Window of the minimum round-trip time.
    min_rtt_window: Duration = Duration::from_secs(10), within "10 ms"..="1000 s", from "BBR06 §2.16.1: MinRTTFilterLen";
    /// Time without a lower round-trip time after which it is probed.
    probe_rtt_interval: Duration = Duration::from_secs(5), within "10 ms"..="1000 s", from "BBR06 §2.16.2: ProbeRTTInterval";
    /// Time with a small window while the round-trip time is probed, at least one round trip.
    probe_rtt: Duration = Duration::from_millis(200), within "0 s"..="10 s", from "BBR06 §2.16.2: ProbeRTTDuration";
    /// Gain of the window while the round-trip time is probed.
    probe_rtt_gain: f64 = 0.5, within 0.1..=1.0, from "BBR06 §2.16.2: ProbeRTTCwndGain";
    /// Window of the maximum aggregation of acknowledgements, in round trips, after Startup.
    extra_acked_rounds: u32 = 10, within 1..=1000, from "BBR06 §2.12: ExtraAckedFilterLen";
    /// Margin by which the pacing rate is below gain × bw.
    pacing_margin: f64 = 0.01, within 0.0..=0.5, from "BBR06 §2.5: PacingMarginPercent";
}

/// The whole congestion control.
///
/// Boxed: its state is the largest of all schemes, and each would take as much room in the enum of all schemes.
pub type Control = Box<Bbr3>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Box::new(Bbr3::new(params, setup))
}
