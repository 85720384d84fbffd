//! The tables of a player and of an encoder in a scenario file.

use units::{Duration, Rate};

use crate::schema::bounds::{count, within};
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

    /// The video encoder of a stack for media. Its rate follows the bandwidth that the stack estimates.
    pub(crate) struct Encoder = "an encoder" {
        /// Lowest rate. Default: 100 kbit/s.
        min: Rate where within("1 kbit/s", "1 Gbit/s"),
        /// Estimate at the start, from `min` to `max`. Default: 300 kbit/s.
        start: Rate where within("1 kbit/s", "1 Gbit/s"),
        /// Highest rate. The stack probes for as much. Default: 2.5 Mbit/s.
        max: Rate where within("1 kbit/s", "1 Gbit/s"),
        /// Frames per second. Default: 30.
        frame_rate: u32 where count(1, 240),
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
