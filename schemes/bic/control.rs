//! BIC's window. Windows are in segments.
//!
//! It does not use the common slow start: slow start ends at a window, not at a threshold, and below that window the rule is a different one.

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Setup};
use units::{Bytes, Duration, Segments};

use super::Params;

contract::choice! {
    /// What a timeout does.
    pub enum OnTimeout {
        /// The window is cut as after any loss.
        Cut = "cut",
        /// It is cut, and one segment is left; the window comes back in slow start.
        Restart = "restart",
    }
}

/// Binary increase.
#[derive(Clone, Debug)]
pub struct Bic {
    segment: Bytes,
    /// The window in bytes.
    allowed: Bytes,
    initial: f64,
    beta: f64,
    low: f64,
    max_increment: f64,
    on_timeout: OnTimeout,
    state: State,
    /// What there was before the last cut.
    before: Option<State>,
}

/// What moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct State {
    /// W.
    pub window: f64,
    pub threshold: f64,
    /// Where the search ends.
    pub max: f64,
    /// Where it begins.
    pub min: f64,
    /// Half way.
    pub target: f64,
    /// Beyond `max` it searches ever faster.
    pub probing: bool,
    /// By this many segments per round trip.
    pub step: f64,
    /// Until here; then the step is doubled.
    pub goal: f64,
}

impl Bic {
    /// The law, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let initial = setup.initial_window.in_segments(setup.segment).max(Segments(1.0)).0;
        let state = State {
            window: initial,
            threshold: f64::INFINITY,
            max: f64::INFINITY,
            min: 0.0,
            target: 0.0,
            probing: false,
            step: 0.0,
            goal: 0.0,
        };
        let mut law = Self {
            segment: setup.segment,
            allowed: Bytes::ZERO,
            initial,
            beta: params.beta,
            low: params.low_window,
            max_increment: params.max_increment,
            on_timeout: params.on_timeout,
            state,
            before: None,
        };
        law.set(initial);
        law
    }

    /// W, in segments.
    pub const fn window(&self) -> Segments {
        Segments(self.state.window)
    }

    #[cfg(test)]
    pub(super) const fn state(&self) -> &State {
        &self.state
    }

    #[inline]
    fn set(&mut self, window: f64) {
        self.state.window = window.clamp(1.0, WIDEST);
        self.allowed = Segments(self.state.window).in_bytes_floor(self.segment);
    }

    /// One segment more is known delivered.
    #[inline]
    fn grow(&mut self) {
        let Self { low, max_increment, state: s, .. } = self;
        let w = s.window;
        let grown = if w < *low {
            // W < 14: +1 up to ssthresh, then +1/W                                       [NDNSIM, XHR04 §III]
            if w <= s.threshold { w + 1.0 } else { w + 1.0 / w }
        } else if s.probing {
            // beyond the maximum: +step/W; at the goal the step is doubled               [NDNSIM, XHR04 §III]
            let grown = w + s.step / w;
            if grown >= s.goal {
                s.step *= 2.0;
                s.goal = grown + s.step;
                s.probing = s.step < *max_increment;
            }
            grown
        } else {
            // half way to the target within a round trip, by 16 at most                  [NDNSIM, XHR04 §III]
            let distance = s.target - w;
            let grown = w + if distance < *max_increment { distance } else { *max_increment } / w;
            if grown + EPSILON < s.max {
                s.min = grown;
                s.target = (s.max + s.min) / 2.0;
            } else {
                s.probing = true;
                s.step = 1.0;
                s.goal = grown + 1.0;
                s.max = f64::INFINITY;
            }
            grown
        };
        self.set(grown);
    }

    fn cut(&mut self) {
        self.before = Some(self.state);
        let Self { beta, low, state: s, .. } = self;
        let w = s.window;
        if w >= *low {
            // max = W, W ← β·W, min = W; a maximum below the last one makes room for others      [NDNSIM, XHR04 §III]
            let old = std::mem::replace(&mut s.max, w);
            s.min = w * *beta;
            if old > s.max {
                s.max = (s.max + s.min) / 2.0;
            }
            s.target = (s.max + s.min) / 2.0;
        } else {
            // ssthresh = W = β·W                                                          [NDNSIM]
            s.threshold = w * *beta;
        }
        let kept = w * *beta;
        self.set(kept);
    }
}

impl CongestionControl for Bic {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, _cx: &mut Cx<'_>) {
        // differs: the window stands still while it is not filled, while losses are repaired, and with a mark
        if ack.recovering || ack.marked || ack.app_limited {
            return;
        }
        // our choice: an acknowledgement of several segments counts once, as in slow start of RFC 5681 with delayed ones
        self.grow();
    }

    #[cold]
    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        if event.first {
            self.cut();
        }
        if event.cause == Cause::Timeout && self.on_timeout == OnTimeout::Restart {
            self.set(1.0);
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::window(self.allowed)
    }

    fn on_spurious(&mut self, _cx: &mut Cx<'_>) {
        if let Some(before) = self.before.take() {
            let window = self.state.window.max(before.window);
            self.state = before;
            self.set(window);
        }
    }

    /// After a silence the window is at most the initial one, as RFC 5681 has it for TCP.
    fn on_idle(&mut self, _idle: Duration, _cx: &mut Cx<'_>) {
        if self.state.window > self.initial {
            self.set(self.initial);
        }
    }

    fn ssthresh(&self) -> Bytes {
        if self.state.threshold == f64::INFINITY {
            Bytes::UNLIMITED
        } else {
            Segments(self.state.threshold.max(1.0)).in_bytes_floor(self.segment)
        }
    }
}

/// So near to the maximum counts as there [NDNSIM].
const EPSILON: f64 = 1e-5;
/// Our choice: far above any path, so that one without loss ends.
const WIDEST: f64 = 1e7;
