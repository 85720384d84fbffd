//! s: the mean size of the packets of the last loss intervals.

use std::collections::VecDeque;

use units::Bytes;

/// Sums of packet sizes, one per loss interval [RFC5348 §4.1].
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    /// Bytes and packets of each interval, the current one last; at least one.
    sums: VecDeque<(u64, u64)>,
    max: usize,
}

impl Sizes {
    /// Without packets. The mean covers `intervals` intervals, the current one included; at least one.
    pub(super) fn new(intervals: u32) -> Self {
        let max = intervals.max(1) as usize;
        let mut sums = VecDeque::with_capacity(max + 1);
        sums.push_back((0, 0));
        Self { sums, max }
    }

    /// Counts a packet that leaves.
    #[inline]
    pub(super) fn sent(&mut self, size: Bytes) {
        if let Some((bytes, packets)) = self.sums.back_mut() {
            *bytes += size.as_u64();
            *packets += 1;
        }
    }

    /// Starts another interval at a loss event, and removes the oldest.
    pub(super) fn lost(&mut self) {
        self.sums.push_back((0, 0));
        if self.sums.len() > self.max {
            self.sums.pop_front();
        }
    }

    /// The mean in whole bytes, rounded; `None` before the first packet.
    pub(super) fn mean(&self) -> Option<Bytes> {
        let (bytes, packets) = self.sums.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        mean_size(bytes, packets)
    }
}

/// `bytes` / `packets`, rounded; `None` without packets.
pub(super) fn mean_size(bytes: u64, packets: u64) -> Option<Bytes> {
    (packets > 0).then(|| Bytes::new((bytes + packets / 2) / packets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_of_packets_not_of_intervals() {
        let mut sizes = Sizes::new(4);
        assert_eq!(sizes.mean(), None);
        // three of 1000 and one of 200: 800; then two of 500: 4200/6
        [1000, 1000, 1000, 200].into_iter().for_each(|size| sizes.sent(Bytes::new(size)));
        assert_eq!(sizes.mean(), Some(Bytes::new(800)));
        sizes.lost();
        [500, 500].into_iter().for_each(|size| sizes.sent(Bytes::new(size)));
        assert_eq!(sizes.mean(), Some(Bytes::new(700)));
        // 2 bytes over 3 packets are nearer to 1 than to 0
        assert_eq!((mean_size(2, 3), mean_size(1, 3)), (Some(Bytes::new(1)), Some(Bytes::ZERO)));
    }

    #[test]
    fn what_is_older_than_four_intervals_is_forgotten() {
        let mut sizes = Sizes::new(4);
        for size in [1000, 500, 500, 500] {
            sizes.sent(Bytes::new(size));
            sizes.lost();
        }
        // the 1000 has gone, and nothing was sent since the last loss
        assert_eq!(sizes.mean(), Some(Bytes::new(500)));
        for _ in 0..3 {
            sizes.lost();
        }
        assert_eq!((sizes.mean(), sizes.sums.len()), (None, 4));
    }
}
