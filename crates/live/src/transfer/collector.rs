//! The receiving side of a fountain: puts blocks together, keeps them where they belong, says what is lacking, and checks the whole.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use units::{Duration, Time};

use super::assembly::{Assembly, Shelf, Step};
use super::done::Done;
use super::identity::Identity;
use super::outflow::Outflow;
use super::partial::{Found, Partial};
use super::refusal::Refusal;
use super::tally::Received;
use super::words::{self, Content, Lack, MOST_LACKS, Report, Word};
use super::{Kind, Manifest, Tally, TransferError};
use crate::content::{LONGEST_WORD, Sink, Standing, Waits};

/// Where what is received goes.
pub enum Into {
    /// Into a folder, under the name that the sender proposes or another.
    Folder {
        /// The folder. It must be there.
        path: PathBuf,
        /// Another name.
        name: Option<String>,
        /// A file that is there already is replaced, once the new one is whole.
        replace: bool,
        /// Who this receiver is, where it calls the sender.
        me: Option<Identity>,
    },
    /// To a program, in order.
    Pipe(Box<dyn Write + Send>),
}

/// A receiver of one object.
pub struct Collector {
    into: Option<Into>,
    tally: Arc<Tally>,
    work: Option<Box<Work>>,
    standing: Standing,
    refusal: Option<Refusal>,
    /// Symbols that came and were of use.
    useful: u64,
    /// The highest number of a packet seen.
    seen: u64,
    spoke_at: Option<Time>,
    looked_at: Time,
    /// Something came since it last spoke, or happened that the sender should know at once.
    news: bool,
    urgent: bool,
}

/// An object under way.
struct Work {
    manifest: Manifest,
    done: Done,
    assembly: Assembly,
    out: Out,
    hasher: blake3::Hasher,
    /// Blocks whose bytes have been hashed, and given out where they are given out in order.
    passed: u32,
    /// One past the highest block of which anything was seen.
    until: u32,
    /// Blocks that may be open or waiting at once, where they are not kept in a file.
    window: u32,
}

/// Where the bytes of complete blocks are.
enum Out {
    File(Partial),
    /// A file that was there before.
    There(File, PathBuf),
    /// In memory, until their turn comes.
    Pipe {
        outflow: Outflow,
        waiting: BTreeMap<u32, Box<[u8]>>,
    },
}

/// About so much is kept in memory.
const KEPT: usize = 48 << 20;
/// And of a pipe so much.
const KEPT_FOR_PIPE: usize = 24 << 20;
/// Blocks hashed at once.
const HASHED_AT_ONCE: u32 = 8;
/// A receiver that gets nothing says where it stands so often.
const SAID_AGAIN: Duration = Duration::from_millis(250);
/// How long after a full pipe was found it is tried again.
const PIPE_AGAIN: Duration = Duration::from_millis(2);
/// Blocks of which a report tells at most.
const TOLD: u32 = 4096;

impl Collector {
    /// A receiver of whatever is announced first.
    pub fn new(into: Into, tally: Arc<Tally>) -> Self {
        Self {
            into: Some(into),
            tally,
            work: None,
            standing: Standing::Going,
            refusal: None,
            useful: 0,
            seen: 0,
            spoke_at: None,
            looked_at: Time::ZERO,
            news: false,
            urgent: false,
        }
    }

    /// What is being received, once that was said.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.work.as_ref().map(|work| &work.manifest)
    }

    fn on_announce(&mut self, manifest: Manifest) -> Result<(), TransferError> {
        if let Some(work) = &mut self.work {
            if !work.manifest.same(&manifest) {
                return Err(TransferError::Refused("the sender began to send something else".to_owned()));
            }
            work.end_known(manifest, &self.tally);
            return Ok(());
        }
        if let Kind::Timely(_) = manifest.kind {
            return Err(TransferError::Refused("what is sent is a live stream, not a file".to_owned()));
        }
        let Some(into) = self.into.take() else { return Ok(()) };
        let work = Work::open(manifest, into, &self.tally)?;
        self.tally.name(&work.manifest.name);
        self.tally.set_total(work.manifest.layout.length.unwrap_or(0));
        self.work = Some(Box::new(work));
        self.urgent = true;
        Ok(())
    }

    fn fail(&mut self, error: &TransferError) {
        if self.standing == Standing::Going {
            self.standing = Standing::Failed(error.to_string());
            self.refusal = Some(Refusal::new(error.to_string()));
        }
    }

    /// Hashes and gives out what is next; finishes when that was the last.
    fn advance(&mut self) {
        let Some(work) = self.work.as_mut().filter(|_| self.standing == Standing::Going) else { return };
        match work.advance(&self.tally) {
            Ok(false) => {}
            Ok(true) => {
                self.standing = Standing::Whole;
                self.urgent = true;
            }
            Err(error) => self.fail(&error),
        }
    }
}

