//! Conformance tests that every scheme of the catalogue must pass. A new folder is included automatically.

use std::path::{Path, PathBuf};

use contract::{
    Ack, Address, Arrival, Backlog, Branch, Cause, Congestion, CongestionControl, Cx, Delivery, Destination,
    Ecn, EndpointId, Entry as Forwarding, Feedback, FlowId, Gap, GroupId, GroupMessage, Header, Label, Lost,
    Meter, NodeCx, NodeId, NodeView, OutgoingPacket, Outputs, Packet, ParamInfo, ParamKind, ParamList,
    ParamValue, PortId, PortView, Random, ReceiverAlgorithm, ReceiverCx, Report, RouterAlgorithm, RouterCx,
    SenderAlgorithm, Sent, Setup, StreamHeader, TcpHeader, TransitCx,
};
use proptest::prelude::*;
use schemes::{Build, Entry, catalogue};
use units::{Bytes, Duration, Rate, Time};

#[path = "house/forwarders.rs"]
mod forwarders;

// ---- names, parameters, READMEs

#[test]
fn names_are_snake_case_in_order_and_name_a_folder() {
    let names: Vec<&str> = catalogue().iter().map(|entry| entry.scheme.name).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(names, sorted, "once each, in order");
    for name in names {
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{name}");
        assert!(folder(name).join("mod.rs").exists(), "{name} has a folder of its name");
        assert!(schemes::find(name).is_some(), "{name} is found by its name");
    }
}

#[test]
fn every_scheme_says_what_it_is() {
    for entry in catalogue() {
        let scheme = entry.scheme;
        assert!(
            !scheme.title.is_empty() && !scheme.title.ends_with('.'),
            "{}: a title in one line",
            scheme.name
        );
        assert!(!scheme.families.is_empty(), "{} is used somewhere", scheme.name);
        assert!(!scheme.sources.is_empty(), "{} has a source", scheme.name);
        assert!((1..=10_000).contains(&scheme.reorder), "{} waits for a later packet", scheme.name);
        for (name, unit, subject, meaning) in scheme.series {
            assert!(!name.is_empty() && !unit.is_empty() && !meaning.is_empty(), "{}: {name}", scheme.name);
            assert!(
                ["flow", "receiver", "node"].contains(subject),
                "{}: {name} is of a flow, a receiver or a node",
                scheme.name
            );
        }
    }
}

#[test]
fn parameters_have_a_meaning_a_source_and_a_default_within_their_range() {
    for entry in catalogue() {
        for info in (entry.params)() {
            let place = format!("{}.{}", entry.scheme.name, info.name);
            assert!(!info.doc.is_empty() && !info.source.is_empty(), "{place}");
            let set = [(info.name.to_owned(), info.default.clone())];
            assert!((entry.resolve)(&set).is_ok(), "{place}: its own default is refused");
            let known = entry.scheme.sources.iter().any(|source| info.source.contains(source.key));
            assert!(
                known || info.source.contains("our choice"),
                "{place}: `{}` names no source",
                info.source
            );
        }
    }
}

#[test]
fn parameters_round_trip_and_the_ends_of_their_ranges_are_allowed() {
    for entry in catalogue() {
        for step in 0..4u64 {
            let given =
                some_params(&entry, step.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(7 * step as u32));
            let resolved = (entry.resolve)(&given).unwrap_or_else(|e| panic!("{}: {e}", entry.scheme.name));
            assert_eq!((entry.resolve)(&resolved).as_ref(), Ok(&resolved), "{}", entry.scheme.name);
            for (name, value) in &given {
                let kept = resolved.iter().find(|(n, _)| n == name).map(|(_, v)| v.to_string());
                // the README may write a number with or without a point, and a quantity in another unit
                let plain = matches!(value, ParamValue::Bool(_) | ParamValue::Int(_) | ParamValue::Float(_));
                assert!(!plain || kept == Some(value.to_string()), "{}.{name}", entry.scheme.name);
            }
        }
    }
}

#[test]
fn wrong_parameters_are_refused_by_name() {
    for entry in catalogue() {
        for info in (entry.params)() {
            for wrong in wrong_values(&info) {
                let place = format!("{}.{} = {wrong}", entry.scheme.name, info.name);
                let error = (entry.resolve)(&[(info.name.to_owned(), wrong)]).expect_err(&place);
                assert_eq!(error.name, info.name, "{place}");
                assert!(!error.message.is_empty(), "{place}");
            }
        }
        let unknown = "surely_no_parameter".to_owned();
        let error = (entry.resolve)(&[(unknown.clone(), ParamValue::Bool(true))]).expect_err("unknown");
        assert_eq!(error.name, unknown);
    }
}

