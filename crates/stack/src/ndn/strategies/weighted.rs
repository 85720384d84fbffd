//! A random face, by weight.

use contract::{ArrivingInterest, FaceId, FibEntry, NackReason, NextHop, SendResult, Strategy, StrategyCx};
use units::Duration;

use super::give_up;
use super::suppression::Suppression;

contract::params! {
    /// Weight of a face.
    by: Weighing = Weighing::Equal, from "our choice: equal shares, because no next hop is preferred";
    /// Minimum interval before a retransmitted Interest is forwarded again; doubles each time.
    retx_suppression_initial: Duration = Duration::from_millis(10), within "0 s"..="10 s", from "NFD: exponential retransmission suppression";
    /// Maximum suppression interval.
    retx_suppression_max: Duration = Duration::from_millis(250), within "0 s"..="1000 s", from "NFD: exponential retransmission suppression";
    order retx_suppression_initial <= retx_suppression_max;
}

contract::choice! {
    /// Weight of a face.
    pub enum Weighing {
        /// All the same.
        Equal = "equal",
        /// The inverse of one more than the cost of the path.
        Cost = "cost",
        /// The inverse of one more than the Interests that it has not answered yet.
        Pending = "pending",
    }
}

/// The strategy of a forwarder: a face drawn at random by weight.
#[derive(Clone, Copy, Debug)]
pub struct Weighted {
    by: Weighing,
    suppression: Suppression,
}

impl Weighted {
    /// The strategy with these parameters.
    pub fn new(params: &Params) -> Self {
        let suppression =
            Suppression { first: params.retx_suppression_initial, max: params.retx_suppression_max };
        Self { by: params.by, suppression }
    }

    fn weight(self, hop: &NextHop, cx: &mut dyn StrategyCx) -> f64 {
        match self.by {
            Weighing::Equal => 1.0,
            Weighing::Cost => 1.0 / (hop.cost as f64 + 1.0),
            Weighing::Pending => 1.0 / (f64::from(cx.face(hop.face).pending) + 1.0),
        }
    }

    /// Draws one of the next hops for which `may` is true, in proportion to their weights; `None` if it is true for
    /// none.
    fn draw(
        self,
        fib: &FibEntry<'_>,
        cx: &mut dyn StrategyCx,
        may: impl Fn(FaceId, &dyn StrategyCx) -> bool,
    ) -> Option<FaceId> {
        let (mut total, mut only) = (0.0, None);
        for hop in fib.hops {
            if may(hop.face, cx) {
                only = if total == 0.0 { Some(hop.face) } else { None };
                total += self.weight(hop, cx);
            }
        }
        if only.is_some() || total == 0.0 {
            return only;
        }
        let mut remaining = cx.random().uniform(0.0, total);
        let mut last = None;
        for hop in fib.hops {
            if may(hop.face, cx) {
                last = Some(hop.face);
                remaining -= self.weight(hop, cx);
                if remaining < 0.0 {
                    break;
                }
            }
        }
        last
    }
}

impl Strategy for Weighted {
    fn on_interest(&mut self, interest: &ArrivingInterest<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        let pending = interest.pending;
        let last = if interest.is_new { None } else { Suppression::last(pending, cx) };
        if let Some(last) = last {
            if !self.suppression.is_over(pending, last, cx) {
                return;
            }
            self.suppression.widen(pending, cx);
        }
        let untried =
            |face, cx: &dyn StrategyCx| face != interest.from && cx.out_record(pending, face).is_none();
        let drawn = match self.draw(fib, cx, untried) {
            None => self.draw(fib, cx, |face, _| face != interest.from),
            drawn => drawn,
        };
        match drawn {
            Some(face) => {
                if let SendResult::Refused(reason) = cx.send_interest(pending, face) {
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
