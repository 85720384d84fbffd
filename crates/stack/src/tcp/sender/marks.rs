//! The sender's counter of marked packets (AccECN, RFC 9768).

use units::Time;

use crate::tcp::receiver::{ACE, FIRST_ACE};

/// Marked packets that acknowledgements reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkCounter {
    /// All of them, with accurate feedback, modulo 2³² [RFC9768 §3.2.1: s.cep]. Only the low three bits are compared.
    seen: u32,
    /// Those that the controller does not know yet.
    pub(super) pending: u32,
    /// The moving average of the packets that an acknowledgement is for, in 64ths [Linux: pkts_acked_ewma].
    average: u32,
    /// When the newest acknowledgement left the receiver, by its clock.
    newest: Time,
}

impl Default for MarkCounter {
    fn default() -> Self {
        Self { seen: FIRST_ACE as u32, pending: 0, average: 0, newest: Time::ZERO }
    }
}

impl MarkCounter {
    /// Whether an acknowledgement can have feedback that is not known: it makes progress, or left the receiver later
    /// than all before [Linux: FLAG_FORWARD_PROGRESS, FLAG_TS_PROGRESS].
    pub(super) fn is_newest(&mut self, sent_at: Time, progress: bool) -> bool {
        let newest = progress || sent_at > self.newest;
        self.newest = self.newest.max(sent_at);
        newest
    }

    /// The counter [RFC9768 §3.2.1: s.cep].
    pub(super) const fn seen(&self) -> u32 {
        self.seen
    }

    /// The newly marked packets, from the low three bits of the receiver's counter, in an acknowledgement of `packets`
    /// new packets. If more than seven could have been marked, the largest number that fits
    /// [RFC9768 §3.2.2.5.2, appendix A.2.1]; where acknowledgements are for many packets as a rule, so that it would
    /// always be too large, the smallest [Linux: ACK_COMP_THRESH].
    pub(super) fn read(&mut self, ace: u8, packets: u32) -> u32 {
        let bits = ACE as u32;
        if packets > 0 {
            let new = packets.min(MAX_AVERAGE) << PRECISION;
            let average = ((self.average << WEIGHT) - self.average + new) >> WEIGHT;
            self.average = if self.average == 0 { new } else { average };
        }
        let lowest = u32::from(ace).wrapping_sub(self.seen) & bits;
        let marks = if packets <= bits || self.average > THINNED << PRECISION {
            lowest
        } else {
            packets - (packets.wrapping_sub(lowest) & bits)
        };
        self.seen = self.seen.wrapping_add(marks);
        marks
    }
}

/// Fraction bits of the average, and the weight of the newest acknowledgement: 2⁻⁶
/// [Linux: PKTS_ACKED_PREC, PKTS_ACKED_WEIGHT].
const PRECISION: u32 = 6;
const WEIGHT: u32 = 6;
/// More packets than this for an acknowledgement, on average, mean that acknowledgements are thinned out
/// [Linux: ACK_COMP_THRESH].
const THINNED: u32 = 4;
/// Largest number of packets that the average can hold [Linux].
const MAX_AVERAGE: u32 = 0xFFFF >> PRECISION;

#[cfg(test)]
mod tests {
    use super::MarkCounter;

    /// From 5: 7 is two more; then 1 is two more (7, 0, 1).
    #[test]
    fn the_counter_wraps_at_eight() {
        let mut marks = MarkCounter::default();
        assert_eq!([marks.read(7, 2), marks.read(1, 3), marks.read(1, 7)], [2, 2, 0]);
    }

    /// After one of 2 packets, an acknowledgement of 20 that shows 6 after 5 stands for 1, 9 or 17 marks: 17 = 20 −
    /// ((20 − 1) mod 8). Of 8 packets, with 6 unchanged, for 0 or 8: 8.
    #[test]
    fn where_the_counter_may_have_wrapped_the_largest_number_counts() {
        let mut marks = MarkCounter::default();
        let read = [marks.read(5, 2), marks.read(6, 20), marks.read(6, 8), marks.read(6, 7)];
        assert_eq!(read, [0, 17, 8, 0]);
    }

    /// Where each acknowledgement is for 20 packets, that which shows 6 after 5 stands for one mark. A first one of 16
    /// after acknowledgements for 3 packets is no rule: it stands for 9 = 16 − ((16 − 1) mod 8).
    #[test]
    fn where_acknowledgements_are_thinned_out_the_smallest_number_counts() {
        let mut marks = MarkCounter::default();
        assert_eq!([marks.read(5, 20), marks.read(6, 20), marks.read(6, 20)], [0, 1, 0]);
        let mut marks = MarkCounter::default();
        assert_eq!([marks.read(5, 3), marks.read(6, 16)], [0, 9]);
    }
}
