//! A live stream: pieces with a deadline.
//!
//! A piece past its deadline is not sent. A missing piece is requested again while there is time. A late piece is dropped. The order is kept.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use contract::EndpointId;
use units::{Duration, Time};

use super::messages::{self, CHUNK_HEADER, Content, MAX_MISSING, Message};
use super::new_file::Spool;
use super::pipe_writer::PipeWriter;
use super::rejection::Rejection;
use super::tally::{Received, Sent};
use super::{Kind, Layout, Manifest, Tally};
use crate::{MAX_MESSAGE_BYTES, Pace, Pause, Payload, Sink, Status};

/// Maximum number of pieces that wait, or were sent and are within their deadline.
const KEPT: usize = 8192;
/// Maximum number of pieces between the reading thread and the session.
const READ: usize = 256;
/// Interval at which a source checks for new pieces.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Interval of announcements before and after all receivers have reported; interval of repetitions of the end.
const ANNOUNCE_EVERY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));
const END_EVERY: Duration = Duration::from_millis(50);
/// Interval of a receiver's reports, and the minimum interval when pieces are missing.
const REPEAT_INTERVAL: Duration = Duration::from_millis(200);
const MIN_REPORT_INTERVAL: Duration = Duration::from_millis(10);
/// Time after which a missing piece is requested again.
const REQUEST_INTERVAL: Duration = Duration::from_millis(60);
/// Duration of the measurement of the content's rate: this fraction of the deadline, and at most this long.
const MEASURED: (u64, Duration) = (5, Duration::from_millis(100));
/// If this many pieces before the first received one are missing, the receiver starts at that one and counts the others as missed.
const BEGINNING: u64 = 64;

/// The sending side.
pub struct LiveStream {
    manifest: Manifest,
    deadline: Duration,
    from: Receiver<Vec<u8>>,
    /// Read, and not sent yet.
    unsent: VecDeque<(Time, Vec<u8>)>,
    /// Sent, by number.
    sent: BTreeMap<u64, (Time, Vec<u8>)>,
    retransmit: BTreeSet<u64>,
    /// Number of the next piece.
    next: u64,
    /// The program has ended.
    ended: bool,
    started_at: Option<Time>,
    announce_at: Time,
    end_at: Time,
    peers: BTreeMap<EndpointId, Peer>,
    dropped: u64,
    /// When the first piece was read, and how many have been read.
    first_at: Option<Time>,
    read: u64,
    tally: Arc<Tally>,
}

#[derive(Debug, Default)]
struct Peer {
    present: bool,
    reported: bool,
    next_expected: u64,
    finished: bool,
    failed: Option<String>,
}

