//! World one: virtual time. An agenda, links, nodes, random streams, and the trace.

mod blueprint;
mod trace;

pub use blueprint::{
    Blueprint, Change, Churn, FlowKind, FlowSpec, Limit, LinkSpec, Metric, PortSpec, QueueSpec, ReceiverSpec,
    Record, RouteSpec,
};
pub use trace::{
    Balance, EventRecord, FlowRecord, PortRecord, ReceiverRecord, SERIES, SeriesRecord, Subject, Trace,
};
