//! Aggregation of several messages into one.

use units::{Rate, Time};

use super::headers::{Mcc, rounds_between};

/// The aggregate of messages: maximum and minimum occupancy, minimum fair share [SRMCC §3.2, Fig. 3].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MessageAggregate {
    pub(super) max: f64,
    pub(super) min: f64,
    pub(super) fair: Rate,
    /// Maximum time from the source to a member and back to this node, in nanoseconds; `None` without messages. At a
    /// router it contains the clock offset, which is the same for all members and cancels at the source.
    pub(super) age_ns: Option<i64>,
    /// Newest round.
    pub(super) round: Option<u32>,
}

impl MessageAggregate {
    /// The empty aggregate, and the message of a receiver if no router measured.
    pub(super) const NOTHING: Self =
        Self { max: 0.0, min: 1.0, fair: Rate::UNLIMITED, age_ns: None, round: None };

    /// Adds a message that arrived now.
    pub(super) fn add(&mut self, mcc: &Mcc, now: Time) {
        self.measured(mcc.max_qocc, mcc.min_qocc, mcc.min_fair);
        // the slowest member, whatever the time of its message: hold times do not count
        self.age_ns = self.age_ns.max(Some(now.as_nanos().wrapping_sub(mcc.t_echo.as_nanos()) as i64));
        self.round = match self.round {
            Some(round) if rounds_between(round, mcc.round) <= 0 => Some(round),
            _ => Some(mcc.round),
        };
    }

    /// Adds occupancies and a fair share. After all nodes and members of the tree, `fair` is R_fair.
    pub(super) fn measured(&mut self, max: f64, min: f64, fair: Rate) {
        self.max = self.max.max(max);
        self.min = self.min.min(min);
        // R_fair-shared = min(C_i / N_i(t), C_access)                                 (eq. 2)
        self.fair = self.fair.min(fair);
    }
}
