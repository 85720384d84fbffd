//! CoopCon in forwarders: PCON's shares, which move for heavy marks only, and return when the congestion has ended.

use contract::{ArrivingData, ArrivingInterest, Ecn, FibEntry, Name, Pending, Strategy, StrategyCx};
use units::{Duration, Time};

use super::Params;
use crate::pcon::Retransmissions;
use crate::shared::{Split, SplitRules};

/// The strategy of a node.
#[derive(Clone, Debug)]
pub struct Resilient {
    split: Split,
    change: f64,
    recovery_time: Duration,
    /// By number of the FIB entry: the last mark, or the last return of shares.
    uncongested_since: Vec<Time>,
    /// Number of examined Data.
    examined: u64,
}

impl Resilient {
    /// The part, with its parameters.
    pub fn new(params: &Params) -> Self {
        let suppress = params.retransmissions == Retransmissions::Suppressed;
        let rules = SplitRules { equal: false, probing: params.probing, suppress };
        let recovery_time = params.interval.scaled(params.recovery_intervals);
        Self {
            split: Split::new(rules),
            change: params.change,
            recovery_time,
            uncongested_since: Vec::new(),
            examined: 0,
        }
    }

    #[cfg(test)]
    pub(super) const fn split(&mut self) -> &mut Split {
        &mut self.split
    }
}

impl Strategy for Resilient {
    fn on_interest(&mut self, interest: &ArrivingInterest<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        self.split.on_interest(interest, fib, cx);
    }

    fn on_data(&mut self, data: &ArrivingData<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        if fib.hops.len() < 2 || cx.face(data.from).link.is_none() {
            return;
        }
        let (index, now, change) = (fib.index as usize, cx.now(), self.change);
        if self.uncongested_since.len() <= index {
            self.uncongested_since.resize(index + 1, now);
        }
        // one operation per Data: the time without marks
        self.examined += 1;
        let since = &mut self.uncongested_since[index];
        if data.packet.ecn == Ecn::Marked {
            *since = now;
            // routers divert for severe congestion only                                   [MA24]
            if data.packet.label.0[0] >= 2 {
                self.split.reduce(fib, data.from, cx, |share| change * share);
            }
        } else if now.saturating_since(*since) >= self.recovery_time {
            // the best path is used resiliently                                           [LI23A]
            // our choice: 0.02 of the moved shares, once per ten intervals without marks
            *since = now;
            self.split.restore(fib, cx, change);
        }
    }

    fn on_expiry(&mut self, pending: Pending, _name: Name, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        self.split.on_expiry(pending, fib, cx, self.change);
    }

    fn has_deadlines(&self) -> bool {
        false
    }

    fn operations(&self) -> u64 {
        self.split.operations() + self.examined
    }
}
