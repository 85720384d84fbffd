//! Schemes that are written in Python: their registration, their calls, and the end of a run whose scheme raises.

pub(crate) mod agent;
mod allowance;
mod control;
mod inputs;
mod register;
mod run;
mod seat;
mod update;

pub use allowance::Allowance;
pub use inputs::{Ack, Congestion, Cut, Delivery, Lost, Sent, Summary};
pub use register::{register_agent, register_scheme};
pub(crate) use run::{Steps, run};
pub(crate) use seat::taken;

use std::sync::Arc;

use contract::{Cx, ParamInfo, ParamKind, ParamList, ParamValue, Setup};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use units::{Bytes, Duration, Rate, UnitText};

use run::Run;

/// A registered class.
pub(crate) struct Class {
    /// The scheme's name.
    name: &'static str,
    /// The name of the class.
    class: String,
    object: Py<PyType>,
    /// Names of the callbacks that the class defines.
    callbacks: Vec<String>,
    params: Vec<ParamInfo>,
    interval: Option<Interval>,
    integer_cwnd: bool,
}

/// The time between two calls of `on_interval`.
#[derive(Clone, Copy)]
pub(crate) enum Interval {
    Fixed(Duration),
    /// The smoothed round-trip time.
    RoundTrip,
}

/// An interval of a round trip before the first sample.
const FIRST_ROUND_TRIP: Duration = Duration::from_millis(100);

impl Interval {
    fn now(self, rtt_smoothed: Duration) -> Duration {
        match self {
            Self::Fixed(interval) => interval,
            Self::RoundTrip if rtt_smoothed == Duration::MAX => FIRST_ROUND_TRIP,
            Self::RoundTrip => rtt_smoothed.max(Duration::from_micros(1)),
        }
    }
}

impl Class {
    fn defines(&self, callback: &str) -> bool {
        self.callbacks.iter().any(|name| name == callback)
    }

    /// An object for one connection: with its parameters and the properties of its endpoint as attributes, then
    /// initialised.
    fn object(&self, py: Python<'_>, params: &ParamList, setup: &Setup) -> PyResult<Py<PyAny>> {
        let class = self.object.bind(py);
        let object = class.call_method1("__new__", (class,))?;
        object.setattr("segment_bytes", setup.segment.as_u64())?;
        object.setattr("header_bytes", setup.header.as_u64())?;
        object.setattr("initial_window_bytes", setup.initial_window.as_u64())?;
        if object.cast::<Allowance>().is_ok() {
            object.setattr("window", setup.initial_window.as_u64())?;
        }
        for (info, (name, value)) in self.params.iter().zip(params) {
            match (info.kind, value) {
                (ParamKind::Time, ParamValue::Text(text)) => {
                    object.setattr(name, Duration::from_text(text).map(Duration::as_secs_f64).ok())?;
                }
                (ParamKind::Rate, ParamValue::Text(text)) => {
                    object.setattr(name, Rate::from_text(text).map(Rate::as_bps).ok())?;
                }
                (ParamKind::Size, ParamValue::Text(text)) => {
                    object.setattr(name, Bytes::from_text(text).map(Bytes::as_u64).ok())?;
                }
                (_, ParamValue::Float(number)) => object.setattr(name, number)?,
                (_, ParamValue::Int(number)) => object.setattr(name, number)?,
                (_, ParamValue::Bool(switch)) => object.setattr(name, switch)?,
                (_, ParamValue::Text(text)) => object.setattr(name, text)?,
            }
        }
        object.call_method0("__init__")?;
        Ok(object.unbind())
    }

    /// The bound method of an object, if the class defines it.
    fn method(&self, object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Py<PyAny>>> {
        self.defines(name).then(|| object.getattr(name).map(Bound::unbind)).transpose()
    }

    /// The error for a return value of a method that means nothing.
    fn returned(&self, method: &str, value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
        let shown = value.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
        let kind = value.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        let what = if value.is_none() { "None".to_owned() } else { format!("{shown}, of type {kind}") };
        PyTypeError::new_err(format!("{}.{method} returned {what}; expected {expected}", self.class))
    }
}

/// The part of an object's life that all kinds of schemes share: its run, its random stream, and what happens when it
/// raises.
struct Calls {
    class: Arc<Class>,
    run: Arc<Run>,
    begun: bool,
    failed: bool,
}

impl Calls {
    fn new(class: &Arc<Class>, run: Arc<Run>) -> Self {
        Self { class: class.clone(), run, begun: false, failed: false }
    }

    /// Calls `with` unless the object has raised; what it raises ends the run.
    fn call<T>(
        &mut self,
        cx: &Cx<'_>,
        method: &str,
        object: &Py<PyAny>,
        with: impl FnOnce(Python<'_>) -> PyResult<T>,
    ) -> Option<T> {
        if self.failed {
            return None;
        }
        Python::attach(|py| {
            let called = self.begin(py, cx, object).and_then(|()| with(py));
            called.map_err(|error| self.fail(error, method, Some(cx))).ok()
        })
    }

    /// Names the object's stream of random numbers before its first call.
    fn begin(&mut self, py: Python<'_>, cx: &Cx<'_>, object: &Py<PyAny>) -> PyResult<()> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        let stream = format!("{}/{}/{}", self.run.seed, self.run.flow(cx.flow()), cx.now().as_nanos());
        object.bind(py).setattr("stream", PyString::new(py, &stream))
    }

    fn fail(&mut self, error: PyErr, method: &str, cx: Option<&Cx<'_>>) {
        self.failed = true;
        let at = cx.map(|cx| (cx.flow(), cx.now()));
        self.run.fail(self.class.name, format!("{}.{method}", self.class.class), at, error);
    }
}
