//! Scenarios and plans as Python classes, and the control of a run.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::emulation::{self, Files, Script};
use crate::errors::refused;
use crate::run::Run;
use crate::scheme;
use crate::values;

/// A valid scenario.
#[pyclass(frozen, module = "thalweg._native")]
pub struct Scenario(lab::Scenario);

#[pymethods]
impl Scenario {
    /// Reads a file. Raises `ScenarioError` for an invalid one, `OSError` if it cannot be read.
    #[staticmethod]
    fn from_file(py: Python<'_>, path: &str) -> PyResult<Self> {
        let bytes = std::fs::read(path).map_err(|error| unread(&error, path))?;
        py.detach(|| lab::load_bytes(&bytes, path)).map(Self).map_err(|diagnostics| refused(py, &diagnostics))
    }

    /// Reads TOML text; `name` is the name of the file in messages.
    #[staticmethod]
    fn from_text(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        py.detach(|| lab::load(text, name)).map(Self).map_err(|diagnostics| refused(py, &diagnostics))
    }

    /// Takes a tree of plain values.
    #[staticmethod]
    fn from_tree(py: Python<'_>, tree: &Bound<'_, PyDict>) -> PyResult<Self> {
        let values = values::table_of(tree)?;
        py.detach(|| lab::load_tree(values)).map(Self).map_err(|diagnostics| refused(py, &diagnostics))
    }

    /// The scenario as a tree of plain values.
    #[getter]
    fn tree<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        values::dict(py, &self.0.tree())
    }

    /// The scenario as TOML; the given text if there is one.
    #[getter]
    fn text(&self) -> &str {
        self.0.text()
    }

    /// Its title in one line; empty if it has none.
    #[getter]
    fn title(&self) -> &str {
        self.0.title()
    }

    /// Whether it is marked as taking more than five CPU seconds.
    #[getter]
    fn slow(&self) -> bool {
        self.0.is_slow()
    }

    /// Warnings about keys without effect and results that cannot be measured: a list in JSON, in the format of
    /// `ScenarioError`.
    #[getter]
    fn warnings(&self) -> String {
        self.0.warnings().to_json().to_string()
    }

    /// The warnings with the marked text; empty if there are none.
    #[getter]
    fn warnings_picture(&self) -> String {
        self.0.warnings().to_string()
    }

    /// A copy with some dotted keys changed.
    fn with_all(&self, py: Python<'_>, changes: &Bound<'_, PyDict>) -> PyResult<Self> {
        let changes: Vec<_> = values::table_of_all(changes)?.into_iter().collect();
        py.detach(|| self.0.with_all(&changes)).map(Self).map_err(|diagnostics| refused(py, &diagnostics))
    }

    /// The scenarios of all cells of a grid of dotted keys and values, without their own sweep; the last key varies
    /// fastest. A series that only other cells offer is not recorded in a cell.
    fn grid(&self, py: Python<'_>, axes: &Bound<'_, PyDict>) -> PyResult<Vec<Self>> {
        let axes = values::axes(axes)?;
        let cells = py.detach(|| self.0.grid(&axes)).map_err(|diagnostics| refused(py, &diagnostics))?;
        Ok(cells.into_iter().map(|(_, cell)| Self(cell)).collect())
    }

    /// The scenario without its sweep.
    fn without_sweep(&self, py: Python<'_>) -> PyResult<Self> {
        py.detach(|| self.0.without_sweep()).map(Self).map_err(|diagnostics| refused(py, &diagnostics))
    }

    /// Resolves every default and every relative unit.
    #[pyo3(signature = (seed = None))]
    fn plan(&self, py: Python<'_>, seed: Option<u64>) -> PyResult<Plan> {
        py.detach(|| self.0.plan(seed)).map(Plan).map_err(|diagnostics| refused(py, &diagnostics))
    }
}

/// The input of a run.
#[pyclass(frozen, module = "thalweg._native")]
pub struct Plan(Arc<lab::Plan>);

impl Plan {
    pub(crate) fn shared(&self) -> Arc<lab::Plan> {
        self.0.clone()
    }

    pub(crate) fn blueprint(&self) -> &sim::Blueprint {
        &self.0.blueprint
    }
}

