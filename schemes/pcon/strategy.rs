//! PCON in forwarders: next hops by shares that move away from marks.

use contract::{
    ArrivingData, ArrivingInterest, ArrivingNack, Ecn, FibEntry, NackReason, Name, Pending, Strategy,
    StrategyCx,
};
use units::{Duration, Time};

use super::Params;
use crate::shared::{Split, SplitRules};

contract::choice! {
    /// Initial shares.
    pub enum InitialShares {
        /// The cheapest next hop has everything.
        Best = "best",
        /// All next hops have the same share, unless one of them is on this node.
        Equal = "equal",
    }
}

contract::choice! {
    /// Treatment of an Interest whose name is already pending.
    pub enum Retransmissions {
        /// It is aggregated, whatever its face.
        Suppressed = "suppressed",
        /// It is forwarded again if its downstream retransmits.
        Forwarded = "forwarded",
    }
}

/// The strategy of a node.
#[derive(Clone, Debug)]
pub struct Multipath {
    split: Split,
    change: f64,
    pause: Duration,
    /// NACKs have no effect on shares before this.
    next: Time,
}

impl Multipath {
    /// The part, with its parameters.
    pub const fn new(params: &Params) -> Self {
        let rules = SplitRules {
            equal: matches!(params.initial_shares, InitialShares::Equal),
            probing: params.probing,
            suppress: matches!(params.retransmissions, Retransmissions::Suppressed),
        };
        Self { split: Split::new(rules), change: params.change, pause: params.pause, next: Time::ZERO }
    }

    #[cfg(test)]
    pub(super) const fn split(&mut self) -> &mut Split {
        &mut self.split
    }
}

impl Strategy for Multipath {
    fn on_interest(&mut self, interest: &ArrivingInterest<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        self.split.on_interest(interest, fib, cx);
    }

    fn on_data(&mut self, data: &ArrivingData<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        // a mark from upstream, on Data from a link                                       [SCHNEIDER]
        if data.packet.ecn == Ecn::Marked && fib.hops.len() > 1 && cx.face(data.from).link.is_some() {
            // F(f) ← F(f) − 0.02·F(f); the others get equal parts of it                   [SYZZ16 §4.4, SCHNEIDER]
            let change = self.change;
            self.split.reduce(fib, data.from, cx, |share| change * share);
        }
    }

    fn on_nack(&mut self, nack: &ArrivingNack<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        // differs: a NACK for congestion has the role of the marked NACK of a lossy link, which is a Data packet in the
        // source
        if nack.reason == NackReason::Congestion && fib.hops.len() > 1 && cx.now() >= self.next {
            self.next = cx.now() + self.pause;
            let change = self.change;
            self.split.reduce(fib, nack.from, cx, |share| change * share);
        }
        if let Some(reason) = cx.all_nacked(nack.pending) {
            cx.send_nacks(nack.pending, reason);
        }
    }

    fn on_expiry(&mut self, pending: Pending, _name: Name, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        // F(f) ← F(f) − min(0.02, F(f)): an absolute amount                                [SCHNEIDER]
        self.split.on_expiry(pending, fib, cx, self.change);
    }

    fn has_deadlines(&self) -> bool {
        false
    }

    fn operations(&self) -> u64 {
        self.split.operations()
    }
}
