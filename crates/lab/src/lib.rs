//! Experiments: a text becomes a checked [`Scenario`], a scenario a complete [`Plan`], a plan a run, and a run a
//! report.

mod capture;
pub mod describe;
mod diagnostics;
mod drill_script;
mod files;
mod lower;
mod metrics;
mod plan;
mod qlog;
mod report;
mod resolve;
mod run;
mod scenario;
mod schema;
mod stacks;
mod topology;
pub mod traces;
mod warnings;

pub use capture::{Capture, Written};
pub use diagnostics::{Problem, Problems};
pub use drill_script::{DrillScript, drillable};
pub use metrics::{coefficient_of_variation, jain, report};
pub use plan::{Group, Plan};
pub use qlog::{QlogConnection, controlled, qlog, qlog_connection};
pub use report::{
    Cells, Column, Expectation, Keys, METRICS, Metric, Report, Shown, Sides, Table, Words, metric,
};
pub use run::{Outcome, run, run_observed, run_recorded, run_saving};
pub use scenario::{Axis, Cell, Scenario, load, load_bytes, load_tree};
pub use schema::renames::RENAMED;
pub use schema::schema;
pub use schema::tree::Span;
