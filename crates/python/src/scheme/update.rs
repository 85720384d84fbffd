//! A window update in Python, in the frame of the built-in ones: slow start, threshold, minimum, one reduction per
//! episode, undo.

use std::sync::Arc;

use contract::{Cut as CutInput, Cx, ParamList, Setup, WindowUpdate};
use pyo3::prelude::*;
use units::Segments;

use super::inputs::{Ack, Cut};
use super::run::Run;
use super::{Calls, Class};

/// The expected return value of a method.
const WINDOW: &str = "the window in segments, a number above 0";

/// Calls the methods of an object of a class for which `thalweg.WindowUpdate` is the base.
pub(super) struct PyUpdate {
    calls: Calls,
    /// None after an exception.
    methods: Option<Methods>,
}

struct Methods {
    object: Py<PyAny>,
    congestion_avoidance: Py<PyAny>,
    ssthresh: Py<PyAny>,
    slow_start: Option<Py<PyAny>>,
    pause: Option<Py<PyAny>>,
}

impl PyUpdate {
    /// The update of one connection. What its class raises ends the run.
    pub(super) fn new(class: &Arc<Class>, run: Arc<Run>, params: &ParamList, setup: &Setup) -> Self {
        let mut calls = Calls::new(class, run);
        let made = Python::attach(|py| {
            class.object(py, params, setup).and_then(|object| Methods::of(class, object.into_bound(py)))
        });
        let methods = made.map_err(|error| calls.fail(error, "__init__", None)).ok();
        Self { calls, methods }
    }

    /// The window that a method returns; `None` after an exception.
    fn window<const N: usize>(
        &mut self,
        cx: &Cx<'_>,
        name: &str,
        method: impl Fn(&Methods) -> &Py<PyAny>,
        window: Segments,
        input: impl FnOnce(Python<'_>) -> PyResult<[Bound<'_, PyAny>; N]>,
        may_be_none: bool,
    ) -> Option<Option<Segments>> {
        let methods = self.methods.as_ref()?;
        let class = self.calls.class.clone();
        self.calls.call(cx, name, &methods.object, |py| {
            let mut arguments = vec![window.0.into_pyobject(py)?.into_any()];
            arguments.extend(input(py)?);
            let arguments = pyo3::types::PyTuple::new(py, arguments)?;
            let returned = method(methods).bind(py).call1(arguments)?;
            if may_be_none && returned.is_none() {
                return Ok(None);
            }
            match returned.extract::<f64>() {
                Ok(next) if next.is_finite() && next > 0.0 => Ok(Some(Segments(next))),
                _ => Err(class.returned(name, &returned, WINDOW)),
            }
        })
    }
}

impl Methods {
    fn of(class: &Class, object: Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self {
            congestion_avoidance: object.getattr("congestion_avoidance")?.unbind(),
            ssthresh: object.getattr("ssthresh")?.unbind(),
            slow_start: class.method(&object, "slow_start")?,
            pause: class.method(&object, "pause")?,
            object: object.unbind(),
        })
    }
}

/// The state before a reduction, to be restored if it was spurious, is a `copy.copy` of the object.
impl Clone for PyUpdate {
    fn clone(&self) -> Self {
        let calls = Calls {
            class: self.calls.class.clone(),
            run: self.calls.run.clone(),
            begun: self.calls.begun,
            failed: self.calls.failed,
        };
        let mut copy = Self { calls, methods: None };
        if let Some(methods) = &self.methods {
            let made = Python::attach(|py| {
                let object = py.import("copy")?.call_method1("copy", (methods.object.bind(py),))?;
                Methods::of(&copy.calls.class, object)
            });
            copy.methods = made.map_err(|error| copy.calls.fail(error, "__copy__", None)).ok();
        }
        copy
    }
}

impl WindowUpdate for PyUpdate {
    fn congestion_avoidance(&mut self, window: Segments, ack: &contract::Ack, cx: &mut Cx<'_>) -> Segments {
        let input = Ack::of(ack, cx);
        let next = self.window(
            cx,
            "congestion_avoidance",
            |methods| &methods.congestion_avoidance,
            window,
            |py| Ok([Bound::new(py, input)?.into_any()]),
            false,
        );
        next.flatten().unwrap_or(window)
    }

    fn slow_start(
        &mut self,
        window: Segments,
        step: Segments,
        ack: &contract::Ack,
        cx: &mut Cx<'_>,
    ) -> Option<Segments> {
        let grown = Segments(window.0 + step.0);
        if self.methods.as_ref().is_none_or(|methods| methods.slow_start.is_none()) {
            return Some(grown);
        }
        let input = Ack::of(ack, cx);
        let next = self.window(
            cx,
            "slow_start",
            |methods| methods.slow_start.as_ref().unwrap_or(&methods.congestion_avoidance),
            window,
            |py| Ok([step.0.into_pyobject(py)?.into_any(), Bound::new(py, input)?.into_any()]),
            true,
        );
        next.unwrap_or(Some(grown))
    }

    fn ssthresh(&mut self, window: Segments, cut: &CutInput, cx: &mut Cx<'_>) -> Segments {
        let input = Cut::of(cut, cx);
        let next = self.window(
            cx,
            "ssthresh",
            |methods| &methods.ssthresh,
            window,
            |py| Ok([Bound::new(py, input)?.into_any()]),
            false,
        );
        next.flatten().unwrap_or(window)
    }

    fn integer_cwnd(&self) -> bool {
        self.calls.class.integer_cwnd
    }

    fn pause(&mut self, ack: &contract::Ack, cx: &mut Cx<'_>) {
        let Some(Methods { object, pause: Some(pause), .. }) = &self.methods else { return };
        let input = Ack::of(ack, cx);
        self.calls.call(cx, "pause", object, |py| pause.bind(py).call1((Bound::new(py, input)?,)).map(drop));
    }
}
