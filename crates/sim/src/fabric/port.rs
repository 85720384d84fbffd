//! One direction of a link and its queue.
//!
//! A FIFO at a constant rate needs no event at a departure: the times at which a packet will start, leave and arrive
//! are known when it is accepted. All accepted packets are in one ring in that order; only the first has an agenda
//! entry. The same holds for a FIFO whose rate follows a trace ([`TraceCursor`]). Ports with a queue discipline
//! ([`Discipline`]) decide at each departure, as of its instant, but when something else happens at the port.

mod bucket;
mod changes;
mod cold;
mod commands;
mod copies;
mod counters;
mod cursor;
mod departures;
mod discipline;
mod impair;
mod readings;
mod services;
mod transmitter;

use contract::{Backlog, DropReason, Ecn, NodeId, Packet, PacketId, PortId, PortView, QueueLimit, Random};
use units::{Bytes, Duration, Rate, Time};

use bucket::Bucket;
use cold::{Cold, LazyCold, Observers};
use counters::{Counters, WaitTimes};
use cursor::TraceCursor;
use departures::ObservedDepartures;
pub(super) use departures::{Accepted, NextStart};
pub(super) use discipline::{Discipline, Dropped};
pub(super) use impair::Impairments;
pub(crate) use impair::{DAMAGED, Fate};
use transmitter::Transmitter;

use super::offers::{Offer, OfferPath};
use super::ring::{Ring, Slot, Spare};
use crate::PortSpec;
use crate::delays::Delays;
use memory::prefetch;

/// Who handles a packet that arrives at the end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrivalPath {
    /// The network: it delivers the packet or sends it on.
    Fast,
    /// The state machine of the node.
    Node,
    /// The link first: it may lose, impair or capture the packet.
    Link,
}

/// What a link does to a packet that arrives at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkEffect {
    /// The packet is lost.
    Loses,
    /// It is lost, copied, damaged or delayed.
    Impairs(Fate),
    /// It is to be captured, or shown to the state machine of its node.
    Shows,
    /// Nothing.
    Passes,
}

/// A port, by ownership and laid out by cache lines: the first has the fields of every arrival, the second the fields
/// of every offer, the third the fields of packets that wait.
#[repr(C, align(64))]
pub(crate) struct Port {
    /// Accepted packets that have not arrived.
    ring: Ring,
    /// When the pending `Arrive` is due; any other is stale.
    armed: Time,
    paths: Paths,
    /// ECN-capable packets are marked if at least this many packets wait.
    mark_above: u32,
    transmitter: Transmitter,
    counters: Counters,
    fifo: Fifo,
    cold: LazyCold,
    waits: WaitTimes,
}

/// Cache lines of a port that packets need which do not wait. On the links of most ports of a large network few do.
const LINES: usize = 2;

const _: () = assert!(size_of::<Port>() == 192, "a port is three cache lines");

/// Where packets go, and whether they take the fast path.
#[derive(Clone, Copy)]
struct Paths {
    /// The node at the other end.
    to: NodeId,
    /// Who handles arrivals.
    arrivals: ArrivalPath,
    /// Who takes offers.
    offers: OfferPath,
    up: bool,
    /// It has a queue discipline.
    disciplined: bool,
    /// The rate follows a trace.
    traced: bool,
    /// A shaper decides when packets leave.
    shaped: bool,
    /// A policer drops packets before the queue.
    policed: bool,
}

/// The plain FIFO, whose packets are in the ring.
#[derive(Clone, Copy)]
struct Fifo {
    /// Its limits.
    packets: u32,
    bytes: Bytes,
    waiting_bytes: u64,
    /// The largest number of packets that waited, also in the queue of a discipline.
    backlog_max: u32,
}

