//! The table of a player in a scenario file.

use units::Duration;

use crate::file::within;
use crate::read::{At, tables, words};

tables! {
    /// How the receivers of a stream play its frames.
    pub(crate) struct Player = "a player" {
        /// Playing begins when so much has arrived; 1 s when not given.
        startup: Duration where within("0 s", "1000000 s"),
        /// After a stall it goes on when so much is there; as `startup` when not given.
        resume: Duration where within("0 s", "1000000 s"),
        /// What becomes of a frame that is due and has not come; wait when not given.
        late: LateWord,
        /// Which frames a frame needs to be shown; intra when not given, where frames have types, and nothing otherwise.
        depends: DependsWord,
        /// Two modes of the scheme: while the buffer fills, and once it is full.
        modes: Vec<At<String>>,
        /// modes: the buffer fills again when it holds less than this; 5 s when not given.
        low: Duration where within("0 s", "1000000 s"),
        /// modes: the buffer is full when it holds this; 20 s when not given.
        high: Duration where within("0 s", "1000000 s"),
    }
}

words! {
    /// What becomes of a frame that is due and has not come.
    pub(crate) enum LateWord = "what to do about late frames" {
        /// Playing stops until it comes.
        Wait = "wait",
        /// It is passed over.
        Skip = "skip",
    }

    /// Which frames a frame needs to be shown.
    pub(crate) enum DependsWord = "what frames depend on" {
        /// None.
        Nothing = "nothing",
        /// The last I frame.
        Intra = "intra",
        /// The last I frame and all P frames since.
        References = "references",
    }
}
