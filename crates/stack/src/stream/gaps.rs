//! Loss detection of streams: by sequence numbers, and by time once packets overtake.

use std::collections::VecDeque;

use units::{Duration, Time};

/// The classification of an arriving number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SequenceClass {
    /// The next number, or one that reveals a gap.
    New,
    /// One that fills a gap that is not yet lost: it was overtaken.
    Reordered,
    /// One that was declared lost: it was overtaken, too.
    Late,
    /// A duplicate, or a packet that was declared lost longer ago than is remembered.
    Old,
}

/// Consecutive packets that have not arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hole {
    first: u64,
    end: u64,
    /// Packets that arrived with higher numbers.
    later_arrivals: u32,
    /// When the first of them arrived.
    since: Time,
}

/// Detects missing packets by their numbers, in the way of RACK [RFC8985 §6.2].
///
/// Until a packet has been overtaken, a packet counts as lost when `reorder` packets with higher numbers have arrived,
/// as on a FIFO path. A packet that is overtaken opens the *reordering window*: from then on, a packet must also be
/// missing for the window before it counts as lost. The window is 1.25 times the longest time by which a packet came
/// after one that had been sent later (the late offset, RFC 4737 §4.2.2). It ends after sixteen losses in a row without
/// an overtaken packet, as RACK's window does after sixteen recoveries.
///
/// RACK takes the window from the round-trip time, which a receiver does not know; the measured offset takes its place,
/// as in SCReAM.
///
/// Memory is bounded: a hole is open for at most the window after `reorder` arrivals, and there are at most
/// [`MAX_HOLES`].
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    reorder: u32,
    /// Whether the reordering window opens.
    adapts: bool,
    expected: Option<u64>,
    /// Open holes in ascending order.
    holes: Vec<Hole>,
    /// Packets that were declared lost less than [`MAX_WINDOW`] ago, the oldest declaration first.
    lost: VecDeque<Hole>,
    /// The reordering window; zero until a packet is overtaken.
    window: Duration,
    /// Holes that were declared lost since a packet was last overtaken.
    losses: u32,
}

impl Gaps {
    /// A detector before the first packet. Zero for `reorder` counts as one. Without `adapts` the number of later
    /// packets alone decides.
    pub(super) fn new(reorder: u32, adapts: bool) -> Self {
        Self {
            reorder: reorder.max(1),
            adapts,
            expected: None,
            holes: Vec::new(),
            lost: VecDeque::new(),
            window: Duration::ZERO,
            losses: 0,
        }
    }

    /// The reordering window; zero until a packet is overtaken.
    #[inline]
    pub(super) const fn window(&self) -> Duration {
        self.window
    }

    /// Takes an arrival. `lost(first, packets)` is called for each run of packets that are newly lost, in order.
    #[inline]
    pub(super) fn arrived(&mut self, seq: u64, now: Time, lost: impl FnMut(u64, u64)) -> SequenceClass {
        let expected = self.expected.unwrap_or(seq);
        if seq == expected && self.holes.is_empty() {
            self.expected = Some(seq + 1);
            return SequenceClass::New;
        }
        self.out_of_order(seq, expected, now, lost)
    }

