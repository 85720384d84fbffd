//! Every script in `tests/scripts` passes.

use std::fs;
use std::path::PathBuf;

use drill::{Like, Options, Outcome};

/// Scripts that describe Linux, and that our TCP does not follow yet, each with what it does instead.
const WAITING: [(&str, &str); 9] = [
    ("accurate-feedback-of-late-acknowledgements", "an old counter is read as marks"),
    ("duplicates-count-once", "segments count at their duplicate and at their acknowledgement"),
    ("first-segments-are-not-paced", "the first ten segments are paced"),
    ("no-rescue-in-recovery", "the last segment of a recovery is repeated"),
    ("probe-of-a-short-segment", "the probe is the last full segment's worth of bytes"),
    (
        "reordering-behind-a-retransmission",
        "the last segment of a recovery is repeated, and reordering is not seen",
    ),
    ("restart-after-a-short-idle", "a window that was unused once does not grow at the next acknowledgement"),
    ("slow-start", "a window that was unused once does not grow at the next acknowledgement"),
    ("slow-start-of-a-burst", "a window that was unused once does not grow at the next acknowledgement"),
];

/// Name and text of each script.
fn scripts() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let files =
        fs::read_dir(folder).expect("the folder is there").map(|file| file.expect("it can be read").path());
    let named = |path: PathBuf| {
        let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(path).expect("it can be read"))
    };
    let mut all: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|end| end == "pkt")).map(named).collect();
    all.sort();
    all
}

#[test]
fn every_script_passes_that_does_not_wait() {
    let wrong: Vec<_> = scripts()
        .into_iter()
        .filter_map(|(name, text)| {
            let report = drill::drill(&drill::parse(&text).expect("it is right"), &Options::default());
            let waits = WAITING.iter().any(|waiting| waiting.0 == name);
            match (waits, &report.outcome) {
                (false, Outcome::Pass) | (true, Outcome::Fail(..)) => None,
                (true, Outcome::Pass) => Some(format!("{name} passes: take it out of WAITING")),
                (_, outcome) => Some(format!("{name}: {outcome}")),
            }
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_waiting_script_exists() {
    let names: Vec<_> = scripts().into_iter().map(|script| script.0).collect();
    assert!(names.len() >= 30);
    assert!(WAITING.iter().all(|waiting| names.iter().any(|name| name == waiting.0)));
}

/// A rule without a source is an opinion.
#[test]
fn every_script_names_its_source() {
    for (name, text) in scripts() {
        assert!(text.starts_with("// ") && text.contains("// Source: "), "{name}");
    }
}

/// In a script every packet and every assertion is judged, the end of a connection apart, which none has.
#[test]
fn nothing_in_a_script_is_skipped_with_a_note() {
    for (name, text) in scripts() {
        let report = drill::drill(&drill::parse(&text).expect("it is right"), &Options::default());
        assert!(report.notes.is_empty(), "{name}: {:?}", report.notes);
    }
}

/// The same script gives the same report, and no scheme or standard makes it panic.
#[test]
fn drills_are_deterministic_with_every_scheme() {
    for (_, text) in scripts() {
        let script = drill::parse(&text).expect("it is right");
        for entry in schemes::catalogue() {
            if !matches!(entry.build, schemes::Build::Control(_)) {
                continue;
            }
            for like in [Like::Linux, Like::Standard] {
                let options =
                    Options { scheme: Some(entry.scheme.name.to_owned()), like, ..Options::default() };
                let report = drill::drill(&script, &options);
                assert_eq!(report, drill::drill(&script, &options));
            }
        }
    }
}
