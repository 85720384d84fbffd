//! Conversion between plain Python values and scenario values.

use lab::{Axis, Problems};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use toml::{Table, Value};

use crate::errors::refused;

/// Maximum nesting of tables and lists.
const MAX_DEPTH: usize = 64;

/// A dict as a table, without keys whose value is None.
pub fn table_of(dict: &Bound<'_, PyDict>) -> PyResult<Table> {
    table(dict.iter(), 0)
}

/// A dict as a table; None is an error.
pub fn table_of_all(dict: &Bound<'_, PyDict>) -> PyResult<Table> {
    dict.iter().map(|(key, item)| Ok((key_of(&key)?, required(&item)?))).collect()
}

/// A dict of lists as the axes of a grid.
pub fn axes(dict: &Bound<'_, PyDict>) -> PyResult<Vec<Axis>> {
    let values = |list: Bound<'_, PyAny>| -> PyResult<Vec<Value>> {
        list.try_iter()?.map(|item| required(&item?)).collect()
    };
    dict.iter().map(|(key, list)| Ok((key_of(&key)?, values(list)?))).collect()
}

/// A table as a dict.
pub fn dict<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    table.iter().try_for_each(|(key, value)| dict.set_item(key, object(py, value)?))?;
    Ok(dict)
}

fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Integer(number) => PyInt::new(py, *number).into_any(),
        Value::Float(number) => PyFloat::new(py, *number).into_any(),
        Value::Boolean(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Datetime(date) => PyString::new(py, &date.to_string()).into_any(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| object(py, item)).collect::<PyResult<_>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Table(table) => dict(py, table)?.into_any(),
    })
}

fn key_of(key: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(key.str()?.to_str()?.to_owned())
}

fn required(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    value_of(value, 0)?.ok_or_else(|| foreign(value))
}

/// `None` for None.
fn value_of(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Option<Value>> {
    if depth > MAX_DEPTH {
        return Err(whole(value.py(), format!("tables and lists lie more than {MAX_DEPTH} deep")));
    }
    if value.is_none() {
        return Ok(None);
    }
    Ok(Some(if let Ok(text) = value.cast::<PyString>() {
        Value::String(text.to_str()?.to_owned())
    } else if let Ok(value) = value.cast::<PyBool>() {
        Value::Boolean(value.is_true())
    } else if value.is_instance_of::<PyInt>() {
        let number = value.extract::<i64>();
        Value::Integer(number.map_err(|_| whole(value.py(), format!("the number {value} is too large")))?)
    } else if let Ok(number) = value.cast::<PyFloat>() {
        Value::Float(number.value())
    } else if let Ok(dict) = value.cast::<PyDict>() {
        Value::Table(table(dict.iter(), depth + 1)?)
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let mut items = Vec::new();
        for item in value.try_iter()? {
            items.extend(value_of(&item?, depth + 1)?);
        }
        Value::Array(items)
    } else if let Ok(mapping) = value.cast::<PyMapping>() {
        let pairs: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)> = mapping.items()?.extract()?;
        Value::Table(table(pairs.into_iter(), depth + 1)?)
    } else if let Ok(plain) = value.call_method0("tolist") {
        // numbers, switches and arrays of NumPy, series of pandas
        return value_of(&plain, depth + 1);
    } else {
        return Err(foreign(value));
    }))
}

fn table<'py>(
    pairs: impl Iterator<Item = (Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    depth: usize,
) -> PyResult<Table> {
    let mut table = Table::new();
    for (key, item) in pairs {
        if let Some(value) = value_of(&item, depth)? {
            table.insert(key_of(&key)?, value);
        }
    }
    Ok(table)
}

fn foreign(value: &Bound<'_, PyAny>) -> PyErr {
    match value.get_type().name() {
        Ok(name) => PyTypeError::new_err(format!(
            "a scenario has text, numbers, switches, lists and tables; not {name}"
        )),
        Err(error) => error,
    }
}

fn whole(py: Python<'_>, message: String) -> PyErr {
    refused(py, &Problems::whole("<python>", message, None))
}
