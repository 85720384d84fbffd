//! The receiving side of a live stream.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use units::{Duration, Time};

use super::live_stream::{KEPT, READ, REPEAT_INTERVAL};
use super::messages::{self, Arrival, Content, MAX_MISSING, Message};
use super::new_file::Spool;
use super::pipe_writer::PipeWriter;
use super::rejection::Rejection;
use super::tally::Received;
use super::{Kind, Tally};
use crate::{MAX_MESSAGE_BYTES, Pause, Sink, Status};

/// Minimum interval of reports, when pieces are missing.
const MIN_REPORT_INTERVAL: Duration = Duration::from_millis(10);
/// Minimum interval of reports of ages.
const AGES_INTERVAL: Duration = Duration::from_millis(50);
/// Time after which a missing piece is requested again.
const REQUEST_INTERVAL: Duration = Duration::from_millis(60);
/// If this many pieces before the first received one are missing, the receiver starts at that one and counts the others
/// as missed.
const BEGINNING: u64 = 64;

/// The receiving side: delivers pieces in order, each at its deadline at the latest.
///
/// The age of a piece is its time by the sender's clock, relative to the fastest piece so far.
pub struct Playout {
    tally: Arc<Tally>,
    outflow: PipeWriter,
    /// The file into which it is written, under its temporary name.
    spool: Option<Spool>,
    deadline: Option<Duration>,
    report_every: Duration,
    /// Minimum difference between arrival and production, in nanoseconds by the clocks of both ends.
    offset: Option<i128>,
    /// Number of the next piece to deliver.
    next: Option<u64>,
    buffered: BTreeMap<u64, (Time, Vec<u8>)>,
    /// One past the highest number seen.
    top: u64,
    /// When missing pieces were first and last requested.
    requests: BTreeMap<u64, (Time, Time)>,
    /// One past the last piece, once known.
    end: Option<u64>,
    finished: bool,
    /// Received pieces that were not duplicates or late.
    taken: u64,
    last_message: Option<Time>,
    /// Late pieces until now, and those that were reported.
    late: u64,
    reported_late: u64,
    /// The piece with the highest age since ages were reported, and when they are next.
    oldest: Option<(u64, Duration)>,
    ages_at: Time,
    status: Status,
    refusal: Option<Rejection>,
}

impl Playout {
    /// Delivers pieces to `pipe`.
    pub fn new(pipe: Box<dyn Write + Send>, tally: Arc<Tally>) -> Self {
        Self {
            tally,
            outflow: PipeWriter::new(pipe, READ),
            spool: None,
            deadline: None,
            report_every: REPEAT_INTERVAL,
            offset: None,
            next: None,
            buffered: BTreeMap::new(),
            top: 0,
            requests: BTreeMap::new(),
            end: None,
            finished: false,
            taken: 0,
            last_message: None,
            late: 0,
            reported_late: 0,
            oldest: None,
            ages_at: Time::ZERO,
            status: Status::InProgress,
            refusal: None,
        }
    }

    /// Writes pieces to a new file, which gets its final name when the stream has ended.
    ///
    /// # Errors
    /// The file handle cannot be duplicated.
    pub(crate) fn into_file(spool: Spool, tally: Arc<Tally>) -> Result<Self, super::TransferError> {
        let writer = spool.writer()?;
        Ok(Self { spool: Some(spool), ..Self::new(Box::new(writer), tally) })
    }

