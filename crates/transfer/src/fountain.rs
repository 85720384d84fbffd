//! The sending side of a fountain code: symbols of blocks, until every receiver has reported the complete object.
//!
//! The order of symbols is: a periodic announcement; symbols that receivers reported as missing, lowest block first;
//! the next part of the object; otherwise repair symbols of blocks that no receiver is known to have. A repair symbol
//! has the same value for every receiver, whichever symbols it lacks.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use contract::EndpointId;
use raptorq::SourceBlockEncoder;
use units::{Duration, Time};
use wire::stream::Reason;

use super::assembly::code;
use super::bytes::megabytes;
use super::credit::Credit;
use super::layout::{HASH, level};
use super::messages::{self, Message, Report, SYMBOL_HEADER};
use super::tally::Sent;
use super::{Complete, Kind, Manifest, Store, Tally, tree};
use crate::{Pause, Payload, Status};

/// The receivers that a fountain waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receivers {
    /// Minimum number of receivers before the first data, and of complete receivers before the end.
    pub min: usize,
}

/// The sending side: a source of symbols.
pub struct Fountain {
    manifest: Manifest,
    store: Box<dyn Store>,
    receivers: Receivers,
    tally: Arc<Tally>,
    peers: BTreeMap<EndpointId, Peer>,
    /// The minimum number of receivers was present: the transfer has begun.
    started: bool,
    /// Blocks of hashes, which are sent first, and how many of them have been sent.
    hashes: Vec<u32>,
    hashes_sent: usize,
    /// The next source symbol.
    block: u32,
    symbol: u16,
    /// Blocks whose source symbols have all been sent, and that a receiver may lack.
    sent: BTreeMap<u32, Block>,
    /// Blocks of `sent` that receivers have requested.
    requested: BTreeSet<u32>,
    /// Blocks that a receiver may lack, in turn, for times without requests.
    unconfirmed: Vec<u32>,
    turn: usize,
    /// Symbols sent for the first time.
    sent_first: u64,
    /// Repair symbols that nobody had requested.
    speculative: u64,
    /// When another of them may be sent, if they were many.
    speculate_at: Time,
    /// The blocks that were read last.
    read: Buffer,
    retransmit: Buffer,
    /// Encoders of blocks, the last used one at the end.
    coders: VecDeque<(u32, SourceBlockEncoder)>,
    /// Number of repair symbols so far: each has a unique number, for all blocks.
    coded: u32,
    announce_at: Time,
    /// Number of the next packet; a lower one means that the session has restarted.
    seq: u64,
    failed: Option<String>,
    /// Blocks below are no longer stored.
    released: u32,
    /// Number of reports with progress.
    progress: u64,
    /// A receiver needs one of them.
    evicted: bool,
}

/// The state of a receiver.
#[derive(Debug)]
struct Peer {
    present: bool,
    /// The channel binding of its session.
    binding: [u8; HASH],
    /// Its last report; none since it joined.
    report: Option<Report>,
    complete: bool,
    failed: Option<String>,
    /// The maximum number of symbols that it has reported since it joined.
    max_symbols: u64,
    /// What it may request if there are others.
    credit: Credit,
}

impl Peer {
    /// A receiver, not yet present, of an object of this many symbols.
    fn new(symbols: Option<u64>) -> Self {
        Self {
            present: false,
            binding: [0; HASH],
            report: None,
            complete: false,
            failed: None,
            max_symbols: 0,
            credit: Credit::new(symbols),
        }
    }

    /// It is there, and does not have the whole.
    fn is_incomplete(&self) -> bool {
        self.present && !self.complete && self.failed.is_none()
    }
}

/// A block of which symbols may be requested.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Number of the packet that last carried a symbol of it; reports from before that packet are outdated.
    last: u64,
    want: u16,
    /// Its source symbols are to be retransmitted from this one on.
    retransmit: Option<u16>,
}

/// A block in memory.
#[derive(Debug, Default)]
struct Buffer {
    block: Option<u32>,
    bytes: Vec<u8>,
}

