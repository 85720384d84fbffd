//! MCA: one rate for a multicast group, determined by its slowest receiver before queues overflow [MCA].

use contract::{Documented, Family, Scheme, Setup, Source, choice, params};
use units::{Duration, Rate};

mod endpoints;
#[cfg(test)]
mod tests;

pub use endpoints::{Receiver, Sender};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "mca",
    title: "Multicast congestion avoidance with feedback suppression",
    families: &[Family::Multicast, Family::Ip],
    sources: &[Source {
        key: "MCA",
        text: "J. Li, S. Kalyanaraman: MCA: An End-to-end Multicast Congestion Avoidance Scheme with Feedback Suppression",
    }],
    documented: Documented::Partial,
    series: &[
        ("srtt", "s", "flow", "smoothed round-trip time to the representative"),
        ("g_trac", "bps", "receiver", "mean of G-TRAC: rate at congestion × (1 − congestion frequency)"),
        ("trac", "bps", "receiver", "mean of the rate at which data arrived at congestion"),
        ("accumulation", "bytes", "receiver", "bytes of the flow in queues, estimated by the receiver"),
        (
            "baseline",
            "s",
            "receiver",
            "arrival time − departure time that the receiver assumes for a path without queues",
        ),
        ("period", "s", "flow", "time between increases, and minimum time between reductions"),
        ("absence_rate", "bps", "flow", "rate from which a silent representative counts as absent"),
    ],
    reorder: 1,
    needs: &[],
};

params! {
    /// Congestion begins when the accumulation exceeds this number of packets.
    enter: f64 = 2.0, within 0.0..=1000.0, from "MCA §2.2";
    /// Congestion ends when the accumulation is below this number of packets.
    leave: f64 = 1.0, within 0.0..=1000.0, from "MCA §2.2";
    /// Count of the accumulation: lateness times rate, the same in whole packets, or the bytes that arrive while the
    /// control packet is late. The last two include the control packet.
    accumulation: Form = Form::Fluid, from "our choice: MCA §2.2 counts the bytes sent minus those received until the expected arrival, in which a late control packet is a packet; the fluid of §2.1 can fall below one packet before a queue is empty";
    /// Residue after an early control packet: zero, or the part that its earliness does not explain.
    early: Early = Early::Zero, from "MCA §2.2; our choice for the other value: with it no sequence of epochs raises the baseline";
    /// When accumulation is indicated: with every control packet during congestion, or once per epoch.
    indication: Cadence = Cadence::PerControlPacket, from "our choice: with one indication per epoch, queues overflow that would not otherwise";
    /// Control packets: data packets with a flag, or separate packets in a class of their own that bypasses queues.
    control: Control = Control::InBand, from "MCA §2.2; §2.1 for `out_of_band`";
    /// Minimum time between control packets; at most one per data packet.
    control_interval: Duration = Duration::from_millis(20), within "1 ms"..="10 s", from "our choice: the published numbers of indications need more than one control packet per round trip";
    /// Minimum time over which a receiver measures the rate that converts lateness to bytes; the smoothed round-trip time if that is longer.
    rate_window: Duration = Duration::from_millis(50), within "1 ms"..="10 s", from "our choice: a shorter window contains too few packets";
    /// Minimum number of packets over which the rate at congestion is measured; the smoothed round-trip time if that is longer.
    trac_packets: u32 = 4, within 1..=16, from "our choice: MCA §3.1.3 says a short period, for example one round trip";
    /// Gain of the mean and deviation of the rate at congestion.
    trac_gain: f64 = 0.125, within 0.001..=1.0, from "our choice: that of the round-trip time";
    /// Deviation D′ of the rate at congestion: a standard deviation, or the mean of absolute differences.
    trac_deviation: Spread = Spread::Standard, from "MCA §3.1.3";
    /// Gain of the mean and deviation of G-TRAC.
    g_gain: f64 = 0.03125, within 0.001..=1.0, from "our choice: with 1/8 the representative changes often between receivers";
    /// Deviation after the first sample of a mean, as a share of it.
    first_deviation: f64 = 0.25, within 0.0..=1.0, from "our choice: the paper does not say how averages are initialized";
    /// Deviation D of G-TRAC: the mean of absolute differences, or a standard deviation.
    g_deviation: Spread = Spread::Mean, from "our choice: MCA §3.1.3 says deviation, and standard deviation only of D′; the deviation of the round-trip time in §3.1.1 is a mean";
    /// Period of a sample of the congestion frequency: `f_window` packets, or from one congestion epoch to the next.
    f_period: Period = Period::Packets, from "our choice: MCA §3.1.3 says a certain period, and the time between two congestion epochs as an example; with epochs of different lengths that is a noisy mean";
    /// With f_period = "packets": minimum number of packets of the source per sample of the congestion frequency.
    f_window: u32 = 20, within 1..=100000, from "our choice: MCA §3.1.3 says a certain period";
    /// Gain of the congestion frequency.
    f_gain: f64 = 0.25, within 0.001..=1.0, from "our choice: a mean over a few windows";
    /// A receiver sends indications only if its G-TRAC is below U − k_rx·D of the representative.
    k_rx: f64 = 2.0, within 0.0..=100.0, from "our choice: the published text says below the representative's value, which is k_rx = 0; only 2 gives the published amount of feedback";
    /// The source takes a new representative when its G-TRAC is below U − k·D.
    k: f64 = 1.0, within 0.0..=100.0, from "MCA §3.1.3";
    /// The representative is absent after this number of periods without feedback from it.
    n: u32 = 4, within 1..=1000, from "MCA §3.1.3";
    /// Counting towards absence begins when the rate reaches U′ plus this number of deviations D′.
    absence_deviations: f64 = 4.0, within 0.0..=100.0, from "MCA §3.1.3";
    /// Share of the rate kept after an accumulation indication.
    keep_accumulation: f64 = 0.9, within 0.0..=1.0, from "MCA §3.1.2";
    /// Share of the rate kept after a loss indication.
    keep_loss: f64 = 0.75, within 0.0..=1.0, from "MCA §3.1.2";
    /// Packets per period by which the rate grows after a period without indication.
    increase: f64 = 1.0, within 0.0..=1000.0, from "MCA §3.1.2";
    /// Gain of the smoothed round-trip time and its deviation.
    rtt_gain: f64 = 0.125, within 0.001..=1.0, from "MCA §3.1.1";
    /// Update of the deviation of the round-trip time: the printed form, which settles at half of it, or the standard one.
    deviation: Deviation = Deviation::Printed, from "MCA §3.1.1";
    /// Deviations in a period: P = SRTT + 4σ.
    period_deviations: f64 = 4.0, within 0.0..=100.0, from "MCA §3.1.2";
    /// Round-trip time before the first sample.
    initial_rtt: Duration = Duration::from_millis(100), within "1 ms"..="10 s", from "MCA §4";
    /// Rate at the start.
    initial_rate: Rate = Rate::from_kbps(80), within "1 bit/s"..="1000 Gbit/s", from "our choice: ten packets of 1000 bytes per second";
    /// Minimum rate.
    min_rate: Rate = Rate::from_kbps(4), within "1 bit/s"..="1000 Gbit/s", from "our choice: one packet of 1000 bytes in two seconds, so that control packets continue";
    /// Maximum rate. Without it the rate grows without bound if there is no receiver, as MCA §4.5 warns.
    max_rate: Rate = Rate::UNLIMITED, within "1 bit/s"..="unlimited", from "our choice: the paper has none";
    order min_rate <= max_rate;
}

