//! Batches of outgoing datagrams for generic segmentation offload (GSO): one system call for many.

use std::net::SocketAddr;

use contract::Ecn;

use crate::{GsoBatch, Platform, SendOutcome};

/// Maximum number of datagrams in a GSO batch, and of their bytes: the limits of one system call.
const MAX: (usize, usize) = (64, 65_000);

/// Datagrams of one length to one destination that wait to be sent.
#[derive(Debug)]
pub struct GsoBatches {
    bytes: Vec<u8>,
    to: SocketAddr,
    ecn: Ecn,
    segment_size: usize,
    count: usize,
    /// Datagrams that the system did not send.
    pub overruns: u64,
    /// The path accepts only shorter datagrams.
    pub too_long: bool,
}

impl Default for GsoBatches {
    fn default() -> Self {
        Self {
            bytes: Vec::with_capacity(MAX.1 + 2048),
            to: SocketAddr::from(([0, 0, 0, 0], 0)),
            ecn: Ecn::NotCapable,
            segment_size: 0,
            count: 0,
            overruns: 0,
            too_long: false,
        }
    }
}

impl GsoBatches {
    /// Appends a datagram that `write` writes. Returns its length. Waiting datagrams are sent first if both do not fit
    /// into one batch.
    pub fn push(
        &mut self,
        to: SocketAddr,
        ecn: Ecn,
        platform: &mut impl Platform,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> usize {
        let start = self.bytes.len();
        write(&mut self.bytes);
        let length = self.bytes.len() - start;
        let joins = to == self.to && ecn == self.ecn && length <= self.segment_size;
        if self.count > 0 && (!joins || self.count == MAX.0 || self.bytes.len() > MAX.1) {
            self.send(start, platform);
        }
        if self.count == 0 {
            (self.to, self.ecn, self.segment_size) = (to, ecn, length);
        }
        self.count += 1;
        if length < self.segment_size {
            // only the last one may be shorter
            self.flush(platform);
        }
        length
    }

    /// Sends all waiting datagrams.
    pub fn flush(&mut self, platform: &mut impl Platform) {
        if self.count > 0 {
            self.send(self.bytes.len(), platform);
        }
    }

    /// Sends the first `end` bytes, which are the counted datagrams.
    fn send(&mut self, end: usize, platform: &mut impl Platform) {
        let gso_batch = GsoBatch {
            to: self.to,
            ecn: self.ecn,
            bytes: &self.bytes[..end],
            segment_size: self.segment_size,
        };
        match platform.send(&gso_batch) {
            SendOutcome::Accepted => {}
            SendOutcome::TooLong => {
                self.too_long = true;
                self.overruns += self.count as u64;
            }
            SendOutcome::QueueFull | SendOutcome::Unreachable => self.overruns += self.count as u64,
        }
        self.bytes.drain(..end);
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use super::*;
    use crate::Batch;

    /// Records the lengths of each GSO batch.
    #[derive(Default)]
    struct FakePlatform(Vec<Vec<usize>>);

    impl Platform for FakePlatform {
        fn now(&mut self) -> Time {
            Time::ZERO
        }
        fn wait(&mut self, _until: Time) {}
        fn receive(&mut self, _batch: &mut Batch) -> bool {
            false
        }
        fn send(&mut self, gso_batch: &GsoBatch<'_>) -> SendOutcome {
            self.0.push(gso_batch.bytes.chunks(gso_batch.segment_size).map(<[u8]>::len).collect());
            assert_eq!(gso_batch.count(), self.0.last().map_or(0, Vec::len));
            SendOutcome::Accepted
        }
        fn join(&mut self, _group: SocketAddr) -> std::io::Result<()> {
            Ok(())
        }
        fn fill_random(&mut self, _bytes: &mut [u8]) {}
    }

    #[test]
    fn datagrams_of_one_length_and_a_shorter_one_are_a_batch() {
        let (mut gso_batches, mut platform) = (GsoBatches::default(), FakePlatform::default());
        let (a, b) = (SocketAddr::from(([1, 1, 1, 1], 1)), SocketAddr::from(([1, 1, 1, 1], 2)));
        let mut push = |to, ecn, length: usize| {
            gso_batches.push(to, ecn, &mut platform, |bytes| bytes.resize(bytes.len() + length, 0))
        };
        for (to, length) in [(a, 1400), (a, 1400), (a, 900), (a, 1400), (a, 1401), (b, 1401), (b, 1401)] {
            assert_eq!(push(to, Ecn::Capable, length), length);
        }
        push(b, Ecn::NotCapable, 1401);
        gso_batches.flush(&mut platform);
        gso_batches.flush(&mut platform);
        assert_eq!(platform.0, [vec![1400, 1400, 900], vec![1400], vec![1401], vec![1401, 1401], vec![1401]]);
    }

    #[test]
    fn a_batch_is_as_long_as_one_call_takes() {
        let (mut gso_batches, mut platform) = (GsoBatches::default(), FakePlatform::default());
        let to = SocketAddr::from(([1, 1, 1, 1], 1));
        for length in [1400, 100] {
            for _ in 0..100 {
                gso_batches
                    .push(to, Ecn::Capable, &mut platform, |bytes| bytes.resize(bytes.len() + length, 0));
            }
            gso_batches.flush(&mut platform);
        }
        let counts: Vec<usize> = platform.0.iter().map(Vec::len).collect();
        // 46 · 1400 = 64 400; the first short one ends the third batch
        assert_eq!(counts, [46, 46, 8, 64, 36]);
    }
}
