//! Settings of a stream.

use contract::SeriesInfo;
use units::Bytes;

use super::{Player, Video};

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
    /// Each gap between packets is randomly changed by up to this share of itself, to avoid phase effects at deterministic queues.
    pub jitter: f64,
    /// Number of later packets after which a missing packet counts as lost; 1 on a FIFO path, more if the scheme's README says so.
    pub reorder: u32,
    /// Whether a missing packet is waited for in time as well, once packets have been overtaken: the reordering window of RACK [RFC8985].
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
