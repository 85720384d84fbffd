//! The window rules of AIMD.

use contract::{Ack, Cut, Cx, WindowUpdate};
use units::Segments;

use super::Params;

/// Additive increase by `a`, multiplicative decrease to `b`.
#[derive(Clone, Debug)]
pub struct Aimd {
    a: f64,
    b: f64,
}

impl Aimd {
    /// The controller, with its parameters.
    pub fn new(params: &Params) -> Self {
        Self { a: params.a, b: params.b }
    }
}

impl WindowUpdate for Aimd {
    #[inline]
    fn congestion_avoidance(&mut self, window: Segments, ack: &Ack, _cx: &mut Cx<'_>) -> Segments {
        // W ← W + a/W for each segment acknowledged                                 [YL00 §2]
        Segments(window.0 + self.a * f64::from(ack.packets) / window.0)
    }

    fn ssthresh(&mut self, window: Segments, _cut: &Cut, _cx: &mut Cx<'_>) -> Segments {
        // W ← b·W                                                                   [YL00 §2, CJ89 §3]
        Segments(self.b * window.0)
    }
}
