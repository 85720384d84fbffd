//! Copa's window and pacing rate [AB18 §2].

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Delivery, Idle, Lost, Setup};
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
    /// The window when the current round began, which is when the segments were sent that are acknowledged at its end.
    round_window: f64,
    /// Payload that was delivered when the current round began.
    round_began: Bytes,
    /// 1/δ in the current mode.
    inverse_delta: f64,
    /// Whether a loss was detected in the current round.
    lost: bool,
    /// Of the last acknowledgement in sequence: its round-trip time, and whether the window was not used.
    echoed: Option<Duration>,
    app_limited: bool,
}

/// Extremes of the recent round-trip times, in seconds; minima are of the negative values.
#[derive(Clone, Debug)]
struct RoundTripTimes {
    smoothed: f64,
    min: WindowedMax,
    standing: WindowedMax,
    lowest: WindowedMax,
    max: WindowedMax,
}

impl RoundTripTimes {
    fn new() -> Self {
        let filter = || WindowedMax::new(64);
        Self { smoothed: 0.0, min: filter(), standing: filter(), lowest: filter(), max: filter() }
    }

    /// Takes a sample at `now`.
    fn take(&mut self, rtt: f64, params: &Params, now: Time) {
        // the standard smoothed round-trip time, of every segment                      [AB18 §2.1]
        self.smoothed = if self.smoothed == 0.0 { rtt } else { 0.875 * self.smoothed + 0.125 * rtt };
        let smoothed = Duration::from_secs_f64(self.smoothed).as_nanos().max(2);
        let now = now.as_nanos();
        self.min.update(-rtt, now, params.min_rtt_window.as_nanos());
        self.standing.update(-rtt, now, smoothed / 2);
        self.lowest.update(-rtt, now, smoothed * u64::from(params.empty_rounds));
        self.max.update(rtt, now, smoothed * u64::from(params.max_rounds));
    }

    /// RTTmin.
    fn min(&self) -> f64 {
        -self.min.max()
    }

    /// RTTstanding.
    fn standing(&self) -> f64 {
        -self.standing.max()
    }

    /// Whether the queue was nearly empty in the last rounds                            [AB18 §2.2]
    fn was_nearly_empty(&self, share: f64) -> bool {
        let (min, lowest) = (self.min(), -self.lowest.max());
        lowest - min <= share * (self.max.max() - min)
    }
}

impl Copa {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let initial = setup.initial_window.in_segments(setup.segment).0.max(params.min_cwnd);
        let mut copa = Self {
            params: params.clone(),
            segment: setup.segment,
            segment_bits: 8.0 * (setup.segment + setup.header).as_f64(),
            initial,
            window: initial,
            allowance: Allowance::window(Bytes::ZERO),
            slow_start: true,
            rtts: RoundTripTimes::new(),
            velocity: 1.0,
            up: true,
            rounds: 0,
            round_window: initial,
            round_began: Bytes::ZERO,
            inverse_delta: 1.0 / params.delta,
            lost: false,
            echoed: None,
            app_limited: false,
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
            // at most δ·cwnd: a round moves the window by no more than itself   [GENERICCC: markoviancc.cc, update_amt]
            self.velocity = (2.0 * self.velocity).min(self.window / self.inverse_delta).max(1.0);
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
    /// What [`CongestionControl::on_delivery`] does not have.
    fn on_ack(&mut self, ack: &Ack, _cx: &mut Cx<'_>) {
        (self.echoed, self.app_limited) = (ack.rtt, ack.app_limited);
    }

    /// Copa acts on every segment that arrived, also on those above a gap: its window is not reduced by losses, so that
    /// a gap can stay for many rounds.
    fn samples_delivery(&self) -> bool {
        true
    }

    fn on_delivery(&mut self, delivery: &Delivery, cx: &mut Cx<'_>) {
        let Some(rtt) = delivery.rtt.or(self.echoed.take()) else { return };
        self.rtts.take(rtt.as_secs_f64(), &self.params, cx.now());
        let standing = self.rtts.standing();
        // d_q = RTTstanding − RTTmin                                                   [AB18 §2.1]
        let queueing = standing - self.rtts.min();
        cx.probe("queue_delay", queueing);
        let competes = self.params.competitive && !self.rtts.was_nearly_empty(self.params.nearly_empty);
        if !competes {
            self.inverse_delta = 1.0 / self.params.delta;
        }
        if delivery.total_when_sent >= self.round_began {
            self.round_began = delivery.total;
            if !self.slow_start {
                self.end_round(competes);
            }
        }
        // λ = cwnd/RTTstanding ≤ λ_t = 1/(δ·d_q)                                         [AB18 §2.1]
        let below = self.window * queueing <= self.inverse_delta * standing;
        let arrived = delivery.bytes.as_f64() / self.segment.as_f64();
        if self.slow_start && below {
            if !self.app_limited {
                self.set(self.window + arrived);
            }
        } else if self.slow_start {
            (self.slow_start, self.up, self.rounds, self.round_window) = (false, false, 0, self.window);
        } else if !(below && self.app_limited) {
            // a velocity that was gained in the other direction does not count       [MVFST: Copa.cpp, changeDirection]
            if self.velocity > 1.0 && self.up != below {
                (self.up, self.rounds, self.velocity, self.round_window) = (below, 0, 1.0, self.window);
            }
            // cwnd ± v/(δ·cwnd) for each segment
            let step = arrived * self.velocity * self.inverse_delta / self.window;
            self.set(self.window + if below { step } else { -step });
        }
        self.allowance.rate =
            Rate::from_bps_f64(self.params.pacing_gain * self.window * self.segment_bits / standing);
    }

    fn on_lost(&mut self, _lost: &Lost, _cx: &mut Cx<'_>) {
        // multiplicative decrease of 1/δ, once per round; in the default mode a loss has no effect      [AB18 §2.2]
        if !self.lost {
            self.lost = true;
            self.inverse_delta = (self.inverse_delta / 2.0).max(1.0 / self.params.delta);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
        if event.cause == Cause::Timeout {
            // the minimum, without another slow start                                   [MVFST: Copa.cpp, onPacketLoss]
            (self.slow_start, self.up, self.rounds, self.velocity) = (false, true, 0, 1.0);
            self.set(self.params.min_cwnd);
            self.round_window = self.window;
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
