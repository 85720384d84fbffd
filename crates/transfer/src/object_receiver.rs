//! A transfer at its receiver: blocks are verified, stored, delivered in order, and missing ones are reported.
//!
//! Each block of a file is verified by its hash, and discarded if it is wrong; it is then missing again. Data of an earlier attempt in the folder are
//! verified in the same way; the list of blocks beside the file only names the candidates. A stream, whose hash is known only at its end, is verified
//! as a whole.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::assembly::{Assembly, Spill, SymbolOutcome};
use super::bit_set::BitSet;
use super::collector::Destination;
use super::completed::CompletedBlocks;
use super::layout::{HASH, level};
use super::messages::{MAX_LACKS, MissingSymbols, Report};
use super::partial::{Found, Partial};
use super::pipe_writer::PipeWriter;
use super::tally::Received;
use super::tree::{Known, Leaf, LeafHasher, add, split};
use super::{Kind, Manifest, Tally, TransferError};

/// An object under way.
pub(crate) struct ObjectReceiver {
    pub(crate) manifest: Manifest,
    /// Blocks that are there and right.
    done: CompletedBlocks,
    /// Of a file: blocks that are there, those among them that have not been checked, and those of them that an earlier attempt left.
    there: BitSet,
    unchecked: BitSet,
    left: BitSet,
    /// Of a file: what is known of its hashes, and the blocks of hashes that are being put together.
    known: Option<Known>,
    hashes: Assembly,
    assembly: Assembly,
    out: Output,
    /// Of a stream: the hash of what has passed.
    hasher: blake3::Hasher,
    /// Bytes of blocks, of the file or of hashes, that are here and right; of a stream, that are here.
    verified: u64,
    /// Bytes of symbols that came and may still turn out to be wrong.
    pending: u64,
    /// What proves that the blocks that are done are here.
    possession: [u8; HASH],
    /// Blocks that have been given out, and of a stream hashed, in order.
    passed: u32,
    /// One past the highest block of which anything was seen.
    until: u32,
    /// Blocks that may be open or waiting at once, where they are not kept in a file.
    window: u32,
}

/// Where the bytes of complete blocks are.
enum Output {
    File(Partial),
    /// A file that was there before.
    There(File, PathBuf),
    /// In memory, until their turn comes.
    Pipe {
        outflow: PipeWriter,
        waiting: BTreeMap<u32, Box<[u8]>>,
    },
}

/// About so much is kept in memory.
const KEPT: usize = 48 << 20;
/// And of a pipe so much.
const KEPT_FOR_PIPE: usize = 24 << 20;
/// Blocks hashed at once.
const HASHED_AT_ONCE: u32 = 8;
/// Blocks that are told one by one in a report, at most; whole runs are told beyond.
const TOLD: u32 = 4096;
/// Blocks of hashes that a report asks for, at most.
const HASHES_TOLD: usize = 8;

impl ObjectReceiver {
    pub(crate) fn open(manifest: Manifest, into: Destination, tally: &Tally) -> Result<Self, TransferError> {
        let is_file = manifest.kind == Kind::File;
        let mut done = CompletedBlocks::default();
        let blocks = if is_file { manifest.layout.blocks() } else { 0 };
        let mut there = BitSet::new(blocks);
        let out = match into {
            Destination::Pipe(pipe) | Destination::Player(pipe) => {
                Output::Pipe { outflow: PipeWriter::new(pipe, 4), waiting: BTreeMap::new() }
            }
            Destination::Folder { path, name, replace, me } => {
                let name = name.as_deref().unwrap_or(&manifest.name);
                super::check_name(name)
                    .map_err(|why| TransferError::Refused(format!("the name {name:?}: {why}")))?;
                match Partial::open(&path, name, &manifest, replace, me.as_ref())? {
                    Found::Room(partial, left) if is_file => {
                        (0..blocks).filter(|block| left.has(*block)).for_each(|block| there.set(block, true));
                        Output::File(partial)
                    }
                    Found::Room(partial, left) => {
                        done = left;
                        Output::File(partial)
                    }
                    Found::Whole(file, path) => {
                        (0..blocks).for_each(|block| there.set(block, true));
                        Output::There(file, path)
                    }
                }
            }
        };
        // of a stream nothing is known that it could be checked by before its end
        let resumed = u64::from(done.count()) * manifest.layout.block_bytes() as u64;
        tally.resumed(resumed);
        tally.set_done(resumed);
        let kept = match out {
            Output::Pipe { .. } => KEPT_FOR_PIPE,
            Output::File(_) | Output::There(..) => KEPT,
        };
        let window = (KEPT_FOR_PIPE / manifest.layout.block_bytes()).clamp(4, 1 << 16) as u32;
        let root = manifest.hash.filter(|_| is_file);
        Ok(Self {
            done,
            unchecked: there.clone(),
            left: there.clone(),
            there,
            known: root.map(|root| Known::new(manifest.layout, root)),
            hashes: Assembly::new(manifest.layout.symbol_bytes, KEPT),
            assembly: Assembly::new(manifest.layout.symbol_bytes, kept),
            out,
            hasher: blake3::Hasher::new(),
            verified: 0,
            pending: 0,
            possession: [0; HASH],
            passed: 0,
            until: 0,
            window,
            manifest,
        })
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.manifest.kind == Kind::Stream
    }

