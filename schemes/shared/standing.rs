//! Marks for queues with a long queueing delay, as in PCON: CoDel that marks, and one pending mark for the next packet.

use units::{Duration, Time};

/// When a queue stands, and when a mark is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandingRules {
    /// Packets may wait this long for as long as they like.
    pub target: Duration,
    /// How long they may wait longer.
    pub interval: Duration,
    /// From the first mark to the second; to the one after the n-th it is 1/√n of it.
    pub gap: Duration,
}

/// A queue, by what leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Since when packets wait longer than the target; never while they do not.
    above_since: Time,
    /// They have done so for an interval.
    over: bool,
    /// No mark before then.
    next: Time,
    /// Marks since the queue stands.
    count: u32,
    /// A mark waits for its packet: its level, 0 for none.
    mark: u8,
}

impl Default for Standing {
    fn default() -> Self {
        Self { above_since: Time::NEVER, over: false, next: Time::ZERO, count: 0, mark: 0 }
    }
}

impl Standing {
    /// A packet that waited for `waited` leaves the queue. Where a mark is due, `level` says which, from 1.
    #[inline]
    pub fn on_departure(
        &mut self,
        now: Time,
        waited: Duration,
        rules: &StandingRules,
        level: impl FnOnce() -> u8,
    ) {
        if waited <= rules.target {
            return self.fall();
        }
        if self.above_since == Time::NEVER {
            self.above_since = now;
            self.over = false;
        } else {
            self.over = now - self.above_since > rules.interval;
        }
        if !self.over {
            self.count = 0;
        } else if now >= self.next {
            self.count += 1;
            self.mark = level();
            self.next = now + rules.gap.over_sqrt(self.count);
        }
    }

    /// It does not stand. What it remembers of it is when the next mark would have been, and a mark that has found no packet.
    #[inline]
    fn fall(&mut self) {
        (self.above_since, self.over, self.count) = (Time::NEVER, false, 0);
    }

    /// Whether it stands.
    pub const fn is_over(&self) -> bool {
        self.over
    }

    /// A packet is about to join the queue: the mark that waits, if the queue still stands. `busy` says whether the link transmits; if not,
    /// the queue has run empty.
    #[inline]
    pub fn take_mark(&mut self, busy: bool) -> u8 {
        if !busy {
            self.fall();
        }
        let mark = std::mem::take(&mut self.mark);
        if self.over { mark } else { 0 }
    }
}
