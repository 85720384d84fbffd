//! Applications over a clean wire of 8 Mbit/s and 10 ms: times of exchanges by hand, and arrivals from files.

mod common;

use std::path::Path;

use common::plan;
use lab::{Outcome, Plan, load};
use sim::Control;

/// A request has 400 B, a segment 1000 B and 40 B of header: 0.4 ms, 1.04 ms and twice 10 ms, together 21.44 ms.
const WIRE: &str = r#"
duration = "20 s"
[topology]
kind = "custom"
links = [{ name = "wire", ends = ["a", "b"], rate = "8 Mbit/s", delay = "10 ms" }]
[[flows]]
name = "one"
scheme = "reno"
from = "a"
to = "b"
packet = "1040 B"
"#;

fn run(plan: &Plan) -> Outcome {
    lab::run(plan, &Control::default())
}

fn durations_ms(outcome: &Outcome) -> Vec<f64> {
    let table = outcome.report.table("exchanges").expect("a table");
    table.numbers("duration_s").into_iter().flatten().map(|seconds| (seconds * 1e6).round() / 1e3).collect()
}

#[test]
fn an_exchange_takes_a_round_trip_and_the_transmission_of_both_packets() {
    let app =
        r#"app = { kind = "requests", size = "1000 B", count = 3, think = "100 ms", think_fixed = true }"#;
    let outcome = run(&plan(&format!("{WIRE}{app}")));
    assert_eq!(durations_ms(&outcome), [21.44; 3]);
    assert_eq!(outcome.report.value("app.one.exchanges"), Some(3.0));
    assert_eq!(outcome.report.value("app.one.duration_p99"), Some(0.02144));
    let starts = outcome.report.table("exchanges").expect("a table").numbers("started_s");
    assert_eq!(starts, [Some(0.0), Some(0.12144), Some(0.24288)]);
    assert_eq!(outcome.report.value("flow.one.retransmits"), Some(0.0));
}

/// The SYN of the server and its answer have 40 B each: 20.08 ms more, once.
#[test]
fn a_handshake_opens_the_connection_once() {
    let app = r#"tcp = { handshake = true }
app = { kind = "requests", size = "1000 B", count = 2 }"#;
    assert_eq!(durations_ms(&run(&plan(&format!("{WIRE}{app}")))), [41.52, 21.44]);
}

/// Requests of the first 2.5 s are lost: those at 0 s and at 1 s. The one at 3 s is answered.
#[test]
fn a_lost_request_is_repeated_with_exponential_backoff() {
    let lossy = WIRE.replace("delay = \"10 ms\" }", "delay = \"10 ms\", backward = { loss = 1.0 } }");
    let app = r#"app = { kind = "requests", size = "1000 B", count = 2 }
[[events]]
at = "2.5 s"
link = "wire"
loss = 0.0
"#;
    assert_eq!(durations_ms(&run(&plan(&format!("{lossy}{app}")))), [3021.44, 21.44]);
}

/// Objects of 1000 B: one, then two at once over two connections, then one after 5 ms. Requests of the second step
/// share the wire back, 0.4 ms, and the answers the wire there: 21.44 + (0.4 + 21.44) + 0.64 for the second answer; the
/// last object waits for the first of the two. The requests leave 0.4 ms apart, so that the answers are 1.04 ms apart.
#[test]
fn a_page_takes_the_longest_path_of_its_graph() {
    let app = r#"app = { kind = "page", connections = 2, count = 1, objects = [
  { size = "1000 B" },
  { size = "1000 B", after = [1] },
  { size = "1000 B", after = [1] },
  { size = "1000 B", after = [2], delay = "5 ms" },
] }"#;
    let outcome = run(&plan(&format!("{WIRE}{app}")));
    // 21.44 + 21.44 + 5 + 21.44
    assert_eq!(durations_ms(&outcome), [69.32]);
    assert_eq!(outcome.report.value("app.one.connections"), Some(2.0));
    assert_eq!(outcome.report.value("app.one.exchange_bytes"), Some(4000.0));
}

