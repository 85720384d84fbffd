//! The Linux host of an emulation: a namespace and a device per real node, programs in them, and the clock.

mod calls;
mod commands;
mod live;
mod namespace;
mod pause;
mod routes;
mod settings;
mod traffic;
mod tun;

use std::sync::Arc;
use std::time::Instant;

use contract::{EndpointId, FlowId, GroupId, NodeId};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeSpec, TimeValLike};
use sim::{Blueprint, Cast, Control, FlowEmulation, FlowKind, FlowSpec, World};
use units::{Bytes, Duration, Time};

use crate::driver::drive;
use crate::gates::Gates;
use crate::platform::{EndpointReport, LiveEndpoint, Platform, ProgramUpdate, since};
use crate::{Accuracy, Error, Settings};
use commands::Commands;
use live::Live;
use namespace::Namespace;
pub use namespace::{PREFIX, clean, permitted};
use pause::Pause;
use settings::KernelSettings;
use traffic::{Job, Traffic};
use tun::Tun;

/// Time for commands at receivers to open their sockets before senders start.
const SETTLING: std::time::Duration = std::time::Duration::from_millis(300);
/// Interval at which the kernel's senders are sampled if nothing is recorded.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs `world` with its real nodes.
pub(crate) fn emulate(
    world: &mut World,
    gates: &Gates,
    blueprint: &Blueprint,
    settings: &Settings,
    control: &Control,
) -> Result<Accuracy, Error> {
    clean();
    permitted()?;
    let mut machine = Machine::new(blueprint, gates, settings)?;
    // the loop has a thread of its own, so that priority and timer settings end with it
    std::thread::scope(|scope| {
        let looped = scope.spawn(|| {
            let mut notes = Vec::new();
            // exact timers, without coalescing
            if nix::sys::prctl::set_timerslack(1).is_err() {
                notes.push("the system groups timers: wake-ups are less exact".to_owned());
            }
            if settings.urgent
                && let Err(error) = calls::prefer()
            {
                notes.push(format!("the loop has no preference: {error}"));
            }
            let before = (cpu(UsageWho::RUSAGE_THREAD), cpu(UsageWho::RUSAGE_SELF));
            let mut accuracy = drive(world, gates, blueprint, control, &mut machine);
            accuracy.cpu_loop = cpu(UsageWho::RUSAGE_THREAD).saturating_sub(before.0);
            accuracy.cpu = cpu(UsageWho::RUSAGE_SELF).saturating_sub(before.1);
            machine.end(&mut accuracy);
            accuracy.notes.splice(0..0, notes);
            accuracy
        });
        match looped.join() {
            Ok(accuracy) => Ok(accuracy),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// CPU time, user and system.
fn cpu(of: UsageWho) -> Duration {
    let total = |usage: nix::sys::resource::Usage| {
        usage.user_time().num_nanoseconds() + usage.system_time().num_nanoseconds()
    };
    getrusage(of).map_or(Duration::ZERO, |usage| Duration::from_nanos(total(usage).max(0) as u64))
}

struct Machine<'a> {
    blueprint: &'a Blueprint,
    began: Instant,
    spin: Duration,
    pause: Pause,
    // dropped in this order: programs, then devices, then namespaces
    commands: Commands,
    traffic: Traffic,
    live: Live,
    devices: Vec<Tun>,
    namespaces: Arc<[Namespace]>,
}

impl<'a> Machine<'a> {
    fn new(blueprint: &'a Blueprint, gates: &Gates, settings: &Settings) -> Result<Self, Error> {
        let real = &blueprint.emulation.real;
        let signalled = KernelSettings::of(blueprint)?;
        let created: Result<Vec<Namespace>, Error> =
            real.iter().map(|node| Namespace::new(&blueprint.nodes[node.index()])).collect();
        let namespaces: Arc<[Namespace]> = created?.into();
        let devices: Result<Vec<Tun>, Error> = real
            .iter()
            .zip(namespaces.iter())
            .zip(&signalled.tunings)
            .map(|((node, namespace), tuning)| Tun::new(namespace, wire::address_of(*node), tuning))
            .collect();
        let devices = devices?;
        for ((from, to), metrics) in &signalled.routes {
            if let Ok(place) = real.binary_search(from) {
                tun::route(&namespaces[place], wire::address_of(*to), metrics)?;
            }
        }
        let jobs = jobs(blueprint, gates);
        let every = blueprint.record.every;
        let look_every = if every == Duration::ZERO {
            LOOK_EVERY
        } else {
            every.scaled(0.5).max(Duration::from_millis(5))
        };
        let mut commands = Commands::new(settings.logs.clone());
        open_receivers(blueprint, gates, &namespaces, &mut commands)?;
        let opened = live::open(blueprint, gates, &namespaces)?;
        let (traffic, began) = Traffic::begin(jobs, &namespaces, look_every, settings.urgent)?;
        let live = Live::begin(opened, blueprint, settings.urgent, began)?;
        let pause = Pause::new(settings.poll_interval, settings.urgent);
        let spin = settings.spin;
        Ok(Self { blueprint, began, spin, pause, commands, traffic, live, devices, namespaces })
    }

    /// Ends all programs and counts packets that devices lost.
    fn end(&mut self, accuracy: &mut Accuracy) {
        let name = |flow: FlowId| &self.blueprint.flows[flow.index()].name;
        let failed =
            self.traffic.end().into_iter().map(|(flow, error)| format!("flow `{}`: {error}", name(flow)));
        self.live.end();
        let ended =
            self.commands.end().into_iter().map(|(flow, note)| format!("flow `{}`: {note}", name(flow)));
        accuracy.notes.extend(failed.chain(ended));
        accuracy.overruns += self.namespaces.iter().map(tun::dropped).sum::<u64>();
    }
}

/// Starts the commands of receivers.
fn open_receivers(
    blueprint: &Blueprint,
    gates: &Gates,
    namespaces: &[Namespace],
    commands: &mut Commands,
) -> Result<(), Error> {
    let mut any = false;
    for (id, flow) in (0u32..).map(FlowId).zip(&blueprint.flows) {
        let Some(FlowEmulation::Commands { receiver: Some(text), .. }) = flow.emulation.as_deref() else {
            continue;
        };
        for receiver in &flow.to {
            let Some(at) = gates.device_of(receiver.node) else { continue };
            let name = match flow.to.len() {
                1 => format!("{}-receiver", flow.name),
                _ => format!("{}-receiver-{}", flow.name, blueprint.nodes[receiver.node.index()]),
            };
            commands.start(&namespaces[at], id, &name, &filled(text, id, flow, receiver.node))?;
            any = true;
        }
    }
    if any {
        std::thread::sleep(SETTLING);
    }
    Ok(())
}

/// A command at `here` with its placeholders replaced: the addresses of both ends or of the group, and the port of the
/// flow.
fn filled(text: &str, id: FlowId, flow: &FlowSpec, here: NodeId) -> String {
    let to = match flow.cast {
        Cast::Multicast => wire::address_of_group(GroupId(id.0)),
        Cast::Unicast | Cast::Named => wire::address_of(flow.to[0].node),
    };
    text.replace("{from}", &wire::address_of(flow.from).to_string())
        .replace("{to}", &to.to_string())
        .replace("{here}", &wire::address_of(here).to_string())
        .replace("{port}", &wire::port_of(id).to_string())
}

/// Flows of the kernel's TCP, in order.
fn jobs(blueprint: &Blueprint, gates: &Gates) -> Vec<Job> {
    let job = |(flow, spec): (FlowId, &sim::FlowSpec)| {
        let (Some(FlowEmulation::Kernel(congestion)), FlowKind::Tcp(config)) =
            (spec.emulation.as_deref(), &*spec.kind)
        else {
            return None;
        };
        let ends = gates.ends(flow)?;
        let (from, to) = (ends.sender.node, ends.receivers.first()?.node);
        Some(Job {
            flow,
            from: gates.device_of(from)?,
            to: gates.device_of(to)?,
            addresses: (wire::address_of(from), wire::address_of(to)),
            congestion: congestion.clone(),
            packet: Bytes::new((config.segment + config.header).as_u64()),
            demand: config.demand,
        })
    };
    (0u32..).map(FlowId).zip(&blueprint.flows).filter_map(job).collect()
}

impl Platform for Machine<'_> {
    fn now(&mut self) -> Time {
        since(self.began)
    }

    fn wait(&mut self, until: Time, ready: &mut Vec<usize>) -> Time {
        let watched = self.pause.sleep_if_due(self.began);
        let remaining = until.saturating_since(watched).saturating_sub(self.spin);
        let mut asked: Vec<PollFd<'_>> =
            self.devices.iter().map(|device| PollFd::new(device.file(), PollFlags::POLLIN)).collect();
        let timeout = TimeSpec::nanoseconds(remaining.as_nanos().min(1_000_000_000) as i64);
        // an interrupted wait is a wake-up: the loop looks at the clock and waits again
        if ppoll(&mut asked, Some(timeout), None).is_ok_and(|count| count > 0) {
            let has = |asked: &PollFd<'_>| asked.any().unwrap_or(false);
            ready.extend(asked.iter().enumerate().filter(|(_, asked)| has(asked)).map(|(index, _)| index));
        }
        self.pause.woken(since(self.began));
        watched
    }

    fn receive(&mut self, device: usize, buffer: &mut [u8]) -> Option<usize> {
        self.devices[device].receive(buffer)
    }

    fn send(&mut self, device: usize, bytes: &[u8]) -> bool {
        self.devices[device].send(bytes)
    }

    fn start(&mut self, flow: FlowId) {
        if self.traffic.start(flow) {
            return;
        }
        let spec = &self.blueprint.flows[flow.index()];
        let Some(FlowEmulation::Commands { sender: Some(text), .. }) = spec.emulation.as_deref() else {
            return;
        };
        let Ok(at) = self.blueprint.emulation.real.binary_search(&spec.from) else { return };
        let (name, text) = (format!("{}-sender", spec.name), filled(text, flow, spec, spec.from));
        // a command that cannot be started sends nothing, which the tables show
        let _ = self.commands.start(&self.namespaces[at], flow, &name, &text);
    }

    fn stop(&mut self, flow: FlowId) {
        if !self.traffic.stop(flow) {
            self.commands.stop(flow);
        }
    }

    fn program_updates(&mut self, emit: &mut dyn FnMut(ProgramUpdate)) {
        self.traffic.program_updates(emit);
    }

    fn start_endpoint(&mut self, endpoint: EndpointId, machine: LiveEndpoint) {
        self.live.start(endpoint, machine);
    }

    fn stop_endpoint(&mut self, endpoint: EndpointId) {
        self.live.stop(endpoint);
    }

    fn mode(&mut self, endpoint: EndpointId, mode: &str) {
        self.live.mode(endpoint, mode);
    }

    fn endpoint_reports(&mut self, emit: &mut dyn FnMut(EndpointId, &EndpointReport)) {
        self.live.endpoint_reports(emit);
    }
}
