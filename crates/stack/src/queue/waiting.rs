//! Packets that wait, in the order of arrival.

use std::collections::VecDeque;

use contract::{Backlog, PacketId, QueueLimit};
use units::{Bytes, Time};

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub packet: PacketId,
    pub size_bytes: u32,
    /// When it was enqueued.
    pub since: Time,
}

/// First in, first out.
#[derive(Debug, Default)]
pub(super) struct Line {
    packets: VecDeque<Waiting>,
    bytes: u64,
}

impl Line {
    /// Bytes that wait.
    #[inline]
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Packets that wait.
    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.packets.len() as u32
    }

    #[inline]
    pub(super) fn backlog(&self) -> Backlog {
        Backlog { packets: self.len(), bytes: Bytes::new(self.bytes) }
    }

    /// Whether a packet of this size fits.
    #[inline]
    pub(super) fn has_room(&self, limit: &QueueLimit, size_bytes: u32) -> bool {
        limit.admits(self.len(), self.bytes, u64::from(size_bytes))
    }

    /// When the first packet was enqueued.
    #[inline]
    pub(super) fn first(&self) -> Option<Time> {
        self.packets.front().map(|first| first.since)
    }

    #[inline]
    pub(super) fn push(&mut self, waiting: Waiting) {
        self.bytes += u64::from(waiting.size_bytes);
        self.packets.push_back(waiting);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let first = self.packets.pop_front()?;
        self.bytes -= u64::from(first.size_bytes);
        Some(first)
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = PacketId> {
        self.bytes = 0;
        self.packets.drain(..).map(|waiting| waiting.packet)
    }
}