impl Work {
    fn open(manifest: Manifest, into: Into, tally: &Tally) -> Result<Self, TransferError> {
        let mut done = Done::default();
        let out = match into {
            Into::Pipe(pipe) => Out::Pipe { outflow: Outflow::new(pipe, 4), waiting: BTreeMap::new() },
            Into::Folder { path, name, replace, me } => {
                let name = name.as_deref().unwrap_or(&manifest.name);
                super::safe(name)
                    .map_err(|why| TransferError::Refused(format!("the name {name:?}: {why}")))?;
                match Partial::open(&path, name, &manifest, replace, me.as_ref())? {
                    Found::Room(partial, left) => {
                        done = left;
                        Out::File(partial)
                    }
                    Found::Whole(file, path) => {
                        for block in 0..manifest.layout.blocks() {
                            done.insert(block);
                        }
                        Out::There(file, path)
                    }
                }
            }
        };
        let resumed = u64::from(done.count()) * manifest.layout.block_bytes() as u64;
        let resumed = resumed.min(manifest.layout.length.unwrap_or(u64::MAX));
        tally.resumed(resumed);
        tally.set_done(resumed);
        let kept = match out {
            Out::Pipe { .. } => KEPT_FOR_PIPE,
            Out::File(_) | Out::There(..) => KEPT,
        };
        let window = (KEPT_FOR_PIPE / manifest.layout.block_bytes()).clamp(4, 1 << 16) as u32;
        Ok(Self {
            done,
            assembly: Assembly::new(manifest.layout.symbol_bytes, kept),
            out,
            hasher: blake3::Hasher::new(),
            passed: 0,
            until: 0,
            window,
            manifest,
        })
    }

    fn is_stream(&self) -> bool {
        self.manifest.kind == Kind::Stream
    }

    /// The end of a stream became known.
    fn end_known(&mut self, manifest: Manifest, tally: &Tally) {
        if self.manifest.hash.is_none() && manifest.hash.is_some() && manifest.layout.length.is_some() {
            tally.set_total(manifest.layout.length.unwrap_or(0));
            if let Out::File(partial) = &mut self.out {
                partial.set_layout(manifest.layout);
            }
            self.manifest = manifest;
        }
    }

    /// One past the last block that can be kept now.
    fn limit(&self) -> u32 {
        match self.out {
            Out::Pipe { .. } => self.passed.saturating_add(self.window).min(self.manifest.layout.blocks()),
            Out::File(_) | Out::There(..) => self.manifest.layout.blocks(),
        }
    }

    fn on_symbol(
        &mut self,
        block: u32,
        number: u32,
        bytes: &[u8],
        tally: &Tally,
    ) -> Result<Received, TransferError> {
        if block >= self.limit() {
            return Ok(Received::Unkept);
        }
        self.until = self.until.max(block + 1);
        if self.done.has(block) {
            return Ok(Received::Useless);
        }
        let symbols = self.manifest.layout.symbols_in(block, self.is_stream());
        let step = match &mut self.out {
            Out::File(partial) => self.assembly.take(block, symbols, number, bytes, partial),
            Out::There(..) | Out::Pipe { .. } => {
                self.assembly.take(block, symbols, number, bytes, &mut NoShelf)
            }
        };
        let step =
            step.map_err(|source| TransferError::File { path: "the partial file".to_owned(), source })?;
        match step {
            Step::Useful => return Ok(Received::Useful),
            Step::Useless => return Ok(Received::Useless),
            Step::Unkept => return Ok(Received::Unkept),
            Step::Complete(bytes) => self.keep(block, bytes)?,
            Step::Shelved => {}
        }
        if let Out::File(partial) = &self.out {
            partial.note(block)?;
        }
        self.done.insert(block);
        tally.add_done(self.manifest.layout.bytes_in(block) as u64);
        Ok(Received::Useful)
    }

