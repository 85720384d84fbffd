//! Datagram sources without congestion control: constant rate, Poisson, on/off. And the sink that counts them.

use units::{Bytes, Duration, Rate};

/// Settings of one source.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Size of a datagram on the wire.
    pub packet: Bytes,
    /// When datagrams leave.
    pub pattern: Pattern,
}

/// When datagrams leave. Rates include headers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// Evenly.
    Constant {
        /// Mean rate.
        rate: Rate,
    },
    /// With exponential gaps.
    Poisson {
        /// Mean rate.
        rate: Rate,
    },
    /// Evenly during on-times, not at all during off-times. Begins with an on-time.
    OnOff {
        /// Rate while on.
        rate: Rate,
        /// Length of an on-time.
        on: Spell,
        /// Length of an off-time.
        off: Spell,
    },
}

/// The random length of an on- or off-time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spell {
    /// Always the same.
    Constant(Duration),
    /// Exponential with this mean.
    Exponential(Duration),
    /// Pareto with this mean and shape > 1.
    Pareto {
        /// Mean.
        mean: Duration,
        /// Shape; the tail is heavy below 2.
        shape: f64,
    },
}

impl Spell {
    /// Draws one length.
    pub fn draw(&self, random: &mut contract::Random) -> Duration {
        match *self {
            Self::Constant(length) => length,
            Self::Exponential(mean) => Duration::from_secs_f64(random.exponential(mean.as_secs_f64())),
            Self::Pareto { mean, shape } => Duration::from_secs_f64(random.pareto(mean.as_secs_f64(), shape)),
        }
    }
}