/// Intervals of announcements while a receiver has not reported, and afterwards.
const ANNOUNCE_EVERY: (Duration, Duration) = (Duration::from_millis(25), Duration::from_secs(1));
/// Interval at which a source without data is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Maximum number of blocks sent before a receiver's first report.
const AHEAD: u32 = 64;
/// Repair symbols that nobody has requested: one for this many of the others, and at least so many. Further ones follow
/// at an interval, because a receiver that got none of the last packets does not know of them.
const SPECULATIVE: (u64, u64) = (20, 8);
const SPECULATE_EVERY: Duration = Duration::from_millis(50);
/// Maximum number of encoders in memory.
const CODERS: usize = 8;
/// Maximum number of blocks of a report that are read.
const MAX_READ_BLOCKS: usize = 4096;
/// Maximum number of blocks with a known last packet; reports about others count as current.
const REMEMBERED: usize = 1 << 16;
/// One past the maximum number of a symbol [RFC6330 §3.2].
const NUMBERS: u32 = 1 << 24;

impl Fountain {
    /// A fountain of the object in `store` with this manifest.
    pub fn new(manifest: Manifest, store: Box<dyn Store>, receivers: Receivers, tally: Arc<Tally>) -> Self {
        let file = manifest.kind == Kind::File;
        let hashes = if file { manifest.layout.hash_blocks() } else { Vec::new() };
        Self {
            hashes,
            hashes_sent: 0,
            manifest,
            store,
            receivers,
            tally,
            peers: BTreeMap::new(),
            started: false,
            block: 0,
            symbol: 0,
            sent: BTreeMap::new(),
            requested: BTreeSet::new(),
            unconfirmed: Vec::new(),
            turn: 0,
            sent_first: 0,
            speculative: 0,
            speculate_at: Time::ZERO,
            read: Buffer::default(),
            retransmit: Buffer::default(),
            coders: VecDeque::new(),
            coded: 0,
            announce_at: Time::ZERO,
            seq: 0,
            failed: None,
            released: 0,
            progress: 0,
            evicted: false,
        }
    }

    /// Size of a symbol for packets with `room` bytes of content; `None` if they are too short.
    pub fn symbol_bytes(room: usize) -> Option<u16> {
        let bytes = room.checked_sub(SYMBOL_HEADER)?.min(9000);
        u16::try_from(bytes).ok().filter(|bytes| *bytes >= 16)
    }

    /// The manifest of the object.
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The messages of receivers that could not accept it.
    pub fn refusals(&self) -> Vec<(EndpointId, String)> {
        let failure = |(peer, state): (&EndpointId, &Peer)| state.failed.clone().map(|why| (*peer, why));
        self.peers.iter().filter_map(failure).collect()
    }

    /// Symbols of the object, if its length is known.
    fn symbols(&self) -> Option<u64> {
        let layout = &self.manifest.layout;
        layout.length.map(|length| length.div_ceil(u64::from(layout.symbol_bytes)))
    }

    /// The receiver with this number.
    fn peer(&mut self, peer: EndpointId) -> &mut Peer {
        let symbols = self.symbols();
        self.peers.entry(peer).or_insert_with(|| Peer::new(symbols))
    }

    /// Whether it has had several receivers, so that what one requests is sent to others.
    fn is_shared(&self) -> bool {
        self.peers.len() > 1
    }

    /// The receivers that are not complete.
    fn incomplete_peers(&self) -> impl Iterator<Item = &Peer> {
        self.peers.values().filter(|peer| peer.is_incomplete())
    }

    fn has_begun(&mut self) -> bool {
        let present = self.peers.values().filter(|peer| peer.present).count();
        self.started |= present >= self.receivers.min.max(1);
        self.started
    }

    /// One past the last block that every receiver can store. Blocks of a file are not sent before a receiver that may
    /// have them has reported.
    fn limit(&self) -> u32 {
        let limit = |peer: &Peer| match &peer.report {
            Some(report) if self.is_file() => report.limit.min(report.until),
            Some(report) => report.limit,
            None if self.is_file() => 0,
            None => AHEAD,
        };
        self.incomplete_peers().map(limit).min().unwrap_or(0)
    }

    fn is_file(&self) -> bool {
        self.manifest.kind == Kind::File
    }

    /// Whether all source symbols of a block have been sent, or were not needed.
    fn was_sent(&self, block: u32) -> bool {
        if self.is_file() && level(block) > 0 {
            return self.hashes[..self.hashes_sent].contains(&block);
        }
        block < self.block
    }

