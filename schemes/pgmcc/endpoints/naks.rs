//! Pending NAKs, which can be cancelled before they are sent.

use contract::Random;
use units::{Duration, Time};

use super::headers::PacketRange;

/// NAKs of a receiver, each pending for a random time.
///
/// The maximum is the length of a PGM list of NAKs [RFC3208 §9.3]; further NAKs are not sent, because they would report
/// the same loss rate.
#[derive(Clone, Debug)]
pub(super) struct Naks {
    /// Maximum delay.
    longest: Duration,
    pending: Vec<(Time, PacketRange)>,
    /// When the NAK without a missing packet is due.
    dummy: Time,
    /// The earliest deadline.
    next: Time,
}

impl Naks {
    /// None pending.
    pub(super) fn new(longest: Duration) -> Self {
        Self { longest, pending: Vec::with_capacity(MAX), dummy: Time::NEVER, next: Time::NEVER }
    }

    /// Adds a NAK for lost packets. Returns whether it is pending.
    pub(super) fn missing(&mut self, run: PacketRange, now: Time, random: &mut Random) -> bool {
        let fits = self.pending.len() < MAX;
        if fits {
            let due = self.draw(now, random);
            self.pending.push((due, run));
            self.next = self.next.min(due);
        }
        fits
    }

    /// Adds a dummy NAK, because there is no acker.
    pub(super) fn elect(&mut self, now: Time, random: &mut Random) {
        if self.dummy == Time::NEVER {
            self.dummy = self.draw(now, random);
            self.next = self.next.min(self.dummy);
        }
    }

    /// Cancels the dummy NAK, because there is an acker. Returns whether there was one.
    #[inline]
    pub(super) fn elected(&mut self) -> bool {
        let pending = self.dummy != Time::NEVER;
        if pending {
            self.dummy = Time::NEVER;
            self.measure();
        }
        pending
    }

    /// Cancels NAKs for `run`, because the source knows of the loss. Returns their number.
    pub(super) fn confirmed(&mut self, run: &PacketRange) -> usize {
        let before = self.pending.len();
        self.pending.retain(|(_, pending)| !run.covers(pending));
        self.measure();
        before - self.pending.len()
    }

    /// Takes a NAK that is due.
    pub(super) fn due(&mut self, now: Time) -> Option<Due> {
        let due = if let Some(at) = self.pending.iter().position(|(due, _)| *due <= now) {
            // any NAK is a report for the election
            self.dummy = Time::NEVER;
            Some(Due::Nak(self.pending.remove(at).1))
        } else if self.dummy <= now {
            self.dummy = Time::NEVER;
            Some(Due::Dummy)
        } else {
            None
        };
        self.measure();
        due
    }

    /// The next deadline.
    #[inline]
    pub(super) const fn next(&self) -> Time {
        self.next
    }

    fn draw(&self, now: Time, random: &mut Random) -> Time {
        // U(0, d)
        now + self.longest.scaled(random.uniform(0.0, 1.0))
    }

    fn measure(&mut self) {
        self.next = self.pending.iter().fold(self.dummy, |next, (due, _)| next.min(*due));
    }
}

/// A NAK that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// For lost packets.
    Nak(PacketRange),
    /// Because there is no acker.
    Dummy,
}

/// Maximum number of pending NAKs.
const MAX: usize = 63;
