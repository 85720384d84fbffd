//! RAAQM at a consumer. Windows are in segments.

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Setup};
use units::{Bytes, Duration, Segments, Time};

use super::Params;
use crate::shared::Recent;

contract::choice! {
    /// The effect of a lost or refused Interest on the window.
    pub enum Decrease {
        /// A reduction each time.
        Each = "each",
        /// A reduction at the first of an episode.
        Episode = "episode",
        /// None.
        None = "none",
    }
}

/// The congestion controller RAAQM: remote adaptive active queue management.
#[derive(Clone, Debug)]
pub struct Raaqm {
    params: Params,
    segment: Bytes,
    /// The window W.
    window: f64,
    allowed: Bytes,
    /// Sorted by label.
    paths: Vec<Path>,
}

/// The state of a path.
#[derive(Clone, Debug)]
struct Path {
    label: u64,
    recent: Recent,
    heard_at: Time,
}

impl Raaqm {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let mut controller = Self {
            params: params.clone(),
            segment: setup.segment,
            window: 1.0,
            allowed: Bytes::ZERO,
            paths: Vec::new(),
        };
        controller.set(setup.initial_window.in_segments(setup.segment).0);
        controller
    }

    /// The window W, in segments.
    pub const fn window(&self) -> Segments {
        Segments(self.window)
    }

    /// Number of known paths.
    pub const fn paths(&self) -> usize {
        self.paths.len()
    }

    #[inline]
    fn set(&mut self, window: f64) {
        self.window = window.min(f64::from(self.params.max_window)).max(1.0);
        self.allowed = Segments(self.window).in_bytes_floor(self.segment);
    }

    /// The index of the path of a label; a new one if there is none.
    fn path(&mut self, label: u64) -> usize {
        match self.paths.binary_search_by_key(&label, |path| path.label) {
            Ok(at) => at,
            Err(mut at) => {
                if self.paths.len() >= self.params.paths as usize {
                    let stalest = (0..self.paths.len()).min_by_key(|at| self.paths[*at].heard_at);
                    let stalest = stalest.expect("there is room for one path at least");
                    self.paths.remove(stalest);
                    at -= usize::from(stalest < at);
                }
                let recent = Recent::new(self.params.samples);
                self.paths.insert(at, Path { label, recent, heard_at: Time::ZERO });
                at
            }
        }
    }

    /// W ← (1 − b)·W, if that stays above 1                                             [HICN, CCNPL]
    fn cut(&mut self) {
        let reduced = self.window * self.params.beta;
        if reduced > 1.0 {
            self.set(reduced);
        }
    }
}

/// The probability of a reduction at a round-trip time.
pub(super) fn probability(rtt: Duration, recent: &Recent, params: &Params) -> f64 {
    if !recent.is_full() {
        return 0.0;
    }
    let (min, max) = (recent.min(), recent.max());
    if max == min {
        return params.p_min;
    }
    // p = p_min + Δp·(m − min_r)/(max_r − min_r)                                        [CGMPW13, HICN, CCNPL]
    let above = rtt.saturating_sub(min).as_secs_f64() / (max - min).as_secs_f64();
    params.p_min + params.delta_p * above
}

impl CongestionControl for Raaqm {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        let now = cx.now();
        // our choice: no growth with Data for which the window was not full
        if !ack.app_limited {
            // W ← W + η/W                                                              [HICN, CCNPL]
            self.set(self.window + self.params.eta * f64::from(ack.packets) / self.window);
        }
        let Some(rtt) = ack.rtt else { return };
        let at = self.path(ack.label.0[0]);
        let path = &mut self.paths[at];
        path.heard_at = now;
        path.recent.push(rtt);
        let p = probability(rtt, &path.recent, &self.params);
        cx.probe("decrease_probability", p);
        if p > 0.0 && cx.random().chance(p) {
            self.cut();
        }
    }

    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        // our choice: a NACK counts as a timeout; marks are ignored, because no source describes them
        let data_arrived = event.cause != Cause::Mark;
        let cuts = match self.params.losses {
            Decrease::Each => data_arrived,
            Decrease::Episode => data_arrived && event.first,
            Decrease::None => false,
        };
        if cuts {
            self.cut();
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::window(self.allowed)
    }
}
