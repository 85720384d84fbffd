//! Commands of a controller to a port: queue limit, marking threshold, and rate limit.

use stack::queue::ClassLimit;
use units::{Bytes, Rate, Time};

use super::{Offer, Port};
use crate::{Limit, PortSpec};

/// Packets and bytes that may wait.
pub(super) fn limits(limit: Limit) -> (u32, u64) {
    match limit {
        Limit::Packets(packets) => (packets, u64::MAX),
        Limit::Bytes(bytes) => (u32::MAX, bytes.as_u64()),
    }
}

impl Port {
    /// Changes how much may wait, and from when on the queue marks. What waits already stays.
    pub(crate) fn set_queue(&mut self, limit_packets: Option<u32>, mark_above: u32) {
        self.mark_above = mark_above;
        if let Some(packets) = limit_packets {
            (self.limit_packets, self.limit_bytes) = (packets, u64::MAX);
        }
        self.tell_discipline();
    }

    /// Takes back what was ordered of the queue: as `spec` has it.
    pub(crate) fn reset_queue(&mut self, spec: &PortSpec) {
        (self.limit_packets, self.limit_bytes) = limits(spec.queue.limit);
        self.mark_above = spec.queue.mark_above.unwrap_or(u32::MAX);
        self.tell_discipline();
    }

    fn tell_discipline(&mut self) {
        let limit = ClassLimit {
            packets: self.limit_packets,
            bytes: if self.limit_bytes == u64::MAX { Bytes::UNLIMITED } else { Bytes::new(self.limit_bytes) },
            mark_above: self.mark_above,
        };
        if let Some(discipline) = &mut self.discipline {
            discipline.queue.set_limit(limit);
        }
    }

    /// Caps what the port carries.
    pub(crate) fn set_cap(&mut self, now: Time, cap: Rate) -> Vec<Offer> {
        self.cold.cap = cap;
        self.set_effective_rate(now, self.cold.link_rate.min(cap))
    }
}
