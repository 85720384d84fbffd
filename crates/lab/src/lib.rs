//! Scenario → plan → run → report. Text becomes a checked [`Scenario`], a scenario a complete [`Plan`], a plan a run.

mod capture;
mod controlled;
pub mod describe;
mod expect;
mod file;
mod frames;
mod hints;
mod metrics;
mod named;
mod outside;
mod plan;
mod problems;
mod read;
mod report;
mod run;
mod scenario;
mod schema;
mod source;
mod tcp;
mod topology;
mod tree;
mod values;

pub use capture::{Capture, Captured};
pub use expect::{Expectation, Sides};
pub use metrics::{METRICS, Metric, coefficient_of_variation, jain, metric, report};
pub use plan::{Group, Plan};
pub use problems::{Problem, Problems, Span};
pub use report::{Cells, Column, Report, Table, Words};
pub use run::{LinkTap, Outcome, run, run_saving, run_tapped};
pub use scenario::{Axis, Cell, Scenario, load, load_bytes, load_tree};
pub use schema::schema;
