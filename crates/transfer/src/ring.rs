//! Received bytes of a stream, with gaps.

use std::collections::VecDeque;

use super::bytes::copy_out;

/// Bytes of a stream from the first that was not consumed.
#[derive(Debug)]
pub(crate) struct Ring {
    bytes: VecDeque<u8>,
    /// Consumed bytes of the stream.
    consumed: u64,
    /// Number of contiguous bytes.
    contiguous: u64,
    max: usize,
}

impl Ring {
    /// A buffer for `max` bytes.
    pub(crate) const fn new(max: usize) -> Self {
        Self { bytes: VecDeque::new(), consumed: 0, contiguous: 0, max }
    }

    /// Free space in bytes.
    pub(crate) const fn max(&self) -> usize {
        self.max
    }

    /// Number of consumed bytes.
    pub(crate) const fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Number of bytes that can be consumed.
    pub(crate) fn available(&self) -> usize {
        usize::try_from(self.contiguous).unwrap_or(usize::MAX)
    }

    /// Whether nothing is stored, and the byte at offset `at` of the stream is the next one.
    pub(crate) fn is_at(&self, at: u64) -> bool {
        self.bytes.is_empty() && at == self.consumed
    }

    /// Counts this many bytes as consumed that were never stored. The ring must be empty.
    pub(crate) fn skip(&mut self, bytes: usize) {
        debug_assert!(self.bytes.is_empty(), "stored bytes come before them");
        self.consumed += bytes as u64;
    }

    /// Discards bytes beyond gaps, and restarts at the offset that the sender announced.
    pub(crate) fn begin_at_its_end(&mut self) -> u64 {
        self.bytes.truncate(self.available());
        self.consumed + self.contiguous
    }

    /// Stores bytes at offset `at` of the stream. Returns false if there is no room.
    pub(crate) fn write(&mut self, at: u64, bytes: &[u8]) -> bool {
        let Some(begin) = at.checked_sub(self.consumed).and_then(|begin| usize::try_from(begin).ok()) else {
            // the part before the consumed bytes is a duplicate
            let known = usize::try_from(self.consumed - at).unwrap_or(usize::MAX);
            return known >= bytes.len() || self.write(self.consumed, &bytes[known..]);
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

    /// All bytes of the stream below `end` have arrived.
    pub(crate) fn fill_to(&mut self, end: u64) {
        let available = end.saturating_sub(self.consumed).min(self.bytes.len() as u64);
        self.contiguous = self.contiguous.max(available);
    }

    /// Copies the first bytes, which must be available.
    pub(crate) fn copy(&self, into: &mut [u8]) {
        copy_out(&self.bytes, 0, into);
    }

    /// Consumes this many bytes, which must be available.
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.bytes.drain(..bytes);
        self.contiguous -= bytes as u64;
        self.consumed += bytes as u64;
    }
}
