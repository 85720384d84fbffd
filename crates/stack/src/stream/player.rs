//! Playback of a stream: a buffer that fills before the start, one frame per interval, stalls, and late or lost frames.

use std::ops::Range;
use std::sync::Arc;

use contract::{Count, Cx, Fragment};
use units::{Duration, Time};

use super::fragments::IncompleteFrames;
use super::{Config, Depends, FrameType, Player};
use crate::parts::Ranges;

/// What a receiver does with the frames of a stream: ignore or play them.
pub trait FrameConsumer {
    /// When [`FrameConsumer::on_timer`] is to be called next.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// Takes a packet with `bytes` bytes of a frame.
    fn on_fragment(&mut self, _piece: Fragment, _bytes: u32, _cx: &mut Cx<'_>) {}

    /// Handles a deadline.
    fn on_timer(&mut self, _cx: &mut Cx<'_>) {}

    /// Ends playback, because the receiver leaves.
    fn on_stop(&mut self, _cx: &mut Cx<'_>) {}

    /// The initial mode of the scheme, if the player selects modes.
    fn first_mode(&self) -> Option<&str> {
        None
    }

    /// The new mode of the scheme, if it is to change now.
    fn next_mode(&mut self, _cx: &mut Cx<'_>) -> Option<&str> {
        None
    }

    /// Whether the buffer is full, if the source is to be notified now.
    fn buffer_notification(&mut self, _now: Time) -> Option<bool> {
        None
    }
}

/// Ignores all frames.
impl FrameConsumer for () {}

/// A player of frames. A frame is skipped if it is due and incomplete and packets of a later frame have arrived. On a
/// path without reordering it cannot become complete; otherwise it counts as late when it does.
#[derive(Clone, Debug)]
pub struct Playing {
    config: Player,
    interval: Duration,
    /// Number of frames of the video; `None` without an end.
    count: Option<u32>,
    state: State,
    /// The next frame to show; `None` before the first packet.
    next_frame: Option<u32>,
    /// One past the newest frame of which a packet has arrived.
    newest: u32,
    /// Complete frames that are not due yet.
    complete: Ranges,
    /// Incomplete frames.
    fragments: IncompleteFrames,
    /// Types of the frames, repeated; empty if frames have no types.
    types: Arc<[FrameType]>,
    /// A frame that others depend on was lost, and no I frame has arrived since.
    broken: bool,
    full: bool,
    /// When the source is to be notified of the buffer state again.
    next_notification: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The buffer fills before the start.
    Starting,
    /// The next frame is shown at `at`.
    Playing { at: Time },
    /// The next frame is missing; stalled time is counted up to `counted`.
    Stalled { counted: Time },
    /// The last frame was shown.
    Ended,
}

impl Playing {
    /// The player of a stream's settings; `None` if they have no player or no video.
    pub fn of(config: &Config) -> Option<Self> {
        let (player, video) = (config.player.as_ref()?, config.video.as_ref()?);
        let types = if player.depends == Depends::Nothing { Arc::from([]) } else { video.types() };
        Some(Self::new(player, video.interval(), video.count(), types))
    }

    /// A player of frames at `interval` with these types, `count` in all.
    fn new(config: &Player, interval: Duration, count: Option<u32>, types: Arc<[FrameType]>) -> Self {
        Self {
            config: config.clone(),
            interval,
            count,
            state: State::Starting,
            next_frame: None,
            newest: 0,
            complete: Ranges::new(),
            fragments: IncompleteFrames::default(),
            types,
            broken: true,
            full: false,
            next_notification: Time::ZERO,
        }
    }

    /// The buffer level: from the frame that is due to the newest complete one. Before the start and in a stall it
    /// begins at the first complete frame.
    fn level(&self) -> Duration {
        let next_frame = u64::from(self.next_frame.unwrap_or(0));
        let from = match self.state {
            State::Playing { .. } | State::Ended => next_frame,
            State::Starting | State::Stalled { .. } => self.first_whole().unwrap_or(next_frame),
        };
        self.interval * self.complete.end().unwrap_or(0).saturating_sub(from)
    }

    fn first_whole(&self) -> Option<u64> {
        self.complete.as_slice().first().map(|range| range.0)
    }

    /// Starts or resumes playback at the first complete frame; missing frames before it are skipped without a pause.
    fn play(&mut self, cx: &mut Cx<'_>) {
        cx.event("play", self.level().as_secs_f64());
        let next_frame = self.next_frame.unwrap_or(0);
        let first = self.first_whole().map_or(next_frame, |first| first as u32);
        cx.count(Count::FramesMissed, u64::from(first.saturating_sub(next_frame)));
        self.skip(next_frame..first);
        self.next_frame = Some(first.max(next_frame));
        self.state = State::Playing { at: cx.now() };
        self.on_timer(cx);
    }

    /// Whether others depend on this frame; false if frames have no types.
    fn is_reference(&self, frame: u32) -> bool {
        match self.types.get(frame as usize % self.types.len().max(1)) {
            Some(FrameType::Intra) => true,
            Some(FrameType::Predicted) => self.config.depends == Depends::References,
            Some(FrameType::Bidirectional) | None => false,
        }
    }

    /// Records that these frames were not complete in time.
    fn skip(&mut self, frames: Range<u32>) {
        self.broken |= frames.rev().any(|frame| self.is_reference(frame));
    }

    /// Whether a complete frame is decodable.
    fn is_decodable(&mut self, frame: u32) -> bool {
        let Some(kind) = self.types.get(frame as usize % self.types.len().max(1)) else { return true };
        self.broken &= *kind != FrameType::Intra;
        !self.broken
    }

    /// Whether the buffer contains this much, or the rest of the video.
    fn holds(&self, span: Duration) -> bool {
        let all = self.count.is_some_and(|count| self.complete.end() == Some(u64::from(count)));
        all || self.level() >= span.max(self.interval)
    }

    fn show(&self, cx: &mut Cx<'_>) {
        if cx.probing() {
            cx.probe("buffer", self.level().as_secs_f64());
        }
    }
}

impl FrameConsumer for Playing {
    /// Once per frame, also in a stall, to count its duration.
    #[inline]
    fn wake(&self) -> Time {
        match self.state {
            State::Playing { at } => at,
            State::Stalled { counted } => counted + self.interval,
            State::Starting | State::Ended => Time::NEVER,
        }
    }

    fn on_fragment(&mut self, fragment: Fragment, bytes: u32, cx: &mut Cx<'_>) {
        let next_frame = *self.next_frame.get_or_insert(fragment.frame);
        self.newest = self.newest.max(fragment.frame.saturating_add(1));
        if !self.fragments.completes(fragment, bytes) {
            return;
        }
        if fragment.frame < next_frame {
            cx.count(Count::FramesLate, 1);
            return;
        }
        self.complete.insert(u64::from(fragment.frame), u64::from(fragment.frame) + 1);
        match self.state {
            State::Starting if self.holds(self.config.startup) => {
                cx.playing();
                self.play(cx);
            }
            State::Stalled { counted } if self.holds(self.config.resume) => {
                cx.count(Count::StallNanos, cx.now().saturating_since(counted).as_nanos());
                self.play(cx);
            }
            _ => self.show(cx),
        }
    }

    /// Shows the frames that are due.
    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        if let State::Stalled { counted } = self.state {
            cx.count(Count::StallNanos, now.saturating_since(counted).as_nanos());
            self.state = State::Stalled { counted: now };
        }
        while let State::Playing { at } = self.state
            && at <= now
        {
            let next_frame = self.next_frame.unwrap_or(0);
            if self.count.is_some_and(|count| next_frame >= count) {
                self.state = State::Ended;
                cx.event("end", f64::from(next_frame));
                break;
            }
            let last = self.count == Some(next_frame + 1);
            if self.complete.range_containing(u64::from(next_frame)).is_some() {
                let decodable = self.is_decodable(next_frame);
                cx.count(if decodable { Count::FramesPlayed } else { Count::FramesUndecodable }, 1);
            } else if self.newest > next_frame + 1 || last || !self.config.stall_on_missing {
                cx.count(Count::FramesMissed, 1);
                self.skip(next_frame..next_frame + 1);
            } else {
                cx.count(Count::Stalls, 1);
                cx.event("stall", f64::from(next_frame));
                self.state = State::Stalled { counted: now };
                break;
            }
            self.next_frame = Some(next_frame + 1);
            self.complete.remove_below(u64::from(next_frame) + 1);
            self.fragments.forget_before(next_frame);
            self.state = State::Playing { at: at + self.interval };
        }
        self.show(cx);
    }

    fn on_stop(&mut self, cx: &mut Cx<'_>) {
        if let State::Stalled { counted } = self.state {
            cx.count(Count::StallNanos, cx.now().saturating_since(counted).as_nanos());
        }
        self.state = State::Ended;
    }

    fn first_mode(&self) -> Option<&str> {
        self.config.modes.as_ref().map(|modes| modes.of(false))
    }

    fn next_mode(&mut self, cx: &mut Cx<'_>) -> Option<&str> {
        let level = self.level();
        let modes = self.config.modes.as_ref()?;
        let full = if self.full { level >= modes.low } else { level >= modes.high };
        if full == self.full {
            return None;
        }
        self.full = full;
        self.next_notification = cx.now();
        cx.event(if full { "full" } else { "filling" }, level.as_secs_f64());
        Some(modes.of(full))
    }

    fn buffer_notification(&mut self, now: Time) -> Option<bool> {
        if self.config.modes.is_none() || now < self.next_notification {
            return None;
        }
        self.next_notification = now + NOTIFICATION_INTERVAL;
        Some(self.full)
    }
}

/// Interval at which the buffer state is sent to the source, because packets can be lost.
const NOTIFICATION_INTERVAL: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{Meter, Outputs, Random};

    use crate::stream::fragments::KEPT;
    use crate::testing::{FLOW, ME};

    /// A frame of two packets every 40 ms; every seventh packet is lost.
    #[test]
    fn memory_does_not_grow_with_time() {
        let interval = Duration::from_millis(40);
        let config = Player { startup: Duration::from_secs(10), ..Player::default() };
        let mut playing = Playing::new(&config, interval, None, Arc::from([]));
        let (mut random, mut meter, mut out) = (Random::new(1, "", ""), Meter::default(), Outputs::default());
        let mut at = |playing: &mut Playing, now: Time, fragment: Option<Fragment>| {
            let mut cx = Cx::new(now, ME, FLOW, &mut random, &mut meter, &mut out);
            match fragment {
                Some(fragment) => playing.on_fragment(fragment, 500, &mut cx),
                None => playing.on_timer(&mut cx),
            }
        };
        for frame in 0..20_000 {
            let now = Time::ZERO + interval * u64::from(frame);
            while playing.wake() <= now {
                let next_frame = playing.wake();
                at(&mut playing, next_frame, None);
            }
            let fragment = Fragment { frame, frame_bytes: 1000 };
            at(&mut playing, now, Some(fragment));
            if frame % 7 != 3 {
                at(&mut playing, now, Some(fragment));
            }
            // 250 frames are in the buffer, and every seventh one leaves a gap
            assert!(playing.complete.as_slice().len() <= 250 / 7 + 2);
            assert!(playing.fragments.len() <= (250 + KEPT as usize) / 7 + 2);
        }
        assert_eq!(meter.count(Count::Stalls), 0);
        assert!(meter.count(Count::FramesMissed) > 2800);
    }
}
