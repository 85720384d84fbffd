//! Rules that choose the quality of a video's next segment (adaptive bit rate, ABR): by throughput, by the buffer
//! (BOLA), and both in turn, as in dash.js.
//!
//! Constants and decisions are from dash.js 5 (`src/core/Settings.js`, `src/streaming/rules/abr`,
//! `src/streaming/controllers`), and so is what abandons a request (`AbandonRequestsRule`). Not modelled:
//! `SwitchHistoryRule`, and replacement of segments that have arrived.

use units::{Duration, Rate, Time, math};

/// How the quality of the next segment is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// The highest rate below 0.9 of the measured throughput.
    Throughput,
    /// BOLA: by the level of the buffer [Spiteri et al., BOLA, INFOCOM 2016], in the variant BOLA-O of dash.js.
    Bola,
    /// By throughput while the buffer is low, by BOLA once it is full, as dash.js does by default.
    #[default]
    Dynamic,
}

/// What the rules know.
#[derive(Clone, Debug)]
pub(super) struct Chooser {
    rule: Rule,
    /// In bit/s, ascending.
    rates: Vec<f64>,
    segment_s: f64,
    /// The level up to which the buffer is filled below the top quality [bufferTimeDefault].
    buffer_s: f64,
    throughput: Throughput,
    bola: Bola,
    uses_bola: bool,
    /// Segments that have arrived.
    arrived: u32,
    quality: usize,
    /// The quality does not rise before, since a request was abandoned.
    low_until: Time,
}

/// Share of the measured throughput that is used [bandwidthSafetyFactor].
const SAFETY: f64 = 0.9;
/// Share that is used where the buffer may run out, and the segments that this rule ignores [insufficientBufferRule].
const LOW_SAFETY: f64 = 0.7;
const LOW_IGNORES: u32 = 2;
/// A request is abandoned if all its bytes would take longer than this many durations of the segment
/// [abandonDurationMultiplier]; the quality then does not rise for a time [abandonLoadTimeout].
const TOO_LONG: f64 = 1.8;
const LOW_FOR: Duration = Duration::from_secs(10);

impl Chooser {
    pub(super) fn new(rule: Rule, rates: &[Rate], segment: Duration, buffer: Duration, start: Rate) -> Self {
        let rates: Vec<f64> = rates.iter().map(|rate| rate.as_bps_f64()).collect();
        let buffer_s = buffer.as_secs_f64();
        let quality = highest(&rates, start.as_bps_f64());
        Self {
            rule,
            segment_s: segment.as_secs_f64(),
            buffer_s,
            throughput: Throughput::default(),
            bola: Bola::new(&rates, buffer_s),
            uses_bola: rule == Rule::Bola,
            arrived: 0,
            quality,
            low_until: Time::ZERO,
            rates,
        }
    }

    /// Whether a request of this quality and size is abandoned, of which `loaded` bytes have come at `rate_bps`, with
    /// `level_s` seconds in the buffer: the quality to request instead [AbandonRequestsRule].
    pub(super) fn abandon(
        &mut self,
        (quality, bytes): (usize, u64),
        loaded: u64,
        rate_bps: f64,
        level_s: f64,
        now: Time,
    ) -> Option<usize> {
        if level_s > self.buffer_s || bytes as f64 * 8.0 < TOO_LONG * self.segment_s * rate_bps {
            return None;
        }
        let lower = highest(&self.rates, rate_bps);
        let other = bytes as f64 * self.rates[lower] / self.rates[quality];
        if bytes.saturating_sub(loaded) as f64 <= other {
            return None;
        }
        self.quality = lower;
        self.low_until = now + LOW_FOR;
        self.bola.on_abandoned(&self.rates, lower, level_s);
        Some(lower)
    }

    /// Takes a segment that has arrived: its bytes, and the time from the first byte to the last.
    pub(super) fn on_segment(&mut self, bytes: u64, took: Duration, now: Time, level_s: f64) {
        self.arrived += 1;
        self.throughput.add(bytes as f64 * 8.0, took.as_secs_f64().max(1e-3));
        self.bola.on_segment(self.quality, level_s, now);
    }

    /// Records the time of the current request.
    pub(super) fn on_request(&mut self, now: Time) {
        self.bola.requested_at = Some(now);
    }

    /// Notes that the buffer ran out [onBufferEmpty].
    pub(super) fn on_stall(&mut self) {
        if !self.bola.starting {
            self.bola.placeholder_s = 0.0;
        }
    }