impl LiveStream {
    /// Reads `from` in a thread. Pieces are as long as packets with `room` bytes of content allow, or as a write of the program. `id` is
    /// random.
    pub fn new(
        mut from: Box<dyn Read + Send>,
        name: &str,
        id: u64,
        room: usize,
        deadline: Duration,
        tally: Arc<Tally>,
    ) -> Self {
        let (to_session, from_thread) = sync_channel(READ);
        let piece = Self::piece(room);
        // it ends with its input, or when the channel is closed
        std::thread::spawn(move || {
            let mut bytes = vec![0; piece];
            loop {
                match from.read(&mut bytes) {
                    Ok(0) => return,
                    Ok(length) => {
                        if to_session.send(bytes[..length].to_vec()).is_err() {
                            return;
                        }
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => return,
                }
            }
        });
        Self::of_pieces(from_thread, name, id, room, deadline, tally)
    }

    /// Bytes of a piece for packets with `room` bytes of content.
    fn piece(room: usize) -> usize {
        room.saturating_sub(CHUNK_HEADER).clamp(1, 9000)
    }

    /// Reads pieces from a channel, each at most as long as packets with `room` bytes of content allow; the stream ends when the channel is closed.
    pub fn of_pieces(
        from: Receiver<Vec<u8>>,
        name: &str,
        id: u64,
        room: usize,
        deadline: Duration,
        tally: Arc<Tally>,
    ) -> Self {
        tally.name(name);
        let layout =
            Layout { length: None, symbol_bytes: Self::piece(room).max(16) as u16, block_symbols: 1 };
        let manifest = Manifest {
            kind: Kind::Live(deadline),
            id,
            name: name.to_owned(),
            layout,
            hash: None,
            report_every: REPEAT_INTERVAL,
        };
        Self {
            manifest,
            deadline,
            from,
            unsent: VecDeque::new(),
            sent: BTreeMap::new(),
            retransmit: BTreeSet::new(),
            next: 0,
            ended: false,
            started_at: None,
            announce_at: Time::ZERO,
            end_at: Time::ZERO,
            peers: BTreeMap::new(),
            dropped: 0,
            first_at: None,
            read: 0,
            tally,
        }
    }

    /// The manifest of the stream.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Reads the new pieces of the program, and drops those past their deadline.
    fn read_pieces(&mut self, now: Time) {
        while !self.ended && self.unsent.len() < KEPT {
            match self.from.try_recv() {
                Ok(bytes) => {
                    self.first_at.get_or_insert(now);
                    self.read += 1;
                    self.unsent.push_back((now, bytes));
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => self.ended = true,
            }
        }
        let old = |at: Time| now.saturating_since(at) > self.deadline;
        while self.unsent.front().is_some_and(|(at, _)| old(*at)) {
            self.unsent.pop_front();
            self.dropped += 1;
            self.tally.add_dropped(1);
        }
        let data_received =
            self.peers.values().filter(|peer| peer.present).map(|peer| peer.next_expected).min().unwrap_or(0);
        while let Some((number, (at, _))) = self.sent.first_key_value() {
            if *number >= data_received && !old(*at) && self.sent.len() <= KEPT {
                break;
            }
            self.retransmit.remove(number);
            self.sent.pop_first();
        }
    }

    /// Whether the program has ended and all it wrote has been read.
    #[cfg(test)]
    pub(crate) const fn has_ended(&self) -> bool {
        self.ended
    }

    fn is_over(&self) -> bool {
        self.ended && self.unsent.is_empty()
    }

    fn at_ms(&self, at: Time) -> u32 {
        let since = at.saturating_since(self.started_at.unwrap_or(at));
        u32::try_from(since.as_nanos() / 1_000_000).unwrap_or(u32::MAX)
    }

    fn write(&self, number: u64, at: Time, last: bool, bytes: &[u8], room: &mut [u8]) -> usize {
        let length = CHUNK_HEADER + bytes.len();
        let Some(place) = room.get_mut(..length) else { return 0 };
        messages::write_chunk_header(number, self.at_ms(at), last, place);
        place[CHUNK_HEADER..].copy_from_slice(bytes);
        length
    }
}

impl Payload for LiveStream {
    fn fill(&mut self, _seq: u64, now: Time, room: &mut [u8]) -> usize {
        self.read_pieces(now);
        if now >= self.announce_at {
            let waiting = self.peers.values().any(|peer| peer.present && !peer.reported);
            self.announce_at = now + if waiting { ANNOUNCE_EVERY.0 } else { ANNOUNCE_EVERY.1 };
            return messages::write_announce(&self.manifest, room);
        }
        if let Some(number) = self.retransmit.pop_first()
            && let Some((at, bytes)) = self.sent.get(&number)
        {
            self.tally.count_sent(Sent::Again);
            return self.write(number, *at, false, bytes, room);
        }
        if let Some((at, bytes)) = self.unsent.pop_front() {
            self.started_at.get_or_insert(at);
            let number = self.next;
            self.next += 1;
            self.tally.count_sent(Sent::First);
            self.tally.add_done(bytes.len() as u64);
            let written = self.write(number, at, false, &bytes, room);
            self.sent.insert(number, (at, bytes));
            return written;
        }
        if self.is_over() && now >= self.end_at {
            self.end_at = now + END_EVERY;
            return self.write(self.next, now, true, &self.dropped.to_be_bytes(), room);
        }
        0
    }

    fn ready(&mut self, now: Time) -> Time {
        self.read_pieces(now);
        if now >= self.announce_at || !self.retransmit.is_empty() || !self.unsent.is_empty() {
            return now;
        }
        if self.is_over() { self.end_at.max(now) } else { self.announce_at.min(now + POLL_INTERVAL) }
    }

    /// Pieces of the start-up phase, one per packet.
    fn pace(&mut self, now: Time) -> Pace {
        self.read_pieces(now);
        let Some(first_at) = self.first_at else { return Pace::Measuring(now + POLL_INTERVAL) };
        let span = (self.deadline / MEASURED.0).min(MEASURED.1);
        if now < first_at + span && !self.ended {
            return Pace::Measuring((now + POLL_INTERVAL).min(first_at + span));
        }
        Pace::Packets(self.read, span.max(now.saturating_since(first_at)))
    }

    fn on_join(&mut self, peer: EndpointId) {
        self.peers.insert(peer, Peer { present: true, ..Peer::default() });
        self.announce_at = Time::ZERO;
        self.tally.set_receivers(self.peers.len(), 0);
    }

    fn on_leave(&mut self, peer: EndpointId) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.present = false;
        }
    }

