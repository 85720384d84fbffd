//! A player of adaptive video (DASH): segments over one connection, a buffer, stalls and switches of quality.

use units::{Bytes, Duration, Rate, Time};

use super::abr::Chooser;
use super::sizes::log_normal;
use super::{Exchange, Rule, Shared};

/// Settings of a player.
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    /// Rates of the qualities, ascending, at least one.
    pub rates: Vec<Rate>,
    /// Duration of a segment.
    pub segment: Duration,
    /// Number of segments; [`u32::MAX`] for no end.
    pub count: u32,
    /// Coefficient of variation of the sizes of segments, log-normal and the same for all qualities of a segment; 0 for
    /// constant sizes.
    pub variation: f64,
    /// How the quality is chosen.
    pub rule: Rule,
    /// The quality of the first segment is the highest one up to this rate.
    pub start: Rate,
    /// The buffer is filled up to this level.
    pub buffer: Duration,
    /// Level up to which the buffer is filled at the highest quality.
    pub buffer_at_top: Duration,
    /// Playback starts, and resumes after a stall, when this much video is in the buffer.
    pub startup: Duration,
    /// Whether a request is abandoned that takes too long, for a lower quality of the same segment.
    pub abandon: bool,
}

impl Default for Player {
    /// The settings of dash.js 5: `bufferTimeDefault` 18 s, `bufferTimeAtTopQuality` 30 s, `DEFAULT_VIDEO_BITRATE` 1000
    /// kbit/s. Segments of 4 s, of which one is needed to play.
    fn default() -> Self {
        Self {
            rates: Vec::new(),
            segment: Duration::from_secs(4),
            count: u32::MAX,
            variation: 0.0,
            rule: Rule::Dynamic,
            start: Rate::from_mbps(1),
            buffer: Duration::from_secs(18),
            buffer_at_top: Duration::from_secs(30),
            startup: Duration::from_secs(4),
            abandon: true,
        }
    }
}

/// Counters of playback.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Playback {
    /// From the start to the first picture; `None` before.
    pub startup: Option<Duration>,
    /// Number of stalls after it.
    pub stalls: u32,
    /// Their total duration, an unfinished one included.
    pub stalled: Duration,
    /// Number of changes of quality from one segment to the next.
    pub switches: u32,
    /// Sum of the rates of the segments that arrived, in bit/s.
    pub rate_sum_bps: f64,
    /// Sum of the differences of the rates of successive segments, in bit/s.
    pub change_sum_bps: f64,
    /// Number of segments that arrived.
    pub segments: u32,
    /// Number of requests that were abandoned.
    pub abandoned: u32,
}

impl Playback {
    /// The linear quality of experience of Yin et al. (SIGCOMM 2015, equation 5) per segment, in bit/s: (Σ R − λ Σ |ΔR|
    /// − μ (stalls + start-up)) / segments, with λ = 1 and `mu_bps` per second. It is no standardised score.
    pub fn qoe_bps(&self, mu_bps: f64) -> Option<f64> {
        let waited_s = (self.stalled + self.startup?).as_secs_f64();
        let sum = self.rate_sum_bps - self.change_sum_bps - mu_bps * waited_s;
        (self.segments > 0).then(|| sum / f64::from(self.segments))
    }
}

/// How an answer comes: what a browser tells by progress events.
#[derive(Clone, Copy, Debug)]
struct Download {
    /// The first event: when, and the bytes by then, which the request had to wait for.
    first: (Time, u64),
    last_at: Time,
    events: u32,
}

/// Time between two progress events [XMLHttpRequest, handle response body: 50 ms].
const PROGRESS: Duration = Duration::from_millis(50);
/// Progress events, and time since the first, before a request is abandoned
/// [minThroughputSamplesThreshold, minSegmentDownloadTimeThresholdInMs].
const EVENTS: u32 = 6;
const AT_LEAST: Duration = Duration::from_millis(500);

impl Download {
    const fn new(loaded: u64, now: Time) -> Self {
        Self { first: (now, loaded), last_at: now, events: 1 }
    }

