//! CVIHIS: a stream with two modes; one yields to other traffic, the other takes its share [CVIHIS].

use contract::{Documented, Family, Scheme, Setup, Source, choice, params};
use units::{Bytes, Duration, Rate};

mod endpoints;
#[cfg(test)]
mod tests;

pub use endpoints::{Receiver, Sender};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "cvihis",
    title: "Congestion control for video to home Internet service, dual-mode",
    families: &[Family::Ip],
    sources: &[Source {
        key: "CVIHIS",
        text: "J. Vihervaara, T. Alapaholuoma, T. Lipping, P. Loula: Congestion Control Supported Dual-mode Video Transfer",
    }],
    documented: Documented::Partial,
    series: &[
        ("srtt", "s", "flow", "smoothed round-trip time"),
        ("update", "packets", "flow", "smoothed step u, as last applied"),
        (
            "position",
            "1",
            "receiver",
            "position of the latest delay in the delay space: 0 at minDelay, 1 at maxDelay; recorded as soon as there is a delay space",
        ),
        (
            "min_delay",
            "s",
            "receiver",
            "minDelay in effect, shifted or not; difference between the two clocks",
        ),
        ("max_delay", "s", "receiver", "maxDelay; difference between the two clocks"),
        ("command", "1", "receiver", "latest command, 0 to 7"),
    ],
    reorder: 1,
    needs: &[],
};

