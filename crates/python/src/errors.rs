//! Exceptions of `thalweg.errors`.

use lab::Problems;
use pyo3::prelude::*;

/// The exception for an invalid scenario: `thalweg.errors.ScenarioError(picture, problems)`.
pub(crate) fn refused(py: Python<'_>, diagnostics: &Problems) -> PyErr {
    let make = || {
        py.import("thalweg.errors")?
            .getattr("ScenarioError")?
            .call1((diagnostics.to_string(), diagnostics.to_json().to_string()))
    };
    make().map_or_else(|error| error, PyErr::from_value)
}
