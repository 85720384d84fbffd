//! SRMCC: one rate for a multicast group, from the queues and fair shares that the routers of its tree report [SRMCC].

use contract::{Documented, Family, Scheme, Setup, Source, choice, params};
use units::{Duration, Rate};

mod adaptation;
mod endpoints;
mod fold;
mod headers;
mod router;
#[cfg(test)]
mod tests;

pub use endpoints::{Receiver, Sender};
pub use router::Router;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "srmcc",
    title: "Single-rate multicast congestion control with the routers' help",
    families: &[Family::Icn],
    sources: &[Source {
        key: "SRMCC",
        text: "the paper on SRMCC, a single-rate multicast congestion control mechanism for ICN",
    }],
    documented: Documented::Partial,
    series: &[
        ("o_max", "1", "flow", "maximum queue occupancy in the tree, as last reported to the source"),
        ("o_min", "1", "flow", "minimum queue occupancy in the tree, as last reported to the source"),
        ("fair_rate", "bps", "flow", "minimum fair share in the tree, as last reported to the source"),
        ("state", "1", "flow", "congestion state of the maximum occupancy, 0 to 3"),
        ("srtt", "s", "flow", "smoothed maximum round-trip time of the group"),
        ("t_adapt", "s", "flow", "time between two adaptations of the rate"),
        ("occupancy", "1", "node", "maximum average occupancy of the queues towards a group's children"),
        ("flows_seen", "flows", "node", "groups and unicast flows that arrive on a group's incoming link"),
        (
            "fair_rate",
            "bps",
            "node",
            "rate of the upstream link / number of groups and flows that arrive on it",
        ),
    ],
    reorder: 1,
    needs: &[],
};

