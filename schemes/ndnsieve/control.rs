//! ndnSieve at a consumer: additive increase and additive decrease.

use contract::{Ack, Allowance, Congestion, CongestionControl, Cx, Setup};
use units::{Bytes, Time};

use super::rules::Rules;

/// The consumer's window [SIEVE §4.3].
#[derive(Clone, Debug)]
pub struct Control {
    data: Bytes,
    /// cwnd, in Data packets.
    window: u64,
    phase: Phase,
}

/// How marks are heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Every Data packet counts, always.
    EveryData,
    /// Every Data packet counts, until the first mark.
    Start,
    /// What was asked for too much drains: marks count one by one, until the first Data without.
    Drain,
    /// A round counts once. It ends with Data that was asked for after it began.
    Rounds {
        /// When it began.
        since: Time,
        /// Some Data of it was marked.
        marked: bool,
    },
}

impl Control {
    pub(crate) fn new(rules: &Rules, setup: &Setup) -> Self {
        Self {
            data: setup.segment,
            // the window of a consumer of ndnSIM starts at 1; what the scenario says goes before
            window: (setup.initial_window.as_u64() / setup.segment.as_u64().max(1)).max(1),
            phase: if rules.rounds { Phase::Start } else { Phase::EveryData },
        }
    }

    /// cwnd, in Data packets.
    #[cfg(test)]
    pub(crate) const fn window(&self) -> u64 {
        self.window
    }

    fn step(&mut self, marked: bool) {
        self.window = match marked {
            // cwnd ← cwnd + 1                                                                       [SIEVE eq. 4]
            false => self.window + 1,
            // cwnd ← cwnd − 1                                                                       [SIEVE eq. 5]
            true => (self.window - 1).max(1),
        };
    }
}

impl CongestionControl for Control {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        let now = cx.now();
        match self.phase {
            Phase::EveryData => self.step(ack.marked),
            // differs: until the first mark every Data packet counts, and what was too much drains mark by mark
            Phase::Start => {
                self.step(ack.marked);
                if ack.marked {
                    self.phase = Phase::Drain;
                }
            }
            Phase::Drain if ack.marked => self.step(true),
            Phase::Drain => self.phase = Phase::Rounds { since: now, marked: false },
            // differs: afterwards the window moves once a round, up unless some Data of the round was marked
            Phase::Rounds { since, marked } => {
                let marked = marked || ack.marked;
                // what was asked for twice may have been asked for before the round
                let ended = ack.rtt.is_some() && ack.sent_at > since;
                if ended {
                    self.step(marked);
                }
                self.phase = match ended {
                    true => Phase::Rounds { since: now, marked: false },
                    false => Phase::Rounds { since, marked },
                };
            }
        }
    }

    /// Nothing: marks are heard with their Data, and a timeout is our addition, which leaves the window as it is.
    fn on_congestion(&mut self, _event: &Congestion, _cx: &mut Cx<'_>) {}

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::window(self.data * self.window)
    }
}
