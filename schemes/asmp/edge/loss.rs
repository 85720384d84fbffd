//! How much a receiver loses.

/// Loss as receiver reports count it: packets lost over packets expected between two reports [RFC3550 §6.4.1], averaged over
/// the last eight with the weights of loss intervals [RFC5348 §5.4].
#[derive(Clone, Debug, Default)]
pub(crate) struct LossFractions {
    /// Newest first.
    fractions: [f64; WEIGHTS.len()],
    known: usize,
    lost: u64,
}

impl LossFractions {
    /// So many packets are missing.
    pub(crate) fn lose(&mut self, packets: u64) {
        self.lost += packets;
    }

    /// An interval ends in which `expected` packets should have come. One in which none should have says nothing.
    pub(crate) fn close(&mut self, expected: u64) {
        if expected == 0 {
            return;
        }
        self.fractions.rotate_right(1);
        // a loss that is found late may be of the interval before
        self.fractions[0] = (self.lost as f64 / expected as f64).min(1.0);
        self.known = (self.known + 1).min(WEIGHTS.len());
        self.lost = 0;
    }

    /// p = Σ wᵢ·lᵢ / Σ wᵢ over the intervals known; 0 before the first.
    pub(crate) fn mean(&self) -> f64 {
        let known = || self.fractions.iter().zip(WEIGHTS).take(self.known);
        let weights: f64 = known().map(|(_, weight)| weight).sum();
        if weights > 0.0 { known().map(|(l, weight)| l * weight).sum::<f64>() / weights } else { 0.0 }
    }
}

/// w₀ … w₇, newest first [RFC5348 §5.4].
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
