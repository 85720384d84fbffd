//! The reference window [SCREAM2, Reference Window Update], in place of the congestion window of the first version
//! [RFC8298 §4.1.2]. Windows in bytes, times in seconds.

use units::Time;

use super::delay::Delay;
use super::flight::Acked;
use crate::scream::Params;

/// The reference window, and the share of marked packets.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    mss: f64,
    /// ref_wnd.
    value: f64,
    /// ref_wnd_i: the inflection point.
    inflection: f64,
    inflection_moves: bool,
    /// l4s_alpha.
    alpha: f64,
    alpha_at: Option<Time>,
    /// Packets, and marked ones, since.
    delivered: u64,
    marked: u64,
    /// last_congestion_detected_time.
    congested_at: Option<Time>,
    /// last_reaction_to_congestion_time.
    reacted_at: Option<Time>,
    /// Losses and marks since.
    lost: bool,
    seen_marks: bool,
    /// max_bytes_in_flight of this round trip and of the one before.
    in_flight: f64,
    in_flight_before: f64,
    round_ends: Time,
}

/// What reduced the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Congestion {
    /// A loss.
    Loss,
    /// A mark.
    Mark,
    /// The average queueing delay.
    Delay,
}

impl Window {
    pub(crate) fn new(mss: f64, params: &Params) -> Self {
        Self {
            mss,
            value: params.min_window.as_f64(),
            inflection: 1.0,
            inflection_moves: true,
            alpha: 0.0,
            alpha_at: None,
            delivered: 0,
            marked: 0,
            congested_at: None,
            reacted_at: None,
            lost: false,
            seen_marks: false,
            in_flight: 0.0,
            in_flight_before: 0.0,
            round_ends: Time::ZERO,
        }
    }

    /// ref_wnd.
    pub(crate) const fn value(&self) -> f64 {
        self.value
    }

    /// l4s_alpha.
    pub(crate) const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The minimum window, after a time without feedback.
    pub(crate) fn collapse(&mut self, params: &Params) {
        self.value = params.min_window.as_f64();
        self.in_flight = 0.0;
        self.in_flight_before = 0.0;
    }

    /// Takes the bytes in flight after a packet left.
    pub(crate) fn sent(&mut self, in_flight: f64, srtt: f64, now: Time) {
        if now >= self.round_ends {
            self.in_flight_before = self.in_flight;
            self.in_flight = 0.0;
            self.round_ends = now + units::Duration::from_secs_f64(srtt);
        }
        self.in_flight = self.in_flight.max(in_flight);
    }

    /// Updates l4s_alpha [SCREAM2, Receiving ECN-CE for L4S].
    pub(crate) fn count(&mut self, acked: &Acked, srtt: f64, now: Time, params: &Params) {
        self.delivered += acked.packets;
        self.marked += acked.marked;
        let every = srtt.min(ALPHA_EVERY);
        let next_report = self.alpha_at.is_none_or(|at| now.saturating_since(at).as_secs_f64() >= every);
        if !next_report || self.delivered == 0 {
            return;
        }
        let fraction = self.marked as f64 / self.delivered as f64;
        self.alpha = if fraction >= self.alpha {
            params.alpha_up * fraction + (1.0 - params.alpha_up) * self.alpha
        } else {
            (1.0 - params.alpha_down) * self.alpha
        };
        self.alpha_at = Some(now);
        self.delivered = 0;
        self.marked = 0;
    }

    /// Takes feedback; `at_maximum` if the target rate is the maximum. Returns what reduced the window.
    pub(crate) fn update(
        &mut self,
        acked: &Acked,
        (delay, target): (&Delay, f64),
        srtt: f64,
        at_maximum: bool,
        now: Time,
        params: &Params,
    ) -> Option<Congestion> {
        let near = self.nearness();
        let congestion = self.reduce(acked, (delay, target), srtt, near, now, params);
        self.increase(acked, srtt, near, at_maximum, now, params);
        congestion
    }

    /// scl_t = min(1, max(0.1, (8·(ref_wnd − ref_wnd_i)/ref_wnd_i)²))
    fn nearness(&self) -> f64 {
        let distance = 8.0 * (self.value - self.inflection) / self.inflection;
        (distance * distance).clamp(0.1, 1.0)
    }

    fn reduce(
        &mut self,
        acked: &Acked,
        (delay, target): (&Delay, f64),
        srtt: f64,
        near: f64,
        now: Time,
        params: &Params,
    ) -> Option<Congestion> {
        self.lost |= acked.lost > 0;
        self.seen_marks |= acked.marked > 0;
        if acked.lost > 0 || acked.marked > 0 {
            self.congested_at = Some(now);
        }
        let virtual_rtt = params.virtual_rtt.as_secs_f64();
        let since = self.reacted_at.map_or(f64::INFINITY, |at| now.saturating_since(at).as_secs_f64());
        if since < virtual_rtt.min(srtt) {
            return None;
        }
        let congestion = if self.lost {
            Congestion::Loss
        } else if self.seen_marks {
            Congestion::Mark
        } else if delay.average() > target / 2.0 {
            Congestion::Delay
        } else {
            return None;
        };
        if std::mem::take(&mut self.inflection_moves) {
            self.inflection = self.value;
        }
        // the back-off is less where the round trip is longer than the time between two reactions
        let stretch = (srtt / virtual_rtt).max(1.0);
        match congestion {
            Congestion::Loss => self.value *= params.beta_loss,
            Congestion::Mark if !params.l4s => self.value *= params.beta_ecn,
            Congestion::Mark => {
                // l4s_alpha/2
                let mut off = self.alpha / 2.0 / stretch;
                if delay.now() < target * 0.25 {
                    off *= near.max(0.25);
                }
                if since > 100.0 * virtual_rtt.max(srtt) {
                    self.value = self.value.min(self.in_flight_before);
                }
                self.value *= 1.0 - off;
            }
            Congestion::Delay => {
                // l4s_alpha_v from 0 to 1 between half the target and the target
                let alpha = ((delay.average() - target / 2.0) / (target / 2.0)).clamp(0.0, 1.0);
                self.value *= 1.0 - alpha / 2.0 / stretch;
            }
        }
        self.value = self.value.max(params.min_window.as_f64());
        self.reacted_at = Some(now);
        self.lost = false;
        self.seen_marks = false;
        Some(congestion)
    }

    fn increase(
        &mut self,
        acked: &Acked,
        srtt: f64,
        near: f64,
        at_maximum: bool,
        now: Time,
        params: &Params,
    ) {
        let virtual_rtt = params.virtual_rtt.as_secs_f64();
        let since = self.congested_at.map_or(f64::INFINITY, |at| now.saturating_since(at).as_secs_f64());
        let after = (since / (params.post_congestion * virtual_rtt.max(srtt))).clamp(0.0, 1.0);
        // one MSS per round trip, of the bytes without marks
        let bytes = acked.bytes.saturating_sub(acked.marked_bytes) as f64;
        let mut increment = bytes * (self.mss / self.value).min(1.0);
        increment *= (srtt / virtual_rtt).min(1.0);
        increment *= near.max(0.25);
        // and MUL_INCREASE_FACTOR of the window, long after congestion
        increment *= 1.0 + params.mul_increase * self.value / self.mss * after * near;
        let allowed = self.mss + self.in_flight.max(self.in_flight_before) * params.head_room;
        if increment > 0.0 && self.value + increment <= allowed && !at_maximum {
            self.value += increment;
            self.inflection_moves = true;
        }
    }
}

/// Maximum time between two updates of l4s_alpha, in seconds.
const ALPHA_EVERY: f64 = 0.01;
