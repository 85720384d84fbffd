//! Video frames that wait at the source of a stream. Sizes that do not depend on the scheme are generated when the
//! frames are sent, so that memory does not grow while a slow stream falls behind its encoder; the frames of an encoder
//! that follows the scheme wait in a queue.

use contract::{Count, Cx, EncodedFrame, Fragment, Random};
use units::{Bytes, Duration, Rate, Time};

use super::encoder::LiveEncoder;
use super::video::{Encoder, Frames, Video};

/// The frames of the encoder that have not been sent.
#[derive(Clone, Debug)]
pub(super) struct FrameQueue {
    encoder: Encoder,
    /// The encoder that follows the scheme, and its queue, instead of `encoder`.
    live: Option<Box<LiveEncoder>>,
    /// Start of the encoder; [`Time::NEVER`] before.
    started_at: Time,
    interval: Duration,
    /// The frame that is being sent.
    fragment: Fragment,
    /// The rest of this frame.
    remaining: Bytes,
}

impl FrameQueue {
    /// An encoder before its start.
    pub(super) fn new(video: &Video) -> Self {
        let random = || Random::new(0, "video", "frames");
        let live = match video.frames {
            Frames::Follows(model) => Some(Box::new(LiveEncoder::new(model, video.frame_rate, random()))),
            _ => None,
        };
        Self {
            encoder: Encoder::new(video, random()),
            live,
            started_at: Time::NEVER,
            interval: video.interval(),
            fragment: Fragment::default(),
            remaining: Bytes::ZERO,
        }
    }

    /// Starts the encoder. Its random stream is separate from the scheme's, so that all schemes carry the same video.
    pub(super) fn start(&mut self, cx: &mut Cx<'_>) {
        let seed = cx.random().bits();
        let random = || Random::new(seed, "video", "frames");
        *self = Self {
            encoder: Encoder::new(self.encoder.video(), random()),
            live: self.live.take().map(|live| Box::new(live.restarted(random()))),
            started_at: cx.now(),
            fragment: Fragment::default(),
            remaining: Bytes::ZERO,
            ..*self
        };
    }

    /// When there are data to send; [`Time::NEVER`] after the last frame, and while the queue of an encoder that
    /// follows the scheme is empty.
    #[inline]
    pub(super) fn ready_at(&self) -> Time {
        if self.remaining > Bytes::ZERO { Time::ZERO } else { self.next_at() }
    }

    /// When the encoder that follows the scheme encodes its next frame; [`Time::NEVER`] without such an encoder.
    #[inline]
    pub(super) fn encodes_at(&self) -> Time {
        self.live.as_ref().map_or(Time::NEVER, |live| self.at(live.number()))
    }

    /// Encodes the next frame, with the target rate `target` of the scheme; `None` without an encoder that follows it.
    pub(super) fn encode(&mut self, target: Rate, cx: &mut Cx<'_>) -> Option<EncodedFrame> {
        let live = self.live.as_mut()?;
        let size = live.encode(target, cx.now());
        if cx.probing() {
            cx.probe("target_rate", target.as_bps_f64());
            cx.probe("encoder_rate", live.rate());
        }
        let waited = self.waiting(cx.now());
        self.live.as_ref().map(|live| live.describe(size, self.remaining, waited, self.interval))
    }

    /// Whether the encoder follows the scheme.
    pub(super) fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// When frame `number` of a live video is encoded.
    fn at(&self, number: u32) -> Time {
        self.started_at + self.interval * u64::from(number)
    }

    /// Time at which the next frame is available.
    fn next_at(&self) -> Time {
        if let Some(live) = &self.live {
            return live.first().map_or(Time::NEVER, |first| self.at(first));
        }
        match self.encoder.number() {
            Some(number) if self.encoder.video().live => self.at(number),
            Some(_) => self.started_at,
            None => Time::NEVER,
        }
    }

    /// Takes the next packet of at most `packet` bytes. A packet has data of one frame. `None` if no frame is ready.
    pub(super) fn take(&mut self, packet: Bytes, cx: &mut Cx<'_>) -> Option<(Bytes, Fragment)> {
        if self.remaining == Bytes::ZERO {
            self.start_stream(cx)?;
        }
        let size = self.remaining.min(packet);
        self.remaining -= size;
        Some((size, self.fragment))
    }

    /// Starts the next frame that is ready and not too old.
    fn start_stream(&mut self, cx: &mut Cx<'_>) -> Option<()> {
        loop {
            let available_at = self.next_at();
            if available_at > cx.now() {
                return None;
            }
            let (frame, size) = match &mut self.live {
                Some(live) => live.pop()?,
                None => (self.encoder.number()?, self.encoder.next()?),
            };
            if self.encoder.video().live
                && cx.now().saturating_since(available_at) > self.encoder.video().drop_after
            {
                cx.count(Count::FramesDropped, 1);
                continue;
            }
            self.fragment = Fragment { frame, frame_bytes: u32::try_from(size.as_u64()).unwrap_or(u32::MAX) };
            self.remaining = size;
            return Some(());
        }
    }

    /// Time since the frame of `fragment` of a live video was encoded.
    pub(super) fn age(&self, fragment: Fragment, now: Time) -> Duration {
        now.saturating_since(self.at(fragment.frame))
    }

    /// Duration of the video that waits: from the frame that is being sent to the current frame of the encoder. Zero if
    /// the video is not live.
    pub(super) fn waiting(&self, now: Time) -> Duration {
        let available_at = match self.remaining {
            Bytes::ZERO => self.next_at(),
            _ => self.at(self.fragment.frame),
        };
        if self.encoder.video().live { now.saturating_since(available_at) } else { Duration::ZERO }
    }
}
