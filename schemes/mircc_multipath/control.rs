//! MIRCC over several paths at a consumer: sends Interests at the sum of the rates of its paths.

use contract::{Ack, Allowance, Congestion, CongestionControl, Cx};
use units::Rate;

use super::paths::Paths;
use super::{Params, headers};

/// The consumer's part [MIRCC].
#[derive(Clone, Debug)]
pub struct Control {
    params: Box<Params>,
    paths: Paths,
    rate: Rate,
}

impl Control {
    /// The controller, with its parameters.
    pub(crate) fn new(params: &Params) -> Self {
        Self { rate: params.initial_rate, paths: Paths::default(), params: Box::new(params.clone()) }
    }
}

impl CongestionControl for Control {
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        let Some(offer) = headers::offered(ack.label) else { return };
        self.paths.on_offer(&offer, cx.now());
        let (mut total, mut secondary, mut count) = (0.0, 0.0, 0.0);
        for (_, share) in self.paths.shares(&self.params, cx.now()) {
            total += share.total();
            secondary += share.secondary;
            count += 1.0;
        }
        self.rate = Rate::from_bps_f64(total.max(1.0));
        cx.probe("total_rate", total);
        cx.probe("secondary_rate", secondary);
        cx.probe("known_paths", count);
    }

    /// No effect: the next Data carry the rates of the network.
    fn on_congestion(&mut self, _event: &Congestion, _cx: &mut Cx<'_>) {}

    fn allowance(&self) -> Allowance {
        Allowance::rate(self.rate)
    }

    fn on_access(&mut self, capacity: Rate) {
        if self.params.initial_rate == Rate::UNLIMITED {
            self.rate = capacity;
        }
    }
}
