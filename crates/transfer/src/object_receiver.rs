//! A transfer at its receiver: blocks are verified, stored, delivered in order, and missing ones are reported.
//!
//! Each block of a file is verified by its hash, and discarded if it is wrong; it is then missing again. Data of an
//! earlier attempt in the folder are verified in the same way; the list of blocks beside the file only names the
//! candidates. A stream, whose hash is known only at its end, is verified as a whole.

mod arrivals;
mod checks;
mod reports;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

use super::assembly::Assembly;
use super::bit_set::BitSet;
use super::completed::CompletedBlocks;
use super::destination::Destination;
use super::layout::HASH;
use super::partial::{Found, Partial};
use super::pipe_writer::PipeWriter;
use super::tree::PartialTree;
use super::{Kind, Manifest, Tally, TransferError};

pub(crate) use checks::NextStep;

/// An object that is being received.
pub(crate) struct ObjectReceiver {
    pub(crate) manifest: Manifest,
    /// Complete and verified blocks.
    complete: CompletedBlocks,
    /// Of a file: stored blocks, stored blocks that are not verified yet, and blocks of an earlier attempt.
    present: BitSet,
    unchecked: BitSet,
    from_earlier: BitSet,
    /// Of a file: the known part of its hash tree, and its incomplete blocks of hashes.
    hash_tree: Option<PartialTree>,
    hashes: Assembly,
    assembly: Assembly,
    output: Output,
    /// Of a stream: the hash of the delivered bytes.
    hasher: blake3::Hasher,
    /// Bytes of verified blocks, of the file or of hashes; of a stream, bytes received.
    verified: u64,
    /// Bytes of received symbols that are not verified yet.
    pending: u64,
    /// Proof of possession of the complete blocks.
    possession: [u8; HASH],
    /// Blocks delivered in order, and of a stream hashed.
    delivered: u32,
    /// One past the highest block of which a symbol or hash was received.
    until: u32,
    /// Maximum number of incomplete or undelivered blocks, if they are not stored in a file.
    window: u32,
}

/// Where complete blocks are stored.
enum Output {
    File(Partial),
    /// A file that existed before.
    Existing(File, PathBuf),
    /// In memory, until they are delivered in order.
    Pipe {
        outflow: PipeWriter,
        waiting: BTreeMap<u32, Box<[u8]>>,
    },
}

/// Approximate maximum of bytes in memory.
const KEPT: usize = 48 << 20;
/// Approximate maximum of bytes in memory for a pipe.
const KEPT_FOR_PIPE: usize = 24 << 20;

impl ObjectReceiver {
    pub(crate) fn open(manifest: Manifest, into: Destination, tally: &Tally) -> Result<Self, TransferError> {
        let is_file = manifest.kind == Kind::File;
        let mut complete = CompletedBlocks::default();
        let blocks = if is_file { manifest.layout.blocks() } else { 0 };
        let mut present = BitSet::new(blocks);
        let output = match into {
            Destination::Pipe(pipe) | Destination::Player(pipe) => {
                Output::Pipe { outflow: PipeWriter::new(pipe, 4), waiting: BTreeMap::new() }
            }
            Destination::Folder { path, name, replace, me } => {
                let name = name.as_deref().unwrap_or(&manifest.name);
                super::check_name(name)
                    .map_err(|why| TransferError::Refused(format!("the name {name:?}: {why}")))?;
                match Partial::open(&path, name, &manifest, replace, me.as_ref())? {
                    Found::Room(partial, from_earlier) if is_file => {
                        (0..blocks)
                            .filter(|block| from_earlier.has(*block))
                            .for_each(|block| present.set(block, true));
                        Output::File(partial)
                    }
                    Found::Room(partial, from_earlier) => {
                        complete = from_earlier;
                        Output::File(partial)
                    }
                    Found::Complete(file, path) => {
                        (0..blocks).for_each(|block| present.set(block, true));
                        Output::Existing(file, path)
                    }
                }
            }
        };
        // a stream cannot be verified before its end
        let resumed = u64::from(complete.count()) * manifest.layout.block_bytes() as u64;
        tally.resumed(resumed);
        tally.set_done(resumed);
        let retained = match output {
            Output::Pipe { .. } => KEPT_FOR_PIPE,
            Output::File(_) | Output::Existing(..) => KEPT,
        };
        let window = (KEPT_FOR_PIPE / manifest.layout.block_bytes()).clamp(4, 1 << 16) as u32;
        let root = manifest.hash.filter(|_| is_file);
        Ok(Self {
            complete,
            unchecked: present.clone(),
            from_earlier: present.clone(),
            present,
            hash_tree: root.map(|root| PartialTree::new(manifest.layout, root)),
            hashes: Assembly::new(manifest.layout.symbol_bytes, KEPT),
            assembly: Assembly::new(manifest.layout.symbol_bytes, retained),
            output,
            hasher: blake3::Hasher::new(),
            verified: 0,
            pending: 0,
            possession: [0; HASH],
            delivered: 0,
            until: 0,
            window,
            manifest,
        })
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.manifest.kind == Kind::Stream
    }

    /// The length of a stream became known.
    pub(crate) fn end_known(&mut self, manifest: Manifest, tally: &Tally) {
        if self.manifest.hash.is_none() && manifest.hash.is_some() && manifest.layout.length.is_some() {
            tally.set_total(manifest.layout.length.unwrap_or(0));
            if let Output::File(partial) = &mut self.output {
                partial.set_layout(manifest.layout);
            }
            self.manifest = manifest;
        }
    }

    /// One past the last block that can be stored now.
    fn limit(&self) -> u32 {
        match self.output {
            Output::Pipe { .. } => {
                self.delivered.saturating_add(self.window).min(self.manifest.layout.blocks())
            }
            Output::File(_) | Output::Existing(..) => self.manifest.layout.blocks(),
        }
    }

    fn has(&self, block: u32) -> bool {
        self.complete.has(block) || self.present.has(block)
    }

    fn symbols_in(&self, block: u32) -> u16 {
        self.manifest.layout.symbols_in(block, self.is_stream())
    }

    /// Proof of possession of the whole object.
    pub(crate) const fn possession(&self) -> &[u8; HASH] {
        &self.possession
    }

    /// Received bytes, including bytes that are not verified yet. A block with a wrong hash discounts all unverified
    /// bytes, so that a sender of wrong blocks makes no progress.
    pub(crate) const fn arrived(&self) -> u64 {
        self.verified + self.pending
    }

    /// Counts bytes as verified.
    fn verify(&mut self, bytes: usize) {
        self.verified += bytes as u64;
        self.pending = self.pending.saturating_sub(bytes as u64);
    }

    /// The hash of a block is wrong.
    fn spoil(&mut self, tally: &Tally) {
        self.pending = 0;
        tally.count_spoilt();
    }
}