params! {
    /// Weight of the newest sample in a queue's average occupancy.
    alpha: f64 = 0.9, within 0.001..=1.0, from "SRMCC §3.2, eq. 1, Table 1";
    /// Occupancy up to which a queue is lightly occupied.
    oth1: f64 = 0.25, within 0.0..=1.0, from "SRMCC §4.1, eq. 5, Table 1";
    /// Occupancy up to which a queue is moderately occupied.
    oth2: f64 = 0.5, within 0.0..=1.0, from "SRMCC §4.1, eq. 5, Table 1";
    /// Position of the rate between the minimum (0) and the maximum (1) candidate rate. Without `clamp_empty` it is at
    /// most 0.333: with 1/3 or more the rate could not fall while one queue is full and another empty.
    gamma: f64 = 0.15, within 0.0..=1.0, from "SRMCC §4.3, eq. 10, Table 1";
    /// Round-trip times between two adaptations of the rate, and between two messages of a receiver.
    cycle: f64 = 4.0, within 0.25..=100.0, from "SRMCC §5.1, Table 1";
    /// Rate at the start.
    initial_rate: Rate = Rate::from_kbps(50), within "1 bit/s"..="1000 Gbit/s", from "SRMCC §5.1, Table 1";
    /// Minimum rate.
    min_rate: Rate = Rate::from_kbps(8), within "1 bit/s"..="1000 Gbit/s", from "our choice: the paper has none, and a rate of zero would not recover; one packet of 1000 bytes per second";
    /// Maximum rate.
    max_rate: Rate = Rate::UNLIMITED, within "1 bit/s"..="unlimited", from "our choice: the paper has none";
    /// Maximum rate, in fair shares.
    ceiling: f64 = 16.0, within 1.0..=1000000.0, from "our choice: the paper has none; if the source's own link is the bottleneck, no router has a queue, and the rate would double without bound";
    /// Round-trip time before the first sample.
    initial_rtt: Duration = Duration::from_millis(100), within "1 ms"..="10 s", from "our choice: the paper gives none";
    /// Round-trip time: samples, with queueing delay, or always `initial_rtt`.
    rtt: Rtt = Rtt::Measured, from "our choice: the paper does not say; the published numbers of messages match a time that includes queueing";
    /// Gain of the smoothed round-trip time.
    rtt_gain: f64 = 0.125, within 0.001..=1.0, from "our choice: that of TCP (RFC 6298 §2.3)";
    /// When a router samples its queues: when a packet joins them, or when a message passes.
    sampling: Sampling = Sampling::Enqueue, from "our choice: the paper does not say; with a weight of 0.9, the average is current only if samples are frequent";
    /// Whether occupancy counts the packet in transmission.
    in_service: bool = false, from "our choice: the paper's simulator does not count it";
    /// Average length, in packets, up to which a queue counts as empty.
    empty: f64 = 0.5, within 0.0..=1000.0, from "our choice: the average of eq. 1 does not return to the 0 that eq. 5 requires";
    /// Queue that determines the maximum candidate rate: the least occupied of the tree, or, as for the other rate, the most occupied.
    o_min: MaxRateQueue = MaxRateQueue::Leaf, from "our choice: SRMCC §4.2 says the minimum; with the same queue for both rates, γ would have no effect";
    /// Maximum and minimum occupancy of a queue in a message: its average at that time, or the extremes of the average
    /// since the last message.
    occupancy: Occupancy = Occupancy::Current, from "our choice: SRMCC §3.2 records the average as maximum and as minimum; two fields of one queue have different values only over a time";
    /// Whether the fair share also limits the doubling while a queue is empty.
    clamp_empty: bool = false, from "our choice: SRMCC §4.2.1, eq. 6, does not have the limit of eq. 4";
    /// Whether a router clears its aggregate after sending it.
    reset: bool = true, from "our choice: without it, past extremes would remain permanently";
    /// When a router sends its aggregate: when all known children have reported, or when `wait` is over.
    aggregate: Aggregate = Aggregate::WhenAll, from "our choice: SRMCC §3.2 says after a period of time";
    /// Maximum wait for a router's children, in adaptation cycles.
    wait: f64 = 1.0, within 0.0..=100.0, from "our choice: SRMCC §3.2 says after a period of time";
    /// Number of silent adaptation cycles after which a router no longer waits for a child.
    forget: f64 = 3.0, within 1.0..=1000.0, from "our choice: the paper does not say";
    /// Minimum share of an adaptation cycle since the last message or adaptation, if all known children have reported.
    slack: f64 = 0.9, within 0.1..=1.0, from "our choice: with timers of their own, routers and source would each add up to one cycle of delay";
    /// Number of adaptation cycles without a message after which the rate is halved, and halved again after each further one.
    misses: u32 = 3, within 1..=1000, from "our choice: the paper does not say; missing messages may be caused by congestion";
    /// A message is stale when its round is older than the latest by more than this number.
    stale: u32 = 8, within 1..=1000000, from "our choice: the paper has no round numbers";
    /// Share of the unicast packets that a router samples to count flows.
    sampled: f64 = 1.0, within 0.0001..=1.0, from "our choice: SRMCC §3.2 samples at random and gives no share; sampling all packets avoids noise";
    /// Time after which a flow without packets is no longer counted, if it is no group in the forwarding table.
    window: Duration = Duration::from_secs(2), within "1 ms"..="1000 s", from "our choice: if a tenth of the packets is sampled, a flow with a tenth of 2 Mbit/s is then missed with a probability below 1 %";
    order oth1 <= oth2;
    order min_rate <= max_rate;
    limit gamma <= 0.333 unless clamp_empty;
}

choice! {
    /// Where the round-trip time comes from.
    pub enum Rtt {
        /// Samples of the slowest member, queueing included.
        Measured = "measured",
        /// It stays what it was at the start.
        Static = "static",
    }
}

choice! {
    /// When a router samples its queues.
    pub enum Sampling {
        /// As a packet is about to join them.
        Enqueue = "enqueue",
        /// When a message of a group that leaves by them passes.
        Mcc = "mcc",
    }
}

choice! {
    /// The queue that determines the maximum candidate rate.
    pub enum MaxRateQueue {
        /// The least occupied queue of the tree.
        Leaf = "leaf",
        /// The most occupied queue, as for the minimum candidate rate.
        Same = "same",
    }
}

choice! {
    /// The occupancies of a queue in a message.
    pub enum Occupancy {
        /// The average, twice.
        Current = "current",
        /// Maximum and minimum of the average since the last message.
        Extremes = "extremes",
    }
}

choice! {
    /// When a router sends its aggregate.
    pub enum Aggregate {
        /// When all known children have reported, or when the wait is over.
        WhenAll = "when_all",
        /// When the wait is over.
        Period = "period",
    }
}

/// The part at the source.
pub fn sender(params: &Params, _setup: &Setup) -> Sender {
    Sender::new(params)
}

/// The part at a receiver.
pub fn receiver(_params: &Params, _setup: &Setup) -> Receiver {
    Receiver::new()
}

/// The part in a router of the tree.
pub fn router(params: &Params, setup: &Setup) -> Router {
    Router::new(params, setup.segment)
}
