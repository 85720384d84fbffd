//! The table of a player in a scenario file.

use units::Duration;

use crate::schema::bounds::within;
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
