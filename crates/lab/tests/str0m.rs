//! Video of str0m in a scenario: `cargo test -p lab --features str0m --test str0m`.
#![cfg(feature = "str0m")]

mod common;

use std::path::Path;
use std::{fs, thread};

use common::{plan, run, words, wrong};

const VIDEO: &str = r#"
duration = "30 s"
warmup = "10 s"
seed = 3
[topology]
kind = "dumbbell"
edge = { rate = "1 Gbit/s", delay = "1 ms" }
bottleneck = { rate = "2 Mbit/s", delay = "20 ms", buffer = "60 packets" }
[[flows]]
name = "video"
stack = "str0m"
encoder = { max = "8 Mbit/s" }
[record]
every = "1 s"
series = ["allowed_rate", "encoder_rate"]
"#;

#[test]
fn a_printed_plan_has_the_whole_encoder_and_is_the_same_plan() {
    let first = plan(VIDEO);
    let text = first.to_toml();
    for part in [
        "controller = \"gcc\"",
        "min = \"100 kbit/s\"",
        "start = \"300 kbit/s\"",
        "frame_rate = 30",
        "variation = 0.15",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(plan(&text), first);
}

#[test]
fn its_rate_follows_the_bottleneck_and_runs_are_equal_on_any_thread() {
    let first = plan(VIDEO);
    let (hash, report) = run(&first);
    let again = thread::spawn(move || run(&first).0).join().expect("it does not panic");
    assert_eq!(again, hash);
    // the share that GCC leaves for its probes of the delay, and headers
    let goodput = report.value("flow.video.goodput").expect("it is measured");
    assert!((1.1e6..1.95e6).contains(&goodput), "{goodput}");
    assert_eq!(words(&report, "transport"), ["str0m"]);
    let delays = ["delay_min", "delay_p50", "delay_p95"]
        .map(|key| report.value(&format!("flow.video.{key}")).expect("frames are complete"));
    // 22 ms of propagation, a queue of 60 packets and what waits at the sender
    assert!(delays.is_sorted() && delays[0] > 0.022 && delays[2] < 2.0, "{delays:?}");
    let (_, narrow) = run(&plan(&VIDEO.replace("8 Mbit/s", "500 kbit/s")));
    // an encoder does not exceed its highest rate
    let goodput = narrow.value("flow.video.goodput").expect("it is measured");
    assert!((0.4e6..=0.5e6).contains(&goodput), "{goodput}");
}

#[test]
fn what_it_does_not_take_is_refused() {
    // a flow that is refused offers no series of an encoder
    let video = VIDEO.replace(", \"encoder_rate\"", "");
    for (key, message) in [
        ("size = \"1 MB\"", "`size` does not go with stack = \"str0m\""),
        ("scheme = \"gcc\"", "`gcc` cannot control `str0m`"),
        ("controller = \"cubic\"", "`str0m` has no controller `cubic` here"),
        ("packet = \"1000 B\"", "`str0m` needs a path that carries packets of 1178 B"),
    ] {
        let text = video.replace("stack = \"str0m\"", &format!("stack = \"str0m\"\n{key}"));
        assert_eq!(wrong(&text), [message], "{key}");
    }
    let text = video.replace("max = ", "start = \"9 Mbit/s\", max = ");
    assert_eq!(wrong(&text), ["an encoder from 100 kbit/s to 8 Mbit/s cannot start at 9 Mbit/s"]);
    let text = video.replace("max = ", "drop_after = \"1 s\", max = ");
    assert_eq!(wrong(&text), ["frames wait inside of the stack, which drops none by age"]);
}

#[test]
fn the_scenarios_of_webrtc_load_and_the_question_has_the_expected_answer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let [.., question] =
        ["rfc8867/5.1-str0m.toml", "rfc8867/5.4-str0m.toml", "webrtc/does-str0m-share-with-gcc.toml"]
            .map(|name| plan(&fs::read_to_string(folder.join(name)).expect("a file of the repository")));
    let (_, report) = run(&question);
    for row in &question.expect {
        let measured = report.value(&row.key);
        assert!(
            measured.is_some_and(|value| row.sides.hold(value)),
            "{} should be {}, is {measured:?}",
            row.key,
            row.text
        );
    }
}
