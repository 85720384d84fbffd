//! The outcome of a session.

use contract::Meter;
use units::{Duration, Lateness, Time};
use wire::stream::Reason;

/// What is left when a session is over.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// What was counted.
    pub stats: Stats,
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All that was to be done is done.
    Complete,
    /// It was asked to stop, or what was to be sent has no end and was stopped.
    Stopped,
    /// The other end ended it, and said why.
    Closed(Reason),
    /// The other end did not want it, and said why.
    Refused(Reason),
    /// Nobody called, or nobody answered.
    Unanswered,
    /// The other end fell silent for too long.
    Silent,
    /// The other end said that it lives, and no data were delivered for too long.
    Quiet,
    /// Something failed here; a sentence for people.
    Failed(String),
}

/// What a session counted. Sizes are in bytes.
#[derive(Clone, Debug)]
pub struct Stats {
    /// When the first session was opened and the last closed; [`Time::NEVER`] and zero where there was none.
    pub opened_at: Time,
    /// When an end first said goodbye, or when the other was given up.
    pub ended_at: Time,
    /// Sessions opened: 1, and one more each time that the ends had lost each other.
    pub sessions: u32,
    /// Data packets sent, or received.
    pub packets: u64,
    /// Their bytes, headers of IP and UDP included.
    pub bytes: u64,
    /// Content in them, each byte as often as it was carried.
    pub content: u64,
    /// All datagrams sent.
    pub sent: Traffic,
    /// All datagrams that came and were right.
    pub received: Traffic,
    /// Datagrams that came and were of no use.
    pub refused: Refused,
    /// Datagrams that the machine did not take: its queue was full, or there was no way.
    pub overruns: u64,
    /// Data packets that came with a congestion mark.
    pub marked: u64,
    /// How late data packets left behind the instant that the machine had chosen.
    pub lateness: Lateness,
    /// What the machine of the scheme reported, over all sessions.
    pub meter: Meter,
}

impl Default for Stats {
    fn default() -> Self {
        Self {
            opened_at: Time::NEVER,
            ended_at: Time::ZERO,
            sessions: 0,
            packets: 0,
            bytes: 0,
            content: 0,
            sent: Traffic::default(),
            received: Traffic::default(),
            refused: Refused::default(),
            overruns: 0,
            marked: 0,
            lateness: Lateness::default(),
            meter: Meter::default(),
        }
    }
}

impl Stats {
    /// Time from the first opening to the first goodbye; zero where nothing was opened.
    pub fn span(&self) -> Duration {
        self.ended_at.saturating_since(self.opened_at)
    }
}

/// Datagrams, and their bytes without headers of IP and UDP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// How many.
    pub datagrams: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Traffic {
    pub(crate) fn add(&mut self, bytes: usize) {
        self.datagrams += 1;
        self.bytes += bytes as u64;
    }
}

/// Datagrams that came and were of no use, by the first reason that was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// They are not of our format.
    pub malformed: u64,
    /// They are of another version of our format.
    pub versions: u64,
    /// They belong to no session that is known here, or come from another address than it.
    pub strangers: u64,
    /// Their tag is wrong: forged or damaged.
    pub forged: u64,
    /// Their number was seen before, or is too old to tell.
    pub repeated: u64,
    /// They say what nobody at that place has to say, or what cannot be.
    pub misplaced: u64,
}

impl Refused {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.malformed + self.versions + self.strangers + self.forged + self.repeated + self.misplaced
    }
}