choice! {
    /// How the accumulation is counted.
    pub enum Form {
        /// Lateness times receive rate.
        Fluid = "fluid",
        /// The same, in whole packets: the next larger number, since the control packet is one.
        Packets = "packets",
        /// The bytes that arrive after the expected arrival, up to and with the control packet.
        Bytes = "bytes",
    }
}

choice! {
    /// What a deviation is.
    pub enum Spread {
        /// The root of the mean square difference from the mean.
        Standard = "standard",
        /// The mean absolute difference from the mean.
        Mean = "mean",
    }
}

choice! {
    /// Over what the congestion frequency is counted.
    pub enum Period {
        /// A number of packets of the source.
        Packets = "packets",
        /// From the beginning of one congestion epoch to the beginning of the next.
        Epochs = "epochs",
    }
}

choice! {
    /// What a control packet that comes before it is expected leaves of a carried residue.
    pub enum Early {
        /// Nothing.
        Zero = "zero",
        /// What its earliness does not explain.
        Residue = "residue",
    }
}

choice! {
    /// When accumulation is indicated.
    pub enum Cadence {
        /// With every control packet while congested.
        PerControlPacket = "per_control_packet",
        /// Once, when congestion begins.
        PerEpoch = "per_epoch",
    }
}

choice! {
    /// How control packets travel.
    pub enum Control {
        /// As packets of data with a flag: they wait with the data.
        InBand = "in_band",
        /// By themselves, in the last class of queues: they take the fixed delays only, and overtake the data that wait.
        OutOfBand = "out_of_band",
    }
}

choice! {
    /// How the deviation of the round-trip time is updated.
    pub enum Deviation {
        /// σ ← 7/8 σ + (|SRTT − s| − σ)/8, as the paper prints it.
        Printed = "printed",
        /// σ ← σ + (|SRTT − s| − σ)/8, as RFC 6298 has it.
        Standard = "standard",
    }
}

/// The part at the source.
pub fn sender(params: &Params, setup: &Setup) -> Sender {
    Sender::new(params, setup.segment)
}

/// The part at a receiver.
pub fn receiver(params: &Params, setup: &Setup) -> Receiver {
    Receiver::new(params, setup.segment)
}
