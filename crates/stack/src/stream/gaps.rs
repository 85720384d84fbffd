//! Loss detection of streams, by sequence numbers.

/// The classification of an arriving number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SequenceClass {
    /// The next number, one that reveals a gap, or one that fills a gap that is not yet lost.
    New,
    /// A duplicate, or a packet that was declared lost; without unbounded memory the two cannot be distinguished.
    Old,
}

/// Consecutive packets that have not arrived and are not yet lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hole {
    first: u64,
    end: u64,
    /// Packets that arrived with higher numbers.
    later_arrivals: u32,
}

/// Detects missing packets by their numbers. A packet counts as lost when `reorder` packets with higher numbers have arrived.
///
/// Every arrival ages all holes below it and adds at most one, so at most `reorder` + 1 holes are open at a time.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    reorder: u32,
    expected: Option<u64>,
    /// Open holes in ascending order.
    holes: Vec<Hole>,
}

impl Gaps {
    /// A detector before the first packet. Zero for `reorder` counts as one.
    pub(super) fn new(reorder: u32) -> Self {
        Self { reorder: reorder.max(1), expected: None, holes: Vec::new() }
    }

    /// Takes an arrival. `lost(first, packets)` is called for each run of packets that are newly lost, in order.
    #[inline]
    pub(super) fn arrived(&mut self, seq: u64, mut lost: impl FnMut(u64, u64)) -> SequenceClass {
        let expected = self.expected.unwrap_or(seq);
        if seq == expected && self.holes.is_empty() {
            self.expected = Some(seq + 1);
            return SequenceClass::New;
        }
        if seq < expected && !self.fill_hole(seq) {
            return SequenceClass::Old;
        }
        if seq > expected {
            self.holes.push(Hole { first: expected, end: seq, later_arrivals: 0 });
        }
        self.expected = Some(expected.max(seq + 1));
        let reorder = self.reorder;
        self.holes.retain_mut(|hole| {
            hole.later_arrivals += u32::from(hole.end <= seq);
            let is_lost = hole.later_arrivals >= reorder;
            if is_lost {
                lost(hole.first, hole.end - hole.first);
            }
            !is_lost
        });
        SequenceClass::New
    }

    /// Removes `seq` from its hole.
    fn fill_hole(&mut self, seq: u64) -> bool {
        let Some(at) = self.holes.iter().position(|hole| (hole.first..hole.end).contains(&seq)) else {
            return false;
        };
        let hole = self.holes[at];
        let (below, above) = (Hole { end: seq, ..hole }, Hole { first: seq + 1, ..hole });
        self.holes.remove(at);
        for part in [above, below] {
            if part.first < part.end {
                self.holes.insert(at, part);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds numbers; returns the losses of each step.
    fn feed(reorder: u32, seqs: &[u64]) -> Vec<Vec<(u64, u64)>> {
        let mut gaps = Gaps::new(reorder);
        seqs.iter()
            .map(|seq| {
                let mut lost = Vec::new();
                gaps.arrived(*seq, |first, packets| lost.push((first, packets)));
                lost
            })
            .collect()
    }

    #[test]
    fn on_a_fifo_path_a_gap_is_lost_at_once() {
        assert_eq!(feed(1, &[7, 8, 11, 12]), [vec![], vec![], vec![(9, 2)], vec![]]);
    }

    #[test]
    fn three_later_packets_are_waited_for_where_the_scheme_says_so() {
        assert_eq!(feed(3, &[0, 2, 3, 4, 5]), [vec![], vec![], vec![], vec![(1, 1)], vec![]]);
        // the missing packet arrives after two later ones
        assert!(feed(3, &[0, 2, 3, 1, 4, 5, 6]).iter().all(Vec::is_empty));
        // two holes that are lost one after the other
        assert_eq!(feed(3, &[0, 2, 4, 5, 6]), [vec![], vec![], vec![], vec![(1, 1)], vec![(3, 1)]]);
    }

    #[test]
    fn a_late_packet_splits_its_hole() {
        // 1..=4 are missing; 3 arrives late and counts as later than 1 and 2
        assert_eq!(feed(3, &[0, 5, 3, 6, 7]), [vec![], vec![], vec![], vec![(1, 2)], vec![(4, 1)]]);
    }

    #[test]
    fn duplicates_and_packets_declared_lost_are_old() {
        let mut gaps = Gaps::new(1);
        let mut place = |seq| gaps.arrived(seq, |_, _| {});
        assert_eq!(
            [0, 1, 1, 3, 2, 0].map(&mut place),
            [
                SequenceClass::New,
                SequenceClass::New,
                SequenceClass::Old,
                SequenceClass::New,
                SequenceClass::Old,
                SequenceClass::Old
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn every_number_is_new_once_or_lost_once(
            reorder in 1u32..5,
            shuffled in proptest::collection::vec((0u64..40, 0u64..6), 1..120),
        ) {
            // ascending numbers with reordering, losses and duplicates
            let seqs: Vec<u64> = shuffled.iter().enumerate().map(|(i, (x, y))| (i as u64 + x * y / 6) / 2 + 3).collect();
            let mut gaps = Gaps::new(reorder);
            let (mut new, mut is_lost) = (Vec::new(), Vec::new());
            for seq in &seqs {
                let place = gaps.arrived(*seq, |first, packets| is_lost.extend(first..first + packets));
                if place == SequenceClass::New {
                    new.push(*seq);
                }
                proptest::prop_assert!(gaps.holes.len() <= reorder as usize + 1);
            }
            let pending: Vec<u64> = gaps.holes.iter().flat_map(|hole| hole.first..hole.end).collect();
            let mut all: Vec<u64> = new.iter().chain(&is_lost).chain(&pending).copied().collect();
            all.sort_unstable();
            let first = seqs[0];
            let last = *seqs.iter().max().expect("there are numbers");
            proptest::prop_assert_eq!(all, (first..=last.max(first)).collect::<Vec<_>>());
        }
    }
}
