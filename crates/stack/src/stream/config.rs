//! Settings of a stream.

use contract::SeriesInfo;
use units::Bytes;

use super::{Player, Video};

/// Series that a stream's sender offers: name, unit, subject, meaning.
pub const SERIES: &[SeriesInfo] = &[("allowed_rate", "bps", "flow", "rate that the scheme allows")];

/// Series that it offers beside them where it carries a video.
pub const VIDEO_SERIES: &[SeriesInfo] =
    &[("waiting", "s", "flow", "age of the oldest video frame that waits at the sender")];

/// Series that its receivers offer where they play one.
pub const PLAYER_SERIES: &[SeriesInfo] =
    &[("buffer", "s", "receiver", "player buffer: video that has arrived and has not been played")];

/// Settings of one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Size of a data packet on the wire.
    pub packet: Bytes,
    /// Size of a feedback packet on the wire.
    pub feedback: Bytes,
    /// Each gap between packets is stretched or shrunk by up to this share of itself, so that deterministic queues
    /// show no phase effects.
    pub jitter: f64,
    /// Packets that must arrive after a missing one before it counts as lost; 1 on a FIFO path, more
    /// where the scheme's title page says so.
    pub reorder: u32,
    /// Data packets understand congestion marks [RFC3168]: queues that mark do so instead of dropping.
    pub ecn: bool,
    /// What it carries; endless data when `None`.
    pub video: Option<Video>,
    /// How its receivers play the video, where they do.
    pub player: Option<Player>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            packet: Bytes::new(1000),
            feedback: Bytes::new(40),
            jitter: 0.01,
            reorder: 1,
            ecn: false,
            video: None,
            player: None,
        }
    }
}
