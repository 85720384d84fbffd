//! How many segments an acknowledgement completes: a segment counts once, when its last byte is acknowledged, so that a
//! receiver that acknowledges parts of segments (ACK division) gains nothing
//! \[RFC3465 §2.1; Linux: tcp_clean_rtx_queue\].

use std::collections::VecDeque;

/// The segments in flight, as far as their ends are needed.
#[derive(Clone, Debug, Default)]
pub(super) struct SegmentEnds {
    /// End of the last segment that is acknowledged as a whole. From there on segments are full, up to the first short
    /// one.
    complete: u64,
    /// Bytes after it that are acknowledged already, and counted in no segment.
    partial: u64,
    /// Those that are not full; `None` before the first.
    short: Option<Box<ShortSegments>>,
}

/// Ends of the segments in flight that are not full, in order.
#[derive(Clone, Debug, Default)]
struct ShortSegments(VecDeque<u64>);

impl SegmentEnds {
    /// A segment that is not full, and ends at `end`, is sent.
    #[cold]
    pub(super) fn on_short(&mut self, end: u64) {
        let ends = &mut self.short.get_or_insert_default().0;
        if ends.back().is_none_or(|last| *last < end) {
            ends.push_back(end);
        }
    }

    /// Whether all segments in flight are full.
    #[inline]
    pub(super) fn are_full(&self) -> bool {
        self.short.as_ref().is_none_or(|short| short.0.is_empty())
    }

    /// All bytes from `una` on are retransmitted, perhaps in other segments.
    #[cold]
    pub(super) fn restart(&mut self, una: u64) {
        if let Some(short) = &mut self.short {
            short.0.clear();
        }
        (self.complete, self.partial) = (una, 0);
    }

    /// An acknowledgement of all bytes below `ack` delivers `bytes` that were not delivered before, bytes above a gap
    /// included. Returns the number of segments that it completes, of which a short one below `ack` counts as a whole
    /// one.
    #[inline]
    pub(super) fn complete(&mut self, ack: u64, bytes: u64, segment: u64) -> u32 {
        let is_next = bytes == segment && self.partial == 0 && ack == self.complete + segment;
        if is_next && self.are_full() {
            self.complete = ack;
            return 1;
        }
        let (mut begin, mut segments) = (self.complete, 0);
        if let Some(short) = &mut self.short {
            while let Some(&end) = short.0.front().filter(|end| **end <= ack) {
                short.0.pop_front();
                segments += end.saturating_sub(begin).div_ceil(segment);
                begin = end;
            }
        }
        let partial = ack.saturating_sub(begin) % segment;
        segments += ack.saturating_sub(begin) / segment;
        // bytes above `ack`, and those below of which some were delivered before, are taken for full segments
        let (known, below) = (bytes + self.partial, ack - self.complete);
        let new = match known.checked_sub(below) {
            Some(above) => segments + above.div_ceil(segment),
            None => known.saturating_sub(partial).div_ceil(segment),
        };
        (self.complete, self.partial) = (ack - partial, partial);
        new as u32
    }
}

#[cfg(test)]
mod tests {
    use super::SegmentEnds;

    /// Segments of 1000 bytes: to 1000, to 3000, and then to 3600 and 4600, of which the first is short; later several
    /// short ones, and bytes above a gap.
    #[test]
    fn acknowledgements_of_whole_segments_count_all_of_them() {
        let mut ends = SegmentEnds::default();
        ends.on_short(3600);
        let acks = [(1000, 1000), (3000, 2000), (3600, 600), (4600, 1000)];
        assert_eq!(acks.map(|(ack, bytes)| ends.complete(ack, bytes, 1000)), [1, 2, 1, 1]);
        // a full segment and a short one
        ends.on_short(6200);
        assert_eq!(ends.complete(6200, 1600, 1000), 2);
        // three short ones, and a full one between them
        [6300, 6500, 7600].into_iter().for_each(|end| ends.on_short(end));
        assert_eq!(ends.complete(7600, 1400, 1000), 4);
        // two short ones, and two full ones that are reported above a gap
        [7700, 7800].into_iter().for_each(|end| ends.on_short(end));
        assert_eq!(ends.complete(7800, 2200, 1000), 4);
    }

    /// 125 and 500 complete nothing, 1000 one segment, 2250 another, 3000 the third. 3300 is a part of the fourth,
    /// which is short and ends at 3400.
    #[test]
    fn a_part_of_a_segment_counts_when_the_segment_is_complete() {
        let mut ends = SegmentEnds::default();
        ends.on_short(3400);
        let acks = [125, 500, 1000, 2250, 3000, 3300, 3400];
        let mut una = 0;
        let counted = acks.map(|ack| ends.complete(ack, ack - std::mem::replace(&mut una, ack), 1000));
        assert_eq!(counted, [0, 0, 1, 1, 1, 0, 1]);
    }

    /// With SACK, 2000 bytes above a gap are delivered before the segment below them, which completes one more.
    #[test]
    fn bytes_that_were_delivered_before_do_not_count_again() {
        let mut ends = SegmentEnds::default();
        assert_eq!([ends.complete(3000, 1000, 1000), ends.complete(4000, 1000, 1000)], [1, 1]);
        // all that this one acknowledges was delivered before
        assert_eq!(ends.complete(6000, 0, 1000), 0);
    }

    /// A timeout retransmits from byte 1250 on: 2250 is the end of a segment then.
    #[test]
    fn retransmitted_segments_have_other_ends() {
        let mut ends = SegmentEnds::default();
        ends.on_short(1500);
        assert_eq!(ends.complete(1250, 1250, 1000), 1);
        ends.restart(1250);
        assert_eq!(ends.complete(2250, 1000, 1000), 1);
    }
}
