//! Which next hops an Interest takes: the cheapest first, the next one when it is refused.

use contract::{ArrivingInterest, ArrivingNack, FibEntry, NackReason, Pending, SendResult, StrategyCx};

use super::Params;
use crate::shared::is_retransmission;

/// The strategy of one node.
#[derive(Clone, Debug)]
pub struct Strategy {
    tries: usize,
}

impl Strategy {
    /// The strategy, with its parameters.
    pub fn new(params: &Params) -> Self {
        Self { tries: params.tries as usize }
    }

    /// Sends the Interest to the cheapest next hop for which `may` is true. Returns whether there was one.
    fn forward(
        &self,
        pending: Pending,
        fib: &FibEntry<'_>,
        cx: &mut dyn StrategyCx,
        may: impl Fn(&dyn StrategyCx, contract::FaceId) -> bool,
    ) -> bool {
        for hop in fib.hops {
            // not to a downstream
            if cx.in_record(pending, hop.face).is_some() || !may(cx, hop.face) {
                continue;
            }
            match cx.send_interest(pending, hop.face) {
                SendResult::Refused(_) | SendResult::Gone => {}
                SendResult::Sent | SendResult::Held | SendResult::Dropped => return true,
            }
        }
        false
    }
}

impl contract::Strategy for Strategy {
    fn on_interest(&mut self, interest: &ArrivingInterest<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        let again = is_retransmission(interest, cx);
        // a second downstream waits for the same Data; a retransmitted Interest is forwarded again
        if !interest.is_new && !again {
            return;
        }
        if !self.forward(interest.pending, fib, cx, |_, _| true) {
            cx.send_nacks(interest.pending, NackReason::NoRoute);
        }
    }

    fn on_nack(&mut self, nack: &ArrivingNack<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        let pending = nack.pending;
        let Some(reason) = cx.all_nacked(pending) else { return };
        let tried = (0..).take_while(|index| cx.upstream(pending, *index).is_some()).count();
        // a refused Interest goes to another face                                           [YAMWZZ13 §3]
        let untried = |cx: &dyn StrategyCx, face| cx.out_record(pending, face).is_none();
        if tried >= self.tries || !self.forward(pending, fib, cx, untried) {
            cx.send_nacks(pending, reason);
        }
    }

    fn has_deadlines(&self) -> bool {
        false
    }
}
