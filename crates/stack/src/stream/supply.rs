//! Video frames that wait at the source of a stream. Sizes that do not depend on the scheme are generated when the frames are sent, so that
//! memory does not grow while a slow stream falls behind its encoder; the frames of an encoder that follows the scheme wait in a queue.

use contract::{Count, Cx, EncodedFrame, Piece, Random};
use units::{Bytes, Duration, Rate, Time};

use super::encoder::LiveEncoder;
use super::video::{Encoder, Frames, Video};

/// The frames of the encoder that have not been sent.
#[derive(Clone, Debug)]
pub(super) struct Supply {
    encoder: Encoder,
    /// The encoder that follows the scheme, and its queue, instead of `encoder`.
    live: Option<Box<LiveEncoder>>,
    /// Start of the encoder; [`Time::NEVER`] before.
    began_at: Time,
    interval: Duration,
    /// The frame that is being sent.
    piece: Piece,
    /// The rest of this frame.
    left: Bytes,
}

impl Supply {
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
            began_at: Time::NEVER,
            interval: video.interval(),
            piece: Piece::default(),
            left: Bytes::ZERO,
        }
    }

    /// Starts the encoder. Its random stream is separate from that of the scheme, so that all schemes carry the same video.
    pub(super) fn start(&mut self, cx: &mut Cx<'_>) {
        let seed = cx.random().bits();
        let random = || Random::new(seed, "video", "frames");
        *self = Self {
            encoder: Encoder::new(self.encoder.video(), random()),
            live: self.live.take().map(|live| Box::new(live.restarted(random()))),
            began_at: cx.now(),
            piece: Piece::default(),
            left: Bytes::ZERO,
            ..*self
        };
    }

    /// When there are data to send; [`Time::NEVER`] after the last frame, and while the queue of an encoder that follows the scheme is empty.
    #[inline]
    pub(super) fn ready_at(&self) -> Time {
        if self.left > Bytes::ZERO { Time::ZERO } else { self.next_at() }
    }

    /// When the encoder that follows the scheme encodes its next frame; [`Time::NEVER`] if there is none.
    #[inline]
    pub(super) fn encodes_at(&self) -> Time {
        self.live.as_ref().map_or(Time::NEVER, |live| self.at(live.number()))
    }

    /// Encodes the next frame, while the scheme asks for `target`; `None` without an encoder that follows it.
    pub(super) fn encode(&mut self, target: Rate, cx: &mut Cx<'_>) -> Option<EncodedFrame> {
        let live = self.live.as_mut()?;
        let size = live.encode(target, cx.now());
        if cx.probing() {
            cx.probe("target_rate", target.as_bps_f64());
            cx.probe("encoder_rate", live.rate());
        }
        let waited = self.waiting(cx.now());
        self.live.as_ref().map(|live| live.describe(size, self.left, waited, self.interval))
    }

    /// Whether the encoder follows the scheme.
    pub(super) fn follows(&self) -> bool {
        self.live.is_some()
    }

    /// When frame `number` of a live video is encoded.
    fn at(&self, number: u32) -> Time {
        self.began_at + self.interval * u64::from(number)
    }

    /// When the next frame is there.
    fn next_at(&self) -> Time {
        if let Some(live) = &self.live {
            return live.first().map_or(Time::NEVER, |first| self.at(first));
        }
        match self.encoder.number() {
            Some(number) if self.encoder.video().live => self.at(number),
            Some(_) => self.began_at,
            None => Time::NEVER,
        }
    }

    /// Takes the next packet of at most `packet` bytes. A packet has data of one frame. `None` if no frame is ready.
    pub(super) fn take(&mut self, packet: Bytes, cx: &mut Cx<'_>) -> Option<(Bytes, Piece)> {
        if self.left == Bytes::ZERO {
            self.begin(cx)?;
        }
        let size = self.left.min(packet);
        self.left -= size;
        Some((size, self.piece))
    }

    /// Starts the next frame that is ready and not too old.
    fn begin(&mut self, cx: &mut Cx<'_>) -> Option<()> {
        loop {
            let there_at = self.next_at();
            if there_at > cx.now() {
                return None;
            }
            let (frame, size) = match &mut self.live {
                Some(live) => live.pop()?,
                None => (self.encoder.number()?, self.encoder.next()?),
            };
            if self.encoder.video().live
                && cx.now().saturating_since(there_at) > self.encoder.video().drop_after
            {
                cx.count(Count::FramesDropped, 1);
                continue;
            }
            self.piece = Piece { frame, frame_bytes: u32::try_from(size.as_u64()).unwrap_or(u32::MAX) };
            self.left = size;
            return Some(());
        }
    }

    /// Time since the frame of `piece` of a live video was encoded.
    pub(super) fn age(&self, piece: Piece, now: Time) -> Duration {
        now.saturating_since(self.at(piece.frame))
    }

    /// Duration of the video that waits: from the frame that is being sent to the present frame of the encoder. Zero if the video is not
    /// live.
    pub(super) fn waiting(&self, now: Time) -> Duration {
        let there_at = match self.left {
            Bytes::ZERO => self.next_at(),
            _ => self.at(self.piece.frame),
        };
        if self.encoder.video().live { now.saturating_since(there_at) } else { Duration::ZERO }
    }
}
