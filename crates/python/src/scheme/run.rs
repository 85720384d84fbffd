//! A run whose schemes can raise: the first exception of one of them stops it, and is raised when it has ended.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use contract::{FlowId, ParamError};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use units::Time;

use super::seat::Seat;

/// What the schemes of a run share.
pub(crate) struct Run {
    control: Arc<sim::Control>,
    pub(super) seed: u64,
    flows: Vec<String>,
    failure: Mutex<Option<Failure>>,
    /// Of a simulation that is advanced step by step.
    steps: Option<Stepping>,
}

/// The current step, and the controllers that are steered, by flow.
struct Stepping {
    end_ns: AtomicU64,
    seats: Mutex<Vec<Option<Arc<Mutex<Seat>>>>>,
}

struct Failure {
    scheme: &'static str,
    /// Class and method.
    method: String,
    at: Option<(FlowId, Time)>,
    error: PyErr,
}

thread_local! {
    /// The run of this thread: a network is built and run in one thread, and a scheme is made without knowing in which network.
    static CURRENT: RefCell<Option<Arc<Run>>> = const { RefCell::new(None) };
}

/// Runs a network of `blueprint` in this thread by `work`. Raises `SchemeError` if a scheme raised.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    blueprint: &sim::Blueprint,
    control: &Arc<sim::Control>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let run = Run::new(blueprint, control, false);
    let done = run.during(py, work);
    run.outcome(py).map(|()| done)
}

impl Run {
    fn new(blueprint: &sim::Blueprint, control: &Arc<sim::Control>, stepped: bool) -> Arc<Self> {
        let steps =
            || Stepping { end_ns: AtomicU64::new(0), seats: Mutex::new(vec![None; blueprint.flows.len()]) };
        Arc::new(Self {
            steps: stepped.then(steps),
            control: control.clone(),
            seed: blueprint.seed,
            flows: blueprint.flows.iter().map(|flow| flow.name.to_string()).collect(),
            failure: Mutex::new(None),
        })
    }

    /// The run of this thread.
    pub(super) fn current() -> Option<Arc<Self>> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Calls `work` without the interpreter lock, as a part of this run.
    fn during<T: Send>(self: &Arc<Self>, py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
        py.detach(|| {
            let outer = CURRENT.replace(Some(self.clone()));
            let done = work();
            CURRENT.set(outer);
            done
        })
    }

    /// The name of a flow.
    pub(super) fn flow(&self, flow: FlowId) -> &str {
        self.flows.get(flow.index()).map_or("", String::as_str)
    }

    /// Keeps the first exception, and stops the run.
    pub(super) fn fail(
        &self,
        scheme: &'static str,
        method: impl Into<String>,
        at: Option<(FlowId, Time)>,
        error: PyErr,
    ) {
        self.control.stop.store(true, Ordering::Relaxed);
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| Failure { scheme, method: method.into(), at, error });
    }

    /// Raises `thalweg.errors.SchemeError` from the exception of a scheme; Ctrl-C and the like are raised as they are.
    fn outcome(&self, py: Python<'_>) -> PyResult<()> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(failure) = failure else { return Ok(()) };
        if !failure.error.is_instance_of::<PyException>(py) {
            return Err(failure.error);
        }
        let method = failure.method;
        let keys = PyDict::new(py);
        keys.set_item("scheme", failure.scheme)?;
        keys.set_item("method", &method)?;
        let mut place = String::new();
        if let Some((flow, at)) = failure.at {
            let (flow, time_s) = (self.flow(flow), at.as_secs_f64());
            keys.set_item("flow", flow)?;
            keys.set_item("time_s", time_s)?;
            place = format!(" of flow `{flow}` at {time_s} s");
        }
        let message = format!("scheme `{}`, {method}{place}: {}", failure.scheme, failure.error);
        let raised = py.import("thalweg.errors")?.getattr("SchemeError")?.call((message,), Some(&keys))?;
        let raised = PyErr::from_value(raised);
        raised.set_cause(py, Some(failure.error));
        Err(raised)
    }
}

impl Run {
    pub(super) fn is_stepped(&self) -> bool {
        self.steps.is_some()
    }

    /// The end of the current step.
    pub(super) fn step_end(&self) -> Time {
        self.steps
            .as_ref()
            .map_or(Time::NEVER, |steps| Time::from_nanos(steps.end_ns.load(Ordering::Relaxed)))
    }

    /// Makes the controller of a flow known to the environment; that of its last start replaces earlier ones.
    pub(super) fn seat(&self, flow: FlowId, seat: &Arc<Mutex<Seat>>) {
        if let Some(steps) = &self.steps {
            let mut seats = steps.seats.lock().unwrap_or_else(PoisonError::into_inner);
            seats[flow.index()] = Some(seat.clone());
        }
    }
}

/// The run of a simulation that is advanced step by step.
pub(crate) struct Steps(Arc<Run>);

impl Steps {
    pub(crate) fn new(blueprint: &sim::Blueprint, control: &Arc<sim::Control>) -> Self {
        Self(Run::new(blueprint, control, true))
    }

    /// Calls `work` without the interpreter lock. Raises `SchemeError` if a scheme raised.
    pub(crate) fn during<T: Send>(&self, py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
        let done = self.0.during(py, work);
        self.0.outcome(py).map(|()| done)
    }

    /// The controller of a flow; `None` before its first event.
    pub(crate) fn seat(&self, flow: FlowId) -> Option<Arc<Mutex<Seat>>> {
        let seats = self.0.steps.as_ref()?.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.get(flow.index())?.clone()
    }

    pub(crate) fn end_step_at(&self, at: Time) {
        if let Some(steps) = &self.0.steps {
            steps.end_ns.store(at.as_nanos(), Ordering::Relaxed);
        }
    }
}

/// The error of a scheme that is made elsewhere than in a simulation.
pub(super) fn outside(name: &str) -> ParamError {
    ParamError {
        name: name.to_owned(),
        message: "a scheme written in Python runs in simulations only".to_owned(),
        hint: None,
        conflicts_with: None,
    }
}
