//! The event loop of an emulation: handle due events, write egress packets, read packets of programs, wait.
//!
//! It accesses the host only through [`Platform`].

use contract::{Count, Ecn, Egress, EgressEvent, Header, Packet};
use sim::{Blueprint, Control, World};
use units::{Bytes, Duration, Time};
use wire::Ipv4;
use wire::stream::Envelope;

use crate::Accuracy;
use crate::datagrams::{self, Writer};
use crate::gates::{Gates, Way};
use crate::platform::Platform;

#[cfg(test)]
mod tests;

/// Maximum number of packets that are read from one device before events are handled again.
const BATCH: usize = 16;
/// Maximum size of a packet.
const LONGEST: usize = 65_536;
/// Minimum and maximum interval at which the counters of programs are read.
const UPDATE_INTERVAL: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(50));

/// Runs `world` by the clock of `platform` until its end, or until `control` stops it. The counters of programs are
/// read twice per interval of the recorded series, between 20 and 200 times per second.
pub(crate) fn drive(
    world: &mut World,
    gates: &Gates,
    blueprint: &Blueprint,
    control: &Control,
    platform: &mut impl Platform,
) -> Accuracy {
    let every = blueprint.record.every;
    let every = if every == Duration::ZERO { UPDATE_INTERVAL.1 } else { every.scaled(0.5) };
    let mut turn = Turn {
        world,
        gates,
        accuracy: Accuracy { max_lateness: blueprint.emulation.max_lateness, ..Accuracy::default() },
        egress: Vec::new(),
        buffer: vec![0; LONGEST].into_boxed_slice(),
        datagrams: Writer::default(),
        update_at: Time::ZERO,
        update_every: every.clamp(UPDATE_INTERVAL.0, UPDATE_INTERVAL.1),
    };
    let mut ready = Vec::with_capacity(gates.count());
    // since when devices are not watched
    let mut away = Time::ZERO;
    loop {
        let now = platform.now();
        if turn.handle(now, control, platform) {
            break;
        }
        for &device in &ready {
            turn.take_in(device, control, platform);
        }
        ready.clear();
        let until = turn.world.next_event().min(turn.update_at);
        let watched = platform.wait(until, &mut ready);
        let waited = watched.saturating_since(away);
        turn.accuracy.pickups.record_times(waited, waited.as_nanos());
        let back = platform.now();
        // a wait that lasted too long counts as not watching, also one that a packet ended
        away = back.min(until.max(watched));
        turn.accuracy.pickups.record_times(Duration::ZERO, away.saturating_since(watched).as_nanos());
    }
    let unwatched = platform.now().min(Time::ZERO + blueprint.duration).saturating_since(away);
    turn.accuracy.pickups.record_times(unwatched, unwatched.as_nanos());
    turn.request(platform);
    turn.accuracy.wall = platform.now().saturating_since(Time::ZERO);
    turn.accuracy
}

/// The state of the loop.
struct Turn<'a> {
    world: &'a mut World,
    gates: &'a Gates,
    accuracy: Accuracy,
    egress: Vec<Egress>,
    buffer: Box<[u8]>,
    /// Conversion of packets to live endpoints.
    datagrams: Writer,
    update_at: Time,
    update_every: Duration,
}

