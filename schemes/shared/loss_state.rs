//! The time after a retransmission timeout in which Linux is in the state TCP_CA_Loss.

use contract::{Ack, Cause, Cut};

/// Whether data that were in flight at the last timeout are still to be acknowledged [Linux: TCP_CA_Loss].
#[derive(Clone, Copy, Debug, Default)]
pub struct LossState {
    /// Segments of them that are not yet acknowledged.
    unacked: u64,
}

impl LossState {
    /// A congestion event: a timeout begins the state, any other ends it.
    pub fn on_congestion(&mut self, cut: &Cut) {
        self.unacked = if cut.cause == Cause::Timeout { cut.flight.0.ceil() as u64 } else { 0 };
    }

    /// Whether the state lasts.
    #[inline]
    pub const fn is_active(&self) -> bool {
        self.unacked > 0
    }

    /// Counts an acknowledgement. Returns whether it ends the state.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) -> bool {
        let lasted = self.is_active();
        self.unacked = self.unacked.saturating_sub(u64::from(ack.packets));
        lasted && !self.is_active()
    }
}

#[cfg(test)]
mod tests {
    use contract::{Cause, Cut};
    use units::Segments;

    use super::LossState;
    use crate::shared::testing::{Bench, setup};

    /// Of three segments in flight at the timeout, one and then two are acknowledged.
    #[test]
    fn a_timeout_lasts_until_all_that_was_in_flight_is_acknowledged() {
        let (bench, mut state) = (Bench::new(), LossState::default());
        let controller = crate::reno::control(&Default::default(), &setup(10));
        let mut ack = bench.an_ack(&controller);
        assert!(!state.on_ack(&ack) && !state.is_active());
        state.on_congestion(&Cut { cause: Cause::Timeout, flight: Segments(2.5) });
        assert!(!state.on_ack(&ack) && state.is_active());
        ack.packets = 2;
        assert!(state.on_ack(&ack) && !state.is_active());
        assert!(!state.on_ack(&ack));
        state.on_congestion(&Cut { cause: Cause::Timeout, flight: Segments(5.0) });
        state.on_congestion(&Cut { cause: Cause::Loss, flight: Segments(5.0) });
        assert!(!state.is_active());
    }
}
