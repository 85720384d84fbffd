//! Settings of a stream and of its players.

use contract::SeriesInfo;
use units::{Bytes, Duration};

use super::Video;

/// Time series of a stream's sender: name, unit, subject, meaning.
pub const SERIES: &[SeriesInfo] = &[("allowed_rate", "bps", "flow", "rate that the scheme allows")];

/// Further series of a sender that carries a video.
pub const VIDEO_SERIES: &[SeriesInfo] =
    &[("waiting", "s", "flow", "age of the oldest video frame that waits at the sender")];

/// Further series of a sender whose encoder follows the scheme.
pub const ENCODER_SERIES: &[SeriesInfo] = &[
    ("target_rate", "bps", "flow", "rate that the scheme asks of the encoder"),
    (
        "encoder_rate",
        "bps",
        "flow",
        "rate of the encoder, which follows the target rate after its reaction time",
    ),
];

/// Series of receivers that play a video.
pub const PLAYER_SERIES: &[SeriesInfo] =
    &[("buffer", "s", "receiver", "player buffer: video that has arrived and has not been played")];

/// Settings of one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Size of a data packet on the wire.
    pub packet: Bytes,
    /// Size of a feedback packet on the wire.
    pub feedback: Bytes,
    /// Each gap between packets is randomly changed by up to this share of itself, to avoid phase effects at
    /// deterministic queues.
    pub jitter: f64,
    /// Number of later packets after which a missing packet counts as lost; 1 on a FIFO path, more if the scheme's
    /// README says so.
    pub reorder: u32,
    /// Whether a missing packet is waited for in time as well, once packets have been overtaken: the reordering window
    /// of RACK [RFC8985].
    pub reordering_window: bool,
    /// Data packets are ECN-capable [RFC3168]: queues that mark do so instead of dropping.
    pub ecn: bool,
    /// The video that it carries; `None` for endless data.
    pub video: Option<Video>,
    /// How its receivers play the video, if they do.
    pub player: Option<Player>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            packet: Bytes::new(1000),
            feedback: Bytes::new(40),
            jitter: 0.01,
            reorder: 1,
            reordering_window: true,
            ecn: false,
            video: None,
            player: None,
        }
    }
}

/// How a receiver plays the frames of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    /// Playback starts when this much is in the buffer.
    pub startup: Duration,
    /// Playback resumes after a stall when this much is in the buffer.
    pub resume: Duration,
    /// Whether it waits for a missing frame; otherwise it skips the frame.
    pub stall_on_missing: bool,
    /// Which other frames a frame needs, if frames have types.
    pub depends: Depends,
    /// Modes of the scheme by buffer level.
    pub modes: Option<Modes>,
}

/// Which frames a frame needs to be shown. A complete frame that cannot be shown is undecodable: the previous picture
/// is shown in its time. Nothing is shown before the first I frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depends {
    /// None: every complete frame is shown.
    Nothing,
    /// The last I frame.
    Intra,
    /// The last I frame and all P frames since. A lost P frame makes all frames up to the next I frame undecodable; no
    /// frame depends on B frames.
    References,
}

/// Two modes of a scheme that a player selects by its buffer level. The receiver's part of the scheme is notified at
/// once, the source's part by a packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Modes {
    /// Mode while the buffer fills: from the start, and below `low`.
    pub filling: String,
    /// Mode when the buffer level reaches `high`.
    pub full: String,
    /// The buffer level below which the buffer fills again.
    pub low: Duration,
    /// The buffer level from which the buffer is full.
    pub high: Duration,
}

impl Modes {
    /// The mode for a full buffer, or for one that fills.
    pub fn of(&self, full: bool) -> &str {
        if full { &self.full } else { &self.filling }
    }
}

impl Default for Player {
    fn default() -> Self {
        let second = Duration::from_secs(1);
        Self { startup: second, resume: second, stall_on_missing: true, depends: Depends::Intra, modes: None }
    }
}
