//! A file as a byte stream of whole blocks, for windowed schemes: each block after its number. The state machine
//! retransmits lost data, so that there is no coding.
//!
//! The receiver first reports its state, and the missing blocks follow, blocks of hashes first. A block with a wrong
//! hash is reported as missing again, and is retransmitted at the end of the stream.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use contract::EndpointId;
use units::Time;

use super::collector::Collector;
use super::destination::Destination;
use super::layout::{HASH, level};
use super::messages::{Message, Report};
use super::ring::Ring;
use super::{FileStore, Manifest, Tally, TransferError, tree};
use crate::{ByteSink, ByteSource, MAX_MESSAGE_BYTES, Pause, Sink, Status};

/// Bytes of a block's number before it.
const HEAD: u64 = 4;
/// Maximum bytes in the stream beyond those that the transport accepted.
const AHEAD: u64 = 32 << 20;
/// Maximum number of blocks of a report that are checked for wrong ones.
const MAX_READ_BLOCKS: usize = 4096;

/// The sending side.
pub struct BlockSource {
    store: FileStore,
    manifest: Manifest,
    tally: Arc<Tally>,
    binding: [u8; HASH],
    /// The last report of the receiver in this session.
    report: Option<Report>,
    /// Blocks of hashes that are to be sent, and those to be retransmitted.
    hashes: VecDeque<u32>,
    retransmit: VecDeque<u32>,
    /// The next block of the file.
    next: u32,
    /// Blocks in the stream with their offsets. Accepted ones are removed.
    frames: VecDeque<(u64, u32)>,
    /// The current end of the stream, and the offset below which the transport accepted all.
    end: u64,
    accepted: u64,
    /// The end offset of each block that the receiver may lack.
    sent: BTreeMap<u32, u64>,
    all_received: bool,
    /// Bytes that the transport accepted, over all sessions.
    progress: u64,
    /// Maximum number of blocks that the receiver reported as complete. It increases while the transport sends what it
    /// accepted, up to its send buffer.
    complete: u32,
    failed: Option<String>,
}

impl BlockSource {
    /// The blocks of a file.
    pub fn new(store: FileStore, manifest: &Manifest, tally: Arc<Tally>) -> Self {
        Self {
            store,
            manifest: manifest.clone(),
            tally,
            binding: [0; HASH],
            report: None,
            hashes: VecDeque::new(),
            retransmit: VecDeque::new(),
            next: 0,
            frames: VecDeque::new(),
            end: 0,
            accepted: 0,
            sent: BTreeMap::new(),
            all_received: false,
            progress: 0,
            complete: 0,
            failed: None,
        }
    }

    fn on_report(&mut self, report: Report) {
        if self.report.as_ref().is_some_and(|last| last.seen > report.seen || last.complete > report.complete)
        {
            return;
        }
        let expected = tree::proof(&self.binding, self.store.possession());
        self.all_received |= report.proof == Some(expected);
        self.tally.set_receivers(1, usize::from(self.all_received));
        let layout = &self.manifest.layout;
        let done = (u64::from(report.complete) * layout.block_bytes() as u64).min(layout.length.unwrap_or(0));
        self.tally.set_done(if self.all_received { layout.length.unwrap_or(0) } else { done });
        // blocks of hashes are above all others
        let above = self.sent.split_off(&super::layout::id(1, 0));
        self.sent = self.sent.split_off(&report.base);
        self.sent.extend(above);
        let mut read_blocks = 0;
        for entry in &report.missing {
            for block in entry.numbers() {
                read_blocks += 1;
                if read_blocks > MAX_READ_BLOCKS || (level(block) == 0 && block >= self.next) {
                    break;
                }
                // later blocks were in flight when the report was sent
                if self.sent.get(&block).is_some_and(|end| *end <= report.seen) || self.was_passed_over(block)
                {
                    self.sent.insert(block, u64::MAX);
                    self.retransmit.push_back(block);
                }
            }
        }
        self.complete = self.complete.max(report.complete);
        self.report = Some(report);
    }

