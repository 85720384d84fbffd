//! Commands of a controller to a port: queue limit, marking threshold, and rate limit.

use contract::{Arena, QueueDiscipline, QueueLimit};
use units::{Bytes, Rate, Time};

use super::cold::RateLimit;
use super::{Offer, Port};
use crate::PortSpec;

impl Port {
    /// Changes the queue limit and the marking threshold. Packets that wait are not dropped.
    pub(crate) fn set_queue(&mut self, limit_packets: Option<u32>, mark_above: u32) {
        self.mark_above = mark_above;
        if let Some(packets) = limit_packets {
            (self.fifo.packets, self.fifo.bytes) = (packets, Bytes::UNLIMITED);
        }
        self.tell_discipline();
    }

    /// Restores the queue settings of `spec`.
    pub(crate) fn reset_queue(&mut self, spec: &PortSpec) {
        let QueueLimit { packets, mark_above, bytes } = spec.queue.limit();
        (self.fifo.packets, self.fifo.bytes, self.mark_above) = (packets, bytes, mark_above);
        self.tell_discipline();
    }

    fn tell_discipline(&mut self) {
        let limit = self.limit();
        if let Some(discipline) = &mut self.cold.discipline {
            discipline.queue.set_limit(limit);
        }
    }

    /// Limits the rate of the port.
    pub(in crate::fabric) fn set_cap(&mut self, now: Time, cap: Rate, arena: &mut Arena) -> Vec<Offer> {
        let link = self.cold.limit.link.unwrap_or(self.transmitter.rate);
        self.cold.limit = RateLimit { link: Some(link), cap: Some(cap) };
        self.set_effective_rate(now, link.min(cap), arena)
    }
}
