//! At the consumers: they ask at the rate that Data offer.

use contract::{Ack, Allowance, Congestion, CongestionControl, Cx};
use units::Rate;

use crate::shared::offer;

/// A consumer's rate.
#[derive(Clone, Debug)]
pub struct Control {
    rate: Rate,
}

impl Control {
    /// Begins at `rate`.
    pub const fn new(rate: Rate) -> Self {
        Self { rate }
    }
}

impl CongestionControl for Control {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        // the minimum of the rates that all routers report                                  [KATO §2]
        if let Some(rate) = offer::offered(ack.label) {
            self.rate = rate;
            cx.probe("offered_rate", rate.as_bps_f64());
        }
    }

    /// Nothing: the next Data says what the network can carry.
    fn on_congestion(&mut self, _event: &Congestion, _cx: &mut Cx<'_>) {}

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::rate(self.rate)
    }
}