#[test]
fn readmes_have_their_headings_sources_parameters_and_a_scenario() {
    for entry in catalogue() {
        let name = entry.scheme.name;
        let path = folder(name).join("README.md");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let headings: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(headings, HEADINGS, "{name}");
        let section = |heading: &str| {
            let start = text.find(&format!("## {heading}\n")).expect("it was just found");
            let rest = &text[start + heading.len() + 4..];
            &rest[..rest.find("\n## ").unwrap_or(rest.len())]
        };
        for source in entry.scheme.sources {
            assert!(section("Sources").contains(&format!("- [{}]", source.key)), "{name}: {}", source.key);
            assert!(
                cited(&folder(name), source.key),
                "{name}: [{}] is cited nowhere in the code",
                source.key
            );
        }
        for info in (entry.params)() {
            assert!(section("Parameters").contains(&format!("| {} |", info.name)), "{name}: {}", info.name);
        }
        for heading in HEADINGS {
            assert!(section(heading).trim().len() > 4, "{name}: {heading} is empty");
        }
        let scenario = section("Try it").split("```toml").nth(1).and_then(|rest| rest.split("```").next());
        let table: toml::Table = scenario.expect("a fenced scenario").parse().expect("it is TOML");
        assert!(table.contains_key("title") && table.contains_key("flows"), "{name}: the scenario has flows");
        assert!(table.contains_key("expect"), "{name}: the scenario says what to expect");
    }
}

// ---- algorithms under random operations

/// An input of a congestion control algorithm.
#[derive(Clone, Debug)]
enum Op {
    Wait(u64),
    Ack {
        segments: u8,
        marked: bool,
        app_limited: bool,
        recovering: bool,
        rtt_us: u32,
        label: [u64; 4],
    },
    Congestion {
        cause: u8,
        first: bool,
        share: u8,
    },
    Delivery {
        segments: u8,
        waits: u8,
        kbps: Option<u32>,
        app_limited: bool,
        recovering: bool,
        rtt_us: Option<u32>,
    },
    Lost {
        share: u8,
        app_limited: bool,
        adjoins: bool,
        selective: bool,
    },
    Sent {
        app_limited: bool,
    },
    Timer,
    Spurious,
    Idle,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        2 => (1u64..3_000_000_000).prop_map(Op::Wait),
        8 => (1u8..4, prop::bool::weighted(0.05), prop::bool::weighted(0.1), prop::bool::weighted(0.1), 10u32..3_000_000, label())
            .prop_map(|(segments, marked, app_limited, recovering, rtt_us, label)| Op::Ack {
                segments, marked, app_limited, recovering, rtt_us, label
            }),
        2 => (0u8..4, prop::bool::weighted(0.7), 0u8..=100).prop_map(|(cause, first, share)| Op::Congestion {
            cause, first, share
        }),
        4 => (1u8..4, any::<u8>(), prop::option::weighted(0.9, 0u32..100_000_000), prop::bool::weighted(0.1), prop::bool::weighted(0.1), prop::option::weighted(0.9, 10u32..3_000_000))
            .prop_map(|(segments, waits, kbps, app_limited, recovering, rtt_us)| Op::Delivery {
                segments, waits, kbps, app_limited, recovering, rtt_us
            }),
        1 => (any::<u8>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(share, app_limited, adjoins, selective)| Op::Lost {
            share, app_limited, adjoins, selective
        }),
        1 => any::<bool>().prop_map(|app_limited| Op::Sent { app_limited }),
        1 => Just(Op::Timer),
        1 => Just(Op::Spurious),
        1 => Just(Op::Idle),
    ]
}

/// Labels of any content: zero, small values, any values.
fn label() -> impl Strategy<Value = [u64; 4]> {
    prop_oneof![4 => Just([0; 4]), 3 => (0u64..50_000_000).prop_map(|word| [word, 0, 0, 0]), 1 => any::<[u64; 4]>()]
}

