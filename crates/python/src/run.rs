//! The result of a run as a Python class.

use std::path::Path;
use std::sync::Arc;

use pyo3::exceptions::{PyKeyError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::table::Table;

/// The result of a run.
#[pyclass(frozen, module = "thalweg._native")]
pub struct Run {
    /// Whether it reached its end.
    #[pyo3(get)]
    complete: bool,
    /// Digest of every event in order, 16 hexadecimal digits.
    #[pyo3(get)]
    trace_hash: String,
    /// Packets put on links.
    #[pyo3(get)]
    packet_hops: u64,
    /// Agenda entries handled.
    #[pyo3(get)]
    events_handled: u64,
    /// Simulated time reached, in seconds.
    #[pyo3(get)]
    ended_s: f64,
    /// Accuracy of an emulation as JSON; None for a simulation.
    #[pyo3(get)]
    emulation: Option<String>,
    /// The script that a flow has become, as JSON: its packets, or why there is none; None if none was wanted.
    #[pyo3(get)]
    pub(crate) script: Option<String>,
    report: Arc<lab::Report>,
}

impl Run {
    pub(crate) fn of(
        trace: &sim::Trace,
        report: lab::Report,
        complete: bool,
        emulation: Option<String>,
    ) -> Self {
        Self {
            complete,
            trace_hash: format!("{:016x}", trace.hash),
            packet_hops: trace.packet_hops,
            events_handled: trace.events_handled,
            ended_s: trace.ended_at.as_secs_f64(),
            emulation,
            script: None,
            report: Arc::new(report),
        }
    }
}

#[pymethods]
impl Run {
    /// Names of its tables.
    #[getter]
    fn tables(&self) -> Vec<&'static str> {
        self.report.tables.iter().map(|table| table.name).collect()
    }

    /// A table by name. Raises `KeyError` for an unknown name.
    fn table(&self, name: &str) -> PyResult<Table> {
        Table::of(&self.report, name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    /// The table `summary` as a dict: dotted key → value.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        self.report.values().try_for_each(|(key, value)| values.set_item(key, value))?;
        Ok(values)
    }

    /// The value of a key of the table `summary`. Raises `KeyError` for an unknown key.
    fn value(&self, key: &str) -> PyResult<Option<f64>> {
        self.report.get(key).ok_or_else(|| PyKeyError::new_err(key.to_owned()))
    }

    /// The values of a subject of the table `summary`, by the last word of their keys; empty for an unknown subject.
    fn values_of<'py>(&self, py: Python<'py>, subject: &str) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        self.report.values_of(subject).try_for_each(|(word, value)| values.set_item(word, value))?;
        Ok(values)
    }

    /// Writes every table to `folder` as Parquet.
    fn save(&self, py: Python<'_>, folder: &str) -> PyResult<()> {
        let report = self.report.clone();
        py.detach(move || tables::save(&report, Path::new(folder)))
            .map_err(|error| PyOSError::new_err(error.to_string()))
    }
}
