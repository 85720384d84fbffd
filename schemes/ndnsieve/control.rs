//! ndnSieve at a consumer: additive increase and additive decrease.

use contract::{Ack, Allowance, Congestion, CongestionControl, Cx, Setup};
use units::{Bytes, Time};

use super::rules::Rules;

/// The consumer's part [SIEVE §4.3].
#[derive(Clone, Debug)]
pub struct Control {
    data: Bytes,
    /// cwnd, in Data packets.
    window: u64,
    phase: Phase,
}

/// The treatment of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Every Data packet changes the window, always.
    EveryData,
    /// Every Data packet changes the window, until the first mark.
    Start,
    /// Excess data in flight drain: marks reduce the window one by one, until the first Data without a mark.
    Drain,
    /// The window changes once per round. A round ends with Data whose Interest was sent after its start.
    Rounds {
        /// Start of the round.
        since: Time,
        /// Whether Data of the round were marked.
        marked: bool,
    },
}

impl Control {
    pub(crate) fn new(rules: &Rules, setup: &Setup) -> Self {
        Self {
            data: setup.segment,
            // a consumer of ndnSIM starts with a window of 1; the scenario's setting has priority
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
            // differs: until the first mark every Data packet changes the window, then the excess drains mark by mark
            Phase::Start => {
                self.step(ack.marked);
                if ack.marked {
                    self.phase = Phase::Drain;
                }
            }
            Phase::Drain if ack.marked => self.step(true),
            Phase::Drain => self.phase = Phase::Rounds { since: now, marked: false },
            // differs: afterwards the window changes once per round, up unless Data of the round were marked
            Phase::Rounds { since, marked } => {
                let marked = marked || ack.marked;
                // the first Interest of a retransmitted segment may be from before the round
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

    /// No effect: marks are handled with their Data, and a timeout, which is our addition, does not change the window.
    fn on_congestion(&mut self, _event: &Congestion, _cx: &mut Cx<'_>) {}

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::window(self.data * self.window)
    }
}
