//! Every broken scenario in `broken/` gives the message in the file beside it.

use std::fs;
use std::path::Path;

#[test]
fn every_broken_scenario_gives_its_message() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the folder is beside this file")
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 30, "{} files", files.len());

    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("broken");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for path in files {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("names are ASCII");
        let bytes = fs::read(&path).expect("the file was just listed");
        let diagnostics = lab::load_bytes(&bytes, &format!("{stem}.toml")).expect_err(stem);
        assert_eq!(diagnostics.to_json().as_array().map(Vec::len), Some(diagnostics.count()));
        settings.bind(|| insta::assert_snapshot!(stem, diagnostics.to_string()));
    }
}
