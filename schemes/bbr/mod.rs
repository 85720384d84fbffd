//! BBR: sends at the rate of the bottleneck with one bandwidth-delay product in flight, both measured [BBR00].

use contract::{Documented, Family, Scheme, Setup, Source};
use units::Duration;

mod control;
#[cfg(test)]
mod tests;

pub use control::{Bbr, Refresh, State, Variant};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "bbr",
    title: "BBR: the first version, by bottleneck bandwidth and round-trip time",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "BBR00",
            text: "Cardwell, Cheng, Hassas Yeganeh, Jacobson: BBR Congestion Control, draft-cardwell-iccrg-bbr-congestion-control-00, 2017",
        },
        Source {
            key: "DRE00",
            text: "Cheng, Cardwell, Hassas Yeganeh, Jacobson: Delivery Rate Estimation, draft-cheng-iccrg-delivery-rate-estimation-00, 2017",
        },
        Source { key: "LINUX", text: "Linux 6.18, net/ipv4/tcp_bbr.c" },
    ],
    documented: Documented::Full,
    series: &[
        ("btlbw", "bps", "flow", "BtlBw: maximum delivery rate of the last round trips, payload only"),
        ("rtprop", "s", "flow", "RTprop: minimum round-trip time of the last seconds"),
        ("pacing_rate", "bps", "flow", "rate at which packets may leave, headers included"),
    ],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Gain of rate and window in Startup; Drain has its inverse.
    high_gain: f64 = 2.885, within 1.01..=10.0, from "BBR00 §4.3.2.1: 2/ln 2";
    /// Window of the maximum delivery rate, in round trips.
    btlbw_rounds: u32 = 10, within 1..=1000, from "BBR00 §4.1.1.2: BtlBwFilterLen";
    /// Window of the minimum round-trip time; at its end the round-trip time is probed.
    rtprop_window: Duration = Duration::from_secs(10), within "10 ms"..="1000 s", from "BBR00 §4.1.2.2, §4.3.5: RTpropFilterLen, ProbeRTTInterval";
    /// Time with the minimum window while the round-trip time is probed, in addition to one round trip.
    probe_rtt: Duration = Duration::from_millis(200), within "0 s"..="10 s", from "BBR00 §4.3.5: ProbeRTTDuration";
    /// Minimum window, in segments.
    min_pipe: f64 = 4.0, within 1.0..=100.0, from "BBR00 §4.2.3.3: BBRMinPipeCwnd";
    /// Gain of the window in ProbeBW.
    cwnd_gain: f64 = 2.0, within 1.0..=10.0, from "BBR00 §4.3.4.3";
    /// Gain of the rate in the first phase of a cycle.
    probe_gain: f64 = 1.25, within 1.0..=4.0, from "BBR00 §4.3.4.1: 5/4";
    /// Gain of the rate in the second phase.
    drain_gain: f64 = 0.75, within 0.1..=1.0, from "BBR00 §4.3.4.1: 3/4";
    /// Growth of the delivery rate per round trip above which the pipe is not full.
    full_growth: f64 = 1.25, within 1.0..=2.0, from "BBR00 §4.3.2.2: 25 %";
    /// Number of round trips with less growth after which the pipe is full.
    full_rounds: u32 = 3, within 1..=100, from "BBR00 §4.3.2.2";
    /// Margin by which the pacing rate is below gain × BtlBw. 0 is the draft's form.
    pacing_margin: f64 = 0.01, within 0.0..=0.5, from "LINUX: bbr_pacing_margin_percent; BBR00 §4.2.1 has 0";
    /// Samples that renew RTprop and its age: only lower ones, or also equal ones, as in the draft.
    rtprop_refresh: Refresh = Refresh::Lower, from "LINUX: bbr_update_min_rtt; BBR00 §4.1.2.3 has `equal`";
    /// Whose rules apply where they differ: the draft's, or Linux', with windows of whole segments, an allowance for
    /// aggregated acknowledgements, and an estimate of the rate of a policer.
    variant: Variant = Variant::Draft, from "BBR00; LINUX for the other value";
}

/// The whole congestion control, in memory of its own because it is large.
pub type Control = Box<Bbr>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Box::new(Bbr::new(params, setup))
}