    fn symbols_in(&self, block: u32) -> u16 {
        self.manifest.layout.symbols_in(block, self.manifest.kind == Kind::Stream)
    }

    /// The block whose source symbols are being sent.
    fn next(&mut self) -> Option<u32> {
        if let Some(block) = self.hashes.get(self.hashes_sent) {
            return self.incomplete_peers().next().map(|_| *block);
        }
        if self.symbol == 0 {
            // blocks that every receiver has are skipped
            let lacking = |peer: &Peer| {
                peer.report.as_ref().map_or(self.block, |report| report.next_lacking(self.block))
            };
            self.block = self.incomplete_peers().map(lacking).min().unwrap_or(self.block);
        }
        (self.block < self.limit() && self.block < self.store.available()).then_some(self.block)
    }

    fn announce(&mut self, now: Time, room: &mut [u8]) -> usize {
        if let (None, Some(Complete { length, hash, .. })) = (self.manifest.hash, self.store.end()) {
            self.manifest.layout.length = Some(length);
            self.manifest.hash = Some(hash);
            self.tally.set_total(length);
        }
        let waiting = !self.started || self.incomplete_peers().any(|peer| peer.report.is_none());
        self.announce_at = now + if waiting { ANNOUNCE_EVERY.0 } else { ANNOUNCE_EVERY.1 };
        let written = messages::write_announce(&self.manifest, room);
        if written == 0 {
            self.failed = Some("packets are too short for the announcement".to_owned());
        }
        written
    }

    /// Sends a requested symbol.
    fn send_requested(&mut self, seq: u64, room: &mut [u8]) -> Option<usize> {
        loop {
            // hashes come first, because other blocks are verified by them
            let hashes = self.requested.last().filter(|block| self.is_file() && level(**block) > 0);
            let block = *hashes.or(self.requested.first())?;
            let symbols = self.symbols_in(block);
            let state = self.sent.entry(block).or_default();
            let own = state.retransmit.filter(|next| *next < symbols);
            state.retransmit = own.map(|next| next + 1);
            state.want = state.want.saturating_sub(1);
            state.last = seq;
            if state.want == 0 {
                state.retransmit = None;
                self.requested.remove(&block);
            }
            let written = match own {
                Some(number) => {
                    self.tally.count_sent(Sent::Again);
                    self.write_own(block, number, true, room)
                }
                None => self.write_coded(block, room),
            };
            if written.is_some() || self.failed.is_some() {
                return written;
            }
            self.evicted(block);
        }
    }

    /// Sends the next source symbol.
    fn send_next(&mut self, seq: u64, room: &mut [u8]) -> Option<usize> {
        let (block, symbol) = (self.next()?, self.symbol);
        let own = self.symbols_in(block);
        let of_hashes = self.hashes_sent < self.hashes.len();
        self.sent_first += 1;
        let written = if symbol < own {
            self.tally.count_sent(Sent::First);
            self.write_own(block, symbol, false, room)?
        } else {
            self.write_coded(block, room)?
        };
        self.symbol += 1;
        // without the hashes nothing counts: a few are lost without harm
        if self.symbol >= own + if of_hashes { own / 8 + 1 } else { 0 } {
            self.symbol = 0;
            if of_hashes {
                self.hashes_sent += 1;
            } else {
                self.block = block + 1;
            }
            self.sent.insert(block, Block { last: seq, ..Block::default() });
            if self.sent.len() > REMEMBERED {
                self.forget_one();
            }
            self.doubt();
        }
        Some(written)
    }

    /// Whether a repair symbol may be sent that nobody has requested.
    fn may_speculate(&self, now: Time) -> bool {
        let max = (self.sent_first / SPECULATIVE.0).max(SPECULATIVE.1);
        !self.unconfirmed.is_empty() && (self.speculative < max || now >= self.speculate_at)
    }

