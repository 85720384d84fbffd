//! Progress of a transfer, for other threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Counters of one transfer, for other threads.
#[derive(Debug, Default)]
pub struct Tally {
    total: AtomicU64,
    done: AtomicU64,
    hashed: AtomicU64,
    sent: [AtomicU64; 3],
    received: [AtomicU64; 3],
    receivers: AtomicU64,
    whole: AtomicU64,
    dropped: AtomicU64,
    late: AtomicU64,
    missed: AtomicU64,
    spoilt: AtomicU64,
    messages: Mutex<Words>,
}

#[derive(Clone, Debug, Default)]
struct Words {
    name: Option<String>,
    path: Option<String>,
    resumed: u64,
    notes: Vec<String>,
}

/// The values of a [`Tally`] at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Bytes of the object; zero while unknown.
    pub total: u64,
    /// Bytes that have arrived; at a source, at the slowest receiver.
    pub done: u64,
    /// Bytes that were hashed.
    pub hashed: u64,
    /// Symbols or pieces sent for the first time, coded ones, and retransmitted ones.
    pub sent: [u64; 3],
    /// New symbols or pieces, duplicates, and those without room.
    pub received: [u64; 3],
    /// Receivers up to now.
    pub receivers: u64,
    /// Receivers that have everything.
    pub whole: u64,
    /// Pieces of a live stream that the source dropped after their deadline.
    pub dropped: u64,
    /// Pieces of a live stream that arrived late or not at all.
    pub late: u64,
    /// Pieces of a live stream from before this receiver joined.
    pub missed: u64,
    /// Blocks that were discarded because their hash was wrong.
    pub spoilt: u64,
    /// Name of the object.
    pub name: Option<String>,
    /// Its path, when it is complete.
    pub path: Option<String>,
    /// Bytes of an earlier attempt.
    pub resumed: u64,
    /// Messages for users.
    pub notes: Vec<String>,
}

/// What became of a symbol or piece that was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sent {
    First,
    Coded,
    Again,
}

/// What became of one that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Received {
    Useful,
    Useless,
    Unkept,
}

/// The most notes that are kept.
const MAX_NOTES: usize = 20;

impl Tally {
    /// What it says now.
    pub fn snapshot(&self) -> Snapshot {
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Snapshot {
            total: load(&self.total),
            done: load(&self.done),
            hashed: load(&self.hashed),
            sent: [0, 1, 2].map(|n| load(&self.sent[n])),
            received: [0, 1, 2].map(|n| load(&self.received[n])),
            receivers: load(&self.receivers),
            whole: load(&self.whole),
            dropped: load(&self.dropped),
            late: load(&self.late),
            missed: load(&self.missed),
            spoilt: load(&self.spoilt),
            name: messages.name,
            path: messages.path,
            resumed: messages.resumed,
            notes: messages.notes,
        }
    }

    pub(crate) fn set_total(&self, bytes: u64) {
        self.total.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn set_done(&self, bytes: u64) {
        self.done.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn add_done(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn add_hashed(&self, bytes: u64) {
        self.hashed.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn count_sent(&self, what: Sent) {
        self.sent[what as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_received(&self, what: Received) {
        self.received[what as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn set_receivers(&self, there: usize, whole: usize) {
        self.receivers.store(there as u64, Ordering::Relaxed);
        self.whole.store(whole as u64, Ordering::Relaxed);
    }

    pub(crate) fn add_dropped(&self, pieces: u64) {
        self.dropped.fetch_add(pieces, Ordering::Relaxed);
    }

    pub(crate) fn add_late(&self, pieces: u64) {
        self.late.fetch_add(pieces, Ordering::Relaxed);
    }

    pub(crate) fn set_missed(&self, pieces: u64) {
        self.missed.store(pieces, Ordering::Relaxed);
    }

    pub(crate) fn count_spoilt(&self) {
        self.spoilt.fetch_add(1, Ordering::Relaxed);
    }

    /// The other end may have chosen it, and people read it.
    pub(crate) fn name(&self, name: &str) {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).name = Some(wire::printable(name));
    }

    pub(crate) fn path(&self, path: &std::path::Path) {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).path = Some(path.display().to_string());
    }

    pub(crate) fn resumed(&self, bytes: u64) {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).resumed = bytes;
    }

    pub(crate) fn add_resumed(&self, bytes: u64) {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).resumed += bytes;
    }

    pub(crate) fn note(&self, note: impl Into<String>) {
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        if messages.notes.len() < MAX_NOTES {
            messages.notes.push(wire::printable(&note.into()));
        }
    }
}
