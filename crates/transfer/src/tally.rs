//! Progress of a transfer, for other threads.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Counters of one transfer, for other threads.
#[derive(Debug, Default)]
pub struct Tally {
    total: AtomicU64,
    done: AtomicU64,
    hashed: AtomicU64,
    sent: [AtomicU64; 3],
    received: [AtomicU64; 3],
    receivers: AtomicU64,
    complete_receivers: AtomicU64,
    dropped: AtomicU64,
    late: AtomicU64,
    missed: AtomicU64,
    spoilt: AtomicU64,
    messages: Mutex<AtomicCounters>,
}

#[derive(Clone, Debug, Default)]
struct AtomicCounters {
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
    /// Complete receivers.
    pub complete_receivers: u64,
    /// Pieces of a live stream that the source dropped after their deadline.
    pub dropped: u64,
    /// Pieces of a live stream that arrived late or not at all; at a source, at the receiver with most of them.
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

impl Snapshot {
    /// Whether the object is complete: at a receiver it has its name, at a source a receiver has confirmed it.
    fn is_complete(&self) -> bool {
        self.path.is_some() || self.complete_receivers > 0
    }

    /// Adds the counters of a later object. Receivers, name and path are the later object's.
    fn add(&mut self, later: Self) {
        let sum = |a: [u64; 3], b: [u64; 3]| [0, 1, 2].map(|n| a[n] + b[n]);
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(later.notes);
        notes.truncate(MAX_NOTES);
        *self = Self {
            total: self.total + later.total,
            done: self.done + later.done,
            hashed: self.hashed + later.hashed,
            sent: sum(self.sent, later.sent),
            received: sum(self.received, later.received),
            dropped: self.dropped + later.dropped,
            late: self.late + later.late,
            missed: self.missed + later.missed,
            spoilt: self.spoilt + later.spoilt,
            resumed: self.resumed + later.resumed,
            notes,
            receivers: later.receivers,
            complete_receivers: later.complete_receivers,
            name: later.name,
            path: later.path,
        };
    }
}

/// Progress of all objects of a transfer, for other threads.
#[derive(Debug, Default)]
pub struct Tallies(Mutex<Objects>);

#[derive(Debug, Default)]
struct Objects {
    /// Sums over the objects before `recent`, and how many of them were complete.
    before: Snapshot,
    complete: u64,
    /// The current object, and the one after it, which a source reads ahead.
    recent: VecDeque<Arc<Tally>>,
    /// Number of objects and their bytes, where they are known from the beginning.
    expected: Option<(u64, u64)>,
    omitted: u64,
    notes: Vec<String>,
}

/// The values of [`Tallies`] at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransferSnapshot {
    /// Sums over all objects; name and path of the current one.
    pub sum: Snapshot,
    /// Number of complete objects.
    pub complete: u64,
    /// Number of objects, if known.
    pub objects: Option<u64>,
    /// Files and folders of the folder that is sent that are not sent, because of their names or kinds.
    pub omitted: u64,
}

impl Tallies {
    /// The counters of the next object. At most one other is in progress.
    pub fn begin(&self) -> Arc<Tally> {
        let mut objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if objects.recent.len() == 2
            && let Some(ended) = objects.recent.pop_front()
        {
            let ended = ended.snapshot();
            objects.complete += u64::from(ended.is_complete());
            objects.before.add(ended);
        }
        let tally = Arc::new(Tally::default());
        objects.recent.push_back(Arc::clone(&tally));
        tally
    }

    /// Number of objects that follow, and the sum of their bytes.
    pub fn expect(&self, objects: u64, bytes: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).expected = Some((objects, bytes));
    }

    /// Number of files and folders that the sender does not send.
    pub fn omit(&self, count: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).omitted = count;
    }

    /// Adds a message for users.
    pub fn note(&self, note: &str) {
        let mut objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if objects.notes.len() < MAX_NOTES {
            objects.notes.push(wire::printable(note));
        }
    }

    /// The current values.
    pub fn snapshot(&self) -> TransferSnapshot {
        let objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let recent: Vec<Snapshot> = objects.recent.iter().map(|tally| tally.snapshot()).collect();
        let complete = recent.iter().filter(|object| object.is_complete()).count() as u64;
        let present = recent.iter().find(|object| !object.is_complete()).or(recent.last()).cloned();
        let mut sum = objects.before.clone();
        recent.into_iter().for_each(|object| sum.add(object));
        if let Some(present) = present {
            (sum.name, sum.path) = (present.name, present.path);
            (sum.receivers, sum.complete_receivers) = (present.receivers, present.complete_receivers);
        }
        if let Some((_, bytes)) = objects.expected {
            sum.total = bytes;
        }
        sum.notes.splice(0..0, objects.notes.iter().cloned());
        TransferSnapshot {
            sum,
            complete: objects.complete + complete,
            objects: objects.expected.map(|(count, _)| count),
            omitted: objects.omitted,
        }
    }
}

/// The kind of a sent symbol or piece.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sent {
    First,
    Coded,
    Again,
}

/// The result of a received one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Received {
    Useful,
    Useless,
    Unkept,
}

/// Maximum number of messages.
const MAX_NOTES: usize = 20;

impl Tally {
    /// The current values.
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
            complete_receivers: load(&self.complete_receivers),
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

    pub(crate) fn set_receivers(&self, there: usize, complete_receivers: usize) {
        self.receivers.store(there as u64, Ordering::Relaxed);
        self.complete_receivers.store(complete_receivers as u64, Ordering::Relaxed);
    }

    pub(crate) fn add_dropped(&self, pieces: u64) {
        self.dropped.fetch_add(pieces, Ordering::Relaxed);
    }

    pub(crate) fn add_late(&self, pieces: u64) {
        self.late.fetch_add(pieces, Ordering::Relaxed);
    }

    pub(crate) fn set_late(&self, pieces: u64) {
        self.late.store(pieces, Ordering::Relaxed);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_objects_are_summed_and_the_name_is_that_of_the_present_one() {
        let all = Tallies::default();
        all.expect(3, 60);
        all.note("left out");
        for number in 1..=3u64 {
            let tally = all.begin();
            tally.name(&format!("file{number}"));
            tally.set_total(10 * number);
            if number < 3 {
                tally.set_done(10 * number);
                tally.set_receivers(1, 1);
            } else {
                tally.set_done(4);
                tally.set_receivers(1, 0);
            }
            tally.note(format!("note {number}"));
        }
        let TransferSnapshot { sum, complete, objects, omitted: _ } = all.snapshot();
        assert_eq!((sum.total, sum.done, complete, objects), (60, 34, 2, Some(3)));
        assert_eq!((sum.name.as_deref(), sum.receivers, sum.complete_receivers), (Some("file3"), 1, 0));
        assert_eq!(sum.notes, ["left out", "note 1", "note 2", "note 3"]);
    }
}
