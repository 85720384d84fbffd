//! Received parts of an object: symbols, and complete blocks of a byte stream. A block of a file is verified by its
//! hash, and discarded if it is wrong.

use super::{KEPT, ObjectReceiver, Output};
use crate::assembly::{Spill, SymbolOutcome};
use crate::layout::level;
use crate::tally::Received;
use crate::tree::{Leaf, LeafHasher, add};
use crate::{Tally, TransferError};

impl ObjectReceiver {
    pub(crate) fn on_symbol(
        &mut self,
        block: u32,
        number: u32,
        bytes: &[u8],
        tally: &Tally,
    ) -> Result<Received, TransferError> {
        let arrived = self.arrived();
        let taken = self.take_symbol(block, number, bytes, tally)?;
        // a symbol that completes a block was counted with the block
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
        if self.hash_tree.is_some() && level(block) > 0 {
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
        let step = match &mut self.output {
            Output::File(partial) => self.assembly.take(block, symbols, number, bytes, partial),
            Output::Existing(..) | Output::Pipe { .. } => {
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
                self.present.set(block, true);
                self.unchecked.set(block, true);
            }
        }
        Ok(Received::Useful)
    }

    /// Adds a symbol of a block of hashes.
    fn on_hash_symbol(&mut self, block: u32, number: u32, bytes: &[u8], tally: &Tally) -> Received {
        let symbols = self.symbols_in(block);
        let Some(hash_tree) = self.hash_tree.as_ref().filter(|_| symbols > 0) else {
            return Received::Unkept;
        };
        if hash_tree.has(block) {
            return Received::Useless;
        }
        let max = (KEPT / self.manifest.layout.block_bytes()).max(1);
        if !hash_tree.can_check(block) || !self.hashes.has_room(block, max) {
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

    /// A block of hashes is complete: it counts if its hash is right.
    fn on_hashes(&mut self, block: u32, bytes: &[u8], tally: &Tally) {
        let bytes = bytes.get(..self.manifest.layout.size_of(block)).unwrap_or(&[]);
        if let Some(hash_tree) = self.hash_tree.as_mut().filter(|hash_tree| !hash_tree.has(block)) {
            if hash_tree.take(block, bytes) { self.verify(bytes.len()) } else { self.spoil(tally) }
        }
    }

    /// A complete block of a byte stream, of the file or of hashes. If it cannot be stored, it is discarded and remains
    /// missing.
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

    /// A block is complete: it is stored if its hash is right or cannot be verified yet.
    fn on_bytes(&mut self, block: u32, bytes: Box<[u8]>, tally: &Tally) -> Result<(), TransferError> {
        if self.is_stream() {
            self.keep(block, bytes)?;
            return self.is_done(block, tally);
        }
        let expected = self.hash_tree.as_ref().and_then(|hash_tree| hash_tree.expects(block));
        let leaf = expected.map(|expected| (expected, self.leaf(block, &bytes)));
        if leaf.is_some_and(|(expected, (hash, _))| expected != hash) {
            self.spoil(tally);
            return Ok(());
        }
        self.keep(block, bytes)?;
        self.present.set(block, true);
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

    pub(super) fn leaf(&self, block: u32, bytes: &[u8]) -> Leaf {
        let mut leafing = LeafHasher::new(block);
        leafing.update(&bytes[..bytes.len().min(self.manifest.layout.bytes_in(block))]);
        leafing.finish()
    }

    /// A block is complete and verified.
    pub(super) fn is_done(&mut self, block: u32, tally: &Tally) -> Result<(), TransferError> {
        if let Output::File(partial) = &self.output
            && !self.from_earlier.has(block)
        {
            partial.note(block)?;
        }
        self.complete.insert(block);
        self.verify(self.manifest.layout.bytes_in(block));
        tally.add_done(self.manifest.layout.bytes_in(block) as u64);
        Ok(())
    }

    /// Stores a complete block.
    fn keep(&mut self, block: u32, bytes: Box<[u8]>) -> Result<(), TransferError> {
        match &mut self.output {
            Output::File(partial) => {
                partial.keep(block, &bytes)?;
                // a block in order need not be read from disk again
                if self.is_stream() && block == self.delivered && !self.ends_with(block) {
                    self.hasher.update(&bytes[..self.manifest.layout.bytes_in(block)]);
                    self.delivered += 1;
                }
            }
            Output::Pipe { waiting, .. } => {
                waiting.insert(block, bytes);
            }
            Output::Existing(..) => {}
        }
        Ok(())
    }

    /// Whether a block may be the last of a stream of unknown length: then its number of valid bytes is unknown.
    pub(super) fn ends_with(&self, block: u32) -> bool {
        self.manifest.layout.length.is_none() && block + 1 >= self.until
    }
}

/// Blocks that are delivered in order are stored in memory only.
struct NoSpill;

impl Spill for NoSpill {
    fn put(&mut self, _: u32, _: usize, _: &[u8]) -> std::io::Result<()> {
        Err(std::io::ErrorKind::OutOfMemory.into())
    }

    fn get(&mut self, _: u32, _: usize, _: &mut [u8]) -> std::io::Result<()> {
        Err(std::io::ErrorKind::OutOfMemory.into())
    }
}
