//! Departures from a plain FIFO, for routers that observe them.
//!
//! The plain FIFO knows when each packet will start as soon as it has accepted it. If a router observes departures,
//! queued packets have an event at that instant as well; times and drops do not change. Ports with a discipline report
//! departures directly.

use contract::PacketId;
use units::Time;

use super::Port;

/// Which packets of a plain FIFO a router has seen leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObservedDepartures {
    /// Number of packets at the end of the ring that it has not seen leave.
    unobserved: u32,
    /// When the pending `Depart` is due; any other is stale.
    armed: Time,
}

impl Default for ObservedDepartures {
    fn default() -> Self {
        Self { unobserved: 0, armed: Time::NEVER }
    }
}

/// What an accepted packet means for the router that observes departures.
pub(in crate::fabric) enum Accepted {
    /// No router observes them.
    Unseen,
    /// The transmission of the packet starts now, and is to be reported.
    Starts,
    /// The packet is reported by [`Port::next_departure`].
    Queued,
}

/// The start of the next transmission that a router has not seen.
pub(in crate::fabric) enum NextStart {
    /// The transmission of this packet has started.
    Past(PacketId),
    /// It starts at this time, for which no event is pending yet.
    Due(Time),
    /// Nothing waits, or the event is pending.
    Nothing,
}

impl Port {
    /// Whether the departure event that is due now is the pending one. It is not if the rate changed meanwhile.
    pub(in crate::fabric) fn departure_due(&mut self, now: Time) -> bool {
        match self.cold.observers.departures.as_mut() {
            Some(observed) if observed.armed == now => {
                observed.armed = Time::NEVER;
                true
            }
            _ => false,
        }
    }

    /// Notes a packet that the FIFO, which transmits at a constant rate, has accepted now. Returns what to do about
    /// departures.
    #[inline]
    pub(in crate::fabric) fn note_accepted(&mut self) -> Accepted {
        let starts = self.ring.waiting == self.ring.tail;
        match self.cold.present().observers.departures.as_mut() {
            None => Accepted::Unseen,
            // nothing else is to be reported before
            Some(observed) if starts && observed.unobserved == 0 => Accepted::Starts,
            Some(observed) => {
                observed.unobserved += 1;
                Accepted::Queued
            }
        }
    }

    /// Counts the packets that the FIFO accepted beyond the `before` that it held.
    pub(in crate::fabric) fn count_unobserved(&mut self, before: usize) {
        let accepted = (self.ring.len() - before) as u32;
        if let Some(observed) = self.cold.observers.departures.as_mut() {
            observed.unobserved += accepted;
        }
    }

    /// The next packet to report, or when the next one starts. Call it until it returns no `Past`.
    pub(in crate::fabric) fn next_departure(&mut self, now: Time) -> NextStart {
        let Some(observed) = self.cold.observers.departures.as_mut() else { return NextStart::Nothing };
        // packets that a failing link lost were not sent
        observed.unobserved = observed.unobserved.min(self.ring.len() as u32);
        if observed.unobserved == 0 {
            return NextStart::Nothing;
        }
        let slot = self.ring.at(self.ring.tail.wrapping_sub(observed.unobserved));
        if slot.start <= now {
            observed.unobserved -= 1;
            return NextStart::Past(slot.packet);
        }
        if observed.armed == slot.start {
            return NextStart::Nothing;
        }
        observed.armed = slot.start;
        NextStart::Due(slot.start)
    }
}
