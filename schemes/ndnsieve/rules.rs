//! Rules that all parts share: states, occupancies, metrics, and the profiles.

use contract::MILLION;
use units::{Duration, math};

use super::{Detection, Level, Moves, Params, Profile, Refresh, Steps};

/// The parameters after the profile is applied.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rules {
    pub(crate) th1: f64,
    pub(crate) th2: f64,
    /// Backlog in packets of which th2 is the share; `None` for the queue limit.
    pub(crate) severe: Option<u32>,
    /// Detection period; `None` for a decision at every departure.
    pub(crate) detection: Option<Duration>,
    /// Whether the window changes once per round after the first mark.
    pub(crate) rounds: bool,
    pub(crate) share: f64,
    /// Whether only moves are allowed that balance the number of prefixes on next hops.
    pub(crate) counts: bool,
    /// Whether new statuses refresh metrics.
    pub(crate) refreshes: bool,
    pub(crate) max_age: Duration,
}

impl Rules {
    pub(crate) fn new(params: &Params) -> Self {
        let literal = params.profile == Profile::Literal;
        let packets = match params.level {
            Level::Profile => !literal,
            Level::Limit => false,
            Level::Packets => true,
        };
        let period = match params.detection {
            Detection::Profile => !literal,
            Detection::Departure => false,
            Detection::Period => true,
        };
        let rounds = match params.steps {
            Steps::Profile => !literal,
            Steps::Data => false,
            Steps::Round => true,
        };
        let counts = match params.moves {
            Moves::Profile => !literal,
            Moves::Any => false,
            Moves::Count => true,
        };
        let refreshes = match params.refresh {
            Refresh::Profile => literal,
            Refresh::Signal => false,
            Refresh::Status => true,
        };
        Self {
            th1: params.th1,
            th2: params.th2,
            severe: packets.then_some(params.severe),
            detection: period.then_some(params.detection_period),
            rounds,
            share: params.share,
            counts,
            refreshes,
            max_age: params.max_age,
        }
    }

    /// ε of a queue of `backlog` packets, which is the share `filled` of the limit [SIEVE eq. 2].
    pub(crate) fn occupancy(&self, backlog: u32, filled: f64) -> f64 {
        // ε = q / Q                                                                                 [SIEVE eq. 2]
        match self.severe {
            None => filled,
            // differs: Q is the queue length for which th2 is severe, not the limit
            Some(0) => f64::from(backlog.min(1)),
            Some(severe) => (f64::from(backlog) * self.th2 / f64::from(severe)).min(1.0),
        }
    }

    /// Whether congestion is severe.
    pub(crate) fn is_severe(&self, backlog: u32, filled: f64) -> bool {
        match self.severe {
            None => filled > self.th2,
            // the same without rounding: th2 · q / severe > th2
            Some(severe) => backlog > severe,
        }
    }

    /// The state of a link [SIEVE Table 2]. Equality, which the table omits, belongs to the lower state.
    pub(crate) fn state(&self, load: f64, backlog: u32, filled: f64) -> State {
        match (load > self.th1, self.is_severe(backlog, filled)) {
            (_, true) => State::Severe,
            (true, false) => State::Mild,
            (false, false) => State::Free,
        }
    }

    /// Number of `prefixes` on a congested link to move [SIEVE Algorithm 1].
    pub(crate) fn prefixes_to_move(&self, prefixes: usize) -> usize {
        // Num = max(1, ⌊a · FIBNum⌋)                                                                [SIEVE Algorithm 1]
        ((self.share * prefixes as f64) as usize).max(1)
    }
}

/// State of a link [SIEVE Table 2].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// No action.
    Free,
    /// The controller moves a prefix.
    Mild,
    /// Consumers are notified by marks.
    Severe,
}

/// The contribution of a link to the metric of a path [SIEVE eq. 3].
pub(crate) fn metric(load: f64, occupancy: f64) -> f64 {
    // metric = β · 10 · e^ε                                                                         [SIEVE eq. 3]
    load * 10.0 * math::exp(occupancy)
}

/// A metric in an order, in thousandths.
pub(crate) fn cost(metric: f64) -> u32 {
    (metric * 1000.0).round().clamp(0.0, f64::from(MAX)) as u32
}

/// Maximum cost. A next hop that is unknown, or that no prefix may move to now, costs at least as much as the current
/// one.
pub(crate) const MAX: u32 = u32::MAX / 2;

/// Whether a prefix may move from a next hop with `here` prefixes to one with `there`.
pub(crate) fn improves_balance(here: usize, there: usize, was_moved: bool) -> bool {
    // n(f) − n(g) ≥ 2, or n(f) − n(g) = 1 and it was never moved                                    [MODEL]
    here >= there + 2 || (here == there + 1 && !was_moved)
}

/// Millionths of a status as a ratio.
pub(crate) fn ratio(millionths: u32) -> f64 {
    f64::from(millionths) / f64::from(MILLION)
}
