//! Scenario → plan → run → report. Text becomes a checked scenario, a scenario a complete [`Plan`], a plan a run.

mod expect;
mod metrics;
mod plan;
mod report;
mod run;

pub use expect::{Expectation, Sides};
pub use metrics::{METRICS, Metric, coefficient_of_variation, jain, metric, report};
pub use plan::{Group, Plan};
pub use report::{Cells, Column, Report, Table, Words};
pub use run::{Outcome, run};
