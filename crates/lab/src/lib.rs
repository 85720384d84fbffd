//! Scenario → plan → run → report. Text becomes a checked scenario, a scenario a complete [`Plan`], a plan a run.

mod expect;
mod plan;

pub use expect::{Expectation, Sides};
pub use plan::{Group, Plan};
