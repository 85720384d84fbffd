//! What a link does to packets besides transmitting them: impairments, and the token buckets of policers and shapers.

use units::{Bytes, Duration, Rate};

/// A token bucket: it is full at the start, tokens for `rate` flow in up to `burst`, and a packet takes as many as it
/// has bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    /// Rate; above zero and below [`Rate::UNLIMITED`].
    pub rate: Rate,
    /// Capacity; above zero, at most [`TokenBucket::MAX_BURST`].
    pub burst: Bytes,
}

impl TokenBucket {
    /// The largest burst: its bits times 10⁹ fit into 64 bits.
    pub const MAX_BURST: Bytes = Bytes::new(2_000_000_000);
}

/// Impairments of one direction of a link, as in Linux's netem.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impair {
    /// Loss in bursts, in addition to independent loss.
    pub bursts: Option<GilbertElliott>,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
    /// Probability that a packet arrives damaged, so that the checksum at the end of the link drops it.
    pub corrupt: f64,
    /// Random variation of the delay.
    pub jitter: Option<Jitter>,
    /// Packets that overtake others.
    pub reorder: Option<Reorder>,
    /// If above zero, packets arrive only at multiples of this time: those that were to arrive since the last one
    /// arrive together.
    pub release_every: Duration,
}

/// The loss model of Gilbert and Elliott: a good and a bad state, with a probability of loss each. The state decides
/// about a packet, then it changes with a probability. netem calls the four p, r, 1-h and 1-k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// Probability of a change from good to bad, per packet.
    pub to_bad: f64,
    /// Probability of a change from bad to good, per packet.
    pub to_good: f64,
    /// Probability of loss in the bad state.
    pub loss_in_bad: f64,
    /// Probability of loss in the good state.
    pub loss_in_good: f64,
}

/// Random variation of the propagation delay, uniform and independent per packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// Maximum difference from the delay, in both directions.
    pub by: Duration,
    /// A packet does not arrive before an earlier one.
    pub keeps_order: bool,
}

/// Reordering: a packet arrives without propagation delay, before those ahead of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// Probability for a packet that may be reordered.
    pub probability: f64,
    /// After a reordered packet, the next that may be reordered is this many packets later; at least 1.
    pub gap: u32,
}
