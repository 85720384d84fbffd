//! No headline exceeds the capacity of the links that its flows cross.
//!
//! Let a set of flows cross a link, C be the bits that the link can carry in the measured span, S the bits that it has
//! sent before the span, and R the bits that the receivers have by then. Receivers can only have bits that the link has
//! sent: R + (bits in the span) ≤ S + C. So the total of the flows is at most (C + S − R) / span; S − R is the data
//! between the link and the receivers at the end of the warm-up, and 0 without a warm-up.

use lab::{Outcome, Plan};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sim::Control;
use units::{Duration, Time};

/// A chain of routers `r0`, `r1`, …, and flows that enter it at one router and leave it at later ones.
#[derive(Clone, Debug)]
struct Case {
    wires: Vec<Wire>,
    flows: Vec<Flow>,
    events: Vec<Event>,
    duration_ms: u64,
    warmup_ms: u64,
}

#[derive(Clone, Debug)]
struct Wire {
    kbps: u64,
    delay_ms: u64,
    buffer: u32,
    codel: bool,
}

#[derive(Clone, Debug)]
struct Flow {
    kind: Kind,
    enters: usize,
    /// The routers of its receivers.
    leaves: Vec<usize>,
    start_ms: u64,
    stop_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Bulk,
    File,
    Short,
    Constant,
    OnOff,
    Group,
}

#[derive(Clone, Debug)]
enum Event {
    Rate { wire: usize, at_ms: u64, kbps: u64 },
    Delay { wire: usize, at_ms: u64, delay_ms: u64 },
    Break { wire: usize, at_ms: u64, for_ms: u64 },
}

fn case() -> impl Strategy<Value = Case> {
    let wire = (300u64..20_000, 1u64..60, 3u32..80, any::<bool>())
        .prop_map(|(kbps, delay_ms, buffer, codel)| Wire { kbps, delay_ms, buffer, codel });
    let kind = prop::sample::select(vec![
        Kind::Bulk,
        Kind::File,
        Kind::Short,
        Kind::Short,
        Kind::Constant,
        Kind::OnOff,
        Kind::Group,
    ]);
    let flow =
        (kind, any::<prop::sample::Index>(), prop::collection::vec(any::<prop::sample::Index>(), 1..3));
    let flow = (flow, 0u64..2500, prop::option::of(200u64..4000));
    (prop::collection::vec(wire, 1..4), prop::collection::vec(flow, 1..6), 1500u64..4000, 0.0..0.95f64)
        .prop_flat_map(|(wires, flows, duration_ms, warm)| {
            let n = wires.len();
            let flows: Vec<Flow> = flows
                .into_iter()
                .map(|((kind, enters, leaves), start_ms, length_ms)| {
                    let enters = enters.index(n);
                    let mut leaves: Vec<usize> =
                        leaves.iter().map(|leave| enters + 1 + leave.index(n - enters)).collect();
                    if kind != Kind::Group {
                        leaves.truncate(1);
                    }
                    let start_ms = start_ms.min(duration_ms - 1);
                    Flow {
                        kind,
                        enters,
                        leaves,
                        start_ms,
                        stop_ms: length_ms.map(|length| start_ms + length),
                    }
                })
                .collect();
            let at = 1..duration_ms - 1;
            let event = prop_oneof![
                (0..n, at.clone(), 100u64..30_000).prop_map(|(wire, at_ms, kbps)| Event::Rate {
                    wire,
                    at_ms,
                    kbps
                }),
                (0..n, at.clone(), 1u64..80).prop_map(|(wire, at_ms, delay_ms)| Event::Delay {
                    wire,
                    at_ms,
                    delay_ms
                }),
                (0..n, at, 1u64..500).prop_map(|(wire, at_ms, for_ms)| Event::Break { wire, at_ms, for_ms }),
            ];
            let warmup_ms = if warm < 0.3 { 0 } else { (duration_ms as f64 * warm) as u64 };
            prop::collection::vec(event, 0..5).prop_map(move |events| Case {
                wires: wires.clone(),
                flows: flows.clone(),
                events,
                duration_ms,
                warmup_ms,
            })
        })
}

