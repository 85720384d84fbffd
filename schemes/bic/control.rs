//! BIC's window, in segments.
//!
//! It does not use the common slow start, because slow start ends at a window instead of a threshold, and has another
//! rule below that window.

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Idle, Setup};
use units::{Bytes, Segments};

use super::Params;

contract::choice! {
    /// The effect of a timeout.
    pub enum OnTimeout {
        /// A reduction, as after any loss.
        Cut = "cut",
        /// A reduction to one segment, then slow start to the threshold.
        Restart = "restart",
    }
}

contract::choice! {
    /// The algorithm.
    pub enum Variant {
        /// The algorithm of consumers of named data.
        Ndn = "ndn",
        /// The algorithm of Linux.
        Linux = "linux",
    }
}

/// The congestion controller BIC.
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
    /// The state before the last reduction, which a spurious one restores. Beside the others, because few packets need
    /// it.
    undo: Option<Box<State>>,
}

/// The variables of BIC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct State {
    /// The window W.
    pub window: f64,
    pub threshold: f64,
    /// Upper end of the binary search.
    pub max: f64,
    /// Lower end of the binary search.
    pub min: f64,
    /// The middle of the binary search.
    pub target: f64,
    /// Above `max`, the search continues with growing steps.
    pub probing: bool,
    /// Segments per round trip in these steps.
    pub step: f64,
    /// The window at which the step is doubled.
    pub goal: f64,
}

impl Bic {
    /// The controller, with its parameters.
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
        let mut controller = Self {
            segment: setup.segment,
            allowed: Bytes::ZERO,
            initial,
            beta: params.beta,
            low: params.low_window,
            max_increment: params.max_increment,
            on_timeout: params.on_timeout,
            state,
            undo: None,
        };
        controller.set(initial);
        controller
    }

    /// The window W, in segments.
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

    /// Handles one delivered segment.
    #[inline]
    fn grow(&mut self) {
        let Self { low, max_increment, state: s, .. } = self;
        let w = s.window;
        let next = if w < *low {
            // W < 14: +1 up to ssthresh, then +1/W                                       [NDNSIM, XHR04 §III]
            if w <= s.threshold { w + 1.0 } else { w + 1.0 / w }
        } else if s.probing {
            // above the maximum: +step/W; at the goal the step is doubled                [NDNSIM, XHR04 §III]
            let next = w + s.step / w;
            if next >= s.goal {
                s.step *= 2.0;
                s.goal = next + s.step;
                s.probing = s.step < *max_increment;
            }
            next
        } else {
            // half the distance to the target per round trip, at most 16 segments        [NDNSIM, XHR04 §III]
            let distance = s.target - w;
            let next = w + if distance < *max_increment { distance } else { *max_increment } / w;
            if next + EPSILON < s.max {
                s.min = next;
                s.target = (s.max + s.min) / 2.0;
            } else {
                s.probing = true;
                s.step = 1.0;
                s.goal = next + 1.0;
                s.max = f64::INFINITY;
            }
            next
        };
        self.set(next);
    }

    fn cut(&mut self) {
        match &mut self.undo {
            Some(undo) => **undo = self.state,
            None => self.undo = Some(Box::new(self.state)),
        }
        let Self { beta, low, state: s, .. } = self;
        let w = s.window;
        if w >= *low {
            // max = W, W ← β·W, min = W; a maximum below the last one releases bandwidth        [NDNSIM, XHR04 §III]
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
        let reduced = w * *beta;
        self.set(reduced);
    }
}

impl CongestionControl for Bic {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, _cx: &mut Cx<'_>) {
        // differs: no growth while the window is not full, in recovery, and with a mark
        if ack.recovering || ack.marked || ack.app_limited {
            return;
        }
        // our choice: an acknowledgement of several segments counts once, as in slow start of RFC 5681 with delayed
        // ACKs
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
        if let Some(undo) = self.undo.take() {
            let window = self.state.window.max(undo.window);
            self.state = *undo;
            self.set(window);
        }
    }

    /// After an idle time the window is at most the initial window, as in RFC 5681 §4.1, or halved.
    fn on_idle(&mut self, idle: &Idle, _cx: &mut Cx<'_>) {
        if self.state.window > self.initial {
            self.set(idle.restart(self.state.window, self.initial));
        }
    }

    /// The window goes half of the way to what is used of it, at least the initial window (RFC 2861 §3.2).
    fn on_unused(&mut self, used: Bytes, _cx: &mut Cx<'_>) {
        let used = used.in_segments(self.segment).0.max(self.initial);
        if used < self.state.window {
            self.set((self.state.window + used) / 2.0);
        }
    }

    fn ssthresh(&self) -> Bytes {
        Segments(self.state.threshold.max(1.0)).in_bytes_floor(self.segment)
    }
}

/// Maximum distance from the maximum that counts as reached [NDNSIM].
const EPSILON: f64 = 1e-5;
/// Maximum window. Our choice: far above any path, so that growth without loss ends.
const WIDEST: f64 = 1e7;