    /// Sends a repair symbol of a block that a receiver may lack.
    fn send_unconfirmed(&mut self, now: Time, room: &mut [u8]) -> Option<usize> {
        if !self.may_speculate(now) {
            return None;
        }
        self.speculative += 1;
        self.speculate_at = now + SPECULATE_EVERY;
        let block = self.unconfirmed[self.turn % self.unconfirmed.len()];
        self.turn = (self.turn + 1) % self.unconfirmed.len();
        let written = self.write_coded(block, room);
        if written.is_none() && self.failed.is_none() {
            self.evicted(block);
        }
        written
    }

    /// Writes a source symbol.
    fn write_own(&mut self, block: u32, number: u16, retransmit: bool, room: &mut [u8]) -> Option<usize> {
        let buffer = if retransmit { &mut self.retransmit } else { &mut self.read };
        if buffer.block != Some(block) {
            buffer.block = None;
            match self.store.read(block, &mut buffer.bytes) {
                Ok(true) => buffer.block = Some(block),
                Ok(false) => return None,
                Err(error) => {
                    self.failed = Some(error.to_string());
                    return None;
                }
            }
        }
        let size = usize::from(self.manifest.layout.symbol_bytes);
        let at = usize::from(number) * size;
        write(block, u32::from(number), buffer.bytes.get(at..at + size)?, room)
    }

    /// Writes a repair symbol.
    fn write_coded(&mut self, block: u32, room: &mut [u8]) -> Option<usize> {
        let size = usize::from(self.manifest.layout.symbol_bytes);
        let symbols = self.symbols_in(block);
        if self.coders.back().is_none_or(|(of, _)| *of != block) {
            let coder = match self.coders.iter().position(|(of, _)| *of == block) {
                Some(at) => self.coders.remove(at)?,
                None => {
                    let mut bytes = Vec::new();
                    match self.store.read(block, &mut bytes) {
                        Ok(true) => {}
                        Ok(false) => return None,
                        Err(error) => {
                            self.failed = Some(error.to_string());
                            return None;
                        }
                    }
                    (block, SourceBlockEncoder::new(0, &code(symbols, size), &bytes))
                }
            };
            if self.coders.len() >= CODERS {
                self.coders.pop_front();
            }
            self.coders.push_back(coder);
        }
        let (_, coder) = self.coders.back()?;
        let nth = self.coded % (NUMBERS - u32::from(symbols));
        self.coded = self.coded.wrapping_add(1);
        let symbol = coder.repair_packets(nth, 1).pop()?;
        self.tally.count_sent(Sent::Coded);
        write(block, symbol.payload_id().encoding_symbol_id(), symbol.data(), room)
    }

    /// A receiver needs a block that is no longer stored.
    fn evicted(&mut self, block: u32) {
        self.requested.remove(&block);
        let bytes = u64::from(self.released) * self.manifest.layout.block_bytes() as u64;
        for peer in self.peers.values_mut().filter(|peer| peer.present && !peer.complete) {
            if peer.report.as_ref().is_some_and(|report| report.base <= block) {
                let message =
                    format!("it joined when the beginning of the stream was gone, {}", megabytes(bytes));
                peer.failed = Some(message);
                self.evicted = true;
            }
        }
    }

    fn forget_one(&mut self) {
        let idle = self.sent.iter().find(|(_, block)| block.want == 0).map(|(number, _)| *number);
        if let Some(number) = idle {
            self.sent.remove(&number);
        }
    }

    fn on_report(&mut self, from: EndpointId, report: Report, now: Time) {
        // no more than there are
        let known = self.symbols().unwrap_or(self.sent_first);
        let symbols = self.symbols_of(&report).min(known);
        let peer = self.peer(from);
        peer.present = true;
        // a reordered report
        if peer.report.as_ref().is_some_and(|last| last.seen > report.seen || last.complete > report.complete)
        {
            return;
        }
        peer.credit.confirm(symbols, now);
        let gained = symbols > peer.max_symbols;
        peer.max_symbols = peer.max_symbols.max(symbols);
        // completion needs a proof
        let expected = self.store.end().map(|complete| complete.possession);
        let peer = self.peer(from);
        peer.complete |=
            expected.is_some_and(|possession| report.proof == Some(tree::proof(&peer.binding, &possession)));
        self.progress += u64::from(gained);
        self.request(from, &report);
        self.peer(from).report = Some(report);
        self.settle();
    }

