//! One direction of a link and its queue.
//!
//! A FIFO at a constant rate needs no event at a departure. The times at which a packet will start, leave and arrive are known when it is accepted.
//! All accepted packets are in one ring in that order; only the first of them has an agenda entry. Ports with a queue discipline ([`Discipline`])
//! decide at each departure, so that they have a departure event as well.

mod departures;
mod orders;

use contract::{Backlog, DropReason, NodeId, PacketId, PortId, PortView, QueueDiscipline, QueueLimit, Random, Verdict};
use units::{Bytes, Carry, Duration, Rate, Time};

pub(crate) use departures::Departure;
use departures::Shown;

use super::ring::{Ring, Slot};
use crate::PortSpec;
use crate::trace::PortRecord;

/// What became of a packet that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    /// It goes on; nothing is to be scheduled.
    Accepted,
    /// It goes on; the port wants an `Arrive` at this time.
    Arrive(Time),
    /// It goes on; the port wants a `Depart` at this time.
    Depart(Time),
    /// It is dropped.
    Dropped(DropReason),
}

/// Any queue that is not a plain FIFO.
pub(crate) struct Discipline {
    pub(super) queue: stack::queue::AnyQueue,
    pub(super) random: Random,
    /// Drops from inside the queue, drained by the engine.
    pub(super) dropped: Vec<(PacketId, DropReason)>,
    /// The packet in transmission.
    serving: Option<Slot>,
    /// Up to when the time that packets wait has been counted.
    counted_to: Time,
}

impl Discipline {
    /// An empty queue, with the random numbers that it draws from.
    pub(crate) fn new(queue: stack::queue::AnyQueue, random: Random) -> Self {
        Self { queue, random, dropped: Vec::new(), serving: None, counted_to: Time::ZERO }
    }
}

/// A port. Laid out by cache lines: what an arrival touches, what an offer touches besides, the rest.
#[repr(C, align(64))]
pub(crate) struct Port {
    ring: Ring,
    /// The node at the other end.
    pub(super) to: NodeId,
    /// Arrivals take the slow path: the link loses packets at random or is captured, or it leads to a node with a state machine.
    pub(super) observed_arrivals: bool,
    /// Of these, the link loses packets or is captured.
    lossy_or_tapped: bool,
    /// It is up, has no queue discipline and no router that observes it: an offer goes straight into the ring.
    fast_path: bool,
    up: bool,
    /// When the pending `Arrive` is due; another one is stale.
    armed: Time,
    busy_until: Time,
    /// Time of a byte where it is a whole number: spares a division a packet. Zero elsewhere.
    nanos_per_byte: u64,

    delay: Duration,
    /// When the last packet accepted will arrive.
    last_arrive: Time,
    /// Of the plain FIFO.
    limit: QueueLimit,
    waiting_bytes: u64,
    offered_packets: u64,
    sent_packets: u64,
    sent_bytes: u64,

    backlog_packet_ns: u128,
    backlog_byte_ns: u128,
    backlog_max: u32,
    carry: Carry,
    rate: Rate,
    cold: Box<Cold>,
    pub(super) discipline: Option<Box<Discipline>>,
}

/// What few packets touch.
struct Cold {
    loss: f64,
    loss_random: Random,
    /// It leads to a node with a state machine.
    leads_to_router: bool,
    /// What passes is captured.
    tapped: bool,
    /// The router of its node observes every packet that is offered.
    observed_offers: bool,
    /// The router of its node observes every packet that leaves the queue.
    departures: Option<Shown>,
    /// What the link carries, and the cap of the port.
    link_rate: Rate,
    cap: Rate,
    drops: [u64; DropReason::ALL.len()],
    marked_packets: u64,
    /// Counts at the end of the warm-up, taken off every reading.
    base: PortRecord,
    /// What the link could have carried while up, in bit-nanoseconds.
    capacity_bit_ns: u128,
    capacity_since: Time,
    /// Capacity at the last sample of the utilisation.
    sampled_capacity_bit_ns: u128,
}

