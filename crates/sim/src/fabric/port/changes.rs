//! Changes of a link during the run: rate, delay, up or down.

use contract::{Arena, PacketId};
use units::{Bytes, Carry, Duration, Rate, Time};

use super::{Offer, Port};

impl Port {
    /// Changes the rate of the link. The transmission in progress continues at the new rate, and waiting packets
    /// follow. Returns the events to schedule.
    pub(in crate::fabric) fn set_rate(&mut self, now: Time, rate: Rate, arena: &mut Arena) -> Vec<Offer> {
        self.cold.limit.link = Some(rate);
        self.set_effective_rate(now, self.cold.limit.cap.map_or(rate, |cap| cap.min(rate)), arena)
    }

    /// Sets the rate at which the port transmits from now on. It must not follow a trace.
    pub(super) fn set_effective_rate(&mut self, now: Time, rate: Rate, arena: &mut Arena) -> Vec<Offer> {
        debug_assert!(!self.is_planned(), "blueprints change no rate that a trace or a shaper plans");
        self.accumulate_capacity(now);
        let old = self.transmitter.set_rate(rate);
        self.advance(now);
        // packets that have not left: the one in transmission, if any, and those that wait
        let mut cursor = self.ring.waiting;
        while cursor != self.ring.head && self.ring.at(cursor.wrapping_sub(1)).depart > now {
            cursor = cursor.wrapping_sub(1);
        }
        let mut busy_until = now;
        let mut carry = Carry::default();
        while cursor != self.ring.tail {
            let delay = self.transmitter.delay;
            let slot = self.ring.at_mut(cursor);
            if slot.start <= now {
                slot.depart = now + rescaled(slot.depart - now, old, rate);
            } else {
                let (span, rest) = rate.serialise(Bytes::new(u64::from(slot.size_bytes)), carry);
                carry = rest;
                let waited_more = busy_until.as_nanos().wrapping_sub(slot.start.as_nanos()) as i64;
                slot.start = busy_until;
                slot.depart = busy_until + span;
                self.waits.correct_wait(i128::from(waited_more), slot.size_bytes);
                arena.get_mut(slot.packet).waited.correct(waited_more);
            }
            slot.arrive = slot.depart + delay;
            busy_until = slot.depart;
            cursor = cursor.wrapping_add(1);
        }
        (self.transmitter.busy_until, self.transmitter.carry) = (busy_until, carry);
        if self.next_service() != Time::NEVER {
            self.set_next_service(busy_until);
        }
        self.keep_order();
        if self.ring.len() > 0 { vec![self.arm()] } else { Vec::new() }
    }

    /// Changes the propagation delay of packets that have not left. A link delivers in order, so a packet does not
    /// overtake those on the link after its delay is shortened.
    pub(in crate::fabric) fn set_delay(&mut self, now: Time, delay: Duration) -> Vec<Offer> {
        let delay = match &mut self.cold.impairments {
            Some(impairments) => impairments.set_delay(delay),
            None => delay,
        };
        self.transmitter.delay = delay;
        for i in 0..self.ring.len() as u32 {
            let slot = self.ring.at_mut(self.ring.head.wrapping_add(i));
            if slot.depart > now {
                slot.arrive = slot.depart + delay;
            }
        }
        self.keep_order();
        if self.ring.len() > 0 { vec![self.arm()] } else { Vec::new() }
    }

    fn keep_order(&mut self) {
        let mut earliest = Time::ZERO;
        for i in 0..self.ring.len() as u32 {
            let slot = self.ring.at_mut(self.ring.head.wrapping_add(i));
            slot.arrive = slot.arrive.max(earliest);
            earliest = slot.arrive;
        }
        self.transmitter.last_arrive = earliest;
    }

    /// Takes the link up, or down; returns the packets that are lost.
    pub(in crate::fabric) fn set_up(&mut self, now: Time, up: bool) -> Vec<PacketId> {
        self.accumulate_capacity(now);
        self.paths.up = up;
        self.update_offer_path();
        if up {
            return Vec::new();
        }
        if let Some(cursor) = &mut self.cold.cursor {
            cursor.reset(now);
        }
        if let Some(shaper) = &mut self.cold.shaper {
            shaper.reset(now);
        }
        self.advance(now);
        // packets that did not leave do not count as transmitted
        let mut lost = Vec::new();
        for i in 0..self.ring.len() as u32 {
            let slot = *self.ring.at(self.ring.head.wrapping_add(i));
            if slot.depart > now {
                self.counters.take_back_sent(slot.size_bytes);
            }
            if slot.start > now {
                let unspent = (slot.start - now).as_nanos();
                self.waits.correct_wait(-i128::from(unspent), slot.size_bytes);
            }
            lost.push(slot.packet);
        }
        self.ring.head = self.ring.tail;
        self.ring.waiting = self.ring.tail;
        self.fifo.waiting_bytes = 0;
        self.transmitter.busy_until = now;
        self.transmitter.last_arrive = now;
        self.armed = Time::NEVER;
        if let Some(impairments) = &mut self.cold.impairments {
            lost.extend(impairments.drain());
        }
        if let Some(discipline) = &mut self.cold.discipline {
            lost.extend(discipline.drain());
        }
        lost
    }
}

/// The rest of a transmission at a new rate.
fn rescaled(remaining: Duration, old: Rate, new: Rate) -> Duration {
    if new == Rate::ZERO {
        return Duration::MAX;
    }
    if new == Rate::UNLIMITED {
        return Duration::ZERO;
    }
    let bit_nanos = u128::from(remaining.as_nanos()) * u128::from(old.as_bps());
    Duration::from_nanos(u64::try_from(bit_nanos / u128::from(new.as_bps())).unwrap_or(u64::MAX))
}
