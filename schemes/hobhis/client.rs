//! HoBHIS at a client: sends at the rate that the routers of its path allow. Reconstructed [RF14].

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx};
use units::Rate;

use super::Params;

/// Sends at the rate in the last Data.
#[derive(Clone, Debug)]
pub struct Client {
    rate: Rate,
    start: Rate,
    min: Rate,
    follows: bool,
}

impl Client {
    /// The controller, with its parameters.
    pub const fn new(params: &Params) -> Self {
        Self {
            rate: params.initial_rate,
            start: params.initial_rate,
            min: params.min_rate,
            follows: params.client,
        }
    }
}

impl CongestionControl for Client {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, _cx: &mut Cx<'_>) {
        // the minimum of the path's shaping rates; zero if no router wrote one                 [RF14]
        let written = ack.label.0[0];
        if self.follows && written != 0 {
            self.rate = Rate::from_bps(written.min(MAX)).max(self.min);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        // our choice: a client without answers restarts
        if self.follows && event.cause == Cause::Timeout && event.first {
            self.rate = self.rate.min(self.start);
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::rate(self.rate)
    }
}

/// Maximum rate, in bit/s.
const MAX: u64 = 1 << 42;
