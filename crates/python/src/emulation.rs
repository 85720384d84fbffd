//! Emulations, and capture files of runs.

use std::path::PathBuf;
use std::sync::Arc;

use emulate::{Accuracy, Error, Settings};
use lab::{Plan, Written};
use pyo3::exceptions::{PyKeyError, PyOSError};
use pyo3::prelude::*;
use serde_json::{Value, json};
use sim::Observers;
use units::Duration;

use crate::run::Run;

/// Emulates `plan`; see `Plan.emulate`.
pub(crate) fn run(
    py: Python<'_>,
    plan: &Arc<Plan>,
    settings: &Settings,
    control: &Arc<sim::Control>,
    files: &Files,
    began_ns: u64,
) -> PyResult<Run> {
    let (observers, written) = files.open(plan, began_ns)?;
    let emulated = py.detach(|| emulate::run(&plan.blueprint, settings, control, observers));
    let outcome = emulated.map_err(|error| failed(py, &error))?;
    finished(&written)?;
    let report = lab::report(&plan.as_emulated(), &outcome.trace);
    let summary = Some(accuracy(&outcome.accuracy).to_string());
    Ok(Run::of(&outcome.trace, report, outcome.complete, summary))
}

/// Why this process may not emulate; None if it may.
#[pyfunction]
pub fn emulation_permitted() -> Option<String> {
    #[cfg(target_os = "linux")]
    return emulate::permitted().err().map(|error| error.to_string());
    #[cfg(not(target_os = "linux"))]
    Some(Error::NotLinux.to_string())
}

/// Removes namespaces of killed emulations. Returns their names.
#[pyfunction]
pub fn clean_emulations() -> Vec<String> {
    #[cfg(target_os = "linux")]
    return emulate::clean();
    #[cfg(not(target_os = "linux"))]
    Vec::new()
}

/// The files that a run writes while it runs.
#[derive(FromPyObject)]
pub(crate) struct Files {
    /// Links, and the capture file of what passes them.
    #[pyo3(item)]
    capture: Option<(Vec<String>, PathBuf)>,
    /// Flows, each with the qlog file of its congestion controller.
    #[pyo3(item)]
    qlog: Vec<(String, PathBuf)>,
    /// A flow, and the file of the script that its packets become; of a simulation.
    #[pyo3(item)]
    drill: Option<(String, PathBuf)>,
}

impl Files {
    /// Begins all files. Raises `KeyError` for an unknown link or a flow without a controller, `OSError` for a file
    /// that cannot be written.
    pub(crate) fn open(&self, plan: &Plan, began_ns: u64) -> PyResult<(Observers, Vec<Written>)> {
        let unknown = |name: &String| PyKeyError::new_err(name.clone());
        let failed = |path: &PathBuf, error| PyOSError::new_err(format!("{}: {error}", path.display()));
        let (mut observers, mut files) = (Observers::default(), Vec::new());
        if let Some((names, path)) = &self.capture {
            let link = |name: &String| plan.link(name).ok_or_else(|| unknown(name));
            let links = names.iter().map(link).collect::<PyResult<Vec<_>>>()?;
            let capture = lab::Capture::create(plan, &links, path, began_ns);
            let (capture, written) = capture.map_err(|error| failed(path, error))?;
            observers.tap = Some((links, Box::new(capture)));
            files.push(written);
        }
        for (name, path) in &self.qlog {
            let flow = lab::controlled(plan, false).find(|(known, _)| known == name);
            let (_, flow) = flow.ok_or_else(|| unknown(name))?;
            let (log, written) = lab::qlog(plan, flow, path).map_err(|error| failed(path, error))?;
            observers.logs.push((flow, log));
            files.push(written);
        }
        Ok((observers, files))
    }

    /// Begins the record of the flow that becomes a script. Raises `KeyError` for a flow that is not over TCP.
    pub(crate) fn open_script(&self, plan: &Plan) -> PyResult<Option<Script<'_>>> {
        let Some((name, path)) = &self.drill else { return Ok(None) };
        let flow = lab::drillable(plan).find(|(known, _)| known == name);
        let (_, flow) = flow.ok_or_else(|| PyKeyError::new_err(name.clone()))?;
        let (log, script) = lab::DrillScript::begin(plan, flow);
        Ok(Some(Script { log, script, path }))
    }
}

/// A flow's script while its run proceeds.
pub(crate) struct Script<'a> {
    pub(crate) log: Box<dyn sim::PacketLog>,
    pub(crate) script: lab::DrillScript,
    pub(crate) path: &'a PathBuf,
}

/// Raises `OSError` if a file could not be written completely.
pub(crate) fn finished(files: &[Written]) -> PyResult<()> {
    match files.iter().find_map(Written::failure) {
        Some(failure) => {
            Err(PyOSError::new_err(format!("a file of packets or events is not complete: {failure}")))
        }
        None => Ok(()),
    }
}

/// The accuracy of an emulation, for `run.json`.
fn accuracy(accuracy: &Accuracy) -> Value {
    let seconds = |span: Duration| span.as_secs_f64();
    let mut summary = json!({
        "valid": accuracy.faults().is_empty(),
        "faults": accuracy.faults(),
        "notes": accuracy.notes,
        "max_lateness_s": seconds(accuracy.max_lateness),
        "packets_in": accuracy.packets_in,
        "packets_out": accuracy.packets_out,
        "packets_per_s": accuracy.packets_per_second(),
        "strays": accuracy.strays,
        "overruns": accuracy.overruns,
        "wall_s": seconds(accuracy.wall),
        "cpu_loop_s": seconds(accuracy.cpu_loop),
        "cpu_s": seconds(accuracy.cpu),
    });
    for (name, [p50, p99, p999, max]) in accuracy.rows() {
        summary[name] = json!({
            "p50_s": seconds(p50),
            "p99_s": seconds(p99),
            "p999_s": seconds(p999),
            "max_s": seconds(max),
        });
    }
    summary
}

/// The exception for an emulation that failed: `thalweg.errors.EmulationError(message, hint)`.
fn failed(py: Python<'_>, error: &Error) -> PyErr {
    let hint = match error {
        Error::NotPermitted { .. } => Some(
            "run it as root, or under `unshare --user --map-root-user`; `thalweg doctor` lists what is missing",
        ),
        _ => None,
    };
    let make = || {
        let class = py.import("thalweg.errors")?.getattr("EmulationError")?;
        class.call1((error.to_string(), hint))
    };
    make().map_or_else(|error| error, PyErr::from_value)
}
