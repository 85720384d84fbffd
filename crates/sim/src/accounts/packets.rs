//! The state of a record of packets: which packet has which number, what is known of its current hop, and what counters
//! were last.

use contract::{Count, DropReason, Ecn, EndpointId, Meter, Packet, PacketId, PortId};
use stack::ndn::{self, Tally};
use units::{Rate, Time};

use crate::packet_log::{ActivityRow, ActivitySubject, HopRow, MeterRow, PacketEnd, PacketLog, PacketRow};
use crate::trace::Subject;

/// A record of packets while the run proceeds. Its memory grows with the packets in the network, endpoints and ports.
pub(crate) struct PacketRecorder {
    log: Box<dyn PacketLog>,
    /// Packets so far.
    packets: u64,
    /// By the packet's place in the arena.
    live: Vec<Live>,
    /// The packet that is the input of the state machine that runs; 0 for none.
    pub(crate) input: u64,
    /// Counters at the last row, by endpoint and then by the state machines of nodes.
    meters: Vec<Metered>,
    /// Links at the last row, by port.
    links: Vec<Option<LinkState>>,
}

/// A packet in the network.
#[derive(Clone, Copy, Default)]
struct Live {
    /// Its number; 0 if there is no packet at this place, or one that has not been seen.
    number: u64,
    copy_of: Option<u64>,
    created_at: Time,
    hop: Option<Hop>,
}

/// A packet at a port or on its link.
#[derive(Clone, Copy)]
struct Hop {
    port: PortId,
    /// [`Time::NEVER`] for a copy that the link made.
    offered_at: Time,
    /// [`Time::NEVER`] while that is not known.
    started_at: Time,
    departed_at: Time,
    marked_at: Time,
    was_marked: bool,
}

/// The state of a link that rows tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LinkState {
    /// The rate; `None` if it follows a trace.
    pub rate: Option<Rate>,
    pub delay_ns: u64,
    pub loss: f64,
    pub up: bool,
}

/// The counters of an endpoint or a node's state machine at the last row.
#[derive(Clone, Default)]
struct Metered {
    goodput_bytes: u64,
    rtt_count: u64,
    rtt_sum_ns: u64,
    delay_count: u64,
    delay_sum_ns: u64,
    delay_square_sum_ns2: u128,
    completed: bool,
    playing: bool,
    counts: [u64; Count::ALL.len()],
    forwarder: [u64; FORWARDER.len()],
}

/// What is known of a forwarder of named data beside its [`Tally`].
const FORWARDER: [&str; Tally::ALL.len() + 3] = {
    let mut names = [""; Tally::ALL.len() + 3];
    let mut index = 0;
    while index < Tally::ALL.len() {
        names[index] = Tally::ALL[index].name();
        index += 1;
    }
    [names[index], names[index + 1], names[index + 2]] = ["pending", "stored", "part_operations"];
    names
};

/// Probabilities are in parts per billion.
const BILLION: f64 = 1e9;

impl PacketRecorder {
    /// A record of a network with so many endpoints and state machines, and so many ports.
    pub(crate) fn new(log: Box<dyn PacketLog>, endpoints: usize, ports: usize) -> Self {
        Self {
            log,
            packets: 0,
            live: Vec::new(),
            input: 0,
            meters: vec![Metered::default(); endpoints],
            links: vec![None; ports],
        }
    }

    // ---- packets

    /// The packet at this place, which begins now unless it is known.
    fn live(&mut self, id: PacketId, now: Time) -> &mut Live {
        if self.live.len() <= id.index() {
            self.live.resize(id.index() + 1, Live::default());
        }
        let live = &mut self.live[id.index()];
        if live.number == 0 {
            self.packets += 1;
            *live = Live { number: self.packets, created_at: now, ..Live::default() };
        }
        live
    }

    /// The number of a packet, which begins now unless it is known.
    pub(crate) fn number(&mut self, id: PacketId, now: Time) -> u64 {
        self.live(id, now).number
    }

    /// Begins a copy of the packet with this number, unless the packet is known.
    pub(crate) fn copy(&mut self, id: PacketId, of: u64, now: Time) {
        let before = self.packets;
        let live = self.live(id, now);
        if live.number > before {
            live.copy_of = Some(of);
        }
    }

    /// Packets in the network.
    pub(crate) fn in_flight(&self) -> u64 {
        self.live.iter().filter(|live| live.number > 0).count() as u64
    }

