//! FleCom at consumers: a window that is reduced by the amount in Data.

use contract::{Ack, Allowance, Congestion, CongestionControl, Cx, Setup};
use units::{Bytes, Segments};

use super::Params;
use crate::shared::Gradual;

/// A consumer's window.
#[derive(Clone, Debug)]
pub struct Control {
    controller: Gradual,
    loss: f64,
}

impl Control {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        Self { controller: Gradual::new(setup), loss: params.loss }
    }

    /// The window W, in segments.
    pub const fn window(&self) -> Segments {
        self.controller.window()
    }
}

impl CongestionControl for Control {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, _cx: &mut Cx<'_>) {
        // the step depends on the level of congestion                                     [MA24]
        // our choice: ssthresh = W ← (1 − cut)·W
        let cut = f64::from_bits(ack.label.0[0]);
        self.controller.on_ack(ack, || 1.0 - if cut > 0.0 { cut.min(1.0) } else { 0.0 });
    }

    #[cold]
    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        self.controller.on_congestion(event, self.loss);
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::window(self.controller.allowed())
    }

    fn ssthresh(&self) -> Bytes {
        self.controller.ssthresh()
    }
}
