//! Slow start that ends before a loss: HyStart as in Linux [HR11], and HyStart++ [RFC9406].

use contract::{Ack, Cause, Cx};
use units::{Duration, Time};

contract::choice! {
    /// What ends slow start besides a loss.
    pub enum Ending {
        /// Nothing.
        Off = "off",
        /// An acknowledgement train of half the minimum round-trip time, or growing delay, as in Linux.
        Linux = "linux",
        /// Growing delay, after some rounds of slower growth in which slow start may resume.
        Plus = "plus",
    }
}

/// The state of HyStart in slow start.
#[derive(Clone, Debug)]
pub struct HyStart {
    plus: bool,
    /// Minimum round-trip time so far; of the last round in HyStart++.
    min: Duration,
    /// Minimum of this round.
    round_min: Duration,
    samples: u32,
    round_began: Time,
    /// The last acknowledgement of the train at the start of the round.
    train_at: Time,
    /// The delay when slower growth started [RFC9406 §4.2: cssBaselineMinRtt].
    baseline: Duration,
    /// Rounds of slower growth left.
    slow_rounds: u32,
    /// The end of slow start is found; in HyStart++, the first slow start is over.
    found: bool,
}

impl HyStart {
    /// The state of a new connection; `None` if only losses end slow start.
    pub fn new(ending: Ending) -> Option<Box<Self>> {
        let plus = match ending {
            Ending::Off => return None,
            Ending::Linux => false,
            Ending::Plus => true,
        };
        Some(Box::new(Self::watching(plus)))
    }

    const fn watching(plus: bool) -> Self {
        Self {
            plus,
            min: Duration::MAX,
            round_min: Duration::MAX,
            samples: 0,
            round_began: Time::NEVER,
            train_at: Time::NEVER,
            baseline: Duration::MAX,
            slow_rounds: CSS_ROUNDS,
            found: false,
        }
    }

    /// The window is reduced. In Linux a timeout starts again; HyStart++ is for the first slow start only
    /// [RFC9406 §4.3].
    pub fn on_reduction(&mut self, cause: Cause) {
        if self.plus {
            self.found = true;
        } else if cause == Cause::Timeout {
            *self = Self::watching(false);
        }
    }

    /// Segments to add to the window `window` after an acknowledgement of `acked` segments, for which slow start
    /// without HyStart adds `step`; `None` ends slow start.
    pub fn slow_start(&mut self, window: f64, step: f64, acked: f64, ack: &Ack, cx: &Cx<'_>) -> Option<f64> {
        if self.found {
            return Some(step);
        }
        if self.plus {
            return self.hystart_plus_plus(acked, ack);
        }
        self.hystart(window, ack, cx.now());
        (!self.found).then_some(step)
    }

    /// An acknowledgement for which the window does not grow: its round-trip time can be the minimum
    /// [Linux: cubictcp_acked].
    pub fn observe(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt
            && !self.plus
        {
            self.min = self.min.min(rtt);
        }
    }

    fn hystart(&mut self, window: f64, ack: &Ack, now: Time) {
        let Some(rtt) = ack.rtt else { return };
        self.min = self.min.min(rtt);
        if ack.round_ended || self.round_began == Time::NEVER {
            (self.round_began, self.train_at) = (now, now);
            (self.round_min, self.samples) = (Duration::MAX, 0);
        }
        if window < LOW_WINDOW {
            return;
        }
        // a train of acknowledgements as long as half a round-trip time fills the path       [HR11 §4.1]
        if now - self.train_at <= TRAIN_GAP {
            self.train_at = now;
            self.found = now - self.round_began > (self.min + TRAIN_SLACK) / 2;
        }
        // RTT_now ≥ RTT_last + η: a queue grows                                               [HR11 §4.2]
        self.round_min = self.round_min.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else if self.round_min > self.min + threshold(self.min) {
            self.found = true;
        }
    }

    fn hystart_plus_plus(&mut self, acked: f64, ack: &Ack) -> Option<f64> {
        // cwnd += min(N, L·SMSS)                                                              [RFC9406 §4.2]
        let acked = acked.min(MAX);
        if ack.round_ended {
            let slow = self.baseline != Duration::MAX;
            if slow && self.slow_rounds == 1 {
                self.found = true;
                return None;
            }
            self.slow_rounds -= u32::from(slow);
            (self.min, self.round_min, self.samples) = (self.round_min, Duration::MAX, 0);
        }
        if let Some(rtt) = ack.rtt {
            self.round_min = self.round_min.min(rtt);
            self.samples += 1;
        }
        if self.samples >= SAMPLES {
            if self.baseline != Duration::MAX {
                if self.round_min < self.baseline {
                    // the delay did not persist: slow start resumes                           [RFC9406 §4.2]
                    (self.baseline, self.slow_rounds) = (Duration::MAX, CSS_ROUNDS);
                }
            } else if self.min != Duration::MAX && self.round_min >= self.min + threshold(self.min) {
                // currentRoundMinRTT ≥ lastRoundMinRTT + RttThresh                            [RFC9406 §4.2]
                self.baseline = self.round_min;
            }
        }
        // a quarter of that in conservative slow start                                        [RFC9406 §4.2]
        Some(if self.baseline == Duration::MAX { acked } else { acked / CSS_DIVISOR })
    }
}

/// η: an eighth of the round-trip time, 4 ms to 16 ms [RFC9406 §4.3; Linux has the same].
fn threshold(rtt: Duration) -> Duration {
    (rtt / 8).max(Duration::from_millis(4)).min(Duration::from_millis(16))
}

/// Samples of a round before its delay counts [HR11 §4.2, RFC9406 §4.3: N_RTT_SAMPLE].
const SAMPLES: u32 = 8;
/// Minimum window in segments for the detection [HR11 §5; Linux: hystart_low_window].
const LOW_WINDOW: f64 = 16.0;
/// Maximum gap in a train [Linux: hystart_ack_delta_us].
const TRAIN_GAP: Duration = Duration::from_millis(2);
/// Allowance for bursts of the sender itself [Linux, for senders below 262 MB/s].
const TRAIN_SLACK: Duration = Duration::from_millis(1);
/// Rounds of conservative slow start [RFC9406 §4.3: CSS_ROUNDS].
const CSS_ROUNDS: u32 = 5;
/// Divisor of growth in conservative slow start [RFC9406 §4.3: CSS_GROWTH_DIVISOR].
const CSS_DIVISOR: f64 = 4.0;
/// Maximum number of segments added per acknowledgement [RFC9406 §4.3: L, for senders without pacing].
const MAX: f64 = 8.0;
