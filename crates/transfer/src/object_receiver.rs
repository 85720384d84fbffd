//! A transfer at its receiver: blocks are verified, stored, delivered in order, and missing ones are reported.
//!
//! Each block of a file is verified by its hash, and discarded if it is wrong; it is then missing again. Data of an earlier attempt in the folder are
//! verified in the same way; the list of blocks beside the file only names the candidates. A stream, whose hash is known only at its end, is verified
//! as a whole.

mod arrivals;
mod checks;
mod reports;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

use super::assembly::Assembly;
use super::bit_set::BitSet;
use super::collector::Destination;
use super::completed::CompletedBlocks;
use super::layout::HASH;
use super::partial::{Found, Partial};
use super::pipe_writer::PipeWriter;
use super::tree::Known;
use super::{Kind, Manifest, Tally, TransferError};

pub(crate) use checks::NextStep;

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
}
