//! InterestQueues of shapers per flow: one for the Interests of a flow that arrive on one link and leave on another;
//! and the loop that serves what is due.

use std::collections::BTreeMap;

use contract::{FaceId, InterestQueueId, NameId};
use units::Time;

/// InterestQueue numbers by the link that Data leave on, the flow, and the link that Interests leave on. A flow is a
/// name without its segment.
#[derive(Clone, Debug, Default)]
pub struct InterestQueueNumbers(BTreeMap<(FaceId, NameId, FaceId), u32>);

impl InterestQueueNumbers {
    /// The Interest queue of a flow, made at its first use.
    pub fn interest_queue(&mut self, down: FaceId, flow: NameId, up: FaceId) -> InterestQueueId {
        let next = self.0.len() as u32;
        InterestQueueId(*self.0.entry((down, flow, up)).or_insert(next))
    }

    /// The Interest queues of a flow whose Data leave on `down`, in the order of the links of Interests.
    pub fn of_flow(&self, down: FaceId, flow: NameId) -> impl Iterator<Item = InterestQueueId> {
        let all = (down, flow, FaceId(0))..=(down, flow, FaceId(u32::MAX));
        self.0.range(all).map(|(_, number)| InterestQueueId(*number))
    }

    /// Number of Interest queues.
    pub fn count(&self) -> u32 {
        self.0.len() as u32
    }
}

/// Serves every queue of held Interests whose deadline has come, in their order. `deadline` gives the deadline of a
/// queue, never if it holds nothing; `serve` is called with its number and moves the deadline. Returns the next
/// deadline.
pub fn serve_due<L>(
    controller: &mut L,
    queues: usize,
    now: Time,
    deadline: impl Fn(&L, usize) -> Time,
    mut serve: impl FnMut(&mut L, u32),
) -> Time {
    let mut next = Time::NEVER;
    for queue in 0..queues {
        if deadline(controller, queue) <= now {
            serve(controller, queue as u32);
        }
        next = next.min(deadline(controller, queue));
    }
    next
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;

    #[test]
    fn a_flow_has_one_interest_queue_per_outgoing_link() {
        let mut lines = InterestQueueNumbers::default();
        let ways = [(1, 5, 0), (1, 5, 2), (1, 6, 0), (3, 5, 0), (1, 5, 0)];
        let interest_queues =
            ways.map(|(down, flow, up)| lines.interest_queue(FaceId(down), NameId(flow), FaceId(up)).0);
        assert_eq!(interest_queues, [0, 1, 2, 3, 0]);
        assert_eq!(
            lines.of_flow(FaceId(1), NameId(5)).collect::<Vec<_>>(),
            [InterestQueueId(0), InterestQueueId(1)]
        );
        assert_eq!(lines.count(), 4);
    }

    /// Of deadlines at 1, 5 and never, at 3: the first moves to 4, which is next.
    #[test]
    fn queues_are_served_at_their_deadlines() {
        let at = |nanos| Time::ZERO + Duration::from_nanos(nanos);
        let mut queues = [at(1), at(5), Time::NEVER];
        let mut served = Vec::new();
        let next = serve_due(
            &mut queues,
            3,
            at(3),
            |queues, number| queues[number],
            |queues, number| {
                served.push(number);
                queues[number as usize] = at(4);
            },
        );
        assert_eq!((served, next), (vec![0], at(4)));
    }
}