    /// Keeps a complete block.
    fn keep(&mut self, block: u32, bytes: Box<[u8]>) -> Result<(), TransferError> {
        match &mut self.out {
            Out::File(partial) => {
                partial.keep(block, &bytes)?;
                // what comes in order need not be read again
                if block == self.passed && !self.ends_with(block) {
                    self.hasher.update(&bytes[..self.manifest.layout.bytes_in(block)]);
                    self.passed += 1;
                }
            }
            Out::Pipe { waiting, .. } => {
                waiting.insert(block, bytes);
            }
            Out::There(..) => {}
        }
        Ok(())
    }

    /// Whether a block may be the last of a stream whose end is not known: then it is not known how much of it counts.
    fn ends_with(&self, block: u32) -> bool {
        self.manifest.layout.length.is_none() && block + 1 >= self.until
    }

    /// Hashes and gives out a few blocks; true when that was the last, and the whole is as it should be.
    fn advance(&mut self, tally: &Tally) -> Result<bool, TransferError> {
        let mut bytes = Vec::new();
        for _ in 0..HASHED_AT_ONCE {
            let block = self.passed;
            if block >= self.done.base() || self.ends_with(block) {
                break;
            }
            let length = self.manifest.layout.bytes_in(block);
            match &mut self.out {
                Out::File(partial) => partial.read(block, &mut bytes)?,
                Out::There(file, path) => {
                    bytes.resize(length, 0);
                    file.read_exact_at(&mut bytes, self.manifest.layout.start(block))
                        .map_err(TransferError::at(path))?;
                }
                Out::Pipe { outflow, waiting } => {
                    if !outflow.has_room()? {
                        break;
                    }
                    let Some(mut block) = waiting.remove(&block).map(<[u8]>::into_vec) else { break };
                    block.truncate(length);
                    self.hasher.update(&block);
                    outflow.give(block);
                    self.passed += 1;
                    continue;
                }
            }
            self.hasher.update(&bytes);
            self.passed += 1;
        }
        let Some(hash) = self.manifest.hash.filter(|_| self.passed >= self.manifest.layout.blocks()) else {
            return Ok(false);
        };
        if let Out::Pipe { outflow, .. } = &mut self.out
            && !outflow.is_done()?
        {
            return Ok(false);
        }
        self.finish(hash, tally)
    }

    /// All is there: is it what it should be?
    fn finish(&mut self, hash: [u8; 32], tally: &Tally) -> Result<bool, TransferError> {
        let right = self.hasher.finalize() == blake3::Hash::from_bytes(hash);
        let said = match &self.out {
            Out::File(partial) if right => {
                partial.finish()?;
                tally.path(partial.whole_path());
                return Ok(true);
            }
            Out::There(_, path) if right => {
                tally.path(path);
                tally.note(format!("{} was there already, and is the same", path.display()));
                return Ok(true);
            }
            Out::Pipe { .. } if right => return Ok(true),
            Out::File(partial) => {
                partial.disown();
                "all of it arrived, but it is not what was sent: its hash differs".to_owned()
            }
            Out::There(_, path) => {
                // none of it is what was sent
                tally.resumed(0);
                tally.set_done(0);
                format!("{} is there already, and is another", path.display())
            }
            Out::Pipe { .. } => {
                "all of it was given out, but it is not what was sent: its hash differs".to_owned()
            }
        };
        Err(TransferError::Refused(said))
    }

    fn report(&self, seen: u64, whole: bool) -> Report {
        let base = self.done.base();
        let mut report = Report {
            whole,
            seen,
            base,
            until: base,
            limit: self.limit(),
            complete: self.done.count(),
            lacks: Vec::new(),
        };
        for block in base..self.until.min(base.saturating_add(TOLD)) {
            if !self.done.has(block) {
                let symbols = self.manifest.layout.symbols_in(block, self.is_stream());
                let lacks = self.assembly.lacks(block, symbols);
                let full = report.lacks.len() == MOST_LACKS;
                match report.lacks.last_mut() {
                    Some(last)
                        if last.symbols == lacks
                            && last.first + u32::from(last.blocks) == block
                            && last.blocks < u16::MAX =>
                    {
                        last.blocks += 1;
                    }
                    _ if full => break,
                    _ => report.lacks.push(Lack { first: block, blocks: 1, symbols: lacks }),
                }
            }
            report.until = block + 1;
        }
        report
    }

