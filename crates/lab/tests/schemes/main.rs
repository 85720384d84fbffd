//! The schemes in whole scenarios: requirements for all of them in the simulator, their experiments, and the networks
//! of single papers.
//!
//! `THALWEG_SCHEME=NAME` selects one scheme, as `make scheme NAME=...` does.

use std::env;
use std::path::PathBuf;

use schemes::{Entry, catalogue};

mod clocks;
mod experiments;
mod ndnsieve;
mod worlds;

/// The schemes under test, in order.
fn chosen() -> Vec<Entry> {
    let mut entries = catalogue();
    if let Ok(name) = env::var("THALWEG_SCHEME") {
        entries.retain(|entry| entry.scheme.name == name);
        assert!(!entries.is_empty(), "no scheme is called `{name}`");
    }
    entries
}

/// The folder of a scheme.
fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schemes").join(name)
}

/// The scenarios of a scheme's README, and its path for messages.
fn readme(name: &str) -> (String, Vec<String>) {
    let path = folder(name).join("README.md");
    let text = std::fs::read_to_string(&path).expect("every scheme has a README");
    let blocks =
        text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().expect("the fence closes"));
    let scenarios = blocks.filter(|text| text.contains("[topology]")).map(str::to_owned).collect();
    (path.display().to_string(), scenarios)
}
