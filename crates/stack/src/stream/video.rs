//! The output of a video encoder: a sequence of frames with sizes.

use std::sync::Arc;

use contract::Random;
use units::{Bytes, Duration, Rate};

use crate::app::log_normal;

use super::EncoderModel;

/// Frames that a stream carries instead of endless data.
///
/// Sizes are those on the wire and include the headers of the packets that carry a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    /// The sizes of frames.
    pub frames: Frames,
    /// Frames per second, above zero.
    pub frame_rate: f64,
    /// Whether a frame is available only when it is encoded; otherwise all are available from the start, as in a file.
    pub live: bool,
    /// A live frame that has waited for longer than this is dropped before any of it is sent; [`Duration::MAX`] for
    /// never.
    pub drop_after: Duration,
}

/// The sizes of frames.
#[derive(Clone, Debug, PartialEq)]
pub enum Frames {
    /// Constant.
    Equal {
        /// Mean rate.
        rate: Rate,
    },
    /// Groups of pictures that repeat, with random sizes around the mean of each type.
    Groups {
        /// Mean rate.
        rate: Rate,
        /// Frame types of a group; not empty.
        pattern: Vec<FrameType>,
        /// Relative mean sizes of frames of type I, P and B; above zero.
        sizes: [f64; 3],
        /// Coefficient of variation of the sizes of one type: log-normal, independent per frame.
        variation: f64,
    },
    /// From a list.
    Trace {
        /// File of the list.
        file: String,
        /// Sizes in bytes, each above zero; not empty.
        sizes: Arc<[u32]>,
        /// Types, one per size; empty if the list does not have all.
        types: Arc<[FrameType]>,
        /// Mean rate to which all sizes are scaled; `None` for no scaling.
        rate: Option<Rate>,
        /// Whether the list repeats.
        repeat: bool,
    },
    /// From an encoder that follows the target rate of the scheme. The video is live.
    Follows(EncoderModel),
}

/// Type of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameType {
    /// I frame: coded without other frames.
    Intra,
    /// P frame: predicted from an earlier frame.
    Predicted,
    /// B frame: predicted from both sides.
    Bidirectional,
}

impl FrameType {
    /// The type of the letter I, P or B.
    pub const fn of(letter: char) -> Option<Self> {
        match letter {
            'I' => Some(Self::Intra),
            'P' => Some(Self::Predicted),
            'B' => Some(Self::Bidirectional),
            _ => None,
        }
    }

    /// Its letter.
    pub const fn letter(self) -> char {
        match self {
            Self::Intra => 'I',
            Self::Predicted => 'P',
            Self::Bidirectional => 'B',
        }
    }
}

impl Video {
    /// Time between two frames.
    pub fn interval(&self) -> Duration {
        Duration::from_nanos((1e9 / self.frame_rate + 0.5) as u64).max(Duration::from_nanos(1))
    }

    /// Whether its encoder follows the target rate of the scheme.
    pub const fn follows(&self) -> bool {
        matches!(self.frames, Frames::Follows(_))
    }

    /// Number of frames; `None` without an end.
    pub fn count(&self) -> Option<u32> {
        match &self.frames {
            Frames::Trace { sizes, repeat: false, .. } => {
                Some(u32::try_from(sizes.len()).unwrap_or(u32::MAX))
            }
            _ => None,
        }
    }

    /// Types of the frames, repeated; empty if frames have no types.
    pub fn types(&self) -> Arc<[FrameType]> {
        match &self.frames {
            Frames::Equal { .. } | Frames::Follows(_) => Arc::from([]),
            Frames::Groups { pattern, .. } => Arc::from(&pattern[..]),
            Frames::Trace { types, .. } => Arc::clone(types),
        }
    }

    /// Relative size of frame `number`, without random variation.
    fn weight(&self, number: u32) -> f64 {
        match &self.frames {
            Frames::Equal { .. } | Frames::Follows(_) => 1.0,
            Frames::Groups { pattern, sizes, .. } => sizes[pattern[number as usize % pattern.len()] as usize],
            Frames::Trace { sizes, .. } => f64::from(sizes[number as usize % sizes.len()]),
        }
    }

    /// Bytes of a frame with weight 1.
    fn unit(&self) -> f64 {
        let of = |rate: Rate, n: usize| {
            let whole: f64 = (0..n).map(|number| self.weight(number as u32)).sum();
            rate.as_bps_f64() / 8.0 / self.frame_rate * n as f64 / whole
        };
        match &self.frames {
            Frames::Equal { rate } => of(*rate, 1),
            Frames::Groups { rate, pattern, .. } => of(*rate, pattern.len()),
            Frames::Trace { rate: Some(rate), sizes, .. } => of(*rate, sizes.len()),
            Frames::Trace { rate: None, .. } | Frames::Follows(_) => 1.0,
        }
    }
}

