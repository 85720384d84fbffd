//! Interests that a link part queues.

use std::collections::VecDeque;

use contract::{FaceId, InterestQueueId, InterestQueueView, Packet, Pending};
use units::{Bytes, Time};

/// A queued Interest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub pending: Pending,
    pub face: FaceId,
    pub since: Time,
    /// The packet that will leave.
    pub packet: Packet,
}

#[derive(Debug, Default)]
struct InterestQueue {
    waiting: VecDeque<Held>,
    bytes: u64,
}

/// All Interest queues of a forwarder.
#[derive(Debug, Default)]
pub(super) struct InterestQueues(Vec<InterestQueue>);

impl InterestQueues {
    pub(super) fn push(&mut self, interest_queue: InterestQueueId, held: Held) {
        if self.0.len() <= interest_queue.index() {
            self.0.resize_with(interest_queue.index() + 1, InterestQueue::default);
        }
        let interest_queue = &mut self.0[interest_queue.index()];
        interest_queue.bytes += u64::from(held.packet.size_bytes);
        interest_queue.waiting.push_back(held);
    }

    pub(super) fn pop(&mut self, interest_queue: InterestQueueId) -> Option<Held> {
        let interest_queue = self.0.get_mut(interest_queue.index())?;
        let held = interest_queue.waiting.pop_front()?;
        interest_queue.bytes -= u64::from(held.packet.size_bytes);
        Some(held)
    }

    pub(super) fn view(&self, interest_queue: InterestQueueId) -> InterestQueueView {
        let Some(interest_queue) = self.0.get(interest_queue.index()) else {
            return InterestQueueView::default();
        };
        let first = interest_queue.waiting.front();
        InterestQueueView {
            packets: interest_queue.waiting.len() as u32,
            bytes: Bytes::new(interest_queue.bytes),
            since: first.map(|held| held.since),
            first: first.map_or(Bytes::ZERO, |held| held.packet.size()),
        }
    }
}