impl Case {
    fn toml(&self) -> String {
        let mut text = format!(
            "duration = \"{} ms\"\nwarmup = \"{} ms\"\n[topology]\nkind = \"custom\"\nlinks = [\n",
            self.duration_ms, self.warmup_ms
        );
        for (i, wire) in self.wires.iter().enumerate() {
            let queue = if wire.codel { ", queue = \"codel\"" } else { "" };
            text += &format!(
                "{{ name = \"w{i}\", ends = [\"r{i}\", \"r{}\"], rate = \"{} kbit/s\", delay = \"{} ms\", buffer = \"{} packets\"{queue} }},\n",
                i + 1,
                wire.kbps,
                wire.delay_ms,
                wire.buffer
            );
        }
        let access = |name: &str, router: usize, i: usize| {
            let (mbps, delay) = (20 + 17 * i, 1 + 7 * i);
            format!(
                "{{ name = \"{name}\", ends = [\"{name}\", \"r{router}\"], rate = \"{mbps} Mbit/s\", delay = \"{delay} ms\", buffer = \"100 packets\" }},\n"
            )
        };
        for (i, flow) in self.flows.iter().enumerate() {
            text += &access(&format!("s{i}"), flow.enters, i);
            for (j, leaves) in flow.leaves.iter().enumerate() {
                text += &access(&format!("d{i}x{j}"), *leaves, i + j);
            }
        }
        text += "]\n";
        for (i, flow) in self.flows.iter().enumerate() {
            let kind = match flow.kind {
                Kind::Bulk => "scheme = \"reno\"",
                Kind::File => "scheme = \"cubic\"\nsize = \"200 kB\"",
                Kind::Short => {
                    "scheme = \"reno\"\narrivals = { rate = 30.0, size = \"20 kB\", size_shape = 1.3 }"
                }
                Kind::Constant => "source = { kind = \"constant\", rate = \"3 Mbit/s\" }",
                Kind::OnOff => {
                    "source = { kind = \"on_off\", rate = \"9 Mbit/s\", on = \"100 ms\", off = \"200 ms\" }"
                }
                Kind::Group => "scheme = \"mca\"",
            };
            let to: Vec<String> = (0..flow.leaves.len()).map(|j| format!("\"d{i}x{j}\"")).collect();
            let to = if flow.kind == Kind::Group { format!("[{}]", to.join(", ")) } else { to[0].clone() };
            text += &format!(
                "[[flows]]\nname = \"f{i}\"\nfrom = \"s{i}\"\nto = {to}\nstart = \"{} ms\"\n{kind}\n",
                flow.start_ms
            );
            if let Some(stop_ms) = flow.stop_ms {
                text += &format!("stop = \"{stop_ms} ms\"\n");
            }
        }
        for event in &self.events {
            text += &match event {
                Event::Rate { wire, at_ms, kbps } => {
                    format!("[[events]]\nat = \"{at_ms} ms\"\nlink = \"w{wire}\"\nrate = \"{kbps} kbit/s\"\n")
                }
                Event::Delay { wire, at_ms, delay_ms } => {
                    format!(
                        "[[events]]\nat = \"{at_ms} ms\"\nlink = \"w{wire}\"\ndelay = \"{delay_ms} ms\"\n"
                    )
                }
                Event::Break { wire, at_ms, for_ms } => {
                    let back_ms = (at_ms + for_ms).min(self.duration_ms);
                    format!(
                        "[[events]]\nat = \"{at_ms} ms\"\nlink = \"w{wire}\"\nup = false\n\
                         [[events]]\nat = \"{back_ms} ms\"\nlink = \"w{wire}\"\nup = true\n"
                    )
                }
            };
        }
        text
    }

