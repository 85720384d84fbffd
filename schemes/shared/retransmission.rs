//! Whether an Interest for a pending name comes from a new face, or is retransmitted.

use contract::{ArrivingInterest, Pending, StrategyCx};

/// Whether the downstream of this Interest is waiting for the Data already. Call it once per Interest: the entry's note
/// holds the number of downstreams.
pub fn is_retransmission(interest: &ArrivingInterest<'_>, cx: &mut dyn StrategyCx) -> bool {
    let waiting = downstreams(interest.pending, cx);
    let before = cx.note(interest.pending);
    cx.set_note(interest.pending, waiting);
    !interest.is_new && waiting <= before
}

/// Counts one downstream less.
pub fn forget_one(pending: Pending, cx: &mut dyn StrategyCx) {
    let waiting = downstreams(pending, cx);
    cx.set_note(pending, waiting);
}

fn downstreams(pending: Pending, cx: &dyn StrategyCx) -> u32 {
    (0..).take_while(|index| cx.downstream(pending, *index).is_some()).count() as u32
}

#[cfg(test)]
mod tests {
    use contract::{FaceId, FibEntry, NackReason, Strategy};
    use units::Rate;

    use super::*;
    use crate::shared::forwarders::{StrategyBench, faces};

    /// A strategy that records the results, and refuses Interests on request.
    #[derive(Default)]
    struct Listener {
        again: Vec<bool>,
        refuse: bool,
    }

    impl Strategy for Listener {
        fn on_interest(
            &mut self,
            interest: &ArrivingInterest<'_>,
            _fib: &FibEntry<'_>,
            cx: &mut dyn StrategyCx,
        ) {
            self.again.push(is_retransmission(interest, cx));
            if self.refuse {
                cx.send_nack(interest.pending, interest.from, NackReason::Congestion);
                forget_one(interest.pending, cx);
            }
        }
    }

    #[test]
    fn joins_and_retransmissions_are_distinguished() {
        let mut node = StrategyBench::new(faces(1, Rate::from_mbps(10), 3), &[1]);
        let mut algorithm = Listener::default();
        for from in [1, 1, 2, 2, 1] {
            node.interest(&mut algorithm, 7, FaceId(from));
        }
        algorithm.refuse = true;
        node.interest(&mut algorithm, 7, FaceId(2));
        algorithm.refuse = false;
        for from in [1, 3, 3, 2] {
            node.interest(&mut algorithm, 7, FaceId(from));
        }
        assert_eq!(algorithm.again, [false, true, false, true, true, true, true, false, true, false]);
    }
}
