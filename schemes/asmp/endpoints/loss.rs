//! ASMP: the loss rate of a receiver.

use contract::Gap;
use units::{Bytes, Duration, Time};

use crate::asmp::{Estimator, Params};
use crate::shared::{LossEvents, tcp_friendly_rate};

/// The loss rate that a receiver uses in the throughput equation of TCP.
#[derive(Clone, Debug)]
pub(crate) enum Loss {
    /// See [`LossFractions`].
    Fractions(LossFractions),
    /// Loss events [RFC5348 §5].
    Events(Box<LossEvents>),
}

/// Properties of the path at a loss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// Size of a packet.
    pub(crate) packet: Bytes,
    /// Round-trip time in seconds.
    pub(crate) rtt_s: f64,
    /// Sending rate in bit/s.
    pub(crate) rate: f64,
}

impl Loss {
    /// An estimator without losses.
    pub(crate) fn new(params: &Params) -> Self {
        match params.estimator {
            Estimator::LossFractions => Self::Fractions(LossFractions::default()),
            Estimator::LossEvents => Self::Events(Box::new(LossEvents::new(WEIGHTS.len(), None))),
        }
    }

    /// Takes the arrival of a packet.
    #[inline]
    pub(crate) fn arrived(&mut self, seq: u64, now: Time) {
        match self {
            Self::Fractions(_) => {}
            Self::Events(events) => events.arrived(seq, now),
        }
    }

    /// Takes a loss.
    pub(crate) fn lose(&mut self, gap: &Gap, now: Time, path: &Path) {
        match self {
            Self::Fractions(fractions) => fractions.lose(gap.packets),
            Self::Events(events) => {
                let (run, shows) = ((gap.first_missing, gap.packets), (gap.before.seq, now));
                events.lost(run, shows, Duration::from_secs_f64(path.rtt_s), || path.first_interval());
            }
        }
    }

    /// Takes a packet that was declared lost and arrived.
    pub(crate) fn late(&mut self) {
        match self {
            // duplicates and late packets count as received                         [RFC3550 §6.4.1, A.3]
            Self::Fractions(fractions) => fractions.lost = fractions.lost.saturating_sub(1),
            Self::Events(_) => {}
        }
    }

    /// Closes the interval before a report. `expected` is the number of packets that it should have contained.
    pub(crate) fn close(&mut self, expected: u64) {
        match self {
            Self::Fractions(fractions) => fractions.close(expected),
            Self::Events(_) => {}
        }
    }

    /// The loss rate p.
    pub(crate) fn mean(&self) -> f64 {
        match self {
            Self::Fractions(fractions) => fractions.mean(),
            Self::Events(events) => events.rate(),
        }
    }
}

impl Path {
    /// The interval between loss events at which TCP has the rate of the source [RFC5348 §6.3.1].
    pub(crate) fn first_interval(&self) -> f64 {
        // differs: the sending rate instead of the receive rate; until the first loss they are equal
        let (mut low, mut high) = (MIN_LOSS, 1.0_f64);
        for _ in 0..HALVINGS {
            let p = (low * high).sqrt();
            let slower = tcp_friendly_rate(self.packet, self.rtt_s, p) < self.rate;
            (low, high) = if slower { (low, p) } else { (p, high) };
        }
        1.0 / high
    }
}

/// The loss rate of receiver reports: lost over expected packets between two reports [RFC3550 §6.4.1], averaged over
/// the last eight with the weights of loss intervals [RFC5348 §5.4].
#[derive(Clone, Debug, Default)]
pub(crate) struct LossFractions {
    /// Newest first.
    fractions: [f64; WEIGHTS.len()],
    count: usize,
    lost: u64,
}

impl LossFractions {
    /// Counts `packets` lost packets.
    pub(crate) fn lose(&mut self, packets: u64) {
        self.lost += packets;
    }

    /// Closes an interval that should have contained `expected` packets. An interval with none is ignored.
    pub(crate) fn close(&mut self, expected: u64) {
        if expected == 0 {
            return;
        }
        self.fractions.rotate_right(1);
        // a loss that is detected late can belong to the interval before
        self.fractions[0] = (self.lost as f64 / expected as f64).min(1.0);
        self.count = (self.count + 1).min(WEIGHTS.len());
        self.lost = 0;
    }

    /// p = Σ wᵢ·lᵢ / Σ wᵢ over the known intervals; 0 before the first.
    pub(crate) fn mean(&self) -> f64 {
        let count = || self.fractions.iter().zip(WEIGHTS).take(self.count);
        let weights: f64 = count().map(|(_, weight)| weight).sum();
        if weights > 0.0 { count().map(|(l, weight)| l * weight).sum::<f64>() / weights } else { 0.0 }
    }
}

/// w₀ … w₇, newest first [RFC5348 §5.4].
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// Minimum loss rate for which the equation is solved.
const MIN_LOSS: f64 = 1e-12;
/// Number of bisections of a range of 10¹² on a logarithmic scale, which gives an accuracy of 10⁻⁹.
const HALVINGS: u32 = 40;
