//! Limits of pending Interests per face.

use contract::Setup;
use units::{Rate, Time};

use super::Params;

contract::choice! {
    /// What limits a face.
    pub enum Form {
        /// How many Interests are out: the limit.
        Window = "window",
        /// How fast they leave: a leaky bucket as deep as the limit, which drains in the time that the limit is computed with.
        Rate = "rate",
        /// Nothing.
        None = "none",
    }
}

/// What all limits of a node have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rules {
    form: Form,
    /// The round-trip time that a limit is computed with, in seconds.
    rtt_s: f64,
    adapt: bool,
    rtts: f64,
    /// Bytes of a Data packet and its Interest.
    packet: f64,
}

impl Rules {
    pub(super) fn new(params: &Params, setup: &Setup) -> Self {
        Self {
            form: params.limit,
            rtt_s: params.rtt.as_secs_f64(),
            adapt: params.adapt,
            rtts: params.rtts,
            packet: (setup.segment + params.interest).as_f64(),
        }
    }
}

/// The limit of a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limit {
    /// Packets per second that the link brings back.
    capacity: f64,
    /// L, in packets.
    pub limit: f64,
    /// Maximum L.
    max: f64,
    /// Smoothed round-trip time of the face, in seconds; 0 before the first.
    rtt_s: f64,
    /// What is in the bucket, in packets.
    level: f64,
    drained_at: Time,
}

impl Limit {
    /// Of a face whose link brings back `rate_in`.
    pub(super) fn new(rate_in: Rate, rules: &Rules) -> Self {
        // B = C/8/(1100 + 40)·RTT                                                        [CAWKA, YIC]
        let capacity = rate_in.as_bps_f64() / 8.0 / rules.packet;
        let max = (capacity * rules.rtt_s).max(1.0);
        Self { capacity, limit: max, max, rtt_s: 0.0, level: 0.0, drained_at: Time::ZERO }
    }

    /// Whether one more Interest may leave while `out` are out; then it is counted.
    pub(super) fn borrow(&mut self, out: u32, now: Time, rules: &Rules) -> bool {
        match rules.form {
            Form::None => true,
            // differs: of a limit with a fraction the fraction is not used
            Form::Window => f64::from(out) + 1.0 <= self.limit,
            Form::Rate => {
                // level drains at L/RTT; an Interest conforms if depth − level ≥ 1       [YIC]
                let seconds = now.saturating_since(self.drained_at).as_secs_f64();
                let drain = self.limit / self.reckoned(rules);
                self.level = (self.level - seconds * drain).max(0.0);
                self.drained_at = now;
                // what fell short by a rounding conforms
                let conforms = self.limit - self.level >= 1.0 - 1e-9;
                self.level += if conforms { 1.0 } else { 0.0 };
                conforms
            }
        }
    }

    /// The round-trip time that the limit is computed with, in seconds.
    fn reckoned(&self, rules: &Rules) -> f64 {
        if rules.adapt && self.rtt_s > 0.0 { rules.rtts * self.rtt_s } else { rules.rtt_s }
    }

    /// Data came from the face, after this round-trip time in seconds if that is known.
    pub(super) fn on_data(&mut self, rtt_s: Option<f64>, rules: &Rules) {
        if !rules.adapt {
            return;
        }
        if let Some(rtt_s) = rtt_s.filter(|rtt_s| *rtt_s > 0.0) {
            // our choice: smoothed as a round-trip time is for TCP
            self.rtt_s = if self.rtt_s == 0.0 { rtt_s } else { self.rtt_s + (rtt_s - self.rtt_s) / 8.0 };
            self.max = (self.capacity * self.reckoned(rules)).max(1.0);
        }
        // L ← L + 1, within 0 and C·RTT                                                  [YIC]
        self.limit = (self.limit + 1.0).min(self.max);
    }

    /// The face refused.
    pub(super) fn on_nack(&mut self, rules: &Rules) {
        if rules.adapt {
            // L ← L − 1                                                                  [YIC]
            // differs: one at least, since a face that nothing is sent to is never heard of again
            self.limit = (self.limit - 1.0).max(1.0);
        }
    }
}
