//! Best route: the face with the lowest cost. A retransmission is sent to the face with the lowest cost and no pending
//! Interest, or otherwise to the one that was used longest ago.

use contract::{ArrivingInterest, FibEntry, Header, NackReason, SendResult, Strategy, StrategyCx};
use units::Duration;

use super::give_up;
use super::suppression::Suppression;

contract::params! {
    /// Minimum interval before a retransmitted Interest is forwarded again; doubles each time.
    retx_suppression_initial: Duration = Duration::from_millis(10), within "0 s"..="10 s", from "NFD: exponential retransmission suppression";
    /// Maximum suppression interval.
    retx_suppression_max: Duration = Duration::from_millis(250), within "0 s"..="1000 s", from "NFD: exponential retransmission suppression";
    order retx_suppression_initial <= retx_suppression_max;
}

/// The strategy of a forwarder.
#[derive(Clone, Copy, Debug)]
pub struct BestRoute(Suppression);

impl BestRoute {
    /// The strategy with these parameters.
    pub fn new(params: &Params) -> Self {
        Self(Suppression { first: params.retx_suppression_initial, max: params.retx_suppression_max })
    }
}

impl Strategy for BestRoute {
    #[inline]
    fn on_interest(&mut self, interest: &ArrivingInterest<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        if !interest.is_new {
            return self.again(interest, fib, cx);
        }
        match fib.hops.iter().find(|hop| hop.face != interest.from) {
            Some(hop) => {
                if let SendResult::Refused(reason) = cx.send_interest(interest.pending, hop.face) {
                    give_up(interest, reason, cx);
                }
            }
            None => give_up(interest, NackReason::NoRoute, cx),
        }
    }

    fn observes_data(&self) -> bool {
        false
    }

    fn has_deadlines(&self) -> bool {
        false
    }
}

impl BestRoute {
    #[cold]
    fn again(self, interest: &ArrivingInterest<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        let pending = interest.pending;
        let last = Suppression::last(pending, cx);
        if last.is_some_and(|last| !self.0.is_over(pending, last, cx)) {
            return;
        }
        // a face counts as unused after one lifetime, so that the lowest cost is first again [NFD: expired out-records]
        // differs: the lifetime is the current Interest's, because out-records store none
        let lifetime = match interest.packet.header {
            Header::Interest(header) => header.lifetime(),
            _ => Duration::MAX,
        };
        let others = || fib.hops.iter().map(|hop| hop.face).filter(|face| *face != interest.from);
        let awaited =
            |face| cx.out_record(pending, face).is_some_and(|record| record.sent_at + lifetime > cx.now());
        let untried = others().find(|face| !awaited(*face));
        let oldest = || {
            let tried = others().filter_map(|face| Some((cx.out_record(pending, face)?.sent_at, face)));
            tried.min().map(|(_, face)| face)
        };
        match untried.or_else(oldest) {
            Some(face) => {
                if last.is_some() {
                    self.0.widen(pending, cx);
                }
                if let SendResult::Refused(reason) = cx.send_interest(pending, face) {
                    give_up(interest, reason, cx);
                }
            }
            None => give_up(interest, NackReason::NoRoute, cx),
        }
    }
}
