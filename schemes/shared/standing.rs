//! Marks for a standing queue, as in PCON: CoDel with marks, and one pending mark for the next packet.

use units::{Duration, Time};

/// When a queue is standing, and when marks are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandingQueueRules {
    /// Acceptable queueing delay.
    pub target: Duration,
    /// How long the queueing delay may exceed the target.
    pub interval: Duration,
    /// Time between the first and the second mark; after the n-th mark it is 1/√n of this.
    pub gap: Duration,
}

/// The state of a queue, updated by departures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandingQueue {
    /// Since when the queueing delay exceeds the target; [`Time::NEVER`] while it does not.
    above_since: Time,
    /// It has exceeded it for `interval`: the queue is standing.
    exceeded: bool,
    /// No mark before this.
    next: Time,
    /// Marks since the queue is standing.
    count: u32,
    /// Level of the mark that waits for a packet; 0 for none.
    mark: u8,
}

impl Default for StandingQueue {
    fn default() -> Self {
        Self { above_since: Time::NEVER, exceeded: false, next: Time::ZERO, count: 0, mark: 0 }
    }
}

impl StandingQueue {
    /// Takes the departure of a packet after a queueing delay of `waited`. If a mark is due, `level` returns its level,
    /// from 1.
    #[inline]
    pub fn on_departure(
        &mut self,
        now: Time,
        waited: Duration,
        rules: &StandingQueueRules,
        level: impl FnOnce() -> u8,
    ) {
        if waited <= rules.target {
            return self.fall();
        }
        if self.above_since == Time::NEVER {
            self.above_since = now;
            self.exceeded = false;
        } else {
            self.exceeded = now - self.above_since > rules.interval;
        }
        if !self.exceeded {
            self.count = 0;
        } else if now >= self.next {
            self.count += 1;
            self.mark = level();
            self.next = now + rules.gap.over_sqrt(self.count);
        }
    }

    /// Ends the standing state. The time of the next mark and a pending mark are kept.
    #[inline]
    fn fall(&mut self) {
        (self.above_since, self.exceeded, self.count) = (Time::NEVER, false, 0);
    }

    /// Whether the queue is standing.
    pub const fn is_over(&self) -> bool {
        self.exceeded
    }

    /// The pending mark for a packet that is about to be offered, if the queue is still standing. `busy` is whether the
    /// link transmits; if not, the queue is empty.
    #[inline]
    pub fn take_mark(&mut self, busy: bool) -> u8 {
        if !busy {
            self.fall();
        }
        let mark = std::mem::take(&mut self.mark);
        if self.exceeded { mark } else { 0 }
    }
}