params! {
    /// The initial mode. An event of a scenario can change it during the run.
    mode: Mode = Mode::Background, from "CVIHIS §3.2, §3.3";
    /// Packets per √RTT of commands 1 (− − −) and 4 (+ + +).
    step_far: f64 = 1.0, within 0.0..=1000.0, from "CVIHIS Table 1";
    /// Packets per √RTT of command 2 (− −).
    step_down: f64 = 0.7, within 0.0..=1000.0, from "CVIHIS Table 1";
    /// Packets per √RTT of command 3 (+ +).
    step_up: f64 = 0.5, within 0.0..=1000.0, from "CVIHIS Table 1";
    /// Packets per √RTT of commands 6 (−) and 7 (+), which follow the delay gradient.
    step_gradient: f64 = 0.2, within 0.0..=1000.0, from "CVIHIS Table 1";
    /// MD: factor by which the gap between packets grows after a loss, at most once per RTT.
    decrease: f64 = 1.1, within 1.0..=100.0, from "CVIHIS Table 1";
    /// SF: weight of the newest value in exponential smoothing.
    smoothing: f64 = 0.5, within 0.001..=1.0, from "CVIHIS Table 1";
    /// Smoothed quantity: the step, or the rate.
    smoothed: Smoothed = Smoothed::Step, from "our choice: a smoothed rate would halve each step, while CVIHIS §3.2 has steps of one packet per √RTT";
    /// Whether the decrease after a loss is smoothed, too, as a step of the same number of packets.
    smoothed_decrease: bool = false, from "CVIHIS Table 1: MD increases the gap by a factor of 1.10; our choice: at once, although §3.1 smooths fast changes of the rate";
    /// PF: factor by which minDelay is raised in real-time mode.
    push: f64 = 1.05, within 1.0..=2.0, from "CVIHIS Table 1, §3.3";
    /// Factor by which minDelay is raised in background mode; 1 for none.
    background_push: f64 = 1.0, within 1.0..=2.0, from "our choice: CVIHIS §4.6 suggests a factor slightly above one, and has no experiment with it";
    /// How often minDelay is raised while the command is a decrease.
    push_every: Cadence = Cadence::Packet, from "our choice: CVIHIS §3.3 says continuously, while the stream has to compete; with a longer interval the real-time mode loses to TCP";
    /// Window in packets, whose minimum delay is compared with minDelay to detect a longer route; 0 for none.
    window: u32 = 0, within 0..=100000, from "CVIHIS §4.6 cites this solution and has no experiment with it; our choice: off";
    /// With a window: share of maxDelay − minDelay by which the minimum delay of the window must exceed minDelay.
    window_threshold: f64 = 0.6, within 0.0..=1000.0, from "our choice: CVIHIS §4.6 says a certain threshold; the value of `edge_5`, above which a stream does not keep the queue";
    /// With a window: number of consecutive windows after which their minimum delay replaces minDelay.
    window_times: u32 = 4, within 1..=1000, from "our choice: CVIHIS §4.6 says a certain number of consecutive times";
    /// Upper edge of the lowest area, as a share of maxDelay − minDelay like all edges.
    edge_1: f64 = 0.10, within 0.0..=1.0, from "our choice: the paper prints the edges only in a figure that is not available; the target area is slightly below the middle";
    /// Edge between the two areas below the target area.
    edge_2: f64 = 0.25, within 0.0..=1.0, from "our choice: see `edge_1`";
    /// Lower edge of the target area.
    edge_3: f64 = 0.35, within 0.0..=1.0, from "our choice: see `edge_1`";
    /// Upper edge of the target area.
    edge_4: f64 = 0.45, within 0.0..=1.0, from "our choice: see `edge_1`";
    /// Edge between the two areas above the target area.
    edge_5: f64 = 0.60, within 0.0..=1.0, from "our choice: see `edge_1`";
    /// Lower edge of the highest area.
    edge_6: f64 = 0.80, within 0.0..=1.0, from "our choice: see `edge_1`";
    /// Minimum width of the delay space, in packets at the highest rate so far; 0 for none.
    min_space: f64 = 4.0, within 0.0..=1000.0, from "our choice: CVIHIS §3.2 has no minimum, and a loss without a queue makes a space as narrow as noise; of four packets one or two wait in the target area";
    /// Minimum width of the delay space, in mean differences between the delays of consecutive packets; 0 for none.
    noise: f64 = 8.0, within 0.0..=1000.0, from "our choice: as `min_space`; noise then seldom leaves the areas below the target";
    /// Command of the two outer gradient areas where delay and gradient agree.
    outer: Outer = Outer::Same, from "our choice: CVIHIS §3.2 assigns commands 2 and 3 to the areas next to the target area, and none to the outer two";
    /// Unit of a step: packets of the stream, or packets of `step_size`.
    adapt_by: Unit = Unit::Packets, from "CVIHIS §3.2; §5 names bytes as future work";
    /// With adapt_by = "bytes": size of a packet in a step.
    step_size: Bytes = Bytes::new(1500), within "1 B"..="65535 B", from "our choice: the packet size of the paper's TCP flows";
    /// Gain of the smoothed round-trip time.
    rtt_gain: f64 = 0.125, within 0.001..=1.0, from "our choice: that of TCP (RFC 6298 §2.3)";
    /// Round-trip time before the first acknowledgement.
    initial_rtt: Duration = Duration::from_millis(100), within "1 ms"..="10 s", from "our choice: the paper gives none";
    /// Rate at the start.
    initial_rate: Rate = Rate::from_kbps(500), within "1 bit/s"..="1000 Gbit/s", from "our choice: in the paper the application sets it; a quarter of the paper's minimum capacity";
    /// Minimum rate, in packets per second.
    min_packet_rate: f64 = 1.0, within 0.001..=1000.0, from "our choice: the paper has none; a sender without packets measures no delay";
    /// Maximum rate.
    max_rate: Rate = Rate::UNLIMITED, within "1 bit/s"..="unlimited", from "our choice: the paper has none";
    /// After this number of round-trip times without an acknowledgement the gap between packets is doubled.
    timeout_rtts: f64 = 4.0, within 1.0..=1000.0, from "our choice: the paper has no timeout";
    /// Minimum time without an acknowledgement after which the gap is doubled.
    min_timeout: Duration = Duration::from_secs(1), within "1 ms"..="1000 s", from "our choice: the paper has no timeout";
    /// Minimum number of gaps between packets without an acknowledgement after which the gap is doubled.
    timeout_packets: f64 = 2.0, within 0.0..=1000.0, from "our choice: RFC 5348 §4.3 has two packets; the paper has no timeout";
    order edge_1 <= edge_2;
    order edge_2 <= edge_3;
    order edge_3 <= edge_4;
    order edge_4 <= edge_5;
    order edge_5 <= edge_6;
}

choice! {
    /// The two modes.
    pub enum Mode {
        /// Yields to other traffic.
        Background = "background",
        /// Takes its share.
        RealTime = "real_time",
    }
}

choice! {
    /// What the smoothing factor applies to.
    pub enum Smoothed {
        /// The step that is added.
        Step = "step",
        /// The resulting rate.
        Rate = "rate",
    }
}

choice! {
    /// How often minDelay is pushed.
    pub enum Cadence {
        /// With each packet.
        Packet = "packet",
        /// Once in √RTT.
        Step = "step",
        /// Once in a round-trip time.
        Rtt = "rtt",
    }
}

choice! {
    /// Commands of the two outer areas with gradients.
    pub enum Outer {
        /// Those of the inner ones: 2 above the target, 3 below.
        Same = "same",
        /// Those of the extremes: 1 above, 4 below.
        Strong = "strong",
    }
}

choice! {
    /// What a step is counted in.
    pub enum Unit {
        /// The stream's own packets.
        Packets = "packets",
        /// Packets of one size for all streams.
        Bytes = "bytes",
    }
}

/// The part at the source.
pub fn sender(params: &Params, setup: &Setup) -> Sender {
    Sender::new(params, setup.segment)
}

/// The part at the receiver.
pub fn receiver(params: &Params, _setup: &Setup) -> Receiver {
    Receiver::new(params)
}