    /// The end of a stream became known.
    pub(crate) fn end_known(&mut self, manifest: Manifest, tally: &Tally) {
        if self.manifest.hash.is_none() && manifest.hash.is_some() && manifest.layout.length.is_some() {
            tally.set_total(manifest.layout.length.unwrap_or(0));
            if let Output::File(partial) = &mut self.out {
                partial.set_layout(manifest.layout);
            }
            self.manifest = manifest;
        }
    }

    /// One past the last block that can be kept now.
    fn limit(&self) -> u32 {
        match self.out {
            Output::Pipe { .. } => self.passed.saturating_add(self.window).min(self.manifest.layout.blocks()),
            Output::File(_) | Output::There(..) => self.manifest.layout.blocks(),
        }
    }

    fn has(&self, block: u32) -> bool {
        self.done.has(block) || self.there.has(block)
    }

    fn symbols_in(&self, block: u32) -> u16 {
        self.manifest.layout.symbols_in(block, self.is_stream())
    }

    /// What proves that all of it is here.
    pub(crate) const fn possession(&self) -> &[u8; HASH] {
        &self.possession
    }

    /// Bytes that are here, of which some may still turn out to be wrong. A block that is wrong takes all of these with it, so that a sender of wrong
    /// blocks makes no progress.
    pub(crate) const fn arrived(&self) -> u64 {
        self.verified + self.pending
    }

    /// These bytes are here and right.
    fn verify(&mut self, bytes: usize) {
        self.verified += bytes as u64;
        self.pending = self.pending.saturating_sub(bytes as u64);
    }

    /// A block is wrong.
    fn spoil(&mut self, tally: &Tally) {
        self.pending = 0;
        tally.count_spoilt();
    }

    // ---- what comes

    pub(crate) fn on_symbol(
        &mut self,
        block: u32,
        number: u32,
        bytes: &[u8],
        tally: &Tally,
    ) -> Result<Received, TransferError> {
        let arrived = self.arrived();
        let taken = self.take_symbol(block, number, bytes, tally)?;
        // one that completes a block has been decided on
        if matches!(taken, Received::Useful) && self.arrived() == arrived {
            self.pending += bytes.len() as u64;
        }
        Ok(taken)
    }

    fn take_symbol(
        &mut self,
        block: u32,
        number: u32,
        bytes: &[u8],
        tally: &Tally,
    ) -> Result<Received, TransferError> {
        if self.known.is_some() && level(block) > 0 {
            return Ok(self.on_hash_symbol(block, number, bytes, tally));
        }
        if block >= self.limit() {
            return Ok(Received::Unkept);
        }
        self.until = self.until.max(block + 1);
        if self.has(block) {
            return Ok(Received::Useless);
        }
        let symbols = self.symbols_in(block);
        let step = match &mut self.out {
            Output::File(partial) => self.assembly.take(block, symbols, number, bytes, partial),
            Output::There(..) | Output::Pipe { .. } => {
                self.assembly.take(block, symbols, number, bytes, &mut NoSpill)
            }
        };
        let step =
            step.map_err(|source| TransferError::File { path: "the partial file".to_owned(), source })?;
        match step {
            SymbolOutcome::New => {}
            SymbolOutcome::Duplicate => return Ok(Received::Useless),
            SymbolOutcome::NoRoom => return Ok(Received::Unkept),
            SymbolOutcome::Complete(bytes) => self.on_bytes(block, bytes, tally)?,
            SymbolOutcome::CompleteSpilled if self.is_stream() => self.is_done(block, tally)?,
            SymbolOutcome::CompleteSpilled => {
                self.there.set(block, true);
                self.unchecked.set(block, true);
            }
        }
        Ok(Received::Useful)
    }

