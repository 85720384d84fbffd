//! Runs a plan in the simulator and builds the report.

use sim::{Control, Observers, PacketLog, Trace, World};
use units::Time;

use crate::{Plan, Report, metrics};

/// What a run leaves.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// All that was recorded.
    pub trace: Trace,
    /// The tables made of it.
    pub report: Report,
    /// The run is complete; otherwise it was stopped, and the tables hold the results until then.
    pub complete: bool,
}

/// Runs `plan` to its end, or until `control` stops it.
///
/// Blocks; `control` may be watched and stopped from any thread.
pub fn run(plan: &Plan, control: &Control) -> Outcome {
    run_saving(plan, control, |_| {})
}

/// Runs a plan like [`run`]. Whenever `control` requests a pause, `save` gets the current tables and the run continues.
pub fn run_saving(plan: &Plan, control: &Control, save: impl FnMut(&Report)) -> Outcome {
    run_observed(plan, control, Observers::default(), None, save)
}

/// Runs a plan like [`run_saving`], with captures and logs, which are dropped before this returns, and with a record of
/// packets if there is a `log`.
pub fn run_observed(
    plan: &Plan,
    control: &Control,
    observers: Observers,
    log: Option<Box<dyn PacketLog>>,
    mut save: impl FnMut(&Report),
) -> Outcome {
    run_world(plan, control, observers, log, &mut save)
}

/// Runs a plan like [`run`], with a record of every packet, which is complete on return. It changes nothing in the run.
pub fn run_recorded(plan: &Plan, control: &Control, log: Box<dyn PacketLog>) -> Outcome {
    run_world(plan, control, Observers::default(), Some(log), &mut |_| {})
}

fn run_world(
    plan: &Plan,
    control: &Control,
    observers: Observers,
    log: Option<Box<dyn PacketLog>>,
    save: &mut dyn FnMut(&Report),
) -> Outcome {
    let world = World::recorded(plan.blueprint.clone(), log);
    let mut world = world.expect("the parameters of a plan were checked when it was made");
    world.observe(observers);
    world.run(control);
    while world.paused() {
        save(&metrics::report(plan, &world.snapshot()));
        world.run(control);
    }
    let trace = world.finish();
    let complete = trace.ended_at.saturating_since(Time::ZERO) >= plan.blueprint.duration;
    let report = metrics::report(plan, &trace);
    Outcome { trace, report, complete }
}
