//! Hashes of a file's blocks, and a Merkle tree above them: its root is in the manifest, so that each block can be
//! verified as soon as it is complete.
//!
//! The concatenated hashes of all blocks of the file are divided into blocks of the same size, which are level 1. If
//! level 1 has more than one block, their hashes are level 2, and so on up to a level of one block. A block of hashes
//! is sent like a block of the file; the level is in the highest byte of its number.

use super::layout::{HASH, Layout, id, index, level};

/// The public hash of a block, and its proof of possession, which only those can compute who have the bytes.
pub(crate) type Leaf = ([u8; HASH], [u8; HASH]);

/// Computes the hash of one block incrementally.
pub(crate) struct LeafHasher(blake3::Hasher);

impl LeafHasher {
    /// For the block of the file with this number: equal blocks at different positions have different hashes.
    pub(crate) fn new(block: u32) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("thalweg 2 block");
        hasher.update(&block.to_be_bytes());
        Self(hasher)
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn finish(&self) -> Leaf {
        split(&self.0)
    }
}

/// The first 32 bytes of the output are the public hash, the next 32 the proof of possession.
pub(crate) fn split(hasher: &blake3::Hasher) -> Leaf {
    let mut both = [0; 2 * HASH];
    hasher.finalize_xof().fill(&mut both);
    let (hash, possession) = both.split_at(HASH);
    (std::array::from_fn(|n| hash[n]), std::array::from_fn(|n| possession[n]))
}

/// Combines the proof of a block with the proofs of others, in any order. The sum cannot be computed without each of
/// them.
pub(crate) fn add(possession: &mut [u8; HASH], of: &[u8; HASH]) {
    possession.iter_mut().zip(of).for_each(|(byte, of)| *byte ^= of);
}

/// The proof of possession of the whole file in a session with the channel binding `binding`.
pub(crate) fn proof(binding: &[u8; HASH], possession: &[u8; HASH]) -> [u8; PROOF] {
    let hash = blake3::keyed_hash(binding, possession);
    std::array::from_fn(|n| hash.as_bytes()[n])
}

/// Bytes of a proof.
pub(crate) const PROOF: usize = 16;

/// The hash of a block of hashes.
fn node(id: u32, bytes: &[u8]) -> [u8; HASH] {
    let mut hasher = blake3::Hasher::new_derive_key("thalweg 2 node");
    hasher.update(&id.to_be_bytes());
    hasher.update(bytes);
    *hasher.finalize().as_bytes()
}

/// The root: the layout of the file, and the hash of the only block of the highest level.
fn root(layout: &Layout, top: &[u8; HASH]) -> [u8; HASH] {
    let mut hasher = blake3::Hasher::new_derive_key("thalweg 2 root");
    hasher.update(&layout.length.unwrap_or(0).to_be_bytes());
    hasher.update(&layout.symbol_bytes.to_be_bytes());
    hasher.update(&layout.block_symbols.to_be_bytes());
    hasher.update(top);
    *hasher.finalize().as_bytes()
}

/// The hash tree of a complete file.
#[derive(Debug)]
pub(crate) struct Tree {
    levels: Vec<Vec<u8>>,
    block_bytes: usize,
    pub(crate) root: [u8; HASH],
    /// Proof of possession of the whole file.
    pub(crate) possession: [u8; HASH],
}

/// Builds a tree incrementally from the bytes of the file.
pub(crate) struct TreeBuilder {
    layout: Layout,
    hashes: Vec<u8>,
    possession: [u8; HASH],
    leaf: LeafHasher,
    filled: usize,
}