    /// A symbol of a block of hashes.
    fn on_hash_symbol(&mut self, block: u32, number: u32, bytes: &[u8], tally: &Tally) -> Received {
        let symbols = self.symbols_in(block);
        let Some(known) = self.known.as_ref().filter(|_| symbols > 0) else { return Received::Unkept };
        if known.has(block) {
            return Received::Useless;
        }
        let max = (KEPT / self.manifest.layout.block_bytes()).max(1);
        if !known.can_check(block) || !self.hashes.has_room(block, max) {
            return Received::Unkept;
        }
        match self.hashes.take(block, symbols, number, bytes, &mut NoSpill) {
            Ok(SymbolOutcome::Complete(bytes)) => {
                self.on_hashes(block, &bytes, tally);
                Received::Useful
            }
            Ok(SymbolOutcome::New) => Received::Useful,
            Ok(SymbolOutcome::Duplicate) => Received::Useless,
            Ok(SymbolOutcome::NoRoom | SymbolOutcome::CompleteSpilled) | Err(_) => Received::Unkept,
        }
    }

    /// A block of hashes is there: it counts if it is right.
    fn on_hashes(&mut self, block: u32, bytes: &[u8], tally: &Tally) {
        let bytes = bytes.get(..self.manifest.layout.size_of(block)).unwrap_or(&[]);
        if let Some(known) = self.known.as_mut().filter(|known| !known.has(block)) {
            if known.take(block, bytes) { self.verify(bytes.len()) } else { self.spoil(tally) }
        }
    }

    /// A whole block of a byte stream, of the file or of hashes. What cannot be kept is forgotten, and lacking.
    pub(crate) fn on_block(
        &mut self,
        block: u32,
        bytes: Box<[u8]>,
        tally: &Tally,
    ) -> Result<(), TransferError> {
        if level(block) > 0 {
            self.on_hashes(block, &bytes, tally);
            return Ok(());
        }
        self.until = self.until.max(block.saturating_add(1));
        if block >= self.limit() || self.has(block) {
            return Ok(());
        }
        self.on_bytes(block, bytes, tally)
    }

    /// The bytes of a block are there: they are kept if they are right, or cannot be checked yet.
    fn on_bytes(&mut self, block: u32, bytes: Box<[u8]>, tally: &Tally) -> Result<(), TransferError> {
        if self.is_stream() {
            self.keep(block, bytes)?;
            return self.is_done(block, tally);
        }
        let expected = self.known.as_ref().and_then(|known| known.expects(block));
        let leaf = expected.map(|expected| (expected, self.leaf(block, &bytes)));
        if leaf.is_some_and(|(expected, (hash, _))| expected != hash) {
            self.spoil(tally);
            return Ok(());
        }
        self.keep(block, bytes)?;
        self.there.set(block, true);
        match leaf {
            Some((_, (_, possession))) => {
                add(&mut self.possession, &possession);
                self.is_done(block, tally)
            }
            None => {
                self.unchecked.set(block, true);
                Ok(())
            }
        }
    }

    fn leaf(&self, block: u32, bytes: &[u8]) -> Leaf {
        let mut leafing = LeafHasher::new(block);
        leafing.update(&bytes[..bytes.len().min(self.manifest.layout.bytes_in(block))]);
        leafing.finish()
    }

    /// A block is there and right.
    fn is_done(&mut self, block: u32, tally: &Tally) -> Result<(), TransferError> {
        if let Output::File(partial) = &self.out
            && !self.left.has(block)
        {
            partial.note(block)?;
        }
        self.done.insert(block);
        self.verify(self.manifest.layout.bytes_in(block));
        tally.add_done(self.manifest.layout.bytes_in(block) as u64);
        Ok(())
    }

    /// Keeps a complete block.
    fn keep(&mut self, block: u32, bytes: Box<[u8]>) -> Result<(), TransferError> {
        match &mut self.out {
            Output::File(partial) => {
                partial.keep(block, &bytes)?;
                // what comes in order need not be read again
                if self.is_stream() && block == self.passed && !self.ends_with(block) {
                    self.hasher.update(&bytes[..self.manifest.layout.bytes_in(block)]);
                    self.passed += 1;
                }
            }
            Output::Pipe { waiting, .. } => {
                waiting.insert(block, bytes);
            }
            Output::There(..) => {}
        }
        Ok(())
    }

    /// Whether a block may be the last of a stream whose end is not known: then it is not known how much of it counts.
    fn ends_with(&self, block: u32) -> bool {
        self.manifest.layout.length.is_none() && block + 1 >= self.until
    }

    // ---- what is there