impl Port {
    pub(super) fn new(
        spec: &PortSpec,
        to: NodeId,
        loss_random: Option<Box<Random>>,
        discipline: Option<Box<Discipline>>,
        mut impairments: Option<Impairments>,
    ) -> Self {
        let up = spec.rate != Rate::ZERO;
        let limit = spec.queue.limit();
        let mut transmitter = Transmitter::new(spec);
        if let Some(impairments) = &mut impairments {
            transmitter.delay = impairments.set_delay(spec.delay);
        }
        let mut port = Self {
            ring: Ring::default(),
            armed: Time::NEVER,
            paths: Paths {
                to,
                arrivals: ArrivalPath::Fast,
                offers: OfferPath::Slow,
                up,
                disciplined: discipline.is_some(),
                traced: spec.trace.is_some(),
                shaped: spec.shaper.is_some(),
                policed: spec.policer.is_some(),
            },
            mark_above: limit.mark_above,
            transmitter,
            counters: Counters::default(),
            fifo: Fifo { packets: limit.packets, bytes: limit.bytes, waiting_bytes: 0, backlog_max: 0 },
            waits: WaitTimes::default(),
            cold: LazyCold::default(),
        };
        let plain = discipline.is_none() && loss_random.is_none() && impairments.is_none();
        if !plain || spec.loss > 0.0 || port.is_planned() || port.paths.policed {
            *port.cold = Cold {
                discipline,
                loss: spec.loss,
                loss_random,
                impairments: impairments.map(Box::new),
                cursor: spec.trace.clone().map(|trace| Box::new(TraceCursor::new(trace))),
                shaper: spec.shaper.map(|bucket| Box::new(Bucket::new(bucket))),
                policer: spec.policer.map(|bucket| Box::new(Bucket::new(bucket))),
                ..Cold::default()
            };
        }
        port.update_arrival_path();
        port.update_offer_path();
        port
    }

    /// What the link does to the packet that arrives now at its end. A loss is counted as a drop of the port.
    #[inline(always)]
    pub(crate) fn link_effect(&mut self, now: Time) -> LinkEffect {
        let cold = self.cold.present();
        if cold.loss > 0.0 && cold.loss_random.as_mut().is_some_and(|random| random.chance(cold.loss)) {
            cold.drops[DropReason::RandomLoss as usize] += 1;
            return LinkEffect::Loses;
        }
        if let Some(impairments) = &mut cold.impairments {
            let fate = impairments.draw(now);
            if fate != Fate::Arrives(now) || impairments.holds_until(now) {
                return LinkEffect::Impairs(fate);
            }
        }
        if cold.observers.tap || cold.observers.router_ahead { LinkEffect::Shows } else { LinkEffect::Passes }
    }

    /// Whether a packet is captured or shown to the state machine of a node at the end of the link, as
    /// [`LinkEffect::Shows`].
    #[inline]
    pub(crate) fn shows(&self) -> bool {
        self.cold.observers.tap || self.cold.observers.router_ahead
    }

    /// Holds a packet on the impaired link until it arrives at `at`, unless that is now and it overtakes none. Returns
    /// whether it is held.
    #[inline]
    pub(crate) fn holds(&mut self, packet: PacketId, at: Time, now: Time) -> bool {
        let Some(impairments) = &mut self.cold.present().impairments else { return false };
        if at <= now && !impairments.holds_until(at) {
            return false;
        }
        impairments.hold(packet, at);
        true
    }

    /// Whether the packets that arrive at the end of the link are captured.
    pub(crate) fn is_captured(&self) -> bool {
        self.cold.observers.tap
    }

    /// The impairments of the link.
    pub(crate) fn impairments(&mut self) -> Option<&mut Impairments> {
        // a mutable access would allocate the fields of a port without any
        self.cold.impairments.as_ref()?;
        self.cold.impairments.as_deref_mut()
    }

    /// The node at the other end of the link.
    #[inline]
    pub(super) const fn leads_to(&self) -> NodeId {
        self.paths.to
    }

    /// Who handles arrivals.
    #[inline]
    pub(super) const fn arrival_path(&self) -> ArrivalPath {
        self.paths.arrivals
    }

    /// Starts the capture of the link.
    pub(crate) fn tap(&mut self) {
        self.cold.observers.tap = true;
        self.update_arrival_path();
    }

    /// Who takes offers.
    #[inline]
    pub(super) const fn offer_path(&self) -> OfferPath {
        self.paths.offers
    }

    /// Whether the router of its node observes every offered packet.
    pub(crate) fn observes_offers(&self) -> bool {
        self.cold.observers.offers
    }

    /// Whether the router of its node observes every departure.
    pub(super) fn observes_departures(&self) -> bool {
        self.cold.observers.departures.is_some()
    }