impl TreeBuilder {
    pub(crate) fn new(layout: Layout) -> Self {
        Self { layout, hashes: Vec::new(), possession: [0; HASH], leaf: LeafHasher::new(0), filled: 0 }
    }

    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(self.layout.block_bytes() - self.filled));
            self.leaf.update(now);
            self.filled += now.len();
            if self.filled == self.layout.block_bytes() {
                self.end_block();
            }
            bytes = rest;
        }
    }

    fn end_block(&mut self) {
        let (hash, possession) = self.leaf.finish();
        self.hashes.extend(hash);
        add(&mut self.possession, &possession);
        self.leaf = LeafHasher::new((self.hashes.len() / HASH) as u32);
        self.filled = 0;
    }

    pub(crate) fn finish(mut self) -> Tree {
        if self.filled > 0 {
            self.end_block();
        }
        let block_bytes = self.layout.block_bytes();
        let mut levels = vec![self.hashes];
        while let Some(below) = levels.last().filter(|below| below.len() > block_bytes) {
            let hashes = below.chunks(block_bytes).enumerate();
            let hashes = hashes.flat_map(|(at, bytes)| node(id(levels.len() as u32, at as u32), bytes));
            levels.push(hashes.collect());
        }
        let top = levels.last().map_or([0; HASH], |top| node(id(levels.len() as u32, 0), top));
        let root = root(&self.layout, &top);
        Tree { levels, block_bytes, root, possession: self.possession }
    }
}

impl Tree {
    /// Whether these are the bytes of a block of the file.
    pub(crate) fn fits(&self, block: u32, bytes: &[u8]) -> bool {
        let mut leafing = LeafHasher::new(block);
        leafing.update(bytes);
        let at = block as usize * HASH;
        self.levels.first().and_then(|hashes| hashes.get(at..at + HASH)) == Some(&leafing.finish().0[..])
    }

    /// The bytes of a block of hashes.
    pub(crate) fn read(&self, of: u32) -> Option<&[u8]> {
        let bytes = self.levels.get((level(of) as usize).checked_sub(1)?)?;
        bytes.chunks(self.block_bytes).nth(index(of) as usize)
    }
}

/// The verified part of a hash tree at a receiver.
#[derive(Debug)]
pub(crate) struct PartialTree {
    layout: Layout,
    root: [u8; HASH],
    levels: Vec<Vec<u8>>,
    /// Received blocks of hashes, by level.
    received: Vec<Vec<bool>>,
    /// Missing blocks of hashes, from the highest level down.
    missing: std::collections::BTreeSet<std::cmp::Reverse<u32>>,
}

impl PartialTree {
    /// Only the root is known.
    pub(crate) fn new(layout: Layout, root: [u8; HASH]) -> Self {
        let bytes: Vec<u64> = layout.hash_levels();
        let block_bytes = layout.block_bytes() as u64;
        let blocks = |bytes: &u64| bytes.div_ceil(block_bytes) as usize;
        let received: Vec<Vec<bool>> = bytes.iter().map(|bytes| vec![false; blocks(bytes)]).collect();
        let all = received.iter().enumerate();
        let all =
            all.flat_map(|(at, received)| (0..received.len()).map(move |n| id(at as u32 + 1, n as u32)));
        let missing = all.map(std::cmp::Reverse).collect();
        let levels = bytes.iter().map(|bytes| vec![0; *bytes as usize]).collect();
        Self { layout, root, levels, received, missing }
    }

    /// Whether a block of hashes was received.
    pub(crate) fn has(&self, of: u32) -> bool {
        let level = (level(of) as usize).checked_sub(1).and_then(|at| self.received.get(at));
        level.and_then(|received| received.get(index(of) as usize)).copied().unwrap_or(false)
    }

    /// Missing blocks of hashes, in the order in which they are needed.
    pub(crate) fn missing(&self) -> impl Iterator<Item = u32> {
        self.missing.iter().map(|id| id.0)
    }

    /// The expected hash of a block, of hashes or of the file; `None` if it is unknown.
    pub(crate) fn expects(&self, of: u32) -> Option<[u8; HASH]> {
        let above = level(of) as usize;
        let block_bytes = self.layout.block_bytes();
        let at = index(of) as usize * HASH;
        let hashes = self.levels.get(above)?;
        self.received.get(above)?.get(at / block_bytes).filter(|received| **received)?;
        hashes.get(at..at + HASH)?.first_chunk().copied()
    }

    /// Whether a block of hashes can be verified now.
    pub(crate) fn can_check(&self, of: u32) -> bool {
        level(of) as usize == self.levels.len() || self.expects(of).is_some()
    }

