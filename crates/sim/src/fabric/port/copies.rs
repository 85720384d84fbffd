//! Copies of a group's packet at a plain FIFO whose link is idle: they are offered without one of their own.

use contract::PacketId;
use units::Time;

use super::super::ring::{Ring, Spare};
use super::{ArrivalPath, Counters, LazyCold, Offer, OfferPath, Port, WaitTimes};

impl Port {
    /// Whether the transmission of a packet that is offered now starts at once, and no part of the link changes the
    /// packet or looks at it.
    #[inline]
    pub(in crate::fabric) fn is_idle(&self, now: Time) -> bool {
        self.paths.offers == OfferPath::Fast
            && self.paths.arrivals == ArrivalPath::Fast
            && self.transmitter.busy_until <= now
            && self.mark_above > 0
    }

    /// Offers a packet to the port, which is idle.
    #[inline]
    pub(in crate::fabric) fn launch(
        &mut self,
        now: Time,
        packet: PacketId,
        size_bytes: u32,
        spare: &mut Spare,
    ) -> Offer {
        self.counters.offered_packets += 1;
        self.advance(now);
        let size = u64::from(size_bytes);
        let (depart, arrive) = self.transmitter.send(now, now, size);
        self.counters.count_sent(size);
        let is_first = self.ring.len() == 0;
        self.ring.push((packet, size_bytes), (now, depart, arrive), spare);
        self.ring.waiting = self.ring.tail;
        if is_first { self.arm_first(packet, arrive) } else { Offer::Accepted }
    }

    /// The state of a port that [`Port::is_idle`] or was until a packet was offered to it now, with counters at zero.
    pub(in crate::fabric) fn model(&self, spare: &mut Spare) -> Self {
        let mut model = Self {
            ring: Ring::default(),
            armed: self.armed,
            paths: self.paths,
            mark_above: self.mark_above,
            transmitter: self.transmitter.clone(),
            counters: Counters::default(),
            fifo: self.fifo,
            cold: LazyCold::default(),
            waits: WaitTimes::default(),
        };
        model.ring.copy_from(&self.ring, spare);
        model
    }

    /// Whether the packets on the link and the transmitter are as in a model of a port that was idle when a packet was
    /// offered to it now. If so, the port had that packet, too, and equal offers give equal results.
    pub(in crate::fabric) fn is_as(&self, model: &Self) -> bool {
        self.transmitter == model.transmitter && self.ring.iter().eq(model.ring.iter())
    }

    /// Makes the port one of a fan, whose model has its packets and its transmitter from now on. Events of the port
    /// itself are stale meanwhile.
    pub(in crate::fabric) fn enter_fan(&mut self, fan: u32) {
        self.paths.offers = OfferPath::Fan;
        self.armed = Time::NEVER;
        (self.ring.head, self.ring.waiting, self.ring.tail) = (0, 0, 0);
        // the ring has no first packet
        self.ring.first = PacketId(fan);
    }

    /// The fan of which the port is; `None` for most ports.
    #[inline]
    pub(in crate::fabric) fn fan(&self) -> Option<u32> {
        (self.paths.offers == OfferPath::Fan).then_some(self.ring.first.0)
    }

    /// Ends the membership of a fan: the port takes over the state of the model.
    pub(in crate::fabric) fn leave_fan(&mut self, model: &Self, spare: &mut Spare) {
        self.paths.offers = OfferPath::Fast;
        self.armed = model.armed;
        self.transmitter = model.transmitter.clone();
        self.counters.add(&model.counters);
        self.ring.copy_from(&model.ring, spare);
    }

    /// Gives up the memory of a model for packets.
    pub(in crate::fabric) fn give_ring(&mut self, spare: &mut Spare) {
        self.ring.give(spare);
    }

    /// The packet that arrives first, and when the second one arrives.
    pub(in crate::fabric) fn first_arrival(&self) -> (PacketId, Time) {
        let second = self.ring.head.wrapping_add(1);
        let next = if self.ring.len() > 1 { self.ring.at(second).arrive } else { Time::NEVER };
        (self.ring.at(self.ring.head).packet, next)
    }
}
