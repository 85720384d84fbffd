//! Scripts in packetdrill's language: conversion of their reports.

use ::drill::{Judged, Like, Options, Outcome, Report, Window};
use contract::ParamValue;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use units::Duration;

/// Drills our TCP with a script. `params` are parameters of the scheme, as values of TOML. Returns the report as JSON.
/// Raises `ValueError` for values that are no parameters.
#[pyfunction]
#[pyo3(signature = (text, scheme = None, *, params = Vec::new(), standard = false))]
pub fn drill(
    text: &str,
    scheme: Option<String>,
    params: Vec<(String, String)>,
    standard: bool,
) -> PyResult<String> {
    let params = params.into_iter().map(|(name, text)| Ok((name, param(&text)?))).collect::<PyResult<_>>()?;
    let like = if standard { Like::Standard } else { Like::Linux };
    let report = match ::drill::parse(text) {
        Ok(script) => ::drill::drill(&script, &Options { scheme, params, like }),
        Err(problem) => Report {
            outcome: Outcome::Invalid(problem.place, problem.message, problem.hint),
            scheme: String::new(),
            lines: Vec::new(),
            packets: 0,
            assertions: 0,
            notes: Vec::new(),
        },
    };
    Ok(as_json(&report).to_string())
}

/// A value of a parameter; what is no value of TOML is a text.
fn param(text: &str) -> PyResult<ParamValue> {
    let value = toml::from_str::<toml::Table>(&format!("value = {text}")).ok();
    match value.and_then(|mut table| table.remove("value")) {
        Some(toml::Value::Float(x)) => Ok(ParamValue::Float(x)),
        Some(toml::Value::Integer(x)) => Ok(ParamValue::Int(x)),
        Some(toml::Value::Boolean(x)) => Ok(ParamValue::Bool(x)),
        Some(toml::Value::String(x)) => Ok(ParamValue::Text(x)),
        None => Ok(ParamValue::Text(text.to_owned())),
        Some(other) => Err(PyValueError::new_err(format!("a parameter has one value, not {other}"))),
    }
}

fn as_json(report: &Report) -> Value {
    let outcome = &report.outcome;
    let hint = if let Outcome::Invalid(_, _, hint) = outcome { hint } else { "" };
    json!({
        "outcome": outcome.name(),
        "line": outcome.place().map(|place| place.line),
        "column": outcome.place().map(|place| place.column),
        "message": outcome.message(),
        "hint": hint,
        "scheme": report.scheme,
        "packets": report.packets,
        "assertions": report.assertions,
        "skipped": report.lines.iter().filter(|line| line.judged == Judged::Skipped).count(),
        "notes": report.notes,
        "lines": report.lines.iter().map(|line| {
            json!({
                "line": line.place.line,
                "at_s": seconds(line.at),
                "text": line.text,
                "judged": line.judged.name(),
                "state": line.window.as_ref().map(window),
            })
        }).collect::<Vec<_>>(),
    })
}

fn window(window: &Window) -> Value {
    json!({
        "cwnd": window.cwnd,
        "ssthresh": window.ssthresh,
        "state": window.state,
        "unacked": window.unacked,
        "sacked": window.sacked,
        "lost": window.lost,
        "retransmitted": window.retransmitted,
        "srtt_s": window.rtt.map(seconds),
        "timer_in_s": window.timer_in.map(seconds),
    })
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}