    /// Takes a number that is not the expected one, or any number while packets are missing.
    fn out_of_order(
        &mut self,
        seq: u64,
        expected: u64,
        now: Time,
        mut lost: impl FnMut(u64, u64),
    ) -> SequenceClass {
        let mut class = SequenceClass::New;
        if seq < expected {
            if let Some(since) = fill(&mut self.holes, seq) {
                class = SequenceClass::Reordered;
                self.overtaken(now.saturating_since(since));
            } else if let Some(since) = self.late(seq, now) {
                self.overtaken(now.saturating_since(since));
                return SequenceClass::Late;
            } else {
                return SequenceClass::Old;
            }
        }
        if seq > expected {
            self.holes.push(Hole { first: expected, end: seq, later_arrivals: 0, since: now });
        }
        self.expected = Some(expected.max(seq + 1));
        let (reorder, window) = (self.reorder, self.window);
        let mut excess = self.holes.len().saturating_sub(MAX_HOLES);
        let Self { holes, lost: declared, losses, .. } = self;
        holes.retain_mut(|hole| {
            hole.later_arrivals = hole.later_arrivals.saturating_add(u32::from(hole.end <= seq));
            // RACK: lost if sent RTT + reo_wnd ago; here, reo_wnd after a later one arrived    [RFC8985 §6.2 step 5]
            let waited = now.saturating_since(hole.since) >= window;
            let is_lost = (hole.later_arrivals >= reorder && waited) || excess > 0;
            if is_lost {
                excess = excess.saturating_sub(1);
                *losses += 1;
                if declared.len() == MAX_LOST {
                    declared.pop_front();
                }
                declared.push_back(*hole);
                lost(hole.first, hole.end - hole.first);
            }
            !is_lost
        });
        if self.losses >= PERSIST {
            // reo_wnd_persist                                                      [RFC8985 §6.2 step 4]
            (self.window, self.losses) = (Duration::ZERO, 0);
        }
        class
    }

    /// Removes `seq` from the packets that were declared lost. Returns when it was found missing.
    #[cold]
    fn late(&mut self, seq: u64, now: Time) -> Option<Time> {
        while self.lost.front().is_some_and(|hole| now.saturating_since(hole.since) > MAX_WINDOW) {
            self.lost.pop_front();
        }
        let at = self.lost.iter().position(|hole| (hole.first..hole.end).contains(&seq))?;
        let hole = self.lost[at];
        let (below, above) = (Hole { end: seq, ..hole }, Hole { first: seq + 1, ..hole });
        match (below.first < below.end, above.first < above.end) {
            (false, false) => {
                self.lost.remove(at);
            }
            (true, false) => self.lost[at] = below,
            (false, true) => self.lost[at] = above,
            // of two parts one is forgotten if there is no place
            (true, true) => {
                self.lost[at] = above;
                if self.lost.len() < MAX_LOST {
                    self.lost.insert(at, below);
                }
            }
        }
        Some(hole.since)
    }

    /// A packet came `offset` after one that was sent later.
    fn overtaken(&mut self, offset: Duration) {
        self.losses = 0;
        if !self.adapts {
            return;
        }
        // a quarter more, so that the next maximum is seldom a loss; RACK adds a quarter of the round-trip time
        self.window = self.window.max(offset + offset / 4).min(MAX_WINDOW);
    }
}

/// Removes `seq` from its hole. Returns when the hole opened; `None` if no hole has it.
fn fill(holes: &mut Vec<Hole>, seq: u64) -> Option<Time> {
    let at = holes.partition_point(|hole| hole.end <= seq);
    let hole = *holes.get(at).filter(|hole| hole.first <= seq)?;
    let (below, above) = (Hole { end: seq, ..hole }, Hole { first: seq + 1, ..hole });
    match (below.first < below.end, above.first < above.end) {
        (false, false) => {
            holes.remove(at);
        }
        (true, false) => holes[at] = below,
        (false, true) => holes[at] = above,
        (true, true) => {
            holes[at] = above;
            holes.insert(at, below);
        }
    }
    Some(hole.since)
}

/// Maximum reordering window: the minimum retransmission timeout of TCP [RFC6298 §2.4]. What comes later than that is
/// lost to a sender of TCP, too.
const MAX_WINDOW: Duration = Duration::from_secs(1);
/// Losses in a row without an overtaken packet after which the reordering window ends: its persistence in RACK
/// [RFC8985 §6.2 step 4].
const PERSIST: u32 = 16;
/// Maximum number of open holes. Of more, the oldest count as lost. Our choice: more than any path keeps, so that
/// numbers of an attacker cost little.
const MAX_HOLES: usize = 512;
/// Maximum number of runs of lost packets that are remembered.
const MAX_LOST: usize = 64;

#[cfg(test)]
#[path = "gaps_tests.rs"]
mod tests;
