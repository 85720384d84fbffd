//! Commands of a controller to a port: queue limit, marking threshold, and rate limit.

use contract::QueueDiscipline;
use units::{Bytes, Rate, Time};

use super::{Offer, Port};
use crate::PortSpec;

impl Port {
    /// Changes the queue limit and the marking threshold. Packets that wait are not dropped.
    pub(crate) fn set_queue(&mut self, limit_packets: Option<u32>, mark_above: u32) {
        self.fifo.limit.mark_above = mark_above;
        if let Some(packets) = limit_packets {
            (self.fifo.limit.packets, self.fifo.limit.bytes) = (packets, Bytes::UNLIMITED);
        }
        self.tell_discipline();
    }

    /// Restores the queue settings of `spec`.
    pub(crate) fn reset_queue(&mut self, spec: &PortSpec) {
        self.fifo.limit = spec.queue.limit();
        self.tell_discipline();
    }

    fn tell_discipline(&mut self) {
        if let Some(discipline) = &mut self.discipline {
            discipline.queue.set_limit(self.fifo.limit);
        }
    }

    /// Limits the rate of the port.
    pub(crate) fn set_cap(&mut self, now: Time, cap: Rate) -> Vec<Offer> {
        self.cold.rates.cap = cap;
        self.set_effective_rate(now, self.cold.rates.link.min(cap))
    }
}
