//! Limits of pending Interests per face.

use contract::Setup;
use units::{Rate, Time};

use super::Params;

contract::choice! {
    /// The kind of limit of a face.
    pub enum Form {
        /// The number of pending Interests.
        Window = "window",
        /// The rate of Interests: a leaky bucket with the limit as its depth, which drains within the assumed
        /// round-trip time.
        Rate = "rate",
        /// No limit.
        None = "none",
    }
}

/// The common properties of all limits of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rules {
    form: Form,
    /// The assumed round-trip time, in seconds.
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
    /// Packets per second that the link can return.
    capacity: f64,
    /// L, in packets.
    pub limit: f64,
    /// Maximum L.
    max: f64,
    /// Smoothed round-trip time of the face, in seconds; 0 before the first.
    rtt_s: f64,
    /// Level of the bucket, in packets.
    level: f64,
    drained_at: Time,
}

impl Limit {
    /// The limit of a face whose link returns `rate_in`.
    pub(super) fn new(rate_in: Rate, rules: &Rules) -> Self {
        // B = C/8/(1100 + 40)·RTT                                                        [CAWKA, YIC]
        let capacity = rate_in.as_bps_f64() / 8.0 / rules.packet;
        let max = (capacity * rules.rtt_s).max(1.0);
        Self { capacity, limit: max, max, rtt_s: 0.0, level: 0.0, drained_at: Time::ZERO }
    }

    /// Whether another Interest may be sent while `out` are pending; if so, counts it.
    pub(super) fn try_admit(&mut self, out: u32, now: Time, rules: &Rules) -> bool {
        match rules.form {
            Form::None => true,
            // differs: the fraction of a limit is not used
            Form::Window => f64::from(out) + 1.0 <= self.limit,
            Form::Rate => {
                // level drains at L/RTT; an Interest conforms if depth − level ≥ 1       [YIC]
                let seconds = now.saturating_since(self.drained_at).as_secs_f64();
                let drain = self.limit / self.limit_rtt(rules);
                self.level = (self.level - seconds * drain).max(0.0);
                self.drained_at = now;
                // a difference by rounding conforms
                let conforms = self.limit - self.level >= 1.0 - 1e-9;
                self.level += if conforms { 1.0 } else { 0.0 };
                conforms
            }
        }
    }

    /// The round-trip time for the limit, in seconds.
    fn limit_rtt(&self, rules: &Rules) -> f64 {
        if rules.adapt && self.rtt_s > 0.0 { rules.rtts * self.rtt_s } else { rules.rtt_s }
    }

    /// Takes Data from the face, with their round-trip time in seconds if it is known.
    pub(super) fn on_data(&mut self, rtt_s: Option<f64>, rules: &Rules) {
        if !rules.adapt {
            return;
        }
        if let Some(rtt_s) = rtt_s.filter(|rtt_s| *rtt_s > 0.0) {
            // our choice: smoothed as a round-trip time is for TCP
            self.rtt_s = if self.rtt_s == 0.0 { rtt_s } else { self.rtt_s + (rtt_s - self.rtt_s) / 8.0 };
            self.max = (self.capacity * self.limit_rtt(rules)).max(1.0);
        }
        // L ← L + 1, within 0 and C·RTT                                                  [YIC]
        self.limit = (self.limit + 1.0).min(self.max);
    }

    /// Takes a NACK from the face.
    pub(super) fn on_nack(&mut self, rules: &Rules) {
        if rules.adapt {
            // L ← L − 1                                                                  [YIC]
            // differs: at least one, because a face without Interests would never get Data
            self.limit = (self.limit - 1.0).max(1.0);
        }
    }
}