    /// The quality of the next segment, with `level_s` seconds in the buffer, and how long BOLA waits before its
    /// request.
    pub(super) fn choose(&mut self, level_s: f64, now: Time) -> (usize, Duration) {
        let Some(measured) = self.throughput.estimate() else { return (self.quality, Duration::ZERO) };
        let safe = highest(&self.rates, measured * SAFETY);
        if self.rule == Rule::Dynamic {
            // hysteresis between the whole buffer and half of it          [AbrController: _updateDynamicAbrStrategy]
            let threshold = if self.uses_bola { 0.5 * self.buffer_s } else { self.buffer_s };
            self.uses_bola = level_s >= threshold;
        }
        let (mut quality, mut wait_s) = (safe, 0.0);
        if self.uses_bola && self.rates.len() > 1 {
            (quality, wait_s) = self.bola.choose(&self.rates, safe, level_s, self.segment_s, now);
        }
        if self.arrived > LOW_IGNORES {
            // a segment that arrives before the buffer is empty                     [InsufficientBufferRule]
            let bound = measured * LOW_SAFETY * level_s / self.segment_s;
            quality = quality.min(highest(&self.rates, bound));
        }
        if now < self.low_until {
            quality = quality.min(self.quality);
        }
        self.quality = quality;
        (quality, Duration::from_secs_f64(wait_s))
    }
}

/// The highest of the ascending `rates` that does not exceed `limit`; the lowest if all do.
fn highest(rates: &[f64], limit: f64) -> usize {
    rates.partition_point(|rate| *rate <= limit).saturating_sub(1)
}

/// Two exponentially weighted means of the throughput, weighted by download time
/// [ThroughputModel, ThroughputController: getEwma].
#[derive(Clone, Copy, Debug, Default)]
struct Throughput {
    fast: f64,
    slow: f64,
    weight: f64,
}

/// Half-lives, in seconds of download time times [`WEIGHT`]
/// [throughputFastHalfLifeSeconds, throughputSlowHalfLifeSeconds].
const FAST: f64 = 3.0;
const SLOW: f64 = 8.0;
/// Weight of a second of download time [weightDownloadTimeMultiplicationFactor, which is per millisecond].
const WEIGHT: f64 = 1.5;

impl Throughput {
    fn add(&mut self, bits: f64, took_s: f64) {
        let (value, weight) = (bits / took_s, WEIGHT * took_s);
        let mix = |requested_before: f64, half_life: f64| {
            let keep = math::pow(0.5, weight / half_life);
            (1.0 - keep) * value + keep * requested_before
        };
        (self.fast, self.slow) = (mix(self.fast, FAST), mix(self.slow, SLOW));
        self.weight += weight;
    }

    /// The lower of both means, corrected for their start at zero.
    fn estimate(&self) -> Option<f64> {
        let corrected = |value: f64, half_life: f64| value / (1.0 - math::pow(0.5, self.weight / half_life));
        (self.weight > 0.0).then(|| corrected(self.fast, FAST).min(corrected(self.slow, SLOW)))
    }
}

/// BOLA with a placeholder buffer [BolaRule].
#[derive(Clone, Debug)]
struct Bola {
    /// ln(rate / lowest rate) + 1.
    utilities: Vec<f64>,
    /// Parameters V and γp of the paper in the form of dash.js.
    v: f64,
    gp: f64,
    /// The throughput decides until the first segment is in the buffer.
    starting: bool,
    placeholder_s: f64,
    quality: usize,
    requested_at: Option<Time>,
    arrived_at: Option<Time>,
    chosen_at: Option<Time>,
}

/// BOLA adds no delay below this level [MINIMUM_BUFFER_S].
const MINIMUM_S: f64 = 10.0;
/// What each quality adds to the level at which the highest one is chosen [MINIMUM_BUFFER_PER_BITRATE_LEVEL_S].
const PER_QUALITY_S: f64 = 2.0;
/// Decay of the placeholder buffer per segment [PLACEHOLDER_BUFFER_DECAY].
const DECAY: f64 = 0.99;

