//! Logs of congestion controllers.

mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use sim::{Control, Observers};

use common::plan;

const TEXT: &str = r#"
duration = "10 s"

[topology]
kind = "dumbbell"
bottleneck = { rate = "5 Mbit/s", delay = "20 ms", buffer = "15 packets" }

[[flows]]
name = "tcp"
scheme = "cubic"

[[flows]]
name = "video"
scheme = "cvihis"
start = "1 s"

[[flows]]
name = "noise"
source = { kind = "constant", rate = "200 kbit/s" }

[record]
every = "10 ms"
series = ["window", "in_flight", "srtt"]
"#;

/// Runs `text` with the logs of `flows`; the hash of the trace, the series of the first flow, and the records of each
/// log.
fn logged(text: &str, flows: &[&str], test: &str) -> (lab::Outcome, Vec<Vec<Value>>) {
    let plan = plan(text);
    let folder = std::env::temp_dir().join(format!("thalweg-qlog-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let mut observers = Observers::default();
    let mut files: Vec<(PathBuf, lab::Written)> = Vec::new();
    for name in flows {
        let (_, flow) =
            lab::controlled(&plan, false).find(|(known, _)| known == name).expect("it has a scheme");
        let path = folder.join(format!("{name}.sqlog"));
        let (log, written) = lab::qlog(&plan, flow, &path).expect("the folder is there");
        observers.logs.push((flow, log));
        files.push((path, written));
    }
    let outcome = lab::run_observed(&plan, &Control::default(), observers, None, |_| {});
    let mut logs = Vec::new();
    for (path, written) in files {
        let text = std::fs::read_to_string(path).expect("it was written");
        let records: Vec<Value> = text
            .split('\u{1e}')
            .skip(1)
            .map(|record| serde_json::from_str(record).expect("each record is JSON"))
            .collect();
        assert_eq!(written.failure(), None);
        assert_eq!(written.records(), records.len() as u64 - 1, "events, without the header");
        logs.push(records);
    }
    std::fs::remove_dir_all(&folder).expect("it is ours");
    (outcome, logs)
}

/// The number of a field of an event's data.
fn number(event: &Value, field: &str) -> Option<f64> {
    event["data"].get(field).and_then(Value::as_f64)
}

#[test]
fn a_run_with_logs_has_the_trace_of_one_without() {
    let plain = lab::run(&plan(TEXT), &Control::default());
    let (outcome, logs) = logged(TEXT, &["tcp", "video"], "hash");
    assert_eq!(outcome.trace.hash, plain.trace.hash);
    for log in &logs {
        let times: Vec<f64> = log[1..].iter().map(|event| event["time"].as_f64().expect("in ms")).collect();
        assert!(times.is_sorted() && times[times.len() - 1] > 9900.0);
        assert_eq!(log[0]["qlog_version"], "0.3");
    }
    let names = |log: &[Value]| {
        let mut counts = BTreeMap::new();
        for event in &log[1..] {
            *counts.entry(event["name"].as_str().expect("a name").to_owned()).or_insert(0) += 1;
        }
        counts
    };
    let sent = outcome.trace.flows.iter().map(|flow| flow.sent_packets).collect::<Vec<_>>();
    assert_eq!(names(&logs[0])["transport:packet_sent"], sent[0]);
    assert_eq!(names(&logs[1])["transport:packet_sent"], sent[1]);
    assert!(names(&logs[0]).contains_key("thalweg:congestion"), "the buffer is small");
}

/// Flows of QUIC stacks, with a controller of theirs and with one of ours.
#[cfg(all(feature = "noq", feature = "quinn"))]
mod stacks {
    use super::*;

    const QUIC: &str = r#"
duration = "10 s"

[topology]
kind = "dumbbell"
bottleneck = { rate = "5 Mbit/s", delay = "20 ms", buffer = "15 packets" }

[[flows]]
name = "quinn"
stack = "quinn"
controller = "cubic"

[[flows]]
name = "noq"
stack = "noq"
scheme = "reno"
start = "1 s"

[[flows]]
name = "rate"
stack = "noq"
scheme = "bbr"
start = "2 s"

[record]
every = "10 ms"
series = ["window", "in_flight", "srtt", "ssthresh"]
"#;
    const NAMES: [&str; 3] = ["quinn", "noq", "rate"];

    #[test]
    fn every_datagram_and_every_episode_is_in_the_log_and_the_trace_is_the_same() {
        let plain = lab::run(&plan(QUIC), &Control::default());
        let (outcome, logs) = logged(QUIC, &NAMES, "stacks");
        assert_eq!(outcome.trace.hash, plain.trace.hash);
        for (log, flow) in logs.iter().zip(&outcome.trace.flows) {
            let of = |name: &str| log[1..].iter().filter(|event| event["name"] == name).collect::<Vec<_>>();
            assert_eq!(of("transport:packet_sent").len() as u64, flow.sent_packets);
            let bytes: u64 = of("transport:packet_sent")
                .iter()
                .map(|event| event["data"]["raw"]["length"].as_u64().expect("a number"))
                .sum();
            assert_eq!(bytes, flow.sent_bytes);
            let first = |event: &&&Value| event["data"]["first"] == true;
            let episodes = of("thalweg:congestion").iter().filter(first).count() as u64;
            assert_eq!(episodes, flow.meter.count(contract::Count::Episodes));
            assert!(episodes > 0, "the buffer is small");
            // without data in the handshake, then slow start until the first loss
            let states: Vec<&str> = of("recovery:congestion_state_updated")
                .iter()
                .map(|event| event["data"]["new"].as_str().expect("a state"))
                .collect();
            let begins = ["application_limited", "slow_start", "recovery"];
            assert!(states.starts_with(&begins) && states.len() > 3, "{states:?}");
        }
        assert_eq!(logs[0][0]["trace"]["title"], "quinn: cubic");
        assert_eq!(logs[0][0]["trace"]["common_fields"]["protocol_type"][0], "QUIC");
        let rate = |log: &[Value]| log.iter().any(|event| number(event, "pacing_rate").is_some());
        // noq alone asks for a rate, and BBR alone has one
        assert_eq!(logs.iter().map(|log| rate(log)).collect::<Vec<_>>(), [false, false, true]);
    }

    #[test]
    fn the_quantities_of_a_log_are_those_of_the_series() {
        let (outcome, logs) = logged(QUIC, &NAMES, "stack-series");
        for (flow, log) in logs.iter().enumerate() {
            let updates = log[1..].iter().filter(|event| event["name"] == "recovery:metrics_updated");
            for (series, field, scale) in [
                ("window", "congestion_window", 1.0),
                ("in_flight", "bytes_in_flight", 1.0),
                ("srtt", "smoothed_rtt", 1e-3),
                ("ssthresh", "ssthresh", 1.0),
            ] {
                let subject = sim::Subject::Flow(contract::FlowId(flow as u32));
                let mut records = outcome.trace.series.iter();
                let Some(record) = records.find(|record| record.name == series && record.subject == subject)
                else {
                    assert_eq!((flow, series), (2, "ssthresh"), "BBR has none");
                    continue;
                };
                let (mut events, mut now, mut compared) = (updates.clone().peekable(), None, 0);
                for (at, value) in record.times.iter().zip(&record.values) {
                    let millis = at.as_secs_f64() * 1e3;
                    while let Some(event) = events.next_if(|event| event["time"].as_f64() <= Some(millis)) {
                        now = number(event, field).or(now);
                    }
                    if let Some(now) = now.filter(|_| value.is_finite()) {
                        let off = (now * scale - value).abs();
                        assert!(off <= 1e-9 * value.abs(), "{series} at {millis} ms: {now} and {value}");
                        compared += 1;
                    }
                }
                assert!(compared > 500, "{series} of {flow}: {compared}");
            }
        }
    }
}

/// The series of a run are sampled from the sender itself, the log from what its controller is told and permits.
#[test]
fn the_quantities_of_a_log_are_those_of_the_series() {
    let (outcome, logs) = logged(TEXT, &["tcp"], "series");
    for (series, field, scale) in [
        ("window", "congestion_window", 1.0),
        ("in_flight", "bytes_in_flight", 1.0),
        ("srtt", "smoothed_rtt", 1e-3),
    ] {
        let record =
            outcome.trace.series.iter().find(|record| record.name == series).expect("it is recorded");
        let mut events = logs[0][1..].iter().peekable();
        let (mut now, mut recovers, mut compared) = (None, false, 0);
        for (at, value) in record.times.iter().zip(&record.values) {
            let millis = at.as_secs_f64() * 1e3;
            while let Some(event) = events.next_if(|event| event["time"].as_f64() <= Some(millis)) {
                now = number(event, field).or(now);
                if event["name"] == "recovery:congestion_state_updated" {
                    recovers = event["data"]["new"] == "recovery";
                }
            }
            // a controller is not told of duplicate acknowledgements, which take data out of flight in a recovery
            if let Some(now) = now.filter(|_| value.is_finite() && !(series == "in_flight" && recovers)) {
                assert!(
                    (now * scale - value).abs() <= 1e-9 * value.abs(),
                    "{series} at {millis} ms: {now} and {value}"
                );
                compared += 1;
            }
        }
        assert!(compared > 800, "{series}: {compared}");
    }
}