/// Runs an algorithm through `ops`; returns the windows and rates it allowed.
fn walk(algorithm: &mut impl CongestionControl, ops: &[Op]) -> Vec<(u64, u64, u64)> {
    let mut world = World::new();
    let mut allowed = Vec::new();
    let mut total = Bytes::ZERO;
    for op in ops {
        let window = algorithm.allowance().window;
        let in_flight = if window == Bytes::UNLIMITED { SEGMENT * 100 } else { window };
        match *op {
            Op::Wait(nanos) => world.now += Duration::from_nanos(nanos),
            Op::Ack { segments, marked, app_limited, recovering, rtt_us, label } => {
                let rtt = Duration::from_micros(u64::from(rtt_us));
                let ack = Ack {
                    bytes: SEGMENT * u64::from(segments),
                    packets: u32::from(segments),
                    marked,
                    marked_packets: if marked { u32::from(segments) } else { 0 },
                    in_flight,
                    sent_at: world.now - rtt,
                    ack_sent_at: world.now - rtt / 2,
                    rtt: Some(rtt),
                    rtt_smoothed: rtt,
                    rtt_min: rtt,
                    app_limited,
                    recovering,
                    round_ended: segments == 1,
                    from: EndpointId(1),
                    label: Label(label),
                };
                algorithm.on_ack(&ack, &mut world.cx());
            }
            Op::Congestion { cause, first, share } => {
                let event = Congestion {
                    cause: [Cause::Loss, Cause::Mark, Cause::Timeout, Cause::Refused][usize::from(cause)],
                    bytes: SEGMENT,
                    in_flight: Bytes::new(in_flight.as_u64() / 100 * u64::from(share)),
                    first,
                };
                algorithm.on_congestion(&event, &mut world.cx());
            }
            Op::Delivery { .. } | Op::Lost { .. } if !algorithm.samples_delivery() => {}
            Op::Lost { share, app_limited, adjoins, selective } => {
                let lost = Lost {
                    bytes: SEGMENT,
                    in_flight_when_sent: Bytes::new(in_flight.as_u64() / 256 * u64::from(share)) + SEGMENT,
                    lost: SEGMENT * u64::from(share / 8 + 1),
                    total,
                    app_limited,
                    adjoins,
                    selective,
                };
                algorithm.on_lost(&lost, &mut world.cx());
            }
            Op::Delivery { segments, waits, kbps, app_limited, recovering, rtt_us } => {
                total += SEGMENT * u64::from(segments);
                let delivery = Delivery {
                    bytes: SEGMENT * u64::from(segments),
                    total,
                    total_when_sent: total.saturating_sub(SEGMENT * u64::from(waits)),
                    in_flight_when_sent: Bytes::new(in_flight.as_u64() / 256 * u64::from(waits)) + SEGMENT,
                    lost: SEGMENT * u64::from(waits / 32),
                    rate: kbps.map(|kbps| Rate::from_kbps(u64::from(kbps))),
                    app_limited,
                    rtt: rtt_us.map(|micros| Duration::from_micros(u64::from(micros))),
                    delay: rtt_us.map(|micros| i64::from(micros) * 500 - 3_600_000_000_000),
                    in_flight_before: in_flight,
                    in_flight: Bytes::new(in_flight.as_u64() / 256 * u64::from(waits)),
                    recovering,
                };
                algorithm.on_delivery(&delivery, &mut world.cx());
            }
            Op::Sent { app_limited } => {
                let sent = Sent {
                    bytes: SEGMENT,
                    in_flight,
                    retransmission: false,
                    app_limited,
                    idle: Duration::ZERO,
                };
                algorithm.on_sent(&sent, &mut world.cx());
            }
            Op::Timer => {
                if algorithm.wake() != Time::NEVER {
                    world.now = world.now.max(algorithm.wake());
                }
                algorithm.on_timer(&mut world.cx());
                assert!(algorithm.wake() > world.now, "a deadline that has passed stays");
            }
            Op::Spurious => algorithm.on_spurious(&mut world.cx()),
            Op::Idle => algorithm
                .on_idle(&contract::Idle { time: Duration::from_secs(3), halvings: None }, &mut world.cx()),
        }
        let (allowance, threshold) = (algorithm.allowance(), algorithm.ssthresh());
        assert!(algorithm.timeout() != Some(Duration::ZERO), "no Interest is answered at once, after {op:?}");
        assert!(allowance.window >= SEGMENT, "the window is {} after {op:?}", allowance.window);
        assert!(allowance.rate > Rate::ZERO, "the rate is zero after {op:?}");
        assert!(threshold >= SEGMENT, "the threshold is {threshold} after {op:?}");
        // a window computed from NaN would be 0, one from infinity the maximum
        assert!(allowance.window == Bytes::UNLIMITED || allowance.window < Bytes::new(1 << 50), "{op:?}");
        allowed.push((allowance.window.as_u64(), allowance.rate.as_bps(), threshold.as_u64()));
    }
    assert!(world.out.outbox.is_empty(), "algorithms send nothing themselves");
    allowed
}

