//! The controller of a flow that an environment steers: it counts what happens in a step, and takes the window and the
//! rate that the environment sets between two steps.

use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use contract::{
    Ack, Allowance, Congestion, CongestionControl, Cx, Documented, Family, ParamError, Scheme, Sent, Setup,
};
use pyo3::exceptions::PyRuntimeError;
use schemes::{AnyControl, Build, Entry};
use units::{Duration, Time};

use super::inputs::Tally;
use super::run::{Run, outside};
use super::seat::{Seat, taken};

/// The scheme of such flows.
pub(crate) const NAME: &str = "agent";

struct Agent {
    seat: Arc<Mutex<Seat>>,
    run: Arc<Run>,
    allowed: Allowance,
    /// When the current step ends; [`Time::NEVER`] before the first event.
    due: Time,
}

/// Adds the scheme `agent` to the catalogue.
pub(crate) fn register() {
    static ONCE: LazyLock<()> = LazyLock::new(|| {
        let entry = Entry {
            scheme: Scheme {
                name: NAME,
                title: "A flow that an environment of thalweg.gym steers",
                families: &[Family::Ip],
                sources: &[],
                documented: Documented::Full,
                series: &[],
                reorder: 1,
                needs: &[],
            },
            params: &Vec::new,
            resolve: &|given| contract::resolve_params(&[], given),
            build: Build::Control(&|_, setup| Ok(AnyControl::Custom(Box::new(Agent::new(setup)?)))),
            strategy: None,
            link: None,
            app: None,
        };
        schemes::register(entry).expect("no built-in scheme has this name");
    });
    LazyLock::force(&ONCE);
}

impl Agent {
    fn new(setup: &Setup) -> Result<Self, ParamError> {
        let run = Run::current().ok_or_else(|| outside(NAME))?;
        if !run.is_stepped() {
            let error = PyRuntimeError::new_err(
                "it is steered by an environment of thalweg.gym, which this run lacks",
            );
            run.fail(NAME, "thalweg.gym", None, error);
        }
        let seat = Seat { tally: Tally::new(Time::ZERO), action: None, setup: *setup };
        Ok(Self {
            seat: Arc::new(Mutex::new(seat)),
            run,
            allowed: Allowance::window(setup.initial_window),
            due: Time::NEVER,
        })
    }

    /// At the first event the environment learns of this controller.
    fn seat(&mut self, cx: &Cx<'_>) -> MutexGuard<'_, Seat> {
        let mut seat = taken(&self.seat);
        if self.due == Time::NEVER {
            self.due = self.run.step_end();
            seat.tally = Tally::new(cx.now());
            self.run.seat(cx.flow(), &self.seat);
        }
        seat
    }
}

impl CongestionControl for Agent {
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        self.seat(cx).tally.on_ack(ack);
    }

    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>) {
        self.seat(cx).tally.on_congestion(event);
    }

    fn on_sent(&mut self, sent: &Sent, cx: &mut Cx<'_>) {
        self.seat(cx).tally.on_sent(sent);
    }

    /// At the end of a step, where the simulation stops, and a nanosecond later, where the action of the environment
    /// takes effect.
    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        let action = self.seat(cx).action.take();
        if let Some(action) = action {
            self.allowed = action;
        }
        self.due = self.run.step_end().max(cx.now() + Duration::from_nanos(1));
    }

    fn allowance(&self) -> Allowance {
        self.allowed
    }

    fn wake(&self) -> Time {
        self.due
    }
}