    /// Whether the receiver has reported a block of the file, so that it was not sent.
    fn was_passed_over(&self, block: u32) -> bool {
        level(block) == 0 && block < self.next && !self.sent.contains_key(&block)
    }

    /// The block to be sent next.
    fn take_next(&mut self) -> Option<u32> {
        self.report.as_ref()?;
        if let Some(block) = self.hashes.pop_front() {
            return Some(block);
        }
        if let Some(block) = self.retransmit.pop_front() {
            // it may be wrong because the file has changed since it was hashed
            let mut bytes = vec![0; self.manifest.layout.size_of(block)];
            let read = self.store.read_of(block, 0, &mut bytes);
            if let Err(error) = read.and_then(|()| self.store.check(block, &bytes)) {
                self.failed.get_or_insert(error.to_string());
            }
            return Some(block);
        }
        let report = self.report.as_ref()?;
        self.next = report.next_lacking(self.next);
        let limit = report.until.min(report.limit).min(self.manifest.layout.blocks());
        (self.next < limit).then(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// Copies bytes of a frame from `at` on. Returns how many.
    fn copy(&self, block: u32, at: u64, room: &mut [u8]) -> Result<usize, TransferError> {
        let head = block.to_be_bytes();
        if let Some(rest) = head.get(at as usize..).filter(|rest| !rest.is_empty()) {
            let length = rest.len().min(room.len());
            room[..length].copy_from_slice(&rest[..length]);
            return Ok(length);
        }
        let at = (at - HEAD) as usize;
        let length = room.len().min(self.manifest.layout.size_of(block).saturating_sub(at));
        self.store.read_of(block, at, &mut room[..length])?;
        Ok(length)
    }
}

impl ByteSource for BlockSource {
    fn ready(&mut self, _now: Time) -> u64 {
        while self.end < self.accepted + AHEAD {
            let Some(block) = self.take_next() else { break };
            self.frames.push_back((self.end, block));
            self.end += HEAD + self.manifest.layout.size_of(block) as u64;
            self.sent.insert(block, self.end);
        }
        self.end
    }

    /// Wrong blocks are retransmitted; the stream ends when the receiver reports that it is complete.
    fn end(&self) -> Option<u64> {
        None
    }

    fn read(&mut self, offset: u64, room: &mut [u8]) {
        let mut at = self.frames.partition_point(|(start, _)| *start <= offset).saturating_sub(1);
        let (mut offset, mut filled) = (offset, 0);
        while filled < room.len() {
            let Some((start, block)) = self.frames.get(at).copied() else { break };
            match self.copy(block, offset - start, &mut room[filled..]) {
                Ok(0) => at += 1,
                Ok(length) => (offset, filled) = (offset + length as u64, filled + length),
                Err(error) => {
                    self.failed.get_or_insert(error.to_string());
                    room[filled..].fill(0);
                    return;
                }
            }
        }
    }

    fn on_accepted(&mut self, offset: u64) {
        self.progress += offset.saturating_sub(self.accepted);
        self.accepted = offset;
        while self.frames.get(1).is_some_and(|(start, _)| *start <= offset) {
            self.frames.pop_front();
        }
    }

    fn bind(&mut self, _peer: EndpointId, binding: &[u8; HASH]) {
        self.binding = *binding;
    }

    fn on_join(&mut self, _peer: EndpointId) {
        self.report = None;
        self.hashes = self.manifest.layout.hash_blocks().into();
        (self.next, self.end, self.accepted) = (0, 0, 0);
        self.retransmit.clear();
        self.frames.clear();
        self.sent.clear();
        self.tally.set_receivers(1, 0);
    }

    fn on_message(&mut self, _from: EndpointId, _now: Time, message: &[u8]) {
        match Message::read(message) {
            Some(Message::Report(report)) => self.on_report(report),
            Some(Message::Failed(why)) => {
                self.failed.get_or_insert(format!("the receiver could not store it: {why}"));
            }
            _ => {}
        }
    }

    fn progress(&self) -> Option<u64> {
        Some(self.progress + u64::from(self.complete))
    }

    fn pause(&self) -> Pause {
        if self.progress > 0 { Pause::Remote } else { Pause::None }
    }

    fn status(&self) -> Status {
        match &self.failed {
            _ if self.all_received => Status::Complete,
            Some(why) => Status::Failed(why.clone()),
            None => Status::InProgress,
        }
    }
}

/// The receiving side: divides the stream into blocks.
pub struct BlockSink {
    inner: Collector,
    ring: Ring,
    /// The block that is being received, and its bytes so far.
    block: Option<(u32, Vec<u8>, usize)>,
}

impl BlockSink {
    /// Receives the object of `manifest`, and stores up to `window` bytes out of order.
    pub fn new(manifest: Manifest, into: Destination, window: u32, tally: Arc<Tally>) -> Self {
        let inner = Collector::of(manifest, into, tally);
        Self { inner, ring: Ring::new(2 * window as usize), block: None }
    }

    /// Stores the next bytes of the stream directly in the block that is being received, except for its last byte,
    /// which completes it in [`Self::cut`]. Returns how many were stored: none if earlier bytes are missing or wait in
    /// the ring.
    fn append(&mut self, offset: u64, bytes: &[u8]) -> usize {
        let Some((_, block, length)) = &mut self.block else { return 0 };
        if !self.ring.is_at(offset) {
            return 0;
        }
        let direct = bytes.len().min(*length - 1 - block.len());
        block.extend_from_slice(&bytes[..direct]);
        self.ring.skip(direct);
        direct
    }

    fn cut(&mut self) {
        while self.ring.available() > 0 {
            let Some((block, bytes, length)) = &mut self.block else {
                if self.ring.available() < HEAD as usize {
                    return;
                }
                let mut head = [0; HEAD as usize];
                self.ring.copy(&mut head);
                self.ring.pass(head.len());
                let number = u32::from_be_bytes(head);
                let Some(length) = self.inner.size_of(number) else {
                    let message = "the received data are not blocks of the offered object".to_owned();
                    return self.inner.fail(&TransferError::Refused(message));
                };
                self.block = Some((number, Vec::with_capacity(length), length));
                continue;
            };
            let there = bytes.len();
            let more = self.ring.available().min(*length - there);
            bytes.resize(there + more, 0);
            self.ring.copy(&mut bytes[there..]);
            self.ring.pass(more);
            if bytes.len() == *length {
                let (block, bytes) = (*block, std::mem::take(bytes));
                self.block = None;
                self.inner.take_block(self.ring.consumed(), block, bytes.into());
            }
        }
    }
}

impl ByteSink for BlockSink {
    fn bind(&mut self, binding: &[u8; HASH]) {
        self.inner.bind(binding);
    }

    fn verifies(&self) -> bool {
        self.inner.verifies()
    }

    fn on_open(&mut self) {
        self.ring = Ring::new(self.ring.max());
        self.block = None;
        self.inner.on_open();
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> bool {
        if self.inner.status() != Status::InProgress {
            // when the object is complete, the sender is informed
            return true;
        }
        let direct = self.append(offset, bytes);
        self.ring.write(offset + direct as u64, &bytes[direct..])
    }

    fn on_contiguous(&mut self, offset: u64, _now: Time) {
        self.ring.fill_to(offset);
        if self.inner.status() == Status::InProgress {
            self.cut();
            self.inner.count(self.block.as_ref().map_or(0, |(_, bytes, _)| bytes.len()));
        }
    }

    fn write_message(&mut self, now: Time, message: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        self.inner.write_message(now, message)
    }

    fn wake(&self) -> Time {
        self.inner.wake()
    }

    fn progress(&self) -> Option<u64> {
        self.inner.progress()
    }

    fn pause(&self) -> Pause {
        self.inner.pause()
    }

    fn status(&self) -> Status {
        self.inner.status()
    }
}
