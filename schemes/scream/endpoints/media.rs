//! The target rate of the media, and the pacing rate [SCREAM2, Media Rate Control, Packet Pacing]. Rates in bit/s.

use contract::EncodedFrame;

use crate::scream::Params;

/// The media rate control.
#[derive(Clone, Debug)]
pub(crate) struct Media {
    mss: f64,
    /// target_bitrate.
    target: f64,
    /// TARGET_BITRATE_MIN and TARGET_BITRATE_MAX.
    range: (f64, f64),
    /// rate_adjust_factor.
    adjust: f64,
    /// frame_size_dev.
    deviation: f64,
    /// Whether an encoder produces the data.
    encodes: bool,
}

impl Media {
    pub(crate) fn new(mss: f64, params: &Params) -> Self {
        let range = (params.min_rate.as_bps_f64(), params.max_rate.as_bps_f64());
        Self { mss, target: range.0, range, adjust: 0.0, deviation: 0.0, encodes: false }
    }

    /// target_bitrate.
    pub(crate) const fn target(&self) -> f64 {
        self.target
    }

    /// Whether an encoder produces the data.
    pub(crate) const fn encodes(&self) -> bool {
        self.encodes
    }

    /// Whether the target rate is the maximum.
    pub(crate) fn at_maximum(&self) -> bool {
        self.target >= self.range.1
    }

    /// Takes a frame of the encoder.
    pub(crate) fn frame(&mut self, frame: &EncodedFrame, params: &Params) {
        self.encodes = true;
        let (min, max) = (params.min_rate.max(frame.min), params.max_rate.min(frame.max));
        self.range = (min.as_bps_f64().min(max.as_bps_f64()), max.as_bps_f64());
        let period = frame.interval.as_secs_f64();
        // rate_adjust_factor += (media_qdelay − frame_period/4)/frame_period·RATE_ADJUST_GAIN
        let error = (frame.waited.as_secs_f64() - period / 4.0) / period;
        self.adjust = (self.adjust + error * params.adjust_gain).clamp(0.0, 0.5);
        let nominal = self.target * period / 8.0;
        let above = ((frame.size.as_f64() - nominal) / nominal).max(0.0);
        self.deviation = (self.deviation + params.frame_gain * (above - self.deviation)).min(0.2);
    }

    /// Computes the target rate from the reference window.
    pub(crate) fn update(&mut self, window: f64, srtt: f64, params: &Params) {
        let ratio = (self.mss / window).min(1.0);
        let mut share = 1.0 - (ratio - 0.1).clamp(0.0, 0.2);
        share *= self.mss / (self.mss + params.packet_overhead.as_f64());
        share /= 1.2 + self.adjust + self.deviation;
        // target_bitrate = 8·ref_wnd/s_rtt, with these corrections
        self.target = (share * 8.0 * window / srtt).min(self.range.1).max(self.range.0);
    }

    /// pace_bitrate. Without an encoder, data leave at the target rate, as from an encoder that follows at once.
    pub(crate) fn pace(&self, params: &Params) -> f64 {
        if !self.encodes {
            return self.target;
        }
        let rate = self.target.max(params.pace_min.as_bps_f64()) * params.pace_headroom;
        let share = (self.target / self.range.1 - params.pace_limit) / (1.0 - params.pace_limit);
        // min(1, max(1/MAX_RELAXED_PACING_FACTOR, 1 − share))
        rate / (1.0 - share).clamp(1.0 / params.pace_relaxed, 1.0)
    }
}
