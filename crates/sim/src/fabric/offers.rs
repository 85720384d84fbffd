//! What offers of packets, services of queues and departures come to.

use contract::{DropReason, PacketId};
use units::{Duration, Time};

/// The result of an offer of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    /// Accepted; nothing to schedule.
    Accepted,
    /// Accepted; schedule an `Arrive` at this time.
    Arrive(Time),
    /// Schedule a `Depart` at this time.
    Depart(Time),
    /// Dropped.
    Dropped(DropReason),
}

/// Who takes the packets that are offered to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfferPath {
    /// The ring: the port is up, has a constant rate and no queue discipline, and no router observes it.
    Fast,
    /// The queue discipline: the port is up, has one, a trace or a bucket neither, and nobody looks at it.
    Discipline,
    /// The ring, after the policer, as of the plan of a trace or a shaper: the port is up and has any of them, no queue
    /// discipline, and nobody looks at it.
    Planned,
    /// The ring as well, and the state machine of the node sees offers, departures or both: otherwise as
    /// [`OfferPath::Fast`].
    Observed,
    /// Any other port. This path is the definition: every other is equal to it, packet by packet
    /// (`tests/oracle/oracle.py` compares trace hashes).
    Slow,
    /// The fan of which the port is, see [`super::Fabric::form_fan`].
    Fan,
}

/// The result of an offer on the slow path.
pub(crate) enum SlowOffer {
    /// The plain FIFO accepted or dropped the packet, or the link is down.
    Fifo(Offer),
    /// The port has a discipline, which may be due for a service. It dropped the offered packet if there is a reason.
    Discipline(Option<DropReason>),
}

/// The result of an offer straight to a queue discipline.
pub(crate) struct DisciplineOffer {
    /// Packets put on the link.
    pub sent: u64,
    /// The `Arrive` to schedule, if any.
    pub arrive: Offer,
    /// Why the offered packet was dropped, if it was.
    pub refused: Option<DropReason>,
}

/// What an offer straight to a queue discipline came to.
pub(crate) enum OfferOutcome {
    /// The packet has found the queue empty and the link idle, and is on the link.
    PassedThrough(Offer),
    /// Anything else.
    Queued(DisciplineOffer),
}

/// A packet that a discipline has put on the link.
pub(crate) struct Service {
    pub packet: PacketId,
    /// How long the packet has waited, if the router of the port observes departures.
    pub observed: Option<Duration>,
}

/// What a `Depart` stands for.
pub(crate) enum Due {
    /// It is stale.
    Nothing,
    /// An observed FIFO starts a transmission.
    Start,
    /// A port with a discipline is to be served.
    Service,
}

/// What an offer to an observed FIFO leaves to report.
pub(crate) enum Reports {
    Nothing,
    /// The departure of the offered packet, which has not waited.
    Offered,
    /// Whatever [`super::Fabric::next_departure`] returns.
    Due,
}

/// The next step of reporting departures from a plain FIFO.
pub(crate) enum Departure {
    /// Report this packet, whose transmission has started, and how long it waited.
    Show(PacketId, Duration),
    /// Schedule a `Depart` at this time, when the next one starts.
    Wait(Time),
    /// Nothing waits, or its event is pending.
    Done,
}