impl Port {
    pub(crate) fn new(
        spec: &PortSpec,
        to: NodeId,
        loss_random: Random,
        discipline: Option<Box<Discipline>>,
    ) -> Self {
        Self {
            ring: Ring::default(),
            busy_until: Time::ZERO,
            carry: Carry::default(),
            rate: spec.rate,
            nanos_per_byte: spec.rate.whole_nanos_per_byte().unwrap_or(0),
            delay: spec.delay,
            last_arrive: Time::ZERO,
            armed: Time::NEVER,
            limit: spec.queue.limit(),
            waiting_bytes: 0,
            to,
            up: spec.rate != Rate::ZERO,
            fast_path: discipline.is_none() && spec.rate != Rate::ZERO,
            observed_arrivals: spec.loss > 0.0,
            lossy_or_tapped: spec.loss > 0.0,
            backlog_max: 0,
            offered_packets: 0,
            sent_packets: 0,
            sent_bytes: 0,
            backlog_packet_ns: 0,
            backlog_byte_ns: 0,
            discipline,
            cold: Box::new(Cold {
                loss: spec.loss,
                loss_random,
                leads_to_router: false,
                tapped: false,
                observed_offers: false,
                departures: None,
                link_rate: spec.rate,
                cap: Rate::UNLIMITED,
                drops: Default::default(),
                marked_packets: 0,
                base: PortRecord::default(),
                capacity_bit_ns: 0,
                capacity_since: Time::ZERO,
                sampled_capacity_bit_ns: 0,
            }),
        }
    }

    /// Whether the link loses the packet that arrives now, counted as a drop of the port.
    #[cold]
    pub(crate) fn loses(&mut self) -> bool {
        let lost = self.cold.loss > 0.0 && self.cold.loss_random.chance(self.cold.loss);
        if lost {
            self.count_drop(DropReason::RandomLoss);
        }
        lost
    }

    /// Whether the link loses packets at random or is captured.
    pub(crate) const fn is_lossy_or_tapped(&self) -> bool {
        self.lossy_or_tapped
    }

    /// Whether what passes is captured.
    pub(crate) fn is_tapped(&self) -> bool {
        self.cold.tapped
    }

    /// Has what passes captured from now on.
    pub(crate) fn tap(&mut self) {
        self.cold.tapped = true;
        self.update_arrival_path();
    }

    /// Whether an offer goes straight into the ring, by [`super::Fabric::enqueue`].
    #[inline]
    pub(crate) const fn takes_fast_path(&self) -> bool {
        self.fast_path
    }

    /// Whether the router of its node observes every packet that is offered.
    pub(crate) fn observes_offers(&self) -> bool {
        self.cold.observed_offers
    }

    /// Whether the router of its node observes every packet that leaves the queue.
    pub(crate) fn observes_departures(&self) -> bool {
        self.cold.departures.is_some()
    }

    /// Whether the link is up.
    pub(crate) const fn is_up(&self) -> bool {
        self.up
    }

    /// Whether the queue is the plain FIFO, which needs no event at a departure.
    pub(crate) fn is_fifo(&self) -> bool {
        self.discipline.is_none()
    }

    /// When the pending `Arrive` is due.
    #[inline]
    pub(super) const fn armed(&self) -> Time {
        self.armed
    }

    /// Packets accepted that have not arrived.
    pub(super) fn queued(&self) -> usize {
        self.ring.len()
    }

    /// What its ends are: whether the router of its node observes what is offered and what leaves, whether the node it leads to has a
    /// state machine.
    pub(crate) fn observe(&mut self, [offers, departures]: [bool; 2], to_router: bool) {
        (self.cold.observed_offers, self.cold.leads_to_router) = (offers, to_router);
        self.cold.departures = departures.then(Shown::default);
        self.update_arrival_path();
        self.update_offer_path();
    }

