//! Multicast strategy: all faces.

use contract::{ArrivingInterest, FibEntry, NackReason, SendResult, Strategy, StrategyCx};
use units::Duration;

use super::give_up;
use super::suppression::Suppression;

contract::params! {
    /// Minimum interval before a retransmitted Interest is forwarded to the same face again; doubles each time.
    retx_suppression_initial: Duration = Duration::from_millis(10), within "0 s"..="10 s", from "NFD: exponential retransmission suppression";
    /// Maximum suppression interval.
    retx_suppression_max: Duration = Duration::from_millis(250), within "0 s"..="1000 s", from "NFD: exponential retransmission suppression";
    order retx_suppression_initial <= retx_suppression_max;
}

/// The strategy of a forwarder.
#[derive(Clone, Copy, Debug)]
pub struct Multicast(Suppression);

impl Multicast {
    /// The strategy with these parameters.
    pub fn new(params: &Params) -> Self {
        Self(Suppression { first: params.retx_suppression_initial, max: params.retx_suppression_max })
    }
}

impl Strategy for Multicast {
    fn on_interest(&mut self, interest: &ArrivingInterest<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
        let pending = interest.pending;
        let (mut again, mut refused) = (false, Some(NackReason::NoRoute));
        for hop in fib.hops.iter().filter(|hop| hop.face != interest.from) {
            match cx.out_record(pending, hop.face) {
                Some(record) if !self.0.is_over(pending, record.sent_at, cx) => {
                    refused = None;
                    continue;
                }
                Some(_) => again = true,
                None => {}
            }
            match cx.send_interest(pending, hop.face) {
                SendResult::Refused(reason) => refused = refused.map(|known| known.min(reason)),
                _ => refused = None,
            }
        }
        if again {
            self.0.widen(pending, cx);
        }
        if let Some(reason) = refused {
            give_up(interest, reason, cx);
        }
    }

    fn observes_data(&self) -> bool {
        false
    }

    fn has_deadlines(&self) -> bool {
        false
    }
}
