//! The packets in flight, and what a report says of them.

use std::collections::VecDeque;

use units::{Bytes, Duration, Time};

use super::headers::{REPORTED, Report};
use super::receiver::KEPT;

/// Sent packets, from the oldest that is not acknowledged and can still be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flight {
    /// Number of the first packet in the list.
    first: u64,
    sent: VecDeque<Sent>,
    /// All packets before this one are acknowledged or lost.
    undecided: u64,
    /// Highest acknowledged number.
    highest: Option<u64>,
    in_flight: Bytes,
    /// Time that a missing packet is given after a later one was acknowledged.
    reordering: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    size: u32,
    at: Time,
    acked: bool,
    /// When a later packet was acknowledged without this one.
    missing_since: Time,
    lost: bool,
}

/// What a report acknowledges for the first time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Acked {
    /// bytes_newly_acked: bytes up to the highest number, lost packets included.
    pub(crate) bytes: u64,
    /// bytes_newly_acked_ce.
    pub(crate) marked_bytes: u64,
    /// Packets that arrived.
    pub(crate) packets: u64,
    /// Of these, marked ones.
    pub(crate) marked: u64,
    /// Packets that are detected as lost.
    pub(crate) lost: u64,
    /// When the highest packet was sent, if it is newly acknowledged.
    pub(crate) sent_at: Option<Time>,
}

impl Flight {
    /// Bytes sent after the highest acknowledged packet.
    pub(crate) const fn bytes(&self) -> Bytes {
        self.in_flight
    }

    /// Whether a packet of this number was sent.
    pub(crate) fn contains(&self, seq: u64) -> bool {
        seq < self.first + self.sent.len() as u64
    }

    /// Takes a packet that leaves.
    pub(crate) fn send(&mut self, size: Bytes, at: Time) {
        let size_bytes = size.as_u64() as u32;
        self.sent.push_back(Sent {
            size: size_bytes,
            at,
            acked: false,
            missing_since: Time::NEVER,
            lost: false,
        });
        self.in_flight += size;
    }

    /// Nothing is in flight any more: the packets count as lost.
    pub(crate) fn clear(&mut self) {
        let next = self.first + self.sent.len() as u64;
        *self = Self { first: next, highest: next.checked_sub(1), ..Self::default() };
    }

    /// Takes a report of packets that are known.
    pub(crate) fn on_report(&mut self, report: &Report, now: Time) -> Acked {
        let mut acked = Acked::default();
        let newest = self.highest.is_none_or(|highest| report.highest > highest);
        if newest {
            let from = self.highest.map_or(self.first, |highest| highest + 1).max(self.first);
            for seq in from..=report.highest {
                let size = u64::from(self.sent[(seq - self.first) as usize].size);
                acked.bytes += size;
                self.in_flight -= Bytes::new(size);
            }
            if report.highest >= self.first {
                acked.sent_at = Some(self.sent[(report.highest - self.first) as usize].at);
            }
            self.highest = Some(report.highest);
        }
        let oldest = (report.highest + 1).saturating_sub(REPORTED);
        // those that are neither acknowledged nor lost, and those of the report
        let from = self.undecided.min(oldest).max(self.first);
        for seq in from..=report.highest {
            let sent = &mut self.sent[(seq - self.first) as usize];
            let age = report.highest - seq;
            if seq >= oldest && report.received >> age & 1 == 1 {
                if !sent.acked {
                    acked.packets += 1;
                    if report.marked >> age & 1 == 1 {
                        acked.marked += 1;
                        acked.marked_bytes += u64::from(sent.size);
                    }
                    if sent.lost {
                        // it was late: the window becomes as long                 [SCREAM2, Detecting Lost Data Units]
                        self.reordering = self.reordering.max(now.saturating_since(sent.missing_since));
                    }
                }
                sent.acked = true;
            } else if !sent.acked {
                sent.missing_since = sent.missing_since.min(now);
                if !sent.lost && now.saturating_since(sent.missing_since) >= self.reordering {
                    sent.lost = true;
                    acked.lost += 1;
                }
            }
        }
        self.forget();
        acked
    }

    /// Forgets the oldest packets that are acknowledged, or lost and too old to come.
    fn forget(&mut self) {
        let Some(highest) = self.highest else { return };
        let decided = |sent: &Sent| sent.acked || sent.lost;
        self.undecided = self.undecided.max(self.first);
        while self.sent.get((self.undecided - self.first) as usize).is_some_and(decided) {
            self.undecided += 1;
        }
        while let Some(oldest) = self.sent.front()
            && self.first <= highest
            && (oldest.acked || oldest.lost && self.first + KEPT <= highest)
        {
            self.sent.pop_front();
            self.first += 1;
        }
    }
}