    /// Requests what a receiver lacks according to its report.
    fn request(&mut self, from: EndpointId, report: &Report) {
        let (alone, shared) = (self.incomplete_peers().count() <= 1, self.is_shared());
        let mut read_blocks = 0;
        for entry in &report.missing {
            for block in entry.numbers() {
                read_blocks += 1;
                if read_blocks > MAX_READ_BLOCKS || entry.symbols == 0 || !self.was_sent(block) {
                    break;
                }
                let symbols = self.manifest.layout.symbols_in(block, self.manifest.kind == Kind::Stream);
                let state = self.sent.entry(block).or_default();
                let missing = entry.symbols.min(symbols.max(1));
                // later symbols may be in flight
                if state.last > report.seen || state.want >= missing {
                    continue;
                }
                let more = missing - state.want;
                let granted = match self.peers.get_mut(&from) {
                    Some(peer) if shared => peer.credit.request(more),
                    _ => more,
                };
                if granted == 0 {
                    return;
                }
                // a receiver without any symbol of a block needs no decoding if the source symbols are retransmitted
                if alone && missing == symbols && state.want == 0 {
                    state.retransmit = Some(0);
                }
                state.want += granted;
                self.requested.insert(block);
            }
        }
    }

    /// Number of symbols that a receiver has, according to its report.
    fn symbols_of(&self, report: &Report) -> u64 {
        let block = u64::from(self.manifest.layout.block_symbols);
        let of_file = report.missing.iter().filter(|entry| !self.is_file() || level(entry.first) == 0);
        let open = of_file.map(|entry| {
            // the last block of a file may have fewer
            let has = self.symbols_in(entry.first).saturating_sub(entry.symbols);
            u64::from(entry.blocks) * u64::from(has)
        });
        open.fold(u64::from(report.complete) * block, u64::saturating_add)
    }

    /// Updates counters and stored blocks by the reports of all receivers.
    fn settle(&mut self) {
        let base = |peer: &Peer| peer.report.as_ref().map_or(0, |report| report.base);
        let complete = |peer: &Peer| peer.report.as_ref().map_or(0, |report| report.complete);
        // without a receiver: one that returns goes on from what it reported last
        if let Some(below) = self.incomplete_peers().map(base).min() {
            self.sent = self.sent.split_off(&below);
            self.requested = self.requested.split_off(&below);
            if self.started {
                self.store.release(below);
                self.released = self.released.max(below);
            }
        }
        let min = self.incomplete_peers().map(complete).min().map(|blocks| {
            (u64::from(blocks) * self.manifest.layout.block_bytes() as u64)
                .min(self.manifest.layout.length.unwrap_or(u64::MAX))
        });
        let complete = self.peers.values().filter(|peer| peer.complete).count();
        match min {
            Some(bytes) => self.tally.set_done(bytes),
            None if complete > 0 => self.tally.set_done(self.manifest.layout.length.unwrap_or(0)),
            None => {}
        }
        self.tally.set_receivers(self.peers.len(), complete);
        self.doubt();
    }

    /// Determines which blocks a receiver may lack: a few of the lowest, since each must be coded.
    fn doubt(&mut self) {
        let mut unconfirmed = BTreeSet::new();
        // who has not said what it has of a file will do so in a moment
        for peer in self.incomplete_peers().filter(|peer| peer.report.is_some() || !self.is_file()) {
            let (until, missing) = match &peer.report {
                Some(report) => (report.until.max(report.base), &report.missing[..]),
                None => (0, &[][..]),
            };
            // what is said may end beyond the maximum number of a block
            let listed =
                missing.iter().flat_map(|entry| entry.first..entry.first.saturating_add(entry.blocks.into()));
            let unknown = until..self.block;
            unconfirmed
                .extend(listed.take(CODERS).chain(unknown.take(CODERS)).filter(|block| *block < self.block));
        }
        self.unconfirmed = unconfirmed.into_iter().take(CODERS).collect();
    }
}

/// Writes a symbol and what stands before it.
fn write(block: u32, number: u32, symbol: &[u8], room: &mut [u8]) -> Option<usize> {
    let length = SYMBOL_HEADER + symbol.len();
    let place = room.get_mut(..length)?;
    messages::write_symbol_header(block, number, place);
    place[SYMBOL_HEADER..].copy_from_slice(symbol);
    Some(length)
}

