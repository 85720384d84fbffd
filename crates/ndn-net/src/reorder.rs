//! Reordering of segments: they arrive in any order and are written in sequence.

use std::collections::BTreeMap;
use std::io::{self, Write};

use sha2::{Digest as _, Sha256};

/// Writes segments in order, and stores those that arrived early.
pub(super) struct ReorderBuffer<'w> {
    out: &'w mut dyn Write,
    /// The next segment to be written.
    next: u64,
    early: BTreeMap<u64, Vec<u8>>,
    /// Bytes in `early`.
    buffered_bytes: usize,
    /// Bytes written.
    written: u64,
    /// SHA-256 of the written bytes, if requested.
    digest: Option<Sha256>,
}

/// The result of adding a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Insertion {
    /// It was written or stored.
    Stored,
    /// It is a duplicate.
    Duplicate,
    /// It is too early to be stored.
    TooEarly,
}

/// Maximum number of stored bytes. Our choice: 64 MiB is the window of 10 Gbit/s over 50 ms.
const MAX_HELD: usize = 64 << 20;

impl<'w> ReorderBuffer<'w> {
    /// Writes to `out`. With `digest` the SHA-256 of the whole is computed as well, which takes as long again as the
    /// SHA-256 of every segment.
    pub(super) fn new(out: &'w mut dyn Write, digest: bool) -> Self {
        let digest = digest.then(Sha256::new);
        Self { out, next: 0, early: BTreeMap::new(), buffered_bytes: 0, written: 0, digest }
    }

    /// Bytes written so far.
    pub(super) const fn written(&self) -> u64 {
        self.written
    }

    /// The first segment that is missing.
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// Segments that wait for an earlier one.
    pub(super) fn early(&self) -> u64 {
        self.early.len() as u64
    }

    /// Takes a segment.
    pub(super) fn put(&mut self, segment: u64, content: &[u8]) -> io::Result<Insertion> {
        if segment < self.next || self.early.contains_key(&segment) {
            return Ok(Insertion::Duplicate);
        }
        if segment > self.next {
            if self.buffered_bytes + content.len() > MAX_HELD {
                return Ok(Insertion::TooEarly);
            }
            self.buffered_bytes += content.len();
            self.early.insert(segment, content.to_vec());
            return Ok(Insertion::Stored);
        }
        self.write(content)?;
        while let Some(content) = self.early.remove(&self.next) {
            self.buffered_bytes -= content.len();
            self.write(&content)?;
        }
        Ok(Insertion::Stored)
    }

    fn write(&mut self, content: &[u8]) -> io::Result<()> {
        self.out.write_all(content)?;
        if let Some(digest) = &mut self.digest {
            digest.update(content);
        }
        self.written += content.len() as u64;
        self.next += 1;
        Ok(())
    }

    /// Ends it: how many segments and bytes were written, and their SHA-256 where that was wanted.
    pub(super) fn finish(self) -> io::Result<(u64, u64, Option<[u8; 32]>)> {
        self.out.flush()?;
        Ok((self.next, self.written, self.digest.map(|digest| digest.finalize().into())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_written_once_and_in_order() {
        let mut out = Vec::new();
        let mut order = ReorderBuffer::new(&mut out, true);
        let insertions: Vec<Insertion> = [2, 0, 2, 0, 1, 3]
            .into_iter()
            .map(|segment| order.put(segment, &[segment as u8; 2]).expect("it is memory"))
            .collect();
        use Insertion::{Duplicate, Stored};
        assert_eq!(insertions, [Stored, Stored, Duplicate, Duplicate, Stored, Stored]);
        assert_eq!(order.written(), 8);
        let (segments, bytes, digest) = order.finish().expect("it is memory");
        assert_eq!((segments, bytes), (4, 8));
        assert_eq!(digest, Some(wire::ndn::sha256(&[&[0, 0, 1, 1, 2, 2, 3, 3]])));
        assert_eq!(out, [0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn what_is_held_is_bounded() {
        let mut out = Vec::new();
        let mut order = ReorderBuffer::new(&mut out, false);
        let content = vec![0; 8 << 20];
        for segment in 1..=8 {
            assert_eq!(order.put(segment, &content).expect("it is memory"), Insertion::Stored);
        }
        assert_eq!(order.put(9, &[0]).expect("it is memory"), Insertion::TooEarly);
        assert_eq!(order.put(0, &[0]).expect("it is memory"), Insertion::Stored);
        assert_eq!(order.buffered_bytes, 0);
        assert_eq!(order.put(9, &[0]).expect("it is memory"), Insertion::Stored);
    }
}