    fn on_chunk(&mut self, number: u64, at_ms: u32, bytes: &[u8], now: Time) -> Received {
        let produced = i128::from(at_ms) * 1_000_000;
        let difference = i128::from(now.as_nanos()) - produced;
        let offset = *self.offset.insert(self.offset.map_or(difference, |min| min.min(difference)));
        let tally = &self.tally;
        let next = *self.next.get_or_insert_with(|| {
            let begins = if number < BEGINNING { 0 } else { number };
            tally.set_missed(begins);
            begins
        });
        if number >= self.top {
            // it has not been requested again
            let age = Duration::from_nanos(u64::try_from(difference - offset).unwrap_or(u64::MAX));
            self.oldest = self.oldest.filter(|(_, oldest)| *oldest > age).or(Some((number, age)));
        }
        self.top = self.top.max(number + 1);
        self.requests.remove(&number);
        if number < next || self.buffered.contains_key(&number) {
            return Received::Useless;
        }
        if self.buffered.len() >= KEPT {
            return Received::Unkept;
        }
        let playout_at = produced + offset + i128::from(self.deadline.unwrap_or(Duration::ZERO).as_nanos());
        let playout_at = Time::from_nanos(u64::try_from(playout_at.max(0)).unwrap_or(u64::MAX));
        self.buffered.insert(number, (playout_at, bytes.to_vec()));
        self.taken += 1;
        Received::Useful
    }

    /// Delivers the next pieces, and skips those that are late.
    fn play(&mut self, now: Time) -> Result<(), super::TransferError> {
        let Some(mut next) = self.next else { return Ok(()) };
        while let Some(first) = self.buffered.first_entry() {
            let (number, playout_at) = (*first.key(), first.get().0);
            // a gap is kept open until the deadline of the piece after it
            if number > next && now < playout_at {
                break;
            }
            let in_time = now <= playout_at + LATE;
            if in_time && !self.outflow.has_room()? {
                break;
            }
            let (_, bytes) = first.remove();
            self.count_late(number - next + u64::from(!in_time));
            if in_time {
                self.tally.add_done(bytes.len() as u64);
                self.outflow.give(bytes);
            }
            next = number + 1;
        }
        if let Some(end) = self.end.filter(|_| self.buffered.is_empty()) {
            let waits_since = self.requests.values().map(|(first, _)| *first).min();
            let skipped =
                waits_since.is_some_and(|at| now.saturating_since(at) > self.deadline.unwrap_or_default());
            if next < end && skipped {
                self.count_late(end - next);
                next = end;
            }
            if next >= end && self.outflow.is_done()? {
                if let Some(spool) = self.spool.take() {
                    self.tally.path(spool.finish()?);
                }
                self.finished = true;
            }
        }
        self.next = Some(next);
        self.requests = self.requests.split_off(&next);
        Ok(())
    }

    /// Whether the thread that writes is behind.
    #[cfg(test)]
    pub(crate) fn is_writing(&self) -> bool {
        !self.outflow.is_done().unwrap_or(true)
    }

    fn count_late(&mut self, pieces: u64) {
        self.late += pieces;
        self.tally.add_late(pieces);
    }

    fn fail(&mut self, error: &super::TransferError) {
        self.status = Status::Failed(error.to_string());
        self.refusal = Some(Rejection::new(error.to_string()));
    }

    /// How pieces have arrived, if that is to be reported now.
    fn arrival(&mut self, now: Time) -> Option<Arrival> {
        let is_new = self.oldest.is_some() || self.late > self.reported_late;
        if !is_new || now < self.ages_at && !self.finished {
            return None;
        }
        self.ages_at = now + AGES_INTERVAL;
        self.reported_late = self.late;
        let (number, age) = self.oldest.take().unwrap_or((u64::MAX, Duration::ZERO));
        Some(Arrival { number, age, late: self.late })
    }

    /// Missing pieces that are to be requested now.
    fn missing(&mut self, now: Time) -> Vec<u64> {
        let next = self.next.unwrap_or(0);
        let top = self.end.unwrap_or(self.top).min(next + KEPT as u64);
        let mut numbers = Vec::new();
        for number in (next..top).filter(|number| !self.buffered.contains_key(number)) {
            if numbers.len() == MAX_MISSING {
                break;
            }
            let (_, last) = self.requests.entry(number).or_insert((now, Time::NEVER));
            if *last == Time::NEVER || now.saturating_since(*last) >= REQUEST_INTERVAL {
                *last = now;
                numbers.push(number);
            }
        }
        numbers
    }
}

/// Tolerance of a piece's deadline, because deadlines are checked at intervals.
const LATE: Duration = Duration::from_millis(5);
/// Number of waits of 10 ms for the writing thread at the end.
const LAST_LOOKS: u32 = 100;

