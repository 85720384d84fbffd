//! The tables of a player and of an encoder in a scenario file.

use units::{Duration, Rate};

use crate::schema::bounds::{count, share_of, within};
use crate::schema::read::{At, tables, words};

tables! {
    /// Playback of frames by the receivers of a stream.
    pub(crate) struct Player = "a player" {
        /// Playback starts when this much video is buffered. Default: 1 s.
        startup: Duration where within("0 s", "1000000 s"),
        /// Playback resumes after a stall when this much video is buffered. Default: as `startup`.
        resume: Duration where within("0 s", "1000000 s"),
        /// What to do with a frame that is due and has not arrived. Default: wait.
        late: LateWord,
        /// Which other frames a frame needs to be shown. Default: intra if frames have types, otherwise nothing.
        depends: DependsWord,
        /// Two modes of the scheme: the first while the buffer fills, the second once it is full.
        modes: Vec<At<String>>,
        /// modes: switch to the first mode when the buffer holds less than this. Default: 5 s.
        low: Duration where within("0 s", "1000000 s"),
        /// modes: switch to the second mode when the buffer holds this. Default: 20 s.
        high: Duration where within("0 s", "1000000 s"),
    }

    /// A live video encoder. Its rate follows the target rate of the stream's scheme, or the bandwidth that a stack for media estimates.
    pub(crate) struct Encoder = "an encoder" {
        /// Lowest rate. Default: 150 kbit/s; with `stack` 100 kbit/s.
        min: Rate where within("1 kbit/s", "1 Gbit/s"),
        /// stack: estimate at the start, from `min` to `max`. Default: 300 kbit/s. A scheme has a parameter for its initial rate.
        start: Rate where within("1 kbit/s", "1 Gbit/s"),
        /// Highest rate. A stack probes for as much. Default: 1.5 Mbit/s; with `stack` 2.5 Mbit/s.
        max: Rate where within("1 kbit/s", "1 Gbit/s"),
        /// Frames per second. Default: 30.
        frame_rate: u32 where count(1, 240),
        /// Reaction time, the minimum time between two changes of the encoder's rate (RFC 8593 §4.1). Default: 200 ms.
        reaction: Duration where within("0 s", "1000 s"),
        /// Variation of frame sizes, the scale of a Laplace distribution as a share of the mean size (RFC 8593 §4.3).
        /// Default: 0.15.
        variation: f64 where share_of(0.0, 1.0),
        /// Size of a key frame relative to the mean size (RFC 8593 §4.2). The seven frames after it are smaller. Default:
        /// 3.237.
        key_ratio: f64 where share_of(1.0, 8.0),
        /// Number of frames from one key frame to the next. Default: only the first frame is a key frame.
        key_every: u32 where count(1, 1_000_000),
        /// Streams: drop frames that have waited at the sender for longer than this. Default: never.
        drop_after: Duration where within("1 us", "1000000 s"),
    }
}

words! {
    /// What to do with a frame that is due and has not arrived.
    pub(crate) enum LateWord = "what to do about late frames" {
        /// Stop playback until it arrives.
        Wait = "wait",
        /// Skip it.
        Skip = "skip",
    }

    /// Which other frames a frame needs to be shown.
    pub(crate) enum DependsWord = "what frames depend on" {
        /// No other frame.
        Nothing = "nothing",
        /// The previous I frame.
        Intra = "intra",
        /// The previous I frame and all P frames since.
        References = "references",
    }
}