    /// The places of these packets.
    pub(crate) fn places(&self) -> impl Iterator<Item = PacketId> + use<> {
        let live = self.live.iter().zip(0u32..).filter(|(live, _)| live.number > 0);
        live.map(|(_, id)| PacketId(id)).collect::<Vec<_>>().into_iter()
    }

    /// Ends a packet.
    pub(crate) fn end(
        &mut self,
        id: PacketId,
        (packet, sent_at): (&Packet, Time),
        now: Time,
        end: PacketEnd,
    ) {
        let Live { number, copy_of, created_at, hop } = *self.live(id, now);
        if let Some(hop) = hop {
            let dropped = match end {
                PacketEnd::Dropped(why, Subject::Port(port)) if port == hop.port => Some((now, why)),
                _ => None,
            };
            self.end_hop(number, &hop, now, None, dropped);
        }
        self.live[id.index()] = Live::default();
        let ended_at = (end != PacketEnd::InFlight).then_some(now);
        let packet = *packet;
        self.log.packet(&PacketRow { number, copy_of, packet, sent_at, created_at, ended_at, end });
    }

    // ---- hops

    /// A packet is offered to a port.
    pub(crate) fn offer(&mut self, id: PacketId, port: PortId, packet: &Packet, now: Time) {
        let was_marked = packet.ecn == Ecn::Marked;
        let never = Time::NEVER;
        let hop = Hop {
            port,
            offered_at: now,
            started_at: never,
            departed_at: never,
            marked_at: never,
            was_marked,
        };
        self.live(id, now).hop = Some(hop);
    }

    /// The link of a port has made this copy of a packet that it transmitted.
    pub(crate) fn duplicate(&mut self, id: PacketId, port: PortId, now: Time) {
        let never = Time::NEVER;
        let (started_at, departed_at, marked_at) = (never, never, never);
        let hop = Hop { port, offered_at: never, started_at, departed_at, marked_at, was_marked: true };
        self.live(id, now).hop = Some(hop);
    }

    /// The transmission of a packet starts and ends at these instants, as far as is known now.
    pub(crate) fn transmit(&mut self, id: PacketId, started_at: Time, departed_at: Time) {
        if let Some(hop) = self.live.get_mut(id.index()).and_then(|live| live.hop.as_mut()) {
            (hop.started_at, hop.departed_at) = (started_at, departed_at);
        }
    }

    /// A packet may have been marked at its port.
    pub(crate) fn look_at_mark(&mut self, id: PacketId, packet: &Packet, now: Time) {
        if let Some(hop) = self.live.get_mut(id.index()).and_then(|live| live.hop.as_mut())
            && packet.ecn == Ecn::Marked
            && !hop.was_marked
        {
            hop.marked_at = hop.marked_at.min(now);
        }
    }

    /// A packet has reached the end of its link.
    pub(crate) fn arrive(&mut self, id: PacketId, now: Time) {
        let live = self.live(id, now);
        let number = live.number;
        if let Some(hop) = live.hop.take() {
            self.end_hop(number, &hop, now, Some(now), None);
        }
    }

    fn end_hop(
        &mut self,
        packet: u64,
        hop: &Hop,
        now: Time,
        arrived_at: Option<Time>,
        dropped: Option<(Time, DropReason)>,
    ) {
        // a transmission that begins at the instant of the end has not begun, unless it takes no time
        let started = hop.departed_at <= now || hop.started_at < now;
        let in_transmission = dropped.is_some() && hop.departed_at > now;
        self.log.hop(&HopRow {
            packet,
            port: hop.port,
            offered_at: (hop.offered_at < Time::NEVER).then_some(hop.offered_at),
            started_at: started.then_some(hop.started_at),
            departed_at: (started && !in_transmission).then_some(hop.departed_at),
            arrived_at,
            dropped,
            marked_at: (hop.marked_at < Time::NEVER).then_some(hop.marked_at),
        });
    }

    // ---- counters