    fn update_offer_path(&mut self) {
        let observed = self.cold.observed_offers || self.cold.departures.is_some();
        self.fast_path = self.up && self.discipline.is_none() && !observed;
    }

    fn update_arrival_path(&mut self) {
        self.lossy_or_tapped = self.cold.loss > 0.0 || self.cold.tapped;
        self.observed_arrivals = self.lossy_or_tapped || self.cold.leads_to_router;
    }

    /// The port as its router sees it.
    pub(super) fn view(&mut self, port: PortId, rate_in: Rate, now: Time) -> PortView {
        self.advance(now);
        let in_ring = if self.ring.len() == 0 { 0 } else { self.ring.tail.wrapping_sub(self.ring.waiting) };
        let backlog = match &self.discipline {
            Some(discipline) => discipline.queue.backlog(),
            None => Backlog { packets: in_ring, bytes: Bytes::new(self.waiting_bytes) },
        };
        let limit = Backlog { packets: self.limit.packets, bytes: self.limit.bytes };
        let busy = self.busy_until > now;
        PortView { port, to: self.to, rate: self.rate, rate_in, backlog, busy, limit }
    }

    pub(super) const fn rate(&self) -> Rate {
        self.rate
    }

    /// Changes the random loss.
    pub(crate) fn set_loss(&mut self, loss: f64) {
        self.cold.loss = loss;
        self.update_arrival_path();
    }

    /// Takes a packet into the plain FIFO of a link that is up. `marked` is set when the packet is to be marked.
    #[inline(always)]
    pub(super) fn offer(&mut self, now: Time, packet: PacketId, size_bytes: u32, marked: &mut bool) -> Offer {
        self.offered_packets += 1;
        self.advance(now);
        let waiting = self.ring.tail.wrapping_sub(self.ring.waiting);
        let size = u64::from(size_bytes);
        let start = self.busy_until.max(now);
        if start > now && !self.limit.admits(waiting, self.waiting_bytes, size) {
            return self.refuse(DropReason::QueueFull);
        }
        if waiting >= self.limit.mark_above {
            *marked = true;
        }
        let depart = start + self.serialise(now, size);
        // a wire delivers in order, also after its delay was shortened
        let arrive = (depart + self.delay).max(self.last_arrive);
        self.last_arrive = arrive;
        self.busy_until = depart;
        self.sent_packets += 1;
        self.sent_bytes += size;
        if self.ring.len() == 0 {
            self.ring.waiting = self.ring.tail;
        }
        if start > now {
            let wait = (start - now).as_nanos();
            self.backlog_packet_ns += u128::from(wait);
            self.backlog_byte_ns += u128::from(wait) * u128::from(size);
            self.backlog_max = self.backlog_max.max(waiting + 1);
            self.waiting_bytes += size;
        }
        // field by field into its place: a slot built elsewhere and copied stalls on its own stores
        let slot = self.ring.claim();
        slot.packet = packet;
        slot.size_bytes = size_bytes;
        slot.start = start;
        slot.depart = depart;
        slot.arrive = arrive;
        if start <= now {
            self.ring.waiting = self.ring.tail;
        }
        self.arm()
    }

    /// The time that `size` bytes occupy the link, when they follow what went before.
    #[inline]
    fn serialise(&mut self, now: Time, size: u64) -> Duration {
        if self.nanos_per_byte != 0 {
            return Duration::from_nanos(size * self.nanos_per_byte);
        }
        if self.busy_until < now {
            self.carry = Carry::default();
        }
        let (span, carry) = self.rate.serialise(Bytes::new(size), self.carry);
        self.carry = carry;
        span
    }

    /// Counts a refused packet.
    #[cold]
    pub(crate) fn refuse(&mut self, why: DropReason) -> Offer {
        self.count_drop(why);
        Offer::Dropped(why)
    }

    pub(crate) fn count_drop(&mut self, why: DropReason) {
        self.cold.drops[why as usize] += 1;
    }