impl Bola {
    fn new(rates: &[f64], buffer_s: f64) -> Self {
        let lowest = rates.first().copied().unwrap_or(1.0);
        let utilities: Vec<f64> = rates.iter().map(|rate| math::ln(rate / lowest) + 1.0).collect();
        let top = utilities.last().copied().unwrap_or(1.0);
        let full_s = buffer_s.max(MINIMUM_S + PER_QUALITY_S * rates.len() as f64);
        let gp = (top - 1.0) / (full_s / MINIMUM_S - 1.0);
        Self {
            utilities,
            v: MINIMUM_S / gp,
            gp,
            starting: true,
            placeholder_s: 0.0,
            quality: 0,
            requested_at: None,
            arrived_at: None,
            chosen_at: None,
        }
    }

    /// [_checkNewSegment]
    fn on_segment(&mut self, quality: usize, level_s: f64, now: Time) {
        self.quality = quality;
        if let Some(requested_at) = self.requested_at.take() {
            self.placeholder_s *= DECAY;
            let at_request_s = level_s + now.saturating_since(requested_at).as_secs_f64();
            let maximum_s = (self.maximum(quality) - at_request_s).max(0.0);
            self.placeholder_s = self.placeholder_s.min(maximum_s);
        }
        self.arrived_at = Some(now);
    }

    /// [_onFragmentLoadingAbandoned]
    fn on_abandoned(&mut self, rates: &[f64], quality: usize, level_s: f64) {
        self.quality = quality;
        let wanted_s = if quality > 0 { self.minimum(rates, quality) } else { MINIMUM_S };
        self.placeholder_s = self.placeholder_s.min((wanted_s - level_s).max(0.0));
    }

    fn choose(
        &mut self,
        rates: &[f64],
        safe: usize,
        level_s: f64,
        segment_s: f64,
        now: Time,
    ) -> (usize, f64) {
        if self.starting {
            // [_handleBolaStateStartup]
            self.placeholder_s = (self.minimum(rates, safe) - level_s).max(0.0);
            self.quality = safe;
            self.starting = level_s < segment_s;
            return (safe, 0.0);
        }
        // a wait that is not the network's does not count                        [_updatePlaceholderBuffer]
        let chosen_at = self.chosen_at.replace(now);
        if let Some(since) = self.arrived_at.take().or(chosen_at) {
            self.placeholder_s += now.saturating_since(since).as_secs_f64();
        }
        let mut quality = self.best(rates, level_s + self.placeholder_s);
        // BOLA-O: no rise above what the network sustains                        [_handleBolaStateSteady]
        if quality > self.quality && quality > safe {
            quality = safe.max(self.quality);
        }
        let mut wait_s = (level_s + self.placeholder_s - self.maximum(quality)).max(0.0);
        if wait_s <= self.placeholder_s {
            self.placeholder_s -= wait_s;
            wait_s = 0.0;
        } else {
            wait_s -= self.placeholder_s;
            self.placeholder_s = 0.0;
            if quality + 1 == rates.len() {
                wait_s = 0.0;
            }
        }
        self.quality = quality;
        (quality, wait_s)
    }

    /// argmax (V (u + γp − 1) − level) / rate, the highest of equals    [_getRepresentationFromBufferLevel]
    fn best(&self, rates: &[f64], level_s: f64) -> usize {
        let score = |i: usize| (self.v * (self.utilities[i] - 1.0 + self.gp) - level_s) / rates[i];
        (1..rates.len()).fold(0, |best, i| if score(i) >= score(best) { i } else { best })
    }

    /// The highest level at which BOLA requests this quality and does not wait    [_maxBufferLevelForRepresentation]
    fn maximum(&self, quality: usize) -> f64 {
        self.v * (self.utilities[quality] + self.gp)
    }