    /// Writes how the counters of an endpoint or a state machine have changed. `true_time` converts an instant by its
    /// clock.
    pub(crate) fn meter(
        &mut self,
        endpoint: EndpointId,
        (meter, forwarder): (&Meter, Option<&ndn::Counters>),
        now: Time,
        true_time: impl Fn(Time) -> Time,
    ) {
        let Self { log, meters, .. } = self;
        let last = &mut meters[endpoint.index()];
        let mut row = |at: Time, counter: &'static str, change: i64, samples: Option<u32>| {
            log.meter(&MeterRow { at, endpoint, counter, change, samples });
        };
        let goodput = change(&mut last.goodput_bytes, meter.goodput_bytes);
        if goodput != 0 {
            row(now, "goodput_bytes", goodput, None);
        }
        let samples = change(&mut last.rtt_count, meter.rtt_count);
        let sum = change(&mut last.rtt_sum_ns, meter.rtt_sum_ns);
        if samples > 0 {
            // the last one of several is known
            let latest = meter.rtt_last.as_nanos() as i64;
            if samples > 1 {
                row(now, "rtt_ns", sum - latest, Some(samples as u32 - 1));
                row(now, "rtt_ns", latest, Some(1));
            } else {
                row(now, "rtt_ns", sum, Some(1));
            }
        }
        let media = meter.media();
        let samples = change(&mut last.delay_count, media.delay_count);
        let sum = change(&mut last.delay_sum_ns, media.delay_sum_ns);
        let squares = media.delay_square_sum_ns2 - last.delay_square_sum_ns2;
        last.delay_square_sum_ns2 = media.delay_square_sum_ns2;
        if samples == 2 {
            let (one, other) = of_sums(sum, squares);
            row(now, "delay_ns", one, Some(1));
            row(now, "delay_ns", other, Some(1));
        } else if samples > 0 {
            row(now, "delay_ns", sum, Some(samples as u32));
        }
        for (last, instant, counter) in [
            (&mut last.completed, meter.completed_at, "completed"),
            (&mut last.playing, media.played_at, "playing"),
        ] {
            if instant < Time::NEVER && !std::mem::replace(last, true) {
                row(true_time(instant), counter, 1, None);
            }
        }
        for (last, what) in last.counts.iter_mut().zip(Count::ALL) {
            let change = change(last, meter.count(what));
            if change != 0 {
                row(now, what.name(), change, None);
            }
        }
        if let Some(counters) = forwarder {
            let tallies = Tally::ALL.iter().map(|tally| counters.count(*tally));
            let others = [counters.pending, counters.stored, counters.operations];
            for ((last, value), name) in last.forwarder.iter_mut().zip(tallies.chain(others)).zip(FORWARDER) {
                let change = change(last, value);
                if change != 0 {
                    row(now, name, change, None);
                }
            }
        }
    }

    // ---- activity

    /// An endpoint starts or stops.
    pub(crate) fn activity(&mut self, endpoint: EndpointId, starts: bool, now: Time) {
        let event = if starts { "started" } else { "stopped" };
        let subject = ActivitySubject::Endpoint(endpoint);
        self.log.activity(&ActivityRow { at: now, subject, event, value: None });
    }

    /// Writes what has changed of a link.
    pub(crate) fn link(&mut self, port: PortId, state: LinkState, now: Time) {
        let last = self.links[port.index()].replace(state);
        let differs = |of: fn(&LinkState) -> f64| last.is_none_or(|last| of(&last) != of(&state));
        if let Some(rate) = state.rate
            && last.is_none_or(|last| last.rate != state.rate)
        {
            let value = (rate != Rate::UNLIMITED).then_some(rate.as_bps() as i64);
            self.link_row(port, "rate_bps", value, now);
        }
        if last.is_none_or(|last| last.delay_ns != state.delay_ns) {
            self.link_row(port, "delay_ns", Some(state.delay_ns as i64), now);
        }
        if differs(|state| state.loss) {
            self.link_row(port, "loss_ppb", Some((state.loss * BILLION).round() as i64), now);
        }
        if differs(|state| f64::from(u8::from(state.up))) {
            self.link_row(port, "up", Some(i64::from(state.up)), now);
        }
    }

    /// Writes the value of a link from `at` on.
    pub(crate) fn link_row(&mut self, port: PortId, event: &'static str, value: Option<i64>, at: Time) {
        self.log.activity(&ActivityRow { at, subject: ActivitySubject::Port(port), event, value });
    }
}

/// The change of a counter to `value`, which it keeps.
fn change(last: &mut u64, value: u64) -> i64 {
    value.wrapping_sub(std::mem::replace(last, value)) as i64
}

/// The two numbers with this sum and this sum of squares.
fn of_sums(sum: i64, squares: u128) -> (i64, i64) {
    let total = sum.unsigned_abs();
    let difference = (2 * squares).saturating_sub(u128::from(total) * u128::from(total)).isqrt() as i64;
    ((sum - difference) / 2, (sum + difference) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_samples_follow_from_their_sums() {
        for (one, other) in [(0u64, 0u64), (7, 7), (3, 9_000_000_000), (1, 2)] {
            let squares = u128::from(one) * u128::from(one) + u128::from(other) * u128::from(other);
            assert_eq!(of_sums((one + other) as i64, squares), (one as i64, other as i64));
        }
    }
}
