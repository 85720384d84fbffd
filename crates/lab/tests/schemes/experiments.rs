//! The experiments of the schemes: every `schemes/NAME/experiments/*.toml` meets its expectations, and every scheme has
//! one. Experiments marked `slow = true` run if `THALWEG_SLOW` is set.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use crate::{chosen, folder};

/// An experiment and its errors.
type Failures = Vec<String>;

/// The files of the chosen schemes, in order.
fn experiments() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in chosen() {
        let name = entry.scheme.name;
        let folder = folder(name).join("experiments");
        let mut own: Vec<PathBuf> = fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|entry| entry.expect("an entry of the folder").path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
            .collect();
        own.sort();
        assert!(!own.is_empty(), "{name} has no experiment");
        files.extend(own);
    }
    files
}

/// Runs an experiment and prints its measurements.
fn failures_of(path: &Path) -> Failures {
    let text = fs::read_to_string(path).expect("the file was just listed");
    let scheme = path.ancestors().nth(2).and_then(Path::file_name).expect("schemes/NAME/experiments/FILE");
    let name = format!("{}/{}", scheme.display(), path.file_stem().expect("a name").display());
    let mut failures = Failures::new();
    if !text.starts_with("# Source: ") {
        failures.push(format!("{name}: the first line names the source: `# Source: ...`"));
    }
    let scenario = match lab::load(&text, &path.to_string_lossy()) {
        Ok(scenario) => scenario,
        Err(diagnostics) => return vec![diagnostics.to_string()],
    };
    if scenario.is_slow() && env::var_os("THALWEG_SLOW").is_none() {
        println!("{name}: slow, not run");
        return failures;
    }
    let plan = scenario.plan(None).expect("loaded means planned");
    if plan.expect.is_empty() {
        failures.push(format!("{name}: it expects nothing"));
    }
    let outcome = lab::run(&plan, &sim::Control::default());
    if !outcome.complete {
        failures.push(format!("{name}: it did not reach its end"));
    }
    for row in &plan.expect {
        let measured = outcome.report.value(&row.key);
        let line = format!("{name}: {} = {measured:?}, expected {}", row.key, row.text);
        if measured.is_some_and(|value| row.sides.hold(value)) {
            println!("{line}");
        } else {
            failures.push(line);
        }
    }
    failures
}

#[test]
fn every_experiment_gives_what_its_source_says() {
    let files = experiments();
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut failures = Failures::new();
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            failures.extend(failures_of(path));
        }
        failures
    };
    let workers = thread::available_parallelism().map_or(1, usize::from).min(files.len());
    let failures: Failures = thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        running.into_iter().flat_map(|it| it.join().expect("no worker panics")).collect()
    });
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
