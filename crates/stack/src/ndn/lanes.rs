//! Interests that a link part queues.

use std::collections::VecDeque;

use contract::{FaceId, LaneId, LaneView, Packet, Pending};
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
struct Lane {
    waiting: VecDeque<Held>,
    bytes: u64,
}

/// All lanes of a forwarder.
#[derive(Debug, Default)]
pub(super) struct Lanes(Vec<Lane>);

impl Lanes {
    pub(super) fn push(&mut self, lane: LaneId, held: Held) {
        if self.0.len() <= lane.index() {
            self.0.resize_with(lane.index() + 1, Lane::default);
        }
        let lane = &mut self.0[lane.index()];
        lane.bytes += u64::from(held.packet.size_bytes);
        lane.waiting.push_back(held);
    }

    pub(super) fn pop(&mut self, lane: LaneId) -> Option<Held> {
        let lane = self.0.get_mut(lane.index())?;
        let held = lane.waiting.pop_front()?;
        lane.bytes -= u64::from(held.packet.size_bytes);
        Some(held)
    }

    pub(super) fn view(&self, lane: LaneId) -> LaneView {
        let Some(lane) = self.0.get(lane.index()) else { return LaneView::default() };
        let first = lane.waiting.front();
        LaneView {
            packets: lane.waiting.len() as u32,
            bytes: Bytes::new(lane.bytes),
            since: first.map(|held| held.since),
            first: first.map_or(Bytes::ZERO, |held| held.packet.size()),
        }
    }
}