#[pymethods]
impl Plan {
    /// Title in one line.
    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    /// Root of every random stream.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.blueprint.seed
    }

    /// Duration in seconds of simulated time.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.0.blueprint.duration.as_secs_f64()
    }

    /// The plan as a scenario, as JSON.
    #[getter]
    fn resolved(&self) -> String {
        self.0.to_json().to_string()
    }

    /// The plan as a scenario, as TOML.
    #[getter]
    fn toml(&self) -> String {
        self.0.to_toml()
    }

    /// Names of the flows of which a script for packetdrill can be written: those over TCP with one receiver.
    fn drillable(&self) -> Vec<&str> {
        lab::drillable(&self.0).map(|(name, _)| name).collect()
    }

    /// Names of the flows with a congestion controller of this library, which qlog files can show; fewer in an
    /// emulation.
    #[pyo3(signature = (*, emulated = false))]
    fn controlled(&self, emulated: bool) -> Vec<&str> {
        lab::controlled(&self.0, emulated).map(|(name, _)| name).collect()
    }

    /// Nodes with their places and links, as JSON, for drawing.
    #[getter]
    fn layout(&self) -> String {
        let blueprint = &self.0.blueprint;
        let name = |node: contract::NodeId| blueprint.nodes[node.index()].as_str();
        let nodes = blueprint.nodes.iter().zip(&self.0.positions);
        json!({
            "nodes": nodes.map(|(name, (x, y))| json!({"name": name.as_str(), "x": x, "y": y})).collect::<Vec<_>>(),
            "links": blueprint.links.iter().map(|link| {
                json!({"name": link.name.as_str(), "from": name(link.ends.0), "to": name(link.ends.1)})
            }).collect::<Vec<_>>(),
        })
        .to_string()
    }

    /// Runs to the end, or until `control` stops it. Releases the interpreter lock. When `control` requests `keep`, the
    /// tables up to now are written to `folder`. `files` has the links of a capture with its file, and flows with their
    /// qlog files. Raises `SchemeError`.
    #[pyo3(signature = (control, files, folder = None))]
    fn run(&self, py: Python<'_>, control: &Control, files: Files, folder: Option<PathBuf>) -> PyResult<Run> {
        let (observers, written) = files.open(&self.0, 0)?;
        let (log, script) = match files.open_script(&self.0)? {
            Some(Script { log, script, path }) => (Some(log), Some((script, path))),
            None => (None, None),
        };
        let (plan, control) = (self.0.clone(), control.0.clone());
        let outcome = scheme::run(py, &self.0.blueprint, &control, || {
            lab::run_observed(&plan, &control, observers, log, |report| {
                if let Some(folder) = &folder {
                    // if this fails, so does the write at the end, which is reported
                    let _ = tables::save(report, folder);
                }
            })
        })?;
        emulation::finished(&written)?;
        let script = script.map(|(script, path)| match script.write(&self.0, path) {
            Ok((packets, shortened)) => json!({"packets": packets, "shortened": shortened}),
            Err(error) => json!({"error": error.to_string()}),
        });
        let mut run = Run::of(&outcome.trace, outcome.report, outcome.complete, None);
        run.script = script.map(|script| script.to_string());
        Ok(run)
    }

    /// Runs to the end, or until `control` stops it, and writes the record of every packet to `folder`. Releases the
    /// interpreter lock. Raises `SchemeError`, and `OSError` if the record is not complete.
    fn record(&self, py: Python<'_>, control: &Control, folder: PathBuf) -> PyResult<Run> {
        let failed = |error: tables::Error| PyOSError::new_err(error.to_string());
        let (log, record) = tables::record(&self.0, &folder).map_err(failed)?;
        let (plan, control) = (self.0.clone(), control.0.clone());
        let outcome =
            scheme::run(py, &self.0.blueprint, &control, || lab::run_recorded(&plan, &control, log))?;
        record.finish(&self.0, &outcome.trace).map_err(failed)?;
        Ok(Run::of(&outcome.trace, outcome.report, outcome.complete, None))
    }

    /// Emulates it in real time, or until `control` stops it. Releases the interpreter lock. Raises `EmulationError`.
    /// `began_ns` is the time of the start in a capture. `files` as in `run`.
    #[pyo3(signature = (control, files, *, spin_us = 50, poll_interval_us = 0, urgent = false, logs = None, began_ns = 0))]
    #[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
    fn emulate(
        &self,
        py: Python<'_>,
        control: &Control,
        files: Files,
        spin_us: u64,
        poll_interval_us: u64,
        urgent: bool,
        logs: Option<PathBuf>,
        began_ns: u64,
    ) -> PyResult<Run> {
        let (spin, poll_interval) =
            (units::Duration::from_micros(spin_us), units::Duration::from_micros(poll_interval_us));
        let settings = emulate::Settings { spin, poll_interval, urgent, logs };
        emulation::run(py, &self.0, &settings, &control.0, &files, began_ns)
    }
}

/// Observes and stops a run from another thread.
#[pyclass(frozen, module = "thalweg._native")]
pub struct Control(pub(crate) Arc<sim::Control>);

#[pymethods]
impl Control {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// Simulated time reached, in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now_ns.load(Ordering::Relaxed) as f64 / 1e9
    }

    /// Agenda entries handled.
    #[getter]
    fn events(&self) -> u64 {
        self.0.events.load(Ordering::Relaxed)
    }

    /// Whether it was stopped.
    #[getter]
    fn stopped(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }

    /// Requests that the run writes its results up to now and continues.
    fn keep(&self) {
        self.0.pause.store(true, Ordering::Relaxed);
    }

    /// Requests the end of the run; results up to then are kept.
    fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}

/// The exception of the operating system, such as `FileNotFoundError`, with the name of the file.
fn unread(error: &std::io::Error, path: &str) -> PyErr {
    match error.raw_os_error() {
        Some(number) => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((number, text, path.to_owned()))
        }
        None => PyOSError::new_err(format!("{path}: {error}")),
    }
}
