//! MCA: means, deviations, and the congestion occurrence frequency.

/// An exponentially weighted mean and mean deviation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Average {
    gain: f64,
    /// Deviation after the first sample, as a share of it.
    first_deviation: f64,
    mean: Option<f64>,
    deviation: f64,
}

impl Average {
    /// Without samples.
    pub(super) const fn new(gain: f64, first_deviation: f64) -> Self {
        Self { gain, first_deviation, mean: None, deviation: 0.0 }
    }

    /// Takes a sample.
    pub(super) fn add(&mut self, sample: f64) {
        match &mut self.mean {
            None => {
                self.mean = Some(sample);
                self.deviation = self.first_deviation * sample;
            }
            Some(mean) => {
                // m ← m + (x − m)·gain ; d ← d + (|m − x| − d)·gain
                *mean += (sample - *mean) * self.gain;
                self.deviation += ((*mean - sample).abs() - self.deviation) * self.gain;
            }
        }
    }

    /// Mean and deviation; zeros before the first sample.
    pub(super) fn values(&self) -> (f64, f64) {
        (self.mean.unwrap_or(0.0), self.deviation)
    }
}

/// Congestion occurrence frequency f: indications, whether sent or suppressed, over packets sent by the source
/// [MCA §3.1.3].
#[derive(Clone, Copy, Debug)]
pub(super) struct Frequency {
    window: u64,
    gain: f64,
    /// Number of the newest packet at the start of the current window.
    since: u64,
    indications: u64,
    mean: Option<f64>,
}

impl Frequency {
    /// Counts from packet `since` on.
    pub(super) fn new(window: u32, gain: f64, since: u64) -> Self {
        Self { window: u64::from(window), gain, since, indications: 0, mean: None }
    }

    /// Counts an indication while packet `newest` is the newest. Returns f, within 0 and 1.
    pub(super) fn add(&mut self, newest: u64) -> f64 {
        self.indications += 1;
        let packets = newest.saturating_sub(self.since).max(1);
        let share = self.indications as f64 / packets as f64;
        if packets >= self.window {
            self.mean = Some(self.mean.map_or(share, |mean| mean + (share - mean) * self.gain));
            self.since = newest;
            self.indications = 0;
        }
        self.mean.unwrap_or(share).min(1.0)
    }
}