    /// Keeps the distribution of the times that packets wait.
    pub(super) fn keep_waits(&mut self) {
        self.cold.queueing_delays = Some(Box::default());
        self.update_offer_path();
    }

    /// Whether it keeps the distribution of the times that packets wait.
    pub(super) fn keeps_waits(&self) -> bool {
        self.cold.queueing_delays.is_some()
    }

    /// Counts that a packet waits this long, if the port keeps the distribution.
    pub(super) fn add_wait(&mut self, wait: Duration) {
        if let Some(queueing_delays) = &mut self.cold.queueing_delays {
            queueing_delays.add(wait);
        }
    }

    /// Counts how long the packet waits that the FIFO accepted at `now`, at the current rate.
    pub(super) fn add_wait_of_last(&mut self, now: Time) {
        let start = self.ring.at(self.ring.tail.wrapping_sub(1)).start;
        self.add_wait(start.saturating_since(now));
    }

    /// The distribution of the times that packets waited, and for later readings if it is to be kept.
    pub(super) fn queueing_delays(&mut self, keep: bool) -> Option<Box<Delays>> {
        match keep {
            true => self.cold.queueing_delays.clone(),
            false if self.keeps_waits() => self.cold.queueing_delays.take(),
            false => None,
        }
    }

    /// Lets all packets take the slow paths, and each service of a discipline have an event.
    pub(super) fn log_packets(&mut self) {
        self.cold.observers.logged = true;
        self.tap();
        self.update_offer_path();
        self.serve_promptly();
    }

