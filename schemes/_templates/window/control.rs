//! The window law: how the window grows in congestion avoidance, and what a loss leaves of it.

use contract::{Ack, Cut, Cx, WindowLaw};
use units::Segments;

use super::Params;

/// What the law remembers between acknowledgements.
#[derive(Clone, Debug)]
pub struct Template {
    beta: f64,
}

impl Template {
    /// The law, with its parameters.
    pub fn new(params: &Params) -> Self {
        Self { beta: params.beta }
    }
}

impl WindowLaw for Template {
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
