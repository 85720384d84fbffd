//! Length control of a queue of Interests: drop-tail, PIE, or CoDel. Rules that the release of HIS does not set are those of RFC 8033 and RFC 8289.

use contract::{LaneView, Random};
use units::{Duration, Time};

use super::Params;

contract::choice! {
    /// Queue management of the Interest queue.
    pub enum Queue {
        /// What finds it full is refused.
        DropTail = "drop_tail",
        /// PIE: what comes is refused with a probability that follows the wait.
        Pie = "pie",
        /// CoDel: the first of a line that stood for too long is refused.
        Codel = "codel",
    }
}

/// PIE, of one line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pie {
    pub probability: f64,
    /// The wait at the last computation, in seconds.
    wait_s: f64,
    /// What is left of the time in which nothing is refused.
    burst: Duration,
    reckoned_at: Time,
}

/// The wait of the first of a line.
fn wait(lane: &LaneView, now: Time) -> Duration {
    lane.since.map_or(Duration::ZERO, |since| now.saturating_since(since))
}

impl Pie {
    /// An Interest comes. Whether it is refused.
    pub(super) fn refuses(
        &mut self,
        lane: &LaneView,
        now: Time,
        params: &Params,
        random: &mut Random,
    ) -> bool {
        self.reckon(lane, now, params);
        let target_s = params.pie_target.as_secs_f64();
        // nothing is refused in a burst, nor while the line is short                        [RFC8033 §4.1, §4.4]
        if self.burst > Duration::ZERO
            || (self.wait_s < target_s / 2.0 && self.probability < 0.2)
            || lane.packets <= 2
        {
            return false;
        }
        random.chance(self.probability)
    }

    /// Brings the probability up to date, interval by interval.
    fn reckon(&mut self, lane: &LaneView, now: Time, params: &Params) {
        if self.reckoned_at == Time::ZERO {
            (self.reckoned_at, self.burst) = (now, params.pie_max_burst);
        }
        let target_s = params.pie_target.as_secs_f64();
        let mut left = MAX_INTERVALS;
        while now.saturating_since(self.reckoned_at) >= params.pie_update_interval {
            self.reckoned_at = if left == 0 { now } else { self.reckoned_at + params.pie_update_interval };
            left = left.saturating_sub(1);
            let wait_s = wait(lane, self.reckoned_at).as_secs_f64();
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

/// CoDel, of one line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Codel {
    /// The wait has been too long since an interval before then; zero while it is not.
    above_at: Time,
    dropping: bool,
    next_at: Time,
    count: u32,
    last_count: u32,
}

impl Codel {
    /// The first of the line could go. Whether it is refused; then this is asked of the next one.
    pub(super) fn refuses(&mut self, lane: &LaneView, now: Time, params: &Params) -> bool {
        let interval = params.codel_interval;
        // above the target for an interval; the last one of a line goes in any case           [RFC8289 §4.4]
        let bad = if wait(lane, now) < params.codel_target || lane.packets <= 1 {
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
        // soon after the last time it goes on where it was                                    [RFC8289 §5.4]
        let delta = self.count - self.last_count;
        let soon = now.saturating_since(self.next_at) < interval * 16;
        self.count = if soon && delta > 1 { delta } else { 1 };
        self.next_at = now + spaced(interval, self.count);
        self.last_count = self.count;
        true
    }
}

/// interval/√count [RFC8289 §4.2].
fn spaced(interval: Duration, count: u32) -> Duration {
    interval.scaled(1.0 / f64::from(count.max(1)).sqrt())
}

/// Our choice: after a long silence not every interval is computed.
const MAX_INTERVALS: u32 = 100;