    pub(crate) fn count_marks(&mut self, packets: u64) {
        self.cold.marked_packets += packets;
    }

    /// Moves the cursor past packets whose transmission has started.
    #[inline]
    fn advance(&mut self, now: Time) {
        while self.ring.waiting != self.ring.tail {
            let slot = self.ring.at(self.ring.waiting);
            if slot.start > now {
                break;
            }
            self.waiting_bytes -= u64::from(slot.size_bytes);
            self.ring.waiting = self.ring.waiting.wrapping_add(1);
        }
    }

    /// Asks for an `Arrive` when none is pending for the first packet.
    #[inline]
    fn arm(&mut self) -> Offer {
        let first = self.ring.at(self.ring.head).arrive;
        if self.armed == first {
            return Offer::Accepted;
        }
        self.armed = first;
        Offer::Arrive(first)
    }

    /// The first packet, which arrives now. `None` when the event is stale.
    #[inline]
    pub(super) fn take_arrival(&mut self, now: Time) -> Option<PacketId> {
        if self.armed != now {
            return None;
        }
        let slot = *self.ring.at(self.ring.head);
        debug_assert!(slot.arrive == now, "an armed port has a packet that arrives");
        if self.ring.waiting == self.ring.head {
            self.waiting_bytes -= u64::from(slot.size_bytes);
            self.ring.waiting = self.ring.waiting.wrapping_add(1);
        }
        self.ring.head = self.ring.head.wrapping_add(1);
        self.armed = if self.ring.len() == 0 { Time::NEVER } else { self.ring.at(self.ring.head).arrive };
        Some(slot.packet)
    }

    /// Begins the transmission of `packet` that a discipline gave out; the `Depart` is due at the time returned.
    pub(crate) fn serve(&mut self, now: Time, packet: PacketId, size_bytes: u32) -> Time {
        let depart = now + self.serialise(now, u64::from(size_bytes));
        self.busy_until = depart;
        self.sent_packets += 1;
        self.sent_bytes += u64::from(size_bytes);
        let slot = Slot { packet, size_bytes, start: now, depart, arrive: depart + self.delay };
        self.discipline.as_mut().expect("only ports with a discipline serve").serving = Some(slot);
        depart
    }

    /// Ends the transmission that is due now: the packet is on the wire.
    pub(crate) fn finish_serving(&mut self, now: Time) -> Option<Offer> {
        let discipline = self.discipline.as_mut()?;
        let slot = discipline.serving.take_if(|slot| slot.depart == now)?;
        self.last_arrive = (now + self.delay).max(self.last_arrive);
        *self.ring.claim() = Slot { arrive: self.last_arrive, ..slot };
        self.ring.waiting = self.ring.tail;
        Some(self.arm())
    }

    /// Adds the time that the packets of a discipline have waited since this was last done.
    pub(super) fn count_backlog(&mut self, now: Time) {
        let Some(discipline) = self.discipline.as_mut() else { return };
        let span = now - std::mem::replace(&mut discipline.counted_to, now);
        let backlog = discipline.queue.backlog();
        self.backlog_packet_ns += u128::from(span.as_nanos()) * u128::from(backlog.packets);
        self.backlog_byte_ns += u128::from(span.as_nanos()) * u128::from(backlog.bytes.as_u64());
        self.backlog_max = self.backlog_max.max(backlog.packets);
    }

    /// Counts an offer that goes to the discipline.
    pub(crate) fn count_offer(&mut self) {
        self.offered_packets += 1;
    }

    /// Changes the rate of the link. What is under transmission goes on at the new rate; what waits follows it.
    /// Returns the events that the port now wants.
    pub(super) fn set_rate(&mut self, now: Time, rate: Rate) -> Vec<Offer> {
        self.cold.link_rate = rate;
        self.set_effective_rate(now, rate.min(self.cold.cap))
    }

