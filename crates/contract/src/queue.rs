//! Queue disciplines: the order of departures, drops, and marks.

use ambassador::delegatable_trait;
use units::{Bytes, Rate, Time};

use crate::{Arena, Ecn, PacketId, Random};

/// The queue of one port. It owns the ids of its packets until [`QueueDiscipline::dequeue`] returns them.
#[delegatable_trait]
pub trait QueueDiscipline {
    /// Takes a packet, or refuses it: after [`Verdict::Drop`] the caller owns the id again.
    fn enqueue(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> Verdict;

    /// The next packet to transmit.
    fn dequeue(&mut self, cx: &mut PacketCx<'_>) -> Option<PacketId>;

    /// Takes a packet when nothing waits and the link is idle, and returns the packet to transmit at once: as
    /// [`QueueDiscipline::enqueue`] and [`QueueDiscipline::dequeue`] do. If the link became idle at `idle_since`, and
    /// the queue has not been asked since, as `dequeue` at that time before. A discipline may have a shorter way to the
    /// same state.
    #[inline]
    fn transit(
        &mut self,
        packet: PacketId,
        idle_since: Option<Time>,
        cx: &mut PacketCx<'_>,
    ) -> (Verdict, Option<PacketId>) {
        if let Some(at) = idle_since {
            let now = std::mem::replace(&mut cx.now, at);
            let next = self.dequeue(cx);
            debug_assert!(next.is_none(), "nothing waits");
            cx.now = now;
        }
        let verdict = self.enqueue(packet, cx);
        if verdict == Verdict::Mark {
            cx.arena.get_mut(packet).ecn = Ecn::Marked;
        }
        (verdict, self.dequeue(cx))
    }

    /// Waiting packets, without the packet in transmission.
    fn backlog(&self) -> Backlog;

    /// Removes and returns all packets unchanged, because the link failed.
    fn drain(&mut self) -> Vec<PacketId>;

    /// Changes the limit. Waiting packets are not dropped.
    fn set_limit(&mut self, limit: QueueLimit);
}

/// The context of a queue.
pub struct PacketCx<'a> {
    /// The current instant.
    pub now: Time,
    /// The current rate of the link.
    pub rate: Rate,
    /// The queue's random stream.
    pub random: &'a mut Random,
    /// The packets.
    pub arena: &'a mut Arena,
    /// Packets that the queue drops from inside, each with its reason.
    pub dropped: &'a mut Vec<(PacketId, DropReason)>,
    /// Number of packets that the queue marked inside, in addition to packets with [`Verdict::Mark`].
    pub marked: u64,
}

/// The limit of a queue, per class if there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimit {
    /// Packets.
    pub packets: u32,
    /// ECN threshold of drop-tail and classes: ECN-capable packets are marked if at least this many packets wait;
    /// `u32::MAX` for never.
    pub mark_above: u32,
    /// Bytes.
    pub bytes: Bytes,
}

impl QueueLimit {
    /// Whether a packet of `size_bytes` fits into a queue of `packets` packets and `bytes` bytes.
    #[inline]
    pub const fn admits(&self, packets: u32, bytes: u64, size_bytes: u64) -> bool {
        packets < self.packets && bytes + size_bytes <= self.bytes.as_u64()
    }
}

/// The packets that wait in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Their bytes.
    pub bytes: Bytes,
}

/// The decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is accepted.
    Pass,
    /// It is accepted and marked.
    Mark,
    /// It is dropped.
    Drop(DropReason),
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// The queue was full: drop-tail, or a discipline without room.
    QueueFull,
    /// Active queue management (AQM), such as CoDel or RED, dropped it by its rule, at arrival or at departure; the
    /// queue had room.
    Early,
    /// Random loss of the link (`loss`), after the transmission.
    RandomLoss,
    /// The link was down, or went down while the packet was in its queue or on it.
    LinkDown,
    /// No route leads to its destination.
    NoRoute,
    /// Nothing at its node takes it: the flow has stopped, has not started or has restarted since it was sent, its
    /// group has neither branches nor members there, or the node does not handle packets of its kind.
    NotListening,
    /// It crossed more links than any route has, because routes form a loop.
    HopLimit,
    /// The token bucket of a policer had too few tokens for it, or the bucket of a shaper can never hold enough.
    Policed,
    /// It arrived damaged: the checksum at the end of the link did not fit.
    Corrupted,
}

impl DropReason {
    /// All of them, in order.
    pub const ALL: [Self; 9] = [
        Self::QueueFull,
        Self::Early,
        Self::RandomLoss,
        Self::LinkDown,
        Self::NoRoute,
        Self::NotListening,
        Self::HopLimit,
        Self::Policed,
        Self::Corrupted,
    ];

    /// Its name in the tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::Early => "early",
            Self::RandomLoss => "random_loss",
            Self::LinkDown => "link_down",
            Self::NoRoute => "no_route",
            Self::NotListening => "not_listening",
            Self::HopLimit => "hop_limit",
            Self::Policed => "policed",
            Self::Corrupted => "corrupted",
        }
    }
}
