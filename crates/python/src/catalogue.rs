//! The catalogue as JSON: see [`lab::describe`].

use pyo3::prelude::*;

/// The catalogue of schemes: a list of `{name, title, families, transport, router, rack, documented, sources, params}`.
#[pyfunction]
pub fn schemes() -> String {
    lab::describe::schemes().to_string()
}

/// The strategies of forwarders that are no schemes: a list of `{name, title, params}`.
#[pyfunction]
pub fn strategies() -> String {
    lab::describe::strategies().to_string()
}

/// The models of links whose rates follow a trace: a list of
/// `{name, about, mean_bps, low_bps, high_bps, outage, period_s}`.
#[pyfunction]
pub fn trace_models() -> String {
    lab::traces::models().to_string()
}

/// The trace of a model as text: CSV, or delivery opportunities in the format of mahimahi. `None` if no model has this
/// name.
#[pyfunction]
pub fn model_trace(model: &str, seed: u64, opportunities: bool) -> Option<String> {
    lab::traces::text(model, seed, opportunities)
}

/// Every column and key of a result: a list of `{table, name, unit, definition, measured}`.
#[pyfunction]
pub fn metrics() -> String {
    lab::describe::metrics().to_string()
}

/// Every series that can be recorded: a list of `{name, unit, subject, definition, offered_by}`.
#[pyfunction]
pub fn series() -> String {
    lab::describe::series().to_string()
}

/// Names of earlier versions: a list of `[old, new]`.
#[pyfunction]
pub fn renamed() -> String {
    lab::describe::renamed().to_string()
}

/// The JSON Schema of a scenario.
#[pyfunction]
pub fn schema() -> String {
    lab::schema().to_string()
}
