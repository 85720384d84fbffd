//! A congestion controller in Python: it is observed of every event that its class asks for, and sets a window and a
//! rate.

use std::sync::Arc;

use contract::{Cause, CongestionControl, Cx, Idle, ParamList, Setup};
use pyo3::PyClass;
use pyo3::prelude::*;
use units::{Bytes, Duration, Time};

use super::inputs::{Ack, Congestion, Delivery, Lost, Sent, Tally, cause};
use super::run::Run;
use super::{Allowance, Calls, Class, Interval};

/// Calls the callbacks of an object of a class for which `thalweg.CongestionControl` is the base.
pub(super) struct PyControl {
    calls: Calls,
    /// None after an exception at the start.
    callbacks: Option<Callbacks>,
    allowed: contract::Allowance,
    ssthresh: Bytes,
    segment: Bytes,
    interval: Option<Interval>,
    /// End of the current interval; [`Time::NEVER`] before the first event.
    due: Time,
    in_interval: Tally,
    in_round: Tally,
}

struct Callbacks {
    object: Py<PyAny>,
    ack: Option<Py<PyAny>>,
    congestion: Option<Py<PyAny>>,
    delivery: Option<Py<PyAny>>,
    lost: Option<Py<PyAny>>,
    sent: Option<Py<PyAny>>,
    round: Option<Py<PyAny>>,
    interval: Option<Py<PyAny>>,
    handshake: Option<Py<PyAny>>,
    recovered: Option<Py<PyAny>>,
    spurious: Option<Py<PyAny>>,
    idle: Option<Py<PyAny>>,
}

impl PyControl {
    /// The controller of one connection. What its class raises ends the run.
    pub(super) fn new(class: &Arc<Class>, run: Arc<Run>, params: &ParamList, setup: &Setup) -> Self {
        let mut calls = Calls::new(class, run);
        let made = Python::attach(|py| {
            let object = class.object(py, params, setup)?;
            Callbacks::of(class, object.into_bound(py))
        });
        let callbacks = made.map_err(|error| calls.fail(error, "__init__", None)).ok();
        let mut control = Self {
            calls,
            callbacks,
            allowed: contract::Allowance::window(setup.initial_window),
            ssthresh: Bytes::UNLIMITED,
            segment: setup.segment,
            interval: class.interval.filter(|_| class.defines("on_interval")),
            due: Time::NEVER,
            in_interval: Tally::new(Time::ZERO),
            in_round: Tally::new(Time::ZERO),
        };
        if let Err(error) = Python::attach(|py| control.read(py)) {
            control.calls.fail(error, "__init__", None);
        }
        control
    }

    /// Reads the window and the rate of the object.
    fn read(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(callbacks) = &self.callbacks else { return Ok(()) };
        let set = *callbacks.object.bind(py).cast::<Allowance>()?.try_borrow()?;
        self.allowed = set.limits(self.segment);
        self.ssthresh = Allowance { window: set.ssthresh, ..set }.limits(Bytes::ZERO).window;
        Ok(())
    }

    /// The first event begins the intervals.
    fn begin(&mut self, now: Time) {
        if self.due == Time::NEVER
            && let Some(interval) = self.interval
        {
            self.due = now + interval.now(Duration::MAX);
            self.in_interval = Tally::new(now);
            self.in_round = Tally::new(now);
        }
    }

    /// Calls a callback, if the class defines it, and reads the window and the rate that it set.
    fn call<'a, A>(
        &mut self,
        cx: &Cx<'_>,
        name: &str,
        callback: impl Fn(&Callbacks) -> Option<&Py<PyAny>>,
        argument: A,
    ) where
        A: FnOnce(Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> + 'a,
    {
        let Some(callbacks) = &self.callbacks else { return };
        let Some(callback) = callback(callbacks) else { return };
        let class = self.calls.class.clone();
        let segment = self.segment;
        let set = self.calls.call(cx, name, &callbacks.object, |py| {
            let returned = match argument(py)? {
                Some(argument) => callback.bind(py).call1((argument,))?,
                None => callback.bind(py).call0()?,
            };
            if !returned.is_none() {
                let expected = "nothing: set self.window in bytes, or self.rate in bit/s";
                return Err(class.returned(name, &returned, expected));
            }
            Ok(*callbacks.object.bind(py).cast::<Allowance>()?.try_borrow()?)
        });
        if let Some(set) = set {
            self.allowed = set.limits(segment);
            self.ssthresh = Allowance { window: set.ssthresh, ..set }.limits(Bytes::ZERO).window;
        }
    }
}

