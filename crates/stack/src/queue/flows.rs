//! A queue for each flow, served by deficit round robin in which new flows precede old ones (DRR++)
//! [RFC 8290 §4; Linux, net/sched/sch_fq_codel.c and sch_fq.c].
//!
//! A queue exists from the first packet of its flow, or of its bucket, on. Its memory is kept, so that packets allocate
//! none.

use std::collections::VecDeque;

use contract::{Backlog, PacketId, QueueLimit};
use units::Bytes;

use super::waiting::{Line, Waiting};

/// The queues of the flows of a link. `S` is what a discipline keeps for each.
#[derive(Debug)]
pub(super) struct Flows<S> {
    flows: Vec<Flow<S>>,
    /// The queue of each bucket; [`NONE`] before its first packet.
    by_bucket: Vec<u32>,
    /// Flows to be served, in order.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: u32,
    bytes: u64,
}

#[derive(Debug)]
pub(super) struct Flow<S> {
    pub line: Line,
    /// Bytes that it may send in this round.
    pub credit: i64,
    /// Whether it is in one of the two lists.
    pub listed: bool,
    pub state: S,
}

/// A flow whose turn it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub flow: usize,
    new: bool,
}

const NONE: u32 = u32::MAX;

/// The hash of a flow. `perturbation` differs from one link and seed to another.
#[inline]
pub(super) const fn hash(flow: u32, perturbation: u64) -> u32 {
    let hash = (flow as u64 ^ perturbation).wrapping_mul(0xd6e8_feb8_6659_fd93);
    ((hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32) as u32
}

impl<S> Default for Flows<S> {
    fn default() -> Self {
        Self {
            flows: Vec::new(),
            by_bucket: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
        }
    }
}

impl<S> Flows<S> {
    /// The number of the queue of a bucket, which is made by `make` with this credit if the bucket has none.
    #[inline]
    pub(super) fn of_bucket(&mut self, bucket: usize, credit: i64, make: impl FnOnce() -> S) -> usize {
        match self.by_bucket.get(bucket) {
            Some(&number) if number != NONE => number as usize,
            _ => self.add(bucket, credit, make()),
        }
    }

    #[cold]
    fn add(&mut self, bucket: usize, credit: i64, state: S) -> usize {
        if self.by_bucket.len() <= bucket {
            self.by_bucket.resize(bucket + 1, NONE);
        }
        let number = self.flows.len();
        self.by_bucket[bucket] = number as u32;
        self.flows.push(Flow { line: Line::default(), credit, listed: false, state });
        number
    }

    /// The number of the queue of a bucket, if it has one.
    #[inline]
    pub(super) fn find(&self, bucket: usize) -> Option<usize> {
        let number = *self.by_bucket.get(bucket)?;
        (number != NONE).then_some(number as usize)
    }

    /// The queue with this number.
    #[inline]
    pub(super) fn get_mut(&mut self, number: usize) -> &mut Flow<S> {
        &mut self.flows[number]
    }

    /// Whether a packet of this size fits.
    #[inline]
    pub(super) fn has_room(&self, limit: &QueueLimit, size_bytes: u32) -> bool {
        limit.admits(self.packets, self.bytes, u64::from(size_bytes))
    }

    /// Whether more waits than the limit allows.
    #[inline]
    pub(super) fn is_above(&self, limit: &QueueLimit) -> bool {
        self.packets > limit.packets || self.bytes > limit.bytes.as_u64()
    }

    /// Appends a packet to the queue with this number. A flow that is not listed becomes the last new one.
    #[inline]
    pub(super) fn push(&mut self, number: usize, waiting: Waiting) {
        self.packets += 1;
        self.bytes += u64::from(waiting.size_bytes);
        self.flows[number].line.push(waiting);
        self.list(number);
    }

    /// The flow whose turn it is. One without credit gets a quantum and goes to the end of the old ones.
    #[inline]
    pub(super) fn turn(&mut self, quantum: i64) -> Option<Turn> {
        loop {
            let (number, new) = match self.new.front() {
                Some(&number) => (number, true),
                None => (*self.old.front()?, false),
            };
            let turn = Turn { flow: number as usize, new };
            let flow = &mut self.flows[turn.flow];
            if flow.credit > 0 {
                return Some(turn);
            }
            flow.credit += quantum;
            self.unlist(turn);
            self.old.push_back(number);
        }
    }

    /// Ends the turn of a flow without packets: a new one goes to the end of the old ones, so that it cannot starve
    /// them by being new again and again; an old one leaves the lists. Returns whether it left.
    #[inline]
    pub(super) fn pass(&mut self, turn: Turn) -> bool {
        if turn.new && !self.old.is_empty() {
            self.unlist(turn);
            self.old.push_back(turn.flow as u32);
            return false;
        }
        self.retire(turn);
        true
    }

    /// Ends the turn of a flow without packets, which leaves the lists.
    #[inline]
    pub(super) fn retire(&mut self, turn: Turn) {
        self.unlist(turn);
        self.flows[turn.flow].listed = false;
    }

    /// Ends the turns of all flows, while nothing waits, until none is listed; calls `note` for each. One without
    /// credit has got quanta before.
    #[inline]
    pub(super) fn retire_all(&mut self, quantum: i64, mut note: impl FnMut(&mut S)) {
        for list in [&mut self.new, &mut self.old] {
            while let Some(number) = list.pop_front() {
                let flow = &mut self.flows[number as usize];
                while flow.credit <= 0 {
                    flow.credit += quantum;
                }
                flow.listed = false;
                note(&mut flow.state);
            }
        }
    }

    /// Whether the queue with this number is the only one that is listed, and new.
    #[inline]
    pub(super) fn is_only_new(&self, number: usize) -> bool {
        self.flows[number].listed && self.new.len() == 1 && self.old.is_empty()
    }

    /// Serves a packet of the queue with this number, which alone is listed. No effect if it is not: then returns
    /// false.
    #[inline]
    pub(super) fn serve_alone(&mut self, number: usize, quantum: i64, size_bytes: u32) -> bool {
        let flow = &mut self.flows[number];
        if !flow.listed || self.new.len() + self.old.len() != 1 {
            return false;
        }
        if flow.credit <= 0 && self.new.pop_front().is_some() {
            self.old.push_back(number as u32);
        }
        while flow.credit <= 0 {
            flow.credit += quantum;
        }
        flow.credit -= i64::from(size_bytes);
        true
    }

    /// Lists the queue with this number, unless it is, as the last new one.
    #[inline]
    pub(super) fn list(&mut self, number: usize) {
        let flow = &mut self.flows[number];
        if !flow.listed {
            flow.listed = true;
            self.new.push_back(number as u32);
        }
    }

    /// Takes the credit for a packet of the queue with this number that passes it without waiting, while no flow is
    /// listed: as [`Flows::push`], [`Flows::turn`] and the removal of the packet do.
    #[inline]
    pub(super) fn pass_through(&mut self, number: usize, quantum: i64, size_bytes: u32) {
        let flow = &mut self.flows[number];
        flow.listed = true;
        // without credit, it is an old flow from its first turn on
        let list = if flow.credit > 0 { &mut self.new } else { &mut self.old };
        while flow.credit <= 0 {
            flow.credit += quantum;
        }
        flow.credit -= i64::from(size_bytes);
        list.push_back(number as u32);
    }

    #[inline]
    fn unlist(&mut self, turn: Turn) {
        let list = if turn.new { &mut self.new } else { &mut self.old };
        list.pop_front();
    }

    /// Calls `take` with a queue, what waits in the others, in bytes, and its state; it may remove packets.
    #[inline]
    pub(super) fn take<T>(&mut self, number: usize, take: impl FnOnce(&mut Line, u64, &mut S) -> T) -> T {
        let flow = &mut self.flows[number];
        let (packets, bytes) = (flow.line.len(), flow.line.bytes());
        let taken = take(&mut flow.line, self.bytes - bytes, &mut flow.state);
        self.packets -= packets - flow.line.len();
        self.bytes -= bytes - flow.line.bytes();
        taken
    }

    /// The queue with the most bytes.
    pub(super) fn fattest(&self) -> Option<usize> {
        // the first of equal ones
        let bytes = |&number: &usize| (self.flows[number].line.bytes(), std::cmp::Reverse(number));
        (0..self.flows.len()).max_by_key(bytes)
    }

    #[inline]
    pub(super) const fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets, bytes: Bytes::new(self.bytes) }
    }

    /// Empties all queues, and calls `reset` for each.
    pub(super) fn drain(&mut self, mut reset: impl FnMut(&mut Flow<S>)) -> Vec<PacketId> {
        (self.packets, self.bytes) = (0, 0);
        self.new.clear();
        self.old.clear();
        let mut held = Vec::new();
        for flow in &mut self.flows {
            held.extend(flow.line.drain());
            flow.listed = false;
            reset(flow);
        }
        held
    }
}