proptest! {
    #[test]
    fn algorithms_keep_a_segment_and_are_no_number_never_and_repeat_themselves(
        ops in prop::collection::vec(op(), 1..200),
        pick in any::<u64>(),
    ) {
        for entry in catalogue() {
            let Build::Control(make) = entry.build else { continue };
            for params in [Vec::new(), some_params(&entry, pick)] {
                let walked = walk(&mut make(&params, &SETUP).expect("allowed parameters"), &ops);
                let retransmission = walk(&mut make(&params, &SETUP).expect("allowed parameters"), &ops);
                prop_assert_eq!(walked, retransmission, "{}: the same list gives the same allowances", entry.scheme.name);
            }
        }
    }
}

// ---- streams under random operations

/// An event of a stream with one sender and two receivers.
#[derive(Clone, Debug)]
enum Step {
    /// The sender sends a packet; each receiver gets it after this number of milliseconds, or never.
    Send {
        late_ms: [Option<u16>; 2],
        marked: bool,
    },
    Wait(u64),
    /// Timers that have expired are handled.
    Timers,
    /// A message of any content from any sender.
    Noise([u64; 4]),
    Mode,
}

fn step() -> impl Strategy<Value = Step> {
    let late = || prop::option::weighted(0.9, 1u16..2000);
    prop_oneof![
        12 => (late(), late(), prop::bool::weighted(0.05))
            .prop_map(|(a, b, marked)| Step::Send { late_ms: [a, b], marked }),
        4 => (1u64..400_000_000).prop_map(Step::Wait),
        4 => Just(Step::Timers),
        1 => any::<[u64; 4]>().prop_map(Step::Noise),
        1 => Just(Step::Mode),
    ]
}

fn converse(
    sender: &mut impl SenderAlgorithm,
    receivers: &mut [impl ReceiverAlgorithm],
    steps: &[Step],
    noise: bool,
) -> Vec<(u64, u64)> {
    let mut world = World::new();
    let mut answers = Vec::new();
    let mut allowed = Vec::new();
    sender.on_start(&mut world.cx());
    for receiver in receivers.iter_mut() {
        receiver.on_start(&mut ReceiverCx::new(&mut world.cx(), &mut answers));
    }
    let mut seq = 0;
    let mut last: Vec<Option<u64>> = vec![None; receivers.len()];
    for step in steps {
        match step {
            Step::Wait(nanos) => world.now += Duration::from_nanos(*nanos),
            Step::Send { late_ms, marked } => {
                let sending = OutgoingPacket { seq, size: PACKET, bytes_before: seq * PACKET.as_u64() };
                let label = sender.stamp(&sending, &mut world.cx());
                for (i, receiver) in receivers.iter_mut().enumerate() {
                    let Some(late) = late_ms[i] else { continue };
                    let data = Arrival {
                        seq,
                        size: PACKET,
                        bytes_before: sending.bytes_before,
                        sent_at: world.now - Duration::from_millis(u64::from(late)),
                        marked: *marked,
                        label,
                    };
                    let mut cx = world.cx();
                    let mut cx = ReceiverCx::new(&mut cx, &mut answers);
                    let expected = last[i].map_or(seq, |last| last + 1);
                    if expected < seq {
                        receiver.on_loss(
                            &Gap { first_missing: expected, packets: seq - expected, before: data },
                            &mut cx,
                        );
                    }
                    last[i] = Some(seq);
                    receiver.on_data(&data, &mut cx);
                    assert!(answers.len() <= 8, "a packet makes {} answers", answers.len());
                    for answer in answers.drain(..) {
                        let (from, label) = (EndpointId(i as u32 + 1), answer.label);
                        let feedback = Feedback { from, sent_at: world.now, label };
                        sender.on_feedback(&feedback, &mut world.cx());
                    }
                }
                seq += 1;
            }
            Step::Timers => {
                if sender.wake() <= world.now {
                    sender.on_timer(&mut world.cx());
                    assert!(sender.wake() > world.now, "a deadline that has passed stays");
                }
                for (i, receiver) in receivers.iter_mut().enumerate() {
                    if receiver.wake() <= world.now {
                        receiver.on_timer(&mut ReceiverCx::new(&mut world.cx(), &mut answers));
                        assert!(receiver.wake() > world.now, "a deadline that has passed stays");
                    }
                    for answer in answers.drain(..) {
                        let (from, label) = (EndpointId(i as u32 + 1), answer.label);
                        let feedback = Feedback { from, sent_at: world.now, label };
                        sender.on_feedback(&feedback, &mut world.cx());
                    }
                }
            }
            Step::Noise(words) if noise => {
                let feedback = Feedback { from: EndpointId(9), sent_at: world.now, label: Label(*words) };
                sender.on_feedback(&feedback, &mut world.cx());
            }
            Step::Noise(_) => {}
            Step::Mode => sender.on_mode("no such mode", &mut world.cx()),
        }
        let allowance = sender.allowance();
        assert!(allowance.rate > Rate::ZERO, "the rate is zero after {step:?}");
        // an algorithm may pause the stream, if a timer of it is set
        let held = allowance.window < PACKET;
        assert!(!held || sender.wake() < Time::NEVER, "the window is {} after {step:?}", allowance.window);
        allowed.push((allowance.rate.as_bps(), allowance.window.as_u64()));
    }
    assert!(world.out.outbox.is_empty(), "algorithms send nothing themselves");
    allowed
}

