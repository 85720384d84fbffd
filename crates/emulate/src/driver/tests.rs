use std::collections::VecDeque;

use contract::{EndpointId, FlowId, NodeId, Note};
use sim::{FlowEmulation, LinkSpec, PortSpec};
use stack::{datagram, tcp};
use units::Rate;

use super::*;
use crate::platform::{EndpointReport, LiveEndpoint, ProgramUpdate, SenderState};

/// A platform with a simulated clock, planned packets of programs, and a list of outputs.
#[derive(Default)]
struct Stage {
    clock: Time,
    /// How much later than requested a wait ends.
    wakeup_latency: Duration,
    /// How long it pauses before it watches devices.
    loop_delay: Duration,
    /// Instant, device, packet; in order.
    planned: VecDeque<(Time, usize, Vec<u8>)>,
    /// Instant, device, packet.
    out: Vec<(Time, usize, Vec<u8>)>,
    observed: Vec<(Time, bool, FlowId)>,
    updates: Vec<ProgramUpdate>,
    /// Calls for live endpoints.
    live: Vec<(Time, EndpointId, String)>,
    report: Vec<(EndpointId, EndpointReport)>,
    /// Whether devices reject packets.
    rejects: bool,
    /// From when and for how long all of it stands still.
    stall: Option<(Time, Duration)>,
}

impl Stage {
    /// The clock goes on to `until`, or later if the process is stopped before.
    fn advance(&mut self, until: Time) {
        let until = self.clock.max(until);
        self.clock = match self.stall.take_if(|(at, _)| *at <= until) {
            Some((at, span)) => until.max(at + span),
            None => until,
        };
    }
}

impl Platform for Stage {
    fn now(&mut self) -> Time {
        self.clock
    }

    fn wait(&mut self, until: Time, ready: &mut Vec<usize>) -> Time {
        self.advance(self.clock + self.loop_delay);
        let watched = self.clock;
        match self.planned.front() {
            Some(&(at, device, _)) if at <= until => {
                self.advance(at);
                ready.push(device);
            }
            _ => self.advance(self.clock.max(until) + self.wakeup_latency),
        }
        watched
    }

    fn receive(&mut self, device: usize, buffer: &mut [u8]) -> Option<usize> {
        let (at, by, bytes) = self.planned.front()?;
        if *by != device || *at > self.clock {
            return None;
        }
        let length = bytes.len();
        buffer[..length].copy_from_slice(bytes);
        self.planned.pop_front();
        Some(length)
    }

    fn send(&mut self, device: usize, bytes: &[u8]) -> bool {
        self.out.push((self.clock, device, bytes.to_vec()));
        !self.rejects
    }

    fn start(&mut self, flow: FlowId) {
        self.observed.push((self.clock, true, flow));
    }

    fn stop(&mut self, flow: FlowId) {
        self.observed.push((self.clock, false, flow));
    }

    fn program_updates(&mut self, emit: &mut dyn FnMut(ProgramUpdate)) {
        self.updates.drain(..).for_each(emit);
    }

    fn start_endpoint(&mut self, endpoint: EndpointId, _: LiveEndpoint) {
        self.live.push((self.clock, endpoint, "begin".to_owned()));
    }

    fn stop_endpoint(&mut self, endpoint: EndpointId) {
        self.live.push((self.clock, endpoint, "end".to_owned()));
    }

    fn mode(&mut self, endpoint: EndpointId, mode: &str) {
        self.live.push((self.clock, endpoint, mode.to_owned()));
    }

    fn endpoint_reports(&mut self, emit: &mut dyn FnMut(EndpointId, &EndpointReport)) {
        self.report.drain(..).for_each(|(endpoint, report)| emit(endpoint, &report));
    }
}

