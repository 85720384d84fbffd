//! Pending NAKs, which can be cancelled before they are sent.

use contract::Random;
use units::{Duration, Time};

use super::words::Run;

/// What a receiver means to say, each thing after a wait of its own.
///
/// As many fit as PGM puts into one list of NAKs [RFC3208 §9.3]; more are not sent, since they would report the same loss rate.
#[derive(Clone, Debug)]
pub(super) struct Naks {
    /// Longest wait.
    longest: Duration,
    pending: Vec<(Time, Run)>,
    /// When the NAK without a missing packet is due.
    dummy: Time,
    /// The earliest of all.
    next: Time,
}

impl Naks {
    /// None pending.
    pub(super) fn new(longest: Duration) -> Self {
        Self { longest, pending: Vec::with_capacity(MAX), dummy: Time::NEVER, next: Time::NEVER }
    }

    /// Packets are missing. Returns whether a NAK will be sent unless it becomes needless.
    pub(super) fn missing(&mut self, run: Run, now: Time, random: &mut Random) -> bool {
        let fits = self.pending.len() < MAX;
        if fits {
            let due = self.draw(now, random);
            self.pending.push((due, run));
            self.next = self.next.min(due);
        }
        fits
    }

    /// There is no acker.
    pub(super) fn elect(&mut self, now: Time, random: &mut Random) {
        if self.dummy == Time::NEVER {
            self.dummy = self.draw(now, random);
            self.next = self.next.min(self.dummy);
        }
    }

    /// There is an acker: returns whether a dummy NAK became needless.
    #[inline]
    pub(super) fn elected(&mut self) -> bool {
        let pending = self.dummy != Time::NEVER;
        if pending {
            self.dummy = Time::NEVER;
            self.measure();
        }
        pending
    }

    /// The source knows that `run` is missing somewhere: returns how many NAKs became needless.
    pub(super) fn confirmed(&mut self, run: &Run) -> usize {
        let before = self.pending.len();
        self.pending.retain(|(_, pending)| !run.covers(pending));
        self.measure();
        before - self.pending.len()
    }

    /// Takes a NAK that is due.
    pub(super) fn due(&mut self, now: Time) -> Option<Due> {
        let due = if let Some(at) = self.pending.iter().position(|(due, _)| *due <= now) {
            // any NAK answers the call for an acker
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

    /// When the next is due.
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

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Packets are missing.
    Nak(Run),
    /// There was no acker.
    Dummy,
}

/// Most NAKs that wait.
const MAX: usize = 63;