proptest! {
    #[test]
    fn streams_keep_a_rate_and_repeat_themselves_whatever_they_hear(
        steps in prop::collection::vec(step(), 1..150),
        pick in any::<u64>(),
        noise in any::<bool>(),
    ) {
        for entry in catalogue() {
            let Build::Stream { sender, receiver, .. } = entry.build else { continue };
            for params in [Vec::new(), some_params(&entry, pick)] {
                let run = || {
                    let mut source = sender(&params, &STREAM).expect("allowed parameters");
                    let mut receivers = [0, 1].map(|_| receiver(&params, &STREAM).expect("allowed parameters"));
                    converse(&mut source, &mut receivers, &steps, noise)
                };
                prop_assert_eq!(run(), run(), "{}: the same list gives the same rates", entry.scheme.name);
            }
        }
    }
}

// ---- parts in routers under random operations

/// What can happen at a router with four ports, through which two groups of a scheme pass: each comes in by port 0 and
/// has a child behind each other port.
#[derive(Clone, Debug)]
enum Event {
    /// The source of a group sends a packet, which arrives, joins the queues towards the children and is received by
    /// them.
    Data {
        group: u32,
        waiting: [u8; 3],
    },
    /// A packet of another flow passes.
    Other {
        flow: u32,
        by: u32,
        to: u32,
        waiting: u8,
    },
    /// A packet of a group with a header of any content arrives at any port.
    Strange {
        group: u32,
        by: u32,
        words: [u64; 4],
    },
    /// A message of any content, from a child or another node, about a group with some of its branches.
    Noise {
        group: u32,
        from: u32,
        words: [u64; 4],
        branches: usize,
    },
    Wait(u64),
    /// Expired timers of the receivers, of the router and of the sources are handled.
    Timers,
}

fn event() -> impl Strategy<Value = Event> {
    let waiting = || 0u8..=50;
    prop_oneof![
        8 => (0u32..2, [waiting(), waiting(), waiting()])
            .prop_map(|(group, waiting)| Event::Data { group, waiting }),
        4 => (2u32..9, 0u32..4, 0u32..4, waiting())
            .prop_map(|(flow, by, to, waiting)| Event::Other { flow, by, to, waiting }),
        1 => (0u32..2, 0u32..4, any::<[u64; 4]>()).prop_map(|(group, by, words)| Event::Strange { group, by, words }),
        1 => (0u32..2, 0u32..6, any::<[u64; 4]>(), 0usize..=3)
            .prop_map(|(group, from, words, branches)| Event::Noise { group, from, words, branches }),
        4 => (1u64..400_000_000).prop_map(Event::Wait),
        6 => Just(Event::Timers),
    ]
}

/// The ports of the router, which are its whole environment.
struct Ports([PortView; 4]);

impl Ports {
    fn new() -> Self {
        Self([0, 1, 2, 3].map(|i| PortView {
            port: PortId(i),
            to: NodeId(10 + i),
            rate: Rate::from_mbps(10),
            rate_in: Rate::from_mbps(5),
            backlog: Backlog::default(),
            busy: false,
            limit: Backlog { packets: 50, bytes: Bytes::UNLIMITED },
        }))
    }
}

impl NodeView for Ports {
    fn port(&mut self, port: PortId) -> PortView {
        self.0[port.index()]
    }

    fn next(&self, _to: NodeId) -> Option<PortId> {
        None
    }

    fn cost(&self, _to: NodeId) -> Option<u64> {
        None
    }
}