    fn on_message(&mut self, from: EndpointId, now: Time, message: &[u8]) {
        let peer = self.peers.entry(from).or_default();
        (peer.present, peer.reported) = (true, true);
        match Message::read(message) {
            Some(Message::Missing { next_expected, finished, numbers }) => {
                peer.next_expected = peer.next_expected.max(next_expected.min(self.next));
                peer.finished |= finished;
                let worth = |number: &u64| {
                    let sent = self.sent.get(number);
                    sent.is_some_and(|(at, _)| now.saturating_since(*at) <= self.deadline)
                };
                self.retransmit.extend(numbers.into_iter().filter(worth));
            }
            Some(Message::Failed(why)) => peer.failed = Some(why),
            _ => {}
        }
        let complete = self.peers.values().filter(|peer| peer.finished).count();
        self.tally.set_receivers(self.peers.len(), complete);
    }

    fn progress(&self) -> Option<u64> {
        Some(self.peers.values().map(|peer| peer.next_expected).fold(0, u64::saturating_add))
    }

    fn progress_of(&self, peer: EndpointId) -> Option<u64> {
        let peer = self.peers.get(&peer)?;
        (peer.present && !peer.finished && peer.failed.is_none()).then_some(peer.next_expected)
    }

    fn pause(&self) -> Pause {
        let all_reported =
            self.peers.values().filter(|peer| peer.present).all(|peer| peer.next_expected >= self.next);
        match self.unsent.is_empty() && !self.ended && all_reported {
            true => Pause::Local,
            false if self.progress() > Some(0) => Pause::Remote,
            false => Pause::None,
        }
    }

    fn status(&self) -> Status {
        let incomplete_peers = |peer: &Peer| peer.present && !peer.finished && peer.failed.is_none();
        if self.peers.is_empty() || self.peers.values().any(incomplete_peers) {
            return Status::InProgress;
        }
        let ended = self.peers.values().any(|peer| peer.finished);
        match self.peers.values().find_map(|peer| peer.failed.as_ref()) {
            Some(why) => Status::Failed(format!("a receiver could not store it: {why}")),
            None if ended => Status::Complete,
            None => Status::InProgress,
        }
    }
}

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
            self.tally.add_late(number - next + u64::from(!in_time));
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
                self.tally.add_late(end - next);
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

    fn fail(&mut self, error: &super::TransferError) {
        self.status = Status::Failed(error.to_string());
        self.refusal = Some(Rejection::new(error.to_string()));
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
