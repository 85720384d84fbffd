//! Distributions of transfer sizes: constant, Pareto, log-normal, and tables of a cumulative distribution function.

use std::sync::Arc;

use contract::Random;
use units::{Bytes, math};

/// A distribution of sizes.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// Every size is the same.
    Fixed(Bytes),
    /// Pareto with this mean and a shape above 1. Below a shape of 2 the variance is infinite.
    Pareto {
        /// Mean.
        mean: Bytes,
        /// Shape.
        shape: f64,
    },
    /// Log-normal with this mean.
    LogNormal {
        /// Mean.
        mean: Bytes,
        /// Coefficient of variation: standard deviation / mean.
        variation: f64,
    },
    /// Points of a cumulative distribution function, in ascending order: a size in bytes and the probability that a
    /// size does not exceed it. The first probability is the share of sizes of exactly the first point, the last one is
    /// 1; between two points the function is linear.
    Table(Arc<[(u64, f64)]>),
}

/// Flow sizes of a data centre for web search: Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010, figure 4, in the
/// points that public simulators use (traffic_gen of HPCC, `WebSearch_distribution.txt`).
pub const WEB_SEARCH: &[(u64, f64)] = &[
    (0, 0.0),
    (10_000, 0.15),
    (20_000, 0.20),
    (30_000, 0.30),
    (50_000, 0.40),
    (80_000, 0.53),
    (200_000, 0.60),
    (1_000_000, 0.70),
    (2_000_000, 0.80),
    (5_000_000, 0.90),
    (10_000_000, 0.97),
    (30_000_000, 1.0),
];

/// Flow sizes of a data centre for data mining: Greenberg et al., VL2, SIGCOMM 2009, figure 2, in the points that
/// public simulators use (TrafficGenerator of HKUST, `VL2_CDF.txt`).
pub const DATA_MINING: &[(u64, f64)] = &[
    (0, 0.0),
    (180, 0.1),
    (216, 0.2),
    (560, 0.3),
    (900, 0.4),
    (1100, 0.5),
    (1870, 0.6),
    (3160, 0.7),
    (10_000, 0.8),
    (400_000, 0.9),
    (3_160_000, 0.95),
    (100_000_000, 0.98),
    (1_000_000_000, 1.0),
];

/// Largest size that is drawn: a petabyte.
const MAX: f64 = 1e15;

impl Sizes {
    /// Draws a size, at least one byte.
    pub fn draw(&self, random: &mut Random) -> Bytes {
        let drawn = match self {
            Self::Fixed(size) => return *size,
            Self::Pareto { mean, shape } => random.pareto(mean.as_f64(), *shape),
            Self::LogNormal { mean, variation } => mean.as_f64() * log_normal(*variation, random),
            Self::Table(points) => inverse(points, random.unit()),
        };
        Bytes::new(drawn.clamp(1.0, MAX) as u64)
    }

    /// The mean, in bytes.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed(mean) | Self::Pareto { mean, .. } | Self::LogNormal { mean, .. } => mean.as_f64(),
            Self::Table(points) => {
                let first = points.first().map_or(0.0, |(size, p)| *size as f64 * p);
                let part = |pair: &[(u64, f64)]| {
                    (pair[0].0 as f64 + pair[1].0 as f64) / 2.0 * (pair[1].1 - pair[0].1)
                };
                first + points.windows(2).map(part).sum::<f64>()
            }
        }
    }
}

/// The size that the share `p` of all sizes does not exceed.
fn inverse(points: &[(u64, f64)], p: f64) -> f64 {
    let above = points.partition_point(|(_, known)| *known < p);
    let Some(&(high, to)) = points.get(above).or(points.last()) else { return 1.0 };
    match above.checked_sub(1).map(|below| points[below]) {
        Some((low, from)) if to > from => low as f64 + (p - from) / (to - from) * (high as f64 - low as f64),
        _ => high as f64,
    }
}

/// A log-normal random number with mean 1 and this coefficient of variation.
pub(crate) fn log_normal(variation: f64, random: &mut Random) -> f64 {
    // σ² = ln(1 + c²); exp(σ·z − σ²/2) has mean 1; z by Box and Muller
    let variance = math::ln(1.0 + variation * variation);
    let radius = f64::sqrt(-2.0 * math::ln(1.0 - random.unit()));
    let z = radius * math::cos(std::f64::consts::TAU * random.unit());
    math::exp(variance.sqrt() * z - variance / 2.0)
}
