//! The window and the rate that an object in Python, or an environment, sets.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use units::{Bytes, Rate};

/// The window and the rate that an object has set.
#[pyclass(subclass, module = "thalweg._native")]
#[derive(Clone, Copy)]
pub struct Allowance {
    pub(super) window: f64,
    pub(super) rate: f64,
    pub(super) ssthresh: f64,
}

#[pymethods]
impl Allowance {
    #[new]
    #[pyo3(signature = (*_args, **_keys))]
    fn new(_args: &Bound<'_, PyTuple>, _keys: Option<&Bound<'_, PyDict>>) -> Self {
        Self { window: f64::INFINITY, rate: f64::INFINITY, ssthresh: f64::INFINITY }
    }

    /// Maximum payload in flight in bytes; `math.inf` for no limit. At least one segment is allowed.
    #[getter]
    fn window(&self) -> f64 {
        self.window
    }

    #[setter]
    fn set_window(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let window = checked(slf, "window", value, "a number of bytes, 0 or more")?;
        slf.borrow_mut().window = window;
        Ok(())
    }

    /// Pacing rate in bit/s, headers included; `math.inf` for no pacing.
    #[getter]
    fn rate(&self) -> f64 {
        self.rate
    }

    #[setter]
    fn set_rate(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let rate = checked(slf, "rate", value, "a number of bit/s, 1 or more")?;
        if rate < 1.0 {
            return Err(wrong(slf, "rate", value, "a number of bit/s, 1 or more")?);
        }
        slf.borrow_mut().rate = rate;
        Ok(())
    }

    /// Slow-start threshold in bytes, for the trace; `math.inf` without one.
    #[getter]
    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    #[setter]
    fn set_ssthresh(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let ssthresh = checked(slf, "ssthresh", value, "a number of bytes, 0 or more")?;
        slf.borrow_mut().ssthresh = ssthresh;
        Ok(())
    }
}

/// A number that is not negative.
fn checked(
    slf: &Bound<'_, Allowance>,
    name: &str,
    value: &Bound<'_, PyAny>,
    expected: &str,
) -> PyResult<f64> {
    match value.extract::<f64>() {
        Ok(number) if number >= 0.0 => Ok(number),
        _ => Err(wrong(slf, name, value, expected)?),
    }
}

fn wrong(
    slf: &Bound<'_, Allowance>,
    name: &str,
    value: &Bound<'_, PyAny>,
    expected: &str,
) -> PyResult<PyErr> {
    let class = slf.get_type().name()?;
    let message = format!("`{name}` of {class} is {expected}; not {}", value.repr()?);
    Ok(if value.extract::<f64>().is_ok() {
        PyValueError::new_err(message)
    } else {
        PyTypeError::new_err(message)
    })
}

impl Allowance {
    /// Window and rate from outside. Raises `ValueError`.
    pub(crate) fn of((window, rate): (f64, f64)) -> PyResult<Self> {
        if window >= 0.0 && rate >= 1.0 {
            return Ok(Self { window, rate, ssthresh: f64::INFINITY });
        }
        Err(PyValueError::new_err(format!(
            "a window of {window} bytes and a rate of {rate} bit/s are no action"
        )))
    }

    /// In the types of the core. A window below one segment would never send a packet.
    pub(crate) fn limits(self, segment: Bytes) -> contract::Allowance {
        let bytes =
            |bytes: f64| if bytes == f64::INFINITY { Bytes::UNLIMITED } else { Bytes::new(bytes as u64) };
        let window = bytes(self.window).max(segment);
        let rate = if self.rate == f64::INFINITY { Rate::UNLIMITED } else { Rate::from_bps_f64(self.rate) };
        contract::Allowance { window, rate }
    }
}
