//! The sending side of a live stream: pieces with a deadline, which [`super::Playout`] delivers in order.
//!
//! A piece that cannot arrive before its deadline is not sent. A missing piece is retransmitted while there is time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Read;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use contract::EndpointId;
use units::{Duration, Time};

use super::messages::{self, Arrival, CHUNK_HEADER, Message};
use super::tally::Sent;
use super::{Kind, Layout, Manifest, Tally};
use crate::{Pace, Pause, Payload, Status};

/// Maximum number of pieces that wait, or were sent and are within their deadline.
pub(crate) const KEPT: usize = 8192;
/// Maximum number of pieces between the reading thread and the session.
pub(crate) const READ: usize = 256;
/// Interval at which a source checks for new pieces.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Interval of announcements before and after all receivers have reported; interval of repetitions of the end.
const ANNOUNCE_EVERY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));
const END_EVERY: Duration = Duration::from_millis(50);
/// Interval of a receiver's reports.
pub(crate) const REPEAT_INTERVAL: Duration = Duration::from_millis(200);
/// Duration of the measurement of the content's rate: this fraction of the deadline, and at most this long.
const MEASURED: (u64, Duration) = (5, Duration::from_millis(100));
/// Maximum share of the deadline that is left to the path: with less time at the sender nothing could be sent.
const PATH_SHARE: f64 = 0.75;

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
    /// How long each of the last pieces waited until it was sent.
    waits: VecDeque<Duration>,
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
    path: Option<PathDelay>,
    late: u64,
}

/// Estimate of the time that a piece takes on a path beyond the time of the fastest piece, as for a retransmission
/// timeout.
#[derive(Clone, Copy, Debug)]
struct PathDelay {
    last: Duration,
    smoothed: Duration,
    deviation: Duration,
}

impl PathDelay {
    /// The estimate after another sample [RFC6298 §2].
    fn after(earlier: Option<Self>, sample: Duration) -> Self {
        let Some(Self { smoothed, deviation, .. }) = earlier else {
            return Self { last: sample, smoothed: sample, deviation: sample / 2 };
        };
        // RTTVAR ← 3/4 RTTVAR + 1/4 |SRTT − R′|,  SRTT ← 7/8 SRTT + 1/8 R′
        let deviation = (deviation * 3 + smoothed.abs_diff(sample)) / 4;
        Self { last: sample, smoothed: (smoothed * 7 + sample) / 8, deviation }
    }

    /// The time that hardly any piece exceeds.
    fn upper_bound(&self) -> Duration {
        self.last.max(self.smoothed + self.deviation * 4)
    }
}

impl LiveStream {
    /// Reads `from` in a thread. Pieces are as long as packets with `room` bytes of content allow, or as a write of the
    /// program. `id` is random.
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

    /// Reads pieces from a channel, each at most as long as packets with `room` bytes of content allow; the stream ends
    /// when the channel is closed.
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
            waits: VecDeque::new(),
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

    /// The age up to which a piece can still arrive in time, at the receiver with the shortest delay.
    fn max_age(&self) -> Duration {
        let paths = self.peers.values().filter(|peer| peer.present).filter_map(|peer| peer.path);
        let delay = paths.map(|path| path.upper_bound()).min().unwrap_or(Duration::ZERO);
        self.deadline.saturating_sub(delay.min(self.deadline.scaled(PATH_SHARE)))
    }

    /// A receiver has reported the age of a piece at its arrival, which includes the time that it waited here.
    fn on_arrival(&mut self, from: EndpointId, arrival: Arrival) {
        let newest = self.next.saturating_sub(1);
        let waited = newest.checked_sub(arrival.number).and_then(|back| {
            let at = self.waits.len().checked_sub(1)?.checked_sub(usize::try_from(back).ok()?)?;
            self.waits.get(at).copied()
        });
        let peer = self.peers.entry(from).or_default();
        peer.late = peer.late.max(arrival.late);
        if let Some(waited) = waited {
            peer.path = Some(PathDelay::after(peer.path, arrival.age.saturating_sub(waited)));
        }
        self.tally.set_late(self.peers.values().map(|peer| peer.late).max().unwrap_or(0));
    }

    /// Reads the new pieces of the program, and drops those that cannot arrive in time.
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
        let max_age = self.max_age();
        let old = |at: Time| now.saturating_since(at) > max_age;
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
            self.waits.push_back(now.saturating_since(at));
            if self.waits.len() > KEPT {
                self.waits.pop_front();
            }
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
        let max_age = self.max_age();
        let peer = self.peers.entry(from).or_default();
        (peer.present, peer.reported) = (true, true);
        match Message::read(message) {
            Some(Message::Arrival(arrival)) => self.on_arrival(from, arrival),
            Some(Message::Missing { next_expected, finished, numbers }) => {
                peer.next_expected = peer.next_expected.max(next_expected.min(self.next));
                peer.finished |= finished;
                let worth = |number: &u64| {
                    let sent = self.sent.get(number);
                    sent.is_some_and(|(at, _)| now.saturating_since(*at) <= max_age)
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