impl Callbacks {
    fn of(class: &Class, object: Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self {
            ack: class.method(&object, "on_ack")?,
            congestion: class.method(&object, "on_congestion")?,
            delivery: class.method(&object, "on_delivery")?,
            lost: class.method(&object, "on_lost")?,
            sent: class.method(&object, "on_sent")?,
            round: class.method(&object, "on_round")?,
            interval: class.method(&object, "on_interval")?,
            handshake: class.method(&object, "on_handshake")?,
            recovered: class.method(&object, "on_recovered")?,
            spurious: class.method(&object, "on_spurious")?,
            idle: class.method(&object, "on_idle")?,
            object: object.unbind(),
        })
    }
}

/// An argument of a callback.
fn input<T: PyClass + Into<PyClassInitializer<T>>>(
    py: Python<'_>,
    value: T,
) -> PyResult<Option<Bound<'_, PyAny>>> {
    Ok(Some(Bound::new(py, value)?.into_any()))
}

impl CongestionControl for PyControl {
    fn on_ack(&mut self, ack: &contract::Ack, cx: &mut Cx<'_>) {
        self.begin(cx.now());
        self.in_interval.on_ack(ack);
        self.in_round.on_ack(ack);
        let observed = Ack::of(ack, cx);
        self.call(cx, "on_ack", |callbacks| callbacks.ack.as_ref(), |py| input(py, observed));
        if ack.round_ended {
            let observed = self.in_round.close(cx.now());
            self.call(cx, "on_round", |callbacks| callbacks.round.as_ref(), |py| input(py, observed));
        }
    }

    fn on_congestion(&mut self, event: &contract::Congestion, cx: &mut Cx<'_>) {
        self.in_interval.on_congestion(event);
        self.in_round.on_congestion(event);
        let observed = Congestion::of(event, cx);
        self.call(cx, "on_congestion", |callbacks| callbacks.congestion.as_ref(), |py| input(py, observed));
    }

    fn allowance(&self) -> contract::Allowance {
        self.allowed
    }

    fn samples_delivery(&self) -> bool {
        self.calls.class.defines("on_delivery") || self.calls.class.defines("on_lost")
    }

    fn on_delivery(&mut self, delivery: &contract::Delivery, cx: &mut Cx<'_>) {
        let observed = Delivery::of(delivery, cx);
        self.call(cx, "on_delivery", |callbacks| callbacks.delivery.as_ref(), |py| input(py, observed));
    }

    fn on_lost(&mut self, lost: &contract::Lost, cx: &mut Cx<'_>) {
        let observed = Lost::of(lost, cx);
        self.call(cx, "on_lost", |callbacks| callbacks.lost.as_ref(), |py| input(py, observed));
    }

    fn on_sent(&mut self, sent: &contract::Sent, cx: &mut Cx<'_>) {
        self.begin(cx.now());
        self.in_interval.on_sent(sent);
        self.in_round.on_sent(sent);
        let observed = Sent::of(sent, cx);
        self.call(cx, "on_sent", |callbacks| callbacks.sent.as_ref(), |py| input(py, observed));
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        let Some(interval) = self.interval.filter(|_| self.due <= now) else { return };
        let observed = self.in_interval.close(now);
        self.due = now + interval.now(self.in_interval.rtt_smoothed());
        self.call(cx, "on_interval", |callbacks| callbacks.interval.as_ref(), |py| input(py, observed));
    }

    fn wake(&self) -> Time {
        self.due
    }

    fn on_handshake(&mut self, rtt: Duration, cx: &mut Cx<'_>) {
        let observed = rtt.as_secs_f64();
        self.call(
            cx,
            "on_handshake",
            |callbacks| callbacks.handshake.as_ref(),
            |py| Ok(Some(observed.into_pyobject(py)?.into_any())),
        );
    }

    fn on_recovered(&mut self, began: Cause, cx: &mut Cx<'_>) {
        let observed = cause(began);
        self.call(
            cx,
            "on_recovered",
            |callbacks| callbacks.recovered.as_ref(),
            |py| Ok(Some(observed.into_pyobject(py)?.into_any())),
        );
    }

    fn on_spurious(&mut self, cx: &mut Cx<'_>) {
        self.call(cx, "on_spurious", |callbacks| callbacks.spurious.as_ref(), |_| Ok(None));
    }

    fn on_idle(&mut self, idle: &Idle, cx: &mut Cx<'_>) {
        let observed = idle.time.as_secs_f64();
        self.call(
            cx,
            "on_idle",
            |callbacks| callbacks.idle.as_ref(),
            |py| Ok(Some(observed.into_pyobject(py)?.into_any())),
        );
    }

    fn ssthresh(&self) -> Bytes {
        self.ssthresh
    }
}
