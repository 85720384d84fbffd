//! Every script in `tests/scripts` passes.

use std::fs;
use std::path::PathBuf;

use drill::{Like, Options, Outcome};

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
fn every_script_passes() {
    let scripts = scripts();
    assert!(scripts.len() >= 30);
    let wrong: Vec<_> = scripts
        .into_iter()
        .filter_map(|(name, text)| {
            let report = drill::drill(&drill::parse(&text).expect("it is right"), &Options::default());
            (report.outcome != Outcome::Pass).then(|| format!("{name}: {}", report.outcome))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
