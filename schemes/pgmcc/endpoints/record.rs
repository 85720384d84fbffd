//! Packets that have arrived and packets that are lost, from bitmaps.

/// The last 32 packets at the source, as acknowledged by ackers.
///
/// ours: the number of later packets that are waited for follows what the path shows, as far as the 32 packets of an
/// acknowledgement go; the draft has three.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// Acknowledged later packets after which a packet is lost, if none was overtaken by more.
    dupacks: u32,
    /// Acknowledged later packets after which a packet is lost, by measurement: one more than the largest extent of an
    /// overtaken packet (RFC 4737 §4.2.1) that was declared lost.
    tolerated: u32,
    /// Losses since then.
    losses: u32,
    /// One above the highest acknowledged number.
    end: u64,
    /// Acknowledged; bit 0 is `end` − 1.
    acked: u32,
    /// Acknowledged, lost, or ignored.
    resolved: u32,
    /// Packets below this number are ignored.
    since: u64,
}

/// The result of an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AckResult {
    /// It is old or a duplicate.
    pub(crate) stale: bool,
    /// N, packets newly acknowledged.
    pub(crate) acked: u64,
    /// Packets newly declared lost.
    pub(crate) lost: u64,
    /// Number of the last of those that were followed by enough acknowledged packets.
    pub(crate) last_lost: Option<u64>,
    /// A packet that was declared lost is acknowledged: it was overtaken. And no other in the record is lost.
    pub(crate) overtaken: bool,
}

impl Record {
    /// Nothing acknowledged. A packet is lost when `dupacks` later ones are acknowledged.
    pub(crate) const fn new(dupacks: u32) -> Self {
        Self { dupacks, tolerated: dupacks, losses: 0, end: 0, acked: u32::MAX, resolved: u32::MAX, since: 0 }
    }

    /// Ignores all packets below `next` from now on.
    pub(crate) fn forget(&mut self, next: u64) {
        self.since = next;
        self.resolved = u32::MAX;
    }

    /// Takes an acknowledgement of `newest` and the 31 before.
    pub(crate) fn on_ack(&mut self, newest: u64, bitmap: u32) -> AckResult {
        let mut result = AckResult::default();
        let acked_bits = if newest >= self.end {
            result.lost += self.advance(newest);
            bitmap
        } else {
            // bits of an older acknowledgement are moved to their places
            let behind = self.end - 1 - newest;
            let acked_bits = shifted(bitmap, behind);
            result.stale = acked_bits & !self.resolved == 0;
            acked_bits
        };
        // acknowledged packets that are resolved without an acknowledgement were declared lost
        let overtaken = acked_bits & self.resolved & !self.acked & self.recorded();
        if overtaken != 0 {
            let place = u32::BITS - 1 - overtaken.leading_zeros();
            let extent = (self.acked & !(u32::MAX << place)).count_ones();
            self.tolerated = self.tolerated.max(extent + 1).min(u32::BITS - 1);
            self.losses = 0;
            let lost = self.resolved & !self.acked & !acked_bits & self.recorded();
            (result.overtaken, result.stale) = (lost == 0, false);
        }
        result.acked = u64::from((acked_bits & !self.resolved).count_ones());
        self.acked |= acked_bits;
        self.resolved |= acked_bits;

        // an unacknowledged packet followed by three acknowledged ones is lost        [PGMCC]
        let mut above = self.acked;
        (1..self.tolerated).for_each(|_| above &= above.wrapping_sub(1));
        if above != 0 {
            let followed = u32::MAX << above.trailing_zeros();
            let lost = followed & !self.resolved;
            result.lost += u64::from(lost.count_ones());
            result.last_lost = (lost != 0).then(|| self.end - 1 - u64::from(lost.trailing_zeros()));
            self.resolved |= lost;
            self.losses += lost.count_ones();
            if self.losses >= PERSIST {
                (self.tolerated, self.losses) = (self.dupacks, 0);
            }
        }
        result
    }

    /// The places of packets that are not ignored.
    fn recorded(&self) -> u32 {
        let count = self.end.saturating_sub(self.since);
        if count < 32 { !(u32::MAX << count) } else { u32::MAX }
    }

    /// Makes `newest` the highest number. Returns how many packets leave the record without having been acknowledged.
    fn advance(&mut self, newest: u64) -> u64 {
        let ahead = newest + 1 - self.end;
        let leaving = if ahead < 32 { !self.resolved >> (32 - ahead) } else { !self.resolved };
        // packets that were never in the record
        let skipped = (newest + 1).saturating_sub(32).saturating_sub(self.end.max(self.since));
        self.end = newest + 1;
        self.acked = shifted(self.acked, ahead);
        // among the new packets, those below `since` are ignored
        self.resolved =
            shifted(self.resolved, ahead) | shifted(u32::MAX, self.end.saturating_sub(self.since));
        u64::from(leaving.count_ones()) + skipped
    }
}

/// `bits << by`; zero if all bits are shifted out.
fn shifted(bits: u32, by: u64) -> u32 {
    if by < 32 { bits << by } else { 0 }
}

/// Losses without an overtaken packet after which the source waits for no more than `dupacks` again: as many as RACK
/// has recoveries (RFC 8985 §6.2).
const PERSIST: u32 = 16;