/// Generates the frames of a video in order, with constant memory.
#[derive(Clone, Debug)]
pub(super) struct Encoder {
    video: Video,
    /// Bytes of a frame with weight 1.
    unit: f64,
    variation: f64,
    random: Random,
    number: u32,
    /// The remainder of previous frames below a byte.
    carry: f64,
}

impl Encoder {
    /// An encoder before the first frame.
    pub(super) fn new(video: &Video, random: Random) -> Self {
        let variation = match video.frames {
            Frames::Groups { variation, .. } => variation,
            Frames::Equal { .. } | Frames::Trace { .. } | Frames::Follows(_) => 0.0,
        };
        Self { unit: video.unit(), video: video.clone(), variation, random, number: 0, carry: 0.0 }
    }

    /// Its video.
    pub(super) const fn video(&self) -> &Video {
        &self.video
    }

    /// Number of the next frame; `None` after the last.
    pub(super) fn number(&self) -> Option<u32> {
        (self.number < self.video.count().unwrap_or(u32::MAX)).then_some(self.number)
    }

    /// Generates the next frame; returns its size, at least one byte.
    pub(super) fn next(&mut self) -> Option<Bytes> {
        let number = self.number()?;
        let mut exact = self.unit * self.video.weight(number);
        if self.variation > 0.0 {
            exact *= log_normal(self.variation, &mut self.random);
        }
        exact += self.carry;
        let size = exact.floor().clamp(1.0, f64::from(LARGEST));
        // the sum of many frames is exact if no frame is at a bound
        self.carry = (exact - size).clamp(0.0, 1.0);
        self.number = number + 1;
        Some(Bytes::new(size as u64))
    }
}

/// Maximum size of a frame, which has 32 bits.
const LARGEST: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    fn video(frames: Frames) -> Video {
        Video { frames, frame_rate: 25.0, live: true, drop_after: Duration::MAX }
    }

    fn sizes(video: &Video, n: usize) -> Vec<u64> {
        let mut encoder = Encoder::new(video, Random::new(1, "video", ""));
        std::iter::from_fn(|| encoder.next()).take(n).map(Bytes::as_u64).collect()
    }

    /// 1 Mbit/s are 5000 bytes in 40 ms; 1 Mbit/s at 30 a second are 4166 2/3 bytes.
    #[test]
    fn a_constant_encoder_makes_frames_of_one_size_and_its_rate_is_exact() {
        let constant = video(Frames::Equal { rate: Rate::from_mbps(1) });
        assert_eq!(constant.interval(), Duration::from_millis(40));
        assert_eq!(sizes(&constant, 3), [5000, 5000, 5000]);
        let fractional = Video { frame_rate: 30.0, ..constant };
        assert_eq!(sizes(&fractional, 6), [4166, 4167, 4167, 4166, 4167, 4167]);
    }

    /// IBBP with 5 : 3 : 1 at 1 Mbit/s: 10 parts are 20 000 bytes.
    #[test]
    fn a_group_of_pictures_has_the_sizes_of_its_types_and_the_mean_rate() {
        let pattern = "IBBP".chars().filter_map(FrameType::of).collect();
        let rate = Rate::from_mbps(1);
        let groups = Frames::Groups { rate, pattern, sizes: [5.0, 3.0, 1.0], variation: 0.0 };
        assert_eq!(sizes(&video(groups), 5), [10_000, 2000, 2000, 6000, 10_000]);
    }

    #[test]
    fn sizes_have_their_mean_and_deviation() {
        let rate = Rate::from_mbps(1);
        for variation in [0.1, 0.5] {
            let pattern = vec![FrameType::Predicted];
            let all = sizes(&video(Frames::Groups { rate, pattern, sizes: [1.0; 3], variation }), 100_000);
            let n = all.len() as f64;
            let mean = all.iter().sum::<u64>() as f64 / n;
            let variance =
                all.iter().map(|&size| (size as f64 - mean) * (size as f64 - mean)).sum::<f64>() / n;
            assert!((mean / 5000.0 - 1.0).abs() < 0.01, "{mean}");
            assert!((variance.sqrt() / mean / variation - 1.0).abs() < 0.02, "{}", variance.sqrt() / mean);
        }
    }

    #[test]
    fn a_trace_is_played_once_repeated_or_scaled() {
        let trace = |rate, repeat| {
            let sizes: Arc<[u32]> = Arc::from([9000, 1000, 2000]);
            video(Frames::Trace { file: "t".to_owned(), sizes, types: Arc::from([]), rate, repeat })
        };
        assert_eq!(sizes(&trace(None, false), 9), [9000, 1000, 2000]);
        assert_eq!(trace(None, false).count(), Some(3));
        assert_eq!(sizes(&trace(None, true), 5), [9000, 1000, 2000, 9000, 1000]);
        // the mean is 4000 bytes; 2 Mbit/s are 10 000
        assert_eq!(sizes(&trace(Some(Rate::from_mbps(2)), false), 9), [22_500, 2500, 5000]);
    }
}
