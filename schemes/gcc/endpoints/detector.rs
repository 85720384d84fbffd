//! Over-use detector with an adaptive threshold (GCC02 §5.4). Trends and thresholds in milliseconds.

use units::{Duration, Time};

use crate::gcc::Params;

/// What the delay trend shows about the queue of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The queue grows.
    Overuse,
    /// The queue is constant.
    Normal,
    /// The queue drains.
    Underuse,
}

/// Compares the trend with an adaptive threshold.
#[derive(Clone, Debug)]
pub(crate) struct Detector {
    params: Box<Params>,
    /// del_var_th, in milliseconds.
    threshold: f64,
    /// Number of variations, up to `max_deltas`.
    variations: u32,
    /// m(i−1).
    previous: f64,
    /// When the last trend was taken.
    at: Option<Time>,
    /// Since when the trend is above the threshold.
    above: Option<Time>,
    signal: Signal,
}

impl Detector {
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            threshold: ms(params.del_var_th),
            variations: 0,
            previous: 0.0,
            at: None,
            above: None,
            signal: Signal::Normal,
            params: Box::new(params.clone()),
        }
    }

    /// The last signal.
    pub(crate) const fn signal(&self) -> Signal {
        self.signal
    }

    /// The threshold, in milliseconds.
    pub(crate) const fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The last trend in the scale of the threshold, in milliseconds.
    pub(crate) fn compared(&self) -> f64 {
        self.previous * f64::from(self.variations)
    }

    /// Takes the trend m(i) of a group that ended at `now`.
    pub(crate) fn group(&mut self, trend: f64, now: Time) -> Signal {
        self.variations = (self.variations + 1).min(self.params.max_deltas);
        // differs: the draft compares m(i) itself
        let compared = trend * f64::from(self.variations);
        self.adapt(compared.abs(), now);
        if compared > self.threshold {
            let since = *self.above.get_or_insert(now);
            // for at least overuse_time_th, and not if m(i) < m(i−1)                           [GCC02 §5.4]
            // ours: in between the last signal stays
            if now.saturating_since(since) >= self.params.overuse_time_th && trend >= self.previous {
                self.signal = Signal::Overuse;
            }
        } else {
            self.above = None;
            self.signal = if compared < -self.threshold { Signal::Underuse } else { Signal::Normal };
        }
        self.previous = trend;
        self.signal
    }

    /// Moves the threshold towards the trend.
    fn adapt(&mut self, trend: f64, now: Time) {
        // ours: at most one step after a pause, so that the threshold does not pass the trend
        let elapsed = self.at.map_or(0.0, |at| ms(now.saturating_since(at)).min(LONGEST_STEP_MS));
        self.at = Some(now);
        if trend - self.threshold > ms(self.params.max_adapt_offset) {
            return;
        }
        let gain = if trend < self.threshold { self.params.k_d } else { self.params.k_u };
        // a dynamic threshold, so that TCP does not starve the stream                          [CDHM17]
        // del_var_th += (t(i) − t(i−1))·K·(|m| − del_var_th)                                   [GCC02 §5.4]
        let adapted = self.threshold + (elapsed * gain).min(1.0) * (trend - self.threshold);
        self.threshold = adapted.clamp(ms(self.params.min_del_var_th), ms(self.params.max_del_var_th));
    }
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}

/// Maximum time between groups in the update of the threshold.
const LONGEST_STEP_MS: f64 = 100.0;
