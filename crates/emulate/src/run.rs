//! An emulation from its blueprint to its trace.

use std::time::Instant;

use contract::{EndpointId, FlowId};
use sim::{Blueprint, Control, Observers, Trace, World};
use units::{Duration, Time};

use crate::driver::drive;
use crate::gates::Gates;
use crate::platform::{EndpointReport, LiveEndpoint, Platform, ProgramUpdate, since};
use crate::{Accuracy, Error, Settings};

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

/// Emulates `blueprint` in real time. Returns after its duration, or soon after `control` stops it. `observers` capture
/// its links and log its controllers. Namespaces, devices, processes and files of the emulation are removed when it
/// returns, also after an error.
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
