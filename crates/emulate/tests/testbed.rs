//! Groups of namespaces beside their simulation: an MCA tree, and an SRMCC tree that is known by name. They need the right to make network
//! namespaces: without it each says so and does nothing.
#![cfg(target_os = "linux")]

use emulate::Settings;
use sim::Control;

/// So that one does not slow the other.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// What is compared, and by how much both worlds may differ: the runs are short.
const SHARES: f64 = 0.25;

/// A scenario of the house, so long, of which so much is warm-up, in both worlds: keys with the value of each. `None` where it cannot be tried
/// here, or the machine did not keep up, which is said.
fn both(name: &str, span: (u32, u32), keys: &[&str]) -> Option<Vec<(String, f64, f64)>> {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Err(error) = emulate::permitted() {
        eprintln!("skipped: {name}: {error}");
        return None;
    }
    let path = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("it is a scenario of the house");
    let text = text
        .replace("duration = \"60 s\"", &format!("duration = \"{} s\"", span.0))
        .replace("warmup = \"20 s\"", &format!("warmup = \"{} s\"", span.1));
    let scenario = lab::load(&text, name).unwrap_or_else(|problems| panic!("{problems}"));
    let plan = scenario.plan(None).unwrap_or_else(|problems| panic!("{problems}"));
    let simulated = lab::run(&plan, &Control::default()).report;
    let settings = Settings { urgent: true, ..Settings::default() };
    let outcome = emulate::run(&plan.blueprint, &settings, &Control::default(), None)
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.complete);
    assert_eq!(
        (outcome.accuracy.strays, outcome.accuracy.notes.len()),
        (0, 0),
        "{:?}",
        outcome.accuracy.notes
    );
    let faults = outcome.accuracy.faults();
    for (what, [half, most, ..]) in outcome.accuracy.rows() {
        eprintln!("{name}: {what}: half {half}, 99 % {most}");
    }
    let emulated = lab::report(&plan.as_emulated(), &outcome.trace);
    let value = |report: &lab::Report, key: &str| report.value(key).unwrap_or_else(|| panic!("{key}"));
    let rows: Vec<_> =
        keys.iter().map(|key| ((*key).to_owned(), value(&simulated, key), value(&emulated, key))).collect();
    for (key, simulated, emulated) in &rows {
        eprintln!("{name}: {key}: {simulated} simulated, {emulated} on sockets");
    }
    if !faults.is_empty() {
        eprintln!("skipped: {name}: the machine could not keep up: {}", faults.join("; "));
        return None;
    }
    Some(rows)
}

const MCA: (&str, [&str; 6]) = (
    "does-a-group-do-the-same-on-sockets",
    [
        "flow.group.throughput_min",
        "flow.download.throughput",
        "link.narrow.utilisation",
        "link.narrow.queue_packets",
        "flow.group.feedback_packets",
        "flow.group.feedback_received",
    ],
);

const SRMCC: (&str, [&str; 6]) = (
    "do-names-work-over-sockets",
    [
        "flow.video.throughput_min",
        "flow.download.throughput",
        "link.shared.utilisation",
        "link.shared.queue_packets",
        "flow.video.feedback_packets",
        "flow.video.feedback_received",
    ],
);

/// The first three rows: shares and how full the link is.
fn agree(rows: &[(String, f64, f64)]) {
    for (key, simulated, emulated) in &rows[..3] {
        let apart = (emulated / simulated - 1.0).abs();
        assert!(apart < SHARES, "{key}: {emulated} for {simulated}");
    }
}

#[test]
fn a_group_of_namespaces_shares_as_the_simulated_one() {
    if let Some(rows) = both(MCA.0, (15, 7), &MCA.1) {
        agree(&rows);
    }
}

#[test]
fn a_group_known_by_name_works_over_sockets() {
    let Some(rows) = both(SRMCC.0, (25, 10), &SRMCC.1) else { return };
    agree(&rows);
    let [.., said, heard] = rows.as_slice() else { panic!("{rows:?}") };
    assert!(heard.2 > 0.0 && heard.2 < said.2 / 2.0, "routers fold what members say: {heard:?} of {said:?}");
}

/// The same for a minute each.
#[test]
#[ignore = "takes two minutes"]
fn both_agree_over_a_minute() {
    for (scenario, keys) in [&MCA, &SRMCC] {
        if let Some(rows) = both(scenario, (60, 20), keys) {
            agree(&rows);
        }
    }
}
