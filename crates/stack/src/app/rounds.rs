//! Rounds of requests: a request on every connection at once, and the next round after all answers (barrier) and a
//! think time. One connection gives a closed loop with think time, many give incast.

use units::Time;

use super::{Exchange, Shared, Sizes};
use crate::datagram::DurationDistribution;

/// Settings of a client that works in rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds {
    /// Sizes of the answers, drawn for each connection and round.
    pub sizes: Sizes,
    /// Think time between the end of a round and the start of the next one; `None` for none.
    pub think: Option<DurationDistribution>,
    /// Number of rounds; [`u32::MAX`] for no limit.
    pub count: u32,
}

pub(super) struct State {
    config: Rounds,
    /// Answers that are missing in this round.
    missing: usize,
    next_at: Time,
}

impl State {
    pub(super) fn new(config: &Rounds) -> Self {
        Self { config: config.clone(), missing: 0, next_at: Time::NEVER }
    }

    pub(super) fn begin(&mut self, shared: &mut Shared, now: Time) {
        self.next_at = Time::NEVER;
        if shared.stopped || shared.exchanges.len() >= self.config.count as usize {
            return;
        }
        self.missing = shared.connections.len();
        let mut bytes = 0;
        for connection in 0..self.missing {
            let size = self.config.sizes.draw(&mut shared.random);
            shared.request(connection, size, 0, now);
            bytes += size.as_u64();
        }
        shared.exchanges.push(Exchange {
            started_at: now,
            completed_at: Time::NEVER,
            bytes,
            segment: None,
            abandoned: 0,
        });
    }

    pub(super) fn on_answer(&mut self, shared: &mut Shared, now: Time) {
        self.missing -= 1;
        if self.missing > 0 {
            return;
        }
        if let Some(round) = shared.exchanges.last_mut() {
            round.completed_at = now;
        }
        match &self.config.think {
            Some(think) => self.next_at = now + think.draw(&mut shared.random),
            None => self.begin(shared, now),
        }
    }

    pub(super) fn on_timer(&mut self, shared: &mut Shared, now: Time) {
        if self.next_at <= now {
            self.begin(shared, now);
        }
    }

    pub(super) const fn wake(&self) -> Time {
        self.next_at
    }
}
