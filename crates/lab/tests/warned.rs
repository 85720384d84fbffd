//! Every scenario in `warned/` is accepted with the warnings in the file beside it; the scenarios of the repository
//! have none.

use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry of the folder").path());
    let mut files: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    files.sort();
    files
}

#[test]
fn every_scenario_with_a_key_without_effect_gives_its_warning() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/warned");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("warned");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let files = files(&folder);
    assert!(files.len() >= 10, "{} files", files.len());
    for path in files {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("names are ASCII");
        let bytes = fs::read(&path).expect("the file was just listed");
        let scenario =
            lab::load_bytes(&bytes, &format!("{stem}.toml")).unwrap_or_else(|error| panic!("{error}"));
        let warnings = scenario.warnings();
        assert!(warnings.count() > 0, "{stem}");
        assert!(warnings.iter().all(|warning| warning.warning && warning.line > 0 && warning.hint.is_some()));
        settings.bind(|| insta::assert_snapshot!(stem, warnings.to_string()));
    }
}

#[test]
fn the_scenarios_of_the_repository_have_no_warnings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let experiments = fs::read_dir(root.join("schemes")).expect("the folder of schemes");
    let experiments = experiments.map(|entry| entry.expect("an entry").path().join("experiments"));
    let folders = experiments.filter(|folder| folder.is_dir()).chain([root.join("scenarios")]);
    let mut checked = 0;
    let mut wrong = Vec::new();
    for path in folders.flat_map(|folder| files(&folder)) {
        let bytes = fs::read(&path).expect("the file was just listed");
        let scenario =
            lab::load_bytes(&bytes, &path.to_string_lossy()).unwrap_or_else(|error| panic!("{error}"));
        checked += 1;
        if scenario.warnings().count() > 0 {
            wrong.push(scenario.warnings().to_string());
        }
        // a plan has explicit defaults, which cause no warnings
        let printed = scenario.plan(None).expect("it was loaded").to_toml();
        let again = lab::load(&printed, &format!("plan of {}", path.display()))
            .unwrap_or_else(|error| panic!("{error}"));
        if again.warnings().count() > 0 {
            wrong.push(again.warnings().to_string());
        }
    }
    assert!(checked > 15, "{checked} scenarios");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
