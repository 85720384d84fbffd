//! Arrival-time filter: packets in groups, the variation of the delay between groups, and its trend (GCC02 §5.1 to
//! §5.3).

use units::{Duration, Time, math};

use crate::gcc::Params;

/// A group of packets.
#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Time,
    first_arrived: Time,
    /// T(i), by the source's clock.
    sent: Time,
    /// t(i).
    arrived: Time,
}

/// Intervals between the last packets of two groups, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Variation {
    /// t(i) − t(i−1)
    pub(crate) arrival: f64,
    /// T(i) − T(i−1)
    pub(crate) departure: f64,
}

/// Pre-filtering: merges packets into groups.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    burst: Duration,
    longest: Duration,
    current: Option<Group>,
    previous: Option<Group>,
}

impl Groups {
    pub(crate) fn new(params: &Params) -> Self {
        Self { burst: params.burst_time, longest: params.max_group_time, current: None, previous: None }
    }

    /// Takes a packet that was sent at `sent` and arrived at `now`, both later than those before it. Returns the
    /// variation between the last two groups if it ends a group.
    pub(crate) fn packet(&mut self, sent: Time, now: Time) -> Option<Variation> {
        let single = Group { first_sent: sent, first_arrived: now, sent, arrived: now };
        let Some(current) = &mut self.current else {
            self.current = Some(single);
            return None;
        };
        // sent within a burst_time interval                                                    [GCC02 §5.2]
        let together = sent.saturating_since(current.first_sent) <= self.burst;
        // inter-arrival time < burst_time and d < 0                                            [GCC02 §5.2]
        let (arrival, departure) =
            (now.saturating_since(current.arrived), sent.saturating_since(current.sent));
        // differs: a group ends after `max_group_time`
        let in_time = now.saturating_since(current.first_arrived) < self.longest;
        if together || (arrival < self.burst && arrival < departure && in_time) {
            (current.sent, current.arrived) = (sent, now);
            return None;
        }
        let done = std::mem::replace(current, single);
        let previous = self.previous.replace(done)?;
        Some(Variation {
            arrival: ms(done.arrived.saturating_since(previous.arrived)),
            departure: ms(done.sent.saturating_since(previous.sent)),
        })
    }
}

/// Kalman filter of the variation, with one state (GCC02 §5.3). Variances in ms².
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    state_noise: f64,
    noise_gain: f64,
    /// m: the trend, in milliseconds per group.
    trend: f64,
    /// e: variance of the estimate.
    error: f64,
    /// var_v: variance of the measurement noise.
    noise: f64,
    /// Intervals between departures of the last groups, in milliseconds. Boxed to keep controllers small.
    departures: Box<[f64; HISTORY]>,
    next: usize,
}

impl Filter {
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            state_noise: params.q,
            noise_gain: params.chi,
            trend: 0.0,
            error: params.e0,
            noise: MIN_NOISE,
            departures: Box::new([f64::INFINITY; HISTORY]),
            next: 0,
        }
    }

    /// Takes a variation. Returns the new trend m(i), in milliseconds.
    pub(crate) fn group(&mut self, variation: Variation) -> f64 {
        // d(i) = t(i) − t(i−1) − (T(i) − T(i−1)); z(i) = d(i) − m(i−1)                          [GCC02 §5.1, §5.3]
        let z = variation.arrival - variation.departure - self.trend;
        self.departures[self.next] = variation.departure;
        self.next = (self.next + 1) % HISTORY;
        // alpha = (1 − chi)^(30/(1000·f_max)), f_max in groups per millisecond                 [GCC02 §5.3]
        let quickest = self.departures.iter().copied().fold(f64::INFINITY, f64::min);
        let alpha = math::pow(1.0 - self.noise_gain, 30.0 * quickest / 1000.0);
        // var_v = max(alpha·var_v + (1 − alpha)·z², 1), of |z| at most 3·√var_v
        let clipped = z.abs().min(3.0 * self.noise.sqrt());
        self.noise = (alpha * self.noise + (1.0 - alpha) * clipped * clipped).max(MIN_NOISE);
        // k = (e + q)/(var_v + e + q); m = m + z·k; e = (1 − k)·(e + q)
        let error = self.error + self.state_noise;
        let gain = error / (self.noise + error);
        self.trend += z * gain;
        self.error = (1.0 - gain) * error;
        self.trend
    }
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}

/// Minimum variance of the measurement noise [GCC02 §5.3]; also the initial one, which the draft does not give.
const MIN_NOISE: f64 = 1.0;
/// K: number of groups for f_max. The draft leaves it open; two seconds of video at 30 frames per second.
const HISTORY: usize = 60;