impl Payload for Fountain {
    fn fill(&mut self, seq: u64, now: Time, room: &mut [u8]) -> usize {
        if self.failed.is_some() {
            return 0;
        }
        if seq < self.seq {
            self.sent.values_mut().for_each(|block| block.last = 0);
        }
        self.seq = seq + 1;
        let ended = self.manifest.hash.is_none() && self.store.end().is_some();
        if now >= self.announce_at || ended {
            return self.announce(now, room);
        }
        if !self.has_begun() {
            return 0;
        }
        if room.len() < SYMBOL_HEADER + usize::from(self.manifest.layout.symbol_bytes) {
            self.failed = Some("packets are too short for the symbols of the file".to_owned());
            return 0;
        }
        let written = self.send_requested(seq, room).or_else(|| self.send_next(seq, room));
        written.or_else(|| self.send_unconfirmed(now, room)).unwrap_or(0)
    }

    fn ready(&mut self, now: Time) -> Time {
        if self.has_begun()
            && (!self.requested.is_empty() || self.next().is_some() || self.may_speculate(now))
        {
            return now;
        }
        self.announce_at.min(now + POLL_INTERVAL).max(now)
    }

    fn bind(&mut self, peer: EndpointId, binding: &[u8; HASH]) {
        self.peer(peer).binding = *binding;
    }

    fn on_join(&mut self, peer: EndpointId) {
        // what it said before, it said in an earlier life; what was sent for it, was sent
        let peer = self.peer(peer);
        (peer.present, peer.report, peer.complete, peer.failed) = (true, None, false, None);
        peer.max_symbols = 0;
        peer.credit.restart();
        self.announce_at = Time::ZERO;
        self.settle();
    }

    fn on_leave(&mut self, peer: EndpointId) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.present = false;
        }
        self.settle();
    }

    fn on_message(&mut self, from: EndpointId, now: Time, message: &[u8]) {
        match Message::read(message) {
            Some(Message::Report(report)) => self.on_report(from, report, now),
            Some(Message::Failed(why)) => {
                self.peer(from).failed = Some(why);
                self.settle();
            }
            _ => {}
        }
    }

    fn progress(&self) -> Option<u64> {
        Some(self.progress)
    }

    fn progress_of(&self, peer: EndpointId) -> Option<u64> {
        let peer = self.peers.get(&peer)?;
        (peer.present && !peer.complete && peer.failed.is_none()).then_some(peer.max_symbols)
    }

    fn pause(&self) -> Pause {
        // more receivers are waited for, or the program
        let all_sent = self.manifest.kind == Kind::Stream && self.manifest.hash.is_none();
        if !self.started || (all_sent && self.requested.is_empty() && self.unconfirmed.is_empty()) {
            return Pause::Local;
        }
        if self.progress > 0 { Pause::Remote } else { Pause::None }
    }

    fn status(&self) -> Status {
        if let Some(why) = &self.failed {
            return Status::Failed(why.clone());
        }
        if self.peers.len() < self.receivers.min.max(1) || self.incomplete_peers().next().is_some() {
            return Status::InProgress;
        }
        let complete = self.peers.values().filter(|peer| peer.complete).count();
        if complete == self.peers.len() {
            return Status::Complete;
        }
        if complete == 0 && self.peers.values().all(|peer| peer.failed.is_none()) {
            // without a receiver, one may return: the session decides how long to wait
            return Status::InProgress;
        }
        let failures: Vec<&str> = self.peers.values().filter_map(|peer| peer.failed.as_deref()).collect();
        let departed = self.peers.len() - complete - failures.len();
        Status::Failed(match (self.peers.len(), &failures[..], departed) {
            (1, [why, ..], _) => format!("the receiver could not store it: {why}"),
            (all, [], _) => format!("{departed} of {all} receivers left before they had the whole"),
            (all, [why, ..], 0) => format!("{} of {all} receivers could not store it: {why}", failures.len()),
            (all, [why, ..], _) => {
                format!("{} of {all} receivers could not store it, {departed} left: {why}", failures.len())
            }
        })
    }

    fn reason(&self) -> Reason {
        if self.evicted { Reason::Gone } else { Reason::Storage }
    }
}
