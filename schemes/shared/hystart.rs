//! Slow start that ends before a loss: HyStart as in Linux [HR11], and HyStart++ [RFC9406].

use contract::{Ack, Cx};
use units::{Duration, Segments, Time};

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
    here: Duration,
    samples: u32,
    round_began: Time,
    /// The last acknowledgement of the train at the start of the round.
    train_at: Time,
    /// The delay when slower growth started [RFC9406 §4.2: cssBaselineMinRtt].
    baseline: Duration,
    /// Rounds of slower growth left.
    slow_rounds: u32,
    found: bool,
}

/// The result of an acknowledgement in slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlowStart {
    /// Add these segments.
    Add(f64),
    /// Slow start ends here.
    End,
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
            here: Duration::MAX,
            samples: 0,
            round_began: Time::NEVER,
            train_at: Time::NEVER,
            baseline: Duration::MAX,
            slow_rounds: CSS_ROUNDS,
            found: false,
        }
    }

    /// Whether its increase replaces that of slow start.
    pub fn replaces_step(&self) -> bool {
        self.plus
    }

    /// Resets the state after a timeout.
    pub fn reset(&mut self) {
        *self = Self::watching(self.plus);
    }

    /// Takes an acknowledgement of `acked` segments with the window `window`.
    pub fn on_ack(&mut self, window: Segments, acked: f64, ack: &Ack, cx: &Cx<'_>) -> SlowStart {
        if self.plus {
            self.hystart_plus_plus(acked, ack)
        } else {
            self.hystart(window, acked, ack, cx.now())
        }
    }

    fn hystart(&mut self, window: Segments, acked: f64, ack: &Ack, now: Time) -> SlowStart {
        let Some(rtt) = ack.rtt.filter(|_| !self.found) else { return SlowStart::Add(acked) };
        self.min = self.min.min(rtt);
        if ack.round_ended || self.round_began == Time::NEVER {
            (self.round_began, self.train_at) = (now, now);
            (self.here, self.samples) = (Duration::MAX, 0);
        }
        if window.0 < LOW_WINDOW {
            return SlowStart::Add(acked);
        }
        // a train of acknowledgements as long as half a round-trip time fills the path       [HR11 §4.1]
        if now - self.train_at <= TRAIN_GAP {
            self.train_at = now;
            self.found = now - self.round_began > (self.min + TRAIN_SLACK) / 2;
        }
        // RTT_now ≥ RTT_last + η: a queue grows                                               [HR11 §4.2]
        self.here = self.here.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else if self.here > self.min + threshold(self.min) {
            self.found = true;
        }
        if self.found { SlowStart::End } else { SlowStart::Add(acked) }
    }

    fn hystart_plus_plus(&mut self, acked: f64, ack: &Ack) -> SlowStart {
        // cwnd += min(N, L·SMSS)                                                              [RFC9406 §4.2]
        let acked = acked.min(MAX);
        if ack.round_ended {
            let slow = self.baseline != Duration::MAX;
            if slow && self.slow_rounds == 1 {
                self.found = true;
                return SlowStart::End;
            }
            self.slow_rounds -= u32::from(slow);
            (self.min, self.here, self.samples) = (self.here, Duration::MAX, 0);
        }
        if let Some(rtt) = ack.rtt {
            self.here = self.here.min(rtt);
            self.samples += 1;
        }
        if self.samples >= SAMPLES {
            if self.baseline != Duration::MAX {
                if self.here < self.baseline {
                    // the delay did not persist: slow start resumes                           [RFC9406 §4.2]
                    (self.baseline, self.slow_rounds) = (Duration::MAX, CSS_ROUNDS);
                }
            } else if self.min != Duration::MAX && self.here >= self.min + threshold(self.min) {
                // currentRoundMinRTT ≥ lastRoundMinRTT + RttThresh                            [RFC9406 §4.2]
                self.baseline = self.here;
            }
        }
        // a quarter of that in conservative slow start                                        [RFC9406 §4.2]
        SlowStart::Add(if self.baseline == Duration::MAX { acked } else { acked / CSS_DIVISOR })
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
