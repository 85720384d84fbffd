//! Copa's window and pacing rate [AB18 §2].

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Idle, Setup};
use units::{Bytes, Duration, Rate, Segments, Time};

use super::Params;
use crate::shared::WindowedMax;

/// The congestion controller Copa, which needs no support of the receiver.
#[derive(Clone, Debug)]
pub struct Copa {
    params: Params,
    segment: Bytes,
    /// Bits on the wire of a segment.
    segment_bits: f64,
    initial: f64,
    /// In segments.
    window: f64,
    allowance: Allowance,
    slow_start: bool,
    rtts: RoundTripTimes,
    /// v: the window moves by v/δ segments per round trip.
    velocity: f64,
    /// Whether the window grew in the last round, and for how many rounds that has been so.
    up: bool,
    rounds: u32,
    /// The window when the present round began, which is when the segments were sent that are acknowledged at its end.
    round_window: f64,
    /// 1/δ in the present mode.
    inverse_delta: f64,
    /// When the queue was last nearly empty.
    emptied_at: Time,
    /// Whether a loss was detected in the present round.
    lost: bool,
}

/// Extremes of the recent round-trip times, in seconds.
#[derive(Clone, Debug)]
struct RoundTripTimes {
    /// Of the negative values.
    min: WindowedMax,
    standing: WindowedMax,
    max: WindowedMax,
}

impl RoundTripTimes {
    /// Takes a sample at `now`; returns RTTmin, RTTstanding and RTTmax [AB18 §2.1, §2.2].
    fn take(&mut self, rtt: f64, smoothed: Duration, params: &Params, now: Time) -> (f64, f64, f64) {
        let (now, smoothed) = (now.as_nanos(), smoothed.as_nanos().max(2));
        self.min.update(-rtt, now, params.min_rtt_window.as_nanos());
        self.standing.update(-rtt, now, smoothed / 2);
        self.max.update(rtt, now, smoothed * u64::from(params.max_rounds));
        (-self.min.max(), -self.standing.max(), self.max.max())
    }
}

impl Copa {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let initial = setup.initial_window.in_segments(setup.segment).0.max(params.min_cwnd);
        let filter = || WindowedMax::new(64);
        let mut copa = Self {
            params: params.clone(),
            segment: setup.segment,
            segment_bits: 8.0 * (setup.segment + setup.header).as_f64(),
            initial,
            window: initial,
            allowance: Allowance::window(Bytes::ZERO),
            slow_start: true,
            rtts: RoundTripTimes { min: filter(), standing: filter(), max: filter() },
            velocity: 1.0,
            up: true,
            rounds: 0,
            round_window: initial,
            inverse_delta: 1.0 / params.delta,
            emptied_at: Time::ZERO,
            lost: false,
        };
        copa.set(initial);
        copa
    }

    /// The congestion window.
    pub fn window(&self) -> Segments {
        Segments(self.window)
    }

    #[cfg(test)]
    pub(super) fn velocity(&self) -> f64 {
        self.velocity
    }

    #[cfg(test)]
    pub(super) fn inverse_delta(&self) -> f64 {
        self.inverse_delta
    }

    fn set(&mut self, window: f64) {
        self.window = window.max(self.params.min_cwnd);
        self.allowance.window = Segments(self.window).in_bytes_floor(self.segment);
    }

    /// At the end of a round: the direction, the velocity, and in competitive mode δ.
    fn end_round(&mut self, competes: bool) {
        // v doubles in the same direction, after three rounds in it, and is 1 after a turn         [AB18 §2.1]
        let up = self.window > self.round_window;
        if up != self.up {
            (self.up, self.rounds, self.velocity) = (up, 0, 1.0);
        }
        self.rounds += 1;
        if self.rounds >= self.params.steady_rounds {
            // at most the window                                                       [GENERICCC: markoviancc.cc, update_amt]
            self.velocity = (2.0 * self.velocity).min(self.window);
        }
        self.round_window = self.window;
        // 1/δ grows by one per round without a loss                                     [AB18 §2.2]
        if competes && !self.lost {
            self.inverse_delta += 1.0;
        }
        self.lost = false;
    }
}

impl CongestionControl for Copa {
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        let Some(rtt) = ack.rtt else { return };
        let now = cx.now();
        let (min, standing, max) = self.rtts.take(rtt.as_secs_f64(), ack.rtt_smoothed, &self.params, now);
        // d_q = RTTstanding − RTTmin                                                   [AB18 §2.1]
        let queueing = standing - min;
        cx.probe("queue_delay", queueing);
        if queueing <= self.params.nearly_empty * (max - min) {
            self.emptied_at = now;
        }
        let patience = ack.rtt_smoothed * u64::from(self.params.empty_rounds);
        let competes = self.params.competitive && now.saturating_since(self.emptied_at) > patience;
        if !competes {
            self.inverse_delta = 1.0 / self.params.delta;
        }
        if ack.round_ended && !self.slow_start {
            self.end_round(competes);
        }
        // λ = cwnd/RTTstanding ≤ λ_t = 1/(δ·d_q)                                         [AB18 §2.1]
        let below = self.window * queueing <= self.inverse_delta * standing;
        let acked = f64::from(ack.packets);
        if self.slow_start && below {
            if !ack.app_limited {
                self.set(self.window + acked);
            }
        } else if self.slow_start {
            (self.slow_start, self.up, self.rounds, self.round_window) = (false, false, 0, self.window);
        } else if !(below && ack.app_limited) {
            // a velocity that was gained in the other direction does not count                [MVFST: Copa.cpp, changeDirection]
            if self.velocity > 1.0 && self.up != below {
                (self.up, self.rounds, self.velocity, self.round_window) = (below, 0, 1.0, self.window);
            }
            // cwnd ± v/(δ·cwnd) for each segment
            let step = acked * self.velocity * self.inverse_delta / self.window;
            self.set(self.window + if below { step } else { -step });
        }
        self.allowance.rate =
            Rate::from_bps_f64(self.params.pacing_gain * self.window * self.segment_bits / standing);
    }

    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        if event.cause == Cause::Timeout {
            // the minimum, without another slow start                                       [MVFST: Copa.cpp, onPacketLoss]
            (self.slow_start, self.up, self.rounds, self.velocity) = (false, true, 0, 1.0);
            self.set(self.params.min_cwnd);
            self.round_window = self.window;
        }
        if event.first && event.cause != Cause::Mark {
            // multiplicative decrease of 1/δ; in the default mode a loss has no effect      [AB18 §2.2]
            self.lost = true;
            self.inverse_delta = (self.inverse_delta / 2.0).max(1.0 / self.params.delta);
        }
    }

    fn allowance(&self) -> Allowance {
        self.allowance
    }

    /// Our choice, as in TCP: after an idle time the window is at most the initial window.
    fn on_idle(&mut self, _idle: &Idle, _cx: &mut Cx<'_>) {
        self.set(self.window.min(self.initial));
    }
}
