//! Explicit rates at consumers: they send at the rate that Data carry.

use contract::{Ack, Allowance, Congestion, CongestionControl, Cx};
use units::Rate;

use crate::shared::offer;

/// The rate of a consumer.
#[derive(Clone, Debug)]
pub struct Control {
    rate: Rate,
}

impl Control {
    /// Starts at `rate`.
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

    /// No effect: the next Data carry the rate of the network.
    fn on_congestion(&mut self, _event: &Congestion, _cx: &mut Cx<'_>) {}

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::rate(self.rate)
    }
}
