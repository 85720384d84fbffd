//! MIRCC at a consumer: sends Interests at the rate that its Data carry.

use contract::{Ack, Allowance, Congestion, CongestionControl, Cx};
use units::Rate;

use super::Params;
use crate::shared::offer;

/// The consumer's part [KATO §3.1].
#[derive(Clone, Debug)]
pub struct Control {
    rate: Rate,
    /// Whether it starts at the rate of its node's link.
    starts_at_capacity: bool,
}

impl Control {
    /// The controller, with its parameters.
    pub(crate) fn new(params: &Params) -> Self {
        Self { rate: params.initial_rate, starts_at_capacity: params.initial_rate == Rate::UNLIMITED }
    }
}

impl CongestionControl for Control {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        // rate = Data.rate                                                                   [KATO §3.1 (4)]
        if let Some(rate) = offer::offered(ack.label) {
            self.rate = rate;
            cx.probe("offered_rate", rate.as_bps_f64());
        }
    }

    /// No effect: the next Data carry the rate of the network.
    fn on_congestion(&mut self, _event: &Congestion, _cx: &mut Cx<'_>) {}

    fn allowance(&self) -> Allowance {
        Allowance::rate(self.rate)
    }

    fn on_access(&mut self, capacity: Rate) {
        // R of an idle upstream link is C, and the consumer's node is a forwarder as well   [MIRCC]
        if self.starts_at_capacity {
            self.rate = capacity;
        }
    }
}