/// A router's part between the sources and the receivers of two groups.
struct Tree<S, R, L> {
    world: World,
    ports: Ports,
    router: L,
    sources: [S; 2],
    /// By group, then by child.
    receivers: [[R; 3]; 2],
    sent: [u64; 2],
    /// Messages of the router, with their times.
    messages: Vec<(Time, GroupMessage)>,
}

impl<S: SenderAlgorithm, R: ReceiverAlgorithm, L: RouterAlgorithm> Tree<S, R, L> {
    fn new(router: L, mut source: impl FnMut() -> S, mut receiver: impl FnMut() -> R) -> Self {
        let mut tree = Self {
            world: World::new(),
            ports: Ports::new(),
            router,
            sources: [source(), source()],
            receivers: [(); 2].map(|()| [(); 3].map(|()| receiver())),
            sent: [0; 2],
            messages: Vec::new(),
        };
        for source in &mut tree.sources {
            source.on_start(&mut tree.world.cx());
        }
        for receiver in tree.receivers.iter_mut().flatten() {
            receiver.on_start(&mut ReceiverCx::new(&mut tree.world.cx(), &mut Vec::new()));
        }
        tree
    }

    fn run(&mut self, events: &[Event]) {
        for event in events {
            match *event {
                Event::Wait(nanos) => self.world.now += Duration::from_nanos(nanos),
                Event::Data { group, waiting } => self.data(group, waiting),
                Event::Other { flow, by, to, waiting } => {
                    let header = match flow % 4 {
                        0 => Header::Tcp(TcpHeader::default()),
                        1 => Header::Datagram { seq: 1 },
                        2 => Header::Stream(StreamHeader::default()),
                        _ => Header::Feedback,
                    };
                    let packet = self.packet(flow, header, Label::default());
                    self.arrive(&packet, by);
                    self.enqueue(packet, to, waiting);
                }
                Event::Strange { group, by, words } => {
                    let packet = self.packet(group, Header::Stream(StreamHeader::default()), Label(words));
                    self.arrive(&packet, by);
                    self.enqueue(packet, 1 + by % 3, 1);
                }
                Event::Noise { group, from, words, branches } => {
                    self.report(group, from, Label(words), branches);
                }
                Event::Timers => self.timers(),
            }
            for source in &self.sources {
                assert!(source.allowance().rate > Rate::ZERO, "the rate is zero after {event:?}");
            }
        }
        assert!(self.world.out.outbox.is_empty(), "algorithms send nothing themselves");
        assert!(
            self.messages.iter().all(|(_, word)| word.group.0 < 2),
            "it speaks of groups that are not there"
        );
    }

    /// A packet of a flow, sent shortly before.
    fn packet(&self, flow: u32, header: Header, label: Label) -> Packet {
        Packet {
            flow: FlowId(flow),
            size_bytes: PACKET.as_u64() as u32,
            source: Address { node: NodeId(20 + flow), endpoint: EndpointId(20 + flow) },
            to: Destination::from(Address { node: NodeId(30), endpoint: EndpointId(30) }),
            sent_at: self.world.now - Duration::from_millis(5),
            label,
            header,
            ecn: Ecn::NotCapable,
            hops: 1,
            waited: Default::default(),
        }
    }

    fn arrive(&mut self, packet: &Packet, by: u32) {
        let (now, random) = (self.world.now, &mut self.world.random);
        self.router.on_arrival(packet, &mut TransitCx { now, port: PortId(by), random });
    }

    fn enqueue(&mut self, mut packet: Packet, to: u32, waiting: u8) -> Packet {
        let port = &mut self.ports.0[to as usize];
        let packets = u32::from(waiting);
        (port.backlog, port.busy) = (Backlog { packets, bytes: PACKET * u64::from(packets) }, waiting > 0);
        let (now, random) = (self.world.now, &mut self.world.random);
        self.router.on_enqueue(&mut packet, port, &mut TransitCx { now, port: PortId(to), random });
        packet
    }

    fn data(&mut self, group: u32, waiting: [u8; 3]) {
        let at = group as usize;
        let seq = self.sent[at];
        self.sent[at] += 1;
        let sending = OutgoingPacket { seq, size: PACKET, bytes_before: seq * PACKET.as_u64() };
        let label = self.sources[at].stamp(&sending, &mut self.world.cx());
        let header = StreamHeader { seq, bytes_before: sending.bytes_before, ..StreamHeader::default() };
        let packet = self.packet(group, Header::Stream(header), label);
        self.arrive(&packet, 0);
        for child in 1..=3 {
            let copy = self.enqueue(packet, child, waiting[child as usize - 1]);
            let data = Arrival {
                seq,
                size: PACKET,
                bytes_before: sending.bytes_before,
                sent_at: copy.sent_at,
                marked: copy.ecn == Ecn::Marked,
                label: copy.label,
            };
            self.listen(group, child, |algorithm, cx| algorithm.on_data(&data, cx));
        }
    }

