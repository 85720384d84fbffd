//! Video frames that wait at the source of a stream. Their sizes are generated when they are sent, so that memory does not grow while a
//! slow stream falls behind its encoder.

use contract::{Count, Cx, Piece, Random};
use units::{Bytes, Duration, Time};

use super::video::{Encoder, Video};

/// The frames of the encoder that have not been sent.
#[derive(Clone, Debug)]
pub(super) struct Supply {
    encoder: Encoder,
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
        Self {
            encoder: Encoder::new(video, Random::new(0, "video", "frames")),
            began_at: Time::NEVER,
            interval: video.interval(),
            piece: Piece::default(),
            left: Bytes::ZERO,
        }
    }

    /// Starts the encoder. Its random stream is separate from that of the scheme, so that all schemes carry the same video.
    pub(super) fn start(&mut self, cx: &mut Cx<'_>) {
        let random = Random::new(cx.random().bits(), "video", "frames");
        *self = Self {
            encoder: Encoder::new(self.encoder.video(), random),
            began_at: cx.now(),
            piece: Piece::default(),
            left: Bytes::ZERO,
            ..*self
        };
    }

    /// When there are data to send; [`Time::NEVER`] after the last frame.
    #[inline]
    pub(super) fn ready_at(&self) -> Time {
        if self.left > Bytes::ZERO { Time::ZERO } else { self.next_at() }
    }

    /// When the next frame is encoded.
    fn next_at(&self) -> Time {
        match self.encoder.number() {
            Some(number) if self.encoder.video().live => self.began_at + self.interval * u64::from(number),
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
            let frame = self.encoder.number()?;
            let size = self.encoder.next()?;
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

    /// Duration of the video that waits: from the frame that is being sent to the present frame of the encoder. Zero if the video is not
    /// live.
    pub(super) fn waiting(&self, now: Time) -> Duration {
        let there_at = match self.left {
            Bytes::ZERO => self.next_at(),
            _ => self.began_at + self.interval * u64::from(self.piece.frame),
        };
        if self.encoder.video().live { now.saturating_since(there_at) } else { Duration::ZERO }
    }
}