fn at_ms(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

/// Two real nodes and a link of 10 Mbit/s and 5 ms; 1250 bytes take 1 ms. One flow of the kernel's TCP.
fn wire_between(packets: u32) -> Blueprint {
    let mut net = Blueprint::new(Duration::from_millis(100));
    let (a, b) = (net.node("a"), net.node("b"));
    net.link("wire", (a, b), PortSpec::new(Rate::from_mbps(10), Duration::from_millis(5), packets));
    let flow = net.flow("bulk", Some("reno"), sim::FlowKind::Tcp(tcp::Config::default()), a, &[b]);
    flow.emulation = Some(Box::new(FlowEmulation::Kernel("reno".to_owned())));
    net.emulation.real = vec![a, b];
    net
}

/// A packet as TCP of flow 0 sends it, `length` bytes long.
fn packet(from: u32, to: u32, length: usize, ecn: u8) -> Vec<u8> {
    let mut bytes = vec![0; length];
    bytes[0] = 0x45;
    bytes[1] = ecn;
    bytes[2..4].copy_from_slice(&(length as u16).to_be_bytes());
    bytes[9] = 6;
    bytes[12..16].copy_from_slice(&wire::address_of(NodeId(from)).octets());
    bytes[16..20].copy_from_slice(&wire::address_of(NodeId(to)).octets());
    let port = wire::port_of(FlowId(0)).to_be_bytes();
    bytes[20..22].copy_from_slice(&port);
    bytes[22..24].copy_from_slice(&port);
    let sum = wire::checksum(&[&bytes[..20]]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// A source, a router, and two members of a group, for commands: 10 Mbit/s and 5 ms from each to the router.
fn tree() -> Blueprint {
    let mut net = Blueprint::new(Duration::from_millis(100));
    let nodes = ["source", "router", "left", "right"].map(|name| net.node(name));
    let [source, router, left, right] = nodes;
    for (name, ends) in [("in", (source, router)), ("l", (router, left)), ("r", (router, right))] {
        net.link(name, ends, PortSpec::new(Rate::from_mbps(10), Duration::from_millis(5), 10));
    }
    let pattern = datagram::Pattern::Constant { rate: Rate::from_mbps(1) };
    let config = datagram::Config { packet: Bytes::new(1250), pattern };
    let flow = net.flow("film", None, sim::FlowKind::Datagram(config), source, &[left, right]);
    flow.emulation = Some(Box::new(FlowEmulation::Commands { sender: None, receiver: None }));
    net.emulation.real = vec![source, left, right];
    net
}

/// A datagram of the source of [`tree`], or an answer of a member.
fn of_the_tree(from: u32, to: [u8; 4], ecn: u8) -> Vec<u8> {
    let mut bytes = packet(from, 0, 1250, ecn);
    bytes[9] = 17;
    bytes[16..20].copy_from_slice(&to);
    bytes[10..12].fill(0);
    let sum = wire::checksum(&[&bytes[..20]]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes
}

#[test]
fn a_group_datagram_reaches_every_present_member() {
    let mut blueprint = tree();
    blueprint.flows[0].to[1].stop = at_ms(50);
    let mut stage = Stage::default();
    for at in [1, 60] {
        stage.planned.push_back((at_ms(at), 0, of_the_tree(0, [239, 0, 0, 0], 0)));
    }
    let (mut world, accuracy) = play(&blueprint, &mut stage);
    let out: Vec<(Time, usize)> = stage.out.iter().map(|(at, device, _)| (*at, *device)).collect();
    assert_eq!(out, [(at_ms(13), 1), (at_ms(13), 2), (at_ms(72), 1)]);
    assert!(stage.out.iter().all(|(_, _, bytes)| *bytes == of_the_tree(0, [239, 0, 0, 0], 0)));
    assert_eq!((accuracy.packets_in, accuracy.packets_out, accuracy.strays), (2, 3, 0));
    assert_eq!(world.external_payloads().live(), 0, "copies share their bytes, and the last one frees them");
    let trace = world.finish();
    assert_eq!((trace.flows[0].sent_packets, trace.balance.copied), (2, 1));
    assert_eq!(trace.receivers[0].meter.goodput_bytes, 2 * 1222);
}

#[test]
fn copies_of_a_datagram_are_dropped_and_marked_independently() {
    let mut blueprint = tree();
    blueprint.links[1].forward.queue.mark_above = Some(0);
    blueprint.links[2].forward.loss = 1.0;
    let mut stage = Stage::default();
    stage.planned.push_back((at_ms(1), 0, of_the_tree(0, [239, 0, 0, 0], 2)));
    let (mut world, _) = play(&blueprint, &mut stage);
    let [(_, 1, bytes)] = stage.out.as_slice() else { panic!("{:?}", stage.out) };
    assert_eq!(Ipv4::read(bytes).map(|read| read.ecn), Some(Ecn::Marked));
    assert_eq!(world.external_payloads().live(), 0);

    blueprint.links[2].forward.loss = 0.0;
    let mut stage = Stage::default();
    stage.planned.push_back((at_ms(1), 0, of_the_tree(0, [239, 0, 0, 0], 2)));
    play(&blueprint, &mut stage);
    let marks: Vec<Option<Ecn>> =
        stage.out.iter().map(|(_, _, bytes)| Ipv4::read(bytes).map(|read| read.ecn)).collect();
    assert_eq!(marks, [Some(Ecn::Marked), Some(Ecn::Capable)], "the other branch has no mark to give");
}

#[test]
fn members_send_to_their_source_only() {
    let mut stage = Stage::default();
    let source = wire::address_of(NodeId(0)).octets();
    stage.planned.push_back((at_ms(1), 1, of_the_tree(2, source, 0)));
    stage.planned.push_back((at_ms(2), 1, of_the_tree(2, [239, 0, 0, 0], 0)));
    stage.planned.push_back((at_ms(3), 0, of_the_tree(0, [239, 0, 0, 1], 0)));
    stage.planned.push_back((at_ms(4), 1, of_the_tree(2, wire::address_of(NodeId(3)).octets(), 0)));
    stage.planned.push_back((at_ms(4), 0, of_the_tree(0, wire::address_of(NodeId(3)).octets(), 0)));
    // the IGMP report of the kernel when a program joins
    let mut report = of_the_tree(2, [224, 0, 0, 22], 0);
    report[9] = 2;
    stage.planned.push_back((at_ms(5), 1, report));
    let (_, accuracy) = play(&tree(), &mut stage);
    let out: Vec<usize> = stage.out.iter().map(|(_, device, _)| *device).collect();
    assert_eq!((out, accuracy.strays), (vec![0, 2], 3), "and it answers each of them");
}

/// [`tree`] with a live stream.
fn live_tree() -> Blueprint {
    let mut net = tree();
    let flow = &mut net.flows[0];
    flow.scheme = Some("mca".into());
    flow.kind = sim::FlowKind::Stream(stack::stream::Config::default()).into();
    flow.emulation = Some(Box::new(FlowEmulation::Live));
    flow.to[1].stop = at_ms(50);
    net
}

/// A packet of a live endpoint of [`live_tree`].
fn live_packet_of(from: u32, to: contract::Destination, header: Header, label: u64) -> Vec<u8> {
    let source = contract::Address { node: NodeId(from), endpoint: EndpointId(0) };
    let sent = Packet {
        flow: FlowId(0),
        size_bytes: 1250,
        source,
        to,
        sent_at: at_ms(1),
        label: contract::Label([label, 0, 0, 0]),
        header,
        ecn: Ecn::Capable,
        hops: 0,
        waited: Default::default(),
    };
    let (mut datagram, mut bytes) = (Vec::new(), Vec::new());
    assert!(datagrams::write(&sent, 0, None, &mut datagram));
    let to = match to.as_group() {
        Some(group) => wire::address_of_group(group),
        None => wire::address_of(to.node().expect("it is a node")),
    };
    let port = wire::port_of(FlowId(0));
    let from = (wire::address_of(NodeId(from)), port);
    wire::datagram(from, (to, port), Ecn::Capable, 64, &datagram, &mut bytes);
    bytes
}

#[test]
fn datagrams_of_live_endpoints_are_converted_to_their_packets() {
    let mut blueprint = live_tree();
    blueprint.links[1].forward.queue.mark_above = Some(0);
    let group = contract::Destination::group(contract::GroupId(0));
    let header = Header::Stream(contract::StreamHeader { seq: 4, bytes_before: 5000, ..Default::default() });
    let data = live_packet_of(0, group, header, 77);
    let source = contract::Address { node: NodeId(0), endpoint: EndpointId(0) };
    let feedback = live_packet_of(2, source.into(), Header::Feedback, 5);
    let mut stage = Stage::default();
    stage.planned.push_back((at_ms(1), 0, data.clone()));
    stage.planned.push_back((at_ms(20), 1, feedback.clone()));
    // the port is right, the datagram is not ours
    let mut other = data.clone();
    other[wire::UDP_HEADERS] = 0;
    stage.planned.push_back((at_ms(21), 0, other));
    let (world, accuracy) = play(&blueprint, &mut stage);
    let out: Vec<(Time, usize, usize)> =
        stage.out.iter().map(|(at, device, bytes)| (*at, *device, bytes.len())).collect();
    assert_eq!(out[..2], [(at_ms(13), 1, 1250), (at_ms(13), 2, 1250)]);
    assert_eq!((out[2].1, out[2].2, accuracy.strays), (0, 100, 1));
    let read = |bytes: &[u8]| {
        let ip = Ipv4::read(bytes).expect("it is IPv4");
        let envelope = Envelope { flow: FlowId(0), source, to: group, ecn: ip.ecn, outer_bytes: 28 };
        datagrams::read(&bytes[28..], &envelope).expect("it is ours").0
    };
    let (left, right, back) = (read(&stage.out[0].2), read(&stage.out[1].2), read(&stage.out[2].2));
    assert_eq!((left.ecn, right.ecn), (Ecn::Marked, Ecn::Capable));
    assert!(matches!(left.header, Header::Stream(header) if header.seq == 4 && header.bytes_before == 5000));
    assert_eq!((left.label.0[0], left.sent_at, back.label.0[0]), (77, at_ms(1), 5));
    let trace = world.finish();
    assert_eq!((trace.flows[0].sent_packets, trace.receivers[0].packets), (1, 1));
    assert_eq!(trace.flows[0].arrived.packets, 1, "what a member says is counted at the source");
}

#[test]
fn live_endpoints_follow_the_scenario_and_their_reports_are_in_the_tables() {
    let mut blueprint = live_tree();
    blueprint.events.push((at_ms(40), sim::Change::Mode(FlowId(0), "background".to_owned())));
    blueprint.record = sim::Record {
        every: Duration::from_millis(50),
        series: vec!["allowed_rate".to_owned()],
        events: false,
        ..sim::Record::default()
    };
    let mut report = EndpointReport::default();
    (report.meter.goodput_bytes, report.meter.counts[Count::Feedback as usize]) = (1234, 3);
    let from = contract::Address { node: NodeId(0), endpoint: EndpointId(0) };
    report.notes.push(Note { at: at_ms(1), from, name: "allowed_rate", value: 8e4, event: false });
    report.late.record(Duration::from_millis(3));
    let mut stage = Stage { report: vec![(EndpointId(0), report)], ..Stage::default() };
    let (world, accuracy) = play(&blueprint, &mut stage);
    let observed = |endpoint: u32| {
        let its = stage.live.iter().filter(|(_, of, _)| of.0 == endpoint);
        its.map(|(at, _, what)| (at.as_nanos() / 1_000_000, what.as_str())).collect::<Vec<_>>()
    };
    assert_eq!(observed(0), [(0, "begin"), (40, "background")]);
    assert_eq!(observed(2), [(0, "begin"), (40, "background"), (50, "end")]);
    assert_eq!(stage.observed, [], "they are no programs");
    assert_eq!(accuracy.faults().len(), 1, "{:?}", accuracy.faults());
    let trace = world.finish();
    assert_eq!((trace.flows[0].meter.goodput_bytes, trace.flows[0].meter.count(Count::Feedback)), (1234, 3));
    assert_eq!(trace.series[0].values, [8e4, 8e4]);
}

fn play(blueprint: &Blueprint, stage: &mut Stage) -> (World, Accuracy) {
    let mut world = World::new(blueprint).expect("the blueprint is valid");
    let gates = Gates::open(blueprint, &mut world);
    let accuracy = drive(&mut world, &gates, blueprint, &Control::default(), stage);
    (world, accuracy)
}

#[test]
fn a_program_packet_has_the_delay_of_its_link() {
    let mut stage = Stage::default();
    stage.planned.push_back((at_ms(10), 0, packet(0, 1, 1250, 0)));
    stage.planned.push_back((at_ms(10), 0, packet(0, 1, 1250, 0)));
    stage.planned.push_back((at_ms(20), 1, packet(1, 0, 1250, 0)));
    let (world, accuracy) = play(&wire_between(10), &mut stage);
    let times: Vec<(Time, usize)> = stage.out.iter().map(|(at, device, _)| (*at, *device)).collect();
    assert_eq!(times, [(at_ms(16), 1), (at_ms(17), 1), (at_ms(26), 0)]);
    assert_eq!(stage.out[0].2, packet(0, 1, 1250, 0), "as it was sent");
    assert_eq!((accuracy.packets_in, accuracy.packets_out), (3, 3));
    assert_eq!(accuracy.departures.max(), Duration::ZERO);
    let trace = world.finish();
    assert_eq!((trace.flows[0].sent_packets, trace.receivers[0].packets), (2, 2));
    assert_eq!(trace.receivers[0].delay_max, Duration::from_millis(7), "the second waits for the first");
    assert_eq!(trace.flows[0].arrived.packets, 1, "what goes back arrives at the sender");
}

#[test]
fn lateness_is_measured_and_does_not_add_up() {
    let mut stage = Stage { wakeup_latency: Duration::from_micros(730), ..Stage::default() };
    stage.planned.extend((0..5).map(|n| (at_ms(10 * n), 0, packet(0, 1, 1250, 0))));
    let (world, accuracy) = play(&wire_between(10), &mut stage);
    let max = accuracy.departures.max();
    assert!(max > Duration::ZERO && max <= Duration::from_micros(730), "{max}");
    let trace = world.finish();
    // the delay contains only the lateness of the arrival from the program
    assert_eq!(trace.receivers[0].delay_max, Duration::from_millis(6));
}

#[test]
fn packets_that_wait_for_the_loop_count_as_late() {
    let loop_delay = Duration::from_micros(400);
    let mut stage = Stage { loop_delay, ..Stage::default() };
    stage.planned.extend((0..5).map(|n| (at_ms(10 * n), 0, packet(0, 1, 1250, 0))));
    let (_, accuracy) = play(&wire_between(10), &mut stage);
    assert_eq!(accuracy.pickups.max(), loop_delay);
    assert!(accuracy.departures.max() <= loop_delay, "{}", accuracy.departures.max());
}

#[test]
fn a_full_queue_drops_packets_and_releases_their_payloads() {
    let mut stage = Stage::default();
    stage.planned.extend((0..8).map(|_| (at_ms(1), 0, packet(0, 1, 1250, 0))));
    let (mut world, accuracy) = play(&wire_between(3), &mut stage);
    assert_eq!(stage.out.len(), 4, "one under way and three that wait");
    assert_eq!((accuracy.packets_out, accuracy.overruns), (4, 0));
    assert_eq!(world.external_payloads().live(), 0);
    assert_eq!(world.finish().flows[0].drops.iter().sum::<u64>(), 4);
}

#[test]
fn a_mark_in_the_network_is_set_in_the_ip_header() {
    let mut blueprint = wire_between(10);
    let LinkSpec { forward, .. } = &mut blueprint.links[0];
    forward.queue.mark_above = Some(0);
    let mut stage = Stage::default();
    stage.planned.push_back((at_ms(1), 0, packet(0, 1, 1250, 2)));
    stage.planned.push_back((at_ms(1), 0, packet(0, 1, 1250, 0)));
    play(&blueprint, &mut stage);
    let marks: Vec<Option<Ecn>> =
        stage.out.iter().map(|(_, _, bytes)| Ipv4::read(bytes).map(|read| read.ecn)).collect();
    assert_eq!(marks, [Some(Ecn::Marked), Some(Ecn::NotCapable)]);
    assert_eq!(wire::checksum(&[&stage.out[0].2[..20]]), 0);
}

#[test]
fn packets_without_a_flow_are_counted_and_dropped() {
    let mut other_net = packet(0, 1, 100, 0);
    other_net[16] = 192;
    let mut forged = packet(1, 0, 100, 0);
    forged[19] = 2;
    let mut stage = Stage::default();
    for bytes in [other_net, forged, vec![0x60; 60], packet(0, 5, 100, 0), Vec::new()] {
        stage.planned.push_back((at_ms(1), 0, bytes));
    }
    let (_, accuracy) = play(&wire_between(10), &mut stage);
    assert_eq!((accuracy.strays, stage.out.len()), (5, 0));
}

#[test]
fn programs_follow_the_scenario_and_their_progress_is_in_the_tables() {
    let mut blueprint = wire_between(10);
    (blueprint.flows[0].start, blueprint.flows[0].stop) = (at_ms(30), at_ms(80));
    blueprint.record.every = Duration::from_millis(50);
    blueprint.record.series = vec!["window".to_owned(), "goodput".to_owned()];
    let state = SenderState {
        window: Bytes::new(14_600),
        threshold: Bytes::UNLIMITED,
        rtt: Duration::from_millis(11),
        retransmits: 2,
        ..SenderState::default()
    };
    let update = ProgramUpdate {
        delivered: Bytes::new(5000),
        completed: Some(at_ms(40)),
        sender: Some(state),
        ..ProgramUpdate::default()
    };
    let mut stage = Stage { updates: vec![update], ..Stage::default() };
    let (world, _) = play(&blueprint, &mut stage);
    assert_eq!(stage.observed, [(at_ms(30), true, FlowId(0)), (at_ms(80), false, FlowId(0))]);
    let trace = world.finish();
    assert_eq!(trace.receivers[0].meter.goodput_bytes, 5000);
    assert_eq!(trace.flows[0].meter.count(Count::Retransmits), 2);
    assert_eq!(trace.flows[0].meter.rtt_min, Duration::from_millis(11));
    let window = trace.series.iter().find(|series| series.name == "window").expect("it was recorded");
    assert_eq!(window.values, [14_600.0, 14_600.0]);
}

#[test]
fn a_packet_rejected_by_its_device_is_an_overrun() {
    let mut stage = Stage { rejects: true, ..Stage::default() };
    stage.planned.push_back((at_ms(1), 0, packet(0, 1, 1250, 0)));
    let (_, accuracy) = play(&wire_between(10), &mut stage);
    assert_eq!(accuracy.overruns, 1);
    assert_eq!(accuracy.faults().len(), 1);
}

#[test]
fn simulated_state_machines_do_not_observe_a_late_loop() {
    let mut net = Blueprint::new(Duration::from_millis(200));
    let (a, b) = (net.node("a"), net.node("b"));
    net.link("wire", (a, b), PortSpec::new(Rate::from_mbps(10), Duration::from_millis(5), 20));
    net.flow("tcp", Some("reno"), sim::FlowKind::Tcp(tcp::Config::default()), a, &[b]);
    let poisson = datagram::Pattern::Poisson { rate: Rate::from_mbps(2) };
    let config = datagram::Config { packet: Bytes::new(1000), pattern: poisson };
    net.flow("noise", None, sim::FlowKind::Datagram(config), a, &[b]);
    let mut simulated = World::new(&net).expect("the blueprint is valid");
    simulated.run(&Control::default());
    let mut stage = Stage { wakeup_latency: Duration::from_millis(3), ..Stage::default() };
    let (emulated, accuracy) = play(&net, &mut stage);
    assert_eq!(emulated.finish().hash, simulated.finish().hash);
    assert_eq!(accuracy.events.max(), Duration::from_millis(3));
    assert_eq!(accuracy.faults().len(), 1, "3 ms are more than the 2 ms that it may be late");
}

#[test]
fn a_run_ends_when_control_stops_it() {
    let control = Control::default();
    control.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let blueprint = wire_between(10);
    let mut world = World::new(&blueprint).expect("the blueprint is valid");
    let gates = Gates::open(&blueprint, &mut world);
    drive(&mut world, &gates, &blueprint, &control, &mut Stage::default());
    assert!(world.finish().ended_at < at_ms(100));
}

proptest::proptest! {
    /// Stops of 75 ms: the limit of 50 ms, and the 25 ms that the loop waits for at most when nothing happens.
    #[test]
    fn an_emulation_that_stood_still_is_not_valid(
        at in 0u64..1_900_000_000,
        span in 76_000_000u64..5_000_000_000,
        every in 100_000u64..100_000_000,
    ) {
        let mut blueprint = wire_between(100);
        blueprint.duration = Duration::from_secs(2);
        let planned = (1..2_000_000_000 / every).map(|n| (Time::from_nanos(n * every), 0, packet(0, 1, 100, 0)));
        let mut stage = Stage { planned: planned.collect(), ..Stage::default() };
        let (_, accuracy) = play(&blueprint, &mut stage);
        proptest::prop_assert_eq!(accuracy.faults(), Vec::<String>::new());
        let planned = (1..2_000_000_000 / every).map(|n| (Time::from_nanos(n * every), 0, packet(0, 1, 100, 0)));
        let stall = Some((Time::from_nanos(at), Duration::from_nanos(span)));
        let mut stage = Stage { planned: planned.collect(), stall, ..Stage::default() };
        let (_, accuracy) = play(&blueprint, &mut stage);
        let faults = accuracy.faults();
        proptest::prop_assert!(faults.iter().any(|fault| fault.contains("stood still")), "{:?}", faults);
    }
}
