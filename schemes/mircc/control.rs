//! MIRCC at a consumer: sends Interests at the rate that its Data carry.

use contract::{Ack, Allowance, Congestion, CongestionControl, Cx};
use units::Rate;

use super::Params;
use crate::shared::offer;

/// The consumer's law [KATO §3.1].
#[derive(Clone, Debug)]
pub struct Control {
    rate: Rate,
    /// It starts at the rate of its node's link.
    starts_at_capacity: bool,
}

impl Control {
    /// The law, with its parameters.
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

    /// Nothing: what the network can bear, the next Data says.
    fn on_congestion(&mut self, _event: &Congestion, _cx: &mut Cx<'_>) {}

    fn allowance(&self) -> Allowance {
        Allowance::rate(self.rate)
    }

    fn on_access(&mut self, capacity: Rate) {
        // R of the own node's upstream link is C as long as it is idle, and the node is a forwarder too   [MIRCC]
        if self.starts_at_capacity {
            self.rate = capacity;
        }
    }
}
