//! The rate of SRMCC, computed from the maximum and minimum occupancy of the tree and the fair share. Pure functions.

use super::{MaxRateQueue, Params};

/// The constants of the controller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adaptation {
    pub(super) oth1: f64,
    pub(super) oth2: f64,
    pub(super) gamma: f64,
    pub(super) clamp_empty: bool,
    /// Maximum rate, in fair shares.
    pub(super) ceiling: f64,
    pub(super) o_min: MaxRateQueue,
}

/// The congestion state of a queue [SRMCC §4.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Empty.
    None = 0,
    Light = 1,
    Moderate = 2,
    Heavy = 3,
}

/// Measurements for an adaptation of the rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Maximum and minimum occupancy on the tree, 0 … 1. The maximum is below the minimum if no router measured.
    pub(super) o_max: f64,
    pub(super) o_min: f64,
    /// Minimum fair share on the tree, in bit/s; infinite if unknown.
    pub(super) fair: f64,
}

impl Adaptation {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            oth1: params.oth1,
            oth2: params.oth2,
            gamma: params.gamma,
            clamp_empty: params.clamp_empty,
            ceiling: params.ceiling,
            o_min: params.o_min,
        }
    }

    /// The congestion state of a queue [SRMCC §4.1, eq. 5].
    pub(super) fn state(&self, occupancy: f64) -> State {
        // 0: O = 0;  1: 0 < O ≤ Oth1;  2: Oth1 < O ≤ Oth2;  3: O > Oth2
        if occupancy <= 0.0 {
            State::None
        } else if occupancy <= self.oth1 {
            State::Light
        } else if occupancy <= self.oth2 {
            State::Moderate
        } else {
            State::Heavy
        }
    }

    /// The candidate rate of one queue: the next rate if it were the only queue, in bit/s [SRMCC §4.2, Algorithm 1].
    pub(super) fn candidate(&self, occupancy: f64, rate: f64, fair: f64) -> f64 {
        let (o, state) = (occupancy, self.state(occupancy));
        let raw = match state {
            // R(t+1) = 2·R(t)                                                        (eq. 6)
            State::None => 2.0 * rate,
            State::Light => {
                // w = 1 − ¾·O²/Oth1²                                                 (eq. 7)
                let share = o / self.oth1;
                step(rate, 1.0 - 0.75 * share * share, self.oth1, o)
            }
            // w = ¼·(O − Oth2)/(Oth1 − Oth2)                                         (eq. 8)
            State::Moderate => step(rate, 0.25 * (o - self.oth2) / (self.oth1 - self.oth2), self.oth2, o),
            // min(R·(1 + Oth2 − O), ½·R) while R ≥ R_fair; 2·R below it              (eq. 9)
            State::Heavy if rate >= fair => step(rate, 1.0, self.oth2, o).min(0.5 * rate),
            State::Heavy => 2.0 * rate,
        };
        // R(t+1) = min(R_cal, R_fair), which eq. 6 omits                              (eq. 4)
        if state == State::None && !self.clamp_empty { raw } else { raw.min(fair) }
    }

    /// The next rate, in bit/s [SRMCC §4.3].
    pub(super) fn next(&self, known: &Known, rate: f64) -> f64 {
        let Known { o_max, o_min, fair } = *known;
        // differs: the paper has no bound; a group whose own link is the bottleneck would double its rate without
        // limit. Without a fair share the rate does not grow
        let limit = if fair.is_finite() { self.ceiling * fair } else { rate };
        if o_max < o_min {
            // no router on the path measured
            return (2.0 * rate).min(fair).min(limit);
        }
        let o_min = match self.o_min {
            MaxRateQueue::Leaf => o_min,
            MaxRateQueue::Same => o_max,
        };
        let r_min = self.candidate(o_max, rate, fair);
        let r_max = self.candidate(o_min, rate, fair);
        // R(t+1) = R_min + γ·(R_max − R_min)                                         (eq. 10)
        (r_min + self.gamma * (r_max - r_min)).min(limit)
    }
}

/// R_cal(t+1) = R(t)·(1 + w·(Oth − O))                                                (eq. 3)
fn step(rate: f64, w: f64, threshold: f64, occupancy: f64) -> f64 {
    rate * (1.0 + w * (threshold - occupancy))
}