    /// Whether there is something to hash, to give out or to finish.
    fn is_behind(&self) -> bool {
        let all_passed = self.manifest.hash.is_some() && self.passed >= self.manifest.layout.blocks();
        all_passed || (self.passed < self.done.base() && !self.ends_with(self.passed))
    }
}

/// What is given out in order is kept in memory only.
struct NoShelf;

impl Shelf for NoShelf {
    fn put(&mut self, _: u32, _: usize, _: &[u8]) -> std::io::Result<()> {
        Err(std::io::ErrorKind::OutOfMemory.into())
    }

    fn get(&mut self, _: u32, _: usize, _: &mut [u8]) -> std::io::Result<()> {
        Err(std::io::ErrorKind::OutOfMemory.into())
    }
}

impl Sink for Collector {
    fn on_open(&mut self) {
        self.seen = 0;
        self.urgent = self.work.is_some();
    }

    fn take(&mut self, seq: u64, _now: Time, content: &[u8]) {
        self.seen = self.seen.max(seq);
        self.news = true;
        if self.standing != Standing::Going {
            return;
        }
        let taken = match words::read_content(content) {
            Some(Content::Announce(manifest)) => self.on_announce(manifest),
            Some(Content::Symbol { block, number, bytes }) => match &mut self.work {
                Some(work) => work.on_symbol(block, number, bytes, &self.tally).map(|what| {
                    self.useful += u64::from(matches!(what, Received::Useful));
                    self.tally.count_received(what);
                }),
                None => {
                    self.tally.count_received(Received::Unkept);
                    Ok(())
                }
            },
            Some(Content::Chunk { .. } | Content::Nothing) | None => Ok(()),
        };
        if let Err(error) = taken {
            self.fail(&error);
        }
    }

    fn speak(&mut self, now: Time, word: &mut [u8; LONGEST_WORD]) -> usize {
        self.advance();
        self.looked_at = now;
        if let Some(refusal) = &mut self.refusal {
            return refusal.say(now, word);
        }
        let every = self.work.as_ref().map_or(SAID_AGAIN, |work| work.manifest.report_every);
        let silent = self.spoke_at.map_or(Duration::MAX, |at| now.saturating_since(at));
        let due = self.urgent || (self.news && silent >= every) || silent >= SAID_AGAIN.max(every);
        if !due {
            return 0;
        }
        let Some(work) = &self.work else { return 0 };
        let said = Word::Report(work.report(self.seen, self.standing == Standing::Whole));
        (self.news, self.urgent) = (false, false);
        self.spoke_at = Some(now);
        said.write(word)
    }

    fn wake(&self) -> Time {
        if let Some(refusal) = &self.refusal {
            return refusal.wake();
        }
        let Some(work) = &self.work else { return Time::NEVER };
        let spoke_at = self.spoke_at.unwrap_or(Time::ZERO);
        let every = work.manifest.report_every;
        let report = spoke_at + if self.news { every } else { SAID_AGAIN.max(every) };
        let behind = match work.out {
            _ if self.standing != Standing::Going || !work.is_behind() => Time::NEVER,
            Out::Pipe { .. } => self.looked_at + PIPE_AGAIN,
            Out::File(_) | Out::There(..) => Time::ZERO,
        };
        if self.urgent { Time::ZERO } else { report.min(behind) }
    }

    fn moved(&self) -> Option<u64> {
        Some(self.useful)
    }

    fn waits(&self) -> Waits {
        match &self.work {
            // its own program takes nothing, or what an earlier attempt left is being hashed
            Some(work) if matches!(&work.out, Out::Pipe { outflow, .. } if outflow.is_full()) => Waits::Here,
            Some(work) if work.is_behind() => Waits::Here,
            Some(work) if work.is_stream() && work.manifest.hash.is_none() => Waits::There,
            _ => Waits::Nobody,
        }
    }

    fn standing(&self) -> Standing {
        self.refusal.as_ref().map_or_else(|| self.standing.clone(), Refusal::standing)
    }
}