impl Turn<'_> {
    /// Handles due events and sends egress packets. Returns true at the end of the run.
    fn handle(&mut self, now: Time, control: &Control, platform: &mut impl Platform) -> bool {
        let due = self.world.next_event();
        if due <= now {
            self.accuracy.events.record(now.saturating_since(due));
        }
        if now >= self.update_at {
            self.request(platform);
            self.update_at = now + self.update_every;
        }
        let mut over = self.world.run_until(now, control);
        if over && self.world.paused() {
            // an emulation cannot pause: the run continues
            over = self.world.run_until(now, control);
        }
        self.egress(platform);
        over
    }

    fn egress(&mut self, platform: &mut impl Platform) {
        self.world.take_egress(&mut self.egress);
        let mut egress = std::mem::take(&mut self.egress);
        for one in egress.drain(..) {
            let live = self.gates.is_live(one.flow);
            match one.event {
                EgressEvent::Start if live => {
                    platform.start_endpoint(one.endpoint, self.world.detached_endpoint(one.endpoint))
                }
                EgressEvent::Stop if live => platform.stop_endpoint(one.endpoint),
                EgressEvent::Mode(number) if live => platform.mode(one.endpoint, self.gates.mode(number)),
                EgressEvent::Start if self.gates.sends(one.flow, one.endpoint) => platform.start(one.flow),
                EgressEvent::Stop if self.gates.sends(one.flow, one.endpoint) => platform.stop(one.flow),
                EgressEvent::Start | EgressEvent::Stop | EgressEvent::Mode(_) => {}
                EgressEvent::Packet(packet) => {
                    let taken = self.hand_over(&one, &packet, platform);
                    self.accuracy.departures.record(platform.now().saturating_since(one.at));
                    self.accuracy.packets_out += 1;
                    self.accuracy.overruns += u64::from(!taken);
                }
            }
        }
        self.egress = egress;
    }

    /// Sends a packet to the program or live endpoint at `device`, and counts the payload of a program. Returns whether
    /// the device accepted it.
    fn hand_over(&mut self, one: &Egress, packet: &Packet, platform: &mut impl Platform) -> bool {
        let Self { world, gates, buffer, datagrams, .. } = self;
        let node = world.address_of(one.endpoint).node;
        let device = gates.device_of(node);
        let Header::External(external) = packet.header else {
            // a packet of a state machine leaves as a datagram
            let bytes = datagrams.write(packet, one.flow, node);
            return bytes.zip(device).is_some_and(|(bytes, device)| platform.send(device, bytes));
        };
        let counted = gates.counts_payload(one.flow, one.endpoint);
        let payloads = world.external_payloads();
        let mut bytes = payloads.get(external);
        if packet.ecn == Ecn::Marked {
            // copies of the packet on other branches may be unmarked
            let own = &mut buffer[..bytes.len()];
            own.copy_from_slice(bytes);
            wire::mark(own);
            bytes = own;
        }
        let taken = device.is_some_and(|device| platform.send(device, bytes));
        let payload = if counted { Ipv4::read(bytes).map_or(0, |read| read.payload) } else { 0 };
        payloads.release(external);
        if payload > 0 {
            world.report_for(one.endpoint, one.at, |cx| cx.deliver(Bytes::new(payload as u64)));
        }
        taken
    }

    /// Reads the packets of a device, at most one batch.
    fn take_in(&mut self, device: usize, control: &Control, platform: &mut impl Platform) {
        for _ in 0..BATCH {
            let Some(length) = platform.receive(device, &mut self.buffer) else { return };
            let bytes = &self.buffer[..length];
            self.accuracy.packets_in += 1;
            let read = Ipv4::read(bytes);
            let Some((read, way)) = read.and_then(|read| Some((read, self.gates.way(device, &read)?))) else {
                // IGMP of the kernel is ignored, because the scenario lists the members of groups
                self.accuracy.strays += u64::from(read.is_none_or(|read| read.protocol != wire::IGMP));
                continue;
            };
            // events that are due before the packet are handled first; their egress packets leave after the batch
            let now = platform.now();
            if self.world.run_until(now, control) {
                return;
            }
            if !way.described {
                self.world.inject_external(way.from, way.to, read.ecn, bytes);
                continue;
            }
            match live_packet(bytes, &read, &way) {
                Some(packet) => self.world.inject(packet),
                None => self.accuracy.strays += 1,
            }
        }
    }

    /// Reads the counters of programs and reports them for their endpoints.
    fn request(&mut self, platform: &mut impl Platform) {
        self.ask_programs(platform);
        let (world, accuracy) = (&mut *self.world, &mut self.accuracy);
        platform.endpoint_reports(&mut |endpoint, report| {
            world.add_meter(endpoint, &report.meter);
            accuracy.endpoints.add(&report.late);
            let now = world.now();
            world.report_for(endpoint, now, |cx| {
                for note in &report.notes {
                    if note.event {
                        cx.event(note.name, note.value);
                    } else {
                        cx.probe(note.name, note.value);
                    }
                }
            });
        });
    }

    fn ask_programs(&mut self, platform: &mut impl Platform) {
        let (world, gates) = (&mut *self.world, self.gates);
        platform.program_updates(&mut |update| {
            let Some(ends) = gates.ends(update.flow) else { return };
            let now = world.now();
            let Some(receiver) = ends.receivers.first() else { return };
            world.report_for(receiver.endpoint, update.completed.unwrap_or(now), |cx| {
                cx.deliver(update.delivered);
                if update.completed.is_some() {
                    cx.complete();
                }
            });
            let Some(state) = update.sender else { return };
            world.report_for(ends.sender.endpoint, now, |cx| {
                cx.count(Count::Retransmits, state.retransmits);
                cx.count(Count::Timeouts, state.timeouts);
                cx.probe("window", state.window.as_f64());
                cx.probe("in_flight", state.in_flight.as_f64());
                if state.threshold != Bytes::UNLIMITED {
                    cx.probe("ssthresh", state.threshold.as_f64());
                }
                if state.rtt > Duration::ZERO {
                    cx.measured_rtt(state.rtt);
                    cx.probe("rtt", state.rtt.as_secs_f64());
                    cx.probe("srtt", state.rtt.as_secs_f64());
                }
            });
        });
    }
}

/// The packet in a datagram of a live endpoint.
fn live_packet(bytes: &[u8], read: &Ipv4, way: &Way) -> Option<Packet> {
    let payload = bytes.len().checked_sub(read.payload).and_then(|begin| bytes.get(begin..))?;
    let envelope = Envelope {
        flow: way.flow,
        source: way.from,
        to: way.to,
        ecn: read.ecn,
        outer_bytes: datagrams::IP_UDP_HEADERS,
    };
    datagrams::read(payload, &envelope).map(|(packet, _)| packet)
}