    /// Calls a receiver's algorithm. Its messages go to the router, or bypass it.
    fn listen(&mut self, group: u32, child: u32, call: impl FnOnce(&mut R, &mut ReceiverCx<'_, '_>)) {
        let mut answers = Vec::new();
        let algorithm = &mut self.receivers[group as usize][child as usize - 1];
        call(algorithm, &mut ReceiverCx::new(&mut self.world.cx(), &mut answers));
        for answer in answers {
            match answer.target {
                contract::FeedbackTarget::Parent => self.report(group, child, answer.label, 3),
                contract::FeedbackTarget::Source => {
                    self.send_feedback(group, EndpointId(child), answer.label)
                }
            }
        }
    }

    fn send_feedback(&mut self, group: u32, from: EndpointId, label: Label) {
        let feedback = Feedback { from, sent_at: self.world.now, label };
        self.sources[group as usize].on_feedback(&feedback, &mut self.world.cx());
    }

    fn report(&mut self, group: u32, from: u32, label: Label, branches: usize) {
        let child = |i: u32| Address { node: NodeId(i), endpoint: EndpointId(i) };
        let all = [1, 2, 3].map(|i| Branch { port: PortId(i), child: child(i) });
        let entry = Forwarding { incoming: Some(PortId(0)), branches: &all[..branches] };
        let (group, sent_at) = (GroupId(group), self.world.now);
        let report = Report { group, from: child(from), sent_at, label, entry, neighbours: &[group] };
        self.within(|algorithm, cx| algorithm.on_report(&report, cx));
    }

    /// Calls the router's part. Its messages reach the sources.
    fn within(&mut self, call: impl FnOnce(&mut L, &mut RouterCx<'_, '_, '_>)) {
        let mut words = Vec::new();
        let mut cx = self.world.cx();
        call(&mut self.router, &mut RouterCx::new(&mut NodeCx::new(&mut cx, &mut self.ports), &mut words));
        assert!(words.len() <= 64, "an input makes {} words", words.len());
        for word in words {
            self.messages.push((self.world.now, word));
            self.send_feedback(word.group.0, EndpointId(9), word.label);
        }
    }

    fn timers(&mut self) {
        let now = self.world.now;
        for group in 0..2 {
            for child in 1..=3 {
                let late = |tree: &Self| tree.receivers[group as usize][child as usize - 1].wake() <= now;
                if late(self) {
                    self.listen(group, child, |algorithm, cx| algorithm.on_timer(cx));
                    assert!(!late(self), "a receiver's deadline that has passed stays");
                }
            }
        }
        if self.router.wake() <= now {
            self.within(|algorithm, cx| algorithm.on_timer(cx));
            assert!(self.router.wake() > now, "a router's deadline that has passed stays");
        }
        for source in &mut self.sources {
            if source.wake() <= now {
                source.on_timer(&mut self.world.cx());
                assert!(source.wake() > now, "a source's deadline that has passed stays");
            }
        }
    }
}

proptest! {
    #[test]
    fn parts_in_routers_move_their_deadlines_and_repeat_themselves_whatever_they_hear(
        events in prop::collection::vec(event(), 1..150),
        pick in any::<u64>(),
    ) {
        for entry in catalogue() {
            let Build::Stream { sender, receiver, router: Some(router) } = entry.build else { continue };
            for params in [Vec::new(), some_params(&entry, pick)] {
                let run = || {
                    let mut tree = Tree::new(
                        router(&params, &STREAM).expect("allowed parameters"),
                        || sender(&params, &STREAM).expect("allowed parameters"),
                        || receiver(&params, &STREAM).expect("allowed parameters"),
                    );
                    tree.run(&events);
                    (tree.messages, tree.sources.map(|source| source.allowance()))
                };
                prop_assert_eq!(run(), run(), "{}: equal runs give equal words", entry.scheme.name);
            }
        }
    }
}

// ---- what the tests need

/// The state behind a context.
struct World {
    now: Time,
    random: Random,
    meter: Meter,
    out: Outputs,
}

impl World {
    fn new() -> Self {
        Self {
            now: Time::ZERO + Duration::from_secs(10),
            random: Random::new(1, "house", ""),
            meter: Meter::default(),
            out: Outputs::default(),
        }
    }

