//! MCA: means, deviations, and the congestion occurrence frequency.

use crate::mca::{Params, Period, Spread};

/// An exponentially weighted mean and deviation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Average {
    gain: f64,
    /// Deviation after the first sample, as a share of it.
    first_deviation: f64,
    spread: Spread,
    mean: Option<f64>,
    deviation: f64,
}

impl Average {
    /// Without samples.
    pub(crate) const fn new(gain: f64, first_deviation: f64, spread: Spread) -> Self {
        Self { gain, first_deviation, spread, mean: None, deviation: 0.0 }
    }

    /// Takes a sample.
    pub(crate) fn add(&mut self, sample: f64) {
        let Some(mean) = self.mean else {
            self.mean = Some(sample);
            self.deviation = self.first_deviation * sample;
            return;
        };
        // m ← m + (x − m)·gain
        let next = mean + (sample - mean) * self.gain;
        self.mean = Some(next);
        self.deviation = match self.spread {
            // d² ← (1 − gain)·(d² + gain·(x − m)²), the variance with the weights of the mean
            Spread::Standard => {
                let difference = sample - mean;
                let square = self.deviation * self.deviation + self.gain * difference * difference;
                ((1.0 - self.gain) * square).sqrt()
            }
            // d ← d + (|m − x| − d)·gain
            Spread::Mean => self.deviation + ((next - sample).abs() - self.deviation) * self.gain,
        };
    }

    /// Mean and deviation; zeros before the first sample.
    pub(crate) fn values(&self) -> (f64, f64) {
        (self.mean.unwrap_or(0.0), self.deviation)
    }
}

/// Congestion occurrence frequency f: indications, whether sent or suppressed, over packets sent by the source
/// [MCA §3.1.3].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frequency {
    /// Minimum number of packets of a sample; `None` if a sample ends where an epoch begins.
    window: Option<u64>,
    gain: f64,
    /// Number of the newest packet at the start of the current sample.
    since: u64,
    indications: u64,
    /// An epoch has begun.
    begun: bool,
    mean: Option<f64>,
}

impl Frequency {
    /// Without packets.
    pub(crate) fn new(params: &Params) -> Self {
        let window = match params.f_period {
            Period::Packets => Some(u64::from(params.f_window)),
            Period::Epochs => None,
        };
        Self { window, gain: params.f_gain, since: 0, indications: 0, begun: false, mean: None }
    }

    /// Counts from packet `first` on.
    pub(crate) fn start(&mut self, first: u64) {
        self.since = first;
    }

    /// A congestion epoch begins while packet `newest` is the newest. The first sample contains the time before the
    /// first epoch.
    pub(crate) fn begin_epoch(&mut self, newest: u64) {
        if std::mem::replace(&mut self.begun, true) && self.window.is_none() {
            self.take(newest);
        }
    }

    /// Counts an indication while packet `newest` is the newest. Returns f, within 0 and 1.
    pub(crate) fn add(&mut self, newest: u64) -> f64 {
        self.indications += 1;
        let share = self.share(newest);
        if self.window.is_some_and(|window| newest.saturating_sub(self.since).max(1) >= window) {
            self.take(newest);
        }
        self.mean.unwrap_or(share).min(1.0)
    }

    /// Indications per packet in the current sample.
    fn share(&self, newest: u64) -> f64 {
        self.indications as f64 / newest.saturating_sub(self.since).max(1) as f64
    }

    /// Ends a sample.
    fn take(&mut self, newest: u64) {
        let share = self.share(newest);
        self.mean = Some(self.mean.map_or(share, |mean| mean + (share - mean) * self.gain));
        (self.since, self.indications) = (newest, 0);
    }
}
