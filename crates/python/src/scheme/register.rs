//! Registration of classes as schemes of the catalogue.

use std::sync::Arc;

use contract::{
    Documented, EcnFeedback, EcnUse, Family, Need, ParamError, ParamInfo, ParamKind, ParamValue, Scheme,
    resolve_params,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyType};
use schemes::shared::Classic;
use schemes::{AnyControl, Build, Entry};
use units::{Bytes, Duration, Rate, UnitText};

use super::control::PyControl;
use super::run::{Run, outside};
use super::update::PyUpdate;
use super::{Class, Interval};

/// A parameter as `thalweg.scheme` describes it: name, meaning, default, minimum, maximum, choices, source.
type Row<'py> = (
    String,
    String,
    Bound<'py, PyAny>,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
    Vec<String>,
    String,
);

/// Adds a class to the catalogue of this process; it stays there, because a run may use it at any time.
///
/// `callbacks` are the optional methods that it defines; `ecn` is `classic`, `dctcp`, `accurate` or `l4s`; with `rack`,
/// its flows have RACK-TLP by default. With `update`, the class is a window update, otherwise a congestion controller.
/// Raises `ValueError`.
#[pyfunction]
#[pyo3(signature = (scheme, *, name, title, families, params, callbacks, update, interval = None, ecn = None, rack = false, integer_cwnd = false))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
pub fn register_scheme(
    scheme: Bound<'_, PyType>,
    name: String,
    title: String,
    families: Vec<String>,
    params: Vec<Row<'_>>,
    callbacks: Vec<String>,
    update: bool,
    interval: Option<&str>,
    ecn: Option<&str>,
    rack: bool,
    integer_cwnd: bool,
) -> PyResult<()> {
    let table = params.into_iter().map(info).collect::<PyResult<Vec<_>>>()?;
    for row in &table {
        let default = [(row.name.to_owned(), row.default.clone())];
        resolve_params(&table, &default).map_err(|error| refused("default of", &error))?;
    }
    let families = families.iter().map(|word| family(word)).collect::<PyResult<Vec<_>>>()?;
    let interval = match interval {
        Some("rtt") => Some(Interval::RoundTrip),
        Some(text) => {
            let read = Duration::from_text(text).ok().filter(|interval| *interval > Duration::ZERO);
            let wrong = || {
                PyValueError::new_err(format!(
                    "interval: `{text}` is neither \"rtt\" nor a time such as \"10 ms\""
                ))
            };
            Some(Interval::Fixed(read.ok_or_else(wrong)?))
        }
        None => None,
    };
    let mut needs = Vec::new();
    if let Some(word) = ecn {
        needs.push(Need::Ecn(ecn_use(word)?));
    }
    if rack {
        needs.push(Need::Rack);
    }
    let name: &'static str = name.leak();
    let class = Arc::new(Class {
        name,
        class: scheme.name()?.to_string(),
        object: scheme.unbind(),
        callbacks,
        params: table.clone(),
        interval,
        integer_cwnd,
    });
    let table: &'static [ParamInfo] = table.leak();
    let entry = Entry {
        scheme: Scheme {
            name,
            title: title.leak(),
            families: families.leak(),
            sources: &[],
            documented: Documented::Full,
            series: &[],
            reorder: 1,
            needs: needs.leak(),
        },
        params: Box::leak(Box::new(|| table.to_vec())),
        resolve: Box::leak(Box::new(|given: &[(String, ParamValue)]| resolve_params(table, given))),
        build: Build::Control(Box::leak(Box::new(
            move |given: &[(String, ParamValue)], setup: &contract::Setup| {
                let params = resolve_params(table, given)?;
                let run = Run::current().ok_or_else(|| outside(name))?;
                Ok(AnyControl::Custom(if update {
                    Box::new(Classic::new(PyUpdate::new(&class, run, &params, setup), setup))
                } else {
                    Box::new(PyControl::new(&class, run, &params, setup))
                }))
            },
        ))),
        strategy: None,
        link: None,
        app: None,
    };
    schemes::register(entry).map_err(|error| PyValueError::new_err(format!("`{name}`: {error}")))
}

