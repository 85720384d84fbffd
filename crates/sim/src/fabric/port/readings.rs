//! Readings of a port's counters, and the end of the warm-up.

use units::{Rate, Time};

use super::Port;
use super::counters::{Capacity, Counters, WaitTimes};
use crate::trace::PortRecord;

impl Port {
    /// The capacity up to `now`.
    fn capacity(&self, now: Time) -> Capacity {
        let rate = if self.paths.up { self.rate() } else { Rate::ZERO };
        match &self.cold.cursor {
            Some(cursor) if self.paths.up => self.cold.capacity.until_by_trace(now, cursor.trace()),
            _ => self.cold.capacity.until(now, rate),
        }
    }

    /// Counts the capacity up to `now`, before the rate changes.
    pub(super) fn accumulate_capacity(&mut self, now: Time) {
        self.cold.capacity = self.capacity(now);
    }

    fn totals(&self, now: Time) -> PortRecord {
        let Counters { offered_packets, sent_packets, sent_bytes } = self.counters;
        let WaitTimes { backlog_packet_ns, backlog_byte_ns } = self.waits;
        PortRecord {
            offered_packets,
            sent_packets,
            sent_bytes,
            marked_packets: self.cold.marked_packets,
            drops: self.cold.drops,
            backlog_packet_ns,
            backlog_byte_ns,
            backlog_max: self.fifo.backlog_max,
            capacity_bits: self.capacity(now).bit_ns / 1_000_000_000,
        }
    }

    /// All counters at `now`, warm-up included, without packets that are accepted but not transmitted.
    pub(crate) fn reading(&self, now: Time) -> PortRecord {
        let mut record = self.totals(now);
        for slot in self.ring.iter().filter(|slot| slot.depart > now) {
            let size = u64::from(slot.size_bytes);
            if slot.start >= now {
                let wait = u128::from((slot.start - now).as_nanos());
                record.backlog_packet_ns -= wait;
                record.backlog_byte_ns -= wait * u128::from(size);
                record.sent_packets -= 1;
                record.sent_bytes -= size;
            } else {
                // at the current rate; the transmission may have started at another one
                let left_ns = u128::from((slot.depart - now).as_nanos());
                let remaining = match &self.cold.cursor {
                    Some(cursor) => cursor.trace().bit_ns(now, slot.depart),
                    None => left_ns * u128::from(self.transmitter.rate.as_bps()),
                } / 8_000_000_000;
                record.sent_bytes -= u64::try_from(remaining).map_or(size, |remaining| remaining.min(size));
            }
        }
        record
    }

    /// Bits that the link could have carried since the last call.
    pub(crate) fn capacity_since_last(&mut self, now: Time) -> f64 {
        self.accumulate_capacity(now);
        self.cold.capacity.since_last() as f64 / 1e9
    }

    /// Counters since the end of the warm-up.
    pub(in crate::fabric) fn record(&self, now: Time) -> PortRecord {
        let mut record = self.reading(now);
        let Some(base) = &self.cold.base else { return record };
        record.offered_packets -= base.offered_packets;
        record.sent_packets = record.sent_packets.saturating_sub(base.sent_packets);
        record.sent_bytes = record.sent_bytes.saturating_sub(base.sent_bytes);
        record.marked_packets -= base.marked_packets;
        record.drops.iter_mut().zip(base.drops).for_each(|(count, base)| *count -= base);
        record.backlog_packet_ns = record.backlog_packet_ns.saturating_sub(base.backlog_packet_ns);
        record.backlog_byte_ns = record.backlog_byte_ns.saturating_sub(base.backlog_byte_ns);
        record.capacity_bits -= base.capacity_bits;
        record
    }

    /// Ends the warm-up.
    pub(in crate::fabric) fn rebase(&mut self, now: Time) {
        self.cold.base = Some(Box::new(self.reading(now)));
        if let Some(queueing_delays) = &mut self.cold.queueing_delays {
            queueing_delays.clear();
        }
        let in_ring = self.ring.iter().filter(|slot| slot.start > now).count() as u32;
        self.fifo.backlog_max = self.cold.discipline.as_ref().map_or(in_ring, |d| d.backlog.packets);
    }
}
