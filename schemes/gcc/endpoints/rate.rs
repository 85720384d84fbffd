//! Rate control by delay: additive or multiplicative increase, multiplicative decrease (GCC02 §5.5).

use units::{Duration, Time, math};

use super::detector::Signal;
use crate::gcc::Params;

/// State of the rate control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Waits until queues have drained.
    Hold,
    /// No congestion.
    Increase,
    /// Over-use.
    Decrease,
}

/// The delay-based estimate of the available rate. Rates in bit/s.
#[derive(Clone, Debug)]
pub(crate) struct RateControl {
    params: Box<Params>,
    state: State,
    /// A: the estimate.
    rate: f64,
    /// Average and variance of the receive rate at over-use.
    at_overuse: Option<(f64, f64)>,
    updated_at: Time,
}

impl RateControl {
    pub(crate) fn new(params: &Params, now: Time) -> Self {
        Self {
            state: State::Increase,
            rate: params.initial_rate.as_bps_f64(),
            at_overuse: None,
            updated_at: now,
            params: Box::new(params.clone()),
        }
    }

    /// A, in bit/s.
    pub(crate) const fn rate(&self) -> f64 {
        self.rate
    }

    pub(crate) const fn state(&self) -> State {
        self.state
    }

    /// Updates the state and the rate by `signal`. `received` is the receive rate R, if known.
    pub(crate) fn update(&mut self, signal: Signal, received: Option<f64>, rtt: Duration, now: Time) {
        self.state = match (signal, self.state) {
            (Signal::Overuse, _) => State::Decrease,
            (Signal::Underuse, _) | (Signal::Normal, State::Decrease) => State::Hold,
            (Signal::Normal, State::Hold | State::Increase) => State::Increase,
        };
        match (self.state, received) {
            (State::Increase, _) => self.increase(received, rtt, now),
            (State::Decrease, Some(received)) => self.decrease(received),
            (State::Hold, _) | (State::Decrease, None) => {}
        }
        let (min, max) = (self.params.min_rate.as_bps_f64(), self.params.max_rate.as_bps_f64());
        self.rate = self.rate.clamp(min, max);
        self.updated_at = now;
    }

    fn increase(&mut self, received: Option<f64>, rtt: Duration, now: Time) {
        let elapsed = now.saturating_since(self.updated_at).as_secs_f64();
        if self.is_near(received) {
            // alpha = 0.5·min(elapsed/(100 ms + RTT), 1); A = A + max(1000, alpha·expected_packet_size)   [GCC02 §5.5]
            let response = (self.params.reaction_time + rtt).as_secs_f64();
            let alpha = self.params.additive_packets * (elapsed / response).min(1.0);
            self.rate += (alpha * expected_packet_bits(self.rate)).max(MIN_STEP_BPS);
        } else {
            // A = 1.08^min(elapsed, 1 s)·A                                                     [GCC02 §5.5]
            self.rate *= math::pow(self.params.eta, elapsed.min(1.0));
        }
        if let Some(received) = received {
            // A < 1.5·R                                                                        [GCC02 §5.5]
            self.rate = self.rate.min(self.params.max_over_received * received);
        }
    }

    fn decrease(&mut self, received: f64) {
        let (average, variance) = self.at_overuse.unwrap_or((received, 0.0));
        let (deviation, share) = (received - average, 1.0 - self.params.average_smoothing);
        self.at_overuse = Some((
            average + share * deviation,
            self.params.average_smoothing * variance + share * deviation * deviation,
        ));
        // A = 0.85·R                                                                           [GCC02 §5.5]
        // ours: over-use never raises A
        self.rate = self.rate.min(self.params.beta * received);
    }

    /// Whether R is within three standard deviations of its average at over-use. Resets the average if R is above that,
    /// because the link has changed.
    fn is_near(&mut self, received: Option<f64>) -> bool {
        let (Some((average, variance)), Some(received)) = (self.at_overuse, received) else { return false };
        let variance = variance.max(self.params.min_normalised_variance.as_bps_f64() * average);
        let deviation = received - average;
        if deviation.abs() <= self.params.convergence_sigmas * variance.sqrt() {
            return true;
        }
        if deviation > 0.0 {
            self.at_overuse = None;
        }
        false
    }
}

/// A packet of a video at this rate: 30 frames per second in packets of at most 1200 bytes [GCC02 §5.5].
pub(crate) fn expected_packet_bits(rate: f64) -> f64 {
    let frame = rate / 30.0;
    frame / (frame / (1200.0 * 8.0)).ceil().max(1.0)
}

/// Minimum of an additive increase, in bit/s [GCC02 §5.5].
const MIN_STEP_BPS: f64 = 1000.0;
