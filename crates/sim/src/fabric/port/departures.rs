//! Departures from a plain FIFO, for routers that observe them.
//!
//! The plain FIFO knows when each packet will start as soon as it has accepted it. If a router observes departures, queued packets have an event at
//! that instant as well; times and drops do not change. Ports with a discipline report departures directly.

use contract::PacketId;
use units::Time;

use super::Port;

/// How far a router has seen what leaves a plain FIFO.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    /// How many packets, the last of the ring, it has not seen leave.
    left: u32,
    /// When the pending `Depart` is due; another one is stale.
    armed: Time,
}

impl Default for Shown {
    fn default() -> Self {
        Self { left: 0, armed: Time::NEVER }
    }
}

/// What there is to do about departures from a plain FIFO.
pub(crate) enum Departure {
    /// A packet has started: show it to the router.
    Show(PacketId),
    /// The next one starts then: a `Depart` is wanted.
    Wait(Time),
    /// Nothing waits, or the event for it is pending.
    Done,
}

impl Port {
    /// Whether the departure event that is due now is the pending one; it is not where the rate changed meanwhile.
    pub(crate) fn departure_due(&mut self, now: Time) -> bool {
        match self.cold.observers.departures.as_mut() {
            Some(shown) if shown.armed == now => {
                shown.armed = Time::NEVER;
                true
            }
            _ => false,
        }
    }

    /// The FIFO was offered a packet, before which it held `before`.
    pub(in crate::fabric) fn count_unshown(&mut self, before: usize) {
        let accepted = (self.ring.len() - before) as u32;
        if let Some(shown) = self.cold.observers.departures.as_mut() {
            shown.left += accepted;
        }
    }

    /// The first packet that has started and was not shown, or when the next one starts. To be called until nothing is to be shown.
    pub(crate) fn next_departure(&mut self, now: Time) -> Departure {
        let Some(shown) = self.cold.observers.departures.as_mut() else { return Departure::Done };
        // what a failing link lost was never sent
        shown.left = shown.left.min(self.ring.len() as u32);
        if shown.left == 0 {
            return Departure::Done;
        }
        let slot = self.ring.at(self.ring.tail.wrapping_sub(shown.left));
        if slot.start <= now {
            shown.left -= 1;
            return Departure::Show(slot.packet);
        }
        if shown.armed == slot.start {
            return Departure::Done;
        }
        shown.armed = slot.start;
        Departure::Wait(slot.start)
    }
}