    fn cx(&mut self) -> Cx<'_> {
        let me = Address { node: NodeId(0), endpoint: EndpointId(0) };
        Cx::new(self.now, me, FlowId(0), &mut self.random, &mut self.meter, &mut self.out)
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Whether a Rust file of the folder names the source in a comment or a parameter.
fn cited(folder: &Path, key: &str) -> bool {
    std::fs::read_dir(folder).expect("a folder").flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return cited(&path, key);
        }
        path.extension().is_some_and(|kind| kind == "rs")
            && std::fs::read_to_string(&path)
                .expect("text")
                .lines()
                .any(|line| line.contains(key) && (line.contains("//") || line.contains("from \"")))
    })
}

/// Valid parameters, chosen by the bits of `pick`: the default, the minimum, the maximum or a word of each. Pairs that
/// must stand in an order, and do not, keep their defaults.
fn some_params(entry: &Entry, pick: u64) -> ParamList {
    let mut bits = pick;
    let mut given = ParamList::new();
    for info in (entry.params)() {
        let choice = bits % 5;
        bits = (bits / 5) ^ pick.rotate_left(given.len() as u32 + 11);
        let value = match (info.kind, &info.range) {
            (ParamKind::Switch, _) => ParamValue::Bool(choice.is_multiple_of(2)),
            (ParamKind::Choice(words), _) => {
                ParamValue::Text(words[choice as usize % words.len()].to_owned())
            }
            (_, Some((low, _))) if choice == 0 => low.clone(),
            (_, Some((_, high))) if choice == 1 => high.clone(),
            _ => continue,
        };
        given.push((info.name.to_owned(), value));
    }
    while let Err(error) = (entry.resolve)(&given) {
        let beside = error.conflicts_with.unwrap_or_else(|| panic!("{}: {error}", entry.scheme.name));
        given.retain(|(name, _)| *name != error.name && name != beside);
    }
    given
}

/// Invalid values of a parameter.
fn wrong_values(info: &ParamInfo) -> Vec<ParamValue> {
    let mut wrong = vec![ParamValue::Text("surely no value".to_owned())];
    let number = |value: &ParamValue| match value {
        ParamValue::Float(x) => *x,
        ParamValue::Int(x) => *x as f64,
        other => panic!("a number's range is not `{other}`"),
    };
    match (info.kind, &info.range) {
        (ParamKind::Number, range) => {
            wrong.extend([
                ParamValue::Bool(true),
                ParamValue::Float(f64::NAN),
                ParamValue::Float(f64::INFINITY),
            ]);
            if let Some((low, high)) = range {
                wrong.extend([number(low) - 1.0, number(high) * 1.001 + 1.0].map(ParamValue::Float));
            }
        }
        (ParamKind::Count, range) => {
            wrong.extend([ParamValue::Int(-1), ParamValue::Float(0.5), ParamValue::Int(1 << 40)]);
            if let Some((_, high)) = range {
                wrong.push(ParamValue::Int(number(high) as i64 + 1));
            }
        }
        (ParamKind::Switch, _) => wrong.push(ParamValue::Int(1)),
        (ParamKind::Choice(_), _) => wrong.push(ParamValue::Bool(true)),
        (kind @ (ParamKind::Time | ParamKind::Rate | ParamKind::Size), range) => {
            // a number needs a unit
            wrong.extend([ParamValue::Int(5), ParamValue::Float(0.5)]);
            let text = |text: &str| ParamValue::Text(text.to_owned());
            match (kind, range) {
                (ParamKind::Time, Some(_)) => wrong.extend([text("-1 s"), text("900000000 s")]),
                (_, Some((_, high))) if *high != text("unlimited") => wrong.push(text("unlimited")),
                _ => {}
            }
        }
    }
    wrong
}

const SEGMENT: Bytes = Bytes::new(1000);
const PACKET: Bytes = Bytes::new(1000);
const SETUP: Setup = Setup { segment: SEGMENT, header: Bytes::ZERO, initial_window: Bytes::new(10_000) };
const STREAM: Setup = Setup { segment: PACKET, header: Bytes::ZERO, initial_window: Bytes::ZERO };
const HEADINGS: [&str; 8] = [
    "Idea",
    "Sources",
    "Equations",
    "Parameters",
    "Limitations",
    "Differences from the sources",
    "Validation",
    "Try it",
];
