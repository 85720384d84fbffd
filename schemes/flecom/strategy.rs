//! FleCom in forwarders: PCON's shares, moved in proportion to the reduction.

use contract::{ArrivingData, ArrivingInterest, Ecn, FibEntry, Name, Pending, Strategy, StrategyCx};

use super::Params;
use super::trend::cut_of;
use crate::pcon::Retransmissions;
use crate::shared::{Split, SplitRules};

/// The strategy of a node.
#[derive(Clone, Debug)]
pub struct Flexible {
    split: Split,
    change: f64,
    cut_gain: f64,
}

impl Flexible {
    /// The part, with its parameters.
    pub fn new(params: &Params) -> Self {
        let suppress = params.retransmissions == Retransmissions::Suppressed;
        let rules = SplitRules { equal: false, probing: params.probing, suppress };
        Self { split: Split::new(rules), change: params.change, cut_gain: params.cut_gain }
    }

    #[cfg(test)]
    pub(super) const fn split(&mut self) -> &mut Split {
        &mut self.split
    }
}

impl Strategy for Flexible {
    fn on_interest(&mut self, interest: &ArrivingInterest<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        self.split.on_interest(interest, fib, cx);
    }

    fn on_data(&mut self, data: &ArrivingData<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        if data.packet.ecn == Ecn::Marked && fib.hops.len() > 1 && cx.face(data.from).link.is_some() {
            // our choice: F(f) ← F(f) − (0.02 + 0.1·cut)·F(f)
            let part = self.change + self.cut_gain * cut_of(data.packet);
            self.split.reduce(fib, data.from, cx, |share| part * share);
        }
    }

    fn on_expiry(&mut self, pending: Pending, _name: Name, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        self.split.on_expiry(pending, fib, cx, self.change);
    }

    fn has_deadlines(&self) -> bool {
        false
    }

    fn operations(&self) -> u64 {
        self.split.operations()
    }
}