    /// Takes the bytes that have arrived. Returns their rate since the first event, in bit/s, at an event by which it
    /// is known.
    fn progress(&mut self, loaded: u64, now: Time) -> Option<f64> {
        if now.saturating_since(self.last_at) < PROGRESS {
            return None;
        }
        self.last_at = now;
        self.events += 1;
        let (first_at, before) = self.first;
        let elapsed = now.saturating_since(first_at);
        let known = self.events >= EVENTS && elapsed > AT_LEAST;
        known.then(|| loaded.saturating_sub(before) as f64 * 8.0 / elapsed.as_secs_f64())
    }
}

pub(super) struct State {
    config: Player,
    chooser: Chooser,
    started_at: Time,
    /// Video in the buffer at `level_at`.
    level: Duration,
    level_at: Time,
    /// Whether it plays; otherwise it waits since `waits_since`.
    playing: bool,
    waits_since: Time,
    /// The segment under way: quality, bytes, arrival of its first byte.
    current: (usize, u64, Time),
    /// Number of the request for it.
    request: u32,
    /// How its answer comes; `None` if it is not watched: before the first byte, once it has replaced an abandoned one.
    download: Option<Download>,
    /// Quality of the last segment that arrived.
    last: Option<usize>,
    next_at: Time,
    played: Playback,
}

impl State {
    pub(super) fn new(config: &Player) -> Self {
        let Player { rule, segment, buffer, start, .. } = *config;
        Self {
            chooser: Chooser::new(rule, &config.rates, segment, buffer, start),
            config: config.clone(),
            started_at: Time::NEVER,
            level: Duration::ZERO,
            level_at: Time::ZERO,
            playing: false,
            waits_since: Time::ZERO,
            current: (0, 0, Time::NEVER),
            request: 0,
            download: None,
            last: None,
            next_at: Time::NEVER,
            played: Playback::default(),
        }
    }

    pub(super) fn begin(&mut self, shared: &mut Shared, now: Time) {
        self.started_at = now;
        (self.level_at, self.waits_since) = (now, now);
        self.choose(shared, now);
    }

    /// Plays until `now`. The buffer may run out meanwhile.
    fn advance(&mut self, now: Time) {
        if self.playing {
            let passed = now.saturating_since(self.level_at);
            if passed > self.level {
                self.playing = false;
                self.waits_since = self.level_at + self.level;
                self.level = Duration::ZERO;
                // at the end of the video nothing is missing
                if self.played.segments < self.config.count {
                    self.played.stalls += 1;
                    self.chooser.on_stall();
                }
            } else {
                self.level = self.level.saturating_sub(passed);
            }
        }
        self.level_at = now;
    }

    /// Chooses the quality of the next segment and requests it, now or when the buffer has room.
    fn choose(&mut self, shared: &mut Shared, now: Time) {
        self.next_at = Time::NEVER;
        if shared.stopped || shared.exchanges.len() >= self.config.count as usize {
            return;
        }
        let (quality, wait) = self.chooser.choose(self.level.as_secs_f64(), now);
        if wait > Duration::ZERO {
            self.next_at = now + wait;
            return;
        }
        let rate = self.config.rates[quality];
        let varied = match self.config.variation {
            0.0 => 1.0,
            variation => log_normal(variation, &mut shared.random),
        };
        let bytes = (rate.as_bps_f64() * self.config.segment.as_secs_f64() / 8.0 * varied).max(1.0) as u64;
        self.request(quality, bytes, shared, now);
        shared.exchanges.push(Exchange {
            started_at: now,
            completed_at: Time::NEVER,
            bytes,
            segment: Some((quality as u32, self.level)),
            abandoned: 0,
        });
    }

    fn request(&mut self, quality: usize, bytes: u64, shared: &mut Shared, now: Time) {
        self.current = (quality, bytes, Time::NEVER);
        self.download = None;
        self.request += 1;
        self.chooser.on_request(now);
        shared.request(0, Bytes::new(bytes), self.request, now);
    }

    pub(super) fn on_first_byte(&mut self, now: Time) {
        self.current.2 = now;
    }

