//! The record of packets: a run with a record is the same run, and every number that packets show follows from its
//! rows. Checked on every scenario of the folder `scenarios`, which together have every kind of network, queue,
//! impairment and change.

mod packet_rows;

use std::path::{Path, PathBuf};

use lab::Plan;
use units::Duration;

use packet_rows::check;

/// The plans of the scenarios in a folder of the project, without their sweeps, and at most this long.
fn plans(folder: &str, longest: Duration) -> Vec<(PathBuf, Plan)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = std::fs::read_dir(&folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("it is readable").path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    files.sort();
    let plan = |path: PathBuf| {
        let bytes = std::fs::read(&path).expect("it is readable");
        let name = path.to_str().expect("the path is text");
        // some need a stack that this build does not have
        let scenario = lab::load_bytes(&bytes, name).ok()?;
        let mut plan = Plan::clone(&*scenario.without_sweep().ok()?.plan(None).ok()?);
        plan.blueprint.duration = plan.blueprint.duration.min(longest);
        plan.blueprint.warmup = plan.blueprint.warmup.min(plan.blueprint.duration / 2);
        Some((path, plan))
    };
    files.into_iter().filter_map(plan).collect()
}

fn check_all(folder: &str, longest: Duration) {
    let plans = plans(folder, longest);
    assert!(plans.len() > 2, "{folder} has scenarios");
    for (path, plan) in plans {
        println!("{}", path.display());
        check(&plan.blueprint);
    }
}

#[test]
fn the_record_of_every_scenario_gives_the_counters_of_its_run() {
    check_all("scenarios", Duration::from_secs(6));
}

#[test]
fn so_does_that_of_every_network_in_which_a_scheme_fails() {
    check_all("scenarios/broken", Duration::from_secs(6));
}

#[test]
fn so_does_that_of_every_experiment_of_rfc_8867() {
    check_all("scenarios/rfc8867", Duration::from_secs(6));
}
