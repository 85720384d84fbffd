//! What there is to choose from: schemes, metrics, series.

use contract::{Family, ParamInfo, ParamValue, SeriesInfo};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// The catalogue of schemes as JSON: a list of `{name, title, families, transport, documented, sources, params}`.
#[pyfunction]
pub fn schemes() -> String {
    let rows = ::schemes::catalogue().into_iter().map(|entry| {
        json!({
            "name": entry.scheme.name,
            "title": entry.scheme.title,
            "families": entry.scheme.families.iter().map(|family| family.name()).collect::<Vec<_>>(),
            "transport": match entry.build {
                ::schemes::Build::Control(_) if entry.scheme.families == [Family::Ndn] => "ndn",
                ::schemes::Build::Control(_) => "tcp",
                ::schemes::Build::Stream { .. } => "stream",
                ::schemes::Build::Forwarder => "ndn",
            },
            "documented": entry.scheme.documented.name(),
            "sources": entry.scheme.sources.iter().map(|source| json!({"key": source.key, "text": source.text})).collect::<Vec<_>>(),
            "params": (entry.params)().iter().map(param).collect::<Vec<_>>(),
        })
    });
    Value::Array(rows.collect()).to_string()
}

/// The strategies of forwarders that are no schemes, as JSON: a list of `{name, title, params}`.
#[pyfunction]
pub fn strategies() -> String {
    let rows = stack::ndn::strategies::ALL.iter().map(|entry| {
        let params: Vec<Value> = (entry.params)().iter().map(param).collect();
        json!({ "name": entry.name, "title": entry.title, "params": params })
    });
    Value::Array(rows.collect()).to_string()
}

/// Every column and key of a result as JSON: a list of `{table, name, unit, definition, measured}`.
#[pyfunction]
pub fn metrics() -> String {
    let rows = lab::METRICS.iter().map(|row| {
        json!({
            "table": row.table,
            "name": row.name,
            "unit": row.unit,
            "definition": row.definition,
            "measured": row.measured,
        })
    });
    Value::Array(rows.collect()).to_string()
}

/// Every series that can be recorded as JSON: a list of `{name, unit, subject, definition, offered_by}`, offered by `any run`, a
/// transport or a scheme.
#[pyfunction]
pub fn series() -> String {
    let mut rows = Vec::new();
    let mut add = |offered_by: &str, series: &[SeriesInfo]| {
        rows.extend(series.iter().map(|(name, unit, subject, definition)| {
            json!({"name": name, "unit": unit, "subject": subject, "definition": definition, "offered_by": offered_by})
        }));
    };
    add("any run", sim::SERIES);
    add("tcp", stack::tcp::SERIES);
    add("stream", stack::stream::SERIES);
    add("ndn", stack::ndn::CONSUMER_SERIES);
    add("forwarders", stack::ndn::SERIES);
    for entry in ::schemes::catalogue() {
        add(entry.scheme.name, entry.scheme.series);
    }
    Value::Array(rows).to_string()
}

/// The JSON Schema of a scenario.
#[pyfunction]
pub fn schema() -> String {
    lab::schema().to_string()
}

fn param(info: &ParamInfo) -> Value {
    json!({
        "name": info.name,
        "doc": info.doc,
        "kind": info.kind.name(),
        "default": value(&info.default),
        "range": info.range.as_ref().map(|(low, high)| [value(low), value(high)]),
        "source": info.source,
    })
}

fn value(value: &ParamValue) -> Value {
    match value {
        ParamValue::Float(x) => json!(x),
        ParamValue::Int(x) => json!(x),
        ParamValue::Bool(x) => json!(x),
        ParamValue::Text(x) => json!(x),
    }
}
