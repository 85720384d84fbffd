//! An emulation from its blueprint to its trace.

use std::path::PathBuf;
use std::time::Instant;

use contract::{EndpointId, FlowId, ParamError};
use sim::{Blueprint, Control, Observers, Trace, World};
use units::{Duration, Time};

use crate::driver::drive;
use crate::gates::Gates;
use crate::platform::{EndpointReport, LiveEndpoint, Platform, ProgramUpdate};
use crate::{Accuracy, Lateness};

/// Settings of the host's part of an emulation.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Time before a due event in which the loop does not sleep: more CPU time, less lateness.
    pub spin: Duration,
    /// Minimum interval between two looks at the devices: less CPU time at high packet rates, more lateness. For several emulations on one
    /// host.
    pub poll_interval: Duration,
    /// Gives the threads of the loop and of the kernel's TCP real-time priority, which needs the privilege. The loop then sleeps for a
    /// twelfth of the time, because the kernel would stop it for longer otherwise.
    pub urgent: bool,
    /// Folder for the output of commands; `None` discards it.
    pub logs: Option<PathBuf>,
}

impl Default for Settings {
    /// `spin` 50 µs, no minimum interval, normal priority, no logs.
    fn default() -> Self {
        Self { spin: Duration::from_micros(50), poll_interval: Duration::ZERO, urgent: false, logs: None }
    }
}

/// The result of an emulation.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The trace, as of a simulation.
    pub trace: Trace,
    /// The accuracy.
    pub accuracy: Accuracy,
    /// Whether the run reached its end; otherwise it was stopped.
    pub complete: bool,
}

/// Why an emulation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The blueprint is invalid.
    #[error("{}: {}", .0.name, .0.message)]
    Refused(ParamError),
    /// The process has no permission to make network namespaces.
    #[error("emulation needs root, or CAP_SYS_ADMIN and CAP_NET_ADMIN: {what} was refused ({source})")]
    NotPermitted {
        /// The operation that was rejected.
        what: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The system is not Linux.
    #[error("real nodes need Linux")]
    NotLinux,
    /// The kernel has no such congestion control.
    #[error("the kernel has no congestion control `{name}`; it has {available}")]
    NoCongestionControl {
        /// The requested name.
        name: String,
        /// The available names.
        available: String,
    },
    /// The kernel cannot be configured for a setting of the scenario's `tcp`.
    #[error("flow `{flow}`: {message}")]
    Setting {
        /// The flow.
        flow: String,
        /// The setting and the reason.
        message: String,
    },
    /// Another error of the system.
    #[error("{what}: {source}")]
    System {
        /// The operation that failed.
        what: String,
        /// The error of the system.
        source: std::io::Error,
    },
}

/// Emulates `blueprint` in real time. Returns after its duration, or soon after `control` stops it. `observers` capture its links and log its controllers. Namespaces,
/// devices, processes and files of the emulation are removed when it returns, also after an error.
pub fn run(
    blueprint: &Blueprint,
    settings: &Settings,
    control: &Control,
    observers: Observers,
) -> Result<Outcome, Error> {
    let mut world = World::new(blueprint).map_err(Error::Refused)?;
    let gates = Gates::open(blueprint, &mut world);
    world.observe(observers);
    let accuracy = if gates.count() == 0 {
        drive(&mut world, &gates, blueprint, control, &mut Alone::new(settings))
    } else {
        with_programs(&mut world, &gates, blueprint, settings, control)?
    };
    world.take_tap();
    let trace = world.finish();
    let complete = trace.ended_at.saturating_since(Time::ZERO) >= blueprint.duration;
    Ok(Outcome { trace, accuracy, complete })
}

#[cfg(target_os = "linux")]
fn with_programs(
    world: &mut World,
    gates: &Gates,
    blueprint: &Blueprint,
    settings: &Settings,
    control: &Control,
) -> Result<Accuracy, Error> {
    crate::linux::emulate(world, gates, blueprint, settings, control)
}

#[cfg(not(target_os = "linux"))]
fn with_programs(
    _: &mut World,
    _: &Gates,
    _: &Blueprint,
    _: &Settings,
    _: &Control,
) -> Result<Accuracy, Error> {
    Err(Error::NotLinux)
}

/// The platform of a network without programs, which needs only a clock.
struct Alone {
    began: Instant,
    spin: Duration,
}

impl Alone {
    fn new(settings: &Settings) -> Self {
        Self { began: Instant::now(), spin: settings.spin }
    }
}

impl Platform for Alone {
    fn now(&mut self) -> Time {
        since(self.began)
    }

    fn wait(&mut self, until: Time, _: &mut Vec<usize>) -> Time {
        let now = self.now();
        let remaining = until.saturating_since(now).saturating_sub(self.spin);
        if remaining > Duration::ZERO {
            std::thread::sleep(std::time::Duration::from_nanos(remaining.as_nanos()));
        }
        now
    }

    fn receive(&mut self, _: usize, _: &mut [u8]) -> Option<usize> {
        None
    }

    fn send(&mut self, _: usize, _: &[u8]) -> bool {
        false
    }

    fn start(&mut self, _: FlowId) {}

    fn stop(&mut self, _: FlowId) {}

    fn program_updates(&mut self, _: &mut dyn FnMut(ProgramUpdate)) {}

    fn start_endpoint(&mut self, _: EndpointId, _: LiveEndpoint) {}

    fn stop_endpoint(&mut self, _: EndpointId) {}

    fn mode(&mut self, _: EndpointId, _: &str) {}

    fn endpoint_reports(&mut self, _: &mut dyn FnMut(EndpointId, &EndpointReport)) {}
}

/// Time since an instant.
pub(crate) fn since(began: Instant) -> Time {
    Time::from_nanos(began.elapsed().as_nanos() as u64)
}

impl Accuracy {
    /// Rows for display: name, and 50th, 99th, 99.9th percentile and maximum; without empty ones.
    pub fn rows(&self) -> Vec<(&'static str, [Duration; 4])> {
        let row = |name, what: &Lateness| {
            let at = |share| what.percentile(share);
            Some((name, [at(0.5)?, at(0.99)?, at(0.999)?, what.max()]))
        };
        let rows = [
            row("departures", &self.departures),
            row("pickups", &self.pickups),
            row("endpoints", &self.endpoints),
            row("events", &self.events),
        ];
        rows.into_iter().flatten().collect()
    }
}
