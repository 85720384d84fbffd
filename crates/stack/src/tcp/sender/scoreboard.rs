//! SACK scoreboard (RFC 6675 §4): the state of the data in flight from selective acknowledgements.

use std::collections::BTreeMap;

use crate::parts::Ranges;

/// The SACK scoreboard of one sender. It keeps counters, so that the pipe is computed without a walk over the segments.
///
/// Of the bytes from the oldest not acknowledged to the highest sent, some are selectively acknowledged (`sacked`). Of
/// the others, those below `lost_end` are lost, and those below `retransmitted_end` were retransmitted.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    sacked: Ranges,
    una: u64,
    lost_end: u64,
    /// One past the highest byte retransmitted in a recovery [RFC6675 §2: HighRxt].
    retransmitted_end: u64,
    /// The last rescue retransmission counts for all bytes below this [RFC6675 §2: RescueRxt].
    pub(super) rescue_end: u64,
    /// Bytes of `sacked` at or above `lost_end`.
    sacked_above_lost: u64,
    /// Bytes of `sacked` below `retransmitted_end`.
    sacked_below_retransmitted: u64,
    /// Ranges below `retransmitted_end` whose retransmission was lost: the end of each by its start. No byte of them
    /// has arrived.
    lost_retransmissions: BTreeMap<u64, u64>,
    /// Bytes of these.
    lost_again: u64,
    /// Ranges of these that [`Self::take_newly_lost`] has not returned yet, and the end up to which it has returned
    /// other losses.
    newly_lost: Vec<(u64, u64)>,
    told_end: u64,
}

impl Scoreboard {
    /// Whether nothing is recorded, so that all data sent are in flight.
    pub(super) fn is_clear(&self) -> bool {
        self.sacked.is_empty() && self.lost_end == self.una
    }

    /// What has arrived above gaps, what counts as lost and has not arrived, and the part of the latter whose
    /// retransmission was lost.
    pub(super) fn ranges(&self) -> [Vec<(u64, u64)>; 3] {
        let mut lost = Vec::new();
        self.for_each_missing(self.una, self.lost_end, |low, high| lost.push((low, high)));
        [
            self.sacked.as_slice().to_vec(),
            lost,
            self.lost_retransmissions.iter().map(|(&start, &end)| (start, end)).collect(),
        ]
    }

    /// Bytes in flight. `high` is one past the highest byte sent [RFC6675 §4: SetPipe].
    pub(super) fn pipe(&self, high: u64) -> u64 {
        // neither lost nor arrived, plus those retransmitted
        (high - self.lost_end - self.sacked_above_lost)
            + (self.retransmitted_end - self.una - self.sacked_below_retransmitted)
            - self.lost_again
    }

    /// One past the highest byte that has arrived above a gap.
    pub(super) fn highest_sacked(&self) -> Option<u64> {
        self.sacked.end()
    }

    /// The first of the bytes up to `at` that have arrived above a gap in one piece; `None` if `at` has not.
    pub(super) fn arrived_from(&self, at: u64) -> Option<u64> {
        self.sacked.range_containing(at).map(|range| range.0)
    }

    /// One past the last byte that is declared lost unless it has arrived.
    pub(super) const fn lost_end(&self) -> u64 {
        self.lost_end
    }

    /// Whether byte `at` has arrived above a gap.
    pub(super) fn is_sacked(&self, at: u64) -> bool {
        self.sacked.range_containing(at).is_some()
    }

    /// The oldest byte that has not arrived and was never retransmitted.
    pub(super) fn first_sent_once(&self) -> u64 {
        self.sacked.gap_from(self.una.max(self.retransmitted_end)).0
    }

    /// Bytes that have arrived above gaps.
    pub(super) fn sacked_bytes(&self) -> u64 {
        self.sacked.bytes()
    }

    /// The first byte from `at` on that was never retransmitted.
    pub(super) fn sent_once_from(&self, at: u64) -> u64 {
        at.max(self.retransmitted_end)
    }

    /// Whether byte `at` was never retransmitted.
    pub(super) fn never_retransmitted(&self, at: u64) -> bool {
        at >= self.retransmitted_end
    }

    /// Declares the retransmission of `[start, end)` lost if nothing of it has arrived. Returns the number of bytes
    /// newly lost.
    pub(super) fn mark_retransmission_lost(&mut self, start: u64, end: u64) -> u64 {
        let before = self.lost_retransmissions.range(..end).next_back();
        let recorded = before.is_some_and(|piece| *piece.1 > start);
        let arrived = self.sacked.bytes_within(start, end) > 0;
        if start < self.una || end > self.retransmitted_end || arrived || recorded {
            return 0;
        }
        self.lost_retransmissions.insert(start, end);
        self.lost_again += end - start;
        self.newly_lost.push((start, end));
        end - start
    }

