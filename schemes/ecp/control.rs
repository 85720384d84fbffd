//! ECP at consumers: multiplicative increase, additive increase, multiplicative decrease, by the congestion level in
//! Data.

use contract::{Ack, Allowance, Congestion, CongestionControl, Cx, Setup};
use units::{Bytes, Segments};

use super::Params;

/// A consumer's window, in segments.
#[derive(Clone, Debug)]
pub struct Control {
    segment: Bytes,
    allowed: Bytes,
    window: f64,
    step: f64,
    keep: f64,
}

impl Control {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let initial = setup.initial_window.in_segments(setup.segment).0;
        let (step, keep) = (params.step, params.beta);
        let mut controller = Self { segment: setup.segment, allowed: Bytes::ZERO, window: 1.0, step, keep };
        controller.set(initial);
        controller
    }

    /// The window W.
    pub const fn window(&self) -> Segments {
        Segments(self.window)
    }

    fn set(&mut self, window: f64) {
        self.window = window.clamp(1.0, WIDEST);
        self.allowed = Segments(self.window).in_bytes_floor(self.segment);
    }
}

impl CongestionControl for Control {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        let level = ack.label.0[0];
        cx.probe("level", level.min(2) as f64);
        if ack.app_limited {
            return;
        }
        // the receiver adjusts by the level that the network feeds back: MIAIMD             [REN16, MA24 §2.1]
        match level {
            // our choice: free: W ← W + 1 with each Data, so that a round doubles it
            0 if !ack.marked => self.set(self.window + self.step),
            // our choice: busy: W ← W + 1/W
            1 if !ack.marked => self.set(self.window + 1.0 / self.window),
            // congested: the reduction follows its mark
            _ => {}
        }
    }

    #[cold]
    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        // our choice: congested: W ← W/2, once per window; the same after a NACK and a loss
        if event.first {
            self.set(self.window * self.keep);
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::window(self.allowed)
    }
}

/// Maximum window. Our choice: far above any path, so that growth on a free path ends.
const WIDEST: f64 = 1e6;
