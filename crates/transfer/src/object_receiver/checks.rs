//! Verification and delivery of an object: blocks whose hashes arrived later are verified, blocks are delivered in
//! order, and the object is completed.

use std::os::unix::fs::FileExt;

use super::{ObjectReceiver, Output};
use crate::layout::HASH;
use crate::tree::{add, split};
use crate::{Tally, TransferError};

/// Number of blocks hashed per call.
const HASHED_AT_ONCE: u32 = 8;

/// When there is work that does not depend on packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    Never,
    Now,
    /// When a pipe has room.
    Pipe,
}

impl ObjectReceiver {
    /// Verifies, hashes and delivers a few blocks. Returns true after the last one, if the object is right.
    pub(crate) fn advance(&mut self, tally: &Tally) -> Result<bool, TransferError> {
        let all_passed = if self.is_stream() {
            self.pass()?;
            self.manifest.hash.is_some() && self.delivered >= self.manifest.layout.blocks()
        } else {
            self.check(tally)?;
            self.give_out()?;
            self.complete.base() >= self.manifest.layout.blocks()
        };
        if !all_passed {
            return Ok(false);
        }
        if let Output::Pipe { outflow, .. } = &mut self.output
            && (self.delivered < self.manifest.layout.blocks() || !outflow.is_done()?)
        {
            return Ok(false);
        }
        self.finish(tally)
    }

    /// The next block that can be verified now.
    fn to_check(&self) -> Option<u32> {
        let hash_tree = self.hash_tree.as_ref()?;
        let in_one = (self.manifest.layout.block_bytes() / HASH) as u32;
        let mut block = self.unchecked.next(0, true);
        while block < self.manifest.layout.blocks() {
            if hash_tree.expects(block).is_some() {
                return Some(block);
            }
            // the hashes of its neighbours are unknown, too
            block = self.unchecked.next((block / in_one + 1).saturating_mul(in_one), true);
        }
        None
    }

    /// Verifies a few blocks that arrived before their hashes, or are of an earlier attempt.
    fn check(&mut self, tally: &Tally) -> Result<(), TransferError> {
        let mut bytes = Vec::new();
        for _ in 0..HASHED_AT_ONCE {
            let Some(block) = self.to_check() else { return Ok(()) };
            self.unchecked.set(block, false);
            let length = self.manifest.layout.bytes_in(block);
            // a block that cannot be read is missing
            let read = match &mut self.output {
                Output::File(partial) => partial.read(block, &mut bytes).is_ok(),
                Output::Existing(file, _) => {
                    bytes.resize(length, 0);
                    file.read_exact_at(&mut bytes, self.manifest.layout.start(block)).is_ok()
                }
                Output::Pipe { waiting, .. } => waiting.get(&block).is_some_and(|present| {
                    bytes.clear();
                    bytes.extend_from_slice(&present[..length]);
                    true
                }),
            };
            let (hash, possession) = self.leaf(block, &bytes);
            let expected = self.hash_tree.as_ref().and_then(|hash_tree| hash_tree.expects(block));
            if read && expected == Some(hash) {
                add(&mut self.possession, &possession);
                if self.from_earlier.has(block) {
                    tally.add_resumed(length as u64);
                }
                self.is_done(block, tally)?;
                continue;
            }
            if let Output::Existing(_, path) = &self.output {
                tally.resumed(0);
                tally.set_done(0);
                let message = format!("{} is there already, and is another", path.display());
                return Err(TransferError::Refused(message));
            }
            self.present.set(block, false);
            self.from_earlier.set(block, false);
            if let Output::Pipe { waiting, .. } = &mut self.output {
                waiting.remove(&block);
            }
            self.spoil(tally);
        }
        Ok(())
    }

    /// Delivers blocks of a file in order.
    fn give_out(&mut self) -> Result<(), TransferError> {
        let Output::Pipe { outflow, waiting } = &mut self.output else { return Ok(()) };
        while self.delivered < self.complete.base() && outflow.has_room()? {
            let Some(mut bytes) = waiting.remove(&self.delivered).map(<[u8]>::into_vec) else { break };
            bytes.truncate(self.manifest.layout.bytes_in(self.delivered));
            outflow.give(bytes);
            self.delivered += 1;
        }
        Ok(())
    }

    /// Hashes and delivers a few blocks of a stream.
    fn pass(&mut self) -> Result<(), TransferError> {
        let mut bytes = Vec::new();
        for _ in 0..HASHED_AT_ONCE {
            let block = self.delivered;
            if block >= self.complete.base() || self.ends_with(block) {
                break;
            }
            match &mut self.output {
                Output::File(partial) => partial.read(block, &mut bytes)?,
                // the length of a stream, and thus of its file, is unknown
                Output::Existing(..) => break,
                Output::Pipe { outflow, waiting } => {
                    if !outflow.has_room()? {
                        break;
                    }
                    let Some(mut bytes) = waiting.remove(&block).map(<[u8]>::into_vec) else { break };
                    bytes.truncate(self.manifest.layout.bytes_in(block));
                    self.hasher.update(&bytes);
                    outflow.give(bytes);
                    self.delivered += 1;
                    continue;
                }
            }
            self.hasher.update(&bytes);
            self.delivered += 1;
        }
        Ok(())
    }

    /// Verifies the whole object after its last block.
    fn finish(&mut self, tally: &Tally) -> Result<bool, TransferError> {
        if self.is_stream() {
            let (hash, possession) = split(&self.hasher);
            if self.manifest.hash != Some(hash) {
                let what = if let Output::File(partial) = &self.output {
                    partial.disown();
                    "arrived"
                } else {
                    "was given out"
                };
                let message = format!("all of it {what}, but it is not what was sent: its hash differs");
                return Err(TransferError::Refused(message));
            }
            self.possession = possession;
        }
        match &self.output {
            Output::File(partial) => {
                partial.finish()?;
                tally.path(partial.whole_path());
            }
            Output::Existing(_, path) => {
                tally.path(path);
                tally.note(format!("{} was there already, and is the same", path.display()));
            }
            Output::Pipe { .. } => {}
        }
        Ok(true)
    }

    /// When there is a block to verify, to hash or to deliver: at once, when a pipe may have room, or never.
    pub(crate) fn next_step(&self) -> NextStep {
        let blocks = self.manifest.layout.blocks();
        let must_wait = if self.is_stream() {
            let all_passed = self.manifest.hash.is_some() && self.delivered >= blocks;
            all_passed || (self.delivered < self.complete.base() && !self.ends_with(self.delivered))
        } else {
            if self.to_check().is_some() {
                return NextStep::Now;
            }
            let gives = matches!(self.output, Output::Pipe { .. }) && self.delivered < self.complete.base();
            gives || self.complete.base() >= blocks
        };
        match self.output {
            _ if !must_wait => NextStep::Never,
            Output::Pipe { .. } => NextStep::Pipe,
            Output::File(_) | Output::Existing(..) => NextStep::Now,
        }
    }
}
