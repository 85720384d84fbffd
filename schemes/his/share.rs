//! The rate of Interests of a link at which both its directions carry the resulting traffic.

/// Rates and sizes at one link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LinkRates {
    /// Rate outwards, in bit/s.
    pub c1: f64,
    /// Rate inwards.
    pub c2: f64,
    /// Smoothed sizes of Interests, in bytes.
    pub i_out: f64,
    pub i_in: f64,
    /// Smoothed sizes of Data.
    pub d_out: f64,
    pub d_in: f64,
}

/// Allowed rates of Interests, in bit/s of Interests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AllowedRates {
    /// If the other side requests at its maximum.
    pub min: f64,
    /// If the other side requests nothing.
    pub max: f64,
    /// The allowed rate of the other side.
    pub expected: f64,
}

impl LinkRates {
    pub(super) fn allowed(&self) -> AllowedRates {
        let Self { c1, c2, i_out, i_in, d_out, d_in } = *self;
        // r₁ = d_in/i_out, r₂ = d_out/i_in                                               [WRNOR13, CCNEW]
        let (r1, r2) = (d_in / i_out, d_out / i_in);
        // s_max = c₂/r₁
        let max = c2 / r1;
        if r1 * r2 <= 1.0 {
            // our choice: if Data are not larger than Interests, there is nothing to share
            return AllowedRates { min: c1.min(max), max, expected: c2.min(c1 / r2) };
        }
        let (min, expected) = if c1 / c2 < 2.0 * r2 / (r1 * r2 + 1.0) {
            // the outgoing direction is the bottleneck
            (c1 / 2.0, c1 / (2.0 * r2))
        } else if c1 / c2 > (r1 * r2 + 1.0) / (2.0 * r1) {
            // the incoming direction is the bottleneck
            (c2 / (2.0 * r1), c2 / 2.0)
        } else {
            ((r2 * c2 - c1) / (r1 * r2 - 1.0), (r1 * c1 - c2) / (r1 * r2 - 1.0))
        };
        AllowedRates { min, max, expected }
    }

    /// The rate s, in bit/s of Interests, while Interests arrive at `observed` bit/s.
    pub(super) fn rate(&self, observed: f64, headroom: f64) -> f64 {
        let AllowedRates { min, max, expected } = self.allowed();
        let expected = expected * headroom;
        // s = s_min                                    if obs ≥ exp
        //   = s_min + (s_max − s_min)·(1 − obs/exp)²   otherwise                          [WRNOR13, CCNEW]
        if observed >= expected {
            return min;
        }
        let idle = 1.0 - observed / expected;
        min + (max - min) * idle * idle
    }
}
