//! The outcome of a session.

use contract::Meter;
use units::{Duration, Lateness, Time};
use wire::stream::Reason;

/// The result of a session.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Counters.
    pub stats: Stats,
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Everything was transferred.
    Complete,
    /// It was stopped, possibly because the content has no end.
    Stopped,
    /// The other end closed it for this reason.
    Closed(Reason),
    /// The other end refused it for this reason.
    Refused(Reason),
    /// No client connected, or the server did not answer.
    Unanswered,
    /// The other end timed out.
    Silent,
    /// The other end sent keep-alives, but no data were delivered for too long.
    NoProgress,
    /// It failed at this end, with a message for users.
    Failed(String),
}

/// Counters of a session. Sizes are in bytes.
#[derive(Clone, Debug)]
pub struct Stats {
    /// When the first session was opened; [`Time::NEVER`] before that.
    pub opened_at: Time,
    /// When an end first closed a session, or the other end timed out.
    pub ended_at: Time,
    /// Sessions opened: 1, plus one per reconnection.
    pub sessions: u32,
    /// Data packets sent, or received.
    pub packets: u64,
    /// Their bytes, headers of IP and UDP included.
    pub bytes: u64,
    /// Content in them, retransmissions included.
    pub content: u64,
    /// All datagrams sent.
    pub sent: Traffic,
    /// All valid datagrams received.
    pub received: Traffic,
    /// Discarded datagrams.
    pub discarded: Discarded,
    /// Datagrams that the system did not send: its queue was full, or there was no route.
    pub overruns: u64,
    /// Data packets received with a congestion mark.
    pub marked: u64,
    /// Lateness of data packets: departure minus the time that the state machine chose.
    pub lateness: Lateness,
    /// Counters of the scheme's state machine, over all sessions.
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
            discarded: Discarded::default(),
            overruns: 0,
            marked: 0,
            lateness: Lateness::default(),
            meter: Meter::default(),
        }
    }
}

impl Stats {
    /// Time from the first opening to the first close; zero if nothing was opened.
    pub fn span(&self) -> Duration {
        self.ended_at.saturating_since(self.opened_at)
    }
}

/// Number of datagrams, and their bytes without IP and UDP headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Number.
    pub datagrams: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Traffic {
    /// Counts a datagram of this many bytes.
    pub fn add(&mut self, bytes: usize) {
        self.datagrams += 1;
        self.bytes += bytes as u64;
    }
}

/// Discarded datagrams, by the first reason that applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discarded {
    /// Not of this format.
    pub malformed: u64,
    /// Of an unknown session, or from another address than the session's.
    pub strangers: u64,
    /// With a wrong tag, or in a group with a wrong signature: forged or damaged.
    pub forged: u64,
    /// Duplicate, or too old to decide.
    pub repeated: u64,
    /// With a frame that is not valid at this place.
    pub misplaced: u64,
}

impl Discarded {
    /// The sum of all.
    pub fn total(&self) -> u64 {
        self.malformed + self.strangers + self.forged + self.repeated + self.misplaced
    }
}