/// Adds the scheme `agent` of environments to the catalogue of this process.
#[pyfunction]
pub fn register_agent() {
    super::agent::register();
}

fn refused(what: &str, error: &ParamError) -> PyErr {
    let hint = error.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    PyValueError::new_err(format!("{what} `{}`: {}{hint}", error.name, error.message))
}

/// A row of the table of parameters; its kind is that of its default.
fn info(row: Row<'_>) -> PyResult<ParamInfo> {
    let (name, doc, default, low, high, choices, source) = row;
    let kind = kind_of(&name, &default, choices)?;
    let value = |value: &Bound<'_, PyAny>| plain(&name, value, kind);
    let range = match (low, high) {
        (Some(low), Some(high)) => Some((value(&low)?, value(&high)?)),
        _ => None,
    };
    let default = value(&default)?;
    let info = ParamInfo { name: name.leak(), doc, kind, default, range, source: source.leak() };
    if let Some((low, high)) = &info.range {
        // bounds are values of the same kind
        let unbounded = [ParamInfo { range: None, ..info.clone() }];
        for bound in [low, high] {
            resolve_params(&unbounded, &[(info.name.to_owned(), bound.clone())])
                .map_err(|error| refused("range of", &error))?;
        }
    }
    Ok(info)
}

fn kind_of(name: &str, default: &Bound<'_, PyAny>, choices: Vec<String>) -> PyResult<ParamKind> {
    if default.is_instance_of::<PyBool>() {
        return Ok(ParamKind::Switch);
    }
    if default.is_instance_of::<PyInt>() {
        return Ok(ParamKind::Count);
    }
    if default.is_instance_of::<PyFloat>() {
        return Ok(ParamKind::Number);
    }
    let text: String = default.extract()?;
    if !choices.is_empty() {
        let words: Vec<&'static str> = choices.into_iter().map(|word| &*word.leak()).collect();
        return Ok(ParamKind::Choice(words.leak()));
    }
    if Duration::from_text(&text).is_ok() {
        return Ok(ParamKind::Time);
    }
    if Rate::from_text(&text).is_ok() {
        return Ok(ParamKind::Rate);
    }
    if Bytes::from_text(&text).is_ok() {
        return Ok(ParamKind::Size);
    }
    Err(PyValueError::new_err(format!(
        "default of `{name}`: \"{text}\" is no time, rate or size with its unit, and there are no `choices`"
    )))
}

fn plain(name: &str, value: &Bound<'_, PyAny>, kind: ParamKind) -> PyResult<ParamValue> {
    let read = match kind {
        ParamKind::Number => value.extract().map(ParamValue::Float),
        ParamKind::Count => value.extract().map(ParamValue::Int),
        ParamKind::Switch => value.extract().map(ParamValue::Bool),
        ParamKind::Time | ParamKind::Rate | ParamKind::Size | ParamKind::Choice(_) => {
            value.extract().map(ParamValue::Text)
        }
    };
    read.map_err(|_| PyValueError::new_err(format!("`{name}`: {value} is not a {}", kind.name())))
}

fn family(word: &str) -> PyResult<Family> {
    match word {
        "ip" => Ok(Family::Ip),
        "ndn" => Ok(Family::Ndn),
        _ => Err(PyValueError::new_err(format!("families: `{word}` is neither \"ip\" nor \"ndn\""))),
    }
}

fn ecn_use(word: &str) -> PyResult<EcnUse> {
    let feedback = match word {
        "classic" => EcnFeedback::Classic,
        "dctcp" => EcnFeedback::Dctcp,
        "accurate" | "l4s" => EcnFeedback::Accurate,
        _ => {
            return Err(PyValueError::new_err(format!(
                "ecn: `{word}` is none of \"classic\", \"dctcp\", \"accurate\", \"l4s\""
            )));
        }
    };
    Ok(EcnUse { feedback, l4s: word == "l4s" })
}