    fn set_effective_rate(&mut self, now: Time, rate: Rate) -> Vec<Offer> {
        self.settle_capacity(now);
        let old = std::mem::replace(&mut self.rate, rate);
        self.nanos_per_byte = rate.whole_nanos_per_byte().unwrap_or(0);
        self.advance(now);
        let mut wanted = Vec::new();
        if let Some(slot) = self.discipline.as_mut().and_then(|d| d.serving.as_mut()) {
            slot.depart = now + rescaled(slot.depart - now, old, rate);
            slot.arrive = slot.depart + self.delay;
            self.busy_until = slot.depart;
            wanted.push(Offer::Depart(slot.depart));
            return wanted;
        }
        // the packets that have not left: the one in transmission, if any, and those that wait
        let mut cursor = self.ring.waiting;
        while cursor != self.ring.head && self.ring.at(cursor.wrapping_sub(1)).depart > now {
            cursor = cursor.wrapping_sub(1);
        }
        let mut busy_until = now;
        let mut carry = Carry::default();
        while cursor != self.ring.tail {
            let delay = self.delay;
            let slot = self.ring.at_mut(cursor);
            if slot.start <= now {
                slot.depart = now + rescaled(slot.depart - now, old, rate);
            } else {
                let (span, rest) = rate.serialise(Bytes::new(u64::from(slot.size_bytes)), carry);
                carry = rest;
                let waited_more = busy_until.as_nanos().wrapping_sub(slot.start.as_nanos()) as i64;
                slot.start = busy_until;
                slot.depart = busy_until + span;
                let size = i128::from(slot.size_bytes);
                add_signed(&mut self.backlog_packet_ns, i128::from(waited_more));
                add_signed(&mut self.backlog_byte_ns, i128::from(waited_more) * size);
            }
            slot.arrive = slot.depart + delay;
            busy_until = slot.depart;
            cursor = cursor.wrapping_add(1);
        }
        (self.busy_until, self.carry) = (busy_until, carry);
        self.keep_order();
        if self.ring.len() > 0 {
            let offer = self.arm();
            wanted.push(offer);
        }
        wanted
    }

    /// Changes the propagation delay for packets that have not left. A wire delivers in order, so a shorter delay takes
    /// effect behind what is on the wire already.
    pub(super) fn set_delay(&mut self, now: Time, delay: Duration) -> Vec<Offer> {
        self.delay = delay;
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
        self.last_arrive = earliest;
    }

    /// Takes the link down and returns what it held, or brings it up.
    pub(super) fn set_up(&mut self, now: Time, up: bool) -> Vec<PacketId> {
        self.settle_capacity(now);
        self.up = up;
        self.update_offer_path();
        if up {
            return Vec::new();
        }
        self.advance(now);
        // what did not leave was not transmitted
        let mut lost = Vec::new();
        for i in 0..self.ring.len() as u32 {
            let slot = *self.ring.at(self.ring.head.wrapping_add(i));
            if slot.depart > now {
                self.sent_packets -= 1;
                self.sent_bytes -= u64::from(slot.size_bytes);
            }
            if slot.start > now {
                let unspent = (slot.start - now).as_nanos();
                add_signed(&mut self.backlog_packet_ns, -i128::from(unspent));
                add_signed(&mut self.backlog_byte_ns, -i128::from(unspent) * i128::from(slot.size_bytes));
            }
            lost.push(slot.packet);
        }
        self.ring.head = self.ring.tail;
        self.ring.waiting = self.ring.tail;
        self.waiting_bytes = 0;
        self.busy_until = now;
        self.last_arrive = now;
        self.armed = Time::NEVER;
        if let Some(slot) = self.discipline.as_mut().and_then(|d| d.serving.take()) {
            self.sent_packets -= 1;
            self.sent_bytes -= u64::from(slot.size_bytes);
            lost.push(slot.packet);
        }
        lost
    }