/// Three servers send one segment each over their own wire; the request of the third is the last on no shared wire: the
/// slowest decides.
#[test]
fn incast_waits_for_the_slowest() {
    let text = r#"
duration = "1 s"
[topology]
kind = "custom"
links = [
  { name = "x", ends = ["s1", "c"], rate = "8 Mbit/s", delay = "10 ms" },
  { name = "y", ends = ["s2", "c"], rate = "8 Mbit/s", delay = "30 ms" },
]
[[flows]]
name = "query"
scheme = "reno"
from = ["s1", "s2"]
to = "c"
packet = "1040 B"
app = { kind = "incast", size = "1000 B", count = 4 }
"#;
    // 0.4 + 1.04 + 2 · 30
    assert_eq!(durations_ms(&run(&plan(text))), [61.44; 4]);
}

/// Segments of 1 s at 1 Mbit/s are 125 000 B, 125 segments of 1040 B: the wire needs 130 ms for each at its whole rate,
/// so that the player never stalls.
#[test]
fn a_player_on_an_idle_wire_never_stalls() {
    let app = r#"app = { kind = "player", rates = ["1 Mbit/s", "2 Mbit/s", "20 Mbit/s"], segment = "1 s" }
[expect]
"app.one.stalls" = "== 0"
"#;
    let outcome = run(&plan(&format!("{WIRE}{app}")));
    let value = |key: &str| outcome.report.value(&format!("app.one.{key}"));
    assert_eq!((value("stalls"), value("stalled")), (Some(0.0), Some(0.0)));
    assert_eq!(value("switches"), Some(1.0), "from the start to 2 Mbit/s, and 20 Mbit/s are too many");
    // the buffer of 18 s is filled, then a segment a second
    assert!(value("exchanges").is_some_and(|n| n >= 30.0), "{:?}", value("exchanges"));
}

/// The rate falls from 20 Mbit/s to 600 kbit/s in the middle of a segment of 7.5 MB, which would take 99 s. Bytes that
/// the server does not send for it are not delivered.
#[test]
fn a_player_abandons_a_segment_that_would_take_too_long() {
    let text = |more: &str| {
        format!(
            r#"
duration = "180 s"
[topology]
kind = "dumbbell"
bottleneck = {{ rate = "20 Mbit/s", delay = "20 ms", buffer = "1 bdp" }}
[[flows]]
name = "video"
scheme = "cubic"
[flows.app]
kind = "player"
rates = ["254 kbit/s", "760 kbit/s", "1884 kbit/s", "4953 kbit/s", "14932 kbit/s"]
{more}
[[events]]
at = "90 s"
link = "bottleneck"
rate = "600 kbit/s"
"#
        )
    };
    let value =
        |outcome: &Outcome, key: &str| outcome.report.value(&format!("app.video.{key}")).expect("measured");
    let (with, without) = (run(&plan(&text(""))), run(&plan(&text("abandon = false"))));
    let abandoned = value(&with, "abandoned");
    assert!(abandoned >= 1.0 && value(&without, "abandoned") == 0.0, "{abandoned}");
    assert!(value(&with, "stalled") <= 10.0, "{}", value(&with, "stalled"));
    assert!(value(&without, "stalled") > 50.0, "{}", value(&without, "stalled"));
    // the answers of completed segments, and what had been sent of the abandoned ones
    let delivered = with.report.value("flow.video.goodput").expect("measured") * 180.0 / 8.0;
    let rest = delivered - value(&with, "exchange_bytes");
    assert!((0.0..4e6).contains(&rest), "{rest}");
    let requests: Vec<_> = with.report.table("exchanges").expect("a table").numbers("abandoned");
    assert_eq!(requests.iter().flatten().sum::<f64>(), abandoned);
}

