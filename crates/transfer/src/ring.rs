//! Received bytes of a stream, with gaps.

use std::collections::VecDeque;

use super::bytes::copy_out;

/// Bytes of a stream from the first that has not been taken out.
#[derive(Debug)]
pub(crate) struct Ring {
    bytes: VecDeque<u8>,
    /// Bytes of the stream that have been taken out.
    taken: u64,
    /// This many bytes are there without a hole.
    contiguous: u64,
    max: usize,
}

impl Ring {
    /// Room for `max` bytes.
    pub(crate) const fn new(max: usize) -> Self {
        Self { bytes: VecDeque::new(), taken: 0, contiguous: 0, max }
    }

    /// Room that there is.
    pub(crate) const fn max(&self) -> usize {
        self.max
    }

    /// Bytes that have been taken out.
    pub(crate) const fn taken(&self) -> u64 {
        self.taken
    }

    /// Bytes that can be taken out.
    pub(crate) fn there(&self) -> usize {
        usize::try_from(self.contiguous).unwrap_or(usize::MAX)
    }

    /// Forgets what came with holes before it, and where the stream is told to begin now.
    pub(crate) fn begin_at_its_end(&mut self) -> u64 {
        self.bytes.truncate(self.there());
        self.taken + self.contiguous
    }

    /// Keeps bytes at `at` of the stream; false where there is no room.
    pub(crate) fn write(&mut self, at: u64, bytes: &[u8]) -> bool {
        let Some(begin) = at.checked_sub(self.taken).and_then(|begin| usize::try_from(begin).ok()) else {
            // it begins before what was taken: only what is beyond counts
            let known = usize::try_from(self.taken - at).unwrap_or(usize::MAX);
            return known >= bytes.len() || self.write(self.taken, &bytes[known..]);
        };
        let end = begin.saturating_add(bytes.len());
        if end > self.max {
            return false;
        }
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        let (front, back) = self.bytes.as_mut_slices();
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

    /// All bytes of the stream below `end` are there.
    pub(crate) fn fill_to(&mut self, end: u64) {
        let there = end.saturating_sub(self.taken).min(self.bytes.len() as u64);
        self.contiguous = self.contiguous.max(there);
    }

    /// Copies the first bytes, which are there.
    pub(crate) fn copy(&self, into: &mut [u8]) {
        copy_out(&self.bytes, 0, into);
    }

    /// Goes on by this many bytes, which are there.
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.bytes.drain(..bytes);
        self.contiguous -= bytes as u64;
        self.taken += bytes as u64;
    }
}
