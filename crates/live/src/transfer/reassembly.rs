//! A byte stream in order, for windowed schemes: the receiving side.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use units::{Duration, Time};

use super::bytes::{HASH, copy_out};
use super::collector::Into;
use super::done::Done;
use super::outflow::Outflow;
use super::partial::{Found, Partial};
use super::refusal::Refusal;
use super::words::Word;
use super::{Kind, Layout, Manifest, Tally, TransferError};
use crate::content::{ByteSink, LONGEST_WORD, Standing, Waits};

/// The receiving side.
pub struct Reassembly {
    manifest: Manifest,
    out: Out,
    tally: Arc<Tally>,
    /// Bytes from the object's beginning that were there when the session began.
    base: u64,
    /// Bytes of the stream that have been taken out of the ring, over all sessions.
    taken: u64,
    /// What has come beyond, some of it with holes.
    ring: VecDeque<u8>,
    /// So many bytes of the ring are there without a hole.
    contiguous: u64,
    most: usize,
    /// Bytes of the stream that have come without a hole.
    came: u64,
    /// Payload given out, and how much of it has been hashed.
    given: u64,
    hashed: u64,
    hasher: blake3::Hasher,
    record: Record,
    /// Hash of the whole, once it is known.
    hash: Option<[u8; HASH]>,
    standing: Standing,
    refusal: Option<Refusal>,
    /// Something came since the session began: the sender knows where to begin.
    heard: bool,
    spoke_at: Option<Time>,
    urgent: bool,
}

/// Where bytes go.
enum Out {
    File { partial: Partial, done: Done },
    There(PathBuf),
    Pipe(Outflow),
}

/// Where in a record the stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Record {
    /// There are none: the length of the whole is known.
    None,
    Head,
    Body(usize),
    Hash,
    Over,
}

/// A receiver says where it stands so often, and until something comes so often.
const SAID_AGAIN: Duration = Duration::from_millis(200);
const SAID_AT_FIRST: Duration = Duration::from_millis(25);
/// Tried again after this, where the way out is full.
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// Bytes given out or hashed at once.
const AT_ONCE: usize = 1 << 18;
/// Bytes given out in one turn.
const TURN: u64 = 4 << 20;

impl Reassembly {
    /// Takes what `manifest` describes, and holds up to `window` bytes beyond those in order.
    ///
    /// # Errors
    /// It cannot be kept there.
    pub fn open(
        manifest: Manifest,
        into: Into,
        window: u32,
        tally: Arc<Tally>,
    ) -> Result<Self, TransferError> {
        let mut base = 0;
        let out = match into {
            Into::Pipe(pipe) => Out::Pipe(Outflow::new(pipe, 16)),
            Into::Folder { path, name, replace, me } => {
                let name = name.as_deref().unwrap_or(&manifest.name);
                super::safe(name)
                    .map_err(|why| TransferError::Refused(format!("the name {name:?}: {why}")))?;
                match Partial::open(&path, name, &manifest, replace, me.as_ref())? {
                    Found::Room(partial, done) => {
                        let there = u64::from(done.base()) * manifest.layout.block_bytes() as u64;
                        base = there.min(manifest.layout.length.unwrap_or(0));
                        Out::File { partial, done }
                    }
                    Found::Whole(mut file, path) => {
                        check(&mut file, &path, &manifest)?;
                        tally.note(format!("{} was there already, and is the same", path.display()));
                        base = manifest.layout.length.unwrap_or(0);
                        Out::There(path)
                    }
                }
            }
        };
        tally.name(&manifest.name);
        tally.set_total(manifest.layout.length.unwrap_or(0));
        tally.resumed(base);
        tally.set_done(base);
        let stream = manifest.kind != Kind::File;
        Ok(Self {
            record: if stream { Record::Head } else { Record::None },
            hash: manifest.hash.filter(|_| !stream),
            manifest,
            out,
            tally,
            base,
            taken: base,
            ring: VecDeque::new(),
            contiguous: 0,
            most: 2 * window as usize,
            came: 0,
            given: base,
            hashed: 0,
            hasher: blake3::Hasher::new(),
            standing: Standing::Going,
            refusal: None,
            heard: false,
            spoke_at: None,
            urgent: true,
        })
    }

