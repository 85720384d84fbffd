//! A table of a run, exported through the Arrow C stream interface.

use std::ffi::CStr;
use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// One table of a run. Any library that takes `__arrow_c_stream__` reads it without a copy of its numbers.
#[pyclass(frozen, module = "thalweg._native")]
pub struct Table {
    report: Arc<lab::Report>,
    index: usize,
}

impl Table {
    /// The table called `name`.
    pub fn of(report: &Arc<lab::Report>, name: &str) -> Option<Self> {
        let index = report.tables.iter().position(|table| table.name == name)?;
        Some(Self { report: report.clone(), index })
    }

    fn table(&self) -> &lab::Table {
        &self.report.tables[self.index]
    }
}

#[pymethods]
impl Table {
    /// Its name.
    #[getter]
    fn name(&self) -> &'static str {
        self.table().name
    }

    /// Its columns as `(name, unit, definition)`.
    #[getter]
    fn columns(&self) -> Vec<(&'static str, &'static str, &'static str)> {
        self.table().columns.iter().map(|column| (column.name, column.unit, column.definition)).collect()
    }

    /// Number of rows.
    fn __len__(&self) -> usize {
        self.table().rows()
    }

    /// An Arrow C stream of the table. The schema is always the table's own; a requested one is not followed.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let stream =
            tables::stream(self.table()).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        // the consumer moves the stream out of the capsule; otherwise the destructor of the capsule releases it
        PyCapsule::new_with_value(py, stream, STREAM)
    }
}

/// The name that the Arrow PyCapsule interface requires.
const STREAM: &CStr = c"arrow_array_stream";
