//! House tests: what every scheme of the catalogue must keep, whatever it does. A new folder gets them for nothing.

use std::path::{Path, PathBuf};

use contract::{
    Ack, Address, Arrival, Cause, Congestion, CongestionControl, Cx, Feedback, FlowId, Gap, Label, Meter,
    NodeId, Outputs, ParamInfo, ParamKind, ParamList, ParamValue, PeerId, Random, ReceiverCx, ReceiverLaw,
    SenderLaw, Sending, Sent, Setup,
};
use proptest::prelude::*;
use schemes::{Build, Entry, catalogue};
use units::{Bytes, Duration, Rate, Time};

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
                // numbers may be written with or without a point, quantities in another unit
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

// ---- laws under random operations

/// What can happen to a congestion law.
#[derive(Clone, Debug)]
enum Op {
    Wait(u64),
    Ack { segments: u8, marked: bool, app_limited: bool, recovering: bool, rtt_us: u32 },
    Congestion { cause: u8, first: bool, share: u8 },
    Sent,
    Timer,
    Spurious,
    Idle,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        2 => (1u64..3_000_000_000).prop_map(Op::Wait),
        8 => (1u8..4, prop::bool::weighted(0.05), prop::bool::weighted(0.1), prop::bool::weighted(0.1), 10u32..3_000_000)
            .prop_map(|(segments, marked, app_limited, recovering, rtt_us)| Op::Ack {
                segments, marked, app_limited, recovering, rtt_us
            }),
        2 => (0u8..3, prop::bool::weighted(0.7), 0u8..=100).prop_map(|(cause, first, share)| Op::Congestion {
            cause, first, share
        }),
        1 => Just(Op::Sent),
        1 => Just(Op::Timer),
        1 => Just(Op::Spurious),
        1 => Just(Op::Idle),
    ]
}

/// Runs a law through `ops`; returns the windows and rates it allowed.
fn walk(law: &mut impl CongestionControl, ops: &[Op]) -> Vec<(u64, u64, u64)> {
    let mut world = World::new();
    let mut allowed = Vec::new();
    for op in ops {
        let window = law.allowance().window;
        let in_flight = if window == Bytes::UNLIMITED { SEGMENT * 100 } else { window };
        match *op {
            Op::Wait(nanos) => world.now += Duration::from_nanos(nanos),
            Op::Ack { segments, marked, app_limited, recovering, rtt_us } => {
                let rtt = Duration::from_micros(u64::from(rtt_us));
                let ack = Ack {
                    bytes: SEGMENT * u64::from(segments),
                    packets: u32::from(segments),
                    marked,
                    in_flight,
                    sent_at: world.now - rtt,
                    rtt: Some(rtt),
                    rtt_smoothed: rtt,
                    rtt_min: rtt,
                    app_limited,
                    recovering,
                    round_ended: segments == 1,
                    from: PeerId(1),
                    label: Label::default(),
                };
                law.on_ack(&ack, &mut world.cx());
            }
            Op::Congestion { cause, first, share } => {
                let event = Congestion {
                    cause: [Cause::Loss, Cause::Mark, Cause::Timeout][usize::from(cause)],
                    bytes: SEGMENT,
                    in_flight: Bytes::new(in_flight.as_u64() / 100 * u64::from(share)),
                    first,
                };
                law.on_congestion(&event, &mut world.cx());
            }
            Op::Sent => law.on_sent(&Sent { bytes: SEGMENT, in_flight, again: false }, &mut world.cx()),
            Op::Timer => {
                if law.wake() != Time::NEVER {
                    world.now = world.now.max(law.wake());
                }
                law.on_timer(&mut world.cx());
                assert!(law.wake() > world.now, "a deadline that has passed stays");
            }
            Op::Spurious => law.on_spurious(&mut world.cx()),
            Op::Idle => law.on_idle(Duration::from_secs(3), &mut world.cx()),
        }
        let (allowance, threshold) = (law.allowance(), law.threshold());
        assert!(allowance.window >= SEGMENT, "the window is {} after {op:?}", allowance.window);
        assert!(allowance.rate > Rate::ZERO, "the rate is zero after {op:?}");
        assert!(threshold >= SEGMENT, "the threshold is {threshold} after {op:?}");
        // a window of not-a-number or infinity is a window of nothing or of everything
        assert!(allowance.window == Bytes::UNLIMITED || allowance.window < Bytes::new(1 << 50), "{op:?}");
        allowed.push((allowance.window.as_u64(), allowance.rate.as_bps(), threshold.as_u64()));
    }
    assert!(world.out.outbox.is_empty(), "laws send nothing themselves");
    allowed
}

