//! Random numbers. There is one stream per component and purpose, so that an additional flow does not change the draws
//! of the others.

use rand_core::Rng;
use rand_pcg::Pcg64;
use units::{Duration, math};

/// A stream of random numbers (PCG XSL RR 128/64), the same on every platform. Its state takes memory from the first
/// number on: few components of a large network draw any.
#[derive(Clone, Debug)]
pub struct Random(Stream);

#[derive(Clone, Debug)]
enum Stream {
    /// Nothing was drawn yet.
    Seed(u64),
    Drawn(Box<Pcg64>),
}

impl Random {
    /// The stream of `purpose` at the component `path`, in a run with `seed`.
    pub fn new(seed: u64, path: &str, purpose: &str) -> Self {
        // absorb every byte
        let mut state = mix(seed ^ 0x7468_616c_7765_6731);
        for byte in path.bytes().chain([0]).chain(purpose.bytes()) {
            state = mix(state ^ u64::from(byte));
        }
        Self(Stream::Seed(state))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        match &mut self.0 {
            Stream::Drawn(stream) => stream.next_u64(),
            Stream::Seed(state) => {
                let mut stream = Box::new(squeezed(*state));
                let first = stream.next_u64();
                self.0 = Stream::Drawn(stream);
                first
            }
        }
    }

    /// Uniform in 0 ≤ x < 1, a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `low` ≤ x < `high`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform over 0..`n`; 0 when `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Exponential with mean `mean`.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * math::ln(1.0 - self.unit())
    }

    /// Pareto with the given mean and `shape` > 1: scale = mean·(shape − 1)/shape.
    pub fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        let scale = mean * (shape - 1.0) / shape;
        scale / math::pow(1.0 - self.unit(), 1.0 / shape)
    }

    /// `span` changed randomly by up to `share` of itself, uniformly.
    pub fn jitter(&mut self, span: Duration, share: f64) -> Duration {
        if share == 0.0 { span } else { span.scaled(1.0 + self.uniform(-share, share)) }
    }
}

/// The stream of which `state` has absorbed the name: four words are squeezed.
#[cold]
fn squeezed(mut state: u64) -> Pcg64 {
    let mut word = || {
        state = mix(state);
        u128::from(state)
    };
    Pcg64::new(word() << 64 | word(), word() << 64 | word())
}

/// The finaliser of SplitMix64: every input bit affects every output bit.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_other_components_and_purposes_differ() {
        let first = |seed, path, purpose| Random::new(seed, path, purpose).bits();
        assert_eq!(first(1, "flow.a", "jitter"), first(1, "flow.a", "jitter"));
        assert_ne!(first(1, "flow.a", "jitter"), first(2, "flow.a", "jitter"));
        assert_ne!(first(1, "flow.a", "jitter"), first(1, "flow.b", "jitter"));
        assert_ne!(first(1, "flow.a", "jitter"), first(1, "flow.a", "start"));
    }

    #[test]
    fn draws_of_a_seed_are_the_same_in_every_version() {
        let mut random = Random::new(7, "golden", "draws");
        let drawn = [random.bits(), random.bits(), random.bits()];
        assert_eq!(drawn, GOLDEN);
    }

    #[test]
    fn samples_have_the_mean_of_their_distribution() {
        let mut random = Random::new(1, "means", "");
        let n = 200_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        let uniform = mean(&mut || random.unit());
        assert!((uniform - 0.5).abs() < 0.005, "{uniform}");
        let exponential = mean(&mut || random.exponential(3.0));
        assert!((exponential - 3.0).abs() < 0.05, "{exponential}");
        let pareto = mean(&mut || random.pareto(3.0, 2.5));
        assert!((pareto - 3.0).abs() < 0.1, "{pareto}");
    }

    const GOLDEN: [u64; 3] =
        [6_735_571_482_254_099_331, 1_628_335_761_129_184_137, 16_558_382_259_928_853_871];
}