    /// Adds a block of hashes. Returns false if its hash is wrong.
    pub(crate) fn take(&mut self, of: u32, bytes: &[u8]) -> bool {
        let hash = node(of, bytes);
        let right = if level(of) as usize == self.levels.len() {
            index(of) == 0 && root(&self.layout, &hash) == self.root
        } else {
            self.expects(of) == Some(hash)
        };
        let start = index(of) as usize * self.layout.block_bytes();
        let level = (level(of) as usize).wrapping_sub(1);
        let room = self.levels.get_mut(level).and_then(|hashes| hashes.get_mut(start..start + bytes.len()));
        let received = self.received.get_mut(level).and_then(|received| received.get_mut(index(of) as usize));
        let (Some(room), Some(received), true) = (room, received, right) else { return false };
        room.copy_from_slice(bytes);
        *received = true;
        self.missing.remove(&std::cmp::Reverse(of));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::content;
    use super::*;

    fn tree(bytes: &[u8], layout: Layout, piece: usize) -> Tree {
        let mut growing = TreeBuilder::new(layout);
        bytes.chunks(piece).for_each(|piece| growing.update(piece));
        growing.finish()
    }

    fn leaf(block: u32, bytes: &[u8]) -> Leaf {
        let mut leafing = LeafHasher::new(block);
        leafing.update(bytes);
        leafing.finish()
    }

    #[test]
    fn every_block_is_checked_from_the_root_down() {
        // blocks of 64 bytes hold two hashes: 40 blocks have levels of 40, 20, 10, 5, 3 and 2 hashes
        let bytes = content(40 * 64 - 5);
        let layout = Layout { length: Some(bytes.len() as u64), symbol_bytes: 16, block_symbols: 4 };
        let tree = tree(&bytes, layout, 100);
        assert_eq!(tree.root, self::tree(&bytes, layout, 1).root, "in whatever pieces it comes");
        assert_eq!(layout.hash_levels(), [1280, 640, 320, 160, 96, 64]);
        let mut known = PartialTree::new(layout, tree.root);
        assert_eq!(known.expects(0), None);
        let ids: Vec<u32> = known.missing().collect();
        assert_eq!(ids.len(), 20 + 10 + 5 + 3 + 2 + 1);
        for id in ids {
            let right = tree.read(id).expect("it is there").to_vec();
            assert_eq!(right.len(), layout.size_of(id));
            assert!(known.can_check(id) && !known.has(id));
            for at in [0, right.len() - 1] {
                let mut wrong = right.clone();
                wrong[at] ^= 1;
                assert!(!known.take(id, &wrong), "{id:x}");
            }
            assert!(known.take(id, &right) && known.has(id), "{id:x}");
        }
        let mut possession = [0; HASH];
        for (block, bytes) in (0..).zip(bytes.chunks(64)) {
            let (hash, own) = leaf(block, bytes);
            assert_eq!(known.expects(block), Some(hash));
            add(&mut possession, &own);
        }
        assert_eq!(possession, tree.possession);
        assert_eq!(known.expects(40), None);
    }

    #[test]
    fn equal_blocks_do_not_cancel_and_a_hash_says_nothing_of_what_proves_possession() {
        let layout = Layout { length: Some(128), symbol_bytes: 16, block_symbols: 4 };
        let zeros = tree(&[0; 128], layout, 128);
        assert_ne!(zeros.possession, [0; HASH]);
        let (hash, possession) = leaf(0, &[0; 64]);
        assert_ne!(hash, possession);
        assert_ne!(proof(&[1; HASH], &possession), proof(&[2; HASH], &possession));
    }

    #[test]
    fn a_file_cut_otherwise_has_another_root_and_an_empty_one_has_one() {
        let bytes = content(1000);
        let of = |symbol_bytes| Layout { length: Some(1000), symbol_bytes, block_symbols: 4 };
        assert_ne!(tree(&bytes, of(16), 99).root, tree(&bytes, of(18), 99).root);
        let empty = Layout { length: Some(0), ..of(16) };
        assert_eq!(empty.hash_levels(), [0; 0]);
        assert_ne!(tree(&[], empty, 1).root, [0; HASH]);
        assert_eq!(PartialTree::new(empty, tree(&[], empty, 1).root).missing().count(), 0);
    }
}