    fn settle_capacity(&mut self, now: Time) {
        if self.up && self.rate != Rate::UNLIMITED {
            let span = u128::from((now - self.cold.capacity_since).as_nanos());
            self.cold.capacity_bit_ns += u128::from(self.rate.as_bps()) * span;
        }
        self.cold.capacity_since = now;
    }

    fn totals(&self) -> PortRecord {
        PortRecord {
            offered_packets: self.offered_packets,
            sent_packets: self.sent_packets,
            sent_bytes: self.sent_bytes,
            marked_packets: self.cold.marked_packets,
            drops: self.cold.drops,
            backlog_packet_ns: self.backlog_packet_ns,
            backlog_byte_ns: self.backlog_byte_ns,
            backlog_max: self.backlog_max,
            capacity_bits: self.cold.capacity_bit_ns / 1_000_000_000,
        }
    }

    /// All counters as they stand at `now`, the warm-up included: what has been accepted but not transmitted is taken off.
    pub(crate) fn reading(&mut self, now: Time) -> PortRecord {
        self.settle_capacity(now);
        let mut record = self.totals();
        let serving = self.discipline.as_ref().and_then(|d| d.serving);
        for slot in self.ring.iter().chain(serving.iter()).filter(|slot| slot.depart > now) {
            let size = u64::from(slot.size_bytes);
            if slot.start >= now {
                let wait = u128::from((slot.start - now).as_nanos());
                record.backlog_packet_ns -= wait;
                record.backlog_byte_ns -= wait * u128::from(size);
                record.sent_packets -= 1;
                record.sent_bytes -= size;
            } else {
                // by the present rate: the packet may have begun at another one
                let left_ns = u128::from((slot.depart - now).as_nanos());
                let left = left_ns * u128::from(self.rate.as_bps()) / 8_000_000_000;
                record.sent_bytes -= u64::try_from(left).map_or(size, |left| left.min(size));
            }
        }
        record
    }

    /// Bits that the link could have carried since this was last asked.
    pub(crate) fn capacity_since_last(&mut self, now: Time) -> f64 {
        self.settle_capacity(now);
        let bit_ns = self.cold.capacity_bit_ns;
        (bit_ns - std::mem::replace(&mut self.cold.sampled_capacity_bit_ns, bit_ns)) as f64 / 1e9
    }

    /// Counters since the end of the warm-up.
    pub(super) fn record(&mut self, now: Time) -> PortRecord {
        let mut record = self.reading(now);
        let base = &self.cold.base;
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
    pub(super) fn rebase(&mut self, now: Time) {
        self.cold.base = self.reading(now);
        let in_ring = self.ring.iter().filter(|slot| slot.start > now).count() as u32;
        self.backlog_max = self.discipline.as_ref().map_or(in_ring, |d| d.queue.backlog().packets);
    }

    /// Whether a discipline, where there is one, may start a transmission.
    pub(crate) fn idle(&self) -> bool {
        self.discipline.as_ref().is_some_and(|d| d.serving.is_none()) && self.up && self.rate != Rate::ZERO
    }
}

/// The verdict of a discipline as an offer.
pub(crate) fn offer_of(verdict: Verdict) -> (Offer, bool) {
    match verdict {
        Verdict::Pass => (Offer::Accepted, false),
        Verdict::Mark => (Offer::Accepted, true),
        Verdict::Drop(why) => (Offer::Dropped(why), false),
    }
}

/// The time that the rest of a transmission takes at a new rate.
fn rescaled(left: Duration, old: Rate, new: Rate) -> Duration {
    if new == Rate::ZERO {
        return Duration::MAX;
    }
    if new == Rate::UNLIMITED {
        return Duration::ZERO;
    }
    let bit_nanos = u128::from(left.as_nanos()) * u128::from(old.as_bps());
    Duration::from_nanos(u64::try_from(bit_nanos / u128::from(new.as_bps())).unwrap_or(u64::MAX))
}

fn add_signed(total: &mut u128, change: i128) {
    *total = total.saturating_add_signed(change);
}
