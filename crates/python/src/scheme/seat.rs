//! What an environment and the controller of a flow share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use contract::Setup;
use units::Time;

use super::Allowance;
use super::inputs::{Summary, Tally};

/// What the environment and a controller share.
pub(crate) struct Seat {
    pub(super) tally: Tally,
    /// Set by the environment, and taken by the controller at its next event.
    pub(super) action: Option<contract::Allowance>,
    pub(super) setup: Setup,
}

impl Seat {
    /// What happened since the last call.
    pub(crate) fn close(&mut self, now: Time) -> Summary {
        self.tally.close(now)
    }

    /// Sets the window and the rate from now on.
    pub(crate) fn act(&mut self, action: Allowance) {
        self.action = Some(action.limits(self.setup.segment));
    }

    pub(crate) fn setup(&self) -> &Setup {
        &self.setup
    }
}

/// A seat, with the poison of a panic ignored.
pub(crate) fn taken(seat: &Mutex<Seat>) -> MutexGuard<'_, Seat> {
    seat.lock().unwrap_or_else(PoisonError::into_inner)
}