    /// Takes what is contiguous out of the ring and gives it out.
    fn advance(&mut self) -> Result<(), TransferError> {
        let mut turn = 0;
        while self.contiguous > 0 && turn < TURN {
            if let Out::Pipe(outflow) = &self.out
                && !outflow.has_room()?
            {
                break;
            }
            let there = usize::try_from(self.contiguous).unwrap_or(usize::MAX).min(AT_ONCE);
            let length = match self.record {
                Record::None => there,
                Record::Head if there < 2 => break,
                Record::Head => {
                    let head = [self.ring[0], self.ring[1]];
                    self.pass(2);
                    let length = usize::from(u16::from_be_bytes(head));
                    self.record = if length == 0 { Record::Hash } else { Record::Body(length) };
                    continue;
                }
                Record::Body(left) => left.min(there),
                Record::Hash if there < HASH => break,
                Record::Hash => {
                    let mut hash = [0; HASH];
                    copy_out(&self.ring, 0, &mut hash);
                    self.hash = Some(hash);
                    self.pass(HASH);
                    self.record = Record::Over;
                    self.tally.set_total(self.given);
                    continue;
                }
                Record::Over => return Err(TransferError::Refused("something follows the end".to_owned())),
            };
            let mut bytes = vec![0; length];
            copy_out(&self.ring, 0, &mut bytes);
            self.pass(length);
            if let Record::Body(left) = self.record {
                self.record = if left == length { Record::Head } else { Record::Body(left - length) };
            }
            self.give(bytes)?;
            turn += length as u64;
        }
        self.catch_up()?;
        self.finish()
    }

    /// Goes on by so many bytes of the stream.
    fn pass(&mut self, bytes: usize) {
        self.ring.drain(..bytes);
        self.contiguous -= bytes as u64;
        self.taken += bytes as u64;
    }

    /// Gives payload out.
    fn give(&mut self, bytes: Vec<u8>) -> Result<(), TransferError> {
        if self.hashed == self.given {
            self.hasher.update(&bytes);
            self.hashed += bytes.len() as u64;
        }
        self.given += bytes.len() as u64;
        self.tally.add_done(bytes.len() as u64);
        match &mut self.out {
            Out::File { partial, done } => {
                partial.write_at(self.given - bytes.len() as u64, &bytes)?;
                let block_bytes = self.manifest.layout.block_bytes() as u64;
                while self.manifest.kind == Kind::File
                    && (u64::from(done.base()) + 1) * block_bytes <= self.given
                {
                    let block = done.base();
                    partial.note(block)?;
                    done.insert(block);
                }
            }
            Out::Pipe(outflow) => outflow.give(bytes),
            Out::There(_) => {}
        }
        Ok(())
    }

    /// Hashes what an earlier attempt had left.
    fn catch_up(&mut self) -> Result<(), TransferError> {
        let mut bytes = Vec::new();
        let Out::File { partial, .. } = &mut self.out else { return Ok(()) };
        for _ in 0..16 {
            let length = (self.given - self.hashed).min(AT_ONCE as u64);
            if length == 0 {
                break;
            }
            bytes.resize(length as usize, 0);
            partial.read_at(self.hashed, &mut bytes)?;
            self.hasher.update(&bytes);
            self.hashed += length;
        }
        Ok(())
    }

    /// When all is there: is it what it should be?
    fn finish(&mut self) -> Result<(), TransferError> {
        let Some(hash) = self.hash else { return Ok(()) };
        if let Out::There(path) = &self.out {
            self.tally.path(path);
            self.become_whole();
            return Ok(());
        }
        if !self.is_all() || self.hashed < self.given {
            return Ok(());
        }
        if let Out::Pipe(outflow) = &self.out
            && !outflow.is_done()?
        {
            return Ok(());
        }
        let right = self.hasher.finalize() == blake3::Hash::from_bytes(hash);
        if let Out::File { partial, .. } = &mut self.out {
            if !right {
                partial.disown();
            } else {
                partial.set_layout(Layout { length: Some(self.given), ..self.manifest.layout });
                partial.finish()?;
                self.tally.path(partial.whole_path());
            }
        }
        if !right {
            let said = "all of it arrived, but it is not what was sent: its hash differs";
            return Err(TransferError::Refused(said.to_owned()));
        }
        self.become_whole();
        Ok(())
    }

    /// Whether all of it has been given out.
    fn is_all(&self) -> bool {
        self.manifest.layout.length.map_or(self.record == Record::Over, |length| self.given >= length)
    }

    fn every(&self) -> Duration {
        if self.heard { SAID_AGAIN } else { SAID_AT_FIRST }
    }

