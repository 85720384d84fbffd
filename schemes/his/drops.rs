//! Length control of a queue of Interests: drop-tail, PIE, or CoDel. Where the release of HIS sets no rule, RFC 8033
//! and RFC 8289 apply.

use contract::{InterestQueueView, Random};
use units::{Duration, Time};

use super::Params;

contract::choice! {
    /// Queue management of the Interest queue.
    pub enum Queue {
        /// Drop-tail: an Interest that finds the queue full is refused.
        DropTail = "drop_tail",
        /// PIE: an arriving Interest is refused with a probability that follows the queueing delay.
        Pie = "pie",
        /// CoDel: the first Interest of a queue with persistent delay is refused.
        Codel = "codel",
    }
}

/// The state of PIE for one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pie {
    pub probability: f64,
    /// The queueing delay at the last update, in seconds.
    wait_s: f64,
    /// Time that is left of the burst allowance.
    burst: Duration,
    updated_at: Time,
}

/// The queueing delay of the first Interest.
fn wait(interest_queue: &InterestQueueView, now: Time) -> Duration {
    interest_queue.since.map_or(Duration::ZERO, |since| now.saturating_since(since))
}

impl Pie {
    /// Whether an arriving Interest is refused.
    pub(super) fn refuses(
        &mut self,
        interest_queue: &InterestQueueView,
        now: Time,
        params: &Params,
        random: &mut Random,
    ) -> bool {
        self.update_probability(interest_queue, now, params);
        let target_s = params.pie_target.as_secs_f64();
        // no refusal in a burst, nor while the queue is short                                [RFC8033 §4.1, §4.4]
        if self.burst > Duration::ZERO
            || (self.wait_s < target_s / 2.0 && self.probability < 0.2)
            || interest_queue.packets <= 2
        {
            return false;
        }
        random.chance(self.probability)
    }

    /// Updates the probability, once per interval.
    fn update_probability(&mut self, interest_queue: &InterestQueueView, now: Time, params: &Params) {
        if self.updated_at == Time::ZERO {
            (self.updated_at, self.burst) = (now, params.pie_max_burst);
        }
        let target_s = params.pie_target.as_secs_f64();
        let mut remaining = MAX_INTERVALS;
        while now.saturating_since(self.updated_at) >= params.pie_update_interval {
            self.updated_at = if remaining == 0 { now } else { self.updated_at + params.pie_update_interval };
            remaining = remaining.saturating_sub(1);
            let wait_s = wait(interest_queue, self.updated_at).as_secs_f64();
            // p += α·(delay − target) + β·(delay − old), in smaller steps while p is small  [CCNEW, RFC8033 §4.2]
            let step = params.pie_alpha * (wait_s - target_s) + params.pie_beta * (wait_s - self.wait_s);
            let scale = match self.probability {
                p if p < 0.000_001 => 1.0 / 2048.0,
                p if p < 0.000_01 => 1.0 / 512.0,
                p if p < 0.000_1 => 1.0 / 128.0,
                p if p < 0.001 => 1.0 / 32.0,
                p if p < 0.01 => 1.0 / 8.0,
                p if p < 0.1 => 1.0 / 2.0,
                _ => 1.0,
            };
            self.probability = (self.probability + step * scale).clamp(0.0, 1.0);
            if wait_s == 0.0 && self.wait_s == 0.0 {
                self.probability *= 0.98;
            }
            self.burst = self.burst.saturating_sub(params.pie_update_interval);
            let calm = wait_s < target_s / 2.0 && self.wait_s < target_s / 2.0;
            if self.probability == 0.0 && calm {
                self.burst = params.pie_max_burst;
            }
            self.wait_s = wait_s;
        }
    }
}

/// The state of CoDel for one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Codel {
    /// The delay exceeds the target for an interval at this time; zero while it does not exceed it.
    above_at: Time,
    dropping: bool,
    next_at: Time,
    count: u32,
    last_count: u32,
}

impl Codel {
    /// Whether the first Interest, which could leave, is refused. If so, this is called for the next one.
    pub(super) fn refuses(&mut self, interest_queue: &InterestQueueView, now: Time, params: &Params) -> bool {
        let interval = params.codel_interval;
        // above the target for an interval; the last Interest of a queue is not refused        [RFC8289 §4.4]
        let bad = if wait(interest_queue, now) < params.codel_target || interest_queue.packets <= 1 {
            self.above_at = Time::ZERO;
            false
        } else if self.above_at == Time::ZERO {
            self.above_at = now + interval;
            false
        } else {
            now >= self.above_at
        };
        if self.dropping {
            if !bad {
                self.dropping = false;
                return false;
            }
            if now < self.next_at {
                return false;
            }
            self.count += 1;
            self.next_at += spaced(interval, self.count);
            return true;
        }
        if !bad {
            return false;
        }
        self.dropping = true;
        // soon after the last dropping state, the drop rate continues where it was            [RFC8289 §5.4]
        let delta = self.count - self.last_count;
        let recent = now.saturating_since(self.next_at) < interval * 16;
        self.count = if recent && delta > 1 { delta } else { 1 };
        self.next_at = now + spaced(interval, self.count);
        self.last_count = self.count;
        true
    }
}

/// interval/√count [RFC8289 §4.2].
fn spaced(interval: Duration, count: u32) -> Duration {
    interval.scaled(1.0 / f64::from(count.max(1)).sqrt())
}

/// Our choice: maximum number of updates after a long silence.
const MAX_INTERVALS: u32 = 100;
