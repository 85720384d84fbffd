//! CHoPCoP at consumers: receiver Interest control, an AIMD window that reacts to marks.

use contract::{Ack, Allowance, Congestion, CongestionControl, Cx, Setup};
use units::{Bytes, Segments};

use super::Params;
use crate::shared::Gradual;

/// A consumer's window [ZHANG14: receiver Interest control].
#[derive(Clone, Debug)]
pub struct Control {
    controller: Gradual,
    keep: f64,
}

impl Control {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        Self { controller: Gradual::new(setup), keep: params.beta }
    }

    /// The window W, in segments.
    pub const fn window(&self) -> Segments {
        self.controller.window()
    }
}

impl CongestionControl for Control {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, _cx: &mut Cx<'_>) {
        // consumer: AIMD                                                                  [MA24 Table 1]
        // our choice: slow start, then +1/W; W ← W/2 with marked Data, once per window
        let keep = self.keep;
        self.controller.on_ack(ack, || keep);
    }

    #[cold]
    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        // our choice: a timeout halves as a mark does
        self.controller.on_congestion(event, self.keep);
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::window(self.controller.allowed())
    }

    fn ssthresh(&self) -> Bytes {
        self.controller.ssthresh()
    }
}