    fn fail(&mut self, error: &TransferError) {
        self.standing = Standing::Failed(error.to_string());
        self.refusal = Some(Refusal::new(error.to_string()));
    }

    fn become_whole(&mut self) {
        self.standing = Standing::Whole;
        self.urgent = true;
    }
}

/// Whether a file that is there is the one that is offered.
fn check(file: &mut std::fs::File, path: &std::path::Path, manifest: &Manifest) -> Result<(), TransferError> {
    let mut hasher = blake3::Hasher::new();
    std::io::copy(file, &mut hasher).map_err(TransferError::at(path))?;
    if Some(*hasher.finalize().as_bytes()) == manifest.hash {
        return Ok(());
    }
    Err(TransferError::Refused(format!("{} is there already, and is another", path.display())))
}

impl ByteSink for Reassembly {
    fn on_open(&mut self) {
        // what came with holes comes again
        self.ring.truncate(usize::try_from(self.contiguous).unwrap_or(0));
        self.base = self.taken + self.contiguous;
        (self.heard, self.urgent) = (false, true);
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> bool {
        self.heard = true;
        if self.standing != Standing::Going {
            // nothing more is needed, and the sender is told so
            return true;
        }
        let at = self.base + offset;
        let Some(begin) = at.checked_sub(self.taken).and_then(|begin| usize::try_from(begin).ok()) else {
            // it begins before what was taken: only what is beyond counts
            let known = usize::try_from(self.taken - at).unwrap_or(usize::MAX);
            return known >= bytes.len() || self.write(offset + known as u64, &bytes[known..]);
        };
        let end = begin + bytes.len();
        if end > self.most {
            return false;
        }
        if self.ring.len() < end {
            self.ring.resize(end, 0);
        }
        let (front, back) = self.ring.as_mut_slices();
        let split = front.len().saturating_sub(begin).min(bytes.len());
        if split > 0 {
            front[begin..begin + split].copy_from_slice(&bytes[..split]);
        }
        if split < bytes.len() {
            let at = begin + split - front.len();
            back[at..at + bytes.len() - split].copy_from_slice(&bytes[split..]);
        }
        true
    }

    fn on_contiguous(&mut self, offset: u64, _now: Time) {
        if self.standing != Standing::Going {
            return;
        }
        self.came = self.came.max(self.base + offset);
        let there = (self.base + offset).saturating_sub(self.taken).min(self.ring.len() as u64);
        self.contiguous = self.contiguous.max(there);
        if self.contiguous >= AT_ONCE as u64
            && let Err(error) = self.advance()
        {
            self.fail(&error);
        }
    }

    fn speak(&mut self, now: Time, word: &mut [u8; LONGEST_WORD]) -> usize {
        if self.standing == Standing::Going
            && let Err(error) = self.advance()
        {
            self.fail(&error);
        }
        if let Some(refusal) = &mut self.refusal {
            return refusal.say(now, word);
        }
        let silent = self.spoke_at.map_or(Duration::MAX, |at| now.saturating_since(at));
        if !self.urgent && silent < self.every() {
            return 0;
        }
        self.urgent = false;
        self.spoke_at = Some(now);
        let whole = self.standing == Standing::Whole;
        let said = Word::Have { id: self.manifest.id, bytes: self.base, whole };
        said.write(word)
    }

    fn wake(&self) -> Time {
        if let Some(refusal) = &self.refusal {
            return refusal.wake();
        }
        let spoke_at = self.spoke_at.unwrap_or(Time::ZERO);
        let waits = self.standing == Standing::Going
            && (self.contiguous > 0 || self.hashed < self.given || self.hash.is_some_and(|_| self.is_all()));
        spoke_at
            + if self.urgent {
                Duration::ZERO
            } else if waits {
                LOOK_EVERY
            } else {
                SAID_AGAIN
            }
    }

    fn moved(&self) -> Option<u64> {
        Some(self.came)
    }

    fn waits(&self) -> Waits {
        match &self.out {
            Out::Pipe(outflow) if outflow.is_full() => Waits::Here,
            // what an earlier attempt left is being hashed
            Out::File { .. } if self.hashed < self.given => Waits::Here,
            _ if self.manifest.kind == Kind::Stream && self.record != Record::Over => Waits::There,
            _ => Waits::Nobody,
        }
    }

    fn standing(&self) -> Standing {
        self.refusal.as_ref().map_or_else(|| self.standing.clone(), Refusal::standing)
    }
}