/// Nothing is abandoned where the network is fast enough, and then the run is the same.
#[test]
fn a_player_that_has_no_reason_to_abandon_plays_as_one_that_never_does() {
    let app = |more: &str| {
        let rates = r#"rates = ["1 Mbit/s", "2 Mbit/s", "4 Mbit/s"], segment = "1 s""#;
        run(&plan(&format!("{WIRE}app = {{ kind = \"player\", {rates}{more} }}"))).trace.hash
    };
    assert_eq!(app(""), app(", abandon = false"));
}

#[test]
fn a_player_over_a_quic_stack_does_not_abandon() {
    let text = |abandon: &str| {
        WIRE.replace("scheme = \"reno\"", "stack = \"quinn\"").replace("1040 B", "1400 B")
            + &format!("app = {{ kind = \"player\", rates = [\"1 Mbit/s\"]{abandon} }}")
    };
    assert!(plan(&text("")).to_toml().contains("abandon = false"));
    assert_eq!(
        common::wrong(&text(", abandon = true")),
        ["a player over a QUIC stack does not abandon requests"]
    );
}

#[test]
fn the_same_seed_gives_the_same_exchanges_and_a_printed_plan_the_same_run() {
    let app = r#"app = { kind = "requests", sizes = "web_search", think = "10 ms" }"#;
    let text = format!("{WIRE}{app}");
    let first = plan(&text);
    let [one, two, printed] = [run(&first), run(&plan(&text)), run(&plan(&first.to_toml()))];
    assert_eq!(one.trace.hash, two.trace.hash);
    assert_eq!(durations_ms(&one), durations_ms(&two));
    assert_eq!(first.blueprint, plan(&first.to_toml()).blueprint);
    assert_eq!(one.trace.hash, printed.trace.hash);
    let other = load(&text, "test.toml").expect("a scenario").plan(Some(2)).expect("a plan");
    assert_ne!(run(&other).trace.hash, one.trace.hash);
}

#[test]
fn quic_answers_requests() {
    let stack = WIRE.replace("scheme = \"reno\"", "stack = \"quinn\"").replace("1040 B", "1400 B");
    let app = r#"app = { kind = "requests", size = "20 kB", count = 5 }"#;
    let outcome = run(&plan(&format!("{stack}{app}")));
    let durations = durations_ms(&outcome);
    assert_eq!(durations.len(), 5);
    // 20 kB of payload take 20 ms, and a round trip 20 ms; the first exchange has a handshake
    assert!(
        durations[0] > 60.0 && durations[1..].iter().all(|ms| (40.0..60.0).contains(ms)),
        "{durations:?}"
    );
}

#[test]
fn a_file_lists_flows() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/listed-flows/do-they-get-through.toml");
    let text = std::fs::read_to_string(&folder).expect("a scenario of the repository");
    let text = text.replace("flows.csv", "../../scenarios/listed-flows/flows.csv");
    let plan = plan(&text);
    let blueprint = &plan.blueprint;
    let listed: Vec<_> = blueprint.flows.iter().filter(|flow| flow.name.starts_with("listed")).collect();
    assert_eq!(listed.len(), 5);
    assert_eq!(listed[3].start.as_nanos(), 500_000_000);
    assert_eq!(blueprint.nodes[listed[4].from.index()], "leaf2");
    let calls = blueprint.flows.iter().filter(|flow| flow.name.starts_with("call"));
    assert!(calls.clone().count() > 3 && calls.clone().all(|flow| flow.stop > flow.start));
    let Some(lab::Cells::Switch(passed)) =
        run(&plan).report.table("expect").and_then(|table| table.column("pass").cloned())
    else {
        panic!("expectations are judged")
    };
    assert_eq!(passed, [true; 3]);
}

/// 0.8 Mbit/s of flows of 10 kB are ten a second, the same as `rate = 10`.
#[test]
fn a_load_is_a_rate_of_flows() {
    let by = |keys: &str| plan(&format!("{WIRE}arrivals = {{ {keys}, size = \"10 kB\" }}")).blueprint.clone();
    assert_eq!(by("load = \"0.8 Mbit/s\""), by("rate = 10"));
}