proptest! {
    #[test]
    fn laws_keep_a_segment_and_are_no_number_never_and_repeat_themselves(
        ops in prop::collection::vec(op(), 1..200),
        pick in any::<u64>(),
    ) {
        for entry in catalogue() {
            let Build::Control(make) = entry.build else { continue };
            for params in [Vec::new(), some_params(&entry, pick)] {
                let walked = walk(&mut make(&params, &SETUP).expect("allowed parameters"), &ops);
                let again = walk(&mut make(&params, &SETUP).expect("allowed parameters"), &ops);
                prop_assert_eq!(walked, again, "{}: the same list gives the same allowances", entry.scheme.name);
            }
        }
    }
}

// ---- streams under random operations

/// What can happen to a stream between one sender and two receivers.
#[derive(Clone, Debug)]
enum Step {
    /// The sender sends; each receiver gets it after so many milliseconds, or not at all.
    Send {
        late_ms: [Option<u16>; 2],
        marked: bool,
    },
    Wait(u64),
    /// Deadlines that have passed are kept.
    Timers,
    /// A word from anybody, of any content.
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
    sender: &mut impl SenderLaw,
    receivers: &mut [impl ReceiverLaw],
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
                let sending = Sending { seq, size: PACKET, bytes_before: seq * PACKET.as_u64() };
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
                        let (from, label) = (PeerId(i as u32 + 1), answer.label);
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
                        let (from, label) = (PeerId(i as u32 + 1), answer.label);
                        let feedback = Feedback { from, sent_at: world.now, label };
                        sender.on_feedback(&feedback, &mut world.cx());
                    }
                }
            }
            Step::Noise(words) if noise => {
                let feedback = Feedback { from: PeerId(9), sent_at: world.now, label: Label(*words) };
                sender.on_feedback(&feedback, &mut world.cx());
            }
            Step::Noise(_) => {}
            Step::Mode => sender.on_mode("no such mode", &mut world.cx()),
        }
        let allowance = sender.allowance();
        assert!(allowance.rate > Rate::ZERO, "the rate is zero after {step:?}");
        // a law may hold the stream, if it means to come back
        let held = allowance.window < PACKET;
        assert!(!held || sender.wake() < Time::NEVER, "the window is {} after {step:?}", allowance.window);
        allowed.push((allowance.rate.as_bps(), allowance.window.as_u64()));
    }
    assert!(world.out.outbox.is_empty(), "laws send nothing themselves");
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

// ---- what the tests need

/// The rest of a context.
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
        let me = Address { node: NodeId(0), peer: PeerId(0) };
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

/// Some allowed parameters, by the bits of `pick`: the default, the least, the greatest or a word of each.
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
    given
}

/// Values that a parameter must refuse.
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
const SETUP: Setup = Setup { segment: SEGMENT, initial_window: Bytes::new(10_000) };
const STREAM: Setup = Setup { segment: PACKET, initial_window: Bytes::ZERO };
const HEADINGS: [&str; 8] = [
    "Idea",
    "Sources",
    "Equations",
    "Parameters",
    "What we left out",
    "Where we differ, and why",
    "How we know",
    "Try it",
];