    /// Packets that are accepted and have not arrived, with the start and the end of their transmission.
    pub(super) fn transmissions(&self) -> impl DoubleEndedIterator<Item = (PacketId, Time, Time)> + '_ {
        self.ring.iter().map(|slot| (slot.packet, slot.start, slot.depart))
    }

    /// The rate at which the queue is served; `None` if it follows a trace.
    pub(super) fn recorded_rate(&self) -> Option<Rate> {
        (!self.paths.traced).then(|| self.rate())
    }

    /// Probability of random loss.
    pub(super) fn loss(&self) -> f64 {
        self.cold.loss
    }

    /// Whether the link is up.
    pub(super) const fn is_up(&self) -> bool {
        self.paths.up
    }

    /// Whether a plan decides when the FIFO transmits, a trace or a shaper.
    #[inline]
    pub(super) const fn is_planned(&self) -> bool {
        self.paths.traced || self.paths.shaped
    }

    /// Whether the queue is the plain FIFO.
    #[inline]
    pub(super) const fn is_fifo(&self) -> bool {
        !self.paths.disciplined
    }

    /// When the pending `Arrive` is due.
    #[inline]
    pub(super) const fn armed(&self) -> Time {
        self.armed
    }

    /// Number of accepted packets that have not arrived.
    pub(super) fn queued(&self) -> usize {
        self.ring.len()
    }

    /// Sets the observers: whether the router of its node observes offers and departures, and whether the port is of
    /// (`has_router`) and the link leads to a node with a state machine.
    pub(crate) fn observe(&mut self, [offers, departures]: [bool; 2], has_router: bool, to_router: bool) {
        let departures = departures.then(ObservedDepartures::default);
        let Observers { tap, logged, .. } = self.cold.observers;
        self.cold.observers = Observers { router_ahead: to_router, tap, logged, offers, departures };
        self.update_arrival_path();
        self.update_offer_path();
        if has_router {
            self.serve_promptly();
        }
    }

    fn update_offer_path(&mut self) {
        let observed = self.observes_offers() || self.observes_departures();
        let Paths { up, shaped, policed, .. } = self.paths;
        self.paths.offers = match &self.cold.discipline {
            _ if !up || self.keeps_waits() || self.cold.observers.logged => OfferPath::Slow,
            None if observed && !self.is_planned() && !policed => OfferPath::Observed,
            _ if observed => OfferPath::Slow,
            None if !self.is_planned() && !policed => OfferPath::Fast,
            None => OfferPath::Planned,
            Some(discipline) if !discipline.prompt && !shaped && !policed => OfferPath::Discipline,
            Some(_) => OfferPath::Slow,
        };
    }

    fn update_arrival_path(&mut self) {
        let Observers { tap, router_ahead, .. } = self.cold.observers;
        let impaired = self.cold.loss > 0.0 || self.cold.impairments.is_some();
        self.paths.arrivals = match (impaired || tap, router_ahead) {
            (true, _) => ArrivalPath::Link,
            (false, true) => ArrivalPath::Node,
            (false, false) => ArrivalPath::Fast,
        };
    }

    /// The port in the form that its router sees.
    #[inline]
    pub(super) fn view(&mut self, port: PortId, rate_in: Rate, now: Time) -> PortView {
        self.advance(now);
        let in_ring = if self.ring.len() == 0 { 0 } else { self.ring.tail.wrapping_sub(self.ring.waiting) };
        let backlog = match &self.cold.discipline {
            Some(discipline) => discipline.backlog,
            None => Backlog { packets: in_ring, bytes: Bytes::new(self.fifo.waiting_bytes) },
        };
        let limit = Backlog { packets: self.fifo.packets, bytes: self.fifo.bytes };
        let busy = self.transmitter.busy_until > now;
        PortView { port, to: self.paths.to, rate: self.rate(), rate_in, backlog, busy, limit }
    }

    /// The view of a plain FIFO whose link has just begun to transmit the only packet that it has to.
    #[inline(always)]
    pub(super) fn view_started(&self, port: PortId, rate_in: Rate, now: Time) -> PortView {
        let backlog = Backlog { packets: 0, bytes: Bytes::new(self.fifo.waiting_bytes) };
        let limit = Backlog { packets: self.fifo.packets, bytes: self.fifo.bytes };
        let busy = self.transmitter.busy_until > now;
        PortView { port, to: self.paths.to, rate: self.transmitter.rate, rate_in, backlog, busy, limit }
    }

    /// The rate at which the queue is served: the rate of the link, or of its shaper.
    #[inline]
    pub(super) fn rate(&self) -> Rate {
        if !self.paths.shaped {
            return self.transmitter.rate;
        }
        self.cold
            .shaper
            .as_ref()
            .map_or(self.transmitter.rate, |shaper| shaper.rate().min(self.transmitter.rate))
    }

    /// Decides whether a packet exceeds the policer, or can never pass the shaper. Returns the reason to drop it; a
    /// packet that conforms takes tokens of the policer.
    #[inline]
    pub(super) fn police(&mut self, now: Time, size_bytes: u32) -> Option<DropReason> {
        if !self.paths.policed && !self.paths.shaped {
            return None;
        }
        let size = u64::from(size_bytes);
        let Cold { policer, shaper, .. } = self.cold.present();
        let exceeds = policer.as_mut().is_some_and(|policer| !policer.takes(now, size));
        let too_large = shaper.as_ref().is_some_and(|shaper| !shaper.can_hold(size));
        (exceeds || too_large).then_some(DropReason::Policed)
    }

    /// Changes the random loss. It is then independent from packet to packet, by the stream that `random` begins unless
    /// there is one.
    pub(crate) fn set_loss(&mut self, loss: f64, random: impl FnOnce() -> Random) {
        self.cold.loss = loss;
        self.cold.loss_random.get_or_insert_with(|| Box::new(random()));
        if let Some(impairments) = &mut self.cold.impairments {
            impairments.end_bursts();
        }
        self.update_arrival_path();
    }

    /// Offers a packet to the plain FIFO of a link that is up, that a trace or a shaper plans if `PLANNED`.
    #[inline(always)]
    pub(super) fn offer<const PLANNED: bool>(
        &mut self,
        now: Time,
        id: PacketId,
        packet: &mut Packet,
        spare: &mut Spare,
    ) -> Offer {
        self.counters.offered_packets += 1;
        self.advance(now);
        let waiting = self.ring.tail.wrapping_sub(self.ring.waiting);
        let size = u64::from(packet.size_bytes);
        let start =
            if PLANNED { self.planned_start(now, size) } else { self.transmitter.busy_until.max(now) };
        if start > now && !self.limit().admits(waiting, self.fifo.waiting_bytes, size) {
            return self.refuse(DropReason::QueueFull);
        }
        if waiting >= self.mark_above && packet.ecn.is_unmarked() {
            packet.ecn = Ecn::Marked;
            self.count_marks(1);
        }
        let (depart, arrive) =
            if PLANNED { self.plan(start, size) } else { self.transmitter.send(now, start, size) };
        self.counters.count_sent(size);
        let is_first = self.ring.len() == 0;
        self.ring.push((id, packet.size_bytes), (start, depart, arrive), spare);
        if start > now {
            self.waits.count_wait(start - now, size);
            packet.waited.add(start - now);
            self.fifo.backlog_max = self.fifo.backlog_max.max(waiting + 1);
            self.fifo.waiting_bytes += size;
        } else {
            self.ring.waiting = self.ring.tail;
        }
        // otherwise the event of the first packet is pending
        if is_first { self.arm_first(id, arrive) } else { Offer::Accepted }
    }

    /// The limits of the queue.
    #[inline]
    fn limit(&self) -> QueueLimit {
        QueueLimit { packets: self.fifo.packets, mark_above: self.mark_above, bytes: self.fifo.bytes }
    }

    /// Counts and returns a drop.
    #[cold]
    pub(super) fn refuse(&mut self, why: DropReason) -> Offer {
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
            self.fifo.waiting_bytes -= u64::from(slot.size_bytes);
            self.ring.waiting = self.ring.waiting.wrapping_add(1);
        }
    }

    /// Requests an `Arrive` if none is pending for the first packet.
    #[inline]
    fn arm(&mut self) -> Offer {
        let slot = self.ring.at(self.ring.head);
        let arrive = slot.arrive;
        if self.armed == arrive {
            return Offer::Accepted;
        }
        self.arm_first(slot.packet, arrive)
    }

    /// Requests an `Arrive` for the first packet.
    #[inline(always)]
    fn arm_first(&mut self, packet: PacketId, arrive: Time) -> Offer {
        (self.armed, self.ring.first) = (arrive, packet);
        Offer::Arrive(arrive)
    }

    /// Takes the first packet, which arrives now; `None` if the event is stale.
    #[inline(always)]
    pub(super) fn take_arrival(&mut self, now: Time, spare: &mut Spare) -> Option<PacketId> {
        if self.armed != now {
            return None;
        }
        let first = self.ring.first;
        debug_assert!(
            matches!(self.ring.at(self.ring.head), slot if (slot.packet, slot.arrive) == (first, now)),
            "an armed port has a packet that arrives"
        );
        if self.ring.waiting == self.ring.head {
            self.fifo.waiting_bytes -= u64::from(self.ring.at(self.ring.head).size_bytes);
            self.ring.waiting = self.ring.waiting.wrapping_add(1);
        }
        self.ring.head = self.ring.head.wrapping_add(1);
        if self.ring.len() == 0 {
            // a discipline may be served now, and then the ring is not empty
            if self.is_fifo() {
                self.ring.restart(spare);
            }
            self.armed = Time::NEVER;
        } else {
            let Slot { arrive, packet, .. } = *self.ring.at(self.ring.head);
            (self.armed, self.ring.first) = (arrive, packet);
        }
        Some(first)
    }

    /// Requests what an arrival needs, except the slot of the packet.
    #[inline]
    pub(super) fn prefetch_armed(&self) {
        prefetch(self, 1);
    }

    /// Requests what else an arrival needs. Returns the packet that arrives first.
    #[inline]
    pub(super) fn prefetch_arrival(&self) -> PacketId {
        self.ring.prefetch();
        self.ring.first
    }

    /// The packet that arrives first; any packet if the ring is empty.
    #[inline]
    pub(super) const fn first(&self) -> PacketId {
        self.ring.first
    }

    /// Requests what an offer needs.
    #[inline]
    pub(super) fn prefetch_offer(&self) {
        prefetch(self, LINES);
    }

    /// Requests the slot that an offer fills.
    #[inline]
    pub(super) fn prefetch_slot(&self) {
        self.ring.prefetch_next();
    }

    /// Requests the slot of the packet that arrives `ahead` packets after the first.
    #[inline]
    pub(super) fn prefetch_ahead(&self, ahead: u32) {
        self.ring.prefetch_ahead(ahead);
    }

    /// The packet that arrives `ahead` packets after the first; `None` if there are fewer.
    #[inline]
    pub(super) fn ahead(&self, ahead: u32) -> Option<PacketId> {
        self.ring.ahead(ahead)
    }

    /// Counts an offer to the discipline.
    pub(super) fn count_offer(&mut self) {
        self.counters.offered_packets += 1;
    }
}