    /// Calls `with` for each range that was declared lost since the last call and was not retransmitted; bytes within
    /// it may have arrived.
    pub(super) fn take_newly_lost(&mut self, mut with: impl FnMut(u64, u64)) {
        let start = self.told_end.max(self.retransmitted_end);
        if start < self.lost_end {
            with(start, self.lost_end);
        }
        self.told_end = self.told_end.max(self.lost_end);
        self.newly_lost.drain(..).for_each(|(start, end)| with(start, end));
    }

    /// Removes from `lost_retransmissions` what has arrived after all: what reaches into `[start, end)`.
    fn forget_arrived(&mut self, start: u64, end: u64) {
        while let Some((&low, &high)) = self.lost_retransmissions.range(..end).next_back()
            && high > start
        {
            self.lost_retransmissions.remove(&low);
            self.lost_again -= high - low;
        }
    }

    /// Records that `[start, end)` has arrived. Returns the number of bytes that are new [RFC6675 §4: Update].
    pub(super) fn mark_sacked(&mut self, start: u64, end: u64) -> u64 {
        let start = start.max(self.una);
        if start >= end {
            return 0;
        }
        let newly_sacked = |low: u64, high: u64| {
            if low < high { (high - low) - self.sacked.bytes_within(low, high) } else { 0 }
        };
        self.sacked_above_lost += newly_sacked(start.max(self.lost_end), end);
        self.sacked_below_retransmitted += newly_sacked(start, end.min(self.retransmitted_end));
        let new = self.sacked.insert(start, end);
        if !self.lost_retransmissions.is_empty() {
            self.forget_arrived(start, end);
        }
        new
    }

    /// Bytes below `end` that are not known to have arrived.
    pub(super) fn missing(&self, end: u64) -> u64 {
        end.saturating_sub(self.una) - self.sacked.bytes_within(self.una, end.max(self.una))
    }

    /// Calls `with` for each part of `[start, end)` that is not known to have arrived.
    pub(super) fn for_each_missing(&self, start: u64, end: u64, mut with: impl FnMut(u64, u64)) {
        let mut at = start.max(self.una);
        while at < end {
            let (low, high) = self.sacked.gap_from(at);
            if low < end {
                with(low, high.min(end));
            }
            at = high;
        }
    }

    /// Records that all bytes below `una` are acknowledged.
    pub(super) fn advance(&mut self, una: u64) {
        if una >= self.retransmitted_end {
            self.sacked_below_retransmitted = 0;
            self.retransmitted_end = una;
        } else {
            self.sacked_below_retransmitted -= self.sacked.bytes_within(self.una, una);
        }
        self.mark_lost_below(una);
        self.sacked.remove_below(una);
        if !self.lost_retransmissions.is_empty() {
            self.forget_arrived(self.una, una);
        }
        self.una = una;
    }

    /// One past the last byte that the arrivals show to be lost: at least three separate ranges above it have arrived,
    /// or more than two segments' worth of bytes [RFC6675 §4: IsLost].
    pub(super) fn lost_below(&self, segment: u64) -> u64 {
        let (mut ranges, mut bytes) = (0, 0);
        for range in self.sacked.as_slice().iter().rev() {
            ranges += 1;
            bytes += range.1 - range.0;
            if ranges >= THRESHOLD || bytes > (THRESHOLD - 1) * segment {
                return range.0;
            }
        }
        self.una
    }

    /// Declares all bytes below `end` lost that have not arrived. Returns the number of bytes newly lost.
    pub(super) fn mark_lost_below(&mut self, end: u64) -> u64 {
        if end <= self.lost_end {
            return 0;
        }
        let arrived = self.sacked.bytes_within(self.lost_end, end);
        let lost = end - self.lost_end - arrived;
        self.sacked_above_lost -= arrived;
        self.lost_end = end;
        lost
    }

    /// Forgets what has arrived above gaps. Called before [`Self::reset`].
    pub(super) fn forget_arrivals(&mut self) {
        self.sacked = Ranges::default();
    }

    /// Declares nothing lost or retransmitted, after a spurious retransmission or a timeout.
    pub(super) fn reset(&mut self) {
        self.lost_end = self.una;
        self.retransmitted_end = self.una;
        self.lost_retransmissions.clear();
        self.newly_lost.clear();
        (self.lost_again, self.told_end) = (0, self.una);
        self.sacked_below_retransmitted = 0;
        self.sacked_above_lost = self.sacked.bytes();
    }

