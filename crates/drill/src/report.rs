//! The result of a drill, as data.

use std::fmt;

use units::Duration;

use crate::place::Place;

/// The result of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The outcome.
    pub outcome: Outcome,
    /// The scheme that was drilled; empty if the script was not begun.
    pub scheme: String,
    /// Each line that was executed, with its result.
    pub lines: Vec<Line>,
    /// Packets of the script that were compared with ours.
    pub packets: u32,
    /// Assertions that were evaluated and hold.
    pub assertions: u32,
    /// What the script asks for and was not judged, each once.
    pub notes: Vec<String>,
}

/// The outcome of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// All that was judged is as the script says.
    Pass,
    /// Something is not: where, and what in one sentence.
    Fail(Place, String),
    /// The script needs what this drill does not have: where, and which feature.
    NotExpressible(Place, String),
    /// The script is wrong: where, what, and what to write instead.
    Invalid(Place, String, String),
}

impl Outcome {
    /// Its name in tables.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail(..) => "fail",
            Self::NotExpressible(..) => "not expressible",
            Self::Invalid(..) => "invalid",
        }
    }

    /// Its place; `None` of a pass.
    pub const fn place(&self) -> Option<Place> {
        match self {
            Self::Pass => None,
            Self::Fail(place, _) | Self::NotExpressible(place, _) | Self::Invalid(place, ..) => Some(*place),
        }
    }

    /// What it says; empty of a pass.
    pub fn message(&self) -> &str {
        match self {
            Self::Pass => "",
            Self::Fail(_, message) | Self::NotExpressible(_, message) | Self::Invalid(_, message, _) => {
                message
            }
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => f.write_str("PASS"),
            Self::Fail(place, message) => write!(f, "FAIL line {}: {message}", place.line),
            Self::NotExpressible(place, feature) => {
                write!(f, "NOT EXPRESSIBLE line {}: {feature}", place.line)
            }
            Self::Invalid(place, message, hint) => {
                write!(f, "INVALID line {}, column {}: {message}", place.line, place.column)?;
                if hint.is_empty() { Ok(()) } else { write!(f, " ({hint})") }
            }
        }
    }
}

/// A line of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its place.
    pub place: Place,
    /// Its text, without its time.
    pub text: String,
    /// When it happened, since the start of the script; of a packet that leaves, when it left.
    pub at: Duration,
    /// How it was judged.
    pub judged: Judged,
    /// Window and state after it; `None` before the connection is opened.
    pub window: Option<Window>,
}

/// How a line was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// It was compared, and is as the script says.
    Right,
    /// It is not as the script says.
    Wrong,
    /// It was done: a packet arrived, the program wrote.
    Done,
    /// It has no equivalent here, and no effect on congestion control.
    Skipped,
}

impl Judged {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Done => "done",
            Self::Skipped => "skipped",
        }
    }
}

/// Window and state of a sender, in segments.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold; `None` before the first reduction, and of schemes without one.
    pub ssthresh: Option<u64>,
    /// State: `open`, `disorder`, `cwr`, `recovery` or `loss`.
    pub state: &'static str,
    /// Segments sent and not acknowledged.
    pub unacked: u64,
    /// Segments of `unacked` that arrived.
    pub sacked: u64,
    /// Segments of `unacked` that count as lost, retransmitted or not.
    pub lost: u64,
    /// Those that were retransmitted and did not arrive.
    pub retransmitted: u64,
    /// Smoothed round-trip time; `None` before the first sample.
    pub rtt: Option<Duration>,
    /// Time until the timer of retransmission, probe or reordering expires; `None` if it is off.
    pub timer_in: Option<Duration>,
}