impl Sink for Playout {
    fn take(&mut self, _seq: u64, now: Time, content: &[u8]) {
        match messages::read_content(content) {
            Some(Content::Announce(manifest)) => {
                if let Kind::Live(deadline) = manifest.kind {
                    self.tally.name(&manifest.name);
                    self.deadline = Some(deadline);
                    self.report_every = manifest.report_every;
                }
            }
            Some(Content::Chunk { number, last: true, bytes, .. }) => {
                if let Some(dropped) = bytes.first_chunk()
                    && self.end.is_none()
                {
                    self.end = Some(number);
                    if self.next.is_none() {
                        self.next = Some(number);
                        self.tally.set_missed(number);
                    }
                    self.tally.add_dropped(u64::from_be_bytes(*dropped));
                    self.last_message = None;
                }
            }
            // no piece is late before the deadline is known
            Some(Content::Chunk { number, at_ms, bytes, .. }) if self.deadline.is_some() => {
                let what = self.on_chunk(number, at_ms, bytes, now);
                self.tally.count_received(what);
            }
            _ => {}
        }
        if self.status == Status::InProgress
            && let Err(error) = self.play(now)
        {
            self.fail(&error);
        }
    }

    fn write_message(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        let was_over = self.finished;
        if self.status == Status::InProgress
            && let Err(error) = self.play(now)
        {
            self.fail(&error);
        }
        if let Some(refusal) = &mut self.refusal {
            return refusal.write_rejection(now, message);
        }
        if self.finished && self.status == Status::InProgress {
            self.status = Status::Complete;
        }
        if let Some(arrival) = self.arrival(now) {
            if self.finished {
                // the sender ends after the next report
                self.last_message = None;
            }
            return Message::Arrival(arrival).write(message);
        }
        let silent = self.last_message.map_or(Duration::MAX, |at| now.saturating_since(at));
        let just_over = self.finished && !was_over;
        if silent < MIN_REPORT_INTERVAL && !just_over {
            return 0;
        }
        let numbers = if self.finished { Vec::new() } else { self.missing(now) };
        if numbers.is_empty() && silent < self.report_every && !just_over {
            return 0;
        }
        self.last_message = Some(now);
        Message::Missing { next_expected: self.next.unwrap_or(0), finished: self.finished, numbers }
            .write(message)
    }

    fn wake(&self) -> Time {
        if let Some(refusal) = &self.refusal {
            return refusal.wake();
        }
        if self.finished || self.next.is_none() {
            return self.last_message.map_or(Time::NEVER, |at| at + self.report_every);
        }
        let last_message = self.last_message.unwrap_or(Time::ZERO);
        let missing = self.buffered.first_key_value().is_some_and(|(first, _)| Some(*first) != self.next)
            || self.end.is_some_and(|end| self.next.is_some_and(|next| next < end));
        let playout_at =
            self.buffered.first_key_value().map_or(Time::NEVER, |(_, (playout_at, _))| *playout_at);
        let next_message = last_message
            + if missing || self.end.is_some() { MIN_REPORT_INTERVAL } else { self.report_every };
        // a full pipe is tried again
        next_message.min(playout_at.max(last_message + MIN_REPORT_INTERVAL))
    }

    fn progress(&self) -> Option<u64> {
        Some(self.taken)
    }

    /// A live source may pause.
    fn pause(&self) -> Pause {
        if self.outflow.is_full() { Pause::Local } else { Pause::Remote }
    }

    fn on_end(&mut self, _now: Time) {
        let Some(spool) = self.spool.take() else { return };
        // pieces in the queue of the writing thread count as received
        for _ in 0..LAST_LOOKS {
            if self.outflow.is_done().unwrap_or(true) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        if let Some(part) = spool.abandon() {
            self.tally
                .note(format!("the stream is incomplete: the received part is kept as {}", part.display()));
        }
    }

    fn status(&self) -> Status {
        self.refusal.as_ref().map_or_else(|| self.status.clone(), Rejection::status)
    }
}