    /// Checks, hashes and gives out a few blocks; true when that was the last, and the whole is as it should be.
    pub(crate) fn advance(&mut self, tally: &Tally) -> Result<bool, TransferError> {
        let all_passed = if self.is_stream() {
            self.pass()?;
            self.manifest.hash.is_some() && self.passed >= self.manifest.layout.blocks()
        } else {
            self.check(tally)?;
            self.give_out()?;
            self.done.base() >= self.manifest.layout.blocks()
        };
        if !all_passed {
            return Ok(false);
        }
        if let Output::Pipe { outflow, .. } = &mut self.out
            && (self.passed < self.manifest.layout.blocks() || !outflow.is_done()?)
        {
            return Ok(false);
        }
        self.finish(tally)
    }

    /// The next block that can be checked by now.
    fn to_check(&self) -> Option<u32> {
        let known = self.known.as_ref()?;
        let in_one = (self.manifest.layout.block_bytes() / HASH) as u32;
        let mut block = self.unchecked.next(0, true);
        while block < self.manifest.layout.blocks() {
            if known.expects(block).is_some() {
                return Some(block);
            }
            // nothing is known of its neighbours, either
            block = self.unchecked.next((block / in_one + 1).saturating_mul(in_one), true);
        }
        None
    }

    /// Checks a few blocks that came before their hashes, or were left by an earlier attempt.
    fn check(&mut self, tally: &Tally) -> Result<(), TransferError> {
        let mut bytes = Vec::new();
        for _ in 0..HASHED_AT_ONCE {
            let Some(block) = self.to_check() else { return Ok(()) };
            self.unchecked.set(block, false);
            let length = self.manifest.layout.bytes_in(block);
            // what cannot be read is not there
            let read = match &mut self.out {
                Output::File(partial) => partial.read(block, &mut bytes).is_ok(),
                Output::There(file, _) => {
                    bytes.resize(length, 0);
                    file.read_exact_at(&mut bytes, self.manifest.layout.start(block)).is_ok()
                }
                Output::Pipe { waiting, .. } => waiting.get(&block).is_some_and(|there| {
                    bytes.clear();
                    bytes.extend_from_slice(&there[..length]);
                    true
                }),
            };
            let (hash, possession) = self.leaf(block, &bytes);
            let expected = self.known.as_ref().and_then(|known| known.expects(block));
            if read && expected == Some(hash) {
                add(&mut self.possession, &possession);
                if self.left.has(block) {
                    tally.add_resumed(length as u64);
                }
                self.is_done(block, tally)?;
                continue;
            }
            if let Output::There(_, path) = &self.out {
                tally.resumed(0);
                tally.set_done(0);
                let said = format!("{} is there already, and is another", path.display());
                return Err(TransferError::Refused(said));
            }
            self.there.set(block, false);
            self.left.set(block, false);
            if let Output::Pipe { waiting, .. } = &mut self.out {
                waiting.remove(&block);
            }
            self.spoil(tally);
        }
        Ok(())
    }

    /// Gives blocks of a file out in order.
    fn give_out(&mut self) -> Result<(), TransferError> {
        let Output::Pipe { outflow, waiting } = &mut self.out else { return Ok(()) };
        while self.passed < self.done.base() && outflow.has_room()? {
            let Some(mut bytes) = waiting.remove(&self.passed).map(<[u8]>::into_vec) else { break };
            bytes.truncate(self.manifest.layout.bytes_in(self.passed));
            outflow.give(bytes);
            self.passed += 1;
        }
        Ok(())
    }

    /// Hashes and gives out a few blocks of a stream.
    fn pass(&mut self) -> Result<(), TransferError> {
        let mut bytes = Vec::new();
        for _ in 0..HASHED_AT_ONCE {
            let block = self.passed;
            if block >= self.done.base() || self.ends_with(block) {
                break;
            }
            match &mut self.out {
                Output::File(partial) => partial.read(block, &mut bytes)?,
                // of a stream no length is known that a file could have
                Output::There(..) => break,
                Output::Pipe { outflow, waiting } => {
                    if !outflow.has_room()? {
                        break;
                    }
                    let Some(mut bytes) = waiting.remove(&block).map(<[u8]>::into_vec) else { break };
                    bytes.truncate(self.manifest.layout.bytes_in(block));
                    self.hasher.update(&bytes);
                    outflow.give(bytes);
                    self.passed += 1;
                    continue;
                }
            }
            self.hasher.update(&bytes);
            self.passed += 1;
        }
        Ok(())
    }

