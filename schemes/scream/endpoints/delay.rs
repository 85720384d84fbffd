//! The queueing delay and its target. Delays in seconds.

use std::collections::VecDeque;

use units::{Duration, Time};

use crate::scream::Params;

/// The newest packet that an acknowledgement has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) sent_at: Time,
    /// By the receiver's clock.
    pub(crate) arrived_at: Time,
    /// Packets before it were missing when it arrived: it may have overtaken them.
    pub(crate) after_gap: bool,
}

/// The queueing delay [SCREAM2, Detecting Increased Queue Delay].
#[derive(Clone, Debug, Default)]
pub(crate) struct Delay {
    /// Minimum of arrival − send time in nanoseconds, which clocks may shift.
    base: Option<i64>,
    /// qdelay.
    now: f64,
    /// qdelay_avg.
    average: f64,
    averaged_at: Option<Time>,
    /// When the current qdelay was measured.
    measured_at: Time,
}

impl Delay {
    /// qdelay.
    pub(crate) const fn now(&self) -> f64 {
        self.now
    }

    /// qdelay_avg.
    pub(crate) const fn average(&self) -> f64 {
        self.average
    }

    /// Takes the newest packet of an acknowledgement; the smoothed round-trip time is `srtt`.
    pub(crate) fn measure(&mut self, sample: &Sample, srtt: f64, now: Time, params: &Params) {
        // the difference of two clocks can be negative
        let forward = sample.arrived_at.as_nanos().wrapping_sub(sample.sent_at.as_nanos()) as i64;
        let base = match self.base {
            // what overtakes can arrive sooner than the path permits the others
            Some(base) if sample.after_gap => base,
            base => base.map_or(forward, |base| base.min(forward)),
        };
        self.base = Some(base);
        let queue = forward.wrapping_sub(base).max(0) as f64 / 1e9;
        // differs: the draft takes every sample. What overtakes has not waited longer than what it overtook: its delay
        // is a lower bound, which stands for a round trip where no packet comes in order
        let recent = now.saturating_since(self.measured_at).as_secs_f64() < srtt;
        if sample.after_gap && queue < self.now && recent {
            return;
        }
        self.now = queue;
        self.measured_at = now;
        let every = params.virtual_rtt.as_secs_f64().min(srtt);
        if self.averaged_at.is_some_and(|at| now.saturating_since(at).as_secs_f64() < every) {
            return;
        }
        self.averaged_at = Some(now);
        // slow attack, fast decay
        self.average = if self.now < self.average {
            self.now
        } else {
            params.delay_gain * self.now + (1.0 - params.delay_gain) * self.average
        };
    }
}

/// qdelay_target, which other flows can raise [SCREAM2, Competing Flows Compensation].
#[derive(Clone, Debug)]
pub(crate) struct Target {
    value: f64,
    /// Queueing delays relative to the minimum target, the newest last.
    samples: VecDeque<f64>,
    next_report: Time,
    /// loss_event_rate: smoothed share of round trips with losses.
    loss_rate: f64,
    /// A loss was detected in this round trip.
    lost: bool,
    round_ends: Time,
}

impl Target {
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            value: params.target_min.as_secs_f64(),
            samples: VecDeque::with_capacity(LONG + 1),
            next_report: Time::ZERO,
            loss_rate: 0.0,
            lost: false,
            round_ends: Time::ZERO,
        }
    }

    pub(crate) const fn value(&self) -> f64 {
        self.value
    }

    /// Takes the current queueing delay, and whether losses were detected.
    pub(crate) fn update(&mut self, delay: f64, lost: bool, srtt: f64, now: Time, params: &Params) {
        if !params.compensate {
            return;
        }
        self.lost |= lost;
        if now >= self.round_ends {
            // differs: the draft gives no rule; this is a mean over some fifty round trips
            self.loss_rate += (f64::from(u8::from(self.lost)) - self.loss_rate) * LOSS_GAIN;
            self.lost = false;
            self.round_ends = now + Duration::from_secs_f64(srtt);
        }
        if now < self.next_report {
            return;
        }
        self.next_report = now + params.sample_every;
        let (low, high) = (params.target_min.as_secs_f64(), params.target_max.as_secs_f64());
        if self.samples.len() == LONG {
            self.samples.pop_front();
        }
        self.samples.push_back(delay / low);
        self.value = self.adjusted(low).clamp(low, high);
    }

    fn adjusted(&self, low: f64) -> f64 {
        let n = self.samples.len() as f64;
        let mean = self.samples.iter().sum::<f64>() / n;
        let variance = self.samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        let recent = self.samples.len().min(SHORT);
        let average = self.samples.iter().rev().take(SHORT).sum::<f64>() / recent as f64;
        let target = (average + variance.sqrt()) * low;
        if self.loss_rate > LOSS_LIMIT {
            1.5 * target
        } else if variance < 0.2 {
            target
        } else if target < low {
            (self.value * 0.5).max(target)
        } else {
            self.value * 0.9
        }
    }
}

/// Numbers of samples of the variance and of the average.
const LONG: usize = 200;
const SHORT: usize = 50;
/// Share of round trips with losses above which losses are taken as a sign of other flows.
const LOSS_LIMIT: f64 = 0.002;
/// Gain of the share of round trips with losses: 0.02, as in the authors' implementation (ScreamV2Tx.cpp,
/// lossEventRate).
const LOSS_GAIN: f64 = 0.02;