    /// Records that all bytes below `end` that had not arrived were retransmitted.
    pub(super) fn on_retransmitted(&mut self, end: u64) {
        if let Some(piece) = self.lost_retransmissions.first_entry()
            && *piece.get() == end
        {
            let (start, end) = piece.remove_entry();
            self.lost_again -= end - start;
            return;
        }
        if end > self.retransmitted_end {
            self.sacked_below_retransmitted += self.sacked.bytes_within(self.retransmitted_end, end);
            self.retransmitted_end = end;
        }
    }

    /// The oldest bytes not acknowledged, at most `segment`; `None` if a recovery has retransmitted them.
    pub(super) fn first_hole(&self, high: u64, segment: u64) -> Option<(u64, u64)> {
        let (start, stop) = self.sacked.gap_from(self.una);
        (self.retransmitted_end == self.una).then(|| (start, segment.min(stop.min(high) - start)))
    }

    /// The next bytes, at most `segment`, that are lost and not retransmitted [RFC6675 §4: NextSeg rule 1].
    pub(super) fn next_lost(&self, segment: u64) -> Option<(u64, u64)> {
        match self.lost_retransmissions.first_key_value() {
            Some((&start, &end)) => Some((start, end - start)),
            None => self.next_hole(self.lost_end, segment),
        }
    }

    /// The next bytes below the highest arrival that were not retransmitted, whether lost or not
    /// [RFC6675 §4: NextSeg rule 3].
    pub(super) fn next_unsacked(&self, segment: u64) -> Option<(u64, u64)> {
        self.next_hole(self.sacked.end()?, segment)
    }

    fn next_hole(&self, end: u64, segment: u64) -> Option<(u64, u64)> {
        let (start, stop) = self.sacked.gap_from(self.retransmitted_end);
        if start >= end {
            return None;
        }
        Some((start, segment.min(stop.min(end) - start)))
    }

    /// The highest bytes, at most `segment`, that have not arrived [RFC6675 §4: NextSeg rule 4].
    pub(super) fn highest_missing(&self, high: u64, segment: u64) -> Option<(u64, u64)> {
        let (floor, highest_sacked) = match self.sacked.as_slice() {
            [.., before, last] if last.1 == high => (before.1, last.0),
            [last] if last.1 == high => (self.una, last.0),
            [.., last] => (last.1, high),
            [] => (self.una, high),
        };
        let start = floor.max(highest_sacked.saturating_sub(segment));
        (start < highest_sacked).then_some((start, highest_sacked - start))
    }
}