    /// The lowest level at which BOLA prefers this quality to lower ones    [_minBufferLevelForRepresentation]
    fn minimum(&self, rates: &[f64], quality: usize) -> f64 {
        let (rate, utility) = (rates[quality], self.utilities[quality]);
        let level = |i: usize| {
            let (low, less) = (rates[i], self.utilities[i]);
            self.v * (self.gp + (rate * less - low * utility) / (rate - low))
        };
        (0..quality).map(level).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates of 1, 2 and 4 Mbit/s, a buffer of 18 s: full at max(18, 10 + 2·3) = 18 s. γp = ln 4 / (1.8 − 1) =
    /// 1.732868, V = 10 / γp = 5.770780.
    fn bola() -> (Bola, [f64; 3]) {
        let rates = [1e6, 2e6, 4e6];
        (Bola::new(&rates, 18.0), rates)
    }

    #[test]
    fn bola_has_the_parameters_of_its_formulas() {
        let (bola, _) = bola();
        assert!((bola.gp - 1.732_868).abs() < 1e-6, "{}", bola.gp);
        assert!((bola.v - 5.770_780).abs() < 1e-6, "{}", bola.v);
        // at the minimum the lowest quality, at the full buffer the highest one
        assert!((bola.v * bola.gp - 10.0).abs() < 1e-9);
        assert!((bola.v * (math::ln(4.0) + bola.gp) - 18.0).abs() < 1e-9);
    }

    /// Qualities 0 and 1 are equal where (V γp − L)/1 = (V (ln 2 + γp) − L)/2: L = V (γp − ln 2) = 6. 1 and 2:
    /// L = V γp = 10.
    /// By the formula of the minimum level, with utilities 1, 1 + ln 2, 1 + ln 4: V (γp + (2·1 − 1·(1 + ln 2))/1) = V
    /// (γp + 1 − ln 2) = 11.770780; the placeholder is chosen by it.
    #[test]
    fn bola_chooses_by_the_level_of_the_buffer() {
        let (bola, rates) = bola();
        for (level_s, quality) in [(0.0, 0), (5.9, 0), (6.1, 1), (9.9, 1), (10.1, 2), (17.0, 2)] {
            assert_eq!(bola.best(&rates, level_s), quality, "{level_s} s");
        }
        assert!((bola.minimum(&rates, 1) - 11.770_780).abs() < 1e-5, "{}", bola.minimum(&rates, 1));
        assert_eq!(bola.minimum(&rates, 0), 0.0);
    }

    /// 8 Mbit in 2 s weigh 3: the fast mean keeps 0.5^(3/3) = 0.5, the slow one 0.5^(3/8) = 0.771105. Corrected, both
    /// are 4 Mbit/s. Then 2 Mbit in 2 s, 1 Mbit/s: fast (0.5·1 + 0.5·2) / (1 − 0.25) = 2 Mbit/s, the lower one.
    #[test]
    fn the_throughput_is_the_lower_of_two_means() {
        let mut throughput = Throughput::default();
        assert_eq!(throughput.estimate(), None);
        throughput.add(8e6, 2.0);
        assert!((throughput.estimate().expect("a sample") - 4e6).abs() < 1.0);
        throughput.add(2e6, 2.0);
        assert!((throughput.estimate().expect("samples") - 2e6).abs() < 1.0);
    }

    fn chooser(rule: Rule) -> Chooser {
        let rates = [1, 2, 4].map(Rate::from_mbps);
        let seconds = Duration::from_secs;
        Chooser::new(rule, &rates, seconds(4), seconds(18), Rate::from_mbps(1))
    }

    #[test]
    fn the_throughput_rule_leaves_a_tenth() {
        let mut chooser = chooser(Rule::Throughput);
        let now = Time::ZERO;
        assert_eq!(chooser.choose(0.0, now).0, 0, "the first quality is the start's");
        // 9 Mbit in 4 s: 2.25 · 0.9 = 2.025 Mbit/s
        chooser.on_segment(1_125_000, Duration::from_secs(4), now, 4.0);
        assert_eq!(chooser.choose(4.0, now).0, 1);
        // a third of it is too little for 2 Mbit/s
        chooser.on_segment(375_000, Duration::from_secs(40), now, 4.0);
        assert_eq!(chooser.choose(4.0, now).0, 0);
    }

    #[test]
    fn a_low_buffer_limits_the_quality_after_two_segments() {
        let mut chooser = chooser(Rule::Throughput);
        for _ in 0..3 {
            // 10 Mbit/s
            chooser.on_segment(5_000_000, Duration::from_secs(4), Time::ZERO, 8.0);
        }
        assert_eq!(chooser.choose(8.0, Time::ZERO).0, 2);
        // 10 · 0.7 · 1 s / 4 s = 1.75 Mbit/s
        assert_eq!(chooser.choose(1.0, Time::ZERO).0, 0);
    }

    #[test]
    fn dynamic_takes_bola_at_a_full_buffer_and_leaves_it_at_half() {
        let mut chooser = chooser(Rule::Dynamic);
        chooser.on_segment(5_000_000, Duration::from_secs(4), Time::ZERO, 4.0);
        for (level_s, uses) in
            [(4.0, false), (17.9, false), (18.0, true), (9.0, true), (8.9, false), (17.0, false)]
        {
            chooser.choose(level_s, Time::ZERO);
            assert_eq!(chooser.uses_bola, uses, "{level_s} s");
        }
    }
}
