//! The set of complete blocks.

use std::collections::VecDeque;

/// A set of block numbers without gaps at its start. It uses memory only from the first missing block to the last
/// complete one.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompletedBlocks {
    /// All blocks below are complete. The words begin at `base / 64`.
    base: u32,
    words: VecDeque<u64>,
    count: u32,
}

impl CompletedBlocks {
    /// All blocks below are complete.
    pub(crate) const fn base(&self) -> u32 {
        self.base
    }

    /// Number of complete blocks.
    pub(crate) const fn count(&self) -> u32 {
        self.count
    }

    /// Whether `block` is complete.
    pub(crate) fn has(&self, block: u32) -> bool {
        if block < self.base {
            return true;
        }
        let word = self.words.get((block / 64 - self.base / 64) as usize);
        word.is_some_and(|word| word >> (block % 64) & 1 == 1)
    }

    /// Marks `block` as complete. Returns false if it was before.
    pub(crate) fn insert(&mut self, block: u32) -> bool {
        if self.has(block) {
            return false;
        }
        let at = (block / 64 - self.base / 64) as usize;
        if self.words.len() <= at {
            self.words.resize(at + 1, 0);
        }
        self.words[at] |= 1 << (block % 64);
        self.count += 1;
        while self.words.front().is_some_and(|word| word >> (self.base % 64) & 1 == 1) {
            self.base += 1;
            if self.base.is_multiple_of(64) {
                self.words.pop_front();
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_moves_over_what_was_there_already() {
        let mut done = CompletedBlocks::default();
        for block in (1..200).rev() {
            assert!(done.insert(block));
            assert_eq!(done.base(), 0);
        }
        assert!(!done.insert(7));
        assert!(done.insert(0));
        assert_eq!((done.base(), done.count()), (200, 200));
        assert!(done.has(199) && !done.has(200) && !done.has(100_000));
        assert!(done.insert(201) && done.has(201) && !done.has(200));
    }

    proptest::proptest! {
        #[test]
        fn it_is_a_set(blocks in proptest::collection::vec(0u32..300, 0..400)) {
            let mut done = CompletedBlocks::default();
            let mut set = std::collections::BTreeSet::new();
            for block in blocks {
                proptest::prop_assert_eq!(done.insert(block), set.insert(block));
                proptest::prop_assert_eq!(done.count() as usize, set.len());
                let base = (0..).find(|block| !set.contains(block)).expect("some number is missing");
                proptest::prop_assert_eq!(done.base(), base);
            }
            for block in 0..400 {
                proptest::prop_assert_eq!(done.has(block), set.contains(&block));
            }
        }
    }
}
