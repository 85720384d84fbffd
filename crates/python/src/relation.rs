//! The relations of `[expect]`, for the claims of papers.

use lab::Sides;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A relation such as `">= 0.9"` or `"in 1 .. 3"`, in the grammar of `[expect]`.
#[pyclass(frozen, module = "thalweg._native")]
pub struct Relation {
    sides: Sides,
}

#[pymethods]
impl Relation {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        Sides::read(text).map(|sides| Self { sides }).map_err(PyValueError::new_err)
    }

    /// Whether the value is accepted; never for not-a-number.
    fn holds(&self, value: f64) -> bool {
        self.sides.hold(value)
    }
}
