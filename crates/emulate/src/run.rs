//! An emulation from its blueprint to its trace.

use std::path::PathBuf;
use std::time::Instant;

use contract::{EndpointId, FlowId, LinkId, ParamError};
use sim::{Blueprint, Control, Tap, Trace, World};
use units::{Duration, Time};

use crate::driver::drive;
use crate::gates::Gates;
use crate::platform::{LiveMachine, News, Platform, Said};
use crate::{Accuracy, Lateness};

/// How an emulation is run, apart from what the scenario says.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The loop does not sleep when something is due within this time: more processor time, less lateness.
    pub spin: Duration,
    /// The loop looks at most once in this time: less processor time where packets come faster, more lateness. For several
    /// emulations beside each other.
    pub poll_interval: Duration,
    /// Ask the system to prefer the loop, and what makes TCP's traffic, to all ordinary processes. Needs the right to. The loop then
    /// sleeps for a twelfth of the time at least: the system would take a thread that never does off its core for longer.
    pub urgent: bool,
    /// Where commands write what they have to say; nowhere when not given.
    pub logs: Option<PathBuf>,
}

impl Default for Settings {
    /// 50 µs; none; as any process; nowhere.
    fn default() -> Self {
        Self { spin: Duration::from_micros(50), poll_interval: Duration::ZERO, urgent: false, logs: None }
    }
}

/// What an emulation leaves.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// All that was recorded, as a simulation leaves it.
    pub trace: Trace,
    /// How well the machine kept up.
    pub accuracy: Accuracy,
    /// The run came to its end; otherwise it was stopped.
    pub complete: bool,
}

/// Why there is no emulation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The blueprint cannot be built.
    #[error("{}: {}", .0.name, .0.message)]
    Refused(ParamError),
    /// The process may not make networks.
    #[error("emulation needs root, or CAP_SYS_ADMIN and CAP_NET_ADMIN: {what} was refused ({source})")]
    NotPermitted {
        /// What was refused.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The system cannot do it.
    #[error("real nodes need Linux")]
    NotLinux,
    /// The kernel has no such congestion control.
    #[error("the kernel has no congestion control `{name}`; it has {available}")]
    NoCongestionControl {
        /// What was asked for.
        name: String,
        /// What there is.
        available: String,
    },
    /// The kernel cannot be told what the scenario wants of its TCP.
    #[error("flow `{flow}`: {message}")]
    Setting {
        /// The flow.
        flow: String,
        /// What, and why not.
        message: String,
    },
    /// The system refused something else.
    #[error("{what}: {source}")]
    System {
        /// What was asked for.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Emulates `blueprint` in real time: returns after its duration, or soon after `control` says stop. `tap` is shown what passes
/// its links. Namespaces, devices, processes and files that are made for it are gone when it returns, also where it fails.
pub fn run(
    blueprint: &Blueprint,
    settings: &Settings,
    control: &Control,
    tap: Option<(Vec<LinkId>, Box<dyn Tap>)>,
) -> Result<Outcome, Error> {
    let mut world = World::new(blueprint).map_err(Error::Refused)?;
    let gates = Gates::open(blueprint, &mut world);
    if let Some((links, tap)) = tap {
        world.tap(&links, tap);
    }
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

/// A network without programs: a clock is all that it needs.
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
        let left = until.saturating_since(now).saturating_sub(self.spin);
        if left > Duration::ZERO {
            std::thread::sleep(std::time::Duration::from_nanos(left.as_nanos()));
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

    fn news(&mut self, _: &mut dyn FnMut(News)) {}

    fn begin(&mut self, _: EndpointId, _: LiveMachine) {}

    fn end(&mut self, _: EndpointId) {}

    fn mode(&mut self, _: EndpointId, _: &str) {}

    fn words(&mut self, _: &mut dyn FnMut(EndpointId, &Said)) {}
}

/// Nanoseconds since an instant.
pub(crate) fn since(began: Instant) -> Time {
    Time::from_nanos(began.elapsed().as_nanos() as u64)
}

impl Accuracy {
    /// Rows for people: what, and its 50th, 99th and 99.9th percentile and maximum; empty ones are left out.
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