/// Number of separate arrivals above a missing byte that indicates its loss [RFC6675 §2: DupThresh].
pub(super) const THRESHOLD: u64 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: u64 = 1000;

    /// A board with twenty segments in flight, numbers 0 to 19.
    fn scoreboard(arrived: &[(u64, u64)]) -> Scoreboard {
        let mut scoreboard = Scoreboard::default();
        for &(from, to) in arrived {
            scoreboard.mark_sacked(from * S, to * S);
        }
        scoreboard
    }

    #[test]
    fn arrived_segments_are_not_in_the_pipe() {
        let mut scoreboard = scoreboard(&[]);
        assert_eq!(scoreboard.pipe(20 * S), 20 * S);
        assert_eq!(scoreboard.mark_sacked(5 * S, 7 * S), 2 * S);
        assert_eq!(scoreboard.mark_sacked(5 * S, 8 * S), S);
        assert_eq!(scoreboard.pipe(20 * S), 17 * S);
    }

    /// RFC 6675 §4, IsLost: three separate ranges, or more than two segments' worth, above a byte.
    #[test]
    fn three_ranges_or_more_than_two_segments_above_mean_lost() {
        assert_eq!(scoreboard(&[(5, 6), (8, 9)]).lost_below(S), 0);
        assert_eq!(scoreboard(&[(5, 6), (8, 9), (11, 12)]).lost_below(S), 5 * S);
        assert_eq!(scoreboard(&[(5, 7)]).lost_below(S), 0);
        assert_eq!(scoreboard(&[(5, 8)]).lost_below(S), 5 * S);
        assert_eq!(scoreboard(&[(3, 4), (5, 7)]).lost_below(S), 3 * S);
        assert_eq!(scoreboard(&[(1, 2), (3, 6), (8, 9), (12, 13)]).lost_below(S), 3 * S);
    }

    /// RFC 6675 §4, SetPipe. Segments 0, 2, 4 are missing below the arrivals 1, 3, 5 to 8; 20 are in flight.
    #[test]
    fn the_pipe_excludes_lost_and_arrived_and_includes_retransmitted_data() {
        let mut scoreboard = scoreboard(&[(1, 2), (3, 4), (5, 9)]);
        // nothing is declared lost: 20 − 6 arrived
        assert_eq!(scoreboard.pipe(20 * S), 14 * S);
        assert_eq!(scoreboard.mark_lost_below(scoreboard.lost_below(S)), 3 * S);
        // lost 0, 2, 4: only 9 to 19 are in flight
        assert_eq!(scoreboard.pipe(20 * S), 11 * S);
        assert_eq!(scoreboard.next_lost(S), Some((0, S)));
        scoreboard.on_retransmitted(S);
        assert_eq!(scoreboard.pipe(20 * S), 12 * S);
        assert_eq!(scoreboard.next_lost(S), Some((2 * S, S)));
        scoreboard.on_retransmitted(3 * S);
        assert_eq!(scoreboard.next_lost(S), Some((4 * S, S)));
        // the first arrives: acknowledged up to the next hole
        scoreboard.advance(2 * S);
        assert_eq!(scoreboard.pipe(20 * S), 12 * S);
        scoreboard.on_retransmitted(5 * S);
        assert_eq!(scoreboard.pipe(20 * S), 13 * S);
        assert_eq!(scoreboard.next_lost(S), None);
        scoreboard.advance(9 * S);
        assert_eq!(scoreboard.pipe(20 * S), 11 * S);
        assert!(scoreboard.is_clear());
    }

    /// A lost retransmission leaves the pipe once, however often its loss is detected. Segment 0 is missing below the
    /// arrivals 1 to 4 of twenty: 15 others and its retransmission are in flight, then the 15 alone, and 16 after the
    /// next retransmission.
    #[test]
    fn a_retransmission_is_declared_lost_once() {
        let mut scoreboard = scoreboard(&[(1, 5)]);
        scoreboard.mark_lost_below(S);
        scoreboard.on_retransmitted(S);
        assert_eq!(scoreboard.pipe(20 * S), 16 * S);
        assert_eq!(scoreboard.mark_retransmission_lost(0, S), S);
        assert_eq!(scoreboard.mark_retransmission_lost(0, S), 0);
        assert_eq!(scoreboard.pipe(20 * S), 15 * S);
        scoreboard.on_retransmitted(S);
        assert_eq!(scoreboard.pipe(20 * S), 16 * S);
        assert_eq!(scoreboard.next_lost(S), None);
    }

    /// RFC 6675 §4, NextSeg rules 3 and 4.
    #[test]
    fn uncertain_holes_and_the_rescue_retransmission_come_last() {
        let mut scoreboard = scoreboard(&[(5, 6), (8, 9)]);
        assert_eq!(scoreboard.next_lost(S), None);
        assert_eq!(scoreboard.next_unsacked(S), Some((0, S)));
        scoreboard.on_retransmitted(5 * S);
        assert_eq!(scoreboard.next_unsacked(S), Some((6 * S, S)));
        scoreboard.on_retransmitted(8 * S);
        assert_eq!(scoreboard.next_unsacked(S), None);
        assert_eq!(scoreboard.highest_missing(20 * S, S), Some((19 * S, S)));
        assert_eq!(scoreboard.highest_missing(9 * S, S), Some((7 * S, S)));
        assert_eq!(scoreboard.highest_missing(9 * S + 300, S), Some((9 * S, 300)));
    }

    proptest! {
        /// The counters agree with a scoreboard that stores every byte.
        #[test]
        fn the_counted_pipe_is_the_walked_pipe(steps in prop::collection::vec((0u8..5, 0u64..40, 1u64..8), 1..80)) {
            const HIGH: u64 = 48;
            let mut scoreboard = Scoreboard::default();
            let (mut una, mut lost_end, mut retransmitted_end) = (0u64, 0u64, 0u64);
            let mut arrived = [false; HIGH as usize];
            for (what, at, len) in steps {
                match what {
                    0 | 1 => {
                        let newly_sacked = (at..at + len).filter(|&b| b >= una && !arrived[b as usize]).count();
                        (at..at + len).for_each(|b| arrived[b as usize] = true);
                        prop_assert_eq!(scoreboard.mark_sacked(at, at + len), newly_sacked as u64);
                    }
                    2 => {
                        una = una.max(at.min(una + len));
                        lost_end = lost_end.max(una);
                        retransmitted_end = retransmitted_end.max(una);
                        scoreboard.advance(una);
                    }
                    3 => {
                        lost_end = lost_end.max(at);
                        scoreboard.mark_lost_below(at);
                    }
                    _ => {
                        if let Some((start, n)) = scoreboard.next_lost(len) {
                            retransmitted_end = start + n;
                            scoreboard.on_retransmitted(retransmitted_end);
                        }
                    }
                }
                let walked = (una..HIGH).filter(|&b| !arrived[b as usize]).map(|b| {
                    u64::from(b >= lost_end) + u64::from(b < retransmitted_end)
                }).sum::<u64>();
                prop_assert_eq!(scoreboard.pipe(HIGH), walked);
            }
        }
    }
}