    fn plan(&self) -> std::sync::Arc<Plan> {
        let text = self.toml();
        let scenario =
            lab::load(&text, "case.toml").unwrap_or_else(|diagnostics| panic!("{diagnostics}\n{text}"));
        scenario.plan(None).expect("loaded means planned")
    }
}

/// Bits of flow `f{i}` over the measured span, as in its group's headline.
fn bits(outcome: &Outcome, flows: &[usize], total: &str) -> f64 {
    let span_s = outcome.report.value("run.measured").expect("it is always measured");
    let of = |flow: &usize| outcome.report.value(&format!("flows.f{flow}.{total}")).unwrap_or(0.0);
    flows.iter().map(of).sum::<f64>() * span_s
}

fn check(case: &Case) -> Result<(), TestCaseError> {
    let plan = case.plan();
    let run = |plan: &Plan| lab::run(plan, &Control::default());
    let outcome = run(&plan);
    // the same run up to the end of the warm-up, all of it counted
    let before = (case.warmup_ms > 0).then(|| {
        let mut plan = Plan::clone(&plan);
        plan.blueprint.duration = Duration::from_millis(case.warmup_ms);
        plan.blueprint.warmup = Duration::ZERO;
        run(&plan)
    });
    for total in ["throughput", "goodput"] {
        for (wire, _) in case.wires.iter().enumerate() {
            // flows with all receivers behind the wire, and their senders before it
            let over: Vec<usize> = (0..case.flows.len())
                .filter(|&i| {
                    case.flows[i].enters <= wire && case.flows[i].leaves.iter().all(|&leaves| leaves > wire)
                })
                .collect();
            let port = &outcome.trace.ports[2 * wire];
            let ahead = before.as_ref().map_or(0.0, |before| {
                before.trace.ports[2 * wire].sent_bytes as f64 * 8.0 - bits(before, &over, total)
            });
            // times are whole nanoseconds: the link may be one early with each packet that does not directly follow
            // another
            let early = (port.sent_packets + 10) as f64 * 30e6 / 1e9 + 16.0;
            let (found, bound) = (bits(&outcome, &over, total), port.capacity_bits as f64 + ahead + early);
            prop_assert!(
                found <= bound,
                "{total} of {over:?} over w{wire}: {found} bits, and no more than {bound} could go\n{}",
                case.toml()
            );
            if over.len() == case.flows.len() {
                let all = outcome.report.value(&format!("flows.{total}")).expect("it is measured");
                let span_s = outcome.report.value("run.measured").expect("it is always measured");
                prop_assert!(all * span_s <= bound + 1.0, "{total} of all flows over w{wire}");
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, rng_seed: RngSeed::Fixed(14), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn totals_do_not_exceed_the_capacity_of_their_links(case in case()) {
        check(&case)?;
    }
}

/// A scenario that shows 1.5 Gbit/s over a link of 20 Mbit/s if the warm-up is counted wrongly.
#[test]
fn short_flows_together_do_not_exceed_their_link() {
    let wires = vec![Wire { kbps: 20_000, delay_ms: 20, buffer: 50, codel: false }];
    let flow = |kind| Flow { kind, enters: 0, leaves: vec![1], start_ms: 0, stop_ms: None };
    let case = Case {
        wires,
        flows: vec![flow(Kind::Short), flow(Kind::Bulk)],
        events: Vec::new(),
        duration_ms: 6000,
        warmup_ms: 1000,
    };
    check(&case).expect("within the link");
    let outcome = lab::run(&case.plan(), &Control::default());
    assert!(outcome.trace.ended_at == Time::ZERO + Duration::from_secs(6));
    let value = |key: &str| outcome.report.value(key).unwrap_or_else(|| panic!("{key} was measured"));
    assert!(value("flows.f0.completions") > 50.0);
    assert!(value("flows.throughput") < 20.1e6);
    // the link's bits are those that arrived, except for those in flight at either edge
    let carried = value("link.w0.utilisation") * 20e6;
    assert!((value("flows.throughput") / carried - 1.0).abs() < 0.02);
}
