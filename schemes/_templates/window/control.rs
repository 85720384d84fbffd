//! The window update: growth in congestion avoidance, and the reduction after a loss.

use contract::{Ack, Cut, Cx, WindowUpdate};
use units::Segments;

use super::Params;

/// The state of the controller.
#[derive(Clone, Debug)]
pub struct Template {
    beta: f64,
}

impl Template {
    /// The controller, with its parameters.
    pub fn new(params: &Params) -> Self {
        Self { beta: params.beta }
    }
}

impl WindowUpdate for Template {
    #[inline]
    fn congestion_avoidance(&mut self, window: Segments, _ack: &Ack, _cx: &mut Cx<'_>) -> Segments {
        // cwnd += SMSS·SMSS/cwnd                                                    [RFC5681 §3.1, eq. 3]
        Segments(window.0 + 1.0 / window.0)
    }

    fn ssthresh(&mut self, _window: Segments, cut: &Cut, _cx: &mut Cx<'_>) -> Segments {
        // ssthresh = max(FlightSize/2, 2·SMSS)                                      [RFC5681 §3.1, eq. 4]
        Segments(self.beta * cut.flight.0)
    }
}
