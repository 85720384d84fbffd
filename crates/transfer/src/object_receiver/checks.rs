//! What is here of an object: blocks whose hashes came later are checked, blocks are given out in order, and the whole is finished.

use std::os::unix::fs::FileExt;

use super::{ObjectReceiver, Output};
use crate::layout::HASH;
use crate::tree::{add, split};
use crate::{Tally, TransferError};

/// Blocks hashed at once.
const HASHED_AT_ONCE: u32 = 8;

/// When there is something to do that does not wait for packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    Never,
    Now,
    /// As soon as a pipe has room.
    Pipe,
}

impl ObjectReceiver {
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
}