    /// Whether it is to be told of every delivery: a request can be abandoned, once per segment, and not at the lowest
    /// quality.
    pub(super) fn watches(&self, shared: &Shared) -> bool {
        let once =
            shared.exchanges.last().is_some_and(|one| one.completed_at == Time::NEVER && one.abandoned == 0);
        self.config.abandon && self.current.0 > 0 && once
    }

    /// Takes how many bytes of the answer under way have arrived. Abandons the request if a lower quality is there
    /// sooner [AbandonRequestsRule].
    pub(super) fn on_progress(&mut self, loaded: u64, shared: &mut Shared, now: Time) {
        if loaded == 0 || !self.watches(shared) {
            return;
        }
        let download = self.download.get_or_insert_with(|| Download::new(loaded, now));
        let (quality, bytes, _) = self.current;
        let Some(rate) = download.progress(loaded, now) else { return };
        self.advance(now);
        let level_s = self.level.as_secs_f64();
        let Some(lower) = self.chooser.abandon((quality, bytes), loaded, rate, level_s, now) else { return };
        let ratio = self.config.rates[lower].as_bps_f64() / self.config.rates[quality].as_bps_f64();
        let bytes = (bytes as f64 * ratio).max(1.0) as u64;
        self.played.abandoned += 1;
        shared.connections[0].abandon();
        self.request(lower, bytes, shared, now);
        if let Some(exchange) = shared.exchanges.last_mut() {
            (exchange.bytes, exchange.segment) = (bytes, Some((lower as u32, self.level)));
            exchange.abandoned += 1;
        }
    }

    /// Takes the end of an answer; the end of an abandoned one has no effect.
    pub(super) fn on_answer(&mut self, request: u32, shared: &mut Shared, now: Time) {
        if request == self.request {
            self.on_segment(shared, now);
        }
    }

    fn on_segment(&mut self, shared: &mut Shared, now: Time) {
        self.advance(now);
        let (quality, bytes, begun_at) = self.current;
        self.level += self.config.segment;
        self.played.segments += 1;
        let rate_bps = self.config.rates[quality].as_bps_f64();
        self.played.rate_sum_bps += rate_bps;
        if let Some(last) = self.last.replace(quality)
            && last != quality
        {
            self.played.switches += 1;
            self.played.change_sum_bps += (rate_bps - self.config.rates[last].as_bps_f64()).abs();
        }
        let whole = self.played.segments >= self.config.count;
        if !self.playing && (self.level >= self.config.startup || whole) {
            self.playing = true;
            let waited = now.saturating_since(self.waits_since);
            match self.played.startup {
                Some(_) => self.played.stalled += waited,
                None => self.played.startup = Some(waited),
            }
        }
        self.chooser.on_segment(bytes, now.saturating_since(begun_at), now, self.level.as_secs_f64());
        if let Some(exchange) = shared.exchanges.last_mut() {
            exchange.completed_at = now;
            exchange.segment = Some((quality as u32, self.level));
        }
        let top = quality + 1 == self.config.rates.len();
        let target = if top { self.config.buffer_at_top.max(self.config.buffer) } else { self.config.buffer };
        if self.level >= target && self.playing {
            self.next_at = now + self.level.saturating_sub(target) + Duration::from_nanos(1);
        } else {
            self.choose(shared, now);
        }
    }

    pub(super) fn on_timer(&mut self, shared: &mut Shared, now: Time) {
        if self.next_at <= now {
            self.advance(now);
            self.choose(shared, now);
        }
    }

    pub(super) const fn wake(&self) -> Time {
        self.next_at
    }

    pub(super) fn playback(&self, now: Time) -> Playback {
        let mut played = self.played;
        let whole = played.segments >= self.config.count;
        if played.startup.is_none() || whole {
            return played;
        }
        if !self.playing {
            played.stalled += now.saturating_since(self.waits_since);
        } else if now.saturating_since(self.level_at) > self.level {
            // it ran out since the last segment
            played.stalls += 1;
            played.stalled += now.saturating_since(self.level_at + self.level);
        }
        played
    }
}
