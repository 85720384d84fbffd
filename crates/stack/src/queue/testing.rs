//! Test helpers of queue disciplines.

use contract::{
    Address, Arena, DropReason, Ecn, FlowId, Header, Label, Packet, PacketCx, PacketId, QueueDiscipline,
    QueueLimit, Random, Verdict,
};
use units::{Bytes, Duration, Rate, Time};

/// A datagram of a flow that is not ECN-capable.
pub(crate) fn packet(flow: u32, size_bytes: u32) -> Packet {
    Packet {
        flow: FlowId(flow),
        size_bytes,
        source: Address::default(),
        to: Address::default().into(),
        sent_at: Time::ZERO,
        label: Label::default(),
        header: Header::Datagram { seq: 0 },
        ecn: Ecn::NotCapable,
        hops: 0,
        waited: Default::default(),
    }
}

/// A limit in packets.
pub(crate) const fn packets(packets: u32) -> QueueLimit {
    QueueLimit { packets, bytes: Bytes::UNLIMITED, mark_above: u32::MAX }
}

/// A limit in bytes.
pub(crate) const fn bytes(bytes: u64) -> QueueLimit {
    QueueLimit { packets: u32::MAX, bytes: Bytes::new(bytes), mark_above: u32::MAX }
}

/// A queue with its environment; the test sets the time and dequeues packets.
pub(crate) struct Link<Q> {
    pub queue: Q,
    pub arena: Arena,
    pub random: Random,
    pub now: Time,
    /// Of the packets that are offered.
    pub ecn: Ecn,
    /// Packets that were dropped inside, in order: flow, size and reason.
    pub dropped: Vec<(u32, u32, DropReason)>,
    /// Number of packets that were marked inside.
    pub marked: u64,
}

impl<Q: QueueDiscipline> Link<Q> {
    pub(crate) fn new(queue: Q) -> Self {
        Self {
            queue,
            arena: Arena::new(),
            random: Random::new(1, "", ""),
            now: Time::ZERO,
            ecn: Ecn::NotCapable,
            dropped: Vec::new(),
            marked: 0,
        }
    }

    fn with<T>(&mut self, act: impl FnOnce(&mut Q, &mut PacketCx<'_>) -> T) -> T {
        let mut dropped = Vec::new();
        let mut cx = PacketCx {
            now: self.now,
            rate: Rate::from_mbps(8),
            random: &mut self.random,
            arena: &mut self.arena,
            dropped: &mut dropped,
            marked: 0,
        };
        let result = act(&mut self.queue, &mut cx);
        self.marked += cx.marked;
        for (id, why) in dropped {
            let packet = self.take(id);
            self.dropped.push((packet.flow.0, packet.size_bytes, why));
        }
        result
    }

    fn take(&mut self, id: PacketId) -> Packet {
        let packet = *self.arena.get(id);
        self.arena.release(id);
        packet
    }

    /// Offers a packet of a flow.
    pub(crate) fn offer(&mut self, flow: u32, size_bytes: u32) -> Verdict {
        let id = self.arena.insert(Packet { ecn: self.ecn, ..packet(flow, size_bytes) });
        let verdict = self.with(|queue, cx| queue.enqueue(id, cx));
        match verdict {
            Verdict::Pass => {}
            Verdict::Mark => self.arena.get_mut(id).ecn = Ecn::Marked,
            Verdict::Drop(_) => self.arena.release(id),
        }
        verdict
    }

    /// Offers a packet of a flow to the empty queue of a link that has been idle since then, and returns the packet
    /// that leaves.
    pub(crate) fn transit(
        &mut self,
        flow: u32,
        size_bytes: u32,
        idle_since: Option<Time>,
    ) -> (Verdict, Option<Packet>) {
        let id = self.arena.insert(Packet { ecn: self.ecn, ..packet(flow, size_bytes) });
        let (verdict, first) = self.with(|queue, cx| queue.transit(id, idle_since, cx));
        match verdict {
            Verdict::Pass => {}
            Verdict::Mark => self.arena.get_mut(id).ecn = Ecn::Marked,
            Verdict::Drop(_) => self.arena.release(id),
        }
        (verdict, first.map(|id| self.take(id)))
    }

    /// The packet that leaves, if there is one.
    pub(crate) fn serve(&mut self) -> Option<Packet> {
        let id = self.with(|queue, cx| queue.dequeue(cx))?;
        Some(self.take(id))
    }

    /// Offers packets of a flow, which all find room.
    pub(crate) fn offer_many(&mut self, flow: u32, size_bytes: u32, packets: u32) {
        for _ in 0..packets {
            assert_eq!(self.offer(flow, size_bytes), Verdict::Pass);
        }
    }

    /// The flows of the next packets, in order.
    pub(crate) fn served(&mut self, packets: usize) -> Vec<u32> {
        let flows = std::iter::from_fn(|| self.serve()).map(|packet| packet.flow.0);
        flows.take(packets).collect()
    }

    /// Moves the time to this instant.
    pub(crate) fn at_ms(&mut self, ms: u64) {
        self.now = Time::ZERO + Duration::from_millis(ms);
    }
}
