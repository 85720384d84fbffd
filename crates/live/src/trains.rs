//! Datagrams on their way out, put together into trains: one call to the system for many.

use std::net::SocketAddr;

use contract::Ecn;

use crate::{Fate, Outer, Train};

/// The most datagrams of a train, and their bytes: what segmentation offload takes in one call.
const MOST: (usize, usize) = (64, 65_000);

/// Datagrams that wait to be sent, all of one length and to one place.
#[derive(Debug)]
pub(crate) struct Trains {
    bytes: Vec<u8>,
    to: SocketAddr,
    ecn: Ecn,
    each: usize,
    count: usize,
    /// Datagrams that the system did not take.
    pub(crate) overruns: u64,
    /// The way takes only shorter datagrams.
    pub(crate) too_long: bool,
}

impl Trains {
    pub(crate) fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(MOST.1 + 2048),
            to: SocketAddr::from(([0, 0, 0, 0], 0)),
            ecn: Ecn::NotCapable,
            each: 0,
            count: 0,
            overruns: 0,
            too_long: false,
        }
    }

    /// Appends a datagram that `write` writes; its length in bytes. What was there goes first, where both do not fit together.
    pub(crate) fn push(
        &mut self,
        to: SocketAddr,
        ecn: Ecn,
        outer: &mut impl Outer,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> usize {
        let start = self.bytes.len();
        write(&mut self.bytes);
        let length = self.bytes.len() - start;
        let joins = to == self.to && ecn == self.ecn && length <= self.each;
        if self.count > 0 && (!joins || self.count == MOST.0 || self.bytes.len() > MOST.1) {
            self.send(start, outer);
        }
        if self.count == 0 {
            (self.to, self.ecn, self.each) = (to, ecn, length);
        }
        self.count += 1;
        if length < self.each {
            // only the last may be shorter
            self.flush(outer);
        }
        length
    }

    /// Sends what waits.
    pub(crate) fn flush(&mut self, outer: &mut impl Outer) {
        if self.count > 0 {
            self.send(self.bytes.len(), outer);
        }
    }

    /// Sends the first `end` bytes, which are all datagrams that are counted.
    fn send(&mut self, end: usize, outer: &mut impl Outer) {
        let train = Train { to: self.to, ecn: self.ecn, bytes: &self.bytes[..end], each: self.each };
        match outer.send(&train) {
            Fate::Taken => {}
            Fate::TooLong => {
                self.too_long = true;
                self.overruns += self.count as u64;
            }
            Fate::Full | Fate::Unreachable => self.overruns += self.count as u64,
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

    /// Keeps the lengths of each train.
    #[derive(Default)]
    struct Platform(Vec<Vec<usize>>);

    impl Outer for Platform {
        fn now(&mut self) -> Time {
            Time::ZERO
        }
        fn wait(&mut self, _until: Time) {}
        fn receive(&mut self, _batch: &mut Batch) -> bool {
            false
        }
        fn send(&mut self, train: &Train<'_>) -> Fate {
            self.0.push(train.bytes.chunks(train.each).map(<[u8]>::len).collect());
            assert_eq!(train.count(), self.0.last().map_or(0, Vec::len));
            Fate::Taken
        }
        fn join(&mut self, _group: SocketAddr) -> std::io::Result<()> {
            Ok(())
        }
        fn surprise(&mut self, _bytes: &mut [u8]) {}
    }

    #[test]
    fn datagrams_of_one_length_and_a_shorter_one_are_a_train() {
        let (mut trains, mut platform) = (Trains::new(), Platform::default());
        let (a, b) = (SocketAddr::from(([1, 1, 1, 1], 1)), SocketAddr::from(([1, 1, 1, 1], 2)));
        let mut push = |to, ecn, length: usize| {
            trains.push(to, ecn, &mut platform, |bytes| bytes.resize(bytes.len() + length, 0))
        };
        for (to, length) in [(a, 1400), (a, 1400), (a, 900), (a, 1400), (a, 1401), (b, 1401), (b, 1401)] {
            assert_eq!(push(to, Ecn::Capable, length), length);
        }
        push(b, Ecn::NotCapable, 1401);
        trains.flush(&mut platform);
        trains.flush(&mut platform);
        assert_eq!(platform.0, [vec![1400, 1400, 900], vec![1400], vec![1401], vec![1401, 1401], vec![1401]]);
    }

    #[test]
    fn a_train_is_as_long_as_one_call_takes() {
        let (mut trains, mut platform) = (Trains::new(), Platform::default());
        let to = SocketAddr::from(([1, 1, 1, 1], 1));
        for length in [1400, 100] {
            for _ in 0..100 {
                trains.push(to, Ecn::Capable, &mut platform, |bytes| bytes.resize(bytes.len() + length, 0));
            }
            trains.flush(&mut platform);
        }
        let counts: Vec<usize> = platform.0.iter().map(Vec::len).collect();
        // 46 · 1400 = 64 400; the first short one ends the third train
        assert_eq!(counts, [46, 46, 8, 64, 36]);
    }
}
