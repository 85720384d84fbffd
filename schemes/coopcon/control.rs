//! CoopCon at consumers: a window that is reduced by the level of marks.

use contract::{Ack, Allowance, Congestion, CongestionControl, Cx, Setup};
use units::{Bytes, Segments};

use super::Params;
use crate::shared::Gradual;

/// A consumer's window.
#[derive(Clone, Debug)]
pub struct Control {
    controller: Gradual,
    light: f64,
    heavy: f64,
}

impl Control {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        Self { controller: Gradual::new(setup), light: params.light, heavy: params.heavy }
    }

    /// The window W, in segments.
    pub const fn window(&self) -> Segments {
        self.controller.window()
    }
}

impl CongestionControl for Control {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, _cx: &mut Cx<'_>) {
        // our choice: ssthresh = W ← 0.9·W or 0.5·W, by the level of the mark
        let (light, heavy) = (self.light, self.heavy);
        self.controller.on_ack(ack, || if ack.label.0[0] >= 2 { heavy } else { light });
    }

    #[cold]
    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        self.controller.on_congestion(event, self.heavy);
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::window(self.controller.allowed())
    }

    fn ssthresh(&self) -> Bytes {
        self.controller.ssthresh()
    }
}
