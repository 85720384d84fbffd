//! Queue disciplines: the order of departures, drops, and marks.

use ambassador::delegatable_trait;
use units::{Bytes, Rate, Time};

use crate::{Arena, PacketId, Random};

/// The queue of one port. It owns the ids it holds until it gives them back by [`QueueDiscipline::dequeue`].
#[delegatable_trait]
pub trait QueueDiscipline {
    /// Takes a packet, or refuses it: after [`Verdict::Drop`] the id is the caller's again.
    fn enqueue(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> Verdict;

    /// The next packet to transmit.
    fn dequeue(&mut self, cx: &mut PacketCx<'_>) -> Option<PacketId>;

    /// What waits. The packet being transmitted is not counted.
    fn backlog(&self) -> Backlog;

    /// Gives back all that it holds, as it is: the link has failed.
    fn drain(&mut self) -> Vec<PacketId>;

    /// Changes how much may wait. What waits already stays.
    fn set_limit(&mut self, limit: QueueLimit);
}

/// What a queue may ask of the world.
pub struct PacketCx<'a> {
    /// The present instant.
    pub now: Time,
    /// The present rate of the link.
    pub rate: Rate,
    /// The queue's own stream of random numbers.
    pub random: &'a mut Random,
    /// The packets.
    pub arena: &'a mut Arena,
    /// Packets that the queue drops from inside, each with its reason.
    pub dropped: &'a mut Vec<(PacketId, DropReason)>,
    /// How many packets the queue marked itself, beside those of [`Verdict::Mark`].
    pub marked: u64,
}

/// How much may wait in a queue; in each class, where there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimit {
    /// Packets.
    pub packets: u32,
    /// ECN threshold of a queue without a rule of its own: packets that understand marks are marked when at least this many packets wait;
    /// `u32::MAX` for never.
    pub mark_above: u32,
    /// Bytes.
    pub bytes: Bytes,
}

impl QueueLimit {
    /// Whether a packet of `size_bytes` finds room where `packets` packets of `bytes` bytes wait.
    #[inline]
    pub const fn admits(&self, packets: u32, bytes: u64, size_bytes: u64) -> bool {
        packets < self.packets && bytes + size_bytes <= self.bytes.as_u64()
    }
}

/// What waits in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Their bytes.
    pub bytes: Bytes,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Pass,
    /// It goes on, marked.
    Mark,
    /// It is dropped.
    Drop(DropReason),
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// The queue was full.
    QueueFull,
    /// Active queue management (AQM), such as CoDel, dropped it although there was room.
    Early,
    /// The link's random loss.
    RandomLoss,
    /// The link was down, or went down during its transmission.
    LinkDown,
    /// No route to its destination.
    NoRoute,
    /// It reached its destination, where no endpoint listens: the flow has stopped, has not started, or has restarted since it was sent.
    NotListening,
    /// It took more hops than any route has: routes changed and formed a loop.
    HopLimit,
}

impl DropReason {
    /// All of them, in order.
    pub const ALL: [Self; 7] = [
        Self::QueueFull,
        Self::Early,
        Self::RandomLoss,
        Self::LinkDown,
        Self::NoRoute,
        Self::NotListening,
        Self::HopLimit,
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
        }
    }
}
