//! A simulation that a program advances step by step, for environments of reinforcement learning.

use std::sync::{Arc, Mutex, PoisonError};

use contract::FlowId;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sim::World;
use units::{Duration, Time};

use crate::run::Run;
use crate::scenario::Plan;
use crate::scheme::{Allowance, Steps, Summary, agent, taken};

/// A running network whose flows with the scheme `agent` are steered from outside.
#[pyclass(frozen, module = "thalweg._native")]
pub struct Simulation {
    plan: Arc<lab::Plan>,
    /// None after `finish`.
    world: Mutex<Option<World>>,
    control: Arc<sim::Control>,
    run: Steps,
    agents: Vec<FlowId>,
}

#[pymethods]
impl Simulation {
    /// Builds the network of a plan. Raises `SchemeError`.
    #[new]
    fn new(py: Python<'_>, plan: &Plan) -> PyResult<Self> {
        let (plan, control) = (plan.shared(), Arc::<sim::Control>::default());
        let run = Steps::new(&plan.blueprint, &control);
        let world = run.during(py, || World::new(&plan.blueprint))?;
        let world = world.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let steered = |flow: &sim::FlowSpec| flow.scheme.as_deref() == Some(agent::NAME);
        let flows = (0u32..).map(FlowId).zip(&plan.blueprint.flows);
        let agents = flows.filter(|(_, flow)| steered(flow)).map(|(id, _)| id).collect();
        Ok(Self { plan, world: Mutex::new(Some(world)), control, run, agents })
    }

    /// Names of the flows that are steered, in the order of the plan.
    #[getter]
    fn agents(&self) -> Vec<&str> {
        self.agents.iter().map(|id| self.plan.blueprint.flows[id.index()].name.as_str()).collect()
    }

    /// Simulated time reached, in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        let world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        world.as_ref().map_or(0.0, |world| world.now().as_secs_f64())
    }

    /// Segment and initial window of each agent in bytes; None before its flow starts.
    #[getter]
    fn setups(&self) -> Vec<Option<(u64, u64)>> {
        let setup = |id: &FlowId| {
            let seat = self.run.seat(*id)?;
            let seat = taken(&seat);
            Some((seat.setup().segment.as_u64(), seat.setup().initial_window.as_u64()))
        };
        self.agents.iter().map(setup).collect()
    }

    /// Sets the window in bytes and the rate in bit/s of each agent (None keeps them), and runs for `span_s` seconds.
    /// Returns whether the run is over, and what each agent saw: None before its flow starts. Raises `ValueError`, or
    /// `SchemeError`.
    fn step(
        &self,
        py: Python<'_>,
        actions: Vec<Option<(f64, f64)>>,
        span_s: f64,
    ) -> PyResult<(bool, Vec<Option<Summary>>)> {
        if !(span_s > 0.0 && span_s.is_finite()) {
            return Err(PyValueError::new_err(format!("a step of {span_s} s is not above 0")));
        }
        let actions = actions.into_iter().map(|action| action.map(Allowance::of).transpose());
        let actions = actions.collect::<PyResult<Vec<_>>>()?;
        let stepped = self.run.during(py, || {
            let mut world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
            let world = world.as_mut()?;
            for (id, action) in self.agents.iter().zip(actions) {
                if let (Some(seat), Some(action)) = (self.run.seat(*id), action) {
                    taken(&seat).act(action);
                }
            }
            let span = Duration::from_secs_f64(span_s).max(Duration::from_nanos(1));
            let until = (world.now() + span).min(Time::ZERO + self.plan.blueprint.duration);
            self.run.end_step_at(until);
            let over = world.run_until(until, &self.control);
            let now = world.now();
            let seen = self.agents.iter().map(|id| self.run.seat(*id).map(|seat| taken(&seat).close(now)));
            Some((over, seen.collect()))
        })?;
        stepped.ok_or_else(finished)
    }

    /// Ends the simulation; its result.
    fn finish(&self, py: Python<'_>) -> PyResult<Run> {
        let done = self.run.during(py, || {
            let world = self.world.lock().unwrap_or_else(PoisonError::into_inner).take()?;
            let trace = world.finish();
            let report = lab::report(&self.plan, &trace);
            Some((trace, report))
        })?;
        let (trace, report) = done.ok_or_else(finished)?;
        let complete = trace.ended_at.saturating_since(Time::ZERO) >= self.plan.blueprint.duration;
        Ok(Run::of(&trace, report, complete, None))
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the simulation is finished")
}