    /// All is there: is it what it should be?
    fn finish(&mut self, tally: &Tally) -> Result<bool, TransferError> {
        if self.is_stream() {
            let (hash, possession) = split(&self.hasher);
            if self.manifest.hash != Some(hash) {
                let what = if let Output::File(partial) = &self.out {
                    partial.disown();
                    "arrived"
                } else {
                    "was given out"
                };
                let said = format!("all of it {what}, but it is not what was sent: its hash differs");
                return Err(TransferError::Refused(said));
            }
            self.possession = possession;
        }
        match &self.out {
            Output::File(partial) => {
                partial.finish()?;
                tally.path(partial.whole_path());
            }
            Output::There(_, path) => {
                tally.path(path);
                tally.note(format!("{} was there already, and is the same", path.display()));
            }
            Output::Pipe { .. } => {}
        }
        Ok(true)
    }

    /// When there is something to check, to hash, to give out or to finish: at once, when a pipe may have room, or not at all.
    pub(crate) fn next_step(&self) -> NextStep {
        let blocks = self.manifest.layout.blocks();
        let waits = if self.is_stream() {
            let all_passed = self.manifest.hash.is_some() && self.passed >= blocks;
            all_passed || (self.passed < self.done.base() && !self.ends_with(self.passed))
        } else {
            if self.to_check().is_some() {
                return NextStep::Now;
            }
            let gives = matches!(self.out, Output::Pipe { .. }) && self.passed < self.done.base();
            gives || self.done.base() >= blocks
        };
        match self.out {
            _ if !waits => NextStep::Never,
            Output::Pipe { .. } => NextStep::Pipe,
            Output::File(_) | Output::There(..) => NextStep::Now,
        }
    }

    // ---- what is lacking

    pub(crate) fn report(&self, seen: u64, proof: Option<[u8; super::tree::PROOF]>) -> Report {
        let base = self.done.base();
        let mut report = Report {
            proof,
            seen,
            base,
            until: base,
            limit: self.limit(),
            complete: self.done.count(),
            lacks: Vec::new(),
        };
        let missing = self.known.iter().flat_map(Known::missing).take(HASHES_TOLD);
        report.lacks.extend(missing.map(|of| {
            let symbols = self.hashes.lacks(of, self.symbols_in(of));
            MissingSymbols { first: of, blocks: 1, symbols }
        }));
        for block in base..self.until.min(base.saturating_add(TOLD)) {
            if !self.has(block) {
                let lacks = self.assembly.lacks(block, self.symbols_in(block));
                if !push(&mut report.lacks, block, lacks) {
                    return report;
                }
            }
            report.until = block + 1;
        }
        if report.until >= self.until && !self.is_stream() {
            self.report_beyond(&mut report);
        }
        report
    }

    /// Tells of blocks of which nothing was seen: those that are there, and runs of those that are not. This is the map by which a sender passes over
    /// what an earlier attempt left.
    fn report_beyond(&self, report: &mut Report) {
        let blocks = self.manifest.layout.blocks();
        while report.until < blocks {
            let gap = self.there.next(report.until, false);
            if gap >= blocks {
                report.until = blocks;
                return;
            }
            // the last block may have fewer symbols
            let end = self.there.next(gap, true);
            let end = if gap + 1 < blocks { end.min(blocks - 1) } else { end };
            let max = u32::from(u16::MAX);
            let run = MissingSymbols {
                first: gap,
                blocks: (end - gap).min(max) as u16,
                symbols: self.symbols_in(gap),
            };
            if report.lacks.len() >= MAX_LACKS {
                report.until = gap;
                return;
            }
            report.lacks.push(run);
            report.until = gap + u32::from(run.blocks);
        }
    }
}

/// Adds a block that lacks something; false where there is no room.
fn push(lacks: &mut Vec<MissingSymbols>, block: u32, symbols: u16) -> bool {
    let full = lacks.len() >= MAX_LACKS;
    match lacks.last_mut() {
        Some(last)
            if last.symbols == symbols
                && last.first + u32::from(last.blocks) == block
                && last.blocks < u16::MAX =>
        {
            last.blocks += 1;
        }
        _ if full => return false,
        _ => lacks.push(MissingSymbols { first: block, blocks: 1, symbols }),
    }
    true
}

/// When there is something to do that does not wait for packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    Never,
    Now,
    /// As soon as a pipe has room.
    Pipe,
}

/// What is given out in order is kept in memory only.
struct NoSpill;

impl Spill for NoSpill {
    fn put(&mut self, _: u32, _: usize, _: &[u8]) -> std::io::Result<()> {
        Err(std::io::ErrorKind::OutOfMemory.into())
    }

    fn get(&mut self, _: u32, _: usize, _: &mut [u8]) -> std::io::Result<()> {
        Err(std::io::ErrorKind::OutOfMemory.into())
    }
}
